"""The collector's CUDA tracing: records, calls, ranges, graphs and ends of programs are in its log as on the tape."""
import collections
import pathlib
import signal
import subprocess
import unittest

from collector_log import LAUNCH_DURATION_BITS, Log
from played_tapes import (COPY, CUPTI, FILL, KERNEL, LONGEST_NAME, PLAY, InteractiveProgram, PlayedCase, built,
                          kernel_rows, memory_rows)

NVML = built("FAKE_NVML_LIBRARY", "lib/libfake_nvml.so")
LAYER = [("attn", 3), ("mlp", 2)]  # kernels of a layer, by their inner range


class Records(PlayedCase):
    def test_kernels_and_memory_operations_are_the_tapes(self):
        tape = self.tape("eager")
        self.assertEqual(self.play(tape), "")
        log = self.log()
        # Computed by hand: 2 layers of 5 kernels in prefill and in each of 8 steps, and 2 on another thread.
        kernels = kernel_rows(log)
        self.assertEqual(len(kernels), 9 * 10 + 2)
        self.assert_holds_what_was_delivered(log)
        self.assertEqual(self.records_with("off", KERNEL, COPY, FILL), [])
        on_tape = tape.work(KERNEL)
        self.assertCountEqual(
            [(k.correlation, k.end - k.start, k.name) for k in kernels],
            [(k["correlation"], k["end"] - k["start"], k["name"]) for k in on_tape],
        )
        shapes = {k["correlation"]: k for k in on_tape}
        for _, _, correlation, definition in log.kernels():
            grid = [definition[f"grid_{axis}"] for axis in "xyz"]
            block = [definition[f"block_{axis}"] for axis in "xyz"]
            wanted = shapes[correlation]
            self.assertEqual((grid, block), (wanted["grid"], wanted["block"]))
            self.assertEqual(definition["registers"], wanted["registers"])
            self.assertEqual(definition["dynamic_shared"], wanted["dynamic_shared"])
        directions = {1: 4096, 2: 8}  # CUpti_ActivityMemcpyKind: host to device, device to host
        copies = [row for row in log.memory_operations() if row["kind"] == 0]
        self.assertEqual(
            collections.Counter((row["direction"], row["bytes"]) for row in copies),
            {(1, directions[1]): 1, (2, directions[2]): 8},
        )
        (fill,) = [row for row in log.memory_operations() if row["kind"] == 1]
        self.assertEqual(fill["bytes"], 65536)

    def test_calls_are_once_in_the_log_with_their_ranges(self):
        tape = self.tape("eager")
        self.play(tape)
        log = self.log()
        self.assertEqual(
            collections.Counter(call["function"] for call in log.calls()),
            {
                "cuLaunchKernel": 90,
                "cuLaunchKernelEx": 2,
                "cuMemcpyAsync": 9,
                "cuMemsetD8Async": 1,
                "cuStreamSynchronize": 9,
            },
        )
        self.assert_calls_are_in_their_ranges(log, tape)
        self.assert_every_record_has_its_call(log, kernel_rows(log) + memory_rows(log))
        launches = [call for call in log.calls() if "Launch" in call["function"]]
        stacks = collections.Counter(tuple(call["ranges"]) for call in launches)
        self.assertEqual(stacks[("decode_all", "decode_step", "layer_01", "attn")], 8 * 3)
        self.assertEqual(stacks[("sampling",)], 2)

    def test_the_log_describes_its_process_and_devices(self):
        self.play(self.tape("eager"), FAKE_CUDA_DEVICES="2", RANK="3", WORLD_SIZE="8")
        log = self.log()
        self.assertEqual(log.path.name, f"rank3-{log.pid}.llmtrace")
        session = log.only("cuda_session")
        self.assertEqual(session["cupti_version"], 130001)
        self.assertEqual(log.strings[session["cupti_path"]], CUPTI)
        self.assertEqual(session["driver_version"], 13000)
        devices = log.of("cuda_device")
        self.assertEqual([d["ordinal"] for d in devices], [0, 1])
        self.assertEqual(devices[1]["name"].rstrip(b"\0"), b"Fake GPU 1")
        self.assertEqual(devices[0]["sm_count"], 132)
        variables = {log.strings[v["name"]]: log.strings[v["value"]] for v in log.of("variable")}
        self.assertEqual(variables, {"RANK": "3", "WORLD_SIZE": "8"})
        self.assertEqual(
            log.collections(), [("tracing", "program_start"), ("detached", "process_end")]
        )
        self.assertEqual(log.only("clean_end")["dropped"], 0)

    def test_a_launcher_leaves_no_log(self):
        """torchrun queries CUDA for its devices; its ranks are other processes."""
        tape = self.tape("eager")
        for name, logs in (("torchrun", 0), ("mpirun", 0), ("a_rank", 1)):
            with self.part(name):
                program = self.folder / name
                program.symlink_to(PLAY)
                done = subprocess.run([program, tape.path], capture_output=True, text=True, timeout=300,
                                      check=True, env=self.environment({"NVTX_INJECTION64_PATH": None}))
                self.assertEqual(done.stderr, "")
                self.assertEqual(len(list(self.folder.glob("*.llmtrace"))), logs)

    def test_the_log_has_the_version_of_the_kernel_driver(self):
        files = [pathlib.Path("/sys/module/nvidia/version"), pathlib.Path("/proc/driver/nvidia/version")]
        versions = [path.read_text() for path in files if path.exists()] or ["580.95.05"]  # the fake NVML's
        for sensors in ("on", "off"):
            with self.part(sensors=sensors):
                program = InteractiveProgram(
                    self, self.tape("eager"), LLMPROF_NVML=NVML, LLMPROF_SENSORS=sensors
                )
                program.wait_until(lambda: self.log().of("cuda_session"), "no session in the log")
                program.end()
                log = self.log()
                version = log.strings.get(log.only("cuda_session")["kernel_driver"], "")
                if sensors == "off" and len(versions) == 1 and versions[0] == "580.95.05":
                    self.assertEqual(version, "")  # NVML is not loaded
                else:
                    self.assertIn(version, versions[0].split())

    def test_threads_and_copies_of_a_program_do_not_mix(self):
        tape = self.tape("eager")
        self.play(tape, "--threads=4", "--rounds=3", FAKE_CUPTI_FLUSH_MS="1")
        log = self.log()
        self.assertEqual(len(kernel_rows(log)), 12 * 92)
        self.assert_holds_what_was_delivered(log)
        self.assert_calls_are_in_their_ranges(log, tape)
        self.assert_every_record_has_its_call(log, kernel_rows(log) + memory_rows(log))
        self.assertEqual(log.only("clean_end")["dropped"], 0)

    def test_extreme_values_of_records(self):
        tape = self.tape("edges")
        self.play(tape, FAKE_CUDA_DEVICES="2")
        log = self.log()
        self.assertEqual(log.only("clean_end")["dropped"], 0)
        self.assert_holds_what_was_delivered(log)
        kernels = {k.name[:100]: k for k in kernel_rows(log)}
        self.assertEqual(len(kernels), 6)
        self.assertNotIn("kernel_without_times", kernels)
        self.assertEqual(log.only("cupti_dropped")["records"], 1)
        long = kernels["kernel_of_five_seconds"]
        self.assertEqual(long.end - long.start, 5_000_000_000)
        self.assertEqual(len(kernels["x" * 100].name), LONGEST_NAME)
        self.assertEqual(kernels["kernel_on_device_1"].device, 1)
        launch = kernels["kernel_of_a_long_launch"].correlation
        (call,) = [c for c in log.calls() if c["correlation"] == launch]
        self.assertGreater(call["end"] - call["start"], 20_000_000)
        # A launch record has no room for it. On a busy machine, others may be as long.
        long_calls = [c for c in log.calls() if c["end"] - c["start"] >= 1 << LAUNCH_DURATION_BITS]
        self.assertEqual(len(log.of("api_call")), len(long_calls))
        (copy,) = log.memory_operations()
        self.assertEqual((copy["bytes"], copy["direction"]), (1 << 20, 10))

    def test_every_call_on_request(self):
        tape = self.tape("eager")
        self.play(tape, LLMPROF_API="1")
        log = self.log()
        functions = collections.Counter(call["function"] for call in log.calls())
        self.assertEqual(
            functions,
            {
                "cudaLaunchKernel": 90,
                "cuLaunchKernelEx": 2,
                "cudaMemcpyAsync": 9,
                "cudaMemsetAsync": 1,
                "cudaStreamSynchronize": 9,
            },
        )
        self.assert_calls_are_in_their_ranges(log, tape)
        self.assert_every_record_has_its_call(log, kernel_rows(log))

    def test_cupti_12(self):
        tape = self.tape("graph")
        self.play(tape, FAKE_CUPTI_VERSION="12")
        log = self.log()
        self.assertEqual(log.only("cuda_session")["cupti_version"], 28)
        self.assertEqual(len(kernel_rows(log)), 80)
        self.assert_holds_what_was_delivered(log)

    def test_buffers_that_come_back_full(self):
        tape = self.tape("eager", steps=600, layers=8)
        self.play(tape, "--rounds=2")
        log = self.log()
        self.assertEqual(len(kernel_rows(log)), 2 * (601 * 40 + 2))
        self.assert_holds_what_was_delivered(log)


