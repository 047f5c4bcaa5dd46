// SPDX-License-Identifier: GPL-2.0
/*
 * SOCK_SEQPACKET of explicit sockets: each record comes whole, once, and by itself.  What
 * AF_UNIX has too is tried there first.
 *
 * no siw: the wire does not matter
 * no rail: two_node/explicit_nodes.sh
 */
#include <liburing.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/wait.h>
#include <unistd.h>

#include <linux/errqueue.h>
#include <linux/sockios.h>

#define DEFAULT_VARIANTS "explicit"
#define SOCKET_TYPE SOCK_SEQPACKET

#include "lib/slow.h"
#include "sanx_test.h"

#define SEQ_TEST(name) SANX_TEST_OF("explicit explicitverbs", name)

/* Bytes of the longest record. */
#define LONGEST	(1024 * 1024)
/* Bytes of one that is not copied behind its header. */
#define LONG_RECORD	3000

static char record[LONGEST + 1];
static char got[LONGEST + 1];

/* Sends a record of the pattern from @offset on; its length, or -errno. */
static long send_record(int fd, size_t len, uint64_t offset, int flags)
{
	char *buf = malloc(len + 1);
	long ret;

	pattern_fill(buf, len, offset);
	ret = rc(send(fd, buf, len, flags | MSG_NOSIGNAL));
	free(buf);
	return ret;
}

/* Receives one into a larger buffer; its length, or -errno, or -EBADMSG for other bytes. */
static long recv_record(int fd, uint64_t offset, int flags)
{
	char *buf = malloc(LONGEST + 1);
	long n = rc(recv(fd, buf, LONGEST + 1, flags));

	if (n > 0 && !pattern_check(buf, n, offset))
		n = -EBADMSG;
	free(buf);
	return n;
}

/* In a thread: a send() without room, or one that lends its pages, waits. */
static long task_record(struct task *t)
{
	return send_record(t->fd, t->len, 0, t->flags);
}

static void check_record(struct __test_metadata *_metadata, int from, int to, size_t len)
{
	struct task t = { .fn = task_record, .fd = from, .len = len };

	task_start(&t);
	ASSERT_EQ((long)len, recv_record(to, 0, 0));
	ASSERT_EQ(0, task_wait(&t));
	ASSERT_EQ((long)len, t.ret);
}

SEQ_TEST(lengths)
{
	static const size_t lens[] = {
		1, 7, 8, 9, 255, 256, 257, 1000, 1016, 1024, 4088, 4096, 16384, 16385, 32767,
		32768, 65536, 100000, 131064, 131072, 500000, LONGEST - 1, LONGEST,
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(lens); i++) {
		check_record(_metadata, self->client, self->server, lens[i]);
		check_record(_metadata, self->server, self->client, lens[i]);
	}
}

SEQ_TEST(type)
{
	struct address a = self->addr;
	int fd;

	EXPECT_EQ(SOCK_SEQPACKET, get_option(self->client, SOL_SOCKET, SO_TYPE));
	EXPECT_EQ(SOCK_SEQPACKET, get_option(self->server, SOL_SOCKET, SO_TYPE));
	EXPECT_EQ(SANXPROTO_EXPLICIT, get_option(self->server, SOL_SOCKET, SO_PROTOCOL));
	EXPECT_EQ(-EOPNOTSUPP, rc(socketpair(node_family(), SOCK_SEQPACKET, SANXPROTO_EXPLICIT,
					     (int [2]){ 0 })));
	EXPECT_EQ(-ESOCKTNOSUPPORT, rc(socket(node_family(), SOCK_SEQPACKET, 0)));
	/* The ports of streams are others. */
	fd = rc(node_socket(true, FAMILY_EXPLICIT, SOCK_STREAM));
	ASSERT_LE(0, fd);
	EXPECT_EQ(-ECONNREFUSED, rc(connect(fd, &a.sa, a.len)));
	a.sx.sanx_node = SANX_NODE_ANY;
	EXPECT_EQ(0, rc(bind(fd, &a.sa, a.len)));
	close(fd);
	fd = server_socket(variant);
	EXPECT_EQ(-EADDRINUSE, rc(bind(fd, &a.sa, a.len)));
	close(fd);
}

