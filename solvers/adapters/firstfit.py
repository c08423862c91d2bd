#!/usr/bin/env python3
"""Reads a MiniMalloc CSV and writes id,offset: largest first, each as low as it can be."""
import csv, os, sys

capacity = int(os.environ["LXPLAN_CAPACITY"])
rows = [{k: int(v or 0) for k, v in row.items()} for row in csv.DictReader(sys.stdin)]
placed = []
for b in sorted(rows, key=lambda b: -b["size"] * (b["upper"] - b["lower"])):
    step, at = b.get("alignment") or 1, 0
    for low, high, lower, upper in sorted(placed):
        if lower < b["upper"] and b["lower"] < upper and low < at + b["size"] and at < high:
            at = -(-high // step) * step
    if os.environ["LXPLAN_OBJECTIVE"] == "height" or at + b["size"] <= capacity:
        placed.append((at, at + b["size"], b["lower"], b["upper"]))
        print(f"{b['id']},{at}")
