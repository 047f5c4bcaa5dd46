// SPDX-License-Identifier: GPL-2.0
/*
 * What stands between the engine and a device fails, for reasons that software devices
 * do not have: mapping memory, posting, a queue pair.
 *
 * The kernel's fault injection takes a random number in a breakpoint, at which lockdep
 * stops looking (known_bugs of scripts/lab.d/splat.sh): so this comes behind all others,
 * in the order of the alphabet.
 *
 * kernels: debug
 * only verbs: loop has no device
 * no siw: what differs is not the device
 * no rail: TCP has no such device
 */
#define DEFAULT_VARIANTS	"verbs"
#include "fault_test.h"
#include "sanx_test.h"

#define LONG_MIN_FILE	"/sys/module/af_sanx/parameters/long_min"
#define FAIL_FUNCTION	"/sys/kernel/debug/fail_function"

/* Lets a function fail once, with @error. */
static int fail_function(const char *name, int error)
{
	char path[96], text[24];

	snprintf(path, sizeof(path), FAIL_FUNCTION "/%s/retval", name);
	snprintf(text, sizeof(text), "%#lx", (long)error);
	return write_file(FAIL_FUNCTION "/inject", name) ?: write_file(path, text) ?:
	       write_file(FAIL_FUNCTION "/task-filter", "N") ?:
	       write_file(FAIL_FUNCTION "/verbose", "0") ?:
	       write_file(FAIL_FUNCTION "/times", "1") ?:
	       write_file(FAIL_FUNCTION "/probability", "100");
}

/* What a device refuses: a mapping, a message, a queue pair. */
static const struct function {
	const char	*name;
	bool		anew;	/* while a link is made */
	bool		pages;	/* of a program, sent as they are */
} functions[] = {
	{ "verbs_map" },
	{ "verbs_map_page", .pages = true },
	{ "alone_flush" },
	{ "verbs_post" },
	{ "verbs_setup", true },
	{ "verbs_setup_qp", true },
	{ "verbs_recv_post", true },
	{ "verbs_post", true },
};

#define PIECE	65536

static long send_piece(struct task *t)
{
	char *buf = malloc(PIECE);
	long n;

	pattern_fill(buf, PIECE, 0);
	n = rc(send(t->fd, buf, PIECE, MSG_NOSIGNAL));
	free(buf);
	return n;
}

/* A piece that finds everything before it sent is sent from its pages. */
static bool pages_pass(struct __test_metadata *_metadata, FIXTURE_DATA(stream) *self)
{
	struct task t = { .fn = send_piece, .fd = self->end[0] };
	char *buf = malloc(PIECE);
	long got, n = 0;

	task_start(&t);
	for (got = 0; got < PIECE; got += n) {
		n = rc(recv(self->end[1], buf, PIECE - got, 0));
		if (n <= 0)
			break;
		EXPECT_TRUE(pattern_check(buf, n, got));
	}
	free(buf);
	ASSERT_EQ(0, task_wait(&t));
	return t.ret == PIECE && got == PIECE;
}

static void function_fails(struct __test_metadata *_metadata, FIXTURE_DATA(stream) *self,
			   const FIXTURE_VARIANT(stream) *variant,
			   const struct function *f, int error)
{
	bool passes, hit;
	int tries = 0;

	if (f->anew)
		lose_links(_metadata, variant);
	ASSERT_EQ(0, fail_function(f->name, error)) TH_LOG("%s", f->name);
	do {
		passes = f->pages ? pages_pass(_metadata, self) :
				    round_passes(_metadata, self, variant);
		hit = !read_number(FAIL_FUNCTION "/times");
	} while (!hit && ++tries < 20);
	ASSERT_EQ(0, write_file(FAIL_FUNCTION "/inject", "\n"));
	EXPECT_TRUE(hit);
	TH_LOG("%s, %d: the stream %s", f->name, error, passes ? "passed" : "ended");
	check_pair(_metadata, self, variant);
}

SANX_TEST(functions)
{
	static const int errors[] = { -ENOMEM, -EIO };

	begin(_metadata, self, variant);
	/* So that a stream is sent from the program's own pages, too. */
	ASSERT_EQ(0, write_file(LONG_MIN_FILE, "1"));
	for (int i = 0; i < ARRAY_SIZE(functions); i++)
		for (int k = 0; k < ARRAY_SIZE(errors); k++)
			function_fails(_metadata, self, variant, &functions[i], errors[k]);
	ASSERT_EQ(0, write_file(LONG_MIN_FILE, "0"));
	end_faults(_metadata, variant);
}

SANX_TEST_MAIN
