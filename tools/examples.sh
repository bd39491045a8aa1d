#!/bin/sh
# Runs every training example on its real data, prints a table, and fails if one learns less than it should, if fp16 falls
# more than 0.3 points behind fp32, or if state crossed the host boundary. `quick` is one epoch and the lowest bars.
# usage: tools/examples.sh EXAMPLES_FOLDER MNIST_FOLDER FASHION_FOLDER [quick]
set -eu
examples=$1
mnist=$2
fashion=$3
mode=${4:-full}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
status=0

complain() {
    echo "$*" >&2
    status=1
}

holds() { echo "$1" | awk '{ exit !($1 '"$2"' $2) }'; } # holds "A B" COMPARISON

# run NAME WHAT COMPARISON BAR [arguments]: WHAT is the start of the line whose last number counts
run() {
    name=$1
    what=$2
    comparison=$3
    bar=$4
    shift 4
    start=$(date +%s.%N)
    "$examples/$name" "$@" >"$work/out" 2>"$work/err" || {
        complain "$name $*: $(tail -n 1 "$work/err")"
        return 0
    }
    seconds=$(echo "$start $(date +%s.%N)" | awk '{ printf "%.1f", $2 - $1 }')
    value=$(grep "^$what" "$work/out" | tail -n 1 | grep -o '[0-9][0-9.e+-]*' | tail -n 1)
    echo "| \`$name $*\` | $what $value | $seconds s |" | sed "s|$mnist|MNIST|; s|$fashion|FASHION|; s|$work|DIR|"
    holds "$value $bar" "$comparison" || complain "$name $*: $what is $value, not $comparison $bar"
    if grep -q '^[0-9]* steps; state moved' "$work/out" && ! grep -q 'bytes, back 0$' "$work/out"; then
        complain "$name $*: $(grep 'state moved' "$work/out")"
    fi
}

both() { # both POINTS NAME BAR [arguments]: on both devices, fp16 at most POINTS behind
    points=$1
    name=$2
    bar=$3
    shift 3
    run "$name" "test accuracy" ">=" "$bar" "$@" --device cpu
    run "$name" "test accuracy" ">=" "$(echo "$value $points" | awk '{ print $1 - $2 }')" "$@" --device ane
}

echo "| example | result | time |"
echo "|---|---|---|"
if [ "$mode" = quick ]; then
    run mnist_cnn "test accuracy" ">=" 96 --data "$mnist" --epochs 1 --model "$work/cnn"
    run report "test accuracy" ">=" 96 --data "$mnist" --epochs 1 --model "$work/page"
    grep -q '</html>' "$work/page/report.html" || complain "report: the page is not whole"
    run predict "test accuracy" ">=" 96 --data "$mnist" --model "$work/cnn"
    run mnist_cnn "test accuracy" ">=" 95 --data "$mnist" --epochs 1 --device ane
    run fashion_cnn "test accuracy" ">=" 80 --data "$fashion" --epochs 1
    run finetune "after: test accuracy" ">=" 80 --data "$fashion" --model "$work/cnn" --epochs 1
    run finetune "after: test accuracy" ">=" 75 --data "$fashion" --model "$work/cnn" --epochs 1 --lora
    run autoencoder "test loss" "<=" 0.03 --data "$mnist" --epochs 1
    run lstm_sequence "test loss" "<=" 0.2 --epochs 1
    run char_transformer "test loss" "<=" 3 --epochs 1
    run hvp "iteration" "<=" 100 --data "$mnist" --epochs 3
    run muon "test accuracy" ">=" 95 --data "$mnist" --epochs 1
    run gan "clusters found" ">=" 7
    run sophia "test accuracy" ">=" 95 --data "$mnist" --epochs 1
    run image_folder "accuracy on the folder" ">=" 70 --data tests/data/images
    run two_processes "largest difference" "<=" 0.01
    run finetune_package "largest difference" "<=" 0 --model "$work/digits.mlpackage"
    run import_onnx "test accuracy" ">=" 90 --data "$mnist" --model "$work/digits.onnx" --epochs 1
    run import_onnx "largest difference" "<=" 0 --data "$mnist" --model "$work/digits.onnx" --epochs 1
else
    both 0.3 mnist_cnn 98.6 --data "$mnist" --model "$work/cnn"
    run predict "test accuracy" ">=" 98.3 --data "$mnist" --model "$work/cnn"
    both 0.3 fashion_cnn 91.5 --data "$fashion"
    run finetune "after: test accuracy" ">=" 86 --data "$fashion" --model "$work/cnn"
    run finetune "after: test accuracy" ">=" 85 --data "$fashion" --model "$work/cnn" --lora
    run autoencoder "test loss" "<=" 0.012 --data "$mnist"
    run lstm_sequence "test loss" "<=" 0.01
    run char_transformer "test loss" "<=" 1.65
    run hvp "iteration" "<=" 100 --data "$mnist"
    run muon "test accuracy" ">=" 98.3 --data "$mnist"
    run gan "clusters found" ">=" 7
    run sophia "test accuracy" ">=" 97.8 --data "$mnist"
    run image_folder "accuracy on the folder" ">=" 70 --data tests/data/images
    run two_processes "largest difference" "<=" 0.01
    run finetune_package "largest difference" "<=" 0 --model "$work/digits.mlpackage"
    run import_onnx "test accuracy" ">=" 93 --data "$mnist" --model "$work/digits.onnx"
    run import_onnx "largest difference" "<=" 0 --data "$mnist" --model "$work/digits.onnx" --epochs 1
fi
exit "$status"
