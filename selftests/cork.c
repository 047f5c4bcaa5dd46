// SPDX-License-Identifier: GPL-2.0
/*
 * TCP_CORK and MSG_MORE: nothing of it is seen, and then all.
 *
 * clock: host 200 ms of a cork
 */
#include <sys/ioctl.h>
#include <sys/sendfile.h>

#include <linux/sockios.h>

#include "lib/slow.h"
#include "sanx_test.h"

/* ms in which a piece would arrive, were it not put away; well below 200. */
#define A_MOMENT	40
/* tcp(7)'s ceiling, a late timer, and what a slow node adds. */
#define CEILING		200
#define CEILING_LATE	(CEILING + SOON)

static void cork(struct __test_metadata *_metadata, int fd, int on)
{
	ASSERT_EQ(0, set_option(fd, SOL_TCP, TCP_CORK, on));
}

/* When something was first put away; a new test has a new process. */
static long since;

static void put_away(struct __test_metadata *_metadata, int fd,
		     const char *what, int flags)
{
	since = now_ms();
	ASSERT_EQ(strlen(what), send(fd, what, strlen(what), flags));
}

/* The time was over before it was looked: a node that does not run for so long. */
static bool late;

/* Is it put away still?  If not, nothing is known, and all is done again. */
static bool in_time(void)
{
	if (now_ms() - since < CEILING * 3 / 4)
		return true;
	late = true;
	return false;
}

/* How often a slow node may be late before that is a failure. */
#define TIMES	20

/*
 * A test of what is put away: on a connection of its own each time, until it was
 * in time to see all that it is to see.
 */
#define CORK_TEST(name) \
	static void corked_##name(struct __test_metadata *_metadata, \
				  FIXTURE_DATA(stream) *self, \
				  const FIXTURE_VARIANT(stream) *variant); \
	SANX_TEST(name) \
	{ \
		in_the_end(_metadata, self, variant, corked_##name); \
	} \
	static void corked_##name(struct __test_metadata *_metadata, \
				  FIXTURE_DATA(stream) *self, \
				  const FIXTURE_VARIANT(stream) *variant)

static void in_the_end(struct __test_metadata *_metadata,
		       const FIXTURE_DATA(stream) *self,
		       const FIXTURE_VARIANT(stream) *variant,
		       void (*test)(struct __test_metadata *_metadata,
				    FIXTURE_DATA(stream) *self,
				    const FIXTURE_VARIANT(stream) *variant))
{
	for (int i = 0; i < TIMES; i++) {
		FIXTURE_DATA(stream) pair = *self;

		connect_pair(_metadata, self, variant, &pair.client,
			     &pair.server);
		late = false;
		test(_metadata, &pair, variant);
		if (!late)
			return;
		printf("# tries: %d of %s\n", i + 2, _metadata->name);
	}
	ASSERT_FALSE(late)
		TH_LOG("late %d times, so nothing was seen", TIMES);
}

static void nothing_comes(struct __test_metadata *_metadata, int fd)
{
	int ready = poll_one(fd, POLLIN, A_MOMENT);

	if (in_time())
		ASSERT_EQ(0, ready);
}

/* All of it, now or when the time is over. */
static void arrives(struct __test_metadata *_metadata, int fd, const char *what)
{
	char buf[64] = "";

	ASSERT_EQ(strlen(what), recv_exact(fd, buf, strlen(what)));
	EXPECT_STREQ(what, buf);
}

/* All of it, and in one piece: nothing of it was there before. */
static void comes(struct __test_metadata *_metadata, int fd, const char *what)
{
	int n;

	ASSERT_EQ(POLLIN, poll_one(fd, POLLIN, SOON));
	ASSERT_EQ(0, ioctl(fd, SIOCINQ, &n));
	if (in_time())
		EXPECT_EQ(strlen(what), n);
	arrives(_metadata, fd, what);
}

CORK_TEST(pulled)
{
	for (int i = 0; i < 2; i++) {
		cork(_metadata, self->end[i], 1);
		put_away(_metadata, self->end[i], "ab", 0);
		ASSERT_EQ(2, send(self->end[i], "cd", 2, 0));
		nothing_comes(_metadata, self->end[!i]);
		cork(_metadata, self->end[i], 0);
		comes(_metadata, self->end[!i], "abcd");
		/* And is out for good. */
		put_away(_metadata, self->end[i], "e", 0);
		comes(_metadata, self->end[!i], "e");
	}
}

