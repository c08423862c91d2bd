"""What lxplan.torch reads of torch.export's programs: nodes of a graph with shapes and types, and which arguments are weights."""


class Tensor:
    def __init__(self, shape, dtype="float32"):
        self.shape, self.dtype = tuple(shape), f"torch.{dtype}"


class Overload:
    """aten.NAME.default"""

    def __init__(self, name):
        self.overloadpacket, self.text = name, f"aten.{name}" + ("" if "." in name else ".default")

    def __str__(self):
        return self.text


def getitem():
    pass


getitem.__name__ = "getitem"


class Node:
    def __init__(self, name, op, target, args, kwargs, val):
        self.name, self.op, self.target, self.args, self.kwargs = name, op, target, tuple(args), kwargs
        self.meta = {} if val is None else {"val": val}


class Named:
    def __init__(self, **parts):
        self.__dict__.update(parts)


class Program:
    """A program, op by op: p.op("add.Tensor", [8], x, y)."""

    def __init__(self):
        self.graph, self.graph_signature = Named(nodes=[]), Named(input_specs=[])

    def node(self, op, target, args, kwargs, val):
        made = Node(f"n{len(self.graph.nodes)}", op, target, args, kwargs, val)
        self.graph.nodes.append(made)
        return made

    def argument(self, shape, kind="USER_INPUT", dtype="float32"):
        made = self.node("placeholder", "x", (), {}, Tensor(shape, dtype))
        target = None if kind == "USER_INPUT" else f"model.{made.name}"
        self.graph_signature.input_specs.append(Named(arg=Named(name=made.name), kind=f"InputKind.{kind}", target=target))
        return made

    def weight(self, *shape):
        return self.argument(shape, "PARAMETER")

    def op(self, name, shape, *args, dtype="float32", **kwargs):
        many = shape and isinstance(shape[0], (list, tuple))
        val = [Tensor(s, dtype) for s in shape] if many else Tensor(shape, dtype)
        return self.node("call_function", Overload(name), args, kwargs, val)

    def item(self, of, index):
        return self.node("call_function", getitem, (of, index), {}, of.meta["val"][index])

    def output(self, *results):
        self.node("output", "output", (list(results),), {}, None)
        return self
