"""`llmprof report`: all reports again, from profile.json alone. They equal those of `analyze` byte for byte."""
import json
import pathlib
import re
import shlex
import shutil
import tempfile
import unittest

from program import DATA, ROOT, run

CASES = ROOT / "tests" / "cases"
REPORTS = ("report.md", "stakeholder_summary.md", "kernels.md", "operators.md")
BUNDLE = {*REPORTS, "profile.json"}
PLOTS = {f"plots/{name}.svg" for name in ("budget", "requests", "roofline", "steps", "top_kernels")}
PLOTS_OF_TWO_FILES = {"plots/request_tails.svg"}  # of a capture with its requests
EXIT_USAGE, EXIT_INPUT = 2, 3
# Folders of tests/data that must be among the fixtures, so that this test never becomes empty.
WITH_CAPTURES = {
    "collector_log", "cpu-llm", "h200-collector", "h200-decoder", "h200-runs", "h200-serving",
    "kineto", "ncu", "nsys_csv", "nsys_sqlite",
}


def case_arguments():
    """name -> arguments of `llmprof` for accepted cases, as tests/run_cases.py runs them."""
    arguments = {}
    for case in sorted(CASES.iterdir()):
        if not (case / "expected" / "profile.json").exists():
            continue
        words = shlex.split((case / "command").read_text(encoding="utf-8"))
        words = [word.replace("{case}", str(case.relative_to(ROOT))) for word in words]
        arguments[f"case {case.name}"] = words
    return arguments


def fixture_arguments():
    """name -> arguments, for every file and run folder under tests/data; some are not captures."""
    runs = [path.parent for path in DATA.rglob("inputs.yaml")]
    files = [path for path in DATA.rglob("*") if path.is_file()]
    return {str(path.relative_to(DATA)): ["analyze", str(path.relative_to(ROOT))]
            for path in sorted(runs + files)}


def top_of(arguments):
    """The --top option in the arguments, to be given to `report` as well."""
    if "--top" not in arguments:
        return []
    place = arguments.index("--top")
    return arguments[place : place + 2]


def contents(folder):
    """relative path -> bytes of all files except the page, which test_page.py compares: its timeline needs the
    captures."""
    return {str(path.relative_to(folder)): path.read_bytes()
            for path in sorted(folder.rglob("*")) if path.is_file() and path.name != "report.html"}


class Folder(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name)

    def analyze(self, *arguments, out="bundle"):
        done = run("analyze", *arguments, "--out", self.folder / out, cwd=ROOT)
        self.assertEqual(done.returncode, 0, done.stderr)
        return self.folder / out

    def report(self, *arguments):
        done = run("report", *arguments, cwd=ROOT)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done


class SameReports(Folder):
    def setUp(self):
        super().setUp()
        self.drawn = set()

    def check(self, name, arguments, bundle):
        self.assertLessEqual(BUNDLE, set(contents(bundle)), name)
        lone = self.folder / "lone"
        again = self.folder / "again"
        for folder in (lone, again):
            shutil.rmtree(folder, ignore_errors=True)
        lone.mkdir()
        shutil.copy(bundle / "profile.json", lone)
        self.report(lone / "profile.json", "--out", again, *top_of(arguments))
        drawn = (PLOTS | PLOTS_OF_TWO_FILES) & set(contents(bundle))
        self.drawn |= drawn
        expected = {file: (bundle / file).read_bytes() for file in BUNDLE | drawn}
        written = contents(again)
        for file in sorted(BUNDLE | PLOTS | set(written)):
            self.assertEqual(written.get(file), expected.get(file), f"{name}: {file}")
        self.assertEqual(set(contents(lone)), {"profile.json"})

    def test_of_every_case(self):
        cases = case_arguments()
        self.assertGreaterEqual(len(cases), 7)
        for name, arguments in cases.items():
            with self.subTest(name):
                bundle = self.folder / name
                done = run(*arguments, "--out", bundle, cwd=ROOT)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.check(name, arguments, bundle)
        self.assertEqual(PLOTS_OF_TWO_FILES - self.drawn, set(), "plots that no case has")

    def test_of_every_fixture_that_analyze_accepts(self):
        accepted = set()
        for name, arguments in fixture_arguments().items():
            bundle = self.folder / "bundle"
            shutil.rmtree(bundle, ignore_errors=True)
            run(*arguments, "--out", bundle, cwd=ROOT)
            if not (bundle / "profile.json").exists():
                continue
            accepted.add(pathlib.PurePath(name).parts[0])
            with self.subTest(name):
                self.check(name, arguments, bundle)
        self.assertEqual(WITH_CAPTURES - accepted, set())
        self.assertEqual(PLOTS - self.drawn, set(), "plots that no fixture has")

    def test_of_a_selection(self):
        arguments = [str(DATA / "h200-decoder" / "nsys.sqlite"), "--stage", "decode", "--steps", "0:2"]
        self.check("selection", arguments, self.analyze(*arguments))

    def test_of_a_profile_from_an_earlier_llmprof(self):
        """Its profile has no `shown` values: reports derive them from the rest, and do not change the file."""
        for capture in ("h200-runs/llama_1b", "h200-serving/nsys.sqlite", "h200-untraced"):
            with self.subTest(capture):
                bundle = self.analyze(DATA / capture, out=capture)
                profile = json.loads((bundle / "profile.json").read_text(encoding="utf-8"))
                for holder in (profile["token_times"], *profile["stages"]):
                    del holder["shown"]
                earlier = self.folder / "earlier.json"
                earlier.write_text(json.dumps(profile), encoding="utf-8")
                again = self.folder / "again" / capture
                self.report(earlier, "--out", again)
                for report in (*REPORTS, *(PLOTS & set(contents(bundle)))):
                    self.assertEqual((again / report).read_bytes(), (bundle / report).read_bytes(), report)
                self.assertEqual((again / "profile.json").read_bytes(), earlier.read_bytes())


