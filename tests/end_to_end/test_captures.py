"""The real binary on complete captures of an H200, against the truth in their README, nsys's own reports and plain
Python."""
import decimal
import gzip
import json
import sqlite3
import unittest

from program import DATA, H200_CAPTURES, Bundle, kernel_summary


def exact_kineto_total(path):
    """(kernels, total in ns), computed only with Python's json and decimal."""
    raw = path.read_bytes()
    if raw[:2] == b"\x1f\x8b":
        raw = gzip.decompress(raw)
    events = json.loads(raw.decode("utf-8", "replace"), parse_float=decimal.Decimal)
    if isinstance(events, dict):
        events = events["traceEvents"]
    kernels = [e for e in events if e.get("ph") == "X" and e.get("cat") in ("kernel", "Kernel")]
    total = sum(
        (decimal.Decimal(e["dur"]) * 1000).to_integral_value(decimal.ROUND_HALF_UP) for e in kernels
    )
    return len(kernels), int(total)


class Truth(unittest.TestCase):
    def test_h200_captures_equal_the_readme(self):
        for name, count, total in (
            ("h200-llama-eager/nsys.sqlite", 15512, 57331089),
            ("h200-dense-graph/nsys_node.sqlite", 41227, 157504418),
            ("h200-dense-graph/nsys_graph.sqlite", 4075, 41494796),
        ):
            totals = Bundle(H200_CAPTURES / name).profile["totals"]
            self.assertEqual((totals["kernel_count"], totals["kernel_sum_ns"]), (count, total), name)

    def test_rows_equal_those_of_nsys_stats(self):
        for capture, oracle in (
            ("h200-llama-eager/nsys.sqlite", "h200-llama-eager/nsys_cuda_gpu_kern_sum.csv"),
            ("h200-dense-graph/nsys_node.sqlite", "h200-dense-graph/nsys_node_cuda_gpu_kern_sum.csv"),
        ):
            expected = kernel_summary(H200_CAPTURES / oracle)
            self.assertEqual(Bundle(H200_CAPTURES / capture).kernels(), expected)
            self.assertEqual(Bundle(H200_CAPTURES / oracle).kernels(), expected)
        trace = Bundle(H200_CAPTURES / "h200-dense-graph/nsys_node_cuda_gpu_trace.csv.gz")
        self.assertEqual(trace.kernels(), expected)

    def test_both_pages_of_one_ncu_run_agree(self):
        raw = Bundle(H200_CAPTURES / "h200-llama-eager/ncu_decode_raw.csv.gz")
        details = Bundle(H200_CAPTURES / "h200-llama-eager/ncu_decode_details.csv.gz")
        self.assertEqual(raw.profile["totals"]["kernel_count"], 120)
        self.assertEqual(raw.kernels().keys(), details.kernels().keys())
        for name, (calls, total) in raw.kernels().items():
            # The details page prints microseconds with two digits: at most 5 ns per launch.
            self.assertEqual(details.kernels()[name][0], calls)
            self.assertLessEqual(abs(details.kernels()[name][1] - total), 5 * calls, name)

    def test_ncu_metrics_join_their_timeline(self):
        bundle = Bundle(
            H200_CAPTURES / "h200-llama-eager/nsys.sqlite",
            H200_CAPTURES / "h200-llama-eager/ncu_decode_raw.csv.gz",
        )
        join = bundle.profile["totals"]["metric_join"]
        self.assertEqual(join["profiled_launches"], 120)
        self.assertEqual(join["joined"] + join["unjoined"], 120)
        self.assertGreater(join["joined"], 100)

    def test_graph_level_capture_reports_what_is_missing(self):
        path = H200_CAPTURES / "h200-dense-graph/nsys_graph.sqlite"
        database = sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True)
        ((replays,),) = database.execute('SELECT sum("end" - start) FROM CUPTI_ACTIVITY_KIND_GRAPH_TRACE')
        database.close()
        bundle = Bundle(path)
        share = replays / (replays + 41494796)
        for text in (bundle.markdown, bundle.result.stdout, json.dumps(bundle.profile["diagnostics"])):
            plain = text.replace("\\", "")
            self.assertIn("not in the table", plain)
            self.assertIn("decode_all", plain)
            self.assertIn(f"{share * 100:.1f} %", plain)
            self.assertIn("--cuda-graph-trace=node", plain)

    def test_kineto_equals_plain_python(self):
        for path in (
            H200_CAPTURES / "h200-dense-graph/kineto_graph.json.gz",
            DATA / "h200-decoder" / "kineto.json.gz",
            DATA / "kineto" / "h200_graph_small.json",
        ):
            count, total = exact_kineto_total(path)
            self.assertGreater(count, 0, path.name)
            totals = Bundle(path).profile["totals"]
            self.assertEqual((totals["kernel_count"], totals["kernel_sum_ns"]), (count, total), path.name)

    def test_h200_captures_have_classes(self):
        paths = [path for ending in ("sqlite", "json.gz") for path in H200_CAPTURES.glob(f"h200-*/*.{ending}")]
        self.assertEqual(len(paths), 6)
        for path in sorted(paths):
            shares = {row["class"]: row["share"] for row in Bundle(path).profile["classes"]}
            self.assertLess(shares.get("other", 0), 0.02, path.name)
            self.assertAlmostEqual(sum(shares.values()), 1, places=9)


if __name__ == "__main__":
    unittest.main()
