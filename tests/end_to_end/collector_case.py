"""What tests of programs with our annotation API share: running them with the collector, and reading their logs."""
import collections
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import textwrap
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = ROOT / "build"
LIBRARY = os.environ.get("LLMPROF_COLLECTOR_LIBRARY", str(BUILD / "lib" / "libllmprof_collector.so"))
PROGRAM = os.environ.get("ANNOTATED_PROGRAM", str(BUILD / "bin" / "annotated_program"))
DUMP = os.environ.get("DUMP_CAPTURE", str(BUILD / "bin" / "dump_capture"))


def dump(path):
    done = subprocess.run([DUMP, path], capture_output=True, text=True, timeout=120, check=False)
    if done.returncode != 0:
        raise AssertionError(done.stderr)
    return json.loads(done.stdout)


def codes(log):
    return {item["code"]: item["count"] for item in log["diagnostics"]}


def names(log):
    return collections.Counter(row["name"] for row in log["ranges"])


def python(environment, code):
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
        env={**environment, "PYTHONPATH": str(ROOT / "python")},
    )


class CollectorCase(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name)

    def environment(self, **more):
        base = {k: v for k, v in os.environ.items() if not k.startswith("LLMPROF_")}
        return {**base, "LLMPROF_COLLECTOR": LIBRARY, "LLMPROF_LOG_DIR": str(self.folder), **more}

    def run_program(self, way, **more):
        done = subprocess.run(
            [PROGRAM, way],
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
            env=self.environment(**more),
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def logs(self):
        return [dump(path) for path in sorted(self.folder.glob("*.llmtrace"))]

    def only_log(self):
        logs = self.logs()
        self.assertEqual(len(logs), 1)
        return logs[0]
