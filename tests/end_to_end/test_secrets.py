"""Plants secrets of every form in commands, variables and configuration, and searches every byte that llmprof writes or
prints."""
import base64
import gzip
import json
import pathlib
import shlex
import sys
import tempfile
import unittest
import zlib

from page_file import BLOCK
from program import run

# Part of every planted secret, in upper or lower case; no file contains it otherwise.
MARK = "pl4nt3d7x"

JWT = f"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.{MARK}abcdef"
PEM = f"-----BEGIN RSA PRIVATE KEY-----\n{MARK}MIIE\n{MARK}\n-----END RSA PRIVATE KEY-----"
ISSUED = [
    f"ghp_{MARK}0123456789abcdefghij", f"gho_{MARK}0123456789", f"github_pat_11{MARK}_abcdef",
    f"sk-{MARK}abcdefghij", f"sk-proj-{MARK}-abc", f"sk-ant-api03-{MARK}", f"hf_{MARK}abcdefghij",
    f"AKIA{MARK.upper()}ABCDEFG", f"ASIA{MARK.upper()}ABCDEFG", f"xoxb-123-{MARK}", f"glpat-{MARK}abcd",
    f"nvapi-{MARK}abcdef", JWT,
]
ARGUMENTS = [
    "--auth", f"{MARK}", f"--auth={MARK}", "--pass", f"{MARK}", f"--passwd={MARK}", "--password", f"two {MARK}",
    "--cookie", f"session={MARK}", f"AUTH={MARK}", f"HF_TOKEN={MARK}", f"--env=DB_PASS={MARK}", f"-Dtoken={MARK}",
    "--api-key", f"{MARK}", f"--client-secret={MARK}", "-k", f"{MARK}abc", "--set", f"auth.token={MARK}",
    "-u", f"me:{MARK}", "-H", f"Authorization: Bearer {MARK}", "-H", f"Cookie: a={MARK}; b={MARK} c",
    "-H", f"x-api-key: {MARK}", f"https://me:{MARK}@host/a", f"https://host/?sv=1&sig={MARK}&se=2",
    f"https://host/?token={MARK}", f"https://host/o?X-Amz-Signature={MARK}",
    f"AccountName=n;AccountKey={MARK}==;EndpointSuffix=s", f'{{"api_key": "{MARK}", "n": {{"token": "{MARK}"}}}}',
    PEM, *ISSUED,
]
SCRIPT = (f"export AUTH='{MARK} x'; serve --auth {MARK} --pass \"{MARK} y\" -H 'Cookie: a={MARK}; b={MARK}' "
          f"-H \"Authorization: Bearer {MARK}\" https://u:{MARK}@h/?sig={MARK} {' '.join(ISSUED)}")
HARMLESS = ["--tokens", "128", "--max-tokens", "64", "--tokenizer", "gpt2", "-k", "5", "--pass-through", "task-1"]

PROGRAM = """
import json, os, sys, llmprof_annotate as a
assert sys.argv[1:] == json.load(open({expected!r})), sys.argv
assert os.environ.get("MY_AUTH", {mark!r}) == {mark!r}
now = a.now_ns()
a.operator("gemm", now, now + 1000, 100, 100)
if "--fail" in sys.argv:
    sys.exit("cannot log in: " + " ".join(sys.argv[1:3]) + " " + sys.argv[-2])
"""


def contents(folder):
    """(file, bytes); compressed files and the page's blocks are decompressed."""
    for path in folder.rglob("*"):
        if not path.is_file():
            continue
        data = path.read_bytes()
        yield path, data
        if path.suffix == ".gz":
            yield path, gzip.decompress(data)
        if path.suffix == ".html":
            for name, block in BLOCK.findall(data.decode("utf-8")):
                yield f"{path}, block {name}", zlib.decompress(base64.b64decode(block))


