// SPDX-License-Identifier: GPL-2.0
/*
 * Large sends from the program's own pages: when send() has returned, the pages
 * are the program's again, and what it sent is what they held before.
 */
#include <sys/mman.h>
#include <sys/uio.h>
#include <sys/wait.h>

#include "sanx_test.h"

#define MUCH	(4 << 20)
#define MOST	400000

static int set_long_min(const char *bytes)
{
	int err = write_file("/sys/module/af_sanx/parameters/long_min", bytes);

	return err == -ENOENT ? 0 : err;
}

/* Sends @len bytes of the pattern from anywhere in a page, and spoils them. */
static long send_and_spoil(int fd, char *room, size_t len, uint64_t offset)
{
	char *buf = room + dice(4096);
	ssize_t n;

	pattern_fill(buf, len, offset);
	n = rc(send(fd, buf, len, MSG_NOSIGNAL));
	memset(buf, 0xee, len);
	return n;
}

static long send_spoiling(struct task *t)
{
	char *room = malloc(MOST + 4096);
	uint64_t done = 0;
	size_t len;
	long n = 0;

	while (done < MUCH && n >= 0) {
		len = 1 + dice(dice(2) ? MOST : 20000);
		if (len > MUCH - done)
			len = MUCH - done;
		n = send_and_spoil(t->fd, room, len, done);
		if (n > 0)
			done += n;
	}
	free(room);
	return n < 0 ? n : 0;
}

SANX_TEST(given_back)
{
	struct task t = { .fn = send_spoiling };

	ASSERT_EQ(0, set_long_min("16384"));
	for (int i = 0; i < 2; i++) {
		t.fd = self->end[i];
		task_start(&t);
		ASSERT_EQ(0, recv_pattern(self->end[!i], MUCH, 100000, 0));
		ASSERT_EQ(0, task_wait(&t));
		ASSERT_EQ(0, t.ret);
	}
	ASSERT_EQ(0, set_long_min("0"));
}

/* As it is measured, whatever that says. */
SANX_TEST(as_measured)
{
	struct task t = { .fn = send_spoiling, .fd = self->client };

	task_start(&t);
	ASSERT_EQ(0, recv_pattern(self->server, MUCH, 100000, 0));
	ASSERT_EQ(0, task_wait(&t));
	ASSERT_EQ(0, t.ret);
}

static long recv_all(struct task *t)
{
	return recv_pattern(t->fd, t->len, 65536, 0);
}

/* Vectors of pages that are none of them whole, and a file's pages. */
SANX_TEST(vectors)
{
	static char a[70001], b[3], c[123457];
	struct iovec v[] = { { a, sizeof(a) }, { b, 0 }, { b, 3 },
			     { c, sizeof(c) } };
	const size_t len = sizeof(a) + sizeof(b) + sizeof(c);
	struct task t = { .fn = recv_all, .fd = self->server, .len = len };

	ASSERT_EQ(0, set_long_min("16384"));
	pattern_fill(a, sizeof(a), 0);
	pattern_fill(b, sizeof(b), sizeof(a));
	pattern_fill(c, sizeof(c), sizeof(a) + sizeof(b));
	task_start(&t);
	ASSERT_EQ(len, rc(writev(self->client, v, 4)));
	ASSERT_EQ(0, task_wait(&t));
	ASSERT_EQ(0, t.ret);
	ASSERT_EQ(0, set_long_min("0"));
}