class Nvtx(PlayedCase):
    def test_all_kinds(self):
        self.play(self.tape("edges"))
        ranges = self.log().ranges()
        self.assertEqual(
            ranges,
            [
                ("push", "", "plain push", True),
                ("push", "", "attributes push", True),
                ("push", "", "wide push", True),
                ("push", "engine", "domain push", True),
                ("push", "engine", "registered name", True),
                ("mark", "", "plain mark", True),
                ("mark", "", "attributes mark", True),
                ("mark", "", "wide mark", True),
                ("mark", "engine", "domain mark", True),
                ("mark", "engine", "registered name", True),
                ("start", "", "plain start", True),
                ("start", "engine", "domain start", True),
            ],
        )

    def test_names_of_threads(self):
        self.play(self.tape("eager"))
        log = self.log()
        (second,) = [
            serial
            for serial, records in log.threads.items()
            if any(log.strings.get(record.get("name")) == "sampling" for record in records)
        ]
        named = log.only("thread_name")
        self.assertEqual(log.strings[named["name"]], "sampler")
        self.assertEqual(named["thread_id"], log.thread_ids[second])
        self.assertIn(named, log.threads[second])

    def test_a_program_without_cuda(self):
        self.assertEqual(self.play(self.tape("eager"), "--no-cuda"), "")
        log = self.log()
        self.assertEqual(
            collections.Counter(name for _, _, name, _ in log.ranges() if not name.startswith("layer")),
            {"prefill": 1, "decode_all": 1, "decode_step": 8, "attn": 18, "mlp": 18, "sampling": 1},
        )
        self.assertTrue(all(ended for *_, ended in log.ranges()))
        self.assertEqual(log.of("cuda_session", "tracing_change", "launch"), [])

    def test_without_a_folder_nothing_happens(self):
        self.assertEqual(self.play(self.tape("eager"), LLMPROF_LOG_DIR=None), "")
        self.assertEqual(self.logs(), [])
        self.assertEqual(len(self.records_with("off", KERNEL)), 92)


