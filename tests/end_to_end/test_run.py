"""`llmprof run` from the workload to the bundle, and its results when something fails."""
import contextlib
import json
import os
import pathlib
import shutil
import signal
import sqlite3
import stat
import subprocess
import sys
import tempfile
import time
import unittest

from file_events import FileEvents
from program import LLMPROF, ROOT, run

FAKES = ROOT / "tests" / "fakes"

# A model that takes one second instead of twenty.
SMALL = [
    "model.config.hidden_size=64",
    "model.config.intermediate_size=128",
    "model.config.num_hidden_layers=2",
    "model.config.num_attention_heads=4",
    "model.config.num_key_value_heads=2",
    "model.config.vocab_size=512",
    "workload.prompt_tokens=8",
    "workload.new_tokens=4",
    "workload.peak_seconds=0",
]
REPORTS = ["kernels.md", "operators.md", "report.md", "stakeholder_summary.md", "profile.json"]
PROVENANCE = ["env.json", "config.yaml", "inputs.yaml"]

needs_nsys = unittest.skipUnless(
    shutil.which("nsys"), "needs nsys (scripts/setup.sh nsys), which is not here"
)
needs_ncu = unittest.skipUnless(
    shutil.which("ncu"), "needs ncu (scripts/setup.sh nsys), which is not here"
)


def profile_of(folder):
    return json.loads((folder / "profile.json").read_text(encoding="utf-8"))


def stage(profile, name):
    return next(item for item in profile["stages"] if item["name"] == name)


class RunCase(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name)
        self.out = self.folder / "bundle"

    def profile_run(self, *words, env=None, program=()):
        behind = ["--", *program] if program else []
        return run("run", *words, "--out", self.out, *behind, env=env, cwd=self.folder)

    def assert_complete(self, folder):
        """No partially written file under its final name."""
        for path in folder.rglob("*.json"):
            json.loads(path.read_text(encoding="utf-8"))
        for path in folder.rglob("*.md"):
            self.assertTrue(path.read_text(encoding="utf-8").endswith("\n"), path)


