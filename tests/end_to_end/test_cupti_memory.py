"""The collector's records of GPU memory: allocations from CUPTI and the driver's calls, readings from NVML."""
import json
import struct
import unittest

from played_tapes import InteractiveProgram, PlayedCase, built

NVML = built("FAKE_NVML_LIBRARY", "lib/libfake_nvml.so")
MIB = 1 << 20
# MemoryAction, CUpti_ActivityMemoryKind, MemoryReadingMoment
ALLOCATION, RELEASE, CREATE, MAP, RELEASE_HANDLE, GRAPH = 1, 2, 6, 7, 9, 11
DEVICE, MANAGED = 3, 5
BEFORE_CONTEXT, RUNNING, END = 1, 2, 3
HEAP, VIRTUAL, POOL, HANDLE = 1 << 40, 2 << 40, 0x5000, 77
UNKNOWN = (1 << 64) - 1


class Memory(PlayedCase):
    def play_memory(self, *options, **environment):
        self.used = self.folder / "used"
        self.used.write_bytes(struct.pack("<Q", 0))
        environment = {"FAKE_GPU_MEMORY": str(self.used), "LLMPROF_NVML": NVML, **environment}
        self.assertEqual(self.play(self.tape("memory"), *options, **environment), "")
        return self.log()

    def test_allocations_of_every_kind_are_recorded(self):
        log = self.play_memory()
        events = sorted(log.of("memory_event"), key=lambda event: (event["time"], event["action"]))
        rows = [
            (e["action"], e["kind"], e["address"], e["bytes"], e["owner"], log.strings.get(e["library"], ""))
            for e in events
        ]
        engine, cublas, cudnn = "/app/libengine.so", "/lib/libcublas.so.13", "/lib/libcudnn.so.9"
        self.assertCountEqual(
            rows,
            [
                (ALLOCATION, DEVICE, HEAP, 512 * MIB, 0, engine),
                (ALLOCATION, DEVICE, HEAP + 512 * MIB, 1000, 0, cublas),
                (ALLOCATION, DEVICE, HEAP + 4096 * MIB, 128 * MIB, POOL, engine),
                (ALLOCATION, MANAGED, HEAP + 8192 * MIB, 32 * MIB, 0, engine),
                (CREATE, 0, 0, 256 * MIB, HANDLE, ""),
                (MAP, 0, VIRTUAL, 256 * MIB, HANDLE, ""),
                (ALLOCATION, DEVICE, VIRTUAL, 256 * MIB, 0, cudnn),  # CUPTI's record of the mapping
                (RELEASE_HANDLE, 0, 0, 0, HANDLE, ""),
                (GRAPH, 0, 0, 0, 0, ""),
                (RELEASE, DEVICE, HEAP + 512 * MIB, 1000, 0, ""),
            ],
        )
        (in_pool,) = [e for e in events if e["owner"] == POOL]
        self.assertEqual((in_pool["pool_bytes"], in_pool["pool_used_bytes"]), (160 * MIB, 128 * MIB))
        (mapped,) = [e for e in events if e["action"] == MAP]
        (recorded,) = [e for e in events if e["action"] == ALLOCATION and e["address"] == VIRTUAL]
        self.assertEqual(mapped["correlation"], recorded["correlation"])
        self.assertEqual(log.only("cupti_memory")["buffers"], 3)

    def test_allocations_have_the_ranges_of_their_threads(self):
        log = self.play_memory()
        ranges = {}
        for records in log.threads.values():
            open_ranges = []
            for record in records:
                log.follow_ranges(record, open_ranges)
                if record["type"] == "allocation_call":
                    ranges[record["correlation"]] = [name for _, name in open_ranges]
        allocations = [e for e in log.of("memory_event") if e["action"] == ALLOCATION]
        by_address = {e["address"]: ranges.get(e["correlation"]) for e in allocations}
        self.assertEqual(by_address[HEAP], ["load"])
        self.assertEqual(by_address[HEAP + 8192 * MIB], [])
        # A pool may be used at every step: its calls are not followed.
        self.assertIsNone(by_address[HEAP + 4096 * MIB])

    def test_the_memory_is_read_before_the_context_and_at_the_end(self):
        log = self.play_memory()
        readings = log.of("memory_reading")
        before, end = readings[0], readings[-1]
        columns = ("moment", "used", "own", "others")
        self.assertEqual([before[column] for column in columns], [BEFORE_CONTEXT, 100 * MIB, 0, 100 * MIB])
        self.assertEqual([end[column] for column in columns], [END, 1800 * MIB, 1700 * MIB, 100 * MIB])
        for reading in readings:
            self.assertEqual(reading["total"], reading["free"] + reading["used"] + reading["reserved"])
            self.assertEqual(reading["reserved"], 615 * MIB)
            self.assertEqual(reading["device"], 0)

    def test_a_change_is_read_once_it_has_settled(self):
        self.used = self.folder / "used"
        self.used.write_bytes(struct.pack("<Q", 0))
        program = InteractiveProgram(
            self, self.tape("memory"), FAKE_GPU_MEMORY=str(self.used), LLMPROF_NVML=NVML
        )
        program.wait_until(
            lambda: any(r["moment"] == RUNNING and r["used"] == 1800 * MIB for r in self.log().of("memory_reading")),
            "the memory was not read",
        )
        program.stop()

    def test_memory_can_be_switched_off(self):
        log = self.play_memory(LLMPROF_MEMORY="off")
        self.assertEqual(log.of("memory_event", "memory_reading", "allocation_call", "memory_off"), [])
        self.assertEqual(len(log.kernels()), 1)

    def test_it_can_be_recorded_without_gpu_work(self):
        log = self.play_memory(LLMPROF_MEMORY="always", LLMPROF_ARM="command")
        self.assertEqual(len(log.of("memory_event")), 10)
        self.assertEqual(log.of("launch", "api_call", "kernels"), [])
        self.assertEqual(log.collections(), [("paused", "program_start"), ("detached", "process_end")])

    def test_it_is_recorded_before_arming(self):
        self.used = self.folder / "used"
        self.used.write_bytes(struct.pack("<Q", 0))
        program = InteractiveProgram(
            self,
            self.tape("memory"),
            FAKE_GPU_MEMORY=str(self.used),
            LLMPROF_NVML=NVML,
            LLMPROF_MEMORY="always",
            LLMPROF_ARM="command",
        )
        self.assertEqual(program.say("status"), "ok: attached, not tracing\n")
        self.assertTrue(program.say("arm").startswith("ok: "))
        program.next_round()
        program.end()
        log = self.log()
        self.assertEqual(log.collections()[:2], [("paused", "program_start"), ("tracing", "command")])
        self.assertEqual(len(log.of("memory_event")), 20)
        self.assertEqual(len(log.kernels()), 1)

    def test_memory_alone_is_explained(self):
        self.used = self.folder / "used"
        self.used.write_bytes(struct.pack("<Q", 0))
        environment = {"FAKE_GPU_MEMORY": str(self.used), "LLMPROF_NVML": NVML, "LLMPROF_ARM": "command"}
        done = self.analyze(self.tape("memory"), LLMPROF_MEMORY="always", **environment)
        self.assertEqual(done.returncode, 0, done.stderr)
        profile = json.loads((self.folder / "bundle" / "profile.json").read_text())
        (never_armed,) = [d for d in profile["diagnostics"] if d["code"] == "collector_never_armed"]
        self.assertIn("GPU memory was recorded, and no GPU work", never_armed["message"])
        self.assertIn("peak", [moment["kind"] for moment in profile["memory_ledger"]["moments"]])

    def test_a_cupti_without_records_says_so_and_kernels_are_recorded(self):
        log = self.play_memory(FAKE_CUPTI_FAIL_KIND="49")
        off = log.only("memory_off")
        self.assertIn("this CUPTI cannot record allocations", log.strings[off["reason"]])
        self.assertEqual(log.of("memory_event"), [])
        self.assertEqual(len(log.kernels()), 1)

    def test_without_nvml_allocations_are_recorded(self):
        log = self.play_memory(LLMPROF_NVML="/nowhere/libnvidia-ml.so.1")
        off = log.only("memory_off")
        self.assertIn("NVML was not found", log.strings[off["reason"]])
        self.assertEqual(len(log.of("memory_event")), 10)
        self.assertEqual(log.of("memory_reading"), [])

    def test_several_threads_may_allocate(self):
        log = self.play_memory("--threads=4", "--rounds=10")
        created = [e for e in log.of("memory_event") if e["action"] == CREATE]
        self.assertEqual(len(created), 40)
        self.assertEqual(len(log.of("memory_event")), 400)


if __name__ == "__main__":
    unittest.main()
