// SPDX-License-Identifier: GPL-2.0
/*
 * Datagram sockets: UDP is the oracle.  One test body says what all variants must do;
 * the module's counters say which way the datagrams took.
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <liburing.h>
#include <linux/bpf.h>
#include <linux/errqueue.h>
#include <linux/filter.h>
#include <linux/net_tstamp.h>
#include <linux/sockios.h>
#include <linux/userfaultfd.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/ip.h>
#include <netinet/udp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include <linux/sanx.h>

#include "kselftest_harness.h"

#include "lib/cgroup.h"
#include "lib/node.h"
#include "lib/util.h"
#include "variants.h"

#define DEFAULT_VARIANTS "udp udpmapped loop loopmapped fromudp toudp denied"

#define TEST_SECONDS	400
#define DGRAM_TEST(name) TEST_F_TIMEOUT(dgram, name, TEST_SECONDS)

/* Not over links: what differs there is UDP's way between two nodes, not on one. */
#define DGRAM_TEST_ONE_NODE(name) \
	static struct __test_metadata *_dgram_##name##_object; \
	static void __attribute__((constructor)) only_##name(void) \
	{ \
		test_only(_dgram_##name##_object, DEFAULT_VARIANTS); \
	} \
	DGRAM_TEST(name)

/* The most that UDP over IPv4 carries. */
#define MOST	65507

#ifndef UDP_SEGMENT
#define UDP_SEGMENT	103
#define UDP_GRO		104
#endif

FIXTURE_VARIANT(dgram)
{
	int family;		/* of the receiver */
	bool sender;		/* the sender is AF_SANX */
	bool receiver;		/* the receiver is AF_SANX */
	bool mapped;		/* the sender is of IPv6, and uses v4-mapped addresses */
	bool deny;		/* a port rule denies every port */
	bool link;		/* they go by a link of the node to itself */
};

FIXTURE(dgram)
{
	struct address addr;	/* of the receiver, as the sender names it */
	struct address from;	/* of the sender, as the receiver sees it */
	int sender;
	int receiver;
	struct node_stats before;
};

FIXTURE_VARIANT_ADD(dgram, udp4) { .family = AF_INET };
FIXTURE_VARIANT_ADD(dgram, udp6) { .family = AF_INET6 };
FIXTURE_VARIANT_ADD(dgram, udpmapped4) { .family = AF_INET, .mapped = true };
FIXTURE_VARIANT_ADD(dgram, loop4) {
	.family = AF_INET, .sender = true, .receiver = true };
FIXTURE_VARIANT_ADD(dgram, loop6) {
	.family = AF_INET6, .sender = true, .receiver = true };
FIXTURE_VARIANT_ADD(dgram, loopmapped4) {
	.family = AF_INET, .sender = true, .receiver = true, .mapped = true };
FIXTURE_VARIANT_ADD(dgram, fromudp4) { .family = AF_INET, .receiver = true };
FIXTURE_VARIANT_ADD(dgram, fromudp6) { .family = AF_INET6, .receiver = true };
FIXTURE_VARIANT_ADD(dgram, toudp4) { .family = AF_INET, .sender = true };
FIXTURE_VARIANT_ADD(dgram, toudp6) { .family = AF_INET6, .sender = true };
FIXTURE_VARIANT_ADD(dgram, denied4) {
	.family = AF_INET, .sender = true, .receiver = true, .deny = true };

FIXTURE_VARIANT_ADD(dgram, verbs4) {
	.family = AF_INET, .sender = true, .receiver = true, .link = true };
FIXTURE_VARIANT_ADD(dgram, verbs6) {
	.family = AF_INET6, .sender = true, .receiver = true, .link = true };

static int dgram_socket(bool sanx, int family)
{
	return rc(node_socket(sanx, family, SOCK_DGRAM | SOCK_CLOEXEC));
}

static int sender_family(const FIXTURE_VARIANT(dgram) *v)
{
	return v->mapped ? AF_INET6 : v->family;
}

static int sender_socket(const FIXTURE_VARIANT(dgram) *v)
{
	return dgram_socket(v->sender, sender_family(v));
}

static const char *own_address(const FIXTURE_VARIANT(dgram) *v)
{
	if (v->link)
		return v->family == AF_INET ? env_or("SANX_ADDR4", "10.77.0.1") :
					      env_or("SANX_ADDR6", "fd77::1");
	return v->family == AF_INET ? "127.0.0.1" : "::1";
}

/* The counter of datagrams over links. */
static int link_stat(void)
{
	return strcmp(env_or("SANX_DEVICE", ""), "tcp") ? SANX_A_STATS_DGRAMS_VERBS :
							  SANX_A_STATS_DGRAMS_TCP_RAIL;
}

/* A receiver on a free port; @a is its address, as a sender of the variant names it. */
static int receiver_socket(const FIXTURE_VARIANT(dgram) *v, struct address *a)
{
	int fd = dgram_socket(v->receiver, v->family);
	struct address own;

	address_make(&own, own_address(v), 0);
	if (fd < 0 || bind(fd, &own.sa, own.len))
		return -1;
	local_address(fd, &own);
	*a = own;
	if (v->mapped)
		address_map(a, &own);
	return fd;
}

/* Do they go by AF_SANX's own way? */
static bool is_ours(const FIXTURE_VARIANT(dgram) *v)
{
	return v->sender && v->receiver && !v->deny;
}

/* The counter of that. */
static int own_stat(const FIXTURE_VARIANT(dgram) *v)
{
	return v->link ? link_stat() : SANX_A_STATS_DGRAMS_LOOP;
}

/* Does a datagram of the socket go by a link? */
static bool went_by_link(int fd, const struct address *a)
{
	struct node_stats before, now;

	node_stats(&before);
	sendto(fd, "", 0, 0, &a->sa, a->len);
	node_stats(&now);
	return now.v[link_stat()] > before.v[link_stat()];
}

/*
 * The first ones have a connection made, which those between two ports go by from then on.
 * Nothing of that is left in @in.
 */
static bool wait_for_link(int out, int in, const struct address *a)
{
	char c;

	for (int i = 0; i < SOON / A_WHILE; i++) {
		if (went_by_link(out, a)) {
			while (poll_one(in, POLLIN, A_WHILE) == POLLIN)
				recv(in, &c, 1, MSG_DONTWAIT);
			return true;
		}
		sleep_ms(A_WHILE);
	}
	return false;
}

FIXTURE_SETUP(dgram)
{
	struct address any;

	signal(SIGPIPE, SIG_IGN);
	if (variant->sender || variant->receiver)
		ASSERT_EQ(0, node_ports_deny(variant->deny))
			TH_LOG("is the module loaded?");
	self->receiver = receiver_socket(variant, &self->addr);
	ASSERT_LE(0, self->receiver);
	self->sender = sender_socket(variant);
	ASSERT_LE(0, self->sender);
	/* With a port, as a first datagram gets one from UDP. */
	address_make(&any, sender_family(variant) == AF_INET ? "0.0.0.0" : "::", 0);
	ASSERT_EQ(0, rc(bind(self->sender, &any.sa, any.len)));
	ASSERT_EQ(0, local_address(self->sender, &any));
	address_make(&self->from, own_address(variant),
		     address_port(&any));
	if (variant->link)
		ASSERT_TRUE(wait_for_link(self->sender, self->receiver, &self->addr));
	node_stats(&self->before);
}

FIXTURE_TEARDOWN(dgram)
{
	close(self->sender);
	close(self->receiver);
	if (variant->deny)
		EXPECT_EQ(0, node_ports_deny(false));
}

/* So many datagrams went by AF_SANX's own way, and so many of its sockets over UDP. */
static void check_ways(struct __test_metadata *_metadata,
		       const FIXTURE_DATA(dgram) *self,
		       const FIXTURE_VARIANT(dgram) *variant, int ours, int udp)
{
	EXPECT_EQ(ours, (int)node_stat_since(&self->before, own_stat(variant)));
	EXPECT_EQ(udp, (int)node_stat_since(&self->before, SANX_A_STATS_DGRAMS_UDP));
}

/* All @n datagrams of the sender took the variant's way. */
static void check_way(struct __test_metadata *_metadata,
		      const FIXTURE_DATA(dgram) *self,
		      const FIXTURE_VARIANT(dgram) *variant, int n)
{
	bool ours = is_ours(variant);

	check_ways(_metadata, self, variant, ours ? n : 0, variant->sender && !ours ? n : 0);
}

static ssize_t send_to(int fd, const void *buf, size_t len,
		       const struct address *a)
{
	return rc(sendto(fd, buf, len, 0, &a->sa, a->len));
}

/* Receives a datagram that has come or comes soon. */
static ssize_t recv_soon(int fd, void *buf, size_t len, int flags)
{
	if (poll_one(fd, POLLIN, SOON) != POLLIN)
		return -ETIME;
	return rc(recv(fd, buf, len, flags | MSG_DONTWAIT));
}

static void connect_sender(struct __test_metadata *_metadata,
			   const FIXTURE_DATA(dgram) *self)
{
	ASSERT_EQ(0, rc(connect(self->sender, &self->addr.sa, self->addr.len)));
}

/* Goes to a network namespace of the test's own. */
static void alone(struct __test_metadata *_metadata)
{
	ASSERT_EQ(0, rc(unshare(CLONE_NEWNET)));
	ASSERT_EQ(0, system("ip link set lo up"));
}

DGRAM_TEST(identity)
{
	int family = variant->family;

	EXPECT_EQ(family, get_option(self->receiver, SOL_SOCKET, SO_DOMAIN));
	EXPECT_EQ(SOCK_DGRAM, get_option(self->receiver, SOL_SOCKET, SO_TYPE));
	EXPECT_EQ(IPPROTO_UDP, get_option(self->receiver, SOL_SOCKET, SO_PROTOCOL));
	EXPECT_EQ(-EOPNOTSUPP, rc(listen(self->receiver, 1)));
	EXPECT_EQ(-EOPNOTSUPP, rc(accept(self->receiver, NULL, NULL)));
}

/* Each size arrives whole, once and in order, with the sender's name. */
DGRAM_TEST(sizes)
{
	static const size_t sizes[] = {
		0, 1, 2, 100, 1472, 1473, 3000, 4000, 4096, 8000, 9000, 16384,
		32768, 40000, 65000, MOST,
	};
	static unsigned char out[MOST], in[MOST + 100];
	struct address from;

	for (int i = 0; i < ARRAY_SIZE(sizes); i++) {
		pattern_fill(out, sizes[i], i);
		ASSERT_EQ(sizes[i], send_to(self->sender, out, sizes[i],
					    &self->addr));
		memset(&from, 0, sizeof(from));
		from.len = sizeof(from.ss);
		ASSERT_EQ(POLLIN, poll_one(self->receiver, POLLIN, SOON));
		ASSERT_EQ(sizes[i], rc(recvfrom(self->receiver, in, sizeof(in), 0,
						&from.sa, &from.len)));
		EXPECT_TRUE(pattern_check(in, sizes[i], i));
		EXPECT_TRUE(address_equal(&self->from, &from));
	}
	check_way(_metadata, self, variant, ARRAY_SIZE(sizes));
	EXPECT_EQ(0, poll_one(self->receiver, POLLIN, A_WHILE));
}

DGRAM_TEST(too_long)
{
	static char buf[70000];

	EXPECT_EQ(-EMSGSIZE, send_to(self->sender, buf, sizeof(buf),
				     &self->addr));
	if (sender_family(variant) == AF_INET)
		EXPECT_EQ(-EMSGSIZE, send_to(self->sender, buf, MOST + 1,
					     &self->addr));
	EXPECT_EQ(0, poll_one(self->receiver, POLLIN, A_WHILE));
}

/* What must not be fragmented, and is longer than a packet of lo, is refused. */
DGRAM_TEST_ONE_NODE(not_fragmented)
{
	bool v4 = sender_family(variant) == AF_INET;
	static char buf[MOST];

	alone(_metadata);
	ASSERT_EQ(0, system("ip link set lo mtu 1500"));
	close(self->receiver);
	close(self->sender);
	self->receiver = receiver_socket(variant, &self->addr);
	self->sender = sender_socket(variant);
	ASSERT_EQ(1, send_to(self->sender, buf, 1, &self->addr));
	ASSERT_EQ(1, recv_soon(self->receiver, buf, 1, 0));
	EXPECT_EQ(3000, send_to(self->sender, buf, 3000, &self->addr));
	EXPECT_EQ(3000, recv_soon(self->receiver, buf, sizeof(buf), 0));
	ASSERT_EQ(0, v4 || variant->mapped ?
		  set_option(self->sender, IPPROTO_IP, IP_MTU_DISCOVER, IP_PMTUDISC_DO) :
		  set_option(self->sender, IPPROTO_IPV6, IPV6_MTU_DISCOVER,
			     IPV6_PMTUDISC_DO));
	EXPECT_EQ(-EMSGSIZE, send_to(self->sender, buf, 3000, &self->addr));
	EXPECT_EQ(1000, send_to(self->sender, buf, 1000, &self->addr));
	EXPECT_EQ(1000, recv_soon(self->receiver, buf, sizeof(buf), 0));
}

/* An empty one is read as such, and poll() tells of it. */
DGRAM_TEST(empty)
{
	char c;
	int n;

	ASSERT_EQ(0, send_to(self->sender, NULL, 0, &self->addr));
	ASSERT_EQ(POLLIN, poll_one(self->receiver, POLLIN, SOON));
	EXPECT_EQ(0, ioctl(self->receiver, SIOCINQ, &n));
	EXPECT_EQ(0, n);
	EXPECT_EQ(0, rc(recv(self->receiver, &c, 1, 0)));
	EXPECT_EQ(-EAGAIN, rc(recv(self->receiver, &c, 1, MSG_DONTWAIT)));
	check_way(_metadata, self, variant, 1);
}

DGRAM_TEST(queue_length)
{
	char buf[100] = { };
	int n;

	ASSERT_EQ(70, send_to(self->sender, buf, 70, &self->addr));
	ASSERT_EQ(30, send_to(self->sender, buf, 30, &self->addr));
	ASSERT_EQ(POLLIN, poll_one(self->receiver, POLLIN, SOON));
	/* Of the next datagram. */
	EXPECT_EQ(0, ioctl(self->receiver, SIOCINQ, &n));
	EXPECT_EQ(70, n);
	EXPECT_EQ(0, ioctl(self->sender, SIOCOUTQ, &n));
	EXPECT_EQ(0, n);
	check_way(_metadata, self, variant, 2);
}

DGRAM_TEST(connected)
{
	struct address name;
	char buf[16];

	EXPECT_EQ(-EDESTADDRREQ, rc(send(self->sender, "x", 1, 0)));
	connect_sender(_metadata, self);
	ASSERT_EQ(0, peer_address(self->sender, &name));
	EXPECT_TRUE(address_equal(&self->addr, &name));
	EXPECT_EQ(5, rc(send(self->sender, "hello", 5, 0)));
	EXPECT_EQ(5, recv_soon(self->receiver, buf, sizeof(buf), 0));
	/* A name beside it is used. */
	EXPECT_EQ(2, send_to(self->sender, "ho", 2, &self->addr));
	EXPECT_EQ(2, recv_soon(self->receiver, buf, sizeof(buf), 0));
	check_way(_metadata, self, variant, 2);
}

/* A connected receiver hears its peer only. */
DGRAM_TEST(connected_receiver)
{
	int other = sender_socket(variant);
	char buf[16];

	ASSERT_LE(0, other);
	ASSERT_EQ(0, rc(connect(self->receiver, &self->from.sa, self->from.len)));
	EXPECT_EQ(-ECONNREFUSED, rc(connect(other, &self->addr.sa, self->addr.len)) ?:
				 rc(send(other, "no", 2, 0)) < 0 ? -1 :
				 poll_one(other, POLLIN, SOON) & POLLERR ?
				 rc(send(other, "no", 2, 0)) : -1);
	EXPECT_EQ(3, send_to(self->sender, "yes", 3, &self->addr));
	EXPECT_EQ(3, recv_soon(self->receiver, buf, sizeof(buf), 0));
	EXPECT_EQ(0, memcmp(buf, "yes", 3));
	/* Not connected any more, it hears all again. */
	ASSERT_EQ(0, rc(connect(self->receiver,
				&(struct sockaddr){ .sa_family = AF_UNSPEC },
				sizeof(struct sockaddr))));
	close(other);
}

/* The sender is told that nobody listens, by its next call. */
DGRAM_TEST(refused)
{
	char c;

	connect_sender(_metadata, self);
	close(self->receiver);
	EXPECT_EQ(1, rc(send(self->sender, "x", 1, 0)));
	EXPECT_EQ(POLLERR, poll_one(self->sender, POLLIN, SOON) & POLLERR);
	EXPECT_EQ(-ECONNREFUSED, rc(send(self->sender, "x", 1, 0)));
	EXPECT_EQ(1, rc(send(self->sender, "x", 1, 0)));
	EXPECT_EQ(POLLERR, poll_one(self->sender, POLLIN, SOON) & POLLERR);
	EXPECT_EQ(-ECONNREFUSED, rc(recv(self->sender, &c, 1, MSG_DONTWAIT)));
	self->receiver = dgram_socket(variant->receiver, variant->family);
}

DGRAM_TEST(truncated)
{
	struct msghdr msg = { .msg_iovlen = 1 };
	struct iovec iov;
	char buf[100] = { };

	msg.msg_iov = &iov;
	iov = (struct iovec){ buf, 10 };
	for (int i = 0; i < 3; i++)
		ASSERT_EQ(50 + i, send_to(self->sender, buf, 50 + i, &self->addr));
	EXPECT_EQ(10, recv_soon(self->receiver, buf, 10, MSG_PEEK));
	EXPECT_EQ(50, recv_soon(self->receiver, buf, 10, MSG_PEEK | MSG_TRUNC));
	EXPECT_EQ(10, rc(recvmsg(self->receiver, &msg, 0)));
	EXPECT_EQ(MSG_TRUNC, msg.msg_flags);
	EXPECT_EQ(51, recv_soon(self->receiver, buf, 10, MSG_TRUNC));
	iov.iov_len = sizeof(buf);
	EXPECT_EQ(52, rc(recvmsg(self->receiver, &msg, 0)));
	EXPECT_EQ(0, msg.msg_flags);
	check_way(_metadata, self, variant, 3);
}

DGRAM_TEST(peek_offset)
{
	char buf[16];

	ASSERT_EQ(0, set_option(self->receiver, SOL_SOCKET, SO_PEEK_OFF, 0));
	ASSERT_EQ(6, send_to(self->sender, "abcdef", 6, &self->addr));
	EXPECT_EQ(2, recv_soon(self->receiver, buf, 2, MSG_PEEK));
	EXPECT_EQ(3, recv_soon(self->receiver, buf, 3, MSG_PEEK));
	EXPECT_EQ(0, memcmp(buf, "cde", 3));
	EXPECT_EQ(6, recv_soon(self->receiver, buf, sizeof(buf), 0));
	check_way(_metadata, self, variant, 1);
}

/* What there is no room for is dropped and counted; the sender never waits. */
DGRAM_TEST(full)
{
	union {
		struct cmsghdr cmsg;
		char room[64];
	} ctl;
	char buf[1000] = { };
	struct iovec iov = { buf, sizeof(buf) };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };
	struct node_stats before, now = self->before;
	int sent = 0, got = 0, lost = -1;

	ASSERT_EQ(0, set_option(self->receiver, SOL_SOCKET, SO_RXQ_OVFL, 1));
	ASSERT_EQ(0, set_option(self->receiver, SOL_SOCKET, SO_RCVBUF, 20000));
	for (; sent < 200; sent++) {
		/* Over a link it waits for room in the stream. */
		if (!variant->link)
			EXPECT_EQ(POLLOUT, poll_one(self->sender, POLLOUT, 0));
		ASSERT_EQ(sizeof(buf), send_to(self->sender, buf, sizeof(buf),
					       &self->addr));
	}
	/* All of them have come. */
	do {
		before = now;
		sleep_ms(A_WHILE);
		node_stats(&now);
	} while (now.v[SANX_A_STATS_DROPPED_FULL] != before.v[SANX_A_STATS_DROPPED_FULL]);
	while (recv_soon(self->receiver, buf, sizeof(buf), MSG_DONTWAIT) > 0 &&
	       ++got && poll_one(self->receiver, POLLIN, A_WHILE))
		;
	/* 40000 bytes, with what the kernel counts beside the payload. */
	EXPECT_LE(10, got);
	EXPECT_GE(40, got);
	ASSERT_EQ(sizeof(buf), send_to(self->sender, buf, sizeof(buf), &self->addr));
	ASSERT_EQ(POLLIN, poll_one(self->receiver, POLLIN, SOON));
	msg.msg_control = &ctl;
	msg.msg_controllen = sizeof(ctl);
	ASSERT_EQ(sizeof(buf), rc(recvmsg(self->receiver, &msg, 0)));
	if (CMSG_FIRSTHDR(&msg) && ctl.cmsg.cmsg_type == SO_RXQ_OVFL)
		lost = *(int *)CMSG_DATA(&ctl.cmsg);
	EXPECT_EQ(sent - got, lost);
	EXPECT_EQ(is_ours(variant) ? lost : 0,
		  (int)node_stat_since(&self->before, SANX_A_STATS_DROPPED_FULL));
	check_way(_metadata, self, variant, sent + 1);
}

