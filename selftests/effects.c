// SPDX-License-Identifier: GPL-2.0
/*
 * What socket options do, beyond being set and read.
 *
 * clock: host how long time-outs are
 */
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <time.h>
#include <linux/net_tstamp.h>

#include "sanx_test.h"

/* A control message of recvmsg(), or NULL. */
static void *receive_cmsg(int fd, int level, int type, ssize_t *n)
{
	static union {
		char buf[256];
		struct cmsghdr align;
	} control;
	static char data[64];
	struct iovec iov = { data, sizeof(data) };
	struct msghdr msg = {
		.msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = &control, .msg_controllen = sizeof(control),
	};
	struct cmsghdr *c;

	*n = rc(recvmsg(fd, &msg, 0));
	for (c = CMSG_FIRSTHDR(&msg); c; c = CMSG_NXTHDR(&msg, c))
		if (c->cmsg_level == level && c->cmsg_type == type)
			return CMSG_DATA(c);
	return NULL;
}

static long wall_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	return ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

SANX_TEST(timestamp)
{
	static const int name[] = { SO_TIMESTAMP, SO_TIMESTAMPNS };
	long before, *ts;
	unsigned int i;
	ssize_t n;

	EXPECT_EQ(1, send(self->client, "x", 1, 0));
	EXPECT_EQ(NULL, receive_cmsg(self->server, SOL_SOCKET, SO_TIMESTAMP,
				     &n));
	EXPECT_EQ(1, n);
	for (i = 0; i < ARRAY_SIZE(name); i++) {
		EXPECT_EQ(0, set_option(self->server, SOL_SOCKET, name[i], 1));
		/* TCP turns its stamps on a moment later. */
		sleep_ms(A_WHILE);
		before = wall_ms();
		EXPECT_EQ(2, send(self->client, "xy", 2, 0));
		EXPECT_EQ(POLLIN, poll_one(self->server, POLLIN, SOON));
		ts = receive_cmsg(self->server, SOL_SOCKET, name[i], &n);
		EXPECT_EQ(2, n);
		ASSERT_NE(NULL, ts);
		ts[0] = ts[0] * 1000 + ts[1] / (i ? 1000000 : 1000);
		EXPECT_LE(before, ts[0]);
		EXPECT_GE(wall_ms(), ts[0]);
		EXPECT_EQ(0, set_option(self->server, SOL_SOCKET, name[i], 0));
	}
	EXPECT_EQ(1, send(self->client, "x", 1, 0));
	EXPECT_EQ(NULL, receive_cmsg(self->server, SOL_SOCKET, SO_TIMESTAMP,
				     &n));
}

SANX_TEST(timestamping)
{
	struct timespec *ts;
	ssize_t n;

	EXPECT_EQ(0, set_option(self->server, SOL_SOCKET, SO_TIMESTAMPING,
				SOF_TIMESTAMPING_RX_SOFTWARE |
				SOF_TIMESTAMPING_SOFTWARE));
	sleep_ms(A_WHILE);
	EXPECT_EQ(1, send(self->client, "x", 1, 0));
	ts = receive_cmsg(self->server, SOL_SOCKET, SO_TIMESTAMPING, &n);
	EXPECT_EQ(1, n);
	ASSERT_NE(NULL, ts);
	EXPECT_NE(0, ts[0].tv_sec);
	EXPECT_EQ(0, ts[1].tv_sec);
	EXPECT_EQ(0, ts[2].tv_sec);
}

SANX_TEST(inq)
{
	char buf[100] = {};
	ssize_t n;
	int *inq;

	EXPECT_EQ(0, set_option(self->server, SOL_TCP, TCP_INQ, 1));
	EXPECT_EQ(0, set_option(self->server, SOL_SOCKET, SO_RCVLOWAT, 100));
	EXPECT_EQ(100, send(self->client, buf, 100, 0));
	EXPECT_EQ(POLLIN, poll_one(self->server, POLLIN, SOON));
	EXPECT_EQ(0, set_option(self->server, SOL_SOCKET, SO_RCVLOWAT, 1));
	inq = receive_cmsg(self->server, SOL_TCP, TCP_CM_INQ, &n);
	EXPECT_EQ(64, n);
	ASSERT_NE(NULL, inq);
	EXPECT_EQ(36, *inq);
	inq = receive_cmsg(self->server, SOL_TCP, TCP_CM_INQ, &n);
	EXPECT_EQ(36, n);
	ASSERT_NE(NULL, inq);
	EXPECT_EQ(0, *inq);
	/* After the end, there is the end to be read. */
	EXPECT_EQ(0, shutdown(self->client, SHUT_WR));
	inq = receive_cmsg(self->server, SOL_TCP, TCP_CM_INQ, &n);
	EXPECT_EQ(0, n);
	ASSERT_NE(NULL, inq);
	EXPECT_EQ(1, *inq);
}

