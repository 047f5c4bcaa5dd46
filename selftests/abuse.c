// SPDX-License-Identifier: GPL-2.0
/*
 * Calls that make no sense, in orders that nobody has in mind: they may fail
 * as they like, but must leave nothing behind.  Each ends with a connection
 * that has to work, and the kernel's log is read afterwards.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#define DEFAULT_VARIANTS "tcp loop explicit fallback"

#include "sanx_test.h"

#define PORT	7321

static struct sockaddr_in lo(int port)
{
	return (struct sockaddr_in){
		.sin_family = AF_INET,
		.sin_port = htons(port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
}

static int abuse_socket(void)
{
	return stream_socket(true, AF_INET);
}

static int listen_on(int port)
{
	struct sockaddr_in a = lo(port);
	int fd = abuse_socket(), one = 1;

	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(fd, (struct sockaddr *)&a, sizeof(a)) || listen(fd, 4)) {
		close(fd);
		return -1;
	}
	return fd;
}

static int connect_lo(int fd, int port)
{
	struct sockaddr_in a = lo(port);

	return connect(fd, (struct sockaddr *)&a, sizeof(a));
}

static int disconnect(int fd)
{
	struct sockaddr a = { .sa_family = AF_UNSPEC };

	return connect(fd, &a, sizeof(a));
}

/* It may not have come to its system call yet. */
static void interrupt_until_end(pthread_t thread)
{
	while (pthread_tryjoin_np(thread, NULL)) {
		pthread_kill(thread, SIGUSR1);
		usleep(5000);
	}
}

/* A byte there and back by a listener and a client of their own. */
static int works(int port)
{
	int listener = listen_on(port), client = abuse_socket(), server, ok = 0;
	char c = 'x';

	if (listener >= 0 && !connect_lo(client, port)) {
		server = accept(listener, NULL, NULL);
		ok = server >= 0 && write(client, &c, 1) == 1 &&
		     read(server, &c, 1) == 1 && write(server, &c, 1) == 1 &&
		     read(client, &c, 1) == 1;
		close(server);
	}
	close(client);
	close(listener);
	return ok;
}

TEST(fastopen_on_a_listener)
{
	struct sockaddr_in a = lo(PORT + 1);
	int fd = listen_on(PORT);

	ASSERT_GE(fd, 0);
	EXPECT_EQ(-1, sendto(fd, "x", 1, MSG_FASTOPEN | MSG_NOSIGNAL,
			     (struct sockaddr *)&a, sizeof(a)));
	close(fd);
	EXPECT_TRUE(works(PORT));
}

TEST(listener_disconnected)
{
	int fd = listen_on(PORT), client = abuse_socket();

	ASSERT_GE(fd, 0);
	EXPECT_EQ(0, disconnect(fd));
	EXPECT_EQ(-1, connect_lo(client, PORT));
	EXPECT_EQ(ECONNREFUSED, errno);
	close(client);
	setsockopt(fd, IPPROTO_TCP, TCP_ULP, "tls", 3);
	close(fd);
	EXPECT_TRUE(works(PORT));
}

TEST(listener_moved_to_another_port)
{
	struct sockaddr_in a;
	socklen_t len = sizeof(a);
	int fd = abuse_socket(), client = abuse_socket();

	ASSERT_EQ(0, listen(fd, 4));
	ASSERT_EQ(0, disconnect(fd));
	ASSERT_EQ(0, listen(fd, 4));
	ASSERT_EQ(0, getsockname(fd, (struct sockaddr *)&a, &len));
	EXPECT_EQ(0, connect_lo(client, ntohs(a.sin_port)));
	close(client);
	close(fd);
	EXPECT_TRUE(works(PORT));
}

TEST(listener_that_signs)
{
	int fd = listen_on(PORT), client = abuse_socket(), server;
	struct tcp_md5sig sig = { .tcpm_keylen = 3, .tcpm_key = "key" };
	struct sockaddr_in a = lo(0);

	ASSERT_GE(fd, 0);
	a.sin_addr.s_addr = htonl(0x7f000009);	/* somebody else's key */
	memcpy(&sig.tcpm_addr, &a, sizeof(a));
	if (setsockopt(fd, IPPROTO_TCP, TCP_MD5SIG, &sig, sizeof(sig)))
		EXPECT_TRUE(errno == ENOPROTOOPT || errno == EINVAL);
	/* A TCP client of a TCP listener: what it was told to require holds. */
	EXPECT_EQ(0, connect_lo(client, PORT));
	server = accept(fd, NULL, NULL);
	EXPECT_GE(server, 0);
	close(server);
	close(client);
	close(fd);
	EXPECT_TRUE(works(PORT));
}

