// Every kernel: sorted, filtered, with its times by stage and its distribution; full name, shapes and metrics on demand.
import type { App, MountedView, ViewDescription } from "../app";
import type { Kernel } from "../data/profile";
import { onCpu } from "../data/profile";
import { copyText } from "../dom/copy";
import { h, replace, svg } from "../dom/dom";
import { note, select, swatch } from "../dom/parts";
import { facts, table, type Column } from "../dom/table";
import { bytes, count, counted, exactMs, fineMs, flops, percent } from "../format/figures";
import { placeHash, setOptions } from "../state/fragment";
import { savingsByKernel } from "./savings";

const VIEW = "kernels";
const NO_LIBRARY = "(none)";

interface Filter {
  text: string;
  kernelClass: string;
  stage: string;
  library: string;
}

function filterOf(options: URLSearchParams): Filter {
  return { text: options.get("q") ?? "", kernelClass: options.get("class") ?? "", stage: options.get("stage") ?? "", library: options.get("library") ?? "" };
}

function matches(kernel: Kernel, filter: Filter): boolean {
  const text = filter.text.toLowerCase();
  return (
    (!filter.kernelClass || kernel.class === filter.kernelClass) &&
    (!filter.stage || kernel.stages[filter.stage] !== undefined) &&
    (!filter.library || (kernel.library ?? NO_LIBRARY) === filter.library) &&
    (!text || kernel.kernel_name.toLowerCase().includes(text) || kernel.short_name.toLowerCase().includes(text))
  );
}

/** Shortest to longest launch as a line, median to 99th percentile as a box, on one logarithmic axis for all kernels. */
function distribution(kernel: Kernel, low: number, high: number): SVGElement | string {
  const { min_ms, p50_ms, p99_ms, max_ms } = kernel;
  if (min_ms === null || p50_ms === null || p99_ms === null || max_ms === null) return "-";
  const width = 120;
  const x = (value: number) => 2 + (high > low ? (Math.log(Math.max(value, low) / low) / Math.log(high / low)) * (width - 4) : 0);
  const words = `min ${exactMs(min_ms)}, p50 ${exactMs(p50_ms)}, p99 ${exactMs(p99_ms)}, max ${exactMs(max_ms)} ms of ${counted(kernel.calls, "launch", "launches")}`;
  return svg(
    "svg",
    { class: "distribution", viewBox: `0 0 ${width} 14`, width, height: 14, role: "img", "aria-label": words },
    svg("title", {}, words),
    svg("line", { x1: x(min_ms), x2: Math.max(x(max_ms), x(min_ms) + 1), y1: 7, y2: 7 }),
    svg("rect", { x: x(p50_ms), width: Math.max(x(p99_ms) - x(p50_ms), 1), y: 4, height: 6 }),
    svg("rect", { class: "median", x: x(p50_ms) - 1, width: 2, y: 1, height: 12 }),
  );
}

function metricsOf(kernel: Kernel): HTMLElement | null {
  const all = Object.entries(kernel.metrics).map(([name, metric]) => ({ name, ...metric }));
  if (all.length === 0) return null;
  const number = (value: number) => (Number.isInteger(value) ? count(value) : String(Number(value.toPrecision(6))));
  const view = table({
    caption: `Metrics of ${kernel.short_name}, by ncu`,
    rows: all,
    limit: 60,
    columns: [
      { id: "name", title: "metric", value: (m) => m.name, heads: true, cell: (m) => h("code", {}, m.name) },
      { id: "mean", title: "mean", of: "over the launches that ncu measured", value: (m) => m.mean, text: (m) => number(m.mean) },
      { id: "min", title: "min", value: (m) => m.min, text: (m) => number(m.min) },
      { id: "max", title: "max", value: (m) => m.max, text: (m) => number(m.max) },
      { id: "unit", title: "unit", value: (m) => m.unit },
      { id: "count", title: "launches", of: "launches measured", value: (m) => m.count, text: (m) => count(m.count) },
    ],
  });
  const input = h("input", { type: "search", placeholder: "Filter metrics", "aria-label": "Filter metrics" });
  input.addEventListener("input", () => view.setRows(all.filter((metric) => metric.name.toLowerCase().includes(input.value.toLowerCase()))));
  return h("details", {}, h("summary", {}, `${counted(all.length, "metric")} of ncu`), h("div", { class: "filters" }, input), view.element);
}

