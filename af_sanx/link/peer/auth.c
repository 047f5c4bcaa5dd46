// SPDX-License-Identifier: GPL-2.0
/*
 * Authentication of the two ends of a link.
 *
 *	request	our hello, a proof of each key that we have for the peer
 *	reply	its hello, the proof of the one that it has chosen
 *	AUTH	our proof of that one
 *
 * Each proof is an HMAC-SHA256 (RFC 2104) of all that both ends know of the set-up
 * so far: node ids, instances and nonces, addresses, and queue pair numbers (channel
 * binding, RFC 5056).  Each has a label of its own, so none passes for another.
 *
 * The proof in a request lets the passive end refuse strangers before it
 * allocates anything.  Who has seen a request can repeat it, and gets a link that is
 * half open: the nonce in the reply is new, so he cannot compute AUTH.
 * Therefore that proof may be short, and there is room for one of each key.  The
 * proof in the reply covers our nonce and that in AUTH the peer's, so both ends
 * know that the other has the key now.
 *
 * Without a key the proofs are computed with a key that everybody knows.  Then
 * AUTH shows that the active end has received the reply, as the last packet of
 * TCP's handshake does, and nothing else.
 *
 * The functions are pure but for the hash: they take no lock, and know no link.
 */
#include <crypto/algapi.h>
#include <linux/export.h>
#include <linux/string.h>

#include "auth.h"

/* Bytes of the proof of one key in a request. */
#define ASK_LEN		(SANX_PROOF_LEN / SANX_PROOFS)

static_assert(SANX_PROOFS == SANX_KEYS_PEER);
static_assert(SANX_PROOF_LEN <= SANX_MAC_LEN);

/* @text: gets @label, which has 7 characters. */
static int auth_mac(struct sanx_auth_text *text, const char *label,
		    const struct sanx_key *key, u8 *mac)
{
	memcpy(text->label, label, sizeof(text->label));
	return sanx_key_mac(key, text, sizeof(*text), mac);
}

static int ask_mac(const struct sanx_auth_text *text,
		   const struct sanx_key *key, u8 *mac)
{
	struct sanx_auth_text t = *text;

	memset(t.ask.proof, 0, sizeof(t.ask.proof));
	memset(&t.answer, 0, sizeof(t.answer));
	t.qpn[1] = 0;
	return auth_mac(&t, "request", key, mac);
}

/**
 * sanx_auth_ask() - make the proofs in a request
 * @auth: of an active end; @auth->text.ask has all but @keys and @proof
 * @keys: the keys for the peer
 *
 * Context: any.
 * Return: 0, or the error of the hash.
 */
int sanx_auth_ask(struct sanx_auth *auth, const struct sanx_keys *keys)
{
	struct sanx_hello *h = &auth->text.ask;
	u8 mac[SANX_MAC_LEN];
	unsigned int i;
	int err = 0;

	h->keys = cpu_to_le16(keys->key[0]->id ? keys->n : 0);
	memset(h->proof, 0, sizeof(h->proof));
	for (i = 0; i < keys->n && !err; i++) {
		err = ask_mac(&auth->text, keys->key[i], mac);
		memcpy(h->proof + i * ASK_LEN, mac, ASK_LEN);
	}
	auth->phase = SANX_AUTH_SAID;
	return err;
}
EXPORT_SYMBOL_IF_KUNIT(sanx_auth_ask);

/* Is there a proof of a key in a request? */
static int ask_has(const struct sanx_auth_text *text,
		   const struct sanx_key *key)
{
	unsigned int i, n = clamp_t(u32, le16_to_cpu(text->ask.keys), 1,
				    SANX_PROOFS);
	u8 mac[SANX_MAC_LEN];
	int err;

	err = ask_mac(text, key, mac);
	for (i = 0; i < n && !err; i++)
		if (!crypto_memneq(text->ask.proof + i * ASK_LEN, mac,
				   ASK_LEN))
			return 1;
	return err;
}

/**
 * sanx_auth_check_ask() - check the proofs in a request, and choose the key
 * @auth: of a passive end; @auth->text.ask is the request.  On success
 *	@auth->key is the newest key of ours that it has a proof of
 * @keys: the keys for the peer
 *
 * Context: any.
 * Return: 0; -ENOKEY if one side has a key and the other has none;
 * -EKEYREJECTED if there is no proof of a key of ours; or the error of the hash.
 */
