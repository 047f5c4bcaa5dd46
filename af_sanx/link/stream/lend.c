// SPDX-License-Identifier: GPL-2.0
/*
 * Pages that a program lends: the wire reads from them, and nothing is copied.
 *
 * A blocking send() that is large lends its pages until it returns (long.c).  A call with
 * MSG_ZEROCOPY, or io_uring's SEND_ZC, lends them until the notification that it gets
 * (Documentation/networking/msg_zerocopy.rst).  Nobody is told about pages that sendfile() and
 * splice() lend, as over TCP.  The stream does not change: the pages are a
 * chunk (chunk.c) like others.
 *
 * Who has to be told is in chunk->notice: an skb without data, as TCP has one with the pages
 * in its write queue.  The notification comes when the peer has the bytes (ack.c), or when the
 * connection has ended and the device is done.
 *
 * If the link is lost, sanx_lend_save() copies pages that a send() waits for, as if the bytes
 * had been copied from the start.  Others stay lent, but not to a wire that cannot read them.
 *
 * No memory is mapped for the peer for this, so no peer can name the pages.
 */
#include <linux/mm.h>
#include <linux/skbuff.h>
#include <linux/uio.h>

#include "compat/compat.h"
#include "stream_priv.h"

/* Pages that are lent at a time. */
#define LEND_PAGES	64U
/*
 * Bytes of a ring for which pages are lent: a smaller one is that of a connection that has
 * sent little, or has little memory.
 */
#define LEND_RING	65536U

static void put_pages(struct page **pages, u32 n)
{
	while (n)
		put_page(pages[--n]);
}

/* Slab knows no references, so who sends such a page must not have it lent. */
static bool pages_ok(struct page **pages, u32 n)
{
	while (n)
		if (!sendpage_ok(pages[--n]))
			return false;
	return true;
}

/*
 * References the next pages of @from, as long as their bytes are behind each other: a pipe, and
 * a buffer that was registered with io_uring, have each page by itself.
 * @len: bytes at most; set to what there is
 * @start: set to the offset of the first byte in the first page
 * Return: number of pages.
 */
static u32 lend_get(struct iov_iter *from, struct page **pages, size_t *len, size_t *start)
{
	size_t done = 0, at;
	ssize_t got;
	u32 n = 0, m;

	while (done < *len && n < LEND_PAGES && (!done || PAGE_ALIGNED(*start + done))) {
		got = iov_iter_get_pages2(from, pages + n, *len - done, LEND_PAGES - n, &at);
		if (got <= 0)
			break;
		m = DIV_ROUND_UP(at + got, PAGE_SIZE);
		if ((done && at) || !pages_ok(pages + n, m)) {
			put_pages(pages + n, m);
			iov_iter_revert(from, got);
			break;
		}
		if (!done)
			*start = at;
		n += m;
		done += got;
	}
	*len = done;
	return n;
}

/**
 * sanx_lend_pages() - make a chunk of the next pages of a program
 * @from: where they are; advanced
 * @kind: SANX_CHUNK_LENT or SANX_CHUNK_LONG
 * @len: bytes at most; set to what the chunk has
 *
 * Context: process, may fault.
 * Return: the chunk, not mapped, without offsets; or NULL, and the bytes have to be copied.
 */
struct sanx_chunk *sanx_lend_pages(struct iov_iter *from, enum sanx_chunk_kind kind,
				   size_t *len)
{
	struct page *pages[LEND_PAGES];
	struct sanx_chunk *c;
	size_t start = 0;
	u32 i, n;

	n = lend_get(from, pages, len, &start);
	if (!n)
		return NULL;
	c = sanx_chunk_new(kind, n);
	if (!c) {
		put_pages(pages, n);
		iov_iter_revert(from, *len);
		return NULL;
	}
	c->start = start;
	for (i = 0; i < n; i++)
		c->page[i].page = pages[i];
	return c;
}

/* Bytes of @from whose pages may be behind each other. */
static size_t lend_run(const struct iov_iter *from)
{
	return iov_iter_is_bvec(from) ? iov_iter_count(from) : iov_iter_single_seg_count(from);
}

/*
 * Can pages be lent?  tx_mutex held.  A hint.
 *
 * Not those of few bytes: they must not mix with bytes of other senders, and a copy costs
 * less.
 */
