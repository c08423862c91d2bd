"""The drop-in for torch-spyre's placement seam, against a stand-in of it in both styles of capabilities."""

import itertools
import os
import random
import sys
import types
import unittest
from unittest import mock

import spyre_stub as stub
import lxplan
import lxplan.torch_spyre as drop_in

STYLES = {style: stub.make(style) for style in ("old", "new")}
SOLVERS = {style: drop_in.bind(space) for style, space in STYLES.items()}
Buffer = stub.LifetimeBoundBuffer


def setUpModule():
    for style, space in STYLES.items():
        space._PLACEMENT_SOLVERS["lxplan"] = SOLVERS[style][0]


def random_buffers(draw, count):
    """Lives of a random program, some buffers in place of others, some barred, some in pairs."""
    found = []
    for i in range(count):
        start = draw.randrange(8)
        uses = sorted({start} | {draw.randrange(start, 10) for _ in range(draw.randrange(1, 3))})
        b = Buffer(f"b{i}", draw.choice([0, 1, 100, 128, 256, 300]), uses, draw.random() < 0.2)
        b.residency_reason = "op not allowed" if draw.random() < 0.1 else None
        b.lifetime_end_override = uses[-1] + 2 if draw.random() < 0.15 else None
        b.lifetime_start_override = max(0, uses[0] - 1) if draw.random() < 0.1 else None
        for parent in found:
            fits = parent.end_time == b.start_time + 1 and b.size <= parent.size and not b.first_use_is_read
            if fits and (parent.first_use_is_read or len(parent.uses) > 1) and draw.random() < 0.7:
                b.in_place_parents.append(parent.name)
        found.append(b)
    if count > 3 and draw.random() < 0.4:
        found[0].paired_with = [found[2]]
    return found


def least_cost(buffers, limit, alignment):
    """By trying every set of places."""
    slots = [a for a in range(0, max(limit, 1), alignment)]
    best = sum(stub.spill_cost(b) for b in buffers)
    free = [b for b in buffers if b.residency_reason is None]

    def walk(k, lost):
        nonlocal best
        if lost >= best:
            return
        if k == len(free):
            try:
                stub.verify(buffers, limit, alignment)
            except AssertionError:
                return
            best = lost
            return
        for address in [a for a in slots if a + free[k].size <= limit] + [None]:
            free[k].address = address
            walk(k + 1, lost + (stub.spill_cost(free[k]) if address is None else 0))
        free[k].address = None

    walk(0, sum(stub.spill_cost(b) for b in buffers if b.residency_reason is not None))
    for b in buffers:
        b.address = None
    return best


