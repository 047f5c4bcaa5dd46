// SPDX-License-Identifier: GPL-2.0
/*
 * Memory pressure in tcp_mem: what connections hold is counted there, and they go on with
 * little.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DEFAULT_VARIANTS "tcp4 loop fallback4"

#include "sanx_test.h"

#define TCP_MEM	"/proc/sys/net/ipv4/tcp_mem"

/* A little more than the ring that a connection begins with. */
#define LITTLE	1025
/* Connections, and the least pages that TCP's account shows of each and each way. */
#define N	16
#define PAGES	4

static char usual[128];

static void __attribute__((constructor)) remember_usual(void)
{
	FILE *f = fopen(TCP_MEM, "r");

	if (!f || !fgets(usual, sizeof(usual), f))
		*usual = 0;
	if (f)
		fclose(f);
}

/* Tests are children, which end otherwise: this is when all of them are over. */
static void __attribute__((destructor)) be_as_usual(void)
{
	write_file(TCP_MEM, usual);
}

/* TCP itself may have as many pages as the third value says. */
static int set_pressure(bool on)
{
	return write_file(TCP_MEM, on ? "0 0 1000000" : usual);
}

/* Pages in TCP's account, of all. */
static long pages(void)
{
	FILE *f = fopen("/proc/net/sockstat", "r");
	char line[256], *at;
	long n = -1;

	while (f && fgets(line, sizeof(line), f)) {
		at = strstr(line, " mem ");
		if (!strncmp(line, "TCP:", 4) && at)
			n = atol(at + 5);
	}
	if (f)
		fclose(f);
	return n;
}

/* What many connections have under way is counted, and no more when they end. */
SANX_TEST_OF("loop loop4 loop6", unread_is_counted)
{
	char buf[LITTLE] = { 0 };
	int end[N][2], i;
	long before;

	for (i = 0; i < N; i++)
		connect_pair(_metadata, self, variant, &end[i][0], &end[i][1]);
	before = pages();
	ASSERT_LE(0, before);
	for (i = 0; i < 2 * N; i++)
		ASSERT_EQ(LITTLE, send(end[i / 2][i % 2], buf, LITTLE, 0));
	EXPECT_LE(before + 2 * N * PAGES, pages());
	for (i = 0; i < 2 * N; i++)
		close(end[i / 2][i % 2]);
	/* The last of it is freed a grace period later. */
	for (i = 0; i < SOON && pages() >= before + PAGES; i++)
		sleep_ms(1);
	EXPECT_GT(before + PAGES, pages());
}

/* Where there is not enough for all, none gets it all: the last has a page, too. */
SANX_TEST_OF("loop loop4 loop6", each_gets_some)
{
	char buf[8192] = { 0 }, mem[64];
	int end[N][2], i;

	for (i = 0; i < N; i++)
		connect_pair(_metadata, self, variant, &end[i][0], &end[i][1]);
	snprintf(mem, sizeof(mem), "0 %ld 1000000", pages() + N * PAGES);
	ASSERT_EQ(0, write_file(TCP_MEM, mem));
	for (i = 0; i < N; i++)
		EXPECT_LE(4096, send(end[i][0], buf, sizeof(buf), MSG_DONTWAIT));
	ASSERT_EQ(0, set_pressure(false));
	for (i = 0; i < 2 * N; i++)
		close(end[i / 2][i % 2]);
}

#define BYTES	100000

static long task_fill(struct task *t)
{
	return send_pattern(t->fd, BYTES, 5000, 0);
}

/* All bytes of both directions at once pass, and nobody waits for what the other has. */
SANX_TEST(goes_on)
{
	struct task t[2];
	int i;

	ASSERT_EQ(0, set_pressure(true));
	for (i = 0; i < 2; i++) {
		t[i] = (struct task){ .fn = task_fill, .fd = self->end[i] };
		task_start(&t[i]);
	}
	for (i = 0; i < 2; i++) {
		ASSERT_EQ(0, recv_pattern(self->end[!i], BYTES, 5000, 0));
		ASSERT_EQ(0, task_wait(&t[i]));
		ASSERT_EQ(0, t[i].ret);
	}
	ASSERT_EQ(0, set_pressure(false));
	check_works(_metadata, self->end);
}

/* Nor does who waits for more bytes than there is memory for. */
SANX_TEST_OF("loop loop4 loop6", low_water_mark)
{
	struct task t = { .fn = task_fill, .fd = self->client };

	ASSERT_EQ(0, set_option(self->server, SOL_SOCKET, SO_RCVLOWAT, 10000));
	ASSERT_EQ(0, set_pressure(true));
	task_start(&t);
	EXPECT_EQ(POLLIN, poll_one(self->server, POLLIN, SOON));
	ASSERT_EQ(0, recv_pattern(self->server, BYTES, 5000, 0));
	ASSERT_EQ(0, task_wait(&t));
	EXPECT_EQ(0, t.ret);
}

SANX_TEST_MAIN
