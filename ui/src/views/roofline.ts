// Log-log: kernels by ncu, by the GPU's counters or by recorded work, and stages by the model, under the roofs of the
// hardware.
import type { App, MountedView, ViewDescription } from "../app";
import type { Point } from "../chart/point";
import { chartColors, scatter, type Line, type Scatter } from "../chart/scatter";
import { deviceWord, onCpu, type Kernel, type Profile, type Stage } from "../data/profile";
import { h, type Child } from "../dom/dom";
import { link } from "../dom/link";
import { note, notKnown, prose, section, swatch } from "../dom/parts";
import { figure } from "../dom/copy";
import { table } from "../dom/table";
import { bytes, bytesPerS, count, counted, flops, flopsPerS, intensity, ms, percent } from "../format/figures";
import { kernelLink, kernelPlaces } from "../state/links";

type Measured = Profile["roofline"]["kernels"][number];

interface Roof {
  flops: number;
  bandwidth: number;
  source: string;
}

interface Peak {
  flops: number;
  name: string;
}

/** Peaks of other number formats that kernels are measured against. */
function otherPeaks(app: App, roof: Roof): Peak[] {
  const peaks = new Map<number, string>();
  for (const kernel of app.profile.roofline.kernels)
    if (kernel.peak_flops_per_s !== null && kernel.peak_flops_per_s !== roof.flops)
      peaks.set(kernel.peak_flops_per_s, kernel.peak_name ?? "");
  return [...peaks].map(([flops, name]) => ({ flops, name }));
}

function roofOf(app: App): Roof | null {
  const { gpu, cpu } = app.profile.utilization;
  const stage = app.profile.stages.find(
    (each) => each.peak_flops_per_s !== null && each.peak_bandwidth_bytes_per_s !== null,
  );
  if (stage)
    return {
      flops: stage.peak_flops_per_s!,
      bandwidth: stage.peak_bandwidth_bytes_per_s!,
      source: stage.peak_name ?? "dense",
    };
  if (gpu) return { flops: gpu.bf16_flops_per_s, bandwidth: gpu.memory_bandwidth_bytes_per_s, source: "bf16 dense" };
  if (cpu && cpu.flops_per_s !== null)
    return {
      flops: cpu.flops_per_s,
      bandwidth: cpu.memory_bandwidth_bytes_per_s,
      source: `${cpu.number_format}, measured`,
    };
  return null;
}

const byCounters = (measured: Measured): boolean => measured.source === "counters";

/** "ncu", "counters, 41 samples". */
function sourceWords(measured: Measured): string {
  return byCounters(measured) ? `counters, ${counted(measured.samples, "sample")}` : measured.source || "ncu";
}

function flopsText(app: App, measured: Measured): string {
  const why = measured.why_no_flops;
  return why ? (app.view.names[why] ?? why) : flopsPerS(measured.flops_per_s);
}

/** How FLOP/s from counters are estimated; null for other sources. */
function estimateWords(measured: Measured): string | null {
  if (!byCounters(measured)) return null;
  const alone =
    `${sourceWords(measured)} of ${ms(measured.sampled_ms)} ms, alone in ${percent(measured.own_share_of_samples)} ` +
    "of it";
  return measured.peak_name
    ? `${alone}; tensor cores active ${percent(measured.tensor_active_share)} of ` +
        `${flopsPerS(measured.peak_flops_per_s)} (${measured.peak_name}, by the ${measured.number_format_source})`
    : alone;
}

/** The kernel with a row's name and device. */
function kernelOf(app: App, measured: Measured): Kernel | undefined {
  const place = kernelPlaces(app.profile).byName(measured.kernel_name, measured.device);
  return place === undefined ? undefined : app.profile.kernels[place];
}

const hrefOf = (app: App, measured: Measured): string | null =>
  kernelLink(app, kernelPlaces(app.profile).byName(measured.kernel_name, measured.device));

function kernelPoints(app: App): Point[] {
  const points: Point[] = [];
  for (const measured of app.profile.roofline.kernels) {
    if (!measured.flops_per_byte || !measured.flops_per_s) continue;
    const kernel = kernelOf(app, measured);
    const href = hrefOf(app, measured);
    const kernelClass = kernel?.class ?? "other";
    points.push({
      x: measured.flops_per_byte,
      y: measured.flops_per_s,
      color: () => app.palette.now(kernelClass),
      radius: 3.5 + 14 * Math.sqrt(kernel?.share ?? 0),
      shape: byCounters(measured) ? "triangle" : "dot",
      lines: [
        measured.short_name,
        `${app.palette.label(kernelClass)}, ${percent(kernel?.share ?? null)} of kernel time`,
        ...[estimateWords(measured)].filter((line) => line !== null),
        `${flopsPerS(measured.flops_per_s)}, ${bytesPerS(measured.bytes_per_s)}, ` +
          `${intensity(measured.flops_per_byte)} FLOP/B`,
        `${percent(measured.compute_share_of_peak)} of compute, ${percent(measured.memory_share_of_peak)} of ` +
          `memory; bound by ${measured.bound}`,
      ],
      ...(href === null ? {} : { onClick: () => (location.hash = href) }),
    });
  }
  return points.sort((a, b) => b.radius - a.radius);
}

