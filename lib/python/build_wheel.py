#!/usr/bin/env python3
"""build_wheel.py LIBRARY [-o FOLDER] [--machine NAME] [--version V] [--program FILE]: the module as a wheel; --sdist: its sources.

The wheel has the package, the shared library beside it and the licence; WHEEL, METADATA and RECORD are written here, so that
nothing but Python is needed and no network. The tag names the C library that the shared library and the program ask for:
manylinux_2_28 where that is all they need, and a later one where they were built on a later system, because pip would install
them where they cannot be loaded otherwise. The program is one of -DLXPLAN_BARE=ON, which needs libc alone, and brings the patterns. The same files give the same wheel, byte for byte. Prints its path.
"""

import argparse
import base64
import ctypes
import hashlib
import pathlib
import platform
import re
import gzip
import io
import sys
import tarfile
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
LICENCE = HERE.parents[1] / "LICENSE"
PATTERNS = HERE.parents[1] / "patterns"
OLDEST = (2, 28)  # of glibc, that we promise to run on
TIME = (1980, 1, 1, 0, 0, 0)  # the first that a zip file can say
DESCRIPTION = """# lxplan

Places buffers in scratchpads and plans how a tensor graph runs on cores that own them; each answer is checked, and comes with
a proven bound.

```python
import lxplan
p = lxplan.Placement("cost", alignment=128)
p.pool("LX", 4096)
p.buffer("scores", 4096, 0, 3, off=8192)
print(p.solve(solver="exact").addresses)
```
"""
SUMMARY = "Plans how a tensor graph runs on cores with small scratchpads, and where buffers lie in them"


def arguments():
    parser = argparse.ArgumentParser(description="Build the wheel of lxplan.")
    parser.add_argument("library", type=pathlib.Path, help="liblxplan.so.0")
    parser.add_argument("-o", "--output", type=pathlib.Path, default=pathlib.Path("."), help="folder to write to")
    parser.add_argument("--machine", default=platform.machine(), help="what the library was built for (default: this machine)")
    parser.add_argument("--version", help="default: what the library says")
    parser.add_argument("--sdist", action="store_true", help="the package in Python as lxplan-V.tar.gz; the library is found in the system")
    parser.add_argument("--program", type=pathlib.Path, help="the program of -DLXPLAN_BARE=ON, to install with it and the patterns")
    return parser.parse_args()


def version_of(library):
    native = ctypes.CDLL(str(library.resolve()))
    native.lx_version.restype = ctypes.c_char_p
    return native.lx_version().decode()


def tag_of(files, machine):
    """By the newest version of the C library that is named in the files."""
    named = [pair for file in files for pair in re.findall(rb"GLIBC_(\d+)\.(\d+)", file.read_bytes())]
    needed = max([OLDEST] + [(int(a), int(b)) for a, b in named])
    return f"py3-none-manylinux_{needed[0]}_{needed[1]}_{machine}"


def metadata(version):
    return (f"Metadata-Version: 2.1\nName: lxplan\nVersion: {version}\nSummary: {SUMMARY}\nRequires-Python: >=3.9\n"
            "License: Apache-2.0\nLicense-File: LICENSE\nKeywords: compiler,scratchpad,memory planning,accelerator\n"
            "Description-Content-Type: text/markdown\nClassifier: License :: OSI Approved :: Apache Software License\n"
            "Classifier: Topic :: Software Development :: Compilers\nClassifier: Programming Language :: Python :: 3\nClassifier: Operating System :: POSIX :: Linux\n\n"
            + DESCRIPTION)


def sources(version):
    """(path, bytes) of the source archive: for pip with any build backend that takes a pyproject.toml."""
    project = (f'[build-system]\nrequires = ["setuptools"]\nbuild-backend = "setuptools.build_meta"\n\n[project]\nname = "lxplan"\n'
               f'version = "{version}"\ndescription = "{SUMMARY}"\nrequires-python = ">=3.9"\nreadme = "README.md"\n'
               'license = {file = "LICENSE"}\n\n[tool.setuptools]\npackages = ["lxplan"]\npackage-data = {lxplan = ["py.typed"]}\n')
    yield "PKG-INFO", metadata(version).encode()
    yield "pyproject.toml", project.encode()
    yield "README.md", DESCRIPTION.encode()
    yield "LICENSE", LICENCE.read_bytes()
    for file in sorted((HERE / "lxplan").iterdir()):
        if file.suffix in (".py", ".typed"):
            yield f"lxplan/{file.name}", file.read_bytes()


def write_sdist(path, version):
    with open(path, "wb") as raw, gzip.GzipFile("", "wb", 9, raw, 0) as zipped, tarfile.open(fileobj=zipped, mode="w") as archive:
        for name, content in sources(version):
            entry = tarfile.TarInfo(f"lxplan-{version}/{name}")
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))


def members(given, version, tag):
    """(path in the wheel, bytes, is it executable), but for RECORD."""
    info = f"lxplan-{version}.dist-info"
    for file in sorted((HERE / "lxplan").iterdir()):
        if file.suffix in (".py", ".typed"):
            yield f"lxplan/{file.name}", file.read_bytes(), False
    yield "lxplan/liblxplan.so.0", given.library.read_bytes(), True
    if given.program:
        yield f"lxplan-{version}.data/scripts/lxplan", given.program.read_bytes(), True
        for file in sorted(PATTERNS.rglob("*.*")):
            yield f"lxplan-{version}.data/data/share/lxplan/patterns/{file.relative_to(PATTERNS)}", file.read_bytes(), False
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
    files = [given.library] + [given.program] * bool(given.program)
    for file in files:
        if not file.is_file():
            print(f"build_wheel.py: {file}: no such file; build it first", file=sys.stderr)
            return 2
    if given.program and re.search(rb"libncursesw?\.so", given.program.read_bytes()):
        print(f"build_wheel.py: {given.program} needs more than libc; build one with -DLXPLAN_BARE=ON", file=sys.stderr)
        return 2
    version = given.version or version_of(given.library)
    tag = tag_of(files, given.machine)
    given.output.mkdir(parents=True, exist_ok=True)
    if given.sdist:
        path = given.output / f"lxplan-{version}.tar.gz"
        write_sdist(path, version)
        print(path)
        return 0
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
