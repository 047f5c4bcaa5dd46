// SPDX-License-Identifier: GPL-2.0
/*
 * agent: runs commands in a node of the lab for the host.
 *
 * agent [TTY...]: one process for each virtio-serial port called sanx.N, or for
 * each serial line that is named; one command at a time on each.  When the host
 * closes the port, or says that it did (FRAME_HANGUP), the command's session is
 * killed, so a test that is interrupted leaves nothing running.
 *
 * In a node with virtual time the clock moves only while a command runs that counts, or
 * until we are there (scripts/kernel/patches/um-virtual-time.patch).  One counts when the
 * host has nothing to do but wait for it: it says so (client.c).
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include "frame.h"

#define MAX_ARGS	256

/* How often, and after how long each time, a hang-up is looked at before it counts. */
#define HANGUP_LOOKS	10
#define HANGUP_LOOK_US	100000

struct job {
	pid_t pid;	/* 0 once it has ended */
	pid_t sid;	/* of its session */
	int stopped;	/* the host has sent it a signal */
	int counts;	/* it lets time pass */
	int in;		/* the command's standard input, -1 when closed */
	int out;
	int err;
	int pty;
	int sigfd;	/* readable when a child has died */
};

static int child_pipe[2];

/* Counts the commands that run, if the kernel wants to know; -1 if not. */
static int commands = -1;

static void count_command(const char *n)
{
	if (commands >= 0 && write(commands, n, strlen(n)) < 0)
		perror("count of commands");
}

static void let_time_pass(struct job *job)
{
	if (!job->counts)
		count_command("1");
	job->counts = 1;
}

static void on_child(int sig)
{
	int saved = errno;

	(void)sig;
	if (write(child_pipe[1], "", 1) < 0)
		errno = saved;
	errno = saved;
}

static void set_nonblock(int fd, int on)
{
	int flags = fcntl(fd, F_GETFL);

	fcntl(fd, F_SETFL, on ? flags | O_NONBLOCK : flags & ~O_NONBLOCK);
}

/*
 * Wait until the host has opened the port and sent something.  poll() would
 * spin, as a closed port is always ready; edge-triggered epoll sleeps until
 * the port's state changes.
 */
static void wait_for_host(int port)
{
	struct epoll_event ev = { .events = EPOLLIN | EPOLLET };
	int ep = epoll_create1(EPOLL_CLOEXEC);

	epoll_ctl(ep, EPOLL_CTL_ADD, port, &ev);
	for (;;) {
		struct pollfd p = { .fd = port, .events = POLLIN };

		poll(&p, 1, 0);
		if ((p.revents & POLLIN) && !(p.revents & POLLHUP))
			break;
		epoll_wait(ep, &ev, 1, 1000);
	}
	close(ep);
}

static void run_child(const char *argv[], int in, int out, int err)
{
	sigset_t none;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGCHLD, SIG_DFL);
	signal(SIGPIPE, SIG_DFL);
	if (in >= 0) {
		setsid();
		dup2(in, 0);
		dup2(out, 1);
		dup2(err, 2);
	}
	execvp(argv[0], (char **)argv);
	dprintf(2, "%s: %s\n", argv[0], strerror(errno));
	_exit(errno == ENOENT ? 127 : 126);
}

static int start_pty(struct job *job, const char *argv[],
		     const struct run_head *head)
{
	struct winsize ws = { .ws_row = head->rows, .ws_col = head->cols };
	int fd;

	job->pid = forkpty(&fd, NULL, NULL, &ws);
	if (job->pid < 0)
		return -1;
	if (!job->pid)
		run_child(argv, -1, -1, -1);
	fcntl(fd, F_SETFD, FD_CLOEXEC);
	job->in = fd;
	job->out = fd;
	job->err = -1;
	return 0;
}

static int start_pipes(struct job *job, const char *argv[])
{
	int in[2], out[2], err[2];

	if (pipe2(in, O_CLOEXEC) || pipe2(out, O_CLOEXEC) ||
	    pipe2(err, O_CLOEXEC))
		return -1;
	job->pid = fork();
	if (job->pid < 0)
		return -1;
	if (!job->pid)
		run_child(argv, in[0], out[1], err[1]);
	close(in[0]);
	close(out[1]);
	close(err[1]);
	job->in = in[1];
	job->out = out[0];
	job->err = err[0];
	return 0;
}

