// SPDX-License-Identifier: GPL-2.0
/*
 * Connections of every kind, at random, for as long as one likes.
 *
 *	soak [-tkf] [-s SEED] [-T LIMIT] serve PORT
 *	soak [-tkf] [-s SEED] [-T LIMIT] [-d SECONDS] [-c CLIENTS] call PORT ADDRESS...
 *
 * Sockets are AF_SANX's, or with -t plain TCP's, which is the oracle.  With -k nobody is
 * killed: User Mode Linux 6.12 panics when a fork() is interrupted so.  With -f the
 * kernel has no memory now and then, so that a connection may break.
 *
 * The server on PORT is steady: what its clients meet with is what was agreed
 * on with the first bytes, and anything else is an error.  That on PORT + 1 is
 * killed again and again, and its clients may find it gone at any time.  Nobody
 * listens on PORT + 2.  Each byte is checked where it is received.
 *
 * What goes wrong is told in a line that begins with "ERROR"; at the end
 * (SIGTERM for a server) come lines of "NAME VALUE".  No connection may take
 * longer than LIMIT seconds.
 */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <linux/sanx.h>

#include "lib/mover.h"
#include "lib/node.h"
#include "lib/util.h"

/* What all processes of this program add to. */
enum figure {
	SESSIONS, CONNECTIONS, SERVED, SENT, RECEIVED,
	KILLED_CLIENTS, KILLED_HANDLERS, KILLED_SERVERS, GONE_EARLY,
	STREAMS, PINGS, HALVES, RESETS, URGENTS, IDLES, SHORTS, GIVEN_UP, MONKEYS,
	HANDED, ERRORS, WRONG, HANGS, FIGURES
};

static const char * const figure_names[FIGURES] = {
	"sessions", "connections", "served", "sent", "received",
	"killed_clients", "killed_handlers", "killed_servers", "gone_early",
	"streams", "pings", "halves", "resets", "urgents", "idles", "shorts",
	"given_up", "monkeys", "handed", "errors", "wrong_bytes", "hangs"
};

static struct shared {
	atomic_long	figure[FIGURES];
	/* Errors that are a kill's or a reset's, by errno. */
	atomic_long	expected[256];
} *shared;

static void count(enum figure f, long n)
{
	atomic_fetch_add(&shared->figure[f], n);
}

/* What a connection is to be, which the client says in its first bytes. */
enum kind { STREAM, PING, HALF, RESET, URGENT, MONKEY };
#define CLIENT_DIES	1	/* SIGKILL, at any time */
#define SERVER_DIES	2
#define SERVER_RESETS	4	/* RESET: the server does */
#define INLINE		8	/* URGENT: SO_OOBINLINE */
#define SERVER_FIRST	16	/* STREAM: the server closes first */
#define EPOLL		32	/* the server uses epoll */

struct request {
	uint32_t	magic;
	uint32_t	kind;
	uint32_t	flags;
	uint32_t	seed;	/* where the streams begin in the pattern */
	uint32_t	up;	/* bytes to the server */
	uint32_t	down;	/* bytes from it */
	uint32_t	rounds;
	uint32_t	delay;	/* ms until who dies is dead */
};

#define MAGIC	0x50a4aaaa

static const char * const kind_names[] = {
	"stream", "ping", "half", "reset", "urgent", "monkey"
};

static uint32_t seed = 1;
static int seconds = 60, limit = 60, clients = 4;
static int port;
static struct address addresses[16];
static int n_addresses;
static bool tcp, spare, faults;

/* What this process is doing. */
static const char *role = "", *doing = "start";
static struct request req;
static bool mortal;	/* the server may be gone at any time */

