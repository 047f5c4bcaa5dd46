// SPDX-License-Identifier: GPL-2.0
/*
 * Connections that rest give their memory back, and nothing else shows it.
 */
#include <sys/socket.h>

#include "lib/cgroup.h"
#include "sanx_test.h"

/* Connections, and bytes over each of them and each way. */
#define N	32
#define BYTES	300000
/* Far less than the rings of all. */
#define MUCH	1048576L

static int set_idle_ms(const char *ms)
{
	return write_file("/proc/sys/net/sanx/idle_ms", ms);
}

static bool ours(const FIXTURE_VARIANT(stream) *variant)
{
	return variant->carried == SANX_A_STATS_CONNS_LOOP ||
	       variant->carried == SANX_A_STATS_CONNS_VERBS;
}

static long send_all(struct task *t)
{
	return send_pattern(t->fd, BYTES, t->len, 0);
}

static void both_ways(struct __test_metadata *_metadata, int a, int b)
{
	int end[2] = { a, b };

	for (int i = 0; i < 2; i++) {
		struct task t = { .fn = send_all, .fd = end[i], .len = 20000 };

		task_start(&t);
		ASSERT_EQ(0, recv_pattern(end[!i], BYTES, 20000, 0));
		ASSERT_EQ(0, task_wait(&t));
		ASSERT_EQ(0, t.ret);
	}
}

/* What most connections carry: it makes a ring, and goes not there. */
static void a_request(struct __test_metadata *_metadata, int a, int b)
{
	ASSERT_EQ(0, send_pattern(a, 3000, 3000, 0));
	ASSERT_EQ(0, recv_pattern(b, 3000, 3000, 0));
}

/* Waits until a cgroup has no more than @most bytes. */
static bool comes_down(const char *file, long most)
{
	for (int i = 0; i < 300 && read_number(file) > most; i++)
		usleep(100000);
	return read_number(file) <= most;
}

static void carry_all(struct __test_metadata *_metadata,
		      FIXTURE_DATA(stream) *self,
		      const FIXTURE_VARIANT(stream) *variant,
		      void (*carry)(struct __test_metadata *_metadata, int a, int b))
{
	char path[64], file[128];
	int s, c[N], a[N], cgroup;
	struct address addr = self->addr;
	long before;

	ASSERT_EQ(0, set_idle_ms("1500"));
	cgroup = enter_cgroup(path, sizeof(path));
	ASSERT_LE(0, cgroup);
	snprintf(file, sizeof(file), "%s/memory.current", path);
	s = server_socket(variant);
	address_set_port(&addr, 0);
	ASSERT_EQ(0, rc(bind(s, &addr.sa, addr.len)));
	ASSERT_EQ(0, rc(listen(s, N)));
	ASSERT_EQ(0, local_address(s, &addr));
	for (int i = 0; i < N; i++) {
		c[i] = client_socket(variant);
		ASSERT_EQ(0, rc(connect(c[i], &addr.sa, addr.len)));
		a[i] = rc(accept(s, NULL, NULL));
		ASSERT_LE(0, a[i]);
	}
	before = read_number(file);
	ASSERT_LT(0, before);
	for (int round = 0; round < 2; round++) {
		long most = 0, now;

		for (int i = 0; i < N; i++) {
			carry(_metadata, a[i], c[i]);
			now = read_number(file);
			most = now > most ? now : most;
		}
		if (!ours(variant))
			continue;
		EXPECT_LT(before + MUCH, most);
		EXPECT_TRUE(comes_down(file, before + MUCH / 2));
	}
	for (int i = 0; i < N; i++) {
		both_ways(_metadata, a[i], c[i]);
		close(a[i]);
		close(c[i]);
	}
	close(s);
	EXPECT_EQ(0, set_idle_ms("30000"));
	leave_cgroup(path, cgroup);
	self->fallbacks = ANY_FALLBACKS;
}

SANX_TEST(memory_of_streams)
{
	carry_all(_metadata, self, variant, both_ways);
}

