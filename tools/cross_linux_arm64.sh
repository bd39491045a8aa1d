#!/bin/sh
# Cross-builds for Linux aarch64 with Zig (Linux x86_64) and runs the test suite under qemu; the last line is
# "N passed, N failed". Shows that the NEON code is right, and nothing about its speed.
# usage: tools/cross_linux_arm64.sh [cmake arguments]
set -eu
cd "$(dirname "$0")/.."
tools/setup.sh build nightly
. tools/zig.sh
cmake --preset linux-arm64-cross -DMW_WERROR=ON "$@"
cmake --build --preset linux-arm64-cross
tools/test.sh build/linux-arm64-cross --timeout 3600
