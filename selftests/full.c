// SPDX-License-Identifier: GPL-2.0
/* Buffers that are full: who waits, who does not, and what is not lost. */
#include <sys/epoll.h>
#include <sys/select.h>

/* TCP takes its time to be full. */
#define DEFAULT_VARIANTS "tcp4 loop fallback4"

#include "sanx_test.h"

/* Full is EAGAIN and never sleep; what went in comes out; then there is room. */
SANX_TEST(fill_and_drain)
{
	ssize_t n, more;
	int round;
	char c;

	for (int i = 0; i < 2; i++) {
		for (round = 0; round < 2; round++) {
			n = fill(variant, self->end[i]);
			ASSERT_LE(4096, n);
			pattern_fill(&c, 1, n);
			more = rc(send(self->end[i], &c, 1, MSG_DONTWAIT));
			/* TCP may yet move bytes on, and find some room. */
			if (is_tcp(variant) && more == 1)
				n++;
			else
				EXPECT_EQ(-EAGAIN, more);
			if (!is_tcp(variant))
				EXPECT_EQ(0, poll_one(self->end[i], POLLOUT, 0));
			ASSERT_EQ(n, drain_socket(self->end[!i], n));
			EXPECT_EQ(POLLOUT, poll_one(self->end[i], POLLOUT,
						    SOON));
			EXPECT_EQ(-EAGAIN, rc(recv(self->end[!i], &c, 1,
						   MSG_DONTWAIT)));
		}
	}
}

/* Behind many bytes that a sender got rid of without waiting, there is room for one more. */
SANX_TEST(one_byte_behind)
{
	const size_t len = 10 << 20;
	size_t sent = 0, got = 0;
	char *buf = malloc(len + 1);
	ssize_t n;

	ASSERT_NE(NULL, buf);
	pattern_fill(buf, len + 1, 0);
	while (sent < len) {
		n = rc(send(self->client, buf + sent, len - sent, MSG_DONTWAIT));
		if (n > 0) {
			sent += n;
			continue;
		}
		ASSERT_EQ(-EAGAIN, n);
		/* What the peer has read makes room, and time does. */
		while (!poll_one(self->client, POLLOUT, 0) &&
		       poll_one(self->server, POLLIN, A_WHILE)) {
			ASSERT_EQ(0, recv_pattern(self->server, 1024, 1024, got));
			got += 1024;
		}
	}
	EXPECT_EQ(1, rc(send(self->client, buf + len, 1, MSG_DONTWAIT)));
	EXPECT_EQ(0, recv_pattern(self->server, len + 1 - got, 65536, got));
	free(buf);
}

/* Both directions full at once. */
SANX_TEST(fill_both)
{
	ssize_t n[2];

	for (int i = 0; i < 2; i++) {
		n[i] = fill(variant, self->end[i]);
		ASSERT_LE(4096, n[i]);
	}
	for (int i = 0; i < 2; i++)
		ASSERT_EQ(n[i], drain_socket(self->end[!i], n[i]));
}

/* A sender that does not wait does not wait for one who does. */
SANX_TEST(dontwait_beside_waiter)
{
	char buf[1000];
	struct task t = { .fn = task_send, .buf = buf, .len = sizeof(buf) };
	ssize_t n;
	long start;

	for (int i = 0; i < 2; i++) {
		n = fill(variant, self->end[i]);
		ASSERT_LE(4096, n);
		pattern_fill(buf, sizeof(buf), n);
		t.fd = self->end[i];
		task_start(&t);
		ASSERT_TRUE(task_blocked(&t));
		start = now_ms();
		EXPECT_EQ(-EAGAIN, rc(send(self->end[i], "x", 1,
					   MSG_DONTWAIT)));
		EXPECT_GE(SOON / 2, now_ms() - start);
		ASSERT_EQ(n + 1000, drain_socket(self->end[!i], n + 1000));
		ASSERT_EQ(0, task_wait(&t));
		EXPECT_EQ(1000, t.ret);
	}
}

