#!/bin/sh
# Compiles every ```c and ```cpp block of the documents against the public headers. A block with a main is a program; any
# other is the body of a function, in which `graph`, `err` and the like must be declared by the block itself.
set -eu
cd "$(dirname "$0")/.."
cc=${1:-cc}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
count=0
for document in README.md CONTRIBUTING.md docs/*.md docs/guides/*.md examples/README.md src/*/README.md; do
    awk -v out="$work/$(echo "$document" | tr '/.' '__')" '
        /^```c$/ { inside = 1; file = out "_" ++n ".c"; printf "" > file; next }
        /^```/ { inside = 0 }
        inside { print > file }' "$document"
done
for snippet in "$work"/*.c; do
    [ -e "$snippet" ] || break
    if ! grep -q 'int main' "$snippet"; then
        { echo '#include <stdio.h>'; echo '#include <millwright/chip_all.h>'; echo '#include <millwright/communicator.h>'
            echo '#include <millwright/data.h>'; echo '#include <millwright/inspect.h>'
            echo '#include <millwright/millwright.h>'
            echo '#include <millwright/learn.h>'; echo '#include <millwright/text.h>'; echo '#include <millwright/view.h>'; echo 'void snippet(void);'; echo 'void snippet(void) {';
            cat "$snippet"; echo '}'; } >"$snippet.tmp"
        mv "$snippet.tmp" "$snippet"
    fi
    "$cc" -std=c11 -Wall -Wextra -Wpedantic -Werror -Wno-unused-variable -Iinclude -fsyntax-only "$snippet"
    count=$((count + 1))
done
for document in docs/*.md; do
    awk -v out="$work/$(echo "$document" | tr '/.' '__')" '
        /^```cpp$/ { inside = 1; file = out "_" ++n ".cpp"; printf "" > file; next }
        /^```/ { inside = 0 }
        inside { print > file }' "$document"
done
for snippet in "$work"/*.cpp; do
    [ -e "$snippet" ] || break
    command -v c++ >/dev/null || break
    c++ -std=c++17 -Wall -Wextra -Wpedantic -Werror -Iinclude -fsyntax-only "$snippet"
    count=$((count + 1))
done
echo "$count snippets compile"
