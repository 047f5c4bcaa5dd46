// SPDX-License-Identifier: GPL-2.0
/* sim: run worlds, one seed each. */
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "sim.h"

void __sanitizer_set_death_callback(void (*fn)(void)) __attribute__((weak));

const char *__asan_default_options(void);
const char *__ubsan_default_options(void);

const char *__asan_default_options(void)
{
	return "detect_leaks=0:quarantine_size_mb=16:detect_stack_use_after_return=0";
}

const char *__ubsan_default_options(void)
{
	return "print_stacktrace=1";
}

/* It has a runtime of its own, which does not know the callback of main(). */
void __ubsan_on_report(void)
{
	sim_report();
}

/* A loop without an end has no step. */
static void watch(int sig)
{
	static u64 seen;

	if (seen == sim_steps)
		sim_fail("a step does not end");
	seen = sim_steps;
}

/* Every 20 s of CPU time: on a busy host a step that ends may take longer by the clock. */
static void watch_steps(void)
{
	struct itimerval every = { .it_interval.tv_sec = 20, .it_value.tv_sec = 20 };

	signal(SIGPROF, watch);
	setitimer(ITIMER_PROF, &every, NULL);
}

/* Without AddressSanitizer. */
static void crash(int sig)
{
	sim_fail("memory is used that is not there");
}

static void usage(void)
{
	fprintf(stderr, "sim [-s SEED [-w]] [-n STEPS] [-d LINK-DEATHS] [-m MINUTES]\n");
	fprintf(stderr, "-w: only one world; -S STEPS: of a world; -v: trace all\n");
	fprintf(stderr, "-t LINES: of the trace after a failure\n");
	fprintf(stderr, "-N NODES [-R RAILS] [-L LANES] [-C CONNECTIONS] [-A ABSENT]: costs\n");
	exit(2);
}

static double seconds(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec + ts.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
	u64 seed = 1, steps = 1000000, deaths = 0, per_world = 10000, next;
	double start = seconds(), minutes = 0;
	unsigned int nodes = 0, rails = 2, n_lanes = 1, conns = 10, absent = 0;
	bool only = false;
	int c;

	while ((c = getopt(argc, argv, "s:wn:d:m:S:vt:N:R:L:C:A:")) != -1) {
		switch (c) {
		case 's':
			seed = strtoull(optarg, NULL, 0);
			break;
		case 'w':
			only = true;
			break;
		case 'n':
			steps = strtoull(optarg, NULL, 0);
			break;
		case 'd':
			deaths = strtoull(optarg, NULL, 0);
			break;
		case 'm':
			minutes = atof(optarg);
			break;
		case 'S':
			per_world = strtoull(optarg, NULL, 0);
			break;
		case 'v':
			sim_trace_all = true;
			break;
		case 'N':
			nodes = atoi(optarg);
			break;
		case 'R':
			rails = atoi(optarg);
			break;
		case 'L':
			n_lanes = atoi(optarg);
			break;
		case 'C':
			conns = atoi(optarg);
			break;
		case 'A':
			absent = atoi(optarg);
			break;
		case 't':
			sim_trace_lines = atoi(optarg);
			break;
		default:
			usage();
		}
	}
	if (__sanitizer_set_death_callback)
		__sanitizer_set_death_callback(sim_report);
	else
		signal(SIGSEGV, crash);
	watch_steps();
	if (nodes) {
		sim_nodes_run(nodes, absent, rails, n_lanes, conns);
		return 0;
	}
	for (next = seed; ; next++) {
		sim_world(next, per_world);
		if (only || (minutes ? seconds() - start > 60 * minutes :
				       sim_steps >= steps &&
				       sim_counts.deaths >= deaths))
			break;
	}
	printf("sim: %llu steps, %llu link deaths, %llu restarts, %llu worlds, seeds %llu-%llu, ",
	       sim_steps, sim_counts.deaths, sim_counts.restarts,
	       sim_counts.worlds, seed, next);
	printf("%llu rails cut, %llu moves, %llu wires gone, ", sim_counts.cuts,
	       sim_counts.moves, sim_counts.unloads);
	printf("%llu connections, ends: %llu in order, %llu with an error that was due, ",
	       sim_counts.conns, sim_counts.finished, sim_counts.errors);
	printf("%llu refused, %llu welcome, %llu datagrams, %llu frames, %llu MB, %.1f s\n",
	       sim_counts.refused, sim_counts.welcomes, sim_counts.dgrams, sim_counts.frames,
	       sim_counts.bytes >> 20, seconds() - start);
	return 0;
}
