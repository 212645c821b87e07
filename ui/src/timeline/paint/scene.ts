// The scene to draw: the timeline, its visible part, and the mapping from times to the canvas.
import type { Hits } from "../filter";
import { RANGE_LINE, TOP, type Layout } from "../layout";
import type { LaunchedBy, RowRef, Timeline } from "../model";
import type { CanvasTheme } from "../theme";
import type { TimeWindow } from "../window";

export interface Scene {
  timeline: Timeline;
  window: TimeWindow;
  layout: Layout;
  theme: CanvasTheme;
  scrollY: number;
  width: number;
  height: number;
  hovered: RowRef | null;
  pinned: RowRef | null;
  selection: [number, number] | null;
  hits: Hits | null;
  hit: RowRef | null;
  launchedBy: () => LaunchedBy;
}

export type Rect = [x: number, y: number, width: number, height: number];

export const FONT = "11px system-ui, sans-serif";
export const SMALL_FONT = "10px system-ui, sans-serif";

export const nsPerPixelOf = (scene: Scene): number =>
  scene.window.width / Math.max(1, scene.width - scene.layout.gutter);

export const xOf = (scene: Scene, time: number): number =>
  scene.layout.gutter + (time - scene.window.start) / nsPerPixelOf(scene);

export function rectOf(scene: Scene, ref: RowRef): Rect | null {
  const placed = scene.layout.tracks[ref.track];
  if (!placed) return null;
  const { track } = placed;
  const x = xOf(scene, track.start[ref.row]!);
  const width = track.duration ? track.duration[ref.row]! / nsPerPixelOf(scene) : 0;
  const line = track.table === "ranges" ? scene.timeline.tables.ranges["depth"]![ref.row]! : 0;
  const height = track.table === "ranges" ? RANGE_LINE - 1 : placed.height;
  return [x, placed.y + TOP - scene.scrollY + line * RANGE_LINE, Math.max(width, 2), height];
}
