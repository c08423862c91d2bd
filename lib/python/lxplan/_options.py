"""How something is asked for: options by name, and callbacks that see a solve while it runs."""

from __future__ import annotations

import ctypes
import signal
import threading
from typing import Any, Callable, Dict, List, Mapping, Optional

from . import _native
from ._handle import Handle, rows

Stop = Callable[[], Any]
Progress = Callable[[int, float, float], Any]


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "1" if value else "0"
    return str(value)


_thread = threading.local()  # .interrupted: the signal's frame, of a call that is under way


class _Interrupts:
    """Ctrl-C during a call of the library: its handler runs inside of a callback, from where no exception gets out. So it
    only takes note, the callback ends the call with its best, and then the handler that was there is called."""

    def __enter__(self) -> None:
        self.before = None
        if threading.current_thread() is threading.main_thread() and callable(signal.getsignal(signal.SIGINT)):
            self.before = signal.signal(signal.SIGINT, self._note)

    @staticmethod
    def _note(_: int, frame: Any) -> None:
        _thread.interrupted = (frame,)

    def __exit__(self, *_: Any) -> None:
        if self.before is None:
            return
        signal.signal(signal.SIGINT, self.before)
        noted, _thread.interrupted = getattr(_thread, "interrupted", None), None
        if noted:
            self.before(signal.SIGINT, noted[0])


@_native.STOP
def _ask_for_signals(_: Any) -> int:
    return 1 if getattr(_thread, "interrupted", None) else 0


class Options(Handle):
    """Options of the solvers and of the planner, by name: `Options(solver="exact", work=100000)`.

    `stop()` is asked now and then; if it answers true, the solve ends with its best. `progress(steps, objective, bound)`
    is told of improvements. Both run on the thread that solves. If one raises, the solve is ended and the exception is
    raised where the solve was called. `Options.all()` lists what there is.
    """

    __slots__ = ("_raised", "_callbacks", "values")
    _free = "lx_options_free"

    def __init__(self, stop: Optional[Stop] = None, progress: Optional[Progress] = None, **values: Any):
        native = _native.library()
        super().__init__(native.lx_options_new(), native)
        self._raised = threading.local()
        self._callbacks: List[Any] = []
        self.values: Dict[str, str] = {}
        for name in sorted(values, key=lambda n: n != "solver"):  # a solver's own options come behind it
            self.set(name.replace("_", "-"), values[name])
        native.lx_options_on_stop(self._at, ctypes.cast(_ask_for_signals, ctypes.c_void_p), None)
        if stop or progress:
            self._watch(stop, progress)

    def __repr__(self) -> str:
        return f"Options({', '.join(f'{name}={value!r}' for name, value in self.values.items())})"

    @classmethod
    def parse(cls, text: str, **more: Any) -> "Options":
        """From text: `Options.parse("solver=auto,work=1000")`; what is given by name wins."""
        values: Dict[str, Any] = {}
        for part in filter(None, (p.strip() for p in text.split(","))):
            name, sign, value = part.partition("=")
            if not sign:
                raise ValueError(f'"{part}" is no option: write name=value, separated by commas')
            values[name.strip()] = value.strip()
        values.update(more)
        return cls(**values)

    @staticmethod
    def all() -> List[Dict[str, Optional[str]]]:
        """Every option: name, default, low, high, help."""
        return rows(_native.library().lx_options_at, "name", "default", "low", "high", "help")

    def set(self, name: str, value: Any) -> None:
        """One option. LxplanError names what is wrong with it."""
        text = _text(value)
        _native.checked(
            self._native.lx_options_set(self._open(), _native.encoded(name), _native.encoded(text), _native.error())
        )
        self.values[name] = text

    def _watch(self, stop: Optional[Stop], progress: Optional[Progress]) -> None:
        raised = self._raised

        def guarded(call: Callable[[], Any]) -> Any:
            if getattr(raised, "what", None) is not None or getattr(_thread, "interrupted", None):
                return True
            try:
                return call()
            except BaseException as what:  # kept for the caller: nothing may pass through the C frames between
                raised.what = what
                return True

        def on_stop(_: Any) -> int:
            return 1 if guarded(stop or (lambda: False)) else 0

        def on_progress(_: Any, steps: int, objective: float, bound: float) -> None:
            guarded(lambda: progress(steps, objective, bound) if progress else None)

        told, asked = _native.PROGRESS(on_progress), _native.STOP(on_stop)
        self._callbacks = [told, asked]
        self._native.lx_options_on_stop(self._open(), ctypes.cast(asked, ctypes.c_void_p), None)
        if progress:
            self._native.lx_options_on_progress(self._open(), ctypes.cast(told, ctypes.c_void_p), None)

    def _raise(self) -> None:
        """Raises what a callback of this thread's last call raised."""
        what = getattr(self._raised, "what", None)
        if what is not None:
            self._raised.what = None
            raise what


def handle_of(options: Any) -> Optional["Options"]:
    """Options as they may be given: an object, a text, a mapping, or None."""
    if options is None or isinstance(options, Options):
        return options
    if isinstance(options, str):
        return Options.parse(options)
    if isinstance(options, Mapping):
        return Options(**options)
    raise TypeError(f"options are Options, a text or a mapping, not {type(options).__name__}")


def options_of(options: Any, values: Mapping[str, Any]) -> "Options":
    """Options as they may be given, with those that are given by name; without any, the thread's own."""
    how = handle_of(options)
    if how is not None and values:
        raise TypeError("options are given as one object, or by name")
    if how is not None:
        return how
    if values:
        return Options(**values)
    if not hasattr(_thread, "options"):
        _thread.options = Options()
    return _thread.options


def asked(function: Any, before: tuple, options: Any, values: Mapping[str, Any] = {}) -> int:
    """Calls `function(*before, options, error)`; Ctrl-C, and a callback's exception, go before an error of the call."""
    how = options_of(options, values)
    at = None
    try:
        with _Interrupts():
            at = function(*before, how._open(), _native.error())
        how._raise()
    except BaseException:
        if at:
            how._native.lx_result_free(at)
        raise
    return _native.made(at)


def solvers() -> List[Dict[str, Optional[str]]]:
    """Every solver that the library has: name, summary, and what it can."""
    return rows(_native.library().lx_solver_at, "name", "summary", "can")
