// SPDX-License-Identifier: GPL-2.0
/* The kinds of connections, and what else the two processes need. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "bench.h"

struct address {
	socklen_t len;
	union {
		struct sockaddr		sa;
		struct sockaddr_in	in;
		struct sockaddr_un	un;
	};
};

void die(const char *what)
{
	perror(what);
	exit(1);
}

uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ull + ts.tv_nsec;
}

/*
 * How long the CPUs have been idle.  /proc/stat says it too, in hundredths of a
 * second, which is too coarse.
 */
uint64_t idle_ns(void)
{
	unsigned long long ns, sum = 0;
	char line[256];
	int cpus = 0;
	FILE *f;

	f = fopen("/proc/timer_list", "r");
	if (!f)
		die("/proc/timer_list");
	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line, " .idle_sleeptime : %llu nsecs", &ns) == 1) {
			sum += ns;
			cpus++;
		}
	}
	fclose(f);
	if (!cpus)
		die("/proc/timer_list has no idle_sleeptime");
	return sum;
}

void tell_peer(struct bench *b)
{
	if (write(b->server ? b->to_client[1] : b->to_server[1], "", 1) != 1)
		die("pipe");
}

void await_peer(struct bench *b)
{
	char c;

	if (read(b->server ? b->to_server[0] : b->to_client[0], &c, 1) != 1) {
		fprintf(stderr, "bench: the other end is gone\n");
		exit(1);
	}
}

/*
 * Read once, as programs do, and libsanx-preload.so for them: a look into /sys
 * costs a third of a connection, and is none of it.
 */
static int sanx_family(void)
{
	static int family;
	FILE *f;

	if (family)
		return family;
	f = fopen("/sys/module/af_sanx/parameters/family", "r");
	if (!f || fscanf(f, "%d", &family) != 1)
		die("af_sanx");
	fclose(f);
	return family;
}

static int make_socket(struct bench *b, struct address *a, int type)
{
	int fd, family = AF_INET;

	memset(a, 0, sizeof(*a));
	if (b->kind == KIND_UNIX) {
		/* A name in the abstract space: no file is left behind. */
		a->un.sun_family = AF_UNIX;
		a->len = offsetof(struct sockaddr_un, sun_path) + 1 +
			 sprintf(a->un.sun_path + 1, "bench-%u", b->port);
		family = AF_UNIX;
	} else {
		a->in.sin_family = AF_INET;
		a->in.sin_port = htons(b->port);
		a->len = sizeof(a->in);
		if (inet_pton(AF_INET, b->address, &a->in.sin_addr) != 1)
			die(b->address);
		if (b->kind == KIND_SANX)
			family = sanx_family();
	}
	fd = socket(family, type, 0);
	if (fd < 0)
		die("socket");
	return fd;
}

void bench_listen(struct bench *b, int backlog)
{
	struct address a;
	int one = 1;

	b->listener = make_socket(b, &a, SOCK_STREAM);
	setsockopt(b->listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(b->listener, &a.sa, a.len))
		die("bind");
	if (listen(b->listener, backlog))
		die("listen");
}

int bench_accept(struct bench *b)
{
	int fd = accept(b->listener, NULL, NULL);

	if (fd < 0)
		die("accept");
	return fd;
}

/*
 * AF_SANX leaves this option to TCP, whatever its value.  For TCP itself 0 is the
 * default, so both are to cost the same.
 */
static void only_tcp(int fd)
{
	int zero = 0;

	if (setsockopt(fd, IPPROTO_TCP, TCP_FASTOPEN_CONNECT, &zero, sizeof(zero)))
		die("TCP_FASTOPEN_CONNECT");
}

int bench_connect(struct bench *b)
{
	struct address a;
	int fd = make_socket(b, &a, SOCK_STREAM);

	if (b->option)
		only_tcp(fd);
	if (connect(fd, &a.sa, a.len))
		die("connect");
	return fd;
}

/* One connection between the two: returns this process's end. */
int bench_open(struct bench *b)
{
	if (!b->server) {
		await_peer(b);
		return bench_connect(b);
	}
	bench_listen(b, 1);
	tell_peer(b);
	return bench_accept(b);
}

/* A socket for datagrams between the two, each at a port of its own. */
int bench_dgram_open(struct bench *b)
{
	struct bench peer = *b;
	struct address mine, other;
	int fd;

	if (b->server)
		peer.port++;
	else
		b->port++;
	fd = make_socket(b, &mine, SOCK_DGRAM);
	close(make_socket(&peer, &other, SOCK_DGRAM));
	if (bind(fd, &mine.sa, mine.len))
		die("bind");
	tell_peer(b);
	await_peer(b);
	if (connect(fd, &other.sa, other.len))
		die("connect");
	/* Nothing is sent before the peer has a peer, too. */
	tell_peer(b);
	await_peer(b);
	return fd;
}

void no_delay(struct bench *b, int fd)
{
	int one = 1;

	if (b->kind != KIND_UNIX)
		setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
}

void no_block(int fd)
{
	if (fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK))
		die("fcntl");
}

void send_all(int fd, const void *buf, size_t len)
{
	while (len) {
		ssize_t n = send(fd, buf, len, MSG_NOSIGNAL);

		if (n < 0)
			die("send");
		buf = (const char *)buf + n;
		len -= n;
	}
}

/* False at the end of the stream. */
bool recv_all(int fd, void *buf, size_t len)
{
	while (len) {
		ssize_t n = recv(fd, buf, len, 0);

		if (n < 0)
			die("recv");
		if (!n)
			return false;
		buf = (char *)buf + n;
		len -= n;
	}
	return true;
}
