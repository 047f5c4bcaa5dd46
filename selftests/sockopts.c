// SPDX-License-Identifier: GPL-2.0
/*
 * Every option that Documentation/options.rst names, at every stage of a socket,
 * beside a TCP socket at that stage: what setsockopt() and getsockopt() answer,
 * how many bytes and which, is the same, or what the document says.
 */
#include <netinet/ip.h>
#include <time.h>
#include <linux/filter.h>
#include <linux/net_tstamp.h>

#include "sanx_test.h"

enum what { SAME, SET, OWN, REFUSED, UNREAD };

#define OPTION(level_, name_, no_, what_) { level_, name_, no_, what_ },
static const struct option {
	int level;
	const char *name;
	int no;
	enum what what;
} options[] = {
#include "options_table.h"
};

/* What is set: an int of 1, or this.  Nothing that would stall a connection. */
#define INT(name, value)	{ name, sizeof(int), &(int){ value } }
#define BYTES(name, type, ...)	{ name, sizeof(type), &(type)__VA_ARGS__ }
#define TEXT(name, text)	{ name, sizeof(text) - 1, text }

static struct sock_filter accept_all[] = {
	BPF_STMT(BPF_RET | BPF_K, 0xffffffff),
};

static const struct value {
	const char *name;
	socklen_t len;
	const void *bytes;
} values[] = {
	INT("SO_SNDBUF", 30000),
	INT("SO_RCVBUF", 30000),
	INT("SO_SNDBUFFORCE", 40000),
	INT("SO_RCVBUFFORCE", 40000),
	INT("SO_RCVLOWAT", 7),
	INT("SO_PRIORITY", 3),
	INT("SO_MAX_PACING_RATE", 1000000000),
	INT("SO_INCOMING_CPU", 0),
	INT("SO_TIMESTAMPING", SOF_TIMESTAMPING_RX_SOFTWARE |
			       SOF_TIMESTAMPING_SOFTWARE),
	INT("SO_TIMESTAMPING_NEW", SOF_TIMESTAMPING_RX_SOFTWARE |
				   SOF_TIMESTAMPING_SOFTWARE),
	BYTES("SO_LINGER", struct linger, { 1, 2 }),
	BYTES("SO_RCVTIMEO", struct timeval, { 30, 500000 }),
	BYTES("SO_RCVTIMEO_NEW", struct timeval, { 31, 500000 }),
	BYTES("SO_SNDTIMEO", struct timeval, { 30, 500000 }),
	BYTES("SO_SNDTIMEO_NEW", struct timeval, { 31, 500000 }),
	BYTES("SO_TXTIME", struct sock_txtime, { CLOCK_MONOTONIC, 0 }),
	TEXT("SO_BINDTODEVICE", "lo"),
	BYTES("SO_ATTACH_FILTER", struct sock_fprog, { 1, accept_all }),
	BYTES("SO_ATTACH_REUSEPORT_CBPF", struct sock_fprog, { 1, accept_all }),
	INT("TCP_MAXSEG", 1000),
	INT("TCP_KEEPIDLE", 60),
	INT("TCP_KEEPINTVL", 10),
	INT("TCP_KEEPCNT", 5),
	INT("TCP_SYNCNT", 3),
	INT("TCP_LINGER2", 30),
	INT("TCP_DEFER_ACCEPT", 3),
	INT("TCP_WINDOW_CLAMP", 100000),
	INT("TCP_USER_TIMEOUT", 30000),
	INT("TCP_FASTOPEN", 5),
	INT("TCP_NOTSENT_LOWAT", 16384),
	TEXT("TCP_CONGESTION", "reno"),
	TEXT("TCP_ULP", "tls"),
	TEXT("TCP_FASTOPEN_KEY", "0123456789abcdef"),
	INT("IP_TOS", 0x10),
	INT("IP_TTL", 33),
	INT("IP_MTU_DISCOVER", IP_PMTUDISC_DO),
	TEXT("IP_OPTIONS", "\1\1\1\1"),
	INT("IP_LOCAL_PORT_RANGE", 50000 << 16 | 40000),
	INT("IPV6_ADDRFORM", AF_INET),
	INT("IPV6_UNICAST_HOPS", 33),
	INT("IPV6_TCLASS", 0x10),
	INT("IPV6_MTU", 1400),
	INT("IPV6_MTU_DISCOVER", IPV6_PMTUDISC_DO),
	INT("IPV6_ADDR_PREFERENCES", 2),
	BYTES("IPV6_PKTINFO", struct in6_pktinfo, { .ipi6_ifindex = 0 }),
};

