#!/usr/bin/env python3
"""Models, layer by layer, against their files; nothing in it is a test.

    python3 tests/measure/bench_layers.py build/bin/lxplan FOLDER [option of plan ...]

A row a model in the folder: ops; HBM megabytes of the plan; what the file's own arguments and results must cross
once (of a table the rows that are read, of a state what changes); their ratio; megabytes that copies move, and
their share; the predicted time; the larger of bytes at the memory's peak and arithmetic at the cores' peak, with
the plan's bytes and with those of the file; the ratios. A plan gets 60 seconds (--time).
"""
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile

BITS = {"bool": 8, "bf16": 16, "fp8_e5m2": 8}


def dense(tensor):
    name = tensor["dtype"]
    bits = BITS.get(name) or int("".join(c for c in name if c.isdigit()))
    return bits / 8 * math.prod(tensor.get("shape", []))


def read_by(op, place, tensor, tensors):
    """Bytes that the op needs of an argument, and bytes that it changes."""
    whole = dense(tensor)
    if place == 0 and op.get("inplace") == 0 and len(op["inputs"]) > 1:
        return 0, min(whole, dense(tensors[op["inputs"][1]]))
    if place == 0 and op["kind"] in ("gather", "dynamic_slice", "slice"):
        return min(whole, dense(tensors[op["output"]])), 0
    return whole, 0


def must_cross(pattern):
    tensors = {t["name"]: t for t in pattern["tensors"]}
    total = 0
    for t in pattern["tensors"]:
        role = t.get("role")
        if role == "output":
            total += dense(t)
        elif role in ("input", "weight", "state"):
            uses = [read_by(op, i, t, tensors) for op in pattern["ops"]
                    for i, name in enumerate(op.get("inputs", [])) if name == t["name"]]
            total += max((r for r, _ in uses), default=0) + max((w for _, w in uses), default=0)
    return total


def run(command):
    return subprocess.run(command, capture_output=True, text=True, timeout=120)


def row(program, path, options, scratch):
    pattern, report, plan = (os.path.join(scratch, name) for name in ("pattern", "report", "plan"))
    done = run([program, "import", path, "-o", pattern, "--report", report])
    if done.returncode == 0:
        done = run([program, "plan", path, "--time", "60", "-o", plan, *options])
    if not os.path.exists(plan):
        return None, (done.stderr.strip().splitlines() or ["no plan"])[0]
    with open(pattern) as a, open(report) as b, open(plan) as c:
        pattern, notes, plan = json.load(a), json.load(b)["notes"], json.load(c)
    graph, device = plan["graph"], plan["graph"]["device"]
    must, moved = must_cross(pattern), plan["hbm_bytes"]
    kinds = {op["name"]: op["kind"] for op in pattern["ops"]}
    copied = sum(op["hbm_read"] + op["hbm_written"] for op in graph["ops"]
                 if kinds.get(op["name"]) in ("reshape", "clone"))
    flops = notes.get("flops of the pattern", 0) + 2 * notes.get("macs of the pattern", 0)
    work = flops / (device["peak_gflop_per_s"] * device["cores"] * 1e3)
    least, least_of_file = (max(b / (device["hbm_gb_per_s"] * 1e3), work) for b in (moved, must))
    us = graph.get("end_to_end_us", 0)
    return (len(pattern["ops"]), moved / 1e6, must / 1e6, moved / must, copied / 1e6, 100 * copied / moved,
            us / 1e3, least / 1e3, us / least, us / least_of_file), None


def main():
    program, folder, options = sys.argv[1], sys.argv[2], sys.argv[3:]
    heads = ("ops", "MB", "file must", "ratio", "copied", "%", "ms", "peak ms", "ratio", "of file")
    form = "%-36s %5d %9.1f %9.1f %6.2f %7.1f %5.1f %8.2f %8.2f %6.2f %7.2f"
    print("%-36s %5s %9s %9s %6s %7s %5s %8s %8s %6s %7s" % ("file", *heads))
    ratios = []
    for name in sorted(os.listdir(folder)):
        with tempfile.TemporaryDirectory() as scratch:
            figures, wrong = row(program, os.path.join(folder, name), options, scratch)
        print(form % (name, *figures) if figures else "%-36s %s" % (name, wrong), flush=True)
        if figures:
            ratios.append((figures[3], figures[8]))
    if ratios:
        print("median ratio of bytes %.2f, of times %.2f; worst %.2f, %.2f" % (
            *(statistics.median(r[i] for r in ratios) for i in (0, 1)), *(max(r[i] for r in ratios) for i in (0, 1))))


main()