SANX_TEST(memory_of_requests)
{
	carry_all(_metadata, self, variant, a_request);
}

static long send_later(struct task *t)
{
	usleep(60000);
	return send_pattern(t->fd, t->len, t->len, 0);
}

/* A reader that only looks, all the time, until all is there. */
SANX_TEST(peek)
{
	static char buf[5000];

	ASSERT_EQ(0, set_idle_ms("20"));
	for (int i = 0; i < 10; i++) {
		struct task t = { .fn = send_later, .fd = self->end[i & 1],
				  .len = sizeof(buf) };
		long end = now_ms() + 20000;
		int fd = self->end[!(i & 1)];

		both_ways(_metadata, self->end[0], self->end[1]);
		task_start(&t);
		while (recv(fd, buf, sizeof(buf), MSG_PEEK | MSG_DONTWAIT) <
		       (ssize_t)sizeof(buf))
			ASSERT_GT(end, now_ms());
		ASSERT_EQ(0, task_wait(&t));
		ASSERT_EQ(0, t.ret);
		ASSERT_EQ(0, recv_pattern(fd, sizeof(buf), 777, 0));
	}
	EXPECT_EQ(0, set_idle_ms("30000"));
}

/* Nobody reads: what has come stays. */
SANX_TEST(unread)
{
	static const size_t sizes[] = { 100, 3000, 60000 };

	ASSERT_EQ(0, set_idle_ms("50"));
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		for (int from = 0; from < 2; from++) {
			both_ways(_metadata, self->end[0], self->end[1]);
			ASSERT_EQ(0, send_pattern(self->end[from], sizes[i], sizes[i], 0));
			usleep(400000);
			ASSERT_EQ(0, send_pattern(self->end[from], 10, 10, sizes[i]));
			usleep(100000);
			ASSERT_EQ(0, recv_pattern(self->end[!from], sizes[i] + 10, 777, 0));
		}
	}
	both_ways(_metadata, self->end[0], self->end[1]);
	EXPECT_EQ(0, set_idle_ms("30000"));
}

/* It is about to be given back, or was just now, when bytes come. */
SANX_TEST(again_and_again)
{
	static const size_t sizes[] = { 1, 300, 5000, 1, 1, 40000 };
	size_t n;

	ASSERT_EQ(0, set_idle_ms("1"));
	for (int i = 0; i < 300; i++) {
		n = sizes[i % ARRAY_SIZE(sizes)];
		ASSERT_EQ(0, send_pattern(self->end[i & 1], n, n, 0));
		/* Then the other side has nothing to say for a while, or has. */
		if (i % 7)
			usleep(i % 5 * 1000);
		ASSERT_EQ(0, recv_pattern(self->end[!(i & 1)], n, n, 0));
		if (!(i % 50))
			both_ways(_metadata, self->end[0], self->end[1]);
	}
	EXPECT_EQ(0, set_idle_ms("30000"));
}

/* The end of one direction, and of both, of a connection at rest. */
SANX_TEST(ends)
{
	ASSERT_EQ(0, set_idle_ms("20"));
	both_ways(_metadata, self->end[0], self->end[1]);
	usleep(200000);
	ASSERT_EQ(0, rc(shutdown(self->end[0], SHUT_WR)));
	EXPECT_EQ(0, send_pattern(self->end[1], 500, 500, 0));
	usleep(200000);
	EXPECT_EQ(0, send_pattern(self->end[1], 50000, 50000, 500));
	usleep(200000);
	ASSERT_EQ(0, rc(shutdown(self->end[1], SHUT_WR)));
	EXPECT_EQ(0, recv_pattern(self->end[0], 50500, 3000, 0));
	EXPECT_EQ(0, rc(recv(self->end[0], &(char){ 0 }, 1, 0)));
	EXPECT_EQ(0, rc(recv(self->end[1], &(char){ 0 }, 1, 0)));
	EXPECT_EQ(0, set_idle_ms("30000"));
}

SANX_TEST_MAIN