/* A blocking send of more than there is room for takes it all in the end. */
SANX_TEST(blocking_send)
{
	size_t len = 700001;
	char *buf = malloc(len);
	struct task t = { .fn = task_send, .buf = buf, .len = len };
	ssize_t n = fill(variant, self->client);

	ASSERT_LE(4096, n);
	pattern_fill(buf, len, n);
	t.fd = self->client;
	task_start(&t);
	ASSERT_TRUE(task_blocked(&t));
	ASSERT_EQ(n + len, drain_socket(self->server, n + len));
	ASSERT_EQ(0, task_wait(&t));
	EXPECT_EQ(len, t.ret);
}

/* Non-blocking and too much: what fits. */
SANX_TEST(partial_send)
{
	size_t len = 16 << 20;
	char *buf = malloc(len);
	ssize_t n;

	pattern_fill(buf, len, 0);
	n = send(self->client, buf, len, MSG_DONTWAIT);
	EXPECT_LT(0, n);
	EXPECT_GT(len, n);
	EXPECT_EQ(n, drain_socket(self->server, n));
}

SANX_TEST(send_timeout)
{
	char buf[100000] = "";
	long start;

	for (int i = 0; i < 2; i++) {
		ASSERT_LE(4096, fill(variant, self->end[i]));
		ASSERT_EQ(0, set_timeout(self->end[i], SO_SNDTIMEO, LIMIT));
		start = now_ms();
		EXPECT_EQ(-EAGAIN, rc(send(self->end[i], buf, 10, 0)));
		EXPECT_LE(LIMIT_AT_LEAST, now_ms() - start);
		EXPECT_GE(SOON, now_ms() - start);
	}
}

/* A time-out in the middle of a large send returns what was taken. */
SANX_TEST(send_timeout_partial)
{
	size_t len = 16 << 20;
	char *buf = malloc(len);
	ssize_t n;

	pattern_fill(buf, len, 0);
	ASSERT_EQ(0, set_timeout(self->client, SO_SNDTIMEO, LIMIT));
	n = send(self->client, buf, len, 0);
	EXPECT_LT(0, n);
	EXPECT_GT(len, n);
	EXPECT_EQ(n, drain_socket(self->server, n));
}

/* A whole buffer full ahead of the end arrives before it. */
SANX_TEST(end_behind_full_buffer)
{
	ssize_t n;
	char c;

	for (int i = 0; i < 2; i++) {
		n = fill(variant, self->end[i]);
		ASSERT_LE(4096, n);
		EXPECT_EQ(0, shutdown(self->end[i], SHUT_WR));
		EXPECT_EQ(n, drain_socket(self->end[!i], n));
		EXPECT_EQ(0, recv(self->end[!i], &c, 1, 0));
	}
}

/* So does it when the sender is gone altogether. */
SANX_TEST(close_behind_full_buffer)
{
	ssize_t n = fill(variant, self->client);
	char c;

	ASSERT_LE(4096, n);
	close(self->client);
	EXPECT_EQ(n, drain_socket(self->server, n));
	EXPECT_EQ(0, recv(self->server, &c, 1, 0));
}

SANX_TEST(shutdown_wakes_writer)
{
	static char buf[100000];
	struct task t = { .fn = task_send, .buf = buf, .len = sizeof(buf) };

	ASSERT_LE(4096, fill(variant, self->client));
	t.fd = self->client;
	task_start(&t);
	ASSERT_TRUE(task_blocked(&t));
	EXPECT_EQ(0, shutdown(self->client, SHUT_WR));
	ASSERT_EQ(0, task_wait(&t));
	EXPECT_EQ(-EPIPE, t.ret);
}

SANX_TEST(reset_wakes_writer)
{
	static char buf[100000];
	struct task t = { .fn = task_send, .buf = buf, .len = sizeof(buf) };

	ASSERT_LE(4096, fill(variant, self->client));
	t.fd = self->client;
	task_start(&t);
	ASSERT_TRUE(task_blocked(&t));
	EXPECT_EQ(0, close_reset(self->server));
	ASSERT_EQ(0, task_wait(&t));
	EXPECT_EQ(-ECONNRESET, t.ret);
}

