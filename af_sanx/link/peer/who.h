/* SPDX-License-Identifier: GPL-2.0 */
/* Who is there: the messages by which nodes are found, and their proofs; see who.c. */
#ifndef _SANX_WHO_H
#define _SANX_WHO_H

#include <linux/in6.h>
#include <linux/types.h>

#include "config/config.h"
#include "link/frame/format.h"

#define SANX_WHO_MAGIC		SANX_WIRE_WHO
#define SANX_WHO_VERSION	1

/* The sender of an answer has the node that asks. */
#define SANX_WHO_F_KNOWN	BIT(0)
/* The question was caused by one of who is asked, who need not ask for its sake. */
#define SANX_WHO_F_BACK		BIT(1)

/**
 * struct sanx_who_question - who is there?
 * @magic: SANX_WHO_MAGIC
 * @version: SANX_WHO_VERSION
 * @keys: number of keys that there is a proof of; 0 without keys
 * @flags: SANX_WHO_F_BACK
 * @zero: 0
 * @nonce: random
 * @proof: a proof of each key, of SANX_PROOF_LEN / SANX_PROOFS bytes
 */
struct sanx_who_question {
	__le32	magic;
	u8	version;
	u8	keys;
	u8	flags;
	u8	zero;
	__le64	nonce;
	u8	proof[SANX_PROOF_LEN];
};

/**
 * struct sanx_who_reply - a node is here
 * @magic: SANX_WHO_MAGIC
 * @version: SANX_WHO_VERSION
 * @keys: 1 if there is a proof
 * @flags: SANX_WHO_F_KNOWN
 * @n_rails: entries of @rail that count, at least 1
 * @id: node id
 * @kind: enum sanx_wire_kind of each rail; 0 behind @n_rails
 * @proof: proof of the newest key that the question has a proof of
 * @rail: where links lead, in order of preference; 0 behind @n_rails
 */
struct sanx_who_reply {
	__le32		magic;
	u8		version;
	u8		keys;
	u8		flags;
	u8		n_rails;
	__le32		id;
	u8		kind[SANX_NODE_RAILS];
	u8		proof[SANX_PROOF_LEN];
	struct in6_addr	rail[SANX_NODE_RAILS];
};

static_assert(sizeof(struct sanx_who_question) <= SANX_WIRE_HELLO);
static_assert(sizeof(struct sanx_who_reply) == SANX_WIRE_ANSWER);

/**
 * struct sanx_who_text - what both ends know of a question and its answer
 * @label: what it is used for, and nothing else
 * @addr: addresses of who asks and of who is asked, IPv4 as v4-mapped
 * @question: the question
 * @answer: the answer, with a proof of 0; 0 in the proof of a question
 */
struct sanx_who_text {
	u8			label[8];
	struct in6_addr		addr[2];
	struct sanx_who_question	question;
	struct sanx_who_reply	answer;
};

static_assert(sizeof(struct sanx_who_text) == 168);

int sanx_who_ask(struct sanx_who_text *text, u64 nonce, bool back,
		 const struct sanx_keys *keys);
int sanx_who_check_question(struct sanx_who_text *text,
			    const struct sanx_keys *keys,
			    const struct sanx_key **key);
int sanx_who_answer(struct sanx_who_text *text, const struct sanx_key *key,
		    const struct sanx_node_info *node, bool known);
int sanx_who_check_answer(const struct sanx_who_text *text,
			  const struct sanx_keys *keys,
			  struct sanx_node_info *node, bool *known);

#endif /* _SANX_WHO_H */
