// SPDX-License-Identifier: GPL-2.0
/*
 * Runs a command, and says at its end what its connections went over.
 *
 * The kernel counts them (SANX_TALLY): the library has each socket of the command and its
 * children counted by a number, which it finds in the environment.  A socket here, which is
 * never connected, keeps the count.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <linux/sanx.h>

#include "family.h"
#include "run.h"
#include "sanxctl/addr.h"

/* The kernel has fewer sums. */
#define ROWS_MAX	SANX_TALLY_EACH_MAX

/* Signals that end or stop a command, or mean something to it, and which others send to us. */
static const int passed_on[] = {
	SIGTERM, SIGHUP, SIGINT, SIGQUIT, SIGTSTP, SIGCONT, SIGUSR1, SIGUSR2, SIGALRM, SIGWINCH,
};

/* What they did before. */
static struct sigaction before[ARRAY_SIZE(passed_on)];

/* 0 before it is there, and from when it has been waited for. */
static volatile sig_atomic_t child;

/* The terminal sends its own to the command as well. */
static void pass_on(int sig, siginfo_t *info, void *context)
{
	int error = errno;

	(void)context;
	if (child > 0 && info->si_code != SI_KERNEL)
		kill(child, sig);
	errno = error;
}

/**
 * command_exec - become the command
 * @command: its words; NULL at the end
 *
 * Return: the exit status, after a message, if that fails.
 */
int command_exec(char **command)
{
	int status;

	execvp(command[0], command);
	status = errno == ENOENT ? EXIT_ENOENT : EXIT_CANNOT;
	say("%s: %s", command[0], strerror(errno));
	return status;
}

/* Return: the socket that keeps the count, or -1 with errno set. */
static int tally_open(bool each)
{
	struct sanx_tally t = { .each = each ? SANX_TALLY_EACH_MAX : 0 };
	int number = sanx_family_read(), fd, error;
	char text[32];

	if (!number) {
		errno = EAFNOSUPPORT;
		return -1;
	}
	fd = socket(number, SOCK_STREAM | SOCK_CLOEXEC, SANXPROTO_INET);
	if (fd < 0)
		return -1;
	if (getrandom(&t.key, sizeof(t.key), 0) == sizeof(t.key) &&
	    !setsockopt(fd, SOL_SANX, SANX_TALLY, &t, sizeof(t))) {
		snprintf(text, sizeof(text), "%llx", (unsigned long long)t.key);
		if (!setenv(SANX_TALLY_ENV, text, 1))
			return fd;
	}
	error = errno;
	close(fd);
	errno = error;
	return -1;
}

/*
 * Output
 */

/* @text: room for it */
static const char *endpoint(const __u8 *addr, __be16 port, char text[ENDPOINT_STRLEN])
{
	struct in6_addr raw;

	memcpy(&raw, addr, sizeof(raw));
	return port ? endpoint_format(&raw, ntohs(port), text) : "-";
}

static void row_print(const struct sanx_tally_row *row, const char *what)
{
	if (*row->fallback)
		say("%s%s: %s", what, row->transport, row->fallback);
	else
		say("%s%s, %llu bytes sent, %llu received", what, row->transport,
		    (unsigned long long)row->tx_bytes, (unsigned long long)row->rx_bytes);
}

static void conn_print(const struct sanx_tally_row *row)
{
	char local[ENDPOINT_STRLEN], remote[ENDPOINT_STRLEN], what[160];

	snprintf(what, sizeof(what), "%s %s ", endpoint(row->local, row->local_port, local),
		 endpoint(row->remote, row->remote_port, remote));
	row_print(row, what);
}

static void sum_print(const struct sanx_tally_row *row)
{
	char what[32];

	snprintf(what, sizeof(what), "%u over ", row->conns);
	row_print(row, what);
}

/* Return: number of rows, or -1 with errno set. */
static int rows_read(int fd, int option, struct sanx_tally_row *rows)
{
	socklen_t len = ROWS_MAX * sizeof(*rows);

	if (getsockopt(fd, SOL_SANX, option, rows, &len))
		return -1;
	return len / sizeof(*rows);
}

/* The busiest transport first. */
static int order(const void *a, const void *b)
{
	const struct sanx_tally_row *x = a, *y = b;

	return (x->conns < y->conns) - (x->conns > y->conns) ?:
	       strcmp(x->fallback, y->fallback) ?: strcmp(x->transport, y->transport);
}

