# shellcheck shell=sh
# For scripts that run many checks. A step's output goes to build/steps/, and is shown if it fails. A step that is a test
# suite (its last line is "N passed, N failed[, N skipped]") counts with its tests, any other as one test.

steps_passed=0
steps_failed=0
steps_skipped=0
steps_number=0

step() { # step NAME COMMAND [ARGUMENT...]
    step_name=$1
    shift
    steps_number=$((steps_number + 1))
    mkdir -p build/steps
    step_log=build/steps/$(printf '%02d' "$steps_number").log
    step_start=$(date +%s)
    if "$@" >"$step_log" 2>&1 </dev/null; then step_good=1; else step_good=0; fi
    step_time=$(($(date +%s) - step_start))
    step_count=$(tail -n 1 "$step_log" | grep -E '^[0-9]+ passed, [0-9]+ failed(, [0-9]+ skipped)?$') || step_count=
    step_add "$step_count"
    if [ "$step_good" -eq 1 ]; then
        echo "ok     $step_name${step_count:+: $step_count} ($step_time s)"
    else
        echo "---- the end of $step_log:"
        tail -n "${MW_STEP_LINES:-150}" "$step_log"
        echo "FAILED $step_name ($step_time s)"
    fi
}

step_add() { # step_add [COUNT LINE]
    # shellcheck disable=SC2046 # a line of words
    set -- $(printf '%s' "$1" | tr -d ',')
    if [ $# -eq 0 ]; then
        set -- "$step_good" passed "$((1 - step_good))" failed
    elif [ "$step_good" -eq 0 ] && [ "$3" -eq 0 ]; then
        set -- "$1" passed 1 failed # it counted no failure and still failed
    fi
    steps_passed=$((steps_passed + $1))
    steps_failed=$((steps_failed + $3))
    steps_skipped=$((steps_skipped + ${5:-0}))
}

steps_end() { # prints the sum over all steps as the last line and exits
    if [ "$steps_skipped" -gt 0 ]; then
        echo "$steps_passed passed, $steps_failed failed, $steps_skipped skipped"
    else
        echo "$steps_passed passed, $steps_failed failed"
    fi
    if [ "$steps_failed" -gt 0 ] || [ "$steps_passed" -eq 0 ]; then exit 1; fi
    exit 0
}
