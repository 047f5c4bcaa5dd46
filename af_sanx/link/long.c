// SPDX-License-Identifier: GPL-2.0
/*
 * LONG: the wire reads from the program's own pages (sci-socket.txt 5.3; the
 * zero-copy side of WSDLite's cut-off).
 *
 * A large send() that may block avoids the copy to the send buffer.  It lends
 * its pages to the device and returns when the peer has their bytes (ack.c), so
 * the program may reuse them afterwards.  The stream does not change: the bytes
 * have their offsets in the send buffer, which is just not filled.  If the link
 * is lost, sanx_long_save() copies them there, as if they had been there from
 * the start.  A program that is killed does not wait, and its pages stay
 * referenced until then.
 *
 * LONG is slower for few bytes: a copy overlaps with the device's work, and
 * LONG waits for an answer of the peer.  The cut-off is measured for
 * each link: the number of bytes that a copy moves in one round trip
 * (sanx_long_tune(), sanx_long_cutoff()).
 *
 * No memory is mapped for the peer for this, so no peer can name the pages.
 *
 * link->tx_lock guards lc->longs.  Its order is the order of the stream.
 */
#include <linux/completion.h>
#include <linux/highmem.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/uio.h>

#include "internal.h"

/* Pages that one send() lends at a time. */
#define LONG_PAGES	64U
/*
 * Bytes.  For fewer, no measurement is reliable.  It is also more than
 * sanx_ring_slack(): a message that must not mix with those of other writers is
 * smaller, and is copied whole.
 */
#define LONG_LEAST	32768U
/*
 * No send() lends pages to a link that was silent for longer, in jiffies: it
 * might have to wait until the link is lost.
 */
#define LONG_HEARD	(3 * HZ / 2)
/* Bytes that sanx_long_tune() copies to measure how long it takes. */
#define LONG_SAMPLE	32768U

/**
 * struct sanx_long - pages of a program that the device reads
 * @node: in lconn.longs, or in the list of sanx_long_acked(); tx_lock
 * @refs: the list has one, a waiter another
 * @done: completed when the peer has the bytes, or they were copied, or nobody
 *	needs them any more
 * @from: stream offset of the first byte
 * @to: stream offset behind the last byte; set by sanx_long_posted() under
 *	tx_lock
 * @link: the link that the pages are mapped for
 * @start: offset of the first byte in the first page
 * @n: number of pages
 * @mapped: number of pages that are mapped
 * @page: the pages
 */
struct sanx_long {
	struct list_head	node;
	refcount_t		refs;
	struct completion	done;
	u64			from;
	u64			to;
	struct sanx_link	*link;
	size_t			start;
	u32			n;
	u32			mapped;
	struct sanx_wire_page	page[];
};

static void long_put(struct sanx_long *l)
{
	if (refcount_dec_and_test(&l->refs))
		kfree(l);
}

/*
 * Unmaps and releases the pages, and wakes the waiter, which may hold the
 * struct longer than the link exists.
 */
static void long_give_back(struct sanx_long *l)
{
	u32 i;

	for (i = 0; i < l->n; i++) {
		if (i < l->mapped)
			l->link->wire->unmap_page(l->link->wl, &l->page[i]);
		put_page(l->page[i].page);
	}
	complete_all(&l->done);
	long_put(l);
}

/* The connection may have moved since sanx_long_wants(). */
static int long_map(struct sanx_long *l, struct sanx_link *link)
{
	int err = link->caps.lend_max ? 0 : -EOPNOTSUPP;

	l->link = link;
	while (l->mapped < l->n && !err) {
		err = link->wire->map_page(link->wl, &l->page[l->mapped]);
		if (!err)
			l->mapped++;
	}
	return err;
}

/* References the next pages of @from.  The caller copies what it cannot get. */
static struct sanx_long *long_get(struct iov_iter *from, size_t *len)
{
	struct page *pages[LONG_PAGES];
	struct sanx_long *l;
	size_t start;
	ssize_t got;
	u32 i;

	got = iov_iter_get_pages2(from, pages, *len, LONG_PAGES, &start);
	if (got <= 0)
		return NULL;
	*len = got;
	l = kzalloc(struct_size(l, page, LONG_PAGES), GFP_KERNEL);
	if (!l) {
		for (i = 0; i < DIV_ROUND_UP(start + got, PAGE_SIZE); i++)
			put_page(pages[i]);
		iov_iter_revert(from, got);
		return NULL;
	}
	INIT_LIST_HEAD(&l->node);
	refcount_set(&l->refs, 1);
	init_completion(&l->done);
	l->start = start;
	l->n = DIV_ROUND_UP(start + got, PAGE_SIZE);
	for (i = 0; i < l->n; i++)
		l->page[i].page = pages[i];
	return l;
}

