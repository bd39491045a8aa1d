"""The mirrored ABI against the compiler, the headers as binding authors find them, and how the library is found."""
import _ctypes
import ctypes
import os
import pathlib
import re
import shutil
import subprocess
import sys
import types

import layout
from frame import MODULE, ROOT, check, mw
from layout import python_abi

import interface  # behind layout, which has the folder of the tools in the path

# The libraries beside the core whose names follow from its own.
BESIDE = [name for name in interface.LIBRARIES if name not in ("mpi", "e5rt")]


def whole_abi():
    """All of the public headers as a module of the form of abi.py."""
    headers, module = python_abi.Headers(python_abi.every()), types.ModuleType("whole")
    exec(python_abi.write(headers), vars(module))  # pylint: disable=exec-used
    return headers, module


def test_the_module_mirrors_structs_enums_and_types(compiler, folder):
    headers = python_abi.Headers(python_abi.chosen())
    found = layout.differences(headers, mw.abi, compiler, folder)
    check(not found, "; ".join(found))
    check(len(headers.structs) > 70 and len(headers.functions) > 400, "headers that were not read")


def test_so_do_all_public_headers(compiler, folder):
    headers, module = whole_abi()
    found = layout.differences(headers, module, compiler, folder)
    check(not found, "; ".join(found))
    texts = [(layout.HEADERS_AT / f"{name}.h").read_text(encoding="utf-8") for name in python_abi.every()]
    declared = sum(len(re.findall(r"^MW_API ", text, re.M)) for text in texts)
    check(declared == len(headers.functions), f"{declared} functions are declared, {len(headers.functions)} were read")
    started = sum(len(re.findall(r"^typedef (?:struct|enum)\b[^;{]*\{|^enum \{", text, re.M)) for text in texts)
    anonymous = sum(len(re.findall(r"^(?:typedef )?enum \{", text, re.M)) for text in texts)
    check(started - anonymous == len(headers.structs) + len(headers.enums), "a struct or enum that was not read")


def test_a_wrong_mirror_is_found(compiler, folder):
    """Of each kind: the size, the place, the kind and the name of a field, a value, a type of a parameter."""
    headers = python_abi.Headers(python_abi.chosen())
    text = python_abi.write(headers)
    for right, wrong in {'("line", c_int)': '("line", c_int64)', '("tensor", c_char * 96)': '("tensor", c_char * 95)',
                         '("loss_scale", c_float)': '("loss_scale", c_int)', '("seed", c_uint64)': '("seed", c_int64)',
                         '("gradient_norms", c_bool)': '("gradient_norms", c_ubyte)',
                         '("hidden", c_uint64 * 12)': '("hidden", c_uint64 * 11)', '("dim", c_int64': '("dims", c_int64',
                         "MW_ERROR_STATE = 9": "MW_ERROR_STATE = 8",
                         '("rank", c_int), ("dim"': '("dim0", c_int), ("dim"'}.items():
        check(right in text, right)
        module = types.ModuleType("wrong")
        exec(text.replace(right, wrong), vars(module))  # pylint: disable=exec-used
        check(layout.differences(headers, module, compiler, folder), f"{wrong} was not found")


def test_the_file_is_what_the_headers_say():
    written = python_abi.write(python_abi.Headers(python_abi.chosen()))
    check(python_abi.TARGET.read_text(encoding="utf-8") == written, "abi.py: run tools/python_abi.py")


def test_every_function_of_the_headers_is_exported(library):
    """By the core, or by a library beside it, of which the core knows nothing."""
    path = pathlib.Path(library)
    names = [path.with_name(path.name.replace("millwright", f"millwright_{name}", 1)) for name in BESIDE]
    core, *beside = [ctypes.CDLL(str(one)) for one in (path, *names)]
    headers = python_abi.Headers(python_abi.every())
    lacking = [name for name in headers.functions if not any(hasattr(one, name) for one in (core, *beside))]
    check(not lacking and not hasattr(core, "mw_nothing"), f"not exported: {lacking}")
    known = {name for header, name, _ in interface.functions() if interface.library_of(header) in BESIDE}
    check(len(known) > 100 and not any(hasattr(core, name) for name in known), "the core has what is beside it")


