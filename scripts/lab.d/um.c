// SPDX-License-Identifier: GPL-2.0
/*
 * um DIR NODE PORTS KERNEL ARGS...: a node that is a User Mode Linux kernel.
 *
 * The kernel's serial lines ttyS0 .. ttySn are the lab's ports: the unix socket
 * NODE.i in DIR leads to line i, so that client and agent need not know that this is
 * not qemu.  A line cannot tell that its other end was closed; we tell the agent
 * with FRAME_HANGUP.  $UM_WIRES has wires, each a path of a SOCK_SEQPACKET socket and
 * an address with a comma between: the kernel's vec0, vec1 .. are our ends of them.
 *
 * The kernel ends with us, however we end, and we end with it.
 *
 * With $UM_CALENDAR, a socket, the kernel's clock is the calendar's, and what is for its
 * lines is written when that says so (lines.h).
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <linux/sockios.h>
#include "frame.h"
#include "lines.h"

#define PORTS_MAX	32
#define ARGS_MAX	64
#define WIRES_MAX	3
/* About 1 ms each: a client may have stopped, so it does not have as long as it likes. */
#define FLUSH_TURNS	2000
#define OUT_MAX		(64 << 20)

/* Bytes on their way in one direction. */
struct pipe {
	size_t len;
	size_t sent;
	size_t size;
	uint8_t *buf;
};

struct port {
	int listener;
	int client;		/* -1: nobody */
	int line;		/* our end of the kernel's */
	int ready;		/* the agent is there */
	int hung_up;		/* it is to be told of the client's end */
	int writable;		/* the line takes something */
	size_t got;		/* bytes of the client's frame that came */
	struct pipe in;		/* to the kernel: whole frames only */
	struct pipe out;	/* to the client */
};

static struct port ports[PORTS_MAX];
static int n_ports;

static struct {
	int fd;
	const char *mac;
} wires[WIRES_MAX];
static int n_wires;

static int calendar = -1;
static int asked;		/* it has been, for leave to write to the kernel's lines */
static int flushing;		/* turns left until the calendar waits for clients no more */

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

static int unix_socket(int type, struct sockaddr_un *sa, const char *path)
{
	int fd = socket(AF_UNIX, type | SOCK_CLOEXEC, 0);

	memset(sa, 0, sizeof(*sa));
	sa->sun_family = AF_UNIX;
	snprintf(sa->sun_path, sizeof(sa->sun_path), "%s", path);
	if (fd < 0)
		fail("socket");
	return fd;
}

static int connect_wire(const char *path)
{
	struct sockaddr_un sa;
	int fd = unix_socket(SOCK_SEQPACKET, &sa, path);
	int size = 1 << 20;

	setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof(size));
	if (connect(fd, (struct sockaddr *)&sa, sizeof(sa)))
		fail(path);
	fcntl(fd, F_SETFD, 0);
	return fd;
}

static void init_pipe(struct pipe *p)
{
	p->size = FRAME_HEAD + FRAME_MAX;
	p->buf = malloc(p->size);
	if (!p->buf)
		fail("memory");
}

/* Returns the kernel's end of its line. */
static int open_port(struct port *p, const char *node, int i)
{
	struct sockaddr_un sa;
	char path[100];
	int pair[2];

	snprintf(path, sizeof(path), "%s.%d", node, i);
	p->listener = unix_socket(SOCK_STREAM | SOCK_NONBLOCK, &sa, path);
	unlink(path);
	if (bind(p->listener, (struct sockaddr *)&sa, sizeof(sa)) ||
	    listen(p->listener, 8))
		fail(path);
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair))
		fail("socketpair");
	/*
	 * The kernel inherits our end, too, or it would see the line end and
	 * complain (free_irqs() of its drivers) before it dies with us.
	 */
	fcntl(pair[0], F_SETFL, O_NONBLOCK);
	p->client = -1;
	p->line = pair[0];
	init_pipe(&p->in);
	init_pipe(&p->out);
	return pair[1];
}

static void connect_wires(void)
{
	char *all = getenv("UM_WIRES"), *wire, *comma;

	for (wire = strtok(all, " "); wire && n_wires < WIRES_MAX; wire = strtok(NULL, " ")) {
		comma = strchr(wire, ',');
		if (!comma)
			break;
		*comma = '\0';
		wires[n_wires].fd = connect_wire(wire);
		wires[n_wires++].mac = comma + 1;
	}
}

