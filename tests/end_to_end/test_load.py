"""`llmprof load` against real servers on this machine: honest, slow, cut and hostile ones.

A busy machine may not hold a load. Then llmprof says so (exit code 4, `held` in the record), which these tests accept
where they test something else."""
import gzip
import json
import os
import pathlib
import signal
import ssl
import subprocess
import tempfile
import time
import unittest

from program import LLMPROF, run
from sse_server import STREAM_HEAD, OpenAiServer, RawServer, chunked

KEYS = {"LLMPROF_LOAD_API_KEY": "", "OPENAI_API_KEY": "", "SSL_CERT_FILE": "", "SSL_CERT_DIR": ""}
NANO = 1e-9


class LoadCase(unittest.TestCase):
    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory()
        self.addCleanup(self.scratch.cleanup)
        self.folder = pathlib.Path(self.scratch.name)
        self.out = self.folder / "out"

    def load(self, *arguments, env=None):
        return run("load", *arguments, "--out", self.out, "--force", env={**KEYS, **(env or {})})

    def record_of(self, *arguments, env=None, folder=""):
        """The record of a load in which something was completed."""
        result = self.load(*arguments, env=env)
        path = self.out / folder / "requests.json"
        self.assertTrue(path.exists(), result.stderr)
        record = json.loads(path.read_text())
        self.assertEqual(result.returncode, 0 if record["held"] else 4, result.stderr)
        if not record["held"]:
            self.assertIn("was not held", result.stderr)
        return record

    def refusal(self, *arguments, code, env=None):
        result = self.load(*arguments, env=env)
        self.assertEqual(result.returncode, code, result.stdout + result.stderr)
        return result.stderr


