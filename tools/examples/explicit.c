// SPDX-License-Identifier: GPL-2.0
/*
 * Explicit sockets: a program that wants the system area network, and never TCP.
 *
 *	cc -o explicit $(pkg-config --cflags sanx) explicit.c
 *	./explicit PORT			says to each client which node it is on
 *	./explicit NODE PORT		asks that; node 0 is this one
 *
 * Ports have 32 bits and are not those of TCP.
 */
#include <err.h>
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

static void serve(const struct sockaddr_sanx *addr)
{
	int fd = socket(addr->sanx_family, SOCK_STREAM | SOCK_CLOEXEC, SANXPROTO_EXPLICIT);

	if (fd < 0 || bind(fd, (const struct sockaddr *)addr, sizeof(*addr)) || listen(fd, 8))
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

static void ask(const struct sockaddr_sanx *addr)
{
	int fd = socket(addr->sanx_family, SOCK_STREAM | SOCK_CLOEXEC, SANXPROTO_EXPLICIT);
	char answer[80];
	ssize_t n;

	/* ENETUNREACH: the node map does not have the node, or no link to it comes up. */
	if (fd < 0 || connect(fd, (const struct sockaddr *)addr, sizeof(*addr)))
		err(1, "connect");
	while ((n = read(fd, answer, sizeof(answer))) > 0)
		fwrite(answer, 1, n, stdout);
	if (n < 0)
		err(1, "read");
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
		errx(2, "usage: explicit [NODE] PORT");
	addr.sanx_port = read_u32(argv[argc - 1]);
	if (argc == 2)
		serve(&addr);
	addr.sanx_node = read_u32(argv[1]);
	ask(&addr);
	return 0;
}