/* Longer than any buffer, so they come while they are read. */
static long send_many(struct task *t)
{
	uint64_t offset = 0;

	for (size_t i = 0; i < t->len; i++) {
		size_t len = dice(4) ? dice(3000) : dice(200000);
		long n = send_record(t->fd, len, offset, 0);

		if (n != (long)len)
			return n < 0 ? n : -EBADMSG;
		offset += len;
	}
	shutdown(t->fd, SHUT_WR);
	return offset;
}

/* With @flags of recv(); with MSG_DONTWAIT, poll() says when. */
static void take_many(struct __test_metadata *_metadata, int from, int to, size_t many,
		      int flags)
{
	struct task t = { .fn = send_many, .fd = from, .len = many };
	uint64_t offset = 0;
	size_t i;
	long n;

	dice_seed(many);
	task_start(&t);
	for (i = 0; i < many; i++) {
		if (flags & MSG_DONTWAIT)
			ASSERT_LT(0, poll_one(to, POLLIN, SOON));
		n = recv_record(to, offset, flags);
		ASSERT_LE(0, n) TH_LOG("record %zu: %ld", i, n);
		offset += n;
	}
	ASSERT_EQ(0, task_wait(&t));
	EXPECT_EQ((long)offset, t.ret);
	EXPECT_EQ(0, recv_record(to, 0, 0));
}

SEQ_TEST(in_order)
{
	take_many(_metadata, self->client, self->server, 400, 0);
	take_many(_metadata, self->server, self->client, 400, 0);
}

/* poll() does not report what is not there. */
SEQ_TEST(polled)
{
	take_many(_metadata, self->client, self->server, 400, MSG_DONTWAIT);
	take_many(_metadata, self->server, self->client, 400, MSG_DONTWAIT);
}

/* As a server of AF_UNIX has it: the pair of the fixture, or one of AF_UNIX. */
static void unix_pair(struct __test_metadata *_metadata, int end[2])
{
	ASSERT_EQ(0, rc(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, end)));
}

/* recv() of @size bytes; the flags that it sets are @flags. */
static long recv_flags(int fd, size_t size, int how, int *flags)
{
	struct iovec iov = { got, size };
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1 };
	long n = rc(recvmsg(fd, &m, how));

	*flags = m.msg_flags;
	return n;
}

static void truncate_record(struct __test_metadata *_metadata, const int end[2])
{
	int flags;

	for (int i = 0; i < 4; i++)
		ASSERT_EQ(100, send_record(end[0], 100, 0, 0));
	EXPECT_EQ(40, recv_flags(end[1], 40, 0, &flags));
	EXPECT_EQ(MSG_TRUNC, flags);
	EXPECT_TRUE(pattern_check(got, 40, 0));
	EXPECT_EQ(100, recv_flags(end[1], 40, MSG_TRUNC, &flags));
	EXPECT_EQ(MSG_TRUNC, flags);
	EXPECT_TRUE(pattern_check(got, 40, 0));
	EXPECT_EQ(0, recv_flags(end[1], 0, 0, &flags));
	EXPECT_EQ(MSG_TRUNC, flags);
	EXPECT_EQ(100, recv_flags(end[1], 200, MSG_WAITALL, &flags));
	EXPECT_EQ(0, flags);
	EXPECT_EQ(-EAGAIN, recv_flags(end[1], 100, MSG_DONTWAIT, &flags));
}

SEQ_TEST(truncated)
{
	int end[2];

	unix_pair(_metadata, end);
	truncate_record(_metadata, end);
	truncate_record(_metadata, self->end);
}

static void peek_record(struct __test_metadata *_metadata, const int end[2])
{
	int flags;

	ASSERT_EQ(100, send_record(end[0], 100, 0, 0));
	ASSERT_EQ(50, send_record(end[0], 50, 100, 0));
	for (int i = 0; i < 2; i++) {
		EXPECT_EQ(100, recv_flags(end[1], 200, MSG_PEEK, &flags));
		EXPECT_EQ(0, flags);
		EXPECT_EQ(30, recv_flags(end[1], 30, MSG_PEEK, &flags));
		EXPECT_EQ(MSG_TRUNC, flags);
		EXPECT_EQ(100, recv_flags(end[1], 30, MSG_PEEK | MSG_TRUNC, &flags));
		EXPECT_TRUE(pattern_check(got, 30, 0));
	}
	EXPECT_EQ(100, recv_record(end[1], 0, 0));
	EXPECT_EQ(50, recv_record(end[1], 100, MSG_PEEK));
	EXPECT_EQ(50, recv_record(end[1], 100, 0));
	EXPECT_EQ(-EAGAIN, recv_record(end[1], 0, MSG_PEEK | MSG_DONTWAIT));
}