/* What a reader frees has room again at once, and not when it has read all. */
DGRAM_TEST_ONE_NODE(room_again)
{
	char buf[1000] = { };
	int n = 0;

	ASSERT_EQ(0, set_option(self->receiver, SOL_SOCKET, SO_RCVBUF, 20000));
	for (int i = 0; i < 100; i++)
		ASSERT_EQ(1000, send_to(self->sender, buf, 1000, &self->addr));
	for (int i = 0; i < 6; i++)
		ASSERT_EQ(1000, recv_soon(self->receiver, buf, 1000, 0));
	memset(buf, 'n', sizeof(buf));
	ASSERT_EQ(1000, send_to(self->sender, buf, 1000, &self->addr));
	while (recv_soon(self->receiver, buf, 1000, 0) == 1000 && buf[0] != 'n')
		ASSERT_GT(100, n++);
	EXPECT_EQ('n', buf[0]);
	check_way(_metadata, self, variant, 101);
}

/* Finds a control message. */
static struct cmsghdr *find(struct msghdr *msg, int level, int type)
{
	struct cmsghdr *c;

	for (c = CMSG_FIRSTHDR(msg); c; c = CMSG_NXTHDR(msg, c))
		if (c->cmsg_level == level && c->cmsg_type == type)
			return c;
	return NULL;
}

