"""When the collector samples the GPU's counters: with requests, in rounds, or continuously."""
import unittest

from played_tapes import KERNEL, InteractiveProgram, PlayedCase


class Counters(PlayedCase):
    """Each copy of the tape is a request: it opens `prefill`. Most tests sample so rarely (RARELY) that a collector
    stalled for seconds by a busy machine loses no sample."""

    RARELY = {"LLMPROF_COUNTER_HZ": "10"}

    def samples(self):
        rows = self.log().of("short_counter_sample")
        return sorted((row["start"], row["start"] + row["duration"]) for row in rows)

    def request_until(self, program, condition, what):
        """Sends requests until the samples in the log meet the condition."""

        def is_met_after_a_request():
            program.next_round()
            return condition()

        program.wait_until(is_met_after_a_request, what)

    def longest_hole(self):
        samples = self.samples()
        return max((after[0] - before[1] for before, after in zip(samples, samples[1:])), default=0)

    def test_they_start_with_the_first_request(self):
        program = InteractiveProgram(self, self.tape("eager"), **self.RARELY)
        program.wait_until(self.samples, "never sampled")
        program.end()
        log = self.log()
        (request,) = [
            r["time"] for r in log.of("range_push") if log.strings[r["name"]] == "prefill"
        ]
        self.assertGreater(self.samples()[0][0], request)
        self.assertEqual(log.of("counters_lost"), [])

    def test_they_pause_between_rounds(self):
        program = InteractiveProgram(self, self.tape("eager"), **self.RARELY)
        # A pause lasts at least three times the quarter of a second of a round.
        self.request_until(program, lambda: self.longest_hole() > 700_000_000, "never paused and resumed")
        program.end()
        self.assertEqual(self.log().of("counters_lost"), [])

    def time_until_sampled(self, **environment):
        self.take_fresh_folder()
        program = InteractiveProgram(self, self.tape("edges"), **environment)  # no request
        program.wait_until(self.samples, "never sampled")
        program.end()
        return self.samples()[0][0] - min(row["time"] for row in self.log().of("tracing_change"))

    def test_a_program_without_requests_is_sampled_when_it_has_its_memory(self):
        self.assertGreater(self.time_until_sampled(), 1_000_000_000)
        # Without rounds they are not awaited (tests/collector/counter_rounds_test.cpp has the times).
        for environment in ({"LLMPROF_COUNTER_ROUNDS": "off"}, {"LLMPROF_STEPS": "1000000"}):
            self.assertGreater(self.time_until_sampled(**environment), 0)

    def test_a_budget_has_no_counters(self):
        self.play(self.tape("eager"), LLMPROF_OVERHEAD_BUDGET="90")
        self.assertEqual(self.samples(), [])

    def test_continuous_sampling_on_request(self):
        program = InteractiveProgram(self, self.tape("eager"), LLMPROF_COUNTER_ROUNDS="off", **self.RARELY)
        program.wait_until(self.samples, "never sampled")
        first = self.samples()[0][0]
        self.request_until(program, lambda: self.samples()[-1][1] > first + 1_500_000_000, "sampling ended")
        program.end()
        self.assertLess(self.longest_hole(), 500_000_000)

    def test_kernels_are_handed_over_while_counters_are_taken(self):
        # Configuring the counters does not end before the test.
        program = InteractiveProgram(self, self.tape("eager"), FAKE_PM_CONFIG_MS="3600000")
        program.wait_until(lambda: len(self.records_with("delivered", KERNEL)) == 92, "never handed over")
        self.assertEqual(self.samples(), [])


if __name__ == "__main__":
    unittest.main()
