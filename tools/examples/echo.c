// SPDX-License-Identifier: GPL-2.0
/*
 * A program that opens sockets of AF_SANX by itself, without sanx-run.
 *
 *	cc -o echo $(pkg-config --cflags sanx) echo.c
 *	./echo PORT		says to each client what it said
 *	./echo ADDRESS PORT	says standard input to that, and prints the answer
 *
 * But for the first argument of socket() this is a program for TCP over IPv4.
 */
#include <arpa/inet.h>
#include <err.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include <linux/sanx.h>

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

static int open_socket(void)
{
	int fd = socket(family_number(), SOCK_STREAM | SOCK_CLOEXEC, SANXPROTO_INET);

	if (fd < 0)
		err(1, "socket (is af_sanx loaded?)");
	return fd;
}

/* Writes all of it; a socket may take less at a time. */
static void write_all(int fd, const char *data, size_t len)
{
	while (len) {
		ssize_t n = write(fd, data, len);

		if (n < 0)
			err(1, "write");
		data += n;
		len -= n;
	}
}

/* Until the end of what FROM has; returns how many bytes that were. */
static size_t copy(int from, int to)
{
	char data[4096];
	size_t sum = 0;
	ssize_t n;

	while ((n = read(from, data, sizeof(data))) > 0) {
		write_all(to, data, n);
		sum += n;
	}
	if (n < 0)
		err(1, "read");
	return sum;
}

static void serve(struct sockaddr_in *addr)
{
	int on = 1, fd = open_socket();

	if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) ||
	    bind(fd, (struct sockaddr *)addr, sizeof(*addr)) || listen(fd, 8))
		err(1, "listen");
	for (;;) {
		int client = accept(fd, NULL, NULL);

		if (client < 0)
			err(1, "accept");
		fprintf(stderr, "echo: %zu bytes\n", copy(client, client));
		close(client);
	}
}

static void call(struct sockaddr_in *addr)
{
	int fd = open_socket();
	pid_t pid;

	if (connect(fd, (struct sockaddr *)addr, sizeof(*addr)))
		err(1, "connect");
	/* Who says much has to listen meanwhile, or both ends wait for room. */
	pid = fork();
	if (pid < 0)
		err(1, "fork");
	if (!pid) {
		copy(STDIN_FILENO, fd);
		shutdown(fd, SHUT_WR);
		exit(0);
	}
	copy(fd, STDOUT_FILENO);
	close(fd);
}

int main(int argc, char **argv)
{
	struct sockaddr_in addr = { .sin_family = AF_INET };

	if (argc < 2 || argc > 3)
		errx(2, "usage: echo [ADDRESS] PORT");
	addr.sin_port = htons(atoi(argv[argc - 1]));
	if (argc == 3 && inet_pton(AF_INET, argv[1], &addr.sin_addr) != 1)
		errx(2, "%s is not an address", argv[1]);
	if (argc == 2)
		serve(&addr);
	call(&addr);
	return 0;
}