static const struct value *value_of(const struct option *o)
{
	static const int one_int = 1;
	static const struct value one = { "", sizeof(one_int), &one_int };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(values); i++)
		if (!strcmp(values[i].name, o->name))
			return &values[i];
	return &one;
}

/* What getsockopt() did: all of the buffer tells, also what it left alone. */
#define ROOM	512
struct answer {
	int err;
	socklen_t len;
	unsigned char buf[ROOM];
};

static void ask(int fd, const struct option *o, socklen_t len, struct answer *a)
{
	memset(a, 0, sizeof(*a));
	memset(a->buf, 0xa5, len);
	a->len = len;
	a->err = rc(getsockopt(fd, o->level, o->no, a->buf, &a->len));
}

static bool answers_equal(const struct answer *a, const struct answer *b,
			  bool values_too)
{
	return a->err == b->err && a->len == b->len &&
	       (!values_too || !memcmp(a->buf, b->buf, ROOM));
}

/* Both ends of one comparison. */
struct pair {
	const char *stage;
	int ours;
	int tcp;
	bool carried;		/* connected, by AF_SANX */
	bool connected;
};

#define DIFFER(p, o, what, a, b) \
	TH_LOG("%s: %s: %s: %d is not TCP's %d", (p)->stage, (o)->name, what, \
	       (int)(a), (int)(b))

static void compare_get(struct __test_metadata *_metadata,
			const struct pair *p, const struct option *o, bool set)
{
	static const socklen_t lens[] = { ROOM, 0, 1, 3, 4, 8 };
	bool values_too = o->what != OWN && (o->what != SET || set);
	struct answer a, b;
	unsigned int i;
	bool same;

	if (p->carried && o->what == UNREAD) {
		ask(p->ours, o, ROOM, &a);
		EXPECT_EQ(-ENOPROTOOPT, a.err)
			DIFFER(p, o, "get", a.err, -ENOPROTOOPT);
		return;
	}
	for (i = 0; i < ARRAY_SIZE(lens); i++) {
		ask(p->ours, o, lens[i], &a);
		ask(p->tcp, o, lens[i], &b);
		same = answers_equal(&a, &b, values_too);
		EXPECT_TRUE(same)
			TH_LOG("%s: %s: get%s %d: %d, not %d; bytes %d, not %d; value %d, not %d",
			       p->stage, o->name, set ? " after set" : "",
			       lens[i], a.err, b.err, a.len, b.len,
			       *(int *)a.buf, *(int *)b.buf);
		if (!same)
			return;
	}
}

static void compare_bad_get(struct __test_metadata *_metadata,
			    const struct pair *p, const struct option *o)
{
	socklen_t len = 4, n = 4;
	int a, b;
	char buf[4];

	if (p->carried && o->what == UNREAD)
		return;
	a = rc(getsockopt(p->ours, o->level, o->no, (void *)8, &len));
	b = rc(getsockopt(p->tcp, o->level, o->no, (void *)8, &n));
	EXPECT_EQ(a, b) DIFFER(p, o, "get to nowhere", a, b);
	EXPECT_EQ(len, n) DIFFER(p, o, "length of get to nowhere", len, n);
	a = rc(getsockopt(p->ours, o->level, o->no, buf, (void *)8));
	b = rc(getsockopt(p->tcp, o->level, o->no, buf, (void *)8));
	EXPECT_EQ(a, b) DIFFER(p, o, "get of no length", a, b);
}

