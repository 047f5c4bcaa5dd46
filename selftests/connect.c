// SPDX-License-Identifier: GPL-2.0
/* How connections come to be: connect(), bind() and names. */
#include <arpa/inet.h>
#include <fcntl.h>

#define DEFAULT_VARIANTS "tcp loop explicit fallback tcpclient tcpserver"

#include "sanx_test.h"

/* Both ends agree on who they are. */
SANX_TEST(names)
{
	struct address client, server, a;

	ASSERT_EQ(0, local_address(self->client, &client));
	ASSERT_EQ(0, local_address(self->server, &server));
	EXPECT_TRUE(address_equal(&self->addr, &server));
	EXPECT_EQ(0, peer_address(self->client, &a));
	EXPECT_TRUE(address_equal(&server, &a));
	EXPECT_EQ(0, peer_address(self->server, &a));
	EXPECT_TRUE(address_equal(&client, &a));
	EXPECT_NE(0, address_port(&client));
	EXPECT_EQ(0, local_address(self->listener, &a));
	EXPECT_TRUE(address_equal(&self->addr, &a));
	EXPECT_EQ(-ENOTCONN, peer_address(self->listener, &a));
}

/* A short buffer gets what fits, and learns how much there is. */
SANX_TEST(names_truncated)
{
	struct address whole;
	struct sockaddr_storage ss;
	socklen_t len = 4;

	ASSERT_EQ(0, peer_address(self->client, &whole));
	memset(&ss, 0xaa, sizeof(ss));
	EXPECT_EQ(0, getpeername(self->client, (struct sockaddr *)&ss, &len));
	EXPECT_EQ(whole.len, len);
	EXPECT_EQ(0, memcmp(&ss, &whole.ss, 4));
	EXPECT_EQ(0xaa, ((unsigned char *)&ss)[4]);
	len = -1;
	EXPECT_EQ(-EINVAL, rc(getpeername(self->client, (struct sockaddr *)&ss,
					  &len)));
}

/* Programs must find the socket that they think they asked for. */
SANX_TEST(identity)
{
	int fd[] = { self->listener, self->client, self->server,
		     client_socket(variant) };
	int protocol = variant->family == FAMILY_EXPLICIT ? SANXPROTO_EXPLICIT : IPPROTO_TCP;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(fd); i++) {
		EXPECT_EQ(self->addr.sa.sa_family, get_option(fd[i], SOL_SOCKET, SO_DOMAIN));
		EXPECT_EQ(SOCK_STREAM, get_option(fd[i], SOL_SOCKET, SO_TYPE));
		EXPECT_EQ(protocol, get_option(fd[i], SOL_SOCKET, SO_PROTOCOL));
		EXPECT_EQ(i == 0,
			  get_option(fd[i], SOL_SOCKET, SO_ACCEPTCONN));
	}
}

SANX_TEST(connected_already)
{
	EXPECT_EQ(-EISCONN, rc(connect(self->client, &self->addr.sa,
				       self->addr.len)));
	EXPECT_EQ(-EISCONN, rc(connect(self->server, &self->addr.sa,
				       self->addr.len)));
	EXPECT_EQ(-EISCONN, rc(connect(self->listener, &self->addr.sa,
				       self->addr.len)));
	EXPECT_EQ(-EINVAL, rc(listen(self->client, 1)));
	EXPECT_EQ(-EINVAL, rc(bind(self->client, &self->addr.sa,
				   self->addr.len)));
	EXPECT_EQ(3, send(self->client, "abc", 3, 0));
}

/* EINPROGRESS, however near the peer is; then, writable means connected. */
SANX_TEST(nonblocking)
{
	int fd = client_socket(variant), s;

	ASSERT_EQ(0, set_nonblock(fd, true));
	ASSERT_EQ(-EINPROGRESS, rc(connect(fd, &self->addr.sa,
					   self->addr.len)));
	ASSERT_EQ(POLLOUT, poll_one(fd, POLLOUT, SOON));
	EXPECT_EQ(0, get_option(fd, SOL_SOCKET, SO_ERROR));
	/* The first call after EINPROGRESS brings the result. */
	EXPECT_EQ(0, rc(connect(fd, &self->addr.sa, self->addr.len)));
	EXPECT_EQ(-EISCONN, rc(connect(fd, &self->addr.sa, self->addr.len)));
	s = rc(accept(self->listener, NULL, NULL));
	ASSERT_LE(0, s);
	EXPECT_EQ(3, send(fd, "abc", 3, 0));
	EXPECT_EQ(POLLIN, poll_one(s, POLLIN, SOON));
}

