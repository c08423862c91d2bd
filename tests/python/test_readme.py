"""What lib/library.md shows of Python is run as it stands, with stand-ins of torch-spyre and ExecuTorch; and the command."""

import contextlib
import io
import os
import pathlib
import re
import subprocess
import sys
import types
import unittest
from unittest import mock

import executorch_stub
import spyre_stub

ROOT = pathlib.Path(__file__).resolve().parents[2]


def examples():
    text = (ROOT / "lib" / "library.md").read_text()
    return re.findall(r"```python\n(.*?)```", text, flags=re.S)


def module(name, **content):
    made = types.ModuleType(name)
    made.__path__ = []
    made.__dict__.update(content)
    return made


def stand_ins(style):
    space = spyre_stub.make(style)

    class Suite:
        def __init__(self, algo_list):
            self.algo_list = algo_list

        def __call__(self, alignment, specs, graph_module, graph_signature, extra_padding):
            name, results = executorch_stub.suite(self.algo_list, alignment, specs, graph_module, extra_padding)
            return results[name].bufsizes

    planning = module("executorch.exir.memory_planning", greedy=executorch_stub.greedy, MemoryPlanningAlgorithmSuite=Suite)
    exir = module("executorch.exir", memory_planning=planning)
    spyre = "torch_spyre._inductor.scratchpad"
    return {
        "executorch": module("executorch", exir=exir),
        "executorch.exir": exir,
        "executorch.exir.memory_planning": planning,
        "torch_spyre": module("torch_spyre"),
        "torch_spyre._inductor": module("torch_spyre._inductor"),
        spyre: module(spyre),
        spyre + ".allocator": module(spyre + ".allocator", _PLACEMENT_SOLVERS=space._PLACEMENT_SOLVERS),
        spyre + ".plan_solver": module(spyre + ".plan_solver", **vars(space)),
    }


def run(code, style="new"):
    specs = [executorch_stub.TensorSpec(100, [k, k + 2]) for k in range(5)]
    said = io.StringIO()
    for name in [m for m in sys.modules if m.startswith("lxplan.")]:
        if "_native" not in name:
            del sys.modules[name]
    sys.modules.pop("lxplan", None)
    with mock.patch.dict(sys.modules, stand_ins(style)), contextlib.redirect_stdout(said), contextlib.chdir(ROOT):
        exec(compile(code, "README.md", "exec"), {"specs": specs, "graph_module": executorch_stub.graph(), "graph_signature": None})
    return said.getvalue()


if not hasattr(contextlib, "chdir"):  # before Python 3.11

    @contextlib.contextmanager
    def _chdir(folder):
        before = os.getcwd()
        os.chdir(folder)
        try:
            yield
        finally:
            os.chdir(before)

    contextlib.chdir = _chdir


class Examples(unittest.TestCase):
    def test_there_are_three_of_ten_lines(self):
        self.assertEqual(len(examples()), 3)
        for code in examples():
            self.assertLessEqual(len(code.splitlines()), 12)

    def test_placement_and_plan(self):
        said = run(examples()[0]).splitlines()
        wanted = re.search(r"# (optimal .*)", examples()[0]).group(1)
        self.assertEqual(said[0], wanted)
        self.assertGreater(int(said[1].split()[0]), 0)

    def test_torch_spyre(self):
        for style in ("old", "new"):
            self.assertEqual(run(examples()[1], style), "[0] optimal 0.0 {}\n")

    def test_executorch(self):
        said = run(examples()[2]).splitlines()
        self.assertTrue(said[0].startswith("[0, 336]"), said)
        self.assertEqual(said[1], "[0, 336]")


class Command(unittest.TestCase):
    def said(self, *words, **more):
        return subprocess.run([sys.executable, "-m", "lxplan", *map(str, words)], capture_output=True, text=True, **more)

    def test_a_graph(self):
        shown = self.said(ROOT / "patterns/graphs/rms_norm.json")
        self.assertEqual((shown.returncode, shown.stderr), (0, ""))
        self.assertRegex(shown.stdout, r"status +optimal\nsolver +auto\n")

    def test_a_list_of_buffers(self):
        shown = self.said("-", "--format", "csv", input="id,lower,upper,size\na,0,2,64\nb,1,3,64\n")
        self.assertEqual((shown.returncode, shown.stderr), (0, ""))
        self.assertRegex(shown.stdout, r"a +64 +0 +2 +\d+\nb +64 +1 +3 +\d+\n")

    def test_an_export(self):
        shown = self.said(ROOT / "patterns/graphs/rms_norm.json", "--write", "plan")
        self.assertEqual(shown.stdout[:1], "{")

    def test_mistakes_are_2(self):
        for words in (("/nowhere.json",), ("-",), (ROOT / "patterns/graphs/rms_norm.json", "-o", "solver=nobody"),
                      (ROOT / "patterns/graphs/rms_norm.json", "-o", "solver")):
            shown = self.said(*words, input="nothing of the kind")
            self.assertEqual(shown.returncode, 2, words)
            self.assertTrue(shown.stderr.startswith("lxplan: "), shown.stderr)

    def test_without_a_library_it_is_3(self):
        shown = self.said("x", env={**os.environ, "LXPLAN_LIBRARY": "/nowhere.so"})
        self.assertEqual(shown.returncode, 3)


if __name__ == "__main__":
    unittest.main()
