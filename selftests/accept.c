// SPDX-License-Identifier: GPL-2.0
/* The server's side: accept() and what waits for it. */
#include <fcntl.h>
#include <pthread.h>

#define DEFAULT_VARIANTS "tcp loop explicit fallback"

#include "sanx_test.h"

SANX_TEST(blocks_until_connect)
{
	struct task t = { .fn = task_accept, .fd = self->listener };

	task_start(&t);
	ASSERT_TRUE(task_blocked(&t));
	ASSERT_LE(0, connect_to(variant, &self->addr));
	ASSERT_EQ(0, task_wait(&t));
	EXPECT_LE(0, t.ret);
}

SANX_TEST(nonblocking)
{
	int s;

	ASSERT_EQ(0, set_nonblock(self->listener, true));
	EXPECT_EQ(-EAGAIN, rc(accept(self->listener, NULL, NULL)));
	EXPECT_EQ(0, poll_one(self->listener, POLLIN, 0));
	ASSERT_LE(0, connect_to(variant, &self->addr));
	ASSERT_EQ(POLLIN, poll_one(self->listener, POLLIN, SOON));
	s = rc(accept(self->listener, NULL, NULL));
	ASSERT_LE(0, s);
	/* On Linux the flag is not handed down. */
	EXPECT_EQ(0, fcntl(s, F_GETFL) & O_NONBLOCK);
	EXPECT_EQ(-EAGAIN, rc(accept(self->listener, NULL, NULL)));
	EXPECT_EQ(0, poll_one(self->listener, POLLIN, 0));
}

SANX_TEST(flags)
{
	int s;

	ASSERT_LE(0, connect_to(variant, &self->addr));
	s = rc(accept4(self->listener, NULL, NULL,
		       SOCK_NONBLOCK | SOCK_CLOEXEC));
	ASSERT_LE(0, s);
	EXPECT_EQ(O_NONBLOCK, fcntl(s, F_GETFL) & O_NONBLOCK);
	EXPECT_EQ(FD_CLOEXEC, fcntl(s, F_GETFD));
	EXPECT_EQ(-EINVAL, rc(accept4(self->listener, NULL, NULL, 1)));
}

SANX_TEST(names_the_client)
{
	struct address peer, name;
	int c = connect_to(variant, &self->addr), s;

	ASSERT_LE(0, c);
	memset(&peer, 0, sizeof(peer));
	peer.len = sizeof(peer.ss);
	s = rc(accept(self->listener, &peer.sa, &peer.len));
	ASSERT_LE(0, s);
	ASSERT_EQ(0, local_address(c, &name));
	EXPECT_TRUE(address_equal(&name, &peer));
}

SANX_TEST(timeout)
{
	long start = now_ms();

	ASSERT_EQ(0, set_timeout(self->listener, SO_RCVTIMEO, LIMIT));
	EXPECT_EQ(-EAGAIN, rc(accept(self->listener, NULL, NULL)));
	EXPECT_LE(LIMIT_AT_LEAST, now_ms() - start);
	EXPECT_GE(SOON, now_ms() - start);
}

/* Clients that have sent and gone before accept() are served all the same. */
SANX_TEST(client_gone)
{
	struct address peer;
	char buf[8];
	int c, s;

	c = connect_to(variant, &self->addr);
	ASSERT_LE(0, c);
	EXPECT_EQ(5, send(c, "hello", 5, 0));
	close(c);
	peer.len = sizeof(peer.ss);
	s = rc(accept(self->listener, &peer.sa, &peer.len));
	ASSERT_LE(0, s);
	EXPECT_EQ(self->addr.sa.sa_family, peer.sa.sa_family);
	EXPECT_EQ(5, recv_exact(s, buf, sizeof(buf)));
	EXPECT_EQ(0, memcmp(buf, "hello", 5));
	EXPECT_EQ(0, recv(s, buf, sizeof(buf), 0));
}

SANX_TEST(client_reset)
{
	char buf[8];
	int c, s;

	c = connect_to(variant, &self->addr);
	ASSERT_LE(0, c);
	EXPECT_EQ(0, close_reset(c));
	s = rc(accept(self->listener, NULL, NULL));
	ASSERT_LE(0, s);
	EXPECT_EQ(-ECONNRESET, rc(recv(s, buf, sizeof(buf), 0)));
	EXPECT_EQ(0, recv(s, buf, sizeof(buf), 0));
}

