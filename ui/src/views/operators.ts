// Operators of the framework, with the GPU time of the work they launched.
import type { App, MountedView, ViewDescription } from "../app";
import type { Operator } from "../data/profile";
import { onCpu } from "../data/profile";
import { h } from "../dom/dom";
import { note, notKnown } from "../dom/parts";
import { table, type Column } from "../dom/table";
import { bytesPerS, count, exactMs, flopsPerS, percent } from "../format/figures";
import { setOptions } from "../state/fragment";

const VIEW = "operators";

function mount(app: App, options: URLSearchParams, printing: boolean): MountedView {
  const { operators, operators_found: found } = app.profile;
  const cpu = onCpu(app.profile);
  const shares = new Map(operators.map((operator, index) => [operator, app.view.operator_shares[index] ?? null]));
  const columns: Column<Operator>[] = [
    { id: "name", title: "operator", value: (o) => o.name, heads: true, className: "name" },
    { id: "calls", title: "calls", value: (o) => o.calls, format: count },
    {
      id: "cpu_total",
      title: "CPU total (ms)",
      of: "ms, including inner operators",
      value: (o) => o.cpu_total_ms,
      format: exactMs,
    },
    {
      id: "cpu_self",
      title: "CPU self (ms)",
      of: "ms, excluding inner operators",
      value: (o) => o.cpu_self_ms,
      format: exactMs,
    },
    { id: "mean", title: "mean (ms)", of: "ms of CPU time per call", value: (o) => o.mean_ms, format: exactMs },
  ];
  if (cpu) {
    columns.push(
      {
        id: "flops",
        title: "FLOP/s",
        of: "recorded FLOPs over CPU total time",
        value: (o) => o.flops_per_s,
        format: flopsPerS,
      },
      {
        id: "bytes",
        title: "bandwidth",
        of: "recorded bytes over CPU total time",
        value: (o) => o.bytes_per_s,
        format: bytesPerS,
      },
    );
  } else {
    columns.push(
      {
        id: "cuda_total",
        title: "GPU total (ms)",
        of: "ms of kernels, copies and fills launched inside",
        value: (o) => o.cuda_total_ms,
        format: exactMs,
      },
      {
        id: "cuda_self",
        title: "GPU self (ms)",
        of: "ms of those that no inner operator launched",
        value: (o) => o.cuda_self_ms,
        format: exactMs,
      },
      {
        id: "share",
        title: "share of GPU time",
        of: "GPU self time over the GPU time that operators launched",
        value: (o) => shares.get(o) ?? null,
        format: percent,
      },
      { id: "kernels", title: "kernels", of: "kernels in GPU total", value: (o) => o.kernel_count, format: count },
    );
  }
  const text = options.get("q") ?? "";
  const wanted = (needle: string) =>
    operators.filter((operator) => operator.name.toLowerCase().includes(needle.toLowerCase()));
  const view = table<Operator>({
    caption: "Operators",
    columns,
    rows: wanted(text),
    sort: options.get("sort") ?? (cpu ? "-cpu_self" : "-cuda_self"),
    limit: printing ? 40 : 200,
    onSort: (sort) => setOptions(VIEW, { sort }),
  });
  const input = h("input", {
    type: "search",
    value: text,
    placeholder: "name contains",
    "aria-label": "Filter by name",
  });
  input.addEventListener("input", () => {
    setOptions(VIEW, { q: input.value });
    view.setRows(wanted(input.value));
  });
  const coverage =
    found.kernels > 0 &&
    `Operators launched ${count(found.kernels_with_operator)} of ${count(found.kernels)} kernels ` +
      `(${percent(found.kernels_share)}) and ${percent(found.share_of_gpu_time)} of the time of kernels, copies ` +
      "and fills.";
  const graphs =
    found.graph_kernels > 0 &&
    ` CUDA graphs replayed ${count(found.graph_kernels)} kernels, which run no operators; ` +
      `${count(found.captured_kernels)} of these have the operators of their graph's capture.`;
  return {
    element: h(
      "div",
      { class: "view" },
      h("h1", {}, "Operators"),
      operators.length === 0
        ? notKnown(found.why_not, "this input contains no framework operators")
        : [
            found.source && h("p", {}, `From ${found.source}. `, coverage, graphs),
            h("div", { class: "filters no-print" }, h("label", { class: "field" }, h("span", {}, "Name"), input)),
            view.element,
            note("CPU times are wall time on the calling thread; self time excludes inner operators."),
          ],
    ),
  };
}

export const operatorsView: ViewDescription = { id: VIEW, title: "Operators", mount };
