// SPDX-License-Identifier: GPL-2.0
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <linux/filter.h>
#include <linux/sockios.h>

#include "node.h"
#include "util.h"

/**
 * address_make() - an address from its text
 * @a: filled
 * @text: IPv4, IPv6, or "node:ID" for an explicit socket
 * @port: in host byte order
 */
void address_make(struct address *a, const char *text, uint32_t port)
{
	struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)&a->ss;
	struct sockaddr_in *in = (struct sockaddr_in *)&a->ss;

	memset(a, 0, sizeof(*a));
	if (inet_pton(AF_INET, text, &in->sin_addr) == 1) {
		in->sin_family = AF_INET;
		a->len = sizeof(*in);
	} else if (inet_pton(AF_INET6, text, &in6->sin6_addr) == 1) {
		in6->sin6_family = AF_INET6;
		a->len = sizeof(*in6);
	} else if (sscanf(text, "node:%u", &a->sx.sanx_node) == 1) {
		a->sx.sanx_family = node_family();
		a->len = sizeof(a->sx);
	} else {
		fprintf(stderr, "# '%s' is no address\n", text);
		exit(1);
	}
	address_set_port(a, port);
}

/**
 * address_map() - an IPv4 address as IPv6
 * @a: filled with the v4-mapped address
 * @v4: the IPv4 address
 */
void address_map(struct address *a, const struct address *v4)
{
	const struct sockaddr_in *in = (const struct sockaddr_in *)&v4->ss;
	struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)&a->ss;

	memset(a, 0, sizeof(*a));
	in6->sin6_family = AF_INET6;
	in6->sin6_port = in->sin_port;
	in6->sin6_addr.s6_addr[10] = 0xff;
	in6->sin6_addr.s6_addr[11] = 0xff;
	memcpy(&in6->sin6_addr.s6_addr[12], &in->sin_addr, 4);
	a->len = sizeof(*in6);
}

static bool is_explicit(const struct address *a)
{
	return a->sa.sa_family != AF_INET && a->sa.sa_family != AF_INET6;
}

uint32_t address_port(const struct address *a)
{
	if (is_explicit(a))
		return a->sx.sanx_port;
	/* The others have it at the same place. */
	return ntohs(((const struct sockaddr_in *)&a->ss)->sin_port);
}

void address_set_port(struct address *a, uint32_t port)
{
	if (is_explicit(a))
		a->sx.sanx_port = port;
	else
		((struct sockaddr_in *)&a->ss)->sin_port = htons(port);
}

/* Are family, address and port the same? */
bool address_equal(const struct address *a, const struct address *b)
{
	const struct sockaddr_in6 *a6 = (const struct sockaddr_in6 *)&a->ss;
	const struct sockaddr_in6 *b6 = (const struct sockaddr_in6 *)&b->ss;
	const struct sockaddr_in *a4 = (const struct sockaddr_in *)&a->ss;
	const struct sockaddr_in *b4 = (const struct sockaddr_in *)&b->ss;

	if (a->len == b->len && is_explicit(a))
		return !memcmp(&a->sx, &b->sx, sizeof(a->sx));
	if (a->len != b->len || a->sa.sa_family != b->sa.sa_family ||
	    a4->sin_port != b4->sin_port)
		return false;
	if (a->sa.sa_family == AF_INET)
		return a4->sin_addr.s_addr == b4->sin_addr.s_addr;
	return !memcmp(&a6->sin6_addr, &b6->sin6_addr, sizeof(a6->sin6_addr));
}

int local_address(int fd, struct address *a)
{
	memset(a, 0, sizeof(*a));
	a->len = sizeof(a->ss);
	return rc(getsockname(fd, &a->sa, &a->len));
}

int peer_address(int fd, struct address *a)
{
	memset(a, 0, sizeof(*a));
	a->len = sizeof(a->ss);
	return rc(getpeername(fd, &a->sa, &a->len));
}

long now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

void sleep_ms(long ms)
{
	struct timespec ts = { ms / 1000, ms % 1000 * 1000000 };

	while (nanosleep(&ts, &ts) && errno == EINTR)
		;
}

/* poll_one() - what a poll() of one descriptor says: revents or -errno */
int poll_one(int fd, int events, int timeout_ms)
{
	struct pollfd p = { .fd = fd, .events = events };
	int n = poll(&p, 1, timeout_ms);

	return n < 0 ? -errno : p.revents;
}