/* One write(), as other processes write too. */
static void report(const char *what, int err)
{
	char line[300];
	int n;

	n = snprintf(line, sizeof(line),
		     "ERROR %s: %s%s in %s, %s: %s (flags %u up %u down %u rounds %u seed %u pid %d)\n",
		     what, role, mortal ? " of the mortal" : "",
		     kind_names[req.kind], doing,
		     err == ENODATA ? "END" : strerrorname_np(err) ?: "?",
		     req.flags, req.up, req.down, req.rounds, req.seed, getpid());
	if (write(STDOUT_FILENO, line, n) != n)
		_exit(4);
}

static void too_late(int sig)
{
	count(HANGS, 1);
	report("hang", ETIME);
	_exit(3);
}

static void set_limit(int more)
{
	signal(SIGALRM, too_late);
	alarm(limit + more);
}

/* Errors of a connection for which there was no memory, see af_sanx(7). */
static bool no_memory(int err)
{
	return err == ECONNRESET || err == EPIPE || err == ETIMEDOUT ||
	       err == ENOMEM || err == ENOBUFS;
}

/* Are these what TCP gives to the peer of a process that is killed? */
static bool killed(int err)
{
	return err == ECONNRESET || err == EPIPE || err == ENODATA;
}

static bool expected(int err, bool server)
{
	if (faults && no_memory(err))
		return true;
	if (req.flags & (server ? CLIENT_DIES : SERVER_DIES) && killed(err))
		return true;
	if (!server && mortal && (killed(err) || err == ECONNREFUSED))
		return true;
	/* A client that makes any calls makes a reset, too. */
	return req.kind == MONKEY && killed(err);
}

/* The end of a connection: @err is 0 or -errno. */
static void ended(int err, bool server)
{
	if (!err)
		return;
	if (expected(-err, server)) {
		atomic_fetch_add(&shared->expected[-err & 255], 1);
	} else if (err == -EBADMSG) {
		count(WRONG, 1);
		report("wrong bytes", -err);
	} else {
		count(ERRORS, 1);
		report("unexpected", -err);
	}
}

/* ---- killing ---- */

/*
 * A child that kills us with SIGKILL in @ms.  It must hold no socket: a
 * connection would live on in it.
 */
static pid_t killer_start(unsigned int ms, enum figure f, int fd)
{
	int self = syscall(SYS_pidfd_open, getpid(), 0);
	pid_t pid = fork();

	if (!pid) {
		close(fd);
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		sleep_ms(ms);
		/* Counted before: nobody is left to do it. */
		count(f, 1);
		if (syscall(SYS_pidfd_send_signal, self, SIGKILL, NULL, 0))
			count(f, -1);
		_exit(0);
	}
	close(self);
	return pid;
}

