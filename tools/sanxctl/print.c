// SPDX-License-Identifier: GPL-2.0
/*
 * Output as text or JSON; the same calls produce both.
 */
#include <stdio.h>
#include <stdlib.h>

#include "print.h"

static void *must(void *memory)
{
	if (!memory) {
		perror("sanxctl");
		exit(EXIT_FAILURE);
	}
	return memory;
}

static void json_put(struct print *out, const char *key, json_object *value)
{
	json_object_object_add(out->item, key, must(value));
}

static void root_set(struct print *out, json_object *root)
{
	json_object_put(out->root);
	out->root = must(root);
}

static void text_open(struct print *out)
{
	out->text = must(open_memstream(&out->buf, &out->len));
}

static void text_close(struct print *out)
{
	fclose(out->text);
	free(out->buf);
}

/**
 * print_init - start without output
 * @out: the output
 * @json: write JSON instead of text
 * @pretty: indent JSON
 */
void print_init(struct print *out, bool json, bool pretty)
{
	*out = (struct print) { .pretty = pretty };

	if (json)
		root_set(out, json_object_new_array());
	else
		text_open(out);
}

/**
 * print_reset - discard all output
 * @out: the output; what is to be one object, or none, stays that
 */
void print_reset(struct print *out)
{
	out->item = NULL;
	out->list = NULL;
	out->items = 0;

	if (out->text) {
		text_close(out);
		text_open(out);
	} else if (!out->root) {
		return;
	} else if (json_object_is_type(out->root, json_type_object)) {
		print_single(out);
	} else {
		root_set(out, json_object_new_array());
	}
}

/**
 * print_single - make the output one object instead of an array of objects
 * @out: the output, still empty
 */
void print_single(struct print *out)
{
	if (out->text)
		return;

	root_set(out, json_object_new_object());
	out->item = out->root;
}

/**
 * print_none - write nothing at the end, as others are written before
 * @out: the output, still empty; nothing is added to it
 */
void print_none(struct print *out)
{
	json_object_put(out->root);
	out->root = NULL;
}

/**
 * print_heading - set a line above the first item
 * @out: the output; ignored for JSON
 * @heading: the line
 */
void print_heading(struct print *out, const char *heading)
{
	out->heading = heading;
}

void print_item_open(struct print *out)
{
	if (out->text) {
		if (out->heading && !out->items)
			fprintf(out->text, "%s\n", out->heading);
		out->items++;
		return;
	}

	out->item = must(json_object_new_object());
	json_object_array_add(out->root, out->item);
}

void print_item_close(struct print *out)
{
	if (out->text)
		fputc('\n', out->text);
	out->item = NULL;
}

void print_string(struct print *out, const char *key, const char *fmt, const char *value)
{
	if (!value) {
		if (key)
			print_null(out, key);
		return;
	}
	if (out->text && fmt)
		fprintf(out->text, fmt, value);
	if (!out->text && key)
		json_put(out, key, json_object_new_string(value));
}

/* @fmt: format of an unsigned long long */
void print_uint(struct print *out, const char *key, const char *fmt, u64 value)
{
	if (out->text && fmt)
		fprintf(out->text, fmt, (unsigned long long)value);
	if (!out->text && key)
		json_put(out, key, json_object_new_uint64(value));
}

/* A value that there is none of; text has nothing for it. */
void print_null(struct print *out, const char *key)
{
	if (!out->text)
		json_object_object_add(out->item, key, NULL);
}

void print_bool(struct print *out, const char *key, bool value)
{
	if (!out->text)
		json_put(out, key, json_object_new_boolean(value));
}

void print_list_open(struct print *out, const char *key)
{
	if (out->text)
		return;

	out->list = json_object_new_array();
	json_put(out, key, out->list);
}

void print_list_string(struct print *out, const char *fmt, const char *value)
{
	if (out->text)
		fprintf(out->text, fmt, value);
	else
		json_object_array_add(out->list, must(json_object_new_string(value)));
}

/* An entry of the list that is an object: what is printed until it is closed is in it. */
void print_entry_open(struct print *out)
{
	if (out->text)
		return;

	out->outer = out->item;
	out->item = must(json_object_new_object());
	json_object_array_add(out->list, out->item);
}

void print_entry_close(struct print *out)
{
	if (!out->text)
		out->item = out->outer;
}

void print_list_close(struct print *out)
{
	out->list = NULL;
}

static int json_write(struct print *out)
{
	int flags = out->pretty ? JSON_C_TO_STRING_PRETTY : JSON_C_TO_STRING_PLAIN;
	const char *text;

	if (!out->root)
		return 0;
	text = json_object_to_json_string_ext(out->root, flags | JSON_C_TO_STRING_NOSLASHESCAPE);
	return !text || puts(text) == EOF ? -1 : 0;
}

static int text_write(struct print *out)
{
	if (fflush(out->text))
		return -1;

	return fwrite(out->buf, 1, out->len, stdout) == out->len ? 0 : -1;
}

/**
 * print_finish - write the output to the standard output
 * @out: the output; freed
 *
 * Return: 0, or -1 with errno set.
 */
int print_finish(struct print *out)
{
	int rc = out->text ? text_write(out) : json_write(out);

	if (fflush(stdout))
		rc = -1;

	if (out->text)
		text_close(out);
	json_object_put(out->root);
	return rc;
}
