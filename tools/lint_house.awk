# The rules of lint_house.sh that look at C: length of files and functions, tabs, trailing blanks, doc blocks.
function report(text) {
    print text
    broken = 1
}

function finish() {
    if (lines > 800)
        report(file ": " lines " lines; split it by subject at 800")
}

FNR == 1 {
    finish()
    file = FILENAME
    start = 0
    doc = 0
}

{ lines = FNR }
/\t/ { report(FILENAME ":" FNR ": tab") }
/[ \t]+$/ { report(FILENAME ":" FNR ": blank at the end of the line") }
/^[A-Za-z_]/ { name = $0 }

# Whoever includes a public header learns from it what threads may do.
FILENAME ~ /^include\/millwright\// && /^ \* Threads: / { threads[FILENAME] = 1 }
FILENAME ~ /^include\/millwright\// { headers[FILENAME] = 1 }

# What is public is described: an operation by a doc block of its own, other prototypes also by that of those right above.
FILENAME ~ /^include\/millwright\/ops\// && /^MW_API/ && before !~ /\*\/$/ { report(FILENAME ":" FNR ": no doc block") }
FILENAME ~ /^include\/millwright\// && /^MW_API/ && before !~ /(\*\/|;)$/ { report(FILENAME ":" FNR ": no doc block") }
FILENAME ~ /^include\/millwright\// { before = $0 }

# The environment has one door, which is shut to a stranger's.
FILENAME ~ /^src\// && FILENAME != "src/base/environment.c" && /(^|[^A-Za-z0-9_])(secure_)?getenv *\(/ {
    report(FILENAME ":" FNR ": the environment is read through mw__environment (base/environment.h)")
}
# Who asks: one file of the engine, one of the runtime, one of the tool, and base for the folder of temporary files.
FILENAME ~ /^src\// && FILENAME !~ /^src\/(base\/(environment\.[ch]|file\/file\.c)|engine\/core\/config\.c|runtime\/variables\.c|tool\/show\/out\.c)$/ && /mw__environment *\(/ {
    report(FILENAME ":" FNR ": variables are read in engine/core/config.c, runtime/variables.c and tool/show/out.c")
}

# clang-format leaves doc blocks as they are (.clang-format), so that their columns stay.
/^ *\/\*\*/ { doc = 1 }
doc && /^ \* [^ ]/ { report(FILENAME ":" FNR ": a doc block goes on with \" *  \"") }
doc && length($0) > 120 { report(FILENAME ":" FNR ": doc block of " length($0) " columns, at most 120") }
# Lines of a list that were joined into running text: a formatter does it where a line is too long.
/^ *(\/\*|\*).*[a-z.;)`] (errors|return|vjp)  [A-Za-z`]/ { report(FILENAME ":" FNR ": a line of a doc block in running text") }
/\*\// { doc = 0 }
/^\{/ { start = FNR } # only a function's body opens in the first column

/^\}/ {
    if (start && FNR - start - 1 > 100)
        report(FILENAME ":" start ": function of " FNR - start - 1 " lines, at most 100: " substr(name, 1, 70))
    start = 0
}

END {
    finish()
    for (header in headers)
        if (!(header in threads))
            report(header ": no \" * Threads: ..\" in its first comment")
    exit broken
}
