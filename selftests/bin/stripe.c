// SPDX-License-Identifier: GPL-2.0
/*
 * One stream over several connections: chunk k goes by connection k modulo their number,
 * and the reader takes them in that order.  This is the most that one connection could
 * gain from writing to its peer by several rails at once.
 *
 *	stripe serve PORT CONNECTIONS			reads one such stream
 *	stripe send ADDRESS PORT CONNECTIONS SECONDS	writes one
 *
 * The sender says how many bytes went, and in how many ms the reader had them.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/util.h"

#define CHUNK	65536
#define MOST	8

static char buf[CHUNK];
static int fds[MOST];

static long must(const char *what, long ret)
{
	if (ret >= 0)
		return ret;
	fprintf(stderr, "%s: %s\n", what, strerror(-ret));
	exit(1);
}

static int open_socket(void)
{
	return must("socket", rc(socket(AF_INET, SOCK_STREAM, 0)));
}

/* The first byte of a connection is its number. */
static void accept_all(uint16_t port, int n)
{
	int l = open_socket(), fd, i;
	struct address a;
	char number;

	address_make(&a, "0.0.0.0", port);
	set_option(l, SOL_SOCKET, SO_REUSEADDR, 1);
	must("bind", rc(bind(l, &a.sa, a.len)));
	must("listen", rc(listen(l, n)));
	for (i = 0; i < n; i++) {
		fd = must("accept", rc(accept(l, NULL, NULL)));
		if (must("number", recv_exact(fd, &number, 1)) != 1 || number >= n)
			must("number", -EPROTO);
		fds[(int)number] = fd;
	}
	close(l);
}

static void connect_all(const char *address, uint16_t port, int n)
{
	struct address a;
	char number;

	address_make(&a, address, port);
	for (number = 0; number < n; number++) {
		fds[(int)number] = open_socket();
		must("connect", rc(connect(fds[(int)number], &a.sa, a.len)));
		must("number", rc(send(fds[(int)number], &number, 1, 0)));
	}
}

/* A chunk begins with its offset in the stream. */
static void serve(int n)
{
	uint64_t offset = 0;
	long got;

	do {
		got = must("recv", recv_exact(fds[offset / CHUNK % n], buf, CHUNK));
		if (got && (got != CHUNK || memcmp(buf, &offset, sizeof(offset))))
			must("data", -EILSEQ);
		offset += got;
	} while (got);
	/* The sender waits for this. */
	must("send", rc(send(fds[0], "", 1, 0)));
	printf("done %llu\n", (unsigned long long)offset);
}

static void send_chunk(int fd, uint64_t offset)
{
	size_t done;

	memcpy(buf, &offset, sizeof(offset));
	for (done = 0; done < CHUNK; )
		done += must("send", rc(send(fd, buf + done, CHUNK - done, 0)));
}

static void send_all(int n, long ms)
{
	long begin = now_ms();
	uint64_t offset;
	int i;

	for (offset = 0; now_ms() - begin < ms; offset += CHUNK)
		send_chunk(fds[offset / CHUNK % n], offset);
	for (i = 0; i < n; i++)
		must("shutdown", rc(shutdown(fds[i], SHUT_WR)));
	must("answer", recv_exact(fds[0], buf, 1));
	printf("%llu %ld\n", (unsigned long long)offset, now_ms() - begin);
}

static int print_usage(void)
{
	fprintf(stderr, "usage: stripe serve PORT CONNECTIONS\n"
			"       stripe send ADDRESS PORT CONNECTIONS SECONDS\n");
	return 2;
}

static int number_of(const char *text)
{
	int n = atoi(text);

	return n < 1 || n > MOST ? -1 : n;
}

int main(int argc, char **argv)
{
	int n;

	if (argc == 4 && !strcmp(argv[1], "serve")) {
		n = number_of(argv[3]);
		if (n < 0)
			return print_usage();
		accept_all(atoi(argv[2]), n);
		serve(n);
	} else if (argc == 6 && !strcmp(argv[1], "send")) {
		n = number_of(argv[4]);
		if (n < 0)
			return print_usage();
		connect_all(argv[2], atoi(argv[3]), n);
		send_all(n, atol(argv[5]) * 1000);
	} else {
		return print_usage();
	}
	return 0;
}
