// SPDX-License-Identifier: GPL-2.0
/*
 * Explicit sockets: their addresses and ports, and what they get where others become TCP.
 *
 * Their streams are those of all programs that have the variant "explicit".
 *
 * no siw: the wire does not matter
 * no rail: two_node/explicit_nodes.sh
 */
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <linux/errqueue.h>
#include <linux/filter.h>

#define DEFAULT_VARIANTS "explicit"

#include "sanx_test.h"

#define EXPLICIT_TEST(name) SANX_TEST_OF("explicit explicitverbs", name)

/* As sanx.h documents it. */
#define FIRST_EPHEMERAL	0x40000000U
#define LAST_EPHEMERAL	0x7fffffffU

/* No node map of the tests has it. */
#define NO_NODE		4242

static int explicit_socket(void)
{
	return rc(node_socket(true, FAMILY_EXPLICIT, SOCK_STREAM | SOCK_CLOEXEC));
}

static struct sockaddr_sanx address_of(uint32_t node, uint32_t port)
{
	return (struct sockaddr_sanx){
		.sanx_family = node_family(), .sanx_node = node, .sanx_port = port,
	};
}

static int bind_to(int fd, const struct sockaddr_sanx *sx)
{
	return rc(bind(fd, (const struct sockaddr *)sx, sizeof(*sx)));
}

static int connect_by(int fd, const struct sockaddr_sanx *sx)
{
	return rc(connect(fd, (const struct sockaddr *)sx, sizeof(*sx)));
}

/* The socket if a call for it has succeeded, else the error. */
static int kept(int fd, int err)
{
	if (!err || fd < 0)
		return fd;
	close(fd);
	return err;
}

/* A socket with a port, or -errno of bind(). */
static int bound(uint32_t port)
{
	struct sockaddr_sanx sx = address_of(SANX_NODE_ANY, port);
	int fd = explicit_socket();

	return kept(fd, bind_to(fd, &sx));
}

static int listener(uint32_t port)
{
	int fd = bound(port);

	return kept(fd, rc(listen(fd, 4)));
}

/* Connects to a port of this node; the socket, or -errno. */
static int dial(uint32_t port)
{
	struct sockaddr_sanx sx = address_of(SANX_NODE_ANY, port);
	int fd = explicit_socket();

	return kept(fd, connect_by(fd, &sx));
}

/* What a socket that does not wait gets in the end. */
static int dial_nonblocking(const struct sockaddr_sanx *sx)
{
	int fd = explicit_socket(), err;

	set_nonblock(fd, true);
	err = connect_by(fd, sx);
	if (err == -EINPROGRESS) {
		err = poll_one(fd, POLLOUT, SOON) > 0 ? 0 : -ETIME;
		err = err ?: -get_option(fd, SOL_SOCKET, SO_ERROR);
	}
	close(fd);
	return err;
}

EXPLICIT_TEST(names)
{
	struct address own, peer, other;

	ASSERT_EQ(0, local_address(self->listener, &own));
	EXPECT_EQ(sizeof(struct sockaddr_sanx), own.len);
	EXPECT_EQ(node_family(), own.sx.sanx_family);
	EXPECT_EQ(self->addr.sx.sanx_node, own.sx.sanx_node);
	EXPECT_LE(FIRST_EPHEMERAL, own.sx.sanx_port);
	EXPECT_GE(LAST_EPHEMERAL, own.sx.sanx_port);
	EXPECT_EQ(-ENOTCONN, peer_address(self->listener, &other));

	ASSERT_EQ(0, local_address(self->client, &own));
	ASSERT_EQ(0, peer_address(self->client, &peer));
	EXPECT_LE(FIRST_EPHEMERAL, own.sx.sanx_port);
	EXPECT_GE(LAST_EPHEMERAL, own.sx.sanx_port);
	EXPECT_EQ(own.sx.sanx_node, peer.sx.sanx_node);
	EXPECT_EQ(self->addr.sx.sanx_port, peer.sx.sanx_port);
	ASSERT_EQ(0, local_address(self->server, &other));
	EXPECT_TRUE(address_equal(&peer, &other));
	ASSERT_EQ(0, peer_address(self->server, &other));
	EXPECT_TRUE(address_equal(&own, &other));
}