function detailOf(kernel: Kernel): HTMLElement {
  const shapes = table({
    caption: `Launch shapes of ${kernel.short_name}`,
    rows: kernel.shapes,
    limit: 12,
    columns: [
      { id: "grid", title: "grid", value: (s) => s.grid.join(" x ") },
      { id: "block", title: "block", value: (s) => s.block.join(" x ") },
      { id: "calls", title: "calls", of: "launches with this grid and block", value: (s) => s.calls, text: (s) => count(s.calls) },
      { id: "total", title: "total (ms)", value: (s) => s.total_ms, text: (s) => exactMs(s.total_ms) },
      { id: "mean", title: "mean (ms)", of: "ms per launch", value: (s) => s.mean_ms, text: (s) => exactMs(s.mean_ms) },
      { id: "token", title: "ms per decode step", of: "ms in decode over its steps, warm-up excluded", value: (s) => s.ms_per_token, text: (s) => fineMs(s.ms_per_token) },
    ],
  });
  return h(
    "div",
    { class: "kernel-detail" },
    h("p", { class: "full-name" }, h("code", {}, kernel.kernel_name)),
    h("p", {}, h("button", { class: "quiet", type: "button", onclick: () => void copyText(kernel.kernel_name, "the full name") }, "Copy full name"), " ", h("a", { href: placeHash("timeline", { q: kernel.short_name }) }, "Find in the timeline")),
    facts([
      ["FLOPs", kernel.flops !== null && flops(kernel.flops)],
      ["bytes", kernel.bytes !== null && bytes(kernel.bytes)],
      ["in the measured stages", kernel.measured && `${exactMs(kernel.measured.total_ms)} ms in ${counted(kernel.measured.calls, "call")}${kernel.measured.share === null ? "" : `, ${percent(kernel.measured.share)} of the kernel time there`}`],
    ]),
    kernel.shapes.length > 0 && shapes.element,
    metricsOf(kernel),
  );
}

function columnsOf(app: App, kernels: Kernel[]): Column<Kernel>[] {
  const { shown } = app;
  const low = Math.min(...kernels.map((k) => k.min_ms ?? Infinity).filter((v) => v > 0));
  const high = Math.max(...kernels.map((k) => k.max_ms ?? 0));
  const devices = new Set(kernels.map((kernel) => kernel.device)).size > 1;
  const all = "of all launches in the capture";
  return [
    { id: "name", title: onCpu(shown) ? "operator" : "kernel", value: (k) => k.short_name, heads: true, className: "name", cell: (k) => h("span", { class: "with-swatch", title: k.kernel_name }, swatch(app, k.class), k.short_name) },
    { id: "class", title: "class", value: (k) => app.palette.label(k.class), className: "wide-only" },
    { id: "library", title: "library", value: (k) => k.library ?? "", className: "wide-only" },
    ...(devices ? [{ id: "device", title: "device", value: (k: Kernel) => k.device }] : []),
    { id: "calls", title: "calls", of: "launches in the capture", value: (k) => k.calls, text: (k) => count(k.calls) },
    { id: "total", title: "total (ms)", of: `ms, sum ${all}`, value: (k) => k.total_ms, text: (k) => exactMs(k.total_ms) },
    { id: "share", title: "share", of: "of the time of all kernels in the capture", value: (k) => k.share, text: (k) => percent(k.share) },
    { id: "mean", title: "mean (ms)", of: "ms per launch", value: (k) => k.mean_ms, text: (k) => exactMs(k.mean_ms) },
    { id: "p99", title: "p99 (ms)", of: "ms, 99th percentile of single launches", value: (k) => k.p99_ms, text: (k) => exactMs(k.p99_ms) },
    { id: "spread", title: "min, p50 to p99, max", of: "single launches, logarithmic axis; sorts by p99 over p50", value: (k) => (k.p99_ms && k.p50_ms ? k.p99_ms / k.p50_ms : null), cell: (k) => distribution(k, low, high), className: "spread wide-only" },
    ...shown.stages.map((stage): Column<Kernel> => ({ id: `in:${stage.name}`, title: `${stage.name} (ms)`, of: `ms in ${stage.name}, all measured instances, warm-up excluded`, value: (k) => k.stages[stage.name]?.steady_total_ms ?? null, text: (k) => exactMs(k.stages[stage.name]?.steady_total_ms) })),
    ...(kernels.some((kernel) => kernel.ms_per_token !== null) ? [{ id: "token", title: "ms per decode step", of: "ms in decode over its steps, warm-up excluded", value: (k: Kernel) => k.ms_per_token, text: (k: Kernel) => fineMs(k.ms_per_token) }] : []),
  ];
}