class InPlace(Folder):
    def setUp(self):
        super().setUp()
        self.bundle = self.analyze(DATA / "nsys_sqlite" / "eager.sqlite")
        self.before = contents(self.bundle)

    def disturb(self):
        """A user's own files, an edited report, a deleted one."""
        (self.bundle / "notes.md").write_text("mine\n", encoding="utf-8")
        (self.bundle / "nsys").mkdir()
        (self.bundle / "nsys" / "report.md").write_text("not yours\n", encoding="utf-8")
        (self.bundle / "report.md").write_text("edited\n", encoding="utf-8")
        (self.bundle / "plots" / "mine.svg").write_text("mine\n", encoding="utf-8")
        (self.bundle / "plots" / "budget.svg").unlink()
        (self.bundle / "operators.md").unlink()

    def check_only_reports_changed(self, given):
        self.disturb()
        untouched = ("notes.md", "nsys/report.md", "plots/mine.svg", "profile.json")
        stamps = {file: (self.bundle / file).stat().st_mtime_ns for file in untouched}
        self.report(given)
        expected = {**self.before, "notes.md": b"mine\n", "nsys/report.md": b"not yours\n",
                    "plots/mine.svg": b"mine\n"}
        self.assertEqual(contents(self.bundle), expected)
        self.assertEqual({file: (self.bundle / file).stat().st_mtime_ns for file in untouched}, stamps)

    def test_a_run_folder_gets_its_reports_again_and_nothing_else(self):
        self.check_only_reports_changed(self.bundle)

    def test_reports_are_replaced_next_to_the_named_file(self):
        self.check_only_reports_changed(self.bundle / "profile.json")

    def test_unknown_fields_are_accepted_and_kept(self):
        path = self.bundle / "profile.json"
        profile = json.loads(path.read_text(encoding="utf-8"))
        extra = {"of": ["a later version", 1, None]}
        for holder in (profile, profile["totals"], profile["stages"][0], profile["kernels"][-1]):
            holder["added_later"] = extra
        changed = json.dumps(profile).encode()
        path.write_bytes(changed)
        self.report(path)
        self.assertEqual(contents(self.bundle), {**self.before, "profile.json": changed})
        out = self.folder / "out"
        self.report(path, "--out", out)
        self.assertEqual({file: (out / file).read_bytes() for file in REPORTS},
                         {file: self.before[file] for file in REPORTS})