/* A shutdown() takes the result of the attempt. */
SANX_TEST(nonblocking_shut)
{
	int fd = client_socket(variant);

	ASSERT_EQ(0, set_nonblock(fd, true));
	ASSERT_EQ(-EINPROGRESS, rc(connect(fd, &self->addr.sa, self->addr.len)));
	ASSERT_EQ(POLLOUT, poll_one(fd, POLLOUT, SOON));
	EXPECT_EQ(0, rc(shutdown(fd, SHUT_WR)));
	EXPECT_EQ(-EISCONN, rc(connect(fd, &self->addr.sa, self->addr.len)));
}

SANX_TEST(nonblocking_reset_shut)
{
	int fd = client_socket(variant);

	ASSERT_EQ(0, set_nonblock(fd, true));
	ASSERT_EQ(-EINPROGRESS, rc(connect(fd, &self->addr.sa, self->addr.len)));
	ASSERT_EQ(0, close_reset(rc(accept(self->listener, NULL, NULL))));
	ASSERT_LT(0, poll_one(fd, POLLIN, SOON));
	EXPECT_EQ(-ENOTCONN, rc(shutdown(fd, SHUT_WR)));
	EXPECT_EQ(-EINVAL, rc(connect(fd, &self->addr.sa, self->addr.len)));
}

/* A shutdown() that comes before stays in force. */
IP_TEST(shut_before)
{
	int fd = client_socket(variant);
	char c;

	EXPECT_EQ(-ENOTCONN, rc(shutdown(fd, SHUT_RDWR)));
	ASSERT_EQ(0, rc(connect(fd, &self->addr.sa, self->addr.len)));
	ASSERT_LE(0, rc(accept(self->listener, NULL, NULL)));
	EXPECT_EQ(0, rc(recv(fd, &c, 1, 0)));
	EXPECT_EQ(-EPIPE, rc(send(fd, "x", 1, 0)));
	self->fallbacks = 2;
}

/* Nobody listens.  A socket that was refused may try again, and elsewhere. */
SANX_TEST(refused)
{
	int fd = client_socket(variant);
	struct address deaf;

	deaf_address(variant, &deaf);
	ASSERT_EQ(-ECONNREFUSED, rc(connect(fd, &deaf.sa, deaf.len)));
	EXPECT_EQ(0, get_option(fd, SOL_SOCKET, SO_ERROR));
	EXPECT_EQ(-ECONNREFUSED, rc(connect(fd, &deaf.sa, deaf.len)));
	EXPECT_EQ(0, rc(connect(fd, &self->addr.sa, self->addr.len)));
	ASSERT_LE(0, rc(accept(self->listener, NULL, NULL)));
	/* Refused means TCP from there on, at both ends. */
	self->fallbacks = 2;
}

IP_TEST(refused_nonblocking)
{
	int fd = client_socket(variant), err, events;
	struct address deaf;

	deaf_address(variant, &deaf);
	ASSERT_EQ(0, set_nonblock(fd, true));
	err = rc(connect(fd, &deaf.sa, deaf.len));
	self->fallbacks = 1;
	ASSERT_EQ(-EINPROGRESS, err);
	events = poll_one(fd, POLLIN | POLLOUT, SOON);
	EXPECT_EQ(POLLIN | POLLOUT | POLLERR | POLLHUP, events);
	EXPECT_EQ(ECONNREFUSED, get_option(fd, SOL_SOCKET, SO_ERROR));
	EXPECT_EQ(0, get_option(fd, SOL_SOCKET, SO_ERROR));
}

/* The result of a refused attempt can be had from the next connect() too. */
IP_TEST(refused_nonblocking_connect)
{
	int fd = client_socket(variant), err;
	struct address deaf;

	deaf_address(variant, &deaf);
	ASSERT_EQ(0, set_nonblock(fd, true));
	err = rc(connect(fd, &deaf.sa, deaf.len));
	self->fallbacks = 1;
	ASSERT_EQ(-EINPROGRESS, err);
	poll_one(fd, POLLOUT, SOON);
	EXPECT_EQ(-ECONNREFUSED, rc(connect(fd, &deaf.sa, deaf.len)));
}

