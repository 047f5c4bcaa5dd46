/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Keys as text.
 */
#ifndef SANXCTL_KEYFILE_H
#define SANXCTL_KEYFILE_H

#include <stddef.h>

#include <linux/sanx_netlink.h>

#include "words.h"

/* Bytes of a key's text with the NUL: "SANX-1:", 48 characters and ":". */
#define KEY_TEXT_LEN	57
/* Bytes of the text of a key's id with the NUL. */
#define KEY_ID_LEN	9

void key_format(const u8 key[SANX_KEY_LEN], char text[KEY_TEXT_LEN]);
const char *key_id_format(u32 id, char text[KEY_ID_LEN]);
const char *key_parse(const char *text, u8 key[SANX_KEY_LEN]);

#endif /* SANXCTL_KEYFILE_H */