/* First come, first served. */
SANX_TEST(in_order)
{
	int c[8], s, i;
	char got;

	for (i = 0; i < 8; i++) {
		c[i] = connect_to(variant, &self->addr);
		ASSERT_LE(0, c[i]);
		got = 'a' + i;
		ASSERT_EQ(1, send(c[i], &got, 1, 0));
	}
	for (i = 0; i < 8; i++) {
		s = rc(accept(self->listener, NULL, NULL));
		ASSERT_LE(0, s);
		ASSERT_EQ(1, recv(s, &got, 1, 0));
		EXPECT_EQ('a' + i, got);
	}
}

/* Connections over AF_SANX so far, each end counted; the other end is told of later. */
static uint64_t carried_ends(const FIXTURE_VARIANT(stream) *v)
{
	struct node_stats now;

	node_stats(&now);
	return is_tcp(v) ? 0 : now.v[carried_by(v)];
}

/* The port of a client that waits for accept(), or -errno. */
static int client_waits(const FIXTURE_VARIANT(stream) *v, const struct address *a, bool plain)
{
	int fd = stream_socket(v->client && !plain, v->family), err;
	uint64_t before = carried_ends(v);
	struct address name;

	err = fd < 0 ? fd : rc(connect(fd, &a->sa, a->len));
	if (err)
		return err;
	while (!plain && !is_tcp(v) && carried_ends(v) < before + 2)
		usleep(1000);
	local_address(fd, &name);
	return address_port(&name);
}

/* The port of the client that accept() returns, or -errno. */
static int accepted_port(int listener)
{
	struct address peer = { .len = sizeof(peer.ss) };
	int s = rc(accept(listener, &peer.sa, &peer.len));

	return s < 0 ? s : address_port(&peer);
}

/* Clients of TCP and of AF_SANX. */
IP_TEST(in_order_of_both_kinds)
{
	int port[8], i;

	for (i = 0; i < 8; i++) {
		port[i] = client_waits(variant, &self->addr, i % 3);
		ASSERT_LE(0, port[i]);
	}
	for (i = 0; i < 8; i++)
		EXPECT_EQ(port[i], accepted_port(self->listener));
	self->fallbacks = ANY_FALLBACKS;
}

/* A client of TCP is the next one although others keep coming. */
IP_TEST(none_is_passed)
{
	int first, plain, i;

	first = client_waits(variant, &self->addr, false);
	plain = client_waits(variant, &self->addr, true);
	for (i = 0; i < 4; i++)
		ASSERT_LE(0, client_waits(variant, &self->addr, false));
	EXPECT_EQ(first, accepted_port(self->listener));
	EXPECT_EQ(plain, accepted_port(self->listener));
	self->fallbacks = ANY_FALLBACKS;
}

/* Clients that nobody accepted learn it when the listener goes. */
SANX_TEST(listener_closed)
{
	int c = connect_to(variant, &self->addr);
	int d = connect_to(variant, &self->addr);
	char buf[8];

	ASSERT_LE(0, c);
	ASSERT_LE(0, d);
	EXPECT_EQ(5, send(d, "hello", 5, 0));
	close(self->listener);
	EXPECT_EQ(-ECONNRESET, rc(recv(c, buf, sizeof(buf), 0)));
	EXPECT_EQ(-ECONNRESET, rc(recv(d, buf, sizeof(buf), 0)));
	/* The pair that was accepted before goes on. */
	EXPECT_EQ(1, send(self->client, "x", 1, 0));
	EXPECT_EQ(1, recv(self->server, buf, sizeof(buf), 0));
}

SANX_TEST(listener_shutdown)
{
	struct task t = { .fn = task_accept, .fd = self->listener };

	task_start(&t);
	ASSERT_TRUE(task_blocked(&t));
	EXPECT_EQ(0, rc(shutdown(self->listener, SHUT_RD)));
	ASSERT_EQ(0, task_wait(&t));
	EXPECT_EQ(-EINVAL, t.ret);
	EXPECT_EQ(-EINVAL, rc(accept(self->listener, NULL, NULL)));
	EXPECT_EQ(-ECONNREFUSED, connect_to(variant, &self->addr));
	self->fallbacks = 1;
}