EXPLICIT_TEST(fresh)
{
	int fd = explicit_socket();
	struct address a;

	ASSERT_EQ(0, local_address(fd, &a));
	EXPECT_EQ(0, a.sx.sanx_port);
	EXPECT_EQ(-EPIPE, rc(send(fd, "x", 1, MSG_NOSIGNAL)));
	EXPECT_EQ(-ENOTCONN, rc(recv(fd, &a, 1, 0)));
	EXPECT_EQ(-EINVAL, rc(accept(fd, NULL, NULL)));
	EXPECT_EQ(-ENOTCONN, rc(shutdown(fd, SHUT_RDWR)));
	EXPECT_EQ(-EOPNOTSUPP, rc(sendto(fd, "x", 1, MSG_FASTOPEN | MSG_NOSIGNAL,
					 &self->addr.sa, self->addr.len)));
	/* None of that spoils it. */
	EXPECT_EQ(0, rc(connect(fd, &self->addr.sa, self->addr.len)));
}

/* A port is that of the socket which bound it, until it is closed. */
EXPLICIT_TEST(port_of_one)
{
	struct sockaddr_sanx sx;
	int fd, c, s;

	fd = listener(7777);
	ASSERT_LE(0, fd);
	EXPECT_EQ(-EADDRINUSE, bound(7777));
	sx = address_of(SANX_NODE_ANY, 7778);
	EXPECT_EQ(-EINVAL, bind_to(fd, &sx));
	c = dial(7777);
	ASSERT_LE(0, c);
	s = rc(accept(fd, NULL, NULL));
	ASSERT_LE(0, s);
	EXPECT_EQ(-EADDRINUSE, bound(7777));
	close(fd);
	/* The next one serves while connections of the last one go on. */
	fd = listener(7777);
	ASSERT_LE(0, fd);
	ASSERT_LE(0, dial(7777));
	ASSERT_LE(0, rc(accept(fd, NULL, NULL)));
	check_works(_metadata, (int []){ c, s });
}

