/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Output, as text or as JSON from the same calls.
 *
 * A key of NULL is for text only, a format of NULL for JSON only.  Nothing is
 * written before print_finish(), so that output is whole or not there.  Without
 * memory these functions end the program.
 */
#ifndef SANXCTL_PRINT_H
#define SANXCTL_PRINT_H

#include <stdbool.h>
#include <stdio.h>

#include <json-c/json.h>

#include "words.h"

/**
 * struct print - output that is being made
 * @root: the JSON document; NULL for text
 * @item: the object that is open
 * @list: the array in @item that is open
 * @pretty: whether JSON is indented
 * @heading: line above the first item, in text
 * @items: items so far, in text
 * @text: stream that writes to @buf
 * @buf: the text
 * @len: length of @buf
 */
struct print {
	json_object *root;
	json_object *item;
	json_object *list;
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
void print_heading(struct print *out, const char *heading);
void print_item_open(struct print *out);
void print_item_close(struct print *out);

void print_string(struct print *out, const char *key, const char *fmt, const char *value);
void print_uint(struct print *out, const char *key, const char *fmt, u64 value);

void print_list_open(struct print *out, const char *key);
void print_list_string(struct print *out, const char *fmt, const char *value);
void print_list_close(struct print *out);

#endif /* SANXCTL_PRINT_H */
