// SPDX-License-Identifier: GPL-2.0
/*
 * Sockets that are shared: by descriptors, processes, threads.
 *
 * clock: host how soon a signal must come
 */
#include <fcntl.h>
#include <sys/un.h>
#include <sys/wait.h>

#define DEFAULT_VARIANTS "tcp loop explicit fallback"

#include "sanx_test.h"

/* The connection ends with the last descriptor, not the first. */
SANX_TEST(dup)
{
	int fd = dup(self->client);
	char c;

	ASSERT_LE(0, fd);
	close(self->client);
	EXPECT_EQ(1, send(fd, "x", 1, 0));
	EXPECT_EQ(1, recv(self->server, &c, 1, 0));
	EXPECT_EQ(-EAGAIN, rc(recv(self->server, &c, 1, MSG_DONTWAIT)));
	ASSERT_EQ(self->client, dup2(fd, self->client));
	close(fd);
	EXPECT_EQ(1, send(self->client, "y", 1, 0));
	EXPECT_EQ(1, recv(self->server, &c, 1, 0));
	close(self->client);
	EXPECT_EQ(0, recv(self->server, &c, 1, 0));
}

/* dup2() over a socket closes it, as inetd and shells do. */
SANX_TEST(dup_over)
{
	char c;

	ASSERT_EQ(self->client, dup2(STDIN_FILENO, self->client));
	EXPECT_EQ(0, recv(self->server, &c, 1, 0));
}

/* A child has the sockets too; the parent's close ends nothing. */
SANX_TEST(fork)
{
	char buf[8];
	pid_t pid;

	pid = child_start();
	if (!pid) {
		close(self->client);
		_exit(recv_exact(self->server, buf, 5) == 5 &&
		      send(self->server, buf, 5, 0) == 5 ? 0 : 1);
	}
	close(self->server);
	EXPECT_EQ(5, send(self->client, "child", 5, 0));
	EXPECT_EQ(5, recv_exact(self->client, buf, 5));
	EXPECT_EQ(0, memcmp(buf, "child", 5));
	EXPECT_EQ(0, child_wait(pid));
	/* Now it was the last one that had it. */
	EXPECT_EQ(0, recv(self->client, buf, 8, 0));
}

/* Connected in the child, used in the parent's name all the same. */
SANX_TEST(fork_before_connect)
{
	int fd = client_socket(variant), s;
	pid_t pid;
	char c;

	pid = child_start();
	if (!pid)
		_exit(connect(fd, &self->addr.sa, self->addr.len) ? 1 : 0);
	EXPECT_EQ(0, child_wait(pid));
	s = rc(accept(self->listener, NULL, NULL));
	ASSERT_LE(0, s);
	EXPECT_EQ(1, send(fd, "x", 1, 0));
	EXPECT_EQ(1, recv(s, &c, 1, 0));
	EXPECT_EQ(-EISCONN, rc(connect(fd, &self->addr.sa, self->addr.len)));
}

/* Parent and child write to one socket: every message whole or not at all. */
SANX_TEST(fork_writers)
{
	int i, n[2] = { 0, 0 };
	char buf[10];
	pid_t pid;

	pid = child_start();
	memset(buf, pid ? 'p' : 'c', sizeof(buf));
	for (i = 0; i < 50; i++)
		if (send(self->client, buf, sizeof(buf), 0) != sizeof(buf))
			break;
	if (!pid)
		_exit(i != 50);
	EXPECT_EQ(50, i);
	for (i = 0; i < 100; i++) {
		ASSERT_EQ(10, recv_exact(self->server, buf, 10));
		EXPECT_EQ(buf[0], buf[9]);
		n[buf[0] == 'c']++;
	}
	EXPECT_EQ(50, n[0]);
	EXPECT_EQ(50, n[1]);
	EXPECT_EQ(0, child_wait(pid));
}

/* A program that is run with the socket as its input and output. */
SANX_TEST(exec)
{
	char buf[16];
	pid_t pid;

	pid = child_start();
	if (!pid) {
		dup2(self->server, 0);
		dup2(self->server, 1);
		execl("/bin/cat", "cat", NULL);
		_exit(127);
	}
	close(self->server);
	EXPECT_EQ(5, send(self->client, "meow\n", 5, 0));
	EXPECT_EQ(5, recv_exact(self->client, buf, 5));
	EXPECT_EQ(0, shutdown(self->client, SHUT_WR));
	EXPECT_EQ(0, recv(self->client, buf, 16, 0));
	EXPECT_EQ(0, child_wait(pid));
}

