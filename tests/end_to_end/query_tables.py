"""Asks the real llmprof in SQL, and says what profile.json has for the same tables."""
import json
import pathlib
import re
import sqlite3

from program import DATA, run

# What is analyzed together as one run.
RUNS = {
    "nsys and ncu": [DATA / "h200-decoder" / "nsys.sqlite", DATA / "h200-decoder" / "ncu_raw.csv.gz"],
    "hidden graphs": [DATA / "h200-decoder" / "nsys_graph_level.sqlite"],
    "PyTorch": [DATA / "h200-decoder" / "kineto.json.gz"],
    "collector": [DATA / "h200-collector" / "dense_graph.llmtrace.gz"],
    "eager": [DATA / "h200-collector" / "llama_eager.llmtrace.gz"],
    "serving": [DATA / "h200-serving" / "nsys.sqlite"],
    "CPU": [DATA / "cpu-llm"],
    "requests": [DATA / "collector_log" / "served.llmtrace", DATA / "requests" / "served.json"],
    "memory": [DATA / "torch_memory" / "decode_protocol4.pickle", DATA / "torch_memory" / "too_large_protocol2.pickle"],
    "allocations": [DATA / "collector_log" / "memory.llmtrace"],
    "leak": [DATA / "h200-memory-growth" / "leak_pytorch.llmtrace.gz"],
    "totals": [DATA / "h200-decoder" / "nsys_cuda_gpu_kern_sum.csv"],
}
# Where profile.json has a table's rows: lists, or values by name, in each other; the columns that identify the lists
# around them ("#": the index; "*": the name of values by name), and the column of plain values.
PATHS = {
    "devices": (["context", "gpus"], []),
    "device_totals": (["totals", "devices"], []),
    "device_time": (["device_time"], []),
    "device_idle": (["device_time", "idle_causes"], [("device", "device")]),
    "copy_totals": (["copies"], []),
    "stages": (["stages"], []),
    "instances": (["stages", "instances"], [("stage", "name"), ("instance", "#")]),
    "instance_classes": (["stages", "instances", "classes_ns"],
                         [("stage", "name"), ("instance", "#"), ("class", "*"), "ns"]),
    "instance_budget": (["stages", "instances", "budget_ns"],
                        [("stage", "name"), ("instance", "#"), ("part", "*"), "ns"]),
    "stage_budget": (["stages", "budget"], [("stage", "name")]),
    "stage_cost": (["stages", "cost"], [("stage", "name")]),
    "steps": (["steps"], [("step", "#")]),
    "step_classes": (["steps", "classes_ns"], [("step", "#"), ("class", "*"), "ns"]),
    "slow_steps": (["slow_steps"], []),
    "slow_step_reasons": (["slow_steps", "reasons"], [("step", "step")]),
    "gaps": (["gaps"], []),
    "repeated_gaps": (["repeated_gaps"], []),
    "layers": (["layers"], []),
    "findings": (["findings"], [("finding", "#")]),
    "finding_values": (["findings", "values"], [("finding", "#")]),
    "savings": (["recoverable", "parts"], [("stage", "stage")]),
    "kernel_savings": (["recoverable", "kernels"], [("stage", "stage")]),
    "diagnostics": (["diagnostics"], []),
    "classes": (["classes"], []),
    "kernel_totals": (["kernels"], []),
    "kernel_stages": (["kernels", "stages"], [("kernel_name", "kernel_name"), ("stage", "*")]),
    "kernel_shapes": (["kernels", "shapes"], [("kernel_name", "kernel_name")]),
    "kernel_metrics": (["kernels", "metrics"], [("kernel_name", "kernel_name"), ("metric", "*")]),
    "roofline": (["roofline", "kernels"], []),
    "products": (["products"], []),
    "products_without_shape": (["products_found", "without_shape"], []),
    "operator_totals": (["operators"], []),
    "requests": (["requests", "items"], [("request", "#")]),
    "request_parts": (["requests", "items", "parts_ns"], [("request", "#"), ("part", "*"), "ns"]),
    "request_ttft_parts": (["requests", "items", "ttft_parts_ns"], [("request", "#"), ("part", "*"), "ns"]),
    "request_gaps": (["requests", "slowest_gaps"], [("gap", "#")]),
    "request_batches": (["requests", "batches"], [("batch", "#")]),
    "request_delays": (["requests", "delays"], []),
    "request_delayers": (["requests", "delayers"], []),
    "request_tails": (["requests", "tail", "parts"], [("figure", "figure")]),
    "steps_by_size": (["requests", "steps_by_size"], []),
    "memory_ledger": (["memory_ledger", "rows"], []),
    "memory_moments": (["memory_ledger", "moments"], [("moment", "#")]),
    "memory_headroom": (["memory_ledger", "headroom"], []),
    "memory_growth": (["memory_ledger", "growth"], []),
    "memory_ledger_gpus": (["memory_ledger", "gpus"], [("gpu", "#")]),
    "memory_ledger_points": (["memory_ledger", "timeline"], [("point", "#")]),
    "memory_ledger_timeline": (["memory_ledger", "timeline", "parts_bytes"],
                               [("point", "#"), ("part", "*"), "bytes"]),
    "memory": (["memory", "devices"], []),
    "memory_snapshots": (["memory", "snapshots"], [("snapshot", "#")]),
    "memory_settings": (["memory", "snapshots", "settings"], [("snapshot", "#")]),
    "memory_pools": (["memory", "pools"], []),
    "memory_stacks": (["memory", "stacks"], []),
    "memory_oom": (["memory", "out_of_memory"], []),
    "memory_annotations": (["memory", "annotations"], []),
    "memory_timeline": (["memory", "timeline"], []),
    "ranks": (["ranks"], []),
    "rank_times": (["ranks", "between"], [("rank", "rank")]),
    "rank_stages": (["ranks", "stages"], [("rank", "rank")]),
    "rank_steps": (["ranks", "steps"], [("rank", "rank"), ("step", "#")]),
    "collectives": (["job", "collectives"], []),
    "stragglers": (["job", "stragglers"], []),
    "rank_groups": (["job", "groups"], []),
}
# Values by name, which are tables of their own.
BY_NAME = {"classes_ns", "budget_ns", "parts_ns", "parts_bytes", "ttft_parts_ns", "classes", "metrics", "stages"}
# Objects with lists in them.
OBJECTS = {"context", "totals", "requests", "memory", "memory_ledger", "job", "products_found", "roofline"}
# Never columns, and columns in which paths are shortened.
KEPT = {"path", "command", "file"}
SHORTENED = {"message", "evidence", "advice", "title", "host", "reason", "why_not", "state_detail", "note"}