/* They have 32 bits, and are not TCP's. */
EXPLICIT_TEST(port_space)
{
	static const uint32_t port[] = { 8080, 0x10000 + 8080, 0xff000000 + 8080, ~0U };
	struct sockaddr_in in = {
		.sin_family = AF_INET, .sin_port = htons(8080),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	int l[ARRAY_SIZE(port)], c[ARRAY_SIZE(port)], s, tcp;
	struct address peer, own;

	tcp = stream_socket(true, AF_INET);
	ASSERT_EQ(0, rc(bind(tcp, (struct sockaddr *)&in, sizeof(in))));
	ASSERT_EQ(0, rc(listen(tcp, 1)));
	for (unsigned int i = 0; i < ARRAY_SIZE(port); i++) {
		l[i] = listener(port[i]);
		ASSERT_LE(0, l[i]);
		c[i] = dial(port[i]);
		ASSERT_LE(0, c[i]);
	}
	for (unsigned int i = 0; i < ARRAY_SIZE(port); i++) {
		peer.len = sizeof(peer.ss);
		s = rc(accept(l[i], &peer.sa, &peer.len));
		ASSERT_LE(0, s);
		local_address(c[i], &own);
		EXPECT_TRUE(address_equal(&own, &peer));
		ASSERT_EQ(0, peer_address(c[i], &peer));
		EXPECT_EQ(port[i], peer.sx.sanx_port);
	}
	set_nonblock(tcp, true);
	EXPECT_EQ(-EAGAIN, rc(accept(tcp, NULL, NULL)));
}

/* As port_of_one says, also of a port that nobody asked for. */
EXPLICIT_TEST(port_by_itself)
{
	struct address a;
	int fd = explicit_socket();

	ASSERT_EQ(0, rc(listen(fd, 1)));
	ASSERT_EQ(0, local_address(fd, &a));
	EXPECT_LE(FIRST_EPHEMERAL, a.sx.sanx_port);
	EXPECT_EQ(-EADDRINUSE, bound(a.sx.sanx_port));
	ASSERT_LE(0, dial(a.sx.sanx_port));
	/* connect(AF_UNSPEC) ends listening, and gives it back. */
	a.sa.sa_family = AF_UNSPEC;
	ASSERT_EQ(0, rc(connect(fd, &a.sa, a.len)));
	EXPECT_EQ(-ECONNREFUSED, dial(a.sx.sanx_port));
	EXPECT_LE(0, bound(a.sx.sanx_port));

	/* So does shutdown(): the socket can have another one. */
	ASSERT_EQ(0, rc(listen(fd, 1)));
	ASSERT_EQ(0, rc(shutdown(fd, SHUT_RD)));
	a.sx = address_of(SANX_NODE_ANY, 7010);
	EXPECT_EQ(0, bind_to(fd, &a.sx));
	ASSERT_EQ(0, rc(listen(fd, 1)));
	EXPECT_EQ(-EISCONN, connect_by(fd, &a.sx));
	/* One that was asked for stays. */
	ASSERT_EQ(0, rc(shutdown(fd, SHUT_RD)));
	EXPECT_EQ(-EADDRINUSE, bound(7010));
}

/* Runs as a program that may not take privileged ports. */
static int privileged(uint32_t port)
{
	pid_t pid = fork();
	int status, fd;

	if (!pid) {
		if (setgid(65534) || setuid(65534))
			_exit(255);
		fd = bound(port);
		_exit(fd < 0 ? -fd : 0);
	}
	if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
		return -1;
	return WEXITSTATUS(status);
}

EXPLICIT_TEST(port_privileged)
{
	int fd;

	EXPECT_EQ(EACCES, privileged(1));
	EXPECT_EQ(EACCES, privileged(1023));
	EXPECT_EQ(0, privileged(1024));
	EXPECT_EQ(0, privileged(0x10000 + 80));
	fd = bound(1023);
	EXPECT_LE(0, fd);
}

EXPLICIT_TEST(bad_addresses)
{
	struct sockaddr_sanx sx = address_of(SANX_NODE_ANY, 7000);
	struct sockaddr_in in = { .sin_family = AF_INET, .sin_port = htons(7000) };
	int fd = explicit_socket();

	EXPECT_EQ(-EINVAL, rc(bind(fd, (struct sockaddr *)&sx, sizeof(sx) - 1)));
	EXPECT_EQ(-EINVAL, rc(connect(fd, (struct sockaddr *)&sx, sizeof(sx) - 1)));
	EXPECT_EQ(-EINVAL, rc(connect(fd, (struct sockaddr *)&sx, 1)));
	EXPECT_EQ(-EAFNOSUPPORT, rc(bind(fd, (struct sockaddr *)&in, sizeof(in))));
	EXPECT_EQ(-EAFNOSUPPORT, rc(connect(fd, (struct sockaddr *)&in, sizeof(in))));
	sx.sanx_pad = 1;
	EXPECT_EQ(-EINVAL, bind_to(fd, &sx));
	sx.sanx_pad = 0;
	sx.sanx_zero[3] = 1;
	EXPECT_EQ(-EINVAL, bind_to(fd, &sx));
	sx = address_of(NO_NODE, 7000);
	EXPECT_EQ(-EADDRNOTAVAIL, bind_to(fd, &sx));
	sx = address_of(SANX_NODE_ANY, SANX_PORT_ANY);
	EXPECT_EQ(-EINVAL, connect_by(fd, &sx));
}

/* bind() to this node by its id is as good as to any. */
EXPLICIT_TEST(own_node)
{
	struct sockaddr_sanx sx;
	struct address a;
	int fd, s;

	ASSERT_EQ(0, local_address(self->client, &a));
	sx = address_of(a.sx.sanx_node, 7001);
	fd = explicit_socket();
	ASSERT_EQ(0, bind_to(fd, &sx));
	ASSERT_EQ(0, rc(listen(fd, 1)));
	ASSERT_EQ(0, local_address(fd, &a));
	EXPECT_EQ(0, memcmp(&sx, &a.sx, sizeof(sx)));
	ASSERT_LE(0, dial(7001));
	s = rc(accept(fd, NULL, NULL));
	ASSERT_LE(0, s);
}

/* Nobody listens: the socket keeps its port, and tries again. */
EXPLICIT_TEST(refused)
{
	struct sockaddr_sanx sx = address_of(SANX_NODE_ANY, 7002);
	struct address a;
	int fd, l, s;

	fd = bound(7003);
	ASSERT_LE(0, fd);
	EXPECT_EQ(-ECONNREFUSED, connect_by(fd, &sx));
	EXPECT_EQ(-ECONNREFUSED, connect_by(fd, &sx));
	EXPECT_EQ(-ECONNREFUSED, dial_nonblocking(&sx));
	/* Not to itself, either. */
	sx.sanx_port = 7003;
	EXPECT_EQ(-ECONNREFUSED, connect_by(fd, &sx));
	EXPECT_EQ(-ENOTCONN, peer_address(fd, &a));
	sx.sanx_port = 7002;
	l = listener(7002);
	ASSERT_LE(0, l);
	ASSERT_EQ(0, connect_by(fd, &sx));
	s = rc(accept(l, &a.sa, &a.len));
	ASSERT_LE(0, s);
	EXPECT_EQ(7003, a.sx.sanx_port);
	check_works(_metadata, (int []){ fd, s });
}

/* A server that is not there yet may be waited for. */
EXPLICIT_TEST(refused_often)
{
	struct sockaddr_sanx sx = address_of(SANX_NODE_ANY, 7005);
	int fd = explicit_socket(), l;

	for (int i = 0; i < 30; i++)
		ASSERT_EQ(-ECONNREFUSED, connect_by(fd, &sx));
	l = listener(7005);
	ASSERT_LE(0, l);
	EXPECT_EQ(0, connect_by(fd, &sx));
}

/* Who does not wait is told by the next connect(), too, and once. */
EXPLICIT_TEST(refused_later)
{
	struct sockaddr_sanx sx = address_of(SANX_NODE_ANY, 7006);
	int fd = explicit_socket(), err;

	set_nonblock(fd, true);
	err = connect_by(fd, &sx);
	if (variant->carried == SANX_A_STATS_CONNS_LOOP) {
		EXPECT_EQ(-ECONNREFUSED, err);
		return;
	}
	ASSERT_EQ(-EINPROGRESS, err);
	ASSERT_LT(0, poll_one(fd, POLLOUT, SOON));
	EXPECT_EQ(POLLOUT | POLLERR | POLLHUP, poll_one(fd, POLLOUT, 0) & ~POLLIN & ~POLLRDHUP);
	EXPECT_EQ(-ECONNREFUSED, connect_by(fd, &sx));
	ASSERT_EQ(0, set_nonblock(fd, false));
	EXPECT_EQ(-ECONNREFUSED, connect_by(fd, &sx));
}

EXPLICIT_TEST(unreachable)
{
	struct sockaddr_sanx sx = address_of(NO_NODE, 7004);
	int fd = explicit_socket();

	EXPECT_EQ(-ENETUNREACH, connect_by(fd, &sx));
	EXPECT_EQ(-ENETUNREACH, dial_nonblocking(&sx));
	EXPECT_EQ(0, rc(connect(fd, &self->addr.sa, self->addr.len)));
}

/* The address is as sanx.h says. */
static int explained(int fd, uint32_t node, uint32_t port, struct sanx_explain *x)
{
	socklen_t len = sizeof(*x);
	uint32_t addr[4] = { htonl(0x01000000), 0, htonl(port), htonl(node) };

	memset(x, 0, sizeof(*x));
	memcpy(x->remote, addr, sizeof(addr));
	return rc(getsockopt(fd, SOL_SANX, SANX_EXPLAIN, x, &len));
}

EXPLICIT_TEST(explain)
{
	const bool loop = variant->carried == SANX_A_STATS_CONNS_LOOP;
	const uint32_t port = self->addr.sx.sanx_port;
	struct sanx_explain x;
	struct address own;
	int fd = explicit_socket(), tcp;
	uint32_t node;
	socklen_t len = sizeof(x);

	ASSERT_EQ(0, local_address(self->client, &own));
	node = own.sx.sanx_node;
	ASSERT_EQ(0, explained(fd, node, port, &x));
	EXPECT_STREQ("", x.fallback);
	EXPECT_STREQ(loop ? "loop" : "verbs", x.transport);
	EXPECT_EQ(node, x.node);
	ASSERT_EQ(0, explained(fd, node, 0, &x));
	EXPECT_STREQ("", x.fallback);
	ASSERT_EQ(0, explained(fd, node, 7020, &x));
	EXPECT_STREQ("refused", x.fallback);
	ASSERT_EQ(0, explained(fd, NO_NODE, port, &x));
	EXPECT_STREQ("unmapped", x.fallback);
	EXPECT_STREQ("", x.transport);
	ASSERT_EQ(0, node_ports_deny(true));
	EXPECT_EQ(0, explained(fd, node, port, &x));
	EXPECT_STREQ("port", x.fallback);
	ASSERT_EQ(0, node_ports_deny(false));
	/* Nobody has seen anything of it. */
	EXPECT_EQ(0, poll_one(self->listener, POLLIN, 0));
	EXPECT_EQ(0, rc(connect(fd, &self->addr.sa, self->addr.len)));

	EXPECT_EQ(-EISCONN, explained(fd, node, port, &x));
	fd = explicit_socket();
	EXPECT_EQ(0, explained(fd, SANX_NODE_ANY, port, &x));
	EXPECT_STREQ("", x.fallback);
	EXPECT_EQ(node, x.node);
	x.port = htons(80);
	EXPECT_EQ(-EINVAL, rc(getsockopt(fd, SOL_SANX, SANX_EXPLAIN, &x, &len)));
	x = (struct sanx_explain){ .remote = { [10] = 0xff, 0xff, 127, 0, 0, 1 } };
	EXPECT_EQ(-EINVAL, rc(getsockopt(fd, SOL_SANX, SANX_EXPLAIN, &x, &len)));
	tcp = rc(node_socket(true, AF_INET, SOCK_STREAM));
	EXPECT_EQ(-EINVAL, explained(tcp, node, port, &x));
}

/* The node of an address in text, or -errno. */
static long node_of(int fd, const char *text)
{
	struct sanx_node_of of = { .node = NO_NODE };
	socklen_t len = sizeof(of);
	int err;

	if (!strchr(text, ':')) {
		memset(of.addr + 10, 0xff, 2);
		inet_pton(AF_INET, text, of.addr + 12);
	} else {
		inet_pton(AF_INET6, text, of.addr);
	}
	err = rc(getsockopt(fd, SOL_SANX, SANX_NODE_OF, &of, &len));
	return err ?: (long)of.node;
}

EXPLICIT_TEST(node_of_address)
{
	int fd = explicit_socket();
	socklen_t len = sizeof(struct sanx_node_of) - 1;
	struct address own;
	char of[32] = { };

	ASSERT_EQ(0, local_address(self->client, &own));
	EXPECT_EQ(own.sx.sanx_node, node_of(fd, "127.0.0.1"));
	EXPECT_EQ(own.sx.sanx_node, node_of(fd, "127.1.2.3"));
	EXPECT_EQ(own.sx.sanx_node, node_of(fd, "0.0.0.0"));
	EXPECT_EQ(own.sx.sanx_node, node_of(fd, "::1"));
	EXPECT_EQ(-ENOENT, node_of(fd, "10.99.0.1"));
	EXPECT_EQ(-ENOENT, node_of(fd, "2001:db8::1"));
	EXPECT_EQ(-EINVAL, node_of(fd, "100::1"));
	EXPECT_EQ(own.sx.sanx_node, node_of(self->client, "127.0.0.1"));
	EXPECT_EQ(-EINVAL, rc(getsockopt(fd, SOL_SANX, SANX_NODE_OF, of, &len)));
	len = sizeof(of);
	EXPECT_EQ(-EFAULT, rc(getsockopt(fd, SOL_SANX, SANX_NODE_OF, NULL, &len)));
	fd = rc(node_socket(true, AF_INET, SOCK_STREAM));
	EXPECT_EQ(-ENOPROTOOPT, node_of(fd, "127.0.0.1"));
}

EXPLICIT_TEST(denied)
{
	ASSERT_EQ(0, node_ports_deny(true));
	EXPECT_EQ(-EACCES, connect_to(variant, &self->addr));
	EXPECT_EQ(-EACCES, dial_nonblocking(&self->addr.sx));
	ASSERT_EQ(0, node_ports_deny(false));
	ASSERT_LE(0, connect_to(variant, &self->addr));
}

/* What only the IP stack has is refused, not ignored. */
EXPLICIT_TEST(needs_stack)
{
	struct sock_filter all = BPF_STMT(BPF_RET | BPF_K, -1);
	struct sock_fprog program = { .len = 1, .filter = &all };
	int fd = explicit_socket();

	ASSERT_EQ(0, rc(setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &program,
				   sizeof(program))));
	EXPECT_EQ(-EOPNOTSUPP, rc(connect(fd, &self->addr.sa, self->addr.len)));
	ASSERT_EQ(0, set_option(fd, SOL_SOCKET, SO_DETACH_FILTER, 0));
	ASSERT_EQ(0, rc(setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, "lo", 3)));
	EXPECT_EQ(-EOPNOTSUPP, rc(connect(fd, &self->addr.sa, self->addr.len)));
	ASSERT_EQ(0, rc(setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, "", 1)));
	EXPECT_EQ(-ENOPROTOOPT, set_option(fd, SOL_TCP, TCP_FASTOPEN_CONNECT, 1));
	EXPECT_EQ(-ENOPROTOOPT, rc(setsockopt(fd, SOL_TCP, TCP_ULP, "tls", 4)));
	EXPECT_EQ(0, rc(connect(fd, &self->addr.sa, self->addr.len)));
}

