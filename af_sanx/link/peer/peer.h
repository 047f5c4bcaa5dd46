/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The engine: peers, their lanes, and links from the request to the end.
 *
 *	lnet	a namespace: listeners, wires and peers		lnet.c netuse.c
 *		addresses and ports of this node		netdev.c
 *		who is at an address				seek.c who.c
 *	peer	a node: its lanes				peer.c
 *		what it may ask for				bounds.c
 *		its rails					rails.h rail.c note.c
 *		which lane goes by which			care.c
 *	lane	its links					lane.c lane.h
 *		attempts at one					attempt.c
 *		a connection finds its lane			choose.c waiters.c
 *		a request of the peer for a link		admit.c
 *		links for suspended connections			retry.c presence.h
 *	link	what the two nodes say before the first frame	setup.c auth.c cause.c
 *		from its allocation to its end			life.c
 *		the heartbeat					beat.c
 *		requests for connections			serve.c
 *		what arrives on it				upcall.c
 *	and	how the core calls the engine			ops.c
 *		which wires there are				wires.c
 *		what sanxctl shows				dump.c
 *
 * References go upwards: a lconn has one of its link, and a link has one of its peer,
 * whose lanes live as long as it does: until its lnet stops or the node map loses it.
 *
 * Locks, outer to inner; Documentation/locking.rst has the whole order:
 *
 *	lnet.ctl	start and stop of a namespace; may wait for links to
 *			end
 *	(locks that a wire holds in upcalls about set-up)
 *	lnet.lock	peers, lanes, their links and waiting connections; never
 *			held over quiesce(), stop() and free() of a wire, which
 *			wait for its upcalls
 *	link.tx_lock	the sending side of a link, and the flags of its
 *			connections; taken in softirq
 *	(conn->lock of the core)
 */
#ifndef _SANX_PEER_H
#define _SANX_PEER_H

#include <linux/kthread.h>

#include "auth.h"
#include "engine.h"
#include "lane.h"
#include "link/stream/stream.h"
#include "presence.h"
#include "rail.h"

/**
 * struct sanx_lnet - the engine in one network namespace
 * @net: the namespace
 * @ops: how the core calls the engine; constant
 * @user: whose it is, with a reference, or NULL for the administrator's; constant
 * @ctl: guards @listener, @busy, @exiting and @idle_tries; changes of @running, and taking
 *	peers out of @peers, need @ctl and @lock
 * @lock: guards @peers, peers and lanes as listed at &struct sanx_peer and
 *	&struct sanx_lane, and reads of @running
 * @peers: &struct sanx_peer by node id: each node that was used, and is in the node map or
 *	was before it last changed
 * @all: in all_lnets
 * @listener: the listener of each kind of wire, or NULL
 * @running: connections are possible
 * @busy: there are AF_SANX sockets
 * @exiting: the namespace or the module is going away
 * @idle: stops the transport after the last socket was closed, when its
 *	connections have ended
 * @idle_tries: how many times @idle found connections
 * @n_links: links over each kind of wire that are not freed yet
 * @gone: woken when one of @n_links becomes 0
 * @ports: applies changes of addresses and ports of this node
 * @ports_seen: which of them worked when it last ran; used by it only
 * @ports_config: the configuration then; used by it only
 * @ports_again: how many times more it is to look; no lock
 * @seek_lock: guards @seeks, @n_seeks and @seek_wq; innermost
 * @seeks: &struct sanx_seek, addresses that are being asked who is there
 * @n_seeks: number of @seeks
 * @seek_wq: asks them, or NULL; changes need @ctl, too, until @exiting is set
 * @answers: questions of others that were answered
 * @instance_key: random, drawn when the namespace was set up and then constant:
 *	what tells peers that this node has restarted (setup_instance())
 */
