// SPDX-License-Identifier: GPL-2.0
/* Memory that is slow to come. */
#include <fcntl.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/userfaultfd.h>

#include "slow.h"
#include "util.h"

#define PAGE	4096

char *slow_page(int *uffd)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register reg = {
		.range.len = PAGE,
		.mode = UFFDIO_REGISTER_MODE_MISSING,
	};
	char *page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	*uffd = syscall(SYS_userfaultfd, O_CLOEXEC);
	reg.range.start = (uintptr_t)page;
	if (*uffd < 0 || ioctl(*uffd, UFFDIO_API, &api) ||
	    ioctl(*uffd, UFFDIO_REGISTER, &reg))
		return NULL;
	return page;
}

int slow_page_give(int uffd, char *page, const char *text)
{
	static char from[PAGE] __attribute__((aligned(PAGE)));
	struct uffdio_copy copy = {
		.dst = (uintptr_t)page,
		.src = (uintptr_t)from,
		.len = PAGE,
	};

	snprintf(from, sizeof(from), "%s", text);
	return rc(ioctl(uffd, UFFDIO_COPY, &copy));
}
