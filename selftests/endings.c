// SPDX-License-Identifier: GPL-2.0
/*
 * Every order of calls after every way to end, compared with TCP call by call.
 *
 * A way to end is a string of steps, and a run is one of those, up to DEPTH
 * calls, and a tail of calls that show what state all that has left.  It is made
 * on a fresh pair of the variant's and on a fresh pair of plain TCP's, and each
 * result has to be the same.  After each call it is waited until nothing changes
 * any more: what a call fetches takes a moment, over TCP too.  So that this costs
 * little, many runs go on in step.
 *
 * A run is made longer by each call, up to DEPTH, unless its last call has left
 * things as they were (changed_nothing()): what would come then is a shorter run,
 * which is made anyway.  Calls that only look are in the tails.  Runs drawn at
 * random, of any calls, see whether that is true.  SANX_ENDINGS=all leaves out
 * nothing, which takes hours.
 *
 * kernels: um
 * no siw: what differs is not the device
 * no rail: what differs is not the wire
 * full: every order of calls takes minutes
 */
#include <ctype.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>

#define DEFAULT_VARIANTS "tcp4 loop4"

#include "sanx_test.h"

#define DEPTH		5
#define SHALLOW		2
#define BATCH		200
#define RANDOM_RUNS	400
/* Mismatches that are told of. */
#define TELL		20

/*
 * What comes before: a, our end sends; b, the peer does.  Then, capitals for our
 * end and small letters for the peer's: W, R, B, shutdown() of writing, reading
 * and both; D, connect(AF_UNSPEC); c, close(); x, the same with SO_LINGER 0;
 * k, the process is killed.
 */
static const char * const ways[] = {
	/* These with all orders of DEPTH calls, */
	"c", "ac", "bc", "wc", "x", "Wc", "wr", "k",
	/* these with all of SHALLOW. */
	"", "a", "b", "ab", "abc", "w", "bw", "awc", "bwc", "abwc",
	"ax", "bx", "abx", "wx", "awx", "bwx", "r", "awr", "B", "aB", "bB",
	"aWc", "bWc", "abWc", "Rc", "aRc", "bRc", "Bc", "aBc", "bBc",
	"aWx", "bWx", "Rx", "bRx", "Bx", "bBx", "aWw", "bWw", "abWw",
	"awW", "bwW", "abwW", "awWc", "bwWc", "abwWc", "awWx", "bwWx",
	"aWwc", "bWwc", "aWwx", "bWwx",
	"d", "ad", "bd", "wd", "awd", "Wd", "D", "aD", "bD", "wD", "WD", "WwD",
	"wWD", "ak", "bk", "wk", "Wk", "bWk",
};

#define DEEP_WAYS	8

enum call {
	SEND, RECV, SO_ERR, SHUT_R, SHUT_W, SHUT_B, TREE_CALLS,
	PEEK = TREE_CALLS, POLL, SEND_0, PEERNAME, INQ, RECV_WAIT, CALLS
};

static const char * const call_names[CALLS] = {
	"send", "recv", "SO_ERROR", "shutdown(RD)", "shutdown(WR)",
	"shutdown(RDWR)", "recv(PEEK)", "poll", "send(0 bytes)", "getpeername",
	"SIOCINQ", "recv, blocking",
};

/*
 * What has become of our end: with a peek first or with a send of no bytes, as
 * either may take an error away.
 */
static const enum call tails[2][17] = {
	{ POLL, PEERNAME, INQ, PEEK, RECV_WAIT, SO_ERR, RECV, SEND, POLL, RECV,
	  SO_ERR, SEND, RECV, SHUT_R, SHUT_B, POLL, SO_ERR },
	{ POLL, SEND_0, SO_ERR, PEEK, SEND, POLL, RECV_WAIT, SEND, RECV, RECV,
	  PEERNAME, SHUT_W, SEND, SO_ERR, POLL, RECV, INQ },
};

#define TAIL	ARRAY_SIZE(tails[0])

/* And of the peer's, if that is there. */
static const enum call tail_peer[] = {
	POLL, PEERNAME, INQ, PEEK, SEND, RECV, SO_ERR, RECV, SEND, SHUT_W, POLL,
};

#define RESULTS (DEPTH + TAIL + ARRAY_SIZE(tail_peer))

/* Pairs of a run: TCP's, and the variant's. */
enum { TCP, HERE, KINDS };
/* Ends of a pair. */
enum { US, PEER };

/**
 * struct run - a way to end, and calls
 * @way: how it ends
 * @depth: calls at most after that
 * @n: calls now
 * @call: these
 * @tail: what comes then
 * @fd: by kind and end; -1 for closed
 * @result: of all calls, those of the tail too
 * @mask: what poll() said of our end over TCP after each call, and before
 */
