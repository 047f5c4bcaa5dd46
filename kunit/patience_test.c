// SPDX-License-Identifier: GPL-2.0
/*
 * How long an acceptor waits for the connector to resume a connection
 * (af_sanx/link/peer/patience.h): each case from several times on, so that the clock wraps
 * in some.
 */
#include <kunit/test.h>
#include <linux/kernel.h>
#include <linux/limits.h>
#include <linux/module.h>

#include "link/peer/patience.h"

#define MINUTES	(60 * HZ)

/**
 * struct patience_case - a connection that was suspended at 0
 * @desc: in words
 * @p: what is known; times from the loss of its link on
 * @now: the time
 * @over: it is to be reset
 */
struct patience_case {
	const char		*desc;
	struct sanx_patience	p;
	long			now;
	bool			over;
};

static const struct patience_case cases[] = {
	{ "the link was there before", { 0, -9 * HZ, 0, 0 }, 0, false },
	{ "as long as it may take", { 0, HZ, HZ + RESUME_MAX, 1 }, 20 * HZ, false },
	{ "longer", { 0, HZ, HZ + RESUME_MAX + 1, 1 }, 20 * HZ, true },
	{ "longer, with the link from before", { 0, -HZ, RESUME_MAX + 1, 1 }, 20 * HZ, true },
	{ "the peer is silent", { 0, HZ, 2 * HZ, 1 }, 60 * MINUTES, false },
	{ "its requests wait", { 0, HZ, 14 * MINUTES, 1, true }, 14 * MINUTES, false },
	{ "its requests wait for ever",
	  { 0, HZ, 15 * MINUTES, 1, true }, HZ + 15 * MINUTES + 1, true },
	{ "there was no link for long, then its requests wait",
	  { 0, 60 * MINUTES, 74 * MINUTES, 1, true }, 74 * MINUTES, false },
	{ "there was no link for long", { 0, 60 * MINUTES, 60 * MINUTES, 1 }, 60 * MINUTES, false },
	{ "links come and go", { 0, 14 * MINUTES, 14 * MINUTES, 100 }, 15 * MINUTES, false },
	{ "links come and go for too long",
	  { 0, 15 * MINUTES, 15 * MINUTES, RESUME_LINKS + 1 }, 15 * MINUTES + 1, true },
	{ "links come and go for too long, and requests wait",
	  { 0, 15 * MINUTES, 15 * MINUTES, RESUME_LINKS + 1, true }, 15 * MINUTES + 1, true },
	{ "links come for long, but few of them",
	  { 0, 90 * MINUTES, 90 * MINUTES, RESUME_LINKS }, 90 * MINUTES, false },
};

static void each_case(struct kunit *test)
{
	static const unsigned long begins[] = { 0, 1, LONG_MAX, ULONG_MAX - 5 * HZ };
	const struct patience_case *c;
	struct sanx_patience p;
	unsigned int i, j;

	for (i = 0; i < ARRAY_SIZE(cases) * ARRAY_SIZE(begins); i++) {
		c = &cases[i / ARRAY_SIZE(begins)];
		j = i % ARRAY_SIZE(begins);
		p = c->p;
		p.lost += begins[j];
		p.up += begins[j];
		p.heard += begins[j];
		KUNIT_EXPECT_EQ_MSG(test, sanx_patience_over(&p, begins[j] + c->now),
				    c->over, "%s, from %lu on", c->desc, begins[j]);
	}
}

static struct kunit_case patience_cases[] = {
	KUNIT_CASE(each_case),
	{}
};

static struct kunit_suite patience_suite = {
	.name = "sanx_patience",
	.test_cases = patience_cases,
};

kunit_test_suite(patience_suite);

MODULE_DESCRIPTION("KUnit tests of AF_SANX: connections that nobody resumes");
MODULE_LICENSE("GPL");
