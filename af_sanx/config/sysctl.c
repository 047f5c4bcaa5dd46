// SPDX-License-Identifier: GPL-2.0
/* The sysctls of a namespace, in net/sanx.  af_sanx(7) describes them. */
#include <linux/mm.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/sysctl.h>
#include <net/net_namespace.h>

#include "config_priv.h"

/* Longer than an answer over RDMA takes from a program that is running. */
#define SPIN_US		20U
#define IDLE_MS		30000U
/* What network devices delay their interrupts by. */
#define NODELAY_US	50U

/* Each of them takes some 100 KB. */
#define HALF_OPEN	256U
/* A peer that restarts leaves up to 8, and asks for up to 8. */
#define HALF_OPEN_PEER	32U

/* Restarts, and cables that are pulled, with up to 8 lanes each time. */
#define SETUPS_PEER	100U
/* A good part of what one CPU can serve. */
#define REQUESTS_PEER	20000U
#define CONNS_PEER	65536U

/* The part of the node's memory that rings and send buffers may have: 1 / 8. */
#define MEM_PART	8U
#define MEM_MIN_MB	16U
/* So that no peer alone can take it all. */
#define MEM_PEER_PERCENT	50U

/* Each may have a send buffer of tcp_wmem[2]. */
#define MAX_ORPHANS	4096U

/* A few for each of many nodes; each takes a ring of up to 256 KiB while it is used. */
#define DGRAM_CONNS	1024U
#define DGRAM_IDLE_MS	60000U

static unsigned int spin_us_max = 10000;
static unsigned int nodelay_us_max = 100000;
static unsigned int idle_ms_max = 24 * 60 * 60 * 1000;
static unsigned int half_open_max = 65536;
static unsigned int setups_peer_max = 1000000;
static unsigned int requests_peer_max = 1000000;
static unsigned int conns_peer_max = 1 << 24;
static unsigned int mem_peer_percent_max = 100;
static unsigned int max_orphans_max = 1048576;
static unsigned int mem_mb_max = 1 << 30;
static unsigned int dgram_max = 1;
static unsigned int dgram_conns_max = 65536;

/*
 * sysctl net.sanx.mem_mb: the most memory of connections with other nodes, their rings
 * and send buffers, of all namespaces, in MiB.  Only the initial one can change it, as
 * others may belong to users.
 */
unsigned int sanx_mem_mb;

static const char *const rail_policies[__SANX_RAIL_POLICIES] = {
	[SANX_RAIL_IN_ORDER]		= "in-order",
	[SANX_RAIL_ROUND_ROBIN]		= "round-robin",
	[SANX_RAIL_MIN_INFLIGHT]	= "min-inflight",
	[SANX_RAIL_MIN_LATENCY]		= "min-latency",
};

/* Longer than each of the names. */
#define RAIL_POLICY_LEN	16

enum {
	SYSCTL_SPIN_US,
	SYSCTL_IDLE_MS,
	SYSCTL_NODELAY_US,
	SYSCTL_HALF_OPEN,
	SYSCTL_HALF_OPEN_PEER,
	SYSCTL_SETUPS_PEER,
	SYSCTL_REQUESTS_PEER,
	SYSCTL_CONNS_PEER,
	SYSCTL_MEM_PEER_PERCENT,
	SYSCTL_MAX_ORPHANS,
	SYSCTL_RAIL_POLICY,
	SYSCTL_DGRAM,
	SYSCTL_DGRAM_CONNS,
	SYSCTL_DGRAM_IDLE_MS,
	/* Not in each namespace. */
	SYSCTL_MEM_MB,
	__SYSCTLS
};

static void sysctl_uint(struct ctl_table *entry, const char *name,
			unsigned int *value, unsigned int *most)
{
	entry->procname = name;
	entry->data = value;
	entry->maxlen = sizeof(*value);
	entry->mode = 0644;
	entry->proc_handler = proc_douintvec_minmax;
	entry->extra2 = most;
}

/* net.sanx.rail_policy: the name of a policy. */
static int sysctl_rail_policy(sanx_ctl_table *entry, int write, void *buffer,
			      size_t *len, loff_t *pos)
{
	unsigned int *policy = entry->data;
	char name[RAIL_POLICY_LEN];
	struct ctl_table text = {
		.data	= name,
		.maxlen	= sizeof(name),
	};
	int err;

	strscpy(name, rail_policies[READ_ONCE(*policy)], sizeof(name));
	err = proc_dostring(&text, write, buffer, len, pos);
	if (err || !write)
		return err;
	err = match_string(rail_policies, ARRAY_SIZE(rail_policies), strim(name));
	if (err < 0)
		return -EINVAL;
	WRITE_ONCE(*policy, err);
	return 0;
}

