// SPDX-License-Identifier: GPL-2.0
/* Socket options, and what tools see of a socket. */
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/stat.h>

#include "sanx_test.h"

/* What programs set without looking must be taken, and be there after. */
SANX_TEST(usual)
{
	static const struct {
		int level;
		int name;
		int value;
	} opt[] = {
		{ SOL_SOCKET, SO_KEEPALIVE, 1 },
		{ SOL_SOCKET, SO_REUSEADDR, 1 },
		{ SOL_SOCKET, SO_PRIORITY, 3 },
		{ SOL_SOCKET, SO_RCVLOWAT, 7 },
		{ SOL_SOCKET, SO_OOBINLINE, 1 },
		{ SOL_SOCKET, SO_TIMESTAMP, 1 },
		{ SOL_SOCKET, SO_BUSY_POLL, 0 },
		{ SOL_TCP, TCP_NODELAY, 1 },
		{ SOL_TCP, TCP_NODELAY, 0 },
		{ SOL_TCP, TCP_CORK, 1 },
		{ SOL_TCP, TCP_CORK, 0 },
		{ SOL_TCP, TCP_KEEPIDLE, 60 },
		{ SOL_TCP, TCP_KEEPINTVL, 10 },
		{ SOL_TCP, TCP_KEEPCNT, 5 },
		{ SOL_TCP, TCP_QUICKACK, 1 },
		{ SOL_TCP, TCP_USER_TIMEOUT, 5000 },
		{ SOL_TCP, TCP_LINGER2, 30 },
		{ SOL_TCP, TCP_NOTSENT_LOWAT, 16384 },
	};
	unsigned int k;

	for (int i = 0; i < 2; i++) {
		for (k = 0; k < ARRAY_SIZE(opt); k++) {
			EXPECT_EQ(0, set_option(self->end[i], opt[k].level,
						opt[k].name, opt[k].value))
				TH_LOG("option %d", opt[k].name);
			EXPECT_EQ(opt[k].value,
				  get_option(self->end[i], opt[k].level,
					     opt[k].name))
				TH_LOG("option %d", opt[k].name);
		}
		EXPECT_EQ(0, set_option(self->end[i], SOL_SOCKET, SO_RCVLOWAT,
					1));
	}
	EXPECT_EQ(3, send(self->client, "abc", 3, 0));
	EXPECT_EQ(POLLIN, poll_one(self->server, POLLIN, SOON));
}

SANX_TEST(ip_options)
{
	int v4 = variant->family == AF_INET, level = v4 ? SOL_IP : SOL_IPV6;
	int name = v4 ? IP_TOS : IPV6_TCLASS;

	for (int i = 0; i < 2; i++) {
		EXPECT_EQ(0, set_option(self->end[i], level, name, 0x10));
		EXPECT_EQ(0x10, get_option(self->end[i], level, name));
	}
	EXPECT_EQ(v4 ? -EOPNOTSUPP : 0,
		  get_option(self->client, SOL_IPV6, IPV6_V6ONLY));
}

/* Before there is a connection. */
SANX_TEST(on_a_fresh_socket)
{
	int fd = client_socket(variant);

	EXPECT_EQ(0, get_option(fd, SOL_SOCKET, SO_ERROR));
	EXPECT_EQ(0, set_option(fd, SOL_TCP, TCP_NODELAY, 1));
	EXPECT_EQ(0, set_option(fd, SOL_SOCKET, SO_KEEPALIVE, 1));
	EXPECT_EQ(0, set_option(fd, SOL_SOCKET, SO_REUSEPORT, 1));
	EXPECT_EQ(0, set_option(fd, SOL_TCP, TCP_DEFER_ACCEPT, 1));
	EXPECT_EQ(0, set_option(fd, SOL_TCP, TCP_SYNCNT, 3));
	EXPECT_EQ(0, set_option(fd, SOL_TCP, TCP_MAXSEG, 1000));
	ASSERT_EQ(0, rc(connect(fd, &self->addr.sa, self->addr.len)));
	EXPECT_EQ(1, get_option(fd, SOL_TCP, TCP_NODELAY));
	EXPECT_EQ(1, get_option(fd, SOL_SOCKET, SO_KEEPALIVE));
	EXPECT_EQ(3, get_option(fd, SOL_TCP, TCP_SYNCNT));
}

