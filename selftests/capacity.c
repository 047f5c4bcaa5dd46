// SPDX-License-Identifier: GPL-2.0
/*
 * How much is taken while nobody reads: no less than over TCP, which is asked in the
 * same breath; and all of it comes out, and the memory is given back.
 *
 * kernels: um
 * no siw: the bounds are those of the engine
 * no rail: the bounds are those of the engine
 * full: fills what a host has, for a minute
 */
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#define DEFAULT_VARIANTS "tcp4 loop fallback4"

#include "lib/cgroup.h"
#include "sanx_test.h"

#define WMEM	"/proc/sys/net/ipv4/tcp_wmem"
#define RMEM	"/proc/sys/net/ipv4/tcp_rmem"

/* Said to both ends, or to the listener, before they are connected, or after. */
enum when { BEFORE, AFTER };

static int sized_socket(bool sanx, int family, int snd, int rcv)
{
	int fd = stream_socket(sanx, family);

	if (snd)
		set_option(fd, SOL_SOCKET, SO_SNDBUF, snd);
	if (rcv)
		set_option(fd, SOL_SOCKET, SO_RCVBUF, rcv);
	return fd;
}

/* A pair of this variant's, or of plain TCP's, with these buffers. */
static void sized_pair(struct __test_metadata *_metadata,
		       const FIXTURE_VARIANT(stream) *variant, bool tcp,
		       int snd, int rcv, enum when when, int end[2])
{
	bool before = when == BEFORE;
	struct address a;
	int l;

	l = sized_socket(!tcp && variant->server, variant->family,
			 before ? snd : 0, before ? rcv : 0);
	address_make(&a, tcp ? (variant->family == AF_INET ? "127.0.0.1" :
						      "::1") :
			       variant_address(variant), 0);
	ASSERT_EQ(0, rc(bind(l, &a.sa, a.len)));
	ASSERT_EQ(0, rc(listen(l, 1)));
	local_address(l, &a);
	end[0] = sized_socket(!tcp && variant->client, variant->family,
			      before ? snd : 0, before ? rcv : 0);
	ASSERT_EQ(0, rc(connect(end[0], &a.sa, a.len)));
	end[1] = rc(accept(l, NULL, NULL));
	ASSERT_LE(0, end[1]);
	close(l);
	for (int i = 0; i < 2 && !before; i++) {
		if (snd)
			set_option(end[i], SOL_SOCKET, SO_SNDBUF, snd);
		if (rcv)
			set_option(end[i], SOL_SOCKET, SO_RCVBUF, rcv);
	}
}

/* What it takes until there is no more room for a while. */
static ssize_t taken(struct __test_metadata *_metadata, int end[2])
{
	ssize_t n = fill_socket(end[0], 2 * A_WHILE);

	EXPECT_LT(0, n);
	EXPECT_EQ(n, drain_socket(end[1], n));
	close(end[0]);
	close(end[1]);
	return n;
}

static void no_less(struct __test_metadata *_metadata,
		    const FIXTURE_VARIANT(stream) *variant, int snd, int rcv,
		    enum when when)
{
	ssize_t ours, theirs;
	int end[2];

	sized_pair(_metadata, variant, true, snd, rcv, when, end);
	theirs = taken(_metadata, end);
	sized_pair(_metadata, variant, false, snd, rcv, when, end);
	ours = taken(_metadata, end);
	TH_LOG("SO_SNDBUF %d, SO_RCVBUF %d, %s: %zd, TCP %zd", snd, rcv,
	       when == BEFORE ? "before" : "after", ours, theirs);
	/* TCP against TCP differs by a packet from time to time. */
	if (is_tcp(variant))
		theirs /= 2;
	EXPECT_LE(theirs, ours);
}

/* As each is, a size that is said for one end, for the other, and for both. */
SANX_TEST(options)
{
	static const int sizes[] = { 0, 1, 20000, 100000, 1048576 };

	self->fallbacks = ANY_FALLBACKS;
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++)
		for (size_t k = 0; k < ARRAY_SIZE(sizes); k++)
			no_less(_metadata, variant, sizes[i], sizes[k], BEFORE);
}

SANX_TEST(options_later)
{
	static const int sizes[] = { 20000, 1048576 };

	self->fallbacks = ANY_FALLBACKS;
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		no_less(_metadata, variant, sizes[i], 0, AFTER);
		no_less(_metadata, variant, 0, sizes[i], AFTER);
		no_less(_metadata, variant, sizes[i], sizes[i], AFTER);
	}
}

