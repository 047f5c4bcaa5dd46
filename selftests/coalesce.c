// SPDX-License-Identifier: GPL-2.0
/*
 * Streams of small pieces: whoever sleeps is woken, coalesced or not.
 *
 * clock: host bounds of milliseconds for what is late
 */
#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <time.h>

#include "lib/slow.h"
#include "sanx_test.h"

/* So many sends in a row are a stream. */
#define STREAM	64

/* What may pass until a byte arrives: TCP's delayed ACK, and a slow node. */
#define SHORT	2000

/* On one node at once means no wait at all; others leave it to a thread. */
static int at_once(const FIXTURE_VARIANT(stream) *variant)
{
	return variant->carried == SANX_A_STATS_CONNS_LOOP ? 0 : SHORT;
}

/* The server reads along, so that nothing is unread afterwards. */
static void stream(struct __test_metadata *_metadata, const int end[2])
{
	char buf[STREAM];

	for (int i = 0; i < STREAM; i++)
		ASSERT_EQ(1, send(end[0], "s", 1, 0));
	ASSERT_EQ(STREAM, recv_exact(end[1], buf, STREAM));
}

/* The sender does nothing more, and the reader sleeps. */
SANX_TEST(wakes_a_reader)
{
	struct task t = { .fn = task_recv, .fd = self->server };
	char c;

	t.buf = &c;
	t.len = 1;
	for (int i = 0; i < 20; i++) {
		stream(_metadata, self->end);
		task_start(&t);
		ASSERT_TRUE(task_blocked(&t));
		ASSERT_EQ(1, send(self->client, "x", 1, 0));
		ASSERT_EQ(0, task_wait(&t));
		ASSERT_EQ(1, t.ret);
	}
}

/* Nothing but the wake-up adds a socket to what epoll has ready. */
static void wakes_epoll(struct __test_metadata *_metadata, const int end[2],
			uint32_t events, int timeout, int flags)
{
	struct epoll_event ev = { .events = events | EPOLLET };
	int ep = epoll_create1(0);
	char c;

	ASSERT_EQ(0, epoll_ctl(ep, EPOLL_CTL_ADD, end[1], &ev));
	for (int i = 0; i < 200; i++) {
		if (!(i % 50))
			stream(_metadata, end);
		while (epoll_wait(ep, &ev, 1, 0))
			;
		ASSERT_EQ(1, send(end[0], "x", 1, flags));
		ASSERT_EQ(1, epoll_wait(ep, &ev, 1, timeout));
		ASSERT_EQ(events, ev.events & events);
		ASSERT_EQ(1, recv(end[1], &c, 1, 0));
	}
	close(ep);
}

SANX_TEST(wakes_epoll)
{
	wakes_epoll(_metadata, self->end, EPOLLIN, SHORT, 0);
}

static int nodelay_us_set(const char *us)
{
	return write_file("/proc/sys/net/sanx/nodelay_us", us);
}

SANX_TEST(at_once_without_delay)
{
	int timeout = at_once(variant);

	ASSERT_EQ(0, nodelay_us_set("0"));
	ASSERT_EQ(0, set_option(self->client, IPPROTO_TCP, TCP_NODELAY, 1));
	wakes_epoll(_metadata, self->end, EPOLLIN, timeout, 0);
	ASSERT_EQ(0, nodelay_us_set("50"));
}

SANX_TEST(urgent_at_once)
{
	int timeout = at_once(variant);

	ASSERT_EQ(0, set_option(self->server, SOL_SOCKET, SO_OOBINLINE, 1));
	wakes_epoll(_metadata, self->end, EPOLLPRI, timeout, MSG_OOB);
}

/* Whoever looks sees the bytes, though nobody has been woken for them. */
SANX_TEST(seen_at_once)
{
	int n, timeout = at_once(variant);
	char c;

	for (int i = 0; i < 100; i++) {
		stream(_metadata, self->end);
		ASSERT_EQ(1, send(self->client, "x", 1, 0));
		ASSERT_EQ(POLLIN, poll_one(self->server, POLLIN, timeout));
		ASSERT_EQ(0, ioctl(self->server, FIONREAD, &n));
		ASSERT_EQ(1, n);
		ASSERT_EQ(1, recv(self->server, &c, 1, MSG_DONTWAIT));
	}
}