struct run {
	const char	*way;
	int		depth;
	int		n;
	enum call	call[DEPTH];
	int		tail;
	int		fd[KINDS][2];
	long		result[KINDS][RESULTS];
	short		mask[DEPTH + 1];
};

static struct {
	int listener[KINDS];
	struct address addr[KINDS];
	int told;
	int runs;
} now;

static long peer_name(int fd)
{
	struct address a;

	return peer_address(fd, &a) ?: a.len;
}

static long recv_wait(int fd)
{
	char buf[8];

	/* TCP does not wait then. */
	if (poll_one(fd, POLLIN, 0) & (POLLIN | POLLHUP | POLLERR))
		return rc(recv(fd, buf, sizeof(buf), 0));
	return -EAGAIN;
}

static long make_call(int fd, enum call call)
{
	char buf[8];

	switch (call) {
	case SEND:
		return rc(send(fd, "s", 1, MSG_DONTWAIT));
	case SEND_0:
		return rc(send(fd, "", 0, MSG_DONTWAIT));
	case RECV:
		return rc(recv(fd, buf, sizeof(buf), MSG_DONTWAIT));
	case PEEK:
		return rc(recv(fd, buf, sizeof(buf), MSG_DONTWAIT | MSG_PEEK));
	case RECV_WAIT:
		return recv_wait(fd);
	case SO_ERR:
		return get_option(fd, SOL_SOCKET, SO_ERROR);
	case SHUT_R:
		return rc(shutdown(fd, SHUT_RD));
	case SHUT_W:
		return rc(shutdown(fd, SHUT_WR));
	case SHUT_B:
		return rc(shutdown(fd, SHUT_RDWR));
	case POLL:
		return poll_one(fd, POLLIN | POLLOUT | POLLPRI | POLLRDHUP, 0);
	case PEERNAME:
		return peer_name(fd);
	case INQ:
		return bytes_unread(fd);
	default:
		return -EINVAL;
	}
}

/* One step of a way to end, of one pair. */
static void make_step(int end[2], char step)
{
	struct sockaddr none = { .sa_family = AF_UNSPEC };
	int fd = end[step == 'a' || isupper(step) ? US : PEER];

	switch (tolower(step)) {
	case 'a':
	case 'b':
		if (step == 'B')
			shutdown(fd, SHUT_RDWR);
		else
			send(fd, "xyz", 3, MSG_DONTWAIT);
		break;
	case 'w':
		shutdown(fd, SHUT_WR);
		break;
	case 'r':
		shutdown(fd, SHUT_RD);
		break;
	case 'd':
		connect(fd, &none, sizeof(none));
		break;
	case 'c':
		close(fd);
		end[PEER] = -1;
		break;
	case 'x':
		close_reset(fd);
		end[PEER] = -1;
		break;
	}
}

