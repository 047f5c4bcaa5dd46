// SPDX-License-Identifier: GPL-2.0
/*
 * A peer that breaks the protocol, in one way each time it is run.
 *
 *	hostile list
 *	hostile ADDRESS CASE
 *	hostile serves
 *	hostile ADDRESS serve-CASE
 *	hostile ADDRESS obey OURS
 *
 * It asks the node at ADDRESS for a link, with a queue pair of its own, or waits at
 * its own address until it is asked, does what the case says and prints in one word
 * what came of it:
 *
 *	rejected	no link
 *	up		the link answers a PING
 *	down		the link was ended by the other side
 *	open		OPEN_ACK
 *	listener, denied, busy, unmapped, route, limit, welcome
 *				OPEN_REJ, and why
 *	resumed, unknown	RESUME_ACK, RESUME_REJ
 *	reset		a connection was cut off
 *	silent		nothing, for long
 *
 * "obey" does what programs tell it over TCP, for make syz: scripts/syzkaller/syz_sanx.h.
 *
 * The nodes that it claims to be and to ask, and the ports, are two_node/hostile.sh's; US
 * and THEM in the environment are other ids for the two.
 */
#include <arpa/inet.h>
#include <endian.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <linux/types.h>

#include <nettle/hmac.h>
#include <rdma/rdma_cma.h>
#include <rdma/rdma_verbs.h>

#include "lib/util.h"

#define SERVICE		"659"
#define MAGIC		0x534e5831
#define VERSION		8
#define REJECT_TIE	0x534e5854
#define US		2	/* node ids */
#define THEM		1
#define HOLD_PORT	5001	/* accepts, and neither reads nor writes */
#define ECHO_PORT	5002
#define DENIED_PORT	5003
#define LOCAL_PORT	5004	/* listens on 127.0.0.1 only */
#define FEW_PORT	5005	/* has a backlog of 2 */
#define LATE_PORT	5007	/* an echo that begins when there is READ_FILE */
#define PACKET_PORT	5008	/* of explicit sockets of records, which are answered */
#define NO_PORT		5009
/* An explicit socket of datagrams: the answers go by the first implicit connection. */
#define MESSAGE_FROM	0x40000000
/*
 * A datagram socket that sends back what it gets, and a port to which the answers go by the
 * first of the implicit connections (carrier_nr()).
 */
#define DGRAM_PORT	5090
#define DGRAM_FROM	7

#define DEPTH		128	/* of both queues */
#define RECVS		64
#define SLOT		512
#define KEY		32
#define PROOF		16
#define RING_SIZE		65536
#define FIRST		1024	/* what may be sent to whom has no ring */
/* While it is there, "mute" answers. */
#define ANSWER_FILE	"/tmp/hostile.answer"
/* In a folder of all nodes. */
#define READ_FILE	"/share/hostile.read"

enum {
	DATA = 1, CREDIT, FIN, CLOSE, CLOSE_ACK, OPEN, OPEN_ACK, OPEN_REJ, PING, PONG,
	RESUME, RESUME_ACK, RESUME_REJ, RING, LEAVE, AUTH
};

#define IN_RING		0x01
#define RESET		0x02
#define GEN(nr)		((nr) << 6)
#define FULL		0x20
#define ASK		0x10
#define ID		UINT32_MAX	/* in a case: the id that we were told */

/* On the wire, little endian; none of them has holes. */
struct wire_hello {
	__u32 magic;
	__u16 version, inline_max;
	__u32 from, to;
	__u64 instance, nonce;
	__u16 recvs;
	__u8 lane, rail;
	__u16 features, keys;
	__u8 proof[PROOF];
};

/* What both ends know of a link, under a label. */
struct wire_text {
	char label[8];
	struct in6_addr active, passive;
	__u32 active_qpn, passive_qpn;
	struct wire_hello ask, answer;
};

struct wire_header {
	__u8 type, flags;
	__u16 len;
	__u32 conn;
	__u64 offset, credit;
	__u32 count, grant;
};

struct wire_window {
	__u64 addr;
	__u32 rkey, size;
};

struct wire_open {
	struct in6_addr src, dst;
	__u16 sport, dport;
	__u32 conn;
	struct wire_window window;
};

struct wire_open_ack {
	__u32 conn, reserved;
	struct wire_window window;
};

struct wire_resume {
	struct wire_open_ack ack;
	__u64 token;
};

/* What is wrong about the set-up of a link, besides what the hello says. */
enum wrong {
	NOTHING,
	PROOF_OF_ASK,		/* the proof in the request */
	OLD_ASK,		/* the request was made with another queue pair */
	PROOF_OF_AUTH,		/* the proof in AUTH */
	REFLECTED,		/* AUTH has the proof of the reply */
	NO_AUTH,		/* a PING comes first */
	PROOF_OF_ANSWER,	/* the proof in the reply */
	OLD_ANSWER,		/* the reply is to another request */
	NO_ANSWER		/* the reply has no private data */
};

/* @keys: of which there are proofs, besides what $KEY makes it. */
struct hello {
	__u32 magic;
	__u16 version, keys;
	__u32 from, to;
	__u16 recvs, inline_max;
	__u8 lane;
	__u64 instance;
	__u8 rail;
	__u16 features;
	enum wrong wrong;
};

/* @bytes: of the whole frame, if it is not that of header and @len. */
struct frame {
	__u8 type, flags;
	__u16 len;
	__u32 conn;
	__u64 offset, credit;
	__u32 count, grant;
	__u16 bytes;
};

/*
 * @src, @dst: this side's and the other's address, if NULL; @size: 0 and no
 * @addr: no ring; @offset: RESUME; @nr: RING, RESUME: number of the generation;
 * @credit: of them, if it is not what an unread ring makes it; @token: of RESUME,
 * added to the true one; @old: that is for the link of the OPEN, and not for this one.
 */
struct request {
	const char *src, *dst;
	__u16 sport, dport;
	__u32 conn;
	__u64 addr;
	__u32 size;
	__u16 len;
	__u64 offset;
	__u32 nr;
	__u64 credit;
	__u64 token;
	bool old;
};

/*
 * @at: from the ring's start; @key: to add to the key; @late: after CLOSE; @len:
 * bytes, of one that tells of itself.
 */
struct write {
	__s64 at;
	__u32 key;
	bool late;
	__u32 len;
};

/*
 * A datagram.  @sport: of the OPEN, if not 1; @more: added to the length that the header says;
 * @gso, @reserved: of the header; @total, @frag, @src, @dst, @no_port: of the packet, where it
 * is not as it should be; @breaks: the connection does not survive it.
 */
struct record {
	__u16 sport;
	__s32 more;
	__u16 gso, reserved;
	__s16 total;
	__u16 frag;
	const char *src, *dst;
	bool no_port;
	bool breaks;
};

/*
 * A datagram between explicit sockets, from @node to @to_node, from @port to @to_port; with -1
 * for 0, and 0 for what is right.  @type and @to_type are UDP's ports, @foreign that the source is
 * another address, and @empty that there is no payload.
 */
struct message {
	int node, port, type, to_node, to_port, to_type, gso;
	bool foreign, empty;
};

/* A record of SOCK_SEQPACKET: as its header says; @bytes: how many are behind it. */
struct packet {
	__u32 len, flags, bytes;
};

struct test {
	const char *name;
	const char *(*run)(const struct test *t);
	struct hello hello;
	struct request open;
	struct request told;
	struct write write;
	struct record record;
	struct packet packet;
	struct message message;
	struct frame frames[8];
};

static const struct hello good_hello = { MAGIC, VERSION, 0, US, THEM, RECVS, 256, 0, 99 };
static const struct request good_open = {
	.sport = 999, .dport = HOLD_PORT, .conn = 7, .size = RING_SIZE, .len = 56,
	.nr = 1,
};

static const char *address;
/* Asks from a port that any user has, as a program without privileges must. */
static bool any_port;
static struct rdma_cm_id *id;
static struct ibv_mr *mr, *recv_mr;
static char recvs[RECVS][SLOT], sends[DEPTH][SLOT];
static unsigned int sent, posted;
static long held = -1;		/* receive of the frame that await() has returned */
static __u32 ring = RING_SIZE;	/* what we said that ours is */
/* How long to wait for the other side, in ms: no case is decided by it. */
static long patience = 3 * SOON;

/* The key that the two nodes share: $KEY, in hex digits; or none. */
static __u8 key[KEY];
static bool has_key;
/* What tokens are made with: of this link, and of the one that @conn was opened on. */
static __u64 link_key[2], conn_key[2];
/* The proof that AUTH has to have. */
static __u8 auth_wanted[PROOF];

/* What OPEN_ACK told. */
static __u32 conn;
static struct wire_window window;

static void die(const char *what)
{
	perror(what);
	exit(2);
}

static void tell(const char *word)
{
	puts(word);
	fflush(stdout);
}

static void post_recv(unsigned long i)
{
	if (rdma_post_recv(id, (void *)i, recvs[i], SLOT, recv_mr))
		die("receive");
	posted++;
}

/* What await() has returned was processed: the next grant says so. */
static void release(void)
{
	if (held >= 0)
		post_recv(held);
	held = -1;
}

/*
 * Each id has a reserved port of its own, because those of earlier ones may still be
 * there.
 */
static void from_reserved_port(struct rdma_addrinfo *ai)
{
	static struct sockaddr_in src = { .sin_family = AF_INET };
	static unsigned int n;

	src.sin_port = htons(1023 - n++);
	ai->ai_src_addr = (struct sockaddr *)&src;
	ai->ai_src_len = sizeof(src);
}

static const struct ibv_qp_init_attr qp_attr = {
	.cap = {
		.max_send_wr = DEPTH, .max_recv_wr = DEPTH,
		.max_send_sge = 1, .max_recv_sge = 1,
	},
	.qp_type = IBV_QPT_RC,
	.sq_sig_all = 1,
};

/* Registers memory for a new queue pair, and posts all receives. */
static void start_receiving(void)
{
	unsigned long i;

	recv_mr = rdma_reg_msgs(id, recvs, sizeof(recvs));
	mr = rdma_reg_msgs(id, sends, sizeof(sends));
	if (!recv_mr || !mr)
		die("register");
	held = -1;
	for (posted = i = 0; i < RECVS; i++)
		post_recv(i);
}

static void make_id(void)
{
	struct rdma_addrinfo hints = { .ai_port_space = RDMA_PS_TCP }, *ai;
	struct ibv_qp_init_attr attr = qp_attr;

	if (rdma_getaddrinfo(address, SERVICE, &hints, &ai))
		die(address);
	if (!any_port)
		from_reserved_port(ai);
	if (rdma_create_ep(&id, ai, NULL, &attr))
		die(address);
	start_receiving();
}

/* Was it rejected for the other side's request, which is under way? */
static bool was_tie(void)
{
	__le32 word;

	if (!id->event || id->event->param.conn.private_data_len < sizeof(word))
		return false;
	memcpy(&word, id->event->param.conn.private_data, sizeof(word));
	return le32toh(word) == REJECT_TIE;
}

static void take_key(void)
{
	const char *hex = getenv("KEY");
	unsigned int i, byte;

	has_key = hex;
	for (i = 0; hex && i < sizeof(key); i++) {
		if (sscanf(hex + 2 * i, "%2x", &byte) != 1)
			die("KEY");
		key[i] = byte;
	}
}

