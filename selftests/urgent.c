// SPDX-License-Identifier: GPL-2.0
/* Urgent data: the mark in the stream, and the byte there. */
#include <fcntl.h>
#include <sched.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/wait.h>

#include <linux/sockios.h>

#define DEFAULT_VARIANTS "tcp loop explicit fallback"

#include "sanx_test.h"

static volatile sig_atomic_t urgent_signals;

static void on_sigurg(int sig)
{
	urgent_signals++;
}

/* Until there is urgent data to be got; what poll() says then. */
static int wait_urgent(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLPRI | POLLIN };
	long end = now_ms() + SOON;

	do {
		poll(&p, 1, 10);
	} while (!(p.revents & POLLPRI) && now_ms() < end);
	return p.revents;
}

static int at_mark(int fd)
{
	int n = -1;

	return ioctl(fd, SIOCATMARK, &n) ? -errno : n;
}

/* Until @n bytes can be read, as far as SIOCINQ counts them. */
static int wait_inq(int fd, int n)
{
	long end = now_ms() + SOON;

	while (bytes_unread(fd) < n && now_ms() < end)
		sleep_ms(1);
	return bytes_unread(fd);
}

static int set_inline(int fd)
{
	int one = 1;

	return rc(setsockopt(fd, SOL_SOCKET, SO_OOBINLINE, &one, sizeof(one)));
}

/* What recv() gives, as text; "!" and the error, "." for the end. */
static const char *got(int fd, size_t len, int flags)
{
	static char buf[100];
	ssize_t n = recv(fd, buf, len, flags | MSG_DONTWAIT);

	if (n < 0)
		snprintf(buf, sizeof(buf), "!%d", errno);
	else if (!n)
		snprintf(buf, sizeof(buf), ".");
	else
		buf[n] = 0;
	return buf;
}

#define AGAIN	"!11"
#define INVAL	"!22"

SANX_TEST(none)
{
	EXPECT_EQ(0, at_mark(self->server));
	EXPECT_STREQ(INVAL, got(self->server, 1, MSG_OOB));
	EXPECT_EQ(0, rc(send(self->client, "", 0, MSG_OOB)));
	EXPECT_STREQ(INVAL, got(self->server, 1, MSG_OOB));
	EXPECT_EQ(0, at_mark(self->server));
}

SANX_TEST(byte)
{
	EXPECT_EQ(2, send(self->client, "ab", 2, 0));
	EXPECT_EQ(1, send(self->client, "X", 1, MSG_OOB));
	EXPECT_EQ(POLLIN | POLLPRI, wait_urgent(self->server));
	EXPECT_EQ(0, at_mark(self->server));
	EXPECT_STREQ("X", got(self->server, 1, MSG_OOB));
	EXPECT_STREQ(INVAL, got(self->server, 1, MSG_OOB));
	EXPECT_STREQ("ab", got(self->server, 10, 0));
	EXPECT_EQ(1, at_mark(self->server));
	EXPECT_STREQ(AGAIN, got(self->server, 10, 0));
	EXPECT_EQ(2, send(self->client, "cd", 2, 0));
	EXPECT_EQ(2, recv(self->server, (char[10]){}, 10, 0));
	EXPECT_EQ(0, at_mark(self->server));
	EXPECT_STREQ(INVAL, got(self->server, 1, MSG_OOB));
}

/* Only the last byte of a send is urgent. */
SANX_TEST(last_of_many)
{
	EXPECT_EQ(3, send(self->client, "abX", 3, MSG_OOB));
	wait_urgent(self->server);
	EXPECT_STREQ("ab", got(self->server, 10, 0));
	EXPECT_EQ(1, at_mark(self->server));
	EXPECT_STREQ("X", got(self->server, 10, MSG_OOB));
	EXPECT_EQ(1, at_mark(self->server));
}

/* Nobody asks for it: it is not among the others. */
SANX_TEST(left_out)
{
	EXPECT_EQ(3, send(self->client, "abX", 3, MSG_OOB));
	EXPECT_EQ(2, send(self->client, "cd", 2, 0));
	wait_urgent(self->server);
	EXPECT_STREQ("ab", got(self->server, 10, 0));
	EXPECT_EQ(2, recv(self->server, (char[10]){}, 2, MSG_WAITALL));
	EXPECT_STREQ(AGAIN, got(self->server, 10, 0));
	EXPECT_STREQ(INVAL, got(self->server, 1, MSG_OOB));
}

