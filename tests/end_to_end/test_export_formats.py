"""llmprof export: what the formats' own readers find is what query and profile.json say."""
import collections
import json
import math
import pathlib
import random
import re
import tempfile
import unittest

import job_captures
from export_readers import GO, ArrowTables, PprofProfile, SpanReceiver, attributes_of, check_readers, pprof_top
from program import DATA, run
from query_tables import RUNS, ask_all, random_statements

EXIT_USAGE, EXIT_INPUT = 2, 3
DESCRIPTIONS = {"llmprof_columns", "llmprof_lacks"}


def setUpModule():
    check_readers()


class ExportCase(unittest.TestCase):
    maxDiff = 4000

    @classmethod
    def setUpClass(cls):
        holder = tempfile.TemporaryDirectory(prefix="llmprof-planted-folder-")
        cls.addClassCleanup(holder.cleanup)
        cls.folder = pathlib.Path(holder.name)
        cls.bundles = {}

    @classmethod
    def bundle(cls, name):
        """An analysis, shared by the tests of a class."""
        if name not in cls.bundles:
            out = cls.folder / name.replace(" ", "_")
            done = run("analyze", *RUNS[name], "--out", out)
            if done.returncode != 0:
                raise AssertionError(done.stderr)
            cls.bundles[name] = out
        return cls.bundles[name]

    @classmethod
    def job(cls):
        """A job of two ranks."""
        if "job" not in cls.bundles:
            captures = cls.folder / "ranks"
            captures.mkdir()
            job_captures.pytorch_job(captures, ranks=2)
            cls.bundles["job"] = cls.folder / "job"
            done = run("analyze", captures, "--out", cls.bundles["job"])
            if done.returncode != 0:
                raise AssertionError(done.stderr)
        return cls.bundles["job"]

    @classmethod
    def profile(cls, name):
        return json.loads((cls.bundle(name) / "profile.json").read_text(encoding="utf-8"))

    def export(self, runs, form, *options, code=0, out=None):
        runs = runs if isinstance(runs, list) else [runs]
        out = out or self.folder / f"{runs[0].name}.{form}"
        done = run("export", *runs, "--format", form, "--out", out, "--force", *options)
        self.assertEqual(done.returncode, code, done.stderr)
        return out


