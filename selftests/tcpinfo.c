// SPDX-License-Identifier: GPL-2.0
/* TCP_INFO: figures that are true, and TCP's where they count the same thing. */
#include "sanx_test.h"

static struct tcp_info info_of(int fd)
{
	struct tcp_info info = {};
	socklen_t len = sizeof(info);

	getsockopt(fd, SOL_TCP, TCP_INFO, &info, &len);
	return info;
}

/* glibc's struct tcp_info ends before these; the kernel's goes on. */
struct counts {
	uint64_t acked;
	uint64_t received;
	uint64_t sent;
	uint32_t notsent;
};

static struct counts counts_of(int fd)
{
	union {
		unsigned char bytes[512];
		uint64_t u64[512 / 8];
	} info = {};
	socklen_t len = sizeof(info);
	struct counts c;

	getsockopt(fd, SOL_TCP, TCP_INFO, &info, &len);
	/* linux/tcp.h: offsets that are the kernel's interface. */
	c.acked = info.u64[120 / 8];
	c.received = info.u64[128 / 8];
	memcpy(&c.notsent, info.bytes + 144, sizeof(c.notsent));
	c.sent = info.u64[200 / 8] - info.u64[208 / 8]; /* of TCP, twice */
	return c;
}

static void some_traffic(struct __test_metadata *_metadata, int end[2])
{
	static const size_t len[] = { 1, 300, 10000, 200000 };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(len); i++) {
		struct task t = { task_send_all, end[i % 2], .len = len[i] };

		task_start(&t);
		ASSERT_EQ(0, recv_pattern(end[!(i % 2)], len[i], 0, 0));
		ASSERT_EQ(0, task_wait(&t));
		ASSERT_EQ(0, t.ret);
	}
}

/* TCP acknowledges when it likes, and it is not over before that. */
static bool settled(int fd, const struct counts *want)
{
	long end = now_ms() + SOON;
	struct counts c;

	do {
		c = counts_of(fd);
		if (c.acked == want->acked && c.received == want->received)
			return true;
		sleep_ms(5);
	} while (now_ms() < end);
	return false;
}

static void compare_counts(struct __test_metadata *_metadata, int end[2],
			   const struct counts want[2])
{
	for (int i = 0; i < 2; i++) {
		struct counts c;

		EXPECT_TRUE(settled(end[i], &want[i]));
		c = counts_of(end[i]);
		EXPECT_EQ(want[i].acked, c.acked);
		EXPECT_EQ(want[i].received, c.received);
		EXPECT_EQ(want[i].sent, c.sent);
		EXPECT_EQ(0, c.notsent);
		EXPECT_EQ(0, info_of(end[i]).tcpi_unacked);
	}
}

SANX_TEST(info_counts)
{
	/* Who connects counts its SYN, and each its FIN, when acknowledged. */
	struct counts want[2] = {
		{ 10001 + 1, 200300, 10001 }, { 200300, 10001, 200300 },
	};
	int tcp[2];
	char c;

	connect_tcp(_metadata, variant, tcp);
	some_traffic(_metadata, tcp);
	some_traffic(_metadata, self->end);
	compare_counts(_metadata, tcp, want);
	compare_counts(_metadata, self->end, want);

	want[0].acked++;
	want[1].received++;
	EXPECT_EQ(0, rc(shutdown(tcp[0], SHUT_WR)));
	EXPECT_EQ(0, rc(shutdown(self->client, SHUT_WR)));
	EXPECT_EQ(0, rc(recv(tcp[1], &c, 1, 0)));
	EXPECT_EQ(0, rc(recv(self->server, &c, 1, 0)));
	compare_counts(_metadata, tcp, want);
	compare_counts(_metadata, self->end, want);
}

SANX_TEST(info_figures)
{
	struct tcp_info i;

	sleep_ms(LIMIT);
	i = info_of(self->client);
	EXPECT_LE(LIMIT_AT_LEAST, i.tcpi_last_data_sent);
	EXPECT_EQ(1, send(self->client, "x", 1, 0));
	EXPECT_EQ(POLLIN, poll_one(self->server, POLLIN, SOON));
	sleep_ms(LIMIT);
	i = info_of(self->client);
	EXPECT_LE(LIMIT_AT_LEAST, i.tcpi_last_data_sent);
	EXPECT_GT(SOON, i.tcpi_last_data_sent);
	/* TCP's is 0 where the clock stands still while anything runs. */
	if (!is_tcp(variant))
		EXPECT_LT(0, i.tcpi_rtt);
	EXPECT_LE(536, i.tcpi_snd_mss);
	EXPECT_LE(536, i.tcpi_rcv_mss);
	EXPECT_LE(1, i.tcpi_snd_cwnd);
	i = info_of(self->server);
	EXPECT_LE(LIMIT_AT_LEAST, i.tcpi_last_data_recv);
	EXPECT_GT(SOON, i.tcpi_last_data_recv);
	EXPECT_EQ(0, i.tcpi_total_retrans);
	EXPECT_LE(536, get_option(self->client, SOL_TCP, TCP_MAXSEG));
}

SANX_TEST(info_listener)
{
	int c = connect_to(variant, &self->addr);
	long end = now_ms() + SOON;

	ASSERT_LE(0, c);
	while (!info_of(self->listener).tcpi_unacked && now_ms() < end)
		sleep_ms(1);
	EXPECT_EQ(1, info_of(self->listener).tcpi_unacked);
	EXPECT_EQ(64, info_of(self->listener).tcpi_sacked);
	self->fallbacks = ANY_FALLBACKS;
}

SANX_TEST_MAIN
