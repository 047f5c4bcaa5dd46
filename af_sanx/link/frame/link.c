// SPDX-License-Identifier: GPL-2.0
/*
 * Links: states, references, and whether the peer answers.
 *
 * Invariant: sanx_link_set_state() alone changes link->state, under
 * link->tx_lock, and only as state_next permits.
 */
#include <linux/export.h>
#include <linux/slab.h>

#include "conn/watch.h"
#include "frame_priv.h"
#include "info.h"

static const char *const state_names[__SANX_LINK_STATES] = {
	[SANX_LINK_CONNECTING]	= "connecting",
	[SANX_LINK_ACCEPTING]	= "accepting",
	[SANX_LINK_UP]		= "up",
	[SANX_LINK_DYING]	= "dying",
	[SANX_LINK_DEAD]	= "dead",
};

static const char *const end_names[__SANX_ENDS] = {
	[SANX_END_LOST]		= "the peer was lost",
	[SANX_END_NO_WAY]	= "there is no way by this rail",
	[SANX_END_REFUSED]	= "refused",
	[SANX_END_UNFIT]	= "it cannot map the rings of its lane",
	[SANX_END_FAULT]	= "a fault of one of the nodes",
	[SANX_END_RESTARTED]	= "the peer has restarted",
	[SANX_END_CONFIG]	= "configuration",
};

/* For each state, the states that may follow it. */
static const u8 state_next[__SANX_LINK_STATES] = {
	[SANX_LINK_CONNECTING]	= BIT(SANX_LINK_UP) | BIT(SANX_LINK_DYING),
	[SANX_LINK_ACCEPTING]	= BIT(SANX_LINK_UP) | BIT(SANX_LINK_DYING),
	[SANX_LINK_UP]		= BIT(SANX_LINK_DYING),
	[SANX_LINK_DYING]	= BIT(SANX_LINK_DEAD),
};

/**
 * sanx_link_state_name() - name of a state
 * @state: the state
 * Return: a constant string.
 */
const char *sanx_link_state_name(enum sanx_link_state state)
{
	return state_names[state];
}

/**
 * sanx_link_kind_name() - name of a kind of wires, as users see it
 * @kind: the kind
 * Return: a constant string.
 */
const char *sanx_link_kind_name(enum sanx_wire_kind kind)
{
	static const char *const names[] = {
		[SANX_WIRE_RDMA]	= "verbs",
		[SANX_WIRE_TCP]		= "tcp-rail",
	};

	return names[kind];
}

/* Tells that a link comes up, or begins to end. */
static noinline_for_stack void link_tell(struct sanx_link *link, enum sanx_link_state to)
{
	struct sanx_link_info info = {
		.node		= link->payer->id,
		.transport	= sanx_link_kind_name(link->kind),
		.device		= link->devname,
		.state		= state_names[to],
		.conns		= READ_ONCE(link->n_conns),
		.local		= link->local,
		.remote		= link->remote,
		.lane		= link->lane,
		.rail		= -1,
		.why		= to == SANX_LINK_DYING ? end_names[link->why] : NULL,
	};

	sanx_tell(link, link->payer->net, &info);
}

static void half_open(const struct sanx_link *link, int n)
{
	if (!link->active)
		sanx_payer_half_open(link->payer, n);
}

/**
 * sanx_link_set_state() - change the state of a link
 * @link: the link
 * @to: a state that may follow the current one
 *
 * Context: tx_lock held.
 */
void sanx_link_set_state(struct sanx_link *link, enum sanx_link_state to)
{
	lockdep_assert_held(&link->tx_lock);
	if (WARN_ON_ONCE(!(state_next[link->state] & BIT(to))))
		return;
	pr_debug("link to node %u: %s -> %s\n", link->payer->id,
		 state_names[link->state], state_names[to]);
	if (to == SANX_LINK_UP)
		half_open(link, -1);
	else if (link->state == SANX_LINK_UP)
		half_open(link, 1);
	/*
	 * Pairs with recv_state_ok(): sanx_link_kill_locked() stores link->why
	 * first.
	 */
	smp_store_release(&link->state, to);
	if (to == SANX_LINK_UP || to == SANX_LINK_DYING)
		link_tell(link, to);
}