SANX_TEST(inline_byte)
{
	ASSERT_EQ(0, set_inline(self->server));
	EXPECT_EQ(3, send(self->client, "abX", 3, MSG_OOB));
	wait_urgent(self->server);
	EXPECT_EQ(2, send(self->client, "cd", 2, 0));
	EXPECT_EQ(5, wait_inq(self->server, 5));
	EXPECT_STREQ(INVAL, got(self->server, 1, MSG_OOB));
	EXPECT_STREQ("ab", got(self->server, 10, 0));
	EXPECT_EQ(1, at_mark(self->server));
	EXPECT_STREQ("Xcd", got(self->server, 10, 0));
	EXPECT_EQ(0, at_mark(self->server));
}

/* The option may come after the byte. */
SANX_TEST(inline_afterwards)
{
	EXPECT_EQ(3, send(self->client, "abX", 3, MSG_OOB));
	wait_urgent(self->server);
	EXPECT_STREQ("ab", got(self->server, 10, 0));
	ASSERT_EQ(0, set_inline(self->server));
	EXPECT_STREQ("X", got(self->server, 10, 0));
}

SANX_TEST(a_second_mark)
{
	EXPECT_EQ(2, send(self->client, "aX", 2, MSG_OOB));
	wait_urgent(self->server);
	EXPECT_EQ(1, send(self->client, "Y", 1, MSG_OOB));
	EXPECT_EQ(2, wait_inq(self->server, 2));
	EXPECT_STREQ("Y", got(self->server, 1, MSG_OOB));
	EXPECT_STREQ("aX", got(self->server, 10, 0));
	EXPECT_EQ(1, at_mark(self->server));
}

/* The first one was read, and still stops nobody any more. */
SANX_TEST(a_second_mark_after_the_first_byte)
{
	EXPECT_EQ(2, send(self->client, "aX", 2, MSG_OOB));
	wait_urgent(self->server);
	EXPECT_STREQ("X", got(self->server, 1, MSG_OOB));
	EXPECT_EQ(2, send(self->client, "bY", 2, MSG_OOB));
	wait_urgent(self->server);
	EXPECT_STREQ("aXb", got(self->server, 10, 0));
	EXPECT_STREQ("Y", got(self->server, 1, MSG_OOB));
}

/* Where the reader stands at the first one, it is left out. */
SANX_TEST(a_second_mark_at_the_first)
{
	EXPECT_EQ(2, send(self->client, "aX", 2, MSG_OOB));
	wait_urgent(self->server);
	EXPECT_STREQ("a", got(self->server, 10, 0));
	EXPECT_EQ(1, at_mark(self->server));
	EXPECT_EQ(0, bytes_unread(self->server));
	EXPECT_EQ(2, send(self->client, "bY", 2, MSG_OOB));
	EXPECT_EQ(1, wait_inq(self->server, 1));
	EXPECT_EQ(POLLIN | POLLPRI, wait_urgent(self->server));
	EXPECT_STREQ("b", got(self->server, 10, 0));
	EXPECT_STREQ("Y", got(self->server, 1, MSG_OOB));
	EXPECT_EQ(1, send(self->client, "c", 1, 0));
	EXPECT_EQ(1, recv(self->server, (char[10]){}, 10, 0));
}

SANX_TEST(peek)
{
	EXPECT_EQ(3, send(self->client, "abX", 3, MSG_OOB));
	wait_urgent(self->server);
	EXPECT_EQ(2, send(self->client, "cd", 2, 0));
	EXPECT_STREQ("X", got(self->server, 1, MSG_OOB | MSG_PEEK));
	EXPECT_STREQ("ab", got(self->server, 10, MSG_PEEK));
	EXPECT_STREQ("ab", got(self->server, 10, 0));
	EXPECT_EQ(2, recv(self->server, (char[10]){}, 2, MSG_PEEK | MSG_WAITALL));
	EXPECT_STREQ("cd", got(self->server, 10, MSG_PEEK));
	EXPECT_STREQ("X", got(self->server, 1, MSG_OOB));
	EXPECT_STREQ("cd", got(self->server, 10, 0));
}

SANX_TEST(waitall_stops)
{
	char buf[10];

	EXPECT_EQ(3, send(self->client, "abX", 3, MSG_OOB));
	wait_urgent(self->server);
	EXPECT_EQ(4, send(self->client, "cdef", 4, 0));
	EXPECT_EQ(2, recv(self->server, buf, 6, MSG_WAITALL));
	EXPECT_EQ(4, recv(self->server, buf, 4, MSG_WAITALL));
}

/* Rounds that the reader is through with. */
static volatile int rounds_read;

