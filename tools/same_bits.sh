#!/bin/sh
# Whether two commits compute the same: builds both with same_bits/record.c, runs every test program and the workloads
# W1 to W6 (fp32 and fp16, 1 and 2 threads) once for each instruction set that the processor has, and compares the bits
# of all results and all plans (steps, memory, phases; not flops), after the labels of kernels in same_bits/labels.tsv and
# the test programs in same_bits/programs.tsv, which were renamed between the two. Another plan with the same bits is
# named, and no failure. Tests that differ when the OLD commit is compared with itself (times, kills) are left out, by
# name. Works in build/same_bits; half an hour on two cores.
#
# With "bench", only the programs of bench/: W1 to W14 whole, the networks of the zoo small, in training and inference,
# both on both devices. For changes of what the compiler joins, after which the plans should be equal too: ten minutes.
# usage: tools/same_bits.sh OLD NEW [bench]
set -eu
cd "$(dirname "$0")/.."
here=$(pwd)
work=$here/build/same_bits
old=$(git rev-parse "$1^{commit}")
new=$(git rev-parse "$2^{commit}")
what=${3:-all}
targets=all
[ "$what" = all ] || targets="bench_millwright bench_zoo"

# For what holds the engine itself: the shared libraries, and programs that are linked with the static one.
link_options() { # link_options SIDE
    sed -n 's/^WRAP(\([a-z0-9_]*\),.*/-Wl,--wrap=\1/p' tools/same_bits/record.c
    echo "$work/record-$1.o"
}

# shellcheck disable=SC2016 # dollars are for CMake
write_options() { # write_options SIDE
    echo 'set(static $<IN_LIST:millwright_static,$<TARGET_PROPERTY:LINK_LIBRARIES>>)'
    echo 'set(beside $<IN_LIST:$<TARGET_PROPERTY:NAME>,millwright_data$<SEMICOLON>millwright_inspect$<SEMICOLON>millwright_chip$<SEMICOLON>millwright_learn$<SEMICOLON>millwright_ranks$<SEMICOLON>millwright_text$<SEMICOLON>millwright_view>)'
    echo 'set(shared $<STREQUAL:$<TARGET_PROPERTY:TYPE>,SHARED_LIBRARY>)'
    echo 'set(holds $<OR:$<AND:${shared},$<NOT:${beside}>>,${static}>)'
    link_options "$1" | sed 's/.*/add_link_options($<${holds}:&>)/'
}

build() { # build SIDE COMMIT
    tree=$work/$1
    [ -e "$tree/.git" ] || git worktree add -f --detach "$tree" "$2" >/dev/null
    git -C "$tree" checkout -q --detach "$2"
    shares=partitions
    grep -q "uint64_t partitions" "$tree/include/e5rt/e5rt.h" || shares=lanes
    ${CC:-cc} -O2 -fPIC -D_GNU_SOURCE -DSHARES=$shares -I"$tree/include" -c tools/same_bits/record.c -o "$work/record-$1.o"
    write_options "$1" >"$work/$1.cmake"
    cmake -S "$tree" -B "$tree/build/release" -G Ninja -DCMAKE_BUILD_TYPE=Release -DMW_WERROR=ON \
        -DMW_BUILD_BENCH=ON -DMW_MPI=OFF \
        -DMW_DATA_DIR="$here/data" -DMW_SHARED_DATA="$here/../shared/data" \
        -DCMAKE_PROJECT_INCLUDE="$work/$1.cmake" >"$work/$1.log"
    # shellcheck disable=SC2086 # a list of words
    cmake --build "$tree/build/release" --target $targets >>"$work/$1.log" 2>&1 || { tail "$work/$1.log"; exit 1; }
}

one() { # one NAME COMMAND...: what it records, in $out/NAME
    name=$1
    shift
    (cd "$tree/tests" && MW_RECORD="$out/$name" timeout 600 "$@" >/dev/null 2>&1 </dev/null) || true
}

# bench WORKLOAD STEPS THREADS..
bench() {
    workload=$1
    steps=$2
    shift 2
    for threads in "$@"; do
        for device in cpu ane; do
            one "$workload.$threads.$device" "$tree/build/release/bench/millwright" "$workload" --steps "$steps" \
                --threads "$threads" --device $device --data "$here/data/mnist"
        done
    done
}

run_networks() {
    for workload in W7 W8 W9 W10 W11 W12 W13 W14; do bench $workload 1 1; done
    for network in $("$tree/build/release/bench/zoo" --list | cut -f 1); do
        for device in cpu ane; do
            one "$network.train.$device" "$tree/build/release/bench/zoo" "$network" --tiny --steps 2 --device $device
            one "$network.infer.$device" "$tree/build/release/bench/zoo" "$network" --tiny --steps 2 --threads 2 \
                --device $device --infer
        done
    done
}

