// SPDX-License-Identifier: GPL-2.0
/*
 * Port rules as the kernel takes them (af_sanx/config/ports.c).
 *
 * The input makes two lists of rules and then connections, from few ports of both
 * kinds, nodes and networks, so that they meet.  The netlink target has the attributes that
 * such lists come in.
 *
 * The verdict about a connection is that of a naive walk, as the man page has it:
 * the first rule that matches decides, then the first default, else allow.  A list
 * that is appended to another decides after it, and a rule that was removed is
 * gone wherever it was.
 */
#include "config/config.h"
#include "fuzz/fuzz.h"
#include "sim/shim/report.h"

#define RULES	12

static void take_addr(struct fuzz_input *in, struct in6_addr *addr)
{
	u8 which = fuzz_u8(in);

	*addr = (struct in6_addr){};
	if (which == 255) {
		fuzz_bytes(in, addr, sizeof(*addr));
	} else if (which & 1) {
		ipv6_addr_set_v4mapped(htonl(0x0a000000 | which >> 1), addr);
	} else {
		addr->s6_addr[0] = 0xfd;
		addr->s6_addr[8] = which & 0xf0;
		addr->s6_addr[15] = which;
	}
}

static bool bit(const struct in6_addr *addr, unsigned int i)
{
	return addr->s6_addr[i / 8] & 0x80 >> i % 8;
}

static void take_range(struct fuzz_input *in, u8 how, struct sanx_port_rule *rule)
{
	bool explicit = how & 64, wide = how & 128;
	u32 first = explicit && wide ? fuzz_u32(in) : fuzz_u16(in);
	u32 most = explicit ? U32_MAX : U16_MAX;

	rule->space = explicit ? SANX_PORT_SPACE_EXPLICIT : SANX_PORT_SPACE_INET;
	rule->first = 1 + first % (wide ? most : 8);
	rule->last = min_t(u64, (u64)rule->first + fuzz_u8(in), most);
}

static void take_rule(struct fuzz_input *in, struct sanx_port_rule *rule)
{
	u8 how = fuzz_u8(in);
	unsigned int i;

	rule->allow = how & 1;
	rule->ways = (how >> 1) % 3;
	if (how & 8)
		take_range(in, how, rule);
	if (how & 16)
		rule->node = fuzz_u8(in) % 4;
	if (!(how & 32))
		return;
	take_addr(in, &rule->prefix);
	rule->prefix_len = fuzz_u8(in) % 129;
	/* As the module's netlink family does it. */
	for (i = rule->prefix_len; i < 128; i++)
		rule->prefix.s6_addr[i / 8] &= ~(0x80 >> i % 8);
}

static struct sanx_ports *take_rules(struct fuzz_input *in)
{
	unsigned int i, n = fuzz_u8(in) % (RULES + 1);
	struct sanx_ports *ports = sanx_ports_alloc(n);

	for (i = 0; i < n; i++)
		take_rule(in, &ports->rule[i]);
	return ports;
}

static void take_use(struct fuzz_input *in, struct sanx_port_use *use)
{
	u8 how = fuzz_u8(in);

	use->way = how & 1 ? SANX_WAY_IN : SANX_WAY_OUT;
	use->node = (how >> 1) % 4;
	use->space = how & 64 ? SANX_PORT_SPACE_EXPLICIT : SANX_PORT_SPACE_INET;
	if (!(how & 128))
		use->port = (how >> 3) % 8;
	else
		use->port = how & 64 ? fuzz_u32(in) : fuzz_u16(in);
	take_addr(in, &use->peer);
}

static bool matches(const struct sanx_port_rule *rule, const struct sanx_port_use *use)
{
	unsigned int i;

	if (rule->prefix_len && use->space == SANX_PORT_SPACE_EXPLICIT)
		return false;
	for (i = 0; i < rule->prefix_len; i++)
		if (bit(&rule->prefix, i) != bit(&use->peer, i))
			return false;
	if (rule->node && rule->node != use->node)
		return false;
	return rule->ways == 0 || rule->ways == (SANX_WAY_IN | SANX_WAY_OUT) ||
	       rule->ways == use->way;
}

/* Return: what the rules of a list say; -1 if they say nothing. */
static int naive_rules(const struct sanx_ports *ports, const struct sanx_port_use *use,
		       bool defaults)
{
	const struct sanx_port_rule *rule;
	unsigned int i;

	for (i = 0; ports && i < ports->n; i++) {
		rule = &ports->rule[i];
		if (matches(rule, use) && !rule->first == defaults &&
		    (defaults || (rule->space == use->space && rule->first <= use->port &&
				  use->port <= rule->last)))
			return rule->allow;
	}
	return -1;
}

/* The verdict of @a and, behind it, of @b. */
static bool naive_allow(const struct sanx_ports *a, const struct sanx_ports *b,
			const struct sanx_port_use *use)
{
	int verdict = naive_rules(a, use, false);

	if (verdict < 0)
		verdict = naive_rules(b, use, false);
	if (verdict < 0)
		verdict = naive_rules(a, use, true);
	if (verdict < 0)
		verdict = naive_rules(b, use, true);
	return verdict;
}

static bool has(const struct sanx_ports *ports, const struct sanx_port_rule *r)
{
	const struct sanx_port_rule *q;
	unsigned int i;

	for (i = 0; i < ports->n; i++) {
		q = &ports->rule[i];
		if (q->space == r->space && q->first == r->first && q->last == r->last &&
		    q->allow == r->allow &&
		    q->ways == r->ways && q->node == r->node &&
		    q->prefix_len == r->prefix_len && ipv6_addr_equal(&q->prefix, &r->prefix))
			return true;
	}
	return false;
}

static void try_without(const struct sanx_ports *ports, const struct sanx_ports *less)
{
	unsigned int missing = ~0U, i, n = 0;
	struct sanx_ports *rest = sanx_ports_without(ports, less, &missing);

	if (IS_ERR(rest)) {
		fuzz_assert(PTR_ERR(rest) == -ENOENT && missing < less->n);
		fuzz_assert(!has(ports, &less->rule[missing]));
		return;
	}
	for (i = 0; i < less->n; i++)
		fuzz_assert(has(ports, &less->rule[i]) && !has(rest, &less->rule[i]));
	/* What is left is in the same order. */
	for (i = 0; i < ports->n; i++) {
		if (has(less, &ports->rule[i]))
			continue;
		fuzz_assert(n < rest->n);
		fuzz_assert(!memcmp(&rest->rule[n++], &ports->rule[i], sizeof(rest->rule[0])));
	}
	fuzz_assert(rest->n == n);
	kvfree(rest);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input in = { data, size };
	struct sanx_ports *a, *b, *sum;
	struct sanx_port_use use = {};

	sim_abort = true;
	a = take_rules(&in);
	b = take_rules(&in);
	sum = sanx_ports_append(a, b);
	fuzz_assert(sum->n == a->n + b->n);
	while (in.size) {
		take_use(&in, &use);
		fuzz_assert(sanx_ports_allow(a, &use) == naive_allow(a, NULL, &use));
		fuzz_assert(sanx_ports_allow(sum, &use) == naive_allow(a, b, &use));
		fuzz_assert(sanx_ports_allow(NULL, &use));
	}
	try_without(a, b);
	try_without(sum, b);
	try_without(a, a);
	kvfree(a);
	kvfree(b);
	kvfree(sum);
	fuzz_assert(!sim_mem_live());
	return 0;
}
