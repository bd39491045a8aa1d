#!/bin/sh
# The long campaigns: slow tests (MW_NIGHTLY=1), valgrind, ThreadSanitizer, fuzzing. Ends with the sum over all tests.
# MW_FUZZ_SECONDS (default 300) is the time of one fuzz target.
# shellcheck disable=SC2317 # functions that are called by step
set -u
cd "$(dirname "$0")/.." || exit 1
. tools/steps.sh
tools/setup.sh build check nightly || exit 1
MW_NIGHTLY=1
export MW_NIGHTLY

build() { cmake --preset "$@" && cmake --build --preset "$1"; }

slow_tests() { build release && tools/test.sh build/release --timeout 3600; }

asan_tests() { build clang-asan && tools/test.sh build/clang-asan --timeout 7200; }

tsan_tests() { build clang-tsan && tools/test.sh build/clang-tsan --timeout 7200; }

# Valgrind is slow: the rooms that handle memory and files, in their everyday lengths. Only its own findings count: it
# computes long double in 64 bits, so checks that use it as an oracle fail there.
valgrind_tests() {
    failed=0
    for test in build/release/tests/test_base_* build/release/tests/test_graph_* build/release/tests/test_mil_* \
        build/release/tests/test_runtime_*; do
        [ -x "$test" ] || continue
        (cd tests && MW_NIGHTLY='' valgrind -q --error-exitcode=99 --leak-check=full "../$test")
        code=$?
        if [ "$code" -gt 1 ]; then
            echo "valgrind: $test: exit code $code"
            failed=1
        fi
    done
    echo "valgrind: done"
    return "$failed"
}

fuzz() {
    build fuzz || return 1
    for target in build/fuzz/tests/fuzz_*; do
        [ -x "$target" ] || continue
        name=$(basename "$target")
        corpus=build/corpus/$name
        seeds=tests/fuzz/corpus/${name#fuzz_}
        mkdir -p "$corpus"
        [ -d "$seeds" ] || seeds=
        "$target" -max_total_time="${MW_FUZZ_SECONDS:-300}" -rss_limit_mb=4096 -timeout=20 \
            -artifact_prefix="build/corpus/$name-" "$corpus" ${seeds:+"$seeds"} || return 1
    done
}

step "slow tests" slow_tests
step "slow tests under ASan and UBSan" asan_tests
step "tests under ThreadSanitizer" tsan_tests
step "valgrind" valgrind_tests
step "fuzzing" fuzz
steps_end
