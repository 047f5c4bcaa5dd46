#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# version.sh: does everything that names a version of the tree name that of VERSION, and
# everything that lists the kernels that it is for the same ones?
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"
cd "$SANX_TREE"

version=$(cat VERSION)
rc=0

# is WHERE GOT WANTED
is() {
	[ "$2" = "$3" ] || {
		echo "$1: has '$2', not '$3'" >&2
		rc=1
	}
}

# first FILE SED-SCRIPT: of the lines that it prints the first.
first() {
	sed -nE "$2" "$1" | sed -n 1p
}

is VERSION "$(grep -xE '[0-9]+\.[0-9]+\.[0-9]+' VERSION)" "$version"
is CHANGELOG "$(first CHANGELOG 's/^([0-9.]+), [0-9]{4}-[0-9]{2}-[0-9]{2}$/\1/p')" "$version"
is debian/changelog "$(first debian/changelog 's/^sanx \(([^)]*)\).*/\1/p')" "$version"
is sanx.spec "$(first packaging/rpm/sanx.spec 's/^Version:\t+//p')" "$version"
is "sanx.spec, %changelog" "$(first packaging/rpm/sanx.spec 's/^\* .* - ([^ -]*)-1$/\1/p')" "$version"
for page in Documentation/man/*.[1-8]; do
	# It is another one.
	! grep -q '^\.so ' "$page" || continue
	is "$page" "$(first "$page" 's/^\.TH .* "AF_SANX ([^"]*)" .*/\1/p')" "$version"
done

# The date of the release is one, too.
released=$(first CHANGELOG "s/^$version, (.*)/\1/p")
is "debian/changelog, date" "$(date -u -d "$(first debian/changelog 's/^ -- .*>  //p')" +%F)" "$released"
is "sanx.spec, date" "$(date -u -d "$(first packaging/rpm/sanx.spec 's/^\* (.*) The AF_SANX.*/\1/p')" +%F)" "$released"

kernels=$(sed -n 's/^sanx-kernels := //p' Kbuild)
is "dkms.conf, kernels" "$(first packaging/dkms.conf 's/^BUILD_EXCLUSIVE_KERNEL="(.*)"/\1/p')" \
	"^6\\.($(tr ' ' '\n' <<<"$kernels" | sed 's/^6\.//' | paste -sd '|'))\\."
is "scripts/lab, kernels" "$(scripts/lab help | grep -oE 'kernel [0-9.|]+' | tr -dc '0-9.|' | tr '|' ' ' | sed 's/ $//')" "$kernels"
for file in README debian/control debian/sanx-dkms.README.Debian packaging/rpm/sanx.spec; do
	tr '\n' ' ' <"$file" | grep -qE "${kernels// / (or|and) }" || is "$file, kernels" "" "$kernels"
done

# A sysctl that the sample lacks, or one that is not there.
is "sysctl.conf" "$(sed -n 's/^#net\.sanx\.\([a-z_]*\) =.*/\1/p' packaging/sysctl.conf | sort | tr '\n' ' ')" \
	"$(grep -ohE '"[a-z_]+"' <(grep -E 'sysctl_uint\(&|procname = "' af_sanx/config/sysctl.c) | tr -d '"' | sort | tr '\n' ' ')"
exit "$rc"
