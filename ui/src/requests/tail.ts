// What makes the slowest ones slow: the parts of the tail against those around the median.
import type { RequestTail } from "../data/profile";
import { h } from "../dom/dom";
import { table } from "../dom/table";
import { counted, fineMs, ms, timeChange } from "../format/figures";
import { partsBar, swatchOf, type RequestWords } from "./words";

const figureText = (figure: string) => (figure === "itl" || figure === "tpot" ? fineMs : ms);

const nanoseconds = (tail: RequestTail, side: "tail_ms" | "median_ms"): Record<string, number> =>
  Object.fromEntries(tail.parts.map((part) => [part.part, part[side] * 1e6]));

function tailOf(words: RequestWords, tail: RequestTail): HTMLElement {
  const { label, one } = words.view.figures[tail.figure] ?? { label: tail.figure, one: "value" };
  const sum = (side: "tail_ms" | "median_ms") => tail.parts.reduce((all, part) => all + part[side], 0);
  const longest = Math.max(sum("tail_ms"), sum("median_ms"), 1e-9);
  const bar = (side: "tail_ms" | "median_ms", name: string) =>
    h(
      "div",
      { class: "tail-bar" },
      h("span", { class: "muted" }, name),
      partsBar(words, nanoseconds(tail, side), sum(side) / longest),
    );
  return h(
    "div",
    { class: "tail" },
    h(
      "h3",
      {},
      label,
      h(
        "span",
        { class: "muted" },
        ` from ${figureText(tail.figure)(tail.above_ms)} ms on: ${counted(tail.count, one)}, against ` +
          `${counted(tail.around_median, one)} around the median`,
      ),
    ),
    bar("median_ms", "median"),
    bar("tail_ms", "tail"),
    table({
      caption: `Parts of the tail of ${label}`,
      fit: true,
      sortable: false,
      rows: tail.parts.filter((part) => part.tail_ms > 0 || part.median_ms > 0),
      columns: [
        {
          id: "part",
          title: "part",
          heads: true,
          value: (p) => words.palette.label(p.part),
          cell: (p) => h("span", { class: "with-swatch" }, swatchOf(words, p.part), words.palette.label(p.part)),
        },
        { id: "tail", title: "tail (ms)", of: "ms, mean in the tail", value: (p) => p.tail_ms, format: ms },
        {
          id: "median",
          title: "median (ms)",
          of: "ms, mean around the median",
          value: (p) => p.median_ms,
          format: ms,
        },
        {
          id: "more",
          title: "difference (ms)",
          of: "ms, tail minus median",
          value: (p) => p.more_ms,
          format: timeChange,
        },
      ],
    }).element,
    tail.most_delayed_by !== null && h("p", { class: "muted" }, `Request ${tail.most_delayed_by} delays it most.`),
  );
}

export const tails = (words: RequestWords, all: RequestTail[]): HTMLElement =>
  h(
    "div",
    { class: "tails" },
    all.map((tail) => tailOf(words, tail)),
  );
