// SPDX-License-Identifier: GPL-2.0
/*
 * SANX_TALLY: what sanx-run --summary counts.  The pair of the fixture is in no tally; those
 * made here are, by a number of their own.
 */
#include <sys/wait.h>

#include "sanx_test.h"

#undef DEFAULT_VARIANTS
#define DEFAULT_VARIANTS "loop fallback"

#define ROWS	16

static uint64_t new_key(void)
{
	static uint64_t last;

	return ++last + ((uint64_t)getpid() << 32);
}

static int join(int fd, uint64_t key, unsigned int each)
{
	struct sanx_tally t = { .key = key, .each = each };

	return rc(setsockopt(fd, SOL_SANX, SANX_TALLY, &t, sizeof(t)));
}

/* A socket that keeps the count. */
static int keeper(const FIXTURE_VARIANT(stream) *v, uint64_t key, unsigned int each)
{
	int fd = stream_socket(true, v->family), err = join(fd, key, each);

	return err ?: fd;
}

/* Return: number of rows, or -errno. */
static int rows(int fd, int option, struct sanx_tally_row *row)
{
	socklen_t len = ROWS * sizeof(*row);
	int err = rc(getsockopt(fd, SOL_SANX, option, row, &len));

	return err ?: (int)(len / sizeof(*row));
}

/* Return: how many connections the row of that transport, and of that reason, counts. */
static int counted(const struct sanx_tally_row *row, int n, const char *transport,
		   const char *fallback)
{
	for (int i = 0; i < n; i++)
		if (!strcmp(row[i].transport, transport) && !strcmp(row[i].fallback, fallback))
			return row[i].conns;
	return 0;
}

/* A pair that is counted, at both ends. */
static void counted_pair(struct __test_metadata *_metadata,
			 const FIXTURE_VARIANT(stream) *variant, uint64_t key, int end[2])
{
	struct address a;
	int l = listen_any(variant, 4, &a);

	ASSERT_LE(0, l);
	ASSERT_EQ(0, join(l, key, 0));
	end[0] = client_socket(variant);
	ASSERT_EQ(0, join(end[0], key, 0));
	ASSERT_EQ(0, rc(connect(end[0], &a.sa, a.len)));
	end[1] = rc(accept(l, NULL, NULL));
	ASSERT_LE(0, end[1]);
	close(l);
}

static const char *transport_of(const FIXTURE_VARIANT(stream) *v)
{
	switch (carried_by(v)) {
	case SANX_A_STATS_CONNS_LOOP:
		return "loop";
	case SANX_A_STATS_CONNS_VERBS:
		return "verbs";
	case SANX_A_STATS_CONNS_TCP_RAIL:
		return "tcp-rail";
	default:
		return "tcp";
	}
}

/* Both ends count when they are closed, with what they carried; or when they become TCP. */
SANX_TEST(sums)
{
	struct sanx_tally_row row[ROWS];
	uint64_t key = new_key();
	int end[2], k, n;
	char few[7];

	k = keeper(variant, key, 0);
	ASSERT_LE(0, k);
	EXPECT_EQ(0, rows(k, SANX_TALLY, row));
	counted_pair(_metadata, variant, key, end);
	if (!is_tcp(variant))
		EXPECT_EQ(0, rows(k, SANX_TALLY, row));
	EXPECT_EQ(0, send_pattern(end[0], 100000, 1000, 0));
	EXPECT_EQ(0, recv_pattern(end[1], 100000, 1000, 0));
	EXPECT_EQ(7, rc(send(end[1], "1234567", 7, 0)));
	EXPECT_EQ(7, rc(recv(end[0], few, sizeof(few), MSG_WAITALL)));
	close(end[0]);
	close(end[1]);
	n = rows(k, SANX_TALLY, row);
	if (is_tcp(variant)) {
		EXPECT_EQ(2, n);
		EXPECT_EQ(1, counted(row, n, "tcp", "port"));
		EXPECT_EQ(1, counted(row, n, "tcp", "accept"));
	} else {
		EXPECT_EQ(1, n);
		EXPECT_EQ(2, counted(row, n, transport_of(variant), ""));
		EXPECT_EQ(100007, row[0].tx_bytes);
		EXPECT_EQ(100007, row[0].rx_bytes);
	}
	/* None of it was kept. */
	EXPECT_EQ(0, rows(k, SANX_TALLY_EACH, row));
	close(k);
	self->fallbacks = ANY_FALLBACKS;
}

/* As many as were asked for are kept, from the first on, with their ends. */
SANX_TEST(each)
{
	struct sanx_tally_row row[ROWS];
	struct address local, remote;
	uint64_t key = new_key();
	int end[2], k;

	k = keeper(variant, key, 3);
	ASSERT_LE(0, k);
	counted_pair(_metadata, variant, key, end);
	ASSERT_EQ(0, local_address(end[0], &local));
	ASSERT_EQ(0, local_address(end[1], &remote));
	close(end[0]);
	close(end[1]);
	ASSERT_EQ(2, rows(k, SANX_TALLY_EACH, row));
	EXPECT_EQ(1, row[0].conns);
	EXPECT_EQ(address_port(&remote), ntohs(row[0].remote_port));
	/* TCP chooses a port when it connects, after the socket has become TCP. */
	if (!is_tcp(variant))
		EXPECT_EQ(address_port(&local), ntohs(row[0].local_port));
	EXPECT_EQ(address_port(&local), ntohs(row[1].remote_port));
	EXPECT_EQ(address_port(&remote), ntohs(row[1].local_port));
	EXPECT_EQ(0, memcmp(row[0].remote, row[1].local, sizeof(row[0].remote)));
	counted_pair(_metadata, variant, key, end);
	close(end[0]);
	close(end[1]);
	EXPECT_EQ(3, rows(k, SANX_TALLY_EACH, row));
	EXPECT_EQ(is_tcp(variant) ? 2 : 1, rows(k, SANX_TALLY, row));
	EXPECT_EQ(is_tcp(variant) ? 2 : 4, row[0].conns);
	close(k);
	self->fallbacks = ANY_FALLBACKS;
}

