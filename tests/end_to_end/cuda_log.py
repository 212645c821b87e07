"""Writes logs like the collector's of a program that uses CUDA, only from the format's description
(docs/collector.md): a small decoder with an eager prefill, and a decode that replays a CUDA graph or
is eager as well. The writer knows what it wrote, and so what an analysis must find.

    cuda_log.py PATH [CHUNK_BYTES]      writes the fixture tests/data/collector_log/cuda.llmtrace
    cuda_log.py served LOG REQUESTS     writes served.llmtrace there, and tests/data/requests/served.json
"""
import collections
import json
import struct
import sys

MASK = (1 << 64) - 1
ODD = 0x9FB21C651E98DF25
CONTROL, STRINGS, THREAD, DEVICE = 1, 2, 3, 4  # kinds of chunks
NO_VALUE = float("nan")

(STRING, THREAD_INFO, PUSH, POP) = (1, 2, 3, 4)
(CLEAN_END, VARIABLE) = (11, 12)
(SESSION, GPU, COLLECTION, API_NAME, LAUNCH, API_CALL, NODE_CREATED, NODE_CLONED) = range(64, 72)
(KERNEL_DEFINITION, KERNELS, LONG_KERNEL, MEMORY_DEFINITION, MEMORY_OPERATION) = range(72, 77)
(COUNTER_SET, COUNTER_SAMPLE) = (79, 80)
TRACING, DETACHED = 3, 1
PROGRAM_START, PROCESS_END = 1, 10


def checksum(seed, data):
    state = ((seed + 1) * ODD) & MASK
    for (word,) in struct.iter_unpack("<Q", data):
        state = ((state ^ word) * ODD) & MASK
        state ^= state >> 32
    return ((state * ODD) & MASK) >> 32


class LogFile:
    """Chunks and records. Each stream (a thread, the GPUs, the strings) fills its own chunks."""

    def __init__(self, chunk_bytes=65536):
        self.chunk_bytes = chunk_bytes
        self.chunks = []
        self.streams = {}
        self.keys = {}
        self.new_chunk(CONTROL, 0, bytes(256))
        self.streams["control"] = 0

    def new_chunk(self, kind, thread, front=b""):
        sequence = len(self.chunks)
        header = struct.pack("<IIQII", 0x4B4E4843, kind, sequence, thread, 0)
        self.chunks.append(bytearray(front + header + struct.pack("<Q", checksum(sequence, header))))
        return sequence

    def record(self, stream, number, payload):
        payload += bytes(-len(payload) % 8)
        size = 8 + len(payload)
        chunk = self.streams.get(stream)
        if chunk is None or len(self.chunks[chunk]) + size > self.chunk_bytes:
            chunk = self.begin_chunk(stream)
        value = checksum((number << 48) ^ (size << 32) ^ chunk, payload)
        self.chunks[chunk] += struct.pack("<HHI", number, size, value) + payload

    def begin_chunk(self, stream):
        if stream == "strings":
            self.streams[stream] = self.new_chunk(STRINGS, 0)
        elif stream == "device":
            self.streams[stream] = self.new_chunk(DEVICE, 0)
        else:
            serial, thread_id = stream
            self.streams[stream] = self.new_chunk(THREAD, serial)
            self.record(stream, THREAD_INFO, struct.pack("<II16s", serial, thread_id, b"python"))
        return self.streams[stream]

    def key(self, text):
        if text not in self.keys:
            self.keys[text] = len(self.keys) + 1
            data = text.encode()
            self.record("strings", STRING, struct.pack("<IHH", self.keys[text], len(data), 0) + data)
        return self.keys[text]

    def write(self, path, process_id=4711):
        header = struct.pack(
            "<8sIHHIIQQqq64s64s16s48x", b"LLMTRACE", 0x01020304, 1, 1, 256, self.chunk_bytes, process_id, 1,
            1000, 1_700_000_000_000_001_000, b"python3", b"example", b"0.1.0",
        )
        self.chunks[0][:256] = header + struct.pack("<Q", checksum(0, header))
        with open(path, "wb") as file:
            for chunk in self.chunks:
                file.write(chunk + bytes(self.chunk_bytes - len(chunk)))


