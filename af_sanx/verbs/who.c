// SPDX-License-Identifier: GPL-2.0
/*
 * Who is there, over RDMA.
 *
 * The question is the private data of a request for a connection that never comes to
 * be, and the answer that of its rejection.  No queue pair is made, so this does not
 * work over iWARP, where a request needs one.
 */
#include <linux/completion.h>
#include <linux/sched/mm.h>
#include <net/ipv6.h>
#include <rdma/ib_cm.h>

#include "verbs.h"

static_assert(SANX_WIRE_ANSWER <= IB_CM_REJ_PRIVATE_DATA_SIZE);

/* Limit for each of the steps, in ms, and for all. */
#define STEP_MS		500
#define ALL_MS		2000

/**
 * struct verbs_who - a question
 * @s: the engine's
 * @done: the answer has come, or will not
 * @err: the result, once @done is complete
 */
struct verbs_who {
	struct sanx_seek	*s;
	struct completion	done;
	int			err;
};

/* The route is there: sends the question. */
static int who_ask(struct verbs_who *w, struct rdma_cm_id *id)
{
	struct rdma_conn_param param = {};
	u8 question[SANX_WIRE_HELLO];
	struct in6_addr local;
	int len;

	verbs_addr(&local, &id->route.addr.src_addr);
	len = sanx_wire_question(w->s, &local, question);
	if (len < 0)
		return len;
	param.private_data = question;
	param.private_data_len = len;
	return rdma_connect_locked(id, &param);
}

/* A rejection that has no private data of AF_SANX's size is not one of AF_SANX. */
static int who_answered(struct verbs_who *w, const struct rdma_cm_event *ev)
{
	const struct rdma_conn_param *p = &ev->param.conn;

	if (ev->status != IB_CM_REJ_CONSUMER_DEFINED ||
	    p->private_data_len < SANX_WIRE_ANSWER)
		return -ECONNREFUSED;
	return sanx_wire_answered(w->s, p->private_data, SANX_WIRE_ANSWER);
}

/* Return: 1 if more has to come; else the result. */
static int who_step(struct verbs_who *w, struct rdma_cm_id *id,
		    const struct rdma_cm_event *ev)
{
	switch (ev->event) {
	case RDMA_CM_EVENT_ADDR_RESOLVED:
		if (rdma_protocol_iwarp(id->device, id->port_num))
			return -EOPNOTSUPP;
		return rdma_resolve_route(id, STEP_MS) ?: 1;
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
		return who_ask(w, id) ?: 1;
	case RDMA_CM_EVENT_REJECTED:
		return who_answered(w, ev);
	default:
		return -EHOSTUNREACH;
	}
}

/* Context: process, the handler mutex of @id held. */
static int who_event(struct rdma_cm_id *id, struct rdma_cm_event *ev)
{
	struct verbs_who *w = id->context;
	unsigned int noio;
	int rc;

	if (completion_done(&w->done))
		return 0;
	noio = memalloc_noio_save();
	rc = who_step(w, id, ev);
	memalloc_noio_restore(noio);
	if (rc > 0)
		return 0;
	w->err = rc;
	complete_all(&w->done);
	return 0;
}

static int who_start(struct rdma_cm_id *id, const struct in6_addr *addr)
{
	struct in6_addr any = in6addr_any;
	struct sockaddr_storage dst;

	if (ipv6_addr_v4mapped(addr))
		ipv6_addr_set_v4mapped(htonl(INADDR_ANY), &any);
	sanx_wire_sockaddr(&dst, addr, service_port);
	return verbs_bind(id, &any) ?:
	       rdma_resolve_addr(id, NULL, (struct sockaddr *)&dst, STEP_MS);
}

/* sanx_wire_ops.who. */
int verbs_who(struct net *net, const struct in6_addr *addr, struct sanx_seek *s)
{
	struct verbs_who w = { .s = s, .err = -ETIMEDOUT };
	struct rdma_cm_id *id;
	int err;

	init_completion(&w.done);
	id = verbs_create_id(net, who_event, &w);
	if (IS_ERR(id))
		return PTR_ERR(id);
	err = who_start(id, addr);
	if (!err)
		wait_for_completion_timeout(&w.done, msecs_to_jiffies(ALL_MS));
	/* Waits for an event that is being handled. */
	rdma_destroy_id(id);
	return err ?: w.err;
}
