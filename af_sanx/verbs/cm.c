// SPDX-License-Identifier: GPL-2.0
/*
 * Connection manager: how a link is set up, and which peers may have one.
 *
 * The request and the reply carry a &struct sanx_hello, which names both nodes.
 * Both sides check it against the node map.  The passive side accepts a request
 * only if it names this node, comes from a node in the map, and comes from an
 * address that is a rail of that node.
 *
 * The active side sends the first frame, as iWARP requires (MPA, RFC 5044).
 * The passive side considers the link up when that frame arrives.  The frame
 * follows the last message of the connection manager, and unlike that message
 * it cannot be lost.
 */
#include <linux/in.h>
#include <linux/sched/mm.h>
#include <net/ipv6.h>
#include <rdma/ib_cm.h>

#include "verbs.h"

/* Reject word: wait for our own request, which is in progress. */
#define REJECT_TIE	0x534e5854	/* "SNXT" */
/* Reject word: refused for now, for example for lack of memory. */
#define REJECT_LATER	0x534e584c	/* "SNXL" */
/* Reject word: refused for good, for example because not in the node map. */
#define REJECT_NEVER	0x534e584e	/* "SNXN" */

/*
 * A packet may stay unacknowledged for 4.096 us * 2^18 = 1 s, and is sent 7
 * times.  Some devices take 7, the largest number of retries, as infinite.
 */
#define ACK_TIMEOUT	18
#define RETRIES		6
#define RNR_RETRIES	7	/* infinite; but see link_credit.h */

static int cm_link_event(struct rdma_cm_id *id, struct rdma_cm_event *ev);

static void addr_to_sockaddr(struct sockaddr_storage *ss,
			     const struct in6_addr *addr, u16 port)
{
	struct sockaddr_in6 *sin6 = (struct sockaddr_in6 *)ss;
	struct sockaddr_in *sin = (struct sockaddr_in *)ss;

	memset(ss, 0, sizeof(*ss));
	if (ipv6_addr_v4mapped(addr)) {
		sin->sin_family = AF_INET;
		sin->sin_port = htons(port);
		sin->sin_addr.s_addr = addr->s6_addr32[3];
	} else {
		sin6->sin6_family = AF_INET6;
		sin6->sin6_port = htons(port);
		sin6->sin6_addr = *addr;
	}
}

static void sockaddr_to_addr(struct in6_addr *addr,
			     const struct sockaddr_storage *ss)
{
	if (ss->ss_family == AF_INET)
		ipv6_addr_set_v4mapped(((const struct sockaddr_in *)ss)
				       ->sin_addr.s_addr, addr);
	else
		*addr = ((const struct sockaddr_in6 *)ss)->sin6_addr;
}

static void cm_set_addrs(struct vlink *link, const struct rdma_cm_id *id)
{
	mutex_lock(&link->group->vnet->lock);
	sockaddr_to_addr(&link->local, &id->route.addr.src_addr);
	sockaddr_to_addr(&link->remote, &id->route.addr.dst_addr);
	mutex_unlock(&link->group->vnet->lock);
}

static void hello_fill(struct sanx_hello *hello, const struct vlink *link)
{
	struct sanx_hello_info info = {
		.from		= link->self,
		.to		= link->group->peer,
		.recvs		= VLINK_RECVS,
		.inline_max	= SANX_INLINE_MAX,
		.lane		= link->group->lane,
		.instance	= link->group->vnet->instance,
	};

	sanx_hello_build(hello, &info);
}

/* Takes the values of the peer's hello, before frames are sent or received. */
static void hello_take(struct vlink *link, const struct sanx_hello_info *info)
{
	spin_lock_bh(&link->tx_lock);
	link_credit_init_tx(&link->credit, info->recvs);
	link->inline_max = info->inline_max;
	link->instance = info->instance;
	spin_unlock_bh(&link->tx_lock);
}

