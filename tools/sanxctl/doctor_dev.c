// SPDX-License-Identifier: GPL-2.0
/*
 * sanxctl doctor: RDMA devices, and the addresses that rails lead to.
 */
#include <dirent.h>
#include <ifaddrs.h>
#include <limits.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "addr.h"
#include "doctor.h"

#define CLASS		"/sys/class/infiniband"
#define NAME_LEN	64

/* Packets of 4096 bytes and the headers of RoCE fit. */
#define MTU_WANTED	4200

/**
 * struct port - a port of an RDMA device
 * @device: name of the device
 * @driver: its driver
 * @number: number of the port
 * @software: the device is a program
 * @iwarp: it is an iWARP device
 */
struct port {
	char device[NAME_LEN];
	char driver[NAME_LEN];
	unsigned int number;
	bool software;
	bool iwarp;
};

/* What is known of some drivers; of others nothing bad is. */
static const struct {
	const char *driver;
	const char *text;
} problems[] = {
	{ "rdma_rxe", "RoCE in software: to try things; TCP rails and TCP are faster" },
	{ "siw", "iWARP in software: to try things; TCP rails and TCP are faster" },
};

/*
 * Devices
 */

/* A device without hardware has no driver below it; how it is made says which it is. */
static void driver_find(const struct doctor *d, struct port *p)
{
	char path[PATH_MAX], target[PATH_MAX], type[NAME_LEN] = "";
	ssize_t n;

	doctor_read(d, type, sizeof(type), CLASS "/%s/node_type", p->device);
	p->iwarp = strstr(type, "RNIC");
	snprintf(path, sizeof(path), "%s" CLASS "/%s/device/driver", d->root, p->device);
	n = readlink(path, target, sizeof(target) - 1);
	p->software = n < 0;
	if (n < 0) {
		snprintf(p->driver, sizeof(p->driver), "%s", p->iwarp ? "siw" : "rdma_rxe");
		return;
	}
	target[n] = '\0';
	snprintf(p->driver, sizeof(p->driver), "%.*s", NAME_LEN - 1,
		 strrchr(target, '/') ? strrchr(target, '/') + 1 : target);
}

static void device_show(struct doctor *d, const struct port *p)
{
	char firmware[NAME_LEN] = "";
	size_t i;

	doctor_read(d, firmware, sizeof(firmware), CLASS "/%s/fw_ver", p->device);
	for (i = 0; i < ARRAY_SIZE(problems); i++) {
		if (strcmp(p->driver, problems[i].driver))
			continue;
		doctor_find(d, FINDING_NOTE, "device", NULL, "%s (%s): %s", p->device, p->driver,
			    problems[i].text);
		return;
	}
	doctor_find(d, FINDING_OK, "device", NULL, "%s: driver %s%s%s", p->device, p->driver,
		    *firmware ? ", firmware " : "", firmware);
}

typedef bool (*port_fn)(struct doctor *d, struct port *p, void *arg);

/* Calls @fn for each port of each device until it returns true.  Return: whether it did. */
static bool ports_each(struct doctor *d, port_fn fn, void *arg)
{
	char path[PATH_MAX];
	struct dirent *entry;
	struct port p;
	bool done = false;
	DIR *dir;

	snprintf(path, sizeof(path), "%s" CLASS, d->root);
	dir = opendir(path);
	while (dir && !done && (entry = readdir(dir))) {
		if (entry->d_name[0] == '.')
			continue;
		p = (struct port) { };
		snprintf(p.device, sizeof(p.device), "%.*s", NAME_LEN - 1, entry->d_name);
		driver_find(d, &p);
		for (p.number = 1; !done; p.number++) {
			snprintf(path, sizeof(path), "%s" CLASS "/%s/ports/%u", d->root, p.device,
				 p.number);
			if (access(path, F_OK))
				break;
			done = fn(d, &p, arg);
		}
	}
	if (dir)
		closedir(dir);
	return done;
}

