#!/bin/sh
# House rules that no compiler checks: length of files and functions, tabs, trailing blanks, doc blocks, folder READMEs,
# the families of operations, how they are told apart, paths of one machine.
set -eu
cd "$(dirname "$0")/.."
status=0

tools/c_files.sh | xargs awk -f tools/lint_house.awk || status=1

# A folder's README fits a screen.
for readme in src/*/README.md; do
    lines=$(wc -l <"$readme")
    [ "$lines" -le 30 ] || {
        echo "$readme: $lines lines, at most 30; what is for users goes to docs/"
        status=1
    }
done

# A family has the same suffix in every room, in whichever folder of it.
families=$(sed -n 's/^FAMILY(\(.*\))$/\1/p' tests/support/cases/families.def)
for family in $families; do
    for file in "src/graph/ops/$family.def" "src/graph/ops/op_$family.c" "src/autograd/vjp_$family.c" \
        "src/engine/kernels/kernel_$family.c" "include/millwright/ops/$family.h" "tests/support/cases_$family.c" \
        "tests/support/oracle_$family.c" "tests/graph/test_shapes_$family.c"; do
        [ -n "$(find "${file%/*}" -name "${file##*/}")" ] || {
            echo "$file: missing for the family $family"
            status=1
        }
    done
done

# A folder is read at a glance; data are no reading.
find src tests -type d ! -path 'tests/data*' ! -path 'tests/fuzz/corpus*' ! -path '*/golden*' |
    sort | while IFS= read -r folder; do
    files=$(find "$folder" -maxdepth 1 -type f | wc -l)
    [ "$files" -le 40 ] || echo "$folder: $files files, at most 40"
done | { ! grep .; } || status=1

# A short header is that of a source of its name, a list of headers, or has code of its own; another joins its nearest.
find src -name '*.h' | sort | while IFS= read -r header; do
    [ "$(wc -l <"$header")" -ge 15 ] || [ -e "${header%.h}.c" ] || grep -q '^[{}]' "$header" ||
        ! grep -q '^[a-z].*[;(]' "$header" || echo "$header: a header below 15 lines without a source of its name"
done | { ! grep .; } || status=1

# Numbers in messages have a point in every locale: base/text/printable.h prints them.
grep -rnE '\bsnprintf\([^;]*%[-+0-9.*]*l?[gfeGE]' src --include='*.c' | grep -v '^src/\(tool\|base/number/number_print\.c\)' && {
    echo "snprintf with a floating-point conversion, above: mw__printable_printf"
    status=1
}

# A message that names a function names one that there is. mw_dataset_open_%s is completed when it is printed.
public=$(cat include/*/*.h include/*/*/*.h | grep -oE '\b(mw|ane_e5rt)_[a-z0-9][a-z0-9_]*' | LC_ALL=C sort -u)
named=$(grep -rhE --include='*.[ch]' --include='*.def' '"' src | grep -v '#include' | grep -oE '"([^"\\]|\\.)*"' |
    grep -oE '\b(mw|ane_e5rt)_[a-z0-9][a-z0-9_]*' | grep -vx 'mw_dataset_open_' | LC_ALL=C sort -u)
for name in $named; do
    printf '%s\n' "$public" | grep -qx "$name" || {
        echo "$name: named in a message of src, and no public name"
        status=1
    }
done

# What an operation is, the id and the traits of its row say (graph/ir/op_table.h): a shape rule and a kernel serve
# several operations, and another one that they are given would go unnoticed. src/chip/plan/kinds.c has a row for each
# word of the kernel column.
grep -rnE '[!=]= *mw__(shape|kernel)_[a-z0-9_]+([^a-z0-9_(]|$)|op->row->kernel' src --include='*.[ch]' |
    grep -vE '^src/graph/(ir|ops)/|^src/chip/plan/kinds\.c:' && {
    echo "an operation told by its shape rule or kernel, above: by the id or a trait of its row"
    status=1
}

# What the library opens never gets the number of a standard descriptor (base/file/descriptor.h).
# shellcheck disable=SC2016 # awk expands
find src -name '*.c' ! -path 'src/tool/*' ! -name descriptor.c | sort | xargs awk '
    /(^|[^A-Za-z_>.])(open|openat|opendir|fopen)\(/ && !/^ *(\/?\*)/ && !/mw__descriptor_above/ &&
        before !~ /mw__descriptor_above\($/ && !/call_open/ {
        print FILENAME ":" FNR ": an open outside of mw__descriptor_above"
        bad = 1
    }
    { before = $0 }
    END { exit bad }' || status=1

# Paths that hold on one machine only, in any text file of the project.
if git rev-parse --git-dir >/dev/null 2>&1; then
    git ls-files
else
    find . -type f -not -path './build/*' -not -path './data/*'
fi | grep -v 'tools/lint_house\.sh$' | tr '\n' '\0' |
    xargs -0 grep -InE '/(home|Users)/[A-Za-z0-9]' && {
    echo "paths of one machine, above"
    status=1
}
exit "$status"
