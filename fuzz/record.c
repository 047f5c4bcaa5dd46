// SPDX-License-Identifier: GPL-2.0
/*
 * Datagrams in the stream of an implicit connection (af_sanx/dgram/record.h).
 *
 * The input is what a peer has sent: a header, and the packet behind it.  What is accepted has
 * the length of the packet, and lengths in it that say the same.
 */
#include "dgram/record.h"
#include "fuzz/fuzz.h"
#include "sim/shim/report.h"

/* Both ends are explicit ones, with ports; nothing else is. */
static void check_explicit(const struct dgram_packet *k, u32 len, u16 gso_size)
{
	if (!dgram_explicit_valid(k, len, gso_size))
		return;
	fuzz_assert(dgram_explicit(k) && !k->v4 && !gso_size);
	fuzz_assert(k->saddr.s6_addr32[2] && k->daddr.s6_addr32[2]);
	fuzz_assert(k->sport == k->dport || (!k->sport && len == DGRAM_HEADERS_V6));
}

static void check_packet(const u8 *p, u32 len, u16 gso_size)
{
	u32 headers, payload;
	struct dgram_packet k;

	if (!dgram_packet_parse(p, len, gso_size, &k))
		return;
	headers = k.v4 ? DGRAM_HEADERS_V4 : DGRAM_HEADERS_V6;
	fuzz_assert(len >= headers);
	fuzz_assert(p[0] >> 4 == (k.v4 ? 4 : 6));
	fuzz_assert(ipv6_addr_v4mapped(&k.saddr) == k.v4);
	fuzz_assert(ipv6_addr_v4mapped(&k.daddr) == k.v4);
	payload = dgram_be16(p + headers - 4) - 8;
	fuzz_assert(payload == len - headers);
	fuzz_assert(dgram_be16(p + (k.v4 ? 2 : 4)) == (k.v4 ? len : len - 40));
	fuzz_assert(!memcmp(&k.sport, p + headers - 8, 2));
	fuzz_assert(k.dport && !memcmp(&k.dport, p + headers - 6, 2));
	check_explicit(&k, len, gso_size);
	/* UDP makes so many packets of it at most. */
	fuzz_assert(!gso_size || DIV_ROUND_UP(payload, gso_size) <= DGRAM_SEGMENTS);
	fuzz_assert(!gso_size || DIV_ROUND_UP(payload, gso_size) > 1);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct dgram_record f, again;
	u16 gso_size;
	u32 len;

	if (size < sizeof(f))
		return 0;
	memcpy(&f, data, sizeof(f));
	if (!dgram_record_parse(&f, &len, &gso_size)) {
		fuzz_assert(len >= DGRAM_LEN_MIN && len <= DGRAM_LEN_MAX);
		dgram_record_fill(&again, len, gso_size);
		fuzz_assert(!memcmp(&f, &again, sizeof(f)));
	}
	/* As long as it says, or as there is. */
	size -= sizeof(f);
	if (size >= DGRAM_LEN_MIN)
		check_packet(data + sizeof(f), size, gso_size);
	return 0;
}
