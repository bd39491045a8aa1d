#!/bin/sh
# Every test that docs/robustness.md names is there and run, and every case has one or says what it waits for.
set -eu
cd "$(dirname "$0")/.."
status=0
named=$(awk -f tools/lint_robustness.awk docs/robustness.md) || status=1
while read -r room thing function; do
    file=tests/$room/test_$thing.c
    grep -qs "RUN($function);" "$file" || {
        echo "docs/robustness.md: $file does not run $function"
        status=1
    }
done <<END
$named
END
exit "$status"
