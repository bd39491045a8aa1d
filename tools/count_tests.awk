# Reads `ctest -V`, prints one line a test executable and the output of those that failed, and sums up their own last
# lines "N passed, N failed[, N skipped]". An executable that crashed, ran out of time or printed no such line counts
# as one failed test; one of bench/, which prints figures, as one that did what CTest says of it. Exits 1 if anything
# failed or nothing ran.

function sum_up(number, good,    words) {
    if (number in counted) {
        split(counted[number], words, /[ ,]+/)
        passed += words[1]
        failed += words[3]
        skipped += words[5]
        if (!good && words[3] == 0)
            failed++
        return good && words[3] == 0
    }
    failed++
    return 0
}

# "12: text": a line printed by test 12
/^[0-9]+: / {
    number = $1 + 0
    text = substr($0, index($0, ": ") + 2)
    if (text ~ /^(Test command: |Working Directory: |Test timeout computed to be: )/)
        next
    output[number] = output[number] text "\n"
    if (text ~ /^[0-9]+ passed, [0-9]+ failed(, [0-9]+ skipped)?$/)
        counted[number] = text
    next
}

# " 3/40 Test #12: base/text ....   Passed    0.01 sec"
/^ *[0-9]+\/[0-9]+ Test +#[0-9]+: / {
    number = $0
    sub(/^[^#]*#/, "", number)
    number += 0
    if (!(number in counted) && / Test +#[0-9]+: bench\//)
        counted[number] = / Passed +[0-9.]+ sec/ ? "1 passed, 0 failed" : "0 passed, 1 failed"
    note = number in counted ? counted[number] : "no count"
    good = sum_up(number, $0 ~ / Passed +[0-9.]+ sec/)
    if (!good)
        printf "%s", output[number]
    line = $0
    sub(/^ *[0-9]+\/[0-9]+ Test +#[0-9]+: /, "", line)
    print (good ? "ok     " : "FAILED ") line "  (" note ")"
    fflush()
    delete output[number]
    next
}

/^(No tests were found|CMake Error|Could not find|Unable to find)/ { print }

END {
    total = passed + 0 " passed, " failed + 0 " failed" (skipped > 0 ? ", " skipped " skipped" : "")
    if (summary != "")
        print total > summary
    print total
    exit failed > 0 || passed == 0
}
