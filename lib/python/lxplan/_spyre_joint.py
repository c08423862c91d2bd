"""The solver of torch-spyre that chooses divisions, relayouts and residency together."""

from __future__ import annotations

import json
from typing import Any, Dict, List, Optional, Tuple

from . import _native
from ._cost_expression import ExpressionError
from ._cost_tables import default_tables, spilled, tables_of
from ._joint_model import Model
from ._joint_search import WORK, Search
from ._native import LxplanError
from ._options import asked
from ._result import Solution
from ._spyre_buffers import in_place_edges, options_of, refuse_planned
from ._spyre_classes import NO, YES

Answer = Tuple[List[int], List[bool], List[Optional[int]]]


class JointMixin:
    """Chooses divisions and residency together: by the least value of a cost expression, or without one by the least spill
    cost, then the most cores, then the least squares of split factors. Relayouts are chosen where an expression prices them."""

    supports_paired_buffers = NO
    decides_lx_relayouts = YES

    SolveError: Any = None
    ChosenRelayout: Any = None
    status: Optional[str]
    objective: Optional[float]
    bound: Optional[float]
    gap: Optional[float]
    options: Any = None
    buffers: List[Any]
    limit: int
    alignment: int
    spill_reasons: Dict[str, str]

    def plan_layout(self, log_lx_usage: bool = False) -> List[Any]:
        """With menus of divisions the same as `plan_layout_and_core_divisions()`, else placement alone."""
        if any(getattr(b, "core_divisions", None) for b in self.buffers):
            return self.plan_layout_and_core_divisions()
        return super().plan_layout(log_lx_usage)  # type: ignore[misc]

    def plan_layout_and_core_divisions(self, cost_expr: Any = None) -> List[Any]:
        """Writes address, chosen_division and chosen_relayouts of every buffer and returns the same list. `cost_expr`: a
        sympy expression, or what srepr writes of one. SolveError: nothing was written."""
        buffers = self.buffers
        refuse_planned(buffers)
        for b in buffers:
            assert getattr(b, "chosen_division", None) is None, f"{b.name} already has a division"
        edges = in_place_edges(buffers)
        reasons = [self.excluded(b) for b in buffers]  # type: ignore[attr-defined]
        try:
            model = Model(buffers, self.limit, self.alignment, reasons, edges)
            answer = self._default(model) if cost_expr is None else self._by_cost(model, cost_expr)
        except (LxplanError, ExpressionError, ImportError, OverflowError, RecursionError, TypeError, ValueError) as why:
            raise self.SolveError(f"lxplan: {why}") from why
        self._write(model, *answer)
        return buffers

    def _work(self) -> int:
        return steps_of(options_of(self.options).values.get("work", str(WORK)))

    def _by_cost(self, model: Model, cost_expr: Any) -> Answer:
        search = Search(model, tables_of(cost_expr, model), self._work(), None)
        search.run(self._starts(model))
        return self._taken(search)

    def _starts(self, model: Model) -> List[Any]:
        """The answer of the default objective is a good place to begin."""
        try:
            x, on, _ = self._native(model)
        except (LxplanError, ImportError):
            return []
        return [(x, on)]

    def _default(self, model: Model) -> Answer:
        """By the library's search; where that does not end with a proof, ours goes on from there."""
        for i in model.copies:
            model.barred[i] = model.barred[i] or "no cost expression prices relayouts"
        found: Optional[Answer] = None
        try:
            found = self._native(model)
        except LxplanError as why:
            if why.word != "unsupported":
                raise
        if found and self.status == "optimal":
            return found
        return self._searched(model, found, self.bound if found else 0.0)

    def _searched(self, model: Model, found: Optional[Answer], bound: Optional[float]) -> Answer:
        search = Search(model, default_tables(model), self._work(), None)
        search.run([found[:2]] if found else [])
        answer = self._taken(search)
        self.objective = float(spilled(model, answer[1]))
        self.bound = self.objective if search.complete else bound
        self.gap = 0.0 if self.objective == self.bound else (self.objective / self.bound - 1 if self.bound else float("inf"))
        return answer

    def _taken(self, search: Search) -> Answer:
        assert search.best is not None
        value, x, on, addresses = search.best
        self.status = "optimal" if search.complete else "feasible"
        self.objective, self.bound = float(value), float(value if search.complete else search.bound)
        self.gap = 0.0 if self.objective <= self.bound else (self.objective - self.bound) / abs(self.bound or 1.0)
        return x, on, addresses

    def _native(self, model: Model) -> Answer:
        """The default objective, by the library's own search."""
        if not same_parts(model):
            raise LxplanError(0, "unsupported", "choices that a reader takes for the same differ in their bytes")
        native = _native.library()
        raw = json.dumps(problem_of(model), separators=(",", ":")).encode()
        with Solution(asked(native.lx_joint_solve, (raw, len(raw)), options_of(self.options)), native) as answer:
            items = answer.items("buffers")
            x = [int(item.number("choice")) for item in items]
            addresses = [None if item.number("address") < 0 else int(item.number("address")) for item in items]
            self.status, self.objective, self.bound, self.gap = answer.status, answer.objective, answer.bound, answer.gap
        return x, [at is not None for at in addresses], addresses

    def _write(self, model: Model, x: List[int], on: List[bool], addresses: List[Optional[int]]) -> None:
        for i, b in enumerate(self.buffers):
            b.address = addresses[i]
            if model.menus[i]:
                b.chosen_division = x[i]
            if not on[i]:
                self.spill_reasons[b.name] = model.barred[i] or self._why_off(model, i, x, on)
        for copy in model.copies.values():
            if on[copy.index]:
                for reader, served in copy.served.items():
                    self._serve(model, copy, reader, served, x, addresses)

    def _serve(self, model: Model, copy: Any, reader: int, served: Dict[Any, Any], x: List[int],
               addresses: List[Optional[int]]) -> None:
        pair = (x[copy.source], x[reader])
        if pair in served and pair not in model.pairs.get((copy.source, reader), ()):
            name = model.names[copy.source]
            self.buffers[reader].chosen_relayouts[name] = self.ChosenRelayout(served[pair], addresses[copy.index])

    def _why_off(self, model: Model, i: int, x: List[int], on: List[bool]) -> str:
        for r in model.readers[i]:
            if not model.agrees(i, r, x, on):
                return f"spilled by solver: {model.names[r]} cuts it otherwise under the divisions chosen"
        return f"spilled by solver: {model.bytes[i][x[i]]} bytes beside what is worth more"