static bool port_show(struct doctor *d, struct port *p, void *arg)
{
	unsigned int *n = arg;

	if (p->number == 1)
		device_show(d, p);
	++*n;
	return false;
}

/**
 * doctor_devices - look at the RDMA devices
 * @d: the examination
 * @unused: how it is if nothing can use them
 */
void doctor_devices(struct doctor *d, enum finding unused)
{
	unsigned int n = 0;
	char text[8];

	ports_each(d, port_show, &n);
	if (!n)
		doctor_find(d, FINDING_NOTE, "device",
			    "rdma link; for links without one, write tcp in the node map",
			    "this node has no RDMA device");
	else if (!doctor_read(d, text, sizeof(text), "/sys/module/sanx_verbs/initstate"))
		doctor_find(d, unused, "device",
			    "modprobe sanx_verbs",
			    "sanx_verbs is not loaded, so nothing uses them");
}

/*
 * Rails of this node
 */

static bool is_addr(const struct sockaddr *sa, const struct in6_addr *addr)
{
	struct in6_addr other;

	if (!sa)
		return false;
	if (sa->sa_family == AF_INET)
		addr_from_v4(&((const struct sockaddr_in *)sa)->sin_addr, &other);
	else if (sa->sa_family == AF_INET6)
		other = ((const struct sockaddr_in6 *)sa)->sin6_addr;
	else
		return false;
	return !memcmp(addr, &other, sizeof(other));
}

/**
 * doctor_interface - find the network device of an address
 * @d: the examination
 * @addr: the address
 *
 * Return: its name, valid as long as @d; NULL if no device has it.
 */
const char *doctor_interface(const struct doctor *d, const struct in6_addr *addr)
{
	const struct ifaddrs *i;

	for (i = d->addrs; i; i = i->ifa_next)
		if (is_addr(i->ifa_addr, addr))
			return i->ifa_name;
	return NULL;
}

/**
 * struct rail_port - looks for the port of a rail
 * @interface: network device of the rail's address
 * @addr: the rail's address
 * @port: set: the port
 * @by_gid: the port has a GID that is the address, of the type that RDMA's CM uses
 */
struct rail_port {
	const char *interface;
	const struct in6_addr *addr;
	struct port port;
	bool by_gid;
};

/* The GID of an address has its 16 bytes in groups of four digits. */
static bool is_gid(const char *text, const struct in6_addr *addr)
{
	char gid[sizeof("0000:0000:0000:0000:0000:0000:0000:0000")];
	size_t i;

	for (i = 0; i < 8; i++)
		snprintf(gid + 5 * i, 6, i < 7 ? "%02x%02x:" : "%02x%02x", addr->s6_addr[2 * i],
			 addr->s6_addr[2 * i + 1]);
	return !strcmp(text, gid);
}

static bool port_match(struct doctor *d, struct port *p, void *arg)
{
	char path[PATH_MAX], text[NAME_LEN], type[NAME_LEN];
	struct rail_port *r = arg;
	struct dirent *entry;
	bool match = false;
	DIR *dir;

	snprintf(path, sizeof(path), "%s" CLASS "/%s/ports/%u/gid_attrs/ndevs", d->root, p->device,
		 p->number);
	dir = opendir(path);
	while (dir && (entry = readdir(dir))) {
		/* Of an index that is not in use, nothing can be read. */
		if (!doctor_read(d, text, sizeof(text), CLASS "/%s/ports/%u/gid_attrs/ndevs/%s",
				 p->device, p->number, entry->d_name) || strcmp(text, r->interface))
			continue;
		match = true;
		r->port = *p;
		if (doctor_read(d, text, sizeof(text), CLASS "/%s/ports/%u/gids/%s", p->device,
				p->number, entry->d_name) && is_gid(text, r->addr) &&
		    doctor_read(d, type, sizeof(type), CLASS "/%s/ports/%u/gid_attrs/types/%s",
				p->device, p->number, entry->d_name) && !strcmp(type, "RoCE v2"))
			r->by_gid = true;
	}
	if (dir)
		closedir(dir);
	return match;
}

