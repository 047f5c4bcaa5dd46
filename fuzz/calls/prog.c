// SPDX-License-Identifier: GPL-2.0
/*
 * Programs: made at random, changed, written as a line and read again.
 *
 * A line has a word for each call: its name, and behind a colon its decisions in hex
 * digits, between dots.  A ~ before the name: the program does not wait for it.
 */
#include <stdlib.h>
#include <string.h>

#include "calls.h"

/* One of those that return, or write, @wanted; false if there is none. */
static bool add_giver(struct prog *p, const struct resource *wanted)
{
	unsigned int i, j, start = below(n_calls);
	const struct call_desc *d;
	bool gives;

	for (i = 0; i < n_calls; i++) {
		d = &calls[(start + i) % n_calls];
		gives = d->ret && resource_is(d->ret, wanted);
		for (j = 0; j < d->params.n; j++)
			gives |= type_gives(d->params.field[j].type, wanted);
		/* accept() needs more than it gives. */
		if (!gives || !strncmp(d->name, "accept", 6) || !strncmp(d->name, "dup", 3))
			continue;
		p->call[p->n++] = (struct call){ .desc = d - calls };
		return true;
	}
	return false;
}

static bool has_giver(const struct prog *p, const struct resource *wanted)
{
	const struct call_desc *d;
	unsigned int i, j;

	for (i = 0; i < p->n; i++) {
		d = &calls[p->call[i].desc];
		if (d->ret && resource_is(d->ret, wanted))
			return true;
		for (j = 0; j < d->params.n; j++)
			if (type_gives(d->params.field[j].type, wanted))
				return true;
	}
	return false;
}

/* A call, behind those that it needs. */
static void add_call(struct prog *p, unsigned int desc, unsigned int depth)
{
	const struct resource *wanted[8];
	unsigned int i, n = 0;

	type_needs(&calls[desc].params, wanted, &n, 8);
	for (i = 0; i < n && p->n + 1 < PROG_CALLS; i++) {
		if (has_giver(p, wanted[i]))
			continue;
		/* It may need something as well. */
		if (add_giver(p, wanted[i]) && depth)
			add_call(p, p->call[--p->n].desc, depth - 1);
	}
	if (p->n < PROG_CALLS)
		p->call[p->n++] = (struct call){ .desc = desc, .apart = below(4) == 0 };
}

/* Calls about the node itself are worth fewer tries than those of sockets. */
static unsigned int any_call(void)
{
	unsigned int desc, tries;

	for (tries = 0; tries < 4; tries++) {
		desc = below(n_calls);
		if (!strstr(calls[desc].name, "SANX_CMD") || below(4) == 0)
			break;
	}
	return desc;
}

/**
 * prog_make() - make a program at random
 * @p: the program
 */
void prog_make(struct prog *p)
{
	unsigned int n = 3 + below(PROG_CALLS - 3);

	p->n = 0;
	while (p->n < n)
		add_call(p, any_call(), 2);
}

/**
 * prog_names() - make a program of given calls
 * @p: the program
 * @names: their names, between spaces
 */
void prog_names(struct prog *p, const char *names)
{
	const char *end;
	unsigned int i;

	for (p->n = 0; *names; names = *end ? end + 1 : end) {
		end = strchrnul(names, ' ');
		for (i = 0; i < n_calls; i++)
			if (strlen(calls[i].name) == (size_t)(end - names) &&
			    !strncmp(calls[i].name, names, end - names))
				break;
		if (i == n_calls)
			fail("no call is named '%.*s'", (int)(end - names), names);
		p->call[p->n++] = (struct call){ .desc = i };
	}
}

static void change_word(struct call *c)
{
	uint32_t *w;

	if (!c->n)
		return;
	w = &c->word[below(c->n)];
	switch (below(4)) {
	case 0:
		*w ^= 1U << below(32);
		break;
	case 1:
		*w += below(65) - 32;
		break;
	default:
		*w = draw();
	}
}

static void remove_call(struct prog *p, unsigned int i)
{
	if (p->n < 2)
		return;
	p->n--;
	memmove(&p->call[i], &p->call[i + 1], (p->n - i) * sizeof(*p->call));
}

static void insert_call(struct prog *p, unsigned int i, const struct call *c)
{
	if (p->n == PROG_CALLS)
		return;
	memmove(&p->call[i + 1], &p->call[i], (p->n - i) * sizeof(*p->call));
	p->call[i] = *c;
	p->n++;
}

static void splice_progs(struct prog *p, const struct prog *other)
{
	unsigned int i, from = below(other->n), n = 1 + below(other->n - from);

	for (i = 0; i < n && p->n < PROG_CALLS; i++)
		p->call[p->n++] = other->call[from + i];
}

/**
 * prog_mutate() - change a program a little
 * @p: the program
 * @other: one to take calls from
 */
void prog_mutate(struct prog *p, const struct prog *other)
{
	unsigned int n = 1 + below(4), i;
	struct call c;

	while (n--) {
		i = below(p->n);
		switch (below(10)) {
		case 0:
			remove_call(p, i);
			break;
		case 1:
		case 2:
			c = (struct call){ .desc = any_call(), .apart = below(4) == 0 };
			insert_call(p, below(p->n + 1), &c);
			break;
		case 3:
			c = p->call[i];
			insert_call(p, i, &c);
			break;
		case 4:
			splice_progs(p, other);
			break;
		case 5:
			p->call[i].apart ^= 1;
			break;
		default:
			change_word(&p->call[i]);
		}
	}
}

/**
 * prog_print() - write a program as a line
 * @p: the program
 * @text: room for PROG_TEXT bytes
 */
void prog_print(const struct prog *p, char *text)
{
	const struct call *c;
	unsigned int i, j;

	*text = 0;
	for (i = 0; i < p->n; i++) {
		c = &p->call[i];
		text += sprintf(text, "%s%s%s", i ? " " : "", c->apart ? "~" : "",
				calls[c->desc].name);
		for (j = 0; j < c->n; j++)
			text += sprintf(text, "%c%x", j ? '.' : ':', c->word[j]);
	}
}

static void parse_words(struct call *c, const char *s)
{
	char *end;

	for (c->n = 0; *s == ':' || *s == '.'; s = end) {
		if (c->n == CALL_WORDS)
			return;
		c->word[c->n++] = strtoul(s + 1, &end, 16);
	}
}

/**
 * prog_parse() - read a program
 * @p: the program
 * @text: as prog_print() has written it
 * Return: false if it is none.
 */
bool prog_parse(struct prog *p, const char *text)
{
	size_t len;
	unsigned int i;
	bool apart;

	for (p->n = 0; *text && *text != '\n' && p->n < PROG_CALLS; ) {
		apart = *text == '~';
		text += apart;
		len = strcspn(text, ":\n ");
		for (i = 0; i < n_calls; i++)
			if (strlen(calls[i].name) == len && !strncmp(calls[i].name, text, len))
				break;
		if (i == n_calls)
			return false;
		p->call[p->n] = (struct call){ .desc = i, .apart = apart };
		parse_words(&p->call[p->n++], text + len);
		text += strcspn(text, "\n ");
		text += *text == ' ';
	}
	return p->n;
}
