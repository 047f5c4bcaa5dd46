// SPDX-License-Identifier: GPL-2.0
/*
 * Makes the packets that a receiver's queue holds: headers that recvmsg() reads, and
 * the payload, copied once from the sender.
 *
 * They are charged to the receiver when they are queued.  Those to this node are not charged
 * to the sender, as they never wait on its side; UDP over lo does the same.
 */
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/sched.h>
#include <linux/skbuff.h>
#include <linux/udp.h>
#include <net/ipv6.h>
#include <net/udp.h>

#include "dgram_priv.h"

/**
 * sanx_dgram_header_size() - bytes of a packet before the payload
 * @d: the datagram
 *
 * Context: any.
 * Return: bytes of the headers of IP and UDP.
 */
unsigned int sanx_dgram_header_size(const struct sanx_dgram *d)
{
	return (d->v4 ? sizeof(struct iphdr) : sizeof(struct ipv6hdr)) +
	       sizeof(struct udphdr);
}

static void put_v4(struct sk_buff *skb, const struct sanx_dgram *d, size_t len)
{
	struct iphdr *iph = skb_put_zero(skb, sizeof(*iph));

	iph->version = 4;
	iph->ihl = sizeof(*iph) / 4;
	iph->tos = d->dest.tos;
	iph->tot_len = htons(sanx_dgram_header_size(d) + len);
	iph->ttl = d->hops < 0 ? d->route.hops : d->hops;
	iph->protocol = IPPROTO_UDP;
	iph->saddr = d->route.saddr.s6_addr32[3];
	iph->daddr = d->dest.daddr.s6_addr32[3];
}

static void put_v6(struct sk_buff *skb, const struct sanx_dgram *d, size_t len)
{
	struct ipv6hdr *ip6h = skb_put(skb, sizeof(*ip6h));

	ip6_flow_hdr(ip6h, d->dest.tos, 0);
	ip6h->payload_len = htons(sizeof(struct udphdr) + len);
	ip6h->nexthdr = IPPROTO_UDP;
	ip6h->hop_limit = d->hops < 0 ? d->route.hops : d->hops;
	ip6h->saddr = d->route.saddr;
	ip6h->daddr = d->dest.daddr;
}

static void put_udp(struct sk_buff *skb, const struct sanx_dgram *d, size_t len)
{
	struct udphdr *uh = skb_put(skb, sizeof(*uh));

	uh->source = d->sport;
	uh->dest = d->dport;
	uh->len = htons(sizeof(*uh) + len);
	uh->check = 0;
}

/* Set what a socket finds beside the headers. */
void sanx_dgram_set_cb(struct sk_buff *skb, const struct sanx_dgram *d)
{
	/* It never was on a wire. */
	skb->ip_summed = CHECKSUM_UNNECESSARY;
	skb->pkt_type = PACKET_HOST;
	if (d->v4) {
		skb->protocol = htons(ETH_P_IP);
		IPCB(skb)->iif = d->route.ifindex;
	} else {
		skb->protocol = htons(ETH_P_IPV6);
		IP6CB(skb)->iif = d->route.ifindex;
		IP6CB(skb)->nhoff = offsetof(struct ipv6hdr, nexthdr);
	}
}

/* @len: bytes of the payload */
static void put_headers(struct sk_buff *skb, const struct sanx_dgram *d,
			size_t len)
{
	skb_reset_mac_header(skb);
	skb_reset_network_header(skb);
	if (d->v4)
		put_v4(skb, d, len);
	else
		put_v6(skb, d, len);
	skb_set_transport_header(skb, skb->len);
	put_udp(skb, d, len);
	sanx_dgram_set_cb(skb, d);
	skb->mark = d->dest.mark;
}

/*
 * Adds bytes of a page.  Only single pages, when there are no larger ones, can be too
 * many.
 */
static bool put_frag(struct sk_buff *skb, struct page_frag *frag, size_t n)
{
	int i = skb_shinfo(skb)->nr_frags;

	if (skb_can_coalesce(skb, i, frag->page, frag->offset)) {
		skb_frag_size_add(&skb_shinfo(skb)->frags[i - 1], n);
	} else {
		if (i == MAX_SKB_FRAGS)
			return false;
		get_page(frag->page);
		skb_fill_page_desc(skb, i, frag->page, frag->offset, n);
	}
	frag->offset += n;
	skb->len += n;
	skb->data_len += n;
	skb->truesize += n;
	return true;
}

