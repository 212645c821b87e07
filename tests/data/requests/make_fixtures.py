#!/usr/bin/env python3
"""Writes files of requests as serving tools write them, all of one made-up load. The aggregates in them are computed
here, by each tool's definitions, and not by llmprof.

  make_fixtures.py            writes into this folder
"""
import json
import math
import pathlib
import random
from typing import Any, Iterable

Entry = dict[str, Any]  # an object of a file, or a request of the load

FOLDER = pathlib.Path(__file__).resolve().parent
START_NS = 1_794_000_000_000_000_000  # Unix time of the first request
TICK_NS = 1_000


def make_load() -> list[Entry]:
    """Requests with integer times in nanoseconds: sent, first token, gaps between later tokens."""
    chance = random.Random(33)
    sent = START_NS
    load = []
    for index in range(12):
        tokens = chance.randint(2, 9)
        load.append({
            "id": f"request-{index}",
            "sent": sent,
            "ttft": chance.randint(20_000, 90_000) * TICK_NS,
            "gaps": [chance.randint(3_000, 12_000) * TICK_NS for _ in range(tokens - 1)],
            "queue": chance.randint(1_000, 9_000) * TICK_NS,
            "tail": chance.randint(10, 90) * TICK_NS,  # from the last token to the end
            "prompt": chance.randint(16, 700),
            "cached": chance.choice([0, 0, 16]),
        })
        sent += chance.randint(5_000, 60_000) * TICK_NS
    return load


def token_times(request: Entry) -> list[int]:
    times: list[int] = [request["sent"] + request["ttft"]]
    for gap in request["gaps"]:
        times.append(times[-1] + gap)
    return times


def end_of(request: Entry) -> int:
    return token_times(request)[-1] + int(request["tail"])


def tokens_of(request: Entry) -> int:
    return len(request["gaps"]) + 1


def interpolated(values: Iterable[float], quantile: float) -> float:
    """As numpy's default: linear between ranks."""
    ordered = sorted(values)
    position = (len(ordered) - 1) * quantile
    low = math.floor(position)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (position - low)


def mean(values: list[float]) -> float:
    return math.fsum(values) / len(values)


def deviation(values: list[float]) -> float:
    middle = mean(values)
    return math.sqrt(math.fsum((value - middle) ** 2 for value in values) / len(values))


def write_lines(name: str, objects: Iterable[Entry]) -> None:
    text = "".join(json.dumps(entry) + "\n" for entry in objects)
    (FOLDER / name).write_text(text, encoding="utf-8")


def write_object(name: str, entry: Entry) -> None:
    (FOLDER / name).write_text(json.dumps(entry, indent=1) + "\n", encoding="utf-8")


# SGLang's bench_serving. Request 5 failed; request 3 has chunks of two tokens, whose gap is written twice.

def sglang_figures(figure: str, values: list[float]) -> dict[str, float]:
    ms = [value * 1e3 for value in values]
    figures = {f"mean_{figure}_ms": mean(ms), f"median_{figure}_ms": interpolated(ms, 0.5),
               f"std_{figure}_ms": deviation(ms)}
    for percent in (90, 95, 99):
        figures[f"p{percent}_{figure}_ms"] = interpolated(ms, percent / 100)
    return figures


