// SPDX-License-Identifier: GPL-2.0
/* A keyed hash that nobody here tries to invert. */
#include "mem.h"

struct crypto_shash *crypto_alloc_shash(const char *name, u32 type, u32 mask)
{
	struct crypto_shash *mac = kzalloc(sizeof(*mac), GFP_KERNEL);

	return mac ?: ERR_PTR(-ENOMEM);
}

void crypto_free_shash(struct crypto_shash *mac)
{
	kfree(mac);
}

static u64 mix(u64 state, const u8 *data, unsigned int len)
{
	for (; len; len--)
		state = (state ^ *data++) * 0x100000001b3ULL;
	state ^= state >> 31;
	return state * 0x9e3779b97f4a7c15ULL;
}

int crypto_shash_setkey(struct crypto_shash *mac, const u8 *key, unsigned int len)
{
	mac->key = mix(1, key, len);
	return 0;
}

int crypto_shash_tfm_digest(struct crypto_shash *mac, const u8 *data,
			    unsigned int len, u8 *out)
{
	u64 state = mix(mac->key, data, len);
	int i;

	for (i = 0; i < 4; i++, out += sizeof(state)) {
		memcpy(out, &state, sizeof(state));
		state = mix(state, (const u8 *)&mac->key, sizeof(mac->key));
	}
	return 0;
}
