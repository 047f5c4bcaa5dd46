// SPDX-License-Identifier: GPL-2.0
/* How connections end, and what each side learns of it. */
#include <sys/uio.h>

#define DEFAULT_VARIANTS "tcp loop explicit fallback tcpclient tcpserver"

#include "sanx_test.h"

/* Bytes first, then the end, and the end again. */
SANX_TEST(end_after_data)
{
	char buf[8];

	for (int i = 0; i < 2; i++) {
		EXPECT_EQ(3, send(self->end[i], "abc", 3, 0));
		EXPECT_EQ(0, shutdown(self->end[i], SHUT_WR));
		EXPECT_EQ(3, recv_exact(self->end[!i], buf, 8));
		EXPECT_EQ(0, recv(self->end[!i], buf, 8, 0));
		EXPECT_EQ(0, recv(self->end[!i], buf, 8, MSG_DONTWAIT));
	}
}

/* Half closed: the other direction works on. */
SANX_TEST(shutdown_write)
{
	char buf[8];

	EXPECT_EQ(0, shutdown(self->client, SHUT_WR));
	EXPECT_EQ(-EPIPE, rc(send(self->client, "x", 1, 0)));
	EXPECT_EQ(0, recv(self->server, buf, 8, 0));
	EXPECT_EQ(3, send(self->server, "abc", 3, 0));
	EXPECT_EQ(3, recv(self->client, buf, 8, 0));
	EXPECT_EQ(0, shutdown(self->client, SHUT_WR));
	EXPECT_EQ(0, shutdown(self->server, SHUT_WR));
	EXPECT_EQ(0, recv(self->client, buf, 8, 0));
	EXPECT_EQ(-EPIPE, rc(send(self->server, "x", 1, 0)));
}

SANX_TEST(shutdown_read)
{
	char buf[8];

	EXPECT_EQ(0, shutdown(self->client, SHUT_RD));
	EXPECT_EQ(0, recv(self->client, buf, 8, 0));
	EXPECT_EQ(1, send(self->client, "x", 1, 0));
	EXPECT_EQ(1, recv(self->server, buf, 8, 0));
	/* On Linux what comes in still can be read. */
	EXPECT_EQ(1, send(self->server, "y", 1, 0));
	EXPECT_LE(POLLIN, poll_one(self->client, POLLIN, SOON));
	sleep_ms(A_WHILE);
	EXPECT_EQ(1, recv(self->client, buf, 8, 0));
	EXPECT_EQ(0, recv(self->client, buf, 8, 0));
}

SANX_TEST(shutdown_both)
{
	char buf[8];

	EXPECT_EQ(0, shutdown(self->client, SHUT_RDWR));
	EXPECT_EQ(0, recv(self->client, buf, 8, 0));
	EXPECT_EQ(-EPIPE, rc(send(self->client, "x", 1, 0)));
	EXPECT_EQ(0, recv(self->server, buf, 8, 0));
	EXPECT_EQ(0, shutdown(self->server, SHUT_RDWR));
	EXPECT_EQ(0, recv(self->server, buf, 8, 0));
	EXPECT_EQ(-EPIPE, rc(send(self->server, "x", 1, 0)));
}

/* Who has shut down both ways reads no more: that is to be learnt, as of a close. */
SANX_TEST(send_after_shutdown_both)
{
	char buf[8];

	EXPECT_EQ(0, shutdown(self->client, SHUT_RDWR));
	EXPECT_EQ(0, recv(self->server, buf, 8, 0));
	EXPECT_EQ(3, send(self->server, "abc", 3, 0));
	EXPECT_LT(0, poll_one(self->server, POLLERR, SOON));
	EXPECT_EQ(-EPIPE, rc(send(self->server, "x", 1, 0)));
}

SANX_TEST(shutdown_how)
{
	EXPECT_EQ(-EINVAL, rc(shutdown(self->client, 3)));
	EXPECT_EQ(-EINVAL, rc(shutdown(self->client, -1)));
	EXPECT_EQ(1, send(self->client, "x", 1, 0));
}

/* A blocked reader wakes for the end, whoever brings it. */
SANX_TEST(shutdown_wakes_reader)
{
	char buf[8];
	struct task t = { .fn = task_recv, .buf = buf, .len = 8 };

	t.fd = self->server;
	task_start(&t);
	ASSERT_TRUE(task_blocked(&t));
	EXPECT_EQ(0, shutdown(self->client, SHUT_WR));
	ASSERT_EQ(0, task_wait(&t));
	EXPECT_EQ(0, t.ret);

	t.fd = self->client;
	task_start(&t);
	ASSERT_TRUE(task_blocked(&t));
	EXPECT_EQ(0, shutdown(self->client, SHUT_RD));
	ASSERT_EQ(0, task_wait(&t));
	EXPECT_EQ(0, t.ret);
}

