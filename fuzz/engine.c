// SPDX-License-Identifier: GPL-2.0
/*
 * Frames of any kind against a live engine: all that the simulator checks holds.
 *
 * The input is a number that chooses the world, and then entries: a byte that
 * says how many frames of the peer pass first, a byte of length, and the bytes
 * that replace the next frame, byte by byte (exclusive or).  So an input of
 * zeroes is a world in peace.
 */
#include "fuzz/fuzz.h"
#include "sim/sim.h"

static struct fuzz_input input;
static unsigned int pass;

/* Changes a frame that arrives; returns its new size. */
static u32 change_frame(u8 *frame, u32 bytes)
{
	u32 i, n;

	if (!input.size || pass-- > 0)
		return bytes;
	pass = fuzz_u8(&input) % 32;
	n = fuzz_u8(&input);
	for (i = 0; i < n && i < SANX_WIRE_FRAME_MAX; i++)
		frame[i] ^= fuzz_u8(&input);
	return n & 128 ? min(n * 2, SANX_WIRE_FRAME_MAX) : bytes;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	input = (struct fuzz_input){ data, size };
	pass = fuzz_u8(&input) % 32;
	sim_abort = true;
	sim_fuzz = change_frame;
	sim_world(1 + fuzz_u8(&input) % 16, 600);
	return 0;
}
