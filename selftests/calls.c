// SPDX-License-Identifier: GPL-2.0
/*
 * Calls drawn at random on the listeners and connections of a port, compared with TCP's.
 *
 * A run is a list of calls of up to three listeners, some of them plain TCP, and of four
 * clients and what is accepted: options before and after listen(), closes at every moment.
 * It is made twice, on the same addresses and ports, as a hash of them chooses among equal
 * listeners: once with TCP's sockets only.  Each call has to return the same, accept() the
 * same client, and poll() has to say the same of every descriptor after each call.
 *
 * A run that differs is made again without each of its calls in turn, as long as it still
 * differs, so what is told is short.  SANX_CALLS says how many runs, SANX_CALLS_SEED which.
 *
 * kernels: um
 * no siw: what differs is not the device
 * no rail: what differs is not the wire
 * full: 600 runs take 15 s for each variant
 */
#include <stdio.h>

#define DEFAULT_VARIANTS "loop fallback"

#include "sanx_test.h"

#define LISTENERS	3
#define CLIENTS		4
#define CALLS		40
/* What accept() returned is closed again: it was reset, or has another port. */
#define NOT_OURS	1000
/* Mismatches that are told of. */
#define TELL		5

/* A socket of a run: a listener, a client, or what was accepted from that client. */
#define CLIENT(i)	(LISTENERS + (i))
#define SERVER(i)	(LISTENERS + CLIENTS + (i))
#define SOCKETS		(LISTENERS + 2 * CLIENTS)

enum what {
	SOCKET, REUSEADDR, REUSEPORT, DEVICE, V6ONLY, FILTER, PROGRAM, DEFER, LOWAT, USER_TIMEOUT,
	BIND, LISTEN, CONNECT, UNCONNECT, ACCEPT, INQ, STATE, WAITING, NAME, PEER, ERROR, SEND,
	RECV, PEEK, SHUT_R, SHUT_W, SHUT_B, CLOSE, RESET, WHATS
};

static const char * const names[WHATS] = {
	"socket", "SO_REUSEADDR", "SO_REUSEPORT", "SO_BINDTODEVICE", "IPV6_V6ONLY",
	"SO_ATTACH_FILTER", "SO_ATTACH_REUSEPORT_CBPF", "TCP_DEFER_ACCEPT", "SO_RCVLOWAT",
	"TCP_USER_TIMEOUT", "bind", "listen", "connect", "connect(AF_UNSPEC)", "accept",
	"SIOCINQ", "tcpi_state", "tcpi_unacked", "getsockname", "getpeername", "SO_ERROR", "send",
	"recv", "recv(PEEK)", "shutdown(RD)", "shutdown(WR)", "shutdown(RDWR)", "close",
	"close with a reset",
};

/* How a listener is made and bound: bits of struct call's how. */
enum {
	PLAIN	= 1 << 0,	/* TCP's */
	WIDE	= 1 << 1,	/* of IPv6 */
	ANY	= 1 << 2,	/* bound to any address */
};

struct call {
	enum what	what;
	unsigned int	of;	/* which socket */
	unsigned int	how;
};

/**
 * struct run - a list of calls, and what came of it
 * @port: of the listeners; the clients have those that follow
 * @n: calls
 * @call: these
 * @result: what each returned, for TCP and here
 * @mask: what poll() said of each socket after it
 */
struct run {
	uint16_t	port;
	int		n;
	struct call	call[CALLS];
	long		result[2][CALLS];
	short		mask[2][CALLS][SOCKETS];
};

/* The sockets of a run while it is made. */
struct world {
	const FIXTURE_VARIANT(stream) *v;
	bool		here;
	uint16_t	port;
	int		fd[SOCKETS];
	bool		wide[LISTENERS];
};

static const char *address_of(const struct world *w, const struct call *c)
{
	bool wide = c->of < LISTENERS ? w->wide[c->of] : false;

	if (c->how & ANY)
		return wide || w->v->family == AF_INET6 ? "::" : "0.0.0.0";
	return variant_address(w->v);
}

static int make_socket(struct world *w, const struct call *c)
{
	bool listener = c->of < LISTENERS;
	bool ours = w->here && !(c->how & PLAIN) && (listener ? w->v->server : w->v->client);
	int family = w->v->family, *fd = &w->fd[c->of];

	if (listener) {
		w->wide[c->of] = c->how & WIDE;
		if (c->how & WIDE)
			family = AF_INET6;
	}
	if (*fd >= 0)
		close(*fd);
	*fd = stream_socket(ours, family);
	return *fd < 0 ? *fd : set_nonblock(*fd, true);
}