static void map_sockaddr(struct in6_addr *to, const struct sockaddr *sa)
{
	memset(to, 0, sizeof(*to));
	to->s6_addr[10] = 0xff;
	to->s6_addr[11] = 0xff;
	memcpy(&to->s6_addr[12], &((const struct sockaddr_in *)sa)->sin_addr, 4);
}

/* The MAC of what is known of the link. */
static void prove(const struct wire_text *text, const char *label, __u8 *mac)
{
	struct hmac_sha256_ctx ctx;
	struct wire_text t = *text;

	memcpy(t.label, label, sizeof(t.label));
	hmac_sha256_set_key(&ctx, sizeof(key), key);
	hmac_sha256_update(&ctx, sizeof(t), (const __u8 *)&t);
	hmac_sha256_digest(&ctx, SHA256_DIGEST_SIZE, mac);
}

/* @name: of a variable that has it, if it is another. */
static __u32 node_id(__u32 known, const char *name)
{
	const char *other = getenv(name);

	return other ? atoi(other) : known;
}

static void fill_hello(struct wire_hello *wire, const struct hello *h)
{
	static __u64 nonce;

	*wire = (struct wire_hello){
		.magic		= htole32(h->magic),
		.version	= htole16(h->version),
		.inline_max	= htole16(h->inline_max),
		.from		= htole32(h->from == US ? node_id(US, "US") : h->from),
		.to		= htole32(h->to == THEM ? node_id(THEM, "THEM") : h->to),
		.instance	= htole64(h->instance),
		.nonce		= htole64(++nonce),
		.recvs		= htole16(h->recvs),
		.lane		= h->lane,
		.rail		= h->rail,
		.features	= htole16(h->features),
		.keys		= htole16(h->keys + has_key),
	};
}

static void make_ask(struct wire_text *t, const struct hello *h)
{
	__u8 mac[SHA256_DIGEST_SIZE];

	memset(t, 0, sizeof(*t));
	map_sockaddr(&t->active, rdma_get_local_addr(id));
	map_sockaddr(&t->passive, rdma_get_peer_addr(id));
	t->active_qpn = htole32(id->qp->qp_num + (h->wrong == OLD_ASK));
	fill_hello(&t->ask, h);
	prove(t, "request", mac);
	memcpy(t->ask.proof, mac, PROOF / 2);
	t->ask.proof[0] ^= h->wrong == PROOF_OF_ASK;
}

/* Return: whether the reply is that of who has the key. */
static bool take_answer(struct wire_text *t, __u8 *auth)
{
	const struct rdma_conn_param *p = &id->event->param.conn;
	__u8 mac[SHA256_DIGEST_SIZE], proof[PROOF];

	memcpy(&t->answer, p->private_data, sizeof(t->answer));
	t->passive_qpn = htole32(p->qp_num);
	memcpy(proof, t->answer.proof, PROOF);
	memset(t->answer.proof, 0, PROOF);
	prove(t, "confirm", mac);
	memcpy(auth, mac, PROOF);
	prove(t, "resumes", mac);
	memcpy(link_key, mac, sizeof(link_key));
	prove(t, "answers", mac);
	memcpy(t->answer.proof, proof, PROOF);
	return !memcmp(mac, proof, PROOF);
}

/*
 * Asks for a link; false if that is rejected.  The other side may be about to ask for
 * one, too, where a connection of an earlier case was left without; nobody listens
 * to that here.
 */
static bool link_ask(const struct hello *h, struct wire_text *t)
{
	long end = now_ms() + patience;
	struct rdma_conn_param param = {
		.private_data		= &t->ask,
		.private_data_len	= sizeof(t->ask),
		.retry_count		= 6,
		.rnr_retry_count	= 7,
		.initiator_depth	= 1,
		.responder_resources	= 1,
	};

	for (;;) {
		make_id();
		make_ask(t, h);
		if (!rdma_connect(id, &param))
			return true;
		if (errno != ECONNREFUSED)
			die("connect");
		if (!was_tie() || now_ms() > end)
			return false;
		sleep_ms(20);
	}
}

static void post(const struct frame *f, const void *body);

static bool link_up(const struct hello *h)
{
	static const struct frame f = { .type = AUTH, .len = PROOF };
	struct wire_text t;
	__u8 auth[PROOF];

	if (!link_ask(h, &t))
		return false;
	if (!take_answer(&t, auth)) {
		puts("the reply proves nothing");
		exit(2);
	}
	auth[0] ^= h->wrong == PROOF_OF_AUTH;
	if (h->wrong == REFLECTED)
		memcpy(auth, t.answer.proof, PROOF);
	if (h->wrong != NO_AUTH)
		post(&f, auth);
	return true;
}

static __u64 rotl(__u64 x, int b)
{
	return x << b | x >> (64 - b);
}

static void sip_round(__u64 v[4])
{
	v[0] += v[1];
	v[1] = rotl(v[1], 13) ^ v[0];
	v[0] = rotl(v[0], 32);
	v[2] += v[3];
	v[3] = rotl(v[3], 16) ^ v[2];
	v[0] += v[3];
	v[3] = rotl(v[3], 21) ^ v[0];
	v[2] += v[1];
	v[1] = rotl(v[1], 17) ^ v[2];
	v[2] = rotl(v[2], 32);
}

/* SipHash-2-4, with the key @k, of 24 bytes: @link, and who shows it of which connection. */
static __u64 token_of(const __u64 *k, const __u64 *link, __u32 opener, __u32 acceptor)
{
	__u64 k0 = le64toh(k[0]), k1 = le64toh(k[1]);
	__u64 v[4] = {
		k0 ^ 0x736f6d6570736575, k1 ^ 0x646f72616e646f6d,
		k0 ^ 0x6c7967656e657261, k1 ^ 0x7465646279746573,
	};
	__u64 m[4] = {
		le64toh(link[0]), le64toh(link[1]),
		(__u64)acceptor << 32 | opener, 24ULL << 56,
	};
	int i;

	for (i = 0; i < 4; i++) {
		v[3] ^= m[i];
		sip_round(v);
		sip_round(v);
		v[0] ^= m[i];
	}
	v[2] ^= 0xff;
	for (i = 0; i < 4; i++)
		sip_round(v);
	return v[0] ^ v[1] ^ v[2] ^ v[3];
}

/* Nobody needs completions of what was sent, but their queue has an end. */
static void forget_sent(void)
{
	struct ibv_wc wc;

	while (ibv_poll_cq(id->send_cq, 1, &wc) > 0)
		;
}

/* Nothing is waited for: what becomes of it is seen by what comes back. */
static void post(const struct frame *f, const void *body)
{
	char *buf = sends[sent++ % DEPTH];
	struct wire_header h;

	forget_sent();
	release();
	h = (struct wire_header){
		.type	= f->type,
		.flags	= f->flags,
		.len	= htole16(f->len),
		.conn	= htole32(f->conn == ID ? conn : f->conn),
		.offset	= htole64(f->offset),
		.credit	= htole64(f->credit),
		.count	= htole32(f->count),
		.grant	= htole32(f->grant ?: posted),
	};

	if (!f->credit && f->type >= DATA && f->type <= FIN)
		h.credit = htole64(ring);
	memcpy(buf, &h, sizeof(h));
	if (body)
		memcpy(buf + sizeof(h), body, f->len);
	if (rdma_post_send(id, NULL, buf, f->bytes ?: sizeof(h) + f->len, mr, 0))
		die("send");
}

static bool was_ended(void)
{
	struct pollfd p = { .fd = id->channel->fd, .events = POLLIN };
	struct rdma_cm_event *ev;

	if (poll(&p, 1, 1) <= 0)
		return false;
	if (rdma_get_cm_event(id->channel, &ev))
		die("event");
	return ev->event == RDMA_CM_EVENT_DISCONNECTED;
}

/*
 * Waits for a frame of type @type, or @other, and returns it, to be used before the
 * next call or the next frame that is posted; NULL when the link has ended, with
 * *@word saying so.  A disconnect may get lost: what is sent then fails, and takes
 * the receives with it.
 */
static const struct wire_header *await(int type, int other, const char **word)
{
	const struct wire_header *h;
	long end = now_ms() + patience;
	struct ibv_wc wc;

	release();
	*word = "down";
	while (now_ms() < end) {
		if (ibv_poll_cq(id->recv_cq, 1, &wc) > 0) {
			if (wc.status)
				return NULL;
			h = (const struct wire_header *)recvs[wc.wr_id];
			held = wc.wr_id;
			if (h->type == type || h->type == other)
				return h;
			release();
		} else if (was_ended()) {
			return NULL;
		}
	}
	*word = "silent";
	return NULL;
}

/* Frames are taken in order, so that a PONG vouches for all before it. */
static const char *link_state(void)
{
	static const struct frame ping = { .type = PING };
	const char *word;

	post(&ping, NULL);
	return await(PONG, PONG, &word) ? "up" : word;
}

/*
 * Waits until what the other side has sent is acknowledged there: until it has asked, with
 * a PING that its device has delivered, and has taken the grant of the answer.
 */
static const char *settle(void)
{
	static const struct frame pong = { .type = PONG };
	const char *word;

	if (!await(PING, PING, &word))
		return word;
	post(&pong, NULL);
	return link_state();
}

/* Writes where the other side takes a ring back, until that has been done. */
static const char *write_on(__u64 addr, __u32 rkey)
{
	long end = now_ms() + patience;
	const char *word;

	for (;;) {
		if (rdma_post_write(id, NULL, sends[DEPTH - 1], 64, mr, 0, addr, rkey))
			die("write");
		word = link_state();
		if (strcmp(word, "up") || now_ms() > end)
			return word;
		sleep_ms(20);
	}
}

static void map_address(struct in6_addr *to, const char *text)
{
	map_sockaddr(to, rdma_get_local_addr(id));
	if (!text)
		return;
	memset(&to->s6_addr[12], 0, 4);
	if (strchr(text, ':') ? inet_pton(AF_INET6, text, to) != 1 :
				     inet_pton(AF_INET, text, &to->s6_addr[12]) != 1)
		die(text);
}

static void post_open(const struct request *r)
{
	struct frame f = { .type = OPEN, .len = r->len };
	char body[SLOT] = "";
	struct wire_open o = {
		.sport	= htons(r->sport),
		.dport	= htons(r->dport),
		.conn	= htole32(r->conn),
		.window	= {
			htole64(r->addr), htole32(r->size || r->addr),
			htole32(r->size),
		},
	};

	map_address(&o.src, r->src);
	map_address(&o.dst, r->dst ?: address);
	memcpy(body, &o, sizeof(o));
	ring = r->size ?: FIRST;
	post(&f, body);
}

static const char *open_answer(void)
{
	static const char * const why[8] = {
		"?", "listener", "denied", "busy", "unmapped", "route", "limit", "welcome",
	};
	const struct wire_header *h;
	struct wire_open_ack ack;
	const char *word;

	h = await(OPEN_ACK, OPEN_REJ, &word);
	if (!h)
		return word;
	if (h->type == OPEN_REJ)
		return why[le32toh(h->count) & 7];
	memcpy(&ack, h + 1, sizeof(ack));
	conn = le32toh(ack.conn);
	memcpy(conn_key, link_key, sizeof(conn_key));
	window = ack.window;
	return "open";
}

