"""A stand-in for torch-spyre's scratchpad package, written from a description of it: the same fields, defaults, assertions
and checks of classes, in the older style (capabilities are class attributes) and the newer (class methods).

`make("old")` and `make("new")` give a namespace each: the buffer classes, the solver classes, the table of solvers and
`Allocator`, which does with a solver what the compiler does, and then looks at every rule itself."""

import enum
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any, Dict, List, Optional

CAPABILITIES = (
    "supports_paired_buffers",
    "decides_lx_relayouts",
    "chooses_tilings",
    "replans_after_tiling",
    "linear_cost_only",
)
COPY = "__spyre_lx_relayout__:copy:"


class SolveError(Exception):
    pass


class BufferType(enum.Enum):
    Intermediate = 0
    Input = 1
    Output = 2


@dataclass
class LifetimeBoundBuffer:
    name: str
    size: int
    uses: List[int]
    first_use_is_read: bool = False
    address: Optional[int] = None
    in_place_parents: List[str] = field(default_factory=list)
    residency_reason: Optional[str] = None
    lifetime_start_override: Optional[int] = None
    lifetime_end_override: Optional[int] = None
    paired_with: List[Any] = field(default_factory=list, compare=False, repr=False)
    lx_relayout_plans: List[Any] = field(default_factory=list, compare=False, repr=False)
    lx_view: Any = field(default=None, compare=False, repr=False)

    def __post_init__(self):
        assert all(a < b for a, b in zip(self.uses, self.uses[1:])), "uses must increase"
        if self.uses and self.lifetime_start_override is not None:
            assert self.lifetime_start_override <= self.uses[0]
        if self.uses and self.lifetime_end_override is not None:
            assert self.lifetime_end_override >= self.uses[-1] + 1

    @property
    def read_count(self):
        return max(0, len(self.uses) - (0 if self.first_use_is_read else 1))

    @property
    def start_time(self):
        return self.uses[0] if self.lifetime_start_override is None else self.lifetime_start_override

    @property
    def end_time(self):
        return self.uses[-1] + 1 if self.lifetime_end_override is None else self.lifetime_end_override

    @property
    def min_footprint(self):
        return self.size

    def overlaps_in_time(self, other):
        return self.start_time < other.end_time and other.start_time < self.end_time


@dataclass(frozen=True)
class TileAxis:
    host_dim: int
    count: int
    is_reduction: bool = False


@dataclass(frozen=True)
class TileSpec:
    axes: tuple = ()

    @property
    def output_tile_count(self):
        count = 1
        for axis in self.axes:
            count *= 1 if axis.is_reduction else axis.count
        return count


@dataclass
class CoreDivision:
    splits: Dict[Any, int] = field(default_factory=dict)
    reduction_syms: Any = frozenset()
    tiling: TileSpec = TileSpec()

    @property
    def cores_used(self):
        cores = 1
        for factor in self.splits.values():
            cores *= factor
        return cores

    @property
    def output_partition(self):
        parts = 1
        for symbol, factor in self.splits.items():
            parts *= 1 if symbol in self.reduction_syms else factor
        return parts


