// SPDX-License-Identifier: GPL-2.0
/*
 * client PORT-PREFIX [-p] CMD ARGS...: run a command in a node of the lab.
 *
 * PORT-PREFIX.0 .. PORT-PREFIX.N are the unix sockets of the node's ports.
 * One that no other client holds is taken; a lock that dies with us says so.
 * -p runs the command on a terminal.  The exit status is the command's; 255
 * says that the node could not be reached or went away.
 *
 * Where nodes have a virtual clock it stands still until we say that the command counts:
 * nobody has to give it input any more, as its standard input is at its end, or a
 * terminal's, or has had nothing for PATIENCE_MS.  $LAB_STARTED is the descriptor for a line
 * when the command runs; it counts, then, when we get SIGURG.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <termios.h>
#include <time.h>
#include "frame.h"

#define LOST		255
#define PATIENCE_MS	300

static struct termios saved_termios;
static int raw;
static volatile sig_atomic_t interrupted;
static volatile sig_atomic_t awaited;
static int started = -1;	/* $LAB_STARTED */
static int counts;		/* said already */

static void restore_terminal(void)
{
	if (raw)
		tcsetattr(0, TCSADRAIN, &saved_termios);
}

static void make_raw(void)
{
	struct termios t;

	if (tcgetattr(0, &saved_termios))
		return;
	t = saved_termios;
	cfmakeraw(&t);
	tcsetattr(0, TCSADRAIN, &t);
	raw = 1;
	atexit(restore_terminal);
}

static void on_signal(int sig)
{
	if (sig == SIGURG)
		awaited = 1;
	else
		interrupted = sig;
}

/* They come only while we wait for something. */
static void catch_signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGURG);
	sigprocmask(SIG_BLOCK, &set, NULL);
	signal(SIGINT, on_signal);
	signal(SIGTERM, on_signal);
}

/* Tells the agent that the command lets time pass. */
static void let_time_pass(int fd)
{
	if (!counts)
		frame_send(fd, FRAME_COUNTS, "", 0);
	counts = 1;
}

static int connect_to(const char *path)
{
	struct sockaddr_un sa = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	snprintf(sa.sun_path, sizeof(sa.sun_path), "%s", path);
	if (connect(fd, (struct sockaddr *)&sa, sizeof(sa))) {
		close(fd);
		return -1;
	}
	return fd;
}

/* The lock file stays open until we exit. */
static int take_port(const char *prefix)
{
	char path[100];
	int i, fd, lock;

	for (i = 0;; i++) {
		snprintf(path, sizeof(path), "%s.%d", prefix, i);
		if (access(path, F_OK)) {
			fprintf(stderr, i ? "lab: all ports are busy\n" :
					    "lab: node is not up\n");
			return -1;
		}
		snprintf(path, sizeof(path), "%s.%d.lock", prefix, i);
		lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
		if (lock < 0 || flock(lock, LOCK_EX | LOCK_NB)) {
			close(lock);
			continue;
		}
		snprintf(path, sizeof(path), "%s.%d", prefix, i);
		fd = connect_to(path);
		if (fd < 0)
			fprintf(stderr, "lab: node is not up\n");
		return fd;
	}
}

/* Skip what an earlier session left behind, up to our own cookie. */
static int hello(int fd)
{
	uint8_t want[FRAME_HEAD + COOKIE_LEN] = {
		FRAME_MAGIC, FRAME_HELLO, COOKIE_LEN & 0xff, COOKIE_LEN >> 8
	};
	uint8_t got[sizeof(want)];

	if (getrandom(want + FRAME_HEAD, COOKIE_LEN, 0) != COOKIE_LEN ||
	    frame_send(fd, FRAME_HELLO, want + FRAME_HEAD, COOKIE_LEN) ||
	    read_all(fd, got, sizeof(got)))
		return -1;
	while (memcmp(got, want, sizeof(want))) {
		memmove(got, got + 1, sizeof(got) - 1);
		if (read_all(fd, got + sizeof(got) - 1, 1))
			return -1;
	}
	return 0;
}

