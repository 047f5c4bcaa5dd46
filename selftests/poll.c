// SPDX-License-Identifier: GPL-2.0
/* Readiness: poll(), select() and epoll, in each state of a socket. */
#include <sys/epoll.h>
#include <sys/select.h>

#define DEFAULT_VARIANTS "tcp loop explicit fallback"

#include "sanx_test.h"

#define ALL (POLLIN | POLLOUT | POLLPRI | POLLRDHUP)

SANX_TEST(fresh)
{
	int fd = client_socket(variant);

	EXPECT_EQ(POLLOUT | POLLHUP, poll_one(fd, ALL, 0));
	fd = server_socket(variant);
	EXPECT_EQ(POLLOUT | POLLHUP, poll_one(fd, ALL, 0));
}

SANX_TEST(listening)
{
	EXPECT_EQ(0, poll_one(self->listener, ALL, 0));
	ASSERT_LE(0, connect_to(variant, &self->addr));
	EXPECT_EQ(POLLIN, poll_one(self->listener, ALL, SOON));
	ASSERT_LE(0, rc(accept(self->listener, NULL, NULL)));
	EXPECT_EQ(0, poll_one(self->listener, ALL, 0));
}

SANX_TEST(connected)
{
	char buf[8];

	for (int i = 0; i < 2; i++) {
		EXPECT_EQ(POLLOUT, poll_one(self->end[i], ALL, 0));
		EXPECT_EQ(0, poll_one(self->end[i], POLLIN, 0));
		EXPECT_EQ(3, send(self->end[!i], "abc", 3, 0));
		EXPECT_EQ(POLLIN, poll_one(self->end[i], POLLIN, SOON));
		EXPECT_EQ(POLLIN | POLLOUT, poll_one(self->end[i], ALL, 0));
		EXPECT_EQ(3, recv(self->end[i], buf, 8, 0));
		EXPECT_EQ(POLLOUT, poll_one(self->end[i], ALL, 0));
	}
}

SANX_TEST(select_too)
{
	struct timeval tv = { SOON / 1000, 0 };
	fd_set in, out, ex;
	int fd = self->server;

	EXPECT_EQ(1, send(self->client, "x", 1, 0));
	FD_ZERO(&in);
	FD_ZERO(&ex);
	FD_SET(fd, &in);
	FD_SET(self->client, &in);
	FD_SET(fd, &ex);
	EXPECT_EQ(1, select(fd + 1, &in, NULL, &ex, &tv));
	EXPECT_TRUE(FD_ISSET(fd, &in));
	EXPECT_FALSE(FD_ISSET(self->client, &in));
	EXPECT_FALSE(FD_ISSET(fd, &ex));
	FD_ZERO(&out);
	FD_SET(fd, &out);
	FD_SET(self->client, &out);
	EXPECT_EQ(2, select(fd + 1, NULL, &out, NULL, &tv));
}

/* The peer's end, our end, both. */
SANX_TEST(half_closed)
{
	EXPECT_EQ(0, shutdown(self->client, SHUT_WR));
	EXPECT_EQ(POLLIN | POLLRDHUP,
		  poll_one(self->server, POLLIN | POLLRDHUP, SOON));
	EXPECT_EQ(POLLIN | POLLOUT | POLLRDHUP, poll_one(self->server, ALL, 0));
	EXPECT_EQ(POLLOUT, poll_one(self->client, ALL, 0));
	EXPECT_EQ(0, shutdown(self->server, SHUT_WR));
	EXPECT_EQ(POLLIN | POLLOUT | POLLRDHUP | POLLHUP,
		  poll_one(self->server, ALL, 0));
	EXPECT_LT(0, poll_one(self->client, POLLIN, SOON));
	EXPECT_EQ(POLLIN | POLLOUT | POLLRDHUP | POLLHUP,
		  poll_one(self->client, ALL, 0));
}

SANX_TEST(shutdown_read)
{
	EXPECT_EQ(0, shutdown(self->client, SHUT_RD));
	EXPECT_EQ(POLLIN | POLLOUT | POLLRDHUP, poll_one(self->client, ALL, 0));
	EXPECT_EQ(POLLOUT, poll_one(self->server, ALL, 0));
}

SANX_TEST(closed)
{
	close(self->client);
	EXPECT_EQ(POLLIN | POLLRDHUP,
		  poll_one(self->server, POLLIN | POLLRDHUP, SOON));
	EXPECT_EQ(POLLIN | POLLOUT | POLLRDHUP, poll_one(self->server, ALL, 0));
}

SANX_TEST(reset)
{
	EXPECT_EQ(0, close_reset(self->client));
	EXPECT_LT(0, poll_one(self->server, POLLERR, SOON));
	EXPECT_EQ(POLLIN | POLLOUT | POLLRDHUP | POLLHUP | POLLERR,
		  poll_one(self->server, ALL, 0));
	EXPECT_EQ(ECONNRESET, get_option(self->server, SOL_SOCKET, SO_ERROR));
	EXPECT_EQ(POLLIN | POLLOUT | POLLRDHUP | POLLHUP,
		  poll_one(self->server, ALL, 0));
}

