// SPDX-License-Identifier: GPL-2.0
/*
 * SOCK_DGRAM of explicit sockets: what UDP's do, between nodes and ports.
 *
 * no siw: the wire does not matter
 * no rail: two_node/explicit_nodes.sh
 */
#include <net/if.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <linux/errqueue.h>
#include <linux/filter.h>
#include <linux/sanx.h>
#include <linux/sockios.h>

#include "kselftest_harness.h"

#include "lib/node.h"
#include "lib/util.h"
#include "variants.h"

#define DEFAULT_VARIANTS "explicit"

#define TEST_SECONDS	400
#define MESSAGE_TEST(name) TEST_F_TIMEOUT(dgram, name, TEST_SECONDS)

/* Bytes of the longest one, as af_sanx(7) says. */
#define MOST	65527

/* As sanx.h documents it. */
#define FIRST_EPHEMERAL	0x40000000U
#define LAST_EPHEMERAL	0x7fffffffU

/* No node map of the tests has it. */
#define NO_NODE		4242
#define SILENT_HOST	"10.77.0.99"

FIXTURE_VARIANT(dgram)
{
	int stat;	/* counts them */
};

FIXTURE(dgram)
{
	int a, b;
	struct sockaddr_sanx at_a, at_b;
	struct node_stats before;
};

FIXTURE_VARIANT_ADD(dgram, explicit) { .stat = SANX_A_STATS_DGRAMS_LOOP };
FIXTURE_VARIANT_ADD(dgram, explicitverbs) { .stat = SANX_A_STATS_DGRAMS_VERBS };