def ask(runs, sql, *options):
    """The answer to one statement, as JSON."""
    runs = [runs] if isinstance(runs, (str, pathlib.Path)) else runs
    done = run("query", *runs, sql, "--format", "json", "--limit", 10_000_000, *options)
    if done.returncode != 0:
        raise AssertionError(f"{sql}: exit {done.returncode}: {done.stderr}")
    return json.loads(done.stdout)


def ask_all(runs, statements):
    """The answers to several statements of one session."""
    runs = [runs] if isinstance(runs, (str, pathlib.Path)) else runs
    done = run("query", *runs, ";\n".join(statements), "--format", "json", "--limit", 10_000_000)
    if done.returncode != 0:
        raise AssertionError(f"{statements}: exit {done.returncode}: {done.stderr}")
    decoder, text, at, answers = json.JSONDecoder(), done.stdout.rstrip(), 0, []
    while at < len(text):
        answer, at = decoder.raw_decode(text, at)
        answers.append(answer)
        at = re.compile(r"\s*").match(text, at).end()
    return answers


def dicts(answer):
    names = [column["name"] for column in answer["columns"]]
    return [dict(zip(names, row, strict=True)) for row in answer["rows"]]


def as_cell(value):
    """What a cell shows of a value in profile.json; None for what no column shows."""
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return value


