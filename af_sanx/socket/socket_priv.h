/* SPDX-License-Identifier: GPL-2.0 */
/* Declarations for the files of af_sanx/socket/ only. */
#ifndef _SANX_SOCKET_PRIV_H
#define _SANX_SOCKET_PRIV_H

#include <linux/mutex.h>
#include <linux/poll.h>
#include <linux/wait.h>

#include "socket.h"

/*
 * As woken_wake_function(), for who waits for @events only.  Readers and senders
 * sleep in one queue.  A wake-up without a key is for all.
 */
static inline int sanx_wake_for(__poll_t events, struct wait_queue_entry *wait,
				unsigned int mode, int sync, void *key)
{
	if (key && !(key_to_poll(key) & (events | EPOLLERR | EPOLLHUP)))
		return 0;
	/* Most wake-ups are for interruptible sleepers only; a reader of a record is not one. */
	return woken_wake_function(wait, TASK_NORMAL, sync, key);
}

/* family.c */
struct sanx_sock *sanx_sock_alloc(struct sock *sk,
				  const struct proto_ops *native);
void sanx_sock_free(struct sanx_sock *ss);
void sanx_native_graft(struct socket *native, struct socket *sock,
		       struct sanx_sock *ss);
u16 sanx_family_number(void);

/* explicit.c */

/* A port of a namespace; each type of sockets has its own. */
struct sanx_explicit_port {
	u32	nr;
	u32	type;
};

/**
 * struct sanx_explicit - what an explicit socket has (explicit.c)
 * @node: among the ports of the namespace while it has one
 * @port: by which; 0 until it has one, and of a socket that accept() returned: its listener
 *	has it.  The type of the socket is constant
 * @sk: its sock
 * @local: its end, with that port.  Node 0 unless bind() named one.
 * @peer: of datagrams, to which it is connected; explicit_dgram.c; 0 for none
 * @reading: held by who reads a record; seqpacket.c
 * @rcu: frees it, for lookups of ports
 *
 * lock_sock() guards the others.  What is read without is a hint.
 */
struct sanx_explicit {
	struct rhash_head	node;
	struct sanx_explicit_port port;
	struct sock		*sk;
	struct sanx_endpoint	local;
	u64			peer;
	struct mutex		reading; /* guards: see seqpacket.c */
	struct rcu_head		rcu;
};

/* Are what it sends and receives records? */
static inline bool sanx_sk_records(const struct sock *sk)
{
	return sk->sk_type == SOCK_SEQPACKET;
}

const struct sanx_endpoint *sanx_explicit_end(const struct sanx_sock *ss);
const struct sanx_explicit *sanx_explicit_of(struct net *net, u16 type, u32 port);
int sanx_explicit_make(struct sanx_sock *ss, u16 type);
int sanx_explicit_autobind(struct sanx_sock *ss);
int sanx_explicit_bind(struct socket *sock, struct sockaddr *uaddr, int len);
int sanx_explicit_parse(const struct sock *sk, const struct sockaddr *uaddr, int len,
			u32 *node, u32 *port);
int sanx_explicit_fill(const struct sanx_endpoint *ep, struct sockaddr *uaddr);
int sanx_explicit_connect(struct sanx_sock *ss, struct sanx_endpoint *local,
			  const struct sanx_endpoint *remote);
void sanx_explicit_disconnect(struct sanx_sock *ss);
int sanx_explicit_accept(struct sanx_sock *ss, u16 type);
void sanx_explicit_graft(struct socket *sock);
int sanx_explicit_sol_socket(struct socket *sock, int optname, sockptr_t optval,
			     unsigned int optlen);
void sanx_explicit_forget(struct sanx_sock *ss);
int sanx_explicit_error(enum sanx_fallback why);

/* explicit_dgram.c */
void sanx_explicit_peer(const struct sanx_sock *ss, struct sanx_endpoint *peer);
void sanx_explicit_dgram_disconnect(struct sanx_sock *ss);
void sanx_explicit_dgram_graft(struct socket *sock);
void sanx_explicit_dgram_init(void);