/* k: the peers' only descriptors are those of a process that is killed. */
static void kill_peers(struct run *run, int n, int step)
{
	bool any = false;
	pid_t pid;

	for (int i = 0; i < n; i++)
		any |= strlen(run[i].way) > step && run[i].way[step] == 'k';
	if (!any)
		return;
	pid = fork();
	if (!pid) {
		for (int i = 0; i < n; i++)
			if (run[i].way[step] != 'k')
				for (int k = 0; k < KINDS; k++)
					close(run[i].fd[k][PEER]);
		for (;;)
			pause();
	}
	for (int i = 0; i < n; i++) {
		if (strlen(run[i].way) <= step || run[i].way[step] != 'k')
			continue;
		for (int k = 0; k < KINDS; k++) {
			close(run[i].fd[k][PEER]);
			run[i].fd[k][PEER] = -1;
		}
	}
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/* Waits until poll() finds nothing changed any more. */
static void settle(struct run *run, int n, int step)
{
	static struct pollfd p[BATCH * KINDS * 2];
	int m = n * KINDS * 2;

	for (int i = 0; i < m; i++) {
		p[i].fd = run[i / 4].fd[i / 2 % 2][i % 2];
		p[i].events = POLLIN | POLLOUT | POLLRDHUP;
		p[i].revents = 0;
	}
	poll_settled(p, m);
	for (int i = 0; i < n && step <= DEPTH; i++)
		run[i].mask[step] = p[i * 4].revents;
}

static int connect_run(struct run *run, const FIXTURE_VARIANT(stream) *variant,
		       int i)
{
	bool swap = i % 2;	/* either end may have connected */

	for (int k = 0; k < KINDS; k++) {
		int *end = run->fd[k];

		end[swap] = stream_socket(k == HERE && variant->client,
					  variant->family);
		if (connect(end[swap], &now.addr[k].sa, now.addr[k].len))
			return -errno;
		end[!swap] = rc(accept(now.listener[k], NULL, NULL));
		if (end[!swap] < 0)
			return end[!swap];
	}
	return 0;
}

static void make_ways(struct run *run, int n)
{
	bool more = true;

	for (int step = 0; more; step++) {
		more = false;
		for (int i = 0; i < n; i++) {
			if (strlen(run[i].way) <= step)
				continue;
			more = true;
			for (int k = 0; k < KINDS; k++)
				make_step(run[i].fd[k], run[i].way[step]);
		}
		kill_peers(run, n, step);
		if (more)
			settle(run, n, 0);
	}
}

/* The call of the number @i of a run, and at which end. */
static enum call call_of(const struct run *run, int i, int *end)
{
	*end = US;
	if (i < run->n)
		return run->call[i];
	i -= run->n;
	if (i < TAIL)
		return tails[run->tail][i];
	*end = PEER;
	return tail_peer[i - TAIL];
}

static int calls_of(const struct run *run)
{
	return run->n + TAIL +
	       (run->fd[TCP][PEER] < 0 ? 0 : ARRAY_SIZE(tail_peer));
}

static void make_calls(struct run *run, int n)
{
	enum call call;
	bool more;
	int end;

	for (int step = 0; step < RESULTS; step++) {
		more = false;
		for (int i = 0; i < n; i++) {
			if (step >= calls_of(&run[i]))
				continue;
			more = true;
			call = call_of(&run[i], step, &end);
			for (int k = 0; k < KINDS; k++)
				run[i].result[k][step] =
					make_call(run[i].fd[k][end], call);
		}
		if (!more)
			break;
		settle(run, n, step + 1);
	}
}

static void tell(const struct run *run, int step)
{
	char text[400];
	int len, end;

	len = snprintf(text, sizeof(text), "\"%s\":", run->way);
	for (int i = 0; i <= step && len < sizeof(text); i++) {
		enum call call = call_of(run, i, &end);

		if (i == run->n)
			len += snprintf(text + len, sizeof(text) - len, " |");
		if (len < sizeof(text))
			len += snprintf(text + len, sizeof(text) - len,
					" %s%s %#lx", end == PEER ? "peer's " : "",
					call_names[call], run->result[TCP][i]);
	}
	printf("# %s over TCP, here %#lx\n", text, run->result[HERE][step]);
}

/* The first result that is another one; -1 for none. */
static int first_other(const struct run *run)
{
	int n = calls_of(run);

	for (int i = 0; i < n; i++)
		if (run->result[TCP][i] != run->result[HERE][i])
			return i;
	return -1;
}

/* Makes up to BATCH runs; how many of them were not as over TCP, or -errno. */
static int make_batch(struct run *run, int n,
		      const FIXTURE_VARIANT(stream) *variant)
{
	int wrong = 0, other, err;

	for (int i = 0; i < n; i++) {
		run[i].tail = i / 2 % 2;
		err = connect_run(&run[i], variant, i);
		if (err)
			return err;
	}
	settle(run, n, 0);
	make_ways(run, n);
	make_calls(run, n);
	for (int i = 0; i < n; i++) {
		other = first_other(&run[i]);
		if (other >= 0 && now.told++ < TELL)
			tell(&run[i], other);
		wrong += other >= 0;
		for (int k = 0; k < KINDS; k++) {
			close(run[i].fd[k][US]);
			if (run[i].fd[k][PEER] >= 0)
				close(run[i].fd[k][PEER]);
		}
	}
	now.runs += n;
	return wrong;
}

static int make_runs(struct run *run, int n,
		     const FIXTURE_VARIANT(stream) *variant)
{
	int wrong = 0, ret;

	for (int i = 0; i < n; i += BATCH) {
		ret = make_batch(run + i, n - i < BATCH ? n - i : BATCH, variant);
		if (ret < 0)
			return ret;
		wrong += ret;
	}
	return wrong;
}

/* Has our end shut down this before the last call? */
static bool was_shut(const struct run *run, enum call what)
{
	unsigned int shut = 0, bits = what - SHUT_R + 1;

	for (const char *c = run->way; *c; c++)
		shut |= *c == 'R' ? 1 : *c == 'W' ? 2 : *c == 'B' ? 3 : 0;
	for (int i = 0; i < run->n - 1; i++)
		if (run->call[i] >= SHUT_R && run->call[i] <= SHUT_B)
			shut |= run->call[i] - SHUT_R + 1;
	return (shut & bits) == bits;
}

/* Was the same call made before, with the same result? */
static bool was_made(const struct run *run)
{
	int last = run->n - 1;

	for (int i = 0; i < last; i++)
		if (run->call[i] == run->call[last] &&
		    run->result[TCP][i] == run->result[TCP][last])
			return true;
	return false;
}

/*
 * Has the last call left everything as it was, or as another call would?
 *
 * There is no end of stream to be eaten after the first one.  A send that nothing
 * comes of but more bytes to be read is like the one before.
 */
static bool changed_nothing(const struct run *run)
{
	int last = run->n - 1;
	long result = run->result[TCP][last];

	switch (run->call[last]) {
	case SO_ERR:
		return !result;
	case RECV:
		return result == -EAGAIN || (!result && was_made(run));
	case SEND:
		return was_made(run) && run->mask[last] == run->mask[last + 1];
	default:
		return result == -ENOTCONN || was_shut(run, run->call[last]);
	}
}

/* All runs that are one call longer; how many. */
static int longer(struct run *to, const struct run *from, int n, bool all)
{
	int m = 0;

	for (int i = 0; i < n; i++) {
		if (from[i].n == from[i].depth)
			continue;
		if (from[i].n && (first_other(&from[i]) >= 0 ||
				  (!all && changed_nothing(&from[i]))))
			continue;
		for (int call = 0; call < TREE_CALLS; call++, m++) {
			if (!to)
				continue;
			to[m] = from[i];
			to[m].call[to[m].n++] = call;
		}
	}
	return m;
}

/*
 * TCP beside TCP shows that it does the same twice, no more.  Over iWARP connections
 * end as over RoCE, but for the frames that make a difference in the first calls.
 */
static int depth_of(const FIXTURE_VARIANT(stream) *variant, bool all)
{
	if (all)
		return DEPTH;
	if (!variant->carried)
		return SHALLOW;
	return strcmp(env_or("SANX_DEVICE", ""), "siw") ? DEPTH : DEPTH - 2;
}

static int make_tree(const FIXTURE_VARIANT(stream) *variant, bool all)
{
	int n = ARRAY_SIZE(ways), deep = depth_of(variant, all), wrong, m;
	struct run *run = calloc(n, sizeof(*run)), *next;

	for (int i = 0; i < n; i++) {
		run[i].way = ways[i];
		run[i].depth = all || i < DEEP_WAYS ? deep : SHALLOW;
	}
	wrong = make_runs(run, n, variant);
	for (int depth = 1; depth <= DEPTH && wrong >= 0; depth++) {
		m = longer(NULL, run, n, all);
		next = calloc(m, sizeof(*next));
		n = longer(next, run, n, all);
		free(run);
		run = next;
		m = make_runs(run, n, variant);
		wrong = m < 0 ? m : wrong + m;
	}
	free(run);
	return wrong;
}

static int make_random(const FIXTURE_VARIANT(stream) *variant)
{
	struct run *run = calloc(RANDOM_RUNS, sizeof(*run));
	int wrong;

	dice_seed(1);
	for (int i = 0; i < RANDOM_RUNS; i++) {
		run[i].way = ways[dice(ARRAY_SIZE(ways))];
		run[i].n = DEPTH;
		for (int j = 0; j < DEPTH; j++)
			run[i].call[j] = dice(CALLS);
	}
	wrong = make_runs(run, RANDOM_RUNS, variant);
	free(run);
	return wrong;
}

SANX_TEST(every_order)
{
	struct rlimit files = { BATCH * KINDS * 2 + 100, BATCH * KINDS * 2 + 100 };
	bool all = !strcmp(env_or("SANX_ENDINGS", ""), "all");

	ASSERT_EQ(0, setrlimit(RLIMIT_NOFILE, &files));
	memset(&now, 0, sizeof(now));
	now.listener[HERE] = self->listener;
	now.addr[HERE] = self->addr;
	now.listener[TCP] = stream_socket(false, variant->family);
	address_make(&now.addr[TCP],
		     variant->family == AF_INET ? "127.0.0.1" : "::1", 0);
	ASSERT_EQ(0, rc(bind(now.listener[TCP], &now.addr[TCP].sa,
			     now.addr[TCP].len)));
	ASSERT_EQ(0, rc(listen(now.listener[TCP], 16)));
	local_address(now.listener[TCP], &now.addr[TCP]);

	EXPECT_EQ(0, make_tree(variant, all));
	EXPECT_EQ(0, make_random(variant));
	printf("# %d runs\n", now.runs);
	close(now.listener[TCP]);
}

SANX_TEST_MAIN
