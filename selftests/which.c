// SPDX-License-Identifier: GPL-2.0
/*
 * Several listeners on a port: which of them gets a client?
 *
 * The one that gets it over TCP: each set of listeners is made twice, once of TCP's
 * sockets only.  All addresses and ports are the same both times, as a hash of them
 * chooses among equals.
 *
 * Sets are drawn at random, the same in each run: two or three listeners that differ in what
 * TCP looks at, and in whose they are.  SANX_WHICH says how many.
 */
#define DEFAULT_VARIANTS "loop fallback tcpclient tcpserver"

#include "sanx_test.h"

#define LISTENERS	3
#define CLIENT_PORT	23457
#define NOBODY		(-1)

/* What a listener is, in bits. */
enum {
	ANY	= 1 << 0,	/* bound to any address */
	WIDE	= 1 << 1,	/* ... of IPv6, for IPv4 clients too */
	DEVICE	= 1 << 2,	/* bound to the loopback device, which verbs' address is not of */
	FILTER	= 1 << 3,	/* has a filter, which lets everything in */
	PROGRAM	= 1 << 4,	/* its group has a program, which says: the last one */
	PLAIN	= 1 << 5,	/* a socket of TCP */
	KINDS	= 1 << 6,
};

struct set {
	unsigned int	n;
	unsigned int	kind[LISTENERS];
	int		fd[LISTENERS];
	uint16_t	port;
};

static bool is_kind(unsigned int kind)
{
	return !(kind & WIDE) || kind & ANY;
}

static int listen_as(const FIXTURE_VARIANT(stream) *v, struct set *set, unsigned int i, bool tcp)
{
	unsigned int kind = set->kind[i];
	int family = kind & WIDE ? AF_INET6 : v->family;
	struct address a;
	int fd;

	fd = stream_socket(v->server && !tcp && !(kind & PLAIN), family);
	if (kind & ANY)
		address_make(&a, family == AF_INET ? "0.0.0.0" : "::", set->port);
	else
		address_make(&a, variant_address(v), set->port);
	if (fd < 0 || set_option(fd, SOL_SOCKET, SO_REUSEPORT, 1) ||
	    set_nonblock(fd, true) ||
	    (kind & ANY && family == AF_INET6 &&
	     set_option(fd, SOL_IPV6, IPV6_V6ONLY, !(kind & WIDE))) ||
	    (kind & DEVICE && setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, "lo", 2)) ||
	    bind(fd, &a.sa, a.len) || listen(fd, 4) ||
	    (kind & FILTER && attach_program(fd, SO_ATTACH_FILTER, ~0)) ||
	    (kind & PROGRAM && attach_program(fd, SO_ATTACH_REUSEPORT_CBPF, i)) ||
	    local_address(fd, &a))
		return -1;
	set->port = address_port(&a);
	return fd;
}

static int client_of(const FIXTURE_VARIANT(stream) *v, const struct set *set, bool tcp)
{
	int fd = stream_socket(v->client && !tcp, v->family);
	struct address a;

	address_make(&a, variant_address(v), CLIENT_PORT);
	if (fd < 0 || set_option(fd, SOL_SOCKET, SO_REUSEADDR, 1) || bind(fd, &a.sa, a.len))
		return -1;
	address_set_port(&a, set->port);
	if (!connect(fd, &a.sa, a.len))
		return fd;
	close(fd);
	return -1;
}

/* Waits until one of the listeners has the client, and takes it. */
static int winner(const struct set *set)
{
	struct pollfd p[LISTENERS];
	unsigned int i;
	int s;

	for (i = 0; i < set->n; i++)
		p[i] = (struct pollfd){ .fd = set->fd[i], .events = POLLIN };
	if (poll(p, set->n, SOON) <= 0)
		return NOBODY;
	for (i = 0; i < set->n; i++) {
		s = accept(set->fd[i], NULL, NULL);
		if (s >= 0) {
			close_reset(s);
			return i;
		}
	}
	return NOBODY;
}

static int who(struct __test_metadata *_metadata, const FIXTURE_VARIANT(stream) *variant,
	       struct set *set, bool tcp)
{
	unsigned int i;
	int c, won;

	for (i = 0; i < set->n; i++) {
		set->fd[i] = listen_as(variant, set, i, tcp);
		ASSERT_LE(0, set->fd[i]) TH_LOG("listener %u: %s", i, strerror(errno));
	}
	c = client_of(variant, set, tcp);
	/* The device of the only listeners may be another one. */
	ASSERT_TRUE(c >= 0 || errno == ECONNREFUSED) TH_LOG("client: %s", strerror(errno));
	won = c < 0 ? NOBODY : winner(set);
	if (c >= 0)
		close_reset(c);
	for (i = 0; i < set->n; i++)
		close(set->fd[i]);
	return won;
}

/* What makes a group of SO_REUSEPORT. */
#define GROUP	(ANY | WIDE | DEVICE)

/* A socket that is AF_SANX's and has nothing that only the stack knows. */
static bool is_ours(const struct set *set, int won)
{
	unsigned int i;

	if (won < 0 || set->kind[won] & (PLAIN | FILTER | DEVICE))
		return false;
	for (i = 0; i < set->n; i++)
		if (set->kind[i] & PROGRAM && !((set->kind[i] ^ set->kind[won]) & GROUP))
			return false;
	return true;
}

static void compare(struct __test_metadata *_metadata, const FIXTURE_VARIANT(stream) *variant,
		    struct set *set)
{
	struct node_stats before, after;
	int tcp, ours;

	/* The second time on the same port. */
	set->port = 0;
	tcp = who(_metadata, variant, set, true);
	node_stats(&before);
	ours = who(_metadata, variant, set, false);
	node_stats(&after);
	EXPECT_EQ(tcp, ours) TH_LOG("%u listeners: %x %x %x", set->n, set->kind[0],
				    set->kind[1], set->kind[2]);
	if (variant->carried)
		EXPECT_EQ(is_ours(set, ours) ? 2 : 0,
			  after.v[carried_by(variant)] - before.v[carried_by(variant)])
			TH_LOG("%u listeners: %x %x %x", set->n, set->kind[0],
			       set->kind[1], set->kind[2]);
}

static void draw(struct set *set)
{
	unsigned int i;

	set->n = 2 + dice(LISTENERS - 1);
	for (i = 0; i < set->n; i++)
		do
			set->kind[i] = dice(KINDS);
		while (!is_kind(set->kind[i]));
}

/* Another program listens at the exact address, of which AF_SANX knows nothing. */
SANX_TEST(exact_one_is_tcps)
{
	struct set set = { .n = 2, .kind = { ANY, PLAIN } };

	compare(_metadata, variant, &set);
	set.kind[1] = FILTER;
	compare(_metadata, variant, &set);
	self->fallbacks = ANY_FALLBACKS;
}

SANX_TEST(drawn_sets)
{
	int sets = atoi(env_or("SANX_WHICH", "100"));
	struct set set;

	dice_seed(1);
	while (sets--) {
		draw(&set);
		compare(_metadata, variant, &set);
	}
	self->fallbacks = ANY_FALLBACKS;
}

SANX_TEST_MAIN
