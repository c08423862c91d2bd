#!/usr/bin/env python3
"""Captured joint problems under made-up costs; nothing in it is a test.

    LXPLAN_LIBRARY=build/liblxplan.so.0 PYTHONPATH=lib/python:tests/python:tests/measure \\
        python3 tests/measure/bench_joint_costs.py FILE.json ...

A term per op: what it computes over the cores that it uses, against what it moves through memory, whichever is longer, and a
price of idle cores; with copies also relayouts between cuts that differ, each with a price by its source's division. Printed are
the value found, the bound, the gap and the seconds; every answer is verified, and its value taken from the expression."""

import json
import random
import sys
import time

import joint_stub
import spyre_stub as stub
import lxplan.torch_spyre as drop_in
from bench_python import LIMIT, joint_buffers
from lxplan import _cost_expression as expression

SOLVER = drop_in.bind(stub.make("new"))[1]


def number(value):
    return f"Float('{value:.6f}', precision=53)"


def bit(b):
    return f"Symbol('is_lx_{b.name}', integer=True)"


def off(b):
    return f"Add(Integer(1), Mul(Integer(-1), {bit(b)}))"


def split(b, key):
    return f"Symbol('split_{b.name}_{key}', positive=True)"


def op_term(draw, b, by_name):
    """Time of one op in nanoseconds."""
    keys = sorted({k for d in b.core_divisions for k in d.splits})
    work = b.size * draw.uniform(0.02, 0.6)
    compute = f"Mul({number(work)}, {', '.join(f'Pow({split(b, k)}, Integer(-1))' for k in keys)})" if keys else number(work)
    moved = [f"Mul({number(b.size * draw.uniform(0.005, 0.03))}, {off(b)})"]
    for name in b.parents:
        if name in by_name:
            moved.append(f"Mul({number(by_name[name].size * draw.uniform(0.005, 0.03))}, {off(by_name[name])})")
    memory = f"Add({', '.join(moved)}, Integer(0))"
    extra = [f"Mul({number(draw.uniform(1, 40))}, Pow({split(b, k)}, Rational(1, 2)))" for k in keys]
    return f"Add(Max({compute}, {memory}), {', '.join(extra + ['Integer(0)'])})"


def add_copies(draw, buffers):
    """A group per cut of a reader's that no cut of the source is, for some of the edges."""
    by_name, copies = {b.name: b for b in buffers}, {}
    for r in buffers:
        for name in r.parents:
            source = by_name.get(name)
            if source is None or draw.random() < 0.4:
                continue
            pairs = {tuple(p) for p in r.cd_parent_matches.get(name, ())}
            views = {}
            for j in range(len(r.core_divisions)):
                views.setdefault(frozenset(i for i, k in pairs if k == j), []).append(j)
            listed = []
            for g, (own, choices) in enumerate(sorted(views.items(), key=lambda v: v[1])[:3]):
                others = [i for i in range(len(source.core_divisions)) if i not in own and draw.random() < 0.7]
                listed += [stub.RelayoutCandidate(name, r.name, i, j, g, cost_ns=1.0) for i in others for j in choices]
                copy = copies.setdefault(f"{stub.COPY}{name}:g{g}", (source, g, set()))
                copy[2].add(r.uses[0])
            r.cd_parent_relayouts[name] = listed
    made = []
    for name, (source, _, ticks) in copies.items():
        parts = draw.choice([8, 16, 32])
        made.append(stub.RelayoutCopyBuffer(name, source.size, sorted(ticks), core_divisions=[stub.CoreDivision({"c0": parts})]))
    return buffers + made


def made_up(draw, buffers):
    by_name = {b.name: b for b in buffers}
    terms = [op_term(draw, b, by_name) for b in buffers if not b.name.startswith(stub.COPY)]
    for name, (source, _) in joint_stub.candidates(buffers).items():
        if name in by_name:
            prices = ", ".join(number(by_name[source].size * draw.uniform(0.001, 0.01)) for _ in by_name[source].core_divisions)
            terms.append(f"RelayoutCharge({bit(by_name[name])}, Symbol('division_{source}'), {prices})")
    return f"Add({', '.join(terms)})"


def value_of(text, buffers):
    tree = expression.tree_of(text)
    names = sorted(expression.symbols(tree))
    values = {}
    for b in buffers:
        values[f"is_lx_{b.name}"] = float(b.address is not None)
        values[f"division_{b.name}"] = float(b.chosen_division)
        for key in {k for d in b.core_divisions for k in d.splits}:
            values[f"split_{b.name}_{key}"] = float(b.core_divisions[b.chosen_division].splits.get(key, 1))
    return sum(expression.function(t, n)(*(values[k] for k in n)) for t in expression.terms(tree)
               for n in [sorted(expression.symbols(t))]), names


def one(name, inputs, seed, copies):
    draw = random.Random(f"{name} {seed}")
    buffers = joint_buffers(inputs)
    if copies:
        buffers = add_copies(draw, buffers)
    text = made_up(draw, buffers)
    solver = SOLVER(buffers, LIMIT)
    start = time.perf_counter()
    solver.plan_layout_and_core_divisions(text)
    seconds = time.perf_counter() - start
    joint_stub.verify(buffers, LIMIT)
    value, _ = value_of(text, buffers)
    assert abs(value - solver.objective) <= 1e-9 * abs(value), (value, solver.objective)
    print(f"{name:16} {seed:4} {'copies' if copies else '-':6} {len(buffers):4} {value:16.2f} {solver.bound:16.2f} {100 * solver.gap:8.3f} % "
          f"{solver.status:9} {seconds:8.2f} s", flush=True)


def main():
    for path in sys.argv[1:]:
        with open(path) as file:
            found = json.load(file)
        for name, graph in found.items():
            for seed, copies in ((0, False), (1, True)):
                one(name, graph[0]["inputs"], seed, copies)


if __name__ == "__main__":
    main()
