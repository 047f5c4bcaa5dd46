// SPDX-License-Identifier: GPL-2.0
/*
 * Who is there: the messages by which nodes are found, and their proofs.
 *
 *	question	a nonce, a proof of each key that we have for strangers
 *	answer		node id and rails, the proof of the newest key of those
 *
 * The proofs are those of auth.c, of all that both ends know by then: nonce,
 * addresses, content.  Without keys there are none.  Who has seen a question can repeat
 * it from the same address, and learns what the answer says, which is no secret.
 *
 * The functions are pure but for the hash: they take no lock, and know no namespace.
 */
#include <crypto/algapi.h>
#include <linux/export.h>
#include <linux/string.h>

#include "who.h"

/* Bytes of the proof of one key in a question. */
#define ASK_LEN		(SANX_PROOF_LEN / SANX_PROOFS)

static int who_mac(const struct sanx_who_text *text, const char *label,
		   const struct sanx_key *key, u8 *mac)
{
	struct sanx_who_text t = *text;

	memcpy(t.label, label, sizeof(t.label));
	memset(t.answer.proof, 0, sizeof(t.answer.proof));
	return sanx_key_mac(key, &t, sizeof(t), mac);
}

static int question_mac(const struct sanx_who_text *text,
			const struct sanx_key *key, u8 *mac)
{
	struct sanx_who_text t = *text;

	memset(t.question.proof, 0, sizeof(t.question.proof));
	memset(&t.answer, 0, sizeof(t.answer));
	return who_mac(&t, "whoasks", key, mac);
}

/* "No key" is the only key, if it is one. */
static bool has_keys(const struct sanx_keys *keys)
{
	return keys->key[0]->id;
}

/**
 * sanx_who_ask() - make a question
 * @text: has the addresses; gets the question
 * @nonce: random
 * @back: who is asked has asked us
 * @keys: our keys for strangers
 *
 * Context: any.
 * Return: 0, or the error of the hash.
 */
int sanx_who_ask(struct sanx_who_text *text, u64 nonce, bool back,
		 const struct sanx_keys *keys)
{
	struct sanx_who_question *q = &text->question;
	u8 mac[SANX_MAC_LEN];
	unsigned int i;
	int err = 0;

	*q = (struct sanx_who_question) {
		.magic		= cpu_to_le32(SANX_WHO_MAGIC),
		.version	= SANX_WHO_VERSION,
		.keys		= has_keys(keys) ? keys->n : 0,
		.flags		= back ? SANX_WHO_F_BACK : 0,
		.nonce		= cpu_to_le64(nonce),
	};
	for (i = 0; i < q->keys && !err; i++) {
		err = question_mac(text, keys->key[i], mac);
		memcpy(q->proof + i * ASK_LEN, mac, ASK_LEN);
	}
	return err;
}
EXPORT_SYMBOL_IF_KUNIT(sanx_who_ask);

/* Is there a proof of a key in a question? */
static int question_has(const struct sanx_who_text *text,
			const struct sanx_key *key)
{
	u8 mac[SANX_MAC_LEN];
	unsigned int i;
	int err;

	err = question_mac(text, key, mac);
	for (i = 0; i < text->question.keys && !err; i++)
		if (!crypto_memneq(text->question.proof + i * ASK_LEN, mac,
				   ASK_LEN))
			return 1;
	return err;
}

/**
 * sanx_who_check_question() - check a question
 * @text: has the addresses and the question
 * @keys: our keys for strangers
 * @key: on success, the newest of them that the question has a proof of, for
 *	sanx_who_answer()
 *
 * Context: any.
 * Return: 0; -EPROTO if it is malformed; -ENOKEY if one side has a key and the other
 * has none; -EKEYREJECTED if there is no proof of a key of ours; or the error of the hash.
 */
int sanx_who_check_question(struct sanx_who_text *text,
			    const struct sanx_keys *keys,
			    const struct sanx_key **key)
{
	const struct sanx_who_question *q = &text->question;
	unsigned int i;
	int found;

	if (q->magic != cpu_to_le32(SANX_WHO_MAGIC) ||
	    q->version != SANX_WHO_VERSION || q->keys > SANX_PROOFS || q->zero)
		return -EPROTO;
	if (!q->keys != !has_keys(keys))
		return -ENOKEY;
	*key = keys->key[0];
	for (i = q->keys ? keys->n : 0; i--;) {
		*key = keys->key[i];
		found = question_has(text, *key);
		if (found)
			return found < 0 ? found : 0;
	}
	return q->keys ? -EKEYREJECTED : 0;
}
EXPORT_SYMBOL_IF_KUNIT(sanx_who_check_question);

