"""Reads the captures of a run: our logs with `llmprof analyze --json`, nsys's export with plain SQL."""
import contextlib
import json
import re
import sqlite3
import subprocess


def function_of(name):
    """The function without its arguments: demanglers spell template arguments, parameters and unnamed
    namespaces differently, so all instances of a template count as one function."""
    name = name.replace("(anonymous namespace)", "@").replace("<unnamed>", "@")
    function, depth = "", 0
    for letter in name:
        if letter == "(" and depth == 0:
            break
        depth += (letter == "<") - (letter == ">")
        if depth == 0 and letter != ">":
            function += letter
    return re.sub(r"\s+", "", re.sub(r"^void\s", "", function))


def added(rows):
    """(name, calls, total in ns) -> function -> [calls, total]"""
    kernels = {}
    for name, calls, total in rows:
        known = kernels.setdefault(function_of(name), [0, 0])
        known[0] += calls
        known[1] += total
    return kernels


def read_logs(llmprof, folder):
    """From our logs: kernels, how many each stage launched, bytes."""
    logs = sorted(folder.glob("*.llmtrace"))
    if not logs:
        return {"problem": "no log"}
    done = subprocess.run(
        [llmprof, "analyze", *map(str, logs), "--json", "--out", str(folder / "analysis"), "--force"],
        capture_output=True, text=True, check=False,
    )
    if done.returncode != 0:
        return {"problem": done.stderr[-2000:]}
    profile = json.loads(done.stdout)
    kernels = added((row["kernel_name"], row["calls"], row["total_ns"]) for row in profile["kernels"])
    return {
        "kernels": kernels,
        "kernel_count": profile["totals"]["kernel_count"],
        "stages": {
            stage["name"]: sum(instance["kernel_count"] or 0 for instance in stage["instances"])
            for stage in profile["stages"]
        },
        "diagnostics": [[item["code"], item["count"]] for item in profile["diagnostics"]],
        "log_bytes": sum(log.stat().st_size for log in logs),
        "log_bytes_on_disk": sum(log.stat().st_blocks * 512 for log in logs),
    }


KERNELS = """
SELECT s.value, COUNT(*), SUM(k.end - k.start)
FROM CUPTI_ACTIVITY_KIND_KERNEL k JOIN StringIds s ON s.id = k.demangledName GROUP BY s.value
"""
# A kernel belongs to the ranges that were open on the launching thread at its launch. The few ranges of
# a stage are found once, not for each launch.
NAMED = """
CREATE TEMP TABLE named AS
SELECT n.globalTid, n.start, n.end FROM NVTX_EVENTS n LEFT JOIN StringIds s ON s.id = n.textId
WHERE COALESCE(n.text, s.value) = ?
"""
IN_RANGE = """
SELECT COUNT(*) FROM CUPTI_ACTIVITY_KIND_KERNEL k
JOIN CUPTI_ACTIVITY_KIND_RUNTIME r
  ON r.correlationId = k.correlationId AND r.globalTid / 0x1000000 = k.globalPid / 0x1000000
WHERE EXISTS (
  SELECT 1 FROM named n WHERE n.globalTid = r.globalTid AND r.start >= n.start AND r.start < n.end)
"""
STAGES = {"prefill": "prefill", "decode": "decode_all"}


def read_nsys(nsys, report):
    """From nsys's report: kernels, and how many were launched inside the range of each stage."""
    if not report.exists():
        return {"problem": "no report"}
    database = report.with_suffix(".sqlite")
    done = subprocess.run(
        [nsys, "export", "--type", "sqlite", "--force-overwrite", "true", "--output", str(database),
         str(report)],
        capture_output=True, text=True, check=False,
    )
    if not database.exists():
        return {"problem": done.stderr[-2000:]}
    with contextlib.closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as connection:
        kernels = added(connection.execute(KERNELS))
        stages = {}
        try:
            for stage, label in STAGES.items():
                connection.execute(NAMED, (label,))
                stages[stage] = connection.execute(IN_RANGE).fetchone()[0]
                connection.execute("DROP TABLE temp.named")
        except sqlite3.OperationalError as problem:  # no NVTX in the program
            stages = {"problem": str(problem)}
    return {
        "kernels": kernels,
        "kernel_count": sum(calls for calls, _ in kernels.values()),
        "stages": stages,
        "report_bytes": report.stat().st_size,
    }