/* AF_UNSPEC: the connection breaks off and the socket may connect again. */
SANX_TEST(disconnect)
{
	struct sockaddr none = { .sa_family = AF_UNSPEC };
	struct address name;
	char c;

	ASSERT_EQ(0, rc(connect(self->client, &none, sizeof(none))));
	EXPECT_EQ(-ECONNRESET, rc(recv(self->server, &c, 1, 0)));
	EXPECT_EQ(-ENOTCONN, peer_address(self->client, &name));
	EXPECT_EQ(ECONNRESET, get_option(self->client, SOL_SOCKET, SO_ERROR));
	EXPECT_EQ(-EPIPE, rc(send(self->client, "x", 1, 0)));
	EXPECT_EQ(-ENOTCONN, rc(recv(self->client, &c, 1, 0)));
	ASSERT_EQ(0, rc(connect(self->client, &self->addr.sa,
				self->addr.len)));
	self->server = rc(accept(self->listener, NULL, NULL));
	ASSERT_LE(0, self->server);
	EXPECT_EQ(1, send(self->client, "y", 1, 0));
	EXPECT_EQ(1, recv(self->server, &c, 1, 0));
	EXPECT_EQ('y', c);
}

SANX_TEST(wrong_address)
{
	int fd = client_socket(variant);
	struct address a = self->addr;

	EXPECT_EQ(-EINVAL, rc(connect(fd, &a.sa, 1)));
	EXPECT_EQ(-EINVAL, rc(connect(fd, &a.sa, 8)));
	EXPECT_EQ(-EFAULT, rc(connect(fd, (void *)1, a.len)));
	a.sa.sa_family = AF_UNIX;
	EXPECT_EQ(-EAFNOSUPPORT, rc(connect(fd, &a.sa, a.len)));
	/* The right one does all the same. */
	EXPECT_EQ(0, rc(connect(fd, &self->addr.sa, self->addr.len)));
	ASSERT_LE(0, rc(accept(self->listener, NULL, NULL)));
	self->fallbacks = ANY_FALLBACKS;
}

/* The port that was bound is the one that the server sees. */
SANX_TEST(bound_client)
{
	struct address a, name;
	int fd = client_socket(variant), s;

	address_make(&a, variant_address(variant), 0);
	ASSERT_EQ(0, rc(bind(fd, &a.sa, a.len)));
	EXPECT_EQ(0, local_address(fd, &a));
	ASSERT_EQ(0, rc(connect(fd, &self->addr.sa, self->addr.len)));
	name.len = sizeof(name.ss);
	s = rc(accept(self->listener, &name.sa, &name.len));
	ASSERT_LE(0, s);
	EXPECT_TRUE(address_equal(&a, &name));
	EXPECT_EQ(-EADDRINUSE, rc(bind(client_socket(variant), &a.sa, a.len)));
}

/*
 * Any user may bind to an address that is not this node's.  Nobody is accepted from there, as
 * TCP's answer does not come back.
 */
IP_TEST(false_source)
{
	bool v6 = variant->family == AF_INET6;
	int fd = client_socket(variant), err;
	struct address a;

	address_make(&a, v6 ? "2001:db8::77" : "192.0.2.77", 0);
	ASSERT_EQ(0, v6 ? set_option(fd, IPPROTO_IPV6, IPV6_FREEBIND, 1) :
			  set_option(fd, IPPROTO_IP, IP_FREEBIND, 1));
	ASSERT_EQ(0, rc(bind(fd, &a.sa, a.len)));
	ASSERT_EQ(0, set_nonblock(fd, true));
	/* IPv4 has no route from there; which error that is differs. */
	err = rc(connect(fd, &self->addr.sa, self->addr.len));
	EXPECT_GT(0, err);
	EXPECT_EQ(v6, err == -EINPROGRESS);
	EXPECT_EQ(0, poll_one(self->listener, POLLIN, A_WHILE));
	self->fallbacks = 1;
}

/* One port space: a port that one family has, the other has not. */
SANX_TEST(port_taken)
{
	bool sanx;
	int i, fd;

	for (i = 0; i < 2; i++) {
		sanx = i && (variant->client || variant->server);
		fd = stream_socket(sanx, variant->family);
		EXPECT_EQ(-EADDRINUSE, rc(bind(fd, &self->addr.sa,
					       self->addr.len)));
		close(fd);
	}
}

/* A listener without bind() has a port of its own. */
SANX_TEST(listen_unbound)
{
	int fd = server_socket(variant);
	struct address name, a;

	ASSERT_EQ(0, rc(listen(fd, 4)));
	EXPECT_EQ(0, local_address(fd, &name));
	EXPECT_NE(0, address_port(&name));
	a = self->addr;
	address_set_port(&a, address_port(&name));
	ASSERT_LE(0, connect_to(variant, &a));
	ASSERT_LE(0, rc(accept(fd, NULL, NULL)));
}

