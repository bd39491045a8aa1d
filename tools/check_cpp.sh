#!/bin/sh
# The test of the C++ header by g++ and clang++, under AddressSanitizer and UndefinedBehaviorSanitizer, with the libraries of
# a build that is not sanitized.
# usage: tools/check_cpp.sh BUILD
set -eu
cd "$(dirname "$0")/.."
build=$(cd "$1" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for compiler in g++ clang++; do
    "$compiler" -std=c++17 -g -fsanitize=address,undefined -fno-sanitize-recover=undefined -Wall -Wextra -Wpedantic \
        -Wshadow -Wconversion -Werror -Iinclude tests/install/test_hpp.cpp -o "$work/test" -L"$build" -lmillwright \
        -Wl,-rpath,"$build"
    echo "$compiler: $("$work/test")"
done
