#!/bin/sh
# The long campaigns: the examples, slow tests (MW_NIGHTLY=1), the sanitizers, Linux aarch64 under qemu, valgrind, the
# interpreter of MIL, real programs against it, models of ONNX in onnxruntime, a report in a browser, every example under
# every profile of a chip, fuzzing. Ends with the sum over all tests. MW_FUZZ_SECONDS (default 300) is the time of one
# fuzz target, MW_COMBINE_SECONDS (default 3600) that of random nets with options; with 20 and 600 all takes about three
# hours on two idle cores. Words choose stages: examples slow avx2 asan tsan (after slow: only what starts threads) qemu
# valgrind (after slow) interpreter programs onnxruntime texts page networks tables figures profiles compilers amalgamation
# packages combinations fuzz.
# shellcheck disable=SC2317 # functions that are called by step
set -u
cd "$(dirname "$0")/.." || exit 1
. tools/steps.sh
tools/setup.sh build mpi mpich check amalgamation nightly || exit 1

build() { cmake --preset "$@" && cmake --build --preset "$1"; }

# Which tests start a thread is noted on the way, for ThreadSanitizer.
slow_tests() {
    witness=$(pwd)/build/thread_witness
    build release && cc -std=c11 -D_GNU_SOURCE -O1 -shared -fPIC tests/preload/thread_witness.c -o "$witness.so" || return 1
    rm -f "$witness.txt"
    LD_PRELOAD=$witness.so MW_TEST_WITNESS=$witness.txt MW_NIGHTLY=1 tools/test.sh build/release --timeout 3600
}

# What a processor without AVX-512 computes; the cache's own tests set the variable themselves.
avx2_tests() { build release && MW_ENGINE_WIDE=256 tools/test.sh build/release -E "^(engine/cache|mpi/)" --timeout 3600; }

# Every test runs under these sanitizers in .ci/run, so by night those that draw other cases, and more of them. Random
# programs are where plans differ; the gradients of random graphs are arithmetic, which the optimized build checks by the
# thousands.
asan_tests() {
    build clang-asan && MW_TEST_PROGRAMS=4000 MW_TEST_GRAPHS=500 MW_TEST_COMBINATIONS=1000 MW_TEST_SEED="$(date +%s)" \
        tools/test.sh build/clang-asan -R "^(engine/random_programs|autograd/random_graphs|combine/combinations)$" \
        --timeout 3600
}

# Only the tests that start a thread, if the slow tests have found out which, and those of other programs that do.
tsan_tests() {
    started=$(sed -n 's/^test_\([a-z0-9]*\)_\(.*\)/\1\/\2/p' build/thread_witness.txt 2>/dev/null | sort -u | paste -sd "|")
    build clang-tsan &&
        MW_TEST_PROGRAMS=2000 tools/test.sh build/clang-tsan ${started:+-R "^($started|tool/.*|client/.*)\$"} --timeout 3600
}

emulated_tests() { MW_TEST_PROGRAMS=2000 tools/cross_linux_arm64.sh; }

# Valgrind is tens of times slower: the rooms that handle memory and files, but for programs of two seconds and more (by
# ctest's record of the slow tests, which has no time of one that failed), which the other sanitizers run. Only its own
# findings count: it computes long double in 64 bits, so checks that use it as an oracle fail there. A child that ends by
# _exit keeps its blocks, some by pointers into them alone, and a thread of the C library its stack: only what nothing
# points to is lost.
# shellcheck disable=SC2016 # the inner shell expands
valgrind_tests() {
    costs=build/release/Testing/Temporary/CTestCostData.txt
    [ -s "$costs" ] || { echo "valgrind: the slow tests have not run" && return 1; }
    awk '$1 ~ /^(base|format|graph|mil|runtime)\// && $3 > 0 && $3 < 2 {
        sub("/", "_", $1)
        print "build/release/tests/test_" $1
    }' "$costs" | xargs -P "$(getconf _NPROCESSORS_ONLN)" -n 1 sh -c '
        cd tests && valgrind -q --error-exitcode=99 --leak-check=full --errors-for-leak-kinds=definite \
            --suppressions=../tools/valgrind.supp "../$0"
        code=$?
        [ "$code" -le 1 ] || { echo "valgrind: $0: exit code $code" && exit 1; }' || return 1
    echo "valgrind: done"
}

