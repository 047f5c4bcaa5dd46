// SPDX-License-Identifier: GPL-2.0
/*
 * Each call with each of its allocations failing: it fails with an error of
 * af_sanx(7), or does without.  What it took arrives, and the next one works.
 *
 * kernels: um
 * no siw: no allocation of ours depends on the device
 * full: each allocation of each call takes minutes
 */
#include <liburing.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/sendfile.h>

#include <linux/sockios.h>

#include "fault_test.h"
#include "sanx_test.h"

/* Bytes that go behind a try. */
#define BEHIND	5000

static void finish(struct __test_metadata *_metadata, FIXTURE_DATA(stream) *self,
		   const FIXTURE_VARIANT(stream) *variant, const struct faults *f,
		   const char *name)
{
	EXPECT_EQ(0, fault_report(f, name));
	check_pair(_metadata, self, variant);
	end_faults(_metadata, variant);
}

SANX_TEST(make_socket)
{
	int protocol = variant->client && variant->family == AF_INET6 ? SANXPROTO_INET6 : 0;
	int family = variant->client ? node_family() : variant->family;
	struct faults f = {};

	begin(_metadata, self, variant);
	while (fault_next(&f)) {
		int fd = FAULT(&f, socket(family, SOCK_STREAM, protocol));

		EXPECT_TRUE(fd >= 0 || no_socket(fd));
		if (fd >= 0)
			EXPECT_EQ(0, rc(close(fd)));
	}
	finish(_metadata, self, variant, &f, "socket");
}

SANX_TEST(bind)
{
	struct faults f = {};
	struct address a;

	begin(_metadata, self, variant);
	while (fault_next(&f)) {
		int fd = server_socket(variant);

		address_make(&a, variant_address(variant), 0);
		if (FAULT(&f, bind(fd, &a.sa, a.len))) {
			EXPECT_TRUE(no_port(f.ret));
			EXPECT_EQ(0, rc(bind(fd, &a.sa, a.len)));
		}
		EXPECT_EQ(0, rc(listen(fd, 1)));
		close(fd);
	}
	finish(_metadata, self, variant, &f, "bind");
}

SANX_TEST(listen)
{
	struct faults f = { .none = true };
	struct address a;

	begin(_metadata, self, variant);
	while (fault_next(&f)) {
		int fd = server_socket(variant), end[2];

		address_make(&a, variant_address(variant), 0);
		ASSERT_EQ(0, rc(bind(fd, &a.sa, a.len)));
		if (FAULT(&f, listen(fd, 8))) {
			EXPECT_TRUE(no_port(f.ret));
			EXPECT_EQ(0, rc(listen(fd, 8)));
		}
		local_address(fd, &a);
		end[0] = connect_to(variant, &a);
		ASSERT_LE(0, end[0]);
		end[1] = rc(accept(fd, NULL, NULL));
		ASSERT_LE(0, end[1]);
		check_works(_metadata, end);
		close(end[0]);
		close(end[1]);
		close(fd);
	}
	finish(_metadata, self, variant, &f, "listen");
}

/* Connects; @nonblock does it by EINPROGRESS and poll().  0 or -errno. */
static long connect_faulty(struct faults *f, int fd, const struct address *a, bool nonblock)
{
	if (!nonblock)
		return FAULT(f, connect(fd, &a->sa, a->len));
	set_nonblock(fd, true);
	if (FAULT(f, connect(fd, &a->sa, a->len)) != -EINPROGRESS)
		goto out;
	f->ret = -ETIMEDOUT;
	if (poll_one(fd, POLLOUT, SOON) & POLLOUT)
		f->ret = -get_option(fd, SOL_SOCKET, SO_ERROR);
out:
	set_nonblock(fd, false);
	return f->ret;
}

