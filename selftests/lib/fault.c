// SPDX-License-Identifier: GPL-2.0
/* See Documentation/fault-injection/fault-injection.rst of the kernel. */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>
#include <unistd.h>

#include "fault.h"

#define DEBUGFS	"/sys/kernel/debug"

static const char * const kinds[] = { "failslab", "fail_page_alloc" };

/* Writes @text to file @name of each kind of allocation that has it. */
static int set_all(const char *name, const char *text)
{
	char path[96];
	int err = -ENOENT;

	for (int i = 0; i < 2; i++) {
		snprintf(path, sizeof(path), DEBUGFS "/%s/%s", kinds[i], name);
		if (!access(path, F_OK))
			err = write_file(path, text);
		if (err && err != -ENOENT)
			return err;
	}
	return err;
}

static int set_number(const char *name, const char *format, long number)
{
	char text[32];

	snprintf(text, sizeof(text), format, number);
	return set_all(name, text);
}

int fault_init(void)
{
	/* $SANX_FAULTS_VERBOSE has the kernel log each fault, with 2 its callers. */
	const char *verbose = getenv("SANX_FAULTS_VERBOSE") ?: "0";

	/* Single pages fail too, and allocations that may wait for memory. */
	return fault_none() ?: set_all("task-filter", "N") ?: set_all("interval", "1") ?:
	       set_all("ignore-gfp-wait", "N") ?:
	       set_all("min-order", "0") ?: set_all("verbose", verbose) ?:
	       set_all("stacktrace-depth", "32") ?: fault_within(NULL) ?:
	       fault_spare_calls(false);
}

/*
 * The range of a module's text, or of a function of the kernel's own: up to the
 * symbol behind it.
 */
static int find_text(const char *name, unsigned long *start, unsigned long *end)
{
	char line[512], symbol[256], module[256], type;
	FILE *f = fopen("/proc/kallsyms", "r");
	unsigned long addr;
	int n;

	if (!f)
		return -errno;
	*start = ULONG_MAX;
	*end = 0;
	while (fgets(line, sizeof(line), f)) {
		n = sscanf(line, "%lx %c %255s [%255[^]]]", &addr, &type, symbol, module);
		if (n == 4 && !strcmp(module, name) && (type == 't' || type == 'T')) {
			*start = MIN(*start, addr);
			*end = MAX(*end, addr + 1);
		} else if (n == 3 && !strcmp(symbol, name)) {
			*start = addr;
			*end = ULONG_MAX;
		} else if (n == 3 && addr > *start && addr < *end) {
			*end = addr;
		}
	}
	fclose(f);
	return *start < *end ? 0 : -ENOENT;
}

int fault_within(const char *name)
{
	unsigned long start = 0, end = ULONG_MAX;
	int err = name ? find_text(name, &start, &end) : 0;

	/* Never is nothing to be required for a moment. */
	return err ?: set_number("require-end", "0x%lx", end) ?:
		      set_number("require-start", "0x%lx", start);
}

int fault_spare_calls(bool spare)
{
	unsigned long start = 0, end = 0;
	int err = 0;

	/* Every call goes through it: on x86, and in User Mode Linux. */
	if (spare)
		err = find_text("do_syscall_64", &start, &end);
	if (err)
		err = find_text("handle_syscall", &start, &end);
	return err ?: set_number("reject-end", "0x%lx", end) ?:
		      set_number("reject-start", "0x%lx", start);
}

int fault_some(int percent)
{
	return set_all("space", "0") ?: set_all("times", "-1") ?:
	       set_number("probability", "%ld", percent);
}

int fault_one(int bytes, int pages)
{
	char text[16];

	snprintf(text, sizeof(text), "%d", pages);
	return set_number("space", "%ld", bytes) ?:
	       write_file(DEBUGFS "/fail_page_alloc/space", text) ?:
	       set_all("times", "1") ?: set_all("probability", "100");
}

int fault_none(void)
{
	return set_all("probability", "0") ?: set_all("space", "0") ?:
	       set_all("times", "-1");
}

/* It is open before an allocation may fail, and each thread has its own. */
static int nth_file(void)
{
	static __thread pid_t owner;
	static __thread int fd;

	if (owner != getpid()) {
		fd = open("/proc/thread-self/fail-nth", O_RDWR | O_CLOEXEC);
		if (fd < 0) {
			perror("# fail-nth");
			abort();
		}
		owner = getpid();
	}
	return fd;
}

static void write_nth(int fd, int nth)
{
	char text[16];
	int len = snprintf(text, sizeof(text), "%d", nth);

	if (pwrite(fd, text, len, 0) != len) {
		perror("# fail-nth");
		abort();
	}
}

void fault_arm(int nth)
{
	write_nth(nth_file(), nth);
}

bool fault_disarm(void)
{
	int fd = nth_file(), err = errno;
	char text[16] = "";
	ssize_t n = pread(fd, text, sizeof(text) - 1, 0);
	bool hit = n > 0 && !atoi(text);

	write_nth(fd, 0);
	errno = err;
	return hit;
}

void fault_count(struct faults *f)
{
	int error = f->ret < 0 ? -f->ret : 0, i;

	f->tries += f->hit;
	for (i = 0; i < FAULT_ERRORS - 1; i++)
		if (!f->count[i] || f->error[i] == error)
			break;
	f->error[i] = error;
	f->count[i] += f->hit;
}

bool fault_next(struct faults *f)
{
	if (f->nth && (!f->hit || f->nth == FAULT_MOST))
		return false;
	f->nth++;
	f->hit = false;
	return true;
}

int fault_report(const struct faults *f, const char *name)
{
	printf("# %s: %d faults:", name, f->tries);
	for (int i = 0; i < FAULT_ERRORS && f->count[i]; i++)
		printf(" %d %s", f->count[i],
		       f->error[i] ? strerrorname_np(f->error[i]) : "success");
	printf("\n");
	if (f->hit)
		return -ELOOP;
	return f->tries || f->none ? 0 : -ENODATA;
}
