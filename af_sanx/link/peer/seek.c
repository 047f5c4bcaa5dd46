// SPDX-License-Identifier: GPL-2.0
/*
 * Finding nodes: who is asked when, who is answered, and what becomes of the answers.
 * Documentation/auto.rst has the whole; who.c has the messages.
 *
 * An address that is being asked has a &struct sanx_seek.  Its work asks until the node
 * there has us, too, and then publishes it in the node map.
 */
#include <linux/delay.h>
#include <linux/export.h>
#include <linux/ktime.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <linux/srcu.h>

#include "config/cov.h"
#include "peer.h"
#include "who.h"

/* How often a node is asked that does not have us yet, and ms before it is again. */
#define SEEK_TRIES	6
#define SEEK_MS		50
/* Addresses that are being asked at a time. */
#define SEEKS_MAX	32
/* Questions that are answered in a second. */
#define ANSWERS_SECOND	256

/* Held while a wire asks: sanx_seek_flush(). */
DEFINE_STATIC_SRCU(seek_srcu);

/**
 * enum seek_why - why an address is asked
 * @SEEK_CONNECT: a program connects there
 * @SEEK_BACK: it has asked us
 * @SEEK_AGAIN: it was found there, and has refused a link
 */
enum seek_why {
	SEEK_CONNECT,
	SEEK_BACK,
	SEEK_AGAIN,
};

/**
 * struct sanx_seek - an address that is being asked who is there
 * @node: in lnet.seeks
 * @work: asks
 * @lnet: the namespace
 * @addr: the address
 * @why: why it is asked
 * @answered: somebody there has given an answer that we would take; lnet.seek_lock
 * @local: our address, once it is known
 * @text: the question and the answer
 * @found: who is there, after an answer
 * @known: the node there has us
 */
struct sanx_seek {
	struct list_head	node;
	struct work_struct	work;
	struct sanx_lnet	*lnet;
	struct in6_addr		addr;
	enum seek_why		why;
	bool			answered;
	struct in6_addr		local;
	struct sanx_who_text	text;
	struct sanx_node_info	found;
	bool			known;
};

static struct sanx_seek *seek_find(const struct sanx_lnet *lnet,
				   const struct in6_addr *addr)
{
	struct sanx_seek *s;

	lockdep_assert_held(&lnet->seek_lock);
	list_for_each_entry(s, &lnet->seeks, node)
		if (ipv6_addr_equal(&s->addr, addr))
			return s;
	return NULL;
}

/**
 * sanx_wire_question() - what a node is asked
 * @s: as passed to sanx_wire_ops.who()
 * @local: our address
 * @buf: SANX_WIRE_HELLO bytes, filled
 *
 * Context: process, may sleep.
 * Return: bytes of the question, or -errno.
 */
int sanx_wire_question(struct sanx_seek *s, const struct in6_addr *local,
		       void *buf)
{
	struct sanx_keys keys;
	int err;

	/* A stranger here cannot be found there. */
	if (!sanx_auto_covers(s->lnet->net, local) &&
	    !sanx_node_has_addr(s->lnet->net, sanx_node_self(s->lnet->net),
				local))
		return -EADDRNOTAVAIL;
	err = sanx_keys_get(s->lnet->net, 0, &keys);
	if (err)
		return err;
	s->local = *local;
	memset(&s->text, 0, sizeof(s->text));
	s->text.addr[0] = *local;
	s->text.addr[1] = s->addr;
	err = sanx_who_ask(&s->text, get_random_u64(), s->why == SEEK_BACK,
			   &keys);
	sanx_keys_put(&keys);
	if (err)
		return err;
	memcpy(buf, &s->text.question, sizeof(s->text.question));
	return sizeof(s->text.question);
}
EXPORT_SYMBOL_GPL(sanx_wire_question);

/**
 * sanx_wire_answered() - an answer has come
 * @s: as passed to sanx_wire_ops.who()
 * @data: the answer, or the sanx_wire_refusal() of one
 * @len: its size in bytes
 *
 * Context: process, may sleep.
 * Return: 0; -EAGAIN if the node there does not answer now; or why it is not believed:
 * -errno.
 */
int sanx_wire_answered(struct sanx_seek *s, const void *data, size_t len)
{
	enum sanx_refusal how;
	enum sanx_cause cause;
	struct sanx_keys keys;
	int err;

	how = sanx_refusal_parse(data, len, &cause);
	if (how != SANX_REFUSED_ABSENT)
		return how == SANX_REFUSED_LATER ? -EAGAIN : -EACCES;
	if (len != sizeof(s->text.answer))
		return -EPROTO;
	memcpy(&s->text.answer, data, len);
	err = sanx_keys_get(s->lnet->net, 0, &keys);
	if (err)
		return err;
	err = sanx_who_check_answer(&s->text, &keys, &s->found, &s->known);
	sanx_keys_put(&keys);
	return err;
}
EXPORT_SYMBOL_GPL(sanx_wire_answered);

