// SPDX-License-Identifier: GPL-2.0
/*
 * One end of an exchange of datagrams, for the tests over two nodes.
 *
 *	datagrams [-u] serve [ADDRESS] PORT
 *	datagrams [-u] hold [ADDRESS] PORT
 *	datagrams [-u] [-b ADDRESS] [-c] [-w WINDOW] [-p US] send ADDRESS PORT COUNT LEAST [MOST]
 *
 * It makes an AF_SANX socket, or with -u one of UDP.  The client sends COUNT numbered
 * datagrams of LEAST to MOST bytes, in no order of sizes, and at most WINDOW of them without
 * an answer, or one each US microseconds.  The server sends each one back to where it came
 * from.  Both check the bytes, and count what came twice, what was wrong, and what came
 * from another address than that of the peer.  The client gives up what is not answered for
 * PATIENCE, and at once if it is told to end, and says then
 *
 *	sent 1000 answered 1000 twice 0 wrong 0 strange 0 errors 0
 *
 * "errors" are those that a call has returned, such as ECONNREFUSED with -c, which connects.
 * The server says the same of what it has received when it is told to end (SIGTERM).  "hold"
 * reads nothing.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <linux/sanx.h>

#include "lib/node.h"
#include "lib/util.h"

#define LARGEST	65507
/* In ms; long, as a busy node is not to lose by it what would come. */
#define PATIENCE	20000
/* Datagrams that have come are remembered by number. */
#define NUMBERS	4194304

static bool udp, connects;
static unsigned int window = 64, pause_us;
static const char *source;
static volatile sig_atomic_t over;
static unsigned char seen[NUMBERS];
static struct {
	unsigned long sent, came, twice, wrong, strange, errors;
} count;

/* What each datagram begins with. */
struct head {
	uint32_t	number;
	uint32_t	len;
};

static void end(int sig)
{
	over = 1;
}

/* Counts an error, and tells of the first one.  That it is told to end is none. */
static void failed(const char *call)
{
	if (over && errno == EINTR)
		return;
	if (!count.errors++)
		fprintf(stderr, "%s: %s\n", call, strerror(errno));
}

static void say(void)
{
	printf("sent %lu answered %lu twice %lu wrong %lu strange %lu errors %lu\n", count.sent,
	       count.came, count.twice, count.wrong, count.strange, count.errors);
	fflush(stdout);
}

static void die(const char *what)
{
	printf("%s: %s\n", what, strerror(errno));
	exit(1);
}

static int make_socket(int family)
{
	int fd = node_socket(!udp, family, SOCK_DGRAM), size = 1 << 20;

	if (fd < 0)
		die("socket");
	setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof(size));
	return fd;
}

static unsigned char byte(uint32_t number, uint32_t i)
{
	return (number * 131 + i * 7) >> 1;
}

static size_t fill(unsigned char *buf, uint32_t number, size_t len)
{
	struct head h = { htonl(number), htonl(len) };
	size_t i;

	if (len < sizeof(h))
		len = sizeof(h);
	h.len = htonl(len);
	memcpy(buf, &h, sizeof(h));
	for (i = sizeof(h); i < len; i++)
		buf[i] = byte(number, i);
	return len;
}

/* Checks one that has come. */
static void check(const unsigned char *buf, size_t len)
{
	struct head h;
	uint32_t number;
	size_t i;

	memcpy(&h, buf, sizeof(h));
	number = ntohl(h.number);
	if (len < sizeof(h) || ntohl(h.len) != len || number >= NUMBERS) {
		count.wrong++;
		return;
	}
	for (i = sizeof(h); i < len && buf[i] == byte(number, i); i++)
		;
	if (i < len)
		count.wrong++;
	else if (seen[number]++)
		count.twice++;
	else
		count.came++;
}

static int bound(const struct address *a)
{
	int fd = make_socket(a->sa.sa_family);

	if (bind(fd, &a->sa, a->len))
		die("bind");
	puts("ready");
	fflush(stdout);
	return fd;
}

static void hold(const struct address *a)
{
	bound(a);
	while (!over)
		pause();
}

