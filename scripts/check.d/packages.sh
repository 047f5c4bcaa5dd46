#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# packages.sh: what can be said of the packages without a machine to install them on.
# make check-packages installs them.
#
# They are built, lintian has no errors, each has the files that it is to have, systemd
# takes the unit, rpm the spec, and DKMS no kernel that we do not support.  With SANX_FULL
# it builds signed modules for the others from what sanx-dkms has.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"
cd "$SANX_TREE"

version=$(cat VERSION)
triplet=$(dpkg-architecture -qDEB_HOST_MULTIARCH)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
rc=0

wrong() {
	echo "$*" >&2
	rc=1
}

# quietly CMD...: its output only if it fails.
quietly() {
	"$@" >"$work/log" 2>&1 || {
		tail -n 50 "$work/log" >&2
		wrong "failed: $*"
		return 1
	}
}

# files ROOT: without what every package has.
files() {
	find "$1" ! -type d -printf '%m /%P\n' | grep -vE '/usr/share/doc/[^/]*/(changelog|copyright|README.Debian)' | sort
}

# same WHAT: what is on standard input is in the package and nothing else.
same() {
	local package=$1
	diff <(sort) <(files "$work/$package") >&2 || wrong "$package has other files"
}

contents() {
	same sanx-tools <<-END
		644 /etc/modules-load.d/sanx.conf
		644 /etc/sysctl.d/sanx.conf
		644 /lib/systemd/system/sanx.service
		755 /usr/bin/sanx-run
		755 /usr/lib/sanx/sanx-load
		644 /usr/lib/sanx/libsanx-preload.so
		644 /usr/lib/sanx/libsanx-preload-dgram.so
		755 /usr/sbin/sanxctl
		644 /usr/share/bash-completion/completions/sanx-run
		644 /usr/share/bash-completion/completions/sanxctl
		644 /usr/share/man/man1/sanx-run.1.gz
		644 /usr/share/man/man7/af_sanx.7.gz
		644 /usr/share/man/man8/sanxctl.8.gz
		644 /usr/share/sanx/grafana.json
		644 /usr/share/sanx/profiles/latency
		644 /usr/share/sanx/profiles/mpi
		644 /usr/share/sanx/profiles/nginx
		644 /usr/share/sanx/profiles/postgresql
		644 /usr/share/sanx/profiles/redis
		644 /usr/share/sanx/profiles/safe
		644 /usr/share/sanx/profiles/throughput
		644 /usr/share/sanx/sanxctl.schema.json
		644 /usr/share/zsh/vendor-completions/_sanx-run
		644 /usr/share/zsh/vendor-completions/_sanxctl
	END
	[ -d "$work/sanx-tools/etc/sanx" ] || wrong "sanx-tools has no folder for the node map"
	same libsanx-dev <<-END
		644 /usr/include/linux/sanx.h
		644 /usr/include/linux/sanx_netlink.h
		644 /usr/include/sanx.h
		644 /usr/lib/$triplet/libsanx.a
		644 /usr/lib/$triplet/pkgconfig/sanx.pc
		644 /usr/share/doc/libsanx-dev/examples/datagrams.c
		644 /usr/share/doc/libsanx-dev/examples/echo.c
		644 /usr/share/doc/libsanx-dev/examples/explicit.c
		644 /usr/share/doc/libsanx-dev/examples/records.c
		777 /usr/share/man/man3/sanx_family.3.gz
		777 /usr/share/man/man3/sanx_freeaddrinfo.3.gz
		644 /usr/share/man/man3/sanx_getaddrinfo.3.gz
	END
	# All that the modules are made of, and dkms.conf.
	same sanx-dkms < <(
		echo "644 /usr/src/sanx-$version/dkms.conf"
		find Kbuild VERSION af_sanx include -type f -printf "644 /usr/src/sanx-$version/%p\n"
	)
}

# What is only there as a comment changes nothing.
samples() {
	! grep -vE '^(#|$)' "$work"/sanx-tools/etc/*.d/sanx.conf >&2 || wrong "a sample configures something"
}

# Those of the package run from where it has them, and say the version of the package.
tools() {
	local said
	said=$("$work/sanx-tools/usr/sbin/sanxctl" -V) || true
	[ "$said" = "sanxctl, af_sanx $version" ] || wrong "sanxctl says: $said"
	said=$("$work/sanx-tools/usr/bin/sanx-run" -V) || true
	[ "$said" = "sanx-run, af_sanx $version" ] || wrong "sanx-run says: $said"
	said=$(zgrep -oE '/[a-z/]*/lib/sanx/' "$work/sanx-tools/usr/share/man/man1/sanx-run.1.gz" | sort -u)
	[ "$said" = /usr/lib/sanx/ ] || wrong "sanx-run(1) has the library in $said"
}

# unit: systemd says nothing of a unit that it takes.  It looks for the programs, which
# are not installed here.
unit() {
	local root=$work/sanx-tools said
	sed "s|=/usr/lib/sanx/|=$root/usr/lib/sanx/|" "$root/lib/systemd/system/sanx.service" >"$work/sanx.service"
	said=$(systemd-analyze verify --man=no "$work/sanx.service" 2>&1 | grep -F sanx.service || true)
	[ -z "$said" ] || wrong "$said"
}

