"""Copies of a collector's log with a known change: kernels slowed down, or a part cut out.

    edited_log.py slow SOURCE TARGET FACTOR NAME...   kernels of these names take FACTOR times as long
    edited_log.py keep SOURCE TARGET BEGIN END        what happened between two shares of its kernels' span
    edited_log.py without SOURCE TARGET RECORD...     no such records (range_push), nor strings that only they name

Records stay in their chunks, as the collector wrote them; only what changes is written anew, with new checksums."""
import bisect
import gzip
import pathlib
import struct
import sys

from collector_log import CHUNK_HEADER, KERNEL, LAUNCH_DURATION_BITS, RECORD_HEADER, RECORDS
from cuda_log import checksum

NUMBERS = {name: number for number, (name, _, _) in RECORDS.items()}
TIMES = ("time", "start", "end", "base")


def read(path):
    data = pathlib.Path(path).read_bytes()
    return bytearray(gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data)


def write(path, data):
    path = pathlib.Path(path)
    path.write_bytes(gzip.compress(bytes(data), 9, mtime=0) if path.suffix == ".gz" else bytes(data))


class Record:
    """A view of one record: its fields, and its rows if it is a batch of kernels."""

    def __init__(self, data, at, chunk):
        self.data, self.at, self.chunk = data, at, chunk
        self.number, self.size, _ = RECORD_HEADER.unpack_from(data, at)
        self.name, self.layout, names = RECORDS.get(self.number, ("unknown", "<", ""))
        self.names = names.split()
        self.payload = at + RECORD_HEADER.size

    def fields(self):
        return dict(zip(self.names, struct.unpack_from(self.layout, self.data, self.payload)))

    def rows(self, count):
        begin = self.payload + struct.calcsize(self.layout)
        return [KERNEL.unpack_from(self.data, begin + i * KERNEL.size) for i in range(count)]

    def change(self, fields, rows=()):
        struct.pack_into(self.layout, self.data, self.payload, *(fields[name] for name in self.names))
        begin = self.payload + struct.calcsize(self.layout)
        for i, row in enumerate(rows):
            KERNEL.pack_into(self.data, begin + i * KERNEL.size, *row)
        seed = (self.number << 48) ^ (self.size << 32) ^ self.chunk
        value = checksum(seed, self.data[self.payload:self.at + self.size])
        RECORD_HEADER.pack_into(self.data, self.at, self.number, self.size, value)


def chunks(data):
    """(sequence, start of the records, end) of every chunk with records."""
    header_bytes, chunk_bytes = struct.unpack_from("<II", data, 16)
    for start in range(0, len(data), chunk_bytes):
        at = start + (header_bytes if start == 0 else 0)
        end = min(start + chunk_bytes, len(data))
        if at + CHUNK_HEADER.size <= end and data[at:at + 4] == b"CHNK":
            yield struct.unpack_from("<Q", data, at + 8)[0], at + CHUNK_HEADER.size, end


def records_of(data, chunk):
    sequence, at, end = chunk
    while at + RECORD_HEADER.size <= end:
        record = Record(data, at, sequence)
        if record.number == 0:
            return
        yield record
        at += record.size


def records(data):
    for chunk in chunks(data):
        yield from records_of(data, chunk)


def name_of_string(record, fields):
    begin = record.payload + struct.calcsize(record.layout)
    return bytes(record.data[begin:begin + fields["length"]]).decode()


def kernels(data):
    """(start, end, mangled name) of every kernel and every CPU operator."""
    strings, definitions, found = {}, {}, []
    for record in records(data):
        fields = record.fields()
        if record.name == "string":
            strings[fields["key"]] = name_of_string(record, fields)
        elif record.name == "kernel_definition":
            definitions[fields["key"]] = fields["name"]
    for record in records(data):
        fields = record.fields()
        if record.name == "kernels":
            for start, duration, _, key in record.rows(fields["count"]):
                begin = fields["base"] + start
                found.append((begin, begin + duration, strings[definitions[key]]))
        elif record.name == "long_kernel":
            found.append((fields["start"], fields["end"], strings[definitions[fields["definition"]]]))
        elif record.name == "cpu_operator":
            found.append((fields["start"], fields["end"], strings[fields["name"]]))
    return found


class StretchedClock:
    """A clock that runs slower during some intervals: there, `factor` ns pass for each ns."""

    def __init__(self, intervals, factor):
        self.factor = factor
        self.starts, self.ends, self.before = [], [], []
        busy = 0
        for start, end in sorted(intervals):
            if self.ends and start <= self.ends[-1]:
                busy += max(end - self.ends[-1], 0)
                self.ends[-1] = max(end, self.ends[-1])
                continue
            self.starts.append(start)
            self.ends.append(end)
            self.before.append(busy)
            busy += end - start

    def __call__(self, time):
        at = bisect.bisect_right(self.starts, time) - 1
        if at < 0:
            return time
        passed = self.before[at] + min(time, self.ends[at]) - self.starts[at]
        return time + round((self.factor - 1) * passed)


