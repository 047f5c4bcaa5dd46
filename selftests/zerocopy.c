// SPDX-License-Identifier: GPL-2.0
/*
 * MSG_ZEROCOPY: each call has its number and its notification, which says when its pages are
 * the program's own again, and whether they were copied.  What comes is what they held before.
 */
#include <time.h>

#include <linux/errqueue.h>
#include <linux/userfaultfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <sys/uio.h>
#include <sys/utsname.h>
#include <sys/wait.h>

#include "lib/slow.h"
#include "sanx_test.h"

/* Bytes of a call in streams, and calls. */
#define PIECE	100000
#define CALLS	400

/* A notification for calls @lo to @hi. */
struct notice {
	uint32_t lo;
	uint32_t hi;
	bool copied;
};

/* The next notification.  Return: 0, or -errno. */
static int notice_get(int fd, struct notice *n)
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
	*n = (struct notice){ ee->ee_info, ee->ee_data,
			      ee->ee_code & SO_EE_CODE_ZEROCOPY_COPIED };
	return ee->ee_errno || ee->ee_origin != SO_EE_ORIGIN_ZEROCOPY ? -EBADMSG : 0;
}

/* As notice_get(), but waits for one.  After a reset poll() does not. */
static int notice_wait(int fd, struct notice *n)
{
	long end = now_ms() + SOON;
	int err;

	while ((err = notice_get(fd, n)) == -EAGAIN) {
		if (now_ms() > end)
			return -ETIME;
		poll_one(fd, 0, SOON);
		sleep_ms(1);
	}
	return err;
}

/* Does the wire of the variant read from a program's pages?  siw's takes too few at once. */
static bool lends(const FIXTURE_VARIANT(stream) *v)
{
	return carried_by(v) == SANX_A_STATS_CONNS_VERBS &&
	       strncmp(env_or("SANX_DEVICE", ""), "siw", 3);
}

/* Bytes that devices have read from the pages of programs. */
static uint64_t lent_bytes(void)
{
	struct node_stats s = {};

	return node_stats(&s) ? 0 : s.v[SANX_A_STATS_LENT_BYTES];
}

/**
 * struct calls - calls of one socket
 * @fd: the socket
 * @buf: what each call has lent, or NULL
 * @len: bytes of each
 * @next: number of the next call
 * @back: calls of which the pages are back
 * @copied: how many of them were copied
 */
struct calls {
	int fd;
	char *buf[CALLS];
	size_t len[CALLS];
	uint32_t next;
	uint32_t back;
	uint32_t copied;
};

/* The program uses memory for something else as soon as it is told that it may. */
static int calls_told(struct calls *c, const struct notice *n)
{
	if (n->lo > n->hi || n->hi >= c->next)
		return -EBADMSG;
	for (uint32_t i = n->lo; i <= n->hi; i++) {
		if (!c->buf[i])
			return -EEXIST;
		memset(c->buf[i], 0xee, c->len[i]);
		free(c->buf[i]);
		c->buf[i] = NULL;
		c->back++;
		c->copied += n->copied;
	}
	return 0;
}

/* Takes notifications: those that are there, or until all pages are back. */
static int calls_take(struct calls *c, bool all)
{
	struct notice n;
	int err = 0;

	while (!err && c->back < c->next) {
		err = all ? notice_wait(c->fd, &n) : notice_get(c->fd, &n);
		if (err == -EAGAIN)
			return 0;
		if (!err)
			err = calls_told(c, &n);
	}
	return err;
}

/* Sends @len bytes of the pattern from a buffer of their own.  Return: bytes, or -errno. */
static long calls_send(struct calls *c, size_t len, uint64_t offset)
{
	char *buf = malloc(len);
	long n;

	pattern_fill(buf, len, offset);
	for (;;) {
		n = rc(send(c->fd, buf, len, MSG_ZEROCOPY | MSG_NOSIGNAL));
		if (n != -ENOBUFS)
			break;
		/* Too many that were not told yet, as with TCP. */
		if (calls_take(c, true))
			break;
	}
	if (n <= 0) {
		free(buf);
		return n;
	}
	c->buf[c->next] = buf;
	c->len[c->next++] = n;
	return n;
}