/**
 * poll_settled() - poll() until nothing changes any more
 * @p: filled as for poll(); the answers of the last call
 * @n: of these
 */
void poll_settled(struct pollfd *p, int n)
{
	struct pollfd *before = malloc(n * sizeof(*p));
	int same = 0;

	poll(p, n, 0);
	while (same < 2) {
		memcpy(before, p, n * sizeof(*p));
		sleep_ms(2);
		poll(p, n, 0);
		same = memcmp(before, p, n * sizeof(*p)) ? 0 : same + 1;
	}
	free(before);
}

/* bytes_unread() - bytes that SIOCINQ counts, or -errno */
int bytes_unread(int fd)
{
	int n = 0;

	return rc(ioctl(fd, SIOCINQ, &n)) ?: n;
}

int set_nonblock(int fd, bool on)
{
	int flags = fcntl(fd, F_GETFL);

	return rc(fcntl(fd, F_SETFL, on ? flags | O_NONBLOCK :
					  flags & ~O_NONBLOCK));
}

int set_option(int fd, int level, int name, int value)
{
	return rc(setsockopt(fd, level, name, &value, sizeof(value)));
}

/* get_option() - an option's value, or -errno */
int get_option(int fd, int level, int name)
{
	int value = 0;
	socklen_t len = sizeof(value);

	if (getsockopt(fd, level, name, &value, &len))
		return -errno;
	return value;
}

int set_timeout(int fd, int name, long ms)
{
	struct timeval tv = { ms / 1000, ms % 1000 * 1000 };

	return rc(setsockopt(fd, SOL_SOCKET, name, &tv, sizeof(tv)));
}

int set_linger(int fd, int seconds)
{
	struct linger linger = { 1, seconds };

	return rc(setsockopt(fd, SOL_SOCKET, SO_LINGER, &linger,
			     sizeof(linger)));
}

/**
 * attach_program() - a filter, or a program of a group of SO_REUSEPORT
 * @fd: the socket
 * @name: SO_ATTACH_FILTER or SO_ATTACH_REUSEPORT_CBPF
 * @value: what the program returns, for each packet
 *
 * Return: 0 or -errno.
 */
int attach_program(int fd, int name, unsigned int value)
{
	struct sock_filter insn = BPF_STMT(BPF_RET | BPF_K, value);
	struct sock_fprog prog = { .len = 1, .filter = &insn };

	return rc(setsockopt(fd, SOL_SOCKET, name, &prog, sizeof(prog)));
}

/* close_reset() - close so that the peer gets ECONNRESET */
int close_reset(int fd)
{
	int err = set_linger(fd, 0);

	return err ?: rc(close(fd));
}

/* A prime number of bytes, so that nothing in powers of two can hide in it. */
#define PATTERN	65521
static unsigned char pattern[2 * PATTERN];

static void __attribute__((constructor)) pattern_make(void)
{
	uint32_t x = 2463534242u;
	int i;

	for (i = 0; i < PATTERN; i++) {
		x ^= x << 13;
		x ^= x >> 17;
		x ^= x << 5;
		pattern[i] = x >> 24;
		pattern[i + PATTERN] = pattern[i];
	}
}

/**
 * pattern_fill() - the bytes of a stream, from an offset of it
 * @buf: filled
 * @len: bytes
 * @offset: where in the stream; different streams start far apart
 */
void pattern_fill(void *buf, size_t len, uint64_t offset)
{
	size_t n;

	while (len) {
		n = len < PATTERN ? len : PATTERN;
		memcpy(buf, pattern + offset % PATTERN, n);
		buf = (char *)buf + n;
		offset += n;
		len -= n;
	}
}

bool pattern_check(const void *buf, size_t len, uint64_t offset)
{
	size_t n;

	while (len) {
		n = len < PATTERN ? len : PATTERN;
		if (memcmp(buf, pattern + offset % PATTERN, n))
			return false;
		buf = (const char *)buf + n;
		offset += n;
		len -= n;
	}
	return true;
}

/**
 * send_pattern() - send part of a stream
 * @fd: a blocking socket
 * @len: bytes
 * @chunk: at most that many a call; 0 for random sizes
 * @offset: where in the stream
 *
 * Return: 0, or -errno.
 */
