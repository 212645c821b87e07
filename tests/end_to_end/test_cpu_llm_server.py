"""llmprof's account of a server's requests, from times alone, against the journal of the server: real HTTP, real
processes, real faults."""
import contextlib
import json
import os
import pathlib
import random
import statistics
import tempfile
import unittest

import program
import served_load
from served_load import FAULTS, ServedLoad

SEEDS = (1, 2)


def setUpModule():
    """Server and load run ahead of a machine's other work, where the user may do that: their times are what is
    tested."""
    with contextlib.suppress(PermissionError):
        os.setpriority(os.PRIO_PROCESS, 0, -10)


class FolderCase(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)


class Journals(FolderCase):
    def test_tokens_are_joined_to_the_steps_of_the_journal(self):
        shares = []
        for seed in SEEDS:
            served = ServedLoad(self.folder / str(seed), seed)
            found = served.analyze()
            self.assertEqual(found["join"]["state"], "joined", found["join"])
            self.assertGreater(found["completed"], 40)
            self.assertEqual(served_load.wrong_sums(found), [])
            shares.append(served_load.right_tokens(served, found))
        self.assertGreaterEqual(statistics.median(shares), 0.99, shares)
        self.assertGreaterEqual(min(shares), 0.97, shares)

    # The join does not use them.
    def test_the_ids_of_the_engine_confirm_the_join(self):
        served = ServedLoad(self.folder / "load", 4, ("--annotate-requests",))
        join = served.analyze()["join"]
        self.assertEqual(join["state"], "joined", join)
        self.assertEqual(join["confirmed"] + join["contradicted"], join["tokens_joined"])
        self.assertGreaterEqual(join["confirmed"], 0.99 * join["tokens_joined"])
        self.assertIsNone(ServedLoad(self.folder / "plain", 4).analyze()["join"]["confirmed"])

    def test_a_file_with_more_tokens_than_it_states_has_no_causes(self):
        served = ServedLoad(self.folder / "load", 3)
        counted = served_load.with_a_piece_counted(served.requests_file, self.folder / "requests.json")
        found = served.analyze(counted)
        self.assertEqual(found["join"]["state"], "low_coverage")
        self.assertEqual(found["join"]["tokens_miscounted"], found["join"]["tokens"])
        self.assertEqual(found["delays"], [])
        self.assertTrue(all(not item["parts_ns"] for item in found["items"]))

    # The step is a matter of times alone: wrong times must be noticed.
    def test_shuffled_times_lower_the_coverage_and_keep_the_sums(self):
        served = ServedLoad(self.folder / "load", 3)
        right = served.analyze()
        shuffled = served_load.with_shuffled_chunks(served.requests_file, self.folder / "requests.json",
                                                    random.Random(3))
        wrong = served.analyze(shuffled, "shuffled")
        self.assertLess(wrong["join"]["coverage"], right["join"]["coverage"])
        self.assertLess(served_load.right_tokens(served, wrong) if wrong["join"]["state"] == "joined" else 0,
                        served_load.right_tokens(served, right))
        self.assertEqual(served_load.wrong_sums(wrong), [])


class Faults(FolderCase):
    """bench/serving.py measures them with several seeds."""

    def expect_named(self, kind, arguments, load, errors_of):
        served = ServedLoad(self.folder / kind, 5, arguments, load)
        errors = served_load.errors_in(served, errors_of)
        self.assertTrue(errors, kind)
        self.assertNotIn(None, errors, kind)
        self.assertLessEqual(abs(statistics.median(errors)), 0.1, errors)

    def test_a_pause_is_the_hosts(self):
        self.expect_named("pause", *FAULTS["pause"])

    def test_an_evicted_request_is_out_of_the_batch(self):
        self.expect_named("evict", *FAULTS["evict"])

    def test_a_slow_layer_makes_decode_longer(self):
        self.expect_named("slow_layer", *FAULTS["slow_layer"])

    def test_a_long_prompt_delays_others(self):
        load = served_load.long_prompt_load(self.folder / "replay.jsonl", 5)
        self.expect_named("long_prompt", (), load, served_load.long_prompt_errors)


class Run(FolderCase):
    def test_one_command_loads_the_server_twice(self):
        run = self.folder / "run"
        done = program.run("run", "workload=cpu_llm_server", "workload.port=8191", "--out", run,
                           "workload.server.load.rate=10", "workload.server.load.duration=3s")
        self.assertEqual(done.returncode, 0, done.stderr)
        alone = run / "stage1" / "control-load" / "requests.json"
        recorded = run / "collector" / "record-load" / "requests.json"
        schedules = [[(each["prompt_tokens"], each["max_tokens"]) for each in json.loads(
            file.read_text(encoding="utf-8"))["requests"]] for file in (alone, recorded)]
        self.assertEqual(schedules[0], schedules[1])
        found = json.loads((run / "profile.json").read_text(encoding="utf-8"))["requests"]
        self.assertEqual(found["join"]["state"], "joined", found["join"])
        self.assertEqual(found["completed"], found["unrecorded"]["completed"])
        self.assertEqual(pathlib.Path(found["file"]).resolve(), recorded.resolve())
        self.assertEqual(pathlib.Path(found["unrecorded"]["file"]).resolve(), alone.resolve())


if __name__ == "__main__":
    unittest.main()
