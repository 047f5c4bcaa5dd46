// SPDX-License-Identifier: GPL-2.0
/*
 * Runs programs.  Each call is made by a thread of its own, so that the next one can be
 * made while it waits; when all were made, those that still wait are interrupted.
 *
 * What a program has opened is closed behind it.  A call that does not return by then, and
 * does not let itself be interrupted, is a finding.
 */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <linux/close_range.h>

#include "calls.h"
#include "scripts/syzkaller/syz_sanx.h"

/* Calls that may wait at a time. */
#define THREADS		6
/* How long a program waits for a call, for the peer, and at its end for all calls. */
#define CALL_MS		15
#define PEER_MS		500
#define END_MS		60
/* A call that takes so long, interrupted again and again, hangs. */
#define HANG_MS		60000
/* Files above these are not programs'. */
#define LAST_FD		899

/**
 * struct thread - makes one call at a time
 * @id: the thread
 * @tid: for whoever looks for it in the kernel's log
 * @todo: there is a call to make, by @call and @args, or files to close
 * @call: number in the program; -1 to close files
 * @nr: number of the system call, or negative for pseudo-calls
 * @args: its arguments
 * @new: places that it was the first to cover
 */
struct thread {
	pthread_t id;
	pid_t tid;
	bool todo;
	int call;
	long nr;
	struct args args;
	unsigned int new;
};

