#!/bin/sh
# Every public header compiles alone, as C11 and as C++17, without a pedantic warning, and twice in a row.
# usage: tools/check_headers.sh [C compiler] [C++ compiler]
set -eu
cd "$(dirname "$0")/../include"
cc=${1:-cc}
cxx=${2:-c++}
status=0
for header in millwright/*.h e5rt/*.h; do
    [ -f "$header" ] || continue
    source="#include <$header>
#include <$header>
extern int used;"
    printf '%s\n' "$source" | "$cc" -std=c11 -Wall -Wextra -Wpedantic -Werror -I. -fsyntax-only -x c - || status=1
    printf '%s\n' "$source" | "$cxx" -std=c++17 -Wall -Wextra -Wpedantic -Werror -I. -fsyntax-only -x c++ - || status=1
done
exit "$status"
