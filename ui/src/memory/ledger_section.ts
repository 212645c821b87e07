// One GPU's ledger: over time, at a chosen time, and at its peak.
import type { App } from "../app";
import { areaChart, type AreaChart } from "../chart/area_chart";
import { h, replace, type Child } from "../dom/dom";
import { keepFocus } from "../dom/keep_focus";
import { link } from "../dom/link";
import { note, section } from "../dom/parts";
import { bytes, counted, ms, percent } from "../format/figures";
import { setOptions } from "../state/fragment";
import { spanLink } from "../state/links";
import { momentTable, pointTable } from "./ledger_tables";
import {
  bytesOf,
  instanceAt,
  momentAt,
  momentsOf,
  partsIn,
  peakOf,
  pointsOf,
  rowsOf,
  stageSpans,
  stepSpans,
  usedAt,
  usedOf,
  type Ledger,
  type Moment,
  type Part,
  type Point,
} from "./model";
import { treemapFigure } from "./treemap_figure";
import { axisBytes, axisTime, partLabel, type MemoryWords } from "./words";

const VIEW = "memory";
const MOST_IN_TOOLTIP = 8;

export interface LedgerSection {
  element: HTMLElement;
  redraw: () => void;
  close: () => void;
}

/** A time that the reader chose: a moment, or else a point of the timeline. */
interface Choice {
  moment: number | null;
  point: number | null;
}

const inUse = (read: number | null): string => (read === null ? "recorded" : "in use");

/** What a moment adds up to, and how much of it is known. */
function momentWords(moment: Moment): string {
  if (moment.used_bytes === null) {
    return (
      `Recorded allocations hold ${bytes(moment.recorded_bytes)}, ${ms(moment.time_ms)} ms after the first event. ` +
      "NVML was not read: what else is used, and what is left, is unknown."
    );
  }
  return (
    `${bytes(moment.used_bytes)} of ${bytes(moment.total_bytes)} are used or reserved ` +
    `(${percent(moment.used_share)}), ${ms(moment.time_ms)} ms after the first reading. ` +
    (moment.closes ? "The rows explain all but a small rest." : "A part is not explained: see the rest.")
  );
}

function pointTooltip(words: MemoryWords, point: Point, parts: Part[], where: string): Child {
  const largest = parts
    .map((part) => ({ part, size: bytesOf(point, part) }))
    .filter(({ size }) => size !== 0)
    .sort((a, b) => b.size - a.size);
  return [
    h("strong", {}, `${bytes(usedOf(point))} ${inUse(point.used_bytes)}`),
    h("div", {}, `${ms(point.time_ms)} ms${where}`),
    largest
      .slice(0, MOST_IN_TOOLTIP)
      .map(({ part, size }) => h("div", { class: "tooltip-row" }, partLabel(words, part), h("span", {}, bytes(size)))),
    largest.length > MOST_IN_TOOLTIP &&
      h("div", { class: "muted" }, `and ${counted(largest.length - MOST_IN_TOOLTIP, "smaller part")}`),
  ];
}

function peakSection(words: MemoryWords, ledger: Ledger, moments: number[]): HTMLElement | null {
  const peak = peakOf(ledger, moments);
  if (peak === null) return null;
  const moment = ledger.moments[peak]!;
  return section(
    "Peak",
    treemapFigure(
      `${bytes(usedAt(moment))} ${inUse(moment.used_bytes)} at the peak`,
      rowsOf(ledger, peak).map((row) => ({
        label: row.owner ? `${words.palette.label(row.part)}, ${row.owner}` : words.palette.label(row.part),
        bytes: row.bytes,
        color: words.palette.css(row.part),
        textColor: words.palette.textCss(row.part),
      })),
    ),
    note(
      "Areas are proportional to bytes, by use and by the library that allocated them. Negative rows have no area.",
    ),
  );
}