/* Readiness follows the room: poll(), select() and epoll agree. */
SANX_TEST(writable)
{
	int ep = epoll_create1(0), fd;
	struct epoll_event ev = { .events = EPOLLOUT };
	struct timeval tv = { 0, 0 };
	fd_set set;
	ssize_t n;

	for (int i = 0; i < 2; i++) {
		fd = self->end[i];
		ASSERT_EQ(0, epoll_ctl(ep, EPOLL_CTL_ADD, fd, &ev));
		EXPECT_EQ(1, epoll_wait(ep, &ev, 1, 0));
		n = fill(variant, fd);
		ASSERT_LE(4096, n);
		EXPECT_EQ(0, poll_one(fd, POLLOUT | POLLWRNORM, 0));
		EXPECT_EQ(0, epoll_wait(ep, &ev, 1, 0));
		FD_ZERO(&set);
		FD_SET(fd, &set);
		EXPECT_EQ(0, select(fd + 1, NULL, &set, NULL, &tv));
		ASSERT_EQ(n, drain_socket(self->end[!i], n));
		EXPECT_EQ(POLLOUT | POLLWRNORM,
			  poll_one(fd, POLLOUT | POLLWRNORM, SOON));
		EXPECT_EQ(1, epoll_wait(ep, &ev, 1, SOON));
		FD_SET(fd, &set);
		EXPECT_EQ(1, select(fd + 1, NULL, &set, NULL, &tv));
		ASSERT_EQ(0, epoll_ctl(ep, EPOLL_CTL_DEL, fd, NULL));
	}
}

/* Edge-triggered: room that comes is told once, and only after it was gone. */
SANX_TEST(writable_edge)
{
	struct epoll_event ev = { .events = EPOLLOUT | EPOLLET };
	int ep = epoll_create1(0), fd;
	ssize_t n;

	for (int i = 0; i < 2; i++) {
		fd = self->end[i];
		ASSERT_EQ(0, epoll_ctl(ep, EPOLL_CTL_ADD, fd, &ev));
		EXPECT_EQ(1, epoll_wait(ep, &ev, 1, 0));
		n = fill(variant, fd);
		ASSERT_LE(4096, n);
		while (epoll_wait(ep, &ev, 1, A_WHILE))
			;
		ASSERT_EQ(n, drain_socket(self->end[!i], n));
		EXPECT_EQ(1, epoll_wait(ep, &ev, 1, SOON));
		EXPECT_EQ(EPOLLOUT, ev.events);
		ASSERT_EQ(0, epoll_ctl(ep, EPOLL_CTL_DEL, fd, NULL));
	}
}

/* A poll() that waits for room wakes when the reader makes it. */
static long task_poll_out(struct task *t)
{
	return poll_one(t->fd, POLLOUT, SOON);
}

SANX_TEST(poll_waits_for_room)
{
	struct task t = { .fn = task_poll_out, .fd = self->client };
	ssize_t n = fill(variant, self->client);

	ASSERT_LE(4096, n);
	task_start(&t);
	ASSERT_TRUE(task_blocked(&t));
	ASSERT_EQ(n, drain_socket(self->server, n));
	ASSERT_EQ(0, task_wait(&t));
	EXPECT_EQ(POLLOUT, t.ret);
}

/* A full connection still carries the other direction. */
SANX_TEST(other_direction)
{
	char buf[8];
	ssize_t n;

	for (int i = 0; i < 2; i++) {
		n = fill(variant, self->end[i]);
		ASSERT_LE(4096, n);
		EXPECT_EQ(3, send(self->end[!i], "abc", 3, 0));
		EXPECT_EQ(3, recv(self->end[i], buf, 8, 0));
		ASSERT_EQ(n, drain_socket(self->end[!i], n));
	}
}

/* Reading a little now and then keeps a writer going that always wants more. */
SANX_TEST(slow_reader)
{
	struct task t = { .fn = task_send_all, .len = 300000 };
	size_t at = 0;
	char buf[7000];
	ssize_t n;

	t.fd = self->client;
	task_start(&t);
	while (at < t.len) {
		n = recv(self->server, buf, 1 + dice(sizeof(buf)), 0);
		ASSERT_LT(0, n);
		ASSERT_TRUE(pattern_check(buf, n, at));
		at += n;
		if (dice(16) == 0)
			sleep_ms(1);
	}
	ASSERT_EQ(0, task_wait(&t));
	EXPECT_EQ(0, t.ret);
}

SANX_TEST_MAIN
