"""The module itself: problems built and solved, options, callbacks, threads, errors, handles, and the table of functions
against the header."""

import array
import ast
import gc
import os
import pathlib
import re
import subprocess
import sys
import threading
import unittest

import lxplan
from lxplan import _native

ROOT = pathlib.Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "lib" / "python" / "lxplan"


def small(objective="cost", capacity=1024):
    p = lxplan.Placement(objective, 128)
    p.pool("LX", capacity)
    return p


def hard(count=60, seed=7):
    """Enough to keep a solver busy for some steps."""
    p = lxplan.Placement("cost", 1)
    p.pool("LX", 4000)
    state = seed
    for i in range(count):
        state = (state * 1103515245 + 12345) % (1 << 31)
        start = state // 65536 % 40
        p.buffer(f"b{i}", 200 + state // 128 % 900, start, start + 3 + state // 1024 % 12, off=1000 + state // 256 % 5000)
    return p


class Sources(unittest.TestCase):
    def test_every_function_of_the_header_is_typed(self):
        header = (ROOT / "lib" / "lxplan.h").read_text()
        header = re.sub(r"/\*.*?\*/", " ", header, flags=re.S)
        found = {}
        for result, name, arguments in re.findall(r"LX_API ([^;(]*?)(lx_\w+)\(((?:[^()]|\([^()]*\)|\(\*\w+\)\([^()]*\))*)\);", header, flags=re.S):
            found[name] = self.letter(result) + "".join(self.letter(a) for a in self.split(arguments))
        self.assertGreater(len(found), 55)
        self.assertEqual(found.pop("lx_text_data"), "sh")  # text that may hold zeros: an address here
        self.assertEqual({**found, "lx_text_data": "hh"}, _native.SIGNATURES)

    @staticmethod
    def split(arguments):
        flat = re.sub(r"\(\*(\w+)\)\s*\([^()]*\)", r"(callback)", arguments)
        return [a.strip() for a in flat.split(",") if a.strip() and a.strip() != "void"]

    @staticmethod
    def letter(text):
        text = " ".join(text.split())
        if "callback" in text:
            return "f"
        if "char *" in text and "**" not in text:
            return "s"
        if "*" in text:
            return "h"
        words = text.split()
        return {"void": "v", "int32_t": "i", "int64_t": "l", "double": "d"}[words[0]]

    def test_syntax_is_that_of_3_9(self):
        for file in PACKAGE.glob("*.py"):
            ast.parse(file.read_text(), str(file), feature_version=(3, 9))
            self.assertLess(len(file.read_text().splitlines()), 401, file)
            self.assertTrue(ast.get_docstring(ast.parse(file.read_text())), f"{file} does not say what it is")

    def test_compiles_without_a_warning(self):
        code = "import sys, pathlib\nfor f in pathlib.Path(sys.argv[1]).glob('*.py'): compile(f.read_text(), str(f), 'exec')"
        subprocess.run([sys.executable, "-W", "error", "-c", code, str(PACKAGE)], check=True)

    def test_public_functions_have_words_and_types(self):
        for name in lxplan.__all__:
            self.assertTrue(getattr(lxplan, name).__doc__, name)
        self.assertTrue((PACKAGE / "py.typed").exists())

    def test_nothing_heavy_is_imported(self):
        code = "import sys, lxplan, lxplan.torch_spyre, lxplan.executorch\nassert not {'torch', 'sympy', 'numpy'} & set(sys.modules)"
        subprocess.run([sys.executable, "-c", code], check=True)


class Problems(unittest.TestCase):
    def test_both_fit(self):
        with small() as p:
            p.buffer("a", 512, 0, 3, off=10)
            p.buffer("b", 512, 2, 5, off=20)
            with p.solve() as s:
                self.assertEqual(s.status, "optimal")
                self.assertEqual(sorted(s.addresses), [0, 512])
                self.assertEqual(s.objective, 0)
                self.assertEqual(p.check(s.addresses, s.pools), 0)
                s.check()

    def test_the_cheaper_one_is_left_out(self):
        p = small(capacity=600)
        p.buffers([512, 512], [0, 0], [2, 2], [10, 20])
        s = p.solve("solver=exact")
        self.assertEqual(s.addresses, [None, 0])
        self.assertEqual(s.pools, [None, 0])
        self.assertEqual((s.objective, s.bound, s.gap), (10, 10, 0))

    def test_must_place_and_infeasible(self):
        p = small(capacity=600)
        p.buffers([512, 512], [0, 0], [2, 2])
        s = p.solve()
        self.assertEqual(s.status, "infeasible")
        self.assertEqual(s.addresses, [None, None])
        with self.assertRaises(lxplan.LxplanError):
            s.check()

    def test_arrays_are_taken_as_they_are(self):
        p = small()
        sizes = array.array("q", [128, 256])
        self.assertEqual(p.buffers(sizes, memoryview(array.array("q", [0, 1])), (2, 3), iter([5, 6])), range(0, 2))
        self.assertEqual(p.buffers([], [], [], []), range(2, 2))
        with self.assertRaises(ValueError):
            p.buffers([1, 2], [0], [1])
        self.assertEqual(p.solve().objective, 0)

    def test_sets(self):
        p = small("cost", 1024)
        a, b, c, d = p.buffers([512] * 4, [0, 2, 4, 0], [2, 4, 6, 6], [9, 9, 9, 1])
        p.same_place([a, b])
        p.apart(b, c)
        s = p.solve()
        at = s.addresses
        self.assertEqual(at[a], at[b])
        self.assertNotEqual(at[b], at[c])
        self.assertIsNone(at[d])

    def test_in_place_pin_bar_charge(self):
        p = small("cost", 512)
        a, b = p.buffers([512, 512], [0, 2], [3, 5], [100, 100])
        p.uses(a, [0, 2])
        p.parent(b, a)
        c = p.buffer("c", 128, 5, 6, off=7)
        p.pin(c, 0, 256)
        d = p.buffer("d", 128, 7, 8, off=3)
        p.bar(d, "it must not")
        p.charge(4, all_on=[c])
        s = p.solve()
        self.assertEqual(s.addresses, [0, 0, 256, None])
        self.assertEqual(s.objective, 7)

    def test_height_and_reserved(self):
        p = lxplan.Placement("height", 64)
        pool = p.pool("bank")
        p.reserve(pool, 0, 100)
        p.buffers([64, 64, 128], [0, 1, 3], [2, 3, 4])
        s = p.solve()
        self.assertEqual(s.number("height"), 256)
        self.assertTrue(all(a >= 128 for a in s.addresses))

    def test_several_lives_and_pools(self):
        p = lxplan.Placement("cost", 1)
        fast, slow = p.pool("fast", 100), p.pool("slow", 1000)
        a = p.buffer("a", 100, 0, 2)
        p.live(a, 4, 6)
        b = p.buffer("b", 100, 2, 4)
        c = p.buffer("c", 100, 1, 5)
        for one in (a, b, c):
            p.allow(one, fast, 0)
            p.allow(one, slow, 100)
        s = p.solve()
        self.assertEqual(s.pools, [fast, fast, slow])
        self.assertEqual(s.objective, 100)

    def test_files(self):
        p = lxplan.Placement.parse("id,lower,upper,size\na,0,2,64\nb,1,3,64\n", "csv")
        self.assertEqual(sorted(p.solve().addresses), [0, 64])

    def test_written_and_read_again(self):
        p = hard(12)
        again = lxplan.Placement.parse(p.write("pattern"), "pattern")
        self.assertEqual(p.solve().objective, again.solve().objective)

    def test_same_problem_same_answer(self):
        self.assertEqual(hard().solve("solver=anneal").addresses, hard().solve("solver=anneal").addresses)


class Mistakes(unittest.TestCase):
    def test_errors_have_words(self):
        with self.assertRaises(lxplan.LxplanError) as caught:
            lxplan.Placement("beauty")
        self.assertIn("objective", str(caught.exception))
        self.assertTrue(caught.exception.word)
        p = small()
        with self.assertRaises(lxplan.LxplanError) as caught:
            p.buffer("a", -5, 0, 1)
        self.assertGreater(caught.exception.code, 0)
        with self.assertRaises(lxplan.LxplanError):
            p.parent(3, 4)
        with self.assertRaises(lxplan.LxplanError) as caught:
            lxplan.Placement.parse('{"lxplan": 1,\n "kind": ', "pattern")
        self.assertGreaterEqual(caught.exception.line, 1)

    def test_numbers_beyond_the_width_are_refused(self):
        """Each scalar in turn: cut down to its low bits it would be 1 or 2, a number that is legal there."""
        p = small()
        p.buffers([128, 128], [0, 0], [4, 4], [5, 5])
        p.pool("other", 1024)
        for big in ((1 << 64) + 1, (1 << 32) + 1, -(1 << 64) + 1, 1 << 200):
            wide = [] if abs(big) < 1 << 63 else [
                lambda: lxplan.Placement("cost", big),
                lambda: p.pool("x", big),
                lambda: p.buffer("x", big, 0, 2),
                lambda: p.buffer("x", 1, big, 2),
                lambda: p.buffer("x", 1, 0, big),
                lambda: p.buffer("x", 1, 0, 2, big),
                lambda: p.buffers([big], [0], [1]),
                lambda: p.reserve(0, big, 2),
                lambda: p.reserve(0, 0, big),
                lambda: p.reserve(0, 0, 1, big, 2),
                lambda: p.reserve(0, 0, 1, 0, big),
                lambda: p.live(0, big, 9),
                lambda: p.live(0, 0, big),
                lambda: p.uses(0, [big]),
                lambda: p.allow(0, 0, big),
                lambda: p.pin(0, 0, big),
                lambda: p.align(0, big),
                lambda: p.reuse(0, 1, big),
                lambda: p.charge(big, [0]),
                lambda: p.check([big, 0]),
            ]
            narrow = [
                lambda: p.reserve(big, 0, 2),
                lambda: p.live(big, 0, 2),
                lambda: p.uses(big, [0]),
                lambda: p.allow(big, 0),
                lambda: p.allow(0, big),
                lambda: p.pin(big, 0, 0),
                lambda: p.pin(0, big, 0),
                lambda: p.bar(big, "why"),
                lambda: p.parent(big, 0),
                lambda: p.parent(0, big),
                lambda: p.instead_of(0, big),
                lambda: p.apart(big, 0),
                lambda: p.apart(0, big),
                lambda: p.together([0, big]),
                lambda: p.charge(1, [big]),
                lambda: lxplan.Builder("g").op("o", "exp", [0], big),
                lambda: lxplan.Builder("g").attribute(big, "k", 1),
            ]
            before = p.write()
            for k, call in enumerate(wide + narrow):
                with self.subTest(big=big, call=k), self.assertRaises((OverflowError, lxplan.LxplanError)) as caught:
                    call()
                self.assertGreater(len(str(caught.exception)), 10)
            self.assertEqual(p.write(), before)

    def test_texts_that_the_library_cannot_take(self):
        p = small()
        p.buffer("a", 1, 0, 1, 1)
        s = p.solve()
        for bad in ("a\0b", "a\ud800", "\udc80"):
            calls = (
                lambda: p.pool(bad, 1),
                lambda: p.buffer(bad, 1, 0, 1),
                lambda: p.bar(0, bad),
                lambda: p.write(bad),
                lambda: lxplan.Placement(bad),
                lambda: lxplan.Builder(bad),
                lambda: lxplan.Builder("g").tensor(bad, "fp16", [1]),
                lambda: lxplan.Options(solver=bad),
                lambda: s.number(bad),
                lambda: s.items("buffers")[0][bad],
                lambda: lxplan.has(bad),
            )
            for k, call in enumerate(calls):
                with self.subTest(bad=bad, call=k), self.assertRaisesRegex(ValueError, "zero character|surrogate"):
                    call()
        with self.assertRaisesRegex(ValueError, "surrogate"):
            lxplan.Graph.parse("{\ud800}")
        self.assertEqual(len(p.solve().addresses), 1)

    def test_illegal_answers_are_named(self):
        p = small()
        p.buffers([512, 512], [0, 0], [2, 2], [1, 1])
        with self.assertRaises(lxplan.LxplanError) as caught:
            p.check([0, 128])
        self.assertIn("overlap", str(caught.exception))

    def test_unknown_names(self):
        p = small()
        p.buffer("a", 1, 0, 1)
        s = p.solve()
        for ask in (s.number, s.word, s.items):
            with self.assertRaises(KeyError):
                ask("no such name")
        with self.assertRaises(KeyError):
            s.items("buffers")[0].number("no such name")

    def test_options(self):
        with self.assertRaises(lxplan.LxplanError):
            lxplan.Options(solver="nobody")
        with self.assertRaises(ValueError):
            lxplan.Options.parse("solver")
        with self.assertRaises(TypeError):
            small().solve(5)
        self.assertIn("solver", [row["name"] for row in lxplan.Options.all()])
        self.assertIn("auto", [row["name"] for row in lxplan.solvers()])
        self.assertEqual(lxplan.Options.parse(" solver=exact , seed=3", seed=4).values, {"solver": "exact", "seed": "4"})

    def test_closed(self):
        p = small()
        p.close()
        p.close()
        with self.assertRaises(ValueError):
            p.pool("again", 1)

    def test_a_missing_library_is_named(self):
        code = "import lxplan\ntry:\n    lxplan.version()\nexcept ImportError as why:\n    print(why)"
        said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True,
                              env={**os.environ, "LXPLAN_LIBRARY": "/nowhere/liblxplan.so.0"}).stdout
        self.assertIn("/nowhere/liblxplan.so.0", said)


