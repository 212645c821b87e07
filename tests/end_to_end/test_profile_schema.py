"""docs/profile.schema.json, the tables of docs/profile-schema.md and the page's types (ui/src/generated) are
what the structs of src/profile describe, and profile.json files satisfy the schema according to an independent validator.

After a change of src/profile: python3 tests/end_to_end/test_profile_schema.py --rewrite
(DESCRIBE_PROFILE and LLMPROF name the programs, those of build/bin unless set).
"""
import copy
import json
import os
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

SCHEMA = ROOT / "docs" / "profile.schema.json"
TABLES = ROOT / "docs" / "profile-schema.md"
TYPES = ROOT / "ui" / "src" / "generated" / "profile.ts"
BEGIN = "<!-- The tables below are generated: python3 tests/end_to_end/test_profile_schema.py --rewrite -->\n"


def described(what):
    program = os.environ.get("DESCRIBE_PROFILE", str(ROOT / "build" / "bin" / "describe_profile"))
    return subprocess.run([program, what], capture_output=True, text=True, check=True).stdout


def with_tables(text):
    return text[: text.index(BEGIN)] + BEGIN + "\n" + described("tables").rstrip("\n") + "\n"


def analyzed():
    """profile.json of the folder cases, where their expected output has all of it."""
    for case in sorted((ROOT / "tests" / "cases").iterdir()):
        file = case / "expected" / "profile.json"
        if file.exists() and not (case / "compared").exists():
            yield case.name, json.loads(file.read_text(encoding="utf-8"))


class Documentation(unittest.TestCase):
    def test_the_schema_is_the_structs(self):
        self.assertEqual(SCHEMA.read_text(encoding="utf-8"), described("schema"),
                         "rewrite it: see the head of this file")

    def test_the_tables_are_the_structs(self):
        text = TABLES.read_text(encoding="utf-8")
        self.assertEqual(text, with_tables(text), "rewrite them: see the head of this file")

    def test_the_types_of_the_page_are_the_structs(self):
        self.assertEqual(TYPES.read_text(encoding="utf-8"), described("types"),
                         "rewrite them: see the head of this file")


@unittest.skipIf(jsonschema is None, "needs Debian's python3-jsonschema")
class Validation(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
        jsonschema.Draft202012Validator.check_schema(schema)
        cls.validator = jsonschema.Draft202012Validator(schema)

    def faults(self, profile):
        return [f"{'/'.join(map(str, error.path))}: {error.message[:200]}"
                for error in self.validator.iter_errors(profile)]

    def test_profiles_satisfy_it(self):
        seen = 0
        for name, profile in analyzed():
            self.assertEqual(self.faults(profile), [], name)
            seen += 1
        self.assertGreaterEqual(seen, 7)

    def test_a_fresh_profile_satisfies_it(self):
        with tempfile.TemporaryDirectory() as folder:
            out = pathlib.Path(folder) / "out"
            subprocess.run([LLMPROF, "analyze", "tests/data/h200-serving/nsys.sqlite",
                            "--out", str(out)], cwd=ROOT, capture_output=True, check=True)
            profile = json.loads((out / "profile.json").read_text(encoding="utf-8"))
        self.assertEqual(self.faults(profile), [])

    def test_it_refuses_what_is_wrong(self):
        profile = next(profile for name, profile in analyzed()
                       if profile["stages"] and profile["kernels"][0]["shapes"])
        self.assertEqual(self.faults(profile), [])
        damages = [lambda p: p.pop("stages"),
                   lambda p: p["stages"][0].update(name=None),
                   lambda p: p["stages"][0]["wall_ms"].update(mean="1.0"),
                   lambda p: p["kernels"][0].update(calls=-1),
                   lambda p: p["kernels"][0]["shapes"][0].update(grid=[1, 2]),
                   lambda p: p["findings"].append({})]
        for place, damage in enumerate(damages):
            damaged = copy.deepcopy(profile)
            damage(damaged)
            self.assertNotEqual(self.faults(damaged), [], place)


def rewrite():
    TYPES.parent.mkdir(parents=True, exist_ok=True)
    TYPES.write_text(described("types"), encoding="utf-8")
    SCHEMA.write_text(described("schema"), encoding="utf-8")
    TABLES.write_text(with_tables(TABLES.read_text(encoding="utf-8")), encoding="utf-8")
    print(f"written: {SCHEMA}, {TABLES}, {TYPES}")


if __name__ == "__main__":
    if sys.argv[1:] == ["--rewrite"]:
        rewrite()
    else:
        unittest.main()
