#!/usr/bin/env python3
"""Looks at a page at the widths of a telephone, a tablet and a desk in Chromium: no text of a picture overlaps another or is
cut off, and the page is not wider than the window. Screenshots go to the folder. A page that has such faults is looked at
first, so that they are known to be found. usage: tools/page_texts.py PAGE FOLDER"""
import html
import json
import pathlib
import re
import subprocess
import sys

WIDTHS = (360, 768, 1440)
BROWSER = ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars"]
# Boxes have air above and below the letters; a pixel beside them is rounding.
MEASURE = """<script>
onload = () => {
  const boxes = [], faults = [];
  for (const text of document.querySelectorAll('svg text')) {
    const box = text.getBoundingClientRect();
    if (box.width > 0 && box.height > 0)
      boxes.push({name: text.textContent.trim(), box, of: text.closest('svg')});
  }
  boxes.forEach((a, i) => {
    const around = a.of.getBoundingClientRect();
    if (a.box.left < around.left - 1 || a.box.right > around.right + 1 || a.box.top < around.top - 1 ||
        a.box.bottom > around.bottom + 1)
      faults.push(`"${a.name}" is cut off`);
    for (const b of boxes.slice(i + 1).filter(b => b.of === a.of)) {
      const wide = Math.min(a.box.right, b.box.right) - Math.max(a.box.left, b.box.left);
      const high = Math.min(a.box.bottom, b.box.bottom) - Math.max(a.box.top, b.box.top);
      if (wide > 1 && high > 0.25 * Math.min(a.box.height, b.box.height))
        faults.push(`"${a.name}" and "${b.name}" overlap`);
    }
  });
  const page = document.documentElement.scrollWidth;
  if (page > innerWidth + 1)
    faults.push(`the page is ${page} wide`);
  parent.postMessage(JSON.stringify({texts: boxes.length, width: innerWidth, faults}), '*');
};
</script>"""
# Chromium's own window is never narrower than 500, so that the page stands in a frame.
FRAME = """<body style="margin:0"><iframe src="measured.html" style="border:0;width:{width}px;height:4000px"></iframe>
<pre id="found"></pre><script>onmessage = m => {{ document.getElementById('found').textContent = m.data; }};</script>"""
FAULTY = """<svg width="200" height="60"><text x="10" y="30">first words</text><text x="20" y="32">second words</text>
<text x="180" y="50">beyond the end</text></svg><div style="width:3000px">wide</div>"""


def look(page, folder, width, picture=None):
    """What is measured of a page at a width."""
    (folder / "measured.html").write_text(page + MEASURE, encoding="utf-8")
    frame = folder / "frame.html"
    frame.write_text(FRAME.format(width=width), encoding="utf-8")
    command = [*BROWSER, f"--window-size={max(width, 500)},1400"]
    said = subprocess.run([*command, "--virtual-time-budget=5000", "--dump-dom", f"file://{frame}"], capture_output=True,
                          text=True, timeout=120, check=False).stdout
    found = re.search(r'<pre id="found">(.+?)</pre>', said, re.S)
    if found is None:
        sys.exit(f"{width} px: Chromium says nothing of the page")
    if picture is not None:
        subprocess.run([*command, f"--screenshot={picture}", f"file://{frame}"], capture_output=True, timeout=120, check=False)
    return json.loads(html.unescape(found[1]))


def main():
    page, folder = pathlib.Path(sys.argv[1]).read_text(encoding="utf-8"), pathlib.Path(sys.argv[2]).resolve()
    faults = " ".join(look(FAULTY, folder, 768)["faults"])
    for word in ("overlap", "cut off", "wide"):
        if word not in faults:
            sys.exit(f"a page whose text does this was not found: {word}")
    status = 0
    for width in WIDTHS:
        found = look(page, folder, width, folder / f"{width}.png")
        for fault in found["faults"]:
            print(f"{width} px: {fault}")
        status = 1 if found["faults"] or found["width"] != width else status
        print(f"{width} px: {found['texts']} texts, {len(found['faults'])} faults")
    for name in ("measured.html", "frame.html"):
        (folder / name).unlink()
    return status


if __name__ == "__main__":
    sys.exit(main())
