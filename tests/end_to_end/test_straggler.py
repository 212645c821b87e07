"""A deliberately slowed rank is named in both stages, with the cause.

Waits are compared with the injected delay on logs with given times (test_rank_waits), and on a machine without
other work by bench/straggler.py.
"""
import pathlib
import shutil
import tempfile
import unittest

import slowed_rank
from job_of_ranks import CPU_LLM_TP, NO_CPU_LLM_TP
from slowed_rank import SLOWED


@unittest.skipUnless(CPU_LLM_TP.exists(), NO_CPU_LLM_TP)
@unittest.skipUnless(shutil.which("mpirun"), "Open MPI's mpirun is not installed (scripts/setup.sh test)")
class Straggler(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.out = pathlib.Path(holder.name) / "bundle"

    def record(self, *words):
        return slowed_rank.record(self.out, lambda *line: line, *words)

    def test_a_slowed_rank_is_named_with_the_cause(self):
        run = self.record(*slowed_rank.TWO_RANKS)
        found = {row["stage"]: row for row in slowed_rank.findings(run)}
        self.assertEqual(set(found), set(slowed_rank.injected(run)), "the slowed rank is named in both stages")
        for row in run.profile["job"]["stragglers"]:
            self.assertEqual((row["rank"], row["cause"]), (SLOWED, "longer_kernels"), row)
            self.assertEqual(found[row["stage"]]["rank"], SLOWED)
            # How long it is depends on other work on the machine, which may hold up either rank.
            self.assertGreater(row["wait_ms_per_step"], 0, row)

    def test_with_more_ranks_than_cores_every_rank_is_analyzed(self):
        run = self.record(*slowed_rank.FOUR_RANKS)
        self.assertEqual(run.ranks, [0, 1, 2, 3])
        self.assertEqual(len(run.profile["ranks"]), 4)