@dataclass
class CoreDivisionBuffer(LifetimeBoundBuffer):
    core_divisions: List[CoreDivision] = field(default_factory=list)
    parents: List[str] = field(default_factory=list)
    cd_parent_matches: Dict[str, List[Any]] = field(default_factory=dict)
    cd_parent_relayouts: Dict[str, List[Any]] = field(default_factory=dict)
    chosen_division: Optional[int] = None
    chosen_relayouts: Dict[str, Any] = field(default_factory=dict)
    boundary: BufferType = BufferType.Intermediate

    def footprint(self, division):
        if not self.core_divisions:
            return self.size
        d = self.core_divisions[division]
        return -(-self.size // (d.output_partition * d.tiling.output_tile_count))

    @property
    def min_footprint(self):
        return min((self.footprint(i) for i in range(len(self.core_divisions))), default=self.size)


class RelayoutCopyBuffer(CoreDivisionBuffer):
    pass


@dataclass(frozen=True)
class RelayoutCandidate:
    parent: str
    consumer: str
    source_division: int
    consumer_division: int
    group: int
    source_view: Any = None
    destination_view: Any = None
    cost_ns: float = 0.0
    source_footprint_bytes: int = 0
    destination_footprint_bytes: int = 0


@dataclass
class ChosenRelayout:
    candidate: RelayoutCandidate
    destination_address: int


class _Base(ABC):
    def __init__(self, buffers, size, alignment=128):
        self.buffers, self.limit, self.alignment = list(buffers), size, alignment
        self.spill_reasons = {}
        supports = type(self).supports_paired_buffers
        supports = supports() if callable(supports) else supports
        assert supports or not any(b.paired_with for b in self.buffers), "paired buffers are not supported"

    def excluded(self, b):
        if b.residency_reason is not None:
            return b.residency_reason
        return "footprint exceeds the limit" if b.min_footprint > self.limit else None

    def record_exclusions(self):
        for b in self.buffers:
            if self.excluded(b):
                self.spill_reasons[b.name] = self.excluded(b)

    def partition(self):
        self.record_exclusions()
        return ([b for b in self.buffers if not self.excluded(b)], [b for b in self.buffers if self.excluded(b)])

    @abstractmethod
    def plan_layout(self, log_lx_usage=False):
        ...


def _old_style():
    class MemoryPlanSolver(_Base):
        supports_paired_buffers = False

    class CoreDivisionLayoutSolver(MemoryPlanSolver):
        decides_lx_relayouts = False

        @abstractmethod
        def plan_layout_and_core_divisions(self, cost_expr=None):
            ...

    return MemoryPlanSolver, CoreDivisionLayoutSolver


def _new_style():
    class MemoryPlanSolver(_Base):
        def __init_subclass__(cls, **words):
            super().__init_subclass__(**words)
            if cls.__name__ == "CoreDivisionLayoutSolver":
                return
            answers = {}
            for name in CAPABILITIES:
                if getattr(getattr(cls, name), "__isabstractmethod__", False):
                    raise TypeError(f"{cls.__name__} does not say {name}")
                answers[name] = getattr(cls, name)()
                if not isinstance(answers[name], bool):
                    raise TypeError(f"{name} answers {answers[name]!r}")
            chooses = cls.chooses_core_divisions()
            for name in ("decides_lx_relayouts", "chooses_tilings", "linear_cost_only"):
                if answers[name] and not chooses:
                    raise TypeError(f"{cls.__name__}: {name} without choosing divisions")
            if answers["replans_after_tiling"] and not answers["chooses_tilings"]:
                raise TypeError(f"{cls.__name__} replans without tilings")
            if chooses != any(c.__name__ == "CoreDivisionLayoutSolver" for c in cls.__mro__):
                raise TypeError(f"{cls.__name__}: chooses_core_divisions is not what its base says")

        @classmethod
        def chooses_core_divisions(cls):
            return False

    for name in CAPABILITIES:
        setattr(MemoryPlanSolver, name, classmethod(abstractmethod(lambda cls: False)))

    class CoreDivisionLayoutSolver(MemoryPlanSolver):
        @classmethod
        def chooses_core_divisions(cls):
            return True

        @abstractmethod
        def plan_layout_and_core_divisions(self, cost_expr=None):
            ...

    return MemoryPlanSolver, CoreDivisionLayoutSolver


def spill_cost(b):
    intermediate = getattr(b, "boundary", None)
    intermediate = not b.first_use_is_read if intermediate is None else intermediate is BufferType.Intermediate
    return max(0, (b.read_count - bool(b.first_use_is_read) + intermediate) * b.size)


def make(style):
    plan, joint = _old_style() if style == "old" else _new_style()
    space = SimpleNamespace(
        style=style,
        SolveError=SolveError,
        LifetimeBoundBuffer=LifetimeBoundBuffer,
        CoreDivision=CoreDivision,
        CoreDivisionBuffer=CoreDivisionBuffer,
        RelayoutCopyBuffer=RelayoutCopyBuffer,
        RelayoutCandidate=RelayoutCandidate,
        ChosenRelayout=ChosenRelayout,
        MemoryPlanSolver=plan,
        CoreDivisionLayoutSolver=joint,
        _PLACEMENT_SOLVERS={},
    )

    def capability(factory, name):
        """As the compiler of this style asks."""
        if style == "old":
            return bool(getattr(factory, name, False))
        return getattr(factory, name)()

    def select(name, co_optimize=False):
        if name not in space._PLACEMENT_SOLVERS:
            raise ValueError(f"unknown layout solver {name}")
        return space._PLACEMENT_SOLVERS[name]

    space.capability, space.select = capability, select
    return space


def overlap(a, size_a, b, size_b):
    return a.address < b.address + size_b and b.address < a.address + size_a


def verify(buffers, limit, alignment, footprint=lambda b: b.size, merge=lambda parent, child: True):
    """Every rule of a legal answer, pair by pair."""
    names = {b.name: b for b in buffers}
    taken = {}
    for b in buffers:
        if b.address is None:
            continue
        assert b.residency_reason is None, f"{b.name} is barred but placed"
        assert b.address >= 0 and b.address % alignment == 0, f"{b.name} at {b.address}"
        assert b.address + footprint(b) <= limit, f"{b.name} ends above the limit"
    for i, a in enumerate(buffers):
        for b in buffers[:i]:
            if a.address is None or b.address is None or not a.overlaps_in_time(b):
                continue
            if not overlap(a, footprint(a), b, footprint(b)):
                continue
            child, parent = (a, b) if b.name in a.in_place_parents else (b, a)
            assert parent.name in child.in_place_parents and parent.address == child.address, f"{a.name} on {b.name}"
            assert merge(parent, child), f"{child.name} may not take over {parent.name}"
            assert taken.setdefault(parent.name, child.name) == child.name, f"{parent.name} handed over twice"
    for b in buffers:
        group = [b] + list(b.paired_with)
        assert len({m.address is None for m in group}) == 1, f"the group of {b.name} is torn"
    assert len(names) == len(buffers)


def allocate(space, buffers, size, name="lxplan", alignment=128):
    """What the compiler does with a solver; returns (cost of what is spilled, reasons), or None after a SolveError."""
    factory = space.select(name)
    before = [(id(b), repr(b)) for b in buffers]
    solver = factory(buffers, size) if alignment == 128 else factory(buffers, size, alignment)
    try:
        answer = solver.plan_layout(log_lx_usage=True)
    except SolveError:
        assert [(id(b), repr(b)) for b in buffers] == before, "something was written before the SolveError"
        return None
    assert [id(b) for b in answer] == [i for i, _ in before], "other objects, or another order"
    verify(buffers, size, alignment)
    reasons = {b.name: solver.spill_reasons.get(b.name, "no room on scratchpad") for b in buffers if b.address is None}
    return sum(spill_cost(b) for b in buffers if b.address is None), reasons