/* The peer has closed: the first send goes, and later ones fail. */
SANX_TEST(send_after_close)
{
	char c;

	close(self->server);
	EXPECT_EQ(0, recv(self->client, &c, 1, 0));
	EXPECT_EQ(1, send(self->client, "x", 1, 0));
	EXPECT_LT(0, poll_one(self->client, POLLERR, SOON));
	EXPECT_EQ(-EPIPE, rc(send(self->client, "y", 1, 0)));
	EXPECT_EQ(0, recv(self->client, &c, 1, 0));
}

/* As before, the send first: then the error is for it alone. */
SANX_TEST(send_after_close_unread)
{
	char c;

	close(self->server);
	EXPECT_EQ(POLLIN | POLLRDHUP,
		  poll_one(self->client, POLLIN | POLLRDHUP, SOON));
	EXPECT_EQ(1, send(self->client, "x", 1, 0));
	EXPECT_LT(0, poll_one(self->client, POLLERR, SOON));
	EXPECT_EQ(EPIPE, get_option(self->client, SOL_SOCKET, SO_ERROR));
	EXPECT_EQ(-EPIPE, rc(send(self->client, "y", 1, 0)));
	EXPECT_EQ(0, recv(self->client, &c, 1, 0));
}

/* Unread bytes make a close a reset (RFC 2525, section 2.17). */
SANX_TEST(close_with_unread_data)
{
	char c;

	EXPECT_EQ(3, send(self->client, "abc", 3, 0));
	EXPECT_EQ(POLLIN, poll_one(self->server, POLLIN, SOON));
	close(self->server);
	EXPECT_LT(0, poll_one(self->client, POLLERR, SOON));
	EXPECT_EQ(-ECONNRESET, rc(recv(self->client, &c, 1, 0)));
	EXPECT_EQ(0, recv(self->client, &c, 1, 0));
	EXPECT_EQ(-EPIPE, rc(send(self->client, "x", 1, 0)));
}

SANX_TEST(linger_zero)
{
	char c;

	EXPECT_EQ(0, close_reset(self->server));
	EXPECT_LT(0, poll_one(self->client, POLLERR, SOON));
	EXPECT_EQ(-ECONNRESET, rc(send(self->client, "x", 1, 0)));
	EXPECT_EQ(-EPIPE, rc(send(self->client, "x", 1, 0)));
	EXPECT_EQ(0, recv(self->client, &c, 1, 0));
}

SANX_TEST(reset_error_once)
{
	char c;

	EXPECT_EQ(0, close_reset(self->client));
	/* Another node's reset takes a moment, in which there is room to send. */
	poll_one(self->server, POLLRDHUP, SOON);
	EXPECT_EQ(POLLIN | POLLOUT | POLLERR | POLLHUP | POLLRDHUP,
		  poll_one(self->server, POLLIN | POLLOUT | POLLRDHUP, SOON));
	EXPECT_EQ(ECONNRESET, get_option(self->server, SOL_SOCKET, SO_ERROR));
	EXPECT_EQ(0, get_option(self->server, SOL_SOCKET, SO_ERROR));
	EXPECT_EQ(0, recv(self->server, &c, 1, 0));
	EXPECT_EQ(POLLIN | POLLOUT | POLLHUP | POLLRDHUP,
		  poll_one(self->server, POLLIN | POLLOUT | POLLRDHUP, SOON));
}

SANX_TEST(reset_wakes_reader)
{
	char buf[8];
	struct task t = { .fn = task_recv, .buf = buf, .len = 8 };

	t.fd = self->server;
	task_start(&t);
	ASSERT_TRUE(task_blocked(&t));
	EXPECT_EQ(0, close_reset(self->client));
	ASSERT_EQ(0, task_wait(&t));
	EXPECT_EQ(-ECONNRESET, t.ret);
}

SANX_TEST(close_wakes_reader)
{
	char buf[8];
	struct task t = { .fn = task_recv, .buf = buf, .len = 8 };

	t.fd = self->client;
	task_start(&t);
	ASSERT_TRUE(task_blocked(&t));
	close(self->server);
	ASSERT_EQ(0, task_wait(&t));
	EXPECT_EQ(0, t.ret);
}

