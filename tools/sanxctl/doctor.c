// SPDX-License-Identifier: GPL-2.0
/*
 * sanxctl doctor: what is wrong on this node, and what to do.
 *
 * "explain" is about one peer, and asks it; this looks at everything here that could keep
 * connections from being AF_SANX's.
 */
#include <errno.h>
#include <ifaddrs.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "addr.h"
#include "doctor.h"
#include "explain.h"
#include "stats.h"

static const char usage[] =
	"Usage: sanxctl doctor [ root DIR ]\n"
	"DIR := where copies of /sys and /proc are, as from another machine\n";

/*
 * Findings
 */

void doctor_find(struct doctor *d, enum finding how, const char *about, const char *advice,
		 const char *fmt, ...)
{
	static const char *const names[] = { "ok", "note", "bad" };
	struct print *out = &d->ctl->out;
	char text[512];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	d->found[how]++;
	print_item_open(out);
	print_string(out, "finding", "%-5s", names[how]);
	print_string(out, "about", "%-9s", about);
	print_string(out, "text", "%s", text);
	print_string(out, "advice", "\n              -> %s", advice);
	print_item_close(out);
}

bool doctor_read(const struct doctor *d, char *to, size_t room, const char *fmt, ...)
{
	char path[4096];
	va_list args;
	FILE *file;
	int len;

	len = snprintf(path, sizeof(path), "%s", d->root);
	va_start(args, fmt);
	vsnprintf(path + len, sizeof(path) - len, fmt, args);
	va_end(args);
	file = fopen(path, "re");
	if (!file)
		return false;
	to = fgets(to, room, file);
	fclose(file);
	if (to)
		to[strcspn(to, "\n")] = '\0';
	return to;
}

/*
 * This node
 */

/* Return: whether the module is loaded. */
static bool module_check(struct doctor *d)
{
	struct utsname kernel;
	char version[64] = "";

	uname(&kernel);
	if (!doctor_read(d, version, sizeof(version), "/sys/module/af_sanx/version")) {
		doctor_find(d, FINDING_BAD, "module", "modprobe af_sanx",
			    "af_sanx is not loaded: every connection is TCP");
		return false;
	}
	if (strcmp(version, SANX_TOOLS_VERSION))
		doctor_find(d, FINDING_BAD, "module", "install both from one release",
			    "af_sanx is %s, and these tools are %s", version, SANX_TOOLS_VERSION);
	else
		doctor_find(d, FINDING_OK, "module", NULL, "af_sanx %s on Linux %s", version,
			    kernel.release);
	/* A limit that programs with verbs of their own know well. */
	doctor_find(d, FINDING_OK, "memlock", NULL,
		    "the rings are memory of the kernel, which RLIMIT_MEMLOCK is not about");
	return true;
}

static u32 self_find(const struct doctor *d)
{
	size_t i;

	for (i = 0; i < d->map.count; i++)
		if (doctor_interface(d, &d->map.node[i].addr))
			return d->map.node[i].id;
	return 0;
}

static void map_check(struct doctor *d)
{
	size_t i, others = 0;

	d->self = self_find(d);
	for (i = 0; i < d->map.count; i++)
		others += d->map.node[i].id != d->self;
	if (!d->map.count && d->map.prefixes)
		doctor_find(d, FINDING_OK, "nodemap", NULL, "nodes are found in %zu networks",
			    d->map.prefixes);
	else if (!d->map.count)
		doctor_find(d, FINDING_BAD, "nodemap", "sanxctl nodemap load FILE",
			    "the node map is empty: all that leaves this host is TCP");
	else if (!d->self)
		doctor_find(d, FINDING_BAD, "nodemap",
			    "sanxctl nodemap add, with an address that programs use: ip addr",
			    "no address of this node is in its node map, so it has no node id");
	else
		doctor_find(d, FINDING_OK, "nodemap", NULL,
			    "this is node %u, and knows %zu other %s", d->self, others,
			    others == 1 ? "host" : "hosts");
}

/**
 * struct own_rail - a rail of this node over RDMA
 * @addr: its address
 * @alone: this node has no TCP rail beside it
 */