class CompleteRun(RunCase):
    """One run of the default workload, checked in all respects."""

    @classmethod
    def setUpClass(cls):
        cls.holder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.holder.cleanup)
        cls.bundle = pathlib.Path(cls.holder.name) / "bundle"
        cls.result = run(
            "run",
            *SMALL,
            "workload.peak_seconds=null",  # the default duration: MFU and MBU are shares of measured peaks
            "--out",
            cls.bundle,
            env={"HF_TOKEN": "planted-secret", "OMP_NUM_THREADS": "2"},
            cwd=cls.holder.name,
        )

    def test_it_succeeds_and_leaves_a_complete_bundle(self):
        self.assertEqual(self.result.returncode, 0, self.result.stderr)
        for name in [*REPORTS, *PROVENANCE, "stage1/metrics.json", "collector/cmd.txt"]:
            self.assertTrue((self.bundle / name).is_file(), name)
        self.assertTrue((self.bundle / "nsys").is_dir())
        self.assertTrue((self.bundle / "ncu").is_dir())
        self.assertEqual(len(list((self.bundle / "collector").glob("*.llmtrace"))), 1)
        self.assert_complete(self.bundle)

    def test_every_table_is_filled(self):
        profile = profile_of(self.bundle)
        for key in ["kernels", "classes", "stages", "steps", "layers", "operators", "overhead"]:
            self.assertTrue(profile[key], key)
        for name in ["prefill", "decode"]:
            found = stage(profile, name)
            self.assertEqual(found["wall_ms"]["count"], 3, name)
            # Peaks measured while a busy machine stalls may be below what a stage reaches later.
            for ratio in ["mfu", "mbu"]:
                self.assertNotEqual(found[ratio]["wall"] is None, found["why_not"] is None, name)
        self.assertEqual({row["device"] for row in profile["kernels"]}, {"cpu:0"})

    def test_stages_have_shares_of_the_machines_peaks(self):
        """Against peaks that no stage reaches, instead of this machine's current ones."""
        raised = self.folder / "raised"
        shutil.copytree(self.bundle, raised)
        for path in raised.glob("*/metrics.json"):
            metrics = json.loads(path.read_text(encoding="utf-8"))
            for peak in ["peak_flops_per_s", "peak_bytes_per_s"]:
                self.assertGreater(metrics["device"][peak], 0)
                metrics["device"][peak] = 1e15
            path.write_text(json.dumps(metrics), encoding="utf-8")
        result = run("analyze", raised, "--out", self.out)
        self.assertEqual(result.returncode, 0, result.stderr)
        for name in ["prefill", "decode"]:
            found = stage(profile_of(self.out), name)
            for ratio in ["mfu", "mbu"]:
                self.assertGreater(found[ratio]["wall"], 0, name)
                self.assertLess(found[ratio]["wall"], 1, name)

    def test_budgets_sum_to_the_wall_time(self):
        for item in profile_of(self.bundle)["stages"]:
            for instance in item["instances"]:
                total = sum(instance["budget_ns"].values())
                self.assertEqual(total, round(instance["wall_ms"] * 1e6), item["name"])

    def test_stages_agree_with_what_the_workload_measured_of_itself(self):
        own = json.loads((self.bundle / "collector/metrics.json").read_text(encoding="utf-8"))
        profile = profile_of(self.bundle)
        for name in ["prefill", "decode"]:
            measured = own["aggregates"]["stage_ms"][name]["mean"]
            reported = stage(profile, name)["wall_ms"]["mean"]
            self.assertAlmostEqual(reported / measured, 1, delta=0.05, msg=name)

    def test_no_secret_is_kept(self):
        for path in self.bundle.rglob("*"):
            if path.is_file():
                self.assertNotIn(b"planted-secret", path.read_bytes(), path)
        environment = json.loads((self.bundle / "env.json").read_text())["environment"]
        self.assertEqual(environment["OMP_NUM_THREADS"], "2")

    def test_analyze_of_the_run_gives_the_same(self):
        again = pathlib.Path(self.holder.name) / "again"
        result = run("analyze", self.bundle, "--out", again)
        self.assertEqual(result.returncode, 0, result.stderr)
        one, two = profile_of(self.bundle), profile_of(again)
        for key in ["totals", "stages", "kernels", "model", "overhead"]:
            self.assertEqual(one[key], two[key], key)

    def test_artifacts_lists_every_file(self):
        result = run("artifacts", self.bundle, "--json")
        self.assertEqual(result.returncode, 0, result.stderr)
        listed = {item["name"]: item["bytes"] for item in json.loads(result.stdout)["files"]}
        there = {
            str(path.relative_to(self.bundle)): path.stat().st_size
            for path in self.bundle.rglob("*")
            if path.is_file()
        }
        self.assertEqual(listed, there)

    def test_a_second_run_does_not_overwrite_it(self):
        before = (self.bundle / "profile.json").read_bytes()
        result = run("run", *SMALL, "--out", self.bundle)
        self.assertEqual(result.returncode, 2, result.stderr)
        self.assertIn("--force", result.stderr)
        self.assertEqual((self.bundle / "profile.json").read_bytes(), before)


class Secrets(RunCase):
    def test_are_in_no_output(self):
        conf = self.folder / "conf"
        (conf / "workload").mkdir(parents=True)
        (conf / "workload" / "mine.yaml").write_text(
            "name: mine\n"
            "uses_cuda: false\n"
            "options: {client_secret: '${oc.env:PLANTED}'}\n"
            "environment: {MY_API_KEY: '${oc.env:PLANTED}'}\n"
            f"command: [{sys.executable}, {self.folder}/program.py, --token=planted-secret-2, "
            "HF_TOKEN=planted-secret-3, --password, '${oc.env:PLANTED}', --prompt-tokens, 8]\n"
        )
        (self.folder / "program.py").write_text(
            "import os, sys, llmprof_annotate as a\n"
            "assert os.environ['MY_API_KEY'] == 'planted-secret-1'\n"
            "assert sys.argv[1:] == ['--token=planted-secret-2', 'HF_TOKEN=planted-secret-3',\n"
            "    '--password', 'planted-secret-1', '--prompt-tokens', '8']\n"
            "now = a.now_ns()\n"
            "a.operator('gemm', now, now + 1000, 100, 100)\n"
        )
        words = ["--config-dir", conf, "workload=mine", "~model"]
        environment = {"PLANTED": "planted-secret-1"}
        plan = self.profile_run(*words, "--dry-run", env=environment)
        self.assertEqual(plan.returncode, 0, plan.stderr)
        self.assertNotIn("planted", plan.stdout)
        result = self.profile_run(*words, env=environment)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertNotIn("planted", result.stdout + result.stderr)
        for path in self.out.rglob("*"):
            if path.is_file():
                self.assertFalse(b"planted" in path.read_bytes(), path)
        for name in ["config.yaml", "inputs.yaml", "collector/cmd.txt", "collector/status.json"]:
            text = (self.out / name).read_text(encoding="utf-8")
            self.assertIn("--token=***", text, name)
            self.assertIn("--prompt-tokens", text, name)


