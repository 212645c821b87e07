"""llmprof query and export: formats, limits, errors, and what statements must not do."""
import csv
import io
import json
import os
import pathlib
import pty
import sqlite3
import subprocess
import tempfile
import time
import unittest

from program import DATA, LLMPROF, run
from query_tables import ask, ask_all

CAPTURE = DATA / "h200-decoder" / "nsys.sqlite"
BOMB = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT {} FROM c"


def query(*words, stdin=None):
    return subprocess.run([LLMPROF, "query", *map(str, words)], capture_output=True, text=True, timeout=120, check=False,
                          input=stdin)


class Formats(unittest.TestCase):
    SQL = "SELECT 1 AS one, NULL AS none, 2.5 AS real, 'a,\"b\" | c' AS text, 1 AS one"

    def test_every_format_has_the_values(self):
        answer = json.loads(query(CAPTURE, self.SQL, "--format", "json").stdout)
        self.assertEqual(answer["rows"], [[1, None, 2.5, 'a,"b" | c', 1]])
        self.assertEqual((answer["row_count"], answer["total_rows"], answer["truncated"], answer["notes"]),
                         (1, 1, False, []))
        row = json.loads(query(CAPTURE, self.SQL, "--format", "ndjson").stdout)
        self.assertEqual(row, {"one": 1, "none": None, "real": 2.5, "text": 'a,"b" | c', "one_2": 1})
        rows = list(csv.reader(io.StringIO(query(CAPTURE, self.SQL, "--format", "csv").stdout)))
        self.assertEqual(rows, [["one", "none", "real", "text", "one"], ["1", "", "2.5", 'a,"b" | c', "1"]])
        table = query(CAPTURE, self.SQL).stdout.split("\n")
        self.assertEqual(table[0].split(), ["one", "none", "real", "text", "one"])
        markdown = query(CAPTURE, self.SQL, "--format", "markdown").stdout
        self.assertIn(r"\|", markdown)
        self.assertTrue(markdown.startswith("| one"), markdown)

    def test_columns_of_tables_have_unit_and_meaning(self):
        columns = ask(CAPTURE, "SELECT duration_ns AS d, sum(duration_ns) FROM kernels")["columns"]
        self.assertEqual(columns[0], {"name": "d", "type": "integer", "unit": "ns", "meaning": "end minus start"})
        self.assertIsNone(columns[1]["unit"])

    def test_a_cut_answer_says_so_with_the_total(self):
        answer = json.loads(query(CAPTURE, "SELECT name FROM kernels", "--limit", 7, "--format", "json").stdout)
        self.assertEqual((answer["row_count"], answer["total_rows"], answer["truncated"]), (7, 4465, True))
        self.assertEqual(answer["notes"], ["7 of 4,465 rows, by the limit of rows"])
        self.assertEqual(len(answer["rows"]), 7)
        for form in ("csv", "ndjson"):
            done = query(CAPTURE, "SELECT name FROM kernels", "--limit", 7, "--format", form)
            self.assertIn("7 of 4,465 rows", done.stderr)
        self.assertIn("7 of 4,465 rows", query(CAPTURE, "SELECT name FROM kernels", "--limit", 7).stdout)

    def test_statements_come_from_files_and_standard_input(self):
        with tempfile.TemporaryDirectory() as folder:
            script = pathlib.Path(folder) / "statements.sql"
            script.write_text("SELECT ';' AS a; -- a comment; with a semicolon\nSELECT 2 AS b;\n/* ; */", "utf-8")
            done = query(CAPTURE, "-f", script, "--format", "csv")
        self.assertEqual(done.stdout, "a\n;\nb\n2\n", done.stderr)
        self.assertEqual(query(CAPTURE, "-", "--format", "csv", stdin="SELECT 3 AS c").stdout, "c\n3\n")

    def test_several_runs_differ_in_the_column_run(self):
        other = DATA / "h200-collector" / "dense_graph.llmtrace.gz"
        rows = ask([CAPTURE, other], "SELECT run, count(*) FROM kernels GROUP BY run ORDER BY run")["rows"]
        self.assertEqual([row[0] for row in rows], ["dense_graph.llmtrace.gz", "nsys.sqlite"])
        for capture, row in zip((other, CAPTURE), rows, strict=True):
            self.assertEqual(ask(capture, "SELECT count(*) FROM kernels")["rows"], [row[1:]])
        by_name = ask([CAPTURE, other], "SELECT name, count(*) FROM kernels GROUP BY name")["rows"]
        self.assertEqual(sum(row[1] for row in by_name), sum(row[1] for row in rows))
        self.assertEqual([row[0] for row in by_name], sorted(row[0] for row in by_name))
        answer = ask([CAPTURE, DATA / "h200-decoder" / "kineto.json.gz"], "SELECT count(*) FROM operators")
        self.assertEqual(len(answer["notes"]), 1)
        self.assertTrue(answer["notes"][0].startswith("nsys.sqlite has no operators: "))

    def test_a_terminal_asks_again_and_again(self):
        main, side = pty.openpty()
        with subprocess.Popen([LLMPROF, "query", str(CAPTURE)], stdin=side, stdout=side, stderr=side) as process:
            os.close(side)
            text = ""

            def expect(wanted):
                nonlocal text
                end = time.monotonic() + 60
                while wanted not in text:
                    self.assertLess(time.monotonic(), end, text)
                    text += os.read(main, 4096).decode()
                text = text[text.index(wanted) + len(wanted):]

            expect("llmprof> ")
            os.write(main, b"SELECT count(*) AS many\nFROM kernels;\n")
            expect("...> ")
            expect("4465")
            os.write(main, b"SELECT nonsense;\n")
            expect("no such column: nonsense")
            os.write(main, b".tables\n")
            expect("memory_ops")
            os.write(main, b".quit\n")
            self.assertEqual(process.wait(60), 0)
        os.close(main)


