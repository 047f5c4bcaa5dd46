// SPDX-License-Identifier: GPL-2.0
/* The same things very often, and many at once. */
#include <fcntl.h>
#include <sys/ioctl.h>

#define DEFAULT_VARIANTS "tcp4 loop fallback4"

#include "sanx_test.h"

/* More of it with SANX_STRESS=10, say; less on the debug kernel. */
static int times(int n)
{
	if (!strcmp(env_or("KERNEL", ""), "debug"))
		n /= 5;
	return n * atoi(env_or("SANX_STRESS", "1"));
}

/* Waits for what has much to do; the limit of the whole test ends what hangs. */
static int task_finish(struct task *t)
{
	int err, i;

	for (i = 0; i < 15; i++) {
		err = task_wait(t);
		if (err != -ETIMEDOUT)
			break;
	}
	return err;
}

/* Takes connections and reads each to its end, which must be a clean one. */
static long read_streams(struct task *t)
{
	unsigned char buf[4096];
	long total = 0;
	ssize_t n;
	int i, fd;

	for (i = 0; i < t->flags; i++) {
		fd = accept(t->fd, NULL, NULL);
		if (fd < 0)
			return -1;
		/* Blocking, and with poll(): two ways to lose the last bytes. */
		if (i & 1)
			set_nonblock(fd, true);
		for (;;) {
			if (i & 1 && poll_one(fd, POLLIN, SOON) <= 0) {
				errno = ETIME;
				return -1;
			}
			n = recv(fd, buf, sizeof(buf), 0);
			if (!n)
				break;
			if (n < 0)
				return -1;
			total += n;
		}
		close(fd);
	}
	t->len = total;
	return 0;
}

/* The end close behind the bytes: it must not overtake them. */
SANX_TEST(end_behind_data)
{
	struct task t = { .fn = read_streams, .fd = self->listener };
	char buf[512] = "";
	size_t total = 0, n;
	int i, fd;

	ASSERT_EQ(0, listen(self->listener, 4096));
	t.flags = times(1000);
	task_start(&t);
	for (i = 0; i < t.flags; i++) {
		fd = connect_to(variant, &self->addr);
		ASSERT_LE(0, fd);
		n = 1 + dice(sizeof(buf));
		ASSERT_EQ(n, send(fd, buf, n, 0));
		total += n;
		if (i % 3 == 0) {
			n = 1 + dice(sizeof(buf));
			ASSERT_EQ(n, send(fd, buf, n, 0));
			total += n;
		}
		if (i & 2)
			ASSERT_EQ(0, shutdown(fd, SHUT_WR));
		close(fd);
	}
	ASSERT_EQ(0, task_finish(&t));
	ASSERT_EQ(0, t.ret);
	EXPECT_EQ(total, t.len);
}

static int port_range(const char *set, char *was, size_t len)
{
	int fd = open("/proc/sys/net/ipv4/ip_local_port_range", O_RDWR);
	ssize_t n;

	if (fd < 0)
		return -errno;
	if (was) {
		n = read(fd, was, len - 1);
		was[n > 0 ? n : 0] = 0;
	}
	n = pwrite(fd, set, strlen(set), 0);
	close(fd);
	return n < 0 ? -errno : 0;
}

/* A port that is not given back is soon missed where there are few. */
SANX_TEST(ports_come_back)
{
	struct address deaf;
	char was[64];
	int i, c = 0, s = 0;

	deaf_address(variant, &deaf);
	ASSERT_EQ(0, port_range("52000 52031", was, sizeof(was)));
	for (i = 0; i < times(300) && c >= 0 && s >= 0; i++) {
		c = connect_to(variant, &self->addr);
		s = rc(accept(self->listener, NULL, NULL));
		if (i & 1)
			close(s);
		close_reset(c);
		if (!(i & 1))
			close(s);
	}
	EXPECT_LE(0, c);
	EXPECT_LE(0, s);
	for (i = 0; i < times(100); i++) {
		c = connect_to(variant, &deaf);
		EXPECT_EQ(-ECONNREFUSED, c);
		if (c != -ECONNREFUSED)
			break;
	}
	EXPECT_EQ(0, port_range(was, NULL, 0));
	self->fallbacks = i;
}

