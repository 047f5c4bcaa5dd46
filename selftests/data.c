// SPDX-License-Identifier: GPL-2.0
/*
 * The calls that send and receive, and their flags.
 *
 * clock: host how long a call waits
 */
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <linux/sockios.h>

#define DEFAULT_VARIANTS "tcp loop explicit fallback tcpclient tcpserver"

#include "sanx_test.h"

SANX_TEST(send_recv)
{
	char buf[16];

	for (int i = 0; i < 2; i++) {
		EXPECT_EQ(5, send(self->end[i], "hello", 5, 0));
		EXPECT_EQ(5, recv(self->end[!i], buf, sizeof(buf), 0));
		EXPECT_EQ(0, memcmp(buf, "hello", 5));
	}
}

SANX_TEST(write_read)
{
	char buf[16];

	for (int i = 0; i < 2; i++) {
		EXPECT_EQ(5, write(self->end[i], "hello", 5));
		EXPECT_EQ(2, read(self->end[!i], buf, 2));
		EXPECT_EQ(3, read(self->end[!i], buf + 2, sizeof(buf) - 2));
		EXPECT_EQ(0, memcmp(buf, "hello", 5));
	}
}

/* A stream keeps no boundaries. */
SANX_TEST(no_boundaries)
{
	char buf[64];

	for (int i = 0; i < 2; i++) {
		EXPECT_EQ(3, send(self->end[i], "abc", 3, 0));
		EXPECT_EQ(3, send(self->end[i], "def", 3, 0));
		EXPECT_EQ(3, send(self->end[i], "ghi", 3, MSG_MORE));
		EXPECT_EQ(1, send(self->end[i], "j", 1, 0));
		EXPECT_EQ(10, recv_exact(self->end[!i], buf, 10));
		EXPECT_EQ(0, memcmp(buf, "abcdefghij", 10));
	}
}

SANX_TEST(writev_readv)
{
	char out[3][100], in[4][80];
	struct iovec w[] = { { out[0], 1 }, { out[1], 0 }, { out[2], 99 },
			     { out[1], 100 } };
	struct iovec r[] = { { in[0], 7 }, { in[1], 80 }, { in[2], 80 },
			     { in[3], 80 } };
	char all[200], got[200];

	pattern_fill(all, 200, 0);
	for (int i = 0; i < 2; i++) {
		memcpy(out[0], all, 1);
		memcpy(out[2], all + 1, 99);
		memcpy(out[1], all + 100, 100);
		EXPECT_EQ(200, writev(self->end[i], w, 4));
		sleep_ms(1);
		EXPECT_EQ(200, readv(self->end[!i], r, 4));
		memcpy(got, in[0], 7);
		memcpy(got + 7, in[1], 80);
		memcpy(got + 87, in[2], 80);
		memcpy(got + 167, in[3], 33);
		EXPECT_TRUE(pattern_check(got, 200, 0));
	}
}

/* An address in a message is ignored, control data is none, flags are zero. */
SANX_TEST(sendmsg_recvmsg)
{
	char buf[32], control[64];
	struct iovec out[] = { { "scatter", 7 }, { " ", 1 }, { "gather", 6 } };
	struct iovec in[] = { { buf, 4 }, { buf + 4, 28 } };
	struct msghdr msg;

	for (int i = 0; i < 2; i++) {
		memset(&msg, 0, sizeof(msg));
		msg.msg_iov = out;
		msg.msg_iovlen = 3;
		EXPECT_EQ(14, sendmsg(self->end[i], &msg, 0));
		msg.msg_iov = in;
		msg.msg_iovlen = 2;
		msg.msg_control = control;
		msg.msg_controllen = sizeof(control);
		msg.msg_name = &self->addr.ss;
		msg.msg_namelen = sizeof(self->addr.ss);
		msg.msg_flags = -1;
		EXPECT_EQ(14, recvmsg(self->end[!i], &msg, 0));
		EXPECT_EQ(0, memcmp(buf, "scatter gather", 14));
		EXPECT_EQ(0, msg.msg_controllen);
		EXPECT_EQ(0, msg.msg_namelen);
		EXPECT_EQ(0, msg.msg_flags);
	}
}

