"""`llmprof analyze` as users run it, on the repository's own captures."""
import gzip
import json
import os
import pathlib
import shutil
import sqlite3
import stat
import subprocess
import tempfile
import unittest

from program import DATA, LLMPROF, ROOT, Bundle, kernel_summary, run

DECODER = DATA / "h200-decoder"


def table_rows(markdown, first_column):
    """The cells of the table whose header starts like this."""
    lines = markdown.splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith(f"| {first_column} |"))
    rows = []
    for line in lines[start + 2 :]:
        if not line.startswith("|"):
            break
        rows.append([cell.strip() for cell in line.replace("\\|", "\0").split("|")[1:-1]])
    return rows


class Ranking(unittest.TestCase):
    def test_equals_nsys_row_by_row(self):
        bundle = Bundle(DECODER / "nsys.sqlite")
        self.assertEqual(bundle.kernels(), kernel_summary(DECODER / "nsys_cuda_gpu_kern_sum.csv"))
        totals = bundle.profile["totals"]
        self.assertEqual((totals["kernel_count"], totals["kernel_sum_ns"]), (4465, 10340189))
        self.assertEqual(totals["kernel_sum_ms"], 10.340189)
        self.assertLessEqual(totals["gpu_busy_ms"], totals["kernel_sum_ms"])
        self.assertGreater(totals["span_ms"], totals["gpu_busy_ms"])

    def test_kernels_md_keeps_the_contract(self):
        bundle = Bundle(DECODER / "nsys.sqlite")
        self.assertIn(
            "| kernel_name | total_ms | calls | mean_ms | device | share | class | short_name |",
            bundle.markdown,
        )
        rows = table_rows(bundle.markdown, "kernel_name")
        self.assertEqual(len(rows), len(bundle.profile["kernels"]))
        totals = [float(row[1]) for row in rows]
        self.assertEqual(totals, sorted(totals, reverse=True))
        self.assertAlmostEqual(sum(totals), 10.340189, places=6)
        for row, kernel in zip(rows, bundle.profile["kernels"]):
            self.assertEqual(len(row), 8)
            self.assertEqual(row[0].strip("`"), kernel["kernel_name"])
            self.assertEqual(float(row[1]), kernel["total_ms"])
            self.assertEqual(int(row[2]), kernel["calls"])
            self.assertAlmostEqual(float(row[3]), kernel["total_ms"] / kernel["calls"], delta=6e-7)
            self.assertEqual(row[4], "cuda:0")
            self.assertLessEqual(len(kernel["short_name"]), 60)

    def test_all_formats_of_one_run_agree(self):
        sqlite = Bundle(DECODER / "nsys.sqlite")
        trace = Bundle(DECODER / "nsys_cuda_gpu_trace.csv.gz")
        summary = Bundle(DECODER / "nsys_cuda_gpu_kern_sum.csv")
        self.assertEqual(trace.kernels(), sqlite.kernels())
        self.assertEqual(summary.kernels(), sqlite.kernels())
        self.assertEqual(trace.profile["totals"]["gpu_busy_ms"], sqlite.profile["totals"]["gpu_busy_ms"])
        self.assertIsNone(summary.profile["totals"]["gpu_busy_ms"])

    def test_both_ncu_pages_give_the_same_launches(self):
        raw = Bundle(DECODER / "ncu_raw.csv.gz")
        details = Bundle(DECODER / "ncu_details.csv.gz")
        self.assertEqual(raw.profile["totals"]["kernel_count"], 24)
        self.assertEqual(raw.kernels().keys(), details.kernels().keys())
        for name, (calls, total) in raw.kernels().items():
            # The details page prints microseconds with two digits: at most 5 ns per launch.
            self.assertEqual(details.kernels()[name][0], calls)
            self.assertLessEqual(abs(details.kernels()[name][1] - total), 5 * calls, name)

    def test_percentiles_are_observed_values(self):
        for row in Bundle(DECODER / "nsys.sqlite").profile["kernels"]:
            self.assertLessEqual(row["min_ms"], row["p50_ms"])
            self.assertLessEqual(row["p50_ms"], row["p99_ms"])
            self.assertLessEqual(row["p99_ms"], row["max_ms"])
            self.assertAlmostEqual(row["mean_ms"], row["total_ms"] / row["calls"], places=9)

    def test_less_than_two_percent_of_the_time_has_no_class(self):
        for name in ("nsys.sqlite", "nsys_graph_level.sqlite", "kineto.json.gz", "ncu_raw.csv.gz"):
            other = sum(
                row["share"]
                for row in Bundle(DECODER / name).profile["classes"]
                if row["class"] == "other"
            )
            self.assertLess(other, 0.02, name)


