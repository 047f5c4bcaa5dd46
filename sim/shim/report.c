// SPDX-License-Identifier: GPL-2.0
/* Failures: the seed, and what happened last. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "report.h"

#define NOTES	4096

/* The last events, oldest at note_n. */
static struct note {
	u64		step;
	u64		now;
	const char	*what;
	const char	*task;
	long		a, b;
	int		node;
	char		text[64];
} notes[NOTES];

static unsigned int note_n;
static bool failing;

unsigned int sim_trace_lines = 60;
bool sim_trace_all;
bool sim_abort;
u64 sim_world_seed;

static void note_print(const struct note *n)
{
	fprintf(stderr, "  %8llu %12.6f node %2d %-20s ", n->step,
		n->now / 1e9, n->node, n->task);
	if (n->a || n->b)
		fprintf(stderr, "%s: %ld %ld\n", n->what, n->a, n->b);
	else
		fprintf(stderr, "%.*s\n", (int)strcspn(n->what, "\n"),
			n->what);
}

/**
 * sim_note() - remember an event
 * @what: a constant string
 * @a: of use for @what
 * @b: likewise
 */
void sim_note(const char *what, long a, long b)
{
	struct note *n = &notes[note_n++ % NOTES];

	n->step = sim_steps;
	n->now = sim_now;
	n->what = what;
	n->task = sim_current ? sim_current->entry.name : "";
	n->a = a;
	n->b = b;
	n->node = sim_current ? sim_current->node : -1;
	if (unlikely(sim_trace_all))
		note_print(n);
}

/**
 * sim_note_text() - remember a message of the module
 * @fmt: as for printf()
 */
void sim_note_text(const char *fmt, ...)
{
	struct note *n = &notes[note_n % NOTES];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(n->text, sizeof(n->text), fmt, ap);
	va_end(ap);
	sim_note(n->text, 0, 0);
}

/**
 * sim_report() - print the trace and how to repeat it
 */
void sim_report(void)
{
	unsigned int n = note_n < sim_trace_lines ? note_n : sim_trace_lines;
	unsigned int i;

	if (failing)
		return;
	failing = true;
	fprintf(stderr, "the last %u events:\n", n);
	for (i = note_n - n; i != note_n; i++)
		note_print(&notes[i % NOTES]);
	sim_dump_tasks();
	sim_programs_dump();
	fprintf(stderr, "sim: FAILED at step %llu; to repeat: make sim SEED=%llu\n",
		sim_steps, sim_world_seed);
}

/**
 * sim_fail() - the module did what it must not
 * @fmt: what
 */
void sim_fail(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	fprintf(stderr, "sim: ");
	vfprintf(stderr, fmt, ap);
	fprintf(stderr, "\n");
	va_end(ap);
	sim_report();
	fflush(NULL);
	if (sim_abort)
		abort();
	_exit(1);
}

void sim_list_check(const struct list_head *n)
{
	sim_fail("a list is corrupt: %p <- %p -> %p", n->prev, n, n->next);
}
