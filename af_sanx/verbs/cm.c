// SPDX-License-Identifier: GPL-2.0
/*
 * Connection manager: set-up of links over RDMA.
 *
 * The engine decides who may have a link, and what the private data of request,
 * reply and rejection say (af_sanx/link/peer/setup.c).
 */
#include <linux/cred.h>
#include <linux/in.h>
#include <linux/sched/mm.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <net/ipv6.h>
#include <net/sock.h>
#include <rdma/ib_cm.h>

#include "verbs.h"

/*
 * Private data of a request, as far as the RDMA CM leaves it to its users: over
 * InfiniBand it puts a header of 36 bytes in front.
 */
static_assert(SANX_WIRE_HELLO + 36 <= IB_CM_REQ_PRIVATE_DATA_SIZE);

/*
 * A packet may stay unacknowledged for 4.096 us * 2^18 = 1 s, and is sent 7
 * times.  Some devices take 7, the largest number of retries, as infinite.
 */
#define ACK_TIMEOUT	18
#define RETRIES		6
/* Infinite, but a peer has a receive for each message (sanx_wire_ops.post). */
#define RNR_RETRIES	7

/* Ports to try, as others may use some. */
#define PORT_TRIES	16

/**
 * struct verbs_listener - listeners of a namespace
 * @lnet: the namespace, as the engine knows it
 * @id: one for each address family, because iWARP devices cannot recognise an
 *	IPv4 peer of a listener for both
 */
struct verbs_listener {
	struct sanx_lnet	*lnet;
	struct rdma_cm_id	*id[2];
};

/* The address in a socket address. */
void verbs_addr(struct in6_addr *addr, const struct sockaddr_storage *ss)
{
	if (ss->ss_family == AF_INET)
		ipv6_addr_set_v4mapped(((const struct sockaddr_in *)ss)
				       ->sin_addr.s_addr, addr);
	else
		*addr = ((const struct sockaddr_in6 *)ss)->sin6_addr;
}

static u16 sockaddr_port(const struct sockaddr_storage *ss)
{
	return ntohs(ss->ss_family == AF_INET ?
		     ((const struct sockaddr_in *)ss)->sin_port :
		     ((const struct sockaddr_in6 *)ss)->sin6_port);
}

static void cm_set_addrs(struct verbs_link *vl)
{
	struct in6_addr local, remote;

	verbs_addr(&local, &vl->id->route.addr.src_addr);
	verbs_addr(&remote, &vl->id->route.addr.dst_addr);
	sanx_wire_set_addrs(vl->wl.link, &local, &remote);
}

/* iWARP: a set-up does not tell the peer's number. */
static u32 cm_qpn(const struct rdma_cm_id *id, u32 qpn)
{
	return rdma_protocol_iwarp(id->device, id->port_num) ? 0 : qpn;
}

static void param_fill(struct rdma_conn_param *param, const void *hello,
		       const struct rdma_cm_id *id)
{
	/* Nobody reads, but devices for iWARP may take 0 for a mistake. */
	u8 reads = rdma_protocol_iwarp(id->device, id->port_num);

	*param = (struct rdma_conn_param){
		.private_data		= hello,
		.private_data_len	= SANX_WIRE_HELLO,
		.responder_resources	= reads,
		.initiator_depth	= reads,
		.retry_count		= RETRIES,
		.rnr_retry_count	= RNR_RETRIES,
	};
}

/* Sets up @vl and fills @param and @hello; @param points to @hello. */
static int cm_prepare(struct verbs_link *vl, struct rdma_conn_param *param,
		      void *hello)
{
	int err = verbs_setup(vl);

	if (err)
		return err;
	vl->wl.qpn = cm_qpn(vl->id, vl->id->qp->qp_num);
	err = sanx_wire_hello(vl->wl.link, hello);
	if (err)
		return err;
	param_fill(param, hello, vl->id);
	vl->live = true;
	return 0;
}

static int cm_request_link(struct verbs_link *vl)
{
	struct rdma_conn_param param;
	u8 hello[SANX_WIRE_HELLO];

	return cm_prepare(vl, &param, hello) ?:
	       rdma_connect_locked(vl->id, &param);
}