class ManyRanks(RunCase):
    def test_more_ranks_than_cores_are_announced(self):
        tools = self.folder / "tools"
        tools.mkdir()
        (tools / "mpirun").write_text('#!/bin/sh\nshift 2\nexec "$@"\n')
        (tools / "mpirun").chmod(0o755)
        env = {"PATH": f"{tools}:{os.environ['PATH']}"}
        ranks = 64 * os.cpu_count()
        for words in (["--dry-run"], []):
            result = self.profile_run(*SMALL, f"workload.ranks={ranks}", *words, env=env)
            self.assertEqual(result.returncode, 0, result.stderr)
            said = result.stdout if words else result.stderr
            self.assertIn(f"workload.ranks={ranks}: {ranks} processes share", said)
            self.assertIn("in 2 runs", said)
        result = run("run", *SMALL, "workload.ranks=1", "--dry-run", env=env)
        self.assertNotIn("share", result.stdout)


class Plans(RunCase):
    def test_a_plan_is_fitted_to_a_time_limit(self):
        """For a workload that takes 60 s: two minutes exclude ncu and torch.profiler, nothing else."""
        words = ["workload.expected_s=60", "pipeline.ncu.enable=true", "pipeline.nsys.enable=false"]
        plan = self.profile_run("--dry-run", *SMALL, *words).stdout
        self.assertRegex(plan, r"(?m)^ncu \(about ")
        limited = self.profile_run("--dry-run", "--time-limit", "2m", *SMALL, *words).stdout
        self.assertNotRegex(limited, r"(?m)^ncu \(about ")
        self.assertRegex(limited, "# ncu is left out: it takes about .*, which the time limit")
        self.assertIn("Estimated time: about 2 min\n", limited)
        wrong = self.profile_run("--dry-run", "--time-limit", "soon", *SMALL)
        self.assertEqual(wrong.returncode, 2)
        self.assertIn("must be a time from 1s to 168h", wrong.stderr)

    def test_dry_run_prints_the_commands_and_writes_nothing(self):
        result = self.profile_run("--dry-run", *SMALL)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("--prompt-tokens 8", result.stdout)
        self.assertIn("stage1/metrics.json", result.stdout)
        self.assertIn("Estimated time", result.stdout)
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_wrong_configuration_names_the_nearest(self):
        for word, nearest in [
            ("run.mod=light", "run.mode"),
            ("run.mode=lite", "light"),
            ("model=llm/lama_1b", "llama_1b"),
            ("pipeline.nsis.enable=true", "nsys"),
        ]:
            with self.subTest(word):
                result = self.profile_run(word)
                self.assertEqual(result.returncode, 2)
                self.assertIn(nearest, result.stderr)
                self.assertFalse(self.out.exists())


class FailingRuns(RunCase):
    """A failing backend never costs the captures of the others."""

    def test_a_failing_workload_is_reported_with_its_last_output(self):
        result = self.profile_run(
            "pipeline.nsys.enable=false",
            program=["sh", "-c", "echo the reason is here >&2; exit 7"],
        )
        self.assertEqual(result.returncode, 4)
        self.assertIn("exit code 7", result.stderr)
        self.assertIn("the reason is here", result.stderr)
        for name in PROVENANCE:
            self.assertTrue((self.out / name).is_file(), name)

    def test_a_program_that_does_not_exist(self):
        result = self.profile_run(program=["/no/such/program"])
        self.assertEqual(result.returncode, 4)
        self.assertIn("/no/such/program", result.stderr)

    def test_a_workload_that_never_ends_meets_the_limit(self):
        result = self.profile_run("run.timeout_s=1", program=["sleep", "60"])
        self.assertEqual(result.returncode, 4)
        self.assertIn("run.timeout_s", result.stderr)

    def test_a_missing_nsys_keeps_the_rest(self):
        result = self.profile_run(
            *SMALL, "pipeline.nsys.enable=true", env={"LLMPROF_NSYS": "/no/such/nsys"}
        )
        self.assertEqual(result.returncode, 4)
        self.assertIn("nsys", result.stderr)
        profile = profile_of(self.out)
        self.assertTrue(profile["kernels"])
        self.assertEqual([item["backend"] for item in profile["captures_failed"]], ["nsys"])
        self.assertIn("nsys", (self.out / "report.md").read_text(encoding="utf-8"))

    @needs_ncu
    def test_the_real_ncu_without_a_gpu(self):
        if pathlib.Path("/dev/nvidia0").exists():
            self.skipTest("there is a GPU")
        result = self.profile_run(*SMALL, "pipeline.ncu.enable=true")
        self.assertEqual(result.returncode, 4, result.stderr)
        self.assertIn("ncu", result.stderr)
        self.assertTrue(profile_of(self.out)["kernels"])
        self.assertTrue((self.out / "ncu" / "cmd.txt").is_file())

    def test_a_folder_that_cannot_be_written(self):
        if os.geteuid() == 0:
            blocker = self.folder / "file"
            blocker.write_text("not a folder")
            result = run("run", *SMALL, "--out", blocker / "bundle")
        else:
            self.folder.chmod(stat.S_IRUSR | stat.S_IXUSR)
            result = self.profile_run(*SMALL)
            self.folder.chmod(stat.S_IRWXU)
        self.assertEqual(result.returncode, 4)
        self.assertIn("cannot make the folder", result.stderr)