static void connects(struct __test_metadata *_metadata, FIXTURE_DATA(stream) *self,
		     const FIXTURE_VARIANT(stream) *variant, bool nonblock,
		     const char *name)
{
	struct faults f = {};
	struct address a;

	begin(_metadata, self, variant);
	while (fault_next(&f)) {
		int l = listen_any(variant, 8, &a), end[2];

		end[0] = client_socket(variant);
		ASSERT_LE(0, end[0]);
		if (connect_faulty(&f, end[0], &a, nonblock)) {
			EXPECT_TRUE(no_memory(f.ret)) TH_LOG("fault %d: %ld", f.nth, f.ret);
			/* One that failed can try again. */
			EXPECT_EQ(0, rc(connect(end[0], &a.sa, a.len)));
		}
		end[1] = rc(accept(l, NULL, NULL));
		ASSERT_LE(0, end[1]);
		check_works(_metadata, end);
		close(end[0]);
		close(end[1]);
		close(l);
	}
	finish(_metadata, self, variant, &f, name);
}

SANX_TEST(connect)
{
	connects(_metadata, self, variant, false, "connect");
}

SANX_TEST(connect_nonblock)
{
	connects(_metadata, self, variant, true, "connect, O_NONBLOCK");
}

SANX_TEST(connect_refused)
{
	struct faults f = {};
	struct address a;

	begin(_metadata, self, variant);
	while (fault_next(&f)) {
		int fd = client_socket(variant);

		deaf_address(variant, &a);
		FAULT(&f, connect(fd, &a.sa, a.len));
		EXPECT_TRUE(f.ret == -ECONNREFUSED || no_memory(f.ret))
			TH_LOG("fault %d: %ld", f.nth, f.ret);
		close(fd);
	}
	finish(_metadata, self, variant, &f, "connect, refused");
}

/* A connection that accept() has no memory for is kept, or is lost to both ends. */
SANX_TEST(accept)
{
	struct faults f = {};
	struct address a;
	char c;

	begin(_metadata, self, variant);
	while (fault_next(&f)) {
		int l = listen_any(variant, 8, &a), end[2];

		end[0] = connect_to(variant, &a);
		ASSERT_LE(0, end[0]);
		ASSERT_EQ(POLLIN, poll_one(l, POLLIN, SOON));
		end[1] = FAULT(&f, accept(l, NULL, NULL));
		if (end[1] < 0) {
			EXPECT_TRUE(no_socket(end[1])) TH_LOG("fault %d: %d", f.nth, end[1]);
			set_nonblock(l, true);
			end[1] = rc(accept(l, NULL, NULL));
		}
		if (end[1] >= 0) {
			check_works(_metadata, end);
			close(end[1]);
		} else {
			EXPECT_EQ(-EAGAIN, end[1]);
			EXPECT_GE(0, rc(recv(end[0], &c, 1, 0)));
		}
		close(end[0]);
		close(l);
	}
	finish(_metadata, self, variant, &f, "accept");
}

/* A way to send @len bytes of @buf. */
typedef ssize_t (*send_fn)(int fd, const void *buf, size_t len);

static ssize_t send_plain(int fd, const void *buf, size_t len)
{
	return send(fd, buf, len, MSG_NOSIGNAL);
}

static ssize_t send_nowait(int fd, const void *buf, size_t len)
{
	return send(fd, buf, len, MSG_NOSIGNAL | MSG_DONTWAIT);
}

static ssize_t send_zerocopy(int fd, const void *buf, size_t len)
{
	return send(fd, buf, len, MSG_NOSIGNAL | MSG_ZEROCOPY);
}

/* What sendfile() sends: the pattern, from its beginning. */
static int file;

static ssize_t send_file(int fd, const void *buf, size_t len)
{
	off_t at = 0;

	return sendfile(fd, file, &at, len);
}

static struct io_uring ring;

