// The verdict, its reasons, the gate; then for each stage quantities with intervals, budgets and the main kernels;
// findings.
import type { MountedView, ViewDescription } from "../app";
import {
  msOf,
  type Comparison,
  type FindingChange,
  type GateResult,
  type RankDiff,
  type StageDiff,
} from "../data/diff";
import { figure } from "../dom/copy";
import { h, type Child } from "../dom/dom";
import { note, prose, section } from "../dom/parts";
import { table } from "../dom/table";
import { change, count, counted, fineMs, ms, timeChange } from "../format/figures";
import { placeHash } from "../state/fragment";
import type { CompareApp } from "./app";
import { budgetOf } from "./budgets";
import { axisHead, ChangeAxis, differenceBar, intervalCell } from "./interval";
import { kernelRowsOf, kernelTable, type KernelRow } from "./kernel_rows";
import { memorySection } from "./memory";
import { answer, intervalText, quantitiesOf, unitText, valueText } from "./quantities";
import { requestsSection } from "./requests";

const SHOWN_KERNELS = 10;
/** Share of the base's wall time; matched kernels that differ by less get no row here. */
const LEAST_POINTS = 0.0001;

function verdict(app: CompareApp): HTMLElement {
  return h(
    "div",
    { class: `verdict ${app.diff.verdict}`, role: "status" },
    h("strong", { class: "happened" }, app.diff.summary),
    h("span", {}, ` ${app.view.verdict}`),
  );
}

function damage(app: CompareApp): Child {
  return app.diff.damage.map((each) =>
    h(
      "p",
      { class: "warning damage" },
      `Damage of ${each.side} (${each.run}): ${each.text}${each.count > 1 ? ` (${count(each.count)})` : ""}. ` +
        `Diagnostic: ${each.code}.`,
    ),
  );
}

function headlineOf(app: CompareApp, index: number): { row: Comparison; quantity: string; answer: string } | null {
  const at = app.view.stages[index]?.headline ?? null;
  if (at === null) return null;
  return { row: app.diff.comparisons[at]!, ...app.view.comparisons[at]! };
}

function tiles(app: CompareApp): Child {
  const known = app.diff.stages.flatMap((stage, index) => {
    const headline = headlineOf(app, index);
    return headline ? [{ stage, ...headline }] : [];
  });
  if (known.length === 0) return null;
  return h(
    "dl",
    { class: "tiles" },
    known.map(({ stage, row, quantity, answer: words }) =>
      h(
        "div",
        {},
        h("dt", {}, `${stage.stage}: ${quantity}`),
        h(
          "dd",
          { class: "value" },
          row.relative === null ? "-" : figure(change(row.relative), row.relative, "difference over base"),
        ),
        h(
          "dd",
          { class: "of" },
          row.relative_low === null ? "without an interval" : [intervalText(row), ", 95 % interval"],
        ),
        h(
          "dd",
          { class: "beside" },
          figure(valueText(row, row.base), row.base, `${unitText(row)} of base`),
          " to ",
          figure(valueText(row, row.new), row.new, `${unitText(row)} of new`),
          ` ${unitText(row)}`,
        ),
        h("dd", { class: "beside" }, answer(row, words)),
      ),
    ),
  );
}

const OUTCOME: Record<GateResult["outcome"], string> = {
  pass: "pass",
  fail: "fail",
  cannot_tell: "cannot tell",
  not_comparable: "not comparable",
};

function gates(app: CompareApp): Child {
  const rows = app.diff.gates;
  if (rows.length === 0) return null;
  const { threshold } = app.diff;
  const axis = new ChangeAxis(
    threshold,
    rows.flatMap((gate) => [
      gate.relative_limit,
      gate.measured?.relative ?? null,
      gate.measured?.relative_low ?? null,
      gate.measured?.relative_high ?? null,
    ]),
  );
  const view = table<GateResult>({
    caption: "Gate rules and what was measured",
    sortable: false,
    rows,
    columns: [
      {
        id: "rule",
        title: "rule",
        value: (g) => g.rule,
        heads: true,
        cell: (g) => h("code", {}, g.rule),
        className: "nowrap",
      },
      {
        id: "outcome",
        title: "outcome",
        value: (g) => OUTCOME[g.outcome],
        cell: (g) => h("span", { class: `outcome ${g.outcome}` }, OUTCOME[g.outcome]),
        className: "nowrap",
      },
      {
        id: "drawn",
        title: "interval and limit, drawn",
        value: (g) => g.measured?.relative ?? null,
        cell: (g) => (g.measured ? intervalCell(axis, g.measured, threshold, g.relative_limit) : "-"),
        className: "drawn",
      },
      { id: "text", title: "measured", value: (g) => g.text, cell: (g) => prose(g.text), className: "prose wide" },
      { id: "from", title: "from", value: (g) => g.from, className: "muted" },
    ],
  });
  view.element.querySelector("th.drawn")?.append(axisHead(axis));
  return section(
    "Gate",
    view.element,
    note("A rule fails only where the whole interval is beyond its limit (the dashed mark)."),
  );
}

function notes(app: CompareApp): Child {
  const differing = app.diff.aspects.filter((aspect) => !aspect.blocking);
  if (differing.length === 0) return null;
  return section(
    "What else differs",
    h(
      "ul",
      { class: "notes" },
      differing.map((aspect) => h("li", {}, aspect.text)),
    ),
  );
}