class FakeTools(RunCase):
    """Runs of a program with an nsys and an ncu that need no GPU."""

    # A program that uses our annotation API and ends at once.
    PROGRAM = (
        "import llmprof_annotate as a\n"
        "with a.range('prefill'):\n"
        "    now = a.now_ns()\n"
        "    a.operator('gemm', now, now + 1000, 100, 100)\n"
    )

    def setUp(self):
        super().setUp()
        self.program = self.folder / "program.py"
        self.program.write_text(self.PROGRAM)

    def fake_ncu(self, behavior):
        folder = pathlib.Path(tempfile.mkdtemp(dir=self.folder))
        (folder / "ncu").symlink_to(FAKES / "ncu_profile" / "ncu")
        (folder / "behavior").write_text(behavior)
        return {"LLMPROF_NCU": str(folder / "ncu")}

    def fake_nsys(self, behavior):
        return {
            "LLMPROF_NSYS": str(FAKES / "nsys_profile" / "nsys"),
            "LLMPROF_QDSTRM_IMPORTER": str(FAKES / "QdstrmImporter"),
            "FAKE_NSYS": behavior,
        }

    def nsys_exporting(self, behavior, *tables):
        """A fake nsys whose export is a database with these tables, not a short text."""
        database = self.folder / "exported.sqlite"
        database.unlink(missing_ok=True)
        with contextlib.closing(sqlite3.connect(database)) as connection:
            connection.execute("CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT)")
            for table in tables:
                connection.execute(table)
            connection.commit()
        tool = self.folder / "nsys"
        tool.write_text(
            "#!/bin/sh\n"
            f'[ "$1" != export ] || exec cp "{database}" "$5"\n'
            f'exec "{FAKES}/nsys_profile/nsys" "$@"\n'
        )
        tool.chmod(stat.S_IRWXU)
        return {**self.fake_nsys(behavior), "LLMPROF_NSYS": str(tool)}

    def run_with(self, environment, *words, uses_cuda="false"):
        shutil.rmtree(self.out, ignore_errors=True)
        return self.profile_run(
            f"workload.uses_cuda={uses_cuda}",
            *words,
            env=environment,
            program=[sys.executable, self.program],
        )


