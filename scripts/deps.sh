#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# deps.sh [GROUP...]: install with apt what is missing; silent if nothing is.
#
# Groups: build (modules and tools), lab (virtual nodes), check (gates and
# tests), programs (what tests and the demo run over AF_SANX), suites (others'
# tests, see check-python), bench (peers and plots), bench-nodes (programs that
# measure), fuzz (libFuzzer), package (packages of Debian, and what looks at them),
# dashboard (what reads our figures), clean (nodes with nothing of ours).  Default: build, lab, check, programs, package.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

# packages GROUP
packages() {
	case $1 in
	build)
		echo make gcc libc6-dev kmod pkg-config libmnl-dev libjson-c-dev \
			linux-headers-amd64 linux-headers-6.12-amd64
		;;
	lab)
		echo qemu-system-x86 busybox-static cpio gzip xz-utils zstd kmod \
			iproute2 rdma-core ibverbs-utils rdmacm-utils perftest \
			librdmacm-dev libibverbs-dev nettle-dev tmux iputils-ping procps strace
		;;
	check)
		echo linux-source-6.12 bc bison ccache flex libelf-dev libssl-dev sparse \
			shellcheck perl patch python3 python3-yaml python3-jsonschema jq \
			valgrind git man-db bash-completion zsh secilc pahole
		;;
	programs)
		echo iperf3 sockperf nginx-light apache2-utils redis-server \
			redis-tools openssh-server openssh-client nbd-client \
			nbd-server open-iscsi tgt netcat-openbsd e2fsprogs socat curl liburing-dev \
			iptables nftables net-tools
		;;
	suites)
		echo python3 libpython3.11-testsuite memcached libmemcached-tools \
			postgresql-15 vsftpd openmpi-bin hpcc dnsperf unbound dnsmasq-base \
			tftp-hpa tftpd-hpa ngtcp2-client ngtcp2-server snmp snmpd
		;;
	bench)
		echo gnuplot-nox jq librdmacm1 perftest iproute2 clang bpftool libbpf-dev
		;;
	bench-nodes)
		echo sockperf iperf3 qperf netpipe-tcp rdmacm-utils jq librdmacm1 iproute2
		;;
	fuzz)
		# libFuzzer is in the version's package.
		echo clang libclang-rt-14-dev
		;;
	package)
		echo dpkg-dev debhelper dh-dkms dkms fakeroot lintian rpm openssl python3 strace
		;;
	dashboard) echo prometheus python3 curl jq socat ;;
	clean) echo mmdebstrap e2fsprogs qemu-utils ;;
	*) die "no such group: $1" ;;
	esac
}

# wanted GROUPS: the packages of these groups, one a line.
wanted() {
	local group
	for group in "$@"; do packages "$group" | tr ' ' '\n'; done | sort -u
}

missing() {
	local installed
	installed=$(dpkg-query -W -f '${db:Status-Status} ${Package}\n' 2>/dev/null | sed -n 's/^installed //p')
	comm -23 <(wanted "$@") <(sort -u <<<"$installed")
}

# Without this Debian would start every server it installs.
policy=/usr/sbin/policy-rc.d
forbid_services() {
	[ ! -e "$policy" ] || return 0
	printf '%s\n' '#!/bin/sh' 'exit 101' >"$policy"
	chmod +x "$policy"
	trap 'rm -f "$policy"' EXIT
}

# apt ARGS...: waits for another apt; its output is shown only if it fails.
apt() {
	local log=$SANX_CACHE/apt.log
	DEBIAN_FRONTEND=noninteractive apt-get -q -y -o DPkg::Lock::Timeout=600 \
		-o Dpkg::Use-Pty=0 "$@" >"$log" 2>&1 || {
		tail -n 30 "$log" >&2
		die "apt-get $1 failed"
	}
}

main() {
	local list
	[ $# -gt 0 ] || set -- build lab check programs package
	mapfile -t list < <(missing "$@")
	[ "${#list[@]}" -gt 0 ] || return 0
	[ "$(id -u)" = 0 ] || die "these packages are missing; as root run scripts/deps.sh: ${list[*]}"
	say "installing with apt: ${list[*]}"
	forbid_services
	apt update
	apt install --no-install-recommends "${list[@]}"
}

main "$@"
