// SPDX-License-Identifier: GPL-2.0
/*
 * calendar DIR OWNER NODES WIRES CMD ARGS...: the cables between a lab's nodes, and the one
 * clock that all of these have.
 *
 * The nodes are User Mode Linux with time-travel=ext:N:calendar
 * (um-virtual-wires.patch).  Their times move only as we say, and one node runs at a time:
 * of those that wait the one that wants to run first, until something could come from
 * another one.  So it takes no time to sleep, no time passes because the host is busy, and
 * what happened once happens again.
 *
 * A frame is on its way for LATENCY, and for what its cable takes longer (cable.h).  So what
 * a node does is of no concern to another one for as long, and an answer takes twice that.
 *
 * Time stands still while all nodes sleep and no command counts (agent.c), since the host
 * then thinks about the next one.  What comes from the host meanwhile, input for a node's
 * lines (um.c) and words for a cable, waits until nothing goes on in any node, or what goes
 * on has had SETTLE.  So it comes at the same time in each run.
 *
 * The sockets in DIR: calendar for the kernels, calendar.lines for um.c, and below it and
 * below wires/W what wire.c has for User Mode Linux.  When OWNER ends CMD is run, as there.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <linux/um_timetravel.h>
#include "cable.h"
#include "lines.h"

#define WIRES		3
#define LATENCY		250000LL
#define SETTLE		(20 * MS)
#define STALL		(2000 * MS)
/* By the host's clock: a node that says nothing for so long may wait for its wires. */
#define QUIET_MS	20
#define NEVER		INT64_MAX
/* Any day that has always been and will always be: 2030. */
#define TIME_OF_DAY	(1893456000LL * 1000 * MS)

/* Also in um-virtual-wires.patch. */
#define COMMAND_BEGINS	100
#define COMMAND_ENDS	101
#define IDLE		0x8000000000000000ULL

enum state {
	ABSENT,
	JOINING,		/* it waits for the answer to its first message */
	WAITING,
	RUNNING,
};

static struct node {
	enum state state;
	int clock;		/* connections of its kernel and its um.c, or -1 */
	int lines;
	int input;		/* um.c has something for it */
	int idle;		/* it waits since all in it sleep */
	int commands;		/* those that let time pass */
	uint32_t start_seq;
	int sends;		/* it has said that it sends something, at sent_at */
	long long sent_at;
	long long time;		/* there; it may have gone on, up to free_until */
	long long request;	/* when it wants to run */
	long long free_until;	/* as it was told last; -1: not since it runs */
} nodes[ENDS];

static struct cable cables[WIRES];
static int n_nodes, n_wires;
static int owner_fd = -1, clock_listener, lines_listener;
static long long present;	/* no node has been later */
static long long hold;		/* while no command counts: not later than this */
static int all_joined;
static int words;		/* a cable has been told something */
static int joins;		/* a kernel begins */

static struct node *running(void)
{
	int i;

	for (i = 0; i < n_nodes; i++)
		if (nodes[i].state == RUNNING)
			return &nodes[i];
	return NULL;
}

static int commands(void)
{
	int i, n = 0;

	for (i = 0; i < n_nodes; i++)
		n += nodes[i].commands;
	return n;
}

static struct end *end_of(struct cable *c, const struct node *n)
{
	return &c->ends[n - nodes];
}

static void it_is(struct node *n, long long time)
{
	if (n->time < time)
		n->time = time;
	if (present < time)
		present = time;
}

static void say(struct node *n, uint32_t op, uint32_t seq, long long time)
{
	struct um_timetravel_msg msg = { .op = op, .seq = seq, .time = time };

	/* If it has gone, we shall hear of it. */
	if (write(n->clock, &msg, sizeof(msg)) != sizeof(msg))
		n->state = ABSENT;
}

/* What @n has sent since it said so has been sent then. */
static void drain(struct node *n)
{
	struct end *e;
	ssize_t len;
	int w;

	if (!n->sends)
		return;
	for (w = 0; w < n_wires; w++) {
		e = end_of(&cables[w], n);
		while (e->fd >= 0 && (len = read(e->fd, e->buf, sizeof(e->buf))) != -1) {
			if (len)
				forward(&cables[w], e, e->buf, len, n->sent_at);
			else
				hang_up(e);
		}
		if (e->fd >= 0 && errno != EAGAIN && errno != EINTR)
			hang_up(e);
	}
}

