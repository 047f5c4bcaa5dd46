// SPDX-License-Identifier: GPL-2.0
/*
 * SHA-256 (FIPS 180-4) and HMAC (RFC 2104) of short messages.
 */
#include <endian.h>
#include <string.h>

#include "sha256.h"

static const u32 constants[64] = {
	0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4,
	0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe,
	0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f,
	0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7,
	0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc,
	0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
	0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116,
	0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
	0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7,
	0xc67178f2,
};

static u32 ror(u32 x, int n)
{
	return x >> n | x << (32 - n);
}

static void block_words(const u8 *block, u32 w[64])
{
	u32 s0, s1, be;
	int i;

	for (i = 0; i < 16; i++) {
		memcpy(&be, block + 4 * i, sizeof(be));
		w[i] = be32toh(be);
	}
	for (; i < 64; i++) {
		s0 = ror(w[i - 15], 7) ^ ror(w[i - 15], 18) ^ w[i - 15] >> 3;
		s1 = ror(w[i - 2], 17) ^ ror(w[i - 2], 19) ^ w[i - 2] >> 10;
		w[i] = w[i - 16] + s0 + w[i - 7] + s1;
	}
}

/* The eight variables move up by one place in each round. */
static void block_add(u32 h[8], const u8 *block)
{
	u32 v[8], w[64], t1, t2;
	int i;

	block_words(block, w);
	memcpy(v, h, sizeof(v));
	for (i = 0; i < 64; i++) {
		t1 = v[7] + (ror(v[4], 6) ^ ror(v[4], 11) ^ ror(v[4], 25)) +
		     ((v[4] & v[5]) ^ (~v[4] & v[6])) + constants[i] + w[i];
		t2 = (ror(v[0], 2) ^ ror(v[0], 13) ^ ror(v[0], 22)) +
		     ((v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]));
		memmove(&v[1], &v[0], 7 * sizeof(v[0]));
		v[4] += t1;
		v[0] = t1 + t2;
	}
	for (i = 0; i < 8; i++)
		h[i] += v[i];
}

/* The digest of @first, which is one block, and @text. */
static void digest(const u8 *first, const u8 *text, size_t len, u8 out[SHA256_LEN])
{
	u32 h[8] = {
		0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
		0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
	};
	u64 bits = htobe64((SHA256_BLOCK + len) * 8);
	u8 last[2 * SHA256_BLOCK] = { };
	size_t rest, end;
	int i;

	block_add(h, first);
	for (rest = len; rest >= SHA256_BLOCK; rest -= SHA256_BLOCK)
		block_add(h, text + len - rest);
	memcpy(last, text + len - rest, rest);
	last[rest] = 0x80;
	end = rest + 1 + sizeof(bits) > SHA256_BLOCK ? 2 * SHA256_BLOCK : SHA256_BLOCK;
	memcpy(last + end - sizeof(bits), &bits, sizeof(bits));
	block_add(h, last);
	if (end > SHA256_BLOCK)
		block_add(h, last + SHA256_BLOCK);
	for (i = 0; i < 8; i++)
		h[i] = htobe32(h[i]);
	memcpy(out, h, SHA256_LEN);
}

/**
 * hmac_sha256() - compute an HMAC with SHA-256
 * @key: the key
 * @key_len: its size, at most SHA256_BLOCK bytes
 * @text: the message
 * @len: its size in bytes
 * @mac: filled
 */
void hmac_sha256(const u8 *key, size_t key_len, const u8 *text, size_t len,
		 u8 mac[SHA256_LEN])
{
	u8 inner[SHA256_BLOCK] = { }, outer[SHA256_BLOCK];
	size_t i;

	memcpy(inner, key, key_len);
	for (i = 0; i < SHA256_BLOCK; i++) {
		outer[i] = inner[i] ^ 0x5c;
		inner[i] ^= 0x36;
	}
	digest(inner, text, len, mac);
	digest(outer, mac, SHA256_LEN, mac);
}
