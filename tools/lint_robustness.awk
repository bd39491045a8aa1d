# docs/robustness.md against the tests: prints "room thing function" for each test that it names, and complains of cases
# that are missing, doubled or without a test.
/^\| [0-9]+ \|/ {
    split($0, column, " *\\| *")
    if (column[2] + 0 != ++expected) {
        printf "docs/robustness.md:%d: case %s where %d is expected\n", FNR, column[2], expected >"/dev/stderr"
        expected = column[2] + 0
        failed = 1
    }
    tests = 0
    rest = $0
    while (match(rest, /`[a-z0-9_]+\/[a-z0-9_]+:test_[a-zA-Z0-9_]+`/)) {
        test = substr(rest, RSTART + 1, RLENGTH - 2)
        rest = substr(rest, RSTART + RLENGTH)
        gsub(/[\/:]/, " ", test)
        print test
        tests++
    }
    if (tests == 0 && $0 !~ /\*[Ww]aits\* for/) {
        printf "docs/robustness.md:%d: case %d names no test, nor what it waits for\n", FNR, expected >"/dev/stderr"
        failed = 1
    }
    if (column[4] == "") {
        printf "docs/robustness.md:%d: case %d does not say what happens\n", FNR, expected >"/dev/stderr"
        failed = 1
    }
}
END { exit failed || expected == 0 }