class Command(unittest.TestCase):
    ROWS = "id,lower,upper,size\n" + "".join(f"buffer_{k},{k},{k + 2},64\n" for k in range(20))

    def run_it(self, out, *words):
        """Exit code and standard error, its output going to `out`."""
        done = subprocess.run([sys.executable, "-m", "lxplan", "-", *words], input=self.ROWS.encode(), stdout=out,
                              stderr=subprocess.PIPE)
        return done.returncode, done.stderr.decode()

    def test_a_reader_that_has_had_enough(self):
        for words in ((), ("--write", "explain")):
            ours, theirs = os.pipe()
            os.close(ours)
            try:
                self.assertEqual(self.run_it(theirs, *words), (0, ""))
            finally:
                os.close(theirs)

    @unittest.skipUnless(os.path.exists("/dev/full"), "no such device here")
    def test_a_full_disk_is_an_error(self):
        with open("/dev/full", "wb") as full:
            code, said = self.run_it(full)
        self.assertEqual(code, 2)
        self.assertRegex(said, "^lxplan: -: the output cannot be written: .*\\n$")


class Callbacks(unittest.TestCase):
    def test_progress_and_stop_are_called(self):
        asked, told = [], []
        options = lxplan.Options(solver="anneal", stop=lambda: asked.append(1), progress=lambda *what: told.append(what))
        hard().solve(options)
        self.assertTrue(asked)
        for steps, objective, bound in told:
            self.assertIsInstance(steps, int)
            self.assertLessEqual(bound, objective)

    def test_stop_ends_with_the_best(self):
        s = hard().solve(lxplan.Options(solver="anneal", stop=lambda: True))
        s.check()

    def test_an_exception_is_raised_after_the_call(self):
        def stop():
            raise RuntimeError("from the callback")

        options = lxplan.Options(solver="anneal", stop=stop)
        for _ in range(2):
            with self.assertRaisesRegex(RuntimeError, "from the callback"):
                hard().solve(options)
        self.assertEqual(hard().solve("solver=greedy").word("solver"), "greedy")

    def test_an_exception_stays_in_its_thread(self):
        barrier, caught = threading.Barrier(2), {}

        def stop():
            if threading.current_thread().name == "bad":
                raise RuntimeError("mine")
            return False

        def work(options):
            barrier.wait()
            try:
                caught[threading.current_thread().name] = hard(40).solve(options).objective
            except RuntimeError as why:
                caught[threading.current_thread().name] = str(why)

        threads = [threading.Thread(target=work, name=n, args=(lxplan.Options(solver="anneal", stop=stop),)) for n in ("bad", "good")]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        self.assertEqual(caught["bad"], "mine")
        self.assertIsInstance(caught["good"], float)


