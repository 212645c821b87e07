"""Measures how often `llmprof diff` finds a known slowdown, with several recorded runs per side.

    power_study.py [--class CLASS]... [--percent P]... [--stage STAGE] [--pairings N] LOG...

From recorded runs of one program (at least ten collector logs), five are the base and five others the new side; in the
new side's logs, the kernels of one class take P % longer (edited_log.py). Each pairing is another choice of five and
five: pairings share runs, none is resampled. A change of 0 % shows how often a false difference is found.
LLMPROF names the program."""
import argparse
import ctypes
import itertools
import json
import pathlib
import random
import tempfile

from edited_log import kernels, read, slow_down
from program import run

RUNS_A_SIDE = 5


def demangled(name):
    """Demangles with the C++ runtime, which llmprof uses as well."""
    ask = ctypes.CDLL("libstdc++.so.6").__cxa_demangle
    ask.restype = ctypes.c_void_p
    status = ctypes.c_int()
    found = ask(name.encode(), None, None, ctypes.byref(status))
    return ctypes.string_at(found).decode() if status.value == 0 and found else name


class RecordedRuns:
    """Runs of one program, and copies of them with one class slower."""

    def __init__(self, logs, folder, options=()):
        self.logs = [pathlib.Path(log) for log in logs]
        self.folder = pathlib.Path(folder)
        self.options = options
        self.known = {}
        self.names = {}  # class -> names in the logs

    def profile(self, log, name):
        out = self.folder / name
        result = run("analyze", log, "--out", out, *self.options)
        assert result.returncode == 0, result.stderr
        return out / "profile.json"

    def names_of(self, kernel_class):
        if kernel_class not in self.names:
            classes = {}
            for number in range(len(self.logs)):
                with open(self.at(number), encoding="utf-8") as file:
                    rows = json.load(file)["kernels"]
                classes.update((row["kernel_name"], row["class"]) for row in rows)
            found = {name for log in self.logs for _, _, name in kernels(read(log))}
            self.names[kernel_class] = {name for name in found if classes.get(demangled(name)) == kernel_class}
            assert self.names[kernel_class], f"no kernel of class {kernel_class}"
        return self.names[kernel_class]

    def at(self, number, kernel_class=None, percent=0):
        """The profile of a run with slower kernels of one class."""
        key = (number, kernel_class if percent else None, percent)
        if key not in self.known:
            log = self.logs[number]
            name = f"{number}"
            if percent:
                name = f"{number}-{kernel_class.replace('/', '_')}-{percent}"
                log = self.folder / f"{name}.llmtrace"
                assert slow_down(self.logs[number], log, self.names_of(kernel_class), 1 + percent / 100) > 0
            self.known[key] = self.profile(log, name)
            if percent:
                log.unlink()
        return self.known[key]

    def pairings(self, count, seed=17):
        """Choices of five runs and five others; all choices if there are at most `count`."""
        everyone = range(len(self.logs))
        every = [(base, new) for base in itertools.combinations(everyone, RUNS_A_SIDE)
                 for new in itertools.combinations(sorted(set(everyone) - set(base)), RUNS_A_SIDE)] \
            if len(self.logs) <= 2 * RUNS_A_SIDE else None
        choose = random.Random(seed)
        if every is not None:
            return every if count >= len(every) else choose.sample(every, count)
        found = set()
        while len(found) < count:
            order = choose.sample(everyone, 2 * RUNS_A_SIDE)
            found.add((tuple(sorted(order[:RUNS_A_SIDE])), tuple(sorted(order[RUNS_A_SIDE:]))))
        return sorted(found)

    def diff(self, pairing, kernel_class, percent, *options):
        base = [self.at(number) for number in pairing[0]]
        new = [self.at(number, kernel_class, percent) for number in pairing[1]]
        with tempfile.TemporaryDirectory(dir=self.folder) as folder:
            out = pathlib.Path(folder) / "diff"
            result = run("diff", base[0], new[0], "--out", out,
                         *(word for path in base[1:] for word in ("--base", path)),
                         *(word for path in new[1:] for word in ("--new", path)), *options)
            assert result.returncode == 0, result.stderr
            return json.loads((out / "diff.json").read_text(encoding="utf-8"))


