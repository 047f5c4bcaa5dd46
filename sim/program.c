// SPDX-License-Identifier: GPL-2.0
/*
 * Programs: pairs of them send each other bytes that both can compute, and
 * check what comes.  Each end of a connection has a task that writes and one
 * that reads and closes.
 */
#include <stdio.h>
#include <stdlib.h>

#include "config/config.h"
#include "link/peer/peer.h"
#include "program.h"

LIST_HEAD(sim_pairs);

/* The listener of each node is to run; its socket listens. */
static bool listening[SIM_NODES + 1], listens[SIM_NODES + 1];
/* Programs of each node. */
static int running[SIM_NODES + 1];
static unsigned int n_pairs, next_pair;
static bool ending;
static int n_tasks;

/**
 * sim_excuse() - connections between two nodes may end with an error
 * @a: a node, or less than 1 for any
 * @b: the other one, or 0 for any
 * @why: for people
 */
void sim_excuse(int a, int b, const char *why)
{
	struct sim_pair *p;

	list_for_each_entry(p, &sim_pairs, list)
		if (a < 1 || (p->end[0].node == a && (!b || p->end[1].node == b)) ||
		    (p->end[1].node == a && (!b || p->end[0].node == b)))
			p->excuse = p->excuse ?: why;
}

/*
 * A program that gets no memory tries again later.  But a connection that comes
 * to another link needs memory there and then, and may end without.
 */
void sim_refused(const char *where)
{
	static const char *const waits[] = { "writer", "reader", "client",
		"sanx_rings_work", "link request" };
	unsigned int i;

	sim_note("memory is refused", 0, 0);
	for (i = 0; i < ARRAY_SIZE(waits); i++)
		if (!strcmp(sim_current->entry.name, waits[i]))
			return;
	/* Work that is for all nodes, such as a change of keys, starts other work. */
	sim_excuse(sim_current->node, 0, "no memory for a link");
}

/* Large pieces, one after the other, and a reader that takes them. */
static void plan_bulk(struct sim_end *e)
{
	e->total = 200000 + sim_rnd(600000);
	e->piece = SIM_BUF;
	e->slow = 0;
	e->lazy = 0;
	e->early = false;
	e->abort = false;
	e->half = 0;
	e->cork = false;
	e->urgent = false;
	e->nonblock = false;
	e->sndbuf = 0;
	e->rcvbuf = 0;
}

/* Some bytes now and then, which the other end reads at once. */
static void plan_lasting(struct sim_end *e)
{
	static const u32 piece[] = { 1, 300, 300, 4000, 40000 };

	plan_bulk(e);
	e->total = BIT(30);
	e->piece = piece[sim_rnd(ARRAY_SIZE(piece))];
	e->slow = 1000000 + sim_rnd(100000000);
	e->keepalive = false;
	e->pause_at = 0;
	e->lasting = true;
}

static void plan_end(struct sim_end *e)
{
	static const u32 total[] = { 1, 200, 2000, 20000, 100000, 400000,
				     2000000 };
	static const u32 piece[] = { 1, 16, 300, 4000, 40000, SIM_BUF };

	e->total = sim_rnd(total[sim_rnd(sim_chance(8) ? 7 : 6)]);
	e->piece = 1 + sim_rnd(piece[sim_rnd(ARRAY_SIZE(piece))]);
	e->total = min(e->total, 400 * e->piece);
	e->slow = sim_chance(4) ? 1 + sim_rnd(20000 * sim_rnd(20000) + 1) : 0;
	e->lazy = sim_chance(4) ? 1 + sim_rnd(20000 * sim_rnd(20000) + 1) : 0;
	e->early = sim_chance(8);
	e->abort = sim_chance(20);
	e->half = sim_rnd(4);
	if (sim_plan.hasty && sim_chance(2)) {
		e->half = 3;
		e->early = true;
		e->total = sim_rnd(200);
	}
	e->nodelay = sim_chance(2);
	e->cork = sim_chance(6);
	e->urgent = sim_chance(10);
	e->nonblock = sim_chance(4);
	e->sndbuf = sim_chance(6) ? 4096 << sim_rnd(7) : 0;
	e->rcvbuf = sim_chance(6) ? 4096 << sim_rnd(7) : 0;
	e->keepalive = sim_chance(8);
	e->pause_at = sim_chance(6) ? 1 + sim_rnd(e->total + 1) : 0;
	/* Only large pieces are lent. */
	if ((sim_plan.bulk || e->zerocopy || e->splice) && sim_chance(2))
		plan_bulk(e);
}

