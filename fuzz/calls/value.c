// SPDX-License-Identifier: GPL-2.0
/*
 * Arguments of calls: memory and numbers, made of a type and of decisions.
 *
 * A call has no tree of values, only the decisions that lead to them, one word each.  So
 * whatever the words are, the arguments fit the description, and to change an argument is
 * to change a word.
 */
#include <endian.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "calls.h"

/* Memory of each call; behind it is none, for what is longer than it says. */
#define ARENA		(512 << 10)
#define GUARD		(1024 << 10)
/* Most bytes that a pointer points to. */
#define POINTEE_MAX	(160 << 10)
#define DEPTH		6

/**
 * struct maker - a call whose arguments are being made
 * @prog: its program
 * @i: its number there
 * @at: next word
 * @grow: draw the words that are missing
 * @results: of the calls before
 * @arena: its memory
 * @used: bytes of it
 * @depth: of pointers
 */
struct maker {
	struct prog *prog;
	unsigned int i, at;
	bool grow;
	const struct results *results;
	char *arena;
	size_t used;
	unsigned int depth;
};

/**
 * struct extent - what len says of a value
 * @bytes: of it, or of what it points to
 * @count: elements of the array that it is or points to, or bytes
 */
struct extent {
	uint64_t bytes, count;
};

static char *arenas;
static char *scratch[DEPTH];