class Arrow(ExportCase):
    def check_all_tables(self, runs):
        folder = self.export(runs, "arrow")
        names = sorted(file.stem for file in folder.iterdir())
        own = [name for name in names if name not in DESCRIPTIONS]
        answers = ask_all(runs, [f'SELECT * FROM "{name}"' for name in own])
        read = ArrowTables(folder, names).tables
        for name, answer in zip(own, answers, strict=True):
            self.assertEqual([column["name"] for column in read[name]["columns"]],
                             [column["name"] for column in answer["columns"]], name)
            for column, expected in zip(read[name]["columns"], answer["columns"], strict=True):
                self.assertEqual((column["unit"] or "", column["meaning"]),
                                 (expected["unit"] or "", expected["meaning"] or "name of the run"), name)
            self.assertEqual(read[name]["rows"], answer["rows"], name)
        return read

    def test_all_tables_have_the_rows_of_query(self):
        for name in ("nsys and ncu", "CPU", "requests", "totals"):
            with self.subTest(name):
                self.check_all_tables(self.bundle(name))

    def test_ranks_of_a_job_are_parts_of_one_table(self):
        read = self.check_all_tables(self.job())
        ranks = [column["name"] for column in read["kernels"]["columns"]].index("rank")
        self.assertEqual({row[ranks] for row in read["kernels"]["rows"]}, {0, 1})
        self.assertEqual(len(read["ranks"]["rows"]), 2)

    def test_several_runs_are_parts_of_one_table(self):
        read = self.check_all_tables([self.bundle("CPU"), self.bundle("requests")])
        self.assertEqual({row[0] for row in read["kernels"]["rows"]}, {"CPU", "requests"})
        self.assertEqual(read["kernels"]["batches"], 2)

    def test_batches_are_bounded(self):
        bundle = self.bundle("collector")
        folder = self.export(bundle, "arrow")
        sql = "SELECT metric, count(*), sum(value) FROM counters GROUP BY metric ORDER BY metric"
        read = ArrowTables(folder, [], [(["counters"], sql)])
        (answer,) = ask_all(bundle, [sql])
        self.assertGreater(sum(row[1] for row in answer["rows"]), 1 << 16)
        for found, expected in zip(read.answers[0], answer["rows"], strict=True):
            self.assertEqual(found[:2], expected[:2])
            self.assertTrue(math.isclose(found[2], expected[2], rel_tol=1e-9), (found, expected))

    def test_descriptions_are_those_of_the_schema(self):
        folder = self.export(self.bundle("requests"), "arrow")
        read = ArrowTables(folder, DESCRIPTIONS).tables
        tables = sorted({row[0] for row in read["llmprof_columns"]["rows"]})
        schema = run("query", "--schema", *tables, "--format", "json")
        expected = [row for row in json.loads(schema.stdout)["rows"] if row[1] != "run"]
        self.assertEqual(sorted(read["llmprof_columns"]["rows"], key=lambda row: row[:2]),
                         sorted(expected, key=lambda row: row[:2]))
        lacks = dict(read["llmprof_lacks"]["rows"])
        self.assertEqual(set(lacks) | {file.stem for file in folder.iterdir()} - DESCRIPTIONS, set(tables))
        self.assertIn("ncu --csv", lacks["kernel_metrics"])

    def test_types_are_those_of_arrow(self):
        folder = self.export(self.bundle("nsys and ncu"), "arrow")
        kinds = {column["name"]: column["type"] for column in ArrowTables(folder, ["kernels"]).tables["kernels"]["columns"]}
        self.assertEqual([kinds[name] for name in ("name", "device", "start_ns", "warmup")],
                         ["dictionary<Utf8>", "dictionary<Utf8>", "Int64", "Bool"])
        for file in folder.iterdir():
            content = file.read_bytes()
            self.assertEqual((content[:8], content[-6:]), (b"ARROW1\0\0", b"ARROW1"), file.name)

    def test_100_random_queries_equal_those_of_duckdb(self):
        bundle = self.bundle("nsys and ncu")
        folder = self.export(bundle, "arrow")
        names = ("kernels", "launches", "memory_ops", "steps", "kernel_totals", "layers", "ranges", "kernel_metrics")
        types = collections.defaultdict(list)
        described = ArrowTables(folder, ["llmprof_columns", *names]).tables
        for table, column, kind, _, _ in described["llmprof_columns"]["rows"]:
            types[table].append((column, kind))
        tables = {name: (types[name], described[name]["rows"]) for name in names}
        for _, rows in tables.values():
            rows[:] = [[int(cell) if isinstance(cell, bool) else cell for cell in row] for row in rows]
        chance = random.Random(34)
        chosen = [((table,), sql) for table, sql in random_statements(chance, tables, 88, strict=True)]
        chosen += [((table,), f'SELECT "{key}", sum("{real}"), min("{real}"), avg("{real}") FROM {table} '
                              f'GROUP BY "{key}" ORDER BY "{key}"')
                   for table, key, real in (("steps", "stage", "wall_ms"), ("kernel_totals", "class", "total_ms"),
                                            ("layers", "name", "ms_per_step"), ("kernel_metrics", "metric", "mean"))]
        chosen += [
            (("kernels", "steps"), "SELECT s.kind, count(*), sum(k.duration_ns) FROM kernels k JOIN steps s ON s.step = "
                                   "k.step GROUP BY 1 ORDER BY 1"),
            (("kernels", "launches"), "SELECT l.api, count(*), sum(k.start_ns - l.start_ns) FROM kernels k JOIN launches l "
                                      "ON l.launch = k.launch GROUP BY l.api ORDER BY l.api"),
            (("kernels", "steps"), "SELECT s.step, count(k.kernel) FROM steps s LEFT JOIN kernels k ON k.step = s.step AND "
                                   "k.class = 'gemm' GROUP BY s.step ORDER BY s.step"),
            (("kernels",), "WITH s AS (SELECT step, sum(duration_ns) AS t FROM kernels GROUP BY step) SELECT step, t, "
                           "rank() OVER (ORDER BY t DESC) FROM s ORDER BY t DESC, step"),
            (("kernels",), "SELECT kernel, duration_ns FROM kernels ORDER BY duration_ns DESC, kernel LIMIT 20"),
            (("kernels",), "SELECT class, count(DISTINCT name) FROM kernels GROUP BY class HAVING count(*) > 50 ORDER BY "
                           "class"),
            (("steps", "layers"), "SELECT stage FROM steps UNION SELECT stage FROM layers ORDER BY 1"),
            (("kernels",), "SELECT count(*) FROM kernels WHERE short_name LIKE 'GEMM%' AND layer IS NOT NULL"),
        ]
        self.assertEqual(len(chosen), 100)
        setting = ((), "SET default_null_order = 'sqlite'")
        found = ArrowTables(folder, [], [setting, *chosen]).answers[1:]
        any_rows = 0
        for (_, sql), rows, answer in zip(chosen, found, ask_all(bundle, [sql for _, sql in chosen]), strict=True):
            self.assertEqual(len(rows), len(answer["rows"]), sql)
            any_rows += len(rows) > 1
            for row, expected in zip(rows, answer["rows"], strict=True):
                for cell, wanted in zip(row, expected, strict=True):
                    if isinstance(wanted, float) and cell is not None:
                        self.assertTrue(math.isclose(cell, wanted, rel_tol=1e-12), (sql, row, expected))
                    else:
                        self.assertEqual(cell, wanted, (sql, row, expected))
        self.assertGreater(any_rows, 40)