/**
 * sanx_who_answer() - make an answer
 * @text: has the addresses and the question; gets the answer
 * @key: as sanx_who_check_question() has set it
 * @node: who we are
 * @known: we have the node that asks
 *
 * Context: any.
 * Return: 0, or the error of the hash.
 */
int sanx_who_answer(struct sanx_who_text *text, const struct sanx_key *key,
		    const struct sanx_node_info *node, bool known)
{
	struct sanx_who_reply *a = &text->answer;
	u8 mac[SANX_MAC_LEN];
	unsigned int i;
	int err;

	*a = (struct sanx_who_reply) {
		.magic		= cpu_to_le32(SANX_WHO_MAGIC),
		.version	= SANX_WHO_VERSION,
		.keys		= !!key->id,
		.flags		= known ? SANX_WHO_F_KNOWN : 0,
		.n_rails	= node->n_rails,
		.id		= cpu_to_le32(node->id),
	};
	for (i = 0; i < node->n_rails; i++) {
		a->rail[i] = node->rail[i];
		a->kind[i] = node->kind[i];
	}
	if (!key->id)
		return 0;
	err = who_mac(text, "whoansw", key, mac);
	if (!err)
		memcpy(a->proof, mac, sizeof(a->proof));
	return err;
}
EXPORT_SYMBOL_IF_KUNIT(sanx_who_answer);

static int answer_proven(const struct sanx_who_text *text,
			 const struct sanx_keys *keys)
{
	u8 mac[SANX_MAC_LEN];
	unsigned int i;
	int err;

	if (!text->answer.keys != !has_keys(keys))
		return -ENOKEY;
	if (!text->answer.keys)
		return 0;
	for (i = 0; i < keys->n; i++) {
		err = who_mac(text, "whoansw", keys->key[i], mac);
		if (err)
			return err;
		if (!crypto_memneq(text->answer.proof, mac,
				   sizeof(text->answer.proof)))
			return 0;
	}
	return -EKEYREJECTED;
}

static bool answer_has_rail(const struct sanx_node_info *node,
			    const struct in6_addr *addr)
{
	unsigned int i;

	for (i = 0; i < node->n_rails; i++)
		if (ipv6_addr_equal(&node->rail[i], addr))
			return true;
	return false;
}

/**
 * sanx_who_check_answer() - check an answer
 * @text: has the addresses, the question and the answer
 * @keys: our keys for strangers
 * @node: on success, who is there
 * @known: on success, whether the node there has us
 *
 * Context: any.
 * Return: 0; -EPROTO if it is malformed, has a rail twice, or if the address that was
 * asked is none of its rails; -ENOKEY if one side has a key and the other has none;
 * -EKEYREJECTED if the proof is wrong; or the error of the hash.
 */
int sanx_who_check_answer(const struct sanx_who_text *text,
			  const struct sanx_keys *keys,
			  struct sanx_node_info *node, bool *known)
{
	const struct sanx_who_reply *a = &text->answer;
	unsigned int i;

	if (a->magic != cpu_to_le32(SANX_WHO_MAGIC) ||
	    a->version != SANX_WHO_VERSION || a->keys > 1 || !a->id ||
	    !a->n_rails || a->n_rails > SANX_NODE_RAILS)
		return -EPROTO;
	*node = (struct sanx_node_info) {
		.id		= le32_to_cpu(a->id),
		.n_rails	= a->n_rails,
	};
	for (i = 0; i < a->n_rails; i++) {
		if (a->kind[i] >= __SANX_WIRES ||
		    !sanx_addr_travels(&a->rail[i]))
			return -EPROTO;
		node->kind[i] = a->kind[i];
		node->rail[i] = a->rail[i];
	}
	if (!answer_has_rail(node, &text->addr[1]) || sanx_node_has_twins(node))
		return -EPROTO;
	*known = a->flags & SANX_WHO_F_KNOWN;
	return answer_proven(text, keys);
}
EXPORT_SYMBOL_IF_KUNIT(sanx_who_check_answer);
