/* SPDX-License-Identifier: GPL-2.0 */
/*
 * AF_SANX: the interface between the engine and a wire.
 *
 * The engine (af_sanx/link/) is the protocol between nodes: connections, rings,
 * credits, and what continues after the loss of a link.  A wire (af_sanx/verbs/)
 * moves frames and payload of a link to the peer.  The engine knows no device,
 * and a wire knows neither connections nor frames.
 *
 * Down: the engine calls struct sanx_wire_ops.  Up: the wire calls the functions
 * that are declared below it.
 *
 * What a wire promises
 *
 * - Order.  Messages arrive in the order of sanx_wire_ops.post(), each once.  If
 *   a message has writes, the peer's memory has their bytes when the peer's
 *   engine is told of the message.
 * - Completion.  sanx_wire_sent() for a message means that the device does not
 *   read its memory any more: the slot, and the pages that the writes name.  It
 *   also covers all messages posted before.  It says nothing of the peer: the
 *   message may be lost with the link, or with the peer's device.  What has
 *   arrived, the peers' engines tell each other.
 * - Access.  The peer writes mapped memory only between the message that
 *   enables the mapping and unmap().
 * - End.  After stop() there is no upcall of the link, and the device neither
 *   reads nor writes memory for it.  Messages without a completion may have
 *   arrived or not.
 *
 * What a wire does not promise: when a message is sent, that a completion comes
 * before or after an answer of the peer, and that a lost link is noticed.  The
 * engine has a heartbeat.
 */
#ifndef _NET_SANX_WIRE_H
#define _NET_SANX_WIRE_H

#include <linux/atomic.h>
#include <linux/in6.h>
#include <linux/string.h>
#include <linux/types.h>
#include <net/ipv6.h>
#include <net/sock.h>

struct module;
struct net;
struct page;
struct sanx_lnet;
struct sanx_link;
struct sanx_seek;

/**
 * enum sanx_wire_kind - kind of a wire, and of the rails that links over it use
 * @SANX_WIRE_RDMA: verbs
 * @SANX_WIRE_TCP: TCP
 */
enum sanx_wire_kind {
	SANX_WIRE_RDMA,
	SANX_WIRE_TCP,
	/* private: */
	__SANX_WIRES
};

/* Frames that a link may have in flight. */
#define SANX_WIRE_SLOTS		128U
/* Receives that a link posts: messages that its peer may have in flight. */
#define SANX_WIRE_RECVS		128U
/* Most bytes of a frame. */
#define SANX_WIRE_FRAME_MAX	288U
/* Bytes from one frame buffer to the next. */
#define SANX_WIRE_STRIDE	320U
/* Bytes of what two nodes tell each other when a link is set up. */
#define SANX_WIRE_HELLO		56U
/* What a question begins with, little endian ("SNXW"); no request does. */
#define SANX_WIRE_WHO		0x57584e53U
/* Bytes of an answer to the question who is there. */
#define SANX_WIRE_ANSWER	96U
/* Most payload bytes of a message. */
#define SANX_WIRE_PAYLOAD_MAX	65536U

/**
 * struct sanx_wire_link - a wire's part of a link
 * @link: the engine's part.  The engine sets it in sanx_wire_request(); for a
 *	link of create() the wire sets it
 * @qpn: number of our queue pair, set before sanx_wire_hello(); 0 if the other
 *	end does not learn it
 * @peer_qpn: as the peer has it in @qpn; set before sanx_wire_request() or
 *	sanx_wire_connected()
 *
 * The wire embeds it in a structure of its own, which it allocates and frees.
 */
struct sanx_wire_link {
	struct sanx_link	*link;
	u32			qpn;
	u32			peer_qpn;
};

