// SPDX-License-Identifier: GPL-2.0
/*
 * Memory that a connection sends from.
 *
 * A few bytes go at once in a frame (INLINE), and are in its slot until the peer has
 * them.  All other bytes that send() takes are in chunks, by their stream offset: copied
 * to memory of ours, or in pages that a program has lent (lend.c).  They are sent in
 * order, as the peer's window and the link permit, also after the program has closed;
 * and again on the next link, if this one is lost.
 *
 *	acked		posted		announced	end
 *	  | sent, may	  | not posted	 | held back	 |
 *	  | be lost	  | yet		 | (hold.c)	 |	free
 *
 * The device reads chunks as they are.  Nothing is registered, and no peer can name them.
 *
 * Invariants, guarded by link->tx_lock:
 *
 * - lc->chunks is in the order of the stream, and no offset is in two of them.
 * - Each byte from lc->acked to lc->end is in a chunk, or in the slot of a frame.  When
 *   the link is lost, stream/suspend.c copies slots to chunks.
 * - While the connection is on a link (SANX_OWNER_LINK), its chunks are mapped for the
 *   wire of that, and else they are not; nor are those that stream/suspend.c makes when the wire
 *   has stopped.
 * - A chunk leaves the list when its last byte is acknowledged (ack.c), but lc->fill stays,
 *   and a few for the next bytes do: at the end of the list, with CHUNK_UNUSED in place of
 *   offsets.
 *
 * lc->fill is the chunk that a sender copies to, at lc->end.  It and its bounds change
 * under conn->tx_mutex and tx_lock, so the sender reads them under tx_mutex alone.  Nobody
 * else looks at what is behind lc->end.
 */
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/sched/mm.h>
#include <linux/skbuff.h>
#include <linux/slab.h>

#include "frame_priv.h"

/*
 * Most bytes of memory of ours in one piece.  A stream has few messages of which a part is
 * in one piece and the rest in the next: such a message takes one write more.
 */
#define CHUNK_MAX	262144U
/* Chunks of fewer bytes are not kept for later. */
#define CHUNK_KEPT	65536U

/* The offsets of a chunk that is kept for the next bytes. */
#define CHUNK_UNUSED	U64_MAX

static u32 chunk_size(const struct sanx_chunk *c)
{
	return PAGE_SIZE << c->order;
}

static u8 *chunk_mem(const struct sanx_chunk *c, u64 offset)
{
	return (u8 *)page_address(c->page[0].page) + (offset - c->from);
}

static bool chunk_pay(struct sanx_chunk *c, struct sanx_link *link, enum sanx_claim claim)
{
	u32 pages = BIT(c->order);

	if (c->kind == SANX_CHUNK_SPARE)
		return sanx_mem_charge(pages);
	if (!sanx_payer_claim(link, pages, claim))
		return false;
	kref_get(&link->payer->refs);
	c->payer = link->payer;
	return true;
}

static void chunk_unpay(struct sanx_chunk *c)
{
	u32 pages = BIT(c->order);

	if (c->kind == SANX_CHUNK_SPARE) {
		sanx_mem_uncharge(pages);
		return;
	}
	sanx_payer_unclaim(c->payer, pages);
	sanx_payer_put(c->payer);
}

/**
 * sanx_chunk_put() - put a reference of a chunk
 * @c: the chunk
 *
 * Context: any.
 */
void sanx_chunk_put(struct sanx_chunk *c)
{
	if (refcount_dec_and_test(&c->refs))
		kfree(c);
}

/**
 * sanx_chunk_new() - allocate a chunk without memory
 * @kind: whose memory it is to have
 * @n: number of pieces
 *
 * Context: process, may sleep.
 * Return: it, not mapped, with a reference for sanx_chunk_free(); or NULL.
 */
struct sanx_chunk *sanx_chunk_new(enum sanx_chunk_kind kind, u32 n)
{
	struct sanx_chunk *c = kzalloc(struct_size(c, page, n), GFP_KERNEL | __GFP_NOWARN);

	if (!c)
		return NULL;
	INIT_LIST_HEAD(&c->node);
	refcount_set(&c->refs, 1);
	init_completion(&c->done);
	c->kind = kind;
	c->n = n;
	return c;
}

/**
 * sanx_chunk_free() - free the memory of a chunk, or give it back to its program
 * @c: the chunk, not mapped, in no list; whoever waits for it is woken
 *
 * A notification runs callbacks of the socket, so it comes when no lock is held any more.
 *
 * Context: any.
 */