class Placement(unittest.TestCase):
    def both(self):
        for style, space in STYLES.items():
            with self.subTest(style=style):
                yield space

    def test_capabilities_of_both_styles(self):
        for style, space in STYLES.items():
            placing, joint = SOLVERS[style]
            self.assertTrue(space.capability(placing, "supports_paired_buffers"))
            self.assertFalse(space.capability(placing, "decides_lx_relayouts"))
            self.assertTrue(space.capability(joint, "decides_lx_relayouts"))
            self.assertFalse(space.capability(joint, "supports_paired_buffers"))
            for name in ("chooses_tilings", "replans_after_tiling", "linear_cost_only"):
                self.assertFalse(bool(getattr(placing, name)) or getattr(placing, name)())
            self.assertTrue(issubclass(placing, space.MemoryPlanSolver))
            self.assertIsInstance(joint([], 1024), space.CoreDivisionLayoutSolver)
            self.assertNotIsInstance(placing([], 1024), space.CoreDivisionLayoutSolver)

    def test_empty(self):
        for space in self.both():
            self.assertEqual(stub.allocate(space, [], 1024), (0, {}))

    def test_keeps_the_dearer_and_says_why(self):
        for space in self.both():
            dear, cheap = Buffer("dear", 512, [0, 1, 2, 3]), Buffer("cheap", 512, [1, 2])
            cost, reasons = stub.allocate(space, [cheap, dear], 600)
            self.assertEqual((dear.address, cheap.address, cost), (0, None, 1024))
            self.assertRegex(reasons["cheap"], "spilled by solver.*dear")

    def test_barred_keep_their_reason(self):
        for space in self.both():
            buffers = [Buffer("out", 128, [0], residency_reason="graph output"), Buffer("huge", 5000, [0, 1]), Buffer("a", 1, [0, 1]),
                       Buffer("no size", -1, [0, 1], residency_reason="unsized")]
            _, reasons = stub.allocate(space, buffers, 1024)
            self.assertEqual(reasons["out"], "graph output")
            self.assertIn("limit", reasons["huge"])
            self.assertEqual(buffers[2].address, 0)

    def test_in_place_when_there_is_room_for_one(self):
        for space in self.both():
            buffers = [Buffer("a", 1024, [0, 2]), Buffer("b", 1024, [2, 3], in_place_parents=["a", "elsewhere"])]
            self.assertEqual(stub.allocate(space, buffers, 1024), (0, {}))

    def test_broken_pairs_are_refused(self):
        ends = [Buffer("a", 128, [0, 1]), Buffer("b", 128, [3, 4], in_place_parents=["a"])]
        never_read = [Buffer("a", 128, [2]), Buffer("b", 128, [2, 4], in_place_parents=["a"])]
        larger = [Buffer("a", 128, [0, 2]), Buffer("b", 256, [2, 4], in_place_parents=["a"])]
        for space in self.both():
            for buffers in (ends, never_read, larger):
                with self.assertRaises(ValueError):
                    stub.allocate(space, buffers, 1024)
                self.assertTrue(all(b.address is None for b in buffers))

    def test_planned_buffers_are_refused(self):
        for space in self.both():
            with self.assertRaises(AssertionError):
                stub.allocate(space, [Buffer("a", 128, [0, 1], address=0)], 1024)
            with self.assertRaises(AssertionError):
                stub.allocate(space, [Buffer("a", 128, [])], 1024)

    def test_pairs_are_whole(self):
        for space in self.both():
            a, b, c = Buffer("a", 512, [0, 1]), Buffer("b", 1024, [0, 1]), Buffer("c", 512, [0, 3])
            a.paired_with = [b]
            stub.allocate(space, [a, b, c], 1024)
            self.assertEqual((a.address, b.address, c.address), (None, None, 0))

    def test_limit_below_the_alignment(self):
        for space in self.both():
            b = Buffer("a", 60, [0, 1])
            stub.allocate(space, [b], 64)
            self.assertEqual(b.address, 0)

    def test_longer_lives(self):
        for space in self.both():
            a = Buffer("a", 512, [0, 1], lifetime_end_override=6)
            b = Buffer("b", 512, [3, 4])
            c = Buffer("c", 512, [7, 8], lifetime_start_override=4)
            stub.allocate(space, [a, b, c], 1024)
            self.assertEqual(len({a.address, b.address}), 2)
            self.assertEqual(len({b.address, c.address}), 2)

    def test_impossible_is_a_solve_error_and_nothing_is_written(self):
        for style, space in STYLES.items():
            for size, bytes_of in ((-1, 128), (1024, 1 << 60), (1024, -5)):
                buffers = [Buffer("a", 64, [0, 1]), Buffer("b", bytes_of, [0, 1], residency_reason="x" if bytes_of > 1024 else None)]
                solver = SOLVERS[style][0](buffers, size)
                with self.assertRaises(space.SolveError) as caught:
                    solver.plan_layout()
                self.assertGreater(len(str(caught.exception)), 20)
                self.assertEqual([b.address for b in buffers], [None, None])
                self.assertIsNone(stub.allocate(space, buffers, size))

    def test_bad_options_are_a_solve_error(self):
        for style, space in STYLES.items():
            with mock.patch.dict(os.environ, LXPLAN_OPTIONS="solver=nobody"):
                self.assertIsNone(stub.allocate(space, [Buffer("a", 64, [0, 1])], 1024))
            with mock.patch.dict(os.environ, LXPLAN_OPTIONS="solver=greedy"):
                solver = SOLVERS[style][0]([Buffer("a", 64, [0, 1])], 1024)
                solver.plan_layout()
                self.assertEqual((solver.status, solver.objective, solver.bound, solver.gap), ("optimal", 0, 0, 0))

    def test_options_by_keyword(self):
        for style, space in STYLES.items():
            for options in ("solver=firstfit", {"solver": "firstfit"}, lxplan.Options(solver="firstfit")):
                for kind in SOLVERS[style]:
                    with mock.patch.object(lxplan.Placement, "solve", autospec=True, side_effect=lxplan.Placement.solve) as solve:
                        solver = kind([Buffer("a", 64, [0, 1])], 1024, 128, options=options)
                        self.assertEqual(solver.plan_layout()[0].address, 0)
                    self.assertEqual(solve.call_args[0][1].values, {"solver": "firstfit"})
            for bad in ("solver=nobody", "solver", {"no_such": 1}, 5, {"solver": "a\0"}):
                for kind in SOLVERS[style]:
                    with self.assertRaises(space.SolveError):
                        kind([Buffer("a", 64, [0, 1])], size=1024, alignment=128, options=bad).plan_layout()
            self.assertIsNone(SOLVERS[style][0].options)

    def test_numbers_beyond_the_width_are_solve_errors(self):
        big = 1 << 64
        for style, space in STYLES.items():
            for size, limit, alignment, use in ((64, big + 128, 128, 1), (64, 1024, big + 1, 1), (64, 1024, 128, big + 1), (big + 64, 2 * big, 128, 1)):
                buffers = [Buffer("a", size, [0, use]), Buffer("b", 64, [0, 1])]
                with self.assertRaises(space.SolveError) as caught:
                    SOLVERS[style][0](buffers, limit, alignment).plan_layout()
                self.assertGreater(len(str(caught.exception)), 20)
                self.assertEqual([b.address for b in buffers], [None, None])

    def test_names_and_reasons_that_are_no_text_of_the_library(self):
        for style, space in STYLES.items():
            self.assertEqual(SOLVERS[style][0]([Buffer("a\0\ud800", 64, [0, 1])], 1024).plan_layout()[0].address, 0)
            with self.assertRaisesRegex(space.SolveError, "surrogate"):
                SOLVERS[style][0]([Buffer("a", 64, [0, 1], residency_reason="\ud800")], 1024).plan_layout()

    def test_against_every_placement(self):
        for seed in range(150):
            draw = random.Random(seed)
            buffers = random_buffers(draw, draw.randrange(1, 6))
            limit = draw.choice([64, 256, 384, 512])
            least = least_cost(buffers, limit, 128)
            for space in self.both():
                for b in buffers:
                    b.address = None
                answer = stub.allocate(space, buffers, limit)
                self.assertIsNotNone(answer, seed)
                self.assertEqual(answer[0], least, f"seed {seed}")

    def test_the_same_every_time(self):
        for seed in range(20):
            answers = []
            for _ in range(2):
                buffers = random_buffers(random.Random(seed), 30)
                stub.allocate(STYLES["new"], buffers, 1024)
                answers.append([b.address for b in buffers])
            self.assertEqual(answers[0], answers[1])

    def test_buffers_of_no_class_of_theirs(self):
        names = ("name", "size", "uses", "first_use_is_read", "address", "in_place_parents", "residency_reason", "read_count", "start_time", "end_time")
        duck = types.SimpleNamespace(**{n: getattr(Buffer("a", 100, [0, 2]), n) for n in names})
        solver = drop_in.LxplanLayoutSolver([duck], 1024)
        self.assertEqual(solver.plan_layout(log_lx_usage=True)[0].address, 0)
        with self.assertRaises(AssertionError):
            drop_in.LxplanCoreDivisionSolver([types.SimpleNamespace(name="p", paired_with=[duck])], 1024)


