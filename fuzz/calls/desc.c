// SPDX-License-Identifier: GPL-2.0
/*
 * Reads descriptions of calls in the language of syzkaller, as far as
 * scripts/syzkaller/ uses it:
 *
 *	calls, resources, flags of numbers and of strings, define, structs and unions
 *	with [packed], [align[N]] and [varlen], type aliases and templates;
 *
 *	intN, intNbe, intptr, const, flags, len, bytesize, ptr, array, string, void and
 *	the names of resources, structs and unions, with ranges and opt.
 *
 * A file is read into declarations first, and types are made of them when they are asked
 * for, since a name may be used before it is declared, and a template has no type until
 * its arguments are known.  Constants come from a file NAME = NUMBER (.const).
 */
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "desc.h"

#define DECLS_MAX	1024
#define CONSTS_MAX	1024

/**
 * struct expr - a type, or an argument of one, as it is written
 * @name: or NULL for a number
 * @text: it is a string
 * @number: if it is one
 * @or: what it is combined with by |
 * @to: the other end of a range that begins here
 * @n: number of @arg
 * @arg: in brackets behind it
 */
struct expr {
	const char *name;
	bool text;
	int64_t number;
	struct expr *or, *to;
	unsigned int n;
	struct expr *arg[FIELDS_MAX];
};

enum decl_kind { DECL_STRUCT, DECL_UNION, DECL_ALIAS, DECL_VALUES, DECL_RESOURCE, DECL_CALL };

/**
 * struct decl - a declaration
 * @kind: what it declares
 * @name: the name
 * @n_params: number of @param
 * @param: names of the parameters of a template
 * @n: number of fields, or of values
 * @field: names of the fields
 * @expr: types of the fields; values; alias or base: the first one
 * @ret: of a call, or NULL
 * @packed: of a struct
 * @align: of a struct
 * @type: made of it, if it is no template
 * @values: made of it
 * @resource: made of it
 */
struct decl {
	enum decl_kind kind;
	const char *name;
	unsigned int n_params;
	const char *param[16];
	unsigned int n;
	const char *field[FIELDS_MAX];
	struct expr *expr[FIELDS_MAX * 2];
	const char *ret;
	bool packed;
	unsigned int align;
	struct type *type;
	struct values *values;
	struct resource *resource;
};

/* What the parameters of a template are in it. */
struct scope {
	const struct decl *decl;
	const struct expr *args;
	const struct scope *outer;
};

struct call_desc calls[CALLS_MAX];
unsigned int n_calls;

static struct decl decls[DECLS_MAX];
static unsigned int n_decls;
static struct constant {
	char name[64];
	int64_t value;
} consts[CONSTS_MAX];
static unsigned int n_consts;

static const char *file, *at;
static unsigned int line;

void fail(const char *format, ...)
{
	va_list ap;

	if (file)
		fprintf(stderr, "%s:%u: ", file, line);
	va_start(ap, format);
	vfprintf(stderr, format, ap);
	va_end(ap);
	fputc('\n', stderr);
	exit(2);
}

static void *zalloc(size_t bytes)
{
	void *p = calloc(1, bytes);

	if (!p)
		fail("no memory");
	return p;
}

static char *slurp(const char *path)
{
	FILE *f = fopen(path, "r");
	char *text;
	long n;

	if (!f)
		fail("cannot open %s", path);
	fseek(f, 0, SEEK_END);
	n = ftell(f);
	rewind(f);
	text = zalloc(n + 1);
	if (fread(text, 1, n, f) != (size_t)n)
		fail("cannot read %s", path);
	fclose(f);
	return text;
}

static void const_add(const char *name, int64_t value)
{
	if (n_consts == CONSTS_MAX)
		fail("too many constants");
	snprintf(consts[n_consts].name, sizeof(consts->name), "%s", name);
	consts[n_consts++].value = value;
}

/**
 * desc_consts() - read the values of names
 * @path: lines NAME = NUMBER
 */
