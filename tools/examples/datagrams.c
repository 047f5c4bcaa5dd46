// SPDX-License-Identifier: GPL-2.0
/*
 * Explicit sockets of datagrams: each is sent to a node and a port.
 *
 *	cc datagrams.c -o datagrams $(pkg-config --cflags --libs sanx)
 *	./datagrams PORT		answers each datagram with who has sent it
 *	./datagrams NODE PORT		sends each line of its input, and prints the answers
 *
 * A datagram may be lost: who waits for an answer asks again.
 */
#include <err.h>
#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <sanx.h>

#define LONGEST	65527

/* How often a question is asked, and how long each waits, in milliseconds. */
#define TRIES	5
#define PATIENCE	2000

static void serve(const struct addrinfo *ai)
{
	int fd = socket(ai->ai_family, ai->ai_socktype | SOCK_CLOEXEC, ai->ai_protocol);
	static char message[LONGEST];
	struct sockaddr_sanx from;
	char text[100];
	socklen_t len;
	ssize_t n;

	if (fd < 0 || bind(fd, ai->ai_addr, ai->ai_addrlen))
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

static void ask(const struct addrinfo *ai)
{
	int fd = socket(ai->ai_family, ai->ai_socktype | SOCK_CLOEXEC, ai->ai_protocol);
	char *line = NULL, text[100];
	size_t size = 0;
	ssize_t len, n;

	/* From here on, only the server's datagrams come. */
	if (fd < 0 || connect(fd, ai->ai_addr, ai->ai_addrlen))
		err(1, "connect");
	while ((len = getline(&line, &size, stdin)) > 0) {
		n = answer(fd, line, len, text, sizeof(text));
		printf("%.*s\n", (int)n, text);
	}
	free(line);
	close(fd);
}

int main(int argc, char **argv)
{
	struct addrinfo hints = { .ai_socktype = SOCK_DGRAM }, *ai;
	const char *node = argc == 3 ? argv[1] : NULL;
	int err;

	if (argc < 2 || argc > 3)
		errx(2, "usage: datagrams [NODE] PORT");
	if (!node)
		hints.ai_flags = AI_PASSIVE;
	err = sanx_getaddrinfo(node, argv[argc - 1], &hints, &ai);
	if (err)
		errx(2, "%s port %s: %s", node ? node : "this node", argv[argc - 1],
		     err == EAI_SYSTEM ? strerror(errno) : gai_strerror(err));
	if (node)
		ask(ai);
	else
		serve(ai);
	sanx_freeaddrinfo(ai);
	return 0;
}
