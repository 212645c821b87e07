"""The real binary on the captures next to the checkout, from third-party runs: each file is read or rejected for the
right reason."""
import gzip
import json
import os
import pathlib
import re
import sqlite3
import tempfile
import unittest

import test_device_time
from program import ROOT, Bundle, run
from test_captures import exact_kineto_total

CAPTURES = pathlib.Path(os.environ.get("LLMPROF_CAPTURES", ROOT.parent / "shared" / "captures"))
PUBLIC = CAPTURES / "public"
if not CAPTURES.is_dir():
    raise unittest.SkipTest("needs ../shared/captures (or LLMPROF_CAPTURES), which is not here")


class Engines(unittest.TestCase):
    """Logs of engines without our annotations."""

    def test_every_output_names_the_engine(self):
        for name, engine, display_name in (
                ("llama_cpp_bench_f16", "llama.cpp", "llama.cpp"),
                ("llama_cpp_server", "llama.cpp", "llama.cpp"),
                ("gpt_fast_compiled", "PyTorch", "PyTorch with torch.compile")):
            bundle = Bundle(CAPTURES / "engines" / f"{name}.llmtrace.gz")
            self.assertEqual(bundle.result.returncode, 0, name)
            found = bundle.profile["engine"]
            self.assertEqual(found["name"], engine, name)
            self.assertTrue(found["cuda_graphs"], name)
            self.assertGreater(found["confidence"], 0.8, name)
            self.assertTrue(found["evidence"], name)
            self.assertIn(f"Engine: {display_name}", bundle.result.stdout)
            for report in ("report.md", "stakeholder_summary.md"):
                self.assertIn(display_name, bundle.files[report], report)

    def test_reports_of_a_program_without_pytorch_do_not_name_it(self):
        for name in ("llama_cpp_bench_f16", "llama_cpp_server"):
            bundle = Bundle(CAPTURES / "engines" / f"{name}.llmtrace.gz")
            self.assertLessEqual({"report.md", "kernels.md", "operators.md", "stakeholder_summary.md",
                                  "profile.json"}, set(bundle.files))
            for where, text in {**bundle.files, "terminal": bundle.result.stdout + bundle.result.stderr}.items():
                # The page's program and data are the same for all engines, or packed.
                words = re.sub(r"<script.*?</script>", "", text, flags=re.S)
                self.assertNotRegex(words, r"(?i)torch", f"{name}: {where}")

    def test_a_compiled_program_gets_no_advice_to_compile(self):
        profile = Bundle(CAPTURES / "engines" / "gpt_fast_compiled.llmtrace.gz").profile
        self.assertTrue(profile["engine"]["compiled"])
        self.assertTrue(profile["findings"])
        for finding in profile["findings"]:
            self.assertNotIn("torch.compile first", finding["advice"])
            self.assertNotIn("Replay the step as one CUDA graph", finding["advice"])


    def test_a_prefill_that_llama_bench_counts_and_reports_exclude_is_named(self):
        """llama-bench counts the prefill that captures a graph: 9.606 ms, mean of five, by its own clock."""
        bundle = Bundle(CAPTURES / "engines" / "llama_cpp_bench_f16.llmtrace.gz")
        (prefill,) = [stage for stage in bundle.profile["stages"] if stage["name"] == "prefill"]
        times = [instance["wall_ms"] for instance in prefill["instances"]]
        self.assertEqual([instance["warmup_reason"] for instance in prefill["instances"]],
                         ["longer", "longer", None, None, None, None])
        self.assertEqual([instance["captures_graph"] for instance in prefill["instances"]],
                         [False, True, False, False, False, False])
        reported = prefill["wall_ms_with_graph_captures"]
        self.assertAlmostEqual(reported, sum(times[1:]) / 5, places=6)
        self.assertAlmostEqual(reported / 9.606, 1, delta=0.01)
        page = [text for name, text in bundle.files.items() if name == "report.html"]  # a build may have none
        for where in (bundle.result.stdout, bundle.files["report.md"], *page):
            self.assertIn(f"the recorded mean that includes it is {reported:.3f} ms", " ".join(where.split()))
        self.assertIn(f"instance 1, {times[1]:.3f} ms (longer than the later ones; a CUDA graph is captured in it)",
                      bundle.files["report.md"])

    def test_a_request_of_gpt_fast_takes_as_long_as_by_its_own_clock(self):
        bundle = Bundle(CAPTURES / "engines" / "gpt_fast_compiled.llmtrace.gz", options=("--no-annotations",))
        self.assertAlmostEqual(bundle.profile["token_times"]["request_ms"] / 105.6, 1, delta=0.01)


