// SPDX-License-Identifier: GPL-2.0
/*
 * wire DIR OWNER CMD ARGS...: the cable between a lab's two nodes, or the switch that
 * joins up to four.
 * wire tell DIR WORDS...: say to one what it shall do.
 *
 * Each node's end is a pair of sockets in DIR: wireN for qemu (-netdev stream,
 * frames with a 32-bit big-endian length in front) and wireN.packet for User Mode
 * Linux (SOCK_SEQPACKET, a frame a packet).  Nodes may come and go: the others
 * keep their carrier, as with a real switch, when one loses power.
 *
 * What a cable does with frames, and what it can be told, is in cable.h.  Two nodes lose no
 * frame, as one waits until the other takes some.  With more, a node that does not take
 * its frames must not keep the others from theirs, so they are lost.
 *
 * When the process OWNER ends (0: nobody owns the lab) CMD is run instead of
 * us: it switches the lab off, whatever became of who started it.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include "cable.h"

#define STALL		(2000 * MS)

static struct cable cable;
static struct end *const ends = cable.ends;
static int owner_fd = -1;

static long long now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000 * MS + ts.tv_nsec;
}

/* Takes whole frames out of the stream of @e. */
static void unpack(struct end *e)
{
	size_t pos = 0;
	uint32_t len;

	while (e->len - pos >= 4) {
		memcpy(&len, e->buf + pos, 4);
		len = ntohl(len);
		if (len > FRAME_MAX) {
			hang_up(e);
			return;
		}
		if (e->len - pos - 4 < len)
			break;
		forward(&cable, e, e->buf + pos + 4, len, now());
		pos += 4 + len;
	}
	memmove(e->buf, e->buf + pos, e->len - pos);
	e->len -= pos;
}

static void receive(struct end *e)
{
	ssize_t n = read(e->fd, e->buf + e->len, sizeof(e->buf) - e->len);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		hang_up(e);
	} else if (e->packets) {
		forward(&cable, e, e->buf, n, now());
	} else {
		e->len += n;
		unpack(e);
	}
}

/* Returns 0 when @e takes no more now. */
static int pass_on(struct end *e)
{
	struct frame *f = e->queue;
	ssize_t n;

	if (e->packets)
		n = send(e->fd, f->data + 4, f->len, MSG_DONTWAIT);
	else
		n = write(e->fd, f->data + f->sent, 4 + f->len - f->sent);
	if (n <= 0)
		return 0;
	e->moved = now();
	f->sent += n;
	if (e->packets || f->sent == 4 + f->len)
		dequeue(e);
	return 1;
}

/* A peer that takes nothing for long loses frames. */
static void deliver(struct end *e)
{
	while (e->fd >= 0 && e->queue && e->queue->due <= now())
		if (!pass_on(e))
			break;
	if (e->queue && e->queue->due <= now() && now() - e->moved <= STALL)
		return;
	if (e->queue && e->queue->due <= now())
		drop_queue(e);
	e->moved = now();
}