class Errors(unittest.TestCase):
    def check(self, sql, code, *texts, options=()):
        done = query(CAPTURE, sql, *options)
        self.assertEqual(done.returncode, code, f"{sql[:200]}: {done.stdout[:500]}{done.stderr[:500]}")
        for text in texts:
            self.assertIn(text, done.stderr, sql[:200])
        return done

    def test_mistyped_names_get_a_suggestion(self):
        self.check("SELECT * FROM kernel", 2, "no such table: kernel; did you mean kernels?")
        self.check("SELECT duration FROM kernels", 2, "did you mean duration_ns?")
        self.check("SELECT k.strat_ns FROM kernels k", 2, "did you mean start_ns?")
        self.check("SELECT wall_ms_mean FROM kernels", 2, "these tables have it: stages")
        self.check("SELECT percentil(1, 2)", 2, "did you mean percentile?")
        self.check("SELEC 1", 2, "syntax error")
        self.check("SELECT 1; SELECT 2 FROM nothing_like_that", 2, "tables: runs, ")

    def test_what_a_capture_lacks_is_an_error_that_says_how_to_record_it(self):
        for table, advice in (("requests", "llmprof load"), ("operators", "torch.profiler"), ("ranks", "torchrun"),
                              ("kernel_metrics", "ncu --csv"), ("counters", "llmprof run")):
            done = self.check(f"SELECT * FROM {table}", 3, f"llmprof: {table}: ", advice)
            self.assertEqual(done.stdout, "")
        totals = DATA / "h200-decoder" / "nsys_cuda_gpu_kern_sum.csv"
        for table in ("kernels", "stages", "steps", "memory_ops", "launches"):
            self.assertEqual(query(totals, f"SELECT * FROM {table}").returncode, 3, table)
        self.assertGreater(len(ask(totals, "SELECT * FROM kernel_totals")["rows"]), 10)

    def test_statements_only_read(self):
        for sql in ("ATTACH 'x.db' AS x", "CREATE TABLE t(x)", "CREATE TEMP VIEW v AS SELECT 1", "DROP TABLE kernels",
                    "INSERT INTO kernels VALUES (1)", "UPDATE kernels SET name = 1", "DELETE FROM kernels",
                    "BEGIN", "COMMIT", "VACUUM", "VACUUM INTO 'x.db'", "REINDEX", "ANALYZE", "DETACH main",
                    "PRAGMA writable_schema = 1", "PRAGMA temp_store_directory = '/tmp'", "PRAGMA database_list",
                    "PRAGMA hard_heap_limit = 0", "SELECT * FROM pragma_database_list",
                    "SELECT load_extension('x')", "SELECT readfile('/etc/passwd')", "SELECT writefile('x', 'y')",
                    "SELECT random()", "SELECT fts3_tokenizer('x')", "SELECT * FROM dbstat",
                    "SELECT * FROM sqlite_dbpage", "CREATE TABLE IF NOT EXISTS kernels(x)", "SAVEPOINT x",
                    "ALTER TABLE kernels RENAME TO x", "CREATE VIRTUAL TABLE x USING llmprof",
                    "EXPLAIN ATTACH 'x' AS y", "WITH x AS (SELECT 1) DELETE FROM kernels"):
            self.check(sql, 2)
        self.check("PRAGMA table_info(kernels)", 0)
        self.check("SELECT name FROM sqlite_master", 0)
        self.check("SELECT value FROM json_each('[1, 2]')", 0)

    def test_bombs_are_stopped(self):
        begun = time.monotonic()
        limit = ["--timeout", 1]
        self.check(BOMB.format("count(*)"), 4, "took longer than 1 s", options=limit)
        self.check("SELECT count(*) FROM kernels a, kernels b, kernels c", 4, "took longer", options=limit)
        self.check("SELECT count(*) FROM kernels a JOIN kernels b ON a.duration_ns + b.duration_ns = 7", 4, options=limit)
        endless = self.check(BOMB.format("x"), 0, options=[*limit, "--limit", 5, "--format", "json"])
        answer = json.loads(endless.stdout)
        self.assertEqual((answer["row_count"], answer["truncated"], answer["total_is_complete"]), (5, True, False))
        self.assertLess(time.monotonic() - begun, 60)

    def test_memory_is_bounded(self):
        self.check("SELECT zeroblob(1000000000)", 2)
        self.check("SELECT length(replace(hex(zeroblob(100000)), '0', 'aaaaaaaaaaaaaaaaaaaa'))", 2)
        doubling = ", ".join(f"t{i} AS (SELECT 1 FROM t{i + 1} a, t{i + 1} b)" for i in range(40))
        self.check(f"WITH {doubling}, t40 AS (SELECT 1) SELECT count(*) FROM t0", 4, "memory", options=["--timeout", 20])
        self.check("WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c LIMIT 100000) "
                   "SELECT hex(zeroblob(100000)) || x AS h FROM c ORDER BY h", 4, "memory", options=["--timeout", 60])

    def test_long_and_deep_statements_are_refused(self):
        for sql in ("SELECT " + "1 + " * 60_000 + "1", "SELECT " + "(" * 5000 + "1" + ")" * 5000,
                    "SELECT '" + "x" * 1_000_000 + "'", "SELECT 1" + " UNION ALL SELECT 1" * 400,
                    "SELECT " + ", ".join("1" for _ in range(3000)), "SELECT 1 WHERE 'a' LIKE '" + "%a" * 2000 + "'"):
            done = query(CAPTURE, "-", stdin=sql)
            self.assertEqual(done.returncode, 2, f"{sql[:80]}: {done.stderr[:300]}")
        self.check("SELECT :x", 2, "parameter")
        self.check(";;", 2, "empty")

    def test_usage(self):
        self.assertEqual(query("SELECT 1").returncode, 2)  # no run
        self.assertEqual(query("no_such_run", "SELECT 1").returncode, 3)
        self.assertEqual(query().returncode, 2)
        self.assertEqual(query(CAPTURE, stdin="").returncode, 2)
        self.assertEqual(query("--schema", "kernel").returncode, 2)
        self.assertEqual(query(CAPTURE, "--recipe", "top_kernel").returncode, 2)
        self.assertIn("did you mean 'top_kernels'?", query(CAPTURE, "--recipe", "top_kernel").stderr)
        self.assertEqual(query(CAPTURE, "--recipe", "top_kernels", "--set", "rows=many").returncode, 2)