class Pprof(ExportCase):
    def test_totals_are_those_of_kernels_md(self):
        self.assertIsNotNone(GO, "go is missing; scripts/setup.sh test installs it")
        row = re.compile(r"^\| `.*` \| ([0-9.,]+) \| ([0-9,]+) \| .* \| (.*) \|$")
        for name in ("nsys and ncu", "CPU", "totals"):
            time, calls = collections.Counter(), collections.Counter()
            for line in (self.bundle(name) / "kernels.md").read_text(encoding="utf-8").splitlines():
                if match := row.match(line):
                    frame = match[3].replace("\\|", "|").replace("\\", "")
                    time[frame] += round(float(match[1].replace(",", "")) * 1e6)
                    calls[frame] += int(match[2].replace(",", ""))
            self.assertGreater(len(time), 5)
            file = self.export(self.bundle(name), "pprof")
            kind = PprofProfile(file).types[0][0]
            flat = {frame: value for frame, value in pprof_top(file, kind, "ns").items() if value}
            self.assertEqual(flat, dict(time), name)
            flat = {frame: value for frame, value in pprof_top(file, "kernels", "count").items() if value}
            self.assertEqual(flat, dict(calls), name)

    def test_sums_are_those_of_profile_json(self):
        for name in ("nsys and ncu", "CPU", "eager"):
            profile, file = self.profile(name), PprofProfile(self.export(self.bundle(name), "pprof"))
            kind = file.default_type
            self.assertEqual(kind, "cpu_kernel_time" if name == "CPU" else "gpu_kernel_time")
            self.assertEqual(file.types[:2], [(kind, "nanoseconds"), ("kernels", "count")])
            self.assertEqual(sum(file.sum_by(kind, lambda _: 0).values()), profile["totals"]["kernel_sum_ns"])
            self.assertEqual(sum(file.sum_by("kernels", lambda _: 0).values()), profile["totals"]["kernel_count"])
            kernels = [sample for sample in file.samples if sample.values["kernels"]]
            by_class, by_device = collections.Counter(), collections.Counter()
            for sample in kernels:
                by_class[sample.frames[1]] += sample.values["kernels"]
                by_device[sample.labels["device"]] += sample.values[kind]
            self.assertEqual(by_class, {row["class"]: row["calls"] for row in profile["classes"]})
            self.assertEqual(sum(by_device.values()), profile["totals"]["kernel_sum_ns"])
            self.assertEqual(set(by_device), {row["device"] for row in profile["kernels"]})
            for stage in profile["stages"]:
                expected = sum(each["kernel_count"] for each in stage["instances"])
                self.assertEqual(sum(sample.values["kernels"] for sample in kernels
                                     if sample.labels.get("stage") == stage["name"]), expected)
                roots = {sample.frames[-1] for sample in kernels if sample.labels.get("stage") == stage["name"]}
                self.assertLessEqual(roots, {stage["name"], f"{stage['name']} (warm-up)"})
            layers = {row["name"]: row["total_ns"] for row in profile["layers"]
                      if row["stage"] == "decode" and not row["part"] and not row["outside"]}
            sums = file.sum_by(kind, lambda sample: sample.frames[2] if sample.frames[-1] == "decode" and
                               len(sample.frames) == 4 else None)
            self.assertEqual({layer: sums[layer] for layer in layers}, layers)
            self.assertEqual(file.time > 0, profile["context"]["captures"][0]["wall_clock_ns"] is not None)
            span = max(row["span_ms"] for row in profile["totals"]["devices"]) if name != "CPU" else 0
            self.assertGreaterEqual(file.duration, span * 1e6)

    def test_ranks_of_a_job_are_labels(self):
        profile = json.loads((self.job() / "profile.json").read_text(encoding="utf-8"))
        file = PprofProfile(self.export(self.job(), "pprof"))
        sums = file.sum_by("gpu_kernel_time", lambda sample: sample.labels["rank"])
        self.assertEqual(set(sums), {"rank 0", "rank 1"})
        self.assertEqual(sum(sums.values()), profile["totals"]["kernel_sum_ns"])
        self.assertIn("without energy: measured for single ranks only; export the capture of one rank", file.comments)

    def test_only_recorded_quantities_are_sample_types(self):
        cpu = PprofProfile(self.export(self.bundle("CPU"), "pprof"))
        self.assertEqual([name for name, _ in cpu.types], ["cpu_kernel_time", "kernels", "flops", "moved"])
        kernels = self.profile("CPU")["kernels"]
        self.assertEqual(sum(cpu.sum_by("flops", lambda _: 0).values()), sum(row["flops"] or 0 for row in kernels))
        self.assertEqual(sum(cpu.sum_by("moved", lambda _: 0).values()), sum(row["bytes"] or 0 for row in kernels))

        gpu, profile = PprofProfile(self.export(self.bundle("eager"), "pprof")), self.profile("eager")
        self.assertEqual(gpu.types[2:], [("dram", "bytes"), ("energy", "microjoules")])
        for stage in profile["stages"]:
            bytes_of_steps = sum(step["dram_bytes"] or 0 for step in profile["steps"] if step["stage"] == stage["name"])
            dram = gpu.sum_by("dram", lambda sample: sample.labels.get("stage"))
            self.assertAlmostEqual(dram[stage["name"]], bytes_of_steps, delta=2)
            energy = gpu.sum_by("energy", lambda sample: sample.labels.get("stage"))
            measured = stage["measured"]
            self.assertAlmostEqual(energy[stage["name"]], (measured["energy_j"] or 0) * measured["instances"] * 1e6, delta=1)
        self.assertIn("without flops: only operators of a CPU state their FLOPs", gpu.comments)

        done = run("export", self.bundle("nsys and ncu"), "--format", "pprof", "--out", self.folder / "said.pb.gz")
        self.assertIn("Without energy: no stage has a measured energy\n", done.stdout)


