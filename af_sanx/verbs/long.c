// SPDX-License-Identifier: GPL-2.0
/*
 * LONG: the device reads from the program's own pages (sci-socket.txt 5.3, and
 * the zero-copy side of WSDLite's cut-off).
 *
 * A large send() that may wait spares itself the copy into the staging memory.
 * It lends its pages to the device and returns when that has read them, so the
 * program may do with them what it likes afterwards.  To the stream nothing
 * differs: the bytes have their places in the staging memory, which are only not
 * filled; should the link be lost, they are filled then from the pages, and all is
 * as if the bytes had been there from the start (vlong_save()).  A program that
 * is killed does not wait; its pages stay until the device is through.
 *
 * It is dearer where little is sent: the copy goes on while the device works, and
 * this waits for an answer of the peer's device.  What is little is measured for
 * each link: as much as is copied in a round trip (vlong_tune()).
 *
 * No memory is registered for it: the device is given the pages themselves, by
 * the key of the protection domain that no peer can name.
 */
#include <linux/completion.h>
#include <linux/highmem.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/uio.h>

#include "verbs.h"

/* Pages that one lends at a time. */
#define LONG_PAGES	64U
/*
 * Below this, no measurement says anything; and what goes whole, so that it does not
 * mix with others' (sanx_ring_slack()), is less.
 */
#define LONG_LEAST	32768U
/* Nobody should have to wait for a link of which nothing was heard for longer. */
#define LONG_HEARD	(3 * HZ / 2)
/* What is copied to see how long it takes. */
#define LONG_SAMPLE	65536U

/**
 * struct vlong - pages of a program
 * @node: in vconn.longs
 * @refs: that list has one, who waits another
 * @done: the device has read them, or they were copied, or nobody wants them
 * @from: stream offset of the first byte
 * @to: behind the last one
 * @dev: the device that they are mapped for
 * @start: where in the first page the first byte is
 * @n: pages
 * @mapped: how many of them are
 * @page: each
 */
struct vlong {
	struct list_head	node;
	refcount_t		refs;
	struct completion	done;
	u64			from;
	u64			to;
	struct ib_device	*dev;
	size_t			start;
	u32			n;
	u32			mapped;
	struct {
		struct page	*page;
		u64		dma;
	} page[];
};

static void long_put(struct vlong *l)
{
	if (refcount_dec_and_test(&l->refs))
		kfree(l);
}

/* The device is through; who waits may come later, when that is gone. */
static void long_give_back(struct vlong *l)
{
	u32 i;

	for (i = 0; i < l->n; i++) {
		if (i < l->mapped)
			ib_dma_unmap_page(l->dev, l->page[i].dma, PAGE_SIZE,
					  DMA_TO_DEVICE);
		put_page(l->page[i].page);
	}
	complete_all(&l->done);
	long_put(l);
}

static int long_map(struct vlong *l, struct ib_device *dev)
{
	u64 addr;

	l->dev = dev;
	for (; l->mapped < l->n; l->mapped++) {
		addr = ib_dma_map_page(l->dev, l->page[l->mapped].page, 0,
				       PAGE_SIZE, DMA_TO_DEVICE);
		if (ib_dma_mapping_error(l->dev, addr))
			return -ENOMEM;
		l->page[l->mapped].dma = addr;
	}
	return 0;
}

/* Takes the next of @from's pages; what it cannot have is copied instead. */
static struct vlong *long_get(struct iov_iter *from, size_t *len)
{
	struct page *pages[LONG_PAGES];
	struct vlong *l;
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
 * vlong_sges() - where bytes of a program are, for the device
 * @l: its pages
 * @lkey: key for the device's own memory
 * @offset: stream offset of the first
 * @len: how many, in @l
 * @sge: filled; one for each page that has some of them
 *
 * Return: how many were filled.
 */
int vlong_sges(const struct vlong *l, u32 lkey, u64 offset, u32 len,
	       struct ib_sge *sge)
{
	size_t pos = l->start + (offset - l->from);
	u32 n;
	int i;

