// SPDX-License-Identifier: GPL-2.0
/*
 * Messages to the peer.
 *
 * post() may be called in softirq, and the engine has a lock there that is inside of that
 * of the sock.  So it only queues.  Who sends is, if there is one, the process that has
 * posted and calls push(), or who has the sock locked, as TCP has when it calls us and the
 * engine posts in an upcall; else a work item.
 *
 * TCP takes payload as references to pages, and may send it again until the peer has
 * acknowledged it.  Only then is its message complete.  Frames, and payload for which
 * that costs more than a copy, TCP copies.
 *
 * Pages of programs are not lent (sanx_wire_caps.lend_max).  Nothing can take back what
 * the queues of network devices refer to.  After tlink_stop() programs may write to their
 * pages at once, and a peer that still receives would take that for what was sent.  So
 * TCP would have to copy them, while the program waits for them: a copy to memory of the
 * engine costs the same, and nobody waits.  That has the same bytes until the peer has
 * acknowledged them, and connections continue there.
 */
#include <linux/bvec.h>
#include <linux/mm.h>
#include <linux/sched/mm.h>
#include <net/tcp.h>

#include "tcp_priv.h"

/* Payload of fewer bytes is copied. */
#define TX_LEND		2048U

/* Does TCP refer to the pages of a write? */
static bool tx_lends(const struct sanx_wire_write *w)
{
	return w->len >= TX_LEND;
}

/**
 * struct tx_head - begin of a message on the connection
 * @head: the header
 * @write: descriptors of the writes, as many as there are
 */
struct tx_head {
	struct tlink_head	head;
	struct tlink_write	write[2];
};

static u32 tx_build(const struct sanx_wire_msg *m, struct tx_head *h)
{
	int i;

	h->head = (struct tlink_head){
		.n_writes	= m->n_writes,
		.flags		= m->bytes ? 0 : TLINK_F_IMM,
		.bytes		= cpu_to_le16(m->bytes),
		.imm		= cpu_to_le32(m->bytes ? 0 : m->imm),
	};
	for (i = 0; i < m->n_writes; i++)
		h->write[i] = (struct tlink_write){
			.to	= cpu_to_le64(m->write[i].to),
			.key	= cpu_to_le32(m->write[i].key),
			.len	= cpu_to_le32(m->write[i].len),
		};
	return sizeof(h->head) + m->n_writes * sizeof(h->write[0]);
}

static int tx_copy(struct sock *sk, void *data, u32 len, int flags)
{
	struct msghdr msg = { .msg_flags = MSG_DONTWAIT | MSG_NOSIGNAL | flags };
	struct kvec vec = { data, len };

	iov_iter_kvec(&msg.msg_iter, ITER_SOURCE, &vec, 1, len);
	return tcp_sendmsg_locked(sk, &msg, len);
}

/*
 * Gives TCP more of a write, from @pos on.  TCP takes what follows in the same compound page
 * for more of the same.
 */
static int tx_write(struct sock *sk, const struct sanx_wire_write *w, u32 pos,
		    int flags)
{
	const struct sanx_wire_page *p;
	struct bio_vec bv;
	size_t offset;
	u32 n;

	p = sanx_wire_piece(w, pos, &offset, &n);
	if (pos + n < w->len)
		flags |= MSG_MORE;
	if (!tx_lends(w))
		return tx_copy(sk, page_address(p->page) + offset, n, flags);
	bvec_set_page(&bv, p->page, n, offset);
	return sanx_tcp_lend(sk, &bv, 1, n, flags);
}

static u32 tx_part_len(const struct sanx_wire_msg *m, int part)
{
	if (!part)
		return sizeof(struct tlink_head) +
		       m->n_writes * sizeof(struct tlink_write);
	return part <= m->n_writes ? m->write[part - 1].len : m->bytes;
}

