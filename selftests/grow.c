// SPDX-License-Identifier: GPL-2.0
/*
 * The window of a stream that is in flow: it grows, and nothing shows it.
 *
 * clock: host how soon bytes must go for a ring to grow
 */
#include <sys/ioctl.h>

#include <linux/sockios.h>

#include "sanx_test.h"

#define MUCH	(8 << 20)
/* tcp_rmem's second figure, which a connection begins with at most. */
#define USUAL	131072

static long send_much(struct task *t)
{
	return send_pattern(t->fd, MUCH, t->len, 0);
}

static void stream(struct __test_metadata *_metadata, int from, int to)
{
	struct task t = { .fn = send_much, .fd = from, .len = 65536 };

	task_start(&t);
	ASSERT_EQ(0, recv_pattern(to, MUCH, 65536, 0));
	ASSERT_EQ(0, task_wait(&t));
	ASSERT_EQ(0, t.ret);
}

/* With a reader that lets the sender use all that it may, and reads that then. */
static void stream_in_bursts(struct __test_metadata *_metadata, int from, int to)
{
	struct task t = { .fn = send_much, .fd = from, .len = 65536 };

	task_start(&t);
	for (size_t done = 0; done < MUCH; done += USUAL) {
		usleep(10000);
		ASSERT_EQ(0, recv_pattern(to, USUAL, 65536, done));
	}
	ASSERT_EQ(0, task_wait(&t));
	ASSERT_EQ(0, t.ret);
}

/* On a slow node every reader is slow.  Who does not need sanx_verbs may lack it. */
static int set_grow_ms(const FIXTURE_VARIANT(stream) *variant, const char *ms)
{
	int err = write_file("/sys/module/af_sanx/parameters/grow_ms", ms);

	return err == -ENOENT && variant->carried != SANX_A_STATS_CONNS_VERBS ?
	       0 : err;
}

/* Bytes that come to a reader who does not read, and all of them read then. */
static int unread(struct __test_metadata *_metadata,
		  const FIXTURE_VARIANT(stream) *variant, int from, int to)
{
	ssize_t sent = fill(variant, from);
	int n;

	EXPECT_LT(0, sent);
	EXPECT_EQ(0, ioctl(to, SIOCINQ, &n));
	EXPECT_EQ(sent, drain_socket(to, sent));
	return n;
}

SANX_TEST_OF("roce", with_the_stream)
{
	ASSERT_EQ(0, set_grow_ms(variant, "60000"));
	for (int i = 0; i < 2; i++) {
		stream_in_bursts(_metadata, self->end[i], self->end[!i]);
		EXPECT_LT(2 * USUAL, unread(_metadata, variant, self->end[i],
					    self->end[!i]));
	}
	ASSERT_EQ(0, set_grow_ms(variant, "20"));
}

SANX_TEST(not_if_not_wanted)
{
	ASSERT_EQ(0, set_grow_ms(variant, "0"));
	stream(_metadata, self->client, self->server);
	if (variant->carried == SANX_A_STATS_CONNS_VERBS)
		EXPECT_GE(USUAL, unread(_metadata, variant, self->client,
					self->server));
	ASSERT_EQ(0, set_grow_ms(variant, "20"));
}

/* Not for who does not read as fast as is sent, but where the sender waits. */
SANX_TEST_OF("verbs", not_for_a_slow_reader)
{
	static char buf[USUAL / 2];
	int n;

	for (int i = 0; i < 40; i++) {
		ASSERT_LT(0, fill(variant, self->client));
		ASSERT_EQ(sizeof(buf), recv_exact(self->server, buf,
						  sizeof(buf)));
	}
	ASSERT_LT(0, fill(variant, self->client));
	ASSERT_EQ(0, ioctl(self->server, SIOCINQ, &n));
	EXPECT_GE(USUAL, n);
}

/* Over loop SIOCINQ counts what the sender keeps, too. */
SANX_TEST_OF("tcp tcpclient tcpserver fallback verbs", not_beyond_rcvbuf)
{
	int end[2];

	ASSERT_EQ(0, set_option(self->listener, SOL_SOCKET, SO_RCVBUF,
				USUAL / 4));
	connect_pair(_metadata, self, variant, &end[0], &end[1]);
	stream(_metadata, end[0], end[1]);
	EXPECT_GE(USUAL / 2, unread(_metadata, variant, end[0], end[1]));
	close(end[0]);
	close(end[1]);
}

/* Of all sizes, so that some are in frames and some in the ring. */
static long send_mixed(struct task *t)
{
	static const size_t most[] = { 8, 300, 5000, 100000 };
	uint64_t done = 0;
	size_t n;

	while (done < MUCH) {
		n = 1 + dice(most[dice(4)]);
		if (n > MUCH - done)
			n = MUCH - done;
		if (send_pattern(t->fd, n, n, done))
			return -1;
		done += n;
	}
	return 0;
}

SANX_TEST(sizes_mixed)
{
	struct task t = { .fn = send_mixed, .fd = self->client };

	ASSERT_EQ(0, set_grow_ms(variant, "60000"));
	task_start(&t);
	ASSERT_EQ(0, recv_pattern(self->server, MUCH, 200000, 0));
	ASSERT_EQ(0, task_wait(&t));
	ASSERT_EQ(0, t.ret);
	ASSERT_EQ(0, set_grow_ms(variant, "20"));
}

/* A reader that looks before it reads sees the same, wherever it lies. */
SANX_TEST(peeked)
{
	struct task t = { .fn = send_mixed, .fd = self->client };
	static char seen[150000], got[150000];
	uint64_t done = 0;
	ssize_t n;

	ASSERT_EQ(0, set_grow_ms(variant, "60000"));
	task_start(&t);
	while (done < MUCH) {
		n = recv(self->server, seen, 1 + dice(sizeof(seen)), MSG_PEEK);
		ASSERT_LT(0, n);
		ASSERT_EQ(n, recv_exact(self->server, got, n));
		ASSERT_EQ(0, memcmp(seen, got, n));
		ASSERT_TRUE(pattern_check(got, n, done));
		done += n;
	}
	ASSERT_EQ(0, task_wait(&t));
	ASSERT_EQ(0, t.ret);
	ASSERT_EQ(0, set_grow_ms(variant, "20"));
}

SANX_TEST_MAIN