CORK_TEST(pushed_by_nodelay)
{
	cork(_metadata, self->client, 1);
	put_away(_metadata, self->client, "ab", 0);
	nothing_comes(_metadata, self->server);
	ASSERT_EQ(0, set_option(self->client, SOL_TCP, TCP_NODELAY, 1));
	comes(_metadata, self->server, "ab");
	/* The cork is in still, and is the stronger one. */
	put_away(_metadata, self->client, "cd", 0);
	nothing_comes(_metadata, self->server);
	cork(_metadata, self->client, 0);
	comes(_metadata, self->server, "cd");
}

CORK_TEST(more)
{
	for (int nodelay = 0; nodelay < 2; nodelay++) {
		ASSERT_EQ(0, set_option(self->client, SOL_TCP, TCP_NODELAY,
					nodelay));
		put_away(_metadata, self->client, "ab", MSG_MORE);
		ASSERT_EQ(1, send(self->client, "c", 1, MSG_MORE));
		nothing_comes(_metadata, self->server);
		ASSERT_EQ(1, send(self->client, "d", 1, 0));
		comes(_metadata, self->server, "abcd");
	}
}

/* What came before MSG_MORE is not put away with it. */
CORK_TEST(not_what_was_before)
{
	char buf[64];

	for (int i = 0; i < 64; i++)
		ASSERT_EQ(1, send(self->client, "s", 1, 0));
	put_away(_metadata, self->client, "m", MSG_MORE);
	ASSERT_EQ(64, recv_exact(self->server, buf, 64));
	if (!is_tcp(variant))
		nothing_comes(_metadata, self->server);
	ASSERT_EQ(1, send(self->client, "n", 1, 0));
	ASSERT_EQ(2, recv_exact(self->server, buf, 2));
}

/* A ceiling of 200 ms, and another one for what is put away after that. */
SANX_TEST(ceiling)
{
	long start, ms;

	cork(_metadata, self->client, 1);
	for (int i = 0; i < 2; i++) {
		start = now_ms();
		put_away(_metadata, self->client, "ab", 0);
		ASSERT_EQ(POLLIN, poll_one(self->server, POLLIN, CEILING_LATE));
		ms = now_ms() - start;
		EXPECT_LE(CEILING / 2, ms);
		arrives(_metadata, self->server, "ab");
	}
}

/*
 * A send() of another thread that has to wait for its page does not keep back
 * what was put away before.  TCP's does: its timer waits for the lock.
 */
SANX_TEST_OF("loop verbs", ceiling_while_copying)
{
	struct task tx = { .fn = task_send, .fd = self->client };
	int uffd;

	tx.buf = slow_page(&uffd);
	ASSERT_NE(NULL, tx.buf)
		TH_LOG("no userfaultfd");
	tx.len = 100;
	put_away(_metadata, self->client, "ab", MSG_MORE);
	task_start(&tx);
	ASSERT_EQ(POLLIN, poll_one(self->server, POLLIN, CEILING_LATE));
	arrives(_metadata, self->server, "ab");
	ASSERT_EQ(0, slow_page_give(uffd, tx.buf, ""));
	ASSERT_EQ(0, task_wait(&tx));
	EXPECT_EQ(100, tx.ret);
	close(uffd);
}

/* Pulled in time, it has the whole time again. */
SANX_TEST(ceiling_anew)
{
	long start;

	for (int i = 0; i < 2; i++) {
		put_away(_metadata, self->client, "ab", MSG_MORE);
		sleep_ms(CEILING * 3 / 4);
		ASSERT_EQ(1, send(self->client, "c", 1, 0));
		arrives(_metadata, self->server, "abc");
	}
	start = now_ms();
	put_away(_metadata, self->client, "ab", MSG_MORE);
	arrives(_metadata, self->server, "ab");
	EXPECT_LE(CEILING / 2, now_ms() - start);
}

CORK_TEST(shutdown_pulls)
{
	char c;

	put_away(_metadata, self->client, "ab", MSG_MORE);
	nothing_comes(_metadata, self->server);
	ASSERT_EQ(0, shutdown(self->client, SHUT_WR));
	comes(_metadata, self->server, "ab");
	ASSERT_EQ(0, recv(self->server, &c, 1, 0));
}

CORK_TEST(close_pulls)
{
	char c;

	cork(_metadata, self->client, 1);
	put_away(_metadata, self->client, "ab", 0);
	nothing_comes(_metadata, self->server);
	ASSERT_EQ(0, close(self->client));
	comes(_metadata, self->server, "ab");
	ASSERT_EQ(0, recv(self->server, &c, 1, 0));
}

