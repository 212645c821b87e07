"""Captures of a distributed job, made from one real capture of one GPU: each rank gets a copy with inserted
collectives, on its own clock. The maker knows what it inserted, and so what an analysis must find.

    job = pytorch_job(folder, ranks=2, clocks=[Clock(), Clock(350_000, 8.0)], delays=[Delay(rank=1, at=[24])])
    job.captures            one file per rank
    job.collectives[24]     .wait_ns == {0: 1_000_000, 1: 0}, .last_rank == 1

A collective starts on a rank when the preceding kernel ends, and ends on all ranks of its group together, `transfer_ns`
after the last rank started. Everything after it shifts, on the GPU and on the host. Without delays and spread, all
ranks start together.
"""
import bisect
import copy
import dataclasses
import gzip
import json
import pathlib
import random
import re
import shutil
import sqlite3
import struct

from program import DATA

PYTORCH_EAGER = DATA / "h200-decoder" / "kineto.json.gz"  # 4 layers; one prefill, eight decode steps
PYTORCH_GRAPH = DATA / "h200-captures" / "h200-dense-graph" / "kineto_graph.json.gz"  # decode in CUDA graphs
NSYS_EAGER = DATA / "h200-decoder" / "nsys.sqlite"

MILLISECOND = 1_000_000
# Tensor parallelism reduces the output and down projections, before they are added to the residual.
RESIDUAL_ADD = re.compile(r"CUDAFunctor_add<c10::BFloat16>")
PROJECTION = re.compile(r"nvjet|gemm|gemv|splitK", re.I)
DTYPE_BYTES = 2
KERNEL_NAMES = {
    "all_reduce": "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
    "all_gather": "ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
    "reduce_scatter": "ncclDevKernel_ReduceScatter_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
}
TORCH_NAMES = {"all_reduce": "allreduce", "all_gather": "_allgather_base", "reduce_scatter": "_reduce_scatter_base"}
TORCH_ANNOTATIONS = {"all_reduce": "nccl:all_reduce", "all_gather": "nccl:_all_gather_base",
                     "reduce_scatter": "nccl:_reduce_scatter_base"}
NCCL_CALLS = {"all_reduce": "ncclAllReduce", "all_gather": "ncclAllGather", "reduce_scatter": "ncclReduceScatter"}


@dataclasses.dataclass(frozen=True)
class Clock:
    """A rank's clock is `offset_ns` behind the job's when the job starts, and loses `drift_ppm` from then on: job time
    = t + offset + drift * (t - start), with t on the rank's clock."""
    offset_ns: int = 0
    drift_ppm: float = 0.0


@dataclasses.dataclass(frozen=True)
class Delay:
    """A delay of one rank before the collectives `at` (their numbers): the preceding kernel is longer
    ("longer_kernels") or launched late ("late_launch")."""
    rank: int
    at: tuple
    ns: int = MILLISECOND
    cause: str = "longer_kernels"


@dataclasses.dataclass
class Collective:
    """Times by rank: on the job's clock, and in the rank's own capture."""
    number: int            # in its group, from 0
    kind: str
    bytes: int             # that each rank contributes
    members: list
    in_graph: bool
    start_ns: dict
    end_ns: dict
    wait_ns: dict          # until the last rank of the group started
    transfer_ns: int
    last_rank: int         # the first of those that started last
    captured_ns: dict = dataclasses.field(default_factory=dict)  # rank -> (start, end); without ranks that were cut


@dataclasses.dataclass
class Job:
    captures: list
    collectives: list
    clocks: list
    begin_ns: int          # of the job, on its clock
    delays: list
    per_pass: int          # collectives of a group in one forward pass

    def job_time(self, rank, captured_ns):
        clock = self.clocks[rank]
        return captured_ns + clock.offset_ns + round(clock.drift_ppm * 1e-6 * (captured_ns - self.begin_ns))

    def wait_ns(self, rank):
        return sum(collective.wait_ns.get(rank, 0) for collective in self.collectives)


@dataclasses.dataclass
class _Kernel:
    start: int
    end: int
    name: str
    launch_start: int
    launch_end: int
    next_call: int         # start of the call after the launch
    in_graph: bool
    grid: int


