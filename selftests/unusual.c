// SPDX-License-Identifier: GPL-2.0
/* What few programs do: more than 2 GiB at once, AIO, tee. */
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include "sanx_test.h"

#define GIB	(1024 * 1024 * 1024UL)

/* Address space to send from, without memory behind it. */
static void *nothing(size_t size)
{
	return mmap(NULL, size, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS |
		    MAP_NORESERVE, -1, 0);
}

/* Everything that @n says was sent arrives, and no more. */
static void arrives(struct __test_metadata *_metadata, int from, int to,
		    ssize_t n)
{
	static char buf[65536];
	ssize_t got, sum = 0;

	EXPECT_LT(0, n);
	EXPECT_GT(2 * GIB, n);
	EXPECT_EQ(0, rc(shutdown(from, SHUT_WR)));
	while ((got = rc(recv(to, buf, sizeof(buf), 0))) > 0)
		sum += got;
	EXPECT_EQ(0, got);
	EXPECT_EQ(n, sum);
}

SANX_TEST(huge)
{
	void *p = nothing(3 * GIB);

	ASSERT_NE(MAP_FAILED, p);
	arrives(_metadata, self->client, self->server,
		rc(send(self->client, p, 3 * GIB, MSG_DONTWAIT)));
	munmap(p, 3 * GIB);
}

SANX_TEST(huge_vectors)
{
	void *p = nothing(3 * GIB);
	struct iovec iov[2] = { { p, 3 * GIB }, { p, 3 * GIB } };
	struct msghdr msg = { .msg_iov = iov, .msg_iovlen = 2 };

	ASSERT_NE(MAP_FAILED, p);
	arrives(_metadata, self->client, self->server,
		rc(sendmsg(self->client, &msg, MSG_DONTWAIT)));
	munmap(p, 3 * GIB);
}

/* It cannot all go, and what goes before the time is over is told. */
SANX_TEST(huge_blocking)
{
	void *p = nothing(3 * GIB);

	ASSERT_NE(MAP_FAILED, p);
	ASSERT_EQ(0, set_timeout(self->client, SO_SNDTIMEO, LIMIT));
	arrives(_metadata, self->client, self->server,
		rc(write(self->client, p, 3 * GIB)));
	munmap(p, 3 * GIB);
}

/* What came is read once, and goes two ways. */
SANX_TEST(tee)
{
	enum { BYTES = 3000 };
	int a[2], b[2];
	char buf[BYTES];

	ASSERT_EQ(0, pipe(a));
	ASSERT_EQ(0, pipe(b));
	ASSERT_EQ(0, send_pattern(self->client, BYTES, BYTES, 0));
	for (int n = 0, got; n < BYTES; n += got) {
		got = rc(splice(self->server, NULL, a[1], NULL, BYTES - n, 0));
		ASSERT_LT(0, got);
	}
	ASSERT_EQ(BYTES, rc(tee(a[0], b[1], BYTES, 0)));
	EXPECT_EQ(BYTES, read(a[0], buf, BYTES));
	EXPECT_TRUE(pattern_check(buf, BYTES, 0));
	for (int n = 0, got; n < BYTES; n += got) {
		got = rc(splice(b[0], NULL, self->server, NULL, BYTES - n, 0));
		ASSERT_LT(0, got);
	}
	EXPECT_EQ(0, recv_pattern(self->client, BYTES, BYTES, 0));
}

static long aio(aio_context_t ctx, int fd, int op, void *buf, size_t len)
{
	struct iocb cb = {
		.aio_fildes = fd,
		.aio_lio_opcode = op,
		.aio_buf = (uintptr_t)buf,
		.aio_nbytes = len,
	}, *list = &cb;
	struct timespec ts = { .tv_sec = SOON / 1000 };
	struct io_event ev;

	if (op == IOCB_CMD_POLL)
		cb.aio_buf = POLLIN;
	if (syscall(SYS_io_submit, ctx, 1, &list) != 1)
		return -errno;
	if (syscall(SYS_io_getevents, ctx, 1, 1, &ev, &ts) != 1)
		return -ETIME;
	return ev.res;
}

SANX_TEST(aio)
{
	aio_context_t ctx = 0;
	char out[5000], in[5000];

	ASSERT_EQ(0, rc(syscall(SYS_io_setup, 8, &ctx)));
	pattern_fill(out, sizeof(out), 0);
	for (int i = 0; i < 2; i++) {
		EXPECT_EQ(sizeof(out), aio(ctx, self->end[i], IOCB_CMD_PWRITE,
					   out, sizeof(out)));
		EXPECT_EQ(POLLIN, aio(ctx, self->end[!i], IOCB_CMD_POLL, NULL,
				      0) & POLLIN);
		EXPECT_LT(0, aio(ctx, self->end[!i], IOCB_CMD_PREAD, in, 1));
		EXPECT_EQ(out[0], in[0]);
		EXPECT_EQ(0, recv_pattern(self->end[!i], sizeof(out) - 1, 1000,
					  1));
	}
	EXPECT_EQ(0, rc(shutdown(self->client, SHUT_WR)));
	EXPECT_EQ(0, aio(ctx, self->server, IOCB_CMD_PREAD, in, 1));
	syscall(SYS_io_destroy, ctx);
}

SANX_TEST_MAIN
