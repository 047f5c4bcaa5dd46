// SPDX-License-Identifier: GPL-2.0
/*
 * Requests of peers for links over TCP.
 *
 * A listener has one work item, which accepts TCP connections, reads their requests,
 * and has the engine decide.  Until then a TCP connection belongs to the listener.
 * A stranger gets no such place: the connection has to come from a reserved port of an
 * address that the node map has as a TCP rail, or that auto covers.
 */
#include <linux/cred.h>
#include <linux/sched/mm.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <net/ipv6.h>
#include <net/l3mdev.h>
#include <net/tcp.h>

#include "tcp_priv.h"

/*
 * TCP connections without a link, of all peers and of one, which is a node of the node map
 * or else an address; and how many of them are left to nodes of the map.
 */
#define OFFERS_MAX	128
#define OFFERS_PEER	16
#define OFFERS_KNOWN	64
/* How long a request, and the way of a refusal, may take; in jiffies. */
#define OFFER_TIME	(5 * HZ)

/**
 * struct tlink_listener - listeners of a namespace
 * @lnet: the namespace, as the engine knows it
 * @sock: one for each address family, or NULL
 * @lock: guards @sock and @offers; outside of lnet.lock
 * @work: accepts, and reads requests
 * @offers: &struct tlink whose request has not arrived, or was refused
 */
struct tlink_listener {
	struct sanx_lnet	*lnet;
	struct mutex		lock; /* guards: see above */
	struct socket		*sock[2];
	struct delayed_work	work;
	struct list_head	offers;
};

/* Inherited by the sockets of connections, so that their data wakes the work, too. */
static void listen_ready(struct sock *sk)
{
	struct tlink_listener *l;

	read_lock_bh(&sk->sk_callback_lock);
	l = sk->sk_user_data;
	if (l)
		mod_delayed_work(tlink_wq, &l->work, 0);
	read_unlock_bh(&sk->sk_callback_lock);
}

static void listen_detach(struct sock *sk)
{
	write_lock_bh(&sk->sk_callback_lock);
	sk->sk_user_data = NULL;
	write_unlock_bh(&sk->sk_callback_lock);
}

static void offer_drop(struct tlink *tl)
{
	list_del(&tl->node);
	listen_detach(tl->sock->sk);
	sock_no_linger(tl->sock->sk);
	tlink_free(&tl->wl);
}

/* A kernel's socket that is released sends nothing again, so the offer stays. */
static void offer_last(struct tlink *tl, enum tlink_setup_type type,
		       const void *body, u32 len)
{
	tlink_send_setup(tl->sock, type, 0, body, len);
	kernel_sock_shutdown(tl->sock, SHUT_WR);
	tl->state = TLINK_REFUSED;
	tl->since = jiffies;
}

static void offer_refuse(struct tlink *tl, enum sanx_cause why)
{
	u8 said[SANX_WIRE_REFUSAL];

	sanx_wire_refusal(said, why);
	offer_last(tl, TLINK_REFUSE, said, sizeof(said));
}

/* Has the peer read the refusal, or gone away? */
static bool offer_over(const struct tlink *tl)
{
	return !((TCPF_FIN_WAIT1 | TCPF_FIN_WAIT2) &
		 (1 << READ_ONCE(tl->sock->sk->sk_state)));
}

/* Accepts a link; the engine owns @tl. */
static int offer_accept(struct tlink *tl)
{
	u8 hello[SANX_WIRE_HELLO];
	struct sock *sk = tl->sock->sk;
	int err;

	tlink_watch(tl);
	err = tlink_prepare(tl) ?: sanx_wire_hello(tl->wl.link, hello);
	if (err)
		return err;
	lock_sock(sk);
	tl->state = TLINK_UP;
	release_sock(sk);
	err = tlink_send_setup(tl->sock, TLINK_ACCEPT, tl->wl.qpn, hello,
			       sizeof(hello));
	/* It may have ended before tlink_watch(). */
	if (!err && READ_ONCE(sk->sk_state) != TCP_ESTABLISHED)
		err = -ENOTCONN;
	return err;
}

/* The request is there. */
static void offer_decide(struct tlink_listener *l, struct tlink *tl)
{
	struct sanx_wire_ask ask = {
		.kind	= SANX_WIRE_TCP,
		.origin	= SANX_WIRE_KERNEL,
		.data	= tl->hello.body,
		.len	= le16_to_cpu(tl->hello.len),
	};
	struct sanx_link *link;
	enum sanx_cause why;

	tlink_addrs(tl->sock->sk, &ask.local, &ask.remote);
	tl->wl.peer_qpn = le32_to_cpu(tl->hello.qpn);
	why = sanx_wire_request(l->lnet, &tl->wl, &ask);
	if (why) {
		offer_refuse(tl, why);
		return;
	}
	link = tl->wl.link;
	list_del_init(&tl->node);
	listen_detach(tl->sock->sk);
	if (offer_accept(tl))
		sanx_wire_failed(link, SANX_WIRE_LOST);
	/* The link, and with it @tl, may be freed from here on. */
	complete_all(&tl->settled);
	sanx_wire_request_put(link);
}