static long task_poll(struct task *t)
{
	return poll_one(t->fd, t->flags, SOON);
}

/* Whoever waits in poll() wakes for each kind of news. */
SANX_TEST(wakes)
{
	struct task t = { .fn = task_poll };

	t.fd = self->listener;
	t.flags = POLLIN;
	task_start(&t);
	ASSERT_TRUE(task_blocked(&t));
	ASSERT_LE(0, connect_to(variant, &self->addr));
	ASSERT_EQ(0, task_wait(&t));
	EXPECT_EQ(POLLIN, t.ret);

	t.fd = self->server;
	task_start(&t);
	ASSERT_TRUE(task_blocked(&t));
	EXPECT_EQ(1, send(self->client, "x", 1, 0));
	ASSERT_EQ(0, task_wait(&t));
	EXPECT_EQ(POLLIN, t.ret);

	t.flags = POLLRDHUP;
	task_start(&t);
	ASSERT_TRUE(task_blocked(&t));
	EXPECT_EQ(0, shutdown(self->client, SHUT_WR));
	ASSERT_EQ(0, task_wait(&t));
	EXPECT_EQ(POLLRDHUP, t.ret);

	t.flags = 0;
	task_start(&t);
	ASSERT_TRUE(task_blocked(&t));
	EXPECT_EQ(0, close_reset(self->client));
	ASSERT_EQ(0, task_wait(&t));
	EXPECT_LT(0, t.ret & POLLERR);
}

/* An entry made before connect() goes on to work, whatever the socket becomes. */
SANX_TEST(epoll_before_connect)
{
	struct epoll_event ev = { .events = EPOLLIN | EPOLLOUT | EPOLLET };
	int ep = epoll_create1(0), fd = client_socket(variant), s;

	ASSERT_EQ(0, epoll_ctl(ep, EPOLL_CTL_ADD, fd, &ev));
	EXPECT_EQ(1, epoll_wait(ep, &ev, 1, 0));
	EXPECT_EQ(EPOLLOUT | EPOLLHUP, ev.events);
	ASSERT_EQ(0, set_nonblock(fd, true));
	ASSERT_EQ(-EINPROGRESS, rc(connect(fd, &self->addr.sa,
					   self->addr.len)));
	ASSERT_EQ(1, epoll_wait(ep, &ev, 1, SOON));
	EXPECT_EQ(EPOLLOUT, ev.events);
	s = rc(accept(self->listener, NULL, NULL));
	ASSERT_LE(0, s);
	while (epoll_wait(ep, &ev, 1, A_WHILE))
		;
	EXPECT_EQ(1, send(s, "x", 1, 0));
	ASSERT_EQ(1, epoll_wait(ep, &ev, 1, SOON));
	EXPECT_EQ(EPOLLIN | EPOLLOUT, ev.events);
}

/* The same for a listener that was watched before listen(). */
SANX_TEST(epoll_before_listen)
{
	struct epoll_event ev = { .events = EPOLLIN };
	int ep = epoll_create1(0), l = server_socket(variant);
	struct address a = self->addr, name;

	ASSERT_EQ(0, epoll_ctl(ep, EPOLL_CTL_ADD, l, &ev));
	ASSERT_EQ(0, rc(listen(l, 5)));
	ASSERT_EQ(0, local_address(l, &name));
	address_set_port(&a, address_port(&name));
	EXPECT_EQ(0, epoll_wait(ep, &ev, 1, 0));
	ASSERT_LE(0, connect_to(variant, &a));
	ASSERT_EQ(1, epoll_wait(ep, &ev, 1, SOON));
	EXPECT_EQ(EPOLLIN, ev.events);
}

SANX_TEST(epoll_level)
{
	struct epoll_event ev = { .events = EPOLLIN };
	int ep = epoll_create1(0);
	char c;

	ASSERT_EQ(0, epoll_ctl(ep, EPOLL_CTL_ADD, self->server, &ev));
	EXPECT_EQ(0, epoll_wait(ep, &ev, 1, 0));
	EXPECT_EQ(2, send(self->client, "ab", 2, 0));
	EXPECT_EQ(1, epoll_wait(ep, &ev, 1, SOON));
	EXPECT_EQ(1, epoll_wait(ep, &ev, 1, 0));
	EXPECT_EQ(1, recv(self->server, &c, 1, 0));
	EXPECT_EQ(1, epoll_wait(ep, &ev, 1, 0));
	EXPECT_EQ(1, recv(self->server, &c, 1, 0));
	EXPECT_EQ(0, epoll_wait(ep, &ev, 1, 0));
}

