"""Makes captures of any size, scaled up from the real ones in tests/data/h200-decoder."""
import collections
import gzip
import pathlib
import re
import shutil
import sqlite3
import struct
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "tests" / "end_to_end"))
import cuda_log  # noqa: E402

DECODER = pathlib.Path(__file__).resolve().parents[1] / "tests" / "data" / "h200-decoder"


def nsys_sqlite(path, kernels):
    """Repeats the GPU and CPU tables of the real export, each time later and with new correlation ids."""
    shutil.copy(DECODER / "nsys.sqlite", path)
    database = sqlite3.connect(path)
    database.execute("PRAGMA journal_mode = OFF")
    database.execute("PRAGMA synchronous = OFF")
    (present,) = database.execute("SELECT count(*) FROM CUPTI_ACTIVITY_KIND_KERNEL").fetchone()
    first, last, largest = database.execute(
        'SELECT min(start), max("end"), max(correlationId) FROM CUPTI_ACTIVITY_KIND_RUNTIME'
    ).fetchone()
    tables = [
        "CUPTI_ACTIVITY_KIND_KERNEL",
        "CUPTI_ACTIVITY_KIND_RUNTIME",
        "CUPTI_ACTIVITY_KIND_MEMCPY",
        "CUPTI_ACTIVITY_KIND_MEMSET",
        "NVTX_EVENTS",
    ]
    for table in tables:
        columns = [row[1] for row in database.execute(f"PRAGMA table_info({table})")]
        shifted = ", ".join(
            f'"{name}" + :time' if name in ("start", "end")
            else f'"{name}" + :correlation' if name == "correlationId"
            else f'"{name}"'
            for name in columns
        )
        database.execute(f"CREATE TEMP TABLE original AS SELECT * FROM {table}")
        for copy in range(1, -(-kernels // present)):
            database.execute(
                f"INSERT INTO {table} SELECT {shifted} FROM original",
                {"time": (last - first + 1_000_000) * copy, "correlation": (largest + 1) * copy},
            )
        database.execute("DROP TABLE original")
    database.commit()
    database.close()


def noisy_nsys_sqlite(path, kernels):
    """Like nsys_sqlite, but without equal times: starts move by up to 0.8 us, durations by up to a twelfth. Copies of
    one capture would compress far better than any real program's times."""
    nsys_sqlite(path, kernels)
    database = sqlite3.connect(path)
    database.execute("PRAGMA journal_mode = OFF")
    database.execute("PRAGMA synchronous = OFF")
    for table, moved in (("KERNEL", 400), ("RUNTIME", 800)):
        database.execute(f"UPDATE CUPTI_ACTIVITY_KIND_{table} SET start = start + abs(random()) % {moved}")
        database.execute(f'UPDATE CUPTI_ACTIVITY_KIND_{table} SET "end" = max(start + 1, "end" + abs(random()) '
                         '% (max("end" - start, 0) / 12 + 16))')
    database.commit()
    database.close()


def kineto_json(path, size):
    """Repeats the events of the real trace until the file has `size` bytes."""
    text = gzip.decompress((DECODER / "kineto.json.gz").read_bytes())
    begin = text.index(b'"traceEvents": [') + len(b'"traceEvents": [')
    end = text.rindex(b"}", 0, text.rindex(b"]", begin)) + 1
    head, events, tail = text[:begin], text[begin:end], text[end:]
    with open(path, "wb") as file:
        file.write(head)
        file.write(events)
        while file.tell() + len(events) + len(tail) + 1 < size:
            file.write(b",")
            file.write(events)
        file.write(tail)


def ncu_csv(path, size):
    """Repeats the launches of the real raw page, renumbered, until the file has `size` bytes."""
    text = gzip.decompress((DECODER / "ncu_raw.csv.gz").read_bytes()).decode()
    lines = text.splitlines(keepends=True)
    head, rows = "".join(lines[:2]), [re.sub(r'^"\d+",', "", line) for line in lines[2:]]
    with open(path, "w", encoding="utf-8") as file:
        file.write(head)
        number = 0
        while file.tell() < size:
            block = []
            for row in rows:
                block.append(f'"{number}",{row}')
                number += 1
            file.write("".join(block))


def torch_memory(path, size):
    """A memory snapshot as Python's pickle (protocol 4) writes it: allocations of 24 lines of stack each, whose lines
    are shared, and their frees. Returns the number of events."""
    memos = 0
    texts = {}

    def memoized(opcodes):
        nonlocal memos
        memos += 1
        return opcodes + b"\x94"

    def text(word):
        if word in texts:
            return b"j" + struct.pack("<I", texts[word])
        raw = word.encode()
        written = memoized(b"\x8c" + bytes([len(raw)]) + raw)
        texts[word] = memos - 1
        return written

    def number(value):
        return b"\x8a\x08" + struct.pack("<q", value)

    with open(path, "wb") as file:
        file.write(b"\x80\x04" + memoized(b"}") + b"(" + text("device_traces") + memoized(b"]") + memoized(b"]"))
        # The lines are those of one first event, whose stack has all of them.
        lines = []
        head = [memoized(b"}"), b"(", text("action"), text("alloc"), text("addr"), number(1), text("size"), number(512),
                text("stream"), b"K\x00", text("time_us"), number(1_700_000_000_000_000), text("frames"),
                memoized(b"]"), b"("]
        for line in range(600):
            head.append(memoized(b"}"))
            lines.append(b"j" + struct.pack("<I", memos - 1))
            head += [b"(", text("name"), text(f"function_{line % 97}"), text("filename"),
                     text(f"/srv/app/module_{line % 31}.py"), text("line"), b"M" + struct.pack("<H", line), b"u"]
        file.write(b"".join(head) + b"eua")
        stacks = [b"]\x94(" + b"".join(lines[(start * 7 + i) % 600] for i in range(24)) + b"e" for start in range(400)]
        keys = {word: text(word) for word in ("action", "alloc", "addr", "size", "stream", "time_us", "frames")}
        free = b"\x8c\x0efree_completed"  # without a memo: each is written out
        events, live = 1, collections.deque()
        while file.tell() < size:
            batch = [b"("]
            for _ in range(1000):
                events += 1
                releases = len(live) > 5000
                address = live.popleft() if releases else 0x7F0000000000 + 4096 * events
                if not releases:
                    live.append(address)
                batch += [b"}\x94(", keys["action"], free if releases else keys["alloc"], keys["addr"], number(address),
                          keys["size"], b"M\x00\x10", keys["stream"], b"K\x00", keys["time_us"],
                          number(1_700_000_000_000_000 + 3 * events), keys["frames"], stacks[events % 400], b"u"]
            file.write(b"".join(batch) + b"e")
        file.write(b"a" + text("segments") + b"]" + b"u.")
    return events


def collector_log(path, kernels):
    """Writes a log of eager decode steps; every kernel has its own launch."""
    cuda_log.large_eager_run(path, kernels)
