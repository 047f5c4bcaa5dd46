// SPDX-License-Identifier: GPL-2.0
/*
 * Connections under way, which a full backlog keeps so for a while.
 *
 * clock: host how long a connect waits
 */

/* TCP takes a second for most of these. */
#define DEFAULT_VARIANTS "tcp4 loop fallback4"

#include "sanx_test.h"

/*
 * A listener whose backlog of none is full, so that an attempt stays under way
 * until somebody accepts.
 */
static int full_listener(const FIXTURE_VARIANT(stream) *v, struct address *a)
{
	int fd = listen_any(v, 0, a);

	connect_to(v, a);
	return fd;
}

SANX_TEST(in_progress)
{
	struct address a, name;
	int l = full_listener(variant, &a), fd = client_socket(variant);
	struct task t = { .fn = task_connect, .buf = &a };
	char c;

	ASSERT_EQ(0, set_nonblock(fd, true));
	ASSERT_EQ(-EINPROGRESS, rc(connect(fd, &a.sa, a.len)));
	EXPECT_EQ(-EALREADY, rc(connect(fd, &a.sa, a.len)));
	EXPECT_EQ(0, poll_one(fd, POLLIN | POLLOUT | POLLRDHUP, A_WHILE));
	EXPECT_EQ(0, get_option(fd, SOL_SOCKET, SO_ERROR));
	EXPECT_EQ(0, local_address(fd, &name));
	EXPECT_NE(0, address_port(&name));
	EXPECT_EQ(-ENOTCONN, peer_address(fd, &name));
	EXPECT_EQ(-EAGAIN, rc(send(fd, "x", 1, 0)));
	EXPECT_EQ(-EAGAIN, rc(recv(fd, &c, 1, 0)));
	EXPECT_EQ(-EINVAL, rc(bind(fd, &a.sa, a.len)));
	EXPECT_EQ(-EINVAL, rc(listen(fd, 1)));

	ASSERT_LE(0, rc(accept(l, NULL, NULL)));
	ASSERT_EQ(POLLOUT, poll_one(fd, POLLOUT, SOON));
	EXPECT_EQ(0, rc(connect(fd, &a.sa, a.len)));
	EXPECT_EQ(-EISCONN, rc(connect(fd, &a.sa, a.len)));
	EXPECT_EQ(0, peer_address(fd, &name));
	EXPECT_TRUE(address_equal(&a, &name));

	/* Full again.  One after the other: two at once are too much for TCP. */
	t.fd = client_socket(variant);
	task_start(&t);
	ASSERT_TRUE(task_blocked(&t));
	ASSERT_LE(0, rc(accept(l, NULL, NULL)));
	ASSERT_EQ(0, task_wait(&t));
	EXPECT_EQ(0, t.ret);
	ASSERT_LE(0, rc(accept(l, NULL, NULL)));
}

/*
 * What is given up leaves nothing behind for the listener to accept, or what
 * was on its way then and is reset.
 */
static void expect_nobody(struct __test_metadata *_metadata, int listener)
{
	char c;
	int s;

	if (!(poll_one(listener, POLLIN, 3 * A_WHILE) & POLLIN))
		return;
	s = rc(accept(listener, NULL, NULL));
	ASSERT_LE(0, s);
	EXPECT_EQ(-ECONNRESET, rc(recv(s, &c, 1, 0)));
}

SANX_TEST(in_progress_closed)
{
	struct address a;
	int l = full_listener(variant, &a), fd = client_socket(variant);

	ASSERT_EQ(0, set_nonblock(fd, true));
	ASSERT_EQ(-EINPROGRESS, rc(connect(fd, &a.sa, a.len)));
	close(fd);
	ASSERT_LE(0, rc(accept(l, NULL, NULL)));
	expect_nobody(_metadata, l);
}

SANX_TEST(in_progress_shutdown)
{
	struct address a;
	int l = full_listener(variant, &a), fd = client_socket(variant);

	ASSERT_EQ(0, set_nonblock(fd, true));
	ASSERT_EQ(-EINPROGRESS, rc(connect(fd, &a.sa, a.len)));
	EXPECT_EQ(0, rc(shutdown(fd, SHUT_RDWR)));
	ASSERT_LE(0, rc(accept(l, NULL, NULL)));
	expect_nobody(_metadata, l);
	close(fd);
}

/* A listener that goes away ends what is under way to it. */
SANX_TEST(in_progress_listener_closed)
{
	struct address a;
	int l = full_listener(variant, &a), fd = client_socket(variant);
	int events;

	ASSERT_EQ(0, set_nonblock(fd, true));
	ASSERT_EQ(-EINPROGRESS, rc(connect(fd, &a.sa, a.len)));
	close(l);
	events = poll_one(fd, POLLOUT, SOON);
	EXPECT_EQ(POLLOUT | POLLERR | POLLHUP, events);
	EXPECT_EQ(ECONNREFUSED, get_option(fd, SOL_SOCKET, SO_ERROR));
	self->fallbacks = 1;
}

SANX_TEST(timeout)
{
	struct address a;
	int l = full_listener(variant, &a), fd = client_socket(variant);
	long start = now_ms();

	ASSERT_EQ(0, set_timeout(fd, SO_SNDTIMEO, LIMIT));
	EXPECT_EQ(-EINPROGRESS, rc(connect(fd, &a.sa, a.len)));
	EXPECT_LE(LIMIT_AT_LEAST, now_ms() - start);
	EXPECT_GE(SOON, now_ms() - start);
	EXPECT_EQ(-EALREADY, rc(connect(fd, &a.sa, a.len)));
	close(l);
	close(fd);
}

