// SPDX-License-Identifier: GPL-2.0
/*
 * The switch between stacks.  AddressSanitizer is told of each, because it keeps
 * the bounds of the current stack.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "switch.h"

#if defined(__SANITIZE_ADDRESS__)
#define SIM_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SIM_ASAN 1
#endif
#endif

#ifdef SIM_ASAN
void __sanitizer_start_switch_fiber(void **save, const void *bottom, size_t n);
void __sanitizer_finish_switch_fiber(void *save, const void **bottom, size_t *n);
#else
static void __sanitizer_start_switch_fiber(void **save, const void *bottom,
					   size_t n)
{
}

static void __sanitizer_finish_switch_fiber(void *save, const void **bottom,
					    size_t *n)
{
}
#endif

#define STACK_BYTES	(256 * 1024)

static void *main_sp;
static const void *main_bottom;
static size_t main_bytes;

/* Saves the registers that a call preserves, and goes on at @sp. */
void sim_swap(void **save, void *sp);

#ifdef __x86_64__
__asm__(".text\n"
	".type sim_swap,@function\n"
	"sim_swap:\n"
	"	pushq %rbp\n"
	"	pushq %rbx\n"
	"	pushq %r12\n"
	"	pushq %r13\n"
	"	pushq %r14\n"
	"	pushq %r15\n"
	"	movq %rsp, (%rdi)\n"
	"	movq %rsi, %rsp\n"
	"	popq %r15\n"
	"	popq %r14\n"
	"	popq %r13\n"
	"	popq %r12\n"
	"	popq %rbx\n"
	"	popq %rbp\n"
	"	ret\n"
	".size sim_swap,.-sim_swap\n");

/* What sim_swap() pops, and then the address that it returns to. */
static void *stack_first(uint64_t *top, void (*entry)(void))
{
	top -= 1;
	*--top = (uint64_t)entry;
	for (int i = 0; i < 6; i++)
		*--top = 0;
	return top;
}
#else
#error "the simulator needs sim_swap() for this machine"
#endif

static void (*first_fn)(void *arg);
static void *first_arg;

static void stack_enter(void)
{
	void (*fn)(void *arg) = first_fn;
	void *arg = first_arg;

	__sanitizer_finish_switch_fiber(NULL, &main_bottom, &main_bytes);
	fn(arg);
	abort();
}

/**
 * sim_stack_new() - make a stack
 * @sp: set to where it goes on
 * @fn: called by the first switch to it; must not return
 * @arg: for @fn
 *
 * The first switch to it must follow at once.
 */
void *sim_stack_new(void **sp, void (*fn)(void *arg), void *arg)
{
	char *p = mmap(NULL, STACK_BYTES + 4096, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (p == MAP_FAILED) {
		perror("sim: mmap");
		exit(2);
	}
	mprotect(p, 4096, PROT_NONE);
	first_fn = fn;
	first_arg = arg;
	*sp = stack_first((uint64_t *)(p + 4096 + STACK_BYTES), stack_enter);
	return p + 4096;
}

/**
 * sim_switch_to_task() - go on with a task
 * @save: unused
 * @sp: its stack pointer
 * @stack: its stack
 */
void sim_switch_to_task(void **save, void *sp, void *stack)
{
	void *fake = NULL;

	(void)save;
	__sanitizer_start_switch_fiber(&fake, stack, STACK_BYTES);
	sim_swap(&main_sp, sp);
	__sanitizer_finish_switch_fiber(fake, NULL, NULL);
}

/**
 * sim_switch_to_main() - go back to the scheduler
 * @save: set to the stack pointer of the task
 */
void sim_switch_to_main(void **save)
{
	void *fake = NULL;

	__sanitizer_start_switch_fiber(&fake, main_bottom, main_bytes);
	sim_swap(save, main_sp);
	__sanitizer_finish_switch_fiber(fake, NULL, NULL);
}