/* Bound to any address: the connection has the address that was asked for. */
IP_TEST(listen_any_address)
{
	struct address any, a = self->addr, name;
	int l = server_socket(variant), s;

	address_make(&any, variant->family == AF_INET ? "0.0.0.0" : "::", 0);
	ASSERT_EQ(0, rc(bind(l, &any.sa, any.len)));
	ASSERT_EQ(0, rc(listen(l, 4)));
	ASSERT_EQ(0, local_address(l, &any));
	address_set_port(&a, address_port(&any));
	ASSERT_LE(0, connect_to(variant, &a));
	s = rc(accept(l, NULL, NULL));
	ASSERT_LE(0, s);
	EXPECT_EQ(0, local_address(s, &name));
	EXPECT_TRUE(address_equal(&a, &name));
}

/* Connecting to "any" means this node. */
IP_TEST(connect_any_address)
{
	struct address any, a;
	int l = server_socket(variant), fd = client_socket(variant);

	/* Which address that is, is not for the node map to say. */
	if (variant->carried == SANX_A_STATS_CONNS_VERBS)
		self->fallbacks = 2;
	address_make(&any, variant->family == AF_INET ? "0.0.0.0" : "::", 0);
	ASSERT_EQ(0, rc(bind(l, &any.sa, any.len)));
	ASSERT_EQ(0, rc(listen(l, 4)));
	ASSERT_EQ(0, local_address(l, &any));
	ASSERT_EQ(0, rc(connect(fd, &any.sa, any.len)));
	ASSERT_LE(0, rc(accept(l, NULL, NULL)));
	EXPECT_EQ(0, peer_address(fd, &a));
	EXPECT_EQ(address_port(&any), address_port(&a));
}

/* TCP lets a socket connect to itself, and so must a socket that becomes it. */
IP_TEST(connect_self)
{
	int fd = client_socket(variant);
	struct address a;
	char c;

	address_make(&a, variant_address(variant), 0);
	ASSERT_EQ(0, rc(bind(fd, &a.sa, a.len)));
	ASSERT_EQ(0, local_address(fd, &a));
	ASSERT_EQ(0, rc(connect(fd, &a.sa, a.len)));
	EXPECT_EQ(1, send(fd, "s", 1, 0));
	EXPECT_EQ(1, recv(fd, &c, 1, 0));
	EXPECT_EQ('s', c);
	self->fallbacks = 1;
}

/* An IPv4 address of this variant: its own, or the one beside it. */
static void v4_address(const FIXTURE_VARIANT(stream) *v, struct address *a,
		       uint16_t port)
{
	FIXTURE_VARIANT(stream) v4 = *v;

	v4.family = AF_INET;
	address_make(a, variant_address(&v4), port);
}

/* An IPv6 listener takes IPv4 clients and shows them v4-mapped. */
SANX_TEST(mapped_server)
{
	struct address any, a, name, mapped, peer;
	int l = stream_socket(variant->server, AF_INET6), fd, s;

	address_make(&any, "::", 0);
	ASSERT_EQ(0, set_option(l, SOL_IPV6, IPV6_V6ONLY, 0));
	ASSERT_EQ(0, rc(bind(l, &any.sa, any.len)));
	ASSERT_EQ(0, rc(listen(l, 4)));
	ASSERT_EQ(0, local_address(l, &any));
	v4_address(variant, &a, address_port(&any));
	fd = stream_socket(variant->client, AF_INET);
	ASSERT_EQ(0, rc(connect(fd, &a.sa, a.len)));
	peer.len = sizeof(peer.ss);
	s = rc(accept(l, &peer.sa, &peer.len));
	ASSERT_LE(0, s);
	EXPECT_EQ(AF_INET6, get_option(s, SOL_SOCKET, SO_DOMAIN));
	EXPECT_EQ(0, local_address(s, &name));
	address_map(&mapped, &a);
	EXPECT_TRUE(address_equal(&mapped, &name));
	EXPECT_EQ(0, local_address(fd, &name));
	address_map(&mapped, &name);
	EXPECT_TRUE(address_equal(&mapped, &peer));
	EXPECT_EQ(2, send(fd, "46", 2, 0));
	EXPECT_EQ(POLLIN, poll_one(s, POLLIN, SOON));
}

