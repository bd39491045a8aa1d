#!/bin/sh
# Runs the CTest suite of a build folder, shows the output of what failed, and ends with one line over all tests:
# "N passed, N failed[, N skipped]". The whole output stays in FOLDER/tests.log.
# A test may take 300 s, unless the arguments say --timeout.
# usage: tools/test.sh FOLDER [ctest arguments]
set -eu
folder=$1
shift
jobs=$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2)
ctest --test-dir "$folder" -V -j "$jobs" --timeout 300 "$@" 2>&1 | tee "$folder/tests.log" |
    awk -f "$(dirname "$0")/count_tests.awk" -v summary="$folder/tests.count"