/**
 * struct sanx_wire_caps - what the wire of a link can do
 * @device: name of the device, for people
 * @map_max: most bytes that map() can map
 * @lend_max: most bytes of a write from pages of programs, which lie anywhere; 0 if
 *	it does not write from these.  Of a write from one piece of memory there are
 *	SANX_WIRE_PAYLOAD_MAX
 * @imm: a write can carry 32 bits of immediate data, instead of a frame
 */
struct sanx_wire_caps {
	const char	*device;
	u64		map_max;
	u32		lend_max;
	bool		imm;
};

/**
 * struct sanx_wire_path - where to connect to
 * @src: our rail
 * @dst: the peer's rail
 * @addr_ms: limit for the resolution of @dst, in ms
 * @route_ms: limit for the resolution of the route, in ms
 */
struct sanx_wire_path {
	struct in6_addr	src;
	struct in6_addr	dst;
	unsigned int	addr_ms;
	unsigned int	route_ms;
};

/**
 * sanx_wire_sockaddr() - make the socket address of a rail's end
 * @ss: filled
 * @addr: IPv6, or IPv4 as v4-mapped
 * @port: the port
 *
 * Context: any.
 * Return: bytes of the address in @ss.
 */
static inline int sanx_wire_sockaddr(struct sockaddr_storage *ss,
				     const struct in6_addr *addr, u16 port)
{
	struct sockaddr_in6 *sin6 = (struct sockaddr_in6 *)ss;
	struct sockaddr_in *sin = (struct sockaddr_in *)ss;

	memset(ss, 0, sizeof(*ss));
	if (ipv6_addr_v4mapped(addr)) {
		sin->sin_family = AF_INET;
		sin->sin_port = htons(port);
		sin->sin_addr.s_addr = addr->s6_addr32[3];
		return sizeof(*sin);
	}
	sin6->sin6_family = AF_INET6;
	sin6->sin6_port = htons(port);
	sin6->sin6_addr = *addr;
	return sizeof(*sin6);
}

/*
 * Ports that links come from.  A program needs CAP_NET_BIND_SERVICE to send from one
 * below PROT_SOCK, so it tells the peer that it is the kernel that asks, or root.  These
 * are those of Sun RPC (net/sunrpc/xprtsock.c): few services are assigned to them.
 */
#define SANX_WIRE_PORT_MIN	665U
#define SANX_WIRE_PORTS		(PROT_SOCK - SANX_WIRE_PORT_MIN)

/**
 * sanx_wire_next_port() - choose a port to come from
 * @next: counts the choices
 *
 * Each time the next one: one that was used between the same addresses may be in
 * TIME_WAIT.
 *
 * Context: any.
 * Return: the port.
 */
static inline u16 sanx_wire_next_port(atomic_t *next)
{
	return SANX_WIRE_PORT_MIN + (u32)atomic_inc_return(next) % SANX_WIRE_PORTS;
}

/**
 * struct sanx_wire_map - memory that is mapped for the peer's writes
 * @priv: the wire's; NULL if the memory is not mapped
 * @addr: address of the first byte, for these writes
 * @key: what they have to show
 * @sync: the CPU has to call sanx_wire_ops.sync() before it reads the memory
 * @enabled: a message with this mapping in sanx_wire_msg.enable was posted.  The
 *	engine's; map() clears it
 */
struct sanx_wire_map {
	void	*priv;
	u64	addr;
	u32	key;
	bool	sync;
	bool	enabled;
};

/**
 * struct sanx_wire_page - a piece of memory to write from
 * @page: its first page; the engine has a reference
 * @addr: the wire's, from map_page() to unmap_page()
 */
struct sanx_wire_page {
	struct page	*page;
	u64		addr;
};

/**
 * struct sanx_wire_write - a write to the peer's memory
 * @to: address, as the peer's mapping has it
 * @key: key of the peer's mapping
 * @len: bytes, at least 1
 * @order: each of @pages is of 2^@order pages
 * @pages: mapped pieces of memory, to write from as if one were behind the other
 * @pos: offset of the first byte there
 */
