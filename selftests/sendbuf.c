// SPDX-License-Identifier: GPL-2.0
/*
 * The send buffer: what send() took arrives, whatever the sender does next.
 */
#include <linux/sockios.h>
#include <stdio.h>
#include <sys/ioctl.h>

#define DEFAULT_VARIANTS "tcp4 loop fallback4"

#include "sanx_test.h"

/* What any connection takes at once, new as it is: TCP's first send buffer. */
#define FIRST	16384

static int outq(int fd, unsigned long what)
{
	int n = -1;

	return ioctl(fd, what, &n) ? -errno : n;
}

/* A new connection takes a message whole, whoever has nothing granted yet. */
SANX_TEST(first_message_whole)
{
	static char buf[FIRST];

	pattern_fill(buf, sizeof(buf), 0);
	for (int i = 0; i < 2; i++) {
		ASSERT_EQ(FIRST, send(self->end[i], buf, FIRST, MSG_DONTWAIT));
		ASSERT_EQ(0, recv_pattern(self->end[!i], FIRST, FIRST, 0));
	}
}

/* And so it does several, while nobody reads. */
SANX_TEST(first_messages)
{
	static char buf[FIRST / 4];

	for (int i = 0; i < 4; i++) {
		pattern_fill(buf, sizeof(buf), i * sizeof(buf));
		ASSERT_EQ(sizeof(buf), send(self->client, buf, sizeof(buf),
					    MSG_DONTWAIT));
	}
	ASSERT_EQ(0, recv_pattern(self->server, FIRST, FIRST, 0));
}

#define WRITERS		4
#define MESSAGES	200
#define MESSAGE		1500

static long task_messages(struct task *t)
{
	for (int i = 0; i < MESSAGES; i++)
		if (send(t->fd, t->buf, MESSAGE, 0) != MESSAGE)
			return -errno;
	return 0;
}

/* Messages of several writers do not mix, also where they have to wait. */
SANX_TEST(writers_do_not_mix)
{
	static char buf[WRITERS][MESSAGE];
	struct task t[WRITERS];
	char message[MESSAGE];

	for (int i = 0; i < WRITERS; i++) {
		memset(buf[i], 'a' + i, MESSAGE);
		t[i] = (struct task){ .fn = task_messages, .buf = buf[i],
				      .fd = self->client };
		task_start(&t[i]);
	}
	for (int i = 0; i < WRITERS * MESSAGES; i++) {
		ASSERT_EQ(MESSAGE, recv_exact(self->server, message, MESSAGE));
		ASSERT_LE('a', message[0]);
		ASSERT_GT('a' + WRITERS, message[0]);
		ASSERT_EQ(0, memcmp(message, buf[message[0] - 'a'], MESSAGE));
	}
	for (int i = 0; i < WRITERS; i++) {
		ASSERT_EQ(0, task_wait(&t[i]));
		EXPECT_EQ(0, t[i].ret);
	}
}

/* What was taken when everything was full arrives after close(), and the end. */
SANX_TEST(close_when_full)
{
	ssize_t n = fill(variant, self->client);
	char c;

	ASSERT_LE(FIRST, n);
	ASSERT_EQ(0, close(self->client));
	self->client = -1;
	ASSERT_EQ(n, drain_socket(self->server, n));
	EXPECT_EQ(0, rc(recv(self->server, &c, 1, 0)));
}

SANX_TEST(shutdown_when_full)
{
	ssize_t n = fill(variant, self->server);
	char c;

	ASSERT_LE(FIRST, n);
	ASSERT_EQ(0, shutdown(self->server, SHUT_WR));
	/* The other direction does not mind. */
	ASSERT_EQ(1, send(self->client, "x", 1, 0));
	ASSERT_EQ(1, recv(self->server, &c, 1, 0));
	ASSERT_EQ(n, drain_socket(self->client, n));
	EXPECT_EQ(0, rc(recv(self->client, &c, 1, 0)));
}

