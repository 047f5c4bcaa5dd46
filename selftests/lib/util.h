/* SPDX-License-Identifier: GPL-2.0 */
/* What the tests share that has nothing to say about success. */
#ifndef SANX_UTIL_H
#define SANX_UTIL_H

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/types.h>

#include <linux/sanx.h>

/* How long to wait for what must happen; emulated nodes are slow. */
#define SOON	20000

/* How long to wait for what must not happen. */
#define A_WHILE	40

/*
 * A time limit to set, in ms, and the least to expect of it.  The kernel counts
 * such limits in ticks, and the ticks that an emulated CPU was late with come
 * together: over TCP, too, 50 ms have been seen to end after 42.
 */
#define LIMIT		200
#define LIMIT_AT_LEAST	(LIMIT / 2)

/**
 * struct address - a socket address
 * @len: bytes of it
 * @sa: to hand to calls
 * @sx: if it is that of an explicit socket
 * @ss: room
 */
struct address {
	socklen_t len;
	union {
		struct sockaddr		sa;
		struct sockaddr_sanx	sx;
		struct sockaddr_storage	ss;
	};
};

/* rc() - a call's result, with -errno for -1, so that one value tells all */
static inline long rc(long ret)
{
	return ret < 0 ? -errno : ret;
}

void address_make(struct address *a, const char *text, uint32_t port);
void address_map(struct address *a, const struct address *v4);
uint32_t address_port(const struct address *a);
void address_set_port(struct address *a, uint32_t port);
bool address_equal(const struct address *a, const struct address *b);
int local_address(int fd, struct address *a);
int peer_address(int fd, struct address *a);

long now_ms(void);
void sleep_ms(long ms);
int poll_one(int fd, int events, int timeout_ms);
void poll_settled(struct pollfd *p, int n);
int bytes_unread(int fd);
int set_nonblock(int fd, bool on);
int write_file(const char *path, const char *text);
long read_number(const char *path);

int set_option(int fd, int level, int name, int value);
int get_option(int fd, int level, int name);
int set_timeout(int fd, int name, long ms);
int set_linger(int fd, int seconds);
int attach_program(int fd, int name, unsigned int value);
int close_reset(int fd);

void pattern_fill(void *buf, size_t len, uint64_t offset);
bool pattern_check(const void *buf, size_t len, uint64_t offset);
int send_pattern(int fd, size_t len, size_t chunk, uint64_t offset);
int recv_pattern(int fd, size_t len, size_t chunk, uint64_t offset);
ssize_t recv_exact(int fd, void *buf, size_t len);
ssize_t fill_socket(int fd, int settle_ms);
ssize_t drain_socket(int fd, size_t len);
void dice_seed(uint32_t seed);
unsigned int dice(unsigned int sides);

/**
 * struct task - a call in a thread of its own
 * @fn: makes it and returns its result; errno is kept too
 * @fd: for @fn
 * @buf: for @fn
 * @len: for @fn
 * @flags: for @fn
 * @ret: what @fn returned, as rc()
 * @ms: how long it took
 * @tid: the thread
 * @done: it returned
 * @thread: the thread
 */
struct task {
	long		(*fn)(struct task *t);
	int		fd;
	void		*buf;
	size_t		len;
	int		flags;
	long		ret;
	long		ms;
	volatile pid_t	tid;
	volatile bool	done;
	pthread_t	thread;
};

void task_start(struct task *t);
bool task_blocked(struct task *t);
int task_wait(struct task *t);
void signal_handle(bool restart);
bool task_interrupt(struct task *t);

long task_recv(struct task *t);
long task_send(struct task *t);
long task_accept(struct task *t);
long task_connect(struct task *t);
long task_recv_all(struct task *t);
long task_send_all(struct task *t);

unsigned long inode_of(int fd);

pid_t child_start(void);
int child_wait(pid_t pid);

#endif /* SANX_UTIL_H */
