"""Manifests, synthetic prompts, and their assignment to requests."""
import importlib.util
import random
import unittest

import hf_case
from hf_workload.faults import UsageFault
from hf_workload.options import parse_options
from hf_workload.prompts import Prompt, ids_of, random_ids, read_manifest
from hf_workload.request_plan import number_of_requests, plan_requests

VOCABULARY = 50
HAS_YAML = importlib.util.find_spec("yaml") is not None


def options(*arguments):
    return parse_options(["--model-config", "{}", *arguments])


class Manifest(hf_case.FolderCase):
    def fault(self, name, text):
        with self.assertRaises(UsageFault) as raised:
            read_manifest(self.file(name, text))
        return str(raised.exception).replace(str(self.folder) + "/", "")

    def test_json_lines(self):
        path = self.file("in.jsonl", '{"prompt_ids": [3, 4]}\n\n{"text": "hello"}\n{"prompt_tokens": 9}\n')
        self.assertEqual(read_manifest(path), [
            Prompt(f"{path}:1", ids=[3, 4]), Prompt(f"{path}:3", text="hello"), Prompt(f"{path}:4", tokens=9)])

    def test_a_json_list(self):
        prompts = read_manifest(self.file("in.json", '[{"prompt_tokens": 1}, {"prompt_tokens": 2}]'))
        self.assertEqual([prompt.tokens for prompt in prompts], [1, 2])

    @unittest.skipUnless(HAS_YAML, "needs PyYAML (Debian: python3-yaml), which is not installed")
    def test_yaml(self):
        path = self.file("in.yaml", "# prompts\n- prompt_tokens: 5\n\n- text: |\n    two\n    lines\n- {prompt_ids: [1]}\n")
        self.assertEqual(read_manifest(path), [
            Prompt(f"{path}:2", tokens=5), Prompt(f"{path}:4", text="two\nlines\n"), Prompt(f"{path}:7", ids=[1])])

    @unittest.skipUnless(HAS_YAML, "needs PyYAML (Debian: python3-yaml), which is not installed")
    def test_yaml_errors_name_their_line(self):
        self.assertTrue(self.fault("in.yaml", "- prompt_tokens: 5\n- [1, 2\n").startswith("in.yaml:3: invalid YAML"))
        self.assertTrue(self.fault("in.yaml", "- prompt_tokens: 5\n- prompt: 2\n").startswith("in.yaml:2: unknown key"))
        self.assertIn("must be a list of prompts", self.fault("in.yaml", "prompt_tokens: 5\n"))
        self.assertIn("has no prompts", self.fault("in.yaml", "# nothing\n"))

    def test_json_errors_name_their_line(self):
        self.assertTrue(self.fault("in.jsonl", '{"text": "a"}\n{"text": \n').startswith("in.jsonl:2: invalid JSON"))
        self.assertEqual(self.fault("in.jsonl", '{"txt": "a"}'),
                         "in.jsonl:1: unknown key txt; available: prompt_ids, text, prompt_tokens")
        self.assertIn("in.jsonl:1: a prompt must have exactly one",
                      self.fault("in.jsonl", '{"text": "a", "prompt_tokens": 3}'))
        self.assertIn("a list of token numbers", self.fault("in.jsonl", '{"prompt_ids": [1, true]}'))
        self.assertIn("a list of token numbers", self.fault("in.jsonl", '{"prompt_ids": []}'))
        self.assertIn("at least 1", self.fault("in.jsonl", '{"prompt_tokens": 0}'))
        self.assertIn("not empty", self.fault("in.jsonl", '{"text": ""}'))
        self.assertIn("a prompt must be a map", self.fault("in.jsonl", "7"))
        self.assertIn("has no prompts", self.fault("in.jsonl", "\n"))

    def test_a_file_that_cannot_be_read(self):
        with self.assertRaisesRegex(UsageFault, "none.jsonl: cannot be read"):
            read_manifest(str(self.folder / "none.jsonl"))


class Ids(unittest.TestCase):
    def test_random_ids_depend_on_the_vocabulary_and_the_seed(self):
        ids = random_ids(random.Random(1), 1000, VOCABULARY)
        self.assertEqual(len(ids), 1000)
        self.assertEqual((min(ids), max(ids)), (1, VOCABULARY - 1))
        self.assertEqual(ids, random_ids(random.Random(1), 1000, VOCABULARY))
        self.assertNotEqual(ids, random_ids(random.Random(2), 1000, VOCABULARY))

    def test_a_token_outside_the_vocabulary_is_an_error(self):
        with self.assertRaisesRegex(UsageFault, "in:3: token 50 is outside .* ends at 49"):
            ids_of(Prompt("in:3", ids=[1, 50]), VOCABULARY, random.Random(0), None)

    def test_a_text_needs_a_tokenizer(self):
        prompt = Prompt("in:1", text="ab")
        self.assertEqual(ids_of(prompt, VOCABULARY, random.Random(0), lambda text: [len(text)]), [2])
        with self.assertRaisesRegex(UsageFault, "in:1: a text prompt needs a tokenizer"):
            ids_of(prompt, VOCABULARY, random.Random(0), None)


class Plan(unittest.TestCase):
    def test_synthetic_requests(self):
        plan = plan_requests(options("--batch", "2", "--prompt-tokens", "6"), None, 3, VOCABULARY, None)
        self.assertEqual([[len(ids) for ids in request] for request in plan], [[6, 6]] * 3)
        self.assertNotEqual(plan[0][0], plan[0][1])

    def test_a_manifest_is_used_in_order_and_repeated(self):
        prompts = [Prompt("in:1", ids=[1]), Prompt("in:2", ids=[2, 2])]
        plan = plan_requests(options("--batch", "2"), prompts, 3, VOCABULARY, None)
        self.assertEqual(plan, [[[1], [1]], [[2, 2], [2, 2]], [[1], [1]]])

    def test_continuous_batching_mixes_lengths(self):
        plan = plan_requests(options("--mode", "continuous_batching", "--batch", "40", "--prompt-tokens", "80"),
                             None, 1, VOCABULARY, None)
        lengths = [len(ids) for ids in plan[0]]
        self.assertEqual(len(lengths), 40)
        self.assertTrue(all(20 <= length <= 80 for length in lengths))
        self.assertGreater(len(set(lengths)), 5)

    def test_number_of_requests(self):
        prompts = [Prompt("in:1", ids=[1])] * 7
        self.assertEqual(number_of_requests(options(), None), 3)
        self.assertEqual(number_of_requests(options(), prompts), 7)
        self.assertEqual(number_of_requests(options("--requests", "2"), prompts), 2)


if __name__ == "__main__":
    unittest.main()