class Functions(unittest.TestCase):
    def test_they_compute_what_they_say(self):
        intervals = "(VALUES (0, 10), (5, 12), (20, 30), (30, 31), (25, 26), (40, 40), (NULL, 3))"
        cases = [
            (f"SELECT interval_union(column1, column2) FROM {intervals}", 23),
            ("SELECT interval_union(1, 2) WHERE 0", 0),
            ("SELECT overlap(0, 10, 5, 20)", 5),
            ("SELECT overlap(0, 10, 10, 20)", 0),
            ("SELECT overlap(0, NULL, 10, 20)", None),
            ("SELECT bucket(25, 10)", 20),
            ("SELECT bucket(-1, 10)", -10),
            ("SELECT bucket(2.6, 0.5)", 2.5),
            ("SELECT percentile(value, 50) FROM json_each('[4, 1, 3, 2]')", 2),
            ("SELECT percentile(value, 99) FROM json_each('[4, 1, 3, 2]')", 4),
            ("SELECT percentile(value, 0) FROM json_each('[4.5, 1.5]')", 1.5),
            ("SELECT percentile(value, 50) FROM json_each('[]')", None),
            ("SELECT short_name('no kernel')", None),
            ("SELECT count(*) FROM kernels_of(3)", None),
        ]
        answers = ask_all(CAPTURE, [sql for sql, _ in cases])
        for (sql, expected), answer in zip(cases[:-1], answers, strict=False):
            self.assertEqual(answer["rows"], [[expected]], sql)
        by_step = ask(CAPTURE, "SELECT count(*) FROM kernels WHERE step = 3")["rows"]
        self.assertEqual(answers[-1]["rows"], by_step)
        joined = ask(CAPTURE, "SELECT s.step, count(*), s.kernel_count FROM steps s, kernels_of(s.step) k GROUP BY s.step")
        self.assertTrue(joined["rows"])
        self.assertTrue(all(row[1] == row[2] for row in joined["rows"]))

    def test_wrong_arguments_are_errors(self):
        for sql in ("SELECT percentile(1, 101)", "SELECT percentile('x', 50)", "SELECT bucket(1, 0)",
                    "SELECT * FROM kernels_of", "SELECT overlap(1, 2)"):
            self.assertEqual(query(CAPTURE, sql).returncode, 2, sql)
        self.assertEqual(ask(CAPTURE, "SELECT count(*) FROM kernels_of('x')")["rows"], [[0]])
        self.assertEqual(ask(CAPTURE, "SELECT count(*) FROM kernels_of(NULL)")["rows"], [[0]])


