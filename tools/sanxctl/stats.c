// SPDX-License-Identifier: GPL-2.0
/*
 * sanxctl stats: the counters.
 */
#include "sanxctl.h"

static const char usage[] = "Usage: sanxctl stats [ show ]\n";

static const struct {
	u16 type;
	const char *key;
} counters[] = {
	{ SANX_A_STATS_CONNS_LOOP, "conns_loop" },
	{ SANX_A_STATS_CONNS_VERBS, "conns_verbs" },
	{ SANX_A_STATS_CONNS_TCP_RAIL, "conns_tcp_rail" },
	{ SANX_A_STATS_CONNS_FALLBACK, "conns_fallback" },
	{ SANX_A_STATS_DGRAMS_LOOP, "dgrams_loop" },
	{ SANX_A_STATS_DGRAMS_UDP, "dgrams_udp" },
	{ SANX_A_STATS_DGRAMS_VERBS, "dgrams_verbs" },
	{ SANX_A_STATS_DGRAMS_TCP_RAIL, "dgrams_tcp_rail" },
	{ SANX_A_STATS_DROPPED_DENIED, "dropped_denied" },
	{ SANX_A_STATS_DROPPED_MEMORY, "dropped_memory" },
	{ SANX_A_STATS_DROPPED_FULL, "dropped_full" },
	{ SANX_A_STATS_DROPPED_WAITED, "dropped_waited" },
	{ SANX_A_STATS_DROPPED_CLOSED, "dropped_closed" },
	{ SANX_A_STATS_TX_BYTES, "tx_bytes" },
	{ SANX_A_STATS_RX_BYTES, "rx_bytes" },
	{ SANX_A_STATS_RESETS, "resets" },
	{ SANX_A_STATS_PROTOCOL_ERRORS, "protocol_errors" },
	{ SANX_A_STATS_FALLBACK_UNMAPPED, "fallback_unmapped" },
	{ SANX_A_STATS_FALLBACK_PORT, "fallback_port" },
	{ SANX_A_STATS_FALLBACK_LINK, "fallback_link" },
	{ SANX_A_STATS_FALLBACK_REFUSED, "fallback_refused" },
	{ SANX_A_STATS_FALLBACK_OPTION, "fallback_option" },
	{ SANX_A_STATS_FALLBACK_ACCEPT, "fallback_accept" },
	{ SANX_A_STATS_FALLBACK_ASKED, "fallback_asked" },
	{ SANX_A_STATS_FALLBACK_ROUTE, "fallback_route" },
	{ SANX_A_STATS_FALLBACK_DENIED, "fallback_denied" },
	{ SANX_A_STATS_FALLBACK_LIMIT, "fallback_limit" },
	{ SANX_A_STATS_LINKS_REFUSED, "links_refused" },
	{ SANX_A_STATS_REQUESTS_REFUSED, "requests_refused" },
	{ SANX_A_STATS_REQUESTS_DELAYED, "requests_delayed" },
	{ SANX_A_STATS_MEMORY_REFUSED, "memory_refused" },
	{ SANX_A_STATS_AUTO_REFUSED, "auto_refused" },
};

/* All but the padding. */
static_assert(ARRAY_SIZE(counters) == SANX_A_STATS_MAX - 1,
	      "every counter has a key");

static void stats_answer(const struct nlmsghdr *nlh, void *data)
{
	const struct nlattr *attr[SANX_A_STATS_MAX + 1];
	struct ctl *ctl = data;
	size_t i;

	nl_parse(nlh, attr, SANX_A_STATS_MAX);

	for (i = 0; i < ARRAY_SIZE(counters); i++) {
		print_string(&ctl->out, NULL, "%-18s", counters[i].key);
		print_uint(&ctl->out, counters[i].key, " %llu\n",
			   nl_uint(attr[counters[i].type]));
	}
}

static int stats_show(struct ctl *ctl, int argc, char **argv)
{
	print_single(&ctl->out);
	if (ctl_no_args(argc, argv))
		return -1;
	return ctl_ask(ctl, SANX_CMD_STATS_GET, stats_answer, ctl);
}

static const struct command commands[] = {
	{ "show", "list", stats_show },
	{ }
};

const struct object stats_object = {
	.name = "stats",
	.usage = usage,
	.commands = commands,
};
