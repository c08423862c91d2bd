"""python3 -m lxplan FILE: plans a graph, or solves a list of buffers, and prints what came out.

Exit code 0: there is an answer; 1: there is none; 2: the file or an option is wrong; 3: the library cannot be loaded.
"""

from __future__ import annotations

import argparse
import os
import sys
from typing import Any, List, Optional

from . import Graph, LxplanError, Options, Placement, Result
from . import _native


def _arguments(words: Optional[List[str]]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python3 -m lxplan", description="Plan a graph, or place buffers.")
    parser.add_argument("file", metavar="FILE", help="a pattern, a model, or a list of buffers; - is standard input")
    parser.add_argument("--format", help="its format; by content if not given")
    parser.add_argument("-o", "--options", default="", metavar="NAME=VALUE,...", help="options of the planner and the solver")
    parser.add_argument("--write", metavar="FORMAT", help='print that instead: "plan", "explain", or an export')
    return parser.parse_args(words)


def _content(path: str) -> bytes:
    if path == "-":
        return sys.stdin.buffer.read()
    with open(path, "rb") as file:
        return file.read()


def _is_graph(graph: Graph) -> bool:
    return graph.ops > 0


def _answered(content: bytes, format: Optional[str], options: Options) -> Result:
    """A graph is planned; a list of buffers is solved."""
    try:
        with Graph.parse(content, format) as graph:
            if _is_graph(graph):
                return graph.plan(options)
    except LxplanError as why:
        try:
            problem = Placement.parse(content, format)
        except LxplanError:
            raise why from None
    else:
        problem = Placement.parse(content, format)
    with problem:
        return problem.solve(options)


def _number(value: float) -> str:
    return str(int(value)) if value == int(value) else f"{value:.6g}"


def _cell(item: Any, name: str) -> str:
    value = item.get(name, "")
    return str(value) if isinstance(value, str) else _number(value)


def _table(result: Result) -> None:
    names = ("name", "size", "start", "end", "address", "reason")
    rows = [names] + [tuple(_cell(item, name) for name in names) for item in result.items("buffers")]
    widths = [max(len(row[k]) for row in rows) for k in range(len(names))]
    for row in rows:
        cells = [row[0].ljust(widths[0])] + [row[k].rjust(widths[k]) for k in range(1, 5)] + [row[5]]
        print("  ".join(cells).rstrip())


def _print(result: Result) -> None:
    _table(result)
    print()
    for name in ("status", "solver"):
        print(f"{name:10} {result.word(name)}")
    for name in ("objective", "bound", "hbm_bytes", "height", "us"):
        try:
            value = result.number(name)
        except KeyError:
            continue
        if value == value and abs(value) != float("inf"):
            print(f"{name:10} {_number(value)}")


def _deliver(result: Result, format: Optional[str]) -> None:
    """Writes what was asked for. Who reads it may have had enough before its end: that is no error."""
    try:
        if format:
            sys.stdout.buffer.write(result.write(format))
        else:
            _print(result)
        sys.stdout.flush()
    except OSError as why:
        with open(os.devnull, "wb") as nowhere:
            os.dup2(nowhere.fileno(), sys.stdout.fileno())  # what is left is written again at the end
        if not isinstance(why, BrokenPipeError):
            raise OSError(f"the output cannot be written: {why}") from why


def main(words: Optional[List[str]] = None) -> int:
    """The command; its exit code."""
    given = _arguments(words)
    try:
        _native.library()
        with _answered(_content(given.file), given.format, Options.parse(given.options)) as result:
            _deliver(result, given.write)
            return 1 if result.status == "infeasible" else 0
    except ImportError as why:
        print(f"lxplan: {why}", file=sys.stderr)
        return 3
    except (LxplanError, OSError, ValueError) as why:
        print(f"lxplan: {given.file}: {why}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
