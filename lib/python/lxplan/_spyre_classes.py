"""The classes of torch-spyre that the drop-in builds on: theirs where they can be imported, else the few lines of them
that a solver needs, so that it works with any objects that have the fields of their buffers.

Their capabilities were class attributes once and are class methods now; who asks the one way must not be misled by who
answers the other. `Capability` is both: a number that is true or false, and a call that returns the same.
"""

from __future__ import annotations

import importlib
from types import SimpleNamespace
from typing import Any, Dict, List, Optional, Tuple

PACKAGE = "torch_spyre._inductor.scratchpad"
MODULES = (".plan_solver", ".allocator", ".utils", ".lx_relayout", "")
NAMES = ("SolveError", "MemoryPlanSolver", "CoreDivisionLayoutSolver", "ChosenRelayout")


class Capability(int):
    """True or false, and a call that says which: `C.supports_paired_buffers` and `C.supports_paired_buffers()`."""

    def __call__(self) -> bool:
        return bool(self)

    def __bool__(self) -> bool:
        return int(self) != 0

    def __repr__(self) -> str:
        return "yes" if self else "no"


YES, NO = Capability(1), Capability(0)


class SolveError(Exception):
    """No solution; nothing was written."""


class ChosenRelayout:
    """Which relayout serves a consumer, and where its copy is."""

    def __init__(self, candidate: Any, destination_address: int):
        self.candidate, self.destination_address = candidate, destination_address

    def __repr__(self) -> str:
        return f"ChosenRelayout({self.candidate!r}, {self.destination_address})"


class MemoryPlanSolver:
    """What their base class does, for buffers of any class."""

    chooses_core_divisions = NO
    supports_paired_buffers = NO

    def __init__(self, buffers: List[Any], size: int, alignment: int = 128):
        self.buffers, self.limit, self.alignment = list(buffers), size, alignment
        self.spill_reasons: Dict[str, str] = {}
        if not self.supports_paired_buffers:
            for b in self.buffers:
                assert not getattr(b, "paired_with", None), f"{type(self).__name__} takes no paired buffers, but {b.name} is"

    def excluded(self, b: Any) -> Optional[str]:
        """Why a buffer can never be placed, or None."""
        reason = getattr(b, "residency_reason", None)
        if reason:
            return reason
        least = getattr(b, "min_footprint", b.size)
        return f"needs {least} bytes, more than the {self.limit} of the scratchpad" if least > self.limit else None

    def record_exclusions(self) -> None:
        for b in self.buffers:
            reason = self.excluded(b)
            if reason:
                self.spill_reasons[b.name] = reason

    def partition(self) -> Tuple[List[Any], List[Any]]:
        """Those that may be placed, and those that may not."""
        self.record_exclusions()
        may = [b for b in self.buffers if b.name not in self.spill_reasons]
        return may, [b for b in self.buffers if b.name in self.spill_reasons]


class CoreDivisionLayoutSolver(MemoryPlanSolver):
    """The same for solvers that also choose divisions."""

    chooses_core_divisions = YES


OWN = SimpleNamespace(
    SolveError=SolveError,
    MemoryPlanSolver=MemoryPlanSolver,
    CoreDivisionLayoutSolver=CoreDivisionLayoutSolver,
    ChosenRelayout=ChosenRelayout,
)


def _modules() -> List[Any]:
    found = []
    for name in MODULES:
        try:
            found.append(importlib.import_module(PACKAGE + name))
        except Exception:  # not installed, or broken for reasons of its own: then ours serve
            continue
    return found


def completed(*spaces: Any) -> SimpleNamespace:
    """The classes as the first of these namespaces that has them says, else ours."""
    return SimpleNamespace(
        **{name: next((getattr(s, name) for s in spaces if hasattr(s, name)), getattr(OWN, name)) for name in NAMES}
    )


def theirs() -> SimpleNamespace:
    """Their classes where torch-spyre is installed, else ours."""
    return completed(*_modules())
