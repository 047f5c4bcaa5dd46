// SPDX-License-Identifier: GPL-2.0
/* One connection at a time: latency, streams, and how they begin and end. */
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bench.h"

/*
 * How often, so that the figure does not hang on where the scheduler's tick
 * falls.  TCP needs some hundred rounds to settle when it acknowledges.
 */
#define ROUNDS		1000
#define LARGE		16384
#define ROUNDS_LARGE	100

/*
 * At first the scheduler lets the one who is woken preempt the other, who then finds
 * an answer and need not sleep.  That is over after up to 2000 rounds.
 */
#define ROUNDS_STEADY	4000
#define CONNECTIONS_WARM_UP	20

/* A stream moves this much, but not in more writes or fewer than these. */
#define STREAM_BYTES	(32u << 20)
#define MOST_WRITES	24000
#define FEWEST_WRITES	48

static char *buffer(size_t len)
{
	char *buf = malloc(len);

	if (!buf)
		die("malloc");
	/* Touched now, so that no page fault is measured. */
	for (size_t i = 0; i < len; i++)
		buf[i] = i;
	return buf;
}

/* Nothing follows @size bytes, so it does no harm to ask for more. */
static void recv_message(struct bench *b, int fd, char *buf, size_t size)
{
	while (size) {
		ssize_t n = recv(fd, buf, b->reads > size ? b->reads : size, 0);

		if (n <= 0)
			die("recv");
		size -= n;
	}
}

static void ping_pong(struct bench *b, int fd, char *buf, size_t size, int rounds)
{
	while (rounds--) {
		if (!b->server)
			send_all(fd, buf, size);
		recv_message(b, fd, buf, size);
		if (b->server)
			send_all(fd, buf, size);
	}
}

/* The floor: one is woken, wakes the other, sleeps. */
static void wake_each_other(struct bench *b, int rounds)
{
	uint64_t one = 1;

	while (rounds--) {
		if (!b->server && write(b->event[0], &one, sizeof(one)) < 0)
			die("eventfd");
		if (read(b->event[b->server ? 0 : 1], &one, sizeof(one)) < 0)
			die("eventfd");
		if (b->server && write(b->event[1], &one, sizeof(one)) < 0)
			die("eventfd");
	}
}

static void rounds_of(struct bench *b, int fd, char *buf, size_t size, int rounds)
{
	if (b->kind == KIND_EVENTFD)
		wake_each_other(b, rounds);
	else
		ping_pong(b, fd, buf, size, rounds);
}

static size_t largest(char **sizes, size_t most)
{
	for (; *sizes; sizes++) {
		size_t size = strtoul(*sizes, NULL, 0);

		if (size > most)
			most = size;
	}
	return most;
}

/* The server stays until the client has looked at the clock. */
static void latency_of(struct bench *b, int fd, char *buf, size_t size)
{
	int rounds = size < LARGE ? ROUNDS : ROUNDS_LARGE;
	uint64_t start;

	rounds_of(b, fd, buf, size, b->reads ? ROUNDS_STEADY : rounds / 2);
	start = now_ns();
	rounds_of(b, fd, buf, size, rounds);
	if (b->server) {
		await_peer(b);
		return;
	}
	printf("%s %zu %.3f\n", b->reads ? "large" : "latency", size,
	       (now_ns() - start) / 2e3 / rounds);
	tell_peer(b);
}

void measure_latency(struct bench *b, char **sizes)
{
	char *buf = buffer(largest(sizes, b->reads));
	int fd = -1;

	if (b->kind != KIND_EVENTFD) {
		fd = bench_open(b);
		no_delay(b, fd);
	}
	for (; *sizes; sizes++)
		latency_of(b, fd, buf, strtoul(*sizes, NULL, 0));
	free(buf);
	close(fd);
}

/* The reader reads what there is, up to @size. */
static void swallow(int fd, char *buf, size_t size, uint64_t total)
{
	while (total) {
		ssize_t n = recv(fd, buf, size < total ? size : total, 0);

		if (n <= 0)
			die("recv");
		total -= n;
	}
	send_all(fd, buf, 1);
}

