#!/bin/sh
# Everything that can be said about the text of the project without building it.
set -u
cd "$(dirname "$0")/.." || exit 1
status=0
tools/check_format.sh || status=1
tools/lint_includes.sh || status=1
tools/lint_house.sh || status=1
tools/lint_words.sh || status=1
tools/lint_robustness.sh || status=1
tools/lint_environment.sh || status=1
tools/lint_paths.sh || status=1
if command -v python3 >/dev/null; then
    tools/lint_order.py || status=1
    tools/lint_circles.py || status=1
    tools/lint_twice.py || status=1
    tools/python_abi.py --check || status=1
    tools/python_stubs.py --check || status=1
    tools/cpp_header.py --check || status=1
    tools/interface.py --check || status=1
    tools/draw_house.py --check || status=1
fi
shellcheck -x run .ci/run tools/*.sh cmake/zig/cc cmake/zig/ar cmake/zig/ranlib || status=1
[ "$status" -ne 0 ] || echo "lint: nothing to say"
exit "$status"
