// SPDX-License-Identifier: GPL-2.0
/* Many connections at once: what they weigh, and who gets how much. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bench.h"

#define CHUNK		16384u
#define EVENTS		64

/* Each stream is to get this much, and all together at least so much. */
#define SHARE		(4 * CHUNK)
#define LEAST_TOTAL	(24u << 20)

/* Makes @count connections, one after the other; fds[] are this end's. */
static void open_many(struct bench *b, int *fds, int count)
{
	for (int i = 0; i < count; i++) {
		if (b->server)
			fds[i] = bench_accept(b);
		else
			fds[i] = bench_connect(b);
		/* In step, as no backlog is to fill. */
		if (b->server)
			tell_peer(b);
		else
			await_peer(b);
	}
}

static int *room(int count)
{
	int *fds = calloc(count, sizeof(*fds));

	if (!fds)
		die("calloc");
	return fds;
}

static void start_many(struct bench *b)
{
	if (b->server) {
		bench_listen(b, 64);
		tell_peer(b);
	} else {
		await_peer(b);
	}
}

/* Sums the numbers of @file's lines that scan as @format. */
static uint64_t sum_of(const char *file, const char *format)
{
	unsigned long long n, sum = 0;
	char line[256];
	FILE *f = fopen(file, "r");

	if (!f)
		die(file);
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, format, &n) == 1)
			sum += n;
	fclose(f);
	return sum;
}

/*
 * Bytes of memory in use, but for the page cache: whatever took it, a program,
 * a slab, a driver, it is missing from what is free.  Pages that a CPU keeps
 * for later are free too; stat_refresh has the counters brought up to date.
 */
static uint64_t memory(void)
{
	uint64_t kib;

	sum_of("/proc/sys/vm/stat_refresh", "%llu");
	kib = sum_of("/proc/meminfo", "MemTotal: %llu") -
	      sum_of("/proc/meminfo", "MemFree: %llu") -
	      sum_of("/proc/meminfo", "Buffers: %llu") -
	      sum_of("/proc/meminfo", "Cached: %llu");
	return kib * 1024 - sum_of("/proc/zoneinfo", " count: %llu") * getpagesize();
}

/* A byte there and a byte back on each: whatever is made by the first is made. */
static void use_each(struct bench *b, int *fds, int count)
{
	char c = 0;

	for (int i = 0; i < count; i++) {
		if (!b->server)
			send_all(fds[i], &c, 1);
		if (!recv_all(fds[i], &c, 1))
			die("end of stream");
		if (b->server)
			send_all(fds[i], &c, 1);
	}
}

/*
 * As many again are made before, since tables, partly filled slabs and file
 * tables come with the first.
 */
void measure_idle(struct bench *b, char **counts)
{
	int count = atoi(*counts);
	int *fds = room(2 * count);
	uint64_t before, fresh, used;

	start_many(b);
	open_many(b, fds, count);
	sleep(1);
	before = memory();
	open_many(b, fds + count, count);
	sleep(1);
	fresh = memory();
	use_each(b, fds + count, count);
	sleep(1);
	used = memory();
	if (b->server) {
		await_peer(b);
		return;
	}
	printf("idle 0 %.0f\nused 0 %.0f\n", ((double)fresh - before) / count,
	       ((double)used - before) / count);
	tell_peer(b);
}

/* What a call moved; 0 where it would have waited, -1 if the peer has gone. */
static ssize_t move(struct bench *b, int fd, char *buf)
{
	ssize_t n = b->server ? recv(fd, buf, CHUNK, 0) :
				send(fd, buf, CHUNK, MSG_NOSIGNAL);

	if (n < 0 && errno == EAGAIN)
		return 0;
	return n <= 0 ? -1 : n;
}

/* Moves what can be moved until it was @total; who sends, until the peer goes. */
static void move_many(struct bench *b, int ep, const int *fds, uint64_t *moved,
		      uint64_t total)
{
	static char buf[CHUNK];
	struct epoll_event ev[EVENTS];
	uint64_t sum = 0;

	while (sum < total) {
		int n = epoll_wait(ep, ev, EVENTS, -1);

		if (n < 0)
			die("epoll_wait");
		for (int i = 0; i < n; i++) {
			ssize_t len = move(b, fds[ev[i].data.u32], buf);

			if (len < 0 && b->server)
				die("end of stream");
			if (len < 0)
				return;
			moved[ev[i].data.u32] += len;
			sum += len;
		}
	}
}

static int watch_many(struct bench *b, const int *fds, int count)
{
	int ep = epoll_create1(0);

	for (int i = 0; i < count; i++) {
		struct epoll_event ev = {
			.events = b->server ? EPOLLIN : EPOLLOUT,
			.data.u32 = i,
		};

		no_block(fds[i]);
		if (epoll_ctl(ep, EPOLL_CTL_ADD, fds[i], &ev))
			die("epoll_ctl");
	}
	return ep;
}

static void print_many(int count, const uint64_t *moved, uint64_t ns)
{
	uint64_t least = UINT64_MAX, sum = 0;

	for (int i = 0; i < count; i++) {
		sum += moved[i];
		if (moved[i] < least)
			least = moved[i];
	}
	printf("many %d %.3f\n", count, sum * 1e3 / ns);
	printf("fair %d %.3f\n", count, (double)least * count / sum);
}

/*
 * One process writes to whichever streams take it, one reads from whichever
 * have something; what arrived by the time the reader has its sum is the share.
 */
static void streams(struct bench *b, int count)
{
	uint64_t *moved = calloc(count, sizeof(*moved));
	uint64_t total = (uint64_t)count * SHARE, start;
	int *fds = room(count), ep;

	if (!moved)
		die("calloc");
	open_many(b, fds, count);
	ep = watch_many(b, fds, count);
	start = now_ns();
	if (b->server)
		move_many(b, ep, fds, moved, total > LEAST_TOTAL ? total : LEAST_TOTAL);
	else
		move_many(b, ep, fds, moved, UINT64_MAX);
	if (b->server)
		print_many(count, moved, now_ns() - start);
	close(ep);
	for (int i = 0; i < count; i++)
		close(fds[i]);
	free(fds);
	free(moved);
}

void measure_many(struct bench *b, char **counts)
{
	start_many(b);
	for (; *counts; counts++) {
		streams(b, atoi(*counts));
		/* Nobody connects while the other still closes. */
		if (b->server) {
			tell_peer(b);
			await_peer(b);
		} else {
			await_peer(b);
			tell_peer(b);
		}
	}
}
