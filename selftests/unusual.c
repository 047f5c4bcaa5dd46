// SPDX-License-Identifier: GPL-2.0
/* What few programs do: more than 2 GiB at once, AIO, zero copy, tee. */
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <linux/errqueue.h>
#include <linux/userfaultfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include "lib/slow.h"
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

/* A notification for calls @lo to @hi, or -errno. */
static int zerocopy_done(int fd, uint32_t *lo, uint32_t *hi)
{
	char control[256];
	struct msghdr msg = {
		.msg_control = control, .msg_controllen = sizeof(control),
	};
	struct sock_extended_err *ee;
	struct cmsghdr *cm;

	if (recvmsg(fd, &msg, MSG_ERRQUEUE) < 0)
		return -errno;
	cm = CMSG_FIRSTHDR(&msg);
	if (!cm || !(msg.msg_flags & MSG_ERRQUEUE))
		return -EBADMSG;
	ee = (struct sock_extended_err *)CMSG_DATA(cm);
	*lo = ee->ee_info;
	*hi = ee->ee_data;
	return ee->ee_errno || ee->ee_origin != SO_EE_ORIGIN_ZEROCOPY ?
	       -EBADMSG : 0;
}

SANX_TEST(zerocopy)
{
	uint32_t lo, hi, next = 0;
	long end = now_ms() + SOON;
	char buf[10000];
	int err;

	EXPECT_EQ(-EAGAIN, zerocopy_done(self->client, &lo, &hi));
	ASSERT_EQ(0, set_option(self->client, SOL_SOCKET, SO_ZEROCOPY, 1));
	pattern_fill(buf, sizeof(buf), 0);
	for (int i = 0; i < 3; i++)
		ASSERT_EQ(sizeof(buf), rc(send(self->client, buf, sizeof(buf),
					       MSG_ZEROCOPY)));
	for (int i = 0; i < 3; i++)
		EXPECT_EQ(0, recv_pattern(self->server, sizeof(buf), 1000, 0));
	while (next < 3 && now_ms() < end) {
		EXPECT_LT(0, poll_one(self->client, 0, SOON) & POLLERR);
		err = zerocopy_done(self->client, &lo, &hi);
		ASSERT_EQ(0, err);
		EXPECT_EQ(next, lo);
		next = hi + 1;
	}
	EXPECT_EQ(3, next);
	EXPECT_EQ(-EAGAIN, zerocopy_done(self->client, &lo, &hi));
	EXPECT_EQ(0, poll_one(self->client, 0, 0) & POLLERR);
}

/* Whoever waits for it gets EFAULT. */
static void take_page(char *page, int uffd)
{
	struct uffdio_range range = { .start = (uintptr_t)page, .len = 4096 };

	munmap(page, 4096);
	ioctl(uffd, UFFDIO_WAKE, &range);
}

/* Each call that sends has a number of its own, whatever becomes of others. */
SANX_TEST(zerocopy_numbers)
{
	struct task bad = { .fn = task_send, .flags = MSG_ZEROCOPY, .len = 100 };
	struct task good = bad;
	char room[100], buf[3 * 100];
	int uffd, seen[3] = {};
	long end = now_ms() + SOON;
	uint32_t lo, hi;

	bad.fd = self->client;
	bad.buf = slow_page(&uffd);
	ASSERT_NE(NULL, bad.buf);
	good.fd = self->client;
	good.buf = room;
	pattern_fill(room, sizeof(room), 0);
	ASSERT_EQ(0, set_option(self->client, SOL_SOCKET, SO_ZEROCOPY, 1));
	task_start(&bad);
	sleep_ms(5 * A_WHILE);
	/* It begins while the other is under way, which then fails. */
	task_start(&good);
	sleep_ms(5 * A_WHILE);
	EXPECT_FALSE(bad.done);
	take_page(bad.buf, uffd);
	ASSERT_EQ(0, task_wait(&bad));
	EXPECT_EQ(-EFAULT, bad.ret);
	ASSERT_EQ(0, task_wait(&good));
	EXPECT_EQ(100, good.ret);
	EXPECT_EQ(100, rc(send(self->client, room, 100, MSG_ZEROCOPY)));
	EXPECT_EQ(200, recv_exact(self->server, buf, 200));
	while (now_ms() < end && seen[0] + seen[1] + seen[2] < 2) {
		if (zerocopy_done(self->client, &lo, &hi)) {
			sleep_ms(1);
			continue;
		}
		ASSERT_LE(lo, hi);
		for (; lo <= hi; lo++)
			seen[lo < 2 ? lo : 2]++;
	}
	EXPECT_EQ(1, seen[0]);
	EXPECT_EQ(1, seen[1]);
	EXPECT_EQ(0, seen[2]);
	close(uffd);
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