static int start(struct job *job, struct frame *f)
{
	const struct run_head *head = (void *)f->data;
	const char *argv[MAX_ARGS + 1];
	size_t pos = sizeof(*head);
	int argc = 0;

	if (f->len <= pos || f->data[f->len - 1])
		return -1;
	while (pos < f->len && argc < MAX_ARGS) {
		argv[argc++] = (char *)f->data + pos;
		pos += strlen((char *)f->data + pos) + 1;
	}
	argv[argc] = NULL;
	job->pty = head->pty;
	if (job->pty)
		return start_pty(job, argv, head);
	return start_pipes(job, argv);
}

static void close_in(struct job *job)
{
	if (job->in >= 0 && !job->pty)
		close(job->in);
	job->in = -1;
}

/* The command may sleep before it reads: time passes if it does not take all at once. */
static int feed(struct job *job, const struct frame *f)
{
	ssize_t n;

	set_nonblock(job->in, 1);
	n = write(job->in, f->data, f->len);
	set_nonblock(job->in, 0);
	if (n == f->len)
		return 0;
	if (n < 0 && errno != EAGAIN && errno != EINTR)
		return -1;
	if (n < 0)
		n = 0;
	let_time_pass(job);
	return write_all(job->in, f->data + n, f->len - n);
}

/* Returns -1 when the session is over: the host went, or a new one began. */
static int from_host(int port, struct job *job, struct frame *f)
{
	if (frame_recv(port, f))
		return -1;
	switch (f->type) {
	case FRAME_STDIN:
		if (!f->len)
			close_in(job);
		else if (job->in >= 0 && feed(job, f))
			close_in(job);
		return 0;
	case FRAME_SIGNAL:
		if (f->len == 1)
			job->stopped = !kill(-job->pid, f->data[0]);
		return 0;
	case FRAME_COUNTS:
		let_time_pass(job);
		return 0;
	default:
		return -1;
	}
}

/* Returns 0 at end of file. */
static int to_host(int port, int fd, int type)
{
	char buf[FRAME_MAX];
	ssize_t n = read(fd, buf, sizeof(buf));

	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return 1;
	if (n <= 0)
		return 0;
	return !frame_send(port, type, buf, n);
}

/*
 * A command that has exited may have left a child holding its output open
 * (a daemon): take what is there and do not wait for more.
 */
static void drain(int port, struct job *job)
{
	if (job->out >= 0) {
		set_nonblock(job->out, 1);
		while (to_host(port, job->out, FRAME_STDOUT) && errno != EAGAIN)
			;
	}
	errno = 0;
	if (job->err >= 0) {
		set_nonblock(job->err, 1);
		while (to_host(port, job->err, FRAME_STDERR) && errno != EAGAIN)
			;
	}
}

static uint8_t exit_code(int status)
{
	return WIFEXITED(status) ? WEXITSTATUS(status) :
				   128 + WTERMSIG(status);
}

/*
 * The host's close of an earlier session may be heard only now: then its open of this one
 * follows at once.  A new client in the place of ours says hello (from_host()).
 */
static int host_is_gone(int port)
{
	struct pollfd p = { .fd = port };
	int i;

	for (i = 0; i < HANGUP_LOOKS; i++) {
		poll(&p, 1, 0);
		if (!(p.revents & POLLHUP))
			return 0;
		usleep(HANGUP_LOOK_US);
	}
	return 1;
}

/* Returns 1 when the command ended, -1 when the host went away. */
static int serve_once(int port, struct job *job, struct frame *f)
{
	struct pollfd p[] = {
		{ .fd = port, .events = POLLIN },
		{ .fd = job->out, .events = POLLIN },
		{ .fd = job->err, .events = POLLIN },
		{ .fd = job->sigfd, .events = POLLIN },
	};
	uint8_t code;
	int status;
	char c;

	if (poll(p, 4, -1) < 0)
		return errno == EINTR ? 0 : -1;
	if (p[0].revents & POLLHUP)
		return host_is_gone(port) ? -1 : 0;
	if (p[0].revents && from_host(port, job, f))
		return f->type == FRAME_HELLO ? -2 : -1;
	if (p[1].revents && !to_host(port, job->out, FRAME_STDOUT))
		job->out = -1;
	if (p[2].revents && !to_host(port, job->err, FRAME_STDERR))
		job->err = -1;
	if (!p[3].revents)
		return 0;
	if (read(job->sigfd, &c, 1) < 0 ||
	    waitpid(job->pid, &status, WNOHANG) != job->pid)
		return 0;
	errno = 0;
	drain(port, job);
	code = exit_code(status);
	job->pid = 0;
	frame_send(port, FRAME_EXIT, &code, 1);
	return 1;
}

/*
 * Kills the processes of a session, in whatever process groups: the harness of the
 * selftests gives each test one of its own.  Returns how many were there.
 */
