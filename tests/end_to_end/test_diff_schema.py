"""docs/diff.schema.json, the tables of docs/diff-schema.md and the page's types (ui/src/generated/diff.ts) are what
the structs of src/compare/model/diff.h describe, and diff.json satisfies the schema according to an independent validator.

After a change of diff.h: python3 tests/end_to_end/test_diff_schema.py --rewrite
(DESCRIBE_PROFILE and LLMPROF name the programs, those of build/bin unless set).
"""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

try:
    import jsonschema
except ImportError:
    jsonschema = None

from program import LLMPROF, ROOT
from test_profile_schema import described

SCHEMA = ROOT / "docs" / "diff.schema.json"
TABLES = ROOT / "docs" / "diff-schema.md"
TYPES = ROOT / "ui" / "src" / "generated" / "diff.ts"
BEGIN = "<!-- The tables below are generated: python3 tests/end_to_end/test_diff_schema.py --rewrite -->\n"


def with_tables(text):
    return text[: text.index(BEGIN)] + BEGIN + "\n" + described("diff-tables").rstrip("\n") + "\n"


class Documentation(unittest.TestCase):
    def test_the_schema_is_the_structs(self):
        self.assertEqual(SCHEMA.read_text(encoding="utf-8"), described("diff-schema"),
                         "rewrite it: see the head of this file")

    def test_the_tables_are_the_structs(self):
        text = TABLES.read_text(encoding="utf-8")
        self.assertEqual(text, with_tables(text), "rewrite them: see the head of this file")

    def test_the_types_of_the_page_are_the_structs(self):
        self.assertEqual(TYPES.read_text(encoding="utf-8"), described("diff-types"),
                         "rewrite them: see the head of this file")

    @unittest.skipIf(jsonschema is None, "needs Debian's python3-jsonschema")
    def test_a_fresh_diff_satisfies_it(self):
        validator = jsonschema.Draft202012Validator(json.loads(SCHEMA.read_text(encoding="utf-8")))
        captures = ("tests/data/h200-decoder/nsys.sqlite", "tests/data/h200-serving/nsys.sqlite")
        for new in captures:
            with tempfile.TemporaryDirectory() as folder:
                out = pathlib.Path(folder) / "out"
                subprocess.run([LLMPROF, "diff", captures[0], new, "--gate", "default",
                                "--out", str(out)], cwd=ROOT, capture_output=True, check=False)
                diff = json.loads((out / "diff.json").read_text(encoding="utf-8"))
            self.assertEqual([error.message[:200] for error in validator.iter_errors(diff)], [])
            diff["verdict"] = None
            self.assertNotEqual(list(validator.iter_errors(diff)), [])


def rewrite():
    SCHEMA.write_text(described("diff-schema"), encoding="utf-8")
    TABLES.write_text(with_tables(TABLES.read_text(encoding="utf-8")), encoding="utf-8")
    TYPES.write_text(described("diff-types"), encoding="utf-8")
    print(f"written: {SCHEMA}, {TABLES}, {TYPES}")


if __name__ == "__main__":
    if sys.argv[1:] == ["--rewrite"]:
        rewrite()
    else:
        unittest.main()
