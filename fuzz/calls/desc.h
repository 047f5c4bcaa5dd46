/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Descriptions of calls, as syzkaller has them: scripts/syzkaller/.  desc.c says which
 * part of the language is known here.
 */
#ifndef CALLS_DESC_H
#define CALLS_DESC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum kind {
	KIND_INT,
	KIND_CONST,
	KIND_FLAGS,
	KIND_LEN,
	KIND_PTR,
	KIND_ARRAY,
	KIND_STRING,
	KIND_STRUCT,
	KIND_UNION,
	KIND_RESOURCE,
	KIND_VOID,
};

/**
 * struct values - a list of values that has a name
 * @name: the name
 * @n: how many
 * @number: the values; of strings NULL
 * @text: the values, of strings; else NULL
 */
struct values {
	const char *name;
	unsigned int n;
	uint64_t *number;
	const char **text;
};

/**
 * struct resource - a kind of thing that calls return and take
 * @name: the name
 * @base: what it is besides, or NULL
 * @size: of its value in a struct, in bytes
 */
struct resource {
	const char *name;
	const struct resource *base;
	unsigned int size;
};

/**
 * struct type - what a parameter or a field can be
 * @kind: of these
 * @size: of a number, in bytes
 * @big_endian: a number in the byte order of networks
 * @opt: a pointer that may be NULL
 * @out: a pointer to what the kernel writes, and does not read
 * @bytes: KIND_LEN counts bytes, not elements
 * @ranged: a number between @lo and @hi
 * @packed: a struct without holes
 * @align: its size is a multiple of this
 * @lo: least number, or least count of an array
 * @hi: the largest
 * @values: of KIND_FLAGS, or of KIND_STRING
 * @of: the field that KIND_LEN is about, or "parent"
 * @elem: of pointers and arrays
 * @n: fields of a struct or a union
 * @field: names of the fields, and what they are
 * @resource: of KIND_RESOURCE
 */
struct type {
	enum kind kind;
	unsigned int size;
	bool big_endian, opt, out, bytes, ranged, packed;
	unsigned int align;
	int64_t lo, hi;
	const struct values *values;
	const char *of;
	const struct type *elem;
	unsigned int n;
	struct field {
		const char *name;
		const struct type *type;
	} *field;
	const struct resource *resource;
};

#define PARAMS_MAX	6
/* Fields of a struct. */
#define FIELDS_MAX	48
#define CALLS_MAX	256

/**
 * struct call_desc - a call
 * @name: with what follows a $, which tells variants apart
 * @params: its parameters, as the fields of a struct
 * @ret: what it returns, or NULL
 */
struct call_desc {
	const char *name;
	struct type params;
	const struct resource *ret;
};

extern struct call_desc calls[CALLS_MAX];
extern unsigned int n_calls;

void desc_consts(const char *path);
void desc_read(const char *path);
void desc_resolve(void);
bool resource_is(const struct resource *r, const struct resource *wanted);
bool type_needs(const struct type *t, const struct resource **wanted, unsigned int *n,
		unsigned int max);
bool type_gives(const struct type *t, const struct resource *wanted);
void fail(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));

#endif
