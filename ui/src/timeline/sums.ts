// Sums over a span of time, with rows clipped exactly at its edges, and over an instance, a step or a layer.
import { rowsWithin, type RowRef, type Timeline, type Track } from "./model";

export interface Sum {
  ns: number;
  count: number;
}

export interface SpanSums {
  start: number;
  end: number;
  /** Time with at least one operation running, per GPU (group of tracks), and the rest of the span. */
  gpus: { group: string; busyNs: number; idleNs: number }[];
  /** By index of the class; overlapping operations count in full. */
  classes: Map<number, Sum>;
  /** By index of the kernel; overlapping operations count in full. */
  kernels: Map<number, Sum>;
  operations: number;
  sumNs: number;
}

function add(map: Map<number, Sum>, key: number, ns: number): void {
  const sum = map.get(key);
  if (sum) {
    sum.ns += ns;
    sum.count++;
  } else map.set(key, { ns, count: 1 });
}

/** The length of the union of intervals, given as starts and ends in order of start. */
function unionLength(starts: number[], ends: number[]): number {
  let total = 0;
  let reached = -Infinity;
  for (let i = 0; i < starts.length; i++) {
    const from = Math.max(starts[i]!, reached);
    if (ends[i]! > from) {
      total += ends[i]! - from;
      reached = ends[i]!;
    }
  }
  return total;
}

function workByGpu(timeline: Timeline): Map<string, Track[]> {
  const groups = new Map<string, Track[]>();
  for (const track of timeline.tracks) {
    if (track.table === "slices") groups.set(track.group, [...(groups.get(track.group) ?? []), track]);
  }
  return groups;
}

interface Work {
  /** Only this GPU; all if not given. */
  group?: string;
  /** By row of slices. */
  wants?: (row: number) => boolean;
}

export function sumSpan(timeline: Timeline, start: number, end: number, { group: only, wants }: Work = {}): SpanSums {
  const sums: SpanSums = { start, end, gpus: [], classes: new Map(), kernels: new Map(), operations: 0, sumNs: 0 };
  const kernel = timeline.tables.slices?.["kernel"];
  for (const [group, tracks] of workByGpu(timeline)) {
    if (only !== undefined && group !== only) continue;
    let starts: number[] = [];
    let ends: number[] = [];
    for (const track of tracks) {
      const [first, last] = rowsWithin(track, start, end);
      for (let row = first; row < last; row++) {
        const from = Math.max(track.start[row]!, start);
        const to = Math.min(track.start[row]! + track.duration![row]!, end);
        if (to <= from || (wants && !wants(row))) continue;
        starts.push(from);
        ends.push(to);
        const id = kernel![row]!;
        add(sums.kernels, id, to - from);
        add(sums.classes, timeline.kernels[id]!.class, to - from);
        sums.operations++;
        sums.sumNs += to - from;
      }
    }
    if (tracks.length > 1) {
      const order = Uint32Array.from(starts, (_, index) => index).sort((a, b) => starts[a]! - starts[b]!);
      starts = Array.from(order, (index) => starts[index]!);
      ends = Array.from(order, (index) => ends[index]!);
    }
    const busyNs = unionLength(starts, ends);
    sums.gpus.push({ group, busyNs, idleNs: end - start - busyNs });
  }
  return sums;
}

const OWNERS: Partial<Record<Track["table"], string>> = { stages: "instance", steps: "step" };

/** For a row of stages, steps or layers: the work that belongs to it, on its GPU; null for other rows. */
export function sumOwned(timeline: Timeline, ref: RowRef): SpanSums | null {
  const track = timeline.tracks[ref.track]!;
  const start = track.start[ref.row]!;
  const end = start + track.duration![ref.row]!;
  // The track of a stage without GPU work of its own belongs to no GPU.
  const work: Work = timeline.tracks.some((each) => each.table === "slices" && each.group === track.group)
    ? { group: track.group }
    : {};
  if (track.table === "layers") return sumSpan(timeline, start, end, work);
  const owner = OWNERS[track.table];
  const column = owner && timeline.tables.slices?.[owner];
  return column ? sumSpan(timeline, start, end, { ...work, wants: (row) => column[row] === ref.row + 1 }) : null;
}