/* label.c */
bool sanx_label_due(struct sock *sk);
void sanx_label(struct sock *sk);
void sanx_label_child(struct sock *sk, const struct sock *lsk);
void sanx_label_later(struct socket *shell, struct sock *sk);
int sanx_label_connect(struct sock *sk, const struct sockaddr *uaddr, int len);
int sanx_label_may_connect(struct sock *sk, const struct sockaddr *uaddr, int len);

/* ends.c */
int sanx_ends_connect(struct sanx_sock *ss, struct sanx_endpoint *local,
		      const struct sanx_endpoint *remote);
int sanx_ends_accept(struct sanx_sock *ss, struct sock *lsk,
		     const struct sanx_conn *conn);
void sanx_ends_show(struct sanx_sock *ss);
void sanx_ends_forget(struct sanx_sock *ss);

/* prot.c */
void sanx_prot_set(struct sock *sk);
void sanx_prot_reset(struct sock *sk);

/* stream.c */
extern const struct proto_ops sanx_stream_ops;
extern const struct proto_ops sanx_stream6_ops;
extern const struct proto_ops sanx_seqpacket_ops;
extern const struct proto_ops *sanx_inet6_ops;
struct sanx_sock *sanx_sk(struct socket *sock);
int sanx_release(struct socket *sock);
const struct proto_ops *sanx_native_ops(struct socket *sock);
void sanx_sock_forget(struct socket *sock, struct sanx_sock *ss);
int sanx_sock_ask(struct sanx_sock *ss, unsigned int cmd, int *answer);
bool sanx_sock_connecting(const struct sanx_sock *ss,
			  const struct sanx_conn *conn);

/**
 * enum sanx_recv_next - what to do when the ring has no more bytes
 * @SANX_RECV_STOP: return the bytes that were read, or the error
 * @SANX_RECV_AGAIN: bytes arrived meanwhile; read again
 * @SANX_RECV_WAIT: wait
 */
enum sanx_recv_next { SANX_RECV_STOP, SANX_RECV_AGAIN, SANX_RECV_WAIT };

/* send.c, recv.c, cmsg.c */
void sanx_want_room(struct sock *sk);
int sanx_send_may(const struct sanx_sock *ss, struct sanx_conn *conn);
int sanx_send_flags(const struct sock *sk, const struct sanx_conn *conn,
		    const struct msghdr *msg, long timeo, enum sanx_room which);
int sanx_send_wake(struct wait_queue_entry *wait, unsigned int mode, int sync, void *key);
int sanx_send_wait(struct sanx_sock *ss, struct sanx_conn *conn, long *timeo,
		   enum sanx_room *which);
int sanx_recv_wait(struct sanx_sock *ss, struct sanx_conn *conn, u32 seen, bool any,
		   unsigned int state, long *timeo);
enum sanx_recv_next sanx_recv_end(struct sanx_sock *ss, struct sanx_conn *conn, u32 seen,
				  bool none, int *err);
int sanx_sendmsg(struct socket *sock, struct msghdr *msg, size_t len);
int sanx_recvmsg(struct socket *sock, struct msghdr *msg, size_t len,
		 int flags);
void sanx_splice_eof(struct socket *sock);
void sanx_recv_cmsg(const struct sanx_conn *conn, const struct sock *sk,
		    struct msghdr *msg, ssize_t n);

/* seqpacket.c; sanx_record_sendmsg() and sanx_record_recvmsg() are in send.c and recv.c */
int sanx_record_sendmsg(struct socket *sock, struct msghdr *msg, size_t len);
int sanx_record_recvmsg(struct socket *sock, struct msghdr *msg, size_t len, int flags);
ssize_t sanx_record_send(struct sanx_sock *ss, struct sanx_conn *conn, struct msghdr *msg,
			 long *timeo, u64 *lent);
ssize_t sanx_record_recv(struct sanx_sock *ss, struct sanx_conn *conn, struct msghdr *msg,
			 size_t size, int flags);