/* Not in time. */
static void killer_stop(pid_t pid)
{
	if (pid <= 0)
		return;
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/* ---- both ends ---- */

/* The client sends the pattern from one offset, and the server from another. */
static struct mover mover_of(int fd, bool server)
{
	struct mover m = { .fd = fd, .tx = req.up, .rx = req.down };

	m.tx_offset = req.seed % 100000;
	m.rx_offset = req.seed % 100000 + 12345;
	if (server) {
		m.tx = req.down;
		m.rx = req.up;
		m.tx_offset += 12345;
		m.rx_offset -= 12345;
	}
	return m;
}

static int move(struct mover *m, bool epoll)
{
	size_t sent = m->sent, got = m->got;
	int err;

	err = epoll ? move_epoll(m) : move_blocking(m);
	doing = m->doing;
	count(SENT, m->sent - sent);
	count(RECEIVED, m->got - got);
	return err;
}

/* The stream ends here, cleanly. */
static int at_end(int fd)
{
	char c;
	ssize_t n;

	doing = "recv at the end";
	n = recv(fd, &c, 1, 0);
	return n > 0 ? -EBADMSG : rc(n);
}

/* shutdown() has another word than the others for what was reset. */
static int end_stream(int fd)
{
	int err;

	doing = "shutdown";
	err = rc(shutdown(fd, SHUT_WR));
	return err == -ENOTCONN ? -ECONNRESET : err;
}

/* All is moved: one end closes at once, the other after it. */
static int last_words(int fd, bool first)
{
	int err = 0;

	/* close() waits for what is under way, or not. */
	if (dice(6) == 0)
		set_linger(fd, 1 + dice(20));
	if (dice(2))
		err = end_stream(fd);
	return err ?: first ? 0 : at_end(fd);
}

static int do_stream(int fd, bool server, bool epoll)
{
	struct mover m = mover_of(fd, server);

	return move(&m, epoll) ?:
	       last_words(fd, server == !!(req.flags & SERVER_FIRST));
}

static int do_ping(int fd, bool server)
{
	struct mover m = mover_of(fd, server);
	uint32_t i;
	int err = 0;

	for (i = 0; i < req.rounds && !err; i++) {
		struct mover in = m, out = m;

		out.rx = 0;
		in.tx = 0;
		err = move(server ? &in : &out, dice(2)) ?:
		      move(server ? &out : &in, dice(2));
	}
	return err ?: last_words(fd, !server);
}

/* All one way, to its end, and then all the other way. */
static int do_half(int fd, bool server)
{
	struct mover in = mover_of(fd, server), out = in;
	int err;

	out.rx = 0;
	in.tx = 0;
	in.rx = SIZE_MAX;
	if (server) {
		err = move(&in, dice(2)) ?: move(&out, dice(2));
		return err ?: in.got == req.up ? 0 : -ENODATA;
	}
	err = move(&out, dice(2));
	err = err ?: end_stream(fd) ?: move(&in, dice(2));
	return err ?: in.got == req.down ? 0 : -ENODATA;
}

/* One end sends some of it and resets; the other has to learn of it. */
static int do_reset(int fd, bool server)
{
	bool resets = server == !!(req.flags & SERVER_RESETS);
	struct mover m = mover_of(fd, server);
	int err;

	if (resets) {
		m.tx = dice(m.tx + 1);
		m.rx = 0;
		err = move(&m, dice(2));
		doing = "SO_LINGER";
		return err ?: set_linger(fd, 0);
	}
	m.tx = 0;
	m.rx = SIZE_MAX;
	err = move(&m, dice(2));
	if (err != -ECONNRESET)
		return err ?: -ENODATA;
	atomic_fetch_add(&shared->expected[ECONNRESET], 1);
	return 0;
}

/* An urgent byte with bytes before and after it. */
static int urgent_client(int fd)
{
	char c = req.seed;
	struct mover m = mover_of(fd, false);
	int err;

	/* The server is to have said how it wants the byte. */
	doing = "recv that all is ready";
	err = recv_pattern(fd, 1, 1, 0);
	m.rx = 0;
	err = err ?: move(&m, false);
	doing = "send MSG_OOB";
	err = err ?: send(fd, &c, 1, MSG_OOB | MSG_NOSIGNAL) == 1 ? 0 : -errno;
	m.tx += req.down;
	err = err ?: move(&m, false);
	return err ?: end_stream(fd) ?: at_end(fd);
}

static int urgent_byte(int fd, int flags)
{
	char c;
	ssize_t n;

	if (flags) {
		doing = "poll for the urgent byte";
		if (!(poll_one(fd, POLLPRI, -1) & POLLPRI))
			return -EPROTO;
	}
	doing = flags ? "recv MSG_OOB" : "recv the urgent byte inline";
	n = recv(fd, &c, 1, flags);
	if (n < 0)
		return -errno;
	if (!n)
		return -ENODATA;
	return c == (char)req.seed ? 0 : -EBADMSG;
}

/* By recv() alone, as TCP's MSG_WAITALL and splice() end at an urgent byte. */
static int urgent_server(int fd)
{
	uint64_t at = mover_of(fd, true).rx_offset;
	int err;

	doing = "SO_OOBINLINE";
	err = set_option(fd, SOL_SOCKET, SO_OOBINLINE, !!(req.flags & INLINE));
	err = err ?: send_pattern(fd, 1, 1, 0);
	if (!(req.flags & INLINE))
		err = err ?: urgent_byte(fd, MSG_OOB);
	doing = "recv before the urgent byte";
	err = err ?: recv_pattern(fd, req.up, 1 + dice(1000), at);
	if (req.flags & INLINE)
		err = err ?: urgent_byte(fd, 0);
	doing = "recv behind the urgent byte";
	err = err ?: recv_pattern(fd, req.down, 1 + dice(1000), at + req.up);
	return err ?: at_end(fd);
}

/* ---- server ---- */

/* What a client of any calls sends is nothing to be checked. */
static int monkey_server(int fd)
{
	char buf[5000];
	ssize_t n;

	doing = "recv from any calls";
	for (;;) {
		n = recv(fd, buf, sizeof(buf), 0);
		if (n <= 0)
			return rc(n);
		count(RECEIVED, n);
		if (dice(3) == 0)
			send(fd, buf, n, MSG_NOSIGNAL | MSG_DONTWAIT);
	}
}

static int serve_kind(int fd)
{
	switch (req.kind) {
	case STREAM:
		return do_stream(fd, true, req.flags & EPOLL);
	case PING:
		return do_ping(fd, true);
	case HALF:
		return do_half(fd, true);
	case RESET:
		return do_reset(fd, true);
	case URGENT:
		return urgent_server(fd);
	case MONKEY:
		return monkey_server(fd);
	}
	return -EBADMSG;
}

/* The client's first bytes; a client may have gone without a word. */
static bool request_get(int fd)
{
	ssize_t n;

	doing = "recv the request";
	n = recv_exact(fd, &req, sizeof(req));
	if (n == sizeof(req) && req.magic == MAGIC && req.kind <= MONKEY)
		return true;
	if (!n || n == -ECONNRESET) {
		count(GONE_EARLY, 1);
		return false;
	}
	memset(&req, 0, sizeof(req));
	ended(n < 0 ? n : -EBADMSG, true);
	return false;
}

static void handle(int fd)
{
	pid_t killer = 0;

	role = "server";
	/* It begins before its client and can end after it. */
	set_limit(60);
	count(SERVED, 1);
	if (request_get(fd)) {
		dice_seed(req.seed + 1);
		if (req.flags & SERVER_DIES)
			killer = killer_start(req.delay,
					      KILLED_HANDLERS, fd);
		ended(serve_kind(fd), true);
	}
	doing = "close";
	close(fd);
	killer_stop(killer);
	_exit(0);
}

static void handler_start(int fd, int listener)
{
	if (!fork()) {
		close(listener);
		handle(fd);
	}
	close(fd);
}

static int fd_send(int via, int fd)
{
	char c = 0, control[CMSG_SPACE(sizeof(int))] = "";
	struct iovec iov = { &c, 1 };
	struct msghdr msg = {
		.msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = control, .msg_controllen = sizeof(control),
	};
	struct cmsghdr *cmsg = CMSG_FIRSTHDR(&msg);

	cmsg->cmsg_level = SOL_SOCKET;
	cmsg->cmsg_type = SCM_RIGHTS;
	cmsg->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(cmsg), &fd, sizeof(int));
	return sendmsg(via, &msg, MSG_NOSIGNAL) == 1 ? 0 : -errno;
}

