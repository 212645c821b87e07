// All gaps of a cause in the timeline; profile.json lists only the longest of each stage.
import type { App } from "../app";
import { h, replace } from "../dom/dom";
import { note, swatch } from "../dom/parts";
import { table } from "../dom/table";
import { counted, exactMs, ms } from "../format/figures";
import { selectionLink, timelineGapsOf } from "../state/links";
import { describe, instanceWords } from "../timeline/describe";
import { listGaps, type ListedGap } from "../timeline/gap_list";
import { loadWholeTimeline } from "../timeline/load";
import type { Timeline } from "../timeline/model";
import type { StepsState } from "./state";

const SHOWN = 10;
const LISTED = 200;

function gapTable(app: App, timeline: Timeline, gaps: ListedGap[], caption: string): HTMLElement {
  const owner = (gap: ListedGap) =>
    instanceWords(timeline, "stages", (timeline.tables.slices["instance"]![gap.after.row] ?? 1) - 1);
  const step = (gap: ListedGap) => {
    const row = (timeline.tables.slices["step"]?.[gap.after.row] ?? 0) - 1;
    return row < 0 ? "" : timeline.stepWords(timeline.tables.steps["index"]![row]!);
  };
  return table<ListedGap>({
    caption,
    fit: true,
    rows: gaps.slice(0, LISTED),
    limit: SHOWN,
    sort: "-gap",
    columns: [
      {
        id: "start",
        title: "starts (ms)",
        of: "ms after the capture's first event",
        heads: true,
        value: (g) => g.start / 1e6,
        cell: (g) =>
          h(
            "a",
            {
              href: selectionLink(g.start, g.ns),
              "aria-label": `Gap at ${exactMs(g.start / 1e6)} ms in the timeline`,
            },
            exactMs(g.start / 1e6),
          ),
      },
      { id: "gap", title: "gap (ms)", value: (g) => g.ns / 1e6, format: exactMs },
      { id: "stage", title: "stage", value: owner },
      { id: "step", title: "step", value: step },
      {
        id: "cause",
        title: "cause",
        className: "one-line",
        value: (g) => app.palette.label(g.cause),
        cell: (g) => h("span", { class: "with-swatch" }, swatch(app, g.cause), app.palette.label(g.cause)),
      },
      { id: "after", title: "before", className: "prose", value: (g) => describe(timeline, app.view, g.after).title },
    ],
  }).element;
}

/** Filled once the timeline is read; null if it has no such gap. */
export function timelineGaps(app: App, state: StepsState): HTMLElement | null {
  const sums = timelineGapsOf(app, state.stage, state.causes);
  const loading = sums.length > 0 ? loadWholeTimeline(app) : null;
  if (!loading) return null;
  const count = sums.reduce((all, sum) => all + sum.gaps, 0);
  const total = sums.reduce((all, sum) => all + sum.total_ns, 0) / 1e6;
  const element = h(
    "div",
    { class: "timeline-gaps" },
    h("p", { class: "muted", role: "status" }, "Reading the timeline..."),
  );
  const where = state.stage ? ` in ${state.stage}` : "";
  void loading.then((timeline) => {
    const gaps = listGaps(timeline, state.stage, state.causes);
    const listed = gaps.length > LISTED ? `the ${LISTED} longest of ` : "";
    replace(
      element,
      h("h3", {}, `All gaps of this cause${where}`),
      gapTable(app, timeline, gaps, `All gaps of this cause${where}`),
      note(
        `${listed ? `T${listed.slice(1)}` : ""}${counted(count, "gap")}, ${ms(total)} ms together, warm-up ` +
          "excluded, including tracing overhead.",
      ),
    );
  });
  return element;
}
