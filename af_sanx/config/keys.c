// SPDX-License-Identifier: GPL-2.0
/*
 * Keys: secrets that this node shares with its peers, for the set-up of links
 * (af_sanx/link/peer/auth.c).
 *
 * A peer has one key, or two while the administrator replaces one by another: both
 * are accepted, so that the nodes need not change at the same moment.  A key
 * stays valid for as long as it is in the list.  The bytes of a key are only in
 * the state of its HMAC, and nothing gives them back.
 */
#include <crypto/hash.h>
#include <linux/export.h>
#include <linux/random.h>
#include <linux/slab.h>

#include "config.h"

#define MAC_NAME	"hmac(sha256)"

/* Stands for "no key": anybody can compute what it makes.  The same for all. */
static struct sanx_key *no_key;

static void key_free(struct kref *refs)
{
	struct sanx_key *key = container_of(refs, struct sanx_key, refs);

	crypto_free_shash(key->mac);
	kfree(key);
}

/**
 * sanx_key_put() - put a reference
 * @key: the key, not valid for the caller afterwards; NULL for none
 *
 * Context: process.
 */
void sanx_key_put(struct sanx_key *key)
{
	if (key)
		kref_put(&key->refs, key_free);
}
EXPORT_SYMBOL_IF_KUNIT(sanx_key_put);

/**
 * sanx_key_mac() - compute the HMAC-SHA256 of a message (RFC 2104)
 * @key: the key
 * @data: the message
 * @len: its size in bytes
 * @mac: SANX_MAC_LEN bytes, filled
 *
 * Context: any.
 * Return: 0 or -errno.
 */
int sanx_key_mac(const struct sanx_key *key, const void *data, size_t len,
		 u8 *mac)
{
	return crypto_shash_tfm_digest(key->mac, data, len, mac);
}

/* An id that says nothing of the key, and that is not 0. */
static int key_set_id(struct sanx_key *key)
{
	static const char label[] = "AF_SANX key id";
	u8 mac[SANX_MAC_LEN];
	__be32 id;
	int err;

	err = sanx_key_mac(key, label, sizeof(label) - 1, mac);
	memcpy(&id, mac, sizeof(id));
	key->id = be32_to_cpu(id) ?: 1;
	return err;
}

/**
 * sanx_key_make() - make a key
 * @secret: SANX_SECRET_LEN bytes; stays the caller's, who clears it
 *
 * Context: process, may sleep.
 * Return: a key with one reference, for the caller, and the id 0; or an error
 * pointer.
 */
struct sanx_key *sanx_key_make(const u8 *secret)
{
	struct sanx_key *key = kzalloc(sizeof(*key), GFP_KERNEL_ACCOUNT);
	int err;

	if (!key)
		return ERR_PTR(-ENOMEM);
	kref_init(&key->refs);
	key->mac = crypto_alloc_shash(MAC_NAME, 0, 0);
	err = PTR_ERR_OR_ZERO(key->mac);
	if (err)
		goto err_key;
	err = crypto_shash_setkey(key->mac, secret, SANX_SECRET_LEN);
	if (!err)
		return key;
	crypto_free_shash(key->mac);
err_key:
	kfree(key);
	return ERR_PTR(err);
}
EXPORT_SYMBOL_IF_KUNIT(sanx_key_make);

static void entry_free(struct sanx_net *sn, struct sanx_key_entry *e)
{
	unsigned int i;

	for (i = 0; i < e->n; i++)
		sanx_key_put(e->key[i]);
	list_del(&e->node);
	kfree(e);
	sn->n_keys--;
}

static struct sanx_key_entry *entry_find(const struct sanx_net *sn, u32 peer)
{
	struct sanx_key_entry *e;

	lockdep_assert_held(&sn->keys_mutex);
	/* They are sorted. */
	list_for_each_entry(e, &sn->keys, node)
		if (e->peer >= peer)
			return e->peer == peer ? e : NULL;
	return NULL;
}

static void entry_insert(struct sanx_net *sn, struct sanx_key_entry *e)
{
	struct sanx_key_entry *next;

	list_for_each_entry(next, &sn->keys, node)
		if (next->peer > e->peer)
			break;
	list_add_tail(&e->node, &next->node);
	sn->n_keys++;
}

/* Adds to the peer's entry, or to *@new, which then belongs to the list. */
static int entry_add(struct sanx_net *sn, struct sanx_key_entry **new,
		     struct sanx_key *key)
{
	struct sanx_key_entry *e = entry_find(sn, (*new)->peer);
	unsigned int i;

	if (!e) {
		if (sn->n_keys >= SANX_KEYS_MAX)
			return -EUSERS;
		e = *new;
		*new = NULL;
		entry_insert(sn, e);
	}
	for (i = 0; i < e->n; i++)
		if (e->key[i]->id == key->id)
			return -EEXIST;
	if (e->n == SANX_KEYS_PEER)
		return -ENOSPC;
	e->key[e->n++] = key;
	return 0;
}

