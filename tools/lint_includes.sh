#!/bin/sh
# Holds every #include to the table of rooms in docs/architecture.md. Prints each line that breaks it; exits 1 if any.
set -eu
cd "$(dirname "$0")/.."
find src include examples tools \( -name '*.[ch]' -o -name '*.def' \) 2>/dev/null | LC_ALL=C sort |
    xargs awk -f tools/lint_includes.awk
