/* SPDX-License-Identifier: GPL-2.0 */
/* Programs of calls: how they are made, run and what they cover. */
#ifndef CALLS_H
#define CALLS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "desc.h"

#define PROG_CALLS	20
#define CALL_WORDS	40
/* What a call returns, and what it writes for others to take. */
#define CALL_RESULTS	3
/* Longest line that a program is written in. */
#define PROG_TEXT	(PROG_CALLS * (64 + CALL_WORDS * 9))

/**
 * struct call - a call of a program
 * @desc: number in calls[]
 * @n: number of @word
 * @apart: the program goes on at once, whether or not it has returned
 * @word: decisions about its arguments, in the order in which value.c asks for them.
 *	What is asked for behind the last one is drawn when the program is made, and is 0
 *	from then on
 */
struct call {
	uint16_t desc;
	uint8_t n;
	uint8_t apart;
	uint32_t word[CALL_WORDS];
};

/**
 * struct prog - a program
 * @n: number of @call
 * @call: its calls
 */
struct prog {
	uint32_t n;
	struct call call[PROG_CALLS];
};

/**
 * struct results - what a call has given others to take
 * @value: what it has returned, and then what it has written; -1 for nothing
 */
struct results {
	int64_t value[CALL_RESULTS];
};

/* main.c: random numbers */
uint32_t draw(void);
void draw_seed(uint64_t seed);

static inline uint32_t below(uint32_t n)
{
	return n ? draw() % n : 0;
}

/**
 * struct args - a call that can be made
 * @n: number of @arg
 * @arg: its arguments
 * @n_outs: number of @out
 * @out: where the kernel writes resources
 */
struct args {
	unsigned int n;
	uint64_t arg[PARAMS_MAX];
	unsigned int n_outs;
	struct {
		const void *at;
		unsigned int size;
	} out[CALL_RESULTS - 1];
};

/* value.c */
void value_init(void);
void value_args(struct prog *p, unsigned int i, const struct results *results, bool grow,
		struct args *args);
int64_t value_out(const struct args *args, unsigned int i);

/* prog.c */
void prog_make(struct prog *p);
void prog_mutate(struct prog *p, const struct prog *other);
void prog_names(struct prog *p, const char *names);
void prog_print(const struct prog *p, char *text);
bool prog_parse(struct prog *p, const char *text);

/* cover.c */
void cover_init(void);
void cover_remote(void);
void *cover_thread(void);
void cover_reset(void *area);
unsigned int cover_take(void *area);
unsigned int cover_take_remote(void);
void cover_write(const char *path);
unsigned int cover_count(void);

/* exec.c */
void exec_init(void);
unsigned int exec_prog(struct prog *p);
bool exec_known(const char *name);

#endif
