"""Reads a collector's log by its specification (docs/collector.md, src/wire), independently of llmprof.

Records are dictionaries, in the order in which they were written: per thread, and for the device.
Checksums are ignored: llmprof's own reader is tested with damaged logs."""
import pathlib
import struct

FILE_MAGIC = b"LLMTRACE"
CHUNK_MAGIC = 0x4B4E4843
CHUNK_HEADER = struct.Struct("<IIQIIQ")
RECORD_HEADER = struct.Struct("<HHI")

# name, layout, fields
RECORDS = {
    1: ("string", "<IHH", "key length cut"),
    2: ("thread_info", "<II16s", "serial thread_id name"),
    3: ("range_push", "<qIIII", "time name domain depth reserved"),
    4: ("range_pop", "<qII", "time domain depth"),
    5: ("range_start", "<qQII", "time range name domain"),
    6: ("range_end", "<qQ", "time range"),
    7: ("mark", "<qII", "time name domain"),
    8: ("step", "<qIIQ", "time kind batch tokens"),
    9: ("cpu_operator", "<qqQQII", "start end flops bytes name reserved"),
    10: ("dropped", "<qQ", "time records"),
    11: ("clean_end", "<qQQ", "time dropped chunks"),
    12: ("variable", "<II", "name value"),
    13: ("thread_name", "<II", "thread_id name"),
    14: (
        "collective",
        "<qqQIIIIII",
        "start end bytes name group members kind group_size reserved",
    ),
    64: ("cuda_session", "<qIIII", "time driver_version cupti_version cupti_path kernel_driver"),
    65: (
        "cuda_device",
        "<IIQQQII16s64s",
        "ordinal sm_count memory_bytes memory_bandwidth clock_hz major minor uuid name",
    ),
    66: ("tracing_change", "<qIIQII", "time state reason step cost_ns result"),
    67: ("api_name", "<II", "name code"),
    68: ("launch", "<qII", "start duration_and_code correlation"),
    69: ("api_call", "<qqII", "start end correlation code"),
    70: ("graph_node_created", "<Q", "node"),
    71: ("graph_node_cloned", "<QQ", "node original"),
    72: (
        "kernel_definition",
        "<16IQ",
        "key name grid_x grid_y grid_z block_x block_y block_z registers static_shared"
        " dynamic_shared device context stream graph reserved node",
    ),
    73: ("kernels", "<qII", "base count reserved"),
    74: ("long_kernel", "<qqII", "start end correlation definition"),
    75: ("memory_definition", "<8IQ", "key kind direction device context stream graph reserved node"),
    76: ("memory_operation", "<qqQII", "start end bytes correlation definition"),
    77: ("graph_replay", "<qq6I", "start end correlation graph device context stream reserved"),
    78: ("cupti_dropped", "<qQ", "time records"),
    79: ("counter_set", "<IIqII", "set device period count reserved"),
    80: ("counter_sample", "<qqII", "start end set count"),
    81: ("counters_off", "<qII", "time reason reserved"),
    82: ("counters_lost", "<qQ", "time times"),
    83: ("replay_overwritten", "<II", "correlation reserved"),
    84: ("short_counter_sample", "<qIHH", "start duration set count"),
    85: ("waiting", "<qIIII", "time what range delay_ms reserved"),
    86: ("host_call", "<qQII", "start handle duration kind"),
    87: (
        "memory_event",
        "<qIIQQQQQIIIIII",
        "time action kind address bytes owner pool_bytes pool_used_bytes device context stream correlation library"
        " name",
    ),
    88: ("allocation_call", "<II", "correlation reserved"),
    89: ("memory_reading", "<qIIQQQQQQ", "time device moment total free used reserved own others"),
    90: ("cupti_memory", "<QQ", "buffer_bytes buffers"),
    91: ("memory_off", "<qII", "time reason reserved"),
    92: ("memory_calls", "<q", "time"),
}
COMPILED = {number: (name, struct.Struct(layout), fields.split()) for number, (name, layout, fields) in RECORDS.items()}
UNKNOWN = ("unknown", struct.Struct("<"), [])
KERNEL = struct.Struct("<iIII")
LAUNCH_DURATION_BITS = 24
STATES = {1: "detached", 2: "paused", 3: "tracing", 4: "stood_down"}
REASONS = (
    "none program_start duty budget arm_range step_limit command other_subscriber cupti_missing"
    " cupti_failed process_end delay"
).split()