void sanx_chunk_free(struct sanx_chunk *c)
{
	u32 i;

	if (!sanx_chunk_is_ours(c)) {
		for (i = 0; i < c->n; i++)
			put_page(c->page[i].page);
	} else {
		__free_pages(c->page[0].page, c->order);
		chunk_unpay(c);
	}
	if (c->notice)
		dev_consume_skb_irq(c->notice);
	complete_all(&c->done);
	sanx_chunk_put(c);
}

/*
 * No process is killed for this memory: the sender waits.  Nobody waits for many pages in
 * one piece.  They are a compound page, so that a wire may refer to many bytes at once, and
 * one reference keeps all of them.
 */
static gfp_t chunk_gfp(const struct sanx_chunk *c, enum sanx_claim claim)
{
	gfp_t gfp = GFP_KERNEL | __GFP_NOWARN | __GFP_COMP;

	if (c->order)
		return (gfp & ~__GFP_DIRECT_RECLAIM) | __GFP_NORETRY;
	return gfp | (claim == SANX_CLAIM_SNDBUF ? __GFP_NORETRY : __GFP_RETRY_MAYFAIL);
}

static bool chunk_get_memory(struct sanx_chunk *c, const struct sanx_conn *conn,
			     enum sanx_claim claim)
{
	struct mem_cgroup *memcg = set_active_memcg(conn->memcg);
	gfp_t gfp = chunk_gfp(c, claim);

	/*
	 * What all programs share is charged to none, nor are the few pages without which
	 * the loss of a link would be that of a connection.
	 */
	if (!READ_ONCE(conn->user) && claim != SANX_CLAIM_SAVED)
		gfp |= __GFP_ACCOUNT;
	c->page[0].page = alloc_pages(gfp, c->order);
	set_active_memcg(memcg);
	return c->page[0].page;
}

static struct sanx_chunk *chunk_try(struct sanx_lconn *lc, struct sanx_link *link,
				    enum sanx_chunk_kind kind, u32 order, enum sanx_claim claim)
{
	struct sanx_chunk *c = sanx_chunk_new(kind, 1);

	if (!c)
		return NULL;
	c->order = order;
	if (!chunk_pay(c, link, claim))
		goto err_free;
	if (chunk_get_memory(c, &lc->conn, claim))
		return c;
	chunk_unpay(c);
err_free:
	kfree(c);
	return NULL;
}

/**
 * sanx_chunk_alloc() - allocate a chunk with memory of ours
 * @lc: the connection
 * @link: its current or last link, with a reference
 * @kind: SANX_CHUNK_WINDOW or SANX_CHUNK_SPARE
 * @size: bytes that are of use
 * @least: bytes that it has at least
 * @claim: how much it is needed
 *
 * Context: process, may sleep.
 * Return: the chunk, of a power of two of pages, for sanx_chunk_free(); or NULL.
 */
struct sanx_chunk *sanx_chunk_alloc(struct sanx_lconn *lc, struct sanx_link *link,
				    enum sanx_chunk_kind kind, u32 size, u32 least,
				    enum sanx_claim claim)
{
	int order = get_order(min(size, CHUNK_MAX)), end = get_order(least);
	struct sanx_chunk *c = NULL;

	for (; order >= end && !c; order--)
		c = chunk_try(lc, link, kind, order, claim);
	return c;
}

/**
 * sanx_chunk_map() - map a chunk for the wire of a link
 * @c: the chunk
 * @link: the link; it still has its wire's part
 *
 * Context: any.
 * Return: 0, or -ENOMEM; sanx_chunk_unmap() is due in any case.
 */
int sanx_chunk_map(struct sanx_chunk *c, struct sanx_link *link)
{
	int err = 0;

	if (!link->wire->map_page)
		return 0;
	while (c->mapped < c->n && !err) {
		err = link->wire->map_page(link->wl, &c->page[c->mapped], c->order);
		if (!err)
			c->mapped++;
	}
	return err;
}

/**
 * sanx_chunk_unmap() - end the access of a link's wire to a chunk
 * @c: the chunk; no message that is not complete reads it
 * @link: the link that it is mapped for
 *
 * Context: any.
 */
void sanx_chunk_unmap(struct sanx_chunk *c, struct sanx_link *link)
{
	for (; c->mapped; c->mapped--)
		link->wire->unmap_page(link->wl, &c->page[c->mapped - 1], c->order);
}

