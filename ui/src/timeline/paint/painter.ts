// Draws only the visible part of the timeline.
import { PixelColumns } from "../columns_of_pixels";
import { TOP, type PlacedTrack } from "../layout";
import { paintAxis, paintGrid } from "./axis_lines";
import { paintCounter } from "./counters";
import { paintArrows, paintOutlines, paintSelection } from "./highlights";
import { LabelPainter } from "./labels";
import { MinimapPainter } from "./minimap";
import { FONT, type Scene } from "./scene";
import { SpanPainter } from "./spans";
import { StreamPainter } from "./streams";
import { Texts } from "./texts";

export class Painter {
  private readonly streams: StreamPainter;
  private readonly spans: SpanPainter;
  private readonly labels: LabelPainter;
  private readonly minimap: MinimapPainter;

  constructor(
    private readonly context: CanvasRenderingContext2D,
    classes: number,
  ) {
    const columns = new PixelColumns(Math.max(1, classes));
    const texts = new Texts(context);
    this.streams = new StreamPainter(context, columns, texts);
    this.spans = new SpanPainter(context, columns, texts);
    this.labels = new LabelPainter(context);
    this.minimap = new MinimapPainter(context, columns);
  }

  paint(scene: Scene): void {
    const { context } = this;
    const { theme, layout, width, height, scrollY } = scene;
    context.globalAlpha = 1;
    context.fillStyle = theme.background;
    context.fillRect(0, 0, width, height);
    context.font = FONT;
    context.textBaseline = "middle";
    context.save();
    context.beginPath();
    context.rect(0, TOP, width, height - TOP);
    context.clip();
    paintGrid(context, scene);
    for (const placed of layout.tracks) {
      const y = placed.y + TOP - scrollY;
      if (y + placed.height >= TOP && y <= height) this.paintTrack(scene, placed, y);
    }
    paintSelection(context, scene, TOP, height);
    paintOutlines(context, scene);
    paintArrows(context, scene);
    this.labels.paint(scene);
    context.restore();
    paintAxis(context, scene);
    this.minimap.paint(scene);
  }

  private paintTrack(scene: Scene, placed: PlacedTrack, y: number): void {
    if (placed.track.table === "samples") paintCounter(this.context, scene, placed, y);
    else if (placed.track.table === "slices") this.streams.paint(scene, placed, y);
    else this.spans.paint(scene, placed, y);
  }
}
