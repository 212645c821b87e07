#!/usr/bin/env python3
"""Writes memory snapshots as PyTorch does, of a simulated caching allocator that knows the truth at every moment.

  make_snapshots.py            writes the fixtures into this folder
"""
import pathlib
import pickle
import random
import struct
from typing import Any, Callable

FOLDER = pathlib.Path(__file__).resolve().parent
MIB = 1 << 20
START_US = 1_794_000_000_000_000
Stack = list[dict[str, Any]]
Writer = Callable[[Any], bytes]


def rounded(size: int, step: int = 512) -> int:
    return max(-(-size // step) * step, step)


class Block:
    def __init__(self, address: int, size: int) -> None:
        self.address = address
        self.size = size
        self.requested = 0
        self.state = "inactive"
        self.stack: Stack = []


class Segment:
    def __init__(self, address: int, size: int, large: bool, stream: int, pool: tuple[int, int],
                 expandable: bool) -> None:
        self.address = address
        self.large = large
        self.stream = stream
        self.pool = pool
        self.expandable = expandable
        self.blocks = [Block(address, size)]

    def size(self) -> int:
        return sum(block.size for block in self.blocks)


class Allocator:
    """One device: best fit within pool, stream and size class, as c10/cuda/CUDACachingAllocator.cpp does it."""

    def __init__(self, capacity: int, device: int = 0, expandable: bool = False, entry_pools: bool = True) -> None:
        self.capacity = capacity
        self.device = device
        self.expandable = expandable
        self.entry_pools = entry_pools
        self.segments: list[Segment] = []
        self.trace: list[dict[str, Any]] = []
        self.truth: list[dict[str, int]] = []  # after each entry of the trace
        self.failures: list[dict[str, Any]] = []
        self.next_address = 0x7F00_0000_0000 + device * (1 << 40)
        self.time_us = START_US + device

    def reserved(self) -> int:
        return sum(segment.size() for segment in self.segments)

    def blocks(self) -> list[Block]:
        return [block for segment in self.segments for block in segment.blocks]

    def note(self, action: str, size: int, stream: int, pool: tuple[int, int], stack: Stack,
             **where: int) -> None:
        self.time_us += 7
        entry: dict[str, Any] = {"action": action, **where, "size": size, "stream": stream,
                                 "time_us": self.time_us, "frames": stack}
        if self.entry_pools:
            entry["pool_id"] = pool
        self.trace.append(entry)
        active = [block for block in self.blocks() if block.state != "inactive"]
        self.truth.append({
            "active": sum(block.requested for block in active),
            "allocated": sum(block.requested for block in active if block.state == "active_allocated"),
            "reserved": self.reserved(), "allocations": len(active)})

    def same(self, segment: Segment, large: bool, stream: int, pool: tuple[int, int]) -> bool:
        return (segment.large, segment.stream, segment.pool) == (large, stream, pool)

    def find(self, size: int, large: bool, stream: int, pool: tuple[int, int]) -> tuple[Segment, Block] | None:
        found = [(block.size, block.address, segment, block) for segment in self.segments
                 if self.same(segment, large, stream, pool)
                 for block in segment.blocks if block.state == "inactive" and block.size >= size]
        if not found:
            return None
        best = min(found, key=lambda each: each[:2])
        return best[2], best[3]

    def grow(self, size: int, large: bool, stream: int, pool: tuple[int, int], stack: Stack) -> bool:
        if self.expandable:
            return self.grow_expandable(size, large, stream, pool, stack)
        total = 2 * MIB if not large else 20 * MIB if size < 10 * MIB else rounded(size, 2 * MIB)
        if self.reserved() + total > self.capacity:
            return False
        self.segments.append(Segment(self.next_address, total, large, stream, pool, False))
        self.next_address += total + 64 * MIB
        self.note("segment_alloc", total, stream, pool, stack, addr=self.segments[-1].address)
        return True

    def grow_expandable(self, size: int, large: bool, stream: int, pool: tuple[int, int], stack: Stack) -> bool:
        step = 20 * MIB if large else 2 * MIB
        own = [each for each in self.segments if self.same(each, large, stream, pool)]
        last = own[-1].blocks[-1] if own else None
        usable = last.size if last is not None and last.state == "inactive" else 0
        total = rounded(size - usable, step)
        if self.reserved() + total > self.capacity:
            return False
        if last is None:
            own.append(Segment(self.next_address, total, large, stream, pool, True))
            self.segments.append(own[-1])
            self.next_address += 1 << 36
            address = own[-1].address
        else:
            address = last.address + last.size
            if usable:
                last.size += total
            else:
                own[-1].blocks.append(Block(address, total))
        self.note("segment_map", total, stream, pool, stack, addr=address)
        return True

    def alloc(self, requested: int, stack: Stack, stream: int = 0, pool: tuple[int, int] = (0, 0)) -> Block | None:
        size = rounded(requested)
        large = size > MIB
        found = self.find(size, large, stream, pool)
        if found is None and not self.grow(size, large, stream, pool, stack):
            self.fail(requested, large, stack, stream, pool)
            return None
        found = found or self.find(size, large, stream, pool)
        assert found is not None
        segment, block = found
        rest = block.size - size
        if rest >= 512 if not large or self.expandable else rest > MIB:
            block.size = size
            segment.blocks.insert(segment.blocks.index(block) + 1, Block(block.address + size, rest))
        block.requested, block.state, block.stack = requested, "active_allocated", stack
        self.note("alloc", requested, stream, pool, stack, addr=block.address)
        return block

    def fail(self, requested: int, large: bool, stack: Stack, stream: int, pool: tuple[int, int]) -> None:
        same = [block.size for segment in self.segments if self.same(segment, large, stream, pool)
                for block in segment.blocks if block.state == "inactive"]
        free = sum(block.size for block in self.blocks() if block.state == "inactive")
        self.failures.append({
            "requested_bytes": requested, "device_free_bytes": self.capacity - self.reserved(),
            "reserved_bytes": self.reserved(), "free_same_bytes": sum(same),
            "largest_free_same_bytes": max(same, default=0), "free_other_bytes": free - sum(same)})
        self.note("oom", requested, stream, pool, stack, device_free=self.capacity - self.reserved())

    def release(self, block: Block, stack: Stack, at_once: bool = True) -> None:
        segment = next(each for each in self.segments if block in each.blocks)
        block.state = "active_pending_free"
        self.note("free_requested", block.requested, segment.stream, segment.pool, stack, addr=block.address)
        if at_once:
            self.complete(block, stack)

    def complete(self, block: Block, stack: Stack) -> None:
        segment = next(each for each in self.segments if block in each.blocks)
        requested, block.requested, block.state, block.stack = block.requested, 0, "inactive", []
        self.note("free_completed", requested, segment.stream, segment.pool, stack, addr=block.address)
        at = segment.blocks.index(block)
        for neighbor in (at + 1, at - 1):
            if 0 <= neighbor < len(segment.blocks) and segment.blocks[neighbor].state == "inactive":
                other = segment.blocks[neighbor]
                block.address = min(block.address, other.address)
                block.size += other.size
                segment.blocks.remove(other)

    def empty_cache(self, stack: Stack) -> None:
        for segment in list(self.segments):
            if len(segment.blocks) == 1 and segment.blocks[0].state == "inactive":
                self.segments.remove(segment)
                self.note("segment_unmap" if segment.expandable else "segment_free", segment.size(), segment.stream,
                          segment.pool, stack, addr=segment.address)

    def snapshot(self) -> list[dict[str, Any]]:
        rows = []
        for segment in self.segments:
            active = [block for block in segment.blocks if block.state != "inactive"]
            rows.append({
                "device": self.device, "address": segment.address, "total_size": segment.size(),
                "allocated_size": sum(block.size for block in active if block.state == "active_allocated"),
                "active_size": sum(block.size for block in active),
                "requested_size": sum(block.requested for block in active),
                "stream": segment.stream, "segment_type": "large" if segment.large else "small",
                "segment_pool_id": segment.pool, "is_expandable": segment.expandable, "frames": [],
                "blocks": [{"address": block.address, "size": block.size, "requested_size": block.requested,
                            "state": block.state, "frames": block.stack} for block in segment.blocks]})
        return rows


def dump(allocators: list[Allocator], keep: int | None = None, **more: Any) -> dict[str, Any]:
    """The snapshot; `keep`: entries that the ring has room for."""
    full = any(keep is not None and len(each.trace) > keep for each in allocators)
    return {
        "segments": [row for each in allocators for row in each.snapshot()],
        "device_traces": [each.trace[-keep:] if keep else each.trace for each in allocators],
        "allocator_settings": {
            "PYTORCH_CUDA_ALLOC_CONF": "expandable_segments:True" if allocators[0].expandable else "",
            "max_split_size": -1, "garbage_collection_threshold": 0.0,
            "expandable_segments": allocators[0].expandable, "roundup_power2_divisions": {"1024": 0, "2048": 4},
            "trace_alloc_max_entries": keep or (1 << 63) - 1, "trace_alloc_overflowed": full,
            "API_TOKEN": "hf_thisMustNotAppear"},
        "external_annotations": [], **more}


def frame(name: str, filename: str, line: int) -> dict[str, Any]:
    return {"name": name, "filename": filename, "line": line}


class Stacks:
    """Shared frames, as PyTorch shares them."""

    def __init__(self) -> None:
        site = "/home/someone/venv/lib/python3.12/site-packages/torch/nn/modules"
        main = frame("main", "/home/someone/project/serve.py", 100)
        call = frame("_call_impl", f"{site}/module.py", 1773)
        linear = frame("forward", f"{site}/linear.py", 125)
        native = frame("at::native::empty_cuda", "??", 0)
        self.weights = [native, frame("load", "/home/someone/project/load.py", 12), main]
        self.cache = [native, frame("make_cache", "/home/someone/project/cache.py", 7), main]
        self.activation = [native, linear, call, frame("step", "/home/someone/project/model.py", 55), main]
        self.release = [frame("step", "/home/someone/project/model.py", 60), main]


def decode(expandable: bool = False, pools: bool = False) -> Allocator:
    """Weights, a cache, activations that come and go on two streams, private pools of graphs."""
    chance = random.Random(7)
    stacks = Stacks()
    memory = Allocator(4096 * MIB, expandable=expandable)
    for _ in range(6):
        memory.alloc(chance.randint(12 * MIB, 40 * MIB), stacks.weights)
    memory.alloc(300 * MIB + 13, stacks.cache)
    if pools:
        for pool in range(1, 3):
            for _ in range(3):
                memory.alloc(chance.randint(MIB // 2, 9 * MIB), stacks.activation, pool=(0, pool))
    live: list[Block] = []
    for _ in range(120):
        block = memory.alloc(chance.choice([36, 4096, 70_000, MIB - 100, 3 * MIB + 1, 24 * MIB]), stacks.activation,
                             stream=chance.choice([0, 0, 0, 11]))
        assert block is not None
        live.append(block)
        if len(live) > chance.randint(2, 12):
            memory.release(live.pop(chance.randrange(len(live))), stacks.release)
    memory.release(live.pop(), stacks.release, at_once=False)  # a stream still uses it
    return memory


def fragmented() -> Allocator:
    """Every other block is free: 240 MiB, but no more than 24 MiB in one piece."""
    stacks = Stacks()
    memory = Allocator(512 * MIB)
    blocks = []
    memory.alloc(480 * MIB, stacks.weights)
    first = memory.blocks()[0]
    memory.release(first, stacks.release)
    for _ in range(20):
        blocks.append(memory.alloc(24 * MIB, stacks.activation))
    for block in blocks[::2]:
        assert block is not None
        memory.release(block, stacks.release)
    memory.alloc(100 * MIB + 5, stacks.cache)
    # The program recovers: the snapshot is later than the failure.
    for block in blocks[1::2]:
        assert block is not None
        memory.release(block, stacks.release)
    memory.empty_cache(stacks.release)
    memory.alloc(2 * MIB, stacks.activation)
    return memory


def too_large() -> Allocator:
    stacks = Stacks()
    memory = Allocator(512 * MIB)
    memory.alloc(400 * MIB, stacks.weights)
    memory.alloc(600 * MIB, stacks.cache)
    return memory


def held_elsewhere() -> Allocator:
    """Free memory is in a private pool."""
    stacks = Stacks()
    memory = Allocator(512 * MIB)
    block = memory.alloc(300 * MIB, stacks.activation, pool=(0, 1))
    keep = memory.alloc(60 * MIB, stacks.weights)
    assert block is not None and keep is not None
    memory.release(block, stacks.release)
    memory.alloc(200 * MIB, stacks.cache)
    return memory


def jit_pickle(value: Any) -> bytes:
    """As torch::jit::Pickler writes plain data: protocol 2, memos after the whole value, 8-byte integers."""
    out = bytearray(b"\x80\x02")
    texts: dict[str, int] = {}
    shared: dict[int, int] = {}
    memos = 0

    def memo() -> int:
        nonlocal memos
        memos += 1
        out.extend(b"q" + bytes([memos - 1]) if memos <= 256 else b"r" + struct.pack("<I", memos - 1))
        return memos - 1

    def get(index: int) -> None:
        out.extend(b"h" + bytes([index]) if index < 256 else b"j" + struct.pack("<I", index))

    def put(each: Any) -> None:
        if isinstance(each, bool):
            out.extend(b"\x88" if each else b"\x89")
        elif isinstance(each, int):
            small = b"K" + bytes([each]) if 0 <= each < 256 else b"M" + struct.pack("<H", each) if 0 <= each < 65536 \
                else b"J" + struct.pack("<i", each) if -(1 << 31) <= each < 1 << 31 else None
            out.extend(small or b"\x8a\x08" + struct.pack("<q", each))
        elif isinstance(each, float):
            out.extend(b"G" + struct.pack(">d", each))
        elif isinstance(each, str):
            if each in texts:
                get(texts[each])
                return
            raw = each.encode()
            out.extend(b"X" + struct.pack("<I", len(raw)) + raw)
            texts[each] = memo()
        elif isinstance(each, tuple):
            for part in each:
                put(part)
            out.extend(b"\x86")
        elif id(each) in shared:
            get(shared[id(each)])
        elif isinstance(each, dict):
            out.extend(b"}")
            if each:
                out.extend(b"(")
                for key, part in each.items():
                    put(key)
                    put(part)
                out.extend(b"u")
            shared[id(each)] = memo()
        else:
            out.extend(b"](")
            for part in each:
                put(part)
            out.extend(b"e")
            shared[id(each)] = memo()

    put(value)
    return bytes(out + b".")


def self_containing() -> bytes:
    """A list that contains itself."""
    snapshot = dump([too_large()])
    loop: list[Any] = []
    loop.append(loop)
    snapshot["device_traces"] = loop
    return pickle.dumps(snapshot, protocol=4)


def billion_laughs() -> bytes:
    """A list of ten times the same list, nested: 10^30 entries when it is expanded."""
    laughs: list[Any] = [{"name": "a", "filename": "b", "line": 1}]
    for _ in range(30):
        laughs = [laughs] * 10
    return pickle.dumps({**dump([too_large()]), "device_traces": laughs}, protocol=4)


class Evil:
    def __reduce__(self) -> Any:
        return print, ("this must not run",)


def calling(protocol: int) -> bytes:
    """Calls a function when it is unpickled."""
    return pickle.dumps({**dump([too_large()]), "external_annotations": [Evil()]}, protocol=protocol)


def annotated() -> dict[str, Any]:
    """With the times that the program named."""
    memory = decode(pools=True)
    marks = [{"stage": stage, "name": name, "device": 0, "time_us": memory.trace[at]["time_us"]}
             for stage, name, at in (("START", "load", 0), ("END", "load", 13), ("START", "decode", 30))]
    return dump([memory], external_annotations=marks)


FIXTURES: dict[str, Callable[[], bytes]] = {
    "decode_protocol4.pickle": lambda: pickle.dumps(annotated(), protocol=4),
    "fragmented_protocol5.pickle": lambda: pickle.dumps(dump([fragmented()]), protocol=5),
    "too_large_protocol2.pickle": lambda: pickle.dumps(dump([too_large()]), protocol=2),
    "held_elsewhere_jit.pickle": lambda: jit_pickle(dump([held_elsewhere()])),
    "calls_a_function.pickle": lambda: calling(4),
    "contains_itself.pickle": self_containing,
    "billion_laughs.pickle": billion_laughs,
}


def main() -> None:
    for name, make in FIXTURES.items():
        (FOLDER / name).write_bytes(make())


if __name__ == "__main__":
    main()
