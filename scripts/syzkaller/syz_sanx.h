/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The pseudo-call of sanx.txt: for executor/common_linux.h of syzkaller, and for
 * fuzz/calls/.
 *
 * The peer is selftests/bin/hostile.c on another node, which obeys commands that come over
 * TCP: a link needs two nodes.  A command is its number, the number of bytes that follow,
 * and these; its answer is one number.
 */
#ifndef SYZ_SANX_H
#define SYZ_SANX_H

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#define SYZ_SANX_PEER	"10.77.0.2"
#define SYZ_SANX_PORT	6590
#define SYZ_SANX_MOST	320	/* bytes of a command */

static int syz_sanx_connect(void)
{
	struct sockaddr_in sin = {
		.sin_family = AF_INET, .sin_port = htons(SYZ_SANX_PORT),
	};
	struct timeval most = { .tv_sec = 3 };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	inet_pton(AF_INET, SYZ_SANX_PEER, &sin.sin_addr);
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &most, sizeof(most));
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &most, sizeof(most));
	if (!connect(fd, (struct sockaddr *)&sin, sizeof(sin)))
		return fd;
	close(fd);
	return -1;
}

/*
 * One command; -1 if the peer is not there.  A signal does not end it, because the answer
 * would then be taken for that of the next one.
 */
static long syz_sanx_tell(int fd, uint32_t op, const void *arg, uint32_t len)
{
	char cmd[8 + SYZ_SANX_MOST];
	uint32_t answer;
	ssize_t n;

	memcpy(cmd, &op, 4);
	memcpy(cmd + 4, &len, 4);
	memcpy(cmd + 8, arg, len);
	if (send(fd, cmd, 8 + len, MSG_NOSIGNAL) != (ssize_t)(8 + len))
		return -1;
	do {
		n = recv(fd, &answer, sizeof(answer), MSG_WAITALL);
	} while (n < 0 && errno == EINTR);
	return n == sizeof(answer) ? (long)answer : -1;
}

/*
 * The connection is out of the way of files that programs open and close.  A peer that
 * has ended is there again soon.
 */
static long syz_sanx_peer(volatile long op, volatile long arg, volatile long len)
{
	static pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER;
	static int high = -1;
	long answer = -1;
	int fd;

	if (len < 0 || len > SYZ_SANX_MOST)
		return -1;
	pthread_mutex_lock(&one);
	if (high < 0) {
		fd = syz_sanx_connect();
		high = fd < 0 ? -1 : dup2(fd, 900);
		if (fd >= 0)
			close(fd);
	}
	if (high >= 0)
		answer = syz_sanx_tell(high, op, arg ? (void *)arg : "", len);
	if (answer < 0 && high >= 0) {
		close(high);
		high = -1;
	}
	pthread_mutex_unlock(&one);
	return answer;
}

#endif
