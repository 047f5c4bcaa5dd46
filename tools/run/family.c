// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Reads the number of the address family from the module's parameter, and the sysctl
 * that is about programs' sockets.
 *
 * The preload library calls this from socket().  So it must not do anything
 * that socket() would not do: allocate memory, take a lock, be a cancellation
 * point, or call a function that another library may replace.  It therefore
 * makes system calls directly.
 */
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "family.h"

static int number_parse(const char *text, long len)
{
	int number = 0;
	long i;

	if (len <= 0)
		return 0;

	for (i = 0; i < len && text[i] >= '0' && text[i] <= '9'; i++) {
		number = number * 10 + text[i] - '0';
		if (number > 0xffff)
			return 0;
	}

	return i == len || text[i] == '\n' ? number : 0;
}

static int number_read(const char *path)
{
	char text[16];
	long len, fd;

	fd = syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;

	len = syscall(SYS_read, fd, text, sizeof(text));
	syscall(SYS_close, fd);

	return number_parse(text, len);
}

/**
 * sanx_family_read - read the number of the address family
 *
 * Changes errno on failure.
 *
 * Return: the number, or 0 if the module is not loaded.
 */
int sanx_family_read(void)
{
	return number_read(SANX_FAMILY_PARAM);
}

/**
 * sanx_dgram_read - read net.sanx.dgram
 *
 * Changes errno on failure.
 *
 * Return: not 0 if UDP sockets of programs are to be the family's, too.
 */
int sanx_dgram_read(void)
{
	return number_read(SANX_DGRAM_SYSCTL);
}
