/* SPDX-License-Identifier: GPL-2.0 */
/* The fixture of the tests that have something fail, and look what is left then. */
#ifndef SANX_FAULT_TEST_H
#define SANX_FAULT_TEST_H

#include "lib/fault.h"
#include "sanx_test.h"

/* Bytes that are longer than the buffers of both ends. */
#define MUCH	(3 << 20)

/* Errors that mean no memory, whatever the call is. */
static inline bool no_memory(long ret)
{
	return ret == -ENOMEM || ret == -ENOBUFS;
}

/* For a call that makes a file or a socket. */
static inline bool no_socket(long ret)
{
	return no_memory(ret) || ret == -ENFILE;
}

/* For one that takes a port: TCP says this of a table of ports without memory. */
static inline bool no_port(long ret)
{
	return no_memory(ret) || ret == -EADDRINUSE;
}

static inline int set_hold_ms(const char *ms)
{
	return write_file("/sys/module/af_sanx/parameters/link_hold_ms", ms);
}

/* What "sanxctl socket" shows. */
static int sockets_before;

static inline void begin(struct __test_metadata *_metadata, FIXTURE_DATA(stream) *self,
			 const FIXTURE_VARIANT(stream) *variant)
{
	ASSERT_EQ(0, fault_init());
	ASSERT_EQ(0, fault_within(NULL));
	if (variant->client || variant->server) {
		/* A link that was lost is soon tried again. */
		ASSERT_EQ(0, set_hold_ms("50"));
		sockets_before = node_dump(SANX_CMD_SOCKET_GET);
		ASSERT_LE(0, sockets_before);
	}
	self->fallbacks = ANY_FALLBACKS;
}

/* A connection of the variant's way, which may need a new link for it. */
static inline void pair(struct __test_metadata *_metadata, FIXTURE_DATA(stream) *self,
			const FIXTURE_VARIANT(stream) *variant, int end[2])
{
	long until = now_ms() + SOON;
	struct node_stats a, b;

	for (;;) {
		if (variant->carried)
			ASSERT_EQ(0, node_stats(&a));
		connect_pair(_metadata, self, variant, &end[0], &end[1]);
		if (!variant->carried)
			return;
		ASSERT_EQ(0, node_stats(&b));
		if (b.v[carried_by(variant)] - a.v[carried_by(variant)] == 2)
			return;
		ASSERT_GT(until, now_ms()) TH_LOG("the transport does not come back");
		close(end[0]);
		close(end[1]);
		sleep_ms(20);
	}
}

/* All is as before the faults. */
static inline void end_faults(struct __test_metadata *_metadata,
			      const FIXTURE_VARIANT(stream) *variant)
{
	long until = now_ms() + SOON;

	if (!variant->client && !variant->server)
		return;
	while (node_dump(SANX_CMD_SOCKET_GET) != sockets_before && now_ms() < until)
		sleep_ms(20);
	EXPECT_EQ(sockets_before, node_dump(SANX_CMD_SOCKET_GET));
	ASSERT_EQ(0, set_hold_ms("10000"));
}

/* And a connection works. */
static inline void check_pair(struct __test_metadata *_metadata, FIXTURE_DATA(stream) *self,
			      const FIXTURE_VARIANT(stream) *variant)
{
	int end[2];

	pair(_metadata, self, variant, end);
	check_works(_metadata, end);
	close(end[0]);
	close(end[1]);
}

/* Reads to the end of the stream; bytes, or -EBADMSG for others than were sent. */
static inline long read_all(struct task *t)
{
	static __thread char buf[65536];
	size_t got = 0;
	ssize_t n;

	while ((n = recv(t->fd, buf, sizeof(buf), 0)) > 0) {
		if (!pattern_check(buf, n, got)) {
			errno = EBADMSG;
			return -1;
		}
		got += n;
	}
	return n ? n : (long)got;
}

/* The nodes of a lab: this one, by IPv4 and IPv6; over RDMA, and over TCP. */
static const struct node_entry nodes[] = {
	{ "10.77.0.1", 1 },
	{ "fd77::1", 1, "10.77.0.1" },
};