/* The names go with the connection. */
SANX_TEST(names_after_reset)
{
	struct address a, before;

	ASSERT_EQ(0, local_address(self->client, &before));
	EXPECT_EQ(0, close_reset(self->server));
	EXPECT_LT(0, poll_one(self->client, POLLERR, SOON));
	EXPECT_EQ(-ENOTCONN, peer_address(self->client, &a));
	EXPECT_EQ(0, local_address(self->client, &a));
}

/* After the peer's end the names are still there. */
SANX_TEST(names_after_end)
{
	struct address a;

	close(self->server);
	EXPECT_EQ(POLLIN, poll_one(self->client, POLLIN, SOON));
	EXPECT_EQ(0, peer_address(self->client, &a));
	EXPECT_TRUE(address_equal(&self->addr, &a));
}

static volatile sig_atomic_t pipes;

static void count_pipe(int sig)
{
	pipes++;
}

/* SIGPIPE comes with EPIPE, unless the caller asked not to have it. */
SANX_TEST(sigpipe)
{
	struct iovec iov = { "x", 1 };

	signal(SIGPIPE, count_pipe);
	pipes = 0;
	EXPECT_EQ(0, shutdown(self->client, SHUT_WR));
	EXPECT_EQ(-EPIPE, rc(send(self->client, "x", 1, MSG_NOSIGNAL)));
	EXPECT_EQ(0, pipes);
	EXPECT_EQ(-EPIPE, rc(send(self->client, "x", 1, 0)));
	EXPECT_EQ(1, pipes);
	EXPECT_EQ(-EPIPE, rc(write(self->client, "x", 1)));
	EXPECT_EQ(2, pipes);
	EXPECT_EQ(-EPIPE, rc(writev(self->client, &iov, 1)));
	EXPECT_EQ(3, pipes);
	signal(SIGPIPE, SIG_IGN);
}

/* No SIGPIPE for a reset that the call reports as such. */
SANX_TEST(no_sigpipe_for_reset)
{
	signal(SIGPIPE, count_pipe);
	pipes = 0;
	EXPECT_EQ(0, close_reset(self->server));
	EXPECT_LT(0, poll_one(self->client, POLLERR, SOON));
	EXPECT_EQ(-ECONNRESET, rc(send(self->client, "x", 1, 0)));
	EXPECT_EQ(0, pipes);
	EXPECT_EQ(-EPIPE, rc(send(self->client, "x", 1, 0)));
	EXPECT_EQ(1, pipes);
	signal(SIGPIPE, SIG_IGN);
}

/* Data that came before a reset is gone, as over TCP. */
SANX_TEST(reset_drops_data)
{
	char buf[8];
	long n;

	EXPECT_EQ(3, send(self->client, "abc", 3, 0));
	EXPECT_EQ(POLLIN, poll_one(self->server, POLLIN, SOON));
	EXPECT_EQ(0, close_reset(self->client));
	EXPECT_LT(0, poll_one(self->server, POLLERR, SOON));
	n = rc(recv(self->server, buf, 8, 0));
	if (n == 3)
		n = rc(recv(self->server, buf, 8, 0));
	EXPECT_EQ(-ECONNRESET, n);
}

/* What TCP's first window holds arrives before the reset. */
static void answered(struct __test_metadata *_metadata, FIXTURE_DATA(stream) *self,
		     const FIXTURE_VARIANT(stream) *variant, int (*end)(int fd))
{
	static const size_t sizes[] = { 100, 1024, 1025, 4000, 20000, 60000 };
	int c, s;
	char x;

	for (unsigned int i = 0; i < ARRAY_SIZE(sizes); i++) {
		connect_pair(_metadata, self, variant, &c, &s);
		ASSERT_EQ(3, send(c, "ask", 3, 0));
		ASSERT_EQ(POLLIN, poll_one(s, POLLIN, SOON));
		ASSERT_EQ(0, send_pattern(s, sizes[i], sizes[i], 0));
		ASSERT_EQ(0, end(s));
		ASSERT_LT(0, poll_one(c, POLLERR, SOON));
		EXPECT_EQ(0, recv_pattern(c, sizes[i], sizes[i], 0))
			TH_LOG("an answer of %zu bytes", sizes[i]);
		EXPECT_EQ(-ECONNRESET, rc(recv(c, &x, 1, 0)));
		close(c);
	}
	self->fallbacks = ANY_FALLBACKS;
}