/* What shutdown() stopped, listen() starts again. */
SANX_TEST(listen_again)
{
	struct address a;

	EXPECT_EQ(0, rc(shutdown(self->listener, SHUT_RD)));
	ASSERT_EQ(0, rc(listen(self->listener, 5)));
	ASSERT_EQ(0, local_address(self->listener, &a));
	/* Perhaps on another port, as nobody asked for this one. */
	ASSERT_LE(0, connect_to(variant, &a));
	ASSERT_LE(0, rc(accept(self->listener, NULL, NULL)));
}

/* As an administrator does; the one socket that listens on the port. */
static int destroy_listener(const struct address *a)
{
	char line[80];

	snprintf(line, sizeof(line),
		 "ss -KHtl sport = :%u | grep -q LISTEN", address_port(a));
	return system(line);
}

/* A listener that another can follow on its port. */
static int listen_reuse(const FIXTURE_VARIANT(stream) *v, struct address *a)
{
	int fd = server_socket(v);

	if (fd < 0 || set_option(fd, SOL_SOCKET, SO_REUSEADDR, 1) ||
	    bind(fd, &a->sa, a->len) || listen(fd, 5))
		return -errno;
	local_address(fd, a);
	return fd;
}

/* What sock_diag destroys takes no more clients, and has those that wait reset. */
IP_TEST(listener_destroyed)
{
	struct task t = { .fn = task_accept };
	struct address a;
	int l, waits, late;
	char c;

	self->fallbacks = ANY_FALLBACKS;
	address_make(&a, variant_address(variant), 0);
	l = listen_reuse(variant, &a);
	ASSERT_LE(0, l);
	waits = connect_to(variant, &a);
	ASSERT_LE(0, waits);
	ASSERT_EQ(POLLIN, poll_one(l, POLLIN, SOON));
	ASSERT_EQ(0, destroy_listener(&a));

	ASSERT_LT(0, poll_one(waits, POLLIN, SOON));
	EXPECT_EQ(-ECONNRESET, rc(recv(waits, &c, 1, MSG_DONTWAIT)));
	EXPECT_EQ(-EINVAL, rc(accept(l, NULL, NULL)));
	EXPECT_EQ(POLLHUP, poll_one(l, POLLHUP, 0) & POLLHUP);
	EXPECT_EQ(ECONNABORTED, get_option(l, SOL_SOCKET, SO_ERROR));
	EXPECT_EQ(-ECONNREFUSED, connect_to(variant, &a));

	t.fd = listen_reuse(variant, &a);
	ASSERT_LE(0, t.fd);
	late = connect_to(variant, &a);
	ASSERT_LE(0, late);
	task_start(&t);
	ASSERT_EQ(0, task_wait(&t));
	ASSERT_LE(0, t.ret);
	check_works(_metadata, (int []){ late, t.ret });
}

/* One who waits in accept() learns of it, and listen() starts afresh. */
IP_TEST(listener_destroyed_meanwhile)
{
	struct task t = { .fn = task_accept };
	struct address a;

	self->fallbacks = ANY_FALLBACKS;
	address_make(&a, variant_address(variant), 0);
	t.fd = listen_reuse(variant, &a);
	ASSERT_LE(0, t.fd);
	task_start(&t);
	ASSERT_TRUE(task_blocked(&t));
	ASSERT_EQ(0, destroy_listener(&a));
	ASSERT_EQ(0, task_wait(&t));
	EXPECT_EQ(-EINVAL, t.ret);

	ASSERT_EQ(0, rc(listen(t.fd, 5)));
	ASSERT_EQ(0, local_address(t.fd, &a));
	ASSERT_EQ(0, set_nonblock(t.fd, true));
	EXPECT_EQ(-EAGAIN, rc(accept(t.fd, NULL, NULL)));
	ASSERT_LE(0, connect_to(variant, &a));
	ASSERT_EQ(POLLIN, poll_one(t.fd, POLLIN, SOON));
	EXPECT_LE(0, rc(accept(t.fd, NULL, NULL)));
}

