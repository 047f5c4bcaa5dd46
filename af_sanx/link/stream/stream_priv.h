/* SPDX-License-Identifier: GPL-2.0 */
/* What the files of this folder share; stream.h has what others use. */
#ifndef _SANX_STREAM_PRIV_H
#define _SANX_STREAM_PRIV_H

#include "stream.h"

/* attach.c */
bool sanx_lconn_pin(struct sanx_lconn *lc, const struct sanx_wire_ops *wire);
void sanx_lconn_join(struct sanx_lconn *lc, struct sanx_link *link);

/* ask.c */
void sanx_ask_begin(struct sanx_lconn *lc);
void sanx_ask_answered(struct sanx_lconn *lc);

/* long.c */
bool sanx_long_wants(struct sanx_lconn *lc, const struct iov_iter *from,
		     size_t len, int flags);
size_t sanx_long_room(struct sanx_lconn *lc, const struct iov_iter *from);
size_t sanx_long_send(struct sanx_lconn *lc, struct iov_iter *from, size_t len);

/* lend.c */
struct sanx_chunk *sanx_lend_pages(struct iov_iter *from, enum sanx_chunk_kind kind,
				   size_t *len);
bool sanx_lend_asked(const struct msghdr *msg);
size_t sanx_lend_head(struct sanx_lconn *lc, const struct msghdr *msg, size_t len, int flags);
size_t sanx_lend(struct sanx_lconn *lc, struct msghdr *msg, size_t len, int flags,
		 bool announce);
int sanx_lend_save(struct sanx_lconn *lc, bool all);

/* close.c */
void sanx_lconn_reset_unread(struct sanx_lconn *lc);
void sanx_lconn_last_words(struct sanx_lconn *lc);
void sanx_lconn_cut_locked(struct sanx_lconn *lc);

/* release.c */
bool sanx_lconn_survives(const struct sanx_lconn *lc);

/* suspend.c */
void sanx_suspend_take(struct sanx_lconn *lc, struct sanx_link *link);
void sanx_suspend_release(struct sanx_lconn *lc);

/* resume.c */
int sanx_resume_answer(struct sanx_lconn *lc, const struct sanx_frame *f);
int sanx_resume_refused(struct sanx_lconn *lc);

/* rings.c */
int sanx_rings_init(struct sanx_lconn *lc);
int sanx_rings_make(struct sanx_lconn *lc, struct sanx_link *link, u32 size);
int sanx_rings_arrival(struct sanx_lconn *lc, const struct sanx_frame *f);
int sanx_rings_leave(struct sanx_lconn *lc, const struct sanx_frame *f);
void sanx_rings_lost(struct sanx_lconn *lc);
void sanx_rings_drop(struct sanx_lconn *lc);
int sanx_rings_map(struct sanx_lconn *lc, struct sanx_link *link);
void sanx_rings_resumed(struct sanx_lconn *lc);
void sanx_rings_unmap(struct sanx_lconn *lc);
bool sanx_rings_destroy_sleeps(const struct sanx_lconn *lc);
void sanx_rings_destroy(struct sanx_lconn *lc);

/* grow.c */
int sanx_grow_ring(struct sanx_lconn *lc);
void sanx_grow_arrival(struct sanx_lconn *lc, const struct sanx_frame *f);
void sanx_grow_read(struct sanx_lconn *lc);

/* window.c */
int sanx_window_ring(struct sanx_lconn *lc, const struct sanx_frame *f);
int sanx_window_resume(struct sanx_lconn *lc, const struct sanx_frame *f,
		       const struct sanx_window_info *win);

#endif /* _SANX_STREAM_PRIV_H */