static const char *try_hello(const struct test *t)
{
	return link_up(&t->hello) ? link_state() : "rejected";
}

static const char *try_port(const struct test *t)
{
	any_port = true;
	return try_hello(t);
}

/*
 * As many links as there can be without a first frame, and then one more as soon as
 * they are given up.
 */
static const char *try_half_open(const struct test *t)
{
	static char word[64];
	long end = now_ms() + patience;
	struct wire_text text;
	int n = 0;

	while (n < 200 && link_ask(&t->hello, &text))
		n++;
	while (!link_ask(&t->hello, &text)) {
		if (now_ms() > end)
			return "late";
		sleep_ms(500);
	}
	snprintf(word, sizeof(word), "%d again", n);
	return word;
}

static bool link_up_soon(void)
{
	long end = now_ms() + patience;

	while (!link_up(&good_hello)) {
		if (now_ms() > end)
			return false;
		sleep_ms(100);
	}
	return true;
}

/*
 * As many links as there can be, one after the other, and then one more as soon as there
 * may be: SETUPS a second, and at first those of one second.
 */
#define SETUPS	1

static const char *try_setups(const struct test *t)
{
	long start = now_ms();
	int n = 0;

	if (!link_up_soon())
		return "rejected";
	do {
		rdma_disconnect(id);
		n++;
	} while (now_ms() < start + patience && link_up(&good_hello));
	if (n > SETUPS + 1 + SETUPS * (now_ms() - start) / 1000)
		return "unlimited";
	return link_up_soon() ? "limited again" : "limited";
}

static const char *post_frames(const struct frame *f)
{
	static const char body[SLOT] = "hello...";

	for (; f->type || f->bytes; f++)
		post(f, f->len ? body : NULL);
	return link_state();
}

static const char *try_frames(const struct test *t)
{
	return link_up(&good_hello) ? post_frames(t->frames) : "rejected";
}

static const char *try_open(const struct test *t)
{
	if (!link_up(&good_hello))
		return "rejected";
	post_open(&t->open);
	return open_answer();
}

static void put_address(char *to, const char *text)
{
	struct in6_addr a;

	map_address(&a, text);
	memcpy(to, &a.s6_addr[12], 4);
}

/* Return: its bytes. */
static size_t put_record(char *buf, const struct record *r)
{
	static const char payload[8] = "hello..";
	const int len = 36;
	__u32 head = htole32(len + r->more);
	__u16 half[] = { htole16(r->gso), htole16(r->reserved) };
	__u8 ip[12] = { 0x45, 0, 0, len + r->total, 0, 0, r->frag >> 8, r->frag, 64, 17 };
	__u16 udp[4] = { htons(DGRAM_FROM), htons(r->no_port ? 0 : DGRAM_PORT), htons(16) };

	memcpy(buf, &head, 4);
	memcpy(buf + 4, half, 4);
	memcpy(buf + 8, ip, 12);
	put_address(buf + 20, r->src);
	put_address(buf + 24, r->dst ?: address);
	memcpy(buf + 28, udp, 8);
	memcpy(buf + 36, payload, 8);
	return 8 + len;
}

/* Asks for an implicit connection.  Return: "open", or what came of it. */
static const char *open_implicit(int number)
{
	struct request r = good_open;

	if (!link_up(&good_hello))
		return "rejected";
	r.sport = number;
	r.dport = 0;
	post_open(&r);
	return open_answer();
}

/* Sends bytes in the stream.  Return: whether they were answered. */
static const char *post_bytes(const char *body, size_t len)
{
	struct frame f = { .type = DATA, .conn = ID, .len = len, .count = len };
	const struct wire_header *h;
	const char *word;

	post(&f, body);
	h = await(DATA, CLOSE, &word);
	return !h ? word : h->type == CLOSE ? "reset" : "answered";
}

/* A datagram, and behind it a good one, which is answered; or the connection is reset. */
static const char *try_record(const struct test *t)
{
	const char *word = open_implicit(t->record.sport ?: 1);
	static const struct record good;
	char body[SLOT];
	size_t len;

	if (strcmp(word, "open"))
		return word;
	len = put_record(body, &t->record);
	if (!t->record.breaks)
		len += put_record(body + len, &good);
	return post_bytes(body, len);
}

static int or_else(int value, int otherwise)
{
	return value < 0 ? 0 : value ?: otherwise;
}

/* The address of an explicit end. */
static void put_end(char *to, int port, int node)
{
	__u32 words[4] = { htonl(0x01000000), 0, htonl(port), htonl(node) };

	memcpy(to, words, sizeof(words));
}

/* Return: its bytes. */
static size_t put_message(char *buf, const struct message *m)
{
	const int payload = m->empty ? 0 : 8, len = 48 + payload;
	__u32 head = htole32(len);
	__u16 half[] = { htole16(m->gso), 0 };
	__u8 ip[8] = { 0x60, 0, 0, 0, 0, 8 + payload, 17, 64 };
	__u16 udp[4] = { htons(or_else(m->type, SOCK_DGRAM)),
			 htons(or_else(m->to_type, SOCK_DGRAM)), htons(8 + payload) };

	memcpy(buf, &head, 4);
	memcpy(buf + 4, half, 4);
	memcpy(buf + 8, ip, 8);
	put_end(buf + 16, or_else(m->port, MESSAGE_FROM), or_else(m->node, US));
	if (m->foreign)
		buf[23] = 1;
	put_end(buf + 32, or_else(m->to_port, PACKET_PORT), or_else(m->to_node, THEM));
	memcpy(buf + 48, udp, 8);
	memcpy(buf + 56, "hello..", payload);
	return 8 + len;
}

/* Likewise, between explicit sockets. */
static const char *try_message(const struct test *t)
{
	const char *word = open_implicit(1);
	static const struct message good;
	char body[SLOT];
	size_t len;

	if (strcmp(word, "open"))
		return word;
	len = put_message(body, &t->message);
	len += put_message(body + len, &good);
	return post_bytes(body, len);
}

/* An end of an explicit socket. */
static const char *put_explicit(char text[INET6_ADDRSTRLEN], __u32 node, __u32 port)
{
	snprintf(text, INET6_ADDRSTRLEN, "100::%x:%x:%x:%x", port >> 16, port & 0xffff,
		 node >> 16, node & 0xffff);
	return text;
}

/* A record, and then the end of the stream. */
static const char *try_packet(const struct test *t)
{
	const __le32 head[] = { htole32(t->packet.len), htole32(t->packet.flags) };
	char src[INET6_ADDRSTRLEN], dst[INET6_ADDRSTRLEN], body[SLOT] = "";
	struct frame f = { .type = DATA, .conn = ID }, fin = { .type = FIN, .conn = ID };
	struct request r = good_open;
	const struct wire_header *h;
	const char *word;

	if (!link_up(&good_hello))
		return "rejected";
	r.src = put_explicit(src, US, 0x40000001);
	r.dst = put_explicit(dst, THEM, PACKET_PORT);
	r.sport = SOCK_SEQPACKET;
	r.dport = SOCK_SEQPACKET;
	post_open(&r);
	word = open_answer();
	if (strcmp(word, "open"))
		return word;
	memcpy(body, head, sizeof(head));
	f.len = sizeof(head) + t->packet.bytes;
	f.count = f.len;
	post(&f, body);
	fin.offset = f.len;
	post(&fin, NULL);
	h = await(DATA, CLOSE, &word);
	return !h ? word : h->type == CLOSE ? "reset" : "answered";
}

/* A connection on a link that is for none. */
static const char *try_standby(const struct test *t)
{
	if (!link_up(&t->hello))
		return "rejected";
	post_open(&good_open);
	return open_answer();
}

/*
 * A connection to @port, with a ring of @size bytes or none; NULL, or what
 * happened instead.
 */
static const char *make_conn_of(__u16 port, __u32 size)
{
	struct request r = good_open;
	const char *word;

	if (!link_up(&good_hello))
		return "rejected";
	r.dport = port;
	r.size = size;
	post_open(&r);
	word = open_answer();
	return strcmp(word, "open") ? word : NULL;
}

static const char *make_conn(__u16 port)
{
	return make_conn_of(port, RING_SIZE);
}

/* Waits for RING number @nr, and takes its window. */
static const char *await_ring(__u32 nr)
{
	const struct wire_header *h;
	struct wire_open_ack told;
	const char *word;

	h = await(RING, RING, &word);
	if (!h)
		return word;
	if (le32toh(h->count) != nr)
		return "number";
	memcpy(&told, h + 1, sizeof(told));
	window = told.window;
	return NULL;
}

/*
 * A connection with a ring of ours of @size bytes, or none, over which so much was
 * sent that there is a ring to write.
 */
static const char *make_ring_of(__u16 port, __u32 size)
{
	static const char body[SLOT] = "hello...";
	struct frame f = { .type = DATA, .conn = ID, .len = 256, .count = 256 };
	const char *word = make_conn_of(port, size);

	if (word)
		return word;
	if (window.addr || window.rkey || window.size)
		return "window";
	for (; f.offset < 3 * 256; f.offset += 256)
		post(&f, body);
	return await_ring(1);
}

static const char *make_ring(__u16 port)
{
	return make_ring_of(port, RING_SIZE);
}

static const char *try_ring(const struct test *t)
{
	return make_ring(HOLD_PORT) ?: post_frames(t->frames);
}

static const struct frame leave = {
	.type = LEAVE, .conn = ID, .offset = 768, .count = 1,
};

/* Nobody has read: the ring stays, and is the next generation. */
static const char *try_leave(const struct test *t)
{
	const char *word = make_ring(HOLD_PORT);
	struct wire_window before = window;

	if (word)
		return word;
	post(&leave, NULL);
	word = await_ring(2);
	if (word)
		return word;
	if (memcmp(&before, &window, sizeof(before)))
		return "window";
	return post_frames(t->frames);
}

/*
 * All was read, and comes back in frames: there is no ring any more.  With
 * @t->write.late, it is written all the same.
 */
static const char *try_leave_read(const struct test *t)
{
	static const struct frame used = {
		.type = DATA, .flags = GEN(1), .conn = ID, .len = 8, .count = 8,
		.offset = 768,
	};
	const struct wire_header *h;
	struct wire_window before;
	struct frame left = leave;
	const char *word;
	__u64 read = 0;

	/* There is no ring if a reader has it all at once. */
	unlink(READ_FILE);
	word = make_ring_of(LATE_PORT, 0);
	before = window;
	if (word)
		return word;
	/* The queue is where the ring is from here on, and then empty. */
	post(&used, "hello...");
	if (close(creat(READ_FILE, 0644)))
		die(READ_FILE);
	for (left.offset += used.count; read < left.offset; read += le32toh(h->count)) {
		h = await(DATA, DATA, &word);
		if (!h)
			return word;
	}
	post(&left, NULL);
	word = await_ring(2);
	if (word)
		return word;
	if (window.size)
		return "window";
	if (!t->write.late)
		return post_frames(t->frames);
	/* It is taken back when the reader has left it. */
	return write_on(le64toh(before.addr), le32toh(before.rkey));
}

/* Of RING and RESUME. */
static __u64 credit_of(const struct request *r)
{
	return r->credit ?: r->size ?: FIRST;
}

