#!/bin/sh
# Looks whether the shared libraries carry what cmake/flags.cmake asks for: immediate binding, read-only relocations,
# the stack protector and, where a function of the GNU C library is called that has a checked form, checked functions.
# Ends with "N passed, N failed".
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

checked=' (__)?(mem(cpy|move|set)|str(n?cpy|n?cat)|v?(f|sn?)?printf|p?read)(_chk)?@GLIBC'
for library in "$@"; do
    dynamic=$(readelf -dW "$library")
    symbols=$(readelf --dyn-syms -W "$library")
    look "$library" "immediate binding" 'BIND_NOW|FLAGS_1.*NOW' "$dynamic"
    look "$library" "RELRO" 'GNU_RELRO' "$(readelf -lW "$library")"
    look "$library" "the stack protector" '__stack_chk_fail' "$symbols"
    if printf '%s\n' "$symbols" | grep -qE "$checked"; then look "$library" "FORTIFY" '__[a-z]+_chk@' "$symbols"; fi
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