# Debian's python3 has its torch; another one in the PATH has not.
interpreter() {
    MW_SHARED_DATA=${MW_SHARED_DATA:-$(pwd)/../shared/data} /usr/bin/python3 tests/interpreter/test_interpreter.py
}

page_in_browser() { tools/setup.sh browser && build release && tools/pictures.sh; }

# Gradients of the benchmark's networks beside PyTorch's.
networks() {
    build release -DMW_BUILD_BENCH=ON && /usr/bin/python3 bench/agree.py build/release/bench/millwright &&
        /usr/bin/python3 bench/zoo/agree.py build/release/bench/zoo
}

# Figures over random cases of 40 seeds, beside scikit-learn: ties, weights, classes that are not there.
figures() {
    folder=$(mktemp -d)
    code=0
    build release || code=1
    for seed in $(seq 100 139); do
        [ "$code" = 0 ] || break
        /usr/bin/python3 tests/learn/scores_cases.py "$seed" "$folder/cases.safetensors" > /dev/null || code=1
        build/release/tests/test_learn_scores "$folder/cases.safetensors" > "$folder/said" || code=1
        [ "$code" = 0 ] || cat "$folder/said"
    done
    rm -rf "$folder"
    return "$code"
}

# Ten data sets from the raw file to figures, beside scikit-learn and PyTorch with their usual defaults.
tables() {
    folder=$(mktemp -d)
    build release && /usr/bin/python3 tests/tool/beside_others.py build/release/mw "$folder"
    code=$?
    rm -rf "$folder"
    return "$code"
}

# Programs of ours, and every real one, against the interpreter: a table; then one with carried state over 1,000 frames,
# and compressed models beside their own weights expanded.
whole_programs() {
    data=${MW_SHARED_DATA:-$(pwd)/../shared/data}
    library=build/release/libmillwright.so
    models=$data/mlpackage
    build release && /usr/bin/python3 tests/interpreter/compare.py "$library" tests/interpreter/programs || return 1
    if [ ! -d "$data/mil" ]; then
        echo "$data/mil is not there: no real program is compared"
        return 0
    fi
    /usr/bin/python3 tests/interpreter/compare.py "$library" "$data/mil" "$models" &&
        /usr/bin/python3 tests/interpreter/frames.py "$library" \
            "$data/mil/dtln-aec-coreml__DTLN_AEC_128_Part1-from-protobuf" --carry states_in=Identity_1 &&
        for form in int8 palette_4bit; do
            /usr/bin/python3 tests/interpreter/compressed.py "$library" "$models/silero-unified_$form.mlmodelc" \
                --plain "$models/silero-vad-unified-v6.0.0.mlmodelc" || return 1
        done
}

# What we write as ONNX (every case of the operation table, nets, nets that were trained) and what PyTorch exported compute
# the same in onnxruntime.
onnxruntime() {
    . tools/onnxruntime.sh || return 1
    build release || return 1
    rm -rf build/onnxruntime && mkdir -p build/onnxruntime || return 1
    for test in write nets; do
        "build/release/tests/test_format_onnx_$test" --cases "$(pwd)/build/onnxruntime" || return 1
    done
    node tests/client/onnxruntime.mjs build/cache/onnxruntime build/onnxruntime || return 1
    tests/client/onnxruntime_batch.sh "$(pwd)/build/release/mw" build/cache/onnxruntime build/onnxruntime/trained &&
        tests/client/onnxruntime_predict.sh "$(pwd)/build/release/mw" build/cache/onnxruntime build/onnxruntime/predicted
}

# Tokenizers beside the engines of others, which npm has (160 MB).
text_engines() {
    modules=build/cache/text_engines
    tools/setup.sh npm && build release || return 1
    [ -d "$modules/node_modules/tiktoken" ] ||
        npm install --loglevel=error --ignore-scripts --no-save --prefix "$modules" \
            @anush008/tokenizers@0.6.0 tiktoken@1.0.22 >/dev/null || return 1
    tests/text/engines.sh "$(pwd)/build/release" "$(pwd)/$modules/node_modules"
}