static void run_kernel(char **argv, const int *lines)
{
	char *args[ARGS_MAX + PORTS_MAX + WIRES_MAX + 1];
	char text[PORTS_MAX + WIRES_MAX][80];
	int n = 0, i, w;

	while (argv[n] && n < ARGS_MAX) {
		args[n] = argv[n];
		n++;
	}
	for (i = 0; i < n_ports; i++) {
		snprintf(text[i], sizeof(text[i]), "ssl%d=fd:%d", i, lines[i]);
		args[n++] = text[i];
	}
	for (w = 0; w < n_wires; w++, i++) {
		snprintf(text[i], sizeof(text[i]),
			 "vec%d:transport=fd,fd=%d,depth=64,mac=%s",
			 w, wires[w].fd, wires[w].mac);
		args[n++] = text[i];
	}
	args[n] = NULL;
	/* A group of its own, which its own children are in. */
	setpgid(0, 0);
	/* Where the host puts things is nothing that should differ between runs. */
	if (calendar >= 0)
		personality(ADDR_NO_RANDOMIZE);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	execv(args[0], args);
	fail(args[0]);
}

/* Returns 0 at the end; -1 for nothing now. */
static ssize_t fill(int fd, struct pipe *to, size_t len)
{
	ssize_t n = read(fd, to->buf + to->len, len);

	if (n < 0)
		return errno == EAGAIN || errno == EINTR ? -1 : 0;
	to->len += n;
	return n;
}

/*
 * A node with a virtual clock stands still while its line takes nothing, so clients may
 * leave much unread.
 */
static void make_room(struct pipe *p)
{
	if (p->size - p->len >= FRAME_MAX / 2)
		return;
	memmove(p->buf, p->buf + p->sent, p->len - p->sent);
	p->len -= p->sent;
	p->sent = 0;
	if (p->size - p->len >= FRAME_MAX / 2)
		return;
	p->size *= 2;
	p->buf = realloc(p->buf, p->size);
	if (!p->buf)
		fail("memory");
}

static void flush(int fd, struct pipe *from)
{
	ssize_t n = write(fd, from->buf + from->sent, from->len - from->sent);

	if (n > 0)
		from->sent += n;
	if (from->sent == from->len) {
		from->len = 0;
		from->sent = 0;
	}
}

/* What came of a frame whose rest will not come is dropped. */
static void client_gone(struct port *p)
{
	close(p->client);
	p->client = -1;
	p->got = 0;
	p->hung_up = 1;
	p->out.len = 0;
	p->out.sent = 0;
}

/* One frame at a time: its head, its payload, and then the kernel gets it. */
static void from_client(struct port *p)
{
	struct frame *f = (struct frame *)p->in.buf;
	size_t want = FRAME_HEAD;
	ssize_t n;

	if (p->got >= FRAME_HEAD)
		want += f->len;
	n = read(p->client, p->in.buf + p->got, want - p->got);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		client_gone(p);
		return;
	}
	p->got += n;
	if (p->got < FRAME_HEAD)
		return;
	if (f->magic != FRAME_MAGIC || f->len > FRAME_MAX) {
		client_gone(p);
		return;
	}
	if (p->got == FRAME_HEAD + (size_t)f->len) {
		p->in.len = p->got;
		p->got = 0;
	}
}

static void from_kernel(struct port *p)
{
	make_room(&p->out);
	if (fill(p->line, &p->out, p->out.size - p->out.len) == 0)
		exit(1);
	/* Its first word is FRAME_READY; later, nobody is there to be told. */
	if (p->client < 0)
		p->out.len = 0;
	p->ready = 1;
}

static void tell_agent(struct port *p)
{
	struct frame *f = (struct frame *)p->in.buf;

	f->magic = FRAME_MAGIC;
	f->type = FRAME_HANGUP;
	f->len = 0;
	p->in.len = FRAME_HEAD;
	p->hung_up = 0;
}

/* A client comes in when the one before has been seen off. */
static void serve_client(struct port *p, short revents)
{
	if (p->client < 0) {
		if (revents && p->ready && !p->hung_up)
			p->client = accept4(p->listener, NULL, NULL,
					    SOCK_CLOEXEC | SOCK_NONBLOCK);
		return;
	}
	if (revents & POLLOUT && p->out.len)
		flush(p->client, &p->out);
	if (revents & (POLLIN | POLLHUP | POLLERR) && !p->in.len)
		from_client(p);
}

static void serve_line(struct port *p, short revents)
{
	p->writable = !!(revents & POLLOUT);
	if (p->writable && p->in.len && calendar < 0)
		flush(p->line, &p->in);
	if (revents & (POLLIN | POLLHUP) && p->out.len < OUT_MAX)
		from_kernel(p);
	if (p->hung_up && !p->in.len)
		tell_agent(p);
}

