"""Divisions, relayouts and residency together, against every answer of small problems."""

import random
import unittest

import joint_stub
import spyre_stub as stub
import lxplan.torch_spyre as drop_in
from lxplan import _cost_expression as expression
from lxplan import _spyre_joint
from lxplan import LxplanError

STYLES = {style: stub.make(style) for style in ("old", "new")}
SOLVERS = {style: drop_in.bind(space)[1] for style, space in STYLES.items()}
LIMIT = 768


def random_cost(draw, buffers):
    """A sum of small terms over bits, splits and divisions, as srepr writes it."""
    terms = []

    def bit(b):
        return f"Symbol('is_lx_{b.name}', integer=True, nonnegative=True)"

    def split(b):
        return f"Symbol('split_{b.name}_c{draw.randrange(4)}', positive=True)"

    for b in buffers:
        if b.name.startswith(stub.COPY):
            continue
        size = draw.randrange(50, 400)
        terms.append(f"Mul(Integer({size}), Add(Integer(1), Mul(Integer(-1), {bit(b)})))")
        terms.append(f"Mul(Float('{draw.randrange(100, 900)}.5', precision=53), Pow({split(b)}, Integer(-1)))")
    for a, b in zip(buffers, buffers[1:]):
        if draw.random() < 0.5 and not b.name.startswith(stub.COPY):
            terms.append(f"Max(Mul(Integer(70), Pow({split(a)}, Integer(-1))), Mul(Integer(60), {bit(b)}), Mul(Rational(1, 3), Pow({split(b)}, Integer(2))))")
    for name, (source, cells) in joint_stub.candidates(buffers).items():
        copy = next((b for b in buffers if b.name == name), None)
        parent = next(b for b in buffers if b.name == source)
        if copy is not None:
            prices = ", ".join(f"Float('{10 + k}', precision=53)" for k in range(len(parent.core_divisions)))
            terms.append(f"RelayoutCharge({bit(copy)}, Symbol('division_{source}'), {prices})")
    return f"Add({', '.join(terms)})"


def cost_of(text):
    """The value of an answer, by the tree itself and not by tables."""
    tree = expression.parse(text)
    names = sorted(expression.symbols(tree))
    function = expression.function(tree, names)

    def value(buffers):
        by_name = {b.name: b for b in buffers}

        def symbol(name):
            if name.startswith("is_lx_"):
                return float(by_name[name[6:]].address is not None)
            if name.startswith("division_"):
                return float(joint_stub.division(by_name[name[9:]]))
            b = by_name[name[6:].rsplit("_", 1)[0]]
            return float(b.core_divisions[joint_stub.division(b)].splits.get(name.rsplit("_", 1)[1], 1))

        return function(*(symbol(n) for n in names))

    return value


