// SPDX-License-Identifier: GPL-2.0
/*
 * Events, for those who listen to the multicast group "events" of the netlink family.
 *
 * A message has the attributes of the dump that shows the same.  Without a listener, in any
 * namespace, nothing is built.
 *
 * The layers below tell what happens with locks held (conn/watch.h).  So here it is only
 * built and queued; a work item sends it, as sock_diag does with what "ss -E" shows: a
 * multicast goes through all sockets of generic netlink there are.  Each message in the
 * queue holds its namespace.
 *
 * An event that there is no room or memory for is lost, and so is one that a listener has no
 * room for.  recvmsg() tells both by ENOBUFS: the first when the next event of the namespace
 * is sent, as no socket is woken under the locks below.
 */
#include <linux/rcupdate.h>
#include <net/inet_sock.h>
#include <net/genetlink.h>
#include <net/netlink.h>

#include "config/config.h"
#include "conn/conn.h"
#include "conn/watch.h"
#include "netlink_priv.h"
#include "netlink_gen.h"
#include "socket/socket.h"

/* About 4 MB. */
#define QUEUE_MAX	1024U

static struct sk_buff_head queue;
static struct work_struct send_work;

/* In the queue a message has its namespace here. */
#define EVENT_NET(skb)	(*(struct net **)(skb)->cb)

/**
 * struct event - a message that is being built
 * @net: its namespace
 * @skb: the message
 * @hdr: its header
 */
struct event {
	struct net	*net;
	struct sk_buff	*skb;
	void		*hdr;
};

static void send_fn(struct work_struct *work)
{
	struct sk_buff *skb;
	struct net *net;

	while ((skb = skb_dequeue(&queue))) {
		net = EVENT_NET(skb);
		memset(skb->cb, 0, sizeof(skb->cb));
		genlmsg_multicast_netns(&sanx_nl_family, net, skb, 0, SANX_NLGRP_EVENTS,
					GFP_KERNEL);
		if (atomic_xchg(&sanx_net(net)->events_lost, 0))
			genl_set_err(&sanx_nl_family, net, 0, SANX_NLGRP_EVENTS, -ENOBUFS);
		put_net(net);
		cond_resched();
	}
}

/* Return: false if nobody listens, or without memory. */
static bool event_start(struct event *e, struct net *net, u8 cmd)
{
	e->net = net;
	if (likely(!genl_has_listeners(&sanx_nl_family, net, SANX_NLGRP_EVENTS)))
		return false;
	e->skb = genlmsg_new(NLMSG_DEFAULT_SIZE, GFP_ATOMIC | __GFP_NOWARN);
	if (!e->skb) {
		atomic_inc(&sanx_net(net)->events_lost);
		return false;
	}
	e->hdr = genlmsg_put(e->skb, 0, 0, &sanx_nl_family, 0, cmd);
	if (e->hdr)
		return true;
	nlmsg_free(e->skb);
	return false;
}

/* @whole: all attributes had room */
static void event_send(struct event *e, bool whole)
{
	if (WARN_ON_ONCE(!whole))
		goto free;
	genlmsg_end(e->skb, e->hdr);
	if (skb_queue_len_lockless(&queue) >= QUEUE_MAX) {
		atomic_inc(&sanx_net(e->net)->events_lost);
		goto free;
	}
	/* Nobody listens in a namespace that goes. */
	EVENT_NET(e->skb) = maybe_get_net(e->net);
	if (!EVENT_NET(e->skb))
		goto free;
	skb_queue_tail(&queue, e->skb);
	schedule_work(&send_work);
	return;
free:
	nlmsg_free(e->skb);
}

static bool put_conn(struct sk_buff *skb, struct sanx_conn *conn, int state)
{
	struct sanx_via via;
	u64 sent, came;

	sanx_conn_bytes(conn, &sent, &came);
	conn->ops->via(conn, &via);
	return sanx_nl_put_ends(skb, &conn->local, &conn->remote) &&
	       !nla_put_string(skb, SANX_A_SOCKET_STATE, sanx_state_name(state)) &&
	       !nla_put_string(skb, SANX_A_SOCKET_TRANSPORT, via.name) &&
	       (!via.node || !nla_put_u32(skb, SANX_A_SOCKET_NODE, via.node)) &&
	       sanx_nl_put_bytes(skb, sent, came);
}

/*
 * A connection is there, or has ended; what is between these is not told.  Those that carry
 * datagrams have no ports, and are nobody's sockets.
 */
static void on_conn(struct sanx_conn *conn, enum sanx_conn_state next)
{
	struct event e;

	if (next != SANX_CONN_ESTABLISHED && next != SANX_CONN_DEAD && next != SANX_CONN_ENDED)
		return;
	/* Of one that never was established, only a fallback is told. */
	if (next != SANX_CONN_ESTABLISHED &&
	    (conn->state < SANX_CONN_ESTABLISHED || conn->state > SANX_CONN_FINISHED))
		return;
	if (!conn->local.port || !conn->remote.port)
		return;
	if (event_start(&e, conn->net, SANX_CMD_SOCKET_NTF))
		event_send(&e, put_conn(e.skb, conn, next));
}

/* TCP's connect() follows, so that TCP may not know its ends yet. */
static void on_fallback(const struct sock *sk, const struct sanx_endpoint *to,
			enum sanx_fallback why)
{
	struct sanx_endpoint local, remote;
	struct event e;

	if (!event_start(&e, sock_net(sk), SANX_CMD_SOCKET_NTF))
		return;
	sanx_native_ends(sk, &local, &remote);
	event_send(&e, sanx_nl_put_ends(e.skb, &local, to ?: &remote) &&
		   !nla_put_string(e.skb, SANX_A_SOCKET_STATE,
				   sanx_nl_tcp_state(inet_sk_state_load(sk))) &&
		   !nla_put_string(e.skb, SANX_A_SOCKET_TRANSPORT, "tcp") &&
		   !nla_put_string(e.skb, SANX_A_SOCKET_FALLBACK, sanx_fallback_name(why)));
}

static void on_link(struct net *net, const struct sanx_link_info *info)
{
	struct event e;

	if (event_start(&e, net, SANX_CMD_LINK_NTF))
		event_send(&e, !sanx_nl_put_link_attrs(e.skb, info));
}

static void on_rail(struct net *net, const struct sanx_rail_info *info)
{
	struct event e;

	if (event_start(&e, net, SANX_CMD_RAIL_NTF))
		event_send(&e, !sanx_nl_put_rail_attrs(e.skb, info));
}

static const struct sanx_watch watch = {
	.on_conn	= on_conn,
	.on_fallback	= on_fallback,
	.on_link	= on_link,
	.on_rail	= on_rail,
};

/* Begin to tell events. */
void __init sanx_monitor_init(void)
{
	skb_queue_head_init(&queue);
	INIT_WORK(&send_work, send_fn);
	sanx_watch_set(&watch);
}

/* Tell no more. */
void sanx_monitor_exit(void)
{
	sanx_watch_set(NULL);
	cancel_work_sync(&send_work);
	/* What is still queued holds its namespace. */
	send_fn(&send_work);
}
