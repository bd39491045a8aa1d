#!/usr/bin/env python3
"""Writes the library as two files, millwright.c and millwright.h, for programs that want no build system.
usage: tools/amalgamate.py OUT [--with chip,data,inspect,learn,ranks,text,view] [--headers DIR] [--without-protobuf] [--root DIR]
    --with NAMES         libraries beside the core that are joined to it, by commas: chip, data, inspect, ranks, text,
                         view; what one of them uses comes with it
    --headers DIR        where uthash.h and xxhash.h are, which become part of millwright.c (the system's folders)
    --without-protobuf   leave out Core ML packages and ONNX, whose schemas become C by protoc-c
    --root DIR           another tree with src/ and include/, for tests

Every source of the core, and of what is joined to it, stands in one translation unit; docs/amalgamation.md has the line
that compiles it. What a file keeps to itself must then be apart from what others keep to themselves:
  - a name at file level that two files have is written NAME__FOLDER_FILE, wherever it is no member of a struct;
  - a macro of a .c file is undefined at its end;
  - a header stands once, before the first file that includes it and outside of that file's conditions; a .def file
    stands wherever it is included;
  - what is built by folder stands under a condition (`FOLDERS`), or in a region of an instruction set (`TARGETS`).
A name of which macros make text or longer names gets its new form by a #define, so that # and ## see the old one; where
it would reach them through a second macro it is refused here. What else cannot stand in one file is an error of the
compiler. The output depends on the files that are read, and on nothing else."""
import argparse
import glob
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile

from c_file import INCLUDE, Refused, Source, words
from c_macros import Pasting
from c_rename import Renamer

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
ROOMS = ("base", "graph", "passes", "autograd", "rules", "mil", "format", "runtime", "engine")
# Libraries beside the core: the header that has all of one, each with a room of that name.
with open(os.path.join(ROOT, "cmake", "library.cmake"), encoding="utf-8") as _rows:
    _text = _rows.read()
CORE = "millwright/millwright.h"
SIBLINGS = {name: "millwright/" + header for name, header in re.findall(r"^mw_sibling\((\w+) (\S+\.h) ", _text, re.M)}
USES = dict(re.findall(r"^mw_sibling_uses\((\w+) (\w+)\)", _text, re.M))
NOT_HERE = ("engine/surface/export/",)
# As cmake/library.cmake chooses.
# What stands under a condition: by how the path begins, or by what it has in it.
AVX512 = "_avx512."
FOLDERS = {
    AVX512: "MW_HAVE_AVX512",
    "chip/netplist/": "MW_HAVE_PLIST",
    "chip/without_libplist/": "!MW_HAVE_PLIST",
    "format/coreml/": "MW_HAVE_PROTOBUF",
    "format/onnx/": "MW_HAVE_PROTOBUF",
    "format/protobuf/": "MW_HAVE_PROTOBUF",
    "format/without_protobuf/": "!MW_HAVE_PROTOBUF",
    "schema/": "MW_HAVE_PROTOBUF",
}
# The first that fits.
TARGETS = (
    (re.compile(r"engine/kernels/gemm/gemm_avx512\.c$"), "avx512f"),
    (re.compile(r"engine/kernels/(?!fused/).*_avx512\.c$"), "avx512f,avx512bw,avx512vl"),
)
# What these headers define is inlined into all of these files, so it has the smallest set.
INLINED = {AVX512: '__attribute__((target("avx512f"))) '}
INLINE = re.compile(r"^(?=(?:MW__INLINE|static inline) )", re.M)
# Names of the C library and of others that files here use for something of their own.
TAKEN = {"FAR", "MAX", "close", "compress", "link", "read", "truncate", "wait", "write"}
SHARED_NAME = re.compile(r"(mw_|MW_|ane_e5rt_|e5rt_|E5RT_)")
SINGLE_HEADERS = ("uthash.h", "xxhash.h")
# Here only where their condition holds.
OPTIONAL_HEADERS = re.compile(r"(immintrin|zlib|png|jpeglib|jerror|webp/decode|sndfile|plist/plist|protobuf-c/protobuf-c)\.h$")


