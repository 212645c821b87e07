// Texts inside the shapes that they name, cut to fit. Widths are measured once per text.
import type { Rect, Scene } from "./scene";

export class Texts {
  private readonly widths = new Map<string, number>();

  constructor(private readonly context: CanvasRenderingContext2D) {}

  within(scene: Scene, text: string, [x, y, width, height]: Rect): void {
    // Cut at the visible edge: text stays visible while its row extends beyond the left one.
    const left = Math.max(x, scene.layout.gutter);
    const room = x + width - left - 8;
    const letters = Math.floor((room / this.width(text)) * text.length);
    if (letters < Math.min(3, text.length)) return;
    this.context.fillText(
      text.length <= letters ? text : `${text.slice(0, letters - 1)}…`,
      left + 4,
      y + height / 2 + 0.5,
    );
  }

  private width(text: string): number {
    let width = this.widths.get(text);
    if (width === undefined) {
      width = Math.max(1, this.context.measureText(text).width);
      this.widths.set(text, width);
    }
    return width;
  }
}