/* A request that was not taken, for lack of memory, is still in the ring. */
static ssize_t send_uring(int fd, const void *buf, size_t len)
{
	struct io_uring_sqe *sqe = io_uring_get_sqe(&ring);
	struct io_uring_cqe *cqe;
	int res;

	io_uring_prep_send(sqe, fd, buf, len, MSG_NOSIGNAL);
	while (io_uring_submit(&ring) < 1)
		;
	while (io_uring_wait_cqe(&ring, &cqe))
		;
	res = cqe->res;
	io_uring_cqe_seen(&ring, cqe);
	errno = -res;
	return res < 0 ? -1 : res;
}

/*
 * Sends @len bytes by @fn to a reader, which gets as many as the call took, and
 * those that are sent behind them.
 */
static void sends(struct __test_metadata *_metadata, FIXTURE_DATA(stream) *self,
		  const FIXTURE_VARIANT(stream) *variant, send_fn fn, size_t len,
		  const char *name)
{
	/* Few bytes have room without any. */
	struct faults f = { .none = len < 1000 };
	char *buf = malloc(len);

	pattern_fill(buf, len, 0);
	begin(_metadata, self, variant);
	while (fault_next(&f)) {
		struct task t = { .fn = read_all };
		int end[2];
		long sent;

		pair(_metadata, self, variant, end);
		set_option(end[0], SOL_SOCKET, SO_ZEROCOPY, 1);
		t.fd = end[1];
		/* A sender that does not wait is to find no reader. */
		if (fn != send_nowait)
			task_start(&t);
		FAULT(&f, fn(end[0], buf, len));
		EXPECT_TRUE(f.ret > 0 || no_memory(f.ret) || f.ret == -EAGAIN)
			TH_LOG("fault %d: %ld", f.nth, f.ret);
		if (fn == send_nowait)
			task_start(&t);
		sent = f.ret > 0 ? f.ret : 0;
		EXPECT_EQ(0, send_pattern(end[0], BEHIND, BEHIND, sent));
		EXPECT_EQ(0, rc(shutdown(end[0], SHUT_WR)));
		ASSERT_EQ(0, task_wait(&t)) TH_LOG("fault %d: the reader hangs", f.nth);
		EXPECT_EQ(sent + BEHIND, t.ret) TH_LOG("fault %d", f.nth);
		close(end[0]);
		close(end[1]);
	}
	free(buf);
	finish(_metadata, self, variant, &f, name);
}

SANX_TEST(send_few)
{
	sends(_metadata, self, variant, send_plain, 100, "send, few bytes");
}

SANX_TEST(send_many)
{
	sends(_metadata, self, variant, send_plain, 60000, "send, many bytes");
}

/* Also from the program's own pages, and into a ring that grows. */
SANX_TEST(send_much)
{
	sends(_metadata, self, variant, send_plain, MUCH, "send, more than the buffers");
}

SANX_TEST(send_nowait)
{
	sends(_metadata, self, variant, send_nowait, MUCH,
	      "send, more than the buffers, MSG_DONTWAIT");
}

SANX_TEST(send_zerocopy)
{
	sends(_metadata, self, variant, send_zerocopy, 100000, "send, MSG_ZEROCOPY");
}

SANX_TEST(sendfile)
{
	char *buf = malloc(100000);

	pattern_fill(buf, 100000, 0);
	file = memfd_create("pattern", MFD_CLOEXEC);
	ASSERT_EQ(100000, write(file, buf, 100000));
	free(buf);
	sends(_metadata, self, variant, send_file, 100000, "sendfile");
}

SANX_TEST(uring_send)
{
	ASSERT_EQ(0, io_uring_queue_init(4, &ring, 0));
	sends(_metadata, self, variant, send_uring, 60000, "send by io_uring");
}

