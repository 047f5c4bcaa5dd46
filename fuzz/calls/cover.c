// SPDX-License-Identifier: GPL-2.0
/*
 * What of the modules has run: KCOV of each thread that makes calls, and remote KCOV of
 * the kernel's threads (af_sanx/config/cov.h).  All processes share what was seen.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <linux/kcov.h>

#include "calls.h"

#define AREA		(64 << 10)	/* words */
#define REMOTE_AREA	(256 << 10)
#define HANDLE		1		/* any; nobody else uses KCOV there */
#define TEXT_MAX	(2 << 20)

/**
 * struct module - a module that is covered
 * @name: its name
 * @text: where its code begins
 * @seen: for each byte of it, whether it was seen
 */
static struct module {
	const char *name;
	unsigned long text;
	char *seen;
} modules[] = { { .name = "af_sanx" }, { .name = "sanx_verbs" } };

#define N_MODULES	(sizeof(modules) / sizeof(*modules))

static unsigned long *remote_area;
static unsigned int *count;

static void *shared(size_t bytes)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		fail("no memory");
	return p;
}

static unsigned long text_of(const char *name)
{
	unsigned long at = 0;
	char path[80];
	FILE *f;

	snprintf(path, sizeof(path), "/sys/module/%s/sections/.text", name);
	f = fopen(path, "r");
	if (!f || fscanf(f, "%lx", &at) != 1)
		fail("cannot read %s", path);
	fclose(f);
	return at;
}

/**
 * cover_init() - find the modules
 */
void cover_init(void)
{
	unsigned int i;

	count = shared(sizeof(*count));
	for (i = 0; i < N_MODULES; i++) {
		modules[i].text = text_of(modules[i].name);
		modules[i].seen = shared(TEXT_MAX);
	}
}

static void *kcov_open(int *fd, size_t words)
{
	void *area;

	*fd = open("/sys/kernel/debug/kcov", O_RDWR | O_CLOEXEC);
	if (*fd < 0 || ioctl(*fd, KCOV_INIT_TRACE, words))
		fail("no KCOV: is this a kernel and a module of make syz?");
	area = mmap(NULL, words * sizeof(long), PROT_READ | PROT_WRITE, MAP_SHARED, *fd, 0);
	if (area == MAP_FAILED)
		fail("KCOV has no memory");
	return area;
}

/**
 * cover_remote() - collect coverage of the kernel's threads
 *
 * It is collected until the caller ends, who must not call cover_thread().  Threads and
 * processes that it makes afterwards are those that the kernel works for.
 */
void cover_remote(void)
{
	struct kcov_remote_arg arg = {
		.trace_mode = KCOV_TRACE_PC, .area_size = AREA, .common_handle = HANDLE,
	};
	int fd;

	remote_area = kcov_open(&fd, REMOTE_AREA);
	if (ioctl(fd, KCOV_REMOTE_ENABLE, &arg))
		fail("no remote KCOV");
}

/**
 * cover_thread() - collect coverage of this thread's calls
 * Return: where.
 */
void *cover_thread(void)
{
	void *area;
	int fd;

	area = kcov_open(&fd, AREA);
	if (ioctl(fd, KCOV_ENABLE, KCOV_TRACE_PC))
		fail("KCOV does not start");
	return area;
}

void cover_reset(void *area)
{
	__atomic_store_n((unsigned long *)area, 0, __ATOMIC_RELAXED);
}

/* The module that is behind the others of those before @pc. */
static struct module *module_of(unsigned long pc)
{
	struct module *m, *found = NULL;

	for (m = modules; m < modules + N_MODULES; m++)
		if (pc - m->text < TEXT_MAX && (!found || m->text > found->text))
			found = m;
	return found;
}

static bool note(unsigned long pc)
{
	struct module *m = module_of(pc);
	char *seen;

	if (!m)
		return false;
	seen = &m->seen[pc - m->text];
	if (*seen)
		return false;
	*seen = 1;
	__atomic_add_fetch(count, 1, __ATOMIC_RELAXED);
	return true;
}

/**
 * cover_take() - note what was collected
 * @area: where
 * Return: how many places are new.
 */
unsigned int cover_take(void *area)
{
	unsigned long *pc = area;
	unsigned long i, n = __atomic_load_n(pc, __ATOMIC_RELAXED);
	unsigned int new = 0;

	for (i = 1; i <= n; i++)
		new += note(pc[i]);
	return new;
}

/**
 * cover_take_remote() - the same for the kernel's threads; some of it may get lost
 */
unsigned int cover_take_remote(void)
{
	unsigned int new = cover_take(remote_area);

	cover_reset(remote_area);
	return new;
}

/**
 * cover_count() - how many places were seen
 */
unsigned int cover_count(void)
{
	return *count;
}

/**
 * cover_write() - write down what was seen
 * @path: a line for each place: module, offset in .text
 */
void cover_write(const char *path)
{
	FILE *f = fopen(path, "w");
	unsigned long at;
	unsigned int i;

	if (!f)
		fail("cannot write %s", path);
	for (i = 0; i < N_MODULES; i++)
		for (at = 0; at < TEXT_MAX; at++)
			if (modules[i].seen[at])
				fprintf(f, "%s %lx\n", modules[i].name, at);
	if (fclose(f))
		fail("cannot write %s", path);
}