struct sanx_lnet {
	struct net		*net;
	const struct sanx_transport_ops *ops;
	struct sanx_user	*user;
	struct mutex		ctl; /* guards: see above */
	struct mutex		lock; /* guards: see above */
	struct xarray		peers;
	struct list_head	all;
	void			*listener[__SANX_WIRES];
	bool			running;
	bool			busy;
	bool			exiting;
	struct delayed_work	idle;
	unsigned int		idle_tries;
	atomic_t		n_links[__SANX_WIRES];
	wait_queue_head_t	gone;
	struct delayed_work	ports;
	u64			ports_seen;
	unsigned int		ports_config;
	atomic_t		ports_again;
	spinlock_t		seek_lock; /* guards: see above */
	struct list_head	seeks;
	unsigned int		n_seeks;
	struct workqueue_struct	*seek_wq;
	struct sanx_rate	answers;
	siphash_key_t		instance_key;
};

/**
 * struct sanx_peer - a node that has, or had, links with this one
 * @payer: what lower folders know of it: references, who and where it is, what it pays for
 * @rcu: frees the peer and its lanes
 * @lnet: the namespace
 * @lanes: by number; NULL if not used yet.  They live as long as the peer
 * @setups: set-ups of links that it asked for; no lock
 * @requests: its OPENs and RESUMEs; no lock
 * @rails: its rails
 * @rail_count: what happened on each of them
 * @given: connections that they were given
 * @care: looks after them
 * @care_at: when it is due, in jiffies; no lock
 *
 * lnet.lock guards @lanes, @rails, @rail_count and @given.
 */
struct sanx_peer {
	struct sanx_payer	payer;
	struct rcu_head		rcu;
	struct sanx_lnet	*lnet;
	struct sanx_lane	*lanes[SANX_LANES_ALL];
	struct sanx_rate	setups;
	struct sanx_rate	requests;
	struct rails		rails;
	struct sanx_rail_count	rail_count[RAILS_MAX];
	struct rails_given	given;
	struct delayed_work	care;
	unsigned long		care_at;
};

/**
 * struct sanx_lane - one lane to a node, and all links that it had
 * @peer: the node, without a reference; constant
 * @streams: its connections that are attached or suspended
 * @number: its number; from SANX_LANES_MAX on it has a standby link, which carries no
 *	connections; constant
 * @links: &struct sanx_link, from allocation to the end
 * @state: of the next two; all three are changed by sanx_lane_step() only
 * @out: the link that takes our connections, with a reference, or NULL
 * @trying: our attempt to set up a link, with a reference, or NULL
 * @waiters: &struct sanx_lconn that wait for @out, with a reference each
 * @rail: the rail that @trying uses
 * @tried: set of the rails that were tried since the time limit was set, but for those that
 *	are to be tried once more
 * @refused: set of the rails on which the peer has refused since then
 * @final: set of those that are not tried once more, because they were or were answered
 * @try_end: when the share of the time of @trying ends, in jiffies
 * @deadline: when @waiters are refused, in jiffies
 * @backoff: the last attempt at a link failed
 * @backoff_end: end of the backoff, in jiffies
 * @timer: runs at @try_end, or at @deadline if there is no @trying
 * @out_kind: kind of the rail of @out, or of the last one
 * @out_rail: the peer's address of that rail; unspecified: there was no link
 * @out_since: when @out came up, in jiffies
 * @moved: why they last went from one rail to another
 * @moves: how often they did
 * @moved_at: when they last did, in jiffies
 * @tries: attempts at a link for suspended connections since the last one was lost
 * @presence: what they found at the peer, in jiffies
 * @instance: the peer's instance, or 0 if not known yet
 *
 * lnet.lock guards all fields but @peer and @number, and in @streams what is said there.
 */
struct sanx_lane {
	struct sanx_peer	*peer;
	struct sanx_streams	streams;
	u32			number;
	struct list_head	links;
	enum lane_state		state;
	struct sanx_link	*out;
	struct sanx_link	*trying;
	struct list_head	waiters;
	unsigned int		rail;
	u32			tried;
	u32			refused;
	u32			final;
	unsigned long		try_end;
	unsigned long		deadline;
	bool			backoff;
	unsigned long		backoff_end;
	struct delayed_work	timer;
	enum sanx_wire_kind	out_kind;
	struct in6_addr		out_rail;
	unsigned long		out_since;
	enum sanx_move		moved;
	u32			moves;
	unsigned long		moved_at;
	unsigned int		tries;
	struct presence		presence;
	u64			instance;
};

