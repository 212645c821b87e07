// The ranks of a job: which rank waits for which, ranks by steps, where each rank's time goes, collectives, clocks.
import type { App, MountedView, ViewDescription } from "../app";
import { figure } from "../dom/copy";
import { h, replace, type Child } from "../dom/dom";
import { keepFocus } from "../dom/keep_focus";
import { note, notKnown, section, select } from "../dom/parts";
import { facts } from "../dom/table";
import { count, counted, fineMs, percent, ratio } from "../format/figures";
import { heatSection, type HeatState } from "../job/heat_section";
import { HEAT_MODES } from "../job/heat_values";
import { jobNotices } from "../job/notices";
import { rankLegend, ranksTable } from "../job/ranks_table";
import { clocksTable, collectivesTable, groupsTable, stragglersTable } from "../job/tables";
import { parallelismWords, rankList } from "../job/words";
import type { Job } from "../data/profile";
import { setOptions } from "../state/fragment";

const VIEW = "job";

interface State extends HeatState {
  stage: string;
}

function stateOf(options: URLSearchParams): State {
  const number = (name: string) => (options.has(name) ? Number(options.get(name)) : null);
  return {
    stage: options.get("stage") ?? "",
    show: HEAT_MODES.find(([mode]) => mode === options.get("show"))?.[0] ?? "against",
    rank: number("rank"),
    bin: number("bin"),
  };
}

function tiles(app: App, job: Job): HTMLElement {
  const stage = app.profile.stages.find((each) => each.name === "decode") ?? app.profile.stages[0];
  const worst = job.stragglers[0];
  const residual = job.clock_residual_ms;
  const all: (Child[] | null)[] = [
    [
      h("dt", {}, "Ranks"),
      h(
        "dd",
        { class: "value" },
        figure(count(job.recorded), job.recorded, "ranks recorded"),
        h("span", { class: "unit" }, ` of ${count(job.world_size)}`),
      ),
      h(
        "dd",
        { class: "of" },
        [job.hosts > 0 && `on ${counted(job.hosts, "host")}`, parallelismWords(job)].filter(Boolean).join(", "),
      ),
    ],
    stage?.shown.wall_ms_per_step
      ? [
          h("dt", {}, `Step of the job, ${stage.name}`),
          h(
            "dd",
            { class: "value" },
            figure(
              fineMs(stage.shown.wall_ms_per_step),
              stage.shown.wall_ms_per_step,
              "ms per step, until the slowest rank's end",
            ),
            h("span", { class: "unit" }, " ms"),
          ),
          h("dd", { class: "of" }, "mean, until the slowest rank's end"),
        ]
      : null,
    worst
      ? [
          h("dt", {}, `Others wait for rank ${worst.rank}`),
          h(
            "dd",
            { class: "value" },
            figure(fineMs(worst.wait_ms_per_step), worst.wait_ms_per_step, "ms per step of the job"),
            h("span", { class: "unit" }, " ms"),
          ),
          h(
            "dd",
            { class: "of" },
            worst.stage ? `per step of ${worst.stage}` : "in the whole timeline",
            worst.share_of_step !== null && `, ${percent(worst.share_of_step)} of the job's step`,
          ),
        ]
      : null,
    job.pipeline_bubble_share !== null
      ? [
          h("dt", {}, "Pipeline bubbles"),
          h(
            "dd",
            { class: "value" },
            figure(percent(job.pipeline_bubble_share), job.pipeline_bubble_share, "of the ranks' time in steps"),
          ),
          h("dd", { class: "of" }, "of the ranks' time in steps"),
        ]
      : null,
    job.expert_imbalance !== null
      ? [
          h("dt", {}, "Expert imbalance"),
          h(
            "dd",
            { class: "value" },
            figure(
              ratio(job.expert_imbalance),
              job.expert_imbalance,
              "time of expert kernels, the longest rank's over the mean",
            ),
          ),
          h("dd", { class: "of" }, "the longest rank's time over the mean"),
        ]
      : null,
    residual !== null
      ? [
          h("dt", {}, "Clocks agree within"),
          h(
            "dd",
            { class: "value" },
            figure((residual * 1000).toFixed(2), residual, "ms, median residual of the worst rank"),
            h("span", { class: "unit" }, " us"),
          ),
          h("dd", { class: "of" }, "median residual of the worst rank"),
        ]
      : null,
  ];
  return h(
    "dl",
    { class: "tiles" },
    all.filter((tile) => tile !== null).map((tile) => h("div", {}, tile)),
  );
}

