// SPDX-License-Identifier: GPL-2.0
/*
 * sanxctl stats: the counters.
 */
#include <string.h>

#include "sanxctl.h"
#include "stats.h"

static const char usage[] =
	"Usage: sanxctl stats [ show [ --prometheus ] ]\n"
	"       sanxctl stats describe\n";

/* Those of a family stand together. */
const struct counter counters[] = {
	{ SANX_A_STATS_CONNS_LOOP, "conns_loop", "connections", "transport", "loop",
	  "Ends of connections that were established over memory of this host" },
	{ SANX_A_STATS_CONNS_VERBS, "conns_verbs", "connections", "transport", "verbs",
	  "Ends of connections that were established over RDMA" },
	{ SANX_A_STATS_CONNS_TCP_RAIL, "conns_tcp_rail", "connections", "transport", "tcp-rail",
	  "Ends of connections that were established over TCP rails" },
	{ SANX_A_STATS_CONNS_FALLBACK, "conns_fallback", "connections", "transport", "tcp",
	  "Sockets that became plain TCP, for one of the reasons counted below" },
	{ SANX_A_STATS_DGRAMS_LOOP, "dgrams_loop", "datagrams", "transport", "loop",
	  "Messages of datagram sockets that went through memory of this host" },
	{ SANX_A_STATS_DGRAMS_UDP, "dgrams_udp", "datagrams", "transport", "udp",
	  "Messages of datagram sockets of the family that went by UDP" },
	{ SANX_A_STATS_DGRAMS_VERBS, "dgrams_verbs", "datagrams", "transport", "verbs",
	  "Messages of datagram sockets that went over RDMA" },
	{ SANX_A_STATS_DGRAMS_TCP_RAIL, "dgrams_tcp_rail", "datagrams", "transport", "tcp-rail",
	  "Messages of datagram sockets that went over TCP rails" },
	{ SANX_A_STATS_DROPPED_DENIED, "dropped_denied", "datagrams_dropped", "reason", "denied",
	  "Datagrams whose addresses are not those of the two hosts" },
	{ SANX_A_STATS_DROPPED_MEMORY, "dropped_memory", "datagrams_dropped", "reason", "memory",
	  "Datagrams that there was no memory for" },
	{ SANX_A_STATS_DROPPED_FULL, "dropped_full", "datagrams_dropped", "reason", "full",
	  "Datagrams that found their socket's buffer full" },
	{ SANX_A_STATS_DROPPED_WAITED, "dropped_waited", "datagrams_dropped", "reason", "waited",
	  "Datagrams that the connection to their host did not take in time" },
	{ SANX_A_STATS_DROPPED_CLOSED, "dropped_closed", "datagrams_dropped", "reason", "closed",
	  "Datagrams whose connection to their host ended before it took them" },
	{ SANX_A_STATS_TX_BYTES, "tx_bytes", "transmit_bytes", NULL, NULL,
	  "Bytes that programs sent over AF_SANX" },
	{ SANX_A_STATS_LENT_BYTES, "lent_bytes", "lent_bytes", NULL, NULL,
	  "Bytes that programs sent, and that the device read from their own memory" },
	{ SANX_A_STATS_RX_BYTES, "rx_bytes", "receive_bytes", NULL, NULL,
	  "Bytes that programs read over AF_SANX" },
	{ SANX_A_STATS_RESETS, "resets", "resets", NULL, NULL,
	  "Established connections that ended in a reset" },
	{ SANX_A_STATS_PROTOCOL_ERRORS, "protocol_errors", "protocol_errors", NULL, NULL,
	  "Messages of peers that violated the protocol" },
	{ SANX_A_STATS_FALLBACK_UNMAPPED, "fallback_unmapped", "fallbacks", "reason", "unmapped",
	  "The node map of one of the two nodes did not have the other" },
	{ SANX_A_STATS_FALLBACK_PORT, "fallback_port", "fallbacks", "reason", "port",
	  "A port rule of this node denied the port" },
	{ SANX_A_STATS_FALLBACK_LINK, "fallback_link", "fallbacks", "reason", "link",
	  "There was no link to the peer in time, or no answer" },
	{ SANX_A_STATS_FALLBACK_REFUSED, "fallback_refused", "fallbacks", "reason", "refused",
	  "No socket of AF_SANX listened on the peer's port" },
	{ SANX_A_STATS_FALLBACK_OPTION, "fallback_option", "fallbacks", "reason", "option",
	  "The program asked for something that only TCP does" },
	{ SANX_A_STATS_FALLBACK_ACCEPT, "fallback_accept", "fallbacks", "reason", "accept",
	  "A client of plain TCP connected to a listening socket of AF_SANX" },
	{ SANX_A_STATS_FALLBACK_ASKED, "fallback_asked", "fallbacks", "reason", "asked",
	  "The peer was being asked which node it is" },
	{ SANX_A_STATS_FALLBACK_ROUTE, "fallback_route", "fallbacks", "reason", "route",
	  "The peer's answers would not come back as TCP's do, or IPsec guards the addresses" },
	{ SANX_A_STATS_FALLBACK_DENIED, "fallback_denied", "fallbacks", "reason", "denied",
	  "A port rule of the peer denied the port" },
	{ SANX_A_STATS_FALLBACK_LIMIT, "fallback_limit", "fallbacks", "reason", "limit",
	  "The peer had reached a limit on connections or memory" },
	{ SANX_A_STATS_LINKS_REFUSED, "links_refused", "links_refused", NULL, NULL,
	  "Requests of peers for a link that were refused" },
	{ SANX_A_STATS_REQUESTS_REFUSED, "requests_refused", "requests_refused", NULL, NULL,
	  "Requests of peers for a connection over a limit, or that TCP would not answer" },
	{ SANX_A_STATS_REQUESTS_DELAYED, "requests_delayed", "requests_delayed", NULL, NULL,
	  "How often requests of peers for connections waited for others of that peer" },
	{ SANX_A_STATS_MEMORY_REFUSED, "memory_refused", "memory_refused", NULL, NULL,
	  "How often a limit kept a ring or a send buffer from being made or enlarged" },
	{ SANX_A_STATS_AUTO_REFUSED, "auto_refused", "auto_refused", NULL, NULL,
	  "How often a node was not found as its node id is that of another" },
};

/* All but the padding. */
static_assert(ARRAY_SIZE(counters) == SANX_A_STATS_MAX - 1, "every counter has a key");

const size_t n_counters = ARRAY_SIZE(counters);

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
	if (argc && (!strcmp(argv[0], "--prometheus") || !strcmp(argv[0], "-prometheus")))
		return ctl_no_args(argc - 1, argv + 1) ?: prometheus_show(ctl);
	if (ctl_no_args(argc, argv))
		return -1;
	return ctl_ask(ctl, SANX_CMD_STATS_GET, stats_answer, ctl);
}

static int stats_describe(struct ctl *ctl, int argc, char **argv)
{
	size_t i;

	print_single(&ctl->out);
	if (ctl_no_args(argc, argv))
		return -1;
	for (i = 0; i < ARRAY_SIZE(counters); i++) {
		print_string(&ctl->out, NULL, "%-18s", counters[i].key);
		print_string(&ctl->out, counters[i].key, " %s\n", counters[i].text);
	}
	return 0;
}

static const struct command commands[] = {
	{ "show", "list", stats_show },
	{ "describe", NULL, stats_describe },
	{ }
};

const struct object stats_object = {
	.name = "stats",
	.usage = usage,
	.commands = commands,
};