SANX_TEST(not_listening)
{
	int fd = server_socket(variant);

	EXPECT_EQ(-EINVAL, rc(accept(fd, NULL, NULL)));
	EXPECT_EQ(-EINVAL, rc(accept(self->server, NULL, NULL)));
	EXPECT_EQ(-EINVAL, rc(accept(self->client, NULL, NULL)));
}

/* What a listener was set to, its connections are. */
SANX_TEST(inherits)
{
	struct linger linger = { 1, 7 }, got = { 0, 0 };
	socklen_t len = sizeof(got);
	int l = self->listener, s, size;

	ASSERT_EQ(0, set_option(l, SOL_TCP, TCP_NODELAY, 1));
	ASSERT_EQ(0, set_option(l, SOL_TCP, TCP_KEEPIDLE, 77));
	ASSERT_EQ(0, set_option(l, SOL_SOCKET, SO_KEEPALIVE, 1));
	ASSERT_EQ(0, set_option(l, SOL_SOCKET, SO_RCVBUF, 50000));
	ASSERT_EQ(0, set_option(l, SOL_SOCKET, SO_SNDBUF, 60000));
	ASSERT_EQ(0, setsockopt(l, SOL_SOCKET, SO_LINGER, &linger,
				sizeof(linger)));
	ASSERT_EQ(0, set_timeout(l, SO_RCVTIMEO, 3000));
	ASSERT_LE(0, connect_to(variant, &self->addr));
	s = rc(accept(l, NULL, NULL));
	ASSERT_LE(0, s);
	EXPECT_EQ(1, get_option(s, SOL_TCP, TCP_NODELAY));
	EXPECT_EQ(77, get_option(s, SOL_TCP, TCP_KEEPIDLE));
	EXPECT_EQ(1, get_option(s, SOL_SOCKET, SO_KEEPALIVE));
	size = get_option(l, SOL_SOCKET, SO_RCVBUF);
	EXPECT_EQ(size, get_option(s, SOL_SOCKET, SO_RCVBUF));
	size = get_option(l, SOL_SOCKET, SO_SNDBUF);
	EXPECT_EQ(size, get_option(s, SOL_SOCKET, SO_SNDBUF));
	ASSERT_EQ(0, getsockopt(s, SOL_SOCKET, SO_LINGER, &got, &len));
	EXPECT_EQ(1, got.l_onoff);
	EXPECT_EQ(7, got.l_linger);
	EXPECT_EQ(0, get_option(s, SOL_SOCKET, SO_ACCEPTCONN));
	/* Not to keep the close waiting. */
	linger.l_onoff = 0;
	ASSERT_EQ(0, setsockopt(s, SOL_SOCKET, SO_LINGER, &linger,
				sizeof(linger)));
}

/* A server that says hello first. */
SANX_TEST(server_speaks_first)
{
	char buf[8];
	int c, s;

	c = connect_to(variant, &self->addr);
	ASSERT_LE(0, c);
	s = rc(accept(self->listener, NULL, NULL));
	ASSERT_LE(0, s);
	EXPECT_EQ(3, send(s, "220", 3, 0));
	close(s);
	EXPECT_EQ(3, recv_exact(c, buf, sizeof(buf)));
	EXPECT_EQ(0, recv(c, buf, sizeof(buf), 0));
}

/* Several threads wait in accept(); each client wakes one. */
SANX_TEST(threads)
{
	struct task t[4] = {};
	int i;

	for (i = 0; i < 4; i++) {
		t[i].fn = task_accept;
		t[i].fd = self->listener;
		task_start(&t[i]);
		ASSERT_TRUE(task_blocked(&t[i]));
	}
	for (i = 0; i < 4; i++)
		ASSERT_LE(0, connect_to(variant, &self->addr));
	for (i = 0; i < 4; i++) {
		ASSERT_EQ(0, task_wait(&t[i]));
		EXPECT_LE(0, t[i].ret);
	}
}