def sglang_bench(load: list[Entry]) -> None:
    failed = 5
    answered = [request for index, request in enumerate(load) if index != failed]
    ttfts: list[float] = []
    itls: list[list[float]] = []
    for index, request in enumerate(load):
        if index == failed:
            ttfts.append(0.0)
            itls.append([])
            continue
        ttfts.append(request["ttft"] / 1e9)
        gaps = [gap / 1e9 for gap in request["gaps"]]
        if index == 3:
            gaps = [gap / 2 for gap in gaps for _ in range(2)]
        itls.append(gaps)
    lengths = [0 if index == failed else len(itls[index]) + 1 for index in range(len(load))]
    latencies = [(end_of(request) - request["sent"]) / 1e9 for request in answered]
    tpots = [(latency - request["ttft"] / 1e9) / (length - 1)
             for request, latency, length in zip(answered, latencies, [length for length in lengths if length])]
    duration = (max(end_of(request) for request in answered) - load[0]["sent"]) / 1e9
    run: Entry = {
        "tag": None, "backend": "sglang", "dataset_name": "random", "request_rate": 30.0, "max_concurrency": None,
        "sharegpt_output_len": None, "random_input_len": 1024, "random_output_len": 8, "random_range_ratio": 0.0,
           "server_info": {"version": "0.5.13"}, "duration": duration, "completed": len(answered),
           "total_input_tokens": sum(request["prompt"] for request in answered),
           "total_output_tokens": sum(lengths), "request_throughput": len(answered) / duration,
           "output_throughput": sum(lengths) / duration}
    gaps = [gap for request_gaps in itls for gap in request_gaps]
    run |= sglang_figures("e2e_latency", latencies)
    run |= sglang_figures("ttft", [ttft for ttft in ttfts if ttft])
    run |= sglang_figures("tpot", tpots)
    run |= sglang_figures("itl", gaps) | {"max_itl_ms": max(gaps) * 1e3}
    run |= {"accept_length": None, "max_concurrent_requests": 6}
    details = {"input_lens": [request["prompt"] for request in load], "output_lens": lengths, "ttfts": ttfts,
               "itls": itls, "generated_texts": [""] * len(load),
               "errors": ["connection reset" if index == failed else "" for index in range(len(load))],
               "cached_tokens": [request["cached"] for request in load]}
    # The file of a load without limits that was run before: Python writes Infinity.
    earlier = run | {"request_rate": math.inf, "completed": 1}
    earlier |= {"input_lens": [5], "output_lens": [1], "ttfts": [0.5], "itls": [[]], "generated_texts": [""],
                "errors": [""]}
    write_lines("sglang_bench.jsonl", [earlier, run | details])
    write_lines("sglang_bench_totals.jsonl", [run])


# SGLang's log of requests. Request 7 was aborted.

def sglang_server(load: list[Entry]) -> None:
    lines: list[Entry] = []
    for index, request in enumerate(load):
        received = request["sent"] / 1e9
        first_step = (request["sent"] + request["queue"]) / 1e9
        lines.append({
            "request_parameters": json.dumps({"rid": request["id"], "stream": True}), "id": request["id"],
            "finish_reason": {"type": "abort" if index == 7 else "length"},
            "prompt_tokens": request["prompt"], "weight_version": "default", "queue_time": request["queue"] / 1e9,
            "forward_entry_time": first_step, "prefill_finished_time": token_times(request)[0] / 1e9,
            "request_received_ts": received, "response_sent_to_client_ts": end_of(request) / 1e9,
            "request_finished_ts": end_of(request) / 1e9,
            "decode_throughput": tokens_of(request) / ((end_of(request) - token_times(request)[0]) / 1e9),
            "completion_tokens": tokens_of(request), "cached_tokens": request["cached"],
            "e2e_latency": (end_of(request) - request["sent"]) / 1e9})
    lines.sort(key=lambda line: float(line["request_finished_ts"]))
    write_lines("sglang_request_metrics.log", lines)


# AIPerf. Requests 0 and 1 warm up, request 4 was cancelled, request 6 failed.

def aiperf_metrics(request: Entry) -> Entry:
    def ms(nanoseconds: int) -> float:
        return nanoseconds / 1e6
    latency = token_times(request)[-1] - request["sent"]
    return {"input_sequence_length": request["prompt"], "output_sequence_length": tokens_of(request),
            "time_to_first_token": ms(request["ttft"]), "request_latency": ms(latency),
            "inter_token_latency": ms(latency - request["ttft"]) / (tokens_of(request) - 1),
            "inter_chunk_latency": [ms(gap) for gap in request["gaps"]]}