function kernelsOf(app: CompareApp, all: KernelRow[]): Child {
  const rows = all
    .filter(({ kernel }) => kernel.change !== "matched" || Math.abs(kernel.points ?? 0) >= LEAST_POINTS)
    .slice(0, SHOWN_KERNELS);
  const stage = rows[0];
  if (!stage) return null;
  return [
    h(
      "h3",
      {},
      "Kernels that changed most",
      h("span", { class: "muted" }, ` per ${stage.unit}, by their effect on time`),
    ),
    kernelTable(app, `Kernels of ${stage.stage} that changed most, per ${stage.unit}`, rows, false, {
      sortable: false,
    }).element,
    all.length > rows.length &&
      h(
        "p",
        { class: "more" },
        `${rows.length} of ${counted(all.length, "row")}. `,
        h("a", { href: placeHash("kernels", { stage: stage.stage }) }, `All kernels of ${stage.stage}`),
      ),
  ];
}

function stageSection(app: CompareApp, stage: StageDiff, index: number): HTMLElement {
  const view = app.view.stages[index]!;
  return h(
    "section",
    { class: "stage-diff", "data-stage": stage.stage },
    h("h2", {}, stage.stage),
    quantitiesOf(app, stage.stage),
    budgetOf(app, stage, view),
    kernelsOf(app, kernelRowsOf(app, index)),
  );
}

function ranks(app: CompareApp): Child {
  const rows = app.diff.ranks;
  if (rows.length === 0) return null;
  const largest = Math.max(...rows.map((row) => Math.abs(row.difference_ns)), 1);
  return section(
    "Ranks",
    table<RankDiff>({
      caption: "Ranks of both jobs, by their own times",
      rows,
      limit: 128,
      columns: [
        {
          id: "rank",
          title: "rank",
          value: (r) => r.rank,
          heads: true,
          cell: (r) => `rank ${r.rank}`,
          className: "as-text",
        },
        { id: "stage", title: "stage", value: (r) => r.stage },
        {
          id: "base",
          title: "base (ms)",
          of: "ns per unit, by the rank's own clock, waits for other ranks included",
          value: (r) => r.base_wall_ns,
          text: (r) => fineMs(msOf(r.base_wall_ns)),
        },
        {
          id: "new",
          title: "new (ms)",
          of: "ns per unit, including waits for other ranks",
          value: (r) => r.new_wall_ns,
          text: (r) => fineMs(msOf(r.new_wall_ns)),
        },
        {
          id: "difference",
          title: "difference (ms)",
          of: "ns per unit",
          value: (r) => r.difference_ns,
          text: (r) => timeChange(msOf(r.difference_ns)),
          className: "strong",
        },
        {
          id: "drawn",
          title: "drawn",
          value: (r) => Math.abs(r.difference_ns),
          cell: (r) => differenceBar(r.difference_ns, largest),
          className: "drawn narrow",
        },
        { id: "relative", title: "change", of: "difference over base", value: (r) => r.relative, format: change },
        { id: "part", title: "changed most", value: (r) => (r.part === null ? "-" : app.palette.label(r.part)) },
        {
          id: "partMs",
          title: "by (ms)",
          of: "ns per unit",
          value: (r) => (r.part === null ? null : r.part_difference_ns),
          text: (r) => timeChange(r.part === null ? null : msOf(r.part_difference_ns)),
        },
      ],
    }).element,
    note(
      "Means per step (per instance where a stage has no steps). Jobs are compared above, one step on all ranks " +
        "being one step.",
    ),
  );
}

function findings(app: CompareApp): Child {
  const rows = app.diff.findings;
  if (rows.length === 0) return null;
  return section(
    "Findings",
    table<FindingChange>({
      caption: "Findings gone, new, smaller and larger",
      fit: true,
      rows,
      columns: [
        {
          id: "change",
          title: "change",
          value: (f) => f.change,
          cell: (f) => h("span", { class: `chip finding-${f.change}` }, f.change),
          className: "nowrap",
        },
        { id: "stage", title: "stage", value: (f) => f.stage ?? "-" },
        { id: "title", title: "finding", value: (f) => f.title, heads: true, className: "prose" },
        {
          id: "base",
          title: "base, up to (ms)",
          of: "ms, potential saving per unit of that finding",
          value: (f) => f.base_ms,
          format: ms,
        },
        {
          id: "new",
          title: "new, up to (ms)",
          of: "ms, potential saving per unit of that finding",
          value: (f) => f.new_ms,
          format: ms,
        },
      ],
    }).element,
  );
}

function mount(app: CompareApp): MountedView {
  const { diff } = app;
  const element = h(
    "div",
    { class: "view overview compare" },
    h("h1", {}, app.view.title),
    verdict(app),
    damage(app),
    diff.aspects.filter((aspect) => aspect.blocking).map((aspect) => h("p", { class: "warning" }, aspect.text)),
    tiles(app),
    (diff.stages.length > 0 || diff.requests || diff.memory) &&
      section(
        "What changed",
        h(
          "div",
          { class: "why" },
          diff.requests && h("p", {}, prose(diff.requests.why)),
          diff.stages.map((stage) => h("p", {}, prose(stage.why))),
          diff.memory?.why.map((why) => h("p", {}, prose(why))),
        ),
      ),
    gates(app),
    notes(app),
    requestsSection(app),
    diff.stages.map((stage, index) => stageSection(app, stage, index)),
    h("div", { class: "rules" }, app.words.of("Stages and steps")),
    memorySection(app),
    ranks(app),
    findings(app),
  );
  return { element };
}

export const comparisonView: ViewDescription<CompareApp> = { id: "comparison", title: "Comparison", mount };
