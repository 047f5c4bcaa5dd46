/* SPDX-License-Identifier: GPL-2.0 */
/* Declarations for the files of af_sanx/conn/ only. */
#ifndef _SANX_CONN_PRIV_H
#define _SANX_CONN_PRIV_H

#include "conn.h"

/**
 * enum sanx_conn_event - event that changes the state of a connection
 * @SANX_EV_CONNECT: the peer was asked
 * @SANX_EV_ESTABLISH: the peer accepted, or we did
 * @SANX_EV_REFUSE: no connection; the socket becomes TCP
 * @SANX_EV_FIN_TX: our direction ends
 * @SANX_EV_FIN_RX: the peer's direction ends
 * @SANX_EV_DIE: reset, abort or close
 */
enum sanx_conn_event {
	SANX_EV_CONNECT,
	SANX_EV_ESTABLISH,
	SANX_EV_REFUSE,
	SANX_EV_FIN_TX,
	SANX_EV_FIN_RX,
	SANX_EV_DIE,
	/* private: */
	__SANX_EVS
};

/* conn.c */
struct sock *sanx_conn_sk(struct sanx_conn *conn);
void sanx_conn_start_clocks(struct sanx_conn *conn);
void sanx_conn_tell_user(struct sanx_conn *conn);
void sanx_conn_tell(struct sanx_conn *conn);
int sanx_conn_event(struct sanx_conn *conn, enum sanx_conn_event ev);
int sanx_conn_event_locked(struct sanx_conn *conn, enum sanx_conn_event ev);
void sanx_conn_set_shutdown(struct sanx_conn *conn, u8 how);

/* begin.c */
int sanx_conn_accept(struct sanx_conn *conn);
void sanx_conn_count(const struct sanx_conn *conn);
void sanx_conn_retry_work(struct kthread_work *work);

/* wake.c */
void sanx_conn_tx_look(struct sanx_conn *conn);

/* state.c */
int sanx_state_next(enum sanx_conn_state state, enum sanx_conn_event ev);

/* user.c */
u32 sanx_service_ring_size(struct net *net);
int sanx_service_take(struct sanx_conn *conn);

/* backlog.c */
void sanx_listener_news(struct sanx_conn *conn);

/* feed.c */
bool sanx_feed_arrived(struct sanx_conn *conn, const struct sock *sk);
bool sanx_feed_changed(struct sanx_conn *conn);

/* native.c */
struct sock *sanx_native_listener(struct net *net, const struct sanx_endpoint *local,
				  const struct sanx_endpoint *remote,
				  const struct sanx_arrival *by);

/* later.c */
void sanx_conn_later(struct sanx_conn *conn, struct delayed_work *work,
		     unsigned long delay);
void sanx_conn_sooner(struct sanx_conn *conn, struct delayed_work *work,
		      unsigned long delay);
void sanx_conn_later_done(struct sanx_conn *conn);
void sanx_conn_later_stop(struct sanx_conn *conn, struct delayed_work *work);

/* work.c */
void sanx_conn_work_init(struct sanx_conn_work *work, struct sanx_conn *conn,
			 kthread_work_func_t fn);
void sanx_conn_work_set(struct sanx_conn_work *work, kthread_work_func_t fn);
void sanx_conn_work_again(struct sanx_conn_work *work, unsigned long delay);
void sanx_conn_work_queue(struct sanx_conn_work *work, unsigned long delay);
void sanx_conn_work_stop(struct sanx_conn_work *work);

/* liveness.c */
void sanx_liveness_init(struct sanx_conn *conn);
unsigned long sanx_liveness_connects(const struct sock *sk);
void sanx_liveness_stop(struct sanx_conn *conn);

/* hold.c */
void sanx_hold_init(struct sanx_conn *conn);
unsigned long sanx_hold_expire(struct sanx_conn *conn);
void sanx_hold_fin(struct sanx_conn *conn);
void sanx_hold_stop(struct sanx_conn *conn);

/* tx_timer.c */
void sanx_tx_timer_init(struct sanx_conn *conn);
void sanx_tx_timer_arm(struct sanx_conn *conn, unsigned long delay);
void sanx_tx_timer_stop(struct sanx_conn *conn);

/* reclaim.c */
void sanx_reclaim_init(struct sanx_conn *conn);
void sanx_reclaim_stop(struct sanx_conn *conn);

/* urgent.c */
void sanx_urg_init(struct sanx_urg *urg);

/* memalloc.c */
bool sanx_memalloc_needed(const struct sock *sk);

#endif /* _SANX_CONN_PRIV_H */
