#!/bin/sh
# What mw predict says of a table beside onnxruntime on the ONNX file that mw train and mw package wrote.
# usage: onnxruntime_predict.sh MW MODULES FOLDER, where MODULES is a folder with node_modules
set -eu
mw=$1 modules=$(cd "$2" && pwd) folder=$3 here=$(cd "$(dirname "$0")" && pwd)
rm -rf "$folder" && mkdir -p "$folder" && cd "$folder"

awk 'BEGIN {
    print "a,b,c,kind"
    for (i = 0; i < 70; i++) printf "%d,%.2f,%d,%s\n", i % 7, (i * 37 % 100) / 16, i % 3, i % 3 ? "odd" : "even"
}' >rows.csv
printf '{"network": [{"dense": 8}, "relu", {"dense": "classes"}], "epochs": 2, "batch": 16, "data": {"normalize": false}}' \
    >net.json
"$mw" train net.json --data rows.csv --run run --out trained.onnx -q >/dev/null
"$mw" package run packaged.onnx --author Me -q >/dev/null
for file in trained packaged; do
    "$mw" predict "$file.onnx" rows.csv --all --out "$file.jsonl" -q >/dev/null
    node "$here/onnxruntime_predict.mjs" "$modules" "$file.onnx" rows.csv "$file.jsonl"
done
