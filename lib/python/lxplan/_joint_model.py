"""Divisions and residency together: what torch-spyre's buffers say, as numbers and pairs.

Every buffer is what one op makes, and has the op's menu of divisions; one without a menu has a single choice. A buffer may be
on chip if every reader cuts it as its op does (a pair of the parent's choice and the reader's), or reads it through a copy
that is on chip: relayout copies are buffers too, each of one source and one view.
"""

from __future__ import annotations

from typing import Any, Dict, FrozenSet, List, Optional, Sequence, Tuple

from ._spyre_buffers import spill_cost

COPY = "__spyre_lx_relayout__:copy:"
Pair = Tuple[int, int]


class Copy:
    """A relayout copy: of whom, and per reader the pairs (source's choice, reader's) that it serves."""

    def __init__(self, index: int, source: int):
        self.index, self.source = index, source
        self.served: Dict[int, Dict[Pair, Any]] = {}

    @property
    def priced(self) -> FrozenSet[int]:
        return frozenset(i for pairs in self.served.values() for i, _ in pairs)

    def serves(self, reader: int, pair: Pair) -> bool:
        return pair in self.served.get(reader, ())


def _tiles(division: Any) -> int:
    tiling = getattr(division, "tiling", None)
    count = getattr(tiling, "output_tile_count", None)
    if count is not None:
        return int(count)
    parts = 1
    for axis in getattr(tiling, "axes", None) or ():
        parts *= 1 if axis.is_reduction else axis.count
    return parts


class Model:
    """The joint problem of a list of buffers. All lists are by buffer."""

    def __init__(self, buffers: Sequence[Any], limit: int, alignment: int, reasons: Sequence[Optional[str]],
                 edges: Sequence[Pair]):
        self.limit, self.alignment, self.count = limit, alignment, len(buffers)
        self.index = {b.name: i for i, b in enumerate(buffers)}
        self.names = [b.name for b in buffers]
        self.starts, self.ends = [b.start_time for b in buffers], [b.end_time for b in buffers]
        self.menus = [list(getattr(b, "core_divisions", None) or ()) for b in buffers]
        self.off = [0 if b.name.startswith(COPY) else spill_cost(b) for b in buffers]
        sizes = [0 if reason else b.size for b, reason in zip(buffers, reasons)]  # what must not be placed may have none
        self.bytes = [[-(-size // max(1, d.output_partition * _tiles(d))) for d in menu] or [size]
                      for size, menu in zip(sizes, self.menus)]
        self.cores = [[d.cores_used for d in menu] or [0] for menu in self.menus]
        self.squares = [[sum(f * f for f in d.splits.values()) for d in menu] or [0] for menu in self.menus]
        self.pairs: Dict[Pair, FrozenSet[Pair]] = {}
        self.readers: List[List[int]] = [[] for _ in buffers]
        self.parents_of: List[List[int]] = [[] for _ in buffers]
        for r, b in enumerate(buffers):
            for name in dict.fromkeys(getattr(b, "parents", None) or ()):
                self._add_reader(r, b, name)
        self.copies: Dict[int, Copy] = {}
        self.copies_of: List[List[Copy]] = [[] for _ in buffers]
        for r, b in enumerate(buffers):
            for name, candidates in (getattr(b, "cd_parent_relayouts", None) or {}).items():
                for candidate in candidates:
                    self._add_candidate(r, name, candidate)
        self.barred = [self._never(i, reason) for i, reason in enumerate(reasons)]
        self.handovers: List[List[int]] = [[] for _ in buffers]
        for child, parent in edges:
            if self._may_merge(child, parent):
                self.handovers[child].append(parent)

    def _add_reader(self, reader: int, b: Any, name: str) -> None:
        i = self.index.get(name)
        if i is None or i == reader:
            return
        matches = (getattr(b, "cd_parent_matches", None) or {}).get(name, ())
        self.readers[i].append(reader)
        self.parents_of[reader].append(i)
        self.pairs[i, reader] = frozenset(self._pair(i, reader, m[0], m[1]) for m in matches)

    def _pair(self, parent: int, reader: int, own: Any, other: Any) -> Pair:
        """Choices of both by index. ValueError: one is on no menu, and would be written as a division."""
        for i, choice in ((parent, own), (reader, other)):
            if not 0 <= choice < len(self.bytes[i]):
                raise ValueError(f"{self.names[reader]} names division {choice} of {self.names[i]}, "
                                 f"which has {len(self.bytes[i])} (its reading of {self.names[parent]})")
        return int(own), int(other)

    def _add_candidate(self, reader: int, parent: str, candidate: Any) -> None:
        at, source = self.index.get(f"{COPY}{parent}:g{candidate.group}"), self.index.get(parent)
        if at is None or source is None:
            return
        copy = self.copies.get(at)
        if copy is None:
            copy = self.copies[at] = Copy(at, source)
            self.copies_of[source].append(copy)
        pair = self._pair(source, reader, candidate.source_division, candidate.consumer_division)
        copy.served.setdefault(reader, {}).setdefault(pair, candidate)

    def _never(self, i: int, reason: Optional[str]) -> Optional[str]:
        if reason or not self.menus[i] or i in self.copies:
            return reason
        if self.names[i].startswith(COPY):
            return "nobody can read this copy"
        if not self.readers[i]:
            return "nobody on chip reads it"
        for r in self.readers[i]:
            if not self.pairs[i, r] and not any(r in c.served for c in self.copies_of[i]):
                return f"no division of {self.names[r]} agrees with one of its own"
        return None

    def _may_merge(self, child: int, parent: int) -> bool:
        """May the child take the parent's place under some choices? The library looks at bytes and pairs of each."""
        if self.barred[child] or self.barred[parent]:
            return False
        return (parent, child) in self.pairs or not (self.menus[child] or self.menus[parent])

    def bar_copies(self, why: str) -> None:
        for i in self.copies:
            self.barred[i] = self.barred[i] or why

    def agrees(self, i: int, r: int, x: Sequence[int], on: Sequence[bool]) -> bool:
        """Can reader r find buffer i on chip?"""
        pair = (x[i], x[r])
        return pair in self.pairs[i, r] or any(on[c.index] and c.serves(r, pair) for c in self.copies_of[i])
