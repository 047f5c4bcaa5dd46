// SPDX-License-Identifier: GPL-2.0
/*
 * net.sanx.*: each network namespace has its own, and they count there alone.
 *
 * kernels: um
 * clock: host how often a program sleeps
 */
#include <net/if.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/sysinfo.h>
#include <sys/wait.h>

#include <linux/sanx.h>

#include "kselftest_harness.h"

#include "lib/cgroup.h"
#include "lib/node.h"
#include "lib/util.h"

#define SPIN_US		"/proc/sys/net/sanx/spin_us"
#define NODELAY_US	"/proc/sys/net/sanx/nodelay_us"
#define IDLE_MS		"/proc/sys/net/sanx/idle_ms"

/* Connections in a namespace, and bytes over each, each way. */
#define N		32
#define BYTES		300000
/* Far less than the rings of all. */
#define MUCH		1048576L
/*
 * On one CPU the one who is woken may run before the other sleeps, which then need
 * not; that was seen for some 2000 rounds.
 */
#define ROUNDS		8000

/**
 * struct space - a child in a namespace of its own, as it and its parent see it
 * @set: a sysctl
 * @value: what it is set to there
 * @go: the parent says: go on
 * @ready: the child has come so far
 * @found: what each sysctl was at first
 * @empty: bytes of its cgroup with connections that have carried nothing
 * @most: with all that they carried in
 * @now: of late
 * @sleeps: how often the one who asks slept
 * @err: of the child, -errno
 */
struct space {
	const char	*set;
	const char	*value;
	volatile int	go;
	volatile int	ready;
	long		found[3];
	volatile long	empty;
	volatile long	most;
	volatile long	now;
	volatile long	sleeps;
	volatile int	err;
};

#define SPACES	2

FIXTURE(spaces)
{
	struct space *s;
	pid_t child[SPACES];
};

FIXTURE_SETUP(spaces)
{
	self->s = mmap(NULL, SPACES * sizeof(*self->s), PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, self->s);
}

FIXTURE_TEARDOWN(spaces)
{
	write_file(SPIN_US, "20");
	write_file(IDLE_MS, "30000");
	write_file(NODELAY_US, "50");
	for (int i = 0; i < SPACES; i++) {
		if (self->child[i] > 0)
			kill(self->child[i], SIGKILL);
		while (self->child[i] > 0 && waitpid(self->child[i], NULL, 0) < 0)
			;
	}
}

static int lo_up(void)
{
	struct ifreq ifr = { .ifr_name = "lo", .ifr_flags = IFF_UP };
	int fd = socket(AF_INET, SOCK_DGRAM, 0);
	int err = rc(ioctl(fd, SIOCSIFFLAGS, &ifr));

	close(fd);
	return err;
}

static int sanx_socket(void)
{
	return rc(socket(node_family(), SOCK_STREAM, SANXPROTO_INET));
}

/* Connections over the loop transport. */
static int make_pairs(int (*end)[2], int n)
{
	struct address a;
	int l = sanx_socket(), err;

	address_make(&a, "127.0.0.1", 0);
	if (l < 0)
		return l;
	err = rc(bind(l, &a.sa, a.len)) ?: rc(listen(l, n)) ?: local_address(l, &a);
	for (int i = 0; i < n && !err; i++) {
		end[i][0] = sanx_socket();
		err = rc(connect(end[i][0], &a.sa, a.len));
		end[i][1] = rc(accept(l, NULL, NULL));
		if (end[i][1] < 0)
			err = end[i][1];
	}
	close(l);
	return err;
}

static long send_all(struct task *t)
{
	return send_pattern(t->fd, BYTES, t->len, 0);
}

static int both_ways(const int end[2])
{
	int err = 0;

	for (int i = 0; i < 2 && !err; i++) {
		struct task t = { .fn = send_all, .fd = end[i], .len = 20000 };

		task_start(&t);
		err = recv_pattern(end[!i], BYTES, 20000, 0);
		task_wait(&t);
		err = err ?: t.ret;
	}
	return err;
}

static void await(volatile int *flag)
{
	while (!*flag)
		usleep(1000);
}

/* What connections that have carried bytes cost, from then on. */
static int carry(struct space *s)
{
	char path[64], file[128];
	int end[N][2], err;

	err = enter_cgroup(path, sizeof(path));
	if (err < 0)
		return err;
	snprintf(file, sizeof(file), "%s/memory.current", path);
	err = make_pairs(end, N);
	s->empty = read_number(file);
	for (int i = 0; i < N && !err; i++) {
		err = both_ways(end[i]);
		if (s->most < read_number(file))
			s->most = read_number(file);
	}
	s->now = s->most;
	s->err = err;
	s->ready = true;
	while (!s->go) {
		s->now = read_number(file);
		usleep(20000);
	}
	leave_cgroup(path, -1);
	return err;
}

static long answer(struct task *t)
{
	char c;

	for (int i = 0; i < ROUNDS; i++) {
		if (recv(t->fd, &c, 1, 0) != 1 || send(t->fd, &c, 1, 0) != 1)
			return -1;
	}
	return 0;
}

/* How often one sleeps who asks and is answered. */
static int sleeps(struct space *s)
{
	struct rusage before, after;
	struct task t = { .fn = answer };
	int end[1][2], err;
	char c;

	err = make_pairs(end, 1);
	if (err)
		return err;
	s->ready = true;
	await(&s->go);
	t.fd = end[0][1];
	task_start(&t);
	getrusage(RUSAGE_THREAD, &before);
	for (int i = 0; i < ROUNDS && !err; i++) {
		if (send(end[0][0], "q", 1, 0) != 1 || recv(end[0][0], &c, 1, 0) != 1)
			err = -EIO;
	}
	getrusage(RUSAGE_THREAD, &after);
	task_wait(&t);
	s->sleeps = after.ru_nvcsw - before.ru_nvcsw;
	return err ?: t.ret;
}