/**
 * sanx_link_kill_locked() - start to end a link, in any state
 * @link: the link
 * @why: the cause; the first counts that is not SANX_END_LOST
 *
 * link_end() does the rest.
 *
 * Context: tx_lock held.
 */
void sanx_link_kill_locked(struct sanx_link *link, enum sanx_link_end why)
{
	lockdep_assert_held(&link->tx_lock);
	if (link->state < SANX_LINK_DYING || link->why == SANX_END_LOST)
		WRITE_ONCE(link->why, why);
	if (link->state >= SANX_LINK_DYING)
		return;
	pr_debug("link to node %u ends: %s\n", link->payer->id,
		 end_names[why]);
	/* sanx_link_heard(): the peer was there until now, as far as we know. */
	sanx_link_doubt(link);
	sanx_link_set_state(link, SANX_LINK_DYING);
	queue_work(sanx_link_wq, &link->end);
}

/**
 * sanx_link_kill() - start to end a link, without tx_lock
 * @link: the link
 * @why: see sanx_link_kill_locked()
 *
 * Context: any; takes tx_lock.
 */
void sanx_link_kill(struct sanx_link *link, enum sanx_link_end why)
{
	spin_lock_bh(&link->tx_lock);
	sanx_link_kill_locked(link, why);
	spin_unlock_bh(&link->tx_lock);
}

/**
 * sanx_link_errno() - what programs are told that a link has ended
 * @link: a dying link, whose connections end with it
 *
 * Context: any.
 * Return: -errno.
 */
int sanx_link_errno(const struct sanx_link *link)
{
	switch (READ_ONCE(link->why)) {
	case SANX_END_LOST:
		return -ETIMEDOUT;
	case SANX_END_REFUSED:
		return -ECONNREFUSED;
	default:
		return -ECONNRESET;
	}
}

/**
 * sanx_wire_failed() - a link cannot go on
 * @link: the link
 * @why: the cause; if several are reported, in any order, SANX_WIRE_FAULT
 *	counts
 *
 * Context: any; takes tx_lock.
 */
void sanx_wire_failed(struct sanx_link *link, enum sanx_wire_failure why)
{
	sanx_link_kill(link, why == SANX_WIRE_LOST ? SANX_END_LOST : SANX_END_FAULT);
}
EXPORT_SYMBOL_GPL(sanx_wire_failed);

/**
 * sanx_wire_ending() - is a link being taken down?
 * @link: the link
 *
 * Context: any.
 * Return: true if so; it does not change any more.
 */
bool sanx_wire_ending(const struct sanx_link *link)
{
	return READ_ONCE(link->state) >= SANX_LINK_DYING;
}
EXPORT_SYMBOL_GPL(sanx_wire_ending);

/**
 * sanx_link_set_reserves() - a link carries a connection for memory reclaim itself
 * @link: the link
 *
 * Links to that node that are made later may be for that connection, too: the next one has
 * to come up while there is no memory but the reserves.
 *
 * Context: any.
 */
void sanx_link_set_reserves(struct sanx_link *link)
{
	WRITE_ONCE(link->reserves, true);
	WRITE_ONCE(link->payer->reserves, true);
}

/**
 * sanx_wire_reserves() - does memory reclaim wait for what a link carries?
 * @link: the link
 *
 * A swap device may be at the other end, for example.  Then the wire may use the memory
 * reserves for the link, until it ends.
 *
 * Context: any.
 * Return: true if so.
 */
bool sanx_wire_reserves(const struct sanx_link *link)
{
	return READ_ONCE(link->reserves);
}
EXPORT_SYMBOL_GPL(sanx_wire_reserves);

/**
 * sanx_wire_peer() - the node that a link leads to, for messages
 * @link: the link
 *
 * Context: any.
 * Return: the node id.
 */
