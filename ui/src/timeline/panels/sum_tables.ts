// Sums over a span, a stage or a step: busy and idle time, by class, by kernel.
import type { App } from "../../app";
import { h, type Child } from "../../dom/dom";
import { swatch } from "../../dom/parts";
import { table } from "../../dom/table";
import { count, counted, duration, percent } from "../../format/figures";
import type { Timeline } from "../model";
import type { SpanSums, Sum } from "../sums";

const SHOWN_KERNELS = 15;

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
      {
        id: "name",
        title: what,
        heads: true,
        value: (r) => r.name,
        cell: (r) => h("span", { class: "with-swatch" }, swatch(app, r.class), r.name),
      },
      {
        id: "count",
        title: "count",
        of: "operations, those cut by the span's edges included",
        value: (r) => r.count,
        format: count,
      },
      {
        id: "time",
        title: "time (us)",
        of: "us inside the span; overlapping operations count in full",
        value: (r) => r.ns / 1e3,
        text: (r) => (r.ns / 1e3).toFixed(3),
      },
      {
        id: "share",
        title: "of the span",
        of: "time over the span's length",
        value: (r) => r.ns / span,
        format: percent,
      },
    ],
  }).element;
}

/** Busy and idle time of each GPU, and what ran. */
export function sumFacts(sums: SpanSums): [string, Child][] {
  const span = sums.end - sums.start;
  return [
    ...sums.gpus.flatMap((gpu): [string, Child][] => [
      [
        `${gpu.group || "GPU"} busy`,
        h(
          "span",
          { "data-busy-ns": gpu.busyNs },
          `${duration(gpu.busyNs)}, ${percent(gpu.busyNs / span)} of the span`,
        ),
      ],
      [
        `${gpu.group || "GPU"} ${gpu.group.endsWith("CPU") ? "outside of operators" : "idle"}`,
        h(
          "span",
          { "data-idle-ns": gpu.idleNs },
          `${duration(gpu.idleNs)}, ${percent(gpu.idleNs / span)} of the span`,
        ),
      ],
    ]),
    ["operations", `${counted(sums.operations, "operation")}, ${duration(sums.sumNs)} together`],
  ];
}

/** `of` names the span in the captions. */
export function sumTables(app: App, timeline: Timeline, sums: SpanSums, of: string): Child {
  if (sums.operations === 0) return null;
  const classOf = (index: number) => app.view.classes[index]?.id ?? "other";
  const classes = [...sums.classes].map(
    ([index, sum]): NamedSum => ({ ...sum, class: classOf(index), name: app.palette.label(classOf(index)) }),
  );
  const kernels = [...sums.kernels].map(([index, sum]): NamedSum => {
    const kernel = timeline.kernels[index]!;
    return { ...sum, class: classOf(kernel.class), name: timeline.names[kernel.short] ?? "" };
  });
  return [
    h("h3", {}, "By class"),
    sumTable(app, `${of} by class`, "class", classes, sums),
    h("h3", {}, "By kernel"),
    sumTable(app, `${of} by kernel`, "kernel", kernels, sums),
  ];
}
