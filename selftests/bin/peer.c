// SPDX-License-Identifier: GPL-2.0
/*
 * One end of a connection, for the tests over two nodes.
 *
 *	peer [-t] [-1] [-b BACKLOG] [-T SECONDS] listen [ADDRESS] PORT ACTION...
 *	peer [-t] [-p] [-n TIMES] [-s SOURCE] [-T SECONDS] connect ADDRESS PORT ACTION...
 *
 * It makes an AF_SANX socket, or with -t plain TCP's, and does one action after
 * the other on each connection.  The bytes are always the same stream, checked
 * where they are received.  What fails is told on standard output, as
 * "recv: ECONNRESET after 4096 bytes, 120 ms", with exit status 1.  A client ends
 * with "done"; a listener says "served" for each connection that comes to its end.
 * ADDRESS "node:ID" is that of an explicit socket; node:0 is this node.
 * SOURCE is an IPv6 address, which need not be this node's.  With -p, "flow" and "busy"
 * pause: a test that lasts minutes need not keep the host's CPUs from all others.
 */
#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <linux/sanx.h>

#include "lib/node.h"
#include "lib/util.h"

static bool tcp, once, pauses;
static int seconds = 120, backlog = 128;
static struct address source;
static const char *action = "start";

/* Told by fail(). */
static size_t bytes;
static long started;

static void say(int err)
{
	printf("%s: %s after %zu bytes, %ld ms\n", action,
	       err == ENODATA ? "END" : strerrorname_np(err), bytes,
	       now_ms() - started);
	fflush(stdout);
}

static void fail(int err)
{
	say(err);
	exit(1);
}

static void too_late(int sig)
{
	say(ETIME);
	_exit(3);
}

static size_t number(char ***args)
{
	char *end, *arg = *(*args)++;
	size_t n;

	if (!arg) {
		fprintf(stderr, "%s: how much?\n", action);
		exit(2);
	}
	n = strtoul(arg, &end, 0);
	if (*end == 'k')
		n <<= 10;
	if (*end == 'M')
		n <<= 20;
	return n;
}

#define CHUNK	65000

/* Sends bytes of the stream, up to @len of them. */
static void do_send(int fd, size_t len)
{
	static char buf[CHUNK];
	ssize_t n;

	for (bytes = 0; bytes < len; bytes += n) {
		n = len - bytes < CHUNK ? len - bytes : CHUNK;
		pattern_fill(buf, n, bytes);
		n = send(fd, buf, n, MSG_NOSIGNAL);
		if (n < 0)
			fail(errno);
	}
}

/* Receives @len bytes of the stream; with @to_end, until its end. */
static void do_recv(int fd, size_t len, bool to_end)
{
	static char buf[CHUNK];
	ssize_t n;

	for (bytes = 0; bytes < len; bytes += n) {
		n = len - bytes < CHUNK ? len - bytes : CHUNK;
		n = recv(fd, buf, n, 0);
		if (n < 0)
			fail(errno);
		if (!n && to_end)
			return;
		if (!n)
			fail(ENODATA);
		if (!pattern_check(buf, n, bytes))
			fail(EBADMSG);
	}
}

/* Sends and receives @len bytes at the same time. */
static void do_both(int fd, size_t len)
{
	struct task t = { .fn = task_send_all, .fd = fd, .len = len };

	task_start(&t);
	do_recv(fd, len, false);
	pthread_join(t.thread, NULL);
	if (t.ret)
		fail(-t.ret);
}

static void do_echo(int fd)
{
	static char buf[CHUNK];
	ssize_t n, done, m;

	for (bytes = 0; (n = recv(fd, buf, sizeof(buf), 0)) > 0; bytes += n) {
		for (done = 0; done < n; done += m) {
			m = send(fd, buf + done, n - done, MSG_NOSIGNAL);
			if (m < 0)
				fail(errno);
		}
	}
	if (n < 0)
		fail(errno);
}

static const char *word(char ***args)
{
	char *arg = *(*args)++;

	if (!arg) {
		fprintf(stderr, "%s: which?\n", action);
		exit(2);
	}
	return arg;
}

static bool exists(const char *file)
{
	return !access(file, F_OK);
}

static void do_await(const char *file)
{
	while (!exists(file))
		sleep_ms(50);
}

/*
 * Rests for some times as long as was worked since @start, but not for long.  By a virtual
 * clock work takes next to no time, and what waits for seconds would cost minutes.
 */
static void rest(long start)
{
	long ms = 10 * (now_ms() - start) + 100;

	if (pauses)
		sleep_ms(ms < 200 ? ms : 200);
}

