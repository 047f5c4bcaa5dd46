// SPDX-License-Identifier: GPL-2.0
/*
 * Messages of a link.  Four things happen to each, in any order that the
 * contract permits: its writes, its frame, its completion and its arrival.
 */
#include <stdlib.h>

#include "link/peer/peer.h"
#include "wire.h"

/* Within this time push() follows, however slow the process is. */
#define PUSH_WITHIN	(2 * NSEC_PER_SEC)

static LIST_HEAD(ends);
static u32 last_qpn;

struct module sim_wire_module[__SANX_WIRES];

static void ev_exec(struct sim_entry *en);
static void ev_sent(struct sim_entry *en);
static void ev_arrive(struct sim_entry *en);
static void ev_fail(struct sim_entry *en);

static struct sanx_wire_caps wire_caps(enum sanx_wire_kind kind)
{
	if (kind == SANX_WIRE_TCP)
		return (struct sanx_wire_caps){
			.device		= "tcp0",
			.map_max	= sim_plan.map_max[kind],
			.imm		= true,
		};
	return (struct sanx_wire_caps){
		.device		= "sim0",
		.map_max	= sim_plan.map_max[kind],
		/* Devices differ. */
		.lend_max	= sim_plan.lend && !sim_chance(3) ? 65536 : 0,
		.imm		= sim_plan.imm,
	};
}

/**
 * wire_end_new() - allocate an end
 * @node: its node
 * @kind: of its wire
 * @active: it asks for the link
 * Return: it, or NULL if memory is refused.
 */
struct wire_end *wire_end_new(int node, enum sanx_wire_kind kind, bool active)
{
	struct wire_end *e;
	void *p = kmalloc(1, GFP_KERNEL);

	if (!p)
		return NULL;
	kfree(p);
	e = calloc(1, sizeof(*e));
	e->node = node;
	e->kind = kind;
	e->caps = wire_caps(kind);
	e->wl.qpn = ++last_qpn;
	e->active = active;
	e->refs = 1;
	e->lost_from = U64_MAX;
	e->ev_exec = SIM_ENTRY(ev_exec, "device", false);
	e->ev_sent = SIM_ENTRY(ev_sent, "completion", true);
	e->ev_arrive = SIM_ENTRY(ev_arrive, "arrival", true);
	e->fail = (struct sim_timer){ .slot = -1,
		.entry = SIM_ENTRY(ev_fail, "link lost", false) };
	e->ev_sent.node = node;
	e->ev_arrive.node = node;
	e->fail.entry.node = node;
	wire_step_init(e);
	list_add_tail(&e->list, &ends);
	return e;
}

void wire_end_get(struct wire_end *e)
{
	e->refs++;
}

void wire_end_put(struct wire_end *e)
{
	if (--e->refs)
		return;
	list_del(&e->list);
	free(e);
}

/* Does what this end sends arrive at the other? */
bool wire_path_out(const struct wire_end *e)
{
	return sim_rails_pass(e->node, e->rail, e->to, e->to_rail);
}

/* Does what the other sends arrive here? */
bool wire_path_in(const struct wire_end *e)
{
	return sim_rails_pass(e->to, e->to_rail, e->node, e->rail);
}

/* Is there a way from this end to the other, and back? */
bool wire_path_up(const struct wire_end *e)
{
	return wire_path_out(e) && wire_path_in(e);
}

static bool is_up(const struct wire_end *e)
{
	return e->live && e->peer && !e->broken && !e->stopped;
}

static bool can_exec(const struct wire_end *e)
{
	return e->exec < e->sent && e->live && !e->broken && e->peer &&
	       !e->peer->broken && !e->peer->stopped;
}

static u64 completable(const struct wire_end *e)
{
	bool early = sim_plan.early && e->kind == SANX_WIRE_RDMA && !e->broken;

	return min(early ? e->tail : e->acked, e->lost_from);
}

static bool can_complete(const struct wire_end *e)
{
	u64 i, end = completable(e);

	for (i = e->head; i < end; i++)
		if (e->q[i % WIRE_QUEUE].m.signal)
			return true;
	return false;
}

static bool waits_for_ack(const struct wire_end *e)
{
	return min(e->acked, e->lost_from) < e->tail;
}

