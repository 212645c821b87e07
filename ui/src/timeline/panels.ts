// What is pinned and what a span holds, beside the canvas.
import type { App } from "../app";
import { copyText } from "../dom/copy";
import { h, type Child } from "../dom/dom";
import { facts, table } from "../dom/table";
import { swatch } from "../dom/parts";
import { count, counted, duration, exactMs, percent } from "../format/figures";
import { placeHash } from "../state/fragment";
import type { Description } from "./describe";
import type { Timeline } from "./model";
import type { Sum, SpanSums } from "./sums";

const SHOWN_KERNELS = 15;

export function tooltipOf(app: App, description: Description): Child {
  const { title, durationNs, rows, classIndex } = description;
  const own = classIndex === null ? null : app.view.classes[classIndex];
  return [
    h("strong", {}, own && [swatch(app, own.id), " "], title),
    h("dl", {}, durationNs > 0 && [h("dt", {}, "duration"), h("dd", {}, duration(durationNs))], rows.map(([name, value]) => [h("dt", {}, name), h("dd", {}, value)])),
  ];
}

export function pinnedPanel(app: App, description: Description, onClose: () => void, onZoom: () => void): HTMLElement {
  const { title, full, rows, startNs, durationNs, classIndex } = description;
  const own = classIndex === null ? null : app.view.classes[classIndex];
  return h(
    "section",
    { class: "side-block pinned", "aria-label": "Pinned" },
    h("div", { class: "side-head" }, h("h2", {}, own && [swatch(app, own.id), " "], title), h("button", { class: "quiet", type: "button", "aria-label": "Unpin", onclick: onClose }, "Close")),
    full !== null && h("p", { class: "full-name" }, h("code", {}, full)),
    facts([["duration", durationNs > 0 && duration(durationNs)], ["start", `${exactMs(startNs / 1e6)} ms after the capture's first event`], ...rows]),
    h("p", {}, h("button", { class: "quiet", type: "button", onclick: onZoom }, "Zoom to it"), own && [" ", h("a", { href: placeHash("kernels", { q: title }) }, "All launches of it")], full !== null && [" ", h("button", { class: "quiet", type: "button", onclick: () => void copyText(full, "the full name") }, "Copy full name")]),
  );
}

interface NamedSum extends Sum {
  name: string;
  class: string;
}

function sumTable(app: App, caption: string, what: string, rows: NamedSum[], sums: SpanSums): HTMLElement {
  const span = sums.end - sums.start;
  return table<NamedSum>({
    caption,
    rows,
    limit: SHOWN_KERNELS,
    sort: "-time",
    columns: [
      { id: "name", title: what, heads: true, value: (r) => r.name, cell: (r) => h("span", { class: "with-swatch" }, swatch(app, r.class), r.name) },
      { id: "count", title: "count", of: "operations in the span, those cut by its edges included", value: (r) => r.count, text: (r) => count(r.count) },
      { id: "time", title: "time (us)", of: "us inside the span; overlapping operations count in full", value: (r) => r.ns / 1e3, text: (r) => (r.ns / 1e3).toFixed(3) },
      { id: "share", title: "of the span", of: "time over the span's length", value: (r) => r.ns / span, text: (r) => percent(r.ns / span) },
    ],
  }).element;
}

export function selectionPanel(app: App, timeline: Timeline, sums: SpanSums, onClose: () => void, onZoom: () => void): HTMLElement {
  const span = sums.end - sums.start;
  const classOf = (index: number) => app.view.classes[index]?.id ?? "other";
  const classes = [...sums.classes].map(([index, sum]): NamedSum => ({ ...sum, class: classOf(index), name: app.palette.label(classOf(index)) }));
  const kernels = [...sums.kernels].map(([index, sum]): NamedSum => {
    const kernel = timeline.kernels[index]!;
    return { ...sum, class: classOf(kernel.class), name: timeline.names[kernel.short] ?? "" };
  });
  return h(
    "section",
    { class: "side-block selection", "aria-label": "Selected span" },
    h("div", { class: "side-head" }, h("h2", {}, `Span of ${duration(span)}`), h("button", { class: "quiet", type: "button", "aria-label": "Clear the selection", onclick: onClose }, "Close")),
    facts([
      ["from, to", `${exactMs(sums.start / 1e6)} to ${exactMs(sums.end / 1e6)} ms`],
      ...sums.gpus.flatMap((gpu): [string, Child][] => [
        [`${gpu.group || "GPU"} busy`, h("span", { "data-busy-ns": gpu.busyNs }, `${duration(gpu.busyNs)}, ${percent(gpu.busyNs / span)} of the span`)],
        [`${gpu.group || "GPU"} idle`, h("span", { "data-idle-ns": gpu.idleNs }, `${duration(gpu.idleNs)}, ${percent(gpu.idleNs / span)} of the span`)],
      ]),
      ["operations", `${counted(sums.operations, "operation")}, ${duration(sums.sumNs)} together`],
    ]),
    h("p", {}, h("button", { class: "quiet", type: "button", onclick: onZoom }, "Zoom to it")),
    classes.length > 0 && [h("h3", {}, "By class"), sumTable(app, "Selected span by class", "class", classes, sums), h("h3", {}, "By kernel"), sumTable(app, "Selected span by kernel", "kernel", kernels, sums)],
  );
}
