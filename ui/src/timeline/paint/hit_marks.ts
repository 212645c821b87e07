// Marks where the search has hits in a track, however many rows share a pixel.
import type { PlacedTrack } from "../layout";
import { nsPerPixelOf, type Scene } from "./scene";

export function paintHitMarks(context: CanvasRenderingContext2D, scene: Scene, placed: PlacedTrack, y: number): void {
  const rows = scene.hits?.byTrack.get(placed.index);
  if (!rows) return;
  const { track } = placed;
  const left = scene.layout.gutter;
  const width = Math.ceil(scene.width - left);
  const nsPerPixel = nsPerPixelOf(scene);
  context.fillStyle = scene.theme.text;
  let at = 0;
  for (let x = 0; x < width && at < rows.length; x++) {
    const limit = scene.window.start + x * nsPerPixel;
    // Rows are in order, and so are their starts.
    let from = at;
    let to = rows.length;
    while (from < to) {
      const middle = (from + to) >>> 1;
      if (track.start[rows[middle]!]! >= limit) to = middle;
      else from = middle + 1;
    }
    at = from;
    if (at >= rows.length) break;
    const start = track.start[rows[at]!]!;
    if (start >= limit + nsPerPixel) {
      x = Math.floor((start - scene.window.start) / nsPerPixel) - 1;
      continue;
    }
    context.fillRect(left + x, y - 2, 1, 4);
  }
}
