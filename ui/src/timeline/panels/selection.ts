// The selected span: its sums, and why a GPU was idle if it did nothing in it.
import type { App } from "../../app";
import { h } from "../../dom/dom";
import { facts } from "../../dom/table";
import { duration, exactMs } from "../../format/figures";
import { gapAt, type IdleGap } from "../gaps";
import type { Timeline } from "../model";
import type { SpanSums } from "../sums";
import { gapPanel } from "./gap";
import { panel, quietButton, type PanelActions } from "./panel";
import { sumFacts, sumTables } from "./sum_tables";

/** Explains a GPU that is idle for this share of the selected span. Clocks of captures round to about 100 ns. */
const MOSTLY = 0.9;

function idleGaps(timeline: Timeline, sums: SpanSums): IdleGap[] {
  const span = sums.end - sums.start;
  return sums.gpus.flatMap(({ group, idleNs }) => {
    if (idleNs < MOSTLY * span) return [];
    const gap = gapAt(timeline, group, (sums.start + sums.end) / 2);
    // Skips a gap that does not span most of the selection.
    return gap && gap.start <= sums.start + span / 4 && gap.end >= sums.end - span / 4 ? [gap] : [];
  });
}

export function selectionPanels(app: App, timeline: Timeline, sums: SpanSums, actions: PanelActions): HTMLElement[] {
  const span = sums.end - sums.start;
  const gaps = idleGaps(timeline, sums).map((gap) => gapPanel(app, timeline, gap, actions));
  return [
    ...gaps,
    panel(
      "selection",
      "Selected span",
      `Span of ${duration(span)}`,
      { label: "Clear the selection", onClose: actions.deselect },
      facts([
        ["from, to", `${exactMs(sums.start / 1e6)} to ${exactMs(sums.end / 1e6)} ms`],
        ...(sums.operations > 0 ? sumFacts(sums) : []),
      ]),
      h(
        "p",
        {},
        quietButton("Zoom to it", () => actions.zoomTo([sums.start, sums.end])),
      ),
      sumTables(app, timeline, sums, "Selected span"),
    ),
  ];
}