	for (i = 0; len; i++, len -= n, pos += n) {
		n = min_t(u32, len, PAGE_SIZE - offset_in_page(pos));
		sge[i] = (struct ib_sge){
			.addr	= l->page[pos >> PAGE_SHIFT].dma +
				  offset_in_page(pos),
			.length	= n,
			.lkey	= lkey,
		};
	}
	return i;
}

/**
 * vlong_room() - what can be sent from a program's pages in one go
 * @vc: the connection
 * @from: what to send
 *
 * Context: process, tx_mutex held.
 * Return: bytes.
 */
size_t vlong_room(struct vconn *vc, const struct iov_iter *from)
{
	return min3(iov_iter_single_seg_count(from), (size_t)vstaging_room(vc),
		    (size_t)sanx_txq_room(&vconn_conn(vc)->tx));
}

/**
 * vlong_wants() - is a send to be made from the program's pages?
 * @vc: the connection
 * @from: what to send
 * @len: bytes of it
 * @flags: as of sanx_transport_ops.send
 *
 * Context: process, tx_mutex held.
 * Return: true if so, as far as is known before it is tried.
 */
bool vlong_wants(struct vconn *vc, const struct iov_iter *from, size_t len,
		 int flags)
{
	const int never = MSG_OOB | MSG_DONTWAIT | MSG_MORE;
	struct vlink *link;
	bool wants;

	if (likely(len < LONG_LEAST) || (flags & never) ||
	    !user_backed_iter(from) || vc->early ||
	    !READ_ONCE(vc->win.size) || vc->posted != vc->end)
		return false;
	rcu_read_lock();
	link = READ_ONCE(vc->link);
	wants = len >= vlong_cutoff(link) && vxmit_ok(link) &&
		time_before(jiffies, READ_ONCE(link->heard) + LONG_HEARD);
	rcu_read_unlock();
	return wants && vlong_room(vc, from) >= LONG_LEAST;
}

/**
 * vlong_send() - send from the program's pages
 * @vc: the connection, with staging memory
 * @from: what to send; advanced by what was
 * @len: bytes of it that there is room for
 *
 * vlong_wait() is to follow.
 *
 * Context: process, tx_mutex held.
 * Return: bytes; or 0 if it has to be done otherwise.
 */
size_t vlong_send(struct vconn *vc, struct iov_iter *from, size_t len)
{
	/* This may fault, for which no link should wait. */
	struct vlong *l = long_get(from, &len);
	struct vlink *link;
	u32 n = 0;

	if (!l)
		return 0;
	l->from = vc->end;
	link = vconn_link_get(vc);
	if (link && !long_map(l, link->pd->device))
		n = vpayload_long(vc, link, l, len);
	iov_iter_revert(from, len - n);
	/* It may be over already. */
	if (n)
		vconn_conn(vc)->lent = vc->end;
	else
		long_give_back(l);
	if (link)
		vlink_user_put(link);
	return n;
}

/**
 * vlong_lent() - the device has them now
 * @vc: the connection
 * @l: pages, which are vc->longs' from here on
 * @to: stream offset behind the last byte that is posted
 *
 * Context: tx_lock held.
 */
void vlong_lent(struct vconn *vc, struct vlong *l, u64 to)
{
	l->to = to;
	list_add_tail(&l->node, &vc->longs);
}

static void long_over(struct vlong *l)
{
	list_del_init(&l->node);
	long_give_back(l);
}

/**
 * vlong_acked() - the device has read what is acknowledged
 * @vc: the connection
 * @read: where what it has read of programs' pages goes, for vlong_read()
 *
 * Context: tx_lock held.
 */
void vlong_acked(struct vconn *vc, struct list_head *read)
{
	struct vlong *l, *next;

	lockdep_assert_held(&vc->link->tx_lock);
	list_for_each_entry_safe(l, next, &vc->longs, node) {
		if (l->to > vc->acked)
			break;
		list_move_tail(&l->node, read);
	}
}

/**
 * vlong_read() - programs get their pages back
 * @read: as vlong_acked() left it
 *
 * Context: softirq, in the handler of the completion: who drains a queue pair waits
 * for that.
 */
void vlong_read(struct list_head *read)
{
	while (!list_empty(read))
		long_over(list_first_entry(read, struct vlong, node));
}

static void long_copy(struct vconn *vc, const struct vlong *l, u64 offset)
{
	size_t pos = l->start + (offset - l->from);
	u64 to = l->to;
	void *p;
	u32 n;

	for (; offset < to; offset += n, pos += n) {
		n = min_t(u64, to - offset, PAGE_SIZE - offset_in_page(pos));
		p = kmap_local_page(l->page[pos >> PAGE_SHIFT].page);
		vring_keep(&vc->staging, offset, p + offset_in_page(pos), n);
		kunmap_local(p);
	}
}

/**
 * vlong_save() - what the peer may not have goes to the staging memory
 * @vc: an orphan that nobody attaches yet, its link drained
 *
 * Context: process, vnet.lock held.
 */
void vlong_save(struct vconn *vc)
{
	struct vlink *link = vconn_lock(vc);
	struct vlong *l;

	while (!list_empty(&vc->longs)) {
		l = list_first_entry(&vc->longs, struct vlong, node);
		spin_unlock_bh(&link->tx_lock);
		/* Who waits finds it in the list until it is done. */
		long_copy(vc, l, max(l->from, vstaging_first(vc)));
		spin_lock_bh(&link->tx_lock);
		long_over(l);
	}
	spin_unlock_bh(&link->tx_lock);
}

/**
 * vlong_drop() - nobody is to get it any more
 * @vc: a connection that is RELEASED, its device done with it
 *
 * Context: process.
 */
void vlong_drop(struct vconn *vc)
{
	struct vlink *link = vconn_lock(vc);

	while (!list_empty(&vc->longs))
		long_over(list_first_entry(&vc->longs, struct vlong, node));
	spin_unlock_bh(&link->tx_lock);
}

/**
 * vlong_wait() - sanx_transport_ops.settle
 * @conn: the connection
 * @to: as there
 *
 * Context: process, no lock held.
 */
void vlong_wait(struct sanx_conn *conn, u64 to)
{
	struct vconn *vc = vconn_of(conn);
	struct vlink *link = vconn_lock(vc);
	struct vlong *l, *last = NULL;

	list_for_each_entry(l, &vc->longs, node) {
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
 * vlong_cutoff() - from how many bytes on a link is it worth it?
 * @link: the link
 *
 * Context: any.
 * Return: bytes.
 */
u32 vlong_cutoff(const struct vlink *link)
{
	u32 set = READ_ONCE(long_min);
	u64 ns = READ_ONCE(link->rtt_ns), copy = READ_ONCE(link->copy_ns);

	if ((link->max_sge - 1) * PAGE_SIZE < VPAYLOAD_PIECE)
		return U32_MAX;
	if (set)
		return max(set, LONG_LEAST);
	if (!ns || !copy)
		return U32_MAX;
	return clamp_t(u64, div64_u64(ns * LONG_SAMPLE, copy), LONG_LEAST,
		       U32_MAX);
}

/**
 * vlong_tune() - see how quick copies are
 * @link: a link that is being set up
 *
 * What is copied is in no cache the first time; the best of three counts, as a
 * program has mostly just written what it sends.
 *
 * Context: process, may sleep.
 */
void vlong_tune(struct vlink *link)
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