/* Tells of our ring, after an OPEN that had one or had none. */
static const char *try_told(const struct test *t)
{
	struct frame f = {
		.type = RING, .conn = ID, .len = 24, .count = t->told.nr,
		.credit = credit_of(&t->told),
	};
	struct wire_open_ack body = {
		.conn = htole32(t->told.conn),
		.window = {
			htole64(t->told.addr),
			htole32(t->told.size || t->told.addr),
			htole32(t->told.size),
		},
	};
	const char *word = make_conn_of(HOLD_PORT, t->open.size);

	if (word)
		return word;
	post(&f, &body);
	return post_frames(t->frames);
}

static const char *try_conn(const struct test *t)
{
	return make_conn(HOLD_PORT) ?: post_frames(t->frames);
}

/* What a correct peer does, to show that the rest is not refused for that. */
static const char *try_dialogue(const struct test *t)
{
	static const struct frame data = { .type = DATA, .conn = ID, .len = 8, .count = 8 };
	static const struct frame end = { .type = CLOSE, .conn = ID };
	const char *word = make_conn_of(ECHO_PORT, t->open.size);

	if (word)
		return word;
	post(&data, "hello...");
	if (!await(DATA, DATA, &word))
		return word;
	post(&end, NULL);
	if (!await(CLOSE_ACK, CLOSE_ACK, &word))
		return word;
	return link_state();
}

static const char *resume(__u32 whose, const struct request *r)
{
	struct frame f = {
		.type = RESUME, .conn = whose, .len = 32, .offset = r->offset,
		.credit = credit_of(r), .count = r->nr,
	};
	struct wire_resume body = {
		.ack.conn = htole32(r->conn),
		.ack.window = { 0, htole32(!!r->size), htole32(r->size) },
		.token = htole64(token_of(conn_key, r->old ? conn_key : link_key, r->conn, 0) +
				 r->token),
	};
	const struct wire_header *h;
	const char *word;

	post(&f, &body);
	h = await(RESUME_ACK, RESUME_REJ, &word);
	if (!h)
		return word;
	return h->type == RESUME_ACK ? "resumed" : "unknown";
}

/* A connection that is not there. */
static const char *try_resume(const struct test *t)
{
	return link_up(&good_hello) ? resume(5, &t->open) : "rejected";
}

/* One that is on the link that it is asked for by. */
static const char *try_resume_live(const struct test *t)
{
	return make_conn(HOLD_PORT) ?: resume(conn, &t->open);
}

/* One of a link that this side has given up, as far as the other knows. */
static const char *try_resume_lost(const struct test *t)
{
	const char *word = make_conn(HOLD_PORT);

	if (word)
		return word;
	return link_up(&good_hello) ? resume(conn, &t->open) : "rejected";
}

/*
 * Waits until it is asked for a link at the address of the one that it had, and refuses
 * without a word, as the connection manager does where nobody listens.
 */
static void refuse_link(void)
{
	struct rdma_event_channel *channel = rdma_create_event_channel();
	struct sockaddr_in here = *(struct sockaddr_in *)rdma_get_local_addr(id);
	struct rdma_cm_id *listener;
	struct rdma_cm_event *ev;

	here.sin_port = htons(atoi(SERVICE));
	if (!channel || rdma_create_id(channel, &listener, NULL, RDMA_PS_TCP) ||
	    rdma_bind_addr(listener, (struct sockaddr *)&here) || rdma_listen(listener, 8))
		die("listen");
	do {
		if (rdma_get_cm_event(channel, &ev))
			die("request");
	} while (ev->event != RDMA_CM_EVENT_CONNECT_REQUEST);
	if (rdma_reject(ev->id, NULL, 0))
		die("reject");
	rdma_ack_cm_event(ev);
	rdma_destroy_id(listener);
}

/*
 * For a while links are refused here, as where a device has just come back; then one is
 * asked for by this side.
 */
static const char *try_resume_late(const struct test *t)
{
	const char *word = make_conn(HOLD_PORT);

	if (word)
		return word;
	rdma_disconnect(id);
	refuse_link();
	return link_up(&good_hello) ? resume(conn, &t->open) : "rejected";
}

/*
 * Two connections go to another link.  What the other side has sent on the second one
 * was acknowledged, by the grant of a later frame, and RESUME says that it has not
 * arrived.  @t->frames are sent before, and may also say that it was read.
 */
static const char *try_resume_behind(const struct test *t)
{
	static const struct frame data = { .type = DATA, .conn = ID, .len = 8, .count = 8 };
	const struct wire_header *h;
	struct request r = good_open;
	const char *word = make_conn(HOLD_PORT);
	__u32 first = conn;

	if (word)
		return word;
	r.conn++;
	r.dport = ECHO_PORT;
	post_open(&r);
	word = open_answer();
	if (strcmp(word, "open"))
		return word;
	post(&data, "hello...");
	if (!await(DATA, DATA, &word))
		return word;
	word = post_frames(t->frames);
	if (strcmp(word, "up"))
		return word;
	word = settle();
	if (strcmp(word, "up"))
		return word;
	if (!link_up(&good_hello))
		return "rejected";
	word = resume(conn, &r);
	if (strcmp(word, "resumed"))
		return word;
	h = await(CLOSE, CLOSE, &word);
	if (!h)
		return word;
	if (!(h->flags & RESET))
		return "closed";
	r.conn--;
	word = resume(first, &r);
	return strcmp(word, "resumed") ? word : "reset";
}

/* The peer has another instance: the one that had the connection is no more. */
static const char *try_resume_instance(const struct test *t)
{
	struct hello h = good_hello;
	const char *word = make_conn(HOLD_PORT);

	if (word)
		return word;
	h.instance++;
	return link_up(&h) ? resume(conn, &t->open) : "rejected";
}

static void post_admission(__u8 type, __u32 whose)
{
	struct frame f = { .type = type, .conn = whose, .len = 24 };
	struct wire_resume body = {
		.ack.conn = htole32(7),
		.ack.window = { 0, htole32(1), htole32(RING_SIZE) },
		.token = htole64(token_of(conn_key, link_key, whose, 1)),
	};

	if (type == RESUME_ACK) {
		f.len = 32;
		f.credit = RING_SIZE;
		f.count = 1;
	}
	post(&f, &body);
}

/* The same the other way round: a program there connects, and sends something. */
static const char *try_answer_behind(const struct test *t)
{
	const struct wire_header *h;
	struct wire_open open;
	const char *word;
	struct frame f = { .type = CLOSE_ACK };

	if (!link_up(&good_hello))
		return "rejected";
	tell(link_state());
	h = await(OPEN, OPEN, &word);
	if (!h)
		return word;
	memcpy(&open, h + 1, sizeof(open));
	f.conn = le32toh(open.conn);
	memcpy(conn_key, link_key, sizeof(conn_key));
	post_admission(OPEN_ACK, f.conn);
	if (!await(DATA, DATA, &word))
		return word;
	word = settle();
	if (strcmp(word, "up"))
		return word;
	if (!link_up(&good_hello))
		return "rejected";
	/* link_state() would pass over it. */
	if (!await(RESUME, RESUME, &word))
		return word;
	post_admission(RESUME_ACK, f.conn);
	h = await(CLOSE, CLOSE, &word);
	if (!h)
		return word;
	word = h->flags & RESET ? "reset" : "closed";
	post(&f, NULL);
	return strcmp(link_state(), "up") ? "down" : word;
}

static void post_open_rej(const struct wire_open *o)
{
	struct frame f = {
		.type = OPEN_REJ, .conn = le32toh(o->conn), .count = 1,
	};

	post(&f, NULL);
}

/*
 * All is answered, but OPENs: those not before there is ANSWER_FILE.  Says "asked" for each
 * of them, and "answered" when the other side has the answers.
 */
static const char *try_mute(const struct test *t)
{
	static const struct frame ping = { .type = PING }, pong = { .type = PONG };
	static struct wire_open late[DEPTH];
	const struct wire_header *h;
	bool answers = false;
	unsigned int n = 0;
	struct ibv_wc wc;
	int type;

	if (!link_up(&good_hello))
		return "rejected";
	tell(link_state());
	for (;;) {
		if (n && !access(ANSWER_FILE, F_OK)) {
			while (n)
				post_open_rej(&late[--n]);
			post(&ping, NULL);
			answers = true;
		}
		if (ibv_poll_cq(id->recv_cq, 1, &wc) <= 0) {
			if (was_ended())
				return "down";
			continue;
		}
		if (wc.status)
			return "down";
		h = (const struct wire_header *)recvs[wc.wr_id];
		if (h->type == OPEN && n < DEPTH) {
			memcpy(&late[n++], h + 1, sizeof(*late));
			tell("asked");
		}
		type = h->type;
		post_recv(wc.wr_id);
		if (type != PONG)
			post(&pong, NULL);
		else if (answers)
			tell("answered");
	}
}

/* Into the ring, telling of itself, as the next 768 bytes did not. */
static const char *try_imm(const struct test *t)
{
	static char bytes[1048576];
	const char *word = make_ring(HOLD_PORT);
	struct ibv_mr *all = rdma_reg_msgs(id, bytes, sizeof(bytes));
	struct ibv_sge sge = { .addr = (uintptr_t)bytes, .length = t->write.len };
	struct ibv_send_wr *bad, wr = {
		.opcode = IBV_WR_RDMA_WRITE_WITH_IMM,
		.sg_list = &sge,
		.num_sge = !!sge.length,
		.imm_data = htobe32((conn + t->write.key) << 8 | t->write.at),
	};

	if (word)
		return word;
	if (!all)
		die("register");
	if (sge.length > le32toh(window.size))
		sge.length = le32toh(window.size);
	sge.lkey = all->lkey;
	wr.wr.rdma.remote_addr = le64toh(window.addr);
	wr.wr.rdma.rkey = le32toh(window.rkey);
	if (ibv_post_send(id->qp, &wr, &bad))
		die("write");
	return link_state();
}

static const char *try_write(const struct test *t)
{
	static const struct frame end = { .type = CLOSE, .conn = ID };
	const char *word = make_ring(HOLD_PORT);

	if (word)
		return word;
	if (t->write.late) {
		post(&end, NULL);
		if (!await(CLOSE_ACK, CLOSE_ACK, &word))
			return word;
		/* It is taken back when the CLOSE_ACK is acknowledged. */
		return write_on(le64toh(window.addr), le32toh(window.rkey));
	}
	if (rdma_post_write(id, NULL, sends[DEPTH - 1], 64, mr, 0,
			    le64toh(window.addr) + t->write.at,
			    le32toh(window.rkey) + t->write.key))
		die("write");
	return link_state();
}

/* Answers need credits of ours: with few, they cannot make room for OPENs. */
static const char *try_flood(const struct test *t)
{
	struct frame f = { .type = PONG, .grant = t->hello.recvs };
	struct request r = good_open;
	int i;

	if (!link_up(&t->hello))
		return "rejected";
	post(&f, NULL);
	r.dport = NO_PORT;
	for (i = 0; i < 80; i++) {
		r.conn++;
		post_open(&r);
	}
	return link_state();
}

/*
 * One request after the other: RATE a second are served, and at first those of one
 * second.  @resumes: ask to resume, not to open.
 */