SANX_TEST(unknown)
{
	struct {
		int a, b;
	} two;
	socklen_t len = sizeof(int);

	EXPECT_EQ(-ENOPROTOOPT, set_option(self->client, SOL_TCP, 4711, 1));
	EXPECT_EQ(-ENOPROTOOPT, set_option(self->client, SOL_SOCKET, 4711, 1));
	EXPECT_EQ(-ENOPROTOOPT, get_option(self->client, SOL_TCP, 4711));
	EXPECT_EQ(-ENOPROTOOPT, set_option(self->client, 4711, 1, 1));
	EXPECT_EQ(-EINVAL, rc(setsockopt(self->client, SOL_TCP, TCP_NODELAY,
					 &two, 1)));
	EXPECT_EQ(-EFAULT, rc(setsockopt(self->client, SOL_TCP, TCP_NODELAY,
					 (void *)8, sizeof(int))));
	EXPECT_EQ(-EFAULT, rc(getsockopt(self->client, SOL_TCP, TCP_NODELAY,
					 (void *)8, &len)));
}

static int tcp_info_state(int fd)
{
	struct tcp_info info;
	socklen_t len = sizeof(info);

	memset(&info, 0xff, sizeof(info));
	if (getsockopt(fd, SOL_TCP, TCP_INFO, &info, &len))
		return -errno;
	return info.tcpi_state;
}

/* TCP_INFO tells the state, which is what programs ask it for. */
SANX_TEST(tcp_info)
{
	long end = now_ms() + SOON;
	char c;

	EXPECT_EQ(TCP_LISTEN, tcp_info_state(self->listener));
	EXPECT_EQ(TCP_CLOSE, tcp_info_state(client_socket(variant)));
	EXPECT_EQ(TCP_ESTABLISHED, tcp_info_state(self->client));
	EXPECT_EQ(TCP_ESTABLISHED, tcp_info_state(self->server));
	EXPECT_EQ(0, shutdown(self->client, SHUT_WR));
	EXPECT_EQ(0, recv(self->server, &c, 1, 0));
	EXPECT_EQ(TCP_CLOSE_WAIT, tcp_info_state(self->server));
	while (tcp_info_state(self->client) == TCP_FIN_WAIT1 && now_ms() < end)
		sleep_ms(1);
	EXPECT_EQ(TCP_FIN_WAIT2, tcp_info_state(self->client));
	EXPECT_EQ(0, close_reset(self->server));
	EXPECT_LT(0, poll_one(self->client, POLLERR, SOON));
	EXPECT_EQ(TCP_CLOSE, tcp_info_state(self->client));
}

/* A short buffer gets the beginning. */
SANX_TEST(tcp_info_short)
{
	unsigned char buf[4];
	socklen_t len = 1;

	memset(buf, 0xaa, sizeof(buf));
	EXPECT_EQ(0, getsockopt(self->client, SOL_TCP, TCP_INFO, buf, &len));
	EXPECT_EQ(1, len);
	EXPECT_EQ(TCP_ESTABLISHED, buf[0]);
	EXPECT_EQ(0xaa, buf[1]);
	len = 0;
	buf[0] = 0xaa;
	EXPECT_EQ(0, getsockopt(self->client, SOL_TCP, TCP_INFO, buf, &len));
	EXPECT_EQ(0xaa, buf[0]);
}

/* Buffers: what was asked for, doubled, as always on Linux. */
SANX_TEST(buffers)
{
	int fd = client_socket(variant);

	EXPECT_EQ(0, set_option(fd, SOL_SOCKET, SO_RCVBUF, 30000));
	EXPECT_EQ(60000, get_option(fd, SOL_SOCKET, SO_RCVBUF));
	EXPECT_EQ(0, set_option(fd, SOL_SOCKET, SO_SNDBUF, 40000));
	EXPECT_EQ(80000, get_option(fd, SOL_SOCKET, SO_SNDBUF));
	ASSERT_EQ(0, rc(connect(fd, &self->addr.sa, self->addr.len)));
	EXPECT_EQ(60000, get_option(fd, SOL_SOCKET, SO_RCVBUF));
	EXPECT_EQ(0, set_option(fd, SOL_SOCKET, SO_RCVBUF, 50000));
	EXPECT_EQ(100000, get_option(fd, SOL_SOCKET, SO_RCVBUF));
}

