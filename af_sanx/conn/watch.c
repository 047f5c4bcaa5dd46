// SPDX-License-Identifier: GPL-2.0
/* Who is told what happens, from below. */
#include "conn_priv.h"
#include "trace.h"
#include "watch.h"

const struct sanx_watch __rcu *sanx_watch;

/**
 * sanx_watch_set() - say who is told what happens
 * @watch: it; NULL: nobody any more
 *
 * Context: init and exit of the module.  Nobody is told by what was set before when it
 * returns.
 */
void sanx_watch_set(const struct sanx_watch *watch)
{
	rcu_assign_pointer(sanx_watch, watch);
	synchronize_rcu();
}

/**
 * sanx_count_protocol_error() - count a message that no correct peer sends
 * @net: the namespace of the link or connection
 *
 * Context: any.
 */
void sanx_count_protocol_error(struct net *net)
{
	trace_sanx_protocol_error(net);
	sanx_stat_add(net, SANX_STAT_PROTOCOL_ERRORS, 1);
}