static unsigned int mem_default(void)
{
	return max(totalram_pages() / MEM_PART / (SZ_1M / PAGE_SIZE), MEM_MIN_MB);
}

/* Register the sysctls of a namespace.  Return: 0 or -ENOMEM. */
int sanx_sysctl_net_init(struct sanx_net *sn)
{
	struct ctl_table *table;
	size_t n = SYSCTL_MEM_MB;

	sn->spin_us = SPIN_US;
	sn->idle_ms = IDLE_MS;
	sn->nodelay_us = NODELAY_US;
	sn->half_open = HALF_OPEN;
	sn->half_open_peer = HALF_OPEN_PEER;
	sn->setups_peer = SETUPS_PEER;
	sn->requests_peer = REQUESTS_PEER;
	sn->conns_peer = CONNS_PEER;
	sn->mem_peer_percent = MEM_PEER_PERCENT;
	sn->max_orphans = MAX_ORPHANS;
	sn->rail_policy = SANX_RAIL_IN_ORDER;
	sn->dgram_conns = DGRAM_CONNS;
	sn->dgram_idle_ms = DGRAM_IDLE_MS;
	/* Before 6.6 an empty entry ends the table. */
	table = kcalloc(__SYSCTLS + 1, sizeof(*table), GFP_KERNEL);
	if (!table)
		return -ENOMEM;
	sysctl_uint(&table[SYSCTL_SPIN_US], "spin_us", &sn->spin_us,
		    &spin_us_max);
	sysctl_uint(&table[SYSCTL_IDLE_MS], "idle_ms", &sn->idle_ms,
		    &idle_ms_max);
	sysctl_uint(&table[SYSCTL_NODELAY_US], "nodelay_us", &sn->nodelay_us,
		    &nodelay_us_max);
	sysctl_uint(&table[SYSCTL_HALF_OPEN], "half_open", &sn->half_open,
		    &half_open_max);
	sysctl_uint(&table[SYSCTL_HALF_OPEN_PEER], "half_open_peer",
		    &sn->half_open_peer, &half_open_max);
	sysctl_uint(&table[SYSCTL_SETUPS_PEER], "setups_peer",
		    &sn->setups_peer, &setups_peer_max);
	sysctl_uint(&table[SYSCTL_REQUESTS_PEER], "requests_peer",
		    &sn->requests_peer, &requests_peer_max);
	/* They are divided by. */
	table[SYSCTL_SETUPS_PEER].extra1 = SYSCTL_ONE;
	table[SYSCTL_REQUESTS_PEER].extra1 = SYSCTL_ONE;
	sysctl_uint(&table[SYSCTL_CONNS_PEER], "conns_peer", &sn->conns_peer,
		    &conns_peer_max);
	sysctl_uint(&table[SYSCTL_MAX_ORPHANS], "max_orphans",
		    &sn->max_orphans, &max_orphans_max);
	sysctl_uint(&table[SYSCTL_MEM_PEER_PERCENT], "mem_peer_percent",
		    &sn->mem_peer_percent, &mem_peer_percent_max);
	sysctl_uint(&table[SYSCTL_RAIL_POLICY], "rail_policy", &sn->rail_policy,
		    NULL);
	table[SYSCTL_RAIL_POLICY].proc_handler = sysctl_rail_policy;
	sysctl_uint(&table[SYSCTL_DGRAM], "dgram", &sn->dgram, &dgram_max);
	sysctl_uint(&table[SYSCTL_DGRAM_CONNS], "dgram_conns", &sn->dgram_conns,
		    &dgram_conns_max);
	sysctl_uint(&table[SYSCTL_DGRAM_IDLE_MS], "dgram_idle_ms", &sn->dgram_idle_ms,
		    &idle_ms_max);
	if (net_eq(sn->net, &init_net)) {
		sysctl_uint(&table[SYSCTL_MEM_MB], "mem_mb", &sanx_mem_mb,
			    &mem_mb_max);
		sanx_mem_mb = mem_default();
		n = __SYSCTLS;
	}
	sn->sysctl = register_net_sysctl_sz(sn->net, "net/sanx", table, n);
	if (sn->sysctl)
		return 0;
	kfree(table);
	/* Without CONFIG_SYSCTL the defaults apply. */
	return IS_ENABLED(CONFIG_SYSCTL) ? -ENOMEM : 0;
}

/* Undo sanx_sysctl_net_init(). */
void sanx_sysctl_net_exit(struct sanx_net *sn)
{
	const struct ctl_table *table;

	if (!sn->sysctl)
		return;
	table = sn->sysctl->ctl_table_arg;
	unregister_net_sysctl_table(sn->sysctl);
	kfree(table);
}