SANX_TEST(sendmmsg_recvmmsg)
{
	struct mmsghdr out[3] = {}, in[3] = {};
	struct iovec w[3], r[3];
	char all[300], buf[3][100];
	int i;

	pattern_fill(all, 300, 0);
	for (i = 0; i < 3; i++) {
		w[i].iov_base = all + 100 * i;
		w[i].iov_len = 100;
		r[i].iov_base = buf[i];
		r[i].iov_len = 100;
		out[i].msg_hdr.msg_iov = &w[i];
		out[i].msg_hdr.msg_iovlen = 1;
		in[i].msg_hdr.msg_iov = &r[i];
		in[i].msg_hdr.msg_iovlen = 1;
	}
	EXPECT_EQ(3, sendmmsg(self->client, out, 3, 0));
	EXPECT_EQ(100, out[2].msg_len);
	EXPECT_EQ(POLLIN, poll_one(self->server, POLLIN, SOON));
	EXPECT_EQ(3, recvmmsg(self->server, in, 3, MSG_WAITALL, NULL));
	for (i = 0; i < 3; i++) {
		EXPECT_EQ(100, in[i].msg_len);
		EXPECT_TRUE(pattern_check(buf[i], 100, 100 * i));
	}
}

/* sendto() and recvfrom() with addresses that mean nothing here. */
SANX_TEST(sendto_recvfrom)
{
	struct address from;
	char buf[8];

	EXPECT_EQ(2, sendto(self->client, "hi", 2, 0, &self->addr.sa,
			    self->addr.len));
	from.len = sizeof(from.ss);
	EXPECT_EQ(2, recvfrom(self->server, buf, 8, 0, &from.sa, &from.len));
	EXPECT_EQ(0, from.len);
}

SANX_TEST(peek)
{
	char buf[8];

	for (int i = 0; i < 2; i++) {
		EXPECT_EQ(6, send(self->end[i], "peeked", 6, 0));
		EXPECT_EQ(3, recv(self->end[!i], buf, 3, MSG_PEEK));
		EXPECT_EQ(6, recv(self->end[!i], buf, 8, MSG_PEEK));
		EXPECT_EQ(0, memcmp(buf, "peeked", 6));
		EXPECT_EQ(6, recv(self->end[!i], buf, 8, 0));
		EXPECT_EQ(0, memcmp(buf, "peeked", 6));
		EXPECT_EQ(-EAGAIN, rc(recv(self->end[!i], buf, 8,
					   MSG_PEEK | MSG_DONTWAIT)));
	}
}

/* Peeking across what was gathered from several sends, and at the end. */
SANX_TEST(peek_at_end)
{
	char buf[8];

	EXPECT_EQ(2, send(self->client, "ab", 2, 0));
	EXPECT_EQ(2, send(self->client, "cd", 2, 0));
	EXPECT_EQ(0, shutdown(self->client, SHUT_WR));
	EXPECT_EQ(4, recv(self->server, buf, 8, MSG_PEEK | MSG_WAITALL));
	EXPECT_EQ(0, memcmp(buf, "abcd", 4));
	EXPECT_EQ(4, recv(self->server, buf, 8, MSG_WAITALL));
	EXPECT_EQ(0, recv(self->server, buf, 8, MSG_PEEK));
	EXPECT_EQ(0, recv(self->server, buf, 8, 0));
}

