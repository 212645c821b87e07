"""The annotation API of llmprof: ranges, steps, CPU operators and collectives, in the domain "LLM".

    import llmprof_annotate

    with llmprof_annotate.range("prefill"):
        llmprof_annotate.step("prefill", batch=1, tokens=512)
        ...

It works if the environment variable LLMPROF_COLLECTOR names the collector's library (`llmprof run` sets
it), or if the library is already loaded. Otherwise all functions do nothing. An NVTX tool (nsys, ncu)
around the program sees the same ranges.
"""
import contextlib
import ctypes
import os
import sys
import time
from typing import Any, Iterator, Optional, Sequence

STEP_KINDS = {"prefill": 1, "decode": 2, "mixed": 3}
COLLECTIVE_KINDS = {
    "other": 0,
    "all_reduce": 1,
    "reduce_scatter": 2,
    "all_gather": 3,
    "all_to_all": 4,
    "broadcast": 5,
    "reduce": 6,
    "gather": 7,
    "scatter": 8,
    "send": 9,
    "receive": 10,
    "barrier": 11,
}


class _Range(ctypes.Structure):
    _fields_ = [("log", ctypes.c_uint64), ("nvtx", ctypes.c_uint64)]


_NAMED = ctypes.CFUNCTYPE(None, ctypes.c_char_p)


class _Table(ctypes.Structure):
    """llmprof_annotation_table of llmprof/annotate.h."""

    _fields_ = [
        ("size", ctypes.c_uint64),
        ("range_push", _NAMED),
        ("range_pop", ctypes.CFUNCTYPE(None)),
        ("range_start", ctypes.CFUNCTYPE(_Range, ctypes.c_char_p)),
        ("range_end", ctypes.CFUNCTYPE(None, _Range)),
        ("mark", _NAMED),
        ("step", ctypes.CFUNCTYPE(None, ctypes.c_uint32, ctypes.c_uint32, ctypes.c_uint64)),
        (
            "cpu_operator",
            ctypes.CFUNCTYPE(
                None,
                ctypes.c_char_p,
                ctypes.c_int64,
                ctypes.c_int64,
                ctypes.c_uint64,
                ctypes.c_uint64,
            ),
        ),
        (
            "collective",
            ctypes.CFUNCTYPE(
                None,
                ctypes.c_uint32,
                ctypes.c_char_p,
                ctypes.c_int64,
                ctypes.c_int64,
                ctypes.c_uint64,
                ctypes.c_char_p,
                ctypes.c_char_p,
                ctypes.c_uint32,
            ),
        ),
    ]


def _library() -> Optional[ctypes.CDLL]:
    """The collector that is already loaded, else the one that LLMPROF_COLLECTOR names, else None."""
    with contextlib.suppress(OSError):
        return ctypes.CDLL("libllmprof_collector.so", mode=os.RTLD_NOLOAD | os.RTLD_LAZY)
    path = os.environ.get("LLMPROF_COLLECTOR")
    if not path:
        return None
    try:
        return ctypes.CDLL(path)
    except OSError as error:
        print(f"llmprof: annotations are off: {error}", file=sys.stderr)
        return None


def _table() -> Optional[_Table]:
    library = _library()
    if library is None or not hasattr(library, "llmprof_annotation_functions"):
        return None
    source = library.llmprof_annotation_functions
    source.restype = ctypes.POINTER(_Table)
    table: Any = source()
    if not table or table.contents.size < _Table.collective.offset:
        return None
    functions: _Table = table.contents
    return functions


_functions = _table()


def enabled() -> bool:
    """Whether the collector was found."""
    return _functions is not None


def now_ns() -> int:
    """The clock of the log."""
    return time.clock_gettime_ns(time.CLOCK_MONOTONIC)


def _bytes(name: str) -> bytes:
    return name.encode("utf-8", "replace")


def range_push(name: str) -> None:
    if _functions is not None:
        _functions.range_push(_bytes(name))


def range_pop() -> None:
    if _functions is not None:
        _functions.range_pop()


@contextlib.contextmanager
def range(name: str) -> Iterator[None]:  # reads as llmprof_annotate.range(...)
    """A range of this thread, nested in the one that is open."""
    range_push(name)
    try:
        yield
    finally:
        range_pop()


def range_start(name: str) -> Any:
    """A range that may overlap others and end on another thread; returns the argument of range_end."""
    return None if _functions is None else _functions.range_start(_bytes(name))


def range_end(started: Any) -> None:
    if _functions is not None and started is not None:
        _functions.range_end(started)


def mark(name: str) -> None:
    if _functions is not None:
        _functions.mark(_bytes(name))


def step(kind: str, batch: int, tokens: int) -> None:
    """What the innermost open range of this thread computes: kind is "prefill", "decode" or "mixed",
    batch the number of sequences, tokens the number of tokens over all of them."""
    number = STEP_KINDS.get(kind)
    if number is None:
        raise ValueError(f"unknown kind of step {kind!r}; available: {', '.join(STEP_KINDS)}")
    if _functions is not None:
        _functions.step(number, batch, tokens)


def operator(name: str, start_ns: int, end_ns: int, flops: int = 0, bytes_moved: int = 0) -> None:
    """One operator that ran on the CPU, with its FLOPs and bytes (0: unknown); times are from now_ns()."""
    if _functions is not None:
        _functions.cpu_operator(_bytes(name), start_ns, end_ns, flops, bytes_moved)


def collective(
    kind: str,
    name: str,
    start_ns: int,
    end_ns: int,
    message_bytes: int = 0,
    group: str = "",
    members: Optional[Sequence[int]] = None,
    group_size: int = 0,
) -> None:
    """One communication between ranks that ran on the CPU, from this rank's arrival to its end: its time
    includes the wait for others. message_bytes is the size of this rank's message, group the name of the
    ranks that take part (the same on all of them), members those ranks; 0, "" and None: not stated. An
    older collector records a CPU operator. Times are from now_ns()."""
    number = COLLECTIVE_KINDS.get(kind)
    if number is None:
        raise ValueError(f"unknown kind of collective {kind!r}; available: {', '.join(COLLECTIVE_KINDS)}")
    if _functions is None:
        return
    if _functions.size < ctypes.sizeof(_Table):
        _functions.cpu_operator(_bytes(name), start_ns, end_ns, 0, message_bytes)
        return
    listed = None if members is None else ",".join(map(str, members)).encode()
    size = group_size or len(members or ())
    _functions.collective(
        number, _bytes(name), start_ns, end_ns, message_bytes, _bytes(group) or None, listed, size
    )