/* Connections that are begun and given up at once, to where nobody is too. */
SANX_TEST(begun_and_dropped)
{
	struct address deaf;
	int i, fd, s;

	deaf_address(variant, &deaf);
	ASSERT_EQ(0, set_nonblock(self->listener, true));
	for (i = 0; i < times(300); i++) {
		const struct address *a = i & 1 ? &deaf : &self->addr;

		fd = client_socket(variant);
		ASSERT_LE(0, fd);
		set_nonblock(fd, true);
		ASSERT_EQ(-EINPROGRESS, rc(connect(fd, &a->sa, a->len)));
		if (i % 3 == 0)
			poll_one(fd, POLLOUT, 0);
		if (i % 5 == 0)
			shutdown(fd, SHUT_RDWR);
		close(fd);
		s = accept(self->listener, NULL, NULL);
		if (s >= 0)
			close(s);
	}
	/* Closed before the other node's answer, one does not fall back. */
	self->fallbacks = variant->carried == SANX_A_STATS_CONNS_VERBS ?
			  ANY_FALLBACKS : i / 2;
}

/* A client of clients_and_servers: asks, and checks the answer. */
static long ask(struct task *t)
{
	const struct address *a = t->buf;
	unsigned char buf[3000], back[3000];
	size_t n;
	int i, fd;

	for (i = 0; i < t->flags; i++) {
		fd = stream_socket(t->len & 1, a->sa.sa_family);
		if (fd < 0 || connect(fd, &a->sa, a->len))
			return -1;
		n = 1 + dice(sizeof(buf));
		pattern_fill(buf, n, i);
		if (send(fd, buf, n, 0) != (ssize_t)n ||
		    shutdown(fd, SHUT_WR) ||
		    recv_exact(fd, back, sizeof(back)) != (ssize_t)n ||
		    memcmp(buf, back, n)) {
			errno = EBADMSG;
			return -1;
		}
		close(fd);
	}
	return 0;
}

/* Sends back what comes, until its listener is shut down. */
static long answer(struct task *t)
{
	unsigned char buf[500];
	ssize_t n;
	int fd;

	while ((fd = accept(t->fd, NULL, NULL)) >= 0) {
		while ((n = recv(fd, buf, sizeof(buf), 0)) > 0)
			if (send(fd, buf, n, MSG_NOSIGNAL) != n)
				return -1;
		close(fd);
	}
	return errno == EINVAL ? 0 : -1;
}

#define CLIENTS 4
#define SERVERS 3

SANX_TEST(clients_and_servers)
{
	struct task c[CLIENTS] = {}, s[SERVERS] = {};
	int i;

	for (i = 0; i < SERVERS; i++) {
		s[i].fn = answer;
		s[i].fd = self->listener;
		task_start(&s[i]);
	}
	for (i = 0; i < CLIENTS; i++) {
		c[i].fn = ask;
		c[i].buf = &self->addr;
		c[i].len = variant->client;
		c[i].flags = times(50);
		task_start(&c[i]);
	}
	for (i = 0; i < CLIENTS; i++) {
		ASSERT_EQ(0, task_finish(&c[i]));
		EXPECT_EQ(0, c[i].ret);
	}
	EXPECT_EQ(0, shutdown(self->listener, SHUT_RD));
	for (i = 0; i < SERVERS; i++) {
		ASSERT_EQ(0, task_finish(&s[i]));
		EXPECT_EQ(0, s[i].ret);
	}
}

/* Connects over and over, until there is no more listener; never hangs. */
static long connect_often(struct task *t)
{
	const struct address *a = t->buf;
	long n = 0;
	int fd;
	char c;

	for (;;) {
		fd = stream_socket(t->len, a->sa.sa_family);
		if (connect(fd, &a->sa, a->len))
			return errno == ECONNREFUSED || errno == ECONNRESET ?
			       n : -1;
		/* TCP forgets clients that come as the listener goes. */
		if (t->flags)
			set_timeout(fd, SO_RCVTIMEO, A_WHILE);
		/* Closed, or dropped with the backlog. */
		if (recv(fd, &c, 1, 0) < 0 && errno != ECONNRESET && errno != EPIPE &&
		    !(t->flags && errno == EAGAIN))
			return -1;
		close(fd);
		n++;
	}
}

