"""docs/query.md: every command runs and answers. docs/query-schema.md is what the program says; `--rewrite` writes it."""
import json
import pathlib
import re
import shlex
import sys
import tempfile
import unittest

import job_captures
from program import DATA, ROOT, run

PAGE = ROOT / "docs" / "query.md"
SCHEMA = ROOT / "docs" / "query-schema.md"


def rows_of(*words):
    done = run("query", *words, "--format", "ndjson")
    if done.returncode != 0:
        raise AssertionError(done.stderr)
    return [json.loads(line) for line in done.stdout.splitlines()]


def schema_page():
    everything = rows_of("--schema")
    tables = [row for row in everything if "(" not in row["table"]]
    functions = [row for row in everything if "(" in row["table"]]
    columns = {}
    for row in rows_of("--schema", *(table["table"] for table in tables)):
        columns.setdefault(row["table"], []).append(row)

    def cell(text):
        return (text or "").replace("|", "\\|")

    lines = ["# Tables of `llmprof query`", "",
             "Written by `tests/end_to_end/test_query_docs.py --rewrite`. [query.md](query.md) has the questions that "
             "they answer.", "",
             "Every table begins with `run`, the name of the run. A boolean is 0 or 1.", "", "| function | result |", "|---|---|"]
    lines += [f"| `{row['table']}` | {cell(row['meaning'])} |" for row in functions]
    for table in tables:
        meaning = cell(table["meaning"])
        lines += ["", f"## {table['table']}", "", meaning[0].upper() + meaning[1:] + ".", "",
                  "| column | type | unit | meaning |", "|---|---|---|---|"]
        lines += [f"| `{row['column']}` | {row['type']} | {cell(row['unit'])} | {cell(row['meaning'])} |"
                  for row in columns[table["table"]] if row["column"] != "run"]
    return "\n".join(lines) + "\n"


class Page(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.holder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.holder.cleanup)
        cls.folder = pathlib.Path(cls.holder.name)
        cls.runs = {}
        cls.analyze("RUN", DATA / "h200-decoder" / "nsys.sqlite", DATA / "h200-decoder" / "ncu_raw.csv.gz")
        cls.analyze("OTHER", DATA / "h200-decoder" / "kineto.json.gz")
        (cls.folder / "ranks").mkdir()
        job_captures.pytorch_job(cls.folder / "ranks", ranks=2)
        cls.analyze("JOB", cls.folder / "ranks")
        cls.analyze("SERVED", DATA / "collector_log" / "served.llmtrace", DATA / "requests" / "served.json")

    @classmethod
    def analyze(cls, name, *captures):
        done = run("analyze", *captures, "--out", cls.folder / name)
        if done.returncode != 0:
            raise AssertionError(done.stderr)
        cls.runs[name] = str(cls.folder / name)

    def test_every_command_answers(self):
        blocks = re.findall(r"```sh\n(.*?)```", PAGE.read_text("utf-8"), re.S)
        commands = [line for block in blocks for line in block.splitlines() if line]
        self.assertGreater(len(commands), 20)
        for command in commands:
            words = shlex.split(command)
            self.assertEqual(words[0], "llmprof", command)
            done = run(*(self.runs.get(word, word) for word in words[1:]), cwd=self.folder)
            self.assertEqual(done.returncode, 0, f"{command}: {done.stderr}")
            self.assertNotIn("no rows", done.stdout, command)
            self.assertTrue(done.stdout, command)

    def test_recipes_that_it_names_exist(self):
        recipes = {row["recipe"] for row in rows_of("--recipes")}
        named = {name for names in re.findall(r"\*\* \((`[^)]*`)\)", PAGE.read_text("utf-8"))
                 for name in re.findall(r"`(\w+)`", names)}
        self.assertGreater(len(named), 12)
        self.assertLessEqual(named, recipes)

    def test_the_schema_is_the_programs(self):
        self.assertEqual(SCHEMA.read_text("utf-8"), schema_page(),
                         "run `python3 tests/end_to_end/test_query_docs.py --rewrite`")


if __name__ == "__main__":
    if "--rewrite" in sys.argv:
        SCHEMA.write_text(schema_page(), encoding="utf-8")
    else:
        unittest.main()
