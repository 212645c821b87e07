// The timeline's tables as typed arrays, decoded once when the view is first opened: data for the first picture comes
// first.
import { hasBlock, readBlock } from "../data/blocks";
import { decodeColumn, floatColumn, type Coding } from "../data/columns";
import { readHeader, type Header, type TableName, type TrackHeader } from "./header";

export type { Level, TableName, TrackKind } from "./header";

/** Captures on one axis, and their span on their own clock. */
export interface Clock {
  label: string;
  firstNs: number;
  lastNs: number;
}

export type Numbers = Float64Array | Uint32Array | Int32Array | Uint8Array | Float32Array;
export type Columns = Record<string, Numbers>;

export interface Track extends TrackHeader {
  /** Sorted: finds rows of the track's table that have started by a time. */
  start: Numbers;
  /** Null for counters, whose rows are points in time. */
  duration: Numbers | null;
  /** The latest end among the rows of this track up to each one (its first row at 0): ends are not in order. */
  latestEnd: Float64Array;
  /** For calls: total time of this track's rows before each one, and of all rows (count + 1 values). */
  before: Float64Array;
  /** Number of lines that nested ranges take, and the rows of each if there are several. */
  lines: number;
  lineRows: Uint32Array[] | null;
  /** The label in the header: a thread's calls and ranges share it. */
  thread: string;
}

/** A row of a track's table. */
export interface RowRef {
  track: number;
  row: number;
}

export interface Timeline {
  originNs: number;
  /** Empty if all captures share one axis. */
  clocks: Clock[];
  spanNs: number;
  names: string[];
  kernels: Header["kernels"];
  causes: string[];
  shapes: number[][];
  tracks: Track[];
  tables: Record<TableName, Columns>;
  busy: Uint8Array;
  dominant: Uint8Array;
  /** The name of a step, by its index in profile.json. */
  stepWords: (index: number) => string;
  /** Settles when the columns that only details and arrows need are read. */
  details: Promise<void>;
}

// Values that fit 32 bits are stored that way: a million rows are read every frame.
const NARROW = new Set(["kernel", "shape", "call", "instance", "step", "layer", "name", "depth", "index"]);

async function readColumn(table: string, column: string, coding: Coding, rows: number): Promise<Numbers> {
  const bytes = await readBlock(`t.${table}.${column}`);
  if (coding === "u8") return bytes;
  if (coding === "f32") return floatColumn(bytes);
  return decodeColumn(bytes, coding, NARROW.has(column) ? new Uint32Array(rows) : new Float64Array(rows));
}

/** Columns that are read before the first picture, for tables that can have a million rows. */
const DRAWN: Record<string, Set<string>> = {
  slices: new Set(["start", "duration", "kernel"]),
  calls: new Set(["start", "duration"]),
};

type TableDescription = Header["tables"][string];

async function readColumns(
  name: string,
  description: TableDescription,
  wanted: (column: string) => boolean,
  into: Columns,
): Promise<void> {
  const names = Object.keys(description.columns).filter(wanted);
  await Promise.all(
    names.map(
      async (column) =>
        (into[column] = await readColumn(name, column, description.columns[column]!, description.rows)),
    ),
  );
}

function rowsByDepth(header: TrackHeader, depth: Numbers): Uint32Array[] {
  const rows: number[][] = [[]];
  for (let row = header.first; row < header.first + header.count; row++) {
    const line = depth[row]!;
    while (rows.length <= line) rows.push([]);
    rows[line]!.push(row);
  }
  return rows.map((own) => Uint32Array.from(own));
}

function makeTrack(header: TrackHeader, columns: Columns): Track {
  const start = columns["start"] ?? columns["time"]!;
  const duration = columns["duration"] ?? null;
  const latestEnd = new Float64Array(header.count);
  const sums = header.table === "calls";
  const before = new Float64Array(sums ? header.count + 1 : 0);
  let latest = -Infinity;
  for (let i = 0; i < header.count; i++) {
    const row = header.first + i;
    const length = duration ? duration[row]! : 0;
    latest = Math.max(latest, start[row]! + length);
    latestEnd[i] = latest;
    if (sums) before[i + 1] = before[i]! + length;
  }
  const lineRows = header.table === "ranges" ? rowsByDepth(header, columns["depth"]!) : null;
  const label = header.kind === "thread" ? `${header.table}: ${header.label}` : header.label;
  return {
    ...header,
    label,
    thread: header.label,
    start,
    duration,
    latestEnd,
    before,
    lines: lineRows?.length ?? 1,
    lineRows,
  };
}

const EMPTY: Columns = { start: new Float64Array(0), duration: new Float64Array(0) };

