"""Programs of torch.export as graphs.

    import lxplan, lxplan.torch
    program = torch.export.export(model, (x,)).run_decompositions()
    plan = lxplan.torch.graph(program).plan()

The program is written as TTIR, which lxplan reads as any model: an op without a row here becomes `generic`, is planned and
counted. Nothing here imports torch: ops, types and roles are told by their names. Shapes must be numbers.
"""

from __future__ import annotations

import math
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple

from ._graph import Graph

_TYPES = {
    "float32": "f32", "float16": "f16", "bfloat16": "bf16", "float64": "f64", "int64": "i64", "int32": "i32",
    "int16": "i16", "int8": "i8", "uint8": "ui8", "bool": "i1",
}

# One op of TTIR with the same tensors as operands; numbers become constants.
_SAME = {
    "add": "add", "sub": "subtract", "mul": "multiply", "div": "div", "pow": "pow", "maximum": "maximum", "minimum": "minimum",
    "remainder": "remainder", "gt": "gt", "ge": "ge", "lt": "lt", "le": "le", "eq": "eq", "ne": "ne", "where": "where",
    "logical_and": "logical_and", "logical_or": "logical_or", "logical_not": "logical_not", "bitwise_and": "bitwise_and",
    "bitwise_or": "bitwise_or", "bitwise_not": "bitwise_not", "neg": "neg", "abs": "abs", "exp": "exp", "log": "log",
    "sqrt": "sqrt", "rsqrt": "rsqrt", "reciprocal": "reciprocal", "tanh": "tanh", "sigmoid": "sigmoid", "relu": "relu",
    "silu": "silu", "cos": "cos", "sin": "sin", "erf": "erf", "floor": "floor", "ceil": "ceil", "round": "round", "sign": "sign",
    "isfinite": "isfinite", "log1p": "log1p", "expm1": "expm1", "mm": "matmul", "bmm": "matmul", "matmul": "matmul",
}
_TYPE_ONLY = ("_to_copy", "to", "type_as")
_SHAPE_ONLY = ("view", "reshape", "_unsafe_view", "unsqueeze", "squeeze", "flatten", "clone", "contiguous", "alias", "detach",
               "lift_fresh_copy", "dropout", "view_copy", "unsqueeze_copy", "squeeze_copy")
_REDUCE = {"sum": "sum", "mean": "mean", "amax": "max", "amin": "min", "prod": "prod", "any": "reduce_or", "argmax": "argmax"}

Shape = Tuple[int, ...]
Value = Tuple[str, Shape, str]  # name, shape, element type


def _list(numbers: Sequence[int]) -> str:
    return "[" + ", ".join(f"{n} : i32" for n in numbers) + "]"


def _array(numbers: Sequence[int]) -> str:
    return "array<i64: " + ", ".join(map(str, numbers)) + ">" if numbers else "array<i64>"


def _tensor(shape: Shape, element: str) -> str:
    return "tensor<" + "".join(f"{n}x" for n in shape) + element + ">"


def _typed(value: Any, what: str) -> Tuple[Shape, str]:
    word = str(value.dtype).rpartition(".")[2]
    if word not in _TYPES:
        raise ValueError(f"{what}: elements of type {word}; known are {', '.join(_TYPES)}")
    if any(not isinstance(n, int) for n in value.shape):
        raise ValueError(f"{what}: shape {tuple(value.shape)} has symbols; export without dynamic_shapes")
    return tuple(value.shape), _TYPES[word]


