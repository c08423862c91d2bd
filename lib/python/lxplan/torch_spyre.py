"""lxplan as a placement solver of torch-spyre.

    import lxplan.torch_spyre
    lxplan.torch_spyre.register()        # then LAYOUT_SOLVER=lxplan, or config.layout_solver = "lxplan"

`LxplanLayoutSolver` places buffers of fixed divisions and takes paired ones; `LxplanCoreDivisionSolver` chooses divisions
and relayouts as well, by a cost expression or by the default objective. Both subclass torch-spyre's classes where these can
be imported and work alone otherwise, with any buffers that have the same fields. Either writes addresses after the answer
was found and checked, or raises SolveError and writes nothing. `bind(namespace)` makes both for other base classes.

Options: by keyword, `LxplanLayoutSolver(buffers, size, alignment, options="solver=exact")`, or by the environment,
LXPLAN_OPTIONS="solver=auto,work=100k". Limits count steps, not seconds: the same buffers give the same addresses everywhere.
"""

from __future__ import annotations

import importlib
import logging
from typing import Any, Callable, Dict, List, MutableMapping, Optional, Tuple

from . import _native, _spyre_classes as _classes
from ._native import LxplanError
from ._placement import Placement
from ._spyre_buffers import displaced, in_place_edges, options_of, paired_groups, refuse_planned, spill_cost
from ._spyre_classes import NO, YES, Capability
from ._spyre_joint import JointMixin

__all__ = ["Capability", "LxplanCoreDivisionSolver", "LxplanLayoutSolver", "SolveError", "bind", "register"]

log = logging.getLogger(__name__)

CAPABILITIES = ("supports_paired_buffers", "decides_lx_relayouts", "chooses_tilings", "replans_after_tiling", "linear_cost_only")
EXPLAINED = 64  # spilled buffers a solve whose reason names whom they would have displaced


class PlacementMixin:
    """`plan_layout` for any base class of theirs; `bind` puts the two together."""

    supports_paired_buffers = YES
    decides_lx_relayouts = NO
    chooses_tilings = NO
    replans_after_tiling = NO
    linear_cost_only = NO

    SolveError: Any = None
    options: Any = None  # Options, a text or a mapping; None: the environment's
    status: Optional[str] = None
    objective: Optional[float] = None
    bound: Optional[float] = None
    gap: Optional[float] = None

    # Of the base class.
    buffers: List[Any]
    limit: int
    alignment: int
    spill_reasons: Dict[str, str]
    excluded: Callable[[Any], Optional[str]]

    def __init__(self, *given: Any, options: Any = None, **more: Any):
        super().__init__(*given, **more)
        if options is not None:
            self.options = options

    def plan_layout(self, log_lx_usage: bool = False) -> List[Any]:
        """Gives every buffer its address in bytes, or None, and returns the same list. SolveError: nothing was written."""
        buffers = self.buffers
        refuse_planned(buffers)
        edges = in_place_edges(buffers)
        reasons = [self.excluded(b) for b in buffers]
        if buffers:
            addresses = self._solved(edges, reasons)
            for b, address in zip(buffers, addresses):
                b.address = address
        else:
            self.status, self.objective, self.bound, self.gap = "optimal", 0.0, 0.0, 0.0
        if log_lx_usage:
            self._log_usage()
        return buffers

    def _solved(self, edges: List[Tuple[int, int]], reasons: List[Optional[str]]) -> List[Optional[int]]:
        buffers = self.buffers
        sizes = [b.size for b in buffers]
        starts, ends = [b.start_time for b in buffers], [b.end_time for b in buffers]
        costs = [spill_cost(b) for b in buffers]
        try:
            with self._problem(sizes, starts, ends, costs, edges, reasons) as problem:
                with problem.solve(options_of(self.options)) as answer:
                    if answer.status == "infeasible":
                        raise ValueError("no placement is legal")
                    addresses = answer.addresses  # the library has checked them
                    self.status, self.objective = answer.status, answer.objective
                    self.bound, self.gap = answer.bound, answer.gap
        except (LxplanError, ImportError, ValueError, OverflowError, TypeError) as why:
            raise self.SolveError(f"lxplan: {why}") from why
        self._explain((starts, ends), sizes, costs, addresses, reasons)
        return addresses

    def _problem(self, sizes: List[int], starts: List[int], ends: List[int], costs: List[int],
                 edges: List[Tuple[int, int]], reasons: List[Optional[str]]) -> Placement:
        problem = Placement("cost", self.alignment)
        problem.pool("LX", self.limit)
        problem.buffers([0 if r else size for size, r in zip(sizes, reasons)], starts, ends, costs)  # some have no size
        for i, reason in enumerate(reasons):
            if reason:
                problem.bar(i, reason)
        edges = [(c, p) for c, p in edges if not reasons[c] and not reasons[p]]
        problem.in_place(edges, starts, ends)
        for group in paired_groups(self.buffers):
            problem.together(group)
        return problem

    def _explain(self, lives: Any, sizes: List[int], costs: List[int], addresses: List[Optional[int]],
                 reasons: List[Optional[str]]) -> None:
        buffers, told = self.buffers, 0
        for i, address in enumerate(addresses):
            if address is not None:
                continue
            name = buffers[i].name
            if reasons[i]:
                self.spill_reasons[name] = reasons[i]  # type: ignore[assignment]
            elif told < EXPLAINED:
                told += 1
                at, whom = displaced(i, lives, sizes, costs, addresses, self.limit, self.alignment)
                self.spill_reasons[name] = self._words(i, at, whom, costs)
            else:
                self.spill_reasons[name] = "spilled by solver: no room beside what costs more"

    def _words(self, i: int, at: int, whom: List[int], costs: List[int]) -> str:
        if not whom:
            return "spilled by solver: it is placed with its group or not at all"
        names = ", ".join(self.buffers[k].name for k in whom[:4]) + (f" and {len(whom) - 4} more" if len(whom) > 4 else "")
        lost = sum(costs[k] for k in whom)
        return f"spilled by solver: at {at} it would displace {names}, which cost {lost} to spill; it costs {costs[i]}"

    def _log_usage(self) -> None:
        placed = [b for b in self.buffers if b.address is not None]
        top = max((b.address + getattr(b, "size", 0) for b in placed), default=0)
        log.info("lxplan: %d of %d buffers in LX, up to byte %d of %d; spilled %s, %s",
                 len(placed), len(self.buffers), top, self.limit, self.objective, self.status)