class Graphs(PlayedCase):
    def test_every_replayed_kernel_has_its_layer(self):
        tape = self.tape("graph", steps=8, layers=12)
        self.play(tape, "--threads=2")
        log = self.log()
        self.assert_holds_what_was_delivered(log)
        kernels = kernel_rows(log)
        self.assertEqual(len(kernels), 2 * 8 * 60)
        nodes, expected = log.nodes(), tape.ranges_of_nodes()
        layers = collections.Counter()
        for kernel in kernels:
            self.assertEqual(nodes[kernel.node], expected[kernel.node & ((1 << 40) - 1)])
            layers[tuple(nodes[kernel.node])] += 1
        for layer in range(12):
            for part, count in LAYER:
                self.assertEqual(layers[("warm_up", f"layer_{layer:02}", part)], 2 * 8 * count)
        replays = [call for call in log.calls() if call["function"] == "cuGraphLaunch"]
        self.assertEqual([call["ranges"] for call in replays], 16 * [["decode_all", "decode_step"]])

    def test_a_graph_that_was_built_before_has_no_layers(self):
        self.play(self.tape("graph"), LLMPROF_ARM="LLM@decode_all")
        log = self.log()
        self.assert_holds_what_was_delivered(log)
        self.assertEqual(len(kernel_rows(log)), 80)
        self.assertEqual(log.nodes(), {})