/* Sends the stream until there is @file. */
static void do_flow(int fd, const char *file)
{
	static char buf[CHUNK];
	long start;
	ssize_t n;

	for (bytes = 0; !exists(file); bytes += n) {
		start = now_ms();
		pattern_fill(buf, sizeof(buf), bytes);
		n = send(fd, buf, sizeof(buf), MSG_NOSIGNAL);
		if (n < 0)
			fail(errno);
		rest(start);
	}
}

/*
 * Asks who echoes, for little and much, until there is @file.  Tells how long it has
 * waited at most for an answer.
 */
static void do_busy(int fd, const char *file)
{
	long longest = 0, start;

	for (size_t i = 0; !exists(file); i++) {
		start = now_ms();
		do_both(fd, 1 + i * 7919 % 200000);
		if (now_ms() - start > longest)
			longest = now_ms() - start;
		rest(start);
	}
	printf("longest %ld ms\n", longest);
}

/* A request and its answer, @times times. */
static void do_ping(int fd, size_t times)
{
	char buf[64];

	for (bytes = 0; bytes < 64 * times; bytes += 64) {
		pattern_fill(buf, 64, bytes);
		if (send(fd, buf, 64, MSG_NOSIGNAL) != 64)
			fail(errno);
		errno = ENODATA;
		if (recv_exact(fd, buf, 64) != 64)
			fail(errno);
		if (!pattern_check(buf, 64, bytes))
			fail(EBADMSG);
	}
}

/* Sends so many bytes in one call that does not wait. */
static void do_post(int fd, size_t n)
{
	char *buf = malloc(n);
	ssize_t sent;

	pattern_fill(buf, n, 0);
	sent = send(fd, buf, n, MSG_NOSIGNAL | MSG_DONTWAIT);
	free(buf);
	bytes = sent < 0 ? 0 : sent;
	if (sent != n)
		fail(sent < 0 ? errno : EAGAIN);
	printf("posted\n");
	fflush(stdout);
}

static void do_end(int fd)
{
	char c;
	ssize_t n = recv(fd, &c, 1, 0);

	bytes = 0;
	if (n)
		fail(n < 0 ? errno : EBADMSG);
}

/* Waits for whatever may happen to an idle connection. */
static void do_hold(int fd)
{
	int events = poll_one(fd, POLLIN | POLLRDHUP, -1);

	bytes = 0;
	if (events & POLLERR)
		fail(get_option(fd, SOL_SOCKET, SO_ERROR) ?: EPROTO);
	do_end(fd);
}

/* A little now and then, for as long as that works. */
static void do_trickle(int fd)
{
	char buf[100];

	for (bytes = 0;; bytes += sizeof(buf)) {
		pattern_fill(buf, sizeof(buf), bytes);
		if (send(fd, buf, sizeof(buf), MSG_NOSIGNAL) < 0)
			fail(errno);
		sleep_ms(50);
	}
}

static void do_keepalive(int fd, size_t idle, size_t interval, size_t probes)
{
	if (set_option(fd, SOL_TCP, TCP_KEEPIDLE, idle) ||
	    set_option(fd, SOL_TCP, TCP_KEEPINTVL, interval) ||
	    set_option(fd, SOL_TCP, TCP_KEEPCNT, probes) ||
	    set_option(fd, SOL_SOCKET, SO_KEEPALIVE, 1))
		fail(errno);
}

/* An action that says something of how others are to be done. */
static bool do_set(int fd, char ***args)
{
	size_t n;

	if (!strcmp(action, "reset")) {
		set_linger(fd, 0);
	} else if (!strcmp(action, "keepalive")) {
		n = number(args);
		do_keepalive(fd, n, number(args), 3);
	} else if (!strcmp(action, "user-timeout")) {
		if (set_option(fd, SOL_TCP, TCP_USER_TIMEOUT, number(args)))
			fail(errno);
	} else if (!strcmp(action, "sndbuf")) {
		if (set_option(fd, SOL_SOCKET, SO_SNDBUF, number(args)))
			fail(errno);
	} else if (!strcmp(action, "send-timeout")) {
		if (set_timeout(fd, SO_SNDTIMEO, number(args)))
			fail(errno);
	} else {
		return false;
	}
	return true;
}