/* Requests of many pieces, and who waits for the answer waits in recv(). */
static long answer(struct task *t)
{
	char buf[STREAM];

	for (int i = 0; i < t->flags; i++) {
		if (recv_exact(t->fd, buf, sizeof(buf)) != sizeof(buf) ||
		    send(t->fd, "a", 1, 0) != 1)
			return -1;
	}
	return 0;
}

SANX_TEST(answers)
{
	struct task t = { .fn = answer, .fd = self->server, .flags = 50 };
	char c;

	task_start(&t);
	for (int i = 0; i < t.flags; i++) {
		for (int k = 0; k < STREAM; k++)
			ASSERT_EQ(1, send(self->client, "q", 1, 0));
		if (i & 1)
			ASSERT_EQ(POLLIN, poll_one(self->client, POLLIN, SOON));
		ASSERT_EQ(1, recv(self->client, &c, 1, 0));
	}
	ASSERT_EQ(0, task_wait(&t));
	ASSERT_EQ(0, t.ret);
}

/*
 * With TCP_NODELAY.  An emulated node has no time for a piece every few us, so
 * the longest delay is LONGEST here, and pieces follow each other fast within a
 * quarter of it.  What is held back is late by half of it, less the time of the
 * burst; LATE is more than a piece takes that is not.
 */
#define LONGEST		"100000"
#define LATE		30000000LL
#define REST_MS		30
#define PUBLISHED	24
#define BURSTS		16
/* Other processes may take the CPU so often. */
#define TRIES		8

static long long now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000LL + ts.tv_nsec;
}

/* Without timers of high resolution nothing is held back. */
static bool can_hold(void)
{
	struct timespec ts;

	return !clock_getres(CLOCK_MONOTONIC, &ts) && !ts.tv_sec &&
	       ts.tv_nsec <= 100000;
}

static void no_delay(struct __test_metadata *_metadata, int fd, const char *us)
{
	ASSERT_EQ(0, nodelay_us_set(us));
	ASSERT_EQ(0, set_option(fd, IPPROTO_TCP, TCP_NODELAY, 1));
}

/* When each byte came, to a reader that sleeps or, with @flags, looks. */
static long arrivals(struct task *t)
{
	long long *when = t->buf;
	ssize_t n, got = 0;
	char buf[STREAM];

	while (got < (ssize_t)t->len) {
		n = recv(t->fd, buf, sizeof(buf), t->flags);
		if (n < 0 && errno == EAGAIN)
			continue;
		if (n <= 0)
			return -1;
		while (n--)
			when[got++] = now_ns();
	}
	return 0;
}

/* How late the last byte of a burst is, to a reader that sleeps. */
static long long burst(struct __test_metadata *_metadata, const int end[2])
{
	struct task t = { .fn = arrivals, .fd = end[1], .len = STREAM };
	long long came[STREAM], sent;

	t.buf = came;
	task_start(&t);
	ASSERT_TRUE(task_blocked(&t));
	for (int i = 0; i < STREAM; i++)
		ASSERT_EQ(1, send(end[0], "s", 1, 0));
	sent = now_ns();
	ASSERT_EQ(0, task_wait(&t));
	ASSERT_EQ(0, t.ret);
	return came[STREAM - 1] - sent;
}

/*
 * How late the wake-up for the last byte of a burst is, where a reader that
 * was woken before and has not run yet finds all bytes.
 */
static long long burst_wakes(struct __test_metadata *_metadata, const int end[2])
{
	struct epoll_event ev = { .events = EPOLLIN | EPOLLET };
	int ep = epoll_create1(0);
	long long sent;

	ASSERT_EQ(0, epoll_ctl(ep, EPOLL_CTL_ADD, end[1], &ev));
	for (int i = 1; i < STREAM; i++)
		ASSERT_EQ(1, send(end[0], "s", 1, 0));
	while (epoll_wait(ep, &ev, 1, 0))
		;
	ASSERT_EQ(1, send(end[0], "s", 1, 0));
	sent = now_ns();
	ASSERT_EQ(1, epoll_wait(ep, &ev, 1, SOON));
	sent = now_ns() - sent;
	close(ep);
	return sent;
}

/*
 * A stream is coalesced; other processes that take the CPU may prevent it.  Its
 * last byte comes all the same.
 */
