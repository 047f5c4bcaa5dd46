// SPDX-License-Identifier: GPL-2.0
/*
 * Sockets in every state that sanxctl socket can show, and what it is to show of
 * each of them.
 *
 *	sockets serve ADDRESS PORT	one end
 *	sockets call ADDRESS PORT	the other, on any node
 *	sockets both ADDRESS PORT	both ends
 *	sockets lone ADDRESS PORT	sockets that are not connected
 *	sockets many COUNT		so many like that
 *	sockets fallen COUNT		so many that became TCP; they are not shown as lines
 *
 * The transport's name is $TRANSPORT.  Each socket is a line of JSON on standard
 * output, as sanxctl -j has it; then comes "ready", and until the end of standard
 * input everything stays as it is.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <linux/sanx.h>

#include "lib/node.h"
#include "lib/util.h"

#define MUCH	100000
static char buf[MUCH];

static void die(const char *what, long err)
{
	fprintf(stderr, "%s: %s\n", what, strerror(-err));
	exit(1);
}

static int must(const char *what, long ret)
{
	if (ret < 0)
		die(what, ret);
	return ret;
}

/* An address as sanxctl writes it: IPv4 is IPv4, whatever the socket's family. */
static void endpoint(const struct address *a, char *text, size_t size)
{
	const struct sockaddr_in6 *sin6 = (const void *)&a->ss;
	const struct sockaddr_in *sin = (const void *)&a->ss;
	const char *fmt = "%s:%u";
	char host[INET6_ADDRSTRLEN];

	if (a->sa.sa_family == AF_INET) {
		inet_ntop(AF_INET, &sin->sin_addr, host, sizeof(host));
	} else if (IN6_IS_ADDR_V4MAPPED(&sin6->sin6_addr)) {
		inet_ntop(AF_INET, &sin6->sin6_addr.s6_addr[12], host, sizeof(host));
	} else {
		inet_ntop(AF_INET6, &sin6->sin6_addr, host, sizeof(host));
		fmt = "[%s]:%u";
	}
	snprintf(text, size, fmt, host, address_port(a));
}

static void show(int fd, const char *state, size_t rx, size_t tx, const char *transport,
		 const struct address *remote)
{
	char local_text[64], remote_text[64];
	struct address local;
	struct stat st;

	must("getsockname", local_address(fd, &local));
	must("fstat", rc(fstat(fd, &st)));
	endpoint(&local, local_text, sizeof(local_text));
	endpoint(remote, remote_text, sizeof(remote_text));
	printf("{\"state\":\"%s\",\"rx_queue\":%zu,\"tx_queue\":%zu,", state, rx, tx);
	printf("\"local\":\"%s\",\"remote\":\"%s\",", local_text, remote_text);
	printf("\"transport\":\"%s\",\"uid\":%u,\"inode\":%lu,\"denied\":0}\n", transport,
	       getuid(), (unsigned long)st.st_ino);
}

static void show_connected(int fd, const char *state, size_t rx, size_t tx,
			   const struct address *remote)
{
	show(fd, state, rx, tx, getenv("TRANSPORT") ?: "loop", remote);
}

static void show_lone(int fd, const char *state, size_t rx, size_t tx, int family)
{
	struct address none;

	address_make(&none, family == AF_INET ? "0.0.0.0" : "::", 0);
	show(fd, state, rx, tx, "-", &none);
}

static int make(int family)
{
	return must("socket", rc(node_socket(true, family, SOCK_STREAM)));
}

static int listener(const struct address *a, int backlog)
{
	int fd = make(a->sa.sa_family);

	set_option(fd, SOL_SOCKET, SO_REUSEADDR, 1);
	must("bind", rc(bind(fd, &a->sa, a->len)));
	must("listen", rc(listen(fd, backlog)));
	return fd;
}

static int caller(const struct address *a)
{
	int fd = make(a->sa.sa_family);

	must("connect", rc(connect(fd, &a->sa, a->len)));
	return fd;
}

/* What the two ends of a connection do, and are then. */
struct part {
	const char *state;
	size_t send;	/* bytes that the other end is given ... */
	size_t read;	/* and of what it is given how much is read here */
	bool shut;
};

#define ENDS(call, serve)	{ { call }, { serve } }
#define PART(...)		__VA_ARGS__

static const struct part parts[][2] = {
	ENDS(PART("ESTAB"), PART("ESTAB")),
	ENDS(PART("ESTAB", 3), PART("ESTAB")),
	ENDS(PART("ESTAB"), PART("ESTAB", 700)),
	/* What is sent says what was read before. */
	ENDS(PART("ESTAB", MUCH), PART("ESTAB", 1, MUCH)),
	ENDS(PART("ESTAB", 50000), PART("ESTAB", 60000)),
	ENDS(PART("FIN-WAIT", .shut = true), PART("CLOSE-WAIT")),
	ENDS(PART("CLOSE-WAIT"), PART("FIN-WAIT", 20, .shut = true)),
	ENDS(PART("CLOSING", .shut = true), PART("CLOSING", .shut = true)),
};

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))
#define PARTS		ARRAY_SIZE(parts)

