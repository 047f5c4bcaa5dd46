/* SPDX-License-Identifier: GPL-2.0 */
/* Listeners, for listener.c and backlog.c. */
#ifndef _SANX_CONN_LISTENER_H
#define _SANX_CONN_LISTENER_H

#include "conn.h"

#define TABLE_BITS	8

/**
 * struct sanx_listener_table - the listeners of a namespace
 * @refs: references: the namespace's, and one of each of its sockets
 * @lock: see above
 * @mix: odd, and nobody's guess: programs choose ports of explicit sockets
 * @heads: &struct sanx_listener by port
 * @taken: connections that accept() took and that no socket shows yet, by
 *	sanx_conn.node
 * @rcu: frees the table
 */
struct sanx_listener_table {
	refcount_t		refs;
	spinlock_t		lock; /* guards: see above */
	u32			mix;
	struct hlist_head	heads[1 << TABLE_BITS];
	struct list_head	taken;
	struct rcu_head		rcu;
};

/* backlog.c; the lock of the table is held, but where it says otherwise */
bool sanx_backlog_full(struct sanx_listener *lsk, const struct in6_addr *remote);
int sanx_backlog_add(struct sanx_listener *lsk, struct sanx_conn *conn);
struct sanx_conn *sanx_backlog_first(const struct sanx_listener *lsk);
struct sock *sanx_backlog_migrate(struct sanx_listener *lsk, struct sanx_listener *heir,
				  struct sanx_conn *conn);
void sanx_backlog_take(struct sanx_listener *lsk, struct list_head *queue);
/* Without that lock: */
void sanx_backlog_ready(struct sock *sk);
void sanx_backlog_drop(struct list_head *queue);
void sanx_backlog_expire(struct work_struct *work);

#endif /* _SANX_CONN_LISTENER_H */
