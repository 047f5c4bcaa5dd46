/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Words that people have written: numbers, and words in messages.
 */
#ifndef SANXCTL_TEXT_H
#define SANXCTL_TEXT_H

#include <stdbool.h>

#include "words.h"

/* Most bytes of a quoted word in a message; longer words are cut. */
#define QUOTE_LEN 48

/**
 * parse_number() - read a number of nothing but digits
 * @text: the digits
 * @base: 10 or 16
 * @max: the largest that is valid
 * @number: set on success
 *
 * Return: false if @text is something else, or more.
 */
bool parse_number(const char *text, int base, u32 max, u32 *number);

/**
 * quote() - put a word between quotation marks, for a message
 * @word: the word.  It may be of a file with anything in it, so characters that could
 *	control the terminal are replaced
 * @buf: room for it
 *
 * Return: @buf.
 */
const char *quote(const char *word, char buf[QUOTE_LEN]);

#endif /* SANXCTL_TEXT_H */