SEQ_TEST(peeked)
{
	int end[2];

	unix_pair(_metadata, end);
	peek_record(_metadata, end);
	peek_record(_metadata, self->end);
}

static void empty_record(struct __test_metadata *_metadata, const int end[2])
{
	EXPECT_EQ(0, poll_one(end[1], POLLIN, 0));
	EXPECT_EQ(0, send_record(end[0], 0, 0, 0));
	EXPECT_EQ(10, send_record(end[0], 10, 0, 0));
	EXPECT_LT(0, poll_one(end[1], POLLIN, SOON));
	EXPECT_EQ(0, recv_record(end[1], 0, 0));
	EXPECT_EQ(10, recv_record(end[1], 0, 0));
	EXPECT_EQ(-EAGAIN, recv_record(end[1], 0, MSG_DONTWAIT));
}

SEQ_TEST(empty)
{
	int end[2];

	unix_pair(_metadata, end);
	empty_record(_metadata, end);
	empty_record(_metadata, self->end);
}

SEQ_TEST(end_of_record)
{
	int flags;

	ASSERT_EQ(100, send_record(self->client, 100, 0, MSG_EOR));
	ASSERT_EQ(100, send_record(self->client, 100, 0, 0));
	ASSERT_EQ(40000, send_record(self->client, 40000, 0, MSG_EOR));
	EXPECT_EQ(50, recv_flags(self->server, 50, 0, &flags));
	EXPECT_EQ(MSG_TRUNC | MSG_EOR, flags);
	EXPECT_EQ(100, recv_flags(self->server, 100, 0, &flags));
	EXPECT_EQ(0, flags);
	EXPECT_EQ(40000, recv_flags(self->server, 40000, 0, &flags));
	EXPECT_EQ(MSG_EOR, flags);
}

SEQ_TEST(too_long)
{
	EXPECT_EQ(-EMSGSIZE, send_record(self->client, LONGEST + 1, 0, 0));
	check_record(_metadata, self->client, self->server, LONGEST);
}

/* What the program cannot send is not begun. */
SEQ_TEST(bad_memory)
{
	size_t page = sysconf(_SC_PAGESIZE);
	char *mem = mmap(NULL, 16 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			 -1, 0);

	ASSERT_NE(MAP_FAILED, mem);
	ASSERT_EQ(0, munmap(mem + 15 * page, page));
	EXPECT_EQ(-EFAULT, rc(send(self->client, mem + 15 * page, 100, 0)));
	EXPECT_EQ(-EFAULT, rc(send(self->client, mem + 15 * page - 50, 100, 0)));
	EXPECT_EQ(-EFAULT, rc(send(self->client, mem, 16 * page, 0)));
	check_record(_metadata, self->client, self->server, 1000);
	/* One that cannot be read is lost, as over AF_UNIX. */
	ASSERT_EQ(100, send_record(self->client, 100, 0, 0));
	ASSERT_EQ(50000, send_record(self->client, 50000, 0, 0));
	EXPECT_EQ(-EFAULT, rc(recv(self->server, mem + 15 * page, 100, MSG_PEEK)));
	EXPECT_EQ(-EFAULT, rc(recv(self->server, mem + 15 * page, 100, 0)));
	EXPECT_EQ(-EFAULT, rc(recv(self->server, mem + 14 * page, 50000, 0)));
	check_record(_metadata, self->client, self->server, 1000);
	munmap(mem, 15 * page);
}

SEQ_TEST(nothing_urgent)
{
	EXPECT_EQ(-EOPNOTSUPP, send_record(self->client, 1, 0, MSG_OOB));
	EXPECT_EQ(-EOPNOTSUPP, recv_record(self->server, 0, MSG_OOB));
	EXPECT_EQ(-EOPNOTSUPP, set_option(self->server, SOL_SOCKET, SO_PEEK_OFF, 0));
}

/* Sends records until there is no room.  Return: how many, or -errno. */
static long fill_records(int fd, size_t len)
{
	long sent = 0, n;

	for (;;) {
		n = send_record(fd, len, 0, MSG_DONTWAIT);
		if (n == -EAGAIN && poll_one(fd, POLLOUT, 2 * A_WHILE) <= 0)
			return sent;
		if (n == -EAGAIN)
			continue;
		if (n != (long)len)
			return n < 0 ? n : -EBADMSG;
		sent++;
	}
}

