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
 * (acquire), both in family_look(); @dgram likewise in wants_dgrams().  @tally,
 * @options and @n_options are stored before @wishes_known, in wishes_read(), and loaded
 * after it, in wishes_apply().
 */
#include <errno.h>
#include <limits.h>
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

static int type_of(int type)
{
	return type & ~(SOCK_NONBLOCK | SOCK_CLOEXEC);
}

/* Does the program want TCP, or UDP that is to be the family's? */
static bool wants_sanx(int domain, int type, int protocol)
{
	int errno_before = errno;
	bool wants;

	if (domain != AF_INET && domain != AF_INET6)
		return false;
	switch (type_of(type)) {
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

/*
 * What sanx-run wants of each socket.  Programs may overwrite their environment later, so it
 * is read once; several threads may do so, and store the same.
 */
static atomic_ullong tally;	/* SANX_TALLY_ENV, or 0 */
static atomic_uint n_options;
static struct {
	atomic_int level;
	atomic_int number;
	atomic_int value;
} options[SANX_OPTIONS_MAX];	/* SANX_OPTIONS_ENV */
static atomic_bool wishes_known;

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

/* Return: what follows the number and the character behind it; NULL if it is not so. */
static const char *number_take(const char *text, atomic_int *to, char behind)
{
	char *end;
	long number;

	if (!text)
		return NULL;
	number = strtol(text, &end, 10);
	if (end == text || *end != behind || number < 0 || number > INT_MAX)
		return NULL;
	atomic_store_explicit(to, number, memory_order_relaxed);
	return end + 1;
}

static void options_read(const char *text)
{
	unsigned int n;

	for (n = 0; n < SANX_OPTIONS_MAX && text && *text; n++) {
		text = number_take(text, &options[n].level, ':');
		text = number_take(text, &options[n].number, ':');
		text = number_take(text, &options[n].value, ',');
		if (!text)
			break;
	}
	atomic_store_explicit(&n_options, n, memory_order_relaxed);
}

static void wishes_read(void)
{
	const char *key = variable(SANX_TALLY_ENV);

	/* The C library itself has not started yet. */
	if (!environ)
		return;
	atomic_store_explicit(&tally, key ? strtoull(key, NULL, 16) : 0, memory_order_relaxed);
	options_read(variable(SANX_OPTIONS_ENV));
	atomic_store_explicit(&wishes_known, true, memory_order_release);
}

static void option_set(int fd, int level, int number, const void *value, socklen_t len)
{
	syscall(SYS_setsockopt, fd, level, number, value, len);
}

/* The socket works without, too. */
static void wishes_apply(int fd, int type)
{
	bool stream = type_of(type) == SOCK_STREAM;
	struct sanx_tally t = { };
	int level, value;
	unsigned int i;

	if (!atomic_load_explicit(&wishes_known, memory_order_acquire))
		wishes_read();
	t.key = atomic_load_explicit(&tally, memory_order_relaxed);
	if (t.key && stream)
		option_set(fd, SOL_SANX, SANX_TALLY, &t, sizeof(t));
	for (i = 0; i < atomic_load_explicit(&n_options, memory_order_relaxed); i++) {
		level = atomic_load_explicit(&options[i].level, memory_order_relaxed);
		value = atomic_load_explicit(&options[i].value, memory_order_relaxed);
		if (stream || level == SOL_SOCKET)
			option_set(fd, level,
				   atomic_load_explicit(&options[i].number, memory_order_relaxed),
				   &value, sizeof(value));
	}
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
	if (fd < 0)
		return fd;
	error = errno;
	wishes_apply(fd, type);
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
