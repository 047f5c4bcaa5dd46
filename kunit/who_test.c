// SPDX-License-Identifier: GPL-2.0
/*
 * The question who is there, and its answer (af_sanx/link/peer/who.c): who has the key is
 * answered and believed, who has not is not, and nothing that was changed on the way.
 */
#include <kunit/test.h>
#include <linux/errno.h>
#include <linux/module.h>
#include <linux/string.h>
#include <net/ipv6.h>

#include "link/peer/who.h"

struct ends {
	struct sanx_keys asker, asked;
	struct sanx_who_text text;
	struct sanx_node_info node;
	bool known;
};

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

/* @nrs: "", "1" or "12": numbers of keys, the oldest first; "" is no key. */
static void keys_fill(struct kunit *test, struct sanx_keys *keys, const char *nrs)
{
	unsigned int i;

	keys->n = strlen(nrs) ?: 1;
	for (i = 0; i < keys->n; i++)
		keys->key[i] = make(test, *nrs ? nrs[i] - '0' : 0);
}

static void begin(struct kunit *test, struct ends *e, const char *asker,
		  const char *asked)
{
	memset(e, 0, sizeof(*e));
	keys_fill(test, &e->asker, asker);
	keys_fill(test, &e->asked, asked);
	ipv6_addr_set_v4mapped(htonl(0x0a050001), &e->text.addr[0]);
	ipv6_addr_set_v4mapped(htonl(0x0a050002), &e->text.addr[1]);
	e->node = (struct sanx_node_info) {
		.id		= 0x80000002,
		.n_rails	= 2,
		.rail		= { e->text.addr[1], e->text.addr[1] },
		.kind		= { SANX_WIRE_RDMA, SANX_WIRE_TCP },
	};
	KUNIT_ASSERT_EQ(test, sanx_who_ask(&e->text, 77, true, &e->asker), 0);
}

static void end(struct ends *e)
{
	sanx_keys_put(&e->asker);
	sanx_keys_put(&e->asked);
}

static int answer(struct kunit *test, struct ends *e, bool known)
{
	const struct sanx_key *key;
	int err;

	err = sanx_who_check_question(&e->text, &e->asked, &key);
	if (!err)
		KUNIT_ASSERT_EQ(test, sanx_who_answer(&e->text, key, &e->node,
						      known), 0);
	return err;
}

static int believe(struct ends *e, struct sanx_node_info *got)
{
	return sanx_who_check_answer(&e->text, &e->asker, got, &e->known);
}

struct keys_case {
	const char *desc;
	const char *asker, *asked;
	int want;
};

static const struct keys_case keys_cases[] = {
	{ "no keys", "", "", 0 },
	{ "the same key", "1", "1", 0 },
	{ "another key", "1", "2", -EKEYREJECTED },
	{ "a key and none", "1", "", -ENOKEY },
	{ "none and a key", "", "1", -ENOKEY },
	{ "two keys and none", "12", "", -ENOKEY },
	{ "none and two keys", "", "12", -ENOKEY },
	{ "the asker has the next one too", "12", "1", 0 },
	{ "the asked has the next one too", "1", "12", 0 },
	{ "the asker has only the next one", "2", "12", 0 },
	{ "two keys, another order", "21", "12", 0 },
	{ "two other keys", "34", "12", -EKEYREJECTED },
};