static int fd_receive(int via)
{
	char c, control[CMSG_SPACE(sizeof(int))];
	struct iovec iov = { &c, 1 };
	struct msghdr msg = {
		.msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = control, .msg_controllen = sizeof(control),
	};
	int fd;

	if (recvmsg(via, &msg, 0) != 1 || !CMSG_FIRSTHDR(&msg))
		return -ENODATA;
	memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&msg)), sizeof(int));
	return fd;
}

/* A process that is handed its connections by those that accept. */
static void handed_to(int via)
{
	int fd;

	while ((fd = fd_receive(via)) >= 0)
		handler_start(fd, via);
	_exit(0);
}

static void accept_all(int l, int via)
{
	int fd;

	for (;;) {
		doing = "accept";
		fd = accept(l, NULL, NULL);
		if (fd < 0) {
			count(ERRORS, 1);
			report("accept", errno);
			sleep_ms(1000);
		} else if (dice(3) == 0) {
			count(HANDED, 1);
			fd_send(via, fd);
			close(fd);
		} else {
			handler_start(fd, l);
		}
	}
}

static int stream_socket(int family)
{
	doing = "socket";
	return node_socket(!tcp, family, SOCK_STREAM);
}

static int listen_on(int p)
{
	int fd = stream_socket(AF_INET6), tries;
	struct address a;

	address_make(&a, "::", p);
	set_option(fd, SOL_SOCKET, SO_REUSEADDR, 1);
	/* One that was killed may not have died yet. */
	for (tries = 0; bind(fd, &a.sa, a.len); tries++) {
		if (errno != EADDRINUSE || tries == 100)
			return -errno;
		sleep_ms(100);
	}
	return rc(listen(fd, 128)) ?: fd;
}