class Export(unittest.TestCase):
    def test_the_file_is_complete_or_missing(self):
        with tempfile.TemporaryDirectory() as folder:
            out = pathlib.Path(folder) / "run.sqlite"
            done = run("export", CAPTURE, "--out", out)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(os.listdir(folder), ["run.sqlite"])
            with sqlite3.connect(out) as database:
                self.assertEqual(database.execute("PRAGMA integrity_check").fetchone(), ("ok",))
                lacks = dict(database.execute("SELECT * FROM llmprof_lacks"))
            self.assertIn("llmprof load", lacks["requests"])
            self.assertEqual(run("export", CAPTURE, "--out", out).returncode, 2)
            self.assertEqual(run("export", CAPTURE, "--out", out, "--force").returncode, 0)
            link = pathlib.Path(folder) / "link.sqlite"
            link.symlink_to(out)
            self.assertEqual(run("export", CAPTURE, "--out", link, "--force").returncode, 0)
            self.assertTrue(link.is_symlink())
            link.unlink()
            self.assertEqual(run("export", CAPTURE, "--out", pathlib.Path(folder) / "no" / "run.sqlite").returncode, 4)
            self.assertEqual(run("export", CAPTURE, "--out", folder, "--force").returncode, 2)
            self.assertEqual(os.listdir(folder), ["run.sqlite"])