/*
 * An RDMA device gives up what is not acknowledged for so long.  TCP does not, and the
 * engine has to notice.
 */
static void kick_path(struct wire_end *e)
{
	if (wire_path_in(e))
		e->acked = e->exec;
	if (e->kind == SANX_WIRE_RDMA && waits_for_ack(e) && !wire_path_up(e))
		wire_fail_at(e, 2 * NSEC_PER_SEC);
}

/**
 * wire_kick() - let happen what can
 * @e: an end whose state has changed
 */
void wire_kick(struct wire_end *e)
{
	if (e->stopped)
		return;
	if (is_up(e))
		kick_path(e);
	if (can_exec(e))
		sim_ready(&e->ev_exec);
	if (!e->completing && can_complete(e))
		sim_ready(&e->ev_sent);
	if (!e->arriving && e->in_head < e->in_tail)
		sim_ready(&e->ev_arrive);
}

static void check_msg(struct wire_end *e, const struct sanx_wire_msg *m)
{
	const struct sanx_wire_write *w;
	size_t pos;
	u32 n;
	int i;

	sim_assert(e->tail - e->head < WIRE_QUEUE - 8);
	sim_assert(m->slot < SANX_WIRE_SLOTS);
	sim_assert(m->bytes <= SANX_WIRE_FRAME_MAX && m->n_writes <= 2);
	sim_assert(m->bytes || (m->n_writes && e->caps.imm));
	for (i = 0; i < m->n_writes; i++) {
		w = &m->write[i];
		sim_assert(w->len && w->len <= SANX_WIRE_PAYLOAD_MAX);
		sanx_wire_piece(w, 0, &pos, &n);
		sim_assert(n == w->len || w->len <= e->caps.lend_max);
	}
}

static void add_msg(struct wire_end *e, const struct sanx_wire_msg *m)
{
	struct wire_msg *q;

	sim_assert(!e->stopped || !e->live);
	q = &e->q[e->tail % WIRE_QUEUE];
	free(q->data);
	*q = (struct wire_msg){ .m = *m, .enable = m->enable ? m->enable->priv : NULL };
	e->tail++;
	if (e->push_by && sim_now > e->push_by)
		sim_fail("node %d does not push what it has posted", e->node);
	if (m->pushed && !e->push_by)
		e->push_by = sim_now + PUSH_WITHIN;
	/* Such a wire does not send by itself what is to be pushed. */
	if (!m->pushed)
		e->sent = e->tail;
	/* A device notices that its messages are not acknowledged. */
	if (e->broken && !e->mute)
		wire_fail_at(e, 2 * NSEC_PER_SEC);
	wire_kick(e);
}

static int wire_post(struct sanx_wire_link *wl, const struct sanx_wire_msg *m)
{
	struct wire_end *e = wire_end_of(wl);

	sim_work.frames++;
	check_msg(e, m);
	if (sim_plan.death && !(sim_peace && sim_plan.cut) &&
	    sim_chance(100 * sim_plan.death))
		return -EIO;
	add_msg(e, m);
	return 0;
}

static void wire_push(struct sanx_wire_link *wl, bool more)
{
	struct wire_end *e = wire_end_of(wl);

	sim_may_sleep("push()");
	sim_assert(e->live || e->stopped || e->broken);
	e->push_by = 0;
	e->sent = e->tail;
	wire_kick(e);
}

static void read_pages(const struct wire_end *e, const struct sanx_wire_write *w, u8 *to)
{
	const struct sanx_wire_page *p;
	u32 done, n;
	size_t pos;

	for (done = 0; done < w->len; done += n) {
		p = sanx_wire_piece(w, done, &pos, &n);
		sim_assert(p->addr || e->kind == SANX_WIRE_TCP);
		memcpy(to + done, p->page->mem + pos, n);
	}
}

/* What the device reads for write @i. */
static void read_write(const struct wire_end *e, const struct wire_msg *q,
		       int i, u8 *to)
{
	const struct sanx_wire_write *w = &q->m.write[i];

	if (q->data)
		memcpy(to, q->data + (i ? q->m.write[0].len : 0), w->len);
	else
		read_pages(e, w, to);
}