/* When the next frame for @n is due. */
static long long frame_due(const struct node *n)
{
	long long due = NEVER;
	struct end *e;
	int w;

	for (w = 0; w < n_wires; w++) {
		e = end_of(&cables[w], n);
		if (e->queue && e->queue->due < due)
			due = e->queue->due;
	}
	return due;
}

/* When @n, which waits, will go on. */
static long long turn(const struct node *n)
{
	long long due = frame_due(n), at = n->request < due ? n->request : due;

	return at > n->time ? at : n->time;
}

static struct node *next_node(void)
{
	struct node *first = NULL;
	int i;

	for (i = 0; i < n_nodes; i++)
		if ((nodes[i].state == WAITING || nodes[i].state == JOINING) &&
		    (!first || turn(&nodes[i]) < turn(first)))
			first = &nodes[i];
	return first;
}

/*
 * How far @n may go without asking: until something could come from another node, or what
 * answers to frames that it has sent.
 */
static long long horizon(const struct node *n)
{
	long long until = frame_due(n), at;
	int i;

	for (i = 0; i < n_nodes; i++) {
		if (&nodes[i] == n || nodes[i].state == ABSENT)
			continue;
		at = turn(&nodes[i]);
		if (at < until - LATENCY)
			until = at + LATENCY;
	}
	if (n->sends && n->sent_at + 2 * LATENCY < until)
		until = n->sent_at + 2 * LATENCY;
	return !commands() && hold < until ? hold : until;
}

static void limit(struct node *n, long long until)
{
	if (n->free_until == until)
		return;
	n->free_until = until;
	say(n, UM_TIMETRAVEL_FREE_UNTIL, 0, until);
}

/* A node that takes no frames, as its device is down, loses them in the end. */
static void put_off(struct end *e, long long now)
{
	struct frame *f;

	if (now - e->moved > STALL) {
		drop_queue(e);
		return;
	}
	for (f = e->queue; f && f->due < now + MS; f = f->next)
		f->due = now + MS;
}

static void deliver(struct end *e, long long now)
{
	struct frame *f;

	while ((f = e->queue) && f->due <= now) {
		if (send(e->fd, f->data + 4, f->len, MSG_DONTWAIT) < 0) {
			put_off(e, now);
			return;
		}
		dequeue(e);
		e->moved = now;
	}
	e->moved = now;
}

/* Lets @n run, with what has come for it by then. */
static void run(struct node *n, long long at)
{
	int w;

	for (w = 0; w < n_wires; w++)
		deliver(end_of(&cables[w], n), at);
	it_is(n, at);
	if (n->sent_at < at)
		n->sends = 0;
	if (n->state == JOINING) {
		n->state = RUNNING;
		say(n, UM_TIMETRAVEL_ACK, n->start_seq, at);
		return;
	}
	n->state = RUNNING;
	n->free_until = -1;
	limit(n, horizon(n));
	say(n, UM_TIMETRAVEL_RUN, 0, at);
}

/*
 * Its ends stay: they may be those of its next um.c, which connects while the last of the
 * old kernel is still going away.
 */
static void leave(struct node *n)
{
	int w;

	drain(n);
	for (w = 0; w < n_wires; w++)
		drop_queue(end_of(&cables[w], n));
	n->state = ABSENT;
	n->commands = 0;
	hold = present + SETTLE;
}

/* The kernel is about to be killed, and shall not complain before that. */
static void lose_lines(struct node *n)
{
	close(n->lines);
	n->lines = -1;
	n->input = 0;
	leave(n);
}

/* Returns what um.c says, or -1 if it has gone. */
static int heard(struct node *n)
{
	char word;

	if (read(n->lines, &word, 1) == 1)
		return word;
	lose_lines(n);
	return -1;
}

/* Tells um.c something and waits until it has done that. */
static int ask(struct node *n, char word, char answer)
{
	int got;

	if (n->lines < 0 || send(n->lines, &word, 1, MSG_NOSIGNAL) != 1)
		return -1;
	while ((got = heard(n)) != answer) {
		if (got < 0)
			return -1;
		n->input = 1;
	}
	return 0;
}

/* What the nodes have said is where the host looks for it. */
static void flush_lines(void)
{
	int i;

	for (i = 0; i < n_nodes; i++)
		ask(&nodes[i], LINES_FLUSH, LINES_FLUSHED);
}

/* Returns 0 if there was nothing to let in. */
static int let_in(void)
{
	int i;

	for (i = 0; i < n_nodes; i++) {
		struct node *n = &nodes[i];

		if (!n->input || n->state != WAITING)
			continue;
		n->input = 0;
		if (ask(n, LINES_GO, LINES_DONE))
			return 1;
		hold = present + SETTLE;
		run(n, present < turn(n) ? present : turn(n));
		return 1;
	}
	if (!words)
		return 0;
	words = 0;
	flush_lines();
	for (i = 0; i < n_wires; i++)
		command(&cables[i]);
	return 1;
}

