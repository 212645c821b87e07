"""Launches and waits as the driver reports them by CUPTI's callbacks, with nothing traced: the collector by itself
(LLMPROF_WATCH=callbacks), and `llmprof run` of a program that the light watch cannot see. The CUDA driver and CUPTI are
fakes; what they do is on tapes."""
import collections
import json
import os
import pathlib
import subprocess
import unittest

from collector_log import Log
from test_cupti_collector import CUDA, CUPTI, KERNEL, LIBRARY, LLMPROF, PLAY, PlayedCase, built

DUMP = built("DUMP_CAPTURE", "bin/dump_capture")
DRIVER = 1  # CUPTI_CB_DOMAIN_DRIVER_API
LAUNCHED, REPLAYED, WAITED = 4, 5, 6  # kinds of host calls that the driver reported
LAYERS, KERNELS_OF_A_LAYER = 2, 5
KERNELS_OF_A_PASS = LAYERS * KERNELS_OF_A_LAYER
EXEC = 3  # the graph that is launched
MILLISECOND = 1_000_000


def fnv1a(text):
    value = 14695981039346656037
    for byte in text.encode():
        value = ((value ^ byte) * 1099511628211) % 2**64
    return value


def noted(rows):
    return [(row["kind"], row["handle"]) for row in rows]


