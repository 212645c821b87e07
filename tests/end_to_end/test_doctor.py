"""`llmprof doctor`: what can be captured on this machine, for people and as JSON."""
import json
import os
import pathlib
import subprocess
import tempfile
import unittest

from program import run

NAMES = [
    "nsys", "ncu", "QdstrmImporter", "CUPTI", "CUDA injection", "driver", "GPUs", "MIG",
    "counter permission", "DCGM", "other CUPTI users", "CPU sampling", "Python", "torch",
    "transformers", "collector", "collector for CUDA", "CPU workload", "output folder",
]
SECRET = "not-for-anybodys-eyes"


def doctor(*arguments, **environment):
    return run("doctor", *arguments, env=environment)


class Doctor(unittest.TestCase):
    def test_json_answers_every_question_in_order(self):
        done = doctor("--json")
        facts = json.loads(done.stdout)
        self.assertEqual([probe["name"] for probe in facts["probes"]], NAMES)
        for probe in facts["probes"]:
            self.assertIn(probe["state"], ("found", "missing", "trouble"))
            self.assertEqual(probe["fix"] is None, probe["state"] == "found", probe)
            self.assertTrue(probe["detail"], probe)
        needed = [probe for probe in facts["probes"] if probe["needed"]]
        possible = all(probe["state"] == "found" for probe in needed)
        self.assertEqual(facts["can_run_on_cpu"], possible)
        self.assertEqual(done.returncode, 0 if possible else 4)
        if possible:
            self.assertRegex(facts["first_command"], r"^llmprof run\b")

    def test_text_has_the_same_facts(self):
        facts = json.loads(doctor("--json").stdout)
        text = doctor().stdout
        for probe in facts["probes"]:
            if probe["name"] in ("output folder", "other CUPTI users"):
                continue  # they may change between calls
            first_line = probe["detail"].splitlines()[0]
            self.assertRegex(text, rf"(?m)^{probe['name']} +{probe['state']} ")
            self.assertIn(first_line, text)
        if facts["first_command"]:
            self.assertIn(f"Try first: `{facts['first_command']}` profiles ", text)

    def test_a_fake_tool_is_named_with_its_version(self):
        with tempfile.TemporaryDirectory() as folder:
            tool = pathlib.Path(folder) / "nsys"
            tool.write_text("#!/bin/sh\necho 'NVIDIA Nsight Systems version 2031.4.1'\n")
            tool.chmod(0o755)
            probes = json.loads(doctor("--json", LLMPROF_NSYS=str(tool)).stdout)["probes"]
        self.assertEqual(probes[0]["state"], "found")
        self.assertEqual(probes[0]["detail"], f"{tool} (2031.4.1)")

    def test_an_unwritable_output_folder_makes_it_impossible(self):
        done = doctor("--json", "--out", "/proc/self")
        self.assertEqual(done.returncode, 4)
        self.assertFalse(json.loads(done.stdout)["can_run_on_cpu"])

    def test_environments_are_not_shown(self):
        environment = {"CUDA_INJECTION64_PATH": SECRET}
        with subprocess.Popen(["sleep", "60"], env={**os.environ, **environment}) as other:
            try:
                done = doctor("--json")
            finally:
                other.kill()
        users = next(p for p in json.loads(done.stdout)["probes"] if p["name"] == "other CUPTI users")
        self.assertEqual(users["state"], "trouble")
        self.assertIn(f"sleep (process {other.pid})", users["detail"])
        self.assertNotIn(SECRET, done.stdout + done.stderr)

    def test_a_foreign_injection_library_is_reported_but_not_named(self):
        done = doctor("--json", CUDA_INJECTION64_PATH=f"/opt/{SECRET}/lib.so")
        probe = next(p for p in json.loads(done.stdout)["probes"] if p["name"] == "CUDA injection")
        self.assertEqual(probe["state"], "trouble")
        self.assertIn("CUDA_INJECTION64_PATH is set", probe["detail"])
        self.assertNotIn(SECRET, done.stdout + done.stderr)

    def test_help_has_an_example(self):
        self.assertIn("Example: llmprof doctor", doctor("--help").stdout)


if __name__ == "__main__":
    unittest.main()
