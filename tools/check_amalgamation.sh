#!/bin/sh
# The library as millwright.c and millwright.h: written twice the same, compiled by each compiler in one call without a
# warning, and a program that trains prints what it prints with the library that was built, to the last bit. Before that
# tests/amalgamation/tree, whose files share every name that they can, and what must be refused.
# usage: tools/check_amalgamation.sh BUILD_FOLDER FLAGS COMPILER...     (FLAGS: "-O2", one word with blanks)
set -eu
cd "$(dirname "$0")/.."
build=$1
flags=$2
shift 2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
root=$PWD
libraries="-lm -lpthread"
[ "$(uname)" = Darwin ] || libraries="$libraries -ldl"

fail() {
    echo "amalgamation: $*" >&2
    exit 1
}

# quiet COMMAND..: fails if it prints anything; a compiler says nothing of what is in order.
quiet() {
    "$@" >"$work/said" 2>&1 || { tail -n 40 "$work/said" >&2 && fail "$*"; }
    [ ! -s "$work/said" ] || { head -n 40 "$work/said" >&2 && fail "warnings from: $*"; }
}

# --- names that files share ---
tree=tests/amalgamation/tree
tools/amalgamate.py "$work/small" --root "$tree"
mkdir -p "$work/alone"
printf '#include <millwright/traps.h>\n' >"$work/alone/millwright.h"
quiet cc -I"$work/alone" -I"$tree/include" -I"$tree/src" tests/amalgamation/traps.c "$tree"/src/base/*.c -o "$work/alone/traps"
"$work/alone/traps" >"$work/alone/out"
[ "$(wc -l <"$work/alone/out")" -ge 10 ] || fail "traps.c prints too little"
for compiler in "$@"; do
    quiet "$compiler" -I"$work/small" tests/amalgamation/traps.c "$work/small/millwright.c" -o "$work/small/traps"
    "$work/small/traps" | cmp - "$work/alone/out" || fail "names of two files were mixed up ($compiler)"
done

# refused NAME PATTERN: with NAME.c in the tree the writer says why not, and writes nothing.
refused() {
    if tools/amalgamate.py "$work/$1/out" --root "$work/$1" 2>"$work/said"; then fail "$1.c was not refused"; fi
    grep -q "src/base/$1.c: $2" "$work/said" || { cat "$work/said" >&2 && fail "$1.c was refused for another reason"; }
    [ ! -e "$work/$1/out/millwright.c" ] || fail "$1.c was refused, and yet written"
}
for name in text_through_two_macros open_brace type_twice; do cp -r "$tree" "$work/$name"; done
cp tests/amalgamation/refused/text_through_two_macros.c "$work/text_through_two_macros/src/base/"
refused text_through_two_macros "find is a name of another file too"
printf 'static int open(void)\n{\n    return 0;\n' >"$work/open_brace/src/base/open_brace.c"
refused open_brace "braces or parentheses are not closed"

# What only the compiler can see it does see: a type of one name in two headers.
cp tests/amalgamation/refused/type_twice.* "$work/type_twice/src/base/"
tools/amalgamate.py "$work/type_twice/out" --root "$work/type_twice"
if cc -fsyntax-only "$work/type_twice/out/millwright.c" 2>"$work/said"; then fail "two types of one name were taken"; fi
grep -q mw__printable "$work/said" || fail "two types of one name are not what the compiler complains of"

# --- the library ---
for copy in one two; do
    tools/amalgamate.py "$work/$copy" --headers "$build/single_headers"
done
for file in millwright.c millwright.h; do
    cmp "$work/one/$file" "$work/two/$file" || fail "written twice, $file differs"
done
if grep -n "$root" "$work/one/millwright.c" "$work/one/millwright.h"; then fail "a path of this machine is in it"; fi
if printf '#include "millwright.c"\n' | cc -I"$work/one" -Ofast -fsyntax-only -x c - 2>"$work/said"; then
    fail "-Ofast was taken"
fi
grep -q "IEEE arithmetic" "$work/said" || fail "-Ofast is refused, but not by its own line"
for language in "cc -std=c11 -x c" "c++ -std=c++11 -x c++"; do
    # shellcheck disable=SC2086 # a command with its flags
    printf '#include "millwright.h"\n#include "millwright.h"\nint main(void) { return mw_version()[0] == 0; }\n' |
        quiet $language -I"$work/one" -Wall -Wextra -Wpedantic -Werror -fsyntax-only -
done

# With every library, and with none and no protoc-c; -fsyntax-only, as they compile long.
all="-DMW_HAVE_ZLIB=1 -DMW_HAVE_PNG=1 -DMW_HAVE_JPEG=1 -DMW_HAVE_WEBP=1 -DMW_HAVE_SNDFILE=1 -DMW_HAVE_PROTOBUF=1 -DMW_HAVE_PLIST=1 -DMW_HAVE_UTF8PROC=1 -DMW_HAVE_PCRE2=1"
tools/amalgamate.py "$work/bare" --headers "$build/single_headers" --without-protobuf
tools/amalgamate.py "$work/joined" --headers "$build/single_headers" --with chip,view,inspect,learn,ranks,text,data
if tools/amalgamate.py "$work/joined" --with nothing 2>"$work/said"; then fail "--with nothing was taken"; fi
grep -q "beside the core are data, inspect, chip, learn, ranks, text, view" "$work/said" || fail "--with nothing is refused without the names"
for compiler in "$@"; do
    # shellcheck disable=SC2086 # a list of flags
    quiet "$compiler" $all -fsyntax-only "$work/one/millwright.c"
    # shellcheck disable=SC2086
    quiet "$compiler" $all -fsyntax-only "$work/joined/millwright.c"
    quiet "$compiler" -std=c11 -DMW_HAVE_AVX512=0 -fsyntax-only "$work/bare/millwright.c"
done

# The program beside the two files, in a folder where nothing else is.
cp tests/amalgamation/train.c "$work/one/"
quiet cc -O1 -I"$work/one" tests/amalgamation/train.c -o "$work/train" -L"$build" -lmillwright -Wl,-rpath,"$root/$build"
cd "$work/one"
for compiler in "$@"; do
    begin=$(date +%s)
    # shellcheck disable=SC2086 # lists of flags
    quiet "$compiler" $flags train.c millwright.c -o train $libraries
    echo "$compiler $flags: $(($(date +%s) - begin)) s, $(wc -c <train) bytes"
    for wide in 256 512; do
        MW_ENGINE_WIDE=$wide ../train >expected
        MW_ENGINE_WIDE=$wide ./train >found
        grep -q '^ane all loss .* accuracy 1.0000$' expected || fail "train.c has not learned"
        cmp found expected || fail "other numbers than the library's ($compiler, $wide bits)"
    done
done
