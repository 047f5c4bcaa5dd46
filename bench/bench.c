// SPDX-License-Identifier: GPL-2.0
/*
 * What a connection costs, by kind.
 *
 *	bench [-k tcp|sanx|unix|eventfd] [-a ADDRESS] [-p PORT] [-r BYTES] [-n]
 *	      [-o] MEASURE NUMBER...
 *
 * Each result is a line: what was measured, the number it is for, the value.
 * With -o the client sets an option of the socket that makes it TCP.
 *
 *	latency SIZE...    us, half a round trip; read with a buffer of SIZE, or of
 *			   BYTES, and then the line is "large SIZE"
 *	stream SIZE...     MB/s by writes of SIZE, and the CPU's ns a byte; read with
 *			   a buffer of as much, or of BYTES; -n: with TCP_NODELAY,
 *			   and then the line is "nodelay SIZE", without the CPU
 *	connect COUNT      us, the connect() call; and with accept() and both close()
 *	short COUNT        us, a connection with a byte there and a byte back
 *	idle COUNT         bytes of memory of an established connection, both ends
 *	many COUNT...      MB/s of COUNT streams, and the least share of the mean
 *	dgram SIZE...      us, half a round trip of datagrams
 *	dgrams SIZE...     MB/s of datagrams of which none is lost
 *
 * Client and server are two processes.  The program knows nothing of rsockets:
 * -k tcp under librspreload.so is rsockets.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"

static const struct {
	const char	*name;
	void		(*run)(struct bench *b, char **numbers);
} measures[] = {
	{ "latency",	measure_latency },
	{ "stream",	measure_stream },
	{ "connect",	measure_connect },
	{ "short",	measure_short },
	{ "idle",	measure_idle },
	{ "many",	measure_many },
	{ "dgram",	measure_dgram_latency },
	{ "dgrams",	measure_dgram_stream },
};

static const char * const kinds[] = {
	[KIND_TCP]	= "tcp",
	[KIND_SANX]	= "sanx",
	[KIND_UNIX]	= "unix",
	[KIND_EVENTFD]	= "eventfd",
};

#define COUNT(array)	(sizeof(array) / sizeof((array)[0]))

static void wrong_call(void)
{
	fprintf(stderr,
		"usage: bench [-k tcp|sanx|unix|eventfd] [-a ADDRESS] [-p PORT]\n"
		"             [-r BYTES] [-n] [-o]\n"
		"             latency|stream|connect|short|idle|many|dgram|dgrams NUMBER...\n");
	exit(2);
}

static enum kind kind_by_name(const char *name)
{
	for (size_t i = 0; i < COUNT(kinds); i++)
		if (!strcmp(kinds[i], name))
			return i;
	wrong_call();
	return 0;
}

static void options(struct bench *b, int argc, char **argv)
{
	int c;

	while ((c = getopt(argc, argv, "k:a:p:r:no")) != -1) {
		if (c == 'k')
			b->kind = kind_by_name(optarg);
		else if (c == 'a')
			b->address = optarg;
		else if (c == 'p')
			b->port = atoi(optarg);
		else if (c == 'r')
			b->reads = strtoul(optarg, NULL, 0);
		else if (c == 'n')
			b->nodelay = true;
		else if (c == 'o')
			b->option = true;
		else
			wrong_call();
	}
	if (argc - optind < 2)
		wrong_call();
}

/* Both ends do the same measurement, each its part. */
static void run(struct bench *b, char **args)
{
	for (size_t i = 0; i < COUNT(measures); i++) {
		if (!strcmp(measures[i].name, args[0])) {
			measures[i].run(b, args + 1);
			return;
		}
	}
	wrong_call();
}

int main(int argc, char **argv)
{
	struct bench b = { .address = "127.0.0.1", .port = 7770, .listener = -1 };
	int status;
	pid_t pid;

	options(&b, argc, argv);
	if (pipe(b.to_server) || pipe(b.to_client))
		die("pipe");
	b.event[0] = eventfd(0, 0);
	b.event[1] = eventfd(0, 0);
	pid = fork();
	if (pid < 0)
		die("fork");
	b.server = !pid;
	/* A peer that died is to be an end of file, not a wait for ever. */
	close(b.server ? b.to_server[1] : b.to_client[1]);
	close(b.server ? b.to_client[0] : b.to_server[0]);
	run(&b, argv + optind);
	fflush(stdout);
	if (b.server)
		_exit(0);
	if (waitpid(pid, &status, 0) != pid || status)
		die("server");
	return 0;
}
