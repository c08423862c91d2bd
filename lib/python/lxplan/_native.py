"""The shared library behind this package: found, loaded and typed once.

`SIGNATURES` has a row for every function of `lxplan.h`; a test compares the two. Letters, the result first:

    v nothing   i int32_t   l int64_t   d double   s text   h handle or address   f callback

The library is looked for in this order: the file that `LXPLAN_LIBRARY` names, beside this module (wheels), where the
system looks. It is loaded when it is first needed, so that `import lxplan` works without it. `ctypes.CDLL` gives the
interpreter's lock up during each call: solves of several threads run side by side.
"""

from __future__ import annotations

import ctypes
import os
import threading
from array import array
from typing import Any, Iterable, Optional, Tuple

FILE = "liblxplan.so.0"
ABI = 0  # of lx_abi(): raised with the number in FILE

SIGNATURES = {
    "lx_version": "s",
    "lx_abi": "i",
    "lx_has": "is",
    "lx_error_new": "h",
    "lx_error_free": "vh",
    "lx_error_code": "sh",
    "lx_error_text": "sh",
    "lx_error_place": "shhh",
    "lx_text_data": "hh",
    "lx_text_size": "lh",
    "lx_text_free": "vh",
    "lx_solver_at": "sis",
    "lx_options_new": "h",
    "lx_options_free": "vh",
    "lx_options_set": "ihssh",
    "lx_options_at": "sis",
    "lx_options_on_stop": "vhfh",
    "lx_options_on_progress": "vhfh",
    "lx_builder_new": "hs",
    "lx_builder_free": "vh",
    "lx_builder_device": "ihssh",
    "lx_builder_tensor": "ihssihsh",
    "lx_builder_op": "ihssshiih",
    "lx_builder_attribute": "ihissh",
    "lx_builder_finish": "hhh",
    "lx_graph_parse": "hslsh",
    "lx_graph_import": "hslhh",
    "lx_graph_write": "hhsh",
    "lx_graph_free": "vh",
    "lx_graph_number": "ihsh",
    "lx_graph_word": "shs",
    "lx_placement_new": "hslh",
    "lx_placement_free": "vh",
    "lx_placement_pool": "ihslh",
    "lx_placement_reserve": "ihillllh",
    "lx_placement_buffer": "ihsllllh",
    "lx_placement_buffers": "ihihhhhh",
    "lx_placement_live": "ihillh",
    "lx_placement_uses": "ihihiih",
    "lx_placement_allow": "ihiilh",
    "lx_placement_pin": "ihiilih",
    "lx_placement_set": "ihissh",
    "lx_placement_pair": "ihsiilh",
    "lx_placement_group": "ihshih",
    "lx_placement_charge": "ihlhihihihih",
    "lx_placement_parse": "hslsh",
    "lx_placement_write": "hhsh",
    "lx_solve": "hhhh",
    "lx_check": "ihhhihh",
    "lx_joint_solve": "hslhh",
    "lx_plan": "hhhh",
    "lx_plan_parse": "hslh",
    "lx_run": "hhhh",
    "lx_result_free": "vh",
    "lx_result_check": "ihh",
    "lx_result_name_at": "shsih",
    "lx_result_number": "ihsh",
    "lx_result_integer": "ihsh",
    "lx_result_word": "shs",
    "lx_result_count": "lhs",
    "lx_result_item_number": "ihslsh",
    "lx_result_item_integer": "ihslsh",
    "lx_result_item_word": "shsls",
    "lx_result_places": "ihhhi",
    "lx_result_write": "hhshh",
}

_LETTERS = {
    "v": None,
    "i": ctypes.c_int32,
    "l": ctypes.c_int64,
    "d": ctypes.c_double,
    "s": ctypes.c_char_p,
    "h": ctypes.c_void_p,
    "f": ctypes.c_void_p,
}

_LIMITS = {"i": 1 << 31, "l": 1 << 63}

STOP = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p)
PROGRESS = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64, ctypes.c_double, ctypes.c_double)


class LxplanError(Exception):
    """What the library refused, and why.

    `word` is the stable name of the error, `code` its number where the call gave one (else 0), `text` says what is wrong
    and what to do; `file`, `line` and `column` say where, None and 0 where that is unknown.
    """

    def __init__(self, code: int, word: str, text: str, file: Optional[str] = None, line: int = 0, column: int = 0):
        super().__init__(code, word, text, file, line, column)
        self.code, self.word, self.text = code, word, text
        self.file, self.line, self.column = file, line, column

    def __str__(self) -> str:
        return self.text or self.word


class NotLegal(LxplanError):
    """The answer, or the plan, breaks a rule, or there is none."""


class Stopped(LxplanError):
    """The call was stopped before it had a result."""


class InvalidInput(LxplanError, ValueError):
    """A file, an option or an argument is wrong."""


class OutOfMemory(LxplanError, MemoryError):
    """The machine has no memory left."""


class InternalError(LxplanError):
    """A bug in lxplan."""


_CLASSES = {"no": NotLegal, "stopped": Stopped, "memory": OutOfMemory, "internal": InternalError}


def _open() -> ctypes.CDLL:
    named = os.environ.get("LXPLAN_LIBRARY")
    beside = os.path.join(os.path.dirname(os.path.abspath(__file__)), FILE)
    path = named or (beside if os.path.exists(beside) else FILE)
    try:
        return ctypes.CDLL(path)
    except OSError as why:
        where = f"LXPLAN_LIBRARY names {named}" if named else f"neither beside {os.path.dirname(beside)} nor in the system"
        raise ImportError(f"cannot load {FILE}: {where} ({why}); install lxplan, or name the file in LXPLAN_LIBRARY") from None