static int set_both(struct __test_metadata *_metadata, const struct pair *p,
		    const struct option *o, const char *how, const void *bytes,
		    socklen_t len)
{
	int a, b, no;

	a = rc(setsockopt(p->ours, o->level, o->no, bytes, len));
	/* Refused as TCP refuses what it does not know. */
	no = p->connected && o->what == REFUSED ? 4711 : o->no;
	b = rc(setsockopt(p->tcp, o->level, no, bytes, len));
	EXPECT_EQ(a, b) DIFFER(p, o, how, a, b);
	return a;
}

/* A whole header of zeroes would be taken, and end what TCP can send. */
static bool is_header(const struct option *o)
{
	return o->level == SOL_IPV6 &&
	       (strstr(o->name, "DSTOPTS") || strstr(o->name, "HOPOPTS"));
}

/* An option, set and read, in all the ways there are. */
static void walk_one(struct __test_metadata *_metadata, const struct pair *p,
		     const struct option *o)
{
	const struct value *v = value_of(o);
	char room[ROOM] = {};
	int err;

	compare_get(_metadata, p, o, false);
	compare_bad_get(_metadata, p, o);
	/* Of a TCP connection, these would make something else. */
	if (p->connected && !p->carried && o->what == REFUSED)
		return;
	memcpy(room, v->bytes, v->len);
	set_both(_metadata, p, o, "set, no bytes", room, 0);
	set_both(_metadata, p, o, "set, short", room, v->len - 1);
	set_both(_metadata, p, o, "set from NULL", NULL, v->len);
	set_both(_metadata, p, o, "set from nowhere", (void *)8, v->len);
	if (!is_header(o))
		set_both(_metadata, p, o, "set, long", room, sizeof(room));
	err = set_both(_metadata, p, o, "set", v->bytes, v->len);
	compare_get(_metadata, p, o, !err);
}

/* TCP forgets its route, and finds it again when it sends. */
static void find_route(struct __test_metadata *_metadata, int end[2], int from)
{
	char buf[10] = {};

	set_option(end[from], SOL_TCP, TCP_CORK, 0);
	EXPECT_EQ(10, send(end[from], buf, 10, 0));
	EXPECT_EQ(10, recv_exact(end[!from], buf, 10));
}

static void find_routes(struct __test_metadata *_metadata, int a[2], int b[2],
			int from)
{
	find_route(_metadata, a, from);
	find_route(_metadata, b, from);
}

static int listener_of(struct __test_metadata *_metadata,
		       const FIXTURE_VARIANT(stream) *variant, bool tcp,
		       struct address *a)
{
	int fd = tcp ? stream_socket(false, variant->family) :
		       server_socket(variant);

	address_make(a, !tcp ? variant_address(variant) :
			variant->family == AF_INET ? "127.0.0.1" : "::1", 0);
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, rc(bind(fd, &a->sa, a->len)));
	ASSERT_EQ(0, rc(listen(fd, 8)));
	local_address(fd, a);
	return fd;
}

SANX_TEST(fresh)
{
	struct pair p = { "fresh" };
	unsigned int i;

	self->fallbacks = ANY_FALLBACKS;
	for (i = 0; i < ARRAY_SIZE(options); i++) {
		p.ours = client_socket(variant);
		p.tcp = stream_socket(false, variant->family);
		walk_one(_metadata, &p, &options[i]);
		close(p.ours);
		close(p.tcp);
	}
}

SANX_TEST(listening)
{
	struct pair p = { "listening" };
	struct address a;
	unsigned int i;

	self->fallbacks = ANY_FALLBACKS;
	for (i = 0; i < ARRAY_SIZE(options); i++) {
		p.ours = listener_of(_metadata, variant, false, &a);
		p.tcp = listener_of(_metadata, variant, true, &a);
		walk_one(_metadata, &p, &options[i]);
		close(p.ours);
		close(p.tcp);
	}
}

/* Whatever was set. */
static void all_works(struct __test_metadata *_metadata, int end[2])
{
	for (int i = 0; i < 2; i++)
		set_option(end[i], SOL_TCP, TCP_CORK, 0);
	check_works(_metadata, end);
}

