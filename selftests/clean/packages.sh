#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Packages on two clean nodes: installed, kept over a reboot, upgraded and removed under
# connections, purged.  make check-packages runs it.
#
# /share of the nodes has the packages (now/), the same as the next version (next/), the
# program peer, and a ccache, so that the compiler need not be emulated.
set -euo pipefail
# shellcheck source=scripts/lablib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../../scripts/lablib.sh"
SHARE=$LAB_RUN/share
VERSION=$(dpkg-deb -f "$SHARE"/now/sanx-tools_*.deb Version)
NEXT=$(dpkg-deb -f "$SHARE"/next/sanx-tools_*.deb Version)
OURS="sanx-dkms sanx-tools libsanx-dev"
# An emulated node takes this for what it compiles no more.
BUILD_LIMIT=3600

# dpkg_on N ARGS...: its output is in the file $LOG.
dpkg_on() {
	local n=$1
	shift
	LOG=$SHARE/dpkg-$n
	timeout "$BUILD_LIMIT" "$SANX_TREE/scripts/lab" run "$n" "export PATH=/usr/lib/ccache:/usr/local/sbin:/usr/sbin:/usr/bin:/sbin:/bin \
		CCACHE_DIR=/var/cache/ccache DEBIAN_FRONTEND=noninteractive; dpkg $*" </dev/null >"$LOG" 2>&1 || {
		tail -n 30 "$LOG"
		return 1
	}
}

# both_dpkg ARGS...: at the same time.
both_dpkg() {
	local rc=0 other
	(dpkg_on 2 "$@") &
	other=$!
	(dpkg_on 1 "$@") || rc=1
	wait "$other" || rc=1
	return "$rc"
}

# reboot_node N: as an administrator does, through the system's own shutdown.
reboot_node() {
	local pid
	pid=$(<"$LAB_RUN/node$1.pid")
	lab run "$1" systemctl --no-block reboot </dev/null || return 1
	eventually 600 "! kill -0 $pid 2>/dev/null" && lab boot "$1" &&
		eventually 600 "lab run $1 '! systemctl is-system-running | grep -qE \"starting|initializing\"'" &&
		lab run "$1" 'systemctl is-system-running || { systemctl --failed --no-legend; exit 1; }' </dev/null
}

# files N: what node N has on its disk, but for logs and caches.
files() {
	lab run "$1" "find / -xdev \( -path /share -o -path /proc -o -path /sys -o -path /run -o -path /tmp \
		-o -path /var/log -o -path /var/cache -o -path /var/tmp -o -path /root \) -prune \
		-o -print" </dev/null | sort
}

