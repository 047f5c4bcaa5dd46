// SPDX-License-Identifier: GPL-2.0
/*
 * A library that also replaces socket(), and prints each call on stderr.
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
