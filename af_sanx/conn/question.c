// SPDX-License-Identifier: GPL-2.0
/*
 * Questions: would a peer admit a connection?
 *
 * A question is a connection from port 0, which no program has.  It takes the way of
 * all connections, and whoever would admit it answers what it would find, and refuses it in
 * any case.  So the answer is about the whole way, and no program sees anything of it.
 */
#include <linux/completion.h>
#include <linux/memcontrol.h>

#include "config/config.h"
#include "conn_priv.h"

/* As ASKS_MAX of link/frame/outcome.h. */
#define QUESTION_TRIES	8U

/**
 * struct question - a connection that is a question
 * @user: uses the connection
 * @news: something has happened to it
 */
struct question {
	struct sanx_conn_user	user;
	struct completion	news;
};

static void question_news(struct sanx_conn_user *user)
{
	complete(&container_of(user, struct question, user)->news);
}

/**
 * sanx_question_admits() - does a listener here wait for such a connection?
 * @net: the namespace
 * @local: address and port at this end; port 0 if the question is about no port
 * @remote: who asks
 * @by: where its SYN would have arrived
 *
 * Context: any.
 * Return: true if so.
 */
bool sanx_question_admits(struct net *net, const struct sanx_endpoint *local,
			  const struct sanx_endpoint *remote,
			  const struct sanx_arrival *by)
{
	struct mem_cgroup *memcg;
	u32 size;

	if (!local->port)
		return true;
	/* As sanx_conn_incoming(). */
	if (!sanx_port_allowed(net, SANX_WAY_IN, &remote->addr, local))
		return false;
	size = sanx_listener_ring_size(net, local, remote, by, &memcg);
	mem_cgroup_put(memcg);
	return size;
}

/* Return: 0 and the answer; or -EINTR. */
static int question_wait(struct sanx_conn *conn, struct question *q,
			 enum sanx_fallback *answer)
{
	while (READ_ONCE(conn->state) == SANX_CONN_CONNECTING)
		if (wait_for_completion_interruptible(&q->news))
			return -EINTR;
	*answer = sanx_conn_reason(conn);
	return 0;
}

static void question_end(struct sanx_conn *conn)
{
	sanx_conn_leave(conn);
	sanx_conn_close(conn, true);
	sanx_conn_stop(conn);
	/* Whoever has found the user is done with it. */
	synchronize_rcu();
}

/*
 * Asks once.
 * Return: 0; -EAGAIN if the way to the peer was lost before its answer; -ENOMEM; -EINTR.
 */
static int question_ask(const struct sanx_transport_ops *ops, struct sock *sk,
			const struct sanx_endpoint *local, const struct sanx_endpoint *remote,
			struct sanx_via *via, enum sanx_fallback *answer)
{
	struct question q = { .user.news = question_news };
	struct sanx_endpoint from = { .addr = local->addr };
	struct sanx_conn *conn;
	int err;

	init_completion(&q.news);
	conn = sanx_conn_alloc(ops, sock_net(sk), &from, remote, sanx_memcg_get(sk));
	if (!conn)
		return -ENOMEM;
	conn->rx_max = SANX_RING_MIN;
	sanx_rxq_init(&conn->rx, NULL, conn->rx_max);
	sanx_conn_use(conn, &q.user);
	err = sanx_conn_ask(conn);
	if (!err) {
		err = question_wait(conn, &q, answer);
	} else {
		sanx_conn_give_up(conn);
		*answer = err == -ECONNREFUSED ? SANX_FALLBACK_REFUSED : SANX_FALLBACK_LINK;
		err = 0;
	}
	ops->via(conn, via);
	question_end(conn);
	/* The connect thread is done with it. */
	if (!err && *answer == SANX_FALLBACK_LINK && conn->tries)
		err = -EAGAIN;
	sanx_conn_put(conn);
	return err;
}

/**
 * sanx_conn_question() - ask a peer whether it would admit a connection
 * @ops: the transport
 * @sk: the socket that would be connected, which is charged
 * @local: our address
 * @remote: the peer; port 0 to ask about no port
 * @via: set to what has carried the question
 * @answer: set to the answer: SANX_FALLBACK_NONE, or why it would be TCP
 *
 * There is an answer after twice link_timeout_ms, for each of the links that it is asked over
 * if those before are lost.
 *
 * Context: process, may sleep.
 * Return: 0; -ENOMEM; -EINTR.
 */
int sanx_conn_question(const struct sanx_transport_ops *ops, struct sock *sk,
		       const struct sanx_endpoint *local,
		       const struct sanx_endpoint *remote,
		       struct sanx_via *via, enum sanx_fallback *answer)
{
	unsigned int tries = 0;
	int err;

	do
		err = question_ask(ops, sk, local, remote, via, answer);
	while (err == -EAGAIN && ++tries < QUESTION_TRIES);
	return err == -EAGAIN ? 0 : err;
}
