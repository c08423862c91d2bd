#!/usr/bin/env python3
"""Models, layer by layer, against their files; nothing in it is a test.

    python3 tests/measure/bench_layers.py build/bin/lxplan FOLDER [option of plan ...]

A row a model in the folder: ops; HBM megabytes of the plan; what the file's own arguments and results must cross
once (of a table the rows that are read, of a state what changes); their ratio; megabytes that copies move, and
their share; the predicted time; the larger of bytes at the memory's peak and arithmetic at the cores' peak, with
the plan's bytes and with those of the file; the ratios. A plan gets 60 seconds (--time).
"""
import json
import os
import statistics
import subprocess
import sys
import tempfile


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
    must, moved = notes["pattern"]["bytes that must cross"], plan["hbm_bytes"]
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