static int read_text(const char *path, char *text, size_t size)
{
	int fd = open(path, O_RDONLY);
	ssize_t n = read(fd, text, size - 1);

	close(fd);
	if (n < 0)
		return -errno;
	text[n] = '\0';
	return 0;
}

/* The figures of tcp_wmem and tcp_rmem are the same promise. */
SANX_TEST(sysctls)
{
	static const char *const figures[] = {
		"4096 16384 65536", "4096 65536 300000", "4096 131072 1048576",
		"4096 16384 8388608", "4096 2000000 8388608",
	};
	char wmem[64], rmem[64];

	self->fallbacks = ANY_FALLBACKS;
	ASSERT_EQ(0, read_text(WMEM, wmem, sizeof(wmem)));
	ASSERT_EQ(0, read_text(RMEM, rmem, sizeof(rmem)));
	for (size_t i = 0; i < ARRAY_SIZE(figures); i++) {
		ASSERT_EQ(0, write_file(WMEM, figures[i]));
		TH_LOG("tcp_wmem %s", figures[i]);
		no_less(_metadata, variant, 0, 0, BEFORE);
		ASSERT_EQ(0, write_file(WMEM, wmem));
		ASSERT_EQ(0, write_file(RMEM, figures[i]));
		TH_LOG("tcp_rmem %s", figures[i]);
		no_less(_metadata, variant, 0, 0, BEFORE);
		ASSERT_EQ(0, write_file(RMEM, rmem));
	}
}

/* A program that asks for little on its way gets no more of it than over TCP. */
SANX_TEST(notsent_lowat)
{
	ssize_t all = fill(variant, self->client), some;
	int end[2];

	self->fallbacks = ANY_FALLBACKS;
	ASSERT_LT(0, all);
	ASSERT_EQ(all, drain_socket(self->server, all));
	connect_pair(_metadata, self, variant, &end[0], &end[1]);
	ASSERT_EQ(0, set_option(end[0], IPPROTO_TCP, TCP_NOTSENT_LOWAT, 16384));
	some = taken(_metadata, end);
	EXPECT_GT(all / 2, some);
}

/* Two that each send so much before they read: over TCP they do not hang. */
static void send_then_receive(struct __test_metadata *_metadata, int end[2],
			      size_t len)
{
	struct task t[2] = {};

	for (int i = 0; i < 2; i++) {
		t[i] = (struct task){ .fn = task_send_all, .fd = end[i],
				      .len = len };
		task_start(&t[i]);
	}
	for (int i = 0; i < 2; i++) {
		ASSERT_EQ(0, task_wait(&t[i]))
			TH_LOG("hangs, where each sends %zu first", len);
		ASSERT_EQ(0, t[i].ret);
	}
	for (int i = 0; i < 2; i++)
		ASSERT_EQ(0, recv_pattern(end[i], len, 65536, 0));
}

SANX_TEST(both_send_first)
{
	static const size_t sizes[] = { 524288, 1048576, 300000 };

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++)
		for (int k = 0; k < 3; k++)
			send_then_receive(_metadata, self->end, sizes[i]);
}

/* And in between, it is a stream as any other. */
SANX_TEST(both_send_first_and_stream)
{
	struct task t = { .fn = task_send_all, .len = 4 << 20 };

	for (int i = 0; i < 4; i++) {
		send_then_receive(_metadata, self->end, 524288);
		t.fd = self->end[i & 1];
		task_start(&t);
		ASSERT_EQ(0, recv_pattern(self->end[!(i & 1)], t.len, 50000, 0));
		ASSERT_EQ(0, task_wait(&t));
		ASSERT_EQ(0, t.ret);
	}
}

/* Bytes and messages of all sizes, and a peek now and then, while one waits. */
SANX_TEST(sizes_mixed)
{
	static char buf[70000], seen[70000];
	size_t sent = 0, got = 0;
	ssize_t n, m;

	for (int round = 0; round < 60; round++) {
		for (int i = 0; i < 20; i++) {
			n = 1 + dice(dice(2) ? sizeof(buf) : 300);
			pattern_fill(buf, n, sent);
			n = rc(send(self->client, buf, n, MSG_DONTWAIT |
				    (dice(4) ? 0 : MSG_MORE)));
			if (n == -EAGAIN)
				break;
			ASSERT_LT(0, n);
			sent += n;
		}
		for (int i = 0; i < 20 && got < sent; i++) {
			n = recv(self->server, seen, 1 + dice(sizeof(seen)),
				 MSG_PEEK);
			ASSERT_LT(0, n);
			m = recv(self->server, buf, 1 + dice(n), 0);
			ASSERT_LT(0, m);
			ASSERT_EQ(0, memcmp(buf, seen, m));
			ASSERT_TRUE(pattern_check(buf, m, got));
			got += m;
		}
	}
	while (got < sent) {
		n = recv(self->server, buf, sizeof(buf), 0);
		ASSERT_LT(0, n);
		ASSERT_TRUE(pattern_check(buf, n, got));
		got += n;
	}
}