static int find_int(struct msghdr *msg, int level, int type)
{
	struct cmsghdr *c = find(msg, level, type);

	return c ? *(int *)CMSG_DATA(c) : -1;
}

static void add_int(struct msghdr *msg, int level, int type, int value)
{
	struct cmsghdr *c = (void *)((char *)msg->msg_control + msg->msg_controllen);

	c->cmsg_level = level;
	c->cmsg_type = type;
	c->cmsg_len = CMSG_LEN(sizeof(value));
	memcpy(CMSG_DATA(c), &value, sizeof(value));
	msg->msg_controllen += CMSG_SPACE(sizeof(value));
}

/* TTL, type of service and the receiver's address travel with the datagram. */
DGRAM_TEST(header_fields)
{
	bool v4 = variant->family == AF_INET;
	int level = v4 ? IPPROTO_IP : IPPROTO_IPV6;
	char ctl[512] __attribute__((aligned(8))), c = 'x';
	struct iovec iov = { &c, 1 };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = ctl };
	/* That which has the address. */
	unsigned int device = if_nametoindex(variant->link ? "eth0" : "lo");
	struct address dest;
	int ttl, tos;

	address_make(&dest, own_address(variant), 0);
	ASSERT_EQ(0, set_option(self->receiver, level,
				v4 ? IP_RECVTTL : IPV6_RECVHOPLIMIT, 1));
	ASSERT_EQ(0, set_option(self->receiver, level,
				v4 ? IP_RECVTOS : IPV6_RECVTCLASS, 1));
	ASSERT_EQ(0, set_option(self->receiver, level,
				v4 ? IP_PKTINFO : IPV6_RECVPKTINFO, 1));
	for (int round = 0; round < 3; round++) {
		bool own = round == 1, cmsg = round == 2;

		msg.msg_controllen = 0;
		msg.msg_name = &self->addr.sa;
		msg.msg_namelen = self->addr.len;
		if (own && v4) {
			ASSERT_EQ(0, set_option(self->sender, IPPROTO_IP, IP_TTL, 7));
			ASSERT_EQ(0, set_option(self->sender, IPPROTO_IP, IP_TOS, 0x20));
		} else if (own) {
			ASSERT_EQ(0, set_option(self->sender, level, IPV6_UNICAST_HOPS, 7));
			ASSERT_EQ(0, set_option(self->sender, level, IPV6_TCLASS, 0x20));
		} else if (cmsg && !variant->mapped) {
			add_int(&msg, level, v4 ? IP_TTL : IPV6_HOPLIMIT, 9);
			add_int(&msg, level, v4 ? IP_TOS : IPV6_TCLASS, 0x40);
		}
		ASSERT_EQ(1, rc(sendmsg(self->sender, &msg, 0)));
		ASSERT_EQ(POLLIN, poll_one(self->receiver, POLLIN, SOON));
		msg.msg_name = NULL;
		msg.msg_namelen = 0;
		msg.msg_controllen = sizeof(ctl);
		ASSERT_EQ(1, rc(recvmsg(self->receiver, &msg, 0)));
		ttl = find_int(&msg, level, v4 ? IP_TTL : IPV6_HOPLIMIT);
		tos = find_int(&msg, level, v4 ? IP_TOS : IPV6_TCLASS);
		if (v4)
			tos &= 0xff;
		if (!variant->mapped || round < 2) {
			EXPECT_EQ(cmsg ? 9 : own ? 7 : 64, ttl);
			EXPECT_EQ(cmsg ? 0x40 : own ? 0x20 : 0, tos);
		}
		if (v4) {
			struct cmsghdr *i = find(&msg, IPPROTO_IP, IP_PKTINFO);
			struct in_pktinfo *info = i ? (void *)CMSG_DATA(i) : NULL;

			ASSERT_NE(NULL, info);
			EXPECT_EQ(0, memcmp(&((struct sockaddr_in *)&dest.ss)->sin_addr,
					    &info->ipi_addr, 4));
			EXPECT_EQ(0, memcmp(&((struct sockaddr_in *)&dest.ss)->sin_addr,
					    &info->ipi_spec_dst, 4));
			EXPECT_EQ(device, info->ipi_ifindex);
		} else {
			struct cmsghdr *i = find(&msg, IPPROTO_IPV6, IPV6_PKTINFO);
			struct in6_pktinfo *info = i ? (void *)CMSG_DATA(i) : NULL;

			ASSERT_NE(NULL, info);
			EXPECT_EQ(0, memcmp(&((struct sockaddr_in6 *)&dest.ss)->sin6_addr,
					    &info->ipi6_addr, 16));
			EXPECT_EQ(device, info->ipi6_ifindex);
		}
	}
	check_way(_metadata, self, variant, 3);
}

