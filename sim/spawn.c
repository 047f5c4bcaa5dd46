// SPDX-License-Identifier: GPL-2.0
/* Tasks of the simulator itself: programs, and calls that may sleep. */
#include <stdlib.h>

#include "sim.h"

struct spawned {
	struct sim_entry	entry;
	void			(*fn)(void *arg);
	void			*arg;
	bool			*done;
};

static void run(struct sim_entry *e)
{
	struct spawned *s = container_of(e, struct spawned, entry);

	s->fn(s->arg);
	if (s->done)
		*s->done = true;
	free(s);
}

static void spawn(int node, const char *name, void (*fn)(void *arg), void *arg,
		  bool *done)
{
	struct spawned *s = malloc(sizeof(*s));

	s->entry = SIM_ENTRY(run, name, false);
	s->entry.node = node;
	s->fn = fn;
	s->arg = arg;
	s->done = done;
	sim_ready(&s->entry);
}

/**
 * sim_spawn() - start a task
 * @node: on whose behalf
 * @name: for traces
 * @fn: what it does
 * @arg: for @fn
 */
void sim_spawn(int node, const char *name, void (*fn)(void *arg), void *arg)
{
	spawn(node, name, fn, arg, NULL);
}

/**
 * sim_call() - run a function in a task, and everything else meanwhile
 *
 * Parameters as for sim_spawn().
 */
void sim_call(int node, const char *name, void (*fn)(void *arg), void *arg)
{
	bool done = false;
	u64 end = sim_now + 3600 * NSEC_PER_SEC;

	spawn(node, name, fn, arg, &done);
	while (!done)
		if (!sim_step() || sim_now > end)
			sim_fail("%s does not end", name);
}