class Tree:
    """Every file that there is a use for, by its path in an #include."""

    def __init__(self, root, headers, protobuf, joined):
        self.files, self.headers, self.protobuf = {}, headers, protobuf
        self.read_folder(os.path.join(root, "src"), "", ROOMS + joined)
        self.read_folder(os.path.join(root, "include"), "", ("millwright", "e5rt"))
        self.files.pop("millwright/mpi.h", None)
        self.leave_out(set(SIBLINGS) - set(joined))
        if protobuf:
            with tempfile.TemporaryDirectory() as made:
                self.make_schemas(root, made)
        else:
            for path in [p for p in self.files if FOLDERS.get(folder_of(p)) == "MW_HAVE_PROTOBUF"]:
                del self.files[path]
        project = read(os.path.join(ROOT, "CMakeLists.txt"))
        self.version = re.search(r"project\(millwright VERSION (\S+)", project).group(1)
        self.macros = {}  # of headers
        for source in self.files.values():
            if not source.path.endswith(".c"):
                for name, definitions in source.macros.items():
                    self.macros.setdefault(name, []).extend(definitions)
        for source in self.files.values():
            if source.path.endswith((".c", ".h")):
                source.find_names(self.macros)

    def read_folder(self, base, prefix, folders):
        for folder in folders:
            for place, below, names in os.walk(os.path.join(base, folder)):
                below.sort()
                for name in sorted(names):
                    path = prefix + os.path.relpath(os.path.join(place, name), base)
                    if name.endswith((".c", ".h", ".def")) and not path.startswith(NOT_HERE):
                        self.files[path] = Source(path, read(os.path.join(place, name)))

    def leave_out(self, siblings):
        """Public headers that no library which is here has: those of `siblings` that the others do not reach. Of some the
        core takes the types: these are in millwright.c only."""
        apart = [SIBLINGS[name] for name in siblings if SIBLINGS[name] in self.files]
        theirs = self.reached(apart, without=(CORE,))  # the header that has all of a library brings the core's
        own = theirs - self.reached(p for p in self.files if p.startswith("millwright/") and p not in theirs)
        self.hidden = own & self.reached(p for p in self.files if not p.startswith("millwright/"))
        for path in own - self.hidden:
            del self.files[path]

    def is_public(self, path):
        return path.startswith("millwright/") and path not in self.hidden

    def reached(self, paths, without=()):
        """Those headers and all that they include, but not through `without`."""
        found, todo = set(), list(paths)
        while todo:
            path = todo.pop()
            if path not in found:
                found.add(path)
                todo += [p for p, _, _ in self.files[path].includes if p in self.files and p not in without]
        return found

    def make_schemas(self, root, made):
        for folder in ("coreml", "onnx"):
            schemas = sorted(glob.glob(os.path.join(root, "src", "format", folder, "*.proto")))
            os.mkdir(os.path.join(made, folder))
            if schemas:
                subprocess.run(["protoc-c", "--c_out=" + os.path.join(made, folder), "-I", os.path.dirname(schemas[0]),
                                *schemas], check=True)
        self.read_folder(made, "schema/", ("coreml", "onnx"))

    def single_header(self, name):
        for folder in self.headers:
            if os.path.exists(os.path.join(folder, name)):
                return read(os.path.join(folder, name))
        raise Refused(f"{name} not found: say where it is with --headers")

    def find(self, path, includer):
        """The file that an #include means; None is one of the system."""
        beside = os.path.join(os.path.dirname(includer), path)
        for candidate in (path, beside, "schema/" + path, "schema/coreml/" + path):
            if candidate in self.files:
                return self.files[candidate]
        return None

    def build(self):
        whole = hashlib.sha256()
        for path in sorted(self.files):
            whole.update("".join(text for _, text in self.files[path].tokens).encode())
        return f"{self.version}-{whole.hexdigest()[:16]}"


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def folder_of(path):
    return next((folder for folder in FOLDERS if path.startswith(folder) or folder == AVX512 and folder in path), None)