static int send_run(int fd, int pty, int flags, char **argv)
{
	struct run_head head = { .pty = pty, .rows = 24, .cols = 80, .flags = flags };
	uint8_t buf[FRAME_MAX];
	size_t pos = sizeof(head);
	struct winsize ws;

	if (pty && !ioctl(0, TIOCGWINSZ, &ws)) {
		head.rows = ws.ws_row;
		head.cols = ws.ws_col;
	}
	memcpy(buf, &head, sizeof(head));
	for (; *argv; argv++) {
		size_t len = strlen(*argv) + 1;

		if (pos + len > sizeof(buf)) {
			fprintf(stderr, "lab: command too long\n");
			return -1;
		}
		memcpy(buf + pos, *argv, len);
		pos += len;
	}
	return frame_send(fd, FRAME_RUN, buf, pos);
}

/* Returns 0 when our standard input has ended. */
static int pass_stdin(int fd)
{
	uint8_t buf[4096];
	ssize_t n = read(0, buf, sizeof(buf));

	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return 1;
	if (n < 0)
		n = 0;
	frame_send(fd, FRAME_STDIN, buf, n);
	if (!n && started < 0)
		let_time_pass(fd);
	return n > 0;
}

/* What is known of our standard input when the command begins. */
static int first_flags(void)
{
	struct stat st;

	if (isatty(0))
		return RUN_COUNTS;
	if (fstat(0, &st) || (S_ISCHR(st.st_mode) && st.st_rdev == makedev(1, 3)))
		return RUN_COUNTS | RUN_NO_INPUT;
	return 0;
}

static void pass_signals(int fd)
{
	uint8_t sig = interrupted;

	interrupted = 0;
	if (sig)
		frame_send(fd, FRAME_SIGNAL, &sig, 1);
	if (awaited)
		let_time_pass(fd);
}

/* Returns -1, or the exit status. */
static int obey(const struct frame *f)
{
	if (f->type == FRAME_STDOUT && write_all(1, f->data, f->len))
		return LOST;
	if (f->type == FRAME_STDERR && write_all(2, f->data, f->len))
		return LOST;
	if (f->type == FRAME_STARTED && started >= 0 && write(started, "\n", 1) < 0)
		return LOST;
	return f->type == FRAME_EXIT ? f->data[0] : -1;
}

/*
 * Likewise.  A frame is taken from the socket when it has been obeyed, so that um.c can tell
 * whether that is so; one that is not there as a whole is taken first.
 */
static int from_node(int fd)
{
	struct frame f, again;
	ssize_t n = recv(fd, &f, sizeof(f), MSG_PEEK | MSG_DONTWAIT);
	int status = -1;

	if (n >= FRAME_HEAD && n >= FRAME_HEAD + f.len) {
		status = obey(&f);
		n = frame_recv(fd, &again);
	} else {
		n = frame_recv(fd, &f);
		if (!n)
			status = obey(&f);
	}
	if (n) {
		fprintf(stderr, "lab: node went away\n");
		return LOST;
	}
	return status;
}

static int relay(int fd, int input)
{
	struct pollfd p[] = {
		{ .fd = fd, .events = POLLIN },
		{ .fd = input, .events = POLLIN },
	};
	struct timespec patience = { .tv_nsec = PATIENCE_MS * 1000000 };
	sigset_t none;
	int n, status;

	sigemptyset(&none);
	for (;;) {
		pass_signals(fd);
		n = ppoll(p, 2, counts || started >= 0 ? NULL : &patience, &none);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return LOST;
		if (!n)
			let_time_pass(fd);
		if (n && p[1].revents && !pass_stdin(fd))
			p[1].fd = -1;
		if (!n || !p[0].revents)
			continue;
		status = from_node(fd);
		if (status >= 0)
			return status;
	}
}

int main(int argc, char **argv)
{
	int pty = argc > 2 && !strcmp(argv[2], "-p");
	int fd, flags;

	if (argc < 3 + pty) {
		fprintf(stderr, "usage: client PORT-PREFIX [-p] CMD ARGS...\n");
		return LOST;
	}
	fd = take_port(argv[1]);
	if (fd < 0)
		return LOST;
	signal(SIGPIPE, SIG_IGN);
	signal(SIGURG, on_signal);
	flags = first_flags();
	if (getenv("LAB_STARTED")) {
		started = atoi(getenv("LAB_STARTED"));
		flags &= ~RUN_COUNTS;
	}
	counts = flags & RUN_COUNTS;
	if (hello(fd) || send_run(fd, pty, flags, argv + 2 + pty)) {
		fprintf(stderr, "lab: node went away\n");
		return LOST;
	}
	if (pty)
		make_raw();
	catch_signals();
	return relay(fd, flags & RUN_NO_INPUT ? -1 : 0);
}
