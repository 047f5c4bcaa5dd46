// SPDX-License-Identifier: GPL-2.0
/*
 * The heartbeat of links: beat.h has the rules, this the clock and the locks.
 *
 * link->tx_lock guards link->pace, and the timer: it is set only while the link is not dying,
 * and link_end() deletes it behind that.  It is a timer and not a work item, as it expires a
 * few times in a second for each rail to each peer.  care.c says which link asks for a rail,
 * and has the others ask when that one has doubts.
 */
#include "config/cov.h"
#include "peer.h"

/* How much longer a standby link waits before it asks, and for the answer. */
#define STANDBY_TIMES	2

/*
 * How long a link that is not up may be silent.  The first frame follows the set-up at once,
 * so a peer that has asked for a link gets no longer for it than for the set-up.
 */
static unsigned long beat_setup(const struct sanx_link *link, unsigned long failover)
{
	unsigned long most = BEATS_LOST * sanx_beat_every();

	if (READ_ONCE(link->state) != SANX_LINK_ACCEPTING)
		return most;
	if (failover)
		most = min(most, failover);
	return max(min(most, 2 * msecs_to_jiffies(READ_ONCE(link_timeout_ms))), 1UL);
}

/* Nothing goes by a standby link: what becomes of it may be found out later. */
static struct beat beat_of(const struct sanx_link *link)
{
	bool standby = sanx_link_standby(link) && link->pace == BEAT_ASKS;
	struct beat b = sanx_link_beat(link, standby ? STANDBY_TIMES : 1);

	if (READ_ONCE(link->state) < SANX_LINK_UP)
		b.setup = beat_setup(link, b.failover);
	return b;
}

/* Does the choice of a rail need the round trip of late? */
static bool beat_measures(const struct sanx_link *link)
{
	const struct sanx_net *sn = sanx_net(link->payer->net);

	return !link->rtt_ns || READ_ONCE(sn->rail_policy) == SANX_RAIL_MIN_LATENCY;
}

/* Return: set of enum beat_sees. */
static u32 beat_sees(struct sanx_link *link, const struct beat *b)
{
	const struct sanx_slot *slot = sanx_ack_oldest(link);
	u32 sees = 0;

	if (slot)
		sees |= BEAT_USED;
	if (slot && time_after_eq(jiffies, slot->at + beat_idle(b)))
		sees |= BEAT_LATE;
	if (beat_measures(link))
		sees |= BEAT_MEASURES;
	if (link->opening || !list_empty(&link->openers) || !list_empty(&link->pending) ||
	    READ_ONCE(link->streams->n_suspended))
		sees |= BEAT_EXPECTS;
	return sees;
}

/*
 * Does a frame wait for its acknowledgment, and was none acknowledged for as long as it takes
 * to give a link up?  That ends the link even if the peer still sends, because a program may
 * wait for its pages (long.c).
 */
static bool beat_stuck(struct sanx_link *link)
{
	const struct sanx_slot *slot = sanx_ack_oldest(link);
	unsigned long most = BEATS_LOST * sanx_beat_every();

	return slot && time_after_eq(jiffies, slot->at + most) &&
	       time_after_eq(jiffies, link->acked_at + most);
}

/*
 * Has the peer asked for a link on trial, and does not use it?  Meanwhile the lane cannot
 * move.  As long as set-up and loss of a link may take together, it may have its reasons.
 */
static bool beat_unused(const struct sanx_link *link)
{
	unsigned long most = 2 * msecs_to_jiffies(READ_ONCE(link_timeout_ms)) +
			     msecs_to_jiffies(READ_ONCE(failover_ms));

	return !link->active && link->state == SANX_LINK_UP &&
	       link->use == SANX_LINK_TRIAL &&
	       time_after(jiffies, link->up_at + most);
}

static void beat_tell_quiet(struct sanx_link *link)
{
	struct sanx_lconn *lc;

	if (!sanx_link_quiet(link))
		return;
	list_for_each_entry(lc, &link->conns, node)
		sanx_conn_quiet(&lc->conn);
}

/*
 * Looks after a link again when that is due.
 * @b: the link as it was; it may have another pace, and have asked since
 */