static u32 write_bytes(const struct sanx_wire_msg *m)
{
	return (m->n_writes > 0 ? m->write[0].len : 0) +
	       (m->n_writes > 1 ? m->write[1].len : 0);
}

static const u8 *frame_of(const struct wire_end *e, const struct wire_msg *q)
{
	if (q->data)
		return q->data + write_bytes(&q->m);
	return e->frames + q->m.slot * SANX_WIRE_STRIDE;
}

static void do_write(struct wire_end *e, struct wire_msg *q)
{
	int i = q->writes++;
	struct sanx_wire_write w = q->m.write[i];
	u8 *to;

	sim_hostile_write(e, &w);
	to = wire_target(e->peer, &w);
	if (!to && sim_hostile(e->node, e->to)) {
		wire_break(e);
		e->fault = true;
		wire_fail_at(e, 0);
		return;
	}
	if (!to)
		sim_fail("node %d writes where node %d does not let it",
			 e->node, e->peer->node);
	read_write(e, q, i, to);
}

static struct wire_in *take_recv(struct wire_end *e)
{
	struct wire_end *p = e->peer;

	/* A peer that was lied to cannot know. */
	if (!p->recvs && sim_hostile(e->node, e->to)) {
		wire_break(e);
		wire_fail_at(e, 0);
		return NULL;
	}
	if (!p->recvs)
		sim_fail("node %d sends more than node %d has receives for",
			 e->node, p->node);
	p->recvs--;
	sim_assert(p->in_tail - p->in_head < WIRE_QUEUE);
	p->in[p->in_tail % WIRE_QUEUE].at = sim_now;
	return &p->in[p->in_tail++ % WIRE_QUEUE];
}

/* A hostile node sends one more frame, if the peer has a receive for it. */
static void do_extra(struct wire_end *e, const struct wire_in *last)
{
	struct wire_in extra = *last, *in;

	extra.bytes = sim_hostile_extra(e, extra.frame, extra.bytes);
	if (!extra.bytes || !e->peer->recvs)
		return;
	in = take_recv(e);
	extra.at = in->at;
	*in = extra;
}

static void do_frame(struct wire_end *e, const struct wire_msg *q)
{
	struct wire_in *in = take_recv(e);

	if (!in)
		return;
	in->seq = e->exec;
	in->bytes = q->m.bytes;
	in->imm = sim_hostile_imm(e, q->m.imm);
	if (q->m.n_writes)
		in->len = q->m.write[q->m.n_writes - 1].len;
	memcpy(in->frame, frame_of(e, q), q->m.bytes);
	if (sim_fuzz && in->bytes)
		in->bytes = sim_fuzz(in->frame, in->bytes);
	in->bytes = sim_hostile_frame(e, in->frame, in->bytes);
	do_extra(e, in);
	wire_kick(e->peer);
}

/* Carries out one part of the next message. */
static void ev_exec(struct sim_entry *en)
{
	struct wire_end *e = container_of(en, struct wire_end, ev_exec);
	struct wire_msg *q = &e->q[e->exec % WIRE_QUEUE];

	if (!can_exec(e) || !wire_path_out(e))
		return;
	if (q->enable)
		q->enable->enabled = true;
	while (q->writes < q->m.n_writes) {
		do_write(e, q);
		if (e->broken || sim_chance(4))
			goto out;
	}
	do_frame(e, q);
	e->exec++;
out:
	wire_kick(e);
}

/* Keeps what a message says, because its memory may change now. */
static void keep_data(struct wire_end *e, struct wire_msg *q)
{
	u32 n = write_bytes(&q->m);
	u8 *data = malloc(n + q->m.bytes + 1);
	int i;

	for (i = 0, n = 0; i < q->m.n_writes; n += q->m.write[i++].len)
		read_write(e, q, i, data + n);
	memcpy(data + n, frame_of(e, q), q->m.bytes);
	q->data = data;
}

/*
 * Completes messages: up to the next one that requested it, or to the last.
 * Return: false if there is none.
 */
