"""What nsys records of GPU memory (--cuda-memory-usage true). Exports are made here, with the columns that nsys
documents; every sum is calculated by hand."""
import json
import pathlib
import sqlite3
import tempfile
import unittest

from program import Bundle, run

MIB = 1 << 20
MS = 1_000_000
PID = 4711 << 24
HOST_THREAD = PID | 4711

USAGE_2022 = ("start", "globalPid", "deviceId", "contextId", "address", "pc", "bytes", "memKind", "memoryOperationType",
              "name", "correlationId")
USAGE = (*USAGE_2022, "streamId", "localMemoryPoolAddress", "localMemoryPoolReleaseThreshold", "localMemoryPoolSize",
         "localMemoryPoolUtilizedSize", "importedMemoryPoolAddress", "importedMemoryPoolProcessId")
POOLS = ("start", "globalPid", "deviceId", "address", "operationType", "poolType", "correlationId", "minBytesToKeep",
         "localMemoryPoolReleaseThreshold", "localMemoryPoolSize", "localMemoryPoolUtilizedSize")
ENUMS = {
    "ENUM_CUDA_DEV_MEM_EVENT_OPER": {0: "CUDA_DEV_MEM_EVENT_OPR_ALLOCATION", 1: "CUDA_DEV_MEM_EVENT_OPR_DEALLOCATION"},
    "ENUM_CUDA_MEM_KIND": dict(enumerate(f"CUDA_MEMOPR_MEMORY_KIND_{name}" for name in (
        "PAGEABLE", "PINNED", "DEVICE", "ARRAY", "MANAGED", "DEVICE_STATIC", "MANAGED_STATIC", "UNKNOWN"))),
    "ENUM_CUDA_MEMPOOL_OPER": dict(enumerate(f"CUDA_MEMPOOL_OPERATION_TYPE_{name}" for name in (
        "INVALID", "CREATED", "DESTROYED", "TRIMMED"))),
    "ENUM_CUDA_MEMPOOL_TYPE": dict(enumerate(f"CUDA_MEMPOOL_TYPE_{name}" for name in ("INVALID", "LOCAL", "IMPORTED"))),
}
ALLOCATE, FREE = 0, 1
PINNED, DEVICE, MANAGED, STATIC = 1, 2, 4, 5
CREATED, TRIMMED = 1, 3
LOCAL = 1
POOL = 0x5000


class Export:
    """An nsys export of one process with the stages prefill (100 to 200 ms) and decode (200 to 400 ms)."""

    def __init__(self, path, usage_columns=USAGE, enums=None):
        self.columns = usage_columns
        self.file = sqlite3.connect(path)
        self.table("StringIds", ("id", "value"), [(1, "gemm"), (2, "cudaLaunchKernel_v7000"), (3, "prefill"),
                                                  (4, "decode")])
        kernels = [(start * MS, (start + 10) * MS, 0, 1, 7, start, PID, 1, 1) for start in (110, 180, 210, 380)]
        self.table("CUPTI_ACTIVITY_KIND_KERNEL", ("start", "end", "deviceId", "contextId", "streamId", "correlationId",
                                                  "globalPid", "demangledName", "shortName"), kernels)
        self.table("CUPTI_ACTIVITY_KIND_RUNTIME", ("start", "end", "globalTid", "correlationId", "nameId"),
                   [(kernel[0] - MS, kernel[0], HOST_THREAD, kernel[5], 2) for kernel in kernels])
        self.table("NVTX_EVENTS", ("start", "end", "eventType", "text", "globalTid", "textId", "domainId"),
                   [(100 * MS, 200 * MS, 59, None, HOST_THREAD, 3, 0),
                    (200 * MS, 400 * MS, 59, None, HOST_THREAD, 4, 0)])
        for name, words in (enums or {}).items():
            self.table(name, ("id", "name", "label"), [(number, word, word) for number, word in words.items()])
        self.usage, self.pools = [], []

    def table(self, name, columns, rows):
        self.file.execute(f"CREATE TABLE {name} ({', '.join(columns)})")
        self.file.executemany(f"INSERT INTO {name} VALUES ({', '.join('?' * len(columns))})", rows)

    def add(self, time_ms, operation, address, mebibytes, kind=DEVICE, pool=None, **more):
        row = {"start": time_ms * MS, "globalPid": PID, "deviceId": 0, "contextId": 1, "address": address, "pc": 0,
               "bytes": mebibytes * MIB, "memKind": kind, "memoryOperationType": operation, "correlationId": 0,
               "streamId": 7}
        if pool:
            row |= {"localMemoryPoolAddress": POOL, "localMemoryPoolSize": pool[0] * MIB,
                    "localMemoryPoolUtilizedSize": pool[1] * MIB}
        row |= more
        self.usage.append(tuple(row.get(column) for column in self.columns))

    def add_pool(self, time_ms, operation, size, used, kind=LOCAL):
        self.pools.append((time_ms * MS, PID, 0, POOL, operation, kind, 0, 0, 0, size * MIB, used * MIB))

    def close(self):
        self.table("CUDA_GPU_MEMORY_USAGE_EVENTS", self.columns, self.usage)
        if self.pools:
            self.table("CUDA_GPU_MEMORY_POOL_EVENTS", POOLS, self.pools)
        self.file.commit()
        self.file.close()


