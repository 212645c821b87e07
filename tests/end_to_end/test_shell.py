"""Shell completion scripts and the manual page."""
import os
import pathlib
import pty
import select
import shlex
import shutil
import subprocess
import tempfile
import time
import unittest

from program import LLMPROF, ROOT, run

SHOWN = ["run", "analyze", "report", "artifacts", "doctor", "arm", "disarm", "version", "completion", "manual"]


def needs(program):
    return unittest.skipUnless(shutil.which(program), f"needs {program}, which is not here")


class BashCompletion(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        cls.script = cls.folder / "llmprof.bash"
        cls.script.write_text(run("completion", "bash").stdout, encoding="utf-8")
        cls.files = cls.folder / "files"
        (cls.files / "captures").mkdir(parents=True)
        (cls.files / "my trace.sqlite").write_text("")

    def complete(self, *words):
        """What Tab offers after these words, the last of which is incomplete."""
        program = (
            f"source {shlex.quote(str(self.script))}\n"
            f"COMP_WORDS=({shlex.join(words)})\nCOMP_CWORD={len(words) - 1}\n_llmprof\n"
            "((${#COMPREPLY[@]} == 0)) || printf '%s\\n' \"${COMPREPLY[@]}\"\n"
        )
        done = subprocess.run(
            ["bash", "--norc", "-c", program], capture_output=True, text=True, check=True, cwd=self.files
        )
        self.assertEqual(done.stderr, "")
        return sorted(done.stdout.splitlines())

    def test_it_is_valid(self):
        subprocess.run(["bash", "-n", self.script], check=True)

    @needs("shellcheck")
    def test_shellcheck_agrees(self):
        subprocess.run(["shellcheck", "-s", "bash", self.script], check=True)

    def test_commands(self):
        self.assertEqual(self.complete("llmprof", "a"), ["analyze", "arm", "artifacts"])
        offered = self.complete("llmprof", "")
        for command in SHOWN:
            self.assertIn(command, offered)
        self.assertEqual(self.complete("llmprof", "--color", "never", "doc"), ["doctor"])
        self.assertEqual(self.complete("llmprof", "--color", "=", "never", "doc"), ["doctor"])

    def test_options(self):
        self.assertEqual(self.complete("llmprof", "analyze", "--st"), ["--stage", "--steps"])
        self.assertEqual(self.complete("llmprof", "doctor", "--js"), ["--json"])
        self.assertEqual(self.complete("llmprof", "run", "x=y", "--co"), ["--color", "--config-dir"])
        self.assertEqual(self.complete("llmprof", "--v"), ["--version"])

    def test_choices(self):
        self.assertEqual(self.complete("llmprof", "run", "--mode", ""), ["deep", "light"])
        self.assertEqual(self.complete("llmprof", "doctor", "--color", "a"), ["always", "auto"])
        self.assertEqual(self.complete("llmprof", "doctor", "--color", "="), ["always", "auto", "never"])
        self.assertEqual(self.complete("llmprof", "doctor", "--color", "=", "n"), ["never"])
        self.assertEqual(self.complete("llmprof", "completion", "z"), ["zsh"])
        self.assertEqual(self.complete("llmprof", "analyze", "x", "--top", ""), [])

    def test_files_and_folders(self):
        self.assertEqual(self.complete("llmprof", "analyze", ""), ["captures", "my trace.sqlite"])
        self.assertEqual(self.complete("llmprof", "analyze", "my"), ["my trace.sqlite"])
        self.assertEqual(self.complete("llmprof", "analyze", "x", "--out", ""), ["captures"])
        self.assertEqual(self.complete("llmprof", "artifacts", ""), ["captures"])

    def test_configuration(self):
        self.assertIn("model=", self.complete("llmprof", "run", "m"))
        presets = [f"llm/{path.stem}" for path in (ROOT / "conf" / "model" / "llm").glob("*.yaml")]
        offered = self.complete("llmprof", "run", "model", "=", "llm/")
        self.assertEqual(offered, sorted(presets))
        self.assertIn("light", self.complete("llmprof", "run", "profiling/ncu", "="))

    def test_models(self):
        presets = [f"llm/{path.stem}" for path in (ROOT / "conf" / "model" / "llm").glob("*.yaml")]
        self.assertEqual(self.complete("llmprof", "analyze", "x", "--model", "llm/"), sorted(presets))
        self.assertIn("llm/qwen2_7b", self.complete("llmprof", "analyze", "x", "--model", "=", "llm/q"))
        # A user's own file is accepted too.
        self.assertIn("my trace.sqlite", self.complete("llmprof", "analyze", "x", "--model", "my"))

    def test_another_programs_words(self):
        self.assertIn("captures", self.complete("llmprof", "run", "--", "python3", ""))
        self.assertEqual(self.complete("llmprof", "run", "--", "python3", "--st"), [])
        self.assertIn("bash", self.complete("llmprof", "run", "--", "bas"))

    def test_a_real_shell_completes(self):
        done = typed_into_bash(self.script, "llmprof vers\t\n")
        self.assertRegex(done, r"llmprof \d+\.\d+\.\d+")


def typed_into_bash(script, keys, seconds=20):
    """What an interactive bash shows when these keys are typed."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.environ.update(PS1="$ ", TERM="dumb", INPUTRC="/dev/null",
                          PATH=f"{os.path.dirname(LLMPROF)}:{os.environ['PATH']}")
        os.execvp("bash", ["bash", "--norc", "--noprofile", "-i"])
    shown = b""
    try:
        os.write(terminal, f"source {shlex.quote(str(script))}; echo re''ady\n".encode())
        deadline = time.monotonic() + seconds
        sent = False
        while time.monotonic() < deadline and b"finished" not in shown.replace(b"fin''ished", b""):
            if select.select([terminal], [], [], 0.2)[0]:
                try:
                    shown += os.read(terminal, 65536)
                except OSError:
                    break
            if not sent and b"ready" in shown:
                sent = True
                shown = b""
                os.write(terminal, keys.encode())
                os.write(terminal, b"echo fin''ished\nexit\n")
    finally:
        os.close(terminal)
        os.waitpid(pid, 0)
    return shown.decode("utf-8", "replace")


class ZshCompletion(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.script = run("completion", "zsh").stdout

    def test_it_has_every_command_and_choice(self):
        self.assertTrue(self.script.startswith("#compdef llmprof\n"))
        for command in SHOWN:
            self.assertIn(f"\n    '{command}:", self.script)
            self.assertIn(f"\n    {command})\n", self.script)
        self.assertIn(":WHEN:(auto always never)'", self.script)
        self.assertIn("'model=llm/llama_1b'", self.script)
        self.assertRegex(self.script, r"_alternative 'model:model:\(.*\bllm/llama_1b\b.*\)' 'files:file:_files'")
        self.assertIn(":MODEL:_llmprof_model'", self.script)
        # Brackets inside a description would end it.
        self.assertIn(r"\[tmp/stage2/<run id>\]", self.script)

    @needs("zsh")
    def test_zsh_takes_it(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "_llmprof"
            path.write_text(self.script, encoding="utf-8")
            subprocess.run(["zsh", "-n", path], check=True)
            program = "autoload -Uz compinit && compinit -u -D && whence -w _llmprof"
            done = subprocess.run(
                ["zsh", "-f", "-c", f"fpath=({shlex.quote(folder)} $fpath); {program}"],
                capture_output=True, text=True, check=True,
            )
            self.assertEqual(done.stdout, "_llmprof: function\n")


class Manual(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.page = pathlib.Path(folder.name) / "llmprof.1"
        cls.page.write_text(run("manual").stdout, encoding="utf-8")

    @needs("groff")
    def test_groff_has_no_complaint(self):
        done = subprocess.run(
            ["groff", "-man", "-ww", "-z", "-Tutf8", self.page], capture_output=True, text=True, check=True
        )
        self.assertEqual(done.stderr, "")

    @needs("mandoc")
    def test_mandoc_has_no_complaint(self):
        done = subprocess.run(
            ["mandoc", "-T", "lint", "-W", "warning", self.page], capture_output=True, text=True, check=False
        )
        faults = [line for line in done.stdout.splitlines() if "missing date" not in line]
        self.assertEqual(faults, [])

    @needs("man")
    def test_man_shows_every_command_and_option(self):
        done = subprocess.run(
            ["man", "-l", self.page], capture_output=True, text=True, check=True,
            env={**os.environ, "MANWIDTH": "100", "MANPAGER": "cat"},
        )
        self.assertEqual(done.stderr, "")
        for words in ("NAME", "SYNOPSIS", "EXIT STATUS", "ENVIRONMENT", "NO_COLOR", "--overhead-budget P%"):
            self.assertIn(words, done.stdout)
        for command in SHOWN:
            self.assertIn(f"llmprof {command}", done.stdout)
            for option in options_of(command):
                self.assertIn(option, done.stdout)


class Packaging(unittest.TestCase):
    """A bundle for another processor is made from files, since its llmprof does not run here."""

    def test_the_files_are_those_that_the_program_prints(self):
        share = ROOT / "packaging" / "share"
        for name, command in (
            ("bash-completion/completions/llmprof", ["completion", "bash"]),
            ("zsh/site-functions/_llmprof", ["completion", "zsh"]),
            ("man/man1/llmprof.1", ["manual"]),
        ):
            text = (share / name).read_text(encoding="utf-8")
            message = f"packaging/share/{name}: write it again with scripts/write_share.sh"
            self.assertEqual(text, run(*command).stdout, message)


def options_of(command):
    text = run(command, "--help").stdout
    return [line.split()[0] for line in text.splitlines() if line.startswith("  --")]


if __name__ == "__main__":
    unittest.main()