/* SO_ZEROCOPY is an option of any family to the program, but not to Linux before 6.4. */
EXPLICIT_TEST(zerocopy)
{
	int val = get_option(self->client, SOL_SOCKET, SO_ZEROCOPY), err;
	char control[100];
	struct msghdr m = { .msg_control = control, .msg_controllen = sizeof(control) };
	const struct sock_extended_err *e;

	err = set_option(self->client, SOL_SOCKET, SO_ZEROCOPY, 1);
	if (err) {
		/* There MSG_ZEROCOPY is asked for by itself. */
		EXPECT_EQ(-EOPNOTSUPP, err);
		EXPECT_EQ(1, val);
	} else {
		EXPECT_EQ(0, val);
		EXPECT_EQ(-EINVAL, set_option(self->client, SOL_SOCKET, SO_ZEROCOPY, 2));
	}
	EXPECT_EQ(1, get_option(self->client, SOL_SOCKET, SO_ZEROCOPY));
	ASSERT_EQ(5, rc(send(self->client, "hello", 5, MSG_ZEROCOPY)));
	ASSERT_LT(0, poll_one(self->client, POLLERR, SOON) & POLLERR);
	ASSERT_EQ(0, rc(recvmsg(self->client, &m, MSG_ERRQUEUE)));
	EXPECT_EQ(MSG_ERRQUEUE, m.msg_flags & MSG_ERRQUEUE);
	ASSERT_NE(NULL, CMSG_FIRSTHDR(&m));
	EXPECT_EQ(SOL_IP, CMSG_FIRSTHDR(&m)->cmsg_level);
	EXPECT_EQ(IP_RECVERR, CMSG_FIRSTHDR(&m)->cmsg_type);
	e = (struct sock_extended_err *)CMSG_DATA(CMSG_FIRSTHDR(&m));
	EXPECT_EQ(SO_EE_ORIGIN_ZEROCOPY, e->ee_origin);
	EXPECT_EQ(-EAGAIN, rc(recvmsg(self->client, &m, MSG_ERRQUEUE)));
	EXPECT_EQ(0, poll_one(self->client, POLLERR, 0) & POLLERR);
}

