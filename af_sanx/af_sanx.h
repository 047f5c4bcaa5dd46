/* SPDX-License-Identifier: GPL-2.0 */
/*
 * AF_SANX: what the files of the core share.  What transports see is in
 * include/net/sanx.h; Documentation/locking.rst has the lock order.
 */
#ifndef _AF_SANX_H
#define _AF_SANX_H

#include <linux/bpf-cgroup.h>
#include <linux/hrtimer.h>
#include <linux/net.h>
#include <linux/percpu.h>
#include <linux/socket.h>
#include <linux/workqueue.h>
#include <net/inet_sock.h>
#include <net/ipv6.h>
#include <net/sanx.h>
#include <net/sock.h>

/* Has the cgroup of @sk programs of @type (enum cgroup_bpf_attach_type)? */
#ifdef CONFIG_CGROUP_BPF
#define sanx_cgroup_prog(sk, type) \
	(cgroup_bpf_enabled(type) && cgroup_bpf_sock_enabled(sk, type))
#else
#define sanx_cgroup_prog(sk, type)	((void)(sk), false)
#endif

struct netlink_ext_ack;

/**
 * struct sanx_listener - what makes a socket take connections
 * @node: in the listener table while it listens
 * @net: its namespace
 * @local: address (:: for any) and port
 * @v4: takes connections to IPv4 addresses
 * @v6: takes connections to IPv6 addresses
 * @soon: takes none now: its listen(), or its close(), is under way
 * @sk: the listening sock, woken for each connection
 * @backlog: connections that may wait
 * @queued: connections that wait
 * @n_deferred: connections that wait for data (TCP_DEFER_ACCEPT)
 * @queue: those of @queued, by sanx_conn.node
 * @deferred: those of @n_deferred, likewise
 * @watch: in the sock's wait queue while it listens, to see others end that
 * @end: does then what the end of listening takes
 *
 * All of it but @watch and @end is guarded by the lock of the listener table
 * (listener.c).
 */
struct sanx_listener {
	struct hlist_node	node;
	struct net		*net;
	struct sanx_endpoint	local;
	bool			v4;
	bool			v6;
	bool			soon;
	struct sock		*sk;
	unsigned int		backlog;
	unsigned int		queued;
	unsigned int		n_deferred;
	struct list_head	queue;
	struct list_head	deferred;
	wait_queue_entry_t	watch;
	struct work_struct	end;
};

/**
 * struct sanx_sock - what AF_SANX adds to a socket; i_private of its inode
 * @native: the proto_ops of the native socket, with a reference of their owner,
 *	which goes to sock->ops in a fallback
 * @sk: the native socket's sock, which is also the visible socket's
 * @conn: the connection, once connect() or accept() made one; it stays, dead
 *	or alive, until this struct goes
 * @old: connections that a failed connect() or connect(AF_UNSPEC) gave up;
 *	they go with this struct, as calls may be using them
 * @n_old: how many
 * @fell_back: sock->ops is @native
 * @autobound: the port was taken by connect() and not by bind(), and the sock
 *	is in TCP's table of connections (autobind.c)
 * @tcp_only: listens for TCP only
 * @lsk: the listener
 * @node: in the list of the namespace's sockets (socks.c), or after a fallback in
 *	the reaper's
 * @sock: the socket, after a fallback
 *
 * @conn and @fell_back are written under lock_sock(@sk) and read anywhere.
 */
struct sanx_sock {
	const struct proto_ops	*native;
	struct sock		*sk;
	struct sanx_conn	*conn;
	struct list_head	old;
	unsigned int		n_old;
	bool			fell_back;
	bool			autobound;
	bool			tcp_only;
	struct sanx_listener	lsk;
	struct list_head	node;
	struct socket		*sock;
};

/**
 * enum sanx_stat - the counters of a namespace
 * @SANX_STAT_CONNS_LOOP: connection ends established over loop
 * @SANX_STAT_CONNS_VERBS: connection ends established over verbs
 * @SANX_STAT_TX_BYTES: payload bytes taken from programs
 * @SANX_STAT_RX_BYTES: payload bytes given to programs
 * @SANX_STAT_RESETS: established connections that ended in a reset
 * @SANX_STAT_PROTOCOL_ERRORS: messages that no correct peer sends
 * @SANX_STAT_FALLBACK: the first of one counter for each enum sanx_fallback
 */
