// The time budgets of both sides on one scale, and the parts of their difference.
import { msOf, type PartChange, type StageDiff } from "../data/diff";
import { figure } from "../dom/copy";
import { h, type Child } from "../dom/dom";
import { swatch } from "../dom/parts";
import { table } from "../dom/table";
import { fineMs, percent, timeChange } from "../format/figures";
import type { CompareApp, CompareView } from "./app";
import { differenceBar } from "./interval";

function sideBar(app: CompareApp, stage: StageDiff, side: "base" | "new", scale: number): HTMLElement {
  const wall = side === "base" ? stage.base_wall_ns : stage.new_wall_ns;
  const value = (part: PartChange) => (side === "base" ? part.base_ns : part.new_ns);
  // Both bars have the order of the base, longest first, so that parts line up.
  const parts = [...stage.budget]
    .sort((a, b) => Number(a.idle) - Number(b.idle) || b.base_ns - a.base_ns || b.new_ns - a.new_ns)
    .filter((part) => value(part) > 0);
  return h(
    "div",
    { class: "side-row" },
    h(
      "span",
      { class: "side-name" },
      side,
      h(
        "span",
        { class: "muted" },
        " ",
        figure(`${fineMs(msOf(wall))} ms`, wall, `ns per ${stage.unit}, mean wall time of ${side}`),
      ),
    ),
    h(
      "div",
      {
        class: "budget-bar",
        role: "img",
        "aria-label":
          `Time budget of ${side}: ` +
          `${parts.map((part) => `${app.palette.label(part.part)} ${percent(value(part) / wall)}`).join(", ")}`,
        style: `width: ${((wall / scale) * 100).toFixed(3)}%`,
      },
      parts.map((part) => {
        const label = app.palette.label(part.part);
        const short = app.palette.short(part.part);
        const roomy = (value(part) / scale) * 800 > short.length * 6.6 + 12;
        return h(
          "span",
          {
            class: part.idle ? "part idle" : "part work",
            style:
              `width: ${((value(part) / wall) * 100).toFixed(4)}%; background-color: ` +
              `${app.palette.css(part.part)}${part.idle ? "" : `; color: ${app.palette.textCss(part.part)}`}`,
            title:
              `${label}: ${fineMs(msOf(value(part)))} ms per ${stage.unit}, ${percent(value(part) / wall)} of ` +
              `${side}'s wall time`,
            "data-part": part.part,
          },
          roomy && h("span", {}, short),
        );
      }),
    ),
  );
}

function causes(stage: StageDiff, view: CompareView["stages"][number]): Child {
  const { listed, count, difference_ns: rest } = view.other_causes;
  const shown = listed.flatMap((index) => {
    const cause = stage.causes[index];
    return cause ? [{ cause, words: view.causes[index] ?? cause.kind }] : [];
  });
  if (shown.length === 0) return null;
  const largest = Math.max(...shown.map(({ cause }) => Math.abs(cause.difference_ns)), Math.abs(rest));
  const line = (ns: number, text: string) =>
    h(
      "li",
      {},
      h("span", { class: "cause-time" }, figure(timeChange(msOf(ns)), ns, `ns per ${stage.unit}`)),
      differenceBar(ns, largest),
      h("span", { class: "cause-words" }, text),
    );
  return [
    h(
      "h3",
      {},
      "What the difference is made of",
      h("span", { class: "muted" }, ` ms per ${stage.unit}; all sum to ${timeChange(msOf(stage.difference_ns))}`),
    ),
    h(
      "ul",
      { class: "causes" },
      shown.map(({ cause, words: text }) => line(cause.difference_ns, text)),
      rest !== 0 && line(rest, `${count} more`),
    ),
  ];
}

function partsTable(app: CompareApp, stage: StageDiff): HTMLElement {
  const largest = Math.max(...stage.budget.map((part) => Math.abs(part.difference_ns)), 1);
  return table<PartChange>({
    caption: `Budget of ${stage.stage} part by part, per ${stage.unit}`,
    rows: stage.budget,
    columns: [
      {
        id: "part",
        title: "part",
        value: (p) => app.palette.label(p.part),
        heads: true,
        cell: (p) => h("span", { class: "with-swatch" }, swatch(app, p.part), app.palette.label(p.part)),
      },
      {
        id: "base",
        title: "base (ms)",
        of: `ns per ${stage.unit}`,
        value: (p) => p.base_ns,
        text: (p) => fineMs(msOf(p.base_ns)),
      },
      {
        id: "new",
        title: "new (ms)",
        of: `ns per ${stage.unit}`,
        value: (p) => p.new_ns,
        text: (p) => fineMs(msOf(p.new_ns)),
      },
      {
        id: "difference",
        title: "difference (ms)",
        of: `ns per ${stage.unit}; all parts sum to the wall time's`,
        value: (p) => p.difference_ns,
        text: (p) => timeChange(msOf(p.difference_ns)),
        className: "strong",
      },
      {
        id: "drawn",
        title: "drawn",
        value: (p) => p.difference_ns,
        cell: (p) => differenceBar(p.difference_ns, largest),
        className: "drawn narrow",
      },
    ],
    foot: h(
      "tfoot",
      {},
      h(
        "tr",
        {},
        h("th", { scope: "row" }, "all parts (wall time)"),
        h(
          "td",
          { class: "number" },
          figure(fineMs(msOf(stage.base_wall_ns)), stage.base_wall_ns, `ns per ${stage.unit}`),
        ),
        h(
          "td",
          { class: "number" },
          figure(fineMs(msOf(stage.new_wall_ns)), stage.new_wall_ns, `ns per ${stage.unit}`),
        ),
        h(
          "td",
          { class: "number" },
          figure(timeChange(msOf(stage.difference_ns)), stage.difference_ns, `ns per ${stage.unit}`),
        ),
        h("td", {}),
      ),
    ),
  }).element;
}

export function budgetOf(app: CompareApp, stage: StageDiff, view: CompareView["stages"][number]): Child {
  if (stage.budget.length === 0) return causes(stage, view);
  const scale = Math.max(stage.base_wall_ns, stage.new_wall_ns, 1);
  const of = stage.times === "unwatched" ? ", without profiling" : "";
  return [
    h("h3", {}, `Time budget per ${stage.unit}`, h("span", { class: "muted" }, ` mean${of}, both on one scale`)),
    h("div", { class: "side-bars" }, sideBar(app, stage, "base", scale), sideBar(app, stage, "new", scale)),
    h(
      "div",
      { class: "difference-parts" },
      h("div", {}, causes(stage, view)),
      h("div", {}, h("h3", {}, "Part by part"), partsTable(app, stage)),
    ),
  ];
}