static struct sim_pair *pair_new(int from, int to)
{
	struct sim_pair *p = calloc(1, sizeof(*p));
	int i;

	p->id = ++next_pair;
	p->port = 1024 + p->id % 60000;
	for (i = 0; i < 2; i++) {
		p->end[i].pair = p;
		p->end[i].side = i;
		p->end[i].node = i ? to : from;
		p->end[i].zerocopy = p->id % 4 == 1;
		p->end[i].splice = p->id % 4 == 2;
		plan_end(&p->end[i]);
	}
	if (sim_plan.lasting && !sim_chance(4)) {
		plan_lasting(&p->end[0]);
		plan_lasting(&p->end[1]);
	}
	p->refs = 1;
	if (sim_hostile(from, to))
		p->excuse = "a peer says anything";
	if (sim_nodes[from].unmapped == to || sim_nodes[to].unmapped == from ||
	    sim_nodes[from].unmapped == from || sim_nodes[to].unmapped == to)
		p->excuse = "a node is not mapped";
	if (sim_nodes[from].denied == to || sim_nodes[to].denied == from)
		p->excuse = "a port rule";
	if (sim_rails_differ() && !sim_rails_strict())
		p->excuse = "a rail has no room for a ring";
	list_add_tail(&p->list, &sim_pairs);
	n_pairs++;
	return p;
}

static void pair_put(struct sim_pair *p)
{
	if (--p->refs)
		return;
	list_del(&p->list);
	n_pairs--;
	free(p);
}

static bool lies(const struct sim_end *e)
{
	return sim_hostile(e->pair->end[0].node, e->pair->end[1].node);
}

static void excuse_pair(struct sim_pair *p, const char *why)
{
	p->excuse = p->excuse ?: why;
}

static struct sim_end *other(struct sim_end *e)
{
	return &e->pair->end[!e->side];
}

/* An end failed.  The other one may fail as well then. */
static void end_failed(struct sim_end *e, int err)
{
	struct sim_pair *p = e->pair;

	e->failed = true;
	sim_note("a program gets an error: connection, errno", p->id, -err);
	if (e->s && sim_sock_killed(e->s))
		return;
	/* The link was lost before the answer came, and the client uses TCP. */
	if (e->side && !p->connected)
		excuse_pair(p, "the client had no answer");
	/* HALF_END of conn/backlog.c: no link has lived long enough to say it. */
	if (p->connected && !p->accepted && sim_now - p->since > 60 * NSEC_PER_SEC)
		excuse_pair(p, "it was half-open for too long");
	/* CLOSED_MAX of link/peer/retry.c: likewise. */
	if (sim_plan.death && other(e)->closed &&
	    sim_now - other(e)->closed > 60 * NSEC_PER_SEC)
		excuse_pair(p, "the other end was closed too long ago");
	if (!p->excuse)
		sim_fail("connection %u: errno %d at node %d without a reason",
			 p->id, -err, e->node);
	if (err != -ECONNRESET && err != -EPIPE && err != -ETIMEDOUT &&
	    err != -ENOTCONN && err != -ECONNABORTED)
		sim_fail("connection %u: errno %d, which TCP does not give",
			 p->id, -err);
}

static void program_start(int node, const char *name, void (*fn)(void *arg),
			  void *arg)
{
	running[node]++;
	n_tasks++;
	sim_spawn(node, name, fn, arg);
}

static void program_end(int node)
{
	running[node]--;
	n_tasks--;
}

static void setup_sock(struct sim_end *e)
{
	struct tcp_sock *tp = sim_sock_tp(e->s);
	struct sock *sk = (struct sock *)tp;

	tp->nonagle = e->nodelay ? TCP_NAGLE_OFF : 0;
	if (e->sndbuf) {
		sk->sk_sndbuf = e->sndbuf;
		sk->sk_userlocks |= SOCK_SNDBUF_LOCK;
	}
	if (e->rcvbuf) {
		sk->sk_rcvbuf = e->rcvbuf;
		sk->sk_userlocks |= SOCK_RCVBUF_LOCK;
	}
	if (e->keepalive) {
		sk->sk_flags |= BIT(SOCK_KEEPOPEN);
		tp->keepalive_time = 5 * HZ;
		tp->keepalive_intvl = 75 * HZ;
		tp->keepalive_probes = 9;
	}
}