/* The peer, and the lane, of a link. */
static inline struct sanx_peer *sanx_peer_of(const struct sanx_link *link)
{
	return container_of(link->payer, struct sanx_peer, payer);
}

static inline struct sanx_lane *sanx_lane_of(const struct sanx_link *link)
{
	return container_of(link->streams, struct sanx_lane, streams);
}

/* Is it a standby link? */
static inline bool sanx_link_standby(const struct sanx_link *link)
{
	return link->lane >= SANX_LANES_MAX;
}

/* wires.c */
extern unsigned int sanx_lnet_id;
extern const struct sanx_wire_ops *sanx_wires[__SANX_WIRES];
const struct sanx_wire_ops *sanx_seek_wire(enum sanx_wire_kind kind);
struct sanx_lnet *sanx_lnet_of(const struct net *net);
const struct sanx_wire_ops *sanx_link_wire(const struct sanx_lnet *lnet,
					   enum sanx_wire_kind kind);
bool sanx_link_has_wire(enum sanx_wire_kind kind);

/* lnet.c */
void sanx_lnet_refresh(struct sanx_lnet *lnet, bool reachable);
void sanx_lnet_idle(struct net *net);
void sanx_lnet_busy(struct net *net);

/* netuse.c */
void sanx_netuse_stop(struct net *net);

/* netdev.c */
int sanx_netdev_init(void);
void sanx_netdev_exit(void);
void sanx_netdev_work(struct work_struct *work);

/* seek.c */
void sanx_seek_again(struct sanx_lnet *lnet, u32 id);
void sanx_seek_net_init(struct sanx_lnet *lnet);
void sanx_seek_net_start(struct sanx_lnet *lnet);
void sanx_seek_net_exit(struct sanx_lnet *lnet);
void sanx_seek_flush(void);

/* peer.c */
struct sanx_peer *sanx_peer_find(struct sanx_lnet *lnet, u32 id);
struct sanx_peer *sanx_peer_get(struct sanx_lnet *lnet, u32 id);
struct sanx_lane *sanx_peer_lane(struct sanx_peer *peer, u32 number);
void sanx_peers_revalidate(struct sanx_lnet *lnet, bool reachable);
void sanx_peers_stop(struct sanx_lnet *lnet);
void sanx_peers_stop_wire(struct sanx_lnet *lnet, enum sanx_wire_kind kind);
bool sanx_peers_have_conns(struct sanx_lnet *lnet);

/* Is a peer this node itself? */
static inline bool sanx_peer_is_self(const struct sanx_peer *peer)
{
	return peer->payer.id == sanx_node_self(peer->payer.net);
}

/* The lane with the lowest number from *@i on, which becomes the number after its; or NULL. */
static inline struct sanx_lane *sanx_lane_next(const struct sanx_peer *peer, unsigned int *i)
{
	while (*i < SANX_LANES_ALL && !peer->lanes[*i])
		++*i;
	return *i < SANX_LANES_ALL ? peer->lanes[(*i)++] : NULL;
}

/* bounds.c */
bool sanx_bounds_link(struct sanx_peer *peer);
unsigned long sanx_bounds_request(struct sanx_peer *peer);
bool sanx_bounds_conn(struct sanx_link *link);
bool sanx_bounds_user(struct sanx_user *user, u32 pages);
void sanx_bounds_unreachable(struct sanx_peer *peer, const struct in6_addr *addr);