static void serve(const struct address *a)
{
	static unsigned char buf[LARGEST];
	int fd = bound(a);
	struct address from;
	ssize_t n;

	while (!over) {
		from.len = sizeof(from.ss);
		n = recvfrom(fd, buf, sizeof(buf), 0, &from.sa, &from.len);
		if (n < 0)
			continue;
		check(buf, n);
		if (sendto(fd, buf, n, 0, &from.sa, from.len) == n)
			count.sent++;
		else
			failed("sendto");
	}
}

/* Takes what has come, for @ms at most, if nothing has. */
static bool take(int fd, const struct address *peer, int ms)
{
	static unsigned char buf[LARGEST];
	struct address from = { .len = sizeof(from.ss) };
	ssize_t n;

	if (poll_one(fd, POLLIN, ms) <= 0)
		return false;
	n = recvfrom(fd, buf, sizeof(buf), MSG_DONTWAIT, &from.sa, &from.len);
	if (n < 0) {
		if (errno != EAGAIN)
			failed("recvfrom");
		return false;
	}
	if (!address_equal(&from, peer))
		count.strange++;
	else
		check(buf, n);
	return true;
}

static void send_all(const struct address *peer, unsigned long n, size_t least, size_t most)
{
	static unsigned char buf[LARGEST];
	int fd = make_socket(peer->sa.sa_family);
	unsigned int lot = 1;
	struct address from;
	unsigned long lost = 0;
	size_t len;

	if (source) {
		address_make(&from, source, 0);
		if (bind(fd, &from.sa, from.len))
			die("bind");
	}
	if (connects && connect(fd, &peer->sa, peer->len))
		die("connect");
	while (count.sent < n && !over) {
		lot = lot * 1103515245 + 12345;
		len = least + (lot >> 8) % (most - least + 1);
		len = fill(buf, count.sent, len);
		if (sendto(fd, buf, len, 0, connects ? NULL : &peer->sa,
			   connects ? 0 : peer->len) == (ssize_t)len)
			count.sent++;
		else
			failed("sendto");
		if (pause_us)
			usleep(pause_us);
		while (take(fd, peer, 0))
			;
		while (!pause_us && count.sent - count.came - lost >= window)
			if (!take(fd, peer, PATIENCE))
				lost = count.sent - count.came;
	}
	while (!over && count.came + lost < count.sent && take(fd, peer, PATIENCE))
		;
}

static int usage(void)
{
	fprintf(stderr, "datagrams [-u] serve|hold [ADDRESS] PORT\n"
		"datagrams [-u] [-b ADDRESS] [-c] [-w WINDOW] [-p US] send ADDRESS PORT COUNT LEAST [MOST]\n");
	return 2;
}

int main(int argc, char **argv)
{
	struct sigaction act = { .sa_handler = end };
	struct address a;
	int opt;

	while ((opt = getopt(argc, argv, "+ub:cw:p:")) != -1) {
		switch (opt) {
		case 'u':
			udp = true;
			break;
		case 'b':
			source = optarg;
			break;
		case 'c':
			connects = true;
			break;
		case 'w':
			window = atoi(optarg);
			break;
		case 'p':
			pause_us = atoi(optarg);
			break;
		default:
			return usage();
		}
	}
	argc -= optind;
	argv += optind;
	sigaction(SIGTERM, &act, NULL);
	sigaction(SIGINT, &act, NULL);
	if (argc >= 2 && argc <= 3 && (!strcmp(argv[0], "serve") || !strcmp(argv[0], "hold"))) {
		address_make(&a, argc == 3 ? argv[1] : "0.0.0.0", atoi(argv[argc - 1]));
		(*argv[0] == 's' ? serve : hold)(&a);
	} else if (argc >= 5 && argc <= 6 && !strcmp(argv[0], "send")) {
		address_make(&a, argv[1], atoi(argv[2]));
		send_all(&a, atol(argv[3]), atol(argv[4]), atol(argv[argc - 1]));
	} else {
		return usage();
	}
	say();
	return 0;
}
