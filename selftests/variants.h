/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which variants of a fixture run: $SANX_VARIANTS has their names, with or without the
 * figure for the family.
 *
 * Include it behind kselftest_harness.h.
 */
#ifndef SANX_VARIANTS_H
#define SANX_VARIANTS_H

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/util.h"

static inline const char *env_or(const char *name, const char *otherwise)
{
	const char *value = getenv(name);

	return value && *value ? value : otherwise;
}

/* Is the variant one of the words in @list? */
static inline bool variant_chosen(const char *name, const char *list)
{
	char *words = strdup(list), *word, *rest = words;
	bool chosen = false;

	while ((word = strsep(&rest, " ,"))) {
		size_t len = strlen(word);

		if (len && !strncmp(name, word, len) &&
		    (!name[len] || (isdigit(name[len]) && !name[len + 1])))
			chosen = true;
	}
	free(words);
	return chosen;
}

/*
 * Likewise for one test's list, in which "rdma" is "verbs" but for TCP rails, and "roce"
 * is "rdma" but for iWARP: there it would test what is not so.
 */
static inline bool variant_listed(const char *name, const char *list)
{
	const char *device = env_or("SANX_DEVICE", "");
	char other[16];

	if (variant_chosen(name, list))
		return true;
	if (strncmp(name, "verbs", 5) || !strcmp(device, "tcp"))
		return false;
	snprintf(other, sizeof(other), "rdma%s", name + 5);
	if (variant_chosen(other, list))
		return true;
	snprintf(other, sizeof(other), "roce%s", name + 5);
	return !*device && variant_chosen(other, list);
}

/* Takes the test from its fixture to one that has no variants but those. */
static inline void test_only(struct __test_metadata *t, const char *variants)
{
	struct __fixture_metadata *from = t->fixture, *only;
	struct __fixture_variant_metadata *v, *copy;
	struct __test_metadata **link;

	for (link = &from->tests; *link != t; link = &(*link)->next)
		;
	*link = t->next;
	if (t->next)
		t->next->prev = t->prev;
	else if (from->tests)
		from->tests->prev = t->prev;
	t->next = NULL;
	t->prev = t;
	only = calloc(1, sizeof(*only));
	only->name = from->name;
	only->tests = t;
	t->fixture = only;
	for (v = from->variant; v; v = v->next) {
		if (!variant_listed(v->name, variants))
			continue;
		copy = calloc(1, sizeof(*copy));
		copy->name = v->name;
		copy->data = v->data;
		__register_fixture_variant(only, copy);
	}
	/* Without variants the harness would run it once. */
	if (!only->variant)
		only->tests = NULL;
	__register_fixture(only);
}

/*
 * Takes the variants that are not chosen out of the harness's list.
 * @whole: the fixture that has to have one
 * @defaults: those that are chosen if $SANX_VARIANTS says none
 */
static inline void choose_variants(const struct __fixture_metadata *whole, const char *defaults)
{
	const char *list = env_or("SANX_VARIANTS", defaults);
	struct __fixture_variant_metadata **v;
	struct __fixture_metadata *f;

	for (f = __fixture_list; f; f = f->next) {
		if (!f->variant)
			continue;
		for (v = &f->variant; *v;) {
			if (variant_chosen((*v)->name, list))
				v = &(*v)->next;
			else
				*v = (*v)->next;
		}
		/* None of those that this one test has. */
		if (!f->variant && f != whole)
			f->tests = NULL;
		if (!f->variant && f->tests) {
			printf("Bail out! no variant is called '%s'\n", list);
			exit(1);
		}
	}
}

#endif /* SANX_VARIANTS_H */
