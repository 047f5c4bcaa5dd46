/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Frames of links, out and in: what connections (stream/) and links (peer/) use of them.
 *
 *	link	what holds all: its state, its peer's answers	link.c payer.c user.c
 *	lconn	the way from a connection to its link		lconn.c
 *	out	order of frames, payload, contents, messages	xmit.c payload.c emit.c wr.c
 *	in	the bytes of a frame				format.c
 *		acknowledgments					ack.c
 *	memory	to send from, to be written by the peer		chunk.c sndbuf.c ringmem.c
 *		its generations, and which is offered		ringgen.c offer.c
 *
 * link.tx_lock guards what is sent of a link, and the flags of its connections.
 */
#ifndef _SANX_FRAMES_H
#define _SANX_FRAMES_H

#include "config/config.h"
#include "lconn.h"
#include "link.h"

/*
 * Pieces of this size are not coalesced: compared with moving the bytes, a
 * chain of their own costs little.
 */
#define PAYLOAD_PIECE	32768U

/**
 * enum sanx_publish - what becomes of payload that was copied to the send buffer
 * @SANX_PUBLISH_HELD: it is held back
 * @SANX_PUBLISH_MORE: it is sent, with all bytes before, and the sender is about to
 *	publish more
 * @SANX_PUBLISH_LAST: it is sent, with all bytes before
 */
enum sanx_publish {
	SANX_PUBLISH_HELD,
	SANX_PUBLISH_MORE,
	SANX_PUBLISH_LAST,
};

/* params.c */
extern struct workqueue_struct *sanx_link_wq;
extern struct workqueue_struct *sanx_accept_wq;
extern struct workqueue_struct *sanx_lconn_wq;
extern unsigned int link_timeout_ms;
extern unsigned int link_hold_ms;
extern unsigned int heartbeat_ms;
extern unsigned int failover_ms;
extern unsigned int rail_hold_ms;
extern unsigned int lanes;
extern unsigned int grow_ms;
extern unsigned int long_min;
int sanx_params_init(void);
void sanx_params_exit(void);

/* On kernels with fault injection, tests widen short race windows. */
#ifdef CONFIG_FAULT_INJECTION
extern unsigned int hold_up_ms;

static inline void sanx_debug_hold_up(void)
{
	if (READ_ONCE(hold_up_ms))
		msleep(READ_ONCE(hold_up_ms));
}
#else
static inline void sanx_debug_hold_up(void)
{
}
#endif

/* link.c */
const char *sanx_link_state_name(enum sanx_link_state state);
const char *sanx_link_kind_name(enum sanx_wire_kind kind);
void sanx_link_set_state(struct sanx_link *link, enum sanx_link_state to);
void sanx_link_kill_locked(struct sanx_link *link, enum sanx_link_end why);
void sanx_link_kill(struct sanx_link *link, enum sanx_link_end why);
int sanx_link_errno(const struct sanx_link *link);
void sanx_link_set_reserves(struct sanx_link *link);
void sanx_link_put(struct sanx_link *link);
void sanx_link_user_put(struct sanx_link *link);
struct beat sanx_link_beat(const struct sanx_link *link, unsigned int times);
void sanx_link_beat_in(struct sanx_link *link, unsigned long wait);
void sanx_link_wake(struct sanx_link *link);
void sanx_link_ask(struct sanx_link *link);
bool sanx_link_quiet(const struct sanx_link *link);
unsigned long sanx_link_heard(const struct sanx_link *link);

/* The time between two beats of the heart of a link, in jiffies. */
static inline unsigned long sanx_beat_every(void)
{
	return msecs_to_jiffies(READ_ONCE(heartbeat_ms));
}

/* A link is used, or about to be; tx_lock held.  If it rests, it looks after its peer again. */
static inline void sanx_link_used(struct sanx_link *link)
{
	lockdep_assert_held(&link->tx_lock);
	if (unlikely(link->pace == BEAT_RESTS))
		sanx_link_wake(link);
}

/* request.c */
void sanx_request_put(struct sanx_request *o);
void sanx_request_queue(struct sanx_request *o);
void sanx_request_hurry(struct sanx_link *link);

/* lconn.c */
struct sanx_link *sanx_lconn_lock(struct sanx_lconn *lc)
	__acquires(&lc->link->tx_lock);
struct sanx_link *sanx_lconn_link_get(struct sanx_lconn *lc);
u64 sanx_lconn_token(struct sanx_lconn *lc, const struct sanx_link *link,
		     bool ours);
void sanx_lconn_set_released(struct sanx_lconn *lc);
void sanx_lconn_check_over(struct sanx_lconn *lc);
void sanx_lconn_abort(struct sanx_lconn *lc);

/* xmit.c */
bool sanx_xmit_ok(const struct sanx_link *link);
void sanx_xmit_run(struct sanx_link *link);
void sanx_xmit_pend(struct sanx_lconn *lc, u32 frames);
struct sanx_link *sanx_xmit_lock_push(struct sanx_lconn *lc)
	__acquires(&lc->link->tx_lock);