def bind(space: Any) -> Tuple[type, type]:
    """Both solvers as subclasses of the base classes that a namespace has; what it lacks is ours."""
    found = _classes.completed(space)
    return (_made("LxplanLayoutSolver", (PlacementMixin, found.MemoryPlanSolver), found),
            _made("LxplanCoreDivisionSolver", (JointMixin, PlacementMixin, found.CoreDivisionLayoutSolver), found))


def _made(name: str, bases: Tuple[type, ...], found: Any) -> type:
    """A class whose capabilities stand in itself: some ask only there."""
    own = {word: getattr(bases[0], word) if hasattr(bases[0], word) else getattr(PlacementMixin, word) for word in CAPABILITIES}
    own.update(__doc__=bases[0].__doc__, __module__=__name__, SolveError=found.SolveError,
               ChosenRelayout=found.ChosenRelayout)
    return type(name, bases, own)


def _bind_theirs() -> None:
    """Builds on torch-spyre's classes if these can be imported now."""
    global SolveError, LxplanLayoutSolver, LxplanCoreDivisionSolver
    found = _classes.theirs()
    if not issubclass(LxplanLayoutSolver, found.MemoryPlanSolver):
        SolveError = found.SolveError
        LxplanLayoutSolver, LxplanCoreDivisionSolver = bind(found)


SolveError: Any = _classes.SolveError
LxplanLayoutSolver, LxplanCoreDivisionSolver = bind(_classes.OWN)
_bind_theirs()


def register(name: str = "lxplan", joint: bool = False, table: Optional[MutableMapping[str, Any]] = None) -> Any:
    """Puts the solver into torch-spyre's table under `name` (`joint`: the one that chooses divisions) and returns what was
    there before, or None. ImportError in words where the library is missing or its ABI differs."""
    _native.library()
    _bind_theirs()  # they may have come since this module did
    if table is None:
        table = importlib.import_module(f"{_classes.PACKAGE}.allocator")._PLACEMENT_SOLVERS
    before = table.get(name)
    table[name] = LxplanCoreDivisionSolver if joint else LxplanLayoutSolver
    return before
