"""When the collector samples the GPU's counters: with requests, in rounds, or continuously."""
import time
import unittest

from played_tapes import KERNEL, InteractiveProgram, PlayedCase


class Counters(PlayedCase):
    """Each copy of the tape is a request: it opens `prefill`."""

    def samples(self):
        rows = self.log().of("short_counter_sample")
        return sorted((row["start"], row["start"] + row["duration"]) for row in rows)

    def request_for(self, program, seconds):
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            program.next_round()
            time.sleep(0.02)

    def longest_hole(self):
        samples = self.samples()
        return max(after[0] - before[1] for before, after in zip(samples, samples[1:]))

    def test_they_start_with_the_first_request(self):
        # So rarely that a collector stalled for seconds by a busy machine loses none.
        program = InteractiveProgram(self, self.tape("eager"), LLMPROF_COUNTER_HZ="10")
        program.wait_until(self.samples, "never sampled")
        program.end()
        log = self.log()
        (request,) = [
            r["time"] for r in log.of("range_push") if log.strings[r["name"]] == "prefill"
        ]
        self.assertGreater(self.samples()[0][0], request)
        self.assertEqual(log.of("counters_lost"), [])

    def test_they_pause_between_rounds(self):
        program = InteractiveProgram(self, self.tape("eager"))
        program.wait_until(self.samples, "never sampled")
        self.request_for(program, 0.5)
        last = self.samples()[-1]
        # At least three times the quarter of a second that the round lasted.
        program.wait_until(lambda: self.samples()[-1][0] > last[1] + 700_000_000, "never again")
        program.end()
        self.assertGreater(self.longest_hole(), 700_000_000)

    def time_until_sampled(self, **environment):
        self.take_fresh_folder()
        program = InteractiveProgram(self, self.tape("edges"), **environment)  # no request
        program.wait_until(self.samples, "never sampled")
        program.end()
        return self.samples()[0][0] - min(row["time"] for row in self.log().of("collection"))

    def test_a_program_without_requests_is_sampled_when_it_has_its_memory(self):
        self.assertGreater(self.time_until_sampled(), 1_000_000_000)
        # Without rounds they are not awaited (tests/collector/counter_rounds_test.cpp has the times).
        for environment in ({"LLMPROF_COUNTER_ROUNDS": "off"}, {"LLMPROF_STEPS": "1000000"}):
            self.assertGreater(self.time_until_sampled(**environment), 0)

    def test_a_budget_has_no_counters(self):
        self.play(self.tape("eager"), LLMPROF_OVERHEAD_BUDGET="90")
        self.assertEqual(self.samples(), [])

    def test_continuous_sampling_on_request(self):
        program = InteractiveProgram(self, self.tape("eager"), LLMPROF_COUNTER_ROUNDS="off")
        program.wait_until(self.samples, "never sampled")
        self.request_for(program, 1.5)
        program.end()
        self.assertLess(self.longest_hole(), 500_000_000)

    def test_kernels_are_handed_over_while_counters_are_taken(self):
        long = 20_000  # ms
        begun = time.monotonic()
        program = InteractiveProgram(self, self.tape("eager"), FAKE_PM_CONFIG_MS=str(long))
        program.wait_until(lambda: len(self.records_with("delivered", KERNEL)) == 92, "never handed over")
        self.assertLess(time.monotonic() - begun, long / 1000)
        self.assertEqual(self.samples(), [])


if __name__ == "__main__":
    unittest.main()
