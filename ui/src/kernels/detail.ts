// Details of one kernel: its full name, launch shapes, single launches, ncu's metrics.
import type { App } from "../app";
import type { Kernel } from "../data/profile";
import { copyText } from "../dom/copy";
import { h } from "../dom/dom";
import { facts, table } from "../dom/table";
import { bytes, count, counted, exactMs, fineMs, flops, percent } from "../format/figures";
import { timelineFilterLink } from "../state/links";
import type { KernelFilter } from "./filter";
import { launchList } from "./launches";

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
      {
        id: "mean",
        title: "mean",
        of: "over the launches that ncu measured",
        value: (m) => m.mean,
        text: (m) => number(m.mean),
      },
      { id: "min", title: "min", value: (m) => m.min, text: (m) => number(m.min) },
      { id: "max", title: "max", value: (m) => m.max, text: (m) => number(m.max) },
      { id: "unit", title: "unit", value: (m) => m.unit },
      { id: "count", title: "launches", of: "launches measured", value: (m) => m.count, format: count },
    ],
  });
  const input = h("input", {
    type: "search",
    placeholder: "Filter metrics",
    "aria-label": `Filter metrics of ${kernel.short_name}`,
  });
  input.addEventListener("input", () =>
    view.setRows(all.filter((metric) => metric.name.toLowerCase().includes(input.value.toLowerCase()))),
  );
  const words = `${counted(all.length, "metric")} of ncu`;
  return h(
    "details",
    {},
    h("summary", { "aria-label": `${words} for ${kernel.short_name}` }, words),
    h("div", { class: "filters" }, input),
    view.element,
  );
}

function shapesOf(kernel: Kernel): HTMLElement | null {
  if (kernel.shapes.length === 0) return null;
  return table({
    caption: `Launch shapes of ${kernel.short_name}`,
    fit: true,
    rows: kernel.shapes,
    limit: 12,
    columns: [
      { id: "grid", title: "grid", value: (s) => s.grid.join(" x ") },
      { id: "block", title: "block", value: (s) => s.block.join(" x ") },
      {
        id: "calls",
        title: "calls",
        of: "launches with this grid and block, whole capture",
        value: (s) => s.calls,
        format: count,
      },
      { id: "total", title: "total (ms)", of: "ms, whole capture", value: (s) => s.total_ms, format: exactMs },
      { id: "mean", title: "mean (ms)", of: "ms per launch", value: (s) => s.mean_ms, format: exactMs },
      {
        id: "token",
        title: "ms per decode step",
        of: "ms in decode over its steps, warm-up excluded",
        value: (s) => s.ms_per_token,
        format: fineMs,
      },
    ],
  }).element;
}

export function kernelDetail(app: App, kernel: Kernel, filter: KernelFilter): HTMLElement {
  const inTimeline = timelineFilterLink({
    q: kernel.short_name,
    stage: app.profile.stages.some((stage) => stage.name === filter.scope) ? filter.scope : "",
    layer: filter.layer,
  });
  return h(
    "div",
    { class: "kernel-detail" },
    h("p", { class: "full-name" }, h("code", {}, kernel.kernel_name)),
    h(
      "p",
      {},
      h(
        "button",
        { class: "quiet", type: "button", onclick: () => void copyText(kernel.kernel_name, "the full name") },
        "Copy full name",
      ),
      inTimeline && [" ", h("a", { href: inTimeline }, "Find in the timeline")],
    ),
    facts([
      [
        "whole capture",
        `${exactMs(kernel.total_ms)} ms in ${counted(kernel.calls, "call")}, ${percent(kernel.share)} of its ` +
          "kernel time",
      ],
      [
        "in the measured stages",
        kernel.measured && [
          `${exactMs(kernel.measured.total_ms)} ms in ${counted(kernel.measured.calls, "call")}`,
          kernel.measured.share !== null && `, ${percent(kernel.measured.share)} of the kernel time there`,
        ],
      ],
      ["FLOPs", kernel.flops !== null && flops(kernel.flops)],
      ["bytes", kernel.bytes !== null && bytes(kernel.bytes)],
    ]),
    kernel.shapes.length > 0 && h("div", {}, h("h4", {}, "Launch shapes"), shapesOf(kernel)),
    launchList(app, kernel, filter),
    metricsOf(kernel),
  );
}
