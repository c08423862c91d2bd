"""The drop-in for ExecuTorch's memory planning seam, against stand-ins: random sets of specs, legal and never above greedy."""

import functools
import logging
import random
import sys
import types
import unittest
from unittest import mock

import executorch_stub as stub
from executorch_stub import TensorSpec
from lxplan import executorch as drop_in


def random_specs(draw):
    count = draw.choice([0, 1, 3, 8, 15, 30])
    banks = draw.choice([[None], [None], [None, 1], [None, 1, 2, 4], [3]])
    specs = []
    for _ in range(count):
        first = draw.randrange(20)
        life = [first, first + draw.randrange(-1, 8)]
        specs.append(TensorSpec(draw.choice([0, 1, 16, 60, 64, 100, 500, 4096]), life, draw.choice(banks)))
    for base in list(specs):
        if draw.random() < 0.15 and base.lifetime[0] <= base.lifetime[1]:
            start = base.lifetime[1] + draw.randrange(0, 2)
            child = TensorSpec(draw.choice([base.nbytes, max(1, base.nbytes // 2)]), [start, start + draw.randrange(4)], base.mem_id, base)
            specs.insert(draw.randrange(len(specs) + 1), child)
    return specs


def odd_specs(draw):
    """Bases that live on no tick, before tick 0, or are smaller than what is computed in their place."""
    specs, last = [], draw.randrange(1, 14)
    for _ in range(draw.randrange(18)):
        first = draw.randrange(last + 1)
        one = TensorSpec(draw.choice([0, 1, 15, 16, 17, draw.randrange(1, 5000), draw.randrange(1, 5000)]), [first, first + draw.randrange(-1, 6)],
                         draw.choice([None, None, 1, 2]))
        if specs and draw.random() < 0.2:
            base = one.inplace_base = draw.choice(specs)
            one.lifetime, one.mem_id = [base.lifetime[1], base.lifetime[1] + draw.randrange(5)], base.mem_id
        specs.append(one)
    draw.shuffle(specs)
    return specs


def random_graph(draw):
    return stub.graph(draw.choice([None, None, [0, 0], [0, 256], [0, 100, 64, 7, 0], [0]]))


class RandomSets(unittest.TestCase):
    def test_legal_and_never_above_greedy(self):
        below = 0
        for seed in range(1000):
            draw = random.Random(seed)
            specs, graph = random_specs(draw), random_graph(draw)
            alignment, padding = draw.choice([1, 16, 16, 64]), draw.choice([0, 0, 64])
            before = [(s.nbytes, list(s.lifetime), s.mem_id, s.inplace_base, s.mem_offset, s.mem_obj_id) for s in specs]
            with self.subTest(seed=seed):
                ours = drop_in.lxplan(alignment, specs, graph, None, padding)
                self.assertEqual(before, [(s.nbytes, list(s.lifetime), s.mem_id, s.inplace_base, s.mem_offset, s.mem_obj_id) for s in specs])
                stub.verify(ours, specs, graph, padding)
                theirs = stub.greedy(alignment, specs, graph, None, padding)
                self.assertEqual(len(ours.bufsizes), len(theirs.bufsizes))
                try:
                    stub.verify(theirs, specs, graph, padding)
                except AssertionError:
                    continue
                self.assertLessEqual(sum(ours.bufsizes), sum(theirs.bufsizes))
                below += sum(ours.bufsizes) < sum(theirs.bufsizes)
        self.assertGreater(below, 20)

    def test_bases_that_are_odd(self):
        taken = legal = 0
        for seed in range(3000):
            draw = random.Random(seed)
            specs, graph = odd_specs(draw), random_graph(draw)
            alignment, padding = draw.choice([1, 16, 16, 64]), draw.choice([0, 0, 64])
            theirs = stub.greedy(alignment, specs, graph, None, padding)
            try:
                stub.verify(theirs, specs, graph, padding)
            except AssertionError:
                continue
            with self.subTest(seed=seed):
                ours = drop_in.lxplan(alignment, specs, graph, None, padding)
                stub.verify(ours, specs, graph, padding)
                self.assertLessEqual(sum(ours.bufsizes), sum(theirs.bufsizes))
                self.assertEqual(len(ours.bufsizes), len(theirs.bufsizes))
                with mock.patch.object(drop_in, "improve", lambda blocks, floor, top: top):
                    taken += sum(drop_in.lxplan(alignment, specs, graph, None, padding).bufsizes) > sum(ours.bufsizes)
            legal += 1
        self.assertGreater(legal, 1000)
        self.assertGreater(taken, 3)

    def setUp(self):
        logging.getLogger("lxplan.executorch").setLevel(logging.CRITICAL)
        self.fallen = mock.patch.object(drop_in, "_fallback", side_effect=AssertionError("it fell back"))
        self.fallen.start()
        self.addCleanup(self.fallen.stop)


class Sets(unittest.TestCase):
    def setUp(self):
        logging.getLogger("lxplan.executorch").setLevel(logging.CRITICAL)

    def test_nothing(self):
        self.assertEqual(drop_in.lxplan(16, [], stub.graph(), None).bufsizes, [0, 0])

    def test_in_a_suite(self):
        specs = {TensorSpec(100, [0, 1]), TensorSpec(50, [1, 2]), TensorSpec(50, [2, 3]), TensorSpec(100, [3, 4])}
        name, results = stub.suite([stub.greedy, drop_in.lxplan], 1, specs, stub.graph(), 64)
        self.assertIn("lxplan", results)
        self.assertEqual(results["lxplan"].bufsizes, [0, 150 + 64])
        stub.suite([functools.partial(drop_in.lxplan)], 1, specs, stub.graph())

    def test_chain_in_place_is_one_block(self):
        a = TensorSpec(64, [0, 2])
        b = TensorSpec(64, [2, 4], inplace_base=a)
        c = TensorSpec(64, [4, 6], inplace_base=b)
        other = TensorSpec(64, [3, 3])
        ours = drop_in.lxplan(16, [c, b, a, other], stub.graph(), None)
        stub.verify(ours, [a, b, c, other], stub.graph())
        self.assertEqual(ours.bufsizes, [0, 128])

    def test_objects_are_connected_bytes(self):
        specs = [TensorSpec(100, [0, 1]), TensorSpec(40, [2, 3]), TensorSpec(40, [2, 3]), TensorSpec(64, [0, 9])]
        ours = drop_in.lxplan(1, specs, stub.graph(), None)
        ids = [ours.spec_dict[s].mem_obj_id for s in specs]
        self.assertEqual(len(set(ids[:3])), 1)
        self.assertNotEqual(ids[0], ids[3])

    def test_falls_back_to_their_greedy(self):
        package, exir, planning = (types.ModuleType(n) for n in ("executorch", "executorch.exir", "executorch.exir.memory_planning"))
        planning.greedy, exir.memory_planning, package.exir = stub.greedy, planning, exir
        modules = {"executorch": package, "executorch.exir": exir, "executorch.exir.memory_planning": planning}
        specs = [TensorSpec(64, [0, 1]), TensorSpec(64, [1, 2])]
        with mock.patch.dict(sys.modules, modules), mock.patch.object(drop_in, "_planned", side_effect=RuntimeError("broken")):
            self.assertEqual(drop_in.lxplan(16, specs, stub.graph(), None, 64).bufsizes, [0, 192])

    def test_bases_that_are_nowhere(self):
        """No plan could be whole. Their greedy, where there is one, is asked first."""
        circle = [TensorSpec(64, [0, 1]), TensorSpec(64, [1, 2]), TensorSpec(64, [0, 9])]
        circle[0].inplace_base, circle[1].inplace_base = circle[1], circle[0]
        lost = [TensorSpec(64, [0, 1], inplace_base=TensorSpec(64, [0, 1])), TensorSpec(64, [0, 9])]
        for specs, words in ((circle, "circle"), (lost, "not planned with it")):
            for algorithm in (drop_in.lxplan, drop_in.banked([(1, 4096)])):
                with self.assertRaisesRegex(ValueError, words):
                    algorithm(16, specs, stub.graph(), None)
            with mock.patch.object(drop_in, "_theirs", lambda name, own: lambda *_: "greedy's answer"):
                self.assertEqual(drop_in.lxplan(16, specs, stub.graph(), None), "greedy's answer")

    def test_generators_are_listed_once(self):
        specs = [TensorSpec(100, [0, 1]), TensorSpec(50, [1, 2]), TensorSpec(50, [2, 3])]
        for algorithm in (drop_in.lxplan, drop_in.banked([(1, 4096)])):
            ours = algorithm(16, (s for s in specs), stub.graph(), None)
            stub.verify(ours, specs, stub.graph())
            self.assertEqual(ours.bufsizes, algorithm(16, set(specs), stub.graph(), None).bufsizes)
        with mock.patch.object(drop_in, "_planned", side_effect=RuntimeError("broken")):
            stub.verify(drop_in.lxplan(16, iter(specs), stub.graph(), None), specs, stub.graph())

    def test_sizes_beyond_the_width(self):
        specs = [TensorSpec((1 << 64) + 16, [0, 3]), TensorSpec(64, [0, 3])]
        stub.verify(drop_in.lxplan(16, specs, stub.graph(), None), specs, stub.graph())
        for bank, listed in (((1 << 64) + 64, specs[1:]), (1 << 65, specs)):
            with self.assertRaisesRegex(ValueError, str(bank)):
                drop_in.banked([(1, bank)])(16, listed, stub.graph(), None)

    def test_never_raises(self):
        lost = TensorSpec(64, [0, 1])
        broken = [
            [TensorSpec(64, [None, None])],
            [TensorSpec(64, [0, 1], mem_id=0)],
            [lost, TensorSpec(64, [1, 5], inplace_base=lost), TensorSpec(64, [1, 5], inplace_base=lost)],
        ]
        for specs in broken:
            self.assertGreaterEqual(len(drop_in.lxplan(16, specs, stub.graph(), None).bufsizes), 2)
        with mock.patch.object(drop_in, "_planned", side_effect=RuntimeError("broken")):
            specs = [TensorSpec(64, [0, 1]), TensorSpec(32, [1, 2])]
            specs.append(TensorSpec(128, [2, 3], inplace_base=specs[1]))
            ours = drop_in.lxplan(16, specs, stub.graph([0, 40]), None, 64)
            stub.verify(ours, specs, stub.graph([0, 40]), 64)


class Banks(unittest.TestCase):
    def planned(self, memory_map, specs, **more):
        algorithm = drop_in.banked(memory_map)
        ours = algorithm(16, specs, more.get("graph", stub.graph()), None, more.get("padding", 0))
        stub.verify(ours, specs, more.get("graph", stub.graph()), more.get("padding", 0))
        return ours

    def test_fastest_first(self):
        specs = [TensorSpec(64, [0, 5]), TensorSpec(64, [0, 5]), TensorSpec(64, [0, 5])]
        ours = self.planned([(1, 128), (2, 1000)], specs)
        self.assertEqual(sorted(ours.spec_dict[s].mem_id for s in specs), [1, 1, 2])
        self.assertEqual(ours.bufsizes, [0, 128, 64])

    def test_pins_come_first(self):
        pinned = TensorSpec(128, [0, 5], mem_id=1)
        specs = [TensorSpec(64, [0, 5]), pinned, TensorSpec(32, [0, 1], mem_id=7)]
        ours = self.planned([(1, 128), (2, 1000)], specs)
        self.assertEqual([ours.spec_dict[s].mem_id for s in specs], [2, 1, 7])
        self.assertEqual(len(ours.bufsizes), 8)

    def test_one_bank_is_as_without(self):
        draw = random.Random(5)
        specs = [TensorSpec(draw.randrange(1, 500), [k, k + draw.randrange(6)]) for k in range(20)]
        self.assertEqual(self.planned({1: 10**6}, specs).bufsizes, drop_in.lxplan(16, specs, stub.graph(), None).bufsizes)

    def test_capacity_counts_padding_and_nested_graphs(self):
        specs = [TensorSpec(64, [0, 1])]
        ours = self.planned([(1, 128), (2, 4096)], specs, graph=stub.graph([0, 64, 0]), padding=64)
        self.assertEqual(ours.spec_dict[specs[0]].mem_id, 2)

    def test_objects_that_describe_banks(self):
        bank = types.SimpleNamespace(mem_id=2, capacity=64)
        ours = self.planned(types.SimpleNamespace(banks=[bank]), [TensorSpec(64, [0, 1])])
        self.assertEqual(ours.bufsizes, [0, 0, 64])

    def test_what_lives_on_no_tick_needs_room_too(self):
        spec = TensorSpec(64, [3, 1])
        self.assertEqual(self.planned([(1, 32), (2, 128)], [spec]).bufsizes, [0, 0, 64])
        self.assertEqual(self.planned([(1, 64), (2, 128)], [spec]).bufsizes, [0, 64])
        self.assertEqual(self.planned([(1, 100), (2, 128)], [spec], padding=64).bufsizes, [0, 0, 128])
        self.assertEqual(self.planned([(1, 100), (2, 128)], [spec], graph=stub.graph([0, 48])).bufsizes, [0, 0, 64])
        for memory_map, listed in (([(1, 32), (2, 48)], [spec]), ([(1, 32), (2, 128)], [TensorSpec(64, [3, 1], 1)])):
            with self.assertRaisesRegex(ValueError, "bank"):
                self.planned(memory_map, listed)

    def test_a_bank_is_named_once(self):
        with self.assertRaisesRegex(ValueError, "twice"):
            drop_in.banked([(1, 32), (1, 128)])

    def test_what_fits_nowhere_ends_the_export(self):
        with self.assertRaisesRegex(ValueError, "bank"):
            self.planned([(1, 128), (2, 128)], [TensorSpec(256, [0, 1])])
        with self.assertRaisesRegex(ValueError, "capacity"):
            drop_in.banked([types.SimpleNamespace(mem_id=1)])


if __name__ == "__main__":
    unittest.main()
