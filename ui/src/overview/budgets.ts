// Where the time of each stage goes: parts that sum to its wall time, each linked to its details.
import type { App } from "../app";
import { instanceWord, isServing, type BudgetPart, type Stage } from "../data/profile";
import { figure } from "../dom/copy";
import { h } from "../dom/dom";
import { link } from "../dom/link";
import { hasRoom, section, swatch } from "../dom/parts";
import { table } from "../dom/table";
import { fineMs, ms, percent } from "../format/figures";
import { partLink } from "../state/links";
import { classShares } from "./class_shares";

function barPart(app: App, stage: Stage, part: BudgetPart): HTMLElement {
  const label = app.palette.label(part.part);
  const words = `${label}: ${ms(part.ms)} ms per ${instanceWord(app.profile)}, ${percent(part.share)} of wall time`;
  const idle = app.palette.classOf(part.part) === null;
  const short = `${app.palette.short(part.part)} ${percent(part.share)}`;
  const text = idle ? "" : `; color: ${app.palette.textCss(part.part)}`;
  const color = `background-color: ${app.palette.css(part.part)}${text}`;
  const href = partLink(app, stage, part.part);
  return link(
    href,
    {
      class: `part ${idle ? "idle" : "work"}`,
      style: `width: ${part.share * 100}%; ${color}`,
      title: words,
      role: href === null ? "img" : null,
      "aria-label": words,
      "data-part": part.part,
    },
    hasRoom(short, part.share) && h("span", {}, short),
  );
}

function budgetBar(app: App, stage: Stage): HTMLElement {
  const wall = ms(stage.shown.wall_ms.mean);
  return h(
    "div",
    {
      class: "budget-bar",
      role: "group",
      "aria-label": `Time budget of ${stage.name}: ${wall} ms per ${instanceWord(app.profile)}`,
    },
    (stage.shown.budget ?? []).map((part) => barPart(app, stage, part)),
  );
}

function budgetOf(app: App, stage: Stage): HTMLElement {
  const unit = instanceWord(app.profile);
  const stepped = stage.shown.wall_ms_per_step !== null && !isServing(app.profile);
  const view = table({
    caption: `Budget of ${stage.name}`,
    sortable: false,
    rows: stage.shown.budget!,
    columns: [
      {
        id: "part",
        title: "part",
        value: (p) => app.palette.label(p.part),
        heads: true,
        cell: (p) =>
          link(partLink(app, stage, p.part), { class: "with-swatch" }, swatch(app, p.part), app.palette.label(p.part)),
      },
      { id: "ms", title: `ms per ${unit}`, of: `ms per ${unit}, mean`, value: (p) => p.ms, format: ms },
      { id: "share", title: "share of wall", of: "of wall time", value: (p) => p.share, format: percent },
      ...(stepped
        ? [
            {
              id: "step",
              title: "ms per step",
              of: "ms per decode step",
              value: (p: { ms_per_step: number | null }) => p.ms_per_step,
              text: (p: { ms_per_step: number | null }) => fineMs(p.ms_per_step),
            },
          ]
        : []),
    ],
    foot: h(
      "tfoot",
      {},
      h(
        "tr",
        {},
        h("th", { scope: "row" }, "sum (wall time)"),
        h(
          "td",
          { class: "number" },
          figure(ms(stage.shown.wall_ms.mean), stage.shown.wall_ms.mean, `ms per ${unit}, mean wall time`),
        ),
        h("td", { class: "number" }, percent(1)),
        stepped &&
          h(
            "td",
            { class: "number" },
            figure(fineMs(stage.shown.wall_ms_per_step), stage.shown.wall_ms_per_step, "ms per decode step"),
          ),
      ),
    ),
  });
  return h(
    "div",
    { class: "budget" },
    h(
      "h3",
      {},
      stage.name,
      h(
        "span",
        { class: "muted" },
        ` ${ms(stage.shown.wall_ms.mean)} ms per ` +
          `${unit}${stage.shown.without_tracing ? ", without tracing" : ", traced"}`,
      ),
    ),
    budgetBar(app, stage),
    view.element,
    app.words.of(`Time budget/Budget of ${stage.name}`),
  );
}

export function budgets(app: App): HTMLElement {
  const stages = app.profile.stages.filter(({ shown }) => shown.budget && shown.budget.length > 0);
  return section(
    "Where the time goes",
    stages.length > 0
      ? h(
          "div",
          { class: "budgets" },
          stages.map((stage) => budgetOf(app, stage)),
        )
      : [app.words.of("Time budget"), classShares(app)],
    stages.length > 0 && h("div", { class: "muted" }, app.words.of("Time budget")),
  );
}
