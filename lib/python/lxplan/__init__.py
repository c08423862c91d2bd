"""lxplan: plans how a tensor graph runs on cores with small scratchpads, and where buffers lie in them.

    import lxplan
    p = lxplan.Placement("cost", alignment=128)
    p.pool("LX", 4096)
    p.buffer("scores", 4096, 0, 3, off=8192)
    p.buffer("row", 256, 2, 5, off=512)
    print(p.solve().addresses)

`Placement` is a problem and `Solution` its answer; `Graph` (read, or made by a `Builder`) becomes a `Plan`; `Options` say
how. What goes wrong is a `LxplanError` (`InvalidInput`, `NotLegal`, `Stopped`, ...). `lxplan.torch` takes programs of torch.export; `lxplan.torch_spyre` and
`lxplan.executorch` are drop-ins for the planners of these compilers. Nothing here imports torch, sympy or numpy; the shared
library is loaded when it is first needed.
"""

from __future__ import annotations

import json as _json
from typing import Any, Mapping

from . import _native
from ._graph import Builder, Graph
from ._native import InternalError, InvalidInput, LxplanError, NotLegal, OutOfMemory, Stopped
from ._options import Options, asked as _asked, solvers
from ._placement import Placement
from ._result import Item, Items, Plan, Result, Run, Solution

__all__ = [
    "Builder",
    "Graph",
    "InternalError",
    "InvalidInput",
    "Item",
    "Items",
    "LxplanError",
    "NotLegal",
    "Options",
    "OutOfMemory",
    "Placement",
    "Plan",
    "Result",
    "Run",
    "Solution",
    "Stopped",
    "has",
    "joint",
    "solvers",
    "version",
]


def version() -> str:
    """The version of the library."""
    return _native.decoded(_native.library().lx_version()) or ""


def has(feature: str) -> bool:
    """Was the library built with it: "ilp", "threads", "logging"?"""
    return _native.library().lx_has(_native.encoded(feature)) == 1


def joint(problem: Mapping[str, Any], options: Any = None, **values: Any) -> Solution:
    """Divisions and placement together; the problem as lib/library.md describes it."""
    native = _native.library()
    raw = _json.dumps(problem, separators=(",", ":")).encode()
    return Solution(_asked(native.lx_joint_solve, (raw, len(raw)), options, values), native)
