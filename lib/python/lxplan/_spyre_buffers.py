"""What torch-spyre's buffers mean, and the rules that hold before any solver is asked."""

from __future__ import annotations

import os
import threading
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple

from ._options import Options


def is_intermediate(b: Any) -> bool:
    """Neither an input nor an output: its write counts as well. Without a `boundary`, what is computed is one."""
    boundary = getattr(b, "boundary", None)
    if boundary is None:
        return not b.first_use_is_read
    if boundary == 0 or getattr(boundary, "value", None) == 0:
        return True
    return str(getattr(boundary, "name", boundary)).lower() == "intermediate"


def spill_cost(b: Any) -> int:
    """Bytes that go through memory if it is not on chip and would not if it were."""
    served = b.read_count - (1 if b.first_use_is_read else 0) + (1 if is_intermediate(b) else 0)
    return max(0, served * b.size)


def refuse_planned(buffers: Sequence[Any]) -> None:
    for b in buffers:
        assert b.address is None, f"{b.name} already has the address {b.address}; a solver is given unplanned buffers"
        assert b.uses, f"{b.name} has no uses; nothing is known of its life"


def _divided(b: Any) -> bool:
    return bool(getattr(b, "core_divisions", None))


def _was_read(b: Any) -> bool:
    return bool(b.first_use_is_read) or len(b.uses) > 1


def in_place_edges(buffers: Sequence[Any]) -> List[Tuple[int, int]]:
    """(child, parent) by index; names that are not here are left out. ValueError where an edge breaks a rule."""
    if not any(b.in_place_parents for b in buffers):
        return []
    index: Dict[str, int] = {b.name: i for i, b in enumerate(buffers)}
    edges = []
    for child, b in enumerate(buffers):
        for name in b.in_place_parents:
            parent = index.get(name)
            if parent is not None:
                _check_edge(buffers[parent], b)
                edges.append((child, parent))
    return edges


def _check_edge(parent: Any, child: Any) -> None:
    pair = f"in-place pair {parent.name} -> {child.name}"
    if parent.end_time != child.start_time + 1:
        raise ValueError(f"{pair}: the parent's end {parent.end_time} is not the child's start {child.start_time} + 1")
    if not _was_read(parent):
        raise ValueError(f"{pair}: the parent is never read")
    if child.size > parent.size and not _divided(child) and not _divided(parent):
        raise ValueError(f"{pair}: the child's {child.size} bytes are more than the parent's {parent.size}")


def paired_groups(buffers: Sequence[Any]) -> List[List[int]]:
    """Groups that are placed all or none, by index."""
    if not any(getattr(b, "paired_with", None) for b in buffers):
        return []
    index = {id(b): i for i, b in enumerate(buffers)}
    groups = []
    for i, b in enumerate(buffers):
        members = {i} | {index[id(o)] for o in getattr(b, "paired_with", None) or () if id(o) in index}
        if len(members) > 1:
            groups.append(sorted(members))
    return groups


_kept = threading.local()


def options_of(given: Any) -> Options:
    """Options by keyword, else by the environment LXPLAN_OPTIONS="solver=auto,work=..."; made once a thread."""
    if isinstance(given, Options):
        return given
    text = given if isinstance(given, str) else os.environ.get("LXPLAN_OPTIONS", "")
    if given is not None and not isinstance(given, (str, Mapping)):
        raise TypeError(f"options are Options, a text or a mapping, not {type(given).__name__}")
    more = given if isinstance(given, Mapping) else {}
    key = (text, tuple(sorted((k, str(v)) for k, v in more.items())))
    cache: Dict[Any, Options] = _kept.__dict__.setdefault("options", {})
    if key not in cache:
        cache[key] = Options.parse(text, **more)
    return cache[key]


def displaced(i: int, lives: Any, sizes: Sequence[int], costs: Sequence[int], addresses: Sequence[Optional[int]],
              limit: int, alignment: int) -> Tuple[int, List[int]]:
    """The address at which buffer `i` would displace the least cost, and whom."""
    starts, ends = lives
    size, start, end = sizes[i], starts[i], ends[i]
    beside = [
        (a, a + sizes[k], costs[k], k)
        for k, a in enumerate(addresses)
        if a is not None and starts[k] < end and start < ends[k] and sizes[k] > 0
    ]
    tops = {-(-top // alignment) * alignment for _, top, _, _ in beside}
    best: Tuple[int, int, List[int]] = (1 << 62, 0, [])
    for at in sorted(tops | {0}):
        if at + size <= limit:
            hit = [(cost, k) for low, high, cost, k in beside if low < at + size and at < high]
            best = min(best, (sum(cost for cost, _ in hit), at, [k for _, k in hit]))
    return best[1], best[2]