SANX_TEST_OF("loop verbs", stream_without_delay)
{
	bool loop = variant->carried == SANX_A_STATS_CONNS_LOOP;
	int end[2], late = 0;

	for (int i = 0; i < 10; i++) {
		connect_pair(_metadata, self, variant, &end[0], &end[1]);
		no_delay(_metadata, end[0], LONGEST);
		late += (loop ? burst_wakes(_metadata, end) :
				burst(_metadata, end)) >= LATE;
		close(end[0]);
		close(end[1]);
	}
	ASSERT_EQ(0, nodelay_us_set("50"));
	EXPECT_LE(can_hold() ? 5 : 0, late);
}

/* To set the option, once more too, sends what is held back. */
SANX_TEST_OF("loop verbs", nodelay_pushes)
{
	int end[2], late = 0;
	long long sent;

	for (int i = 0; i < 10; i++) {
		struct epoll_event ev = { .events = EPOLLIN | EPOLLET };
		int ep = epoll_create1(0);

		connect_pair(_metadata, self, variant, &end[0], &end[1]);
		no_delay(_metadata, end[0], LONGEST);
		ASSERT_EQ(0, epoll_ctl(ep, EPOLL_CTL_ADD, end[1], &ev));
		for (int k = 1; k < STREAM; k++)
			ASSERT_EQ(1, send(end[0], "s", 1, 0));
		while (epoll_wait(ep, &ev, 1, 0))
			;
		ASSERT_EQ(1, send(end[0], "s", 1, 0));
		sent = now_ns();
		ASSERT_EQ(0, set_option(end[0], IPPROTO_TCP, TCP_NODELAY, 1));
		ASSERT_EQ(1, epoll_wait(ep, &ev, 1, SOON));
		late += now_ns() - sent >= LATE;
		close(ep);
		close(end[0]);
		close(end[1]);
	}
	ASSERT_EQ(0, nodelay_us_set("50"));
	EXPECT_GE(3, late);
}

/* The longest time that bursts without any delay take to arrive. */
static long long usual(struct __test_metadata *_metadata, const int end[2])
{
	long long most = 0;

	no_delay(_metadata, end[0], "0");
	for (int i = 0; i < BURSTS / 2; i++) {
		long long came = burst(_metadata, end);

		most = came > most ? came : most;
	}
	return most;
}

static int late_bursts(struct __test_metadata *_metadata, const int end[2])
{
	long long limit = LATE + usual(_metadata, end);
	int late = 0;

	no_delay(_metadata, end[0], LONGEST);
	for (int i = 0; i < BURSTS; i++)
		late += burst(_metadata, end) >= limit;
	return late;
}

/*
 * A sender whose bursts end late twice is known to send in bursts.  Other
 * processes that take the CPU delay bursts too, but not each time.
 */
SANX_TEST_OF("loop verbs", bursts_without_delay)
{
	int late = BURSTS, end[2];

	for (int i = 0; i < TRIES && late > BURSTS / 2; i++) {
		if (i)
			printf("# tries: %d of bursts_without_delay\n", i + 1);
		connect_pair(_metadata, self, variant, &end[0], &end[1]);
		late = late_bursts(_metadata, end);
		close(end[0]);
		close(end[1]);
	}
	ASSERT_EQ(0, nodelay_us_set("50"));
	EXPECT_GE(BURSTS / 2, late);
}

/*
 * Bytes come one by one, with sleep or work in between, to a reader.  Returns
 * how many are late.
 */
static int late_bytes(struct __test_metadata *_metadata, const int end[2],
		      int flags, bool sleeps)
{
	struct task t = { .fn = arrivals, .fd = end[1], .len = PUBLISHED,
			  .flags = flags };
	const struct sched_param first = { .sched_priority = 1 };
	long long came[PUBLISHED], sent[PUBLISHED];
	int late = 0;

	t.buf = came;
	no_delay(_metadata, end[0], LONGEST);
	task_start(&t);
	/* With one CPU it would else run when the scheduler takes that from the publisher. */
	if (!sleeps) {
		ASSERT_TRUE(task_blocked(&t));
		ASSERT_EQ(0, rc(sched_setscheduler(t.tid, SCHED_FIFO, &first)));
	}
	for (int i = 0; i < PUBLISHED; i++) {
		sent[i] = now_ns();
		ASSERT_EQ(1, send(end[0], "p", 1, 0));
		if (sleeps)
			usleep(1000);
		while (!sleeps && now_ns() - sent[i] < REST_MS * 1000000LL)
			;
	}
	ASSERT_EQ(0, task_wait(&t));
	ASSERT_EQ(0, t.ret);
	for (int i = 0; i < PUBLISHED; i++)
		late += came[i] - sent[i] >= LATE;
	ASSERT_EQ(0, nodelay_us_set("50"));
	return late;
}