#define SYN_RETRIES	"/proc/sys/net/ipv4/tcp_syn_retries"

/* Who has to wait gives up when TCP would: by TCP_USER_TIMEOUT, TCP_SYNCNT, the sysctl. */
SANX_TEST(gives_up)
{
	long retries = read_number(SYN_RETRIES);
	struct address a;
	int fd[3], i, l = full_listener(variant, &a);
	char old[16];

	ASSERT_LE(0, l);
	snprintf(old, sizeof(old), "%ld", retries);
	ASSERT_EQ(0, write_file(SYN_RETRIES, "1"));
	for (i = 0; i < 3; i++) {
		fd[i] = client_socket(variant);
		ASSERT_EQ(0, set_nonblock(fd[i], true));
	}
	EXPECT_EQ(0, set_option(fd[0], SOL_TCP, TCP_USER_TIMEOUT, LIMIT));
	EXPECT_EQ(0, set_option(fd[2], SOL_TCP, TCP_SYNCNT, 2));
	for (i = 0; i < 3; i++)
		EXPECT_EQ(-EINPROGRESS, rc(connect(fd[i], &a.sa, a.len)));
	for (i = 0; i < 2; i++) {
		EXPECT_LT(0, poll_one(fd[i], POLLOUT, SOON));
		EXPECT_EQ(-EALREADY, rc(connect(fd[i + 1], &a.sa, a.len)));
		EXPECT_EQ(-ETIMEDOUT, rc(connect(fd[i], &a.sa, a.len)));
	}
	write_file(SYN_RETRIES, old);
	for (i = 0; i < 3; i++)
		close(fd[i]);
	close(l);
}

/* A backlog of n lets n + 1 wait; all of them get their turn. */
SANX_TEST(backlog)
{
	struct address a;
	int l = listen_any(variant, 3, &a), fd[8], i;

	for (i = 0; i < 8; i++) {
		fd[i] = client_socket(variant);
		ASSERT_EQ(0, set_nonblock(fd[i], true));
		if (connect(fd[i], &a.sa, a.len))
			ASSERT_EQ(EINPROGRESS, errno);
		/*
		 * TCP answers all requests that come before it has queued the first,
		 * and then drops their last ACKs.
		 */
		if (i < 4)
			ASSERT_EQ(POLLOUT, poll_one(fd[i], POLLOUT, SOON));
	}
	for (i = 4; i < 8; i++)
		EXPECT_EQ(0, poll_one(fd[i], POLLOUT, A_WHILE));
	for (i = 0; i < 8; i++) {
		ASSERT_EQ(POLLIN, poll_one(l, POLLIN, SOON));
		ASSERT_LE(0, rc(accept(l, NULL, NULL)));
	}
	for (i = 0; i < 8; i++)
		EXPECT_EQ(POLLOUT, poll_one(fd[i], POLLOUT, SOON));
}

/* A second listen() changes the backlog of the same listener. */
SANX_TEST(backlog_changed)
{
	int i, fd;

	ASSERT_EQ(0, rc(listen(self->listener, 0)));
	ASSERT_LE(0, connect_to(variant, &self->addr));
	fd = client_socket(variant);
	ASSERT_EQ(0, set_nonblock(fd, true));
	ASSERT_EQ(-EINPROGRESS, rc(connect(fd, &self->addr.sa,
					   self->addr.len)));
	EXPECT_EQ(0, poll_one(fd, POLLOUT, A_WHILE));
	ASSERT_EQ(0, rc(listen(self->listener, 8)));
	EXPECT_EQ(POLLOUT, poll_one(fd, POLLOUT, SOON));
	for (i = 0; i < 2; i++)
		ASSERT_LE(0, rc(accept(self->listener, NULL, NULL)));
}

/* An interrupted connect() goes on by itself. */
SANX_TEST(interrupted)
{
	struct address a;
	int l = full_listener(variant, &a);
	struct task t = { .fn = task_connect, .buf = &a };

	t.fd = client_socket(variant);
	signal_handle(false);
	ASSERT_TRUE(task_interrupt(&t));
	ASSERT_EQ(0, task_wait(&t));
	EXPECT_EQ(-EINTR, t.ret);
	ASSERT_EQ(0, set_nonblock(t.fd, true));
	EXPECT_EQ(-EALREADY, rc(connect(t.fd, &a.sa, a.len)));
	ASSERT_LE(0, rc(accept(l, NULL, NULL)));
	EXPECT_EQ(POLLOUT, poll_one(t.fd, POLLOUT, SOON));
	EXPECT_EQ(0, rc(connect(t.fd, &a.sa, a.len)));
	ASSERT_LE(0, rc(accept(l, NULL, NULL)));
}

SANX_TEST(restarted)
{
	struct address a;
	int l = full_listener(variant, &a);
	struct task t = { .fn = task_connect, .buf = &a };

	t.fd = client_socket(variant);
	signal_handle(true);
	ASSERT_TRUE(task_interrupt(&t));
	ASSERT_TRUE(task_blocked(&t));
	ASSERT_LE(0, rc(accept(l, NULL, NULL)));
	ASSERT_EQ(0, task_wait(&t));
	EXPECT_EQ(0, t.ret);
	ASSERT_LE(0, rc(accept(l, NULL, NULL)));
}

SANX_TEST_MAIN