/* Of IPv4, which source address a datagram has: a bound one, the route's, or that of a message. */
DGRAM_TEST_ONE_NODE(source)
{
	char ctl[128] __attribute__((aligned(8))), c = 'x';
	struct iovec iov = { &c, 1 };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };
	struct in_pktinfo info = { };
	struct address to, from;
	struct cmsghdr *m;
	int fd, out;

	fd = dgram_socket(variant->receiver, AF_INET);
	out = dgram_socket(variant->sender, AF_INET);
	address_make(&to, "0.0.0.0", 0);
	ASSERT_EQ(0, rc(bind(out, &to.sa, to.len)));
	ASSERT_EQ(0, rc(bind(fd, &to.sa, to.len)));
	local_address(fd, &to);
	address_make(&to, "127.0.0.7", address_port(&to));
	ASSERT_EQ(1, send_to(out, "x", 1, &to));
	from.len = sizeof(from.ss);
	ASSERT_EQ(POLLIN, poll_one(fd, POLLIN, SOON));
	ASSERT_EQ(1, rc(recvfrom(fd, &c, 1, 0, &from.sa, &from.len)));
	EXPECT_EQ(htonl(INADDR_LOOPBACK),
		  ((struct sockaddr_in *)&from.ss)->sin_addr.s_addr);

	inet_pton(AF_INET, "127.0.0.9", &info.ipi_spec_dst);
	msg.msg_name = &to.sa;
	msg.msg_namelen = to.len;
	msg.msg_control = ctl;
	msg.msg_controllen = CMSG_SPACE(sizeof(info));
	m = CMSG_FIRSTHDR(&msg);
	m->cmsg_level = IPPROTO_IP;
	m->cmsg_type = IP_PKTINFO;
	m->cmsg_len = CMSG_LEN(sizeof(info));
	memcpy(CMSG_DATA(m), &info, sizeof(info));
	ASSERT_EQ(1, rc(sendmsg(out, &msg, 0)));
	from.len = sizeof(from.ss);
	ASSERT_EQ(POLLIN, poll_one(fd, POLLIN, SOON));
	ASSERT_EQ(1, rc(recvfrom(fd, &c, 1, 0, &from.sa, &from.len)));
	EXPECT_EQ(info.ipi_spec_dst.s_addr,
		  ((struct sockaddr_in *)&from.ss)->sin_addr.s_addr);
	check_way(_metadata, self, variant, 2);

	/* 0 is the choice of the route, whatever the socket is bound to. */
	close(out);
	out = dgram_socket(variant->sender, AF_INET);
	address_make(&from, "127.0.0.2", 0);
	ASSERT_EQ(0, rc(bind(out, &from.sa, from.len)));
	info.ipi_spec_dst.s_addr = 0;
	memcpy(CMSG_DATA(m), &info, sizeof(info));
	ASSERT_EQ(1, rc(sendmsg(out, &msg, 0)));
	from.len = sizeof(from.ss);
	ASSERT_EQ(POLLIN, poll_one(fd, POLLIN, SOON));
	ASSERT_EQ(1, rc(recvfrom(fd, &c, 1, 0, &from.sa, &from.len)));
	EXPECT_EQ(htonl(INADDR_LOOPBACK),
		  ((struct sockaddr_in *)&from.ss)->sin_addr.s_addr);

	/* Not an address of this node. */
	inet_pton(AF_INET, "192.0.2.1", &info.ipi_spec_dst);
	memcpy(CMSG_DATA(m), &info, sizeof(info));
	EXPECT_GT(0, rc(sendmsg(out, &msg, 0)));
	close(fd);
	close(out);
}

/* Nobody may send from an address that is not the node's. */
DGRAM_TEST_ONE_NODE(foreign_source)
{
	char ctl[128] __attribute__((aligned(8))), c = 'x';
	int fd = dgram_socket(variant->receiver, AF_INET6);
	int out = dgram_socket(variant->sender, AF_INET6);
	struct iovec iov = { &c, 1 };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = ctl,
			      .msg_controllen = CMSG_SPACE(sizeof(struct in6_pktinfo)) };
	static const char * const foreign[] = { "2001:db8::1", "ff02::1", "fe80::1" };
	struct in6_pktinfo info = { };
	struct cmsghdr *m;
	struct address to;

	address_make(&to, "::1", 0);
	ASSERT_EQ(0, rc(bind(fd, &to.sa, to.len)));
	ASSERT_EQ(0, rc(bind(out, &to.sa, to.len)));
	ASSERT_EQ(0, local_address(fd, &to));
	msg.msg_name = &to.sa;
	msg.msg_namelen = to.len;
	m = CMSG_FIRSTHDR(&msg);
	m->cmsg_level = IPPROTO_IPV6;
	m->cmsg_type = IPV6_PKTINFO;
	m->cmsg_len = CMSG_LEN(sizeof(info));
	for (int i = 0; i < ARRAY_SIZE(foreign); i++) {
		inet_pton(AF_INET6, foreign[i], &info.ipi6_addr);
		memcpy(CMSG_DATA(m), &info, sizeof(info));
		EXPECT_EQ(-EINVAL, rc(sendmsg(out, &msg, 0))) TH_LOG("%s", foreign[i]);
	}
	/* Nor by a device that there is not. */
	info.ipi6_addr = in6addr_loopback;
	info.ipi6_ifindex = 99999;
	memcpy(CMSG_DATA(m), &info, sizeof(info));
	EXPECT_EQ(-ENODEV, rc(sendmsg(out, &msg, 0)));
	EXPECT_EQ(0, poll_one(fd, POLLIN, A_WHILE));
	info.ipi6_ifindex = 0;
	memcpy(CMSG_DATA(m), &info, sizeof(info));
	EXPECT_EQ(1, rc(sendmsg(out, &msg, 0)));
	EXPECT_EQ(1, recv_soon(fd, &c, 1, 0));
	check_way(_metadata, self, variant, 1);
	close(fd);
	close(out);
}

#ifndef SO_RCVMARK
#define SO_RCVMARK	75
#endif