/* A lower SO_RCVLOWAT lets a poll() see what is there already. */
SANX_TEST(rcvlowat)
{
	EXPECT_EQ(0, set_option(self->server, SOL_SOCKET, SO_RCVLOWAT, 100));
	EXPECT_EQ(10, send(self->client, "0123456789", 10, 0));
	EXPECT_EQ(0, poll_one(self->server, POLLIN, A_WHILE));
	EXPECT_EQ(0, set_option(self->server, SOL_SOCKET, SO_RCVLOWAT, 10));
	EXPECT_EQ(POLLIN, poll_one(self->server, POLLIN, SOON));
}

/* What an edge-triggered epoll says within @ms; 0 for nothing. */
static unsigned int edge(int ep, int ms)
{
	struct epoll_event ev = {};

	return epoll_wait(ep, &ev, 1, ms) == 1 ? ev.events : 0;
}

/*
 * An arrival below SO_RCVLOWAT is no event.  A step sends or reads so many bytes or sets that
 * mark.
 */
SANX_TEST(rcvlowat_edges)
{
	static const unsigned int in = EPOLLIN | EPOLLOUT;
	static const struct {
		int send, recv, mark;
		unsigned int event;
	} step[] = {
		{ .mark = 1000 },
		{ .send = 300 }, { .send = 300 }, { .send = 300 },
		{ .send = 300, .event = in },
		{ .recv = 700 }, { .send = 100 },
		{ .mark = 200, .event = in },
		{ .send = 100, .event = in },
		{ .recv = 700 }, { .mark = 1000 }, { .send = 10 },
	};
	struct epoll_event ev = { .events = in | EPOLLRDHUP | EPOLLET };
	int ep = epoll_create1(0), left = 0, n;
	char buf[1000] = {};
	unsigned int i;

	ASSERT_EQ(0, set_option(self->client, SOL_TCP, TCP_NODELAY, 1));
	ASSERT_EQ(0, epoll_ctl(ep, EPOLL_CTL_ADD, self->server, &ev));
	ASSERT_EQ(EPOLLOUT, edge(ep, SOON));
	for (i = 0; i < ARRAY_SIZE(step); i++) {
		if (step[i].mark)
			ASSERT_EQ(0, set_option(self->server, SOL_SOCKET, SO_RCVLOWAT,
						step[i].mark));
		if (step[i].recv)
			left -= recv(self->server, buf, step[i].recv, MSG_DONTWAIT);
		if (step[i].send)
			left += send(self->client, buf, step[i].send, 0);
		do {
			ASSERT_EQ(0, ioctl(self->server, FIONREAD, &n));
		} while (n != left);
		EXPECT_EQ(step[i].event, edge(ep, step[i].event ? SOON : A_WHILE))
			TH_LOG("step %u", i);
	}
	EXPECT_EQ(0, shutdown(self->client, SHUT_WR));
	EXPECT_EQ(in | EPOLLRDHUP, edge(ep, SOON));
}

/* A recv() of fewer bytes than SO_RCVLOWAT waits for these only.  TCP's waits for the mark. */
SANX_TEST_OF("loop verbs", rcvlowat_recv)
{
	char buf[10];
	struct task t = { .fn = task_recv, .fd = self->server, .buf = buf, .len = 10 };

	EXPECT_EQ(0, set_option(self->server, SOL_SOCKET, SO_RCVLOWAT, 100));
	task_start(&t);
	ASSERT_TRUE(task_blocked(&t));
	EXPECT_EQ(10, send(self->client, "0123456789", 10, 0));
	ASSERT_EQ(0, task_wait(&t));
	EXPECT_EQ(10, t.ret);
}