class ReadsOnce(FakeTools):
    """A run opens each capture as often as one analysis of its folder, puts each report in place once, and has the same
    results as that analysis."""

    KERNELS = [
        "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INT, end INT, deviceId INT, streamId INT, "
        "demangledName INT, shortName INT, gridX INT, gridY INT, gridZ INT, blockX INT, blockY INT, "
        "blockZ INT)",
        "INSERT INTO StringIds VALUES (1, 'norm(float *)')",
        "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (10, 19, 0, 7, 1, 1, 4, 1, 1, 32, 1, 1)",
    ]

    def counted_run(self, environment, *words):
        """How often the run read files, and how often the analysis of its folder did."""
        folders = [self.out / name for name in ["", "collector", "nsys", "ncu", "stage1"]]
        for folder in folders:
            folder.mkdir(exist_ok=True)
        events = FileEvents(*folders)
        self.addCleanup(events.close)
        # The kernel merges equal consecutive events, which occur if two threads open one file at once: on one core each
        # open is an event.
        cores = os.sched_getaffinity(0)
        self.addCleanup(os.sched_setaffinity, 0, cores)
        os.sched_setaffinity(0, {min(cores)})
        result = self.profile_run(
            "--force", *words, env=environment, program=[sys.executable, self.program]
        )
        self.assertEqual(result.returncode, 0, result.stderr)
        by_run, placed = events.take()
        for name in REPORTS:
            self.assertEqual(placed[self.out / name], 1, name)
        again = self.folder / "again"
        self.assertEqual(run("analyze", self.out, "--out", again).returncode, 0)
        by_analysis, _ = events.take()
        for name in REPORTS:
            self.assertEqual((self.out / name).read_text(), (again / name).read_text(), name)
        return by_run, by_analysis

    def test_the_log_of_a_run_with_ncu(self):
        by_run, by_analysis = self.counted_run(
            self.fake_ncu("ok"), "workload.uses_cuda=false", "pipeline.ncu.enable=true"
        )
        (log,) = (self.out / "collector").glob("*.llmtrace")
        self.assertGreater(by_analysis[log], 0)
        self.assertEqual(by_run[log], by_analysis[log])

    def test_the_export_of_nsys(self):
        environment = {**self.nsys_exporting("ok", *self.KERNELS), **self.fake_ncu("ok")}
        by_run, by_analysis = self.counted_run(environment, "workload.uses_cuda=true")
        export = self.out / "nsys" / "run.sqlite"
        self.assertGreater(by_analysis[export], 0)
        # nsys writes it, scrubbing copies it without its secrets, and a one-row query checks whether it contains any
        # kernel.
        self.assertEqual(by_run[export], by_analysis[export] + 3)
        measured = {row["kernel_name"] for row in profile_of(self.out)["kernels"] if row["metrics"]}
        self.assertIn("norm(float *)", measured)