class Honest(LoadCase):
    def test_an_open_loop_records_what_the_server_did(self):
        with OpenAiServer(0.01, 0.003) as server:
            record = self.record_of(server.url(), "--rate", 40, "--requests", 30, "--new-tokens", "4:9",
                                    "--prompt-tokens", 20, "--seed", 5, "--slo", "ttft=500ms")
            seen = server.requests
        self.assertEqual((record["format"], record["version"], record["api"]), ("llmprof requests", 1, "completions"))
        self.assertEqual((record["arrivals"], record["rate"], record["seed"]), ("poisson", 40, 5))
        self.assertEqual(record["slo"], {"ttft_ms": 500})
        self.assertEqual(record["boot_id"], pathlib.Path("/proc/sys/kernel/random/boot_id").read_text().strip())
        self.assertAlmostEqual(record["wall_clock_ns"] * NANO, time.time() - time.monotonic(), delta=0.5)
        self.assertEqual([request["id"] for request in record["requests"]], list(range(30)))
        self.assertEqual(len(seen), 30)
        self.assertEqual({len(each["body"]["prompt"]) for each in seen}, {20})
        self.assertTrue(all(each["body"]["ignore_eos"] for each in seen))
        for request, served in zip(record["requests"], sorted(seen, key=lambda each: each["got_ns"])):
            self.assertEqual(request["status"], "completed")
            self.assertEqual(request["prompt_tokens"], 11)  # the server counts better
            self.assertEqual(request["output_tokens"], request["max_tokens"])
            self.assertEqual(sum(tokens for _, tokens in request["chunks"]), request["max_tokens"])
            self.assertLessEqual(request["scheduled_ns"], request["sent_ns"])
            self.assertLess(request["sent_ns"], served["got_ns"])
            for (arrival, _), sent in zip(request["chunks"], served["sent_ns"]):
                self.assertLess(sent, arrival)
            self.assertLessEqual(request["chunks"][-1][0], request["end_ns"])

    def test_the_same_seed_sends_the_same_requests(self):
        gaps, bodies = [], []
        for seed in (3, 3, 4):
            with OpenAiServer() as server:
                record = self.record_of(server.url(), "--rate", 200, "--requests", 40, "--new-tokens", "2:9",
                                        "--seed", seed)
                bodies.append(sorted(json.dumps(each["body"]) for each in server.requests))
            times = [request["scheduled_ns"] for request in record["requests"]]
            gaps.append([b - a for a, b in zip(times, times[1:])])
        self.assertEqual(gaps[0], gaps[1])
        self.assertEqual(bodies[0], bodies[1])
        self.assertNotEqual(gaps[0], gaps[2])
        self.assertNotEqual(bodies[0], bodies[2])

    def test_an_open_loop_does_not_wait_for_a_slow_server(self):
        with OpenAiServer(together=40) as server:
            record = self.record_of(server.url(), "--rate", 50, "--arrivals", "constant", "--requests", 40,
                                    "--new-tokens", 2)
            self.assertEqual(server.most_open, 40)
        last_sent = max(request["sent_ns"] for request in record["requests"])
        self.assertTrue(all(request["chunks"][0][0] > last_sent for request in record["requests"]))

    def test_a_closed_loop_keeps_its_concurrency(self):
        with OpenAiServer(0.01, 0.001, together=6) as server:
            record = self.record_of(server.url(), "--concurrency", 6, "--requests", 60, "--new-tokens", 5)
            self.assertEqual(server.most_open, 6)
        self.assertEqual((record["arrivals"], record["concurrency"], record["rate"]), ("closed", 6, None))
        self.assertEqual(len(record["requests"]), 60)

    def test_a_duration_ends_a_load(self):
        with OpenAiServer(0.01) as server:
            for pace in ("--rate=50", "--concurrency=2"):
                record = self.record_of(server.url(), pace, "--duration", "1s", "--new-tokens", 2)
                times = [request["scheduled_ns"] for request in record["requests"]]
                self.assertLess((times[-1] - times[0]) * NANO, 1.05)
                self.assertGreater(len(times), 20)

    def test_warm_up_comes_on_top(self):
        with OpenAiServer() as server:
            record = self.record_of(server.url(), "--requests", 5, "--warm-up", 3, "--new-tokens", 2)
        self.assertEqual((len(record["requests"]), record["warm_up_requests"]), (8, 3))

    def test_llama_server_is_found_and_counts_its_tokens(self):
        with OpenAiServer(llama=True) as server:
            record = self.record_of(server.url(), "--requests", 3, "--new-tokens", 4)
            self.assertEqual({each["target"] for each in server.requests}, {"/completion"})
        self.assertEqual((record["api"], record["tokens_counted_by"]), ("llama.cpp", "lists"))
        self.assertEqual(record["requests"][0]["timings"], {"prompt_ms": 1.5})
        self.assertTrue(record["url"].endswith("/completion"))

    def test_chat_and_prompts_of_a_file(self):
        prompts = self.folder / "prompts.jsonl"
        prompts.write_text('{"messages": [{"role": "user", "content": "hello"}]}\nplain words\n')
        with OpenAiServer() as server:
            error = self.refusal(server.url(), "--prompts", prompts, code=2)
            self.assertIn("--api chat", error)
            self.record_of(server.url("/v1/chat/completions"), "--prompts", prompts, "--requests", 4,
                           "--new-tokens", 2)
            contents = [each["body"]["messages"][0]["content"] for each in server.requests]
        self.assertEqual(contents, ["hello", "plain words"] * 2)

    def test_a_strict_server_gets_only_what_it_knows(self):
        with OpenAiServer(strict=True) as server:
            self.record_of(server.url(), "--requests", 3, "--new-tokens", 2, "--prompt-tokens", 30)
            bodies = [each["body"] for each in server.requests]
        self.assertTrue(all("ignore_eos" not in body for body in bodies))
        self.assertEqual({len(body["prompt"].split()) for body in bodies}, {30})

    def test_many_streams_are_open_at_once(self):
        with OpenAiServer(together=2000) as server:
            self.record_of(server.url(), "--concurrency", 2000, "--requests", 2000, "--new-tokens", 2)
            self.assertEqual(server.most_open, 2000)

    def test_a_sweep_has_a_record_per_load(self):
        with OpenAiServer() as server:
            result = self.load(server.url(), "--sweep", "rate=20,80", "--requests", 20, "--new-tokens", 2)
        records = [json.loads((self.out / name / "requests.json").read_text()) for name in ("rate-20", "rate-80")]
        self.assertEqual(result.returncode, 0 if all(record["held"] for record in records) else 4, result.stderr)
        self.assertEqual([record["rate"] for record in records], [20, 80])
        self.assertNotEqual(records[0]["seed"], records[1]["seed"])
        spans = [record["requests"][-1]["scheduled_ns"] - record["requests"][0]["scheduled_ns"] for record in records]
        self.assertGreater(spans[0], 2 * spans[1])
        sweep = json.loads((self.out / "sweep.json").read_text())
        self.assertEqual((sweep["swept"], [load["value"] for load in sweep["loads"]]), ("rate", [20, 80]))
        for load, record in zip(sweep["loads"], records):
            self.assertEqual(load["held"], record["held"])
            self.assertEqual(load["completed_rate"] is not None, record["held"])

    def test_the_report_has_the_figures_of_the_record(self):
        with OpenAiServer(0.02, 0.004) as server:
            record = self.record_of(server.url(), "--concurrency", 4, "--requests", 40, "--new-tokens", 6,
                                    "--warm-up", 4, "--slo", "ttft=1s,itl=1s")
        if not record["held"]:
            self.assertFalse((self.out / "profile.json").exists())
            self.skipTest("this machine is too busy to hold the load")
        requests = json.loads((self.out / "profile.json").read_text())["requests"]
        measured = record["requests"][4:]
        ttft = sorted((r["chunks"][0][0] - r["sent_ns"]) / 1e6 for r in measured)
        self.assertEqual((requests["sent"], requests["completed"], requests["warm_up"]), (40, 40, 4))
        self.assertAlmostEqual(requests["ttft_ms"]["p50"], ttft[19], places=6)
        self.assertAlmostEqual(requests["ttft_ms"]["p99"], ttft[39], places=6)
        self.assertEqual([each["attained"] for each in requests["load"]["objectives"]], [1, 1])


    def test_the_record_alone_has_all_objectives(self):
        limits = {"ttft": 800, "itl": 700, "tpot": 600, "e2e": 90000}
        with OpenAiServer() as server:
            record = self.record_of(server.url(), "--requests", 4, "--new-tokens", 3,
                                    "--slo", "ttft=800ms,itl=700ms,tpot=0.6s,e2e=90s")
        self.assertEqual(record["slo"], {f"{figure}_ms": limit for figure, limit in limits.items()})
        alone = self.folder / "alone"
        self.assertEqual(run("analyze", self.out / "requests.json", "--out", alone).returncode, 0)
        load = json.loads((alone / "profile.json").read_text())["requests"]["load"]
        self.assertEqual({each["figure"]: each["limit_ms"] for each in load["objectives"]}, limits)
        self.assertIsNotNone(load["goodput"])


