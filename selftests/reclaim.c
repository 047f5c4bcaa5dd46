// SPDX-License-Identifier: GPL-2.0
/*
 * Connections that rest give their memory back, and nothing else shows it.
 *
 * clock: host memory is given back after idle_ms
 */
#include <sys/socket.h>

#include "lib/cgroup.h"
#include "sanx_test.h"

/* Most connections of a cgroup. */
#define N	256
/* Bytes of a stream over one, each way. */
#define BYTES	300000

static int set_idle_ms(const char *ms)
{
	return write_file("/proc/sys/net/sanx/idle_ms", ms);
}

static int set_idle(long ms)
{
	char text[24];

	snprintf(text, sizeof(text), "%ld", ms);
	return set_idle_ms(text);
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

/* What most connections carry: over verbs it makes a page, from which it is sent. */
static void a_request(struct __test_metadata *_metadata, int a, int b)
{
	ASSERT_EQ(0, send_pattern(a, 3000, 3000, 0));
	ASSERT_EQ(0, recv_pattern(b, 3000, 3000, 0));
}

/* Waits until a cgroup has no more than @most bytes; says what it has instead. */
static bool comes_down(const char *file, long most)
{
	long end = now_ms() + 60000;

	while (read_number(file) > most && now_ms() < end)
		usleep(100000);
	if (read_number(file) <= most)
		return true;
	printf("# %ld bytes, more than %ld\n", read_number(file), most);
	return false;
}

/* Connections of one cgroup. */
struct crowd {
	int a[N], c[N];
	int n;
	long much;	/* far less memory than all use, in bytes */
	char memory[128];	/* the file that says how much it has */
	void (*carry)(struct __test_metadata *_metadata, int a, int b);
};

/*
 * Each of them carries, one after the other.
 *
 * Return: the most memory that all had meanwhile, in bytes; 0 if it took so long that
 * those that were first were idle for @idle_ms before the last.
 */
static long carry_all(struct __test_metadata *_metadata, const struct crowd *crowd,
		      long idle_ms)
{
	long most = 0, now, start = now_ms();

	for (int i = 0; i < crowd->n; i++) {
		crowd->carry(_metadata, crowd->a[i], crowd->c[i]);
		now = read_number(crowd->memory);
		most = now > most ? now : most;
	}
	return now_ms() - start < idle_ms ? most : 0;
}

/* All carry, within an idle time that a busy host makes longer, and give it back. */
static void up_and_down(struct __test_metadata *_metadata, const struct crowd *crowd,
			bool gives_back, long before)
{
	static long idle_ms = 1500;
	long most;

	ASSERT_EQ(0, set_idle(idle_ms));
	while (!(most = carry_all(_metadata, crowd, idle_ms))) {
		idle_ms *= 2;
		ASSERT_GT(30000, idle_ms);
		ASSERT_EQ(0, set_idle(idle_ms));
	}
	if (!gives_back)
		return;
	EXPECT_LT(before + crowd->much, most);
	EXPECT_TRUE(comes_down(crowd->memory, before + crowd->much / 2));
}

static void memory_of(struct __test_metadata *_metadata, FIXTURE_DATA(stream) *self,
		      const FIXTURE_VARIANT(stream) *variant,
		      void (*carry)(struct __test_metadata *_metadata, int a, int b), int n,
		      long much)
{
	struct crowd crowd = { .carry = carry, .n = n, .much = much };
	char path[64];
	int s, cgroup;
	struct address addr = self->addr;
	long before;

	cgroup = enter_cgroup(path, sizeof(path));
	ASSERT_LE(0, cgroup);
	snprintf(crowd.memory, sizeof(crowd.memory), "%s/memory.current", path);
	s = server_socket(variant);
	address_set_port(&addr, 0);
	ASSERT_EQ(0, rc(bind(s, &addr.sa, addr.len)));
	ASSERT_EQ(0, rc(listen(s, n)));
	ASSERT_EQ(0, local_address(s, &addr));
	for (int i = 0; i < n; i++) {
		crowd.c[i] = client_socket(variant);
		ASSERT_EQ(0, rc(connect(crowd.c[i], &addr.sa, addr.len)));
		crowd.a[i] = rc(accept(s, NULL, NULL));
		ASSERT_LE(0, crowd.a[i]);
	}
	before = read_number(crowd.memory);
	ASSERT_LT(0, before);
	for (int round = 0; round < 2; round++)
		up_and_down(_metadata, &crowd, ours(variant), before);
	for (int i = 0; i < n; i++) {
		crowd.carry(_metadata, crowd.a[i], crowd.c[i]);
		close(crowd.a[i]);
		close(crowd.c[i]);
	}
	close(s);
	EXPECT_EQ(0, set_idle_ms("30000"));
	leave_cgroup(path, cgroup);
	self->fallbacks = ANY_FALLBACKS;
}

SANX_TEST(memory_of_streams)
{
	memory_of(_metadata, self, variant, both_ways, 32, 1048576);
}

SANX_TEST(memory_of_requests)
{
	memory_of(_metadata, self, variant, a_request, N, N * 2048);
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
