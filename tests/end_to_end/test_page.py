"""report.html: its blocks match plain SQL over the capture and profile.json; names are hostile input; the overview is
text without JavaScript; missing data is reported."""
import collections
import json
import pathlib
import random
import re
import shutil
import sqlite3
import stat
import tempfile
import unittest

from page_file import Page
from program import DATA, ROOT, run

EAGER = DATA / "h200-decoder" / "nsys.sqlite"
HOSTILE = "<img src=x onerror=alert(1)></script><script>alert(2)</script>"


def page_is_built():
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "out"
        run("analyze", DATA / "nsys_sqlite" / "eager.sqlite", "--out", out)
        return (out / "report.html").exists()


class Folder(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name)

    def analyze(self, *arguments, out="out"):
        bundle = self.folder / out
        done = run("analyze", *arguments, "--out", bundle, cwd=ROOT)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(f"Page: {bundle / 'report.html'}\n", done.stdout)
        return bundle


def setUpModule():
    # A machine without Node.js and npm builds a program without the page, which is not a failure here.
    if not page_is_built():
        raise unittest.SkipTest("this llmprof was built without Node.js and npm: it has no page")


class Shell(Folder):
    def setUp(self):
        super().setUp()
        self.bundle = self.analyze(EAGER, "--model", "llm/qwen2_7b")
        self.page = Page(self.bundle / "report.html")
        self.profile = json.loads((self.bundle / "profile.json").read_text(encoding="utf-8"))

    def test_profile_is_the_file_itself(self):
        self.assertEqual(self.page.profile_text, (self.bundle / "profile.json").read_text(encoding="utf-8"))

    def test_policy_forbids_everything_but_the_page(self):
        self.assertEqual(
            self.page.policy(),
            f"default-src 'none'; script-src 'sha256-{self.page.script_hash()}'; style-src 'unsafe-inline'; "
            "img-src data:; base-uri 'none'; form-action 'none'")

    def test_it_reaches_nothing_outside(self):
        for tag, attributes in self.page.parsed().tags:
            for name, value in attributes.items():
                self.assertFalse(name.startswith("on"), (tag, name))
                self.assertNotIn(name, ("src", "href", "action", "style"), (tag, value))
        self.assertEqual([tag for tag, _ in self.page.parsed().tags if tag in ("link", "iframe", "img", "a")], [])

    def test_the_overview_needs_no_javascript(self):
        text = " ".join(self.page.parsed().overview.split())
        profile = self.profile
        self.assertIn("NVIDIA H200", text)
        for stage in profile["stages"]:
            self.assertIn(f"{stage['wall_ms']['mean']:.3f}", text)
            for part in stage["budget"]:
                self.assertIn(f"{part['ms']:.3f}", text, part["part"])
            for ratio in (stage["mfu"]["wall"], stage["mbu"]["wall"]):
                if ratio is not None:
                    self.assertIn(f"{100 * ratio:.1f} %", text)
        times = profile["token_times"]
        self.assertIn(f"{times['time_to_first_token_ms']['mean']:.3f}", text)
        self.assertIn(f"{times['time_per_output_token_ms']['mean']:.3f}", text)
        self.assertIn(f"{times['tokens_per_s_per_sequence']:.1f}", text)
        self.assertIn(f"{100 * profile['coverage']['work_share']:.1f} %", text)
        for finding in profile["findings"][:5]:
            self.assertIn(" ".join(finding["title"].split()), text)
            if finding["recoverable_ms"] is not None:
                self.assertIn(f"{finding['recoverable_ms']:.3f}", text)

    def test_view_holds_what_reports_show(self):
        view, profile = self.page.view, self.profile
        # Only a traced run: recorded times are shown.
        for stage in profile["stages"]:
            self.assertEqual(stage["shown"]["wall_ms"], {**stage["wall_ms"], "typical": stage["shown"]["wall_ms"]["typical"]})
            self.assertEqual(stage["shown"]["idle_ms"], stage["idle_ms"])
            self.assertFalse(stage["shown"]["without_tracing"])
        times = profile["token_times"]
        for name in ("tokens_per_s", "tokens_per_s_per_sequence", "request_ms", "gpu_busy_share_of_wall"):
            self.assertEqual(times["shown"][name], times[name], name)
        report = (self.bundle / "report.md").read_text(encoding="utf-8")
        for line in view["headlines"]:
            if line["unit"] == "ms":
                self.assertIn(f"{line['name']} | {line['text']} ms |", report)
        self.assertIn("time per output token", [line["name"] for line in view["headlines"]])

    def test_view_words_every_class_and_part(self):
        classes = [each["id"] for each in self.page.view["classes"]]
        self.assertEqual(len(set(classes)), 16)
        for kernel in self.profile["kernels"]:
            self.assertIn(kernel["class"], classes)
        for stage in self.profile["stages"]:
            for part in stage["budget"]:
                self.assertIn(part["part"], self.page.view["parts"])
        for each in [*self.page.view["classes"], *self.page.view["parts"].values()]:
            for shade in ("light", "dark"):
                self.assertRegex(each["color"][shade], "^#[0-9a-f]{6}$")
        self.assertIsNone(self.page.view["timeline_missing"])