class _Writer:
    """The text of one function, op by op."""

    def __init__(self) -> None:
        self.lines: List[str] = []
        self.values: Dict[str, Any] = {}  # by node: a Value, or a list of them

    def op(self, kind: str, operands: Sequence[Value], out: Tuple[Shape, str], attributes: str = "", name: str = "") -> Value:
        made = f"%{len(self.lines)}"
        types = ", ".join(_tensor(v[1], v[2]) for v in operands)
        self.lines.append(
            f'{made} = "ttir.{kind}"({", ".join(v[0] for v in operands)})' + (f" <{{{attributes}}}>" if attributes else "")
            + f" : ({types}) -> {_tensor(*out)}" + (f' loc("{name}")' if name else "")
        )
        return made, out[0], out[1]

    def number(self, number: Any, element: str) -> Value:
        if isinstance(number, bool):
            text = str(number).lower()
        elif element[0] in "iu":
            text = str(int(number))
        elif math.isfinite(number):
            text = f"{float(number):e}"
        else:
            text = {"f64": "0x7FF0000000000000", "f32": "0x7F800000", "bf16": "0x7F80", "f16": "0x7C00"}[element]
            if number < 0 or math.isnan(number):
                text = "0xF" + text[3:] if number < 0 else text[:-1] + "1"
        return self.op("constant", (), ((), element), f"value = dense<{text}> : {_tensor((), element)}")

    def reshape(self, x: Value, shape: Shape) -> Value:
        return x if x[1] == shape else self.op("reshape", (x,), (shape, x[2]), f"shape = {_list(shape)}")

    def slice(self, x: Value, dim: int, begin: int, end: int, step: int = 1) -> Value:
        size = x[1][dim]
        begin, end, step = slice(begin, end, step).indices(size)
        if (begin, end, step) == (0, size, 1):
            return x
        begins, ends, steps = [0] * len(x[1]), list(x[1]), [1] * len(x[1])
        begins[dim], ends[dim], steps[dim] = begin, end, step
        shape = tuple(len(range(begin, end, step)) if d == dim else n for d, n in enumerate(x[1]))
        return self.op("slice_static", (x,), (shape, x[2]), f"begins = {_list(begins)}, ends = {_list(ends)}, step = {_list(steps)}")

    def broadcast(self, x: Value, shape: Shape) -> Value:
        x = self.reshape(x, (1,) * (len(shape) - len(x[1])) + x[1])
        times = [n // m for n, m in zip(shape, x[1])]
        return x if x[1] == shape else self.op("broadcast", (x,), (shape, x[2]), f"broadcast_dimensions = {_array(times)}")

    def permute(self, x: Value, order: Sequence[int]) -> Value:
        order = [d % len(x[1]) for d in order]
        shape = tuple(x[1][d] for d in order)
        return self.op("permute", (x,), (shape, x[2]), f"permutation = {_array(order)}")


class _Node:
    """An op of the program: its operands by position or name, and the type of its result."""

    def __init__(self, writer: _Writer, node: Any, word: str) -> None:
        self.w, self.node, self.word, self.name = writer, node, word, node.name
        self.args = [self.known(a) for a in node.args]
        self.kwargs = {k: self.known(v) for k, v in node.kwargs.items()}
        self.results = node.meta.get("val")
        many = isinstance(self.results, (list, tuple))
        self.out = [_typed(v, node.name) for v in (self.results if many else [self.results]) if hasattr(v, "dtype")]

    def known(self, a: Any) -> Any:
        if isinstance(a, (list, tuple)) and not isinstance(a, str):
            return [self.known(x) for x in a]
        return self.w.values[a.name] if hasattr(a, "meta") and hasattr(a, "name") else a

    def at(self, index: int, key: str, otherwise: Any = None) -> Any:
        return self.args[index] if index < len(self.args) else self.kwargs.get(key, otherwise)

    def tensors(self) -> List[Value]:
        flat: List[Any] = []
        for a in list(self.args) + list(self.kwargs.values()):
            flat.extend(a if isinstance(a, list) else [a])
        return [a for a in flat if isinstance(a, tuple)]

    def emit(self, kind: str, operands: Sequence[Value], attributes: str = "") -> Value:
        return self.w.op(kind, operands, self.out[0], attributes, self.name)


def _same(n: _Node) -> Value:
    like = next((v[2] for v in n.tensors() if v[2] != "i1"), "f32")
    operands = [a if isinstance(a, tuple) else n.w.number(a, like) for a in n.args]
    alpha = n.kwargs.get("alpha", 1)
    if alpha != 1:
        operands[1] = n.w.op("multiply", (operands[1], n.w.number(alpha, like)), operands[1][1:])
    return n.emit(_SAME[n.word], operands)


def _shaped(n: _Node) -> Value:
    return n.w.reshape(n.args[0], n.out[0][0])


def _cast(n: _Node) -> Value:
    return n.args[0] if n.args[0][2] == n.out[0][1] else n.emit("typecast", (n.args[0],))


def _permute(n: _Node) -> Value:
    rank = len(n.args[0][1])
    order = list(range(rank))
    if n.word == "permute":
        order = list(n.at(1, "dims"))
    elif rank > 1:
        a, b = (0, 1) if n.word == "t" else (n.at(1, "dim0"), n.at(2, "dim1"))
        order[a], order[b] = order[b], order[a]
    return n.w.permute(n.args[0], order)


def _slice(n: _Node) -> Value:
    x, rank = n.args[0], len(n.args[0][1])
    if n.word == "select":
        dim, index = n.at(1, "dim") % rank, n.at(2, "index")
        index %= x[1][dim]
        return n.w.reshape(n.w.slice(x, dim, index, index + 1), n.out[0][0])
    return n.w.slice(x, n.at(1, "dim", 0) % rank, n.at(2, "start") or 0, n.at(3, "end"), n.at(4, "step", 1))


def _split(n: _Node) -> List[Value]:
    x, dim, begin, parts = n.args[0], n.at(2, "dim", 0), 0, []
    for shape, _ in n.out:
        dim %= len(shape)
        parts.append(n.w.slice(x, dim, begin, begin + shape[dim]))
        begin += shape[dim]
    return parts


def _reduce(n: _Node) -> Value:
    x, dims = n.args[0], n.at(1, "dim")
    dims = range(len(x[1])) if dims is None or dims == [] else dims if isinstance(dims, list) else [dims]
    keep = str(bool(n.at(2, "keepdim", False))).lower()
    return n.emit(_REDUCE[n.word], (x,), f"dim_arg = {_list([d % len(x[1]) for d in dims])}, keep_dim = {keep}")


def _linear(n: _Node) -> Value:
    operands = [v for v in n.args if v is not None]
    if n.word == "addmm":
        bias, a, b = operands
        product = n.w.op("matmul", (a, b), ((a[1][0], b[1][1]), a[2]))
        return n.emit("add", (product, bias))
    return n.emit("linear", operands, "transpose_a = false, transpose_b = true")


def _normed(n: _Node) -> Any:
    x, shape, parts = n.args[0], n.at(1, "normalized_shape"), [v for v in n.args[2:4] if isinstance(v, tuple)]
    rms = n.word == "rms_norm"
    epsilon = n.at(3, "eps") if rms else n.at(4, "eps", 1e-5)
    sizes = [1, int(len(parts) > 0), int(len(parts) > 1)]
    y = n.emit("rms_norm" if rms else "layer_norm", [x] + parts, f"epsilon = {epsilon or 1e-6:e} : f32, normalized_shape = "
               f"{_array(shape)}, operandSegmentSizes = array<i32: {', '.join(map(str, sizes))}>")
    return [y] if n.word == "native_layer_norm" else y


def _attention(n: _Node) -> Value:
    mask, scale = n.at(3, "attn_mask"), n.kwargs.get("scale")
    attributes = f"is_causal = {str(bool(n.at(5, 'is_causal', False))).lower()}, operandSegmentSizes = array<i32: 1, 1, 1, {int(mask is not None)}, 0>"
    if scale is not None:
        attributes += f", scale = {scale:e} : f32"
    return n.emit("scaled_dot_product_attention", n.args[:3] + ([mask] if mask is not None else []), attributes)


def _filled(n: _Node) -> Value:
    number = {"zeros": 0, "ones": 1, "zeros_like": 0, "ones_like": 1}.get(n.word)
    if number is None:
        number = n.args[0] if n.word == "scalar_tensor" else n.at(1, "fill_value")
    return n.w.broadcast(n.w.number(number, n.out[0][1]), n.out[0][0])


def _arange(n: _Node) -> Value:
    start, step = (0, 1) if len(n.args) == 1 else (n.args[0], n.at(2, "step", 1))
    end = start + step * n.out[0][0][0]
    return n.emit("arange", (), f"arange_dimension = 0 : i64, end = {end} : si64, start = {start} : si64, step = {step} : si64")


_RULES: Dict[str, Callable[[_Node], Any]] = {
    "permute": _permute, "transpose": _permute, "t": _permute, "slice": _slice, "select": _slice, "split": _split,
    "split_with_sizes": _split, "chunk": _split, "linear": _linear, "addmm": _linear, "layer_norm": _normed,
    "native_layer_norm": _normed, "rms_norm": _normed, "scaled_dot_product_attention": _attention, "full": _filled,
    "full_like": _filled, "zeros": _filled, "ones": _filled, "zeros_like": _filled, "ones_like": _filled,
    "scalar_tensor": _filled, "arange": _arange,
    "expand": lambda n: n.w.broadcast(n.args[0], n.out[0][0]),
    "embedding": lambda n: n.emit("embedding", (n.args[1], n.args[0])),
    "gelu": lambda n: n.emit("gelu", (n.args[0],), f'approximate = "{n.kwargs.get("approximate", "none")}"'),
    "cat": lambda n: n.emit("concat", n.args[0], f"dim = {n.at(1, 'dim', 0) % len(n.out[0][0])} : si32"),
    "softmax": lambda n: n.emit("softmax", (n.args[0],), f"dimension = {n.args[1] % len(n.out[0][0])} : si32"),
    "getitem": lambda n: n.args[0][n.args[1]] if isinstance(n.args[0], list) else n.args[0],
}
_RULES["_softmax"] = _RULES["softmax"]
for _words, _rule in ((_SAME, _same), (_SHAPE_ONLY, _shaped), (_TYPE_ONLY, _cast), (_REDUCE, _reduce)):
    _RULES.update(dict.fromkeys(_words, _rule))


def _word(target: Any) -> str:
    """ "add" of aten.add.Tensor, "getitem" of the function."""
    text = getattr(target, "__name__", None) if not hasattr(target, "overloadpacket") else None
    parts = (text or str(target)).split(".")
    return parts[1] if len(parts) > 2 else parts[0]


def _unknown(n: _Node) -> Any:
    made = [n.w.op(n.word, n.tensors(), out, name=n.name) for out in n.out]
    return made if isinstance(n.results, (list, tuple)) else made[0] if made else None


def ttir(program: Any) -> str:
    """An exported program as the text of TTIR."""
    w, arguments, returned = _Writer(), [], []
    kinds = {s.arg.name: (str(s.kind).rpartition(".")[2], s.target) for s in program.graph_signature.input_specs
             if hasattr(s.arg, "name")}
    for node in program.graph.nodes:
        if node.op == "placeholder":
            if not hasattr(node.meta.get("val"), "dtype"):
                w.values[node.name] = node.meta.get("val")
                continue
            kind, target = kinds.get(node.name, ("USER_INPUT", None))
            shape, element = _typed(node.meta["val"], node.name)
            w.values[node.name] = (f"%arg{len(arguments)}", shape, element)
            role = "input" if kind == "USER_INPUT" else "parameter"
            arguments.append(f"%arg{len(arguments)}: {_tensor(shape, element)} {{ttcore.argument_type = #ttcore.argument_type<{role}>, "
                             f'ttir.name = "{target or node.name}"}}')
        elif node.op == "call_function":
            n = _Node(w, node, _word(node.target))
            w.values[node.name] = _RULES.get(n.word, _unknown)(n)
        elif node.op == "output":
            outputs: List[Optional[Any]] = list(node.args[0]) if isinstance(node.args[0], (list, tuple)) else [node.args[0]]
            returned = [w.values[a.name] for a in outputs if hasattr(a, "name") and isinstance(w.values[a.name], tuple)]
        else:
            raise ValueError(f"{node.name}: a node of kind {node.op}; torch.export lifts these to arguments")
    types = ", ".join(_tensor(v[1], v[2]) for v in returned)
    return "\n".join(
        ["module {", f"func.func @main({', '.join(arguments)}) -> ({types}) {{"] + w.lines
        + [f"return {', '.join(v[0] for v in returned)} : {types}", "}", "}", ""]
    )


def graph(program: Any) -> Graph:
    """An exported program as a graph."""
    return Graph.parse(ttir(program))