#define RATE	5

static const char *ask_often(const struct test *t, bool resumes)
{
	struct request r = good_open;
	long start = now_ms();
	const char *word;
	int i;

	if (!link_up(&good_hello))
		return "rejected";
	r.dport = NO_PORT;
	for (i = 0; i < 4 * RATE; i++) {
		r.conn++;
		if (!resumes)
			post_open(&r);
		word = resumes ? resume(5, &t->open) : open_answer();
		if (strcmp(word, resumes ? "unknown" : "listener"))
			return word;
	}
	return i > RATE + 1 + RATE * (now_ms() - start) / 1000 ? "unlimited" : "limited";
}

static const char *try_rate(const struct test *t)
{
	return ask_often(t, false);
}

static const char *try_resume_rate(const struct test *t)
{
	return ask_often(t, true);
}

/* Asks for connections until one is refused, and returns how many were not. */
static int open_many(struct request *r, const char **answer)
{
	int n = 0;

	for (;;) {
		r->conn++;
		r->sport++;
		post_open(r);
		*answer = open_answer();
		if (strcmp(*answer, "open") || n == 100)
			return n;
		n++;
	}
}

/* As many connections as there may be. */
static const char *try_conns(const struct test *t)
{
	static char word[64];
	struct request r = good_open;
	const char *answer;
	int n;

	if (!link_up(&good_hello))
		return "rejected";
	r.dport = ECHO_PORT;
	n = open_many(&r, &answer);
	snprintf(word, sizeof(word), "%d %s", n, answer);
	return word;
}

/*
 * Asks for @n connections at once, and returns how many were not refused; @why: to the
 * others.
 */
static int open_at_once(struct request *r, int n, const char **why)
{
	int i, opened = 0;
	const char *word;

	*why = "open";
	for (i = 0; i < n; i++) {
		r->conn++;
		r->sport++;
		post_open(r);
	}
	for (i = 0; i < n; i++) {
		word = open_answer();
		if (strcmp(word, "open"))
			*why = word;
		else
			opened++;
	}
	return opened;
}

/* Connections that are never confirmed fill a listener's backlog, but for 3 s only. */
static const char *try_backlog(const struct test *t)
{
	static char word[64];
	long end = now_ms() + patience;
	struct request r = good_open;
	const char *why, *later;
	int n, again;

	if (!link_up(&good_hello))
		return "rejected";
	r.dport = FEW_PORT;
	n = open_at_once(&r, 8, &why);
	for (again = 0; again < n && now_ms() < end; sleep_ms(100))
		again += open_at_once(&r, 8, &later);
	snprintf(word, sizeof(word), "%d %s %d", n, why, again);
	return word;
}

/* Keeps a listener's backlog full of such connections, until there is ANSWER_FILE. */
static const char *try_crowd(const struct test *t)
{
	struct request r = good_open;
	const char *answer;
	bool full = false;

	if (!link_up(&good_hello))
		return "rejected";
	r.dport = FEW_PORT;
	while (access(ANSWER_FILE, F_OK)) {
		open_many(&r, &answer);
		if (strcmp(answer, "busy"))
			return answer;
		if (!full)
			tell("full");
		full = true;
		sleep_ms(10);
	}
	return "crowded";
}

static const char *try_vanish(const struct test *t)
{
	return make_conn(ECHO_PORT) ?: "open";
}

/* Is asked for a link, as the node that it is the kernel of would be. */
static struct rdma_cm_id *listen_here(void)
{
	struct rdma_addrinfo hints = { .ai_port_space = RDMA_PS_TCP, .ai_flags = RAI_PASSIVE };
	struct ibv_qp_init_attr attr = qp_attr;
	struct rdma_cm_id *listener;
	struct rdma_addrinfo *ai;

	if (rdma_getaddrinfo(address, SERVICE, &hints, &ai))
		die(address);
	if (rdma_create_ep(&listener, ai, NULL, &attr) || rdma_listen(listener, 8)) {
		puts(errno == EACCES ? "forbidden" : "no listener");
		exit(0);
	}
	tell("listens");
	return listener;
}

static void make_answer(struct wire_text *t, const struct hello *h)
{
	const struct rdma_conn_param *p = &id->event->param.conn;
	__u8 mac[SHA256_DIGEST_SIZE];

	memset(t, 0, sizeof(*t));
	map_sockaddr(&t->active, rdma_get_peer_addr(id));
	map_sockaddr(&t->passive, rdma_get_local_addr(id));
	t->active_qpn = htole32(p->qp_num);
	t->passive_qpn = htole32(id->qp->qp_num);
	memcpy(&t->ask, p->private_data, sizeof(t->ask));
	fill_hello(&t->answer, h);
	t->answer.lane ^= t->ask.lane;
	t->answer.rail ^= t->ask.rail;
	t->ask.nonce ^= h->wrong == OLD_ANSWER;
	prove(t, "confirm", mac);
	memcpy(auth_wanted, mac, PROOF);
	prove(t, "resumes", mac);
	memcpy(link_key, mac, sizeof(link_key));
	prove(t, "answers", mac);
	memcpy(t->answer.proof, mac, PROOF);
	t->answer.proof[PROOF - 1] ^= h->wrong == PROOF_OF_ANSWER;
}

static bool link_answer(struct rdma_cm_id *listener, const struct hello *h)
{
	struct rdma_conn_param param = {
		.rnr_retry_count	= 7,
		.initiator_depth	= 1,
		.responder_resources	= 1,
	};
	struct wire_text t;

	if (rdma_get_request(listener, &id))
		die("request");
	start_receiving();
	make_answer(&t, h);
	if (h->wrong != NO_ANSWER) {
		param.private_data = &t.answer;
		param.private_data_len = sizeof(t.answer);
	}
	return !rdma_accept(id, &param);
}

/* What follows a reply that the other side takes, one after the other. */
static const char *serve_frames(const struct test *t)
{
	static const char body[SLOT] = "hello...";
	const struct wire_header *h;
	struct wire_open open;
	const struct frame *f;
	const char *word;

	h = await(OPEN, OPEN, &word);
	if (!h)
		return word;
	memcpy(&open, h + 1, sizeof(open));
	memcpy(conn_key, link_key, sizeof(conn_key));
	conn = le32toh(open.conn);
	window = open.window;
	if (t->open.len) {
		post_admission(OPEN_ACK, conn);
		if (!await(DATA, DATA, &word))
			return word;
	}
	for (f = t->frames; f->type; f++)
		post(f, body);
	return link_state();
}

static const char *try_serve(const struct test *t)
{
	struct rdma_cm_id *listener = listen_here();
	const struct wire_header *h;
	const char *word;

	if (!link_answer(listener, &t->hello))
		return "refused";
	h = await(AUTH, AUTH, &word);
	if (!h)
		return word;
	return memcmp(h + 1, auth_wanted, PROOF) ? "unproven" : serve_frames(t);
}

/* ---- What others tell it to do: scripts/syzkaller/sanx.txt */

#define OBEY_PORT	6590
#define OBEY_CLIENTS	8
#define OBEY_MOST	320
#define OBEY_SECONDS	2

enum { TOLD_ASK = 1, TOLD_ANSWER, TOLD_END, TOLD_FRAME, TOLD_AWAIT, TOLD_WRITE };

/* As in sanx.txt; none of them has holes. */
struct told_hello {
	__u32 magic;
	__u16 version, keys;
	__u32 from, to;
	__u16 recvs, inline_max;
	__u8 lane, rail, features, wrong;
	__u64 instance;
};

struct told_write {
	__s64 at;
	__u32 len, imm, tells;
};

/* Offset of the next byte of the last connection. */
static __u64 told_offset;
/* Address to be asked at. */
static const char *told_ours;

static void drop_link(void)
{
	if (!id)
		return;
	rdma_disconnect(id);
	if (mr)
		rdma_dereg_mr(mr);
	if (recv_mr)
		rdma_dereg_mr(recv_mr);
	rdma_destroy_ep(id);
	id = NULL;
	mr = NULL;
	recv_mr = NULL;
}

static void take_hello(struct hello *h, const struct told_hello *t)
{
	*h = (struct hello){
		.magic = t->magic, .version = t->version, .keys = t->keys,
		.from = t->from, .to = t->to, .recvs = t->recvs,
		.inline_max = t->inline_max, .lane = t->lane, .rail = t->rail,
		.features = t->features, .wrong = t->wrong, .instance = t->instance,
	};
}

static bool told_ask(const struct told_hello *t)
{
	struct hello h;

	take_hello(&h, t);
	drop_link();
	if (link_up(&h))
		return true;
	drop_link();
	return false;
}

static bool told_answer(const struct told_hello *t)
{
	static struct rdma_cm_id *listener;
	struct pollfd p = { .events = POLLIN };
	const char *theirs = address, *word;
	struct hello h;

	take_hello(&h, t);
	address = told_ours;
	if (!listener)
		listener = listen_here();
	address = theirs;
	p.fd = listener->channel->fd;
	drop_link();
	if (poll(&p, 1, patience) <= 0)
		return false;
	if (link_answer(listener, &h) && await(AUTH, AUTH, &word))
		return true;
	drop_link();
	return false;
}

/* Fills in what only the two ends of a link know. */
static void complete_header(struct wire_header *h)
{
	if (h->conn == htole32(ID))
		h->conn = htole32(conn);
	if (h->offset == htole64(UINT64_MAX))
		h->offset = htole64(told_offset);
	if (h->credit == htole64(UINT64_MAX))
		h->credit = htole64(h->type == DATA || h->type == CREDIT || h->type == FIN ?
				    ring : 0);
	if (!h->grant)
		h->grant = htole32(posted);
	if (h->type == DATA)
		told_offset = le64toh(h->offset) + le32toh(h->count);
}

static bool told_frame(const char *bytes, __u32 len)
{
	char *buf = sends[sent++ % DEPTH];
	struct wire_header h;
	struct ibv_wc wc;

	if (!id)
		return false;
	while (ibv_poll_cq(id->send_cq, 1, &wc) > 0)
		;
	release();
	memcpy(buf, bytes, len);
	if (len >= sizeof(h)) {
		memcpy(&h, bytes, sizeof(h));
		complete_header(&h);
		memcpy(buf, &h, sizeof(h));
		if (h.type == OPEN) {
			ring = FIRST;
			told_offset = 0;
		}
	}
	return len && !rdma_post_send(id, NULL, buf, len, mr, 0);
}

static bool told_await(__u32 type)
{
	const struct wire_header *h;
	struct wire_open_ack ack;
	struct wire_open open;
	const char *word;

	h = id ? await(type, type == OPEN_ACK ? OPEN_REJ : (int)type, &word) : NULL;
	if (!h)
		return false;
	if (h->type == OPEN_ACK || h->type == RING) {
		memcpy(&ack, h + 1, sizeof(ack));
		conn = le32toh(ack.conn);
		window = ack.window;
		memcpy(conn_key, link_key, sizeof(conn_key));
	} else if (h->type == OPEN) {
		memcpy(&open, h + 1, sizeof(open));
		conn = le32toh(open.conn);
		window = open.window;
		ring = FIRST;
		told_offset = 0;
	}
	return true;
}