class Joining(unittest.TestCase):
    def test_a_timeline_takes_up_ncu_metrics(self):
        bundle = Bundle(DECODER / "nsys.sqlite", DECODER / "ncu_raw.csv.gz")
        join = bundle.profile["totals"]["metric_join"]
        self.assertEqual(join["profiled_launches"], 24)
        self.assertEqual(join["joined"] + join["unjoined"], 24)
        self.assertEqual(join["unjoined"], 0)
        self.assertGreaterEqual(join["timeline_kernels_covered"], 24)
        self.assertEqual(bundle.profile["totals"]["kernel_sum_ns"], 10340189)
        with_metrics = [row for row in bundle.profile["kernels"] if row["metrics"]]
        self.assertGreater(len(with_metrics), 5)
        duration = with_metrics[0]["metrics"]["gpu__time_duration.sum"]
        self.assertEqual(duration["unit"], "ns")
        self.assertIn("24 of 24 profiled launches were matched", bundle.markdown)
        self.assertIn("24 of 24 profiled launches were matched", bundle.result.stdout)

    def test_a_summary_next_to_its_timeline_is_not_added(self):
        bundle = Bundle(DECODER / "nsys.sqlite", DECODER / "nsys_cuda_gpu_kern_sum.csv")
        self.assertEqual(bundle.profile["totals"]["kernel_sum_ns"], 10340189)
        self.assertIn("summary_left_aside", bundle.codes())

    def test_one_run_in_two_formats_is_counted_once(self):
        bundle = Bundle(DECODER / "nsys.sqlite", DECODER / "nsys_cuda_gpu_trace.csv.gz")
        self.assertEqual(bundle.kernels(), kernel_summary(DECODER / "nsys_cuda_gpu_kern_sum.csv"))
        self.assertEqual(bundle.profile["totals"]["kernel_count"], 4465)
        self.assertEqual(bundle.profile["totals"]["gpu_count"], 1)
        (diagnostic,) = [d for d in bundle.profile["diagnostics"] if d["code"] == "timeline_twice"]
        self.assertIn("nsys_cuda_gpu_trace.csv.gz", diagnostic["message"].split(" holds ")[0])

    def test_two_pages_of_one_ncu_run_are_counted_once(self):
        pages = (DECODER / "ncu_raw.csv.gz", DECODER / "ncu_details.csv.gz")
        alone, both = Bundle(pages[0]), Bundle(*pages)
        self.assertEqual(both.kernels(), alone.kernels())
        self.assertEqual(sum(calls for calls, _ in both.kernels().values()), 24)
        (diagnostic,) = [d for d in both.profile["diagnostics"] if d["code"] == "profiled_twice"]
        self.assertEqual(diagnostic["count"], 24)
        joined = Bundle(DECODER / "nsys.sqlite", *pages).profile["totals"]["metric_join"]
        self.assertEqual((joined["profiled_launches"], joined["joined"]), (24, 24))

    def test_one_bad_file_does_not_cost_the_others(self):
        with tempfile.TemporaryDirectory() as folder:
            bad = pathlib.Path(folder) / "notes.txt"
            bad.write_text("shopping list\n", encoding="utf-8")
            bundle = Bundle(DECODER / "nsys.sqlite", bad)
            self.assertEqual(bundle.result.returncode, 3)
            self.assertIn("notes.txt", bundle.result.stderr)
            self.assertIn("input_unreadable", bundle.codes())
            self.assertEqual(bundle.profile["totals"]["kernel_sum_ns"], 10340189)


