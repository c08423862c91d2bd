"""The wheel: built twice the same, its RECORD true, installed into an environment of its own without any network."""

import base64
import csv
import hashlib
import importlib.util
import io
import os
import pathlib
import subprocess
import sys
import tarfile
import tempfile
import unittest
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = ROOT / "lib" / "python" / "build_wheel.py"
LIBRARY = os.environ["LXPLAN_LIBRARY"]
BARE = pathlib.Path(LIBRARY).parent / "bin" / "lxplan_bare"


def built(folder, *more):
    said = subprocess.run([sys.executable, str(BUILD), LIBRARY, "-o", folder, *more], check=True, capture_output=True, text=True)
    return pathlib.Path(said.stdout.strip())


class Wheel(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def test_contents_and_record(self):
        wheel = built(self.folder)
        self.assertRegex(wheel.name, r"^lxplan-[\d.]+-py3-none-manylinux_2_\d+_\w+\.whl$")
        with zipfile.ZipFile(wheel) as z:
            names = z.namelist()
            record = next(n for n in names if n.endswith(".dist-info/RECORD"))
            rows = {r[0]: r for r in csv.reader(z.read(record).decode().splitlines())}
            self.assertEqual(sorted(rows), sorted(names))
            for name in names:
                if name != record:
                    digest = base64.urlsafe_b64encode(hashlib.sha256(z.read(name)).digest()).rstrip(b"=").decode()
                    self.assertEqual(rows[name][1:], [f"sha256={digest}", str(len(z.read(name)))])
            for file in ("__init__", "__main__", "_native", "torch_spyre", "executorch"):
                self.assertIn(f"lxplan/{file}.py", names)
            for file in ("lxplan/py.typed", "lxplan/liblxplan.so.0", record.replace("RECORD", "LICENSE")):
                self.assertIn(file, names)
            self.assertIn(f"Tag: {wheel.stem.split('-', 2)[2]}", z.read(record.replace("RECORD", "WHEEL")).decode())

    def test_built_again_it_is_the_same(self):
        one, other = built(self.folder + "/a"), built(self.folder + "/b")
        self.assertEqual(one.read_bytes(), other.read_bytes())

    def test_the_sources_are_an_archive(self):
        one, other = (built(f"{self.folder}/{name}", "--sdist").read_bytes() for name in "ab")
        self.assertEqual(one, other)
        with tarfile.open(fileobj=io.BytesIO(one)) as archive:
            names = {name.split("/", 1)[1] for name in archive.getnames()}
        self.assertLessEqual({"PKG-INFO", "pyproject.toml", "LICENSE", "lxplan/__init__.py", "lxplan/py.typed"}, names)

    def test_the_tag_is_what_the_library_needs(self):
        for needed, tag in ((b"GLIBC_2.17", "2_28"), (b"GLIBC_2.17 GLIBC_2.34", "2_34")):
            library = pathlib.Path(self.folder) / "some.so"
            library.write_bytes(needed)
            said = subprocess.run([sys.executable, str(BUILD), str(library), "-o", self.folder, "--version", "1.0", "--machine", "s390x"],
                                  check=True, capture_output=True, text=True).stdout
            self.assertIn(f"lxplan-1.0-py3-none-manylinux_{tag}_s390x.whl", said)

    def test_a_missing_library_is_named(self):
        said = subprocess.run([sys.executable, str(BUILD), "/nowhere/lib.so"], capture_output=True, text=True)
        self.assertEqual(said.returncode, 2)
        self.assertIn("/nowhere/lib.so", said.stderr)

    def test_installed_without_a_network(self):
        wheel = built(self.folder, "--program", str(BARE))
        subprocess.run([sys.executable, "-m", "venv", self.folder + "/env"], check=True, capture_output=True)
        python = self.folder + "/env/bin/python"
        plain = {k: v for k, v in os.environ.items() if k not in ("LXPLAN_LIBRARY", "PYTHONPATH")}
        subprocess.run([python, "-m", "pip", "install", "--no-index", "--quiet", "--disable-pip-version-check", str(wheel)],
                       check=True, env=plain)
        code = ("import lxplan, lxplan.torch_spyre, lxplan.executorch\n"
                "p = lxplan.Placement('cost', 128)\np.pool('LX', 4096)\np.buffer('a', 4096, 0, 3, off=1)\n"
                "print(lxplan.__file__, lxplan._native.library()._name, p.solve().addresses)")
        said = subprocess.run([python, "-c", code], check=True, capture_output=True, text=True, env=plain, cwd=self.folder).stdout
        file, library, addresses = said.split(" ", 2)
        self.assertTrue(file.startswith(os.path.realpath(self.folder)) or file.startswith(self.folder))
        self.assertEqual(os.path.dirname(file), os.path.dirname(library))
        self.assertEqual(addresses.strip(), "[0]")
        shown = subprocess.run([python, "-m", "lxplan", str(ROOT / "patterns/targets/moe_mlp.json")], capture_output=True, text=True, env=plain)
        self.assertEqual(shown.returncode, 0, shown.stderr)
        self.assertIn("optimal", shown.stdout)
        pattern = self.folder + "/env/share/lxplan/patterns/targets/moe_mlp.json"
        shown = subprocess.run([self.folder + "/env/bin/lxplan", "plan", pattern], check=True, capture_output=True, text=True, env=plain)
        self.assertIn("optimal", shown.stdout)

    def test_a_program_of_more_than_libc_is_refused(self):
        said = subprocess.run([sys.executable, str(BUILD), LIBRARY, "--program", str(BARE.with_name("lxplan"))], capture_output=True, text=True)
        self.assertEqual((said.returncode, "LXPLAN_BARE" in said.stderr), (2, True))


if __name__ == "__main__":
    missing = [m for m in ("venv", "ensurepip") if importlib.util.find_spec(m) is None]
    if missing:
        print(f"skipped: python3 has no {' and no '.join(missing)} here (apt-get install python3-venv)")
        sys.exit(77)
    unittest.main()
