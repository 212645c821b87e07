// The tooltip at the pointer: for a row, or for a gap of a GPU.
import type { App } from "../../app";
import { h, type Child } from "../../dom/dom";
import { swatch } from "../../dom/parts";
import { duration } from "../../format/figures";
import type { Description } from "../describe";
import { isBetweenOperators, type IdleGap } from "../gaps";

const line = (name: string, value: Child): Child => [h("dt", {}, name), h("dd", {}, value)];

export function rowTooltip(app: App, description: Description): Child {
  const { title, durationNs, rows, classIndex } = description;
  const own = classIndex === null ? null : app.view.classes[classIndex];
  return [
    h("strong", {}, own && [swatch(app, own.id), " "], title),
    h(
      "dl",
      {},
      durationNs > 0 && line("duration", duration(durationNs)),
      rows.map(([name, value]) => line(name, value)),
    ),
  ];
}

export function gapTooltip(app: App, gap: IdleGap): Child {
  return [
    h("strong", {}, `${isBetweenOperators(gap) ? "Between operators" : "Idle"} for ${duration(gap.end - gap.start)}`),
    h(
      "dl",
      {},
      gap.cause !== null && line("cause", [swatch(app, gap.cause), " ", app.palette.label(gap.cause)]),
      line("on", gap.group),
      line("click", "explains it"),
    ),
  ];
}