/* Binds an explicit socket.  Return: its address, by which the variant's way leads there. */
static struct address bind_explicit(struct __test_metadata *_metadata,
				    const FIXTURE_VARIANT(stream) *variant, int fd)
{
	bool loop = variant->carried == SANX_A_STATS_CONNS_LOOP;
	struct address a;

	address_make(&a, loop ? "node:0" : "node:1", 0);
	EXPECT_EQ(0, rc(bind(fd, &a.sa, a.len)));
	EXPECT_EQ(0, local_address(fd, &a));
	return a;
}

/* A connection of explicit sockets of records, which may need a new link for it. */
static void record_pair(struct __test_metadata *_metadata,
			const FIXTURE_VARIANT(stream) *variant, int end[2])
{
	int l = rc(node_socket(true, FAMILY_EXPLICIT, SOCK_SEQPACKET));
	struct address a = bind_explicit(_metadata, variant, l);
	long until = now_ms() + SOON;

	ASSERT_EQ(0, rc(listen(l, 1)));
	end[0] = rc(node_socket(true, FAMILY_EXPLICIT, SOCK_SEQPACKET));
	while (rc(connect(end[0], &a.sa, a.len)) == -ENETUNREACH) {
		ASSERT_GT(until, now_ms());
		sleep_ms(20);
	}
	end[1] = rc(accept(l, NULL, NULL));
	ASSERT_LE(0, end[1]);
	close(l);
}

static void send_record(struct __test_metadata *_metadata, FIXTURE_DATA(stream) *self,
			const FIXTURE_VARIANT(stream) *variant, size_t len, int flags,
			const char *name)
{
	struct faults f = { .none = len < 1000 };
	char *buf = malloc(len), *got = malloc(len);

	pattern_fill(buf, len, 0);
	begin(_metadata, self, variant);
	while (fault_next(&f)) {
		int end[2];

		record_pair(_metadata, variant, end);
		set_option(end[0], SOL_SOCKET, SO_ZEROCOPY, 1);
		FAULT(&f, send(end[0], buf, len, MSG_NOSIGNAL | MSG_DONTWAIT | flags));
		EXPECT_TRUE(f.ret == (long)len || no_memory(f.ret) || f.ret == -EAGAIN)
			TH_LOG("fault %d: %ld", f.nth, f.ret);
		EXPECT_EQ(100, rc(send(end[0], buf, 100, MSG_NOSIGNAL)));
		EXPECT_EQ(0, rc(shutdown(end[0], SHUT_WR)));
		if (f.ret > 0) {
			EXPECT_EQ((long)len, rc(recv(end[1], got, len, 0)));
			EXPECT_TRUE(pattern_check(got, len, 0));
		}
		EXPECT_EQ(100, rc(recv(end[1], got, len, 0))) TH_LOG("fault %d", f.nth);
		EXPECT_EQ(0, rc(recv(end[1], got, len, 0)));
		close(end[0]);
		close(end[1]);
	}
	free(buf);
	free(got);
	finish(_metadata, self, variant, &f, name);
}

/* All of it is taken, or nothing. */
SANX_TEST_OF("loop verbs", send_records)
{
	send_record(_metadata, self, variant, 200, 0, "send, a short record");
	send_record(_metadata, self, variant, 20000, 0, "send, a record");
	send_record(_metadata, self, variant, 300000, 0, "send, a long record");
	send_record(_metadata, self, variant, 300000, MSG_ZEROCOPY,
		    "send, a long record, MSG_ZEROCOPY");
}

static bool came(int fd, int bytes)
{
	long until = now_ms() + SOON;
	int n;

	while (!ioctl(fd, SIOCINQ, &n) && n < bytes) {
		if (now_ms() > until)
			return false;
		sleep_ms(1);
	}
	return true;
}

