/* SPDX-License-Identifier: GPL-2.0 */
/* What the measurements share: two processes, a kind of connection, a clock. */
#ifndef SANX_BENCH_H
#define SANX_BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum kind { KIND_TCP, KIND_SANX, KIND_UNIX, KIND_EVENTFD };

/**
 * struct bench - one run; the process forks before it makes a socket
 * @kind: what connects the two
 * @address: IPv4, where the server listens
 * @port: likewise
 * @server: in this process; else the client, which does the measuring
 * @to_server: pipe, where the two have to agree outside of what is measured
 * @to_client: likewise
 * @event: with KIND_EVENTFD, the way there and the way back
 * @listener: of the server
 * @reads: latency, stream: bytes that the reader asks for, or 0 for as many as are
 *	written
 * @nodelay: stream: the writer has set TCP_NODELAY
 * @option: the client sets an option that only TCP serves
 */
struct bench {
	enum kind	kind;
	const char	*address;
	uint16_t	port;
	bool		server;
	int		to_server[2];
	int		to_client[2];
	int		event[2];
	int		listener;
	size_t		reads;
	bool		nodelay;
	bool		option;
};

void die(const char *what) __attribute__((noreturn));
uint64_t now_ns(void);
uint64_t idle_ns(void);

void tell_peer(struct bench *b);
void await_peer(struct bench *b);

void bench_listen(struct bench *b, int backlog);
int bench_accept(struct bench *b);
int bench_connect(struct bench *b);
int bench_open(struct bench *b);
int bench_dgram_open(struct bench *b);
void no_delay(struct bench *b, int fd);
void no_block(int fd);

void send_all(int fd, const void *buf, size_t len);
bool recv_all(int fd, void *buf, size_t len);

void measure_latency(struct bench *b, char **sizes);
void measure_stream(struct bench *b, char **sizes);
void measure_connect(struct bench *b, char **counts);
void measure_short(struct bench *b, char **counts);
void measure_idle(struct bench *b, char **counts);
void measure_many(struct bench *b, char **counts);
void measure_dgram_latency(struct bench *b, char **sizes);
void measure_dgram_stream(struct bench *b, char **sizes);

#endif /* SANX_BENCH_H */
