// SPDX-License-Identifier: GPL-2.0
/*
 * Calls of the kernel at random, as scripts/syzkaller/ describes them.
 *
 *	calls run SECONDS SEED PROCS CORPUS COVER FILES...
 *	calls again LINES FILES...
 *	calls list FILES...
 *
 * FILES are the constants, and then descriptions.  "run" keeps programs that cover what
 * none did before, and changes them.  It begins with the lines of CORPUS, if there are
 * any, and leaves there what it ends with; COVER gets what was covered.  Each program is
 * printed before it runs, so the last ones before a crash are known; "again" runs such
 * lines.  Which programs there are follows from SEED, and from what each covers, and so
 * from the time that things take: it is the printed programs that repeat a crash.
 *
 * Ends with 0; 2 if it does not work, 3 if a call hangs.
 */
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "calls.h"

#define CORPUS_MAX	4096
#define PROCS_MAX	8
#define TELL_SECONDS	30

/**
 * struct common - what all processes share
 * @lock: of output, and of @corpus
 * @ran: programs that were run
 * @n: number of @corpus
 * @corpus: programs that covered something new
 */
static struct common {
	pthread_mutex_t lock;
	uint64_t ran;
	unsigned int n;
	struct prog corpus[CORPUS_MAX];
} *common;

/* What others begin with: a program at random seldom has two ends of a connection. */
static const char *const seeds[] = {
	"socket$sanx bind$sanx_self listen$sanx socket$sanx connect$sanx_self accept4$sanx sendto$sanx recvfrom$sanx",
	"socket$sanx6 bind$sanx_self listen$sanx socket$sanx6 connect$sanx_self accept$sanx write$sanx read$sanx shutdown$sanx",
	"socket$sanx bind$sanx_self listen$sanx socket$sanx connect$sanx_self accept$sanx sendto$sanx_long recvfrom$sanx read$sanx",
	"socket$sanx bind$sanx_self setsockopt$sanx_defer listen$sanx socket$sanx connect$sanx_self accept$sanx sendmsg$sanx recvmsg$sanx",
	"socket$sanx connect$sanx_self sendto$sanx recvfrom$sanx poll$sanx close$sanx",
	"socket$sanx connect$sanx_self setsockopt$sanx_cork write$sanx write$sanx setsockopt$sanx_linger close$sanx",
	"socket$sanx connect$sanx_self pipe2$sanx write$sanx_pipe splice$sanx_out splice$sanx_in memfd_create$sanx ftruncate$sanx sendfile$sanx",
	"socket$sanx fcntl$sanx_setfl connect$sanx_peer syz_sanx_peer$answer_well syz_sanx_peer$await syz_sanx_peer$open_ack write$sanx syz_sanx_peer$data read$sanx",
	"socket$sanx bind$sanx_self listen$sanx syz_sanx_peer$ask_well syz_sanx_peer$open syz_sanx_peer$await accept4$sanx syz_sanx_peer$data recvfrom$sanx syz_sanx_peer$simple",
	"syz_sanx_peer$ask_well syz_sanx_peer$open syz_sanx_peer$await syz_sanx_peer$data syz_sanx_peer$data syz_sanx_peer$write syz_sanx_peer$frame",
	"syz_sanx_peer$ask syz_sanx_peer$frame syz_sanx_peer$any",
	"socket$nl_generic syz_genetlink_get_family_id$sanx sendmsg$SANX_CMD_LINK_GET recvmsg$sanx_netlink sendmsg$SANX_CMD_SOCKET_GET recvmsg$sanx_netlink",
	"socket$nl_generic syz_genetlink_get_family_id$sanx sendmsg$SANX_CMD_PORTS_ADD sendmsg$SANX_CMD_PORTS_APPLY sendmsg$sanx_no_ports",
	"socket$nl_generic syz_genetlink_get_family_id$sanx sendmsg$SANX_CMD_NODEMAP_ADD sendmsg$SANX_CMD_NODEMAP_GET recvmsg$sanx_netlink",
	"socket$nl_generic syz_genetlink_get_family_id$sanx sendmsg$SANX_CMD_KEY_ADD sendmsg$SANX_CMD_KEY_GET sendmsg$sanx_no_keys",
};

static uint64_t state;

void draw_seed(uint64_t seed)
{
	state = seed * 0x9e3779b97f4a7c15 ^ 0x2545f4914f6cdd1d;
}

uint32_t draw(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state >> 16;
}