/* Who has closed cannot be told anything: then the rest is not sent either. */
SANX_TEST(answer_to_closed_when_full)
{
	ssize_t n = fill(variant, self->client), got = 0, ret;
	static char buf[65536];

	ASSERT_LE(FIRST, n);
	ASSERT_EQ(0, close(self->client));
	self->client = -1;
	ASSERT_EQ(1, send(self->server, "x", 1, 0));
	EXPECT_TRUE(poll_one(self->server, POLLERR | POLLHUP, SOON) &
		    (POLLERR | POLLHUP));
	do {
		ret = rc(recv(self->server, buf, sizeof(buf), 0));
		if (ret > 0)
			got += ret;
	} while (ret > 0);
	/* Over loop the end of the stream had come, before the reset. */
	if (variant->carried == SANX_A_STATS_CONNS_LOOP) {
		EXPECT_EQ(0, ret);
		EXPECT_EQ(n, got);
	} else {
		EXPECT_EQ(-ECONNRESET, ret);
		EXPECT_GT(n, got);
	}
}

/* A reset drops what was not given to the peer. */
SANX_TEST(reset_when_full)
{
	ssize_t n = fill(variant, self->client), got = 0, ret;
	static char buf[65536];

	ASSERT_LE(FIRST, n);
	ASSERT_EQ(0, close_reset(self->client));
	self->client = -1;
	poll_one(self->server, POLLERR | POLLHUP, SOON);
	do {
		ret = rc(recv(self->server, buf, sizeof(buf), 0));
		if (ret > 0)
			got += ret;
	} while (ret > 0);
	EXPECT_EQ(-ECONNRESET, ret);
	if (variant->carried != SANX_A_STATS_CONNS_LOOP)
		EXPECT_GT(n, got);
}

static long task_close(struct task *t)
{
	return rc(close(t->fd));
}

/* SO_LINGER: close() returns when the peer has it all. */
SANX_TEST(linger_until_taken)
{
	struct task t = { .fn = task_close, .fd = self->client };
	ssize_t n = fill(variant, self->client);
	char c;

	ASSERT_LE(FIRST, n);
	ASSERT_EQ(0, set_linger(self->client, 60));
	task_start(&t);
	self->client = -1;
	EXPECT_TRUE(task_blocked(&t));
	ASSERT_EQ(n, drain_socket(self->server, n));
	EXPECT_EQ(0, rc(recv(self->server, &c, 1, 0)));
	ASSERT_EQ(0, task_wait(&t));
	EXPECT_EQ(0, t.ret);
}

/* Or when its time is over; what was sent arrives all the same. */
SANX_TEST(linger_for_its_time)
{
	ssize_t n = fill(variant, self->client);
	long start = now_ms();
	char c;

	ASSERT_LE(FIRST, n);
	ASSERT_EQ(0, set_linger(self->client, 1));
	ASSERT_EQ(0, close(self->client));
	self->client = -1;
	EXPECT_LE(900, now_ms() - start);
	ASSERT_EQ(n, drain_socket(self->server, n));
	EXPECT_EQ(0, rc(recv(self->server, &c, 1, 0)));
}

/* SIOCOUTQNSD tells what the peer was not given. */
SANX_TEST(not_sent)
{
	ssize_t n = fill(variant, self->client);

	ASSERT_LE(FIRST, n);
	EXPECT_LT(0, outq(self->client, SIOCOUTQNSD));
	EXPECT_LT(0, outq(self->client, SIOCOUTQ));
	EXPECT_LE(outq(self->client, SIOCOUTQNSD),
		  outq(self->client, SIOCOUTQ));
	ASSERT_EQ(n, drain_socket(self->server, n));
	for (int i = 0; i < SOON && outq(self->client, SIOCOUTQ); i += 10)
		sleep_ms(10);
	EXPECT_EQ(0, outq(self->client, SIOCOUTQ));
	EXPECT_EQ(0, outq(self->client, SIOCOUTQNSD));
}

