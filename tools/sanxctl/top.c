// SPDX-License-Identifier: GPL-2.0
/*
 * sanxctl top: which sockets, nodes and programs move the most bytes.
 *
 * A rate is the difference between two dumps of sockets.  What connected and ended between
 * the two is not seen.
 */
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "addr.h"
#include "procs.h"
#include "sanxctl.h"

static const char usage[] =
	"Usage: sanxctl top [ by { socket | node | program } ] [ delay SECONDS ] [ count NUMBER ]\n"
	"It goes on until a signal ends it, unless count says how often.\n";

#define DELAY_MAX	3600

enum by {
	BY_SOCKET,
	BY_NODE,
	BY_PROGRAM,
};

static const char *const by_names[] = { "socket", "node", "program" };

/**
 * struct flow - a socket, or a sum of several
 * @local: address of this end
 * @remote: address of the peer's
 * @lport: port of this end
 * @rport: port of the peer's
 * @node: node id of the peer, or 0
 * @inode: the socket's inode
 * @transport: what carries it
 * @name: the program that has it open, or the first of them; "-" if that is not known
 * @conns: connections that this is the sum of
 * @tx: bytes sent; in a result those of a second
 * @rx: likewise received
 */
struct flow {
	struct in6_addr local, remote;
	u16 lport, rport;
	u32 node;
	u64 inode;
	char transport[16];
	char name[24];
	u32 conns;
	u64 tx, rx;
};

struct flows {
	struct flow *flow;
	size_t count;
	size_t room;
};

/**
 * struct top - one run
 * @by: what is summed up
 * @delay: seconds between two dumps
 * @count: how often; 0 without an end
 * @last: the dump before
 * @when: when that was, in nanoseconds
 */
struct top {
	enum by by;
	u32 delay;
	u32 count;
	struct flows last;
	u64 when;
};

static struct flow *flow_add(struct flows *f)
{
	f->flow = ctl_grow(f->flow, f->count, &f->room, sizeof(*f->flow));
	memset(&f->flow[f->count], 0, sizeof(*f->flow));
	return &f->flow[f->count++];
}

/* All of it that tells two connections apart is at the start. */
static int flow_order(const void *a, const void *b)
{
	return memcmp(a, b, offsetof(struct flow, node));
}

static void flow_take(const struct nlmsghdr *nlh, void *data)
{
	const struct nlattr *attr[SANX_A_SOCKET_MAX + 1];
	struct flow *f;

	nl_parse(nlh, attr, SANX_A_SOCKET_MAX);
	/* Of a socket without a connection, and of TCP, there is nothing to count. */
	if (!attr[SANX_A_SOCKET_TX_BYTES])
		return;
	f = flow_add(data);
	f->local = nl_addr(attr[SANX_A_SOCKET_LOCAL_ADDR]);
	f->remote = nl_addr(attr[SANX_A_SOCKET_REMOTE_ADDR]);
	f->lport = nl_uint(attr[SANX_A_SOCKET_LOCAL_PORT]);
	f->rport = nl_uint(attr[SANX_A_SOCKET_REMOTE_PORT]);
	f->node = nl_uint(attr[SANX_A_SOCKET_NODE]);
	f->inode = nl_uint(attr[SANX_A_SOCKET_INODE]);
	f->conns = 1;
	f->tx = nl_uint(attr[SANX_A_SOCKET_TX_BYTES]);
	f->rx = nl_uint(attr[SANX_A_SOCKET_RX_BYTES]);
	nl_word(f->transport, sizeof(f->transport), attr[SANX_A_SOCKET_TRANSPORT]);
}

static void flows_again(void *data)
{
	struct flows *f = data;

	f->count = 0;
}

static u64 now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ULL + now.tv_nsec;
}

static void names_find(struct flows *f)
{
	const struct holder *holder;
	struct procs procs;
	size_t i, n;

	/* After a message; the rest can be shown without. */
	if (procs_scan(&procs))
		procs.count = 0;
	for (i = 0; i < f->count; i++) {
		holder = f->flow[i].inode ? procs_find(&procs, f->flow[i].inode, &n) : NULL;
		if (holder && n)
			snprintf(f->flow[i].name, sizeof(f->flow[i].name), "%s", holder->name);
		else
			snprintf(f->flow[i].name, sizeof(f->flow[i].name), "-");
	}
	procs_free(&procs);
}

static int flows_read(struct ctl *ctl, struct flows *f)
{
	f->count = 0;
	if (ctl_dump(ctl, SANX_CMD_SOCKET_GET, flow_take, flows_again, f))
		return -1;
	qsort(f->flow, f->count, sizeof(*f->flow), flow_order);
	names_find(f);
	return 0;
}

/* A connection with the ends of one that is gone may have fewer bytes than that. */
static u64 rate(u64 now, u64 last, u64 ns)
{
	return now > last ? (double)(now - last) * 1e9 / ns : 0;
}

static bool same_sum(enum by by, const struct flow *a, const struct flow *b)
{
	if (by == BY_NODE)
		return a->node == b->node && !strcmp(a->transport, b->transport);
	return by == BY_PROGRAM && !strcmp(a->name, b->name);
}

static void sum_add(struct flows *sums, enum by by, const struct flow *f)
{
	size_t i;

	for (i = 0; i < sums->count; i++) {
		if (!same_sum(by, &sums->flow[i], f))
			continue;
		sums->flow[i].conns++;
		sums->flow[i].tx += f->tx;
		sums->flow[i].rx += f->rx;
		return;
	}
	*flow_add(sums) = *f;
}