static int nothing(struct space *s)
{
	s->ready = true;
	await(&s->go);
	/* After its parent set its own. */
	s->now = read_number(s->set);
	return 0;
}

static int in_space(struct space *s, int (*fn)(struct space *s))
{
	int err = rc(unshare(CLONE_NEWNET)) ?: lo_up();

	s->found[0] = read_number(SPIN_US);
	s->found[1] = read_number(IDLE_MS);
	s->found[2] = read_number(NODELAY_US);
	return err ?: write_file(s->set, s->value) ?: fn(s);
}

/* Children with a value each, which have come to where they say that they are. */
static void start_spaces(struct __test_metadata *_metadata, FIXTURE_DATA(spaces) *self,
			 const char *set, const char *const value[SPACES],
			 int (*fn)(struct space *s))
{
	long end = now_ms() + 3 * SOON;

	for (int i = 0; i < SPACES; i++) {
		self->s[i].set = set;
		self->s[i].value = value[i];
		self->child[i] = fork();
		ASSERT_LE(0, self->child[i]);
		if (self->child[i])
			continue;
		self->s[i].err = in_space(&self->s[i], fn);
		_exit(self->s[i].err ? 1 : 0);
	}
	for (int i = 0; i < SPACES; i++) {
		while (!self->s[i].ready && !self->s[i].err && now_ms() < end)
			usleep(1000);
		ASSERT_EQ(0, self->s[i].err);
		ASSERT_TRUE(self->s[i].ready);
	}
}

/* One goes on, and to its end. */
static void finish(struct __test_metadata *_metadata, FIXTURE_DATA(spaces) *self, int i)
{
	int status;

	self->s[i].go = true;
	ASSERT_EQ(self->child[i], waitpid(self->child[i], &status, 0));
	self->child[i] = 0;
	ASSERT_EQ(0, self->s[i].err);
	ASSERT_EQ(0, status);
}

static void values(struct __test_metadata *_metadata, FIXTURE_DATA(spaces) *self,
		   const char *set, const char *least, const char *most,
		   const char *too_much)
{
	const char *const value[SPACES] = { "17", most };

	/* Theirs are the defaults, whatever is here. */
	ASSERT_EQ(0, write_file(SPIN_US, "123"));
	ASSERT_EQ(0, write_file(IDLE_MS, "4567"));
	ASSERT_EQ(0, write_file(NODELAY_US, "89"));
	start_spaces(_metadata, self, set, value, nothing);
	EXPECT_EQ(123, read_number(SPIN_US));
	EXPECT_EQ(4567, read_number(IDLE_MS));
	EXPECT_EQ(89, read_number(NODELAY_US));
	ASSERT_EQ(0, write_file(set, least));
	for (int i = 0; i < SPACES; i++) {
		EXPECT_EQ(20, self->s[i].found[0]);
		EXPECT_EQ(30000, self->s[i].found[1]);
		EXPECT_EQ(50, self->s[i].found[2]);
		finish(_metadata, self, i);
		EXPECT_EQ(atol(value[i]), self->s[i].now);
	}
	EXPECT_EQ(atol(least), read_number(set));
	EXPECT_EQ(-EINVAL, write_file(set, too_much));
	EXPECT_EQ(-EINVAL, write_file(set, "-1"));
	EXPECT_EQ(atol(least), read_number(set));
}

TEST_F(spaces, spin_us_value)
{
	values(_metadata, self, SPIN_US, "0", "10000", "10001");
}

TEST_F(spaces, nodelay_us_value)
{
	values(_metadata, self, NODELAY_US, "0", "100000", "100001");
}

TEST_F(spaces, idle_ms_value)
{
	values(_metadata, self, IDLE_MS, "0", "86400000", "86400001");
}

/* Connections rest in both; in one their memory is given back. */
TEST_F_TIMEOUT(spaces, idle_ms_effect, 400)
{
	const char *const value[SPACES] = { "500", "0" };
	struct space *rests = &self->s[0], *keeps = &self->s[1];

	ASSERT_EQ(0, write_file(IDLE_MS, "50"));
	start_spaces(_metadata, self, IDLE_MS, value, carry);
	EXPECT_LT(keeps->empty + MUCH, keeps->most);
	for (int i = 0; i < 300 && rests->now > rests->empty + MUCH / 2; i++)
		usleep(100000);
	EXPECT_GE(rests->empty + MUCH / 2, rests->now);
	usleep(500000);
	EXPECT_LT(keeps->empty + MUCH, keeps->now);
	finish(_metadata, self, 0);
	finish(_metadata, self, 1);
}

/* Who waits looks for a while first, in one; where there is a CPU to do so. */
TEST_F_TIMEOUT(spaces, spin_us_effect, 400)
{
	const char *const value[SPACES] = { "0", "10000" };

	ASSERT_EQ(0, write_file(SPIN_US, "20"));
	start_spaces(_metadata, self, SPIN_US, value, sleeps);
	finish(_metadata, self, 0);
	finish(_metadata, self, 1);
	EXPECT_LT(ROUNDS / 4, self->s[0].sleeps);
	/* With one CPU it lets the other task run, which may answer before it sleeps. */
	if (get_nprocs() > 1)
		EXPECT_LT(self->s[1].sleeps, self->s[0].sleeps);
}

TEST_HARNESS_MAIN