static int message_socket(void)
{
	return rc(node_socket(true, FAMILY_EXPLICIT, SOCK_DGRAM | SOCK_CLOEXEC));
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

static int connect_to(int fd, const struct sockaddr_sanx *sx)
{
	return rc(connect(fd, (const struct sockaddr *)sx, sizeof(*sx)));
}

static int disconnect(int fd)
{
	struct sockaddr sa = { .sa_family = AF_UNSPEC };

	return rc(connect(fd, &sa, sizeof(sa)));
}

/* A socket with a port, or -errno of bind(). */
static int bound(uint32_t port)
{
	struct sockaddr_sanx sx = address_of(SANX_NODE_ANY, port);
	int fd = message_socket(), err = bind_to(fd, &sx);

	if (!err || fd < 0)
		return fd;
	close(fd);
	return err;
}

static struct sockaddr_sanx own_address(int fd)
{
	struct address a;

	return local_address(fd, &a) ? (struct sockaddr_sanx){} : a.sx;
}

static long send_to(int fd, const struct sockaddr_sanx *sx, const void *buf, size_t len)
{
	return rc(sendto(fd, buf, len, MSG_NOSIGNAL, (const struct sockaddr *)sx, sizeof(*sx)));
}

/* Receives one that has come or comes soon. */
static long recv_soon(int fd, void *buf, size_t len, int flags)
{
	if (poll_one(fd, POLLIN, SOON) != POLLIN)
		return -ETIME;
	return rc(recv(fd, buf, len, flags | MSG_DONTWAIT));
}

/* One from @from to @to, which has that address, arrives. */
static void check_message(struct __test_metadata *_metadata, int from, int to,
			  const struct sockaddr_sanx *sx)
{
	char buf[8];

	ASSERT_EQ(5, send_to(from, sx, "hello", 5));
	ASSERT_EQ(5, recv_soon(to, buf, sizeof(buf), 0));
	EXPECT_EQ(0, memcmp(buf, "hello", 5));
}

FIXTURE_SETUP(dgram)
{
	signal(SIGPIPE, SIG_IGN);
	ASSERT_EQ(0, node_ports_deny(false))
		TH_LOG("is the module loaded?");
	self->a = bound(SANX_PORT_ANY);
	ASSERT_LE(0, self->a);
	self->b = bound(SANX_PORT_ANY);
	ASSERT_LE(0, self->b);
	self->at_a = own_address(self->a);
	self->at_b = own_address(self->b);
	node_stats(&self->before);
}

FIXTURE_TEARDOWN(dgram)
{
	close(self->a);
	close(self->b);
}

MESSAGE_TEST(identity)
{
	EXPECT_EQ(node_family(), get_option(self->a, SOL_SOCKET, SO_DOMAIN));
	EXPECT_EQ(SOCK_DGRAM, get_option(self->a, SOL_SOCKET, SO_TYPE));
	EXPECT_EQ(SANXPROTO_EXPLICIT, get_option(self->a, SOL_SOCKET, SO_PROTOCOL));
	EXPECT_EQ(-EOPNOTSUPP, rc(listen(self->a, 1)));
	EXPECT_EQ(-EOPNOTSUPP, rc(accept(self->a, NULL, NULL)));
	EXPECT_EQ(-EOPNOTSUPP, set_option(self->a, IPPROTO_IP, 1, 1));
	EXPECT_EQ(-EOPNOTSUPP, set_option(self->a, IPPROTO_UDP, 1, 1));
}

/* Each comes whole, once and in order, from its sender. */
MESSAGE_TEST(lengths)
{
	static const size_t len[] = {
		0, 1, 100, 1472, 4000, 4048, 4096, 9000, 16384, 40000, 65507, MOST,
	};
	static char out[MOST], in[MOST + 100];
	struct address from;

	for (unsigned int i = 0; i < ARRAY_SIZE(len); i++) {
		pattern_fill(out, len[i], i);
		ASSERT_EQ((long)len[i], send_to(self->a, &self->at_b, out, len[i]));
		ASSERT_EQ(POLLIN, poll_one(self->b, POLLIN, SOON));
		from.len = sizeof(from.ss);
		ASSERT_EQ((long)len[i], rc(recvfrom(self->b, in, sizeof(in), 0, &from.sa,
						    &from.len)));
		EXPECT_TRUE(pattern_check(in, len[i], i));
		EXPECT_EQ(sizeof(struct sockaddr_sanx), from.len);
		EXPECT_EQ(self->at_a.sanx_port, from.sx.sanx_port);
		/* The answer finds its way by that. */
		check_message(_metadata, self->b, self->a, &from.sx);
	}
	EXPECT_EQ(0, poll_one(self->b, POLLIN, A_WHILE));
	EXPECT_EQ(2 * ARRAY_SIZE(len), node_stat_since(&self->before, variant->stat));
	EXPECT_EQ(0, node_stat_since(&self->before, SANX_A_STATS_DGRAMS_UDP));
}

MESSAGE_TEST(too_long)
{
	static char buf[MOST + 1];

	EXPECT_EQ(-EMSGSIZE, send_to(self->a, &self->at_b, buf, MOST + 1));
	EXPECT_EQ(0, poll_one(self->b, POLLIN, A_WHILE));
}

/* Sockets without a port get one, and the first one sent is not lost. */
MESSAGE_TEST(port_by_itself)
{
	int fd = message_socket();
	struct sockaddr_sanx own = own_address(fd);

	EXPECT_EQ(0, own.sanx_port);
	check_message(_metadata, fd, self->b, &self->at_b);
	own = own_address(fd);
	EXPECT_LE(FIRST_EPHEMERAL, own.sanx_port);
	EXPECT_GE(LAST_EPHEMERAL, own.sanx_port);
	EXPECT_EQ(-EINVAL, bind_to(fd, &own));
	close(fd);
	/* It is free again. */
	fd = bound(own.sanx_port);
	EXPECT_LE(0, fd);
	close(fd);
}

/* A port of one type of sockets is not that of another. */
MESSAGE_TEST(port_space)
{
	int stream = rc(node_socket(true, FAMILY_EXPLICIT, SOCK_STREAM));
	int fd = bound(7500);

	ASSERT_LE(0, fd);
	EXPECT_EQ(-EADDRINUSE, bound(7500));
	EXPECT_EQ(0, bind_to(stream, &(struct sockaddr_sanx){
		.sanx_family = node_family(), .sanx_port = 7500 }));
	ASSERT_EQ(0, rc(listen(stream, 1)));
	check_message(_metadata, self->a, fd, &(struct sockaddr_sanx){
		.sanx_family = node_family(), .sanx_port = 7500 });
	close(stream);
	close(fd);
}

MESSAGE_TEST(bad_addresses)
{
	struct sockaddr_sanx sx = self->at_b;

	EXPECT_EQ(-EDESTADDRREQ, rc(send(self->a, "x", 1, 0)));
	EXPECT_EQ(-EINVAL, rc(sendto(self->a, "x", 1, 0, (struct sockaddr *)&sx,
				     sizeof(sx) - 1)));
	sx.sanx_family = AF_INET;
	EXPECT_EQ(-EAFNOSUPPORT, send_to(self->a, &sx, "x", 1));
	EXPECT_EQ(-EAFNOSUPPORT, connect_to(self->a, &sx));
	sx = self->at_b;
	sx.sanx_pad = 1;
	EXPECT_EQ(-EINVAL, send_to(self->a, &sx, "x", 1));
	sx = address_of(SANX_NODE_ANY, SANX_PORT_ANY);
	EXPECT_EQ(-EINVAL, send_to(self->a, &sx, "x", 1));
	sx = address_of(NO_NODE, 7000);
	EXPECT_EQ(-ENETUNREACH, send_to(self->a, &sx, "x", 1));
	EXPECT_EQ(-ENETUNREACH, connect_to(self->a, &sx));
	EXPECT_EQ(-EFAULT, send_to(self->a, &self->at_b, (void *)8, 100));
	/* None of that is left. */
	check_message(_metadata, self->a, self->b, &self->at_b);
}

/* Who sends to nobody is told: at once on the same node, and else if it is connected. */
MESSAGE_TEST(nobody)
{
	struct sockaddr_sanx sx = address_of(SANX_NODE_ANY, 7600);

	ASSERT_EQ(0, connect_to(self->a, &sx));
	if (variant->stat == SANX_A_STATS_DGRAMS_LOOP) {
		EXPECT_EQ(-ECONNREFUSED, rc(send(self->a, "x", 1, 0)));
	} else {
		EXPECT_EQ(1, rc(send(self->a, "x", 1, 0)));
		EXPECT_EQ(POLLERR, poll_one(self->a, 0, SOON) & POLLERR);
		EXPECT_EQ(ECONNREFUSED, get_option(self->a, SOL_SOCKET, SO_ERROR));
	}
	/* Told once. */
	EXPECT_EQ(0, get_option(self->a, SOL_SOCKET, SO_ERROR));
	EXPECT_EQ(-EAGAIN, rc(recv(self->a, &sx, 1, MSG_DONTWAIT)));
	/* Another destination may be named, and is not refused. */
	check_message(_metadata, self->a, self->b, &self->at_b);
}

/* A connected one hears its peer alone. */
MESSAGE_TEST(connected)
{
	int other = bound(SANX_PORT_ANY);
	struct sockaddr_sanx sx;
	struct address peer;
	char buf[8];

	EXPECT_EQ(-ENOTCONN, peer_address(self->b, &peer));
	ASSERT_EQ(0, connect_to(self->b, &self->at_a));
	ASSERT_EQ(0, peer_address(self->b, &peer));
	EXPECT_EQ(self->at_a.sanx_port, peer.sx.sanx_port);
	sx = own_address(self->b);
	EXPECT_EQ(peer.sx.sanx_node, sx.sanx_node);

	send_to(other, &self->at_b, "other", 5);
	check_message(_metadata, self->a, self->b, &self->at_b);
	EXPECT_EQ(0, poll_one(self->b, POLLIN, A_WHILE));
	ASSERT_EQ(3, rc(send(self->b, "abc", 3, 0)));
	ASSERT_EQ(3, recv_soon(self->a, buf, sizeof(buf), 0));

	/* To another one, and then to none. */
	sx = own_address(other);
	ASSERT_EQ(0, connect_to(self->b, &sx));
	check_message(_metadata, other, self->b, &self->at_b);
	ASSERT_EQ(0, disconnect(self->b));
	EXPECT_EQ(-ENOTCONN, peer_address(self->b, &peer));
	EXPECT_EQ(-EDESTADDRREQ, rc(send(self->b, "x", 1, 0)));
	close(other);
}

/* disconnect() gives back a port that nobody asked for. */
MESSAGE_TEST(disconnected_port)
{
	struct sockaddr_sanx own;
	int fd = message_socket();

	ASSERT_EQ(0, connect_to(fd, &self->at_a));
	own = own_address(fd);
	EXPECT_LE(FIRST_EPHEMERAL, own.sanx_port);
	ASSERT_EQ(0, disconnect(fd));
	EXPECT_EQ(0, own_address(fd).sanx_port);
	own.sanx_node = SANX_NODE_ANY;
	EXPECT_EQ(0, bind_to(fd, &own));
	ASSERT_EQ(0, connect_to(fd, &self->at_a));
	ASSERT_EQ(0, disconnect(fd));
	EXPECT_EQ(own.sanx_port, own_address(fd).sanx_port);
	close(fd);
}

/* To itself, as UDP. */
MESSAGE_TEST(itself)
{
	check_message(_metadata, self->a, self->a, &self->at_a);
	ASSERT_EQ(0, connect_to(self->a, &self->at_a));
	check_message(_metadata, self->a, self->a, &self->at_a);
}

MESSAGE_TEST(truncated)
{
	char buf[10];
	struct iovec iov = { buf, 4 };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };

	ASSERT_EQ(9, send_to(self->a, &self->at_b, "123456789", 9));
	ASSERT_EQ(9, send_to(self->a, &self->at_b, "123456789", 9));
	ASSERT_EQ(3, send_to(self->a, &self->at_b, "abc", 3));
	ASSERT_EQ(POLLIN, poll_one(self->b, POLLIN, SOON));
	EXPECT_EQ(4, rc(recvmsg(self->b, &msg, 0)));
	EXPECT_EQ(MSG_TRUNC, msg.msg_flags & MSG_TRUNC);
	EXPECT_EQ(9, recv_soon(self->b, buf, 4, MSG_TRUNC));
	EXPECT_EQ(0, memcmp(buf, "1234", 4));
	EXPECT_EQ(POLLIN, poll_one(self->b, POLLIN, SOON));
	EXPECT_EQ(3, rc(recvmsg(self->b, &msg, 0)));
	EXPECT_EQ(0, msg.msg_flags & MSG_TRUNC);
}

