// Periods in which a GPU was idle: their start, end and cause.
import { firstAbove, refOf, rowsWithin, type RowRef, type Timeline, type Track } from "./model";

export interface IdleGap {
  /** The GPU. */
  group: string;
  device: string;
  start: number;
  end: number;
  /** The work before and after it; null at the ends of the capture. */
  before: RowRef | null;
  after: RowRef | null;
  /** A part of the budget; null if unknown. */
  cause: string | null;
}

/** A CPU is not necessarily idle between operators. */
export const isBetweenOperators = (gap: IdleGap): boolean => gap.device.split("/").pop()!.startsWith("cpu");

/** "GPU 0 idle", "CPU outside of operators". */
export const idleWords = (gap: IdleGap): string =>
  isBetweenOperators(gap) ? `${gap.group} outside of operators` : `${gap.group || "GPU"} idle`;

/** The row of a track that ends last, up to an index. */
function endingLast(track: Track, last: number): number {
  const end = track.latestEnd[last - track.first]!;
  let row = last;
  while (row > track.first && track.start[row]! + track.duration![row]! < end) row--;
  return row;
}

function causeOf(timeline: Timeline, row: number): string | null {
  const code = timeline.tables.slices["gap"]?.[row] ?? 0;
  return code > 0 ? (timeline.causes[code - 1] ?? null) : null;
}

/** The gap of a GPU at a time; null if it was busy. */
export function gapAt(timeline: Timeline, group: string, time: number): IdleGap | null {
  const gap: IdleGap = { group, device: "", start: -Infinity, end: Infinity, before: null, after: null, cause: null };
  for (const [index, track] of timeline.tracks.entries()) {
    if (track.table !== "slices" || track.group !== group || track.count === 0) continue;
    gap.device = track.device ?? "";
    const next = firstAbove(track.start, track.first, track.first + track.count, time);
    if (next > track.first) {
      const ended = track.latestEnd[next - 1 - track.first]!;
      if (ended > time) return null;
      if (ended > gap.start) {
        gap.start = ended;
        gap.before = { track: index, row: endingLast(track, next - 1) };
      }
    }
    if (next < track.first + track.count && track.start[next]! < gap.end) {
      gap.end = track.start[next]!;
      gap.after = { track: index, row: next };
      gap.cause = causeOf(timeline, next);
    }
  }
  if (!gap.before && !gap.after) return null;
  return { ...gap, start: Math.max(gap.start, 0), end: Math.min(gap.end, timeline.spanNs) };
}

/** What the launching thread did during a period. */
export interface HostActivity {
  thread: string;
  call: { name: string; ref: RowRef | null; startNs: number; durationNs: number };
  /** Time in any CUDA call, and in the one that took the most. */
  inCallsNs: number;
  longest: { name: string; ns: number } | null;
  /** The innermost range open in the middle of the period. */
  range: string | null;
}

function overlap(track: Track, row: number, start: number, end: number): number {
  return Math.min(track.start[row]! + track.duration![row]!, end) - Math.max(track.start[row]!, start);
}

function callsIn(
  timeline: Timeline,
  track: Track,
  start: number,
  end: number,
): Pick<HostActivity, "inCallsNs" | "longest"> {
  const [first, last] = rowsWithin(track, start, end);
  let longest: HostActivity["longest"] = null;
  let inCallsNs = 0;
  let until = start;
  for (let row = first; row < last; row++) {
    const ns = overlap(track, row, start, end);
    if (ns <= 0) continue;
    if (ns > (longest?.ns ?? 0)) longest = { name: timeline.names[timeline.tables.calls["name"]![row]!] ?? "", ns };
    // Nested calls count once.
    inCallsNs += Math.max(0, overlap(track, row, until, end));
    until = Math.max(until, Math.min(end, track.start[row]! + track.duration![row]!));
  }
  return { inCallsNs, longest };
}

function innermostRange(timeline: Timeline, thread: Track, time: number): string | null {
  const track = timeline.tracks.find(
    (each) => each.table === "ranges" && each.group === thread.group && each.thread === thread.thread,
  );
  if (!track) return null;
  const depth = timeline.tables.ranges["depth"]!;
  const [first, last] = rowsWithin(track, time, time + 1);
  let best = -1;
  for (let row = first; row < last; row++)
    if (overlap(track, row, time, time + 1) > 0 && (best < 0 || depth[row]! >= depth[best]!)) best = row;
  return best < 0 ? null : (timeline.names[timeline.tables.ranges["name"]![best]!] ?? null);
}

/** Null if the launch of the work after the gap was not recorded. */
export function hostIn(timeline: Timeline, gap: IdleGap): HostActivity | null {
  const call = gap.after ? (timeline.tables.slices["call"]?.[gap.after.row] ?? 0) - 1 : -1;
  const ref = call < 0 ? null : refOf(timeline, "calls", call);
  if (!ref) return null;
  const track = timeline.tracks[ref.track]!;
  return {
    thread: `${track.group} ${track.thread}`.trim(),
    call: {
      name: timeline.names[timeline.tables.calls["name"]![call]!] ?? "",
      ref,
      startNs: track.start[call]!,
      durationNs: track.duration![call]!,
    },
    ...callsIn(timeline, track, gap.start, gap.end),
    range: innermostRange(timeline, track, (gap.start + gap.end) / 2),
  };
}