/* Return: as sanx_wire_ops.who(); -ENODEV if there is no such wire. */
static int seek_ask_over(struct sanx_seek *s, int kind)
{
	const struct sanx_wire_ops *wire;
	int idx, err = -ENODEV;

	idx = srcu_read_lock(&seek_srcu);
	wire = sanx_seek_wire(kind);
	if (wire && wire->who)
		err = wire->who(s->lnet->net, &s->addr, s);
	srcu_read_unlock(&seek_srcu, idx);
	return err;
}

/* Does this say that there is another node now, or none? */
static bool seek_denied(int err)
{
	switch (err) {
	case -ECONNREFUSED:
	case -EACCES:
	case -EPROTO:
	case -EEXIST:
	case -ENOKEY:
	case -EKEYREJECTED:
		return true;
	default:
		return false;
	}
}

/* Set of kinds of the rails that a node has that was found. */
static u32 seek_kinds(const struct sanx_seek *s)
{
	struct sanx_node_info info;
	unsigned int i;
	u32 kinds = 0;

	if (s->why != SEEK_AGAIN ||
	    !sanx_node_by_addr(s->lnet->net, &s->addr, &info))
		return BIT(__SANX_WIRES) - 1;
	for (i = 0; i < info.n_rails; i++)
		kinds |= BIT(info.kind[i]);
	return kinds;
}

/*
 * Asks over the wires, RDMA first, until somebody is there.  Of a node that was found,
 * all rails have to say that it is gone: connections wait for one that is silent.
 */
static int seek_ask(struct sanx_seek *s)
{
	u32 kinds = seek_kinds(s);
	int kind, err, ret = -ENETUNREACH;
	bool silent = false;

	for (kind = 0; kind < __SANX_WIRES; kind++) {
		if (!(kinds & BIT(kind)))
			continue;
		err = seek_ask_over(s, kind);
		if (!err || err == -EAGAIN)
			return err;
		if (err == -ENODEV)
			continue;
		silent |= !seek_denied(err);
		ret = err;
	}
	return s->why == SEEK_AGAIN && silent ? -EHOSTUNREACH : ret;
}

/* Our address, and the address of the other node, in the node map. */
static int seek_publish(struct sanx_seek *s)
{
	struct sanx_net *sn = sanx_net(s->lnet->net);
	struct sanx_nodemap_entry self, e = {
		.addr = s->addr,
		.node = s->found,
	};
	int err;

	e.node.found = ktime_get_ns();
	mutex_lock(&sn->config_mutex);
	sanx_auto_entry(&self, &s->local,
			sanx_node_self(sn->net) ?: sanx_auto_self(sn->net));
	self.node.found = e.node.found;
	/* Without an entry of our own that of the other node is of no use. */
	err = sanx_auto_add(sn, &self);
	if (!err || err == -EALREADY)
		err = sanx_auto_add(sn, &e);
	sanx_lnet_refresh(s->lnet, true);
	mutex_unlock(&sn->config_mutex);
	return err == -EALREADY ? 0 : err;
}

/* What an answer would do to the map, without doing it. */
static int seek_judge(struct sanx_seek *s)
{
	struct sanx_nodemap_entry e = { .addr = s->addr, .node = s->found };
	int err = sanx_auto_check(s->lnet->net, &e);

	return err == -EALREADY ? 0 : err;
}

static void seek_refused(const struct sanx_seek *s, int err)
{
	if (err == -EEXIST) {
		sanx_stat_add(s->lnet->net, SANX_STAT_AUTO_REFUSED, 1);
		pr_notice_ratelimited("%pI6c is not found: node %u is at another address (two machines with one machine id, or one with two addresses)\n",
				      &s->addr, s->found.id);
	} else if (err == -ENOKEY || err == -EKEYREJECTED) {
		pr_notice_ratelimited("%pI6c is not found: it does not prove that it has the default key\n",
				      &s->addr);
	} else if (err == -ENOSPC) {
		pr_notice_ratelimited("%pI6c is not found: %u nodes were found\n",
				      &s->addr, SANX_FOUND_MAX);
	}
}

static int seek_run(struct sanx_seek *s)
{
	struct sanx_lnet *lnet = s->lnet;
	int tries, err = 0;

	for (tries = 0; tries < SEEK_TRIES; tries++) {
		if (READ_ONCE(lnet->exiting))
			return -EINTR;
		err = seek_ask(s) ?: seek_judge(s);
		if (err)
			return err;
		spin_lock(&lnet->seek_lock);
		s->answered = true;
		spin_unlock(&lnet->seek_lock);
		if (s->known)
			return seek_publish(s);
		msleep(SEEK_MS << tries);
	}
	return -EACCES;
}