def cells(row, prefix=""):
    """name -> value of the members of an object and of those within it. Lists of numbers and of objects, and values by
    name, are no cells."""
    found = {}
    for name, value in row.items():
        if isinstance(value, dict) and name in BY_NAME:
            continue
        if isinstance(value, dict):
            found |= cells(value, f"{prefix}{name}_")
        elif isinstance(value, list):
            is_extent = len(value) == 3 and all(isinstance(item, int) for item in value)
            if value and is_extent and name in ("grid", "block", "block_size", "commonest_grid"):
                found[prefix + name] = as_cell(value)
        elif name not in KEPT:
            found[prefix + name] = as_cell(value)
    return found


def expected_rows(profile, table):
    """The rows of a table as dicts, from profile.json alone."""
    path, keys = PATHS[table]
    named = [key for key in keys if not isinstance(key, str)]
    plain = next((key for key in keys if isinstance(key, str)), None)
    rows = []

    def collect(value, rest, row, depth):
        if value is None:
            return
        if not rest:
            rows.append({**cells(value), **row} if plain is None else {**row, plain: value})
            return
        inner = value.get(rest[0]) if isinstance(value, dict) else None
        if isinstance(inner, list):
            items = [("#", index, item) for index, item in enumerate(inner)]
        elif isinstance(inner, dict) and rest[0] not in OBJECTS:
            items = [("*", name, item) for name, item in inner.items()]
        else:
            collect(inner, rest[1:], row, depth)
            return
        for kind, key, item in items:
            own = dict(row)
            if depth < len(named):
                column, member = named[depth]
                own[column] = key if member == kind else item[member] if member not in ("#", "*") else key
            collect(item, rest[1:], own, depth + 1)

    collect(profile, path, {}, 0)
    return rows


def sqlite_rows(file, sql):
    with sqlite3.connect(f"file:{file}?mode=ro", uri=True) as database:
        return [list(row) for row in database.execute(sql)]


def literal(value):
    """A value in SQL; a number with a point as an exact double, not as a decimal number."""
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    if isinstance(value, float):
        return format(value, ".17e")
    return "NULL" if value is None else repr(value)


def random_statements(chance, tables, count, strict=False):
    """Statements over tables: name -> (columns with their type, rows that begin with the run). `strict` leaves out what
    only SQLite compares: values of different types."""

    def condition(columns, values):
        at = chance.randrange(len(columns))
        value = chance.choice(values)[at + 1]
        other = chance.choice(values)[at + 1]
        column = f'"{columns[at][0]}"'
        loose = [f"{column} IN ({literal(value)}, {literal(other)}, 'x', 7)", f"{column} = CAST({literal(value)} AS TEXT)"]
        return chance.choice([
            f"{column} = {literal(value)}", f"{column} >= {literal(value)}", f"{column} < {literal(value)}",
            f"{column} BETWEEN {literal(value)} AND {literal(other)}", f"{column} IS NOT DISTINCT FROM {literal(value)}",
            f"{column} IN ({literal(value)}, {literal(other)})", f"{column} IS NOT NULL",
            f"NOT {column} = {literal(value)}", *([] if strict else loose),
        ])

    statements = []
    for _ in range(count):
        table = chance.choice(sorted(tables))
        columns, values = tables[table]
        where = chance.choice([" AND ", " OR "]).join(condition(columns, values) for _ in range(chance.randint(1, 3)))
        keys = [f'"{name}"' for name, _ in chance.sample(columns, chance.randint(1, 3))]
        numbers = [f'"{name}"' for name, kind in columns if kind == "integer"]
        number = chance.choice(numbers)
        order = ", ".join(key + chance.choice(["", " DESC"]) for key in keys)
        statements.append((table, chance.choice([
            f"SELECT {', '.join(keys)}, count(*), sum({number}), min({number}) FROM {table} WHERE {where} "
            f"GROUP BY {', '.join(keys)} ORDER BY {order}",
            f"SELECT DISTINCT {', '.join(keys)} FROM {table} WHERE {where} ORDER BY {order}",
            f"SELECT {', '.join(keys)} FROM {table} WHERE {where} ORDER BY {order}",
            f"SELECT count(*), sum({number}), max({number}) FROM {table} WHERE {where}",
            f"SELECT {', '.join(keys)}, count(*) FROM {table} GROUP BY {', '.join(keys)} ORDER BY {order}",
        ])))
    return statements