MESSAGE_TEST(peeked)
{
	char buf[10];

	ASSERT_EQ(6, send_to(self->a, &self->at_b, "123456", 6));
	ASSERT_EQ(3, send_to(self->a, &self->at_b, "abc", 3));
	EXPECT_EQ(6, recv_soon(self->b, buf, 10, MSG_PEEK));
	EXPECT_EQ(6, recv_soon(self->b, buf, 10, MSG_PEEK));
	ASSERT_EQ(0, set_option(self->b, SOL_SOCKET, SO_PEEK_OFF, 0));
	EXPECT_EQ(4, recv_soon(self->b, buf, 4, MSG_PEEK));
	EXPECT_EQ(2, recv_soon(self->b, buf, 4, MSG_PEEK));
	EXPECT_EQ(0, memcmp(buf, "56", 2));
	EXPECT_EQ(6, recv_soon(self->b, buf, 10, 0));
	EXPECT_EQ(3, recv_soon(self->b, buf, 10, 0));
}

/* SIOCINQ is the length of the next one. */
MESSAGE_TEST(queues)
{
	struct ifreq ifr = { .ifr_name = "lo" };
	char buf[10];
	int n = -1;

	EXPECT_EQ(0, bytes_unread(self->b));
	ASSERT_EQ(6, send_to(self->a, &self->at_b, "123456", 6));
	ASSERT_EQ(3, send_to(self->a, &self->at_b, "abc", 3));
	EXPECT_EQ(6, recv_soon(self->b, buf, 10, MSG_PEEK));
	EXPECT_EQ(6, bytes_unread(self->b));
	EXPECT_EQ(6, recv_soon(self->b, buf, 10, 0));
	EXPECT_EQ(POLLIN, poll_one(self->b, POLLIN, SOON));
	EXPECT_EQ(3, bytes_unread(self->b));
	ASSERT_EQ(0, rc(ioctl(self->b, SIOCOUTQ, &n)));
	EXPECT_EQ(0, n);
	/* What is about networks is not theirs. */
	EXPECT_EQ(-ENOTTY, rc(ioctl(self->a, SIOCGIFADDR, &ifr)));
}

