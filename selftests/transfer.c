// SPDX-License-Identifier: GPL-2.0
/* Streams: many bytes, both ways, from and to files and pipes. */
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/uio.h>

#include "sanx_test.h"

#define MANY	(1500 * 1000 + 17)

/* Random sizes on both sides, a thread for each. */
SANX_TEST(one_way)
{
	struct task t = { .fn = task_send_all, .len = MANY };

	for (int i = 0; i < 2; i++) {
		t.fd = self->end[i];
		task_start(&t);
		ASSERT_EQ(0, recv_pattern(self->end[!i], MANY, 0, 0));
		ASSERT_EQ(0, task_wait(&t));
		EXPECT_EQ(0, t.ret);
	}
}

/* Does time pass only while nobody runs, as in a node with a virtual clock? */
static bool clock_stands(void)
{
	long start = now_ms();

	for (long i = 0; i < 100 * 1000 * 1000; i++)
		asm volatile("" : : : "memory");
	return now_ms() - start < 2;
}

/*
 * Over loop, a writer that waits for room is woken by who makes it, and no timer of ours
 * (2 ms) has to: by a virtual clock, a stream takes no time.
 */
SANX_TEST(waits_for_no_timer)
{
	struct task t = { .fn = task_send_all, .fd = self->client, .len = MANY };
	long start = now_ms();

	task_start(&t);
	ASSERT_EQ(0, recv_pattern(self->server, MANY, 0, 0));
	ASSERT_EQ(0, task_wait(&t));
	EXPECT_EQ(0, t.ret);
	start = now_ms() - start;
	if (variant->carried == SANX_A_STATS_CONNS_LOOP && start >= 2)
		EXPECT_FALSE(clock_stands());
}

/* Four threads: a reader and a writer at each end. */
SANX_TEST(both_ways)
{
	struct task out[2] = {}, in[2] = {};

	for (int i = 0; i < 2; i++) {
		in[i].fn = task_recv_all;
		in[i].fd = self->end[i];
		in[i].len = MANY / 2;
		in[i].flags = i;
		task_start(&in[i]);
		out[i].fn = task_send_all;
		out[i].fd = self->end[i];
		out[i].len = MANY / 2;
		out[i].flags = !i;
		task_start(&out[i]);
	}
	for (int i = 0; i < 2; i++) {
		ASSERT_EQ(0, task_wait(&out[i]));
		EXPECT_EQ(0, out[i].ret);
		ASSERT_EQ(0, task_wait(&in[i]));
		EXPECT_EQ(0, in[i].ret);
	}
}

/* One end of both_ways_poll: @at counts bytes sent and received. */
static int step(int fd, int revents, size_t *at, size_t len)
{
	char buf[20000];
	size_t n;
	ssize_t done;

	if (revents & POLLIN) {
		n = 1 + dice(sizeof(buf));
		done = recv(fd, buf, n, 0);
		if (done <= 0)
			return done ? -errno : -ENODATA;
		if (!pattern_check(buf, done, at[1]))
			return -EBADMSG;
		at[1] += done;
	}
	if (revents & POLLOUT && at[0] < len) {
		n = 1 + dice(sizeof(buf));
		n = n < len - at[0] ? n : len - at[0];
		pattern_fill(buf, n, at[0]);
		done = send(fd, buf, n, 0);
		if (done < 0)
			return -errno;
		at[0] += done;
	}
	return 0;
}

/* One thread, both ends, both directions, and never a call that blocks. */
SANX_TEST(both_ways_poll)
{
	size_t at[2][2] = {}, len = MANY / 2;
	struct pollfd p[2];
	int n;

	for (int i = 0; i < 2; i++) {
		ASSERT_EQ(0, set_nonblock(self->end[i], true));
		p[i].fd = self->end[i];
	}
	while (at[0][1] < len || at[1][1] < len) {
		for (int i = 0; i < 2; i++)
			p[i].events = POLLIN | (at[i][0] < len ? POLLOUT : 0);
		n = poll(p, 2, SOON);
		ASSERT_LT(0, n);
		for (int i = 0; i < 2; i++) {
			ASSERT_EQ(0, p[i].revents & (POLLERR | POLLHUP));
			ASSERT_EQ(0, step(p[i].fd, p[i].revents, at[i], len));
		}
	}
}

/* Many small writes, read in large pieces, and the other way round. */
SANX_TEST(small_writes)
{
	ASSERT_EQ(0, send_pattern(self->client, 30000, 10, 0));
	ASSERT_EQ(0, recv_pattern(self->server, 30000, 30000, 0));
	ASSERT_EQ(0, send_pattern(self->server, 30000, 30000, 0));
	ASSERT_EQ(0, recv_pattern(self->client, 30000, 10, 0));
}