class Default(unittest.TestCase):
    def test_against_everything(self):
        for seed in range(60):
            draw = random.Random(seed)
            buffers = joint_stub.random_buffers(draw, draw.randrange(1, 5), relayouts=seed % 3 == 0)
            limit = draw.choice([256, 512, LIMIT])
            least = joint_stub.best(buffers, limit, joint_stub.default_value, copies=False)
            for style in STYLES:
                for b in buffers:
                    b.address = b.chosen_division = None
                answer = SOLVERS[style](buffers, limit).plan_layout_and_core_divisions()
                self.assertEqual([id(b) for b in answer], [id(b) for b in buffers])
                joint_stub.verify(buffers, limit)
                self.assertEqual(joint_stub.default_value(buffers), least, f"seed {seed}")

    def test_the_search_in_python_agrees_with_that_of_the_library(self):
        for seed in range(60):
            draw = random.Random(1000 + seed)
            buffers = joint_stub.random_buffers(draw, draw.randrange(2, 7))
            values = []
            for without in (False, True):
                solver = SOLVERS["new"](buffers, LIMIT)
                if without:
                    solver._native = self.refuse
                solver.plan_layout_and_core_divisions()
                joint_stub.verify(buffers, LIMIT)
                values.append(joint_stub.default_value(buffers))
                for b in buffers:
                    b.address = b.chosen_division = None
            self.assertEqual(values[0], values[1], f"seed {seed}")

    @staticmethod
    def refuse(model):
        raise LxplanError(0, "unsupported", "not here")

    def test_without_menus_it_is_placement(self):
        a, b = stub.CoreDivisionBuffer("a", 512, [0, 1]), stub.CoreDivisionBuffer("b", 512, [1, 2])
        SOLVERS["new"]([a, b], 1024).plan_layout()
        self.assertEqual({a.address, b.address}, {0, 512})
        self.assertIsNone(a.chosen_division)

    def test_tilings_are_taken_as_they_are(self):
        tiled = stub.CoreDivision({"c0": 2}, frozenset(), stub.TileSpec((stub.TileAxis(0, 4), stub.TileAxis(1, 8, True))))
        a = stub.CoreDivisionBuffer("a", 1024, [0, 1], core_divisions=[tiled])
        b = stub.CoreDivisionBuffer("b", 1024, [1, 2], core_divisions=[tiled], parents=["a"], cd_parent_matches={"a": [(0, 0)]})
        SOLVERS["old"]([a, b], 128).plan_layout_and_core_divisions()
        self.assertEqual((a.address, b.address), (0, None))

    def test_planned_buffers_are_refused(self):
        with self.assertRaises(AssertionError):
            SOLVERS["new"]([stub.CoreDivisionBuffer("a", 1, [0], chosen_division=0)], 1024).plan_layout_and_core_divisions()


