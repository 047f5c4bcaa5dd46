// SPDX-License-Identifier: GPL-2.0
/*
 * libsanx-preload: makes the TCP sockets of a program AF_SANX sockets.
 *
 * Only socket() is replaced, and only for TCP.  Everything else about the
 * socket is the kernel's business; see af_sanx(7) and sanx-run(1).
 *
 * socket() may be called from a signal handler, between vfork() and exec(),
 * under the dynamic loader's lock, before any constructor ran and in a sandbox,
 * and this must not change that.  So there is no constructor and no lock,
 * nothing is allocated, and the call goes to the kernel directly: asking
 * dlsym() for the next socket() would take the loader's lock.  A library that
 * also replaces socket() is asked if it comes earlier in the search order,
 * which is why sanx-run puts this one last.
 */
#include <errno.h>
#include <netinet/in.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <linux/sanx.h>

#include "family.h"
#include "words.h"

/* The family's number, 0 while it is not known to be there. */
static atomic_int family;

/*
 * When to look again for a family that was not there, in seconds of
 * CLOCK_MONOTONIC_COARSE: the clock is read without a system call, so a
 * program that runs without the module pays one open() a second at most.
 * Written after @family, so that a thread that finds it set finds the number.
 */
static atomic_long look_again;

/* Several threads may look at the same time, which does no harm. */
static int family_look(void)
{
	struct timespec now;
	int number;

	if (clock_gettime(CLOCK_MONOTONIC_COARSE, &now))
		return 0;
	if (now.tv_sec < atomic_load_explicit(&look_again, memory_order_acquire))
		return atomic_load_explicit(&family, memory_order_relaxed);

	number = sanx_family_read();
	atomic_store_explicit(&family, number, memory_order_relaxed);
	atomic_store_explicit(&look_again, now.tv_sec + 1, memory_order_release);
	return number;
}

static int family_number(void)
{
	int number = atomic_load_explicit(&family, memory_order_relaxed);

	return number ? number : family_look();
}

/*
 * The module is gone.  Without this, every later socket() would have the
 * kernel start modprobe for a family that nobody has.
 */
static void family_gone(void)
{
	atomic_store_explicit(&family, 0, memory_order_relaxed);
}

static bool wants_tcp(int domain, int type, int protocol)
{
	if (domain != AF_INET && domain != AF_INET6)
		return false;
	if ((type & ~(SOCK_NONBLOCK | SOCK_CLOEXEC)) != SOCK_STREAM)
		return false;
	return protocol == 0 || protocol == IPPROTO_TCP;
}

static int socket_sanx(int domain, int type)
{
	int protocol = domain == AF_INET6 ? SANXPROTO_INET6 : SANXPROTO_INET;
	int number = family_number();

	if (!number) {
		errno = EAFNOSUPPORT;
		return -1;
	}
	return syscall(SYS_socket, number, type, protocol);
}

/* Does this error say that the family is not to be had, rather than a socket? */
static bool family_refused(int error)
{
	switch (error) {
	case EAFNOSUPPORT:
		family_gone();
		return true;
	case ESOCKTNOSUPPORT:
	case EPROTONOSUPPORT:
	case EACCES:		/* a security module does not know it */
	case EPERM:		/* nor does a sandbox */
		return true;
	default:
		return false;
	}
}

static int socket_any(int domain, int type, int protocol)
{
	int saved = errno;
	int fd;

	if (wants_tcp(domain, type, protocol)) {
		fd = socket_sanx(domain, type);
		if (fd < 0 && !family_refused(errno))
			return fd;
		errno = saved;
		if (fd >= 0)
			return fd;
	}

	return syscall(SYS_socket, domain, type, protocol);
}

__visible int socket(int domain, int type, int protocol)
{
	return socket_any(domain, type, protocol);
}

/* What glibc's own libraries call it. */
__visible int __socket(int domain, int type, int protocol)
{
	return socket_any(domain, type, protocol);
}
