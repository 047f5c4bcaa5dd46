/* SPDX-License-Identifier: GPL-2.0 */
/* Programs and what they expect. */
#ifndef _SIM_PROGRAM_H
#define _SIM_PROGRAM_H

#include "sim.h"

#define SIM_BUF		(96 * 1024U)

/**
 * struct sim_end - one end of a connection, as its program sees it
 * @pair: the connection
 * @side: 0 for the client
 * @node: its node
 * @s: its socket while it has one
 * @total: bytes that it will send
 * @piece: most bytes of a send()
 * @slow: most ns of pauses between pieces
 * @lazy: most ns of pauses between reads
 * @early: it stops reading before the end
 * @abort: it closes with a reset
 * @half: how its direction ends
 * @nodelay: TCP_NODELAY
 * @cork: it uses MSG_MORE and TCP_CORK
 * @urgent: it sends urgent bytes
 * @zerocopy: it lends its pages
 * @splice: it sends from files
 * @nonblock: it does not wait in calls
 * @sndbuf: SO_SNDBUF or 0
 * @rcvbuf: SO_RCVBUF or 0
 * @keepalive: SO_KEEPALIVE
 * @lasting: it writes now and then until the world is at peace
 * @progress: when the peer last read, or had read everything
 * @pause_at: it idles for long when it has sent so many bytes
 * @instance: of the peer, as it said when the connection was first looked at
 * @sent: bytes that send() took
 * @offering: bytes of the send() that runs
 * @received: bytes that it read
 * @fin: it sends no more
 * @eof: it has read the end of the stream
 * @deaf: it has shut down reading
 * @failed: a call has failed
 * @closed: when it closed its socket, in ns, or 0
 * @stop: it writes no more
 * @doomed: its node goes down
 * @started: its program has the connection
 * @writing: its writer runs
 * @written: woken when the writer ends
 */
struct sim_end {
	struct sim_pair		*pair;
	int			side;
	int			node;
	struct sim_sock		*s;
	u32			total;
	u32			piece;
	u32			slow;
	u32			lazy;
	bool			early;
	bool			abort;
	int			half;
	bool			nodelay;
	bool			cork;
	bool			urgent;
	bool			zerocopy;
	bool			splice;
	bool			nonblock;
	u32			sndbuf;
	u32			rcvbuf;
	bool			keepalive;
	bool			lasting;
	u64			progress;
	u32			pause_at;
	u64			instance;
	u64			sent;
	u32			offering;
	u64			received;
	bool			fin;
	bool			eof;
	bool			deaf;
	bool			failed;
	u64			closed;
	bool			stop;
	bool			doomed;
	bool			started;
	bool			writing;
	struct sim_waiters	written;
};

/**
 * struct sim_pair - a connection
 * @list: in sim_pairs
 * @id: its number
 * @port: the client's
 * @refs: tasks that use it
 * @excuse: why calls may fail, or NULL
 * @connected: the client's connect() has succeeded
 * @since: when, in ns
 * @fell_back: the client's socket has become TCP
 * @accepted: accept() has found it
 * @end: the client, the server
 */
struct sim_pair {
	struct list_head	list;
	u32			id;
	u16			port;
	int			refs;
	const char		*excuse;
	bool			connected;
	u64			since;
	bool			fell_back;
	bool			accepted;
	struct sim_end		end[2];
};

extern struct list_head sim_pairs;

/**
 * struct sim_buf - memory of a program
 * @page: its pages
 * @mem: its bytes
 * @used: bytes of the last piece
 * @ubuf: MSG_ZEROCOPY: they are lent until it is done
 * @file: in the list of those that are parts of files
 */
struct sim_buf {
	struct page	page[SIM_BUF / PAGE_SIZE];
	u8		*mem;
	u32		used;
	struct ubuf_info ubuf;
	struct list_head file;
};

/* buf.c */
struct sim_buf *sim_buf_new(void);
void sim_buf_free(struct sim_buf *b);
void sim_buf_lend(struct sim_buf *b);
void sim_buf_file(struct sim_buf *b);
int sim_bufs_lent(void);
void sim_buf_fill(struct sim_buf *b, const struct sim_end *e, u32 len);
struct iov_iter sim_buf_iter(struct sim_buf *b, u32 len);
void sim_buf_spoil(struct sim_buf *b);
void sim_buf_check(const struct sim_buf *b, const struct sim_end *from,
		   u64 offset, u32 len);

void sim_programs_boot(int node);
void sim_programs_kill(int node);
bool sim_programs_on(int node);
void sim_sock_kill(struct sim_sock *s);
bool sim_sock_killed(const struct sim_sock *s);

#endif /* _SIM_PROGRAM_H */