/* What a child had counts when it is waited for, even one that was killed. */
SANX_TEST(child)
{
	struct sanx_tally_row row[ROWS];
	uint64_t key = new_key();
	int end[2], k, status;
	pid_t pid;

	k = keeper(variant, key, 0);
	ASSERT_LE(0, k);
	pid = fork();
	if (!pid) {
		counted_pair(_metadata, variant, key, end);
		kill(getpid(), SIGKILL);
	}
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	ASSERT_TRUE(WIFSIGNALED(status));
	ASSERT_LE(1, rows(k, SANX_TALLY, row));
	EXPECT_EQ(is_tcp(variant) ? 1 : 2, row[0].conns);
	close(k);
	self->fallbacks = ANY_FALLBACKS;
}

/* One that was given up by AF_UNSPEC counts, and so does what is refused and becomes TCP. */
SANX_TEST(given_up)
{
	struct sockaddr nowhere = { .sa_family = AF_UNSPEC };
	struct sanx_tally_row row[ROWS];
	uint64_t key = new_key();
	struct address deaf;
	int end[2], k, n;

	k = keeper(variant, key, 0);
	ASSERT_LE(0, k);
	counted_pair(_metadata, variant, key, end);
	deaf_address(variant, &deaf);
	EXPECT_EQ(0, rc(connect(end[0], &nowhere, sizeof(nowhere))));
	EXPECT_EQ(-ECONNREFUSED, rc(connect(end[0], &deaf.sa, deaf.len)));
	close(end[0]);
	close(end[1]);
	n = rows(k, SANX_TALLY, row);
	EXPECT_EQ(2, n);
	EXPECT_EQ(is_tcp(variant) ? 0 : 2, counted(row, n, transport_of(variant), ""));
	EXPECT_EQ(is_tcp(variant) ? 0 : 1, counted(row, n, "tcp", "refused"));
	close(k);
	self->fallbacks = ANY_FALLBACKS;
}

/* It is set once, before there is a connection, and read by the socket that was first. */
SANX_TEST(errors)
{
	struct sanx_tally bad[] = {
		{ .key = 0 }, { .key = 1, .each = 1001 }, { .key = 1, .pad = 1 },
	};
	struct sanx_tally_row row[ROWS];
	int fd = stream_socket(true, variant->family), other;
	uint64_t key = new_key();
	socklen_t len;

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		EXPECT_EQ(-EINVAL, rc(setsockopt(fd, SOL_SANX, SANX_TALLY, &bad[i],
						 sizeof(bad[i]))));
	EXPECT_EQ(-EINVAL, rc(setsockopt(fd, SOL_SANX, SANX_TALLY, &bad[0], 15)));
	EXPECT_EQ(-EFAULT, rc(setsockopt(fd, SOL_SANX, SANX_TALLY, NULL, sizeof(bad[0]))));
	EXPECT_EQ(-ENOENT, rows(fd, SANX_TALLY, row));
	EXPECT_EQ(0, join(fd, key, 0));
	other = keeper(variant, key, 0);
	ASSERT_LE(0, other);
	EXPECT_EQ(-EPERM, rows(other, SANX_TALLY, row));
	EXPECT_EQ(-EPERM, rows(other, SANX_TALLY_EACH, row));
	EXPECT_EQ(0, rows(fd, SANX_TALLY, row));
	EXPECT_EQ(-EALREADY, join(fd, key, 0));
	EXPECT_EQ(-EALREADY, join(fd, new_key(), 0));
	len = -1;
	EXPECT_EQ(-EINVAL, rc(getsockopt(fd, SOL_SANX, SANX_TALLY, row, &len)));
	close(fd);
	/* It goes on for those that are left, and nobody reads it any more. */
	fd = keeper(variant, key, 0);
	EXPECT_EQ(-EPERM, rows(fd, SANX_TALLY, row));
	close(fd);
	close(other);
	if (!is_tcp(variant)) {
		EXPECT_EQ(-EISCONN, join(self->client, key, 0));
		EXPECT_EQ(-EISCONN, join(self->server, key, 0));
	} else {
		EXPECT_EQ(-ENOPROTOOPT, join(self->client, key, 0));
	}
}

/* A row that does not fit whole is not written. */
SANX_TEST(room)
{
	struct sanx_tally_row row[2] = { };
	socklen_t len = sizeof(row[0]) - 1;
	uint64_t key = new_key();
	int end[2], k;

	k = keeper(variant, key, 10);
	ASSERT_LE(0, k);
	counted_pair(_metadata, variant, key, end);
	close(end[0]);
	close(end[1]);
	EXPECT_EQ(0, rc(getsockopt(k, SOL_SANX, SANX_TALLY, row, &len)));
	EXPECT_EQ(0, len);
	len = sizeof(row[0]) + 1;
	EXPECT_EQ(0, rc(getsockopt(k, SOL_SANX, SANX_TALLY_EACH, row, &len)));
	EXPECT_EQ(sizeof(row[0]), len);
	EXPECT_EQ(0, row[1].conns);
	EXPECT_EQ(-EFAULT, rc(getsockopt(k, SOL_SANX, SANX_TALLY, NULL, &len)));
	close(k);
	self->fallbacks = ANY_FALLBACKS;
}

SANX_TEST_MAIN
