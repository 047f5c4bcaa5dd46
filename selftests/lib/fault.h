/* SPDX-License-Identifier: GPL-2.0 */
/* Allocations that fail on purpose: a debug kernel's failslab and fail_page_alloc. */
#ifndef SANX_SELFTESTS_FAULT_H
#define SANX_SELFTESTS_FAULT_H

#include <stdbool.h>

#include "util.h"

/* Errors that a histogram has room for; and an operation has fewer allocations. */
#define FAULT_ERRORS	16
#define FAULT_MOST	3000

/**
 * struct faults - one operation, tried with each of its allocations failing
 * @none: it may well have no allocations
 * @nth: which allocation fails in this try
 * @hit: it was reached
 * @ret: what the operation returned, as rc()
 * @tries: tries in which an allocation failed
 * @error: results that were counted, 0 for success
 * @count: how often each of them was
 */
struct faults {
	bool	none;
	int	nth;
	bool	hit;
	long	ret;
	int	tries;
	int	error[FAULT_ERRORS];
	int	count[FAULT_ERRORS];
};

/*
 * FAULT() - make a call, of which the nth allocation fails
 *
 * That of this thread: what the kernel's own threads do for it does not count.
 */
#define FAULT(f, call) FAULT_ERR(f, rc(call))

/* FAULT_ERR() - likewise for a function that returns -errno */
#define FAULT_ERR(f, call) ({ \
	struct faults *_f = (f); \
\
	fault_arm(_f->nth); \
	_f->ret = (call); \
	_f->hit = fault_disarm(); \
	fault_count(_f); \
	_f->ret; \
})

/**
 * fault_init() - let every kind of allocation fail, and none yet
 *
 * Return: 0, or -errno; -ENOENT if the kernel cannot do it.
 */
int fault_init(void);

/**
 * fault_within() - let only allocations fail that a module, or a function, makes
 * @name: the module or the function, which is among the callers; NULL for any
 *
 * Return: 0, or -errno.
 */
int fault_within(const char *name);

/**
 * fault_spare_calls() - let no allocation fail that a system call makes
 * @spare: or let it
 *
 * What is left is what the kernel's own threads and interrupts make.
 *
 * Return: 0, or -errno.
 */
int fault_spare_calls(bool spare);

/**
 * fault_next() - the next try
 * @f: all zero at first, but for @none
 *
 * Return: false when a try has come to its end without a fault, which is the last.
 */
bool fault_next(struct faults *f);

/**
 * fault_report() - print what came of all tries, and end
 * @f: the operation
 * @name: of it
 *
 * Return: 0; -ELOOP if the tries came to no end; -ENODATA if nothing failed,
 * but had to.
 */
int fault_report(const struct faults *f, const char *name);

/* fault_arm() - let this thread's nth allocation from here fail */
void fault_arm(int nth);
/* fault_disarm() - has it? */
bool fault_disarm(void);
void fault_count(struct faults *f);

/**
 * fault_some() - let allocations fail, of whatever task
 * @percent: of them
 *
 * Return: 0, or -errno.
 */
int fault_some(int percent);

/**
 * fault_one() - let one allocation fail, of whatever task
 * @bytes: small ones of so many bytes succeed before
 * @pages: and so many pages
 *
 * Return: 0, or -errno.
 */
int fault_one(int bytes, int pages);

/* fault_none() - let no more fail; 0 or -errno */
int fault_none(void);

#endif /* SANX_SELFTESTS_FAULT_H */
