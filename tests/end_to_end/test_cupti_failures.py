"""The collector when CUPTI fails, is missing or is used by another tool, and when its log cannot grow: it stands down
with one message, and the program continues."""
import pathlib
import resource
import subprocess
import unittest

from played_tapes import COPY, CUPTI, FILL, KERNEL, InteractiveProgram, PlayedCase, kernel_rows


class Failures(PlayedCase):
    def assert_stood_down(self, reason, complaint, result=None):
        log = self.log()
        self.assertEqual(log.collections()[-1], ("stood_down", reason))
        if result is not None:
            self.assertEqual(log.of("tracing_change")[-1]["result"], result)
        self.assertIn(complaint, self.complaints)
        self.assertEqual(self.complaints.count("\n"), 1)
        # The program's own annotations are still recorded.
        self.assertEqual(len(log.ranges()), 65)
        self.assertEqual(log.only("clean_end")["dropped"], 0)
        return log

    def test_another_subscriber(self):
        self.complaints = self.play(self.tape("eager"), "--other-subscriber", "--status=3", status=3)
        log = self.assert_stood_down("other_subscriber", "another tool uses CUPTI")
        self.assertEqual(log.of("launch", "kernels"), [])

    def test_no_libcupti(self):
        self.complaints = self.play(self.tape("eager"), LLMPROF_CUPTI="/nowhere/libcupti.so")
        self.assert_stood_down("cupti_missing", "libcupti not found")

    def test_libcupti_of_last_resort(self):
        toolkit = pathlib.Path("/usr/local/cuda")
        without_toolkit = []
        if toolkit.exists():
            hide = f'mount -t tmpfs tmpfs {toolkit} && exec "$@"'
            without_toolkit = ["unshare", "--mount", "sh", "-c", hide, "sh"]
            if subprocess.run([*without_toolkit, "true"], capture_output=True, check=False).returncode:
                self.skipTest(f"{toolkit} has a libcupti, which comes first; hiding it needs root")
        environment = {"LLMPROF_CUPTI": None, "LD_LIBRARY_PATH": None}
        self.play(
            self.tape("eager"), inside=without_toolkit, LLMPROF_CUPTI_FALLBACK=CUPTI, **environment
        )
        log = self.log()
        if log.strings[log.only("cuda_session")["cupti_path"]] != CUPTI:
            self.skipTest("a libcupti is on the loader's path here, and comes first")
        self.assertEqual(len(kernel_rows(log)), 92)

    def test_libcupti_of_last_resort_comes_last(self):
        # A toolkit folder whose libcupti is the fake one.
        toolkit = self.folder / "toolkit" / "lib64"
        toolkit.mkdir(parents=True)
        (toolkit / "libcupti.so.13").symlink_to(CUPTI)
        self.play(
            self.tape("eager"),
            LLMPROF_CUPTI=None,
            CUDA_HOME=str(toolkit.parent),
            LLMPROF_CUPTI_FALLBACK="/nowhere/libcupti.so",
        )
        self.assertEqual(len(kernel_rows(self.log())), 92)

    def test_cupti_that_fails(self):
        for function, code in (
            ("subscribe", 999),
            ("timestamp_callback", 1),
            ("register_callbacks", 8),
            ("enable_callback", 27),
            ("activity_enable", 35),
        ):
            with self.part(function):
                self.complaints = self.play(self.tape("eager"), FAKE_CUPTI_FAIL=f"{function}:{code}")
                log = self.assert_stood_down("cupti_failed", "CUPTI failed", code)
                self.assertEqual(log.of("launch", "kernels"), [])
                # It left CUPTI to others.
                self.assertEqual(len(self.records_with("off", KERNEL)), 92)

    def test_cupti_that_fails_later(self):
        # The first activity kind of the second window: two are for allocations, four for the first window.
        tape = self.tape("eager", steps=32)
        complaints = self.play(tape, LLMPROF_DUTY="2/8", FAKE_CUPTI_FAIL="activity_enable:999:7")
        log = self.log()
        self.assertEqual(log.collections()[-1], ("stood_down", "cupti_failed"))
        self.assertIn("CUPTI failed", complaints)
        self.assert_holds_what_was_delivered(log)
        self.assertEqual(len(self.records_with("lost", KERNEL, COPY, FILL)), 0)
        self.assertGreaterEqual(len(kernel_rows(log)), 30)

    def test_a_collector_that_has_stood_down_cannot_be_armed_again(self):
        # Arming from the start; the second window fails.
        program = InteractiveProgram(
            self,
            self.tape("eager", steps=32),
            LLMPROF_DUTY="2/8",
            FAKE_CUPTI_FAIL="activity_enable:999:7",
        )
        self.assertEqual(program.say("status"), "ok: stood down\n")
        self.assertEqual(program.say("disarm"), "ok: not armed\n")
        self.assertIn("error: the collector has stood down", program.say("arm"))
        self.assertEqual(program.say("status"), "ok: stood down\n")
        self.assertEqual(program.end().count("\n"), 1)

    def test_functions_whose_failure_changes_nothing(self):
        for function in ("flush_all", "activity_disable", "unsubscribe", "finalize"):
            with self.part(function):
                self.play(self.tape("eager"), "--status=3", status=3, FAKE_CUPTI_FAIL=f"{function}:999")
                self.assertEqual(len(self.log().calls()), 111)

    def test_dropped_records_are_counted(self):
        self.play(self.tape("eager"), FAKE_CUPTI_DROP="7")
        log = self.log()
        dropped = self.records_with("dropped", KERNEL, COPY, FILL)
        self.assertEqual(len(dropped), (92 + 10) // 7)
        self.assertEqual(sum(row["records"] for row in log.of("cupti_dropped")), len(dropped))
        self.assert_holds_what_was_delivered(log)

    def test_a_log_that_may_not_grow(self):
        tape = self.tape("eager", steps=200, layers=8)
        complaints = self.play(tape, "--rounds=10", "--status=3", status=3, LLMPROF_LOG_MAX_MB="1")
        self.assert_full_and_readable(complaints)

    def test_a_file_size_limit(self):
        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))

        tape = self.tape("eager", steps=200, layers=8)
        # The oracle is a file too, and larger.
        complaints = self.play(
            tape, "--rounds=10", "--status=3", status=3, limit=limit, FAKE_CUPTI_ORACLE=None
        )
        self.assert_full_and_readable(complaints)

    def assert_full_and_readable(self, complaints):
        log = self.log()
        self.assertLessEqual(log.path.stat().st_size, 1 << 20)
        self.assertEqual(complaints.count("\n"), 1)
        self.assertIn("the log cannot grow any further", complaints)
        self.assertGreater(log.only("clean_end")["dropped"], 0)
        self.assertGreater(len(log.kernels()), 100)
        self.assertGreater(len(log.calls()), 100)


if __name__ == "__main__":
    unittest.main()
