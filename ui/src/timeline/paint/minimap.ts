// The whole capture in one strip, with the visible window.
import { duration } from "../../format/figures";
import { addBins, levelFor, type PixelColumns } from "../columns_of_pixels";
import { MINIMAP_HEIGHT } from "../layout";
import type { Scene } from "./scene";

export class MinimapPainter {
  private picture: HTMLCanvasElement | null = null;
  private key = "";

  constructor(
    private readonly context: CanvasRenderingContext2D,
    private readonly columns: PixelColumns,
  ) {}

  paint(scene: Scene): void {
    const { context } = this;
    const { theme, layout, width } = scene;
    const left = layout.gutter;
    const inner = Math.max(1, Math.ceil(width - left));
    const key = `${inner}/${theme.background}`;
    if (key !== this.key || !this.picture) {
      this.picture = this.make(scene, inner);
      this.key = key;
    }
    context.fillStyle = theme.band;
    context.fillRect(0, 0, width, MINIMAP_HEIGHT);
    context.drawImage(this.picture, left, 0, inner, MINIMAP_HEIGHT);
    const span = Math.max(1, scene.timeline.spanNs);
    const x0 = left + (Math.max(0, scene.window.start) / span) * inner;
    const x1 = Math.max(x0 + 2, left + (Math.min(span, scene.window.end) / span) * inner);
    context.globalAlpha = 0.62;
    context.fillStyle = theme.background;
    context.fillRect(left, 0, x0 - left, MINIMAP_HEIGHT);
    context.fillRect(x1, 0, width - x1, MINIMAP_HEIGHT);
    context.globalAlpha = 1;
    context.strokeStyle = theme.text;
    context.lineWidth = 1;
    context.strokeRect(x0 + 0.5, 0.5, x1 - x0 - 1, MINIMAP_HEIGHT - 1);
    if (scene.selection) {
      context.fillStyle = theme.accent;
      const from = left + (scene.selection[0] / span) * inner;
      context.fillRect(from, 0, Math.max(2, ((scene.selection[1] - scene.selection[0]) / span) * inner), 3);
    }
    if (left > 0) {
      context.fillStyle = theme.muted;
      context.fillText(`${duration(span)} in all`, 10, MINIMAP_HEIGHT / 2);
    }
  }

  private make(scene: Scene, width: number): HTMLCanvasElement {
    const canvas = document.createElement("canvas");
    canvas.width = width;
    canvas.height = MINIMAP_HEIGHT;
    const context = canvas.getContext("2d")!;
    const nsPerPixel = Math.max(1, scene.timeline.spanNs) / width;
    this.columns.reset(width);
    for (const track of scene.timeline.tracks) {
      if (track.table !== "slices") continue;
      const level = levelFor(track, nsPerPixel);
      if (level) addBins(scene.timeline, level, this.columns, 0, nsPerPixel, width);
      else
        this.addRows(scene, track.first, track.first + track.count, track.start, track.duration!, nsPerPixel, width);
    }
    const height = MINIMAP_HEIGHT - 6;
    this.columns.runs(width, nsPerPixel, height, (x, pixels, bar, classIndex) => {
      context.fillStyle = scene.theme.classes[classIndex]!;
      context.fillRect(x, 3 + height - bar, pixels, bar);
    });
    return canvas;
  }

  private addRows(
    scene: Scene,
    first: number,
    last: number,
    starts: ArrayLike<number>,
    durations: ArrayLike<number>,
    nsPerPixel: number,
    width: number,
  ): void {
    const kernels = scene.timeline.tables.slices["kernel"]!;
    for (let row = first; row < last; row++) {
      const classIndex = scene.timeline.kernels[kernels[row]!]!.class;
      const end = starts[row]! + durations[row]!;
      for (let x = Math.floor(starts[row]! / nsPerPixel); x < width && x * nsPerPixel < end; x++) {
        const ns = Math.min(end, (x + 1) * nsPerPixel) - Math.max(starts[row]!, x * nsPerPixel);
        if (x >= 0) this.columns.add(x, classIndex, ns);
      }
    }
  }
}