/* An IPv6 socket reaches an IPv4 listener by the v4-mapped address. */
SANX_TEST(mapped_client)
{
	int l = stream_socket(variant->server, AF_INET), s;
	int fd = stream_socket(variant->client, AF_INET6);
	struct address a, mapped, name;

	v4_address(variant, &a, 0);
	ASSERT_EQ(0, rc(bind(l, &a.sa, a.len)));
	ASSERT_EQ(0, rc(listen(l, 4)));
	ASSERT_EQ(0, local_address(l, &a));
	address_map(&mapped, &a);
	ASSERT_EQ(0, rc(connect(fd, &mapped.sa, mapped.len)));
	s = rc(accept(l, NULL, NULL));
	ASSERT_LE(0, s);
	EXPECT_EQ(0, peer_address(fd, &name));
	EXPECT_TRUE(address_equal(&mapped, &name));
	EXPECT_EQ(0, peer_address(s, &name));
	EXPECT_EQ(AF_INET, name.sa.sa_family);
	EXPECT_EQ(2, send(fd, "64", 2, 0));
	EXPECT_EQ(POLLIN, poll_one(s, POLLIN, SOON));
}

/*
 * Binds @l6, IPv6 only, and @l4 to a port of which IPv4 has nothing: a connection of an
 * earlier test may be in TIME_WAIT on it, which an IPv6 socket that takes a port does not
 * see.
 */
static uint16_t bind_both(struct __test_metadata *_metadata,
			  const FIXTURE_VARIANT(stream) *variant, int *l6, int *l4)
{
	struct address a;
	uint16_t port;
	long err;

	do {
		*l6 = stream_socket(variant->server, AF_INET6);
		*l4 = stream_socket(variant->server, AF_INET);
		ASSERT_EQ(0, set_option(*l6, SOL_IPV6, IPV6_V6ONLY, 1));
		address_make(&a, "::", 0);
		ASSERT_EQ(0, rc(bind(*l6, &a.sa, a.len)));
		ASSERT_EQ(0, local_address(*l6, &a));
		port = address_port(&a);
		address_make(&a, "0.0.0.0", port);
		err = rc(bind(*l4, &a.sa, a.len));
		if (err) {
			ASSERT_EQ(-EADDRINUSE, err);
			close(*l6);
			close(*l4);
		}
	} while (err);
	return port;
}

/* IPV6_V6ONLY keeps IPv4 out, and leaves the port to an IPv4 listener. */
IP_TEST(v6only)
{
	struct address a;
	int l, l4;

	v4_address(variant, &a, bind_both(_metadata, variant, &l, &l4));
	ASSERT_EQ(0, rc(listen(l, 4)));
	EXPECT_EQ(-ECONNREFUSED, rc(connect(stream_socket(variant->client, AF_INET),
					    &a.sa, a.len)));
	self->fallbacks = 1;
	ASSERT_EQ(0, rc(listen(l4, 4)));
	ASSERT_EQ(0, rc(connect(stream_socket(variant->client, AF_INET),
				&a.sa, a.len)));
	EXPECT_EQ(POLLIN, poll_one(l4, POLLIN, SOON));
	EXPECT_EQ(0, poll_one(l, POLLIN, A_WHILE));
}

/* SO_REUSEADDR: the listener's port is free again for who has it too. */
SANX_TEST(rebind)
{
	struct address a;
	int l, i, c, s;

	for (i = 0; i < 5; i++) {
		l = server_socket(variant);
		if (!i)
			address_make(&a, variant_address(variant), 0);
		ASSERT_EQ(0, set_option(l, SOL_SOCKET, SO_REUSEADDR, 1));
		ASSERT_EQ(0, rc(bind(l, &a.sa, a.len)));
		ASSERT_EQ(0, rc(listen(l, 4)));
		ASSERT_EQ(0, local_address(l, &a));
		c = connect_to(variant, &a);
		ASSERT_LE(0, c);
		s = rc(accept(l, NULL, NULL));
		ASSERT_LE(0, s);
		/* The server ends first, and would keep the port a while. */
		close(s);
		close(c);
		close(l);
	}
}

/* A listener that was there and is gone does not answer. */
SANX_TEST(listener_gone)
{
	close(self->listener);
	EXPECT_EQ(-ECONNREFUSED, connect_to(variant, &self->addr));
	self->fallbacks = 1;
	/* What it had accepted lives on. */
	EXPECT_EQ(1, send(self->client, "x", 1, 0));
	EXPECT_EQ(POLLIN, poll_one(self->server, POLLIN, SOON));
}

