// SPDX-License-Identifier: GPL-2.0
/* The sysctls of a node, in place of af_sanx/config/sysctl.c. */
#include "config/config_priv.h"
#include "sim.h"

unsigned int sanx_mem_mb;

int sanx_sysctl_net_init(struct sanx_net *sn)
{
	sn->spin_us = 0;
	sn->idle_ms = 30000;
	sn->nodelay_us = 50;
	sn->half_open = 256;
	sn->half_open_peer = 32;
	sn->setups_peer = sim_plan.setups ?: 1000000;
	sn->requests_peer = sim_plan.requests ?: 1000000;
	sn->conns_peer = 65536;
	sn->mem_peer_percent = 50;
	sn->max_orphans = 4096;
	sn->rail_policy = sim_plan.policy;
	sn->dgram_conns = sim_plan.dgram_conns ?: 1024;
	sn->dgram_idle_ms = sim_plan.dgram_conns ? 1000 : 60000;
	sanx_mem_mb = sim_plan.mem_mb ?: 1024;
	return 0;
}

void sanx_sysctl_net_exit(struct sanx_net *sn)
{
}
