// How the client sent the requests, and how their tokens were joined to the engine's batches.
import type { Requests } from "../data/profile";
import { table } from "../dom/table";
import { count, fixed, fineMs, ms, percent, rate } from "../format/figures";
import type { RequestWords } from "./words";

type Load = Requests["load"];

interface Line {
  what: string;
  unit: string;
  value: (load: Load) => number | null;
  text: (value: number | null) => string;
}

const perSecond = (value: number | null): string => (value === null ? "-" : fixed(value, 2));
const PER_SECOND = "requests per second";

function lines(words: RequestWords, load: Load): Line[] {
  const objectives = load.objectives.map((objective, index): Line => {
    const limit = (objective.figure === "itl" || objective.figure === "tpot" ? fineMs : ms)(objective.limit_ms);
    return {
      what: `${words.view.figures[objective.figure]?.label ?? objective.figure} of ${limit} ms at most`,
      unit: "of completed requests",
      value: (each) => each.objectives[index]?.attained ?? null,
      text: percent,
    };
  });
  return [
    { what: "requested rate", unit: PER_SECOND, value: (each) => each.rate, text: perSecond },
    { what: "requested concurrency", unit: "requests", value: (each) => each.concurrency, text: count },
    { what: "sent", unit: PER_SECOND, value: (each) => each.sent_rate, text: perSecond },
    { what: "completed", unit: PER_SECOND, value: (each) => each.completed_rate, text: perSecond },
    { what: "output tokens", unit: "tokens per second", value: (each) => each.output_tokens_per_s, text: rate },
    { what: "in flight, at most", unit: "requests", value: (each) => each.most_concurrent, text: count },
    { what: "client sent late, p99", unit: "ms", value: (each) => each.lateness_ms?.p99 ?? null, text: ms },
    ...objectives,
    {
      what: "goodput: requests that meet all objectives",
      unit: PER_SECOND,
      value: (each) => each.goodput,
      text: perSecond,
    },
    {
      what: "goodput, lower end of its interval",
      unit: PER_SECOND,
      value: (each) => each.goodput_low,
      text: perSecond,
    },
    {
      what: "goodput, upper end of its interval",
      unit: PER_SECOND,
      value: (each) => each.goodput_high,
      text: perSecond,
    },
  ];
}

export function loadTable(words: RequestWords, requests: Requests): HTMLElement | null {
  const alone = requests.unrecorded?.load;
  const shown = lines(words, alone ?? requests.load).filter((line) => line.value(alone ?? requests.load) !== null);
  if (shown.length === 0) return null;
  const column = (id: string, title: string, load: Load) => ({
    id,
    title,
    value: (line: Line) => line.value(load),
    text: (line: Line) => line.text(line.value(load)),
  });
  return table({
    caption: "Load",
    fit: true,
    sortable: false,
    rows: shown,
    columns: [
      { id: "what", title: "load", heads: true, value: (line) => line.what },
      ...(alone ? [column("alone", "unrecorded", alone)] : []),
      column("recorded", alone ? "recorded" : "value", requests.load),
      { id: "unit", title: "unit", value: (line) => line.unit },
    ],
  }).element;
}

export function joinTable(requests: Requests): HTMLElement | null {
  const { join } = requests;
  const rows: [string, number | null, (value: number | null) => string, string][] = [
    ["tokens joined", join.coverage, percent, "of the tokens of completed requests in recorded time"],
    ["rows explained", join.coverage_of_rows, percent, "of the tokens that the recorded batches made"],
    ["ambiguous tokens", join.tokens_ambiguous || null, count, "another batch could have made them as well"],
    ["tokens of requests with more than they state", join.tokens_miscounted || null, count, "they have no causes"],
    ["tokens outside of recorded time", join.tokens_outside || null, count, "they have no causes"],
    ["delivery, p50", join.delivery_ms?.p50 ?? null, ms, "ms from the results on the host to the client"],
    ["delivery, p99", join.delivery_ms?.p99 ?? null, ms, "ms from the results on the host to the client"],
    ["confirmed tokens", join.confirmed, count, "by the engine's own ids or times"],
    ["contradicted tokens", join.contradicted, count, "by the engine's own ids or times"],
    ["step of one sequence, mean", join.decode_alone_ms?.mean ?? null, ms, "ms, the basis of own decode"],
  ];
  const shown = rows.filter(([, value]) => value !== null);
  if (shown.length === 0) return null;
  return table({
    caption: "Join",
    fit: true,
    sortable: false,
    rows: shown,
    columns: [
      { id: "what", title: "what", heads: true, value: ([what]) => what },
      { id: "value", title: "value", value: ([, value]) => value, text: ([, value, text]) => text(value) },
      { id: "of", title: "of", value: ([, , , of]) => of },
    ],
  }).element;
}