/* A publisher is not delayed, however often it publishes. */
static void published(struct __test_metadata *_metadata, const int end[2],
		      int flags, bool sleeps)
{
	int late = PUBLISHED;

	for (int i = 0; i < TRIES && late > PUBLISHED / 8; i++) {
		if (i)
			printf("# tries: %d of %s\n", i + 1, _metadata->name);
		late = late_bytes(_metadata, end, flags, sleeps);
	}
	EXPECT_GE(PUBLISHED / 8, late);
}

SANX_TEST_OF("loop verbs", publisher_sleeps)
{
	published(_metadata, self->end, 0, true);
}

SANX_TEST_OF("loop verbs", publisher_works)
{
	published(_metadata, self->end, 0, false);
}

SANX_TEST_OF("loop verbs", publisher_and_reader_that_looks)
{
	published(_metadata, self->end, MSG_DONTWAIT, true);
}

/* How long requests of @pieces and their answers take. */
static long asked(struct __test_metadata *_metadata, const int end[2],
		  int pieces, bool epoll)
{
	struct task t = { .fn = answer, .fd = end[1], .flags = 50 };
	struct epoll_event ev = { .events = EPOLLIN };
	char rest[STREAM], c;
	int ep = epoll_create1(0);
	long start = now_ms();

	ASSERT_EQ(0, epoll_ctl(ep, EPOLL_CTL_ADD, end[0], &ev));
	task_start(&t);
	for (int i = 0; i < t.flags; i++) {
		for (int k = 1; k < pieces; k++)
			ASSERT_EQ(1, send(end[0], "q", 1, 0));
		ASSERT_EQ(STREAM - pieces + 1,
			  send(end[0], rest, STREAM - pieces + 1, 0));
		if (epoll)
			ASSERT_EQ(1, epoll_wait(ep, &ev, 1, SOON));
		ASSERT_EQ(1, recv(end[0], &c, 1, 0));
	}
	ASSERT_EQ(0, task_wait(&t));
	ASSERT_EQ(0, t.ret);
	close(ep);
	return now_ms() - start;
}

/* Were a request held back, all of them would take as long as the delays. */
static void answers_soon(struct __test_metadata *_metadata, const int end[2],
			 int pieces, bool epoll)
{
	long without;

	no_delay(_metadata, end[0], "0");
	without = asked(_metadata, end, pieces, epoll);
	no_delay(_metadata, end[0], LONGEST);
	EXPECT_GT(2 * without + 1000, asked(_metadata, end, pieces, epoll));
	ASSERT_EQ(0, nodelay_us_set("50"));
}

SANX_TEST_OF("loop verbs", answers_without_delay)
{
	answers_soon(_metadata, self->end, 1, false);
	answers_soon(_metadata, self->end, STREAM, false);
}

/* epoll_wait() does not say that an answer is waited for. */
SANX_TEST_OF("loop verbs", answers_by_epoll_without_delay)
{
	answers_soon(_metadata, self->end, 1, true);
	answers_soon(_metadata, self->end, 8, true);
}

/* Whoever looks sees what nobody has been woken for. */
SANX_TEST_OF("loop", seen_without_delay)
{
	char c;

	no_delay(_metadata, self->client, LONGEST);
	for (int i = 0; i < 100; i++) {
		stream(_metadata, self->end);
		ASSERT_EQ(1, send(self->client, "x", 1, 0));
		ASSERT_EQ(POLLIN, poll_one(self->server, POLLIN, 0));
		ASSERT_EQ(1, recv(self->server, &c, 1, MSG_DONTWAIT));
	}
	ASSERT_EQ(0, nodelay_us_set("50"));
}

