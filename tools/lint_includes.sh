#!/bin/sh
# Holds every #include to the table of rooms in docs/architecture.md. Prints each line that breaks it; exits 1 if any.
# First shows itself that it finds what it looks for.
set -eu
cd "$(dirname "$0")/.."
rules=$PWD/tools/lint_includes.awk
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

refuses() { # refuses FILE HEADER: the rules do not let FILE include HEADER
    mkdir -p "$work/$(dirname "$1")"
    echo "#include \"$2\"" >"$work/$1"
    if (cd "$work" && awk -f "$rules" "$1") >/dev/null; then
        echo "tools/lint_includes.awk lets $1 include $2"
        exit 1
    fi
}

refuses src/base/x.c graph/ir/ir.h
refuses src/runtime/x.c engine/compile/compiled.h
refuses src/runtime/x.c chip/cost/engine.h
refuses src/mil/x.c chip/place.h
refuses src/format/x.c view/draw.h
refuses src/runtime/x.c data/data.h
refuses src/runtime/x.c millwright/dataset_derived.h
refuses src/view/x.c millwright/dataset_files.h
refuses src/text/x.c graph/ir/ir.h
refuses src/view/x.c text/json/tree.h
refuses src/text/x.c pcre2.h
refuses src/format/x.c png.h
refuses include/millwright/fit.h millwright/data.h
refuses src/runtime/x.c inspect/feed.h
refuses src/runtime/x.c ranks/x.h
refuses src/runtime/x.c millwright/ranges.h
refuses src/graph/x.c millwright/plan.h
refuses src/graph/x.c passes/rule.h
refuses src/passes/x.c mil/io.h
refuses src/passes/x.c rules/legality.h
refuses src/graph/x.c millwright/communicator.h
refuses src/inspect/x.c millwright/view.h
refuses src/ranks/x.c millwright/mpi.h
refuses src/ranks/x.c graph/ir/ir.h
refuses include/millwright/trainer.h millwright/compare.h
refuses include/millwright/trainer_options.h millwright/communicator.h
refuses include/millwright/model.h millwright/view.h
refuses src/engine/core/x.c engine/kernels/gemm/gemm.h
refuses src/engine/kernels/conv/x.c engine/compile/passes.h
refuses src/engine/compile/x.c engine/run/command_list.h
refuses src/engine/run/x.c engine/compile/passes.h
refuses src/engine/compile/x.c engine/cache/key.h
refuses src/engine/cache/x.c engine/surface/surface.h
refuses src/engine/run/x.c engine/surface/surface.h
refuses src/engine/surface/x.c engine/core/planner.h
refuses src/engine/kernels/x.c engine/core/planner.h
refuses src/autograd/x.c graph/ir/rule.h
refuses src/rules/x.c mil/io.h
refuses src/graph/x.c rules/chips.h
refuses src/format/x.c runtime/state/state.h
refuses src/mil/x.c format/protobuf/wire.h
refuses src/runtime/x.c protobuf-c/protobuf-c.h
refuses src/chip/hwx/x.c plist/plist.h
refuses src/runtime/x.c mpi.h
refuses src/mpi/x.c runtime/parallel/communicator.h
refuses src/tool/x.c graph/ir/ir.h
refuses src/runtime/x.c popt.h
refuses include/millwright/x.h millwright/mpi.h
refuses src/engine/compile/x.c graph/ir/rule.h
refuses src/engine/compile/x.c mil/legalize/rewrites.h
refuses include/millwright/x.h base/text/error.h

find src include examples tools \( -name '*.[ch]' -o -name '*.def' \) -not -path 'tools/same_bits/*' 2>/dev/null |
    LC_ALL=C sort | xargs awk -f "$rules"
