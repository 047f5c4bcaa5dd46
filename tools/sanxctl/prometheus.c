// SPDX-License-Identifier: GPL-2.0
/*
 * sanxctl stats show --prometheus: counters and rails in Prometheus' text format.
 *
 * For the textfile collector of its node exporter, or any program that serves a file.
 * Source: Prometheus' "Exposition formats", text format 0.0.4: the samples of a family
 * stand together, behind its HELP and TYPE.
 */
#include <stdlib.h>
#include <string.h>

#include "addr.h"
#include "sanxctl.h"
#include "stats.h"

/**
 * struct sample_rail - a rail, as far as there are figures about it
 * @labels: which it is
 * @value: its figures, in the order of rail_families
 */
struct sample_rail {
	char labels[160];
	u64 value[8];
};

struct samples {
	u64 *counter;
	struct sample_rail *rail;
	size_t n_rails;
	size_t room;
};

static const struct {
	const char *name;
	const char *type;
	u16 attr;
	const char *help;
} rail_families[] = {
	{ "rail_links", "gauge", SANX_A_RAIL_LINKS, "Links on the rail that are up" },
	{ "rail_connections", "gauge", SANX_A_RAIL_CONNS, "Connections on these links" },
	{ "rail_rtt_nanoseconds", "gauge", SANX_A_RAIL_RTT, "Average of the last round trips" },
	{ "rail_transmit_bytes_total", "counter", SANX_A_RAIL_TX_BYTES,
	  "Payload that was sent on the rail" },
	{ "rail_receive_bytes_total", "counter", SANX_A_RAIL_RX_BYTES,
	  "Payload that was received on the rail" },
	{ "rail_errors_total", "counter", SANX_A_RAIL_ERRORS,
	  "Links that were lost on the rail, and attempts that failed" },
};

static_assert(ARRAY_SIZE(rail_families) <= 8, "a rail has room for its figures");

static const struct {
	const char *name;
	const char *help;
} families[] = {
	{ "connections", "Ends of connections, by what carries them" },
	{ "datagrams", "Messages of datagram sockets of the family, by what carried them" },
	{ "datagrams_dropped", "Datagrams that were lost on this host, by reason" },
	{ "fallbacks", "Sockets that became plain TCP, by reason" },
};

/*
 * Collect
 */

static void counters_take(const struct nlmsghdr *nlh, void *data)
{
	const struct nlattr *attr[SANX_A_STATS_MAX + 1];
	struct samples *s = data;
	size_t i;

	nl_parse(nlh, attr, SANX_A_STATS_MAX);
	for (i = 0; i < n_counters; i++)
		s->counter[i] = nl_uint(attr[counters[i].type]);
}

static void rail_take(const struct nlmsghdr *nlh, void *data)
{
	const struct nlattr *attr[SANX_A_RAIL_MAX + 1];
	struct samples *s = data;
	struct sample_rail *r;
	struct in6_addr remote;
	char addr[ADDR_STRLEN];
	size_t i;

	s->rail = ctl_grow(s->rail, s->n_rails, &s->room, sizeof(*r));
	r = &s->rail[s->n_rails++];
	*r = (struct sample_rail) { };
	nl_parse(nlh, attr, SANX_A_RAIL_MAX);
	remote = nl_addr(attr[SANX_A_RAIL_REMOTE]);
	snprintf(r->labels, sizeof(r->labels),
		 "node=\"%llu\",rail=\"%llu\",transport=\"%s\",remote=\"%s\"",
		 (unsigned long long)nl_uint(attr[SANX_A_RAIL_NODE]),
		 (unsigned long long)nl_uint(attr[SANX_A_RAIL_NUMBER]),
		 nl_string(attr[SANX_A_RAIL_TRANSPORT]), addr_format(&remote, addr));
	for (i = 0; i < ARRAY_SIZE(rail_families); i++)
		r->value[i] = nl_uint(attr[rail_families[i].attr]);
}

static void rails_again(void *data)
{
	struct samples *s = data;

	s->n_rails = 0;
}

/*
 * Print
 */

static void family_print(FILE *text, const char *name, const char *type, const char *help)
{
	fprintf(text, "# HELP sanx_%s %s.\n# TYPE sanx_%s %s\n", name, help, name, type);
}

static const char *family_help(const struct counter *c)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(families); i++)
		if (!strcmp(families[i].name, c->family))
			return families[i].help;
	return c->text;
}

static void counters_print(FILE *text, const struct samples *s)
{
	const char *last = "";
	char name[64];
	size_t i;

	for (i = 0; i < n_counters; i++) {
		snprintf(name, sizeof(name), "%s_total", counters[i].family);
		if (strcmp(last, counters[i].family))
			family_print(text, name, "counter", family_help(&counters[i]));
		last = counters[i].family;
		fprintf(text, "sanx_%s", name);
		if (counters[i].label)
			fprintf(text, "{%s=\"%s\"}", counters[i].label, counters[i].value);
		fprintf(text, " %llu\n", (unsigned long long)s->counter[i]);
	}
}

static void rails_print(FILE *text, const struct samples *s)
{
	const struct sample_rail *r;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rail_families); i++) {
		family_print(text, rail_families[i].name, rail_families[i].type,
			     rail_families[i].help);
		for (r = s->rail; r < s->rail + s->n_rails; r++)
			/* There is no round trip until the peer has acknowledged something. */
			if (r->value[i] || rail_families[i].attr != SANX_A_RAIL_RTT)
				fprintf(text, "sanx_%s{%s} %llu\n", rail_families[i].name,
					r->labels, (unsigned long long)r->value[i]);
	}
}

static int samples_collect(struct ctl *ctl, struct samples *s)
{
	int rc = ctl_dump(ctl, SANX_CMD_RAIL_GET, rail_take, rails_again, s);

	return rc ? rc : ctl_ask(ctl, SANX_CMD_STATS_GET, counters_take, s);
}

/**
 * prometheus_show - print counters and rails as Prometheus reads them
 * @ctl: this run, without JSON
 *
 * Return: 0, or -1 after a message.
 */
int prometheus_show(struct ctl *ctl)
{
	struct samples s = { };
	int rc;

	if (!ctl->out.text)
		return ctl_fail("Prometheus reads no JSON: leave out one of the two options");
	s.counter = calloc(n_counters, sizeof(*s.counter));
	if (!s.counter)
		return ctl_fail("out of memory");
	rc = samples_collect(ctl, &s);
	if (!rc) {
		counters_print(ctl->out.text, &s);
		rails_print(ctl->out.text, &s);
	}
	free(s.counter);
	free(s.rail);
	return rc;
}