/* Who does not wait sends a record whole, or not at all, and poll() says when. */
static void fill_with(struct __test_metadata *_metadata, const int end[2], size_t len)
{
	long sent = fill_records(end[0], len), taken;

	ASSERT_LT(0, sent);
	for (taken = 0; taken < sent; taken++)
		ASSERT_EQ((long)len, recv_record(end[1], 0, 0));
	EXPECT_EQ(-EAGAIN, recv_record(end[1], 0, MSG_DONTWAIT));
	EXPECT_EQ(POLLOUT, poll_one(end[0], POLLOUT, SOON));
}

SEQ_TEST(filled)
{
	fill_with(_metadata, self->end, 3000);
	fill_with(_metadata, self->end, 300000);
	fill_with(_metadata, self->end, LONGEST);
}

/* A small send buffer takes a record that is larger, once there is room. */
SEQ_TEST(small_buffer)
{
	ASSERT_EQ(0, set_option(self->client, SOL_SOCKET, SO_SNDBUF, 4096));
	ASSERT_EQ(0, set_option(self->server, SOL_SOCKET, SO_RCVBUF, 4096));
	fill_with(_metadata, self->end, 3000);
	fill_with(_metadata, self->end, 200000);
	check_record(_metadata, self->client, self->server, LONGEST);
}

/* io_uring waits for room with poll(), and tries again with what is left of its message. */
static void uring_with(struct __test_metadata *_metadata, const int end[2], size_t len)
{
	struct io_uring_cqe *cqe;
	char buf[LONG_RECORD];
	struct io_uring ring;
	long sent;

	ASSERT_EQ(0, io_uring_queue_init(4, &ring, 0));
	sent = fill_records(end[0], len);
	ASSERT_LT(0, sent);
	pattern_fill(buf, len, 7);
	io_uring_prep_send(io_uring_get_sqe(&ring), end[0], buf, len, 0);
	ASSERT_EQ(1, io_uring_submit(&ring));
	EXPECT_EQ(-EAGAIN, io_uring_peek_cqe(&ring, &cqe));
	while (sent--)
		ASSERT_EQ((long)len, recv_record(end[1], 0, 0));
	ASSERT_EQ((long)len, recv_record(end[1], 7, 0));
	ASSERT_EQ(0, io_uring_wait_cqe(&ring, &cqe));
	EXPECT_EQ((int)len, cqe->res);
	io_uring_queue_exit(&ring);
}

SEQ_TEST(uring)
{
	ASSERT_EQ(0, set_option(self->client, SOL_SOCKET, SO_SNDBUF, 4096));
	ASSERT_EQ(0, set_option(self->server, SOL_SOCKET, SO_RCVBUF, 4096));
	uring_with(_metadata, self->end, 100);
	uring_with(_metadata, self->end, LONG_RECORD);
}

/* Threads that send records of one byte each, many times. */
#define THREADS	3
#define EACH	60
#define ONE_LEN	70000

static long send_same(struct task *t)
{
	char *buf = malloc(ONE_LEN);
	long n = 0;

	memset(buf, t->flags, ONE_LEN);
	for (int i = 0; i < EACH && n >= 0; i++)
		n = rc(send(t->fd, buf, ONE_LEN - t->flags, 0));
	free(buf);
	return n;
}

static long recv_same(struct task *t)
{
	char *buf = malloc(ONE_LEN);
	long n, done = 0;

	while ((n = rc(recv(t->fd, buf, ONE_LEN, 0))) > 0) {
		if (n != ONE_LEN - buf[0] || memcmp(buf, buf + 1, n - 1))
			n = -EBADMSG;
		if (n < 0)
			break;
		done++;
	}
	free(buf);
	return n < 0 ? n : done;
}

SEQ_TEST(many_threads)
{
	struct task tx[THREADS], rx[THREADS];
	long done = 0;
	int i;

	for (i = 0; i < THREADS; i++) {
		tx[i] = (struct task){ .fn = send_same, .fd = self->client, .flags = i + 1 };
		rx[i] = (struct task){ .fn = recv_same, .fd = self->server };
		task_start(&rx[i]);
		task_start(&tx[i]);
	}
	for (i = 0; i < THREADS; i++) {
		ASSERT_EQ(0, task_wait(&tx[i]));
		EXPECT_EQ(ONE_LEN - i - 1, tx[i].ret);
	}
	EXPECT_EQ(0, rc(shutdown(self->client, SHUT_WR)));
	for (i = 0; i < THREADS; i++) {
		ASSERT_EQ(0, task_wait(&rx[i]));
		EXPECT_LE(0, rx[i].ret);
		done += rx[i].ret;
	}
	EXPECT_EQ(THREADS * EACH, done);
}