static void cm_step(struct verbs_link *vl, struct rdma_cm_event *ev)
{
	const struct rdma_conn_param *p = &ev->param.conn;
	struct sanx_link *link = vl->wl.link;
	int err = 0;

	switch (ev->event) {
	case RDMA_CM_EVENT_ADDR_RESOLVED:
		err = rdma_resolve_route(vl->id, vl->route_ms);
		break;
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
		cm_set_addrs(vl);
		err = cm_request_link(vl);
		break;
	case RDMA_CM_EVENT_ESTABLISHED:
		if (!vl->active)
			break;
		vl->wl.peer_qpn = cm_qpn(vl->id, p->qp_num);
		sanx_wire_connected(link, p->private_data, p->private_data_len);
		break;
	case RDMA_CM_EVENT_REJECTED:
		sanx_wire_refused(link, p->private_data, p->private_data_len);
		break;
	case RDMA_CM_EVENT_DISCONNECTED:
		/*
		 * If the peer ended the link on purpose, it refuses to resume
		 * connections.
		 */
	case RDMA_CM_EVENT_DEVICE_REMOVAL:
		/* Another rail may work, or this one again soon. */
	default:
		if (ev->event == RDMA_CM_EVENT_DEVICE_REMOVAL || ev->status == -ENODEV)
			sanx_wire_cause(link, SANX_CAUSE_NO_WAY);
		err = -ETIMEDOUT;
		break;
	}
	/* Those of our own calls; a step that nobody answers has ETIMEDOUT. */
	if (err && err != -ETIMEDOUT && err != -ECONNREFUSED)
		sanx_wire_cause(link, SANX_CAUSE_NO_WAY);
	/* Nobody listens there: siw says so when it connects, and not by an event. */
	if (err == -ECONNREFUSED)
		sanx_wire_refused(link, NULL, 0);
	else if (err == -ETIMEDOUT || err == -EADDRINUSE)
		sanx_wire_failed(link, SANX_WIRE_LOST);
	else if (err)
		sanx_wire_failed(link, SANX_WIRE_FAULT);
}

/*
 * Context: process, the handler mutex of @id held.
 * Return: 0 always, because only verbs_free() may destroy the id.
 */
static int cm_link_event(struct rdma_cm_id *id, struct rdma_cm_event *ev)
{
	struct verbs_link *vl = id->context;
	unsigned int noio;

	pr_debug("link to node %u: %s (%d)\n", sanx_wire_peer(vl->wl.link),
		 rdma_event_msg(ev->event), ev->status);
	if (sanx_wire_ending(vl->wl.link))
		return 0;
	noio = memalloc_noio_save();
	cm_step(vl, ev);
	memalloc_noio_restore(noio);
	return 0;
}

/*
 * Make an id of the connection manager.
 *
 * The connection manager takes a reference of the namespace, and expects that there is
 * one.
 *
 * Return: the id, or an error pointer.
 */
struct rdma_cm_id *verbs_create_id(struct net *net, rdma_cm_event_handler handler,
				   void *context)
{
	struct rdma_cm_id *id;

	if (!maybe_get_net(net))
		return ERR_PTR(-ENETDOWN);
	id = rdma_create_id(net, handler, context, RDMA_PS_TCP, IB_QPT_RC);
	put_net(net);
	return id;
}

/* sanx_wire_ops.create. */
struct sanx_wire_link *verbs_create(struct sanx_link *link, struct net *net)
{
	struct verbs_link *vl = kzalloc(sizeof(*vl), GFP_KERNEL);
	struct rdma_cm_id *id;

	if (!vl)
		return ERR_PTR(-ENOMEM);
	vl->wl.link = link;
	vl->active = true;
	id = verbs_create_id(net, cm_link_event, vl);
	if (IS_ERR(id)) {
		kfree(vl);
		return ERR_CAST(id);
	}
	vl->id = id;
	return &vl->wl;
}

/*
 * Take a reserved port.
 *
 * cma_use_port() of drivers/infiniband/core/cma.c asks programs for the capability, and
 * iWARP has TIME_WAIT (sanx_wire_next_port()).
 */
int verbs_bind(struct rdma_cm_id *id, const struct in6_addr *src)
{
	static atomic_t next;
	struct sockaddr_storage ss;
	int i, err = -EADDRINUSE;

	for (i = 0; i < PORT_TRIES && err == -EADDRINUSE; i++) {
		sanx_wire_sockaddr(&ss, src, sanx_wire_next_port(&next));
		err = rdma_bind_addr(id, (struct sockaddr *)&ss);
	}
	return err;
}

/*
 * sanx_wire_ops.connect.
 *
 * If the notification of a neighbour update is lost, address resolution finds
 * the neighbour when the time limit of the step expires.
 */
int verbs_connect(struct sanx_wire_link *wl, const struct sanx_wire_path *path)
{
	struct verbs_link *vl = verbs_link_of(wl);
	struct sockaddr_storage dst;
	int err;

	sanx_wire_sockaddr(&dst, &path->dst, service_port);
	vl->route_ms = path->route_ms;
	/* Some devices ignore this. */
	rdma_set_ack_timeout(vl->id, ACK_TIMEOUT);
	err = verbs_bind(vl->id, &path->src);
	return err ?: rdma_resolve_addr(vl->id, NULL, (struct sockaddr *)&dst,
					path->addr_ms);
}

