"""Content and form of the Markdown reports: numbers, tables, sections. On hand-made profiles, which contain everything
an analysis can find, and on the repository's own captures."""
import json
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

from check_report_numbers import Profile, mentions, unfound
from markdown_reports import Heading, Table, Text, faults_of_form, needs_parser, parse, to_html
from program import DATA, ROOT, Bundle

SAMPLES = os.environ.get("SAMPLE_REPORTS", str(ROOT / "build" / "bin" / "sample_reports"))
DECODER = DATA / "h200-decoder"
REPORTS = ("report.md", "stakeholder_summary.md", "operators.md", "kernels.md")
# kernels.md also says what a shortened table omits.
WITH_NUMBERS = ("report.md", "stakeholder_summary.md", "operators.md")
SUMMARY_SECTIONS = [
    "Executive Summary", "Environment", "Aggregates", "Per-Stage Timings", "MFU", "Stage Takeaways",
    "Top Operators", "Top Kernels", "Recommendations",
]
CAPTURES = {
    "nsys": (DECODER / "nsys.sqlite",),
    "nsys, graph level": (DECODER / "nsys_graph_level.sqlite",),
    "nsys stats": (DECODER / "nsys_cuda_gpu_kern_sum.csv",),
    "ncu": (DECODER / "ncu_raw.csv.gz",),
    "PyTorch": (DECODER / "kineto.json.gz",),
    "CPU log": (DATA / "cpu-llm" / "collector" / "1.llmtrace", DATA / "cpu-llm" / "stage1" / "metrics.json"),
    "CPU log alone": (DATA / "cpu-llm" / "collector" / "1.llmtrace",),
    "joined": (DECODER / "nsys.sqlite", DECODER / "ncu_raw.csv.gz"),
}


NARROWED = (DECODER / "nsys.sqlite", "--stage", "decode", "--steps", "0:2")


def all_reports():
    """name -> {file: text}, for samples and captures."""
    reports = {}
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([SAMPLES, folder], check=True)
        for sample in sorted(pathlib.Path(folder).iterdir()):
            reports[sample.name] = {f.name: f.read_text(encoding="utf-8") for f in sample.iterdir() if f.is_file()}
    for name, paths in CAPTURES.items():
        reports[name] = Bundle(*paths).files
    reports["narrowed"] = Bundle(*NARROWED).files
    return reports


def sections(markdown, level=2):
    """heading -> blocks under it."""
    found, current = {}, None
    for block in parse(markdown):
        if isinstance(block, Heading) and block.level <= level:
            current = found.setdefault(block.text, [])
        elif current is not None:
            current.append(block)
    return found


