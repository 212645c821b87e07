#!/usr/bin/env python3
"""The worked examples of ARCHITECTURE.md, "Add a field" and "Add a topic": example_topic/ and the lines below, added to
a copy of the sources, compile with the units that they touch. `--build` makes the whole program of the topic instead.
The compiler is CXX or c++."""
import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
EXAMPLE = pathlib.Path(__file__).resolve().parent / "example_topic"

# One line each, behind the line that holds the text.
LINES = [
    ("profile/profile.h", '#include "profile/sequence.h"', '#include "profile/stage_streams.h"'),
    ("profile/profile.h", "  std::vector<KernelSequence> kernel_sequences;", "  std::vector<StageStream> stage_streams;"),
    ("profile/profile.h", '    field("steps", steps,',
     '    field("stage_streams", stage_streams, "kernels by CUDA stream; empty without stages");'),
    ("profile/profile.h", '  visit(TopicRow<"launches",',
     '  visit(TopicRow<"stage streams", all_ranks, kOnGpus, "gpu">(), &P::stage_streams);'),
    ("analysis/pass_table.cpp", '#include "analysis/result/parts.h"',
     '#include "analysis/stage_streams/stage_streams.h"'),
    ("analysis/pass_table.cpp", '      Pass("communication", find_collectives),',
     '      Pass("stage streams", find_stage_streams).skipped_if(no_stages).into(&Profile::stage_streams),'),
    ("report/sections/sections.h", 'void add_section(Topic<"launches">,',
     'void add_section(Topic<"stage streams">, const Profile&, Document&);'),
]

# The view's table, and what describe_profile generates of the struct.
VIEW_LINES = [
    ("views/gpu.ts", 'import { copies, deviceTime, launches } from "./device_tables";',
     'import { stageStreams } from "./stage_streams";'),
    ("views/gpu.ts", "    launches(app),", "    stageStreams(app),"),
    ("generated/profile.ts", "  copies: Copies[];", "  stage_streams: { stage: string; device: string; stream: number; "
     "kernels: number; total_ms: number }[];"),
]

# copies[].mean_bytes, as an example of a field.
FIELD_LINES = [
    ("profile/timeline.h", "  std::optional<Bytes> p50_bytes;", "  std::optional<Bytes> mean_bytes;"),
    ("profile/timeline.h", '    field("p50_bytes", p50_bytes,',
     '    field("mean_bytes", mean_bytes, "mean size of these operations");'),
    ("analysis/timeline/copies.cpp", "  row.min_bytes = size(sizes.front());",
     "  row.mean_bytes = profile::Bytes{row.bytes->value / static_cast<double>(sizes.size())};"),
    ("report/sections/timeline_sections.cpp", '      "device | direction | memory |', '      "#mean size | "'),
    ("report/sections/timeline_sections.cpp", "                     ms(row.total), in_unit(row.bytes),",
     "                     in_unit(row.mean_bytes),"),
]

# What is compiled anew where a topic is added: its own files, and those that follow from the rows.
UNITS = [
    "analysis/stage_streams/stage_streams.cpp",
    "analysis/pass_table.cpp",
    "job/profile/merge_ranks.cpp",
    "report/sections/stage_streams_section.cpp",
    "report/documents/reports.cpp",
    "profile/json/writer.cpp",
]


def add_lines(source, rows):
    for name, behind, line in rows:
        path = source / name
        lines = path.read_text().split("\n")
        places = [i for i, text in enumerate(lines) if text.startswith(behind)]
        if len(places) != 1:
            raise AssertionError(f"{name}: {len(places)} lines begin with {behind!r}: mend ARCHITECTURE.md and this test")
        lines.insert(places[0] + 1, line)
        path.write_text("\n".join(lines))


def add_topic(source):
    shutil.copytree(EXAMPLE, source, dirs_exist_ok=True, ignore=shutil.ignore_patterns("*.ts"))
    add_lines(source, LINES)


def compile_unit(source, unit):
    return subprocess.run([os.environ.get("CXX", "c++"), "-std=c++20", "-fsyntax-only", "-Wall", "-Wextra", "-Werror",
                           "-Wno-restrict", "-Wno-psabi", "-DFMT_SHARED", f"-I{source}", str(source / unit)],
                          capture_output=True, text=True)