static void keys_desc(const struct keys_case *c, char *desc)
{
	strscpy(desc, c->desc, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(keys, keys_cases, keys_desc);

static void who_keys(struct kunit *test)
{
	const struct keys_case *c = test->param_value;
	struct sanx_node_info got;
	bool known;
	struct ends e;

	for (known = false;; known = true) {
		begin(test, &e, c->asker, c->asked);
		KUNIT_EXPECT_EQ(test, answer(test, &e, known), c->want);
		if (!c->want) {
			KUNIT_EXPECT_EQ(test, believe(&e, &got), 0);
			KUNIT_EXPECT_MEMEQ(test, &got, &e.node, sizeof(got));
			KUNIT_EXPECT_EQ(test, e.known, known);
		}
		end(&e);
		if (known)
			break;
	}
}

/* An answer of one who has a key less or more than there should be is not believed. */
static void who_downgraded(struct kunit *test)
{
	struct sanx_node_info got;
	struct sanx_keys none;
	struct ends e;

	begin(test, &e, "1", "1");
	KUNIT_ASSERT_EQ(test, answer(test, &e, true), 0);
	keys_fill(test, &none, "");
	KUNIT_ASSERT_EQ(test, sanx_who_answer(&e.text, none.key[0], &e.node,
					      true), 0);
	KUNIT_EXPECT_EQ(test, believe(&e, &got), -ENOKEY);
	sanx_keys_put(&none);
	end(&e);
	begin(test, &e, "", "");
	KUNIT_ASSERT_EQ(test, answer(test, &e, true), 0);
	e.text.answer.keys = 1;
	KUNIT_EXPECT_EQ(test, believe(&e, &got), -ENOKEY);
	end(&e);
}

#define FROM(member)	offsetof(struct sanx_who_text, member)

/* With a key no byte of what both know can be changed, but for the label. */
static void who_changed(struct kunit *test)
{
	struct sanx_who_text good;
	struct sanx_node_info got;
	const struct sanx_key *key;
	struct ends e;
	size_t i;

	begin(test, &e, "1", "1");
	good = e.text;
	/* There is no second key that the last bytes would prove. */
	for (i = FROM(addr); i < FROM(answer) - SANX_PROOF_LEN / SANX_PROOFS; i++) {
		e.text = good;
		((u8 *)&e.text)[i] ^= 0x10;
		KUNIT_EXPECT_NE_MSG(test, sanx_who_check_question(&e.text, &e.asked,
								  &key), 0,
				    "question, byte %zu", i);
	}
	e.text = good;
	KUNIT_ASSERT_EQ(test, answer(test, &e, true), 0);
	good = e.text;
	for (i = FROM(addr); i < sizeof(good); i++) {
		e.text = good;
		((u8 *)&e.text)[i] ^= 0x10;
		KUNIT_EXPECT_NE_MSG(test, believe(&e, &got), 0,
				    "answer, byte %zu", i);
	}
	end(&e);
}

struct bad_answer {
	const char *desc;
	void (*spoil)(struct sanx_who_reply *a);
};

static void bad_magic(struct sanx_who_reply *a)
{
	a->magic = 0;
}

static void bad_version(struct sanx_who_reply *a)
{
	a->version++;
}

static void bad_id(struct sanx_who_reply *a)
{
	a->id = 0;
}

static void no_rail(struct sanx_who_reply *a)
{
	a->n_rails = 0;
}

static void many_rails(struct sanx_who_reply *a)
{
	a->n_rails = SANX_NODE_RAILS + 1;
}

static void bad_kind(struct sanx_who_reply *a)
{
	a->kind[1] = __SANX_WIRES;
}

static void loopback_rail(struct sanx_who_reply *a)
{
	a->rail[1] = in6addr_loopback;
}

static void explicit_rail(struct sanx_who_reply *a)
{
	a->rail[1] = (struct in6_addr){ .s6_addr = { 1, [15] = 1 } };
}

static void other_rails(struct sanx_who_reply *a)
{
	a->rail[0].s6_addr[15]++;
	a->rail[1].s6_addr[15]++;
}

static void twin_rails(struct sanx_who_reply *a)
{
	a->kind[1] = a->kind[0];
}

static const struct bad_answer bad_answers[] = {
	{ "magic", bad_magic },
	{ "version", bad_version },
	{ "node id 0", bad_id },
	{ "no rail", no_rail },
	{ "a rail too many", many_rails },
	{ "a kind that is none", bad_kind },
	{ "a rail that does not travel", loopback_rail },
	{ "a rail that no packet has", explicit_rail },
	{ "none of its rails was asked", other_rails },
	{ "a rail twice", twin_rails },
};

static void bad_desc(const struct bad_answer *b, char *desc)
{
	strscpy(desc, b->desc, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(bad, bad_answers, bad_desc);

static void who_malformed(struct kunit *test)
{
	const struct bad_answer *b = test->param_value;
	struct sanx_node_info got;
	struct ends e;

	begin(test, &e, "", "");
	KUNIT_ASSERT_EQ(test, answer(test, &e, true), 0);
	KUNIT_EXPECT_EQ(test, believe(&e, &got), 0);
	b->spoil(&e.text.answer);
	KUNIT_EXPECT_EQ(test, believe(&e, &got), -EPROTO);
	end(&e);
}

static struct kunit_case who_cases[] = {
	KUNIT_CASE_PARAM(who_keys, keys_gen_params),
	KUNIT_CASE(who_downgraded),
	KUNIT_CASE(who_changed),
	KUNIT_CASE_PARAM(who_malformed, bad_gen_params),
	{}
};

static struct kunit_suite who_suite = {
	.name = "sanx_who",
	.test_cases = who_cases,
};

kunit_test_suite(who_suite);

MODULE_DESCRIPTION("KUnit tests of AF_SANX: who is there");
MODULE_LICENSE("GPL");
MODULE_IMPORT_NS(EXPORTED_FOR_KUNIT_TESTING);
