"""GPU memory by calls of the driver, without CUPTI: a preloaded collector, and a program that reaches a fake driver by
linking to it, by dlsym, and by cuGetProcAddress as CUDA's runtime does."""
import json
import os
import pathlib
import struct
import subprocess
import tempfile
import unittest

from collector_log import Log
from preloaded import BUILD, LIBRARY, NEEDS_FIRST_PLACE, environment_without_llmprof, needs_a_sanitizer


def built(variable, path):
    return os.environ.get(variable, str(BUILD / path))


PROGRAM = built("ALLOCATING_PROGRAM", "bin/allocating_program")
NVML = built("FAKE_NVML_LIBRARY", "lib/libfake_nvml.so")
LLMPROF = built("LLMPROF", "bin/llmprof")
MIB = 1 << 20
ALLOCATION, RELEASE, POOL_TRIMMED, CREATE, MAP, GRAPH, MODULE = 1, 2, 5, 6, 7, 11, 12
CONTEXT = 500 * MIB


class MemoryCalls(unittest.TestCase):
    def setUp(self):
        if needs_a_sanitizer():
            self.skipTest(NEEDS_FIRST_PLACE)
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name)
        self.logs = self.folder / "logs"
        self.used = self.folder / "used"
        self.used.write_bytes(struct.pack("<Q", 0))

    def run_program(self, **variables):
        base = environment_without_llmprof()
        environment = {
            "LLMPROF_LOG_DIR": str(self.logs),
            "CUDA_INJECTION64_PATH": LIBRARY,
            "LD_PRELOAD": LIBRARY,
            "LLMPROF_MEMORY": "calls",
            "LLMPROF_ARM": "command",
            "LLMPROF_NVML": NVML,
            "LLMPROF_SENSORS": "off",
            "FAKE_GPU_MEMORY": str(self.used),
            "FAKE_GPU_MEMORY_READINGS": str(self.folder / "readings"),
            **variables,
        }
        done = subprocess.run(
            [PROGRAM], capture_output=True, text=True, timeout=60, check=False, env={**base, **environment}
        )
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "done\n", ""))

    def log(self):
        (path,) = self.logs.glob("*.llmtrace")
        return Log(path)

    def used_at_the_end(self):
        return struct.unpack("<Q", self.used.read_bytes())[0]

    def test_each_way_to_the_driver_is_seen(self):
        self.run_program()
        log = self.log()
        self.assertEqual(len(log.of("memory_calls")), 1)
        events = sorted(log.of("memory_event"), key=lambda event: event["time"])
        sizes = [event["bytes"] for event in events if event["action"] == ALLOCATION]
        self.assertEqual(sizes, [100 * MIB, 1000, 40 * MIB, 10 * MIB, 30 * MIB])
        by = {log.strings[event["library"]] for event in events if event["action"] == ALLOCATION}
        self.assertEqual({pathlib.Path(path).name for path in by}, {"allocating_program"})
        addresses = {event["bytes"]: event["address"] for event in events if event["action"] == ALLOCATION}
        released = [event["address"] for event in events if event["action"] == RELEASE]
        self.assertEqual(released, [addresses[40 * MIB], addresses[30 * MIB]])
        created, mapped = ([e for e in events if e["action"] == action] for action in (CREATE, MAP))
        self.assertEqual([(e["bytes"], e["owner"]) for e in created], [(64 * MIB, 77)])
        self.assertEqual([(e["address"], e["bytes"], e["owner"]) for e in mapped], [(2 << 40, 64 * MIB, 77)])
        # Only the first launch of a function may load its code.
        self.assertEqual([e["action"] for e in events if e["action"] in (GRAPH, MODULE)], [MODULE, GRAPH])
        trimmed = [event["pool_bytes"] for event in events if event["action"] == POOL_TRIMMED]
        self.assertEqual(trimmed, [10 * MIB])
        calls = [event["correlation"] for event in log.of("allocation_call")]
        self.assertEqual(len(set(calls)), len(calls))

    def test_cupti_is_not_needed(self):
        self.run_program(LLMPROF_CUPTI="/nowhere/libcupti.so")
        self.assertEqual(self.log().collections(), [])

    def test_the_ledger_closes(self):
        self.run_program()
        bundle = self.folder / "bundle"
        done = subprocess.run(
            [LLMPROF, "analyze", *map(str, self.logs.glob("*.llmtrace")), "--out", str(bundle)],
            capture_output=True, text=True, timeout=120, check=False,
        )  # fmt: skip
        self.assertEqual(done.returncode, 0, done.stderr)
        ledger = json.loads((bundle / "profile.json").read_text())["memory_ledger"]
        end = next(i for i, moment in enumerate(ledger["moments"]) if moment["kind"] == "end")
        rows = {row["part"]: row["bytes"] for row in ledger["rows"] if row["moment"] == end}
        self.assertEqual(rows["rest"], 0)
        self.assertEqual(rows["allocations"], 100 * MIB + 1000)
        self.assertEqual(rows["rounding"], 2 * MIB - 1000)
        self.assertEqual(rows["pool"], 10 * MIB)
        self.assertEqual(rows["vmm"], 64 * MIB)
        self.assertEqual(rows["graphs"], 6 * MIB)
        self.assertEqual(rows["context"], CONTEXT + 4 * MIB)
        own = sum(rows.values()) - rows["driver_reserved"] - rows["other_processes"]
        self.assertEqual(own, self.used_at_the_end())

    def test_other_settings_leave_the_driver_alone(self):
        self.run_program(LLMPROF_MEMORY="off", FAKE_GPU_MEMORY_READINGS="")
        self.assertEqual(self.log().of("memory_event", "memory_calls", "memory_reading"), [])

    def test_without_preload_the_log_says_why_there_is_none(self):
        self.run_program(LD_PRELOAD="", FAKE_GPU_MEMORY_READINGS="")
        log = self.log()
        self.assertEqual(log.of("memory_event", "memory_calls"), [])
        self.assertIn("LD_PRELOAD", log.strings[log.only("memory_off")["reason"]])


if __name__ == "__main__":
    unittest.main()