static void pause_for(u32 ns)
{
	if (ns && !ending)
		sim_sleep(1 + sim_rnd(ns), "a program pauses");
}

static int write_flags(const struct sim_end *e)
{
	int flags = 0;

	if (e->cork && sim_chance(2))
		flags |= MSG_MORE;
	/* Before accept() the engine does not know that they are inline. */
	if (e->urgent && e->pair->end[!e->side].started && sim_chance(4))
		flags |= MSG_OOB;
	return flags;
}

static long write_timeo(const struct sim_end *e)
{
	if (e->nonblock || e->early)
		return sim_chance(2) ? 0 : sim_rnd(50);
	return MAX_SCHEDULE_TIMEOUT;
}

/* As send(); the memory is the program's again. */
static ssize_t write_buf(struct sim_end *e, struct sim_buf *b, struct msghdr *msg)
{
	ssize_t n = sim_send(e->s, msg, write_flags(e), write_timeo(e));

	if (msg->msg_ubuf)
		net_zcopy_put(msg->msg_ubuf);
	else if (msg->msg_flags & MSG_SPLICE_PAGES)
		sim_buf_file(b);
	else
		sim_buf_spoil(b);
	return n;
}

/* Writes one piece.  Return: false at the end. */
static bool write_piece(struct sim_end *e, struct sim_buf *b)
{
	u32 len = min_t(u64, 1 + sim_rnd(e->piece), e->total - e->sent);
	bool large = len > SANX_SLACK_MAX;
	struct msghdr msg = {};
	ssize_t n;

	if (large && (e->zerocopy || e->splice))
		b = sim_buf_new();
	if (large && e->zerocopy) {
		sim_buf_lend(b);
		msg.msg_ubuf = &b->ubuf;
	}
	sim_buf_fill(b, e, len);
	msg.msg_iter = sim_buf_iter(b, len);
	if (large && sim_chance(2))
		msg.msg_iter.head = sim_rnd(3000);
	if (large && e->splice) {
		msg.msg_flags = MSG_SPLICE_PAGES;
		msg.msg_iter.bvec = true;
	}
	if (sim_chance(sim_plan.fault))
		msg.msg_iter.fault = sim_rnd(len + PAGE_SIZE) & ~(PAGE_SIZE - 1);
	e->offering = len;
	if (e->sent == other(e)->received)
		e->progress = sim_now;
	n = write_buf(e, b, &msg);
	e->offering = 0;
	if (n > 0) {
		e->sent += n;
	} else if (n == -EAGAIN) {
		sim_sleep(1 + sim_rnd(3000000), "a program polls");
		if (e->early && sim_chance(10))
			return false;
	} else if (n == -EFAULT) {
		sim_assert(sim_plan.fault);
	} else if (n < 0) {
		/* A part of a record may have gone out. */
		e->offering = sim_plan.records ? len : 0;
		end_failed(e, n);
		return false;
	}
	return true;
}

static void writer_ends(struct sim_end *e)
{
	if (e->failed || e->half == 0)
		return;
	e->fin = true;
	if (e->half == 3 && (e->early || sim_chance(3))) {
		excuse_pair(e->pair, "both directions were shut down");
		e->deaf = true;
		sim_shutdown(e->s, SHUTDOWN_MASK);
	} else {
		sim_shutdown(e->s, SEND_SHUTDOWN);
	}
}

static void writer(void *arg)
{
	struct sim_end *e = arg;
	struct sim_buf *b = sim_buf_new();

	while (e->sent < e->total && !ending && !e->stop) {
		if (!write_piece(e, b))
			break;
		if (e->pause_at && e->sent >= e->pause_at) {
			e->pause_at = 0;
			sim_sleep(sim_rnd(60) * NSEC_PER_SEC, "a program idles");
		}
		if (e->lasting || sim_chance(4))
			pause_for(e->slow);
		if (e->cork && sim_chance(8))
			sim_cork(e->s, sim_chance(2));
	}
	if (e->cork)
		sim_cork(e->s, false);
	writer_ends(e);
	e->writing = false;
	sim_wake(&e->written);
	sim_buf_free(b);
	program_end(e->node);
	pair_put(e->pair);
}