static bool complete_some(struct wire_end *e)
{
	u64 i, last = 0, end = completable(e);
	bool all = sim_chance(4), found = false;
	struct wire_msg *q;

	for (i = e->head; i < end && (all || !found); i++)
		if (e->q[i % WIRE_QUEUE].m.signal) {
			last = i;
			found = true;
		}
	if (!found)
		return false;
	for (i = max(e->head, e->exec); i <= last; i++) {
		q = &e->q[i % WIRE_QUEUE];
		/* The registration itself happens in order, and early. */
		if (q->enable)
			q->enable->enabled = true;
		keep_data(e, q);
		q->enable = NULL;
	}
	e->head = last + 1;
	sanx_wire_sent(e->wl.link, e->q[last % WIRE_QUEUE].m.slot);
	return true;
}

static void run_begin(struct wire_end *e)
{
	e->running++;
	wire_end_get(e);
}

static void run_end(struct wire_end *e)
{
	e->running--;
	sim_wake(&e->idle);
	wire_kick(e);
	wire_end_put(e);
}

static void ev_sent(struct sim_entry *en)
{
	struct wire_end *e = container_of(en, struct wire_end, ev_sent);

	run_begin(e);
	e->completing = true;
	complete_some(e);
	e->completing = false;
	run_end(e);
}

static const char *const frame_names[] = {
	"immediate data", "DATA", "CREDIT", "FIN", "CLOSE", "CLOSE_ACK", "OPEN",
	"OPEN_ACK", "OPEN_REJ", "PING", "PONG", "RESUME", "RESUME_ACK",
	"RESUME_REJ", "RING", "LEAVE", "AUTH",
};

/* The trace has the type, the connection and the offset of a frame. */
static void note_frame(const u8 *frame, u32 imm)
{
	u32 conn = imm >> 8;
	u64 offset = 0;
	u8 type = 0;

	if (frame) {
		type = frame[0];
		memcpy(&conn, frame + 4, sizeof(conn));
		memcpy(&offset, frame + 8, sizeof(offset));
	}
	if (type < ARRAY_SIZE(frame_names))
		sim_note(frame_names[type], conn, offset);
}

static bool tell(struct wire_end *e, const struct wire_in *in)
{
	u8 *buf;
	bool again;

	sim_counts.frames++;
	note_frame(in->bytes ? in->frame : NULL, in->imm);
	if (!in->bytes)
		return sanx_wire_written(e->wl.link, in->imm, in->len);
	/* Of exactly this size, so that reads behind it are found. */
	buf = malloc(in->bytes);
	memcpy(buf, in->frame, in->bytes);
	again = sanx_wire_arrived(e->wl.link, buf, in->bytes);
	free(buf);
	return again;
}

static void arrive_one(struct wire_end *e)
{
	struct wire_in in = e->in[e->in_head % WIRE_QUEUE];

	e->in_head++;
	e->heard |= READ_ONCE(e->wl.link->state) != SANX_LINK_DYING;
	if (!tell(e, &in))
		return;
	e->recvs++;
	sanx_wire_received(e->wl.link);
}

static void ev_arrive(struct sim_entry *en)
{
	struct wire_end *e = container_of(en, struct wire_end, ev_arrive);

	/* What devices lose has to lie there for some time. */
	if (sim_plan.device && sim_chance(30))
		e->stalled = sim_steps + sim_rnd(300);
	if (sim_steps < e->stalled && !e->broken) {
		wire_kick(e);
		return;
	}
	run_begin(e);
	e->arriving = true;
	if (e->in_head < e->in_tail)
		arrive_one(e);
	e->arriving = false;
	run_end(e);
}

static void ev_fail(struct sim_entry *en)
{
	struct wire_end *e = container_of(en, struct wire_end, fail.entry);

	/* The rail was joined again. */
	if (!e->broken && (wire_path_up(e) || !waits_for_ack(e)))
		return;
	run_begin(e);
	wire_break(e);
	if (!e->stopped)
		sanx_wire_failed(e->wl.link, e->fault ? SANX_WIRE_FAULT :
							SANX_WIRE_LOST);
	run_end(e);
}

/**
 * wire_fail_at() - tell the engine that a link is lost
 * @e: its end
 * @ns: from now
 */
void wire_fail_at(struct wire_end *e, u64 ns)
{
	if (!e->stopped && !sim_timer_active(&e->fail))
		sim_timer_set(&e->fail, sim_now + ns);
}

