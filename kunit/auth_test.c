// SPDX-License-Identifier: GPL-2.0
/*
 * Keys (af_sanx/config/keys.c), and the set-up of a link between two ends that
 * have some (af_sanx/link/peer/auth.c): who has the key gets in, who has not does not,
 * and nothing that one end said can be said by another, or to another, or again.
 */
#include <kunit/test.h>
#include <linux/errno.h>
#include <linux/module.h>
#include <linux/string.h>

#include "link/peer/auth.h"

/* The ends of a link, and the keys that each has. */
struct ends {
	struct sanx_auth a, p;
	struct sanx_keys a_keys, p_keys;
};

#define TEXT_FROM	offsetof(struct sanx_auth_text, addr)
#define ASK_AT		offsetof(struct sanx_auth_text, ask)
#define ANSWER_AT	offsetof(struct sanx_auth_text, answer)
#define KEYS_AT		offsetof(struct sanx_hello, keys)
#define PROOF_AT	offsetof(struct sanx_hello, proof)

/* Key number 0 is none: all zeroes. */
static struct sanx_key *make(struct kunit *test, u8 nr)
{
	u8 secret[SANX_SECRET_LEN];
	struct sanx_key *key;

	memset(secret, nr, sizeof(secret));
	key = sanx_key_make(secret);
	KUNIT_ASSERT_FALSE(test, IS_ERR(key));
	key->id = nr;
	return key;
}

/* @nrs: "", "1" or "12": numbers of keys, the oldest first. */
static void keys_fill(struct kunit *test, struct sanx_keys *keys, const char *nrs)
{
	unsigned int i;

	keys->n = strlen(nrs) ?: 1;
	for (i = 0; i < keys->n; i++)
		keys->key[i] = make(test, *nrs ? nrs[i] - '0' : 0);
}

static void fill(struct sanx_auth_text *t)
{
	u8 *byte = (u8 *)t;
	unsigned int i;

	for (i = 0; i < sizeof(*t); i++)
		byte[i] = i * 7 + 3;
}

static struct ends *begin(struct kunit *test, const char *a, const char *p)
{
	struct ends *e = kunit_kzalloc(test, sizeof(*e), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, e);
	keys_fill(test, &e->a_keys, a);
	keys_fill(test, &e->p_keys, p);
	fill(&e->a.text);
	return e;
}

static void end(struct ends *e)
{
	sanx_auth_end(&e->a);
	sanx_auth_end(&e->p);
	sanx_keys_put(&e->a_keys);
	sanx_keys_put(&e->p_keys);
}

/* The request arrives; what the passive end knows by itself it knows. */
static int ask(struct kunit *test, struct ends *e)
{
	KUNIT_ASSERT_EQ(test, sanx_auth_ask(&e->a, &e->a_keys), 0);
	sanx_auth_end(&e->p);
	e->p.text = e->a.text;
	return sanx_auth_check_ask(&e->p, &e->p_keys);
}

/* The reply is made, and checked. */
static int answer(struct kunit *test, struct ends *e)
{
	struct sanx_hello reply;

	KUNIT_ASSERT_EQ(test, sanx_auth_answer(&e->p), 0);
	reply = e->p.text.answer;
	return sanx_auth_check_answer(&e->a, &e->a_keys, &reply);
}

struct keys_case {
	const char *desc;
	const char *a, *p;
	int want;
	u32 id;
};

static const struct keys_case keys_cases[] = {
	{ "no keys", "", "", 0, 0 },
	{ "the same key", "1", "1", 0, 1 },
	{ "another key", "1", "2", -EKEYREJECTED },
	{ "a key and none", "1", "", -ENOKEY },
	{ "none and a key", "", "1", -ENOKEY },
	{ "two keys and none", "12", "", -ENOKEY },
	{ "none and two keys", "", "12", -ENOKEY },
	{ "the active end has a new one", "12", "1", 0, 1 },
	{ "the passive end has a new one", "1", "12", 0, 1 },
	{ "both have a new one", "12", "12", 0, 2 },
	{ "the active end has dropped the old one", "2", "12", 0, 2 },
	{ "the passive end has dropped the old one", "12", "2", 0, 2 },
	{ "both, in another order", "12", "21", 0, 1 },
	{ "a third one", "12", "3", -EKEYREJECTED },
	{ "two others", "12", "34", -EKEYREJECTED },
};

KUNIT_ARRAY_PARAM_DESC(keys, keys_cases, desc);