/* Gives TCP more of a part, from @pos on.  Returns the bytes taken, or -errno. */
static int tx_part(struct tlink *tl, const struct tlink_out *out, int part,
		   u32 pos, int flags)
{
	const struct sanx_wire_msg *m = &out->m;
	struct sock *sk = tl->sock->sk;
	struct tx_head h;
	u32 len;

	if (!part) {
		len = tx_build(m, &h);
		return tx_copy(sk, (u8 *)&h + pos, len - pos, flags);
	}
	if (part <= m->n_writes)
		return tx_write(sk, &m->write[part - 1], pos, flags);
	return tx_copy(sk, tl->frames + m->slot * SANX_WIRE_STRIDE + pos,
		       m->bytes - pos, flags);
}

/*
 * Gives TCP the rest of message @next.
 * Return: 1 if TCP has all of it; 0 if there is no room; or -errno.
 */
static int tx_message(struct tlink *tl, bool more)
{
	struct tlink_out *out = &tl->out[tl->next % SANX_WIRE_SLOTS];
	int part, parts = 1 + out->m.n_writes + !!out->m.bytes;
	u32 begin = 0, len;
	int n;

	for (part = 0; part < parts; part++, begin += len) {
		len = tx_part_len(&out->m, part);
		while (tl->pos < begin + len) {
			n = tx_part(tl, out, part, tl->pos - begin,
				    more || part < parts - 1 ? MSG_MORE : 0);
			if (n <= 0)
				return n == -EAGAIN ? 0 : n ?: -EIO;
			tl->pos += n;
		}
	}
	out->end = tcp_sk(tl->sock->sk)->write_seq;
	tl->next++;
	tl->pos = 0;
	return 1;
}

static bool tx_is_done(const struct tlink *tl, const struct tlink_out *out)
{
	return !out->lends ||
	       !before(tcp_sk(tl->sock->sk)->snd_una, out->end);
}

/* Tells the engine which messages are complete. */
static void tx_acked(struct tlink *tl)
{
	const struct tlink_out *out, *last = NULL;

	for (; tl->done != tl->next; tl->done++) {
		out = &tl->out[tl->done % SANX_WIRE_SLOTS];
		if (!tx_is_done(tl, out))
			break;
		if (out->m.signal)
			last = out;
	}
	if (!last)
		return;
	local_bh_disable();
	sanx_wire_sent(tl->wl.link, last->m.slot);
	local_bh_enable();
}

/* How many messages are posted that TCP does not have, or not all of? */
static u32 tx_posted(const struct tlink *tl)
{
	/* Pairs with the release store in tlink_post(). */
	return smp_load_acquire(&tl->tail) - tl->next;
}

/*
 * Is message @next longer than any packet?  Then TCP sends the most of it in any case,
 * and the rest at the latest with the acknowledgment of that.
 */
static bool tx_fills_packet(const struct tlink *tl)
{
	const struct sanx_wire_msg *m = &tl->out[tl->next % SANX_WIRE_SLOTS].m;
	u32 len = 0;
	int i;

	for (i = 0; i < m->n_writes; i++)
		len += m->write[i].len;
	return len >= tl->sock->sk->sk_gso_max_size;
}

/*
 * @more: the caller will post more at once
 * Return: 1 if nothing is left to send; 0 if there is no room; -ESHUTDOWN if the link ends.
 */
static int tx_run(struct tlink *tl, bool more)
{
	u32 n;
	int rc = 1;

	while (tl->state == TLINK_UP && (n = tx_posted(tl))) {
		rc = tx_message(tl, n > 1 || (more && tx_fills_packet(tl)));
		if (rc <= 0)
			break;
	}
	/* Also behind tlink_stop(), where an upcall would be too late. */
	if (tl->state != TLINK_UP)
		return -ESHUTDOWN;
	if (rc < 0) {
		sanx_wire_failed(tl->wl.link, SANX_WIRE_LOST);
		return -ESHUTDOWN;
	}
	tx_acked(tl);
	return rc;
}

/*
 * From here on what is posted is left to the caller.  The lock of the sock held.
 * Return: false if the caller's caller sends already.
 */
bool tlink_tx_begin(struct tlink *tl)
{
	if (tl->sending)
		return false;
	WRITE_ONCE(tl->sending, true);
	return true;
}