static bool told_write(const struct told_write *t)
{
	struct ibv_sge sge = { .addr = (uintptr_t)sends, .length = t->len };
	struct ibv_send_wr *bad, wr = {
		.opcode = t->tells & 1 ? IBV_WR_RDMA_WRITE_WITH_IMM : IBV_WR_RDMA_WRITE,
		.sg_list = &sge,
		.num_sge = 1,
		.imm_data = htobe32(conn << 8 | (t->imm & 0xff)),
	};

	if (!id || t->len > sizeof(sends))
		return false;
	sge.lkey = mr->lkey;
	wr.wr.rdma.remote_addr = le64toh(window.addr) + t->at;
	wr.wr.rdma.rkey = le32toh(window.rkey);
	return !ibv_post_send(id->qp, &wr, &bad);
}

static bool obey_command(__u32 op, const char *arg, __u32 len)
{
	struct told_hello hello = { 0 };
	struct told_write write = { 0 };
	__u32 type = 0;

	switch (op) {
	case TOLD_ASK:
	case TOLD_ANSWER:
		memcpy(&hello, arg, len < sizeof(hello) ? len : sizeof(hello));
		return op == TOLD_ASK ? told_ask(&hello) : told_answer(&hello);
	case TOLD_FRAME:
		return told_frame(arg, len);
	case TOLD_AWAIT:
		memcpy(&type, arg, len < sizeof(type) ? len : sizeof(type));
		return told_await(type);
	case TOLD_WRITE:
		memcpy(&write, arg, len < sizeof(write) ? len : sizeof(write));
		return told_write(&write);
	default:
		drop_link();
		return true;
	}
}

/*
 * One command of a program; false if there is none any more.  A set-up that the other side
 * has given up can take the connection manager minutes: then this program ends, and
 * whoever has started it starts it again.
 */
static bool obey_one(int fd)
{
	__u32 head[2], answer;
	char arg[OBEY_MOST];

	if (recv_exact(fd, head, sizeof(head)) != sizeof(head) || head[1] > sizeof(arg) ||
	    recv_exact(fd, arg, head[1]) != (ssize_t)head[1])
		return false;
	alarm(OBEY_SECONDS);
	answer = obey_command(head[0], arg, head[1]);
	alarm(0);
	return send(fd, &answer, sizeof(answer), MSG_NOSIGNAL) == sizeof(answer);
}

static int obey_listen(void)
{
	struct sockaddr_in any = { .sin_family = AF_INET, .sin_port = htons(OBEY_PORT) };
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	set_option(fd, SOL_SOCKET, SO_REUSEADDR, 1);
	if (bind(fd, (struct sockaddr *)&any, sizeof(any)) || listen(fd, OBEY_CLIENTS))
		die("listen");
	return fd;
}

/* All programs share the link: it is one peer. */
static void obey(const char *ours)
{
	struct pollfd p[1 + OBEY_CLIENTS] = { { .fd = obey_listen(), .events = POLLIN } };
	int i, fd;

	for (i = 1; i <= OBEY_CLIENTS; i++)
		p[i] = (struct pollfd){ .fd = -1, .events = POLLIN };
	told_ours = ours;
	patience = 150;
	while (poll(p, 1 + OBEY_CLIENTS, -1) > 0) {
		for (i = 1; i <= OBEY_CLIENTS; i++) {
			if (p[i].fd < 0 || !p[i].revents || obey_one(p[i].fd))
				continue;
			close(p[i].fd);
			p[i].fd = -1;
		}
		if (!p[0].revents)
			continue;
		fd = accept(p[0].fd, NULL, NULL);
		for (i = 1; i < OBEY_CLIENTS && p[i].fd >= 0; i++)
			;
		if (p[i].fd >= 0)
			close(p[i].fd);
		p[i].fd = fd;
	}
}

#define HELLO(name, ...) \
	{ "hello-" name, try_hello, .hello = { __VA_ARGS__ } }
#define OPENING(name, ...) \
	{ "open-" name, try_open, .open = { __VA_ARGS__ } }
#define WRITE(name, ...) \
	{ "write-" name, try_write, .write = { __VA_ARGS__ } }
#define IMM(name, ...) \
	{ "imm-" name, try_imm, .write = { __VA_ARGS__ } }
#define TELLING(name, ours, ...) \
	{ "ring-" name, try_told, .open = { .size = ours }, .told = { __VA_ARGS__ } }
#define SERVE(name, ...) \
	{ "serve-" name, try_serve, .hello = { __VA_ARGS__ } }
/* ACKED: the connection is admitted, and its first bytes have come. */
#define ACKED(name, ...) \
	{ "serve-" name, try_serve, .hello = GOOD_ANSWER, .open = { .len = 1 }, \
	  .frames = { __VA_ARGS__ } }
#define ASKED(name, ...) \
	{ "serve-" name, try_serve, .hello = GOOD_ANSWER, .frames = { __VA_ARGS__ } }
#define GOOD_ANSWER	{ MAGIC, VERSION, 0, US, THEM, RECVS, 256, 0, 99 }
#define FRAME(...)	{ __VA_ARGS__ }
#define RECORD(name, ...) { "record-" name, try_record, .record = { __VA_ARGS__ } }
#define MESSAGE(name, ...) { "message-" name, try_message, .message = { __VA_ARGS__ } }
#define PACKET(name, ...) { "packet-" name, try_packet, .packet = { __VA_ARGS__ } }
#define LINK(name, ...)	{ name, try_frames, .frames = { __VA_ARGS__ } }
#define CONN(name, ...)	{ name, try_conn, .frames = { __VA_ARGS__ } }
#define GROWN(name, ...) { name, try_ring, .frames = { __VA_ARGS__ } }
#define LEFT(name, ...)	{ "leave-" name, try_leave, .frames = { __VA_ARGS__ } }
#define GIVEN(name, ...) \
	{ "leave-read" name, try_leave_read, .frames = { __VA_ARGS__ } }
#define HELLO_DATA	FRAME(DATA, .conn = ID, .len = 8, .count = 8)

