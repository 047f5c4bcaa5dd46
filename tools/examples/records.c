// SPDX-License-Identifier: GPL-2.0
/*
 * Explicit sockets of records: what one send() has sent, one recv() gets.
 *
 *	cc records.c -o records $(pkg-config --cflags --libs sanx)
 *	./records PORT			answers each record with its length
 *	./records NODE PORT		sends each line of its input, and prints the answers
 *
 * A record has up to 1 MiB.
 */
#include <err.h>
#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <sanx.h>

#define LONGEST	(1024 * 1024)

/* Until the client has shut down its socket, or is gone. */
static void answer(int fd)
{
	static char record[LONGEST];
	char text[40];
	ssize_t n;

	while ((n = recv(fd, record, sizeof(record), 0)) > 0) {
		snprintf(text, sizeof(text), "%zd bytes", n);
		if (send(fd, text, strlen(text), MSG_NOSIGNAL) < 0)
			break;
	}
	if (n < 0)
		warn("a client has gone");
	close(fd);
}

static void serve(const struct addrinfo *ai)
{
	int fd = socket(ai->ai_family, ai->ai_socktype | SOCK_CLOEXEC, ai->ai_protocol);

	if (fd < 0 || bind(fd, ai->ai_addr, ai->ai_addrlen) || listen(fd, 8))
		err(1, "listen (is af_sanx loaded?)");
	for (;;) {
		int client = accept(fd, NULL, NULL);

		if (client < 0)
			err(1, "accept");
		answer(client);
	}
}

static void ask(const struct addrinfo *ai)
{
	int fd = socket(ai->ai_family, ai->ai_socktype | SOCK_CLOEXEC, ai->ai_protocol);
	char *line = NULL, text[40];
	size_t size = 0;
	ssize_t len, n;

	if (fd < 0 || connect(fd, ai->ai_addr, ai->ai_addrlen))
		err(1, "connect");
	while ((len = getline(&line, &size, stdin)) > 0) {
		/* EMSGSIZE: it is longer than LONGEST. */
		if (send(fd, line, len, 0) < 0)
			err(1, "send");
		n = recv(fd, text, sizeof(text), 0);
		if (n <= 0)
			errx(1, "no answer: %s", n ? strerror(errno) : "the server has gone");
		printf("%.*s\n", (int)n, text);
	}
	free(line);
	close(fd);
}

int main(int argc, char **argv)
{
	struct addrinfo hints = { .ai_socktype = SOCK_SEQPACKET }, *ai;
	const char *node = argc == 3 ? argv[1] : NULL;
	int err;

	if (argc < 2 || argc > 3)
		errx(2, "usage: records [NODE] PORT");
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
