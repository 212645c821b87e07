"""llmprof's view of communication in one capture (list_collectives), and concurrent work computed in plain Python."""
import bisect
import json
import os
import subprocess

from program import ROOT

LIST_COLLECTIVES = os.environ.get("LIST_COLLECTIVES", str(ROOT / "build" / "bin" / "list_collectives"))


def collectives_of(capture):
    result = subprocess.run([LIST_COLLECTIVES, str(capture)], capture_output=True, text=True, timeout=300, check=False)
    if result.returncode != 0:
        raise AssertionError(f"{capture}: exit {result.returncode}: {result.stderr}")
    return json.loads(result.stdout)


class IntervalUnion:
    """A union of intervals."""

    def __init__(self, intervals):
        self.starts, self.ends = [], []
        for start, end in sorted(intervals):
            if self.starts and start <= self.ends[-1]:
                self.ends[-1] = max(self.ends[-1], end)
            elif end > start:
                self.starts.append(start)
                self.ends.append(end)

    def within(self, start, end):
        total = 0
        for at in range(max(0, bisect.bisect_right(self.starts, start) - 1), len(self.starts)):
            if self.starts[at] >= end:
                break
            total += max(0, min(end, self.ends[at]) - max(start, self.starts[at]))
        return total
