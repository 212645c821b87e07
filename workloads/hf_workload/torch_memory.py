"""A memory snapshot of PyTorch's allocator, from before the model is loaded until the end."""
from __future__ import annotations

import contextlib
import os
import pathlib
import sys
from typing import Any, Iterator, Mapping, Optional

MOST_EVENTS = 1_000_000  # later events replace the first ones
STACKS = "python"  # dumps with C++ frames take minutes


def snapshot_path(environment: Mapping[str, str]) -> Optional[str]:
    """Where `llmprof run` requests a snapshot with LLMPROF_TORCH_MEMORY; None if it does not."""
    return environment.get("LLMPROF_TORCH_MEMORY") or None


def path_of_failure(path: str) -> str:
    """Beside the snapshot at the end: one when an allocation failed."""
    whole = pathlib.Path(path)
    return str(whole.with_name(f"{whole.stem}-oom{whole.suffix}"))


@contextlib.contextmanager
def memory_recorded(torch: Any, path: str, with_cuda: bool) -> Iterator[None]:
    """Writes the snapshot at the end, and another one when the first allocation fails. A torch that cannot
    is said, and runs all the same."""
    recorded = _begun(torch, path, with_cuda)
    yield
    if recorded:
        _dump(torch, path)
        torch.cuda.memory._record_memory_history(enabled=None)


def _begun(torch: Any, path: str, with_cuda: bool) -> bool:
    if not with_cuda:
        _say("--device cpu has no GPU memory")
        return False
    try:
        _begin(torch, path)
    except (AttributeError, TypeError, RuntimeError) as error:
        _say(f"torch {torch.__version__} cannot record it ({error})")
        return False
    return True


def _begin(torch: Any, path: str) -> None:
    torch.cuda.init()  # there is no allocator to record before
    torch.cuda.memory._record_memory_history(max_entries=MOST_EVENTS, stacks=STACKS)
    dumped = False

    def dump_first(_device: int, _size: int, _total: int, _free: int) -> None:
        nonlocal dumped
        if not dumped:  # the snapshot at the end has later failures too
            dumped = True
            _dump(torch, path_of_failure(path))

    torch._C._cuda_attach_out_of_memory_observer(dump_first)


def _dump(torch: Any, path: str) -> None:
    unfinished = f"{path}.{os.getpid()}.tmp"
    try:
        torch.cuda.memory._dump_snapshot(unfinished)
        os.replace(unfinished, path)
    except (OSError, RuntimeError) as error:
        _say(f"{path}: {error}")
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(unfinished)


def _say(why: str) -> None:
    print(f"hf_llm: no memory snapshot: {why}", file=sys.stderr)