class Collisions:
    """What is to be called otherwise in each .c file."""

    def __init__(self, tree):
        owners = {}
        for path, source in tree.files.items():
            header = path.endswith(".h")
            for name in source.names | source.tags | (set(source.macros) if header else set()):
                owners.setdefault(name, set()).add(path)
        self.shared = {name for name, paths in owners.items() if len(paths) > 1 and not SHARED_NAME.match(name)}
        self.in_headers = {name for name, paths in owners.items() if any(p.endswith(".h") for p in paths)}

    def of(self, source):
        suffix = "__" + re.sub(r"\W", "_", source.path[:-2])
        macros = {name for name in source.macros if name in self.in_headers | TAKEN and not SHARED_NAME.match(name)}
        names = source.names & (self.shared | TAKEN) | macros
        tags = source.tags & self.shared
        return {n: n + suffix for n in names}, {n: n + suffix for n in tags}


class Writer:
    """millwright.c, file after file."""

    def __init__(self, tree):
        self.tree, self.collisions, self.pasting = tree, Collisions(tree), Pasting(tree.macros)
        self.out, self.done = [], set()
        # What any file includes without a condition stands at the top.
        self.system = sorted({path for source in tree.files.values() if folder_of(source.path) is None
                              for path, angled, depth in source.includes
                              if angled and depth == 0 and self.is_system(path, source)})

    def is_system(self, path, source):
        if path in SINGLE_HEADERS or path == "mw_engine_build.h" or OPTIONAL_HEADERS.search(path):
            return False
        return self.tree.find(path, source.path) is None

    def put(self, *parts):
        self.out.extend(parts)

    def header(self, source):
        if source.path in self.done:
            return
        self.done.add(source.path)
        self.needed(source)
        self.begin(source)
        text = self.body(source, source.tokens)
        self.put(INLINE.sub(INLINED.get(folder_of(source.path), ""), text))
        self.end(source)

    def needed(self, source):
        for path, _, _ in source.includes:
            found = self.tree.find(path, source.path)
            if found and found.path.endswith(".h") and not self.tree.is_public(found.path):
                self.header(found)
            elif found and found.path.endswith(".def"):
                self.needed(found)

    def begin(self, source):
        self.put(f"\n/* ---- begin of {shown(source.path)} ---- */\n")
        self.put(*(f"#if {condition}\n" for condition in self.conditions(source)))
        if target_of(source.path):
            gcc, clang = target_of(source.path)
            self.put(f"#if defined(__clang__)\n{clang}\n#else\n#pragma GCC push_options\n{gcc}\n#endif\n")

    def end(self, source):
        if target_of(source.path):
            self.put("#if defined(__clang__)\n#pragma clang attribute pop\n#else\n#pragma GCC pop_options\n#endif\n")
        self.put(*("#endif\n" for _ in self.conditions(source)))
        self.put(f"/* ---- end of {shown(source.path)} ---- */\n")

    def conditions(self, source):
        condition = FOLDERS.get(folder_of(source.path))
        if not condition or source.path.endswith(".h") and not self.is_foreign(source):
            return []
        return [condition]

    def is_foreign(self, source):
        """Whether a header needs what may be absent."""
        if source.path.startswith("schema/"):
            return True
        for path, _, _ in source.includes:
            found = self.tree.find(path, source.path)
            if OPTIONAL_HEADERS.search(path) or found and found.path.endswith(".h") and self.is_foreign(found):
                return True
        return False

    def body(self, source, tokens, names=None, tags=None):
        kept = []
        for kind, text in tokens:
            include = INCLUDE.match(text) if kind == "line" else None
            if include:
                kind, text = "comment", self.included(source, include.group(2), text, names, tags)
            kept.append((kind, text))
        text = Renamer(names or {}, tags or {}).text(kept)
        return text if text.endswith("\n") else text + "\n"

    def included(self, source, path, text, names, tags):
        """What stands in the place of an #include."""
        found = self.tree.find(path, source.path)
        if found and found.path.endswith(".def"):
            return self.body(found, found.tokens, names, tags).rstrip("\n")
        if path in SINGLE_HEADERS:
            return self.tree.single_header(path).rstrip("\n")
        if found or path in self.system or path == "mw_engine_build.h":
            return f"/* {path} */"
        return text

    def file(self, source):
        self.needed(source)
        self.begin(source)
        names, tags = self.collisions.of(source)
        pasted = self.pasted(source, names)
        self.put(*(f"#define {name} {names[name]}\n" for name in sorted(pasted)))
        names = {name: new for name, new in names.items() if name not in pasted}
        self.put(self.body(source, source.tokens, names, tags))
        own = sorted(pasted | {names.get(name, name) for name in self.macros(source)})
        self.put(*(f"#undef {name}\n" for name in own))
        self.end(source)

    def pasted(self, source, names):
        """The names that macros have to do with: the preprocessor gives them their new form, after them."""
        found = {name for name in names if name in source.pasted}
        pasting = Pasting(source.macros, self.pasting)
        for tokens in self.parts(source):
            direct, passed = pasting.names(tokens, names)
            if passed:
                raise Refused(f"{shown(source.path)}: {passed} is a name of another file too, and a macro in a macro "
                              "makes text or a longer name of it: give it a name of its own")
            found |= direct
        return found

    def parts(self, source):
        """The code of a file and of what it includes in its midst, and what its macros stand for."""
        yield words([t for t in source.tokens if t[0] != "line"])
        yield from (body for definitions in source.macros.values() for _, body in definitions)
        for path, _, _ in source.includes:
            found = self.tree.find(path, source.path)
            if found and found.path.endswith(".def"):
                yield from self.parts(found)

    def macros(self, source):
        """Those that a file defines, with what it includes in its midst."""
        own = set(source.macros)
        for path, _, _ in source.includes:
            found = self.tree.find(path, source.path)
            if found and found.path.endswith(".def"):
                own |= self.macros(found)
        return own

    def text(self):
        for path in sorted(self.tree.files):
            if path.endswith(".c"):
                self.file(self.tree.files[path])
        system = "".join(f"#include <{path}>\n" for path in self.system)
        macros = "".join(f"#if !defined(MW_HAVE_{name})\n#define MW_HAVE_{name} 0\n#endif\n" for name in LIBRARIES)
        if not self.tree.protobuf:
            macros += "#if MW_HAVE_PROTOBUF\n#error \"made with --without-protobuf\"\n#endif\n"
        return filled(HEAD, self.tree, SYSTEM=system, MACROS=macros.rstrip("\n"), BUILD=self.tree.build(),
                      SCHEMAS="" if self.tree.protobuf else " (not in this one)") + "".join(self.out)


