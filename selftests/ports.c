// SPDX-License-Identifier: GPL-2.0
/* Which addresses and ports are in use, as TCP has it. */
#include "sanx_test.h"

/* The port that a client binds, with what lets several sockets do so. */
#define CLIENT_PORT	23461

static int bound(const FIXTURE_VARIANT(stream) *v, uint16_t port)
{
	int fd = client_socket(v);
	struct address a;

	address_make(&a, variant_address(v), port);
	if (fd < 0 || set_option(fd, SOL_SOCKET, SO_REUSEADDR, 1) ||
	    set_option(fd, SOL_SOCKET, SO_REUSEPORT, 1) || bind(fd, &a.sa, a.len))
		return -1;
	return fd;
}

/* Return: the connected socket, or -errno of connect(). */
static int dial(const FIXTURE_VARIANT(stream) *v, uint16_t port, const struct address *to)
{
	int fd = bound(v, port), err;

	if (fd < 0)
		return -1;
	err = rc(connect(fd, &to->sa, to->len));
	if (!err)
		return fd;
	close(fd);
	return err;
}

static int accept_one(struct __test_metadata *_metadata, int listener, int client)
{
	struct address peer = { .len = sizeof(peer.ss) }, name;
	int s = rc(accept(listener, &peer.sa, &peer.len));

	EXPECT_LE(0, s);
	EXPECT_EQ(0, local_address(client, &name));
	EXPECT_TRUE(address_equal(&name, &peer));
	return s;
}

/* As another program would: what does bind() and listen() at the server's port return? */
static int take_port(const FIXTURE_VARIANT(stream) *v, const struct address *a, bool ours,
		     bool reuse)
{
	int fd = stream_socket(ours && v->server, v->family), err;

	if (fd < 0 || set_option(fd, SOL_SOCKET, SO_REUSEADDR, reuse))
		return -1;
	err = rc(bind(fd, &a->sa, a->len));
	if (!err)
		err = rc(listen(fd, 4));
	close(fd);
	return err;
}

/* Two connections of one port to one peer would have the same four numbers. */
SANX_TEST(one_peer_once)
{
	struct address other;
	int c, d, l;

	l = listen_any(variant, 4, &other);
	ASSERT_LE(0, l);
	c = dial(variant, CLIENT_PORT, &self->addr);
	ASSERT_LE(0, c);
	EXPECT_EQ(-EADDRNOTAVAIL, dial(variant, CLIENT_PORT, &self->addr));
	d = dial(variant, CLIENT_PORT, &other);
	EXPECT_LE(0, d);
	EXPECT_EQ(-EADDRNOTAVAIL, dial(variant, CLIENT_PORT, &other));
	accept_one(_metadata, self->listener, c);
	accept_one(_metadata, l, d);
	/* The server sees each once. */
	ASSERT_EQ(0, set_nonblock(self->listener, true));
	EXPECT_EQ(-EAGAIN, rc(accept(self->listener, NULL, NULL)));
	self->fallbacks = ANY_FALLBACKS;
}

/* After EADDRNOTAVAIL a socket is as it was: it connects when the first has gone. */
SANX_TEST(again_when_free)
{
	struct address a;
	int c, d, s;

	c = dial(variant, CLIENT_PORT, &self->addr);
	ASSERT_LE(0, c);
	s = accept_one(_metadata, self->listener, c);
	d = bound(variant, CLIENT_PORT);
	ASSERT_LE(0, d);
	EXPECT_EQ(-EADDRNOTAVAIL, rc(connect(d, &self->addr.sa, self->addr.len)));
	ASSERT_EQ(0, local_address(d, &a));
	EXPECT_EQ(CLIENT_PORT, address_port(&a));
	ASSERT_EQ(0, close_reset(c));
	ASSERT_LT(0, poll_one(s, POLLERR, SOON));
	EXPECT_EQ(0, rc(connect(d, &self->addr.sa, self->addr.len)));
	accept_one(_metadata, self->listener, d);
	self->fallbacks = ANY_FALLBACKS;
}

