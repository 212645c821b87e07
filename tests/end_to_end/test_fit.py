"""`llmprof fit`: whether a model fits on a GPU, against what an H200 needed."""
import json
import pathlib
import tempfile
import unittest

from program import DATA, run

MIB = 1 << 20
MEASURED = json.loads((DATA / "fit" / "h200_measured.json").read_text(encoding="utf-8"))


def fit(*arguments):
    done = run("fit", *arguments, "--json")
    return done, json.loads(done.stdout) if done.stdout else None


class Fit(unittest.TestCase):
    def test_peaks_are_those_of_an_h200(self):
        for case in MEASURED["cases"]:
            with self.subTest(case["name"]), tempfile.TemporaryDirectory() as folder:
                path = pathlib.Path(folder) / "config.json"
                path.write_text(json.dumps(case["config"]), encoding="utf-8")
                done, answer = fit(path, "--gpu", "H200", "--batch", case["batch"], "--context", case["context"],
                                   "--prompt-tokens", case["prompt_tokens"], *([] if case["graph"] else ["--no-graphs"]))
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertAlmostEqual(answer["needed_bytes"] / MIB / case["measured_mib"], 1,
                                       delta=MEASURED["held_out_tolerance" if case.get("held_out") else "tolerance"])

    def test_rows_sum_to_the_need(self):
        for engine in ("hf-static", "llama.cpp"):
            for model in ("llm/llama_1b", "llm/deepseek_v2_lite", "llm/gemma2_9b", "llm/gpt_oss_20b"):
                with self.subTest(engine=engine, model=model):
                    done, answer = fit(model, "--engine", engine, "--batch", 4)
                    self.assertEqual(done.returncode, 0, done.stderr)
                    self.assertEqual(sum(row["bytes"] for row in answer["rows"]), answer["needed_bytes"])
                    self.assertTrue(all(row["basis"] and row["how"] for row in answer["rows"]))
                    self.assertLessEqual(answer["needed_bytes"], answer["gpu_bytes"])
                    self.assertEqual(len({row["kv_cache"] for row in answer["table"]}), 2)

    def test_the_table_agrees_with_single_answers(self):
        _, answer = fit("llm/llama3_8b")
        row = next(row for row in answer["table"]
                   if (row["kv_cache"], row["batch"], row["context"]) == ("bf16", 16, 8192))
        _, single = fit("llm/llama3_8b", "--batch", 16, "--context", 8192)
        self.assertEqual(row["needed_bytes"], single["needed_bytes"])

    def test_largest_batches_by_context_are_those_of_single_answers(self):
        _, answer = fit("llm/llama3_8b", "--gpu", "L40S")
        contexts = [row["context"] for row in answer["capacities"] if row["kv_cache"] == "bf16"]
        self.assertEqual(contexts, [1024 << i for i in range(8)])
        self.assertEqual([row["context"] for row in answer["capacities"] if row["kv_cache"] == "fp8"], contexts)
        text = run("fit", "llm/llama3_8b", "--gpu", "L40S").stdout
        for row in answer["capacities"]:
            with self.subTest(row=row):
                arguments = ("llm/llama3_8b", "--gpu", "L40S", "--context", row["context"], "--kv", row["kv_cache"])
                self.assertEqual(fit(*arguments)[1]["largest_batch"], row["largest_batch"])
                most = row["largest_batch"] or 0
                if most:
                    self.assertEqual(fit(*arguments, "--batch", most)[0].returncode, 0)
                    self.assertRegex(text, rf"(?m)^ +{row['context']:,} .*\b{most:,}\b")
                self.assertEqual(fit(*arguments, "--batch", most * 11 // 10 + 1)[0].returncode, 5)

    def test_contexts_end_with_the_models_own(self):
        _, answer = fit("llm/llama3_70b", "--gpu", "L4")
        self.assertTrue(all(row["largest_batch"] is None for row in answer["capacities"]))
        _, llama = fit("llm/llama_1b", "--engine", "llama.cpp")
        self.assertEqual({row["kv_cache"] for row in llama["capacities"]}, {"f16", "q8_0"})
        self.assertEqual(max(row["context"] for row in llama["capacities"]), 131072)

    def test_the_largest_batch_fits_and_more_does_not(self):
        _, answer = fit("llm/llama3_8b", "--context", 8192)
        most = answer["largest_batch"]
        self.assertGreater(most, 16)
        self.assertEqual(fit("llm/llama3_8b", "--context", 8192, "--batch", most)[0].returncode, 0)
        self.assertEqual(fit("llm/llama3_8b", "--context", 8192, "--batch", most * 11 // 10 + 1)[0].returncode, 5)

    def test_formats_take_fewer_bytes(self):
        _, plain = fit("llm/llama3_8b", "--batch", 16)
        _, small = fit("llm/llama3_8b", "--batch", 16, "--weights", "fp8", "--kv", "fp8")
        self.assertEqual(small["kv_bytes_per_token"] * 2, plain["kv_bytes_per_token"])
        self.assertLess(small["needed_bytes"], plain["needed_bytes"])
        self.assertTrue(any("StaticCache" in note for note in small["notes"]))
        _, half = fit("llm/llama3_70b", "--tp", 2)
        self.assertIn("NCCL", [row["name"] for row in half["rows"]])

    def test_a_model_that_does_not_fit_is_exit_code_5(self):
        done = run("fit", "llm/llama3_70b", "--gpu", "L4")
        self.assertEqual(done.returncode, 5)
        self.assertRegex(done.stdout, r"Llama-3.*-70B does not fit on one L4: it needs [\d,]+ MiB of 23,034 MiB; [\d,]+ MiB are missing")
        self.assertIn("Largest batch at a context of 4,096: none", done.stdout)

    def test_text_has_the_same_facts(self):
        _, answer = fit("llm/llama_1b")
        text = run("fit", "llm/llama_1b").stdout
        self.assertRegex(text, r"Llama-3\.2-1B fits on one H200 SXM")
        self.assertIn(f"{round(answer['needed_bytes'] / MIB):,}", text)
        for row in answer["rows"]:
            self.assertIn(row["name"], text)

    def test_mistakes(self):
        with tempfile.TemporaryDirectory() as folder:
            broken = pathlib.Path(folder) / "config.json"
            broken.write_text("{", encoding="utf-8")
            for arguments, words in (
                ((), "MODEL"),
                (("no_such_model",), "no_such_model"),
                (("llm/llama3_8",), "did you mean 'llama3_8b'"),
                ((broken,), "not valid JSON"),
                ((pathlib.Path(folder) / "nothing.json",), "nothing.json"),
                (("llm/llama_1b", "--gpu", "H900"), "--gpu H900: unknown"),
                (("llm/llama_1b", "--gpu", "A100"), "available"),
                (("llm/llama_1b", "--engine", "vllm"), "hf-static"),
                (("llm/llama_1b", "--batch", "0"), "--batch"),
                (("llm/llama_1b", "--kv", "fp7"), "--kv fp7: unknown format"),
                (("llm/llama_1b", "--engine", "llama.cpp", "--weights", "fp8"), "q8_0"),
                (("llm/llama_1b", "--context", 1024, "--prompt-tokens", 2048), "more than --context 1024"),
            ):
                with self.subTest(arguments=arguments):
                    done = run("fit", *arguments)
                    self.assertEqual(done.returncode, 2, done.stderr)
                    self.assertIn(words, done.stderr)
                    self.assertEqual(done.stdout, "")


if __name__ == "__main__":
    unittest.main()
