#!/usr/bin/env python3
"""What the Python module costs and finds; nothing in it is a test.

    LXPLAN_LIBRARY=build/liblxplan.so.0 PYTHONPATH=lib/python:tests/python python3 tests/measure/bench_python.py [FILE.json ...]

Without a file: microseconds of a call of Placement by number of buffers, without those inside lx_solve. With files of captured
problems (placement problems, or joint ones with a reference): every point through the drop-in for torch-spyre, each answer
verified pair by pair, how many are proved, and none above the best reference; medians of times and of what Python adds."""

import json
import statistics
import sys
import time

import joint_stub
import spyre_stub as stub
import lxplan
import lxplan.torch_spyre as drop_in

LIMIT = 1625344


class Inside:
    """Counts the seconds inside a function of the library."""

    def __init__(self, name):
        self.seconds, self.native, self.name = 0.0, lxplan._native.library(), name
        self.function = getattr(self.native, name)
        setattr(self.native, name, self)

    def __call__(self, *arguments):
        start = time.perf_counter()
        result = self.function(*arguments)
        self.seconds += time.perf_counter() - start
        return result


def one_call(count):
    sizes, starts, ends = [64] * count, list(range(count)), [k + 2 for k in range(count)]
    p = lxplan.Placement("cost", 64)
    p.pool("LX", 1 << 30)
    p.buffers(sizes, starts, ends, sizes)
    s = p.solve(OPTIONS)
    return s.addresses, s.status


def overhead(inside):
    print(f"{'buffers':>8} {'us, median':>11} {'30 + 2 each':>12}")
    for count in (1, 10, 100, 1000):
        seconds = []
        for _ in range(300):
            inside.seconds, start = 0.0, time.perf_counter()
            one_call(count)
            seconds.append(time.perf_counter() - start - inside.seconds)
        print(f"{count:8} {1e6 * statistics.median(seconds):11.1f} {30 + 2 * count:12}")


def placement_buffers(listed):
    """With their place in the graph, so that they cost what the file says."""
    boundaries = {b.name.lower(): b for b in stub.BufferType}
    found = [stub.CoreDivisionBuffer(b["name"], b["size"], b["uses"], b["first_use_is_read"], None, list(b["in_place_parents"]),
                                     b["residency_reason"], boundary=boundaries[b["boundary"]]) for b in listed]
    assert [stub.spill_cost(b) for b in found] == [b["spill_cost"] for b in listed], "other costs than the file's"
    return found


def placement_points(instances, inside):
    solver = drop_in.bind(stub.make("new"))[0]
    proved = above = 0
    totals, added = [], []
    for instance in instances.values():
        for point in instance["reference"].values():
            buffers = placement_buffers(instance["buffers"])
            one = solver(buffers, point["capacity"])
            inside.seconds, start = 0.0, time.perf_counter()
            one.plan_layout()
            totals.append(time.perf_counter() - start)
            added.append(totals[-1] - inside.seconds)
            stub.verify(buffers, point["capacity"], 128)
            lost = sum(stub.spill_cost(b) for b in buffers if b.address is None)
            proved += one.status == "optimal" and lost == one.objective == one.bound
            above += lost > min(r["spill_cost"] for r in point["results"].values())
    print(f"{len(totals)} points: {proved} proved optimal, {above} above the best reference; median {1e3 * statistics.median(totals):.3f} ms, "
          f"of which outside of lx_solve {1e3 * statistics.median(added):.3f} ms")


def division(d):
    outputs = {"o" + k: v for k, v in d["output_splits"].items()}
    sums = {"r" + k: v for k, v in d["reduction_splits"].items()}
    return stub.CoreDivision({**outputs, **sums}, frozenset(sums))


def joint_buffers(inputs):
    """Captures mark every buffer as read first though all are computed; they are taken as computed."""
    return [stub.CoreDivisionBuffer(b["name"], b["size"], b["uses"], False, None, list(b["in_place_parents"]), b["residency_reason"],
                                    core_divisions=[division(d) for d in b["core_divisions"]], parents=list(b["parents"]),
                                    cd_parent_matches={k: [tuple(p) for p in m] for k, m in b["cd_parent_matches"].items()})
            for b in inputs]


def joint_point(name, one):
    theirs, ours = joint_buffers(one["inputs"]), joint_buffers(one["inputs"])
    solved = {s["name"]: s for s in one["solved"]}
    for b in theirs:
        b.chosen_division = solved[b.name]["chosen_division"]
        b.address = solved[b.name]["address"] if solved[b.name]["resident"] else None
    joint_stub.verify(theirs, LIMIT)
    solver = drop_in.bind(stub.make("new"))[1](ours, LIMIT)
    start = time.perf_counter()
    solver.plan_layout_and_core_divisions()
    seconds = time.perf_counter() - start
    joint_stub.verify(ours, LIMIT)
    mine, reference = joint_stub.default_value(ours), joint_stub.default_value(theirs)
    print(f"{name:16} {len(ours):4} {reference[0]:12} {mine[0]:12} {solver.bound:14.0f} {solver.status:9} {1e3 * seconds:9.1f} ms  "
          f"{'reached' if mine <= reference else 'WORSE'}")


def main():
    inside = Inside("lx_solve")
    if len(sys.argv) == 1:
        overhead(inside)
    for path in sys.argv[1:]:
        with open(path) as file:
            found = json.load(file)
        if "instances" in found:
            placement_points(found["instances"], inside)
            continue
        print(f"{'capture':16} {'ops':>4} {'reference':>12} {'ours':>12} {'bound':>14}")
        for name, graph in found.items():
            joint_point(name, graph[0])


if __name__ == "__main__":
    OPTIONS = lxplan.Options()
    main()