CORK_TEST(linger_pulls)
{
	long start;
	char c;

	ASSERT_EQ(0, set_linger(self->client, 20));
	put_away(_metadata, self->client, "ab", MSG_MORE);
	start = now_ms();
	ASSERT_EQ(0, close(self->client));
	EXPECT_GT(10000, now_ms() - start);
	comes(_metadata, self->server, "ab");
	ASSERT_EQ(0, recv(self->server, &c, 1, 0));
}

CORK_TEST(urgent_pulls)
{
	char buf[4];

	ASSERT_EQ(0, set_option(self->server, SOL_SOCKET, SO_OOBINLINE, 1));
	cork(_metadata, self->client, 1);
	put_away(_metadata, self->client, "ab", 0);
	nothing_comes(_metadata, self->server);
	ASSERT_EQ(1, send(self->client, "!", 1, MSG_OOB));
	ASSERT_EQ(POLLPRI, poll_one(self->server, POLLPRI, SOON));
	ASSERT_EQ(2, recv_exact(self->server, buf, 2));
	ASSERT_EQ(1, recv(self->server, buf, 1, 0));
	ASSERT_EQ('!', buf[0]);
}

static long send_much(struct task *t)
{
	return send_pattern(t->fd, t->len, 3000, 0);
}

/* Full segments go; and what is more than all buffers hold is no deadlock. */
SANX_TEST(much)
{
	struct task t = { .fn = send_much, .fd = self->client, .len = 3 << 20 };

	cork(_metadata, self->client, 1);
	task_start(&t);
	ASSERT_EQ(0, recv_pattern(self->server, t.len, 100000, 0));
	ASSERT_EQ(0, task_wait(&t));
	ASSERT_EQ(0, t.ret);
}

/* As HTTP servers do: a head, a body, over and over. */
SANX_TEST(head_and_body)
{
	char buf[16];

	for (int i = 0; i < 100; i++) {
		cork(_metadata, self->client, 1);
		ASSERT_EQ(4, send(self->client, "head", 4, 0));
		ASSERT_EQ(4, send(self->client, "body", 4, i & 1 ? MSG_MORE : 0));
		cork(_metadata, self->client, 0);
		ASSERT_EQ(8, recv_exact(self->server, buf, 8));
		ASSERT_EQ(0, memcmp(buf, "headbody", 8));
		ASSERT_EQ(1, send(self->server, "k", 1, 0));
		ASSERT_EQ(1, recv_exact(self->client, buf, 1));
	}
}

/* Not sent, and yet on its way; and a call that fails forgets nothing. */
CORK_TEST(counted)
{
	int n;

	put_away(_metadata, self->client, "ab", MSG_MORE);
	ASSERT_EQ(-EFAULT, rc(send(self->client, (void *)8, 2, 0)));
	ASSERT_EQ(0, ioctl(self->client, SIOCOUTQ, &n));
	if (in_time())
		EXPECT_EQ(2, n);
	ASSERT_EQ(0, ioctl(self->client, SIOCOUTQNSD, &n));
	if (in_time())
		EXPECT_EQ(2, n);
	arrives(_metadata, self->server, "ab");
	ASSERT_EQ(0, ioctl(self->client, SIOCOUTQNSD, &n));
	EXPECT_EQ(0, n);
}

/* TCP_NOTSENT_LOWAT: what is put away counts, and its end is told of. */
CORK_TEST(not_sent_lowat)
{
	int n;

	ASSERT_EQ(0, set_option(self->client, SOL_TCP, TCP_NOTSENT_LOWAT, 1));
	put_away(_metadata, self->client, "ab", MSG_MORE);
	n = poll_one(self->client, POLLOUT, 0);
	if (in_time())
		EXPECT_EQ(0, n);
	ASSERT_EQ(POLLOUT, poll_one(self->client, POLLOUT, CEILING_LATE));
	arrives(_metadata, self->server, "ab");
}

/* A reset drops it. */
CORK_TEST(reset_drops)
{
	char c;
	int n;

	put_away(_metadata, self->client, "ab", MSG_MORE);
	ASSERT_EQ(0, close_reset(self->client));
	n = rc(recv(self->server, &c, 1, 0));
	if (in_time())
		ASSERT_EQ(-ECONNRESET, n);
}

