/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The TCP wire: a link over one TCP connection of the kernel.
 *
 *	main.c		operations, parameters
 *	setup.c		set-up of active links; end of links
 *	listen.c	requests of peers, and questions
 *	who.c		questions to others
 *	tx.c		messages to the peer
 *	rx.c		messages of the peer
 *	map.c		memory that the peer writes
 *	format.h	what is on the connection
 *
 * A message's writes go from the memory that holds them to the peer's TCP without a
 * copy, and there from TCP straight to the memory that they are for.
 *
 * The lock of the sock guards a link: its state, what is sent and received, and what
 * is mapped.  TCP holds it when it calls sk_data_ready, sk_write_space and
 * sk_state_change, so arrivals and completions of a link come one at a time.  It is
 * outside of link.tx_lock.  Only tlink.tail is changed without it, by post(), whose
 * calls the engine serialises, and who reads tlink.sending.
 */
#ifndef _SANX_TCP_PRIV_H
#define _SANX_TCP_PRIV_H

#include <linux/completion.h>
#include <linux/net.h>
#include <linux/skbuff.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>
#include <net/sanx_wire.h>
#include <net/sock.h>

#include "format.h"

/**
 * enum tlink_state - state of a link over TCP
 * @TLINK_CONNECTING: active: the TCP connection is not established yet
 * @TLINK_ASKED: active: the request was sent, the reply has not arrived
 * @TLINK_OFFERED: passive: the request has not arrived, or is being decided on; the
 *	listener owns the link until then
 * @TLINK_REFUSED: passive: the listener waits until the peer has read the refusal, or
 *	the answer to its question
 * @TLINK_UP: messages are sent and received
 * @TLINK_STOPPED: the TCP connection has ended
 */
enum tlink_state {
	TLINK_CONNECTING,
	TLINK_ASKED,
	TLINK_OFFERED,
	TLINK_REFUSED,
	TLINK_UP,
	TLINK_STOPPED,
};

/**
 * struct tlink_map - mapped memory (sanx_wire_map.priv)
 * @tl: the link
 * @buf: the memory
 * @size: bytes
 * @addr: address of the first byte for the peer
 * @key: key of the peer, not 0
 * @enabled: the peer may write it; no lock
 */
struct tlink_map {
	struct tlink	*tl;
	u8		*buf;
	u32		size;
	u64		addr;
	u32		key;
	bool		enabled;
};

/**
 * struct tlink_out - a message to send
 * @m: the message
 * @end: TCP's sequence number behind its last byte, once it is sent
 * @lends: TCP sends its payload from the memory itself, so that it completes only
 *	when the peer's TCP has acknowledged it; else TCP has a copy
 */
struct tlink_out {
	struct sanx_wire_msg	m;
	u32			end;
	bool			lends;
};

/**
 * enum tlink_rx_phase - which part of a message arrives next
 * @TLINK_RX_HEAD: the header
 * @TLINK_RX_WRITES: descriptors of the writes
 * @TLINK_RX_PAYLOAD: payload of a write
 * @TLINK_RX_FRAME: the frame
 */
enum tlink_rx_phase {
	TLINK_RX_HEAD,
	TLINK_RX_WRITES,
	TLINK_RX_PAYLOAD,
	TLINK_RX_FRAME,
};

/**
 * struct tlink_rx - a message that arrives
 * @phase: the part that arrives
 * @have: bytes of that part that have arrived
 * @head: the header
 * @write: descriptors of the writes
 * @n: number of the write whose payload arrives
 * @map: the memory that it is for; NULL before its first byte, and if the memory was
 *	unmapped meanwhile
 * @frame: the frame
 */
struct tlink_rx {
	enum tlink_rx_phase	phase;
	u32			have;
	struct tlink_head	head;
	struct tlink_write	write[2];
	u32			n;
	struct tlink_map	*map;
	u8			frame[SANX_WIRE_FRAME_MAX] __aligned(8);
};

