#!/bin/sh
# House rules that no compiler checks: length of files and functions, tabs, trailing blanks, paths of one machine.
set -eu
cd "$(dirname "$0")/.."
status=0

tools/c_files.sh | xargs awk -f tools/lint_house.awk || status=1

# Paths that hold on one machine only, in any text file of the project.
if git rev-parse --git-dir >/dev/null 2>&1; then
    git ls-files
else
    find . -type f -not -path './build/*' -not -path './data/*'
fi | grep -v 'tools/lint_house\.sh$' | tr '\n' '\0' |
    xargs -0 grep -InE '/(home|Users)/[A-Za-z0-9]' && {
    echo "paths of one machine, above"
    status=1
}
exit "$status"