/**
 * sanx_long_source() - let a write read from a program's pages
 * @l: the pages, mapped
 * @offset: stream offset of the first byte
 * @w: the write
 */
void sanx_long_source(const struct sanx_long *l, u64 offset,
		      struct sanx_wire_write *w)
{
	w->from = NULL;
	w->pages = l->page;
	w->pos = l->start + (offset - l->from);
}

/**
 * sanx_long_room() - bytes that can be sent from a program's pages in one go
 * @lc: the connection
 * @from: the data to send
 *
 * Context: process, tx_mutex held.
 * Return: bytes.
 */
size_t sanx_long_room(struct sanx_lconn *lc, const struct iov_iter *from)
{
	return min3(iov_iter_single_seg_count(from),
		    (size_t)sanx_sndbuf_room(lc),
		    (size_t)sanx_txq_room(&lc->conn.tx));
}

/* A link that rests has heard nothing for long, and has not asked either. */
static bool long_heard(const struct sanx_link *link)
{
	unsigned long heard = READ_ONCE(link->heard);

	return time_after_eq(heard, READ_ONCE(link->asked)) ||
	       time_before(jiffies, heard + LONG_HEARD);
}

/**
 * sanx_long_wants() - should a send() lend its pages?
 * @lc: the connection
 * @from: the data to send
 * @len: bytes of it
 * @flags: as of sanx_transport_ops.send
 *
 * Context: process, tx_mutex held.
 * Return: true if so; a hint, as sanx_long_send() may still find that it
 * cannot.
 */
bool sanx_long_wants(struct sanx_lconn *lc, const struct iov_iter *from,
		     size_t len, int flags)
{
	const int never = MSG_OOB | MSG_DONTWAIT | MSG_MORE;
	struct sanx_link *link;
	bool wants;

	if (likely(len < LONG_LEAST) || (flags & never) ||
	    !user_backed_iter(from) ||
	    !READ_ONCE(lc->txgen.win.size) || lc->posted != lc->end)
		return false;
	rcu_read_lock();
	link = READ_ONCE(lc->link);
	wants = len >= sanx_long_cutoff(link) && sanx_xmit_ok(link) &&
		long_heard(link);
	rcu_read_unlock();
	return wants && sanx_long_room(lc, from) >= LONG_LEAST;
}

/**
 * sanx_long_send() - send from the program's pages
 * @lc: the connection, with a send buffer
 * @from: the data to send; advanced by the bytes that were sent
 * @len: bytes of it that there is room for
 *
 * Moves conn->lent.  The core waits for the pages afterwards, with
 * sanx_long_wait() (sanx_transport_ops.wait_pages).
 *
 * Context: process, tx_mutex held; may fault; takes tx_lock.
 * Return: bytes that were sent; 0 if they have to be copied instead.
 */
size_t sanx_long_send(struct sanx_lconn *lc, struct iov_iter *from, size_t len)
{
	/* This may fault, so it comes before the link is used. */
	struct sanx_long *l = long_get(from, &len);
	struct sanx_link *link;
	u32 n = 0;

	if (!l)
		return 0;
	l->from = lc->end;
	link = sanx_lconn_link_get(lc);
	if (link && !long_map(l, link))
		n = sanx_payload_long(lc, link, l, len);
	iov_iter_revert(from, len - n);
	/* The peer may have the bytes already, and @l be freed. */
	if (n)
		lc->conn.lent = lc->end;
	else
		long_give_back(l);
	if (link)
		sanx_link_user_put(link);
	return n;
}

/**
 * sanx_long_posted() - the device reads these pages now
 * @lc: the connection
 * @l: the pages, which belong to lc->longs afterwards
 * @to: stream offset behind the last byte that was posted
 *
 * Context: tx_lock held.
 */
void sanx_long_posted(struct sanx_lconn *lc, struct sanx_long *l, u64 to)
{
	l->to = to;
	list_add_tail(&l->node, &lc->longs);
}

static void long_over(struct sanx_long *l)
{
	list_del_init(&l->node);
	long_give_back(l);
}

/**
 * sanx_long_acked() - take off the pages whose bytes are acknowledged
 * @lc: the connection
 * @pages: list to which those pages are added, for sanx_long_give_back()
 *
 * Context: tx_lock held.
 */
void sanx_long_acked(struct sanx_lconn *lc, struct list_head *pages)
{
	struct sanx_long *l, *next;

	lockdep_assert_held(&lc->link->tx_lock);
	list_for_each_entry_safe(l, next, &lc->longs, node) {
		if (l->to > lc->acked)
			break;
		list_move_tail(&l->node, pages);
	}
}

/**
 * sanx_long_give_back() - give programs their pages back
 * @pages: list that sanx_long_acked() filled
 *
 * Context: any, without tx_lock, still in sanx_wire_sent() or
 * sanx_wire_received(): so stop() of the wire returns only after the pages were
 * unmapped.
 */
