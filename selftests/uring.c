// SPDX-License-Identifier: GPL-2.0
/* The same calls through io_uring. */
#include <liburing.h>
#include <linux/sockios.h>
#include <sys/ioctl.h>

#define DEFAULT_VARIANTS "tcp loop explicit fallback"

#include "sanx_test.h"

static void ring_make(struct __test_metadata *_metadata, struct io_uring *ring)
{
	ASSERT_EQ(0, io_uring_queue_init(16, ring, 0));
}

/* A request; what prepares it clears the tag, which has to come last. */
#define PREP(ring, tag, op, ...) do { \
	struct io_uring_sqe *sqe = io_uring_get_sqe(ring); \
\
	io_uring_prep_##op(sqe, ##__VA_ARGS__); \
	io_uring_sqe_set_data64(sqe, tag); \
} while (0)

/* The next result: its tag, or -errno; @res is what the call returned. */
static long result(struct io_uring *ring, int *res)
{
	struct __kernel_timespec ts = { .tv_sec = SOON / 1000 };
	struct io_uring_cqe *cqe;
	long tag;
	int err;

	err = io_uring_wait_cqe_timeout(ring, &cqe, &ts);
	if (err)
		return err;
	tag = cqe->user_data;
	*res = cqe->res;
	io_uring_cqe_seen(ring, cqe);
	return tag;
}

/* Nothing comes for a while. */
static bool no_result(struct io_uring *ring)
{
	struct __kernel_timespec ts = { .tv_nsec = A_WHILE * 1000000 };
	struct io_uring_cqe *cqe;

	return io_uring_wait_cqe_timeout(ring, &cqe, &ts) == -ETIME;
}

SANX_TEST(recv_waits)
{
	struct io_uring ring;
	char buf[8];
	int res;

	ring_make(_metadata, &ring);
	for (int i = 0; i < 2; i++) {
		PREP(&ring, 1, recv, self->end[!i], buf, 8, 0);
		ASSERT_EQ(1, io_uring_submit(&ring));
		EXPECT_TRUE(no_result(&ring));
		PREP(&ring, 2, send, self->end[i], "abc", 3, 0);
		ASSERT_EQ(1, io_uring_submit(&ring));
		for (int k = 0; k < 2; k++)
			EXPECT_LT(0, result(&ring, &res) && res == 3);
		EXPECT_EQ(0, memcmp(buf, "abc", 3));
	}
}

SANX_TEST(accept_and_connect)
{
	int fd = client_socket(variant), res[3] = {}, got, k;
	struct io_uring ring;
	long tag;

	ring_make(_metadata, &ring);
	PREP(&ring, 1, accept, self->listener, NULL, NULL, 0);
	ASSERT_EQ(1, io_uring_submit(&ring));
	EXPECT_TRUE(no_result(&ring));
	PREP(&ring, 2, connect, fd, &self->addr.sa, self->addr.len);
	ASSERT_EQ(1, io_uring_submit(&ring));
	for (k = 0; k < 2; k++) {
		tag = result(&ring, &got);
		ASSERT_LT(0, tag);
		res[tag] = got;
	}
	EXPECT_LT(0, res[1]);
	EXPECT_EQ(0, res[2]);
	EXPECT_EQ(1, send(fd, "x", 1, 0));
	EXPECT_EQ(POLLIN, poll_one(res[1], POLLIN, SOON));
}

SANX_TEST(connect_refused)
{
	int fd = client_socket(variant), res;
	struct io_uring ring;
	struct address deaf;

	deaf_address(variant, &deaf);
	ring_make(_metadata, &ring);
	PREP(&ring, 1, connect, fd, &deaf.sa, deaf.len);
	ASSERT_EQ(1, io_uring_submit(&ring));
	EXPECT_EQ(1, result(&ring, &res));
	EXPECT_EQ(-ECONNREFUSED, res);
	self->fallbacks = 1;
}