function stagePoints(app: App): Point[] {
  const points: Point[] = [];
  for (const stage of app.profile.stages) {
    const { flops_per_s: reached, flops_per_busy_s: busy } = stage.shown;
    if (!stage.flops_per_byte || !reached) continue;
    points.push({
      x: stage.flops_per_byte,
      y: reached,
      y2: busy,
      color: chartColors.text,
      radius: 5,
      shape: "square",
      label: stage.name,
      lines: [
        `${stage.name}, by the model`,
        `${flopsPerS(reached)} on wall time${busy ? `, ${flopsPerS(busy)} on busy time` : ""}`,
        `${intensity(stage.flops_per_byte)} FLOP/B; ridge point ${intensity(stage.ridge_flops_per_byte)} FLOP/B`,
      ],
    });
  }
  return points;
}

/** The same stages with the DRAM bytes that the GPU's counters measured instead of the model's. */
function measuredPoints(app: App): Point[] {
  const points: Point[] = [];
  for (const stage of app.profile.stages) {
    const { flops_per_s: reached, flops_per_measured_byte: measured } = stage.shown;
    if (!measured || !reached) continue;
    points.push({
      x: measured,
      y: reached,
      color: chartColors.text,
      radius: 5,
      shape: "ring",
      lines: [
        `${stage.name}, the model's FLOPs over measured DRAM bytes`,
        `${flopsPerS(reached)} on wall time`,
        `${intensity(measured)} FLOP/B`,
      ],
    });
  }
  return points;
}

function chartOf(app: App, roof: Roof | null): Scatter | null {
  const points = [...kernelPoints(app), ...stagePoints(app), ...measuredPoints(app)];
  if (points.length === 0) return null;
  const ridge = roof ? roof.flops / roof.bandwidth : 1;
  const peaks = roof ? otherPeaks(app, roof) : [];
  const highest = Math.max(roof?.flops ?? 0, ...peaks.map((peak) => peak.flops));
  const xs = [...points.map((point) => point.x), ...(roof ? [ridge, highest / roof.bandwidth] : [])];
  const ys = [...points.flatMap((point) => [point.y, point.y2 ?? point.y]), ...(roof ? [highest] : [])];
  const decades = (low: number, high: number): [number, number] => [
    10 ** Math.floor(Math.log10(low) - 0.15),
    10 ** Math.ceil(Math.log10(high) + 0.15),
  ];
  const xRange = decades(Math.min(...xs), Math.max(...xs));
  const yRange = decades(Math.min(...ys), Math.max(...ys));
  const lines: Line[] = [];
  if (roof) {
    const start = Math.max(xRange[0], yRange[0] / roof.bandwidth);
    lines.push({
      points: [
        [start, start * roof.bandwidth],
        [highest / roof.bandwidth, highest],
      ],
      color: chartColors.text,
    });
    for (const peak of peaks)
      lines.push({
        points: [
          [peak.flops / roof.bandwidth, peak.flops],
          [xRange[1], peak.flops],
        ],
        color: chartColors.text,
        label: `${flopsPerS(peak.flops)} (${peak.name})`,
        labelAt: "end",
      });
    lines.push({
      points: [
        [ridge, roof.flops],
        [xRange[1], roof.flops],
      ],
      color: chartColors.text,
      label: `${flopsPerS(roof.flops)} (${roof.source}), ${bytesPerS(roof.bandwidth)}`,
      labelAt: "end",
    });
    lines.push({
      points: [
        [ridge, yRange[0]],
        [ridge, roof.flops],
      ],
      dashed: true,
      label: `ridge point ${intensity(ridge)} FLOP/B`,
    });
  }
  const power = (value: number) => Math.abs(Math.log10(value) - Math.round(Math.log10(value))) < 1e-6;
  return scatter({
    label:
      `Roofline of ${counted(points.length, "point")}: FLOP/s over FLOP per byte, both logarithmic; the same ` +
      "numbers are in the tables below",
    xTitle: "arithmetic intensity (FLOP/B)",
    yTitle: "achieved FLOP/s",
    log: true,
    xRange,
    yRange,
    xText: (value) => (power(value) ? String(Number(value.toPrecision(3))) : ""),
    yText: (value) => (power(value) ? flopsPerS(value).replace(".00", "").replace("FLOP/s", "") : ""),
    points,
    lines,
    height: 440,
  });
}