void desc_consts(const char *path)
{
	char *text = slurp(path), *l, *save = NULL, name[64];
	long long value;

	for (l = strtok_r(text, "\n", &save); l; l = strtok_r(NULL, "\n", &save))
		if (sscanf(l, "%63[A-Z0-9_a-z] = %lli", name, &value) == 2)
			const_add(name, value);
	free(text);
}

/* ---- Words */

static void skip_space(bool lines)
{
	for (;; at++) {
		if (*at == '#')
			at += strcspn(at, "\n");
		if (*at == '\n' && lines)
			line++;
		else if (*at != ' ' && *at != '\t' && *at != '\r')
			return;
	}
}

static bool accept_char(char c)
{
	skip_space(true);
	if (*at != c)
		return false;
	at++;
	return true;
}

static void expect_char(char c)
{
	if (!accept_char(c))
		fail("a '%c' is missing before '%.20s'", c, at);
}

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '$';
}

static const char *word(void)
{
	const char *from;

	skip_space(true);
	for (from = at; is_word(*at); at++)
		;
	if (at == from)
		fail("a name is missing before '%.20s'", at);
	return strndup(from, at - from);
}

static const char *quoted(void)
{
	const char *from = ++at;

	at += strcspn(at, "\"\n");
	if (*at++ != '"')
		fail("the string has no end");
	return strndup(from, at - 1 - from);
}

static struct expr *parse_expr(void);

static void parse_args(struct expr *e)
{
	do {
		if (e->n == FIELDS_MAX)
			fail("too many arguments");
		e->arg[e->n++] = parse_expr();
	} while (accept_char(','));
	expect_char(']');
}

static struct expr *parse_expr(void)
{
	struct expr *e = zalloc(sizeof(*e));
	char *end;

	skip_space(true);
	if (*at == '"') {
		e->name = quoted();
		e->text = true;
	} else if (isdigit((unsigned char)*at) || *at == '-') {
		e->number = *at == '-' ? strtoll(at, &end, 0) : (int64_t)strtoull(at, &end, 0);
		at = end;
	} else {
		e->name = word();
		if (*at == '[') {
			at++;
			parse_args(e);
		}
	}
	skip_space(false);
	if (*at == '|') {
		at++;
		e->or = parse_expr();
	} else if (*at == ':') {
		at++;
		e->to = parse_expr();
	}
	return e;
}

/* ---- Declarations */

static struct decl *decl_new(enum decl_kind kind, const char *name)
{
	struct decl *d = &decls[n_decls];

	if (n_decls++ == DECLS_MAX)
		fail("too many declarations");
	d->kind = kind;
	d->name = name;
	return d;
}

static struct decl *decl_find(const char *name)
{
	unsigned int i;

	for (i = 0; i < n_decls; i++)
		if (!strcmp(decls[i].name, name) && decls[i].kind != DECL_CALL)
			return &decls[i];
	return NULL;
}

/* Behind a struct, on the same line. */
static void parse_attrs(struct decl *d)
{
	struct expr *e;

	skip_space(false);
	if (*at != '[')
		return;
	at++;
	do {
		e = parse_expr();
		if (!strcmp(e->name, "packed"))
			d->packed = true;
		else if (!strcmp(e->name, "align"))
			d->align = e->arg[0]->number;
		else if (strcmp(e->name, "varlen"))
			fail("what is the attribute %s?", e->name);
	} while (accept_char(','));
	expect_char(']');
}

static void parse_fields(struct decl *d, char end)
{
	while (!accept_char(end)) {
		if (d->n == FIELDS_MAX)
			fail("too many fields");
		d->field[d->n] = word();
		d->expr[d->n++] = parse_expr();
	}
	parse_attrs(d);
}

static void parse_values(struct decl *d)
{
	do {
		if (d->n == FIELDS_MAX * 2)
			fail("too many values");
		d->expr[d->n++] = parse_expr();
	} while (accept_char(','));
}

static void parse_call(struct decl *d)
{
	while (!accept_char(')')) {
		if (d->n == PARAMS_MAX)
			fail("too many parameters");
		d->field[d->n] = word();
		d->expr[d->n++] = parse_expr();
		accept_char(',');
	}
	skip_space(false);
	if (is_word(*at))
		d->ret = word();
}