/* TCP_DEFER_ACCEPT: data, the end of them, or time make a client acceptable. */
SANX_TEST(defer_accept)
{
	struct address a;
	int l = listen_any(variant, 8, &a), c, s;
	char buf[8];

	self->fallbacks = ANY_FALLBACKS;
	set_nonblock(l, true);
	EXPECT_EQ(0, set_option(l, SOL_TCP, TCP_DEFER_ACCEPT, 20));
	c = connect_to(variant, &a);
	ASSERT_LE(0, c);
	EXPECT_EQ(0, poll_one(l, POLLIN, LIMIT));
	EXPECT_EQ(-EAGAIN, rc(accept(l, NULL, NULL)));
	EXPECT_EQ(5, send(c, "hello", 5, 0));
	EXPECT_EQ(POLLIN, poll_one(l, POLLIN, SOON));
	s = rc(accept(l, NULL, NULL));
	ASSERT_LE(0, s);
	EXPECT_EQ(5, recv_exact(s, buf, 5));
	close(s);
	close(c);

	c = connect_to(variant, &a);
	ASSERT_LE(0, c);
	EXPECT_EQ(0, poll_one(l, POLLIN, A_WHILE));
	close(c);
	EXPECT_EQ(POLLIN, poll_one(l, POLLIN, SOON));
	s = rc(accept(l, NULL, NULL));
	ASSERT_LE(0, s);
	EXPECT_EQ(0, rc(recv(s, buf, 1, 0)));
	close(s);

	/* Clients without data go with the listener; TCP's hear of it when they send. */
	c = connect_to(variant, &a);
	ASSERT_LE(0, c);
	close(l);
	if (!poll_one(c, 0, A_WHILE))
		EXPECT_EQ(1, rc(send(c, "x", 1, 0)));
	EXPECT_EQ(POLLHUP, poll_one(c, 0, SOON) & POLLHUP);
	EXPECT_EQ(ECONNRESET, get_option(c, SOL_SOCKET, SO_ERROR));
	close(c);
}

SANX_TEST(defer_accept_timeout)
{
	struct address a;
	int l = listen_any(variant, 8, &a), c, s;
	long start = now_ms();

	self->fallbacks = ANY_FALLBACKS;
	EXPECT_EQ(0, set_option(l, SOL_TCP, TCP_DEFER_ACCEPT, 1));
	EXPECT_EQ(1, get_option(l, SOL_TCP, TCP_DEFER_ACCEPT));
	c = connect_to(variant, &a);
	ASSERT_LE(0, c);
	s = rc(accept(l, NULL, NULL));
	ASSERT_LE(0, s);
	EXPECT_LE(500, now_ms() - start);
	EXPECT_EQ(1, send(c, "x", 1, 0));
	EXPECT_EQ(POLLIN, poll_one(s, POLLIN, SOON));
	close(s);
	close(c);
	close(l);
}

/* What a filter is to keep out is kept out. */
SANX_TEST(filter_on_client)
{
	int fd = client_socket(variant);

	EXPECT_EQ(0, attach_program(fd, SO_ATTACH_FILTER, 0));
	EXPECT_EQ(0, set_timeout(fd, SO_SNDTIMEO, LIMIT));
	EXPECT_EQ(-EINPROGRESS, rc(connect(fd, &self->addr.sa,
					   self->addr.len)));
	close(fd);
	self->fallbacks = 1;
}

SANX_TEST(filter_on_listener)
{
	int fd = client_socket(variant), s;
	struct address a;
	int l = listen_any(variant, 8, &a);

	EXPECT_EQ(0, attach_program(l, SO_ATTACH_FILTER, 0));
	EXPECT_EQ(0, set_timeout(fd, SO_SNDTIMEO, LIMIT));
	EXPECT_EQ(-EINPROGRESS, rc(connect(fd, &a.sa, a.len)));
	close(fd);
	/* And no longer. */
	EXPECT_EQ(0, set_option(l, SOL_SOCKET, SO_DETACH_FILTER, 0));
	fd = connect_to(variant, &a);
	ASSERT_LE(0, fd);
	s = rc(accept(l, NULL, NULL));
	ASSERT_LE(0, s);
	EXPECT_EQ(0, get_option(fd, SOL_SOCKET, SO_ERROR));
	close(l);
	close(fd);
	close(s);
	self->fallbacks = 1;
}

static int shared_listener(struct __test_metadata *_metadata,
			   const FIXTURE_VARIANT(stream) *variant,
			   struct address *a)
{
	int fd = server_socket(variant);

	ASSERT_EQ(0, set_option(fd, SOL_SOCKET, SO_REUSEPORT, 1));
	ASSERT_EQ(0, rc(bind(fd, &a->sa, a->len)));
	ASSERT_EQ(0, rc(listen(fd, 8)));
	local_address(fd, a);
	return fd;
}

/* The program says which of the listeners: always the second. */
SANX_TEST(reuseport_program)
{
	struct address a;
	int l[2], c, s;

	address_make(&a, variant_address(variant), 0);
	for (int i = 0; i < 2; i++)
		l[i] = shared_listener(_metadata, variant, &a);
	EXPECT_EQ(0, attach_program(l[0], SO_ATTACH_REUSEPORT_CBPF, 1));
	for (int i = 0; i < 6; i++) {
		c = connect_to(variant, &a);
		ASSERT_LE(0, c);
		EXPECT_EQ(POLLIN, poll_one(l[1], POLLIN, SOON));
		s = rc(accept(l[1], NULL, NULL));
		ASSERT_LE(0, s);
		close(c);
		close(s);
	}
	EXPECT_EQ(0, poll_one(l[0], POLLIN, 0));
	close(l[0]);
	close(l[1]);
	self->fallbacks = 12;
}

