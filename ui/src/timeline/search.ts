// Search over the whole capture: every row of every track whose name holds the text.
import { firstAbove, type Timeline, type Track } from "./model";

export interface Hits {
  text: string;
  /** In order of start: the track's index and the row of its table. */
  tracks: Uint16Array;
  rows: Uint32Array;
  starts: Float64Array;
  count: number;
  totalNs: number;
  /** Of hits by track, for marks and dimming: rows in order. */
  byTrack: Map<number, Uint32Array>;
  /** By index of the kernel: 1 where its name matches. */
  wantedKernels: Uint8Array;
}

/** For each row of a track, the index of its name in the table of texts that were matched. */
function matching(timeline: Timeline, track: Track, wanted: { kernels: Uint8Array; names: Uint8Array }): number[] {
  const rows: number[] = [];
  const column = track.table === "slices" ? timeline.tables.slices["kernel"] : timeline.tables[track.table]["name"];
  if (!column) return rows;
  const wants = track.table === "slices" ? wanted.kernels : wanted.names;
  for (let row = track.first; row < track.first + track.count; row++) if (wants[column[row]!]) rows.push(row);
  return rows;
}

export function search(timeline: Timeline, text: string): Hits {
  const needle = text.toLowerCase();
  const names = Uint8Array.from(timeline.names, (name) => (name.toLowerCase().includes(needle) ? 1 : 0));
  const kernels = Uint8Array.from(timeline.kernels, (kernel) => names[kernel.name]! | names[kernel.short]!);
  const byTrack = new Map<number, Uint32Array>();
  let count = 0;
  let totalNs = 0;
  timeline.tracks.forEach((track, index) => {
    const rows = matching(timeline, track, { kernels, names });
    if (rows.length === 0) return;
    byTrack.set(index, Uint32Array.from(rows));
    count += rows.length;
    if (track.table === "slices") for (const row of rows) totalNs += track.duration![row]!;
  });
  return { text, count, totalNs, byTrack, wantedKernels: kernels, ...merged(timeline, byTrack, count) };
}

/** All hits in order of start; those of one track are in order already. */
function merged(timeline: Timeline, byTrack: Map<number, Uint32Array>, count: number): Pick<Hits, "tracks" | "rows" | "starts"> {
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

/** The hit behind (or in front of) the current one; around the end. */
export function nextHit(hits: Hits, current: number | null, time: number, forward: boolean): number {
  if (hits.count === 0) return -1;
  if (current !== null) return (current + (forward ? 1 : hits.count - 1)) % hits.count;
  const behind = firstAbove(hits.starts, 0, hits.count, time);
  return forward ? behind % hits.count : (behind + hits.count - 1) % hits.count;
}
