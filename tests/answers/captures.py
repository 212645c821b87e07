"""Captures of the questions, and what plain Python reads from them: the truths use nothing of llmprof."""
import csv
import functools
import gzip
import json
import lzma
import os
import pathlib
import re
import sqlite3
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "end_to_end"))
import edited_capture  # noqa: E402
import job_captures  # noqa: E402

DATA = ROOT / "tests" / "data"
# The complete captures of tests/data/h200-captures, as the build unpacks them.
UNPACKED = pathlib.Path(os.environ.get("H200_CAPTURES", ROOT / "build" / "captures"))
SHARED = ROOT.parent / "shared" / "captures"

KERNELS = "CUPTI_ACTIVITY_KIND_KERNEL"
CALLS = "CUPTI_ACTIVITY_KIND_RUNTIME"
STALLED_STEP, STALL_NS = 11, 4_000_000  # counted over both requests, the first of which is warm-up
SLOWED_KERNELS, SLOWED_BY = r"^nvjet_", 1.5
LATE_RANK, LATE_AT = 2, (9, 10, 11)  # of the job; its collectives


class Missing(Exception):
    """One of the shared captures, in a checkout without them."""


def stall(source, target, step, length_ns):
    """The host pauses in a decode step, between two launches and while the GPU is idle: every later event shifts."""
    database = edited_capture.copied(source, target)
    start, end = ranges(database, "decode_step")[step]
    at = next(
        call for (call,) in database.execute(
            f"SELECT r.start FROM {CALLS} r JOIN {KERNELS} k USING (correlationId) WHERE r.start BETWEEN ? AND ? "
            "ORDER BY r.start", ((start + end) // 2, end)).fetchall()
        if not database.execute(f"SELECT count(*) FROM {KERNELS} k JOIN {CALLS} r USING (correlationId) "
                                "WHERE r.start < ?1 AND k.end >= ?1", (call,)).fetchone()[0])
    for (table,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
        for column in {row[1] for row in database.execute(f"PRAGMA table_info({table})")} & {"start", "end"}:
            database.execute(f'UPDATE {table} SET "{column}" = "{column}" + ? WHERE "{column}" >= ?', (length_ns, at))
    database.commit()
    database.close()


def shared(*parts):
    path = SHARED.joinpath(*parts)
    if not path.exists():
        raise Missing(f"needs ../shared/captures/{'/'.join(parts)}")
    return path


class Captures:
    """The captures by name; what is made is made once, in `folder`."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)

    @functools.cache  # noqa: B019 one object a process
    def path(self, name):
        path = self._file(name)
        if not path.exists():
            raise FileNotFoundError(f"{name}: {path} is absent")
        return path

    @functools.cache  # noqa: B019
    def job(self):
        folder = self.folder / "job"
        folder.mkdir()
        return job_captures.pytorch_job(folder, ranks=4,
                                        delays=[job_captures.Delay(rank=LATE_RANK, at=LATE_AT)])

    def _file(self, name):
        if name == "job":
            self.job()
            return self.folder / "job"
        if name == "stalled":
            stall(self.path("decoder"), self.folder / "stalled.sqlite", STALLED_STEP, STALL_NS)
            return self.folder / "stalled.sqlite"
        if name == "slowed":
            edited_capture.slow_down(self.path("decoder"), self.folder / "slowed.sqlite", SLOWED_KERNELS, SLOWED_BY)
            return self.folder / "slowed.sqlite"
        if name.startswith("repeat-"):
            return DATA / "h200-repeats" / f"run-{name[7:]}.llmtrace.gz"
        if name in ("planted", "saturated"):
            packed = shared("serving", f"llama_server_{name}.llmtrace.xz")
            (self.folder / f"{name}.llmtrace").write_bytes(lzma.open(packed).read())
            return self.folder / f"{name}.llmtrace"
        return shared(*SHARED_FILES[name]) if name in SHARED_FILES else FILES[name]


FILES = {
    "decoder": DATA / "h200-decoder" / "nsys.sqlite",
    "decoder_graphs": DATA / "h200-decoder" / "nsys_graph_level.sqlite",
    "decoder_torch": DATA / "h200-decoder" / "kineto.json.gz",
    "decoder_ncu": DATA / "h200-decoder" / "ncu_raw.csv.gz",
    "decoder_config": DATA / "h200-decoder" / "config.json",
    "eager": UNPACKED / "h200-llama-eager" / "nsys.sqlite",
    "graph": UNPACKED / "h200-dense-graph" / "nsys_node.sqlite",
    "requests": DATA / "requests" / "llmprof.json",
    "vllm_bench": DATA / "requests" / "vllm_bench.json",
    "engine_steps": DATA / "h200-serving" / "nsys.sqlite",
}
SHARED_FILES = {
    "planted_requests": ("serving", "llama_server_planted.requests.json.gz"),
    "saturated_requests": ("serving", "llama_server_saturated.requests.json.gz"),
    "two_gpus": ("public", "GindaChen+nsys-ai__mfu_2gpu_before.sqlite"),
    "two_gpus_after": ("public", "GindaChen+nsys-ai__mfu_2gpu_after.sqlite.gz"),
}


def sql(path, statement, *values):
    """Rows of a statement on an nsys SQLite file, packed or not."""
    if path.suffix == ".gz":
        database = sqlite3.connect(":memory:")
        database.deserialize(gzip.open(path).read())
    else:
        database = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    rows = database.execute(statement, values).fetchall()
    database.close()
    return rows


def ranges(database, text):
    """(start, end) of the NVTX ranges with this text, by start."""
    return database.execute(
        "SELECT start, end FROM NVTX_EVENTS WHERE coalesce(text, (SELECT value FROM StringIds WHERE id = textId)) = ? "
        "ORDER BY start", (text,)).fetchall()


def kernels(path, within=None, occurrences=slice(None)):
    """(start, end, name) of kernels; with `within`, of those launched in these occurrences of a range."""
    database = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    rows = database.execute(
        f"SELECT k.start, k.end, (SELECT value FROM StringIds WHERE id = k.demangledName), r.start FROM {KERNELS} k "
        f"LEFT JOIN {CALLS} r ON r.correlationId = k.correlationId ORDER BY k.start").fetchall()
    if within is not None:
        spans = ranges(database, within)[occurrences]
        rows = [row for row in rows if row[3] is not None and any(a <= row[3] <= b for a, b in spans)]
    database.close()
    return [row[:3] for row in rows]


def union(intervals):
    """Time that intervals cover together."""
    covered, last = 0, None
    for start, end in sorted(intervals):
        start = start if last is None else max(start, last)
        if end > start:
            covered += end - start
        last = end if last is None else max(last, end)
    return covered


def nearest_rank(values, percent):
    ordered = sorted(values)
    return ordered[max(1, -(-len(ordered) * percent // 100)) - 1]


def record(path):
    """A client's record of requests."""
    with (gzip.open(path, "rt") if path.suffix == ".gz" else open(path, encoding="utf-8")) as file:
        return json.load(file)


def torch_events(path):
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return [event for event in json.load(file)["traceEvents"] if event.get("ph") == "X"]


def ncu_rows(path):
    """Rows of ncu's raw page as dictionaries; the row of units is left out."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        lines = [line for line in file if line.startswith('"')]
    rows = list(csv.DictReader(lines))
    return [row for row in rows if row["ID"].strip()]


def matches(pattern, text):
    return re.search(pattern, text) is not None
