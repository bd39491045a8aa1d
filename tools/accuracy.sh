#!/bin/sh
# Trains the MNIST example for seeds 1 to 3 on each device and schedule, prints a table with medians, and fails if a
# median falls short: 97.8 % in fp32 with the default schedule, 97.3 % with a constant rate of 1e-3, and at most 0.2
# points less than fp32 on the fp16 device. The times are those of this machine at this moment.
# usage: tools/accuracy.sh EXAMPLES_FOLDER DATA_FOLDER
set -eu
example=$1/mnist_mlp
data=$2
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
    runs=$(for seed in 1 2 3; do train "$seed" "$@"; done)
    accuracies=$(echo "$runs" | awk '{ printf "%s%s", sep, $1; sep = " / " }')
    median=$(echo "$runs" | sort -n | awk 'NR == 2 { print $1 }')
    seconds=$(echo "$runs" | awk '{ print $2 }' | sort -n | awk 'NR == 2')
    echo "| $label | $accuracies | $median % | $seconds s |"
    if ! echo "$median $smallest" | awk '{ exit !($1 >= $2) }'; then
        echo "the median of $label is $median %, below $smallest %" >&2
        status=1
    fi
}

echo "| device, schedule | test accuracy, seeds 1 / 2 / 3 | median | median time |"
echo "|---|---|---|---|"
row "fp32, cosine from 3e-3 (default)" 97.8
default=$median
row "fp32, constant 1e-3" 97.3 --schedule constant --lr 1e-3
row "fp16, cosine from 3e-3" "$(echo "$default" | awk '{ print $1 - 0.2 }')" --device ane
exit "$status"