function boundShares(app: App): HTMLElement | null {
  const shares = app.profile.roofline.share_of_kernel_time;
  if (!shares) return null;
  const { kernels } = app.profile.roofline;
  // Of the compute units, counters cover only tensor cores, so they cannot show latency.
  const bounds = (["memory", "compute", "latency", "unknown"] as const).filter(
    (bound) => bound !== "latency" || !kernels.every(byCounters),
  );
  const unknown = kernels.some(byCounters) ? "bound not known" : "without metrics";
  return h(
    "dl",
    { class: "tiles small" },
    bounds.map((bound) =>
      h(
        "div",
        {},
        h("dt", {}, bound === "unknown" ? unknown : `bound by ${bound}`),
        h("dd", { class: "value" }, figure(percent(shares[bound]), shares[bound], "of the time of all kernels")),
        h("dd", { class: "of" }, "of kernel time"),
      ),
    ),
  );
}

function kernelTable(app: App): HTMLElement {
  const { kernels, why_not, rule } = app.profile.roofline;
  if (kernels.length === 0)
    return section(
      "Kernels",
      notKnown(why_not, "no kernel was measured with ncu; `llmprof run -- PROGRAM` measures the longest ones"),
    );
  const several = new Set(kernels.map((kernel) => kernel.device)).size > 1;
  const share = (measured: Measured) => kernelOf(app, measured)?.share ?? null;
  const view = table<Measured>({
    caption: "Kernels on the roofline",
    rows: kernels,
    columns: [
      {
        id: "name",
        title: "kernel",
        value: (k) => k.short_name,
        heads: true,
        className: "name",
        cell: (k) =>
          link(
            hrefOf(app, k),
            { class: "with-swatch", title: k.kernel_name },
            swatch(app, kernelOf(app, k)?.class ?? "other"),
            k.short_name,
          ),
      },
      ...(several ? [{ id: "device", title: "device", value: (k: Measured) => k.device }] : []),
      {
        id: "share",
        title: "share of kernel time",
        of: "of the time of all kernels, on all devices",
        value: share,
        text: (k) => percent(share(k)),
      },
      { id: "bound", title: "bound by", value: (k) => k.bound },
      {
        id: "intensity",
        title: "FLOP/B",
        of: "arithmetic intensity, DRAM bytes",
        value: (k) => k.flops_per_byte,
        format: intensity,
      },
      { id: "flops", title: "FLOP/s", of: "achieved", value: (k) => k.flops_per_s, text: (k) => flopsText(app, k) },
      { id: "bytes", title: "bandwidth", of: "achieved, DRAM", value: (k) => k.bytes_per_s, format: bytesPerS },
      { id: "compute", title: "of compute peak", value: (k) => k.compute_share_of_peak, format: percent },
      { id: "memory", title: "of memory peak", value: (k) => k.memory_share_of_peak, format: percent },
      { id: "launches", title: "launches", of: "launches measured", value: (k) => k.launches, format: count },
      {
        id: "source",
        title: "source",
        value: sourceWords,
        className: "nowrap",
        cell: (k) => h("span", { title: estimateWords(k) ?? "" }, sourceWords(k)),
      },
    ],
    sort: "-share",
  });
  const whyNot = kernels.some(byCounters) && why_not;
  return section(
    "Kernels",
    boundShares(app),
    view.element,
    whyNot && note(prose(`${whyNot.charAt(0).toUpperCase()}${whyNot.slice(1)}.`)),
    rule && note(`${rule.charAt(0).toUpperCase()}${rule.slice(1)}.`),
  );
}

function stageTable(app: App): HTMLElement {
  const stages = app.profile.stages.filter((stage) => stage.flops !== null);
  if (stages.length === 0) return section("Stages, by the model", app.words.of("MFU and MBU"));
  const view = table<Stage>({
    caption: "Stages on the roofline",
    sortable: false,
    fit: true,
    rows: stages,
    columns: [
      { id: "stage", title: "stage", value: (s) => s.name, heads: true },
      {
        id: "intensity",
        title: "FLOP/B",
        of: "the model's arithmetic intensity",
        value: (s) => s.flops_per_byte,
        format: intensity,
      },
      { id: "ridge", title: "ridge point (FLOP/B)", value: (s) => s.ridge_flops_per_byte, format: intensity },
      {
        id: "bound",
        title: "bound by",
        value: (s) => (s.memory_bound === null ? "" : s.memory_bound ? "memory" : "compute"),
      },
      {
        id: "floor",
        title: "lower bound (ms)",
        of: "ms per instance at the hardware's limit",
        value: (s) => s.floor_ms,
        format: ms,
      },
      { id: "wall", title: "wall (ms)", of: "ms per instance, mean", value: (s) => s.shown.wall_ms.mean, format: ms },
      { id: "mfu", title: "MFU on wall", of: "of peak FLOP/s", value: (s) => s.shown.mfu.wall, format: percent },
      {
        id: "mbu",
        title: "MBU on wall",
        of: "of peak memory bandwidth",
        value: (s) => s.shown.mbu.wall,
        format: percent,
      },
    ],
  });
  return section("Stages, by the model", view.element, stages.map(costOf));
}