void sanx_xmit_unlock_push(struct sanx_link *link, bool more)
	__releases(&link->tx_lock);
void sanx_xmit_request(struct sanx_lconn *lc);
void sanx_xmit_announce(struct sanx_lconn *lc);
void sanx_xmit_unlock(struct sanx_link *link) __releases(&link->tx_lock);

/* emit.c */
void sanx_emit_auth(struct sanx_link *link);
void sanx_emit_leave(struct sanx_link *link, struct sanx_lconn *lc);

/* ack.c */
void sanx_slot_free(struct sanx_link *link, struct sanx_slot *slot);
void sanx_ack_run(struct sanx_link *link, struct list_head *spent);
void sanx_ack_forget(struct sanx_lconn *lc);
void sanx_ack_ask(struct sanx_lconn *lc);
void sanx_ack_fin(struct sanx_lconn *lc);
void sanx_ack_await(struct sanx_lconn *lc);
void sanx_ack_work(struct work_struct *work);
const struct sanx_slot *sanx_ack_oldest(struct sanx_link *link);

/* payload.c */
int sanx_payload_inline(struct sanx_lconn *lc, struct iov_iter *from, u32 len,
			bool urgent);
int sanx_payload_taken(struct sanx_lconn *lc, u32 len, bool urgent,
		       enum sanx_publish how);
u32 sanx_payload_long(struct sanx_lconn *lc, struct sanx_link *link,
		      struct sanx_chunk *c, u32 len);
int sanx_payload_lent(struct sanx_lconn *lc, struct sanx_link *link, struct sanx_chunk *c,
		      struct ubuf_info *ubuf, enum sanx_publish how);

/* offer.c */
void sanx_offer_queue(struct sanx_lconn *lc, unsigned long delay);
void sanx_offer_size(struct sanx_lconn *lc, const struct sanx_ringgen *gen);
void sanx_offer_want(struct sanx_lconn *lc);
void sanx_offer_check(struct sanx_lconn *lc, u64 tail);

/* ringmem.c */
int sanx_lring_alloc(struct sanx_lring *ring, u32 size,
		     const struct sanx_lconn *lc, struct sanx_link *link,
		     enum sanx_claim claim);
void sanx_lring_free(struct sanx_lring *ring);
bool sanx_lring_free_sleeps(const struct sanx_lring *ring);
int sanx_lring_map(struct sanx_lring *ring, struct sanx_link *link, u64 iova);
void sanx_lring_unmap(struct sanx_lring *ring);
void sanx_lring_sync(const struct sanx_lring *ring, u64 offset, u32 len);
u32 sanx_lring_max(const struct sanx_link *link);

/* chunk.c */
struct sanx_chunk *sanx_chunk_new(enum sanx_chunk_kind kind, u32 n);
struct sanx_chunk *sanx_chunk_alloc(struct sanx_lconn *lc, struct sanx_link *link,
				    enum sanx_chunk_kind kind, u32 size, u32 least,
				    enum sanx_claim claim);
void sanx_chunk_free(struct sanx_chunk *c);
void sanx_chunk_put(struct sanx_chunk *c);
int sanx_chunk_map(struct sanx_chunk *c, struct sanx_link *link);
void sanx_chunk_unmap(struct sanx_chunk *c, struct sanx_link *link);
void sanx_chunk_drop(struct sanx_lconn *lc, struct sanx_chunk *c);
struct sanx_chunk *sanx_chunk_at(struct sanx_lconn *lc, u64 offset);
const void *sanx_chunk_bytes(const struct sanx_chunk *c, u64 offset, u32 *len);
void *sanx_chunk_tail(struct sanx_lconn *lc, u32 want, enum sanx_chunk_kind kind, u32 *n);
bool sanx_chunk_lacks(struct sanx_lconn *lc);
u32 sanx_chunk_keep(struct sanx_lconn *lc, u64 offset, const u8 *data, u32 len);
void sanx_chunk_insert(struct sanx_lconn *lc, struct sanx_chunk *c, u64 offset);
void sanx_chunks_spent(struct sanx_link *link, struct list_head *spent);
void sanx_chunks_settle(struct sanx_lconn *lc);
int sanx_chunks_map(struct sanx_lconn *lc);
void sanx_chunks_unmap(struct sanx_lconn *lc);
void sanx_chunks_over(struct sanx_lconn *lc);
void sanx_chunks_drop_unused(struct sanx_lconn *lc);
bool sanx_chunks_reclaim(struct sanx_lconn *lc);
void sanx_chunks_free(struct sanx_lconn *lc);

/* sndbuf.c */
void sanx_sndbuf_set_max(struct sanx_lconn *lc);
u32 sanx_sndbuf_room(const struct sanx_lconn *lc);
u32 sanx_sndbuf_spare(struct sanx_lconn *lc);
u32 sanx_sndbuf_beyond(struct sanx_lconn *lc, int flags);

#endif /* _SANX_FRAMES_H */
