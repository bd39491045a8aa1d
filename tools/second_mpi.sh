#!/bin/sh
# Builds src/mpi and tests/mpi with MPICH against the core and libmillwright_ranks of a build folder, and runs the tests.
# usage: tools/second_mpi.sh BUILD_FOLDER
set -eu
cd "$(dirname "$0")/.."
cmake -G Ninja -S tests/mpi/other -B build/mpich -DMW_BUILD="$PWD/$1" -DMPI_EXECUTABLE_SUFFIX=.mpich -DMW_WERROR=ON
cmake --build build/mpich
tools/test.sh build/mpich
