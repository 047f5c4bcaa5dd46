// SPDX-License-Identifier: GPL-2.0
/*
 * libsanx-preload: makes the TCP sockets of a program AF_SANX sockets.
 * libsanx-preload-dgram, made of the same source with SANX_PRELOAD_DGRAM: its UDP
 * sockets, too.
 *
 * It replaces socket() only, and only for TCP and UDP.  The kernel does the rest; see
 * af_sanx(7) and sanx-run(1).
 *
 * A program may call socket() in a signal handler, between vfork() and exec(),
 * under the dynamic loader's lock, before any constructor ran, and in a
 * sandbox.  The library must not break that.  So it has no constructor and no
 * lock, does not allocate memory, and makes the system call directly.
 * dlsym(RTLD_NEXT) would take the loader's lock.  A library that also replaces
 * socket() is called only if it comes earlier in the search order, so sanx-run
 * puts this library last.
 *
 * Invariant: @family and @look_again are atomic and need no lock, as are @dgram and
 * @dgram_again.  @family is stored before @look_again (release), and loaded after it
 * (acquire), both in family_look(); @dgram likewise in wants_dgrams().  @tally and
 * @tally_known likewise in tally_key().
 */
#include <errno.h>
#include <netinet/in.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <linux/sanx.h>

#include "family.h"
#include "words.h"

/* The family's number, or 0 if it is not known. */
static atomic_int family;

/*
 * Time of the next look for the family, in seconds of CLOCK_MONOTONIC_COARSE.
 * That clock needs no system call.  So without the module, a program makes at
 * most one open() a second for this.
 */
static atomic_long look_again;

/* Several threads may look at the same time, which is harmless. */
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
 * The module is gone.  If @family were kept, each later socket() would make the
 * kernel start modprobe for the family.
 */
static void family_gone(void)
{
	atomic_store_explicit(&family, 0, memory_order_relaxed);
}

#ifdef SANX_PRELOAD_DGRAM
static bool wants_dgrams(void)
{
	return true;
}
#else
/* net.sanx.dgram as it was last looked at, and when it is looked at again. */
static atomic_bool dgram;
static atomic_long dgram_again;

/* The administrator has said so, a second ago or later. */
static bool wants_dgrams(void)
{
	struct timespec now;

	if (clock_gettime(CLOCK_MONOTONIC_COARSE, &now))
		return false;
	if (now.tv_sec >= atomic_load_explicit(&dgram_again, memory_order_acquire)) {
		atomic_store_explicit(&dgram, sanx_dgram_read(), memory_order_relaxed);
		atomic_store_explicit(&dgram_again, now.tv_sec + 1,
				      memory_order_release);
	}
	return atomic_load_explicit(&dgram, memory_order_relaxed);
}
#endif

/* Does the program want TCP, or UDP that is to be the family's? */
static bool wants_sanx(int domain, int type, int protocol)
{
	int errno_before = errno;
	bool wants;

	if (domain != AF_INET && domain != AF_INET6)
		return false;
	switch (type & ~(SOCK_NONBLOCK | SOCK_CLOEXEC)) {
	case SOCK_STREAM:
		return protocol == 0 || protocol == IPPROTO_TCP;
	case SOCK_DGRAM:
		wants = (protocol == 0 || protocol == IPPROTO_UDP) && wants_dgrams();
		errno = errno_before;
		return wants;
	default:
		return false;
	}
}

/* The number in SANX_TALLY_ENV, or 0. */
static atomic_ullong tally;
static atomic_bool tally_known;

/*
 * As getenv(), which programs replace by their own: bash(1) does.
 * Return: the value, or NULL.
 */
static const char *variable(const char *name)
{
	size_t len = strlen(name);
	char **v;

	for (v = environ; v && *v; v++)
		if (!strncmp(*v, name, len) && (*v)[len] == '=')
			return *v + len + 1;
	return NULL;
}

/* Programs may overwrite their environment later, so it is read once. */
static unsigned long long tally_key(void)
{
	const char *text;

	if (!atomic_load_explicit(&tally_known, memory_order_acquire)) {
		text = variable(SANX_TALLY_ENV);
		atomic_store_explicit(&tally, text ? strtoull(text, NULL, 16) : 0,
				      memory_order_relaxed);
		atomic_store_explicit(&tally_known, true, memory_order_release);
	}
	return atomic_load_explicit(&tally, memory_order_relaxed);
}

/* Has a socket counted, if sanx-run is to say what there was.  It works without, too. */
static void tally_join(int fd, int type)
{
	struct sanx_tally t = { };

	if (fd < 0 || (type & ~(SOCK_NONBLOCK | SOCK_CLOEXEC)) != SOCK_STREAM)
		return;
	t.key = tally_key();
	if (t.key)
		syscall(SYS_setsockopt, fd, SOL_SANX, SANX_TALLY, &t, sizeof(t));
}

static int socket_sanx(int domain, int type)
{
	int protocol = domain == AF_INET6 ? SANXPROTO_INET6 : SANXPROTO_INET;
	int number = family_number();
	int fd, error;

	if (!number) {
		errno = EAFNOSUPPORT;
		return -1;
	}
	fd = syscall(SYS_socket, number, type, protocol);
	error = errno;
	tally_join(fd, type);
	errno = error;
	return fd;
}

/* Does the error mean that the family is not available? */
static bool family_refused(int error)
{
	switch (error) {
	case EAFNOSUPPORT:
		family_gone();
		return true;
	case ESOCKTNOSUPPORT:
	case EPROTONOSUPPORT:
	case EACCES:		/* unknown to a security module */
	case EPERM:		/* or to a sandbox */
		return true;
	default:
		return false;
	}
}

static int socket_any(int domain, int type, int protocol)
{
	int saved = errno;
	int fd;

	if (wants_sanx(domain, type, protocol)) {
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

/* The name that glibc's own libraries use. */
__visible int __socket(int domain, int type, int protocol)
{
	return socket_any(domain, type, protocol);
}