DGRAM_TEST_ONE_NODE(mark)
{
	char ctl[128] __attribute__((aligned(8))), c;
	struct iovec iov = { &c, 1 };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = ctl,
			      .msg_controllen = sizeof(ctl) };

	ASSERT_EQ(0, set_option(self->receiver, SOL_SOCKET, SO_RCVMARK, 1));
	ASSERT_EQ(0, set_option(self->sender, SOL_SOCKET, SO_MARK, 77));
	ASSERT_EQ(1, send_to(self->sender, "x", 1, &self->addr));
	ASSERT_EQ(POLLIN, poll_one(self->receiver, POLLIN, SOON));
	ASSERT_EQ(1, rc(recvmsg(self->receiver, &msg, 0)));
	EXPECT_EQ(77, find_int(&msg, SOL_SOCKET, SO_MARK));
	check_way(_metadata, self, variant, 1);
}

/* What is sent to an address of another device than lo seems to come in there. */
DGRAM_TEST_ONE_NODE(own_device)
{
	char ctl[128] __attribute__((aligned(8))), c = 'x';
	struct iovec iov = { &c, 1 };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = ctl,
			      .msg_controllen = sizeof(ctl) };
	int in[2], out;
	struct cmsghdr *m;
	struct address a;

	alone(_metadata);
	ASSERT_EQ(0, system("ip link add dgram0 type dummy && ip link set dgram0 up"));
	ASSERT_EQ(0, system("ip addr add 192.0.2.7/32 dev dgram0"));
	out = dgram_socket(variant->sender, AF_INET);
	address_make(&a, "0.0.0.0", 0);
	ASSERT_EQ(0, rc(bind(out, &a.sa, a.len)));
	for (int i = 0; i < 2; i++) {
		in[i] = dgram_socket(variant->receiver, AF_INET);
		ASSERT_EQ(0, set_option(in[i], SOL_SOCKET, SO_REUSEADDR, 1));
		ASSERT_EQ(0, rc(bind(in[i], &a.sa, a.len)));
		ASSERT_EQ(0, local_address(in[i], &a));
	}
	address_make(&a, "192.0.2.7", address_port(&a));
	/* The device makes it the better match. */
	ASSERT_EQ(0, rc(setsockopt(in[0], SOL_SOCKET, SO_BINDTODEVICE, "dgram0", 6)));
	ASSERT_EQ(1, send_to(out, "x", 1, &a));
	EXPECT_EQ(1, recv_soon(in[0], &c, 1, 0));
	EXPECT_EQ(0, poll_one(in[1], POLLIN, A_WHILE));
	close(in[0]);
	ASSERT_EQ(0, set_option(in[1], IPPROTO_IP, IP_PKTINFO, 1));
	ASSERT_EQ(1, send_to(out, "x", 1, &a));
	ASSERT_EQ(POLLIN, poll_one(in[1], POLLIN, SOON));
	ASSERT_EQ(1, rc(recvmsg(in[1], &msg, 0)));
	m = find(&msg, IPPROTO_IP, IP_PKTINFO);
	ASSERT_NE(NULL, m);
	EXPECT_EQ(if_nametoindex("dgram0"),
		  ((struct in_pktinfo *)CMSG_DATA(m))->ipi_ifindex);
	/* The route is asked anew when it has changed. */
	ASSERT_EQ(0, system("ip addr del 192.0.2.7/32 dev dgram0"));
	EXPECT_GT(0, send_to(out, "x", 1, &a));
	EXPECT_EQ(0, poll_one(in[1], POLLIN, A_WHILE));
	close(in[1]);
	close(out);
}

/* Who receives a datagram is decided when all of it was copied. */
DGRAM_TEST(slow_copy)
{
	int uffd = syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK);
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register reg = { .mode = UFFDIO_REGISTER_MODE_MISSING };
	struct uffdio_zeropage fill = { };
	struct task t = { .fn = task_send, .fd = self->sender, .len = 100 };
	struct address other;
	char c;

	ASSERT_LE(0, uffd);
	ASSERT_EQ(0, rc(ioctl(uffd, UFFDIO_API, &api)));
	t.buf = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, t.buf);
	reg.range.start = (unsigned long)t.buf;
	reg.range.len = 4096;
	ASSERT_EQ(0, rc(ioctl(uffd, UFFDIO_REGISTER, &reg)));
	connect_sender(_metadata, self);
	task_start(&t);
	EXPECT_TRUE(task_blocked(&t));
	/* From now on it hears another one only. */
	address_make(&other, own_address(variant), 9);
	ASSERT_EQ(0, rc(connect(self->receiver, &other.sa, other.len)));
	fill.range = reg.range;
	ASSERT_EQ(0, rc(ioctl(uffd, UFFDIO_ZEROPAGE, &fill)));
	ASSERT_EQ(0, task_wait(&t));
	EXPECT_EQ(100, t.ret);
	EXPECT_EQ(0, poll_one(self->receiver, POLLIN, A_WHILE));
	EXPECT_EQ(-EAGAIN, rc(recv(self->receiver, &c, 1, MSG_DONTWAIT)));
	close(uffd);
}

DGRAM_TEST(timestamp)
{
	char ctl[128] __attribute__((aligned(8))), c;
	struct iovec iov = { &c, 1 };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = ctl,
			      .msg_controllen = sizeof(ctl) };
	struct timespec before, after, *at;
	struct cmsghdr *m;

	ASSERT_EQ(0, set_option(self->receiver, SOL_SOCKET, SO_TIMESTAMPNS, 1));
	sleep_ms(A_WHILE);
	clock_gettime(CLOCK_REALTIME, &before);
	ASSERT_EQ(1, send_to(self->sender, "x", 1, &self->addr));
	ASSERT_EQ(POLLIN, poll_one(self->receiver, POLLIN, SOON));
	clock_gettime(CLOCK_REALTIME, &after);
	sleep_ms(A_WHILE);
	ASSERT_EQ(1, rc(recvmsg(self->receiver, &msg, 0)));
	m = find(&msg, SOL_SOCKET, SCM_TIMESTAMPNS);
	ASSERT_NE(NULL, m);
	at = (void *)CMSG_DATA(m);
	EXPECT_LE(before.tv_sec * 1e9 + before.tv_nsec,
		  at->tv_sec * 1e9 + at->tv_nsec);
	EXPECT_GE(after.tv_sec * 1e9 + after.tv_nsec,
		  at->tv_sec * 1e9 + at->tv_nsec);
	check_way(_metadata, self, variant, 1);
}

/* UDP_SEGMENT cuts a message into datagrams; UDP_GRO takes them together. */
DGRAM_TEST(segments)
{
	char ctl[64] __attribute__((aligned(8)));
	static unsigned char buf[10000], in[MOST];
	struct iovec iov = { in, sizeof(in) };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = ctl,
			      .msg_controllen = sizeof(ctl) };

	pattern_fill(buf, sizeof(buf), 0);
	connect_sender(_metadata, self);
	ASSERT_EQ(0, set_option(self->sender, IPPROTO_UDP, UDP_SEGMENT, 1000));
	ASSERT_EQ(3500, rc(send(self->sender, buf, 3500, 0)));
	for (int i = 0; i < 4; i++) {
		size_t len = i < 3 ? 1000 : 500;

		ASSERT_EQ(len, recv_soon(self->receiver, in, sizeof(in), 0));
		EXPECT_TRUE(pattern_check(in, len, i * 1000));
	}
	EXPECT_EQ(0, poll_one(self->receiver, POLLIN, A_WHILE));
	/* More than can be cut at once. */
	ASSERT_EQ(0, set_option(self->sender, IPPROTO_UDP, UDP_SEGMENT, 10));
	EXPECT_EQ(-EINVAL, rc(send(self->sender, buf, sizeof(buf), 0)));
	check_way(_metadata, self, variant, 1);

	ASSERT_EQ(0, set_option(self->sender, IPPROTO_UDP, UDP_SEGMENT, 1000));
	ASSERT_EQ(0, set_option(self->receiver, IPPROTO_UDP, UDP_GRO, 1));
	ASSERT_EQ(3500, rc(send(self->sender, buf, 3500, 0)));
	ASSERT_EQ(POLLIN, poll_one(self->receiver, POLLIN, SOON));
	ASSERT_EQ(3500, rc(recvmsg(self->receiver, &msg, 0)));
	EXPECT_TRUE(pattern_check(in, 3500, 0));
	EXPECT_EQ(1000, find_int(&msg, IPPROTO_UDP, UDP_GRO));
	check_way(_metadata, self, variant, 2);
}

