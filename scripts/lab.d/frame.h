/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the lab's client (host) and agent (guest) say to each other over a
 * virtio-serial port or a serial line: a stream of frames, each a header and its
 * payload.
 *
 * A session starts with FRAME_HELLO and a random cookie, which the agent
 * answers in kind.  Whatever an earlier session left in the pipe comes before
 * that answer and is dropped, so a client that was killed harms nobody.
 */
#ifndef LAB_FRAME_H
#define LAB_FRAME_H

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#define FRAME_MAX	16384
#define FRAME_MAGIC	0x5a
#define COOKIE_LEN	16

enum frame_type {
	FRAME_HELLO = 1,	/* both ways: cookie */
	FRAME_RUN,		/* to guest: struct run_head, argv NUL-separated */
	FRAME_STDIN,		/* to guest: bytes; empty means end of file */
	FRAME_SIGNAL,		/* to guest: one byte, the signal */
	FRAME_STDOUT,		/* to host: bytes */
	FRAME_STDERR,		/* to host: bytes */
	FRAME_EXIT,		/* to host: one byte, a shell's exit status */
	FRAME_READY,		/* to host: the serial line can be used (um.c) */
	FRAME_HANGUP,		/* to guest: the client has gone (um.c) */
	FRAME_STARTED,		/* to host: the command runs */
	FRAME_COUNTS,		/* to guest: it lets time pass from now on */
};

struct frame {
	uint8_t magic;
	uint8_t type;
	uint16_t len;
	uint8_t data[FRAME_MAX];
} __attribute__((packed));

#define FRAME_HEAD	4

struct run_head {
	uint16_t pty;		/* run on a terminal of this size */
	uint16_t rows;
	uint16_t cols;
	uint16_t flags;
} __attribute__((packed));

#define RUN_COUNTS	1	/* with a virtual clock: the command lets time pass */
#define RUN_NO_INPUT	2	/* its standard input is at its end */

static inline int write_all(int fd, const void *buf, size_t len)
{
	const char *p = buf;

	while (len) {
		ssize_t n = write(fd, p, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return -1;
		p += n;
		len -= n;
	}
	return 0;
}

static inline int read_all(int fd, void *buf, size_t len)
{
	char *p = buf;

	while (len) {
		ssize_t n = read(fd, p, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return -1;
		p += n;
		len -= n;
	}
	return 0;
}

/* One write() a frame: the reader sees it whole or not at all. */
static inline int frame_send(int fd, uint8_t type, const void *data,
			     uint16_t len)
{
	struct frame f = { .magic = FRAME_MAGIC, .type = type, .len = len };

	memcpy(f.data, data, len);
	return write_all(fd, &f, FRAME_HEAD + len);
}

static inline int frame_recv(int fd, struct frame *f)
{
	if (read_all(fd, f, FRAME_HEAD))
		return -1;
	if (f->magic != FRAME_MAGIC || f->len > FRAME_MAX)
		return -1;
	return read_all(fd, f->data, f->len);
}

#endif