static bool lend_may(struct sanx_lconn *lc, const struct msghdr *msg, size_t len, int flags)
{
	struct sanx_link *link;
	bool may;

	if (flags & MSG_OOB || len <= SANX_SLACK_MAX ||
	    READ_ONCE(lc->txgen.win.size) < LEND_RING ||
	    !(user_backed_iter(&msg->msg_iter) || iov_iter_is_bvec(&msg->msg_iter)))
		return false;
	rcu_read_lock();
	link = READ_ONCE(lc->link);
	may = link->caps.lend_max >= PAYLOAD_PIECE;
	rcu_read_unlock();
	return may;
}

/*
 * How many bytes are lent of @run, if there is room for @room?  What is left of the call is to
 * be nothing, or enough to be lent as well.
 */
static size_t lend_cut(size_t run, size_t room)
{
	/* They fit also if the first one starts in the middle. */
	size_t n = min3(run, room, (LEND_PAGES - 1) * PAGE_SIZE), left = run - n, more;

	if (!left || left > SANX_SLACK_MAX)
		return n;
	more = SANX_SLACK_MAX + 1 - left;
	return n > more ? n - more : n;
}

/**
 * sanx_lend_asked() - does a call lend its pages without waiting for them?
 * @msg: the call
 *
 * Return: true if it is to be notified, or if they are nobody's.
 */
bool sanx_lend_asked(const struct msghdr *msg)
{
	return msg->msg_ubuf ||
	       (msg->msg_flags & MSG_SPLICE_PAGES && iov_iter_is_bvec(&msg->msg_iter));
}

/**
 * sanx_lend_head() - bytes of a call that are copied before pages of it are lent
 * @lc: the connection
 * @msg: the call, as sanx_lend_asked()
 * @len: bytes of it
 * @flags: as of sanx_lconn_send()
 *
 * Programs send a header and a body in one call.
 *
 * Context: process, tx_mutex held.
 * Return: bytes; 0 if sanx_lend() may lend some now, @len if none will be lent.
 */
size_t sanx_lend_head(struct sanx_lconn *lc, const struct msghdr *msg, size_t len, int flags)
{
	struct iov_iter it = msg->msg_iter;
	size_t head = 0, run;

	if (!lend_may(lc, msg, len, flags))
		return len;
	for (; len - head > SANX_SLACK_MAX; head += run) {
		run = lend_run(&it);
		if (run > SANX_SLACK_MAX)
			return head;
		iov_iter_advance(&it, run);
	}
	return len;
}

/*
 * Publishes a chunk.  Takes tx_lock.
 * Return: true if the chunk belongs to the connection afterwards.
 */
static bool lend_publish(struct sanx_lconn *lc, struct sanx_chunk *c, struct ubuf_info *ubuf,
			 enum sanx_publish how)
{
	struct sanx_link *link = sanx_lconn_link_get(lc);
	bool done = false;

	if (!link)
		return false;
	/* The connection may have moved since lend_may(). */
	if (link->caps.lend_max >= PAYLOAD_PIECE && !sanx_chunk_map(c, link))
		done = !sanx_payload_lent(lc, link, c, ubuf, how);
	if (!done)
		sanx_chunk_unmap(c, link);
	sanx_link_user_put(link);
	return done;
}

/**
 * sanx_lend() - send from the pages of a call
 * @lc: the connection
 * @msg: the call, as sanx_lend_asked(); advanced by the bytes that were taken
 * @len: bytes of it
 * @flags: as of sanx_lconn_send()
 * @announce: false to hold them back
 *
 * Context: process, tx_mutex held; may fault; takes tx_lock.
 * Return: bytes that were taken; 0 if they have to be copied, or to wait for room.
 */
