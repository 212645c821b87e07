// Each step as a point; a slow one opens its explanation and its place in the timeline. Request times. Idle gaps.
import type { App, MountedView, ViewDescription } from "../app";
import { isServing, onCpu } from "../data/profile";
import { h, replace } from "../dom/dom";
import { keepFocus } from "../dom/keep_focus";
import { note, notKnown, section, select } from "../dom/parts";
import { setOptions } from "../state/fragment";
import { stepsChart, type StepsChart } from "../steps/chart";
import { stepDetail } from "../steps/detail";
import { gapFilters, gapTables } from "../steps/gaps";
import { requests } from "../steps/requests";
import { slowTable } from "../steps/slow";
import { stateOf, type StepsState } from "../steps/state";
import { byBatch, statistics } from "../steps/statistics";

const VIEW = "steps";

function mount(app: App, options: URLSearchParams): MountedView {
  let state = stateOf(options);
  let drawn: StepsChart | null = null;
  const stages = [...new Set(app.profile.steps.map((step) => step.stage))];
  const hasSteps = app.profile.steps.length > 0;
  const hasGaps = app.profile.gaps.length > 0 || app.gaps.length > 0;
  const plot = h("div");
  const above = h("p", { class: "muted" });
  const chosen = h("div", { "aria-live": "polite" });
  const filters = h("div", { class: "filters no-print" });
  const gapsBy = h("div", { class: "filters no-print" });
  const gaps = h("div", { class: "gaps" });

  /** One stage at a time: a prefill is not a decode step. */
  const chartStage = () =>
    stages.includes(state.stage)
      ? state.stage
      : stages.length > 1
        ? (stages.find((name) => name === "decode") ?? stages[0]!)
        : "";

  function choose(step: number | null): void {
    state = { ...state, step };
    setOptions(VIEW, { step: step === null ? "" : String(step) });
    drawChosen();
  }

  function drawChosen(): void {
    replace(chosen, state.step !== null && stepDetail(app, state.step));
  }

  function drawChart(): void {
    drawn?.chart.destroy();
    drawn = stepsChart(app, chartStage(), choose);
    replace(plot, drawn?.chart.element);
    drawn?.chart.redraw();
    replace(above, drawn?.above);
    above.hidden = !drawn?.above;
  }

  function drawGaps(): void {
    if (!hasGaps) return;
    keepFocus(gapsBy, () => replace(gapsBy, gapFilters(app, state, update)));
    keepFocus(gaps, () => replace(gaps, gapTables(app, state)));
  }

  function drawFilters(): void {
    keepFocus(filters, () =>
      replace(
        filters,
        stages.length > 1 &&
          select(
            "Stage of steps",
            stages.map((name): [string, string] => [name, name]),
            chartStage(),
            (stage) => update({ stage }),
          ),
      ),
    );
  }

  function update(changes: Partial<StepsState>): void {
    state = { ...state, ...changes };
    setOptions(VIEW, { stage: state.stage, cause: state.causes.join(",") });
    drawFilters();
    if (hasSteps && changes.stage !== undefined) drawChart();
    drawGaps();
  }

  const unwatched = app.profile.stages.some((stage) => stage.unwatched);
  const known = hasSteps || app.profile.token_times.shown?.time_to_first_token_ms;
  const slow = hasSteps ? section("Slowest steps", slowTable(app)) : null;
  const gapSection = hasGaps
    ? section(
        onCpu(app.profile) ? "Longest times between operators" : "Longest idle gaps",
        gapsBy,
        gaps,
        app.profile.device_time.length > 0 &&
          note(h("a", { href: "#gpu" }, "Idle time of the whole timeline, by cause")),
      )
    : null;
  const served = requests(app);
  const element = h(
    "div",
    { class: "view" },
    h("h1", {}, "Steps"),
    isServing(app.profile) && served,
    known
      ? h("div", { class: "statistics" }, statistics(app))
      : notKnown(
          null,
          app.profile.stages.length > 0
            ? "no steps were found in these stages"
            : (app.profile.stages_found.reason ?? "no stages were found in this input"),
        ),
    app.profile.stages.length > 0 && h("div", { class: "left-out" }, app.words.of("Stages")),
    unwatched &&
      note("The table shows the program without tracing; points, slow steps and gaps include tracing overhead."),
    hasSteps &&
      section(
        "Every step",
        filters,
        plot,
        above,
        note(
          "A step's wall time runs from the end of the previous step's last " +
            `${onCpu(app.profile) ? "operator" : "GPU work"} to the end of its own. Rings are warm-up. A click, or ` +
            "the arrow keys and Enter, choose a step; dragging zooms, a double click shows all.",
        ),
        chosen,
      ),
    slow,
    !isServing(app.profile) && served,
    byBatch(app),
    gapSection,
  );
  drawGaps();
  drawFilters();
  drawChosen();
  return {
    element,
    redraw: () => {
      if (!hasSteps) return;
      if (drawn) drawn.chart.redraw();
      else drawChart();
    },
    arrive: () => {
      const target =
        state.causes.length > 0
          ? gapSection
          : options.get("at") === "slow"
            ? slow
            : state.step !== null
              ? chosen
              : null;
      target?.scrollIntoView({ block: target === chosen ? "center" : "start" });
    },
    close: () => drawn?.chart.destroy(),
  };
}

export const stepsView: ViewDescription = { id: VIEW, title: "Steps", mount };