/*
 * SO_REUSEPORT: several listeners on a port share its clients.  As in TCP's
 * three-way handshake, accept() finds a connection some time after connect() has
 * returned.
 */
IP_TEST(reuseport)
{
	struct pollfd p[2] = { { .events = POLLIN }, { .events = POLLIN } };
	int l[2], i, got[2] = { 0, 0 };
	struct address a;

	address_make(&a, variant_address(variant), 0);
	for (i = 0; i < 2; i++) {
		l[i] = server_socket(variant);
		ASSERT_EQ(0, set_option(l[i], SOL_SOCKET, SO_REUSEPORT, 1));
		ASSERT_EQ(0, rc(bind(l[i], &a.sa, a.len)));
		ASSERT_EQ(0, rc(listen(l[i], 64)));
		ASSERT_EQ(0, local_address(l[i], &a));
		ASSERT_EQ(0, set_nonblock(l[i], true));
		p[i].fd = l[i];
	}
	for (i = 0; i < 32; i++)
		ASSERT_LE(0, connect_to(variant, &a));
	while (got[0] + got[1] < 32 && poll(p, 2, SOON) > 0)
		for (i = 0; i < 2; i++)
			while (accept(l[i], NULL, NULL) >= 0)
				got[i]++;
	EXPECT_EQ(32, got[0] + got[1]);
	EXPECT_LT(0, got[0]);
	EXPECT_LT(0, got[1]);
}

#define PORT_RANGE "/proc/sys/net/ipv4/ip_local_port_range"
#define FIRST_PORT	20000
#define PORTS		32

/* @n clients for one listener, each with a name of its own. */
static void connect_many(struct __test_metadata *_metadata,
			 const FIXTURE_VARIANT(stream) *variant,
			 const struct address *a, int *fd, int n)
{
	struct address name;
	uint64_t seen = 0;
	unsigned int port;

	for (int i = 0; i < n; i++) {
		fd[i] = connect_to(variant, a);
		ASSERT_LE(0, fd[i]) TH_LOG("client %d of %d", i, n);
		ASSERT_EQ(0, local_address(fd[i], &name));
		port = address_port(&name) - FIRST_PORT;
		ASSERT_GT(PORTS, port);
		EXPECT_EQ(0, seen >> port & 1);
		seen |= 1ULL << port;
	}
}

static void share_ports(struct __test_metadata *_metadata,
			const FIXTURE_VARIANT(stream) *variant)
{
	int one[PORTS], other[PORTS], tcp, i;
	struct address a, b;

	ASSERT_LE(0, listen_any(variant, 64, &a));
	ASSERT_LE(0, listen_any(variant, 64, &b));
	ASSERT_EQ(0, write_file(PORT_RANGE, "20000 20031"));
	connect_many(_metadata, variant, &a, one, PORTS / 4 * 3);
	connect_many(_metadata, variant, &b, other, PORTS);
	connect_many(_metadata, variant, &a, one + PORTS / 4 * 3, PORTS / 4);

	/* Each pair of names is taken once, whoever asks. */
	EXPECT_EQ(-EADDRNOTAVAIL, connect_to(variant, &a));
	tcp = stream_socket(false, variant->family);
	EXPECT_EQ(-EADDRNOTAVAIL, rc(connect(tcp, &b.sa, b.len)));
	EXPECT_EQ(0, close_reset(other[7]));
	EXPECT_EQ(0, rc(connect(tcp, &b.sa, b.len)));
	EXPECT_EQ(-EADDRNOTAVAIL, connect_to(variant, &b));
	EXPECT_EQ(0, close_reset(tcp));
	other[7] = connect_to(variant, &b);
	EXPECT_LE(0, other[7]);
	for (i = 0; i < PORTS; i++) {
		close_reset(one[i]);
		close_reset(other[i]);
	}
}

/* Ports that connect() takes are shared between destinations. */
IP_TEST(ports_shared)
{
	int fd = open(PORT_RANGE, O_RDWR | O_CLOEXEC);
	char range[64];
	ssize_t n = read(fd, range, sizeof(range));

	ASSERT_LT(0, n);
	self->fallbacks = ANY_FALLBACKS;
	share_ports(_metadata, variant);
	EXPECT_EQ(n, pwrite(fd, range, n, 0));
	close(fd);
}

SANX_TEST_MAIN