/* A question is there, and not a request: the answer is the end of it. */
static void offer_tell(struct tlink_listener *l, struct tlink *tl)
{
	struct sanx_wire_ask ask = {
		.kind	= SANX_WIRE_TCP,
		.origin	= SANX_WIRE_KERNEL,
		.data	= tl->hello.body,
		.len	= le16_to_cpu(tl->hello.len),
	};
	u8 answer[SANX_WIRE_ANSWER];
	enum sanx_cause why;

	tlink_addrs(tl->sock->sk, &ask.local, &ask.remote);
	why = sanx_wire_who(l->lnet, &ask, answer);
	if (why)
		offer_refuse(tl, why);
	else
		offer_last(tl, TLINK_HERE, answer, sizeof(answer));
}

static void offer_look(struct tlink_listener *l, struct tlink *tl)
{
	int rc;

	if (tl->state == TLINK_REFUSED) {
		if (offer_over(tl) || time_after(jiffies, tl->since + OFFER_TIME))
			offer_drop(tl);
		return;
	}
	rc = tlink_read_setup(tl);
	if (rc > 0 && tl->hello.type != TLINK_ASK &&
	    tl->hello.type != TLINK_WHO)
		rc = -EPROTO;
	if (rc > 0 && tl->hello.type == TLINK_WHO)
		offer_tell(l, tl);
	else if (rc > 0)
		offer_decide(l, tl);
	else if (rc < 0 || time_after(jiffies, tl->since + OFFER_TIME))
		offer_drop(tl);
}

/* Is there a place for one more connection of a peer?  @node: its id, or 0. */
static bool offer_room(const struct tlink_listener *l,
		       const struct in6_addr *peer, u32 node)
{
	struct in6_addr local, remote;
	const struct tlink *tl;
	int all = 0, same = 0;

	list_for_each_entry(tl, &l->offers, node) {
		tlink_addrs(tl->sock->sk, &local, &remote);
		all++;
		same += node ? tl->asker == node : ipv6_addr_equal(&remote, peer);
	}
	if (!node)
		all += OFFERS_KNOWN;
	return all < OFFERS_MAX && same < OFFERS_PEER;
}

/* With tcp_l3mdev_accept, the listener also gets what comes in by a VRF. */
static bool offer_in_vrf(const struct sock *sk)
{
	int ifindex = READ_ONCE(sk->sk_bound_dev_if);

	return ifindex && l3mdev_master_ifindex_by_index(sock_net(sk), ifindex);
}

static bool offer_welcome(struct tlink_listener *l, const struct sock *sk,
			  u32 *node)
{
	struct sanx_wire_ask ask = { .kind = SANX_WIRE_TCP };

	if (tlink_addrs(sk, &ask.local, &ask.remote) >= PROT_SOCK)
		ask.origin = SANX_WIRE_PROGRAM;
	else
		ask.origin = offer_in_vrf(sk) ? SANX_WIRE_APART : SANX_WIRE_KERNEL;
	return sanx_wire_welcome(l->lnet, &ask, node) &&
	       offer_room(l, &ask.remote, *node);
}

static void listen_take(struct tlink_listener *l, struct socket *sock)
{
	struct tlink *tl = NULL;
	u32 node;

	if (offer_welcome(l, sock->sk, &node))
		tl = tlink_alloc(false);
	if (!tl) {
		listen_detach(sock->sk);
		sock_no_linger(sock->sk);
		sock_release(sock);
		return;
	}
	tlink_tune(sock->sk);
	tl->sock = sock;
	tl->since = jiffies;
	tl->asker = node;
	list_add_tail(&tl->node, &l->offers);
}

/*
 * Strangers may connect faster than they are turned away.  Others have to get the
 * listener's lock, and requests that have arrived an answer, meanwhile.
 * Return: true if there may be more.
 */
static bool listen_accept(struct tlink_listener *l, struct socket *from)
{
	struct socket *sock;
	int n;

	for (n = 0; n < OFFERS_MAX; n++) {
		if (kernel_accept(from, &sock, O_NONBLOCK))
			return false;
		listen_take(l, sock);
	}
	return true;
}