struct own_rail {
	struct in6_addr addr;
	bool alone;
};

/* @n: number of @own; one more if the rail was not among them */
static void own_rail_add(struct own_rail *own, size_t *n, size_t room,
			 const struct in6_addr *addr, bool alone)
{
	size_t i;

	for (i = 0; i < *n; i++)
		if (!memcmp(&own[i].addr, addr, sizeof(*addr)))
			return;
	if (*n < room)
		own[(*n)++] = (struct own_rail) { .addr = *addr, .alone = alone };
}

/* Those of an entry; its host is one if it has no other over RDMA. */
static void entry_rails(const struct node *node, struct own_rail *own, size_t *n, size_t room)
{
	unsigned int i, rdma = 0;

	for (i = 0; i < node->rails; i++)
		rdma += !node->rail[i].tcp;
	for (i = 0; i < node->rails; i++)
		if (!node->rail[i].tcp)
			own_rail_add(own, n, room, &node->rail[i].addr, rdma == node->rails);
	if (!rdma)
		own_rail_add(own, n, room, &node->addr, !node->rails);
}

static void rails_check(struct doctor *d)
{
	enum finding unused = FINDING_NOTE;
	struct own_rail own[SANX_MAX_RAILS * 4];
	size_t i, n = 0;

	for (i = 0; i < d->map.count; i++)
		if (d->map.node[i].id == d->self)
			entry_rails(&d->map.node[i], own, &n, ARRAY_SIZE(own));
	for (i = 0; i < n; i++)
		if (own[i].alone)
			unused = FINDING_BAD;
	doctor_devices(d, unused);
	for (i = 0; i < n; i++)
		doctor_rail(d, &own[i].addr, own[i].alone ? FINDING_BAD : FINDING_NOTE);
}

/*
 * What the module says
 */

/**
 * struct way - a rail to another node, as the module has it
 * @remote: its address there
 * @node: the node's id
 * @admin: enum sanx_rail_admin
 * @state: as "sanxctl rail" shows it
 * @cause: likewise
 */
struct way {
	struct in6_addr remote;
	u32 node;
	u64 admin;
	char state[EXPLAIN_WORD];
	char cause[EXPLAIN_WORD];
};

struct ways {
	struct way *way;
	size_t count;
	size_t room;
};

static void way_take(const struct nlmsghdr *nlh, void *data)
{
	const struct nlattr *attr[SANX_A_RAIL_MAX + 1];
	struct ways *ways = data;
	struct way *w;

	ways->way = ctl_grow(ways->way, ways->count, &ways->room, sizeof(*w));
	nl_parse(nlh, attr, SANX_A_RAIL_MAX);
	w = &ways->way[ways->count++];
	w->remote = nl_addr(attr[SANX_A_RAIL_REMOTE]);
	w->node = nl_uint(attr[SANX_A_RAIL_NODE]);
	w->admin = nl_uint(attr[SANX_A_RAIL_ADMIN]);
	nl_word(w->state, sizeof(w->state), attr[SANX_A_RAIL_STATE]);
	nl_word(w->cause, sizeof(w->cause), attr[SANX_A_RAIL_CAUSE]);
}

static void ways_again(void *data)
{
	struct ways *ways = data;

	ways->count = 0;
}

static void way_check(struct doctor *d, const struct way *w)
{
	char addr[ADDR_STRLEN];

	addr_format(&w->remote, addr);
	if (w->admin != SANX_RAIL_ADMIN_UP)
		doctor_find(d, FINDING_NOTE, "link", "sanxctl rail set RAIL up",
			    "the rail to %s of node %u is to be left free", addr, w->node);
	else if (!strcmp(w->state, "up"))
		doctor_find(d, FINDING_OK, "link", NULL, "there is a link to %s of node %u", addr,
			    w->node);
	else if (!strcmp(w->state, "no-carrier"))
		doctor_find(d, FINDING_BAD, "link", "look at the cable, and: ip link",
			    "the rail to %s of node %u has no carrier at this end", addr, w->node);
	else if (!strcmp(w->state, "failed") || *w->cause)
		doctor_find(d, FINDING_BAD, "link",
			    "sanxctl explain HOST says more, and asks that node",
			    "no link to %s of node %u: %s", addr, w->node,
			    *w->cause ? explain_cause(w->cause) : "it failed");
}