/* A file of @len bytes of the stream from 0, or -errno. */
static int pattern_file(size_t len)
{
	int fd = memfd_create("pattern", MFD_CLOEXEC);
	char *map;

	if (fd < 0 || ftruncate(fd, len))
		return -errno;
	map = mmap(NULL, len, PROT_WRITE, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED)
		return -errno;
	pattern_fill(map, len, 0);
	munmap(map, len);
	return fd;
}

#define FILE_SIZE	(300 * 1000 + 7)

static long task_sendfile(struct task *t)
{
	off_t at = 0;
	ssize_t n;

	while (at < (off_t)t->len) {
		n = sendfile(t->fd, t->flags, &at, t->len - at);
		if (n <= 0)
			return n ? n : -1;
	}
	return 0;
}

SANX_TEST(sendfile)
{
	int file = pattern_file(FILE_SIZE);
	struct task t = { .fn = task_sendfile, .len = FILE_SIZE };

	ASSERT_LE(0, file);
	t.flags = file;
	for (int i = 0; i < 2; i++) {
		t.fd = self->end[i];
		task_start(&t);
		ASSERT_EQ(0, recv_pattern(self->end[!i], FILE_SIZE, 0, 0));
		ASSERT_EQ(0, task_wait(&t));
		EXPECT_EQ(0, t.ret);
	}
}

/* From the middle of a file, with the file's own position. */
SANX_TEST(sendfile_offset)
{
	int file = pattern_file(20000);
	char buf[5000];
	off_t at = 12345;

	ASSERT_LE(0, file);
	EXPECT_EQ(5000, sendfile(self->client, file, &at, 5000));
	EXPECT_EQ(17345, at);
	EXPECT_EQ(0, lseek(file, 0, SEEK_CUR));
	EXPECT_EQ(5000, recv_exact(self->server, buf, 5000));
	EXPECT_TRUE(pattern_check(buf, 5000, 12345));
	EXPECT_EQ(100, sendfile(self->client, file, NULL, 100));
	EXPECT_EQ(100, lseek(file, 0, SEEK_CUR));
	EXPECT_EQ(100, recv_exact(self->server, buf, 100));
	EXPECT_TRUE(pattern_check(buf, 100, 0));
	/* At the end of the file there is nothing. */
	at = 20000;
	EXPECT_EQ(0, sendfile(self->client, file, &at, 100));
}

/* Non-blocking: as much as there is room for, then EAGAIN. */
SANX_TEST(sendfile_nonblocking)
{
	size_t len = 12 << 20;
	int file = memfd_create("zeroes", MFD_CLOEXEC);
	ssize_t n, total = 0;
	char *buf;

	ASSERT_EQ(0, ftruncate(file, len));
	ASSERT_EQ(0, set_nonblock(self->client, true));
	while ((n = sendfile(self->client, file, NULL, len)) > 0)
		total += n;
	EXPECT_EQ(-EAGAIN, rc(n));
	EXPECT_LT(0, total);
	EXPECT_GT(len, total);
	EXPECT_EQ(total, lseek(file, 0, SEEK_CUR));
	buf = malloc(total);
	EXPECT_EQ(total, recv_exact(self->server, buf, total));
	EXPECT_EQ(0, buf[0] | buf[total / 2] | buf[total - 1]);
}

SANX_TEST(sendfile_to_nobody)
{
	int file = pattern_file(1000);
	off_t at = 0;

	EXPECT_EQ(0, shutdown(self->client, SHUT_WR));
	EXPECT_EQ(-EPIPE, rc(sendfile(self->client, file, &at, 1000)));
	EXPECT_EQ(0, at);
}

/* pipe -> socket -> pipe, as haproxy and socat do. */
SANX_TEST(splice)
{
	char out[10000], in[10000];
	size_t at = 0, got;
	int up[2], down[2];
	ssize_t n;

	ASSERT_EQ(0, pipe(up));
	ASSERT_EQ(0, pipe(down));
	while (at < 10 * sizeof(out)) {
		pattern_fill(out, sizeof(out), at);
		ASSERT_EQ(sizeof(out), write(up[1], out, sizeof(out)));
		for (got = 0; got < sizeof(out); got += n) {
			n = splice(up[0], NULL, self->client, NULL,
				   sizeof(out) - got, SPLICE_F_MOVE);
			ASSERT_LT(0, n);
		}
		for (got = 0; got < sizeof(in); got += n) {
			n = splice(self->server, NULL, down[1], NULL,
				   sizeof(in) - got, SPLICE_F_MOVE);
			ASSERT_LT(0, n);
		}
		ASSERT_EQ(sizeof(in), read(down[0], in, sizeof(in)));
		ASSERT_TRUE(pattern_check(in, sizeof(in), at));
		at += sizeof(in);
	}
}

