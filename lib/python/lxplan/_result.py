"""What a solve, a plan or a run gave: named numbers, words and lists."""

from __future__ import annotations

import ctypes
import os
from array import array
from collections.abc import Mapping, Sequence
from typing import Any, Dict, Iterator, List, Optional, Tuple, Union

from . import _native
from ._handle import Handle
from ._options import asked, options_of

Number = Union[int, float]


def _number(of: "Result", name: str, item: Tuple[Any, ...] = ()) -> Number:
    """A whole number as int, any other as float; KeyError where there is none of that name."""
    native, raw = of._native, _native.encoded(name)
    kind = "item_" if item else ""
    for getter, value in (("integer", ctypes.c_int64()), ("number", ctypes.c_double())):
        if getattr(native, f"lx_result_{kind}{getter}")(of._open(), *item, raw, ctypes.byref(value)) >= 0:
            return value.value
    raise KeyError(name)


def _names(of: "Result", of_list: Optional[bytes]) -> Dict[str, str]:
    """Every name with its type; a word wins over the number of its name."""
    found: Dict[str, str] = {}
    kind = ctypes.c_char_p()
    i = 0
    while True:
        name = of._native.lx_result_name_at(of._open(), of_list, i, ctypes.byref(kind))
        if name is None:
            return found
        text, i = name.decode(), i + 1
        if found.get(text) != "word":
            found[text] = (kind.value or b"").decode()


class Item(Mapping):
    """One row of a list of a result: a mapping from names to words, whole numbers and others."""

    __slots__ = ("_of", "_list", "_i")

    def __init__(self, of: "Result", name: str, i: int):
        self._of, self._list, self._i = of, _native.encoded(name), i

    def number(self, name: str) -> Number:
        return _number(self._of, name, (self._list, self._i))

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

    def __iter__(self) -> Iterator[str]:
        return iter(_names(self._of, self._list))

    def __len__(self) -> int:
        return len(_names(self._of, self._list))

    def __repr__(self) -> str:
        return f"Item({dict(self)!r})"


class Items(Sequence):
    """A list of a result, as a sequence of `Item`."""

    __slots__ = ("_of", "_name", "_count")

    def __init__(self, of: "Result", name: str):
        self._count = of._native.lx_result_count(of._open(), _native.encoded(name))
        if self._count < 0:
            raise KeyError(name)
        self._of, self._name = of, name

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, i: Any) -> Any:
        if isinstance(i, slice):
            return [Item(self._of, self._name, k) for k in range(*i.indices(self._count))]
        if not -self._count <= i < self._count:
            raise IndexError(i)
        return Item(self._of, self._name, i % self._count)

    @property
    def names(self) -> List[str]:
        """What each item knows."""
        return list(_names(self._of, _native.encoded(self._name)))

    def column(self, name: str) -> Any:
        """One value of all items: an array of int64 or double, or a list of words."""
        kind = _names(self._of, _native.encoded(self._name)).get(name)
        if kind is None:
            raise KeyError(name)
        if kind == "word":
            return [item.word(name) for item in self]
        return array("q" if kind == "integer" else "d", (item.number(name) for item in self))

    def columns(self) -> Dict[str, Any]:
        """All columns by name, as pandas.DataFrame(...) and numpy.asarray(...) take them."""
        return {name: self.column(name) for name in self.names}

    def __repr__(self) -> str:
        return f"<{self._count} {self._name}: {', '.join(self.names)}>"


class Result(Handle):
    """Named numbers, words and lists. An unknown name is a KeyError."""

    __slots__ = ()
    _free = "lx_result_free"

    def number(self, name: str) -> Number:
        """A number, a whole one as int: "objective", "bound", "steps", "hbm_bytes", "us", ..."""
        return _number(self, name)

    def word(self, name: str) -> str:
        """A word: "status", "solver", ..."""
        text = self._native.lx_result_word(self._open(), _native.encoded(name))
        if text is None:
            raise KeyError(name)
        return text.decode("utf-8", "replace")

    def items(self, name: str) -> Items:
        """A list: "buffers", "ops", "splits", "nests", "layouts", "launches", "syncs", "time_line", ..."""
        return Items(self, name)

    @property
    def names(self) -> Dict[str, str]:
        """Every name of this result: "number", "integer", "word" or "list"."""
        return _names(self, None)

    def check(self) -> None:
        """Checks it again from scratch; NotLegal names rule, buffers and bytes where it is not legal."""
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
        return float(self.number("objective"))

    @property
    def bound(self) -> float:
        """No answer is below this; proved."""
        return float(self.number("bound"))

    @property
    def gap(self) -> float:
        """How far the objective is above the bound, as a share of it."""
        return float(self.number("gap"))

    @property
    def notes(self) -> List[str]:
        """What went wrong and was no reason to fail: no time to cut a team."""
        return self.word("notes").splitlines()

    def __repr__(self) -> str:
        if not self._at:
            return f"<closed {type(self).__name__}>"
        known = self.names
        said = [f"{name} {self.number(name):g}" for name in ("objective", "bound", "hbm_bytes") if name in known]
        return f"<{type(self).__name__}: {', '.join([self.status, *said])}>"

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
    """A plan of a graph: `hbm_bytes`, the lists "ops", "buffers", "transfers", ..., and all exports by `write`."""

    __slots__ = ()

    @classmethod
    def parse(cls, data: "bytes | str") -> "Plan":
        """A plan file."""
        native = _native.library()
        raw = _native.content(data)
        return cls(_native.made(native.lx_plan_parse(raw, len(raw), _native.error())), native)

    @classmethod
    def of_file(cls, path: "str | os.PathLike[str]", options: Any = None, **values: Any) -> "Plan":
        """Of a pattern or model in a file."""
        native = _native.library()
        how = options_of(options, values)
        how.set("file", os.fspath(path))
        try:
            return cls(asked(native.lx_plan, (None,), how), native)
        finally:
            how.set("file", "")

    def run(self, options: Any = None, **values: Any) -> Run:
        """Executes the plan on the simulated device."""
        return Run(asked(self._native.lx_run, (self._open(),), options, values), self._native)

    @property
    def hbm_bytes(self) -> int:
        """Bytes that go to and from the memory outside of the chip."""
        return int(self.number("hbm_bytes"))