def test_nothing_needs_varargs_or_a_macro():
    """No function has variable arguments or a body in a header. Macros with parameters build structs by value, which
    docs/bindings.md lists, as it does what such a document can get wrong."""
    headers = python_abi.Headers(python_abi.every())
    check(not headers.varargs and not headers.inlines, f"{headers.varargs} {headers.inlines}")
    for path in (ROOT / "include").rglob("*.h"):
        code = python_abi.preprocess(path.read_text(encoding="utf-8"), {})
        check("..." not in code and "static inline" not in code, f"{path} has what a binding cannot call")
    document = (ROOT / "docs" / "bindings.md").read_text(encoding="utf-8")
    check(set(layout.function_macros()) == set(re.findall(r"`(MW_[A-Z_]+)\b[^`]*` \(macro\)", document)),
          f"docs/bindings.md lists other macros than {layout.function_macros()}")
    first = {name: fields[0][1] for name, fields in headers.structs.items()}
    without = {name for name in first if name.endswith("_options") and first[name] != "struct_size"}
    check(not without, f"options without struct_size: {without}")
    for name in ("mw_optimizer", "mw_feed", "mw_schedule", "mw_init", "mw_column", "mw_error"):
        check(first[name] != "struct_size" and f"`{name}`" in document, f"{name} in docs/bindings.md")


def test_the_blocks_of_the_documents_run(library, folder):
    """Each ```python block of docs/bindings.md and of the README beside the module, in a process of its own."""
    count = 0
    for document in (ROOT / "docs" / "bindings.md", MODULE / "README.md"):
        for block in re.findall(r"^```python\n(.*?)^```", document.read_text(encoding="utf-8"), re.M | re.S):
            result = python(block, library, folder)
            check(result.returncode == 0, f"{document.name}: {result.stdout}{result.stderr}")
            count += 1
    check(count >= 4, f"{count} blocks")


def python(program, library=None, folder=None, module=MODULE, **environment):
    """A program in a process of its own."""
    names = {**os.environ, "PYTHONPATH": str(module), **environment}
    names.pop("MILLWRIGHT_LIBRARY", None)
    if library:
        names["MILLWRIGHT_LIBRARY"] = os.path.abspath(library)
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=names, cwd=folder,
                          timeout=200, check=False)


def test_the_library_is_found_or_said_to_be_missing(library, folder):
    result = python("import millwright", "/nowhere/libmillwright.so")
    check("ImportError: /nowhere/libmillwright.so" in result.stderr, result.stderr)
    other = getattr(_ctypes, "__file__", None)  # a shared library, but another one
    if other:
        result = python("import millwright", other)
        check("no libmillwright for this module" in result.stderr and "mw_" in result.stderr, result.stderr)
    prefix = folder / "prefix"
    installed, lib = prefix / "share" / "millwright" / "python", prefix / "lib"
    shutil.copytree(MODULE / "millwright", installed / "millwright", ignore=shutil.ignore_patterns("__pycache__"))
    lib.mkdir()
    (lib / mw.library.FILE).symlink_to(os.path.abspath(library))
    show = "import millwright.library as l; print(l.candidates()[0], l.version)"
    result = python(show, module=installed)
    check("ImportError" in result.stderr and "libmillwright_data" in result.stderr, "without data: " + result.stderr)
    data = mw.library.beside(os.path.abspath(library), "data")
    pathlib.Path(mw.library.beside(str(lib / mw.library.FILE), "data")).symlink_to(data)
    result = python(show, module=installed)
    check(result.stdout.startswith(str(lib / mw.library.FILE)), result.stdout + result.stderr)


def test_a_library_of_other_headers_is_refused(library, folder):
    """A field more or less, as another version would have it, is found before anything is called."""
    shutil.copytree(MODULE / "millwright", folder / "millwright", ignore=shutil.ignore_patterns("__pycache__"))
    abi = folder / "millwright" / "abi.py"
    text = abi.read_text(encoding="utf-8")
    for right, wrong in {'("group_count", c_size_t),': "",
                         '("strict", c_bool)': '("strict", c_bool), ("n", c_int64 * 4)',
                         '"mw_relu":': '"mw_relu9":'}.items():
        check(right in text, right)
        abi.write_text(text.replace(right, wrong), encoding="utf-8")
        result = python("import millwright", library, module=folder)
        check("ImportError" in result.stderr and "for this module" in result.stderr, f"{wrong}: {result.stderr}")
    abi.write_text(text, encoding="utf-8")
    check(python("import millwright", library, module=folder).returncode == 0, "as it was")