/* A server: two processes that accept and one that is handed connections. */
static pid_t server_start(int p)
{
	pid_t pid = fork();
	int via[2], l;

	if (pid) {
		setpgid(pid, pid);
		return pid;
	}
	setpgid(0, 0);
	/* Nobody waits for children here. */
	signal(SIGCHLD, SIG_IGN);
	signal(SIGTERM, SIG_DFL);
	role = "server";
	doing = "listen";
	l = listen_on(p);
	if (l < 0 || socketpair(AF_UNIX, SOCK_STREAM, 0, via)) {
		count(ERRORS, 1);
		report("listen", l < 0 ? -l : errno);
		_exit(1);
	}
	if (!fork()) {
		close(l);
		close(via[1]);
		handed_to(via[0]);
	}
	close(via[0]);
	dice_seed(seed + p);
	fork();
	accept_all(l, via[1]);
	_exit(0);
}

/* SIGKILL for all of a server; its first process is ours to reap. */
static void server_kill(pid_t pid)
{
	kill(-pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static volatile sig_atomic_t over;

static void on_term(int sig)
{
	over = 1;
}

static void serve(void)
{
	pid_t steady = server_start(port), victim = server_start(port + 1);
	long next = now_ms() + 5000;

	signal(SIGTERM, on_term);
	puts("serving");
	fflush(stdout);
	while (!over) {
		sleep_ms(200);
		if (now_ms() < next || spare)
			continue;
		server_kill(victim);
		count(KILLED_SERVERS, 1);
		sleep_ms(dice(1000));
		victim = server_start(port + 1);
		next = now_ms() + 3000 + dice(20000);
	}
	server_kill(victim);
	server_kill(steady);
}

/* ---- client ---- */

static int make_socket(const struct address *a)
{
	int fd = stream_socket(a->sa.sa_family);

	if (fd >= 0 && dice(8) == 0) {
		set_option(fd, SOL_SOCKET, SO_RCVBUF, 4096 << dice(8));
		set_option(fd, SOL_SOCKET, SO_SNDBUF, 4096 << dice(8));
	}
	return rc(fd);
}

static void any_address(struct address *a, int p)
{
	*a = addresses[dice(n_addresses)];
	address_set_port(a, p);
}

/* connect() that does not block, and what comes of it. */
static int connect_nonblocking(int fd, const struct address *a)
{
	int err;

	set_nonblock(fd, true);
	doing = "connect, non-blocking";
	err = rc(connect(fd, &a->sa, a->len));
	if (err == -EINPROGRESS) {
		doing = "poll for connect";
		poll_one(fd, POLLOUT, -1);
		err = -get_option(fd, SOL_SOCKET, SO_ERROR);
	}
	set_nonblock(fd, false);
	return err;
}

/* A connection to the server of this session, or -errno. */
static int call_server(void)
{
	struct address a;
	int fd, err;

	any_address(&a, port + mortal);
	fd = make_socket(&a);
	if (fd < 0)
		return fd;
	if (dice(3) == 0) {
		err = connect_nonblocking(fd, &a);
	} else {
		doing = "connect";
		err = rc(connect(fd, &a.sa, a.len));
	}
	if (err) {
		close(fd);
		return err;
	}
	count(CONNECTIONS, 1);
	return fd;
}

/* A few bytes often, many seldom. */
static uint32_t any_length(void)
{
	uint32_t n = dice(16 << dice(13));

	return dice(40) ? n : n * 16;
}

static void request_make(enum kind kind, uint32_t flags)
{
	req = (struct request){
		.magic = MAGIC, .kind = kind, .flags = flags,
		.seed = dice(1u << 31), .up = any_length(),
		.down = any_length(), .rounds = 1,
		.delay = dice(dice(2) ? 100 : 3000),
	};
}

static int request_send(int fd)
{
	doing = "send the request";
	if (send(fd, &req, sizeof(req), MSG_NOSIGNAL) != sizeof(req))
		return -errno;
	return 0;
}

static void any_call(int fd)
{
	struct sockaddr none = { .sa_family = AF_UNSPEC };
	char buf[3000] = "";
	struct address a;
	int n;

	switch (dice(10)) {
	case 0:
	case 1:
	case 2:
		send(fd, buf, dice(sizeof(buf)), MSG_DONTWAIT | MSG_NOSIGNAL |
		     (dice(9) ? 0 : MSG_OOB));
		break;
	case 3:
	case 4:
		recv(fd, buf, dice(sizeof(buf)), MSG_DONTWAIT |
		     (dice(4) ? 0 : MSG_PEEK) | (dice(4) ? 0 : MSG_TRUNC));
		break;
	case 5:
		poll_one(fd, POLLIN | POLLOUT | POLLPRI, dice(2));
		break;
	case 6:
		peer_address(fd, &a);
		break;
	case 7:
		ioctl(fd, FIONREAD, &n);
		break;
	case 8:
		set_option(fd, SOL_SOCKET, SO_RCVBUF, 2000 + dice(100000));
		break;
	case 9:
		if (dice(20) == 0)
			shutdown(fd, dice(3));
		if (dice(50) == 0)
			connect(fd, &none, sizeof(none));
		break;
	}
}

static int monkey_client(int fd)
{
	int i;

	doing = "any calls";
	for (i = dice(100); i >= 0; i--)
		any_call(fd);
	return dice(2) ? 0 : set_linger(fd, 0);
}

static int call_kind(int fd)
{
	switch (req.kind) {
	case STREAM:
		return do_stream(fd, false, dice(2));
	case PING:
		return do_ping(fd, false);
	case HALF:
		return do_half(fd, false);
	case RESET:
		return do_reset(fd, false);
	case URGENT:
		return urgent_client(fd);
	case MONKEY:
		return monkey_client(fd);
	}
	return -EINVAL;
}

/* The rest is another process's, which was forked or handed the socket. */
static int elsewhere(int fd, int (*fn)(int fd))
{
	int via[2], err, status;
	bool rights = dice(2);
	pid_t pid;

	doing = "fork";
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, via))
		return -errno;
	if (rights)
		fd_send(via[0], fd);
	count(HANDED, 1);
	pid = fork();
	if (!pid) {
		set_limit(0);
		if (rights) {
			close(fd);
			fd = fd_receive(via[1]);
		}
		err = fn(fd);
		ended(err, false);
		_exit(0);
	}
	close(via[0]);
	close(via[1]);
	close(fd);
	doing = "waitpid";
	if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
		return -ECHILD;
	return 0;
}