struct sanx_wire_write {
	u64				to;
	u32				key;
	u32				len;
	unsigned int			order;
	const struct sanx_wire_page	*pages;
	size_t				pos;
};

/**
 * sanx_wire_piece() - find the next bytes of a write
 * @w: the write
 * @done: bytes of it before these, fewer than there are
 * @offset: set to the offset of the first one in the piece
 * @n: set to how many there are in the piece
 *
 * Context: any.
 * Return: the piece.
 */
static inline const struct sanx_wire_page *
sanx_wire_piece(const struct sanx_wire_write *w, u32 done, size_t *offset, u32 *n)
{
	size_t size = PAGE_SIZE << w->order, pos = w->pos + done;

	*offset = pos & (size - 1);
	*n = min_t(size_t, w->len - done, size - *offset);
	return &w->pages[pos >> (PAGE_SHIFT + w->order)];
}

/**
 * struct sanx_wire_msg - a message: up to two writes, then a frame
 * @enable: mapping that is enabled before the writes, or NULL
 * @write: writes, done before the peer is told of the frame
 * @n_writes: number of @write
 * @slot: number of the slot, less than SANX_WIRE_SLOTS
 * @bytes: bytes of the frame in the slot's buffer.  0: there is no frame, and
 *	the last write carries @imm
 * @imm: immediate data
 * @signal: request sanx_wire_sent()
 * @pushed: sanx_wire_ops.push() follows, so the wire need not see to it that the
 *	message is sent before
 */
struct sanx_wire_msg {
	const struct sanx_wire_map	*enable;
	struct sanx_wire_write		write[2];
	int				n_writes;
	u32				slot;
	u32				bytes;
	u32				imm;
	bool				signal;
	bool				pushed;
};

/**
 * struct sanx_wire_ops - a wire
 *
 * @kind: the rails that it serves
 * @owner: the module, pinned by each connection
 */
struct sanx_wire_ops {
	enum sanx_wire_kind	kind;
	struct module		*owner;

	/**
	 * @listen: accept links from other nodes.  Called again whenever the
	 *	node map changes, to listen where that failed before.
	 * @net: the namespace
	 * @lnet: for sanx_wire_request()
	 * @listener: the wire's; NULL at first
	 *
	 * Context: process, may sleep.
	 * Return: 0, or -errno if nothing listens.
	 */
	int (*listen)(struct net *net, struct sanx_lnet *lnet,
		      void **listener);

	/**
	 * @unlisten: stop accepting links.  On return no request is being
	 *	handled.
	 * @listener: as listen() set it; not NULL
	 *
	 * Context: process, may sleep.
	 */
	void (*unlisten)(void *listener);

	/**
	 * @create: allocate the wire's part of an active link.
	 *
	 * Context: process, may sleep; NOIO.
	 * Return: it, to be freed with free(); or an error pointer.
	 */
	struct sanx_wire_link *(*create)(struct sanx_link *link,
					 struct net *net);

	/**
	 * @connect: ask the peer for a link.  sanx_wire_connected(),
	 *	sanx_wire_refused() or sanx_wire_failed() follows, or nothing:
	 *	the engine has a time limit.
	 *
	 * Context: process, may sleep; NOIO.
	 * Return: 0 or -errno.
	 */
	int (*connect)(struct sanx_wire_link *wl,
		       const struct sanx_wire_path *path);

	/**
	 * @who: ask who is at an address, before there is any link to it; NULL
	 *	if the wire cannot.  Calls sanx_wire_question(), and
	 *	sanx_wire_answered() if there is an answer.
	 * @addr: the address
	 * @s: for these calls
	 *
	 * Context: process, may sleep, for some seconds.
	 * Return: what sanx_wire_answered() has returned; or -errno.
	 */
	int (*who)(struct net *net, const struct in6_addr *addr,
		   struct sanx_seek *s);

