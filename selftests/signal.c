// SPDX-License-Identifier: GPL-2.0
/* Blocking calls that a signal interrupts. */
#define DEFAULT_VARIANTS "tcp loop explicit fallback"

#include "sanx_test.h"

SANX_TEST(recv)
{
	char buf[8];
	struct task t = { .fn = task_recv, .fd = self->client, .buf = buf,
			  .len = 8 };

	signal_handle(false);
	ASSERT_TRUE(task_interrupt(&t));
	ASSERT_EQ(0, task_wait(&t));
	EXPECT_EQ(-EINTR, t.ret);
	/* The connection is none the worse for it. */
	EXPECT_EQ(1, send(self->server, "x", 1, 0));
	EXPECT_EQ(1, recv(self->client, buf, 8, 0));
}

SANX_TEST(recv_restarted)
{
	char buf[8];
	struct task t = { .fn = task_recv, .fd = self->client, .buf = buf,
			  .len = 8 };

	signal_handle(true);
	ASSERT_TRUE(task_interrupt(&t));
	ASSERT_TRUE(task_blocked(&t));
	EXPECT_EQ(3, send(self->server, "abc", 3, 0));
	ASSERT_EQ(0, task_wait(&t));
	EXPECT_EQ(3, t.ret);
}

/* With a time-out a call is never restarted. */
SANX_TEST(recv_with_timeout)
{
	char buf[8];
	struct task t = { .fn = task_recv, .fd = self->client, .buf = buf,
			  .len = 8 };

	signal_handle(true);
	ASSERT_EQ(0, set_timeout(self->client, SO_RCVTIMEO, SOON));
	ASSERT_TRUE(task_interrupt(&t));
	ASSERT_EQ(0, task_wait(&t));
	EXPECT_EQ(-EINTR, t.ret);
}

/* What came before the signal is what the call returns. */
SANX_TEST(recv_partial)
{
	char buf[8];
	struct task t = { .fn = task_recv, .fd = self->client, .buf = buf,
			  .len = 8, .flags = MSG_WAITALL };

	signal_handle(false);
	EXPECT_EQ(3, send(self->server, "abc", 3, 0));
	ASSERT_TRUE(task_interrupt(&t));
	ASSERT_EQ(0, task_wait(&t));
	EXPECT_EQ(3, t.ret);
}

SANX_TEST(send)
{
	struct task t = { .fn = task_send, .fd = self->client, .len = 1000 };
	ssize_t n = fill(variant, self->client);
	char *buf = malloc(1000);

	ASSERT_LE(4096, n);
	pattern_fill(buf, 1000, n);
	t.buf = buf;
	signal_handle(false);
	ASSERT_TRUE(task_interrupt(&t));
	ASSERT_EQ(0, task_wait(&t));
	EXPECT_EQ(-EINTR, t.ret);
	ASSERT_EQ(n, drain_socket(self->server, n));
	EXPECT_EQ(-EAGAIN, rc(recv(self->server, buf, 1, MSG_DONTWAIT)));
}

/* Interrupted in the middle: the call says how much went. */
SANX_TEST(send_partial)
{
	size_t len = 16 << 20;
	char *buf = malloc(len);
	struct task t = { .fn = task_send, .fd = self->client, .buf = buf,
			  .len = len };

	pattern_fill(buf, len, 0);
	signal_handle(true);
	ASSERT_TRUE(task_interrupt(&t));
	ASSERT_EQ(0, task_wait(&t));
	ASSERT_LT(0, t.ret);
	ASSERT_GT(len, t.ret);
	ASSERT_EQ(t.ret, drain_socket(self->server, t.ret));
	EXPECT_EQ(-EAGAIN, rc(recv(self->server, buf, 1, MSG_DONTWAIT)));
}

SANX_TEST(accept)
{
	struct task t = { .fn = task_accept, .fd = self->listener };

	signal_handle(false);
	ASSERT_TRUE(task_interrupt(&t));
	ASSERT_EQ(0, task_wait(&t));
	EXPECT_EQ(-EINTR, t.ret);
}

SANX_TEST(accept_restarted)
{
	struct task t = { .fn = task_accept, .fd = self->listener };

	signal_handle(true);
	ASSERT_TRUE(task_interrupt(&t));
	ASSERT_TRUE(task_blocked(&t));
	ASSERT_LE(0, connect_to(variant, &self->addr));
	ASSERT_EQ(0, task_wait(&t));
	EXPECT_LE(0, t.ret);
}

SANX_TEST_MAIN