static int ways_check(struct doctor *d)
{
	struct ways ways = { };
	int rc = ctl_dump(d->ctl, SANX_CMD_RAIL_GET, way_take, ways_again, &ways);
	size_t i;

	for (i = 0; !rc && i < ways.count; i++)
		way_check(d, &ways.way[i]);
	free(ways.way);
	return rc;
}

/* Counters of what should not happen, or not often. */
static void counters_take(const struct nlmsghdr *nlh, void *data)
{
	static const struct {
		u16 type;
		enum finding how;
		const char *advice;
	} told[] = {
		{ SANX_A_STATS_PROTOCOL_ERRORS, FINDING_BAD,
		  "dmesg; and compare the versions: sanxctl -V" },
		{ SANX_A_STATS_LINKS_REFUSED, FINDING_NOTE, "dmesg says whose, and why" },
		{ SANX_A_STATS_REQUESTS_REFUSED, FINDING_NOTE,
		  "dmesg; the limits are in af_sanx(7)" },
		{ SANX_A_STATS_MEMORY_REFUSED, FINDING_NOTE,
		  "sysctl net.sanx.mem_mb net.sanx.mem_peer_percent" },
		{ SANX_A_STATS_AUTO_REFUSED, FINDING_NOTE,
		  "dmesg; give each machine its own machine id" },
	};
	const struct nlattr *attr[SANX_A_STATS_MAX + 1];
	struct doctor *d = data;
	size_t i, j;
	u64 n;

	nl_parse(nlh, attr, SANX_A_STATS_MAX);
	for (i = 0; i < ARRAY_SIZE(told); i++) {
		n = nl_uint(attr[told[i].type]);
		for (j = 0; n && j < n_counters; j++)
			if (counters[j].type == told[i].type)
				doctor_find(d, told[i].how, "counter", told[i].advice,
					    "%s is %llu: %s", counters[j].key,
					    (unsigned long long)n, counters[j].text);
	}
}

static int examine(struct doctor *d)
{
	int rc;

	if (!module_check(d)) {
		rails_check(d);
		return 0;
	}
	rc = nodemap_fetch(d->ctl, &d->map);
	if (rc)
		return rc;
	map_check(d);
	rails_check(d);
	rc = ways_check(d);
	return rc ? rc : ctl_ask(d->ctl, SANX_CMD_STATS_GET, counters_take, d);
}

static void sum_print(struct doctor *d)
{
	struct print *out = &d->ctl->out;

	if (!d->found[FINDING_BAD] && !d->found[FINDING_NOTE])
		print_string(out, NULL, "%s", "Nothing is wrong here.\n");
	else if (!d->found[FINDING_BAD])
		print_uint(out, NULL, "Nothing is wrong here; %llu to know.\n",
			   d->found[FINDING_NOTE]);
	else
		print_uint(out, NULL, "%llu to mend.\n", d->found[FINDING_BAD]);
}

static int doctor_run(struct ctl *ctl, int argc, char **argv)
{
	struct doctor d = { .ctl = ctl, .root = "" };
	int rc;

	if (argc && !strcmp(argv[0], "root")) {
		if (argc < 2)
			return ctl_fail("DIR is missing");
		d.root = argv[1];
		argc -= 2;
		argv += 2;
	}
	if (ctl_no_args(argc, argv))
		return -1;
	if (getifaddrs(&d.addrs))
		return ctl_fail("addresses of this node: %s", strerror(errno));
	rc = examine(&d);
	if (!rc) {
		sum_print(&d);
		ctl->unwell = d.found[FINDING_BAD];
	}
	nodemap_free(&d.map);
	freeifaddrs(d.addrs);
	return rc;
}

const struct object doctor_object = {
	.name = "doctor",
	.usage = usage,
	.run = doctor_run,
};