/* Bound to a port, and to no address. */
SANX_TEST(any_address)
{
	struct address a, peer;
	int c, i, s;

	for (i = 0; i < 2; i++) {
		c = client_socket(variant);
		address_make(&a, variant->family == AF_INET ? "0.0.0.0" : "::", CLIENT_PORT);
		ASSERT_LE(0, c);
		ASSERT_EQ(0, set_option(c, SOL_SOCKET, SO_REUSEADDR, 1));
		ASSERT_EQ(0, rc(bind(c, &a.sa, a.len)));
		ASSERT_EQ(0, rc(connect(c, &self->addr.sa, self->addr.len)));
		s = accept_one(_metadata, self->listener, c);
		EXPECT_EQ(-EADDRNOTAVAIL, dial(variant, CLIENT_PORT, &self->addr));
		/* The address was the connection's, the port is the program's. */
		ASSERT_EQ(0, close_reset(s));
		ASSERT_LT(0, poll_one(c, POLLERR, SOON));
		a.sa.sa_family = AF_UNSPEC;
		EXPECT_EQ(0, rc(connect(c, &a.sa, a.len)));
		ASSERT_EQ(0, local_address(c, &peer));
		EXPECT_EQ(CLIENT_PORT, address_port(&peer));
		ASSERT_EQ(0, rc(connect(c, &self->addr.sa, self->addr.len)));
		s = accept_one(_metadata, self->listener, c);
		ASSERT_EQ(0, close_reset(c));
		ASSERT_LT(0, poll_one(s, POLLERR, SOON));
		close(s);
	}
	self->fallbacks = ANY_FALLBACKS;
}

/* Peers that find each other dial from the port at which they listen. */
SANX_TEST(from_a_listening_port)
{
	int c, l = bound(variant, CLIENT_PORT);

	ASSERT_LE(0, l);
	ASSERT_EQ(0, listen(l, 4));
	c = dial(variant, CLIENT_PORT, &self->addr);
	EXPECT_LE(0, c);
	accept_one(_metadata, self->listener, c);
	EXPECT_EQ(-EADDRNOTAVAIL, dial(variant, CLIENT_PORT, &self->addr));
	self->fallbacks = ANY_FALLBACKS;
}

/* A reset frees the numbers, though the program has not closed its socket. */
SANX_TEST(free_after_reset)
{
	int c, s;

	c = dial(variant, CLIENT_PORT, &self->addr);
	ASSERT_LE(0, c);
	s = accept_one(_metadata, self->listener, c);
	ASSERT_EQ(0, close_reset(s));
	ASSERT_LT(0, poll_one(c, POLLERR, SOON));
	c = dial(variant, CLIENT_PORT, &self->addr);
	EXPECT_LE(0, c);
	accept_one(_metadata, self->listener, c);
	self->fallbacks = ANY_FALLBACKS;
}

/* Clients of an accepted connection rely on it that the server has its port. */
SANX_TEST(accepted_holds_port)
{
	struct address a;
	int c, i, l, s;

	l = listen_any(variant, 4, &a);
	ASSERT_LE(0, l);
	c = connect_to(variant, &a);
	ASSERT_LE(0, c);
	s = accept_one(_metadata, l, c);
	close(l);
	for (i = 0; i < 2; i++) {
		EXPECT_EQ(-EADDRINUSE, take_port(variant, &a, i, false));
		EXPECT_EQ(-EADDRINUSE, take_port(variant, &a, i, true));
	}
	ASSERT_EQ(0, shutdown(s, SHUT_WR));
	EXPECT_EQ(-EADDRINUSE, take_port(variant, &a, true, false));
	/* A reset gives it back, though the socket is not closed. */
	ASSERT_EQ(0, close_reset(c));
	ASSERT_LT(0, poll_one(s, POLLERR, SOON));
	EXPECT_EQ(0, take_port(variant, &a, true, false));
	self->fallbacks = ANY_FALLBACKS;
}

/* With SO_REUSEADDR on both, a server that starts again gets its port. */
SANX_TEST(accepted_shares_port)
{
	struct address a = self->addr;
	int c, l, s;

	address_set_port(&a, 0);
	l = server_socket(variant);
	ASSERT_LE(0, l);
	ASSERT_EQ(0, set_option(l, SOL_SOCKET, SO_REUSEADDR, 1));
	ASSERT_EQ(0, bind(l, &a.sa, a.len));
	ASSERT_EQ(0, listen(l, 4));
	ASSERT_EQ(0, local_address(l, &a));
	c = connect_to(variant, &a);
	ASSERT_LE(0, c);
	s = accept_one(_metadata, l, c);
	close(l);
	EXPECT_EQ(-EADDRINUSE, take_port(variant, &a, true, false));
	EXPECT_EQ(0, take_port(variant, &a, true, true));
	EXPECT_EQ(0, take_port(variant, &a, false, true));
	ASSERT_EQ(0, close_reset(s));
	self->fallbacks = ANY_FALLBACKS;
}

SANX_TEST_MAIN
