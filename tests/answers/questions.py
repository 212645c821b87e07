"""The questions: what is asked, of which captures, its truth by plain Python and SQL, and the calls of llmprof that
answer it. A truth reads the captures only, never anything that llmprof wrote."""
import collections
import dataclasses
import json
import re
from collections.abc import Callable

from captures import (CALLS, KERNELS, LATE_RANK, SLOWED_KERNELS, STALL_NS, kernels, matches,
                      ncu_rows, nearest_rank, record, sql, torch_events, union)

MOST_CALLS = 3


@dataclasses.dataclass(frozen=True)
class Question:
    id: str
    text: str                # @NAME stands for the path of a capture, %NAME for a folder to write into
    truth: Callable          # of Captures: a number, a text, or a tuple of texts that are all right
    calls: tuple             # of llmprof; the answer is the first value of the last one's JSON
    tolerance: float = 1e-6  # relative, of numbers


def ask(capture, statement):
    return f"query {capture} --format json", statement


ALL = []


def question(text, *calls, tolerance=1e-6):
    """The decorated function computes the truth; its name is the question's."""
    def add(truth):
        ALL.append(Question(truth.__name__, text, truth, calls, tolerance))
        return truth
    return add


def durations(path, **selected):
    total = collections.Counter()
    for start, end, name in kernels(path, **selected):
        total[name] += end - start
    return total


MEASURED_DECODE = {"within": "decode_step", "occurrences": slice(8, None)}  # decoder: the second request's steps
ATTENTION = r"sdpa|fmha|flash"
PRODUCT = r"nvjet|gemm|gemv|splitK|cutlass"


# One capture: kernels and time.


@question("For how many ms did the kernels of @decoder run, all together (overlap counts in full)?",
          ask("@decoder", "SELECT sum(duration_ns) / 1e6 AS ms FROM kernels"))
def kernel_time(c):
    return sql(c.path("decoder"), f"SELECT sum(end - start) / 1e6 FROM {KERNELS}")[0][0]


@question("Which kernel takes most GPU time in @eager? Answer with its full name.",
          ask("@eager", "SELECT name FROM kernels GROUP BY name ORDER BY sum(duration_ns) DESC LIMIT 1"))
def top_kernel(c):
    return durations(c.path("eager")).most_common(1)[0][0]


@question("What share (0 to 1) of all kernel time in @eager is that of the kernel with the longest total?",
          ask("@eager", "SELECT max(total_ns) / sum(total_ns * 1.0) FROM kernel_totals"))
def top_share(c):
    total = durations(c.path("eager"))
    return max(total.values()) / sum(total.values())


@question("How many launches has the kernel with most launches in @graph?",
          ask("@graph", "SELECT max(n) FROM (SELECT count(*) AS n FROM kernels GROUP BY name)"))
def most_launched(c):
    return sql(c.path("graph"), f"SELECT max(n) FROM (SELECT count(*) n FROM {KERNELS} GROUP BY demangledName)")[0][0]


@question("How many ns did the longest single kernel of @eager take?",
          ask("@eager", "SELECT max(duration_ns) FROM kernels"))
def longest_launch(c):
    return sql(c.path("eager"), f"SELECT max(end - start) FROM {KERNELS}")[0][0]


@question("For how many ns was at least one kernel running in @graph?",
          ask("@graph", "SELECT interval_union(start_ns, end_ns) FROM kernels"))
def busy_time(c):
    return union((start, end) for start, end, _ in kernels(c.path("graph")))


@question("How many ns is the longest time without a running kernel between two kernels of @decoder?",
          ask("@decoder", "SELECT max(start_ns - before) FROM (SELECT start_ns, max(end_ns) OVER (ORDER BY start_ns "
              "ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before FROM kernels)"))
def longest_idle(c):
    last, longest = None, 0
    for start, end, _ in kernels(c.path("decoder")):
        longest = max(longest, start - last) if last is not None else 0
        last = end if last is None else max(last, end)
    return longest


@question("What is the 99th percentile, by nearest rank, of the duration in ns of nvjet kernels of @eager?",
          ask("@eager", "SELECT percentile(duration_ns, 99) FROM kernels WHERE name LIKE 'nvjet%'"))
def product_tail(c):
    return nearest_rank([end - start for start, end, name in kernels(c.path("eager")) if name.startswith("nvjet")], 99)


@question("How many bytes were copied in @eager, in all directions together?",
          ask("@eager", "SELECT sum(bytes) FROM memory_ops WHERE kind = 'copy'"))
def copied_bytes(c):
    return sql(c.path("eager"), "SELECT sum(bytes) FROM CUPTI_ACTIVITY_KIND_MEMCPY")[0][0]