void sanx_long_give_back(struct list_head *pages)
{
	while (!list_empty(pages))
		long_over(list_first_entry(pages, struct sanx_long, node));
}

static void long_copy(struct sanx_lconn *lc, const struct sanx_long *l,
		      u64 offset)
{
	size_t pos = l->start + (offset - l->from);
	u64 to = l->to;
	void *p;
	u32 n;

	for (; offset < to; offset += n, pos += n) {
		n = min_t(u64, to - offset, PAGE_SIZE - offset_in_page(pos));
		p = kmap_local_page(l->page[pos >> PAGE_SHIFT].page);
		sanx_lring_keep(&lc->sndbuf, offset, p + offset_in_page(pos),
				n);
		kunmap_local(p);
	}
}

/**
 * sanx_long_save() - copy lent pages that the peer may not have to the send
 * buffer
 * @lc: a suspended connection; its link is drained, and nobody attaches it yet
 *
 * Context: process, lnet.lock held; takes tx_lock.
 */
void sanx_long_save(struct sanx_lconn *lc)
{
	struct sanx_link *link = sanx_lconn_lock(lc);
	struct sanx_long *l;

	while (!list_empty(&lc->longs)) {
		l = list_first_entry(&lc->longs, struct sanx_long, node);
		spin_unlock_bh(&link->tx_lock);
		/*
		 * Copy without tx_lock.  The pages stay in the list until they
		 * were copied, so sanx_long_wait() finds them.
		 */
		long_copy(lc, l, max(l->from, lc->acked));
		spin_lock_bh(&link->tx_lock);
		long_over(l);
	}
	spin_unlock_bh(&link->tx_lock);
}

/**
 * sanx_long_drop() - give pages back whose bytes are not sent any more
 * @lc: a connection that is RELEASED, and that the device is done with
 *
 * Context: process; takes tx_lock.
 */
void sanx_long_drop(struct sanx_lconn *lc)
{
	struct sanx_link *link = sanx_lconn_lock(lc);

	while (!list_empty(&lc->longs))
		long_over(list_first_entry(&lc->longs, struct sanx_long, node));
	spin_unlock_bh(&link->tx_lock);
}

/**
 * sanx_long_wait() - sanx_transport_ops.wait_pages
 * @conn: the connection
 * @to: stream offset up to which pages are waited for
 *
 * Returns early if the program is killed.
 *
 * Context: process, no lock held; sleeps; takes tx_lock.
 */
void sanx_long_wait(struct sanx_conn *conn, u64 to)
{
	struct sanx_lconn *lc = sanx_lconn_of(conn);
	struct sanx_link *link = sanx_lconn_lock(lc);
	struct sanx_long *l, *last = NULL;

	list_for_each_entry(l, &lc->longs, node) {
		if (l->from < to)
			last = l;
	}
	if (last)
		refcount_inc(&last->refs);
	spin_unlock_bh(&link->tx_lock);
	if (!last)
		return;
	wait_for_completion_killable(&last->done);
	long_put(last);
}

/**
 * sanx_long_cutoff() - smallest send() for which LONG pays on a link
 * @link: the link
 *
 * Context: any.
 * Return: bytes; U32_MAX for never.
 */
u32 sanx_long_cutoff(const struct sanx_link *link)
{
	u32 set = READ_ONCE(long_min);
	u64 ns = READ_ONCE(link->rtt_ns), copy = READ_ONCE(link->copy_ns);

	if (link->caps.lend_max < PAYLOAD_PIECE)
		return U32_MAX;
	if (set)
		return max(set, LONG_LEAST);
	if (!ns || !copy)
		return U32_MAX;
	return clamp_t(u64, div64_u64(ns * LONG_SAMPLE, copy), LONG_LEAST,
		       U32_MAX);
}

/**
 * sanx_long_tune() - measure how fast this node copies
 * @link: a link that is being set up
 *
 * The best of three copies counts.  The first one is slow, because nothing is
 * in the cache; a program has mostly just written the bytes that it sends.
 *
 * Context: process, may sleep.
 */
void sanx_long_tune(struct sanx_link *link)
{
	u8 *buf = kvmalloc(2 * LONG_SAMPLE, GFP_KERNEL | __GFP_ZERO);
	u64 start, ns, best = U64_MAX;
	int i;

	if (!buf)
		return;
	for (i = 0; i < 3; i++) {
		start = ktime_get_ns();
		memcpy(buf, buf + LONG_SAMPLE, LONG_SAMPLE);
		ns = ktime_get_ns() - start;
		best = min(best, ns);
		barrier_data(buf);
	}
	kvfree(buf);
	WRITE_ONCE(link->copy_ns, max(best, 1ULL));
}
