"""packaging/github/action.yml and the workflow of docs/ci.md, run step by step as GitHub's runner would: inputs and
outputs are put into their places, `run:` blocks are executed by bash, a checkout is a clone of a repository made here.
Artifacts are not uploaded; the test checks that they exist."""
import copy
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import tempfile
import unittest
import xml.etree.ElementTree

try:
    import yaml
except ImportError:
    yaml = None

from program import H200_CAPTURES, LLMPROF, ROOT, run

ACTION = ROOT / "packaging" / "github"
CI = ROOT / "docs" / "ci.md"
CPU_LLM = pathlib.Path(LLMPROF).with_name("cpu_llm")
MAKEFILE = """llm:
\tprintf '#!/bin/sh\\nexec {cpu_llm} --hidden 64 --intermediate 128 --layers {layers} --heads 4 --kv-heads 2 \
--vocabulary 512 --prompt-tokens 8 --new-tokens 12 --requests 2 --warm-up 1 --threads 1 \
--no-peaks\\n' >llm
\tchmod +x llm
"""


def filled(value, known):
    """The text with its expressions replaced by their values; an unknown expression is an error, as on a runner."""
    if not isinstance(value, str):
        return value
    return re.sub(r"\$\{\{\s*([\w.-]+)\s*\}\}", lambda match: known[match[1]], value)


class ActionResult:
    """The results of a composite action."""

    def __init__(self):
        self.code = 0
        self.output = ""
        self.uploaded = []
        self.outputs = {}
        self.summary = ""


def run_block(script, workspace, env):
    """Executes a step with `shell: bash` like the runner."""
    with tempfile.NamedTemporaryFile("w", suffix=".sh", encoding="utf-8") as file:
        file.write(script)
        file.flush()
        return subprocess.run(["bash", "--noprofile", "--norc", "-eo", "pipefail", file.name], cwd=workspace,
                              env={**os.environ, **env}, capture_output=True, text=True, timeout=600, check=False)


def run_action(folder, inputs, workspace):
    """Executes the steps of folder/action.yml with these inputs."""
    action = yaml.safe_load((folder / "action.yml").read_text(encoding="utf-8"))
    unknown = set(inputs) - set(action["inputs"])
    missing = {name for name, entry in action["inputs"].items() if entry.get("required") and name not in inputs}
    assert not unknown and not missing, (unknown, missing)
    known = {f"inputs.{name}": str(inputs.get(name, entry.get("default", "")))
             for name, entry in action["inputs"].items()}
    result = ActionResult()
    for step in action["runs"]["steps"]:
        if result.code != 0 and step.get("if") != "always()":
            continue
        if "uses" in step:
            result.uploaded.append(workspace / filled(step["with"]["path"], known))
            continue
        assert step["shell"] == "bash"
        with tempfile.TemporaryDirectory() as place:
            files = {name: pathlib.Path(place) / name for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY")}
            for file in files.values():
                file.touch()
            env = {name: filled(value, known) for name, value in step.get("env", {}).items()}
            env.update({name: str(file) for name, file in files.items()}, GITHUB_ACTION_PATH=str(folder))
            done = run_block(filled(step["run"], known), workspace, env)
            lines = files["GITHUB_OUTPUT"].read_text(encoding="utf-8").splitlines()
            result.summary += files["GITHUB_STEP_SUMMARY"].read_text(encoding="utf-8")
        result.code = result.code or done.returncode
        result.output += done.stdout + done.stderr
        for line in lines:
            name, value = line.split("=", 1)
            known[f"steps.{step['id']}.outputs.{name}"] = value
    for name, entry in action["outputs"].items():
        result.outputs[name] = filled(entry["value"], {**known, "steps.diff.outputs.verdict":
                                                    known.get("steps.diff.outputs.verdict", "")})
    return result


class ActionCase(unittest.TestCase):
    def setUp(self):
        if yaml is None:
            self.skipTest("needs PyYAML: scripts/setup.sh test installs python3-yaml")
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name)