@question("How many ns does a call of cudaLaunchKernel take on the CPU in @eager, on average?",
          ask("@eager", "SELECT avg(duration_ns) FROM launches WHERE api LIKE 'cudaLaunchKernel\\_v%' ESCAPE '\\'"))
def launch_call(c):
    return sql(c.path("eager"), f"SELECT avg(end - start) FROM {CALLS} WHERE nameId IN (SELECT id FROM StringIds "
               "WHERE value LIKE 'cudaLaunchKernel\\_v%' ESCAPE '\\')")[0][0]


@question("Which CUDA call of @graph takes most CPU time in all? Answer with its name, with or without its version.",
          ask("@graph", "SELECT api FROM launches GROUP BY api ORDER BY sum(duration_ns) DESC LIMIT 1"))
def longest_call(c):
    name = sql(c.path("graph"), f"SELECT value FROM {CALLS} r JOIN StringIds s ON s.id = r.nameId GROUP BY value "
               "ORDER BY sum(end - start) DESC LIMIT 1")[0][0]
    return name, re.sub(r"_v\d+$", "", name)


@question("What share (0 to 1) of the kernels of @graph was replayed by CUDA graphs?",
          ask("@graph", "SELECT avg(in_graph) FROM kernels"))
def in_graphs(c):
    return sql(c.path("graph"), f"SELECT avg(coalesce(graphNodeId, 0) != 0) FROM {KERNELS}")[0][0]


@question("Are kernels missing from @decoder_graphs? Answer with the ms of GPU work whose kernels were not recorded.",
          ask("@decoder_graphs", "SELECT totals_hidden_graphs_total_ms FROM runs"))
def hidden_work(c):
    return sql(c.path("decoder_graphs"), "SELECT sum(end - start) / 1e6 FROM CUPTI_ACTIVITY_KIND_GRAPH_TRACE")[0][0]


@question("How many registers does each thread of the kernel with most registers use in @decoder?",
          ask("@decoder", "SELECT max(registers_per_thread) FROM kernels"))
def most_registers(c):
    return sql(c.path("decoder"), f"SELECT max(registersPerThread) FROM {KERNELS}")[0][0]


# Stages, steps and layers.


@question("How many ms of GPU time does a prefill of @graph take on average? The first request is warm-up.",
          ask("@graph", "SELECT gpu_sum_ms_mean FROM stages WHERE name = 'prefill'"))
def prefill_time(c):
    return sum(durations(c.path("graph"), within="prefill", occurrences=slice(1, None)).values()) / 2 / 1e6


@question("How many kernels has a decode step of @graph?",
          ask("@graph", "SELECT percentile(kernel_count, 50) FROM steps WHERE stage = 'decode'"))
def kernels_of_a_step(c):
    counts = [len(kernels(c.path("graph"), within="decode_step", occurrences=slice(at, at + 1))) for at in (30, 50)]
    assert counts[0] == counts[1]
    return counts[0]


@question("How many decode steps did the second request of @eager run?",
          ask("@eager", "SELECT count(*) FROM steps WHERE stage = 'decode' AND instance = 1"))
def steps_of_a_request(c):
    return sql(c.path("eager"), "WITH r AS (SELECT start, end, coalesce(text, (SELECT value FROM StringIds WHERE id = "
               "textId)) t FROM NVTX_EVENTS) SELECT count(*) FROM r s JOIN (SELECT * FROM r WHERE t = 'decode_all' "
               "ORDER BY start LIMIT 1 OFFSET 1) d ON s.t = 'decode_step' AND s.start BETWEEN d.start AND d.end")[0][0]


@question("Which kind of kernel takes most of the kernel time of decode in @decoder without the first request: gemm "
          "(matrix products), attention, copy/cast or elementwise?",
          ask("@decoder", "SELECT class FROM kernels WHERE stage = 'decode' AND NOT warmup GROUP BY class "
              "ORDER BY sum(duration_ns) DESC LIMIT 1"))
def dominates_decode(c):
    kinds = collections.Counter()
    for name, ns in durations(c.path("decoder"), **MEASURED_DECODE).items():
        for kind, pattern in (("gemm", PRODUCT), ("attention", ATTENTION), ("copy/cast", "copy|CatArray"),
                              ("reduction", "reduce_kernel"), ("elementwise", "elementwise"), ("other", "")):
            if matches(pattern, name):
                kinds[kind] += ns
                break
    return kinds.most_common(1)[0][0]