/* SOCK_CLOEXEC sockets end with an exec. */
SANX_TEST(close_on_exec)
{
	pid_t pid;
	char c;

	pid = child_start();
	if (!pid) {
		execl("/bin/sleep", "sleep", "1", NULL);
		_exit(127);
	}
	EXPECT_EQ(FD_CLOEXEC, fcntl(self->client, F_GETFD));
	close(self->client);
	EXPECT_EQ(0, recv(self->server, &c, 1, 0));
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/* The kernel closes what a killed process leaves. */
SANX_TEST(killed)
{
	pid_t pid;
	char c;

	pid = child_start();
	if (!pid) {
		pause();
		_exit(0);
	}
	close(self->client);
	EXPECT_EQ(-EAGAIN, rc(recv(self->server, &c, 1, MSG_DONTWAIT)));
	kill(pid, SIGKILL);
	EXPECT_EQ(0, recv(self->server, &c, 1, 0));
	EXPECT_EQ(-SIGKILL, child_wait(pid));
}

/* Killed in the middle of a send that blocks. */
SANX_TEST(killed_sending)
{
	static char buf[1 << 16];
	ssize_t n, got = 0;
	pid_t pid;

	pid = child_start();
	if (!pid) {
		while (send(self->client, buf, sizeof(buf), 0) > 0)
			;
		_exit(0);
	}
	close(self->client);
	EXPECT_EQ(POLLIN, poll_one(self->server, POLLIN, 10000));
	sleep_ms(A_WHILE);
	kill(pid, SIGKILL);
	EXPECT_EQ(-SIGKILL, child_wait(pid));
	while ((n = recv(self->server, buf, sizeof(buf), 0)) > 0)
		got += n;
	EXPECT_EQ(0, n);
	EXPECT_LT(0, got);
}

static int pass(int chan, int fd)
{
	union {
		char buf[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} u = {};
	struct iovec iov = { "f", 1 };
	struct msghdr msg = {
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = u.buf,
		.msg_controllen = sizeof(u.buf),
	};
	struct cmsghdr *cmsg = CMSG_FIRSTHDR(&msg);

	cmsg->cmsg_level = SOL_SOCKET;
	cmsg->cmsg_type = SCM_RIGHTS;
	cmsg->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(cmsg), &fd, sizeof(int));
	return sendmsg(chan, &msg, 0);
}

static int take(int chan)
{
	union {
		char buf[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} u = {};
	char c;
	struct iovec iov = { &c, 1 };
	struct msghdr msg = {
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = u.buf,
		.msg_controllen = sizeof(u.buf),
	};
	struct cmsghdr *cmsg;
	int fd;

	if (recvmsg(chan, &msg, 0) != 1)
		return -1;
	cmsg = CMSG_FIRSTHDR(&msg);
	if (!cmsg || cmsg->cmsg_type != SCM_RIGHTS)
		return -1;
	memcpy(&fd, CMSG_DATA(cmsg), sizeof(int));
	return fd;
}

/* A connection handed to another process, as load balancers do. */
SANX_TEST(passed)
{
	int chan[2], fd;
	char buf[8];
	pid_t pid;

	ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_STREAM, 0, chan));
	pid = child_start();
	if (!pid) {
		close(self->client);
		close(self->server);
		fd = take(chan[1]);
		_exit(fd >= 0 && recv_exact(fd, buf, 4) == 4 &&
		      send(fd, buf, 4, 0) == 4 ? 0 : 1);
	}
	ASSERT_EQ(1, pass(chan[0], self->server));
	close(self->server);
	EXPECT_EQ(4, send(self->client, "pass", 4, 0));
	EXPECT_EQ(4, recv_exact(self->client, buf, 4));
	EXPECT_EQ(0, child_wait(pid));
	EXPECT_EQ(0, recv(self->client, buf, 8, 0));
}

/* A descriptor that is on its way when its channel goes is closed. */
SANX_TEST(passed_and_dropped)
{
	int chan[2];
	char c;

	ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_STREAM, 0, chan));
	ASSERT_EQ(1, pass(chan[0], self->server));
	close(self->server);
	EXPECT_EQ(-EAGAIN, rc(recv(self->client, &c, 1, MSG_DONTWAIT)));
	close(chan[0]);
	close(chan[1]);
	EXPECT_EQ(0, recv(self->client, &c, 1, 0));
}