/* A connection as @req says. */
static void one_connection(void)
{
	int fd = call_server(), err;

	if (fd < 0) {
		ended(fd, false);
		return;
	}
	err = request_send(fd);
	if (!err && dice(6) == 0 && !(req.flags & CLIENT_DIES)) {
		ended(elsewhere(fd, call_kind), false);
		return;
	}
	ended(err ?: call_kind(fd), false);
	close(fd);
}

static void stream_session(void)
{
	uint32_t flags = (dice(2) ? SERVER_FIRST : 0) | (dice(2) ? EPOLL : 0);
	int i;

	if (dice(4) == 0 && !spare)
		flags |= dice(2) ? CLIENT_DIES : SERVER_DIES;
	for (i = 1 + dice(4); i > 0; i--) {
		request_make(STREAM, flags);
		if (flags & (CLIENT_DIES | SERVER_DIES))
			req.up += dice(300000);
		if (i == 1 && flags & CLIENT_DIES)
			killer_start(req.delay, KILLED_CLIENTS, -1);
		count(STREAMS, 1);
		one_connection();
	}
	/* Some are to be killed with a connection and nothing to do. */
	if (flags & CLIENT_DIES) {
		call_server();
		sleep_ms(req.delay);
	}
}

static void ping_session(void)
{
	request_make(PING, 0);
	req.rounds = 1 + dice(100);
	req.up = 1 + dice(3000);
	req.down = 1 + dice(3000);
	count(PINGS, 1);
	one_connection();
}