/* lane.c */
void sanx_lane_init(struct sanx_lane *lane);
void sanx_lane_step(struct sanx_lane *lane, enum lane_event event, struct sanx_link *link);
bool sanx_lane_trial(struct sanx_link *link);
bool sanx_lane_fits(const struct sanx_link *link);
void sanx_lane_heard(struct sanx_link *link);
void sanx_lane_link_up(struct sanx_link *link);
void sanx_lane_link_ends(struct sanx_link *link);
void sanx_lane_link_gone(struct sanx_link *link);
void sanx_lane_revalidate(struct sanx_lane *lane, bool mapped, bool reachable);
unsigned int sanx_lane_reset(struct sanx_lane *lane);
void sanx_lane_stop(struct sanx_lane *lane);

/* Is the lane for a standby link? */
static inline bool sanx_lane_standby(const struct sanx_lane *lane)
{
	return lane->number >= SANX_LANES_MAX;
}

/* Does a link take connections?  One that was lost stays lane.out for a moment. */
static inline bool sanx_lane_linked(const struct sanx_lane *lane)
{
	lockdep_assert_held(&lane->peer->lnet->lock);
	return lane->out && READ_ONCE(lane->out->state) == SANX_LINK_UP;
}

/* attempt.c */
void sanx_lane_refused(struct sanx_link *link, bool never);
bool sanx_lane_replacing(const struct sanx_lane *lane);
bool sanx_lane_can_try(const struct sanx_lane *lane);
int sanx_lane_try_only(struct sanx_lane *lane, unsigned int rail);
void sanx_lane_try(struct sanx_lane *lane);
int sanx_attempt_wanted(struct sanx_lane *lane);
void sanx_attempt_broaden(struct sanx_lane *lane);
void sanx_attempt_look(struct sanx_lane *lane, const struct rails_view *v);
void sanx_attempt_instead(struct sanx_lane *lane);
void sanx_attempt_ends(struct sanx_lane *lane);
void sanx_attempt_work(struct work_struct *work);
void sanx_attempt_start(struct work_struct *work);

/* choose.c */
int sanx_lane_connect(struct sanx_lconn *lc);

/* waiters.c */
int sanx_lane_open(struct sanx_lconn *lc, struct sanx_link *link);
bool sanx_lane_cancel(struct sanx_lconn *lc);
bool sanx_lane_in_backoff(const struct sanx_lane *lane);
void sanx_waiters_open(struct sanx_lane *lane, struct sanx_link *link);
void sanx_waiters_refuse(struct sanx_lane *lane);

/* admit.c */
enum sanx_cause sanx_lane_accept(struct sanx_lnet *lnet,
				 const struct sanx_wire_ask *ask,
				 const struct sanx_hello_info *hello,
				 const struct sanx_auth *auth,
				 struct sanx_wire_link *wl);

/* retry.c */
void sanx_retry_lost(struct sanx_lane *lane);
void sanx_retry_refused(struct sanx_lane *lane, bool never);
void sanx_retry_stop(struct sanx_lane *lane);
void sanx_retry_link_up(struct sanx_lane *lane, struct sanx_link *link);
void sanx_retry_work(struct work_struct *work);
int sanx_retry_serve(struct sanx_request *o);

/* setup.c */
void sanx_setup_unproven(struct sanx_link *link);

/* life.c */
struct sanx_link *sanx_link_alloc(struct sanx_lane *lane,
				  const struct sanx_wire_ops *wire, bool active);
bool sanx_link_may(struct sanx_lane *lane);
void sanx_link_came_up(struct sanx_link *link);

/* beat.c */
void sanx_beat_start(struct sanx_link *link);
bool sanx_beat_doubts(struct sanx_link *link);
void sanx_beat_ask(struct sanx_link *link, const struct sanx_link *other);
void sanx_beat_stir(struct sanx_link *link);
void sanx_beat_leads(struct sanx_link *link, bool leads);
void sanx_beat_timer(struct timer_list *t);

/* serve.c */
int sanx_request_take(struct sanx_link *link, const struct sanx_frame *f);
void sanx_request_work(struct work_struct *work);

#endif /* _SANX_PEER_H */