export function ledgerSection(
  app: App,
  words: MemoryWords,
  ledger: Ledger,
  gpu: number,
  options: URLSearchParams,
): LedgerSection {
  const { device, evidence, start_ns: startNs } = ledger.gpus[gpu]!;
  const isRead = evidence !== "events";
  const points = pointsOf(ledger, gpu);
  const moments = momentsOf(ledger, gpu);
  const parts = partsIn(points, Object.keys(words.view.parts));
  const times = points.map((point) => point.time_ms);
  const span = (times[times.length - 1] ?? 0) - (times[0] ?? 0);
  const axis = axisTime(span);
  const choice: Choice = { moment: null, point: null };
  const detail = h("div");
  const buttons = h("div", { class: "moments", role: "group", "aria-label": "Moments" });

  const where = (point: Point): string => {
    const within = instanceAt(app.profile, device, startNs, point.time_ms);
    return within ? `, in ${within.stage}${within.warmup ? " (warm-up)" : ""}` : "";
  };
  const pointOf = (moment: number): number | null => {
    const index = times.indexOf(ledger.moments[moment]!.time_ms);
    return index < 0 ? null : index;
  };

  function timelineLink(timeMs: number): Child {
    const within = instanceAt(app.profile, device, startNs, timeMs);
    const href = within && spanLink(within.startNs, within.wallMs * 1e6);
    return href ? [" ", link(href, {}, `Show ${within.stage}, instance ${within.instance}, in the timeline`)] : null;
  }

  function showMoment(index: number): Child {
    const moment = ledger.moments[index]!;
    const name = `${words.view.moments[index] ?? moment.kind}, ${device}`;
    return [
      h("p", {}, momentWords(moment), timelineLink(moment.time_ms)),
      momentTable(words, name, rowsOf(ledger, index)),
    ];
  }

  function showPoint(point: Point): Child {
    return [
      h(
        "p",
        {},
        point.used_bytes === null
          ? `Recorded allocations hold ${bytes(usedOf(point))}, ${ms(point.time_ms)} ms after the first event`
          : `${bytes(point.used_bytes)} are used or reserved, ${ms(point.time_ms)} ms after the first reading`,
        `${where(point)}. Who allocated it is known at the moments.`,
        timelineLink(point.time_ms),
      ),
      pointTable(words, `${ms(point.time_ms)} ms, ${device}`, point, parts),
    ];
  }

  function drawButtons(): void {
    keepFocus(buttons, () =>
      replace(
        buttons,
        moments.map((index) =>
          h(
            "button",
            {
              class: "plain",
              type: "button",
              "aria-pressed": String(choice.moment === index),
              onclick: () => chooseMoment(index),
            },
            words.view.moments[index] ?? ledger.moments[index]!.kind,
            h("span", { class: "muted" }, ` ${bytes(usedAt(ledger.moments[index]!))}`),
          ),
        ),
      ),
    );
  }

  function show(): void {
    drawButtons();
    const point = choice.point === null ? undefined : points[choice.point];
    replace(detail, choice.moment !== null ? showMoment(choice.moment) : point ? showPoint(point) : null);
  }

  function chooseMoment(index: number): void {
    choice.moment = index;
    choice.point = pointOf(index);
    if (choice.point !== null) chart?.choose(choice.point);
    setOptions(VIEW, { moment: String(index), t: "" });
    show();
  }

  function choosePoint(index: number): void {
    choice.point = index;
    choice.moment = momentAt(ledger, moments, points[index]!);
    setOptions(VIEW, {
      moment: choice.moment === null ? "" : String(choice.moment),
      t: choice.moment === null ? String(points[index]!.time_ms) : "",
    });
    show();
  }

  const chart: AreaChart | null =
    points.length === 0
      ? null
      : areaChart({
          label: `GPU memory of ${device} by use, over ${counted(points.length, "reading")}`,
          times,
          layers: parts.map((part) => ({
            id: part,
            color: words.palette.css(part),
            values: points.map((point) => bytesOf(point, part)),
          })),
          isStacked: true,
          line: points.map(usedOf),
          xTitle: `${axis.unit} after the first ${isRead ? "reading" : "event"}`,
          xText: axis.text,
          yText: axisBytes,
          rows: [
            { title: "stages", spans: stageSpans(app.profile, device, startNs) },
            { title: "steps", spans: stepSpans(app.profile, device, startNs) },
          ],
          tooltip: (index) => pointTooltip(words, points[index]!, parts, where(points[index]!)),
          words: (index) =>
            `${ms(points[index]!.time_ms)} ms${where(points[index]!)}: ${bytes(usedOf(points[index]!))} ` +
            inUse(points[index]!.used_bytes),
          onChoose: choosePoint,
        });

  const asked = Number(options.get("moment") ?? Number.NaN);
  const time = options.get("t");
  const atTime = time === null ? -1 : times.indexOf(Number(time));
  if (atTime >= 0) {
    choice.point = atTime;
    choice.moment = momentAt(ledger, moments, points[atTime]!);
  } else {
    choice.moment = moments.includes(asked) ? asked : peakOf(ledger, moments);
    choice.point = choice.moment === null ? null : pointOf(choice.moment);
  }
  if (choice.point !== null) chart?.choose(choice.point);
  show();

  const element = h(
    "div",
    {},
    section(
      "Use over time",
      h(
        "div",
        { class: "legend-line memory-legend" },
        parts.map((part) => partLabel(words, part)),
      ),
      chart?.element ?? note("This profile has no timeline of the ledger: analyze the run again."),
      note(
        isRead
          ? "What is used or reserved of the GPU, by what it is used for; the line is what NVML reports. A value " +
              "holds until the next reading. Drag to zoom."
          : "What recorded allocations hold of the GPU. Without readings of NVML, what else is used is unknown. " +
              "Drag to zoom.",
      ),
    ),
    section("At one time", buttons, detail),
    peakSection(words, ledger, moments),
  );
  return { element, redraw: () => chart?.redraw(), close: () => chart?.close() };
}