class FailingTools(FakeTools):
    """All failures of nsys and ncu: each is reported in its own words, and nothing else is lost."""

    def assert_the_rest_is_kept(self, result, backends):
        self.assertEqual(result.returncode, 4, result.stderr)
        self.assertEqual(len(list((self.out / "collector").glob("*.llmtrace"))), 1)
        for name in [*REPORTS, *PROVENANCE]:
            self.assertTrue((self.out / name).is_file(), name)
        profile = profile_of(self.out)
        self.assertEqual([row["kernel_name"] for row in profile["kernels"]], ["gemm"])
        self.assertEqual([item["backend"] for item in profile["captures_failed"]], backends)
        report = (self.out / "report.md").read_text(encoding="utf-8")
        for backend in backends:
            self.assertIn(backend, report)
            self.assertTrue((self.out / backend / "status.json").is_file())
        for path in self.out.rglob("*"):
            self.assertNotRegex(path.name, r"\.(tmp|part)\b")
        self.assert_complete(self.out)
        again = self.folder / "again"
        shutil.rmtree(again, ignore_errors=True)
        self.assertEqual(run("analyze", self.out, "--out", again).returncode, 0)
        self.assertEqual(profile_of(again)["captures_failed"], profile["captures_failed"])

    def test_nsys(self):
        for behavior, words, settings in [
            ("crash", "nsys crashed and left no report: killed by signal 11", []),
            ("huge", "nsys wrote more than 5 MB", ["run.max_trace_mb=5"]),
            ("nothing", "nsys reported success but left no report", []),
            ("empty", "nsys left an empty report", []),
            ("garbage", "not an Nsight Systems report", []),
            ("permission", "nsys is not permitted to profile here", []),
            ("refused", "Illegal --trace argument", []),
            ("bad_stream", "QdstrmImporter could not convert it", []),
            ("bad_export", "nsys export --type sqlite", []),
        ]:
            with self.subTest(behavior):
                result = self.run_with(
                    self.fake_nsys(behavior), "pipeline.nsys.enable=true", *settings
                )
                self.assertIn(words, result.stderr)
                self.assert_the_rest_is_kept(result, ["nsys"])

    def test_a_hanging_nsys_is_stopped_and_its_report_kept(self):
        result = self.run_with(
            self.nsys_exporting("hang"), "pipeline.nsys.enable=true", "run.timeout_s=5"
        )
        self.assertIn("not finished after 5 s", result.stderr)
        self.assert_the_rest_is_kept(result, ["nsys"])
        self.assertTrue((self.out / "nsys" / "run.nsys-rep").is_file())

    def test_a_stream_that_nsys_did_not_import_is_not_a_failure(self):
        result = self.run_with(self.nsys_exporting("stream"), "pipeline.nsys.enable=true")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertTrue((self.out / "nsys" / "run.nsys-rep").is_file())
        self.assertTrue((self.out / "nsys" / "run.sqlite").is_file())

    def test_a_timeline_without_kernels_is_a_failure_if_the_workload_uses_cuda(self):
        result = self.run_with(
            self.nsys_exporting("ok"), "pipeline.ncu.enable=false", uses_cuda="true"
        )
        self.assertEqual(result.returncode, 4, result.stderr)
        self.assertIn("the timeline contains no GPU kernels", result.stderr)
        for cause in ["computed on the CPU", "forked", "CUPTI"]:
            self.assertIn(cause, result.stderr)
        self.assertNotIn("while the capture was open", result.stderr)

    def test_kernels_in_the_timeline_are_not_a_failure(self):
        result = self.run_with(
            self.nsys_exporting(
                "ok",
                "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INT, end INT, deviceId INT, "
                "streamId INT, demangledName INT, shortName INT, gridX INT, gridY INT, gridZ INT, "
                "blockX INT, blockY INT, blockZ INT)",
                "INSERT INTO StringIds VALUES (1, 'gemm')",
                "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (1, 9, 0, 7, 1, 1, 1, 1, 1, 32, 1, 1)",
            ),
            "pipeline.ncu.enable=false",
            uses_cuda="true",
        )
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual([row["calls"] for row in profile_of(self.out)["kernels"]][:1], [1])

    def test_ncu(self):
        for behavior, words, settings in [
            ("crash", "ncu crashed: killed by signal 11", []),
            ("hang", "ncu did not finish", ["run.timeout_s=5"]),
            ("endless", "grew beyond the size limit", ["run.max_trace_mb=5"]),
            ("silent", "ncu ended without a report", []),
            ("garbage", "gave no table", []),
            ("permission", "NVreg_RestrictProfilingToAdminUsers=0", []),
            ("in_use", "another tool uses them, most often DCGM", []),
            ("no_driver", "ncu found no CUDA driver", []),
            ("nothing", "profiled no kernel", []),
            ("babble", "ncu failed: exit code 3", []),
        ]:
            with self.subTest(behavior):
                result = self.run_with(
                    self.fake_ncu(behavior), "pipeline.ncu.enable=true", *settings
                )
                self.assertIn(words, result.stderr)
                self.assert_the_rest_is_kept(result, ["ncu"])

    def test_kernels_that_ncu_loses_are_measured_once_more(self):
        kernels = ['void gemm<(int)8>(T1 *, "quoted")', "norm(float *)"]
        tables = [
            "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INT, end INT, deviceId INT, "
            "streamId INT, demangledName INT, shortName INT, gridX INT, gridY INT, gridZ INT, "
            "blockX INT, blockY INT, blockZ INT)"
        ]
        for number, name in enumerate(kernels, 1):
            tables.append(f"INSERT INTO StringIds VALUES ({number}, '{name}')")
            tables.append(
                f"INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES ({number}0, {number}9, 0, 7, "
                f"{number}, {number}, 1, 1, 1, 32, 1, 1)"
            )
        for behavior, measured, lost in [("loses", 2, 0), ("loses_always", 1, 1)]:
            with self.subTest(behavior):
                result = self.run_with(
                    {**self.nsys_exporting("ok", *tables), **self.fake_ncu(behavior)},
                    uses_cuda="true",
                )
                self.assertEqual(result.returncode, 0, result.stderr)
                self.assertTrue((self.out / "ncu" / "all_lost_raw.csv").is_file())
                union = (self.out / "ncu" / "raw.csv").read_text(encoding="utf-8")
                self.assertEqual(len(union.splitlines()), 2 + measured, union)
                again = self.folder / behavior
                self.assertEqual(run("analyze", self.out, "--out", again).returncode, 0)
                for folder in [self.out, again]:
                    codes = [item["code"] for item in profile_of(folder)["diagnostics"]]
                    self.assertEqual(codes.count("ncu_kernel_not_seen"), lost, codes)

    def test_ranges_without_kernels_are_named(self):
        self.program.write_text("import llmprof_annotate as a\nwith a.range('prefill'): pass\n")
        result = self.run_with(
            self.fake_nsys("nothing"), "pipeline.ncu.enable=false", uses_cuda="true"
        )
        self.assertEqual(result.returncode, 4, result.stderr)
        # One log: each attempt replaces the previous one's.
        (log,) = (self.out / "nsys" / "annotations").iterdir()
        again = run("analyze", self.out, "--out", self.folder / "again")
        self.assertEqual(again.returncode, 3, again.stderr)
        for words in [str(log), "holds ranges but no", "nsys reported success but left no report"]:
            self.assertIn(words, again.stderr)
            self.assertIn(words, result.stderr)

    def test_a_cpu_program_is_analyzed_from_the_log_of_a_failed_nsys_recording(self):
        result = self.run_with(
            self.fake_nsys("nothing"), "pipeline.nsys.enable=true", "pipeline.collector.enable=false"
        )
        self.assertEqual(result.returncode, 4, result.stderr)
        self.assertEqual([row["kernel_name"] for row in profile_of(self.out)["kernels"]], ["gemm"])

    def test_both(self):
        result = self.run_with(
            {**self.fake_nsys("crash"), **self.fake_ncu("permission")},
            "pipeline.nsys.enable=true",
            "pipeline.ncu.enable=true",
        )
        self.assertIn("nsys crashed", result.stderr)
        self.assertIn("ERR_NVGPUCTRPERM", result.stderr)
        self.assert_the_rest_is_kept(result, ["nsys", "ncu"])