RMS_NORM = "_ZN4vllm15rms_norm_kernelIN3c108BFloat16EEEvPT_PKS3_S6_fii"
SHOWN = {RMS_NORM: "void vllm::rms_norm_kernel<c10::BFloat16>(c10::BFloat16*, c10::BFloat16 const*, "
                   "c10::BFloat16 const*, float, int, int)"}
PARTS = {
    "attn": (RMS_NORM, "nvjet_tst_128x64_qkv", "flash_fwd_splitkv_kernel", "nvjet_tst_64x64_o"),
    "mlp": (RMS_NORM, "nvjet_tst_128x128_up", "silu_and_mul_kernel", "nvjet_tst_64x128_down"),
}
EMBEDDING, HEAD = "embedding_kernel", "nvjet_tst_256x64_head"
MAIN_THREAD = (1, 4711)
API = {"cudaLaunchKernel": 1, "cudaGraphLaunch": 2, "cudaStreamSynchronize": 3, "cudaMemcpyAsync": 4}
GRAPH = 5
BATCHED_KERNELS = 64


class Program:
    """Runs the decoder on a simulated clock and records it."""

    def __init__(self, chunk_bytes=65536, layers=4):
        self.log = LogFile(chunk_bytes)
        self.layers = layers
        self.now = 1_000_000
        self.gpu_free = 0
        self.correlation = 0
        self.open = []
        self.definitions = {}
        self.pending = []
        self.nodes = []  # (kernel name, layer, part, node) of the graph
        self.stage = None  # stage and whether it is warm-up, for the truth
        # name -> [calls, ns]; (stage, layer or layer/part) -> [kernels, ns]; stage -> [[kernels, ns], ...]
        self.kernels = collections.defaultdict(lambda: [0, 0])
        self.layer_times = collections.defaultdict(lambda: [0, 0])
        self.instances = collections.defaultdict(list)
        self.samples = []

    def start(self):
        log = self.log
        log.record("control", SESSION, struct.pack("<qIIII", self.now, 13000, 130001, log.key("/opt/libcupti.so.13"), 0))
        uuid = bytes(range(16))
        log.record("control", GPU, struct.pack("<IIQQQII16s64s", 0, 132, 150_109_880_320, 4_814_304_000_000,
                                               1_980_000_000, 9, 0, uuid, b"NVIDIA H200"))
        log.record("control", VARIABLE, struct.pack("<II", log.key("RANK"), log.key("0")))
        self.collection(TRACING, PROGRAM_START)

    def collection(self, state, reason):
        self.log.record("control", COLLECTION, struct.pack("<qIIQII", self.now, state, reason, 0, 0, 0))

    def end(self):
        self.flush_kernels()
        log = self.log
        for name, code in API.items():  # after their use: a reader resolves them last
            log.record("strings", API_NAME, struct.pack("<II", log.key(name), code))
        self.collection(DETACHED, PROCESS_END)
        log.record("control", CLEAN_END, struct.pack("<qQQ", self.now, 0, len(log.chunks)))

    def push(self, name):
        log = self.log
        log.record(MAIN_THREAD, PUSH, struct.pack("<qIIII", self.now, log.key(name), log.key("LLM"), len(self.open), 0))
        self.open.append(name)
        self.now += 100

    def pop(self):
        self.open.pop()
        self.log.record(MAIN_THREAD, POP, struct.pack("<qII", self.now, self.log.key("LLM"), len(self.open)))
        self.now += 100

    def definition(self, name, graph=0, node=0):
        known = self.definitions.get((name, node))
        if known is None:
            known = self.definitions[name, node] = len(self.definitions) + 1
            self.log.record("device", KERNEL_DEFINITION, struct.pack(
                "<16IQ", known, self.log.key(name), 132, 1, 1, 128, 1, 1, 64, 0, 1024, 0, 1, 7, graph, 0, node))
        return known

    def flush_kernels(self):
        if not self.pending:
            return
        base = self.pending[0][0]
        payload = struct.pack("<qII", base, len(self.pending), 0)
        payload += b"".join(
            struct.pack("<iIII", start - base, duration, correlation, definition)
            for start, duration, correlation, definition in self.pending
        )
        self.log.record("device", KERNELS, payload)
        self.pending = []

    def run_kernel(self, name, duration, correlation, layer=None, part=None, node=0):
        start = max(self.now + 500, self.gpu_free + 200)
        definition = self.definition(name, GRAPH if node else 0, node)
        self.pending.append((start, duration, correlation, definition))
        self.gpu_free = start + duration
        if len(self.pending) == BATCHED_KERNELS:
            self.flush_kernels()
        self.account(name, duration, layer, part)

    def account(self, name, duration, layer, part):
        stage, warm_up = self.stage
        counts = [self.kernels[SHOWN.get(name, name)]]
        if not warm_up:
            counts.append(self.instances[stage][-1])
            counts.append(self.layer_times[stage, layer or "outside layers"])
            if part:
                counts.append(self.layer_times[stage, f"{layer}/{part}"])
        for count in counts:
            count[0] += 1
            count[1] += duration

    def call(self, name, duration):
        self.correlation += 1
        self.log.record(MAIN_THREAD, LAUNCH, struct.pack(
            "<qII", self.now, (API[name] << 24) | duration, self.correlation))
        self.now += duration + 400
        return self.correlation

    def synchronise(self):
        end = max(self.now, self.gpu_free) + 1000
        self.log.record(MAIN_THREAD, API_CALL, struct.pack("<qqII", self.now, end, 0, API["cudaStreamSynchronize"]))
        self.now = end + 100

    def each_kernel(self, inside):
        """(name, layer, part, place) in the order of a forward pass; `inside` opens and closes ranges."""
        place = 0
        yield EMBEDDING, None, None, place
        for number in range(self.layers):
            layer = f"layer_{number:02}"
            if inside:
                self.push(layer)
            for part, names in PARTS.items():
                if inside:
                    self.push(part)
                for name in names:
                    place += 1
                    yield name, layer, part, place
                if inside:
                    self.pop()
            if inside:
                self.pop()
        yield HEAD, None, None, place + 1

    def eager_pass(self, scale):
        for name, layer, part, place in self.each_kernel(True):
            correlation = self.call("cudaLaunchKernel", 3000)
            self.run_kernel(name, scale * (1000 + 10 * place), correlation, layer, part)

    def capture_graph(self):
        """Nodes are created inside the layers' ranges; instantiating clones them, outside any range."""
        for name, layer, part, place in self.each_kernel(True):
            self.log.record(MAIN_THREAD, NODE_CREATED, struct.pack("<Q", 1000 + place))
            self.nodes.append((name, layer, part, place))
            self.now += 300
        for _, _, _, place in self.nodes:
            self.log.record(MAIN_THREAD, NODE_CLONED, struct.pack("<QQ", 5000 + place, 1000 + place))

    def replay(self):
        correlation = self.call("cudaGraphLaunch", 9000)
        for name, layer, part, place in self.nodes:
            self.run_kernel(name, 500 + 7 * place, correlation, layer, part, 5000 + place)

    def copy(self):
        if "copy" not in self.definitions:
            self.definitions["copy"] = len(self.definitions) + 1
            self.log.record("device", MEMORY_DEFINITION, struct.pack(
                "<8IQ", self.definitions["copy"], 0, 1, 0, 1, 7, 0, 0, 0))
        correlation = self.call("cudaMemcpyAsync", 2000)
        start = max(self.now, self.gpu_free + 200)
        self.log.record("device", MEMORY_OPERATION, struct.pack(
            "<qqQII", start, start + 700, 4096, correlation, self.definitions["copy"]))
        self.gpu_free = start + 700

    def request(self, steps, warm_up=False, graph=True):
        for stage, label in (("prefill", "prefill"), ("decode", "decode_all")):
            self.stage = (stage, warm_up)
            if not warm_up:
                self.instances[stage].append([0, 0])
            self.push(label)
            if stage == "prefill":
                self.copy()
                self.eager_pass(10)
            for _ in range(steps if stage == "decode" else 0):
                self.push("decode_step")
                if graph:
                    self.replay()
                else:
                    self.eager_pass(1)
                self.pop()
            self.synchronise()
            self.pop()

    def sample_counters(self, times):
        log = self.log
        columns = (("dram__bytes_read.sum", "byte"), ("power", "W"))
        payload = struct.pack("<IIqII", 1, 0, 100_000, len(columns), 0)
        payload += b"".join(struct.pack("<II", log.key(name), log.key(unit)) for name, unit in columns)
        for i in range(times):
            end = self.now + 100_000
            values = (1024.0 * i, 300.5 if i % 2 == 0 else NO_VALUE)
            self.samples.append(values)
            log.record("device", COUNTER_SAMPLE, struct.pack("<qqII2d", self.now, end, 1, 2, *values))
            self.now = end
        log.record("device", COUNTER_SET, payload)


