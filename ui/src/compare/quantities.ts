// All quantities of one stage: base, new, the difference with its interval, and whether it is a change.
import type { Comparison } from "../data/diff";
import { figure } from "../dom/copy";
import { h, type Child } from "../dom/dom";
import { table } from "../dom/table";
import { change, fineMs, percent, rate } from "../format/figures";
import type { CompareApp } from "./app";
import { axisHead, ChangeAxis, intervalCell } from "./interval";

export function valueText(row: Pick<Comparison, "unit">, value: number | null): string {
  if (row.unit === "fraction") return percent(value);
  return row.unit === "tokens/s" || row.unit === "requests/s" ? rate(value) : fineMs(value);
}

export const unitText = (row: Pick<Comparison, "unit">): string => (row.unit === "fraction" ? "" : row.unit);

interface Quantity {
  row: Comparison;
  quantity: string;
  answer: string;
}

/** Changed and unknown quantities have a mark, so that no color is needed. */
export function answer(row: Comparison, words: string): HTMLElement {
  if (row.why_not === "not_comparable") return h("span", { class: "answer" }, words);
  const mark =
    row.answer === "changed" ? (row.direction === "worse" ? "▲ " : "▼ ") : row.answer === "unchanged" ? "" : "? ";
  const higherIsBetter = row.answer === "changed" && !row.lower_is_better;
  const better = higherIsBetter ? (row.direction === "worse" ? "▼ " : "▲ ") : mark;
  return h(
    "span",
    { class: `answer ${row.answer} ${row.direction ?? ""}`.trim() },
    h("span", { "aria-hidden": "true" }, better),
    words,
  );
}

export function intervalText(row: Comparison): Child {
  return row.relative_low === null
    ? "-"
    : [
        figure(change(row.relative_low), row.relative_low, "low end of the 95 % interval, over base"),
        " to ",
        figure(change(row.relative_high), row.relative_high, "high end of the 95 % interval, over base"),
      ];
}

export function quantitiesOf(app: CompareApp, stage: string): HTMLElement | null {
  const rows: Quantity[] = app.diff.comparisons.flatMap((row, index) =>
    row.stage === stage && app.view.comparisons[index]!.shown ? [{ row, ...app.view.comparisons[index]! }] : [],
  );
  if (rows.length === 0) return null;
  const { threshold } = app.diff;
  const axis = new ChangeAxis(
    threshold,
    rows.flatMap(({ row }) => [row.relative, row.relative_low, row.relative_high]),
  );
  const view = table<Quantity>({
    caption: `Quantities of ${stage}: base, new, the change and its 95 % interval`,
    sortable: false,
    rows,
    columns: [
      { id: "quantity", title: "quantity", value: (q) => q.quantity, heads: true, className: "quantity" },
      {
        id: "base",
        title: "base",
        of: "the base side's mean, or the statistic that is named",
        value: (q) => q.row.base,
        cell: (q) => figure(valueText(q.row, q.row.base), q.row.base, `${unitText(q.row)} of base`),
        className: "number wide-only",
      },
      {
        id: "new",
        title: "new",
        of: "the new side's",
        value: (q) => q.row.new,
        cell: (q) => figure(valueText(q.row, q.row.new), q.row.new, `${unitText(q.row)} of new`),
        className: "number wide-only",
      },
      {
        id: "change",
        title: "change",
        of: "new over base, less 1",
        value: (q) => q.row.relative,
        format: change,
        className: "strong",
      },
      {
        id: "drawn",
        title: "95 % interval, drawn",
        value: (q) => q.row.relative,
        cell: (q) => intervalCell(axis, q.row, threshold),
        className: "drawn",
      },
      {
        id: "interval",
        title: "95 % interval",
        value: (q) => q.row.relative_low,
        cell: (q) => intervalText(q.row),
        className: "number interval-text",
      },
      {
        id: "answer",
        title: "answer",
        value: (q) => q.answer,
        cell: (q) => answer(q.row, q.answer),
        className: "prose",
      },
    ],
  });
  view.element.querySelector("th.drawn")?.append(axisHead(axis));
  return view.element;
}