/**
 * sanx_chunk_drop() - take a chunk out of the list, and free it
 * @lc: the connection
 * @c: its chunk, which nobody needs any more
 *
 * Context: tx_lock held.
 */
void sanx_chunk_drop(struct sanx_lconn *lc, struct sanx_chunk *c)
{
	lockdep_assert_held(&lc->link->tx_lock);
	if (lc->at == c)
		lc->at = NULL;
	if (lc->fill == c)
		lc->fill = NULL;
	list_del_init(&c->node);
	sanx_chunk_unmap(c, lc->link);
	sanx_chunk_free(c);
}

/* Return: the first of the chunks that are not used, or the head of the list. */
static struct list_head *first_unused(const struct sanx_lconn *lc, u32 *n)
{
	struct list_head *first = (struct list_head *)&lc->chunks;
	struct sanx_chunk *c;

	*n = 0;
	list_for_each_entry_reverse(c, &lc->chunks, node) {
		if (c->from != CHUNK_UNUSED)
			break;
		first = &c->node;
		++*n;
	}
	return first;
}

/* lc->fill has no bytes from @end on. */
static void fill_cut(struct sanx_lconn *lc, u64 end)
{
	if (lc->fill && lc->fill->to > end)
		lc->fill->to = end;
}

/* Adds a chunk behind all that are used.  tx_mutex, tx_lock held. */
void sanx_chunk_add(struct sanx_lconn *lc, struct sanx_chunk *c)
{
	u32 n;

	lockdep_assert_held(&lc->link->tx_lock);
	fill_cut(lc, c->from);
	list_add_tail(&c->node, first_unused(lc, &n));
}

/**
 * sanx_chunk_at() - find the chunk that has a byte
 * @lc: the connection
 * @offset: stream offset of the byte
 *
 * Context: tx_lock held.
 * Return: the chunk, or NULL.
 */
struct sanx_chunk *sanx_chunk_at(struct sanx_lconn *lc, u64 offset)
{
	struct sanx_chunk *c = lc->at;

	lockdep_assert_held(&lc->link->tx_lock);
	if (!c || c->from > offset)
		c = list_first_entry_or_null(&lc->chunks, struct sanx_chunk, node);
	if (!c)
		return NULL;
	list_for_each_entry_from(c, &lc->chunks, node) {
		if (c->from > offset)
			return NULL;
		if (c->to <= offset)
			continue;
		lc->at = c;
		return c;
	}
	return NULL;
}

/**
 * sanx_chunk_bytes() - find bytes that are in one piece of memory
 * @c: a chunk
 * @offset: stream offset of the first one, which @c has
 * @len: how many there are to be at most; set to how many there are
 *
 * Context: any.
 * Return: the bytes.
 */
const void *sanx_chunk_bytes(const struct sanx_chunk *c, u64 offset, u32 *len)
{
	size_t pos = c->start + (offset - c->from), in = pos & (chunk_size(c) - 1);

	*len = min_t(u64, *len, min_t(u64, chunk_size(c) - in, c->to - offset));
	return page_address(c->page[pos >> (PAGE_SHIFT + c->order)].page) + in;
}

/* Keeps a chunk that nobody needs for the next bytes, if it is good for much. */
static bool chunk_keep_unused(struct sanx_lconn *lc, struct sanx_chunk *c)
{
	u32 n;

	if (c->kind != SANX_CHUNK_WINDOW || chunk_size(c) < CHUNK_KEPT ||
	    sanx_lconn_is_closed(&lc->state))
		return false;
	/* As many as a stream has on its way.  New memory may have to be zeroed. */
	first_unused(lc, &n);
	if (n && n >= lc->txgen.win.size / chunk_size(c))
		return false;
	c->from = CHUNK_UNUSED;
	c->to = CHUNK_UNUSED;
	list_move_tail(&c->node, &lc->chunks);
	return true;
}

/*
 * Takes what is acknowledged out of the list, as lc->acked has moved; @spent gets it, for
 * sanx_chunks_spent().  tx_lock held.
 */
void sanx_chunks_acked(struct sanx_lconn *lc, struct list_head *spent)
{
	struct sanx_chunk *c, *next;

	lockdep_assert_held(&lc->link->tx_lock);
	list_for_each_entry_safe(c, next, &lc->chunks, node) {
		if (c->to > lc->acked)
			break;
		if (c == lc->fill)
			continue;
		if (lc->at == c)
			lc->at = NULL;
		if (!chunk_keep_unused(lc, c))
			list_move_tail(&c->node, spent);
	}
}

