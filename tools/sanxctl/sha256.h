/* SPDX-License-Identifier: GPL-2.0 */
/*
 * SHA-256 (FIPS 180-4) and HMAC (RFC 2104) of short messages.
 */
#ifndef SANXCTL_SHA256_H
#define SANXCTL_SHA256_H

#include <stddef.h>

#include "words.h"

#define SHA256_LEN	32
#define SHA256_BLOCK	64

void hmac_sha256(const u8 *key, size_t key_len, const u8 *text, size_t len,
		 u8 mac[SHA256_LEN]);

#endif /* SANXCTL_SHA256_H */
