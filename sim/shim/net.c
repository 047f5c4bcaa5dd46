// SPDX-License-Identifier: GPL-2.0
/* Namespaces, which are the nodes, and addresses. */
#include <stdlib.h>

#include "net.h"

const struct in6_addr in6addr_any;
struct module sim_module;
struct net init_net;
struct user_namespace init_user_ns;
struct list_head sim_nets;
struct rw_semaphore net_rwsem;

static struct list_head all_ops;
static atomic_long_t tcp_memory;
static long tcp_mem[3] = { 1 << 18, 1 << 19, 1 << 20 };
struct proto tcp_prot = { &tcp_memory, tcp_mem };

static unsigned int next_id;

/* One of a user, one in it, and one that root has made. */
static const struct user_namespace user_nses[] = {
	{ .parent = &init_user_ns, .owner = { 1 } },
	{ .parent = &user_nses[0], .owner = { 2 } },
	{ .parent = &init_user_ns, .owner = GLOBAL_ROOT_UID },
};

/* Nodes of the administrator, and of users; some have the same. */
static const struct user_namespace *user_ns_of(int id)
{
	int i = id % (ARRAY_SIZE(user_nses) + 1);

	return i ? &user_nses[i - 1] : &init_user_ns;
}

static void net_defaults(struct net *net, int id)
{
	*net = (struct net){ .id = id, .user_ns = user_ns_of(id) };
	net->ns.inum = id;
	net->ipv4.sysctl_tcp_rmem[0] = 4096;
	net->ipv4.sysctl_tcp_rmem[1] = 131072;
	net->ipv4.sysctl_tcp_rmem[2] = 6291456;
	net->ipv4.sysctl_tcp_wmem[0] = 4096;
	net->ipv4.sysctl_tcp_wmem[1] = 16384;
	net->ipv4.sysctl_tcp_wmem[2] = 4194304;
	net->ipv4.sysctl_tcp_moderate_rcvbuf = 1;
	net->ipv4.sysctl_tcp_retries2 = 15;
	net->ipv4.sysctl_tcp_syn_retries = 6;
}

/**
 * sim_nets_init() - start with the first namespace only
 */
void sim_nets_init(void)
{
	INIT_LIST_HEAD(&sim_nets);
	INIT_LIST_HEAD(&all_ops);
	next_id = 0;
	tcp_memory.v = 0;
	net_defaults(&init_net, 0);
	list_add_tail(&init_net.list, &sim_nets);
}

static int init_one(struct pernet_operations *ops, struct net *net)
{
	if (ops->id) {
		net->gen[*ops->id] = kzalloc(ops->size,
					     GFP_KERNEL | __GFP_NOFAIL);
		if (!net->gen[*ops->id])
			return -ENOMEM;
	}
	return ops->init ? ops->init(net) : 0;
}

static void exit_one(struct pernet_operations *ops, struct net *net)
{
	if (ops->exit)
		ops->exit(net);
}

static void free_one(struct pernet_operations *ops, struct net *net)
{
	if (ops->id) {
		kfree(net->gen[*ops->id]);
		net->gen[*ops->id] = NULL;
	}
}

int register_pernet_subsys(struct pernet_operations *ops)
{
	struct net *net;
	int err = 0;

	if (ops->id)
		*ops->id = next_id++;
	sim_assert(next_id <= SIM_NET_IDS);
	list_add_tail(&ops->list, &all_ops);
	list_for_each_entry(net, &sim_nets, list)
		err = err ?: init_one(ops, net);
	return err;
}

void unregister_pernet_subsys(struct pernet_operations *ops)
{
	struct net *net;

	list_del(&ops->list);
	list_for_each_entry(net, &sim_nets, list)
		exit_one(ops, net);
	list_for_each_entry(net, &sim_nets, list)
		free_one(ops, net);
	next_id--;
}

/**
 * sim_net_new() - make a namespace
 * @id: its number
 */
struct net *sim_net_new(int id)
{
	struct pernet_operations *ops;
	struct net *net = malloc(sizeof(*net));

	net_defaults(net, id);
	list_for_each_entry(ops, &all_ops, list)
		sim_assert(!init_one(ops, net));
	list_add_tail(&net->list, &sim_nets);
	return net;
}

/**
 * sim_net_exit() - end a namespace, and free it
 */
void sim_net_exit(struct net *net)
{
	struct pernet_operations *ops;

	list_del(&net->list);
	synchronize_rcu();
	for (ops = list_last_entry(&all_ops, struct pernet_operations, list);
	     &ops->list != &all_ops;
	     ops = list_entry(ops->list.prev, struct pernet_operations, list))
		exit_one(ops, net);
	list_for_each_entry(ops, &all_ops, list)
		free_one(ops, net);
	rcu_barrier();
	free(net);
}

int ipv6_addr_type(const struct in6_addr *a)
{
	if (ipv6_addr_any(a))
		return IPV6_ADDR_ANY;
	if (a->s6_addr[0] == 0xff)
		return IPV6_ADDR_MULTICAST;
	if (a->s6_addr[0] == 0xfe && (a->s6_addr[1] & 0xc0) == 0x80)
		return IPV6_ADDR_LINKLOCAL | IPV6_ADDR_UNICAST;
	if (ipv6_addr_v4mapped(a))
		return IPV6_ADDR_MAPPED;
	if (!a->s6_addr32[0] && !a->s6_addr32[1] && !a->s6_addr32[2] &&
	    a->s6_addr32[3] == htonl(1))
		return IPV6_ADDR_LOOPBACK | IPV6_ADDR_UNICAST;
	return IPV6_ADDR_UNICAST;
}

/* Address 10.0.0.N belongs to node N. */
int inet_addr_type(struct net *net, __be32 addr)
{
	sim_work.routes++;
	if (ipv4_is_loopback(addr))
		return RTN_LOCAL;
	return ntohl(addr) == 0x0a000000U + net->id ? RTN_LOCAL : 0;
}

void lock_sock(struct sock *sk)
{
	sim_may_sleep("lock_sock()");
	while (sk->sk_lock.owned)
		sim_wait(&sk->sk_lock.waiters, "lock_sock");
	sk->sk_lock.owned = 1;
	sim_point();
}

void release_sock(struct sock *sk)
{
	sim_assert(sk->sk_lock.owned);
	sk->sk_lock.owned = 0;
	sim_wake(&sk->sk_lock.waiters);
	sim_point();
}

/* sanx_conn_init() wants to know sk_write_space of TCP. */
void sim_native_write_space(struct sock *sk)
{
}

int sock_create_kern(struct net *net, int family, int type, int proto,
		     struct socket **sock)
{
	static struct tcp_sock tp;
	static struct socket s;

	s.sk = (struct sock *)&tp;
	s.sk->sk_write_space = sim_native_write_space;
	*sock = &s;
	return 0;
}

void sock_release(struct socket *sock)
{
}

u32 jhash(const void *key, u32 len, u32 seed)
{
	const u8 *p = key;
	u32 h = seed;

	while (len--)
		h = (h ^ *p++) * 0x01000193U;
	return h;
}

void sort(void *base, size_t n, size_t size,
	  int (*cmp)(const void *a, const void *b),
	  void (*swap_fn)(void *a, void *b, int size))
{
	qsort(base, n, size, cmp);
}

void sort_r(void *base, size_t n, size_t size,
	    int (*cmp)(const void *a, const void *b, const void *priv),
	    void (*swap_fn)(void *a, void *b, int size, const void *priv),
	    const void *priv)
{
	qsort_r(base, n, size,
		(int (*)(const void *a, const void *b, void *priv))cmp,
		(void *)priv);
}
