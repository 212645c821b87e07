// Time to first token, and gaps between chunks, of each request over time.
import type { Point } from "../chart/point";
import { chartColors, scatter, type Line, type Scatter } from "../chart/scatter";
import type { RequestTimes } from "../data/profile";
import { counted, fineMs, ms } from "../format/figures";
import type { RequestsModel, Row } from "./model";
import { chunkName } from "./waterfall";
import type { Chosen } from "./waterfall_paint";
import { largestParts, nsInMs, type RequestWords } from "./words";

/** More gaps than this are thinned out: of each bin of time, the longest ones stay. */
const MOST_POINTS = 12_000;
const BINS = 400;
const ROOM = 1.15;
/** Labels of lines stand above them. */
const LOG_ROOM = 1.6;

interface Waited extends Chosen {
  ms: number;
  at: number;
}

const wordsOf = (model: RequestsModel, words: RequestWords, { row, chunk }: Waited): string[] => {
  const wait = model.wait(row, chunk);
  const parts = model.partsOf(row, chunk);
  return [
    `request ${row.request.id}, ${chunkName(chunk, row.request.token_ns.length)}: ${nsInMs(wait.end - wait.start)} ms`,
    parts ? largestParts(words, parts) : `mostly ${words.palette.label(model.largestPart(row, chunk))}`,
  ];
};

function waits(model: RequestsModel, chunksOf: (row: Row) => [number, number]): Waited[] {
  return model.rows.flatMap((row) => {
    if (row.request.warm_up) return [];
    const [from, to] = chunksOf(row);
    const found: Waited[] = [];
    for (let chunk = from; chunk < to; chunk++) {
      const wait = model.wait(row, chunk);
      const length = (wait.end - wait.start) / 1e6;
      if (length > 0) found.push({ row, chunk, ms: length, at: wait.end / 1e9 });
    }
    return found;
  });
}

function thinned(all: Waited[], span: number): Waited[] {
  if (all.length <= MOST_POINTS) return all;
  const bins: Waited[][] = Array.from({ length: BINS }, () => []);
  for (const each of all) bins[Math.min(BINS - 1, Math.floor((each.at / span) * BINS))]!.push(each);
  const most = Math.floor(MOST_POINTS / BINS);
  return bins.flatMap((bin) => bin.sort((a, b) => b.ms - a.ms).slice(0, most));
}

function linesOf(times: RequestTimes, end: number, text: (value: number | null) => string): Line[] {
  return (["p50", "p99"] as const).flatMap((name) => {
    const value = times[name];
    return value === null
      ? []
      : [
          {
            points: [
              [0, value],
              [end, value],
            ] as [number, number][],
            dashed: true,
            label: `${name} ${text(value)} ms`,
          },
        ];
  });
}

export interface OverTime {
  charts: Scatter[];
  left: string | null;
}

export function overTime(model: RequestsModel, words: RequestWords, onClick: (chosen: Chosen) => void): OverTime {
  const { requests } = model;
  const end = model.span / 1e9;
  const firsts = waits(model, (row) => [0, Math.min(1, row.request.token_ns.length)]);
  const gaps = waits(model, (row) => [1, row.request.token_ns.length]);
  const shown = thinned(gaps, end);
  const chart = (label: string, yTitle: string, points: Waited[], lines: Line[], radius: number): Scatter[] => {
    if (points.length === 0) return [];
    const lengths = points.map((each) => each.ms);
    const least = lengths.reduce((a, b) => Math.min(a, b));
    const most = lengths.reduce((a, b) => Math.max(a, b));
    const log = most / least >= 8;
    return [
      scatter({
        label,
        xTitle: "s after the first request",
        yTitle,
        log: false,
        logY: log,
        xRange: [0, end * 1.01],
        yRange: log ? [least / ROOM, most * LOG_ROOM] : [0, most * ROOM],
        xText: (value) => String(Number(value.toPrecision(6))),
        yText: (value) => String(Number(value.toPrecision(6))),
        points: points.map((each): Point => {
          const part = model.largestPart(each.row, each.chunk);
          return {
            x: each.at,
            y: each.ms,
            color: model.isJoined ? () => words.palette.now(part) : chartColors.text,
            radius,
            shape: "dot",
            lines: wordsOf(model, words, each),
            onClick: () => onClick(each),
          };
        }),
        lines,
        height: 240,
      }),
    ];
  };
  return {
    charts: [
      ...chart(
        `${counted(firsts.length, "time")} to first token, in ms`,
        "time to first token (ms)",
        firsts,
        linesOf(requests.ttft_ms, end, ms),
        firsts.length > 500 ? 2.2 : 4,
      ),
      ...chart(
        `${counted(gaps.length, "gap")} between chunks of tokens, in ms`,
        "gap between chunks (ms)",
        shown,
        linesOf(requests.itl_ms, end, fineMs),
        shown.length > 3000 ? 1.6 : 2.4,
      ),
    ],
    left:
      shown.length < gaps.length
        ? `${counted(shown.length, "gap")} of ${counted(gaps.length, "gap")} are drawn: of each moment, the longest.`
        : null,
  };
}
