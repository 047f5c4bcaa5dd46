// SPDX-License-Identifier: GPL-2.0
/*
 * Messages to the peer.
 *
 * post() may be called in softirq, where TCP cannot be used, so a work item sends.
 * TCP takes payload in send buffers as references to pages, and may send it again until
 * the peer has acknowledged it.  Only then is its message complete.  Frames, and payload
 * for which that costs more than a copy, TCP copies.
 *
 * It also copies payload in pages of programs.  Nothing can take back what the queues of
 * network devices refer to.  After tlink_stop() programs may write to their pages at
 * once, and a peer that still receives would take that for what was sent.  In a send
 * buffer a position has the same bytes until the peer has acknowledged it, and
 * connections continue there.
 */
#include <linux/bvec.h>
#include <linux/mm.h>
#include <linux/sched/mm.h>
#include <linux/vmalloc.h>
#include <net/tcp.h>

#include "internal.h"

/* Payload of fewer bytes is copied. */
#define TX_LEND		2048U
/* Pages of a write of SANX_WIRE_PAYLOAD_MAX, not page aligned. */
#define TX_PAGES	(SANX_WIRE_PAYLOAD_MAX / PAGE_SIZE + 1)

/* Does TCP refer to the pages of a write? */
static bool tx_lends(const struct sanx_wire_write *w)
{
	return w->from && w->len >= TX_LEND;
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

/**
 * tlink_post() - sanx_wire_ops.post
 * @wl: as there
 * @m: as there
 *
 * Context: any; calls for one link are serialised.
 * Return: 0.
 */
int tlink_post(struct sanx_wire_link *wl, const struct sanx_wire_msg *m)
{
	struct tlink *tl = tlink_of(wl);
	struct tlink_out *out = &tl->out[tl->tail % SANX_WIRE_SLOTS];
	int i;

	if (m->enable)
		tlink_enable(wl, m->enable);
	out->m = *m;
	out->lends = false;
	for (i = 0; i < m->n_writes; i++)
		out->lends |= tx_lends(&m->write[i]);
	/* Pairs with the acquire load in tlink_tx_run(). */
	smp_store_release(&tl->tail, tl->tail + 1);
	queue_work(tlink_wq, &tl->tx);
	return 0;
}

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

static u8 *write_buf(const struct sanx_wire_write *w)
{
	const struct tlink_map *m = w->from->priv;

	return m->buf + w->pos;
}

static struct page *write_page(const struct sanx_wire_write *w, u32 pos)
{
	void *p;

	if (!w->from)
		return w->pages[(w->pos + pos) >> PAGE_SHIFT].page;
	p = write_buf(w) + pos;
	return is_vmalloc_addr(p) ? vmalloc_to_page(p) : virt_to_page(p);
}

/* Fills @bv with @len bytes of a write from @pos on.  Returns how many entries. */
static int write_pages(const struct sanx_wire_write *w, u32 pos, u32 len,
		       struct bio_vec *bv)
{
	u32 in, n;
	int i;

	for (i = 0; len; i++, len -= n, pos += n) {
		in = offset_in_page(w->from ? (size_t)write_buf(w) + pos :
					      w->pos + pos);
		n = min_t(u32, len, PAGE_SIZE - in);
		bvec_set_page(&bv[i], write_page(w, pos), n, in);
	}
	return i;
}

static int tx_copy_pages(struct sock *sk, const struct bio_vec *bv, int n,
			 u32 len, int flags)
{
	struct msghdr msg = { .msg_flags = MSG_DONTWAIT | MSG_NOSIGNAL | flags };

	iov_iter_bvec(&msg.msg_iter, ITER_SOURCE, bv, n, len);
	return tcp_sendmsg_locked(sk, &msg, len);
}

static int tx_write(struct tlink *tl, const struct tlink_out *out, int i,
		    u32 pos, int flags)
{
	const struct sanx_wire_write *w = &out->m.write[i];
	u32 len = w->len - pos;
	struct bio_vec bv[TX_PAGES];
	struct sock *sk = tl->sock->sk;
	int n;

	n = write_pages(w, pos, len, bv);
	if (tx_lends(w))
		return sanx_tcp_lend(sk, bv, n, len, flags);
	return tx_copy_pages(sk, bv, n, len, flags);
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
		return tx_write(tl, out, part - 1, pos, flags);
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

/**
 * tlink_tx_acked() - tell the engine which messages are complete
 * @tl: a link
 *
 * Context: the lock of the sock held, by a softirq or a process.
 */
void tlink_tx_acked(struct tlink *tl)
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

static void tlink_tx_run(struct tlink *tl)
{
	u32 tail;
	int rc = 1;

	while (rc > 0 && tl->state == TLINK_UP) {
		/* Pairs with the release store in tlink_post(). */
		tail = smp_load_acquire(&tl->tail);
		if (tl->next == tail)
			break;
		rc = tx_message(tl, tl->next + 1 != tail);
	}
	if (rc < 0)
		sanx_wire_failed(tl->wl.link, SANX_WIRE_LOST);
	else
		tlink_tx_acked(tl);
}

/**
 * tlink_tx_work() - send what was posted
 * @work: tlink.tx
 *
 * Context: process, may sleep; takes the lock of the sock.
 */
void tlink_tx_work(struct work_struct *work)
{
	struct tlink *tl = container_of(work, struct tlink, tx);
	unsigned int noio = memalloc_noio_save();
	struct sock *sk = tl->sock->sk;

	lock_sock(sk);
	tlink_tx_run(tl);
	release_sock(sk);
	memalloc_noio_restore(noio);
}
