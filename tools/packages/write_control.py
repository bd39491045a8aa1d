#!/usr/bin/env python3
"""Writes debian/control and the lists of installed files, from the table of libraries below. usage: write_control.py FOLDER"""
import pathlib
import sys

BUILD = """debhelper-compat (= 13), cmake (>= 3.25), dh-python, libjpeg62-turbo-dev | libjpeg-dev, libopenmpi-dev,
 libpcre2-dev, libplist-dev, libpng-dev, libpopt-dev, libprotobuf-c-dev, libsndfile1-dev, libutf8proc-dev, libwebp-dev,
 libxxhash-dev, mpi-default-bin, ninja-build, pkg-config, protobuf-c-compiler, python3, uthash-dev, zlib1g-dev"""
ALL = """Tensor graphs are built, differentiated and lowered to one program in Apple's
Model Intermediate Language, which holds forward pass, backward pass and
optimizer update. The engine compiles it for the processor; on macOS the same
program runs on the Apple Neural Engine."""
# name of the library, what it has
LIBRARIES = {
    "": "the core: graphs, gradients, training, the engine",
    "e5rt": "the engine behind the symbols of e5rt",
    "data": "files as data sets, and sets made of others",
    "inspect": "plans, comparisons, ranges, checks of gradients",
    "chip": "the ANE's compiler and its files",
    "learn": "losses and scores beyond the basics",
    "ranks": "training with several processes",
    "text": "language models from the files they come in",
    "view": "charts and reports",
    "mpi": "training with several processes over MPI",
}


def package(name):
    return f"libmillwright-{name}0" if name else "libmillwright0"


def file_of(name):
    return f"libmillwright_{name}" if name else "libmillwright"


def paragraph(text):
    return "\n".join(" " + line for line in text.splitlines())


def stanza(name, architecture, depends, about, text, section=None, more=()):
    lines = [f"Package: {name}", f"Architecture: {architecture}"]
    lines += [f"Section: {section}"] if section else []
    lines += list(more)
    return "\n".join([*lines, f"Depends: {depends}", f"Description: {about}", paragraph(ALL), " .", paragraph(text), ""])


def control():
    same = "(= ${binary:Version})"
    parts = [f"""Source: millwright
Section: libs
Priority: optional
Maintainer: The Millwright Authors <maintainers@millwright.invalid>
Build-Depends: {BUILD}
Standards-Version: 4.6.2
Rules-Requires-Root: no
"""]
    for name, about in LIBRARIES.items():
        core = f", libmillwright0 {same}" if name not in ("", "e5rt") else ""
        parts.append(stanza(package(name), "any", "${shlibs:Depends}, ${misc:Depends}" + core, f"trains tensor graphs - {about}",
                            f"This package has {about}.", more=["Multi-Arch: same"]))
    everything = ", ".join(f"{package(name)} {same}" for name in LIBRARIES)
    parts.append(stanza("libmillwright-dev", "any", everything + ", ${misc:Depends}", "trains tensor graphs - headers and static libraries",
                        "This package has the headers, the static libraries, and what CMake and\npkg-config read.",
                        section="libdevel", more=["Multi-Arch: same", "Suggests: millwright-doc"]))
    parts.append(stanza("millwright-tools", "any", "${shlibs:Depends}, ${misc:Depends}", "trains tensor graphs - mw, the tool",
                        "This package has mw, which trains, converts, checks and draws models.", section="science"))
    parts.append(stanza("python3-millwright", "all", f"libmillwright0 (>= ${{source:Version}}), {package('data')} (>= ${{source:Version}}), "
                        f"{package('text')} (>= ${{source:Version}}), ${{python3:Depends}}, ${{misc:Depends}}",
                        "trains tensor graphs - Python module", "This package has the module for Python 3.", section="python",
                        more=["Suggests: python3-numpy"]))
    parts.append(stanza("millwright-doc", "all", "${misc:Depends}", "trains tensor graphs - documents and examples",
                        "This package has the documents and the examples.", section="doc", more=["Multi-Arch: foreign"]))
    return "\n".join(parts)


def installed():
    files = {f"{package(name)}.install": f"usr/lib/*/{file_of(name)}.so.*\n" for name in LIBRARIES}
    files["libmillwright-dev.install"] = "usr/include\nusr/lib/*/*.a\nusr/lib/*/*.so\nusr/lib/*/cmake\nusr/lib/*/pkgconfig\n"
    files["millwright-tools.install"] = ("usr/bin/mw\nusr/share/man/man1/mw.1\nusr/share/bash-completion\nusr/share/fish\n"
                                         "usr/share/zsh/site-functions/_mw usr/share/zsh/vendor-completions\n")
    files["python3-millwright.install"] = "usr/share/millwright/python/millwright usr/lib/python3/dist-packages\n"
    files["millwright-doc.docs"] = "docs/*.md\ndocs/*.svg\ndocs/*.png\nREADME.md\n"
    files["millwright-doc.examples"] = "examples/*.c\nexamples/*.h\nexamples/recipes\nexamples/python/mnist.py\n"
    return files


def main():
    folder = pathlib.Path(sys.argv[1])
    (folder / "control").write_text(control(), encoding="utf-8")
    for name, text in installed().items():
        (folder / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
