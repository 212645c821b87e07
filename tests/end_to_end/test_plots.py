"""plots/*.svg: valid pictures of the data in profile.json, present if there is something to show."""
import contextlib
import json
import pathlib
import re
import shutil
import sqlite3
import tempfile
import unittest
import xml.etree.ElementTree as xml

from program import DATA, run

SVG = "{http://www.w3.org/2000/svg}"
SHOWN = re.compile(r"^!\[(?P<words>.+)\]\((?P<file>plots/\w+\.svg)\)$", re.MULTILINE)
ALL = {"plots/budget.svg", "plots/roofline.svg", "plots/steps.svg", "plots/top_kernels.svg"}
CAPTURES = {
    "timeline and ncu": [DATA / "h200-decoder" / "nsys.sqlite", DATA / "h200-decoder" / "ncu_raw.csv.gz",
                         "--model", DATA / "h200-decoder" / "config.json", "--prompt-tokens", 512, "--batch", 1],
    "collector": [DATA / "h200-collector" / "dense_graph.llmtrace.gz"],
    "serving": [DATA / "h200-serving" / "nsys.sqlite"],
    "cpu": [DATA / "cpu-llm"],
    "ncu alone": [DATA / "h200-decoder" / "ncu_raw.csv.gz"],
    "summary": [DATA / "h200-decoder" / "nsys_cuda_gpu_kern_sum.csv"],
}


class Bundle:
    def __init__(self, *arguments):
        with tempfile.TemporaryDirectory() as folder:
            out = pathlib.Path(folder) / "bundle"
            done = run("analyze", *arguments, "--out", out)
            if done.returncode != 0:
                raise AssertionError(done.stderr)
            self.printed = done.stdout
            self.profile = json.loads((out / "profile.json").read_text(encoding="utf-8"))
            self.reports = {name: (out / name).read_text(encoding="utf-8")
                            for name in ("report.md", "stakeholder_summary.md")}
            self.plots = {str(path.relative_to(out)): path.read_text(encoding="utf-8")
                          for path in out.glob("plots/*")}


def bars(picture):
    """(title, width) of each bar with a title."""
    for bar in xml.fromstring(picture).iter(f"{SVG}rect"):
        if (title := bar.find(f"{SVG}title")) is not None:
            yield title.text, float(bar.get("width"))