static void parse_type(void)
{
	struct decl *d = decl_new(DECL_ALIAS, word());

	if (*at == '[') {
		at++;
		do {
			d->param[d->n_params++] = word();
		} while (accept_char(','));
		expect_char(']');
	}
	skip_space(false);
	if (*at == '{' || *at == '[') {
		d->kind = *at == '{' ? DECL_STRUCT : DECL_UNION;
		parse_fields(d, *at++ == '{' ? '}' : ']');
		return;
	}
	d->expr[d->n++] = parse_expr();
}

static void parse_define(void)
{
	const char *name = word();

	const_add(name, parse_expr()->number);
}

static void parse_resource(void)
{
	struct decl *d = decl_new(DECL_RESOURCE, word());

	expect_char('[');
	d->expr[d->n++] = parse_expr();
	expect_char(']');
}

static void parse_named(const char *name)
{
	skip_space(false);
	switch (*at++) {
	case '(':
		parse_call(decl_new(DECL_CALL, name));
		break;
	case '=':
		parse_values(decl_new(DECL_VALUES, name));
		break;
	case '{':
		parse_fields(decl_new(DECL_STRUCT, name), '}');
		break;
	case '[':
		parse_fields(decl_new(DECL_UNION, name), ']');
		break;
	default:
		fail("what is %s?", name);
	}
}

/**
 * desc_read() - read declarations
 * @path: a file of scripts/syzkaller/
 */
void desc_read(const char *path)
{
	const char *name;

	file = path;
	line = 1;
	for (at = slurp(path); skip_space(true), *at; ) {
		name = word();
		if (!strcmp(name, "include"))
			at += strcspn(at, "\n");
		else if (!strcmp(name, "resource"))
			parse_resource();
		else if (!strcmp(name, "type"))
			parse_type();
		else if (!strcmp(name, "define"))
			parse_define();
		else
			parse_named(name);
	}
	file = NULL;
}

/* ---- Types */

/* What @e means in @scope: the argument, if it is a parameter. */
static const struct expr *look_up(const struct expr *e, const struct scope **scope)
{
	const struct scope *s = *scope;
	unsigned int i;

	while (s && e->name && !e->text && !e->n) {
		for (i = 0; i < s->decl->n_params; i++)
			if (!strcmp(s->decl->param[i], e->name))
				break;
		if (i == s->decl->n_params)
			break;
		e = s->args->arg[i];
		s = s->outer;
	}
	*scope = s;
	return e;
}

static int64_t number_of(const struct expr *e, const struct scope *scope)
{
	const struct scope *outer = scope;
	int64_t value = 0;
	unsigned int i;

	if (!e->or)
		e = look_up(e, &outer);
	else if (e->name)
		return number_of(&(struct expr){ .name = e->name }, scope) |
		       number_of(e->or, scope);
	if (!e->name)
		return e->number;
	for (i = 0; i < n_consts; i++)
		if (!strcmp(consts[i].name, e->name))
			break;
	if (i == n_consts)
		fail("what is the value of %s?", e->name);
	value = consts[i].value;
	return value;
}

static struct type *type_new(enum kind kind)
{
	struct type *t = zalloc(sizeof(*t));

	t->kind = kind;
	return t;
}

/* intN, intNbe, intptr; false if @name is none of them. */
static bool number_type(struct type *t, const char *name)
{
	char *end;

	if (strncmp(name, "int", 3))
		return false;
	t->size = 8;
	if (!strcmp(name, "intptr"))
		return true;
	t->size = strtoul(name + 3, &end, 10) / 8;
	t->big_endian = !strcmp(end, "be");
	return t->size == 1 || t->size == 2 || t->size == 4 || t->size == 8;
}

static void take_range(struct type *t, const struct expr *e, const struct scope *scope)
{
	t->ranged = true;
	t->lo = number_of(e->to ? &(struct expr){ .name = e->name, .number = e->number } : e,
			  scope);
	t->hi = e->to ? number_of(e->to, scope) : t->lo;
}

