"""Placement problems: buffers with sizes and lives that want addresses in pools."""

from __future__ import annotations

import ctypes
from array import array
from typing import Any, Iterable, Optional, Sequence, Tuple, Union

from . import _native
from ._handle import Handle
from ._options import asked
from ._result import Solution


class Placement(Handle):
    """Buffers that want places.

    `objective`: "cost" (the least cost of what is not placed), "fit" (does it fit?), "height" (everything placed, in the
    least memory). Lives are half-open: [start, end). Indices count from 0 in the order of adding.

        p = Placement("cost", alignment=128)
        p.pool("LX", 4096)
        a = p.buffer("a", 4096, 0, 3, off=8192)
        solution = p.solve()
    """

    __slots__ = ("_count",)
    _free = "lx_placement_free"

    def __init__(self, objective: str = "cost", alignment: int = 1):
        native = _native.library()
        self._count = 0
        super().__init__(
            _native.made(native.lx_placement_new(_native.encoded(objective), alignment, _native.error())), native
        )

    @classmethod
    def parse(cls, data: Union[bytes, str], format: Optional[str] = None) -> "Placement":
        """From a file of the format "csv", "xla", "dsa", "d2m" or "pattern"; None: by content."""
        native = _native.library()
        raw = _native.content(data)
        at = native.lx_placement_parse(raw, len(raw), _native.encoded(format), _native.error())
        self = cls.__new__(cls)
        Handle.__init__(self, _native.made(at), native)
        self._count = 0
        return self

    def write(self, format: str = "pattern") -> bytes:
        """As a file of that format."""
        return _native.taken(self._native.lx_placement_write(self._open(), _native.encoded(format), _native.error()))

    def __repr__(self) -> str:
        return f"<Placement: {self._count} buffers>" if self._at else "<closed Placement>"

    # Pools and buffers.

    def pool(self, name: str, capacity: Optional[int] = None) -> int:
        """A pool of so many bytes; None: without limit. Its index."""
        room = -1 if capacity is None else capacity
        return _native.checked(
            self._native.lx_placement_pool(self._open(), _native.encoded(name), room, _native.error())
        )

    def reserve(self, pool: int, low: int, high: int, start: int = 0, end: int = 0) -> None:
        """Bytes [low, high) of the pool belong to nobody on ticks [start, end); 0, 0: always."""
        _native.checked(
            self._native.lx_placement_reserve(self._open(), pool, low, high, start, end, _native.error())
        )

    def buffer(self, name: str, size: int, start: int, end: int, off: Optional[int] = None) -> int:
        """A buffer that lives on [start, end). `off`: what it costs not to place it; None: it must be placed."""
        self._count += 1
        return _native.checked(
            self._native.lx_placement_buffer(
                self._open(), _native.encoded(name), size, start, end, -1 if off is None else off, _native.error()
            )
        )

    def buffers(
        self,
        sizes: Iterable[int],
        starts: Iterable[int],
        ends: Iterable[int],
        offs: Optional[Iterable[int]] = None,
    ) -> range:
        """Many buffers at once, without names; lists, or arrays of int64 as they are. Their indices."""
        size, count, keep_1 = _native.int64s(sizes)
        start, count_2, keep_2 = _native.int64s(starts)
        end, count_3, keep_3 = _native.int64s(ends)
        off, count_4, keep_4 = _native.int64s([-1] * count if offs is None else offs)
        if not count == count_2 == count_3 == count_4:
            raise ValueError("sizes, starts, ends and offs differ in length")
        first = _native.checked(
            self._native.lx_placement_buffers(self._open(), count, size, start, end, off, _native.error())
        )
        del keep_1, keep_2, keep_3, keep_4
        self._count += count
        return range(first, first + count)

    def live(self, buffer: int, start: int, end: int) -> None:
        """A further interval of its life; the bytes are free between them."""
        _native.checked(self._native.lx_placement_live(self._open(), buffer, start, end, _native.error()))

    def uses(self, buffer: int, uses: Iterable[int], first_is_read: bool = False) -> None:
        """The ticks on which it is accessed, rising."""
        at, count, keep = _native.int64s(uses)
        _native.checked(
            self._native.lx_placement_uses(self._open(), buffer, at, count, 1 if first_is_read else 0, _native.error())
        )
        del keep

    def allow(self, buffer: int, pool: int, cost: int = 0) -> None:
        """A pool where it may be, and what that costs; the first call replaces "every pool"."""
        _native.checked(self._native.lx_placement_allow(self._open(), buffer, pool, cost, _native.error()))

    def pin(self, buffer: int, pool: int, address: int, alone: bool = False) -> None:
        """The only place it may have; `alone`: nobody else shares its bytes at any time."""
        _native.checked(
            self._native.lx_placement_pin(self._open(), buffer, pool, address, 1 if alone else 0, _native.error())
        )

    def _set(self, buffer: int, key: bytes, value: Optional[bytes]) -> None:
        _native.checked(self._native.lx_placement_set(self._open(), buffer, key, value, _native.error()))

    def bar(self, buffer: int, reason: str) -> None:
        """It is never placed; the reason is kept."""
        self._set(buffer, b"barred", _native.encoded(reason))

    def align(self, buffer: int, alignment: int) -> None:
        """Its own alignment, a multiple of the problem's."""
        self._set(buffer, b"alignment", b"%d" % alignment)

    def parent(self, buffer: int, parent: int) -> None:
        """It may take over the place of `parent`, which dies on the tick on which it begins."""
        self._set(buffer, b"parent", b"%d" % parent)

    def in_place(self, edges: Sequence[Tuple[int, int]], starts: Sequence[int], ends: Sequence[int]) -> None:
        """Many pairs (child, parent) at once, of buffers with these lives; parents are taken to be read on their last tick."""
        native, at, error = self._native, self._open(), _native.error()
        brief = {p for _, p in edges if ends[p] - starts[p] == 1}  # read on the one tick that they live
        parents = sorted({p for _, p in edges})
        ticks = array("q", [t for p in parents for t in (starts[p], ends[p] - 1)])
        first = ticks.buffer_info()[0]
        for k, p in enumerate(parents):
            one = p in brief
            _native.checked(native.lx_placement_uses(at, p, first + 16 * k, 1 if one else 2, 1 if one else 0, error))
        for child, parent in edges:
            if child not in brief:  # what is read first is written by nobody
                _native.checked(native.lx_placement_set(at, child, b"parent", b"%d" % parent, error))

    def instead_of(self, buffer: int, owner: int) -> None:
        """Staging: it is placed exactly when `owner` is not."""
        self._set(buffer, b"instead_of", b"%d" % owner)

    # Sets.

    def _pair(self, kind: bytes, a: int, b: int, cost: int = 0) -> None:
        _native.checked(self._native.lx_placement_pair(self._open(), kind, a, b, cost, _native.error()))

    def apart(self, a: int, b: int) -> None:
        """They never share a byte."""
        self._pair(b"apart", a, b)

    def exclusive(self, a: int, b: int) -> None:
        """They are never alive at once, whatever their lives say."""
        self._pair(b"exclusive", a, b)

    def reuse(self, a: int, b: int, cost: int) -> None:
        """What it costs if they share a byte one after the other."""
        self._pair(b"reuse", a, b, cost)

    def _group(self, kind: bytes, members: Iterable[int]) -> None:
        at, count, keep = _native.int32s(members)
        _native.checked(self._native.lx_placement_group(self._open(), kind, at, count, _native.error()))
        del keep

    def same_place(self, members: Iterable[int]) -> None:
        """One pool and one address for all of them, or all are off."""
        self._group(b"same_place", members)

    def together(self, members: Iterable[int]) -> None:
        """All or none are placed."""
        self._group(b"together", members)

    def charge(
        self,
        cost: Optional[int],
        all_on: Iterable[int] = (),
        all_off: Iterable[int] = (),
        any_on: Iterable[int] = (),
        any_off: Iterable[int] = (),
    ) -> None:
        """A cost that is paid once if all of these hold; None: they must not."""
        lists = [_native.int32s(x) for x in (all_on, all_off, any_on, any_off)]
        flat = [part for at, count, _ in lists for part in (at, count)]
        _native.checked(
            self._native.lx_placement_charge(self._open(), -1 if cost is None else cost, *flat, _native.error())
        )

    # Answers.

    def solve(self, options: Any = None, **values: Any) -> Solution:
        """Solves it; the answer is checked. `options`: Options, a text ("solver=exact") or a mapping; or by name,
        `solve(solver="exact")`.

        Where no legal answer exists, its `status` is "infeasible" and no buffer has an address."""
        return Solution(asked(self._native.lx_solve, (self._open(),), options, values), self._native)

    def check(self, addresses: Sequence[Optional[int]], pools: Optional[Sequence[Optional[int]]] = None) -> float:
        """The value of anybody's answer; LxplanError names rule, buffers and bytes where it is not legal."""
        where = [0] * len(addresses) if pools is None else pools
        at, count, keep = _native.int64s([-1 if a is None else a for a in addresses])
        in_pool, count_2, keep_2 = _native.int32s(
            [-1 if k is None or a is None else k for k, a in zip(where, addresses)]
        )
        if count != count_2:
            raise ValueError("addresses and pools differ in length")
        value = ctypes.c_double()
        legal = self._native.lx_check(self._open(), in_pool, at, count, ctypes.byref(value), _native.error())
        del keep, keep_2
        if legal != 1:
            raise _native.failure(legal)
        return value.value
