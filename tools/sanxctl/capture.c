// SPDX-License-Identifier: GPL-2.0
/*
 * What a command writes to its standard output.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "capture.h"
#include "sanxctl.h"

/* More than the text of any node map: a command that never ends is found out. */
#define CAPTURE_MAX (32U << 20)

/* The child: it ends with its parent, and reads nothing. */
__attribute__((noreturn))
static void child_run(char **argv, int out, pid_t parent)
{
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC);

	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (null < 0 || getppid() != parent)
		_exit(EXIT_FAILURE);
	if (dup2(null, STDIN_FILENO) >= 0 && dup2(out, STDOUT_FILENO) >= 0)
		execvp(argv[0], argv);
	ctl_fail("%s: %s", argv[0], strerror(errno));
	_exit(127);
}

/* Reads up to the end.  The text is terminated by a NUL that does not count. */
static int output_read(const char *name, int fd, char **text, size_t *len)
{
	size_t room = 1 << 16;
	ssize_t got = 1;
	char *more;

	*len = 0;
	*text = malloc(room);
	while (*text && got) {
		if (*len == room - 1) {
			if (room >= CAPTURE_MAX)
				return ctl_fail("%s writes more than a node map can have", name);
			room *= 2;
			more = realloc(*text, room);
			if (!more)
				break;
			*text = more;
		}
		got = read(fd, *text + *len, room - 1 - *len);
		if (got < 0 && errno != EINTR)
			return ctl_fail("%s: %s", name, strerror(errno));
		if (got > 0)
			*len += got;
	}
	if (got)
		return ctl_fail("out of memory");
	(*text)[*len] = '\0';
	return 0;
}

static int child_wait(const char *name, pid_t child)
{
	int status;

	while (waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			return ctl_fail("%s: %s", name, strerror(errno));
	if (WIFSIGNALED(status))
		return ctl_fail("%s was ended by signal %d", name, WTERMSIG(status));
	if (WEXITSTATUS(status))
		return ctl_fail("%s failed with status %d", name, WEXITSTATUS(status));
	return 0;
}

/**
 * capture() - run a command and take its standard output
 * @argv: the command, which is looked for in PATH, and its arguments; ends with NULL
 * @text: set to the output, with a NUL behind it; the caller frees it in any case
 * @len: set to the bytes of the output
 *
 * Return: 0 if the command succeeded; -1 after a message.
 */
int capture(char **argv, char **text, size_t *len)
{
	pid_t parent = getpid(), child;
	int fd[2], rc;

	*text = NULL;
	if (pipe2(fd, O_CLOEXEC))
		return ctl_fail("pipe: %s", strerror(errno));
	child = fork();
	if (!child)
		child_run(argv, fd[1], parent);
	close(fd[1]);
	if (child < 0) {
		close(fd[0]);
		return ctl_fail("fork: %s", strerror(errno));
	}

	rc = output_read(argv[0], fd[0], text, len);
	close(fd[0]);
	if (!rc)
		return child_wait(argv[0], child);
	/* It may ignore SIGTERM, and nobody wants what it has to say. */
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	return rc;
}