@needs_parser
class Reports(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.reports = all_reports()

    def for_each(self, names, check):
        for name, files in self.reports.items():
            for file in names:
                with self.subTest(f"{name}: {file}"):
                    check(files, files[file])

    def test_every_number_is_in_profile_json(self):
        def check(files, markdown):
            self.assertEqual(unfound(json.loads(files["profile.json"]), markdown), [])

        self.for_each(WITH_NUMBERS, check)

    def test_a_wrong_number_is_noticed(self):
        files = self.reports["full"]
        profile = json.loads(files["profile.json"])
        for right, wrong in (("15.000 ms", "15.001 ms"), ("43.1 %", "43.2 %"), ("| 30 |", "| 31 |"),
                             ("2.56 TFLOP", "2.57 TFLOP"), ("3.15 GB", "3.16 GB"), ("0.8750", "0.8751")):
            self.assertIn(right, files["report.md"])
            self.assertTrue(unfound(profile, files["report.md"].replace(right, wrong)), wrong)

    def test_tables_and_headings_are_complete(self):
        def check(_, markdown):
            self.assertEqual(faults_of_form(markdown), [])

        self.for_each(REPORTS, check)

    def test_files_a_report_links_to_exist(self):
        def check(files, markdown):
            links = re.findall(r'<a href="([^"]+)">', to_html(markdown))
            self.assertGreaterEqual(len(links), 4)
            self.assertEqual([link for link in links if link not in files], [])

        self.for_each(("report.md",), check)

    def test_report_has_its_sections_each_filled_or_explained(self):
        def check(files, markdown):
            found = sections(markdown)
            profile = json.loads(files["profile.json"])
            cost = profile["overhead"] is not None
            on_gpu = profile["context"]["device_kind"] == "gpu"
            served = profile["requests"] is not None or profile["stages_found"]["serving"]
            self.assertEqual("What profiling cost" in found, cost)
            self.assertEqual(
                [name for name in found
                 if name not in ("LLM inference profile", "What profiling cost")],
                ["What was recorded", *(["Engine"] if on_gpu else []), "Key figures",
                 "Per-stage timings", *(["Requests"] if served else []), "Steps and tokens", "MFU and MBU",
                 "Time budget", "Longest idle gaps", "Slowest steps",
                 *(["GPU time", "Copies and fills", "Launches and short kernels"]
                  if on_gpu else []), *(["Use of GPU memory"] if profile["memory_ledger"] else []),
                 *(["GPU memory"] if profile["memory"] else []), "Layers", "Top kernels", "Roofline",
                 *(["Matrix products"] if on_gpu else []), "Potential savings", "Findings", "Top operators",
                 "About this capture"],
            )
            for name, blocks in found.items():
                self.assertTrue(blocks, name)

        self.for_each(("report.md",), check)

    def test_summary_has_exactly_its_sections(self):
        def check(_, markdown):
            found = sections(markdown)
            self.assertEqual(list(found)[1:], SUMMARY_SECTIONS)
            for name in SUMMARY_SECTIONS[1:]:
                tables = [block for block in found[name] if isinstance(block, Table)]
                texts = [block.text for block in found[name] if isinstance(block, Text)]
                reason = any(text.startswith("Not available because ") for text in texts)
                self.assertTrue(bool(tables) != reason, f"{name}: a table or a reason: {texts}")
            for row in next(b for b in found["Environment"] if isinstance(b, Table)).rows:
                self.assertTrue(row[1], row)

        self.for_each(("stakeholder_summary.md",), check)

    def test_executive_summary_is_short_and_made_of_the_tables(self):
        def check(files, markdown):
            profile = Profile(json.loads(files["profile.json"]))
            found = sections(markdown)
            (summary,) = found["Executive Summary"]
            sentences = re.split(r"(?<=[.])\s+(?=[A-Z])", summary.text)
            self.assertTrue(3 <= len(sentences) <= 5, sentences)
            in_tables = {
                number
                for blocks in found.values()
                for number, _, _ in mentions(profile, [b for b in blocks if isinstance(b, Table)])
            }
            stated = {number for number, _, _ in mentions(profile, [summary])}
            self.assertEqual(stated - in_tables, set())

        self.for_each(("stakeholder_summary.md",), check)

    def test_a_selection_is_stated_at_the_top(self):
        files = self.reports["narrowed"]
        selection = json.loads(files["profile.json"])["selection"]
        self.assertEqual((selection["stage"], selection["device"]), ("decode", None))
        self.assertEqual(selection["steps"], {"first": 0, "last": 1})
        for file in REPORTS:
            head = files[file].split("\n\n")[1]
            self.assertIn("Only steps 0 to 1 of each decode (--steps 0:2 --stage decode).", head)
        summary = files["stakeholder_summary.md"]
        self.assertNotIn("request", summary)
        self.assertIsNone(json.loads(self.reports["nsys"]["profile.json"])["selection"])

    def test_a_duty_cycle_says_what_was_not_traced_and_what_tracing_cost(self):
        files = self.reports["duty cycle"]
        profile = json.loads(files["profile.json"])
        decode = profile["stages"][1]
        self.assertEqual(decode["tracing"], {"steps_traced": 8, "steps_all": 32,
                                             "share_of_steps": 0.25, "not_traced_ms": 24.0})
        # Busy 5 ms of 8 and 10 ms that were traced: 10 / 18; all 66 ms over 32 steps.
        self.assertAlmostEqual(decode["gpu_busy_share_of_wall"], 10 / 18)
        parts = {row["part"]: row for row in decode["budget"]}
        self.assertIsNone(parts["not traced"]["ms_per_step"])
        self.assertAlmostEqual(parts["gemm"]["ms_per_step"], 1.0)
        report = files["report.md"]
        self.assertIn("8 of 32 steps (25.0 %) were traced", report)
        for file in ("report.md", "stakeholder_summary.md"):
            self.assertIn("Tracing adds 0.1300 ms per step (95 % interval 0.1245 to 0.1355 ms), 6.5 % of "
                          "an untraced step; 4 of every 16 steps were traced; over the whole decode "
                          "that is 2.0 %.", files[file])
        self.assertIn("51.66 GB", files["stakeholder_summary.md"])
        self.assertIn("| decode | 51.25 GB | 410.00 MB | 4.100 | 3.23 GB | 32.6 % | 58.7 % | 1 of 2 (98.5 %) |", report)
        self.assertIn("| 12.750 J | 0.398 J |", report)
        self.assertIn("1742 MHz (1410 MHz to 1980 MHz)", report)
        self.assertIn("power cap (44.4 %)", report)

    def test_hidden_graphs_come_first(self):
        files = self.reports["nsys, graph level"]
        share = json.loads(files["profile.json"])["totals"]["hidden_graphs"]["share_of_gpu_time"]
        found = sections(files["stakeholder_summary.md"])
        (table,) = [b for b in found["Recommendations"] if isinstance(b, Table)]
        self.assertIn("--cuda-graph-trace=node", table.rows[0][1])
        self.assertIn(f"{share * 100:.1f} % of the GPU time is not visible",
                      found["Executive Summary"][0].text)

    def test_times_say_whether_they_are_profiled(self):
        texts = {name: sections(files["stakeholder_summary.md"])["Executive Summary"][0].text
                 for name, files in self.reports.items()}
        self.assertTrue(texts["full"].startswith("Unprofiled, prefill takes 5.500 ms"))
        self.assertTrue(texts["nsys"].startswith("Measured under the profiler, "))
        (table,) = [b for b in sections(self.reports["full"]["report.md"], 3)[
            "Unprofiled, measured by the workload itself"] if isinstance(b, Table)]
        self.assertEqual(table.rows[1], ["decode", "7.200", "9.000", "1.250"])

    def test_a_kernel_profiler_alone_shows_what_bounds_kernels(self):
        files = self.reports["ncu"]
        shares = json.loads(files["profile.json"])["roofline"]["share_of_kernel_time"]
        self.assertAlmostEqual(sum(shares.values()), 1)
        text = sections(files["stakeholder_summary.md"])["Executive Summary"][0].text
        self.assertIn(f"{shares['memory'] * 100:.1f} % is bound by memory", text)

    def test_serving_reports_engine_steps(self):
        files = self.reports["serving"]
        for file in ("report.md", "stakeholder_summary.md"):
            self.assertNotRegex(files[file], r"\b(a|per) request\b|\ba engine step|\ba step\b")
        self.assertIn("confidence high, 97 %", files["stakeholder_summary.md"])

    def test_words_are_the_usual_ones(self):
        """Standard technical English in American spelling; spellings of profile.json are translated. Texts from a
        capture (names, ranges) contain none of these words."""
        unusual = re.compile(
            r"\b(ms|FLOP|FLOPs|bytes|tokens|kernels) an? |\bat the most\b|\bmost to gain\b|"
            r"\btake care\b|\bsure to\b|\bstage [12]\b|\bwarm-ups? left out\b|\bfor those who\b|"
            r"\b\w*(analys(e|ed|ing)|util(is)ation|quantis(e|ed|ation)|synchronis(e|ed|ation)|"
            r"normalis(e|ed|ation))\b", re.IGNORECASE)

        def check(files, markdown):
            profile = json.loads(files["profile.json"])
            formats = {capture["format"] for capture in profile["context"]["captures"]}
            for known in formats:  # "Stage 1 metrics" is a format
                markdown = markdown.replace(known, "")
            found = [" ".join(markdown[max(0, m.start() - 30) : m.end() + 30].split())
                     for m in unusual.finditer(markdown)]
            self.assertEqual(found, [])

        self.for_each(REPORTS, check)

    def test_vision_is_a_note_under_prefill(self):
        files = self.reports["full"]
        for file, name in (("report.md", "Per-stage timings"),
                           ("stakeholder_summary.md", "Per-Stage Timings")):
            blocks = sections(files[file])[name]
            rows = [row[0] for block in blocks if isinstance(block, Table) for row in block.rows]
            self.assertNotIn("vision_tower", rows)
            self.assertTrue(any("vision_tower" in b.text for b in blocks if isinstance(b, Text)))

    def test_operators_md_keeps_its_columns(self):
        (table,) = [b for b in parse(self.reports["full"]["operators.md"]) if isinstance(b, Table)]
        self.assertEqual(table.header, ["name", "calls", "cpu_total_ms", "cpu_self_ms",
                                        "cuda_total_ms", "cuda_self_ms", "mean_ms"])
        self.assertEqual(table.rows[1][0], "my|op <x>")

    def test_every_field_is_documented(self):
        schema = (ROOT / "docs" / "profile-schema.md").read_text(encoding="utf-8")
        documented = set(re.findall(r"[a-z][a-z0-9_]*", schema))
        # Objects whose names come from a capture: parts, metrics, classes, stages.
        free = {("instances", "budget_ns"), ("kernels", "metrics"), ("layers", "classes"),
                ("kernels", "stages"), ("steps", "classes_ns"), ("instances", "classes_ns"),
                ("requests", "parts_ns"), ("items", "parts_ns"), ("items", "ttft_parts_ns"),
                ("slowest_gaps", "parts_ns")}

        def fields(value, parent=""):
            if isinstance(value, dict):
                for name, inner in value.items():
                    yield name
                    if (parent, name) in free and isinstance(inner, dict):
                        for each in inner.values():
                            yield from fields(each, name)
                    else:
                        yield from fields(inner, name)
            elif isinstance(value, list):
                for inner in value:
                    yield from fields(inner, parent)

        for name, files in self.reports.items():
            with self.subTest(name):
                used = set(fields(json.loads(files["profile.json"])))
                self.assertEqual(used - documented, set())

    def test_budgets_sum_to_wall(self):
        for name, files in self.reports.items():
            for stage in json.loads(files["profile.json"])["stages"]:
                with self.subTest(f"{name}: {stage['name']}"):
                    for instance in stage["instances"]:
                        self.assertEqual(sum(instance["budget_ns"].values()),
                                         round(instance["wall_ms"] * 1e6))
                    steady = [i for i in stage["instances"] if not i["warmup"]]
                    self.assertEqual(sum(part["total_ns"] for part in stage["budget"]),
                                     sum(round(i["wall_ms"] * 1e6) for i in steady))
                    self.assertAlmostEqual(sum(part["ms"] for part in stage["budget"]),
                                           stage["wall_ms"]["mean"], places=9)


if __name__ == "__main__":
    unittest.main()