/* Sends t->len bytes in calls of t->flags bytes at most. */
static long calls_stream(struct task *t)
{
	struct calls *c = (void *)t->buf;
	size_t len;
	long n;

	for (uint64_t done = 0; done < t->len; done += n) {
		len = t->flags < 0 ? 1 + dice(-t->flags) : (size_t)t->flags;
		n = calls_send(c, len < t->len - done ? len : t->len - done, done);
		if (n <= 0)
			return n ?: -EPIPE;
		if (calls_take(c, false))
			return -EBADMSG;
	}
	return calls_take(c, true);
}

static void stream_begin(struct task *t, struct calls *c, int fd, size_t len, int piece)
{
	*c = (struct calls){ .fd = fd };
	*t = (struct task){ .fn = calls_stream, .fd = fd, .buf = (void *)c, .len = len,
			    .flags = piece };
	task_start(t);
}

/* The rings grow: pages are lent from then on, where they are. */
static void warm_up(struct __test_metadata *_metadata, FIXTURE_DATA(stream) *self)
{
	struct task t = { .fn = task_recv_all, .len = 4 << 20 };

	for (int i = 0; i < 2; i++) {
		t.fd = self->end[!i];
		task_start(&t);
		ASSERT_EQ(0, send_pattern(self->end[i], 4 << 20, 1 << 18, 0));
		ASSERT_EQ(0, task_wait(&t));
		ASSERT_EQ(0, t.ret);
		ASSERT_EQ(0, set_option(self->end[i], SOL_SOCKET, SO_ZEROCOPY, 1));
	}
}

SANX_TEST(numbers)
{
	struct calls c = { .fd = self->client };
	struct notice n;

	EXPECT_EQ(-EAGAIN, notice_get(self->client, &n));
	ASSERT_EQ(0, set_option(self->client, SOL_SOCKET, SO_ZEROCOPY, 1));
	for (int i = 0; i < 3; i++)
		ASSERT_EQ(10000, calls_send(&c, 10000, 0));
	for (int i = 0; i < 3; i++)
		EXPECT_EQ(0, recv_pattern(self->server, 10000, 1000, 0));
	EXPECT_EQ(0, calls_take(&c, true));
	EXPECT_EQ(3, c.back);
	EXPECT_EQ(3, c.copied);
	EXPECT_EQ(-EAGAIN, notice_get(self->client, &n));
	EXPECT_EQ(0, poll_one(self->client, 0, 0) & POLLERR);
}

/* Without the option it is a call like others. */
SANX_TEST(not_asked_for)
{
	struct task t = { .fn = task_recv_all, .fd = self->server, .len = PIECE };
	static char buf[PIECE];
	struct notice n;

	pattern_fill(buf, PIECE, 0);
	task_start(&t);
	EXPECT_EQ(PIECE, rc(send(self->client, buf, PIECE, MSG_ZEROCOPY)));
	memset(buf, 0xee, PIECE);
	ASSERT_EQ(0, task_wait(&t));
	EXPECT_EQ(0, t.ret);
	EXPECT_EQ(-EAGAIN, notice_get(self->client, &n));
}

/*
 * Both directions.  Pages of large calls are lent where the wire reads them, once the ring has
 * grown; and copied elsewhere, which the notifications say.
 */
SANX_TEST(given_back)
{
	const size_t much = (size_t)CALLS * PIECE / 2;
	uint64_t before = lent_bytes();
	static struct calls c[2];
	struct task t;

	for (int i = 0; i < 2; i++) {
		ASSERT_EQ(0, set_option(self->end[i], SOL_SOCKET, SO_ZEROCOPY, 1));
		stream_begin(&t, &c[i], self->end[i], much, PIECE);
		EXPECT_EQ(0, recv_pattern(self->end[!i], much, 1 << 20, 0));
		ASSERT_EQ(0, task_wait(&t));
		ASSERT_EQ(0, t.ret);
		EXPECT_EQ(c[i].next, c[i].back);
		/* TCP over lo copies, too. */
		EXPECT_GE(lends(variant) ? c[i].next / 2 : c[i].next, c[i].copied);
		EXPECT_LE(lends(variant) ? 0 : c[i].next, c[i].copied);
	}
	EXPECT_EQ(lends(variant), lent_bytes() - before > much);
	EXPECT_EQ(lends(variant), lent_bytes() - before > 0);
}