class AddTopic(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.source = pathlib.Path(self.folder.name) / "src"
        shutil.copytree(ROOT / "src", self.source, ignore=lambda _, names: [n for n in names if n.endswith("_test.cpp")])

    def test_the_touched_units_compile(self):
        add_topic(self.source)
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            for unit, done in zip(UNITS, pool.map(lambda unit: compile_unit(self.source, unit), UNITS)):
                self.assertEqual(done.returncode, 0, f"{unit}:\n{done.stderr}")

    def test_a_topic_without_its_section_does_not_compile(self):
        add_topic(self.source)
        path = self.source / "report/sections/sections.h"
        path.write_text(re.sub(r'void add_section\(Topic<"stage streams">.*\n', "", path.read_text()))
        done = compile_unit(self.source, "report/documents/reports.cpp")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("add_section", done.stderr)

    def test_a_pass_cannot_read_what_it_does_not_declare(self):
        """The budgets exist, but are not among the parameters of the pass."""
        add_topic(self.source)
        path = self.source / "analysis/stage_streams/stage_streams.cpp"
        text = path.read_text()
        for parameter, compiles in (("", False), (", const Budgets& budgets", True)):
            declared = re.sub(r"(find_stage_streams\([^)]*)\) \{", rf"\1{parameter}) {{\n  if (budgets.stages.empty()) return {{}};",
                              text)
            self.assertNotEqual(declared, text)
            path.write_text('#include "analysis/budget/budget.h"\n' + declared)
            done = compile_unit(self.source, "analysis/stage_streams/stage_streams.cpp")
            self.assertEqual(done.returncode == 0, compiles, done.stderr)

    def test_a_field_takes_three_files(self):
        add_lines(self.source, FIELD_LINES)
        touched = {name for name, _, _ in FIELD_LINES}
        self.assertEqual(len(touched), 3)
        for unit in sorted(name for name in touched if name.endswith(".cpp")):
            done = compile_unit(self.source, unit)
            self.assertEqual(done.returncode, 0, f"{unit}:\n{done.stderr}")

    def test_the_view_is_of_the_page_s_types(self):
        compiler = ROOT / "ui/node_modules/.bin/tsc"
        if not compiler.exists():
            self.skipTest("TypeScript is not installed; run npm ci in ui/")
        ui = pathlib.Path(self.folder.name) / "ui"
        shutil.copytree(ROOT / "ui", ui, ignore=shutil.ignore_patterns("node_modules"))
        (ui / "node_modules").symlink_to(ROOT / "ui/node_modules")
        shutil.copy(EXAMPLE / "ui/stage_streams.ts", ui / "src/views")
        add_lines(ui / "src", VIEW_LINES)
        done = subprocess.run([compiler, "--noEmit", "-p", "."], cwd=ui, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout)

    def test_the_example_touches_few_files(self):
        """Generated files do not count."""
        new = [path for path in EXAMPLE.rglob("*") if path.is_file()]
        self.assertLessEqual(len(new) + len({name for name, _, _ in LINES}) + 1, 9)


def build_all():
    """The program with the topic, from a copy of the whole tree."""
    with tempfile.TemporaryDirectory() as folder:
        tree = pathlib.Path(folder) / "tree"
        shutil.copytree(ROOT, tree, ignore=shutil.ignore_patterns("build", ".git", "node_modules"))
        add_topic(tree / "src")
        for command in (["cmake", "-S", ".", "-B", "build", "-G", "Ninja", "-DCMAKE_BUILD_TYPE=", "-DLLMPROF_TESTS=OFF",
                         "-DCMAKE_CXX_FLAGS=-O0"], ["cmake", "--build", "build", "--target", "llmprof"]):
            subprocess.run(command, cwd=tree, check=True, stdout=subprocess.DEVNULL)
    print("lint: the program compiles with the topic of ARCHITECTURE.md's example")


if __name__ == "__main__":
    if "--build" in sys.argv:
        build_all()
    else:
        unittest.main()
