#!/bin/sh
# Looks whether the shared libraries carry what cmake/flags.cmake asks for: immediate binding, read-only relocations,
# the stack protector and, with the GNU C library, its checked functions. Ends with "N passed, N failed".
# usage: tools/check_hardened.sh LIBRARY...
set -eu
passed=0
failed=0

look() { # look LIBRARY WHAT PATTERN TEXT
    if printf '%s\n' "$4" | grep -qE "$3"; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "$1: $2 is missing"
    fi
}

for library in "$@"; do
    dynamic=$(readelf -dW "$library")
    symbols=$(readelf --dyn-syms -W "$library")
    look "$library" "immediate binding" 'BIND_NOW|FLAGS_1.*NOW' "$dynamic"
    look "$library" "RELRO" 'GNU_RELRO' "$(readelf -lW "$library")"
    look "$library" "the stack protector" '__stack_chk_fail' "$symbols"
    # A library that calls no function which has a checked form has nothing to show. memcpy and memset tell nothing: a
    # compiler calls them itself, to copy and to clear objects.
    if printf '%s\n' "$symbols" | grep -qE ' (__[a-z]+_chk|v?f?printf|v?sn?printf|str(n?cpy|n?cat)|p?read)@GLIBC'; then
        look "$library" "FORTIFY" '__[a-z]+_chk@' "$symbols"
    fi
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