# What a graph becomes may not depend on the order in which a compiler evaluates arguments: gcc and clang take others.
compilers() {
    build release && cmake --preset clang && cmake --build --preset clang --target test_format_onnx_nodes || return 1
    for one in release clang; do
        "build/$one/tests/test_format_onnx_nodes" --texts "build/$one/onnx_texts.txt" || return 1
    done
    cmp build/release/onnx_texts.txt build/clang/onnx_texts.txt
}

# As people would compile it, by both compilers; and for macOS, which names other things in its headers.
amalgamation() {
    build release && tools/check_amalgamation.sh build/release -O1 clang &&
        tools/check_amalgamation.sh build/release "-O2 -ffp-contract=off -fno-math-errno -fno-trapping-math" gcc clang ||
        return 1
    . tools/zig.sh || return 1
    rm -rf build/amalgamation && tools/amalgamate.py build/amalgamation || return 1
    for target in aarch64-macos.13.0 aarch64-linux-gnu.2.34; do
        said=$(cmake/zig/cc -target "$target" -O1 -c build/amalgamation/millwright.c -o "build/amalgamation/$target.o" 2>&1)
        [ -z "$said" ] || { echo "$said" && return 1; }
    done
}

# Nets and options that no other night had, on every processor; a case that fails is printed as a line to be run again.
combinations() {
    build release || return 1
    rm -f build/combinations_*.txt
    seed=$(date +%s)
    for core in $(seq "$(getconf _NPROCESSORS_ONLN)"); do
        MW_TEST_SEED=$((seed * 100 + core * 1000000)) MW_COMBINE_SECONDS="${MW_COMBINE_SECONDS:-3600}" \
            build/release/tests/test_combine_combinations >"build/combinations_$core.txt" 2>&1 &
    done
    wait
    cat build/combinations_*.txt
    [ "$(grep -l ' passed, 0 failed' build/combinations_*.txt | wc -l)" -eq "$(getconf _NPROCESSORS_ONLN)" ]
}

fuzz() {
    cmake --preset fuzz && cmake --build --preset fuzz --target fuzz_targets || return 1
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

chosen=$*
for word in $chosen; do
    case $word in
    examples | slow | avx2 | asan | tsan | qemu | valgrind | interpreter | programs | onnxruntime | texts | page | networks | tables | figures | profiles | compilers | amalgamation | packages | combinations | fuzz) ;;
    *) echo "nightly: no stage \"$word\"" >&2 && exit 2 ;;
    esac
done
stage() { # stage WORD NAME COMMAND: a step, if it is chosen or none is
    word=$1
    shift
    case "${chosen:+ $chosen }" in '' | *" $word "*) step "$@" ;; esac
}

stage examples "every example on its data" ./run examples
stage slow "slow tests" slow_tests
stage avx2 "tests without AVX-512" avx2_tests
stage asan "tests under ASan and UBSan" asan_tests
stage tsan "tests under ThreadSanitizer" tsan_tests
stage qemu "Linux aarch64, tests under qemu" emulated_tests
stage valgrind "valgrind" valgrind_tests
stage interpreter "the interpreter of MIL in Python" interpreter
stage programs "real programs against the interpreter" whole_programs
stage onnxruntime "models of ONNX in onnxruntime" onnxruntime
stage texts "tokenizers beside other engines" text_engines
stage page "a report in a browser: light, dark, on paper" page_in_browser
stage networks "the networks of the benchmarks against PyTorch" networks
stage tables "ten data sets beside scikit-learn and PyTorch" tables
stage figures "figures beside scikit-learn" figures
stage profiles "every example under every profile" ./run profiles
stage compilers "ONNX models become the same text by gcc and clang" compilers
stage amalgamation "the library as one file: gcc, clang, macOS" amalgamation
stage packages "packages of Debian and others" tools/packages/check.sh
stage combinations "random nets with random options" combinations
stage fuzz "fuzzing" fuzz
steps_end
