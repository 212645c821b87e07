// Samples of a counter as an area: the highest in each pixel, held until the next sample.
import type { PlacedTrack } from "../layout";
import { counterTop, firstAtLeast } from "../model";
import { nsPerPixelOf, type Rect, type Scene } from "./scene";

const LAST_PIXELS = 3;

export function paintCounter(context: CanvasRenderingContext2D, scene: Scene, placed: PlacedTrack, y: number): void {
  const { track, height } = placed;
  const { theme, window } = scene;
  const left = scene.layout.gutter;
  const width = Math.ceil(scene.width - left);
  const nsPerPixel = nsPerPixelOf(scene);
  const values = scene.timeline.tables.samples["value"]!;
  const end = track.first + track.count;
  const highest = counterTop(track);
  context.fillStyle = theme.band;
  context.fillRect(left, y, width, height);
  let row = Math.max(track.first, firstAtLeast(track.start, track.first, end, window.start) - 1);
  const top = (value: number) => Math.round(y + height - Math.min(1, value / highest) * (height - 2));
  const bottom = y + height;
  let runStart = -1;
  let runTop = bottom;
  // Draws runs of whole pixels: a path with a thousand corners costs a software canvas ten times as much.
  const runs: Rect[] = [];
  const flush = (x: number) => {
    if (runStart >= 0 && x > runStart) runs.push([left + runStart, runTop, x - runStart, bottom - runTop]);
  };
  let x = row < end ? Math.max(0, Math.floor((track.start[row]! - window.start) / nsPerPixel)) : width;
  while (x < width && row < end) {
    let next = row;
    let highestHere = 0;
    const limit = window.start + (x + 1) * nsPerPixel;
    while (next < end && track.start[next]! < limit) highestHere = Math.max(highestHere, values[next++]!);
    const own = next > row ? top(highestHere) : runTop;
    if (own !== runTop || runStart < 0) {
      flush(x);
      runStart = x;
      runTop = own;
    }
    row = next;
    // The value lasts until the next sample.
    x = row < end ? Math.max(x + 1, Math.floor((track.start[row]! - window.start) / nsPerPixel)) : x + 1;
  }
  // The duration of the last value is unknown.
  if (row >= end && runStart >= 0) x = Math.max(x, runStart + LAST_PIXELS);
  flush(Math.min(x, width));
  context.fillStyle = theme.area;
  for (const run of runs) context.fillRect(...run);
  context.fillStyle = theme.areaLine;
  for (const [runX, runY, runWidth] of runs) context.fillRect(runX, runY, runWidth, 1);
}
