// SPDX-License-Identifier: GPL-2.0
/*
 * Keys as text, as NVMe has them ("DHHC-1:", TP 8006): a prefix, the key and its
 * CRC-32 in base64 (RFC 4648), and a colon.  The CRC tells a mistyped key from
 * another one.
 */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "keyfile.h"

#define PREFIX	"SANX-1:"
#define CRC_LEN	4

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/* CRC-32 of IEEE 802.3, as in zlib. */
static u32 crc32(const u8 *data, size_t len)
{
	u32 crc = ~0U;
	int bit;

	for (; len; len--) {
		crc ^= *data++;
		for (bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? 0xedb88320 : 0);
	}
	return ~crc;
}

static void put_crc(u8 *to, u32 crc)
{
	int i;

	for (i = 0; i < CRC_LEN; i++)
		to[i] = crc >> 8 * i;
}

/**
 * key_format - write a key as text
 * @key: the key
 * @text: filled, with a NUL at the end
 */
void key_format(const u8 key[SANX_KEY_LEN], char text[KEY_TEXT_LEN])
{
	u8 raw[SANX_KEY_LEN + CRC_LEN];
	char *to = stpcpy(text, PREFIX);
	size_t i;
	u32 three;

	memcpy(raw, key, SANX_KEY_LEN);
	put_crc(raw + SANX_KEY_LEN, crc32(key, SANX_KEY_LEN));
	for (i = 0; i < sizeof(raw); i += 3) {
		three = raw[i] << 16 | raw[i + 1] << 8 | raw[i + 2];
		*to++ = digits[three >> 18];
		*to++ = digits[three >> 12 & 63];
		*to++ = digits[three >> 6 & 63];
		*to++ = digits[three & 63];
	}
	*to++ = ':';
	*to = '\0';
	explicit_bzero(raw, sizeof(raw));
}

/**
 * key_id_format - write the id of a key as text
 * @id: the id
 * @text: filled
 *
 * Return: @text.
 */
const char *key_id_format(u32 id, char text[KEY_ID_LEN])
{
	snprintf(text, KEY_ID_LEN, "%08x", id);
	return text;
}

/* @text: as many digits as make @len bytes, a multiple of 3. */
static bool base64_parse(const char *text, u8 *raw, size_t len)
{
	const char *digit;
	u32 bits = 0;
	size_t i;

	for (i = 0; i < len / 3 * 4; i++) {
		digit = text[i] ? strchr(digits, text[i]) : NULL;
		if (!digit)
			return false;
		bits = bits << 6 | (u32)(digit - digits);
		if (i % 4 != 3)
			continue;
		*raw++ = bits >> 16;
		*raw++ = bits >> 8;
		*raw++ = bits;
	}
	return true;
}

/**
 * key_parse - read a key from its text
 * @text: the text; blanks at its end do not count
 * @key: filled on success
 *
 * Return: NULL, or what is wrong.
 */
const char *key_parse(const char *text, u8 key[SANX_KEY_LEN])
{
	u8 raw[SANX_KEY_LEN + CRC_LEN], crc[CRC_LEN];
	const char *why = NULL;

	if (strncmp(text, PREFIX, strlen(PREFIX)))
		return "it is not a key, expected " PREFIX " and base64";
	text += strlen(PREFIX);
	if (!base64_parse(text, raw, sizeof(raw)))
		return "the key is too short, or has a character that is not base64";
	text += sizeof(raw) / 3 * 4;
	put_crc(crc, crc32(raw, SANX_KEY_LEN));
	if (*text != ':' || text[1 + strspn(text + 1, " \t\r\n")])
		why = "something follows the key, expected one key and a colon";
	else if (memcmp(raw + SANX_KEY_LEN, crc, CRC_LEN))
		why = "the checksum of the key is wrong";
	else
		memcpy(key, raw, SANX_KEY_LEN);
	explicit_bzero(raw, sizeof(raw));
	return why;
}