enum sanx_stat {
	SANX_STAT_CONNS_LOOP,
	SANX_STAT_CONNS_VERBS,
	SANX_STAT_TX_BYTES,
	SANX_STAT_RX_BYTES,
	SANX_STAT_RESETS,
	SANX_STAT_PROTOCOL_ERRORS,
	SANX_STAT_FALLBACK,
	/* private: */
	__SANX_STATS = SANX_STAT_FALLBACK + __SANX_FALLBACKS
};

/**
 * struct sanx_stats - the counters of one CPU
 * @v: by enum sanx_stat
 */
struct sanx_stats {
	u64 v[__SANX_STATS];
};

/**
 * struct sanx_net - what is configured and counted in one network namespace
 * @net: the namespace
 * @stats: counters
 * @config_mutex: serialises changes of @nodemap and @ports
 * @config_seq: counts them, so that a dump notices
 * @nodemap: the node map, replaced as a whole (RCU)
 * @ports: the port rules, replaced as a whole (RCU)
 * @spin_us: sysctl net.sanx.spin_us
 * @idle_ms: sysctl net.sanx.idle_ms
 * @sysctl: the sysctls
 */
struct sanx_net {
	struct net			*net;
	struct sanx_stats __percpu	*stats;
	struct mutex			config_mutex; /* see above */
	unsigned int			config_seq;
	struct sanx_nodemap __rcu	*nodemap;
	struct sanx_ports __rcu		*ports;
	unsigned int			spin_us;
	unsigned int			idle_ms;
	struct ctl_table_header		*sysctl;
};

/* family.c */
extern unsigned int sanx_family;
int sanx_family_init(void);
void sanx_family_exit(void);
struct sanx_sock *sanx_sock_alloc(struct sock *sk,
				  const struct proto_ops *native);
void sanx_sock_free(struct sanx_sock *ss);
void sanx_native_graft(struct socket *native, struct socket *sock,
		       struct sanx_sock *ss);

/* label.c */
int sanx_label_init(void);
void sanx_label_exit(void);
bool sanx_label_due(struct sock *sk);
void sanx_label(struct sock *sk);
void sanx_label_child(struct sock *sk, const struct sock *lsk);
void sanx_label_later(struct socket *shell, struct sock *sk);
int sanx_label_connect(struct sock *sk, const struct sockaddr *uaddr, int len);

/* autobind.c */
int sanx_bind_auto(struct sanx_sock *ss, struct sanx_endpoint *local,
		   const struct sanx_endpoint *remote);
void sanx_unbind_auto(struct sanx_sock *ss);

/* stream.c */
extern const struct proto_ops sanx_stream_ops;
extern const struct proto_ops sanx_stream6_ops;
extern const struct proto_ops *sanx_inet6_ops;
struct sanx_sock *sanx_sk(struct socket *sock);
const struct proto_ops *sanx_native_ops(struct socket *sock);
struct sanx_conn *sanx_sock_conn(const struct sanx_sock *ss);
void sanx_sock_forget(struct socket *sock, struct sanx_sock *ss);
bool sanx_sock_connecting(const struct sanx_sock *ss,
			  const struct sanx_conn *conn);

/* send.c, recv.c, cmsg.c */
void sanx_want_room(struct sock *sk);
int sanx_sendmsg(struct socket *sock, struct msghdr *msg, size_t len);
int sanx_recvmsg(struct socket *sock, struct msghdr *msg, size_t len,
		 int flags);
void sanx_splice_eof(struct socket *sock);
void sanx_recv_cmsg(const struct sanx_conn *conn, const struct sock *sk,
		    struct msghdr *msg, ssize_t n);

/* sockopt.c, inherit.c */
int sanx_setsockopt(struct socket *sock, int level, int optname,
		    sockptr_t optval, unsigned int optlen);
int sanx_getsockopt(struct socket *sock, int level, int optname,
		    char __user *optval, int __user *optlen);