/*
 * sanx_wire_ops.quiesce.
 *
 * Locking the mutex of the event handler waits for a handler that runs now.
 */
void verbs_quiesce(struct sanx_wire_link *wl)
{
	struct verbs_link *vl = verbs_link_of(wl);

	rdma_lock_handler(vl->id);
	rdma_unlock_handler(vl->id);
}

/*
 * RoCE: the request carries the address that the peer claims, and the path has
 * the address that it uses.  They must be the same.
 */
static bool cm_gid_ok(const struct rdma_cm_id *id)
{
	union ib_gid gid;

	if (!rdma_protocol_roce(id->device, id->port_num) || !id->route.path_rec)
		return true;
	rdma_ip2gid((struct sockaddr *)&id->route.addr.dst_addr, &gid);
	return !memcmp(&gid, &id->route.path_rec->dgid, sizeof(gid));
}

/*
 * The port is what the connection manager of the peer's node wrote into the
 * request; over iWARP it is the port of the TCP connection.  Programs cannot
 * write requests of their own without CAP_NET_RAW.  The other way round,
 * service_port is such a port.
 *
 * InfiniBand and OPA: with AF_IB, the header that has the port is the program's
 * (cma_user_data_offset() in drivers/infiniband/core/cma.c), and nobody needs more
 * than access to /dev/infiniband/rdma_cm.  Over RoCE there is no way from AF_IB to a
 * route (cma_iboe_set_path_rec_l2_fields() wants a network device), though devices
 * have the capability (rdma_cap_af_ib()).
 */
static enum sanx_wire_origin cm_origin(const struct rdma_cm_id *id)
{
	if (!cm_gid_ok(id))
		return SANX_WIRE_FORGED;
	if (rdma_protocol_ib(id->device, id->port_num))
		return SANX_WIRE_ANYONE;
	if (sockaddr_port(&id->route.addr.dst_addr) >= PROT_SOCK)
		return SANX_WIRE_PROGRAM;
	return SANX_WIRE_KERNEL;
}

static int cm_accept(struct verbs_link *vl)
{
	struct rdma_conn_param param;
	u8 hello[SANX_WIRE_HELLO];

	return cm_prepare(vl, &param, hello) ?: rdma_accept(vl->id, &param);
}

static int cm_reject(struct rdma_cm_id *id, enum sanx_cause why)
{
	u8 data[SANX_WIRE_REFUSAL];

	sanx_wire_refusal(data, why);
	rdma_reject(id, data, sizeof(data), IB_CM_REJ_CONSUMER_DEFINED);
	return -ECONNREFUSED;
}

/* Who asks, and what. */
static void cm_ask(struct sanx_wire_ask *ask, struct rdma_cm_id *id,
		   const struct rdma_conn_param *p)
{
	*ask = (struct sanx_wire_ask){
		.kind	= SANX_WIRE_RDMA,
		.origin	= cm_origin(id),
		.data	= p->private_data,
		.len	= p->private_data_len,
	};
	verbs_addr(&ask->local, &id->route.addr.src_addr);
	verbs_addr(&ask->remote, &id->route.addr.dst_addr);
}

/* Offers the request to the engine; the link owns @id if it takes it. */
static enum sanx_cause cm_offer(struct sanx_lnet *lnet, struct verbs_link *vl,
				struct rdma_cm_id *id,
				const struct rdma_conn_param *p)
{
	struct sanx_wire_ask ask;
	enum sanx_cause why;

	vl->id = id;
	vl->wl.peer_qpn = cm_qpn(id, p->qp_num);
	cm_ask(&ask, id, p);
	why = sanx_wire_request(lnet, &vl->wl, &ask);
	if (!why) {
		id->context = vl;
		id->event_handler = cm_link_event;
	}
	return why;
}

static bool cm_is_question(const struct rdma_conn_param *p)
{
	__le32 magic = cpu_to_le32(SANX_WIRE_WHO);

	return p->private_data_len >= sizeof(magic) &&
	       !memcmp(p->private_data, &magic, sizeof(magic));
}

/* A question, and not a request: the rejection has the answer. */
static int cm_tell(struct sanx_lnet *lnet, struct rdma_cm_id *id,
		   const struct rdma_conn_param *p)
{
	u8 answer[SANX_WIRE_ANSWER];
	struct sanx_wire_ask ask;
	enum sanx_cause why;

	cm_ask(&ask, id, p);
	why = sanx_wire_who(lnet, &ask, answer);
	if (why)
		return cm_reject(id, why);
	rdma_reject(id, answer, sizeof(answer), IB_CM_REJ_CONSUMER_DEFINED);
	return -ECONNREFUSED;
}

