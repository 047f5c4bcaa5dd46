/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Connections, listeners and transports, for the layers above.  struct
 * sanx_conn, and the functions that transports may use, are in transport.h.
 * This folder does not know struct sanx_sock.
 */
#ifndef _SANX_CONN_H
#define _SANX_CONN_H

#include <linux/bpf-cgroup.h>
#include <linux/hrtimer.h>
#include <linux/net.h>
#include <linux/socket.h>
#include <linux/wait.h>
#include <linux/workqueue.h>
#include <net/inet_sock.h>
#include <net/ipv6.h>
#include <net/sock.h>

#include "transport.h"

/*
 * Does the cgroup of @sk have programs of @type (enum cgroup_bpf_attach_type)?
 */
#ifdef CONFIG_CGROUP_BPF
#define sanx_cgroup_prog(sk, type) \
	(cgroup_bpf_enabled(type) && cgroup_bpf_sock_enabled(sk, type))
#else
#define sanx_cgroup_prog(sk, type)	((void)(sk), false)
#endif

/**
 * struct sanx_listener - a socket that accepts AF_SANX connections
 * @node: in the table while it listens
 * @table: the table of its namespace, with a reference; constant
 * @local: address (:: for any) and port
 * @v4: accepts connections to IPv4 addresses
 * @v6: accepts connections to IPv6 addresses
 * @soon: accepts none now, because its listen() or close() has not finished
 * @sk: the listening sock, woken for each connection
 * @backlog: limit of @queued and @n_half together, and of @n_deferred
 * @queued: connections in @queue
 * @n_deferred: connections in @deferred
 * @n_half: connections in @half
 * @round: how often it was put into the table, modulo 2^32
 * @natives: how many of TCP's connections accept() has returned, modulo 2^32
 * @queue: connections that wait for accept(), by sanx_conn.node
 * @deferred: connections that wait for data (TCP_DEFER_ACCEPT), by
 *	sanx_conn.node
 * @half: half-open connections, oldest first, by sanx_conn.node
 * @late: half-open connections that do not count any more, by sanx_conn.node
 * @dead: connections that died while they were half-open, for @work to close; by
 *	sanx_conn.node
 * @watch: in the wait queue of the sock while it listens; notices when
 *	listening ends without a call of the socket; guarded by the lock of that
 *	wait queue
 * @work: ends the listener then, and empties @dead
 * @expire: resets connections that stay half-open
 *
 * The lock of @table guards all fields but @table, @watch, @work and @expire.  Reads of
 * @queued without it are hints.
 */
struct sanx_listener {
	struct hlist_node	node;
	struct sanx_listener_table *table;
	struct sanx_endpoint	local;
	bool			v4;
	bool			v6;
	bool			soon;
	struct sock		*sk;
	unsigned int		backlog;
	unsigned int		queued;
	unsigned int		n_deferred;
	unsigned int		n_half;
	u32			round;
	u32			natives;
	struct list_head	queue;
	struct list_head	deferred;
	struct list_head	half;
	struct list_head	late;
	struct list_head	dead;
	wait_queue_entry_t	watch;
	struct work_struct	work;
	struct delayed_work	expire;
};

/* conn.c */
void sanx_conn_exit(void);
void sanx_conn_attach(struct sanx_conn *conn, struct sock *sk);
void sanx_conn_detach(struct sanx_conn *conn);
bool sanx_conn_open(const struct sanx_conn *conn);
u32 sanx_conn_rcvmost(struct sanx_conn *conn);
bool sanx_conn_fin_rcvd(const struct sanx_conn *conn);
bool sanx_conn_over(struct sanx_conn *conn);
struct mem_cgroup *sanx_memcg_get(const struct sock *sk);

/* begin.c */
int sanx_conn_connect(struct sanx_conn *conn, kthread_work_func_t refused);
int sanx_conn_give_up(struct sanx_conn *conn);
void sanx_conn_deny(struct sanx_conn *conn);
void sanx_conn_abort(struct sanx_conn *conn, int err);
void sanx_conn_refused_end(struct sanx_conn *conn, int err);
enum sanx_fallback sanx_conn_reason(struct sanx_conn *conn);
bool sanx_conn_was_open(const struct sanx_conn *conn);
void sanx_conn_refused_later(struct sanx_conn *conn);
struct sock *sanx_conn_sk_get(struct sanx_conn *conn);
bool sanx_lock_sock_soon(struct sock *sk);

/* wake.c */
int sanx_conn_init(void);
void sanx_conn_pass(struct sanx_conn *conn, u32 n);
void sanx_conn_tell_reader(struct sanx_conn *conn, struct sock *sk);

/* end.c */
void sanx_conn_stop(struct sanx_conn *conn);
void sanx_conn_close(struct sanx_conn *conn, bool reset);
int sanx_conn_shutdown(struct sanx_conn *conn, int how);

/**
 * struct sanx_conn_service - what takes connections that the kernels of peers ask for
 * @ring_size: bytes of the ring of one in this namespace, or 0 for none.  Context: any.
 * @take: as sanx_conn_incoming(); calls sanx_conn_admit()
 * @idle: closes all of a namespace that has no AF_SANX socket any more
 */
struct sanx_conn_service {
	u32 (*ring_size)(struct net *net);
	int (*take)(struct sanx_conn *conn);
	void (*idle)(struct net *net);
};

/* user.c */
void sanx_conn_serve(const struct sanx_conn_service *s);
void sanx_conn_use(struct sanx_conn *conn, struct sanx_conn_user *user);
int sanx_conn_ask(struct sanx_conn *conn);
int sanx_conn_admit(struct sanx_conn *conn);
void sanx_conn_leave(struct sanx_conn *conn);
bool sanx_conn_away(const struct sanx_conn *conn);
void sanx_service_idle(struct net *net);

