"""Copies of a real nsys capture with a known change: kernels slowed down, renamed, fused."""
import bisect
import re
import shutil
import sqlite3

KERNELS = "CUPTI_ACTIVITY_KIND_KERNEL"
RUNTIME = "CUPTI_ACTIVITY_KIND_RUNTIME"


def copied(source, target):
    shutil.copy(source, target)
    target.chmod(0o644)
    return sqlite3.connect(target)


def names(database):
    return dict(database.execute("SELECT id, value FROM StringIds"))


def new_string(database, text):
    number = database.execute("SELECT max(id) FROM StringIds").fetchone()[0] + 1
    database.execute("INSERT INTO StringIds (id, value) VALUES (?, ?)", (number, text))
    return number


def slow_down(source, target, pattern, factor):
    """Kernels whose name matches take `factor` times as long; everything after them shifts."""
    database = copied(source, target)
    matching = {number for number, text in names(database).items() if re.search(pattern, text)}
    rows = database.execute(f"SELECT start, end, demangledName FROM {KERNELS} ORDER BY start").fetchall()
    starts, ends, before, extras = [], [], [], []
    total = 0
    for start, end, name in rows:
        if name not in matching:
            continue
        starts.append(start)
        ends.append(end)
        before.append(total)
        extras.append(round((end - start) * (factor - 1)))
        total += extras[-1]

    def moved(time):
        if time is None:
            return None
        at = bisect.bisect_right(starts, time) - 1
        if at < 0:
            return time
        inside = min(time, ends[at]) - starts[at]
        length = max(ends[at] - starts[at], 1)
        return time + before[at] + round(extras[at] * inside / length)

    database.create_function("moved", 1, moved, deterministic=True)
    tables = [name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    for table in tables:
        columns = {row[1] for row in database.execute(f"PRAGMA table_info({table})")}
        for column in {"start", "end", "timestamp"} & columns:
            database.execute(f'UPDATE {table} SET "{column}" = moved("{column}")')
    database.commit()
    database.close()
    return len(starts)


def rename(source, target, old, new):
    """Renames all kernels with this complete name."""
    database = copied(source, target)
    changed = database.execute("UPDATE StringIds SET value = ? WHERE value = ?", (new, old)).rowcount
    database.commit()
    database.close()
    return changed


# Kernels of an eager RMS norm, by a word in each name.
RMS_NORM = ("copy", "pow", "Mean", "add", "rsqrt", "Mul", "copy", "Mul")


def fuse_norms(source, target, kernel="rms_norm_kernel"):
    """Replaces each chain of RMS_NORM with one kernel at its place, as long as its longest part. Launches of the other
    kernels are removed too: a launch without its kernel is lost data."""
    database = copied(source, target)
    launched = set(database.execute(f"SELECT DISTINCT globalPid, correlationId FROM {KERNELS}"))
    text = names(database)
    fused = new_string(database, kernel)
    rows = database.execute(
        f"SELECT rowid, start, end, demangledName FROM {KERNELS} ORDER BY start").fetchall()
    chains = 0
    at = 0
    while at + len(RMS_NORM) <= len(rows):
        chain = rows[at:at + len(RMS_NORM)]
        if not all(re.search(word, text[row[3]], re.I) for word, row in zip(RMS_NORM, chain)):
            at += 1
            continue
        first = chain[0]
        longest = max(row[2] - row[1] for row in chain)
        database.execute(
            f"UPDATE {KERNELS} SET demangledName = ?, shortName = ?, mangledName = NULL, end = ? WHERE rowid = ?",
            (fused, fused, min(first[1] + longest, chain[-1][2]), first[0]))
        database.executemany(f"DELETE FROM {KERNELS} WHERE rowid = ?", [(row[0],) for row in chain[1:]])
        chains += 1
        at += len(RMS_NORM)
    gone = launched - set(database.execute(f"SELECT DISTINCT globalPid, correlationId FROM {KERNELS}"))
    database.executemany(
        f"DELETE FROM {RUNTIME} WHERE globalTid / 0x1000000 * 0x1000000 = ? AND correlationId = ?", gone)
    database.commit()
    database.close()
    return chains