/* Adds @len bytes of @msg behind the headers, in pages. */
static int put_pages(struct sock *sk, struct sk_buff *skb, struct msghdr *msg,
		     size_t len)
{
	struct page_frag *frag = &current->task_frag;
	size_t n;

	for (; len; len -= n) {
		if (!skb_page_frag_refill(1, frag, sk->sk_allocation))
			return -ENOBUFS;
		n = min_t(size_t, len, frag->size - frag->offset);
		if (copy_page_from_iter(frag->page, frag->offset, n,
					&msg->msg_iter) != n)
			return -EFAULT;
		if (!put_frag(skb, frag, n))
			return -ENOBUFS;
	}
	return 0;
}

static int put_payload(struct sock *sk, struct sk_buff *skb,
		       struct msghdr *msg, size_t len, bool linear)
{
	if (!linear)
		return put_pages(sk, skb, msg, len);
	if (!copy_from_iter_full(skb_put(skb, len), len, &msg->msg_iter))
		return -EFAULT;
	return 0;
}

static struct sk_buff *make_one(struct sock *sk, const struct sanx_dgram *d,
				struct msghdr *msg, size_t len)
{
	unsigned int headers = sanx_dgram_header_size(d);
	bool linear = headers + len <= SANX_DGRAM_LINEAR;
	struct sk_buff *skb;
	int err;

	skb = alloc_skb(headers + (linear ? len : 0), sk->sk_allocation);
	if (!skb)
		return ERR_PTR(-ENOBUFS);
	put_headers(skb, d, len);
	err = put_payload(sk, skb, msg, len, linear);
	if (err) {
		kfree_skb(skb);
		return ERR_PTR(err);
	}
	return skb;
}

/* Make a packet without payload.  Return: the packet, or NULL. */
struct sk_buff *sanx_dgram_make_headers(const struct sanx_dgram *d)
{
	struct sk_buff *skb = alloc_skb(sanx_dgram_header_size(d), GFP_KERNEL | __GFP_NOWARN);

	if (skb)
		put_headers(skb, d, 0);
	return skb;
}

/* UDP_GRO: the receiver takes many datagrams at once. */
void sanx_dgram_set_gso(struct sk_buff *skb, u16 size)
{
	struct skb_shared_info *shinfo = skb_shinfo(skb);
	u32 payload = skb->len - skb_transport_offset(skb) - sizeof(struct udphdr);

	shinfo->gso_size = size;
	shinfo->gso_segs = DIV_ROUND_UP(payload, size);
	shinfo->gso_type = SKB_GSO_UDP_L4;
}

/*
 * Make the packet of a message to another node.
 * Return: the packet, from its IP header on, with UDP_SEGMENT's size if it has one; or NULL.
 */
struct sk_buff *sanx_dgram_make_charged(struct sock *sk, const struct sanx_dgram *d,
					struct msghdr *msg, size_t len, int *err)
{
	unsigned int headers = sanx_dgram_header_size(d);
	size_t linear = headers + len <= SANX_DGRAM_LINEAR ? len : 0;
	struct sk_buff *skb;

	skb = sock_alloc_send_pskb(sk, headers + linear, len - linear,
				   msg->msg_flags & MSG_DONTWAIT, err,
				   PAGE_ALLOC_COSTLY_ORDER);
	if (!skb)
		return NULL;
	put_headers(skb, d, len);
	sanx_dgram_put(skb, linear, len - linear);
	if (skb_copy_datagram_from_iter(skb, headers, &msg->msg_iter, len)) {
		*err = -EFAULT;
		kfree_skb(skb);
		return NULL;
	}
	if (d->gso_size && len > d->gso_size)
		sanx_dgram_set_gso(skb, d->gso_size);
	return skb;
}

/* Make the packets of a message.  Return: 0, -ENOBUFS or -EFAULT. */
int sanx_dgram_make(struct sock *sk, const struct sanx_dgram *d, bool gro,
		    struct msghdr *msg, size_t len, struct sk_buff_head *list)
{
	bool cut = d->gso_size && len > d->gso_size;
	size_t piece = cut && !gro ? d->gso_size : len;
	size_t rest = len;
	struct sk_buff *skb;

	/* An empty datagram is one, too. */
	do {
		piece = min(piece, rest);
		skb = make_one(sk, d, msg, piece);
		if (IS_ERR(skb)) {
			__skb_queue_purge(list);
			return PTR_ERR(skb);
		}
		if (cut && gro)
			sanx_dgram_set_gso(skb, d->gso_size);
		__skb_queue_tail(list, skb);
		rest -= piece;
	} while (rest);
	return 0;
}
