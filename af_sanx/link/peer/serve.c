// SPDX-License-Identifier: GPL-2.0
/*
 * Admission of connections: OPEN and RESUME requests of the peer.
 *
 * A request arrives in softirq, but serving it takes memory and a registration.
 * So it is copied, and served by a kernel thread (sci-socket.txt 5.1.5).  Memory
 * for as many requests as the peer may have unanswered (SANX_OPENS_MAX) is allocated
 * with the link.
 *
 * Each link has a work item of its own (link.serve), which serves one request after
 * the other, as listeners are to see connections in the order of the requests.  So a
 * peer that asks for much, or whose requests take long, delays no other peer: the
 * scheduler shares the CPU among the threads, and all links of a peer share its rate
 * (bounds.c).
 *
 * link->tx_lock guards link.opens_free and .rejects, link->requests_lock guards .requests.
 * Each request that is not in .opens_free holds a user of its link.
 */
#include <linux/memcontrol.h>
#include <linux/sched/mm.h>

#include "config/cov.h"
#include "peer.h"

static int open_parse(struct sanx_request *o, const struct sanx_frame *f)
{
	int err;

	if (f->type == SANX_FRAME_RESUME)
		err = sanx_resume_parse(f, &o->peer_id, &o->win, &o->token);
	else
		err = sanx_open_parse(f, &o->open, &o->peer_id, &o->win);
	o->f = *f;
	o->f.body = NULL;
	return err ?: sanx_window_ok(o->link, &o->win);
}

/* tx_lock is held, to be released by sanx_xmit_unlock(). */
static void open_reject(struct sanx_request *o)
{
	list_add_tail(&o->node, &o->link->rejects);
	sanx_xmit_run(o->link);
}

/*
 * Queues an OPEN or RESUME that has arrived, and takes its grant.  Takes tx_lock.
 * Return: 0; -EPROTO if the frame is malformed or its grant is, SANX_OPENS_MAX requests are
 * unanswered, or it is a standby link.
 */
int sanx_request_take(struct sanx_link *link, const struct sanx_frame *f)
{
	struct sanx_request *o;
	int err;

	spin_lock_bh(&link->tx_lock);
	err = link_credit_granted(&link->credit, f->grant);
	o = list_first_entry_or_null(&link->opens_free, struct sanx_request,
				     node);
	if (!o || open_parse(o, f) || sanx_link_standby(link))
		err = -EPROTO;
	else if (!err && link->state != SANX_LINK_UP)
		err = -ENOTCONN;
	if (!err) {
		list_del_init(&o->node);
		refcount_inc(&link->users);
		sanx_request_queue(o);
	}
	sanx_xmit_unlock(link);
	/* A link that is going down cannot carry the answer. */
	return err == -ENOTCONN ? 0 : err;
}

/*
 * TCP drops packets from a wire to an address that no wire leads to, such as a
 * loopback address.  So a listener there relies on being reached from this node
 * only.  No correct peer asks for such an address, because no node map has one.
 */
static bool open_martian(const struct sanx_request *o)
{
	if (sanx_addr_travels(&o->open.dst) || sanx_addr_explicit(&o->open.dst))
		return false;
	pr_debug("node %u asks for an address of its own node\n",
		 o->link->payer->id);
	sanx_count_protocol_error(o->link->payer->net);
	return true;
}

/* Is it a question, whether a connection would be admitted?  It gets OPEN_REJ in any case. */
static bool open_asks(const struct sanx_request *o)
{
	return !o->open.sport;
}

/* Is it for the kernel itself, and not for a program? */
static bool open_implicit(const struct sanx_request *o)
{
	return !o->open.dport && !open_asks(o);
}

/* Could TCP connect between these addresses? */
static bool open_reachable(const struct sanx_request *o,
			   const struct sanx_endpoint *local,
			   const struct sanx_endpoint *remote,
			   struct sanx_arrival *by)
{
	const struct sanx_link *link = o->link;

	/* Its addresses say nothing but who asks. */
	if (open_implicit(o)) {
		*by = (struct sanx_arrival){};
		return true;
	}
	return sanx_route_reaches(link->payer->net, link->payer->id == link->self,
				  local, remote, by);
}

/*
 * Checks the node map and the port rules.  A peer may connect from addresses
 * that the node map gives it.
 * Return: enum sanx_reject, or 0.
 */
static int open_check(const struct sanx_request *o, const struct sanx_endpoint *local)
{
	const struct sanx_peer *peer = sanx_peer_of(o->link);
	struct net *net = peer->payer.net;

	if (open_martian(o))
		return SANX_REJECT_DENIED;
	if (!sanx_node_has_addr(net, peer->payer.id, &o->open.src))
		return SANX_REJECT_UNMAPPED;
	/* Rules are about ports of programs. */
	if (o->open.dport && !sanx_port_allowed(net, SANX_WAY_IN, &o->open.src, local))
		return SANX_REJECT_DENIED;
	return 0;
}

/*
 * Drops the connection without a frame about it: the peer does not know its id.
 * The request is still to be refused.
 */
static void open_undo(struct sanx_lconn *lc)
{
	struct sanx_link *link = sanx_lconn_lock(lc);

	sanx_lconn_abort(lc);
	spin_unlock_bh(&link->tx_lock);
}