u32 sanx_wire_peer(const struct sanx_link *link)
{
	return link->payer->id;
}
EXPORT_SYMBOL_GPL(sanx_wire_peer);

/**
 * sanx_link_user_put() - drop a user of a link
 * @link: the link
 *
 * Context: any.
 */
void sanx_link_user_put(struct sanx_link *link)
{
	if (refcount_dec_and_test(&link->users))
		complete(&link->unused);
}

static void link_free(struct kref *refs)
{
	struct sanx_link *link = container_of(refs, struct sanx_link, refs);

	WARN_ON_ONCE(link->auth.key);
	sanx_payer_put(link->payer);
	kfree_rcu(link, rcu);
}

/**
 * sanx_link_put() - put a reference
 * @link: the link, not valid for the caller afterwards
 *
 * Context: any.
 */
void sanx_link_put(struct sanx_link *link)
{
	kref_put(&link->refs, link_free);
}

/**
 * sanx_link_beat() - what the heartbeat knows of a link that is up
 * @link: the link
 * @times: it looks after its peer so many times more seldom than others
 *
 * Context: any; without tx_lock the result is an estimate.
 * Return: it.
 */
struct beat sanx_link_beat(const struct sanx_link *link, unsigned int times)
{
	return (struct beat) {
		.heard		= READ_ONCE(link->heard),
		.asked		= READ_ONCE(link->asked),
		.every		= times * sanx_beat_every(),
		.failover	= READ_ONCE(link->others) ?
				  times * msecs_to_jiffies(READ_ONCE(failover_ms)) : 0,
		.pace		= link->pace,
		.active		= link->active,
	};
}

/* From now on, nobody knows whether the peer is there.  tx_lock held. */
void sanx_link_doubt(struct sanx_link *link)
{
	lockdep_assert_held(&link->tx_lock);
	if (time_after_eq(READ_ONCE(link->heard), link->asked))
		WRITE_ONCE(link->asked, jiffies);
}

/**
 * sanx_link_quiet() - does the peer not answer?
 * @link: the link
 *
 * Context: tx_lock held.
 * Return: true if a PING was requested at least a heartbeat ago, and nothing
 * was received since.
 */
bool sanx_link_quiet(const struct sanx_link *link)
{
	lockdep_assert_held(&link->tx_lock);
	return time_before(READ_ONCE(link->heard), link->asked) &&
	       jiffies - link->asked >= sanx_beat_every();
}

/**
 * sanx_link_heard() - until when was the peer there, as far as we know?
 * @link: the link
 *
 * A link that rests has heard nothing for long, and nobody has asked.
 *
 * Context: tx_lock held.
 * Return: when it was heard of, in jiffies; or shortly before it was asked, if that is later.
 */
unsigned long sanx_link_heard(const struct sanx_link *link)
{
	unsigned long heard = READ_ONCE(link->heard);
	unsigned long before = link->asked - sanx_beat_every();

	lockdep_assert_held(&link->tx_lock);
	return time_after(before, heard) ? before : heard;
}

/**
 * sanx_link_beat_in() - have a link that is not dying look after its peer
 * @link: the link
 * @wait: when, in jiffies from now on
 *
 * Context: tx_lock held.
 */
void sanx_link_beat_in(struct sanx_link *link, unsigned long wait)
{
	lockdep_assert_held(&link->tx_lock);
	if (link->state < SANX_LINK_DYING)
		mod_timer(&link->beat, jiffies + wait);
}

/**
 * sanx_link_wake() - a link that rests has to look after its peer
 * @link: a link whose pace is BEAT_RESTS
 *
 * Context: tx_lock held.
 */
void sanx_link_wake(struct sanx_link *link)
{
	struct beat b = sanx_link_beat(link, 1);

	lockdep_assert_held(&link->tx_lock);
	link->pace = BEAT_LEANS;
	sanx_link_beat_in(link, beat_idle(&b));
}