class Devices(unittest.TestCase):
    def test_gpus_are_counted_by_their_kernels(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "two_gpus.sqlite"
            path.write_bytes((DECODER / "nsys.sqlite").read_bytes())
            # Every third kernel runs on another GPU; a third GPU is present but idle.
            database = sqlite3.connect(path)
            database.execute("UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET deviceId = 1 WHERE rowid % 3 = 0")
            for ordinal in (1, 2):
                for table, column in (("TARGET_INFO_GPU", "id"), ("TARGET_INFO_CUDA_DEVICE", "gpuId")):
                    columns = [row[1] for row in database.execute(f"PRAGMA table_info({table})")]
                    values = ", ".join(
                        str(ordinal) if name in (column, "cudaId") else f'"{name}"' for name in columns
                    )
                    database.execute(f"INSERT INTO {table} SELECT {values} FROM {table} WHERE {column} = 0")
            database.commit()
            (on_the_other,) = database.execute(
                "SELECT count(*) FROM CUPTI_ACTIVITY_KIND_KERNEL WHERE deviceId = 1").fetchone()
            database.close()
            self.assertEqual(Bundle(path).profile["totals"]["gpu_count"], 2)
            narrowed = Bundle(path, options=("--device", "1")).profile["totals"]
            self.assertEqual((narrowed["gpu_count"], narrowed["kernel_count"]), (1, on_the_other))


class HiddenGraphs(unittest.TestCase):
    # 16 replays, 9490248 ns, and 2779695 ns of kernels: plain SQL (README next to the capture).
    def test_every_output_says_what_is_missing(self):
        bundle = Bundle(DECODER / "nsys_graph_level.sqlite")
        hidden = bundle.profile["totals"]["hidden_graphs"]
        self.assertEqual(hidden["replays"], 16)
        self.assertEqual(hidden["total_ms"], 9.490248)
        self.assertAlmostEqual(hidden["share_of_gpu_time"], 9490248 / (9490248 + 2779695), places=9)
        self.assertIn("graph_kernels_missing", bundle.codes())
        for text in (bundle.markdown, bundle.result.stdout):
            plain = text.replace("\\", "")
            self.assertIn("not in the table", plain)
            self.assertIn("decode_all", plain)
            self.assertIn("77.3 %", plain)
            self.assertIn("--cuda-graph-trace=node", plain)

    def test_coverage_counts_replays_and_kernels(self):
        path = DECODER / "nsys_graph_level.sqlite"
        database = sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True)
        (whole,) = database.execute(
            'SELECT sum("end" - start) FROM CUPTI_ACTIVITY_KIND_GRAPH_TRACE').fetchone()
        (inside,) = database.execute(
            """SELECT sum(g."end" - g.start) FROM CUPTI_ACTIVITY_KIND_GRAPH_TRACE g
            JOIN CUPTI_ACTIVITY_KIND_RUNTIME a ON a.correlationId = g.correlationId
            WHERE EXISTS (SELECT 1 FROM NVTX_EVENTS r WHERE r.globalTid = a.globalTid
              AND coalesce(r.text, (SELECT value FROM StringIds WHERE id = r.textId)) = 'decode_all'
              AND a.start >= r.start AND a.start < r."end")""").fetchone()
        database.close()
        coverage = Bundle(path).profile["coverage"]
        self.assertEqual(whole, 9490248)
        self.assertEqual(coverage["hidden_graph_ms"], whole / 1e6)
        self.assertEqual(coverage["hidden_graph_in_stages_ms"], inside / 1e6)
        self.assertEqual(Bundle(DECODER / "nsys.sqlite").profile["coverage"]["hidden_graph_ms"], 0)


