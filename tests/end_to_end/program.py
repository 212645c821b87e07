"""Runs the real llmprof and reads its output."""
import csv
import json
import os
import pathlib
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
DATA = ROOT / "tests" / "data"
LLMPROF = os.environ.get("LLMPROF", str(ROOT / "build" / "bin" / "llmprof"))
# The complete captures of tests/data/h200-captures, as the build unpacks them.
H200_CAPTURES = pathlib.Path(os.environ.get("H200_CAPTURES", ROOT / "build" / "captures"))

csv.field_size_limit(1 << 30)


# It would change the width of the output.
os.environ.pop("COLUMNS", None)
# Runs cache facts about this machine in a folder of the tests, which is removed with them.
_CACHE = tempfile.TemporaryDirectory(prefix="llmprof-cache-")
os.environ["XDG_CACHE_HOME"] = _CACHE.name


def run(*arguments, env=None, cwd=None):
    return subprocess.run(
        [LLMPROF, *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        cwd=cwd,
        env={**os.environ, **(env or {})},
    )


class Bundle:
    """One analysis: its printed output and its files."""

    def __init__(self, *paths, options=(), env=None):
        with tempfile.TemporaryDirectory() as folder:
            out = pathlib.Path(folder) / "bundle"
            self.result = run("analyze", *paths, "--out", out, *options, env=env)
            if self.result.returncode != 0 and not (out / "profile.json").exists():
                raise AssertionError(f"exit {self.result.returncode}: {self.result.stderr}")
            self.files = {path.name: path.read_text(encoding="utf-8")
                          for path in out.rglob("*") if path.is_file()}
        self.profile = json.loads(self.files["profile.json"])
        self.markdown = self.files["kernels.md"]

    def kernels(self):
        """name -> (calls, total in ns), summed over devices."""
        rows = {}
        for row in self.profile["kernels"]:
            calls, total = rows.get(row["kernel_name"], (0, 0))
            rows[row["kernel_name"]] = (calls + row["calls"], total + row["total_ns"])
        return rows

    def codes(self):
        return {item["code"] for item in self.profile["diagnostics"]}


def kernel_summary(path):
    """The output of nsys's own cuda_gpu_kern_sum: name -> (calls, total in ns)."""
    with open(path, newline="", encoding="utf-8") as file:
        return {
            row["Name"]: (int(row["Instances"]), int(row["Total Time (ns)"]))
            for row in csv.DictReader(file)
        }