/*
 * Return: 0, and the link owns @id; or -errno, and the connection manager
 * destroys @id, to which nothing of ours refers.
 */
static int cm_request(struct sanx_lnet *lnet, struct rdma_cm_id *id,
		      const struct rdma_conn_param *p)
{
	struct verbs_link *vl;
	struct sanx_link *link;
	enum sanx_cause why;

	if (cm_is_question(p))
		return cm_tell(lnet, id, p);
	vl = kzalloc(sizeof(*vl), GFP_KERNEL);
	if (!vl)
		return cm_reject(id, SANX_CAUSE_UNABLE);
	why = cm_offer(lnet, vl, id, p);
	if (why) {
		kfree(vl);
		return cm_reject(id, why);
	}
	link = vl->wl.link;
	if (cm_accept(vl)) {
		cm_reject(id, SANX_CAUSE_UNABLE);
		sanx_wire_failed(link, SANX_WIRE_FAULT);
	}
	sanx_wire_request_put(link);
	return 0;
}

static int cm_listen_event(struct rdma_cm_id *id, struct rdma_cm_event *ev)
{
	struct verbs_listener *l = id->context;
	unsigned int noio;
	int err;

	/* The RDMA CM handles events of a listener itself (devices). */
	if (ev->event != RDMA_CM_EVENT_CONNECT_REQUEST)
		return 0;
	noio = memalloc_noio_save();
	err = cm_request(l->lnet, id, &ev->param.conn);
	memalloc_noio_restore(noio);
	return err;
}

/*
 * The kernel's: whoever makes the first socket of a namespace, or changes its node
 * map, may not have CAP_NET_BIND_SERVICE, which the RDMA CM demands for
 * service_port.
 */
static const struct cred *cm_cred;

/* Set up what verbs_listen() needs.  Return: 0 or -ENOMEM. */
int verbs_cm_init(void)
{
	cm_cred = prepare_kernel_cred(&init_task);
	return cm_cred ? 0 : -ENOMEM;
}

/* Undo verbs_cm_init(). */
void verbs_cm_exit(void)
{
	put_cred(cm_cred);
}

static int cm_listen_at(struct rdma_cm_id *id, struct sockaddr_storage *any)
{
	const struct cred *was = override_creds(cm_cred);
	int err = rdma_bind_addr(id, (struct sockaddr *)any);

	/* Over iWARP this binds a socket of TCP. */
	if (!err)
		err = rdma_listen(id, 64);
	revert_creds(was);
	return err;
}

static struct rdma_cm_id *cm_listen(struct net *net, struct verbs_listener *l,
				    int family)
{
	struct sockaddr_storage any = { .ss_family = family };
	struct rdma_cm_id *id;
	int err;

	id = verbs_create_id(net, cm_listen_event, l);
	if (IS_ERR(id))
		return id;
	if (family == AF_INET)
		((struct sockaddr_in *)&any)->sin_port = htons(service_port);
	else
		((struct sockaddr_in6 *)&any)->sin6_port = htons(service_port);
	err = rdma_set_afonly(id, 1);
	if (!err)
		err = cm_listen_at(id, &any);
	if (!err)
		return id;
	rdma_destroy_id(id);
	return ERR_PTR(err);
}

/*
 * sanx_wire_ops.listen.
 *
 * A listener is bound to no device: it listens on all present and future ones.
 */
int verbs_listen(struct net *net, struct sanx_lnet *lnet, void **listener)
{
	static const int family[] = { AF_INET, AF_INET6 };
	struct verbs_listener *l = *listener;
	struct rdma_cm_id *id;
	int err = 0;
	unsigned int i;

	if (!l) {
		l = kzalloc(sizeof(*l), GFP_KERNEL);
		if (!l)
			return -ENOMEM;
		l->lnet = lnet;
		*listener = l;
	}
	for (i = 0; i < ARRAY_SIZE(family); i++) {
		if (l->id[i] ||
		    (family[i] == AF_INET6 && !ipv6_mod_enabled()))
			continue;
		id = cm_listen(net, l, family[i]);
		if (IS_ERR(id))
			err = PTR_ERR(id);
		else
			l->id[i] = id;
	}
	return l->id[0] || l->id[1] ? 0 : err;
}

/* sanx_wire_ops.unlisten. */
void verbs_unlisten(void *listener)
{
	struct verbs_listener *l = listener;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(l->id); i++)
		if (l->id[i])
			rdma_destroy_id(l->id[i]);
	kfree(l);
}
