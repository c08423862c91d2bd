"""The solver of torch-spyre that chooses divisions, relayouts and residency together."""

from __future__ import annotations

import json
from typing import Any, Dict, List, Optional, Tuple

from . import _native
from ._cost_expression import ExpressionError
from ._cost_tables import Table, tables_of
from ._joint_model import Model
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
            if cost_expr is None:
                model.bar_copies("no cost expression prices relayouts")
            answer = self._solved_jointly(model, None if cost_expr is None else tables_of(cost_expr, model))
        except (LxplanError, ExpressionError, ImportError, OverflowError, RecursionError, TypeError, ValueError) as why:
            raise self.SolveError(f"lxplan: {why}") from why
        self._write(model, *answer)
        return buffers

    def _solved_jointly(self, model: Model, tables: Optional[List[Table]]) -> Answer:
        native = _native.library()
        raw = json.dumps(problem_of(model, tables), separators=(",", ":")).encode()
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


def problem_of(model: Model, tables: Optional[List[Table]]) -> Dict[str, Any]:
    """The question as JSON for the library (lib/library.md): the default objective, or the least sum of tables."""
    priced = tables is not None
    question: Dict[str, Any] = {"lxplan": 1, "kind": "joint", "capacity": model.limit, "alignment": model.alignment,
                                "objective": "cost" if priced else "lexicographic",
                                "buffers": [buffer_of(model, i, priced) for i in range(model.count)]}
    if tables is not None:
        question["terms"] = [{"axes": [axis_of(axis) for axis in table.axes], "values": table.values} for table in tables]
    return question


def axis_of(axis: Any) -> Dict[str, Any]:
    return {"buffer": axis.buffer, "on": True} if axis.kind == "on" else {"buffer": axis.buffer, "classes": axis.classes}


def buffer_of(model: Model, i: int, priced: bool) -> Dict[str, Any]:
    one: Dict[str, Any] = {
        "name": model.names[i],
        "live": [model.starts[i], model.ends[i]],
        "off": 0 if priced else model.off[i],
        "parents": model.handovers[i],
        "menu": [{"bytes": b, "cores": c, "squares": s}
                 for b, c, s in zip(model.bytes[i], model.cores[i], model.squares[i])],
        "readers": [{"buffer": r, "pairs": sorted(map(list, model.pairs[i, r]))} for r in model.readers[i]],
    }
    copy = model.copies.get(i)
    if model.barred[i]:
        one["barred"] = model.barred[i]
    elif copy is not None:
        one["copy_of"] = copy.source
        one["readers"] = [{"buffer": r, "pairs": sorted(map(list, served))} for r, served in copy.served.items()]
    elif not model.menus[i]:
        one["kept"] = True
    return one