int sanx_auth_check_ask(struct sanx_auth *auth, const struct sanx_keys *keys)
{
	unsigned int i;
	int found;

	if (!auth->text.ask.keys != !keys->key[0]->id)
		return -ENOKEY;
	for (i = keys->n; i--;) {
		found = ask_has(&auth->text, keys->key[i]);
		if (found < 0)
			return found;
		if (found) {
			auth->key = sanx_key_get(keys->key[i]);
			return 0;
		}
	}
	return -EKEYREJECTED;
}
EXPORT_SYMBOL_IF_KUNIT(sanx_auth_check_ask);

/* Makes what both ends compute when they know the whole text. */
static int auth_finish(struct sanx_auth *auth)
{
	__le64 mac[SANX_MAC_LEN / sizeof(__le64)];
	int err;

	err = auth_mac(&auth->text, "confirm", auth->key, (u8 *)mac);
	if (err)
		return err;
	memcpy(auth->proof, mac, sizeof(auth->proof));
	err = auth_mac(&auth->text, "resumes", auth->key, (u8 *)mac);
	auth->resume.key[0] = le64_to_cpu(mac[0]);
	auth->resume.key[1] = le64_to_cpu(mac[1]);
	memzero_explicit(mac, sizeof(mac));
	return err;
}

static int answer_mac(const struct sanx_auth_text *text,
		      const struct sanx_key *key, u8 *mac)
{
	struct sanx_auth_text t = *text;

	memset(t.answer.proof, 0, sizeof(t.answer.proof));
	return auth_mac(&t, "answers", key, mac);
}

/**
 * sanx_auth_answer() - make the proof in a reply
 * @auth: of a passive end after sanx_auth_check_ask(); @auth->text.answer has
 *	all but @keys and @proof, which are filled in
 *
 * Context: any.
 * Return: 0, and @auth->proof is what AUTH has to have; or the error of the
 * hash.
 */
int sanx_auth_answer(struct sanx_auth *auth)
{
	struct sanx_hello *h = &auth->text.answer;
	u8 mac[SANX_MAC_LEN];
	int err;

	h->keys = cpu_to_le16(!!auth->key->id);
	memset(h->proof, 0, sizeof(h->proof));
	err = auth_finish(auth) ?: answer_mac(&auth->text, auth->key, mac);
	if (err)
		return err;
	memcpy(h->proof, mac, sizeof(h->proof));
	auth->phase = SANX_AUTH_SAID;
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(sanx_auth_answer);

/**
 * sanx_auth_check_answer() - check the proof in a reply
 * @auth: of an active end after sanx_auth_ask()
 * @keys: the keys for the peer
 * @answer: the reply
 *
 * Context: any.
 * Return: 0, @auth->key is the key of the link, and @auth->proof is for AUTH;
 * -ENOKEY if the reply has no proof of a key, and there are keys, or the other way
 * round; -EKEYREJECTED if the proof is wrong; or the error of the hash.
 */
int sanx_auth_check_answer(struct sanx_auth *auth,
			   const struct sanx_keys *keys,
			   const struct sanx_hello *answer)
{
	struct sanx_hello *h = &auth->text.answer;
	u8 mac[SANX_MAC_LEN];
	unsigned int i;
	int err;

	if (!answer->keys != !keys->key[0]->id)
		return -ENOKEY;
	*h = *answer;
	memset(h->proof, 0, sizeof(h->proof));
	for (i = 0; i < keys->n; i++) {
		err = answer_mac(&auth->text, keys->key[i], mac);
		if (err)
			return err;
		if (crypto_memneq(answer->proof, mac, sizeof(answer->proof)))
			continue;
		auth->key = sanx_key_get(keys->key[i]);
		auth->phase = SANX_AUTH_PROVEN;
		return auth_finish(auth);
	}
	return -EKEYREJECTED;
}
EXPORT_SYMBOL_IF_KUNIT(sanx_auth_check_answer);

/**
 * sanx_auth_proves() - check AUTH
 * @auth: of a passive end after sanx_auth_answer()
 * @proof: SANX_PROOF_LEN bytes, the body of the frame
 *
 * Context: any.
 * Return: true if the sender has the key and the reply.
 */
bool sanx_auth_proves(const struct sanx_auth *auth, const void *proof)
{
	return !crypto_memneq(auth->proof, proof, sizeof(auth->proof));
}
EXPORT_SYMBOL_IF_KUNIT(sanx_auth_proves);

/**
 * sanx_auth_end() - drop the key of a link, and forget its secrets
 * @auth: not used any more
 *
 * Context: process.
 */
void sanx_auth_end(struct sanx_auth *auth)
{
	sanx_key_put(auth->key);
	memzero_explicit(auth, sizeof(*auth));
}
EXPORT_SYMBOL_IF_KUNIT(sanx_auth_end);
