"""`llmprof run` from the workload to the bundle, and its results when the workload or a tool fails."""
import json
import os
import pathlib
import shutil
import sqlite3
import stat
import sys
import tempfile
import unittest

from program import run
from run_case import PROVENANCE, REPORTS, SMALL, RunCase, profile_of, stage

needs_nsys = unittest.skipUnless(
    shutil.which("nsys"), "needs nsys (scripts/setup.sh nsys), which is not here"
)
needs_ncu = unittest.skipUnless(
    shutil.which("ncu"), "needs ncu (scripts/setup.sh nsys), which is not here"
)


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
            # Stages of tens of milliseconds: a busy machine hardly delays their start or end by 5 % of that.
            "workload.prompt_tokens=1024",
            "workload.new_tokens=128",
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
        self.assertRegex(limited, "# ncu is skipped: it would take about .*, which exceeds the time limit")
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
        self.assertIn("cannot create the folder", result.stderr)


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
