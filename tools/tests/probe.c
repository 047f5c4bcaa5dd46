// SPDX-License-Identifier: GPL-2.0
/*
 * Prints the kind of socket that a program gets.  Each word is one way to make
 * it.
 *
 *	probe WORD...
 *
 * A socket is printed as DOMAIN/FLAGS, with n for O_NONBLOCK and c for
 * FD_CLOEXEC, or as its error.  A "!" means that errno was changed.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "words.h"

static int early_fd;
static int early_left;
static atomic_int handler_fd;

/* Seconds, which only "wait" lets pass. */
static time_t now = 1000;

/* The preload library's: how often it looks does not depend on how fast the host is. */
int clock_gettime(clockid_t id, struct timespec *time)
{
	if (id != CLOCK_MONOTONIC_COARSE)
		return syscall(SYS_clock_gettime, id, time);
	*time = (struct timespec) { .tv_sec = now };
	return 0;
}

/* A program's constructor may run before that of a library. */
__attribute__((constructor(101)))
static void early(void)
{
	int before = dup(0);

	/*
	 * The first socket() reads the family's number, and must close that
	 * file.
	 */
	close(before);
	early_fd = socket(AF_INET, SOCK_STREAM, 0);
	early_left = early_fd - before;
}

static void tell(const char *word, int fd)
{
	int domain = -1;
	socklen_t len = sizeof(domain);

	if (fd < 0) {
		printf("%s:%s\n", word, strerrorname_np(errno));
		return;
	}

	printf("%s:", word);
	if (errno != 1234)
		printf("!");
	getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &len);
	printf("%s/%s%s\n", domain == AF_INET ? "inet" : domain == AF_INET6 ? "inet6" :
	       domain == AF_UNIX ? "unix" : "other",
	       fcntl(fd, F_GETFL) & O_NONBLOCK ? "n" : "",
	       fcntl(fd, F_GETFD) & FD_CLOEXEC ? "c" : "");
	close(fd);
}

static void *thread(void *barrier)
{
	pthread_barrier_wait(barrier);
	return (void *)(long)socket(AF_INET, SOCK_STREAM, 0);
}

static void try_threads(const char *word)
{
	pthread_barrier_t barrier;
	pthread_t id[8];
	void *fd;
	size_t i;

	pthread_barrier_init(&barrier, NULL, ARRAY_SIZE(id));
	for (i = 0; i < ARRAY_SIZE(id); i++)
		pthread_create(&id[i], NULL, thread, &barrier);
	for (i = 0; i < ARRAY_SIZE(id); i++) {
		pthread_join(id[i], &fd);
		tell(word, (long)fd);
	}
}

/* socket() is not a cancellation point: the thread survives it. */
static void *cancelled(void *data)
{
	(void)data;
	pthread_cancel(pthread_self());
	return (void *)(long)socket(AF_INET, SOCK_STREAM, 0);
}

static void try_cancel(const char *word)
{
	pthread_t id;
	void *fd;

	pthread_create(&id, NULL, cancelled, NULL);
	pthread_join(id, &fd);
	if (fd == PTHREAD_CANCELED)
		printf("%s:cancelled\n", word);
	else
		tell(word, (long)fd);
}

static void handler(int sig)
{
	(void)sig;
	handler_fd = socket(AF_INET, SOCK_STREAM, 0);
}

static void try_vfork(const char *word)
{
	int status;

	if (!vfork())
		_exit(socket(AF_INET, SOCK_STREAM, 0) < 0);
	wait(&status);
	printf("%s:%s\n", word, status ? "failed" : "made");
}

static int option_get(int fd, int number)
{
	int value = -1;
	socklen_t len = sizeof(value);

	getsockopt(fd, SOL_SOCKET, number, &value, &len);
	return value;
}

/* What options a socket has that nobody has set any of. */
static void try_options(const char *word, int type)
{
	int fd = socket(AF_INET, type, 0);

	printf("%s:%d/%d\n", word, option_get(fd, SO_RCVBUF), option_get(fd, SO_KEEPALIVE));
	close(fd);
}

/* From now on open() fails; @action selects how. */
static void sandbox(u32 action)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, action),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog prog = { .len = ARRAY_SIZE(code), .filter = code };

	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog))
		perror("seccomp");
}

/* Loads the family.  Its number is that of AF_UNIX, so socket() succeeds. */
static void module_load(void)
{
	FILE *file = fopen(getenv("PROBE_FAMILY"), "w");

	fprintf(file, "%d\n", AF_UNIX);
	fclose(file);
}

struct plain {
	const char *word;
	int domain;
	int type;
	int protocol;
};

static const struct plain plain[] = {
	{ "tcp", AF_INET, SOCK_STREAM, 0 },
	{ "tcp-named", AF_INET, SOCK_STREAM, IPPROTO_TCP },
	{ "tcp-flags", AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0 },
	{ "tcp6", AF_INET6, SOCK_STREAM, 0 },
	{ "udp", AF_INET, SOCK_DGRAM, 0 },
	{ "udp-proto", AF_INET, SOCK_DGRAM, IPPROTO_TCP },
	{ "odd-proto", AF_INET, SOCK_STREAM, 9999 },
	{ "odd-type", AF_INET, 77, 0 },
	{ "odd-flags", AF_INET, SOCK_STREAM | 0x100000, 0 },
	{ "odd-domain", 12345, SOCK_STREAM, 0 },
};

static bool try_plain(const char *word)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(plain); i++) {
		if (strcmp(word, plain[i].word))
			continue;
		errno = 1234;
		tell(word, socket(plain[i].domain, plain[i].type, plain[i].protocol));
		return true;
	}

	return false;
}

static void try(const char *word)
{
	if (try_plain(word))
		return;

	errno = 1234;
	if (!strcmp(word, "early"))
		tell(word, early_fd);
	else if (!strcmp(word, "threads"))
		try_threads(word);
	else if (!strcmp(word, "cancel"))
		try_cancel(word);
	else if (!strcmp(word, "vfork"))
		try_vfork(word);
	else if (!strcmp(word, "options"))
		try_options(word, SOCK_STREAM);
	else if (!strcmp(word, "clearenv"))
		clearenv();
	else if (!strcmp(word, "udp-options"))
		try_options(word, SOCK_DGRAM);
	else if (!strcmp(word, "sandbox"))
		sandbox(SECCOMP_RET_ERRNO | EACCES);
	else if (!strcmp(word, "sandbox-kill"))
		sandbox(SECCOMP_RET_KILL_PROCESS);
	else if (!strcmp(word, "files"))
		printf("%s:%d\n", word, early_left);
	else if (!strcmp(word, "wait"))
		now += 3;
	else if (!strcmp(word, "load"))
		module_load();
	else if (!strcmp(word, "unload"))
		unlink(getenv("PROBE_FAMILY"));
	else
		printf("%s:unknown\n", word);
}

int main(int argc, char **argv)
{
	int i;

	if (argc > 1 && !strcmp(argv[1], "signal")) {
		signal(SIGUSR1, handler);
		raise(SIGUSR1);
		errno = 1234;
		tell("signal", handler_fd);
		return 0;
	}

	for (i = 1; i < argc; i++)
		try(argv[i]);
	return 0;
}