/* IPsec, hops, devices: what is for the IP stack makes a socket TCP. */
SANX_TEST(needs_stack)
{
	int v4 = variant->family == AF_INET, fd, s;

	fd = client_socket(variant);
	EXPECT_EQ(0, set_option(fd, v4 ? SOL_IP : SOL_IPV6,
				v4 ? IP_MINTTL : IPV6_MINHOPCOUNT, 1));
	EXPECT_EQ(0, rc(connect(fd, &self->addr.sa, self->addr.len)));
	s = rc(accept(self->listener, NULL, NULL));
	ASSERT_LE(0, s);
	close(s);
	close(fd);
	self->fallbacks = 2;
}

/* A connect() that is bound to the loopback device. */
static int connect_by_lo(struct __test_metadata *_metadata, int fd,
			 const struct address *a)
{
	EXPECT_EQ(0, rc(setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, "lo", 2)));
	EXPECT_EQ(0, set_timeout(fd, SO_SNDTIMEO, LIMIT));
	return rc(connect(fd, &a->sa, a->len));
}

/* What TCP cannot reach by lo, as a node's own address, AF_SANX does not either. */
SANX_TEST(bound_to_device)
{
	int l, fd = client_socket(variant), tcp, want, s;
	struct address a;

	l = stream_socket(false, variant->family);
	address_make(&a, variant_address(variant), 0);
	ASSERT_EQ(0, rc(bind(l, &a.sa, a.len)));
	ASSERT_EQ(0, rc(listen(l, 1)));
	local_address(l, &a);
	tcp = stream_socket(false, variant->family);
	want = connect_by_lo(_metadata, tcp, &a);
	EXPECT_EQ(variant->carried == SANX_A_STATS_CONNS_VERBS, want != 0);
	EXPECT_EQ(want, connect_by_lo(_metadata, fd, &self->addr));
	if (!want) {
		s = rc(accept(self->listener, NULL, NULL));
		ASSERT_LE(0, s);
		close(s);
	}
	close(fd);
	close(tcp);
	close(l);
	self->fallbacks = want ? 1 : 2;
}

/* kTLS: refused before it has keys, so that all bytes stay what they are. */
SANX_TEST(ktls)
{
	char keys[40] = { 3, 3, 51 };
	int err;

	if (variant->carried) {
		EXPECT_EQ(-ENOPROTOOPT,
			  rc(setsockopt(self->client, SOL_TCP, TCP_ULP, "tls",
					4)));
		err = rc(setsockopt(self->client, 282, 1, keys, sizeof(keys)));
		EXPECT_EQ(-ENOPROTOOPT, err);
	}
	check_works(_metadata, self->end);
}

/* IPV6_ADDRFORM must not take a connection's ops away. */
SANX_TEST(addrform)
{
	struct address v4, v6;
	int l, c, s, end[2];
	int want = variant->carried ? -ENOPROTOOPT : 0;

	if (variant->family != AF_INET6) {
		EXPECT_EQ(-ENOPROTOOPT, set_option(self->client, SOL_IPV6,
						   IPV6_ADDRFORM, AF_INET));
		check_works(_metadata, self->end);
		return;
	}
	l = stream_socket(variant->server, AF_INET);
	address_make(&v4, variant->carried == SANX_A_STATS_CONNS_VERBS ?
		     env_or("SANX_ADDR4", "10.77.0.1") : "127.0.0.1", 0);
	ASSERT_EQ(0, rc(bind(l, &v4.sa, v4.len)));
	ASSERT_EQ(0, rc(listen(l, 1)));
	local_address(l, &v4);
	address_map(&v6, &v4);
	c = client_socket(variant);
	EXPECT_EQ(-ENOTCONN, set_option(c, SOL_IPV6, IPV6_ADDRFORM, AF_INET));
	ASSERT_EQ(0, rc(connect(c, &v6.sa, v6.len)));
	s = rc(accept(l, NULL, NULL));
	ASSERT_LE(0, s);
	EXPECT_EQ(AF_INET6, get_option(c, SOL_IPV6, IPV6_ADDRFORM));
	EXPECT_EQ(want, set_option(c, SOL_IPV6, IPV6_ADDRFORM, AF_INET));
	EXPECT_EQ(want ? AF_INET6 : AF_INET,
		  get_option(c, SOL_SOCKET, SO_DOMAIN));
	end[0] = c;
	end[1] = s;
	check_works(_metadata, end);
	close(c);
	close(s);
	close(l);
	self->fallbacks = ANY_FALLBACKS;
}

SANX_TEST_MAIN