/* The number that the last argument of const, flags, len is in; of a parameter: none. */
static void take_size(struct type *t, const struct expr *e, unsigned int i,
		      const struct scope *scope)
{
	t->size = 8;
	if (i >= e->n)
		return;
	e = look_up(e->arg[i], &scope);
	if (!number_type(t, e->name))
		fail("%s is no number", e->name);
}

static const struct values *values_of(const char *name)
{
	struct decl *d = decl_find(name);
	struct values *v;
	unsigned int i;

	if (!d || d->kind != DECL_VALUES)
		fail("%s is no list of values", name);
	if (d->values)
		return d->values;
	v = zalloc(sizeof(*v));
	v->name = name;
	v->n = d->n;
	if (d->expr[0]->text)
		v->text = zalloc(d->n * sizeof(*v->text));
	else
		v->number = zalloc(d->n * sizeof(*v->number));
	for (i = 0; i < d->n; i++) {
		if (v->text)
			v->text[i] = d->expr[i]->name;
		else
			v->number[i] = number_of(d->expr[i], NULL);
	}
	d->values = v;
	return v;
}

static const struct values *string_of(const struct expr *e)
{
	struct values *v;

	if (!e->text)
		return values_of(e->name);
	v = zalloc(sizeof(*v));
	v->n = 1;
	v->text = zalloc(sizeof(*v->text));
	v->text[0] = e->name;
	return v;
}

static const struct resource *resource_of(const char *name)
{
	struct decl *d = decl_find(name);
	struct type t = { 0 };

	if (!d || d->kind != DECL_RESOURCE)
		fail("%s is no resource", name);
	if (d->resource)
		return d->resource;
	d->resource = zalloc(sizeof(*d->resource));
	d->resource->name = name;
	if (number_type(&t, d->expr[0]->name)) {
		d->resource->size = t.size;
	} else {
		d->resource->base = resource_of(d->expr[0]->name);
		d->resource->size = d->resource->base->size;
	}
	return d->resource;
}

static const struct type *type_of(const struct expr *e, const struct scope *scope);

static void fill_fields(struct type *t, const struct decl *d, const struct scope *scope)
{
	unsigned int i;

	t->packed = d->packed;
	t->align = d->align;
	t->field = zalloc(d->n * sizeof(*t->field));
	for (i = 0; i < d->n; i++) {
		t->field[i].name = d->field[i];
		t->field[i].type = type_of(d->expr[i], scope);
		t->n++;
	}
}

static const struct type *declared(const struct expr *e, const struct scope *scope)
{
	struct decl *d = decl_find(e->name);
	struct scope inner = { .decl = d, .args = e, .outer = scope };
	struct type *t;

	if (!d)
		fail("what is %s?", e->name);
	if (d->n_params != e->n)
		fail("%s takes %u arguments", e->name, d->n_params);
	switch (d->kind) {
	case DECL_ALIAS:
		return type_of(d->expr[0], &inner);
	case DECL_RESOURCE:
		t = type_new(KIND_RESOURCE);
		t->resource = resource_of(e->name);
		t->size = t->resource->size;
		return t;
	case DECL_STRUCT:
	case DECL_UNION:
		break;
	default:
		fail("%s is no type", e->name);
	}
	if (d->type)
		return d->type;
	t = type_new(d->kind == DECL_UNION ? KIND_UNION : KIND_STRUCT);
	/* Before its fields, which may be about itself. */
	if (!d->n_params)
		d->type = t;
	fill_fields(t, d, &inner);
	return t;
}

static struct type *pointer_type(const struct expr *e, const struct scope *scope)
{
	struct type *t = type_new(KIND_PTR);

	t->size = 8;
	t->out = !strcmp(e->arg[0]->name, "out");
	t->elem = type_of(e->arg[1], scope);
	t->opt = e->n > 2;
	return t;
}

static struct type *array_type(const struct expr *e, const struct scope *scope)
{
	struct type *t = type_new(KIND_ARRAY);