/* Since Linux 6.5 splice() sends pages. */
static bool splices(void)
{
	unsigned int major = 0, minor = 0;
	struct utsname u;

	return !uname(&u) && sscanf(u.release, "%u.%u", &major, &minor) == 2 &&
	       (major > 6 || (major == 6 && minor >= 5));
}

/* The pages of a file, from anywhere in it. */
SANX_TEST(file)
{
	enum { LEN = 1 << 20, TIMES = 20, AT = 5000 };
	char path[] = "/tmp/sanx_zerocopyXXXXXX", *buf = malloc(LEN + AT);
	struct task t = { .fn = task_recv_all, .fd = self->server };
	uint64_t before = lent_bytes(), lent;
	int fd = mkstemp(path);
	off_t at;

	ASSERT_LE(0, fd);
	unlink(path);
	pattern_fill(buf + AT, LEN, 0);
	ASSERT_EQ(LEN + AT, write(fd, buf, LEN + AT));
	t.len = LEN;
	for (int i = 0; i < TIMES; i++) {
		task_start(&t);
		for (at = AT; at < LEN + AT;)
			ASSERT_LT(0, rc(sendfile(self->client, fd, &at, LEN + AT - at)));
		ASSERT_EQ(0, task_wait(&t));
		ASSERT_EQ(0, t.ret);
	}
	lent = lent_bytes() - before;
	EXPECT_EQ(lends(variant) && splices(), lent > LEN * TIMES / 2);
	EXPECT_EQ(lends(variant) && splices(), lent > 0);
	close(fd);
	free(buf);
}

/* Calls of any size, some of which are copied. */
SANX_TEST(any_size)
{
	static struct calls c;
	struct task t;

	ASSERT_EQ(0, set_option(self->client, SOL_SOCKET, SO_ZEROCOPY, 1));
	stream_begin(&t, &c, self->client, CALLS * 20000, -80000);
	EXPECT_EQ(0, recv_pattern(self->server, CALLS * 20000, 70001, 0));
	ASSERT_EQ(0, task_wait(&t));
	EXPECT_EQ(0, t.ret);
	EXPECT_EQ(c.next, c.back);
}

/* A header and a body, and what follows without it. */
SANX_TEST(vectors)
{
	static char head[100], body[PIECE + 3], tail[2 * 4096], buf[5000];
	struct iovec v[] = { { head, sizeof(head) }, { body, sizeof(body) }, { tail, 0 },
			     { tail, sizeof(tail) } };
	const size_t len = sizeof(head) + sizeof(body) + sizeof(tail);
	struct msghdr msg = { .msg_iov = v, .msg_iovlen = 4 };
	struct task t = { .fn = task_recv_all, .fd = self->server };
	uint64_t before;
	struct notice n;

	warm_up(_metadata, self);
	before = lent_bytes();
	t.len = 50 * (len + sizeof(buf));
	task_start(&t);
	for (uint64_t i = 0, at = 0; i < 50; i++) {
		pattern_fill(head, sizeof(head), at);
		pattern_fill(body, sizeof(body), at + sizeof(head));
		pattern_fill(tail, sizeof(tail), at + sizeof(head) + sizeof(body));
		at += len;
		ASSERT_EQ(len, rc(sendmsg(self->client, &msg, MSG_ZEROCOPY)));
		pattern_fill(buf, sizeof(buf), at);
		at += sizeof(buf);
		ASSERT_EQ(sizeof(buf), rc(send(self->client, buf, sizeof(buf), 0)));
		ASSERT_EQ(0, notice_wait(self->client, &n));
		EXPECT_EQ(i, n.lo);
		EXPECT_EQ(i, n.hi);
	}
	ASSERT_EQ(0, task_wait(&t));
	EXPECT_EQ(0, t.ret);
	/* Bodies, and nothing else. */
	EXPECT_EQ(lends(variant), lent_bytes() > before);
	EXPECT_GE(50 * sizeof(body), lent_bytes() - before);
}