class Top(Folder):
    @staticmethod
    def kernels(folder):
        lines = (folder / "kernels.md").read_text(encoding="utf-8").splitlines()
        start = lines.index(
            "| kernel_name | total_ms | calls | mean_ms | device | share | class | short_name |")
        rows = 0
        while lines[start + 2 + rows].startswith("|"):
            rows += 1
        return rows

    def test_limits_only_kernels_md(self):
        capture = DATA / "h200-decoder" / "nsys.sqlite"
        bundle = self.analyze(capture)
        limited = self.analyze(capture, "--top", 3, out="limited")
        self.report(bundle, "--out", self.folder / "out", "--top", 3)
        self.assertGreater(self.kernels(bundle), 3)
        self.assertEqual(self.kernels(self.folder / "out"), 3)
        self.assertEqual(contents(self.folder / "out"), contents(limited))

    def test_is_a_whole_number_above_0(self):
        bundle = self.analyze(DATA / "nsys_sqlite" / "eager.sqlite")
        for wrong in ("0", "-1", "many"):
            self.assertEqual(run("report", bundle, "--top", wrong).returncode, EXIT_USAGE, wrong)


class RefusedProfiles(Folder):
    @classmethod
    def setUpClass(cls):
        with tempfile.TemporaryDirectory() as folder:
            out = pathlib.Path(folder) / "bundle"
            done = run("analyze", DATA / "nsys_sqlite" / "eager.sqlite", "--out", out)
            if done.returncode != 0:
                raise AssertionError(done.stderr)
            cls.profile = (out / "profile.json").read_text(encoding="utf-8")

    def refuse(self, given, *expected):
        """Exit 3, nothing written; the message names the file and contains all expected words."""
        before = contents(self.folder)
        done = run("report", given)
        self.assertEqual(done.returncode, EXIT_INPUT, done.stderr)
        self.assertEqual(done.stdout, "")
        self.assertTrue(done.stderr.startswith("llmprof: "), done.stderr)
        self.assertIn(str(given), done.stderr)
        for pattern in expected:
            self.assertRegex(done.stderr, pattern)
        self.assertEqual(contents(self.folder), before)

    def refuse_text(self, text, *expected):
        path = self.folder / "profile.json"
        path.write_text(text, encoding="utf-8")
        self.refuse(path, *expected)

    def refuse_changed(self, change, *expected):
        profile = json.loads(self.profile)
        change(profile)
        self.refuse_text(json.dumps(profile), *expected)

    REMEDY = "llmprof analyze"
    PLACE = r"\b(?P<kind>line|byte|offset|position) (?P<number>\d+)"

    def test_a_missing_file(self):
        self.refuse(self.folder / "nowhere.json", "No such file or directory", self.REMEDY)

    def test_a_folder_without_profile_json(self):
        self.refuse(self.folder, "profile.json", self.REMEDY)

    def test_a_truncated_file(self):
        for share in (0.1, 0.5, 0.99):
            with self.subTest(share):
                self.refuse_text(self.profile[: int(len(self.profile) * share)], self.PLACE, self.REMEDY)

    def test_a_damaged_place_is_named(self):
        lines = self.profile.splitlines(keepends=True)
        middle = len(lines) // 2
        start = len("".join(lines[:middle]).encode())
        lines[middle] = "}oops: " + lines[middle]
        self.refuse_text("".join(lines), self.PLACE, self.REMEDY)
        message = run("report", self.folder / "profile.json").stderr
        found = re.search(self.PLACE, message)
        place = int(found["number"])
        if found["kind"] == "line":
            self.assertEqual(place, middle + 1, message)
        else:
            self.assertIn(place, range(start, start + len(lines[middle].encode()) + 1), message)

    def test_an_empty_file(self):
        self.refuse_text("", r"empty|end of|\bbyte 1\b", self.REMEDY)

    def test_json_that_is_not_a_profile(self):
        for text in ("{}", "[]", "3", '{"traceEvents": []}', '{"schema_version": "one"}'):
            with self.subTest(text):
                self.refuse_text(text, "profile", self.REMEDY)

    def test_a_capture(self):
        path = self.folder / "capture.json"
        shutil.copy(DATA / "kineto" / "h200_graph_small.json", path)
        self.refuse(path, "profile", self.REMEDY)

    def test_a_value_of_the_wrong_type_is_named_with_its_path(self):
        def change(profile):
            profile["kernels"][1]["total_ms"] = "fast"

        self.refuse_changed(change, r"kernels\W*1\W*total_ms", self.REMEDY)

    def test_a_newer_schema(self):
        def change(profile):
            profile["schema_version"] = 999

        self.refuse_changed(change, "schema_version", r"\b999\b", r"(?i)\b(newer|update|upgrade)\b")


if __name__ == "__main__":
    unittest.main()