export async function readTimeline(stepWords: (index: number) => string): Promise<Timeline> {
  const header = await readHeader();
  const names = Object.keys(header.tables).filter((name) => name !== "pyramid");
  const isDrawn = (table: string) => (name: string) => DRAWN[table]?.has(name) ?? true;
  const tables = Object.fromEntries(names.map((name) => [name, {} as Columns])) as Record<TableName, Columns>;
  const readAll = (drawn: boolean) =>
    Promise.all(
      names.map((name) =>
        readColumns(
          name,
          header.tables[name]!,
          (column) => isDrawn(name)(column) === drawn,
          tables[name as TableName],
        ),
      ),
    );
  await readAll(true);
  const column = (name: string) => (hasBlock(name) ? readBlock(name) : Promise.resolve(new Uint8Array(0)));
  const [busy, dominant] = await Promise.all([column("t.pyramid.busy"), column("t.pyramid.class")]);
  return {
    originNs: Number(header.origin_ns),
    clocks: (header.clocks ?? []).map((clock) => ({
      label: clock.label,
      firstNs: Number(clock.first_ns),
      lastNs: Number(clock.last_ns),
    })),
    spanNs: header.span_ns,
    names: header.names,
    kernels: header.kernels,
    causes: header.causes ?? [],
    shapes: header.shapes,
    tracks: header.tracks.map((track) => makeTrack(track, tables[track.table] ?? EMPTY)),
    tables,
    busy,
    dominant,
    stepWords,
    details: new Promise((settle, fail) => {
      // After the first picture.
      setTimeout(() => void readAll(false).then(() => settle(), fail), 0);
    }),
  };
}

/** The first index in [from, to) whose value is above the limit, or to. */
export function firstAbove(values: ArrayLike<number>, from: number, to: number, limit: number): number {
  while (from < to) {
    const middle = (from + to) >>> 1;
    if (values[middle]! > limit) to = middle;
    else from = middle + 1;
  }
  return from;
}

/** The first index in [from, to) whose value is at least the limit, or to. */
export function firstAtLeast(values: ArrayLike<number>, from: number, to: number, limit: number): number {
  while (from < to) {
    const middle = (from + to) >>> 1;
    if (values[middle]! >= limit) to = middle;
    else from = middle + 1;
  }
  return from;
}

/** Rows of the track's table that may overlap [start, end): all that do are among them. */
export function rowsWithin(track: Track, start: number, end: number): [number, number] {
  const first = track.first + firstAbove(track.latestEnd, 0, track.count, start);
  const last = firstAtLeast(track.start, track.first, track.first + track.count, end);
  return [first, Math.max(first, last)];
}

/** For one line of nested ranges, which do not overlap: the first in the list that ends after a time. */
export function firstEndingAfter(track: Track, rows: Uint32Array, time: number, from = 0): number {
  let to = rows.length;
  while (from < to) {
    const middle = (from + to) >>> 1;
    const row = rows[middle]!;
    if (track.start[row]! + track.duration![row]! > time) to = middle;
    else from = middle + 1;
  }
  return from;
}

function counterText(value: number): string {
  if (value >= 1e5) return prefixed(value);
  return `${value >= 100 ? Math.round(value) : Number(value.toPrecision(3))} `;
}

/** "1.98 G": raw metrics come in Hz and bytes. */
function prefixed(value: number): string {
  const steps = Math.min(4, Math.floor(Math.log10(value) / 3));
  return `${Number((value / 1000 ** steps).toPrecision(3))} ${["", "k", "M", "G", "T"][steps]}`;
}

/** "max 87.3 %": the largest value of a counter. */
export const counterMax = (track: Track): string =>
  track.max === undefined ? "" : `max ${counterText(track.max)}${track.unit ?? ""}`.trim();

/** The value at the top of a counter's track: 100 % for shares, otherwise the largest value. */
export function counterTop(track: Track): number {
  const max = track.max && track.max > 0 ? track.max : 1;
  return track.unit === "%" ? Math.max(100, max) : max;
}

/** The reference to a row of a table, with its track. */
export function refOf(timeline: Timeline, table: TableName, row: number): RowRef | null {
  const track = timeline.tracks.findIndex(
    (each) => each.table === table && row >= each.first && row < each.first + each.count,
  );
  return track < 0 ? null : { track, row };
}

/** Inverts the slices' calls: rows of slices by the call that launched them. */
export class LaunchedBy {
  private readonly offsets: Uint32Array;
  private readonly rows: Uint32Array;

  constructor(timeline: Timeline) {
    const calls = timeline.tables.slices?.["call"] ?? new Uint32Array(0);
    const count = timeline.tables.calls?.["start"]?.length ?? 0;
    this.offsets = new Uint32Array(count + 2);
    for (let row = 0; row < calls.length; row++) this.offsets[calls[row]!]!++;
    let sum = 0;
    for (let call = 0; call < this.offsets.length; call++) {
      const own = call === 0 ? 0 : this.offsets[call]!;
      this.offsets[call] = sum;
      sum += own;
    }
    this.rows = new Uint32Array(sum);
    const next = this.offsets.slice();
    for (let row = 0; row < calls.length; row++) if (calls[row]! > 0) this.rows[next[calls[row]!]!++] = row;
  }

  of(call: number): Uint32Array {
    return this.rows.subarray(this.offsets[call + 1], this.offsets[call + 2]);
  }
}

/** The time on a capture's own clock that is 0 on the axis. */
export function beginningOf(timeline: Timeline, timeNs: number): number {
  return (
    timeline.clocks.find((clock) => clock.firstNs <= timeNs && timeNs <= clock.lastNs)?.firstNs ?? timeline.originNs
  );
}
