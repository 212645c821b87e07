"""llmprof query: the rows of every table are those of profile.json, and single events sum to its figures."""
import collections
import functools
import json
import os
import pathlib
import random
import shutil
import subprocess
import tempfile
import unittest

from program import DATA, ROOT, run
from query_tables import PATHS, RUNS, SHORTENED, ask, ask_all, dicts, expected_rows, random_statements, sqlite_rows

SHARED = pathlib.Path(os.environ.get("LLMPROF_CAPTURES", ROOT.parent / "shared" / "captures"))

SHARED_RUNS = {}
if SHARED.is_dir():
    SHARED_RUNS = {
        "shared: llama.cpp": [SHARED / "engines" / "llama_cpp_server.llmtrace.gz"],
        "shared: two GPUs": [SHARED / "public" / "GindaChen+nsys-ai__mfu_2gpu_before.sqlite"],
        "shared: SGLang": [SHARED / "public" / "AMD-AGI+TraceLens__sglang_Qwen3-8B_decode.json.gz"],
        "shared: vLLM": [SHARED / "public" / "AMD-AGI+TraceLens__inference_vllm_decode_full_graph_execution.json.gz"],
    }


def unpacked_serving(folder):
    """The load of a llama-server with its requests, which are joined to its steps."""
    log = pathlib.Path(folder) / "llama_server_planted.llmtrace"
    with open(log, "wb") as file:
        subprocess.run(["xz", "-dc", SHARED / "serving" / "llama_server_planted.llmtrace.xz"], stdout=file, check=True)
    return [log, SHARED / "serving" / "llama_server_planted.requests.json.gz"]


# Of single events; asked together, because a run's captures are read again for each call.
OF_EVENTS = {
    "whole": "SELECT count(*), sum(duration_ns) FROM kernels",
    "names": "SELECT name, device, count(*), sum(duration_ns) FROM kernels GROUP BY name, device",
    "classes": "SELECT class, count(*), sum(duration_ns) FROM kernels GROUP BY class",
    "devices": "SELECT device, interval_union(start_ns, end_ns), max(end_ns) - min(start_ns) FROM kernels GROUP BY 1",
    "short names": "SELECT name, short_name(name), short_name FROM kernels GROUP BY name",
    "instances": "SELECT stage, instance, count(*), sum(duration_ns), max(warmup) FROM kernels "
                 "WHERE stage IS NOT NULL GROUP BY stage, instance",
    "classes of instances": "SELECT stage, instance, class, sum(duration_ns) FROM kernels "
                            "WHERE stage IS NOT NULL GROUP BY stage, instance, class",
    "classes of steps": "SELECT step, class, sum(duration_ns) FROM kernels WHERE step IS NOT NULL GROUP BY step, class",
    "steps": "SELECT step, count(*) FROM kernels WHERE step IS NOT NULL GROUP BY step",
    "layers": "SELECT stage, layer, sum(duration_ns) FROM kernels WHERE layer IS NOT NULL GROUP BY stage, layer",
    "stages": "SELECT name, stage, count(*), sum(duration_ns) FROM kernels WHERE stage IS NOT NULL GROUP BY 1, 2",
    "copies": "SELECT count(*), coalesce(sum(duration_ns), 0), coalesce(sum(bytes), 0) FROM memory_ops",
    "graphs": "SELECT count(*), coalesce(sum(duration_ns), 0) FROM graphs",
}