def small_run(path, chunk_bytes=65536):
    """A warm-up that captures the graph, then two requests of three decode steps."""
    program = Program(chunk_bytes)
    program.start()
    program.push("warm_up")
    program.push("capture")
    program.capture_graph()
    program.pop()
    program.request(2, warm_up=True)
    program.pop()
    for _ in range(2):
        program.request(3)
    program.sample_counters(4)
    program.end()
    program.log.write(path)
    return program


# Steps of a server with two slots and chunks of 64 tokens: prompt tokens, sequences that decode, and whose tokens they
# give. Request 1's prompt takes two steps; request 2 waits until request 0 leaves its slot.
SERVED_STEPS = [(48, 0, [0]), (63, 1, [0]), (17, 1, [0, 1]), (0, 2, [0, 1]), (16, 1, [1, 2]), (0, 2, [1, 2]),
                (0, 1, [2]), (0, 1, [2])]
SERVED_PROMPTS = [48, 80, 16]
SENT_BEFORE = {0: 0, 1: 1, 2: 2}  # request -> the step that began next
DELIVERY_NS = 20_000


def served_run(path, chunk_bytes=2048):
    """A server whose steps are annotated. Returns its client's record (requests.json)."""
    program = Program(chunk_bytes, layers=2)
    program.start()
    program.stage = ("served", True)
    sent, chunks = {}, collections.defaultdict(list)
    for number, (prompt, decode, tokens) in enumerate(SERVED_STEPS):
        sent |= {request: program.now - 7_000 for request, step in SENT_BEFORE.items() if step == number}
        program.now += 5_000  # the scheduler
        program.push(f"engine_step prefill={int(prompt > 0)}({prompt}) decode={decode}({decode})")
        program.eager_pass(1 + prompt // 8)
        program.synchronise()
        program.pop()
        for request in tokens:
            chunks[request].append([program.now + DELIVERY_NS + 1_000 * request, 1])
    program.now += 1_000_000
    program.end()
    program.log.write(path)
    requests = [{"id": request, "scheduled_ns": sent[request] - 500, "sent_ns": sent[request],
                 "chunks": chunks[request], "end_ns": chunks[request][-1][0] + 3_000,
                 "prompt_tokens": SERVED_PROMPTS[request], "output_tokens": len(chunks[request]), "status": "completed"}
                for request in sorted(sent)]
    return {"format": "llmprof requests", "version": 1, "clock": "CLOCK_MONOTONIC ns", "arrivals": "poisson",
            "slo": {"ttft_ms": 0.26, "e2e_ms": 0.49}, "requests": requests}


def large_eager_run(path, kernels):
    """Each kernel has its own launch, in decode steps of 32 layers."""
    program = Program(layers=32)
    program.start()
    a_pass = 2 + program.layers * sum(map(len, PARTS.values()))
    for _ in range(-(-kernels // (a_pass * 65))):
        program.request(64, graph=False)
    program.end()
    program.log.write(path)
    return program


if __name__ == "__main__" and sys.argv[1] == "served":
    with open(sys.argv[3], "w", encoding="utf-8") as record:
        json.dump(served_run(sys.argv[2]), record, indent=1)
        record.write("\n")
elif __name__ == "__main__":
    small_run(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 65536)
