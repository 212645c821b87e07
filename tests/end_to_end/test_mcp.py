"""llmprof mcp: what it answers against profile.json and SQL, hostile clients, and what must not leave the machine."""
import http.client
import json
import pathlib
import re
import shutil
import socket
import sqlite3
import subprocess
import tempfile
import threading
import time
import unittest

import job_captures
from program import DATA, LLMPROF, run
from query_tables import ask

CAPTURE = DATA / "h200-decoder" / "nsys.sqlite"
LONGEST = 75_000
BOMB = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c"
MODERN = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}


class Server:
    """llmprof mcp over its standard input and output."""

    def __init__(self, *arguments):
        self.process = subprocess.Popen([LLMPROF, "mcp", *map(str, arguments)], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.number = 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.end()

    def send(self, message):
        self.send_bytes(json.dumps(message).encode() + b"\n")

    def send_bytes(self, data):
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def read(self):
        """The next message; None at the end."""
        line = self.process.stdout.readline()
        return json.loads(line) if line else None

    def request(self, method, params=None):
        self.number += 1
        message = {"jsonrpc": "2.0", "id": self.number, "method": method}
        self.send({**message, "params": params} if params is not None else message)
        answer = self.read()
        assert answer["id"] == self.number, answer
        return answer

    def call(self, tool, **arguments):
        """The result of a tool."""
        return self.request("tools/call", {"name": tool, "arguments": arguments})["result"]

    def ask(self, tool, **arguments):
        """The structured answer of a tool that does not fail."""
        result = self.call(tool, **arguments)
        assert not result["isError"], result["content"][0]["text"]
        assert json.loads(result["content"][0]["text"]) == result["structuredContent"]
        return result["structuredContent"]

    def error(self, tool, **arguments):
        result = self.call(tool, **arguments)
        assert result["isError"], result
        return result["content"][0]["text"]

    def end(self):
        """Closes its input; the exit code."""
        if not self.process.stdin.closed:
            self.process.stdin.close()
        code = self.process.wait(timeout=60)
        self.process.stdout.close()
        self.process.stderr.close()
        return code


def table(answer, title):
    """The table whose title starts so, as a list of dicts."""
    found = next(each for each in answer["tables"] if each["title"].startswith(title))
    names = [column["name"] for column in found["columns"]]
    return [dict(zip(names, row, strict=True)) for row in found["rows"]]


class WithRun(unittest.TestCase):
    """One analyzed run, and one with requests, in a folder."""

    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.runs = pathlib.Path(cls.temporary.name) / "runs"
        cls.runs.mkdir()
        cls.run_folder = cls.runs / "decoder"
        assert run("analyze", CAPTURE, "--out", cls.run_folder).returncode == 0
        assert run("analyze", DATA / "collector_log" / "served.llmtrace", DATA / "requests" / "served.json",
                   "--out", cls.runs / "served").returncode == 0
        cls.profile = json.loads((cls.run_folder / "profile.json").read_text("utf-8"))

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()


class Answers(WithRun):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.server = Server(cls.runs)

    @classmethod
    def tearDownClass(cls):
        assert cls.server.end() == 0
        super().tearDownClass()

    def test_overview_lists_runs_and_has_the_profiles_figures(self):
        self.assertEqual([row["run"] for row in table(self.server.ask("overview"), "runs")], ["decoder", "served"])
        answer = self.server.ask("overview", run="decoder")
        stages = {row["stage"]: row for row in table(answer, "stages")}
        self.assertEqual(set(stages), {stage["name"] for stage in self.profile["stages"]})
        for stage in self.profile["stages"]:
            self.assertEqual(stages[stage["name"]]["shown_wall_ms_mean"], stage["shown"]["wall_ms"]["mean"])
        findings = table(answer, "findings")
        self.assertEqual([row["title"] for row in findings], [each["title"] for each in self.profile["findings"]])
        self.assertEqual(answer["coverage"][0]["share_of_kernel_time_in_stages"],
                         self.profile["coverage"]["kernel_sum_share"])

    def test_query_answers_as_the_command_does(self):
        for sql in ("SELECT class, count(*), sum(duration_ns) FROM kernels GROUP BY class",
                    "SELECT step, wall_ms, gpu_busy_ms FROM steps ORDER BY wall_ms DESC LIMIT 5",
                    "SELECT name, wall_ms_mean, mfu_wall FROM stages"):
            answer = self.server.ask("query", run="decoder", sql=sql)
            expected = ask(self.run_folder, sql)
            self.assertEqual(answer["tables"][0]["rows"], expected["rows"])
            self.assertIsNone(answer["truncated"])
        answer = self.server.ask("query", run="decoder", sql="SELECT duration_ns AS d FROM kernels", limit=3)
        self.assertEqual(answer["tables"][0]["columns"], [{"name": "d", "unit": "ns", "meaning": "end minus start"}])
        self.assertEqual(answer["truncated"]["tables"],
                         [{"title": "answer", "shown": 3, "total": 4465, "total_is_complete": True}])
        answer = self.server.ask("query", run="decoder", sql="SELECT :a + 1 AS b", parameters={"a": 41})
        self.assertEqual(answer["tables"][0]["rows"], [[42]])

    def test_recipes_have_their_caveat_and_variables(self):
        answer = self.server.ask("query", run="decoder", recipe="top_kernels", parameters={"stage": "prefill", "rows": 2})
        rows = table(answer, "answer")
        prefill = [kernel for kernel in self.profile["kernels"] if "prefill" in kernel["stages"]]
        self.assertEqual(len(rows), 2)
        self.assertIn(rows[0]["short_name"], {kernel["short_name"] for kernel in prefill})
        caveats = self.server.ask("query", run="decoder", recipe="where_time_goes")["caveats"]
        self.assertTrue(any("tracing" in caveat for caveat in caveats))
        self.assertIn("did you mean", self.server.error("query", run="decoder", recipe="top_kernel"))
        self.assertIn("stage", self.server.error("query", run="decoder", recipe="top_kernels", parameters={"stag": "x"}))

    def test_describe_knows_what_a_run_lacks(self):
        answer = self.server.ask("describe", run="decoder")
        tables = {row["table"]: row for row in table(answer, "tables")}
        self.assertEqual(tables["kernels"]["has_rows"], "yes")
        self.assertEqual(tables["requests"]["has_rows"], "no")
        self.assertIn("llmprof load", tables["requests"]["missing"])
        recipes = {row["recipe"]: row["can_answer"] for row in table(answer, "recipes")}
        self.assertEqual((recipes["top_kernels"], recipes["slowest_requests"]), ("yes", "no"))
        columns = table(self.server.ask("describe", table="steps"), "columns")
        self.assertIn({"column": "wall_ms", "unit": "ms"},
                      [{"column": row["column"], "unit": row["unit"]} for row in columns])
        self.assertIn("did you mean steps?", self.server.error("describe", table="stepps"))

    def test_explanations_are_those_of_the_profile(self):
        step = max(range(len(self.profile["steps"])), key=lambda at: self.profile["steps"][at]["wall_ms"])
        answer = self.server.ask("explain", run="decoder", kind="step", id=step)
        self.assertEqual(table(answer, "step")[0]["wall_ms"], self.profile["steps"][step]["wall_ms"])
        slow = [each for each in self.profile["slow_steps"] if each["step"] == step]
        if slow:
            self.assertEqual({row["longer_ms"] for row in table(answer, "why it is longer")},
                             {reason["longer_ms"] for reason in slow[0]["reasons"]})
        self.assertIn({"run": "decoder", "what": f"step {step}", "link": f"#steps?step={step}", "has_page": True},
                      answer["evidence"])
        finding = self.server.ask("explain", run="decoder", kind="finding", id="0")
        self.assertEqual(table(finding, "finding")[0]["advice"], self.profile["findings"][0]["advice"])
        kernel = self.profile["kernels"][0]
        answer = self.server.ask("explain", run="decoder", kind="kernel", id=kernel["short_name"])
        self.assertEqual(table(answer, "kernel")[0]["total_ms"], kernel["total_ms"])
        stage = self.server.ask("explain", run="decoder", kind="stage", id="decode")
        budget = next(each["budget"] for each in self.profile["stages"] if each["name"] == "decode")
        self.assertEqual({row["part"]: row["ms"] for row in table(stage, "where its time goes")},
                         {part["part"]: part["ms"] for part in budget})
        self.assertIn("did you mean decode?", self.server.error("explain", run="decoder", kind="stage", id="decod"))
        self.assertIn("there are", self.server.error("explain", run="decoder", kind="step", id=100000))

    def test_a_request_is_explained_by_id_and_by_number(self):
        requests = json.loads((self.runs / "served" / "profile.json").read_text("utf-8"))["requests"]
        item = requests["items"][1]
        for key in (item["id"], 1):
            answer = self.server.ask("explain", run="served", kind="request", id=key)
            self.assertEqual(table(answer, "request")[0]["e2e_ns"], item["e2e_ns"])
            self.assertEqual({row["part"]: row["ns"] for row in table(answer, "where its time went")}, item["parts_ns"])
            self.assertTrue(any(each["link"].startswith("#requests?request=1") for each in answer["evidence"]))
        answer = self.server.ask("slice", run="served", request=1)
        self.assertTrue(answer["evidence"][-1]["link"].startswith("#timeline?span="))

    def test_a_slice_has_the_kernels_of_its_time(self):
        database = sqlite3.connect(f"file:{CAPTURE}?immutable=1", uri=True)
        step = next(each for each in self.profile["steps"] if each["kernel_count"] > 100)
        start = round(step["start_ms"] * 1e6)
        end = start + round(step["wall_ms"] * 1e6)
        rows = database.execute("SELECT start, end FROM CUPTI_ACTIVITY_KIND_KERNEL WHERE start < ? AND end > ?",
                                (end, start)).fetchall()
        database.close()
        answer = self.server.ask("slice", run="decoder", from_ms=start / 1e6, to_ms=end / 1e6, limit=5)
        work = table(answer, "GPU work")[0]
        self.assertEqual(work["kernels"], len(rows))
        self.assertAlmostEqual(work["kernel_ms"], sum(min(e, end) - max(s, start) for s, e in rows) / 1e6, places=9)
        self.assertEqual(len(table(answer, "kernels in order")), 5)
        self.assertEqual(answer["truncated"]["tables"][-1]["total"], len(rows))
        self.assertIn("from_ms", self.server.error("slice", run="decoder"))
        self.assertIn("after", self.server.error("slice", run="decoder", from_ms=2, to_ms=1))

    def test_a_comparison_is_that_of_diff(self):
        with tempfile.TemporaryDirectory() as folder:
            run("diff", self.run_folder, self.run_folder, "--out", folder, "--force")
            diff = json.loads((pathlib.Path(folder) / "diff.json").read_text("utf-8"))
        answer = self.server.ask("compare", base="decoder", new="decoder")
        self.assertEqual(answer["summary"], diff["summary"])
        self.assertEqual([(row["stage"], row["quantity"], row["answer"]) for row in table(answer, "compared")],
                         [(each["stage"], each["quantity"], each["answer"]) for each in diff["comparisons"]])

    def test_what_is_missing_comes_with_the_command(self):
        answer = self.server.ask("how_to_record", run="decoder", table="kernel_metrics")
        self.assertEqual(len(table(answer, "what these runs lack")), 1)
        self.assertTrue(any("llmprof run" in row["command"] for row in table(answer, "recordings")))
        self.assertIn("no such table", self.server.error("how_to_record", run="decoder", table="nothing"))

    def test_errors_that_a_model_can_repair(self):
        self.assertIn("did you mean kernels?", self.server.error("query", run="decoder", sql="SELECT * FROM kernel"))
        self.assertIn("llmprof load", self.server.error("query", run="decoder", sql="SELECT * FROM requests"))
        self.assertIn("did you mean 'sql'?", self.server.error("query", run="decoder", sgl="x"))
        self.assertIn("'kind' is missing", self.server.error("explain", id=1))
        self.assertIn("one of", self.server.error("explain", kind="thing", id=1))
        self.assertIn("did you mean decoder?", self.server.error("overview", run="decodr"))
        self.assertIn("name", self.server.error("query", sql="SELECT 1"))

    def test_no_answer_is_longer_than_clients_accept(self):
        for sql in ("SELECT * FROM kernels, (SELECT 1)", "SELECT * FROM stages, steps", "SELECT hex(zeroblob(140000)) FROM steps",
                    "SELECT char(34, 92, 10, 1) || name FROM kernels", "SELECT 1 AS \"" + "x" * 90_000 + "\"",
                    "SELECT " + ", ".join(f"{i} AS column_number_{i}" for i in range(1500))):
            self.server.number += 1
            self.server.send({"jsonrpc": "2.0", "id": self.server.number, "method": "tools/call",
                              "params": {"name": "query", "arguments": {"run": "decoder", "sql": sql, "limit": 1000}}})
            line = self.server.process.stdout.readline()
            self.assertLessEqual(len(line), LONGEST + 1, sql[:60])
            json.loads(line)

    def test_a_statement_ends_at_its_time(self):
        error = self.server.error("query", run="decoder", sql=BOMB, timeout_s=1)
        self.assertIn("longer than 1 s", error)
        self.assertIn("timeout_s", error)

    def test_hostile_statements_are_refused(self):
        for sql in ("ATTACH 'x' AS y", "PRAGMA journal_mode", "DELETE FROM kernels", "SELECT load_extension('x')",
                    "SELECT readfile('/etc/passwd')", "SELECT 1; SELECT 2", "VACUUM INTO '/tmp/x'", "", ";", "\0",
                    "SELECT randomblob(1e9)", "SELECT zeroblob(2000000000)", "SELECT " + "(" * 5000,
                    "SELECT 1 /*" + "x" * 1_000_000 + "*/"):
            self.assertTrue(self.server.error("query", run="decoder", sql=sql), sql[:40])
        self.assertEqual(self.server.ask("query", run="decoder", sql="SELECT 1 AS one")["tables"][0]["rows"], [[1]])

    def test_other_files_are_refused(self):
        outside = pathlib.Path(self.temporary.name) / "outside"
        shutil.copytree(self.run_folder, outside, dirs_exist_ok=True)
        link = self.runs / "link"
        link.symlink_to(outside)
        linked = self.runs / "linked"
        linked.mkdir()
        (linked / "profile.json").symlink_to(outside / "profile.json")
        self.addCleanup(lambda: (link.unlink(), shutil.rmtree(linked)))
        for path in (outside, "/etc/passwd", "/", "..", "../outside", link, linked, linked / "profile.json", "link",
                     "/nothing/there", "", "\0"):
            for tool, arguments in (("overview", {"run": str(path)}), ("compare", {"base": "decoder", "new": str(path)})):
                error = self.server.error(tool, **arguments)
                self.assertTrue(error.startswith("there is no run "), (path, error))
        self.assertEqual(table(self.server.ask("overview", run=str(self.run_folder)), "stages")[0]["run"], "decoder")


class Jobs(unittest.TestCase):
    def test_a_rank_is_explained_and_cut_out_on_its_own_clock(self):
        with tempfile.TemporaryDirectory() as folder:
            captures = pathlib.Path(folder) / "captures"
            captures.mkdir()
            job_captures.pytorch_job(captures, 2, clocks=[job_captures.Clock(), job_captures.Clock(350_000, 8.0)],
                                     delays=[job_captures.Delay(rank=1, at=[24])])
            out = pathlib.Path(folder) / "job"
            self.assertEqual(run("analyze", captures, "--out", out).returncode, 0)
            profile = json.loads((out / "profile.json").read_text("utf-8"))
            with Server(out) as server:
                waits = table(server.ask("explain", kind="rank", id=1), "where its time went")
                self.assertEqual({row["stage"]: row["caused_wait_ms"] for row in waits},
                                 {name: times["caused_wait_ms"] for name, times in
                                  ((each["stage"], each) for each in profile["ranks"][1]["between"])})
                step = profile["ranks"][1]["steps"][3]
                answer = server.ask("slice", step=3, rank=1)
                self.assertEqual([row["kernels"] for row in table(answer, "GPU work")], [step["kernel_count"]])
                self.assertEqual({row["device"] for row in table(answer, "kernels in order")}, {"rank1/cuda:0"})
                self.assertTrue(any("own clock" in each for each in server.ask("slice", step=3)["caveats"]))


class Privacy(WithRun):
    SECRETS = ("hf_Planted0123456789abcdefghij", "sk-planted0123456789abcdefghijklmnop", "planted-passw0rd")
    PLACES = ("/home/planted-user/secret-project", "planted-user", "secret-project")

    def plant(self):
        """A run with secrets and paths in all that a profile, its captures and records can hold."""
        folder = pathlib.Path(self.temporary.name) / "planted"
        folder.mkdir()
        capture = folder / "nsys.sqlite"
        shutil.copy(CAPTURE, capture)
        token, key, password = self.SECRETS
        database = sqlite3.connect(capture)
        text = f"load {self.PLACES[0]}/model.bin HF_TOKEN={token} --api-key {key} password={password}"
        database.execute("UPDATE NVTX_EVENTS SET text = ? || rowid WHERE rowid IN (SELECT rowid FROM NVTX_EVENTS "
                         "WHERE text IS NOT NULL ORDER BY rowid LIMIT 5)", (text,))
        database.commit()
        database.close()
        out = folder / "run"
        assert run("analyze", capture, "--out", out).returncode == 0
        profile = json.loads((out / "profile.json").read_text("utf-8"))
        command = f"{self.PLACES[0]}/serve.py --api-key {key} --password {password} HF_TOKEN={token}"
        profile["workload"]["command"] = command
        profile["workload"]["batch_source"] = f"{self.PLACES[0]}/inputs.yaml"
        profile["stages_found"]["reason"] = f"started as {command}"
        profile["diagnostics"].append({"severity": "warning", "code": "planted", "count": 2,
                                       "message": f"{self.PLACES[0]}/x.sqlite: damaged; HF_TOKEN={token}"})
        profile["findings"][0]["evidence"] += f" in {self.PLACES[0]}/x.py, API_KEY={key}"
        profile["kernels"][0]["short_name"] = f"kernel at {self.PLACES[0]}/k.cu"
        (out / "profile.json").write_text(json.dumps(profile), "utf-8")
        (out / "env.json").write_text(json.dumps({"HF_TOKEN": token, "HOME": "/home/planted-user"}), "utf-8")
        return out

    def questions(self, tables):
        yield "overview", {}
        yield "describe", {}
        yield "how_to_record", {}
        yield "slice", {"from_ms": 0, "to_ms": 1e6}
        yield "compare", {"base": "run", "new": "run"}
        yield "explain", {"kind": "finding", "id": 0}
        yield "explain", {"kind": "stage", "id": "decode"}
        yield "explain", {"kind": "kernel", "id": "nothing"}
        yield "overview", {"run": f"{self.PLACES[0]}/other"}
        for name in tables:
            yield "query", {"sql": f"SELECT * FROM {name} LIMIT 200"}
        for text in ("hex(text)", "substr(text, 2)", "replace(text, '/', ' ')", "substr(text, 20)"):
            yield "query", {"sql": f"SELECT {text} FROM ranges WHERE text LIKE '%model.bin%'"}
        yield "query", {"sql": "SELECT replace(message, '/', ' '), hex(message) FROM diagnostics"}
        yield "query", {"sql": "SELECT replace(evidence, '/', ' '), hex(evidence) FROM findings"}
        yield "query", {"sql": "SELECT replace(workload_batch_source, '/', ' ') FROM runs"}

    def test_secrets_and_paths_are_in_no_answer(self):
        planted = self.plant()
        # What would be found, if it were there.
        self.assertIn(self.PLACES[0], (planted / "profile.json").read_text("utf-8"))
        forbidden = [text for text in (*self.SECRETS, *self.PLACES)]
        forbidden += [text.encode().hex().upper() for text in forbidden]
        with Server(planted) as server:
            tables = [row["table"] for row in table(server.ask("describe"), "tables")]
            self.assertGreater(len(tables), 50)
            answered = 0
            for tool, arguments in self.questions(tables):
                result = server.call(tool, **arguments)
                answered += not result["isError"]
                text = json.dumps(result)
                if arguments.get("run"):
                    continue  # its own words, quoted
                for secret in forbidden:
                    self.assertNotIn(secret, text, (tool, arguments))
            self.assertGreater(answered, 40)
            rows = server.ask("query", sql="SELECT text FROM ranges WHERE text LIKE '%model.bin%'")["tables"][0]["rows"]
            self.assertEqual(len(rows), 5)
        with Server(planted, "--show-paths") as server:
            text = json.dumps(server.ask("overview"))
            self.assertIn(f"{self.PLACES[0]}/serve.py", text)
            self.assertIn(str(planted), text)
            text += json.dumps(server.ask("query", sql="SELECT text FROM ranges WHERE text LIKE '%model.bin%'"))
            self.assertIn(f"{self.PLACES[0]}/model.bin", text)
            for secret in self.SECRETS:
                self.assertNotIn(secret, text)


class HostileClients(WithRun):
    def test_lines_that_are_no_messages(self):
        with Server(self.run_folder) as server:
            for data, code in ((b"no JSON", -32700), (b"\xff\xfe{}", -32700), (b'{"a": "\xc3\x28"}', -32700),
                               (b"[" * 100_000, -32700), (b"{}", -32600), (b"[]", -32600), (b"null", -32600),
                               (b'{"jsonrpc": "2.0", "id": null, "method": "ping"}', -32600),
                               (b'{"jsonrpc": "2.0", "id": 1.5, "method": "ping"}', -32600),
                               (b'{"jsonrpc": "2.0", "id": 1, "method": 2}', -32600),
                               (b'{"jsonrpc": "1.0", "id": 1, "method": "ping"}', -32600),
                               (b'{"jsonrpc": "2.0", "id": 7, "method": "ping", "params": []}', -32602),
                               (b'{"jsonrpc": "2.0", "id": 7, "method": "nothing"}', -32601)):
                server.send_bytes(data + b"\n")
                self.assertEqual(server.read()["error"]["code"], code, data[:60])
            server.send_bytes(b"\n   \r\n" + b'{"jsonrpc": "2.0", "method": "notifications/other"}\n')
            self.assertEqual(server.request("ping")["result"], {})

    def test_a_line_of_ten_megabytes_costs_only_itself(self):
        with Server(self.run_folder) as server:
            for begin in (b'{"jsonrpc": "2.0", "id": 1, "method": "', b"", b'"'):
                server.send_bytes(begin + b"x" * 10_000_000 + b"\n")
                self.assertIn("longer than", server.read()["error"]["message"])
            self.assertEqual(server.request("ping")["result"], {})
            memory = pathlib.Path(f"/proc/{server.process.pid}/status").read_text("utf-8")
            self.assertLess(int(re.search(r"VmHWM:\s+(\d+) kB", memory)[1]), 60_000)

    def test_the_input_ends_in_the_middle(self):
        server = Server(self.run_folder)
        server.send({"jsonrpc": "2.0", "id": 5, "method": "tools/call",
                     "params": {"name": "query", "arguments": {"sql": "SELECT count(*) AS n FROM kernels"}}})
        server.send_bytes(b'{"jsonrpc": "2.0", "id": 6, "method": "pi')
        server.process.stdin.close()
        answers = [json.loads(line) for line in server.process.stdout]
        self.assertEqual({answer.get("id") for answer in answers}, {5, None})
        self.assertEqual(answers[-1]["result"]["structuredContent"]["tables"][0]["rows"], [[4465]])
        self.assertEqual(server.end(), 0)

    def test_a_thousand_calls_at_once(self):
        with Server(self.run_folder) as server:
            ids = [number if number % 2 else f"text-{number}" for number in range(1000)]

            def send_all():
                for key in ids:
                    server.send({"jsonrpc": "2.0", "id": key, "method": "tools/call",
                                 "params": {"name": "query", "arguments": {"sql": "SELECT :x AS x", "parameters": {"x": str(key)}},
                                            "_meta": MODERN}})
            sender = threading.Thread(target=send_all)
            sender.start()
            answers = {}
            for _ in ids:
                answer = server.read()
                answers[answer["id"]] = answer["result"]["structuredContent"]["tables"][0]["rows"][0][0]
            sender.join()
            self.assertEqual(answers, {key: str(key) for key in ids})

    def test_cancel_in_the_middle_of_a_query(self):
        with Server(self.run_folder) as server:
            begun = time.monotonic()
            server.send({"jsonrpc": "2.0", "id": "long", "method": "tools/call",
                         "params": {"name": "query", "arguments": {"sql": BOMB}, "_meta": {"progressToken": "token"}}})
            server.send({"jsonrpc": "2.0", "id": "waits", "method": "tools/call",
                         "params": {"name": "query", "arguments": {"sql": "SELECT 7 AS seven"}}})
            progress = server.read()
            self.assertEqual((progress["method"], progress["params"]["progressToken"]),
                             ("notifications/progress", "token"))
            # Messages are read meanwhile, and ids must differ.
            server.send({"jsonrpc": "2.0", "id": "long", "method": "tools/call",
                         "params": {"name": "query", "arguments": {"sql": "SELECT 1"}}})
            answer = server.read()
            while "method" in answer:
                answer = server.read()
            self.assertEqual((answer["id"], answer["error"]["code"]), ("long", -32600))
            server.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "nobody"}})
            server.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "long"}})
            answer = server.read()
            while "method" in answer:
                answer = server.read()
            # No answer to the cancelled call; the next one did not wait for the limit of 30 s.
            self.assertEqual(answer["id"], "waits")
            self.assertLess(time.monotonic() - begun, 25)

    def test_a_client_that_vanishes_ends_the_server(self):
        server = Server(self.run_folder)
        server.process.stdout.close()
        for number in range(50):
            try:
                server.send({"jsonrpc": "2.0", "id": number, "method": "tools/list"})
            except BrokenPipeError:
                break
        try:
            server.process.stdin.close()
        except BrokenPipeError:
            pass
        self.assertEqual(server.process.wait(timeout=30), 0)
        server.process.stderr.close()

    def test_what_cannot_be_served_is_an_error_before_it_starts(self):
        missing = run("mcp", "/nothing/there")
        self.assertEqual((missing.returncode, missing.stdout), (3, ""))
        self.assertIn("/nothing/there", missing.stderr)
        for address in ("0.0.0.0:1", "127.0.0.1", "127.0.0.1:x", "127.0.0.1:70000", ":1", "example.org:80"):
            refused = run("mcp", self.run_folder, "--http", address)
            self.assertEqual(refused.returncode, 2, address)