static void half_session(void)
{
	request_make(HALF, 0);
	count(HALVES, 1);
	one_connection();
}

static void reset_session(void)
{
	int i;

	for (i = 1 + dice(5); i > 0; i--) {
		request_make(RESET, dice(2) ? SERVER_RESETS : 0);
		count(RESETS, 1);
		one_connection();
	}
}

static void urgent_session(void)
{
	int i;

	for (i = 1 + dice(5); i > 0; i--) {
		request_make(URGENT, dice(2) ? INLINE : 0);
		/* What is before an urgent byte must fit, to be passed by. */
		req.up = dice(3000);
		req.down = dice(3000);
		count(URGENTS, 1);
		one_connection();
	}
}

/* Connections on which nothing comes: that is told in time. */
static int idle_wait(int fd)
{
	long start = now_ms();
	char c;

	doing = "SO_RCVTIMEO";
	if (dice(2)) {
		set_timeout(fd, SO_RCVTIMEO, LIMIT);
		if (rc(recv(fd, &c, 1, 0)) != -EAGAIN)
			return mortal ? 0 : -EBADMSG;
		set_timeout(fd, SO_RCVTIMEO, 0);
	} else if (poll_one(fd, POLLIN | POLLRDHUP, LIMIT)) {
		return mortal ? 0 : -EPROTO;
	}
	return now_ms() - start < LIMIT_AT_LEAST ? -ETIME : 0;
}

static void idle_session(void)
{
	int fds[40], n = 5 + dice(35), i;

	request_make(PING, 0);
	req.up = 1 + dice(1000);
	req.down = 1 + dice(1000);
	for (i = 0; i < n; i++) {
		fds[i] = call_server();
		ended(fds[i] < 0 ? fds[i] : request_send(fds[i]), false);
	}
	count(IDLES, n);
	for (i = 0; i < n; i += 7)
		ended(fds[i] < 0 ? 0 : idle_wait(fds[i]), false);
	for (i = n - 1; i >= 0; i--) {
		ended(fds[i] < 0 ? 0 : do_ping(fds[i], false), false);
		if (fds[i] >= 0)
			close(fds[i]);
	}
}

static void short_session(void)
{
	int i;

	for (i = 5 + dice(30); i > 0; i--) {
		request_make(PING, 0);
		req.up = 1 + dice(300);
		req.down = 1 + dice(300);
		count(SHORTS, 1);
		one_connection();
	}
}

