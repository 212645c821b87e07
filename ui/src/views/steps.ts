// Each step a point, with p50 and p99; a slow one opens its explanation and its place in the timeline. Idle gaps below.
import type { App, MountedView, ViewDescription } from "../app";
import type { Point } from "../chart/point";
import { chartColors, scatter, type Line, type Scatter } from "../chart/scatter";
import { isServing, onCpu, type Gap, type Step } from "../data/profile";
import { h, replace, type Child } from "../dom/dom";
import { note, notKnown, section, select } from "../dom/parts";
import { facts, table } from "../dom/table";
import { bytes, count, counted, meanAndStd, ms, percent, rate } from "../format/figures";
import { setOptions } from "../state/fragment";
import { timelineLink } from "../state/timeline_link";

const VIEW = "steps";

interface State {
  stage: string;
  cause: string;
  step: number | null;
}

const stateOf = (options: URLSearchParams): State => ({ stage: options.get("stage") ?? "", cause: options.get("cause") ?? "", step: options.has("step") ? Number(options.get("step")) : null });

function where(app: App, instance: number, step: number | null): string {
  if (isServing(app.shown)) return `engine step ${instance}`;
  return step === null ? `instance ${instance}` : `instance ${instance}, step ${step}`;
}

function statistics(app: App): HTMLElement {
  const { token_times: times, stages } = app.shown;
  const rows = [
    { name: "first token", times: times.time_to_first_token_ms },
    { name: "output token (a decode's wall time over its steps)", times: times.time_per_output_token_ms },
    ...stages.map((stage) => ({ name: `step of ${stage.name}`, times: stage.step_wall_ms })),
  ].filter((row): row is { name: string; times: NonNullable<typeof row.times> } => row.times !== null && row.times.count > 0);
  return table({
    caption: "Times of steps and tokens",
    sortable: false,
    fit: true,
    rows,
    columns: [
      { id: "name", title: "time of", value: (r) => r.name, heads: true },
      { id: "count", title: "count", value: (r) => r.times.count, text: (r) => count(r.times.count) },
      { id: "mean", title: "mean ± std (ms)", value: (r) => r.times.mean, text: (r) => meanAndStd(r.times) },
      { id: "min", title: "min (ms)", value: (r) => r.times.min, text: (r) => ms(r.times.min) },
      { id: "p50", title: "p50 (ms)", of: "ms, median by nearest rank", value: (r) => r.times.p50, text: (r) => ms(r.times.p50) },
      { id: "p99", title: "p99 (ms)", of: "ms, 99th percentile by nearest rank", value: (r) => r.times.p99, text: (r) => ms(r.times.p99) },
      { id: "max", title: "max (ms)", value: (r) => r.times.max, text: (r) => ms(r.times.max) },
    ],
  }).element;
}

function byBatch(app: App): Child {
  const rows = app.shown.token_times.by_batch;
  if (rows.length === 0) return null;
  return section(
    "Decode steps by the number of sequences in them",
    table({
      caption: "Decode steps by the number of sequences in them",
      fit: true,
      rows,
      columns: [
        { id: "batch", title: "sequences", heads: true, value: (r) => r.batch, text: (r) => count(r.batch) },
        { id: "count", title: "steps", value: (r) => r.step_wall_ms.count, text: (r) => count(r.step_wall_ms.count) },
        { id: "mean", title: "mean ± std (ms)", of: "ms per step", value: (r) => r.step_wall_ms.mean, text: (r) => meanAndStd(r.step_wall_ms) },
        { id: "p50", title: "p50 (ms)", of: "ms per step", value: (r) => r.step_wall_ms.p50, text: (r) => ms(r.step_wall_ms.p50) },
        { id: "p99", title: "p99 (ms)", of: "ms per step", value: (r) => r.step_wall_ms.p99, text: (r) => ms(r.step_wall_ms.p99) },
        { id: "rate", title: "tokens per second", of: "sequences over the mean step", value: (r) => r.tokens_per_s, text: (r) => rate(r.tokens_per_s) },
      ],
    }).element,
  );
}