/*
 * A node that was found is another now, or none.  One that is silent may come back,
 * and its connections with it.
 */
static void seek_drop(const struct sanx_seek *s, int err)
{
	struct sanx_net *sn = sanx_net(s->lnet->net);

	if (!seek_denied(err))
		return;
	mutex_lock(&sn->config_mutex);
	if (!sanx_auto_drop(sn, &s->addr))
		sanx_lnet_refresh(s->lnet, true);
	mutex_unlock(&sn->config_mutex);
}

static void seek_work(struct work_struct *work)
{
	struct sanx_seek *s = container_of(work, struct sanx_seek, work);
	struct sanx_lnet *lnet = s->lnet;
	u32 route = sanx_route_genid(lnet->net, &s->addr);
	u32 round = sanx_auto_round(lnet->net);
	bool cov = sanx_cov_start(lnet->net);
	int err;

	err = seek_run(s);
	if (err && s->why == SEEK_AGAIN) {
		seek_drop(s, err);
	} else if (err) {
		seek_refused(s, err);
		sanx_auto_no(lnet->net, &s->addr, route, round);
	}
	spin_lock(&lnet->seek_lock);
	list_del(&s->node);
	lnet->n_seeks--;
	spin_unlock(&lnet->seek_lock);
	kfree(s);
	sanx_cov_stop(cov);
}

static void seek_start(struct sanx_lnet *lnet, const struct in6_addr *addr,
		       enum seek_why why)
{
	struct sanx_seek *s;

	if (!READ_ONCE(lnet->running) ||
	    READ_ONCE(lnet->n_seeks) >= SEEKS_MAX)
		return;
	s = kzalloc(sizeof(*s), GFP_KERNEL | __GFP_NOWARN);
	if (!s)
		return;
	s->lnet = lnet;
	s->addr = *addr;
	s->why = why;
	INIT_WORK(&s->work, seek_work);
	spin_lock(&lnet->seek_lock);
	if (lnet->seek_wq && lnet->n_seeks < SEEKS_MAX &&
	    !seek_find(lnet, addr)) {
		lnet->n_seeks++;
		list_add_tail(&s->node, &lnet->seeks);
		queue_work(lnet->seek_wq, &s->work);
		s = NULL;
	}
	spin_unlock(&lnet->seek_lock);
	kfree(s);
}

/**
 * sanx_seek_start() - ask who is at an address, unless it is being asked
 * @net: the namespace
 * @addr: an address that auto covers and the node map does not have
 *
 * Context: process, may sleep; does not wait for anybody.
 */
void sanx_seek_start(struct net *net, const struct in6_addr *addr)
{
	seek_start(sanx_lnet_of(net), addr, SEEK_CONNECT);
}

/* A node has refused a link: if it was found, is it still there? */
void sanx_seek_again(struct sanx_lnet *lnet, u32 id)
{
	struct in6_addr addr;

	if (sanx_auto_addr(lnet->net, id, &addr))
		seek_start(lnet, &addr, SEEK_AGAIN);
}

/* Who we are at one of our addresses; as sanx_wire_who(). */
static enum sanx_cause seek_self(struct net *net, const struct in6_addr *local,
				 struct sanx_node_info *self)
{
	u32 id = sanx_node_self(net);
	struct sanx_nodemap_entry e;

	/* The node map may change in between. */
	if (id && sanx_node_has_addr(net, id, local))
		return sanx_node_by_addr(net, local, self) ? SANX_CAUSE_NONE :
							     SANX_CAUSE_CHANGING;
	if (!sanx_auto_covers(net, local))
		return SANX_CAUSE_MUTE;
	sanx_auto_entry(&e, local, id ?: sanx_auto_self(net));
	*self = e.node;
	return self->id ? SANX_CAUSE_NONE : SANX_CAUSE_MUTE;
}

/* Are the node that asks and the address of ours that it asks in the node map? */
static bool seek_mapped(struct net *net, const struct sanx_wire_ask *ask)
{
	return sanx_node_by_addr(net, &ask->remote, NULL) &&
	       sanx_node_has_addr(net, sanx_node_self(net), &ask->local);
}

/* Have we an answer of the node that asks?  Then the map will have both soon. */
static bool seek_answered(struct sanx_lnet *lnet, const struct in6_addr *addr)
{
	const struct sanx_seek *s;
	bool answered;

	spin_lock(&lnet->seek_lock);
	s = seek_find(lnet, addr);
	answered = s && s->answered;
	spin_unlock(&lnet->seek_lock);
	return answered;
}