/* The socket becomes TCP, whose peer is busy: only TCP knows when that has an end. */
SANX_TEST(connect_waits_as_tcp)
{
	int l = stream_socket(false, variant->family), first, fd, res;
	struct io_uring ring;
	struct address a;

	address_make(&a, variant_address(variant), 0);
	ASSERT_EQ(0, rc(bind(l, &a.sa, a.len)));
	ASSERT_EQ(0, rc(listen(l, 0)));
	ASSERT_EQ(0, local_address(l, &a));
	/* With one that waits for accept(), the next SYN is dropped. */
	first = stream_socket(false, variant->family);
	ASSERT_EQ(0, rc(connect(first, &a.sa, a.len)));
	ASSERT_EQ(POLLIN, poll_one(l, POLLIN, SOON));
	fd = client_socket(variant);
	ring_make(_metadata, &ring);
	PREP(&ring, 1, connect, fd, &a.sa, a.len);
	ASSERT_EQ(1, io_uring_submit(&ring));
	EXPECT_TRUE(no_result(&ring));
	close(accept(l, NULL, NULL));
	EXPECT_EQ(1, result(&ring, &res));
	EXPECT_EQ(0, res);
	self->fallbacks = 1;
	close(fd);
	close(first);
	close(l);
}

/* A request that is cancelled takes nothing from the stream. */
SANX_TEST(cancel)
{
	struct io_uring ring;
	int res, want, k;
	char buf[8];

	ring_make(_metadata, &ring);
	PREP(&ring, 1, recv, self->server, buf, 8, 0);
	ASSERT_EQ(1, io_uring_submit(&ring));
	EXPECT_TRUE(no_result(&ring));
	PREP(&ring, 2, cancel64, 1, 0);
	ASSERT_EQ(1, io_uring_submit(&ring));
	for (k = 0; k < 2; k++) {
		want = result(&ring, &res) == 1 ? -ECANCELED : 0;
		EXPECT_EQ(want, res);
	}
	EXPECT_EQ(3, send(self->client, "abc", 3, 0));
	EXPECT_EQ(3, recv(self->server, buf, 8, 0));
}

/* A large send that has to wait for room goes out whole. */
SANX_TEST(send_waits)
{
	size_t len = 500000;
	char *buf = malloc(len);
	struct io_uring ring;
	ssize_t n;
	int res;

	ring_make(_metadata, &ring);
	n = fill(variant, self->client);
	ASSERT_LE(4096, n);
	pattern_fill(buf, len, n);
	PREP(&ring, 1, send, self->client, buf, len, MSG_WAITALL);
	ASSERT_EQ(1, io_uring_submit(&ring));
	EXPECT_TRUE(no_result(&ring));
	ASSERT_EQ(n + len, drain_socket(self->server, n + len));
	EXPECT_EQ(1, result(&ring, &res));
	EXPECT_EQ(len, res);
}

SANX_TEST(end_and_reset)
{
	struct io_uring ring;
	char buf[8];
	int res;

	ring_make(_metadata, &ring);
	PREP(&ring, 1, recv, self->client, buf, 8, 0);
	ASSERT_EQ(1, io_uring_submit(&ring));
	EXPECT_EQ(0, shutdown(self->server, SHUT_WR));
	EXPECT_EQ(1, result(&ring, &res));
	EXPECT_EQ(0, res);
	PREP(&ring, 2, recv, self->server, buf, 8, 0);
	ASSERT_EQ(1, io_uring_submit(&ring));
	EXPECT_TRUE(no_result(&ring));
	EXPECT_EQ(0, close_reset(self->client));
	EXPECT_EQ(2, result(&ring, &res));
	EXPECT_EQ(-ECONNRESET, res);
}

/* poll requests, shutdown and close are calls like others. */
SANX_TEST(poll_shutdown_close)
{
	struct io_uring ring;
	int res;
	char c;

	ring_make(_metadata, &ring);
	PREP(&ring, 1, poll_add, self->server, POLLIN);
	ASSERT_EQ(1, io_uring_submit(&ring));
	EXPECT_TRUE(no_result(&ring));
	EXPECT_EQ(1, send(self->client, "x", 1, 0));
	EXPECT_EQ(1, result(&ring, &res));
	EXPECT_EQ(POLLIN, res);
	PREP(&ring, 2, shutdown, self->client, SHUT_WR);
	ASSERT_EQ(1, io_uring_submit(&ring));
	EXPECT_EQ(2, result(&ring, &res));
	EXPECT_EQ(0, res);
	EXPECT_EQ(1, recv(self->server, &c, 1, 0));
	EXPECT_EQ(0, recv(self->server, &c, 1, 0));
	PREP(&ring, 3, close, self->server);
	ASSERT_EQ(1, io_uring_submit(&ring));
	EXPECT_EQ(3, result(&ring, &res));
	EXPECT_EQ(0, res);
	EXPECT_EQ(0, recv(self->client, &c, 1, 0));
}