TEST(connect_to_port_0_twice)
{
	struct sockaddr_in a = lo(0);
	int fd = abuse_socket(), i;

	fcntl(fd, F_SETFL, O_NONBLOCK);
	a.sin_addr.s_addr = htonl(0xc0000201);	/* 192.0.2.1, nobody */
	for (i = 0; i < 3; i++)
		connect(fd, (struct sockaddr *)&a, sizeof(a));
	setsockopt(fd, IPPROTO_TCP, TCP_ULP, "tls", 3);
	close(fd);
	EXPECT_TRUE(works(PORT));
}

TEST(connected_to_oneself_by_scope)
{
	struct sockaddr_in6 a = {
		.sin6_family = AF_INET6, .sin6_port = htons(PORT + 2),
		.sin6_addr = IN6ADDR_LOOPBACK_INIT, .sin6_scope_id = 1,
	};
	int fd = stream_socket(true, AF_INET6), off = AF_INET;

	connect(fd, (struct sockaddr *)&a, sizeof(a));
	setsockopt(fd, IPPROTO_IPV6, IPV6_ADDRFORM, &off, sizeof(off));
	close(fd);
	EXPECT_TRUE(works(PORT));
}

static void *accept_once(void *fd)
{
	close(accept(*(int *)fd, NULL, NULL));
	return NULL;
}

static void nothing(int sig)
{
}

TEST(listener_closed_under_an_interrupted_accept)
{
	struct sigaction sa = { .sa_handler = nothing };
	pthread_t thread;
	int fd, i;

	sigaction(SIGUSR1, &sa, NULL);
	for (i = 0; i < 50; i++) {
		fd = listen_on(PORT);
		ASSERT_GE(fd, 0);
		ASSERT_EQ(0, pthread_create(&thread, NULL, accept_once, &fd));
		usleep(2000);
		close(fd);
		interrupt_until_end(thread);
	}
	EXPECT_TRUE(works(PORT));
}

static void *connect_once(void *fd)
{
	connect_lo(*(int *)fd, PORT);
	return NULL;
}

/* A listener whose backlog is full: connects wait. */
TEST(disconnected_under_a_waiting_connect)
{
	struct sigaction sa = { .sa_handler = nothing };
	int fd = listen_on(PORT), fill[16], fds, i;
	pthread_t a, b;

	sigaction(SIGUSR1, &sa, NULL);
	ASSERT_GE(fd, 0);
	for (i = 0; i < 16; i++) {
		fill[i] = abuse_socket();
		fcntl(fill[i], F_SETFL, O_NONBLOCK);
		connect_lo(fill[i], PORT);
	}
	for (i = 0; i < 10; i++) {
		fds = abuse_socket();
		ASSERT_EQ(0, pthread_create(&a, NULL, connect_once, &fds));
		ASSERT_EQ(0, pthread_create(&b, NULL, connect_once, &fds));
		usleep(5000);
		disconnect(fds);
		shutdown(fds, SHUT_RDWR);
		usleep(5000);
		interrupt_until_end(a);
		interrupt_until_end(b);
		close(fds);
	}
	for (i = 0; i < 16; i++)
		close(fill[i]);
	close(fd);
	EXPECT_TRUE(works(PORT));
}

TEST(connected_and_disconnected_again_and_again)
{
	int fd = listen_on(PORT), client = abuse_socket(), server, i;
	char c = 'x';

	ASSERT_GE(fd, 0);
	for (i = 0; i < 100; i++) {
		ASSERT_EQ(0, connect_lo(client, PORT)) {
			TH_LOG("round %d: %s", i, strerror(errno));
		}
		server = accept(fd, NULL, NULL);
		ASSERT_GE(server, 0);
		EXPECT_EQ(1, write(server, &c, 1));
		EXPECT_EQ(1, read(client, &c, 1));
		ASSERT_EQ(0, disconnect(client));
		close(server);
	}
	close(client);
	close(fd);
	EXPECT_TRUE(works(PORT));
}

TEST(shut_down_while_connecting)
{
	int fd = listen_on(PORT), client, i;

	ASSERT_GE(fd, 0);
	client = abuse_socket();
	fcntl(client, F_SETFL, O_NONBLOCK);
	for (i = 0; i < 20; i++) {
		connect_lo(client, PORT);
		shutdown(client, SHUT_RDWR);
		disconnect(client);
	}
	close(client);
	close(fd);
	EXPECT_TRUE(works(PORT));
}

TEST_HARNESS_MAIN
