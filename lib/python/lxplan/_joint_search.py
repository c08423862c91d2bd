"""Searches divisions and residency for the least sum of exact tables.

Depth first over the buffers in the order of time, copies behind their readers; a node's bound is the sum over the tables of
their least entry under what is decided, so that it only rises on the way down. Whoever is on chip must agree with its readers
and leave room for the others at every tick; addresses are asked of the placement solver at the leaves, and what does not fit
is repaired by leaving out what costs least. Between, answers are improved by changing one or two choices at a time.
Limits count steps: the same problem has the same answer everywhere. If the search ends by itself, the answer is the best.
"""

from __future__ import annotations

import itertools
from typing import Any, Dict, List, Optional, Sequence, Tuple

from ._cost_tables import Table
from ._joint_model import Model
from ._placement import Placement

WORK = 150_000  # steps of the search by default: some seconds at most
CLOSE = 1e-12  # what is not better by this share is no better: sums of doubles differ by their order

State = Tuple[int, bool]


class Projected:
    """A table with its axes in the order of the search, and its least entries below every beginning of them."""

    def __init__(self, table: Table, depth: Sequence[int]):
        axes = table.axes
        order = sorted(range(len(axes)), key=lambda k: (depth[axes[k].buffer], axes[k].kind))
        sizes = [axes[k].size for k in order]
        strides = [1] * len(axes)
        for k in range(len(axes) - 2, -1, -1):
            strides[k] = strides[k + 1] * axes[k + 1].size
        values = [table.values[sum(p * strides[k] for p, k in zip(position, order))]
                  for position in itertools.product(*map(range, sizes))]
        self.axes = [axes[k] for k in order]
        self.least = [values]
        for size in reversed(sizes):
            below = self.least[0]
            self.least.insert(0, [min(below[i:i + size]) for i in range(0, len(below), size)])

    def root(self) -> Any:
        return self.least[0][0]


class Touch:
    """What a buffer decides in one table: the axes that are its own."""

    __slots__ = ("table", "axes", "before", "least")

    def __init__(self, number: int, projected: Projected, buffer: int):
        first = next(k for k, a in enumerate(projected.axes) if a.buffer == buffer)
        self.table = number
        self.axes = [a for a in projected.axes if a.buffer == buffer]
        self.before, self.least = projected.least[first], projected.least[first + len(self.axes)]

    def position(self, before: int, state: State) -> int:
        for axis in self.axes:
            before = before * axis.size + axis.classes[state[0] if axis.kind == "x" else int(state[1])]
        return before


