/* SPDX-License-Identifier: GPL-2.0 */
/* Namespaces, and the part of a TCP socket that the module reads. */
#ifndef _SIM_NET_H
#define _SIM_NET_H

#include "mem.h"

#define CONFIG_SANX_SIM		1
#define LINUX_VERSION_CODE	KERNEL_VERSION(6, 12, 0)
#define KERNEL_VERSION(a, b, c)	(((a) << 16) + ((b) << 8) + (c))

struct in6_addr {
	union {
		u8	s6_addr[16];
		__be16	s6_addr16[8];
		__be32	s6_addr32[4];
	};
};

#define AF_UNSPEC		0
#define AF_INET			2
#define AF_INET6		10
#define SOCK_STREAM		1
#define SOCK_DGRAM		2
#define IPPROTO_TCP		6
#define INADDR_ANY		0
#define IPV6_ADDR_ANY		0x0000
#define IPV6_ADDR_UNICAST	0x0001
#define IPV6_ADDR_MULTICAST	0x0002
#define IPV6_ADDR_LOOPBACK	0x0010
#define IPV6_ADDR_LINKLOCAL	0x0020
#define IPV6_ADDR_MAPPED	0x1000
#define RTN_LOCAL		2

extern const struct in6_addr in6addr_any;

static inline bool ipv6_addr_equal(const struct in6_addr *a,
				   const struct in6_addr *b)
{
	return !memcmp(a, b, sizeof(*a));
}

static inline bool ipv6_prefix_equal(const struct in6_addr *a,
				     const struct in6_addr *b, unsigned int len)
{
	const u8 *x = (const u8 *)a, *y = (const u8 *)b;

	return !memcmp(x, y, len / 8) &&
	       (!(len % 8) || !((x[len / 8] ^ y[len / 8]) >> (8 - len % 8)));
}

static inline void ipv6_addr_prefix(struct in6_addr *to,
				    const struct in6_addr *from, int len)
{
	*to = *from;
	for (; len < 128; len++)
		to->s6_addr[len / 8] &= ~(0x80 >> len % 8);
}

static inline bool ipv6_addr_any(const struct in6_addr *a)
{
	return ipv6_addr_equal(a, &in6addr_any);
}

static inline bool ipv6_addr_v4mapped(const struct in6_addr *a)
{
	return !a->s6_addr32[0] && !a->s6_addr32[1] &&
	       a->s6_addr32[2] == htonl(0xffff);
}

static inline void ipv6_addr_set_v4mapped(__be32 v4, struct in6_addr *a)
{
	a->s6_addr32[0] = 0;
	a->s6_addr32[1] = 0;
	a->s6_addr32[2] = htonl(0xffff);
	a->s6_addr32[3] = v4;
}

int ipv6_addr_type(const struct in6_addr *a);
#define ipv6_addr_loopback(a)	(ipv6_addr_type(a) & IPV6_ADDR_LOOPBACK)
#define ipv4_is_loopback(a)	((ntohl(a) >> 24) == 127)
#define ipv4_is_multicast(a)	((ntohl(a) >> 28) == 14)
#define ipv4_is_zeronet(a)	((ntohl(a) >> 24) == 0)
#define ipv4_is_lbcast(a)	((a) == htonl(0xffffffff))

struct sim_ipv4 {
	int	sysctl_tcp_rmem[3];
	int	sysctl_tcp_wmem[3];
	int	sysctl_tcp_moderate_rcvbuf;
	int	sysctl_tcp_retries2;
	int	sysctl_tcp_syn_retries;
	int	sysctl_tcp_migrate_req;
};

#define SIM_NET_IDS	8

/**
 * struct net - a namespace; here a node
 * @id: number of the node
 * @ipv4: sysctls
 * @gen: what net_generic() returns
 * @list: in the list of namespaces
 */
struct net {
	int			id;
	struct { unsigned int inum; } ns;
	const struct user_namespace *user_ns;
	struct sim_ipv4		ipv4;
	void			*gen[SIM_NET_IDS];
	struct list_head	list;
};

struct sockaddr_storage {
	u16			ss_family;
	u8			rest[126];
};

struct sockaddr_in {
	u16			sin_family;
	__be16			sin_port;
	struct { __be32 s_addr; } sin_addr;
};

struct sockaddr_in6 {
	u16			sin6_family;
	__be16			sin6_port;
	u32			sin6_flowinfo;
	struct in6_addr		sin6_addr;
};

typedef struct { unsigned int val; } kuid_t;

#define GLOBAL_ROOT_UID		((kuid_t){ 0 })
#define uid_eq(a, b)		((a).val == (b).val)