def steps_of(text: str) -> int:
    """A number as the library reads it (which has done so before): k, m and g are powers of 1024."""
    unit = "kmg".find(text[-1:].lower()) + 1 if text[-1:].isalpha() else 0
    return int(text[:-1] if unit else text) << 10 * unit


def same_parts(model: Model) -> bool:
    """Do choices that agree with one choice of a reader have one footprint? Equal views have; the library relies on it."""
    for (i, _), pairs in model.pairs.items():
        sizes: Dict[int, int] = {}
        if not model.barred[i] and any(sizes.setdefault(b, model.bytes[i][a]) != model.bytes[i][a] for a, b in pairs):
            return False
    return True


def problem_of(model: Model) -> Dict[str, Any]:
    """The default question as JSON for the library: see lib/README.md."""
    parents: Dict[int, List[int]] = {}
    for child, parent in model.edges:
        parents.setdefault(child, []).append(parent)
    buffers = []
    for i in range(model.count):
        one: Dict[str, Any] = {
            "name": model.names[i],
            "live": [model.starts[i], model.ends[i]],
            "off": model.off[i],
            "parents": parents.get(i, []),
            "menu": [{"bytes": b, "cores": c, "squares": s}
                     for b, c, s in zip(model.bytes[i], model.cores[i], model.squares[i])],
            "readers": [{"buffer": r, "pairs": sorted(map(list, model.pairs[i, r]))} for r in model.readers[i]],
        }
        if model.barred[i]:
            one["barred"] = model.barred[i]
        buffers.append(one)
    return {"lxplan": 1, "kind": "joint", "capacity": model.limit, "alignment": model.alignment,
            "objective": "lexicographic", "buffers": buffers}
