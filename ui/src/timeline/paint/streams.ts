// GPU work of a stream: each row if there is room, otherwise the busy share of each pixel, in the color of the class
// that takes the most time.
import { addBins, levelFor, type PixelColumns } from "../columns_of_pixels";
import type { PlacedTrack } from "../layout";
import { rowsWithin } from "../model";
import { paintHitMarks } from "./hit_marks";
import { FONT, nsPerPixelOf, type Rect, type Scene } from "./scene";
import type { Texts } from "./texts";

const DIMMED = 0.28;

export class StreamPainter {
  constructor(
    private readonly context: CanvasRenderingContext2D,
    private readonly columns: PixelColumns,
    private readonly texts: Texts,
  ) {}

  paint(scene: Scene, placed: PlacedTrack, y: number): void {
    const { context } = this;
    const { track, height } = placed;
    const { timeline, theme, window } = scene;
    const left = scene.layout.gutter;
    const width = Math.ceil(scene.width - left);
    const nsPerPixel = nsPerPixelOf(scene);
    context.fillStyle = theme.band;
    context.fillRect(left, y, width, height);
    const level = levelFor(track, nsPerPixel);
    const dim = scene.hits !== null && scene.hits.count > 0;
    const rects: Rect[][] = theme.classes.map(() => []);
    const hitRects: Rect[][] = theme.classes.map(() => []);
    const texts: { rect: Rect; row: number; classIndex: number }[] = [];
    this.columns.reset(width);
    if (level) addBins(timeline, level, this.columns, window.start, nsPerPixel, width);
    else {
      const kernels = timeline.tables.slices["kernel"]!;
      const wanted = dim ? scene.hits!.wanted : null;
      const [first, last] = rowsWithin(track, window.start, window.end);
      for (let row = first; row < last; row++) {
        const start = track.start[row]!;
        const from = (start - window.start) / nsPerPixel;
        const to = from + track.duration![row]! / nsPerPixel;
        if (to < 0) continue;
        const kernel = kernels[row]!;
        const classIndex = timeline.kernels[kernel]!.class;
        if (to - from < 2) {
          this.addNarrow(from, to, classIndex, nsPerPixel, width);
          continue;
        }
        const x0 = Math.max(Math.round(from), -2);
        const x1 = Math.min(Math.round(to), width + 2);
        const rect: Rect = [left + x0, y, Math.max(x1 - x0 - (x1 - x0 > 4 ? 1 : 0), 1), height];
        (wanted?.[row] ? hitRects : rects)[classIndex]!.push(rect);
        if (x1 - x0 > 30) texts.push({ rect, row, classIndex });
      }
    }
    this.columns.runs(width, nsPerPixel, height, (x, pixels, bar, classIndex) =>
      rects[classIndex]!.push([left + x, y + height - bar, pixels, bar]),
    );
    context.globalAlpha = dim ? DIMMED : 1;
    this.fill(rects, theme.classes);
    context.globalAlpha = 1;
    this.fill(hitRects, theme.classes);
    this.paintTexts(scene, texts, dim);
    if (dim) paintHitMarks(context, scene, placed, y);
  }

  /** A row narrower than two pixels, over the one to three pixels that it touches. */
  private addNarrow(from: number, to: number, classIndex: number, nsPerPixel: number, width: number): void {
    const last = Math.min(width - 1, Math.floor(to));
    for (let pixel = Math.max(0, Math.floor(from)); pixel <= last; pixel++) {
      const part = Math.min(to, pixel + 1) - Math.max(from, pixel);
      if (part > 0 || to === from) this.columns.add(pixel, classIndex, Math.max(part, 1e-6) * nsPerPixel);
    }
  }

  private fill(rects: Rect[][], colors: string[]): void {
    rects.forEach((own, index) => {
      if (own.length === 0) return;
      this.context.fillStyle = colors[index]!;
      for (const [x, y, width, height] of own) this.context.fillRect(x, y, width, height);
    });
  }

  private paintTexts(scene: Scene, texts: { rect: Rect; row: number; classIndex: number }[], dim: boolean): void {
    const { context } = this;
    const { timeline, theme } = scene;
    const kernels = timeline.tables.slices["kernel"]!;
    context.font = FONT;
    for (const { rect, row, classIndex } of texts) {
      const faint = dim && !scene.hits!.wanted[row];
      context.fillStyle = faint ? theme.text : theme.onClasses[classIndex]!;
      this.texts.within(scene, timeline.names[timeline.kernels[kernels[row]!]!.short] ?? "", rect);
    }
  }
}