/**
 * struct user_namespace - what a user may do
 * @parent: the namespace around it
 * @owner: who made it
 */
struct user_namespace {
	const struct user_namespace *parent;
	kuid_t			owner;
};

extern struct user_namespace init_user_ns;

struct pernet_operations {
	int			(*init)(struct net *net);
	void			(*exit)(struct net *net);
	unsigned int		*id;
	size_t			size;
	struct list_head	list;
};

extern struct net init_net;
extern struct list_head sim_nets;
extern struct rw_semaphore net_rwsem;

#define net_eq(a, b)		((a) == (b))
#define net_hash_mix(n)		((u32)(n)->id)
#define net_generic(n, id)	((n)->gen[id])
#define for_each_net(n)		list_for_each_entry(n, &sim_nets, list)
int register_pernet_subsys(struct pernet_operations *ops);
void unregister_pernet_subsys(struct pernet_operations *ops);
void sim_nets_init(void);
struct net *sim_net_new(int id);
void sim_net_exit(struct net *net);
int inet_addr_type(struct net *net, __be32 addr);

struct socket_wq {
	wait_queue_head_t	wait;
	void			*fasync_list;
};

struct sock;

struct socket {
	unsigned long		flags;
	struct sock		*sk;
	struct socket_wq	wq;
};

struct sock_reuseport {
	void *prog;
};

enum sock_flags {
	SOCK_KEEPOPEN,
	SOCK_LINGER,
	SOCK_URGINLINE,
	SOCK_MEMALLOC,
};

#define SOCK_SNDBUF_LOCK	1
#define SOCK_RCVBUF_LOCK	2
#define SK_FLAGS_TIMESTAMP	(1UL << 20)
#define SOCK_NOSPACE		2
#define SOCKWQ_ASYNC_NOSPACE	0
#define RCV_SHUTDOWN		1
#define SEND_SHUTDOWN		2
#define SHUTDOWN_MASK		3
#define TCP_ESTABLISHED		1
#define TCP_SYN_SENT		2
#define TCP_SYN_RECV		3
#define TCP_FIN_WAIT1		4
#define TCP_FIN_WAIT2		5
#define TCP_TIME_WAIT		6
#define TCP_CLOSE		7
#define TCP_CLOSE_WAIT		8
#define TCP_LAST_ACK		9
#define TCP_LISTEN		10
#define TCP_CLOSING		11
#define TCP_NAGLE_OFF		1
#define TCP_NAGLE_CORK		2
#define TCP_RTO_MAX		(120 * HZ)
#define TCP_RTO_MIN		(HZ / 5)
#define TCP_TIMEOUT_INIT	(1 * HZ)
#define MSG_OOB			1
#define MSG_PEEK		2
#define MSG_PROBE		0x10
#define MSG_TRUNC		0x20
#define MSG_DONTWAIT		0x40
#define MSG_CONFIRM		0x800
#define MSG_MORE		0x8000
#define MSG_BATCH		0x40000
#define SIOCOUTQ		0x5411

#define PROT_SOCK	1024

/**
 * struct sock - what the module uses of the native sock
 *
 * The names are the kernel's.  @sim_lock is lock_sock().
 */
struct sock {
	struct socket		*sk_socket;
	struct socket_wq	*sk_wq;
	struct net		*sim_net;
	refcount_t		sk_refcnt;
	u16			sk_type;
	int			sk_family;
	int			sk_state;
	int			sk_err;
	u8			sk_shutdown;
	u8			sk_userlocks;
	int			sk_sndbuf;
	int			sk_rcvbuf;
	int			sk_rcvlowat;
	atomic_t		sk_rmem_alloc;
	refcount_t		sk_wmem_alloc;
	unsigned long		sk_flags;
	gfp_t			sk_allocation;
	unsigned int		sk_max_ack_backlog;
	unsigned int		sk_ack_backlog;
	unsigned long		sk_lingertime;
	struct mem_cgroup	*sk_memcg;
	int			sk_bound_dev_if;
	void			*sk_filter;
	struct sock_reuseport	*sk_reuseport_cb;
	struct {
		spinlock_t		slock;
		int			owned;
		struct sim_task		*owner;
		struct sim_waiters	waiters;
		struct lockdep_map	dep_map;
	} sk_lock;
	spinlock_t		sk_callback_lock;
	void			(*sk_data_ready)(struct sock *sk);
	void			(*sk_write_space)(struct sock *sk);
	void			(*sk_state_change)(struct sock *sk);
	void			(*sk_error_report)(struct sock *sk);
};