class NsysMemory(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.path = pathlib.Path(holder.name) / "report.sqlite"

    def moments(self, ledger):
        """Mebibytes by part at each moment."""
        found = {}
        for index, moment in enumerate(ledger["moments"]):
            rows = {row["part"]: row["bytes"] / MIB for row in ledger["rows"] if row["moment"] == index}
            self.assertEqual(sum(rows.values()) * MIB, moment["recorded_bytes"])
            found[moment["kind"], moment["stage"]] = (rows, round(moment["time_ms"] + 10))
        return found

    def check_that_nothing_is_claimed(self, ledger):
        self.assertEqual(ledger["readings"], 0)
        for moment in ledger["moments"]:
            for unknown in ("total_bytes", "used_bytes", "used_share", "own_bytes", "closes"):
                self.assertIsNone(moment[unknown], unknown)
        self.assertFalse({"rest", "context", "rounding", "driver_reserved"} & {row["part"] for row in ledger["rows"]})
        for gpu in ledger["gpus"]:
            self.assertEqual((gpu["evidence"], gpu["total_bytes"]), ("events", None))
        for left in ledger["headroom"]:
            self.assertIsNone(left["free_bytes"])

    def full_export(self, enums=ENUMS, allocate=ALLOCATE, free=FREE):
        export = Export(self.path, enums=enums)
        export.add(10, allocate, 0x10000000, 1000)
        export.add(20, allocate, 0x7000, 64, kind=PINNED)
        export.add(30, allocate, 0x8000, 1, kind=STATIC, name="table")
        export.add_pool(50, CREATED, 0, 0)
        export.add(120, allocate, 0x90000000, 200)
        export.add(150, free, 0x90000000, 200)
        export.add(220, allocate, 0xA0000000, 32, pool=(64, 32))
        export.add(300, allocate, 0xB0000000, 48, pool=(96, 80))
        export.add(310, allocate, 0xC0000000, 16, kind=MANAGED)
        export.add(350, free, 0xB0000000, 48, pool=(96, 32))
        export.add(450, allocate, 0xD0000000, 500)
        export.add(460, free, 0xD0000000, 500)
        export.add_pool(470, TRIMMED, 32, 32)
        return export

    def test_moments_of_a_full_export(self):
        self.full_export().close()
        ledger = Bundle(self.path).profile["memory_ledger"]
        self.check_that_nothing_is_claimed(ledger)
        self.assertEqual(ledger["events"], 13)
        self.assertEqual(self.moments(ledger), {
            ("after_load", None): ({"allocations": 1000}, 100),
            ("stage_peak", "prefill"): ({"allocations": 1200}, 120),
            ("stage_peak", "decode"): ({"allocations": 1000, "pool": 80, "pool_unused": 16, "managed": 16}, 310),
            ("steady_decode", "decode"): ({"allocations": 1000, "pool": 80, "pool_unused": 16}, 300),
            ("peak", None): ({"allocations": 1500, "pool": 32, "pool_unused": 64, "managed": 16}, 450),
            ("end", None): ({"allocations": 1000, "pool": 32, "managed": 16}, 470),
        })
        highest = max(sum(point["parts_bytes"].values()) for point in ledger["timeline"])
        self.assertEqual(highest, 1612 * MIB)
        self.assertTrue(all(point["used_bytes"] is None for point in ledger["timeline"]))

    def test_the_columns_of_2022(self):
        export = Export(self.path, usage_columns=USAGE_2022)
        export.add(10, ALLOCATE, 0x10000000, 1000)
        export.add(120, ALLOCATE, 0x90000000, 200)
        export.add(150, FREE, 0x90000000, 200)
        export.close()
        ledger = Bundle(self.path).profile["memory_ledger"]
        self.check_that_nothing_is_claimed(ledger)
        sums = {kind: sum(rows.values()) for (kind, _), (rows, _) in self.moments(ledger).items()}
        self.assertEqual(sums, {"after_load": 1000, "stage_peak": 1000, "steady_decode": 1000, "peak": 1200,
                                "end": 1000})

    def test_numbers_mean_what_the_tables_of_the_export_say(self):
        """The numbers of CUPTI, in an export that says so."""
        enums = {**ENUMS, "ENUM_CUDA_DEV_MEM_EVENT_OPER": {
            1: "CUDA_DEV_MEM_EVENT_OPR_ALLOCATION", 2: "CUDA_DEV_MEM_EVENT_OPR_DEALLOCATION"}}
        self.full_export(enums=enums, allocate=1, free=2).close()
        moments = self.moments(Bundle(self.path).profile["memory_ledger"])
        self.assertEqual(sum(moments["peak", None][0].values()), 1612)
        self.assertEqual(sum(moments["end", None][0].values()), 1048)

    def test_damaged_rows_are_counted(self):
        export = self.full_export()
        export.add(400, 7, 0xE0000000, 1)
        export.add(401, ALLOCATE, 0xE0000000, 1 << 40)
        export.add(402, ALLOCATE, 0xE0000000, 1, pool=(-1, 0))
        export.add(403, ALLOCATE, 0xE0000000, 1, importedMemoryPoolAddress=0x6000, importedMemoryPoolProcessId=9)
        export.add_pool(404, 9, 0, 0)
        export.close()
        profile = Bundle(self.path).profile
        counts = [each["count"] for each in profile["diagnostics"] if each["code"] == "nsys_bad_rows"]
        self.assertEqual(sum(counts), 4)
        (imported,) = [each["count"] for each in profile["diagnostics"] if each["code"] == "nsys_imported_pools"]
        self.assertEqual(imported, 1)
        self.assertEqual(sum(self.moments(profile["memory_ledger"])["peak", None][0].values()), 1612)

    def test_memory_of_the_host_alone_is_no_ledger(self):
        export = Export(self.path, enums=ENUMS)
        export.add(20, ALLOCATE, 0x7000, 64, kind=PINNED)
        export.close()
        self.assertIsNone(Bundle(self.path).profile["memory_ledger"])

    def test_reports_and_tables_say_what_is_unknown(self):
        self.full_export().close()
        out = self.path.parent / "run"
        done = run("analyze", self.path, "--out", out)
        self.assertEqual(done.returncode, 0, done.stderr)
        report = (out / "report.md").read_text(encoding="utf-8")
        section = report[report.index("## Use of GPU memory"):]
        self.assertIn("Without readings of NVML it is unknown what else is used", section)
        self.assertNotIn("explained", section.split("\n## ")[0])
        for statement, expected in (
                ("select sum(bytes) from memory_ledger join memory_moments using (moment) where kind = 'peak'",
                 1612 * MIB),
                ("select count(*) from memory_moments where closes is not null", 0),
                ("select count(*) from memory_events where action like 'pool%'", 2)):
            answer = run("query", out, statement, "--format", "csv")
            self.assertEqual(answer.returncode, 0, answer.stderr)
            self.assertEqual(float(answer.stdout.split()[-1]), expected, statement)

    def test_two_exports_are_compared_by_what_they_recorded(self):
        self.full_export().close()
        other = self.path.parent / "other.sqlite"
        first, self.path = self.path, other
        export = self.full_export()
        export.add(440, ALLOCATE, 0xF0000000, 10)
        export.close()
        out = self.path.parent / "diff"
        self.assertEqual(run("diff", first, other, "--out", out).returncode, 0)
        memory = json.loads((out / "diff.json").read_text(encoding="utf-8"))["memory"]
        (peak,) = [each for each in memory["moments"] if each["kind"] == "peak"]
        self.assertEqual((peak["used"]["base_bytes"], peak["used"]["difference_bytes"]), (1612 * MIB, 10 * MIB))


if __name__ == "__main__":
    unittest.main()
