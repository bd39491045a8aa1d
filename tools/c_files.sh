#!/bin/sh
# Lists the C files that are ours, one a line.
set -eu
cd "$(dirname "$0")/.."
find include src tests examples bench tools -name '*.[ch]' -not -path '*/.*' 2>/dev/null | LC_ALL=C sort
