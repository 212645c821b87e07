// Finds the row under the pointer.
import { firstAbove, firstEndingAfter, rowsWithin, type RowRef } from "./model";
import { RANGE_LINE, type Layout, type PlacedTrack } from "./layout";

/** Rows this close to the pointer count as under it: a row can be narrower than a pixel. */
const REACH_PIXELS = 2;

export function trackAt(layout: Layout, y: number): PlacedTrack | null {
  return layout.tracks.find((placed) => y >= placed.y && y < placed.y + placed.height) ?? null;
}

function nearestSample(placed: PlacedTrack, time: number): RowRef | null {
  const { track } = placed;
  if (track.count === 0) return null;
  const row = firstAbove(track.start, track.first, track.first + track.count, time) - 1;
  return row < track.first ? null : { track: placed.index, row };
}

export function pick(layout: Layout, time: number, y: number, nsPerPixel: number): RowRef | null {
  const placed = trackAt(layout, y);
  if (!placed) return null;
  const { track } = placed;
  if (track.table === "samples") return nearestSample(placed, time);
  const reach = REACH_PIXELS * nsPerPixel;
  const line = Math.floor((y - placed.y) / RANGE_LINE);
  const lineRows = track.lineRows ? (track.lineRows[line] ?? new Uint32Array(0)) : null;
  const [first, last] = lineRows
    ? [firstEndingAfter(track, lineRows, time - reach), lineRows.length]
    : rowsWithin(track, time - reach, time + reach);
  let best: RowRef | null = null;
  let bestDistance = Infinity;
  let bestLength = Infinity;
  for (let at = first; at < last; at++) {
    const row = lineRows ? lineRows[at]! : at;
    const start = track.start[row]!;
    if (start > time + reach) break;
    const length = track.duration![row]!;
    const distance = Math.max(start - time, time - start - length, 0);
    if (distance > reach || distance > bestDistance || (distance === bestDistance && length >= bestLength)) continue;
    best = { track: placed.index, row };
    bestDistance = distance;
    bestLength = length;
  }
  return best;
}
