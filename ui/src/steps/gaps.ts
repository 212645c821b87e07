// The longest idle gaps of each stage, and those that recur at the same place.
import type { App } from "../app";
import { onCpu, type Gap } from "../data/profile";
import { h, type Child } from "../dom/dom";
import { link } from "../dom/link";
import { note, select, swatch } from "../dom/parts";
import { table } from "../dom/table";
import { count, ms } from "../format/figures";
import { gapSpan, gapsOf } from "../state/links";
import { where, type StepsState } from "./state";
import { timelineGaps } from "./timeline_gaps";

function between(gap: Gap): string {
  if (!gap.work_before) return gap.work_after ? `before ${gap.work_after}` : "";
  return gap.work_after ? `${gap.work_before} ... ${gap.work_after}` : `after ${gap.work_before}`;
}

export function gapFilters(app: App, state: StepsState, update: (changes: Partial<StepsState>) => void): Child {
  const causes = [...new Set([...app.profile.gaps, ...app.gaps].map((gap) => gap.cause))];
  const several: [string, string][] =
    state.causes.length > 1
      ? [[state.causes.join(","), state.causes.map((cause) => app.palette.label(cause)).join(", ")]]
      : [];
  return [
    select(
      "Stage",
      [["", "all stages"], ...app.profile.stages.map((s): [string, string] => [s.name, s.name])],
      state.stage,
      (stage) => update({ stage }),
    ),
    select(
      "Cause",
      [["", "all causes"], ...several, ...causes.map((cause): [string, string] => [cause, app.palette.label(cause)])],
      state.causes.join(","),
      (cause) => update({ causes: cause.split(",").filter(Boolean) }),
    ),
  ];
}

export function gapTables(app: App, state: StepsState): Child {
  const gaps = gapsOf(app.profile, state.stage, state.causes);
  const repeated = app.profile.repeated_gaps.filter(
    ({ longest }) =>
      (!state.stage || longest.stage === state.stage) &&
      (state.causes.length === 0 || state.causes.includes(longest.cause)),
  );
  const causes =
    state.causes.length > 0 ? ` of ${state.causes.map((cause) => app.palette.label(cause)).join(", ")}` : "";
  const cause = (name: string) =>
    h("span", { class: "with-swatch", title: app.palette.why(name) }, swatch(app, name), app.palette.label(name));
  const inTimeline = state.causes.length > 0 ? timelineGaps(app, state) : null;
  const place = (gap: Gap) => where(app, gap.instance, gap.step_of_instance);
  return [
    app.profile.stages.some((stage) => stage.unwatched) && note("Recorded gaps, including tracing overhead."),
    (gaps.length > 0 || !inTimeline) &&
      table<Gap>({
        caption: `Longest idle gaps${causes}`,
        rows: gaps,
        columns: [
          { id: "stage", title: "stage", value: (g) => g.stage },
          {
            id: "where",
            title: "where",
            className: "nowrap",
            value: place,
            heads: true,
            cell: (g) => link(gapSpan(app, g), {}, place(g)),
          },
          {
            id: "start",
            title: "starts (ms)",
            of: "ms after the stage's start",
            value: (g) => g.after_start_ms,
            format: ms,
          },
          { id: "gap", title: "gap (ms)", value: (g) => g.ms, format: ms },
          {
            id: "cause",
            title: "cause",
            value: (g) => app.palette.label(g.cause),
            className: "one-line",
            cell: (g) => cause(g.cause),
          },
          { id: "between", title: "between", className: "prose", value: between },
          {
            id: "host",
            title: onCpu(app.profile) ? "activity" : "host activity",
            className: "prose",
            value: (g) => g.host ?? "",
          },
        ],
      }).element,
    inTimeline,
    repeated.length > 0 && [
      h("h3", {}, "Gaps that recur at the same place, warm-up excluded"),
      table({
        caption: "Gaps that recur at the same place",
        rows: repeated,
        columns: [
          { id: "stage", title: "stage", value: (g) => g.stage },
          { id: "gaps", title: "gaps", value: (g) => g.count, format: count },
          { id: "total", title: "total (ms)", value: (g) => g.total_ms, format: ms },
          {
            id: "longest",
            title: "longest (ms)",
            value: (g) => g.longest.ms,
            cell: (g) =>
              link(
                gapSpan(app, g.longest),
                { "aria-label": `${ms(g.longest.ms)} ms, the longest gap ${between(g.longest)}` },
                ms(g.longest.ms),
              ),
            numeric: true,
          },
          {
            id: "cause",
            title: "cause",
            value: (g) => app.palette.label(g.longest.cause),
            className: "one-line",
            cell: (g) => cause(g.longest.cause),
          },
          { id: "between", title: "between", className: "prose", value: (g) => between(g.longest), heads: true },
          {
            id: "host",
            title: onCpu(app.profile) ? "activity" : "host activity",
            className: "prose",
            value: (g) => g.longest.host ?? "",
          },
        ],
      }).element,
    ],
  ];
}