/**
 * sanx_chunks_spent() - free chunks that are in no connection's list any more
 * @link: the link that they are mapped for
 * @spent: the chunks
 *
 * Programs get their notifications at once, and in the order of the stream, so that those of
 * a socket become one.
 *
 * Context: an upcall of the wire, without locks of ours: stop() of the wire returns only after
 * the chunks were unmapped.  TCP's has its sock locked, but nothing is lent to that.
 */
void sanx_chunks_spent(struct sanx_link *link, struct list_head *spent)
{
	struct sanx_chunk *c, *next;
	struct sk_buff *notice;

	list_for_each_entry_safe(c, next, spent, node) {
		list_del_init(&c->node);
		sanx_chunk_unmap(c, link);
		notice = c->notice;
		c->notice = NULL;
		sanx_chunk_free(c);
		consume_skb(notice);
	}
}

/**
 * sanx_chunks_settle() - free what is acknowledged
 * @lc: the connection
 *
 * Context: tx_lock held.
 */
void sanx_chunks_settle(struct sanx_lconn *lc)
{
	struct sanx_chunk *c, *next;
	LIST_HEAD(spent);

	sanx_chunks_acked(lc, &spent);
	list_for_each_entry_safe(c, next, &spent, node)
		sanx_chunk_drop(lc, c);
}

/* Return: the current or last link, with a reference. */
static struct sanx_link *last_link(struct sanx_lconn *lc)
{
	struct sanx_link *link = sanx_lconn_lock(lc);

	kref_get(&link->refs);
	spin_unlock_bh(&link->tx_lock);
	return link;
}

/* Room for which a message is cut where a chunk ends; less is left. */
#define FILL_LEAST	(SANX_WIRE_PAYLOAD_MAX / 2)

static_assert(FILL_LEAST >= SANX_SLACK_MAX);

/*
 * A large chunk ends where a ring of its size would wrap, so that a message is cut once and
 * not twice.
 */
static void fill_set(struct sanx_lconn *lc, struct sanx_chunk *c)
{
	u64 to = lc->end + chunk_size(c), wrap = round_down(to, (u64)chunk_size(c));

	if (chunk_size(c) >= CHUNK_KEPT && wrap >= lc->end + FILL_LEAST)
		to = wrap;
	c->from = lc->end;
	c->to = to;
	lc->fill = c;
}

/* Uses lc->fill from its begin, if nobody needs its bytes.  Return: true if so. */
static bool fill_again(struct sanx_lconn *lc)
{
	struct sanx_link *link = sanx_lconn_lock(lc);
	bool again = lc->fill && lc->acked == lc->end;

	if (again)
		fill_set(lc, lc->fill);
	spin_unlock_bh(&link->tx_lock);
	return again;
}

/* Uses a chunk that was kept.  Return: true if there was one. */
static bool fill_unused(struct sanx_lconn *lc)
{
	struct sanx_link *link = sanx_lconn_lock(lc);
	struct list_head *first;
	u32 n;

	first = first_unused(lc, &n);
	if (n) {
		fill_cut(lc, lc->end);
		fill_set(lc, list_entry(first, struct sanx_chunk, node));
		/* The one before may be acknowledged. */
		sanx_chunks_settle(lc);
	}
	spin_unlock_bh(&link->tx_lock);
	return n;
}

/*
 * Makes a chunk lc->fill.
 * Return: 0, or -ENOMEM and the chunk is freed.
 */
static int fill_publish(struct sanx_lconn *lc, struct sanx_chunk *c)
{
	struct sanx_link *link = sanx_lconn_lock(lc);
	int err = 0;

	c->from = lc->end;
	if (lc->owner == SANX_OWNER_LINK)
		err = sanx_chunk_map(c, link);
	if (err) {
		sanx_chunk_unmap(c, link);
	} else {
		sanx_chunk_add(lc, c);
		fill_set(lc, c);
		/* The one before may be acknowledged. */
		sanx_chunks_settle(lc);
	}
	spin_unlock_bh(&link->tx_lock);
	if (err)
		sanx_chunk_free(c);
	return err;
}

/*
 * A stream that fills a chunk before the one before it is acknowledged gets larger ones.
 * What a connection cannot go on without is not limited.
 */
