"""Matrix products of PyTorch traces, by shape and role. Calls, dimensions, FLOPs, bytes and times must equal what plain
Python computes from the JSON: for each kernel the innermost operator open at its launch, and that operator's
`Input Dims`. Roles must be those of the models' known dimensions."""
import bisect
import collections
import csv
import gzip
import io
import json
import os
import pathlib
import tempfile
import unittest
from decimal import ROUND_HALF_UP, Decimal

from program import DATA, ROOT, Bundle, run

CAPTURES = pathlib.Path(os.environ.get("LLMPROF_CAPTURES", ROOT.parent / "shared" / "captures"))
DECODER = DATA / "h200-decoder" / "kineto.json.gz"

# Name: position of A; B follows it. The other operators call these.
OPERATORS = {"aten::mm": 0, "aten::bmm": 0, "aten::addmm": 1, "aten::baddbmm": 1, "aten::addmm_": 1,
             "aten::baddbmm_": 1, "aten::linear": 0, "aten::matmul": 0, "aten::mv": 0, "aten::_scaled_mm": 0}
# The most inputs of any overload; a trace may list inputs of other calls, too (PyTorch 1.11).
MOST_INPUTS = {"aten::addmm": 7, "aten::baddbmm": 7, "aten::addmm_": 5, "aten::baddbmm_": 5, "aten::linear": 4,
               "aten::_scaled_mm": 9}
TYPES = {"c10::BFloat16": ("bf16", 2), "c10::Half": ("f16", 2), "float": ("f32", 4), "double": ("f64", 8)}
OPERATOR_CATEGORIES = ("cpu_op", "Operator", "cpu op")
CALL_CATEGORIES = ("cuda_runtime", "cuda_driver", "Runtime")
KERNEL_CATEGORIES = ("kernel", "Kernel")

Sizes = collections.namedtuple("Sizes", "m n k batch type_a type_b")


def nanoseconds(microseconds):
    return int((Decimal(microseconds) * 1000).quantize(Decimal(1), rounding=ROUND_HALF_UP))


def events_of(path):
    with gzip.open(path, "rt", encoding="utf-8", errors="replace") as file:
        content = json.load(file, parse_float=Decimal, strict=False)
    events = content if isinstance(content, list) else content["traceEvents"]
    return [event for event in events if event.get("ph") == "X"]


def elements(dims):
    count = 1
    for size in dims:
        count *= size
    return count


