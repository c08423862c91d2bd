#!/usr/bin/env python3
"""build_wheel.py LIBRARY [-o FOLDER] [--machine NAME] [--version V] [--program FILE]: the module as a wheel.

The wheel has the package, the shared library beside it and the licence; WHEEL, METADATA and RECORD are written here, so that
nothing but Python is needed and no network. The tag names the C library that the shared library asks for: manylinux_2_28 where
that is all it needs, and a later one where it was built on a later system, because pip would install it where it cannot be
loaded otherwise. The same files give the same wheel, byte for byte. Prints its path.
"""

import argparse
import base64
import ctypes
import hashlib
import pathlib
import platform
import re
import sys
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
LICENCE = HERE.parents[1] / "LICENSE"
OLDEST = (2, 28)  # of glibc, that we promise to run on
TIME = (1980, 1, 1, 0, 0, 0)  # the first that a zip file can say
SUMMARY = "Plans how a tensor graph runs on cores with small scratchpads, and where buffers lie in them"


def arguments():
    parser = argparse.ArgumentParser(description="Build the wheel of lxplan.")
    parser.add_argument("library", type=pathlib.Path, help="liblxplan.so.0")
    parser.add_argument("-o", "--output", type=pathlib.Path, default=pathlib.Path("."), help="folder to write to")
    parser.add_argument("--machine", default=platform.machine(), help="what the library was built for (default: this machine)")
    parser.add_argument("--version", help="default: what the library says")
    parser.add_argument("--program", type=pathlib.Path, help="the program lxplan, to install with it")
    return parser.parse_args()


def version_of(library):
    native = ctypes.CDLL(str(library.resolve()))
    native.lx_version.restype = ctypes.c_char_p
    return native.lx_version().decode()


def tag_of(library, machine):
    """By the newest version of the C library that is named in the file."""
    named = re.findall(rb"GLIBC_(\d+)\.(\d+)", library.read_bytes())
    needed = max([OLDEST] + [(int(a), int(b)) for a, b in named])
    return f"py3-none-manylinux_{needed[0]}_{needed[1]}_{machine}"


def metadata(version):
    return (f"Metadata-Version: 2.1\nName: lxplan\nVersion: {version}\nSummary: {SUMMARY}\nRequires-Python: >=3.9\n"
            "License-File: LICENSE\nClassifier: Programming Language :: Python :: 3\nClassifier: Operating System :: POSIX :: Linux\n")


def members(given, version, tag):
    """(path in the wheel, bytes, is it executable), but for RECORD."""
    info = f"lxplan-{version}.dist-info"
    for file in sorted((HERE / "lxplan").iterdir()):
        if file.suffix in (".py", ".typed"):
            yield f"lxplan/{file.name}", file.read_bytes(), False
    yield "lxplan/liblxplan.so.0", given.library.read_bytes(), True
    if given.program:
        yield f"lxplan-{version}.data/scripts/lxplan", given.program.read_bytes(), True
    yield f"{info}/LICENSE", LICENCE.read_bytes(), False
    yield f"{info}/METADATA", metadata(version).encode(), False
    yield f"{info}/WHEEL", f"Wheel-Version: 1.0\nGenerator: lxplan\nRoot-Is-Purelib: false\nTag: {tag}\n".encode(), False


def row(path, content):
    digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
    return f"{path},sha256={digest},{len(content)}\n"


def add(wheel, path, content, executable):
    entry = zipfile.ZipInfo(path, TIME)
    entry.compress_type = zipfile.ZIP_DEFLATED
    entry.external_attr = (0o100755 if executable else 0o100644) << 16
    wheel.writestr(entry, content)


def main():
    given = arguments()
    if not given.library.is_file():
        print(f"build_wheel.py: {given.library}: no such file; build the target lxplan_shared first", file=sys.stderr)
        return 2
    version = given.version or version_of(given.library)
    tag = tag_of(given.library, given.machine)
    given.output.mkdir(parents=True, exist_ok=True)
    path = given.output / f"lxplan-{version}-{tag}.whl"
    unfinished = path.with_suffix(".part")
    record = ""
    with zipfile.ZipFile(unfinished, "w") as wheel:
        for name, content, executable in members(given, version, tag):
            add(wheel, name, content, executable)
            record += row(name, content)
        own = f"lxplan-{version}.dist-info/RECORD"
        add(wheel, own, (record + f"{own},,\n").encode(), False)
    unfinished.replace(path)
    print(path)
    return 0


if __name__ == "__main__":
    sys.exit(main())