class ProcessEnds(PlayedCase):
    def assert_nothing_delivered_is_missing(self, log):
        missing = {k for k in self.records_with("delivered", KERNEL) if k.start != 0} - set(kernel_rows(log))
        self.assertEqual(len(missing), 0)

    def test_each_way_at_the_end(self):
        tape = self.tape("eager")
        for way, status in (
            ("return", 3),
            ("exit", 3),
            ("_exit", 3),
            ("abort", -signal.SIGABRT),
            ("kill9", -signal.SIGKILL),
        ):
            with self.part(way):
                self.play(tape, f"--exit={way}", "--status=3", status=status)
                log = self.log()
                self.assert_nothing_delivered_is_missing(log)
                # Calls are in the log as soon as they return, however the process ends.
                self.assertEqual(len(log.calls()), 111)
                if way in ("return", "exit"):
                    self.assertEqual(len(kernel_rows(log)), 92)
                    self.assert_holds_what_was_delivered(log)
                self.assertEqual(len(log.of("clean_end")), 1 if way in ("return", "exit") else 0)

    def test_in_the_middle_with_threads_still_running(self):
        tape = self.tape("eager", steps=200)
        for way, status in (
            ("exit", 3),
            ("_exit", 3),
            ("abort", -signal.SIGABRT),
            ("kill9", -signal.SIGKILL),
        ):
            with self.part(way):
                options = ("--threads=3", f"--exit={way}", "--at=9000", "--status=3")
                self.play(tape, *options, status=status)
                log = self.log()
                self.assert_nothing_delivered_is_missing(log)
                self.assertGreater(len(log.calls()), 1000)
                self.assert_calls_are_in_their_ranges(log, tape)

    def test_work_that_has_not_ended_when_the_program_does(self):
        self.play(self.tape("running"))
        log = self.log()
        self.assertEqual(len(self.records_with("unfinished", KERNEL, COPY, FILL)), 3)
        self.assertEqual([k.name for k in kernel_rows(log)], ["kernel_that_ends"])
        self.assertEqual(log.memory_operations(), [])
        self.assertEqual(sum(r["records"] for r in log.of("cupti_dropped")), 3)

    def has_spare_chunks(self, path):
        log = Log(path)
        return len(log.unused_chunks) == 4 and log.unused_chunks[-1] == log.chunks - 1

    def wait_for_spare_chunks(self, program):
        (path,) = self.folder.glob("*.llmtrace")
        program.wait_until(lambda: self.has_spare_chunks(path), "no chunks are mapped ahead")

    def test_unused_chunks_are_cut_off(self):
        tape = self.tape("eager")
        program = InteractiveProgram(self, tape)
        self.wait_for_spare_chunks(program)
        program.next_round()
        program.end()
        log = self.log()
        self.assertEqual(log.unused_chunks, [])
        self.assertEqual(log.only("clean_end")["chunks"], log.chunks)
        # Chunks of the process, its strings, its two threads in two rounds, and its GPU.
        self.assertLessEqual(log.chunks, 6)
        self.assertEqual(len(kernel_rows(log)), 2 * 92)
        self.assert_holds_what_was_delivered(log)

    def test_a_killed_program_leaves_the_chunks_that_were_mapped_ahead(self):
        program = InteractiveProgram(self, self.tape("eager"))
        self.wait_for_spare_chunks(program)
        program.process.kill()
        program.process.communicate()
        self.assertTrue(self.has_spare_chunks(self.log().path))

    def test_fork(self):
        tape = self.tape("eager", steps=32)
        for child in ("exit", "_exit"):
            for duty in (None, "2/8"):
                with self.part(child=child, duty=duty):
                    self.play(tape, "--fork=600", f"--child={child}", LLMPROF_DUTY=duty)
                    logs = self.logs()
                    self.assertEqual(len(logs), 2)
                    (parent,) = [log for log in logs if log.of("cuda_session")]
                    (other,) = [log for log in logs if not log.of("cuda_session")]
                    self.assert_holds_what_was_delivered(parent)
                    self.assertEqual(other.of("tracing_change", "launch", "kernels", "api_name"), [])
                    steps = [name for _, _, name, _ in other.ranges()].count("decode_step")
                    self.assertGreater(steps, 10)
                    self.assertLess(steps, 32)


class Killed(PlayedCase):
    def test_delivered_records_survive_sigkill(self):
        program = InteractiveProgram(self, self.tape("eager"))
        # The collector's thread requests records from CUPTI by itself.
        program.wait_until(lambda: len(self.records_with("delivered", KERNEL)) == 92, "never handed over")
        program.process.kill()
        program.process.communicate()
        log = self.log()
        self.assert_holds_what_was_delivered(log)
        self.assertEqual(len(kernel_rows(log)), 92)
        self.assertEqual(log.of("clean_end"), [])


if __name__ == "__main__":
    unittest.main()