/* A ring that goes with requests under way lets go of the socket. */
SANX_TEST(ring_goes)
{
	struct io_uring ring;
	char c;

	ring_make(_metadata, &ring);
	PREP(&ring, 1, recv, self->server, &c, 1, 0);
	PREP(&ring, 2, accept, self->listener, NULL, NULL, 0);
	ASSERT_EQ(2, io_uring_submit(&ring));
	EXPECT_TRUE(no_result(&ring));
	io_uring_queue_exit(&ring);
	close(self->server);
	EXPECT_EQ(0, recv(self->client, &c, 1, 0));
}

/* One request, many connections. */
SANX_TEST(multishot_accept)
{
	struct io_uring ring;
	int fd[3], res, i;

	ring_make(_metadata, &ring);
	PREP(&ring, 1, multishot_accept, self->listener, NULL, NULL, 0);
	ASSERT_EQ(1, io_uring_submit(&ring));
	for (i = 0; i < 3; i++) {
		fd[i] = client_socket(variant);
		ASSERT_EQ(0, connect(fd[i], &self->addr.sa, self->addr.len));
		EXPECT_EQ(1, result(&ring, &res));
		ASSERT_LE(0, res);
		EXPECT_EQ(1, send(fd[i], "x", 1, 0));
		EXPECT_EQ(POLLIN, poll_one(res, POLLIN, SOON));
	}
}

/* One request, many buffers that the kernel picks. */
SANX_TEST(multishot_recv)
{
	static char bufs[8][16];
	struct io_uring_sqe *sqe;
	struct io_uring ring;
	int res, i;

	ring_make(_metadata, &ring);
	PREP(&ring, 1, provide_buffers, bufs, 16, 8, 5, 0);
	ASSERT_EQ(1, io_uring_submit(&ring));
	EXPECT_EQ(1, result(&ring, &res));
	ASSERT_EQ(0, res);
	sqe = io_uring_get_sqe(&ring);
	io_uring_prep_recv_multishot(sqe, self->server, NULL, 0, 0);
	sqe->flags |= IOSQE_BUFFER_SELECT;
	sqe->buf_group = 5;
	io_uring_sqe_set_data64(sqe, 2);
	ASSERT_EQ(1, io_uring_submit(&ring));
	EXPECT_TRUE(no_result(&ring));
	for (i = 0; i < 3; i++) {
		EXPECT_EQ(3, send(self->client, "abc", 3, 0));
		EXPECT_EQ(2, result(&ring, &res));
		EXPECT_EQ(3, res);
	}
	EXPECT_EQ(0, shutdown(self->client, SHUT_WR));
	EXPECT_EQ(2, result(&ring, &res));
	EXPECT_EQ(0, res);
}

/* The result, and the notification that the buffer is ours again. */
SANX_TEST(send_zc)
{
	struct io_uring ring;
	char buf[8];
	int res, n;

	ring_make(_metadata, &ring);
	for (n = 0; n < 3; n++) {
		PREP(&ring, 1, send_zc, self->client, "zero", 4, 0, 0);
		ASSERT_EQ(1, io_uring_submit(&ring));
		EXPECT_EQ(1, result(&ring, &res));
		EXPECT_EQ(4, res);
		EXPECT_EQ(4, recv(self->server, buf, 8, 0));
		EXPECT_EQ(0, memcmp(buf, "zero", 4));
		EXPECT_EQ(1, result(&ring, &res));
		EXPECT_EQ(0, res & 0x7fffffff);
	}
}

/* Of Linux 6.2; liburing may be older. */
#define REPORT_USAGE	0x8U
#define USAGE_COPIED	0x80000000U

/* Sends all of @buf, which was registered.  Return: 1 if it was copied, 0 if not, or -errno. */
static int send_fixed(struct io_uring *ring, int fd, const void *buf, size_t len,
		      unsigned int flags)
{
	struct io_uring_sqe *sqe = io_uring_get_sqe(ring);
	struct __kernel_timespec ts = { .tv_sec = SOON / 1000 };
	struct io_uring_cqe *cqe;
	unsigned int seen, usage;
	size_t done = 0;

	io_uring_prep_send_zc_fixed(sqe, fd, buf, len, MSG_WAITALL, flags, 0);
	if (io_uring_submit(ring) != 1)
		return -EBUSY;
	for (;;) {
		if (io_uring_wait_cqe_timeout(ring, &cqe, &ts))
			return -ETIME;
		seen = cqe->flags;
		usage = cqe->res;
		io_uring_cqe_seen(ring, cqe);
		if (seen & IORING_CQE_F_NOTIF)
			return done == len ? !!(usage & USAGE_COPIED) : -EMSGSIZE;
		if ((int)usage < 0)
			return usage;
		done += usage;
		if (!(seen & IORING_CQE_F_MORE))
			return -EBADMSG;
	}
}

