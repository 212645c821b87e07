"""Results for a whole timeline without stages, against plain SQL over nsys's exports."""
import math
import sqlite3
import unittest

from program import DATA, H200_CAPTURES, Bundle

COPY_KINDS = {1: "Host-to-Device", 2: "Device-to-Host", 8: "Device-to-Device", 10: "Peer-to-Peer"}
MEMORY = {0: "pageable", 1: "pinned", 2: "device", 3: "array", 4: "managed", 5: "device"}
SHORT = (2000, 5000, 10000)


def union(intervals):
    """The time that the intervals cover."""
    covered, until = 0, -math.inf
    for start, end in sorted(intervals):
        covered += max(0, end - max(start, until))
        until = max(until, end)
    return covered


def nearest_rank(values, share):
    return sorted(values)[max(0, math.ceil(share * len(values)) - 1)]


class Export:
    def __init__(self, path):
        self.database = sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True)
        self.tables = {
            name for (name,) in self.query("SELECT name FROM sqlite_master WHERE type = 'table'")
        }

    def query(self, sql):
        return self.database.execute(sql).fetchall()

    def work(self, table, device):
        """(start, end, process, correlation) of each row."""
        table = f"CUPTI_ACTIVITY_KIND_{table}"
        if table not in self.tables:
            return []
        return self.query(
            f"SELECT start, end, globalPid >> 24, correlationId FROM {table}"
            f" WHERE deviceId = {device}"
        )

    def kernel_names(self, device):
        return self.query(
            "SELECT k.start, k.end, s.value FROM CUPTI_ACTIVITY_KIND_KERNEL k"
            f" JOIN StringIds s ON s.id = k.demangledName WHERE k.deviceId = {device}"
        )

    def calls(self):
        """(process, correlation) -> (start, end), the first if several share it."""
        calls = {}
        for process, correlation, start, end in self.query(
            "SELECT globalTid >> 24, correlationId, start, end FROM CUPTI_ACTIVITY_KIND_RUNTIME"
            " ORDER BY start, end DESC"
        ):
            calls.setdefault((process, correlation), (start, end))
        return calls

    def copies(self, device):
        """(direction, from, to) -> (count, ns, bytes, largest)."""
        rows = {}
        if "CUPTI_ACTIVITY_KIND_MEMCPY" in self.tables:
            for kind, source, target, *numbers in self.query(
                "SELECT copyKind, srcKind, dstKind, count(*), sum(end - start), sum(bytes),"
                f" max(bytes) FROM CUPTI_ACTIVITY_KIND_MEMCPY WHERE deviceId = {device}"
                " GROUP BY copyKind, srcKind, dstKind"
            ):
                rows[COPY_KINDS[kind], MEMORY[source], MEMORY[target]] = tuple(numbers)
        if "CUPTI_ACTIVITY_KIND_MEMSET" in self.tables:
            for target, *numbers in self.query(
                "SELECT memKind, count(*), sum(end - start), sum(bytes), max(bytes)"
                f" FROM CUPTI_ACTIVITY_KIND_MEMSET WHERE deviceId = {device} GROUP BY memKind"
            ):
                rows["fill", None, MEMORY[target]] = tuple(numbers)
        return rows


def ns(milliseconds):
    return round(milliseconds * 1e6)