/* Does what there is to do, and closes the socket. */
static void act(int fd, char **args)
{
	for (;;) {
		action = *args++;
		started = now_ms();
		if (!action)
			break;
		if (!strcmp(action, "send"))
			do_send(fd, number(&args));
		else if (!strcmp(action, "recv"))
			do_recv(fd, number(&args), false);
		else if (!strcmp(action, "both"))
			do_both(fd, number(&args));
		else if (!strcmp(action, "ping"))
			do_ping(fd, number(&args));
		else if (!strcmp(action, "post"))
			do_post(fd, number(&args));
		else if (!strcmp(action, "flood"))
			do_send(fd, SIZE_MAX);
		else if (!strcmp(action, "drain"))
			do_recv(fd, SIZE_MAX, true);
		else if (!strcmp(action, "echo"))
			do_echo(fd);
		else if (!strcmp(action, "end"))
			do_end(fd);
		else if (!strcmp(action, "hold"))
			do_hold(fd);
		else if (!strcmp(action, "shut"))
			shutdown(fd, SHUT_WR);
		else if (!strcmp(action, "sleep"))
			sleep_ms(number(&args));
		else if (!strcmp(action, "await"))
			do_await(word(&args));
		else if (!strcmp(action, "flow"))
			do_flow(fd, word(&args));
		else if (!strcmp(action, "busy"))
			do_busy(fd, word(&args));
		else if (!strcmp(action, "trickle"))
			do_trickle(fd);
		else if (!do_set(fd, &args))
			exit(2);
	}
	action = "close";
	close(fd);
}

static int make_socket(int family)
{
	bool explicit = family == node_family();
	int fd = node_socket(!tcp, explicit ? FAMILY_EXPLICIT : family, SOCK_STREAM);

	if (fd < 0)
		fail(errno);
	return fd;
}

static void resolve(const char *host, const char *port, struct address *a)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM }, *ai;

	if (!strncmp(host, "node:", 5)) {
		address_make(a, host, strtoul(port, NULL, 0));
		return;
	}
	if (getaddrinfo(host, port, &hints, &ai)) {
		fprintf(stderr, "%s: unknown host\n", host);
		exit(2);
	}
	memcpy(&a->ss, ai->ai_addr, ai->ai_addrlen);
	a->len = ai->ai_addrlen;
	freeaddrinfo(ai);
}

static void serve(const struct address *a, char **args)
{
	int l = make_socket(a->sa.sa_family), fd;

	signal(SIGCHLD, SIG_IGN);
	set_option(l, SOL_SOCKET, SO_REUSEADDR, 1);
	if (bind(l, &a->sa, a->len) || listen(l, backlog))
		fail(errno);
	for (;;) {
		action = "accept";
		started = now_ms();
		fd = accept(l, NULL, NULL);
		if (fd < 0)
			fail(errno);
		if (once) {
			close(l);
			act(fd, args);
			return;
		}
		if (!fork()) {
			close(l);
			act(fd, args);
			puts("served");
			exit(0);
		}
		close(fd);
	}
}

static void call(const struct address *a, char **args)
{
	int fd = make_socket(a->sa.sa_family);

	if (source.len) {
		action = "bind";
		set_option(fd, IPPROTO_IPV6, IPV6_FREEBIND, 1);
		if (bind(fd, &source.sa, source.len))
			fail(errno);
	}
	action = "connect";
	started = now_ms();
	bytes = 0;
	if (connect(fd, &a->sa, a->len))
		fail(errno);
	printf("connected in %ld ms\n", now_ms() - started);
	fflush(stdout);
	act(fd, args);
}

int main(int argc, char **argv)
{
	const char *host, *port;
	int opt, times = 1;
	struct address a;

	started = now_ms();
	while ((opt = getopt(argc, argv, "+t1pb:n:s:T:")) != -1) {
		if (opt == 't')
			tcp = true;
		else if (opt == '1')
			once = true;
		else if (opt == 'p')
			pauses = true;
		else if (opt == 'b')
			backlog = atoi(optarg);
		else if (opt == 'n')
			times = atoi(optarg);
		else if (opt == 's')
			resolve(optarg, "0", &source);
		else if (opt == 'T')
			seconds = atoi(optarg);
		else
			return 2;
	}
	argv += optind;
	if (argc - optind < 3)
		return 2;
	signal(SIGALRM, too_late);
	alarm(seconds);
	host = argv[1];
	port = argv[2];
	if (!strcmp(argv[0], "listen")) {
		/* Without an address: any, of both families. */
		if (!strchr(host, '.') && !strchr(host, ':')) {
			port = host;
			host = "::";
			argv--;
		}
		resolve(host, port, &a);
		serve(&a, argv + 3);
	} else if (!strcmp(argv[0], "connect")) {
		resolve(host, port, &a);
		while (times--)
			call(&a, argv + 3);
	} else {
		return 2;
	}
	puts("done");
	return 0;
}