MESSAGE_TEST(waits)
{
	struct task t = { .fn = task_recv, .fd = self->b, .len = 10 };
	char buf[10];

	t.buf = buf;
	task_start(&t);
	EXPECT_TRUE(task_blocked(&t));
	ASSERT_EQ(3, send_to(self->a, &self->at_b, "abc", 3));
	ASSERT_EQ(0, task_wait(&t));
	EXPECT_EQ(3, t.ret);

	ASSERT_EQ(0, set_timeout(self->b, SO_RCVTIMEO, A_WHILE));
	EXPECT_EQ(-EAGAIN, rc(recv(self->b, buf, 10, 0)));
	ASSERT_EQ(0, set_timeout(self->b, SO_RCVTIMEO, 0));
	/* shutdown() ends it; that of one without a peer says so, and does it. */
	task_start(&t);
	EXPECT_TRUE(task_blocked(&t));
	EXPECT_EQ(-ENOTCONN, rc(shutdown(self->b, SHUT_RD)));
	ASSERT_EQ(0, task_wait(&t));
	EXPECT_EQ(0, t.ret);
	ASSERT_EQ(0, connect_to(self->a, &self->at_b));
	ASSERT_EQ(0, rc(shutdown(self->a, SHUT_WR)));
	EXPECT_EQ(-EPIPE, rc(send(self->a, "x", 1, MSG_NOSIGNAL)));
}

