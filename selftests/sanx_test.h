/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The fixture of the socket tests: a connected pair of stream sockets, in as
 * many variants as there are ways that two programs can meet.  One test body
 * says what all of them must do, and plain TCP is the oracle.
 *
 * The setup proves by the module's counters that the pair came to be in the
 * variant's way; the teardown proves that everything else in the test did.
 *
 * "verbs" needs a module loaded with loop=0, an RDMA device and a node map; the
 * address is $SANX_ADDR4 and $SANX_ADDR6.
 */
#ifndef SANX_TEST_H
#define SANX_TEST_H

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>

#include <linux/sanx.h>

#include "kselftest_harness.h"

#include "lib/node.h"
#include "lib/util.h"
#include "variants.h"

#ifndef DEFAULT_VARIANTS
#define DEFAULT_VARIANTS "tcp loop fallback"
#endif

/* Of all sockets of the fixture. */
#ifndef SOCKET_TYPE
#define SOCKET_TYPE SOCK_STREAM
#endif

/* Seconds for one test; the debug kernel on an emulated CPU is very slow. */
#define TEST_SECONDS	400
#define SANX_TEST(name) TEST_F_TIMEOUT(stream, name, TEST_SECONDS)

/*
 * A test that only some variants can have, by their names as in $SANX_VARIANTS:
 * the others are without it, and not with one that passes.
 */