def gpu_work_behind_the_wait(path):
    """Start and end, in us, of the GPU's work after the first work that waited for at least a millisecond."""
    events = [e for e in json.load(gzip.open(path))["traceEvents"] if e.get("ph") == "X"]
    launched = {e["args"]["correlation"]: e["ts"] + e["dur"] for e in events
                if e.get("cat") in ("cuda_runtime", "cuda_driver") and "correlation" in e.get("args", {})}
    work = sorted((e["ts"], e["ts"] + e["dur"], e["args"]["correlation"]) for e in events
                  if e.get("cat") in ("kernel", "gpu_memcpy", "gpu_memset"))
    first = next(start for start, _, correlation in work if start - launched[correlation] > 1000)
    return first, max(end for _, end, _ in work)


def one_stage(bundle, name):
    (stage,) = (stage for stage in bundle.profile["stages"] if stage["name"] == name)
    return stage


class PublicFiles(unittest.TestCase):
    # name -> its format, or the words of the rejection
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

    def test_every_file_is_read_or_refused_with_a_reason(self):
        names = {path.name for path in PUBLIC.iterdir()}
        known = set(self.READ) | set(self.REFUSED)
        self.assertLessEqual(known, names)
        for name in sorted(names - known):
            with tempfile.TemporaryDirectory() as folder:
                done = run("analyze", PUBLIC / name, "--out", pathlib.Path(folder) / "out")
            self.assertIn(done.returncode, (0, 3), name)
            if done.returncode == 3:
                self.assertIn(name, done.stderr)

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

    def test_kineto_equals_plain_python(self):
        files = sorted(PUBLIC.glob("*.json.gz"))
        self.assertGreater(len(files), 5)
        for path in files:
            count, total = exact_kineto_total(path)
            if count == 0:
                self.assertEqual(run("analyze", path).returncode, 3, path.name)
                continue
            totals = Bundle(path).profile["totals"]
            self.assertEqual((totals["kernel_count"], totals["kernel_sum_ns"]), (count, total), path.name)

    def test_gpus_are_counted_by_their_kernels(self):
        path = PUBLIC / "GindaChen+nsys-ai__mfu_2gpu_before.sqlite"
        database = sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True)
        (truth,) = database.execute(
            "SELECT count(DISTINCT deviceId) FROM CUPTI_ACTIVITY_KIND_KERNEL").fetchone()
        database.close()
        self.assertEqual(truth, 2)
        self.assertEqual(Bundle(path).profile["totals"]["gpu_count"], truth)
        narrowed = Bundle(path, options=("--device", "0"))
        self.assertEqual(narrowed.profile["totals"]["gpu_count"], 1)

    def test_two_gpus_equal_plain_sql(self):
        test_device_time.WholeTimelines().check(PUBLIC / "GindaChen+nsys-ai__mfu_2gpu_before.sqlite")

    def test_launches_without_kernels_are_counted(self):
        # From SQL: 1,714 calls whose correlation no kernel of their process has.
        bundle = Bundle(PUBLIC / "GindaChen+nsys-ai__h100_2gpu_1s.sqlite.gz")
        self.assertIn("1714 of 3346 kernel and graph launches",
                      " ".join(d["message"] for d in bundle.profile["diagnostics"]))

    def test_a_summary_is_kept_next_to_ncu(self):
        profile = Bundle(
            PUBLIC / "CodeGandee+llm-perf-opt__all-stage_summary_cuda_gpu_kern_sum.csv",
            PUBLIC / "CodeGandee+llm-perf-opt__k0004_ncu.details.csv",
        ).profile
        totals = profile["totals"]
        self.assertEqual((totals["kernel_count"], totals["kernel_sum_ns"]), (1695983, 4946064742))
        self.assertEqual(totals["metric_join"]["profiled_launches"], 1)

    def test_time_before_the_first_work_is_in_no_stage(self):
        # Launched at 0.123 ms, started at 463.38 ms: the GPU was busy with unrecorded work. So it was in the other two,
        # until 493.366 and 8.371 ms.
        for name, stage, kernels in (("sglang_Qwen3-8B_decode", "decode", 554),
                                     ("sglang_Qwen3-8B_prefilldecode", "prefill", 526),
                                     ("inference_vllm_decode_full_graph_execution", "decode", 425)):
            path = PUBLIC / f"AMD-AGI+TraceLens__{name}.json.gz"
            bundle = Bundle(path)
            work = gpu_work_behind_the_wait(path)
            found = one_stage(bundle, stage)
            self.assertEqual(found["instances"][0]["kernel_count"], kernels)
            self.assertAlmostEqual(found["wall_ms"]["mean"], (work[1] - work[0]) / 1e3, delta=0.03)
            self.assertIn("unrecorded_work_before", bundle.codes())
            self.assertLess({row["part"]: row["share"] for row in found["budget"]}
                            .get("idle: launch-bound", 0), 0.05)
            device = bundle.profile["device_time"][0]
            self.assertLess(device["idle_ms"], 1.5)

    def test_a_resnet_has_no_stages(self):
        (path,) = PUBLIC.glob("pytorch+kineto__resnet50*")
        found = Bundle(path)
        self.assertEqual(found.profile["stages"], [])
        self.assertIn("stages_not_found", found.codes())


if __name__ == "__main__":
    unittest.main()