SANX_TEST(connected)
{
	static const char *const stage[] = { "connected", "accepted" };
	unsigned int i;
	int tcp[2];

	connect_tcp(_metadata, variant, tcp);
	for (int k = 0; k < 2; k++) {
		struct pair p = { stage[k], self->end[k], tcp[k],
				  variant->carried, true };

		for (i = 0; i < ARRAY_SIZE(options); i++) {
			if (strstr(options[i].name, "MTU"))
				find_routes(_metadata, tcp, self->end, k);
			walk_one(_metadata, &p, &options[i]);
		}
	}
	all_works(_metadata, tcp);
	all_works(_metadata, self->end);
}

/* Numbers that are no option, and levels that are none of these four. */
SANX_TEST(unknown)
{
	static const int levels[] = {
		SOL_SOCKET, SOL_IP, SOL_IPV6, SOL_TCP, IPPROTO_UDP, SOL_RAW,
		282 /* SOL_TLS */, 284 /* SOL_MPTCP */, 4711, -1,
	};
	struct option o = { .name = "unknown" };
	struct pair p = { .connected = true };
	unsigned int i, k;
	char stage[40];
	int tcp[2];

	connect_tcp(_metadata, variant, tcp);
	p.stage = stage;
	p.ours = self->client;
	p.tcp = tcp[0];
	for (i = 0; i < ARRAY_SIZE(levels); i++) {
		for (o.no = -1; o.no < 256; o.no++) {
			o.level = levels[i];
			sprintf(stage, "level %d, %d", o.level, o.no);
			for (k = 0; k < ARRAY_SIZE(options); k++)
				if (options[k].level == o.level &&
				    options[k].no == o.no)
					break;
			if (k == ARRAY_SIZE(options))
				walk_one(_metadata, &p, &o);
		}
	}
	all_works(_metadata, tcp);
	all_works(_metadata, self->end);
}

/* Bound to the loopback device, TCP has no connection to a node's address. */
static bool can_be_bound_to_lo(const FIXTURE_VARIANT(stream) *variant)
{
	return variant->carried != SANX_A_STATS_CONNS_VERBS;
}

/* What an accepted socket has of a listener on which an option was set. */
static int child_of(struct __test_metadata *_metadata,
		    const FIXTURE_VARIANT(stream) *variant, bool tcp,
		    const struct option *o, int *client)
{
	const struct value *v = value_of(o);
	struct address a;
	int l, c, s;

	l = listener_of(_metadata, variant, tcp, &a);
	setsockopt(l, o->level, o->no, v->bytes, v->len);
	c = tcp ? stream_socket(false, variant->family) :
		  client_socket(variant);
	ASSERT_EQ(0, rc(connect(c, &a.sa, a.len)));
	/* TCP_DEFER_ACCEPT wants it. */
	ASSERT_EQ(1, send(c, "x", 1, 0));
	s = rc(accept(l, NULL, NULL));
	ASSERT_LE(0, s);
	close(l);
	*client = c;
	return s;
}

SANX_TEST(inherited)
{
	struct pair p = { "inherited", .connected = true };
	unsigned int i;
	int client[2];

	self->fallbacks = ANY_FALLBACKS;
	for (i = 0; i < ARRAY_SIZE(options); i++) {
		const struct option *o = &options[i];

		/* What TCP changes by itself, it changes of a child too. */
		if (o->what != SAME &&
		    !(o->what == SET && o->level == SOL_SOCKET))
			continue;
		if (!strncmp(o->name, "SO_BINDTO", 9) &&
		    !can_be_bound_to_lo(variant))
			continue;
		p.ours = child_of(_metadata, variant, false, o, &client[0]);
		p.tcp = child_of(_metadata, variant, true, o, &client[1]);
		compare_get(_metadata, &p, o, true);
		close_reset(client[0]);
		close_reset(client[1]);
		close(p.ours);
		close(p.tcp);
	}
}

SANX_TEST_MAIN
