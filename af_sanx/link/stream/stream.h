/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Connections of a lane: what links (peer/) use of them, and what the core does.
 *
 *	on a link, from attach to release		attach.c ask.c release.c
 *	its end						close.c
 *	what it sends					sender.c long.c lend.c
 *	frames of the peer about it			arrival.c
 *	its rings: memory, sizes			rings.c grow.c
 *	the peer's ring					window.c
 *	from a lost link to the next			suspend.c resume.c
 *
 * A connection can outlive its link (suspend.c) and continue on another one (resume.c).
 * lconn.link therefore changes.  Code that needs it takes sanx_lconn_lock(), or reads it
 * under RCU.
 */
#ifndef _SANX_STREAM_H
#define _SANX_STREAM_H

#include <linux/mutex.h>
#include <linux/xarray.h>

#include "link/frame/frames.h"

/**
 * struct sanx_streams - the connections of a lane
 * @lock: lnet.lock of its namespace, which guards all fields but @ids and @next_id
 * @suspended: suspended &struct sanx_lconn, with the reference of their attachment
 * @n_suspended: number of @suspended
 * @resumed: when the peer last resumed one of @suspended, or when the link came up on which
 *	it could begin to, in jiffies
 * @retry: tries for a link for @suspended, and checks their time limits; set by peer/
 * @ids: &struct sanx_lconn by our id, attached or suspended; written under the
 *	xa_lock, read under RCU
 * @next_id: where the search for the next id starts; xa_lock of @ids
 */
struct sanx_streams {
	struct mutex		*lock; /* guards: see above */
	struct list_head	suspended;
	unsigned int		n_suspended;
	unsigned long		resumed;
	struct delayed_work	retry;
	struct xarray		ids;
	u32			next_id;
};

/* attach.c */
struct sanx_lconn *sanx_lconn_find(struct sanx_streams *streams, u32 id);
int sanx_lconn_open(struct sanx_lconn *lc, struct sanx_link *link);
int sanx_lconn_reopen(struct sanx_lconn *lc);
int sanx_lconn_attach(struct sanx_lconn *lc, struct sanx_link *link,
		      enum sanx_lconn_phase phase);

/* ask.c */
bool sanx_ask_unanswered(const struct sanx_link *link);
void sanx_ask_work(struct work_struct *work);

/* sender.c */
ssize_t sanx_lconn_send(struct sanx_conn *conn, struct msghdr *msg,
			size_t len, int flags, enum sanx_held held);
void sanx_lconn_announce(struct sanx_conn *conn);
u32 sanx_lconn_room(struct sanx_conn *conn, enum sanx_room which);
u32 sanx_lconn_unsent(struct sanx_conn *conn);
bool sanx_lconn_drained(struct sanx_conn *conn);
void sanx_lconn_consumed(struct sanx_conn *conn);
void sanx_lconn_fin(struct sanx_conn *conn);

/* long.c */
void sanx_long_wait(struct sanx_conn *conn, u64 to);
u32 sanx_long_cutoff(const struct sanx_link *link);
void sanx_long_tune(struct sanx_link *link);

/* arrival.c */
int sanx_lconn_frame(struct sanx_lconn *lc, struct sanx_link *link,
		     const struct sanx_frame *f);

/* close.c */
void sanx_lconn_close(struct sanx_conn *conn, bool reset);
void sanx_lconn_sweep(struct sanx_link *link);
void sanx_lconn_cut(struct sanx_conn *conn);
void sanx_lconn_liveness(struct sanx_conn *conn,
			 struct sanx_liveness_report *report);
void sanx_lconn_probe(struct sanx_conn *conn);

/* release.c */
void sanx_lconn_destroy(struct sanx_conn *conn);
void sanx_lconn_fail_all(struct sanx_link *link);
void sanx_lconn_init(struct sanx_lconn *lc);

/* suspend.c */
void sanx_suspend_save(struct sanx_link *link);
void sanx_suspend_serve(struct sanx_lconn *lc);
void sanx_suspend_serve_all(struct sanx_streams *streams);
void sanx_suspend_reset(struct sanx_lconn *lc, int err);
void sanx_suspend_reset_all(struct sanx_streams *streams, int err);

/* resume.c */
enum attached sanx_resume_ask(struct sanx_lconn *lc, struct sanx_link *link);
int sanx_resume_check(struct sanx_lconn *lc, struct sanx_request *o);
enum attached sanx_resume_attach(struct sanx_lconn *lc, struct sanx_link *link);
int sanx_resume_take(struct sanx_lconn *lc, struct sanx_request *o);
int sanx_resume_later(struct sanx_lconn *lc, struct sanx_request *o);

/* rings.c */
void sanx_rings_work(struct work_struct *work);
void sanx_rings_left(struct sanx_conn *conn, const struct sanx_left *left);

/* window.c */
int sanx_window_ok(const struct sanx_link *link,
		   const struct sanx_window_info *win);
void sanx_window_open(struct sanx_lconn *lc,
		      const struct sanx_window_info *win);
bool sanx_window_reclaim(struct sanx_conn *conn);

#endif /* _SANX_STREAM_H */