class OverHttp(WithRun):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.process = subprocess.Popen([LLMPROF, "mcp", str(cls.run_folder), "--http", "127.0.0.1:0"],
                                       stderr=subprocess.PIPE, text=True)
        cls.port = int(re.search(r":(\d+)/mcp", cls.process.stderr.readline())[1])

    @classmethod
    def tearDownClass(cls):
        cls.process.terminate()
        assert cls.process.wait(timeout=30) == 0
        cls.process.stderr.close()
        super().tearDownClass()

    def post(self, message, headers=None, method="POST", path="/mcp"):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        body = message if isinstance(message, bytes) else json.dumps(message).encode()
        connection.request(method, path, body, {"Content-Type": "application/json", **(headers or {})})
        answer = connection.getresponse()
        text = answer.read()
        connection.close()
        return answer.status, json.loads(text) if text else None

    PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}

    def test_pages_of_other_hosts_are_refused(self):
        self.assertEqual(self.post(self.PING), (200, {"jsonrpc": "2.0", "id": 1, "result": {}}))
        for headers in ({"Origin": "http://evil.example"}, {"Origin": "null"}, {"Host": "evil.example"},
                        {"Host": f"evil.example:{self.port}"}, {"Origin": "http://127.0.0.1.evil.example"},
                        {"Origin": "http://localhost.evil.example:80"}, {"Host": "127.0.0.1:x"},
                        {"Origin": "file://127.0.0.1"}):
            self.assertEqual(self.post(self.PING, headers)[0], 403, headers)
        for headers in ({"Origin": "http://localhost:3000"}, {"Origin": "http://127.0.0.1"},
                        {"Host": f"localhost:{self.port}"}):
            self.assertEqual(self.post(self.PING, headers)[0], 200, headers)
        self.assertEqual(self.post(self.PING, {"Content-Type": "text/plain"})[0], 415)
        self.assertEqual(self.post(self.PING, method="GET")[0], 405)
        self.assertEqual(self.post(self.PING, method="DELETE")[0], 405)
        self.assertEqual(self.post(self.PING, path="/")[0], 404)
        with socket.create_connection(("127.0.0.1", self.port)) as client:
            client.sendall(b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 3000000\r\n\r\n")
            self.assertIn(b" 413 ", client.recv(4096))
        self.assertEqual(self.post(b"no JSON")[0], 400)
        self.assertEqual(self.post({"jsonrpc": "2.0", "method": "notifications/initialized"}), (202, None))

    def test_headers_must_repeat_the_body(self):
        call = {"jsonrpc": "2.0", "id": 3, "method": "tools/call",
                "params": {"name": "query", "arguments": {"sql": "SELECT 1 AS one"}, "_meta": MODERN}}
        headers = {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "query"}
        self.assertEqual(self.post(call, headers)[1]["result"]["structuredContent"]["tables"][0]["rows"], [[1]])
        self.assertEqual(self.post(call, {**headers, "Mcp-Name": "=?base64?cXVlcnk=?="})[0], 200)
        for name, value in (("MCP-Protocol-Version", "2025-11-25"), ("Mcp-Method", "tools/list"), ("Mcp-Name", "slice")):
            status, answer = self.post(call, {**headers, name: value})
            self.assertEqual((status, answer["id"], answer["error"]["code"]), (400, 3, -32020), name)
        unknown = {**call, "params": {**call["params"], "_meta": {**MODERN, "io.modelcontextprotocol/protocolVersion": "2031-01-01"}}}
        status, answer = self.post(unknown, {**headers, "MCP-Protocol-Version": "2031-01-01"})
        self.assertEqual((status, answer["error"]["code"], answer["error"]["data"]["requested"]), (400, -32022, "2031-01-01"))
        self.assertIn("2026-07-28", answer["error"]["data"]["supported"])

    def test_a_closed_connection_cancels_its_query(self):
        begun = time.monotonic()
        body = json.dumps({"jsonrpc": "2.0", "id": 4, "method": "tools/call",
                           "params": {"name": "query", "arguments": {"sql": BOMB},
                                      "_meta": {"progressToken": 1}}}).encode()
        with socket.create_connection(("127.0.0.1", self.port)) as client:
            client.sendall(b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
                           b"Accept: application/json, text/event-stream\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))
            data = b""
            while b"notifications/progress" not in data:
                data += client.recv(4096)
        status, answer = self.post({"jsonrpc": "2.0", "id": 5, "method": "tools/call",
                                    "params": {"name": "query", "arguments": {"sql": "SELECT 2 AS two"}}})
        self.assertEqual((status, answer["id"]), (200, 5))
        self.assertLess(time.monotonic() - begun, 25)


if __name__ == "__main__":
    unittest.main()