/*
 * A kernel begins, and is a command until its agent is there.  No node runs, or that would
 * be later than it may be beside the new one.
 */
static void take_kernel(void)
{
	int fd = accept(clock_listener, NULL, NULL);
	struct um_timetravel_msg msg;
	struct node *n;

	joins = 0;
	if (fd < 0)
		return;
	if (read(fd, &msg, sizeof(msg)) != sizeof(msg) || msg.op != UM_TIMETRAVEL_START ||
	    msg.time < 1 || msg.time > (unsigned int)n_nodes) {
		close(fd);
		return;
	}
	n = &nodes[msg.time - 1];
	if (n->clock >= 0)
		close(n->clock);
	n->clock = fd;
	n->state = JOINING;
	n->start_seq = msg.seq;
	n->commands = 1;
	n->idle = 0;
	n->time = present;
	n->request = present;
	n->free_until = -1;
	n->sends = 0;
}

/*
 * Lets the host's input in, or else a node run.  While no command counts, input waits until
 * the nodes are still: all sleep, or none would run before hold.
 * Returns 0 when there is nothing to do.
 */
static int step(void)
{
	struct node *n = next_node();
	int held = !commands(), i;
	int still = !n || turn(n) == NEVER || (held && turn(n) >= hold);

	if (held && !still) {
		still = 1;
		for (i = 0; i < n_nodes; i++)
			if (nodes[i].state == JOINING ||
			    (nodes[i].state == WAITING && !nodes[i].idle))
				still = 0;
	}
	if ((!held || still) && let_in())
		return 1;
	if (still)
		return 0;
	run(n, turn(n));
	return 1;
}

static void schedule(void)
{
	int i;

	if (joins && !running())
		take_kernel();
	if (!all_joined)
		for (i = 0; i < n_nodes; i++)
			if (nodes[i].state == ABSENT)
				return;
	all_joined = 1;
	while (!running() && step())
		;
}

/* A node begins to wait. */
static void waits(struct node *n, unsigned long long time)
{
	it_is(n, time & ~IDLE);
	n->idle = !!(time & IDLE);
	n->state = WAITING;
}

static void counts(struct node *n, int by)
{
	n->commands += by;
	if (!commands())
		hold = n->time + SETTLE;
	limit(n, horizon(n));
}

static void about_to_send(struct node *n, long long time)
{
	it_is(n, time);
	n->sends = 1;
	n->sent_at = time;
	limit(n, horizon(n));
}

static void handle(struct node *n, const struct um_timetravel_msg *msg)
{
	long long answer = 0;

	if (msg->op == UM_TIMETRAVEL_REQUEST) {
		n->request = msg->time;
		return;
	}
	drain(n);
	switch (msg->op) {
	case UM_TIMETRAVEL_WAIT:
		waits(n, msg->time);
		return;
	case UM_TIMETRAVEL_GET:
		it_is(n, msg->time);
		answer = n->time;
		break;
	case UM_TIMETRAVEL_GET_TOD:
		answer = TIME_OF_DAY + n->time;
		break;
	case UM_TIMETRAVEL_UPDATE:
		about_to_send(n, msg->time);
		break;
	case COMMAND_BEGINS:
	case COMMAND_ENDS:
		it_is(n, msg->time);
		counts(n, msg->op == COMMAND_BEGINS ? 1 : -1);
		break;
	}
	say(n, UM_TIMETRAVEL_ACK, msg->seq, answer);
}

static void hear_kernel(struct node *n)
{
	struct um_timetravel_msg msgs[16];
	ssize_t len = read(n->clock, msgs, sizeof(msgs)), i;

	if (len <= 0 || len % sizeof(*msgs)) {
		close(n->clock);
		n->clock = -1;
		if (n->state != ABSENT)
			leave(n);
		return;
	}
	for (i = 0; i < (ssize_t)(len / sizeof(*msgs)); i++)
		if (n->state != ABSENT)
			handle(n, &msgs[i]);
}

static void take_lines(void)
{
	int fd = accept(lines_listener, NULL, NULL);
	char number = 0;
	struct node *n;

	if (fd < 0)
		return;
	if (read(fd, &number, 1) != 1 || number < 1 || number > n_nodes) {
		close(fd);
		return;
	}
	n = &nodes[number - 1];
	if (n->lines >= 0)
		lose_lines(n);
	n->lines = fd;
}