/* Each datagram goes to one of a group, and those of a flow to the same. */
DGRAM_TEST(reuseport)
{
	int fd[4], got[4] = { }, total = 0, which = -1, used = 0;
	struct address a;
	char c;

	for (int i = 0; i < 4; i++) {
		fd[i] = dgram_socket(variant->receiver, variant->family);
		ASSERT_LE(0, fd[i]);
		ASSERT_EQ(0, set_option(fd[i], SOL_SOCKET, SO_REUSEPORT, 1));
		if (!i)
			address_make(&a, own_address(variant), 0);
		ASSERT_EQ(0, rc(bind(fd[i], &a.sa, a.len)));
		local_address(fd[i], &a);
	}
	if (variant->mapped)
		address_map(&a, &(struct address){ a.len, { .ss = a.ss } });
	for (int i = 0; i < 10; i++)
		ASSERT_EQ(1, send_to(self->sender, "x", 1, &a));
	for (int i = 0; i < 4; i++)
		while (poll_one(fd[i], POLLIN, A_WHILE) && recv(fd[i], &c, 1, 0) == 1)
			which = i, got[i]++;
	ASSERT_LE(0, which);
	EXPECT_EQ(10, got[which]);
	/* Those to another port may go by another connection, which is not there yet. */
	if (!variant->link)
		check_way(_metadata, self, variant, 10);
	memset(got, 0, sizeof(got));
	for (int i = 0; i < 32; i++) {
		int other = sender_socket(variant);

		ASSERT_EQ(1, send_to(other, "x", 1, &a));
		close(other);
	}
	for (int i = 0; i < 4; i++) {
		while (poll_one(fd[i], POLLIN, A_WHILE) && recv(fd[i], &c, 1, 0) == 1)
			got[i]++;
		total += got[i];
		used += !!got[i];
		close(fd[i]);
	}
	EXPECT_EQ(32, total);
	EXPECT_LT(1, used);
}

DGRAM_TEST(many_at_once)
{
	struct mmsghdr m[8] = { };
	struct iovec iov[8];
	char buf[8][32];

	for (int i = 0; i < 8; i++) {
		snprintf(buf[i], sizeof(buf[i]), "message %d", i);
		iov[i] = (struct iovec){ buf[i], strlen(buf[i]) + i };
		m[i].msg_hdr.msg_iov = &iov[i];
		m[i].msg_hdr.msg_iovlen = 1;
		m[i].msg_hdr.msg_name = &self->addr.sa;
		m[i].msg_hdr.msg_namelen = self->addr.len;
	}
	ASSERT_EQ(8, rc(sendmmsg(self->sender, m, 8, 0)));
	check_way(_metadata, self, variant, 8);
	memset(buf, 0, sizeof(buf));
	for (int i = 0; i < 8; i++) {
		iov[i].iov_len = sizeof(buf[i]);
		m[i].msg_hdr.msg_name = NULL;
		m[i].msg_hdr.msg_namelen = 0;
	}
	for (int n = 0; n < 8;) {
		ASSERT_EQ(POLLIN, poll_one(self->receiver, POLLIN, SOON));
		n += recvmmsg(self->receiver, m + n, 8 - n, MSG_DONTWAIT, NULL);
	}
	for (int i = 0; i < 8; i++) {
		EXPECT_EQ(9 + i, m[i].msg_len);
		EXPECT_EQ('0' + i, buf[i][8]);
	}
}

DGRAM_TEST(poll_and_epoll)
{
	struct epoll_event ev = { .events = EPOLLIN | EPOLLOUT | EPOLLET };
	int ep = epoll_create1(0);
	char c;

	ASSERT_EQ(0, rc(epoll_ctl(ep, EPOLL_CTL_ADD, self->receiver, &ev)));
	ASSERT_EQ(1, epoll_wait(ep, &ev, 1, SOON));
	EXPECT_EQ(EPOLLOUT, ev.events);
	ASSERT_EQ(1, send_to(self->sender, "x", 1, &self->addr));
	ASSERT_EQ(1, epoll_wait(ep, &ev, 1, SOON));
	EXPECT_EQ(EPOLLIN | EPOLLOUT, ev.events);
	EXPECT_EQ(1, rc(recv(self->receiver, &c, 1, 0)));
	EXPECT_EQ(POLLOUT, poll_one(self->receiver, POLLIN | POLLOUT, 0));
	close(ep);
	check_way(_metadata, self, variant, 1);
}

DGRAM_TEST(waits)
{
	struct task t = { .fn = task_recv, .fd = self->receiver, .len = 1 };
	char c;

	t.buf = &c;
	task_start(&t);
	EXPECT_TRUE(task_blocked(&t));
	ASSERT_EQ(1, send_to(self->sender, "y", 1, &self->addr));
	ASSERT_EQ(0, task_wait(&t));
	EXPECT_EQ(1, t.ret);
	EXPECT_EQ('y', c);
	ASSERT_EQ(0, set_timeout(self->receiver, SO_RCVTIMEO, LIMIT));
	EXPECT_EQ(-EAGAIN, rc(recv(self->receiver, &c, 1, 0)));
	check_way(_metadata, self, variant, 1);
}

DGRAM_TEST(shutdown_ends)
{
	char c;

	EXPECT_EQ(-ENOTCONN, rc(shutdown(self->sender, SHUT_WR)));
	connect_sender(_metadata, self);
	EXPECT_EQ(0, rc(shutdown(self->sender, SHUT_WR)));
	EXPECT_EQ(-EPIPE, rc(send(self->sender, "x", 1, 0)));
	ASSERT_EQ(0, rc(connect(self->receiver, &self->from.sa, self->from.len)));
	EXPECT_EQ(0, rc(shutdown(self->receiver, SHUT_RD)));
	EXPECT_EQ(0, rc(recv(self->receiver, &c, 1, 0)));
}

/* MSG_MORE and UDP_CORK collect one datagram. */
DGRAM_TEST(cork)
{
	char buf[16];

	connect_sender(_metadata, self);
	EXPECT_EQ(2, rc(send(self->sender, "ab", 2, MSG_MORE)));
	EXPECT_EQ(0, poll_one(self->receiver, POLLIN, A_WHILE));
	EXPECT_EQ(2, rc(send(self->sender, "cd", 2, 0)));
	EXPECT_EQ(4, recv_soon(self->receiver, buf, sizeof(buf), 0));
	EXPECT_EQ(0, set_option(self->sender, IPPROTO_UDP, UDP_CORK, 1));
	EXPECT_EQ(2, rc(send(self->sender, "ef", 2, 0)));
	EXPECT_EQ(1, rc(send(self->sender, "g", 1, 0)));
	EXPECT_EQ(0, set_option(self->sender, IPPROTO_UDP, UDP_CORK, 0));
	EXPECT_EQ(3, recv_soon(self->receiver, buf, sizeof(buf), 0));
	EXPECT_EQ(0, memcmp(buf, "efg", 3));
}

DGRAM_TEST(bad_calls)
{
	struct address bad = self->addr;
	char c = 'x';

	EXPECT_EQ(-EFAULT, send_to(self->sender, (void *)8, 100, &self->addr));
	EXPECT_EQ(-EFAULT, send_to(self->sender, (void *)8, 20000, &self->addr));
	EXPECT_EQ(-EOPNOTSUPP, rc(sendto(self->sender, &c, 1, MSG_OOB, &self->addr.sa,
					 self->addr.len)) == -EOPNOTSUPP ||
			       sender_family(variant) == AF_INET6 ? -EOPNOTSUPP : 0);
	bad.sa.sa_family = 77;
	EXPECT_GT(0, send_to(self->sender, &c, 1, &bad));
	bad = self->addr;
	bad.len = 4;
	EXPECT_EQ(-EINVAL, send_to(self->sender, &c, 1, &bad));
	bad = self->addr;
	address_set_port(&bad, 0);
	EXPECT_EQ(-EINVAL, send_to(self->sender, &c, 1, &bad));
	/* Nothing of it has arrived, and the socket works. */
	while (sender_family(variant) == AF_INET6 &&
	       poll_one(self->receiver, POLLIN, A_WHILE))
		recv(self->receiver, &c, 1, 0);
	EXPECT_EQ(0, poll_one(self->receiver, POLLIN, A_WHILE));
	EXPECT_EQ(1, send_to(self->sender, &c, 1, &self->addr));
	EXPECT_EQ(1, recv_soon(self->receiver, &c, 1, 0));
}