class Otlp(ExportCase):
    def received(self, name):
        """The spans of a run by scope, and the lines that they were sent in."""
        lines = self.export(self.bundle(name), "otlp").read_text(encoding="utf-8").splitlines()
        with SpanReceiver() as receiver:
            for line in lines:
                self.assertEqual(receiver.post(line), 200)
            return receiver.spans(), lines

    def test_requests_and_steps_link_to_each_other(self):
        spans, _ = self.received("requests")
        profile = self.profile("requests")
        requests, steps = spans["llmprof.requests"], spans["llmprof.steps"]
        items = profile["requests"]["items"]
        self.assertEqual((len(requests), len(steps)), (len(items), len(profile["steps"])))
        wall = profile["context"]["captures"][0]["wall_clock_ns"]
        for (resource, span), item in zip(requests, items, strict=True):
            self.assertEqual(resource["llmprof.clock"], "time of day")
            self.assertEqual(int(span["startTimeUnixNano"]), wall + round(item["sent_ms"] * 1e6))
            self.assertEqual(int(span["endTimeUnixNano"]) - int(span["startTimeUnixNano"]), item["e2e_ns"])
            values = attributes_of(span)
            self.assertEqual(values["gen_ai.usage.input_tokens"], item["prompt_tokens"])
            self.assertEqual(values["gen_ai.usage.output_tokens"], item["output_tokens"])
            self.assertEqual({key: value for key, value in values.items() if key.startswith("llmprof.parts.")},
                             {f"llmprof.parts.{part}_ns": time for part, time in item["parts_ns"].items()})
            self.assertEqual(span["events"], [{"timeUnixNano": str(int(span["startTimeUnixNano"]) + item["ttft_ns"]),
                                               "name": "first_token"}])
        for (_, span), step in zip(steps, profile["steps"], strict=True):
            self.assertEqual(int(span["startTimeUnixNano"]), wall + round(step["start_ms"] * 1e6))
            self.assertEqual(attributes_of(span)["llmprof.kernels"], step["kernel_count"])

        places = {(span["traceId"], span["spanId"]): attributes_of(span) for _, span in requests + steps}
        made, first = collections.Counter(), []
        for _, span in steps:
            for link in span.get("links", []):
                request = places[link["traceId"], link["spanId"]]["llmprof.request"]
                self.assertEqual(request, attributes_of(link)["llmprof.request"])
                batch = items[request]["token_batches"][attributes_of(link)["llmprof.chunk"]]
                batch = profile["requests"]["batches"][batch]
                self.assertEqual(attributes_of(span)["llmprof.step"], batch["first_step"] + batch["steps"] - 1)
                made[request] += 1
        for _, span in requests:
            first += [places[link["traceId"], link["spanId"]]["llmprof.step"] for link in span.get("links", [])]
        self.assertEqual(made, {index: item["joined_tokens"] for index, item in enumerate(items)})
        self.assertEqual(len(first), sum(item["token_batches"][0] >= 0 for item in items))

    def test_runs_without_requests_have_stages_and_steps(self):
        spans, lines = self.received("nsys and ncu")
        profile = self.profile("nsys and ncu")
        instances = [(stage, each) for stage in profile["stages"] for each in stage["instances"]]
        self.assertEqual({scope: len(found) for scope, found in spans.items()},
                         {"llmprof.stages": len(instances), "llmprof.steps": len(profile["steps"])})
        parents = {}
        for (_, span), (stage, instance) in zip(spans["llmprof.stages"], instances, strict=True):
            self.assertEqual(span["name"], stage["name"])
            values = attributes_of(span)
            parts = {key: value for key, value in values.items() if key.startswith("llmprof.parts.")}
            self.assertEqual([key for key in values if not re.fullmatch(r"(\.?[a-z]+(_[a-z]+)*)+", key)], [])
            self.assertEqual(sum(parts.values()), int(span["endTimeUnixNano"]) - int(span["startTimeUnixNano"]))
            self.assertEqual(values["llmprof.warm_up"], instance["warmup"])
            parents[span["spanId"]] = span
        for (_, span), step in zip(spans["llmprof.steps"], profile["steps"], strict=True):
            parent = parents[span["parentSpanId"]]
            self.assertEqual((parent["name"], parent["traceId"]), (step["stage"], span["traceId"]))
        again = self.export(self.bundle("nsys and ncu"), "otlp").read_text(encoding="utf-8")
        self.assertEqual(again.splitlines(), lines)

    def test_lines_are_bounded_and_ids_unique(self):
        spans, lines = self.received("collector")
        self.assertEqual(len(lines), 2)
        found = [span for own in spans.values() for _, span in own]
        self.assertEqual(len({span["spanId"] for span in found}), len(found))
        other, _ = self.received("eager")
        self.assertFalse({span["spanId"] for span in found} & {span["spanId"] for own in other.values() for _, span in own})

    def test_the_receiver_refuses_what_is_not_otlp(self):
        line = self.export(self.bundle("requests"), "otlp").read_text(encoding="utf-8").splitlines()[0]
        with SpanReceiver() as receiver:
            for right, wrong in (("startTimeUnixNano", "start_time_unix_nano"), ('"kind":3', '"kind":"client"'),
                                 ("intValue", "integerValue"), ('"spanId":"', '"spanId":"x')):
                self.assertIn(right, line)
                with self.assertRaises(AssertionError):
                    receiver.post(line.replace(right, wrong))
            self.assertEqual(receiver.spans(), {})

    def test_a_capture_without_the_time_of_day_says_so(self):
        capture = DATA / "h200-serving" / "nsys.sqlite"
        first = json.loads(self.export(capture, "otlp").read_text(encoding="utf-8").splitlines()[0])
        resource = attributes_of(first["resourceSpans"][0]["resource"])
        self.assertIn("does not know the time of day", resource["llmprof.clock"])
        self.assertEqual(resource["llmprof.clock.offset_ns"], 0)

    def test_no_path_leaves_the_machine(self):
        for name in ("requests", "CPU"):
            for form in ("otlp", "pprof"):
                file = self.export(self.bundle(name), form)
                content = repr(PprofProfile(file).__dict__) if form == "pprof" else file.read_text(encoding="utf-8")
                self.assertNotIn("planted-folder", content)
                self.assertNotIn(str(DATA), content)


    def test_a_capture_that_is_gone_is_a_lack_without_its_path(self):
        log = self.folder / "gone.llmtrace"
        log.write_bytes((DATA / "collector_log" / "served.llmtrace").read_bytes())
        bundle = self.folder / "of_gone"
        self.assertEqual(run("analyze", log, "--out", bundle).returncode, 0)
        log.unlink()
        folder = self.export(bundle, "arrow")
        lacks = dict(ArrowTables(folder, ["llmprof_lacks"]).tables["llmprof_lacks"]["rows"])
        self.assertEqual(lacks["kernels"], "kernels: gone.llmtrace no longer exists")
        self.assertTrue((folder / "steps.arrow").exists())
        self.export(bundle, "pprof", code=EXIT_INPUT)
        self.export(bundle, "otlp")