/* As in zerocopy.c: does the wire of the variant read from a program's pages? */
static bool lends(const FIXTURE_VARIANT(stream) *v)
{
	return carried_by(v) == SANX_A_STATS_CONNS_VERBS &&
	       strncmp(env_or("SANX_DEVICE", ""), "siw", 3);
}

/* A registered buffer is ours again with the notification, which says if it was copied. */
SANX_TEST(send_zc_fixed)
{
	enum { LEN = 1 << 20, TIMES = 30, PAD = 1000 };
	struct task t = { .fn = task_recv_all, .fd = self->server, .len = (size_t)LEN * TIMES };
	struct node_stats before = {}, after = {};
	unsigned int flags = REPORT_USAGE;
	struct io_uring ring;
	int err, copied = 0, whole = 0;
	struct iovec iov;
	char *buf;

	iov.iov_len = LEN + PAD;
	iov.iov_base = aligned_alloc(4096, LEN + 4096);
	buf = (char *)iov.iov_base + PAD;
	ring_make(_metadata, &ring);
	ASSERT_EQ(0, io_uring_register_buffers(&ring, &iov, 1));
	task_start(&t);
	for (int i = 0; i < TIMES; i++) {
		pattern_fill(buf, LEN, (uint64_t)i * LEN);
		node_stats(&before);
		err = send_fixed(&ring, self->client, buf, LEN, flags);
		if (err == -EINVAL && flags) {
			flags = 0;
			err = send_fixed(&ring, self->client, buf, LEN, flags);
		}
		ASSERT_LE(0, err);
		node_stats(&after);
		copied += err;
		whole += after.v[SANX_A_STATS_LENT_BYTES] -
			 before.v[SANX_A_STATS_LENT_BYTES] == LEN;
		memset(buf, 0xee, LEN);
	}
	ASSERT_EQ(0, task_wait(&t));
	EXPECT_EQ(0, t.ret);
	if (flags) {
		EXPECT_GE(lends(variant) ? TIMES / 2 : TIMES, copied);
		EXPECT_LE(lends(variant) ? 0 : TIMES, copied);
	}
	/* Of some not a byte was copied. */
	EXPECT_EQ(lends(variant), whole > 0);
	io_uring_queue_exit(&ring);
	free(iov.iov_base);
}

/* IORING_OP_URING_CMD of a socket; liburing may be older. */
#define URING_CMD	46
#define ASK_INQ		0
#define ASK_OUTQ	1

static int ask(struct __test_metadata *_metadata, struct io_uring *ring, int fd, uint32_t op)
{
	struct io_uring_sqe *sqe = io_uring_get_sqe(ring);
	int res;

	ASSERT_NE(NULL, sqe);
	memset(sqe, 0, sizeof(*sqe));
	sqe->opcode = URING_CMD;
	sqe->fd = fd;
	sqe->off = op;
	io_uring_sqe_set_data64(sqe, 1);
	ASSERT_EQ(1, io_uring_submit(ring));
	ASSERT_EQ(1, result(ring, &res));
	return res;
}

/* Where the kernel can ask TCP (6.7 and later), it can ask any. */
SANX_TEST(asked_for_queues)
{
	struct io_uring ring;
	int none, tcp, n;
	char buf[1000] = "";

	ring_make(_metadata, &ring);
	tcp = stream_socket(false, variant->family);
	none = ask(_metadata, &ring, tcp, ASK_INQ);
	ASSERT_EQ(1000, send(self->client, buf, 1000, 0));
	/* All of it is there. */
	ASSERT_EQ(1000, recv(self->server, buf, 1000, MSG_PEEK | MSG_WAITALL));
	EXPECT_EQ(none ?: 1000, ask(_metadata, &ring, self->server, ASK_INQ));
	ASSERT_EQ(600, recv(self->server, buf, 600, 0));
	EXPECT_EQ(none ?: 400, ask(_metadata, &ring, self->server, ASK_INQ));
	ASSERT_LT(0, fill(variant, self->client));
	ASSERT_EQ(0, ioctl(self->client, SIOCOUTQ, &n));
	EXPECT_LT(0, n);
	EXPECT_EQ(none ?: n, ask(_metadata, &ring, self->client, ASK_OUTQ));
}

SANX_TEST_MAIN