def sizes_of(event):
    """What an operator multiplies, or None."""
    first = OPERATORS.get(event["name"])
    dims = event["args"].get("Input Dims", event["args"].get("Input dims"))
    if first is None or dims is None:
        return None
    a, b = dims[first], dims[first + 1]
    types = event["args"].get("Input type", [""] * len(dims))
    kinds = [TYPES.get(types[place], ("unknown", 0))[0] for place in (first, first + 1)]
    if event["name"] == "aten::linear":
        b = b[::-1]
    if len(b) == 1:
        b = b + [1]
    if len(dims) > MOST_INPUTS.get(event["name"], 3) or a[-1] != b[-2]:
        raise ValueError(f"{event['name']}: {dims}")
    batch = elements(b[:-2])
    return Sizes(elements(a[:-1]) // batch, b[-1], a[-1], batch, *kinds)


class Operators:
    """The operators of each thread, to find the innermost at a time."""

    def __init__(self, events):
        self.threads = collections.defaultdict(list)
        self.by_id = {}
        for event in events:
            if event.get("cat") not in OPERATOR_CATEGORIES:
                continue
            start = nanoseconds(event["ts"])
            self.threads[event["pid"], event["tid"]].append((start, start + nanoseconds(event["dur"]), event))
            self.by_id.setdefault(id_of(event), event)
        self.changes = {}
        for thread, calls in self.threads.items():
            self.changes[thread] = self.innermost_over_time(calls)

    @staticmethod
    def innermost_over_time(calls):
        """Times at which the innermost operator changes, and which it is from then on."""
        calls.sort(key=lambda call: (call[0], -call[1], id_of(call[2])))
        times, innermost, stack = [], [], []

        def at(time):
            times.append(time)
            innermost.append(stack[-1][2] if stack else None)

        for call in calls:
            while stack and stack[-1][1] <= call[0]:
                end = stack.pop()[1]
                at(end)
            stack.append(call)
            at(call[0])
        while stack:
            end = stack.pop()[1]
            at(end)
        return times, innermost

    def innermost(self, launch):
        times, innermost = self.changes.get((launch["pid"], launch["tid"]), ((), ()))
        place = bisect.bisect_right(times, nanoseconds(launch["ts"])) - 1
        return innermost[place] if place >= 0 else None


def id_of(event):
    args = event.get("args", {})
    return int(args.get("External id", args.get("External Id", args.get("external id", 0))))


class Calls:
    """What the products of a trace add up to, by plain Python."""

    def __init__(self, path):
        events = events_of(path)
        operators = Operators(events)
        launches = {}
        for event in events:
            if event.get("cat") in CALL_CATEGORIES and "correlation" in event.get("args", {}):
                launches.setdefault(event["args"]["correlation"], event)
        kernels = collections.defaultdict(list)  # by operator call
        found = {}
        for event in events:
            if event.get("cat") not in KERNEL_CATEGORIES:
                continue
            launch = launches.get(event["args"].get("correlation"))
            if launch is None:
                call = operators.by_id.get(id_of(event)) if id_of(event) else None
            elif "Graph" in launch["name"] or event["args"].get("graph node id"):
                continue
            else:
                call = operators.innermost(launch)
            if call is None or sizes_of(call) is None:
                continue
            found[id(call)] = call
            kernels[id(call)].append(event)
        self.bad = 0
        for event in events:
            if event.get("cat") in OPERATOR_CATEGORIES and event["name"] in OPERATORS:
                try:
                    sizes_of(event)
                except ValueError:
                    self.bad += 1
        self.calls = collections.Counter()
        self.kernels = collections.Counter()
        self.time = collections.Counter()
        self.names = collections.defaultdict(set)
        self.operators = collections.Counter()
        for key, call in found.items():
            sizes = sizes_of(call)
            self.calls[sizes] += 1
            self.kernels[sizes] += len(kernels[key])
            self.time[sizes] += sum(nanoseconds(kernel["dur"]) for kernel in kernels[key])
            self.names[sizes] |= {kernel["name"] for kernel in kernels[key]}
            self.operators[call["name"], sizes] += 1


def sizes_of_row(row):
    return Sizes(*(row[name] for name in Sizes._fields))


def with_sizes():
    """The shared traces whose operators state the sizes of their inputs, and which ran products."""
    names = ["h200-dense-graph/kineto_graph", *(f"public/{name}" for name in (
        "AMD-AGI+TraceLens__b200_eager_trace", "AMD-AGI+TraceLens__h100_Qwen_Qwen1.5-0.5B-Chat__1016005",
        "AMD-AGI+TraceLens__inference_vllm_decode_full_graph_execution",
        "AMD-AGI+TraceLens__sglang_Qwen3-8B_prefilldecode",
        "AMD-AGI+TraceLens__xdit_sd_3.5_profile_trace_rank_0",
        "facebookresearch+HolisticTraceAnalysis__sampled_rank-0",
        "facebookresearch+HolisticTraceAnalysis__sampled_rank-1",
        "pytorch+kineto__resnet50_worker0.1623143089861.pt.trace"))]
    return [CAPTURES / f"{name}.json.gz" for name in names]


class Products(unittest.TestCase):
    maxDiff = None
    bundles = {}

    def bundle(self, *paths):
        if paths not in self.bundles:
            self.bundles[paths] = Bundle(*paths)
        return self.bundles[paths]

    def need_captures(self):
        if not CAPTURES.is_dir():
            self.skipTest("needs ../shared/captures (or LLMPROF_CAPTURES), which is not here")

    def check_against_python(self, path):
        expected = Calls(path)
        profile = self.bundle(path).profile
        calls, kernels, time = collections.Counter(), collections.Counter(), collections.Counter()
        for row in profile["products"]:
            sizes = sizes_of_row(row)
            calls[sizes] += row["calls"]
            kernels[sizes] += row["kernels"]
            time[sizes] += row["total_ms"]
            self.assertIn(row["kernel_name"], expected.names[sizes])
            self.assertEqual(row["flops"], 2 * row["m"] * row["n"] * row["k"] * row["batch"])
            self.assertAlmostEqual(row["mean_ms"], row["total_ms"] / row["calls"], places=12)
            self.check_rates(row)
        self.assertEqual(calls, expected.calls)
        self.assertEqual(kernels, expected.kernels)
        self.assertTrue(expected.calls)
        for sizes, nanos in expected.time.items():
            self.assertAlmostEqual(time[sizes], nanos / 1e6, places=9, msg=sizes)
        found = profile["products_found"]
        self.assertAlmostEqual(found["with_shape_ms"], sum(expected.time.values()) / 1e6, places=7)
        (source,) = found["sources"]
        self.assertEqual((source["source"], source["calls"]), ("framework_dimensions", sum(expected.calls.values())))
        self.assertAlmostEqual(found["with_shape_ms"] + sum(row["total_ms"] for row in found["without_shape"]),
                               found["time_ms"], places=7)
        bad = [item["count"] for item in profile["diagnostics"] if item["code"] == "kineto_bad_products"]
        self.assertEqual(sum(bad), expected.bad)
        return expected, profile

    def check_rates(self, row):
        size = {name: bytes_each for name, bytes_each in TYPES.values()}
        seconds = row["mean_ms"] / 1e3
        self.assertAlmostEqual(row["flops_per_s"] * seconds / row["flops"], 1, places=9)
        if row["type_a"] == "unknown":
            self.assertIsNone(row["bytes"])
            return
        m, n, k = row["m"], row["n"], row["k"]
        moved = row["batch"] * (m * k * size[row["type_a"]] + k * n * size[row["type_b"]] +
                                m * n * size[row["type_output"]])
        self.assertEqual(row["bytes"], moved)
        self.assertAlmostEqual(row["bytes_per_s"] * seconds / moved, 1, places=9)
        self.assertAlmostEqual(row["flops_per_byte"], row["flops"] / moved, places=9)
        if row["floor_ms"] is not None:
            self.assertAlmostEqual(row["floor_share"], row["floor_ms"] / row["mean_ms"], places=9)
            self.assertAlmostEqual(row["above_floor_ms"],
                                   max(0, row["total_ms"] - row["calls"] * row["floor_ms"]), places=9)

    def test_of_our_decoder_equal_python(self):
        self.check_against_python(DECODER)

    def test_of_shared_traces_equal_python(self):
        self.need_captures()
        for path in with_sizes():
            with self.subTest(path.name):
                self.check_against_python(path)

    def check_roles(self, profile, roles, least=1):
        """`roles`: by (n, k). At least this share of the time with dimensions must have its role."""
        known = 0
        for row in profile["products"]:
            if row["role"] == "unknown":
                continue
            known += row["total_ms"]
            self.assertEqual(row["role"], roles.get((row["n"], row["k"])), row)
        self.assertGreaterEqual(known / profile["products_found"]["with_shape_ms"] + 1e-9, least)

    def test_roles_of_our_decoder(self):
        # Hidden 2048, intermediate 5632, 32,000 tokens; 16 heads, 4 of keys and values.
        profile = self.bundle(DECODER).profile
        self.check_roles(profile, {(3072, 2048): "qkv", (2048, 2048): "o", (11264, 2048): "gate_up",
                                   (2048, 5632): "down", (32000, 2048): "lm_head"})
        self.assertEqual({row["role_source"] for row in profile["products"]}, {"order"})

    def test_roles_by_order_in_shared_traces(self):
        self.need_captures()
        for name, roles, least in (
                ("h200-dense-graph/kineto_graph",
                 {(6144, 4096): "qkv", (4096, 4096): "o", (22016, 4096): "gate_up", (4096, 11008): "down",
                  (32000, 4096): "lm_head"}, 1),
                ("public/AMD-AGI+TraceLens__b200_eager_trace",
                 {(640, 2880): "qkv", (2880, 512): "o", (128, 2880): "router", (25136, 2880): "lm_head"}, 0.9),
                ("public/AMD-AGI+TraceLens__sglang_Qwen3-8B_prefilldecode",
                 {(6144, 4096): "qkv", (4096, 4096): "o", (24576, 4096): "gate_up", (4096, 12288): "down",
                  (151936, 4096): "lm_head"}, 0.9)):
            with self.subTest(name):
                self.check_roles(self.bundle(CAPTURES / f"{name}.json.gz").profile, roles, least)

    def test_queries_and_outputs_of_equal_sizes_are_distinguished(self):
        """Qwen1.5 0.5B: only queries, keys and values have a bias, so aten::addmm is their product."""
        self.need_captures()
        path = CAPTURES / "public" / "AMD-AGI+TraceLens__h100_Qwen_Qwen1.5-0.5B-Chat__1016005.json.gz"
        operators = Calls(path).operators
        calls = collections.Counter()
        for row in self.bundle(path).profile["products"]:
            if (row["n"], row["k"]) == (1024, 1024):
                calls[row["role"]] += row["calls"]
        square = {name: sum(count for (operator, sizes), count in operators.items()
                            if operator == name and (sizes.n, sizes.k) == (1024, 1024))
                  for name in ("aten::addmm", "aten::mm")}
        self.assertEqual(calls["qkv"] + calls["o"] + calls["unknown"], sum(square.values()))
        self.assertLessEqual(calls["qkv"], square["aten::addmm"])
        self.assertLessEqual(calls["o"], square["aten::mm"])
        self.assertGreater(calls["qkv"] + calls["o"], 0.9 * sum(square.values()))

    def test_a_model_decides_by_its_dimensions(self):
        config = {"architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": 2048,
                  "intermediate_size": 5632, "num_hidden_layers": 4, "num_attention_heads": 16,
                  "num_key_value_heads": 4, "vocab_size": 32000, "torch_dtype": "bfloat16"}
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "config.json"
            file.write_text(json.dumps(config), encoding="utf-8")
            profile = Bundle(DECODER, options=("--model", str(file))).profile
        by_role = {row["role"]: row["role_source"] for row in profile["products"]}
        # Queries alone could have the output's dimensions.
        self.assertEqual(by_role, {"qkv": "model", "o": "order", "gate_up": "model", "down": "model",
                                   "lm_head": "model"})

    def test_replayed_products_have_the_dimensions_of_their_capture(self):
        self.need_captures()
        execution, capture = (CAPTURES / "public" / f"AMD-AGI+TraceLens__inference_vllm_decode_full_graph_{part}.json.gz"
                              for part in ("execution", "capture_rank_0"))
        captured = collections.Counter(
            sizes_of(event) for event in events_of(capture)
            if event.get("cat") == "cpu_op" and event["name"] == "aten::addmm")
        calls = collections.Counter()
        for row in self.bundle(execution, capture).profile["products"]:
            calls[sizes_of_row(row)] += row["calls"]
        for sizes, count in captured.items():
            self.assertEqual(calls[sizes], count, sizes)  # one replay

    def test_without_sizes_it_says_what_is_missing(self):
        events = [event for event in events_of(DECODER)]
        for event in events:
            for name in ("Input Dims", "Input Strides", "Input type", "Concrete Inputs"):
                event.get("args", {}).pop(name, None)
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "trace.json"
            file.write_text(json.dumps({"traceEvents": events}, default=float), encoding="utf-8")
            bundle = Bundle(file)
        self.assertEqual(bundle.profile["products"], [])
        found = bundle.profile["products_found"]
        self.assertGreater(found["time_ms"], 0)
        self.assertEqual(found["with_shape_share"], 0)
        self.assertEqual({row["why"] for row in found["without_shape"]}, {"no_sizes"})
        self.assertEqual({row["operator"] for row in found["without_shape"]}, {"aten::mm"})
        self.assertIn("record_shapes=True", bundle.files["report.md"])

    def test_sizes_that_do_not_fit_are_counted(self):
        events = [event for event in events_of(DECODER)]
        wrong = [event for event in events if event["name"] == "aten::mm"][:3]
        for event in wrong:
            event["args"]["Input Dims"] = [[1, 2048], [2047, 3072]]
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "trace.json"
            file.write_text(json.dumps({"traceEvents": events}, default=float), encoding="utf-8")
            profile = Bundle(file).profile
        (said,) = [item for item in profile["diagnostics"] if item["code"] == "kineto_bad_products"]
        self.assertEqual(said["count"], 3)
        self.assertEqual(sum(row["kernels"] for row in profile["products_found"]["without_shape"]
                             if row["operator"] == "aten::mm"),
                         profile["products_found"]["kernels_without_shape"])

    def test_can_be_queried(self):
        with tempfile.TemporaryDirectory() as folder:
            out = pathlib.Path(folder) / "run"
            self.assertEqual(run("analyze", DECODER, "--out", out).returncode, 0)
            answer = run("query", "--format", "csv", out, "SELECT role, sum(calls) AS calls FROM products GROUP BY role")
            self.assertEqual(answer.returncode, 0, answer.stderr)
            calls = {row["role"]: int(row["calls"]) for row in csv.DictReader(io.StringIO(answer.stdout))}
        self.assertEqual(calls, {"qkv": 36, "o": 36, "gate_up": 36, "down": 36, "lm_head": 9})


if __name__ == "__main__":
    unittest.main()