SANX_TEST(mapped_file)
{
	char path[] = "/tmp/sanx_longXXXXXX", *p;
	struct task t = { .fn = recv_all, .fd = self->server, .len = 200000 };
	int fd = mkstemp(path);

	ASSERT_LE(0, fd);
	unlink(path);
	ASSERT_EQ(0, ftruncate(fd, 200000));
	p = mmap(NULL, 200000, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	ASSERT_NE(MAP_FAILED, p);
	ASSERT_EQ(0, set_long_min("16384"));
	pattern_fill(p, 200000, 0);
	task_start(&t);
	ASSERT_EQ(200000, send(self->client, p, 200000, 0));
	ASSERT_EQ(0, munmap(p, 200000));
	close(fd);
	ASSERT_EQ(0, task_wait(&t));
	ASSERT_EQ(0, t.ret);
	ASSERT_EQ(0, set_long_min("0"));
}

/* What is there goes, as by a copy. */
SANX_TEST(faults)
{
	const size_t good = 80000, page = 4096, room = 86016;
	char *p = mmap(NULL, room + page, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct task t = { .fn = recv_all, .fd = self->server };
	ssize_t n;

	ASSERT_NE(MAP_FAILED, p);
	ASSERT_EQ(0, mprotect(p + room, page, PROT_NONE));
	ASSERT_EQ(0, set_long_min("16384"));
	p += room - good;
	pattern_fill(p, good, 0);
	/* TCP gives up what is in the same segment, too. */
	n = rc(send(self->client, p, good + 100, 0));
	ASSERT_LT(0, n);
	ASSERT_GE(good, n);
	t.len = n;
	task_start(&t);
	EXPECT_EQ(-EFAULT, rc(send(self->client, p + good, 20000, 0)));
	ASSERT_EQ(0, task_wait(&t));
	ASSERT_EQ(0, t.ret);
	ASSERT_EQ(0, set_long_min("0"));
}

/*
 * Nonblocking calls return at once while another thread's send() waits.  A
 * buffer that is still growing takes some of their bytes.
 */
SANX_TEST(beside_others)
{
	/* More than any buffer takes while nobody reads. */
	enum { MORE = 16 << 20 };
	struct task t = { .fn = task_send_all, .fd = self->client,
			  .len = MORE };
	static const char some[4096];
	size_t left = MORE;
	long end, n = 0;
	char c = 0;

	t.buf = calloc(1, MORE);
	ASSERT_EQ(0, set_long_min("16384"));
	task_start(&t);
	ASSERT_TRUE(task_blocked(&t));
	for (end = now_ms() + SOON; now_ms() < end; left += n) {
		n = rc(send(self->client, some, sizeof(some), MSG_DONTWAIT));
		if (n < 0)
			break;
	}
	ASSERT_EQ(-EAGAIN, n);
	ASSERT_EQ(-EAGAIN, rc(recv(self->client, &c, 1, MSG_DONTWAIT)));
	while (left) {
		static char buf[65536];

		n = recv(self->server, buf, sizeof(buf), 0);
		ASSERT_LT(0, n);
		left -= n;
	}
	ASSERT_EQ(0, task_wait(&t));
	free(t.buf);
	ASSERT_EQ(0, set_long_min("0"));
}

/* Killed in the middle, it has sent the beginning of what it had to send. */
SANX_TEST(killed)
{
	static char got[65536];
	char *room;
	uint64_t done = 0;
	ssize_t n;
	pid_t pid;

	ASSERT_EQ(0, set_long_min("16384"));
	pid = fork();
	if (!pid) {
		room = malloc(MOST + 4096);
		for (uint64_t sent = 0;; sent += MOST) {
			if (send_and_spoil(self->client, room, MOST, sent) !=
			    MOST)
				_exit(0);
		}
	}
	ASSERT_LT(0, pid);
	close(self->client);
	while (done < MUCH / 4) {
		n = recv(self->server, got, sizeof(got), 0);
		ASSERT_LT(0, n);
		ASSERT_TRUE(pattern_check(got, n, done));
		done += n;
	}
	kill(pid, SIGKILL);
	ASSERT_EQ(pid, waitpid(pid, NULL, 0));
	while ((n = recv(self->server, got, sizeof(got), 0)) > 0) {
		ASSERT_TRUE(pattern_check(got, n, done));
		done += n;
	}
	ASSERT_EQ(0, n);
	ASSERT_EQ(0, set_long_min("0"));
}

SANX_TEST_MAIN
