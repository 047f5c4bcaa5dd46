// SPDX-License-Identifier: GPL-2.0
/*
 * Allocations that fail at random, on a debug kernel:
 *
 *	faults MODULE PERCENT	from now on, so many of those that the module makes, but for
 *				those in system calls
 *	faults stop		no more; prints how many have failed
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/fault.h"
#include "lib/util.h"

/* More than will fail. */
#define MANY	1000000000L

static const char *const times[] = {
	"/sys/kernel/debug/failslab/times", "/sys/kernel/debug/fail_page_alloc/times"
};

static int start(const char *module, int percent)
{
	char many[16];
	int err = fault_init();

	snprintf(many, sizeof(many), "%ld", MANY);
	err = err ?: fault_within(module) ?: fault_spare_calls(true) ?:
	      fault_some(percent);
	for (int i = 0; i < 2 && !err; i++)
		err = write_file(times[i], many);
	return err;
}

static long failed(const char *file)
{
	FILE *f = fopen(file, "r");
	long left = MANY;

	if (f && fscanf(f, "%ld", &left) != 1)
		left = MANY;
	if (f)
		fclose(f);
	return MANY - left;
}

static int stop(void)
{
	printf("%ld failed\n", failed(times[0]) + failed(times[1]));
	return fault_none();
}

int main(int argc, char **argv)
{
	int err;

	if (argc == 2 && !strcmp(argv[1], "stop"))
		err = stop();
	else if (argc == 3)
		err = start(argv[1], atoi(argv[2]));
	else
		return 2;
	if (err)
		fprintf(stderr, "faults: %s\n", strerror(-err));
	return err ? 1 : 0;
}