static void auth_keys(struct kunit *test)
{
	const struct keys_case *c = test->param_value;
	struct ends *e = begin(test, c->a, c->p);

	KUNIT_EXPECT_EQ(test, ask(test, e), c->want);
	if (!c->want) {
		KUNIT_EXPECT_EQ(test, answer(test, e), 0);
		KUNIT_EXPECT_EQ(test, e->a.key->id, c->id);
		KUNIT_EXPECT_EQ(test, e->p.key->id, c->id);
		KUNIT_EXPECT_EQ(test, (int)e->a.phase, (int)SANX_AUTH_PROVEN);
		KUNIT_EXPECT_EQ(test, (int)e->p.phase, (int)SANX_AUTH_SAID);
		KUNIT_EXPECT_TRUE(test, sanx_auth_proves(&e->p, e->a.proof));
	}
	end(e);
}

/* Computed with another HMAC-SHA256, as protocol.rst says. */
static void auth_known(struct kunit *test)
{
	static const u8 request[8] = {
		0x93, 0x2c, 0x92, 0x41, 0x57, 0xfc, 0x57, 0x58,
	};
	static const u8 answers[16] = {
		0xcb, 0x54, 0xfb, 0xb0, 0x09, 0xdf, 0xb0, 0xcd,
		0x48, 0x2f, 0x6b, 0xc4, 0x18, 0x1a, 0x6d, 0x14,
	};
	static const u8 confirm[16] = {
		0x72, 0x93, 0xd4, 0xe1, 0x05, 0x6d, 0xdf, 0xb0,
		0x9f, 0xc5, 0xa1, 0xc2, 0xfd, 0xc0, 0x57, 0xd2,
	};
	static const u64 resumes[2] = {
		0x07ec0a58cc669e30, 0x0006c7cf97ff5576,
	};
	struct ends *e = begin(test, "1", "1");
	u8 secret[SANX_SECRET_LEN];
	struct sanx_key *key;
	unsigned int i;

	for (i = 0; i < sizeof(secret); i++)
		secret[i] = i;
	key = sanx_key_make(secret);
	KUNIT_ASSERT_FALSE(test, IS_ERR(key));
	key->id = 1;
	sanx_key_put(e->a_keys.key[0]);
	sanx_key_put(e->p_keys.key[0]);
	e->a_keys.key[0] = key;
	e->p_keys.key[0] = sanx_key_get(key);
	KUNIT_ASSERT_EQ(test, ask(test, e), 0);
	KUNIT_EXPECT_MEMEQ(test, e->a.text.ask.proof, request, 8);
	KUNIT_ASSERT_EQ(test, answer(test, e), 0);
	KUNIT_EXPECT_MEMEQ(test, e->p.text.answer.proof, answers, 16);
	KUNIT_EXPECT_MEMEQ(test, e->a.proof, confirm, 16);
	KUNIT_EXPECT_EQ(test, e->a.resume.key[0], resumes[0]);
	KUNIT_EXPECT_EQ(test, e->a.resume.key[1], resumes[1]);
	end(e);
}

/* The bytes that a request is about; its proof of the one key is 8 bytes. */
static bool in_request(unsigned int at)
{
	return (at < offsetof(struct sanx_auth_text, qpn[1]) || at >= ASK_AT) &&
	       at < ASK_AT + PROOF_AT + 8;
}

static void auth_ask_changed(struct kunit *test)
{
	struct ends *e = begin(test, "1", "1");
	unsigned int i;
	int err;

	for (i = TEXT_FROM; i < ANSWER_AT; i++) {
		KUNIT_ASSERT_EQ(test, ask(test, e), 0);
		sanx_auth_end(&e->p);
		e->p.text = e->a.text;
		((u8 *)&e->p.text)[i] ^= 0x10;
		/* The parser lets no other number of keys pass. */
		if (i - ASK_AT == KEYS_AT || i - ASK_AT == KEYS_AT + 1)
			continue;
		err = sanx_auth_check_ask(&e->p, &e->p_keys);
		KUNIT_EXPECT_EQ_MSG(test, err, in_request(i) ? -EKEYREJECTED : 0,
				    "byte %u", i);
	}
	end(e);
}

/* @e: after ask() */
static void reply_byte(struct kunit *test, struct ends *e, unsigned int i)
{
	struct sanx_hello reply = e->p.text.answer;

	((u8 *)&reply)[i] ^= 0x10;
	KUNIT_EXPECT_EQ_MSG(test, sanx_auth_check_answer(&e->a, &e->a_keys,
							 &reply),
			    -EKEYREJECTED, "byte %u", i);
	KUNIT_EXPECT_EQ_MSG(test, (int)e->a.phase, (int)SANX_AUTH_SAID,
			    "byte %u", i);
	KUNIT_EXPECT_NULL(test, e->a.key);
}

static void auth_reply_changed(struct kunit *test)
{
	struct ends *e = begin(test, "1", "1");
	struct sanx_hello reply;
	unsigned int i;

	KUNIT_ASSERT_EQ(test, ask(test, e), 0);
	KUNIT_ASSERT_EQ(test, sanx_auth_answer(&e->p), 0);
	for (i = 0; i < sizeof(reply); i++)
		reply_byte(test, e, i);
	/* A reply that says that its sender has no key is no way around it. */
	reply = e->p.text.answer;
	reply.keys = 0;
	KUNIT_EXPECT_EQ(test, sanx_auth_check_answer(&e->a, &e->a_keys, &reply),
			-ENOKEY);
	end(e);
}