/* All who wait are woken, and the port is free. */
EXPLICIT_TEST(ended_listener)
{
	enum { WAITING = 3 };
	struct task t[WAITING];
	int l = listener(7021);

	ASSERT_LE(0, l);
	for (int i = 0; i < WAITING; i++) {
		t[i] = (struct task){ .fn = task_accept, .fd = l };
		task_start(&t[i]);
		ASSERT_TRUE(task_blocked(&t[i]));
	}
	ASSERT_EQ(0, node_socket_end(inode_of(l)));
	for (int i = 0; i < WAITING; i++) {
		ASSERT_EQ(0, task_wait(&t[i]));
		EXPECT_EQ(-EINVAL, t[i].ret);
	}
	EXPECT_EQ(ECONNABORTED, get_option(l, SOL_SOCKET, SO_ERROR));
	EXPECT_EQ(-ECONNREFUSED, dial(7021));
	/* Once. */
	EXPECT_EQ(-ENOENT, node_socket_end(inode_of(l)));
	EXPECT_EQ(0, rc(listen(l, 1)));
	EXPECT_LE(0, dial(7021));
}

EXPLICIT_TEST(ended_connection)
{
	char byte;
	struct task t = { .fn = task_recv, .fd = self->client, .buf = &byte, .len = 1 };

	task_start(&t);
	ASSERT_TRUE(task_blocked(&t));
	ASSERT_EQ(0, node_socket_end(inode_of(self->client)));
	ASSERT_EQ(0, task_wait(&t));
	EXPECT_EQ(-ECONNABORTED, t.ret);
	EXPECT_EQ(-ECONNRESET, rc(recv(self->server, &byte, 1, 0)));
	EXPECT_EQ(-ENOENT, node_socket_end(inode_of(self->client)));
	EXPECT_EQ(-ENOENT, node_socket_end(inode_of(self->server)));
	/* Those that are not explicit, or not the family's, are none. */
	EXPECT_EQ(-ENOENT, node_socket_end(inode_of(rc(node_socket(true, AF_INET, SOCK_STREAM)))));
	EXPECT_EQ(-ENOENT, node_socket_end(inode_of(rc(socket(AF_INET, SOCK_STREAM, 0)))));
	EXPECT_EQ(-ENOENT, node_socket_end(inode_of(explicit_socket())));
}

/* A namespace has ports of its own, and reaches itself without a device that is up. */
static int in_namespace(uint32_t taken)
{
	int l, c, s;

	if (unshare(CLONE_NEWNET))
		return 10;
	if (dial(taken) != -ECONNREFUSED)
		return 11;
	l = listener(taken);
	if (l < 0)
		return 12;
	c = dial(taken);
	if (c < 0)
		return 13;
	s = accept(l, NULL, NULL);
	if (s < 0)
		return 14;
	return send_pattern(c, 1000, 100, 0) ?: recv_pattern(s, 1000, 100, 0);
}

SANX_TEST_OF("explicit", namespaces)
{
	pid_t pid = fork();
	int status;

	ASSERT_LE(0, pid);
	if (!pid)
		_exit(in_namespace(address_port(&self->addr)));
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	ASSERT_TRUE(WIFEXITED(status));
	EXPECT_EQ(0, WEXITSTATUS(status));
}

SANX_TEST_MAIN
