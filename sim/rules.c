// SPDX-License-Identifier: GPL-2.0
/*
 * Port rules that come while connections are there: the list of all sockets, as in
 * af_sanx/socket/socks.c, in which af_sanx/socket/denied.c looks for connections that
 * are to end, and a look whether it has missed one.
 */
#include "config/config.h"
#include "program.h"
#include "socket/socket.h"

static LIST_HEAD(socks);
static DEFINE_SPINLOCK(socks_lock);

void sim_socks_add(struct sanx_sock *ss)
{
	spin_lock(&socks_lock);
	list_add_tail(&ss->node, &socks);
	spin_unlock(&socks_lock);
}

void sim_socks_del(struct sanx_sock *ss)
{
	spin_lock(&socks_lock);
	list_del_init(&ss->node);
	spin_unlock(&socks_lock);
}

struct sanx_conn *sanx_sock_conn(const struct sanx_sock *ss)
{
	/* As in af_sanx/socket/stream.c: pairs with smp_store_release() in sock.c. */
	return smp_load_acquire(&ss->conn);
}

bool sanx_socks_each(const struct net *net,
		     bool (*fn)(const struct sanx_sock *ss, void *arg), void *arg)
{
	const struct sanx_sock *ss;
	bool go_on = true;

	spin_lock(&socks_lock);
	list_for_each_entry(ss, &socks, node) {
		go_on = ss->sk->sim_net != net || fn(ss, arg);
		if (!go_on)
			break;
	}
	spin_unlock(&socks_lock);
	return go_on;
}

/* A node where a connection is between two steps in which a rule may miss it. */
static int soon;

/**
 * sim_rule_soon() - now would be a time for a rule
 * @node: the node
 */
void sim_rule_soon(int node)
{
	if (sim_chance(sim_plan.rules))
		soon = node;
}

/**
 * sim_rule_due() - is it time for a rule?
 * Return: the node, or 0.
 */
int sim_rule_due(void)
{
	int node = soon;

	soon = 0;
	return node;
}

/**
 * sim_rule_set() - have a node deny connections with a peer, by a rule
 * @n: the node
 * @rule: to be filled in: the peer, and the ways; or NULL for no rule
 */
void sim_rule_set(struct sim_node *n, const struct sanx_port_rule *rule)
{
	struct sanx_net *sn = sanx_net(n->net);
	struct sanx_ports *ports = NULL;

	if (rule) {
		ports = sanx_ports_alloc(1);
		ports->rule[0] = *rule;
	}
	mutex_lock(&sn->config_mutex);
	sanx_ports_publish(sn, ports);
	mutex_unlock(&sn->config_mutex);
}

/**
 * sim_rule_apply() - end what the rule of a node denies: sanxctl ports apply
 * @n: the node
 * @rule: its only rule
 */
void sim_rule_apply(struct sim_node *n, const struct sanx_port_rule *rule)
{
	sim_note("rules are applied: node, ended", n->id, sanx_denied_end(n->net));
	n->applied = *rule;
}

static bool denies(const struct sanx_port_rule *rule, const struct sanx_conn *conn)
{
	enum sanx_way way = conn->accepted ? SANX_WAY_IN : SANX_WAY_OUT;

	return (!rule->ways || rule->ways & way) &&
	       rule->node == conn->remote.addr.s6_addr[15];
}

/**
 * sim_rules_check() - nothing is left that an applied rule denies
 */
void sim_rules_check(void)
{
	const struct sanx_port_rule *rule;
	const struct sanx_sock *ss;
	struct sanx_conn *conn;

	if (socks_lock.owner)
		return;
	list_for_each_entry(ss, &socks, node) {
		conn = ss->conn;
		rule = &sim_nodes[ss->sk->sim_net->id].applied;
		if (rule->node && conn && conn->state >= SANX_CONN_ESTABLISHED &&
		    conn->state <= SANX_CONN_FINISHED && denies(rule, conn))
			sim_fail("node %d: a connection with node %u goes on that a rule denies",
				 ss->sk->sim_net->id, rule->node);
	}
}
