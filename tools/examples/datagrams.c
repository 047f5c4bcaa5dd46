// SPDX-License-Identifier: GPL-2.0
/*
 * Explicit sockets of datagrams: each is sent to a node and a port.
 *
 *	cc -o datagrams $(pkg-config --cflags sanx) datagrams.c
 *	./datagrams PORT		answers each datagram with who has sent it
 *	./datagrams NODE PORT		sends each line of its input, and prints the answers
 *
 * A datagram may be lost: who waits for an answer asks again.
 */
#include <err.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <linux/sanx.h>

#define LONGEST	65527

/* How often a question is asked, and how long each waits, in milliseconds. */
#define TRIES	5
#define PATIENCE	2000

/* The number of the family is a parameter of the module. */
static int family_number(void)
{
	FILE *file = fopen("/sys/module/af_sanx/parameters/family", "re");
	int number;

	if (!file)
		return SANX_FAMILY_DEFAULT;
	if (fscanf(file, "%d", &number) != 1)
		number = SANX_FAMILY_DEFAULT;
	fclose(file);
	return number;
}

static void serve(const struct sockaddr_sanx *addr)
{
	int fd = socket(addr->sanx_family, SOCK_DGRAM | SOCK_CLOEXEC, SANXPROTO_EXPLICIT);
	static char message[LONGEST];
	struct sockaddr_sanx from;
	char text[100];
	socklen_t len;
	ssize_t n;

	if (fd < 0 || bind(fd, (const struct sockaddr *)addr, sizeof(*addr)))
		err(1, "bind (is af_sanx loaded?)");
	for (;;) {
		len = sizeof(from);
		n = recvfrom(fd, message, sizeof(message), 0, (struct sockaddr *)&from, &len);
		if (n < 0)
			err(1, "recvfrom");
		snprintf(text, sizeof(text), "%zd bytes of node %u, port %u", n,
			 from.sanx_node, from.sanx_port);
		/* Who has gone does not keep the server from others. */
		if (sendto(fd, text, strlen(text), 0, (struct sockaddr *)&from, len) < 0)
			warn("node %u, port %u", from.sanx_node, from.sanx_port);
	}
}

/* The answer to a datagram.  Return: its length. */
static ssize_t answer(int fd, const char *line, size_t len, char *text, size_t size)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	ssize_t n;
	int i;

	for (i = 0; i < TRIES; i++) {
		if (send(fd, line, len, 0) < 0)
			err(1, "send");
		if (poll(&p, 1, PATIENCE) <= 0)
			continue;
		/* ECONNREFUSED: nobody has the port. */
		n = recv(fd, text, size, 0);
		if (n < 0)
			err(1, "recv");
		return n;
	}
	errx(1, "nobody answers");
}

static void ask(const struct sockaddr_sanx *addr)
{
	int fd = socket(addr->sanx_family, SOCK_DGRAM | SOCK_CLOEXEC, SANXPROTO_EXPLICIT);
	char *line = NULL, text[100];
	size_t size = 0;
	ssize_t len, n;

	/* From here on, only the server's datagrams come. */
	if (fd < 0 || connect(fd, (const struct sockaddr *)addr, sizeof(*addr)))
		err(1, "connect");
	while ((len = getline(&line, &size, stdin)) > 0) {
		n = answer(fd, line, len, text, sizeof(text));
		printf("%.*s\n", (int)n, text);
	}
	free(line);
	close(fd);
}

static __u32 read_u32(const char *text)
{
	char *end;
	unsigned long long n = strtoull(text, &end, 0);

	if (!*text || *end || n > 0xffffffff)
		errx(2, "%s is not a number of 32 bits", text);
	return n;
}

int main(int argc, char **argv)
{
	struct sockaddr_sanx addr = { .sanx_family = family_number() };

	if (argc < 2 || argc > 3)
		errx(2, "usage: datagrams [NODE] PORT");
	addr.sanx_port = read_u32(argv[argc - 1]);
	if (argc == 2)
		serve(&addr);
	addr.sanx_node = read_u32(argv[1]);
	ask(&addr);
	return 0;
}
