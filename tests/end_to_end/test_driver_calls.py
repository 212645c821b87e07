"""Launches and waits that the driver reports through CUPTI callbacks, without tracing: the collector by itself
(LLMPROF_WATCH=callbacks), and `llmprof run` of a program whose launches the launch interceptor cannot see. The CUDA
driver and CUPTI are fakes that follow tapes."""
import collections
import json
import pathlib
import subprocess
import unittest

from collector_log import Log
from played_tapes import KERNEL, LIBRARY, LLMPROF, PLAY, PlayedCase, built

DUMP = built("DUMP_CAPTURE", "bin/dump_capture")
DRIVER = 1  # CUPTI_CB_DOMAIN_DRIVER_API
LAUNCH, GRAPH_LAUNCH, WAIT = 4, 5, 6  # kinds of host calls that the driver reported
LAYERS, KERNELS_OF_A_LAYER = 2, 5
KERNELS_OF_A_PASS = LAYERS * KERNELS_OF_A_LAYER
EXEC = 3  # the graph that is launched
MILLISECOND = 1_000_000


def fnv1a(text):
    value = 14695981039346656037
    for byte in text.encode():
        value = ((value ^ byte) * 1099511628211) % 2**64
    return value


def kinds_and_handles(rows):
    return [(row["kind"], row["handle"]) for row in rows]


class Callbacks(PlayedCase):
    def play_with_callbacks(self, tape, *options, **environment):
        return self.play(tape, *options, LLMPROF_WATCH="callbacks", **environment)

    def calls_of_threads(self):
        """Recorded calls of each thread that has any, the busiest first."""
        threads = [
            [row for row in records if row["type"] == "host_call"] for records in self.log().threads.values()
        ]
        return sorted((rows for rows in threads if rows), key=len, reverse=True)

    def expected(self, tape, thread):
        """The driver calls on the tape, by function name."""
        rows = []
        for item in tape.items:
            if item["item"] != "api" or item["domain"] != DRIVER or item["thread"] != thread:
                continue
            name, enters = item["function"], item["site"] == "enter"
            if name.startswith("cuLaunchKernel") and enters:
                rows.append((LAUNCH, fnv1a(item["symbol"])))
            elif name == "cuGraphLaunch" and enters:
                rows.append((GRAPH_LAUNCH, EXEC))
            elif name == "cuStreamSynchronize" and not enters:
                rows.append((WAIT, 0))
        return rows

    def assert_nothing_is_traced(self, kernels):
        """No activity was enabled, so the fake created no record; none is in the log."""
        self.assertEqual(len(self.records_with("off", KERNEL)), kernels)
        self.assertEqual(self.records_with("delivered", KERNEL), [])
        self.assertEqual(
            self.log().of("tracing_change", "kernels", "launch", "api_call", "memory_operation", "graph_node_created",
                          "counter_set", "counter_sample", "short_counter_sample"),
            [],
        )

    def test_launches_and_waits_of_every_thread(self):
        tape = self.tape("eager")
        self.assertEqual(self.play_with_callbacks(tape), "")
        main, second = self.calls_of_threads()
        self.assertEqual(kinds_and_handles(main), self.expected(tape, 1))
        self.assertEqual(kinds_and_handles(second), self.expected(tape, 2))
        # A prefill and eight steps; copies and fills that do not wait are not recorded.
        self.assertEqual(collections.Counter(kind for kind, _ in kinds_and_handles(main)),
                         {LAUNCH: 9 * KERNELS_OF_A_PASS, WAIT: 9})
        self.assert_nothing_is_traced(9 * KERNELS_OF_A_PASS + 2)

    def test_times_are_those_of_the_calls(self):
        self.play_with_callbacks(self.tape("eager"))
        (main, _) = self.calls_of_threads()
        for row, after in zip(main, main[1:]):
            self.assertLessEqual(row["start"] + row["duration"], after["start"])
            self.assertEqual(row["duration"] > 0, row["kind"] == WAIT)

    def test_graphs_are_identified_by_what_is_launched(self):
        tape = self.tape("graph")
        self.assertEqual(self.play_with_callbacks(tape), "")
        (main,) = self.calls_of_threads()
        self.assertEqual(kinds_and_handles(main), self.expected(tape, 1))
        # Captured work is launched, too.
        self.assertEqual([kind for kind, _ in kinds_and_handles(main)],
                         [LAUNCH] * KERNELS_OF_A_PASS + [GRAPH_LAUNCH, WAIT] * 8)
        self.assert_nothing_is_traced(8 * KERNELS_OF_A_PASS)

    def test_the_same_in_another_run(self):
        for _ in range(2):
            self.play_with_callbacks(self.tape("eager"))
        one, other = [
            sorted(kinds_and_handles(row for row in rows if row["type"] == "host_call")
                   for rows in log.threads.values())
            for log in self.logs()
        ]
        self.assertEqual(one, other)

    def test_ranges_of_the_program_are_recorded_too(self):
        """NVTX calls its tool regardless of CUPTI."""
        self.play_with_callbacks(self.tape("eager"))
        self.assertEqual(len([row for row in self.log().ranges() if row[2] == "decode_step"]), 8)

    def test_arming_options_do_not_start_tracing(self):
        tape = self.tape("eager")
        self.play_with_callbacks(tape, LLMPROF_ARM="LLM@decode_all", LLMPROF_OVERHEAD_BUDGET="2", LLMPROF_API="1")
        self.assertEqual(kinds_and_handles(self.calls_of_threads()[0]), self.expected(tape, 1))
        self.assert_nothing_is_traced(9 * KERNELS_OF_A_PASS + 2)

    def test_a_killed_program_leaves_its_recorded_calls(self):
        tape = self.tape("eager")
        self.play(tape, "--exit=kill9", "--at=400", status=-9, LLMPROF_WATCH="callbacks")
        main = max(self.calls_of_threads(), key=len)
        self.assertGreater(len(main), KERNELS_OF_A_PASS)
        self.assertEqual(kinds_and_handles(main), self.expected(tape, 1)[: len(main)])

    def test_next_to_another_tool_nothing_is_recorded(self):
        said = self.play_with_callbacks(self.tape("eager"), "--other-subscriber")
        self.assertIn("CUPTI is missing, or another tool uses it: launches are not noted", said)
        self.assertEqual([row for log in self.logs() for row in log.of("host_call")], [])

    def test_without_cupti_nothing_is_recorded(self):
        said = self.play_with_callbacks(self.tape("eager"), LLMPROF_CUPTI="/no/such/libcupti.so")
        self.assertIn("launches are not noted", said)
        self.assertEqual([row for log in self.logs() for row in log.of("host_call")], [])

    def test_without_a_log_folder_the_driver_is_left_alone(self):
        self.assertEqual(self.play_with_callbacks(self.tape("eager"), LLMPROF_LOG_DIR=None), "")
        self.assertEqual(self.logs(), [])

    def test_preloaded_functions_record_nothing_in_addition(self):
        if "san" in pathlib.Path(LIBRARY).stem:
            self.skipTest("a sanitizer's library cannot be preloaded")
        tape = self.tape("eager")
        self.play_with_callbacks(tape, LD_PRELOAD=LIBRARY)
        self.assertEqual(kinds_and_handles(self.calls_of_threads()[0]), self.expected(tape, 1))

    def test_llmprof_reads_them(self):
        if "san" in pathlib.Path(LIBRARY).stem or not pathlib.Path(DUMP).exists():
            self.skipTest("dump_capture is looked at once, in the plain suite, where it is built")
        self.play_with_callbacks(self.tape("graph"))
        log = self.log()
        done = subprocess.run([DUMP, log.path], capture_output=True, text=True, timeout=60, check=True)
        capture = json.loads(done.stdout)
        rows = log.of("host_call")
        self.assertEqual(len(capture["host_calls"]), len(rows))
        origin = rows[0]["start"] - capture["host_calls"][0]["start"]
        of_the_runtime = {LAUNCH: 0, GRAPH_LAUNCH: 1, WAIT: 2}  # the analysis treats all launches alike
        self.assertEqual(
            [(row["kind"], row["handle"], row["start"], row["end"]) for row in capture["host_calls"]],
            [(of_the_runtime[row["kind"]], row["handle"], row["start"] - origin,
              row["start"] - origin + row["duration"]) for row in rows],
        )
        self.assertTrue(capture["host_calls_of_driver"])
        self.assertEqual(capture["diagnostics"], [])


