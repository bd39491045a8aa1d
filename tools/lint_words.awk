# Names: one spelling, the terms of the field, one-word statics, one folder for a prefix. The first file is the table
# (lint_words.txt); the others are ours.
function report(where, text) {
    print where ": " text
    broken = 1
}

function base(path) {
    sub(/.*\//, "", path)
    return path
}

function folder(path) {
    sub(/\/[^\/]*$/, "", path)
    sub(/^src\//, "", path)
    return path
}

# Whether `path` is `top` or a folder inside it.
function inside(path, top) { return path == top || index(path, top "/") == 1 }

# The name before the first parenthesis of a line that begins a function.
function function_name(line) {
    sub(/ *\(.*/, "", line)
    sub(/.*[ *]/, "", line)
    return line
}

function check_words(where, text,    low, i) {
    if (text !~ british)
        return
    low = tolower(text)
    for (i in kept)
        gsub(i, "", low)
    for (i in spelling)
        if (index(low, i))
            report(where, "\"" i "\" is spelled \"" spelling[i] "\"")
}

NR == FNR {
    if ($1 == "spelling") {
        spelling[$2] = $3
        first = toupper(substr($2, 1, 1))
        british = british (british == "" ? "" : "|") "[" first substr($2, 1, 1) "]" substr($2, 2) "|" toupper($2)
    }
    if ($1 == "keep")
        kept[$2] = 1
    if ($1 == "word") {
        wrong = wrong (wrong == "" ? "" : "|") $2
        term[$2] = $0
        sub(/^word [^ ]* /, "", term[$2])
    }
    if ($1 == "prefix") {
        owner[$2] = $3
        known[$2] = 1
    }
    next
}

FNR == 1 {
    check_words(FILENAME, base(FILENAME))
    code = FILENAME ~ /^src\/.*\.[ch]$/
    header = FILENAME ~ /\.h$/
    if (code && base(FILENAME) ~ ("(^|_)(" wrong ")[_.]"))
        report(FILENAME, "its name has a word of ours; lint_words.txt has the term")
}

{ check_words(FILENAME ":" FNR, $0) }

!code { next }

/mw__/ && $0 ~ ("mw__([a-z0-9]+_)*(" wrong ")(_[a-z0-9_]*)?[^a-z0-9_]") {
    for (i in term)
        if ($0 ~ ("mw__([a-z0-9]+_)*" i "(_[a-z0-9_]*)?[^a-z0-9_]"))
            report(FILENAME ":" FNR, "a name with \"" i "\"; the term is " term[i])
}

/^static [^=]*\(/ && !/ mw__/ {
    name = function_name($0)
    if (name ~ /^[a-z]+$/ && !((name, FILENAME) in stands)) {
        stands[name, FILENAME] = 1
        files[name]++
        places[name] = places[name] " " FILENAME
    }
}

# Definitions: in a .c file what begins in the first column, in a header what is inline.
/mw__[a-z0-9_]+\(/ && !/;$/ && (header ? /^(static inline|MW__[A-Z0-9_]*INLINE) / : /^[A-Za-z]/ && !/^(static|typedef|return) ?/) {
    name = function_name($0)
    if (name ~ /^mw__/) {
        sub(/^mw__/, "", name)
        sub(/_.*/, "", name)
        where = folder(FILENAME)
        if (!((name, where) in defined)) {
            defined[name, where] = 1
            folders[name] = folders[name] " " where
        }
    }
}

# The folder of a prefix: the one that holds all others, or what the table says.
function check_prefix(name,    list, count, i, top) {
    count = split(folders[name], list, " ")
    top = list[1]
    for (i = 2; i <= count; i++)
        if (inside(top, list[i]))
            top = list[i]
    if (name in known)
        top = owner[name]
    for (i = 1; i <= count; i++)
        if (top != "-" && !inside(list[i], top)) {
            report("mw__" name "_", "belongs to one folder, and is defined in" folders[name])
            return
        }
}

END {
    for (name in files)
        if (files[name] > 5)
            report(name, "a static name of one word in " files[name] " files; name the object, too:" places[name])
    for (name in folders)
        check_prefix(name)
    exit broken
}