static int busiest_first(const void *a, const void *b)
{
	const struct flow *x = a, *y = b;
	u64 p = x->tx + x->rx, q = y->tx + y->rx;

	return (p < q) - (p > q) ?: flow_order(a, b);
}

/* @sums: set to the rates, the busiest first */
static void rates_make(const struct top *t, const struct flows *now, u64 ns, struct flows *sums)
{
	const struct flow *before;
	struct flow f;
	size_t i;

	for (i = 0; i < now->count; i++) {
		f = now->flow[i];
		before = bsearch(&f, t->last.flow, t->last.count, sizeof(f), flow_order);
		f.tx = rate(f.tx, before ? before->tx : 0, ns);
		f.rx = rate(f.rx, before ? before->rx : 0, ns);
		sum_add(sums, t->by, &f);
	}
	qsort(sums->flow, sums->count, sizeof(*sums->flow), busiest_first);
}

/*
 * Output
 */

static void flow_print(struct print *out, const struct top *t, const struct flow *f)
{
	char text[ENDPOINT_STRLEN];

	print_item_open(out);
	print_uint(out, "tx_bytes_per_sec", "%12llu", f->tx);
	print_uint(out, "rx_bytes_per_sec", " %12llu", f->rx);
	if (t->by != BY_SOCKET)
		print_uint(out, "conns", " %6llu", f->conns);
	if (t->by != BY_PROGRAM) {
		print_string(out, "transport", " %-9s", f->transport);
		if (f->node)
			print_uint(out, "node", " %5llu", f->node);
		else
			print_null(out, "node");
		print_string(out, NULL, "%s", f->node ? "" : "     -");
	}
	if (t->by == BY_SOCKET) {
		print_string(out, "local", " %-21s",
			     endpoint_format(&f->local, f->lport, text));
		print_string(out, "remote", " %-21s",
			     endpoint_format(&f->remote, f->rport, text));
	}
	if (t->by != BY_NODE)
		print_string(out, "program", " %s", f->name);
	print_item_close(out);
}

#define RATES "        Tx/s         Rx/s"

static const char *const headings[] = {
	[BY_SOCKET] =
		RATES " Transport  Node Local                 Remote                Program",
	[BY_NODE] = RATES "  Conns Transport  Node",
	[BY_PROGRAM] = RATES "  Conns Program",
};

/* A terminal is cleared first. */
static void rates_print(struct print *out, const struct top *t, const struct flows *sums)
{
	size_t i;

	if (isatty(STDOUT_FILENO))
		print_string(out, NULL, "%s", "\033[H\033[2J");
	print_string(out, NULL, "%s\n", headings[t->by]);
	for (i = 0; i < sums->count; i++)
		flow_print(out, t, &sums->flow[i]);
}

/*
 * Command
 */

static int top_step(struct ctl *ctl, struct top *t, struct print *out)
{
	struct flows now = { }, sums = { };
	u64 when;
	int rc;

	sleep(t->delay);
	rc = flows_read(ctl, &now);
	if (!rc) {
		when = now_ns();
		rates_make(t, &now, when - t->when, &sums);
		rates_print(out, t, &sums);
		t->when = when;
	}
	free(sums.flow);
	free(t->last.flow);
	t->last = now;
	return rc;
}

/* Each is written at once. */
static int top_show(struct ctl *ctl, struct top *t)
{
	struct print out;
	int rc;

	print_init(&out, !ctl->out.text, false);
	rc = top_step(ctl, t, &out);
	if (print_finish(&out) && !rc)
		rc = ctl_fail("standard output: %s", strerror(errno));
	return rc;
}

static int word_take(struct top *t, const char *word, const char *value)
{
	size_t i;

	if (!value)
		return ctl_fail("a value for \"%s\" is missing", word);
	if (!strcmp(word, "delay")) {
		if (!parse_number(value, 10, DELAY_MAX, &t->delay) || !t->delay)
			return ctl_fail("delay \"%s\" is not a number from 1 to %u", value,
					DELAY_MAX);
		return 0;
	}
	if (!strcmp(word, "count")) {
		if (!parse_number(value, 10, UINT32_MAX, &t->count) || !t->count)
			return ctl_fail("count \"%s\" is not a number", value);
		return 0;
	}
	if (strcmp(word, "by"))
		return ctl_fail("\"%s\", expected by, delay or count", word);
	for (i = 0; i < ARRAY_SIZE(by_names); i++) {
		if (!strcmp(value, by_names[i])) {
			t->by = i;
			return 0;
		}
	}
	return ctl_fail("\"%s\", expected socket, node or program", value);
}

static int top_run(struct ctl *ctl, int argc, char **argv)
{
	struct top t = { .delay = 1 };
	u32 n;
	int i, rc;

	print_none(&ctl->out);
	for (i = 0; i < argc; i += 2)
		if (word_take(&t, argv[i], i + 1 < argc ? argv[i + 1] : NULL))
			return -1;
	rc = flows_read(ctl, &t.last);
	t.when = now_ns();
	for (n = 0; !rc && (!t.count || n < t.count); n++)
		rc = top_show(ctl, &t);
	free(t.last.flow);
	return rc;
}

const struct object top_object = {
	.name = "top",
	.usage = usage,
	.run = top_run,
};