class PlantedSecrets(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name) / "written"
        self.folder.mkdir()
        self.ours = pathlib.Path(holder.name)

    def assert_nowhere(self, folder, *results, program_prints=False):
        seen = 0
        for path, data in contents(folder):
            if program_prints and str(path).endswith(".log"):
                continue  # the program's own output
            seen += 1
            self.assertNotIn(MARK.encode(), data.lower(), f"a secret is in {path}")
        self.assertGreater(seen, 5)
        for result in results:
            self.assertNotIn(MARK, (result.stdout + result.stderr).lower())

    def assert_harmless(self, *names):
        for name in names:
            text = (self.folder / "a" / name).read_text(encoding="utf-8")
            for word in HARMLESS:
                self.assertIn(word, text, name)
            self.assertIn("***", text, name)

    def program(self, *arguments):
        (self.ours / "expected.json").write_text(json.dumps(arguments))
        file = self.ours / "program.py"
        file.write_text(PROGRAM.format(expected=str(self.ours / "expected.json"), mark=MARK))
        return [sys.executable, file, *arguments]

    def run_in(self, *arguments, env=None):
        return run(*arguments, env=env, cwd=self.folder)

    def test_in_the_arguments_of_a_program(self):
        command = self.program(*ARGUMENTS, SCRIPT, *HARMLESS)
        words = ["workload.uses_cuda=false", "--", *command]
        environment = {"MY_AUTH": MARK, "HF_TOKEN": MARK, "LD_LIBRARY_PATH": f"/x:https://a:{MARK}@h/"}
        plan = self.run_in("run", "--dry-run", *words, env=environment)
        self.assertEqual(plan.returncode, 0, plan.stderr)
        done = self.run_in("run", "--out", "a", "--perfetto", *words, env=environment)
        self.assertEqual(done.returncode, 0, done.stderr)
        printed = self.run_in("report", "a", "--out", "again")
        shown = self.run_in("run", "--json", "--out", "b", *words, env=environment)
        compared = self.run_in("diff", "a", "b", "--out", "diff", "--junit", "diff.xml", "--summary", "diff-summary.md")
        self.assertIn(compared.returncode, (0, 3), compared.stderr)
        self.assert_nowhere(self.folder, plan, done, printed, shown, compared)
        self.assert_harmless("inputs.yaml", "collector/cmd.txt", "collector/status.json", "profile.json")

    def test_in_the_configuration(self):
        conf = self.ours / "conf"
        (conf / "workload").mkdir(parents=True)
        command = self.program(*ARGUMENTS, *HARMLESS)
        workload = {
            "name": "mine", "uses_cuda": False, "command": [str(word) for word in command],
            "environment": {"MY_AUTH": MARK, "PLAIN": ISSUED[0], "PROXY": f"http://u:{MARK}@h"},
            "options": {"cookie": MARK, "sig": f"{MARK}", "url": f"https://h/?sig={MARK}", "list": [f"--auth={MARK}"],
                        "auth": {"user": "me", "token": MARK}},
        }
        (conf / "workload" / "mine.yaml").write_text(json.dumps(workload))
        done = self.run_in("run", "--out", "a", "--config-dir", conf, "workload=mine", "~model",
                           f"+workload.options.pass={MARK}")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assert_nowhere(self.folder / "a", done)
        self.assert_harmless("config.yaml", "inputs.yaml")

    def test_in_what_a_failing_program_prints(self):
        command = self.program(*ARGUMENTS[:2], "--fail", ISSUED[0], "x")
        done = self.run_in("run", "--out", "a", "workload.uses_cuda=false", "--", *command)
        self.assertEqual(done.returncode, 4)
        self.assertIn("cannot log in", done.stderr)
        self.assert_nowhere(self.folder / "a", done, program_prints=True)

    def test_in_a_script_and_a_partial_profile(self):
        command = self.program(*ARGUMENTS)
        script = f"MY_AUTH={MARK} exec {shlex.join(map(str, command))}"
        env = {"RANK": "0", "WORLD_SIZE": "1", "LOCAL_RANK": "0"}
        done = self.run_in("run", "--out", "a", "workload.uses_cuda=false", "--", "bash", "-c", script, env=env)
        self.assertEqual(done.returncode, 0, done.stderr)
        partial = self.run_in("analyze", "--partial", "a", "--out", "parts")
        self.assertEqual(partial.returncode, 0, partial.stderr)
        merged = self.run_in("merge", "parts", "--out", "merged")
        self.assertEqual(merged.returncode, 0, merged.stderr)
        self.assert_nowhere(self.folder, done, partial, merged)

    def test_of_repeated_runs(self):
        command = self.program("--auth", MARK)
        against = shlex.join(map(str, command))
        done = self.run_in("run", "--out", "a", "--repeat", "1", "--against", against, "workload.uses_cuda=false",
                           "--", *command)
        self.assertIn(done.returncode, (0, 3), done.stderr)
        self.assert_nowhere(self.folder / "a", done)


if __name__ == "__main__":
    unittest.main()
