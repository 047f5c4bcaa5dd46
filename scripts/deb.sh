#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# deb.sh [DIR]: Debian's packages of what is in this tree, committed or not, in DIR
# (dist/).  VERSION=x makes them of that version, to try upgrades.
#
# They are built in a copy, since debhelper leaves files in the tree, and
# dpkg-buildpackage beside it.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
cd "$SANX_TREE"

out=${1:-dist}
version=${VERSION:-$(cat VERSION)}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
copy=$work/sanx-$version

# sources: what is or would be under version control; or all, of an unpacked tarball.
sources() {
	if [ -e .git ]; then
		git ls-files -z --cached --others --exclude-standard
	else
		find . \( -path ./build -o -path ./dist \) -prune -o -type f -print0
	fi
}

# renumber: the tree as it would be with another version.
renumber() {
	[ "$version" != "$(cat VERSION)" ] || return 0
	say "as version $version"
	echo "$version" >"$copy/VERSION"
	sed -i "1s/(.*)/($version)/" "$copy/debian/changelog"
}

"$SANX_TREE/scripts/deps.sh" build package
mkdir -p "$copy" "$out"
# A file that was deleted and not committed yet is listed, too.
sources | while read -r -d '' file; do
	[ ! -e "$file" ] || printf '%s\0' "$file"
done | tar -c --null -T - | tar -x -C "$copy"
renumber
say "building packages of sanx $version"
(cd "$copy" && DEB_BUILD_OPTIONS="noautodbgsym ${DEB_BUILD_OPTIONS:-}" \
	dpkg-buildpackage -us -uc) >"$work/log" 2>&1 || {
	tail -n 60 "$work/log" >&2
	die "dpkg-buildpackage failed"
}
rm -f "$out"/*.{deb,dsc,changes,buildinfo,tar.*}
cp "$work"/*.{deb,dsc,changes,buildinfo,tar.*} "$out"
printf '%s\n' "$out"/*.deb
