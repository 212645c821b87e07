"""llmprof's output on a real (pseudo-)terminal: widths, colors, progress, messages."""
import json
import os
import pathlib
import subprocess
import tempfile
import unittest

from program import DATA, LLMPROF, run
from terminal import columns_of, run_on_terminal, without

CAPTURE = DATA / "nsys_sqlite" / "eager.sqlite"
COMMANDS = ["run", "analyze", "report", "artifacts", "doctor", "arm", "disarm", "version"]


class TerminalCase(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def analyze(self, *options, **terminal):
        return run_on_terminal(
            "analyze", CAPTURE, "--out", "out", "--force", *options, cwd=self.folder, **terminal
        )

    def assert_fits(self, done, columns):
        for line in done.lines():
            one_word = len(line.split()) <= 1  # a path or a name that cannot be broken
            self.assertTrue(one_word or columns_of(line) <= columns, f"{columns}: {line!r}")


class Widths(TerminalCase):
    def test_tables_and_text_fit_every_terminal(self):
        for columns in (50, 80, 120, 200):
            done = self.analyze(columns=columns)
            self.assertEqual(done.returncode, 0, done.plain)
            self.assert_fits(done, columns)
            self.assertIn("total_ms", done.plain)
            self.assertIn("GEMM 256x8", done.plain)

    def test_a_narrow_terminal_names_what_a_wider_one_shows(self):
        narrow = self.analyze(columns=50).plain
        self.assertRegex(narrow, r"A wider terminal shows: .*mean_ms")
        self.assertNotRegex(narrow, r"total_ms .*mean_ms")
        wide = self.analyze(columns=200).plain
        self.assertNotIn("wider terminal", wide)
        self.assertRegex(wide, r"total_ms .*mean_ms")
        self.assertNotIn("…", wide)

    def test_columns_overrides_the_terminal_and_a_pipe_is_complete(self):
        narrow = self.analyze(columns=200, env={"COLUMNS": "60"})
        self.assert_fits(narrow, 60)
        environment = without(os.environ, "COLUMNS")
        command = [LLMPROF, "analyze", str(CAPTURE), "--out", str(self.folder / "pipe")]
        piped = subprocess.run(command, capture_output=True, text=True, env=environment, check=True)
        self.assertNotIn("…", piped.stdout)
        self.assertGreater(max(map(len, piped.stdout.splitlines())), 120)
        piped = subprocess.run(
            [*command, "--force"], capture_output=True, text=True, check=True,
            env={**environment, "COLUMNS": "70"},
        )
        lines = [line for line in piped.stdout.splitlines() if len(line.split()) > 1]
        self.assertLessEqual(max(map(columns_of, lines)), 70)

    def test_help_and_doctor_fit(self):
        for columns in (50, 80):
            doctor = run_on_terminal("doctor", columns=columns)
            self.assert_fits(doctor, columns)
            for command in COMMANDS:
                done = run_on_terminal(command, "--help", columns=columns)
                self.assertEqual(done.returncode, 0)
                for line in done.lines():
                    if "llmprof " not in line:  # commands stay on one line, to be copied
                        self.assertLessEqual(columns_of(line), columns, line)

    def test_names_that_are_not_ascii_keep_their_columns(self):
        for name in ("kürzer.txt", "漢字の名前.txt"):
            (self.folder / name).write_text("x")
        listed = run_on_terminal("artifacts", self.folder).plain
        self.assertIn("漢字の名前.txt", listed)
        ends = {columns_of(line[: line.rindex(" 1 ") + 2]) for line in listed.split("\n") if " 1 " in line}
        self.assertEqual(len(ends), 1, listed)


class Colors(TerminalCase):
    def test_on_a_terminal_unless_disabled(self):
        self.assertIn("\x1b[1m", self.analyze().shown)
        for env in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
            self.assertNotIn("\x1b", self.analyze(env=env).shown, env)
        self.assertNotIn("\x1b", self.analyze("--color", "never").shown)
        self.assertIn("\x1b[1m", self.analyze("--color", "always", env={"NO_COLOR": "1"}).shown)

    def test_a_pipe_has_none_unless_asked(self):
        for option, expected in (("auto", False), ("never", False), ("always", True)):
            done = run("doctor", "--color", option)
            self.assertEqual("\x1b" in done.stdout, expected, option)

    def test_colors_change_no_word(self):
        colored = self.analyze("--color", "always").plain
        self.assertEqual(colored, self.analyze("--color", "never").plain)

    def test_json_is_never_colored(self):
        done = run("analyze", CAPTURE, "--out", self.folder / "json", "--json", "--color", "always")
        json.loads(done.stdout)


class Messages(TerminalCase):
    def test_mistyped_words_get_a_suggestion(self):
        for words, suggestion in (
            (["analyse"], "unknown command 'analyse'; did you mean 'analyze'?"),
            (["analyze", "x", "--sage", "decode"], "did you mean '--stage'?"),
            (["run", "--colour=never"], "did you mean '--color'?"),
            (["doctor", "--color", "nevr"], "did you mean 'never'?"),
            (["run", "--dry-run", "run.mod=light"], "run.mode"),
            (["run", "--dry-run", "model=llm/lama_1b"], "llama_1b"),
        ):
            done = run(*words)
            self.assertEqual(done.returncode, 2, words)
            self.assertIn(suggestion, done.stderr)
            self.assertEqual(done.stdout, "")

    def test_every_message_starts_with_the_program(self):
        unreadable = self.folder / "empty.csv"
        unreadable.write_text("")
        several_lines = self.folder / "ranges.csv"
        several_lines.write_bytes((DATA / "h200-decoder" / "nsys_nvtx_sum.csv").read_bytes())
        for words in (
            [], ["analyse"], ["analyze"], ["analyze", "no/such/file"], ["analyze", unreadable],
            ["analyze", several_lines], ["analyze", "x", "--top", "zero"], ["arm", "1"],
            ["artifacts", "none"], ["report", "none"], ["run", "nonsense"],
            ["run", "--", "/no/such/program"],
        ):
            done = run(*words, cwd=self.folder)
            self.assertNotEqual(done.returncode, 0, words)
            lines = done.stderr.splitlines()
            self.assertTrue(lines, words)
            self.assertTrue(lines[0].startswith("llmprof: "), done.stderr)
            for line in lines[1:]:
                self.assertTrue(line.startswith(("llmprof: ", "  ")) or not line, done.stderr)

    def test_a_message_is_wrapped_after_its_prefix(self):
        done = run_on_terminal("analyze", DATA.parent / "run_cases.py", columns=60, cwd=self.folder)
        self.assertEqual(done.returncode, 3)
        self.assert_fits(done, 60)
        self.assertTrue(done.plain.startswith("llmprof: "))
        self.assertRegex(done.plain, r"\n  \S")

    def test_timings_go_to_stderr(self):
        done = run("analyze", CAPTURE, "--out", self.folder / "timed", "--timings", "--json")
        json.loads(done.stdout)
        self.assertTrue(done.stderr.startswith("llmprof: how long"), done.stderr)
        self.assertRegex(done.stderr, r"(?m)^  part +ms +skipped because$")
        self.assertRegex(done.stderr, r"(?m)^ +analysis: stages +\d+\.\d")
        self.assertRegex(done.stderr, r"(?m)^ +analysis: profiled launches +no launches of")
        self.assertRegex(done.stderr, r"(?m)^ +reading .*eager.sqlite +\d+\.\d")
        self.assertRegex(done.stderr, r"(?m)^ +writing the bundle +\d+\.\d")


class ProgressLine(TerminalCase):
    def test_a_long_run_names_its_recording_and_erases_the_line(self):
        done = run_on_terminal(
            "run", "pipeline.collector.enable=true", "pipeline.ncu.enable=false", "--out", "run",
            "--", "sleep", "1.6", columns=70, cwd=self.folder,
        )
        drawings = done.drawings()
        recordings = [line for line in drawings if line.startswith("llmprof: recording 1 of ")]
        self.assertTrue(recordings, done.raw)
        self.assertIn("control run", recordings[0])
        self.assertRegex(recordings[-1], r", \d+ s$")
        self.assertLessEqual(max(map(columns_of, drawings)), 69)
        self.assertNotIn("llmprof: recording", done.plain)

    def test_at_most_ten_drawings_per_second_and_none_in_the_first(self):
        long = run_on_terminal(
            "run", "pipeline.ncu.enable=false", "--out", "run", "--", "sleep", "1.6", cwd=self.folder
        )
        self.assertGreater(len(long.drawings()), 2)
        for done in (long, self.analyze()):
            limit = 0 if done.seconds < 1 else 1 + 10 * (done.seconds - 1)
            self.assertLessEqual(len(done.drawings()), limit)

    def test_nothing_if_a_line_cannot_be_redrawn(self):
        command = ["run", "pipeline.ncu.enable=false", "--out", "run", "--force", "--", "sleep", "1.3"]
        piped = run(*command, cwd=self.folder)
        self.assertNotIn("llmprof: recording", piped.stderr)
        dumb = run_on_terminal(*command, cwd=self.folder, env={"TERM": "dumb"})
        self.assertNotIn("llmprof: recording", dumb.plain)


if __name__ == "__main__":
    unittest.main()