int sanx_set_rcvlowat(struct sock *sk, int val);
void sanx_inherit_options(struct sock *child, struct sock *sk);

/* stack.c */
bool sanx_needs_stack(const struct sock *sk);

/* outq.c */
u32 sanx_conn_outq(struct sanx_conn *conn);
u32 sanx_conn_taken(struct sanx_conn *conn);
u32 sanx_conn_unsent(struct sanx_conn *conn);

/* tcpinfo.c */
u8 sanx_conn_tcp_state(struct sanx_conn *conn);
u32 sanx_conn_mss(const struct sanx_conn *conn, const struct sock *sk);
int sanx_tcp_info(const struct sanx_sock *ss, char __user *optval,
		  int __user *optlen);

/* conn.c */
struct mem_cgroup *sanx_memcg_get(const struct sock *sk);

/* alive.c */
void sanx_alive_init(struct sanx_conn *conn);
void sanx_alive_options(struct sanx_conn *conn, const struct sock *sk);
void sanx_alive_send(struct sanx_conn *conn, const struct sock *sk);
void sanx_alive_wait(struct sanx_conn *conn, const struct sock *sk);
void sanx_alive_stop(struct sanx_conn *conn);

/**
 * struct sanx_spin - a wait that may begin with looking: spin.c
 * @start: when it began, local_clock()
 * @ns: how long to look, or 0
 * @most: how long that could become, or 0 if it is not for us to say
 */
struct sanx_spin {
	u64	start;
	u64	ns;
	u32	most;
};

/* spin.c */
void sanx_spin_start(struct sanx_spin *w, const struct sanx_conn *conn,
		     const struct sock *sk, long timeo);
bool sanx_spin_on(const struct sanx_spin *w);
void sanx_spin_learn(const struct sanx_spin *w, struct sanx_conn *conn);

/* sysctl.c */
int sanx_sysctl_net_init(struct sanx_net *sn);
void sanx_sysctl_net_exit(struct sanx_net *sn);

/* trim.c */
void sanx_trim_init(struct sanx_conn *conn);
void sanx_trim_stop(struct sanx_conn *conn);

/* cork.c */
void sanx_cork_init(struct sanx_conn *conn);
void sanx_cork_pull(struct sanx_conn *conn);
void sanx_cork_stop(struct sanx_conn *conn);

/* urgent.c */
void sanx_urg_init(struct sanx_urg *urg);
bool sanx_urg_at_mark(struct sanx_conn *conn, u64 pos);
u32 sanx_urg_run(struct sanx_conn *conn, const struct sock *sk, u64 pos,
		 u32 avail, bool *hole);
void sanx_urg_passed(struct sanx_conn *conn);
__poll_t sanx_urg_poll(struct sanx_conn *conn, const struct sock *sk,
		       u32 *avail);
u32 sanx_urg_inq(struct sanx_conn *conn, const struct sock *sk);
int sanx_urg_recv(struct sanx_conn *conn, const struct sock *sk,
		  struct msghdr *msg, size_t len, int flags);

/* connect.c */
int sanx_connect(struct socket *sock, struct sockaddr *uaddr, int len,
		 int flags);

/* listen.c */
int sanx_listen(struct socket *sock, int backlog);

/* listener.c */
void sanx_listener_init(struct sanx_listener *lsk);
void sanx_listener_add(struct sanx_listener *lsk, struct sock *sk, bool soon);
void sanx_listener_watch(struct sanx_listener *lsk);
void sanx_listener_pause(struct sanx_listener *lsk);
void sanx_listener_stop(struct sanx_listener *lsk);
struct sanx_conn *sanx_listener_take(struct sanx_listener *lsk);
unsigned int sanx_listener_waiting(const struct sanx_listener *lsk);
void sanx_listener_news(struct sanx_conn *conn);

/* accept.c */
int sanx_accept(struct socket *sock, struct socket *newsock,
		struct proto_accept_arg *arg);

/* fallback.c */
void sanx_fall_back(struct socket *sock, struct sanx_sock *ss,
		    enum sanx_fallback why);
int sanx_fallback_adopt(struct socket *sock);
void sanx_fallback_work(struct kthread_work *work);
void sanx_fallback_drain(void);