def aiperf(load: list[Entry]) -> None:
    units = {"input_sequence_length": "tokens", "output_sequence_length": "tokens"}
    lines: list[Entry] = []
    measured = []
    for index, request in enumerate(load):
        ended = index not in (4, 6)
        metrics = aiperf_metrics(request) if ended else {"error_isl": request["prompt"]}
        units["error_isl"] = "tokens"
        error = {4: {"code": 499, "type": "RequestCancellationError", "message": "Request was cancelled"},
                 6: {"code": 503, "type": "HTTPError", "message": "Service Unavailable"}}.get(index)
        stop = token_times(request)[-1] if ended else request["sent"] + 700 * TICK_NS
        lines.append({
            "metadata": {"session_num": index, "x_request_id": request["id"], "x_correlation_id": f"user-{index}",
                         "conversation_id": "c", "turn_index": 0, "credit_issued_ns": request["sent"] - 150 * TICK_NS,
                         "request_start_ns": request["sent"],
                         "request_ack_ns": request["sent"] + 400 * TICK_NS if ended else None,
                         "request_end_ns": stop, "worker_id": "worker_1", "record_processor_id": "processor_1",
                         "benchmark_phase": "warmup" if index < 2 else "profiling", "was_cancelled": index == 4,
                         "cancellation_time_ns": stop if index == 4 else None},
            "metrics": {name: {"value": value, "unit": units.get(name, "ms")} for name, value in metrics.items()},
            "error": error})
        if ended and index >= 2:
            measured.append(metrics)
    lines.sort(key=lambda line: int(line["metadata"]["request_end_ns"]))
    write_lines("aiperf_profile_export.jsonl", lines)
    totals: Entry = {"schema_version": "1.0", "request_count": {"unit": "requests", "avg": float(len(measured))}}
    for name in ("request_latency", "time_to_first_token", "inter_token_latency", "input_sequence_length",
                 "output_sequence_length"):
        values = [metrics[name] for metrics in measured]
        totals[name] = {"unit": units.get(name, "ms"), "avg": mean(values), "min": min(values), "max": max(values),
                        "std": deviation(values), "count": len(values)}
        for percent in (1, 5, 10, 25, 50, 75, 90, 95, 99):
            totals[name][f"p{percent}"] = interpolated(values, percent / 100)
    write_object("aiperf_profile_export_aiperf.json", totals)


# GuideLLM. Request 0 ended before the measured part, request 8 was not finished, request 9 failed.

def guidellm_request(request: Entry, status: str) -> Entry:
    times = token_times(request)
    answered = status == "completed"
    timings = {"targeted_start": (request["sent"] - 90 * TICK_NS) / 1e9, "queued": request["sent"] / 1e9,
               "resolve_start": request["sent"] / 1e9, "request_start": request["sent"] / 1e9,
               "first_token_iteration": times[0] / 1e9 if answered else None,
               "last_token_iteration": times[-1] / 1e9 if answered else None,
               "request_iterations": tokens_of(request), "token_iterations": tokens_of(request) if answered else 0,
               "request_end": end_of(request) / 1e9 if answered else None, "resolve_end": end_of(request) / 1e9}
    return {"type_": "generative_request_stats", "request_id": request["id"], "output": "",
            "info": {"request_id": request["id"], "status": status, "scheduler_node_id": 0, "timings": timings},
            "input_metrics": {"text_tokens": request["prompt"]},
            "output_metrics": {"text_tokens": tokens_of(request) if answered else None},
            "prompt_tokens": request["prompt"], "output_tokens": tokens_of(request) if answered else None}


def guidellm_summary(weighted: list[tuple[float, float]]) -> Entry:
    """Of (value, weight): percentiles are the first values whose cumulated weight reaches the quantile."""
    merged: dict[float, float] = {}
    for value, weight in weighted:
        merged[value] = merged.get(value, 0.0) + weight
    ordered = sorted((value, weight) for value, weight in merged.items() if weight > 0)
    total = math.fsum(weight for _, weight in ordered)
    middle = math.fsum(value * weight for value, weight in ordered) / total
    variance = math.fsum((value - middle) ** 2 * weight for value, weight in ordered) / total

    def quantile(wanted: float) -> float:
        reached = 0.0
        for value, weight in ordered:
            reached += weight / total
            if reached >= wanted:
                return value
        return ordered[-1][0]
    names = {"p001": 0.001, "p01": 0.01, "p05": 0.05, "p10": 0.1, "p25": 0.25, "p50": 0.5, "p75": 0.75, "p90": 0.9,
             "p95": 0.95, "p99": 0.99, "p999": 0.999}
    return {"mean": middle, "median": quantile(0.5), "variance": variance, "std_dev": math.sqrt(variance),
            "min": ordered[0][0], "max": ordered[-1][0], "count": round(math.fsum(weight for _, weight in weighted)),
            "percentiles": {name: quantile(wanted) for name, wanted in names.items()}}