class _RankTimes:
    """One rank's times: those of the source, shifted by the inserted time before them, on the rank's clock."""

    def __init__(self, clock, begin):
        self.clock = clock
        self.begin = begin
        self.points = []   # times of the source, ascending
        self.shifts = []   # added from there on
        self.longer = {}   # kernel -> ns

    def shift(self):
        return self.shifts[-1] if self.shifts else 0

    def insert(self, point, shift):
        assert not self.points or point >= self.points[-1], "what is inserted comes in order of time"
        self.points.append(point)
        self.shifts.append(shift)

    def job(self, time):
        at = bisect.bisect_right(self.points, time) - 1
        return time + (self.shifts[at] if at >= 0 else 0)

    def own(self, job_time):
        since = job_time - self.begin - self.clock.offset_ns
        return self.begin + round(since / (1 + self.clock.drift_ppm * 1e-6))

    def host(self, start, end):
        return self.own(self.job(start)), self.own(self.job(end))

    def device(self, start, end, kernel=None):
        begin = self.job(start)
        return self.own(begin), self.own(begin + end - start + self.longer.get(kernel, 0))


def _places(kernels, hidden_bytes):
    """(kernel that a collective follows, bytes of its message)"""
    found = []
    for at in range(1, len(kernels)):
        if not RESIDUAL_ADD.search(kernels[at].name) or not PROJECTION.search(kernels[at - 1].name):
            continue
        # 1,024 elements per block: a decode step has one token.
        tokens = max(1, kernels[at].grid * 1024 * DTYPE_BYTES // hidden_bytes) if kernels[at].grid > 8 else 1
        found.append((at - 1, tokens * hidden_bytes))
    return found


def _per_pass(places):
    """The source starts with a prefill, whose messages are longer than those of the decode steps after it."""
    return next((at for at, place in enumerate(places) if place[1] != places[0][1]), len(places))


def _plan(kernels, places, ranks, groups, clocks, delays, spread_ns, jitter_ns, transfer_ns, kinds):
    """Moved times by rank, and the collectives by number, then group."""
    begin = min(min(k.start, k.launch_start) for k in kernels)
    moved = [_RankTimes(clock, begin) for clock in clocks]
    chance = random.Random(1)
    collectives = []
    for number, (after, size) in enumerate(places):
        kernel = kernels[after]
        kind = kinds[number % len(kinds)]
        starts = {}
        for rank in range(ranks):
            extra = chance.randrange(spread_ns + 1)
            for delay in delays:
                if delay.rank != rank or number not in delay.at:
                    continue
                if delay.cause == "late_launch":
                    last = moved[rank].points[-1] if moved[rank].points else begin
                    moved[rank].insert(max(kernel.launch_start, last), moved[rank].shift() + delay.ns)
                else:
                    extra += delay.ns
            moved[rank].longer[after] = extra
            starts[rank] = kernel.end + moved[rank].shift() + extra
        for group in groups:
            last = max(starts[rank] for rank in group)
            ends = {rank: last + transfer_ns + chance.randrange(jitter_ns + 1) for rank in group}
            for rank in group:
                moved[rank].insert(kernel.end, ends[rank] - kernel.end)
            collectives.append(Collective(
                number, kind, size, list(group), kernel.in_graph, {rank: starts[rank] for rank in group}, ends,
                {rank: last - starts[rank] for rank in group}, transfer_ns,
                min(rank for rank in group if starts[rank] == last)))
    return begin, moved, collectives


def _kept(collective, rank, cut):
    return collective.number >= cut.get(rank, 0)


def _first_kept(collectives, rank, cut):
    """Job time before which a rank recorded nothing."""
    if not cut.get(rank):
        return None
    return max(c.end_ns[rank] for c in collectives if rank in c.members and c.number < cut[rank])


def _launch_of(collective, kernel, rank, moved):
    """Start and end of the call that launches it, between its kernel's launch and the following call."""
    room = max(kernel.next_call - kernel.launch_end, 8)
    start, end = moved[rank].host(kernel.launch_end + room // 4, kernel.launch_end + room // 2)
    return min(start, collective.captured_ns[rank][0]), min(end, collective.captured_ns[rank][0])


def _note_captured(collectives, moved, cut):
    for collective in collectives:
        for rank in collective.members:
            if _kept(collective, rank, cut):
                collective.captured_ns[rank] = (moved[rank].own(collective.start_ns[rank]),
                                                moved[rank].own(collective.end_ns[rank]))


def _set_up(ranks, groups, clocks, delays):
    groups = groups or [list(range(ranks))]
    clocks = list(clocks or []) + [Clock()] * (ranks - len(clocks or []))
    return groups, clocks, list(delays)


def pytorch_job(folder, ranks=2, *, source=PYTORCH_EAGER, hidden=2048, clocks=None, delays=(), groups=None,
                kinds=("all_reduce",), transfer_ns=20_000, spread_ns=0, jitter_ns=0, cut=None, facts="kernel",
                sequence=True, name="rank-{}.pt.trace.json.gz"):
    """One PyTorch trace per rank. `facts` selects what the trace states about collectives: "kernel" (arguments of
    kernels and of record_param_comms, PyTorch 2.4 and later), "operator" (only of record_param_comms), "annotation"
    (nccl:... with the shapes of its inputs, PyTorch 2.0), "names" (only kernel names, as always in CUDA graphs).
    `cut`: rank -> collectives that ended before it started recording."""
    groups, clocks, delays = _set_up(ranks, groups, clocks, delays)
    cut = cut or {}
    with gzip.open(source, "rt", encoding="utf-8") as file:
        trace = json.load(file)
    events = [event for event in trace["traceEvents"] if event.get("ph") in ("X", "M")]
    calls = sorted((e for e in events if e.get("cat") in ("cuda_runtime", "cuda_driver")), key=lambda e: e["ts"])
    launches = {e["args"]["correlation"]: at for at, e in enumerate(calls)}
    rows = sorted((e for e in events if e.get("cat") == "kernel"), key=lambda e: e["ts"])

    def ns(microseconds):
        return round(microseconds * 1000)

    kernels = []
    for row in rows:
        at = launches[row["args"]["correlation"]]
        call = calls[at]
        end = ns(call["ts"]) + ns(call["dur"])
        next_call = next((ns(c["ts"]) for c in calls[at + 1:at + 9] if c["tid"] == call["tid"]), end + 1000)
        kernels.append(_Kernel(ns(row["ts"]), ns(row["ts"]) + ns(row["dur"]), row["name"], ns(call["ts"]), end,
                               max(next_call, end), call["name"].startswith("cudaGraphLaunch"), row["args"]["grid"][0]))
    places = _places(kernels, hidden * DTYPE_BYTES)
    begin, moved, collectives = _plan(kernels, places, ranks, groups, clocks, delays, spread_ns, jitter_ns,
                                      transfer_ns, kinds)
    _note_captured(collectives, moved, cut)
    number_of = {id(row): at for at, row in enumerate(rows)}
    captures = []
    for rank in range(ranks):
        first = _first_kept(collectives, rank, cut)
        written = []
        for event in events:
            if event["ph"] == "M":
                written.append(event)
                continue
            start = ns(event["ts"])
            end = start + ns(event["dur"])
            if first is not None and moved[rank].job(start) < first:
                continue
            on_device = event.get("cat") in ("kernel", "gpu_memcpy", "gpu_memset")
            start, end = (moved[rank].device(start, end, number_of.get(id(event))) if on_device
                          else moved[rank].host(start, end))
            written.append({**event, "ts": start / 1000, "dur": (end - start) / 1000})
        for collective in collectives:
            if rank in collective.members and _kept(collective, rank, cut):
                after = places[collective.number][0]
                row = rows[after]
                written += _torch_events(collective, kernels[after], row, calls[launches[row["args"]["correlation"]]],
                                         rank, groups, moved, facts, sequence)
        whole = {**{key: value for key, value in trace.items() if key != "traceEvents"},
                 "distributedInfo": {"backend": "nccl", "rank": rank, "world_size": ranks},
                 "traceEvents": written}
        path = pathlib.Path(folder) / name.format(rank)
        with gzip.open(path, "wt", encoding="utf-8", compresslevel=1) as file:
            file.write(json.dumps(whole))  # json.dump would not use the C encoder
        captures.append(path)
    return Job(captures, collectives, clocks, begin, delays, _per_pass(places))


def _torch_events(collective, kernel, row, call, rank, groups, moved, facts, sequence):
    start, end = collective.captured_ns[rank]
    elements = collective.bytes // DTYPE_BYTES
    group = groups.index(collective.members)
    received = {"all_gather": elements * len(collective.members), "reduce_scatter": elements // len(collective.members)}
    description = {"Collective name": TORCH_NAMES[collective.kind], "In msg nelems": elements,
                   "Out msg nelems": received.get(collective.kind, elements), "Group size": len(collective.members),
                   "dtype": "BFloat16", "Process Group Name": str(group),
                   "Process Group Description": "default_pg" if len(groups) == 1 else "undefined",
                   "Process Group Ranks": str(collective.members)}
    if sequence:
        description["Seq"] = collective.number
    number = 10_000_000 + collective.number
    arguments = {**row["args"], "External id": number, "correlation": number, "grid": [16, 1, 1], "block": [544, 1, 1]}
    if facts == "kernel" and not collective.in_graph:
        arguments.update(description)
    if facts == "annotation":
        arguments["External id"] = number + 1_000_000  # old traces number kernels separately
    if collective.in_graph:
        # A replayed kernel has the correlation of the replay, and no operator is recorded for it.
        arguments["correlation"] = row["args"]["correlation"]
        arguments["External id"] = row["args"].get("External id", 0)
    kernel_event = {**row, "name": KERNEL_NAMES[collective.kind], "ts": start / 1000, "dur": (end - start) / 1000,
                    "args": arguments}
    if collective.in_graph:
        return [kernel_event]
    launch_start, launch_end = _launch_of(collective, kernel, rank, moved)
    launch = copy.deepcopy(call)
    launch.update(ts=launch_start / 1000, dur=(launch_end - launch_start) / 1000)
    launch["args"].update({"correlation": number, "External id": arguments["External id"]})
    span = {"ph": "X", "pid": call["pid"], "tid": call["tid"], "ts": launch_start / 1000,
            "dur": (launch_end - launch_start) / 1000}
    operator = {**span, "cat": "cpu_op", "name": "record_param_comms", "args": {"External id": number}}
    made = [kernel_event, launch, operator]
    if facts in ("kernel", "operator"):
        operator["args"].update(description)
    if facts == "annotation":
        made.append({**span, "cat": "user_annotation", "name": TORCH_ANNOTATIONS[collective.kind],
                     "args": {"External id": number + 2_000_000, "Input Dims": [[elements]],
                              "Input type": ["c10::BFloat16"]}})
    return made


# NCCL's payload declaration as nsys writes it: field names, types (5: int, 18: uint64, 22: size_t) and offsets.
NCCL_SCHEMAS = {
    16777218: (24, [("NCCL communicator ID", 18, None), ("No. of ranks", 5, 8), ("Rank", 5, 12), ("CUDA device", 5, 16)]),
    16777223: (24, [("NCCL communicator ID", 18, None), ("Message size [bytes]", 22, 8),
                    ("Reduction operation", 16777232, 16)]),
    16777220: (16, [("NCCL communicator ID", 18, None), ("Message size [bytes]", 22, 8)]),
}
COMM_INIT, REDUCTION, PLAIN = 16777218, 16777223, 16777220
NCCL_DOMAIN = 1


def nccl_payload(schema, *values):
    layout = {COMM_INIT: "<QIII4x", REDUCTION: "<QQI4x", PLAIN: "<QQ"}[schema]
    payload = struct.pack(layout, *values)
    return struct.pack("<QQQQ", NCCL_DOMAIN, schema, len(payload), 32) + payload


def _add_row(database, table, row):
    marks = ", ".join("?" * len(row))
    names = ", ".join(f'"{name}"' for name in row)
    database.execute(f"INSERT INTO {table} ({names}) VALUES ({marks})", list(row.values()))


def nsys_job(folder, ranks=2, *, source=NSYS_EAGER, hidden=2048, clocks=None, delays=(), groups=None,
             kinds=("all_reduce",), transfer_ns=20_000, spread_ns=0, jitter_ns=0, cut=None, facts="payload", hosts=None,
             name="report_rank{}.sqlite"):
    """One nsys export per rank. `facts`: "payload" (NCCL's NVTX ranges with payloads), "ranges" (without payloads),
    "names" (only kernel names)."""
    groups, clocks, delays = _set_up(ranks, groups, clocks, delays)
    cut = cut or {}
    base = sqlite3.connect(f"file:{source}?mode=ro&immutable=1", uri=True)
    base.row_factory = sqlite3.Row
    strings = dict(base.execute("SELECT id, value FROM StringIds").fetchall())
    calls = base.execute("SELECT rowid, * FROM CUPTI_ACTIVITY_KIND_RUNTIME ORDER BY start").fetchall()
    launches = {(row["globalTid"] >> 24, row["correlationId"]): at for at, row in enumerate(calls)}
    rows = base.execute("SELECT rowid, * FROM CUPTI_ACTIVITY_KIND_KERNEL ORDER BY start").fetchall()
    base.close()
    kernels = []
    for row in rows:
        at = launches[(row["globalPid"] >> 24, row["correlationId"])]
        call = calls[at]
        next_call = next((c["start"] for c in calls[at + 1:at + 9] if c["globalTid"] == call["globalTid"]),
                         call["end"] + 1000)
        kernels.append(_Kernel(row["start"], row["end"], strings[row["demangledName"]], call["start"], call["end"],
                               max(next_call, call["end"]), "cudaGraphLaunch" in strings[call["nameId"]], row["gridX"]))
    places = _places(kernels, hidden * DTYPE_BYTES)
    begin, moved, collectives = _plan(kernels, places, ranks, groups, clocks, delays, spread_ns, jitter_ns,
                                      transfer_ns, kinds)
    _note_captured(collectives, moved, cut)
    captures = []
    for rank in range(ranks):
        path = pathlib.Path(folder) / name.format(rank)
        shutil.copy(source, path)
        path.chmod(0o644)
        database = sqlite3.connect(path)
        _move_tables(database, moved[rank], {row["rowid"]: at for at, row in enumerate(rows)},
                     _first_kept(collectives, rank, cut))
        _add_nccl(database, [c for c in collectives if rank in c.members and _kept(c, rank, cut)], rank, groups,
                  {c.number: rows[places[c.number][0]] for c in collectives},
                  {c.number: calls[launches[(rows[places[c.number][0]]["globalPid"] >> 24,
                                             rows[places[c.number][0]]["correlationId"])]] for c in collectives},
                  {c.number: kernels[places[c.number][0]] for c in collectives}, moved, facts)
        if hosts:
            database.execute("INSERT INTO TARGET_INFO_SYSTEM_ENV (globalVid, devStateName, name, nameEnum, value) "
                             "VALUES (0, 'OS', 'Hostname', 0, ?)", (hosts[rank],))
        database.commit()
        database.close()
        captures.append(path)
    return Job(captures, collectives, clocks, begin, delays, _per_pass(places))


def _move_tables(database, moved, number_of, first):
    tables = [name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    for table in tables:
        columns = {row[1] for row in database.execute(f"PRAGMA table_info({table})")}
        if not {"start", "end"} <= columns:
            continue
        on_device = table.startswith("CUPTI_ACTIVITY_KIND_") and not table.endswith("RUNTIME")
        changes, removed = [], []
        for number, start, end in database.execute(f'SELECT rowid, start, "end" FROM {table}').fetchall():
            if first is not None and moved.job(start) < first:
                removed.append((number,))
                continue
            kernel = number_of.get(number) if table.endswith("KERNEL") else None
            if end is None:
                changes.append((moved.host(start, start)[0], None, number))
            else:
                changes.append((*(moved.device(start, end, kernel) if on_device else moved.host(start, end)), number))
        database.executemany(f'UPDATE {table} SET start = ?, "end" = ? WHERE rowid = ?', changes)
        database.executemany(f"DELETE FROM {table} WHERE rowid = ?", removed)


def _add_nccl(database, collectives, rank, groups, rows, calls, kernels, moved, facts):
    next_string = database.execute("SELECT max(id) FROM StringIds").fetchone()[0] + 1
    ids = {}

    def string(text):
        nonlocal next_string
        if text not in ids:
            ids[text] = next_string
            database.execute("INSERT INTO StringIds (id, value) VALUES (?, ?)", (next_string, text))
            next_string += 1
        return ids[text]

    if facts == "payload":
        database.execute("CREATE TABLE NVTX_PAYLOAD_SCHEMAS (domainId INTEGER, schemaId INTEGER, name TEXT, "
                         "type INTEGER, flags INTEGER, numEntries INTEGER, payloadSize INTEGER, alignTo INTEGER)")
        database.execute("CREATE TABLE NVTX_PAYLOAD_SCHEMA_ENTRIES (domainId INTEGER, schemaId INTEGER, idx INTEGER, "
                         "flags INTEGER, type INTEGER, name TEXT, description TEXT, arrayOrUnionDetail INTEGER, "
                         '"offset" INTEGER)')
        for schema, (size, fields) in NCCL_SCHEMAS.items():
            database.execute("INSERT INTO NVTX_PAYLOAD_SCHEMAS VALUES (?, ?, NULL, 1, NULL, ?, ?, NULL)",
                             (NCCL_DOMAIN, schema, len(fields), size))
            for at, (field, kind, offset) in enumerate(fields):
                database.execute("INSERT INTO NVTX_PAYLOAD_SCHEMA_ENTRIES VALUES (?, ?, ?, NULL, ?, ?, NULL, NULL, ?)",
                                 (NCCL_DOMAIN, schema, at, kind, field, offset))
    group = next(at for at, members in enumerate(groups) if rank in members)
    communicator = 0xC0FFEE00 + group
    if facts != "names":
        thread = calls[0]["globalTid"]
        _add_row(database, "NVTX_EVENTS", {"start": 1, "eventType": 75, "text": "NCCL", "globalTid": thread,
                                           "domainId": NCCL_DOMAIN})
        _add_row(database, "NVTX_EVENTS", {
            "start": 2, "end": 3, "eventType": 59, "textId": string("ncclCommInitRankConfig"), "globalTid": thread,
            "domainId": NCCL_DOMAIN, "binaryData": nccl_payload(
                COMM_INIT, communicator, len(groups[group]), groups[group].index(rank), 0) if facts == "payload" else None})
    for collective in collectives:
        row = {key: rows[collective.number][key] for key in rows[collective.number].keys() if key != "rowid"}
        start, end = collective.captured_ns[rank]
        name = string(KERNEL_NAMES[collective.kind])
        correlation = row["correlationId"] if collective.in_graph else 10_000_000 + collective.number
        row.update({"start": start, "end": end, "demangledName": name, "shortName": name, "mangledName": None,
                    "correlationId": correlation, "gridX": 16, "gridY": 1, "gridZ": 1, "blockX": 544, "blockY": 1,
                    "blockZ": 1})
        _add_row(database, "CUPTI_ACTIVITY_KIND_KERNEL", row)
        if collective.in_graph:
            continue
        call = {key: calls[collective.number][key] for key in calls[collective.number].keys() if key != "rowid"}
        launch_start, launch_end = _launch_of(collective, kernels[collective.number], rank, moved)
        call.update({"start": launch_start, "end": launch_end, "correlationId": correlation})
        _add_row(database, "CUPTI_ACTIVITY_KIND_RUNTIME", call)
        if facts == "names":
            continue
        size = collective.bytes
        if collective.kind == "reduce_scatter":
            size //= len(collective.members)  # NCCL counts what a rank receives
        payload = (nccl_payload(PLAIN, communicator, size) if collective.kind == "all_gather"
                   else nccl_payload(REDUCTION, communicator, size, 0))
        _add_row(database, "NVTX_EVENTS", {
            "start": launch_start, "end": launch_end, "eventType": 59,
            "textId": string(NCCL_CALLS[collective.kind]), "globalTid": call["globalTid"], "domainId": NCCL_DOMAIN,
            "binaryData": payload if facts == "payload" else None})