/**
 * sanx_key_add() - make a key valid for a peer
 * @sn: the namespace
 * @peer: node id, or 0 for all peers without keys of their own
 * @secret: SANX_SECRET_LEN bytes; stays the caller's, who clears it
 * @id: set to the id of the key
 *
 * Links that were set up without a key that is valid now are the caller's to
 * end.
 *
 * Context: process, may sleep; config_mutex held.
 * Return: 0; -EEXIST if the peer has this key; -ENOSPC if it has two; -EUSERS if
 * SANX_KEYS_MAX peers have keys; -ENOMEM; or the error of the hash.
 */
int sanx_key_add(struct sanx_net *sn, u32 peer, const u8 *secret, u32 *id)
{
	struct sanx_key *key = sanx_key_make(secret);
	struct sanx_key_entry *new;
	int err;

	if (IS_ERR(key))
		return PTR_ERR(key);
	/* Before keys_mutex: see struct sanx_net. */
	new = kzalloc(sizeof(*new), GFP_KERNEL_ACCOUNT);
	err = new ? key_set_id(key) : -ENOMEM;
	if (!err) {
		*id = key->id;
		new->peer = peer;
		mutex_lock(&sn->keys_mutex);
		err = entry_add(sn, &new, key);
		WRITE_ONCE(sn->config_seq, sn->config_seq + 1);
		mutex_unlock(&sn->keys_mutex);
	}
	kfree(new);
	if (err)
		sanx_key_put(key);
	return err;
}
EXPORT_SYMBOL_IF_KUNIT(sanx_key_add);

static int entry_del(struct sanx_net *sn, struct sanx_key_entry *e, u32 id)
{
	unsigned int i;

	for (i = 0; i < e->n && e->key[i]->id != id; i++)
		;
	if (i == e->n)
		return -ENOENT;
	sanx_key_put(e->key[i]);
	e->n--;
	if (i < e->n)
		e->key[i] = e->key[i + 1];
	if (!e->n)
		entry_free(sn, e);
	return 0;
}

/**
 * sanx_key_del() - remove a key of a peer, or all of them
 * @sn: the namespace
 * @peer: node id, or 0: see sanx_key_add()
 * @id: id of the key, or 0 for all
 *
 * Links that were set up with it are the caller's to end.
 *
 * Context: process, may sleep; config_mutex held.
 * Return: 0, or -ENOENT.
 */
int sanx_key_del(struct sanx_net *sn, u32 peer, u32 id)
{
	struct sanx_key_entry *e;
	int err = -ENOENT;

	mutex_lock(&sn->keys_mutex);
	e = entry_find(sn, peer);
	if (e && id) {
		err = entry_del(sn, e, id);
	} else if (e) {
		entry_free(sn, e);
		err = 0;
	}
	WRITE_ONCE(sn->config_seq, sn->config_seq + 1);
	mutex_unlock(&sn->keys_mutex);
	return err;
}
EXPORT_SYMBOL_IF_KUNIT(sanx_key_del);

/**
 * sanx_keys_each() - call a function for each key
 * @sn: the namespace
 * @fn: called with the peer and the id of a key, in a fixed order; returns false
 *	to stop
 * @arg: passed to @fn
 *
 * Context: process, may sleep; @fn is called with keys_mutex held.
 */
void sanx_keys_each(struct sanx_net *sn, bool (*fn)(u32 peer, u32 id, void *arg),
		    void *arg)
{
	const struct sanx_key_entry *e;
	unsigned int i;

	mutex_lock(&sn->keys_mutex);
	list_for_each_entry(e, &sn->keys, node)
		for (i = 0; i < e->n; i++)
			if (!fn(e->peer, e->key[i]->id, arg))
				goto out;
out:
	mutex_unlock(&sn->keys_mutex);
}

/*
 * Makes the key of links of the node to itself, if there is none yet.  Nobody but
 * this namespace can pass for the other end of such a link.
 */
static int key_make_self(struct sanx_net *sn)
{
	u8 secret[SANX_SECRET_LEN];
	struct sanx_key *key;

	if (READ_ONCE(sn->self_key))
		return 0;
	get_random_bytes(secret, sizeof(secret));
	key = sanx_key_make(secret);
	memzero_explicit(secret, sizeof(secret));
	if (IS_ERR(key))
		return PTR_ERR(key);
	mutex_lock(&sn->keys_mutex);
	if (!sn->self_key) {
		WRITE_ONCE(sn->self_key, key);
		key = NULL;
	}
	mutex_unlock(&sn->keys_mutex);
	sanx_key_put(key);
	return 0;
}

