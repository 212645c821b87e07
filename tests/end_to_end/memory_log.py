"""Writes a log like the collector's of a program that allocates GPU memory of every kind, only from the format's
description (docs/collector.md). The writer knows what it allocated, and what NVML would say.

    memory_log.py PATH      writes the fixture tests/data/collector_log/memory.llmtrace
"""
import struct
import sys

import cuda_log

MIB = 1 << 20
EVENT, ALLOCATION_CALL, READING, CUPTI_MEMORY = 87, 88, 89, 90
ALLOCATION, RELEASE, CREATE, MAP, RELEASE_HANDLE = 1, 2, 6, 7, 9
DEVICE, MANAGED = 3, 5
BEFORE_CONTEXT, RUNNING, END = 1, 2, 3
TOTAL, RESERVED, OTHERS, CONTEXT = 143_771 * MIB, 615 * MIB, 100 * MIB, 518 * MIB
CUPTI_BUFFERS = (3_200_000, 3)
HEAP, VIRTUAL, POOL, HANDLE = 1 << 40, 2 << 40, 0x5000, 77
MILLISECOND = 1_000_000
PAGE = 2 * MIB
# meta-llama/Llama-3.2-1B in bf16: 1,235,814,400 parameters; 16 layers x 8 heads x 64 values x keys and values x 2 B.
WEIGHTS = 2 * 1_235_814_400
KV_PER_TOKEN = 16 * 8 * 64 * 2 * 2
CUBLAS = 67_239_936


class Recorder(cuda_log.Program):
    """Also allocates, and reads what is used: the sum of what it knows."""

    def __init__(self, chunk_bytes, kv_tokens=8192, others=OTHERS):
        super().__init__(chunk_bytes)
        self.kv_tokens = kv_tokens
        self.others = others
        self.used = others
        self.events = 0
        self.readings = []  # (time, what is used or reserved)

    def event(self, action, address=0, size=0, kind=0, owner=0, pool=(0, 0), library=""):
        self.correlation += 1
        self.events += 1
        self.now += MILLISECOND
        key = self.log.key(library) if library else 0
        self.log.record(cuda_log.MAIN_THREAD, ALLOCATION_CALL, struct.pack("<II", self.correlation, 0))
        self.log.record("device", EVENT, struct.pack(
            "<qIIQQQQQIIIIII", self.now, action, kind, address, size, owner, *pool, 0, 1, 0, self.correlation, key, 0))

    def allocate(self, address, size, takes, library=""):
        self.event(ALLOCATION, address, size, DEVICE, library=library)
        self.used += takes

    def read(self, moment=RUNNING):
        self.now += 100 * MILLISECOND
        self.readings.append((self.now, self.used + RESERVED))
        own = self.used - self.others
        self.log.record("device", READING, struct.pack(
            "<qIIQQQQQQ", self.now, 0, moment, TOTAL, TOTAL - RESERVED - self.used, self.used, RESERVED, own, self.others))
        self.now += 100 * MILLISECOND

    def load(self):
        self.log.record("device", CUPTI_MEMORY, struct.pack("<QQ", *CUPTI_BUFFERS))
        self.read(BEFORE_CONTEXT)
        self.used += CONTEXT
        self.read()
        self.allocate(HEAP, WEIGHTS, -(-WEIGHTS // PAGE) * PAGE, "/opt/libggml-cuda.so")
        cache = self.kv_tokens * KV_PER_TOKEN
        self.allocate(HEAP + 4096 * MIB, cache, cache, "/opt/libggml-cuda.so")
        self.allocate(HEAP + 8192 * MIB, CUBLAS, 66 * MIB, "/opt/libcublas.so.13")
        self.allocate(HEAP + 9000 * MIB, 166 * MIB, 166 * MIB, "/torch/lib/libc10_cuda.so")
        self.allocate(HEAP + 10_000 * MIB, 256 * MIB, 256 * MIB)
        self.event(RELEASE, HEAP + 10_000 * MIB)
        self.used -= 256 * MIB
        self.event(ALLOCATION, HEAP + 20_000 * MIB, 128 * MIB, DEVICE, POOL, (160 * MIB, 128 * MIB))
        self.used += 160 * MIB
        self.event(ALLOCATION, HEAP + 30_000 * MIB, 32 * MIB, MANAGED)
        self.used += 128 * MIB
        self.event(CREATE, size=64 * MIB, owner=HANDLE)
        self.event(MAP, VIRTUAL, 64 * MIB, owner=HANDLE)
        self.event(RELEASE_HANDLE, owner=HANDLE)
        self.used += 64 * MIB
        self.read()


def recorded_run(path, **options):
    program = Recorder(2048, **options)
    program.start()
    program.load()
    program.push("warm_up")
    program.request(2, warm_up=True, graph=False)
    program.pop()
    program.read()
    program.request(3, graph=False)
    program.used += 3 * MIB  # nobody allocated it
    program.read(END)
    program.end()
    program.log.write(path)
    return program


if __name__ == "__main__":
    recorded_run(sys.argv[1])
