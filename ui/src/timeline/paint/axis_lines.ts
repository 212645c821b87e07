// The axis, and its tick lines through all tracks.
import { duration } from "../../format/figures";
import { axisTicks } from "../axis";
import { AXIS_HEIGHT, MINIMAP_HEIGHT, TOP } from "../layout";
import { FONT, xOf, type Scene } from "./scene";

export function paintGrid(context: CanvasRenderingContext2D, scene: Scene): void {
  context.fillStyle = scene.theme.rule;
  for (const tick of axisTicks(scene.window.start, scene.window.end, scene.width - scene.layout.gutter).ticks) {
    context.fillRect(Math.round(xOf(scene, tick)), TOP, 1, scene.height - TOP);
  }
}

export function paintAxis(context: CanvasRenderingContext2D, scene: Scene): void {
  const { theme, width } = scene;
  const left = scene.layout.gutter;
  context.fillStyle = theme.background;
  context.fillRect(0, MINIMAP_HEIGHT, width, AXIS_HEIGHT);
  context.fillStyle = theme.rule;
  context.fillRect(0, TOP - 1, width, 1);
  context.fillStyle = theme.muted;
  context.font = FONT;
  const { ticks, text } = axisTicks(scene.window.start, scene.window.end, width - left);
  context.save();
  context.beginPath();
  context.rect(left, MINIMAP_HEIGHT, width - left, AXIS_HEIGHT);
  context.clip();
  let reached = left;
  for (const tick of ticks) {
    const x = Math.round(xOf(scene, tick));
    context.fillRect(x, TOP - 6, 1, 5);
    const label = text(tick);
    const long = context.measureText(label).width;
    // The last label is left of its tick if it would be cut off on the right, or omitted.
    const at = x + 4 + long <= width - 2 ? x + 4 : x - 4 - long;
    if (at < reached) continue;
    context.fillText(label, at, MINIMAP_HEIGHT + AXIS_HEIGHT / 2);
    reached = at + long + 6;
  }
  context.restore();
  if (left > 0) {
    context.fillStyle = theme.muted;
    context.fillText(`${duration(scene.window.width)} shown`, 10, MINIMAP_HEIGHT + AXIS_HEIGHT / 2);
  }
}
