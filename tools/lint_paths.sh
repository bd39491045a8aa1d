#!/bin/sh
# Holds documents and comments to the tree: every file that they name by its path (src/mil/text/parse.c, engine/run/order.c)
# is there. Made-up names of the lint's own tests are left out, and the small tree of the test of the amalgamation.
set -eu
cd "$(dirname "$0")/.."
rooms='base|graph|autograd|mil|format|runtime|engine'
found=$(mktemp)
trap 'rm -f "$found"' EXIT
tops="src/($rooms)|tests|tools|bench|docs|cmake|examples"

git ls-files '*.md' '*.c' '*.h' '*.def' '*.sh' '*.awk' '*.py' '*.cmake' | grep -v -e '^tools/lint_includes.sh$' -e '^tests/amalgamation/' |
    xargs grep -noE "\\b($tops|$rooms)/[a-z0-9_/]+\\.(c|h|def|sh|py|md|awk|cmake)\\b" | sort -u |
    while IFS=: read -r file line path; do
        # a path may begin below src or tests, or stand behind a longer one
        if ! [ -e "$path" ] && ! [ -e "src/$path" ] && ! [ -e "tests/$path" ] && ! grep -q "/$path" "$file"; then
            echo "$file:$line: $path is not there"
        fi
    done >"$found"
cat "$found" >&2
[ ! -s "$found" ]