/* The reader reads a little and stops: there is room for as much more. */
SANX_TEST(reader_stops)
{
	ssize_t n, more;

	n = fill(variant, self->client);
	ASSERT_LT(0, n);
	ASSERT_EQ(0, recv_pattern(self->server, n / 2, 16384, 0));
	EXPECT_EQ(POLLOUT, poll_one(self->client, POLLOUT, SOON));
	more = fill(variant, self->client);
	ASSERT_LT(n / 4, more);
	ASSERT_EQ(0, recv_pattern(self->server, n - n / 2, 10000, n / 2));
	ASSERT_EQ(0, recv_pattern(self->server, more, 10000, 0));
}

/* The urgent byte is at its place, also far behind all that is unread. */
SANX_TEST(urgent_behind_all)
{
	ssize_t n = fill(variant, self->client);
	static char buf[65536];
	ssize_t got = 0;
	char c;

	ASSERT_LT(0, n);
	ASSERT_EQ(0, recv_pattern(self->server, n / 2, 16384, 0));
	ASSERT_EQ(POLLOUT, poll_one(self->client, POLLOUT, SOON));
	ASSERT_EQ(1, send(self->client, "!", 1, MSG_OOB));
	while (got < n - n / 2) {
		ssize_t k = recv(self->server, buf, sizeof(buf), 0);

		ASSERT_LT(0, k);
		ASSERT_TRUE(pattern_check(buf, k, n / 2 + got));
		got += k;
	}
	EXPECT_EQ(n - n / 2, got);
	ASSERT_EQ(POLLPRI, poll_one(self->server, POLLPRI, SOON));
	EXPECT_EQ(1, recv(self->server, &c, 1, MSG_OOB));
	EXPECT_EQ('!', c);
}

struct payer {
	char	path[64];
	char	current[96];
	int	fd;
};

static long now_in(const struct payer *p)
{
	return read_number(p->current);
}

static bool comes_down(const struct payer *p, long most)
{
	for (int i = 0; i < 100 && now_in(p) > most; i++)
		usleep(50000);
	return now_in(p) <= most;
}

static void payer_enter(struct __test_metadata *_metadata, struct payer *p)
{
	p->fd = enter_cgroup(p->path, sizeof(p->path));
	ASSERT_LE(0, p->fd);
	snprintf(p->current, sizeof(p->current), "%s/memory.current", p->path);
}

static void go_to(struct __test_metadata *_metadata, const char *path)
{
	char file[128];

	snprintf(file, sizeof(file), "%s/cgroup.procs", path);
	ASSERT_EQ(0, write_file(file, "0"));
}

/*
 * What is kept beyond the reader's buffer is the sender's memory, whoever makes the
 * calls, and is given back when it is read, without a wait for anything.
 */
SANX_TEST(memory)
{
	struct payer sender, reader;
	long before[2];
	struct address a;
	int end[2], l;
	ssize_t n;

	self->fallbacks = ANY_FALLBACKS;
	payer_enter(_metadata, &reader);
	l = listen_any(variant, 1, &a);
	ASSERT_LE(0, l);
	payer_enter(_metadata, &sender);
	end[0] = connect_to(variant, &a);
	ASSERT_LE(0, end[0]);
	go_to(_metadata, reader.path);
	end[1] = rc(accept(l, NULL, NULL));
	ASSERT_LE(0, end[1]);
	go_to(_metadata, CGROUPS);
	before[0] = now_in(&sender);
	before[1] = now_in(&reader);
	for (int round = 0; round < 3; round++) {
		n = fill(variant, end[0]);
		ASSERT_LT(1 << 20, n);
		/* What was read since then may have made the reader's larger. */
		if (!round) {
			EXPECT_LT(before[0] + n / 2, now_in(&sender));
			EXPECT_GT(before[1] + n / 2, now_in(&reader));
		}
		ASSERT_EQ(n, drain_socket(end[1], n));
		/* Over verbs the stream may have grown its window (grow.c). */
		EXPECT_TRUE(comes_down(&sender, before[0] + n / 3));
	}
	close(end[0]);
	close(end[1]);
	close(l);
	leave_cgroup(sender.path, sender.fd);
	leave_cgroup(reader.path, reader.fd);
}