static void share(void)
{
	pthread_mutexattr_t attr;

	common = mmap(NULL, sizeof(*common), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (common == MAP_FAILED)
		fail("no memory");
	pthread_mutexattr_init(&attr);
	pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
	pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
	pthread_mutex_init(&common->lock, &attr);
}

/* Robust: whoever had it may have been killed by its own program. */
static void take(void)
{
	if (pthread_mutex_lock(&common->lock))
		pthread_mutex_consistent(&common->lock);
}

static void tell(const char *text)
{
	size_t len = strlen(text);

	if (write(STDOUT_FILENO, text, len) != (ssize_t)len)
		_exit(0);
}

/* The decisions that are not made yet, so that what is printed is what is run. */
static void complete(struct prog *p)
{
	struct results results[PROG_CALLS];
	struct args args;
	unsigned int i;

	memset(results, -1, sizeof(results));
	for (i = 0; i < p->n; i++)
		value_args(p, i, results, true, &args);
}

static unsigned int run_prog(struct prog *p, unsigned int proc)
{
	static char text[PROG_TEXT + 16];
	int n;

	complete(p);
	n = sprintf(text, "%u ", proc);
	prog_print(p, text + n);
	strcat(text, "\n");
	take();
	tell(text);
	common->ran++;
	pthread_mutex_unlock(&common->lock);
	return exec_prog(p);
}

static void keep(const struct prog *p)
{
	unsigned int i;

	take();
	i = common->n < CORPUS_MAX ? common->n : below(CORPUS_MAX);
	common->corpus[i] = *p;
	if (common->n < CORPUS_MAX)
		common->n++;
	pthread_mutex_unlock(&common->lock);
}

/* Recent ones more often: what they have found is new. */
static void pick(struct prog *p)
{
	unsigned int n = common->n, i = below(n);

	if (below(2))
		i = n - 1 - below(n < 50 ? n : 50);
	*p = common->corpus[i];
}

static void work(unsigned int proc, uint64_t seed, time_t end)
{
	unsigned int i = proc;
	struct prog p, other;

	draw_seed(seed * PROCS_MAX + proc);
	value_init();
	exec_init();
	while (time(NULL) < end) {
		if (i < sizeof(seeds) / sizeof(*seeds)) {
			prog_names(&p, seeds[i++]);
		} else if (!common->n || below(8) == 0) {
			prog_make(&p);
		} else {
			pick(&p);
			pick(&other);
			prog_mutate(&p, &other);
		}
		if (run_prog(&p, proc))
			keep(&p);
	}
	_exit(0);
}

static void load(const char *path)
{
	FILE *f = fopen(path, "r");
	char *text = NULL;
	size_t room = 0;

	while (f && common->n < CORPUS_MAX && getline(&text, &room, f) > 0)
		common->n += prog_parse(&common->corpus[common->n], text);
	if (f)
		fclose(f);
	free(text);
}

static void save(const char *path)
{
	static char text[PROG_TEXT];
	FILE *f = fopen(path, "w");
	unsigned int i;

	for (i = 0; f && i < common->n; i++) {
		prog_print(&common->corpus[i], text);
		fprintf(f, "%s\n", text);
	}
	if (!f || fclose(f))
		fail("cannot write %s", path);
}

static void tell_state(void)
{
	char text[128];

	sprintf(text, "# %" PRIu64 " programs, %u of them kept, %u places covered\n",
		common->ran, common->n, cover_count());
	take();
	tell(text);
	pthread_mutex_unlock(&common->lock);
}

static pid_t start(unsigned int proc, uint64_t seed, time_t end)
{
	pid_t pid = fork();

	if (pid < 0)
		fail("no process");
	if (!pid)
		work(proc, seed, end);
	return pid;
}

/* One that was killed by what its program made the kernel write goes on anew. */
static int watch(pid_t *pids, unsigned int procs, uint64_t seed, time_t end)
{
	time_t told = time(NULL);
	unsigned int i, alive = procs;
	int status;
	pid_t pid;

	while (alive) {
		pid = waitpid(-1, &status, WNOHANG);
		for (i = 0; pid > 0 && i < procs; i++) {
			if (pids[i] != pid)
				continue;
			if (WIFEXITED(status) && WEXITSTATUS(status))
				return WEXITSTATUS(status);
			alive--;
			if (WIFSIGNALED(status) && time(NULL) < end) {
				printf("# process %u was killed by signal %d\n", i,
				       WTERMSIG(status));
				fflush(stdout);
				pids[i] = start(i, seed += 1000, end);
				alive++;
			}
		}
		if (pid <= 0)
			usleep(200000);
		if (time(NULL) - told >= TELL_SECONDS) {
			told = time(NULL);
			tell_state();
		}
	}
	return 0;
}

static int run(char **arg)
{
	time_t end = time(NULL) + atol(arg[0]);
	uint64_t seed = strtoull(arg[1], NULL, 0);
	unsigned int i, procs = atoi(arg[2]);
	pid_t pids[PROCS_MAX];
	int status;

	if (!procs || procs > PROCS_MAX)
		fail("1 to %u processes", PROCS_MAX);
	cover_init();
	cover_remote();
	share();
	load(arg[3]);
	for (i = 0; i < procs; i++)
		pids[i] = start(i, seed, end);
	status = watch(pids, procs, seed, end);
	tell_state();
	save(arg[3]);
	cover_write(arg[4]);
	return status;
}

/* Lines as they were printed, with the number of their process or without. */
static int again(const char *path)
{
	FILE *f = fopen(path, "r");
	char *text = NULL, *from;
	struct prog p;
	size_t room = 0;

	if (!f)
		fail("cannot open %s", path);
	cover_init();
	cover_remote();
	share();
	/* It has the remote coverage, and cannot have its own. */
	if (fork()) {
		int status;

		wait(&status);
		return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
	}
	value_init();
	exec_init();
	while (getline(&text, &room, f) > 0) {
		from = text + strspn(text, "0123456789 ");
		if (*text != '#' && prog_parse(&p, from))
			run_prog(&p, 0);
	}
	_exit(0);
}

static int list(void)
{
	unsigned int i;

	for (i = 0; i < n_calls; i++)
		printf("%s\n", calls[i].name);
	return 0;
}

static void describe(char **files)
{
	unsigned int i;

	if (!*files)
		fail("calls run SECONDS SEED PROCS CORPUS COVER FILES...");
	desc_consts(*files++);
	for (; *files; files++)
		desc_read(*files);
	desc_resolve();
	for (i = 0; i < n_calls; i++)
		if (!exec_known(calls[i].name))
			fail("it is not known how to call %s", calls[i].name);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (!strcmp(what, "run") && argc > 7) {
		describe(argv + 7);
		return run(argv + 2);
	}
	if (!strcmp(what, "again") && argc > 3) {
		describe(argv + 3);
		return again(argv[2]);
	}
	describe(argv + (argc > 2 ? 2 : 1));
	return list();
}