# installed N VERSION: both modules of that version are where modprobe finds them, signed
# with the machine's key, and so are the tools.
installed() {
	lab run "$1" "set -e
		for m in af_sanx sanx_verbs; do
			[ \$(modinfo -F version \$m) = $2 ]
			modinfo -F signer \$m | grep -q DKMS
		done
		dkms status -m sanx -v $2 | grep -q ': installed'
		[ \$(dkms status -m sanx | wc -l) = 1 ]
		[ \"\$(sanxctl -V)\" = 'sanxctl, af_sanx $2' ]
		[ \"\$(sanx-run -V)\" = 'sanx-run, af_sanx $2' ]" </dev/null
}

# loaded N VERSION: that is in use.
loaded() {
	lab run "$1" "[ \$(cat /sys/module/af_sanx/version) = $2 ] && [ \$(cat /sys/module/sanx_verbs/version) = $2 ]" </dev/null
}

# configure N: as README says, and one of the sysctls, without its #.
configure() {
	lab run "$1" 'printf "%s\n" "10.77.0.1 1" "10.77.0.2 2" >/etc/sanx/nodemap &&
		echo "deny 5999" >/etc/sanx/ports &&
		sed -i "s/^#\(net.sanx.spin_us\) = .*/\1 = 33/" /etc/sysctl.d/sanx.conf' </dev/null
}

# configured N: what is in use is what the files say.
configured() {
	# shellcheck disable=SC2016
	lab run "$1" '[ "$(sanxctl nodemap show | cut -d " " -f 1,2 | tr "\n" ,)" = "10.77.0.1 1,10.77.0.2 2," ] ||
			{ sanxctl nodemap show; exit 1; }
		[ "$(sanxctl ports show)" = "deny 5999" ] || { sanxctl ports show; exit 1; }
		[ "$(sysctl -n net.sanx.spin_us)" = 33 ]' </dev/null
}

# connect NAME N ARGS...: a client on node N, which goes on; its log is CLIENT_LOG[NAME].
declare -A CLIENT_LOG=()
connect() {
	local name=$1 n=$2
	shift 2
	background "$n" /share/peer -T 14400 "$@"
	CLIENT_LOG[$name]=$LAST_LOG
	eventually 60 "grep -q ^connected '$LAST_LOG'"
}

# alive: each client has said that it is connected, and nothing else: no error, no end.
alive() {
	local log
	for log in "${CLIENT_LOG[@]}"; do
		[ "$(wc -l <"$log")" = 1 ] || { cat "$log" && return 1; }
	done
	[ "${#CLIENT_LOG[@]}" = 4 ]
}

# new_one N TO: a new connection works, too.
new_one() {
	lab run "$1" "/share/peer -T 300 connect $2 5001 ping 20 shut end" </dev/null
}

start_connections() {
	local n
	for n in 1 2; do
		background "$n" /share/peer -T 14400 listen 5001 echo
		wait_port "$n" 5001
	done
	connect busy12 1 -p connect 10.77.0.2 5001 busy /share/stop &&
		connect busy21 2 -p connect 10.77.0.1 5001 busy /share/stop &&
		connect idle12 1 connect 10.77.0.2 5001 hold &&
		connect loop 1 -p connect 10.77.0.1 5001 busy /share/stop &&
		[ "$(stat 1 conns_verbs)" -ge 3 ] && [ "$(stat 1 conns_loop)" -ge 2 ]
}

# end_connections: each that is busy has had every byte of its answers.
end_connections() {
	local name
	touch "$SHARE/stop"
	for name in busy12 busy21 loop; do
		eventually 120 "grep -q ^done '${CLIENT_LOG[$name]}'" || { cat "${CLIENT_LOG[$name]}" && return 1; }
	done
}

# says WORDS: dpkg said so, in one line.
says() {
	[ "$(grep -c "$1" "$SHARE/dpkg-1")" = 1 ] || { cat "$SHARE/dpkg-1" && return 1; }
}

# only_left N FILES...: against what was there at first nothing is new but that, and what
# dpkg, systemd and DKMS (the key that it signs with) keep of their own.
only_left() {
	local n=$1 new
	shift
	new=$(comm -13 "$SHARE/before-$n" <(files "$n") | grep -vxE '/var/lib/systemd/[^d].*|/var/lib/dkms/mok\.(key|pub)|/var/lib/dpkg/.*|/etc/\.updated|/var/\.updated' || true)
	[ "$new" = "$(printf '%s\n' "$@")" ] || { echo "left: $new" && return 1; }
}

plan 27
check "a clean node knows nothing of us" nodes '! dpkg -l | grep sanx && ! modinfo af_sanx 2>/dev/null && ! command -v sanxctl'
for n in 1 2; do files "$n" >"$SHARE/before-$n"; done
nodes cp -r /share/ccache /var/cache/

check "dpkg installs the packages" both_dpkg -i "/share/now/*.deb"
check "node 1 has modules, signed, and tools" installed 1 "$VERSION"
check "and so has node 2" installed 2 "$VERSION"
check "nothing is loaded, as nothing is configured" nodes '
	systemctl is-enabled sanx && systemctl start sanx && ! systemctl is-active sanx && [ ! -d /sys/module/af_sanx ]'
check "a node map, rules and a sysctl are written" eval "configure 1 && configure 2"
check "node 1 reboots" reboot_node 1
check "node 2 reboots" reboot_node 2
check "node 1 has all of that" eventually 60 "configured 1"
check "and so has node 2" eventually 60 "configured 2"
check "with the modules of the packages" eval "loaded 1 $VERSION && loaded 2 $VERSION"
# Not by check(), in whose subshell their logs would be forgotten.
if start_connections; then
	ok "connections over verbs and loop"
else
	fail "connections over verbs and loop"
fi

check "dpkg upgrades under them" both_dpkg -i "/share/next/*.deb"
check "and says what becomes of the modules, in a line" says "af_sanx $VERSION stays loaded, with its connections"
check "the new ones are there" eval "installed 1 $NEXT && installed 2 $NEXT"
check "those in use are the old ones" eval "loaded 1 $VERSION && loaded 2 $VERSION"
check "no connection has noticed" alive
check "and new ones work" eval "new_one 1 10.77.0.2 && new_one 2 10.77.0.1"
check "the node map is as it was" eval "configured 1 && configured 2"

check "dpkg removes the packages of node 1 under them" dpkg_on 1 -r "$OURS"
check "and says so in a line" says "af_sanx stays loaded, with its connections"
check "no module is left on the disk" node1 '! modinfo af_sanx 2>/dev/null && ! find /lib/modules /var/lib/dkms -name "*sanx*" | grep .'
check "no connection has noticed" alive
check "and all end well" end_connections

node1 rm /etc/sanx/nodemap /etc/sanx/ports </dev/null
check "purge leaves nothing on node 1" eval "dpkg_on 1 -P '$OURS' && only_left 1"
check "node 2 has the new modules after a reboot, and the map" eval "reboot_node 2 && eventually 60 'configured 2' && loaded 2 $NEXT"
stop_files="/etc/sanx /etc/sanx/nodemap /etc/sanx/ports"
# shellcheck disable=SC2086
check "purge of node 2 leaves what the administrator wrote, and nothing else" \
	eval "dpkg_on 2 -P '$OURS' && only_left 2 $stop_files"