class Surroundings(unittest.TestCase):
    def test_a_compressed_database_is_read_like_any_other(self):
        with tempfile.TemporaryDirectory() as folder:
            packed = pathlib.Path(folder) / "nsys.sqlite.gz"
            packed.write_bytes(gzip.compress((DECODER / "nsys.sqlite").read_bytes()))
            bundle = Bundle(packed)
            self.assertEqual(bundle.kernels(), Bundle(DECODER / "nsys.sqlite").kernels())
            self.assertEqual(bundle.profile["context"]["captures"][0]["path"], str(packed))
            packed.write_bytes(packed.read_bytes()[:2000])
            self.assertEqual(run("analyze", packed).returncode, 3)

    def test_a_comma_locale_changes_nothing(self):
        with tempfile.TemporaryDirectory() as folder:
            made = subprocess.run(
                ["localedef", "-i", "de_DE", "-f", "UTF-8", str(pathlib.Path(folder) / "de_DE.UTF-8")],
                capture_output=True, text=True, check=False,
            )
            self.assertTrue(
                (pathlib.Path(folder) / "de_DE.UTF-8").is_dir(),
                f"no German locale could be made: {made.stderr}",
            )
            german = {"LOCPATH": folder, "LC_ALL": "de_DE.UTF-8", "LANG": "de_DE.UTF-8"}
            shown = subprocess.run(
                ["bash", "-c", "printf '%.1f' 0,5"], capture_output=True, text=True,
                env={**os.environ, **german}, check=False,
            )
            self.assertEqual(shown.stdout, "0,5", "the locale is not in force")
            inputs = [DECODER / "nsys.sqlite", DECODER / "ncu_raw.csv.gz"]
            plain, localised = Bundle(*inputs), Bundle(*inputs, env=german)
            self.assertEqual(plain.profile, localised.profile)
            self.assertEqual(plain.markdown, localised.markdown)
            kineto = [Bundle(DECODER / "kineto.json.gz", env=env).profile for env in ({}, german)]
            self.assertEqual(*kineto)

    def test_a_capture_is_never_modified_and_its_folder_may_be_read_only(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "run.sqlite"
            shutil.copy(DECODER / "nsys.sqlite", path)
            before = path.read_bytes(), path.stat().st_mtime_ns
            os.chmod(folder, stat.S_IRUSR | stat.S_IXUSR)
            try:
                Bundle(path)
            finally:
                os.chmod(folder, stat.S_IRWXU)
            self.assertEqual((path.read_bytes(), path.stat().st_mtime_ns), before)
            self.assertEqual([p.name for p in pathlib.Path(folder).iterdir()], ["run.sqlite"])

    def test_writes_nothing_into_a_folder_that_is_not_empty(self):
        with tempfile.TemporaryDirectory() as folder:
            kept = pathlib.Path(folder) / "kernels.md"
            kept.write_text("mine", encoding="utf-8")
            refused = run("analyze", DECODER / "nsys.sqlite", "--out", folder)
            self.assertEqual(refused.returncode, 2)
            self.assertIn("--force", refused.stderr)
            self.assertEqual(kept.read_text(encoding="utf-8"), "mine")
            # Checked before anything is read: otherwise the unreadable capture would be the error.
            early = run("analyze", ROOT / "Makefile", "--out", folder)
            self.assertIn("not empty", early.stderr)
            forced = run("analyze", DECODER / "nsys.sqlite", "--out", folder, "--force")
            self.assertEqual(forced.returncode, 0)
            self.assertNotEqual(kept.read_text(encoding="utf-8"), "mine")

    def test_the_default_folder_is_new_each_time(self):
        with tempfile.TemporaryDirectory() as folder:
            for _ in range(3):
                self.assertEqual(run("analyze", DECODER / "nsys.sqlite", cwd=folder).returncode, 0)
            self.assertEqual(len(list((pathlib.Path(folder) / "tmp" / "analyze").iterdir())), 3)

    def test_a_full_disk_under_stdout_is_reported(self):
        if not pathlib.Path("/dev/full").exists():
            self.skipTest("needs /dev/full")
        with open("/dev/full", "wb") as full, tempfile.TemporaryDirectory() as folder:
            done = subprocess.run(
                [LLMPROF, "analyze", str(DECODER / "nsys.sqlite"), "--out", f"{folder}/o", "--json"],
                stdout=full, stderr=subprocess.PIPE, text=True, check=False,
            )
            self.assertEqual(done.returncode, 4)
            self.assertIn("standard output", done.stderr)

    def test_environments_never_leave_the_export(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "secrets.sqlite"
            shutil.copy(DECODER / "nsys.sqlite", path)
            database = sqlite3.connect(path)
            secret = "hf_doNotTellAnyone"
            database.execute("CREATE TABLE META_DATA_CAPTURE (name TEXT, value TEXT)")
            database.execute(
                "INSERT INTO META_DATA_CAPTURE VALUES ('PROCESS_0:ENVIRONMENT_VARIABLE', ?)",
                (f"HF_TOKEN={secret}",),
            )
            database.execute(
                "UPDATE TARGET_INFO_SYSTEM_ENV SET value = ? WHERE name = 'NvDriverVersion'", (secret,)
            )
            database.execute("INSERT INTO StringIds VALUES (999999, ?)", (f"TOKEN={secret}",))
            database.commit()
            database.close()
            bundle = Bundle(path)
            written = "".join(bundle.files.values())
            self.assertNotIn(secret, written + bundle.result.stdout + bundle.result.stderr)


class Usage(unittest.TestCase):
    def test_exit_codes_of_wrong_usage(self):
        self.assertEqual(run().returncode, 2)
        self.assertEqual(run("analyse").returncode, 2)
        self.assertEqual(run("analyze").returncode, 2)
        self.assertEqual(run("analyze", "x", "--top", "0").returncode, 2)
        self.assertEqual(run("--help").returncode, 0)
        self.assertEqual(run("analyze", "--help").returncode, 0)
        self.assertIn("Example", run("analyze", "--help").stdout)
        self.assertRegex(run("version").stdout, r"^llmprof \d+\.\d+\.\d+\n$")

    def test_unreadable_inputs_are_described(self):
        missing = run("analyze", "no/such/file")
        self.assertEqual(missing.returncode, 3)
        self.assertIn("no/such/file: No such file", missing.stderr)
        with tempfile.TemporaryDirectory() as folder:
            empty = pathlib.Path(folder) / "empty.csv"
            empty.write_bytes(b"")
            for path, words in (
                (empty, "empty"),
                (ROOT / "Makefile", "unknown capture format"),
                (DATA / "h200-decoder" / "nsys_nvtx_sum.csv", "cuda_gpu_kern_sum"),
            ):
                done = run("analyze", path, "--out", pathlib.Path(folder) / "out")
                self.assertEqual(done.returncode, 3, path)
                self.assertIn(words, done.stderr)
                self.assertFalse((pathlib.Path(folder) / "out").exists())

    def test_a_report_without_its_tool_is_refused_with_the_command(self):
        with tempfile.TemporaryDirectory() as folder:
            nowhere = {"PATH": folder, "LLMPROF_NSYS": "", "LLMPROF_NCU": ""}
            for name, words in (("run.nsys-rep", "nsys export"), ("k.ncu-rep", "ncu --import")):
                path = pathlib.Path(folder) / name
                path.write_bytes(b"NVIDIA Tegra Profiler Report" if "nsys" in name else b"NVR\0x")
                done = run("analyze", path, "--out", pathlib.Path(folder) / "out", env=nowhere)
                self.assertIn(done.returncode, (3, 4))
                self.assertIn(name, done.stderr)
                if done.returncode == 3:
                    self.assertIn(words, done.stderr)

    def test_a_report_is_converted_by_the_installed_tool(self):
        with tempfile.TemporaryDirectory() as folder:
            tools = pathlib.Path(folder) / "tools"
            tools.mkdir()
            # The behavior of the real tools with these arguments: see src/capture/convert.cpp.
            (tools / "nsys").write_text(
                "#!/bin/bash\nwhile [[ $# -gt 1 ]]; do\n"
                f'  [[ $1 == --output || $1 == -o ]] && cp "{DECODER}/nsys.sqlite" "$2"\n  shift\ndone\n',
                encoding="utf-8",
            )
            (tools / "ncu").write_text(
                f'#!/bin/bash\nexec gzip -dc "{DECODER}/ncu_raw.csv.gz"\n', encoding="utf-8"
            )
            for tool in tools.iterdir():
                tool.chmod(0o755)
            reports = []
            for name, head in (("run.nsys-rep", b"NVIDIA Tegra Profiler Report 1"), ("k.ncu-rep", b"NVR\0")):
                reports.append(pathlib.Path(folder) / name)
                reports[-1].write_bytes(head + b"." * 100)
            env = {"LLMPROF_NSYS": str(tools / "nsys"), "LLMPROF_NCU": str(tools / "ncu")}
            bundle = Bundle(*reports, env=env)
            self.assertEqual(bundle.result.returncode, 0)
            self.assertEqual(bundle.profile["totals"]["kernel_sum_ns"], 10340189)
            self.assertEqual(bundle.profile["totals"]["metric_join"]["joined"], 24)
            self.assertEqual(
                [capture["path"] for capture in bundle.profile["context"]["captures"]],
                [str(report) for report in reports],
            )
            # The converted export contained the program's environment, and was removed.
            self.assertEqual(
                sorted(set(bundle.files) - {"report.html"}),
                ["budget.svg", "kernels.md", "operators.md", "profile.json", "report.md", "roofline.svg",
                 "stakeholder_summary.md", "steps.svg", "top_kernels.svg"],
            )

    def test_json_prints_the_profile(self):
        with tempfile.TemporaryDirectory() as folder:
            out = pathlib.Path(folder) / "out"
            done = run("analyze", DECODER / "nsys.sqlite", "--out", out, "--json")
            self.assertEqual(json.loads(done.stdout), json.loads((out / "profile.json").read_text()))

    def test_top_limits_the_table_and_says_what_is_left(self):
        bundle = Bundle(DECODER / "nsys.sqlite", options=("--top", "3"))
        self.assertEqual(len(table_rows(bundle.markdown, "kernel_name")), 3)
        self.assertIn("more kernels", bundle.markdown)
        self.assertGreater(len(bundle.profile["kernels"]), 3)

    def test_a_users_rule_wins(self):
        with tempfile.TemporaryDirectory() as folder:
            rules = pathlib.Path(folder) / "kernels.yaml"
            rules.write_text(
                "rules:\n  - {regex: '^nvjet', library: ours, class: attention, name: 'our own'}\n",
                encoding="utf-8",
            )
            bundle = Bundle(DECODER / "nsys.sqlite", options=("--config-dir", folder))
            ours = [row for row in bundle.profile["kernels"] if row["library"] == "ours"]
            self.assertTrue(ours)
            self.assertTrue(all(row["class"] == "attention" for row in ours))
            rules.write_text("rules:\n  - {regex: x, class: gem}\n", encoding="utf-8")
            done = run("analyze", DECODER / "nsys.sqlite", "--config-dir", folder,
                       "--out", pathlib.Path(folder) / "out")
            self.assertEqual(done.returncode, 2)
            self.assertIn("kernels.yaml", done.stderr)
            self.assertIn("gemm", done.stderr)

    def test_a_users_engine_is_recognized_and_advises(self):
        capture = DATA / "h200-detection" / "jax_small.llmtrace.gz"
        with tempfile.TemporaryDirectory() as folder:
            shipped = Bundle(capture)
            self.assertEqual(shipped.profile["engine"]["name"], "JAX")
            self.assertEqual(shipped.profile["engine"]["framework"], "XLA")
            engines = pathlib.Path(folder) / "engines"
            engines.mkdir()
            (engines / "acme.yaml").write_text(
                "name: ACME Serve\n"
                "recognized_by:\n"
                "  - {kernel: '^(?:input|loop)_', confidence: 0.95}\n"
                "advice:\n"
                "  small_kernels:\n"
                "    - when: {llm: true}\n"
                "      text: 'Start {engine} with --fuse for {small_operations}.'\n"
                "  token_selection:\n"
                "    - text: Never reached.\n",
                encoding="utf-8",
            )
            bundle = Bundle(capture, options=("--config-dir", folder))
            self.assertEqual(bundle.profile["engine"]["name"], "ACME Serve")
            self.assertIn("The model runs on: ACME Serve", bundle.files["report.md"])
            advice = [finding["advice"] for finding in bundle.profile["findings"]
                      if finding["kind"] == "small_kernels"]
            self.assertTrue(advice)
            self.assertEqual(
                set(advice),
                {"Start ACME Serve with --fuse for norm with residual, RoPE with the cache write, and "
                 "the gated activation."})
            written = pathlib.Path(folder) / "profile.json"
            written.write_text(bundle.files["profile.json"], encoding="utf-8")
            again = pathlib.Path(folder) / "again"
            done = run("report", written, "--out", again)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual((again / "report.md").read_text(encoding="utf-8"),
                             bundle.files["report.md"])
            for mistake, said in (("name: X\nadvise: {}\n", "did you mean 'advice'"),
                                  ("name: X\nadvice: {lunch_bound: []}\n", "lunch_bound"),
                                  ("name: X\nrecognized_by: [{kernel: '(', confidence: 0.5}]\n",
                                   "not a regular expression"),
                                  ("recognized_by: []\n", "'name' is missing")):
                (engines / "acme.yaml").write_text(mistake, encoding="utf-8")
                done = run("analyze", capture, "--config-dir", folder,
                           "--out", pathlib.Path(folder) / "out")
                self.assertEqual(done.returncode, 2, mistake)
                self.assertIn("acme.yaml", done.stderr)
                self.assertIn(said, done.stderr)

    def test_a_folder_of_captures_is_one_profile(self):
        with tempfile.TemporaryDirectory() as folder:
            for name in ("nsys.sqlite", "ncu_raw.csv.gz", "README.md"):
                shutil.copy(DECODER / name, folder)
            bundle = Bundle(folder)
            self.assertEqual(bundle.profile["totals"]["kernel_sum_ns"], 10340189)
            self.assertEqual(bundle.profile["totals"]["metric_join"]["joined"], 24)

    def test_a_run_folders_stage1_metrics_are_read(self):
        with tempfile.TemporaryDirectory() as folder:
            run_folder = pathlib.Path(folder)
            (run_folder / "nsys").mkdir()
            (run_folder / "stage1").mkdir()
            (run_folder / "profile.json").write_text("{}", encoding="utf-8")
            shutil.copy(DECODER / "nsys.sqlite", run_folder / "nsys" / "run.sqlite")
            shutil.copy(DATA / "stage1_metrics" / "own_layout.json",
                        run_folder / "stage1" / "metrics.json")
            bundle = Bundle(run_folder)
            self.assertEqual(bundle.profile["totals"]["kernel_sum_ns"], 10340189)
            formats = [each["format"] for each in bundle.profile["context"]["captures"]]
            self.assertEqual(formats, ["nsys SQLite", "Stage 1 metrics"])


if __name__ == "__main__":
    unittest.main()
