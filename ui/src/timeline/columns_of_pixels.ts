// Level of detail: for each pixel of a track, the busy share of its time and the class with the most time.
import { firstAtLeast, type Level, type Timeline, type Track } from "./model";

export class PixelColumns {
  /** Busy time by pixel and class, in ns. */
  private time = new Float64Array(0);
  private touched = new Uint8Array(0);

  constructor(private readonly classes: number) {}

  reset(width: number): void {
    if (this.touched.length < width) {
      this.time = new Float64Array(width * this.classes);
      this.touched = new Uint8Array(width);
      return;
    }
    for (let x = 0; x < this.touched.length; x++) {
      if (this.touched[x]) this.time.fill(0, x * this.classes, (x + 1) * this.classes);
    }
    this.touched.fill(0);
  }

  add(x: number, classIndex: number, ns: number): void {
    this.time[x * this.classes + classIndex]! += ns;
    this.touched[x] = 1;
  }

  /** Calls back for each run of identical pixels: busy share in steps of 1/height. */
  runs(
    width: number,
    nsPerPixel: number,
    height: number,
    draw: (x: number, pixels: number, barHeight: number, classIndex: number) => void,
  ): void {
    let runStart = 0;
    let runBar = 0;
    let runClass = 0;
    for (let x = 0; x <= width; x++) {
      let bar = 0;
      let dominant = 0;
      if (x < width && this.touched[x]) {
        let most = 0;
        let all = 0;
        for (let c = 0, at = x * this.classes; c < this.classes; c++, at++) {
          const ns = this.time[at]!;
          all += ns;
          if (ns > most) {
            most = ns;
            dominant = c;
          }
        }
        if (all > 0) bar = Math.max(2, Math.round(Math.min(1, all / nsPerPixel) * height));
      }
      if (x < width && bar === runBar && dominant === runClass) continue;
      if (runBar > 0) draw(runStart, x - runStart, runBar, runClass);
      runStart = x;
      runBar = bar;
      runClass = dominant;
    }
  }
}

/** The level with the widest bins that are at most a pixel wide; null if there is none: then rows are read. */
export function levelFor(track: Track, nsPerPixel: number): Level | null {
  let best: Level | null = null;
  for (const level of track.levels ?? [])
    if (level.bin_ns <= nsPerPixel && (!best || level.bin_ns > best.bin_ns)) best = level;
  return best;
}

export function addBins(
  timeline: Timeline,
  level: Level,
  columns: PixelColumns,
  start: number,
  nsPerPixel: number,
  width: number,
): void {
  const first = Math.max(0, Math.floor(start / level.bin_ns));
  const last = Math.min(level.count, Math.ceil((start + width * nsPerPixel) / level.bin_ns));
  for (let bin = first; bin < last; bin++) {
    const busy = timeline.busy[level.first + bin]!;
    if (busy === 0) continue;
    const x = Math.floor(((bin + 0.5) * level.bin_ns - start) / nsPerPixel);
    if (x >= 0 && x < width) columns.add(x, timeline.dominant[level.first + bin]!, (busy / 255) * level.bin_ns);
  }
}

/** For tracks without levels: the time of the rows that start in each pixel, from precomputed sums. */
export function addSums(track: Track, columns: PixelColumns, start: number, nsPerPixel: number, width: number): void {
  const end = track.first + track.count;
  let row = firstAtLeast(track.start, track.first, end, start);
  for (let x = 0; x < width; x++) {
    const next = firstAtLeast(track.start, row, end, start + (x + 1) * nsPerPixel);
    if (next === row) continue;
    const ns = track.before[next - track.first]! - track.before[row - track.first]!;
    columns.add(x, 0, Math.min(ns, nsPerPixel) || nsPerPixel * 1e-6);
    row = next;
  }
}
