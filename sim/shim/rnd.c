// SPDX-License-Identifier: GPL-2.0
/* The generator.  Nothing else decides, so a seed repeats a run. */
#include "sched.h"

static u64 rnd_state[2];

static u64 rnd_mix(u64 x)
{
	x += 0x9e3779b97f4a7c15ULL;
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
	return x ^ (x >> 31);
}

/**
 * sim_seed() - start again
 * @seed: determines all that follows
 */
void sim_seed(u64 seed)
{
	rnd_state[0] = rnd_mix(seed);
	rnd_state[1] = rnd_mix(rnd_state[0]);
}

/**
 * sim_rnd64() - 64 random bits (xoroshiro128+)
 */
u64 sim_rnd64(void)
{
	u64 a = rnd_state[0], b = rnd_state[1];
	u64 sum = a + b;

	b ^= a;
	rnd_state[0] = ((a << 24) | (a >> 40)) ^ b ^ (b << 16);
	rnd_state[1] = (b << 37) | (b >> 27);
	return sum;
}

/**
 * sim_rnd() - a random number
 * @n: more than the largest; at least 1
 */
u32 sim_rnd(u32 n)
{
	return ((sim_rnd64() >> 32) * n) >> 32;
}

/**
 * sim_chance() - does something rare happen now?
 * @one_in: how rare it is; 0 for never
 */
bool sim_chance(u32 one_in)
{
	return one_in && !sim_rnd(one_in);
}