/* What was corked goes with what follows, in order. */
SANX_TEST(corked)
{
	enum { SOME = 20000 };
	struct calls c = { .fd = self->client };
	struct task t = { .fn = task_recv_all, .fd = self->server, .len = 40 * SOME };
	uint64_t before;

	warm_up(_metadata, self);
	before = lent_bytes();
	task_start(&t);
	for (int i = 0; i < 40; i++) {
		ASSERT_EQ(0, set_option(self->client, SOL_TCP, TCP_CORK, i % 2));
		ASSERT_EQ(SOME, calls_send(&c, SOME, (uint64_t)i * SOME));
		ASSERT_EQ(0, calls_take(&c, false));
	}
	ASSERT_EQ(0, set_option(self->client, SOL_TCP, TCP_CORK, 0));
	EXPECT_EQ(lends(variant), lent_bytes() > before);
	ASSERT_EQ(0, task_wait(&t));
	EXPECT_EQ(0, t.ret);
	EXPECT_EQ(0, calls_take(&c, true));
}

/* What is there goes, and what does not has no number. */
SANX_TEST(faults)
{
	const size_t good = 80000, page = 4096, room = 86016;
	char *p = mmap(NULL, room + page, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct task t = { .fn = task_recv_all, .fd = self->server };
	struct notice n;
	uint64_t before;
	ssize_t sent;

	ASSERT_NE(MAP_FAILED, p);
	ASSERT_EQ(0, mprotect(p + room, page, PROT_NONE));
	warm_up(_metadata, self);
	before = lent_bytes();
	p += room - good;
	pattern_fill(p, good, 0);
	/* TCP gives up what is in the same segment, too. */
	sent = rc(send(self->client, p, good + 100, MSG_ZEROCOPY));
	ASSERT_LT(0, sent);
	ASSERT_GE(good, sent);
	EXPECT_EQ(lends(variant), lent_bytes() > before);
	t.len = sent;
	task_start(&t);
	EXPECT_EQ(-EFAULT, rc(send(self->client, p + good, 20000, MSG_ZEROCOPY)));
	ASSERT_EQ(0, task_wait(&t));
	EXPECT_EQ(0, t.ret);
	ASSERT_EQ(0, notice_wait(self->client, &n));
	EXPECT_EQ(0, n.lo);
	EXPECT_EQ(0, n.hi);
	EXPECT_EQ(-EAGAIN, notice_get(self->client, &n));
}

/* The file may be unmapped, and the bytes come all the same. */
SANX_TEST(mapped_file)
{
	char path[] = "/tmp/sanx_zerocopyXXXXXX", *p;
	struct task t = { .fn = task_recv_all, .fd = self->server, .len = 200000 };
	int fd = mkstemp(path);
	uint64_t before;
	struct notice n;

	ASSERT_LE(0, fd);
	unlink(path);
	ASSERT_EQ(0, ftruncate(fd, 200000));
	p = mmap(NULL, 200000, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	ASSERT_NE(MAP_FAILED, p);
	warm_up(_metadata, self);
	before = lent_bytes();
	pattern_fill(p, 200000, 0);
	task_start(&t);
	ASSERT_EQ(200000, rc(send(self->client, p, 200000, MSG_ZEROCOPY)));
	EXPECT_EQ(lends(variant), lent_bytes() > before);
	ASSERT_EQ(0, munmap(p, 200000));
	close(fd);
	ASSERT_EQ(0, task_wait(&t));
	EXPECT_EQ(0, t.ret);
	EXPECT_EQ(0, notice_wait(self->client, &n));
}

static long send_until_killed(int fd)
{
	struct calls *c = calloc(1, sizeof(*c));
	uint64_t done = 0;
	long n;

	c->fd = fd;
	while ((n = calls_send(c, PIECE, done)) > 0) {
		done += n;
		if (calls_take(c, false))
			return -EBADMSG;
	}
	return n;
}

/* Killed in the middle, it has sent the beginning of what it had to send. */
SANX_TEST(killed)
{
	static char got[65536];
	uint64_t done = 0;
	ssize_t n;
	pid_t pid;

	ASSERT_EQ(0, set_option(self->client, SOL_SOCKET, SO_ZEROCOPY, 1));
	pid = fork();
	if (!pid)
		_exit(send_until_killed(self->client) != 0);
	ASSERT_LT(0, pid);
	close(self->client);
	while (done < (4 << 20)) {
		n = recv(self->server, got, sizeof(got), 0);
		ASSERT_LT(0, n);
		ASSERT_TRUE(pattern_check(got, n, done));
		done += n;
	}
	kill(pid, SIGKILL);
	ASSERT_EQ(pid, waitpid(pid, NULL, 0));
	while ((n = recv(self->server, got, sizeof(got), 0)) > 0) {
		ASSERT_TRUE(pattern_check(got, n, done));
		done += n;
	}
	ASSERT_EQ(0, n);
}

/* A peer that resets: all pages come back all the same, as with TCP. */
SANX_TEST(reset)
{
	enum { FEW = 10 };
	struct calls c = { .fd = self->client };
	uint64_t before;
	long n;

	warm_up(_metadata, self);
	before = lent_bytes();
	ASSERT_EQ(0, set_nonblock(self->client, true));
	/* So few that they do not have to be told. */
	for (uint64_t done = 0; c.next < FEW; done += n) {
		n = calls_send(&c, PIECE, done);
		if (n < 0)
			break;
	}
	EXPECT_LT(0, c.next);
	EXPECT_EQ(lends(variant), lent_bytes() > before);
	EXPECT_EQ(0, close_reset(self->server));
	EXPECT_EQ(0, calls_take(&c, true));
	EXPECT_EQ(c.next, c.back);
}

/* Memory that may be locked bounds what is lent, as with TCP. */
SANX_TEST(memlock)
{
	static char buf[PIECE];
	struct rlimit none = { 0, 0 };
	pid_t pid;

	ASSERT_EQ(0, set_option(self->client, SOL_SOCKET, SO_ZEROCOPY, 1));
	pid = fork();
	if (!pid) {
		/* Not with CAP_IPC_LOCK. */
		if (setrlimit(RLIMIT_MEMLOCK, &none) || setuid(65534))
			_exit(1);
		_exit(rc(send(self->client, buf, PIECE, MSG_ZEROCOPY)) != -ENOBUFS);
	}
	ASSERT_LT(0, pid);
	EXPECT_EQ(0, child_wait(pid));
}

/* Whoever waits for it gets EFAULT. */
static void take_page(char *page, int uffd)
{
	struct uffdio_range range = { .start = (uintptr_t)page, .len = 4096 };

	munmap(page, 4096);
	ioctl(uffd, UFFDIO_WAKE, &range);
}

/* Each call that sends has a number of its own, whatever becomes of others. */
SANX_TEST(side_by_side)
{
	struct task bad = { .fn = task_send, .flags = MSG_ZEROCOPY, .len = 100 };
	struct task good = bad;
	char room[100], buf[3 * 100];
	int uffd, seen[3] = {};
	long end = now_ms() + SOON;
	struct notice n;

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
		if (notice_get(self->client, &n)) {
			sleep_ms(1);
			continue;
		}
		ASSERT_LE(n.lo, n.hi);
		for (; n.lo <= n.hi; n.lo++)
			seen[n.lo < 2 ? n.lo : 2]++;
	}
	EXPECT_EQ(1, seen[0]);
	EXPECT_EQ(1, seen[1]);
	EXPECT_EQ(0, seen[2]);
	close(uffd);
}

SANX_TEST_MAIN