int send_pattern(int fd, size_t len, size_t chunk, uint64_t offset)
{
	size_t room = chunk ?: 3 * PATTERN / 2, n;
	char *buf = malloc(room);
	ssize_t done;
	int err = 0;

	while (len && !err) {
		n = chunk ?: 1 + dice(room);
		if (n > len)
			n = len;
		pattern_fill(buf, n, offset);
		done = send(fd, buf, n, MSG_NOSIGNAL);
		if (done < 0) {
			err = -errno;
		} else {
			offset += done;
			len -= done;
		}
	}
	free(buf);
	return err;
}

/**
 * recv_pattern() - receive part of a stream and check it
 * @fd: a blocking socket
 * @len: bytes
 * @chunk: at most that many a call; 0 for random sizes
 * @offset: where in the stream
 *
 * Return: 0; -EBADMSG for other bytes; -ENODATA for an early end; or -errno.
 */
int recv_pattern(int fd, size_t len, size_t chunk, uint64_t offset)
{
	size_t room = chunk ?: 3 * PATTERN / 2, n;
	char *buf = malloc(room);
	ssize_t done;
	int err = 0;

	while (len && !err) {
		n = chunk ?: 1 + dice(room);
		done = recv(fd, buf, n < len ? n : len, 0);
		if (done <= 0) {
			err = done ? -errno : -ENODATA;
		} else if (!pattern_check(buf, done, offset)) {
			err = -EBADMSG;
		} else {
			offset += done;
			len -= done;
		}
	}
	free(buf);
	return err;
}

/* recv_exact() - receive until @len bytes, an end or an error; bytes, -errno */
ssize_t recv_exact(int fd, void *buf, size_t len)
{
	size_t got = 0;
	ssize_t n;

	while (got < len) {
		n = recv(fd, (char *)buf + got, len - got, 0);
		if (n < 0)
			return -errno;
		if (!n)
			break;
		got += n;
	}
	return got;
}

/*
 * fill_socket() - send without waiting until there is no more room
 *
 * The bytes are a stream from offset 0.  "No more" is when it stays so
 * for a moment, as TCP moves bytes on from one queue to the next.
 * @settle_ms: that moment
 * Return: bytes; -errno if it ends otherwise than with EAGAIN; -ELOOP if poll()
 * promises room that there is not.
 */
ssize_t fill_socket(int fd, int settle_ms)
{
	bool promised = false;
	size_t sent = 0;
	char buf[16384];
	int full = 0;
	ssize_t n;

	for (;;) {
		pattern_fill(buf, sizeof(buf), sent);
		n = send(fd, buf, sizeof(buf), MSG_DONTWAIT | MSG_NOSIGNAL);
		if (n > 0) {
			sent += n;
			promised = false;
			continue;
		}
		if (errno != EAGAIN)
			return -errno;
		if (poll_one(fd, POLLOUT, settle_ms) & POLLOUT) {
			if (promised)
				return -ELOOP;
			promised = true;
			full = 0;
		} else if (full++ == 2) {
			return sent;
		}
	}
}

/* drain_socket() - receive and check @len bytes of a stream from offset 0 */
ssize_t drain_socket(int fd, size_t len)
{
	int err = recv_pattern(fd, len, 16384, 0);

	return err ?: (ssize_t)len;
}

static __thread uint32_t dice_state = 88172645u;

/* dice_seed() - other numbers for this thread, the same ones for this seed */
void dice_seed(uint32_t seed)
{
	/* Neighbours are to have little in common, and no state is 0. */
	seed ^= seed >> 16;
	seed *= 0x7feb352du;
	seed ^= seed >> 15;
	seed *= 0x846ca68bu;
	seed ^= seed >> 16;
	dice_state = seed ?: 1;
}

/* dice() - a number below @sides, the same ones in every run */
unsigned int dice(unsigned int sides)
{
	uint32_t x = dice_state;

	x ^= x << 13;
	x ^= x >> 17;
	x ^= x << 5;
	dice_state = x;
	return x % sides;
}

static void *task_main(void *arg)
{
	struct task *t = arg;
	long start = now_ms();

	t->tid = syscall(SYS_gettid);
	t->ret = rc(t->fn(t));
	t->ms = now_ms() - start;
	t->done = true;
	return NULL;
}

/* task_start() - start a thread that calls t->fn */
void task_start(struct task *t)
{
	t->tid = 0;
	t->done = false;
	errno = pthread_create(&t->thread, NULL, task_main, t);
	if (errno) {
		perror("# pthread_create");
		abort();
	}
}