SANX_TEST(waitall)
{
	char buf[8];
	struct task t = { .fn = task_recv, .buf = buf, .len = 8,
			  .flags = MSG_WAITALL };

	for (int i = 0; i < 2; i++) {
		t.fd = self->end[!i];
		EXPECT_EQ(3, send(self->end[i], "abc", 3, 0));
		task_start(&t);
		ASSERT_TRUE(task_blocked(&t));
		EXPECT_EQ(4, send(self->end[i], "defg", 4, 0));
		ASSERT_TRUE(task_blocked(&t));
		EXPECT_EQ(2, send(self->end[i], "hi", 2, 0));
		ASSERT_EQ(0, task_wait(&t));
		EXPECT_EQ(8, t.ret);
		EXPECT_EQ(0, memcmp(buf, "abcdefgh", 8));
		EXPECT_EQ(1, recv(self->end[!i], buf, 8, 0));
	}
}

/* More than any buffer holds. */
SANX_TEST(waitall_large)
{
	size_t len = 600000;
	struct task t = { .fn = task_send_all, .fd = self->client, .len = len };
	char *buf = malloc(len);

	task_start(&t);
	EXPECT_EQ(len, recv(self->server, buf, len, MSG_WAITALL));
	EXPECT_TRUE(pattern_check(buf, len, 0));
	ASSERT_EQ(0, task_wait(&t));
	EXPECT_EQ(0, t.ret);
}

/* MSG_WAITALL ends early at the end of the stream. */
SANX_TEST(waitall_end)
{
	char buf[8];

	EXPECT_EQ(3, send(self->client, "abc", 3, 0));
	EXPECT_EQ(0, shutdown(self->client, SHUT_WR));
	EXPECT_EQ(3, recv(self->server, buf, 8, MSG_WAITALL));
	EXPECT_EQ(0, recv(self->server, buf, 8, MSG_WAITALL));
}

SANX_TEST(dontwait)
{
	char buf[8];

	for (int i = 0; i < 2; i++) {
		EXPECT_EQ(-EAGAIN, rc(recv(self->end[i], buf, 8,
					   MSG_DONTWAIT)));
		set_nonblock(self->end[i], true);
		EXPECT_EQ(-EAGAIN, rc(recv(self->end[i], buf, 8, 0)));
		EXPECT_EQ(-EAGAIN, rc(recv(self->end[i], buf, 8,
					   MSG_WAITALL)));
		EXPECT_EQ(-EAGAIN, rc(read(self->end[i], buf, 8)));
		EXPECT_EQ(2, send(self->end[!i], "ab", 2, 0));
		EXPECT_EQ(POLLIN, poll_one(self->end[i], POLLIN, SOON));
		EXPECT_EQ(2, recv(self->end[i], buf, 8, MSG_WAITALL));
		set_nonblock(self->end[i], false);
	}
}

/* TCP: bytes that are to be dropped are counted and not copied. */
SANX_TEST(trunc)
{
	char buf[8] = "........";

	for (int i = 0; i < 2; i++) {
		memset(buf, '.', 8);
		EXPECT_EQ(6, send(self->end[i], "abcdef", 6, 0));
		EXPECT_EQ(4, recv(self->end[!i], buf, 4, MSG_TRUNC));
		EXPECT_EQ(0, memcmp(buf, "........", 8));
		EXPECT_EQ(2, recv(self->end[!i], NULL, 2, MSG_TRUNC));
		EXPECT_EQ(2, send(self->end[i], "gh", 2, 0));
		EXPECT_EQ(2, recv(self->end[!i], buf, 8, 0));
		EXPECT_EQ(0, memcmp(buf, "gh......", 8));
	}
}

SANX_TEST(zero_length)
{
	char buf[8];

	for (int i = 0; i < 2; i++) {
		EXPECT_EQ(0, send(self->end[i], "", 0, 0));
		EXPECT_EQ(0, write(self->end[i], buf, 0));
		EXPECT_EQ(-EAGAIN, rc(recv(self->end[!i], buf, 8,
					   MSG_DONTWAIT)));
		EXPECT_EQ(-EAGAIN, rc(recv(self->end[!i], buf, 0,
					   MSG_DONTWAIT)));
		EXPECT_EQ(1, send(self->end[i], "a", 1, 0));
		EXPECT_EQ(POLLIN, poll_one(self->end[!i], POLLIN, SOON));
		EXPECT_EQ(0, recv(self->end[!i], buf, 0, 0));
		EXPECT_EQ(1, recv(self->end[!i], buf, 8, 0));
	}
}