size_t sanx_lend(struct sanx_lconn *lc, struct msghdr *msg, size_t len, int flags,
		 bool announce)
{
	size_t run = min(len, lend_run(&msg->msg_iter)), n;
	struct iov_iter *from = &msg->msg_iter;
	u32 room = sanx_sndbuf_room(lc);
	enum sanx_publish how;
	struct sanx_chunk *c;

	if (!room) {
		room = sanx_sndbuf_beyond(lc, flags);
		/* Bytes beyond the window are not held back. */
		announce = true;
	}
	n = lend_cut(run, room);
	c = n ? sanx_lend_pages(from, SANX_CHUNK_LENT, &n) : NULL;
	if (!c)
		return 0;
	/* Little is behind each other, or there is little room. */
	if (n < SANX_SLACK_MAX)
		goto err_free;
	if (msg->msg_ubuf)
		c->notice = alloc_skb(0, GFP_KERNEL | __GFP_NOWARN);
	c->from = lc->end;
	c->to = lc->end + n;
	how = !announce ? SANX_PUBLISH_HELD : n < len ? SANX_PUBLISH_MORE : SANX_PUBLISH_LAST;
	if (!c->notice == !msg->msg_ubuf && lend_publish(lc, c, msg->msg_ubuf, how))
		return n;
err_free:
	sanx_chunk_free(c);
	iov_iter_revert(from, n);
	return 0;
}

/* Return: the first chunk of lent pages; without @all, that a send() waits for; or NULL. */
static struct sanx_chunk *lend_first(struct sanx_lconn *lc, bool all)
{
	struct sanx_chunk *c;

	list_for_each_entry(c, &lc->chunks, node)
		if (c->kind == SANX_CHUNK_LONG || (all && c->kind == SANX_CHUNK_LENT))
			return c;
	return NULL;
}

/* Copies those bytes that @to is for. */
static void save_bytes(const struct sanx_chunk *c, const struct sanx_chunk *to)
{
	const void *data;
	u32 n, most;
	u64 pos;

	for (pos = to->from; pos < to->to; pos += n) {
		n = to->to - pos;
		data = sanx_chunk_bytes(c, pos, &n);
		most = n;
		memcpy((void *)sanx_chunk_bytes(to, pos, &most), data, n);
	}
}

/* Copies what the peer may not have of lent pages to new chunks.  Return: 0 or -ENOMEM. */
static int save_copies(struct sanx_lconn *lc, struct sanx_link *link,
		       const struct sanx_chunk *c, u64 from, struct list_head *copies)
{
	struct sanx_chunk *copy;

	for (; from < c->to; from = copy->to) {
		copy = sanx_chunk_alloc(lc, link, SANX_CHUNK_WINDOW, c->to - from,
					PAGE_SIZE, SANX_CLAIM_LEAST);
		if (!copy)
			return -ENOMEM;
		copy->from = from;
		copy->to = min_t(u64, c->to, from + (PAGE_SIZE << copy->order));
		save_bytes(c, copy);
		list_add_tail(&copy->node, copies);
	}
	return 0;
}

/*
 * Gives pages back, of which some were @copied.  tx_lock is held, but not over callbacks of
 * the socket.
 */
static void save_drop(struct sanx_lconn *lc, struct sanx_link *link, struct sanx_chunk *c,
		      bool copied) __must_hold(&link->tx_lock)
{
	struct sk_buff *notice = c->notice;

	c->notice = NULL;
	sanx_chunk_drop(lc, c);
	if (!notice)
		return;
	spin_unlock_bh(&link->tx_lock);
	skb_zcopy_clear(notice, !copied);
	consume_skb(notice);
	spin_lock_bh(&link->tx_lock);
}

/**
 * sanx_lend_save() - copy lent pages that the peer may not have
 * @lc: a suspended connection; its link is drained, and nobody attaches it yet
 * @all: also those that no send() waits for
 *
 * Context: process, lnet.lock held; takes tx_lock.
 * Return: 0; or -ENOMEM, and some are left in the list.
 */
int sanx_lend_save(struct sanx_lconn *lc, bool all)
{
	struct sanx_link *link = sanx_lconn_lock(lc);
	struct sanx_chunk *c, *copy, *next;
	LIST_HEAD(copies);
	u64 from;
	int err = 0;

	while ((c = lend_first(lc, all))) {
		from = max(c->from, lc->acked);
		spin_unlock_bh(&link->tx_lock);
		/*
		 * Without tx_lock.  The pages stay in the list until they were
		 * copied, so sanx_long_wait() finds them.
		 */
		err = save_copies(lc, link, c, from, &copies);
		spin_lock_bh(&link->tx_lock);
		if (err)
			break;
		list_splice_tail_init(&copies, &c->node);
		save_drop(lc, link, c, from < c->to);
	}
	spin_unlock_bh(&link->tx_lock);
	list_for_each_entry_safe(copy, next, &copies, node)
		sanx_chunk_free(copy);
	return err;
}