	/**
	 * @quiesce: wait for an upcall about the set-up that runs now.  The link
	 *	is ending (sanx_wire_ending()), so later upcalls do nothing.
	 *
	 * Context: process, may sleep.
	 */
	void (*quiesce)(struct sanx_wire_link *wl);

	/**
	 * @stop: disconnect, and wait for the device: see "End" above.
	 *
	 * Context: process, may sleep.
	 */
	void (*stop)(struct sanx_wire_link *wl);

	/**
	 * @free: free everything.  Nothing is mapped any more.
	 *
	 * Context: process, may sleep; after quiesce() and stop().
	 */
	void (*free)(struct sanx_wire_link *wl);

	/**
	 * @post: send a message.
	 * @m: the message, and the struct at @m->enable: valid during the call.
	 *	What else it points to, what is mapped, and the buffer of the slot
	 *	stay unchanged until its completion
	 *
	 * At most SANX_WIRE_SLOTS messages are posted and not completed, and no
	 * more than the peer has receives for.
	 *
	 * Context: any; calls for one link are serialised by the engine.
	 * Return: 0; or -errno, and the engine ends the link.
	 */
	int (*post)(struct sanx_wire_link *wl, const struct sanx_wire_msg *m);

	/**
	 * @push: send what was posted, in the calling process.  NULL for a wire
	 *	whose post() does it.  After stop() it does nothing.
	 * @more: the caller means to post and push more at once, so the last
	 *	bytes may wait for a round trip to share a packet with that
	 *
	 * Context: process, may sleep; calls of several processes may overlap.
	 * Upcalls may come before it returns.
	 */
	void (*push)(struct sanx_wire_link *wl, bool more);

	/**
	 * @map: map memory for the peer's writes.
	 * @map: not mapped
	 * @buf: page aligned, contiguous for the CPU
	 * @size: bytes, a power of two, at most sanx_wire_caps.map_max
	 * @addr: address of the first byte in the mapping; a multiple of the
	 *	page size
	 *
	 * Context: process, may sleep.
	 * Return: 0 or -errno.
	 */
	int (*map)(struct sanx_wire_link *wl, struct sanx_wire_map *map,
		   void *buf, u32 size, u64 addr);

	/**
	 * @unmap: end the device's access to mapped memory.  The peer has said
	 *	that it writes nothing there any more, or stop() has returned.
	 *
	 * Context: process, may sleep.
	 */
	void (*unmap)(struct sanx_wire_map *map);

	/**
	 * @sync: let the CPU see what the peer wrote; if sanx_wire_map.sync.
	 * @pos: offset of the first byte
	 * @len: bytes; @pos + @len is at most the size
	 *
	 * Context: any.
	 */
	void (*sync)(const struct sanx_wire_map *map, u32 pos, u32 len);

	/**
	 * @map_page: map memory to write from.  NULL if that is not needed, as
	 *	unmap_page() then is, too.  The CPU may change what is not written
	 *	yet; post() sees to it that the device sees that.
	 * @page: a piece of 2^@order pages
	 *
	 * Context: any.
	 * Return: 0 or -ENOMEM.
	 */
	int (*map_page)(struct sanx_wire_link *wl, struct sanx_wire_page *page,
			unsigned int order);

	/**
	 * @unmap_page: the messages that read the memory have completed, or
	 *	stop() has returned.
	 *
	 * Context: any.
	 */
	void (*unmap_page)(struct sanx_wire_link *wl,
			   struct sanx_wire_page *page, unsigned int order);
};

/**
 * enum sanx_wire_failure - why a link cannot go on
 * @SANX_WIRE_LOST: the peer cannot be reached.  Its connections continue on
 *	another link.
 * @SANX_WIRE_FAULT: one of the two nodes did what it must not.  Connections are
 *	reset.
 */
enum sanx_wire_failure {
	SANX_WIRE_LOST,
	SANX_WIRE_FAULT,
};

int sanx_wire_register(const struct sanx_wire_ops *ops);
void sanx_wire_unregister(const struct sanx_wire_ops *ops);