static void recvs(struct __test_metadata *_metadata, FIXTURE_DATA(stream) *self,
		  const FIXTURE_VARIANT(stream) *variant, int bytes, const char *name)
{
	char *buf = malloc(bytes);
	struct faults f = { .none = true };

	begin(_metadata, self, variant);
	while (fault_next(&f)) {
		int end[2], got;

		pair(_metadata, self, variant, end);
		ASSERT_EQ(0, send_pattern(end[0], bytes, bytes, 0));
		ASSERT_TRUE(came(end[1], bytes));
		got = FAULT(&f, recv(end[1], buf, bytes, 0));
		EXPECT_TRUE(got > 0 || no_memory(got)) TH_LOG("fault %d: %d", f.nth, got);
		got = got > 0 ? got : 0;
		EXPECT_TRUE(pattern_check(buf, got, 0));
		EXPECT_EQ(0, recv_pattern(end[1], bytes - got, bytes, got));
		check_works(_metadata, end);
		close(end[0]);
		close(end[1]);
	}
	free(buf);
	finish(_metadata, self, variant, &f, name);
}

SANX_TEST(recv)
{
	recvs(_metadata, self, variant, 100, "recv, few bytes");
	recvs(_metadata, self, variant, 50000, "recv, many bytes");
}

/* The bytes before it arrive, and then the end. */
static void ends(struct __test_metadata *_metadata, FIXTURE_DATA(stream) *self,
		 const FIXTURE_VARIANT(stream) *variant, bool full, const char *name)
{
	struct faults f = { .none = true };

	begin(_metadata, self, variant);
	while (fault_next(&f)) {
		struct task t = { .fn = read_all };
		int end[2];

		pair(_metadata, self, variant, end);
		t.fd = end[1];
		ASSERT_EQ(0, send_pattern(end[0], BEHIND, BEHIND, 0));
		if (full)
			FAULT(&f, close(end[0]));
		else
			FAULT(&f, shutdown(end[0], SHUT_WR));
		EXPECT_EQ(0, f.ret);
		task_start(&t);
		ASSERT_EQ(0, task_wait(&t)) TH_LOG("fault %d: no end", f.nth);
		EXPECT_EQ(BEHIND, t.ret);
		if (!full)
			close(end[0]);
		close(end[1]);
	}
	finish(_metadata, self, variant, &f, name);
}

/* Return: a socket of datagrams. */
static int make_sender(struct __test_metadata *_metadata, int family, int protocol)
{
	int made, sender = -1;
	struct faults f = {};

	while (fault_next(&f)) {
		made = FAULT(&f, socket(family, SOCK_DGRAM, protocol));
		EXPECT_TRUE(made >= 0 || no_socket(made));
		if (made < 0)
			continue;
		close(sender);
		sender = made;
	}
	EXPECT_EQ(0, fault_report(&f, "socket of datagrams"));
	return sender;
}

/* What send() took arrives. */
static void send_datagrams(struct __test_metadata *_metadata, int sender, int receiver)
{
	static const size_t sizes[] = { 100, 20000 };
	static char buf[20000];

	for (int i = 0; i < ARRAY_SIZE(sizes); i++) {
		struct faults f = {};

		while (fault_next(&f)) {
			ssize_t n = FAULT(&f, send(sender, buf, sizes[i], 0));

			EXPECT_TRUE(n == sizes[i] || no_memory(n)) TH_LOG("%zd", n);
			if (n < 0)
				continue;
			EXPECT_EQ(POLLIN, poll_one(receiver, POLLIN, SOON));
			EXPECT_EQ(n, rc(recv(receiver, buf, sizeof(buf), 0)));
		}
		EXPECT_EQ(0, fault_report(&f, "send of a datagram"));
	}
	close(sender);
	close(receiver);
}