class Search:
    """One search. `best` is (value, choices, bits, addresses)."""

    def __init__(self, model: Model, tables: Sequence[Table], work: int = WORK, options: Any = None):
        self.model, self.tables, self.work, self.options = model, list(tables), work, options
        self.steps = 0
        self.complete = True
        self.best: Optional[Tuple[Any, List[int], List[bool], List[Optional[int]]]] = None
        self.order = self._order()
        self.depth = [0] * model.count
        for d, i in enumerate(self.order):
            self.depth[i] = d
        self.touches: List[List[Touch]] = [[] for _ in range(model.count)]
        self.tables_of: List[List[Table]] = [[] for _ in range(model.count)]
        self.root: Any = 0
        self.bound: Any = None
        for number, table in enumerate(self.tables):
            self._add(number, table)
        self.states = [self._states(i) for i in range(model.count)]
        self.fits: Dict[Any, Tuple[Optional[List[Optional[int]]], bool]] = {}

    def _order(self) -> List[int]:
        m = self.model
        times = [(m.starts[i], i) for i in range(m.count)]
        for copy in m.copies.values():
            last = max([times[r] for r in copy.served] + [times[copy.source]])
            times[copy.index] = (last[0], last[1] + m.count + copy.index)
        return sorted(range(m.count), key=lambda i: times[i] + (i,))

    def _add(self, number: int, table: Table) -> None:
        projected = Projected(table, self.depth)
        self.root += projected.root()
        for buffer in {a.buffer for a in projected.axes}:
            self.touches[buffer].append(Touch(number, projected, buffer))
            self.tables_of[buffer].append(table)

    def _states(self, i: int) -> List[State]:
        m = self.model
        states = [(x, False) for x in range(len(m.bytes[i]))]
        if not m.barred[i]:
            states += [(x, True) for x, size in enumerate(m.bytes[i]) if size <= m.limit]
        return states

    # Whole answers.

    def value(self, x: Sequence[int], on: Sequence[bool]) -> Any:
        return sum((t.at(x, on) for t in self.tables), self.root * 0)

    def _better(self, value: Any) -> bool:
        return self.best is None or value < self.best[0] - abs(self.best[0]) * CLOSE

    def _addresses(self, x: Sequence[int], on: Sequence[bool]) -> Tuple[Optional[List[Optional[int]]], bool]:
        m = self.model
        merges = tuple((c, p) for c, p in m.edges if on[c] and on[p] and m.merges(c, p, x))
        key = (tuple((i, m.bytes[i][x[i]]) for i in range(m.count) if on[i]), merges)
        if key not in self.fits:
            self.steps += 50
            self.fits[key] = m.addresses(x, on, self.options)
        return self.fits[key]

    def offer(self, x: Sequence[int], on: Sequence[bool], value: Any = None) -> bool:
        """Takes an answer that is legal but for addresses, if it is better and fits."""
        value = self.value(x, on) if value is None else value
        if not self._better(value):
            return False
        addresses, known = self._addresses(x, on)
        if addresses is None:
            self.complete &= known
            self._repair(list(x), list(on))
            return False
        self.best = (value, list(x), list(on), addresses)
        return True

    def _repair(self, x: List[int], on: List[bool]) -> None:
        """Leaves out what costs least until the rest fits."""
        m = self.model
        members = [i for i in range(m.count) if on[i]]
        with Placement("cost", m.alignment) as problem:
            m.add_members(problem, members, x, self._worth(x, on, members))
            with problem.solve(self.options) as answer:
                places = answer.addresses
        for i, at in zip(members, places):
            on[i] = at is not None
        self._drop_illegal(x, on)
        value = self.value(x, on)
        if self._better(value):
            addresses, _ = self._addresses(x, on)
            if addresses is not None:
                self.best = (value, x, on, addresses)

    def _worth(self, x: List[int], on: List[bool], members: Sequence[int]) -> List[int]:
        lost = []
        for i in members:
            here = sum(t.at(x, on) for t in self.tables_of[i])
            on[i] = False
            lost.append(max(0, sum(t.at(x, on) for t in self.tables_of[i]) - here))
            on[i] = True
        most = max(lost, default=0)
        return [1 + (int(v * 1e9 / most) if most else 0) for v in lost]

    def _drop_illegal(self, x: Sequence[int], on: List[bool]) -> None:
        m, changed = self.model, True
        while changed:
            changed = False
            for i in range(m.count):
                if not on[i]:
                    continue
                copy = m.copies.get(i)
                fine = (all(m.agrees(i, r, x, on) for r in m.readers[i]) if copy is None
                        else on[copy.source] and m.serves_somebody(copy, x))
                if not fine:
                    on[i], changed = False, True

    # Improving an answer by one or two choices.

    def improve(self) -> None:
        """Goes downhill from the best answer until nothing helps or a part of the work is done."""
        until = self.steps + self.work // 3
        while self.best and self.steps < until and self._improved(until):
            pass

    def _improved(self, until: int) -> bool:
        for changes in self._moves():
            if self.steps >= until or self.best is None:
                return False
            if self._try(changes):
                return True
        return False

    def _moves(self) -> Any:
        m = self.model
        for i in range(m.count):
            for state in self.states[i]:
                yield {i: state}
        for (p, r), pairs in m.pairs.items():
            if not m.barred[p]:
                for a, b in sorted(pairs):
                    yield {p: (a, True), r: (b, None)}
        for copy in m.copies.values():
            if not m.barred[copy.index] and not m.barred[copy.source]:
                for r, served in copy.served.items():
                    for a, b in sorted(served):
                        yield {copy.source: (a, True), r: (b, None), copy.index: (0, True)}

    def _try(self, changes: Dict[int, Any]) -> bool:
        assert self.best is not None
        self.steps += 1
        x, on = list(self.best[1]), list(self.best[2])
        for i, (choice, bit) in changes.items():
            x[i] = choice
            on[i] = on[i] if bit is None else bit
        if x == self.best[1] and on == self.best[2]:
            return False
        self._drop_illegal(x, on)
        return self._better(self.value(x, on)) and self.offer(x, on)

    # Depth first.

    def run(self, starts: Sequence[Tuple[List[int], List[bool]]] = ()) -> None:
        """Searches from these answers, and then everything."""
        m = self.model
        self.offer([0] * m.count, [False] * m.count)
        for x, on in starts:
            if m.legal(x, on):
                self.offer(x, on)
        self.improve()
        Walk(self).run()
        self.improve()


