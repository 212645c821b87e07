#!/usr/bin/env python3
"""Makes the files of this folder from the tools' original captures.

  pack.py ORIGINALS      a folder with h200-llama-eager, h200-dense-graph and h200-hf

Rows that a reader reads stay unchanged. Tables and values that no reader reads are removed (including the
machine's environment, processes and threads), to keep the archives small.
"""
import gzip
import io
import pathlib
import re
import sqlite3
import sys
import tarfile
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
FOLDERS = ("h200-llama-eager", "h200-dense-graph", "h200-hf")
KEPT_TABLES = re.compile(
    "StringIds|NVTX_EVENTS|CUDA_GRAPH_NODE_EVENTS|CUPTI_ACTIVITY_KIND_.*|DIAGNOSTIC_EVENT|META_DATA_EXPORT"
    "|TARGET_INFO_(SYSTEM_ENV|SESSION_START_TIME|GPU|CUDA_DEVICE)|ENUM_(NSYS_EVENT_TYPE|CUDA_MEMCPY_OPER)"
)
# Two of three calls of hf_continuous_batching query the driver for a kernel's name.
QUERIES = "SELECT id FROM StringIds WHERE value LIKE 'cuKernel%' OR value LIKE 'cuGetProcAddress%'"
# Arrows from calls to kernels, which only viewers use.
ARROW = re.compile(r'\{\s*"ph": "[sf]", [^{}]*"cat": "ac2g"[^{}]*\},\s*')


def pack_sqlite(source, path):
    path.write_bytes(source.read_bytes())
    database = sqlite3.connect(path)
    tables = [name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    for table in tables:
        if not KEPT_TABLES.fullmatch(table):
            database.execute(f'DROP TABLE "{table}"')
    database.execute("DELETE FROM TARGET_INFO_SYSTEM_ENV WHERE name NOT IN ('NvDriverVersion', 'CudaDriverVersion')")
    database.execute("DELETE FROM META_DATA_EXPORT WHERE name NOT LIKE 'EXPORT_PRODUCT%' AND name NOT LIKE 'EXPORT_SCHEMA%'")
    database.execute("UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET gridId = 0")
    if source.stem == "hf_continuous_batching":
        database.execute(f"DELETE FROM CUPTI_ACTIVITY_KIND_RUNTIME WHERE nameId IN ({QUERIES})")
    database.commit()
    database.execute("VACUUM")
    database.close()


def pack(source, target):
    target.mkdir(exist_ok=True)
    for path in sorted(source.iterdir()):
        if path.suffix == ".sqlite":
            with tempfile.TemporaryDirectory() as scratch:
                packed = pathlib.Path(scratch) / path.name
                pack_sqlite(path, packed)
                content = packed.read_bytes()
            with tarfile.open(target / f"{path.name}.tar.xz", "w:xz", preset=9) as archive:
                member = tarfile.TarInfo(path.name)
                member.size = len(content)
                archive.addfile(member, io.BytesIO(content))
        elif path.name == "kineto_graph.json.gz":
            text = gzip.decompress(path.read_bytes()).decode()
            (target / path.name).write_bytes(gzip.compress(ARROW.sub("", text).encode(), 9, mtime=0))
        elif path.suffix != ".py":
            (target / path.name).write_bytes(path.read_bytes())


if __name__ == "__main__":
    for name in FOLDERS:
        pack(pathlib.Path(sys.argv[1]) / name, HERE / name)