/** What an engine's requests saw, one row per window of recording. */
function requests(app: App): Child {
  const rows = app.recorded.token_times.served;
  if (rows.length === 0) return null;
  return section(
    "Requests",
    table({
      caption: "Requests, as an engine's own clock has them",
      fit: true,
      rows,
      columns: [
        { id: "from", title: "from (ms)", heads: true, value: (r) => r.start_ms, cell: (r) => h("a", { href: timelineLink(r.start_ms * 1e6, r.span_ms * 1e6) }, ms(r.start_ms)) },
        { id: "prompts", title: "prompts", value: (r) => r.prompts, text: (r) => count(r.prompts) },
        { id: "prompt", title: "time per prompt (ms)", of: "ms, mean over prompts, as recorded", value: (r) => r.prompt_ms, text: (r) => ms(r.prompt_ms) },
        { id: "tokens", title: "tokens after the first", value: (r) => r.tokens, text: (r) => count(r.tokens) },
        { id: "token", title: "time per token (ms)", of: "ms, mean over tokens, as recorded", value: (r) => r.token_ms, text: (r) => ms(r.token_ms) },
        { id: "most", title: "sequences, at most", of: "that get a token in one batch", value: (r) => r.sequences_max, text: (r) => count(r.sequences_max) },
        { id: "batches", title: "batches", value: (r) => r.batches, text: (r) => count(r.batches) },
        { id: "passes", title: "passes", value: (r) => r.passes, text: (r) => count(r.passes) },
      ],
    }).element,
    note("As recorded: with what tracing added. A token's time is that since the batch before; a prompt's ends when its first token is chosen."),
  );
}

function chartOf(app: App, stage: string, onClick: (index: number) => void): Scatter | null {
  const steps = app.recorded.steps;
  const slow = new Set(app.recorded.slow_steps.map((each) => each.step));
  const shown = steps.map((step, index) => ({ step, index })).filter(({ step }) => (!stage || step.stage === stage) && !step.after_untraced);
  if (shown.length === 0) return null;
  const stages = [...new Set(shown.map(({ step }) => step.stage))];
  const warmup = (step: Step) => app.recorded.stages.find((each) => each.name === step.stage)?.instances[step.instance]?.warmup ?? false;
  const points: Point[] = shown.map(({ step, index }, at) => {
    const isSlow = slow.has(index);
    const isWarmup = warmup(step);
    return {
      x: at,
      y: step.wall_ms,
      color: isSlow ? chartColors.warning : isWarmup || stages.indexOf(step.stage) > 0 ? chartColors.muted : chartColors.text,
      radius: isSlow ? 5 : shown.length > 1500 ? 1.6 : 2.6,
      shape: isWarmup ? "ring" : isSlow ? "square" : "dot",
      lines: [`${step.stage}, ${where(app, step.instance, step.step_of_instance)}${isWarmup ? " (warm-up)" : ""}`, `${ms(step.wall_ms)} ms wall, ${ms(step.gpu_busy_ms)} ms busy, ${counted(step.kernel_count, "kernel")}`, ...(step.batch === null ? [] : [`${counted(step.batch, "sequence")}, ${count(step.tokens)} tokens`]), isSlow ? "slow: click for the explanation" : "click for details"],
      onClick: () => onClick(index),
    };
  });
  const lines: Line[] = [];
  for (const name of stages) {
    const times = app.recorded.stages.find((each) => each.name === name)?.step_wall_ms;
    if (!times || times.p50 === null || times.p99 === null) continue;
    const of = stages.length > 1 ? ` of ${name}` : "";
    lines.push({ points: [[0, times.p50], [shown.length - 1, times.p50]], dashed: true, label: `p50${of} ${ms(times.p50)} ms` });
    if (times.p99 !== times.p50) lines.push({ points: [[0, times.p99], [shown.length - 1, times.p99]], dashed: true, label: `p99${of} ${ms(times.p99)} ms`, labelAt: "end" });
  }
  const highest = Math.max(...points.map((point) => point.y));
  return scatter({
    label: `${counted(shown.length, "step")} in order, wall time in ms; slow ones are in the table below`,
    xTitle: "step, in order of start",
    yTitle: "wall time (ms)",
    log: false,
    xRange: [-Math.max(1, shown.length * 0.02), shown.length - 1 + Math.max(1, shown.length * 0.02)],
    yRange: [0, highest * 1.12],
    xText: (value) => (Number.isInteger(value) && value >= 0 ? count(value) : ""),
    yText: (value) => String(Number(value.toPrecision(6))),
    points,
    lines,
    height: 300,
  });
}

