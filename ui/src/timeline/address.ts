// The timeline's state as options of the address: t (the visible span) and sel (the selected span), in ns since the
// origin; span (on the capture's own clock; opens selected, with room around it); pin (a row); q, class, stage and
// layer (the filter).
import type { App } from "../app";
import type { Options } from "../state/fragment";
import type { Filter } from "./filter";
import { beginningOf, refOf, type RowRef, type TableName, type Timeline } from "./model";

export type Span = [start: number, end: number];

export interface Place {
  shown: Span | null;
  selection: Span | null;
  pinned: RowRef | null;
  filter: Filter;
}

/** Around a span that opens selected, as a share of it. */
const ROOM = 0.15;
const LEAST_ROOM_NS = 500;

function pairOf(text: string | null): Span | null {
  const [from, to] = (text ?? "").split(",").map(Number);
  return from !== undefined && to !== undefined && Number.isFinite(from) && Number.isFinite(to) && to > from
    ? [from, to]
    : null;
}

function rowOf(timeline: Timeline, text: string | null): RowRef | null {
  const [table, number] = (text ?? "").split(":");
  return refOf(timeline, table as TableName, Number(number));
}

export function readPlace(app: App, timeline: Timeline, options: URLSearchParams): Place {
  let shown = pairOf(options.get("t"));
  let selection = pairOf(options.get("sel"));
  const span = pairOf(options.get("span"));
  if (span) {
    const beginning = beginningOf(timeline, (span[0] + span[1]) / 2);
    selection = [span[0] - beginning, span[1] - beginning];
    const room = Math.max((span[1] - span[0]) * ROOM, LEAST_ROOM_NS);
    shown = [selection[0] - room, selection[1] + room];
  }
  const classes = (options.get("class") ?? "")
    .split(",")
    .map((id) => app.view.classes.findIndex((each) => each.id === id));
  return {
    shown,
    selection,
    pinned: rowOf(timeline, options.get("pin")),
    filter: {
      text: options.get("q") ?? "",
      classes: classes.filter((index) => index >= 0),
      stage: options.get("stage") ?? "",
      layer: options.get("layer") ?? "",
    },
  };
}

const classIds = (app: App, filter: Filter): string =>
  filter.classes.map((index) => app.view.classes[index]!.id).join(",");

export function placeOptions(app: App, timeline: Timeline, place: Place): Options {
  const pair = (span: Span | null) => span?.map(Math.round).join(",") ?? null;
  const { pinned, filter } = place;
  return {
    t: pair(place.shown),
    span: null,
    sel: pair(place.selection),
    pin: pinned && `${timeline.tracks[pinned.track]!.table}:${pinned.row}`,
    q: filter.text,
    class: classIds(app, filter),
    stage: filter.stage,
    layer: filter.layer,
  };
}