/* Returns whether there is something for the kernel, which takes it. */
static int has_input(void)
{
	int i;

	for (i = 0; i < n_ports; i++)
		if (ports[i].in.len && ports[i].writable)
			return 1;
	return 0;
}

/* Everything that is there for its lines; what does not fit is asked for again. */
static void write_lines(void)
{
	int i;

	for (i = 0; i < n_ports; i++)
		if (ports[i].in.len)
			flush(ports[i].line, &ports[i].in);
}

static void say(char word)
{
	if (send(calendar, &word, 1, MSG_NOSIGNAL) != 1)
		exit(1);
}

static void obey_calendar(void)
{
	char word;

	if (read(calendar, &word, 1) != 1)
		exit(1);
	if (word == LINES_GO) {
		write_lines();
		asked = 0;
		say(LINES_DONE);
	}
	if (word == LINES_FLUSH)
		flushing = FLUSH_TURNS;
}

/* Returns whether something that the kernel has said is still on its way. */
static int has_output(void)
{
	int i, n;

	for (i = 0; i < n_ports; i++) {
		if (!ioctl(ports[i].line, FIONREAD, &n) && n)
			return 1;
		if (ports[i].client >= 0 &&
		    (ports[i].out.len || (!ioctl(ports[i].client, SIOCOUTQ, &n) && n)))
			return 1;
	}
	return 0;
}

static void tell_calendar(void)
{
	if (!asked && has_input()) {
		asked = 1;
		say(LINES_INPUT);
	}
	if (flushing && (!has_output() || !--flushing)) {
		flushing = 0;
		say(LINES_FLUSHED);
	}
}

static void join_calendar(const char *path, const char *node)
{
	struct sockaddr_un sa;
	char number = atoi(node + strcspn(node, "123456789"));

	calendar = unix_socket(SOCK_SEQPACKET, &sa, path);
	if (connect(calendar, (struct sockaddr *)&sa, sizeof(sa)) ||
	    write(calendar, &number, 1) != 1)
		fail(path);
}

static void serve(void)
{
	struct pollfd fds[2 * PORTS_MAX + 1];
	int i;

	for (i = 0; i < n_ports; i++) {
		struct port *p = &ports[i];
		struct pollfd *q = fds + 2 * i;

		q[0].fd = p->client < 0 ? p->listener : p->client;
		if (!p->ready)
			q[0].fd = -1;
		q[0].events = p->in.len ? 0 : POLLIN;
		if (p->client >= 0 && p->out.len)
			q[0].events |= POLLOUT;
		/* A client that has hung up is always ready; it waits. */
		if (!q[0].events)
			q[0].fd = -1;
		q[1].fd = p->line;
		q[1].events = p->out.len < OUT_MAX ? POLLIN : 0;
		if (p->in.len && !asked)
			q[1].events |= POLLOUT;
	}
	fds[2 * i].fd = calendar;
	fds[2 * i].events = POLLIN;
	if (poll(fds, 2 * n_ports + 1, flushing ? 1 : -1) < 0)
		return;
	if (fds[2 * n_ports].revents)
		obey_calendar();
	for (i = 0; i < n_ports; i++) {
		serve_client(&ports[i], fds[2 * i].revents);
		serve_line(&ports[i], fds[2 * i + 1].revents);
	}
}

static void on_child(int sig)
{
	(void)sig;
	_exit(0);
}

int main(int argc, char **argv)
{
	int lines[PORTS_MAX], i;
	pid_t pid;

	if (argc >= 5)
		n_ports = atoi(argv[3]);
	if (n_ports < 1 || n_ports > PORTS_MAX || chdir(argv[1])) {
		fprintf(stderr, "usage: um DIR NODE PORTS KERNEL ARGS...\n");
		return 1;
	}
	signal(SIGPIPE, SIG_IGN);
	for (i = 0; i < n_ports; i++)
		lines[i] = open_port(&ports[i], argv[2], i);
	if (getenv("UM_WIRES"))
		connect_wires();
	if (getenv("UM_CALENDAR"))
		join_calendar(getenv("UM_CALENDAR"), argv[2]);
	pid = fork();
	if (pid < 0)
		fail("fork");
	if (!pid)
		run_kernel(argv + 4, lines);
	signal(SIGCHLD, on_child);
	for (i = 0; i < n_wires; i++)
		close(wires[i].fd);
	for (i = 0; i < n_ports; i++)
		close(lines[i]);
	/* It may have ended before we listened. */
	if (waitpid(pid, NULL, WNOHANG) == pid)
		return 1;
	for (;;) {
		serve();
		if (calendar >= 0)
			tell_calendar();
	}
}