static void param_fill(struct rdma_conn_param *param,
		       const struct sanx_hello *hello)
{
	*param = (struct rdma_conn_param){
		.private_data		= hello,
		.private_data_len	= sizeof(*hello),
		.responder_resources	= 1,
		.initiator_depth	= 1,
		.retry_count		= RETRIES,
		.rnr_retry_count	= RNR_RETRIES,
	};
}

/* Sets up @link and fills @param and @hello; @param points to @hello. */
static int cm_prepare(struct vlink *link, struct rdma_conn_param *param,
		      struct sanx_hello *hello)
{
	int err = vlink_setup(link);

	if (err)
		return err;
	hello_fill(hello, link);
	param_fill(param, hello);
	link->live = true;
	return 0;
}

static int cm_connect(struct vlink *link)
{
	struct rdma_conn_param param;
	struct sanx_hello hello;

	return cm_prepare(link, &param, &hello) ?:
	       rdma_connect_locked(link->id, &param);
}

static int cm_established(struct vlink *link, const struct rdma_conn_param *p)
{
	struct sanx_hello_info info;
	int err;

	if (!link->active)
		return 0;
	err = sanx_hello_parse(&info, p->private_data, p->private_data_len);
	if (err)
		return err;
	if (info.from != link->group->peer || info.to != link->self ||
	    info.lane != link->group->lane)
		return -EPROTO;
	hello_take(link, &info);
	vlink_came_up(link);
	return 0;
}

/* Returns the peer's reject word, or 0. */
static u32 cm_reject_word(const struct rdma_conn_param *p)
{
	__le32 why;

	if (!p->private_data || p->private_data_len < sizeof(why))
		return 0;
	memcpy(&why, p->private_data, sizeof(why));
	return le32_to_cpu(why);
}

/*
 * A rejection without a reject word comes from the connection manager and not
 * from AF_SANX.  Either the peer has no AF_SANX any more, or its device is new
 * and AF_SANX does not listen there yet.
 */
static void cm_rejected(struct vlink *link, struct rdma_cm_event *ev)
{
	u32 why = cm_reject_word(&ev->param.conn);
	struct vgroup *g = link->group;

	mutex_lock(&g->vnet->lock);
	/* Both sides tried, and the peer's request has precedence. */
	if (why == REJECT_TIE)
		link->tied = true;
	/* A peer that gives up its own attempt has AF_SANX. */
	else if (why != REJECT_LATER && link->active)
		vorphan_refused(g, why == REJECT_NEVER);
	mutex_unlock(&g->vnet->lock);
	vlink_kill(link, ECONNREFUSED);
}

static int cm_step(struct vlink *link, struct rdma_cm_event *ev)
{
	switch (ev->event) {
	case RDMA_CM_EVENT_ADDR_RESOLVED:
		return rdma_resolve_route(link->id, READ_ONCE(link_timeout_ms));
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
		cm_set_addrs(link, link->id);
		return cm_connect(link);
	case RDMA_CM_EVENT_ESTABLISHED:
		return cm_established(link, &ev->param.conn);
	case RDMA_CM_EVENT_REJECTED:
		cm_rejected(link, ev);
		return 0;
	case RDMA_CM_EVENT_DISCONNECTED:
		/*
		 * If the peer ended the link on purpose, it refuses to resume
		 * connections.
		 */
	case RDMA_CM_EVENT_DEVICE_REMOVAL:
		/* Another rail may work, or this one again soon. */
	default:
		return -ETIMEDOUT;
	}
}

/*
 * Context: process, the handler mutex of @id held.
 * Return: 0 always, because only link_end() may destroy the id.
 */
static int cm_link_event(struct rdma_cm_id *id, struct rdma_cm_event *ev)
{
	struct vlink *link = id->context;
	unsigned int noio;
	int err;

	pr_debug("link to node %u: %s (%d)\n", link->group->peer,
		 rdma_event_msg(ev->event), ev->status);
	if (READ_ONCE(link->state) >= VLINK_DYING)
		return 0;
	noio = memalloc_noio_save();
	err = cm_step(link, ev);
	memalloc_noio_restore(noio);
	if (err == -EPROTO)
		sanx_count_protocol_error(link->group->vnet->net);
	if (err)
		vlink_kill(link, err == -ETIMEDOUT ? ETIMEDOUT : ECONNRESET);
	return 0;
}