type CostPart = Stage["cost"][number];

/**
 * The parts of the model that a stage's FLOPs and bytes come from. Operators of one class move either weights or the
 * cache.
 */
function costOf(stage: Stage): Child {
  if (stage.cost.length === 0) return null;
  const unit = "per instance";
  const size = (id: string, title: string, value: (part: CostPart) => number, sum: number, of: string) => ({
    id,
    title,
    of: `bytes ${unit}`,
    value,
    text: (part: CostPart) => bytes(value(part)),
    sum,
    sumOf: `B ${of}${unit}`,
  });
  const all = size("bytes", "all bytes", (part) => part.bytes, stage.shown.cost_bytes, "");
  const sizes = stage.from_operators
    ? [all]
    : [
        size("weights", "weights read", (part) => part.weight_bytes, stage.shown.cost_weight_bytes, "of weights "),
        size(
          "cache",
          "KV cache read and written",
          (part) => part.kv_bytes,
          stage.shown.cost_kv_bytes,
          "of the KV cache ",
        ),
        all,
      ];
  const foot = (text: string, exact: number | null, of: string) =>
    h("td", { class: "number" }, figure(text, exact, of));
  return h(
    "details",
    { class: "cost", open: true },
    h(
      "summary",
      {},
      stage.from_operators
        ? `What ${stage.name} computed and moved, as recorded`
        : `What ${stage.name} must compute and move`,
    ),
    table<CostPart>({
      caption: `FLOPs and bytes of ${stage.name}`,
      fit: true,
      rows: stage.cost,
      columns: [
        {
          id: "part",
          title: stage.from_operators ? "operators of class" : "part of the model",
          value: (c) => c.part,
          heads: true,
        },
        { id: "flops", title: "FLOPs", of: unit, value: (c) => c.flops, format: flops },
        ...sizes,
      ],
      foot: h(
        "tfoot",
        {},
        h(
          "tr",
          {},
          h("th", { scope: "row" }, "sum"),
          foot(flops(stage.flops), stage.flops, `FLOP ${unit}`),
          sizes.map(({ sum, sumOf }) => foot(bytes(sum), sum, sumOf)),
        ),
      ),
    }).element,
    stage.basis && note(prose(`${stage.basis.charAt(0).toUpperCase()}${stage.basis.slice(1)}.`)),
  );
}

function mount(app: App): MountedView {
  const roof = roofOf(app);
  const chart = chartOf(app, roof);
  const { kernels } = app.profile.roofline;
  const stages = app.profile.stages.filter((stage) => stage.flops);
  const marks: [string, string | false][] = [
    [
      "●",
      kernels.some((kernel) => !byCounters(kernel)) &&
        (onCpu(app.profile) ? "operators, from the FLOPs and bytes they recorded" : "kernels that ncu measured"),
    ],
    [
      "▲",
      kernels.some(byCounters) &&
        "kernels that fill samples of the GPU's counters: tensor cores alone, an upper bound",
    ],
    ["■", stages.length > 0 && "stages: the model's FLOPs over wall time, with a line up to busy time"],
    [
      "○",
      stages.some((stage) => stage.measured?.dram_bytes) &&
        "the same with the DRAM bytes that the GPU's counters measured",
    ],
  ];
  const legend = h(
    "ul",
    { class: "legend marks", "aria-label": "Marks of the chart" },
    marks
      .filter(([, words]) => words)
      .map(([mark, words]) => h("li", {}, h("span", { "aria-hidden": "true" }, mark), ` ${words}`)),
  );
  const hints = [
    kernels.length > 0 && "Colors are kernel classes; larger marks take more of the kernel time.",
    roof &&
      `Roofs: ${flopsPerS(roof.flops)} (${roof.source}) and ${bytesPerS(roof.bandwidth)} of the ` +
        `${deviceWord(app.profile)}.`,
    "Drag zooms, a double click shows all.",
  ].filter(Boolean);
  return {
    element: h(
      "div",
      { class: "view" },
      h("h1", {}, "Roofline"),
      chart && [chart.element, legend, note(hints.join(" "))],
      stageTable(app),
      kernelTable(app),
    ),
    redraw: () => chart?.redraw(),
    close: () => chart?.destroy(),
  };
}

export const rooflineView: ViewDescription = { id: "roofline", title: "Roofline", mount };
