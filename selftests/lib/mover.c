// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "mover.h"
#include "util.h"

#define fallthrough	__attribute__((__fallthrough__))

/* The most that one call is asked to move. */
#define PIECE	40000
/* What fits a pipe, however it falls into pages. */
#define PIPEFUL	16384

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* Mostly a few bytes, at times many. */
static size_t any_size(size_t most)
{
	size_t n = 1 + dice(dice(3) ? 2000 : PIECE);

	return least(n, most);
}

static ssize_t send_plain(struct mover *m, const char *buf, size_t n)
{
	int flags = MSG_NOSIGNAL;

	if (dice(4) == 0)
		flags |= MSG_MORE;
	m->doing = "send";
	return send(m->fd, buf, n, flags);
}

/* writev() or sendmsg() in three parts, of which some may be empty. */
static ssize_t send_parts(struct mover *m, char *buf, size_t n)
{
	size_t a = dice(n + 1), b = a + dice(n - a + 1);
	struct iovec iov[] = {
		{ buf, a }, { buf + a, b - a }, { buf + b, n - b },
	};
	struct msghdr msg = { .msg_iov = iov, .msg_iovlen = 3 };

	m->doing = "sendmsg";
	return sendmsg(m->fd, &msg, MSG_NOSIGNAL);
}

/* From a file that holds what is to be sent. */
static ssize_t send_file(struct mover *m, const char *buf, size_t n)
{
	int file = memfd_create("piece", MFD_CLOEXEC);
	off_t at = 0;
	ssize_t done = -1;
	int err;

	m->doing = "sendfile";
	if (file >= 0 && write(file, buf, n) == (ssize_t)n)
		done = sendfile(m->fd, file, &at, n);
	err = errno;
	close(file);
	errno = err;
	return done;
}

/* Through a pipe; what a blocking socket took of it is all of it. */
static ssize_t send_splice(struct mover *m, const char *buf, size_t n)
{
	size_t done = 0;
	ssize_t one = 0;
	int p[2], err;

	m->doing = "splice to the socket";
	if (pipe(p))
		return -1;
	n = least(n, PIPEFUL);
	if (write(p[1], buf, n) == (ssize_t)n)
		for (; done < n; done += one) {
			one = splice(p[0], NULL, m->fd, NULL, n - done,
				     SPLICE_F_MOVE);
			if (one <= 0)
				break;
		}
	err = errno;
	close(p[0]);
	close(p[1]);
	errno = err;
	return one < 0 ? one : (ssize_t)done;
}

/* Sends a piece of what is left; 0, or -errno. */
static int send_piece(struct mover *m, bool blocking)
{
	size_t n = any_size(m->tx - m->sent);
	char buf[PIECE];
	ssize_t done;

	pattern_fill(buf, n, m->tx_offset + m->sent);
	switch (dice(8)) {
	case 0:
		done = send_file(m, buf, n);
		break;
	case 1:
		if (blocking) {
			done = send_splice(m, buf, n);
			break;
		}
		fallthrough;
	case 2:
		done = send_parts(m, buf, n);
		break;
	default:
		done = send_plain(m, buf, n);
	}
	if (done < 0)
		return -errno;
	m->sent += done;
	return 0;
}

static ssize_t recv_parts(struct mover *m, char *buf, size_t n)
{
	size_t a = dice(n + 1);
	struct iovec iov[] = { { buf, a }, { buf + a, n - a } };

	m->doing = "readv";
	return readv(m->fd, iov, 2);
}

/* Looked at first: what then comes must begin with the same bytes. */
static ssize_t recv_peek(struct mover *m, char *buf, size_t n)
{
	char seen[PIECE];
	ssize_t peeked, done;

	m->doing = "recv MSG_PEEK";
	peeked = recv(m->fd, seen, n, MSG_PEEK);
	if (peeked <= 0)
		return peeked;
	m->doing = "recv after MSG_PEEK";
	done = recv(m->fd, buf, peeked, 0);
	if (done >= 0 && (done != peeked || memcmp(seen, buf, done))) {
		errno = EBADMSG;
		return -1;
	}
	return done;
}

/* All of it; less only if nothing can follow. */
static ssize_t recv_waitall(struct mover *m, char *buf, size_t n)
{
	ssize_t done;
	char c;

	m->doing = "recv MSG_WAITALL";
	done = recv(m->fd, buf, n, MSG_WAITALL);
	if (done > 0 && done < (ssize_t)n &&
	    (recv(m->fd, &c, 1, MSG_PEEK | MSG_DONTWAIT) > 0 ||
	     errno == EAGAIN)) {
		errno = EBADMSG;
		return -1;
	}
	return done;
}

/* Only what is there, once poll() says that there is something. */
static ssize_t recv_polled(struct mover *m, char *buf, size_t n)
{
	m->doing = "poll";
	if (poll_one(m->fd, POLLIN, -1) < 0)
		return -1;
	m->doing = "recv MSG_DONTWAIT after poll";
	return recv(m->fd, buf, n, MSG_DONTWAIT);
}

