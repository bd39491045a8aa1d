# The rules of lint_includes.sh: which room may include which, and who may name a third-party header.

function bad(why) {
    printf "%s:%d: %s (%s)\n", FILENAME, FNR, $0, why
    broken = 1
}

# The library that a public header belongs to; "core" if to none beside it.
function library_of(name) { return name in beside ? beside[name] : "core" }

# The core knows no library beside it; of a few headers its rooms take the types, which they fill for that library.
function may_include_public(room, name,    from, to) {
    to = library_of(name)
    from = room in library ? library[room] : "core"
    if (room == "public" && FILENAME ~ /^include\//)
        from = library_of(substr(FILENAME, length("include/") + 1))
    else if (room == "public" || room == "tool")
        return 1
    return to == "core" || to == from || (from == "view" && to == "inspect") || (from == "mpi" && to == "ranks") ||
        index(" " types_for[room] " ", " " name " ") > 0
}

function may_include(room, other) {
    if (other == "millwright")
        return may_include_public(room, header)
    if (room == other)
        return 1
    if (room == "chip/cost" && header == "engine/core/segmenter.h") # the engine's hook
        return 1
    if (room == "chip" && header == "format/given.h") # the hook for files of models
        return 1
    if (FILENAME ~ /^src\/engine\/surface\/export\// && header == "chip/cost/engine.h") # libmillwright_e5rt has both
        return 1
    if (room == "tool" && header ~ /^passes\/[a-z]+\.def$/) # rows as text, for mw passes --list: nothing is called
        return 1
    return index(" " allowed[room] " ", " " other " ") > 0
}

# The room of a path below src: engine and chip have rooms of their own.
function room_of(path) {
    if (path ~ /^(engine|chip)\/[a-z]+\//)
        match(path, /^[a-z]+\/[a-z]+/)
    else
        match(path, /^[^\/]+/)
    return substr(path, 1, RLENGTH)
}

function check_private(header) {
    if (header in private_to && index(" " private_to[header] " ", " " room " ") == 0)
        bad("private to " private_to[header])
    if (room == "engine/run" && header ~ /^engine\/compile\// && header != "engine/compile/compiled.h")
        bad("run sees only engine/compile/compiled.h of compile")
}

# Only these files may name these headers.
function check_third_party(header) {
    third_party = 0
    if (header == "uthash.h" && FILENAME != "src/base/memory/map.c")
        bad("uthash belongs to src/base/memory/map.c")
    if (header == "xxhash.h" && FILENAME != "src/base/number/hash.c")
        bad("xxhash belongs to src/base/number/hash.c")
    if (header == "zlib.h" && FILENAME != "src/base/file/inflate.c")
        bad("zlib belongs to src/base/file/inflate.c")
    if (header == "png.h" && FILENAME != "src/data/image/png.c")
        bad("libpng belongs to src/data/image/png.c")
    if (header ~ /^(jpeglib|jerror)\.h$/ && FILENAME != "src/data/image/jpeg.c")
        bad("libjpeg belongs to src/data/image/jpeg.c")
    if (header ~ /^webp\//) {
        if (FILENAME != "src/data/image/webp.c")
            bad("libwebp belongs to src/data/image/webp.c")
        third_party = 1
    }
    if (header == "sndfile.h" && FILENAME != "src/data/sound/sndfile.c")
        bad("libsndfile belongs to src/data/sound/sndfile.c")
    if (header ~ /^protobuf-c\// || header ~ /\.pb-c\.h$/) {
        if (room != "format")
            bad("protobuf-c belongs to src/format")
        third_party = 1
    }
    if (header ~ /^plist\//) {
        if (room != "chip/netplist")
            bad("libplist belongs to src/chip/netplist")
        third_party = 1
    }
    if (header == "utf8proc.h" && FILENAME != "src/text/unicode/unicode.c")
        bad("libutf8proc belongs to src/text/unicode/unicode.c")
    if (header == "pcre2.h" && FILENAME != "src/text/regex/regex.c")
        bad("libpcre2 belongs to src/text/regex/regex.c")
    if (header == "popt.h" && room != "tool")
        bad("popt belongs to src/tool")
    if (header == "mpi.h" && room != "mpi" && FILENAME != "include/millwright/mpi.h")
        bad("MPI belongs to src/mpi")
    if (header == "millwright/mpi.h" && FILENAME ~ /^include\//)
        bad("who includes this needs MPI")
    if (header ~ /(cblas|openblas|Accelerate|Espresso)/)
        bad("BLAS and frameworks are reached by dlopen with our own prototypes")
}

function join_library(name, headers,    list, i) {
    split(headers, list, " ")
    for (i in list)
        beside["millwright/" list[i] ".h"] = name
}

BEGIN {
    allowed["base"] = ""
    allowed["graph"] = "base"
    allowed["autograd"] = "base graph"
    allowed["passes"] = "base graph"
    allowed["rules"] = "base graph passes"
    allowed["chip"] = "base graph passes mil rules chip/hwx chip/task chip/plan chip/cost chip/e5 chip/netplist"
    allowed["chip/hwx"] = "base graph passes mil rules chip/task"
    allowed["chip/task"] = "base graph passes mil rules"
    allowed["chip/plan"] = "base graph passes mil chip rules chip/cost"
    allowed["chip/cost"] = "base graph passes mil rules"
    allowed["chip/e5"] = "base graph passes mil rules chip/plan"
    allowed["chip/netplist"] = "base graph passes mil chip rules"
    allowed["mil"] = "base graph passes rules"
    allowed["format"] = "base graph mil"
    allowed["runtime"] = "base graph passes autograd mil format rules e5rt"
    allowed["engine/core"] = "base graph passes rules"
    allowed["engine/kernels"] = "base graph passes rules engine/core"
    allowed["engine/compile"] = "base graph passes mil rules engine/core engine/kernels"
    allowed["engine/cache"] = "base graph passes mil rules engine/core engine/compile"
    allowed["engine/run"] = "base graph engine/core engine/compile"
    allowed["engine/surface"] = "base graph passes mil rules e5rt engine/core engine/kernels engine/compile engine/cache engine/run"
    allowed["text"] = "base"
    allowed["view"] = "base graph"
    allowed["data"] = "base graph format runtime"
    allowed["inspect"] = "base graph passes autograd rules mil format runtime"
    allowed["learn"] = "base graph autograd"
    allowed["ranks"] = "base runtime"
    allowed["mpi"] = ""
    allowed["tool"] = "base"
    allowed["public"] = ""

    split("chip/hwx chip/task chip/plan chip/cost chip/e5 chip/netplist chip", rooms, " ")
    for (i in rooms)
        library[rooms[i]] = "chip"
    library["data"] = "data"
    library["inspect"] = "inspect"
    library["learn"] = "learn"
    library["ranks"] = "ranks"
    library["text"] = "text"
    library["view"] = "view"
    library["mpi"] = "mpi"
    join_library("data", "app data dataset_derived dataset_files dataset_images dataset_labels dataset_sounds log_mel table_encoder table_fields table_stream tensors_derived")
    join_library("inspect", "chip compare gradcheck inspect onnx_check plan ranges replay")
    join_library("chip", "chip_all chip_cost chip_place chip_plan chip_plan_rows chip_run e5 hwx netplist")
    join_library("learn", "learn loss_embedding loss_focus per_example scores")
    join_library("ranks", "communicator")
    join_library("text", "text text_model text_save tokenizer")
    join_library("view", "draw plot report summary view")
    join_library("mpi", "mpi")
    types_for["mil"] = "millwright/chip.h"
    types_for["runtime"] = "millwright/communicator.h millwright/compare.h millwright/plan.h"

    private_to["graph/ir/rule.h"] = "graph"
    private_to["graph/ir/copy.h"] = "graph"
    private_to["graph/transform/clone/clone_mark.h"] = "graph"
    private_to["mil/legalize/rewrites.h"] = "mil"
    private_to["mil/legalize/legalizer.h"] = "mil"
    private_to["mil/legalize/legality.h"] = "mil"
    private_to["mil/text/parse.h"] = "mil"
    private_to["mil/text/token.h"] = "mil"
    private_to["mil/text/print.h"] = "mil"
    private_to["engine/core/planner.h"] = "engine/core engine/compile"
    private_to["engine/kernels/fused/fused_code.h"] = "engine/kernels"
    private_to["engine/kernels/fused/precompiled.h"] = "engine/kernels"
    private_to["engine/kernels/common_avx512.h"] = "engine/kernels"
    private_to["engine/run/layout.h"] = "engine/run engine/surface"
    private_to["engine/run/team.h"] = "engine/run engine/surface"
}

FNR == 1 {
    room = "public"
    if (FILENAME ~ /^src\//)
        room = room_of(substr(FILENAME, 5))
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
    other = room_of(header)
    if (third_party)
        next
    if (other == "sys" || other == "arpa" || other == "netinet" || other == "mach")
        next
    check_private(header)
    if (room == "public" && FILENAME ~ /^include\/e5rt\// && other == "e5rt")
        next
    if (!may_include(room, other))
        bad(room == "public" ? "only public headers here" : room " may not include " other)
}

END { exit broken }