static void act(int fd, const struct part *us)
{
	if (us->read)
		must("recv", recv_pattern(fd, us->read, us->read, 0));
	if (us->send)
		must("send", send_pattern(fd, us->send, us->send, 0));
	if (us->shut)
		must("shutdown", rc(shutdown(fd, SHUT_WR)));
}

static void show_part(int fd, const struct part *us, const struct part *them,
		      const struct address *remote)
{
	show_connected(fd, us->state, them->send - us->read, us->send - them->read,
		       remote);
}

static void part_all(const struct address *a, bool serve, bool call)
{
	struct address peer[PARTS][2];
	int fd[PARTS][2], l = -1;

	if (serve) {
		l = listener(a, PARTS - 1);
		show_lone(l, "LISTEN", 0, PARTS - 1, a->sa.sa_family);
		/* Who calls from elsewhere is told. */
		puts("listens");
		fflush(stdout);
	}
	for (size_t i = 0; i < PARTS; i++) {
		if (call)
			fd[i][0] = caller(a);
		if (serve)
			fd[i][1] = must("accept", rc(accept(l, NULL, NULL)));
		/* Once both have shut down, it has no peer for getpeername(). */
		for (int end = 0; end < 2; end++)
			if (end ? serve : call)
				must("getpeername", peer_address(fd[i][end],
								 &peer[i][end]));
	}
	for (size_t i = 0; i < PARTS; i++)
		for (int end = 0; end < 2; end++)
			if (end ? serve : call)
				act(fd[i][end], &parts[i][end]);
	for (size_t i = 0; i < PARTS; i++)
		for (int end = 0; end < 2; end++)
			if (end ? serve : call)
				show_part(fd[i][end], &parts[i][end], &parts[i][!end],
					  &peer[i][end]);
}

/* Listeners, one of them with clients that wait; and what is not connected yet. */
static void lone(const struct address *a)
{
	struct address any, plain = *a;
	int l, fd;

	show_lone(make(AF_INET), "UNCONN", 0, 0, AF_INET);
	show_lone(make(AF_INET6), "UNCONN", 0, 0, AF_INET6);
	fd = make(a->sa.sa_family);
	must("bind", rc(bind(fd, &a->sa, a->len)));
	show_lone(fd, "UNCONN", 0, 0, a->sa.sa_family);

	address_make(&any, "::", address_port(a) + 1);
	l = listener(&any, 0);
	address_set_port(&plain, address_port(a) + 1);
	show_connected(caller(&plain), "ESTAB", 0, 0, &plain);
	show_lone(l, "LISTEN", 1, 0, AF_INET6);
	/* The backlog is full. */
	fd = make(a->sa.sa_family);
	set_nonblock(fd, true);
	if (rc(connect(fd, &plain.sa, plain.len)) != -EINPROGRESS)
		die("connect", -errno);
	show(fd, "CONNECTING", 0, 0, getenv("TRANSPORT") ?: "loop", &plain);

	/* What fell back is not shown: nobody of ours listens there. */
	l = socket(a->sa.sa_family, SOCK_STREAM, 0);
	address_set_port(&plain, address_port(a) + 2);
	must("bind", rc(bind(l, &plain.sa, plain.len)));
	must("listen", rc(listen(l, 1)));
	caller(&plain);
}

static void have_room(int count)
{
	struct rlimit rl = { count + 100, count + 100 };

	must("setrlimit", rc(setrlimit(RLIMIT_NOFILE, &rl)));
}

/* Their server is plain TCP. */
static void fallen(int count)
{
	struct address a;
	int l;

	have_room(count);
	address_make(&a, "127.0.0.1", 0);
	l = must("socket", rc(socket(AF_INET, SOCK_STREAM, 0)));
	must("bind", rc(bind(l, &a.sa, a.len)));
	must("listen", rc(listen(l, count)));
	must("getsockname", local_address(l, &a));
	for (int i = 0; i < count; i++)
		caller(&a);
}

static void many(int count)
{
	have_room(count);
	for (int i = 0; i < count; i++)
		show_lone(make(AF_INET), "UNCONN", 0, 0, AF_INET);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	struct address a;

	signal(SIGPIPE, SIG_DFL);
	if (argc == 4)
		address_make(&a, argv[2], atoi(argv[3]));
	if (argc == 3 && !strcmp(what, "many"))
		many(atoi(argv[2]));
	else if (argc == 3 && !strcmp(what, "fallen"))
		fallen(atoi(argv[2]));
	else if (argc == 4 && !strcmp(what, "lone"))
		lone(&a);
	else if (argc == 4 && !strcmp(what, "serve"))
		part_all(&a, true, false);
	else if (argc == 4 && !strcmp(what, "call"))
		part_all(&a, false, true);
	else if (argc == 4 && !strcmp(what, "both"))
		part_all(&a, true, true);
	else
		return 2;
	puts("ready");
	fflush(stdout);
	while (read(STDIN_FILENO, buf, sizeof(buf)) > 0)
		;
	return 0;
}
