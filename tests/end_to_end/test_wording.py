"""Sentences in all reports, pages and help: numbers agree with their nouns, no dash stands for a missing value, and no
word needs an explanation."""
import pathlib
import re
import tempfile
import unittest

from program import DATA, ROOT, run

CAPTURES = [
    "nsys_sqlite/eager.sqlite", "nsys_sqlite/graph_level.sqlite", "kineto/h200_graph_small.json", "cpu-llm",
    "collector_log/cuda.llmtrace", "collector_log/request.llmtrace", "ncu/decode_raw.csv", "h200-decoder/nsys.sqlite",
    "h200-decoder/nsys_cuda_gpu_kern_sum.csv", "h200-decoder/ncu_raw.csv.gz", "h200-serving/nsys.sqlite",
    "nsys_csv/traces.csv", "collector_log/small_chunks.llmtrace", "h200-runs/llama_1b", "h200-runs/deepseek_ocr2",
]
NOUNS = ("kernel|pass(?:e)|step|launch(?:e)|layer|instance|operator|token|call|rank|host|GPU|stage|window|request|batch(?:e)|"
         "graph|replay|thread|prefill|decode|core|run|event|row")
ONE_OF_SEVERAL = re.compile(rf"(?<![\d.,])(?<!to )(?<!of every )1 (?:of 1 )?(?:{NOUNS})s\b")
# "1 of 12 kernels" is right, "12 kernel" is not.
SEVERAL_OF_ONE = re.compile(r"(?<![\d.,x])(?:[02-9]|[1-9][\d,]+) (?:kernel|pass|launch|layer|rank|host|prefill)\b(?![-/])")
MISSING = re.compile(r"(?:at least|at most|is|takes|take|by|about|than|after|on|mean of) -(?:[ ,.;:)]|$)")
NONE = re.compile(r"\bon 0 hosts?\b")


# Words that only this project's authors understood.
PRIVATE = re.compile(r"\b(?:(?:un)?told|likewise|somebody|light watch|unwatched|at the most|the begin)\b", re.IGNORECASE)
PAGES = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("bench/*.md"), *ROOT.glob("workloads/*/*.md"),
         *ROOT.glob("packaging/**/*.md"), *ROOT.glob("packaging/share/man/man1/*")]


def without_code(text):
    """Code, keys of JSON files, links and the anchors of generated tables are names, not words."""
    return re.sub(r"(?ms)^```.*?^```|`[^`\n]*`|\]\([^)\s]*\)|\[[\w.]+\]", "", text)


def sentences(text):
    """Lines that are not in a table."""
    return [line for line in text.splitlines() if not line.startswith("|") and not re.match(r" {2,}\S.* {2,}", line)]


class Wording(unittest.TestCase):
    def test_of_every_kind_of_capture(self):
        for capture in CAPTURES:
            with self.subTest(capture), tempfile.TemporaryDirectory() as folder:
                out = pathlib.Path(folder) / "out"
                done = run("analyze", DATA / capture, "--out", out)
                self.assertEqual(done.returncode, 0, done.stderr)
                texts = {"stdout": done.stdout}
                texts |= {path.name: path.read_text(encoding="utf-8") for path in out.glob("*.md")}
                for name, text in texts.items():
                    for line in sentences(text):
                        for wrong in (ONE_OF_SEVERAL, SEVERAL_OF_ONE, MISSING, NONE):
                            self.assertNotRegex(line, wrong, name)
                    self.assertNotRegex(without_code(text), PRIVATE, name)

    def test_of_every_page(self):
        self.assertGreater(len(PAGES), 25)
        for path in PAGES:
            with self.subTest(path.relative_to(ROOT)):
                text = without_code(path.read_text(encoding="utf-8"))
                if path.stem.endswith("-schema"):  # a key, which descriptions name
                    text = text.replace("unwatched", "")
                self.assertNotRegex(text, PRIVATE)


if __name__ == "__main__":
    unittest.main()