run_tests() {
    for program in "$tree"/build/release/tests/test_*; do
        case $program in *_cpp | *.cmake) continue ;; esac
        if [ -f "$program" ] && [ -x "$program" ]; then one "$(basename "$program")" "$program"; fi
    done
}

run_all() { # run_all SIDE OUT
    tree=$work/$1
    out=$work/$2
    rm -rf "$out"
    mkdir -p "$out"
    for workload in W1 W2 W3 W4 W5 W6; do bench $workload 8 1 2; done
    if [ "$what" = all ]; then run_tests; else run_networks; fi
}

# Gives the labels of the new side their old names (of two kernels that had one name, both), and sorts: programs of several threads end in any order.
canonical() { # canonical FILE LABELS
    awk -F '\t' 'FILENAME == ARGV[1] { if ($0 !~ /^#/) to[$1] = $2; next }
        { n = split($0, w, " "); if (w[1] == "step" && w[2] in to) { w[2] = to[w[2]]; $0 = w[1]
          for (i = 2; i <= n; i++) $0 = $0 " " w[i] } print }' "$2" "$1" | sort
}

renamed() { # renamed NAME: what the program is called on the new side
    awk -F '\t' -v name="$1" '$1 == name { name = $2 } END { print name }' tools/same_bits/programs.tsv
}

same() { # same OLD_FILE FILE LABELS: leaves what it compared in a and b, without repetitions in a.set and b.set
    canonical "$1" /dev/null >"$work/a"
    canonical "$2" "$3" >"$work/b"
    uniq "$work/a" >"$work/a.set"
    uniq "$work/b" >"$work/b.set"
    cmp -s "$work/a" "$work/b"
}

same_results() { # of what same compared last: the old side's results are all there, perhaps beside those of new cases
    grep '^bits' "$work/a.set" >"$work/a.bits" || true
    grep '^bits' "$work/b.set" >"$work/b.bits" || true
    [ -s "$work/a.bits" ] && [ -z "$(comm -23 "$work/a.bits" "$work/b.bits")" ]
}

# A program that compiles more often, because an allocation more was made to fail, still computes the same.
compare_program() { # compare_program OLD_FILE OLD_AGAIN_FILE NEW_FILE NAME
    if same "$1" "$3" tools/same_bits/labels.tsv; then
        equal=$((equal + 1))
        lines=$((lines + $(wc -l <"$work/b")))
    elif cmp -s "$work/a.set" "$work/b.set"; then
        equal=$((equal + 1))
        lines=$((lines + $(wc -l <"$work/b.set")))
        echo "equal but for how often: $4"
    elif same_results; then
        equal=$((equal + 1))
        lines=$((lines + $(grep -c '^bits' "$work/a.set")))
        echo "another plan, the same bits: $4"
    elif same "$1" "$2" /dev/null; then
        echo "DIFFERS: $4"
        same "$1" "$3" tools/same_bits/labels.tsv || diff "$work/a" "$work/b" | head -n 5
        different=$((different + 1))
    else
        echo "left out, as it differs from run to run: $4"
    fi
}

compare() { # compare OLD_OUT OLD_AGAIN_OUT NEW_OUT
    seen=
    for old_file in "$work/$1"/*; do
        name=$(basename "$old_file")
        new_name=$(renamed "$name")
        seen="$seen $new_name "
        if [ -f "$work/$3/$new_name" ]; then
            compare_program "$old_file" "$work/$2/$name" "$work/$3/$new_name" "$name"
        else
            echo "left out, as only the old side has it: $name"
        fi
    done
    for new_file in "$work/$3"/*; do
        name=$(basename "$new_file")
        case $seen in *" $name "*) ;; *) echo "left out, as only the new side has it: $name" ;; esac
    done
}

mkdir -p "$work"
build old "$old"
build new "$new"
equal=0
different=0
lines=0
wides=256
! grep -q avx512f /proc/cpuinfo || wides="512 256"
[ "$what" = all ] || wides=${wides% 256}
run() ( # run WIDE SIDE NAME
    export MW_ENGINE_WIDE="$1"
    run_all "$2" "$3-$1"
)
# Both sides beside each other; then, with tests, the old one once more, to see what differs from run to run.
for wide in $wides; do
    run "$wide" old old &
    run "$wide" new new
    wait
done
again=old # networks compute the same each time
[ "$what" != all ] || again=again
for wide in $wides; do [ "$what" != all ] || run "$wide" old again & done
wait
for wide in $wides; do compare "old-$wide" "$again-$wide" "new-$wide"; done
echo "$lines records of $equal programs are equal"
echo "$equal passed, $different failed"
[ $different -eq 0 ]
