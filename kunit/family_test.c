// SPDX-License-Identifier: GPL-2.0
/*
 * Sockets of the family in the hands of the kernel (af_sanx/socket/fallback.c,
 * sockopt.c): what looks at a socket's ops when TCP_ULP is set finds TCP's.  A
 * ULP of this suite's own is who looks, as the kernel's keep what they see.
 *
 * And the trylock of a socket (af_sanx/conn/begin.c), and memory for one that reclaim waits
 * for (memalloc.c).
 */
#include <kunit/test.h>
#include <linux/debug_locks.h>
#include <linux/in.h>
#include <linux/module.h>
#include <linux/net.h>
#include <linux/preempt.h>
#include <linux/sched/mm.h>
#include <linux/sizes.h>
#include <net/inet_common.h>
#include <net/net_namespace.h>
#include <net/tcp.h>
#include <uapi/linux/sanx.h>

#include "conn/conn.h"

static const struct proto_ops *seen;

static int spy_init(struct sock *sk)
{
	seen = sk->sk_socket->ops;
	return -EOPNOTSUPP;
}

/* It is there so that a listener is asked, too. */
static void spy_clone(const struct request_sock *req, struct sock *newsk,
		      const gfp_t priority)
{
}

static struct tcp_ulp_ops spy = {
	.name	= "sanx_spy",
	.owner	= THIS_MODULE,
	.init	= spy_init,
	.clone	= spy_clone,
};

static void release(void *sock)
{
	sock_release(sock);
}

static struct socket *ours(struct kunit *test, int err, struct socket *sock)
{
	KUNIT_ASSERT_EQ(test, err, 0);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, release, sock), 0);
	return sock;
}

static struct socket *make(struct kunit *test, int family)
{
	struct socket *sock = NULL;
	int err;

	err = sock_create_kern(&init_net, family, SOCK_STREAM, 0, &sock);
	return ours(test, err, sock);
}

/* A listener of ours; @addr is its address. */
static struct socket *make_listener(struct kunit *test,
				    struct sockaddr_in *addr)
{
	struct socket *l = make(test, SANX_FAMILY_DEFAULT);

	*addr = (struct sockaddr_in) {
		.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	KUNIT_ASSERT_EQ(test, kernel_bind(l, (struct sockaddr *)addr,
					  sizeof(*addr)), 0);
	KUNIT_ASSERT_EQ(test, kernel_listen(l, 1), 0);
	KUNIT_ASSERT_EQ(test, kernel_getsockname(l, (struct sockaddr *)addr),
			(int)sizeof(*addr));
	return l;
}

/* What kernel_accept() makes of a plain TCP client. */
static struct socket *accept_tcp(struct kunit *test, struct socket *l,
				 struct sockaddr_in *addr)
{
	struct socket *client = make(test, AF_INET), *child = NULL;
	int err;

