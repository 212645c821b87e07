// Tables of the view Requests: figures, parts, the slowest tokens, steps by size.
import type { RequestGap, Requests, RequestTimes } from "../data/profile";
import { h } from "../dom/dom";
import { table } from "../dom/table";
import { bar } from "../dom/parts";
import { count, fineMs, ms, percent } from "../format/figures";
import { chunkName } from "./waterfall";
import { largestParts, nsInMs, partsBar, swatchOf, type RequestWords } from "./words";

interface FigureRow {
  figure: string;
  load: string;
  times: RequestTimes;
}

export function figuresTable(words: RequestWords, requests: Requests): HTMLElement {
  const alone = requests.unrecorded;
  const rows: FigureRow[] = (["ttft", "itl", "tpot", "e2e"] as const).flatMap((figure) => {
    const recorded = { figure, load: "recorded", times: requests[`${figure}_ms`] };
    return alone ? [{ figure, load: "unrecorded", times: alone[`${figure}_ms`] }, recorded] : [recorded];
  });
  const text = (row: FigureRow, value: number | null) =>
    row.figure === "itl" || row.figure === "tpot" ? fineMs(value) : ms(value);
  const labelOf = (row: FigureRow) => words.view.figures[row.figure]?.label ?? row.figure;
  const column = (id: "mean" | "p50" | "p90" | "p99" | "max", title: string) => ({
    id,
    title: `${title} (ms)`,
    of: "ms, by nearest rank",
    value: (row: FigureRow) => row.times[id],
    text: (row: FigureRow) => text(row, row.times[id]),
  });
  return table({
    caption: "Times that the client saw",
    fit: true,
    sortable: false,
    rows: rows.filter((row) => row.times.count > 0),
    columns: [
      {
        id: "figure",
        title: "figure",
        heads: true,
        value: labelOf,
        cell: (row) => h("span", { title: words.view.figures[row.figure]?.definition }, labelOf(row)),
      },
      ...(alone ? [{ id: "load", title: "load", value: (row: FigureRow) => row.load }] : []),
      { id: "count", title: "values", value: (row) => row.times.count, format: count },
      column("mean", "mean"),
      column("p50", "p50"),
      column("p90", "p90"),
      column("p99", "p99"),
      column("max", "max"),
    ],
  }).element;
}

export function partsTable(words: RequestWords, requests: Requests): HTMLElement {
  const most = Math.max(...requests.shown.parts.map((part) => part.share_of_time), 1e-9);
  return table({
    caption: "What the time of completed requests consists of",
    fit: true,
    sortable: false,
    rows: requests.shown.parts,
    columns: [
      {
        id: "part",
        title: "part",
        heads: true,
        value: (p) => words.palette.label(p.part),
        cell: (p) =>
          h(
            "span",
            { class: "with-swatch", title: words.palette.why(p.part) },
            swatchOf(words, p.part),
            words.palette.label(p.part),
          ),
      },
      { id: "ms", title: "per request (ms)", of: "ms, mean per completed request", value: (p) => p.ms, format: ms },
      {
        id: "share",
        title: "share",
        of: "of the time of all completed requests",
        numeric: true,
        value: (p) => p.share_of_time,
        format: percent,
      },
      { id: "bar", title: "", value: () => null, cell: (p) => bar(p.share_of_time / most) },
    ],
  }).element;
}

export function slowestTable(
  words: RequestWords,
  requests: Requests,
  onChoose: (gap: RequestGap) => void,
): HTMLElement {
  const longest = Math.max(...requests.slowest_gaps.map((gap) => gap.ns), 1);
  const idOf = (gap: RequestGap) => requests.items[gap.request]?.id ?? String(gap.request);
  return table({
    caption: "Slowest tokens",
    rows: requests.slowest_gaps,
    limit: 12,
    columns: [
      {
        id: "request",
        title: "request",
        heads: true,
        value: idOf,
        cell: (gap) =>
          h("button", { class: "link", type: "button", onclick: () => onChoose(gap) }, `request ${idOf(gap)}`),
      },
      { id: "chunk", title: "token", value: (gap) => chunkName(gap.chunk, Infinity) },
      { id: "ns", title: "wait (ms)", of: "ms", value: (gap) => gap.ns, text: (gap) => nsInMs(gap.ns) },
      {
        id: "parts",
        title: "parts",
        className: "gap-parts",
        value: (gap) => largestParts(words, gap.parts_ns),
        cell: (gap) => [
          partsBar(words, gap.parts_ns, gap.ns / longest),
          h("span", { class: "muted" }, largestParts(words, gap.parts_ns)),
        ],
      },
      { id: "by", title: "most delayed by", value: (gap) => gap.most_delayed_by ?? "-" },
      { id: "at", title: "start (ms)", of: "ms on the capture's clock", value: (gap) => gap.start_ms, format: ms },
    ],
  }).element;
}

export function sizesTable(requests: Requests): HTMLElement {
  const rows = requests.steps_by_size;
  type Size = (typeof rows)[number];
  const slowest = Math.max(...rows.map((row) => row.ms.mean ?? 0), 1e-9);
  const hasFloors = rows.some((row) => row.floor_ms !== null);
  return table({
    caption: "Batches without prompts, by size",
    fit: true,
    rows,
    columns: [
      { id: "rows", title: "sequences", heads: true, numeric: true, value: (r) => r.rows, cell: (r) => count(r.rows) },
      { id: "steps", title: "batches", value: (r) => r.steps, format: count },
      {
        id: "context",
        title: "tokens in caches",
        of: "mean per batch",
        value: (r) => r.context_tokens,
        format: count,
      },
      { id: "mean", title: "mean (ms)", of: "ms per batch", value: (r) => r.ms.mean, format: fineMs },
      { id: "bar", title: "", value: () => null, cell: (r) => bar((r.ms.mean ?? 0) / slowest) },
      { id: "p99", title: "p99 (ms)", of: "ms per batch", value: (r) => r.ms.p99, format: fineMs },
      ...(hasFloors
        ? [
            {
              id: "floor",
              title: "lower bound (ms)",
              of: "ms, by the model's weights and caches",
              value: (r: Size) => r.floor_ms,
              format: fineMs,
            },
          ]
        : []),
      {
        id: "token",
        title: "per token (ms)",
        of: "ms, mean time over sequences",
        value: (r) => r.per_token_ms,
        format: fineMs,
      },
    ],
  }).element;
}
