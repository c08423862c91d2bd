"""What a solve, a plan or a run gave: named numbers, words and lists."""

from __future__ import annotations

import ctypes
import os
from array import array
from typing import Any, Iterator, List, Optional, Tuple

from . import _native
from ._handle import Handle
from ._options import Options, asked, handle_of


class Item:
    """One row of a list of a result: `item["name"]`, a word where it is one, else a number."""

    __slots__ = ("_of", "_list", "_i")

    def __init__(self, of: "Result", name: str, i: int):
        self._of, self._list, self._i = of, _native.encoded(name), i

    def number(self, name: str) -> float:
        value = ctypes.c_double()
        of = self._of
        if of._native.lx_result_item_number(of._open(), self._list, self._i, _native.encoded(name), ctypes.byref(value)) < 0:
            raise KeyError(name)
        return value.value

    def word(self, name: str) -> str:
        of = self._of
        text = of._native.lx_result_item_word(of._open(), self._list, self._i, _native.encoded(name))
        if text is None:
            raise KeyError(name)
        return text.decode("utf-8", "replace")

    def __getitem__(self, name: str) -> Any:
        try:
            return self.word(name)
        except KeyError:
            return self.number(name)

    def get(self, name: str, otherwise: Any = None) -> Any:
        try:
            return self[name]
        except KeyError:
            return otherwise


class Items:
    """A list of a result, as a sequence of `Item`."""

    __slots__ = ("_of", "_name", "_count")

    def __init__(self, of: "Result", name: str):
        self._count = of._native.lx_result_count(of._open(), _native.encoded(name))
        if self._count < 0:
            raise KeyError(name)
        self._of, self._name = of, name

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, i: int) -> Item:
        if not -self._count <= i < self._count:
            raise IndexError(i)
        return Item(self._of, self._name, i % self._count)

    def __iter__(self) -> Iterator[Item]:
        return (Item(self._of, self._name, i) for i in range(self._count))


class Result(Handle):
    """Named numbers, words and lists. An unknown name is a KeyError."""

    __slots__ = ()
    _free = "lx_result_free"

    def number(self, name: str) -> float:
        """A number: "objective", "bound", "gap", "steps", "hbm_bytes", "us", "height", ..."""
        value = ctypes.c_double()
        if self._native.lx_result_number(self._open(), _native.encoded(name), ctypes.byref(value)) < 0:
            raise KeyError(name)
        return value.value

    def word(self, name: str) -> str:
        """A word: "status", "solver", ..."""
        text = self._native.lx_result_word(self._open(), _native.encoded(name))
        if text is None:
            raise KeyError(name)
        return text.decode("utf-8", "replace")

    def items(self, name: str) -> Items:
        """A list: "buffers", "ops", "transfers", "faults"."""
        return Items(self, name)

    def check(self) -> None:
        """Checks it again from scratch; LxplanError names rule, buffers and bytes where it is not legal."""
        if self._native.lx_result_check(self._open(), _native.error()) != 1:
            raise _native.failure()

    def write(self, format: str, other: Optional["Result"] = None) -> bytes:
        """As text: "plan", "explain", "diff" (against `other`), or an export."""
        text = self._native.lx_result_write(
            self._open(), _native.encoded(format), other._open() if other else None, _native.error()
        )
        return _native.taken(text)

    @property
    def status(self) -> str:
        """What is known of it: "optimal" where it is proved to be the best, ..."""
        return self.word("status")

    @property
    def objective(self) -> float:
        return self.number("objective")

    @property
    def bound(self) -> float:
        """No answer is below this; proved."""
        return self.number("bound")

    @property
    def gap(self) -> float:
        """How far the objective is above the bound, as a share of it."""
        return self.number("gap")

    @property
    def notes(self) -> List[str]:
        """What went wrong and was no reason to fail: no time to cut a team."""
        return self.word("notes").splitlines()

    def _places(self) -> Tuple[array, array]:
        count = self._native.lx_result_places(self._open(), None, None, 0)
        pools, addresses = array("i", bytes(4 * count)), array("q", bytes(8 * count))
        self._native.lx_result_places(self._at, pools.buffer_info()[0], addresses.buffer_info()[0], count)
        return pools, addresses


class Solution(Result):
    """Where each buffer is; checked before it was returned."""

    __slots__ = ()

    @property
    def addresses(self) -> List[Optional[int]]:
        """Per buffer its address in bytes; None: it is not placed."""
        return [a if a >= 0 else None for a in self._places()[1]]

    @property
    def pools(self) -> List[Optional[int]]:
        """Per buffer the index of its pool; None: it is not placed."""
        return [k if k >= 0 else None for k in self._places()[0]]


class Run(Result):
    """What the simulated device did with a plan: counters, and the list "faults"."""

    __slots__ = ()


class Plan(Result):
    """A plan of a graph: `hbm_bytes`, the lists "ops", "buffers", "transfers", and all exports by `write`."""

    __slots__ = ()

    @classmethod
    def parse(cls, data: "bytes | str") -> "Plan":
        """A plan file."""
        native = _native.library()
        raw = _native.content(data)
        return cls(_native.made(native.lx_plan_parse(raw, len(raw), _native.error())), native)

    @classmethod
    def of_file(cls, path: "str | os.PathLike[str]", options: Any = None) -> "Plan":
        """Of a pattern or model in a file."""
        native = _native.library()
        how = handle_of(options) or Options()
        how.set("file", os.fspath(path))
        try:
            return cls(asked(native.lx_plan, (None,), how), native)
        finally:
            how.set("file", "")

    def run(self, options: Any = None) -> Run:
        """Executes the plan on the simulated device."""
        return Run(asked(self._native.lx_run, (self._open(),), options), self._native)

    @property
    def hbm_bytes(self) -> int:
        """Bytes that go to and from the memory outside of the chip."""
        return int(self.number("hbm_bytes"))
