// SPDX-License-Identifier: GPL-2.0
/*
 * Key files (tools/sanxctl/keyfile.c).
 *
 * The input is read twice: as a file, and as a key, a position in its text and the
 * character that replaces the one there.  A file that is accepted is what
 * key_format() writes, but for blanks at its end.  The text of a key is accepted
 * and gives the key; with one character replaced it is refused, which the CRC
 * promises.
 */
#include <ctype.h>

#include "fuzz/fuzz.h"
#include "tools/sanxctl/keyfile.h"

static void try_file(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1), again[KEY_TEXT_LEN], *end;
	uint8_t key[SANX_KEY_LEN];
	const char *why;

	if (size)
		memcpy(text, data, size);
	text[size] = '\0';
	why = key_parse(text, key);
	if (why) {
		fuzz_assert(*why);
		goto out;
	}
	key_format(key, again);
	fuzz_assert(!strncmp(text, again, KEY_TEXT_LEN - 1));
	for (end = text + KEY_TEXT_LEN - 1; *end; end++)
		fuzz_assert(isspace((unsigned char)*end));
out:
	free(text);
}

static void try_key(struct fuzz_input *in)
{
	uint8_t key[SANX_KEY_LEN], again[SANX_KEY_LEN], at, to;
	char *text = malloc(KEY_TEXT_LEN);

	fuzz_bytes(in, key, sizeof(key));
	key_format(key, text);
	fuzz_assert(strlen(text) == KEY_TEXT_LEN - 1);
	fuzz_assert(!key_parse(text, again) && !memcmp(key, again, sizeof(key)));
	at = fuzz_u8(in) % (KEY_TEXT_LEN - 1);
	to = fuzz_u8(in);
	if ((char)to != text[at]) {
		text[at] = to;
		fuzz_assert(key_parse(text, again));
	}
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input in = { data, size };

	try_file(data, size);
	try_key(&in);
	return 0;
}
