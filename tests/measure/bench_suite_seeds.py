#!/usr/bin/env python3
"""Is `auto` tuned to the suite? The same lists with other seeds, and the mean gap on both.

    python3 tests/measure/bench_suite_seeds.py [--seeds N] [--work N] [--most BUFFERS] PROGRAM [CLASS ...]

Takes the instances of fit, height and spill (or of the classes) that a generator makes, up to BUFFERS buffers (1000), gives each N other
seeds (1), and runs `auto` on all of them with so many steps (20000), so that the result is the same everywhere. Exit code 1: the mean gap
on the other seeds is more than a tenth, and a hundredth of the bound, above that on the suite."""

import argparse
import glob
import json
import os
import subprocess
import sys
import tempfile

options = argparse.ArgumentParser()
options.add_argument("--seeds", type=int, default=1)
options.add_argument("--work", type=int, default=20000)
options.add_argument("--most", type=int, default=1000)
options.add_argument("program")
options.add_argument("classes", nargs="*")
asked = options.parse_args()


def gaps(files, folder):
    """Mean gap of auto, and how many have one."""
    results = os.path.join(folder, "results.jsonl")
    subprocess.run([asked.program, "bench", *files, "-s", "auto", "--work", str(asked.work), "-o", results, "--force", "-q"], check=True)
    rows = [json.loads(line) for line in open(results)][1:]
    known = [(r["value"] - r["bound"]) / r["bound"] for r in rows if r["value"] is not None and r["bound"]]
    return sum(known) / len(known), len(known)


root = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../patterns/suite")
own, other = [], []
with tempfile.TemporaryDirectory() as folder:
    for path in sorted(p for c in asked.classes or ["height", "spill"] for p in glob.glob(f"{root}/{c}/*.instance")):
        instance = json.load(open(path))
        words = instance["origin"]
        if words[0] != "gen" or "--seed" not in words or instance["buffers"] > asked.most:
            continue
        for k in range(asked.seeds + 1):
            at = words.index("--seed") + 1
            changed = words[:at] + [str(int(words[at]) + 100000 * k)] + words[at + 1 :]
            name = os.path.join(folder, f"{instance['class']}_{instance['name']}_{k}.json")
            subprocess.run([os.path.abspath(asked.program), *changed, "-o", name], check=True)
            (other if k else own).append(name)
    before, count = gaps(own, folder)
    after, others = gaps(other, folder)
print(f"suite: mean gap {100 * before:.3f} % of {count}; other seeds: {100 * after:.3f} % of {others}")
sys.exit(after > before * 1.1 + 0.01)