static int fill_alloc(struct sanx_lconn *lc, u32 size, u32 least, enum sanx_chunk_kind kind)
{
	struct sanx_link *link = last_link(lc);
	struct sanx_chunk *c;

	/* One that was cut, as lent pages are behind it, was not filled. */
	if (lc->fill && lc->fill->to >= lc->end)
		size = max(size, min(2 * chunk_size(lc->fill),
				     max(READ_ONCE(lc->txgen.win.size), CHUNK_KEPT)));
	c = sanx_chunk_alloc(lc, link, kind, size, least, SANX_CLAIM_SNDBUF);
	if (!c && !lc->fill && kind == SANX_CHUNK_WINDOW)
		c = sanx_chunk_alloc(lc, link, kind, PAGE_SIZE, PAGE_SIZE, SANX_CLAIM_LEAST);
	sanx_link_put(link);
	return c ? fill_publish(lc, c) : -ENOMEM;
}

/*
 * Has room made behind lc->end: in the chunk that there is if nobody needs its bytes, and
 * it suits; else in a new one.
 * Return: 0 or -ENOMEM.
 */
static int fill_make(struct sanx_lconn *lc, u32 size, enum sanx_chunk_kind kind)
{
	bool again = lc->fill && READ_ONCE(lc->acked) == lc->end;
	bool suits = again && lc->fill->kind == kind;
	u32 least = PAGE_SIZE;

	if (suits && chunk_size(lc->fill) >= min(size, CHUNK_MAX) && fill_again(lc))
		return 0;
	if (kind == SANX_CHUNK_WINDOW && fill_unused(lc))
		return 0;
	if (suits)
		least = 2 * chunk_size(lc->fill);
	if (!sanx_conn_short(&lc->conn)) {
		if (!fill_alloc(lc, size, least, kind)) {
			sanx_reclaim_arm(&lc->conn);
			return 0;
		}
		/* With what there is, the next bytes may still find a page. */
		if (!again)
			sanx_conn_set_short(&lc->conn);
	}
	return again && fill_again(lc) ? 0 : -ENOMEM;
}

/*
 * Does a message go to the chunk that there is?  It is cut where that ends only if much of it
 * goes there, and it is not one that must not mix with those of others.
 */
static bool fill_takes(const struct sanx_lconn *lc, u32 want)
{
	u32 room;

	if (!lc->fill || lc->end >= lc->fill->to)
		return false;
	room = lc->fill->to - lc->end;
	return room >= want || room >= FILL_LEAST;
}

/**
 * sanx_chunk_tail() - find memory for the next bytes of a stream
 * @lc: the connection
 * @want: bytes that are to be sent, and for which there is room
 * @kind: whose account new memory is for
 * @n: set to how many bytes may be copied, at least 1 and at most @want
 *
 * What is copied there is not sent before sanx_payload_taken().
 *
 * Context: process, may sleep; tx_mutex held; takes tx_lock.
 * Return: where the byte at lc->end goes; or NULL, and the sender is woken when it is to try
 * again (sanx_conn_set_short()).
 */
void *sanx_chunk_tail(struct sanx_lconn *lc, u32 want, enum sanx_chunk_kind kind, u32 *n)
{
	if (!fill_takes(lc, want) && fill_make(lc, roundup_pow_of_two(want), kind) &&
	    (!lc->fill || lc->end >= lc->fill->to))
		return NULL;
	*n = min_t(u64, want, lc->fill->to - lc->end);
	return chunk_mem(lc->fill, lc->end);
}

/**
 * sanx_chunk_lacks() - is there no memory for the next bytes, and none to be had at present?
 * @lc: the connection
 *
 * Context: any; takes tx_lock.
 * Return: true if so; the sender is woken when it is to try again, or when bytes that it has
 * sent are acknowledged.
 */
bool sanx_chunk_lacks(struct sanx_lconn *lc)
{
	struct sanx_link *link;
	bool lacks;
	u32 n;

	if (likely(!sanx_conn_short(&lc->conn)))
		return false;
	link = sanx_lconn_lock(lc);
	first_unused(lc, &n);
	lacks = !n && (!lc->fill || (lc->end >= lc->fill->to && lc->acked != lc->end));
	if (lacks && lc->acked != lc->end)
		sanx_ack_await(lc);
	sanx_xmit_unlock(link);
	return lacks;
}

/**
 * sanx_chunk_keep() - copy bytes that a frame carried to the chunk that has their offset
 * @lc: a connection whose link is lost
 * @offset: stream offset of the first byte
 * @data: the bytes
 * @len: how many there are
 *
 * Pages of programs have their bytes already.
 *
 * Context: tx_lock held.
 * Return: bytes, from the first one on, that are in a chunk now.
 */
