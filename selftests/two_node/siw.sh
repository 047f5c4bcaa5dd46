#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 240
# kernels: debug
# The same over iWARP: siw, which has no immediate data and no RNR.
RDMA=siw
export RDMA
. "$(dirname "$0")/transfer.sh"
