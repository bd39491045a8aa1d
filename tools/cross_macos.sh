#!/bin/sh
# Cross-builds library, tests and examples for macOS arm64 with Zig (Linux x86_64).
# usage: tools/cross_macos.sh [cmake arguments]
set -eu
cd "$(dirname "$0")/.."
. tools/zig.sh
cmake --preset macos-cross "$@"
cmake --build --preset macos-cross

magic=$(od -A n -t x4 -N 4 build/macos-cross/libmillwright.dylib | tr -d ' ')
[ "$magic" = feedfacf ] || {
    echo "libmillwright.dylib is no 64-bit Mach-O file (magic $magic)" >&2
    exit 1
}