bool sanx_record_poll(struct sanx_sock *ss, struct sanx_conn *conn);
u32 sanx_record_inq(const struct sanx_sock *ss, struct sanx_conn *conn);
int sanx_record_set_rcvlowat(struct sock *sk, int val);

/* sockopt.c, inherit.c */
int sanx_setsockopt(struct socket *sock, int level, int optname,
		    sockptr_t optval, unsigned int optlen);
int sanx_getsockopt(struct socket *sock, int level, int optname,
		    char __user *optval, int __user *optlen);
int sanx_set_rcvlowat(struct sock *sk, int val);
void sanx_inherit_options(struct sock *child, struct sock *sk);

/* tcpinfo.c */
u8 sanx_conn_tcp_state(struct sanx_conn *conn);
u32 sanx_conn_mss(const struct sanx_conn *conn, const struct sock *sk);
int sanx_tcp_info(const struct sanx_sock *ss, char __user *optval,
		  int __user *optlen);

/**
 * struct sanx_target - destination and transport of a connect()
 * @remote: the peer
 * @local: our end
 * @ops: the transport, or NULL for TCP
 * @why: without @ops, the reason to count
 */
struct sanx_target {
	struct sanx_endpoint		remote;
	struct sanx_endpoint		local;
	const struct sanx_transport_ops	*ops;
	enum sanx_fallback		why;
};

/* explain.c */
int sanx_explain(struct socket *sock, struct sanx_sock *ss, char __user *optval,
		 int __user *optlen);
int sanx_explain_node(struct socket *sock, struct sanx_sock *ss, char __user *optval,
		      int __user *optlen);

/* tally.c */
int sanx_tally_join(struct sanx_sock *ss, sockptr_t optval, unsigned int optlen);
int sanx_tally_read(const struct sanx_sock *ss, bool each, char __user *optval,
		    int __user *optlen);
void sanx_tally_child(struct sanx_sock *ss, const struct sanx_sock *listener);
void sanx_tally_conn(const struct sanx_sock *ss, struct sanx_conn *conn);
void sanx_tally_fallback(const struct sanx_sock *ss, const struct sock *sk,
			 const struct sanx_endpoint *to, enum sanx_fallback why);
void sanx_tally_leave(struct sanx_sock *ss);

/* connect.c */
enum sanx_fallback sanx_seek(struct net *net, const struct in6_addr *addr);
bool sanx_target_pick(struct sanx_sock *ss, struct sanx_target *t);
int sanx_connect(struct socket *sock, struct sockaddr *uaddr, int len,
		 int flags);

/* listen.c */
int sanx_listen(struct socket *sock, int backlog);

/* accept.c */
int sanx_accept(struct socket *sock, struct socket *newsock,
		struct proto_accept_arg *arg);

/* fallback.c */
void sanx_fall_back(struct socket *sock, struct sanx_sock *ss,
		    const struct sanx_endpoint *remote, enum sanx_fallback why);
int sanx_fallback_adopt(struct socket *sock);
void sanx_fallback_work(struct kthread_work *work);

/* route.c */
int sanx_route(struct sock *sk, const struct sanx_endpoint *remote,
	       struct sanx_endpoint *local);
u32 sanx_route_mtu(struct sock *sk, const struct sanx_conn *conn);
void sanx_endpoint_here(struct sanx_endpoint *ep);
bool sanx_endpoint_takes(const struct sanx_endpoint *ep, const struct sock *sk);
int sanx_endpoint_parse(struct sanx_endpoint *ep, const struct sock *sk,
			const struct sockaddr *uaddr, int len);
int sanx_endpoint_fill(const struct sanx_endpoint *ep, int family,
		       struct sockaddr *uaddr);

/* socks.c */
void sanx_socks_add(struct sanx_sock *ss);
void sanx_socks_del(struct sanx_sock *ss, bool defer);

#endif /* _SANX_SOCKET_PRIV_H */