def _absent(file: str, name: str) -> Any:
    """Stands for a function that an older library lacks: the others still work."""

    def refuse(*_: Any) -> Any:
        raise LxplanError(0, "unsupported", f"{file} has no {name}; install a newer lxplan")

    return refuse


def _guarded(function: Any, letters: str) -> Any:
    """The function, but numbers that are too wide are refused: ctypes alone would cut them down to their low bits."""
    limits = [(k, _LIMITS[c]) for k, c in enumerate(letters[1:]) if c in _LIMITS]

    def call(*given: Any) -> Any:
        for k, limit in limits:
            if not -limit <= given[k] < limit:
                raise OverflowError(f"{given[k]} is no number from {-limit} to {limit - 1}")
        return function(*given)

    return call if limits else function


def _typed(native: ctypes.CDLL) -> ctypes.CDLL:
    native.lx_abi.restype = ctypes.c_int32
    if native.lx_abi() != ABI:
        raise ImportError(f"{native._name} has ABI {native.lx_abi()}, this module needs {ABI}; install both of one version")
    for name, letters in SIGNATURES.items():
        function = getattr(native, name, None)
        if function is None:
            setattr(native, name, _absent(native._name, name))
            continue
        function.restype = _LETTERS[letters[0]]
        function.argtypes = [_LETTERS[c] for c in letters[1:]]
        setattr(native, name, _guarded(function, letters))
    return native


_loaded: Optional[ctypes.CDLL] = None
_loading = threading.Lock()


def library() -> Any:
    """The library, loaded. ImportError in words where it is missing or of another ABI."""
    global _loaded
    if _loaded is None:
        with _loading:
            if _loaded is None:
                try:
                    _loaded = _typed(_open())
                except AttributeError as why:
                    raise ImportError(f"{FILE} is no lxplan ({why})") from None
    return _loaded


class _Error:
    """An error object of the library."""

    def __init__(self) -> None:
        self.native = library()
        self.at = self.native.lx_error_new()

    def __del__(self) -> None:
        at, self.at = getattr(self, "at", None), None
        if at:
            self.native.lx_error_free(at)


_threads = threading.local()


def error() -> int:
    """The thread's error object, to hand to a call; it goes with the thread."""
    try:
        return _threads.error.at
    except AttributeError:
        _threads.error = _Error()
        return _threads.error.at


def failure(returned: Optional[int] = None) -> LxplanError:
    """What the last call of this thread that failed has to say."""
    native, at = library(), error()
    line, column = ctypes.c_int32(), ctypes.c_int32()
    file = native.lx_error_place(at, ctypes.byref(line), ctypes.byref(column))
    word = decoded(native.lx_error_code(at)) or "error"
    return _CLASSES.get(word, InvalidInput)(
        -returned if returned is not None and returned < 0 else 0,
        word,
        decoded(native.lx_error_text(at)) or "",
        decoded(file),
        line.value,
        column.value,
    )


def checked(returned: int) -> int:
    """The number that a call returned, or its error raised."""
    if returned < 0:
        raise failure(returned)
    return returned


def made(handle: Optional[int]) -> int:
    """The handle that a call made, or its error raised."""
    if not handle:
        raise failure()
    return handle


def content(data: Any) -> bytes:
    """What a file holds, given as text or as bytes."""
    if not isinstance(data, str):
        return bytes(data)
    try:
        return data.encode()
    except UnicodeEncodeError as why:
        raise ValueError(f"character {why.start} of the text {data[:40]!r} is half of a pair (a surrogate): "
                         "it cannot be written as UTF-8") from None


def encoded(text: Optional[str]) -> Optional[bytes]:
    """A name or a word. ValueError where the library could not take it as it is."""
    if text is None:
        return None
    if not isinstance(text, str):
        raise TypeError(f"{text!r} is no text")
    raw = content(text)
    if b"\0" in raw:
        raise ValueError(f"{text!r} has a zero character; texts end there in the library")
    return raw


def decoded(text: Optional[bytes]) -> Optional[str]:
    return None if text is None else text.decode("utf-8", "replace")


def taken(text: Optional[int]) -> bytes:
    """The bytes of an lx_text, which is freed."""
    native, at = library(), made(text)
    try:
        return ctypes.string_at(native.lx_text_data(at), native.lx_text_size(at))
    finally:
        native.lx_text_free(at)


def _integers(values: Any, code: str, formats: str) -> Tuple[Any, int, Any]:
    width = array(code).itemsize
    if isinstance(values, array) and values.typecode == code:
        return values.buffer_info()[0], len(values), values
    if not isinstance(values, (list, tuple)):
        try:
            view = memoryview(values)
        except TypeError:
            view = None
        if view is not None and view.ndim == 1 and view.c_contiguous and view.itemsize == width and view.format in formats:
            if not view.readonly:
                whole = (ctypes.c_char * max(view.nbytes, 1)).from_buffer(values) if view.nbytes else None
                return (ctypes.addressof(whole) if whole else None), len(view), (whole, values)
            copied = array(code, view.tobytes())
            return copied.buffer_info()[0], len(copied), copied
    try:
        own = array(code, (int(v) for v in values) if not isinstance(values, (list, tuple)) else values)
    except OverflowError:
        raise OverflowError(f"a list has a number beyond {8 * width} bits") from None
    return own.buffer_info()[0], len(own), own


def int64s(values: Iterable[int]) -> Tuple[Any, int, Any]:
    """Address, length and owner of these numbers as int64_t. A list is copied; what has the buffer protocol and is
    contiguous int64 is not."""
    return _integers(values, "q", "ql" if ctypes.sizeof(ctypes.c_long) == 8 else "q")


def int32s(values: Iterable[int]) -> Tuple[Any, int, Any]:
    """The same as int32_t."""
    return _integers(values, "i", "i")