def guidellm(load: list[Entry]) -> None:
    def seconds(entry: Entry, name: str) -> float:
        return float(entry["info"]["timings"][name])
    groups: dict[str, list[Entry]] = {"successful": [], "incomplete": [], "errored": []}
    for index, request in enumerate(load):
        group, status = {8: ("incomplete", "cancelled"), 9: ("errored", "errored")}.get(
            index, ("successful", "completed"))
        groups[group].append(guidellm_request(request, status))
    begin = end_of(load[0]) / 1e9 + 0.000_5
    stop = max(end_of(request) for request in load) / 1e9
    measured = [entry for entry in groups["successful"] if seconds(entry, "request_end") >= begin]
    ttfts = [1e3 * (seconds(entry, "first_token_iteration") - seconds(entry, "request_start")) for entry in measured]
    metrics: Entry = {
        "request_totals": {"successful": len(measured), "incomplete": 1, "errored": 1, "total": len(measured) + 2},
        "request_latency": [(seconds(entry, "request_end") - seconds(entry, "request_start"), 1.0)
                            for entry in measured],
        "time_to_first_token_ms": [(ttft, 1.0) for ttft in ttfts],
        "time_per_output_token_ms": [
            (1e3 * (seconds(entry, "last_token_iteration") - seconds(entry, "request_start")) / entry["output_tokens"],
             float(entry["output_tokens"])) for entry in measured],
        "inter_token_latency_ms": [
            (1e3 * (seconds(entry, "last_token_iteration") - seconds(entry, "first_token_iteration"))
             / (entry["output_tokens"] - 1), entry["output_tokens"] - 1.0) for entry in measured],
        "prompt_token_count": [(float(entry["prompt_tokens"]), 1.0) for entry in measured],
        "output_token_count": [(float(entry["output_tokens"]), 1.0) for entry in measured]}
    summaries = {name: {"successful": guidellm_summary(values)} if isinstance(values, list) else values
                 for name, values in metrics.items()}
    first = {"type_": "generative_benchmark", "config": {"strategy": {"type_": "constant", "rate": 30.0}},
             "scheduler_state": {}, "metrics": summaries, "start_time": begin, "end_time": stop, "requests": groups}
    second = {"type_": "generative_benchmark", "config": {"strategy": {"type_": "concurrent", "streams": 4}},
              "scheduler_state": {}, "metrics": {}, "start_time": begin, "end_time": stop,
              "requests": {"successful": [groups["successful"][1]], "incomplete": [], "errored": []}}
    write_object("guidellm_report.json", {"type_": "generative_benchmarks_report",
                                          "metadata": {"version": 1, "guidellm_version": "0.6.0"}, "args": {},
                                          "benchmarks": [first, second]})


# GenAI-Perf. Each response is an event of an OpenAI endpoint: a role first, usage last.

def genai_perf_request(request: Entry) -> Entry:
    def event(choices: list[Entry], **more: Any) -> str:
        return "data: " + json.dumps({"object": "chat.completion.chunk", "choices": choices} | more) + "\n\n"
    times = token_times(request)
    responses = [(times[0] - 2_000, event([{"index": 0, "delta": {"role": "assistant", "content": ""}}]))]
    responses += [(time, event([{"index": 0, "delta": {"content": f"word{i} \"content\": "}}]))
                  for i, time in enumerate(times)]
    usage = {"prompt_tokens": request["prompt"], "completion_tokens": tokens_of(request),
             "prompt_tokens_details": {"cached_tokens": request["cached"]}}
    responses.append((end_of(request), event([], usage=usage) + "data: [DONE]\n\n"))
    return {"timestamp": request["sent"], "request_inputs": {"payload": "{}"},
            "response_timestamps": [time for time, _ in responses],
            "response_outputs": [{"response": text} for _, text in responses]}


def genai_perf(load: list[Entry]) -> None:
    requests = [genai_perf_request(request) for request in load]
    requests.append({"timestamp": load[-1]["sent"] + 5_000, "request_inputs": {"payload": "{}"},
                     "response_timestamps": [], "response_outputs": []})
    write_object("genai_perf_profile_export.json", {
        "experiments": [{"experiment": {"mode": "concurrency", "value": 4}, "requests": requests,
                         "window_boundaries": [load[0]["sent"], end_of(load[-1])]}],
        "version": "2.59.0", "service_kind": "openai", "endpoint": "v1/chat/completions"})


# OTLP. Integers of 64 bits are strings, as protobuf's JSON prescribes, or numbers, as some writers have them.

def attribute(key: str, value: Any) -> Entry:
    kind = {bool: "boolValue", int: "intValue", float: "doubleValue", str: "stringValue"}[type(value)]
    return {"key": key, "value": {kind: str(value) if kind == "intValue" else value}}