class InterruptedRuns(RunCase):
    LONG = ["workload.requests=200", "workload.new_tokens=64", "workload.prompt_tokens=8", "workload.peak_seconds=0"]

    def start(self, *words, program=()):
        behind = ["--", *program] if program else []
        return subprocess.Popen(
            [LLMPROF, "run", *words, "--out", str(self.out), *behind],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=self.folder,
        )

    def wait_for(self, condition, what):
        for _ in range(600):
            if condition():
                return
            time.sleep(0.05)
        self.fail(f"waited in vain for {what}")

    def workloads(self):
        found = []
        for entry in pathlib.Path("/proc").iterdir():
            try:
                words = (entry / "cmdline").read_bytes().split(b"\0")
                cwd = os.readlink(entry / "cwd")
            except OSError:
                continue
            if words[0].endswith(b"cpu_llm") and cwd == str(self.folder):
                found.append(int(entry.name))
        return found

    def log_has_grown(self):
        logs = list((self.out / "collector").glob("*.llmtrace"))
        return bool(logs) and logs[0].stat().st_size > 300_000

    def small_but_long(self):
        return [word for word in SMALL if not word.startswith("workload.")] + self.LONG

    def test_signals_end_the_workload_and_leave_a_readable_bundle(self):
        for number in [signal.SIGINT, signal.SIGTERM]:
            with self.subTest(number):
                shutil.rmtree(self.out, ignore_errors=True)
                process = self.start(*self.small_but_long())
                self.wait_for(self.log_has_grown, "the log to grow")
                process.send_signal(number)
                _, errors = process.communicate(timeout=60)
                self.assertEqual(process.returncode, 4, errors)
                self.assertIn("interrupted", errors)
                self.assertEqual(self.workloads(), [])
                self.assertTrue(profile_of(self.out)["kernels"])
                self.assert_complete(self.out)

    def test_sigkill_of_llmprof_loses_nothing_captured(self):
        process = self.start(*self.small_but_long())
        self.wait_for(self.log_has_grown, "the log to grow")
        process.kill()
        process.communicate(timeout=60)
        self.wait_for(lambda: not self.workloads(), "the workload to end")
        self.assert_complete(self.out)
        again = run("analyze", self.out, "--out", self.folder / "again")
        self.assertEqual(again.returncode, 0, again.stderr)
        self.assertTrue(profile_of(self.folder / "again")["kernels"])

    def test_sigkill_of_the_workload_keeps_its_log(self):
        process = self.start(*self.small_but_long())
        self.wait_for(self.log_has_grown, "the log to grow")
        for pid in self.workloads():
            os.kill(pid, signal.SIGKILL)
        _, errors = process.communicate(timeout=120)
        self.assertEqual(process.returncode, 4)
        self.assertIn("signal 9", errors)
        self.assertTrue(profile_of(self.out)["kernels"])

    def test_a_full_disk_is_reported_and_captures_are_kept(self):
        disk = self.folder / "disk"
        disk.mkdir()
        mounted = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", "size=400k", "tmpfs", disk],
            capture_output=True,
            check=False,
        )
        if mounted.returncode != 0:
            self.skipTest("cannot mount a small disk here")
        self.addCleanup(subprocess.run, ["umount", disk], check=False)
        self.out = disk / "bundle"
        result = self.profile_run(*self.small_but_long()[:-3], "workload.requests=20")
        self.assertEqual(result.returncode, 4, result.stderr)
        self.assertIn("No space left on device", result.stderr)
        self.assert_complete(self.out)
        self.assertTrue((self.out / "inputs.yaml").is_file())


