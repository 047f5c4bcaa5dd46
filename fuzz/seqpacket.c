// SPDX-License-Identifier: GPL-2.0
/*
 * Records in the stream of a connection (af_sanx/socket/seqpacket.h).
 *
 * The input is what a peer has sent so far.  What is accepted is the header of a record that a
 * sender could have begun, and a reader that is told to begin finds it there.
 */
#include "fuzz/fuzz.h"
#include "sim/shim/report.h"
#include "socket/seqpacket.h"

static void check_look(const struct sanx_record *f, u32 avail, u32 most)
{
	enum sanx_record_state state;
	struct sanx_record again;
	u32 len = 0, flags = 0;

	state = sanx_record_look(f, avail, most, &len, &flags);
	if (state == SANX_RECORD_NONE || state == SANX_RECORD_BROKEN)
		return;
	fuzz_assert(avail >= sizeof(*f));
	fuzz_assert(len <= SANX_RECORD_MAX && !(flags & ~SANX_RECORD_F_EOR));
	sanx_record_fill(&again, len, flags);
	fuzz_assert(!memcmp(f, &again, sizeof(*f)));
	fuzz_assert((state == SANX_RECORD_WHOLE) == (avail >= len + sizeof(*f)));
	fuzz_assert(state != SANX_RECORD_FULL || avail >= most);
	/* All that may come before some is read is enough to begin. */
	fuzz_assert(sanx_record_readable(sanx_record_look(f, avail + most, most, &len, &flags)));
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct sanx_record f = {};
	u32 most;

	memcpy(&f, data, min(size, sizeof(f)));
	for (most = 512; most <= SANX_RECORD_MAX; most *= 2)
		check_look(&f, size, most);
	return 0;
}