class Files(ExportCase):
    def test_nothing_is_overwritten_without_force(self):
        bundle = self.bundle("CPU")
        for form in ("sqlite", "pprof", "otlp", "perfetto", "speedscope"):
            out = self.folder / f"kept.{form}"
            out.write_text("kept", "utf-8")
            done = run("export", bundle, "--format", form, "--out", out)
            self.assertEqual((done.returncode, out.read_text("utf-8")), (EXIT_USAGE, "kept"))
            self.assertIn("use --force to replace it", done.stderr)
            self.export(bundle, form, out=out)
            self.assertNotEqual(out.read_bytes(), b"kept")
        folder = self.folder / "kept.arrows"
        folder.mkdir()
        done = run("export", bundle, "--format", "arrow", "--out", folder)
        self.assertEqual(done.returncode, EXIT_USAGE)
        (folder / "notes.txt").write_text("kept", "utf-8")
        done = run("export", bundle, "--format", "arrow", "--out", folder, "--force")
        self.assertEqual(done.returncode, EXIT_USAGE)
        self.assertIn("is not a folder of an earlier export", done.stderr)
        self.assertEqual([file.name for file in folder.iterdir()], ["notes.txt"])
        (folder / "notes.txt").rename(folder / "of_an_earlier_run.arrow")
        self.export(bundle, "arrow", out=folder)
        self.assertNotIn("of_an_earlier_run", {file.stem for file in folder.iterdir()})
        self.assertEqual(list(self.folder.glob("*.partial")), [])

    def test_standard_output_has_the_file_alone(self):
        bundle = self.bundle("CPU")
        done = run("export", bundle, "--format", "otlp", "--out", "-")
        self.assertEqual(done.stdout, self.export(bundle, "otlp").read_text(encoding="utf-8"))
        self.assertIn("Without spans of requests", done.stderr)
        done = run("export", bundle, "--format", "sqlite", "--out", "/dev/null", "--force")
        self.assertEqual(done.returncode, EXIT_USAGE)

    def test_the_files_of_a_bundle_are_formats_too(self):
        capture, bundle = RUNS["eager"][0], self.folder / "with_files"
        self.assertEqual(run("analyze", capture, "--out", bundle, "--perfetto", "--speedscope").returncode, 0)
        for form, name in (("perfetto", "trace.pftrace"), ("speedscope", "trace.speedscope.json")):
            self.assertEqual(self.export(bundle, form).read_bytes(), (bundle / name).read_bytes(), form)

    def test_errors_say_what_to_do(self):
        bundle, totals = self.bundle("CPU"), self.bundle("totals")
        for form in ("pprof", "otlp"):
            done = run("export", bundle, totals, "--format", form, "--out", self.folder / "two")
            self.assertEqual(done.returncode, EXIT_USAGE)
            self.assertIn("takes one run", done.stderr)
        done = run("export", totals, "--format", "arrow", "--out", self.folder / "totals.arrows")
        self.assertRegex(done.stdout, r"Written: .*totals\.arrows \([0-9]+ tables, [0-9,]+ rows\)")
        self.assertRegex(done.stdout, r"Without requests, tokens, .*: no file of requests was read")
        done = run("export", totals, "--format", "otlp", "--out", self.folder / "none.jsonl")
        self.assertEqual(done.returncode, EXIT_INPUT)
        self.assertIn("no spans to export", done.stderr)
        done = run("export", self.job(), "--format", "speedscope", "--out", self.folder / "ranks.json")
        self.assertEqual(done.returncode, EXIT_USAGE)
        self.assertIn("llmprof report RUN --speedscope", done.stderr)
        done = run("export", bundle, "--format", "parquet")
        self.assertEqual(done.returncode, EXIT_USAGE)
        self.assertIn("arrow", done.stderr)
        done = run("export", bundle, "--format", "arrow", "--out", self.folder / "missing" / "out")
        self.assertEqual(done.returncode, 4)
        self.assertFalse((self.folder / "none.jsonl").exists())


if __name__ == "__main__":
    unittest.main()