/* Reads once.  Return: false at the end. */
static bool read_piece(struct sim_end *e, struct sim_buf *b)
{
	u32 len = 1 + sim_rnd(ending ? SIM_BUF : other(e)->piece + 100);
	struct iov_iter it = sim_buf_iter(b, min_t(u32, len, SIM_BUF));
	struct sim_end *o = other(e);
	ssize_t n;

	n = sim_recv(e->s, &it, 0, e->nonblock || !e->half ? sim_rnd(50) :
						  MAX_SCHEDULE_TIMEOUT);
	if (n > 0) {
		if (e->received + n > o->sent + o->offering && !lies(e))
			sim_fail("connection %u: node %d reads %llu bytes of %llu",
				 e->pair->id, e->node, e->received + n,
				 o->sent + o->offering);
		if (!lies(e))
			sim_buf_check(b, o, e->received, n);
		e->received += n;
		o->progress = sim_now;
		sim_counts.bytes += n;
		return true;
	}
	if (n == -EAGAIN)
		return true;
	if (n < 0) {
		end_failed(e, n);
		return false;
	}
	/* An error is reported once, here or to the writer. */
	if (e->deaf || e->failed || !sanx_conn_fin_rcvd(sim_sock_conn(e->s)))
		return false;
	e->eof = true;
	if ((!o->fin || e->received != o->sent) && !lies(e))
		sim_fail("connection %u: node %d reads the end after %llu of %llu bytes",
			 e->pair->id, e->node, e->received, o->sent);
	return false;
}

static bool reads_on(struct sim_end *e)
{
	struct sim_end *o = other(e);

	if (e->failed || e->deaf || sim_sock_killed(e->s))
		return false;
	/* It knows that nothing more will come, and closes. */
	if (e->half == 0 && o->started && !o->writing &&
	    e->received == o->sent && !e->writing) {
		e->eof = true;
		return false;
	}
	return !e->early || !sim_chance(20);
}

static void reader(struct sim_end *e)
{
	struct sim_buf *b = sim_buf_new();

	while (reads_on(e) && read_piece(e, b))
		if (sim_chance(4))
			pause_for(e->lazy);
	sim_buf_free(b);
}

/* Nobody finds the socket once it is being closed. */
static void end_free(struct sim_end *e, bool abort)
{
	struct sim_sock *s = e->s;

	e->fin = true;
	e->closed = sim_now;
	e->s = NULL;
	sim_close(s, abort);
}

static void end_close(struct sim_end *e)
{
	if (!e->eof || e->abort)
		excuse_pair(e->pair, "an end was closed early");
	end_free(e, e->abort);
	if (e->failed)
		sim_counts.errors++;
	else if (e->eof)
		sim_counts.finished++;
}

/* An end from the connection to close(). */
static void end_run(struct sim_end *e)
{
	setup_sock(e);
	e->writing = true;
	e->started = true;
	e->pair->refs++;
	program_start(e->node, "writer", writer, e);
	reader(e);
	e->stop = true;
	while (e->writing)
		sim_wait(&e->written, "the writer");
	if (!e->early && !e->deaf)
		pause_for(e->lazy);
	end_close(e);
}

static void server_end(void *arg)
{
	struct sim_end *e = arg;

	end_run(e);
	program_end(e->node);
	pair_put(e->pair);
}

/* A program that accepts finds a connection once, over AF_SANX or by TCP. */
static void check_once(const struct sim_pair *p)
{
	if (p->fell_back && p->accepted)
		sim_fail("connection %u was accepted, and its connector uses TCP",
			 p->id);
}

/* Before it connects, a program may ask what would become of that. */
static void ask(const struct sim_pair *p)
{
	enum sanx_fallback answer = sim_question(p->end[0].s, p->end[1].node,
						 sim_chance(2) ? SIM_PORT : 0);

	sim_note("a question is answered: connection, answer", p->id, answer);
	switch (answer) {
	case SANX_FALLBACK_NONE:
		sim_counts.welcomes++;
		break;
	case SANX_FALLBACK_OPTION:
	case SANX_FALLBACK_ACCEPT:
	case SANX_FALLBACK_ASKED:
	case SANX_FALLBACK_ROUTE:
		sim_fail("a question of connection %u has answer %d", p->id, answer);
		break;
	default:
		if (sim_calm || sim_rails_strict())
			sim_fail("a question of connection %u has answer %d", p->id, answer);
		break;
	}
}

