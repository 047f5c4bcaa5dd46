/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The wire of the simulator: what net/sanx_wire.h leaves open happens in any
 * order, and what it forbids fails.
 */
#ifndef _SIM_WIRE_H
#define _SIM_WIRE_H

#include "sim.h"

#define WIRE_QUEUE	256

/**
 * struct wire_map - mapped memory
 * @list: in the list of its key
 * @end: the end of a link that it belongs to
 * @map: the engine's
 * @buf: memory
 * @shadow: what the peer writes until sync(), or NULL
 * @size: bytes
 * @addr: address of the first byte
 * @key: the key
 * @enabled: a message that enables it was carried out
 */
struct wire_map {
	struct list_head	list;
	struct wire_end		*end;
	struct sanx_wire_map	*map;
	u8			*buf;
	u8			*shadow;
	u32			size;
	u64			addr;
	u32			key;
	bool			enabled;
};

/**
 * struct wire_msg - a message that was posted
 * @m: a copy; its mappings and pages are read when it is carried out
 * @writes: writes that were carried out
 * @data: bytes of the writes and of the frame, if it was completed before it
 *	was carried out; or NULL
 */
struct wire_msg {
	struct sanx_wire_msg	m;
	struct wire_map		*enable;
	int			writes;
	u8			*data;
};

/**
 * struct wire_in - a message that has arrived
 * @at: when, in ns
 */
struct wire_in {
	u64	at;
	u64	seq;
	u32	bytes;
	u32	imm;
	u32	len;
	u8	frame[SANX_WIRE_FRAME_MAX] __aligned(8);
};

/**
 * enum wire_step - what happens next in the set-up of an active link
 */
enum wire_step {
	WIRE_IDLE,
	WIRE_RESOLVE,
	WIRE_LOST,
	WIRE_ACCEPTED,
	WIRE_REFUSED,
};

/**
 * struct wire_end - one end of a link
 * @wl: for the engine
 * @list: all ends
 * @node: its node
 * @to: the other node
 * @kind: of its wire
 * @caps: of its wire
 * @rail: our rail
 * @to_rail: the peer's rail
 * @active: it asked for the link
 * @peer: the other end, or NULL
 * @prepared: sanx_wire_prepare() has succeeded
 * @live: it can send and receive
 * @broken: nothing is sent or received any more
 * @mute: @broken, and its device will not notice
 * @stopped: stop() has returned or waits
 * @frames: memory of the slots
 * @q: messages posted, by number modulo WIRE_QUEUE
 * @head: number of the first message not completed
 * @exec: of the next message to carry out
 * @tail: of the next message to be posted
 * @acked: of the first message whose acknowledgment has not arrived
 * @sent: of the first one that waits for push(), which is @tail if none does
 * @push_by: push() has to come before, or 0
 * @lost_from: messages from this number on are not completed any more
 * @in: messages that have arrived, by number modulo WIRE_QUEUE
 * @in_head: of the next one to tell the engine of
 * @in_tail: of the next one to arrive
 * @heard: one has arrived before the end of the link
 * @recvs: receives that are posted
 * @refs: events that use the end; freed with the last
 * @running: upcalls that have not returned
 * @stalled: no arrivals before this step
 * @arriving: one of them is about an arrival
 * @completing: one of them is about a completion
 * @idle: woken when @running decreases
 * @handler: upcalls about the set-up are serialised
 * @step: of the set-up
 * @step_timer: makes the next step
 * @said: the refusal
 * @has_said: there is one
 * @hello: the peer's
 * @fail: tells the engine that the link is lost, at a time
 */
struct wire_end {
	struct sanx_wire_link	wl;
	struct list_head	list;
	int			node;
	int			to;
	enum sanx_wire_kind	kind;
	struct sanx_wire_caps	caps;
	int			rail;
	int			to_rail;
	bool			active;
	struct wire_end		*peer;
	bool			prepared;
	bool			live;
	bool			broken;
	bool			mute;
	bool			stopped;
	u8			*frames;
	struct wire_msg		q[WIRE_QUEUE];
	u64			head, exec, tail, sent, acked;
	u64			push_by;
	u64			lost_from;
	struct wire_in		in[WIRE_QUEUE];
	u64			in_head, in_tail;
	bool			heard;
	u32			recvs;
	int			refs;
	int			running;
	u64			stalled;
	bool			arriving;
	bool			completing;
	struct sim_waiters	idle;
	struct sim_entry	ev_exec;
	struct sim_entry	ev_sent;
	struct sim_entry	ev_arrive;
	struct mutex		handler; /* guards: see above */
	enum wire_step		step;
	struct sim_timer	step_timer;
	struct sanx_wire_path	path;
	u8			said[SANX_WIRE_REFUSAL];
	bool			has_said;
	u8			hello[SANX_WIRE_HELLO];
	struct sim_timer	fail;
	bool			fault;
};

/**
 * struct wire_listener - a node that accepts links over a wire
 */
struct wire_listener {
	int			node;
	enum sanx_wire_kind	kind;
	struct sanx_lnet	*lnet;
	int			running;
	struct sim_waiters	idle;
};

static inline struct wire_end *wire_end_of(struct sanx_wire_link *wl)
{
	return container_of(wl, struct wire_end, wl);
}

/* wire.c */
struct wire_end *wire_end_new(int node, enum sanx_wire_kind kind, bool active);
void wire_end_get(struct wire_end *e);
void wire_end_put(struct wire_end *e);
void wire_kick(struct wire_end *e);
void wire_break(struct wire_end *e);
void wire_fail_at(struct wire_end *e, u64 ns);
int wire_prepare(struct wire_end *e);
bool wire_path_out(const struct wire_end *e);
bool wire_path_in(const struct wire_end *e);
bool wire_path_up(const struct wire_end *e);

/* map.c */
int wire_map(struct sanx_wire_link *wl, struct sanx_wire_map *map, void *buf,
	     u32 size, u64 addr);
void wire_unmap(struct sanx_wire_map *map);
void wire_sync(const struct sanx_wire_map *map, u32 pos, u32 len);
int wire_map_page(struct sanx_wire_link *wl, struct sanx_wire_page *page, unsigned int order);
void wire_unmap_page(struct sanx_wire_link *wl, struct sanx_wire_page *page,
		     unsigned int order);
u8 *wire_target(struct wire_end *e, const struct sanx_wire_write *w);
unsigned int wire_maps(const struct wire_end *e);

/* check.c */
void sim_check_link(const struct wire_end *e);

/* hostile.c */
u32 sim_hostile_frame(const struct wire_end *e, u8 *frame, u32 bytes);
u32 sim_hostile_extra(const struct wire_end *e, u8 *frame, u32 bytes);
u32 sim_hostile_imm(const struct wire_end *e, u32 imm);
void sim_hostile_write(const struct wire_end *e, struct sanx_wire_write *w);
void sim_hostile_hello(const struct wire_end *e, u8 *hello);

/* setup.c */
int wire_listen_rdma(struct net *net, struct sanx_lnet *lnet, void **listener);
int wire_listen_tcp(struct net *net, struct sanx_lnet *lnet, void **listener);
void wire_unlisten(void *listener);
struct sanx_wire_link *wire_create_rdma(struct sanx_link *link, struct net *net);
struct sanx_wire_link *wire_create_tcp(struct sanx_link *link, struct net *net);
int wire_connect(struct sanx_wire_link *wl, const struct sanx_wire_path *path);
void wire_quiesce(struct sanx_wire_link *wl);
void wire_setup_stop(struct wire_end *e);
void wire_step_init(struct wire_end *e);

#endif /* _SIM_WIRE_H */