/*
 * Chooses our rail for a rail of the peer: the one of the same number, or the
 * next one of the same address family.
 */
static bool cm_source(const struct vlink *link, const struct in6_addr *dst,
		      struct in6_addr *src)
{
	bool v4 = ipv6_addr_v4mapped(dst);
	struct sanx_node_info self;
	unsigned int i, n;

	if (!sanx_node_by_id(link->group->vnet->net, link->self, &self))
		return false;
	for (i = 0; i < self.n_rails; i++) {
		n = (link->rail + i) % self.n_rails;
		if (!!ipv6_addr_v4mapped(&self.rail[n]) == v4) {
			*src = self.rail[n];
			return true;
		}
	}
	return false;
}

static int cm_resolve(struct vlink *link)
{
	struct sockaddr_storage src, dst;
	struct sanx_node_info info;
	struct in6_addr from;

	if (!sanx_node_by_id(link->group->vnet->net, link->group->peer, &info) ||
	    link->rail >= info.n_rails)
		return -ENOENT;
	addr_to_sockaddr(&dst, &info.rail[link->rail], service_port);
	if (!cm_source(link, &info.rail[link->rail], &from))
		return -EADDRNOTAVAIL;
	addr_to_sockaddr(&src, &from, 0);
	/* Some devices ignore this. */
	rdma_set_ack_timeout(link->id, ACK_TIMEOUT);
	/*
	 * Half of the rail's share of the time.  If the notification of a
	 * neighbour update is lost, address resolution finds the neighbour when
	 * this expires.
	 */
	return rdma_resolve_addr(link->id, (struct sockaddr *)&src,
				 (struct sockaddr *)&dst,
				 READ_ONCE(link_timeout_ms) / info.n_rails / 2);
}

/**
 * vcm_start() - start to set up an active link
 * @work: vlink.start
 *
 * Context: process, may sleep.
 */
