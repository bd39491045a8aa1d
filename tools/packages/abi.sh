#!/bin/sh
# Compares the shared libraries of two builds: what was removed, what changed. Ends with 1 if a program that was linked with
# the old ones can fail with the new ones. usage: tools/packages/abi.sh OLD_BUILD NEW_BUILD
set -eu
cd "$(dirname "$0")/../.."
old=${1:?usage: tools/packages/abi.sh OLD_BUILD NEW_BUILD}
new=${2:?usage: tools/packages/abi.sh OLD_BUILD NEW_BUILD}
tools/setup.sh packages
broken=0
for path in "$old"/libmillwright*.so; do
    name=$(basename "$path")
    [ -e "$new/$name" ] || { echo "$name: not in $new" && broken=1 && continue; }
    code=0
    # What is private to a release may change: its symbols have no promise.
    abidiff --no-added-syms --suppressions tools/packages/private.abignore "$path" "$new/$name" || code=$?
    [ $((code & 8)) -eq 0 ] || broken=1
    [ $((code & 3)) -eq 0 ] || exit 2
done
exit "$broken"
