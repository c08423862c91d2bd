"""Graphs from Python: built, read, planned, checked, run, written and read again."""

import pathlib
import tempfile
import unittest

import lxplan

ROOT = pathlib.Path(__file__).resolve().parents[2]
PATTERN = (ROOT / "patterns" / "graphs" / "rms_norm.json").read_bytes()


def chain():
    b = lxplan.Builder("chain")
    b.device("preset", "spyre")
    x = b.tensor("x", "fp16", [512, 1024], "input")
    y = b.tensor("y", "fp16", [512, 1024])
    z = b.tensor("z", "fp16", [512, 1024], "output")
    b.op("first", "exp", [x], y)
    b.op("second", "neg", [y], z)
    return b


class Graphs(unittest.TestCase):
    def test_built(self):
        with chain() as b, b.finish() as g:
            self.assertEqual((g.name, g.ops, g.tensors), ("chain", 2, 3))
            again = lxplan.Graph.parse(g.write())
            self.assertEqual(again.hash, g.hash)
            for ask in (g.number, g.word):
                with self.assertRaises(KeyError):
                    ask("no such name")

    def test_mistakes_are_named(self):
        b = chain()
        for mistake in (lambda: b.tensor("w", "fp3", [2]), lambda: b.op("third", "frobnicate", [0], 1),
                        lambda: b.device("no such key", 1), lambda: b.attribute(0, "no such key", 1)):
            with self.assertRaises(lxplan.LxplanError) as caught:
                mistake()
                b.finish()
            self.assertTrue(str(caught.exception))
            b = chain()
        with self.assertRaises(lxplan.LxplanError) as caught:
            lxplan.Graph.parse(PATTERN[: len(PATTERN) // 2])
        self.assertGreater(caught.exception.line, 1)


class Plans(unittest.TestCase):
    def test_planned_checked_and_run(self):
        plan = chain().finish().plan()
        plan.check()
        self.assertEqual(plan.hbm_bytes, 2 * 512 * 1024 * 2)
        self.assertEqual([item["name"] for item in plan.items("ops")], ["first", "second"])
        self.assertIn("y", [item["name"] for item in plan.items("buffers")])
        self.assertLessEqual(plan.bound, plan.objective)
        run = plan.run()
        self.assertEqual((run.status, len(run.items("faults"))), ("ok", 0))

    def test_models_take_options(self):
        model = (pathlib.Path(__file__).parents[1] / "data" / "models" / "small.mlir").read_bytes()
        with self.assertRaises(lxplan.InvalidInput):
            lxplan.Graph.parse(model)
        graph = lxplan.Graph.parse(model, dims={"%x:0": 128}, roles={"w": "weight"}, trips=2, strict=True)
        self.assertIn("6 ops", repr(graph))
        self.assertIsInstance(graph.report(), dict)
        plan = graph.plan(solver="bestfit")
        self.assertEqual(len(plan.items("layouts")), graph.tensors)
        self.assertIn("us", plan.names)

    def test_of_a_file(self):
        path = ROOT / "patterns" / "graphs" / "rms_norm.json"
        made = lxplan.Graph.parse(PATTERN).plan()
        plan = lxplan.Plan.of_file(path)
        self.assertEqual((plan.write("plan"), plan.hbm_bytes, plan.notes), (made.write("plan"), made.hbm_bytes, []))
        self.assertEqual([i["name"] for i in plan.items("ops")], [i["name"] for i in made.items("ops")])
        with self.assertRaises(lxplan.LxplanError) as caught:
            lxplan.Plan.of_file("/nowhere/at/all.json")
        self.assertEqual(caught.exception.file, "/nowhere/at/all.json")

    def test_written_and_read_again(self):
        plan = lxplan.Graph.parse(PATTERN).plan("solver=greedy")
        again = lxplan.Plan.parse(plan.write("plan"))
        again.check()
        self.assertEqual((again.hbm_bytes, again.word("solver")), (plan.hbm_bytes, "greedy"))
        with self.assertRaises(lxplan.LxplanError):
            plan.write("no such format")
        with self.assertRaises(lxplan.LxplanError):
            lxplan.Plan.parse("{}")

    def test_same_bytes_every_time(self):
        self.assertEqual(*(lxplan.Graph.parse(PATTERN).plan().write("plan") for _ in range(2)))

    def test_a_callback_ends_a_plan(self):
        def stop():
            raise KeyError("mine")

        try:
            lxplan.Graph.parse(PATTERN).plan(lxplan.Options(solver="anneal", stop=stop)).check()
        except KeyError as why:
            self.assertEqual(why.args, ("mine",))

    def test_joint_problems_are_refused_with_words(self):
        with self.assertRaises(lxplan.LxplanError):
            lxplan.joint({"lxplan": 1, "kind": "joint"})
        question = {"lxplan": 1, "kind": "joint", "capacity": 1024, "alignment": 128, "objective": "lexicographic", "buffers": [
            {"name": "a", "live": [0, 2], "off": 7, "parents": [], "readers": [{"buffer": 1, "pairs": [[0, 0]]}],
             "menu": [{"bytes": 512, "cores": 1, "squares": 1}]},
            {"name": "b", "live": [1, 3], "off": 3, "parents": [], "barred": "output", "readers": [],
             "menu": [{"bytes": 512, "cores": 2, "squares": 4}]}]}
        with lxplan.joint(question) as answer:
            self.assertEqual((answer.status, answer.objective), ("optimal", 3))
            self.assertEqual([item["address"] for item in answer.items("buffers")], [0, -1])


if __name__ == "__main__":
    unittest.main()
