"""`llmprof run` has all settings that documents and messages name."""
import re
import unittest

from program import ROOT, run

DOCUMENTS = [
    *ROOT.glob("*.md"),
    *ROOT.glob("docs/*.md"),
    *ROOT.glob("tests/manual/**/*.md"),
    *ROOT.glob("packaging/*.md"),
]
SOURCES = [
    path for path in sorted(ROOT.glob("src/**/*.cpp")) if not path.name.endswith("_test.cpp")
]

# Workloads have different keys: a setting must exist in at least one composition.
COMPOSITIONS = [[], ["model=llm/llama_1b"], ["workload=server_example", "model=llm/llama_1b"]]

# `run.timeout_s`, `nsys.trace=...`; alone or before `=`. Of torch only the latter: torch.compile.
TOP = "run|pipeline|inputs|artifacts|hydra|model|workload|nsys|ncu|torch|collector|profiling"
KEY = re.compile(rf"(?<![\w./{{:@=-])(?:{TOP})(?:\.[a-z_][a-z_0-9]*)+(?![\w/*(-])(=?)")
GROUP = re.compile(r"(?<![\w.{:])(profiling/[a-z]+)=([a-z][\w.]*)?")
CHOICE = re.compile(r"(?<![\w./+{:-])((?:model|workload)=[a-z_]+(?:/\w+)?)(?![\w/(.])")
FILES = (".sqlite", ".yaml", ".json", ".csv", ".md", ".so", ".py", ".arrows", ".gz", ".jsonl")
# Defined in the documents themselves, by the reader.
EXAMPLES = {"model=llm/mine", "model=llm/NAME", "workload=mine", "workload=my_server"}

CODE = re.compile(r"^```.*?^```|`[^`\n]+`", re.MULTILINE | re.DOTALL)
LITERAL = re.compile(r'"((?:[^"\\\n]|\\.)*)"')


def texts(path):
    content = path.read_text(encoding="utf-8")
    if path.suffix == ".md":
        return CODE.findall(content)
    lines = [line for line in content.splitlines() if not re.match(r"\s*(#include|//)", line)]
    return LITERAL.findall("\n".join(lines))


def keys_in(text):
    for found in KEY.finditer(text):
        key = found.group(0).rstrip("=")
        if key.endswith(FILES) or (key.startswith("torch.") and not found.group(1)):
            continue
        yield key


def named(pattern_of_words):
    """word -> the files that name it."""
    places = {}
    for path in [*DOCUMENTS, *SOURCES]:
        for text in texts(path):
            for word in pattern_of_words(text):
                if word not in EXAMPLES:
                    places.setdefault(word, set()).add(str(path.relative_to(ROOT)))
    return places


def answer(*words):
    # No tool is queried for its version: only the settings matter.
    nowhere = {"LLMPROF_NSYS": "/no/such/nsys", "LLMPROF_NCU": "/no/such/ncu"}
    return run("run", "--dry-run", *words, env=nowhere).stderr


class NamedSettings(unittest.TestCase):
    def assert_known(self, places, word_of, refusal):
        for name, files in sorted(places.items()):
            with self.subTest(name):
                answers = [answer(*base, word_of(name)) for base in COMPOSITIONS]
                refused = all(refusal.format(name) in text for text in answers)
                self.assertFalse(refused, f"{sorted(files)}: {answers[-1]}")

    def test_keys(self):
        places = named(keys_in)
        self.assertIn("run.timeout_s", places)
        self.assertIn("src/session/run/recordings.cpp", places["run.timeout_s"])
        self.assert_known(places, lambda key: f"{key}=?", "there is no key '{}'")

    def test_presets(self):
        places = named(
            lambda text: (f"{group}={choice or 'default'}" for group, choice in GROUP.findall(text))
        )
        self.assertIn("profiling/ncu=light", places)
        self.assert_known(places, str, "llmprof: ")

    def test_models_and_workloads(self):
        places = named(CHOICE.findall)
        self.assertIn("model=llm/llama_1b", places)
        self.assert_known(places, str, "unknown value")

    def test_missing_settings_are_noticed(self):
        self.assertEqual(list(keys_in("raise nsys.timeout, see nsys.sqlite")), ["nsys.timeout"])
        self.assertIn("there is no key 'nsys.timeout'", answer("nsys.timeout=?"))
        for word in ["model=llm/lama", "workload=hf", "profiling/ncu=lite"]:
            self.assertIn("unknown value", answer(word))


class LoadSettings(unittest.TestCase):
    """`server.load` has the options of `llmprof load`; both documents name all of them, and no others."""

    # Of a load on its own: its folder, its output, and loads after one another.
    NOT_OF_A_WORKLOAD = {"out", "force", "json", "sweep", "color", "help"}

    @classmethod
    def setUpClass(cls):
        help_text = run("load", "--help").stdout.partition("\nExit code")[0]
        cls.options = set(re.findall(r"^  (?:-h, )?--([a-z-]+)", help_text, re.MULTILINE))
        cls.keys = {option.replace("-", "_") for option in cls.options - cls.NOT_OF_A_WORKLOAD}
        configuration = (ROOT / "docs" / "configuration.md").read_text(encoding="utf-8")
        listed = re.search(r"^Its keys are the options of .*?\bThey are", configuration, re.MULTILINE | re.DOTALL)
        cls.documented = set(re.findall(r"`([a-z_]+)`", listed.group(0)))

    def test_each_key_is_documented(self):
        self.assertGreater(len(self.keys), 15)
        self.assertEqual(self.documented, self.keys | {"url", "ready"})

    def test_each_documented_key_exists(self):
        def refused(key):
            # `+` adds a key; the shipped workload has some.
            text = (ROOT / "conf" / "workload" / "cpu_llm_server.yaml").read_text(encoding="utf-8")
            shipped = re.findall(r"^    ([a-z_]+):", text.partition("\n  load:\n")[2], re.MULTILINE)
            sign = "" if key in shipped else "+"
            return "unknown key" in answer("workload=cpu_llm_server", f"{sign}workload.server.load.{key}=1")

        for key in sorted(self.documented - {"ready"}):
            with self.subTest(key):
                self.assertFalse(refused(key))
        self.assertTrue(refused("sweep"))

    def test_docs_of_the_load_name_its_options(self):
        text = " ".join(CODE.findall((ROOT / "docs" / "load.md").read_text(encoding="utf-8")))
        named_options = set(re.findall(r"(?<![\w-])--([a-z][a-z-]+)", text))
        self.assertEqual(named_options - self.options, set())
        self.assertLessEqual(self.options - named_options, {"color", "help", "force", "json", "out"})


if __name__ == "__main__":
    unittest.main()