static struct thread threads[THREADS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t work = PTHREAD_COND_INITIALIZER, done = PTHREAD_COND_INITIALIZER;
static struct results results[PROG_CALLS];
static int first_fd;

static const struct sys {
	const char *name;
	long nr;
} syscalls[] = {
	{ "socket", SYS_socket }, { "socketpair", SYS_socketpair }, { "bind", SYS_bind },
	{ "connect", SYS_connect }, { "listen", SYS_listen }, { "accept", SYS_accept },
	{ "accept4", SYS_accept4 }, { "getsockname", SYS_getsockname },
	{ "getpeername", SYS_getpeername }, { "shutdown", SYS_shutdown },
	{ "close", SYS_close }, { "dup", SYS_dup }, { "dup2", SYS_dup2 },
	{ "fcntl", SYS_fcntl }, { "write", SYS_write }, { "writev", SYS_writev },
	{ "read", SYS_read }, { "readv", SYS_readv }, { "sendto", SYS_sendto },
	{ "recvfrom", SYS_recvfrom }, { "sendmsg", SYS_sendmsg },
	{ "sendmmsg", SYS_sendmmsg }, { "recvmsg", SYS_recvmsg },
	{ "recvmmsg", SYS_recvmmsg }, { "poll", SYS_poll },
	{ "epoll_create1", SYS_epoll_create1 }, { "epoll_ctl", SYS_epoll_ctl },
	{ "epoll_wait", SYS_epoll_wait }, { "memfd_create", SYS_memfd_create },
	{ "ftruncate", SYS_ftruncate }, { "pipe2", SYS_pipe2 },
	{ "sendfile", SYS_sendfile }, { "splice", SYS_splice },
	{ "setsockopt", SYS_setsockopt }, { "getsockopt", SYS_getsockopt },
	{ "ioctl", SYS_ioctl },
	{ "syz_sanx_peer", -1 }, { "syz_genetlink_get_family_id", -2 },
};

static const struct sys *find_sys(const char *name)
{
	size_t len = strcspn(name, "$"), i;

	for (i = 0; i < sizeof(syscalls) / sizeof(*syscalls); i++)
		if (strlen(syscalls[i].name) == len && !strncmp(syscalls[i].name, name, len))
			return &syscalls[i];
	return NULL;
}

/**
 * exec_known() - can it be made?
 * @name: a call
 */
bool exec_known(const char *name)
{
	return find_sys(name);
}

static long now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

/* The id of a family: of the first one that is asked for, as there is one only. */
static long family_id(const char *name)
{
	static long id;
	FILE *f;

	/* exec_init() has asked for it. */
	if (id || !name)
		return id;
	f = popen("genl ctrl get name sanx 2>/dev/null | grep -o '0x[0-9a-f]*' | head -n 1", "r");
	if (!f || fscanf(f, "%li", &id) != 1)
		fail("netlink has no family %s", name);
	pclose(f);
	return id;
}

static long make_call(const struct thread *t)
{
	const uint64_t *a = t->args.arg;
	long ret;

	if (t->call < 0)
		return syscall(SYS_close_range, first_fd, LAST_FD, 0);
	if (t->nr == -1)
		return syz_sanx_peer(a[0], a[1], a[2]);
	if (t->nr == -2)
		return family_id(NULL);
	ret = syscall(t->nr, a[0], a[1], a[2], a[3], a[4], a[5]);
	return ret;
}

static void keep_results(const struct thread *t, long ret)
{
	unsigned int i;

	if (t->call < 0)
		return;
	results[t->call].value[0] = ret;
	for (i = 0; ret >= 0 && i < t->args.n_outs; i++)
		results[t->call].value[1 + i] = value_out(&t->args, i);
}

static void *thread_run(void *arg)
{
	struct thread *t = arg;
	void *area = cover_thread();
	unsigned int new;
	long ret;

	pthread_mutex_lock(&lock);
	t->tid = gettid();
	pthread_cond_broadcast(&done);
	for (;;) {
		while (!t->todo)
			pthread_cond_wait(&work, &lock);
		pthread_mutex_unlock(&lock);
		cover_reset(area);
		ret = make_call(t);
		new = cover_take(area);
		pthread_mutex_lock(&lock);
		keep_results(t, ret);
		t->new += new;
		t->todo = false;
		pthread_cond_broadcast(&done);
	}
	return NULL;
}

static void nothing(int sig)
{
	(void)sig;
}

/**
 * exec_init() - make the threads
 *
 * What is open now stays open.
 */
void exec_init(void)
{
	struct sigaction sa = { .sa_handler = nothing };
	unsigned int i;

	sigaction(SIGUSR1, &sa, NULL);
	signal(SIGIO, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
	family_id("sanx");
	for (i = 0; i < THREADS; i++) {
		if (pthread_create(&threads[i].id, NULL, thread_run, &threads[i]))
			fail("no thread");
	}
	pthread_mutex_lock(&lock);
	for (i = 0; i < THREADS; i++)
		while (!threads[i].tid)
			pthread_cond_wait(&done, &lock);
	pthread_mutex_unlock(&lock);
	first_fd = dup(0);
	close(first_fd);
}

/* Waits until @t, or with NULL each thread, has returned; false when time is up. */
static bool wait_for(const struct thread *t, long ms)
{
	long end = now_ms() + ms;
	struct timespec ts;
	unsigned int i;
	bool busy;

	for (;;) {
		busy = t && t->todo;
		for (i = 0; !t && i < THREADS; i++)
			busy |= threads[i].todo;
		if (!busy)
			return true;
		if (now_ms() >= end)
			return false;
		clock_gettime(CLOCK_REALTIME, &ts);
		ts.tv_nsec += 2000000;
		if (ts.tv_nsec >= 1000000000) {
			ts.tv_nsec -= 1000000000;
			ts.tv_sec++;
		}
		pthread_cond_timedwait(&done, &lock, &ts);
	}
}

static void tell_hang(const struct prog *p)
{
	unsigned int i;

	for (i = 0; i < THREADS; i++)
		if (threads[i].todo)
			printf("HANG: task %d: %s\n", threads[i].tid, threads[i].call < 0 ?
			       "close" : calls[p->call[threads[i].call].desc].name);
	fflush(stdout);
	_exit(3);
}

static void interrupt_all(const struct prog *p)
{
	long end = now_ms() + HANG_MS;
	unsigned int i;

	while (!wait_for(NULL, 20)) {
		if (now_ms() > end)
			tell_hang(p);
		for (i = 0; i < THREADS; i++)
			if (threads[i].todo)
				pthread_kill(threads[i].id, SIGUSR1);
	}
}

static struct thread *idle_thread(void)
{
	unsigned int i;

	for (i = 0; i < THREADS; i++)
		if (!threads[i].todo)
			return &threads[i];
	return NULL;
}

static void start(struct thread *t, int call, long nr)
{
	t->call = call;
	t->nr = nr;
	t->todo = true;
	pthread_cond_broadcast(&work);
}

static void close_all(const struct prog *p)
{
	start(&threads[0], -1, 0);
	if (!wait_for(NULL, END_MS))
		interrupt_all(p);
}

/**
 * exec_prog() - run a program
 * @p: the program
 * Return: how many places were covered for the first time.
 */
unsigned int exec_prog(struct prog *p)
{
	unsigned int i, new = 0;
	struct thread *t;

	pthread_mutex_lock(&lock);
	memset(results, -1, sizeof(results));
	for (i = 0; i < p->n; i++) {
		t = idle_thread();
		if (!t)
			break;
		value_args(p, i, results, false, &t->args);
		start(t, i, find_sys(calls[p->call[i].desc].name)->nr);
		if (!p->call[i].apart)
			wait_for(t, t->nr == -1 ? PEER_MS : CALL_MS);
	}
	if (!wait_for(NULL, END_MS))
		interrupt_all(p);
	close_all(p);
	for (i = 0; i < THREADS; i++) {
		new += threads[i].new;
		threads[i].new = 0;
	}
	pthread_mutex_unlock(&lock);
	return new + cover_take_remote();
}