class SlowdownResult:
    """The result of a comparison for a stage's classes, one of which was slowed down."""

    def __init__(self, diff, stage, kernel_class, percent):
        rows = {row["quantity"].removeprefix("class."): row for row in diff["comparisons"]
                if row["stage"] == stage and row["quantity"].startswith("class.")}
        row = rows.pop(kernel_class)
        assert (row["noise_of"], row["base_runs"], row["new_runs"]) == ("runs", RUNS_A_SIDE, RUNS_A_SIDE)
        self.changed = (row["answer"], row["direction"]) == ("changed", "worse")
        self.called_changed = row["answer"] == "changed"
        self.relative = row["relative"]
        self.half_width = (row["relative_high"] - row["relative_low"]) / 2
        # Times are whole nanoseconds: rounding moves the mean of many by at most this.
        rounding = 1e-5
        self.within = row["relative_low"] - rounding <= percent / 100 <= row["relative_high"] + rounding
        # Every other class is an additional chance of a false difference: 5 % may show one.
        self.others = len(rows)
        self.others_changed = sorted(name for name, other in rows.items() if other["answer"] == "changed")
        causes = next(entry for entry in diff["stages"] if entry["stage"] == stage)["causes"]
        of_kernels = [cause for cause in causes if cause["kind"] == "same_kernels"]
        # The class whose kernels explain most of the difference.
        self.attributed = bool(of_kernels) and of_kernels[0]["subject"] == kernel_class


def threshold(percent):
    """A difference equal to the threshold cannot be decided: use half of it, if that is less than 1 %."""
    return min(1.0, percent / 2) if percent else 1.0


def study(runs, stage, kernel_class, percent, pairings):
    return [SlowdownResult(runs.diff(pairing, kernel_class, percent, "--threshold", f"{threshold(percent)}%"), stage, kernel_class,
                  percent) for pairing in pairings]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("logs", nargs="+", metavar="LOG")
    parser.add_argument("--class", dest="classes", action="append", metavar="CLASS")
    parser.add_argument("--percent", dest="percents", action="append", type=float, metavar="P")
    parser.add_argument("--stage", default="decode")
    parser.add_argument("--pairings", type=int, default=252)
    parser.add_argument("--no-annotations", action="store_true")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        runs = RecordedRuns(arguments.logs, folder, ["--no-annotations"] if arguments.no_annotations else [])
        pairings = runs.pairings(arguments.pairings)
        print(f"{len(arguments.logs)} recorded runs, {len(pairings)} pairings of {RUNS_A_SIDE} and {RUNS_A_SIDE}, "
              f"{arguments.stage}\n")
        print("| class | slower by | threshold | called changed | attributed to it | interval holds it | "
              "other classes called changed | median estimate | median half width |")
        print("|---|---:|---:|---:|---:|---:|---:|---:|---:|")
        for kernel_class in arguments.classes or ["gemm"]:
            for percent in arguments.percents or [0, 1, 2, 5]:
                rows = study(runs, arguments.stage, kernel_class, percent, pairings)

                def share(test, of=rows):
                    return f"{100 * sum(map(test, of)) / len(of):.1f} %"

                def middle(value, of=rows):
                    return f"{100 * sorted(map(value, of))[len(of) // 2]:.2f} %".replace("-0.00", "0.00")

                others = sum(len(row.others_changed) for row in rows) / sum(row.others for row in rows)
                print(f"| {kernel_class} | {percent:g} % | {threshold(percent):g} % | "
                      f"{share(lambda row: row.called_changed)} | "
                      f"{share(lambda row: row.attributed) if percent else '-'} | {share(lambda row: row.within)} | "
                      f"{100 * others:.1f} % | {middle(lambda row: row.relative)} | "
                      f"{middle(lambda row: row.half_width)} |", flush=True)


if __name__ == "__main__":
    main()
