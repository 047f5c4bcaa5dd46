// SPDX-License-Identifier: GPL-2.0
/*
 * What the administrator says about rails: whether one is used, and for how much.
 *
 * A setting is about an address of a rail, of this node or of another.  A rail is a pair
 * of addresses, and what is said about either applies: so one setting takes all rails
 * of a port out of service.  Settings outlive a change of the node map, as the port does.
 *
 * The settings in use are replaced as a whole, so a lookup takes no lock.
 */
#include <linux/slab.h>

#include "config.h"

static bool setting_is(const struct sanx_rail_setting *s,
		       enum sanx_wire_kind kind, const struct in6_addr *addr)
{
	return s->kind == kind && ipv6_addr_equal(&s->addr, addr);
}

static bool setting_is_default(const struct sanx_rail_setting *s)
{
	return s->admin == SANX_RAIL_ADMIN_UP && s->weight == SANX_RAIL_WEIGHT;
}

/**
 * sanx_rail_settings_with() - change one setting
 * @old: the settings, or NULL for none
 * @s: the setting; a default one is left out
 *
 * Context: process, may sleep.
 * Return: new settings, owned by the caller, to be freed with kfree(); or NULL without
 * memory, or for more than SANX_RAIL_SETTINGS_MAX.  @old stays the caller's.
 */
struct sanx_rail_settings *
sanx_rail_settings_with(const struct sanx_rail_settings *old,
			const struct sanx_rail_setting *s)
{
	unsigned int i, n = old ? old->n : 0;
	struct sanx_rail_settings *new;

	new = kzalloc(struct_size(new, setting, n + 1), GFP_KERNEL_ACCOUNT);
	if (!new)
		return NULL;
	for (i = 0; i < n; i++)
		if (!setting_is(&old->setting[i], s->kind, &s->addr))
			new->setting[new->n++] = old->setting[i];
	if (!setting_is_default(s))
		new->setting[new->n++] = *s;
	if (new->n <= SANX_RAIL_SETTINGS_MAX)
		return new;
	kfree(new);
	return NULL;
}
EXPORT_SYMBOL_IF_KUNIT(sanx_rail_settings_with);

/**
 * sanx_rail_settings_find() - look up an address
 * @settings: the settings, or NULL for none
 * @kind: kind of the rail
 * @addr: the address
 *
 * Context: any; the caller keeps @settings.
 * Return: its setting, which may be the default one.
 */
struct sanx_rail_setting
sanx_rail_settings_find(const struct sanx_rail_settings *settings,
			enum sanx_wire_kind kind, const struct in6_addr *addr)
{
	unsigned int i;

	for (i = 0; settings && i < settings->n; i++)
		if (setting_is(&settings->setting[i], kind, addr))
			return settings->setting[i];
	return (struct sanx_rail_setting){
		.addr	= *addr,
		.kind	= kind,
		.admin	= SANX_RAIL_ADMIN_UP,
		.weight	= SANX_RAIL_WEIGHT,
	};
}
EXPORT_SYMBOL_IF_KUNIT(sanx_rail_settings_find);

/**
 * sanx_rail_settings_publish() - replace the settings in use
 * @sn: the namespace
 * @settings: the settings, or NULL for none; owned by the namespace afterwards, or freed
 *	if there is none in it
 *
 * Frees the old ones after a grace period.  sanx_rail_setting() uses
 * rcu_dereference(), which pairs with the release in rcu_replace_pointer().
 *
 * Context: process, may sleep; config_mutex held, or the namespace is exiting.
 */
void sanx_rail_settings_publish(struct sanx_net *sn,
				struct sanx_rail_settings *settings)
{
	struct sanx_rail_settings *old;

	/* So that sanx_rail_any_setting() need not look into them. */
	if (settings && !settings->n) {
		kfree(settings);
		settings = NULL;
	}
	WRITE_ONCE(sn->config_seq, sn->config_seq + 1);
	old = rcu_replace_pointer(sn->rail_settings, settings, true);
	if (old)
		kfree_rcu(old, rcu);
}

/**
 * sanx_rail_any_setting() - is anything said about any rail?
 * @net: the namespace
 *
 * Context: any.
 * Return: true if so.
 */
bool sanx_rail_any_setting(struct net *net)
{
	return rcu_access_pointer(sanx_net(net)->rail_settings);
}

/**
 * sanx_rail_setting() - what the administrator says about a rail
 * @net: the namespace
 * @kind: kind of the rail
 * @local: our address
 * @remote: the peer's address
 * @s: filled: what forbids more of what is said about the two addresses; the weight is
 *	that of @remote, or of @local if nothing is said about @remote
 *
 * Context: any.
 */
void sanx_rail_setting(struct net *net, enum sanx_wire_kind kind,
		       const struct in6_addr *local,
		       const struct in6_addr *remote,
		       struct sanx_rail_setting *s)
{
	const struct sanx_rail_settings *settings;
	struct sanx_rail_setting ours;

	rcu_read_lock();
	settings = rcu_dereference(sanx_net(net)->rail_settings);
	*s = sanx_rail_settings_find(settings, kind, remote);
	ours = sanx_rail_settings_find(settings, kind, local);
	rcu_read_unlock();
	s->admin = max(s->admin, ours.admin);
	if (s->weight == SANX_RAIL_WEIGHT)
		s->weight = ours.weight;
}