/*
 * Ends with a byte back, so that everything has arrived.  @last ends the stream,
 * which sends what is coalesced at once; else TCP's last bytes wait 40 ms for a
 * delayed acknowledgment, and that would be all that is measured.
 */
static void one_stream(struct bench *b, int fd, char *buf, size_t size,
		       uint64_t writes, bool last)
{
	if (b->server) {
		swallow(fd, buf, b->reads ?: size, size * writes);
		return;
	}
	while (writes--)
		send_all(fd, buf, size);
	if (last)
		shutdown(fd, SHUT_WR);
	if (!recv_all(fd, buf, 1))
		die("end of stream");
}

static void stream_size(struct bench *b, int fd, size_t size)
{
	uint64_t writes = STREAM_BYTES / size, start, idle, ns;
	char *buf = buffer(b->reads > size ? b->reads : size);

	if (writes > MOST_WRITES)
		writes = MOST_WRITES;
	if (writes < FEWEST_WRITES)
		writes = FEWEST_WRITES;
	one_stream(b, fd, buf, size, writes / 4, false);
	idle = idle_ns();
	start = now_ns();
	one_stream(b, fd, buf, size, writes, true);
	ns = now_ns() - start;
	idle = idle_ns() - idle;
	if (b->server)
		;
	else if (b->nodelay)
		printf("nodelay %zu %.3f\n", size, size * writes * 1e3 / ns);
	else
		printf("stream %zu %.3f\ncpu %zu %.4f\n", size, size * writes * 1e3 / ns,
		       size, (double)(idle < ns ? ns - idle : 0) / (size * writes));
	free(buf);
}

void measure_stream(struct bench *b, char **sizes)
{
	if (b->server)
		bench_listen(b, 1);
	for (; *sizes; sizes++) {
		int fd;

		if (b->server)
			tell_peer(b);
		else
			await_peer(b);
		fd = b->server ? bench_accept(b) : bench_connect(b);
		if (b->nodelay)
			no_delay(b, fd);
		stream_size(b, fd, strtoul(*sizes, NULL, 0));
		close(fd);
	}
}

/*
 * A connection with @bytes there and back.  Without any, the end of the stream
 * tells the client that the server has accepted and closed.
 */
static void serve_one(struct bench *b, size_t bytes)
{
	int fd = bench_accept(b);
	char c = 0;

	if (bytes) {
		no_delay(b, fd);
		if (!recv_all(fd, &c, 1))
			die("end of stream");
		send_all(fd, &c, 1);
		if (recv_all(fd, &c, 1))
			die("no end of stream");
	}
	close(fd);
}

static uint64_t ask_one(struct bench *b, size_t bytes)
{
	uint64_t start = now_ns(), ns;
	int fd = bench_connect(b);
	char c = 0;

	ns = now_ns() - start;
	if (bytes) {
		no_delay(b, fd);
		send_all(fd, &c, 1);
	}
	if (recv_all(fd, &c, 1) == !bytes)
		die("answer");
	close(fd);
	return ns;
}

static void connections(struct bench *b, char **counts, size_t bytes)
{
	uint64_t start, call = 0;
	int count = atoi(*counts), i;

	if (b->server) {
		bench_listen(b, 64);
		tell_peer(b);
		/* The first few bring up what is there only once. */
		for (i = 0; i < count + CONNECTIONS_WARM_UP; i++)
			serve_one(b, bytes);
		return;
	}
	await_peer(b);
	for (i = 0; i < CONNECTIONS_WARM_UP; i++)
		ask_one(b, bytes);
	start = now_ns();
	for (i = 0; i < count; i++)
		call += ask_one(b, bytes);
	if (!bytes)
		printf("connect 0 %.3f\n", call / 1e3 / count);
	printf("%s 0 %.3f\n", bytes ? "short" : "cycle",
	       (now_ns() - start) / 1e3 / count);
}

void measure_connect(struct bench *b, char **counts)
{
	connections(b, counts, 0);
}

void measure_short(struct bench *b, char **counts)
{
	connections(b, counts, 1);
}