static int bind_to(const struct world *w, const struct call *c)
{
	bool listener = c->of < LISTENERS;
	struct address a;

	address_make(&a, address_of(w, c),
		     w->port + (listener ? 0 : 1 + c->of - CLIENT(0)));
	return rc(bind(w->fd[c->of], &a.sa, a.len));
}

static int connect_to_port(const struct world *w, const struct call *c)
{
	struct address a;

	address_make(&a, variant_address(w->v), w->port);
	return rc(connect(w->fd[c->of], &a.sa, a.len));
}

/* Return: the number of the client. */
static long accept_one(struct world *w, const struct call *c)
{
	int fd = rc(accept4(w->fd[c->of], NULL, NULL, SOCK_NONBLOCK)), i;
	struct address a;

	if (fd < 0)
		return fd;
	/* A client that was reset has no name. */
	if (peer_address(fd, &a)) {
		close(fd);
		return NOT_OURS;
	}
	i = address_port(&a) - w->port - 1;
	if (i < 0 || i >= CLIENTS) {
		close(fd);
		return NOT_OURS + 1;
	}
	if (w->fd[SERVER(i)] >= 0)
		close(w->fd[SERVER(i)]);
	w->fd[SERVER(i)] = fd;
	return i;
}

static long name_of(const struct world *w, int fd, bool peer)
{
	struct address a;
	long err = peer ? peer_address(fd, &a) : local_address(fd, &a);

	return err ?: address_port(&a) - w->port;
}

static long receive(int fd, int flags)
{
	char buf[8] = "";
	long n = rc(recv(fd, buf, sizeof(buf), flags));

	return n <= 0 ? n : n << 8 | buf[0];
}

static long unconnect(int fd)
{
	struct sockaddr none = { .sa_family = AF_UNSPEC };

	return rc(connect(fd, &none, sizeof(none)));
}

/* The state, or how many connections wait at a listener. */
static long info(int fd, bool waiting)
{
	struct tcp_info info = {};
	socklen_t len = sizeof(info);
	long err = rc(getsockopt(fd, SOL_TCP, TCP_INFO, &info, &len));

	if (err || waiting)
		return err ?: info.tcpi_unacked;
	/* TCP's peer may take a while to confirm the FIN. */
	return info.tcpi_state == TCP_FIN_WAIT1 ? TCP_FIN_WAIT2 : info.tcpi_state;
}

static long close_one(struct world *w, unsigned int of, bool reset)
{
	int fd = w->fd[of];

	w->fd[of] = -1;
	return reset ? close_reset(fd) : rc(close(fd));
}

static long make_call(struct world *w, const struct call *c)
{
	int fd = w->fd[c->of];

	if (c->what != SOCKET && fd < 0)
		return -EBADF;
	switch (c->what) {
	case SOCKET:
		return make_socket(w, c);
	case REUSEADDR:
		return set_option(fd, SOL_SOCKET, SO_REUSEADDR, 1);
	case REUSEPORT:
		return set_option(fd, SOL_SOCKET, SO_REUSEPORT, 1);
	case DEVICE:
		return rc(setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, "lo", 2));
	case V6ONLY:
		return set_option(fd, SOL_IPV6, IPV6_V6ONLY, 1);
	case FILTER:
		return attach_program(fd, SO_ATTACH_FILTER, ~0);
	case PROGRAM:
		return attach_program(fd, SO_ATTACH_REUSEPORT_CBPF, c->how % LISTENERS);
	case DEFER:
		return set_option(fd, SOL_TCP, TCP_DEFER_ACCEPT, 5);
	case LOWAT:
		return set_option(fd, SOL_SOCKET, SO_RCVLOWAT, 2);
	case USER_TIMEOUT:
		return set_option(fd, SOL_TCP, TCP_USER_TIMEOUT, 20000);
	case BIND:
		return bind_to(w, c);
	case LISTEN:
		return rc(listen(fd, 2 * CLIENTS));
	case CONNECT:
		return connect_to_port(w, c);
	case UNCONNECT:
		return unconnect(fd);
	case ACCEPT:
		return accept_one(w, c);
	case INQ:
		return bytes_unread(fd);
	case STATE:
	case WAITING:
		return info(fd, c->what == WAITING);
	case NAME:
		return name_of(w, fd, false);
	case PEER:
		return name_of(w, fd, true);
	case ERROR:
		return get_option(fd, SOL_SOCKET, SO_ERROR);
	case SEND:
		return rc(send(fd, &(char){ 'a' + c->how }, 1, 0));
	case RECV:
		return receive(fd, 0);
	case PEEK:
		return receive(fd, MSG_PEEK);
	case SHUT_R:
		return rc(shutdown(fd, SHUT_RD));
	case SHUT_W:
		return rc(shutdown(fd, SHUT_WR));
	case SHUT_B:
		return rc(shutdown(fd, SHUT_RDWR));
	case CLOSE:
	case RESET:
		return close_one(w, c->of, c->what == RESET);
	default:
		return -EINVAL;
	}
}