static void take(struct end *e)
{
	int fd = accept4(e->stream, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
	int packets = fd < 0;

	if (packets)
		fd = accept4(e->packet, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
	if (fd < 0)
		return;
	e->fd = fd;
	e->packets = packets;
}

/* How many ms poll() may sleep: until the next frame is due. */
static int patience(void)
{
	long long wait = -1, due;
	int i;

	for (i = 0; i < ENDS; i++) {
		if (!ends[i].queue)
			continue;
		due = ends[i].queue->due - now();
		if (due <= 0)
			due = STALL;
		if (wait < 0 || due < wait)
			wait = due;
	}
	return wait < 0 ? -1 : (wait + MS - 1) / MS;
}

/* Two nodes: the one that @e may not outrun, or NULL. */
static const struct end *partner(const struct end *e)
{
	const struct end *one = NULL;
	int i;

	for (i = 0; i < ENDS; i++) {
		if (&ends[i] == e || ends[i].fd < 0)
			continue;
		if (one)
			return NULL;
		one = &ends[i];
	}
	return one;
}

static short wants(const struct end *e)
{
	const struct end *to = partner(e);
	short events = !to || to->queued < QUEUE_MAX ? POLLIN : 0;

	if (e->queue && e->queue->due <= now())
		events |= POLLOUT;
	return events;
}

/* Returns 0 when the owner has gone. */
static int poll_once(void)
{
	struct pollfd p[2 + 2 * ENDS] = {
		{ .fd = owner_fd, .events = POLLIN },
		{ .fd = cable.ctl, .events = POLLIN },
	};
	int i;

	for (i = 0; i < ENDS; i++) {
		struct end *e = &ends[i];
		struct pollfd *q = p + 2 + 2 * i;

		q[0].fd = e->fd < 0 ? e->stream : e->fd;
		q[0].events = e->fd < 0 ? POLLIN : wants(e);
		q[1].fd = e->fd < 0 ? e->packet : -1;
		q[1].events = POLLIN;
	}
	if (poll(p, 2 + 2 * ENDS, patience()) < 0)
		return 1;
	if (p[0].revents)
		return 0;
	if (p[1].revents)
		command(&cable);
	for (i = 0; i < ENDS; i++) {
		struct end *e = &ends[i];
		struct pollfd *q = p + 2 + 2 * i;

		if (e->fd < 0 && (q[0].revents || q[1].revents))
			take(e);
		else if (e->fd >= 0 && q[0].revents & (POLLIN | POLLHUP | POLLERR))
			receive(e);
	}
	for (i = 0; i < ENDS; i++)
		deliver(&ends[i]);
	return 1;
}

/* Returns the exit status. */
static int tell(int argc, char **argv)
{
	struct sockaddr_un sa = { .sun_family = AF_UNIX, .sun_path = "wire.ctl" };
	struct timeval patience = { .tv_sec = 60 };
	sa_family_t unnamed = AF_UNIX;
	char line[100] = "", answer[100];
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	ssize_t n;
	int i;

	if (chdir(argv[0])) {
		perror(argv[0]);
		return 1;
	}
	for (i = 1; i < argc; i++) {
		strncat(line, argv[i], sizeof(line) - strlen(line) - 2);
		strcat(line, " ");
	}
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	/* An address of the kernel's choice, to be answered at. */
	if (bind(fd, (struct sockaddr *)&unnamed, sizeof(unnamed)) ||
	    sendto(fd, line, strlen(line), 0, (struct sockaddr *)&sa, sizeof(sa)) < 0) {
		perror("wire.ctl");
		return 1;
	}
	n = recv(fd, answer, sizeof(answer) - 1, 0);
	answer[n < 0 ? 0 : n] = '\0';
	if (!strcmp(answer, "ok"))
		return 0;
	fprintf(stderr, "wire: %s\n", n < 0 ? strerror(errno) : answer);
	return 1;
}

int main(int argc, char **argv)
{
	int i;

	if (argc > 3 && !strcmp(argv[1], "tell"))
		return tell(argc - 2, argv + 2);
	if (argc < 4 || chdir(argv[1])) {
		fprintf(stderr, "usage: wire DIR OWNER CMD ARGS...\n"
				"       wire tell DIR WORDS...\n");
		return 1;
	}
	if (atoi(argv[2]))
		owner_fd = syscall(SYS_pidfd_open, atoi(argv[2]), 0);
	signal(SIGPIPE, SIG_IGN);
	for (i = 0; i < ENDS; i++) {
		ends[i].fd = -1;
		ends[i].stream = bind_at(SOCK_STREAM, "wire%d", i + 1);
		ends[i].packet = bind_at(SOCK_SEQPACKET, "wire%d.packet", i + 1);
	}
	cable.ctl = bind_at(SOCK_DGRAM, "wire.ctl", 0);
	while (poll_once())
		;
	execvp(argv[3], argv + 3);
	return 1;
}