class Server(RunCase):
    def test_a_server_is_profiled_while_its_client_runs(self):
        conf = self.folder / "conf"
        (conf / "workload").mkdir(parents=True)
        server = self.folder / "server.py"
        server.write_text(
            "import http.server, llmprof_annotate\n"
            "class Answer(http.server.BaseHTTPRequestHandler):\n"
            "    def do_GET(self):\n"
            "        with llmprof_annotate.range('prefill'):\n"
            "            now = llmprof_annotate.now_ns()\n"
            "            llmprof_annotate.operator('gemm', now, now + 1000, 100, 100)\n"
            "            self.send_response(200); self.end_headers()\n"
            "server = http.server.HTTPServer(('127.0.0.1', 0), Answer)\n"
            "open('port', 'w').write(str(server.server_port))\n"
            "print('listening', flush=True)\n"
            "server.serve_forever()\n"
        )
        client = self.folder / "client.py"
        client.write_text(
            "import urllib.request\n"
            "port = open('port').read()\n"
            "for _ in range(3): urllib.request.urlopen(f'http://127.0.0.1:{port}/').read()\n"
        )
        (conf / "workload" / "mine.yaml").write_text(
            "name: mine\n"
            f"command: [python3, {server}]\n"
            "uses_cuda: false\n"
            "server:\n"
            "  ready: {log_pattern: listening, timeout_s: 60}\n"
            f"  client: [python3, {client}]\n"
            "  stop_signal: SIGINT\n"
        )
        result = self.profile_run("--config-dir", conf, "workload=mine")
        self.assertEqual(result.returncode, 0, result.stderr)
        prefill = stage(profile_of(self.out), "prefill")
        self.assertEqual(len(prefill["instances"]), 3)


@needs_nsys
class RealNsys(RunCase):
    def test_its_stages_agree_with_our_own_log(self):
        result = self.profile_run(
            "pipeline.nsys.enable=true", "workload.requests=2", "workload.new_tokens=8"
        )
        self.assertEqual(result.returncode, 0, result.stderr)
        for name in ["run.sqlite", "cmd.txt", "status.json"]:
            self.assertTrue((self.out / "nsys" / name).is_file(), name)
        database = sqlite3.connect(self.out / "nsys" / "run.sqlite")
        rows = database.execute(
            "SELECT COALESCE(text, (SELECT value FROM StringIds WHERE id = textId)), "
            "SUM(end - start), COUNT(*) FROM NVTX_EVENTS WHERE end IS NOT NULL GROUP BY 1"
        ).fetchall()
        nsys = {text: (total, count) for text, total, count in rows}
        again = self.folder / "again"
        log = run("analyze", self.out / "nsys" / "annotations", "--out", again)
        self.assertEqual(log.returncode, 0, log.stderr)
        profile = profile_of(again)
        for name, label in [("prefill", "prefill"), ("decode", "decode_all")]:
            total = sum(item["wall_ms"] for item in stage(profile, name)["instances"])
            self.assertEqual(len(stage(profile, name)["instances"]), nsys[label][1])
            self.assertAlmostEqual(total * 1e6 / nsys[label][0], 1, delta=0.01, msg=name)

    def test_secrets_are_only_in_its_own_report(self):
        program = self.folder / "program.py"
        program.write_text(
            "import os, llmprof_annotate as a\n"
            "assert os.environ['HF_TOKEN'] == 'planted-one'\n"
            "with a.range('prefill'):\n"
            "    now = a.now_ns()\n"
            "    a.operator('gemm', now, now + 1000, 100, 100)\n"
        )
        result = self.profile_run(
            "pipeline.nsys.enable=true",
            "workload.uses_cuda=false",
            env={"HF_TOKEN": "planted-one"},
            program=[sys.executable, program, "--api-key", "planted-two"],
        )
        self.assertEqual(result.returncode, 0, result.stderr)
        for path in self.out.rglob("*"):
            if path.is_file() and path.suffix != ".nsys-rep":
                self.assertFalse(b"planted-" in path.read_bytes(), path)
        codes = [item["code"] for item in profile_of(self.out)["diagnostics"]]
        self.assertIn("nsys_report_holds_environment", codes)


if __name__ == "__main__":
    unittest.main()
