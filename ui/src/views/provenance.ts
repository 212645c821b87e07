// The sources of all numbers: captures, tools, devices, profiling overhead, what the input lacks.
import type { App, MountedView, ViewDescription } from "../app";
import { deviceWord } from "../data/profile";
import { h } from "../dom/dom";
import { prose, section } from "../dom/parts";
import { facts, table } from "../dom/table";
import { bytes, bytesPerS, clock, count, flopsPerS, ms, percent, ratio } from "../format/figures";

function captures(app: App): HTMLElement {
  const rows = app.profile.context.captures;
  return section(
    "Captures",
    table({
      caption: "Captures that were read",
      sortable: false,
      rows,
      columns: [
        {
          id: "path",
          title: "file",
          value: (c) => c.path,
          heads: true,
          className: "prose",
          cell: (c) => h("code", {}, c.path),
        },
        { id: "format", title: "format", value: (c) => app.view.names[c.format] ?? c.format },
        { id: "tool", title: "recorded by", value: (c) => [c.tool, c.tool_version].filter(Boolean).join(" ") },
        { id: "driver", title: "driver", value: (c) => c.driver ?? "" },
        { id: "cuda", title: "CUDA", value: (c) => c.cuda ?? "" },
        ...(rows.some((c) => c.rank !== null)
          ? [{ id: "rank", title: "rank", value: (c: (typeof rows)[number]) => c.rank }]
          : []),
      ],
    }).element,
    app.view.failed_captures.map((each) => h("p", { class: "warning" }, prose(each))),
  );
}

function devices(app: App): HTMLElement {
  const { gpus, cpus } = app.profile.context;
  const { gpu, cpu } = app.profile.utilization;
  const peaks = gpu
    ? `Peaks that MFU and MBU are measured against: ${flopsPerS(gpu.bf16_flops_per_s)} (bf16, dense) and ` +
      `${bytesPerS(gpu.memory_bandwidth_bytes_per_s)}, of ${gpu.name} in conf/gpus.yaml.`
    : cpu &&
      `Peaks that MFU and MBU are measured against: ${flopsPerS(cpu.flops_per_s)} (${cpu.number_format}) and ` +
        `${bytesPerS(cpu.memory_bandwidth_bytes_per_s)}, measured on this ` +
        `CPU${cpu.method ? ` (${cpu.method})` : ""}.`;
  return section(
    `${deviceWord(app.profile)}s`,
    gpus.length > 0 &&
      table({
        caption: "GPUs of the captures",
        sortable: false,
        rows: gpus,
        columns: [
          { id: "device", title: "device", value: (g) => g.device, heads: true },
          { id: "name", title: "GPU", value: (g) => g.name ?? "" },
          { id: "capability", title: "compute capability", value: (g) => g.compute_capability ?? "" },
          { id: "sms", title: "SMs", of: "streaming multiprocessors", value: (g) => g.sm_count, format: count },
          { id: "memory", title: "memory", value: (g) => g.memory_bytes, format: bytes },
          {
            id: "bandwidth",
            title: "bandwidth",
            of: "as the capture states it",
            value: (g) => g.memory_bandwidth_bytes_per_s,
            format: bytesPerS,
          },
          { id: "clock", title: "clock", of: "as the capture states it", value: (g) => g.clock_hz, format: clock },
          {
            id: "uuid",
            title: "UUID",
            value: (g) => g.uuid ?? "",
            cell: (g) => h("code", {}, g.uuid ?? ""),
            className: "one-line",
          },
        ],
      }).element,
    cpus.map((each) =>
      facts([
        ["device", each.device],
        ["CPU", each.name],
        ["threads", each.threads !== null && count(each.threads)],
        ["peaks", `${flopsPerS(each.peak_flops_per_s)}, ${bytesPerS(each.peak_bytes_per_s)}`],
        ["how measured", each.method],
        ["measured", each.peaks_measured_at],
        ["this run's own measurement", each.peaks_note],
      ]),
    ),
    peaks && h("p", { class: "muted" }, peaks),
  );
}

function overhead(app: App): HTMLElement | null {
  const own = app.profile.overhead;
  if (!own) return null;
  return section(
    "What profiling cost",
    own.passes.length > 0 &&
      table({
        caption: "Overhead by recording and stage",
        sortable: false,
        fit: true,
        rows: own.passes,
        columns: [
          { id: "pass", title: "recording", value: (p) => p.pass, heads: true },
          { id: "stage", title: "stage", value: (p) => p.stage },
          {
            id: "control",
            title: "control run (ms)",
            of: "ms, the workload's own time, not profiled",
            value: (p) => p.control_ms,
            format: ms,
          },
          {
            id: "profiled",
            title: "profiled (ms)",
            of: "ms, the workload's own time in that recording",
            value: (p) => p.profiled_ms,
            format: ms,
          },
          { id: "ratio", title: "profiled over control", value: (p) => p.ratio, format: ratio },
        ],
      }).element,
    app.words.of("What profiling cost"),
  );
}

function diagnostics(app: App): HTMLElement {
  const rows = app.profile.diagnostics;
  if (rows.length === 0) return section("Diagnostics", h("p", {}, "None: nothing is wrong with the input."));
  const order = ["error", "warning", "info"];
  const view = table({
    caption: "Diagnostics",
    rows: [...rows].sort((a, b) => order.indexOf(a.severity) - order.indexOf(b.severity)),
    columns: [
      {
        id: "severity",
        title: "severity",
        value: (d) => d.severity,
        cell: (d) => h("span", { class: `severity ${d.severity}` }, d.severity),
      },
      { id: "code", title: "code", value: (d) => d.code, cell: (d) => h("code", {}, d.code) },
      { id: "message", title: "message", value: (d) => d.message, heads: true, cell: (d) => prose(d.message) },
      { id: "count", title: "count", of: "how often", value: (d) => d.count, format: count },
    ],
  });
  return section("Diagnostics", view.element);
}

function mount(app: App): MountedView {
  const { tool, schema_version, engine, totals, workload, model } = app.profile;
  return {
    element: h(
      "div",
      { class: "view" },
      h("h1", {}, "Provenance and diagnostics"),
      captures(app),
      devices(app),
      overhead(app),
      diagnostics(app),
      section(
        "How this was made",
        facts([
          ["made by", `${tool.name} ${tool.version}, profile.json schema ${schema_version}`],
          [
            "kernels from",
            {
              timeline: "a timeline: every kernel with start and end",
              profiler: "ncu: launches measured one by one",
              summary: "totals per kernel name",
              none: "none were recorded",
            }[totals.source] ?? totals.source,
          ],
          ["stages", app.profile.stages_found.reason && prose(app.profile.stages_found.reason)],
          [
            "engine evidence",
            engine.evidence.map((each) =>
              h("div", {}, `${each.source}: ${each.subject}${each.share === null ? "" : ` (${percent(each.share)})`}`),
            ),
          ],
          ["model from", model?.source],
          ["notes on the model", model && model.notes.length > 0 && model.notes.join("; ")],
          ["command", workload.command && h("code", {}, workload.command)],
        ]),
      ),
    ),
  };
}

export const provenanceView: ViewDescription = { id: "provenance", title: "Provenance", mount };
