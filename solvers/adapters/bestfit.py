#!/usr/bin/env python3
"""A solver in thirty lines: lxplan bench --suite fit -s cmd:solvers/adapters/bestfit.py,exact

Reads a MiniMalloc CSV and writes id,offset: again and again the place where the least is free below the roof that
the buffers so far have made, and into it the largest buffer that fits there."""
import csv, os, sys

height, capacity = os.environ["LXPLAN_OBJECTIVE"] == "height", int(os.environ["LXPLAN_CAPACITY"])
rows = [{k: int(v or 0) for k, v in row.items()} for row in csv.DictReader(sys.stdin)]
ticks = sorted({t for b in rows for t in (b["lower"], b["upper"])})
index = {t: i for i, t in enumerate(ticks)}
roof = [0] * len(ticks)  # per section between two ticks: the lowest free byte above all that is placed
todo = {b["id"]: b for b in sorted(rows, key=lambda b: (-b["size"] * (b["upper"] - b["lower"]), b["id"]))}

def sections(b):
    return range(index[b["lower"]], index[b["upper"]])

def lowest(b):
    step = b.get("alignment") or 1
    return -(-max((roof[s] for s in sections(b)), default=0) // step) * step

while todo:
    best = min(todo.values(), key=lambda b: (lowest(b), -b["size"]))
    at = lowest(best)
    del todo[best["id"]]
    if height or at + best["size"] <= capacity:
        print(f"{best['id']},{at}")
        for s in sections(best):
            roof[s] = at + best["size"]