/* A listener handed over, with clients that wait. */
SANX_TEST(listener_passed)
{
	int chan[2], fd, s;
	pid_t pid;
	char c;

	ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_STREAM, 0, chan));
	fd = connect_to(variant, &self->addr);
	ASSERT_LE(0, fd);
	pid = child_start();
	if (!pid) {
		close(self->listener);
		s = accept(take(chan[1]), NULL, NULL);
		_exit(s >= 0 && send(s, "L", 1, 0) == 1 ? 0 : 1);
	}
	ASSERT_EQ(1, pass(chan[0], self->listener));
	close(self->listener);
	EXPECT_EQ(1, recv(fd, &c, 1, 0));
	EXPECT_EQ('L', c);
	EXPECT_EQ(0, child_wait(pid));
	EXPECT_EQ(-ECONNREFUSED, connect_to(variant, &self->addr));
	self->fallbacks = 1;
}

#define THREADS	4
#define RECORD	100
#define RECORDS	60

/* Writes RECORDS records of one letter. */
static long write_records(struct task *t)
{
	char buf[RECORD];
	int i;

	memset(buf, t->flags, sizeof(buf));
	for (i = 0; i < RECORDS; i++)
		if (send(t->fd, buf, sizeof(buf), 0) != sizeof(buf))
			return -1;
	return 0;
}

/* Many writers on one socket: small messages stay whole. */
SANX_TEST(many_writers)
{
	struct task t[THREADS] = {};
	int i, n[THREADS] = {};
	char buf[RECORD], all[RECORD];

	for (i = 0; i < THREADS; i++) {
		t[i].fn = write_records;
		t[i].fd = self->client;
		t[i].flags = i;
		task_start(&t[i]);
	}
	for (i = 0; i < THREADS * RECORDS; i++) {
		ASSERT_EQ(RECORD, recv_exact(self->server, buf, RECORD));
		memset(all, buf[0], RECORD);
		ASSERT_EQ(0, memcmp(all, buf, RECORD));
		ASSERT_GT(THREADS, buf[0]);
		n[(int)buf[0]]++;
	}
	for (i = 0; i < THREADS; i++) {
		ASSERT_EQ(0, task_wait(&t[i]));
		EXPECT_EQ(0, t[i].ret);
		EXPECT_EQ(RECORDS, n[i]);
	}
}

/* Counts the bytes that this reader got, by their value. */
static long read_count(struct task *t)
{
	unsigned char buf[700];
	long *count = t->buf;
	ssize_t n;

	while ((n = recv(t->fd, buf, sizeof(buf), 0)) > 0)
		while (n--)
			count[buf[n]]++;
	return n;
}

/* Many readers on one socket: each byte goes to one of them. */
SANX_TEST(many_readers)
{
	static long count[THREADS][256];
	unsigned char buf[1000];
	struct task t[THREADS] = {};
	long total;
	int i, v;

	for (i = 0; i < THREADS; i++) {
		t[i].fn = read_count;
		t[i].fd = self->server;
		t[i].buf = count[i];
		task_start(&t[i]);
	}
	for (v = 0; v < 100; v++) {
		memset(buf, v, sizeof(buf));
		ASSERT_EQ(sizeof(buf), send(self->client, buf, sizeof(buf), 0));
	}
	EXPECT_EQ(0, shutdown(self->client, SHUT_WR));
	for (i = 0; i < THREADS; i++) {
		ASSERT_EQ(0, task_wait(&t[i]));
		EXPECT_EQ(0, t[i].ret);
	}
	for (v = 0; v < 100; v++) {
		for (i = 0, total = 0; i < THREADS; i++)
			total += count[i][v];
		ASSERT_EQ(sizeof(buf), total);
	}
}

/* All who wait for one connection learn of its end. */
SANX_TEST(many_waiters)
{
	struct task t[THREADS] = {};
	char c[THREADS];
	int i;

	for (i = 0; i < THREADS; i++) {
		t[i].fn = task_recv;
		t[i].fd = self->server;
		t[i].buf = &c[i];
		t[i].len = 1;
		task_start(&t[i]);
	}
	for (i = 0; i < THREADS; i++)
		ASSERT_TRUE(task_blocked(&t[i]));
	EXPECT_EQ(0, shutdown(self->client, SHUT_WR));
	for (i = 0; i < THREADS; i++) {
		ASSERT_EQ(0, task_wait(&t[i]));
		EXPECT_EQ(0, t[i].ret);
	}
}

/* close() in one thread does not cut off the call of another. */
SANX_TEST(close_beside_reader)
{
	struct task t = { .fn = task_recv };
	char c;

	t.fd = self->client;
	t.buf = &c;
	t.len = 1;
	task_start(&t);
	ASSERT_TRUE(task_blocked(&t));
	close(self->client);
	EXPECT_EQ(1, send(self->server, "x", 1, 0));
	ASSERT_EQ(0, task_wait(&t));
	EXPECT_EQ(1, t.ret);
	/* With its return the connection goes. */
	EXPECT_EQ(0, recv(self->server, &c, 1, 0));
}

SANX_TEST_MAIN