static ssize_t recv_splice(struct mover *m, char *buf, size_t n)
{
	ssize_t done;
	int p[2], err;

	m->doing = "splice from the socket";
	if (pipe(p))
		return -1;
	done = splice(m->fd, NULL, p[1], NULL, least(n, PIPEFUL), 0);
	err = errno;
	if (done > 0 && read(p[0], buf, done) != done) {
		done = -1;
		err = EBADMSG;
	}
	close(p[0]);
	close(p[1]);
	errno = err;
	return done;
}

static ssize_t recv_somehow(struct mover *m, char *buf, size_t n, bool blocking)
{
	switch (dice(8)) {
	case 0:
		return recv_parts(m, buf, n);
	case 1:
		return recv_peek(m, buf, n);
	case 2:
		return recv_splice(m, buf, n);
	case 3:
		if (blocking && m->rx != SIZE_MAX)
			return recv_waitall(m, buf, n);
		fallthrough;
	case 4:
		if (blocking)
			return recv_polled(m, buf, n);
		fallthrough;
	default:
		m->doing = "recv";
		return recv(m->fd, buf, n, 0);
	}
}

/* Receives a piece; 0, 1 for the end, or -errno. */
static int recv_piece(struct mover *m, bool blocking)
{
	char buf[PIECE];
	ssize_t done;

	/* Who reads slowly makes the other wait for room. */
	if (dice(100) == 0)
		sleep_ms(dice(100));
	done = recv_somehow(m, buf, any_size(m->rx - m->got), blocking);
	if (done < 0)
		return -errno;
	if (!done)
		return m->rx == SIZE_MAX ? 1 : -ENODATA;
	if (!pattern_check(buf, done, m->rx_offset + m->got))
		return -EBADMSG;
	m->got += done;
	return 0;
}

static long send_thread(struct task *t)
{
	struct mover *m = t->buf;
	int err = 0;

	dice_seed(t->flags);
	while (m->sent < m->tx && !err)
		err = send_piece(m, true);
	errno = -err;
	return err ? -1 : 0;
}

/**
 * move_blocking() - with blocking calls, and a thread that sends
 * @m: the two streams
 *
 * Return: 0 or -errno, the receiver's if both failed.
 */
int move_blocking(struct mover *m)
{
	/* Who sends has a report of his own to write. */
	struct mover out = *m;
	struct task t = { .fn = send_thread, .buf = &out };
	int err = 0;

	t.flags = dice(1 << 30);
	if (m->tx > m->sent)
		task_start(&t);
	while (m->got < m->rx && !err)
		err = recv_piece(m, true);
	if (m->tx > m->sent) {
		/* Nobody may be left to read what the thread sends. */
		if (err < 0)
			shutdown(m->fd, SHUT_RDWR);
		pthread_join(t.thread, NULL);
		m->sent = out.sent;
		if (err >= 0 && t.ret < 0) {
			m->doing = out.doing;
			err = t.ret;
		}
	}
	return err < 0 ? err : 0;
}

/* As much as goes without waiting, or a piece; 0, 1 at the end, or -errno. */
static int epoll_turn(struct mover *m, bool edge)
{
	int err = 0;

	while (m->got < m->rx && !err) {
		err = recv_piece(m, false);
		if (!edge)
			break;
	}
	if (err && err != -EAGAIN)
		return err;
	err = 0;
	while (m->sent < m->tx && !err) {
		err = send_piece(m, false);
		if (!edge)
			break;
	}
	return err == -EAGAIN ? 0 : err;
}

static int epoll_want(int ep, int op, struct mover *m, bool edge)
{
	struct epoll_event ev = { .events = edge ? EPOLLET : 0 };

	if (m->got < m->rx)
		ev.events |= EPOLLIN | EPOLLRDHUP;
	if (m->sent < m->tx)
		ev.events |= EPOLLOUT;
	return rc(epoll_ctl(ep, op, m->fd, &ev));
}

/**
 * move_epoll() - without ever blocking, by epoll, one thread for both ways
 * @m: the two streams
 *
 * Return: 0 or -errno.
 */
int move_epoll(struct mover *m)
{
	int ep = epoll_create1(EPOLL_CLOEXEC), err;
	struct epoll_event ev;
	bool edge = dice(2);

	if (ep < 0)
		return -errno;
	set_nonblock(m->fd, true);
	err = epoll_want(ep, EPOLL_CTL_ADD, m, edge);
	while (!err && (m->sent < m->tx || m->got < m->rx)) {
		m->doing = edge ? "epoll_wait, edge" : "epoll_wait";
		if (epoll_wait(ep, &ev, 1, -1) < 0)
			err = -errno;
		else
			err = epoll_turn(m, edge);
		if (!err && !edge)
			err = epoll_want(ep, EPOLL_CTL_MOD, m, edge);
	}
	set_nonblock(m->fd, false);
	close(ep);
	return err < 0 ? err : 0;
}
