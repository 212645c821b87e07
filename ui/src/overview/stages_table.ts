// Each stage: its wall time with and without tracing, and how much of the hardware it uses.
import type { App } from "../app";
import { deviceWord, instanceWord, onCpu, type Stage } from "../data/profile";
import { figure } from "../dom/copy";
import { h, type Child } from "../dom/dom";
import { note, section } from "../dom/parts";
import { table } from "../dom/table";
import { count, ms, percent } from "../format/figures";

/** Utilization on wall time as a bar, on busy time as a mark: the difference is the cost of idle time. */
function useBar(share: { wall: number | null; gpu_busy: number | null }, of: string, bounds: boolean): Child {
  if (share.wall === null) return "-";
  const busy = share.gpu_busy;
  const mark = busy !== null && h("span", { class: "busy-mark", style: `left: ${Math.min(1, busy) * 100}%` });
  return h(
    "span",
    { class: bounds ? "use bounds" : "use" },
    figure(percent(share.wall), share.wall, `${of}, on wall time`),
    h(
      "span",
      { class: "bar wide", "aria-hidden": "true" },
      h("span", { style: `width: ${Math.min(1, share.wall) * 100}%` }),
      mark,
    ),
    busy !== null && h("span", { class: "muted" }, figure(percent(busy), busy, `${of}, on busy time`), " busy"),
  );
}

export function stagesTable(app: App): HTMLElement {
  const { profile } = app;
  const known = profile.stages.some(({ shown }) => shown.mfu.wall !== null || shown.mbu.wall !== null);
  const unwatched = profile.stages.some((stage) => stage.unwatched);
  const unit = instanceWord(profile);
  const peak = onCpu(profile) ? "the CPU's measured peak" : "the peak";
  const view = table<Stage>({
    caption: "Stages: mean wall time, use of the hardware",
    sortable: false,
    rows: profile.stages,
    columns: [
      { id: "stage", title: "stage", value: (s) => s.name, heads: true },
      {
        id: "count",
        title: `${unit}s`,
        of: `${unit}s measured, warm-up excluded`,
        value: (s) => s.wall_ms.count,
        format: count,
      },
      ...(unwatched
        ? [
            {
              id: "unwatched",
              title: "without tracing (ms)",
              of: `ms per ${unit}, mean wall time of the program without tracing`,
              value: (s: Stage) => s.unwatched?.wall_ms ?? null,
              format: ms,
              className: "strong",
            },
          ]
        : []),
      {
        id: "traced",
        title: unwatched ? "traced (ms)" : "wall, traced (ms)",
        of: `ms per ${unit}, mean recorded wall time`,
        value: (s) => s.wall_ms.mean,
        format: ms,
        className: unwatched ? "" : "strong",
      },
      {
        id: "busy",
        title: `${deviceWord(profile)} busy`,
        of: "share of wall time with work running",
        value: (s) => s.shown.gpu_busy_share_of_wall,
        format: percent,
      },
      ...(known
        ? [
            {
              id: "mfu",
              title: "MFU",
              of: `of ${peak} FLOP/s`,
              value: (s: Stage) => s.shown.mfu.wall,
              cell: (s: Stage) => useBar(s.shown.mfu, `of ${peak} FLOP/s`, s.shown.bound === "compute"),
              className: "use-cell",
            },
            {
              id: "mbu",
              title: "MBU",
              of: `of ${peak} memory bandwidth`,
              value: (s: Stage) => s.shown.mbu.wall,
              cell: (s: Stage) => useBar(s.shown.mbu, `of ${peak} memory bandwidth`, s.shown.bound === "memory"),
              className: "use-cell",
            },
            {
              id: "floor",
              title: "lower bound (ms)",
              of: `ms per ${unit} at the hardware's limit`,
              value: (s: Stage) => s.shown.floor_ms,
              format: ms,
            },
          ]
        : []),
      {
        id: "share",
        title: "share of stages",
        of: "of all stages' wall time",
        value: (s) => s.shown.share_of_stage_time,
        format: percent,
      },
    ],
  });
  return section(
    "Stages",
    view.element,
    app.words.of("Key figures"),
    known &&
      note(
        "Bars are shares of the peak: the bar on wall time, the mark on busy time. The stronger bar is the limit " +
          "that binds the stage.",
      ),
    !known && app.words.of("MFU and MBU"),
  );
}
