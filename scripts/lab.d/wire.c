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
 * A frame for one node goes to that node, by the last byte of its address; any other
 * goes to all.  Two nodes lose no frame, as one waits until the other takes some.
 * With more, a node that does not take its frames must not keep the others from
 * theirs, so they are lost.
 *
 * What it can be told (by datagrams to DIR/wire.ctl, each answered with "ok" or
 * an error): cut (every frame is lost), mend (back to a good cable), delay MS
 * [JITTER-MS] (each frame comes so much later; with jitter, frames overtake one
 * another), drop PERCENT, reorder PERCENT (so many frames wait for REORDER_MS
 * while later ones pass).
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

#define FRAME_MAX	(70 * 1024)	/* the largest a guest may send, with TSO */
#define QUEUE_MAX	(1024 * 1024)	/* bytes under way to one end */
#define STALL_MS	2000
#define REORDER_MS	5
#define ENDS		4

struct frame {
	struct frame *next;
	long due;		/* ms */
	size_t len;
	size_t sent;		/* bytes of it written, the length included */
	uint8_t data[];		/* the length, then the frame */
};

struct end {
	int stream;		/* listeners */
	int packet;
	int fd;			/* -1: no node here */
	int packets;		/* fd has a frame a packet */
	size_t len;		/* bytes in buf, which came from this node */
	uint8_t buf[4 + FRAME_MAX];
	struct frame *queue;	/* to this node, by when it is due */
	size_t queued;		/* bytes */
	long moved;		/* when last a frame left, or the queue was empty */
};

static struct end ends[ENDS];
static int owner_fd = -1;
static int ctl = -1;
static int cut;
static long delay_ms, jitter_ms;
static int drop_percent, reorder_percent;

static long now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

static int bind_at(int type, const char *format, int n)
{
	struct sockaddr_un sa = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	snprintf(sa.sun_path, sizeof(sa.sun_path), format, n);
	unlink(sa.sun_path);
	if (bind(fd, (struct sockaddr *)&sa, sizeof(sa)) ||
	    (type != SOCK_DGRAM && listen(fd, 1))) {
		perror(sa.sun_path);
		exit(1);
	}
	return fd;
}

/* Takes the first frame out of the queue of @e. */
static void dequeue(struct end *e)
{
	struct frame *f = e->queue;

	e->queue = f->next;
	e->queued -= f->len;
	free(f);
}

/* Forgets what is on its way to @e; a frame half written must be finished. */
static void drop_queue(struct end *e)
{
	struct frame *first = e->queue && e->queue->sent ? e->queue : NULL;

	if (first)
		e->queue = first->next;
	while (e->queue)
		dequeue(e);
	if (first)
		first->next = NULL;
	e->queue = first;
	e->moved = now_ms();
}

static int one_in(int percent)
{
	return percent && rand() % 100 < percent;
}

static long due_time(void)
{
	long due = now_ms() + delay_ms;

	if (jitter_ms)
		due += rand() % (jitter_ms + 1);
	if (one_in(reorder_percent))
		due += REORDER_MS;
	return due;
}

/* Puts a whole frame on its way to @to: behind what is due no later. */
static void enqueue(struct end *to, const uint8_t *data, size_t len)
{
	struct frame **at = &to->queue, *f;
	uint32_t be = htonl(len);

	if (cut || to->fd < 0 || to->queued >= 2 * QUEUE_MAX || one_in(drop_percent))
		return;
	f = malloc(sizeof(*f) + 4 + len);
	if (!f)
		return;
	f->len = len;
	f->sent = 0;
	f->due = due_time();
	memcpy(f->data, &be, 4);
	memcpy(f->data + 4, data, len);
	if (!*at)
		to->moved = now_ms();
	while (*at && ((*at)->sent || (*at)->due <= f->due))
		at = &(*at)->next;
	f->next = *at;
	*at = f;
	to->queued += len;
}