static const struct node_entry tcp_nodes[ARRAY_SIZE(nodes)] = {
	{ "10.77.0.1", 1, NULL, "10.77.0.1" },
	{ "fd77::1", 1, "10.77.0.1", "10.77.0.1" },
};

/* Ends all links, so that the next connection makes one. */
static inline void lose_links(struct __test_metadata *_metadata,
			      const FIXTURE_VARIANT(stream) *variant)
{
	bool tcp = carried_by(variant) == SANX_A_STATS_CONNS_TCP_RAIL;

	if (variant->carried != SANX_A_STATS_CONNS_VERBS)
		return;
	ASSERT_EQ(0, node_map_load(NULL, 0));
	ASSERT_EQ(0, node_map_load(tcp ? tcp_nodes : nodes, ARRAY_SIZE(nodes)));
}

/* An error of a connection whose memory is refused, at either end. */
static inline bool may_fail(long ret)
{
	return no_port(ret) || no_socket(ret) || ret == -ECONNRESET || ret == -EPIPE;
}

static inline long send_stream(struct task *t)
{
	int err = send_pattern(t->fd, t->len, 65536, 0) ?: rc(shutdown(t->fd, SHUT_WR));

	errno = -err;
	return err ? -1 : 0;
}

/* A stream from one end to the other: it is complete, or both know that it is not. */
static inline bool stream_passes(struct __test_metadata *_metadata, const int end[2])
{
	struct task tx = { .fn = send_stream, .fd = end[0], .len = MUCH };
	struct task rx = { .fn = read_all, .fd = end[1] };
	int tx_err, rx_err;

	task_start(&rx);
	task_start(&tx);
	tx_err = task_wait(&tx);
	/* Who could not send all ends the connection. */
	if (tx_err || tx.ret)
		shutdown(end[0], SHUT_RDWR);
	rx_err = task_wait(&rx);
	ASSERT_EQ(0, tx_err) TH_LOG("the sender hangs");
	ASSERT_EQ(0, rx_err) TH_LOG("the reader hangs");
	EXPECT_TRUE(!tx.ret || may_fail(tx.ret)) TH_LOG("send: %ld", tx.ret);
	EXPECT_TRUE(rx.ret >= 0 || may_fail(rx.ret)) TH_LOG("recv: %ld", rx.ret);
	if (!tx.ret && rx.ret >= 0)
		EXPECT_EQ(MUCH, rx.ret);
	return !tx.ret && rx.ret == MUCH;
}

/* A connection, and a stream over it, while memory is refused to whatever thread. */
static inline bool round_passes(struct __test_metadata *_metadata, FIXTURE_DATA(stream) *self,
				const FIXTURE_VARIANT(stream) *variant)
{
	bool passes = false;
	struct address a;
	int end[2], l;

	l = listen_any(variant, 8, &a);
	EXPECT_TRUE(l >= 0 || may_fail(l));
	if (l < 0)
		return false;
	end[0] = connect_to(variant, &a);
	EXPECT_TRUE(end[0] >= 0 || may_fail(end[0])) TH_LOG("connect: %d", end[0]);
	set_nonblock(l, true);
	end[1] = end[0] < 0 || !poll_one(l, POLLIN, SOON) ? -EAGAIN :
		 rc(accept(l, NULL, NULL));
	close(l);
	EXPECT_TRUE(end[1] >= 0 || end[1] == -EAGAIN || may_fail(end[1]))
		TH_LOG("accept: %d", end[1]);
	if (end[1] >= 0)
		passes = stream_passes(_metadata, end);
	else if (end[0] >= 0)
		/* The listener is closed, so the client's connection ends. */
		EXPECT_LT(0, poll_one(end[0], POLLIN, SOON));
	for (int i = 0; i < 2; i++)
		if (end[i] >= 0)
			close(end[i]);
	return passes;
}

#endif /* SANX_FAULT_TEST_H */
