#!/bin/sh
# Holds docs/environment.md to the code: every variable that library, tests, bench, examples and tools read has a row
# there, and every row's variable is read somewhere.
# shellcheck disable=SC2016 # dollars and backquotes of the patterns
set -eu
cd "$(dirname "$0")/.."

in_c() { # calls that take the name of a variable anywhere, and any text in the library that looks like one of ours
    tools/c_files.sh | xargs grep -hoE '(getenv|setenv|environment|number_from)\("[A-Z][A-Z0-9_]*"' | sed 's/.*("//'
    find src -name '*.[ch]' -print0 | xargs -0 grep -hoE '"MW_[A-Z0-9_]+"' | tr -d '"'
}

in_scripts() {
    cat run .ci/run tools/*.sh cmake/zig/cc cmake/zig/ar cmake/zig/ranlib |
        grep -oE '\$\{?(MW_[A-Z0-9_]+|[A-Z]+:-)' | tr -d '${:-'
    grep -ohE 'environ(ment)?\["[A-Z0-9_]+"\]' bench/*.py tools/*.py | sed 's/.*\["//; s/"\]//'
    grep -ohE 'environ\.get\("[A-Z0-9_]+"\)' examples/python/millwright/*.py | sed 's/.*("//; s/")//'
}

names=$({ in_c && in_scripts; } | tr -d '"' | LC_ALL=C sort -u)
rows=$(sed -n 's/^| `\([A-Z][A-Z0-9_]*\)` .*/\1/p' docs/environment.md | LC_ALL=C sort -u)
status=0
for name in $names; do
    echo "$rows" | grep -qx "$name" || { echo "docs/environment.md: $name has no row" && status=1; }
done
for name in $rows; do
    echo "$names" | grep -qx "$name" || { echo "docs/environment.md: nothing reads $name" && status=1; }
done
exit "$status"