static int kill_session(pid_t sid)
{
	struct dirent *entry;
	DIR *proc = opendir("/proc");
	pid_t pid;
	int n = 0;

	if (!proc)
		return 0;
	while ((entry = readdir(proc))) {
		pid = atoi(entry->d_name);
		if (pid > 0 && getsid(pid) == sid && !kill(pid, SIGKILL))
			n++;
	}
	closedir(proc);
	return n;
}

static void end(struct job *job, const int fds[2])
{
	/* Again, as one may have forked meanwhile; a zombie is its parent's. */
	for (int i = 0; i < 3 && (job->pid || job->stopped); i++)
		if (!kill_session(job->sid))
			break;
	if (job->pid) {
		/* It may have been on its way to a session of its own. */
		kill(job->pid, SIGKILL);
		waitpid(job->pid, NULL, 0);
	}
	if (!job->pty) {
		close_in(job);
		close(fds[1]);
	}
	close(fds[0]);
}

/* Starts the command that the host has asked for. */
static int begin(int port, struct job *job, struct frame *f)
{
	int flags;

	if (f->len < sizeof(struct run_head))
		return -1;
	flags = ((const struct run_head *)f->data)->flags;
	if (flags & RUN_COUNTS)
		let_time_pass(job);
	if (start(job, f))
		return -1;
	job->sid = job->pid;
	if (flags & RUN_NO_INPUT)
		close_in(job);
	return frame_send(port, FRAME_STARTED, "", 0);
}

static int serve(int port, struct job *job, struct frame *f)
{
	int fds[2] = { job->out, job->err };
	int ret;

	do {
		ret = serve_once(port, job, f);
	} while (!ret);
	end(job, fds);
	return ret;
}

/* Runs one command.  Returns -2 if a new session's hello is in f already. */
static int session(int port, struct frame *f)
{
	struct job job = { .sigfd = child_pipe[0] };
	int ret = -1;

	if (frame_send(port, FRAME_HELLO, f->data, COOKIE_LEN))
		return -1;
	/* Not a bare read, which takes an earlier session's close for the end of the file. */
	wait_for_host(port);
	if (frame_recv(port, f) || f->type != FRAME_RUN)
		return f->type == FRAME_HELLO ? -2 : -1;
	if (!begin(port, &job, f))
		ret = serve(port, &job, f);
	if (job.counts)
		count_command("-1");
	return ret;
}

static void serve_port(const char *dev)
{
	struct frame f;
	int port = open(dev, O_RDWR | O_CLOEXEC | O_NOCTTY);
	struct termios t;

	/* A line takes what comes for typed text until we have said otherwise. */
	if (port >= 0 && !tcgetattr(port, &t)) {
		cfmakeraw(&t);
		tcsetattr(port, TCSAFLUSH, &t);
		frame_send(port, FRAME_READY, "", 0);
	}
	if (port < 0 || pipe2(child_pipe, O_CLOEXEC | O_NONBLOCK))
		_exit(1);
	signal(SIGCHLD, on_child);
	signal(SIGPIPE, SIG_IGN);
	for (;;) {
		wait_for_host(port);
		if (frame_recv(port, &f) || f.type != FRAME_HELLO ||
		    f.len != COOKIE_LEN)
			continue;
		while (session(port, &f) == -2)
			;
	}
}

static int is_ours(const char *name)
{
	char path[300], label[64] = "";
	FILE *in;

	snprintf(path, sizeof(path), "/sys/class/virtio-ports/%s/name", name);
	in = fopen(path, "r");
	if (!in)
		return 0;
	if (!fgets(label, sizeof(label), in))
		label[0] = '\0';
	fclose(in);
	return !strncmp(label, "sanx.", 5);
}

static int serve_virtio(void)
{
	DIR *dir = opendir("/sys/class/virtio-ports");
	struct dirent *d;
	char dev[300];

	if (!dir) {
		perror("/sys/class/virtio-ports");
		return -1;
	}
	while ((d = readdir(dir))) {
		if (d->d_name[0] == '.' || !is_ours(d->d_name))
			continue;
		snprintf(dev, sizeof(dev), "/dev/%s", d->d_name);
		if (!fork())
			serve_port(dev);
	}
	closedir(dir);
	return 0;
}

int main(int argc, char **argv)
{
	int i;

	commands = open("/sys/module/time/parameters/commands", O_WRONLY | O_CLOEXEC);
	if (argc < 2 && serve_virtio())
		return 1;
	for (i = 1; i < argc; i++)
		if (!fork())
			serve_port(argv[i]);
	/* To boot was one. */
	count_command("-1");
	while (wait(NULL) > 0 || errno != ECHILD)
		;
	return 1;
}
