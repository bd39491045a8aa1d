#!/bin/sh
# Makes what a version consists of, in build/release-files: the sources, the library as one file, an SBOM in SPDX 2.3, notes,
# checksums; signed if MILLWRIGHT_SIGN names a key of gpg. The version must be that of CMakeLists.txt, and CHANGELOG.md must
# have it. Two runs on one commit give the same bytes. usage: tools/packages/release.sh VERSION
set -eu
cd "$(dirname "$0")/../.."
version=${1:?usage: ./run release VERSION}
out=build/release-files
name=millwright-$version

fail() {
    echo "release: $*" >&2
    exit 1
}
stands=$(sed -n 's/^project(millwright VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
[ "$version" = "$stands" ] || fail "CMakeLists.txt says $stands, not $version"
grep -q "^## .*$version" CHANGELOG.md || fail "CHANGELOG.md has no part for $version"
[ -z "$(git status --porcelain)" ] || fail "the tree has changes that no commit has"
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH

rm -rf "$out" && mkdir -p "$out"
git archive --format=tar --prefix="$name/" HEAD | gzip -n >"$out/$name.tar.gz"
tools/amalgamate.py "$out/$name-amalgamation" --with data,learn
tar --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner -C "$out" -cf - "$name-amalgamation" |
    gzip -n >"$out/$name-amalgamation.tar.gz"
rm -rf "$out/$name-amalgamation"
tools/packages/sbom.py "$version" >"$out/$name.spdx.json"
awk -v version="$version" '/^## / { on = index($0, version) } on' CHANGELOG.md >"$out/NOTES.md"
(cd "$out" && sha256sum -- *.tar.gz *.json NOTES.md >SHA256SUMS)
[ -z "${MILLWRIGHT_SIGN:-}" ] || gpg --batch --yes --local-user "$MILLWRIGHT_SIGN" --detach-sign --armor "$out/SHA256SUMS"
cat "$out/SHA256SUMS"