/* Over UDP and, in its place, loop. */
SANX_TEST_OF("tcp loop", datagrams)
{
	int protocol = variant->family == AF_INET6 ? SANXPROTO_INET6 : SANXPROTO_INET;
	int family = variant->client ? node_family() : variant->family;
	int receiver, sender;
	struct address a;

	begin(_metadata, self, variant);
	if (!variant->client)
		protocol = 0;
	receiver = rc(socket(family, SOCK_DGRAM, protocol));
	ASSERT_LE(0, receiver);
	address_make(&a, variant_address(variant), 0);
	ASSERT_EQ(0, rc(bind(receiver, &a.sa, a.len)));
	ASSERT_EQ(0, local_address(receiver, &a));
	sender = make_sender(_metadata, family, protocol);
	ASSERT_EQ(0, rc(connect(sender, &a.sa, a.len)));
	send_datagrams(_metadata, sender, receiver);
	check_pair(_metadata, self, variant);
	end_faults(_metadata, variant);
}

/* Those of explicit sockets, which may need an implicit connection. */
SANX_TEST_OF("loop verbs", explicit_datagrams)
{
	int receiver, sender;
	struct address a;

	begin(_metadata, self, variant);
	receiver = rc(node_socket(true, FAMILY_EXPLICIT, SOCK_DGRAM));
	a = bind_explicit(_metadata, variant, receiver);
	sender = make_sender(_metadata, node_family(), SANXPROTO_EXPLICIT);
	ASSERT_EQ(0, rc(connect(sender, &a.sa, a.len)));
	send_datagrams(_metadata, sender, receiver);
	check_pair(_metadata, self, variant);
	end_faults(_metadata, variant);
}

/* Who has no memory for the FIN loses it over TCP. */
SANX_TEST_OF("loop verbs", shutdown)
{
	ends(_metadata, self, variant, false, "shutdown");
}

SANX_TEST_OF("loop verbs", close)
{
	ends(_metadata, self, variant, true, "close");
}

static const struct option {
	const char *text;
	int level;
	int name;
	int value;
	bool unconnected;
} options[] = {
	{ "SO_RCVBUF", SOL_SOCKET, SO_RCVBUF, 100000 },
	{ "SO_SNDBUF", SOL_SOCKET, SO_SNDBUF, 100000 },
	{ "SO_KEEPALIVE", SOL_SOCKET, SO_KEEPALIVE, 1 },
	{ "SO_ZEROCOPY", SOL_SOCKET, SO_ZEROCOPY, 1 },
	{ "SO_BUSY_POLL", SOL_SOCKET, SO_BUSY_POLL, 10 },
	{ "TCP_NODELAY", IPPROTO_TCP, TCP_NODELAY, 1 },
	{ "TCP_CORK", IPPROTO_TCP, TCP_CORK, 1 },
	{ "TCP_USER_TIMEOUT", IPPROTO_TCP, TCP_USER_TIMEOUT, 100000 },
	{ "TCP_FASTOPEN_CONNECT", IPPROTO_TCP, TCP_FASTOPEN_CONNECT, 1, true },
	{ "TCP_REPAIR", IPPROTO_TCP, TCP_REPAIR, 1, true },
};

SANX_TEST(setsockopt)
{
	begin(_metadata, self, variant);
	for (int i = 0; i < ARRAY_SIZE(options); i++) {
		const struct option *o = &options[i];
		struct faults f = { .none = true };

		while (fault_next(&f)) {
			int end[2], fd;

			pair(_metadata, self, variant, end);
			fd = o->unconnected ? client_socket(variant) : end[0];
			FAULT(&f, setsockopt(fd, o->level, o->name, &o->value, sizeof(int)));
			EXPECT_TRUE(!f.ret || no_memory(f.ret)) TH_LOG("%s", o->text);
			EXPECT_EQ(0, set_option(fd, o->level, o->name, o->value));
			if (o->unconnected)
				close(fd);
			check_works(_metadata, end);
			close(end[0]);
			close(end[1]);
		}
		EXPECT_EQ(0, fault_report(&f, o->text));
	}
	end_faults(_metadata, variant);
}