/* Who waits for TCP_NOTSENT_LOWAT is told, whatever makes bytes go. */
SANX_TEST(not_sent_lowat)
{
	static char buf[24000];
	ssize_t n;

	ASSERT_EQ(0, set_option(self->client, IPPROTO_TCP, TCP_NOTSENT_LOWAT,
				16384));
	pattern_fill(buf, sizeof(buf), 0);
	for (int i = 0; i < 200; i++) {
		/*
		 * Small enough to be coalesced still.  What was read need not be
		 * acknowledged yet, so there may be room for a part only.
		 */
		for (size_t sent = 0; sent < sizeof(buf); sent += n) {
			n = send(self->client, buf + sent, sizeof(buf) - sent,
				 MSG_DONTWAIT);
			ASSERT_LT(0, n);
			ASSERT_EQ(POLLOUT, poll_one(self->client, POLLOUT,
						    SOON));
		}
		ASSERT_EQ(0, recv_pattern(self->server, sizeof(buf), 0, 0));
	}
}

/*
 * The same on a socket that was disconnected before it was connected: to TCP's
 * own eyes there is something in the send queue then.
 */
SANX_TEST(not_sent_lowat_disconnected)
{
	struct sockaddr none = { .sa_family = AF_UNSPEC };
	struct task t = { .fn = task_send_all };
	int end[2], n;

	end[0] = client_socket(variant);
	ASSERT_LE(0, end[0]);
	ASSERT_EQ(0, rc(connect(end[0], &none, sizeof(none))));
	ASSERT_EQ(0, set_option(end[0], IPPROTO_TCP, TCP_NOTSENT_LOWAT, 1));
	ASSERT_EQ(0, rc(connect(end[0], &self->addr.sa, self->addr.len)));
	end[1] = rc(accept(self->listener, NULL, NULL));
	ASSERT_LE(0, end[1]);
	t.fd = end[0];
	t.len = 8 << 20;
	t.buf = calloc(1, t.len);
	task_start(&t);
	ASSERT_TRUE(task_blocked(&t));
	for (size_t got = 0; got < t.len; got += n) {
		ASSERT_LT(0, poll_one(end[1], POLLIN, SOON))
			TH_LOG("send() was not woken after %zu bytes", got);
		n = recv(end[1], t.buf, t.len, MSG_TRUNC);
		ASSERT_LT(0, n);
	}
	ASSERT_EQ(0, task_wait(&t));
	EXPECT_EQ(0, t.ret);
	close(end[0]);
	close(end[1]);
	free(t.buf);
}

static long switches(pid_t tid)
{
	char path[64], line[128];
	long n = -1;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/task/%d/status", tid);
	f = fopen(path, "r");
	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "voluntary_ctxt_switches: %ld", &n) == 1)
			break;
	if (f)
		fclose(f);
	return n;
}

/* Who waits to read is not woken because there is room to send. */
SANX_TEST(reader_sleeps_on)
{
	static char buf[20000];
	char c;
	struct task t = { .fn = task_recv, .buf = &c, .len = 1 };
	long before;
	ssize_t n;

	t.fd = self->client;
	task_start(&t);
	ASSERT_TRUE(task_blocked(&t));
	before = switches(t.tid);
	ASSERT_LT(0, before);
	for (int i = 0; i < 50; i++) {
		ASSERT_EQ(sizeof(buf), send(self->client, buf, sizeof(buf), 0));
		ASSERT_EQ(sizeof(buf), recv(self->server, buf, sizeof(buf),
					    MSG_WAITALL));
	}
	/* TCP wakes all that sleep for any reason, once a sender had no room. */
	if (!is_tcp(variant)) {
		n = fill(variant, self->client);
		ASSERT_LT(0, n);
		ASSERT_EQ(n, drain_socket(self->server, n));
	}
	sleep_ms(A_WHILE);
	EXPECT_EQ(before, switches(t.tid));
	EXPECT_EQ(1, send(self->server, "x", 1, 0));
	ASSERT_EQ(0, task_wait(&t));
	EXPECT_EQ(1, t.ret);
}

SANX_TEST_MAIN