/* The peer is not to blame that it has no more: TCP_USER_TIMEOUT. */
SANX_TEST(user_timeout)
{
	char buf[8];

	/* Less than what is corked waits, and more than a busy node takes. */
	ASSERT_EQ(0, set_option(self->client, SOL_TCP, TCP_USER_TIMEOUT,
				CEILING * 3 / 4));
	cork(_metadata, self->client, 1);
	for (int i = 0; i < 4; i++) {
		put_away(_metadata, self->client, "ab", 0);
		ASSERT_EQ(2, recv_exact(self->server, buf, 2));
	}
	EXPECT_EQ(0, get_option(self->client, SOL_SOCKET, SO_ERROR));
}

/* A peer that closes: its end is seen, and what then goes fetches a reset. */
CORK_TEST(peer_closes)
{
	char c;

	put_away(_metadata, self->client, "ab", MSG_MORE);
	ASSERT_EQ(0, close(self->server));
	/* Had it gone, the peer would have closed with something unread. */
	if (!in_time())
		return;
	ASSERT_EQ(0, rc(recv(self->client, &c, 1, 0)));
	ASSERT_EQ(POLLHUP, poll_one(self->client, POLLHUP, SOON) & POLLHUP);
	EXPECT_EQ(-EPIPE, rc(send(self->client, "c", 1, MSG_NOSIGNAL)));
}

/* What has gone before the peer closed is no reason for a reset later. */
SANX_TEST(peer_closes_behind_it)
{
	char buf[4], c;

	put_away(_metadata, self->client, "ab", MSG_MORE);
	ASSERT_EQ(0, shutdown(self->client, SHUT_WR));
	ASSERT_EQ(2, recv_exact(self->server, buf, 2));
	ASSERT_EQ(0, recv(self->server, &c, 1, 0));
	ASSERT_EQ(0, close(self->server));
	sleep_ms(2 * CEILING);
	EXPECT_EQ(0, get_option(self->client, SOL_SOCKET, SO_ERROR));
	EXPECT_EQ(0, rc(recv(self->client, &c, 1, 0)));
}

/* More than fits where a connection begins, in pieces that do. */
CORK_TEST(larger)
{
	static char out[3000], in[3000];
	int n;

	pattern_fill(out, sizeof(out), 0);
	for (int i = 0; i < 2; i++) {
		cork(_metadata, self->end[i], 1);
		since = now_ms();
		for (int k = 0; k < 3; k++)
			ASSERT_EQ(1000, send(self->end[i], out + k * 1000,
					     1000, 0));
		nothing_comes(_metadata, self->end[!i]);
		ASSERT_EQ(0, ioctl(self->end[!i], SIOCINQ, &n));
		if (in_time())
			EXPECT_EQ(0, n);
		cork(_metadata, self->end[i], 0);
		ASSERT_EQ(3000, recv_exact(self->end[!i], in, 3000));
		ASSERT_TRUE(pattern_check(in, 3000, 0));
	}
}

/* sendfile() of less than it was told leaves TCP_CORK where it is. */
CORK_TEST(sendfile_corked)
{
	char path[] = "/tmp/sanx_corkXXXXXX";
	int fd = mkstemp(path);

	ASSERT_LE(0, fd);
	unlink(path);
	ASSERT_EQ(4, write(fd, "file", 4));
	lseek(fd, 0, SEEK_SET);
	cork(_metadata, self->client, 1);
	since = now_ms();
	ASSERT_EQ(4, sendfile(self->client, fd, NULL, 1000));
	nothing_comes(_metadata, self->server);
	cork(_metadata, self->client, 0);
	comes(_metadata, self->server, "file");
	close(fd);
}

/* sendfile() of all that there is, and of more. */
SANX_TEST(sendfile)
{
	char path[] = "/tmp/sanx_corkXXXXXX", buf[5000];
	int fd = mkstemp(path);

	ASSERT_LE(0, fd);
	unlink(path);
	memset(buf, 'f', sizeof(buf));
	ASSERT_EQ(sizeof(buf), write(fd, buf, sizeof(buf)));
	for (int more = 0; more < 2; more++) {
		lseek(fd, 0, SEEK_SET);
		ASSERT_EQ(4, send(self->client, "head", 4, MSG_MORE));
		ASSERT_EQ(sizeof(buf), sendfile(self->client, fd, NULL,
						sizeof(buf) + more * 1000));
		ASSERT_EQ(4, recv_exact(self->server, buf, 4));
		ASSERT_EQ(sizeof(buf), recv_exact(self->server, buf,
						  sizeof(buf)));
	}
	close(fd);
}

SANX_TEST_MAIN