/* Sends OPEN_ACK, and then what became pending behind it. */
static void open_answer(struct sanx_lconn *lc)
{
	struct sanx_link *link = sanx_lconn_lock(lc);

	/* The link may have ended meanwhile, and the connection with it. */
	if (lc->state.phase == SANX_LCONN_ACCEPTING)
		sanx_lconn_set_phase(lc, SANX_LCONN_ADMITTED);
	sanx_xmit_pend(lc, 0);
	sanx_xmit_unlock(link);
}

static int open_conn(const struct sanx_request *o, struct sanx_conn *conn,
		     const struct sanx_arrival *by, u32 size)
{
	struct sanx_lconn *lc = sanx_lconn_of(conn);
	int err;

	lc->peer_id = o->peer_id;
	conn->rx_max = size;
	sanx_window_open(lc, &o->win);
	err = sanx_lconn_attach(lc, o->link, SANX_LCONN_ACCEPTING);
	if (err)
		return err;
	/* The listener's reference; the caller's is still needed. */
	sanx_conn_get(conn);
	err = sanx_conn_incoming(conn, by);
	if (!err) {
		open_answer(lc);
		return 0;
	}
	sanx_conn_put(conn);
	open_undo(lc);
	return err;
}

static int open_serve(const struct sanx_request *o)
{
	struct net *net = o->link->payer->net;
	struct sanx_endpoint local = {
		.addr = o->open.dst, .port = o->open.dport,
	};
	struct sanx_endpoint remote = {
		.addr = o->open.src, .port = o->open.sport,
	};
	struct mem_cgroup *memcg;
	struct sanx_arrival by;
	struct sanx_conn *conn;
	u32 size;
	int err;

	err = open_check(o, &local);
	if (err)
		return err;
	if (!open_reachable(o, &local, &remote, &by)) {
		sanx_bounds_unreachable(sanx_peer_of(o->link), &local.addr);
		return SANX_REJECT_ROUTE;
	}
	if (!sanx_bounds_conn(o->link))
		return SANX_REJECT_LIMIT;
	if (open_asks(o))
		return sanx_question_admits(net, &local, &remote, &by) ?
		       SANX_REJECT_WELCOME : SANX_REJECT_NO_LISTENER;
	size = sanx_listener_ring_size(net, &local, &remote, &by, &memcg);
	if (!size)
		return SANX_REJECT_NO_LISTENER;
	conn = sanx_conn_alloc(sanx_peer_of(o->link)->lnet->ops, net, &local, &remote,
			       memcg);
	if (!conn)
		return SANX_REJECT_LIMIT;
	err = open_conn(o, conn, &by, size);
	sanx_conn_put(conn);
	switch (err) {
	case 0:
		return 0;
	case -ECONNREFUSED:
		return SANX_REJECT_NO_LISTENER;
	case -EAGAIN:
		return SANX_REJECT_BUSY;
	default:
		return SANX_REJECT_LIMIT;
	}
}

/*
 * NOIO: memory reclaim may wait for I/O over a connection that is to be resumed
 * here (sanx_memalloc_save()).
 */
static int open_dispatch(struct sanx_request *o)
{
	unsigned int noio = memalloc_noio_save();
	struct sanx_link *link = o->link;
	int reject = 0;

	/*
	 * The first frame of a link may be a request, and may be served before
	 * link.up has run.  The instance must be compared first.
	 */
	sanx_lane_link_up(link);
	if (READ_ONCE(link->state) == SANX_LINK_UP)
		reject = o->f.type == SANX_FRAME_RESUME ? sanx_retry_serve(o) :
							  open_serve(o);
	memalloc_noio_restore(noio);
	return reject;
}

static void request_serve(struct sanx_request *o)
{
	struct sanx_link *link = o->link;
	int reject = open_dispatch(o);

	if (reject == -EINPROGRESS)
		return;
	spin_lock_bh(&link->tx_lock);
	if (!reject || link->state != SANX_LINK_UP) {
		sanx_request_put(o);
	} else {
		o->reject = reject;
		open_reject(o);
	}
	sanx_xmit_unlock(link);
}

/* Those of a dying link are only dropped, so they do not count. */
static unsigned long request_wait(struct sanx_link *link)
{
	return READ_ONCE(link->state) == SANX_LINK_UP ?
	       sanx_bounds_request(sanx_peer_of(link)) : 0;
}

/* Takes the next request that may be served now, or comes back when one may. */
static struct sanx_request *request_next(struct sanx_link *link)
{
	struct sanx_request *o;
	unsigned long wait;

	spin_lock_bh(&link->requests_lock);
	o = list_first_entry_or_null(&link->requests, struct sanx_request, node);
	wait = o ? request_wait(link) : 0;
	if (wait) {
		o = NULL;
		queue_delayed_work(sanx_accept_wq, &link->serve, wait);
	} else if (o) {
		list_del_init(&o->node);
	}
	spin_unlock_bh(&link->requests_lock);
	return o;
}

/* Serves the requests of a link.  Takes lnet.lock, tx_lock. */
void sanx_request_work(struct work_struct *work)
{
	struct sanx_link *link = container_of(to_delayed_work(work),
					      struct sanx_link, serve);
	bool cov = sanx_cov_start(link->payer->net);
	struct sanx_request *o;

	while ((o = request_next(link))) {
		request_serve(o);
		cond_resched();
	}
	sanx_cov_stop(cov);
}
