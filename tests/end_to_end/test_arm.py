"""`llmprof arm` and `llmprof disarm`: their requests to a process, and their messages when it fails."""
import contextlib
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest

from program import LLMPROF, run

PATIENCE = 60  # s, for events that take milliseconds

# A process that answers like the collector: a datagram socket in the abstract namespace.
ANSWERING = """
import os, socket, sys
answers = dict(word.split("=", 1) for word in sys.argv[1:])
server = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
server.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
server.bind("\\0llmprof." + str(os.getpid()))
print("ready", flush=True)
while True:
    asked, _, _, sender = server.recvmsg(64, socket.CMSG_SPACE(12))
    answer = answers.get(asked.decode(), "error: unknown command")
    if answer != "silence":
        server.sendto(answer.encode(), sender)
"""

# The collector itself, as CUDA loads it; without CUDA it has nothing to record.
COLLECTOR = pathlib.Path(LLMPROF).parents[1] / "lib" / "libllmprof_collector.so"
LOADED = """
import ctypes, os, sys, time
os.environ.update(LLMPROF_ARM="command", LLMPROF_LOG_DIR=sys.argv[2])
ctypes.CDLL(sys.argv[1]).InitializeInjection()
print("ready", flush=True)
time.sleep(60)
"""


@contextlib.contextmanager
def process(program, *arguments):
    with subprocess.Popen(
        [sys.executable, "-c", program, *arguments], stdout=subprocess.PIPE, text=True
    ) as started:
        try:
            started.stdout.readline()
            yield started
        finally:
            started.kill()


class Arm(unittest.TestCase):
    def assert_failure(self, result, words):
        self.assertEqual(result.returncode, 4, result.stderr)
        self.assertEqual(result.stdout, "")
        self.assertIn(words, result.stderr)

    def test_requests_and_answers(self):
        with process(ANSWERING, "arm=ok: tracing", "disarm=ok: detached after 12 steps") as other:
            armed, disarmed = run("arm", other.pid), run("disarm", other.pid)
        self.assertEqual((armed.returncode, disarmed.returncode), (0, 0), armed.stderr)
        self.assertEqual(armed.stdout, f"process {other.pid}: tracing\n")
        self.assertEqual(disarmed.stdout, f"process {other.pid}: detached after 12 steps\n")

    def test_json(self):
        with process(ANSWERING, 'arm=ok: a "word" \\ more') as other:
            armed = json.loads(run("arm", other.pid, "--json").stdout)
            refused = run("disarm", other.pid, "--json")
        expected = {"pid": other.pid, "command": "arm", "ok": True, "message": 'a "word" \\ more'}
        self.assertEqual(armed, expected)
        self.assertEqual(refused.returncode, 4)
        answer = json.loads(refused.stdout)
        self.assertFalse(answer["ok"])
        self.assertEqual(answer["message"], f"process {other.pid}: unknown command")

    def test_the_collectors_own_errors_are_shown(self):
        with process(ANSWERING, "arm=error: another tool uses CUPTI") as other:
            self.assert_failure(run("arm", other.pid), "another tool uses CUPTI")

    def test_an_invalid_answer_is_an_error(self):
        with process(ANSWERING, "arm=maybe \x1b[31m") as other:
            result = run("arm", other.pid)
        self.assert_failure(result, "maybe")
        self.assertNotIn("\x1b", result.stderr)

    def test_a_process_without_a_collector(self):
        with process("import time; print('ready', flush=True); time.sleep(60)") as other:
            self.assert_failure(run("arm", other.pid), f"process {other.pid} has no collector")

    def test_a_process_that_does_not_exist(self):
        with process("print('ready', flush=True)") as other:
            other.wait()
        self.assert_failure(run("disarm", other.pid), f"there is no process {other.pid}")

    def test_no_answer(self):
        with process(ANSWERING, "arm=silence") as other:
            begin = time.monotonic()
            result = run("arm", other.pid)
            self.assertGreaterEqual(time.monotonic() - begin, 2)
        self.assert_failure(result, "did not answer within 2 s")

    def test_a_stopped_process(self):
        with process(ANSWERING, "arm=ok: tracing") as other:
            other.send_signal(signal.SIGSTOP)
            self.assert_failure(run("arm", other.pid), "is the process stopped")

    @unittest.skipUnless(os.geteuid() == 0, "needs root, to become another user")
    def test_another_users_process(self):
        with process(ANSWERING, "arm=silence") as other:
            result = subprocess.run(
                [sys.executable, "-c", "import os, sys; os.setuid(65534); os.execv(sys.argv[1], sys.argv[1:])",
                 LLMPROF, "arm", str(other.pid)],
                capture_output=True, text=True, check=False, timeout=60,
            )
        if "Permission denied" in result.stderr:
            self.skipTest("needs a build folder that other users can read")
        self.assert_failure(result, "belongs to another user")

    def wait_for_socket(self, pid):
        """The collector's thread opens it after the library was loaded."""
        until = time.monotonic() + PATIENCE
        while f"@llmprof.{pid}\n" not in pathlib.Path("/proc/net/unix").read_text():
            self.assertLess(time.monotonic(), until, "the collector opened no socket")
            time.sleep(0.02)

    def test_the_collector_itself_answers(self):
        if b"InitializeInjection\0" not in COLLECTOR.read_bytes():
            self.skipTest("needs a collector with CUDA tracing (CUPTI's headers when it is built)")
        with tempfile.TemporaryDirectory() as folder, process(LOADED, COLLECTOR, folder) as other:
            self.wait_for_socket(other.pid)
            result = run("disarm", other.pid, "--json")
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertTrue(json.loads(result.stdout)["message"])

    def test_wrong_usage(self):
        for words in [["arm"], ["arm", "abc"], ["arm", "0"], ["disarm", "-4"]]:
            with self.subTest(words):
                self.assertEqual(run(*words).returncode, 2)
        self.assertIn("Example: llmprof arm", run("arm", "--help").stdout)


if __name__ == "__main__":
    unittest.main()