class TwoProfiles(ActionCase):
    """Profiles that were recorded elsewhere."""

    @classmethod
    def setUpClass(cls):
        with tempfile.TemporaryDirectory() as folder:
            out = pathlib.Path(folder) / "bundle"
            result = run("analyze", H200_CAPTURES / "h200-dense-graph" / "nsys_node.sqlite", "--out", out)
            assert result.returncode == 0, result.stderr
            cls.profile = json.loads((out / "profile.json").read_text(encoding="utf-8"))

    def setUp(self):
        super().setUp()
        slower = copy.deepcopy(self.profile)
        # Single runs of this program differ by up to its idle time, at most a quarter of the wall time.
        for step in slower["steps"]:
            step["wall_ms"] *= 1.5
        for name, profile in (("main", self.profile), ("pr", slower)):
            (self.folder / name).mkdir()
            (self.folder / name / "profile.json").write_text(json.dumps(profile), encoding="utf-8")

    def act(self, new="pr/profile.json", **inputs):
        return run_action(ACTION, {"base": "main/profile.json", "new": new, "llmprof": LLMPROF, **inputs}, self.folder)

    def check_artifacts(self, result, verdict):
        self.assertEqual(result.outputs, {"verdict": verdict}, result.output)
        self.assertEqual(result.uploaded, [self.folder / "llmprof-diff"])
        names = {path.name for path in result.uploaded[0].rglob("*") if path.is_file()}
        self.assertLessEqual({"diff.md", "diff.json", "diff.xml", "summary.md"}, names)
        self.assertIn(f"Verdict: {verdict.replace('_', ' ')}.", result.summary)
        suite = xml.etree.ElementTree.parse(result.uploaded[0] / "diff.xml").getroot().find("testsuite")
        self.assertEqual(int(suite.get("failures")) > 0, verdict == "fail")

    def test_the_same_passes(self):
        result = self.act(new="main/profile.json", gate="decode.step.p50<=+2%\n\n  prefill.wall.mean<=+5%&+0.2ms  \n")
        self.assertEqual(result.code, 0, result.output)
        self.check_artifacts(result, "pass")

    def test_a_slower_step_fails(self):
        result = self.act(gate="decode.step.p50<=+2%")
        self.assertEqual(result.code, 5, result.output)
        self.check_artifacts(result, "fail")

    def test_an_undecided_rule_fails_unless_configured_to_pass(self):
        result = self.act(gate="decode.step.p99<=+2%")
        self.assertEqual(result.code, 3, result.output)
        self.check_artifacts(result, "cannot_tell")
        shutil.rmtree(self.folder / "llmprof-diff")
        result = self.act(gate="decode.step.p99<=+2%", **{"cannot-tell": "pass"})
        self.assertEqual(result.code, 0, result.output)

    def test_a_wrong_rule_is_reported_and_fails(self):
        result = self.act(gate="decode.step<=2%")
        self.assertEqual(result.code, 2, result.output)
        self.assertIn("no sign", result.output)
        self.assertEqual(result.outputs, {"verdict": ""})

    def test_the_commands_of_the_documentation(self):
        commands = re.findall(r"(?m)^llmprof (diff .*)$", CI.read_text(encoding="utf-8"))
        self.assertEqual(len(commands), 2)
        for command in commands:
            result = run(*shlex.split(command), cwd=self.folder)
            self.assertIn(result.returncode, (3, 5), result.stderr)
        for name in ("diff.xml", "summary.md"):
            self.assertTrue((self.folder / name).exists(), name)


class Workflow(ActionCase):
    """The example of docs/ci.md, on a repository with two commits whose `make` builds a program for a CPU."""

    def setUp(self):
        super().setUp()
        (text,) = re.findall(r"(?ms)^```yaml\n(.*?)^```$", CI.read_text(encoding="utf-8"))
        (self.job,) = yaml.safe_load(text)["jobs"].values()
        self.origin = self.folder / "origin"
        self.workspace = self.folder / "workspace"
        self.workspace.mkdir()
        self.commit(layers=2)
        self.git("branch", "-m", "main")
        self.git("checkout", "-q", "-b", "change")
        self.commit(layers=3)

    def git(self, *words):
        subprocess.run(["git", "-C", str(self.origin), "-c", "user.name=a", "-c", "user.email=a@b", *words],
                       check=True, capture_output=True)

    def commit(self, layers):
        if not self.origin.exists():
            shutil.copytree(ACTION, self.origin / "packaging" / "github")
            subprocess.run(["git", "init", "-q", str(self.origin)], check=True)
        makefile = MAKEFILE.format(cpu_llm=CPU_LLM, layers=layers)
        (self.origin / "Makefile").write_text(makefile, encoding="utf-8")
        self.git("add", "-A")
        self.git("commit", "-q", "-m", f"{layers} layers")

    def checkout(self, path, ref=None):
        words = ["--branch", filled(ref, {"github.base_ref": "main"})] if ref else []
        subprocess.run(["git", "clone", "-q", *words, str(self.origin), str(self.workspace / path)], check=True)

    def test_its_steps_record_both_and_compare_them(self):
        result = None
        for step in self.job["steps"]:
            uses, options = step.get("uses", ""), step.get("with", {})
            if uses.startswith("actions/checkout@"):
                self.checkout(**options)
            elif uses:
                # Fewer repeats than in the example, to save time, and a program without a GPU.
                result = run_action(self.workspace / uses, {**options, "repeat": 2, "llmprof": LLMPROF,
                                                            "overrides": "workload.uses_cuda=false\n"}, self.workspace)
            else:
                done = run_block(step["run"], self.workspace, {})
                self.assertEqual(done.returncode, 0, done.stderr)
        out = self.workspace / "llmprof-diff"
        self.assertEqual(sorted(path.name for path in (out / "runs").iterdir()),
                         ["base-1", "base-2", "diff", "new-1", "new-2"], result.output)
        diff = json.loads((out / "diff" / "diff.json").read_text(encoding="utf-8"))
        self.assertEqual((len(diff["base"]), len(diff["new"])), (2, 2))
        self.assertEqual([gate["rule"] for gate in diff["gates"]],
                         ["decode.step.p50<=+2%", "prefill.wall.mean<=+5%&+0.2ms"])
        # A third layer: whether it exceeds this machine's noise does not matter here.
        self.assertEqual(result.outputs, {"verdict": diff["verdict"]})
        self.assertEqual(result.code, {"pass": 0, "fail": 5}.get(diff["verdict"], 3))
        self.assertTrue(result.summary)

    def test_a_program_that_fails_fails_the_action(self):
        for path in ("base", "new"):
            self.checkout(path)
        result = run_action(self.workspace / "new" / "packaging" / "github",
                            {"base": "./base/absent", "new": "./new/absent", "repeat": 1, "llmprof": LLMPROF,
                             "overrides": "workload.uses_cuda=false"}, self.workspace)
        self.assertNotIn(result.code, (0, 3, 5), result.output)
        self.assertEqual(result.outputs, {"verdict": ""})


if __name__ == "__main__":
    unittest.main()