	KUNIT_ASSERT_EQ(test, kernel_connect(client, (struct sockaddr *)addr,
					     sizeof(*addr), 0), 0);
	err = kernel_accept(l, &child, 0);
	return ours(test, err, child);
}

static int set_spy(struct socket *sock)
{
	seen = NULL;
	return sock->ops->setsockopt(sock, SOL_TCP, TCP_ULP,
				     KERNEL_SOCKPTR(spy.name),
				     strlen(spy.name));
}

static void test_accepted(struct kunit *test)
{
	struct sockaddr_in addr;
	struct socket *l = make_listener(test, &addr);
	struct socket *child = accept_tcp(test, l, &addr);

	/* If it had not, there would be nothing to see. */
	KUNIT_EXPECT_PTR_EQ(test, child->ops, l->ops);
	KUNIT_EXPECT_EQ(test, set_spy(child), -EOPNOTSUPP);
	KUNIT_EXPECT_PTR_EQ(test, seen, &inet_stream_ops);
	KUNIT_EXPECT_PTR_EQ(test, child->ops, &inet_stream_ops);
	/* Once is enough. */
	KUNIT_EXPECT_EQ(test, set_spy(child), -EOPNOTSUPP);
	KUNIT_EXPECT_PTR_EQ(test, seen, &inet_stream_ops);
}

static void test_listener(struct kunit *test)
{
	struct sockaddr_in addr;
	struct socket *l = make_listener(test, &addr);
	struct socket *child;

	KUNIT_EXPECT_EQ(test, set_spy(l), -EOPNOTSUPP);
	KUNIT_EXPECT_PTR_EQ(test, seen, &inet_stream_ops);
	KUNIT_EXPECT_PTR_EQ(test, l->ops, &inet_stream_ops);
	child = accept_tcp(test, l, &addr);
	KUNIT_EXPECT_PTR_EQ(test, child->ops, &inet_stream_ops);
}

static void test_unconnected(struct kunit *test)
{
	struct socket *sock = make(test, SANX_FAMILY_DEFAULT);

	KUNIT_EXPECT_EQ(test, set_spy(sock), -EOPNOTSUPP);
	KUNIT_EXPECT_PTR_EQ(test, seen, &inet_stream_ops);
	KUNIT_EXPECT_PTR_EQ(test, sock->ops, &inet_stream_ops);
}

/* It never sleeps, whoever takes the lock while it looks. */
static bool trylock(struct sock *sk)
{
	bool taken;

	preempt_disable();
	taken = sanx_lock_sock_soon(sk);
	preempt_enable();
	return taken;
}

static void test_trylock(struct kunit *test)
{
	struct sock *sk = make(test, SANX_FAMILY_DEFAULT)->sk;

	KUNIT_ASSERT_TRUE(test, trylock(sk));
	KUNIT_EXPECT_TRUE(test, sock_owned_by_user(sk));
	KUNIT_EXPECT_FALSE(test, trylock(sk));
	release_sock(sk);
	KUNIT_EXPECT_FALSE(test, sock_owned_by_user_nocheck(sk));
	lock_sock(sk);
	KUNIT_EXPECT_FALSE(test, trylock(sk));
	release_sock(sk);
	KUNIT_ASSERT_TRUE(test, trylock(sk));
	release_sock(sk);
}

/* One that is taken on the way of I/O, which reclaim may wait for. */
static DEFINE_MUTEX(io_lock);

static int send_under_io(struct socket *sock, void *buf, size_t len)
{
	struct msghdr msg = { .msg_flags = MSG_DONTWAIT };
	struct kvec iov = { .iov_base = buf, .iov_len = len };
	int n;

	mutex_lock(&io_lock);
	n = kernel_sendmsg(sock, &msg, &iov, 1, len);
	mutex_unlock(&io_lock);
	return n;
}

/*
 * lockdep knows that reclaim may wait for the lock, and finds each allocation under it
 * that may wait for reclaim.  The first bytes make the first ring, many need more.
 */
static void test_memalloc(struct kunit *test)
{
	static const int sizes[] = { 1, SZ_4K, SZ_256K };
	struct socket *l, *client, *child = NULL;
	void *buf = kunit_kzalloc(test, SZ_256K, GFP_KERNEL);
	struct sockaddr_in addr;
	int err, i;

	if (!IS_ENABLED(CONFIG_PROVE_LOCKING))
		kunit_skip(test, "needs PROVE_LOCKING");
	KUNIT_ASSERT_NOT_NULL(test, buf);
	l = make_listener(test, &addr);
	client = make(test, SANX_FAMILY_DEFAULT);
	KUNIT_ASSERT_EQ(test, kernel_connect(client, (struct sockaddr *)&addr,
					     sizeof(addr), 0), 0);
	err = kernel_accept(l, &child, 0);
	ours(test, err, child);
	fs_reclaim_acquire(GFP_KERNEL);
	mutex_lock(&io_lock);
	mutex_unlock(&io_lock);
	fs_reclaim_release(GFP_KERNEL);
	client->sk->sk_allocation = GFP_NOIO;
	for (i = 0; i < ARRAY_SIZE(sizes); i++)
		KUNIT_EXPECT_EQ(test, send_under_io(client, buf, sizes[i]),
				sizes[i]);
	client->sk->sk_allocation = GFP_KERNEL;
	KUNIT_EXPECT_TRUE(test, debug_locks);
}

static int family_suite_init(struct kunit_suite *suite)
{
	return tcp_register_ulp(&spy);
}

static void family_suite_exit(struct kunit_suite *suite)
{
	tcp_unregister_ulp(&spy);
}

static struct kunit_case family_cases[] = {
	KUNIT_CASE(test_accepted),
	KUNIT_CASE(test_listener),
	KUNIT_CASE(test_unconnected),
	KUNIT_CASE(test_trylock),
	KUNIT_CASE(test_memalloc),
	{}
};

static struct kunit_suite family_suite = {
	.name		= "sanx_family",
	.suite_init	= family_suite_init,
	.suite_exit	= family_suite_exit,
	.test_cases	= family_cases,
};

kunit_test_suite(family_suite);

MODULE_LICENSE("GPL");
MODULE_IMPORT_NS(EXPORTED_FOR_KUNIT_TESTING);
MODULE_DESCRIPTION("KUnit tests of AF_SANX's sockets in the kernel's hands");