def text(raw):
    return raw.split(b"\0", 1)[0].decode()


class Log:
    """One log. `threads`: lists of records by the thread's serial number; `device`: records without a thread;
    `control`: records of chunk 0."""

    def __init__(self, path):
        self.path = pathlib.Path(path)
        self.bytes = self.path.read_bytes()
        if self.bytes[:8] != FILE_MAGIC:
            raise ValueError(f"{path}: no log")
        (self.header_bytes, self.chunk_bytes) = struct.unpack_from("<II", self.bytes, 16)
        (self.pid,) = struct.unpack_from("<Q", self.bytes, 24)
        self.strings = {}
        self.threads = {}
        self.thread_names = {}  # by serial number, as the system names them
        self.thread_ids = {}
        self.device = []
        self.control = []
        self.unused_chunks = []  # places of chunks that were never started
        for start in range(0, len(self.bytes), self.chunk_bytes):
            self.read_chunk(start)

    def read_chunk(self, start):
        end = min(start + self.chunk_bytes, len(self.bytes))
        at = start + (self.header_bytes if start == 0 else 0)
        if at + CHUNK_HEADER.size > end:
            return
        magic, kind, _, _, _, _ = CHUNK_HEADER.unpack_from(self.bytes, at)
        if magic != CHUNK_MAGIC:
            self.unused_chunks.append(start // self.chunk_bytes)
            return
        at += CHUNK_HEADER.size
        records = {1: self.control, 4: self.device}.get(kind, [])
        while at + RECORD_HEADER.size <= end:
            number, size, _ = RECORD_HEADER.unpack_from(self.bytes, at)
            if number == 0:
                break
            record = self.read_record(number, at + RECORD_HEADER.size, at + size)
            if record["type"] == "thread_info":
                records = self.threads.setdefault(record["serial"], [])
                self.thread_names[record["serial"]] = text(record["name"])
                self.thread_ids[record["serial"]] = record["thread_id"]
            elif record["type"] == "string":
                self.strings[record["key"]] = record["text"]
            else:
                records.append(record)
            at += size

    def read_record(self, number, at, end):
        name, layout, fields = COMPILED.get(number, UNKNOWN)
        record = dict(zip(fields, layout.unpack_from(self.bytes, at)), type=name)
        tail = at + layout.size
        if name == "string":
            record["text"] = self.bytes[tail : tail + record["length"]].decode()
        elif name == "kernels":
            rows = range(tail, tail + record["count"] * KERNEL.size, KERNEL.size)
            record["rows"] = [KERNEL.unpack_from(self.bytes, row) for row in rows]
        elif name == "counter_set":
            pairs = range(tail, tail + 8 * record["count"], 8)
            record["columns"] = [struct.unpack_from("<II", self.bytes, pair) for pair in pairs]
        elif name == "counter_sample":
            record["values"] = struct.unpack_from(f"<{record['count']}d", self.bytes, tail)
        elif name == "short_counter_sample":
            record["values"] = struct.unpack_from(f"<{record['count']}f", self.bytes, tail)
        assert tail <= end, name
        return record

    def of(self, *types):
        """Records of these types, in all lists."""
        everywhere = [self.control, *self.threads.values(), self.device]
        return [record for records in everywhere for record in records if record["type"] in types]

    @property
    def chunks(self):
        return len(self.bytes) // self.chunk_bytes

    def only(self, kind):
        (record,) = self.of(kind)
        return record

    def kernels(self):
        """(start, end, correlation, definition) of every kernel; the definition's name is a text."""
        definitions = {}
        for record in self.of("kernel_definition"):
            definitions[record["key"]] = {**record, "name": self.strings[record["name"]]}
        rows = []
        for record in self.of("kernels", "long_kernel"):
            if record["type"] == "long_kernel":
                fields = ("start", "end", "correlation", "definition")
                rows.append(tuple(record[field] for field in fields))
            for start, duration, correlation, key in record.get("rows", []):
                start += record["base"]
                rows.append((start, start + duration, correlation, key))
        return [(*row[:3], definitions[row[3]]) for row in rows]

    def memory_operations(self):
        definitions = {record["key"]: record for record in self.of("memory_definition")}
        return [{**definitions[r["definition"]], **r} for r in self.of("memory_operation")]

    def counter_samples(self):
        """(device, start, end, {metric: value}) of every sample, by time."""
        sets = {}
        for record in self.of("counter_set"):
            sets[record["set"]] = (record["device"], [self.strings[name] for name, _ in record["columns"]])
        rows = []
        for record in self.of("counter_sample", "short_counter_sample"):
            device, names = sets[record["set"]]
            end = record["end"] if "end" in record else record["start"] + record["duration"]
            if end > record["start"]:
                rows.append((device, record["start"], end, dict(zip(names, record["values"]))))
        return sorted(rows, key=lambda row: row[1])

    def api_names(self):
        return {record["code"]: self.strings[record["name"]] for record in self.of("api_name")}

    def calls(self):
        """Launches and recorded calls: thread, function, start, end, correlation and the ranges that were open on the
        thread, outermost first."""
        names = self.api_names()
        rows = []
        for serial, records in self.threads.items():
            open_ranges = []
            for record in records:
                self.follow_ranges(record, open_ranges)
                if record["type"] == "launch":
                    code = record["duration_and_code"] >> LAUNCH_DURATION_BITS
                    duration = record["duration_and_code"] & ((1 << LAUNCH_DURATION_BITS) - 1)
                    end = record["start"] + duration
                elif record["type"] == "api_call":
                    code, end = record["code"], record["end"]
                else:
                    continue
                rows.append(
                    {
                        "thread": serial,
                        "function": names[code],
                        "start": record["start"],
                        "end": end,
                        "correlation": record["correlation"],
                        "ranges": [name for _, name in open_ranges],
                    }
                )
        return rows

    def nodes(self):
        """The ranges open at the creation of each graph node; clones have those of their originals."""
        stacks = {}
        for records in self.threads.values():
            open_ranges = []
            for record in records:
                self.follow_ranges(record, open_ranges)
                if record["type"] == "graph_node_created":
                    stacks[record["node"]] = [name for _, name in open_ranges]
        for record in self.of("graph_node_cloned"):
            if record["original"] in stacks:
                stacks[record["node"]] = stacks[record["original"]]
        return stacks

    def follow_ranges(self, record, open_ranges):
        if record["type"] == "range_push":
            open_ranges.append((record["domain"], self.strings[record["name"]]))
        elif record["type"] == "range_pop":
            for i in range(len(open_ranges) - 1, -1, -1):
                if open_ranges[i][0] == record["domain"]:
                    del open_ranges[i]
                    break

    def ranges(self):
        """(kind, domain, name, has an end), in order, thread by thread."""
        ends = {record["range"] for record in self.of("range_end")}
        rows = []
        for records in self.threads.values():
            open_ranges = []
            for record in records:
                kind = record["type"].removeprefix("range_")
                if kind in ("push", "start", "mark"):
                    domain = self.strings.get(record["domain"], "")
                    rows.append([kind, domain, self.strings[record["name"]], kind == "mark"])
                if kind == "start":
                    rows[-1][3] = record["range"] in ends
                if kind == "push":
                    open_ranges.append((record["domain"], len(rows) - 1))
                if kind == "pop":
                    for i in range(len(open_ranges) - 1, -1, -1):
                        if open_ranges[i][0] == record["domain"]:
                            rows[open_ranges.pop(i)[1]][3] = True
                            break
        return [tuple(row) for row in rows]

    def collections(self):
        """(state, reason), by time."""
        rows = sorted(self.of("tracing_change"), key=lambda r: r["time"])
        return [(STATES[r["state"]], REASONS[r["reason"]]) for r in rows]
