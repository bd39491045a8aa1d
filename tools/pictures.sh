#!/bin/sh
# The pictures of the documents that no test of src/ draws: the report of examples/report.c in a browser without a window,
# and the terminal of a training. They are in build/pictures; with "keep" they replace those in docs.
# usage: tools/pictures.sh [keep]; needs a build in build/release and tools/setup.sh browser
set -eu
cd "$(dirname "$0")/.."
out=build/pictures
mkdir -p "$out"
tools/data.sh data/mnist

build/release/examples/report --data data/mnist --epochs 1 --model "$out"
tools/page.sh "$out/report.html" "$out"

PATH=$PWD/build/release:$PATH tools/terminal.py "$out/dashboard.svg" 80 mw train examples/recipes/digits.json --data data/mnist

if [ "${1:-}" = keep ]; then
    cp "$out/light.png" docs/report.png
    cp "$out/dashboard.svg" docs/dashboard.svg
fi
