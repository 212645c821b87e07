"""The checks of the manual tests: a complete bundle passes, each gap is found."""
import contextlib
import io
import json
import os
import pathlib
import sys
import unittest
from unittest import mock

import hf_case

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "manual" / "stage2_profile"))
import bundle_checks  # noqa: E402

STAGE = {"source": "annotation", "budget": [{"ms": 3.0}, {"ms": 1.0}], "wall_ms": {"mean": 4.0}, "mfu": {"wall": 0.5}}
PROFILE = {
    "schema_version": 1,
    "model": {"name": "org/model", "params": 1000},
    "kernels": [{"kernel_name": "gemm", "device": "cuda:0", "total_ms": 2.0, "metrics": {"sm": 1}},
                {"kernel_name": "norm", "device": "cuda:0", "total_ms": 1.0, "metrics": {}}],
    "stages": [{"name": "prefill", **STAGE}, {"name": "decode", **STAGE}],
    "operators": [{"name": "aten::mm"}],
}


class Bundle(hf_case.FolderCase):
    def setUp(self):
        super().setUp()
        patterns = bundle_checks.ALWAYS + [p for group in bundle_checks.OF_CAPTURE.values() for p in group]
        for pattern in patterns:
            self.put(pattern.replace("*", "some"), "content")
        for name, sections in (("report.md", bundle_checks.REPORT_SECTIONS),
                               ("stakeholder_summary.md", bundle_checks.STAKEHOLDER_SECTIONS)):
            self.put(name, "# Title\n" + "".join(f"\n## {section}\n" for section in sections))
        self.put("profile.json", json.dumps(PROFILE))
        self.put("stage1/metrics.json", json.dumps({"model": "llama", "params": 1005}))
        self.put("inputs.yaml", "model: {name: org/model}\n")

    def put(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def failures(self, captures=bundle_checks.CAPTURES):
        checks, printed = bundle_checks.Checks(), io.StringIO()
        with contextlib.redirect_stdout(printed):
            bundle_checks.check_bundle(checks, self.folder, list(captures))
        failed = [line[6:] for line in printed.getvalue().splitlines() if line.startswith("FAIL")]
        self.assertEqual(checks.failed, len(failed))
        return failed

    def profile(self, **changes):
        self.put("profile.json", json.dumps({**PROFILE, **changes}))

    def test_a_complete_one(self):
        self.assertEqual(self.failures(), [])

    def test_files(self):
        (self.folder / "ncu/raw.csv").write_text("")
        (self.folder / "torch/trace.json.gz").unlink()
        self.put("nsys/run.sqlite.tmp", "half")
        failed = self.failures()
        self.assertEqual(len(failed), 3, failed)
        self.assertTrue(failed[0].startswith("ncu/raw.csv"))
        self.assertIn("run.sqlite.tmp", failed[2])

    def test_an_excluded_capture_is_not_required(self):
        (self.folder / "torch/trace.json.gz").unlink()
        self.profile(operators=[])
        self.assertEqual(self.failures(["collector", "nsys", "ncu"]), [])

    def test_sections(self):
        self.put("report.md", "# Title\n")
        self.assertEqual(len(self.failures()), len(bundle_checks.REPORT_SECTIONS))

    def test_profile(self):
        detected = {**STAGE, "source": "detected"}
        unbalanced = {**STAGE, "budget": [{"ms": 3.9}], "mfu": {"wall": 1.5}}
        self.profile(stages=[{"name": "prefill", **detected}, {"name": "decode", **unbalanced}],
                     kernels=list(reversed(PROFILE["kernels"])), operators=[])
        failed = self.failures()
        self.assertEqual(len(failed), 5, failed)

    def test_no_profile(self):
        (self.folder / "profile.json").unlink()
        self.assertGreater(len(self.failures()), 8)

    def test_another_model_than_described(self):
        self.put("stage1/metrics.json", json.dumps({"model": "llama", "params": 2000}))
        self.assertEqual(len(self.failures()), 1)

    def test_secrets(self):
        self.put("env.json", '{"X": "hunter2hunter2"}')
        with mock.patch.dict(os.environ, {"HF_TOKEN": "hunter2hunter2"}):
            self.assertEqual(self.failures(),
                             ["no secret of the environment is in the bundle (found: ['env.json'])"])


if __name__ == "__main__":
    unittest.main()
