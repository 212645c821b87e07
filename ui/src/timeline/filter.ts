// Search and filters over the whole capture: every row of every track whose name contains the text; GPU work also by
// class, stage and layer.
import { firstAbove, type Numbers, type Timeline, type Track } from "./model";

export interface Filter {
  text: string;
  /** Indices in view.classes; all if empty. */
  classes: number[];
  stage: string;
  layer: string;
}

export interface Hits {
  filter: Filter;
  /** In order of start: the track's index and the row of its table. */
  tracks: Uint16Array;
  rows: Uint32Array;
  starts: Float64Array;
  count: number;
  totalNs: number;
  /** Rows of hits by track, in order, for marks. */
  byTrack: Map<number, Uint32Array>;
  /** By row of slices: 1 if it is a hit. */
  wanted: Uint8Array;
}

const narrowsWork = (filter: Filter): boolean =>
  filter.classes.length > 0 || filter.stage !== "" || filter.layer !== "";
export const isEmpty = (filter: Filter): boolean => filter.text === "" && !narrowsWork(filter);

/** By index of the name: 1 if it contains the text. */
function namesWith(timeline: Timeline, text: string): Uint8Array {
  const needle = text.toLowerCase();
  return Uint8Array.from(timeline.names, (name) => (name.toLowerCase().includes(needle) ? 1 : 0));
}

/** A test for whether a row of slices belongs to a stage's instances. */
export function inStage(timeline: Timeline, stage: string, withWarmup = true): (row: number) => boolean {
  if (!stage) return () => true;
  const { name, flags } = timeline.tables.stages;
  const wanted = Uint8Array.from(name ?? [], (each, row) =>
    timeline.names[each] === stage && (withWarmup || ((flags?.[row] ?? 0) & 1) === 0) ? 1 : 0,
  );
  const instances = timeline.tables.slices["instance"];
  return (row) => wanted[(instances?.[row] ?? 0) - 1] === 1;
}

export function inLayer(timeline: Timeline, layer: string): (row: number) => boolean {
  if (!layer) return () => true;
  const wanted = timeline.names.indexOf(layer) + 1;
  const layers = timeline.tables.slices["layer"];
  return (row) => wanted > 0 && layers?.[row] === wanted;
}

/** A test for whether a row of slices matches the filter. */
function wantsSlice(timeline: Timeline, filter: Filter, names: Uint8Array): (row: number) => boolean {
  const kernels = Uint8Array.from(
    timeline.kernels,
    (kernel) =>
      (names[kernel.name]! | names[kernel.short]!) &
      (filter.classes.length === 0 || filter.classes.includes(kernel.class) ? 1 : 0),
  );
  const column: Numbers | undefined = timeline.tables.slices?.["kernel"];
  const stage = inStage(timeline, filter.stage);
  const layer = inLayer(timeline, filter.layer);
  return (row) => kernels[column![row]!] === 1 && stage(row) && layer(row);
}

function matching(track: Track, wants: (row: number) => boolean): Uint32Array {
  const rows: number[] = [];
  for (let row = track.first; row < track.first + track.count; row++) if (wants(row)) rows.push(row);
  return Uint32Array.from(rows);
}

export function find(timeline: Timeline, filter: Filter): Hits {
  const names = namesWith(timeline, filter.text);
  const slice = timeline.tables.slices ? wantsSlice(timeline, filter, names) : () => false;
  const wanted = new Uint8Array(timeline.tables.slices?.["start"]?.length ?? 0);
  const byTrack = new Map<number, Uint32Array>();
  let count = 0;
  let totalNs = 0;
  timeline.tracks.forEach((track, index) => {
    const name = timeline.tables[track.table]["name"];
    const isWork = track.table === "slices";
    if (!isWork && (narrowsWork(filter) || !name)) return;
    const rows = matching(track, isWork ? slice : (row) => names[name![row]!] === 1);
    if (rows.length === 0) return;
    byTrack.set(index, rows);
    count += rows.length;
    if (!isWork) return;
    for (const row of rows) {
      wanted[row] = 1;
      totalNs += track.duration![row]!;
    }
  });
  return { filter, count, totalNs, byTrack, wanted, ...merged(timeline, byTrack, count) };
}

/** All hits in order of start; each track's hits are already in order. */
function merged(
  timeline: Timeline,
  byTrack: Map<number, Uint32Array>,
  count: number,
): Pick<Hits, "tracks" | "rows" | "starts"> {
  const hits = { tracks: new Uint16Array(count), rows: new Uint32Array(count), starts: new Float64Array(count) };
  const sources = [...byTrack].map(([index, rows]) => ({ index, rows, start: timeline.tracks[index]!.start, at: 0 }));
  for (let i = 0; i < count; i++) {
    let best: (typeof sources)[number] | null = null;
    let earliest = Infinity;
    for (const source of sources) {
      const start = source.at < source.rows.length ? source.start[source.rows[source.at]!]! : Infinity;
      if (start < earliest) {
        earliest = start;
        best = source;
      }
    }
    if (!best) break;
    hits.tracks[i] = best.index;
    hits.rows[i] = best.rows[best.at++]!;
    hits.starts[i] = earliest;
  }
  return hits;
}

/** The hit after (or before) the current one; wraps around. */
export function nextHit(hits: Hits, current: number | null, time: number, forward: boolean): number {
  if (hits.count === 0) return -1;
  if (current !== null) return (current + (forward ? 1 : hits.count - 1)) % hits.count;
  const behind = firstAbove(hits.starts, 0, hits.count, time);
  return forward ? behind % hits.count : (behind + hits.count - 1) % hits.count;
}
