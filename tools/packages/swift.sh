#!/bin/sh
# Writes a package for SwiftPM into FOLDER: the library as one C file, its header as a module, a thin layer of Swift.
# usage: tools/packages/swift.sh FOLDER
set -eu
cd "$(dirname "$0")/../.."
out=${1:?usage: tools/packages/swift.sh FOLDER}
mkdir -p "$out/Sources/CMillwright/include" "$out/Sources/Millwright"
tools/amalgamate.py "$out/Sources/CMillwright"
mv "$out/Sources/CMillwright/millwright.h" "$out/Sources/CMillwright/include/"
printf 'module CMillwright {\n    header "millwright.h"\n    export *\n}\n' >"$out/Sources/CMillwright/include/module.modulemap"
cp tools/packages/swift/Package.swift "$out/"
cp tools/packages/swift/Millwright.swift "$out/Sources/Millwright/"
echo "A package for SwiftPM is in $out."
