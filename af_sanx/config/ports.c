// SPDX-License-Identifier: GPL-2.0
/*
 * Port rules: the connections that AF_SANX may carry, by the listener's port, who
 * asks, and the peer (sci-socket.txt 4.3 has ports only).  The first rule that
 * matches decides; if none does, the first default that matches; if none does,
 * AF_SANX may.
 *
 * As with the node map, one store replaces all rules, and a lookup takes no
 * lock.
 */
#include <linux/export.h>
#include <linux/slab.h>

#include "config.h"

/**
 * sanx_ports_alloc() - allocate a list of rules
 * @n: number of rules, at most SANX_PORTS_MAX; the caller fills them in
 *
 * Context: process, may sleep.
 * Return: the list, owned by the caller, to be freed with kvfree(); or NULL.
 */
struct sanx_ports *sanx_ports_alloc(unsigned int n)
{
	struct sanx_ports *ports;

	if (n > SANX_PORTS_MAX)
		return NULL;
	ports = kvzalloc(struct_size(ports, rule, n), GFP_KERNEL_ACCOUNT);
	if (ports)
		ports->n = n;
	return ports;
}
EXPORT_SYMBOL_IF_KUNIT(sanx_ports_alloc);

/* An explicit socket's peer has the addresses of its node. */
static bool prefix_matches(const struct sanx_port_rule *rule, const struct sanx_port_use *use)
{
	if (!rule->prefix_len)
		return true;
	if (use->space == SANX_PORT_SPACE_EXPLICIT)
		return sanx_nodemap_node_in(use->map, use->node, &rule->prefix, rule->prefix_len);
	return ipv6_prefix_equal(&rule->prefix, &use->peer, rule->prefix_len);
}

static bool rule_matches(const struct sanx_port_rule *rule,
			 const struct sanx_port_use *use)
{
	return (!rule->ways || rule->ways & use->way) &&
	       (!rule->node || rule->node == use->node) && prefix_matches(rule, use);
}

static bool rule_has_port(const struct sanx_port_rule *rule, const struct sanx_port_use *use)
{
	return rule->space == use->space && use->port >= rule->first &&
	       use->port <= rule->last;
}

/* Return: the rule that decides about a connection, or NULL. */
static const struct sanx_port_rule *ports_find(const struct sanx_ports *ports,
					       const struct sanx_port_use *use)
{
	const struct sanx_port_rule *rule, *fallback = NULL;
	unsigned int i;

	for (i = 0; ports && i < ports->n; i++) {
		rule = &ports->rule[i];
		if (!rule_matches(rule, use))
			continue;
		if (rule_has_port(rule, use))
			return rule;
		if (!rule->first && !fallback)
			fallback = rule;
	}
	return fallback;
}

/**
 * sanx_ports_allow() - look up a connection
 * @ports: the rules, or NULL for none
 * @use: the connection
 *
 * Context: any; the caller keeps @ports.
 * Return: true if AF_SANX may carry it.
 */
bool sanx_ports_allow(const struct sanx_ports *ports,
		      const struct sanx_port_use *use)
{
	const struct sanx_port_rule *rule = ports_find(ports, use);

	return !rule || rule->allow;
}
EXPORT_SYMBOL_IF_KUNIT(sanx_ports_allow);

/**
 * sanx_ports_append() - append rules to a list
 * @ports: the rules, or NULL for none
 * @more: the rules to append
 *
 * Context: process, may sleep.
 * Return: a new list, owned by the caller; or NULL without memory or for more
 * than SANX_PORTS_MAX rules.  @ports and @more stay the caller's.
 */
struct sanx_ports *sanx_ports_append(const struct sanx_ports *ports,
				     const struct sanx_ports *more)
{
	unsigned int n = ports ? ports->n : 0;
	struct sanx_ports *sum = sanx_ports_alloc(n + more->n);

	if (!sum)
		return NULL;
	if (n)
		memcpy(sum->rule, ports->rule, n * sizeof(sum->rule[0]));
	memcpy(sum->rule + n, more->rule, more->n * sizeof(sum->rule[0]));
	return sum;
}
EXPORT_SYMBOL_IF_KUNIT(sanx_ports_append);

static bool same_rule(const struct sanx_port_rule *a,
		      const struct sanx_port_rule *b)
{
	return a->space == b->space && a->first == b->first && a->last == b->last &&
	       a->allow == b->allow && a->ways == b->ways &&
	       a->node == b->node && a->prefix_len == b->prefix_len &&
	       ipv6_addr_equal(&a->prefix, &b->prefix);
}