/* Addresses and numbers of queue pairs that the two ends see differently. */
static void auth_channel(struct kunit *test)
{
	struct ends *e = begin(test, "1", "1");
	struct sanx_hello reply;
	unsigned int i;

	for (i = TEXT_FROM; i < ASK_AT; i++) {
		KUNIT_ASSERT_EQ(test, ask(test, e), 0);
		((u8 *)&e->p.text)[i] ^= 0x10;
		KUNIT_ASSERT_EQ(test, sanx_auth_answer(&e->p), 0);
		reply = e->p.text.answer;
		KUNIT_EXPECT_EQ_MSG(test,
				    sanx_auth_check_answer(&e->a, &e->a_keys,
							   &reply),
				    -EKEYREJECTED, "byte %u", i);
	}
	end(e);
}

static void auth_proof_changed(struct kunit *test)
{
	struct ends *e = begin(test, "1", "1");
	u8 proof[SANX_PROOF_LEN];
	unsigned int i;

	KUNIT_ASSERT_EQ(test, ask(test, e), 0);
	KUNIT_ASSERT_EQ(test, answer(test, e), 0);
	for (i = 0; i < sizeof(proof) * 8; i++) {
		memcpy(proof, e->a.proof, sizeof(proof));
		proof[i / 8] ^= 1 << i % 8;
		KUNIT_EXPECT_FALSE_MSG(test, sanx_auth_proves(&e->p, proof),
				       "bit %u", i);
	}
	end(e);
}

/* A request can be repeated, but then the reply is another. */
static void auth_again(struct kunit *test)
{
	struct ends *e = begin(test, "1", "1");
	struct sanx_hello reply;
	u8 proof[SANX_PROOF_LEN];

	KUNIT_ASSERT_EQ(test, ask(test, e), 0);
	KUNIT_ASSERT_EQ(test, answer(test, e), 0);
	memcpy(proof, e->a.proof, sizeof(proof));
	reply = e->p.text.answer;
	KUNIT_ASSERT_EQ(test, ask(test, e), 0);
	e->p.text.answer.nonce = cpu_to_le64(12345);
	KUNIT_ASSERT_EQ(test, sanx_auth_answer(&e->p), 0);
	KUNIT_EXPECT_FALSE(test, sanx_auth_proves(&e->p, proof));
	/* And an old reply does not answer a new request. */
	sanx_auth_end(&e->a);
	fill(&e->a.text);
	e->a.text.ask.nonce = cpu_to_le64(54321);
	KUNIT_ASSERT_EQ(test, ask(test, e), 0);
	KUNIT_EXPECT_EQ(test, sanx_auth_check_answer(&e->a, &e->a_keys, &reply),
			-EKEYREJECTED);
	end(e);
}

/* What one end says is of no use to whoever says it back. */
static void auth_reflected(struct kunit *test)
{
	struct ends *e = begin(test, "1", "1");
	struct sanx_hello reply;

	KUNIT_ASSERT_EQ(test, ask(test, e), 0);
	reply = e->a.text.ask;
	KUNIT_EXPECT_EQ(test, sanx_auth_check_answer(&e->a, &e->a_keys, &reply),
			-EKEYREJECTED);
	KUNIT_ASSERT_EQ(test, answer(test, e), 0);
	KUNIT_EXPECT_FALSE(test, sanx_auth_proves(&e->p, e->p.text.answer.proof));
	KUNIT_EXPECT_FALSE(test, sanx_auth_proves(&e->p, e->a.text.ask.proof));
	end(e);
}

static void auth_tokens(struct kunit *test)
{
	struct ends *e = begin(test, "1", "1"), *f = begin(test, "1", "1");
	const siphash_key_t *a = &e->a.resume, *p = &e->p.resume;
	const siphash_key_t *next = &f->a.resume, *peers = &f->p.resume;
	u64 token;

	KUNIT_ASSERT_EQ(test, ask(test, e), 0);
	KUNIT_ASSERT_EQ(test, answer(test, e), 0);
	f->a.text.ask.nonce = 0;
	KUNIT_ASSERT_EQ(test, ask(test, f), 0);
	KUNIT_ASSERT_EQ(test, answer(test, f), 0);
	token = sanx_auth_token(a, next, 7, true);
	KUNIT_EXPECT_EQ(test, token, sanx_auth_token(p, peers, 7, true));
	KUNIT_EXPECT_EQ(test, sanx_auth_token(a, next, 7, false),
			sanx_auth_token(p, peers, 7, false));
	KUNIT_EXPECT_NE(test, token, sanx_auth_token(a, next, 7, false));
	KUNIT_EXPECT_NE(test, token, sanx_auth_token(a, next, 8, true));
	/* One that was seen on a link is of no use on another. */
	KUNIT_EXPECT_NE(test, token, sanx_auth_token(a, a, 7, true));
	KUNIT_EXPECT_NE(test, token, sanx_auth_token(next, next, 7, true));
	end(e);
	end(f);
}