HEAD = """/* Millwright @VERSION@ as one file, beside millwright.h. Made of its sources by tools/amalgamate.py; not to be edited.
 *
 *     cc -O2 -ffp-contract=off -fno-math-errno -fno-trapping-math my.c millwright.c -lm -lpthread -ldl
 *
 * gcc or clang, C11 or later, Linux or macOS (without -ldl). What needs a library is left out unless its macro is 1:
 *
 *     -DMW_HAVE_ZLIB=1      -lz           gzipped data sets, compressed archives
 *     -DMW_HAVE_PNG=1       -lpng         PNG pictures (--with data)
 *     -DMW_HAVE_JPEG=1      -ljpeg        JPEG pictures (--with data)
 *     -DMW_HAVE_WEBP=1      -lwebp        WebP pictures (--with data)
 *     -DMW_HAVE_SNDFILE=1   -lsndfile     WAV and FLAC sounds (--with data)
 *     -DMW_HAVE_PROTOBUF=1  -lprotobuf-c  Core ML packages, ONNX@SCHEMAS@
 *     -DMW_HAVE_PLIST=1     -lplist-2.0   netplists
 *     -DMW_HAVE_UTF8PROC=1  -lutf8proc    tokenizers of anything but ASCII (--with text)
 *     -DMW_HAVE_PCRE2=1     -lpcre2-8     tokenizers with patterns of their own (--with text)
 *     -DMW_HAVE_AVX512=0                  leaves out the kernels of AVX-512, which are chosen when the program runs
 *
 * Calls that need what was left out return MW_ERROR_UNSUPPORTED and say so. Two more headers are in it, with their
 * licenses: xxhash.h and uthash.h.
 *
@LICENSE@ */
#if defined(__FAST_MATH__)
#error "Millwright needs IEEE arithmetic: no -ffast-math, no -Ofast"
#endif
#if !defined(_GNU_SOURCE) && defined(__linux__)
#define _GNU_SOURCE
#elif !defined(_DARWIN_C_SOURCE) && defined(__APPLE__)
#define _DARWIN_C_SOURCE
#endif
/* As on the line above, for those who left it out; clang knows the first only. */
#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#elif defined(__GNUC__)
#pragma GCC optimize("fp-contract=off", "no-math-errno", "no-trapping-math")
#endif

@MACROS@
#if !defined(MW_HAVE_AVX512) && defined(__x86_64__)
#define MW_HAVE_AVX512 1
#endif
/* What compiled programs are kept under in a cache. */
#define MW__TEXT_OF(x) #x
#define MW__TEXT(x)    MW__TEXT_OF(x)
#if defined(__clang__)
#define MW_ENGINE_BUILD "@BUILD@-clang" MW__TEXT(__clang_major__)
#else
#define MW_ENGINE_BUILD "@BUILD@-gcc" MW__TEXT(__GNUC__)
#endif

#include "millwright.h"
#define MW__SIBLING

@SYSTEM@#if defined(__x86_64__)
#include <immintrin.h>
#endif
"""
HEADER_HEAD = """/* Millwright @VERSION@: its public headers as one file, for millwright.c, made by tools/amalgamate.py.
 *
@LICENSE@ */
"""
LIBRARIES = ("ZLIB", "PNG", "JPEG", "WEBP", "SNDFILE", "PROTOBUF", "PLIST")