class SlowDown:
    """Changes a log's records: kernels of `names` take `factor` times as long, others as long as before, and everything
    after them shifts."""

    def __init__(self, data, names, factor):
        self.names, self.factor = set(names), factor
        slower = [(start, end) for start, end, name in kernels(data) if name in self.names]
        self.count = len(slower)
        self.moved = StretchedClock(slower, factor)
        self.keys = set()
        self.definitions = set()
        for record in records(data):
            if record.name == "string":
                fields = record.fields()
                if name_of_string(record, fields) in self.names:
                    self.keys.add(fields["key"])
        for record in records(data):
            if record.name == "kernel_definition" and record.fields()["name"] in self.keys:
                self.definitions.add(record.fields()["key"])

    def duration(self, before, is_slower):
        return round(before * self.factor) if is_slower else before

    def kernels(self, record, fields):
        base = self.moved(fields["base"])
        rows = [(self.moved(fields["base"] + start) - base, self.duration(duration, key in self.definitions),
                 correlation, key) for start, duration, correlation, key in record.rows(fields["count"])]
        record.change({**fields, "base": base}, rows)

    def interval(self, record, fields, is_slower):
        start = self.moved(fields["start"])
        record.change({**fields, "start": start,
                       "end": start + self.duration(fields["end"] - fields["start"], is_slower)})

    def launch(self, record, fields):
        mask = (1 << LAUNCH_DURATION_BITS) - 1
        code, duration = fields["duration_and_code"] & ~mask, fields["duration_and_code"] & mask
        start = self.moved(fields["start"])
        longer = min(self.moved(fields["start"] + duration) - start, mask)
        record.change({**fields, "start": start, "duration_and_code": code | longer})

    def with_duration(self, record, fields):
        start = self.moved(fields["start"])
        longer = min(self.moved(fields["start"] + fields["duration"]) - start, 0xFFFFFFFF)
        record.change({**fields, "start": start, "duration": longer})

    def apply(self, record):
        fields = record.fields()
        if record.name == "kernels":
            self.kernels(record, fields)
        elif record.name == "long_kernel":
            self.interval(record, fields, fields["definition"] in self.definitions)
        elif record.name == "cpu_operator":
            self.interval(record, fields, fields["name"] in self.keys)
        elif record.name == "memory_operation":
            self.interval(record, fields, False)
        elif record.name == "launch":
            self.launch(record, fields)
        elif record.name in ("short_counter_sample", "host_call"):
            self.with_duration(record, fields)
        elif set(record.names) & set(TIMES):
            record.change({name: self.moved(value) if name in TIMES else value for name, value in fields.items()})


def slow_down(source, target, names, factor):
    """Returns how many kernels take `factor` times as long in the copy."""
    data = read(source)
    change = SlowDown(data, names, factor)
    for record in records(data):
        change.apply(record)
    write(target, data)
    return change.count


COUNTERS = {"counter_set", "counter_sample", "short_counter_sample", "counters_off", "counters_lost"}


def keep(source, target, begin, end):
    """Keeps what happened between two times on the log's clock, without counters; names and definitions stay."""
    data = read(source)
    for chunk in chunks(data):
        kept = bytearray()
        for record in records_of(data, chunk):
            fields = record.fields()
            time = next((fields[name] for name in ("base", "start", "time") if name in fields), None)
            whole = record.name in ("clean_end", "tracing_change", "cuda_session") or time is None
            if record.name not in COUNTERS and (whole or begin <= time <= end):
                kept += data[record.at:record.at + record.size]
        _, first, last = chunk
        data[first:last] = kept + bytes(last - first - len(kept))
    write(target, data)


def without(source, target, names):
    """Removes records, for example a program's own ranges, of which a framework may have more than kernels."""
    data = read(source)
    used = set()
    for record in records(data):
        if record.name not in names and record.name != "string":
            used |= {value for name, value in record.fields().items() if name not in TIMES and isinstance(value, int)}
    for chunk in chunks(data):
        kept = bytearray()
        for record in records_of(data, chunk):
            if record.name in names or (record.name == "string" and record.fields()["key"] not in used):
                continue
            kept += data[record.at:record.at + record.size]
        _, first, last = chunk
        data[first:last] = kept + bytes(last - first - len(kept))
    write(target, data)


def main(arguments):
    what, source, target = arguments[:3]
    if what == "slow":
        print(slow_down(source, target, arguments[4:], float(arguments[3])), "kernels are slower")
    elif what == "keep":
        times = [start for start, _, _ in kernels(read(source))]
        first, span = min(times), max(times) - min(times)
        keep(source, target, *(first + round(float(share) * span) for share in arguments[3:5]))
    elif what == "without":
        without(source, target, set(arguments[3:]))
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main(sys.argv[1:])
