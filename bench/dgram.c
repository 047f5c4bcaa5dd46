// SPDX-License-Identifier: GPL-2.0
/* Datagrams: latency, and streams of which none is lost. */
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bench.h"

/* As exchange.c: after so many rounds the one who is woken does not preempt any more. */
#define ROUNDS		1000
#define ROUNDS_WARM_UP	4000

#define STREAM_BYTES	(16u << 20)
#define MOST_DATAGRAMS	16000

/*
 * So many are under way at most, which have room in the receiver's default buffer; it
 * then sends a datagram back.
 */
#define WINDOW_BYTES	65536
#define WINDOW_MOST	64

static void send_dgram(int fd, const char *buf, size_t size)
{
	if (send(fd, buf, size, 0) != (ssize_t)size)
		die("send");
}

/* @room is more than @size, as programs do not know how much comes. */
static void recv_dgram(int fd, char *buf, size_t size, size_t room)
{
	if (recv(fd, buf, room, 0) != (ssize_t)size)
		die("recv");
}

static char *room_for(size_t size)
{
	char *buf = malloc(size + 1);

	if (!buf)
		die("malloc");
	/* Touched now, so that no page fault is measured. */
	for (size_t i = 0; i <= size; i++)
		buf[i] = i;
	return buf;
}

static void rounds(struct bench *b, int fd, char *buf, size_t size, int n)
{
	while (n--) {
		if (!b->server)
			send_dgram(fd, buf, size);
		recv_dgram(fd, buf, size, size + 1);
		if (b->server)
			send_dgram(fd, buf, size);
	}
}

void measure_dgram_latency(struct bench *b, char **sizes)
{
	int fd = bench_dgram_open(b);

	for (; *sizes; sizes++) {
		size_t size = strtoul(*sizes, NULL, 0);
		char *buf = room_for(size);
		uint64_t start;

		rounds(b, fd, buf, size, ROUNDS_WARM_UP);
		start = now_ns();
		rounds(b, fd, buf, size, ROUNDS);
		if (b->server) {
			await_peer(b);
		} else {
			printf("dgram %zu %.3f\n", size, (now_ns() - start) / 2e3 / ROUNDS);
			tell_peer(b);
		}
		free(buf);
	}
	close(fd);
}

static void windows(struct bench *b, int fd, char *buf, size_t size, int window,
		    int n)
{
	while (n--) {
		for (int i = 0; i < window; i++) {
			if (b->server)
				recv_dgram(fd, buf, size, size + 1);
			else
				send_dgram(fd, buf, size);
		}
		if (b->server)
			send_dgram(fd, buf, 1);
		else
			recv_dgram(fd, buf, 1, 1);
	}
}

void measure_dgram_stream(struct bench *b, char **sizes)
{
	int fd = bench_dgram_open(b);

	for (; *sizes; sizes++) {
		size_t size = strtoul(*sizes, NULL, 0);
		int window = WINDOW_BYTES / size, n;
		char *buf = room_for(size);
		uint64_t start;

		if (window > WINDOW_MOST)
			window = WINDOW_MOST;
		n = STREAM_BYTES / size;
		if (n > MOST_DATAGRAMS)
			n = MOST_DATAGRAMS;
		n /= window;
		windows(b, fd, buf, size, window, n / 4 + 1);
		start = now_ns();
		windows(b, fd, buf, size, window, n);
		if (!b->server)
			printf("dgrams %zu %.3f\n", size,
			       size * window * n * 1e3 / (now_ns() - start));
		free(buf);
	}
	close(fd);
}