function rankSection(
  app: App,
  stages: string[],
  state: State,
  update: (changes: Partial<State>) => void,
): HTMLElement {
  const stage = stages.includes(state.stage)
    ? state.stage
    : (stages.find((name) => name === "decode") ?? stages[0] ?? "");
  const rows = app.profile.ranks.map((rank) => ({
    rank,
    own: rank.between.find((each) => each.stage === stage) ?? null,
  }));
  if (stages.length === 0)
    return notKnown(null, "no stage was found on the ranks, so that nothing divides their time into steps");
  return h(
    "div",
    {},
    stages.length > 1 &&
      h(
        "div",
        { class: "filters no-print" },
        select(
          "Stage",
          stages.map((name): [string, string] => [name, name]),
          stage,
          (next) => update({ stage: next }),
        ),
      ),
    rankLegend(app),
    ranksTable(app, stage, rows),
  );
}

function jobFacts(app: App, job: Job): HTMLElement {
  const withoutSteps = job.steps_left_out;
  return facts([
    ["job", job.id],
    [
      "ranks recorded",
      rankList(app.profile.ranks.filter((rank) => rank.state !== "missing").map((rank) => rank.rank)),
    ],
    [
      "steps on all ranks",
      [count(job.steps_matched), job.steps_unmatched > 0 && `; ${count(job.steps_unmatched)} unmatched`],
    ],
    [
      "steps left out of profile.json",
      withoutSteps > 0 && `${count(withoutSteps)} of single ranks; the ranks' partial profiles have them`,
    ],
  ]);
}

function mount(app: App, options: URLSearchParams): MountedView {
  const { job, ranks } = app.profile;
  if (!job)
    return {
      element: h(
        "div",
        { class: "view" },
        h("h1", {}, "Job"),
        h("p", { class: "not-known" }, "Not available: these captures are from a single rank."),
      ),
    };
  let state = stateOf(options);
  const stages = [...new Set(ranks.flatMap((rank) => rank.between.map((each) => each.stage)))];
  const perRank = h("div");
  const drawn = app.view.job?.heat;
  const heat =
    drawn && job.heat.rows.length > 0 && job.steps_matched > 0 ? heatSection(app, job, drawn, state, update) : null;

  function update(changes: Partial<State>): void {
    state = { ...state, ...changes };
    setOptions(VIEW, {
      stage: state.stage,
      show: state.show === "against" ? "" : state.show,
      rank: state.rank === null ? "" : String(state.rank),
      bin: state.bin === null ? "" : String(state.bin),
    });
    draw();
  }

  function draw(): void {
    heat?.draw(state);
    keepFocus(perRank, () => replace(perRank, rankSection(app, stages, state, update)));
  }

  replace(perRank, rankSection(app, stages, state, update));
  const element = h(
    "div",
    { class: "view job" },
    h("h1", {}, "Job"),
    h("div", { class: "notices" }, jobNotices(job, ranks)),
    tiles(app, job),
    section("Ranks that others wait for", stragglersTable(app, job.stragglers)),
    heat?.element,
    section(
      "Where each rank's time goes",
      perRank,
      note(
        "Means per step of the job (per instance where a stage has no steps), warm-up excluded. Compute, " +
          "transfer, wait, copies and idle sum to the wall time. A rank waits from its arrival at a collective " +
          "until the last rank of the group arrives.",
      ),
    ),
    section(
      "Collectives",
      collectivesTable(app, job.collectives),
      note("Latency runs from the last rank's arrival to the last end. Waits are those of the longest-waiting rank."),
    ),
    job.groups.length > 0 && section("Groups", groupsTable(app)),
    section(
      "One clock",
      clocksTable(app, ranks),
      note("Ranks of one host share its clock; between hosts, the ends of matched collectives give offset and drift."),
    ),
    section("Steps", jobFacts(app, job)),
  );
  return {
    element,
    redraw: () => heat?.redraw(),
  };
}

export const jobView: ViewDescription = { id: VIEW, title: "Job", mount };
