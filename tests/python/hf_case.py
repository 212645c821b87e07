"""Makes the workload's modules importable, and runs it with the stand-ins of torch and transformers."""
import contextlib
import io
import json
import os
import pathlib
import sys
import tempfile
import unittest
from unittest import mock

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
PROGRAM = ROOT / "workloads" / "hf_llm.py"
sys.path[:0] = [str(HERE / "stand_ins"), str(ROOT / "workloads")]

MODEL = {"model_type": "llama", "vocab_size": 97}


class FolderCase(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def file(self, name, text):
        path = self.folder / name
        path.write_text(text, encoding="utf-8")
        return str(path)


class StandInCase(FolderCase):
    def run_program(self, *arguments, model=None, environment=None):
        """Exit code, events of the device and of annotations, metrics, stderr."""
        import torch

        from hf_workload.main import main

        metrics = self.folder / "metrics.json"
        settings = {"LLMPROF_METRICS": str(metrics), **(environment or {})}
        torch.events.clear()
        torch.memory.observer = None
        errors = io.StringIO()
        with mock.patch.dict(os.environ, settings), contextlib.redirect_stderr(errors), \
                contextlib.redirect_stdout(io.StringIO()):
            code = main(["--model-config", json.dumps(model or MODEL), "--device", "cuda:0", *arguments])
        document = json.loads(metrics.read_text(encoding="utf-8")) if metrics.exists() else None
        return code, list(torch.events), document, errors.getvalue()
