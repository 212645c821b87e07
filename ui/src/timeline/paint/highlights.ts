// Highlights of the selection and of hovered rows: the selected span, outlines, arrows from launches to their work.
import { TOP } from "../layout";
import { refOf, type RowRef } from "../model";
import { rectOf, xOf, type Scene } from "./scene";

export function paintSelection(context: CanvasRenderingContext2D, scene: Scene, top: number, bottom: number): void {
  if (!scene.selection) return;
  const from = Math.max(xOf(scene, scene.selection[0]), scene.layout.gutter);
  const to = xOf(scene, scene.selection[1]);
  if (to < scene.layout.gutter) return;
  context.fillStyle = scene.theme.selection;
  context.fillRect(from, top, to - from, bottom - top);
  context.fillStyle = scene.theme.accent;
  context.fillRect(from, top, 1, bottom - top);
  context.fillRect(to, top, 1, bottom - top);
}

export function paintOutlines(context: CanvasRenderingContext2D, scene: Scene): void {
  const outline = (ref: RowRef | null, width: number, color: string) => {
    const rect = ref && scene.timeline.tracks[ref.track]?.table !== "samples" ? rectOf(scene, ref) : null;
    if (!rect) return;
    context.strokeStyle = color;
    context.lineWidth = width;
    context.strokeRect(rect[0] - 0.5, rect[1] - 0.5, rect[2] + 1, rect[3] + 1);
  };
  outline(scene.hit, 2, scene.theme.accent);
  outline(scene.hovered, 1.5, scene.theme.text);
  outline(scene.pinned, 2, scene.theme.text);
}

function paintArrow(context: CanvasRenderingContext2D, scene: Scene, from: RowRef | null, to: RowRef | null): void {
  const start = from && rectOf(scene, from);
  const end = to && rectOf(scene, to);
  if (!start || !end) return;
  const downwards = end[1] > start[1];
  const x0 = start[0];
  const y0 = downwards ? start[1] + start[3] : start[1];
  const x1 = end[0];
  const y1 = downwards ? end[1] : end[1] + end[3];
  context.save();
  context.beginPath();
  context.rect(scene.layout.gutter, TOP, scene.width, scene.height);
  context.clip();
  context.strokeStyle = scene.theme.text;
  context.fillStyle = scene.theme.text;
  context.lineWidth = 1.25;
  context.beginPath();
  context.moveTo(x0, y0);
  const bend = (y1 - y0) / 2;
  context.bezierCurveTo(x0, y0 + bend, x1, y1 - bend, x1, y1);
  context.stroke();
  context.beginPath();
  const tip = downwards ? -6 : 6;
  context.moveTo(x1, y1);
  context.lineTo(x1 - 3.5, y1 + tip);
  context.lineTo(x1 + 3.5, y1 + tip);
  context.fill();
  context.restore();
}

/** From a launching call to its work, for the row under the pointer and the pinned one. */
export function paintArrows(context: CanvasRenderingContext2D, scene: Scene): void {
  for (const ref of [scene.pinned, scene.hovered]) {
    if (!ref) continue;
    const track = scene.timeline.tracks[ref.track]!;
    if (track.table === "slices") {
      const call = (scene.timeline.tables.slices["call"]?.[ref.row] ?? 0) - 1;
      if (call >= 0) paintArrow(context, scene, refOf(scene.timeline, "calls", call), ref);
    } else if (track.table === "calls") {
      const rows = scene.launchedBy().of(ref.row);
      // A graph launches hundreds of kernels: the first and the last show where its work is.
      const few = rows.length > 8 ? [rows[0]!, rows[rows.length - 1]!] : [...rows];
      for (const row of few) paintArrow(context, scene, ref, refOf(scene.timeline, "slices", row));
    }
  }
}
