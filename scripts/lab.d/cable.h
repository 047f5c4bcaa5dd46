/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A cable between a lab's nodes, or the switch that joins up to four, as wire.c and
 * calendar.c have them: what is on its way to whom, and how good the cable is.
 *
 * A frame for one node goes to that node, by the last byte of its address; any other
 * goes to all.
 *
 * What a cable can be told (by datagrams to wire.ctl in its folder, each answered with
 * "ok" or an error): cut (every frame is lost), mend (back to a good cable), delay MS
 * [JITTER-MS] (each frame comes so much later; with jitter, frames overtake one
 * another), drop PERCENT, reorder PERCENT (so many frames wait for REORDER_MS
 * while later ones pass), settle (nothing: the answer comes when nothing goes on that the
 * host could see, calendar.c).
 */
#ifndef LAB_CABLE_H
#define LAB_CABLE_H

#include <arpa/inet.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define FRAME_MAX	(70 * 1024)	/* the largest a guest may send, with TSO */
#define QUEUE_MAX	(1024 * 1024)	/* bytes under way to one end */
#define MS		1000000LL	/* all times are in ns */
#define REORDER		(5 * MS)
#define ENDS		4

struct frame {
	struct frame *next;
	long long due;
	size_t len;
	size_t sent;		/* bytes of it written, the length included */
	uint8_t data[];		/* the length, big-endian, then the frame */
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
	long long moved;	/* when last a frame left, or the queue was empty */
};

struct cable {
	struct end ends[ENDS];
	int ctl;
	int cut;
	long long latency, delay, jitter;
	int drop_percent, reorder_percent;
};

static int bind_at(int type, const char *format, int n)
{
	struct sockaddr_un sa = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	snprintf(sa.sun_path, sizeof(sa.sun_path), format, n);
	unlink(sa.sun_path);
	if (bind(fd, (struct sockaddr *)&sa, sizeof(sa)) ||
	    (type != SOCK_DGRAM && listen(fd, ENDS))) {
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
}

static int one_in(int percent)
{
	return percent && rand() % 100 < percent;
}

static long long due_time(const struct cable *c, long long now)
{
	long long due = now + c->latency + c->delay;

	if (c->jitter)
		due += rand() % (c->jitter / MS + 1) * MS;
	if (one_in(c->reorder_percent))
		due += REORDER;
	return due;
}

/* Puts a whole frame on its way to @to: behind what is due no later. */
static void enqueue(struct cable *c, struct end *to, const uint8_t *data, size_t len,
		    long long now)
{
	struct frame **at = &to->queue, *f;
	uint32_t be = htonl(len);

	if (c->cut || to->fd < 0 || to->queued >= 2 * QUEUE_MAX || one_in(c->drop_percent))
		return;
	f = malloc(sizeof(*f) + 4 + len);
	if (!f)
		return;
	f->len = len;
	f->sent = 0;
	f->due = due_time(c, now);
	memcpy(f->data, &be, 4);
	memcpy(f->data + 4, data, len);
	if (!*at)
		to->moved = now;
	while (*at && ((*at)->sent || (*at)->due <= f->due))
		at = &(*at)->next;
	f->next = *at;
	*at = f;
	to->queued += len;
}

/* The end that a frame is for, or NULL for all. */
static struct end *meant(struct cable *c, const uint8_t *frame, size_t len)
{
	/* scripts/lab.d/um.sh and qemu.sh give them to the nodes; then comes the wire. */
	static const uint8_t ours[4] = { 0x52, 0x54, 0, 0x77 };

	if (len < 6 || memcmp(frame, ours, 4) || !frame[5] || frame[5] > ENDS)
		return NULL;
	return &c->ends[frame[5] - 1];
}

static void forward(struct cable *c, const struct end *from, const uint8_t *frame, size_t len,
		    long long now)
{
	struct end *to = meant(c, frame, len);
	int i;

	for (i = 0; i < ENDS; i++)
		if (&c->ends[i] != from && (!to || to == &c->ends[i]))
			enqueue(c, &c->ends[i], frame, len, now);
}

static void hang_up(struct end *e)
{
	close(e->fd);
	e->fd = -1;
	e->len = 0;
	while (e->queue)
		dequeue(e);
}

/* Returns what to answer. */
static const char *obey(struct cable *c, const char *line)
{
	long a = 0, b = 0;
	int i;
	char word[16] = "";
	int n = sscanf(line, "%15s %ld %ld", word, &a, &b);

	if (a < 0 || b < 0 || a > 60000 || b > 60000)
		return "no such value";
	if (n == 1 && !strcmp(word, "cut")) {
		c->cut = 1;
		for (i = 0; i < ENDS; i++)
			drop_queue(&c->ends[i]);
	} else if (n == 1 && !strcmp(word, "mend")) {
		c->cut = 0;
		c->delay = 0;
		c->jitter = 0;
		c->drop_percent = 0;
		c->reorder_percent = 0;
	} else if (n >= 2 && !strcmp(word, "delay")) {
		c->delay = a * MS;
		c->jitter = b * MS;
	} else if (n == 2 && !strcmp(word, "drop")) {
		c->drop_percent = a;
	} else if (n == 2 && !strcmp(word, "reorder")) {
		c->reorder_percent = a;
	} else if (n != 1 || strcmp(word, "settle")) {
		return "no such command";
	}
	return "ok";
}

static void command(struct cable *c)
{
	struct sockaddr_un from;
	socklen_t len = sizeof(from);
	const char *answer;
	char line[100];
	ssize_t n;

	n = recvfrom(c->ctl, line, sizeof(line) - 1, 0, (struct sockaddr *)&from, &len);
	if (n < 0)
		return;
	line[n] = '\0';
	answer = obey(c, line);
	if (len > sizeof(from.sun_family))
		sendto(c->ctl, answer, strlen(answer), 0, (struct sockaddr *)&from, len);
}

#endif