class Bundles(unittest.TestCase):
    def test_a_bundle_without_its_captures_answers_what_profile_json_has(self):
        with tempfile.TemporaryDirectory() as folder:
            capture = pathlib.Path(folder) / "trace.sqlite"
            capture.write_bytes(CAPTURE.read_bytes())
            out = pathlib.Path(folder) / "run"
            self.assertEqual(run("analyze", capture, "--out", out).returncode, 0)
            before = ask(out, "SELECT count(*) FROM kernels")["rows"]
            self.assertEqual(before, [[4465]])
            capture.unlink()
            self.assertEqual(ask(out, "SELECT count(*) FROM steps")["rows"], [[16]])
            done = query(out, "SELECT count(*) FROM kernels")
            self.assertEqual(done.returncode, 3)
            self.assertIn("no longer exists", done.stderr)
            # Not computed again: what it says is what counts.
            profile = json.loads((out / "profile.json").read_text("utf-8"))
            profile["steps"][0]["wall_ms"] = 12345.5
            (out / "profile.json").write_text(json.dumps(profile), "utf-8")
            self.assertEqual(ask(out, "SELECT max(wall_ms) FROM steps")["rows"], [[12345.5]])


class Secrets(unittest.TestCase):
    """Paths, command lines and environments are in a bundle's files, but never in an answer."""

    MARK = "pl4nt3d7x"

    def test_no_answer_contains_them(self):
        with tempfile.TemporaryDirectory(prefix=f"{self.MARK}-user-") as folder:
            capture = pathlib.Path(folder) / f"{self.MARK}-project" / "trace.sqlite"
            capture.parent.mkdir()
            capture.write_bytes(CAPTURE.read_bytes())
            out = pathlib.Path(folder) / "run"
            self.assertEqual(run("analyze", capture, "--out", out).returncode, 0)
            profile = json.loads((out / "profile.json").read_text("utf-8"))
            profile["workload"]["command"] = f"python serve.py --api-key {self.MARK}"
            profile["model"] = profile["model"] and {**profile["model"], "source": f"/home/{self.MARK}/config.json"}
            text = f"/home/{self.MARK}/x.sqlite: HF_TOKEN={self.MARK}, --password {self.MARK}; 'runs/{self.MARK}/y.json'"
            profile["diagnostics"].append({"severity": "info", "code": "planted", "message": text, "count": 1})
            for finding in profile["findings"]:
                finding["evidence"] = text
            (out / "profile.json").write_text(json.dumps(profile), "utf-8")
            self.assertIn(self.MARK, json.dumps(profile["context"]))
            tables = [row["table"] for row in map(json.loads, query("--schema", "--format", "ndjson").stdout.splitlines())
                      if "(" not in row["table"]]
            self.assertGreater(len(tables), 40)
            for table in tables:
                done = query(out, f'SELECT * FROM "{table}"', "--format", "csv", "--limit", 1_000_000)
                self.assertIn(done.returncode, (0, 3), table)
                self.assertNotIn(self.MARK, done.stdout, table)
                if done.returncode == 0:
                    self.assertNotIn(self.MARK, done.stderr, table)
            self.assertIn("x.sqlite", query(out, "SELECT message FROM diagnostics", "--format", "csv").stdout)
            copy = pathlib.Path(folder) / "copy.sqlite"
            self.assertEqual(run("export", out, "--out", copy).returncode, 0)
            self.assertNotIn(self.MARK.encode(), copy.read_bytes())


if __name__ == "__main__":
    unittest.main()