/**
 * struct tlink - a link over TCP
 * @wl: what the engine sees
 * @active: our attempt, not the peer's
 * @state: changed under the lock of the sock
 * @net: active: the namespace
 * @sock: the TCP connection, constant once it is there; NULL if there is none
 * @devname: name of the network device
 * @setup: active: takes the next step of the set-up
 * @settled: passive: completed when the set-up has ended
 * @frames: memory of the frames to send
 * @hello: what has arrived of the request or the reply
 * @hello_len: bytes of @hello
 * @node: passive: in tlink_listener.offers
 * @since: passive: when the TCP connection was accepted, in jiffies
 * @asker: passive: the node that has a rail at its address, or 0
 *
 * @tx: sends messages, if nobody does who has the sock locked
 * @sending: the one who has it locked will look at @tail once more before they do not
 * @out: messages to send, or not completed, by number modulo SANX_WIRE_SLOTS; none until
 *	tlink_prepare(), as strangers may make us wait for their requests
 * @tail: number of the next message that is posted.  post() stores it with release
 *	semantics; tx_posted() loads it with acquire semantics.
 * @next: number of the message that is sent next
 * @done: number of the first message that is not completed
 * @pos: bytes of message @next that TCP has
 * @rx: the message that arrives
 * @maps: &struct tlink_map that the peer can name, by key
 */
struct tlink {
	struct sanx_wire_link	wl;
	bool			active;
	enum tlink_state	state;
	struct net		*net;
	struct socket		*sock;
	char			devname[IFNAMSIZ];
	struct work_struct	setup;
	struct completion	settled;
	void			*frames;
	struct tlink_setup	hello;
	u32			hello_len;
	struct list_head	node;
	unsigned long		since;
	u32			asker;

	struct work_struct	tx;
	bool			sending;
	struct tlink_out	*out;
	u32			tail;
	u32			next;
	u32			done;
	u32			pos;
	struct tlink_rx		rx;
	struct xarray		maps;
};

static inline struct tlink *tlink_of(struct sanx_wire_link *wl)
{
	return container_of(wl, struct tlink, wl);
}

/* main.c */
extern unsigned int tcp_rail_port;
extern struct workqueue_struct *tlink_wq;

/* setup.c */
struct tlink *tlink_alloc(bool active);
int tlink_prepare(struct tlink *tl);
int tlink_send_setup(struct socket *sock, enum tlink_setup_type type, u32 qpn,
		     const void *body, u32 len);
int tlink_read_setup(struct tlink *tl);
bool tlink_setup_ok(const struct tlink_setup *s);
int tlink_dial(struct net *net, const struct in6_addr *src,
	       const struct in6_addr *dst, long timeo, struct socket **res);
void tlink_use_reserves(struct tlink *tl);
void tlink_watch(struct tlink *tl);
void tlink_ignore(struct tlink *tl);
struct sanx_wire_link *tlink_create(struct sanx_link *link, struct net *net);
int tlink_connect(struct sanx_wire_link *wl, const struct sanx_wire_path *path);
void tlink_quiesce(struct sanx_wire_link *wl);
void tlink_stop(struct sanx_wire_link *wl);
void tlink_free(struct sanx_wire_link *wl);
u16 tlink_addrs(const struct sock *sk, struct in6_addr *local,
		struct in6_addr *remote);
void tlink_tune(struct sock *sk);

/* who.c */
int tlink_who(struct net *net, const struct in6_addr *addr, struct sanx_seek *s);

/* listen.c */
int tlink_listen(struct net *net, struct sanx_lnet *lnet, void **listener);
void tlink_unlisten(void *listener);

/* tx.c */
int tlink_post(struct sanx_wire_link *wl, const struct sanx_wire_msg *m);
void tlink_push(struct sanx_wire_link *wl, bool more);
void tlink_tx_work(struct work_struct *work);
bool tlink_tx_begin(struct tlink *tl);
void tlink_tx_end(struct tlink *tl);
void tlink_tx_space(struct tlink *tl);

/* rx.c */
void tlink_rx_run(struct tlink *tl);

/* map.c */
int tlink_map(struct sanx_wire_link *wl, struct sanx_wire_map *map, void *buf,
	      u32 size, u64 addr);
void tlink_unmap(struct sanx_wire_map *map);
void tlink_enable(const struct sanx_wire_map *map);
u8 *tlink_target(struct tlink_map *map, const struct tlink_write *w);

#endif /* _SANX_TCP_PRIV_H */