static void take_end(struct end *e)
{
	int size = 1 << 20, fd = accept4(e->packet, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

	if (fd < 0)
		return;
	if (e->fd >= 0)
		hang_up(e);
	setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof(size));
	e->fd = fd;
}

static void take(void)
{
	int w, i;

	for (w = 0; w < n_wires; w++)
		for (i = 0; i < n_nodes; i++)
			take_end(&cables[w].ends[i]);
	take_lines();
}

/* Returns whether something has happened to one of these. */
static int any_of(struct pollfd *p, int n)
{
	int any = 0;

	while (n--)
		any |= p[n].revents;
	return any;
}

static int add(struct pollfd *p, int n, int fd)
{
	p[n].fd = fd;
	p[n].events = POLLIN;
	p[n].revents = 0;
	return n + 1;
}

static int add_cables(struct pollfd *p, int n, int listeners)
{
	int w, i;

	for (w = 0; w < n_wires; w++) {
		if (!listeners) {
			n = add(p, n, words ? -1 : cables[w].ctl);
			continue;
		}
		for (i = 0; i < n_nodes; i++)
			n = add(p, n, cables[w].ends[i].packet);
	}
	return n;
}

/* Returns 0 when the owner has gone. */
static int poll_once(void)
{
	struct pollfd p[3 + 2 * ENDS + WIRES * (ENDS + 1)];
	int n = 0, told, takers, i;

	for (i = 0; i < n_nodes; i++) {
		n = add(p, n, nodes[i].clock);
		n = add(p, n, nodes[i].lines);
	}
	n = add(p, n, owner_fd);
	told = n;
	n = add_cables(p, n, 0);
	takers = n;
	n = add(p, n, joins ? -1 : clock_listener);
	n = add(p, n, lines_listener);
	n = add_cables(p, n, 1);
	i = poll(p, n, running() ? QUIET_MS : -1);
	if (!i)
		drain(running());
	if (i <= 0)
		return 1;
	if (p[told - 1].revents)
		return 0;
	if (any_of(p + told, takers - told))
		words = 1;
	for (i = 0; i < n_nodes; i++) {
		if (p[2 * i + 1].revents && heard(&nodes[i]) == LINES_INPUT)
			nodes[i].input = 1;
		if (p[2 * i].revents)
			hear_kernel(&nodes[i]);
	}
	if (p[takers].revents)
		joins = 1;
	if (any_of(p + takers, n - takers))
		take();
	return 1;
}

static void make_cable(int w)
{
	char dir[20] = ".", path[40];
	int i;

	if (w)
		snprintf(dir, sizeof(dir), "wires/%d", w + 1);
	cables[w].latency = LATENCY;
	for (i = 0; i < ENDS; i++)
		cables[w].ends[i].fd = -1;
	snprintf(path, sizeof(path), "%s/wire%%d.packet", dir);
	for (i = 0; i < n_nodes; i++)
		cables[w].ends[i].packet = bind_at(SOCK_SEQPACKET, path, i + 1);
	snprintf(path, sizeof(path), "%s/wire.ctl", dir);
	cables[w].ctl = bind_at(SOCK_DGRAM, path, 0);
}

int main(int argc, char **argv)
{
	int i;

	if (argc > 4) {
		n_nodes = atoi(argv[3]);
		n_wires = atoi(argv[4]);
	}
	if (argc < 6 || n_nodes < 1 || n_nodes > ENDS || n_wires < 1 || n_wires > WIRES ||
	    chdir(argv[1])) {
		fprintf(stderr, "usage: calendar DIR OWNER NODES WIRES CMD ARGS...\n");
		return 1;
	}
	if (atoi(argv[2]))
		owner_fd = syscall(SYS_pidfd_open, atoi(argv[2]), 0);
	signal(SIGPIPE, SIG_IGN);
	for (i = 0; i < n_nodes; i++) {
		nodes[i].clock = -1;
		nodes[i].lines = -1;
	}
	/* The first cable's words come last: its socket says that we are there. */
	clock_listener = bind_at(SOCK_STREAM, "calendar", 0);
	lines_listener = bind_at(SOCK_SEQPACKET, "calendar.lines", 0);
	for (i = n_wires; i--;)
		make_cable(i);
	while (poll_once())
		schedule();
	/* The kernels' connections stay open, or these would panic before they are ended. */
	execvp(argv[5], argv + 5);
	return 1;
}
