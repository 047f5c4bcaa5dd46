/* SPDX-License-Identifier: GPL-2.0 */
/* Keys: what nodes prove who they are with; config.h has it. */
#ifndef _SANX_KEYS_H
#define _SANX_KEYS_H

#include <linux/kref.h>
#include <linux/list.h>
#include <linux/types.h>

struct net;
struct sanx_net;

/* Bytes of a key. */
#define SANX_SECRET_LEN	32U
/* Bytes of what sanx_key_mac() makes. */
#define SANX_MAC_LEN	32U
/* Keys of a peer that are valid at a time: one, and the one that follows it. */
#define SANX_KEYS_PEER	2U
/* Most peers with keys of their own. */
#define SANX_KEYS_MAX	4096U

struct crypto_shash;

/**
 * struct sanx_key - a secret that this node and a peer share
 * @refs: the list of the namespace has one, each link that uses it has one
 * @mac: HMAC-SHA256 with the key; the only place that has the key
 * @id: tells keys apart in messages, made of the key; 0 for "no key"
 */
struct sanx_key {
	struct kref		refs;
	struct crypto_shash	*mac;
	u32			id;
};

/**
 * struct sanx_key_entry - the keys of a peer
 * @node: in sanx_net.keys, sorted by @peer
 * @peer: node id, or 0 for all that have no entry of their own
 * @n: number of @key, at least 1
 * @key: the oldest first
 */
struct sanx_key_entry {
	struct list_head	node;
	u32			peer;
	unsigned int		n;
	struct sanx_key		*key[SANX_KEYS_PEER];
};

/**
 * struct sanx_keys - the keys that are valid for a peer, with a reference each
 * @n: number of @key, at least 1
 * @key: the oldest first.  One with the id 0 is the only one: the peer has no
 *	key, and what is made with it shows nothing
 */
struct sanx_keys {
	unsigned int	n;
	struct sanx_key	*key[SANX_KEYS_PEER];
};

/* keys.c */
int sanx_keys_init(void);
void sanx_keys_exit(void);
void sanx_keys_net_init(struct sanx_net *sn);
void sanx_keys_net_exit(struct sanx_net *sn);
struct sanx_key *sanx_key_make(const u8 *secret);
int sanx_key_add(struct sanx_net *sn, u32 peer, const u8 *secret, u32 *id);
int sanx_key_del(struct sanx_net *sn, u32 peer, u32 id);
void sanx_keys_each(struct sanx_net *sn, bool (*fn)(u32 peer, u32 id, void *arg),
		    void *arg);
int sanx_keys_get(struct net *net, u32 peer, struct sanx_keys *keys);
bool sanx_key_valid(struct net *net, u32 peer, const struct sanx_key *key);
void sanx_keys_put(struct sanx_keys *keys);
bool sanx_keys_secret(const struct sanx_keys *keys);
void sanx_key_put(struct sanx_key *key);
int sanx_key_mac(const struct sanx_key *key, const void *data, size_t len,
		 u8 *mac);

static inline struct sanx_key *sanx_key_get(struct sanx_key *key)
{
	kref_get(&key->refs);
	return key;
}

#endif /* _SANX_KEYS_H */
