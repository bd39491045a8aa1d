#!/bin/sh
# Runs the guides as they stand: the C programs of a guide are written as NAME_OF_THE_GUIDE.c and so on, then every ```sh
# block runs in order in an empty folder, with mw and the library of a build installed in a place of their own.
# usage: tools/check_guides.sh BUILD_FOLDER [GUIDE..]
set -eu
cd "$(dirname "$0")/.."
build=$1
shift
[ $# -gt 0 ] || set -- docs/guides/*.md
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cmake --install "$build" --prefix "$work/prefix" >/dev/null
lib=$(dirname "$(find "$work/prefix" -name libmillwright.so | head -n 1)")
export PATH="$work/prefix/bin:$PATH" PKG_CONFIG_PATH="$lib/pkgconfig" LD_LIBRARY_PATH="$lib"

blocks() { # blocks LANGUAGE DOCUMENT FILE: those blocks, one after the other; with a main each ends a file of its own
    awk -v begin="\`\`\`$1" '$0 == begin { on = 1; next } /^```/ { on = 0 } on' "$2" >"$3"
}

for guide in "$@"; do
    name=$(basename "$guide" .md)
    here=$work/$name
    mkdir -p "$here"
    blocks sh "$guide" "$work/$name.sh"
    [ -s "$work/$name.sh" ] || continue
    blocks c "$guide" "$here/$name.c"
    [ -s "$here/$name.c" ] || rm "$here/$name.c"
    if (cd "$here" && sh -eu "$work/$name.sh" >"$work/$name.txt" 2>&1); then
        echo "$guide: as it says"
    else
        tail -n 20 "$work/$name.txt" >&2
        echo "$guide: a command failed, above" >&2
        exit 1
    fi
done