static enum sanx_cause seek_answer(struct sanx_lnet *lnet,
				   const struct sanx_wire_ask *ask,
				   struct sanx_who_text *text, bool known)
{
	const struct sanx_key *key;
	struct sanx_node_info self;
	struct sanx_keys keys;
	enum sanx_cause why;
	int err;

	why = seek_self(lnet->net, &ask->local, &self);
	if (why)
		return why;
	if (sanx_keys_get(lnet->net, 0, &keys))
		return SANX_CAUSE_UNABLE;
	text->addr[0] = ask->remote;
	text->addr[1] = ask->local;
	err = sanx_who_check_question(text, &keys, &key);
	if (!err)
		err = sanx_who_answer(text, key, &self, known);
	sanx_keys_put(&keys);
	if (err == -EPROTO) {
		sanx_count_protocol_error(lnet->net);
		return SANX_CAUSE_MALFORMED;
	}
	/* The administrator may be about to give both nodes the key. */
	if (err == -ENOKEY)
		return SANX_CAUSE_NO_KEY;
	if (err == -EKEYREJECTED)
		return SANX_CAUSE_OTHER_KEY;
	return err ? SANX_CAUSE_UNABLE : SANX_CAUSE_NONE;
}

/**
 * sanx_wire_who() - somebody asks who is here
 * @lnet: as passed to sanx_wire_ops.listen()
 * @ask: the question
 * @buf: SANX_WIRE_ANSWER bytes, filled with the answer
 *
 * Context: process, may sleep.
 * Return: SANX_CAUSE_NONE; or what there is instead of an answer, for
 * sanx_wire_refusal().
 */
enum sanx_cause sanx_wire_who(struct sanx_lnet *lnet,
			      const struct sanx_wire_ask *ask, void *buf)
{
	struct net *net = lnet->net;
	struct sanx_who_text text = {};
	enum sanx_cause why;
	bool mapped;

	/* A wire may add zeroes. */
	if (ask->origin != SANX_WIRE_KERNEL || !sanx_auto_on(net) ||
	    (!sanx_node_by_addr(net, &ask->remote, NULL) &&
	     !sanx_auto_covers(net, &ask->remote)) ||
	    ask->len < sizeof(text.question))
		return SANX_CAUSE_MUTE;
	if (sanx_rate_wait(&lnet->answers, ktime_get_ns(), ANSWERS_SECOND))
		return SANX_CAUSE_RATE;
	memcpy(&text.question, ask->data, sizeof(text.question));
	mapped = seek_mapped(net, ask);
	why = seek_answer(lnet, ask, &text,
			  mapped || seek_answered(lnet, &ask->remote));
	if (why)
		return why;
	if (!mapped && !(text.question.flags & SANX_WHO_F_BACK)) {
		/* Whatever it was, now it has AF_SANX. */
		sanx_auto_forget(net, &ask->remote);
		seek_start(lnet, &ask->remote, SEEK_BACK);
	}
	memcpy(buf, &text.answer, SANX_WIRE_ANSWER);
	return SANX_CAUSE_NONE;
}
EXPORT_SYMBOL_GPL(sanx_wire_who);

/* Sets up what finds nodes in a namespace. */
void sanx_seek_net_init(struct sanx_lnet *lnet)
{
	spin_lock_init(&lnet->seek_lock);
	INIT_LIST_HEAD(&lnet->seeks);
}

/*
 * Begins to find nodes in a namespace.  lnet.ctl held.
 *
 * What asks waits for strangers, so namespaces do not share it: else one could keep
 * another from finding anybody, or from ending.  No bytes of a connection wait for it,
 * so it has no rescuer.  Without memory nobody is asked until the next change.
 */
void sanx_seek_net_start(struct sanx_lnet *lnet)
{
	struct workqueue_struct *wq;

	lockdep_assert_held(&lnet->ctl);
	if (lnet->seek_wq)
		return;
	wq = alloc_workqueue("sanx_seek", WQ_UNBOUND, SEEKS_MAX);
	spin_lock(&lnet->seek_lock);
	lnet->seek_wq = wq;
	spin_unlock(&lnet->seek_lock);
}

/* Stops finding nodes in a namespace.  lnet.ctl held. */
void sanx_seek_net_exit(struct sanx_lnet *lnet)
{
	struct workqueue_struct *wq;

	spin_lock(&lnet->seek_lock);
	wq = lnet->seek_wq;
	lnet->seek_wq = NULL;
	spin_unlock(&lnet->seek_lock);
	if (wq)
		destroy_workqueue(wq);
}

/* Waits until nobody asks over a wire that is not there any more. */
void sanx_seek_flush(void)
{
	synchronize_srcu(&seek_srcu);
}