/* A reader that waits for more than comes gets it with the end. */
static void ends(struct __test_metadata *_metadata, int end[2], int how)
{
	struct task t = { .fn = task_recv, .fd = end[1], .flags = MSG_WAITALL };
	char buf[4 * STREAM];

	t.buf = buf;
	t.len = sizeof(buf);
	stream(_metadata, end);
	task_start(&t);
	ASSERT_TRUE(task_blocked(&t));
	for (int i = 0; i < STREAM; i++)
		ASSERT_EQ(1, send(end[0], "s", 1, 0));
	ASSERT_EQ(0, how < 0 ? close(end[0]) : shutdown(end[0], how));
	ASSERT_EQ(0, task_wait(&t));
	ASSERT_EQ(STREAM, t.ret);
	ASSERT_EQ(0, recv(end[1], buf, 1, 0));
}

SANX_TEST(shutdown_behind_it)
{
	ends(_metadata, self->end, SHUT_WR);
}

SANX_TEST_OF("loop verbs", shutdown_behind_it_without_delay)
{
	no_delay(_metadata, self->client, LONGEST);
	ends(_metadata, self->end, SHUT_WR);
	ASSERT_EQ(0, nodelay_us_set("50"));
}

SANX_TEST(close_behind_it)
{
	int end[2] = { dup(self->client), self->server };

	close(self->client);
	ends(_metadata, end, -1);
}

/* Both ends go, with the last bytes hardly there. */
SANX_TEST(both_close)
{
	int end[2];

	for (int i = 0; i < 100; i++) {
		connect_pair(_metadata, self, variant, &end[0], &end[1]);
		for (int k = 0; k < 8; k++)
			ASSERT_EQ(1, send(end[i & 1], "x", 1, 0));
		close(end[dice(2)]);
		close(end[0]);
		close(end[1]);
	}
}

static long send_until_error(struct task *t)
{
	ssize_t n;

	do {
		n = send(t->fd, t->buf, t->len, MSG_DONTWAIT);
	} while (n > 0 || errno == EAGAIN);
	return 0;
}

static long recv_until_error(struct task *t)
{
	ssize_t n;

	do {
		n = recv(t->fd, t->buf, t->len, MSG_DONTWAIT);
	} while (n > 0 || (n < 0 && errno == EAGAIN));
	return 0;
}

/* connect(AF_UNSPEC) takes the connection away from calls that use it. */
SANX_TEST(given_up_in_use)
{
	struct task tx = { .fn = send_until_error };
	struct task rx = { .fn = recv_until_error };
	struct sockaddr none = { .sa_family = AF_UNSPEC };
	char out[100] = "", in[100], buf[1000];
	int end[2];

	for (int i = 0; i < 20; i++) {
		connect_pair(_metadata, self, variant, &end[0], &end[1]);
		tx.fd = end[0];
		rx.fd = end[0];
		tx.buf = out;
		rx.buf = in;
		tx.len = sizeof(out);
		rx.len = sizeof(in);
		ASSERT_EQ(sizeof(buf), send(end[1], buf, sizeof(buf), 0));
		task_start(&tx);
		task_start(&rx);
		for (unsigned int k = dice(20); k; k--)
			recv(end[1], buf, sizeof(buf), 0);
		ASSERT_EQ(0, rc(connect(end[0], &none, sizeof(none))));
		close(end[1]);
		ASSERT_EQ(0, task_wait(&tx));
		ASSERT_EQ(0, task_wait(&rx));
		close(end[0]);
	}
}

static long disconnect(struct task *t)
{
	struct sockaddr none = { .sa_family = AF_UNSPEC };

	return connect(t->fd, &none, sizeof(none));
}

/* The same with a send() that copies all the while: its peer's ring stays. */
SANX_TEST(given_up_while_copying)
{
	struct task tx = { .fn = task_send, .fd = self->client };
	struct task dis = { .fn = disconnect, .fd = self->client };
	int uffd;

	tx.buf = slow_page(&uffd);
	ASSERT_NE(NULL, tx.buf)
		TH_LOG("no userfaultfd");
	tx.len = 100;
	tx.flags = MSG_NOSIGNAL;
	stream(_metadata, self->end);
	task_start(&tx);
	ASSERT_TRUE(task_blocked(&tx));
	task_start(&dis);
	sleep_ms(A_WHILE);
	close(self->server);
	sleep_ms(A_WHILE);
	ASSERT_EQ(0, slow_page_give(uffd, tx.buf, ""));
	ASSERT_EQ(0, task_wait(&tx));
	ASSERT_EQ(0, task_wait(&dis));
	EXPECT_EQ(0, dis.ret);
	close(uffd);
}

SANX_TEST_MAIN
