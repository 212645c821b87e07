"""Runs `llmprof diff` on equal runs of one program: every ordered pair of single runs.

    equal_runs.py [--runs N] [--without-load] [--keep FOLDER] [OVERRIDE...]    records N runs (7) of the default workload
    equal_runs.py [--without-load] PROFILE.json...                             compares these

Of 42 pairs of equal runs at most 2 may be called faster or slower, and at most 2 may fail a gate. --without-load takes
away what the profiles say about other programs, as in profiles of versions that did not measure it. LLMPROF names the
program."""
import argparse
import gzip
import itertools
import json
import pathlib
import tempfile

from program import run


def load(path):
    path = pathlib.Path(path)
    text = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    return json.loads(text)


def record(count, folder, overrides=()):
    """Records `count` runs; returns their profiles."""
    profiles = []
    for number in range(1, count + 1):
        out = pathlib.Path(folder) / f"run-{number}"
        result = run("run", "--out", out, *overrides)
        assert result.returncode == 0, result.stderr
        profiles.append(load(out / "profile.json"))
        print(f"run {number}: {load_words(profiles[-1])}", flush=True)
    return profiles


def load_words(profile):
    recordings = [f"{each['pass']} {each['others']:g} of {each['cpus']:g} CPUs used by others"
                  for each in profile["context"].get("load", [])]
    return ", ".join(recordings) or "load not measured"


class Pair:
    """The result of comparing two single runs."""

    def __init__(self, diff, exit_code):
        self.failed_gate = exit_code == 5
        self.headlines = {row["stage"]: row for row in diff["comparisons"]
                          if row["quantity"] == "step" and row["times"] == "recorded"}
        self.called = [row["stage"] for row in self.headlines.values() if row["answer"] == "changed"]
        self.quantities = [(row["stage"], row["quantity"]) for row in diff["comparisons"]
                           if row["answer"] == "changed"]
        self.summary = diff["summary"]


def compare_all(profiles, gates=("default",)):
    """Every ordered pair of profiles."""
    pairs = []
    with tempfile.TemporaryDirectory() as folder:
        paths = []
        for number, profile in enumerate(profiles):
            paths.append(pathlib.Path(folder) / f"{number}.json")
            paths[-1].write_text(json.dumps(profile), encoding="utf-8")
        for base, new in itertools.permutations(paths, 2):
            out = pathlib.Path(folder) / "diff"
            rules = [word for gate in gates for word in ("--gate", gate)]
            result = run("diff", base, new, "--out", out, "--force", *rules)
            assert result.returncode in (0, 3, 5), result.stderr
            pairs.append(Pair(load(out / "diff.json"), result.returncode))
    return pairs


def without_load(profile):
    return {**profile, "context": {**profile["context"], "load": []}}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("words", nargs="*", metavar="PROFILE or OVERRIDE")
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--without-load", action="store_true")
    parser.add_argument("--keep", metavar="FOLDER")
    arguments = parser.parse_args()
    files = [word for word in arguments.words if "=" not in word]
    if files:
        profiles = [load(word) for word in files]
    else:
        with tempfile.TemporaryDirectory() as folder:
            profiles = record(arguments.runs, arguments.keep or folder, arguments.words)
    if arguments.without_load:
        profiles = [without_load(profile) for profile in profiles]
    pairs = compare_all(profiles)
    furthest = {}
    for pair in pairs:
        for stage, row in pair.headlines.items():
            furthest[stage] = max(furthest.get(stage, 0), abs(row["relative"]))
    print(f"{len(pairs)} pairs of {len(profiles)} equal runs, which differ by up to "
          + ", ".join(f"{100 * value:.1f} % in {stage}" for stage, value in furthest.items()))
    print(f"called faster or slower: {sum(bool(pair.called) for pair in pairs)}")
    print(f"failed a gate: {sum(pair.failed_gate for pair in pairs)}")
    print(f"some quantity called changed: {sum(bool(pair.quantities) for pair in pairs)}")


if __name__ == "__main__":
    main()
