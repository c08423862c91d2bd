"""Cost expressions: the text that sympy's srepr writes, as a tree, and as a Python function.

    expr   = number | symbol | "true" | "false" | name "(" expr {", " expr} ")"
    number = "Integer(" int ")" | "Rational(" int ", " int ")" | "Float('" decimal "', precision=" int ")"
    symbol = "Symbol('" text "'" {", " word "=" ("True" | "False")} ")"

A tree is a tuple: ("number", float), ("symbol", name), ("true",), ("false",) or (name, child, ...). Values are doubles,
sums and products in the order of the text. A name that is not in `NAMES` is an error that names it.
"""

from __future__ import annotations

import math
import re
from typing import Any, Callable, Dict, FrozenSet, List, Tuple

Tree = Tuple[Any, ...]

_TOKEN = re.compile(r"\s*(?:([A-Za-z_][A-Za-z_0-9.]*)|(-?[0-9]+)|('(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\")|([(),=]))")


class ExpressionError(ValueError):
    """The text is no cost expression, or uses what is not known here."""


def _tokens(text: str) -> List[str]:
    found, at, end = [], 0, len(text.rstrip())
    while at < end:
        token = _TOKEN.match(text, at)
        if not token:
            raise ExpressionError(f"cost expression: nothing known begins at character {at}: {text[at:at + 20]!r}")
        found.append(token.group(token.lastindex or 0))
        at = token.end()
    return found + [""]


class _Parser:
    def __init__(self, text: str):
        self.tokens, self.at = _tokens(text), 0

    def take(self, wanted: str = "") -> str:
        token = self.tokens[self.at]
        if (wanted and token != wanted) or not token:
            raise ExpressionError(f"cost expression: expected {wanted or 'more'}, found {token or 'the end'!r}")
        self.at += 1
        return token

    def expression(self) -> Tree:
        name = self.take()
        if name in ("true", "false"):
            return (name,)
        if self.tokens[self.at] != "(":
            raise ExpressionError(f"cost expression: {name!r} is not known here")
        self.take("(")
        special = {"Integer": self.integer, "Rational": self.rational, "Float": self.decimal, "Symbol": self.symbol}
        tree = special[name]() if name in special else self.call(name)
        self.take(")")
        return tree

    def integer(self) -> Tree:
        return ("number", float(int(self.take())))

    def rational(self) -> Tree:
        over = int(self.take())
        self.take(",")
        return ("number", over / int(self.take()))

    def decimal(self) -> Tree:
        value = float(self.take()[1:-1])
        self.words()
        return ("number", value)

    def symbol(self) -> Tree:
        name = self.take()[1:-1]
        self.words()
        return ("symbol", name.replace("\\'", "'").replace("\\\\", "\\"))

    def words(self) -> None:
        while self.tokens[self.at] == ",":
            self.take(",")
            self.take()
            self.take("=")
            self.take()

    def call(self, name: str) -> Tree:
        if name not in NAMES:
            raise ExpressionError(f"cost expression: the function {name} is not known here")
        children = []
        while self.tokens[self.at] != ")":
            if children:
                self.take(",")
            children.append(self.expression())
        return (name, *children)


def parse(text: str) -> Tree:
    """The tree of a text."""
    parser = _Parser(text)
    tree = parser.expression()
    if parser.tokens[parser.at]:
        raise ExpressionError(f"cost expression: {parser.tokens[parser.at]!r} stands behind its end")
    return tree


def tree_of(expression: Any) -> Tree:
    """The tree of a text, of a tree, or of anything that sympy's srepr writes."""
    if isinstance(expression, tuple):
        return expression
    if isinstance(expression, str):
        return parse(expression)
    if isinstance(expression, (int, float)):
        return ("number", float(expression))
    from sympy import srepr  # the caller has made this with it

    return parse(srepr(expression))


def symbols(tree: Tree) -> FrozenSet[str]:
    """The names of its symbols."""
    if tree[0] == "symbol":
        return frozenset((tree[1],))
    if tree[0] == "number":
        return frozenset()
    return frozenset().union(*(symbols(child) for child in tree[1:])) if len(tree) > 1 else frozenset()


def terms(tree: Tree) -> List[Tree]:
    """What is added up at the top, sums inside sums and numbers times sums opened."""
    if tree[0] == "Add":
        return [t for child in tree[1:] for t in terms(child)]
    if tree[0] == "Mul":
        factors = [c for c in tree[1:] if c[0] == "number"]
        others = [c for c in tree[1:] if c[0] != "number"]
        if len(others) == 1 and others[0][0] == "Add":
            return [("Mul", *factors, t) for t in terms(others[0])]
    return [tree]


def _piecewise(children: List[str]) -> str:
    return "(" + " else ".join(children) + " else nothing())"


def _nothing() -> float:
    raise ExpressionError("cost expression: no condition of a Piecewise holds")


def _relayout(children: List[str]) -> str:
    is_lx, division, prices = children[0], children[1], ",".join(children[2:])
    return f"(({is_lx})*charge({division},({prices},)))" if prices else "0.0"


def _charge(division: float, prices: Tuple[float, ...]) -> float:
    return prices[int(division)] if 0 <= division < len(prices) else 0.0


def _infix(sign: str) -> Callable[[List[str]], str]:
    return lambda children: "(" + sign.join(children) + ")"


def _call(name: str) -> Callable[[List[str]], str]:
    return lambda children: f"{name}({','.join(children)})"


NAMES: Dict[str, Callable[[List[str]], str]] = {
    "Add": _infix("+"),
    "Mul": _infix("*"),
    "Pow": _infix("**"),
    "Mod": _infix("%"),
    "Min": _call("least"),
    "Max": _call("most"),
    "Abs": _call("abs"),
    "floor": _call("floor"),
    "ceiling": _call("ceil"),
    "log": _call("log"),
    "exp": _call("exp"),
    "Piecewise": _piecewise,
    "ExprCondPair": lambda c: f"{c[0]} if {c[1]}",
    "StrictLessThan": _infix("<"),
    "LessThan": _infix("<="),
    "StrictGreaterThan": _infix(">"),
    "GreaterThan": _infix(">="),
    "Equality": _infix("=="),
    "Unequality": _infix("!="),
    "And": _infix(" and "),
    "Or": _infix(" or "),
    "Not": lambda c: f"(not {c[0]})",
    "KroneckerDelta": lambda c: f"(1.0 if {c[0]}=={c[1]} else 0.0)",
    "RelayoutCharge": _relayout,
}

_GLOBALS = {
    "__builtins__": {},
    "least": lambda *values: min(values),
    "most": lambda *values: max(values),
    "abs": abs,
    "floor": lambda x: float(math.floor(x)),
    "ceil": lambda x: float(math.ceil(x)),
    "log": math.log,
    "exp": math.exp,
    "nothing": _nothing,
    "charge": _charge,
    "inf": math.inf,
}


def _source(tree: Tree, names: Dict[str, str]) -> str:
    if tree[0] == "number":
        return f"({tree[1]!r})"
    if tree[0] == "symbol":
        return names[tree[1]]
    if tree[0] in ("true", "false"):
        return "True" if tree[0] == "true" else "False"
    children = [_source(child, names) for child in tree[1:]]
    return NAMES[tree[0]](children) if children else "0.0"


def function(tree: Tree, arguments: List[str]) -> Callable[..., float]:
    """The tree as a function of these symbols, in this order, all of them doubles."""
    names = {name: f"v{i}" for i, name in enumerate(arguments)}
    return eval(f"lambda {','.join(names.values())}: {_source(tree, names)}", dict(_GLOBALS))