static bool has_rule(const struct sanx_ports *ports,
		     const struct sanx_port_rule *rule)
{
	unsigned int i;

	for (i = 0; ports && i < ports->n; i++)
		if (same_rule(&ports->rule[i], rule))
			return true;
	return false;
}

/**
 * sanx_ports_without() - remove rules from a list
 * @ports: the rules, or NULL for none
 * @less: the rules to remove, at any position
 * @missing: set to the index in @less of a rule that @ports lacks
 *
 * Context: process, may sleep.
 * Return: a new list, owned by the caller; NULL without memory; or
 * ERR_PTR(-ENOENT).  @ports and @less stay the caller's.
 */
struct sanx_ports *sanx_ports_without(const struct sanx_ports *ports,
				      const struct sanx_ports *less,
				      unsigned int *missing)
{
	struct sanx_ports *rest;
	unsigned int i, n = 0;

	for (i = 0; i < less->n; i++) {
		*missing = i;
		if (!has_rule(ports, &less->rule[i]))
			return ERR_PTR(-ENOENT);
	}
	rest = sanx_ports_alloc(ports ? ports->n : 0);
	if (!rest)
		return NULL;
	for (i = 0; ports && i < ports->n; i++)
		if (!has_rule(less, &ports->rule[i]))
			rest->rule[n++] = ports->rule[i];
	rest->n = n;
	return rest;
}
EXPORT_SYMBOL_IF_KUNIT(sanx_ports_without);

/**
 * sanx_ports_publish() - replace the rules in use
 * @sn: the namespace
 * @ports: the rules, or NULL for none; owned by the namespace afterwards
 *
 * Frees the old rules after a grace period.  The reader sanx_port_rule()
 * uses rcu_dereference(), which pairs with the release in
 * rcu_replace_pointer().
 *
 * Context: process, may sleep; config_mutex held, or the namespace is exiting.
 */
void sanx_ports_publish(struct sanx_net *sn, struct sanx_ports *ports)
{
	struct sanx_ports *old;

	WRITE_ONCE(sn->config_seq, sn->config_seq + 1);
	old = rcu_replace_pointer(sn->ports, ports, true);
	if (old)
		kvfree_rcu(old, rcu);
}

/* An explicit socket has its port in the address. */
static void use_set_port(struct sanx_port_use *use, const struct sanx_endpoint *at)
{
	if (sanx_addr_explicit(&at->addr)) {
		use->space = SANX_PORT_SPACE_EXPLICIT;
		use->port = sanx_addr_port(&at->addr);
	} else {
		use->space = SANX_PORT_SPACE_INET;
		use->port = ntohs(at->port);
	}
}

/**
 * sanx_port_rule() - which rule decides about a connection?
 * @net: the namespace
 * @way: who asks for it
 * @peer: the peer's address
 * @at: the listener's end: the peer's for SANX_WAY_OUT
 * @nr: set to the number of the rule, from 1; 0 if none decides
 *
 * Context: any.
 * Return: true if AF_SANX may carry it.
 */
bool sanx_port_rule(struct net *net, enum sanx_way way,
		    const struct in6_addr *peer, const struct sanx_endpoint *at,
		    unsigned int *nr)
{
	struct sanx_port_use use = { .way = way, .peer = *peer };
	const struct sanx_port_rule *rule = NULL;
	const struct sanx_ports *ports;
	struct sanx_node_info info;
	bool allow = true;

	*nr = 0;
	use_set_port(&use, at);
	rcu_read_lock();
	ports = rcu_dereference(sanx_net(net)->ports);
	if (ports && ports->n) {
		use.map = rcu_dereference(sanx_net(net)->nodemap);
		if (sanx_node_by_addr(net, peer, &info))
			use.node = info.id;
		rule = ports_find(ports, &use);
	}
	if (rule) {
		allow = rule->allow;
		*nr = rule - ports->rule + 1;
	}
	rcu_read_unlock();
	return allow;
}

/**
 * sanx_port_allowed() - may AF_SANX carry a connection?
 * @net: the namespace
 * @way: who asks for it
 * @peer: the peer's address
 * @at: the listener's end: the peer's for SANX_WAY_OUT
 *
 * Context: any.
 * Return: true if so.
 */
bool sanx_port_allowed(struct net *net, enum sanx_way way, const struct in6_addr *peer,
		       const struct sanx_endpoint *at)
{
	unsigned int nr;

	return sanx_port_rule(net, way, peer, at, &nr);
}