# ours_dkms CMD...: dkms with the package's source.  Its own folder, in which are the
# machine's key and trees, is another meanwhile.
ours_dkms() {
	local rights=()
	[ "$(id -u)" = 0 ] || rights=(--map-root-user)
	mkdir -p "$work/dkms"
	# shellcheck disable=SC2016
	unshare "${rights[@]}" --mount sh -c 'mount --bind "$0" /var/lib/dkms && exec dkms "$@"' "$work/dkms" \
		"$@" -m sanx -v "$version" --sourcetree "$work/sanx-dkms/usr/src"
}

# builds_for KERNEL: DKMS makes both modules, signed, of our version.
builds_for() {
	local release built name
	release=$(scripts/kernel/resolve.sh "$1" release)
	quietly ours_dkms build -k "$release" --kernelsourcedir "$(scripts/kernel/resolve.sh "$1" kdir)" || {
		tail -n 30 "$work/dkms/sanx/$version/build/make.log" >&2 || true
		return
	}
	for name in af_sanx sanx_verbs; do
		built=$(find "$work/dkms/sanx/$version/$release" -name "$name.ko*")
		[ -n "$built" ] || { wrong "$release: no $name" && continue; }
		[ "$(modinfo -F version "$built")" = "$version" ] || wrong "$release: $name has another version"
		[ "$(modinfo -F vermagic "$built" | cut -d ' ' -f 1)" = "$release" ] || wrong "$name is not for $release"
		[ -n "$(modinfo -F sig_key "$built")" ] || wrong "$release: $name is not signed"
	done
}

# refuses: DKMS skips a kernel that is not ours, which is its status 77, and whoever
# builds by hand is told so in one line.
refuses() {
	local kernel=$work/cache/kernels/other status=0 said
	mkdir -p "$kernel/build/include"
	touch "$kernel/build/Module.symvers"
	echo CONFIG_64BIT=y >"$kernel/build/.config"
	echo 6.13.0-other >"$kernel/release"
	ours_dkms build -k 6.13.0-other --kernelsourcedir "$kernel/build" >"$work/log" 2>&1 || status=$?
	[ "$status" = 77 ] || { cat "$work/log" >&2 && wrong "dkms does not skip 6.13, but ends with $status"; }
	! said=$(SANX_CACHE=$work/cache scripts/build-modules.sh 6.13.0-other 2>&1) || wrong "modules are built for 6.13"
	[ "$said" = "error: AF_SANX can be built for Linux 6.1 and 6.12, not for 6.13.0-other" ] || wrong "6.13: $said"
	! said=$(make -s -C "$(scripts/kernel/resolve.sh 6.12 kdir)" M="$work/sanx-dkms/usr/src/sanx-$version" \
		PATCHLEVEL=13 modules 2>&1) || wrong "kbuild builds modules for 6.13"
	[ "$(grep -c AF_SANX <<<"$said")" = 1 ] || wrong "6.13, kbuild: $said"
}

# The spec makes the same packages, here of tools that Debian has.
rpms() {
	local top=$work/rpm
	quietly rpmspec --parse packaging/rpm/sanx.spec || return 0
	mkdir -p "$top/SOURCES"
	tar -C "$work" -xf "$work"/out/sanx_*.tar.*
	tar -C "$work" -cJf "$top/SOURCES/sanx-$version.tar.xz" "sanx-$version"
	quietly rpmbuild -bb --nodeps --define "_topdir $top" packaging/rpm/sanx.spec || return 0
	diff <(find "$top/RPMS" -name '*.rpm' -exec rpm -qlp {} + | sed 's/\.gz$//' | grep -E '^/(etc|usr/(bin|sbin|lib/s|src|include|lib64|share/man|share/bash|share/zsh|share/sanx))' | sort) \
		<(for root in "$work"/{sanx-tools,sanx-dkms,libsanx-dev}; do
			(cd "$root" && find . ! -type d -printf '/%P\n' -o -path '*/sanx*' -type d -printf '/%P\n')
		done | sed "s|^/usr/lib/$triplet/|$(rpm --eval '%{_libdir}')/|"'; s|^/lib/systemd|/usr&|; s|vendor-completions|site-functions|; s/\.gz$//' | grep -vE '^/usr/share/doc/' | sort) >&2 ||
		wrong "the packages of rpm have other files"
}

# The tools' own tests are a stage of make check.
DEB_BUILD_OPTIONS=nocheck quietly scripts/deb.sh "$work/out" || exit 1
for package in "$work"/out/*.deb; do
	name=${package##*/}
	dpkg-deb -x "$package" "$work/${name%%_*}"
done
quietly lintian --fail-on error,warning "$work"/out/*.changes || true
contents
samples
tools
unit
# It takes minutes, and make check has said already that sanx-dkms has all sources, and
# that these compile.
read -r -a kernels < <(sed -n 's/^sanx-kernels := //p' Kbuild)
[ -n "${SANX_FULL:-}" ] || kernels=()
for kernel in "${kernels[@]}"; do builds_for "$kernel"; done
refuses
rpms
exit "$rc"