/* A bad address fails the call and harms nothing. */
SANX_TEST(fault)
{
	char buf[8];

	for (int i = 0; i < 2; i++) {
		EXPECT_EQ(-EFAULT, rc(send(self->end[i], (void *)8, 5, 0)));
		EXPECT_EQ(2, send(self->end[i], "ok", 2, 0));
		EXPECT_EQ(POLLIN, poll_one(self->end[!i], POLLIN, SOON));
		EXPECT_EQ(-EFAULT, rc(recv(self->end[!i], (void *)8, 2, 0)));
		EXPECT_EQ(2, recv(self->end[!i], buf, 8, 0));
		EXPECT_EQ(0, memcmp(buf, "ok", 2));
	}
}

/* Bytes before the bad page were sent: the call says so, or sends none. */
SANX_TEST(fault_in_middle)
{
	size_t page = sysconf(_SC_PAGESIZE);
	char *map = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char buf[256];
	ssize_t n;

	ASSERT_NE(MAP_FAILED, map);
	ASSERT_EQ(0, munmap(map + page, page));
	pattern_fill(map + page - 100, 100, 0);
	n = rc(send(self->client, map + page - 100, 200, 0));
	if (n != -EFAULT) {
		ASSERT_LT(0, n);
		ASSERT_GE(100, n);
		EXPECT_EQ(n, recv_exact(self->server, buf, n));
		EXPECT_TRUE(pattern_check(buf, n, 0));
	}
	/* Whatever it was, the stream goes on where it was. */
	EXPECT_EQ(4, send(self->client, "next", 4, 0));
	EXPECT_EQ(4, recv_exact(self->server, buf, 4));
	EXPECT_EQ(0, memcmp(buf, "next", 4));
}

/* Pages that are not in memory are fetched. */
SANX_TEST(not_in_memory)
{
	size_t page = sysconf(_SC_PAGESIZE);
	char *map = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char buf[16], zero[16] = {};

	ASSERT_NE(MAP_FAILED, map);
	for (int i = 0; i < 2; i++) {
		memset(map, 'x', 2 * page);
		ASSERT_EQ(0, madvise(map, 2 * page, MADV_DONTNEED));
		EXPECT_EQ(8, send(self->end[i], map + page - 4, 8, 0));
		EXPECT_EQ(8, recv_exact(self->end[!i], buf, 8));
		EXPECT_EQ(0, memcmp(buf, zero, 8));
	}
	munmap(map, 2 * page);
}

SANX_TEST(not_connected)
{
	int fd = client_socket(variant);
	char c;

	EXPECT_EQ(-ENOTCONN, rc(recv(fd, &c, 1, 0)));
	EXPECT_EQ(-EPIPE, rc(send(fd, "x", 1, 0)));
	EXPECT_EQ(-ENOTCONN, rc(recv(fd, &c, 1, MSG_DONTWAIT)));
	EXPECT_EQ(-EPIPE, rc(send(fd, "x", 1, MSG_DONTWAIT)));
	EXPECT_EQ(-ENOTCONN, rc(shutdown(fd, SHUT_WR)));
	EXPECT_EQ(-ENOTCONN, rc(recv(self->listener, &c, 1, 0)));
	EXPECT_EQ(-EPIPE, rc(send(self->listener, "x", 1, 0)));
}