u32 sanx_chunk_keep(struct sanx_lconn *lc, u64 offset, const u8 *data, u32 len)
{
	struct sanx_chunk *c;
	u32 n, done;

	for (done = 0; done < len; done += n) {
		c = sanx_chunk_at(lc, offset + done);
		if (!c)
			break;
		n = min_t(u64, len - done, c->to - offset - done);
		if (sanx_chunk_is_ours(c))
			memcpy(chunk_mem(c, offset + done), data + done, n);
	}
	return done;
}

/**
 * sanx_chunk_insert() - add a chunk for bytes that went in frames
 * @lc: a connection whose link is lost
 * @c: the chunk, with memory of ours
 * @offset: stream offset that no chunk has, less than lc->posted
 *
 * Context: tx_lock held.
 */
void sanx_chunk_insert(struct sanx_lconn *lc, struct sanx_chunk *c, u64 offset)
{
	struct sanx_chunk *next;
	u64 to = lc->posted;

	list_for_each_entry(next, &lc->chunks, node) {
		if (next->from <= offset)
			continue;
		to = min(to, next->from);
		break;
	}
	c->from = offset;
	c->to = min(to, offset + chunk_size(c));
	/* Before @next, which is the head if there is none. */
	list_add_tail(&c->node, &next->node);
}

/**
 * sanx_chunks_map() - map all chunks for the wire of the link
 * @lc: a connection that is about to continue on lc->link
 *
 * Context: tx_lock held.
 * Return: 0; or -ENOMEM, and none is mapped.
 */
int sanx_chunks_map(struct sanx_lconn *lc)
{
	struct sanx_chunk *c;
	int err = 0;

	lockdep_assert_held(&lc->link->tx_lock);
	list_for_each_entry(c, &lc->chunks, node)
		err = err ?: sanx_chunk_map(c, lc->link);
	if (err)
		sanx_chunks_unmap(lc);
	return err;
}

/**
 * sanx_chunks_unmap() - end the access of the wire of the link to all chunks
 * @lc: the connection; no message that is not complete reads them
 *
 * Context: tx_lock held.
 */
void sanx_chunks_unmap(struct sanx_lconn *lc)
{
	struct sanx_chunk *c;

	lockdep_assert_held(&lc->link->tx_lock);
	list_for_each_entry(c, &lc->chunks, node)
		sanx_chunk_unmap(c, lc->link);
}

/**
 * sanx_chunks_over() - free what is not sent any more, and give programs their pages back
 * @lc: a connection that is RELEASED, and that the device is done with
 *
 * lc->fill stays until there are no senders: one may be copying to it.
 *
 * Context: tx_lock held.
 */
void sanx_chunks_over(struct sanx_lconn *lc)
{
	struct sanx_chunk *c, *next;

	sanx_chunks_unmap(lc);
	list_for_each_entry_safe(c, next, &lc->chunks, node)
		if (c != lc->fill)
			sanx_chunk_drop(lc, c);
}

/**
 * sanx_chunks_drop_unused() - free what is kept for the next bytes
 * @lc: a connection that has lost its link, has been closed, or rests
 *
 * Context: tx_lock held.
 */
void sanx_chunks_drop_unused(struct sanx_lconn *lc)
{
	struct list_head *c, *next;
	u32 n;

	for (c = first_unused(lc, &n); n--; c = next) {
		next = c->next;
		sanx_chunk_drop(lc, list_entry(c, struct sanx_chunk, node));
	}
}

/**
 * sanx_chunks_reclaim() - free the memory that nobody needs
 * @lc: a connection
 *
 * Context: process; tx_mutex held; takes tx_lock.
 * Return: true if there is some that cannot be freed now.
 */
bool sanx_chunks_reclaim(struct sanx_lconn *lc)
{
	struct sanx_link *link = sanx_lconn_lock(lc);
	bool more;

	if (lc->fill && lc->acked == lc->end)
		sanx_chunk_drop(lc, lc->fill);
	sanx_chunks_drop_unused(lc);
	more = !list_empty(&lc->chunks);
	spin_unlock_bh(&link->tx_lock);
	return more;
}

/**
 * sanx_chunks_free() - free all
 * @lc: a connection without senders, on no link
 *
 * Context: any.
 */
void sanx_chunks_free(struct sanx_lconn *lc)
{
	struct sanx_chunk *c, *next;

	list_for_each_entry_safe(c, next, &lc->chunks, node)
		sanx_chunk_free(c);
	INIT_LIST_HEAD(&lc->chunks);
}