/* conn.c */
int sanx_conn_init(void);
void sanx_conn_exit(void);
void sanx_conn_attach(struct sanx_conn *conn, struct sock *sk);
void sanx_conn_detach(struct sanx_conn *conn);
int sanx_conn_connect(struct sanx_conn *conn, kthread_work_func_t refused);
int sanx_conn_accept(struct sanx_conn *conn);
int sanx_conn_give_up(struct sanx_conn *conn);
void sanx_conn_refused_later(struct sanx_conn *conn);
struct sock *sanx_conn_sk(struct sanx_conn *conn);
struct sock *sanx_conn_sk_get(struct sanx_conn *conn);
bool sanx_lock_sock_soon(struct sock *sk);
void sanx_conn_stop(struct sanx_conn *conn);
void sanx_conn_close(struct sanx_conn *conn, bool reset);
int sanx_conn_shutdown(struct sanx_conn *conn, int how);
bool sanx_conn_open(const struct sanx_conn *conn);
void sanx_conn_tx_look(struct sanx_conn *conn);
u32 sanx_conn_rcvmost(struct sanx_conn *conn);
bool sanx_conn_fin_rcvd(const struct sanx_conn *conn);
bool sanx_conn_over(struct sanx_conn *conn);

/* state.c */
/**
 * enum sanx_conn_event - what moves a connection from state to state
 * @SANX_EV_CONNECT: asked the peer
 * @SANX_EV_ESTABLISH: the peer said yes, or we did
 * @SANX_EV_REFUSE: no connection; the socket goes on as TCP
 * @SANX_EV_FIN_TX: our direction ends
 * @SANX_EV_FIN_RX: the peer's direction ends
 * @SANX_EV_DIE: reset, abort or close
 */
enum sanx_conn_event {
	SANX_EV_CONNECT,
	SANX_EV_ESTABLISH,
	SANX_EV_REFUSE,
	SANX_EV_FIN_TX,
	SANX_EV_FIN_RX,
	SANX_EV_DIE,
	/* private: */
	__SANX_EVS
};

int sanx_state_next(enum sanx_conn_state state, enum sanx_conn_event ev);
const char *sanx_state_name(enum sanx_conn_state state);

/* loop.c */
extern const struct sanx_transport_ops sanx_loop_ops;

/* transport.c */
const struct sanx_transport_ops *sanx_transport_get(bool same_node);
void sanx_transport_put(const struct sanx_transport_ops *ops);
void sanx_transport_each(void (*fn)(const struct sanx_transport_ops *ops,
				    void *arg), void *arg);
void sanx_transport_dump_links(struct sk_buff *skb, struct netlink_callback *cb,
			       int (*put)(struct sk_buff *skb,
					  struct netlink_callback *cb,
					  const struct sanx_link_info *info));

/* route.c */
int sanx_route(struct sock *sk, const struct sanx_endpoint *remote,
	       struct in6_addr *src);
u32 sanx_route_mtu(struct sock *sk, const struct sanx_conn *conn);
int sanx_endpoint_parse(struct sanx_endpoint *ep, const struct sock *sk,
			const struct sockaddr *uaddr, int len);
int sanx_endpoint_fill(const struct sanx_endpoint *ep, int family,
		       struct sockaddr *uaddr);

/* nodemap.c */
/**
 * struct sanx_nodemap_entry - one host of the node map
 * @addr: its address, IPv4 as v4-mapped
 * @node: its node, whose rails are the host's address where none is named
 */
struct sanx_nodemap_entry {
	struct in6_addr		addr;
	struct sanx_node_info	node;
};

/**
 * struct sanx_nodemap - a node map; never changed once it is in use
 * @rcu: frees it
 * @n: entries
 * @entry: sorted by address, each address once
 */
struct sanx_nodemap {
	struct rcu_head			rcu;
	unsigned int			n;
	struct sanx_nodemap_entry	entry[];
};

#define SANX_NODEMAP_MAX	65536

struct sanx_nodemap *sanx_nodemap_alloc(unsigned int n);
int sanx_nodemap_finish(struct sanx_nodemap *map, unsigned int *bad,
			const char **why);