static const struct test tests[] = {
	/*            magic, version, keys, from, to, recvs, inline, lane, instance */
	HELLO("good", MAGIC, VERSION, 0, US, THEM, RECVS, 256, 0, 99),
	HELLO("none", 0),
	HELLO("magic", MAGIC + 1, VERSION, 0, US, THEM, RECVS, 256, 0, 99),
	HELLO("version", MAGIC, 5, 0, US, THEM, RECVS, 256, 0, 99),
	HELLO("lane-12", MAGIC, VERSION, 0, US, THEM, RECVS, 256, 12, 99),
	HELLO("from-0", MAGIC, VERSION, 0, 0, THEM, RECVS, 256, 0, 99),
	HELLO("from-unknown", MAGIC, VERSION, 0, 77, THEM, RECVS, 256, 0, 99),
	HELLO("from-another", MAGIC, VERSION, 0, 3, THEM, RECVS, 256, 0, 99),
	HELLO("from-them", MAGIC, VERSION, 0, THEM, THEM, RECVS, 256, 0, 99),
	HELLO("to-0", MAGIC, VERSION, 0, US, 0, RECVS, 256, 0, 99),
	HELLO("to-another", MAGIC, VERSION, 0, US, 3, RECVS, 256, 0, 99),
	HELLO("recvs-few", MAGIC, VERSION, 0, US, THEM, 15, 256, 0, 99),
	HELLO("inline", MAGIC, VERSION, 0, US, THEM, RECVS, 257, 0, 99),
	HELLO("instance-0", MAGIC, VERSION, 0, US, THEM, RECVS, 256, 0, 0),
	HELLO("rail", MAGIC, VERSION, 0, US, THEM, RECVS, 256, 0, 99, .rail = 255),
	HELLO("feature", MAGIC, VERSION, 0, US, THEM, RECVS, 256, 0, 99, .features = 2),
	HELLO("key", MAGIC, VERSION, 1, US, THEM, RECVS, 256, 0, 99),
	HELLO("keys-3", MAGIC, VERSION, 3, US, THEM, RECVS, 256, 0, 99),
	HELLO("proof", MAGIC, VERSION, 0, US, THEM, RECVS, 256, 0, 99, .wrong = PROOF_OF_ASK),
	HELLO("proof-old", MAGIC, VERSION, 0, US, THEM, RECVS, 256, 0, 99, .wrong = OLD_ASK),
	HELLO("auth", MAGIC, VERSION, 0, US, THEM, RECVS, 256, 0, 99, .wrong = PROOF_OF_AUTH),
	HELLO("auth-reply", MAGIC, VERSION, 0, US, THEM, RECVS, 256, 0, 99, .wrong = REFLECTED),
	HELLO("auth-none", MAGIC, VERSION, 0, US, THEM, RECVS, 256, 0, 99, .wrong = NO_AUTH),

	LINK("frame-pong", FRAME(PONG)),
	LINK("frame-short", FRAME(PING, .bytes = 31)),
	LINK("frame-long", FRAME(PING, .bytes = 33)),
	LINK("frame-cut", FRAME(DATA, .conn = 5, .len = 8, .count = 8, .bytes = 36)),
	LINK("frame-huge", FRAME(PING, .bytes = 300)),
	LINK("type-0", FRAME(0, .bytes = 32)),
	LINK("type-17", FRAME(17)),
	LINK("auth-again", FRAME(AUTH, .len = PROOF)),
	LINK("flag", FRAME(PING, .flags = 0x80)),
	LINK("flag-of-another", FRAME(PING, .flags = IN_RING)),
	LINK("ping-id", FRAME(PING, .conn = 5)),
	LINK("ping-body", FRAME(PING, .len = 8)),
	LINK("ping-count", FRAME(PING, .count = 1)),
	LINK("id-0", FRAME(DATA, .len = 8, .count = 8)),
	LINK("id-unknown", FRAME(DATA, .conn = 5, .len = 8, .count = 8)),
	LINK("id-unknown-close", FRAME(CLOSE, .conn = 5)),
	LINK("resume-ack-unknown", FRAME(RESUME_ACK, .conn = 5, .len = 32)),
	LINK("resume-rej-unknown", FRAME(RESUME_REJ, .conn = 5)),
	LINK("resume-no-ring", FRAME(RESUME, .conn = 5, .len = 32)),
	LINK("grant-back", FRAME(PONG), FRAME(PONG, .grant = 3)),
	LINK("grant-far", FRAME(PONG, .grant = 5000)),

	/* src, dst, sport, dport, id, address, size, len */
	OPENING("good", NULL, NULL, 999, HOLD_PORT, 7, 0, RING_SIZE, 56),
	OPENING("foreign-src", "10.77.0.77", NULL, 999, HOLD_PORT, 7, 0, RING_SIZE, 56),
	OPENING("another-src", "10.77.0.3", NULL, 999, HOLD_PORT, 7, 0, RING_SIZE, 56),
	OPENING("their-src", "10.77.0.1", NULL, 999, HOLD_PORT, 7, 0, RING_SIZE, 56),
	OPENING("foreign-dst", NULL, "10.1.2.3", 999, HOLD_PORT, 7, 0, RING_SIZE, 56),
	OPENING("loopback", NULL, "127.0.0.1", 999, HOLD_PORT, 7, 0, RING_SIZE, 56),
	OPENING("loopback-only", NULL, "127.0.0.1", 999, LOCAL_PORT, 7, 0, RING_SIZE, 56),
	OPENING("loopback-far", NULL, "127.1.2.3", 999, HOLD_PORT, 7, 0, RING_SIZE, 56),
	OPENING("loopback-6", NULL, "::1", 999, HOLD_PORT, 7, 0, RING_SIZE, 56),
	OPENING("any", NULL, "0.0.0.0", 999, HOLD_PORT, 7, 0, RING_SIZE, 56),
	OPENING("any-6", NULL, "::", 999, HOLD_PORT, 7, 0, RING_SIZE, 56),
	OPENING("broadcast", NULL, "255.255.255.255", 999, HOLD_PORT, 7, 0, RING_SIZE, 56),
	OPENING("multicast", NULL, "224.0.0.1", 999, HOLD_PORT, 7, 0, RING_SIZE, 56),
	OPENING("link-local", NULL, "fe80::77", 999, HOLD_PORT, 7, 0, RING_SIZE, 56),
	OPENING("denied", NULL, NULL, 999, DENIED_PORT, 7, 0, RING_SIZE, 56),
	OPENING("no-listener", NULL, NULL, 999, NO_PORT, 7, 0, RING_SIZE, 56),
	OPENING("sport-0", NULL, NULL, 0, HOLD_PORT, 7, 0, RING_SIZE, 56),
	OPENING("asks-denied", NULL, NULL, 0, DENIED_PORT, 7, 0, RING_SIZE, 56),
	OPENING("asks-no-listener", NULL, NULL, 0, NO_PORT, 7, 0, RING_SIZE, 56),
	OPENING("asks-no-port", NULL, NULL, 0, 0, 7, 0, RING_SIZE, 56),
	OPENING("dport-0", NULL, NULL, 1, 0, 7, 0, RING_SIZE, 56),
	OPENING("id-0", NULL, NULL, 999, HOLD_PORT, 0, 0, RING_SIZE, 56),
	OPENING("ring-none", NULL, NULL, 999, HOLD_PORT, 7, 0, 0, 56),
	OPENING("ring-0", NULL, NULL, 999, HOLD_PORT, 7, 4096, 0, 56),
	OPENING("ring-odd", NULL, NULL, 999, HOLD_PORT, 7, 0, 12345, 56),
	OPENING("ring-small", NULL, NULL, 999, HOLD_PORT, 7, 0, 2048, 56),
	OPENING("ring-large", NULL, NULL, 999, HOLD_PORT, 7, 0, 2097152, 56),
	OPENING("ring-wraps", NULL, NULL, 999, HOLD_PORT, 7, -4096, RING_SIZE, 56),
	OPENING("body-short", NULL, NULL, 999, HOLD_PORT, 7, 0, RING_SIZE, 55),
	OPENING("body-long", NULL, NULL, 999, HOLD_PORT, 7, 0, RING_SIZE, 64),
	{ "open-standby", try_standby,
	  .hello = { MAGIC, VERSION, 0, US, THEM, RECVS, 256, 8, 99 } },
	{ "open-flood", try_flood, .hello = { MAGIC, VERSION, 0, US, THEM, 16, 256, 0, 99 } },

	{ "dialogue", try_dialogue, .open = { .size = RING_SIZE } },
	{ "dialogue-no-ring", try_dialogue },
	CONN("data", HELLO_DATA),
	CONN("data-offset", FRAME(DATA, .conn = ID, .len = 8, .count = 8, .offset = 100)),
	CONN("data-again", HELLO_DATA, HELLO_DATA),
	CONN("data-count-0", FRAME(DATA, .conn = ID)),
	CONN("data-count", FRAME(DATA, .conn = ID, .len = 200, .count = 100)),
	CONN("data-count-far", FRAME(DATA, IN_RING, .conn = ID, .count = 1048577)),
	CONN("data-no-ring", FRAME(DATA, IN_RING, .conn = ID, .count = 8)),
	CONN("data-full", FRAME(DATA, FULL, .conn = ID, .len = 8, .count = 8)),
	CONN("data-gen", FRAME(DATA, GEN(1), .conn = ID, .len = 8, .count = 8)),
	CONN("data-gen-last", FRAME(DATA, GEN(3), .conn = ID, .len = 8, .count = 8)),
	GROWN("data-gen-ahead", FRAME(DATA, GEN(2), .conn = ID, .len = 8, .count = 8,
				      .offset = 768)),
	GROWN("data-ring", FRAME(DATA, IN_RING | GEN(1), .conn = ID, .count = 8, .offset = 768)),
	GROWN("data-ring-early", FRAME(DATA, IN_RING, .conn = ID, .count = 8, .offset = 768)),
	GROWN("data-beyond", FRAME(DATA, IN_RING | GEN(1), .conn = ID, .count = 1048576,
				   .offset = 768)),
	GROWN("data-old-gen", FRAME(DATA, .conn = ID, .len = 256, .count = 256, .offset = 768)),
	GROWN("data-old-gen-beyond",
	      FRAME(DATA, .conn = ID, .len = 256, .count = 256, .offset = 768),
	      FRAME(DATA, .conn = ID, .len = 8, .count = 8, .offset = 1024)),
	GROWN("data-gen-back",
	      FRAME(DATA, GEN(1), .conn = ID, .len = 8, .count = 8, .offset = 768),
	      FRAME(DATA, .conn = ID, .len = 8, .count = 8, .offset = 776)),
	CONN("data-ring-body", FRAME(DATA, IN_RING, .conn = ID, .len = 8, .count = 8)),
	CONN("confirm", FRAME(CREDIT, .conn = ID, .credit = RING_SIZE)),
	CONN("cancel", FRAME(CLOSE, .flags = RESET, .conn = ID)),
	CONN("credit-far", FRAME(CREDIT, .conn = ID, .credit = 3 * RING_SIZE)),
	CONN("credit-back", FRAME(CREDIT, .conn = ID, .credit = 1)),
	CONN("fin-offset", HELLO_DATA, FRAME(FIN, .conn = ID, .offset = 9)),
	CONN("fin-twice", FRAME(FIN, .conn = ID), FRAME(FIN, .conn = ID)),
	CONN("fin-data", FRAME(FIN, .conn = ID), HELLO_DATA),
	CONN("fin-credit", FRAME(FIN, .conn = ID), FRAME(CREDIT, .conn = ID)),
	CONN("close-twice", FRAME(CLOSE, .conn = ID), FRAME(CLOSE, .conn = ID)),
	CONN("close-data", FRAME(CLOSE, .conn = ID), HELLO_DATA),
	CONN("close-ack", FRAME(CLOSE_ACK, .conn = ID)),
	CONN("open-ack", FRAME(OPEN_ACK, .conn = ID, .len = 24)),
	CONN("open-rej", FRAME(OPEN_REJ, .conn = ID, .count = 1)),

	{ "resume-unknown", try_resume, .open = { .conn = 7, .size = RING_SIZE, .nr = 1 } },
	{ "resume-live", try_resume_live, .open = { .conn = 7, .size = RING_SIZE, .nr = 1 } },
	{ "resume", try_resume_lost, .open = { .conn = 7, .size = RING_SIZE, .nr = 1 } },
	{ "resume-late", try_resume_late, .open = { .conn = 7, .size = RING_SIZE, .nr = 1 } },
	{ "resume-other", try_resume_lost, .open = { .conn = 8, .size = RING_SIZE, .nr = 1 } },
	{ "resume-token", try_resume_lost, .open = {
		.conn = 7, .size = RING_SIZE, .nr = 1, .token = 1 } },
	{ "resume-token-old", try_resume_lost, .open = {
		.conn = 7, .size = RING_SIZE, .nr = 1, .old = true } },
	{ "resume-ring", try_resume_lost, .open = { .conn = 7, .size = RING_SIZE * 2, .nr = 1 } },
	{ "resume-smaller", try_resume_lost, .open = {
		.conn = 7, .size = RING_SIZE / 2, .nr = 1 } },
	{ "resume-none", try_resume_lost, .open = { .conn = 7, .nr = 1 } },
	{ "resume-number", try_resume_lost, .open = { .conn = 7, .size = RING_SIZE, .nr = 77 } },
	{ "resume-number-0", try_resume_lost, .open = { .conn = 7, .size = RING_SIZE } },
	{ "resume-number-back", try_resume_lost, .open = {
		.conn = 7, .size = RING_SIZE, .nr = UINT32_MAX } },
	{ "resume-credit-far", try_resume_lost, .open = {
		.conn = 7, .size = RING_SIZE, .nr = 1, .credit = RING_SIZE + 1 } },
	{ "resume-credit-back", try_resume_lost, .open = {
		.conn = 7, .size = RING_SIZE, .nr = 1, .credit = RING_SIZE - 1 } },
	{ "resume-ahead", try_resume_lost, .open = {
		.conn = 7, .size = RING_SIZE, .offset = 1, .nr = 1 } },
	{ "resume-behind", try_resume_behind },
	{ "resume-back", try_resume_behind, .frames = {
		FRAME(CREDIT, .conn = ID, .credit = RING_SIZE + 8) } },
	{ "resume-instance", try_resume_instance, .open = {
		.conn = 7, .size = RING_SIZE, .nr = 1 } },
	CONN("resume-ack", FRAME(RESUME_ACK, .conn = ID, .len = 32)),
	CONN("resume-rej", FRAME(RESUME_REJ, .conn = ID)),

	/* of OPEN, of RING: id, address, size, number; then frames */
	TELLING("good", 0, .conn = 7, .size = RING_SIZE, .nr = 1),
	TELLING("had-one", RING_SIZE, .conn = 7, .size = RING_SIZE, .nr = 1),
	TELLING("larger", RING_SIZE, .conn = 7, .size = 2 * RING_SIZE, .nr = 1),
	TELLING("smaller", RING_SIZE, .conn = 7, .size = RING_SIZE / 2, .nr = 1),
	TELLING("none", 0, .conn = 7, .nr = 1),
	TELLING("none-any-more", RING_SIZE, .conn = 7, .nr = 1),
	TELLING("odd", 0, .conn = 7, .size = 12345, .nr = 1),
	TELLING("other", 0, .conn = 8, .size = RING_SIZE, .nr = 1),
	TELLING("number-0", 0, .conn = 7, .size = RING_SIZE),
	TELLING("number-2", 0, .conn = 7, .size = RING_SIZE, .nr = 2),
	TELLING("number-back", 0, .conn = 7, .size = RING_SIZE, .nr = UINT32_MAX),
	TELLING("credit-far", 0, .conn = 7, .size = RING_SIZE, .nr = 1,
		.credit = RING_SIZE + 1),
	TELLING("credit-back", 0, .conn = 7, .size = RING_SIZE, .nr = 1, .credit = 1),
	CONN("ring-unasked", FRAME(RING, .conn = ID, .len = 24, .count = 1)),
	LINK("ring-unknown", FRAME(RING, .conn = 5, .len = 24)),

	GROWN("leave", FRAME(DATA, GEN(1), .conn = ID, .len = 8, .count = 8, .offset = 768),
	      FRAME(LEAVE, .conn = ID, .offset = 776, .count = 1)),
	GROWN("leave-old", FRAME(LEAVE, .conn = ID, .offset = 768)),
	GROWN("leave-first", FRAME(LEAVE, .conn = ID, .offset = 768, .count = 1)),
	GROWN("leave-offset", FRAME(LEAVE, .conn = ID, .offset = 769, .count = 1)),
	GROWN("leave-back",
	      FRAME(DATA, GEN(1), .conn = ID, .len = 8, .count = 8, .offset = 768),
	      FRAME(LEAVE, .conn = ID, .offset = 776)),
	GROWN("leave-ahead", FRAME(LEAVE, .conn = ID, .offset = 768, .count = 2)),
	GROWN("leave-far", FRAME(LEAVE, .conn = ID, .offset = 768, .count = 5)),
	GROWN("leave-twice", FRAME(LEAVE, .conn = ID, .offset = 768, .count = 1),
	      FRAME(LEAVE, .conn = ID, .offset = 768, .count = 1)),
	GROWN("leave-fin", FRAME(FIN, .conn = ID, .offset = 768),
	      FRAME(LEAVE, .conn = ID, .offset = 768, .count = 1)),
	GROWN("leave-write", FRAME(LEAVE, .conn = ID, .offset = 768, .count = 1),
	      FRAME(DATA, IN_RING | GEN(1), .conn = ID, .count = 8, .offset = 768)),
	GROWN("leave-frames", FRAME(LEAVE, .conn = ID, .offset = 768, .count = 1),
	      FRAME(DATA, GEN(1), .conn = ID, .len = 256, .count = 256, .offset = 768),
	      FRAME(DATA, GEN(1), .conn = ID, .len = 256, .count = 256, .offset = 1024),
	      FRAME(DATA, GEN(1), .conn = ID, .len = 256, .count = 256, .offset = 1280),
	      FRAME(DATA, GEN(1), .conn = ID, .len = 256, .count = 256, .offset = 1536)),
	GROWN("leave-beyond", FRAME(LEAVE, .conn = ID, .offset = 768, .count = 1),
	      FRAME(DATA, GEN(1), .conn = ID, .len = 256, .count = 256, .offset = 768),
	      FRAME(DATA, GEN(1), .conn = ID, .len = 256, .count = 256, .offset = 1024),
	      FRAME(DATA, GEN(1), .conn = ID, .len = 256, .count = 256, .offset = 1280),
	      FRAME(DATA, GEN(1), .conn = ID, .len = 256, .count = 256, .offset = 1536),
	      FRAME(DATA, GEN(1), .conn = ID, .len = 8, .count = 8, .offset = 1792)),
	CONN("leave-no-ring", FRAME(LEAVE, .conn = ID)),
	LINK("leave-unknown", FRAME(LEAVE, .conn = 5)),
	LEFT("stays", FRAME(DATA, IN_RING | GEN(2), .conn = ID, .count = 4096, .offset = 768)),
	LEFT("stays-back", FRAME(DATA, IN_RING | GEN(2), .conn = ID, .count = 8, .offset = 768),
	     FRAME(DATA, GEN(1), .conn = ID, .len = 8, .count = 8, .offset = 776)),
	LEFT("stays-again", FRAME(LEAVE, .conn = ID, .offset = 768, .count = 2)),
	LEFT("stays-twice", FRAME(LEAVE, .conn = ID, .offset = 768, .count = 1)),
	GIVEN("", FRAME(DATA, GEN(2), .conn = ID, .len = 8, .count = 8, .offset = 776)),
	GIVEN("-ring", FRAME(DATA, IN_RING | GEN(2), .conn = ID, .count = 8, .offset = 776)),
	GIVEN("-again", FRAME(LEAVE, .conn = ID, .offset = 776, .count = 2)),
	{ "leave-read-write", try_leave_read, .write = { .late = true } },

	WRITE("good", 0),
	WRITE("before", -64),
	WRITE("beyond", 1048576),
	WRITE("key", 0, 256),
	WRITE("late", 0, 0, true),

	/* flags, added to our id, -, bytes */
	IMM("good", IN_RING | GEN(1), 0, 0, 64),
	IMM("full", IN_RING | GEN(1) | FULL, 0, 0, 64),
	IMM("ask", IN_RING | GEN(1) | ASK, 0, 0, 64),
	IMM("old-gen", IN_RING, 0, 0, 64),
	IMM("not-in-ring", GEN(1), 0, 0, 64),
	IMM("urgent", IN_RING | GEN(1) | 0x04, 0, 0, 64),
	IMM("unknown-flag", IN_RING | GEN(1) | 0x08, 0, 0, 64),
	IMM("next-gen", IN_RING | GEN(2), 0, 0, 64),
	IMM("unknown-id", IN_RING | GEN(1), 77, 0, 64),
	IMM("nothing", IN_RING | GEN(1), 0, 0, 0),
	IMM("beyond", IN_RING | GEN(1), 0, 0, 1048576),
	{ "port", try_port, .hello = { MAGIC, VERSION, 0, US, THEM, RECVS, 256, 0, 99 } },
	{ "vanish", try_vanish },
	{ "answer-behind", try_answer_behind },
	{ "mute", try_mute },
	{ "rate", try_rate },
	{ "resume-rate", try_resume_rate,
	  .open = { .conn = 7, .size = RING_SIZE, .nr = 1 } },
	{ "conns", try_conns },
	{ "backlog", try_backlog },
	{ "crowd", try_crowd },
	{ "half-open", try_half_open, .hello = {
		MAGIC, VERSION, 0, US, THEM, RECVS, 256, 0, 99 } },
	{ "setups", try_setups },
	RECORD("good", .sport = 1),
	RECORD("number", .sport = 5),
	RECORD("empty", .more = -36, .breaks = true),
	RECORD("short", .more = -9, .breaks = true),
	RECORD("long", .more = 65576 - 36, .breaks = true),
	RECORD("reserved", .reserved = 1, .breaks = true),
	RECORD("gso", .gso = 8),
	RECORD("total", .total = 1),
	RECORD("fragment", .frag = 0x2000),
	RECORD("no-port", .no_port = true),
	RECORD("their-src", .src = "10.77.0.1"),
	RECORD("another-src", .src = "10.77.0.3"),
	RECORD("loopback", .src = "127.0.0.1", .dst = "127.0.0.1"),
	RECORD("foreign-dst", .dst = "10.77.0.3"),
	RECORD("multicast", .dst = "239.1.2.3"),

	/* len, flags, bytes */
	PACKET("good", 5, 1, 5),
	PACKET("two", 0, 0, 8 + 5),
	PACKET("longest", 1048576, 0, 5),
	PACKET("too-long", 1048577, 0, 5),
	PACKET("huge", -1, 0, 5),
	PACKET("flags", 5, 2, 5),
	PACKET("cut", 6, 0, 5),
	PACKET("no-header", 0, 0, -1),

	MESSAGE("good", 0),
	MESSAGE("no-source-port", .port = -1),
	MESSAGE("no-port", .to_port = -1),
	MESSAGE("another-type", .type = SOCK_STREAM),
	MESSAGE("to-another-type", .to_type = SOCK_STREAM),
	MESSAGE("parts", .gso = 4),
	MESSAGE("foreign-source", .foreign = true),
	MESSAGE("refusal", .type = -1, .empty = true),
	MESSAGE("refusal-with-bytes", .type = -1),
	MESSAGE("nobody", .to_port = NO_PORT),
	MESSAGE("another-node", .node = 9),
	MESSAGE("to-another-node", .to_node = 9),
};

