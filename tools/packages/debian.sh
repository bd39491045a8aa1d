#!/bin/sh
# Builds the Debian packages of the tree's last commit in FOLDER (build/debian), and has lintian look at them. Installs
# nothing but what the build needs. With the word "check" they are then installed and a program is built outside the tree.
# usage: tools/packages/debian.sh [check] [FOLDER]
set -eu
cd "$(dirname "$0")/../.."
check=
[ "${1:-}" != check ] || { check=yes && shift; }
out=${1:-build/debian}
version=$(sed -n 's/^project(millwright VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
tools/setup.sh build mpi packages

rm -rf "$out" && mkdir -p "$out"
out=$(cd "$out" && pwd)
tree=$out/millwright-$version
git archive --format=tar.gz --prefix="millwright-$version/" -o "$out/millwright_$version.orig.tar.gz" HEAD
tar -xzf "$out/millwright_$version.orig.tar.gz" -C "$out"
cp -R tools/packages/debian "$tree/debian"
tools/packages/write_control.py "$tree/debian"
date=$(git log -1 --format=%cD)
printf 'millwright (%s-1) unstable; urgency=medium\n\n  * This release; see CHANGELOG.md.\n\n -- The Millwright Authors <maintainers@millwright.invalid>  %s\n' \
    "$version" "$date" >"$tree/debian/changelog"
chmod +x "$tree/debian/rules"
(cd "$tree" && DEB_BUILD_OPTIONS="nocheck parallel=$(getconf _NPROCESSORS_ONLN)" dpkg-buildpackage -us -uc >"$out/build.log" 2>&1) ||
    { tail -n 40 "$out/build.log" && exit 1; }
lintian --fail-on error,warning --suppress-tags no-manual-page,initial-upload-closes-no-bugs,bogus-mail-host \
    "$out"/millwright_*.changes
ls -l "$out"/*.deb

[ -z "$check" ] || tools/packages/check_debian.sh "$out"