static long send_marks(struct task *t)
{
	for (size_t i = 0; i < t->len; i++) {
		while (rounds_read < (int)i)
			sched_yield();
		if (send(t->fd, "ab", 2, MSG_NOSIGNAL) != 2 ||
		    send(t->fd, "X", 1, MSG_OOB | MSG_NOSIGNAL) != 1 ||
		    send(t->fd, "c", 1, MSG_NOSIGNAL) != 1)
			return -1;
	}
	return 0;
}

/* The mark comes while recv() is at it: no byte behind it is read with "ab". */
SANX_TEST(waitall_stops_at_one_that_comes)
{
	struct task t = { .fn = send_marks, .fd = self->client, .len = 200 };
	char buf[3];

	rounds_read = 0;
	task_start(&t);
	for (size_t i = 0; i < t.len; i++) {
		ASSERT_EQ(2, recv(self->server, buf, 3, MSG_WAITALL));
		ASSERT_EQ(1, at_mark(self->server));
		/* The mark can be there a moment before its byte. */
		wait_urgent(self->server);
		ASSERT_EQ(1, recv(self->server, buf, 1, MSG_OOB));
		ASSERT_EQ('X', buf[0]);
		ASSERT_EQ(1, recv(self->server, buf, 3, 0));
		ASSERT_EQ('c', buf[0]);
		rounds_read = i + 1;
	}
	ASSERT_EQ(0, task_wait(&t));
	EXPECT_EQ(0, t.ret);
}

SANX_TEST(trunc_drops_up_to_it)
{
	EXPECT_EQ(3, send(self->client, "abX", 3, MSG_OOB));
	wait_urgent(self->server);
	EXPECT_EQ(2, recv(self->server, NULL, 10, MSG_TRUNC | MSG_DONTWAIT));
	EXPECT_EQ(1, at_mark(self->server));
}

SANX_TEST(poll_says)
{
	struct pollfd p = { .fd = self->server, .events = POLLPRI | POLLIN };

	EXPECT_EQ(1, send(self->client, "X", 1, MSG_OOB));
	/* The byte alone is nothing to read in the stream. */
	EXPECT_EQ(POLLPRI, wait_urgent(self->server));
	EXPECT_EQ(1, at_mark(self->server));
	EXPECT_STREQ(AGAIN, got(self->server, 10, 0));
	EXPECT_EQ(1, send(self->client, "a", 1, 0));
	EXPECT_EQ(1, poll(&p, 1, SOON));
	EXPECT_EQ(1, recv(self->server, (char[10]){}, 10, 0));
	EXPECT_EQ(0, poll(&p, 1, A_WHILE));
}

SANX_TEST(poll_says_no_more)
{
	struct pollfd p = { .fd = self->server, .events = POLLPRI };

	EXPECT_EQ(3, send(self->client, "abX", 3, MSG_OOB));
	wait_urgent(self->server);
	EXPECT_STREQ("X", got(self->server, 1, MSG_OOB));
	EXPECT_EQ(0, poll(&p, 1, A_WHILE));
}

static void epoll_says(struct __test_metadata *_metadata, const FIXTURE_DATA(stream) *self)
{
	struct epoll_event ev = { .events = EPOLLPRI | EPOLLET };
	int ep = epoll_create1(EPOLL_CLOEXEC);

	ASSERT_EQ(0, epoll_ctl(ep, EPOLL_CTL_ADD, self->server, &ev));
	EXPECT_EQ(0, epoll_wait(ep, &ev, 1, A_WHILE));
	EXPECT_EQ(1, send(self->client, "X", 1, MSG_OOB));
	EXPECT_EQ(1, epoll_wait(ep, &ev, 1, SOON));
	EXPECT_EQ(EPOLLPRI, ev.events);
	close(ep);
}

SANX_TEST(epoll_edge)
{
	epoll_says(_metadata, self);
}

/* SO_RCVLOWAT is about other bytes. */
SANX_TEST(epoll_edge_below_mark)
{
	ASSERT_EQ(0, set_option(self->server, SOL_SOCKET, SO_RCVLOWAT, 100));
	epoll_says(_metadata, self);
}

SANX_TEST(sigurg)
{
	struct sigaction sa = { .sa_handler = on_sigurg };
	long end = now_ms() + SOON;

	sigaction(SIGURG, &sa, NULL);
	ASSERT_EQ(0, fcntl(self->server, F_SETOWN, getpid()));
	urgent_signals = 0;
	EXPECT_EQ(1, send(self->client, "a", 1, 0));
	sleep_ms(A_WHILE);
	EXPECT_EQ(0, urgent_signals);
	EXPECT_EQ(1, send(self->client, "X", 1, MSG_OOB));
	while (!urgent_signals && now_ms() < end)
		sleep_ms(1);
	EXPECT_EQ(1, urgent_signals);
}

