#!/bin/sh
# Every test that docs/robustness.md and docs/features.md name is there and run, and every case of the first has one or
# says what it waits for.
set -eu
cd "$(dirname "$0")/.."
status=0
named=$(awk -f tools/lint_robustness.awk docs/robustness.md) || status=1
# shellcheck disable=SC2016 # no command is meant
wished=$(grep -oE '`[a-z0-9_]+/[a-z0-9_]+:test_[a-zA-Z0-9_]+`' docs/features.md | tr -d '`' | tr '/:' '  ') || status=1
while read -r room thing function; do
    file=$(find "tests/$room" -name "test_$thing.c")
    grep -qs "RUN($function);" "$file" || {
        echo "docs/robustness.md or docs/features.md: test_$thing.c of tests/$room does not run $function"
        status=1
    }
done <<END
$named
$wished
END
exit "$status"