/* What a program can find out about a descriptor. */
SANX_TEST(descriptor)
{
	struct stat st;
	int n;

	for (int i = 0; i < 2; i++) {
		ASSERT_EQ(0, fstat(self->end[i], &st));
		EXPECT_TRUE(S_ISSOCK(st.st_mode));
		EXPECT_EQ(O_RDWR, fcntl(self->end[i], F_GETFL) & O_ACCMODE);
		EXPECT_EQ(-ESPIPE, rc(lseek(self->end[i], 0, SEEK_SET)));
		EXPECT_EQ(0, ioctl(self->end[i], FIONBIO, &(int){ 1 }));
		EXPECT_EQ(-EAGAIN, rc(recv(self->end[i], &n, 1, 0)));
	}
	EXPECT_EQ(-ENOTTY, rc(ioctl(self->client, TIOCGWINSZ, &n)));
}

/* Whose connection: there is no peer to have credentials of. */
SANX_TEST(peer_credentials)
{
	struct ucred cred = {};
	socklen_t len = sizeof(cred);

	EXPECT_EQ(0, getsockopt(self->client, SOL_SOCKET, SO_PEERCRED, &cred,
				&len));
	EXPECT_EQ(0, cred.pid);
	EXPECT_EQ(-1, (int)cred.uid);
}

/* What only TCP can do turns a fresh socket into TCP, once and for all. */
SANX_TEST(needs_tcp)
{
	int fd = client_socket(variant);

	EXPECT_EQ(0, set_option(fd, SOL_TCP, TCP_FASTOPEN_CONNECT, 1));
	ASSERT_EQ(0, rc(connect(fd, &self->addr.sa, self->addr.len)));
	EXPECT_EQ(1, send(fd, "x", 1, 0));
	ASSERT_LE(0, rc(accept(self->listener, NULL, NULL)));
	self->fallbacks = 2;
}

/* MSG_FASTOPEN connects and sends in one call. */
SANX_TEST(fastopen)
{
	int fd = client_socket(variant), s;
	char buf[8];

	EXPECT_EQ(4, sendto(fd, "fast", 4, MSG_FASTOPEN, &self->addr.sa,
			    self->addr.len));
	s = rc(accept(self->listener, NULL, NULL));
	ASSERT_LE(0, s);
	EXPECT_EQ(4, recv_exact(s, buf, 4));
	self->fallbacks = 2;
}

/* Signal-driven input. */
static volatile sig_atomic_t ios;

static void count_io(int sig)
{
	ios++;
}

SANX_TEST(sigio)
{
	long end = now_ms() + SOON;

	signal(SIGIO, count_io);
	ios = 0;
	ASSERT_EQ(0, fcntl(self->server, F_SETOWN, getpid()));
	ASSERT_EQ(0, fcntl(self->server, F_SETFL, O_ASYNC));
	EXPECT_EQ(1, send(self->client, "x", 1, 0));
	while (!ios && now_ms() < end)
		sleep_ms(1);
	EXPECT_LT(0, ios);
}

/* The third argument of socket(), and the types that there are. */
TEST(socket_arguments)
{
	static const struct {
		int type;
		int protocol;
		int err;
	} bad[] = {
		{ SOCK_DGRAM, IPPROTO_TCP, -EPROTONOSUPPORT },
		{ SOCK_DGRAM, 255, -EPROTONOSUPPORT },
		{ SOCK_SEQPACKET, 0, -ESOCKTNOSUPPORT },
		{ SOCK_RAW, 0, -ESOCKTNOSUPPORT },
		{ SOCK_STREAM, IPPROTO_UDP, -EPROTONOSUPPORT },
		{ SOCK_STREAM, 255, -EPROTONOSUPPORT },
	};
	int family = node_family(), fd, pair[2];
	unsigned int i;

	ASSERT_LE(0, family)
		TH_LOG("is the module loaded?");
	for (i = 0; i < ARRAY_SIZE(bad); i++)
		EXPECT_EQ(bad[i].err, rc(socket(family, bad[i].type,
						bad[i].protocol)));
	fd = rc(socket(family, SOCK_STREAM, IPPROTO_TCP));
	ASSERT_LE(0, fd);
	EXPECT_EQ(AF_INET, get_option(fd, SOL_SOCKET, SO_DOMAIN));
	EXPECT_EQ(-EOPNOTSUPP, rc(socketpair(family, SOCK_STREAM, 0,
					     pair)));
}

SANX_TEST_MAIN