/* Processes that get the signal before us: as many as make that take a while. */
#define GROUP	100
#define ROUNDS	50

static void start_group(pid_t pid[GROUP])
{
	for (int i = 0; i < GROUP; i++) {
		pid[i] = fork();
		if (!pid[i])
			for (;;)
				pause();
	}
}

static long task_urgent(struct task *t)
{
	t->flags = 1;
	return send(t->fd, "X", 1, MSG_OOB | MSG_NOSIGNAL);
}

/*
 * When close() has returned there is no file any more whose owner could be
 * signalled.  The owner is a process group that we are the eldest of, and so the
 * last to get the signal.
 */
SANX_TEST(sigurg_or_close)
{
	const struct timespec none = {};
	pid_t pid[GROUP];
	sigset_t set, got;
	bool before;
	int end[2];

	ASSERT_EQ(0, rc(setpgid(0, 0)));
	signal(SIGURG, SIG_DFL);
	start_group(pid);
	sigemptyset(&set);
	sigaddset(&set, SIGURG);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	for (int i = 0; i < ROUNDS; i++) {
		struct task t = { .fn = task_urgent };

		connect_pair(_metadata, self, variant, &end[0], &end[1]);
		ASSERT_EQ(0, fcntl(end[1], F_SETOWN, -getpid()));
		t.fd = end[0];
		task_start(&t);
		while (!*(volatile int *)&t.flags)
			sched_yield();
		for (volatile int spin = dice(20000); spin > 0; spin--)
			;
		close(end[1]);
		sigpending(&got);
		before = sigismember(&got, SIGURG);
		ASSERT_EQ(0, task_wait(&t));
		if (variant->carried == SANX_A_STATS_CONNS_VERBS)
			sleep_ms(2);
		sigpending(&got);
		ASSERT_EQ(before, sigismember(&got, SIGURG))
			TH_LOG("signalled after close(), in round %d", i);
		sigtimedwait(&set, NULL, &none);
		close(end[0]);
	}
	for (int i = 0; i < GROUP; i++) {
		kill(pid[i], SIGKILL);
		waitpid(pid[i], NULL, 0);
	}
}

SANX_TEST(counted)
{
	EXPECT_EQ(3, send(self->client, "abX", 3, MSG_OOB));
	wait_urgent(self->server);
	EXPECT_EQ(2, send(self->client, "cd", 2, 0));
	sleep_ms(A_WHILE);
	EXPECT_EQ(2, bytes_unread(self->server));
	EXPECT_STREQ("ab", got(self->server, 10, 0));
	EXPECT_EQ(0, bytes_unread(self->server));
	EXPECT_EQ(2, recv(self->server, (char[10]){}, 2, MSG_WAITALL));
	EXPECT_EQ(0, bytes_unread(self->server));
}

SANX_TEST(flags)
{
	char c;
	struct iovec iov = { &c, 1 };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };

	EXPECT_EQ(1, send(self->client, "X", 1, MSG_OOB));
	wait_urgent(self->server);
	EXPECT_EQ(1, recvmsg(self->server, &msg, MSG_OOB | MSG_PEEK));
	EXPECT_EQ('X', c);
	EXPECT_EQ(MSG_OOB, msg.msg_flags & (MSG_OOB | MSG_TRUNC));
	iov.iov_len = 0;
	EXPECT_EQ(0, recvmsg(self->server, &msg, MSG_OOB));
	EXPECT_EQ(MSG_OOB | MSG_TRUNC, msg.msg_flags & (MSG_OOB | MSG_TRUNC));
	EXPECT_STREQ(INVAL, got(self->server, 1, MSG_OOB));
}

/* Each byte once, urgent or not, whichever way it comes. */
SANX_TEST(many)
{
	int i;

	for (i = 0; i < 200; i++) {
		EXPECT_EQ(5, send(self->client, "abcdX", 5, MSG_OOB));
		wait_urgent(self->server);
		ASSERT_STREQ("X", got(self->server, 1, MSG_OOB));
		ASSERT_STREQ("abcd", got(self->server, 10, 0));
	}
}

SANX_TEST(at_the_end)
{
	EXPECT_EQ(3, send(self->client, "abX", 3, MSG_OOB));
	wait_urgent(self->server);
	EXPECT_EQ(0, shutdown(self->client, SHUT_WR));
	EXPECT_STREQ("ab", got(self->server, 10, 0));
	EXPECT_EQ(0, recv(self->server, (char[10]){}, 10, 0));
	EXPECT_STREQ(INVAL, got(self->server, 1, MSG_OOB));
}

SANX_TEST_MAIN