const struct sanx_nodemap_entry *
sanx_nodemap_find(const struct sanx_nodemap *map, const struct in6_addr *addr);
struct sanx_nodemap *sanx_nodemap_merge(const struct sanx_nodemap *map,
					const struct sanx_nodemap *more);
struct sanx_nodemap *sanx_nodemap_without(const struct sanx_nodemap *map,
					  const struct sanx_nodemap *less,
					  unsigned int *missing);
void sanx_nodemap_publish(struct sanx_net *sn, struct sanx_nodemap *map);

/* ports.c */
/**
 * struct sanx_port_rule - one port rule
 * @first: first port of the range
 * @last: last port of the range
 * @allow: allow them, or deny them
 */
struct sanx_port_rule {
	u16	first;
	u16	last;
	bool	allow;
};

/**
 * struct sanx_ports - the port rules; never changed once in use
 * @rcu: frees it
 * @n: rules
 * @rule: in their order
 */
struct sanx_ports {
	struct rcu_head		rcu;
	unsigned int		n;
	struct sanx_port_rule	rule[];
};

#define SANX_PORTS_MAX	4096

struct sanx_ports *sanx_ports_alloc(unsigned int n);
bool sanx_ports_allow(const struct sanx_ports *ports, u16 port);
struct sanx_ports *sanx_ports_append(const struct sanx_ports *ports,
				     const struct sanx_ports *more);
struct sanx_ports *sanx_ports_without(const struct sanx_ports *ports,
				      const struct sanx_ports *less,
				      unsigned int *missing);
void sanx_ports_publish(struct sanx_net *sn, struct sanx_ports *ports);

/* netns.c */
int sanx_netns_init(void);
void sanx_netns_exit(void);
struct sanx_net *sanx_net(const struct net *net);

/* busy.c */
int sanx_busy_init(void);
void sanx_busy_exit(void);
void sanx_busy_get(struct net *net);
void sanx_busy_put(struct net *net, bool defer);
void sanx_busy_announce(const struct sanx_transport_ops *ops);

/* socks.c */
int sanx_socks_init(void);
void sanx_socks_exit(void);
void sanx_socks_add(struct sanx_sock *ss);
void sanx_socks_del(struct sanx_sock *ss, bool defer);
void sanx_socks_each(const struct net *net,
		     bool (*fn)(const struct sanx_sock *ss, void *arg),
		     void *arg);

/* stats.c */
u64 sanx_stat_sum(const struct sanx_net *sn, enum sanx_stat stat);

/**
 * sanx_stat_add() - count
 * @net: the namespace
 * @stat: the counter
 * @n: how much
 *
 * Context: any.
 */
static inline void sanx_stat_add(const struct net *net, enum sanx_stat stat,
				 u64 n)
{
	this_cpu_add(sanx_net(net)->stats->v[stat], n);
}

/* later.c */
void sanx_conn_later(struct sanx_conn *conn, struct delayed_work *work,
		     unsigned long delay);
void sanx_conn_sooner(struct sanx_conn *conn, struct delayed_work *work,
		      unsigned long delay);
void sanx_conn_later_done(struct sanx_conn *conn);
void sanx_conn_later_stop(struct sanx_conn *conn, struct delayed_work *work);

/* worker.c */
extern struct kthread_worker *sanx_connect_worker;
extern struct workqueue_struct *sanx_wq;
int sanx_worker_init(void);
void sanx_worker_exit(void);

/**
 * struct sanx_reclaim - how the caller allocated before sanx_reclaim_enter()
 * @noio: its allocations wait for no I/O
 * @reserves: and have the reserves
 * @noio_was: what there was of the first
 * @reserves_was: and of the second
 */
struct sanx_reclaim {
	bool		noio;
	bool		reserves;
	unsigned int	noio_was;
	unsigned int	reserves_was;
};

/* reclaim.c */
bool sanx_reclaim_waits(const struct sock *sk);
void sanx_reclaim_enter(const struct sock *sk, struct sanx_reclaim *scope);
void sanx_reclaim_leave(const struct sanx_reclaim *scope);

/* netlink.c */
int sanx_netlink_init(void);
void sanx_netlink_exit(void);

#endif /* _AF_SANX_H */
