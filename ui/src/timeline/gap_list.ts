// All idle gaps inside the measured instances of a stage, by cause, longest first: the timeline's header has their
// sums.
import type { RowRef, Timeline, Track } from "./model";

export interface ListedGap {
  stage: string;
  cause: string;
  start: number;
  ns: number;
  /** The work after the gap. */
  after: RowRef;
}

const WARMUP = 1;

/** Rows of all streams of one GPU, by start. */
function* workInOrder(tracks: { track: Track; index: number }[]): Generator<{ track: Track; ref: RowRef }> {
  const next = tracks.map(({ track }) => track.first);
  while (true) {
    let best = -1;
    for (let i = 0; i < tracks.length; i++) {
      const { track } = tracks[i]!;
      if (
        next[i]! < track.first + track.count &&
        (best < 0 || track.start[next[i]!]! < tracks[best]!.track.start[next[best]!]!)
      )
        best = i;
    }
    if (best < 0) return;
    yield { track: tracks[best]!.track, ref: { track: tracks[best]!.index, row: next[best]!++ } };
  }
}

export function listGaps(timeline: Timeline, stage: string, causes: string[]): ListedGap[] {
  const { gap, instance } = timeline.tables.slices;
  const { name, start: starts, flags } = timeline.tables.stages;
  const groups = new Map<string, { track: Track; index: number }[]>();
  for (const [index, track] of timeline.tracks.entries())
    if (track.table === "slices") groups.set(track.group, [...(groups.get(track.group) ?? []), { track, index }]);
  const found: ListedGap[] = [];
  for (const tracks of groups.values()) {
    let until = -Infinity;
    for (const { track, ref } of workInOrder(tracks)) {
      const start = track.start[ref.row]!;
      const from = until;
      until = Math.max(until, start + track.duration![ref.row]!);
      const code = gap?.[ref.row] ?? 0;
      const owner = (instance?.[ref.row] ?? 0) - 1;
      if (code === 0 || owner < 0 || ((flags![owner] ?? 0) & WARMUP) !== 0 || from < starts![owner]!) continue;
      const own = { stage: timeline.names[name![owner]!] ?? "", cause: timeline.causes[code - 1] ?? "" };
      if ((!stage || own.stage === stage) && causes.includes(own.cause))
        found.push({ ...own, start: from, ns: start - from, after: ref });
    }
  }
  return found.sort((a, b) => b.ns - a.ns);
}
