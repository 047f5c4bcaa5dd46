/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Output as text or JSON; the same calls produce both.
 *
 * A key of NULL means text only, a format of NULL means JSON only.  A string of NULL is one
 * that there is none of: null in JSON, and nothing in text.
 * print_finish() writes the output as a whole; nothing is written before.
 * Without memory these functions exit the program.
 */
#ifndef SANXCTL_PRINT_H
#define SANXCTL_PRINT_H

#include <stdbool.h>
#include <stdio.h>

#include <json-c/json.h>

#include "words.h"

/**
 * struct print - output that is being built
 * @root: the JSON document; NULL for text
 * @item: JSON: the open object
 * @list: JSON: the open array in @item
 * @outer: JSON: the object that has @list, while @item is one of its entries
 * @pretty: JSON: indent it
 * @heading: text: line above the first item
 * @items: text: number of items
 * @text: text: stream that writes to @buf; NULL for JSON
 * @buf: the text
 * @len: bytes in @buf
 */
struct print {
	json_object *root;
	json_object *item;
	json_object *list;
	json_object *outer;
	bool pretty;
	const char *heading;
	unsigned long items;
	FILE *text;
	char *buf;
	size_t len;
};

void print_init(struct print *out, bool json, bool pretty);
void print_reset(struct print *out);
int print_finish(struct print *out);

void print_single(struct print *out);
void print_none(struct print *out);
void print_heading(struct print *out, const char *heading);
void print_item_open(struct print *out);
void print_item_close(struct print *out);

void print_string(struct print *out, const char *key, const char *fmt, const char *value);
void print_uint(struct print *out, const char *key, const char *fmt, u64 value);
void print_null(struct print *out, const char *key);
void print_bool(struct print *out, const char *key, bool value);

void print_list_open(struct print *out, const char *key);
void print_list_string(struct print *out, const char *fmt, const char *value);
void print_entry_open(struct print *out);
void print_entry_close(struct print *out);
void print_list_close(struct print *out);

#endif /* SANXCTL_PRINT_H */
