#!/usr/bin/env python3
"""The worked example of ARCHITECTURE.md, "Add a reader": example_reader/ and the changes below, made in a copy of the
sources, compile. The compiler is CXX or c++."""
import pathlib
import shutil
import tempfile
import unittest

from test_add_topic import ROOT, compile_unit

EXAMPLE = pathlib.Path(__file__).resolve().parent / "example_reader"

# File, a text that occurs in it once, and what replaces it.
CHANGES = [
    ("readers/shared/reader.h", "extern const Reader kKinetoReader;",
     "extern const Reader kKinetoReader;\nextern const Reader kRocprofReader;"),
    ("readers/detect.cpp", "&kNsysSqliteReader,", "&kNsysSqliteReader, &kRocprofReader,"),
]
UNITS = ["readers/rocprof/rocprof.cpp", "readers/detect.cpp"]


class AddReader(unittest.TestCase):
    def test_the_touched_units_compile(self):
        with tempfile.TemporaryDirectory() as folder:
            source = pathlib.Path(folder) / "src"
            for module in ("base", "trace", "readers"):
                shutil.copytree(ROOT / "src" / module, source / module)
            shutil.copytree(EXAMPLE, source, dirs_exist_ok=True)
            for name, old, new in CHANGES:
                path = source / name
                text = path.read_text()
                self.assertEqual(text.count(old), 1, f"{name}: {old!r}: mend ARCHITECTURE.md and this test")
                path.write_text(text.replace(old, new))
            for unit in UNITS:
                done = compile_unit(source, unit)
                self.assertEqual(done.returncode, 0, f"{unit}:\n{done.stderr}")


if __name__ == "__main__":
    unittest.main()
