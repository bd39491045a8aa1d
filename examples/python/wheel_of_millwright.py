"""Builds the wheel that pip installs: the module, and beside it the libraries of MILLWRIGHT_BUILD (a folder), of the
repository's build/release, or of the prefix that this folder is installed in. Without any the module finds the library where
the system looks. Needs nothing but Python: neither setuptools nor wheel, and nothing is left in this folder."""
import base64
import hashlib
import os
import pathlib
import re
import sys
import sysconfig
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
LIBRARIES = ("", "_data", "_text", "_learn", "_ranks", "_chip")  # the core, and what the module opens beside it
SUMMARY = "Trains and runs neural networks, by the C library of this name"


def file_of(name):
    return f"libmillwright{name}.dylib" if sys.platform == "darwin" else f"libmillwright{name}.so.0"


def libraries():
    """Paths of the libraries, of the first folder that has the core."""
    named = os.environ.get("MILLWRIGHT_BUILD")
    above = [HERE.parents[i] for i in range(min(4, len(HERE.parents)))]
    folders = [pathlib.Path(named)] if named else [f / sub for f in above for sub in ("build/release", "lib", "lib64")]
    folders += [] if named else [path for f in above for path in sorted(f.glob("lib/*-*-*"))]
    for folder in folders:
        found = [folder / file_of(name) for name in LIBRARIES]
        if found[0].exists():
            return [path for path in found if path.exists()]
    if named:
        raise FileNotFoundError(f"MILLWRIGHT_BUILD is {named}, where there is no {file_of('')}")
    return []


def version():
    """That of the library's header, or of the installed tree's package file."""
    for path in (HERE.parents[1] / "CMakeLists.txt", *HERE.parents[2].glob("lib*/**/pkgconfig/millwright.pc")):
        match = path.exists() and re.search(r"(?:project\(millwright\s+VERSION|Version:)\s+([0-9.]+)", path.read_text())
        if match:
            return match[1]
    return "0"


def tag():
    platform = re.sub(r"[-.]", "_", sysconfig.get_platform())
    return f"py3-none-{platform if libraries() else 'any'}"


def metadata():
    return f"Metadata-Version: 2.1\nName: millwright\nVersion: {version()}\nSummary: {SUMMARY}\nRequires-Python: >=3.9\n"


def content():
    """{name in the wheel: bytes}"""
    files = {f"millwright/{path.name}": path.read_bytes() for path in sorted((HERE / "millwright").iterdir())
             if path.suffix in (".py", ".pyi") or path.name == "py.typed"}
    files.update({f"millwright/lib/{path.name}": path.read_bytes() for path in libraries()})
    folder = f"millwright-{version()}.dist-info"
    files[f"{folder}/METADATA"] = metadata().encode()
    files[f"{folder}/WHEEL"] = (
        f"Wheel-Version: 1.0\nGenerator: millwright\nRoot-Is-Purelib: {str(not libraries()).lower()}\nTag: {tag()}\n").encode()
    return files


def record(files):
    """The list of all files with their digests, itself without one."""
    lines = []
    for name, data in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        lines.append(f"{name},sha256={digest},{len(data)}")
    own = f"millwright-{version()}.dist-info/RECORD"
    return own, "\n".join([*lines, f"{own},,", ""]).encode()


# ---- what pip calls ----


def get_requires_for_build_wheel(config_settings=None):
    return []


def prepare_metadata_for_build_wheel(metadata_directory, config_settings=None):
    folder = pathlib.Path(metadata_directory) / f"millwright-{version()}.dist-info"
    folder.mkdir(parents=True)
    (folder / "METADATA").write_text(metadata(), encoding="utf-8")
    return folder.name


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    name, files = f"millwright-{version()}-{tag()}.whl", content()
    own, listed = record(files)
    with zipfile.ZipFile(pathlib.Path(wheel_directory) / name, "w", zipfile.ZIP_DEFLATED) as wheel:
        for path, data in {**files, own: listed}.items():
            wheel.writestr(path, data)
    return name


def get_requires_for_build_sdist(config_settings=None):
    return []


def build_sdist(sdist_directory, config_settings=None):
    raise NotImplementedError("the repository is the source")