/**
 * wire_break() - nothing passes a link any more
 * @e: one of its ends
 */
void wire_break(struct wire_end *e)
{
	e->broken = true;
	if (e->peer)
		e->peer->broken = true;
}

/**
 * wire_prepare() - give an end its slots and receives
 * @e: the end
 * Return: 0 or -errno.
 */
int wire_prepare(struct wire_end *e)
{
	void *frames;
	int err;

	err = sanx_wire_prepare(e->wl.link, &e->caps, &frames);
	if (err)
		return err;
	e->frames = frames;
	e->recvs = SANX_WIRE_RECVS;
	e->prepared = true;
	return 0;
}

/* What the device has of the peer still counts; completions may be lost. */
static void drain(struct wire_end *e)
{
	while (e->running)
		sim_wait(&e->idle, "stop of a link");
	sim_unready(&e->ev_exec);
	sim_unready(&e->ev_sent);
	sim_unready(&e->ev_arrive);
	sim_timer_cancel(&e->fail);
	sim_atomic(1);
	while (e->in_head < e->in_tail)
		arrive_one(e);
	while (!sim_chance(3) && complete_some(e))
		;
	sim_atomic(-1);
}

/*
 * Has the node not looked at a message for half the time after which its peer
 * gives the link up (beat_stuck(), beat_lost())?  Tasks run in random order, so in a
 * world with many of them a queue of arrivals may be that slow.
 */
static bool is_slow(const struct wire_end *e)
{
	return e->in_head < e->in_tail &&
	       sim_now - e->in[e->in_head % WIRE_QUEUE].at >
	       min(10 * heartbeat_ms, failover_ms / 2) * NSEC_PER_MSEC;
}

/* Is there a link on a better rail, or one that the peer has preferred? */
static bool is_replaced(const struct sanx_link *link)
{
	return sanx_lane_of(link)->out && sanx_lane_of(link)->out != link;
}

static void wire_stop(struct sanx_wire_link *wl)
{
	struct wire_end *e = wire_end_of(wl);

	sim_may_sleep("stop()");
	/* The set-up has time limits of its own, and each end may see its end later. */
	if (sim_calm && is_up(e) && e->heard && !e->peer->stopped &&
	    wl->link->why == SANX_END_LOST && !is_replaced(wl->link) &&
	    !is_slow(e) && !is_slow(e->peer))
		sim_fail("node %d gives up a link that is up", e->node);
	if (is_up(e) && !wire_path_up(e))
		sim_counts.deaths++;
	wire_break(e);
	if (e->peer && wire_path_out(e))
		wire_fail_at(e->peer, sim_rnd(2000000));
	e->stopped = true;
	wire_setup_stop(e);
	if (e->prepared)
		drain(e);
}

static void wire_free(struct sanx_wire_link *wl)
{
	struct wire_end *e = wire_end_of(wl);
	unsigned int i;

	sim_assert(e->stopped && !e->running);
	if (wire_maps(e))
		sim_fail("memory is mapped when a link is freed");
	if (e->peer)
		e->peer->peer = NULL;
	/* Most links die young, and have touched few pages of the queue. */
	for (i = 0; i < min_t(u64, e->tail, WIRE_QUEUE); i++)
		free(e->q[i].data);
	wire_end_put(e);
}

const struct sanx_wire_ops sim_wire_ops[__SANX_WIRES] = {
	[SANX_WIRE_RDMA] = {
		.kind		= SANX_WIRE_RDMA,
		.owner		= &sim_wire_module[SANX_WIRE_RDMA],
		.listen		= wire_listen_rdma,
		.unlisten	= wire_unlisten,
		.create		= wire_create_rdma,
		.connect	= wire_connect,
		.quiesce	= wire_quiesce,
		.stop		= wire_stop,
		.free		= wire_free,
		.post		= wire_post,
		.map		= wire_map,
		.unmap		= wire_unmap,
		.sync		= wire_sync,
		.map_page	= wire_map_page,
		.unmap_page	= wire_unmap_page,
	},
	[SANX_WIRE_TCP] = {
		.kind		= SANX_WIRE_TCP,
		.owner		= &sim_wire_module[SANX_WIRE_TCP],
		.listen		= wire_listen_tcp,
		.unlisten	= wire_unlisten,
		.create		= wire_create_tcp,
		.connect	= wire_connect,
		.quiesce	= wire_quiesce,
		.stop		= wire_stop,
		.free		= wire_free,
		.post		= wire_post,
		.push		= wire_push,
		.map		= wire_map,
		.unmap		= wire_unmap,
		.sync		= wire_sync,
	},
};