/* The end of the stream does not come into a record. */
SEQ_TEST(shut_down_meanwhile)
{
	for (int i = 0; i < 10; i++) {
		struct task t = { .fn = task_record, .len = LONGEST };
		int client, server;
		long n;

		connect_pair(_metadata, self, variant, &client, &server);
		t.fd = client;
		task_start(&t);
		if (i % 2)
			EXPECT_LT(0, poll_one(server, POLLIN, SOON));
		EXPECT_EQ(0, rc(shutdown(client, SHUT_WR)));
		n = recv_record(server, 0, 0);
		ASSERT_EQ(0, task_wait(&t));
		/* All of it or nothing, and both ends say the same. */
		if (t.ret == LONGEST) {
			EXPECT_EQ(LONGEST, n);
			n = recv_record(server, 0, 0);
		} else {
			EXPECT_EQ(-EPIPE, t.ret);
		}
		EXPECT_EQ(0, n);
		close(client);
		close(server);
	}
}

SEQ_TEST(ends)
{
	ASSERT_EQ(100, send_record(self->client, 100, 0, 0));
	ASSERT_EQ(0, send_record(self->client, 0, 0, 0));
	ASSERT_EQ(0, rc(shutdown(self->client, SHUT_WR)));
	EXPECT_EQ(-EPIPE, send_record(self->client, 1, 0, 0));
	EXPECT_EQ(100, recv_record(self->server, 0, 0));
	EXPECT_EQ(0, recv_record(self->server, 0, 0));
	/* The end may come after what was sent before it. */
	EXPECT_EQ(POLLRDHUP, poll_one(self->server, POLLRDHUP, SOON));
	EXPECT_EQ(POLLIN | POLLRDHUP, poll_one(self->server, POLLIN | POLLRDHUP, SOON));
	EXPECT_EQ(0, recv_record(self->server, 0, MSG_DONTWAIT));
	EXPECT_EQ(0, recv_record(self->server, 0, MSG_DONTWAIT | MSG_PEEK));
	/* The other way is open. */
	check_record(_metadata, self->server, self->client, 1000);
	ASSERT_EQ(10, send_record(self->server, 10, 0, 0));
	EXPECT_LT(0, poll_one(self->client, POLLIN, SOON));
	/* What was not read makes it a reset. */
	close(self->client);
	EXPECT_LT(0, poll_one(self->server, POLLHUP, SOON));
	EXPECT_EQ(-EPIPE, send_record(self->server, 10, 0, 0));
	self->client = -1;
}

SEQ_TEST(inq)
{
	int n = -1;

	EXPECT_EQ(0, rc(ioctl(self->server, SIOCINQ, &n)));
	EXPECT_EQ(0, n);
	ASSERT_EQ(1234, send_record(self->client, 1234, 0, 0));
	ASSERT_EQ(99, send_record(self->client, 99, 0, 0));
	ASSERT_LT(0, poll_one(self->server, POLLIN, SOON));
	EXPECT_EQ(0, rc(ioctl(self->server, SIOCINQ, &n)));
	EXPECT_EQ(1234, n);
	EXPECT_EQ(1234, recv_record(self->server, 0, 0));
	EXPECT_EQ(0, rc(ioctl(self->server, SIOCINQ, &n)));
	EXPECT_EQ(99, n);
}

/* A record is enough, whatever the mark. */
SEQ_TEST(low_mark)
{
	ASSERT_EQ(0, set_option(self->server, SOL_SOCKET, SO_RCVLOWAT, 100000));
	ASSERT_EQ(10, send_record(self->client, 10, 0, 0));
	EXPECT_EQ(POLLIN, poll_one(self->server, POLLIN, SOON));
	EXPECT_EQ(10, recv_record(self->server, 0, 0));
}

