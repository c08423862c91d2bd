"""Tensor graphs: built or read, then planned."""

from __future__ import annotations

import ctypes
import json
from collections.abc import Mapping
from typing import Any, Optional, Sequence, Union

from . import _native
from ._handle import Handle
from ._options import asked, options_of
from ._result import Plan


class Graph(Handle):
    """A tensor graph and its device; it never changes."""

    __slots__ = ()
    _free = "lx_graph_free"

    @classmethod
    def parse(cls, data: Union[bytes, str], format: Optional[str] = None, **options: Any) -> "Graph":
        """From the content of a file: a pattern, or a model of another compiler; format None: by content.

        Models take the options of the import by name: `dims={"N": 8}`, `values={"n": 3}`, `roles={"x": "weight"}`,
        `trips=2`, `branch=0`, `strict=True`, ...; `report()` says what became of each op."""
        native = _native.library()
        raw = _native.content(data)
        if format is not None:
            if options:
                raise TypeError("options are of models, whose format is told by content")
            return cls(_native.made(native.lx_graph_parse(raw, len(raw), _native.encoded(format), _native.error())), native)
        asked_for = {}
        for name, value in options.items():
            if isinstance(value, Mapping):
                named = ((str(k).replace("\\", "\\\\").replace(",", "\\,"), v) for k, v in value.items())
                name, value = name.rstrip("s"), ",".join(f"{k}={v}" for k, v in named)
            asked_for[name.replace("_", "-")] = value
        how = options_of(None, asked_for)
        return cls(_native.made(native.lx_graph_import(raw, len(raw), how._open(), _native.error())), native)

    def report(self) -> Any:
        """What the import made of each op of a model; InvalidInput for another graph."""
        return json.loads(self.write("report"))

    def write(self, format: str = "pattern") -> bytes:
        """As a file of that format."""
        return _native.taken(self._native.lx_graph_write(self._open(), _native.encoded(format), _native.error()))

    def number(self, name: str) -> float:
        """ "tensors", "ops", "bytes"."""
        value = ctypes.c_double()
        if self._native.lx_graph_number(self._open(), _native.encoded(name), ctypes.byref(value)) < 0:
            raise KeyError(name)
        return value.value

    def word(self, name: str) -> str:
        """ "name", "hash"."""
        text = self._native.lx_graph_word(self._open(), _native.encoded(name))
        if text is None:
            raise KeyError(name)
        return text.decode("utf-8", "replace")

    @property
    def name(self) -> str:
        return self.word("name")

    @property
    def hash(self) -> str:
        """The same on every machine."""
        return self.word("hash")

    @property
    def ops(self) -> int:
        return int(self.number("ops"))

    @property
    def tensors(self) -> int:
        return int(self.number("tensors"))

    def plan(self, options: Any = None, **values: Any) -> Plan:
        """The whole road: layouts, divisions, placement; checked. Options as of `Placement.solve`."""
        return Plan(asked(self._native.lx_plan, (self._open(),), options, values), self._native)

    def __repr__(self) -> str:
        return f"<Graph {self.name}: {self.ops} ops, {self.tensors} tensors>" if self._at else "<closed Graph>"


class Builder(Handle):
    """A graph under construction.

        b = Builder("softmax")
        b.device("preset", "spyre")
        x = b.tensor("x", "fp16", [512, 1024], "input")
        y = b.tensor("y", "fp16", [512, 1024], "output")
        b.op("exp", "exp", [x], y)
        graph = b.finish()
    """

    __slots__ = ()
    _free = "lx_builder_free"

    def __init__(self, name: str):
        native = _native.library()
        super().__init__(_native.made(native.lx_builder_new(_native.encoded(name))), native)

    def device(self, key: str, value: Any) -> None:
        """The preset, or one parameter of the device."""
        _native.checked(
            self._native.lx_builder_device(
                self._open(), _native.encoded(key), _native.encoded(str(value)), _native.error()
            )
        )

    def tensor(self, name: str, dtype: str, shape: Sequence[int], role: Optional[str] = None) -> int:
        """A tensor; role: "input", "weight", "output", "intermediate", "state"; None: by use. Its index."""
        at, count, keep = _native.int64s(shape)
        index = self._native.lx_builder_tensor(
            self._open(), _native.encoded(name), _native.encoded(dtype), count, at, _native.encoded(role), _native.error()
        )
        del keep
        return _native.checked(index)

    def op(self, name: str, kind: str, inputs: Sequence[int], output: int, einsum: Optional[str] = None) -> int:
        """An op that makes `output` of `inputs`; einsum None: by kind and shapes. Its index."""
        at, count, keep = _native.int32s(inputs)
        index = self._native.lx_builder_op(
            self._open(), _native.encoded(name), _native.encoded(kind), _native.encoded(einsum), at, count, output, _native.error()
        )
        del keep
        return _native.checked(index)

    def attribute(self, op: int, key: str, value: Any) -> None:
        """A parameter of an op, by its key in a pattern file; what is no text is written as JSON."""
        text = value if isinstance(value, str) else json.dumps(value)
        _native.checked(
            self._native.lx_builder_attribute(
                self._open(), op, _native.encoded(key), _native.encoded(text), _native.error()
            )
        )

    def finish(self) -> Graph:
        """The graph, checked as a pattern file is; the builder is empty again."""
        return Graph(_native.made(self._native.lx_builder_finish(self._open(), _native.error())), self._native)