static void ethernet_check(struct doctor *d, const struct rail_port *r)
{
	char text[NAME_LEN];
	int pfc;

	if (doctor_read(d, text, sizeof(text), "/sys/class/net/%s/mtu", r->interface) &&
	    !r->port.iwarp && atoi(text) < MTU_WANTED)
		doctor_find(d, FINDING_NOTE, "mtu",
			    "ip link set dev NAME mtu 4200, or 9000, here, there and between",
			    "%s has an MTU of %s, so RDMA packets carry 1024 bytes and not 4096",
			    r->interface, text);
	if (r->port.software || r->port.iwarp)
		return;
	pfc = dcb_pfc(r->interface);
	if (pfc < 0)
		doctor_find(d, FINDING_NOTE, "pfc", "ask the device's own tool, such as mlnx_qos",
			    "%s does not say whether it has priority flow control", r->interface);
	else if (!pfc)
		doctor_find(d, FINDING_NOTE, "pfc",
			    "dcb pfc set, and the same on the switch; or ECN",
			    "%s has no priority flow control: RoCE is slow where packets are lost",
			    r->interface);
	else
		doctor_find(d, FINDING_OK, "pfc", NULL, "%s: priorities 0x%02x have flow control",
			    r->interface, pfc);
}

static void port_check(struct doctor *d, const struct rail_port *r)
{
	char state[NAME_LEN] = "", layer[NAME_LEN] = "", addr[ADDR_STRLEN];

	addr_format(r->addr, addr);
	doctor_read(d, state, sizeof(state), CLASS "/%s/ports/%u/state", r->port.device,
		    r->port.number);
	doctor_read(d, layer, sizeof(layer), CLASS "/%s/ports/%u/link_layer", r->port.device,
		    r->port.number);
	if (!strstr(state, "ACTIVE")) {
		doctor_find(d, FINDING_BAD, "rail", "look at the cable, and: rdma link, ip link",
			    "port %u of %s, for the rail at %s, is not active (%s)", r->port.number,
			    r->port.device, addr, state);
		return;
	}
	if (!strcmp(layer, "Ethernet") && !r->port.iwarp && !r->by_gid) {
		doctor_find(d, FINDING_BAD, "rail",
			    "set the address on the interface of the port: rdma link, ip addr",
			    "port %u of %s has no RoCE v2 GID for the rail at %s", r->port.number,
			    r->port.device, addr);
		return;
	}
	doctor_find(d, FINDING_OK, "rail", NULL, "%s is on %s, port %u of %s", addr, r->interface,
		    r->port.number, r->port.device);
	if (!strcmp(layer, "Ethernet"))
		ethernet_check(d, r);
}

/**
 * doctor_rail - look at the way to one of this node's RDMA rails
 * @d: the examination
 * @addr: the rail's address
 * @without: how it is if there is no RDMA device there
 */
void doctor_rail(struct doctor *d, const struct in6_addr *addr, enum finding without)
{
	struct rail_port r = { .addr = addr, .interface = doctor_interface(d, addr) };
	char text[ADDR_STRLEN];

	addr_format(addr, text);
	if (!r.interface)
		doctor_find(d, FINDING_BAD, "rail",
			    "ip addr add, or mend the node map: sanxctl nodemap show",
			    "this node does not have %s, which its node map says is a rail of it",
			    text);
	else if (!ports_each(d, port_match, &r))
		doctor_find(d, without, "rail",
			    "rdma link; for a rail over TCP, write tcp in the node map",
			    "%s has no RDMA device, and %s is a rail for RDMA", r.interface, text);
	else
		port_check(d, &r);
}