SANX_TEST(answer_before_reset)
{
	answered(_metadata, self, variant, close);
}

SANX_TEST(answer_before_reset_lingers)
{
	answered(_metadata, self, variant, close_reset);
}

/* Leaves the last reference to @fd to a process, and kills that. */
static int close_killed(int fd)
{
	pid_t pid = child_start();

	if (!pid) {
		pause();
		_exit(0);
	}
	close(fd);
	return pid < 0 || kill(pid, SIGKILL) || child_wait(pid) != -SIGKILL ? -1 : 0;
}

SANX_TEST(answer_before_reset_killed)
{
	answered(_metadata, self, variant, close_killed);
}

/* The server gives both directions up, and the request goes on coming. */
SANX_TEST(answer_before_shutdown)
{
	int c, s;

	connect_pair(_metadata, self, variant, &c, &s);
	ASSERT_EQ(0, send_pattern(s, 20000, 20000, 0));
	ASSERT_EQ(0, shutdown(s, SHUT_RDWR));
	ASSERT_EQ(3, send(c, "ask", 3, 0));
	ASSERT_LT(0, poll_one(c, POLLERR | POLLHUP, SOON));
	EXPECT_EQ(0, recv_pattern(c, 20000, 20000, 0));
	close(s);
	close(c);
	self->fallbacks = ANY_FALLBACKS;
}

/* The client goes on sending, and reads when it cannot. */
SANX_TEST(answer_to_a_flood)
{
	static char buf[65536];
	int c, s;

	connect_pair(_metadata, self, variant, &c, &s);
	ASSERT_EQ(3, send(c, "ask", 3, 0));
	ASSERT_EQ(POLLIN, poll_one(s, POLLIN, SOON));
	ASSERT_EQ(0, send_pattern(s, 20000, 20000, 0));
	close(s);
	while (send(c, buf, sizeof(buf), MSG_NOSIGNAL) > 0)
		;
	EXPECT_EQ(0, recv_pattern(c, 20000, 20000, 0));
	close(c);
	self->fallbacks = ANY_FALLBACKS;
}

/* A client that neither reads nor has read: the reset comes all the same. */
SANX_TEST(answer_without_room)
{
	int c, s;

	connect_pair(_metadata, self, variant, &c, &s);
	ASSERT_EQ(3, send(c, "ask", 3, 0));
	ASSERT_EQ(POLLIN, poll_one(s, POLLIN, SOON));
	ASSERT_LT(0, fill(variant, s));
	close(s);
	EXPECT_LT(0, poll_one(c, POLLERR, SOON));
	close(c);
	self->fallbacks = ANY_FALLBACKS;
}

/* Both close at once, many times. */
SANX_TEST(both_close)
{
	int c, s, i;

	for (i = 0; i < 100; i++) {
		connect_pair(_metadata, self, variant, &c, &s);
		if (i & 1)
			ASSERT_EQ(1, send(c, "x", 1, 0));
		close(i & 2 ? c : s);
		close(i & 2 ? s : c);
	}
}

/* SO_LINGER with a time: close() waits at most for that. */
SANX_TEST(linger_time)
{
	char buf[8];
	long start = now_ms();

	EXPECT_EQ(5, send(self->client, "hello", 5, 0));
	EXPECT_EQ(0, set_linger(self->client, 2));
	EXPECT_EQ(0, close(self->client));
	EXPECT_GE(SOON, now_ms() - start);
	EXPECT_EQ(5, recv_exact(self->server, buf, 8));
	EXPECT_EQ(0, recv(self->server, buf, 8, 0));
}

/* Never a clean end where bytes are missing: the end close behind the data. */
SANX_TEST(no_short_stream)
{
	struct task t = { .fn = task_recv_all };
	int c, s, i;
	char byte;

	for (i = 0; i < 150; i++) {
		connect_pair(_metadata, self, variant, &c, &s);
		t.fd = s;
		t.len = 1 + dice(20000);
		task_start(&t);
		ASSERT_EQ(0, send_pattern(c, t.len, 0, 0));
		if (i & 1)
			shutdown(c, SHUT_WR);
		else
			close(c);
		ASSERT_EQ(0, task_wait(&t));
		ASSERT_EQ(0, t.ret);
		ASSERT_EQ(0, recv(s, &byte, 1, 0));
		if (i & 1)
			close(c);
		close(s);
	}
}

SANX_TEST_MAIN
