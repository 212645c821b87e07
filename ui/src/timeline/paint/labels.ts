// Names of groups and tracks. In the gutter they change only with scrolling, and are cached as a picture.
import { LETTER, TOP, type PlacedTrack } from "../layout";
import { counterMax } from "../model";
import { FONT, SMALL_FONT, type Scene } from "./scene";

/** Height in pixels of a name with the largest value below it. */
const LINES_OF_TWO = 28;

export class LabelPainter {
  private gutter: HTMLCanvasElement | null = null;
  private gutterKey = "";

  constructor(private readonly context: CanvasRenderingContext2D) {}

  paint(scene: Scene): void {
    const { layout, theme, scrollY } = scene;
    if (layout.gutter === 0) {
      paintAllLabels(scene, this.context);
      return;
    }
    const ratio = this.context.getTransform().a;
    const key = [scrollY, scene.height, layout.height, theme.background, ratio].join("/");
    if (key !== this.gutterKey || !this.gutter) {
      this.gutter = document.createElement("canvas");
      this.gutter.width = Math.round(layout.gutter * ratio);
      this.gutter.height = Math.round(scene.height * ratio);
      const context = this.gutter.getContext("2d")!;
      context.setTransform(ratio, 0, 0, ratio, 0, 0);
      context.fillStyle = theme.background;
      context.fillRect(0, 0, layout.gutter, scene.height);
      context.fillStyle = theme.rule;
      context.fillRect(layout.gutter - 1, TOP, 1, scene.height - TOP);
      paintAllLabels(scene, context);
      this.gutterKey = key;
    }
    this.context.drawImage(this.gutter, 0, 0, layout.gutter, scene.height);
    this.context.fillStyle = theme.rule;
    for (const group of layout.groups) this.context.fillRect(0, group.y + TOP - scrollY, scene.width, 1);
  }
}

function paintAllLabels(scene: Scene, context: CanvasRenderingContext2D): void {
  const { layout, theme, scrollY, width } = scene;
  context.textBaseline = "middle";
  for (const group of layout.groups) {
    const y = group.y + TOP - scrollY;
    context.font = `600 ${FONT}`;
    context.fillStyle = theme.text;
    context.fillText(group.label, 10, y + 11);
    context.fillStyle = theme.rule;
    context.fillRect(0, y, width, 1);
  }
  for (const placed of layout.tracks) paintLabel(scene, placed, context);
}

function paintLabel(scene: Scene, placed: PlacedTrack, context: CanvasRenderingContext2D): void {
  const { layout, theme } = scene;
  const y = placed.y + TOP - scene.scrollY;
  if (y + placed.height < TOP || y > scene.height) return;
  const beside = layout.gutter > 0;
  const { track } = placed;
  const letters = Math.floor(((beside ? layout.gutter : scene.width) - 20) / LETTER);
  const label = track.label.length > letters ? `${track.label.slice(0, letters - 1)}…` : track.label;
  context.font = beside ? FONT : SMALL_FONT;
  context.fillStyle = theme.muted;
  const middle = beside ? y + Math.min(placed.height, 24) / 2 : y - layout.labelHeight / 2;
  context.fillText(label, beside ? 10 : 4, middle);
  const most = track.kind === "counter" ? counterMax(track) : "";
  if (most) {
    context.font = SMALL_FONT;
    const below = beside && placed.height > LINES_OF_TWO;
    if (below) context.fillText(most, 10, middle + 14);
    else context.fillText(most, (beside ? layout.gutter : scene.width) - context.measureText(most).width - 8, middle);
  }
  context.font = FONT;
}