def license_text():
    return "".join(f" * {line}".rstrip() + "\n" for line in read(os.path.join(ROOT, "LICENSE")).strip().split("\n"))


def filled(text, tree, **more):
    for name, value in dict(more, VERSION=tree.version, LICENSE=license_text()).items():
        text = text.replace(f"@{name}@", value)
    return text


def shown(path):
    if path.startswith("schema/"):
        return path
    return ("include/" if path.startswith(("millwright/", "e5rt/")) else "src/") + path


def target_of(path):
    for pattern, target in TARGETS:
        if pattern.match(path):
            return (f'#pragma GCC target("{target}")',
                    f'#pragma clang attribute push(__attribute__((target("{target}"))), apply_to = function)')
    return None


def public_header(tree):
    """millwright.h: every public header, each after those that it includes."""
    out, done = [], set()

    def put(source):
        if source.path in done:
            return
        done.add(source.path)
        for path, _, _ in source.includes:
            if tree.find(path, source.path):
                put(tree.find(path, source.path))
        out.append(f"\n/* ---- begin of {shown(source.path)} ---- */\n")
        for kind, text in source.tokens:
            include = INCLUDE.match(text) if kind == "line" else None
            out.append("" if include and tree.find(include.group(2), source.path) else text)
        out.append(f"/* ---- end of {shown(source.path)} ---- */\n")

    for path in sorted(p for p in tree.files if tree.is_public(p)):
        put(tree.files[path])
    return filled(HEADER_HEAD, tree) + "".join(out)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("out")
    parser.add_argument("--headers", action="append", default=[])
    parser.add_argument("--with", dest="joined", default="")
    parser.add_argument("--without-protobuf", action="store_true")
    parser.add_argument("--root", default=ROOT)
    given = parser.parse_args()
    if not given.without_protobuf and not shutil.which("protoc-c"):
        raise Refused("protoc-c is missing: install it (protobuf-c-compiler), or say --without-protobuf")
    joined = [name for name in given.joined.split(",") if name]
    for name in joined:
        if name not in SIBLINGS:
            raise Refused(f"--with {name}: the libraries beside the core are {', '.join(SIBLINGS)}")
    joined = tuple(sorted({*joined, *(USES[name] for name in joined if name in USES)}))
    tree = Tree(given.root, given.headers + ["/opt/homebrew/include", "/usr/local/include", "/usr/include"],
                not given.without_protobuf, joined)
    os.makedirs(given.out, exist_ok=True)
    for name, text in (("millwright.h", public_header(tree)), ("millwright.c", Writer(tree).text())):
        with open(os.path.join(given.out, name), "w", encoding="utf-8") as file:
            file.write(text)


if __name__ == "__main__":
    try:
        main()
    except Refused as refused:
        sys.exit(f"amalgamate: {refused}")