function mount(app: App, options: URLSearchParams, printing: boolean): MountedView {
  const { kernels, classes, stages } = app.shown;
  let filter = filterOf(options);
  const opened = new Set((options.get("open") ?? "").split(" ").filter(Boolean));
  const keyOf = (kernel: Kernel) => String(kernels.indexOf(kernel));
  const summary = h("p", { class: "muted summary", role: "status" });
  const bars = h("div", { class: "class-bar", role: "group", "aria-label": "Kernel time by class; each filters the table" });
  const filters = h("div", { class: "filters no-print" });
  const list = table<Kernel>({
    caption: "Kernels",
    columns: columnsOf(app, kernels),
    rows: kernels.filter((kernel) => matches(kernel, filter)),
    sort: options.get("sort") ?? (filter.stage ? `-in:${filter.stage}` : "-total"),
    limit: printing ? 40 : 200,
    onSort: (sort) => setOptions(VIEW, { sort }),
    detail: (kernel) => detailOf(kernel),
    isOpen: (kernel) => opened.has(keyOf(kernel)),
    key: keyOf,
    onOpen: (kernel, open) => {
      if (open) opened.add(keyOf(kernel));
      else opened.delete(keyOf(kernel));
      setOptions(VIEW, { open: [...opened].join(" ") });
    },
  });

  function update(changes: Partial<Filter>): void {
    filter = { ...filter, ...changes };
    setOptions(VIEW, { q: filter.text, class: filter.kernelClass, stage: filter.stage, library: filter.library });
    draw();
  }

  function draw(): void {
    const rows = kernels.filter((kernel) => matches(kernel, filter));
    list.setRows(rows);
    const total = rows.reduce((sum, kernel) => sum + kernel.total_ms, 0);
    const share = rows.reduce((sum, kernel) => sum + kernel.share, 0);
    replace(summary, `${counted(rows.length, "kernel")} of ${count(kernels.length)}, ${count(rows.reduce((sum, kernel) => sum + kernel.calls, 0))} calls, ${exactMs(total)} ms, ${percent(share)} of all kernel time.`);
    replace(
      bars,
      classes.map((each) => {
        const label = app.palette.label(each.class);
        const words = `${label}: ${exactMs(each.total_ms)} ms, ${percent(each.share)} of kernel time, ${counted(each.calls, "call")}`;
        const pressed = filter.kernelClass === each.class;
        return h("button", { type: "button", class: "segment", style: `flex-grow: ${each.share * 1000}; background-color: ${app.palette.css(each.class)}`, title: words, "aria-label": words, "aria-pressed": String(pressed), onclick: () => setClass(pressed ? "" : each.class) }, each.share > 0.08 && h("span", {}, `${label} ${percent(each.share)}`));
      }),
    );
  }

  const input = h("input", { type: "search", value: filter.text, placeholder: "name contains", "aria-label": "Filter by name" });
  input.addEventListener("input", () => update({ text: input.value }));

  function setClass(kernelClass: string): void {
    update({ kernelClass });
    drawFilters();
  }

  function drawFilters(): void {
    const libraries = [...new Set(kernels.map((kernel) => kernel.library ?? NO_LIBRARY))].sort();
    input.value = filter.text;
    replace(
      filters,
      h("label", { class: "field" }, h("span", {}, "Name"), input),
      select("Class", [["", "all classes"], ...classes.map((each): [string, string] => [each.class, app.palette.label(each.class)])], filter.kernelClass, (kernelClass) => update({ kernelClass })),
      stages.length > 0 && select("Stage", [["", "all stages"], ...stages.map((stage): [string, string] => [stage.name, stage.name])], filter.stage, (stage) => update({ stage })),
      select("Library", [["", "all libraries"], ...libraries.map((library): [string, string] => [library, library])], filter.library, (library) => update({ library })),
      h("button", { class: "quiet", type: "button", onclick: () => { update({ text: "", kernelClass: "", stage: "", library: "" }); drawFilters(); } }, "Clear filters"),
    );
  }

  drawFilters();
  draw();
  const empty = kernels.length === 0 && h("p", { class: "not-known" }, "This input holds no kernels.");
  return {
    element: h("div", { class: "view" }, h("h1", {}, "Kernels"), empty || [bars, filters, summary, list.element, note("Shares are of the time of all kernels in the capture; overlapping kernels count in full. Percentiles are by nearest rank over single launches."), savingsByKernel(app)]),
    onPlace: (next) => {
      filter = filterOf(next);
      drawFilters();
      draw();
    },
  };
}

export const kernelsView: ViewDescription = { id: VIEW, title: "Kernels", mount };
