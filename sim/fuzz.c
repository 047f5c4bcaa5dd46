// SPDX-License-Identifier: GPL-2.0
/*
 * libFuzzer: frames of any kind against a live engine.
 *
 * The input is a number that chooses the world, and then entries: a byte that
 * says how many frames of the peer pass first, a byte of length, and the bytes
 * that replace the next frame, byte by byte (exclusive or).  So an input of
 * zeroes is a world in peace.
 */
#include "sim.h"

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

static const u8 *fuzz_data;
static size_t fuzz_size;
static unsigned int fuzz_pass;

static u8 take(void)
{
	if (!fuzz_size)
		return 0;
	fuzz_size--;
	return *fuzz_data++;
}

/**
 * sim_fuzz_frame() - change a frame that arrives
 * @frame: the frame
 * @bytes: its size
 * Return: its new size.
 */
u32 sim_fuzz_frame(u8 *frame, u32 bytes)
{
	u32 i, n;

	if (!fuzz_size || fuzz_pass-- > 0)
		return bytes;
	fuzz_pass = take() % 32;
	n = take();
	for (i = 0; i < n && i < SANX_WIRE_FRAME_MAX; i++)
		frame[i] ^= take();
	return n & 128 ? min(n * 2, SANX_WIRE_FRAME_MAX) : bytes;
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	fuzz_data = data;
	fuzz_size = size;
	fuzz_pass = take() % 32;
	sim_fuzz = sim_fuzz_frame;
	sim_world(1 + take() % 16, 600);
	return 0;
}
