// Steps that take clearly longer than comparable ones, and which parts of them are longer.
import type { App } from "../app";
import { h, type Child } from "../dom/dom";
import { link } from "../dom/link";
import { table } from "../dom/table";
import { ms } from "../format/figures";
import { stepSpan } from "../state/links";
import { where } from "./state";

export function slowTable(app: App): Child {
  const rows = app.profile.slow_steps;
  if (rows.length === 0)
    return h(
      "p",
      {},
      app.profile.slow_step_rule
        ? `None. A step counts as slow if it is ${app.profile.slow_step_rule}.`
        : "None: no step is much longer than the median step of its kind.",
    );
  return table({
    caption: "Slowest steps",
    rows,
    columns: [
      { id: "stage", title: "stage", value: (r) => r.stage },
      {
        id: "where",
        title: "where",
        className: "nowrap",
        value: (r) => where(app, r.instance, r.step_of_instance),
        heads: true,
        cell: (r) => link(stepSpan(app, r.step), {}, where(app, r.instance, r.step_of_instance)),
      },
      { id: "wall", title: "wall (ms)", value: (r) => r.wall_ms, format: ms },
      {
        id: "above",
        title: "above the median (ms)",
        of: "ms longer than the median of comparable steps",
        value: (r) => r.above_median_ms,
        format: ms,
      },
      {
        id: "why",
        title: "difference from the median step",
        className: "prose",
        value: (r) =>
          r.reasons
            .map(
              (reason) =>
                `${reason.what} (${ms(Math.abs(reason.longer_ms))} ms ${reason.longer_ms < 0 ? "shorter" : "longer"})`,
            )
            .join("; ") || "spread over many kernels",
      },
    ],
  }).element;
}