/* The other way round: what the node at the other end gets when it asks. */
static const struct test serves[] = {
	ACKED("good", FRAME(DATA, .conn = ID, .len = 8, .count = 8)),
	SERVE("version", MAGIC, 5, 0, US, THEM, RECVS, 256, 0, 99),
	SERVE("from-another", MAGIC, VERSION, 0, 3, THEM, RECVS, 256, 0, 99),
	SERVE("to-another", MAGIC, VERSION, 0, US, 3, RECVS, 256, 0, 99),
	SERVE("recvs-few", MAGIC, VERSION, 0, US, THEM, 15, 256, 0, 99),
	SERVE("lane", MAGIC, VERSION, 0, US, THEM, RECVS, 256, 1, 99),
	SERVE("rail", MAGIC, VERSION, 0, US, THEM, RECVS, 256, 0, 99, .rail = 1),
	SERVE("instance-0", MAGIC, VERSION, 0, US, THEM, RECVS, 256, 0, 0),
	SERVE("key", MAGIC, VERSION, 1, US, THEM, RECVS, 256, 0, 99),
	SERVE("proof", MAGIC, VERSION, 0, US, THEM, RECVS, 256, 0, 99, .wrong = PROOF_OF_ANSWER),
	SERVE("old", MAGIC, VERSION, 0, US, THEM, RECVS, 256, 0, 99, .wrong = OLD_ANSWER),
	SERVE("nothing", MAGIC, VERSION, 0, US, THEM, RECVS, 256, 0, 99, .wrong = NO_ANSWER),
	ASKED("auth", FRAME(AUTH, .len = PROOF)),
	ASKED("open-ack-id-0", FRAME(OPEN_ACK, .conn = ID, .len = 24)),
	ASKED("resume-ack", FRAME(RESUME_ACK, .conn = ID, .len = 32)),
	ASKED("resume-rej", FRAME(RESUME_REJ, .conn = ID)),
	ASKED("close", FRAME(CLOSE, .conn = ID)),
	ASKED("data", FRAME(DATA, .conn = ID, .len = 8, .count = 8)),
	ASKED("ring", FRAME(RING, .conn = ID, .len = 24, .count = 1)),
	ASKED("refused", FRAME(OPEN_REJ, .conn = ID, .count = 1)),
	ASKED("refused-twice", FRAME(OPEN_REJ, .conn = ID, .count = 1),
	      FRAME(OPEN_REJ, .conn = ID, .count = 1)),
	ASKED("refused-why", FRAME(OPEN_REJ, .conn = ID, .count = 9)),
	ASKED("grant-far", FRAME(PONG, .grant = 5000)),
	ACKED("ack-twice", FRAME(OPEN_ACK, .conn = ID, .len = 24)),
	ACKED("reject-late", FRAME(OPEN_REJ, .conn = ID, .count = 1)),
	ACKED("credit-far", FRAME(CREDIT, .conn = ID, .credit = 1ULL << 40)),
	ACKED("credit-most", FRAME(CREDIT, .conn = ID, .credit = UINT64_MAX)),
	ACKED("data-far", FRAME(DATA, .conn = ID, .len = 8, .count = 8, .offset = 1ULL << 40)),
	ACKED("resume", FRAME(RESUME, .conn = ID, .len = 32)),
};

static void run(const struct test *tests_of, size_t n, const char *list, int argc, char **argv)
{
	const struct test *t;

	for (t = tests_of; t < tests_of + n; t++) {
		if (argc == 2 && !strcmp(argv[1], list))
			puts(t->name);
		if (argc != 3 || strcmp(argv[2], t->name))
			continue;
		address = argv[1];
		take_key();
		puts(t->run(t));
		exit(0);
	}
}

int main(int argc, char **argv)
{
	if (argc == 4 && !strcmp(argv[2], "obey")) {
		address = argv[1];
		obey(argv[3]);
	}
	run(tests, sizeof(tests) / sizeof(*tests), "list", argc, argv);
	run(serves, sizeof(serves) / sizeof(*serves), "serves", argc, argv);
	return argc == 2 ? 0 : 2;
}