function stepDetail(app: App, index: number): HTMLElement | null {
  const step = app.recorded.steps[index];
  if (!step) return null;
  const slow = app.recorded.slow_steps.find((each) => each.step === index);
  return h(
    "div",
    { class: "panel", role: "region", "aria-label": "The chosen step" },
    h("h3", {}, `${step.stage}, ${where(app, step.instance, step.step_of_instance)}`),
    slow ? [h("p", {}, `${ms(slow.above_median_ms)} ms above the median step like it:`), h("ul", {}, slow.reasons.map((reason) => h("li", {}, `${reason.what}: ${ms(Math.abs(reason.longer_ms))} ms ${reason.longer_ms < 0 ? "shorter" : "longer"}`)))] : null,
    facts([
      ["wall, as recorded", `${ms(step.wall_ms)} ms`],
      [`${onCpu(app.shown) ? "CPU" : "GPU"} busy`, `${ms(step.gpu_busy_ms)} ms, ${percent(step.wall_ms > 0 ? step.gpu_busy_ms / step.wall_ms : null)} of its wall time`],
      ["kernels", `${count(step.kernel_count)}, ${ms(step.gpu_sum_ms)} ms together`],
      ["sequences", step.batch !== null && count(step.batch)],
      ["tokens", step.tokens !== null && count(step.tokens)],
      ["context tokens", step.context_tokens !== null && count(step.context_tokens)],
      ["DRAM bytes", step.dram_bytes !== null && bytes(step.dram_bytes)],
    ]),
    h("p", {}, h("a", { href: timelineLink(step.start_ms * 1e6, step.wall_ms * 1e6) }, "Show in the timeline")),
  );
}

function slowTable(app: App): Child {
  const rows = app.recorded.slow_steps;
  if (rows.length === 0) return h("p", {}, app.recorded.slow_step_rule ? `None. A step counts as slow if it is ${app.recorded.slow_step_rule}.` : "None: no step is much longer than the median step of its kind.");
  const step = (row: (typeof rows)[number]) => app.recorded.steps[row.step];
  return table({
    caption: "Slowest steps",
    rows,
    columns: [
      { id: "stage", title: "stage", value: (r) => r.stage },
      { id: "where", title: "where", className: "nowrap", value: (r) => where(app, r.instance, r.step_of_instance), heads: true, cell: (r) => (step(r) ? h("a", { href: timelineLink(step(r)!.start_ms * 1e6, r.wall_ms * 1e6) }, where(app, r.instance, r.step_of_instance)) : where(app, r.instance, r.step_of_instance)) },
      { id: "wall", title: "wall (ms)", value: (r) => r.wall_ms, text: (r) => ms(r.wall_ms) },
      { id: "above", title: "above the median (ms)", of: "ms longer than the median step like it", value: (r) => r.above_median_ms, text: (r) => ms(r.above_median_ms) },
      { id: "why", title: "difference from the median step", className: "prose", value: (r) => r.reasons.map((reason) => `${reason.what} (${ms(Math.abs(reason.longer_ms))} ms ${reason.longer_ms < 0 ? "shorter" : "longer"})`).join("; ") || "spread over many kernels" },
    ],
  }).element;
}

function between(gap: Gap): string {
  if (!gap.work_before) return gap.work_after ? `before ${gap.work_after}` : "";
  return gap.work_after ? `${gap.work_before} ... ${gap.work_after}` : `after ${gap.work_before}`;
}

function gapLink(app: App, gap: Gap): string | null {
  const instance = app.recorded.stages.find((stage) => stage.name === gap.stage)?.instances[gap.instance];
  return instance ? timelineLink(instance.start_ns + gap.after_start_ms * 1e6, gap.ms * 1e6) : null;
}

function gapTables(app: App, state: State): Child {
  const wanted = (gap: Gap) => (!state.stage || gap.stage === state.stage) && (!state.cause || gap.cause === state.cause);
  const gaps = app.recorded.gaps.filter(wanted);
  const repeated = app.recorded.repeated_gaps.filter((each) => wanted(each.longest));
  const total = app.recorded.gaps.length;
  if (total === 0) return null;
  const causes = state.cause ? ` of ${app.palette.label(state.cause)}` : "";
  return [
    table<Gap>({
      caption: `Longest idle gaps${causes}`,
      rows: gaps,
      columns: [
        { id: "stage", title: "stage", value: (g) => g.stage },
        { id: "where", title: "where", className: "nowrap", value: (g) => where(app, g.instance, g.step_of_instance), heads: true, cell: (g) => { const link = gapLink(app, g); const text = where(app, g.instance, g.step_of_instance); return link ? h("a", { href: link }, text) : text; } },
        { id: "start", title: "starts (ms)", of: "ms after the stage's start", value: (g) => g.after_start_ms, text: (g) => ms(g.after_start_ms) },
        { id: "gap", title: "gap (ms)", value: (g) => g.ms, text: (g) => ms(g.ms) },
        { id: "cause", title: "cause", value: (g) => app.palette.label(g.cause), className: "one-line" },
        { id: "between", title: "between", className: "prose", value: between },
        { id: "host", title: onCpu(app.shown) ? "activity" : "host activity", className: "prose", value: (g) => g.host ?? "" },
      ],
    }).element,
    repeated.length > 0 && [
      h("h3", {}, "Gaps that recur at the same place, warm-up excluded"),
      table({
        caption: "Gaps that recur at the same place",
        rows: repeated,
        columns: [
          { id: "stage", title: "stage", value: (g) => g.stage },
          { id: "gaps", title: "gaps", value: (g) => g.count, text: (g) => count(g.count) },
          { id: "total", title: "total (ms)", value: (g) => g.total_ms, text: (g) => ms(g.total_ms) },
          { id: "longest", title: "longest (ms)", value: (g) => g.longest.ms, text: (g) => ms(g.longest.ms) },
          { id: "cause", title: "cause", value: (g) => app.palette.label(g.longest.cause), className: "one-line" },
          { id: "between", title: "between", className: "prose", value: (g) => between(g.longest), heads: true },
          { id: "host", title: onCpu(app.shown) ? "activity" : "host activity", className: "prose", value: (g) => g.longest.host ?? "" },
        ],
      }).element,
    ],
  ];
}