@question("What share (0 to 1) of the kernel time of decode in @decoder is attention's, without the first request?",
          ask("@decoder", "SELECT sum(duration_ns) FILTER (WHERE class = 'attention') * 1.0 / sum(duration_ns) "
              "FROM kernels WHERE stage = 'decode' AND NOT warmup"))
def attention_share(c):
    total = durations(c.path("decoder"), **MEASURED_DECODE)
    return sum(ns for name, ns in total.items() if matches(ATTENTION, name)) / sum(total.values())


@question("How many layers has the model of @graph?",
          ask("@graph", "SELECT count(*) FROM layers WHERE stage = 'prefill' AND NOT part AND NOT outside"))
def layers(c):
    return sql(c.path("graph"), "SELECT count(DISTINCT coalesce(text, (SELECT value FROM StringIds WHERE id = textId))) "
               "FROM NVTX_EVENTS WHERE coalesce(text, (SELECT value FROM StringIds WHERE id = textId)) LIKE 'layer_%'"
               )[0][0]


@question("What share (0 to 1) of the kernel time in the layers of prefill is attention's part (range attn; the rest is "
          "mlp) in @graph? The first request is warm-up.",
          ask("@graph", "SELECT sum(ms_per_step) FILTER (WHERE name LIKE '%/attn') / sum(ms_per_step) FROM layers "
              "WHERE stage = 'prefill' AND part"), tolerance=1e-4)
def part_of_layers(c):
    # Layers of decode have such ranges only while its graph is captured; prefills come first and last.
    prefills = [row for row in sql(c.path("graph"), "SELECT start, end FROM NVTX_EVENTS WHERE coalesce(text, (SELECT "
                "value FROM StringIds WHERE id = textId)) = 'prefill' ORDER BY start")][1:]
    spans = {text: [row for row in sql(c.path("graph"), "SELECT start, end FROM NVTX_EVENTS WHERE coalesce(text, "
                    "(SELECT value FROM StringIds WHERE id = textId)) = ?", text)] for text in ("attn", "mlp")}
    launched = sql(c.path("graph"), f"SELECT r.start, k.end - k.start FROM {KERNELS} k JOIN {CALLS} r USING "
                   "(correlationId)")
    inside = [row for row in launched if any(a <= row[0] <= b for a, b in prefills)]
    total = {text: sum(ns for at, ns in inside if any(a <= at <= b for a, b in spans[text])) for text in spans}
    return total["attn"] / sum(total.values())


@question("Which decode step of the second request of @stalled is the slowest, counted from 0?",
          ask("@stalled", "SELECT step_of_instance FROM slow_steps WHERE stage = 'decode' AND instance = 1 ORDER BY "
              "wall_ms DESC LIMIT 1"))
def slowest_step(c):
    del c
    return 11 - 8  # the step that was stalled, less those of the first request


@question("By how many ms did host code outside of CUDA calls lengthen the slowest decode step of @stalled?",
          ask("@stalled", "SELECT sum(longer_ms) FROM slow_step_reasons WHERE what LIKE '%host code outside%' AND step = "
              "(SELECT step FROM slow_steps ORDER BY wall_ms DESC LIMIT 1)"), tolerance=0.01)
def why_slow(c):
    del c
    return STALL_NS / 1e6


@question("What limits decode in @decoder: the host, memory or compute?",
          ask("@decoder", "SELECT CASE WHEN kind IN ('launch_bound', 'host_stall') THEN 'host' ELSE kind END FROM "
              "findings WHERE stage = 'decode' ORDER BY finding LIMIT 1"))
def limit_of_decode(c):
    spans = [(start, end) for start, end, _ in kernels(c.path("decoder"), **MEASURED_DECODE)]
    wall = max(end for _, end in spans) - min(start for start, _ in spans)
    return "host" if union(spans) < wall / 2 else "the GPU"


@question("How many tokens of prompts did the engine of @engine_steps process in steps that also decoded?",
          ask("@engine_steps", "SELECT sum(prefill_tokens) FROM steps WHERE kind = 'mixed'"))
def mixed_tokens(c):
    texts = [text for (text,) in sql(c.path("engine_steps"), "SELECT coalesce(text, (SELECT value FROM StringIds WHERE "
             "id = textId)) FROM NVTX_EVENTS") if text and text.startswith("execute_context")]
    steps = [list(map(int, re.findall(r"\d+", text))) for text in texts]
    return sum(tokens for _, tokens, decoding, _ in steps if tokens and decoding)


@question("What is the size in bytes of the weights of the model in @decoder_config (bf16)? @decoder ran it.",
          ("analyze @decoder --model @decoder_config --out %weights",),
          ask("%weights", "SELECT model_weight_bytes FROM runs"))
