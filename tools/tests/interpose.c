// SPDX-License-Identifier: GPL-2.0
/*
 * Another library that replaces socket(): says on stderr what it is asked for.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <sys/socket.h>

int socket(int domain, int type, int protocol)
{
	int (*next)(int domain, int type, int protocol) = dlsym(RTLD_NEXT, "socket");

	fprintf(stderr, "asked for %d\n", domain);
	return next(domain, type, protocol);
}