/* A filter sees every datagram, so they come through the stack. */
DGRAM_TEST(filtered)
{
	struct sock_filter code[] = {
		/* Accept those whose payload begins with 'y'. */
		BPF_STMT(BPF_LD | BPF_B | BPF_ABS, 8),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 'y', 0, 1),
		BPF_STMT(BPF_RET | BPF_K, 0xffff),
		BPF_STMT(BPF_RET | BPF_K, 0),
	};
	struct sock_fprog prog = { ARRAY_SIZE(code), code };
	char buf[8];

	ASSERT_EQ(0, rc(setsockopt(self->receiver, SOL_SOCKET, SO_ATTACH_FILTER,
				   &prog, sizeof(prog))));
	EXPECT_EQ(2, send_to(self->sender, "no", 2, &self->addr));
	EXPECT_EQ(3, send_to(self->sender, "yes", 3, &self->addr));
	EXPECT_EQ(3, recv_soon(self->receiver, buf, sizeof(buf), 0));
	EXPECT_EQ(0, poll_one(self->receiver, POLLIN, A_WHILE));
	check_ways(_metadata, self, variant, 0, variant->sender ? 2 : 0);
}

/* A program of the cgroup sees the destination of each, and may refuse it. */
DGRAM_TEST(cgroup_program)
{
	int type = BPF_PROG_TYPE_CGROUP_SOCK_ADDR, cgroup, fd;
	int where = variant->family == AF_INET ? BPF_CGROUP_UDP4_SENDMSG :
						 BPF_CGROUP_UDP6_SENDMSG;
	struct address any;
	char path[64], c;

	cgroup = enter_cgroup(path, sizeof(path));
	ASSERT_LE(0, cgroup);
	fd = sender_socket(variant);
	ASSERT_LE(0, fd);
	address_make(&any, sender_family(variant) == AF_INET ? "0.0.0.0" : "::", 0);
	ASSERT_EQ(0, rc(bind(fd, &any.sa, any.len)));
	ASSERT_EQ(0, attach_verdict(cgroup, type, where, 1));
	EXPECT_EQ(1, send_to(fd, "x", 1, &self->addr));
	EXPECT_EQ(1, recv_soon(self->receiver, &c, 1, 0));
	check_ways(_metadata, self, variant, 0, variant->sender);
	ASSERT_EQ(0, attach_verdict(cgroup, type, where, 0));
	EXPECT_EQ(-EPERM, send_to(fd, "x", 1, &self->addr));
	EXPECT_EQ(0, poll_one(self->receiver, POLLIN, A_WHILE));
	close(fd);
	leave_cgroup(path, cgroup);
}

/* What a request of io_uring came to. */
static int uring_result(struct io_uring *ring, unsigned long long tag)
{
	struct __kernel_timespec ts = { .tv_sec = SOON / 1000 };
	struct io_uring_cqe *cqe;
	int res;

	if (io_uring_wait_cqe_timeout(ring, &cqe, &ts) || cqe->user_data != tag)
		return -ENOMSG;
	res = cqe->res;
	io_uring_cqe_seen(ring, cqe);
	return res;
}

/* A reader that waits gets what is sent later, and those that are linked come in order. */
DGRAM_TEST(uring)
{
	enum { COUNT = 8 };
	char buf[100], text[COUNT][2];
	struct address from;
	struct iovec in = { buf, sizeof(buf) }, out[COUNT];
	struct msghdr get = {
		.msg_name = &from.sa, .msg_namelen = sizeof(from.ss),
		.msg_iov = &in, .msg_iovlen = 1,
	};
	struct msghdr put[COUNT];
	struct io_uring_sqe *sqe;
	struct io_uring ring;

	ASSERT_EQ(0, io_uring_queue_init(16, &ring, 0));
	for (int i = 0; i < COUNT; i++) {
		memset(text[i], '0' + i, 2);
		out[i] = (struct iovec){ text[i], 1 + i % 2 };
		put[i] = (struct msghdr){
			.msg_name = &self->addr.sa, .msg_namelen = self->addr.len,
			.msg_iov = &out[i], .msg_iovlen = 1,
		};
	}
	sqe = io_uring_get_sqe(&ring);
	io_uring_prep_recvmsg(sqe, self->receiver, &get, 0);
	io_uring_sqe_set_data64(sqe, 100);
	ASSERT_EQ(1, io_uring_submit(&ring));
	ASSERT_EQ(1, send_to(self->sender, "x", 1, &self->addr));
	ASSERT_EQ(1, uring_result(&ring, 100));
	EXPECT_EQ('x', buf[0]);
	EXPECT_EQ(address_port(&self->from), address_port(&from));
	for (int i = 0; i < COUNT; i++) {
		sqe = io_uring_get_sqe(&ring);
		io_uring_prep_sendmsg(sqe, self->sender, &put[i], 0);
		sqe->flags |= i < COUNT - 1 ? IOSQE_IO_LINK : 0;
		io_uring_sqe_set_data64(sqe, i);
	}
	ASSERT_EQ(COUNT, io_uring_submit(&ring));
	for (int i = 0; i < COUNT; i++)
		EXPECT_EQ(1 + i % 2, uring_result(&ring, i));
	for (int i = 0; i < COUNT; i++) {
		ASSERT_EQ(1 + i % 2, recv_soon(self->receiver, buf, sizeof(buf), 0));
		EXPECT_EQ('0' + i, buf[0]);
	}
	io_uring_queue_exit(&ring);
	check_way(_metadata, self, variant, 1 + COUNT);
}

/* The device, if one is chosen, decides as for UDP. */
DGRAM_TEST_ONE_NODE(bound_to_device)
{
	char c;

	ASSERT_EQ(0, rc(setsockopt(self->receiver, SOL_SOCKET, SO_BINDTODEVICE,
				   "lo", 3)));
	EXPECT_EQ(1, send_to(self->sender, "x", 1, &self->addr));
	EXPECT_EQ(1, recv_soon(self->receiver, &c, 1, 0));
	check_ways(_metadata, self, variant, 0, variant->sender);
}

/* Multicast is UDP's; receivers of either kind get it. */
DGRAM_TEST(multicast)
{
	struct ip_mreqn mreq = { .imr_ifindex = if_nametoindex("lo") };
	int fd[2], out = dgram_socket(variant->sender, AF_INET);
	struct address group;
	char c;

	inet_pton(AF_INET, "239.1.2.3", &mreq.imr_multiaddr);
	for (int i = 0; i < 2; i++) {
		fd[i] = dgram_socket(variant->receiver, AF_INET);
		ASSERT_EQ(0, set_option(fd[i], SOL_SOCKET, SO_REUSEADDR, 1));
		if (!i)
			address_make(&group, "0.0.0.0", 0);
		ASSERT_EQ(0, rc(bind(fd[i], &group.sa, group.len)));
		local_address(fd[i], &group);
		ASSERT_EQ(0, rc(setsockopt(fd[i], IPPROTO_IP, IP_ADD_MEMBERSHIP,
					   &mreq, sizeof(mreq))));
	}
	address_make(&group, "239.1.2.3", address_port(&group));
	ASSERT_EQ(0, rc(setsockopt(out, IPPROTO_IP, IP_MULTICAST_IF, &mreq,
				   sizeof(mreq))));
	EXPECT_EQ(1, send_to(out, "m", 1, &group));
	for (int i = 0; i < 2; i++) {
		EXPECT_EQ(1, recv_soon(fd[i], &c, 1, 0));
		close(fd[i]);
	}
	close(out);
	check_ways(_metadata, self, variant, 0, variant->sender);
}

/* IPV6_ADDRFORM makes one that uses v4-mapped addresses one of IPv4, which works on. */
DGRAM_TEST(addrform)
{
	int want = variant->mapped ? 0 :
		   variant->family == AF_INET ? -ENOPROTOOPT : -EADDRNOTAVAIL;
	struct address name;
	char c;

	connect_sender(_metadata, self);
	EXPECT_EQ(want, set_option(self->sender, IPPROTO_IPV6, IPV6_ADDRFORM, AF_INET));
	EXPECT_EQ(variant->family, get_option(self->sender, SOL_SOCKET, SO_DOMAIN));
	ASSERT_EQ(0, peer_address(self->sender, &name));
	EXPECT_EQ(variant->family, name.sa.sa_family);
	EXPECT_EQ(1, rc(send(self->sender, "x", 1, 0)));
	EXPECT_EQ(1, recv_soon(self->receiver, &c, 1, 0));
	check_way(_metadata, self, variant, 1);
}