def weight_bytes(c):
    m = json.loads(c.path("decoder_config").read_text())
    hidden, inner = m["hidden_size"], m["intermediate_size"]
    head = hidden // m["num_attention_heads"]
    layer = (hidden * hidden * 2 + hidden * head * m["num_key_value_heads"] * 2 + 3 * hidden * inner + 2 * hidden)
    return 2 * (m["num_hidden_layers"] * layer + 2 * m["vocab_size"] * hidden + hidden)


# Operators, and metrics of Nsight Compute.


def own_operator_times(path):
    """Operator -> us of the kernels that it launched itself, by the smallest operator around the launch."""
    events = torch_events(path)
    operators = sorted((e["ts"], e["ts"] + e["dur"], e["tid"], e["name"]) for e in events if e.get("cat") == "cpu_op")
    calls = {e["args"]["correlation"]: (e["ts"], e["tid"]) for e in events
             if e.get("cat") in ("cuda_runtime", "cuda_driver") and "correlation" in e["args"]}
    points = sorted((*calls[e["args"]["correlation"]], e["dur"]) for e in events
                    if e.get("cat") == "kernel" and e["args"].get("correlation") in calls)
    total, open_operators, at = collections.Counter(), [], 0
    for time, thread, us in points:
        while at < len(operators) and operators[at][0] <= time:
            open_operators.append(operators[at])
            at += 1
        open_operators = [one for one in open_operators if one[1] >= time]
        around = [one for one in open_operators if one[2] == thread]
        if around:
            total[min(around, key=lambda one: one[1] - one[0])[3]] += us
    return total


@question("Which PyTorch operator launched the kernels with the longest total time itself, in @decoder_torch?",
          ask("@decoder_torch", "SELECT name FROM operator_totals ORDER BY cuda_self_ms DESC LIMIT 1"))
def top_operator(c):
    return own_operator_times(c.path("decoder_torch")).most_common(1)[0][0]


@question("For how many ms did the kernels run that aten::mul launched itself, in @decoder_torch?",
          ask("@decoder_torch", "SELECT cuda_self_ms FROM operator_totals WHERE name = 'aten::mul'"))
def operator_time(c):
    return own_operator_times(c.path("decoder_torch"))["aten::mul"] / 1e3


@question("How often was aten::mm called in @decoder_torch?",
          ask("@decoder_torch", "SELECT calls FROM operator_totals WHERE name = 'aten::mm'"))
def operator_calls(c):
    return sum(e["name"] == "aten::mm" and e.get("cat") == "cpu_op" for e in torch_events(c.path("decoder_torch")))


METRIC = "dram__cycles_active.avg.pct_of_peak_sustained_elapsed"


@question(f"What is the highest {METRIC} that Nsight Compute measured, in @decoder_ncu?",
          ask("@decoder_ncu", f"SELECT max(max) FROM kernel_metrics WHERE metric = '{METRIC}'"))
def memory_throughput(c):
    return max(float(row[METRIC].replace(",", "")) for row in ncu_rows(c.path("decoder_ncu")))


@question("Which kernel had the lowest mean sm__warps_active.avg.pct_of_peak_sustained_active in @decoder_ncu? Answer "
          "with its full name.",
          ask("@decoder_ncu", "SELECT kernel_name FROM kernel_metrics WHERE metric = "
              "'sm__warps_active.avg.pct_of_peak_sustained_active' ORDER BY mean LIMIT 1"))
def lowest_occupancy(c):
    values = collections.defaultdict(list)
    for row in ncu_rows(c.path("decoder_ncu")):
        values[row["Kernel Name"]].append(float(row["sm__warps_active.avg.pct_of_peak_sustained_active"]))
    return min(values, key=lambda name: sum(values[name]) / len(values[name]))


# Two captures.


@question("By what factor did the kernel time of decode change from @decoder to @slowed, without the first request?",
          ask("@decoder @slowed", "SELECT max(ns) FILTER (WHERE run = 'slowed.sqlite') * 1.0 / max(ns) FILTER (WHERE run "
              "!= 'slowed.sqlite') FROM (SELECT run, sum(duration_ns) AS ns FROM kernels WHERE stage = 'decode' AND "
              "NOT warmup GROUP BY run)"))
def change(c):
    before, after = (sum(durations(c.path(name), **MEASURED_DECODE).values()) for name in ("decoder", "slowed"))
    return after / before


@question("Which class of kernels grew most from @decoder to @slowed?",
          ask("@decoder @slowed", "SELECT class FROM kernels GROUP BY class ORDER BY sum(duration_ns * CASE WHEN run = "
              "'slowed.sqlite' THEN 1 ELSE -1 END) DESC LIMIT 1"))
