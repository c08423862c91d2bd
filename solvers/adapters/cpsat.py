#!/usr/bin/env python3
"""OR-Tools' CP-SAT as a solver: lxplan bench FILE -s cmd:solvers/adapters/cpsat.py,exact (pip install ortools).

Reads a MiniMalloc CSV and writes id,offset; its model was solved by CP-SAT's WebAssembly build, with the Python package by
nobody yet. Sizes and addresses are counted in the common alignment."""
import csv, os, sys
from math import gcd
from ortools.sat.python import cp_model

goal, limit = os.environ["LXPLAN_OBJECTIVE"], os.environ["LXPLAN_TIME"]
rows = [{k: int(v or 0) for k, v in row.items()} for row in csv.DictReader(sys.stdin)]
step = 0
for b in rows:
    step = gcd(step, b.get("alignment") or gcd(b["size"], int(os.environ["LXPLAN_CAPACITY"])) or 1)
step = step or 1
units = [-(-b["size"] // step) for b in rows]
top = sum(units) if goal == "height" else int(os.environ["LXPLAN_CAPACITY"]) // step

model = cp_model.CpModel()
on, at, wide, high = [], [], [], []
for b, u in zip(rows, units):
    placed = model.NewBoolVar("")
    address = model.NewIntVar(0, max(top - u, 0), "")
    if goal != "spill":
        model.Add(placed == 1)
    if u > top:
        model.Add(placed == 0)
    multiple = (b.get("alignment") or step) // step
    if multiple > 1:
        model.AddModuloEquality(0, address, multiple)
    if b.get("offset", -1) >= 0 and "offset" in b:
        model.Add(address == b["offset"] // step)
    on.append(placed)
    at.append(address)
    wide.append(model.NewOptionalFixedSizeIntervalVar(b["lower"], b["upper"] - b["lower"], placed, ""))
    high.append(model.NewOptionalFixedSizeIntervalVar(address, u, placed, ""))
model.AddNoOverlap2D(wide, high)
if goal == "height":
    height = model.NewIntVar(0, top, "")
    for a, u in zip(at, units):
        model.Add(height >= a + u)
    model.Minimize(height)
elif goal == "spill":
    model.Maximize(sum(b.get("weight", b["size"]) * p for b, p in zip(rows, on)))

solver = cp_model.CpSolver()
solver.parameters.num_workers = 1
solver.parameters.random_seed = int(os.environ["LXPLAN_SEED"]) % 2**31
if limit:
    solver.parameters.max_time_in_seconds = 0.9 * float(limit)
if solver.Solve(model) in (cp_model.OPTIMAL, cp_model.FEASIBLE):
    for b, p, a in zip(rows, on, at):
        if solver.Value(p):
            print(f"{b['id']},{solver.Value(a) * step}")