/*
 * A node of the map that nobody has: its datagrams wait, but they do not keep the socket from
 * others for longer than a moment.
 */
MESSAGE_TEST(silent_node)
{
	static char buf[1000];
	const struct node_entry silent = { .addr = SILENT_HOST, .id = NO_NODE };
	struct sockaddr_sanx sx = address_of(NO_NODE, 1);
	long n, sent = 0;

	if (variant->stat == SANX_A_STATS_DGRAMS_LOOP) {
		/* There is no way to another one. */
		EXPECT_EQ(-ENETUNREACH, send_to(self->a, &sx, "x", 1));
		return;
	}
	ASSERT_EQ(0, node_map_add(&silent));
	ASSERT_EQ(0, set_option(self->a, SOL_SOCKET, SO_SNDBUF, 8192));
	while ((n = rc(sendto(self->a, buf, sizeof(buf), MSG_DONTWAIT, (struct sockaddr *)&sx,
			      sizeof(sx)))) > 0)
		sent++;
	EXPECT_EQ(-EAGAIN, n);
	EXPECT_LT(0, sent);
	EXPECT_EQ(POLLOUT, poll_one(self->a, POLLOUT, SOON));
	check_message(_metadata, self->a, self->b, &self->at_b);
	/* They still wait. */
	EXPECT_EQ(0, node_stat_since(&self->before, SANX_A_STATS_DROPPED_CLOSED));
	EXPECT_EQ(0, node_map_del(SILENT_HOST));
}

/* What the receiver has no room for is dropped, counted, and the sender goes on. */
MESSAGE_TEST(overflow)
{
	static char buf[1000], control[200];
	struct iovec iov = { buf, sizeof(buf) };
	struct msghdr msg = {
		.msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = control, .msg_controllen = sizeof(control),
	};
	long until = now_ms() + SOON;
	unsigned int dropped = 0;
	struct cmsghdr *m;
	int came = 0;

	ASSERT_EQ(0, set_option(self->b, SOL_SOCKET, SO_RCVBUF, 8192));
	ASSERT_EQ(0, set_option(self->b, SOL_SOCKET, SO_RXQ_OVFL, 1));
	for (int i = 0; i < 200; i++)
		ASSERT_EQ(1000, send_to(self->a, &self->at_b, buf, sizeof(buf)));
	/* Over verbs they may still be on their way. */
	while (came + node_stat_since(&self->before, SANX_A_STATS_DROPPED_FULL) < 200) {
		ASSERT_GT(until, now_ms()) TH_LOG("%d", came);
		while (poll_one(self->b, POLLIN, 10) == POLLIN) {
			ASSERT_EQ(1000, rc(recv(self->b, buf, sizeof(buf), 0)));
			came++;
		}
	}
	EXPECT_LT(0, came);
	EXPECT_GT(200, came);
	ASSERT_EQ(1, send_to(self->a, &self->at_b, "x", 1));
	ASSERT_EQ(POLLIN, poll_one(self->b, POLLIN, SOON));
	ASSERT_EQ(1, rc(recvmsg(self->b, &msg, 0)));
	for (m = CMSG_FIRSTHDR(&msg); m; m = CMSG_NXTHDR(&msg, m))
		if (m->cmsg_level == SOL_SOCKET && m->cmsg_type == SO_RXQ_OVFL)
			memcpy(&dropped, CMSG_DATA(m), sizeof(dropped));
	EXPECT_EQ(200 - came, (int)dropped);
}