def grew(c):
    slowed = {name for name in durations(c.path("decoder")) if matches(SLOWED_KERNELS, name)}
    assert all(matches(PRODUCT, name) for name in slowed)
    return "gemm"


REPEATS = [f"@repeat-{number:02d}" for number in range(1, 11)]


@question("Does the wall time of decode steps differ, beyond the noise, between the runs " + ", ".join(REPEATS[:5]) +
          " and the runs " + ", ".join(REPEATS[5:]) + "? Answer with yes or no.",
          (f"diff {REPEATS[0]} {REPEATS[5]} " + " ".join(f"--base {r}" for r in REPEATS[1:5]) + " " +
           " ".join(f"--new {r}" for r in REPEATS[6:]) + " --json --out %repeats",))
def same_program(c):
    for name in REPEATS:
        c.path(name[1:])
    return "no"  # runs of one program, one after the other


@question("By what factor did the kernel time on each GPU, taken together, change from @two_gpus to @two_gpus_after?",
          ask("@two_gpus @two_gpus_after", "SELECT b.ns * 1.0 / a.ns FROM (SELECT sum(duration_ns) AS ns FROM kernels "
              "WHERE run LIKE '%before%') a, (SELECT sum(duration_ns) AS ns FROM kernels WHERE run LIKE '%after%') b"))
def before_and_after(c):
    before, after = (sql(c.path(name), f"SELECT sum(end - start) FROM {KERNELS}")[0][0]
                     for name in ("two_gpus", "two_gpus_after"))
    return after / before


# Jobs.


@question("Which rank of the job in the folder @job do the others wait for?",
          ("analyze @job --out %job",), ask("%job", "SELECT rank FROM stragglers ORDER BY wait_total_ms DESC LIMIT 1"))
def late_rank(c):
    c.job()
    return LATE_RANK


@question("For how many ms did the ranks of the job in the folder @job wait in collectives, all together?",
          ("analyze @job --out %job_waits",), ask("%job_waits", "SELECT sum(wait_total_ms) FROM collectives"))
def waits(c):
    return sum(sum(collective.wait_ns.values()) for collective in c.job().collectives) / 1e6


@question("How many bytes does each rank contribute to a collective of decode of the job in the folder @job?",
          ("analyze @job --out %job_bytes",), ask("%job_bytes", "SELECT bytes FROM collectives WHERE stage = 'decode'"))
def collective_bytes(c):
    return collections.Counter(collective.bytes for collective in c.job().collectives).most_common(1)[0][0]


# Requests.


@question("What is the median time to first token, in ms, of the completed requests of @planted_requests?",
          ask("@planted_requests", "SELECT ttft_ms_p50 FROM request_totals"))
def first_token(c):
    done = [r for r in record(c.path("planted_requests"))["requests"] if r.get("timings")]
    return nearest_rank([r["chunks"][0][0] - r["sent_ns"] for r in done], 50) / 1e6


@question("How many requests of @requests did not complete?",
          ask("@requests", "SELECT sum(status != 'completed') FROM requests"))
def not_completed(c):
    return sum(r["status"] != "completed" for r in record(c.path("requests"))["requests"])


@question("How many ms is the longest time between two tokens that a completed request waited, in @vllm_bench?",
          ask("@vllm_bench", "SELECT max(longest_gap_ns) / 1e6 FROM requests WHERE status = 'completed'"))
def longest_gap(c):
    return max(gap for gaps in record(c.path("vllm_bench"))["itls"] for gap in gaps) * 1e3


@question("Which request (its number) of @planted_requests delayed the tokens of others most? The server's capture is "
          "@planted.",
          ("analyze @planted @planted_requests --out %planted",),
          ask("%planted", 'SELECT "by" FROM request_delayers ORDER BY ns DESC LIMIT 1'))
def delayer(c):
    requests = record(c.path("planted_requests"))["requests"]
    return str(max(range(len(requests)), key=lambda at: requests[at]["prompt_tokens"]))


@question("For how many ms did requests of @saturated_requests wait before their prompt was processed (median of the "
          "completed ones)? The server's capture is @saturated.",
          ("analyze @saturated @saturated_requests --out %saturated",),
          ask("%saturated", "SELECT queue_ms_p50 FROM request_totals"), tolerance=0.05)
def queue(c):
    done = [r for r in record(c.path("saturated_requests"))["requests"] if r.get("timings")]
    return nearest_rank([(r["chunks"][0][0] - r["sent_ns"]) / 1e6 - r["timings"]["prompt_ms"] for r in done], 50)