class Walk:
    """The walk down and up again, with what is decided so far."""

    def __init__(self, search: Search):
        self.s, m = search, search.model
        self.x, self.on = [0] * m.count, [False] * m.count
        self.known = [False] * m.count
        self.at = [0] * len(search.tables)
        ticks = sorted(set(m.starts) | set(m.ends))
        number = {t: k for k, t in enumerate(ticks)}
        children = {c for c, _ in m.edges}
        # A child may take over its parent's place, so that its first tick need not be counted.
        after = [number[m.starts[i]] + 1 if i in children else number[m.starts[i]] for i in range(m.count)]
        self.span = [range(after[i], number[m.ends[i]]) for i in range(m.count)]
        self.load = [0] * len(ticks)

    def run(self) -> None:
        s, frames = self.s, []
        bound = s.root
        frames.append((bound, self._children(0, bound), None))
        limit = s.steps + s.work
        while frames:
            depth = len(frames) - 1
            _, children, undo = frames[-1]
            if not children or s.steps > limit or not s._better(children[-1][0]):
                frames.pop()
                if children and s._better(children[-1][0]):
                    self._left(children[-1][0])
                if undo:
                    self._undo(undo)
                continue
            bound, state = children.pop()
            undo = self._decide(s.order[depth], state)
            if depth + 1 == s.model.count:
                s.offer(self.x, self.on, bound)
                self._undo(undo)
            else:
                frames.append((bound, self._children(depth + 1, bound), undo))
        assert s.best is not None  # all off is always one
        s.bound = s.best[0] if s.bound is None else min(s.bound, s.best[0])

    def _left(self, bound: Any) -> None:
        """Something was not looked at: no answer is below the least of these."""
        self.s.complete = False
        self.s.bound = bound if self.s.bound is None else min(self.s.bound, bound)

    def _children(self, depth: int, bound: Any) -> List[Tuple[Any, State]]:
        """What the next buffer may be, the best last."""
        s = self.s
        if depth >= s.model.count:
            return []
        i = s.order[depth]
        found = []
        for state in s.states[i]:
            s.steps += 1
            rise = bound
            for t in s.touches[i]:
                rise += t.least[t.position(self.at[t.table], state)] - t.before[self.at[t.table]]
            if s._better(rise) and self._allowed(i, state):
                found.append((rise, state))
        found.sort(key=lambda child: (child[0], not child[1][1]), reverse=True)
        return found

    def _decide(self, i: int, state: State) -> Tuple[int, List[Tuple[int, int]]]:
        s = self.s
        before = [(t.table, self.at[t.table]) for t in s.touches[i]]
        for t in s.touches[i]:
            self.at[t.table] = t.position(self.at[t.table], state)
        self.x[i], self.on[i] = state
        self.known[i] = True
        self._weigh(i, 1)
        return i, before

    def _undo(self, undo: Tuple[int, List[Tuple[int, int]]]) -> None:
        i, before = undo
        self._weigh(i, -1)
        for table, at in before:
            self.at[table] = at
        self.known[i], self.on[i] = False, False

    def _weigh(self, i: int, sign: int) -> None:
        if self.on[i]:
            size = sign * self.s.model.bytes[i][self.x[i]]
            for t in self.span[i]:
                self.load[t] += size

    def _allowed(self, i: int, state: State) -> bool:
        m, (choice, bit) = self.s.model, state
        if bit:
            room = m.limit - m.bytes[i][choice]
            if any(self.load[t] > room for t in self.span[i]):
                return False
        copy = m.copies.get(i)
        self.x[i], self.on[i], self.known[i] = choice, bit, True
        fine = self._copy_fits(copy) if copy is not None else self._neighbours_fit(i)
        self.known[i], self.on[i] = False, False
        return fine

    def _copy_fits(self, copy: Any) -> bool:
        m = self.s.model
        if self.on[copy.index]:
            return self.on[copy.source] and m.serves_somebody(copy, self.x)
        return not self.on[copy.source] or all(self._reads(copy.source, r) for r in m.readers[copy.source])

    def _neighbours_fit(self, i: int) -> bool:
        m = self.s.model
        if self.on[i] and not all(self._reads(i, r) for r in m.readers[i] if self.known[r]):
            return False
        return all(self._reads(p, i) for p in m.parents_of[i] if self.known[p] and self.on[p])

    def _reads(self, i: int, r: int) -> bool:
        """Does the reader find it on chip, or may a copy that is not decided yet help?"""
        m = self.s.model
        if not self.known[r]:
            return True
        pair = (self.x[i], self.x[r])
        return pair in m.pairs[i, r] or any(
            (self.on[c.index] or not self.known[c.index]) and not m.barred[c.index] and c.serves(r, pair)
            for c in m.copies_of[i])
