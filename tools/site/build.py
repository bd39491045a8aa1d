#!/usr/bin/python3
"""Builds the site from the documents and the public headers, with Sphinx: build/site/html, which needs no server and no
network. A page that no section has, a broken link and a word that is in no list are errors.

usage: tools/site/build.py [FOLDER]; needs tools/setup.sh site"""
import pathlib
import re
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import headers  # noqa: E402
import links  # noqa: E402
import words  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
LINK = re.compile(r"\]\((?!https?:|#)([^)#\s]+)")


def contents():
    """[(section, [page])] of pages.txt."""
    sections = []
    for line in (HERE / "pages.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("= "):
            sections.append((line[2:], []))
        elif line and not line.startswith("#"):
            sections[-1][1].append(line)
    return sections


def left_out(sections):
    """Documents that no section has, and lines that name no file."""
    named = {page for _, pages in sections for page in pages if page != "api/"}
    there = {path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").glob("**/*.md")}
    return [f"{page}: tools/site/pages.txt has no line for it" for page in sorted(there - named)] + [
        f"tools/site/pages.txt: there is no {page}" for page in sorted(named) if not (ROOT / page).is_file()]


def without_folders(text, beside):
    """A link to a folder, which has no page, is its text alone."""
    return re.sub(r"\[([^]]+)\]\(([^):#\s]+)\)",
                  lambda link: link.group(1) if (beside / link.group(2)).is_dir() else link.group(0), text)


def copy_page(page, source, seen):
    """A document, and what it links to: further documents and pictures."""
    if page in seen:
        return
    seen.add(page)
    text = (ROOT / page).read_text(encoding="utf-8")
    (source / page).parent.mkdir(parents=True, exist_ok=True)
    (source / page).write_text(without_folders(text, (ROOT / page).parent), encoding="utf-8")
    for target in LINK.findall(text):
        path = (ROOT / page).parent / target
        if not path.is_file():
            continue
        relative = path.resolve().relative_to(ROOT).as_posix()
        if relative.endswith(".md"):
            copy_page(relative, source, seen)
        else:
            (source / relative).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, source / relative)


def write_headers(source):
    known = headers.links()
    pages = []
    for header in headers.headers():
        page = headers.page_of(header) + ".md"
        (source / page).parent.mkdir(parents=True, exist_ok=True)
        (source / page).write_text(headers.write(header, known), encoding="utf-8")
        pages.append(page)
    return pages


def write_index(source, sections, api, others):
    out = ["```{include} README.md", "```", ""]
    for section, pages in sections + [("Source", sorted(others))]:
        shown = [name for page in pages for name in (api if page == "api/" else [page])]
        out += ["```{toctree}", f":caption: {section}", ":hidden:", ":maxdepth: 1", "", *shown, "```", ""]
    (source / "index.md").write_text("\n".join(out), encoding="utf-8")


def prepare(source, sections):
    shutil.rmtree(source, ignore_errors=True)
    (source / "_static").mkdir(parents=True)
    shutil.copy(HERE / "conf.py", source)
    for name in ("site.css", "site.js"):
        shutil.copy(HERE / name, source / "_static")
    seen = set()
    for page in ["README.md"] + [page for _, pages in sections for page in pages if page != "api/"]:
        copy_page(page, source, seen)
    (source / "README.md").unlink()
    shutil.copy(ROOT / "README.md", source / "README.md")
    named = {page for _, pages in sections for page in pages}
    write_index(source, sections, write_headers(source), seen - named - {"README.md"})


def main():
    out = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "build" / "site").resolve()
    sections = contents()
    faults = left_out(sections)
    if not faults:
        prepare(out / "source", sections)
        shutil.rmtree(out / "html", ignore_errors=True)
        done = subprocess.run([sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-j", "auto", "-b", "html",
                               str(out / "source"), str(out / "html")], check=False)
        faults = links.faults(out / "html") + words.faults(sorted((out / "source").glob("**/*.md")))
        faults += ["Sphinx found faults, above"] if done.returncode else []
    for fault in faults:
        print(fault, file=sys.stderr)
    if not faults:
        print(f"The site is in {out / 'html'}: open index.html.")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
