// SPDX-License-Identifier: GPL-2.0
/* Packets and their queues, as far as datagrams between nodes need them. */
#include "kernel.h"

static void add_frag(struct sk_buff *skb, u32 bytes, gfp_t gfp)
{
	skb_frag_t *f = &skb->shared.frags[skb->shared.nr_frags];

	f->mem = kmalloc(bytes, gfp);
	f->bytes = bytes;
	if (f->mem)
		skb->shared.nr_frags++;
}

/**
 * alloc_skb_with_frags() - as the kernel's
 * @headlen: bytes before the first part; skb_put() makes room for them
 * @datalen: bytes in parts
 * @order: largest part, as an order of pages
 * @err: set on failure
 * @gfp: how to allocate
 */
struct sk_buff *alloc_skb_with_frags(unsigned long headlen, unsigned long datalen, int order,
				     int *err, gfp_t gfp)
{
	struct sk_buff *skb = kzalloc(sizeof(*skb), gfp);
	unsigned long left, n = 0;
	unsigned int had;

	*err = -ENOBUFS;
	if (!skb)
		return NULL;
	skb->size = headlen;
	skb->truesize = sizeof(*skb) + headlen + datalen;
	skb->data = kmalloc(headlen, gfp);
	for (left = skb->data ? datalen : 0; left; left -= n) {
		n = min(left, PAGE_SIZE << order);
		had = skb->shared.nr_frags;
		add_frag(skb, n, gfp);
		if (had == skb->shared.nr_frags)
			break;
	}
	if (skb->data && !left)
		return skb;
	kfree_skb(skb);
	return NULL;
}

void skb_put(struct sk_buff *skb, u32 len)
{
	sim_assert(!skb->data_len && skb->len + len <= skb->size);
	skb->len += len;
}

void kfree_skb(struct sk_buff *skb)
{
	unsigned int i;

	if (!skb)
		return;
	for (i = 0; i < skb->shared.nr_frags; i++)
		kfree(skb->shared.frags[i].mem);
	kfree(skb->data);
	kfree(skb);
}

void skb_zcopy_set(struct sk_buff *skb, struct ubuf_info *ubuf, bool *have_ref)
{
	sim_assert(!skb->ubuf);
	ubuf->refs++;
	skb->ubuf = ubuf;
}

void skb_zcopy_clear(struct sk_buff *skb, bool success)
{
	if (skb->ubuf)
		net_zcopy_put(skb->ubuf);
	skb->ubuf = NULL;
}

void consume_skb(struct sk_buff *skb)
{
	if (!skb)
		return;
	skb_zcopy_clear(skb, true);
	kfree_skb(skb);
}

void skb_queue_head_init(struct sk_buff_head *q)
{
	INIT_LIST_HEAD(&q->list);
	q->qlen = 0;
	spin_lock_init(&q->lock);
}

void skb_queue_tail(struct sk_buff_head *q, struct sk_buff *skb)
{
	spin_lock(&q->lock);
	list_add_tail(&skb->list, &q->list);
	q->qlen++;
	spin_unlock(&q->lock);
}

struct sk_buff *skb_peek(const struct sk_buff_head *q)
{
	return list_first_entry_or_null(&q->list, struct sk_buff, list);
}

struct sk_buff *skb_dequeue(struct sk_buff_head *q)
{
	struct sk_buff *skb;

	spin_lock(&q->lock);
	skb = list_first_entry_or_null(&q->list, struct sk_buff, list);
	if (skb) {
		list_del(&skb->list);
		q->qlen--;
	}
	spin_unlock(&q->lock);
	return skb;
}

void skb_queue_purge(struct sk_buff_head *q)
{
	struct sk_buff *skb;

	while ((skb = skb_dequeue(q)))
		kfree_skb(skb);
}