/* Begun, and given up at once; or to where nobody listens. */
static void give_up(bool deaf)
{
	struct address a;
	int fd, err;

	any_address(&a, port + (deaf ? 2 : mortal));
	fd = make_socket(&a);
	if (fd < 0) {
		ended(fd, false);
		return;
	}
	if (deaf) {
		err = dice(2) ? connect_nonblocking(fd, &a) :
				rc(connect(fd, &a.sa, a.len));
		ended(err == -ECONNREFUSED ? 0 : err ?: -EISCONN, false);
	} else {
		set_nonblock(fd, true);
		doing = "connect, to give up";
		err = rc(connect(fd, &a.sa, a.len));
		ended(err == -EINPROGRESS ? 0 : err ?: -EISCONN, false);
		if (dice(2))
			poll_one(fd, POLLOUT, dice(3));
		if (dice(2))
			set_linger(fd, 0);
	}
	close(fd);
}

static void give_up_session(void)
{
	int i;

	for (i = 1 + dice(10); i > 0; i--) {
		count(GIVEN_UP, 1);
		give_up(dice(2));
	}
}

static void monkey_session(void)
{
	request_make(MONKEY, 0);
	count(MONKEYS, 1);
	one_connection();
}

static void session(void)
{
	static void (* const sessions[])(void) = {
		stream_session, stream_session, stream_session, stream_session,
		ping_session, half_session, half_session, reset_session,
		urgent_session, idle_session, short_session, short_session,
		give_up_session, monkey_session,
	};

	role = "client";
	mortal = dice(4) == 0;
	sessions[dice(sizeof(sessions) / sizeof(*sessions))]();
}

/* A session in a process of its own, which may be killed. */
static void session_run(uint32_t number)
{
	int status;
	pid_t pid = fork();

	if (!pid) {
		set_limit(0);
		dice_seed(number);
		session();
		_exit(0);
	}
	count(SESSIONS, 1);
	if (pid < 0 || waitpid(pid, &status, 0) != pid ||
	    (WIFSIGNALED(status) && WTERMSIG(status) != SIGKILL)) {
		count(ERRORS, 1);
		report("session", pid < 0 ? EAGAIN : ECHILD);
	}
}

static void call(void)
{
	long end = now_ms() + seconds * 1000L;
	uint32_t number;
	int i;

	for (i = 0; i < clients; i++) {
		if (fork())
			continue;
		number = seed * 64 + i;
		while (now_ms() < end) {
			session_run(number);
			number += 1000003;
		}
		_exit(0);
	}
	while (wait(NULL) > 0)
		;
}

static void print_figures(void)
{
	int i;

	for (i = 0; i < FIGURES; i++)
		printf("%s %ld\n", figure_names[i], shared->figure[i]);
	for (i = 0; i < 256; i++)
		if (shared->expected[i])
			printf("expected_%s %ld\n", i == ENODATA ? "END" :
			       strerrorname_np(i), shared->expected[i]);
	puts("done");
}

static void options(int argc, char **argv)
{
	int opt;

	while ((opt = getopt(argc, argv, "+tkfs:T:d:c:")) != -1) {
		if (opt == 't')
			tcp = true;
		else if (opt == 'k')
			spare = true;
		else if (opt == 'f')
			faults = true;
		else if (opt == 's')
			seed = strtoul(optarg, NULL, 0);
		else if (opt == 'T')
			limit = atoi(optarg);
		else if (opt == 'd')
			seconds = atoi(optarg);
		else if (opt == 'c')
			clients = atoi(optarg);
		else
			exit(2);
	}
}

int main(int argc, char **argv)
{
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	options(argc, argv);
	argv += optind;
	if (shared == MAP_FAILED || argc - optind < 2)
		return 2;
	port = atoi(argv[1]);
	dice_seed(seed);
	/* sendfile() and splice() have no MSG_NOSIGNAL. */
	signal(SIGPIPE, SIG_IGN);
	if (!strcmp(argv[0], "serve")) {
		serve();
	} else {
		for (argv += 2; *argv && n_addresses < 16; argv++)
			address_make(&addresses[n_addresses++], *argv, 0);
		if (!n_addresses)
			return 2;
		call();
	}
	print_figures();
	return 0;
}
