"""What all tests of `llmprof run` share: a small model, a folder, and checks of a bundle."""
import json
import pathlib
import tempfile
import unittest

from program import run

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
        after_dashes = ["--", *program] if program else []
        return run("run", *words, "--out", self.out, *after_dashes, env=env, cwd=self.folder)

    def assert_complete(self, folder):
        """No partially written file under its final name."""
        for path in folder.rglob("*.json"):
            json.loads(path.read_text(encoding="utf-8"))
        for path in folder.rglob("*.md"):
            self.assertTrue(path.read_text(encoding="utf-8").endswith("\n"), path)