class Registering(unittest.TestCase):
    def test_in_a_table(self):
        table = {"lxplan": "before"}
        self.assertEqual(drop_in.register(table=table), "before")
        self.assertIs(table["lxplan"], drop_in.LxplanLayoutSolver)
        self.assertIsNone(drop_in.register("lxplan_joint", joint=True, table=table))
        self.assertIs(table["lxplan_joint"], drop_in.LxplanCoreDivisionSolver)

    def test_in_their_package(self):
        for style in STYLES:
            space = stub.make(style)
            modules = {}
            for name in ("torch_spyre", "torch_spyre._inductor", "torch_spyre._inductor.scratchpad"):
                modules[name] = types.ModuleType(name)
                modules[name].__path__ = []
            modules["torch_spyre._inductor.scratchpad.plan_solver"] = types.ModuleType("plan_solver")
            modules["torch_spyre._inductor.scratchpad.plan_solver"].__dict__.update(vars(space))
            modules["torch_spyre._inductor.scratchpad.allocator"] = space
            with mock.patch.dict(sys.modules, modules):
                sys.modules.pop("lxplan.torch_spyre")
                import importlib

                fresh = importlib.import_module("lxplan.torch_spyre")
                self.assertIsNone(fresh.register())
                self.assertTrue(issubclass(space._PLACEMENT_SOLVERS["lxplan"], space.MemoryPlanSolver))
                self.assertEqual(stub.allocate(space, [Buffer("a", 64, [0, 1])], 1024), (0, {}))
                self.assertIs(fresh.SolveError, space.SolveError)
                self.assertIs(space._PLACEMENT_SOLVERS["lxplan"], fresh.LxplanLayoutSolver)
            sys.modules["lxplan.torch_spyre"] = drop_in

    def test_in_a_package_that_comes_later(self):
        space, name = stub.make("new"), "torch_spyre._inductor.scratchpad"
        modules = {part: types.ModuleType(part) for part in ("torch_spyre", "torch_spyre._inductor", name, name + ".allocator")}
        for module in modules.values():
            module.__path__ = []
        modules[name + ".allocator"].__dict__.update(vars(space))
        own = (drop_in.SolveError, drop_in.LxplanLayoutSolver, drop_in.LxplanCoreDivisionSolver)
        with mock.patch.dict(sys.modules, modules):
            drop_in.register()
        self.assertTrue(issubclass(space._PLACEMENT_SOLVERS["lxplan"], space.MemoryPlanSolver))
        drop_in.SolveError, drop_in.LxplanLayoutSolver, drop_in.LxplanCoreDivisionSolver = own

    def test_without_their_package(self):
        with self.assertRaises(ImportError):
            drop_in.register()
        with self.assertRaises(ValueError):
            STYLES["old"].select("nobody")


if __name__ == "__main__":
    unittest.main()