MESSAGE_TEST(timestamp)
{
	static char buf[10], control[200];
	struct iovec iov = { buf, sizeof(buf) };
	struct msghdr msg = {
		.msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = control, .msg_controllen = sizeof(control),
	};
	struct cmsghdr *m;

	ASSERT_EQ(0, set_option(self->b, SOL_SOCKET, SO_TIMESTAMP, 1));
	ASSERT_EQ(1, send_to(self->a, &self->at_b, "x", 1));
	ASSERT_EQ(POLLIN, poll_one(self->b, POLLIN, SOON));
	ASSERT_EQ(1, rc(recvmsg(self->b, &msg, 0)));
	m = CMSG_FIRSTHDR(&msg);
	ASSERT_NE(NULL, m);
	EXPECT_EQ(SO_TIMESTAMP, m->cmsg_type);
}

/* A filter sees the bytes, and nothing before them. */
MESSAGE_TEST(filtered)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_B | BPF_ABS, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 'x', 0, 1),
		BPF_STMT(BPF_RET | BPF_K, 0),
		BPF_STMT(BPF_RET | BPF_K, ~0U),
	};
	struct sock_fprog prog = { ARRAY_SIZE(code), code };
	char buf[10];

	ASSERT_EQ(0, rc(setsockopt(self->b, SOL_SOCKET, SO_ATTACH_FILTER, &prog,
				   sizeof(prog))));
	ASSERT_EQ(3, send_to(self->a, &self->at_b, "xyz", 3));
	ASSERT_EQ(3, send_to(self->a, &self->at_b, "abc", 3));
	ASSERT_EQ(3, recv_soon(self->b, buf, sizeof(buf), 0));
	EXPECT_EQ(0, memcmp(buf, "abc", 3));
}

/* What only the IP stack has is refused, not ignored. */
MESSAGE_TEST(needs_stack)
{
	ASSERT_EQ(0, rc(setsockopt(self->a, SOL_SOCKET, SO_BINDTODEVICE, "lo", 3)));
	EXPECT_EQ(-EOPNOTSUPP, send_to(self->a, &self->at_b, "x", 1));
	EXPECT_EQ(-EOPNOTSUPP, connect_to(self->a, &self->at_b));
	/* Nor does it get any. */
	send_to(self->b, &self->at_a, "x", 1);
	EXPECT_EQ(0, poll_one(self->a, POLLIN, A_WHILE));
	ASSERT_EQ(0, rc(setsockopt(self->a, SOL_SOCKET, SO_BINDTODEVICE, "", 1)));
	check_message(_metadata, self->a, self->b, &self->at_b);
}

MESSAGE_TEST(not_urgent)
{
	char c;

	EXPECT_EQ(-EOPNOTSUPP, rc(sendto(self->a, "x", 1, MSG_OOB,
					 (struct sockaddr *)&self->at_b, sizeof(self->at_b))));
	EXPECT_EQ(-EOPNOTSUPP, rc(recv(self->a, &c, 1, MSG_OOB)));
	EXPECT_EQ(-EAGAIN, rc(recv(self->a, &c, 1, MSG_ERRQUEUE)));
}

MESSAGE_TEST(many_at_once)
{
	struct mmsghdr out[8] = {}, in[8] = {};
	struct iovec iov[8], room[8];
	char text[8], buf[8];

	ASSERT_EQ(0, connect_to(self->a, &self->at_b));
	for (int i = 0; i < 8; i++) {
		text[i] = 'a' + i;
		iov[i] = (struct iovec){ &text[i], 1 };
		room[i] = (struct iovec){ &buf[i], 1 };
		out[i].msg_hdr = (struct msghdr){ .msg_iov = &iov[i], .msg_iovlen = 1 };
		in[i].msg_hdr = (struct msghdr){ .msg_iov = &room[i], .msg_iovlen = 1 };
	}
	ASSERT_EQ(8, rc(sendmmsg(self->a, out, 8, 0)));
	for (int got = 0, n; got < 8; got += n) {
		ASSERT_EQ(POLLIN, poll_one(self->b, POLLIN, SOON));
		n = rc(recvmmsg(self->b, in + got, 8 - got, MSG_DONTWAIT, NULL));
		ASSERT_LT(0, n);
	}
	EXPECT_EQ(0, memcmp(buf, text, 8));
}