/* Edge-triggered: once for each arrival, read or not. */
SANX_TEST(epoll_edge)
{
	struct epoll_event ev = { .events = EPOLLIN | EPOLLRDHUP | EPOLLET };
	int ep = epoll_create1(0);

	ASSERT_EQ(0, epoll_ctl(ep, EPOLL_CTL_ADD, self->server, &ev));
	EXPECT_EQ(0, epoll_wait(ep, &ev, 1, 0));
	EXPECT_EQ(1, send(self->client, "a", 1, 0));
	EXPECT_EQ(1, epoll_wait(ep, &ev, 1, SOON));
	EXPECT_EQ(EPOLLIN, ev.events);
	EXPECT_EQ(0, epoll_wait(ep, &ev, 1, A_WHILE));
	EXPECT_EQ(1, send(self->client, "b", 1, 0));
	EXPECT_EQ(1, epoll_wait(ep, &ev, 1, SOON));
	EXPECT_EQ(0, epoll_wait(ep, &ev, 1, A_WHILE));
	EXPECT_EQ(0, shutdown(self->client, SHUT_WR));
	EXPECT_EQ(1, epoll_wait(ep, &ev, 1, SOON));
	EXPECT_EQ(EPOLLIN | EPOLLRDHUP, ev.events);
}

SANX_TEST(epoll_oneshot)
{
	struct epoll_event ev = { .events = EPOLLIN | EPOLLONESHOT };
	struct epoll_event again = ev;
	int ep = epoll_create1(0);

	ASSERT_EQ(0, epoll_ctl(ep, EPOLL_CTL_ADD, self->server, &ev));
	EXPECT_EQ(1, send(self->client, "a", 1, 0));
	EXPECT_EQ(1, epoll_wait(ep, &ev, 1, SOON));
	EXPECT_EQ(1, send(self->client, "b", 1, 0));
	EXPECT_EQ(0, epoll_wait(ep, &ev, 1, A_WHILE));
	ASSERT_EQ(0, epoll_ctl(ep, EPOLL_CTL_MOD, self->server, &again));
	EXPECT_EQ(1, epoll_wait(ep, &ev, 1, SOON));
}

#define WATCHED 16

/* Many connections in one epoll set: each one's news is its own. */
SANX_TEST(epoll_many)
{
	int ep = epoll_create1(0), c[WATCHED], s[WATCHED], i, k;
	struct epoll_event ev, got[WATCHED];
	char byte;

	for (i = 0; i < WATCHED; i++) {
		connect_pair(_metadata, self, variant, &c[i], &s[i]);
		ev.events = EPOLLIN;
		ev.data.u32 = i;
		ASSERT_EQ(0, epoll_ctl(ep, EPOLL_CTL_ADD, s[i], &ev));
	}
	EXPECT_EQ(0, epoll_wait(ep, got, WATCHED, 0));
	for (k = 0; k < 3 * WATCHED; k++) {
		i = dice(WATCHED);
		byte = i;
		ASSERT_EQ(1, send(c[i], &byte, 1, 0));
		ASSERT_EQ(1, epoll_wait(ep, got, WATCHED, SOON));
		ASSERT_EQ(i, got[0].data.u32);
		ASSERT_EQ(1, recv(s[i], &byte, 1, 0));
		ASSERT_EQ(i, byte);
	}
}

/* EPOLLEXCLUSIVE on a listener, as servers with workers have it. */
SANX_TEST(epoll_exclusive)
{
	struct epoll_event ev = { .events = EPOLLIN | EPOLLEXCLUSIVE };
	int ep = epoll_create1(0);

	ASSERT_EQ(0, epoll_ctl(ep, EPOLL_CTL_ADD, self->listener, &ev));
	ASSERT_LE(0, connect_to(variant, &self->addr));
	EXPECT_EQ(1, epoll_wait(ep, &ev, 1, SOON));
	ASSERT_LE(0, rc(accept(self->listener, NULL, NULL)));
	EXPECT_EQ(0, epoll_wait(ep, &ev, 1, 0));
}

/* An epoll entry goes with its socket. */
SANX_TEST(epoll_close)
{
	struct epoll_event ev = { .events = EPOLLIN };
	int ep = epoll_create1(0);

	ASSERT_EQ(0, epoll_ctl(ep, EPOLL_CTL_ADD, self->server, &ev));
	EXPECT_EQ(1, send(self->client, "a", 1, 0));
	EXPECT_EQ(1, epoll_wait(ep, &ev, 1, SOON));
	close(self->server);
	EXPECT_EQ(0, epoll_wait(ep, &ev, 1, 0));
}

/*
 * A reader that goes on just now does not take back what poll() has said: with
 * nobody else sending, the next send() takes something.
 */
SANX_TEST(room_outlasts_a_read)
{
	static char buf[32768];
	ssize_t n = fill_socket(self->client, A_WHILE);

	ASSERT_LT(0, n);
	ASSERT_EQ(n / 2, drain_socket(self->server, n / 2));
	ASSERT_EQ(0, set_nonblock(self->client, true));
	for (int i = 0; i < 50; i++) {
		ASSERT_EQ(POLLOUT, poll_one(self->client, POLLOUT, SOON));
		ASSERT_LT(0, recv(self->server, buf, 1 + dice(sizeof(buf)), 0));
		/* Over a link the sender is told of it. */
		usleep(dice(2000));
		ASSERT_LT(0, rc(send(self->client, buf, 16384, 0))) {
			TH_LOG("round %d", i);
		}
	}
}

SANX_TEST_MAIN
