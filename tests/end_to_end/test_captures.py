"""The real binary on the large captures beside the checkout: the truth of their README, and every
public file read for what it is or refused for what it is not."""
import decimal
import gzip
import json
import sqlite3
import unittest

from program import CAPTURES, Bundle, kernel_summary, needs_captures, run

PUBLIC = CAPTURES / "public"


def exact_kineto_total(path):
    """(kernels, total in ns) by Python's json and decimal alone."""
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


@needs_captures
class Truth(unittest.TestCase):
    def test_h200_captures_equal_the_readme(self):
        for name, count, total in (
            ("h200-llama-eager/nsys.sqlite", 15512, 57331089),
            ("h200-dense-graph/nsys_node.sqlite", 41227, 157504418),
            ("h200-dense-graph/nsys_graph.sqlite", 4075, 41494796),
        ):
            totals = Bundle(CAPTURES / name).profile["totals"]
            self.assertEqual((totals["kernel_count"], totals["kernel_sum_ns"]), (count, total), name)

    def test_rows_equal_those_of_nsys_stats(self):
        for capture, oracle in (
            ("h200-llama-eager/nsys.sqlite", "h200-llama-eager/nsys_cuda_gpu_kern_sum.csv"),
            ("h200-dense-graph/nsys_node.sqlite", "h200-dense-graph/nsys_node_cuda_gpu_kern_sum.csv"),
        ):
            expected = kernel_summary(CAPTURES / oracle)
            self.assertEqual(Bundle(CAPTURES / capture).kernels(), expected)
            self.assertEqual(Bundle(CAPTURES / oracle).kernels(), expected)
        trace = Bundle(CAPTURES / "h200-dense-graph/nsys_node_cuda_gpu_trace.csv.gz")
        self.assertEqual(trace.kernels(), expected)

    def test_both_pages_of_one_ncu_run_agree(self):
        raw = Bundle(CAPTURES / "h200-llama-eager/ncu_decode_raw.csv.gz")
        details = Bundle(CAPTURES / "h200-llama-eager/ncu_decode_details.csv.gz")
        self.assertEqual(raw.profile["totals"]["kernel_count"], 120)
        self.assertEqual(raw.kernels().keys(), details.kernels().keys())
        for name, (calls, total) in raw.kernels().items():
            # The details page prints microseconds with two digits: 5 ns at the most per launch.
            self.assertEqual(details.kernels()[name][0], calls)
            self.assertLessEqual(abs(details.kernels()[name][1] - total), 5 * calls, name)

    def test_ncu_metrics_join_their_timeline(self):
        bundle = Bundle(
            CAPTURES / "h200-llama-eager/nsys.sqlite",
            CAPTURES / "h200-llama-eager/ncu_decode_raw.csv.gz",
        )
        join = bundle.profile["totals"]["metric_join"]
        self.assertEqual(join["profiled_launches"], 120)
        self.assertEqual(join["joined"] + join["unjoined"], 120)
        self.assertGreater(join["joined"], 100)

    def test_graph_level_capture_says_what_is_missing(self):
        path = CAPTURES / "h200-dense-graph/nsys_graph.sqlite"
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
        files = [CAPTURES / "h200-dense-graph/kineto_graph.json.gz", *sorted(PUBLIC.glob("*.json.gz"))]
        self.assertGreater(len(files), 5)
        for path in files:
            count, total = exact_kineto_total(path)
            if count == 0:
                self.assertEqual(run("analyze", path).returncode, 3, path.name)
                continue
            totals = Bundle(path).profile["totals"]
            self.assertEqual((totals["kernel_count"], totals["kernel_sum_ns"]), (count, total), path.name)

    def test_h200_captures_have_classes(self):
        for path in sorted(CAPTURES.glob("h200-*/*.sqlite")) + sorted(CAPTURES.glob("h200-*/*.json.gz")):
            shares = {row["class"]: row["share"] for row in Bundle(path).profile["classes"]}
            self.assertLess(shares.get("other", 0), 0.02, path.name)
            self.assertAlmostEqual(sum(shares.values()), 1, places=9)


@needs_captures
class PublicFiles(unittest.TestCase):
    # name -> what its format is called, or the words of the refusal
    READ = {
        "AMD-AGI+TraceLens__h100_Qwen_Qwen1.5-0.5B-Chat__1016005.json.gz": "PyTorch trace",
        "AMD-AGI+TraceLens__inference_vllm_decode_full_graph_execution.json.gz": "PyTorch trace",
        "CodeGandee+llm-perf-opt__decode_summary_cuda_gpu_kern_sum.csv": "nsys stats CSV",
        "CodeGandee+llm-perf-opt__prefill_summary_cuda_gpu_kern_sum.csv": "nsys stats CSV",
        "CodeGandee+llm-perf-opt__k0001_ncu.details.csv": "ncu CSV",
        "GindaChen+nsys-ai__healthy_1pct.sqlite": "nsys SQLite",
        "GindaChen+nsys-ai__mfu_2gpu_before.sqlite": "nsys SQLite",
        "brycelelbach+nsightful__copy_blocked.csv": "ncu CSV",
        "brycelelbach+nsightful__power_iteration__baseline.sqlite": "nsys SQLite",
        "facebookresearch+HolisticTraceAnalysis__df_index_resolver.json.gz": "PyTorch trace",
        "facebookresearch+HolisticTraceAnalysis__ns_resolution_rank-0.pt.trace.json.gz": "PyTorch trace",
        "facebookresearch+HolisticTraceAnalysis__inference_rank_1.json.gz": "PyTorch trace",
        "facebookresearch+HolisticTraceAnalysis__large_integer_rank-70.pt.trace.json.gz": "PyTorch trace",
        "hpcgroup+pipit__saxpy-mpi-cuda_nsys_perlmutter0.sqlite": "nsys SQLite",
        "pytorch+kineto__resnet50_worker0.1623143089861.pt.trace.json.gz": "PyTorch trace",
    }
    REFUSED = {
        "Mlightsnow+DD2360-llm.c__fp32_ncu_ERR_NVGPUCTRPERM.txt":
            ("ERR_NVGPUCTRPERM", "NVreg_RestrictProfilingToAdminUsers=0", "root"),
        "brycelelbach+nsightful__copy_blocked_cli_text.txt": ("--page raw --csv",),
        "lighttransport+gemm__profile.sqlite": ("no table of kernels", "--trace=cuda"),
        "hpcgroup+pipit__nbody-nvtx_trace.csv": ("no kernels",),
    }

    def test_every_file_is_accounted_for(self):
        names = {path.name for path in PUBLIC.iterdir()}
        self.assertEqual(names, set(self.READ) | set(self.REFUSED))

    def test_read_for_what_it_is(self):
        for name, form in self.READ.items():
            bundle = Bundle(PUBLIC / name)
            self.assertEqual(bundle.result.returncode, 0, name)
            self.assertEqual(bundle.profile["context"]["captures"][0]["format"], form, name)
            self.assertGreater(bundle.profile["totals"]["kernel_count"], 0, name)
            self.assertGreater(bundle.profile["totals"]["kernel_sum_ns"], 0, name)

    def test_refused_for_what_it_is_not(self):
        for name, words in self.REFUSED.items():
            done = run("analyze", PUBLIC / name)
            self.assertEqual(done.returncode, 3, name)
            for word in words:
                self.assertIn(word, done.stderr, name)



if __name__ == "__main__":
    unittest.main()