/* The sock holds one itself. */
static inline int sk_wmem_alloc_get(const struct sock *sk)
{
	return refcount_read(&sk->sk_wmem_alloc) - 1;
}

struct inet_sock {
	struct sock	sk;
	__be16		inet_sport;
	__u16		inet_num;
	__be32		inet_rcv_saddr;
	__be32		inet_daddr;
	__be16		inet_dport;
	u8		min_ttl;
};

struct inet_connection_sock {
	struct inet_sock	icsk_inet;
	u32			icsk_user_timeout;
	u8			icsk_syn_retries;
	struct request_sock_queue { u8 rskq_defer_accept; } icsk_accept_queue;
};

/* TCP's own connections do not come here. */
static inline bool reqsk_queue_empty(const struct request_sock_queue *queue)
{
	return true;
}

struct tcp_sock {
	struct inet_connection_sock	inet_conn;
	u8				nonagle;
	u32				notsent_lowat;
	u32				keepalive_time;
	u32				keepalive_intvl;
	u8				keepalive_probes;
	u32				rcv_nxt;
	u32				copied_seq;
	u32				write_seq;
	u32				snd_una;
};

#define tcp_sk(s)		((struct tcp_sock *)(s))
#define inet_sk(s)		((struct inet_sock *)(s))
#define inet_csk(s)		((struct inet_connection_sock *)(s))
#define sock_net(s)		((s)->sim_net)
#define inet_sk_state_load(s)	READ_ONCE((s)->sk_state)
#define tcp_under_memory_pressure(s)	(false)
#define sock_flag(s, f)		(!!((s)->sk_flags & BIT(f)))
#define keepalive_time_when(tp)	((int)(tp)->keepalive_time)
#define keepalive_intvl_when(tp) ((int)(tp)->keepalive_intvl)
#define keepalive_probes(tp)	((tp)->keepalive_probes)
#define tcp_notsent_lowat(tp)	((tp)->notsent_lowat)
#define sock_rcvlowat(s, waitall, len) \
	((waitall) ? (len) : (min_t(int, READ_ONCE((s)->sk_rcvlowat), len) ?: 1))
#define sk_sleep(s)		(&(s)->sk_wq->wait)
#define sk_incoming_cpu_update(s) do { } while (0)
#define sk_wake_async(s, how, band) do { } while (0)
#define sock_wake_async(wq, how, band) do { } while (0)
#define sk_send_sigurg(s)	do { } while (0)
#define sk_error_report(s)	((s)->sk_error_report(s))
#define sock_hold(s)		refcount_inc(&(s)->sk_refcnt)
#define sock_owned_by_user_nocheck(s) ((s)->sk_lock.owned)
#define sock_owned_by_me(s)	sim_assert((s)->sk_lock.owned)
#define skwq_has_sleeper(wq)	({ sim_point(); (wq) && skwq_has_waiters(&(wq)->wait); })
#define EPOLLIN			1U
#define EPOLLPRI		2U
#define EPOLLOUT		4U
#define EPOLLRDNORM		0x40U
#define EPOLLRDBAND		0x80U
#define EPOLLWRNORM		0x100U
#define EPOLLWRBAND		0x200U
#define EPOLLMSG		0x400U

void sim_native_write_space(struct sock *sk);
void sock_put(struct sock *sk);
void lock_sock(struct sock *sk);
void release_sock(struct sock *sk);
int sock_create_kern(struct net *net, int family, int type, int proto,
		     struct socket **sock);
void sock_release(struct socket *sock);

/**
 * struct ubuf_info - who is told that lent pages are its own again
 * @refs: messages that have them, and the call
 * @done: called when there are none any more
 */
struct ubuf_info {
	int	refs;
	void	(*done)(struct ubuf_info *ubuf);
};

static inline void net_zcopy_put(struct ubuf_info *ubuf)
{
	sim_assert(ubuf->refs > 0);
	if (!--ubuf->refs)
		ubuf->done(ubuf);
}

struct msghdr {
	struct iov_iter	msg_iter;
	int		msg_flags;
	struct ubuf_info *msg_ubuf;
};

#define msg_data_left(m)	iov_iter_count(&(m)->msg_iter)

static inline int memcpy_to_msg(struct msghdr *m, void *data, int len)
{
	return _copy_to_iter(data, len, &m->msg_iter) == (size_t)len ? 0 : -EFAULT;
}

static inline int sock_error(struct sock *sk)
{
	return -xchg(&sk->sk_err, 0);
}

