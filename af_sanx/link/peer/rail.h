/* SPDX-License-Identifier: GPL-2.0 */
/* What is known of the rails to a node: see rail.c, note.c and care.c. */
#ifndef _SANX_RAIL_H
#define _SANX_RAIL_H

#include "cause.h"
#include "config/config.h"
#include "link/frame/frames.h"
#include "link/frame/info.h"
#include "rails.h"

struct sanx_lane;
struct sanx_lnet;
struct sanx_peer;

/**
 * enum sanx_move - why connections went to another rail
 * @SANX_MOVE_NONE: they did not
 * @SANX_MOVE_LOST: the link on the other rail was lost
 * @SANX_MOVE_MAP: the node map does not have the other rail any more
 * @SANX_MOVE_ADMIN: the administrator keeps the other rail free
 * @SANX_MOVE_BETTER: this rail is preferred to the other
 * @SANX_MOVE_BALANCE: this rail had less to carry than the other
 * @SANX_MOVE_PEER: the peer asked for a link on this rail
 */
enum sanx_move {
	SANX_MOVE_NONE,
	SANX_MOVE_LOST,
	SANX_MOVE_MAP,
	SANX_MOVE_ADMIN,
	SANX_MOVE_BETTER,
	SANX_MOVE_BALANCE,
	SANX_MOVE_PEER,
	/* private: */
	__SANX_MOVES
};

/**
 * struct sanx_rail_count - what happened on a rail since its node was first used
 * @addr: the peer's address; tells which rail it is when the node map changes.  Unspecified:
 *	there is no such rail, nor one behind it
 * @kind: kind of the rail, as well
 * @tx_bytes: payload that links sent which have ended
 * @rx_bytes: payload that they received
 * @errors: links that were lost, and attempts that failed
 * @cause: why there is no link, or SANX_CAUSE_UP, as the log says it; SANX_CAUSE_NONE as long
 *	as nothing is known
 */
struct sanx_rail_count {
	struct in6_addr		addr;
	u8			kind;
	u64			tx_bytes;
	u64			rx_bytes;
	u32			errors;
	enum sanx_cause		cause;
};

/**
 * struct sanx_rails_seen - the rails to a node, as they are now
 * @self: this node
 * @peer: the node; @peer.n_rails is 0 if the node map does not have one of them
 * @local: our end of each rail
 * @wired: set of rails that have one, and for which there is a wire
 * @allowed: set of those that the administrator allows; their port may have no carrier
 * @admin: enum sanx_rail_admin of each rail
 * @used: set of rails that lanes with connections use
 * @lane_rail: the rail of each of those lanes, or RAILS_MAX
 * @view: what decides which rail a lane uses
 */
struct sanx_rails_seen {
	struct sanx_node_info	self;
	struct sanx_node_info	peer;
	struct in6_addr		local[RAILS_MAX];
	u32			wired;
	u32			allowed;
	u8			admin[RAILS_MAX];
	u32			used;
	u8			lane_rail[SANX_LANES_MAX];
	struct rails_view	view;
};

/* Not at once after a link came up: others may be about to.  In jiffies. */
#define SANX_CARE_SOON	(HZ / 10)

/* For how long is a rail that has failed held, the first time?  In jiffies. */
static inline unsigned long sanx_rail_hold(void)
{
	return msecs_to_jiffies(READ_ONCE(rail_hold_ms));
}

/* rail.c */
unsigned int sanx_rail_in(const struct sanx_node_info *info,
			  const struct sanx_link *link);
unsigned int sanx_rail_of(const struct sanx_link *link);
void sanx_rails_renumber(struct sanx_peer *peer);
void sanx_rails_look(const struct sanx_peer *peer, const struct sanx_lane *asks,
		     struct sanx_rails_seen *s);
bool sanx_rails_see(struct net *net, u32 self, u32 peer, struct sanx_rails_seen *s);
unsigned int sanx_rail_others_in(const struct sanx_rails_seen *s, const struct sanx_link *link);
unsigned int sanx_rail_others(const struct sanx_link *link);
bool sanx_rail_may_leave(const struct sanx_link *link);
bool sanx_rail_stays(const struct sanx_link *link);
bool sanx_rail_takes(const struct sanx_peer *peer, u32 self,
		     const struct sanx_wire_ask *ask);

void sanx_rails_care(struct sanx_peer *peer);
void sanx_rails_doubt(struct sanx_peer *peer);
unsigned int sanx_rail_index(const struct sanx_node_info *info, enum sanx_wire_kind kind,
			     const struct in6_addr *addr);

/* note.c */
void sanx_rail_failed(struct sanx_peer *peer, unsigned int rail);
void sanx_rail_refused(struct sanx_peer *peer, unsigned int rail);
void sanx_rail_note(struct sanx_peer *peer, unsigned int rail, enum sanx_cause cause);
void sanx_rail_lost(const struct sanx_link *link);
void sanx_rail_count_link(const struct sanx_link *link);
void sanx_rails_forgive(struct sanx_lnet *lnet, enum sanx_wire_kind kind);
const char *sanx_move_name(enum sanx_move move);
void sanx_rail_up(const struct sanx_link *link);
void sanx_rail_note_move(struct sanx_lane *lane, const struct sanx_link *link);
void sanx_rail_info(struct sanx_rail_info *info, const struct sanx_peer *peer,
		    const struct sanx_rails_seen *s, unsigned int i);

/* care.c */
void sanx_peer_widen(struct sanx_peer *peer, bool all);
void sanx_rails_care_work(struct work_struct *work);

#endif /* _SANX_RAIL_H */
