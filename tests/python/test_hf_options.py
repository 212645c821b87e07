"""The command line of hf_llm.py."""
import contextlib
import io
import unittest

import hf_case  # noqa: F401  (paths)
from hf_workload.options import parse_options

MODEL = ("--model-config", "{}")


class Options(unittest.TestCase):
    def refused(self, *arguments):
        errors = io.StringIO()
        with contextlib.redirect_stderr(errors), self.assertRaises(SystemExit) as ended:
            parse_options(list(arguments))
        self.assertEqual(ended.exception.code, 2)
        return errors.getvalue()

    def test_all_options_that_run_passes(self):
        options = parse_options([
            "--model-config", '{"model_type": "llama"}', "--weights", "random", "--dtype", "float16",
            "--mode", "cuda_graph", "--device", "cuda:1", "--prompt-tokens", "777", "--new-tokens", "24",
            "--batch", "2", "--requests", "5", "--warm-up", "0", "--seed", "42", "--inputs-manifest", "in.yaml",
            "--images", "1", "--name", "mine"])
        self.assertEqual((options.prompt_tokens, options.new_tokens, options.batch), (777, 24, 2))
        self.assertEqual((options.requests, options.warm_up, options.seed, options.images), (5, 0, 42, 1))
        self.assertEqual((options.dtype, options.mode, options.device), ("float16", "cuda_graph", "cuda:1"))
        self.assertTrue(options.uses_cuda)
        self.assertEqual((options.name, options.inputs_manifest), ("mine", "in.yaml"))

    def test_contradictory_options_are_refused(self):
        self.assertIn("needs --model-config", self.refused("--weights", "random"))
        self.assertIn("needs --path", self.refused("--weights", "real"))
        self.assertIn("needs --device cuda:N", self.refused(*MODEL, "--device", "cpu", "--mode", "cuda_graph"))
        self.assertIn("does not support --images",
                      self.refused(*MODEL, "--mode", "continuous_batching", "--images", "1"))
        self.assertIn("cpu or cuda:N", self.refused(*MODEL, "--device", "tpu"))

    def test_numbers_are_checked(self):
        self.assertIn("0 is less than 1", self.refused(*MODEL, "--batch", "0"))
        self.assertIn("'many' is not a whole number", self.refused(*MODEL, "--requests", "many"))
        self.assertIn("-1 is less than 0", self.refused(*MODEL, "--warm-up", "-1"))

    def test_a_cpu_may_run_eagerly(self):
        self.assertFalse(parse_options([*MODEL, "--device", "cpu"]).uses_cuda)


if __name__ == "__main__":
    unittest.main()