struct proto {
	atomic_long_t	*memory_allocated;
	long		*sysctl_mem;
};

extern struct proto tcp_prot;

struct ctl_table_header {
	void *ctl_table_arg;
};

struct nlmsghdr;

/**
 * struct skb_frag_t - a part of a packet
 * @mem: its bytes
 * @bytes: how many
 */
typedef struct {
	u8	*mem;
	u32	bytes;
} skb_frag_t;

#define MAX_SKB_FRAGS		17

/**
 * struct sk_buff - a message of netlink, or some; or a packet, as skb.c makes it
 * @sk: the socket, of which only the namespace is looked at
 * @len: bytes of the message
 * @size: room in @data
 * @portid: of the sender
 * @data: the bytes, those of a packet up to its first part
 * @list: in a queue
 * @cb: of who has it
 * @data_len: bytes of a packet that are in parts
 * @truesize: memory of a packet
 * @ubuf: whose pages it stands for
 * @shared: the parts, and what they are to be cut into
 */
struct sk_buff {
	struct sock	*sk;
	u32		len;
	u32		size;
	u32		portid;
	u8		*data;
	struct list_head list;
	u8		cb[48] __aligned(8);
	u32		data_len;
	u32		truesize;
	struct ubuf_info *ubuf;
	struct skb_shared_info {
		u16		gso_size;
		unsigned int	nr_frags;
		skb_frag_t	frags[MAX_SKB_FRAGS];
	} shared;
};

struct sk_buff_head {
	struct list_head	list;
	u32			qlen;
	spinlock_t		lock;
};

#define PAGE_ALLOC_COSTLY_ORDER	3
#define SKB_WITH_OVERHEAD(n)	((n) - 320)
#define skb_shinfo(skb)		(&(skb)->shared)
#define skb_headlen(skb)	((skb)->len - (skb)->data_len)
#define skb_frag_address(f)	((void *)(f)->mem)
#define skb_frag_size(f)	((f)->bytes)
#define skb_queue_empty(q)	(!(q)->qlen)
#define skb_queue_len(q)	((q)->qlen)
#define skb_queue_empty_lockless(q)	(!skb_queue_len_lockless(q))
#define skb_queue_len_lockless(q)	READ_ONCE((q)->qlen)
#define dev_consume_skb_irq(skb) consume_skb(skb)
#define alloc_skb(n, gfp)	((struct sk_buff *)kzalloc(sizeof(struct sk_buff), gfp))
void consume_skb(struct sk_buff *skb);
void skb_zcopy_set(struct sk_buff *skb, struct ubuf_info *ubuf, bool *have_ref);
void skb_zcopy_clear(struct sk_buff *skb, bool success);
#define skb_orphan(skb)		((void)(skb))

struct sk_buff *alloc_skb_with_frags(unsigned long headlen, unsigned long datalen, int order,
				     int *err, gfp_t gfp);
void skb_put(struct sk_buff *skb, u32 len);
void kfree_skb(struct sk_buff *skb);
void skb_queue_head_init(struct sk_buff_head *q);
void skb_queue_tail(struct sk_buff_head *q, struct sk_buff *skb);
void skb_unlink(struct sk_buff *skb, struct sk_buff_head *q);
struct sk_buff *skb_peek(const struct sk_buff_head *q);
struct sk_buff *skb_dequeue(struct sk_buff_head *q);
void skb_queue_purge(struct sk_buff_head *q);

#define skb_queue_walk(q, skb)	list_for_each_entry(skb, &(q)->list, list)

typedef struct { int unused; } seqlock_t;

struct netlink_callback {
	struct sk_buff		*skb;
	const struct nlmsghdr	*nlh;
	unsigned int		prev_seq;
	unsigned int		seq;
	long			args[6];
};

/* Tracepoints go to the trace of the simulator, with their name only. */
#define TP_PROTO(...)		__VA_ARGS__
#define TP_ARGS(...)		__VA_ARGS__
#define TP_STRUCT__entry(...)
#define TP_fast_assign(...)
#define TP_printk(...)
#define TRACE_EVENT(name, proto, args, ...)			\
	static inline __maybe_unused void trace_##name(proto)	\
	{ sim_trace_##name(args); }

struct sanx_conn;
void sim_trace_sanx_conn_state(const struct sanx_conn *conn, int next);
void sim_trace_sanx_lconn_state(u32 peer, u32 id, const char *part,
				const char *from, const char *to);
void sim_trace_sanx_fallback(const struct sock *sk, int why);
void sim_trace_sanx_protocol_error(const struct net *net);

#endif /* _SIM_NET_H */
