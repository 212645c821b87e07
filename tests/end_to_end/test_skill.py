"""skills/llmprof: every command in it runs, its links lead somewhere, and the way from a slow server to the fix leads
there."""
import contextlib
import json
import os
import pathlib
import re
import shlex
import shutil
import socket
import statistics
import subprocess
import tempfile
import unittest

from export_readers import FORMATS, NODE, check_readers
from program import DATA, ROOT, run
from sse_server import OpenAiServer

SKILL = ROOT / "skills" / "llmprof"
WAY = SKILL / "references" / "slow-server.md"
PAGES = sorted(SKILL.rglob("*.md"))
RUNS = 2  # per side of that way
CPU_LLM = os.environ.get("CPU_LLM", str(ROOT / "build" / "bin" / "cpu_llm"))


def setUpModule():
    """As for the other tests of servers: their times are what is tested."""
    with contextlib.suppress(PermissionError):
        os.setpriority(os.PRIO_PROCESS, 0, -10)


def commands(page):
    blocks = re.findall(r"```sh\n(.*?)```", page.read_text("utf-8"), re.S)
    return [line for block in blocks for line in block.splitlines() if line]


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


class FolderCase(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        holder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(holder.cleanup)
        cls.folder = pathlib.Path(holder.name)

    def call(self, command, words=None):
        words = words or shlex.split(command)
        self.assertEqual(words[0], "llmprof", command)
        done = run(*words[1:], cwd=self.folder)
        for _ in range(2):
            if "the load was not held" not in done.stderr:
                break
            # The machine was busy: measure again, as the message says.
            shutil.rmtree(self.folder / words[words.index("--out") + 1])
            done = run(*words[1:], cwd=self.folder)
        self.assertEqual(done.returncode, 0, f"{command}: {done.stderr}")
        self.assertTrue(done.stdout, command)
        return done.stdout


class Commands(FolderCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        decoder = DATA / "h200-decoder"
        shutil.copy(decoder / "nsys.sqlite", cls.folder / "trace.sqlite")
        shutil.copy(decoder / "config.json", cls.folder / "config.json")
        cls.named = {"RUN": "RUN", "SERVED": "SERVED", "BEFORE": "trace.sqlite", "AFTER": "trace.sqlite"}
        for name, captures in (("RUN", (decoder / "nsys.sqlite",)),
                               ("SERVED", (DATA / "collector_log" / "served.llmtrace", DATA / "requests" / "served.json"))):
            done = run("analyze", *captures, "--out", cls.folder / name)
            if done.returncode != 0:
                raise AssertionError(done.stderr)
        engine = cls.folder / "my_engine"
        engine.write_text(f"#!/bin/sh\nexec {CPU_LLM} --layers 2 --prompt-tokens 8 --new-tokens 4 --requests 2\n", "utf-8")
        engine.chmod(0o755)

    def with_names(self, command):
        words = [self.named.get(word, word) for word in shlex.split(command)]
        if words[1] == "run" and "./my_engine" in words:
            words.insert(words.index("--"), "workload.uses_cuda=false")
        elif words[1] == "run":
            words += ["workload.server.load.duration=1s", f"workload.port={free_port()}"]
        return words

    def test_every_command_runs(self):
        every = [command for page in PAGES if page != WAY for command in commands(page)]
        self.assertGreater(len(every), 25)
        with OpenAiServer() as server:
            for command in every:
                with self.subTest(command):
                    words = self.with_names(command)
                    self.call(command, [word.replace("URL", f"http://127.0.0.1:{server.port}") for word in words])

    def test_it_has_the_form_of_a_skill(self):
        check_readers()
        done = subprocess.run([NODE, FORMATS / "node_modules" / ".bin" / "skills-ref", "validate", SKILL],
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_links_lead_somewhere(self):
        for page in PAGES:
            for link in re.findall(r"\]\(([^)]+)\)", page.read_text("utf-8")):
                self.assertTrue((page.parent / link).exists(), f"{page}: {link}")


class SlowServer(FolderCase):
    """Alone on the machine (tests/CMakeLists.txt): a client that is late has no result."""

    def test_the_way_leads_to_the_fix(self):
        answers = {}
        for command in commands(WAY):
            words = shlex.split(command)
            if words[1] == "run":
                words.append(f"workload.port={free_port()}")
            elif words[1] == "query":
                words += ["--format", "json"]
            answers[command] = self.call(command, words)
        asked = [json.loads(answer) for command, answer in answers.items() if command.startswith("llmprof query")]
        users, tails, delayers, prompts, findings, after = ([
            dict(zip([column["name"] for column in answer["columns"]], row)) for row in answer["rows"]] for answer in asked)
        self.assertEqual([row["join_state"] for row in users], ["joined"] * RUNS)
        worst = {row["run"]: row["part"] for row in reversed(tails)}
        self.assertEqual(worst, {f"run-{number + 1}": "others_prefill" for number in range(RUNS)})
        self.assertTrue(delayers)
        lengths = [row["prompt_tokens"] for row in prompts]
        self.assertGreater(lengths[0], 300)
        # Not the first in every run: what the long prompts cost their own steps and requests is about as much.
        self.assertIn("requests_delayed_by_prompts", [row["kind"] for row in findings])
        slow, fixed = ([row["itl_ms_p99"] for row in after[part]] for part in (slice(RUNS), slice(RUNS, None)))
        self.assertEqual(len(fixed), RUNS)
        self.assertLess(statistics.mean(fixed), statistics.mean(slow) / 1.5)
        compared = json.loads((self.folder / "comparison" / "diff.json").read_text("utf-8"))
        self.assertEqual([len(compared[side]) for side in ("base", "new")], [RUNS] * 2)
        (latency,) = [row for row in compared["comparisons"]
                      if (row["quantity"], row["statistic"], row["times"]) == ("itl", "p99", "unwatched")]
        self.assertLess(latency["relative"], 0)


if __name__ == "__main__":
    unittest.main()
