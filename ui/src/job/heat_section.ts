// The heat map of ranks and steps with its controls, its scale, its description in words and the selected cell.
import type { App } from "../app";
import type { Job } from "../data/profile";
import type { HeatView } from "../data/view";
import { h, replace, type Child } from "../dom/dom";
import { note, section, select } from "../dom/parts";
import { change, count, counted, fineMs } from "../format/figures";
import { spanLink } from "../state/links";
import { heatMap, type Cell } from "./heat_map";
import { heatValues, HEAT_MODES, isMissing, type HeatMode, type HeatValues } from "./heat_values";

/** The steps of a bin, by their position among the job's steps. */
function stepsOfBin(app: App, job: Job, bin: number): { first: number; last: number } {
  const per = job.heat.steps_per_bin;
  return { first: bin * per, last: Math.max(bin * per, Math.min((bin + 1) * per, app.profile.steps.length) - 1) };
}

function binWords(app: App, job: Job, bin: number): string {
  const { first, last } = stepsOfBin(app, job, bin);
  return first === last ? `step ${count(first)}` : `steps ${count(first)} to ${count(last)}`;
}

function cellWords(app: App, job: Job, against: HeatValues, cell: Cell): string[] {
  const row = job.heat.rows[cell.row]!;
  const own = row.wall_ms[cell.bin] ?? -1;
  const wait = row.wait_ms[cell.bin] ?? -1;
  const share = against.values[cell.row * against.bins + cell.bin]!;
  const stage = app.profile.steps[cell.bin * job.heat.steps_per_bin]?.stage;
  const head = `Rank ${row.rank}, ${binWords(app, job, cell.bin)}${stage ? ` (${stage})` : ""}`;
  if (isMissing(own)) return [head, "no step of this rank"];
  return [
    head,
    `${fineMs(own)} ms per step of its own${Number.isNaN(share) ? "" : `, ${change(share)} against the median rank`}`,
    isMissing(wait) ? "its waits are not known" : `${fineMs(wait)} ms per step waiting for others`,
  ];
}

function chosenCell(app: App, job: Job, against: HeatValues, cell: Cell | null): Child {
  if (!cell || !job.heat.rows[cell.row]) return null;
  const [head, ...lines] = cellWords(app, job, against, cell);
  const { first, last } = stepsOfBin(app, job, cell.bin);
  const from = app.profile.steps[first];
  const to = app.profile.steps[last];
  const href = from && to ? spanLink(from.start_ms * 1e6, (to.start_ms + to.wall_ms - from.start_ms) * 1e6) : null;
  return h(
    "div",
    { class: "panel", role: "region", "aria-label": "The chosen cell" },
    h("h3", {}, head),
    lines.map((line) => h("p", {}, line)),
    href && h("p", {}, h("a", { href }, "Show in the timeline")),
  );
}

export interface HeatState {
  show: HeatMode;
  rank: number | null;
  bin: number | null;
}

export interface HeatSection {
  element: HTMLElement;
  draw: (state: HeatState) => void;
  redraw: () => void;
}

export function heatSection(
  app: App,
  job: Job,
  view: HeatView,
  state: HeatState,
  update: (changes: Partial<HeatState>) => void,
): HeatSection {
  const against = heatValues(job, view, "against");
  const { text } = view;
  const chosen = h("div", { "aria-live": "polite" });
  const filters = h("div", { class: "filters heat-filters no-print" });
  const scale = h("div", { class: "heat-scale" });
  const map = heatMap({
    label: `Ranks by steps. ${text}`,
    describe: (cell) => cellWords(app, job, against, cell),
    stageOf: (bin) => app.profile.steps[bin * job.heat.steps_per_bin]?.stage ?? null,
    binLabel: (bin) => `step ${count(bin * job.heat.steps_per_bin)}`,
    onChoose: (cell) => update({ rank: job.heat.rows[cell.row]!.rank, bin: cell.bin }),
  });

  function draw(next: HeatState): void {
    const values = heatValues(job, view, next.show);
    const row = job.heat.rows.findIndex((each) => each.rank === next.rank);
    const cell = row >= 0 && next.bin !== null && next.bin < values.bins ? { row, bin: next.bin } : null;
    replace(
      filters,
      select("Shown", HEAT_MODES, next.show, (show) => update({ show: show as HeatMode })),
    );
    const end = values.diverging ? change(values.scale) : `${fineMs(values.scale)} ms`;
    replace(
      scale,
      h("span", {}, values.diverging ? change(-values.scale) : "0"),
      h("span", { class: values.diverging ? "ramp diverging" : "ramp", "aria-hidden": "true" }),
      h("span", {}, `${end} or more`),
    );
    map.show(values, cell);
    replace(chosen, chosenCell(app, job, against, cell));
  }

  const per = job.heat.steps_per_bin;
  const element = section(
    "Ranks by steps",
    filters,
    map.element,
    scale,
    note(text),
    note(
      `One row per rank, one column per ${per === 1 ? "step of the job" : `${counted(per, "step")} of the job`}. ` +
        "A rank's own time is its step minus its waits for others. Cells without a step are gray.",
    ),
    chosen,
  );
  draw(state);
  return { element, redraw: map.redraw, draw };
}