static void listen_work(struct work_struct *work)
{
	struct tlink_listener *l = container_of(to_delayed_work(work),
						struct tlink_listener, work);
	unsigned int noio = memalloc_noio_save();
	struct tlink *tl, *next;
	bool more = false;
	unsigned int i;

	mutex_lock(&l->lock);
	for (i = 0; i < ARRAY_SIZE(l->sock); i++)
		more |= l->sock[i] && listen_accept(l, l->sock[i]);
	list_for_each_entry_safe(tl, next, &l->offers, node)
		offer_look(l, tl);
	if (more)
		mod_delayed_work(tlink_wq, &l->work, 0);
	else if (!list_empty(&l->offers))
		queue_delayed_work(tlink_wq, &l->work, HZ);
	mutex_unlock(&l->lock);
	memalloc_noio_restore(noio);
}

/*
 * Whoever makes the first socket of a namespace, or changes its node map, may not
 * have the capability that a port below PROT_SOCK needs.
 */
static int listen_bind(struct socket *sock, struct sockaddr_storage *any,
		       int len)
{
	struct cred *cred = prepare_kernel_cred(&init_task);
	const struct cred *was;
	int err;

	if (!cred)
		return -ENOMEM;
	was = override_creds(cred);
	err = kernel_bind(sock, (struct sockaddr *)any, len);
	revert_creds(was);
	put_cred(cred);
	return err;
}

static int listen_start(struct socket *sock, struct tlink_listener *l, int family)
{
	struct sockaddr_storage any = { .ss_family = family };
	struct sock *sk = sock->sk;
	bool v4 = family == AF_INET;
	int err;

	if (v4)
		((struct sockaddr_in *)&any)->sin_port = htons(tcp_rail_port);
	else
		((struct sockaddr_in6 *)&any)->sin6_port = htons(tcp_rail_port);
	if (!v4)
		ip6_sock_set_v6only(sk);
	sock_set_reuseaddr(sk);
	err = listen_bind(sock, &any, v4 ? sizeof(struct sockaddr_in) :
					   sizeof(struct sockaddr_in6));
	if (err)
		return err;
	write_lock_bh(&sk->sk_callback_lock);
	sk->sk_user_data = l;
	sk->sk_data_ready = listen_ready;
	write_unlock_bh(&sk->sk_callback_lock);
	err = kernel_listen(sock, OFFERS_MAX);
	if (err)
		listen_detach(sk);
	return err;
}

static int listen_at(struct net *net, struct tlink_listener *l, int i,
		     int family)
{
	struct socket *sock;
	int err;

	err = sock_create_kern(net, family, SOCK_STREAM, IPPROTO_TCP, &sock);
	if (err)
		return err;
	err = listen_start(sock, l, family);
	if (err) {
		pr_warn_ratelimited("cannot listen for TCP rails on port %u: %pe\n",
				    tcp_rail_port, ERR_PTR(err));
		sock_release(sock);
		return err;
	}
	l->sock[i] = sock;
	return 0;
}

static void listen_end(struct tlink_listener *l, int i)
{
	listen_detach(l->sock[i]->sk);
	/* Also ends what was not accepted, and may still refer to @l. */
	sock_release(l->sock[i]);
	l->sock[i] = NULL;
}

/* sanx_wire_ops.listen. */
int tlink_listen(struct net *net, struct sanx_lnet *lnet, void **listener)
{
	static const int family[] = { AF_INET, AF_INET6 };
	struct tlink_listener *l = *listener;
	unsigned int i;
	int err = 0;

	if (!l) {
		l = kzalloc(sizeof(*l), GFP_KERNEL);
		if (!l)
			return -ENOMEM;
		l->lnet = lnet;
		mutex_init(&l->lock);
		INIT_LIST_HEAD(&l->offers);
		INIT_DELAYED_WORK(&l->work, listen_work);
		*listener = l;
	}
	mutex_lock(&l->lock);
	for (i = 0; i < ARRAY_SIZE(family); i++) {
		/* An administrator may have destroyed it. */
		if (l->sock[i] &&
		    READ_ONCE(l->sock[i]->sk->sk_state) != TCP_LISTEN)
			listen_end(l, i);
		if (l->sock[i] ||
		    (family[i] == AF_INET6 && !ipv6_mod_enabled()))
			continue;
		err = listen_at(net, l, i, family[i]) ?: err;
	}
	mutex_unlock(&l->lock);
	return l->sock[0] || l->sock[1] ? 0 : err;
}

/* sanx_wire_ops.unlisten. */
void tlink_unlisten(void *listener)
{
	struct tlink_listener *l = listener;
	struct tlink *tl, *next;
	unsigned int i;

	mutex_lock(&l->lock);
	for (i = 0; i < ARRAY_SIZE(l->sock); i++)
		if (l->sock[i])
			listen_end(l, i);
	list_for_each_entry_safe(tl, next, &l->offers, node)
		offer_drop(tl);
	mutex_unlock(&l->lock);
	/* Nobody queues it any more. */
	cancel_delayed_work_sync(&l->work);
	mutex_destroy(&l->lock);
	kfree(l);
}