SEQ_TEST(interrupted)
{
	struct task rx = { .fn = task_recv, .fd = self->server, .buf = got, .len = 10 };
	struct task tx = { .fn = task_record, .fd = self->client, .len = 5000 };
	long sent;

	signal_handle(false);
	task_start(&rx);
	EXPECT_TRUE(task_interrupt(&rx));
	ASSERT_EQ(0, task_wait(&rx));
	EXPECT_EQ(-EINTR, rx.ret);
	ASSERT_EQ(0, set_timeout(self->server, SO_RCVTIMEO, LIMIT));
	EXPECT_EQ(-EAGAIN, recv_record(self->server, 0, 0));
	/* Until there is no more room, and one that waits for it. */
	sent = fill_records(self->client, 5000);
	ASSERT_LT(0, sent);
	task_start(&tx);
	EXPECT_TRUE(task_interrupt(&tx));
	ASSERT_EQ(0, task_wait(&tx));
	EXPECT_EQ(-EINTR, tx.ret);
	while (sent--)
		ASSERT_EQ(5000, recv_record(self->server, 0, 0));
	EXPECT_EQ(-EAGAIN, recv_record(self->server, 0, MSG_DONTWAIT));
}

/* Waits until a child sleeps; 0 or -errno. */
static int child_asleep(pid_t pid)
{
	char path[40], line[256], *state = NULL;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	do {
		f = fopen(path, "r");
		if (!f)
			return -errno;
		state = fgets(line, sizeof(line), f) ? strrchr(line, ')') : NULL;
		fclose(f);
		sched_yield();
	} while (state && state[2] == 'R');
	return state && strchr("SD", state[2]) ? 0 : -ECHILD;
}

/* A reader that is killed within a record takes that one with it, and no other. */
SEQ_TEST(killed_reader)
{
	struct task t = { .fn = task_record, .fd = self->client, .len = LONGEST };
	int uffd, status;
	pid_t pid;

	task_start(&t);
	/* It has begun to come, so the child is told to copy it. */
	ASSERT_LT(0, poll_one(self->server, POLLIN, SOON));
	pid = child_start();
	ASSERT_LE(0, pid);
	if (!pid) {
		char *page = slow_page(&uffd);

		recv(self->server, page, page ? sysconf(_SC_PAGESIZE) : 0, 0);
		_exit(1);
	}
	ASSERT_EQ(0, child_asleep(pid));
	kill(pid, SIGKILL);
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	ASSERT_TRUE(WIFSIGNALED(status));
	ASSERT_EQ(0, task_wait(&t));
	EXPECT_EQ(LONGEST, t.ret);
	ASSERT_EQ(10, send_record(self->client, 10, 7, 0));
	ASSERT_LT(0, poll_one(self->server, POLLIN, SOON));
	EXPECT_EQ(10, recv_record(self->server, 7, MSG_DONTWAIT));
}

/* Pages of a record that are lent until the notification. */
SEQ_TEST(without_a_copy)
{
	struct task t = { .fn = task_record, .fd = self->client, .len = 500000,
			  .flags = MSG_ZEROCOPY };
	struct msghdr m = {};
	char control[100];

	set_option(self->client, SOL_SOCKET, SO_ZEROCOPY, 1);
	for (int i = 0; i < 4; i++) {
		task_start(&t);
		EXPECT_EQ(500000, recv_record(self->server, 0, 0));
		ASSERT_EQ(0, task_wait(&t));
		ASSERT_EQ(500000, t.ret);
		m.msg_control = control;
		m.msg_controllen = sizeof(control);
		ASSERT_LT(0, poll_one(self->client, POLLERR, SOON) & POLLERR);
		ASSERT_EQ(0, rc(recvmsg(self->client, &m, MSG_ERRQUEUE)));
	}
}

/* Each part that the kernel makes of a file is a record; its bytes are those of the file. */
SEQ_TEST(from_a_file)
{
	size_t done = 0;
	FILE *f = tmpfile();
	long n;

	ASSERT_NE(NULL, f);
	pattern_fill(record, 300000, 0);
	ASSERT_EQ(300000, fwrite(record, 1, 300000, f));
	ASSERT_EQ(0, fflush(f));
	ASSERT_EQ(300000, rc(sendfile(self->client, fileno(f), &(off_t){ 0 }, 300000)));
	ASSERT_EQ(0, rc(shutdown(self->client, SHUT_WR)));
	while ((n = recv_record(self->server, done, 0)) > 0)
		done += n;
	EXPECT_EQ(0, n);
	EXPECT_EQ(300000, done);
	fclose(f);
}

SANX_TEST_MAIN