/* Waits until poll() finds nothing changed any more; what it says then. */
static void settle(const struct world *w, short mask[SOCKETS])
{
	struct pollfd p[SOCKETS] = {};

	for (int i = 0; i < SOCKETS; i++) {
		p[i].fd = w->fd[i];
		p[i].events = POLLIN | POLLOUT | POLLRDHUP;
	}
	poll_settled(p, SOCKETS);
	for (int i = 0; i < SOCKETS; i++)
		mask[i] = p[i].revents;
}

static void make_run(struct run *run, const FIXTURE_VARIANT(stream) *v, bool here)
{
	struct world w = { .v = v, .here = here, .port = run->port };
	short none[SOCKETS];

	memset(w.fd, -1, sizeof(w.fd));
	for (int i = 0; i < run->n; i++) {
		run->result[here][i] = make_call(&w, &run->call[i]);
		settle(&w, run->mask[here][i]);
	}
	/* What was accepted first: a client's reset is no news to a closed end. */
	for (int i = SOCKETS - 1; i >= 0; i--)
		if (w.fd[i] >= 0)
			close_reset(w.fd[i]);
	memset(w.fd, -1, sizeof(w.fd));
	settle(&w, none);
}

/*
 * What is known to differ, and ends a run.  A connect() that TCP has not done yet may have
 * been done here.  A client that a listener with TCP_DEFER_ACCEPT leaves behind learns that
 * from TCP when it sends; here at once.  A connection that is closed in order holds its port
 * for a while with TCP.
 */
static bool is_known(const struct run *run, int i)
{
	bool defer = false, closed = false;

	for (int j = 0; j < i; j++) {
		defer |= run->call[j].what == DEFER;
		closed |= run->call[j].what == CLOSE || run->result[0][j] >= NOT_OURS;
	}
	if (closed && run->result[0][i] == -EADDRINUSE && !run->result[1][i])
		return true;
	for (int s = CLIENT(0); s < SERVER(0); s++) {
		short tcp = run->mask[0][i][s], here = run->mask[1][i][s];

		if (tcp != here && (!tcp || (defer && !(tcp & POLLERR) && here & POLLERR)))
			return true;
	}
	return false;
}

/* The first call after which something differs; -1 for none. */
static int first_other(const struct run *run)
{
	for (int i = 0; i < run->n; i++) {
		long tcp = run->result[0][i], here = run->result[1][i];

		if (run->call[i].what == CONNECT && tcp == -EINPROGRESS && !here)
			here = tcp;
		if (tcp == here &&
		    !memcmp(run->mask[0][i], run->mask[1][i], sizeof(run->mask[0][i])))
			continue;
		return is_known(run, i) ? -1 : i;
	}
	return -1;
}

static int compare(struct run *run, const FIXTURE_VARIANT(stream) *v)
{
	make_run(run, v, false);
	make_run(run, v, true);
	return first_other(run);
}

/* Leaves out calls as long as something still differs. */
static int shorten(struct run *run, const FIXTURE_VARIANT(stream) *v)
{
	int other = compare(run, v);

	if (other < 0)
		return other;
	run->n = other + 1;
	for (int i = run->n - 2; i >= 0; i--) {
		struct run less = *run;

		less.n--;
		memmove(&less.call[i], &less.call[i + 1], (less.n - i) * sizeof(less.call[0]));
		less.port++;
		if (compare(&less, v) == less.n - 1)
			*run = less;
	}
	return compare(run, v);
}

static void tell_socket(unsigned int of)
{
	if (of < LISTENERS)
		printf("listener %u ", of);
	else if (of < SERVER(0))
		printf("client %u ", of - CLIENT(0));
	else
		printf("server %u ", of - SERVER(0));
}

static void tell(const struct run *run, int other)
{
	for (int i = 0; i <= other; i++) {
		const struct call *c = &run->call[i];

		printf("#   ");
		tell_socket(c->of);
		printf("%s(%#x) = %ld, here %ld", names[c->what], c->how, run->result[0][i],
		       run->result[1][i]);
		for (int s = 0; s < SOCKETS; s++) {
			if (run->mask[0][i][s] == run->mask[1][i][s])
				continue;
			printf("; poll: ");
			tell_socket(s);
			printf("%#x, here %#x", run->mask[0][i][s], run->mask[1][i][s]);
		}
		printf("\n");
	}
}