function mount(app: App, options: URLSearchParams, printing: boolean): MountedView {
  let state = stateOf(options);
  let chart: Scatter | null = null;
  const stages = [...new Set(app.recorded.steps.map((step) => step.stage))];
  const plot = h("div");
  const chosen = h("div", { "aria-live": "polite" });
  const gaps = h("div", { class: "gaps" });
  const filters = h("div", { class: "filters no-print" });

  function choose(step: number | null): void {
    state = { ...state, step };
    setOptions(VIEW, { step: step === null ? "" : String(step) });
    drawChosen();
  }

  function drawChosen(): void {
    replace(chosen, state.step !== null && stepDetail(app, state.step));
  }

  function drawChart(): void {
    chart?.destroy();
    chart = chartOf(app, stages.includes(state.stage) ? state.stage : stages.length > 1 ? stages.find((name) => name === "decode") ?? stages[0]! : "", choose);
    replace(plot, chart?.element);
    chart?.redraw();
  }

  function drawGaps(): void {
    const causes = [...new Set(app.recorded.gaps.map((gap) => gap.cause))];
    replace(
      gaps,
      h("div", { class: "filters no-print" }, select("Stage", [["", "all stages"], ...app.recorded.stages.map((s): [string, string] => [s.name, s.name])], state.stage, (stage) => update({ stage })), select("Cause", [["", "all causes"], ...causes.map((cause): [string, string] => [cause, app.palette.label(cause)])], state.cause, (cause) => update({ cause }))),
      app.recorded.stages.some((stage) => stage.unwatched) && note("As recorded: these gaps hold what tracing added."),
      gapTables(app, state),
    );
  }

  function drawFilters(): void {
    replace(filters, stages.length > 1 && select("Stage", stages.map((name): [string, string] => [name, name]), stages.includes(state.stage) ? state.stage : "decode", (stage) => update({ stage })));
  }

  function update(changes: Partial<State>): void {
    state = { ...state, ...changes };
    setOptions(VIEW, { stage: state.stage, cause: state.cause });
    draw();
  }

  function draw(): void {
    drawFilters();
    drawChart();
    drawChosen();
    drawGaps();
  }

  const unwatched = app.shown.stages.some((stage) => stage.unwatched);
  const hasSteps = app.recorded.steps.length > 0;
  const element = h(
    "div",
    { class: "view" },
    h("h1", {}, "Steps"),
    hasSteps || app.shown.token_times.time_to_first_token_ms ? statistics(app) : notKnown(null, app.shown.stages.length > 0 ? "no steps were found in these stages" : (app.shown.stages_found.reason ?? "no stages were found in this input")),
    app.shown.stages.length > 0 && app.words.of("Stages"),
    unwatched && note("The table is of the program without tracing; points, slow steps and gaps are as recorded."),
    hasSteps && section("Every step", filters, plot, note("A step's wall time runs from the end of the previous step's last GPU work to the end of its own. Rings are warm-up. A click, or the arrow keys and Enter, choose a step; dragging zooms, a double click shows all."), chosen),
    hasSteps && section("Slowest steps", slowTable(app)),
    requests(app),
    byBatch(app),
    app.recorded.gaps.length > 0 && section("Longest idle gaps", gaps),
  );
  if (app.recorded.gaps.length > 0) drawGaps();
  drawFilters();
  drawChosen();
  return {
    element,
    onPlace: (next) => {
      state = stateOf(next);
      draw();
    },
    redraw: () => {
      if (!hasSteps) return;
      if (chart) chart.redraw();
      else drawChart();
      if (!printing && state.cause) gaps.scrollIntoView({ block: "start" });
    },
    close: () => chart?.destroy(),
  };
}

export const stepsView: ViewDescription = { id: VIEW, title: "Steps", mount };