SANX_TEST(poll_and_epoll)
{
	struct epoll_event e = { .events = EPOLLIN | EPOLLET }, got;
	struct faults f = {};

	begin(_metadata, self, variant);
	while (fault_next(&f)) {
		int end[2], ep = epoll_create1(EPOLL_CLOEXEC);
		struct pollfd p = { .events = POLLOUT };

		pair(_metadata, self, variant, end);
		p.fd = end[1];
		FAULT(&f, poll(&p, 1, SOON) == 1 ? epoll_ctl(ep, EPOLL_CTL_ADD, end[1], &e) : -1);
		EXPECT_TRUE(!f.ret || no_memory(f.ret)) TH_LOG("fault %d: %ld", f.nth, f.ret);
		if (f.ret)
			EXPECT_EQ(0, rc(epoll_ctl(ep, EPOLL_CTL_ADD, end[1], &e)));
		EXPECT_EQ(1, rc(send(end[0], "x", 1, 0)));
		EXPECT_EQ(1, rc(epoll_wait(ep, &got, 1, SOON)));
		close(ep);
		close(end[0]);
		close(end[1]);
	}
	finish(_metadata, self, variant, &f, "poll, epoll_ctl");
}

/* What "sanxctl link" and "sanxctl socket" ask, and "sanxctl stats". */
SANX_TEST_OF("loop verbs fallback", dumps)
{
	static const int cmd[] = { SANX_CMD_LINK_GET, SANX_CMD_SOCKET_GET };
	struct faults stats = {};
	struct node_stats st;

	begin(_metadata, self, variant);
	for (int i = 0; i < ARRAY_SIZE(cmd); i++) {
		struct faults f = {};
		int all = node_dump(cmd[i]);

		ASSERT_LE(0, all);
		while (fault_next(&f)) {
			FAULT_ERR(&f, node_dump(cmd[i]));
			EXPECT_TRUE(f.ret == all || no_socket(f.ret));
		}
		EXPECT_EQ(0, fault_report(&f, i ? "dump of sockets" : "dump of links"));
	}
	while (fault_next(&stats)) {
		FAULT_ERR(&stats, node_stats(&st));
		EXPECT_TRUE(!stats.ret || no_socket(stats.ret));
	}
	finish(_metadata, self, variant, &stats, "stats");
}

/*
 * What the kernel's threads do for a connection: one of their allocations fails, in
 * each round a later one; or so many per cent of all, those of the calls as well.
 */
static void threads(struct __test_metadata *_metadata, FIXTURE_DATA(stream) *self,
		    const FIXTURE_VARIANT(stream) *variant, const char *module,
		    bool anew, int rounds, int percent)
{
	int passed = 0;

	begin(_metadata, self, variant);
	ASSERT_EQ(0, fault_spare_calls(!percent));
	ASSERT_EQ(0, fault_within(module));
	for (int i = 1; i <= rounds; i++) {
		if (anew)
			lose_links(_metadata, variant);
		ASSERT_EQ(0, percent ? fault_some(percent) : fault_one(16 * i * i, i));
		passed += round_passes(_metadata, self, variant);
		ASSERT_EQ(0, fault_none());
		check_pair(_metadata, self, variant);
	}
	TH_LOG("%s: %d of %d streams passed", module, passed, rounds);
	end_faults(_metadata, variant);
}

SANX_TEST_OF("loop verbs", threads_one)
{
	threads(_metadata, self, variant, "af_sanx", false, 40, 0);
}

SANX_TEST_OF("loop verbs", threads_many)
{
	threads(_metadata, self, variant, "af_sanx", false, 20, 2);
}

/* As a link is made. */
SANX_TEST_OF("verbs", link_one)
{
	threads(_metadata, self, variant, "af_sanx", true, 100, 0);
}

SANX_TEST_OF("verbs", link_many)
{
	threads(_metadata, self, variant, "af_sanx", true, 20, 2);
}

SANX_TEST_OF("rdma", device_one)
{
	threads(_metadata, self, variant, "sanx_verbs", true, 100, 0);
}

SANX_TEST_MAIN