/**
 * enum sanx_wire_origin - who has sent a request for a link
 * @SANX_WIRE_KERNEL: as far as the wire can tell, the kernel of the node at that
 *	address
 * @SANX_WIRE_ANYONE: perhaps a program of any node, as the wire lets programs write the
 *	address and the port; only a key proves who asks
 * @SANX_WIRE_PROGRAM: perhaps a program of that node without privileges
 * @SANX_WIRE_FORGED: the request does not come from the address that it names
 * @SANX_WIRE_APART: somebody in a VRF, where an address may be another node's
 */
enum sanx_wire_origin {
	SANX_WIRE_KERNEL,
	SANX_WIRE_ANYONE,
	SANX_WIRE_PROGRAM,
	SANX_WIRE_FORGED,
	SANX_WIRE_APART,
};

/**
 * enum sanx_cause - why there is no link
 * @SANX_CAUSE_NONE: there may be one
 * @SANX_CAUSE_TIE: who asks is to wait for a request of who is asked, which is in progress
 * @SANX_CAUSE_VERSION: the protocol of the two nodes has different versions
 * @SANX_CAUSE_MALFORMED: the request makes no sense
 * @SANX_CAUSE_PROGRAM: SANX_WIRE_PROGRAM
 * @SANX_CAUSE_FORGED: SANX_WIRE_FORGED
 * @SANX_CAUSE_APART: SANX_WIRE_APART
 * @SANX_CAUSE_UNMAPPED: the node map of who is asked does not have who asks
 * @SANX_CAUSE_OTHER_ID: who is asked has another node id by its node map
 * @SANX_CAUSE_NO_KEY: one node has a key for the other, which has none
 * @SANX_CAUSE_OTHER_KEY: the keys of the two are different
 * @SANX_CAUSE_TRANSLATED: the two see different addresses
 * @SANX_CAUSE_FABRIC: SANX_WIRE_ANYONE, and there is no key
 * @SANX_CAUSE_RATE: who asks does so too often
 * @SANX_CAUSE_HALF_OPEN: too many links are not up yet
 * @SANX_CAUSE_UNABLE: who is asked has no memory or no device for it
 * @SANX_CAUSE_QUOTA: what the user of its namespace may have is used up
 * @SANX_CAUSE_RAIL: the administrator keeps the rail free
 * @SANX_CAUSE_STOPPED: who is asked stops, or has no such rails
 * @SANX_CAUSE_CHANGING: the configuration of who is asked changes
 * @SANX_CAUSE_MUTE: who is asked does not answer questions of who asks
 * @SANX_CAUSE_REFUSED: who is asked refuses, and does not say why
 * @SANX_CAUSE_ABSENT: AF_SANX has not answered
 * @SANX_CAUSE_CLOSED: who is asked was reached, and has not answered: strangers get no
 *	answer of a TCP rail
 * @SANX_CAUSE_SILENT: nobody has answered in time
 * @SANX_CAUSE_NO_WAY: who asks has no device, address or memory for it
 * @SANX_CAUSE_UNFIT: its device cannot map the rings of the connections
 * @SANX_CAUSE_FAULT: one of the two did what it must not
 * @SANX_CAUSE_LOST: there was one, and the peer was not heard any more
 * @SANX_CAUSE_UP: there is one
 *
 * Named where it arises.  Those up to MUTE are told to the peer: their numbers are part of
 * the protocol, and new ones get the next number before @__SANX_CAUSES_TOLD.  The others
 * are those of who asks.  link/peer/cause.c has what follows from each, and the words.
 */