SANX_TEST(recv_timeout)
{
	long start;
	char c;

	for (int i = 0; i < 2; i++) {
		ASSERT_EQ(0, set_timeout(self->end[i], SO_RCVTIMEO, LIMIT));
		start = now_ms();
		EXPECT_EQ(-EAGAIN, rc(recv(self->end[i], &c, 1, 0)));
		EXPECT_LE(LIMIT_AT_LEAST, now_ms() - start);
		EXPECT_GE(SOON, now_ms() - start);
		EXPECT_EQ(1, send(self->end[!i], "x", 1, 0));
		EXPECT_EQ(1, recv(self->end[i], &c, 1, 0));
	}
}

/* A time-out in the middle of MSG_WAITALL returns what there is. */
SANX_TEST(recv_timeout_partial)
{
	char buf[8];

	ASSERT_EQ(0, set_timeout(self->server, SO_RCVTIMEO, LIMIT));
	EXPECT_EQ(3, send(self->client, "abc", 3, 0));
	EXPECT_EQ(3, recv(self->server, buf, 8, MSG_WAITALL));
}

SANX_TEST(lowat)
{
	char buf[16];
	struct task t = { .fn = task_recv, .buf = buf, .len = 16 };

	for (int i = 0; i < 2; i++) {
		t.fd = self->end[!i];
		ASSERT_EQ(0, set_option(t.fd, SOL_SOCKET, SO_RCVLOWAT, 5));
		EXPECT_EQ(3, send(self->end[i], "abc", 3, 0));
		EXPECT_EQ(0, poll_one(t.fd, POLLIN, A_WHILE));
		task_start(&t);
		ASSERT_TRUE(task_blocked(&t));
		/* TCP does not wake for less, whatever it has got before. */
		EXPECT_EQ(5, send(self->end[i], "defgh", 5, 0));
		ASSERT_EQ(0, task_wait(&t));
		EXPECT_EQ(8, t.ret);
		EXPECT_EQ(6, send(self->end[i], "123456", 6, 0));
		EXPECT_EQ(POLLIN, poll_one(t.fd, POLLIN, SOON));
		EXPECT_EQ(6, recv(t.fd, buf, 16, 0));
		/* What is less than the mark is there for who does not wait. */
		EXPECT_EQ(2, send(self->end[i], "xy", 2, 0));
		EXPECT_EQ(0, poll_one(t.fd, POLLIN, A_WHILE));
		EXPECT_EQ(2, recv(t.fd, buf, 16, MSG_DONTWAIT));
	}
}

SANX_TEST(queues)
{
	char buf[8];
	int n, in;

	for (int i = 0; i < 2; i++) {
		EXPECT_EQ(0, ioctl(self->end[!i], SIOCINQ, &n));
		EXPECT_EQ(0, n);
		EXPECT_EQ(6, send(self->end[i], "abcdef", 6, 0));
		EXPECT_EQ(POLLIN, poll_one(self->end[!i], POLLIN, SOON));
		EXPECT_EQ(0, ioctl(self->end[!i], FIONREAD, &n));
		EXPECT_EQ(6, n);
		EXPECT_EQ(2, recv(self->end[!i], buf, 2, 0));
		EXPECT_EQ(0, ioctl(self->end[!i], SIOCINQ, &n));
		EXPECT_EQ(4, n);
		EXPECT_EQ(4, recv(self->end[!i], buf, 8, 0));
		EXPECT_EQ(0, ioctl(self->end[!i], SIOCINQ, &n));
		EXPECT_EQ(0, n);
	}
	/* What nobody has read is somewhere. */
	n = fill(variant, self->client);
	EXPECT_EQ(0, ioctl(self->server, SIOCINQ, &in));
	EXPECT_LT(0, in);
	EXPECT_GE(n, in);
	EXPECT_EQ(0, ioctl(self->client, SIOCOUTQ, &in));
	EXPECT_LE(0, in);
	EXPECT_GE(n, in);
	ASSERT_EQ(n, drain_socket(self->server, n));
}