/* The letter of a thread's state in /proc, 0 for none. */
static char thread_state(pid_t tid)
{
	char path[64], state = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", tid);
	f = fopen(path, "r");
	if (!f)
		return 0;
	if (fscanf(f, "%*d (%*[^)]) %c", &state) != 1)
		state = 0;
	fclose(f);
	return state;
}

/* inode_of() - the inode number of what is open, or 0 */
unsigned long inode_of(int fd)
{
	struct stat st;

	return fstat(fd, &st) ? 0 : st.st_ino;
}

/* task_blocked() - does the thread come to sleep in its call? */
bool task_blocked(struct task *t)
{
	long end = now_ms() + SOON;
	int asleep = 0;

	while (now_ms() < end && !t->done) {
		asleep = t->tid && thread_state(t->tid) == 'S' ? asleep + 1 : 0;
		if (asleep == 5)
			return true;
		sleep_ms(2);
	}
	return false;
}

static volatile sig_atomic_t signals;

static void count_signal(int sig)
{
	(void)sig;
	signals++;
}

/* signal_handle() - SIGUSR1 interrupts calls, or lets them go on (SA_RESTART) */
void signal_handle(bool restart)
{
	struct sigaction sa = {
		.sa_handler = count_signal,
		.sa_flags = restart ? SA_RESTART : 0,
	};

	signals = 0;
	sigaction(SIGUSR1, &sa, NULL);
}

/* task_interrupt() - start a task, and once it blocks send it SIGUSR1 */
bool task_interrupt(struct task *t)
{
	long end = now_ms() + SOON;

	task_start(t);
	if (!task_blocked(t))
		return false;
	pthread_kill(t->thread, SIGUSR1);
	while (!signals && now_ms() < end)
		sleep_ms(1);
	return signals;
}

/* task_wait() - 0 once the thread has ended, -ETIMEDOUT if it does not */
int task_wait(struct task *t)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	ts.tv_sec += SOON / 1000;
	return -pthread_timedjoin_np(t->thread, NULL, &ts);
}

long task_recv(struct task *t)
{
	return recv(t->fd, t->buf, t->len, t->flags);
}

long task_send(struct task *t)
{
	return send(t->fd, t->buf, t->len, t->flags | MSG_NOSIGNAL);
}

long task_accept(struct task *t)
{
	return accept(t->fd, NULL, NULL);
}

/* @buf is a struct address */
long task_connect(struct task *t)
{
	struct address *a = t->buf;

	return connect(t->fd, &a->sa, a->len);
}

/* Receives @len bytes of the stream from offset 0, random sizes. */
long task_recv_all(struct task *t)
{
	int err = recv_pattern(t->fd, t->len, 0, t->flags);

	errno = -err;
	return err ? -1 : 0;
}

long task_send_all(struct task *t)
{
	int err = send_pattern(t->fd, t->len, 0, t->flags);

	errno = -err;
	return err ? -1 : 0;
}

/* child_start() - fork(); the child goes with its parent */
pid_t child_start(void)
{
	pid_t pid = fork();

	if (!pid)
		prctl(PR_SET_PDEATHSIG, SIGKILL);
	return pid;
}

/* child_wait() - exit status of a child, -signal, or -ETIMEDOUT */
int child_wait(pid_t pid)
{
	long end = now_ms() + SOON;
	int status;

	while (!waitpid(pid, &status, WNOHANG)) {
		if (now_ms() > end) {
			kill(pid, SIGKILL);
			waitpid(pid, &status, 0);
			return -ETIMEDOUT;
		}
		sleep_ms(1);
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

/**
 * write_file() - write a file of the kernel's
 * @path: the file, which is there
 * @text: all of it
 *
 * Return: 0; -errno; or how much of it was taken.
 */
int write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC), n;

	if (fd < 0)
		return -errno;
	n = rc(write(fd, text, strlen(text)));
	close(fd);
	return n == strlen(text) ? 0 : n;
}

/**
 * read_number() - read a file of the kernel's
 * @path: the file
 *
 * Return: the number in it, or -errno.
 */
long read_number(const char *path)
{
	char buf[32] = "";
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	if (read(fd, buf, sizeof(buf) - 1) < 0)
		buf[0] = 0;
	close(fd);
	return atol(buf);
}
