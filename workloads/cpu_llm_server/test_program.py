"""The server as its users see it: HTTP, the journal, faults, the recorded log.

CPU_LLM_SERVER names the program, LLMPROF_COLLECTOR the collector's library.
"""
import concurrent.futures
import http.client
import json
import os
import pathlib
import re
import signal
import socket
import subprocess
import tempfile
import time
import unittest

PROGRAM = os.environ["CPU_LLM_SERVER"]
COLLECTOR = os.environ["LLMPROF_COLLECTOR"]
SMALL = ["--hidden", "64", "--intermediate", "96", "--layers", "2", "--heads", "4", "--kv-heads", "2",
         "--vocabulary", "128", "--threads", "1"]


class Server:
    """A running server with its journal."""

    def __init__(self, folder, *arguments, **environment):
        self.journal_file = pathlib.Path(folder) / "journal.jsonl"
        self.process = subprocess.Popen(
            [PROGRAM, *SMALL, "--port", "0", "--journal", str(self.journal_file), *arguments],
            stdout=subprocess.PIPE, text=True, env={"PATH": os.environ["PATH"], **environment})
        assert self.process.stdout is not None
        found = re.search(r"http://127\.0\.0\.1:(\d+)", self.process.stdout.readline())
        assert found is not None
        self.port = int(found.group(1))

    def ask(self, method, path, body=None, headers=()):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        connection.request(method, path, None if body is None else json.dumps(body), dict(headers))
        answer = connection.getresponse()
        content = answer.read().decode()
        connection.close()
        return answer, content

    def complete(self, **body):
        return self.ask("POST", "/v1/completions", {"ignore_eos": True, **body})

    def end(self, with_signal=signal.SIGINT):
        self.process.send_signal(with_signal)
        code = self.process.wait(timeout=20)
        self.process.stdout.close()
        return code

    def journal(self):
        return [json.loads(line) for line in self.journal_file.read_text(encoding="utf-8").splitlines()]


def events(content):
    lines = [line for line in content.split("\n\n") if line]
    assert lines[-1] == "data: [DONE]", lines[-1]
    return [json.loads(line.removeprefix("data: ")) for line in lines[:-1]]


class ServerCase(unittest.TestCase):
    def serve(self, *arguments, **environment):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        server = Server(folder.name, *arguments, **environment)
        self.addCleanup(lambda: server.process.poll() is None and server.end(signal.SIGKILL))
        return server