#define MIGRATE	"/proc/sys/net/ipv4/tcp_migrate_req"
#define MOVED	6

static int worker(const FIXTURE_VARIANT(stream) *v, const struct address *a)
{
	int fd = server_socket(v);

	if (fd < 0 || set_option(fd, SOL_SOCKET, SO_REUSEPORT, 1) ||
	    bind(fd, &a->sa, a->len) || listen(fd, 16))
		return -1;
	return fd;
}

/*
 * Clients wait at a worker, which leaves while another one is there.
 * @deferred: they wait for TCP_DEFER_ACCEPT, and send when they have moved
 */
static void leave(struct __test_metadata *_metadata, const FIXTURE_VARIANT(stream) *variant,
		  int (*end)(int fd), bool deferred)
{
	int c[MOVED], l[2], i, s;
	struct address a;
	char x;

	address_make(&a, variant_address(variant), 0);
	l[0] = worker(variant, &a);
	ASSERT_LE(0, l[0]);
	ASSERT_EQ(0, local_address(l[0], &a));
	if (deferred)
		ASSERT_EQ(0, set_option(l[0], SOL_TCP, TCP_DEFER_ACCEPT, 30));
	for (i = 0; i < MOVED; i++) {
		c[i] = connect_to(variant, &a);
		ASSERT_LE(0, c[i]);
	}
	l[1] = worker(variant, &a);
	ASSERT_LE(0, l[1]);
	ASSERT_EQ(0, end(l[0]));
	for (i = 0; i < MOVED; i++) {
		x = 'a' + i;
		ASSERT_EQ(1, send(c[i], &x, 1, 0));
	}
	for (i = 0; i < MOVED; i++) {
		ASSERT_EQ(POLLIN, poll_one(l[1], POLLIN, SOON));
		s = rc(accept(l[1], NULL, NULL));
		ASSERT_LE(0, s);
		ASSERT_EQ(1, recv(s, &x, 1, 0));
		ASSERT_EQ(1, send(s, &x, 1, 0));
		close(s);
	}
	for (i = 0; i < MOVED; i++) {
		ASSERT_EQ(1, recv(c[i], &x, 1, 0));
		EXPECT_EQ('a' + i, x);
		close(c[i]);
	}
	close(l[1]);
}

static int stop_listening(int fd)
{
	return rc(shutdown(fd, SHUT_RD));
}

IP_TEST(worker_leaves)
{
	ASSERT_EQ(0, write_file(MIGRATE, "1"));
	leave(_metadata, variant, close, false);
	leave(_metadata, variant, stop_listening, false);
	/* Over TCP such clients move with their first bytes. */
	if (!is_tcp(variant))
		leave(_metadata, variant, close, true);
	EXPECT_EQ(0, write_file(MIGRATE, "0"));
	self->fallbacks = ANY_FALLBACKS;
}

#define CHILDREN 3
#define PER_CHILD 8

/* Child of prefork: answers PER_CHILD clients. */
static int serve(int listener)
{
	int i, s;
	char c;

	for (i = 0; i < PER_CHILD; i++) {
		s = accept(listener, NULL, NULL);
		if (s < 0 || recv(s, &c, 1, 0) != 1 || send(s, &c, 1, 0) != 1)
			return 1;
		close(s);
	}
	return 0;
}

/* Several processes accept from one listener. */
SANX_TEST(prefork)
{
	pid_t pid[CHILDREN];
	int i, fd;
	char c;

	for (i = 0; i < CHILDREN; i++) {
		pid[i] = child_start();
		if (!pid[i])
			_exit(serve(self->listener));
	}
	for (i = 0; i < CHILDREN * PER_CHILD; i++) {
		fd = connect_to(variant, &self->addr);
		ASSERT_LE(0, fd);
		c = i;
		ASSERT_EQ(1, send(fd, &c, 1, 0));
		ASSERT_EQ(1, recv(fd, &c, 1, 0));
		EXPECT_EQ(i, c);
		EXPECT_EQ(0, recv(fd, &c, 1, 0));
		close(fd);
	}
	for (i = 0; i < CHILDREN; i++)
		EXPECT_EQ(0, child_wait(pid[i]));
}

SANX_TEST_MAIN