static void list_add_one(struct kunit *test, struct sanx_net *sn, u32 peer,
			 u8 nr, u32 *id, int want)
{
	u8 secret[SANX_SECRET_LEN];

	memset(secret, nr, sizeof(secret));
	KUNIT_EXPECT_EQ_MSG(test, sanx_key_add(sn, peer, secret, id), want,
			    "peer %u, key %u", peer, nr);
}

static void expect_keys(struct kunit *test, u32 peer, unsigned int n, u32 first)
{
	struct sanx_keys keys;

	KUNIT_ASSERT_EQ(test, sanx_keys_get(&init_net, peer, &keys), 0);
	KUNIT_EXPECT_EQ_MSG(test, keys.n, n, "peer %u", peer);
	KUNIT_EXPECT_EQ_MSG(test, keys.key[0]->id, first, "peer %u", peer);
	KUNIT_EXPECT_TRUE(test, sanx_key_valid(&init_net, peer, keys.key[0]));
	KUNIT_EXPECT_EQ_MSG(test, sanx_keys_secret(&keys), !!first, "peer %u", peer);
	sanx_keys_put(&keys);
}

/* The list of the initial namespace, which nobody else uses here. */
static void auth_list(struct kunit *test)
{
	struct sanx_net *sn = sanx_net(&init_net);
	u32 one, two, other, id;
	struct sanx_keys keys;

	expect_keys(test, 71, 1, 0);
	list_add_one(test, sn, 71, 1, &one, 0);
	KUNIT_EXPECT_NE(test, one, 0);
	expect_keys(test, 71, 1, one);
	expect_keys(test, 72, 1, 0);
	list_add_one(test, sn, 71, 1, &id, -EEXIST);
	list_add_one(test, sn, 71, 2, &two, 0);
	KUNIT_EXPECT_NE(test, one, two);
	list_add_one(test, sn, 71, 3, &id, -ENOSPC);
	expect_keys(test, 71, 2, one);
	/* For all that have none of their own. */
	list_add_one(test, sn, 0, 4, &other, 0);
	expect_keys(test, 71, 2, one);
	expect_keys(test, 72, 1, other);
	KUNIT_ASSERT_EQ(test, sanx_keys_get(&init_net, 71, &keys), 0);
	KUNIT_EXPECT_FALSE(test, sanx_key_valid(&init_net, 72, keys.key[0]));
	/* The older one goes.  Who holds it can still use it, but nobody may. */
	KUNIT_EXPECT_EQ(test, sanx_key_del(sn, 71, one), 0);
	KUNIT_EXPECT_EQ(test, sanx_key_del(sn, 71, one), -ENOENT);
	KUNIT_EXPECT_FALSE(test, sanx_key_valid(&init_net, 71, keys.key[0]));
	KUNIT_EXPECT_TRUE(test, sanx_key_valid(&init_net, 71, keys.key[1]));
	sanx_keys_put(&keys);
	expect_keys(test, 71, 1, two);
	KUNIT_EXPECT_EQ(test, sanx_key_del(sn, 71, 0), 0);
	KUNIT_EXPECT_EQ(test, sanx_key_del(sn, 71, 0), -ENOENT);
	expect_keys(test, 71, 1, other);
	KUNIT_EXPECT_EQ(test, sanx_key_del(sn, 0, other), 0);
	expect_keys(test, 71, 1, 0);
}

static struct kunit_case auth_cases[] = {
	KUNIT_CASE_PARAM(auth_keys, keys_gen_params),
	KUNIT_CASE(auth_known),
	KUNIT_CASE(auth_ask_changed),
	KUNIT_CASE(auth_reply_changed),
	KUNIT_CASE(auth_channel),
	KUNIT_CASE(auth_proof_changed),
	KUNIT_CASE(auth_again),
	KUNIT_CASE(auth_reflected),
	KUNIT_CASE(auth_tokens),
	KUNIT_CASE(auth_list),
	{}
};

static struct kunit_suite auth_suite = {
	.name = "sanx_auth",
	.test_cases = auth_cases,
};

kunit_test_suite(auth_suite);

MODULE_DESCRIPTION("KUnit tests of AF_SANX: keys, and proofs of them");
MODULE_LICENSE("GPL");
MODULE_IMPORT_NS(EXPORTED_FOR_KUNIT_TESTING);
