// SPDX-License-Identifier: GPL-2.0
/*
 * What the network namespaces of a user may have, all together.
 *
 * A user may make a user namespace, and as root there any number of network namespaces,
 * whose sysctls are his.  So what their links take is counted for the user as well, and
 * the limits are those of the initial namespace: all that they have is as much as one
 * peer may have there, and twice as many set-ups.  Network namespaces of the initial user
 * namespace are the administrator's, and are not counted.
 */
#include <linux/math64.h>
#include <linux/refcount.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/user_namespace.h>

#include "frame_priv.h"

/**
 * struct sanx_user - a user with network namespaces of his own
 * @refs: each namespace and each peer there has one
 * @node: in users; users_lock
 * @uid: who has made the user namespace; constant
 * @ns: if that is root: the user namespace, which is then a user of its own; else NULL.
 *	It is compared only, and may be gone; constant
 * @memory: pages of links, connections, rings and send buffers; no lock
 * @half_open: links that peers have asked for and that are not up; no lock
 * @setups: set-ups that peers asked for; no lock
 */
struct sanx_user {
	refcount_t			refs;
	struct list_head		node;
	kuid_t				uid;
	const struct user_namespace	*ns;
	atomic_long_t			memory;
	atomic_t			half_open;
	struct sanx_rate		setups;
};

/* Guards users. */
static DEFINE_SPINLOCK(users_lock);
static LIST_HEAD(users);

/* Return: the user namespace below the initial one that all of @net is in, or NULL. */
static const struct user_namespace *outermost(const struct net *net)
{
	const struct user_namespace *ns = net->user_ns;

	if (ns == &init_user_ns)
		return NULL;
	while (ns->parent != &init_user_ns)
		ns = ns->parent;
	return ns;
}

static bool same_user(const struct sanx_user *a, const struct sanx_user *b)
{
	return uid_eq(a->uid, b->uid) && a->ns == b->ns;
}

/* Return: the one that is listed for the same user, with a reference; @user if none was. */
static struct sanx_user *user_list(struct sanx_user *user)
{
	struct sanx_user *is;

	spin_lock_bh(&users_lock);
	list_for_each_entry(is, &users, node)
		if (same_user(is, user) && refcount_inc_not_zero(&is->refs))
			goto out;
	is = user;
	list_add(&user->node, &users);
out:
	spin_unlock_bh(&users_lock);
	return is;
}

/**
 * sanx_user_find() - find the user of a namespace
 * @net: the namespace
 *
 * Context: process, may sleep.
 * Return: him, with a reference for sanx_user_put(); NULL for the administrator; or
 * ERR_PTR(-ENOMEM).
 */
struct sanx_user *sanx_user_find(const struct net *net)
{
	const struct user_namespace *ns = outermost(net);
	struct sanx_user *user, *is;

	if (!ns)
		return NULL;
	user = kzalloc(sizeof(*user), GFP_KERNEL_ACCOUNT);
	if (!user)
		return ERR_PTR(-ENOMEM);
	refcount_set(&user->refs, 1);
	user->uid = ns->owner;
	if (uid_eq(user->uid, GLOBAL_ROOT_UID))
		user->ns = ns;
	is = user_list(user);
	if (is != user)
		kfree(user);
	return is;
}

/**
 * sanx_user_get() - take a reference
 * @user: a user, of whom the caller has a reference, or NULL
 *
 * Context: any.
 * Return: @user.
 */
struct sanx_user *sanx_user_get(struct sanx_user *user)
{
	if (user)
		refcount_inc(&user->refs);
	return user;
}

/**
 * sanx_user_put() - put a reference
 * @user: a user, or NULL; not valid for the caller afterwards
 *
 * Context: any.
 */
void sanx_user_put(struct sanx_user *user)
{
	if (!user || !refcount_dec_and_test(&user->refs))
		return;
	WARN_ON_ONCE(atomic_long_read(&user->memory));
	WARN_ON_ONCE(atomic_read(&user->half_open));
	spin_lock_bh(&users_lock);
	list_del(&user->node);
	spin_unlock_bh(&users_lock);
	kfree(user);
}

static u64 user_most(u32 quarters)
{
	return div_u64((u64)READ_ONCE(sanx_mem_mb) * (SZ_1M / PAGE_SIZE) *
		       READ_ONCE(sanx_net(&init_net)->mem_peer_percent) * quarters, 400);
}

/* Would more connections leave too little to the links of a user? */
bool sanx_user_full(const struct sanx_user *user, u32 pages)
{
	return user && atomic_long_read(&user->memory) + pages > user_most(3);
}

/**
 * sanx_user_claim() - may a user have more memory?
 * @user: the user, or NULL
 * @pages: number of pages
 * @quarters: so many quarters of what there may be; the others are for something else
 *
 * Context: any.
 * Return: true if so, and they count until sanx_user_unclaim().
 */
bool sanx_user_claim(struct sanx_user *user, u32 pages, u32 quarters)
{
	if (!user || atomic_long_add_return(pages, &user->memory) <= user_most(quarters))
		return true;
	sanx_user_unclaim(user, pages);
	return false;
}

/**
 * sanx_user_take() - a user has more memory, which is not refused
 * @user: the user, or NULL
 * @pages: number of pages, which count until sanx_user_unclaim()
 *
 * Context: any.
 */
void sanx_user_take(struct sanx_user *user, u32 pages)
{
	if (user)
		atomic_long_add(pages, &user->memory);
}

/**
 * sanx_user_unclaim() - memory of a user is free
 * @user: the user, or NULL
 * @pages: number of pages
 *
 * Context: any.
 */
void sanx_user_unclaim(struct sanx_user *user, u32 pages)
{
	if (user)
		atomic_long_sub(pages, &user->memory);
}

/* Counts a link that is not up, if the peer has asked for it. */
void sanx_user_half_open(struct sanx_user *user, int n)
{
	if (user)
		atomic_add(n, &user->half_open);
}

/**
 * sanx_user_half_open_full() - are there as many of them as there may be?
 * @user: the user, or NULL
 *
 * Context: any.
 * Return: true if so.
 */
bool sanx_user_half_open_full(const struct sanx_user *user)
{
	return user && atomic_read(&user->half_open) >=
		       READ_ONCE(sanx_net(&init_net)->half_open);
}

/* So many times what one peer may ask for, so that one alone does not use it up. */
#define SETUPS_USER	2U

/**
 * sanx_user_setup() - may a user have a link set up now, for which a peer asks?
 * @user: the user, or NULL
 *
 * Context: any.
 * Return: true if so, and it counts.
 */
bool sanx_user_setup(struct sanx_user *user)
{
	return !user || !sanx_rate_wait(&user->setups, ktime_get_ns(), SETUPS_USER *
					READ_ONCE(sanx_net(&init_net)->setups_peer));
}