class WholeTimelines(unittest.TestCase):
    def check(self, path):
        export = Export(path)
        profile = Bundle(path, options=["--no-annotations"]).profile
        devices = [device for (device,) in export.query(
            "SELECT DISTINCT deviceId FROM CUPTI_ACTIVITY_KIND_KERNEL ORDER BY deviceId")]
        self.assertEqual([row["device"] for row in profile["device_time"]],
                         [f"cuda:{device}" for device in devices])
        communication = {
            row["kernel_name"] for row in profile["kernels"] if row["class"] == "communication"
        }
        for row, device in zip(profile["device_time"], devices):
            self.check_busy(export, row, device, communication)
            self.check_launches(export, row["launches"], device)
            self.check_copies(export.copies(device),
                              [c for c in profile["copies"] if c["device"] == row["device"]])
        return profile

    def check_busy(self, export, row, device, communication):
        kernels = export.kernel_names(device)
        compute = [(s, e) for s, e, name in kernels if name not in communication]
        compute += [work[:2] for work in export.work("GRAPH_TRACE", device)]
        talk = [(s, e) for s, e, name in kernels if name in communication]
        copies = [work[:2] for table in ("MEMCPY", "MEMSET") for work in export.work(table, device)]
        everything = compute + talk + copies
        span = max(end for _, end in everything) - min(start for start, _ in everything)
        busy = union(everything)
        self.assertEqual(ns(row["span_ms"]), span)
        self.assertEqual(ns(row["busy_ms"]), busy)
        self.assertEqual(ns(row["idle_ms"]), span - busy)
        self.assertEqual(ns(row["compute_ms"]), union(compute))
        self.assertEqual(ns(row["communication_ms"]), union(talk))
        self.assertEqual(ns(row["copies_ms"]), union(copies))
        self.assertEqual(ns(row["exposed_communication_ms"]), union(compute + talk) - union(compute))
        self.assertEqual(ns(row["overlapped_copies_ms"]),
                         union(copies) - (busy - union(compute + talk)))
        self.assertEqual(sum(ns(cause["ms"]) for cause in row["idle_causes"]), span - busy)

    def check_launches(self, export, launches, device):
        calls = export.calls()
        first = {}  # by launch: when its first work started
        kernels = export.work("KERNEL", device)
        for start, _, process, correlation in kernels + export.work("GRAPH_TRACE", device):
            if (process, correlation) in calls:
                key = (process, correlation)
                first[key] = min(first.get(key, start), start)
        waits = [max(0, start - calls[key][0]) for key, start in first.items()]
        self.assertEqual(launches["launches"], len(first))
        self.assertEqual(ns(launches["launch_to_start_ms"]["p50"]), nearest_rank(waits, 0.5))
        self.assertEqual(ns(launches["launch_to_start_ms"]["max"]), max(waits))
        durations = [calls[key][1] - calls[key][0] for key in first]
        self.assertEqual(ns(launches["call_ms"]["p50"]), nearest_rank(durations, 0.5))
        called = sorted(calls[key][0] for key in first)
        begun = sorted(first.values())
        depths, started = [], 0
        for i, time in enumerate(called):
            while started < len(begun) and begun[started] <= time:
                started += 1
            depths.append(max(0, i - started))
        self.assertEqual(launches["queue_depth"]["max"], max(depths))
        self.assertEqual(launches["queue_depth"]["p50"], nearest_rank(depths, 0.5))
        self.assertAlmostEqual(launches["queue_depth"]["mean"], sum(depths) / len(depths))
        lengths = [end - start for start, end, *_ in kernels]
        for bound, row in zip(SHORT, launches["short_kernels"]):
            self.assertEqual(ns(row["below_ms"]), bound)
            self.assertEqual(row["count"], sum(length < bound for length in lengths))
            self.assertEqual(ns(row["total_ms"]), sum(n for n in lengths if n < bound))

    def check_copies(self, expected, rows):
        found = {}
        for row in rows:
            key = (row["direction"], row["from"], row["to"])
            found[key] = (row["count"], ns(row["total_ms"]), row["bytes"], row["max_bytes"])
            rate = row["bytes"] / (row["total_ms"] / 1e3)
            self.assertAlmostEqual(row["bytes_per_s"] / rate, 1)
        self.assertEqual(found, expected)

    def test_equal_plain_sql(self):
        for path in (DATA / "h200-decoder" / "nsys.sqlite",
                     H200_CAPTURES / "h200-dense-graph" / "nsys_node.sqlite",
                     H200_CAPTURES / "h200-dense-graph" / "nsys_graph.sqlite",
                     H200_CAPTURES / "h200-hf" / "deepseek_ocr2.sqlite"):
            with self.subTest(path.name):
                self.check(path)

    def test_sections_need_no_stages(self):
        bundle = Bundle(DATA / "nsys_sqlite" / "eager.sqlite", options=["--no-annotations"])
        report = bundle.files["report.md"]
        for heading in ("## GPU time", "## Copies and fills", "## Launches and short kernels"):
            section = report.split(heading + "\n", 1)[1].split("\n## ", 1)[0]
            self.assertNotIn("Not available", section)
            self.assertIn("cuda:0", section)


class MeasuredKernels(unittest.TestCase):
    """Three requests of 462 and 12,408 kernels, the first a warm-up; other kernels are outside."""

    def setUp(self):
        self.bundle = Bundle(H200_CAPTURES / "h200-dense-graph" / "nsys_node.sqlite")
        self.profile = self.bundle.profile

    def test_scopes_hold_every_kernel_once(self):
        totals = self.profile["totals"]
        scopes = {row["scope"]: row for row in totals["scopes"]}
        self.assertEqual(scopes["measured"]["kernel_count"], 2 * (462 + 12408))
        self.assertEqual(scopes["warm-up"]["kernel_count"], 462 + 12408)
        self.assertAlmostEqual(scopes["measured"]["kernel_sum_ms"], 5.41 + 5.42 + 38.72 + 38.71,
                               delta=0.02)
        self.assertEqual(sum(row["kernel_count"] for row in totals["scopes"]), 41227)
        self.assertEqual(sum(ns(row["kernel_sum_ms"]) for row in totals["scopes"]), 157504418)

    def test_measured_times_are_listed_next_to_all_times(self):
        measured = [row for row in self.profile["kernels"] if row["measured"]]
        scope = self.profile["totals"]["scopes"][0]
        self.assertEqual(sum(row["measured"]["calls"] for row in measured), scope["kernel_count"])
        self.assertEqual(sum(ns(row["measured"]["total_ms"]) for row in measured),
                         ns(scope["kernel_sum_ms"]))
        self.assertAlmostEqual(sum(row["measured"]["share"] for row in measured), 1)
        classes = [row["measured"] for row in self.profile["classes"] if row["measured"]]
        self.assertAlmostEqual(sum(row["share"] for row in classes), 1)
        self.assertEqual(sum(row["calls"] for row in self.profile["kernels"]), 41227)
        self.assertAlmostEqual(sum(row["share"] for row in self.profile["kernels"]), 1)

    def test_reports_rank_by_the_measured_stages(self):
        longest = max((row for row in self.profile["kernels"] if row["measured"]),
                      key=lambda row: row["measured"]["total_ms"])
        section = self.bundle.files["report.md"].split("## Top kernels\n", 1)[1]
        first = next(line for line in section.splitlines()[3:] if line.startswith("| "))
        cells = [cell.strip() for cell in first.split("|")[1:-1]]
        self.assertEqual(float(cells[2]), longest["measured"]["total_ms"])
        self.assertEqual(cells[3], f"{100 * longest['measured']['share']:.1f} %")
        self.assertIn("warm-up (excluded from statistics)", section)
        self.assertIn("initialization: before the first stage", section)


if __name__ == "__main__":
    unittest.main()