static void tx_end(struct tlink *tl, bool more)
{
	int rc;

	while ((rc = tx_run(tl, more)) > 0) {
		WRITE_ONCE(tl->sending, false);
		/* Pairs with the barrier in tx_unattended(). */
		smp_mb();
		if (!tx_posted(tl))
			return;
		WRITE_ONCE(tl->sending, true);
	}
	WRITE_ONCE(tl->sending, false);
	/*
	 * Without room, tlink_tx_space() goes on; but there was no memory if nothing is
	 * under way that would have it called.
	 */
	if (!rc && tcp_rtx_and_write_queues_empty(tl->sock->sk))
		queue_work(tlink_wq, &tl->tx);
}

/* Send what was posted, in a callback of TCP.  The lock of the sock held. */
void tlink_tx_end(struct tlink *tl)
{
	struct sock *sk = tl->sock->sk;
	gfp_t gfp = sk->sk_allocation;

	sk->sk_allocation = GFP_ATOMIC | __GFP_NOWARN | (gfp & __GFP_MEMALLOC);
	tx_end(tl, false);
	sk->sk_allocation = gfp;
}

/* The peer has acknowledged something.  The lock of the sock held. */
void tlink_tx_space(struct tlink *tl)
{
	/* TCP also calls from where it is given something to send. */
	if (!tlink_tx_begin(tl))
		return;
	/*
	 * A process that has the sock locked may have called TCP's output, which goes on
	 * with a packet after this call.  Sending could process acknowledgments that came
	 * meanwhile, and free it.  In softirq there are none.
	 */
	if (sock_owned_by_user(tl->sock->sk)) {
		WRITE_ONCE(tl->sending, false);
		queue_work(tlink_wq, &tl->tx);
	} else {
		tlink_tx_end(tl);
	}
}

static void tx_locked(struct tlink *tl, bool more)
{
	unsigned int noio = memalloc_noio_save(), was = 0;
	struct sock *sk = tl->sock->sk;
	bool reserves;

	lock_sock(sk);
	tlink_use_reserves(tl);
	reserves = sock_flag(sk, SOCK_MEMALLOC);
	if (unlikely(reserves))
		was = memalloc_noreclaim_save();
	if (tlink_tx_begin(tl)) {
		/* What has arrived meanwhile is seen to here, and not in release_sock(). */
		do
			tx_run(tl, more);
		while (sk_flush_backlog(sk));
		tx_end(tl, more);
	}
	release_sock(sk);
	if (unlikely(reserves))
		memalloc_noreclaim_restore(was);
	memalloc_noio_restore(noio);
}

/* Send what was posted.  Takes the lock of the sock. */
void tlink_tx_work(struct work_struct *work)
{
	tx_locked(container_of(work, struct tlink, tx), false);
}

/* Is nobody about to send what was just posted? */
static bool tx_unattended(const struct tlink *tl)
{
	/* Pairs with the barrier in tx_end(): one of the two sees the other. */
	smp_mb();
	return !READ_ONCE(tl->sending);
}

/* sanx_wire_ops.push.  Takes the lock of the sock. */
void tlink_push(struct sanx_wire_link *wl, bool more)
{
	struct tlink *tl = tlink_of(wl);

	if (tx_unattended(tl))
		tx_locked(tl, more);
}

/* sanx_wire_ops.post.  Return: 0. */
int tlink_post(struct sanx_wire_link *wl, const struct sanx_wire_msg *m)
{
	struct tlink *tl = tlink_of(wl);
	struct tlink_out *out = &tl->out[tl->tail % SANX_WIRE_SLOTS];
	int i;

	if (m->enable)
		tlink_enable(m->enable);
	out->m = *m;
	out->lends = false;
	for (i = 0; i < m->n_writes; i++)
		out->lends |= tx_lends(&m->write[i]);
	/* Pairs with the acquire load in tx_posted(). */
	smp_store_release(&tl->tail, tl->tail + 1);
	if (!m->pushed && tx_unattended(tl))
		queue_work(tlink_wq, &tl->tx);
	return 0;
}