class Replays(LoadCase):
    def check(self, content, name, *options, lengths, times):
        path = self.folder / name
        path.write_bytes(content)
        with OpenAiServer() as server:
            record = self.record_of(server.url(), "--replay", path, *options)
            sent = [len(each["body"]["prompt"]) for each in sorted(server.requests, key=lambda each: each["got_ns"])]
        self.assertEqual(sent, [prompt for prompt, _ in lengths])
        self.assertEqual([request["max_tokens"] for request in record["requests"]], [new for _, new in lengths])
        begin = record["requests"][0]["scheduled_ns"]
        self.assertEqual([(request["scheduled_ns"] - begin) // 1000000 for request in record["requests"]], times)
        self.assertEqual((record["arrivals"], record["rate"]), ("replay", None))

    def test_azure(self):
        text = ("TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:17:03.9000000,48,4\n"
                "2023-11-16 18:17:04.0000000,31,8\n2023-11-16 18:17:04.4000000,7,2\n")
        self.check(text.encode(), "azure.csv", lengths=[(48, 4), (31, 8), (7, 2)], times=[0, 100, 500])
        self.check(gzip.compress(text.encode()), "azure.csv.gz", "--speed", 2, "--requests", 2,
                   lengths=[(48, 4), (31, 8)], times=[0, 50])

    def test_mooncake_shares_blocks(self):
        rows = [{"timestamp": 100, "input_length": 600, "output_length": 2, "hash_ids": [1, 2]},
                {"timestamp": 250, "input_length": 700, "output_length": 3, "hash_ids": [1, 3]}]
        content = "\n".join(map(json.dumps, rows)).encode()
        self.check(content, "mooncake.jsonl", lengths=[(600, 2), (700, 3)], times=[0, 150])

    def test_its_own_record(self):
        with OpenAiServer() as server:
            record = self.record_of(server.url(), "--rate", 100, "--requests", 10, "--new-tokens", "2:9",
                                    "--prompt-tokens", "5:50")
            first = self.folder / "first.json"
            (self.out / "requests.json").rename(first)
            again = self.record_of(server.url(), "--replay", first)
        for one, two in zip(record["requests"], again["requests"]):
            self.assertEqual(one["max_tokens"], two["max_tokens"])
            self.assertEqual(one["scheduled_ns"] - record["requests"][0]["scheduled_ns"],
                             two["scheduled_ns"] - again["requests"][0]["scheduled_ns"])

    def test_a_row_that_cannot_be_used_is_counted(self):
        path = self.folder / "azure.csv"
        path.write_text("TIMESTAMP,ContextTokens,GeneratedTokens\n0.0,5,2\nx,5,2\n0.1,5,2\n")
        with OpenAiServer() as server:
            result = self.load(server.url(), "--replay", path)
        self.assertIn("skipped 1 row that cannot be used (line 3: ", result.stderr)


class Damage(LoadCase):
    def statuses(self, server, *options):
        result = self.load(server.url("/v1/completions"), "--api", "completions", "--model", "m", "--requests", 3,
                           "--new-tokens", 4, *(options or ("--timeout", "20s")))
        self.assertTrue((self.out / "requests.json").exists(), result.stderr)
        record = json.loads((self.out / "requests.json").read_text())
        return {request["status"] for request in record["requests"]}, result, record

    def test_a_stream_that_is_cut(self):
        event = chunked('data: {"choices":[{"text":" a"}]}\n\n')
        for text in (STREAM_HEAD + event + event, STREAM_HEAD + event + event[:7],
                     STREAM_HEAD + event + b"0\r\n\r\n"):
            with RawServer(text) as server:
                statuses, result, record = self.statuses(server)
            self.assertEqual(statuses, {"cut"})
            self.assertGreaterEqual(len(record["requests"][0]["chunks"]), 1)
            self.assertEqual(result.returncode, 4)
            self.assertIn("no request of the load was completed", result.stderr)

    def test_hostile_answers(self):
        endless = b"X-Endless: " + b"x" * (1 << 20)
        for text in (b"HTTP/1.1 200 OK\r\n" + endless, b"HTTP/1.1 200 OK\r\n" + b"A: b\r\n" * 100000,
                     b"SSH-2.0-OpenSSH\r\n", b"\0" * 5000, b"",
                     b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello!"):
            with RawServer(text) as server:
                statuses, result, _ = self.statuses(server)
            self.assertEqual(statuses, {"failed"}, text[:50])
            self.assertEqual(result.returncode, 4)
        for text in (STREAM_HEAD + b"FFFFFFFFFFFFFFFFFFFF\r\nxxx", STREAM_HEAD + b"1;" + endless,
                     STREAM_HEAD + b"zz\r\n",
                     b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: 9999999\r\n\r\nx"):
            with RawServer(text) as server:
                statuses, result, _ = self.statuses(server)
            self.assertLessEqual(statuses, {"cut", "failed"}, text[-50:])
            self.assertEqual(result.returncode, 4)

    def test_a_stream_of_garbage(self):
        with RawServer(STREAM_HEAD + chunked("data: <html>\n\n") + b"0\r\n\r\n") as server:
            statuses, result, record = self.statuses(server)
        self.assertEqual(statuses, {"failed"})
        self.assertIn("not a JSON object", record["requests"][0]["error"])
        self.assertIn("not a JSON object", result.stderr)

    def test_an_answer_that_never_ends_is_cancelled(self):
        with RawServer(STREAM_HEAD, wait_s=60) as server:
            statuses, _, record = self.statuses(server, "--timeout", "1s", "--concurrency", 3)
        self.assertEqual(statuses, {"cancelled"})
        self.assertIn("within 1 s", record["requests"][0]["error"])

    def test_errors_of_the_server_are_shown(self):
        body = b'{"error":{"message":"the cache is full"}}'
        head = b"HTTP/1.1 507 Full\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(body)
        with RawServer(head + body) as server:
            statuses, result, record = self.statuses(server)
        self.assertEqual(statuses, {"failed"})
        self.assertEqual(record["requests"][0]["error"], "HTTP 507: the cache is full")
        self.assertIn("HTTP 507: the cache is full", result.stderr)

    def test_a_server_that_refuses_the_check_is_not_loaded(self):
        with RawServer(b"SSH-2.0-OpenSSH\r\n", check=False) as server:
            error = self.refusal(server.url("/v1/completions"), code=4)
        self.assertIn("not valid HTTP", error)
        self.assertFalse(self.out.exists())

    def test_nobody_there(self):
        with RawServer(b"") as server:
            url = server.url()
        self.assertIn("is the server running there?", self.refusal(url, code=4))

    def test_a_name_without_an_address(self):
        error = self.refusal("http://nowhere.invalid:8000", code=4)
        self.assertIn("the address of 'nowhere.invalid' was not found", error)

    def test_an_unknown_server(self):
        with OpenAiServer() as server:
            error = self.refusal(server.url("/some/page"), code=4)
        self.assertIn("--api completions|chat|llama.cpp", error)


class Ends(LoadCase):
    def test_an_interrupt_keeps_what_was_recorded(self):
        with OpenAiServer(0.0, 0.05) as server:
            process = subprocess.Popen(
                [LLMPROF, "load", server.url(), "--rate", "20", "--duration", "60s", "--new-tokens", "20",
                 "--out", self.out], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                env={**os.environ, **KEYS})
            until = time.monotonic() + 60
            while len([r for r in server.requests if len(r["sent_ns"]) == 20]) < 5 and time.monotonic() < until:
                time.sleep(0.02)
            process.send_signal(signal.SIGINT)
            output, errors = process.communicate(timeout=30)
        record = json.loads((self.out / "requests.json").read_text())
        statuses = [request["status"] for request in record["requests"]]
        self.assertTrue(record["interrupted"])
        self.assertGreaterEqual(statuses.count("completed"), 5)
        self.assertGreater(statuses.count("cancelled"), 0)
        self.assertEqual(set(statuses), {"completed", "cancelled"})
        self.assertGreater(record["not_sent"], 100)
        self.assertEqual(process.returncode, 0 if record["held"] else 4, output + errors)
        self.assertFalse((self.out / "requests.json.partial").exists())

    def test_a_load_that_is_not_held_is_refused(self):
        # Its prompts cannot be made as fast as the requests shall be sent.
        with OpenAiServer() as server:
            error = self.refusal(server.url(), "--rate", 20000, "--requests", 3000, "--prompt-tokens", 20000,
                                 "--new-tokens", 2, code=4)
        record = json.loads((self.out / "requests.json").read_text())
        self.assertIn("the load was not held, so its figures are no result", error)
        self.assertIn("lower the rate", error)
        self.assertFalse(record["held"])
        self.assertEqual(len(record["requests"]), 3000)
        late = sorted(r["sent_ns"] - r["scheduled_ns"] - r.get("connect_ns", 0) for r in record["requests"])
        self.assertEqual(record["lateness_ns"]["max"], late[-1])
        self.assertEqual(record["lateness_ns"]["p99"], late[2969])
        self.assertEqual(record["lateness_ns"]["p50"], late[1499])

    def test_wrong_use(self):
        for options, words in (
                (("--rate", "fast"), "--rate"), (("--rate", 1, "--concurrency", 2), "give one of them"),
                (("--slo", "tpot=1"), "--slo"), (("--sweep", "rate=x"), "--sweep"), (("--speed", 2), "--replay"),
                (("--duration", "soon"), "--duration"), (("--prompt-tokens", "9:1"), "--prompt-tokens"),
                (("--arrivals", "constant"), "--rate"), (("--api", "grpc"), "grpc")):
            with self.subTest(options=options):
                self.assertIn(words, self.refusal("http://127.0.0.1:9", *options, code=2))
        self.assertIn("must start with http", self.refusal("localhost:8000", code=2))
        secret = self.refusal("http://me:hunter2@localhost/", code=2)
        self.assertNotIn("hunter2", secret)
        bad = self.folder / "bad.csv"
        bad.write_text("hello")
        self.assertIn("Mooncake", self.refusal("http://127.0.0.1:9", "--replay", bad, code=3))


class Secrets(LoadCase):
    KEY = "sk-a-very-secret-key"

    def everything(self, result):
        return result.stdout + result.stderr + "".join(
            path.read_text(errors="replace") for path in self.out.rglob("*") if path.is_file())

    def test_the_key_is_sent_and_nowhere_else(self):
        with OpenAiServer(key=self.KEY) as server:
            for variable in ("LLMPROF_LOAD_API_KEY", "OPENAI_API_KEY"):
                result = self.load(server.url("/v1/completions"), "--requests", 2, "--new-tokens", 2,
                                   env={variable: self.KEY})
                self.assertIn("2 completed", result.stdout, result.stderr)
                self.assertNotIn(self.KEY, self.everything(result))

    def test_a_key_that_the_server_repeats_is_hidden(self):
        with OpenAiServer(key="another") as server:
            result = self.load(server.url("/v1/completions"), env={"LLMPROF_LOAD_API_KEY": self.KEY})
        self.assertEqual(result.returncode, 4)
        self.assertIn("HTTP 401: bad key Bearer ***", result.stderr)
        self.assertIn("LLMPROF_LOAD_API_KEY", result.stderr)
        self.assertNotIn(self.KEY, self.everything(result))


class Tls(LoadCase):
    def certificate(self, name):
        """A CA of our own and a certificate by it for `name`."""
        def openssl(*words):
            subprocess.run(["openssl", *words], check=True, capture_output=True, cwd=self.folder)

        openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
                "-keyout", "ca.key", "-out", "ca.pem", "-subj", "/CN=Test CA")
        openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", "server.key",
                "-out", "server.csr", "-subj", "/CN=server")
        (self.folder / "names").write_text(f"subjectAltName={name}\n")
        openssl("x509", "-req", "-in", "server.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial",
                "-days", "2", "-extfile", "names", "-out", "server.pem")
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.folder / "server.pem", self.folder / "server.key")
        return context

    def test_the_certificate_is_verified(self):
        with OpenAiServer(0.01, 0.001, tls=self.certificate("IP:127.0.0.1")) as server:
            options = (server.url(), "--requests", 6, "--concurrency", 2, "--new-tokens", 5)
            error = self.refusal(*options, code=4, env={"SSL_CERT_FILE": str(self.folder / "server.key")})
            self.assertIn("server.key: its CA certificates cannot be read", error)
            error = self.refusal(*options, code=4)
            self.assertIn("is not trusted", error)
            self.assertIn("--ca-file", error)
            self.record_of(*options, "--ca-file", self.folder / "ca.pem")
            record = self.record_of(*options, env={"SSL_CERT_FILE": str(self.folder / "ca.pem")})
        self.assertEqual({request["status"] for request in record["requests"]}, {"completed"})
        self.assertTrue(all(request["sent_ns"] < request["chunks"][0][0] for request in record["requests"]))

    def test_another_name_is_refused(self):
        with OpenAiServer(tls=self.certificate("DNS:example.com")) as server:
            error = self.refusal(server.url("/v1/completions"), "--ca-file", self.folder / "ca.pem", code=4)
        self.assertIn("is not trusted", error)


if __name__ == "__main__":
    unittest.main()