class AgainstSql(Folder):
    """The timeline's rows equal the tables of the export, to the nanosecond."""

    @classmethod
    def setUpClass(cls):
        cls.holder = tempfile.TemporaryDirectory()
        bundle = pathlib.Path(cls.holder.name) / "out"
        done = run("analyze", EAGER, "--out", bundle)
        assert done.returncode == 0, done.stderr
        cls.page = Page(bundle / "report.html")
        cls.profile = json.loads((bundle / "profile.json").read_text(encoding="utf-8"))
        cls.sql = sqlite3.connect(f"file:{EAGER}?mode=ro&immutable=1", uri=True)
        cls.strings = dict(cls.sql.execute("SELECT id, value FROM StringIds"))
        cls.slices = cls.page.rows("slices")
        cls.calls = cls.page.rows("calls")

    @classmethod
    def tearDownClass(cls):
        cls.sql.close()
        cls.holder.cleanup()

    def stream(self, row):
        return int(re.search(r"stream(\d+)", row["track"]["id"])[1])

    def test_kernels(self):
        found = []
        for row in self.slices:
            if row["kind"] != 0:
                continue
            entry = self.page.header["kernels"][row["kernel"]]
            shape = self.page.header["shapes"][row["shape"] - 1]
            start = self.page.time(row["start"])
            found.append((start, start + row["duration"], self.page.name(entry["name"]), self.stream(row),
                          *shape))
        expected = [
            (start, end, self.strings[name], stream, *shape)
            for start, end, name, stream, *shape in self.sql.execute(
                'SELECT start, "end", demangledName, streamId, gridX, gridY, gridZ, blockX, blockY, blockZ, '
                "registersPerThread, staticSharedMemory + dynamicSharedMemory FROM CUPTI_ACTIVITY_KIND_KERNEL")]
        self.assertGreater(len(expected), 1000)
        self.assertEqual(sorted(found), sorted(expected))

    def test_copies_and_fills(self):
        for kind, table in ((1, "MEMCPY"), (2, "MEMSET")):
            found = [(self.page.time(row["start"]), row["duration"], row["bytes"], self.stream(row))
                     for row in self.slices if row["kind"] == kind]
            expected = self.sql.execute(
                f'SELECT start, "end" - start, bytes, streamId FROM CUPTI_ACTIVITY_KIND_{table}').fetchall()
            self.assertEqual(sorted(found), sorted(expected), table)

    def test_calls(self):
        found = [(self.page.time(row["start"]), row["duration"], self.page.name(row["name"]))
                 for row in self.calls]
        expected = [(start, duration, self.strings[name]) for start, duration, name in self.sql.execute(
            'SELECT start, "end" - start, nameId FROM CUPTI_ACTIVITY_KIND_RUNTIME')]
        self.assertEqual(sorted(found), sorted(expected))
        kinds = {self.page.name(row["name"]): row["kind"] for row in self.calls}
        launches = [kind for name, kind in kinds.items() if name.startswith("cudaLaunchKernel")]
        self.assertEqual(set(launches), {1})

    def test_every_kernel_is_linked_to_its_launch(self):
        launched = {start: call for start, call in self.sql.execute(
            "SELECT k.start, r.start FROM CUPTI_ACTIVITY_KIND_KERNEL k JOIN CUPTI_ACTIVITY_KIND_RUNTIME r "
            "ON k.correlationId = r.correlationId AND k.globalPid = (r.globalTid & ~0xFFFFFF)")}
        self.assertGreater(len(launched), 1000)
        linked = {self.page.time(row["start"]): self.page.time(self.calls[row["call"] - 1]["start"])
                  for row in self.slices if row["kind"] == 0 and row["call"] > 0}
        self.assertEqual(linked, launched)

    def test_ranges(self):
        found = collections.Counter((self.page.time(row["start"]), row["duration"], self.page.name(row["name"]))
                                    for row in self.page.rows("ranges"))
        expected = collections.Counter(
            (start, end - start, text if text is not None else self.strings[text_id])
            for start, end, text, text_id in self.sql.execute(
                'SELECT start, "end", text, textId FROM NVTX_EVENTS WHERE eventType IN (59, 60) '
                'AND "end" IS NOT NULL'))
        self.assertGreater(len(expected), 10)
        self.assertEqual(found, expected)

    def test_rows_of_a_track_are_in_order_and_each_has_one_track(self):
        for table, described in self.page.header["tables"].items():
            if table == "pyramid":
                continue
            covered = [0] * described["rows"]
            times = self.page.column(table, "time" if table == "samples" else "start")
            for track in self.page.header["tracks"]:
                if track["table"] != table:
                    continue
                span = range(track["first"], track["first"] + track["count"])
                for row in span:
                    covered[row] += 1
                self.assertEqual([times[row] for row in span], sorted(times[row] for row in span))
            self.assertEqual(set(covered) - {1}, set(), table)

    def test_stages_and_steps_are_those_of_the_profile(self):
        rows = self.page.rows("stages")
        stages = {stage["name"]: stage for stage in self.profile["stages"]}
        self.assertEqual(len(rows), sum(stage["instance_count"] for stage in stages.values()))
        for row in rows:
            instance = stages[self.page.name(row["name"])]["instances"][row["index"]]
            self.assertEqual(self.page.time(row["start"]), instance["start_ns"])
            self.assertEqual(row["duration"], round(instance["wall_ms"] * 1e6))
            self.assertEqual(row["flags"] & 1, int(instance["warmup"]))
        steps = self.page.rows("steps")
        self.assertEqual(len(steps), len(self.profile["steps"]))
        for row in steps:
            step = self.profile["steps"][row["index"]]
            self.assertEqual(row["duration"], round(step["wall_ms"] * 1e6))
            self.assertEqual(self.page.name(row["name"]), step["kind"])

    def test_work_belongs_to_the_stages_and_steps_that_the_profile_counts(self):
        stages, steps = self.page.rows("stages"), self.page.rows("steps")
        of_stage, of_step = collections.Counter(), collections.Counter()
        for row in self.slices:
            if row["kind"] == 0 and row["instance"] > 0:
                owner = stages[row["instance"] - 1]
                of_stage[self.page.name(owner["name"]), owner["index"]] += 1
            if row["kind"] == 0 and row["step"] > 0:
                of_step[steps[row["step"] - 1]["index"]] += 1
        self.assertEqual(of_stage, collections.Counter({
            (stage["name"], place): instance["kernel_count"] for stage in self.profile["stages"]
            for place, instance in enumerate(stage["instances"]) if instance["kernel_count"]}))
        self.assertEqual(of_step, collections.Counter({
            place: step["kernel_count"] for place, step in enumerate(self.profile["steps"])
            if step["kernel_count"]}))

    def test_layers_hold_what_the_profile_sums(self):
        stages = self.page.rows("stages")
        sums = collections.Counter()
        for row in self.slices:
            if row["layer"] > 0:
                stage = self.page.name(stages[row["instance"] - 1]["name"])
                sums[stage, self.page.name(row["layer"] - 1)] += row["duration"]
        expected = {(layer["stage"], layer["name"]): layer["total_ns"] for layer in self.profile["layers"]
                    if not layer["part"] and not layer["outside"]}
        self.assertGreater(len(expected), 4)
        self.assertEqual(dict(sums), expected)

    def test_work_after_idle_time_has_its_cause(self):
        """Idle: no stream of the GPU runs anything. The number of occurrences of each cause matches the profile."""
        header, counted, by_stage, until = self.page.header, collections.Counter(), collections.defaultdict(list), None
        stages = self.page.rows("stages")
        for row in sorted(self.page.rows("slices"), key=lambda each: each["start"]):
            idle = until is not None and row["start"] > until
            self.assertEqual(row["gap"] > 0, idle, row)
            self.assertEqual(row["track"]["device"], "cuda:0")
            if idle:
                cause = header["causes"][row["gap"] - 1]
                counted[cause] += 1
                owner = stages[row["instance"] - 1] if row["instance"] else None
                if owner and not owner["flags"] & 1 and until >= owner["start"]:
                    by_stage[self.page.name(owner["name"]), cause].append((row["start"] - until, until))
            until = max(until or 0, row["start"] + row["duration"])
        [device] = self.profile["device_time"]
        self.assertEqual(counted, {cause["cause"]: cause["gaps"] for cause in device["idle_causes"] if cause["gaps"]})
        self.assertEqual(
            {(each["stage"], each["cause"]): (each["gaps"], each["total_ns"], each["longest_ns"]) for each in header["gaps"]},
            {of: (len(gaps), sum(gap for gap, _ in gaps), max(gaps)[0]) for of, gaps in by_stage.items()})
        self.assertGreater(len(header["gaps"]), 1)

    def test_classes_and_short_names_are_those_of_the_profile(self):
        classes = [each["id"] for each in self.page.view["classes"]]
        known = {kernel["kernel_name"]: kernel for kernel in self.profile["kernels"]}
        seen = 0
        for entry in self.page.header["kernels"]:
            kernel = known.get(self.page.name(entry["name"]))
            if kernel is None:
                self.assertEqual(classes[entry["class"]], "memset/memcpy")
                continue
            seen += 1
            self.assertEqual(classes[entry["class"]], kernel["class"])
            self.assertEqual(self.page.name(entry["short"]), kernel["short_name"])
        self.assertEqual(seen, len(known))