static void client(void *arg)
{
	struct sim_pair *p = arg;
	struct sim_end *e = &p->end[0];
	int err;

	e->s = sim_socket(e->node);
	if (sim_chance(8))
		ask(p);
	setup_sock(e);
	if (e->doomed)
		sim_sock_kill(e->s);
	err = sim_connect(e->s, p->end[1].node, SIM_PORT, p->port,
			  sim_chance(10) ? sim_rnd(20) : 100 * HZ);
	sim_note("connect returns: connection, result", p->id, err);
	if (!err) {
		p->connected = true;
		p->since = sim_now;
		sim_counts.conns++;
		end_run(e);
	} else {
		sim_counts.refused++;
		p->fell_back = err == 1;
		check_once(p);
		/* TCP would repeat its SYN for longer. */
		if (err == -ETIMEDOUT)
			sim_fail("connection %u gave up too soon", p->id);
		/*
		 * A link may be given up for a better one, or lost where there is another; and a
		 * loaded one may be late with the answer.
		 */
		if (err == 1 && (sim_calm || (sim_rails_strict() &&
					      !sim_rails_admitted(p->end[1].node, p->port))))
			sim_fail("connection %u was refused without a reason",
				 p->id);
		excuse_pair(p, "connect() failed");
		end_free(e, false);
	}
	program_end(e->node);
	pair_put(p);
}

static struct sim_pair *pair_find(int from, int to, u16 port)
{
	struct sim_pair *p;

	list_for_each_entry(p, &sim_pairs, list)
		if (p->port == port && p->end[0].node == from &&
		    p->end[1].node == to && !p->end[1].s && !p->end[1].closed)
			return p;
	return NULL;
}

static int node_of(const struct in6_addr *addr)
{
	return addr->s6_addr[15];
}

static void serve(struct sim_sock *s, int node)
{
	struct sanx_conn *conn = sim_sock_conn(s);
	struct sim_pair *p = pair_find(node_of(&conn->remote.addr), node,
				       sim_port(&conn->remote));

	if (p) {
		p->accepted = true;
		check_once(p);
	}
	if (!p || !listening[node]) {
		if (p) {
			excuse_pair(p, "the listener ended");
			p->end[1].fin = true;
			p->end[1].closed = sim_now;
		}
		sim_close(s, false);
		return;
	}
	p->refs++;
	p->end[1].s = s;
	program_start(node, "reader", server_end, &p->end[1]);
}

static void listener(void *arg)
{
	int node = (long)arg;
	struct sim_sock *l = sim_socket(node), *s;

	sim_listen(l, SIM_PORT, sim_rnd(4));
	listens[node] = true;
	while (listening[node]) {
		s = sim_accept(l, 50);
		if (s)
			serve(s, node);
	}
	listens[node] = false;
	sim_close(l, false);
	program_end(node);
}

/**
 * sim_programs_boot() - start the listener of a node
 */
void sim_programs_boot(int node)
{
	listening[node] = true;
	program_start(node, "listener", listener, (void *)(long)node);
}

static struct sim_end *next_alive(int node)
{
	struct sim_pair *p;
	int i;

	list_for_each_entry(p, &sim_pairs, list)
		for (i = 0; i < 2; i++)
			if (p->end[i].node == node && p->end[i].s &&
			    !sim_sock_killed(p->end[i].s))
				return &p->end[i];
	return NULL;
}

/**
 * sim_programs_kill() - end all programs of a node
 */
void sim_programs_kill(int node)
{
	struct sim_pair *p;
	struct sim_end *e;

	listening[node] = false;
	sim_excuse(node, 0, "a node restarted");
	list_for_each_entry(p, &sim_pairs, list)
		p->end[0].doomed |= p->end[0].node == node;
	while ((e = next_alive(node))) {
		e->stop = true;
		e->early = true;
		sim_sock_kill(e->s);
	}
}

/* Does the peer have to say yet that the connection goes on? */
static bool resumes(const struct sim_end *e)
{
	struct sanx_conn *conn;

	if (!e->s || sim_sock_killed(e->s))
		return false;
	conn = sim_sock_conn(e->s);
	return conn && conn->ops == &sanx_link_ops &&
	       sanx_lconn_is_lost(&sanx_lconn_of(conn)->state) &&
	       sanx_lconn_of(conn)->state.phase != SANX_LCONN_SUSPENDED;
}

