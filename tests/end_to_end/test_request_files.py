"""`llmprof analyze` with files of requests: alone, with a capture, in a folder, several, of another boot, damaged."""
import json
import pathlib
import tempfile
import unittest

import cuda_log
from program import DATA, Bundle, run

FIXTURES = DATA / "requests"
CAPTURE = DATA / "h200-detection" / "gemma_small.llmtrace.gz"
BOOT = "251136cc-c97d-4a2c-8f78-356e90cc8a41"  # from the capture's header
OTHER_BOOT = "00000000-c97d-4a2c-8f78-356e90cc8a41"


def steps_of_capture():
    return Bundle(CAPTURE).profile["steps"]


def load(start_ns, count=50, boot=BOOT, every_ns=1_000_000, **more):
    """Requests of three tokens, 1 ms apart: the first after 2 ms, the others after 0.5 ms each."""
    requests = []
    for i in range(count):
        sent = start_ns + i * every_ns
        requests.append({"id": i, "scheduled_ns": sent - 1000, "sent_ns": sent,
                         "chunks": [[sent + 2_000_000 + 500_000 * k, 1] for k in range(3)],
                         "end_ns": sent + 3_100_000, "prompt_tokens": 8, "output_tokens": 3, "status": "completed"})
    return json.dumps({"format": "llmprof requests", "version": 1, "clock": "CLOCK_MONOTONIC ns", "boot_id": boot,
                       "arrivals": "constant", "rate": 1e9 / every_ns, "requests": requests, **more})


