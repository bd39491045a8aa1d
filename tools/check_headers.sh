#!/bin/sh
# Every public header compiles alone, as C11 and as C++17, without a pedantic warning, and twice in a row; every header of
# the library and of the tests as C11.
# usage: tools/check_headers.sh [C compiler] [C++ compiler]
# shellcheck disable=SC2086 # the folders of MPI are a list of flags
set -eu
cd "$(dirname "$0")/.."
cc=${1:-cc}
cxx=${2:-c++}
status=0
# MPI's own header, of either MPI; without one, what includes it is left out.
mpi=
for package in ompi-c mpich; do
    [ -n "$mpi" ] || mpi=$(pkg-config --cflags-only-I "$package" 2>/dev/null | sed 's/-I/-isystem /g') || true
done
for path in include/millwright/*.h include/millwright/ops/*.h include/e5rt/*.h; do
    header=${path#include/}
    [ -n "$mpi" ] || [ "$header" != millwright/mpi.h ] || continue
    source="#include <$header>
#include <$header>
extern int used;"
    printf '%s\n' "$source" | "$cc" -std=c11 -Wall -Wextra -Wpedantic -Werror -Iinclude $mpi -fsyntax-only -x c - || status=1
    printf '%s\n' "$source" | "$cxx" -std=c++17 -Wall -Wextra -Wpedantic -Werror -Iinclude $mpi -fsyntax-only -x c++ - || status=1
done
printf '#include <millwright/millwright.hpp>\n#include <millwright/millwright.hpp>\n' |
    "$cxx" -std=c++17 -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror -Iinclude -fsyntax-only -x c++ - || status=1
# Headers of formats name what is made of their schemas; the tree that tests/amalgamation joins and the programs of an older
# interface are no rooms of ours.
schema=$(mktemp -d)
trap 'rm -rf "$schema"' EXIT
headers=$(find src tests -name '*.h' -not -path 'tests/amalgamation/tree/*' -not -path 'tests/data/*')
if command -v protoc-c >/dev/null; then
    for folder in coreml onnx; do
        mkdir "$schema/$folder"
        protoc-c --c_out="$schema/$folder" -I "src/format/$folder" "src/format/$folder"/*.proto
    done
else
    headers=$(printf '%s\n' "$headers" | grep -Ev '^src/format/(coreml|onnx|protobuf)/')
fi
if ! printf '#include <plist/plist.h>\n' | "$cc" -fsyntax-only -x c - 2>/dev/null; then
    headers=$(printf '%s\n' "$headers" | grep -v '^src/chip/netplist/')
fi
[ -n "$mpi" ] || headers=$(printf '%s\n' "$headers" | grep -Ev '^(src|tests)/mpi/')
for header in $headers; do
    printf '#include "%s"\n#include "%s"\nextern int used;\n' "$header" "$header" |
        "$cc" -std=c11 -D_GNU_SOURCE -Wall -Wextra -Wshadow -Wno-unused-function -Werror -Iinclude -Isrc -Itests -I. \
            -isystem "$schema" -isystem "$schema/coreml" $mpi \
            -fsyntax-only -x c - || status=1
done
exit "$status"
