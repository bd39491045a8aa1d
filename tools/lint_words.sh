#!/bin/sh
# Holds names to tools/lint_words.txt: one spelling, the terms of the field, one folder for a prefix, static names that a
# search finds. First shows itself that it finds what it looks for.
set -eu
cd "$(dirname "$0")/.."
tools=$PWD/tools
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

refuses() { # refuses FILE..: the rules say something of these files
    if (cd "$work" && awk -f "$tools/lint_words.awk" "$tools/lint_words.txt" "$@") >/dev/null; then
        echo "tools/lint_words.awk lets $* pass"
        exit 1
    fi
}

mkdir -p "$work/src/base" "$work/src/graph"
echo '/* The col''ours. */' >"$work/src/base/a.c"
echo '/* Gr''ey. */' >"$work/src/base/b.c"
echo 'mw__phr''ase out;' >"$work/src/base/c.c"
printf 'void mw__thing_make(void)\n{\n}\n' >"$work/src/base/d.c"
printf 'void mw__thing_free(void)\n{\n}\n' >"$work/src/graph/d.c"
for i in 1 2 3 4 5 6; do
    printf 'static int refuse(void)\n{\n}\n' >"$work/src/base/r$i.c"
done
refuses src/base/a.c
refuses src/base/b.c
refuses src/base/c.c
refuses src/base/d.c src/graph/d.c
# shellcheck disable=SC2046 # names without blanks
refuses $(cd "$work" && echo src/base/r?.c)

{
    tools/c_files.sh
    find src tests examples bench tools cmake run .ci CMakeLists.txt CMakePresets.json CONTRIBUTING.md -type f \
        \( -name '*.def' -o -name '*.sh' -o -name '*.py' -o -name '*.awk' -o -name '*.cmake' -o -name run \
        -o -name '*.json' -o -name '*.md' -o -name CMakeLists.txt \) -not -path 'tests/data/*' -not -path 'tests/fuzz/corpus/*'
} | LC_ALL=C sort -u | xargs awk -f tools/lint_words.awk tools/lint_words.txt
