"""Cost expressions as exact tables: each term over the choices and on/off bits that it depends on, nothing linearised.

An axis of a table is a bit ("on", buffer) or a choice ("x", buffer); choices under which all symbols of the term have the same
values are one class of the axis. A term of more than `LIMIT` entries is refused with its ops named.
"""

from __future__ import annotations

import itertools
from typing import Any, Callable, Dict, List, Sequence, Tuple

from . import _cost_expression as _expression
from ._cost_expression import ExpressionError, Tree
from ._joint_model import Model

LIMIT = 1 << 16


class Axis:
    """A variable of a table: `classes[value]` is the position along it."""

    __slots__ = ("kind", "buffer", "classes", "size")

    def __init__(self, kind: str, buffer: int, classes: List[int]):
        self.kind, self.buffer, self.classes, self.size = kind, buffer, classes, max(classes) + 1

    @property
    def key(self) -> Tuple[str, int, Tuple[int, ...]]:
        return self.kind, self.buffer, tuple(self.classes)


class Table:
    """Values in row-major order of the axes."""

    __slots__ = ("axes", "values")

    def __init__(self, axes: List[Axis], values: List[Any]):
        self.axes, self.values = axes, values

    def at(self, x: Sequence[int], on: Sequence[bool]) -> Any:
        position = 0
        for axis in self.axes:
            value = x[axis.buffer] if axis.kind == "x" else int(on[axis.buffer])
            position = position * axis.size + axis.classes[value]
        return self.values[position]


class Symbols:
    """What the symbols of a problem stand for: is_lx_<buffer>, division_<buffer>, split_<buffer>_<key>."""

    def __init__(self, model: Model):
        self.model = model

    def meaning(self, name: str) -> Tuple[str, int, List[float]]:
        """Kind of axis, buffer, and the symbol's value per value of the axis. ExpressionError names one that is unknown."""
        for prefix, read in (("is_lx_", self._bit), ("division_", self._division), ("split_", self._split)):
            if name.startswith(prefix):
                found = read(name[len(prefix):])
                if found:
                    return found
        raise ExpressionError(f"cost expression: the symbol {name} belongs to no buffer here")

    def _bit(self, rest: str) -> Any:
        i = self.model.index.get(rest)
        return None if i is None else ("on", i, [0.0] if self.model.barred[i] else [0.0, 1.0])

    def _division(self, rest: str) -> Any:
        i = self.model.index.get(rest)
        return None if i is None else ("x", i, [float(k) for k in range(len(self.model.bytes[i]))])

    def _split(self, rest: str) -> Any:
        owners = [i for name, i in self.model.index.items() if rest.startswith(name + "_")]
        if not owners:
            return None
        i = max(owners, key=lambda k: len(self.model.names[k]))
        key = rest[len(self.model.names[i]) + 1:]
        menu = self.model.menus[i]
        return "x", i, [float(_factor(division, key)) for division in menu] or [1.0]


def _factor(division: Any, key: str) -> int:
    return next((factor for symbol, factor in division.splits.items() if str(symbol) == key), 1)


def _axes(names: Sequence[str], symbols: Symbols) -> Tuple[List[Axis], List[Dict[str, float]], List[List[Dict[str, float]]]]:
    """Axes, and per axis and class the values of the symbols on it."""
    on_axis: Dict[Tuple[str, int], Dict[str, List[float]]] = {}
    for name in names:
        kind, buffer, values = symbols.meaning(name)
        on_axis.setdefault((kind, buffer), {})[name] = values
    axes, fixed, values_of = [], [], []
    for (kind, buffer), columns in on_axis.items():
        rows = list(zip(*columns.values()))
        first: Dict[Any, int] = {}
        classes = [first.setdefault(row, len(first)) for row in rows]
        if len(first) == 1:
            fixed.append(dict(zip(columns, rows[0])))
            continue
        axes.append(Axis(kind, buffer, classes))
        values_of.append([dict(zip(columns, row)) for row in first])
    return axes, fixed, values_of


def tabulate(term: Tree, symbols: Symbols) -> Table:
    """One term as a table."""
    names = sorted(_expression.symbols(term))
    axes, fixed, values_of = _axes(names, symbols)
    entries = 1
    for axis in axes:
        entries *= axis.size
    if entries > LIMIT:
        ops = ", ".join(sorted({symbols.model.names[a.buffer] for a in axes}))
        raise ExpressionError(f"cost expression: a term over {ops} has {entries} entries, more than {LIMIT}")
    function = _expression.function(term, names)
    values = [_value(function, names, fixed, row) for row in itertools.product(*values_of)]
    return Table(axes, values)


def _value(function: Callable[..., float], names: Sequence[str], fixed: Sequence[Dict[str, float]],
           row: Sequence[Dict[str, float]]) -> float:
    given: Dict[str, float] = {}
    for part in itertools.chain(fixed, row):
        given.update(part)
    try:
        value = float(function(*(given[n] for n in names)))
    except (ArithmeticError, ValueError, TypeError) as why:
        raise ExpressionError(f"cost expression: no value for {given} ({why})") from None
    if not -1e300 < value < 1e300:
        raise ExpressionError(f"cost expression: no finite value for {given}")
    return value


def tables_of(expression: Any, model: Model) -> List[Table]:
    """All terms of an expression; terms over the same axes are one table."""
    symbols = Symbols(model)
    merged: Dict[Any, Table] = {}
    for term in _expression.terms(_expression.tree_of(expression)):
        table = tabulate(term, symbols)
        table = _ordered(table)
        key = tuple(a.key for a in table.axes)
        if key in merged:
            merged[key].values = [a + b for a, b in zip(merged[key].values, table.values)]
        else:
            merged[key] = table
    return list(merged.values())


def _ordered(table: Table) -> Table:
    """The same table with its axes in one order, by kind and buffer."""
    order = sorted(range(len(table.axes)), key=lambda k: (table.axes[k].buffer, table.axes[k].kind))
    if order == list(range(len(order))):
        return table
    sizes = [a.size for a in table.axes]
    strides = [1] * len(sizes)
    for k in range(len(sizes) - 2, -1, -1):
        strides[k] = strides[k + 1] * sizes[k + 1]
    values = [table.values[sum(p * strides[k] for p, k in zip(position, order))]
              for position in itertools.product(*(range(sizes[k]) for k in order))]
    return Table([table.axes[k] for k in order], values)