void vcm_start(struct work_struct *work)
{
	struct vlink *link = container_of(work, struct vlink, start);
	unsigned int noio = memalloc_noio_save();
	struct rdma_cm_id *id;
	int err;

	id = rdma_create_id(link->group->vnet->net, cm_link_event, link,
			    RDMA_PS_TCP, IB_QPT_RC);
	err = PTR_ERR_OR_ZERO(id);
	if (!err) {
		link->id = id;
		err = cm_resolve(link);
	}
	if (err)
		vlink_kill(link, ETIMEDOUT);
	memalloc_noio_restore(noio);
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

static bool cm_peer_ok(struct vnet *vnet, const struct sanx_hello_info *hello,
		       const struct rdma_cm_id *id)
{
	struct in6_addr addr;

	sockaddr_to_addr(&addr, &id->route.addr.dst_addr);
	return hello->to == sanx_node_self(vnet->net) &&
	       sanx_node_has_rail(vnet->net, hello->from, &addr) &&
	       cm_gid_ok(id);
}

static int cm_accept(struct vlink *link, const struct sanx_hello_info *info)
{
	struct rdma_conn_param param;
	struct sanx_hello hello;

	hello_take(link, info);
	return cm_prepare(link, &param, &hello) ?:
	       rdma_accept(link->id, &param);
}

static int cm_reject(struct rdma_cm_id *id, u32 why)
{
	__le32 data = cpu_to_le32(why);

	rdma_reject(id, &data, sizeof(data), IB_CM_REJ_CONSUMER_DEFINED);
	return -ECONNREFUSED;
}

static u32 cm_refusal(int err)
{
	switch (err) {
	case -EALREADY:
		return REJECT_TIE;
	case -ENOMEM:
		return REJECT_LATER;
	default:
		return REJECT_NEVER;
	}
}

/*
 * Return: 0, and the link owns @id; or -errno, and the connection manager
 * destroys @id, to which nothing of ours refers.
 */
static int cm_request(struct vnet *vnet, struct rdma_cm_id *id,
		      const struct rdma_conn_param *p)
{
	struct sanx_hello_info info;
	struct vlink *link;

	if (sanx_hello_parse(&info, p->private_data, p->private_data_len) ||
	    !cm_peer_ok(vnet, &info, id)) {
		pr_debug("refused a link: not in the node map\n");
		return cm_reject(id, REJECT_NEVER);
	}
	link = vgroup_accept(vnet, info.from, info.lane, id);
	if (IS_ERR(link))
		return cm_reject(id, cm_refusal(PTR_ERR(link)));
	id->context = link;
	id->event_handler = cm_link_event;
	cm_set_addrs(link, id);
	if (cm_accept(link, &info)) {
		cm_reject(id, REJECT_LATER);
		vlink_kill(link, ECONNRESET);
	}
	vlink_put(link);
	return 0;
}

static int cm_listen_event(struct rdma_cm_id *id, struct rdma_cm_event *ev)
{
	unsigned int noio;
	int err;

	/* The RDMA CM handles events of a listener itself (devices). */
	if (ev->event != RDMA_CM_EVENT_CONNECT_REQUEST)
		return 0;
	noio = memalloc_noio_save();
	err = cm_request(id->context, id, &ev->param.conn);
	memalloc_noio_restore(noio);
	return err;
}

static struct rdma_cm_id *cm_listen(struct vnet *vnet, int family)
{
	struct sockaddr_storage any = { .ss_family = family };
	struct rdma_cm_id *id;
	int err;

	id = rdma_create_id(vnet->net, cm_listen_event, vnet, RDMA_PS_TCP,
			    IB_QPT_RC);
	if (IS_ERR(id))
		return id;
	if (family == AF_INET)
		((struct sockaddr_in *)&any)->sin_port = htons(service_port);
	else
		((struct sockaddr_in6 *)&any)->sin6_port = htons(service_port);
	err = rdma_set_afonly(id, 1);
	if (!err)
		err = rdma_bind_addr(id, (struct sockaddr *)&any);
	if (!err)
		err = rdma_listen(id, 64);
	if (!err)
		return id;
	rdma_destroy_id(id);
	return ERR_PTR(err);
}

/**
 * vcm_listen() - accept links from other nodes
 * @vnet: the namespace; may listen already
 *
 * A listener is bound to no device: it listens on all present and future ones.
 *
 * There is one listener for each address family, because iWARP devices cannot
 * recognise an IPv4 peer of a listener for both.
 *
 * Context: process, may sleep; vnet.ctl held.
 * Return: 0, or -errno if there is no listener at all.
 */
int vcm_listen(struct vnet *vnet)
{
	static const int family[] = { AF_INET, AF_INET6 };
	struct rdma_cm_id *id;
	int err = 0;
	unsigned int i;

	lockdep_assert_held(&vnet->ctl);
	for (i = 0; i < ARRAY_SIZE(family); i++) {
		if (vnet->listen[i] ||
		    (family[i] == AF_INET6 && !ipv6_mod_enabled()))
			continue;
		id = cm_listen(vnet, family[i]);
		if (IS_ERR(id))
			err = PTR_ERR(id);
		else
			vnet->listen[i] = id;
	}
	return vnet->listen[0] || vnet->listen[1] ? 0 : err;
}

/**
 * vcm_unlisten() - stop accepting links
 * @vnet: the namespace; may not be listening
 *
 * On return no request is being handled.
 *
 * Context: process, may sleep; vnet.ctl held.
 */
void vcm_unlisten(struct vnet *vnet)
{
	unsigned int i;

	lockdep_assert_held(&vnet->ctl);
	for (i = 0; i < ARRAY_SIZE(vnet->listen); i++) {
		if (vnet->listen[i])
			rdma_destroy_id(vnet->listen[i]);
		vnet->listen[i] = NULL;
	}
}