/* The end that a frame is for, or NULL for all. */
static struct end *meant(const uint8_t *frame, size_t len)
{
	/* scripts/lab.d/um.sh and qemu.sh give them to the nodes; then comes the wire. */
	static const uint8_t ours[4] = { 0x52, 0x54, 0, 0x77 };

	if (len < 6 || memcmp(frame, ours, 4) || !frame[5] || frame[5] > ENDS)
		return NULL;
	return &ends[frame[5] - 1];
}

static void forward(const struct end *from, const uint8_t *frame, size_t len)
{
	struct end *to = meant(frame, len);
	int i;

	for (i = 0; i < ENDS; i++)
		if (&ends[i] != from && (!to || to == &ends[i]))
			enqueue(&ends[i], frame, len);
}

static void hang_up(struct end *e)
{
	close(e->fd);
	e->fd = -1;
	e->len = 0;
	while (e->queue)
		dequeue(e);
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
		forward(e, e->buf + pos + 4, len);
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
		forward(e, e->buf, n);
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
	e->moved = now_ms();
	f->sent += n;
	if (e->packets || f->sent == 4 + f->len)
		dequeue(e);
	return 1;
}

/* A peer that takes nothing for long loses frames. */
static void deliver(struct end *e)
{
	while (e->fd >= 0 && e->queue && e->queue->due <= now_ms())
		if (!pass_on(e))
			break;
	if (!e->queue || e->queue->due > now_ms())
		e->moved = now_ms();
	else if (now_ms() - e->moved > STALL_MS)
		drop_queue(e);
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

/* Returns what to answer. */
static const char *obey(const char *line)
{
	long a = 0, b = 0;
	int i;
	char word[16] = "";
	int n = sscanf(line, "%15s %ld %ld", word, &a, &b);

	if (a < 0 || b < 0 || a > 60000 || b > 60000)
		return "no such value";
	if (n == 1 && !strcmp(word, "cut")) {
		cut = 1;
		for (i = 0; i < ENDS; i++)
			drop_queue(&ends[i]);
	} else if (n == 1 && !strcmp(word, "mend")) {
		cut = 0;
		delay_ms = 0;
		jitter_ms = 0;
		drop_percent = 0;
		reorder_percent = 0;
	} else if (n >= 2 && !strcmp(word, "delay")) {
		delay_ms = a;
		jitter_ms = b;
	} else if (n == 2 && !strcmp(word, "drop")) {
		drop_percent = a;
	} else if (n == 2 && !strcmp(word, "reorder")) {
		reorder_percent = a;
	} else {
		return "no such command";
	}
	return "ok";
}

static void command(void)
{
	struct sockaddr_un from;
	socklen_t len = sizeof(from);
	const char *answer;
	char line[100];
	ssize_t n;

	n = recvfrom(ctl, line, sizeof(line) - 1, 0, (struct sockaddr *)&from, &len);
	if (n < 0)
		return;
	line[n] = '\0';
	answer = obey(line);
	if (len > sizeof(from.sun_family))
		sendto(ctl, answer, strlen(answer), 0, (struct sockaddr *)&from, len);
}

/* How long poll() may sleep: until the next frame is due. */
static int patience(void)
{
	long wait = -1, due;
	int i;

	for (i = 0; i < ENDS; i++) {
		if (!ends[i].queue)
			continue;
		due = ends[i].queue->due - now_ms();
		if (due <= 0)
			due = STALL_MS;
		if (wait < 0 || due < wait)
			wait = due;
	}
	return wait;
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

	if (e->queue && e->queue->due <= now_ms())
		events |= POLLOUT;
	return events;
}

/* Returns 0 when the owner has gone. */
static int poll_once(void)
{
	struct pollfd p[2 + 2 * ENDS] = {
		{ .fd = owner_fd, .events = POLLIN },
		{ .fd = ctl, .events = POLLIN },
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
		command();
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
	struct timeval patience = { .tv_sec = 10 };
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
	ctl = bind_at(SOCK_DGRAM, "wire.ctl", 0);
	while (poll_once())
		;
	execvp(argv[3], argv + 3);
	return 1;
}