/**
 * sim_programs_regret() - a program resets a connection that is being resumed
 *
 * That takes few steps, so it rarely happens by chance.
 */
void sim_programs_regret(void)
{
	struct sim_pair *p;
	struct sim_end *e;
	int i;

	list_for_each_entry(p, &sim_pairs, list)
		for (i = 0; i < 2; i++) {
			e = &p->end[i];
			if (!resumes(e))
				continue;
			excuse_pair(p, "a program gave up");
			e->stop = true;
			e->early = true;
			e->abort = true;
			sim_sock_kill(e->s);
			return;
		}
}

/* Does the node have a program? */
bool sim_programs_on(int node)
{
	return running[node];
}

static bool accepts(int node)
{
	return listening[node] && listens[node];
}

/**
 * sim_programs_look() - start a connection if there are too few
 */
void sim_programs_look(void)
{
	int from = 1 + sim_rnd(sim_plan.nodes), to = 1 + sim_rnd(sim_plan.nodes);
	struct sim_pair *p;

	if (ending || n_pairs >= sim_plan.conns || !sim_nodes[from].net ||
	    !accepts(from) || !accepts(to))
		return;
	if (from == to && !sim_chance(8))
		return;
	p = pair_new(from, to);
	program_start(from, "client", client, p);
}

/* What a hostile node has said may let a connection hang. */
static void kill_hostile(void)
{
	struct sim_pair *p;
	int i;

	list_for_each_entry(p, &sim_pairs, list) {
		if (!sim_hostile(p->end[0].node, p->end[1].node))
			continue;
		p->end[0].doomed = true;
		for (i = 0; i < 2; i++) {
			p->end[i].stop = true;
			p->end[i].early = true;
			if (p->end[i].s && !sim_sock_killed(p->end[i].s))
				sim_sock_kill(p->end[i].s);
		}
	}
}

/**
 * sim_programs_end() - programs finish what they do, and start nothing
 */
void sim_programs_end(void)
{
	int i;

	ending = true;
	if (sim_plan.hostile)
		kill_hostile();
	for (i = 0; i <= (int)sim_plan.nodes; i++)
		if (n_pairs == 0)
			listening[i] = false;
}

bool sim_programs_done(void)
{
	return !n_tasks;
}

void sim_programs_start(void)
{
	unsigned int i;

	ending = false;
	n_tasks = 0;
	n_pairs = 0;
	next_pair = 0;
	INIT_LIST_HEAD(&sim_pairs);
	for (i = 1; i <= sim_plan.nodes; i++)
		sim_programs_boot(i);
}

/**
 * sim_programs_slow_down() - let time pass with fewer steps
 */
void sim_programs_slow_down(void)
{
	struct sim_pair *p;
	int i;

	list_for_each_entry(p, &sim_pairs, list)
		for (i = 0; i < 2; i++)
			if (p->end[i].lasting)
				p->end[i].slow = 2 * NSEC_PER_SEC;
}

/**
 * sim_programs_stalled() - fail if a connection does not go on
 * @most: how long bytes may be on their way, in ns
 */
void sim_programs_stalled(u64 most)
{
	struct sim_pair *p;
	struct sim_end *e;
	int i;

	list_for_each_entry(p, &sim_pairs, list)
		for (i = 0; i < 2; i++) {
			e = &p->end[i];
			if (e->lasting && !p->excuse && p->connected &&
			    other(e)->started && e->sent > other(e)->received &&
			    sim_now - e->progress > most)
				sim_fail("connection %u: bytes of node %d wait for %llu ms",
					 p->id, e->node,
					 (sim_now - e->progress) / NSEC_PER_MSEC);
		}
}

/**
 * sim_programs_dump() - print the connections
 */
void sim_programs_dump(void)
{
	struct sim_pair *p;
	struct sim_end *e;
	int i;

	list_for_each_entry(p, &sim_pairs, list)
		for (i = 0; i < 2; i++) {
			e = &p->end[i];
			fprintf(stderr, "  connection %u.%d node %d: sent %llu/%u, read %llu, ",
				p->id, i, e->node, e->sent, e->total,
				e->received);
			fprintf(stderr, "%s%s%s%s%s%s\n", e->s ? "open " : "",
				e->fin ? "fin " : "", e->eof ? "eof " : "",
				e->failed ? "failed " : "",
				e->writing ? "writing " : "", p->excuse ?: "");
		}
}