class ByCost(unittest.TestCase):
    def test_against_everything(self):
        served = 0
        for seed in range(80):
            draw = random.Random(seed)
            buffers = joint_stub.random_buffers(draw, draw.randrange(1, 5), relayouts=seed % 2 == 0)
            if len(buffers) > 6:
                continue
            limit = draw.choice([256, 512, LIMIT])
            text = random_cost(draw, buffers)
            value = cost_of(text)
            least = joint_stub.best(buffers, limit, value)
            solver = SOLVERS["new" if seed % 2 else "old"](buffers, limit)
            solver.plan_layout_and_core_divisions(text)
            joint_stub.verify(buffers, limit)
            self.assertAlmostEqual(value(buffers), least, places=6, msg=f"seed {seed}")
            self.assertAlmostEqual(solver.objective, least, places=6)
            self.assertEqual(solver.status, "optimal", f"seed {seed}")
            served += self.check_relayouts(buffers)
        self.assertGreaterEqual(served, 3)

    def check_relayouts(self, buffers):
        """Every reader of a source that does not agree with it reads a copy, at the copy's address."""
        by_name, served = {b.name: b for b in buffers}, 0
        for b in buffers:
            for parent, chosen in b.chosen_relayouts.items():
                c = chosen.candidate
                copy = by_name[f"{stub.COPY}{parent}:g{c.group}"]
                self.assertEqual(chosen.destination_address, copy.address)
                self.assertEqual((c.source_division, c.consumer_division), (by_name[parent].chosen_division, b.chosen_division))
                served += 1
            for parent in b.parents:
                pair = (by_name[parent].chosen_division, b.chosen_division)
                if by_name[parent].address is not None and pair not in b.cd_parent_matches[parent]:
                    self.assertIn(parent, b.chosen_relayouts)
        return served

    def test_sympy_expressions(self):
        try:
            import sympy
        except ImportError:
            self.skipTest("no sympy here")
        buffers = joint_stub.random_buffers(random.Random(3), 4)
        cost = sum(100 * (1 - sympy.Symbol(f"is_lx_{b.name}")) + 10 / sympy.Symbol(f"split_{b.name}_c0") for b in buffers)
        SOLVERS["new"](buffers, LIMIT).plan_layout_and_core_divisions(cost)
        joint_stub.verify(buffers, LIMIT)

    def test_unknown_names_are_solve_errors(self):
        for text, word in (
            ("Gamma(Symbol('is_lx_b0'))", "Gamma"),
            ("Add(Symbol('is_lx_nobody'), Integer(1))", "is_lx_nobody"),
            ("Mul(Symbol('weight'), Integer(2))", "weight"),
            ("Pow(Symbol('is_lx_b0'), Integer(-1))", "no value"),
            ("Add(Integer(1)", "expected"),
        ):
            buffers = joint_stub.random_buffers(random.Random(3), 3)
            before = repr(buffers)
            with self.assertRaisesRegex(stub.SolveError, word):
                SOLVERS["old"](buffers, LIMIT).plan_layout_and_core_divisions(text)
            self.assertEqual(repr(buffers), before)

    def refused(self, buffers, words, limit=LIMIT, alignment=128, **how):
        """By both objectives, and nothing is written."""
        before = repr(buffers)
        for text in (None, "Mul(Integer(-1), Symbol('is_lx_b0'))"):
            for style, space in STYLES.items():
                with self.assertRaisesRegex(space.SolveError, words):
                    SOLVERS[style](buffers, limit, alignment, **how).plan_layout_and_core_divisions(text)
        self.assertEqual(repr(buffers), before)

    def two(self, pairs=((0, 0), (1, 1)), size=256):
        menu = [stub.CoreDivision({"c0": 2}), stub.CoreDivision({"c0": 4})]
        return [stub.CoreDivisionBuffer("b0", size, [0, 1], core_divisions=menu),
                stub.CoreDivisionBuffer("b1", 256, [1, 2], core_divisions=menu, parents=["b0"], cd_parent_matches={"b0": list(pairs)})]

    def test_divisions_that_are_on_no_menu(self):
        for pair in ((0, 7), (2, 0), (-1, 0), (0, -1)):
            self.refused(self.two([pair]), "names division")
            buffers = self.two([])
            buffers[1].cd_parent_relayouts["b0"] = [stub.RelayoutCandidate("b0", "b1", *pair, 0, cost_ns=1.0)]
            buffers.append(stub.RelayoutCopyBuffer(f"{stub.COPY}b0:g0", 256, [1], core_divisions=[stub.CoreDivision({"c0": 2})]))
            self.refused(buffers, "names division")

    def test_options_are_read_as_the_library_reads_them(self):
        for text in ("10k", "10K", "2m", "1g", "77"):
            solver = SOLVERS["new"](self.two(), LIMIT, options=f"work={text}")
            solver.plan_layout_and_core_divisions("Mul(Integer(-1), Symbol('is_lx_b0'))")
            self.assertEqual(solver.objective, -1)
        for bad in ("work=abc", "work=10kk", "work", "solver=nobody", {"work": -1}, 5):
            self.refused(self.two(), "work|option|solver", options=bad)

    def test_numbers_beyond_the_width(self):
        big = 1 << 64
        self.refused(self.two(), "", limit=big + LIMIT)
        self.refused(self.two(), "", alignment=big + 128)
        self.refused(self.two(size=4 * big), "", limit=8 * big)

    def test_terms_that_are_too_large_are_named(self):
        menu = [stub.CoreDivision({"c0": k + 1}) for k in range(20)]
        buffers = [stub.CoreDivisionBuffer(f"b{i}", 64, [i, i + 1], core_divisions=menu) for i in range(4)]
        product = "Mul(" + ", ".join(f"Symbol('split_b{i}_c0')" for i in range(4)) + ")"
        with self.assertRaisesRegex(stub.SolveError, "160000 entries"):
            SOLVERS["new"](buffers, LIMIT).plan_layout_and_core_divisions(product)

    def test_the_same_every_time_and_bounded(self):
        for seed in range(4):
            answers = []
            for _ in range(2):
                buffers = joint_stub.random_buffers(random.Random(seed), 25, relayouts=True, menu=8)
                solver = SOLVERS["new"](buffers, LIMIT)
                solver.options = {"work": 3000}
                solver.plan_layout_and_core_divisions(random_cost(random.Random(seed), buffers))
                joint_stub.verify(buffers, LIMIT)
                self.assertLessEqual(solver.bound, solver.objective)
                answers.append([(b.address, b.chosen_division) for b in buffers])
            self.assertEqual(answers[0], answers[1])


if __name__ == "__main__":
    unittest.main()
