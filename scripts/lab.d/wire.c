// SPDX-License-Identifier: GPL-2.0
/*
 * wire SOCKET1 SOCKET2 OWNER CMD ARGS...: the cable between a lab's two nodes.
 *
 * Each node's qemu connects to its own end (-netdev stream) and may come and
 * go: the other node keeps its carrier, as with a real switch, when one loses
 * power.  Frames are length-prefixed (32 bits, big endian).
 * SIGUSR1 cuts the cable (every frame is lost), SIGUSR2 mends it.
 *
 * When the process OWNER ends (0: nobody owns the lab) CMD is run instead of
 * us: it switches the lab off, whatever became of who started it.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define BUF_SIZE	(512 * 1024)
#define STALL_MS	2000

struct end {
	int listener;
	int fd;			/* -1: no node here */
	size_t len;		/* bytes in buf, which came from this node */
	size_t whole;		/* of them, in complete frames */
	size_t sent;		/* of those, already passed to the other end */
	long moved;		/* when last something was, in ms */
	uint8_t buf[BUF_SIZE];
};

static struct end ends[2];
static int owner_fd = -1;
static volatile sig_atomic_t cut;

static void on_signal(int sig)
{
	cut = sig == SIGUSR1;
}

static long now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

static int listen_on(const char *path)
{
	struct sockaddr_un sa = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	snprintf(sa.sun_path, sizeof(sa.sun_path), "%s", path);
	unlink(path);
	if (bind(fd, (struct sockaddr *)&sa, sizeof(sa)) || listen(fd, 1)) {
		perror(path);
		return -1;
	}
	return fd;
}

/* Forget what is not on its way yet; a frame half sent must be finished. */
static void drop_pending(struct end *e)
{
	size_t pos = 0;

	while (pos < e->sent) {
		uint32_t flen;

		memcpy(&flen, e->buf + pos, 4);
		pos += 4 + ntohl(flen);
	}
	memmove(e->buf + pos, e->buf + e->whole, e->len - e->whole);
	e->len -= e->whole - pos;
	e->whole = pos;
	e->moved = now_ms();
}

static void hang_up(struct end *e, struct end *other)
{
	close(e->fd);
	e->fd = -1;
	/* A frame half received never gets its rest. */
	e->len = e->whole;
	/* What the other end half sent to here starts anew for the next node. */
	other->len -= other->whole;
	memmove(other->buf, other->buf + other->whole, other->len);
	other->whole = 0;
	other->sent = 0;
}

static void find_whole(struct end *e)
{
	while (e->len - e->whole >= 4) {
		uint32_t flen;

		memcpy(&flen, e->buf + e->whole, 4);
		flen = ntohl(flen);
		if (e->len - e->whole - 4 < flen)
			break;
		e->whole += 4 + flen;
	}
}

static int receive(struct end *e)
{
	ssize_t n = read(e->fd, e->buf + e->len, BUF_SIZE - e->len);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (n <= 0)
		return -1;
	if (e->sent == e->whole)
		e->moved = now_ms();
	e->len += n;
	find_whole(e);
	return 0;
}

/* A peer that is gone, or takes nothing for long, loses frames. */
static void pass_on(struct end *e, struct end *to)
{
	if (cut || to->fd < 0 || now_ms() - e->moved > STALL_MS)
		drop_pending(e);
	if (to->fd >= 0 && e->sent < e->whole) {
		ssize_t n = write(to->fd, e->buf + e->sent,
				  e->whole - e->sent);

		if (n > 0) {
			e->sent += n;
			e->moved = now_ms();
		}
	}
	if (e->sent < e->whole)
		return;
	memmove(e->buf, e->buf + e->whole, e->len - e->whole);
	e->len -= e->whole;
	e->whole = 0;
	e->sent = 0;
}

/* Returns 0 when the owner has gone. */
static int poll_once(void)
{
	struct pollfd p[3] = { [2] = { .fd = owner_fd, .events = POLLIN } };
	int i;

	for (i = 0; i < 2; i++) {
		struct end *e = &ends[i], *other = &ends[!i];

		p[i].fd = e->fd < 0 ? e->listener : e->fd;
		p[i].events = e->fd < 0 || e->len < BUF_SIZE ? POLLIN : 0;
		if (e->fd >= 0 && other->sent < other->whole)
			p[i].events |= POLLOUT;
	}
	if (poll(p, 3, ends[0].whole || ends[1].whole ? STALL_MS : -1) < 0)
		return 1;
	if (p[2].revents)
		return 0;
	for (i = 0; i < 2; i++) {
		struct end *e = &ends[i], *other = &ends[!i];

		if (e->fd < 0) {
			if (p[i].revents & POLLIN)
				e->fd = accept4(e->listener, NULL, NULL,
						SOCK_NONBLOCK | SOCK_CLOEXEC);
		} else if (p[i].revents & (POLLIN | POLLHUP | POLLERR)) {
			if (e->len < BUF_SIZE && receive(e))
				hang_up(e, other);
		}
	}
	for (i = 0; i < 2; i++)
		pass_on(&ends[i], &ends[!i]);
	return 1;
}

int main(int argc, char **argv)
{
	int i;

	if (argc < 5) {
		fprintf(stderr,
			"usage: wire SOCKET1 SOCKET2 OWNER CMD ARGS...\n");
		return 1;
	}
	if (atoi(argv[3]))
		owner_fd = syscall(SYS_pidfd_open, atoi(argv[3]), 0);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGUSR1, on_signal);
	signal(SIGUSR2, on_signal);
	for (i = 0; i < 2; i++) {
		ends[i].fd = -1;
		ends[i].listener = listen_on(argv[1 + i]);
		if (ends[i].listener < 0)
			return 1;
	}
	while (poll_once())
		;
	execvp(argv[4], argv + 4);
	return 1;
}