void value_init(void)
{
	size_t all = PROG_CALLS * (ARENA + GUARD);
	unsigned int i;

	arenas = mmap(NULL, all, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (arenas == MAP_FAILED)
		fail("no memory");
	for (i = 0; i < PROG_CALLS; i++)
		mprotect(arenas + i * (ARENA + GUARD), ARENA, PROT_READ | PROT_WRITE);
	for (i = 0; i < DEPTH; i++)
		scratch[i] = malloc(POINTEE_MAX);
}

static uint32_t decide(struct maker *m)
{
	struct call *c = &m->prog->call[m->i];

	if (m->at == c->n && m->grow && c->n < CALL_WORDS)
		c->word[c->n++] = draw();
	return m->at < c->n ? c->word[m->at++] : 0;
}

static uint64_t spread(uint64_t x)
{
	x ^= x >> 31;
	x *= 0x9e3779b97f4a7c15;
	x ^= x >> 29;
	return x * 0xbf58476d1ce4e5b9;
}

/* Any number; often one that code compares with. */
static uint64_t any_number(uint32_t w)
{
	uint64_t bit = 1ULL << (w >> 8) % 64;

	switch (w % 8) {
	case 0 ... 2:
		return (w >> 8) % 12;
	case 3:
		return bit;
	case 4:
		return bit - 1;
	case 5:
		return -(uint64_t)((w >> 8) % 4);
	case 6:
		return w >> 8;
	default:
		return spread(w);
	}
}

static uint64_t ranged_number(const struct type *t, uint32_t w)
{
	if (!t->ranged || w % 32 == 31)
		return any_number(w >> 5);
	return t->lo + (w >> 5) % (uint64_t)(t->hi - t->lo + 1);
}

static uint64_t flag_number(const struct values *v, uint32_t w)
{
	uint64_t one = v->number[(w >> 4) % v->n];

	switch (w % 16) {
	case 13:
		return one | v->number[(w >> 12) % v->n];
	case 14:
		return one | v->number[(w >> 12) % v->n] | v->number[(w >> 20) % v->n];
	case 15:
		return any_number(w >> 4);
	default:
		return one;
	}
}

static void put_number(const struct type *t, char *to, uint64_t v)
{
	if (t->big_endian)
		v = htobe64(v) >> (64 - 8 * t->size);
	memcpy(to, &v, t->size);
}

/* A resource of that kind that a call before has returned. */
static int64_t find_resource(struct maker *m, const struct resource *wanted)
{
	int64_t found[PROG_CALLS * CALL_RESULTS];
	unsigned int i, j, n = 0, slot;
	const struct call_desc *d;
	uint32_t w = decide(m);

	for (i = 0; i < m->i; i++) {
		d = &calls[m->prog->call[i].desc];
		if (d->ret && resource_is(d->ret, wanted))
			found[n++] = m->results[i].value[0];
		for (j = slot = 0; j < d->params.n; j++) {
			const struct type *t = d->params.field[j].type;
			unsigned int k;

			if (!type_gives(t, wanted))
				continue;
			for (k = 0; k < t->elem->n && ++slot < CALL_RESULTS; k++)
				if (resource_is(t->elem->field[k].type->resource, wanted))
					found[n++] = m->results[i].value[slot];
		}
	}
	if (!n || w % 64 == 63)
		return -1;
	/* The last one twice as often. */
	i = (w >> 6) % (n + 1);
	return found[i < n ? i : n - 1];
}

static size_t make(struct maker *m, const struct type *t, char *to, size_t room,
		   struct extent *extent);

static size_t make_bytes(struct maker *m, char *to, size_t n, bool out)
{
	uint32_t w = out ? 0 : decide(m);
	uint64_t x = w;
	size_t i;

	if (n > 300 || w % 4 == 0) {
		memset(to, w >> 8, n);
		return n;
	}
	for (i = 0; i < n; i++) {
		x = spread(x + i);
		to[i] = w % 4 == 1 ? x % 4 : x >> 24;
	}
	return n;
}

static uint64_t array_count(struct maker *m, const struct type *t)
{
	uint32_t w;
	uint64_t n;

	if (t->lo == t->hi)
		return t->lo;
	w = decide(m);
	n = t->lo + (w >> 2) % (uint64_t)(t->hi - t->lo + 1);
	/* Often a small one. */
	if (w % 4 < 2 && t->hi - t->lo > 100)
		n = t->lo + (n - t->lo) % 100;
	return n;
}

static size_t make_array(struct maker *m, const struct type *t, char *to, size_t room,
			 struct extent *extent, bool out)
{
	uint64_t i, n = array_count(m, t);
	size_t bytes = 0;

	if (t->elem->kind == KIND_VOID)
		n = 0;
	if (t->elem->kind == KIND_INT && t->elem->size == 1 && !t->elem->ranged) {
		n = n < room ? n : room;
		bytes = make_bytes(m, to, n, out);
	} else {
		for (i = 0; i < n; i++)
			bytes += make(m, t->elem, to + bytes, room - bytes, NULL);
	}
	extent->count = n;
	return bytes;
}

static uint64_t make_pointer(struct maker *m, const struct type *t, struct extent *extent)
{
	char *from = scratch[m->depth], *to;
	size_t bytes;

	memset(extent, 0, sizeof(*extent));
	if (t->opt && decide(m) % 2)
		return 0;
	if (m->depth + 1 == DEPTH)
		return 0;
	m->depth++;
	if (t->elem->kind == KIND_ARRAY) {
		bytes = make_array(m, t->elem, from, POINTEE_MAX, extent, t->out);
	} else {
		bytes = make(m, t->elem, from, POINTEE_MAX, NULL);
		extent->count = bytes;
	}
	m->depth--;
	extent->bytes = bytes;
	m->used = (m->used + 7) & ~7UL;
	if (m->used + bytes > ARENA)
		return 0;
	to = m->arena + m->used;
	memcpy(to, from, bytes);
	m->used += bytes;
	return (uintptr_t)to;
}

/* What field @f of @t, a KIND_LEN, says; @bytes: of all of @t. */
static uint64_t length_of(struct maker *m, const struct type *t, const struct type *f,
			  const struct extent *extent, uint64_t bytes)
{
	uint32_t w = decide(m);
	unsigned int i;

	/* Seldom a wrong one. */
	if (w % 64 == 63)
		return any_number(w >> 6);
	for (i = 0; i < t->n; i++)
		if (!strcmp(t->field[i].name, f->of))
			return f->bytes ? extent[i].bytes : extent[i].count;
	return bytes;
}

/* Fields of a struct; then what counts them. */
static size_t make_fields(struct maker *m, const struct type *t, char *to, size_t room)
{
	struct extent extent[FIELDS_MAX];
	size_t at[FIELDS_MAX], bytes = 0;
	const struct type *f;
	unsigned int i;

	for (i = 0; i < t->n; i++) {
		f = t->field[i].type;
		if (!t->packed && f->size)
			bytes = (bytes + f->size - 1) & ~(size_t)(f->size - 1);
		at[i] = bytes;
		bytes += make(m, f, to + bytes, room - bytes, &extent[i]);
	}
	for (i = 0; i < t->n; i++) {
		f = t->field[i].type;
		if (f->kind == KIND_LEN)
			put_number(f, to + at[i], length_of(m, t, f, extent, bytes));
	}
	while (t->align && bytes % t->align)
		to[bytes++] = 0;
	return bytes;
}

static size_t make_string(struct maker *m, const struct type *t, char *to)
{
	const char *text = t->values->text[decide(m) % t->values->n];
	size_t bytes = strlen(text) + 1;

	memcpy(to, text, bytes);
	return bytes;
}

static size_t make(struct maker *m, const struct type *t, char *to, size_t room,
		   struct extent *extent)
{
	struct extent unused;
	size_t bytes = t->size;

	extent = extent ?: &unused;
	if (room < 4096 && t->kind != KIND_VOID && (t->size > room || !t->size)) {
		memset(extent, 0, sizeof(*extent));
		return 0;
	}
	switch (t->kind) {
	case KIND_INT:
		put_number(t, to, ranged_number(t, decide(m)));
		break;
	case KIND_CONST:
		put_number(t, to, t->lo);
		break;
	case KIND_FLAGS:
		put_number(t, to, flag_number(t->values, decide(m)));
		break;
	case KIND_LEN:
		memset(to, 0, t->size);
		break;
	case KIND_RESOURCE:
		put_number(t, to, find_resource(m, t->resource));
		break;
	case KIND_PTR:
		put_number(t, to, make_pointer(m, t, extent));
		return bytes;
	case KIND_ARRAY:
		bytes = make_array(m, t, to, room, extent, false);
		extent->bytes = bytes;
		return bytes;
	case KIND_STRING:
		bytes = make_string(m, t, to);
		break;
	case KIND_STRUCT:
		bytes = make_fields(m, t, to, room);
		break;
	case KIND_UNION:
		t = t->field[decide(m) % t->n].type;
		return make(m, t, to, room, extent);
	case KIND_VOID:
		break;
	}
	extent->bytes = bytes;
	extent->count = bytes;
	return bytes;
}

static void note_outs(struct args *args, const struct type *t, uint64_t at)
{
	unsigned int i;

	if (t->kind != KIND_PTR || !t->out || t->elem->kind != KIND_STRUCT || !at)
		return;
	for (i = 0; i < t->elem->n; i++) {
		const struct type *f = t->elem->field[i].type;

		if (f->kind == KIND_RESOURCE && args->n_outs < CALL_RESULTS - 1) {
			args->out[args->n_outs].at = (void *)(at + i * f->size);
			args->out[args->n_outs++].size = f->size;
		}
	}
}

/**
 * value_args() - make the arguments of a call
 * @p: the program
 * @i: number of the call
 * @results: of the calls before
 * @grow: draw the decisions that are missing
 * @args: the arguments; memory that they point to is the call's until it is made again
 */
void value_args(struct prog *p, unsigned int i, const struct results *results, bool grow,
		struct args *args)
{
	const struct type *params = &calls[p->call[i].desc].params;
	struct maker m = {
		.prog = p, .i = i, .grow = grow, .results = results,
		.arena = arenas + i * (ARENA + GUARD),
	};
	struct extent extent[PARAMS_MAX];
	const struct type *f;
	unsigned int k;

	memset(args, 0, sizeof(*args));
	args->n = params->n;
	for (k = 0; k < params->n; k++) {
		f = params->field[k].type;
		/* Of 4 bytes in a struct, but a word as a parameter. */
		if (f->kind == KIND_RESOURCE)
			args->arg[k] = find_resource(&m, f->resource);
		else
			make(&m, f, (char *)&args->arg[k], 8, &extent[k]);
		note_outs(args, f, args->arg[k]);
	}
	for (k = 0; k < params->n; k++) {
		f = params->field[k].type;
		if (f->kind == KIND_LEN)
			args->arg[k] = length_of(&m, params, f, extent, 0);
	}
}

/**
 * value_out() - a resource that the kernel has written
 * @args: of the call
 * @i: number of the resource
 */
int64_t value_out(const struct args *args, unsigned int i)
{
	int32_t v;

	memcpy(&v, args->out[i].at, sizeof(v));
	return v;
}