def span(name: str, span_id: int, parent: int, begin: int, end: int, attributes: Iterable[tuple[str, Any]] = (),
         as_numbers: bool = False) -> Entry:
    def time(value: int) -> int | str:
        return value if as_numbers else str(value)
    return {"traceId": "5b8efff798038103d269b633813fc60c", "spanId": f"{span_id:016x}",
            "parentSpanId": f"{parent:016x}" if parent else "", "name": name, "kind": 2,
            "startTimeUnixNano": time(begin), "endTimeUnixNano": time(end),
            "attributes": [attribute(key, value) for key, value in attributes], "status": {}}


def export(spans: list[Entry], scope: str) -> Entry:
    return {"resourceSpans": [{"resource": {"attributes": [attribute("service.name", scope)]},
                               "scopeSpans": [{"scope": {"name": scope}, "spans": spans}]}]}


def vllm_spans(load: list[Entry]) -> None:
    spans = []
    for index, request in enumerate(load):
        latency = (end_of(request) - request["sent"]) / 1e9
        spans.append(span("llm_request", 100 + index, 0, request["sent"], end_of(request) + 3_000, [
            ("gen_ai.latency.time_to_first_token", request["ttft"] / 1e9), ("gen_ai.latency.e2e", latency),
            ("gen_ai.latency.time_in_queue", request["queue"] / 1e9),
            ("gen_ai.usage.prompt_tokens", request["prompt"]), ("gen_ai.usage.completion_tokens", tokens_of(request)),
            ("gen_ai.request.id", request["id"]), ("gen_ai.request.max_tokens", 9), ("gen_ai.request.n", 1)],
            as_numbers=index % 2 == 1))
    lines = [export(spans[i:i + 5], "vllm.llm_engine") for i in range(0, len(spans), 5)]
    lines.insert(1, {"resourceMetrics": []})
    write_lines("vllm_spans.jsonl", lines)
    write_object("vllm_spans_pretty.json", export(spans[:3], "vllm.llm_engine"))


def sglang_spans(load: list[Entry]) -> None:
    """Two ranks of tensor parallelism record the same steps; the second ends later. Parents end last."""
    spans = []
    for index, request in enumerate(load[:6]):
        base = 1000 * (index + 1)
        times = token_times(request)
        first_step = request["sent"] + request["queue"]
        for rank in (0, 1):
            late = 4_000 * rank
            thread = base + 10 + rank
            spans.append(span("request_process", base + 100 + rank, thread, request["sent"] + 900,
                              request["sent"] + 1_900))
            spans.append(span("prefill_waiting", base + 110 + rank, thread, request["sent"] + 1_900,
                              first_step + late))
            spans.append(span("prefill_forward", base + 120 + rank, thread, first_step, times[0] + late))
            forward = base + 130 + rank
            for step, (begin, end) in enumerate(zip(times, times[1:])):
                spans.append(span("decode_loop", base + 200 + 20 * rank + step, forward, begin, end + late,
                                  [("decode_ct", step)]))
            spans.append(span("decode_forward", forward, thread, times[0], times[-1] + late))
            spans.append(span(f"scheduler [TP {rank}] (host:abcd1234 | pid:{70 + rank})", thread, base,
                              request["sent"] + 800, times[-1] + late, [("tp_rank", rank)]))
        spans.append(span(f"Req {request['id'][:8]}", base, 0, request["sent"], end_of(request), [
            ("rid", request["id"]), ("module", "sglang::request"),
            ("gen_ai.usage.prompt_tokens", request["prompt"]), ("gen_ai.usage.completion_tokens", tokens_of(request)),
            ("gen_ai.usage.cached_tokens", request["cached"]),
            ("gen_ai.latency.time_to_first_token", (request["ttft"] + 300_000) / 1e9),
            ("gen_ai.latency.e2e", (end_of(request) - request["sent"]) / 1e9)]))
    # Its request is not in the file.
    spans.append(span("prefill_forward", 9, 8, START_NS, START_NS + 5_000))
    write_lines("sglang_spans.jsonl", [export(spans[i:i + 40], "sglang server") for i in range(0, len(spans), 40)])


def main() -> None:
    load = make_load()
    for write in (sglang_bench, sglang_server, aiperf, guidellm, genai_perf, vllm_spans, sglang_spans):
        write(load)
    for request in load:
        print(request["id"], "sent", request["sent"], "ttft", request["ttft"], "gaps", request["gaps"], "queue",
              request["queue"], "tail", request["tail"], "prompt", request["prompt"], "cached", request["cached"])


if __name__ == "__main__":
    main()