class Threads(unittest.TestCase):
    def test_ctrl_c_ends_a_solve(self):
        words = ("import lxplan, os, signal, sys, threading, time\n"
                 "p = lxplan.Placement('cost', 1)\n"
                 "p.pool('x', 100000)\n"
                 "for i in range(300): p.buffer(f'b{i}', 50 + i * 37 % 19000, i % 70, i % 70 + 5 + i % 11, 100 + i * i % 977)\n"
                 "threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()\n"
                 "begin = time.monotonic()\n"
                 "try: p.solve(solver='exact', time=60, **eval(sys.argv[1]))\n"
                 "except KeyboardInterrupt: print('ended', time.monotonic() - begin < 30)\n")
        for options in ("{}", "{'stop': lambda: False}"):
            said = subprocess.run([sys.executable, "-c", words, options], capture_output=True, text=True, timeout=120)
            self.assertEqual(said.stdout, "ended True\n", said.stderr)

    def test_results_are_read_by_name(self):
        with lxplan.Placement("cost", 1) as p:
            p.pool("LX", 100)
            p.buffers([40, 50, 60], [0, 1, 2], [3, 4, 5], [7, 8, 9])
            with p.solve(solver="exact") as s:
                rows = s.items("buffers")
                self.assertEqual([r["size"] for r in rows[1:]], [50, 60])
                self.assertEqual(rows[-1], {**rows[2]})
                self.assertIsInstance(rows[0]["address"], int)
                self.assertEqual(list(rows.column("size")), [40, 50, 60])
                columns = rows.columns()
                self.assertEqual(set(columns), set(rows.names))
                self.assertEqual(memoryview(columns["start"]).format, "q")
                self.assertEqual({len(c) for c in columns.values()}, {3})
                self.assertEqual(s.names["steps"], "integer")
                self.assertIn("optimal", repr(s))
                self.assertIn("3 buffers", repr(rows))
            self.assertIn("closed", repr(s))
            with self.assertRaises(TypeError):
                p.solve(lxplan.Options(), solver="exact")
            with self.assertRaises(lxplan.InvalidInput):
                p.solve(solver="nobody")
            with self.assertRaises(lxplan.NotLegal):
                p.check([0, 0, 0])

    def test_solves_run_side_by_side(self):
        """While one thread is inside a solve that asks us back, another gets its own solved."""
        alone = hard(30).solve().objective
        inside, done, answers = threading.Event(), threading.Event(), []

        def stop():
            inside.set()
            done.wait(30)
            return True

        first = threading.Thread(target=lambda: hard().solve(lxplan.Options(solver="anneal", stop=stop)))
        first.start()
        self.assertTrue(inside.wait(30))
        second = threading.Thread(target=lambda: (answers.append(hard(30).solve().objective), done.set()))
        second.start()
        second.join(60)
        first.join(60)
        self.assertEqual(answers, [alone])

    def test_eight_at_once_are_as_one(self):
        wanted = [hard(25, seed).solve().addresses for seed in range(8)]
        got = [None] * 8

        def work(k):
            for _ in range(3):
                got[k] = hard(25, k).solve().addresses

        threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        self.assertEqual(got, wanted)

    def test_the_error_of_a_thread_goes_with_it(self):
        freed = []
        native = _native.library()
        free = native.lx_error_free
        native.lx_error_free = lambda at: (freed.append(at), free(at))
        try:
            thread = threading.Thread(target=small)
            thread.start()
            thread.join()
            gc.collect()
        finally:
            native.lx_error_free = free
        self.assertEqual(len(freed), 1)

    def test_handles_are_freed(self):
        freed = []
        native = _native.library()
        free = native.lx_placement_free
        native.lx_placement_free = lambda at: (freed.append(at), free(at))
        try:
            for _ in range(5):
                small()
            gc.collect()
        finally:
            native.lx_placement_free = free
        self.assertEqual(len(freed), 5)


if __name__ == "__main__":
    unittest.main()
