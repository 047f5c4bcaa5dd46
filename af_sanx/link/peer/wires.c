// SPDX-License-Identifier: GPL-2.0
/* Which wires there are, and which part of a namespace is the engine's. */
#include <net/netns/generic.h>

#include "peer.h"

unsigned int sanx_lnet_id;

/*
 * The wires by kind, or NULL; wire_mutex guards changes.  Who reads one under
 * lnet.ctl or lnet.lock, and lists under that lock what uses it, need not pin it:
 * wire_gone() takes both locks later, and ends what is listed.
 */
const struct sanx_wire_ops *sanx_wires[__SANX_WIRES];

/**
 * sanx_lnet_of() - get the engine's part of a namespace
 * @net: the namespace
 * Return: the &struct sanx_lnet, valid as long as @net.
 */
struct sanx_lnet *sanx_lnet_of(const struct net *net)
{
	return net_generic(net, sanx_lnet_id);
}

/**
 * sanx_link_wire() - find a wire
 * @lnet: the namespace that uses it
 * @kind: kind of the wire
 *
 * Context: process, lnet.ctl or lnet.lock held.
 * Return: the wire, valid while the lock is held and for a listener or link that
 * was listed under it; or NULL.
 */
const struct sanx_wire_ops *sanx_link_wire(const struct sanx_lnet *lnet,
					   enum sanx_wire_kind kind)
{
	lockdep_assert(lockdep_is_held(&lnet->ctl) ||
		       lockdep_is_held(&lnet->lock));
	return READ_ONCE(sanx_wires[kind]);
}

/* Is there a wire of a kind?  Return: true if so; a moment later it may be wrong. */
bool sanx_link_has_wire(enum sanx_wire_kind kind)
{
	return READ_ONCE(sanx_wires[kind]);
}

/* Finds a wire to ask over.  Return: the wire, valid until the work returns; or NULL. */
const struct sanx_wire_ops *sanx_seek_wire(enum sanx_wire_kind kind)
{
	return READ_ONCE(sanx_wires[kind]);
}
