"""What all objects over a handle of the library share: one owner, freed once, at the latest when it is collected."""

from __future__ import annotations

from typing import Any, TypeVar

from . import _native

H = TypeVar("H", bound="Handle")


class Handle:
    """Owns one handle. A context manager; `close` may be called again."""

    __slots__ = ("_at", "_native", "__weakref__")
    _free = ""

    def __init__(self, at: int, native: Any):
        self._at, self._native = at, native

    def close(self) -> None:
        """Frees what the library holds for this object; it cannot be used after that."""
        at, self._at = getattr(self, "_at", None), None  # type: ignore[assignment]
        if at:
            getattr(self._native, self._free)(at)

    def _open(self) -> int:
        if not self._at:
            raise ValueError(f"this {type(self).__name__} is closed")
        return self._at

    def __enter__(self: H) -> H:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def __del__(self) -> None:
        self.close()


def rows(at: Any, *fields: str) -> list:
    """All rows of a table of the library (solvers, options) as dictionaries."""
    found: list = []
    while True:
        row = {field: _native.decoded(at(len(found), field.encode())) for field in fields}
        if row[fields[0]] is None:
            return found
        found.append(row)
