// SPDX-License-Identifier: GPL-2.0
/* Who is told what happens, from below. */
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