/* One that is left unread by a sender that is gone costs nobody for ever. */
SANX_TEST(closed_unread)
{
	struct payer p;
	int end[2];
	long before;
	ssize_t n;

	self->fallbacks = ANY_FALLBACKS;
	payer_enter(_metadata, &p);
	connect_pair(_metadata, self, variant, &end[0], &end[1]);
	before = now_in(&p);
	for (int i = 0; i < 2; i++) {
		n = fill(variant, end[0]);
		ASSERT_LT(0, n);
		close(end[i]);
		if (!i)
			EXPECT_EQ(n, drain_socket(end[1], n));
		close(end[!i]);
		/* Each CPU may keep 64 pages charged for later (MEMCG_CHARGE_BATCH). */
		EXPECT_TRUE(comes_down(&p, before + n / 4));
		if (!i)
			connect_pair(_metadata, self, variant, &end[0], &end[1]);
	}
	leave_cgroup(p.path, p.fd);
}

/*
 * The reader's cgroup is full, and nobody is killed for that at the will of another
 * who sends: he waits, and goes on when there is memory.
 */
SANX_TEST(readers_cgroup_is_full)
{
	enum { N = 12 };
	char path[64], file[128], text[256], limit[32];
	int cgroup, l, fd[N], pipes[2], status;
	struct address a;
	ssize_t n[N];
	pid_t child;
	char c;

	self->fallbacks = ANY_FALLBACKS;
	cgroup = enter_cgroup(path, sizeof(path));
	ASSERT_LE(0, cgroup);
	l = listen_any(variant, N, &a);
	ASSERT_LE(0, l);
	ASSERT_EQ(0, pipe(pipes));
	child = fork();
	if (!child) {
		int s[N];

		for (int i = 0; i < N; i++)
			s[i] = accept(l, NULL, NULL);
		/* Nobody is to read until it is said. */
		if (read(pipes[0], &c, 1) != 1)
			_exit(9);
		for (int i = 0; i < N; i++) {
			ssize_t len;

			if (read(pipes[0], &len, sizeof(len)) != sizeof(len))
				_exit(9);
			if (recv_pattern(s[i], len, 16384, 0))
				_exit(1);
		}
		_exit(0);
	}
	go_to(_metadata, CGROUPS);
	for (int i = 0; i < N; i++) {
		fd[i] = connect_to(variant, &a);
		ASSERT_LE(0, fd[i]);
	}
	snprintf(file, sizeof(file), "%s/memory.current", path);
	snprintf(limit, sizeof(limit), "%ld", read_number(file) + (1 << 20));
	snprintf(file, sizeof(file), "%s/memory.max", path);
	ASSERT_EQ(0, write_file(file, limit));
	for (int i = 0; i < N; i++) {
		n[i] = fill(variant, fd[i]);
		ASSERT_LE(0, n[i]);
	}
	snprintf(file, sizeof(file), "%s/memory.events", path);
	ASSERT_EQ(0, read_text(file, text, sizeof(text)));
	EXPECT_NE(NULL, strstr(text, "oom_kill 0"))
		TH_LOG("%s", text);
	EXPECT_EQ(0, waitpid(child, &status, WNOHANG));
	/* And there is memory again. */
	snprintf(file, sizeof(file), "%s/memory.max", path);
	ASSERT_EQ(0, write_file(file, "max"));
	ASSERT_EQ(1, write(pipes[1], "x", 1));
	for (int i = 0; i < N; i++) {
		ssize_t all = n[i] + 200000;

		ASSERT_EQ(sizeof(all), write(pipes[1], &all, sizeof(all)));
		ASSERT_EQ(0, send_pattern(fd[i], 200000, 10000, n[i]));
	}
	ASSERT_EQ(child, waitpid(child, &status, 0));
	EXPECT_EQ(0, status);
	for (int i = 0; i < N; i++)
		close(fd[i]);
	close(l);
	leave_cgroup(path, cgroup);
}

SANX_TEST_MAIN
