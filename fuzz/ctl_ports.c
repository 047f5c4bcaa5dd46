// SPDX-License-Identifier: GPL-2.0
/*
 * Files of port rules, as "sanxctl ports load" reads them (tools/sanxctl/parse.c).
 *
 * The input is the file.  What is accepted is in range, and gives the same rules
 * when it is written as the man page says and read again.  What is refused has a
 * message and a line of the file.
 */
#include <limits.h>

#include "fuzz/ctl_file.h"
#include "tools/sanxctl/addr.h"

static int parse(const void *text, size_t size, struct ports *ports, struct parse_source *src)
{
	FILE *file = ctl_file(text, size);
	int rc;

	*ports = (struct ports){ };
	*src = (struct parse_source){ };
	rc = ports_parse(src, file, ports);
	fclose(file);
	return rc;
}

static void check_rule(const struct port_rule *rule)
{
	unsigned int i;

	fuzz_assert(rule->line && rule->first <= rule->last && !rule->first == !rule->last);
	fuzz_assert(rule->explicit ? rule->first : rule->last <= USHRT_MAX);
	fuzz_assert(rule->action == SANX_PORT_ACTION_ALLOW ||
		    rule->action == SANX_PORT_ACTION_DENY);
	fuzz_assert(!rule->way || rule->way == SANX_PORT_WAY_IN ||
		    rule->way == SANX_PORT_WAY_OUT);
	fuzz_assert(rule->prefix_len <= 128 && !(rule->node && rule->prefix_len));
	/* A peer has a way: from or to. */
	fuzz_assert(rule->way || (!rule->node && !rule->prefix_len));
	for (i = rule->prefix_len; i < 128; i++)
		fuzz_assert(!(rule->prefix.s6_addr[i / 8] & 0x80 >> i % 8));
}

static void write_rule(const struct port_rule *rule, FILE *out)
{
	bool v4 = IN6_IS_ADDR_V4MAPPED(&rule->prefix);
	char addr[ADDR_STRLEN];

	fputs(rule->action == SANX_PORT_ACTION_ALLOW ? "allow" : "deny", out);
	if (rule->way)
		fputs(rule->way == SANX_PORT_WAY_IN ? " in" : " out", out);
	if (rule->node || rule->prefix_len)
		fputs(rule->way == SANX_PORT_WAY_IN ? " from" : " to", out);
	if (rule->node)
		fprintf(out, " %u", rule->node);
	if (rule->prefix_len)
		fprintf(out, " %s/%u", addr_format(&rule->prefix, addr),
			rule->prefix_len - (v4 ? 96 : 0));
	if (rule->explicit)
		fputs(" explicit", out);
	if (rule->first)
		fprintf(out, " %u-%u\n", rule->first, rule->last);
	else
		fputs(" default\n", out);
}

static bool same_rule(const struct port_rule *a, const struct port_rule *b)
{
	return a->action == b->action && a->explicit == b->explicit &&
	       a->first == b->first && a->last == b->last &&
	       a->way == b->way && a->node == b->node && a->prefix_len == b->prefix_len &&
	       IN6_ARE_ADDR_EQUAL(&a->prefix, &b->prefix);
}

static void try_again(const struct ports *ports)
{
	struct parse_source src;
	struct ports again;
	size_t size, i;
	char *text;
	FILE *out = open_memstream(&text, &size);

	for (i = 0; i < ports->count; i++)
		write_rule(&ports->rule[i], out);
	fclose(out);
	fuzz_assert(!parse(text, size, &again, &src));
	fuzz_assert(again.count == ports->count);
	for (i = 0; i < ports->count; i++)
		fuzz_assert(same_rule(&ports->rule[i], &again.rule[i]));
	ports_free(&again);
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct parse_source src;
	struct ports ports;
	size_t i;

	if (parse(data, size, &ports, &src)) {
		ctl_check_error(&src, data, size);
	} else {
		for (i = 0; i < ports.count; i++)
			check_rule(&ports.rule[i]);
		try_again(&ports);
	}
	ports_free(&ports);
	return 0;
}