/* The calls of one program, in order. */
struct chain {
	int		n, next;
	struct call	call[CALLS];
};

static void add(struct chain *chain, enum what what, unsigned int of, unsigned int how)
{
	if (chain->n < CALLS)
		chain->call[chain->n++] = (struct call){ what, of, how };
}

static bool one_in(unsigned int n)
{
	return !dice(n);
}

static void draw_listener(struct chain *chain, unsigned int of)
{
	static const enum what options[] = {
		REUSEADDR, REUSEPORT, REUSEPORT, DEVICE, V6ONLY, FILTER, PROGRAM, DEFER,
	};
	unsigned int how = (one_in(3) ? PLAIN : 0) | (one_in(4) ? WIDE : 0);

	add(chain, SOCKET, of, how);
	if (!one_in(4))
		add(chain, REUSEPORT, of, 0);
	if (one_in(3))
		add(chain, options[dice(ARRAY_SIZE(options))], of, dice(LISTENERS));
	add(chain, BIND, of, how & WIDE || one_in(2) ? ANY : 0);
	if (one_in(3))
		add(chain, options[dice(ARRAY_SIZE(options))], of, dice(LISTENERS));
	if (!one_in(8))
		add(chain, LISTEN, of, 0);
	if (one_in(4))
		add(chain, options[dice(ARRAY_SIZE(options))], of, dice(LISTENERS));
	while (!one_in(4))
		add(chain, one_in(4) ? WAITING : ACCEPT, of, 0);
	switch (dice(5)) {
	case 0:
		add(chain, CLOSE, of, 0);
		break;
	case 1:
		add(chain, SHUT_B, of, 0);
		break;
	case 2:
		add(chain, SHUT_R, of, 0);
		add(chain, LISTEN, of, 0);
		break;
	}
}

static void draw_traffic(struct chain *chain, unsigned int of)
{
	static const enum what whats[] = {
		NAME, PEER, ERROR, SEND, SEND, SEND, RECV, RECV, PEEK, INQ, STATE, LOWAT,
		USER_TIMEOUT, CONNECT, UNCONNECT, SHUT_R, SHUT_W, SHUT_B, CLOSE, RESET,
	};

	while (!one_in(5))
		add(chain, whats[dice(ARRAY_SIZE(whats))], of, dice(4));
}

static void draw_client(struct chain *chain, unsigned int of)
{
	add(chain, SOCKET, of, one_in(3) ? PLAIN : 0);
	add(chain, REUSEADDR, of, 0);
	if (one_in(8))
		add(chain, DEVICE, of, 0);
	add(chain, BIND, of, one_in(3) ? ANY : 0);
	add(chain, CONNECT, of, 0);
	draw_traffic(chain, of);
}

static void draw(struct run *run)
{
	struct chain chain[SOCKETS] = {};
	unsigned int listeners = 1 + dice(LISTENERS), clients = 1 + dice(CLIENTS), i;

	for (i = 0; i < listeners; i++)
		draw_listener(&chain[i], i);
	for (i = 0; i < clients; i++) {
		draw_client(&chain[CLIENT(i)], CLIENT(i));
		draw_traffic(&chain[SERVER(i)], SERVER(i));
	}
	run->n = 0;
	for (int tries = 0; run->n < CALLS && tries < 400; tries++) {
		/* Listeners begin: a client of none is soon told. */
		unsigned int of = run->n < 4 * listeners ? dice(listeners) : dice(SOCKETS);
		struct chain *c = &chain[of];

		if (c->next < c->n)
			run->call[run->n++] = c->call[c->next++];
	}
}

SANX_TEST(drawn_calls)
{
	int runs = atoi(env_or("SANX_CALLS", "600")), wrong = 0, other;
	unsigned int seed = atoi(env_or("SANX_CALLS_SEED", "1"));
	struct run run;

	for (int i = 0; i < runs; i++) {
		dice_seed(seed + i);
		run.port = 20000 + i * 64 % 10000;
		draw(&run);
		if (compare(&run, variant) < 0)
			continue;
		other = shorten(&run, variant);
		/* What does not happen again is of a busy machine. */
		if (other < 0)
			continue;
		if (wrong++ < TELL) {
			printf("# SANX_CALLS_SEED=%u:\n", seed + i);
			tell(&run, other);
		}
	}
	EXPECT_EQ(0, wrong);
	printf("# %d runs\n", runs);
	self->fallbacks = ANY_FALLBACKS;
}

SANX_TEST_MAIN
