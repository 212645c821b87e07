"""The part of torch that hf_llm.py uses, for tests on machines without it.

Tensors are lists of rows of numbers; `events` lists all requests to the device.
"""
import contextlib
import types

__version__ = "stand-in"
version = types.SimpleNamespace(cuda="0.0")
events = []
bfloat16, float16, float32, long = "bfloat16", "float16", "float32", "long"


class OutOfMemoryError(RuntimeError):
    pass


class Tensor:
    def __init__(self, rows):
        self.rows = [list(row) for row in rows]
        self.device = "stand-in"

    @property
    def shape(self):
        return (len(self.rows), len(self.rows[0]))

    def __getitem__(self, place):
        row, column = place
        return self.rows[row][column]

    def copy_(self, other):
        self.rows = [list(row) for row in other.rows]

    def fill_(self, value):
        self.rows = [[value for _ in row] for row in self.rows]

    def add_(self, value):
        self.rows = [[item + value for item in row] for row in self.rows]

    def clone(self):
        return Tensor(self.rows)


class Logits:
    """One position of each sequence; only the largest value is known."""

    def __init__(self, best):
        self._best = best

    def __getitem__(self, _):
        return self

    def argmax(self, dim, keepdim):
        assert dim == -1 and keepdim
        return Tensor([[token] for token in self._best])


def tensor(rows, dtype, device):
    return Tensor(rows)


def zeros(shape, dtype, device):
    rows, columns = shape if isinstance(shape, tuple) else (1, shape)
    return Tensor([[0] * columns] * rows)


def arange(count, device):
    return Tensor([range(count)])


class Pixels:
    def __init__(self, *shape):
        self.shape = shape

    def to(self, **_):
        return self

    def __getitem__(self, part):
        return Pixels(len(range(*part.indices(self.shape[0]))), *self.shape[1:])


class Generator:
    def manual_seed(self, _):
        return self


def randn(*shape, generator):
    return Pixels(*shape)


def manual_seed(_):
    pass


def get_default_dtype():
    return float32


def set_default_dtype(dtype):
    events.append(f"default dtype {dtype}")


class device(contextlib.nullcontext):
    def __init__(self, name):
        super().__init__()
        kind, _, index = name.partition(":")
        self.type = kind
        self.index = int(index) if index else None


no_grad = contextlib.nullcontext


def get_num_threads():
    return 2


class _Graph:
    def replay(self):
        events.append("replay")


class _Stream:
    def wait_stream(self, _):
        pass


@contextlib.contextmanager
def _capture(graph, capture_error_mode):
    events.append("capture")
    yield


class _Memory:
    def __init__(self):
        self.observer = None

    def _record_memory_history(self, enabled="all", context="all", stacks="all", max_entries=None):
        events.append("memory history ends" if enabled is None else f"memory history {stacks} {max_entries}")

    def _dump_snapshot(self, path):
        events.append("memory snapshot")
        with open(path, "w", encoding="utf-8") as file:
            file.write("a pickle")

    def attach(self, observer):
        self.observer = observer


memory = _Memory()
_C = types.SimpleNamespace(_cuda_attach_out_of_memory_observer=memory.attach)


def run_out_of_memory():
    if memory.observer:
        memory.observer(0, 1 << 30, 8 << 30, 0)
    raise OutOfMemoryError("CUDA out of memory. Tried to allocate 1 GiB")


cuda = types.SimpleNamespace(
    init=lambda: events.append("cuda init"),
    memory=memory,
    is_available=lambda: True,
    device_count=lambda: 1,
    set_device=lambda _: None,
    synchronize=lambda: events.append("synchronize"),
    get_device_name=lambda: "stand-in GPU",
    max_memory_allocated=lambda: 1024,
    Stream=_Stream,
    current_stream=_Stream,
    stream=lambda _: contextlib.nullcontext(),
    CUDAGraph=_Graph,
    graph=_capture,
)
compiler = types.SimpleNamespace()


def compile(function, mode):
    events.append(f"compile {mode}")
    return function


class _Profile(contextlib.AbstractContextManager):
    def __init__(self, activities, **settings):
        self.activities = activities
        self.settings = settings

    def __enter__(self):
        events.append(f"profile {'+'.join(self.activities)}")
        return self

    def __exit__(self, *_):
        events.append("profile ends")

    def export_chrome_trace(self, path):
        with open(path, "w", encoding="utf-8") as file:
            file.write('{"traceEvents": []}')


profiler = types.SimpleNamespace(
    ProfilerActivity=types.SimpleNamespace(CPU="CPU", CUDA="CUDA"),
    profile=_Profile,
    record_function=lambda name: contextlib.nullcontext(),
)
