// SPDX-License-Identifier: GPL-2.0
/* main() of a target without libFuzzer: runs the inputs in files. */
#include <unistd.h>

#include "fuzz/fuzz.h"

static void run(const char *path)
{
	FILE *file = fopen(path, "rb");
	static uint8_t buf[1 << 20];
	size_t size;
	void *copy;

	if (!file) {
		perror(path);
		exit(1);
	}
	size = fread(buf, 1, sizeof(buf), file);
	fclose(file);
	/* Of the exact size, as libFuzzer gives it. */
	copy = malloc(size);
	memcpy(copy, buf, size);
	/* Not with stdio, which a target may have changed. */
	dprintf(STDERR_FILENO, "running %s\n", path);
	LLVMFuzzerTestOneInput(copy, size);
	free(copy);
}

int main(int argc, char **argv)
{
	int i;

	for (i = 1; i < argc; i++)
		run(argv[i]);
	return 0;
}
