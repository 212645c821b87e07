"""What hf_llm.py runs if `llmprof run` requests a short run."""
import unittest

import hf_case
from hf_workload.faults import UsageFault
from hf_workload.options import parse_options
from hf_workload.short_run import shortened

# Set by the recording with ncu.
SHORT = '{"requests":1,"new_tokens":8,"warm_up":0}'


def options(*arguments):
    return parse_options(["--model-config", "{}", *arguments])


def shortened_to(text, *arguments):
    made = shortened(options(*arguments), {"LLMPROF_SHORT_RUN": text})
    return made.requests, made.new_tokens, made.warm_up


class ShortRun(hf_case.StandInCase):
    def test_without_the_variable_nothing_changes(self):
        for environment in ({}, {"LLMPROF_SHORT_RUN": ""}, {"LLMPROF_METRICS": "x"}):
            self.assertEqual(shortened(options("--requests", "5"), environment), options("--requests", "5"))

    def test_higher_values_are_cut(self):
        self.assertEqual(shortened_to(SHORT, "--requests", "5", "--new-tokens", "64", "--warm-up", "2"), (1, 8, 0))

    def test_lower_values_are_kept(self):
        self.assertEqual(shortened_to('{"requests":3,"new_tokens":8,"warm_up":2}', "--requests", "2",
                                      "--new-tokens", "4", "--warm-up", "0"), (2, 4, 0))

    def test_requests_that_depend_on_the_prompts_are_cut(self):
        self.assertIsNone(options().requests)
        self.assertEqual(shortened_to(SHORT), (1, 8, 0))

    def test_a_missing_limit_cuts_nothing(self):
        work = ("--requests", "5", "--new-tokens", "64", "--warm-up", "2")
        self.assertEqual(shortened_to("{}", *work), (5, 64, 2))
        self.assertEqual(shortened_to('{"new_tokens":2}', *work), (5, 2, 2))

    def test_other_options_are_kept(self):
        work = ("--prompt-tokens", "777", "--batch", "2", "--mode", "cuda_graph", "--seed", "9")
        made = shortened(options(*work), {"LLMPROF_SHORT_RUN": SHORT})
        self.assertEqual((made.prompt_tokens, made.batch, made.mode, made.seed), (777, 2, "cuda_graph", 9))

    def test_a_value_that_is_not_a_limit_is_refused(self):
        for text, words in [
            ("{", "LLMPROF_SHORT_RUN: Expecting"),
            ("1", "must be a JSON object"),
            ("null", "must be a JSON object"),
            ('["requests"]', "must be a JSON object"),
            ('{"tokens":1}', "unknown limit 'tokens'; available: requests, new_tokens, warm_up"),
            ('{"requests":0}', "requests must be a whole number of at least 1"),
            ('{"new_tokens":0}', "new_tokens must be a whole number of at least 1"),
            ('{"warm_up":-1}', "warm_up must be a whole number of at least 0"),
            ('{"requests":1.5}', "requests must be a whole number"),
            ('{"requests":true}', "requests must be a whole number"),
            ('{"requests":null}', "requests must be a whole number"),
            ('{"requests":"1"}', "requests must be a whole number"),
        ]:
            with self.subTest(text), self.assertRaises(UsageFault) as refused:
                shortened_to(text)
            self.assertIn(words, str(refused.exception))

    def test_the_program_obeys_the_limits(self):
        work = ("--prompt-tokens", "6", "--new-tokens", "12", "--requests", "3", "--warm-up", "2")
        code, events, metrics, _ = self.run_program(*work, environment={"LLMPROF_SHORT_RUN": SHORT})
        self.assertEqual(code, 0)
        self.assertEqual((metrics["requests"], metrics["new_tokens"]), (1, 8))
        counts = [events.count(f"push {name}") for name in ("prefill", "decode_all", "decode_step")]
        self.assertEqual(counts, [1, 1, 8])
        self.assertEqual([event for event in events if event.startswith("forward")], ["forward 1x6"] + ["forward 1x1"] * 8)

    def test_a_wrong_value_ends_the_program_as_wrong_arguments_do(self):
        code, events, metrics, errors = self.run_program(environment={"LLMPROF_SHORT_RUN": "many"})
        self.assertEqual((code, events, metrics), (2, [], None))
        self.assertIn("LLMPROF_SHORT_RUN", errors)


if __name__ == "__main__":
    unittest.main()