/* Senders that share a socket, and sockets that share an implicit connection. */
#define SENDERS	4
#define EACH	200

struct numbered {
	int sender;
	int number;
};

static long send_numbered(struct task *t)
{
	struct numbered m = { .sender = t->flags };
	long n = 0;

	for (m.number = 0; m.number < EACH && n >= 0; m.number++)
		n = rc(send(t->fd, &m, sizeof(m), 0));
	return n;
}

MESSAGE_TEST(senders)
{
	int next[SENDERS] = {}, fd[SENDERS];
	struct task t[SENDERS];
	struct numbered m;

	ASSERT_EQ(0, set_option(self->b, SOL_SOCKET, SO_RCVBUFFORCE, 4 << 20));
	for (int i = 0; i < SENDERS; i++) {
		fd[i] = i % 2 ? fd[i - 1] : message_socket();
		ASSERT_EQ(0, connect_to(fd[i], &self->at_b));
		t[i] = (struct task){ .fn = send_numbered, .fd = fd[i], .flags = i };
		task_start(&t[i]);
	}
	for (int n = 0; n < SENDERS * EACH; n++) {
		ASSERT_EQ((long)sizeof(m), recv_soon(self->b, &m, sizeof(m), 0));
		ASSERT_EQ(next[m.sender], m.number);
		next[m.sender]++;
	}
	for (int i = 0; i < SENDERS; i++) {
		ASSERT_EQ(0, task_wait(&t[i]));
		EXPECT_EQ((long)sizeof(m), t[i].ret);
	}
}

/* Sockets that are there for a moment, one after the other. */
static long open_and_close(struct task *t)
{
	_Atomic unsigned long *inode = t->buf;
	int fd;

	for (int i = 0; i < 2000; i++) {
		fd = message_socket();
		if (fd < 0)
			return fd;
		atomic_store(inode, inode_of(fd));
		close(fd);
	}
	return 0;
}

/* The administrator ends a socket that its program closes. */
MESSAGE_TEST(ended_and_closed)
{
	_Atomic unsigned long inode = inode_of(self->b);
	struct task t = { .fn = open_and_close, .buf = &inode };
	int err, ended = 0;

	EXPECT_EQ(0, node_socket_end(inode));
	EXPECT_EQ(ECONNABORTED, get_option(self->b, SOL_SOCKET, SO_ERROR));
	task_start(&t);
	while (!t.done) {
		err = node_socket_end(inode);
		ASSERT_TRUE(!err || err == -ENOENT || err == -EBUSY);
		ended += !err;
	}
	ASSERT_EQ(0, task_wait(&t));
	EXPECT_EQ(0, t.ret);
	EXPECT_LT(0, ended);
}

/* A port rule denies it: "sanxctl ports" has explicit ports. */
MESSAGE_TEST(denied)
{
	ASSERT_EQ(0, node_ports_deny(true));
	EXPECT_EQ(-EACCES, send_to(self->a, &self->at_b, "x", 1));
	ASSERT_EQ(0, node_ports_deny(false));
	check_message(_metadata, self->a, self->b, &self->at_b);
}

/* A namespace has its own ports, and its first datagram arrives, too. */
MESSAGE_TEST(namespace)
{
	struct sockaddr_sanx sx;
	int fd, other;

	ASSERT_EQ(0, rc(unshare(CLONE_NEWNET)));
	if (variant->stat != SANX_A_STATS_DGRAMS_LOOP) {
		/* It has no node map, and memory is not to be used. */
		sx = address_of(SANX_NODE_ANY, 7700);
		EXPECT_EQ(-ENETUNREACH, send_to(message_socket(), &sx, "x", 1));
		return;
	}
	fd = bound(self->at_a.sanx_port);
	ASSERT_LE(0, fd);
	other = message_socket();
	sx = address_of(SANX_NODE_ANY, self->at_a.sanx_port);
	check_message(_metadata, other, fd, &sx);
	EXPECT_EQ(0, poll_one(self->a, POLLIN, A_WHILE));
	sx.sanx_port = self->at_b.sanx_port;
	EXPECT_EQ(-ECONNREFUSED, send_to(other, &sx, "x", 1));
}

int main(int argc, char **argv)
{
	choose_variants(&_dgram_fixture_object, DEFAULT_VARIANTS);
	return test_harness_run(argc, argv);
}
