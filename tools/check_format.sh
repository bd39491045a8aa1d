#!/bin/sh
# Names each C file that clang-format would change, with the number of places; exits 1 if any. ./run format mends them.
set -u
cd "$(dirname "$0")/.." || exit 1
if ! findings=$(tools/c_files.sh | xargs clang-format --dry-run -Werror 2>&1); then
    printf '%s\n' "$findings" | awk -F: '/ error: / { print $1 ": not formatted" }' | sort | uniq -c
    exit 1
fi