/* The first datagram of a socket gives it a port. */
DGRAM_TEST(first)
{
	int fd = sender_socket(variant);
	struct address a, from;
	char c;

	for (int i = 0; i < 2; i++) {
		ASSERT_EQ(1, send_to(fd, "x", 1, &self->addr));
		ASSERT_EQ(POLLIN, poll_one(self->receiver, POLLIN, SOON));
		from.len = sizeof(from.ss);
		ASSERT_EQ(1, rc(recvfrom(self->receiver, &c, 1, 0, &from.sa,
					 &from.len)));
		ASSERT_EQ(0, local_address(fd, &a));
		EXPECT_NE(0, address_port(&a));
		EXPECT_EQ(address_port(&a), address_port(&from));
	}
	close(fd);
	if (is_ours(variant) && !variant->link)
		check_ways(_metadata, self, variant, 1, 1);
}

static long udp_counter(const char *name, bool v4)
{
	char line[1024], heads[1024], *h, *v, *hs, *vs;
	long value = -1;
	FILE *f;

	if (!v4) {
		char want[64];

		f = fopen("/proc/self/net/snmp6", "r");
		if (!f)
			return -1;
		while (fscanf(f, "%63s %ld", want, &value) == 2)
			if (!strncmp(want, "Udp6", 4) && !strcmp(want + 4, name))
				break;
		fclose(f);
		return value;
	}
	f = fopen("/proc/self/net/snmp", "r");
	if (!f)
		return -1;
	while (fgets(heads, sizeof(heads), f) &&
	       fgets(line, sizeof(line), f)) {
		if (strncmp(heads, "Udp:", 4))
			continue;
		h = strtok_r(heads, "\n ", &hs);
		v = strtok_r(line, "\n ", &vs);
		while (h && v) {
			if (!strcmp(h, name))
				value = atol(v);
			h = strtok_r(NULL, "\n ", &hs);
			v = strtok_r(NULL, "\n ", &vs);
		}
	}
	fclose(f);
	return value;
}

/* /proc/net/snmp counts what UDP would. */
DGRAM_TEST_ONE_NODE(counted)
{
	bool v4 = variant->family == AF_INET;
	int in, out, got = 0;
	char buf[1000] = { };
	struct address a;

	alone(_metadata);
	in = receiver_socket(variant, &a);
	ASSERT_LE(0, in);
	out = sender_socket(variant);
	ASSERT_EQ(0, set_option(in, SOL_SOCKET, SO_RCVBUF, 1));
	for (int i = 0; i < 20; i++)
		ASSERT_EQ(1000, send_to(out, buf, 1000, &a));
	while (poll_one(in, POLLIN, A_WHILE)) {
		EXPECT_EQ(1000, rc(recv(in, buf, 1000, 0)));
		got++;
	}
	EXPECT_LE(1, got);
	EXPECT_EQ(20, udp_counter("OutDatagrams", v4));
	EXPECT_EQ(got, udp_counter("InDatagrams", v4));
	EXPECT_EQ(20 - got, udp_counter("RcvbufErrors", v4));
	EXPECT_EQ(20 - got, udp_counter("InErrors", v4));
	EXPECT_EQ(0, udp_counter("NoPorts", v4));
	close(in);
	close(out);
}

#define STRESS_SENDERS	3
#define STRESS_EACH	400

struct stress_msg {
	uint32_t sender;
	uint32_t n;
	unsigned char data[3000];
};

static long stress_send(struct task *t)
{
	const struct address *a = t->buf;
	struct stress_msg m = { .sender = t->flags };
	int fd = t->fd;

	for (m.n = 0; m.n < STRESS_EACH; m.n++) {
		size_t len = 8 + (m.n * 37 + t->flags) % sizeof(m.data);

		pattern_fill(m.data, len - 8, m.n);
		if (sendto(fd, &m, len, 0, &a->sa, a->len) != (ssize_t)len)
			return -1;
		/* So that not all of them are lost. */
		if (m.n % 16 == 0)
			sched_yield();
	}
	return 0;
}

/* Many senders: what arrives is whole, and not twice; over loop in order for each of them. */
DGRAM_TEST(many_senders)
{
	struct task t[STRESS_SENDERS];
	static bool seen[STRESS_SENDERS][STRESS_EACH];
	int last[STRESS_SENDERS], got = 0;
	struct address any;
	struct stress_msg m;
	ssize_t len;

	memset(seen, 0, sizeof(seen));
	set_option(self->receiver, SOL_SOCKET, SO_RCVBUFFORCE, 8 << 20);
	for (int i = 0; i < STRESS_SENDERS; i++) {
		last[i] = -1;
		t[i] = (struct task){ .fn = stress_send, .fd = sender_socket(variant),
				      .buf = &self->addr, .flags = i };
		address_make(&any, sender_family(variant) == AF_INET ? "0.0.0.0" : "::", 0);
		ASSERT_EQ(0, rc(bind(t[i].fd, &any.sa, any.len)));
		task_start(&t[i]);
	}
	while (poll_one(self->receiver, POLLIN,
			got < STRESS_SENDERS * STRESS_EACH ? 500 : A_WHILE)) {
		len = recv(self->receiver, &m, sizeof(m), 0);
		ASSERT_LE(8, len);
		ASSERT_GT(STRESS_SENDERS, m.sender);
		ASSERT_GT(STRESS_EACH, m.n);
		ASSERT_FALSE(seen[m.sender][m.n]);
		seen[m.sender][m.n] = true;
		/* UDP's are in another order where the sender has moved to another CPU. */
		if (is_ours(variant) && !variant->link)
			ASSERT_LT(last[m.sender], (int)m.n);
		ASSERT_TRUE(pattern_check(m.data, len - 8, m.n));
		last[m.sender] = m.n;
		got++;
	}
	for (int i = 0; i < STRESS_SENDERS; i++) {
		ASSERT_EQ(0, task_wait(&t[i]));
		EXPECT_EQ(0, t[i].ret);
		close(t[i].fd);
	}
	EXPECT_EQ(STRESS_SENDERS * STRESS_EACH, got);
	if (!variant->link)
		check_way(_metadata, self, variant, got);
}

static long flood(struct task *t)
{
	const struct address *a = t->buf;
	char buf[2000] = { };

	while (!*(volatile int *)&t->flags)
		sendto(t->fd, buf, sizeof(buf), MSG_DONTWAIT, &a->sa, a->len);
	return 0;
}

/* A receiver that comes and goes under a flood. */
DGRAM_TEST(receiver_goes)
{
	struct task t = { .fn = flood, .fd = self->sender, .buf = &self->addr };
	struct node_stats now;
	struct address own;
	char c;

	address_make(&own, own_address(variant), address_port(&self->addr));
	task_start(&t);
	for (int i = 0; i < 30; i++) {
		poll_one(self->receiver, POLLIN, A_WHILE);
		recv(self->receiver, &c, 1, MSG_DONTWAIT);
		close(self->receiver);
		self->receiver = dgram_socket(variant->receiver, variant->family);
		ASSERT_EQ(0, rc(bind(self->receiver, &own.sa, own.len)));
	}
	t.flags = 1;
	ASSERT_EQ(0, task_wait(&t));
	node_stats(&now);
	if (is_ours(variant))
		EXPECT_LT(self->before.v[own_stat(variant)], now.v[own_stat(variant)]);
}

/* MSG_ZEROCOPY is UDP's. */
DGRAM_TEST(zerocopy)
{
	static char buf[20000], in[20000];
	struct sock_extended_err *err;
	char ctl[200] __attribute__((aligned(8)));
	struct msghdr msg = { .msg_control = ctl, .msg_controllen = sizeof(ctl) };
	struct cmsghdr *m;

	connect_sender(_metadata, self);
	ASSERT_EQ(0, set_option(self->sender, SOL_SOCKET, SO_ZEROCOPY, 1));
	ASSERT_EQ(20000, rc(send(self->sender, buf, 20000, MSG_ZEROCOPY)));
	EXPECT_EQ(20000, recv_soon(self->receiver, in, 20000, 0));
	EXPECT_EQ(POLLERR, poll_one(self->sender, 0, SOON) & POLLERR);
	ASSERT_EQ(0, rc(recvmsg(self->sender, &msg, MSG_ERRQUEUE)));
	m = CMSG_FIRSTHDR(&msg);
	ASSERT_NE(NULL, m);
	err = (void *)CMSG_DATA(m);
	EXPECT_EQ(SO_EE_ORIGIN_ZEROCOPY, err->ee_origin);
}

int main(int argc, char **argv)
{
	choose_variants(&_dgram_fixture_object, DEFAULT_VARIANTS);
	return test_harness_run(argc, argv);
}
