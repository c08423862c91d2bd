#!/usr/bin/env python3
"""OmniMalloc as a solver: lxplan bench FILE -s cmd:solvers/adapters/supermalloc.py,exact (pip install omnimalloc).

Reads a MiniMalloc CSV and writes id,offset. It places all or nothing; OMNIMALLOC names another of its allocators."""
import csv, os, sys
import omnimalloc as om

rows = [{k: int(v or 0) for k, v in row.items()} for row in csv.DictReader(sys.stdin)]
step = max([b.get("alignment") or 1 for b in rows], default=1)  # all sizes and addresses become multiples of it
pool = om.Pool(id="pool", allocations=tuple(
    om.Allocation(id=b["id"], size=-(-b["size"] // step) or 1, start=b["lower"], end=b["upper"]) for b in rows))
pool = om.allocate(pool, allocator=os.environ.get("OMNIMALLOC", "supermalloc"), validate=True)
if os.environ["LXPLAN_OBJECTIVE"] == "height" or pool.size * step <= int(os.environ["LXPLAN_CAPACITY"]):
    for a in pool.allocations:
        print(f"{a.id},{a.offset * step}")