/* question.c */
int sanx_conn_question(const struct sanx_transport_ops *ops, struct sock *sk,
		       const struct sanx_endpoint *local,
		       const struct sanx_endpoint *remote,
		       struct sanx_via *via, enum sanx_fallback *answer);

/* state.c */
const char *sanx_state_name(enum sanx_conn_state state);

/* listener.c */
int sanx_listeners_init(void);
void sanx_listeners_exit(void);
void sanx_listener_init(struct sanx_listener *lsk, const struct net *net);
void sanx_listener_destroy(struct sanx_listener *lsk);
void sanx_listener_add(struct sanx_listener *lsk, struct sock *sk,
		       const struct sanx_endpoint *at, bool soon);
void sanx_listener_watch(struct sanx_listener *lsk);
void sanx_listener_pause(struct sanx_listener *lsk);
void sanx_listener_stop(struct sanx_listener *lsk);
void sanx_listener_each(const struct net *net,
			bool (*fn)(struct sanx_conn *conn, void *arg),
			void *arg);

/* backlog.c */
struct sanx_conn *sanx_listener_take(struct sanx_listener *lsk);
void sanx_listener_native_taken(struct sanx_listener *lsk);
void sanx_listener_taken(struct sanx_listener *lsk, struct sanx_conn *conn);
unsigned int sanx_listener_waiting(const struct sanx_listener *lsk);

/* feed.c */
void sanx_feed_called(struct sanx_conn *conn, struct sock *sk);
bool sanx_feed_stop(struct sanx_conn *conn, struct sock *sk);

/* native.c */
void sanx_native_done(struct sock *sk);
void sanx_native_unhash(struct sock *sk);

/* stack.c */
bool sanx_needs_packets(const struct sock *sk);
bool sanx_needs_stack(const struct sock *sk);

/* outq.c */
u32 sanx_conn_outq(struct sanx_conn *conn);
u32 sanx_conn_taken(struct sanx_conn *conn);
u32 sanx_conn_unsent(struct sanx_conn *conn);
void sanx_conn_bytes(struct sanx_conn *conn, u64 *sent, u64 *came);

/* liveness.c */
void sanx_liveness_options(struct sanx_conn *conn, const struct sock *sk);
void sanx_liveness_send(struct sanx_conn *conn, const struct sock *sk);
void sanx_liveness_wait(struct sanx_conn *conn, const struct sock *sk);

/* hold.c */
ssize_t sanx_hold_send(struct sanx_conn *conn, struct msghdr *msg,
		       size_t len, int flags);
u32 sanx_hold_room(struct sanx_conn *conn, enum sanx_room which);
void sanx_hold_ended(struct sanx_conn *conn, enum sanx_hold_end why);
void sanx_hold_pull(struct sanx_conn *conn);

/**
 * sanx_hold_received() - the sender has received something
 * @conn: the connection
 *
 * Context: any.
 */
static inline void sanx_hold_received(struct sanx_conn *conn)
{
	sanx_pace_received(&conn->hold.pace);
}

/**
 * sanx_hold_answer() - the program waits for an answer, which may depend on
 * coalesced bytes
 * @conn: the connection, in any state
 *
 * Context: process.
 */
static inline void sanx_hold_answer(struct sanx_conn *conn)
{
	sanx_hold_received(conn);
	sanx_hold_ended(conn, SANX_HOLD_ANSWER);
}

/* urgent.c */
bool sanx_urg_at_mark(struct sanx_conn *conn, u64 pos);
u32 sanx_urg_run(struct sanx_conn *conn, const struct sock *sk, u64 pos,
		 u32 avail, bool *hole);
void sanx_urg_passed(struct sanx_conn *conn);
__poll_t sanx_urg_poll(struct sanx_conn *conn, const struct sock *sk,
		       u32 *avail);
u32 sanx_urg_inq(struct sanx_conn *conn, const struct sock *sk);
int sanx_urg_recv(struct sanx_conn *conn, const struct sock *sk,
		  struct msghdr *msg, size_t len, int flags);

/**
 * struct sanx_busy_poll - a wait that may begin with busy polling: busy_poll.c
 * @start: when it began, local_clock() in ns
 * @ns: how long to poll, in ns, or 0
 * @ns_max: limit of @ns that the connection adapts to, in ns, or 0 if the program
 *	has set the time itself, or there is no polling
 */
struct sanx_busy_poll {
	u64	start;
	u64	ns;
	u32	ns_max;
};

/* busy_poll.c */
void sanx_busy_poll_start(struct sanx_busy_poll *w,
			  const struct sanx_conn *conn,
			  const struct sock *sk, long timeo);
bool sanx_busy_poll_again(const struct sanx_busy_poll *w);
bool sanx_busy_poll_cede(struct sanx_conn *conn);
void sanx_busy_poll_ceded(struct sanx_conn *conn, bool ready);
void sanx_busy_poll_adapt(const struct sanx_busy_poll *w,
			  struct sanx_conn *conn);

/**
 * struct sanx_memalloc - how the caller allocated before sanx_memalloc_save()
 * @noio: its allocations must not wait for I/O
 * @reserves: its allocations may use the memory reserves
 * @noio_was: state to restore for @noio
 * @reserves_was: state to restore for @reserves
 */
struct sanx_memalloc {
	bool		noio;
	bool		reserves;
	unsigned int	noio_was;
	unsigned int	reserves_was;
};

/* memalloc.c */
void sanx_memalloc_save(const struct sock *sk, struct sanx_memalloc *scope);
void sanx_memalloc_restore(const struct sanx_memalloc *scope);

#endif /* _SANX_CONN_H */