/* Listeners that go while clients come. */
SANX_TEST(listener_goes)
{
	struct task t[2] = {};
	struct address a;
	int i, k, l, s, n;

	for (k = 0; k < times(30); k++) {
		l = listen_any(variant, 64, &a);
		ASSERT_LE(0, l);
		for (i = 0; i < 2; i++) {
			t[i].fn = connect_often;
			t[i].buf = &a;
			t[i].len = variant->client;
			t[i].flags = is_tcp(variant);
			task_start(&t[i]);
		}
		for (n = 0; n < 3; n++) {
			s = rc(accept(l, NULL, NULL));
			ASSERT_LE(0, s);
			close(s);
		}
		close(l);
		for (i = 0; i < 2; i++) {
			ASSERT_EQ(0, task_finish(&t[i]));
			ASSERT_LE(0, t[i].ret);
		}
	}
	/* Some may find no listener of AF_SANX any more, and TCP's still. */
	self->fallbacks = ANY_FALLBACKS;
}

/* One of the calls that can be made, on one of two sockets. */
static void any_call(int fd)
{
	struct address a;
	char buf[5000];
	int n;

	switch (dice(12)) {
	case 0:
	case 1:
	case 2:
		send(fd, buf, dice(sizeof(buf)), MSG_DONTWAIT | MSG_NOSIGNAL);
		break;
	case 3:
	case 4:
	case 5:
		recv(fd, buf, dice(sizeof(buf)), MSG_DONTWAIT |
		     (dice(4) ? 0 : MSG_PEEK) | (dice(4) ? 0 : MSG_TRUNC));
		break;
	case 6:
		poll_one(fd, POLLIN | POLLOUT, dice(2));
		break;
	case 7:
		peer_address(fd, &a);
		break;
	case 8:
		ioctl(fd, FIONREAD, &n);
		break;
	case 9:
		set_option(fd, SOL_SOCKET, SO_RCVBUF, 2000 + dice(100000));
		break;
	case 10:
		get_option(fd, SOL_SOCKET, SO_ERROR);
		break;
	case 11:
		if (dice(100) == 0)
			shutdown(fd, dice(3));
		break;
	}
}

static long monkey(struct task *t)
{
	int i;

	for (i = 0; i < t->flags; i++)
		any_call(((int *)t->buf)[dice(2)]);
	return 0;
}

/* No call harms another, whatever comes of it. */
SANX_TEST(any_calls)
{
	struct task t[3] = {};
	int i, round;

	for (round = 0; round < times(5); round++) {
		for (i = 0; i < 3; i++) {
			t[i].fn = monkey;
			t[i].buf = self->end;
			t[i].flags = 400;
			task_start(&t[i]);
		}
		for (i = 0; i < 3; i++)
			ASSERT_EQ(0, task_finish(&t[i]));
		if (round & 1)
			close_reset(self->client);
		else
			close(self->client);
		close(self->server);
		connect_pair(_metadata, self, variant, &self->client,
			     &self->server);
	}
}

#define INQ_BYTES	300000

static long send_inq(struct task *t)
{
	return send_pattern(t->fd, INQ_BYTES, 1000, 0);
}

static long recv_inq(struct task *t)
{
	return recv_pattern(t->fd, INQ_BYTES, 700, 0);
}

/* Who asks how much there is, while it comes and goes, has a possible answer. */
SANX_TEST(fionread_of_a_stream)
{
	struct task t[2] = {
		{ .fn = send_inq, .fd = self->client },
		{ .fn = recv_inq, .fd = self->server },
	};
	int i, n, asked = 0;

	for (i = 0; i < 2; i++)
		task_start(&t[i]);
	while (!t[0].done || !t[1].done) {
		ASSERT_EQ(0, ioctl(self->server, FIONREAD, &n));
		ASSERT_LE(0, n);
		ASSERT_GE(INQ_BYTES, n);
		/* On one CPU the others want it, too. */
		if (!(++asked % 16))
			usleep(200);
	}
	for (i = 0; i < 2; i++) {
		ASSERT_EQ(0, task_finish(&t[i]));
		EXPECT_EQ(0, t[i].ret);
	}
}

/* Many connections at once, each with its own bytes. */
SANX_TEST(many_connections)
{
	enum { N = 100 };
	int c[N], s[N], i, round;
	char buf[100];

	for (i = 0; i < N; i++)
		connect_pair(_metadata, self, variant, &c[i], &s[i]);
	for (round = 0; round < 3; round++) {
		for (i = 0; i < N; i++) {
			pattern_fill(buf, sizeof(buf), i * 1000 + round);
			ASSERT_EQ(100, send(c[i], buf, 100, 0));
		}
		for (i = N - 1; i >= 0; i--)
			ASSERT_EQ(0, recv_pattern(s[i], 100, 100,
						  i * 1000 + round));
	}
	for (i = 0; i < N; i++)
		close(dice(2) ? c[i] : s[i]);
}

SANX_TEST_MAIN