/* Once all is read, nothing is on its way. */
SANX_TEST(outq_empties)
{
	long end = now_ms() + SOON;
	int n = -1;

	ASSERT_EQ(0, send_pattern(self->client, 50000, 1000, 0));
	ASSERT_EQ(0, recv_pattern(self->server, 50000, 1000, 0));
	while (now_ms() < end && !ioctl(self->client, SIOCOUTQ, &n) && n)
		sleep_ms(1);
	EXPECT_EQ(0, n);
}

SANX_TEST(queues_of_listener)
{
	int n;

	EXPECT_EQ(-EINVAL, rc(ioctl(self->listener, SIOCINQ, &n)));
	EXPECT_EQ(-EINVAL, rc(ioctl(self->listener, SIOCOUTQ, &n)));
}

/* A peek begins where the last one ended; reading brings it nearer. */
SANX_TEST(peek_off)
{
	int fd = stream_socket(false, variant->family), off = 0;
	socklen_t len = sizeof(off);
	char buf[16];
	int err;

	/* As TCP on this kernel, which may have no such option. */
	err = rc(setsockopt(fd, SOL_SOCKET, SO_PEEK_OFF, &off, len));
	close(fd);
	ASSERT_EQ(err, rc(setsockopt(self->server, SOL_SOCKET, SO_PEEK_OFF,
				     &off, len)));
	if (err) {
		ASSERT_EQ(-EOPNOTSUPP, err);
		return;
	}
	EXPECT_EQ(8, send(self->client, "abcdefgh", 8, 0));
	EXPECT_EQ(3, recv(self->server, buf, 3, MSG_PEEK | MSG_WAITALL));
	EXPECT_EQ(0, memcmp(buf, "abc", 3));
	EXPECT_EQ(2, recv(self->server, buf, 2, MSG_PEEK | MSG_WAITALL));
	EXPECT_EQ(0, memcmp(buf, "de", 2));
	EXPECT_EQ(4, recv(self->server, buf, 4, 0));
	EXPECT_EQ(0, memcmp(buf, "abcd", 4));
	EXPECT_EQ(3, recv(self->server, buf, 16, MSG_PEEK));
	EXPECT_EQ(0, memcmp(buf, "fgh", 3));
	EXPECT_EQ(-EAGAIN, rc(recv(self->server, buf, 1,
				   MSG_PEEK | MSG_DONTWAIT)));
	EXPECT_EQ(0, getsockopt(self->server, SOL_SOCKET, SO_PEEK_OFF, &off,
				&len));
	EXPECT_EQ(4, off);
	EXPECT_EQ(4, recv(self->server, buf, 16, 0));
	EXPECT_EQ(0, memcmp(buf, "efgh", 4));
}

SANX_TEST(at_mark)
{
	int n = -1;

	EXPECT_EQ(0, ioctl(self->client, SIOCATMARK, &n));
	EXPECT_EQ(0, n);
	EXPECT_EQ(-EINVAL, rc(recv(self->client, &n, 1, MSG_OOB)));
}

/* Every size from nothing to past a page, every alignment. */
SANX_TEST(sizes)
{
	static char out[9000], in[9000];
	uint64_t at = 0;
	size_t n;

	for (n = 1; n < 8600; n += n < 140 ? 1 : 397) {
		pattern_fill(out + n % 61, n, at);
		ASSERT_EQ(n, send(self->client, out + n % 61, n, 0));
		ASSERT_EQ(n, recv_exact(self->server, in + n % 53, n));
		ASSERT_TRUE(pattern_check(in + n % 53, n, at));
		at += n;
	}
}

/* A request and its answer, many times. */
SANX_TEST(ping_pong)
{
	char buf[64];
	int i;

	for (i = 0; i < 500; i++) {
		pattern_fill(buf, 64, i);
		ASSERT_EQ(64, send(self->end[i & 1], buf, 64, 0));
		ASSERT_EQ(64, recv_exact(self->end[!(i & 1)], buf, 64));
		ASSERT_TRUE(pattern_check(buf, 64, i));
	}
}

SANX_TEST_MAIN
