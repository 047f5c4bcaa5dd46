// SPDX-License-Identifier: GPL-2.0
/*
 * Explicit sockets: a program that wants the system area network, and never TCP.
 *
 *	cc explicit.c -o explicit $(pkg-config --cflags --libs sanx)
 *	./explicit PORT			says to each client which node it is on
 *	./explicit NODE PORT		asks that; NODE is an id or the name of a host
 *
 * Ports have 32 bits and are not those of TCP.
 */
#include <err.h>
#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <sanx.h>

static void serve(const struct addrinfo *ai)
{
	int fd = socket(ai->ai_family, ai->ai_socktype | SOCK_CLOEXEC, ai->ai_protocol);

	if (fd < 0 || bind(fd, ai->ai_addr, ai->ai_addrlen) || listen(fd, 8))
		err(1, "listen (is af_sanx loaded?)");
	for (;;) {
		struct sockaddr_sanx peer = {};
		socklen_t len = sizeof(peer);
		int client = accept(fd, (struct sockaddr *)&peer, &len);

		if (client < 0)
			err(1, "accept");
		if (dprintf(client, "you are port %u of node %u\n", peer.sanx_port,
			    peer.sanx_node) < 0)
			warn("a client has gone");
		close(client);
	}
}

/* A host may have more than one node. */
static int connect_any(const struct addrinfo *ai)
{
	int fd;

	for (; ai; ai = ai->ai_next) {
		fd = socket(ai->ai_family, ai->ai_socktype | SOCK_CLOEXEC, ai->ai_protocol);
		if (fd < 0)
			break;
		if (!connect(fd, ai->ai_addr, ai->ai_addrlen))
			return fd;
		close(fd);
	}
	/* ENETUNREACH: the node map does not have the node, or no link to it comes up. */
	err(1, "connect");
}

static void ask(const struct addrinfo *ai)
{
	int fd = connect_any(ai);
	char answer[80];
	ssize_t n;

	while ((n = read(fd, answer, sizeof(answer))) > 0)
		fwrite(answer, 1, n, stdout);
	if (n < 0)
		err(1, "read");
	close(fd);
}

int main(int argc, char **argv)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM }, *ai;
	const char *node = argc == 3 ? argv[1] : NULL;
	int err;

	if (argc < 2 || argc > 3)
		errx(2, "usage: explicit [NODE] PORT");
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
