#!/bin/sh
# Pictures of a report in a browser without a window: light, dark, on paper, and at three widths; fails if one is empty, or
# if texts overlap.
# usage: tools/page.sh PAGE OUT_FOLDER; needs chromium (Debian) and python3
set -eu
page=$(realpath "$1")
out=$2
mkdir -p "$out"

browse() { chromium --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --hide-scrollbars "$@" "file://$page" >/dev/null 2>&1; }

browse --window-size=1060,1400 --screenshot="$out/light.png"
browse --window-size=1060,1400 --blink-settings=preferredColorScheme=0 --screenshot="$out/dark.png"
browse --no-pdf-header-footer --print-to-pdf="$out/page.pdf"
"$(dirname "$0")/page.py" "$page" "$out"
"$(dirname "$0")/page_texts.py" "$page" "$out"
