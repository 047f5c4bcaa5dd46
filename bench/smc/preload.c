// SPDX-License-Identifier: GPL-2.0
/*
 * libsmc-preload.so: makes the TCP sockets of a program AF_SMC sockets.
 *
 * Debian 12 has no smc-tools, whose smc_run does the same.
 */
#include <netinet/in.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

/* SMCPROTO_SMC and SMCPROTO_SMC6, which no header of user space has. */
enum { SMC_IPV4, SMC_IPV6 };

static bool wants_tcp(int domain, int type, int protocol)
{
	return (domain == AF_INET || domain == AF_INET6) &&
	       (type & ~(SOCK_NONBLOCK | SOCK_CLOEXEC)) == SOCK_STREAM &&
	       (protocol == 0 || protocol == IPPROTO_TCP);
}

int socket(int domain, int type, int protocol)
{
	if (wants_tcp(domain, type, protocol)) {
		protocol = domain == AF_INET6 ? SMC_IPV6 : SMC_IPV4;
		domain = AF_SMC;
	}
	return syscall(SYS_socket, domain, type, protocol);
}