class RequestFiles(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        steps = steps_of_capture()
        cls.start_ns = round(steps[-4]["start_ms"] * 1e6)  # the first steps take longer than the load

    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name)

    def write(self, name, text):
        path = self.folder / name
        path.write_text(text, encoding="utf-8")
        return path

    def check_statistics(self, requests):
        self.assertEqual((requests["sent"], requests["completed"], requests["failed"]), (50, 50, 0))
        self.assertEqual(requests["output_tokens"], 150)
        for figure, value in (("ttft_ms", 2), ("itl_ms", 0.5), ("tpot_ms", 0.5), ("e2e_ms", 3.1)):
            self.assertEqual(requests[figure]["count"], 100 if figure == "itl_ms" else 50)
            for key in ("mean", "p50", "p90", "p99"):
                self.assertAlmostEqual(requests[figure][key], value, 9, (figure, key))
        load_figures = requests["load"]
        self.assertAlmostEqual(load_figures["sent_rate"], 1000, 6)
        self.assertAlmostEqual(load_figures["completed_rate"], 50 / 0.0521, 6)
        self.assertEqual(load_figures["most_concurrent"], 4)
        self.assertEqual(load_figures["verdict"], "steady")
        self.assertEqual([item["id"] for item in requests["items"]], [str(i) for i in range(50)])
        self.assertEqual(requests["items"][7]["e2e_ns"], 3_100_000)
        self.assertEqual(requests["items"][7]["client_delay_ns"], 1000)

    def test_alone_they_have_statistics(self):
        bundle = Bundle(self.write("requests.json", load(self.start_ns)))
        self.check_statistics(bundle.profile["requests"])
        self.assertEqual(bundle.profile["requests"]["join"]["state"], "no_steps")
        self.assertEqual(bundle.profile["kernels"], [])
        self.assertEqual(bundle.profile["context"]["captures"][0]["format"], "requests")
        self.assertEqual(bundle.result.returncode, 0)

    def test_every_fixture_can_be_analyzed_alone(self):
        for path in sorted(FIXTURES.glob("*.json*")) + sorted(FIXTURES.glob("*.log")):
            if "totals" in path.name or path.name == "aiperf_profile_export_aiperf.json":
                continue
            with self.subTest(path.name):
                self.assertGreater(Bundle(path).profile["requests"]["completed"], 0)

    def test_with_a_capture_of_the_same_boot(self):
        for order in (1, -1):
            files = [CAPTURE, self.write("requests.json", load(self.start_ns))][::order]
            requests = Bundle(*files).profile["requests"]
            self.check_statistics(requests)
            # A program that served nobody: no step made these tokens.
            self.assertEqual(requests["join"]["state"], "low_coverage")
            self.assertAlmostEqual(requests["items"][0]["sent_ms"], self.start_ns / 1e6, 9)

    def test_a_folder_with_both(self):
        (self.folder / CAPTURE.name).write_bytes(CAPTURE.read_bytes())
        self.write("requests.json", load(self.start_ns))
        bundle = Bundle(self.folder)
        self.check_statistics(bundle.profile["requests"])
        self.assertGreater(len(bundle.profile["kernels"]), 0)

    def test_another_boot_is_not_joined(self):
        bundle = Bundle(CAPTURE, self.write("requests.json", load(self.start_ns, boot=OTHER_BOOT)))
        self.check_statistics(bundle.profile["requests"])
        self.assertEqual(bundle.profile["requests"]["join"]["state"], "other_clock")
        self.assertIn("requests_of_other_boot", bundle.codes())

    def test_another_time_is_not_joined(self):
        bundle = Bundle(CAPTURE, self.write("requests.json", load(self.start_ns + 10**13)))
        self.assertEqual(bundle.profile["requests"]["join"]["state"], "outside_of_capture")
        self.assertIn("requests_outside_of_capture", bundle.codes())

    def test_of_several_the_recorded_one_is_analyzed(self):
        later = self.write("a.json", load(self.start_ns + 10**13, count=40))
        recorded = self.write("b.json", load(self.start_ns))
        other = self.write("c.json", load(self.start_ns, boot=OTHER_BOOT))
        bundle = Bundle(later, recorded, other, CAPTURE)
        self.check_statistics(bundle.profile["requests"])
        self.assertEqual(bundle.profile["requests"]["file"], str(recorded))
        self.assertEqual(bundle.profile["requests"]["unrecorded"]["completed"], 40)
        self.assertIn("requests_of_several_files", bundle.codes())

    def test_objectives(self):
        path = self.write("requests.json", load(self.start_ns, slo={"ttft_ms": 1, "itl_ms": None}))
        figures = Bundle(path).profile["requests"]["load"]
        self.assertEqual([(item["figure"], item["attained"]) for item in figures["objectives"]], [("ttft", 0)])
        self.assertEqual(figures["goodput"], 0)
        figures = Bundle(path, options=("--slo", "ttft=2ms,itl=0.5ms,e2e=1s")).profile["requests"]["load"]
        self.assertEqual([item["attained"] for item in figures["objectives"]], [1, 1, 1])
        self.assertAlmostEqual(figures["goodput"], 50 / 0.0521, 6)
        self.assertLess(figures["goodput_low"], figures["goodput"])
        refused = run("analyze", path, "--slo", "ttft=2", "--out", self.folder / "x")
        self.assertEqual(refused.returncode, 2)
        self.assertIn("needs a positive time in us, ms or s", refused.stderr)

    def test_json_on_stdout(self):
        path = self.write("requests.json", load(self.start_ns))
        done = run("analyze", path, "--json", "--out", self.folder / "x")
        self.check_statistics(json.loads(done.stdout)["requests"])

    def test_reports_can_be_written_again(self):
        out = self.folder / "x"
        run("analyze", self.write("requests.json", load(self.start_ns)), "--out", out)
        again = run("report", out / "profile.json", "--out", self.folder / "again")
        self.assertEqual(again.returncode, 0, again.stderr)
        for name in ("report.md", "stakeholder_summary.md", "kernels.md"):
            self.assertEqual((out / name).read_text(encoding="utf-8"),
                             (self.folder / "again" / name).read_text(encoding="utf-8"), name)

    def test_damaged_files_cost_what_is_damaged(self):
        text = load(self.start_ns)
        bundle = Bundle(self.write("cut.json", text[:len(text) * 3 // 4]))
        self.assertIn("requests_cut_off", bundle.codes())
        self.assertGreater(bundle.profile["requests"]["sent"], 30)
        twice = json.loads(text)
        twice["requests"] += twice["requests"][:5]
        bundle = Bundle(self.write("twice.json", json.dumps(twice)))
        self.assertIn("requests_repeated", bundle.codes())
        self.check_statistics(bundle.profile["requests"])
        nothing = run("analyze", self.write("empty.json", load(self.start_ns, count=0)), "--out", self.folder / "x")
        self.assertEqual(nothing.returncode, 3)
        self.assertIn("empty.json: it holds no requests", nothing.stderr)


class Served(unittest.TestCase):
    """The steps of cuda_log.SERVED_STEPS, joined from times and rows alone."""

    def test_each_token_is_of_its_step(self):
        with tempfile.TemporaryDirectory() as folder:
            log, record = pathlib.Path(folder) / "log.llmtrace", pathlib.Path(folder) / "requests.json"
            record.write_text(json.dumps(cuda_log.served_run(log)), encoding="utf-8")
            self.assertEqual(log.read_bytes(), (DATA / "collector_log" / "served.llmtrace").read_bytes())
            self.assertEqual(json.loads(record.read_text(encoding="utf-8")),
                             json.loads((FIXTURES / "served.json").read_text(encoding="utf-8")))
            requests = Bundle(log, record).profile["requests"]
        self.assertEqual(requests["join"]["state"], "joined")
        for request, item in enumerate(requests["items"]):
            self.assertEqual(item["token_batches"], [step for step, (_, _, tokens) in enumerate(cuda_log.SERVED_STEPS)
                                                     if request in tokens])
            self.assertEqual(sum(item["parts_ns"].values()), item["e2e_ns"])
            self.assertEqual(sum(item["ttft_parts_ns"].values()), item["ttft_ns"])
        self.assertEqual([batch["rows"] for batch in requests["batches"]],
                         [(prompt > 0) + decode for prompt, decode, _ in cuda_log.SERVED_STEPS])
        self.assertEqual([batch["prompt_tokens"] for batch in requests["batches"]],
                         [prompt for prompt, _, _ in cuda_log.SERVED_STEPS])
        # Prompts in steps in which others decode: request 1's in two, request 2's in one.
        self.assertEqual({(delay["by"], delay["of"]): delay["gaps"] for delay in requests["delays"] if delay["ns"]},
                         {("1", "0"): 2, ("2", "1"): 1})


if __name__ == "__main__":
    unittest.main()
