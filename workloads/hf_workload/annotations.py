"""Ranges and steps for llmprof, if its module is available; nothing otherwise."""
from __future__ import annotations

import contextlib
import sys
from typing import Any, Callable, ContextManager, Iterator, Optional

RangeMaker = Callable[[str], ContextManager[Any]]


class Annotator:
    """`also` adds a second range around each one: torch.profiler's, in the torch pass."""

    def __init__(self, module: Any, also: Optional[RangeMaker] = None) -> None:
        self._module = module
        self._also = also

    @contextlib.contextmanager
    def range(self, name: str) -> Iterator[None]:
        with contextlib.ExitStack() as stack:
            if self._module is not None:
                stack.enter_context(self._module.range(name))
            if self._also is not None:
                stack.enter_context(self._also(name))
            yield

    def step(self, kind: str, batch: int, tokens: int) -> None:
        if self._module is not None:
            self._module.step(kind, batch, tokens)


def annotation_module() -> Any:
    """llmprof_annotate, or None with one line on stderr."""
    try:
        import llmprof_annotate
    except ImportError:
        print("hf_llm: annotations are off: llmprof's python folder is not on PYTHONPATH "
              "(llmprof run adds it)", file=sys.stderr)
        return None
    return llmprof_annotate
