// SPDX-License-Identifier: GPL-2.0
/*
 * kTLS (TCP_ULP "tls") copies the ops of the first socket that asks for it into
 * a table of the whole system.  Those must be TCP's: every later kTLS socket
 * has what is in the table, and would give back references of our module that
 * nobody took.
 */
#include "lib/slow.h"
#include "sanx_test.h"

#define REFS	"/sys/module/af_sanx/refcnt"

/* The table is empty again. */
static int fresh_tls(void)
{
	return system("rmmod tls 2>/dev/null; modprobe tls");
}

static int set_ulp(int fd, const char *name)
{
	return rc(setsockopt(fd, SOL_TCP, TCP_ULP, name, strlen(name)));
}

static long task_set_ulp(struct task *t)
{
	return setsockopt(t->fd, SOL_TCP, TCP_ULP, t->buf, strlen("tls"));
}

/* Plain TCP's kTLS works.  Returns what it gave back of our module's references. */
static long tls_takes(struct __test_metadata *_metadata,
		      const FIXTURE_VARIANT(stream) *variant)
{
	long refs = read_number(REFS);
	int end[2];

	connect_tcp(_metadata, variant, end);
	ASSERT_EQ(0, set_ulp(end[0], "tls"));
	check_works(_metadata, end);
	close(end[0]);
	close(end[1]);
	sleep_ms(A_WHILE);
	return refs - read_number(REFS);
}

/*
 * It has nothing to do with us.  Connections of before may still be on their way out, and
 * give back theirs; what gave back ours would do so each time.
 */
#define TIMES	50

static void check_tls(struct __test_metadata *_metadata,
		      const FIXTURE_VARIANT(stream) *variant)
{
	long taken = -1;

	for (int i = 0; i < TIMES && taken; i++)
		taken = tls_takes(_metadata, variant);
	EXPECT_EQ(0, taken);
}

/* A listener that is none any more when TCP has read what it is asked for. */
SANX_TEST(listener_shut_meanwhile)
{
	struct task t = { .fn = task_set_ulp, .fd = self->listener };
	int uffd;

	self->fallbacks = ANY_FALLBACKS;
	ASSERT_EQ(0, fresh_tls());
	t.buf = slow_page(&uffd);
	ASSERT_NE(NULL, t.buf);
	task_start(&t);
	ASSERT_TRUE(task_blocked(&t));
	EXPECT_EQ(0, rc(shutdown(self->listener, SHUT_RD)));
	ASSERT_EQ(0, slow_page_give(uffd, t.buf, "tls"));
	ASSERT_EQ(0, task_wait(&t));
	EXPECT_EQ(-ENOTCONN, t.ret);
	close(uffd);
	check_tls(_metadata, variant);
}

/* A listener's answer is TCP's, and it goes on to listen. */
SANX_TEST(listener)
{
	int end[2];

	self->fallbacks = ANY_FALLBACKS;
	ASSERT_EQ(0, fresh_tls());
	EXPECT_EQ(-ENOTCONN, set_ulp(self->listener, "tls"));
	EXPECT_EQ(-ENOENT, set_ulp(self->listener, "none"));
	check_tls(_metadata, variant);
	end[0] = connect_to(variant, &self->addr);
	ASSERT_LE(0, end[0]);
	end[1] = rc(accept(self->listener, NULL, NULL));
	ASSERT_LE(0, end[1]);
	check_works(_metadata, end);
}

/* One who waits in accept() meanwhile gets a client. */
SANX_TEST(listener_accepts)
{
	struct task t = { .fn = task_accept, .fd = self->listener };
	int client;

	self->fallbacks = ANY_FALLBACKS;
	task_start(&t);
	ASSERT_TRUE(task_blocked(&t));
	EXPECT_EQ(-ENOTCONN, set_ulp(self->listener, "tls"));
	client = connect_to(variant, &self->addr);
	ASSERT_LE(0, client);
	ASSERT_EQ(0, task_wait(&t));
	ASSERT_LE(0, t.ret);
	check_works(_metadata, (int []){ client, t.ret });
}

/* A socket that is not connected yet has kTLS when it is, as it is TCP then. */
SANX_TEST(before_connect)
{
	int fd = client_socket(variant);

	self->fallbacks = ANY_FALLBACKS;
	ASSERT_EQ(0, fresh_tls());
	EXPECT_EQ(-ENOTCONN, set_ulp(fd, "tls"));
	EXPECT_EQ(0, rc(connect(fd, &self->addr.sa, self->addr.len)));
	EXPECT_EQ(0, set_ulp(fd, "tls"));
	check_tls(_metadata, variant);
}

SANX_TEST_MAIN