	t->elem = type_of(e->arg[0], scope);
	t->lo = 0;
	t->hi = 8;
	if (e->n > 1)
		take_range(t, e->arg[1], scope);
	return t;
}

/* Types that the language has; NULL for what is declared. */
static struct type *built_in(const struct expr *e, const struct scope *scope)
{
	struct type *t;

	if (!strcmp(e->name, "ptr"))
		return pointer_type(e, scope);
	if (!strcmp(e->name, "array"))
		return array_type(e, scope);
	if (!strcmp(e->name, "void"))
		return type_new(KIND_VOID);
	if (!strcmp(e->name, "string")) {
		t = type_new(KIND_STRING);
		t->values = string_of(e->arg[0]);
	} else if (!strcmp(e->name, "const")) {
		t = type_new(KIND_CONST);
		t->lo = number_of(e->arg[0], scope);
		take_size(t, e, 1, scope);
	} else if (!strcmp(e->name, "flags")) {
		t = type_new(KIND_FLAGS);
		t->values = values_of(e->arg[0]->name);
		take_size(t, e, 1, scope);
	} else if (!strcmp(e->name, "len") || !strcmp(e->name, "bytesize")) {
		t = type_new(KIND_LEN);
		t->of = e->arg[0]->name;
		t->bytes = *e->name == 'b';
		take_size(t, e, 1, scope);
	} else {
		t = type_new(KIND_INT);
		if (!number_type(t, e->name))
			return NULL;
		if (e->n)
			take_range(t, e->arg[0], scope);
	}
	return t;
}

static const struct type *type_of(const struct expr *e, const struct scope *scope)
{
	const struct type *t;

	e = look_up(e, &scope);
	if (!e->name || e->text)
		fail("a value stands where a type belongs");
	t = built_in(e, scope);
	return t ?: declared(e, scope);
}

/**
 * desc_resolve() - make calls[] of what was read
 */
void desc_resolve(void)
{
	struct call_desc *c;
	unsigned int i;

	for (i = 0; i < n_decls; i++) {
		if (decls[i].kind != DECL_CALL)
			continue;
		if (n_calls == CALLS_MAX)
			fail("too many calls");
		c = &calls[n_calls++];
		c->name = decls[i].name;
		c->params.kind = KIND_STRUCT;
		fill_fields(&c->params, &decls[i], NULL);
		if (decls[i].ret)
			c->ret = resource_of(decls[i].ret);
	}
}

/**
 * resource_is() - can it be taken for another?
 * @r: the resource
 * @wanted: the other
 */
bool resource_is(const struct resource *r, const struct resource *wanted)
{
	while (r && r != wanted)
		r = r->base;
	return r;
}

/**
 * type_needs() - which resources do the values of a type take?
 * @t: the type
 * @wanted: room for them
 * @n: how many there are
 * @max: room
 * Return: false if there is no more room.
 */
bool type_needs(const struct type *t, const struct resource **wanted, unsigned int *n,
		unsigned int max)
{
	unsigned int i;

	switch (t->kind) {
	case KIND_RESOURCE:
		if (*n == max)
			return false;
		wanted[(*n)++] = t->resource;
		return true;
	case KIND_PTR:
		return t->out || type_needs(t->elem, wanted, n, max);
	case KIND_ARRAY:
		return type_needs(t->elem, wanted, n, max);
	case KIND_STRUCT:
		for (i = 0; i < t->n; i++)
			if (!type_needs(t->field[i].type, wanted, n, max))
				return false;
		return true;
	default:
		return true;
	}
}

/**
 * type_gives() - does the kernel write such a resource there?
 * @t: type of a parameter
 * @wanted: the resource
 */
bool type_gives(const struct type *t, const struct resource *wanted)
{
	const struct type *elem;
	unsigned int i;

	if (t->kind != KIND_PTR || !t->out || t->elem->kind != KIND_STRUCT)
		return false;
	elem = t->elem;
	for (i = 0; i < elem->n; i++)
		if (elem->field[i].type->kind == KIND_RESOURCE &&
		    resource_is(elem->field[i].type->resource, wanted))
			return true;
	return false;
}
