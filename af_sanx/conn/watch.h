/* SPDX-License-Identifier: GPL-2.0 */
/* Who is told what happens, from below. */
#ifndef _SANX_CONN_WATCH_H
#define _SANX_CONN_WATCH_H

#include <linux/rcupdate.h>

#include "transport.h"

struct sanx_link_info;
struct sanx_rail_info;

/**
 * struct sanx_watch - who is told
 * @on_conn: a connection is about to change its state to @next; under conn->lock
 * @on_fallback: a socket becomes TCP; @remote is where it connects to, or NULL if it does not;
 *	under lock_sock()
 * @on_link: a link is there, or begins to end; under link->tx_lock
 * @on_rail: a rail has another cause for having no link, or has one; under lnet.lock
 *
 * They do not sleep, and run under RCU.  (Probes of tracepoints would run without
 * preemption, where PREEMPT_RT has no memory to give.)
 */
struct sanx_watch {
	void (*on_conn)(struct sanx_conn *conn, enum sanx_conn_state next);
	void (*on_fallback)(const struct sock *sk, const struct sanx_endpoint *remote,
			    enum sanx_fallback why);
	void (*on_link)(struct net *net, const struct sanx_link_info *info);
	void (*on_rail)(struct net *net, const struct sanx_rail_info *info);
};

extern const struct sanx_watch __rcu *sanx_watch;

void sanx_watch_set(const struct sanx_watch *watch);

/**
 * sanx_tell() - tell what happens
 * @what: member of struct sanx_watch, without "on_"
 * @...: its arguments
 */
#define sanx_tell(what, ...) do {					\
	const struct sanx_watch *__w;					\
									\
	rcu_read_lock();						\
	__w = rcu_dereference(sanx_watch);				\
	if (__w)							\
		__w->on_##what(__VA_ARGS__);				\
	rcu_read_unlock();						\
} while (0)

#endif /* _SANX_CONN_WATCH_H */
