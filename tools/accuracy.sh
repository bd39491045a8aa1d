#!/bin/sh
# Trains the MNIST example for seeds 0 to 2 on each device and schedule, prints a table with medians, and fails if a
# median falls short: 97.8 % in fp32 with the default schedule, 97.3 % with a constant rate of 1e-3, and at most 0.2
# points less than fp32 on the fp16 device. The times are those of this machine at this moment. Then the program of the
# README: it must reach what the example does, and both what the README says, but for what another order of sums does.
# usage: tools/accuracy.sh BUILD_FOLDER DATA_FOLDER
set -eu
build=$1
example=$1/examples/mnist_mlp
data=$(cd "$2" && pwd)
status=0

train() { # train SEED [arguments]: accuracy and seconds
    seed=$1
    shift
    start=$(date +%s.%N)
    accuracy=$("$example" --data "$data" --seed "$seed" "$@" 2>/dev/null | awk '/^test accuracy/ { print $3 }')
    echo "$accuracy $(echo "$start $(date +%s.%N)" | awk '{ printf "%.1f", $2 - $1 }')"
}

row() { # row LABEL SMALLEST_MEDIAN [arguments]
    label=$1
    smallest=$2
    shift 2
    runs=$(for seed in 0 1 2; do train "$seed" "$@"; done)
    accuracies=$(echo "$runs" | awk '{ printf "%s%s", sep, $1; sep = " / " }')
    median=$(echo "$runs" | sort -n | awk 'NR == 2 { print $1 }')
    seconds=$(echo "$runs" | awk '{ print $2 }' | sort -n | awk 'NR == 2')
    echo "| $label | $accuracies | $median % | $seconds s |"
    if ! echo "$median $smallest" | awk '{ exit !($1 >= $2) }'; then
        echo "the median of $label is $median %, below $smallest %" >&2
        status=1
    fi
}

# The first C block of the README, built and run where data/mnist is.
readme_program() {
    work=$(mktemp -d)
    mkdir "$work/data"
    ln -s "$data" "$work/data/mnist"
    awk '/^```c$/ { inside = 1; next } /^```/ && inside { exit } inside' README.md >"$work/program.c"
    cc -std=c11 -O2 -Iinclude "$work/program.c" "$build/libmillwright_data.a" "$build/libmillwright.a" -lm -lz -lpthread -ldl -o "$work/program" &&
        (cd "$work" && ./program 2>/dev/null) | awk '/^test accuracy/ { print $3 }'
    rm -rf "$work"
}

check_readme() {
    found=$(readme_program)
    said=$(awk '/^It prints .test accuracy/ { print $5 }' README.md)
    echo "the README's program: $found %"
    if [ "$found" != "$first" ]; then
        echo "the README's program reaches $found %, the example with the same seed $first %" >&2
        status=1
    fi
    if ! echo "${found:-0} ${said:-100}" | awk '{ d = $1 - $2; exit !(d <= 0.15 && d >= -0.15) }'; then
        echo "the README says $said % of its program, which reaches $found %" >&2
        status=1
    fi
}

echo "| device, schedule | test accuracy, seeds 0 / 1 / 2 | median | median time |"
echo "|---|---|---|---|"
row "fp32, cosine from 3e-3 (default)" 97.8
default=$median
first=${accuracies%% *}
row "fp32, constant 1e-3" 97.3 --schedule constant --lr 1e-3
row "fp16, cosine from 3e-3" "$(echo "$default" | awk '{ print $1 - 0.2 }')" --device ane
check_readme
exit "$status"