/* 0 stands for all peers without keys of their own, and for no node. */
static bool is_self(struct net *net, u32 peer)
{
	return peer && peer == sanx_node_self(net);
}

/* The keys that are valid for a peer, without references. */
static void keys_find(struct sanx_net *sn, u32 peer, struct sanx_keys *keys)
{
	const struct sanx_key_entry *e = entry_find(sn, peer) ?: entry_find(sn, 0);

	keys->n = 1;
	keys->key[0] = no_key;
	if (is_self(sn->net, peer)) {
		keys->n = !!sn->self_key;
		keys->key[0] = sn->self_key;
	} else if (e) {
		keys->n = e->n;
		memcpy(keys->key, e->key, sizeof(keys->key));
	}
}

/**
 * sanx_keys_get() - get the keys that are valid for a peer
 * @net: the namespace
 * @peer: node id; 0 for a peer whose id is not known yet
 * @keys: filled; the caller calls sanx_keys_put()
 *
 * Context: process, may sleep.
 * Return: 0, or -errno, and @keys is empty.
 */
int sanx_keys_get(struct net *net, u32 peer, struct sanx_keys *keys)
{
	struct sanx_net *sn = sanx_net(net);
	unsigned int i;
	int err;

	keys->n = 0;
	if (is_self(net, peer)) {
		err = key_make_self(sn);
		if (err)
			return err;
	}
	mutex_lock(&sn->keys_mutex);
	keys_find(sn, peer, keys);
	for (i = 0; i < keys->n; i++)
		sanx_key_get(keys->key[i]);
	mutex_unlock(&sn->keys_mutex);
	/* The node id has changed meanwhile. */
	return keys->n ? 0 : -EAGAIN;
}
EXPORT_SYMBOL_IF_KUNIT(sanx_keys_get);

/**
 * sanx_keys_secret() - does a proof of one of these keys prove anything?
 * @keys: filled by sanx_keys_get()
 *
 * Context: any.
 * Return: false if they stand for "no key", of which anybody can make a proof.
 */
bool sanx_keys_secret(const struct sanx_keys *keys)
{
	return keys->key[0] != no_key;
}
EXPORT_SYMBOL_IF_KUNIT(sanx_keys_secret);

/**
 * sanx_keys_put() - put the references of sanx_keys_get()
 * @keys: empty afterwards
 *
 * Context: process.
 */
void sanx_keys_put(struct sanx_keys *keys)
{
	while (keys->n)
		sanx_key_put(keys->key[--keys->n]);
}
EXPORT_SYMBOL_IF_KUNIT(sanx_keys_put);

/**
 * sanx_key_valid() - is a key one of those that are valid for a peer?
 * @net: the namespace
 * @peer: node id
 * @key: a key that the caller holds
 *
 * Context: process, may sleep.
 * Return: true if so.
 */
bool sanx_key_valid(struct net *net, u32 peer, const struct sanx_key *key)
{
	struct sanx_net *sn = sanx_net(net);
	struct sanx_keys keys;
	bool valid = false;
	unsigned int i;

	mutex_lock(&sn->keys_mutex);
	keys_find(sn, peer, &keys);
	for (i = 0; i < keys.n; i++)
		valid |= keys.key[i] == key;
	mutex_unlock(&sn->keys_mutex);
	return valid;
}
EXPORT_SYMBOL_IF_KUNIT(sanx_key_valid);

/**
 * sanx_keys_net_init() - set up the keys of a namespace: none
 * @sn: the namespace
 */
void sanx_keys_net_init(struct sanx_net *sn)
{
	mutex_init(&sn->keys_mutex);
	INIT_LIST_HEAD(&sn->keys);
}
EXPORT_SYMBOL_IF_KUNIT(sanx_keys_net_init);

/**
 * sanx_keys_net_exit() - free the keys of a namespace
 * @sn: the namespace
 */
void sanx_keys_net_exit(struct sanx_net *sn)
{
	struct sanx_key_entry *e, *next;

	mutex_lock(&sn->keys_mutex);
	list_for_each_entry_safe(e, next, &sn->keys, node)
		entry_free(sn, e);
	sanx_key_put(sn->self_key);
	sn->self_key = NULL;
	mutex_unlock(&sn->keys_mutex);
}
EXPORT_SYMBOL_IF_KUNIT(sanx_keys_net_exit);

int __init sanx_keys_init(void)
{
	static const u8 nothing[SANX_SECRET_LEN];

	no_key = sanx_key_make(nothing);
	if (!IS_ERR(no_key))
		return 0;
	pr_err("no " MAC_NAME " in this kernel (%ld)\n", PTR_ERR(no_key));
	return PTR_ERR(no_key);
}

void sanx_keys_exit(void)
{
	sanx_key_put(no_key);
}