class Pyramid(Folder):
    """A generated capture, large enough for levels of detail, with overlap, gaps and hostile names."""

    def setUp(self):
        super().setUp()
        self.capture = self.folder / "<img src=x onerror=alert(3)>.sqlite"
        shutil.copy(EAGER, self.capture)
        database = sqlite3.connect(self.capture)
        (kernel,) = database.execute("SELECT demangledName FROM CUPTI_ACTIVITY_KIND_KERNEL").fetchone()
        database.execute("UPDATE StringIds SET value = ? WHERE id = ?", (HOSTILE, kernel))
        columns = [row[1] for row in database.execute("PRAGMA table_info(CUPTI_ACTIVITY_KIND_KERNEL)")]
        chance = random.Random(16)
        original = database.execute("SELECT * FROM CUPTI_ACTIVITY_KIND_KERNEL LIMIT 400").fetchall()
        (begin,) = database.execute('SELECT max("end") FROM CUPTI_ACTIVITY_KIND_KERNEL').fetchone()
        rows = []
        for number in range(6000):
            row = dict(zip(columns, chance.choice(original)))
            start = begin + number * 5000 + chance.randrange(4000)
            row.update(start=start, end=start + chance.randrange(1, 9000), correlationId=10_000_000 + number)
            rows.append(tuple(row.values()))
        marks = ", ".join("?" * len(columns))
        database.executemany(f"INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES ({marks})", rows)
        database.commit()
        database.close()
        self.page = Page(self.analyze(self.capture) / "report.html")

    def test_levels_are_busy_shares_and_the_class_with_the_most_time(self):
        track = max(self.page.header["tracks"], key=lambda track: len(track.get("levels", [])))
        columns = self.page.table("slices")
        busy, classes = self.page.column("pyramid", "busy"), self.page.column("pyramid", "class")
        span = self.page.header["span_ns"]
        self.assertEqual(track["levels"][0]["bin_ns"], -(-span // 65536))
        for finer, wider in zip(track["levels"], track["levels"][1:]):
            self.assertEqual(wider["bin_ns"], 4 * finer["bin_ns"])
        kernels = self.page.header["kernels"]
        work = [(columns["start"][row], columns["start"][row] + columns["duration"][row],
                 kernels[columns["kernel"][row]]["class"])
                for row in range(track["first"], track["first"] + track["count"])]
        for level in track["levels"][2:]:
            width = level["bin_ns"]
            self.assertEqual(level["count"], len(range(0, span // track["levels"][0]["bin_ns"] + 1,
                                                       width // track["levels"][0]["bin_ns"])))
            union, by_class = collections.Counter(), collections.defaultdict(collections.Counter)
            until = 0
            for start, end, kernel_class in work:
                for place in range(start // width, (end - 1) // width + 1 if end > start else start // width):
                    low, high = max(start, place * width), min(end, (place + 1) * width)
                    by_class[place][kernel_class] += high - low
                    union[place] += max(0, high - max(low, until))
                until = max(until, end)
            for place in range(level["count"]):
                shown = busy[level["first"] + place]
                self.assertAlmostEqual(shown, 255 * union[place] / width, delta=1, msg=(level, place))
                self.assertEqual(shown > 0, union[place] > 0)
                if union[place]:
                    most = max(by_class[place].values())
                    self.assertEqual(by_class[place][classes[level["first"] + place]], most)

    def test_hostile_names_stay_text(self):
        self.assertIn(HOSTILE, self.page.header["names"])
        self.assertNotIn("onerror=alert(1)>", self.page.source)
        self.assertNotIn("onerror=alert(3)>", self.page.source)
        tags = [tag for tag, _ in self.page.parsed().tags]
        self.assertNotIn("img", tags)
        # The blocks, and the bundle.
        self.assertEqual(tags.count("script"), len(self.page.packed) + 1)
        self.assertIn("<code>&lt;img src=x onerror=alert(3)&gt;.sqlite</code>", self.page.source)


class WithoutKernels(Folder):
    def test_totals_have_no_timeline(self):
        for capture in (DATA / "h200-decoder" / "nsys_cuda_gpu_kern_sum.csv",
                        DATA / "h200-decoder" / "ncu_raw.csv.gz"):
            with self.subTest(capture.name):
                page = Page(self.analyze(capture, out=capture.name) / "report.html")
                self.assertIsNone(page.header)
                self.assertEqual(list(page.packed), ["profile", "view"])
                self.assertIn("but no times", page.view["timeline_missing"])

    def test_a_cpu_run_has_its_operators(self):
        bundle = self.analyze(DATA / "cpu-llm")
        page = Page(bundle / "report.html")
        profile = json.loads((bundle / "profile.json").read_text(encoding="utf-8"))
        groups = {track["group"] for track in page.header["tracks"] if track["kind"] == "stream"}
        self.assertEqual(groups, {"CPU"})
        self.assertEqual(page.header["tables"]["slices"]["rows"], profile["totals"]["kernel_count"])

    def test_hidden_graphs_are_one_slice_each(self):
        bundle = self.analyze(DATA / "h200-decoder" / "nsys_graph_level.sqlite")
        page = Page(bundle / "report.html")
        with sqlite3.connect(DATA / "h200-decoder" / "nsys_graph_level.sqlite") as sql:
            (replays,) = sql.execute("SELECT count(*) FROM CUPTI_ACTIVITY_KIND_GRAPH_TRACE").fetchone()
        self.assertGreater(replays, 0)
        self.assertEqual(page.column("slices", "kind").count(3), replays)

    def test_operators_of_a_pytorch_trace_are_ranges(self):
        page = Page(self.analyze(DATA / "h200-decoder" / "kineto.json.gz") / "report.html")
        names = {page.name(row["name"]) for row in page.rows("ranges")}
        self.assertIn("aten::mm", names)
        depths = page.column("ranges", "depth")
        self.assertGreater(max(depths), 1)


class Report(Folder):
    def test_the_timeline_is_drawn_again_from_the_captures(self):
        bundle = self.analyze(EAGER)
        before = (bundle / "report.html").read_bytes()
        (bundle / "report.html").unlink()
        done = run("report", bundle, cwd=ROOT)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual((bundle / "report.html").read_bytes(), before)

    def test_of_a_selection(self):
        bundle = self.analyze(EAGER, "--stage", "decode", "--steps", "0:2")
        before = (bundle / "report.html").read_bytes()
        run("report", bundle, cwd=ROOT)
        self.assertEqual((bundle / "report.html").read_bytes(), before)

    def test_a_lone_profile_says_that_its_timeline_is_missing(self):
        bundle = self.analyze(EAGER)
        done = run("report", bundle / "profile.json", "--out", self.folder / "again", cwd=ROOT)
        self.assertEqual(done.returncode, 0, done.stderr)
        page = Page(self.folder / "again" / "report.html")
        self.assertIsNone(page.header)
        self.assertIn("made from profile.json alone", page.view["timeline_missing"])

    def test_missing_captures_are_named(self):
        capture = self.folder / "gone.sqlite"
        shutil.copy(EAGER, capture)
        bundle = self.analyze(capture)
        capture.unlink()
        done = run("report", bundle)
        self.assertEqual(done.returncode, 0, done.stderr)
        page = Page(bundle / "report.html")
        self.assertIn("gone.sqlite no longer exists", page.view["timeline_missing"])

    def test_other_captures_are_not_mistaken_for_those_of_the_profile(self):
        capture = self.folder / "other.sqlite"
        shutil.copy(EAGER, capture)
        bundle = self.analyze(capture)
        shutil.copy(DATA / "nsys_sqlite" / "eager.sqlite", capture)
        self.assertEqual(run("report", bundle).returncode, 0)
        page = Page(bundle / "report.html")
        self.assertIsNone(page.header)
        self.assertIn("kernels or stages differ", page.view["timeline_missing"])


class Open(Folder):
    def setUp(self):
        super().setUp()
        self.bundle = self.analyze(DATA / "nsys_sqlite" / "eager.sqlite")
        self.page = self.bundle / "report.html"

    def browser(self, text):
        program = self.folder / "browser"
        program.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
        program.chmod(program.stat().st_mode | stat.S_IXUSR)
        return str(program)

    def test_the_browser_gets_the_page(self):
        seen = self.folder / "seen"
        done = run("open", self.bundle, env={"BROWSER": self.browser(f'echo "$@" > {seen}')})
        self.assertEqual((done.returncode, done.stdout), (0, f"Opened {self.page}\n"))
        self.assertEqual(seen.read_text(encoding="utf-8"), f"{self.page}\n")

    def test_the_first_available_browser_and_its_arguments(self):
        seen = self.folder / "seen"
        browser = self.browser(f'echo "$@" > {seen}')
        done = run("open", self.page, env={"BROWSER": f"/no/such/browser:{browser} --new %s --x"})
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(seen.read_text(encoding="utf-8"), f"--new {self.page} --x\n")

    def test_without_a_browser_it_prints_the_path(self):
        done = run("open", self.bundle, env={"BROWSER": "", "DISPLAY": "", "WAYLAND_DISPLAY": ""})
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(done.stdout.splitlines()[-1], str(self.page))

    def test_a_browser_that_fails(self):
        done = run("open", self.bundle, env={"BROWSER": self.browser("exit 3")})
        self.assertEqual(done.returncode, 4)
        self.assertIn("exit code 3", done.stderr)
        self.assertIn(str(self.page), done.stderr.replace("\n", " "))

    def test_a_run_without_a_page(self):
        self.page.unlink()
        done = run("open", self.bundle)
        self.assertEqual(done.returncode, 3)
        self.assertIn("`llmprof report", done.stderr)


if __name__ == "__main__":
    unittest.main()
