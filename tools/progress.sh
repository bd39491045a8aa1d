#!/bin/sh
# Copies what ninja says to a file, and shows on a terminal one line that moves: a bar, steps done, seconds, and about how many
# are left. Elsewhere it says nothing.
# usage: cmake --build .. 2>&1 | tools/progress.sh LOG
set -eu
[ -t 2 ] || exec cat >>"$1"

bar() { # bar DONE TOTAL: of 30 places
    filled=$(($1 * 30 / $2))
    printf '%.*s%.*s' "$filled" '##############################' $((30 - filled)) '..............................'
}

show() { # show DONE TOTAL
    seconds=$(($(date +%s) - begin))
    left=
    [ "$seconds" -lt 3 ] || left=", about $((seconds * ($2 - $1) / ($1 > 0 ? $1 : 1))) s left"
    printf '\r[%s] %d of %d, %d s%s   ' "$(bar "$1" "$2")" "$1" "$2" "$seconds" "$left" >&2
}

begin=$(date +%s)
while IFS= read -r line; do
    printf '%s\n' "$line" >>"$1"
    case $line in
    '['*/*']'*)
        count=${line%%]*}
        count=${count#\[}
        show "${count%/*}" "${count#*/}"
        ;;
    esac
done
printf '\r%78s\r' '' >&2
