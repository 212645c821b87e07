#!/usr/bin/env python3
"""The worked example of ARCHITECTURE.md, "Add a topic": example_topic/ and the lines below, added to a copy of
the sources, compile with the units that they touch. `--build` makes the whole program of them instead. The compiler
is CXX or c++."""
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

# What is compiled anew where a topic is added: its own files, and those that follow from the rows.
UNITS = [
    "analysis/stage_streams/stage_streams.cpp",
    "analysis/pass_table.cpp",
    "job/profile/merge_ranks.cpp",
    "report/sections/stage_streams_section.cpp",
    "report/documents/reports.cpp",
    "profile/json/writer.cpp",
]


def add_topic(source):
    shutil.copytree(EXAMPLE, source, dirs_exist_ok=True)
    for name, behind, line in LINES:
        path = source / name
        lines = path.read_text().split("\n")
        places = [i for i, text in enumerate(lines) if text.startswith(behind)]
        if len(places) != 1:
            raise AssertionError(f"{name}: {len(places)} lines begin with {behind!r}: mend ARCHITECTURE.md and this test")
        lines.insert(places[0] + 1, line)
        path.write_text("\n".join(lines))


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

    def test_the_example_touches_few_files(self):
        new = [path for path in EXAMPLE.rglob("*") if path.is_file()]
        self.assertLessEqual(len(new) + len({name for name, _, _ in LINES}), 7)


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