SANX_TEST(splice_nonblocking)
{
	int p[2];

	ASSERT_EQ(0, pipe(p));
	ASSERT_EQ(0, set_nonblock(self->server, true));
	EXPECT_EQ(-EAGAIN, rc(splice(self->server, NULL, p[1], NULL, 100, 0)));
}

SANX_TEST(splice_end)
{
	char buf[8];
	int p[2];

	ASSERT_EQ(0, pipe(p));
	EXPECT_EQ(3, send(self->client, "abc", 3, 0));
	EXPECT_EQ(0, shutdown(self->client, SHUT_WR));
	EXPECT_EQ(3, splice(self->server, NULL, p[1], NULL, 100, 0));
	EXPECT_EQ(0, splice(self->server, NULL, p[1], NULL, 100, 0));
	EXPECT_EQ(3, read(p[0], buf, 8));
	EXPECT_EQ(0, memcmp(buf, "abc", 3));
}

/* vmsplice() and splice(): pages of the program itself. */
SANX_TEST(vmsplice)
{
	static char out[8192] __attribute__((aligned(4096)));
	struct iovec iov = { out, sizeof(out) };
	char in[8192];
	int p[2];

	ASSERT_EQ(0, pipe(p));
	pattern_fill(out, sizeof(out), 99);
	ASSERT_EQ(sizeof(out), vmsplice(p[1], &iov, 1, 0));
	ASSERT_EQ(sizeof(out), splice(p[0], NULL, self->client, NULL,
				      sizeof(out), 0));
	ASSERT_EQ(sizeof(in), recv_exact(self->server, in, sizeof(in)));
	EXPECT_TRUE(pattern_check(in, sizeof(in), 99));
}

/* Scattered vectors of odd sizes, gathered at the other end. */
SANX_TEST(vectors)
{
	static char buf[64][4000];
	struct iovec iov[64];
	size_t at = 0, total;
	int round, i, n;

	for (round = 0; round < 20; round++) {
		n = 1 + dice(64);
		total = 0;
		for (i = 0; i < n; i++) {
			iov[i].iov_base = buf[i];
			iov[i].iov_len = dice(1000);
			pattern_fill(buf[i], iov[i].iov_len, at + total);
			total += iov[i].iov_len;
		}
		ASSERT_EQ(total, writev(self->client, iov, n));
		ASSERT_EQ(0, recv_pattern(self->server, total, 0, at));
		at += total;
	}
}

/* Larger than any ring, in one call. */
SANX_TEST(one_call)
{
	char *buf = malloc(MANY);
	struct task t = { .fn = task_send, .buf = buf, .len = MANY };

	pattern_fill(buf, MANY, 0);
	for (int i = 0; i < 2; i++) {
		t.fd = self->end[i];
		task_start(&t);
		ASSERT_EQ(0, recv_pattern(self->end[!i], MANY, 65536, 0));
		ASSERT_EQ(0, task_wait(&t));
		EXPECT_EQ(MANY, t.ret);
	}
}

/* Buffers of the sizes that programs ask for, large and small. */
SANX_TEST(buffer_sizes)
{
	static const int sizes[] = { 1, 10000, 1 << 20 };
	struct task t = { .fn = task_send_all, .len = 200000 };
	struct address a = self->addr;
	int c, s, k;

	for (k = 0; k < 3; k++) {
		ASSERT_EQ(0, set_option(self->listener, SOL_SOCKET, SO_RCVBUF,
					sizes[k]));
		c = client_socket(variant);
		ASSERT_EQ(0, set_option(c, SOL_SOCKET, SO_RCVBUF, sizes[k]));
		ASSERT_EQ(0, set_option(c, SOL_SOCKET, SO_SNDBUF, sizes[k]));
		ASSERT_EQ(0, rc(connect(c, &a.sa, a.len)));
		s = rc(accept(self->listener, NULL, NULL));
		ASSERT_LE(0, s);
		/* A tiny window makes TCP slow, not wrong. */
		t.len = sizes[k] == 1 ? 20000 : 200000;
		t.fd = c;
		task_start(&t);
		ASSERT_EQ(0, recv_pattern(s, t.len, 0, 0));
		ASSERT_EQ(0, task_wait(&t));
		ASSERT_EQ(0, t.ret);
		t.fd = s;
		task_start(&t);
		ASSERT_EQ(0, recv_pattern(c, t.len, 0, 0));
		ASSERT_EQ(0, task_wait(&t));
		ASSERT_EQ(0, t.ret);
		close(c);
		close(s);
	}
}

SANX_TEST_MAIN
