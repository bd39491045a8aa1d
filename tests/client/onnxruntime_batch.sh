#!/bin/sh
# Trains small networks with mw and runs the ONNX files that it writes in onnxruntime, with 1 and with 5 examples.
# usage: onnxruntime_batch.sh MW MODULES FOLDER, where MODULES is a folder with node_modules
set -eu
mw=$1 modules=$(cd "$2" && pwd) folder=$3 here=$(cd "$(dirname "$0")" && pwd)
rm -rf "$folder" && mkdir -p "$folder" && cd "$folder"

awk 'BEGIN {
    for (k = 0; k < 64; k++) printf "f%d,", k
    print "label"
    for (i = 0; i < 40; i++) {
        for (k = 0; k < 64; k++) printf "%d,", (i * 7 + k * 3) % 11
        print i % 2 ? "odd" : "even"
    }
}' >rows.csv
files=""
train() { # train NAME LAYERS
    printf '{"network": [%s, {"dense": "classes"}], "epochs": 1, "batch": 16}' "$2" >"$1.json"
    "$mw" train "$1.json" --data rows.csv --out "$1.onnx" -q >/dev/null
    files="$files $1.onnx=64"
}

train dense '{"dense": 8}, "relu", {"dropout": 0.1}'
train conv '{"reshape": [1, 8, 8]}, {"conv": 4, "kernel": 3}, {"batch_norm": true}, "relu", {"max_pool": 2}, "flatten"'
train lstm '{"reshape": [8, 8]}, {"lstm": 6}'
train attention '{"reshape": [8, 8]}, "layer_norm", {"attention": 2}, {"gru": 5}'
"$mw" finetune dense.onnx --data rows.csv --epochs 1 --out tuned.onnx -q >/dev/null
"$mw" finetune dense.onnx --data rows.csv --epochs 1 --head --out head.onnx -q >/dev/null
# shellcheck disable=SC2086 # one word a file
node "$here/onnxruntime_batch.mjs" "$modules" $files tuned.onnx=64 head.onnx=64