class Callbacks(PlayedCase):
    def watch(self, tape, *options, **environment):
        return self.play(tape, *options, LLMPROF_WATCH="callbacks", **environment)

    def calls_of_threads(self):
        """Noted calls of each thread that has any, the busiest first."""
        threads = [
            [row for row in records if row["type"] == "host_call"] for records in self.log().threads.values()
        ]
        return sorted((rows for rows in threads if rows), key=len, reverse=True)

    def expected(self, tape, thread):
        """What the driver was called for on the tape, by the functions' names."""
        rows = []
        for item in tape.items:
            if item["item"] != "api" or item["domain"] != DRIVER or item["thread"] != thread:
                continue
            name, enters = item["function"], item["site"] == "enter"
            if name.startswith("cuLaunchKernel") and enters:
                rows.append((LAUNCHED, fnv1a(item["symbol"])))
            elif name == "cuGraphLaunch" and enters:
                rows.append((REPLAYED, EXEC))
            elif name == "cuStreamSynchronize" and not enters:
                rows.append((WAITED, 0))
        return rows

    def assert_nothing_is_traced(self, kernels):
        """No activity was enabled, so that the fake made no record; none is in the log."""
        self.assertEqual(len(self.told("off", KERNEL)), kernels)
        self.assertEqual(self.told("delivered", KERNEL), [])
        self.assertEqual(
            self.log().of("collection", "kernels", "launch", "api_call", "memory_operation", "graph_node_created",
                          "counter_set", "counter_sample", "short_counter_sample"),
            [],
        )

    def test_launches_and_waits_of_every_thread(self):
        tape = self.tape("eager")
        self.assertEqual(self.watch(tape), "")
        main, second = self.calls_of_threads()
        self.assertEqual(noted(main), self.expected(tape, 1))
        self.assertEqual(noted(second), self.expected(tape, 2))
        # A prefill and eight steps; copies and fills that do not wait are not noted.
        self.assertEqual(collections.Counter(kind for kind, _ in noted(main)),
                         {LAUNCHED: 9 * KERNELS_OF_A_PASS, WAITED: 9})
        self.assert_nothing_is_traced(9 * KERNELS_OF_A_PASS + 2)

    def test_times_are_those_of_the_calls(self):
        self.watch(self.tape("eager"))
        (main, _) = self.calls_of_threads()
        for row, after in zip(main, main[1:]):
            self.assertLessEqual(row["start"] + row["duration"], after["start"])
            self.assertEqual(row["duration"] > 0, row["kind"] == WAITED)

    def test_graphs_are_told_by_what_is_launched(self):
        tape = self.tape("graph")
        self.assertEqual(self.watch(tape), "")
        (main,) = self.calls_of_threads()
        self.assertEqual(noted(main), self.expected(tape, 1))
        # What is captured is launched, too.
        self.assertEqual([kind for kind, _ in noted(main)], [LAUNCHED] * KERNELS_OF_A_PASS + [REPLAYED, WAITED] * 8)
        self.assert_nothing_is_traced(8 * KERNELS_OF_A_PASS)

    def test_the_same_in_another_run(self):
        for _ in range(2):
            self.watch(self.tape("eager"))
        one, other = [
            sorted(noted(row for row in rows if row["type"] == "host_call") for rows in log.threads.values())
            for log in self.logs()
        ]
        self.assertEqual(one, other)

    def test_ranges_of_the_program_are_recorded_beside_them(self):
        """NVTX calls its tool whatever CUPTI does."""
        self.watch(self.tape("eager"))
        self.assertEqual(len([row for row in self.log().ranges() if row[2] == "decode_step"]), 8)

    def test_arming_options_do_not_start_tracing(self):
        tape = self.tape("eager")
        self.watch(tape, LLMPROF_ARM="LLM@decode_all", LLMPROF_OVERHEAD_BUDGET="2", LLMPROF_API="1")
        self.assertEqual(noted(self.calls_of_threads()[0]), self.expected(tape, 1))
        self.assert_nothing_is_traced(9 * KERNELS_OF_A_PASS + 2)

    def test_a_program_that_is_killed_leaves_its_notes(self):
        tape = self.tape("eager")
        self.play(tape, "--exit=kill9", "--at=400", status=-9, LLMPROF_WATCH="callbacks")
        main = max(self.calls_of_threads(), key=len)
        self.assertGreater(len(main), KERNELS_OF_A_PASS)
        self.assertEqual(noted(main), self.expected(tape, 1)[: len(main)])

    def test_beside_another_tool_nothing_is_noted(self):
        said = self.watch(self.tape("eager"), "--other-subscriber")
        self.assertIn("CUPTI is missing, or another tool uses it: launches are not watched", said)
        self.assertEqual([row for log in self.logs() for row in log.of("host_call")], [])

    def test_without_cupti_nothing_is_noted(self):
        said = self.watch(self.tape("eager"), LLMPROF_CUPTI="/no/such/libcupti.so")
        self.assertIn("launches are not watched", said)
        self.assertEqual([row for log in self.logs() for row in log.of("host_call")], [])

    def test_without_a_log_folder_the_driver_is_left_alone(self):
        self.assertEqual(self.watch(self.tape("eager"), LLMPROF_LOG_DIR=None), "")
        self.assertEqual(self.logs(), [])

    def test_preloaded_functions_note_nothing_besides(self):
        if "san" in pathlib.Path(LIBRARY).stem:
            self.skipTest("a sanitizer's library cannot be preloaded")
        tape = self.tape("eager")
        self.watch(tape, LD_PRELOAD=LIBRARY)
        self.assertEqual(noted(self.calls_of_threads()[0]), self.expected(tape, 1))

    def test_llmprof_reads_them(self):
        if "san" in pathlib.Path(LIBRARY).stem or not pathlib.Path(DUMP).exists():
            self.skipTest("dump_capture is looked at once, in the plain suite, where it is built")
        self.watch(self.tape("graph"))
        log = self.log()
        done = subprocess.run([DUMP, log.path], capture_output=True, text=True, timeout=60, check=True)
        capture = json.loads(done.stdout)
        rows = log.of("host_call")
        self.assertEqual(len(capture["host_calls"]), len(rows))
        origin = rows[0]["start"] - capture["host_calls"][0]["start"]
        of_the_runtime = {LAUNCHED: 0, REPLAYED: 1, WAITED: 2}  # to the analysis, a launch is a launch
        self.assertEqual(
            [(row["kind"], row["handle"], row["start"], row["end"]) for row in capture["host_calls"]],
            [(of_the_runtime[row["kind"]], row["handle"], row["start"] - origin,
              row["start"] - origin + row["duration"]) for row in rows],
        )
        self.assertTrue(capture["host_calls_of_driver"])
        self.assertEqual(capture["diagnostics"], [])


if __name__ == "__main__":
    unittest.main()
