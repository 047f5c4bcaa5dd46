// SPDX-License-Identifier: GPL-2.0
/*
 * Explicit sockets of records: what one send() has sent, one recv() gets.
 *
 *	cc -o records $(pkg-config --cflags sanx) records.c
 *	./records PORT			answers each record with its length
 *	./records NODE PORT		sends each line of its input, and prints the answers
 *
 * A record has up to 1 MiB.
 */
#include <err.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <linux/sanx.h>

#define LONGEST	(1024 * 1024)

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

static void serve(const struct sockaddr_sanx *addr)
{
	int fd = socket(addr->sanx_family, SOCK_SEQPACKET | SOCK_CLOEXEC, SANXPROTO_EXPLICIT);

	if (fd < 0 || bind(fd, (const struct sockaddr *)addr, sizeof(*addr)) || listen(fd, 8))
		err(1, "listen (is af_sanx loaded?)");
	for (;;) {
		int client = accept(fd, NULL, NULL);

		if (client < 0)
			err(1, "accept");
		answer(client);
	}
}

static void ask(const struct sockaddr_sanx *addr)
{
	int fd = socket(addr->sanx_family, SOCK_SEQPACKET | SOCK_CLOEXEC, SANXPROTO_EXPLICIT);
	char *line = NULL, text[40];
	size_t size = 0;
	ssize_t len, n;

	if (fd < 0 || connect(fd, (const struct sockaddr *)addr, sizeof(*addr)))
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
		errx(2, "usage: records [NODE] PORT");
	addr.sanx_port = read_u32(argv[argc - 1]);
	if (argc == 2)
		serve(&addr);
	addr.sanx_node = read_u32(argv[1]);
	ask(&addr);
	return 0;
}