class CommandLine(ServerCase):
    def test_wrong_usage_exits_with_2_and_says_why(self):
        for arguments, word in ((["--slots", "0"], "--slots"), (["--fault", "crash=at:1s"], "unknown kind"),
                                (["--heads", "5"], "--heads 5")):
            done = subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, timeout=20, check=False)
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertIn(word, done.stderr)

    def test_a_port_that_is_taken_is_named(self):
        server = self.serve()
        done = subprocess.run([PROGRAM, *SMALL, "--port", str(server.port)], capture_output=True, text=True,
                              timeout=20, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn(str(server.port), done.stderr)

    def test_a_journal_that_cannot_be_written_is_named(self):
        done = subprocess.run([PROGRAM, *SMALL, "--port", "0", "--journal", "/proc/none/journal"],
                              capture_output=True, text=True, timeout=20, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("/proc/none/journal", done.stderr)

    def test_signals_end_it_well(self):
        for with_signal in (signal.SIGINT, signal.SIGTERM):
            self.assertEqual(self.serve().end(with_signal), 0)


class Answers(ServerCase):
    def test_health_and_models(self):
        server = self.serve("--name", "tiny")
        self.assertEqual(server.ask("GET", "/health")[0].status, 200)
        self.assertEqual(json.loads(server.ask("GET", "/v1/models")[1])["data"][0]["id"], "tiny")

    def test_refusals(self):
        server = self.serve("--cache-tokens", "64")
        for method, path, body, status in (
                ("GET", "/nothing", None, 404), ("GET", "/v1/completions", None, 405),
                ("POST", "/health", {}, 405), ("POST", "/v1/completions", {}, 400),
                ("POST", "/v1/completions", {"prompt": [1] * 60, "max_tokens": 5}, 400),
                ("POST", "/v1/chat/completions", {"messages": 5}, 400)):
            answer, content = server.ask(method, path, body)
            self.assertEqual(answer.status, status, content)
            self.assertEqual(json.loads(content)["error"]["code"], status)

    def test_a_completion(self):
        server = self.serve()
        answer, content = server.ask("POST", "/v1/completions",
                                     {"prompt": "one two three", "max_tokens": 5, "ignore_eos": True},
                                     {"X-Request-Id": "mine"})
        self.assertEqual(answer.status, 200)
        self.assertEqual(answer.headers["x-request-id"], "mine")
        body = json.loads(content)
        self.assertEqual(body["usage"], {"prompt_tokens": 3, "completion_tokens": 5, "total_tokens": 8})
        self.assertEqual(len(body["choices"][0]["text"].split()), 5)
        self.assertEqual(body["choices"][0]["finish_reason"], "length")

    def test_a_stream_is_the_same_completion(self):
        server = self.serve()
        whole = json.loads(server.complete(prompt=[5, 6, 7], max_tokens=6)[1])
        answer, content = server.complete(prompt=[5, 6, 7], max_tokens=6, stream=True,
                                          stream_options={"include_usage": True})
        self.assertEqual(answer.headers["content-type"], "text/event-stream")
        *tokens, usage = events(content)
        self.assertEqual("".join(event["choices"][0]["text"] for event in tokens), whole["choices"][0]["text"])
        self.assertEqual([event["choices"][0]["finish_reason"] for event in tokens], [None] * 5 + ["length"])
        self.assertEqual(usage["usage"], whole["usage"])
        self.assertEqual(usage["choices"], [])

    def test_chat(self):
        server = self.serve()
        body = {"messages": [{"role": "user", "content": "one two"}], "max_tokens": 3, "ignore_eos": True}
        whole = json.loads(server.ask("POST", "/v1/chat/completions", body)[1])
        first, *tokens = events(server.ask("POST", "/v1/chat/completions", {**body, "stream": True})[1])
        self.assertEqual(first["choices"][0]["delta"], {"role": "assistant", "content": ""})
        self.assertEqual("".join(event["choices"][0]["delta"]["content"] for event in tokens),
                         whole["choices"][0]["message"]["content"])

    def test_requests_at_the_same_time_share_steps(self):
        # The pause lets all twelve arrive before the first of them can end.
        server = self.serve("--fault", "pause=at:0ms,for:300ms")
        with concurrent.futures.ThreadPoolExecutor(12) as pool:
            done = list(pool.map(lambda i: json.loads(server.complete(prompt=[i + 1] * 40, max_tokens=60)[1]),
                                 range(12)))
        self.assertEqual([len(each["choices"][0]["text"].split()) for each in done], [60] * 12)
        server.end()
        steps = [line for line in server.journal() if "step" in line]
        self.assertEqual(max(len(step["parts"]) for step in steps), 8)
        self.assertLess(len(steps), 12 * 60 / 2)

    def test_a_client_that_goes_away_is_cancelled(self):
        server = self.serve()
        with socket.create_connection(("127.0.0.1", server.port)) as client:
            body = json.dumps({"prompt": [1], "max_tokens": 4000, "ignore_eos": True, "stream": True})
            client.sendall(f"POST /v1/completions HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body)}\r\n\r\n{body}"
                           .encode())
            self.assertIn(b"200 OK", client.recv(100))
        deadline = time.monotonic() + 20
        while not any("canceled" in line for line in server.journal()):
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.01)
        server.complete(prompt=[1], max_tokens=2)
        server.end()
        lines = server.journal()
        tokens = sum(part["token"] for line in lines if "step" in line for part in line["parts"]
                     if part["request"] == 0)
        self.assertLess(tokens, 4000)
        self.assertEqual([line["canceled"] for line in lines if "canceled" in line], [0])


class Journal(ServerCase):
    def requests(self, server, count, prompt, tokens):
        with concurrent.futures.ThreadPoolExecutor(count) as pool:
            return list(pool.map(
                lambda i: server.ask("POST", "/v1/completions",
                                     {"prompt": [i + 1] * prompt, "max_tokens": tokens, "ignore_eos": True},
                                     {"x-request-id": f"r{i}"}), range(count)))

    def test_it_has_every_token_of_every_request(self):
        server = self.serve("--chunk-tokens", "32")
        before = time.monotonic_ns()
        self.requests(server, 5, 50, 7)
        server.end()
        head, *lines = server.journal()
        self.assertEqual(head, {"format": "cpu_llm_server journal", "version": 1})
        names = {line["request"]: line["name"] for line in lines if "arrival_ns" in line}
        self.assertEqual(sorted(names.values()), [f"r{i}" for i in range(5)])
        steps = [line for line in lines if "step" in line]
        self.assertEqual([step["step"] for step in steps], list(range(len(steps))))
        last = before
        for step in steps:
            self.assertLess(last, step["start_ns"])
            self.assertLess(step["start_ns"], step["end_ns"])
            last = step["end_ns"]
            self.assertLessEqual(sum(part["added"] for part in step["parts"]), 32)
        self.assertLess(last, time.monotonic_ns())
        for request in names:
            parts = [part for step in steps for part in step["parts"] if part["request"] == request]
            self.assertEqual(sum(part["token"] for part in parts), 7)
            self.assertEqual(sum(part["added"] for part in parts if part["prompt"]), 50)
            self.assertGreater(len([part for part in parts if part["prompt"]]), 1)
            cached = 0
            for part in parts:
                self.assertEqual(part["cached"], cached)
                cached += part["added"]

    def test_a_full_cache_preempts(self):
        # The pause lets all four arrive before the first of them can end.
        server = self.serve("--cache-tokens", "100", "--fault", "pause=at:0ms,for:300ms")
        answers = self.requests(server, 4, 20, 30)
        self.assertEqual({len(json.loads(content)["choices"][0]["text"].split()) for _, content in answers}, {30})
        server.end()
        self.assertTrue(any(line["preempted"] for line in server.journal() if "step" in line))

    def fault(self, server):
        self.requests(server, 3, 20, 400)
        server.end()
        lines = server.journal()
        (fault,) = [line for line in lines if "fault" in line]
        (first,) = [line["arrival_ns"] for line in lines if line.get("request") == 0 and "arrival_ns" in line]
        return lines, fault, (fault["start_ns"] - first) / 1e6

    def test_a_pause_is_between_steps(self):
        lines, fault, at_ms = self.fault(self.serve("--fault", "pause=at:20ms,for:50ms"))
        self.assertEqual(fault["fault"], "pause")
        self.assertGreaterEqual(at_ms, 20)
        self.assertGreaterEqual(fault["end_ns"] - fault["start_ns"], 50_000_000)
        for step in (line for line in lines if "step" in line):
            self.assertTrue(step["end_ns"] <= fault["start_ns"] or step["start_ns"] >= fault["end_ns"])

    def test_an_eviction_is_computed_again_later(self):
        lines, fault, _ = self.fault(self.serve("--fault", "evict=at:20ms,for:30ms"))
        self.assertEqual(fault["fault"], "evict")
        # The one that joined last; a busy machine may not have sent all three yet.
        before = [line for line in lines if "step" in line and line["end_ns"] <= fault["start_ns"]]
        evicted = fault["request"]
        self.assertEqual(evicted, max(part["request"] for part in before[-1]["parts"]))
        later = [line for line in lines if "step" in line and line["start_ns"] > fault["start_ns"]]
        self.assertEqual(later[0]["preempted"], [evicted])
        again = next(step for step in later if any(part["request"] == evicted for part in step["parts"]))
        self.assertGreaterEqual(again["start_ns"], fault["end_ns"])
        (part,) = [part for part in again["parts"] if part["request"] == evicted]
        self.assertEqual((part["cached"], part["prompt"]), (0, True))

    def test_a_slow_layer_takes_longer(self):
        lines, fault, _ = self.fault(self.serve("--fault", "slow_layer=at:20ms,for:40ms,layer:1,by:5x"))
        self.assertEqual((fault["fault"], fault["layer"], fault["by"]), ("slow_layer", 1, 5.0))
        slowed = [line for line in lines if line.get("slowed_ns", 0) > 0]
        self.assertTrue(slowed)
        self.assertTrue(all(fault["start_ns"] <= step["start_ns"] < fault["end_ns"] for step in slowed))


class Annotations(ServerCase):
    def test_steps_are_recorded(self):
        with tempfile.TemporaryDirectory() as folder:
            server = self.serve(LLMPROF_COLLECTOR=COLLECTOR, LLMPROF_LOG_DIR=folder)
            server.complete(prompt=[1, 2, 3], max_tokens=2)
            self.assertEqual(server.end(), 0)
            (log,) = pathlib.Path(folder).iterdir()
            content = log.read_bytes()
        for name in (b"engine_step prefill=1(3) decode=0(0)", b"engine_step prefill=0(0) decode=1(1)", b"layer_01",
                     b"cpu::gemv_qkv"):
            self.assertIn(name, content)


if __name__ == "__main__":
    unittest.main()