enum sanx_cause {
	SANX_CAUSE_NONE,
	SANX_CAUSE_TIE,
	SANX_CAUSE_VERSION,
	SANX_CAUSE_MALFORMED,
	SANX_CAUSE_PROGRAM,
	SANX_CAUSE_FORGED,
	SANX_CAUSE_APART,
	SANX_CAUSE_UNMAPPED,
	SANX_CAUSE_OTHER_ID,
	SANX_CAUSE_NO_KEY,
	SANX_CAUSE_OTHER_KEY,
	SANX_CAUSE_TRANSLATED,
	SANX_CAUSE_FABRIC,
	SANX_CAUSE_RATE,
	SANX_CAUSE_HALF_OPEN,
	SANX_CAUSE_UNABLE,
	SANX_CAUSE_QUOTA,
	SANX_CAUSE_RAIL,
	SANX_CAUSE_STOPPED,
	SANX_CAUSE_CHANGING,
	SANX_CAUSE_MUTE,
	/* private: */
	__SANX_CAUSES_TOLD,
	/* public: */
	SANX_CAUSE_REFUSED = __SANX_CAUSES_TOLD,
	SANX_CAUSE_ABSENT,
	SANX_CAUSE_CLOSED,
	SANX_CAUSE_SILENT,
	SANX_CAUSE_NO_WAY,
	SANX_CAUSE_UNFIT,
	SANX_CAUSE_FAULT,
	SANX_CAUSE_LOST,
	SANX_CAUSE_UP,
	/* private: */
	__SANX_CAUSES
};

/* Bytes that a peer is told of a refusal. */
#define SANX_WIRE_REFUSAL	8

/**
 * struct sanx_wire_ask - a request of a peer for a link
 * @kind: kind of the wire
 * @local: the address that it was sent to
 * @remote: the peer's address
 * @origin: who has sent it
 * @data: the peer's hello
 * @len: its size in bytes
 */
struct sanx_wire_ask {
	enum sanx_wire_kind	kind;
	struct in6_addr		local;
	struct in6_addr		remote;
	enum sanx_wire_origin	origin;
	const void		*data;
	size_t			len;
};

/* Set-up: setup.c */
enum sanx_cause sanx_wire_request(struct sanx_lnet *lnet,
				  struct sanx_wire_link *wl,
				  const struct sanx_wire_ask *ask);
bool sanx_wire_welcome(struct sanx_lnet *lnet, const struct sanx_wire_ask *ask,
		       u32 *node);
void sanx_wire_request_put(struct sanx_link *link);
void sanx_wire_refusal(void *buf, enum sanx_cause why);
int sanx_wire_prepare(struct sanx_link *link, const struct sanx_wire_caps *caps,
		      void **frames);
void sanx_wire_set_addrs(struct sanx_link *link, const struct in6_addr *local,
			 const struct in6_addr *remote);
int sanx_wire_hello(struct sanx_link *link, void *hello);
void sanx_wire_connected(struct sanx_link *link, const void *data, size_t len);
void sanx_wire_refused(struct sanx_link *link, const void *data, size_t len);

/* Finding nodes: seek.c */
int sanx_wire_question(struct sanx_seek *s, const struct in6_addr *local,
		       void *buf);
int sanx_wire_answered(struct sanx_seek *s, const void *data, size_t len);
enum sanx_cause sanx_wire_who(struct sanx_lnet *lnet,
			      const struct sanx_wire_ask *ask, void *buf);

/* Traffic and end: wr.c, recv.c, link.c */
void sanx_wire_sent(struct sanx_link *link, u32 slot);
bool sanx_wire_arrived(struct sanx_link *link, const void *buf, u32 bytes);
bool sanx_wire_written(struct sanx_link *link, u32 imm, u32 bytes);
void sanx_wire_received(struct sanx_link *link);
void sanx_wire_cause(struct sanx_link *link, enum sanx_cause cause);
void sanx_wire_failed(struct sanx_link *link, enum sanx_wire_failure why);
bool sanx_wire_ending(const struct sanx_link *link);
bool sanx_wire_reserves(const struct sanx_link *link);
u32 sanx_wire_peer(const struct sanx_link *link);

#endif /* _NET_SANX_WIRE_H */
