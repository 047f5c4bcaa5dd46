/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The verbs wire: links over RDMA.
 *
 *	main.c	module
 *	cm.c	connection manager: set-up of links
 *	who.c	questions to others
 *	qp.c	resources of a link, work requests, completions
 *	alone.c	devices on which a registration must go alone
 *	order.h	what goes before what there
 *	status.h	what a failed completion says of a link
 *	mr.c	memory regions, and memory that is sent from
 *
 * The engine serialises post() of a link.  The completion queue of a link runs one
 * handler at a time.  So the wire needs no lock of its own, but where a handler posts,
 * too (alone.c).
 */
#ifndef _SANX_VERBS_H
#define _SANX_VERBS_H

#include <linux/dma-direction.h>
#include <rdma/ib_verbs.h>
#include <rdma/rdma_cm.h>

#include <net/sanx_wire.h>

/* Work requests of one message: a registration, two writes, the frame. */
#define VERBS_CHAIN	4U
/* Scatter/gather entries of a write of SANX_WIRE_PAYLOAD_MAX, not page aligned. */
#define VERBS_SGES	17U

/**
 * struct verbs_frames - memory for frames, mapped for the device
 * @buf: page aligned
 * @dma: DMA address of @buf
 * @bytes: size
 * @dir: direction of the mapping
 */
struct verbs_frames {
	void			*buf;
	u64			dma;
	size_t			bytes;
	enum dma_data_direction	dir;
};

/**
 * struct verbs_cqe - a completion of a frame
 * @cqe: as the work request has it
 * @vl: the link
 *
 * Its index in verbs_link.sent or .recv is the number of the frame's buffer.
 */
struct verbs_cqe {
	struct ib_cqe		cqe;
	struct verbs_link	*vl;
};

/**
 * struct verbs_link - a queue pair
 * @wl: what the engine sees
 * @active: our attempt, not the peer's
 * @route_ms: limit for route resolution, in ms
 * @id: the id of the connection manager
 * @pd: protection domain, used by this link only; no other peer can name memory
 *	that is registered in it
 * @cq: completion queue for both directions
 * @qp: the queue pair
 * @live: @qp has left its initial states and must be drained
 * @max_sge: scatter/gather entries of a work request, at most VERBS_SGES
 * @tx: frames to send; the memory is the engine's
 * @rx: frames to receive
 * @sent: completions of frames, SANX_WIRE_SLOTS
 * @recv: receives, SANX_WIRE_RECVS
 * @alone: alone.c, if the device needs it, or NULL
 * @chain: completion of work requests that are not frames; they complete only
 *	on failure
 * @sge: scatter/gather entries of writes that are being posted; one more than
 *	VERBS_SGES for where the peer's ring wraps
 */
struct verbs_link {
	struct sanx_wire_link	wl;
	bool			active;
	unsigned int		route_ms;
	struct rdma_cm_id	*id;
	struct ib_pd		*pd;
	struct ib_cq		*cq;
	struct ib_qp		*qp;
	bool			live;
	u32			max_sge;
	struct verbs_frames	tx;
	struct verbs_frames	rx;
	struct verbs_cqe	*sent;
	struct verbs_cqe	*recv;
	struct verbs_alone	*alone;
	struct ib_cqe		chain;
	struct ib_sge		sge[VERBS_SGES + 1];
};

static inline struct verbs_link *verbs_link_of(struct sanx_wire_link *wl)
{
	return container_of(wl, struct verbs_link, wl);
}

/* main.c */
extern unsigned int service_port;

/* cm.c */
int verbs_cm_init(void);
void verbs_cm_exit(void);
int verbs_listen(struct net *net, struct sanx_lnet *lnet, void **listener);
void verbs_unlisten(void *listener);
struct sanx_wire_link *verbs_create(struct sanx_link *link, struct net *net);
void verbs_addr(struct in6_addr *addr, const struct sockaddr_storage *ss);
struct rdma_cm_id *verbs_create_id(struct net *net, rdma_cm_event_handler handler,
				   void *context);
int verbs_bind(struct rdma_cm_id *id, const struct in6_addr *src);
int verbs_connect(struct sanx_wire_link *wl, const struct sanx_wire_path *path);
void verbs_quiesce(struct sanx_wire_link *wl);

/* who.c */
int verbs_who(struct net *net, const struct in6_addr *addr, struct sanx_seek *s);

/* qp.c */
int verbs_setup(struct verbs_link *vl);
void verbs_stop(struct sanx_wire_link *wl);
void verbs_free(struct sanx_wire_link *wl);
int verbs_post(struct sanx_wire_link *wl, const struct sanx_wire_msg *m);
int verbs_post_chain(struct verbs_link *vl, const struct sanx_wire_msg *m);
int verbs_post_reg(struct verbs_link *vl, const struct sanx_wire_map *map);
void verbs_wc_error(struct verbs_link *vl, const struct ib_wc *wc, const char *what);

/* alone.c */
int verbs_alone_alloc(struct verbs_link *vl);
void verbs_alone_free(struct verbs_link *vl);
int verbs_alone_post(struct verbs_link *vl, const struct sanx_wire_msg *m);
void verbs_alone_sent(struct verbs_link *vl, u32 slot);
void verbs_alone_stop(struct verbs_link *vl);

/* mr.c */
int verbs_map(struct sanx_wire_link *wl, struct sanx_wire_map *map, void *buf,
	      u32 size, u64 addr);
void verbs_unmap(struct sanx_wire_map *map);
void verbs_sync(const struct sanx_wire_map *map, u32 pos, u32 len);
void verbs_reg_wr(const struct sanx_wire_map *map, struct ib_reg_wr *wr);
int verbs_map_page(struct sanx_wire_link *wl, struct sanx_wire_page *page,
		   unsigned int order);
void verbs_unmap_page(struct sanx_wire_link *wl, struct sanx_wire_page *page,
		      unsigned int order);

#endif /* _SANX_VERBS_H */