static void beat_again(struct sanx_link *link, struct beat *b)
{
	unsigned long now = jiffies, sweep;

	b->asked = link->asked;
	b->pace = link->pace;
	sweep = time_after(link->next_sweep, now) ? link->next_sweep - now : 1;
	sanx_link_beat_in(link, min(beat_next(b, now), sweep));
}

/* Has the peer not answered, so that the others of a rail are to ask?  Takes tx_lock. */
bool sanx_beat_doubts(struct sanx_link *link)
{
	struct beat b;

	spin_lock_bh(&link->tx_lock);
	b = beat_of(link);
	spin_unlock_bh(&link->tx_lock);
	return beat_doubts(&b, jiffies);
}

/*
 * Asks on a link, as the peer does not answer on another one of its rail.  Takes tx_lock.
 *
 * If nothing was heard since @other has asked, @link is lost at the same time.
 */
void sanx_beat_ask(struct sanx_link *link, const struct sanx_link *other)
{
	unsigned long asked = READ_ONCE(other->asked);
	struct beat b;

	spin_lock_bh(&link->tx_lock);
	if (link->pace != BEAT_ASKS && link->state == SANX_LINK_UP) {
		link->pace = BEAT_LEANS;
		sanx_link_ask(link);
		if (time_before(READ_ONCE(link->heard), asked) &&
		    time_before(asked, link->asked))
			WRITE_ONCE(link->asked, asked);
		b = beat_of(link);
		beat_again(link, &b);
	}
	sanx_xmit_unlock(link);
}

/* Has a link look after its peer, as connections are to continue on it.  Takes tx_lock. */
void sanx_beat_stir(struct sanx_link *link)
{
	spin_lock_bh(&link->tx_lock);
	sanx_link_used(link);
	spin_unlock_bh(&link->tx_lock);
}

/* Sets whether a link asks for all of its rail.  Takes tx_lock. */
void sanx_beat_leads(struct sanx_link *link, bool leads)
{
	spin_lock_bh(&link->tx_lock);
	if (leads && link->pace != BEAT_ASKS) {
		link->pace = BEAT_ASKS;
		sanx_link_beat_in(link, 1);
	} else if (!leads && link->pace == BEAT_ASKS) {
		link->pace = BEAT_LEANS;
	}
	spin_unlock_bh(&link->tx_lock);
}

/*
 * Looks after a link.
 * Return: true if the others of its rail are to ask as well.
 */
static bool beat_look(struct sanx_link *link)
{
	struct beat b = beat_of(link);
	u32 sees = beat_sees(link, &b);

	lockdep_assert_held(&link->tx_lock);
	/* What arrives now may be later than jiffies has been here: beat.h compares both. */
	if (beat_lost(&b, jiffies) || beat_unused(link) || beat_stuck(link)) {
		sanx_link_kill_locked(link, SANX_END_LOST);
		return false;
	}
	beat_tell_quiet(link);
	link->pace = beat_pace(&b, sees, jiffies);
	if (link->state == SANX_LINK_UP && beat_asks(&b, sees, jiffies))
		sanx_link_ask(link);
	if (time_after_eq(jiffies, link->next_sweep))
		sanx_lconn_sweep(link);
	beat_again(link, &b);
	return beat_doubts(&b, jiffies);
}

/* Looks after a link.  Takes tx_lock. */
void sanx_beat_timer(struct timer_list *t)
{
	struct sanx_link *link = container_of(t, struct sanx_link, beat);
	bool cov = sanx_cov_start(link->payer->net);

	spin_lock_bh(&link->tx_lock);
	if (beat_look(link))
		sanx_rails_doubt(sanx_peer_of(link));
	sanx_xmit_unlock(link);
	sanx_cov_stop(cov);
}

/*
 * Starts the heartbeat of a link that is being set up.  Takes tx_lock.
 *
 * So it also ends an attempt of the peer that is not followed by a first frame.
 */
void sanx_beat_start(struct sanx_link *link)
{
	struct beat b;

	WRITE_ONCE(link->others, sanx_rail_others(link));
	spin_lock_bh(&link->tx_lock);
	b = beat_of(link);
	beat_again(link, &b);
	spin_unlock_bh(&link->tx_lock);
}