class Tables(unittest.TestCase):
    maxDiff = 4000

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.runs = RUNS | SHARED_RUNS
        if SHARED.is_dir() and shutil.which("xz"):
            cls.runs["shared: requests"] = unpacked_serving(cls.folder.name)
        cls.bundles = {}
        for name, captures in cls.runs.items():
            out = pathlib.Path(cls.folder.name) / name.replace(" ", "_").replace(":", "")
            done = run("analyze", *captures, "--out", out)
            if done.returncode != 0:
                raise AssertionError(f"{name}: {done.stderr}")
            cls.bundles[name] = out

    def each_run(self):
        for name, bundle in self.bundles.items():
            yield name, bundle, json.loads((bundle / "profile.json").read_text(encoding="utf-8"))

    @classmethod
    @functools.cache
    def of_events(cls, name):
        answers = ask_all(cls.bundles[name], list(OF_EVENTS.values()))
        return {what: answer["rows"] for what, answer in zip(OF_EVENTS, answers, strict=True)}

    def rows_of(self, bundle, table):
        """None also if the run lacks the table."""
        done = run("query", bundle, f"SELECT * FROM {table}", "--format", "json")
        if done.returncode == 3:
            return []
        self.assertEqual(done.returncode, 0, f"{table}: {done.stderr}")
        return dicts(json.loads(done.stdout))

    def test_tables_have_the_rows_of_profile_json(self):
        compared = collections.Counter()
        for name, bundle, profile in self.each_run():
            expected = {table: expected_rows(profile, table) for table in PATHS}
            full = [table for table in PATHS if expected[table]]
            answers = ask_all(bundle, [f"SELECT * FROM {table}" for table in full])
            found = {table: dicts(answer) for table, answer in zip(full, answers, strict=True)}
            if not name.startswith("shared"):  # those are large, and each of these calls reads one again
                found |= {table: self.rows_of(bundle, table) for table in PATHS if table not in found}
            for table, rows in found.items():
                self.assertEqual(len(rows), len(expected[table]), f"{name}: {table}")
                for row, wanted in zip(rows, expected[table], strict=True):
                    for column, value in wanted.items():
                        if column.rsplit("_", 1)[-1] in SHORTENED or column in SHORTENED:
                            continue
                        if value is None and column not in row:
                            continue  # a struct that is missing: its members are columns
                        self.assertIn(column, row, f"{name}: {table}")
                        self.assertEqual(row[column], value, f"{name}: {table}.{column}")
                        compared[table] += 1
        never = set(PATHS) - set(compared) - {"device_idle"}
        needs_job = {"ranks", "rank_times", "rank_stages", "rank_steps", "collectives", "stragglers", "rank_groups"}
        self.assertLessEqual(never, needs_job | {"stage_cost"})

    def test_kernels_sum_to_the_totals(self):
        for name, bundle, profile in self.each_run():
            if profile["totals"]["source"] != "timeline":
                done = run("query", bundle, "SELECT * FROM kernels")
                self.assertEqual(done.returncode, 3, name)
                self.assertIn("Record", done.stderr)
                continue
            asked = self.of_events(name)
            totals = profile["totals"]
            self.assertEqual(asked["whole"], [[totals["kernel_count"], totals["kernel_sum_ns"]]], name)
            self.assertEqual({(row[0], row[1]): (row[2], row[3]) for row in asked["names"]},
                             {(row["kernel_name"], row["device"]): (row["calls"], row["total_ns"])
                              for row in profile["kernels"]}, name)
            self.assertEqual({row[0]: row[1] for row in asked["classes"]},
                             {row["class"]: row["calls"] for row in profile["classes"]}, name)
            for row in profile["classes"]:
                total = next(found[2] for found in asked["classes"] if found[0] == row["class"])
                self.assertAlmostEqual(total / 1e6, row["total_ms"], 9, name)
            for device in totals["devices"]:
                busy, span = next(found[1:] for found in asked["devices"] if found[0] == device["device"])
                self.assertAlmostEqual(busy / 1e6, device["gpu_busy_ms"], 6, name)
                self.assertAlmostEqual(span / 1e6, device["span_ms"], 6, name)
            self.assertTrue(all(row[1] == row[2] for row in asked["short names"]), name)

    def test_kernels_have_the_stages_steps_and_layers_of_the_profile(self):
        compared = collections.Counter()
        for name, bundle, profile in self.each_run():
            if profile["totals"]["source"] != "timeline":
                continue
            asked = self.of_events(name)
            found = {(row[0], row[1]): row[2:] for row in asked["instances"]}
            by_class = collections.defaultdict(dict)
            for stage, instance, word, total in asked["classes of instances"]:
                by_class[stage, instance][word] = total
            for stage in profile["stages"]:
                for index, instance in enumerate(stage["instances"]):
                    key = (stage["name"], index)
                    count, total, warmup = found.pop(key, [0, 0, int(instance["warmup"])])
                    self.assertEqual((count, warmup), (instance["kernel_count"], int(instance["warmup"])), (name, key))
                    self.assertAlmostEqual(total / 1e6, instance["gpu_sum_ms"], 6)
                    self.assertEqual(by_class[key], instance["classes_ns"], (name, key))
                    compared["instances"] += 1
            self.assertEqual(found, {}, name)
            by_step, count_of = collections.defaultdict(dict), dict(asked["steps"])
            for step, word, total in asked["classes of steps"]:
                by_step[step][word] = total
            for index, step in enumerate(profile["steps"]):
                self.assertEqual(by_step[index], step["classes_ns"], (name, index))
                self.assertEqual(count_of.get(index, 0), step["kernel_count"], (name, index))
                compared["steps"] += 1
            whole = {}
            for row in profile["layers"]:
                if not row["part"] and not row["outside"]:
                    key = (row["stage"], row["name"])
                    whole[key] = whole.get(key, 0) + row["total_ns"]
            self.assertEqual({(row[0], row[1]): row[2] for row in asked["layers"]}, whole, name)
            compared["layers"] += len(whole)
            expected = collections.Counter()
            for kernel in profile["kernels"]:
                for stage, time in kernel["stages"].items():
                    expected[kernel["kernel_name"], stage] += time["calls"]
            self.assertEqual({(row[0], row[1]): row[2] for row in asked["stages"]}, dict(expected), name)
        self.assertTrue(all(compared[what] for what in ("instances", "steps", "layers")), compared)

    def test_other_gpu_work_sums_to_the_totals(self):
        for name, bundle, profile in self.each_run():
            if profile["totals"]["source"] != "timeline":
                continue
            copies, graphs = (self.of_events(name)[what][0] for what in ("copies", "graphs"))
            totals = profile["totals"]
            count, time, size = copies
            self.assertEqual(count, totals["memory_operation_count"], name)
            self.assertAlmostEqual(time / 1e6, totals["memory_operation_sum_ms"], 6)
            self.assertEqual(count, sum(row["count"] for row in profile["copies"]), name)
            self.assertEqual(size, sum(row["bytes"] or 0 for row in profile["copies"]), name)
            hidden = totals["hidden_graphs"] or {"replays": 0, "total_ms": 0}
            self.assertEqual(graphs[0], hidden["replays"], name)
            self.assertAlmostEqual(graphs[1] / 1e6, hidden["total_ms"], 6)

    def test_launches_ranges_and_operators_are_those_of_the_file(self):
        """Counted in the captures themselves."""
        file = DATA / "h200-decoder" / "nsys.sqlite"
        calls = sqlite_rows(file, "SELECT count(*), sum(end - start) FROM CUPTI_ACTIVITY_KIND_RUNTIME")
        ranges = sqlite_rows(file, "SELECT count(*) FROM NVTX_EVENTS WHERE eventType IN (59, 60, 34)")
        answers = ask_all(self.bundles["nsys and ncu"], [
            "SELECT count(*), sum(duration_ns) FROM launches", "SELECT count(*) FROM ranges",
            "SELECT count(*) FROM kernels k JOIN launches l ON l.launch = k.launch WHERE l.kind LIKE '%launch'"])
        self.assertEqual(answers[0]["rows"], calls)
        self.assertEqual(answers[1]["rows"], ranges)
        kernels = sqlite_rows(file, "SELECT count(*) FROM CUPTI_ACTIVITY_KIND_KERNEL k JOIN "
                                    "CUPTI_ACTIVITY_KIND_RUNTIME r ON r.correlationId = k.correlationId")
        self.assertEqual(answers[2]["rows"], kernels)
        profile_of = {name: profile for name, _, profile in self.each_run()}
        rows = ask(self.bundles["PyTorch"], "SELECT name, count(*) FROM operators GROUP BY name")["rows"]
        self.assertEqual(dict(rows), {row["name"]: row["calls"] for row in profile_of["PyTorch"]["operators"]})

    def test_tokens_are_those_of_their_requests(self):
        bundle = self.bundles["requests"]
        items = json.loads((bundle / "profile.json").read_text(encoding="utf-8"))["requests"]["items"]
        rows = ask(bundle, "SELECT request, chunk, time_ns, gap_ns, batch FROM tokens")["rows"]
        expected = []
        for index, item in enumerate(items):
            before = 0
            batches = item["token_batches"] or [-1] * len(item["token_ns"])
            for chunk, (time, batch) in enumerate(zip(item["token_ns"], batches, strict=True)):
                expected.append([index, chunk, time, time - before, None if batch < 0 else batch])
                before = time
        self.assertEqual(rows, expected)
        self.assertTrue(any(row[4] is not None for row in rows))

    def test_the_exported_database_answers_the_same(self):
        statements = [
            "SELECT name, count(*), sum(duration_ns) FROM kernels GROUP BY name ORDER BY name",
            "SELECT class, stage, count(*) FROM kernels GROUP BY class, stage ORDER BY class, stage",
            "SELECT * FROM kernels ORDER BY start_ns, kernel LIMIT 50",
            "SELECT kernel, start_ns FROM kernels WHERE start_ns BETWEEN (SELECT min(start_ns) + 1000000 FROM kernels) "
            "AND (SELECT min(start_ns) + 9000000 FROM kernels) ORDER BY kernel",
            "SELECT kernel FROM kernels WHERE stage = 'decode' AND class = 'gemm' ORDER BY start_ns DESC LIMIT 20",
            "SELECT k.class, s.kind, count(*), sum(k.duration_ns) FROM kernels k JOIN steps s ON s.step = k.step "
            "GROUP BY 1, 2 ORDER BY 1, 2",
            "SELECT DISTINCT device, stream FROM kernels ORDER BY 1, 2",
            "SELECT stage, count(*) FROM kernels GROUP BY stage ORDER BY stage DESC",
            "SELECT grid, block, count(*) FROM kernels GROUP BY grid, block ORDER BY 3 DESC, 1, 2",
            "SELECT name COLLATE NOCASE AS n, count(*) FROM kernels GROUP BY n ORDER BY n",
            "SELECT count(*) FROM kernels WHERE name = 5 OR step = '3' OR stage IS NULL",
            "SELECT step, count(*) FROM kernels WHERE step IN (1, 2, 3, 999) GROUP BY step ORDER BY step",
            "SELECT api, count(*), sum(duration_ns) FROM launches GROUP BY api ORDER BY api",
            "SELECT count(*), sum(k.start_ns - l.start_ns) FROM kernels k JOIN launches l ON l.launch = k.launch",
            "SELECT * FROM stages", "SELECT * FROM steps ORDER BY step", "SELECT * FROM kernel_totals ORDER BY 1, 2, 3",
            "SELECT layer, sum(duration_ns) FROM kernels WHERE warmup = 0 GROUP BY layer ORDER BY layer",
            "WITH s AS (SELECT step, sum(duration_ns) AS t FROM kernels GROUP BY step) "
            "SELECT step, t, rank() OVER (ORDER BY t DESC) FROM s ORDER BY t DESC, step",
        ]
        for name in ("nsys and ncu", "collector", "serving"):
            bundle = self.bundles[name]
            file = pathlib.Path(self.folder.name) / "copy.sqlite"
            done = run("export", bundle, "--format", "sqlite", "--out", file, "--force")
            self.assertEqual(done.returncode, 0, done.stderr)
            middle = sqlite_rows(file, "SELECT start_ns FROM kernels WHERE kernel = 7")[0][0]
            ranges = [f"SELECT count(*), min(kernel), max(kernel), sum(start_ns) FROM kernels WHERE start_ns {range}"
                      for range in (f"> {middle}", f">= {middle}", f"< {middle}", f"<= {middle}", f"> {middle - 1}.5",
                                    f"< {middle}.5", f"< '{middle}'", "> 'x'", "< 'x'", "> NULL",
                                    f"> {middle} AND class = 'gemm'", f"> {middle} AND start_ns < {middle + 10**6}",
                                    f"BETWEEN {middle} AND {middle}", f"> {middle} OR start_ns < {middle}")]
            every = statements + ranges
            for sql, answer in zip(every, ask_all(bundle, every), strict=True):
                self.assertEqual(answer["rows"], sqlite_rows(file, sql), f"{name}: {sql}")
            columns = sqlite_rows(file, 'SELECT "column", unit FROM llmprof_columns WHERE "table" = \'kernels\'')
            self.assertIn(["duration_ns", "ns"], columns)

    def test_random_queries_equal_those_of_the_exported_database(self):
        bundle = self.bundles["nsys and ncu"]
        file = pathlib.Path(self.folder.name) / "random.sqlite"
        self.assertEqual(run("export", bundle, "--out", file).returncode, 0)
        chance = random.Random(5)
        tables = {}
        for table in ("kernels", "launches", "memory_ops", "steps", "kernel_totals", "layers", "ranges"):
            columns = sqlite_rows(file, f'SELECT "column", type FROM llmprof_columns WHERE "table" = \'{table}\'')
            values = sqlite_rows(file, f"SELECT * FROM {table}")
            tables[table] = (columns, values)

        statements = [sql for _, sql in random_statements(chance, tables, 150)]
        any_rows = 0
        for sql, answer in zip(statements, ask_all(bundle, statements), strict=True):
            expected = sqlite_rows(file, sql)
            self.assertEqual(answer["rows"], expected, sql)
            any_rows += len(expected) > 1
        self.assertGreater(any_rows, 50)

    def test_a_capture_gives_the_rows_of_its_bundle(self):
        capture = DATA / "h200-decoder" / "kineto.json.gz"
        for sql in ("SELECT stage, class, count(*), sum(duration_ns) FROM kernels GROUP BY 1, 2", "SELECT * FROM steps"):
            of_bundle = [row[1:] if "*" in sql.split("FROM")[0] and "count" not in sql else row
                         for row in ask(self.bundles["PyTorch"], sql)["rows"]]
            of_capture = [row[1:] if "*" in sql.split("FROM")[0] and "count" not in sql else row
                          for row in ask(capture, sql)["rows"]]
            self.assertEqual(of_bundle, of_capture)


if __name__ == "__main__":
    unittest.main()