class Run(PlayedCase):
    """A program whose launches bypass the runtime's shared library: the launch interceptor sees none of them."""

    ROUNDS, STEPS, LAYERS = 4, 8, 20
    # A prefill of 18 ms, of 28 ms while kernels are recorded: a busy machine may delay either by several milliseconds,
    # and a time beyond that of the recorded run would not be used.
    SLOWER = 20
    LAUNCH_DELAY_NS = 300_000  # per launch, while kernels are recorded

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        if "san" in pathlib.Path(LIBRARY).stem or not pathlib.Path(LLMPROF).exists():
            raise unittest.SkipTest("llmprof is looked at once, in the plain suite, where it is built")

    def run_played(self, *words, kind="eager", **environment):
        """Recording a kernel delays its launch: traced work takes longer."""
        tape = self.tape(kind, steps=self.STEPS, layers=self.LAYERS, slower=self.SLOWER)
        self.out = self.folder / "bundle"
        variables = {"CUDA_INJECTION64_PATH": None, "NVTX_INJECTION64_PATH": None, "LLMPROF_LOG_DIR": None,
                     "FAKE_CUPTI_LAUNCH_COST_NS": str(self.LAUNCH_DELAY_NS), "LLMPROF_NSYS": "/no/such/nsys",
                     **environment}
        command = [LLMPROF, "run", "--out", self.out, "pipeline.ncu.enable=false", *words,
                   "--", PLAY, tape.path, f"--rounds={self.ROUNDS}"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False,
                              cwd=self.folder, env=self.environment(variables))
        self.assertEqual(done.returncode, 0, done.stderr)

    def logs_of(self, folder):
        return [Log(path) for path in sorted((self.out / folder).glob("*.llmtrace"))]

    def stages(self):
        profile = json.loads((self.out / "profile.json").read_text(encoding="utf-8"))
        return {stage["name"]: stage for stage in profile["stages"]}

    def passes_without_tracing(self):
        """(end of the call before it, start of its first launch, end of the wait for it) of each pass, from the driver's
        reports. Captured work is launched before the stage."""
        (log,) = self.logs_of("stage1/driver_calls")
        rows = max(([row for row in rows if row["type"] == "host_call"] for rows in log.threads.values()), key=len)
        ends = [row["start"] + row["duration"] for row in rows]
        passes, launches = [], []
        for i, row in enumerate(rows):
            if row["kind"] != WAIT:
                launches.append(i)
                continue
            graphs = [launch for launch in launches if rows[launch]["kind"] == GRAPH_LAUNCH]
            first = (graphs or launches)[0]
            start = rows[first]["start"]
            passes.append((ends[first - 1] if first > 0 else start, start, ends[i]))
            launches = []
        return passes

    def time_to_first_launch(self, name):
        """From each start of the range to its first launch, ns, in the recorded run."""
        (log,) = self.logs_of("collector")
        opened = [record["time"] for records in log.threads.values() for record in records
                  if record["type"] == "range_push" and log.strings[record["name"]] == name]
        launches = [call["start"] for call in log.calls() if "Launch" in call["function"] and name in call["ranges"]]
        return [min(start for start in launches if start >= begin) - begin for begin in opened]

    def check_times(self, instances):
        """By stage: (last call before it, first launch, end) of each instance without tracing, in ns. The time to the
        first launch is that of the recorded run, but no longer than since the last call without tracing."""
        ranges = {"prefill": "prefill", "decode": "decode_all"}
        stages = self.stages()
        self.assertEqual(set(stages), set(instances))
        for name, stage in stages.items():
            steady = [i for i, instance in enumerate(stage["instances"]) if not instance["warmup"]]
            time_to_first_launch = self.time_to_first_launch(ranges[name])
            self.assertEqual((len(stage["instances"]), len(time_to_first_launch)), (self.ROUNDS, self.ROUNDS))
            without = [instances[name][i] for i in steady]
            prepared = min(sum(time_to_first_launch[i] for i in steady), sum(start - last for last, start, _ in without))
            expected = (sum(end - start for _, start, end in without) + prepared) / len(steady)
            untraced = stage["unwatched"]
            self.assertIsNotNone(untraced, stage["unwatched_why_not"])
            self.assertEqual(untraced["source"], "control_launches")
            self.assertAlmostEqual(untraced["wall_ms"] * MILLISECOND / expected, 1, delta=0.001)
            kernels = KERNELS_OF_A_LAYER * self.LAYERS * (1 if name == "prefill" else self.STEPS)
            self.assertGreater(stage["wall_ms"]["mean"], kernels * self.LAUNCH_DELAY_NS / MILLISECOND)
            self.assertLess(untraced["wall_ms"], stage["wall_ms"]["mean"])

    def test_one_more_run_times_launches_that_the_interceptor_cannot_see(self):
        self.run_played()
        (log,) = self.logs_of("stage1/driver_calls")
        self.assertEqual(log.of("kernels", "launch", "tracing_change"), [])
        passes = self.passes_without_tracing()
        each = 1 + self.STEPS
        self.assertEqual(len(passes), self.ROUNDS * each)
        requests = [passes[start : start + each] for start in range(0, len(passes), each)]
        self.check_times({"prefill": [request[0] for request in requests],
                          "decode": [(*request[1][:2], request[-1][2]) for request in requests]})

    def test_graphs_are_timed_without_their_capture_before_the_stage(self):
        self.run_played(kind="graph")
        passes = self.passes_without_tracing()
        self.assertEqual(len(passes), self.ROUNDS * self.STEPS)
        decodes = [passes[start : start + self.STEPS] for start in range(0, len(passes), self.STEPS)]
        self.check_times({"decode": [(*decode[0][:2], decode[-1][2]) for decode in decodes]})

    def test_the_run_is_skipped_if_disabled(self):
        self.run_played("pipeline.driver_calls.enable=false")
        self.assertFalse((self.out / "stage1" / "driver_calls").exists())
        for stage in self.stages().values():
            self.assertIsNone(stage["unwatched"])

    def test_only_that_run_uses_driver_callbacks(self):
        self.run_played()
        (recorded,) = self.logs_of("collector")
        self.assertEqual(recorded.of("host_call"), [])
        self.assertGreater(len(recorded.of("kernels", "long_kernel")), 0)
        self.assertEqual([row for log in self.logs_of("stage1/launches") for row in log.of("host_call")], [])


if __name__ == "__main__":
    unittest.main()
