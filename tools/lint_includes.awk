# The rules of lint_includes.sh: which room may include which, and who may name a third-party header.

function bad(why) {
    printf "%s:%d: %s (%s)\n", FILENAME, FNR, $0, why
    broken = 1
}

function may_include(room, other) {
    if (room == other || other == "millwright")
        return 1
    return index(" " allowed[room] " ", " " other " ") > 0
}

# Only these files may name these headers.
function check_third_party(header) {
    if (header == "uthash.h" && FILENAME != "src/base/map.c")
        bad("uthash belongs to src/base/map.c")
    if (header == "xxhash.h" && FILENAME != "src/base/hash.c")
        bad("xxhash belongs to src/base/hash.c")
    if (header == "zlib.h") {
        if (room != "runtime")
            bad("zlib belongs to src/runtime")
        else if (zlib_file != "" && zlib_file != FILENAME)
            bad("zlib.h is already included by " zlib_file)
        zlib_file = FILENAME
    }
    if (header ~ /(cblas|openblas|Accelerate|Espresso)/)
        bad("BLAS and frameworks are reached by dlopen with our own prototypes")
}

BEGIN {
    allowed["base"] = ""
    allowed["graph"] = "base"
    allowed["autograd"] = "base graph"
    allowed["mil"] = "base graph"
    allowed["runtime"] = "base graph autograd mil e5rt"
    allowed["engine"] = "base graph mil e5rt"
    allowed["public"] = ""
}

FNR == 1 {
    room = FILENAME
    if (room ~ /^src\//) {
        sub(/^src\//, "", room)
        sub(/\/.*/, "", room)
    } else {
        room = "public"
    }
}

/^[ \t]*#[ \t]*include[ \t]*[<"]/ {
    header = $0
    sub(/^[^<"]*[<"]/, "", header)
    sub(/[>"].*/, "", header)
    check_third_party(header)
    if (header ~ /^\.\.?\//) {
        bad("includes name the room, never a relative path")
        next
    }
    if (header !~ /\//) {
        if ($0 ~ /"/ && FILENAME !~ /^examples\//) # examples may share a header of their own folder
            bad("includes name the room")
        next
    }
    other = header
    sub(/\/.*/, "", other)
    if (other == "sys" || other == "arpa" || other == "netinet" || other == "mach")
        next
    if (room == "runtime" && header == "engine/engine.h")
        next # the one declared entry: the table of symbols
    if (room == "public" && FILENAME ~ /^include\/e5rt\// && other == "e5rt")
        next
    if (!may_include(room, other))
        bad(room == "public" ? "only public headers here" : room " may not include " other)
}

END { exit broken }