/**
 * sim_wire_kick() - a rail was joined again
 */
void sim_wire_kick(void)
{
	struct wire_end *e;

	list_for_each_entry(e, &ends, list)
		wire_kick(e);
}

/*
 * The device fails: messages that it had acknowledged do not arrive, even if
 * they were completed.
 */
static void lose_arrived(struct wire_end *e)
{
	struct wire_end *from = e->peer;
	u64 keep = e->in_head + sim_rnd(e->in_tail - e->in_head + 1);
	u64 seq;

	if (keep == e->in_tail)
		return;
	seq = e->in[keep % WIRE_QUEUE].seq;
	e->in_tail = keep;
	sim_unready(&e->ev_arrive);
	wire_kick(e);
	if (!from)
		return;
	from->lost_from = seq;
}

/* Has a message arrived there that was completed, and that nobody has seen? */
static bool can_lose(const struct wire_end *e)
{
	return is_up(e) && e->in_head < e->in_tail &&
	       e->in[e->in_head % WIRE_QUEUE].seq < e->peer->head;
}

static void kill_end(struct wire_end *e, bool silent, bool device)
{
	struct wire_end *p = e->peer;

	sim_counts.deaths++;
	sim_note("a link dies: silent, device", silent, device);
	wire_break(e);
	if (device)
		lose_arrived(e);
	if (!silent) {
		if (sim_rnd(4))
			wire_fail_at(e, sim_rnd(1000 * sim_rnd(50000) + 1));
		if (sim_rnd(4))
			wire_fail_at(p, sim_rnd(1000 * sim_rnd(50000) + 1));
	}
	if (silent && sim_chance(8)) {
		e->mute = true;
		p->mute = true;
		return;
	}
	if (waits_for_ack(e))
		wire_fail_at(e, 2 * NSEC_PER_SEC);
	if (waits_for_ack(p))
		wire_fail_at(p, 2 * NSEC_PER_SEC);
}

/**
 * sim_wire_kill() - end a link that is up
 * @silent: its devices do not notice
 * @device: a device fails
 */
void sim_wire_kill(bool silent, bool device)
{
	struct wire_end *e, *found = NULL;
	u32 n = 0;

	list_for_each_entry(e, &ends, list)
		if (is_up(e) && !sim_rnd(++n))
			found = e;
	if (!found)
		return;
	if (device)
		list_for_each_entry(e, &ends, list)
			if (can_lose(e))
				found = e;
	kill_end(found, silent, device);
}

static void kill_where(bool (*match)(const struct wire_end *e, int a, int b),
		       int a, int b)
{
	struct wire_end *e;

	list_for_each_entry(e, &ends, list)
		if (is_up(e) && match(e, a, b))
			kill_end(e, sim_chance(2), false);
}

static bool of_node(const struct wire_end *e, int node, int unused)
{
	return e->node == node || e->to == node;
}

static bool of_rail(const struct wire_end *e, int node, int rail)
{
	return (e->node == node && e->rail == rail) ||
	       (e->to == node && e->to_rail == rail);
}

void sim_wire_kill_node(int node)
{
	kill_where(of_node, node, 0);
}

void sim_wire_kill_rail(int node, int rail)
{
	kill_where(of_rail, node, rail);
}

/**
 * sim_wire_check() - check the links that are up
 */
void sim_wire_check(void)
{
	struct wire_end *e;

	list_for_each_entry(e, &ends, list)
		if (is_up(e) && !e->peer->stopped)
			sim_check_link(e);
}

unsigned int sim_wire_up(void)
{
	struct wire_end *e;
	unsigned int n = 0;

	list_for_each_entry(e, &ends, list)
		n += is_up(e);
	return n;
}