static void summary_print(int fd, bool each)
{
	static struct sanx_tally_row rows[ROWS_MAX];
	unsigned long long all = 0;
	int i, n = 0, shown = 0;

	if (each)
		shown = rows_read(fd, SANX_TALLY_EACH, rows);
	for (i = 0; i < shown; i++)
		conn_print(&rows[i]);
	if (shown >= 0)
		n = rows_read(fd, SANX_TALLY, rows);
	if (shown < 0 || n < 0) {
		say("the count cannot be read: %s", strerror(errno));
		return;
	}
	qsort(rows, n, sizeof(*rows), order);
	for (i = 0; i < n; i++)
		all += rows[i].conns;
	if (each && all > (unsigned long long)shown)
		say("... and %llu more", all - shown);
	say("%llu connection%s", all, all == 1 ? "" : "s");
	for (i = 0; i < n; i++)
		sum_print(&rows[i]);
}

/*
 * The command
 */

/* @mask: set to what was blocked before */
static void signals_block(sigset_t *mask)
{
	sigset_t passed;
	size_t i;

	sigemptyset(&passed);
	for (i = 0; i < ARRAY_SIZE(passed_on); i++)
		sigaddset(&passed, passed_on[i]);
	sigprocmask(SIG_BLOCK, &passed, mask);
}

static void signals_pass_on(void)
{
	struct sigaction act = { .sa_sigaction = pass_on, .sa_flags = SA_RESTART | SA_SIGINFO };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(passed_on); i++)
		sigaction(passed_on[i], &act, &before[i]);
}

static void signals_restore(void)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(passed_on); i++)
		sigaction(passed_on[i], &before[i], NULL);
}

/* Ends as the command did, but without a core of its own.  Return: the exit status. */
static int end_as(int status)
{
	if (!WIFSIGNALED(status))
		return WEXITSTATUS(status);
	prctl(PR_SET_DUMPABLE, 0);
	signal(WTERMSIG(status), SIG_DFL);
	raise(WTERMSIG(status));
	return 128 + WTERMSIG(status);
}

/*
 * Starts the command, with the signals that are passed on blocked until we know it.  Who
 * ignores SIGCHLD could not wait for it; the command ignores it nevertheless, then.
 * Return: 0, or -1 with errno set.
 */
static int command_start(char **command)
{
	struct sigaction normal = { .sa_handler = SIG_DFL }, ignored;
	sigset_t mask;
	pid_t pid;

	signals_block(&mask);
	sigaction(SIGCHLD, &normal, &ignored);
	pid = fork();
	if (!pid) {
		sigaction(SIGCHLD, &ignored, NULL);
		sigprocmask(SIG_SETMASK, &mask, NULL);
		_exit(command_exec(command));
	}
	if (pid > 0) {
		child = pid;
		signals_pass_on();
	}
	sigprocmask(SIG_SETMASK, &mask, NULL);
	return pid < 0 ? -1 : 0;
}

/*
 * Takes the news of the command, with the signals blocked: those that come later are not for
 * a process that has got its number meanwhile.
 * Return: as waitpid().
 */
static pid_t command_reap(int *status)
{
	sigset_t mask;
	pid_t got;

	signals_block(&mask);
	got = waitpid(child, status, WUNTRACED | WNOHANG);
	if (got > 0 && !WIFSTOPPED(*status)) {
		child = 0;
		signals_restore();
	}
	sigprocmask(SIG_SETMASK, &mask, NULL);
	return got;
}

/* Stops when the command does, for the shell that waits for us.  Return: its status, or -1. */
static int command_wait(void)
{
	siginfo_t info;
	int status;

	for (;;) {
		while (waitid(P_PID, child, &info, WEXITED | WSTOPPED | WNOWAIT))
			if (errno != EINTR)
				return -1;
		if (command_reap(&status) <= 0)
			continue;
		if (!WIFSTOPPED(status))
			return status;
		raise(SIGSTOP);
	}
}

/**
 * summary_run - run a command, and say at its end what its connections went over
 * @command: its words; NULL at the end
 * @each: say it of each connection, too
 *
 * Connections that are open when it ends, as those of a daemon that it has started are, do
 * not count.
 *
 * Return: the exit status.  Where a signal has ended the command, it ends this process, too.
 */
int summary_run(char **command, bool each)
{
	int fd = tally_open(each), status;

	if (fd < 0) {
		say("nothing is counted: %s", strerror(errno));
		return command_exec(command);
	}
	status = command_start(command) ?: command_wait();
	if (status < 0) {
		say("%s: %s", command[0], strerror(errno));
		return EXIT_OURS;
	}
	/* Nobody reads it, perhaps. */
	signal(SIGPIPE, SIG_IGN);
	summary_print(fd, each);
	return end_as(status);
}