class Plots(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.bundles = {name: Bundle(*arguments) for name, arguments in CAPTURES.items()}

    def each(self):
        for capture, bundle in self.bundles.items():
            for name, picture in bundle.plots.items():
                with self.subTest(capture=capture, plot=name):
                    yield bundle, name, picture

    def test_exist_if_there_is_something_to_show(self):
        expected = {
            "timeline and ncu": ALL, "collector": ALL - {"plots/roofline.svg"},
            "serving": ALL - {"plots/roofline.svg"}, "cpu": ALL,
            "ncu alone": {"plots/roofline.svg", "plots/top_kernels.svg"}, "summary": {"plots/top_kernels.svg"},
        }
        self.assertEqual({name: set(bundle.plots) for name, bundle in self.bundles.items()}, expected)

    def test_are_shown_in_both_reports_and_listed(self):
        for capture, bundle in self.bundles.items():
            for report, text in bundle.reports.items():
                with self.subTest(capture=capture, report=report):
                    shown = {found["file"] for found in SHOWN.finditer(text)}
                    self.assertEqual(shown, set(bundle.plots))
            for name in bundle.plots:
                self.assertIn(name, bundle.printed)

    def test_are_valid_and_have_text_for_screen_readers(self):
        for _, _, picture in self.each():
            root = xml.fromstring(picture)
            self.assertEqual(root.tag, f"{SVG}svg")
            self.assertEqual(root.get("role"), "img")
            ids = {root.find(f"{SVG}title").get("id"), root.find(f"{SVG}desc").get("id")}
            self.assertEqual(set(root.get("aria-labelledby").split()), ids)
            self.assertRegex(root.find(f"{SVG}desc").text, r"\d")
            self.assertIn("prefers-color-scheme:dark", root.find(f"{SVG}style").text)
            self.assertNotIn("NaN", picture)
            self.assertNotIn("inf", re.sub(r"<(title|desc|text)[^>]*>[^<]*", "", picture))

    def test_link_nowhere_and_run_nothing(self):
        for _, _, picture in self.each():
            self.assertNotRegex(picture, r"(?i)<(script|a|image|foreignObject|use)\b|href|\bon\w+=|url\(|@import")

    def test_draw_inside_the_picture(self):
        for _, _, picture in self.each():
            root = xml.fromstring(picture)
            width, height = float(root.get("width")), float(root.get("height"))
            for element in root.iter():
                for name, most in (("x", width), ("cx", width), ("y", height), ("cy", height)):
                    if element.get(name) is not None:
                        self.assertTrue(0 <= float(element.get(name)) <= most, xml.tostring(element))

    def test_every_class_of_the_style_has_both_colors(self):
        for _, _, picture in self.each():
            style = xml.fromstring(picture).find(f"{SVG}style").text
            light, dark = style.split("@media")
            used = set(re.findall(r'class="(c\d+)', picture))
            self.assertGreater(len(used), 0)
            for name in used:
                self.assertIn(f".{name}{{", light)
                self.assertIn(f".{name}{{", dark)

    def test_a_budget_sums_to_the_whole_bar(self):
        for bundle, name, picture in self.each():
            if name != "plots/budget.svg":
                continue
            stages = [stage for stage in bundle.profile["stages"] if stage["budget"]]
            widths = sum(width for _, width in bars(picture))
            self.assertAlmostEqual(widths, 832 * len(stages), delta=0.5)
            for stage in stages:
                shown = stage["unwatched"] or stage
                for part in shown["budget"]:
                    share = f"{part['share'] * 100:.1f} %"
                    self.assertTrue(any(f": {share} of wall time" in title for title, _ in bars(picture)), part)

    def test_steps_have_a_point_each(self):
        bundle = self.bundles["collector"]
        points = xml.fromstring(bundle.plots["plots/steps.svg"]).findall(f"{SVG}circle")
        warm_up = {(stage["name"], i) for stage in bundle.profile["stages"]
                   for i, instance in enumerate(stage["instances"]) if instance["warmup"]}
        steps = [step for step in bundle.profile["steps"]
                 if (step["stage"], step["instance"]) not in warm_up and not step["after_untraced"]]
        by_stage = {stage["name"]: stage for stage in bundle.profile["stages"]}
        counts = {name: sum(step["stage"] == name for step in steps) for name in by_stage}
        self.assertEqual(len(points), sum(count for count in counts.values() if count >= 2))
        words = xml.fromstring(bundle.plots["plots/steps.svg"]).find(f"{SVG}desc").text
        decode = by_stage["decode"]["step_wall_ms"]
        self.assertIn(f"p50 {decode['p50']:.4f} ms, p99 {decode['p99']:.4f} ms", words)

    def test_bars_of_kernels_are_as_long_as_their_time(self):
        for bundle, name, picture in self.each():
            if name != "plots/top_kernels.svg":
                continue
            found = [(title, width) for title, width in bars(picture)]
            self.assertLessEqual(len(found), 12)
            times = [float(re.search(r": ([\d.]+) ms in", title)[1]) for title, _ in found]
            self.assertEqual(times, sorted(times, reverse=True))
            for time, (_, width) in zip(times, found):
                if width > 2:
                    self.assertAlmostEqual(width / found[0][1], time / times[0], 3)


class HostileNames(unittest.TestCase):
    def test_names_stay_text(self):
        name = '<img src=x onerror=alert(1)>"\x01\u202e]](evil) &amp;'
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "hostile.sqlite"
            shutil.copy(DATA / "nsys_sqlite" / "eager.sqlite", path)
            with contextlib.closing(sqlite3.connect(path)) as database:
                database.execute("UPDATE StringIds SET value = ? WHERE id IN "
                                 "(SELECT demangledName FROM CUPTI_ACTIVITY_KIND_KERNEL)", (name,))
                database.commit()
            bundle = Bundle(path)
        picture = bundle.plots["plots/top_kernels.svg"]
        texts = [text.text for text in xml.fromstring(picture).iter() if text.text and "onerror" in text.text]
        self.assertGreater(len(texts), 0)
        self.assertEqual(xml.fromstring(picture).findall(".//img"), [])
        for report in bundle.reports.values():
            self.assertEqual({found["file"] for found in SHOWN.finditer(report)}, set(bundle.plots))


class RewrittenPlots(unittest.TestCase):
    def test_a_plot_without_data_is_removed_and_others_files_stay(self):
        with tempfile.TemporaryDirectory() as folder:
            out = pathlib.Path(folder) / "bundle"
            self.assertEqual(run("analyze", *CAPTURES["collector"], "--out", out).returncode, 0)
            (out / "plots" / "mine.svg").write_text("mine", encoding="utf-8")
            self.assertEqual(run("analyze", *CAPTURES["summary"], "--out", out, "--force").returncode, 0)
            self.assertEqual({path.name for path in (out / "plots").iterdir()}, {"mine.svg", "top_kernels.svg"})


if __name__ == "__main__":
    unittest.main()
