/* SPDX-License-Identifier: GPL-2.0 */
/* What an administrator says about rails; config.h has it. */
#ifndef _SANX_RAIL_SETTINGS_H
#define _SANX_RAIL_SETTINGS_H

#include <linux/in6.h>
#include <linux/types.h>
#include <net/sanx_wire.h>

struct net;
struct sanx_net;

/* rails.c */
/**
 * enum sanx_rail_policy - which of several rails a connection uses
 * @SANX_RAIL_IN_ORDER: all use the first that works
 * @SANX_RAIL_ROUND_ROBIN: those that work are taken in turn
 * @SANX_RAIL_MIN_INFLIGHT: the one with the fewest frames in flight
 * @SANX_RAIL_MIN_LATENCY: the one with the shortest round trip
 */
enum sanx_rail_policy {
	SANX_RAIL_IN_ORDER,
	SANX_RAIL_ROUND_ROBIN,
	SANX_RAIL_MIN_INFLIGHT,
	SANX_RAIL_MIN_LATENCY,
	/* private: */
	__SANX_RAIL_POLICIES
};

/* The weight of a rail of which nothing is said. */
#define SANX_RAIL_WEIGHT	1U
#define SANX_RAIL_SETTINGS_MAX	1024U

/**
 * struct sanx_rail_setting - what is said about the rails of an address
 * @addr: the address, of this node or of another
 * @kind: kind of the rails (enum sanx_wire_kind)
 * @admin: enum sanx_rail_admin: may they be used?
 * @weight: the part of the load that they shall have, 0 to 255; 0: none while another
 *	rail works
 */
struct sanx_rail_setting {
	struct in6_addr	addr;
	u8		kind;
	u8		admin;
	u8		weight;
};

/**
 * struct sanx_rail_settings - settings of rails; constant once published
 * @rcu: frees them
 * @n: number of settings
 * @setting: the settings, one for each address and kind, none of them the default
 */
struct sanx_rail_settings {
	struct rcu_head			rcu;
	unsigned int			n;
	struct sanx_rail_setting	setting[];
};

struct sanx_rail_settings *
sanx_rail_settings_with(const struct sanx_rail_settings *old,
			const struct sanx_rail_setting *s);
struct sanx_rail_setting
sanx_rail_settings_find(const struct sanx_rail_settings *settings,
			enum sanx_wire_kind kind, const struct in6_addr *addr);
void sanx_rail_settings_publish(struct sanx_net *sn,
				struct sanx_rail_settings *settings);
bool sanx_rail_any_setting(struct net *net);
void sanx_rail_setting(struct net *net, enum sanx_wire_kind kind,
		       const struct in6_addr *local,
		       const struct in6_addr *remote,
		       struct sanx_rail_setting *s);

#endif /* _SANX_RAIL_SETTINGS_H */