#define SANX_TEST_OF(variants, name) \
	static struct __test_metadata *_stream_##name##_object; \
	static void __attribute__((constructor)) only_##name(void) \
	{ \
		test_only(_stream_##name##_object, variants); \
	} \
	SANX_TEST(name)

/* The variants of which sockets have IP addresses and may become TCP, for such a test. */
#define IP_TEST(name) SANX_TEST_OF("tcp loop verbs fallback tcpclient tcpserver", name)

/* For a test that cannot say how many sockets become TCP. */
#define ANY_FALLBACKS	(-1)

FIXTURE_VARIANT(stream)
{
	int family;		/* of the addresses */
	bool client;		/* the client's socket is AF_SANX */
	bool server;		/* the listener is AF_SANX */
	bool deny;		/* a port rule denies every port */
	int carried;		/* counter of AF_SANX connections that moves */
	int why_client;		/* counter that moves when the client falls back */
	int why_server;		/* counter that moves when accept() does */
};

FIXTURE(stream)
{
	struct address addr;	/* of the listener */
	int listener;
	union {
		struct {
			int client;
			int server;
		};
		int end[2];
	};
	struct node_stats before;
	int fallbacks;		/* fallbacks that the test is to cause, but of explicit sockets */
};

#define VARIANT(name, ip, ...) \
	FIXTURE_VARIANT_ADD(stream, name) { .family = ip, ##__VA_ARGS__ }

#define BOTH_ENDS	.client = true, .server = true

VARIANT(tcp4, AF_INET);
VARIANT(tcp6, AF_INET6);
VARIANT(loop4, AF_INET, BOTH_ENDS, .carried = SANX_A_STATS_CONNS_LOOP);
VARIANT(loop6, AF_INET6, BOTH_ENDS, .carried = SANX_A_STATS_CONNS_LOOP);
VARIANT(verbs4, AF_INET, BOTH_ENDS, .carried = SANX_A_STATS_CONNS_VERBS);
VARIANT(verbs6, AF_INET6, BOTH_ENDS, .carried = SANX_A_STATS_CONNS_VERBS);
VARIANT(explicit, FAMILY_EXPLICIT, BOTH_ENDS, .carried = SANX_A_STATS_CONNS_LOOP);
VARIANT(explicitverbs, FAMILY_EXPLICIT, BOTH_ENDS, .carried = SANX_A_STATS_CONNS_VERBS);
VARIANT(fallback4, AF_INET, BOTH_ENDS, .deny = true,
	.why_client = SANX_A_STATS_FALLBACK_PORT,
	.why_server = SANX_A_STATS_FALLBACK_ACCEPT);
VARIANT(fallback6, AF_INET6, BOTH_ENDS, .deny = true,
	.why_client = SANX_A_STATS_FALLBACK_PORT,
	.why_server = SANX_A_STATS_FALLBACK_ACCEPT);
VARIANT(tcpclient4, AF_INET, .server = true,
	.why_server = SANX_A_STATS_FALLBACK_ACCEPT);
VARIANT(tcpclient6, AF_INET6, .server = true,
	.why_server = SANX_A_STATS_FALLBACK_ACCEPT);
VARIANT(tcpserver4, AF_INET, .client = true,
	.why_client = SANX_A_STATS_FALLBACK_REFUSED);
VARIANT(tcpserver6, AF_INET6, .client = true,
	.why_client = SANX_A_STATS_FALLBACK_REFUSED);

/* The address that a variant's listeners have. */
static inline const char *variant_address(const FIXTURE_VARIANT(stream) *v)
{
	if (v->family == FAMILY_EXPLICIT)
		return v->carried == SANX_A_STATS_CONNS_VERBS ? "node:1" : "node:0";
	if (v->carried == SANX_A_STATS_CONNS_VERBS)
		return v->family == AF_INET ? env_or("SANX_ADDR4", "10.77.0.1") :
					      env_or("SANX_ADDR6", "fd77::1");
	return v->family == AF_INET ? "127.0.0.1" : "::1";
}

/* A socket: AF_SANX's or plain TCP's. */
static inline int stream_socket(bool sanx, int family)
{
	return rc(node_socket(sanx, family, SOCKET_TYPE | SOCK_CLOEXEC));
}

static inline int client_socket(const FIXTURE_VARIANT(stream) *v)
{
	return stream_socket(v->client, v->family);
}

static inline int server_socket(const FIXTURE_VARIANT(stream) *v)
{
	return stream_socket(v->server, v->family);
}

/* Do sockets of this variant end as plain TCP's? */
static inline bool is_tcp(const FIXTURE_VARIANT(stream) *v)
{
	return !v->carried;
}

/* Sends until there is no more room; bytes, or -errno. */
static inline ssize_t fill(const FIXTURE_VARIANT(stream) *v, int fd)
{
	bool loop = v->carried == SANX_A_STATS_CONNS_LOOP;

	/*
	 * Over loop it must be longer than a sender waits for a reader that has
	 * just read: SANX_WINDOW_WAIT, 20 ms where a jiffy has 10.
	 */
	return fill_socket(fd, loop ? A_WHILE / 2 : 2 * A_WHILE);
}

/* A listener on a free port; @a is its address. */
static inline int listen_any(const FIXTURE_VARIANT(stream) *v, int backlog,
			     struct address *a)
{
	int fd = server_socket(v), err;

	address_make(a, variant_address(v), 0);
	if (fd < 0)
		return fd;
	if (bind(fd, &a->sa, a->len) || listen(fd, backlog)) {
		err = -errno;
		close(fd);
		return err;
	}
	local_address(fd, a);
	return fd;
}

/* A client's socket, connected, or -errno. */
static inline int connect_to(const FIXTURE_VARIANT(stream) *v,
			     const struct address *a)
{
	int fd = client_socket(v), err;

	if (fd < 0 || !connect(fd, &a->sa, a->len))
		return fd;
	err = -errno;
	close(fd);
	return err;
}

/* An address of this family where nobody listens. */
static inline void deaf_address(const FIXTURE_VARIANT(stream) *v,
				struct address *a)
{
	close(listen_any(v, 1, a));
}

/* Another connected pair. */
static inline void connect_pair(struct __test_metadata *_metadata,
				const FIXTURE_DATA(stream) *self,
				const FIXTURE_VARIANT(stream) *variant,
				int *client, int *server)
{
	*client = connect_to(variant, &self->addr);
	ASSERT_LE(0, *client);
	*server = rc(accept(self->listener, NULL, NULL));
	ASSERT_LE(0, *server);
}

/* A connected pair of plain TCP's, to be compared with. */
static inline void connect_tcp(struct __test_metadata *_metadata,
			       const FIXTURE_VARIANT(stream) *variant,
			       int end[2])
{
	int l = stream_socket(false, variant->family);
	struct address a;

	address_make(&a, variant->family == AF_INET ? "127.0.0.1" : "::1", 0);
	ASSERT_EQ(0, rc(bind(l, &a.sa, a.len)));
	ASSERT_EQ(0, rc(listen(l, 1)));
	local_address(l, &a);
	end[0] = stream_socket(false, variant->family);
	ASSERT_EQ(0, rc(connect(end[0], &a.sa, a.len)));
	end[1] = rc(accept(l, NULL, NULL));
	ASSERT_LE(0, end[1]);
	close(l);
}

/* Data pass both ways, and then the end of one. */
static inline void check_works(struct __test_metadata *_metadata, int end[2])
{
	char c;

	for (int i = 0; i < 2; i++) {
		EXPECT_EQ(0, send_pattern(end[i], 70000, 1000, 0));
		EXPECT_EQ(0, recv_pattern(end[!i], 70000, 1000, 0));
	}
	EXPECT_EQ(0, rc(shutdown(end[0], SHUT_WR)));
	EXPECT_EQ(0, rc(recv(end[1], &c, 1, 0)));
}

/* The counter of the variant's connections; those to other nodes use the device's wire. */
static inline int carried_by(const FIXTURE_VARIANT(stream) *v)
{
	if (v->carried == SANX_A_STATS_CONNS_VERBS &&
	    !strcmp(env_or("SANX_DEVICE", ""), "tcp"))
		return SANX_A_STATS_CONNS_TCP_RAIL;
	return v->carried;
}

/*
 * The counters since @before must have moved as for @pairs connections of the
 * variant, and not otherwise.
 */
static inline void check_moved(struct __test_metadata *_metadata,
			       const FIXTURE_VARIANT(stream) *v,
			       const struct node_stats *before, int pairs)
{
	static const int ways[] = {
		SANX_A_STATS_CONNS_LOOP, SANX_A_STATS_CONNS_VERBS,
		SANX_A_STATS_CONNS_TCP_RAIL, SANX_A_STATS_CONNS_FALLBACK,
		SANX_A_STATS_FALLBACK_UNMAPPED,
		SANX_A_STATS_FALLBACK_PORT, SANX_A_STATS_FALLBACK_LINK,
		SANX_A_STATS_FALLBACK_REFUSED, SANX_A_STATS_FALLBACK_OPTION,
		SANX_A_STATS_FALLBACK_ACCEPT, SANX_A_STATS_FALLBACK_ASKED,
		SANX_A_STATS_FALLBACK_ROUTE, SANX_A_STATS_FALLBACK_DENIED,
		SANX_A_STATS_FALLBACK_LIMIT,
	};
	struct node_stats after;
	unsigned int i;
	int want;

	ASSERT_EQ(0, node_stats(&after));
	for (i = 0; i < ARRAY_SIZE(ways); i++) {
		want = 0;
		if (ways[i] == carried_by(v))
			want = 2 * pairs;
		if (ways[i] == v->why_client || ways[i] == v->why_server)
			want = pairs;
		if (ways[i] == SANX_A_STATS_CONNS_FALLBACK)
			want = pairs * (!!v->why_client + !!v->why_server);
		ASSERT_EQ(want, (int)(after.v[ways[i]] - before->v[ways[i]]))
			TH_LOG("counter %d says that this was not %s",
			       ways[i], v->carried ? "AF_SANX" : "a fallback");
	}
}

FIXTURE_SETUP(stream)
{
	bool sanx = variant->client || variant->server;

	signal(SIGPIPE, SIG_IGN);
	if (sanx)
		ASSERT_EQ(0, node_ports_deny(variant->deny))
			TH_LOG("is the module loaded?");
	if (sanx)
		ASSERT_EQ(0, node_stats(&self->before));
	self->listener = listen_any(variant, 64, &self->addr);
	ASSERT_LE(0, self->listener);
	connect_pair(_metadata, self, variant, &self->client, &self->server);
	if (sanx) {
		check_moved(_metadata, variant, &self->before, 1);
		ASSERT_EQ(0, node_stats(&self->before));
	}
}

FIXTURE_TEARDOWN(stream)
{
	struct node_stats now;
	uint64_t moved;

	close(self->client);
	close(self->server);
	close(self->listener);
	if (!variant->client && !variant->server)
		return;
	EXPECT_EQ(0, node_stats(&now));
	moved = now.v[SANX_A_STATS_PROTOCOL_ERRORS] -
		self->before.v[SANX_A_STATS_PROTOCOL_ERRORS];
	EXPECT_EQ(0, moved);
	moved = now.v[SANX_A_STATS_CONNS_LOOP] -
		self->before.v[SANX_A_STATS_CONNS_LOOP] +
		now.v[SANX_A_STATS_CONNS_VERBS] -
		self->before.v[SANX_A_STATS_CONNS_VERBS] +
		now.v[SANX_A_STATS_CONNS_TCP_RAIL] -
		self->before.v[SANX_A_STATS_CONNS_TCP_RAIL];
	if (is_tcp(variant))
		EXPECT_EQ(0, moved);
	moved = now.v[SANX_A_STATS_CONNS_FALLBACK] -
		self->before.v[SANX_A_STATS_CONNS_FALLBACK];
	if (variant->family == FAMILY_EXPLICIT)
		self->fallbacks = 0;
	if (!is_tcp(variant) && self->fallbacks != ANY_FALLBACKS)
		EXPECT_EQ(self->fallbacks, (int)moved);
	if (variant->deny)
		EXPECT_EQ(0, node_ports_deny(false));
}

#define SANX_TEST_MAIN \
	int main(int argc, char **argv) \
	{ \
		choose_variants(&_stream_fixture_object, DEFAULT_VARIANTS); \
		return test_harness_run(argc, argv); \
	}

#endif /* SANX_TEST_H */
