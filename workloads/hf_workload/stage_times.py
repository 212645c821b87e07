"""Stages as ranges and wall times. A stage ends when the device has finished."""
from __future__ import annotations

import contextlib
import time
from typing import Callable, Dict, Iterator, List

from hf_workload.annotations import Annotator

MILLISECONDS = 1e3


class StageTimes:
    def __init__(self, annotator: Annotator, synchronize: Callable[[], None],
                 clock: Callable[[], float] = time.perf_counter) -> None:
        self.annotator = annotator
        self.milliseconds: Dict[str, List[float]] = {}
        self._synchronize = synchronize
        self._clock = clock
        self._measuring = False

    @contextlib.contextmanager
    def warm_up(self) -> Iterator[None]:
        """What runs inside is neither measured nor annotated as a stage."""
        with self.annotator.range("warm_up"):
            yield
            self._synchronize()

    @contextlib.contextmanager
    def measured(self) -> Iterator[None]:
        self._synchronize()
        self._measuring = True
        try:
            yield
        finally:
            self._measuring = False

    @contextlib.contextmanager
    def stage(self, name: str, label: str) -> Iterator[None]:
        """`label` names the range, `name` the times."""
        if not self._measuring:
            yield
            return
        with self.annotator.range(label):
            start = self._clock()
            yield
            self._synchronize()
            taken = self._clock() - start
        self.milliseconds.setdefault(name, []).append(taken * MILLISECONDS)

    @contextlib.contextmanager
    def step(self, label: str, kind: str, batch: int, tokens: int) -> Iterator[None]:
        """A forward pass inside a stage. Not synchronized, because that would slow it down."""
        if not self._measuring:
            yield
            return
        with self.annotator.range(label):
            self.annotator.step(kind, batch, tokens)
            yield

    def note_step(self, kind: str, batch: int, tokens: int) -> None:
        """Marks the innermost open range as one forward pass."""
        if self._measuring:
            self.annotator.step(kind, batch, tokens)
