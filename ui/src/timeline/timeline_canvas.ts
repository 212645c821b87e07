// Draws the state of the timeline on a canvas that scrolls, and finds what is at a point on it.
import type { App } from "../app";
import { h } from "../dom/dom";
import { gapAt, type IdleGap } from "./gaps";
import { type Layout, layOut, TOP } from "./layout";
import { LaunchedBy, type RowRef } from "./model";
import { Painter } from "./paint/painter";
import { pick, trackAt } from "./pick";
import { canvasTheme } from "./theme";
import type { TimelineState } from "./timeline_state";

const FIRST_WIDTH = 1280;
const LEAST_WIDTH = 200;
const LEAST_HEIGHT = 160;
/** Above or below a track that was scrolled to. */
const SCROLL_ROOM = 8;
const LABEL =
  "Timeline. w and s zoom, a and d pan, arrow keys go from one operation to the next, Escape closes, slash searches.";

export class TimelineCanvas {
  readonly canvas = h("canvas", { class: "timeline", tabindex: "0", role: "application", "aria-label": LABEL });
  readonly element: HTMLElement;
  layout: Layout;
  width = 0;
  private height = 0;
  private frame = 0;
  private theme;
  private launched: LaunchedBy | null = null;
  private readonly spacer = h("div", { class: "spacer" });
  private readonly context: CanvasRenderingContext2D;
  private readonly painter: Painter;

  constructor(
    private readonly app: App,
    private readonly state: TimelineState,
  ) {
    this.theme = canvasTheme(app.view, app.palette);
    this.layout = layOut(state.timeline, FIRST_WIDTH, 0);
    const context = this.canvas.getContext("2d", { alpha: false });
    if (!context) throw new Error("The browser gives no canvas to draw on.");
    this.context = context;
    this.painter = new Painter(context, app.view.classes.length);
    this.element = h("div", { class: "scroller" }, h("div", { class: "sticky" }, this.canvas), this.spacer);
    this.element.addEventListener("scroll", () => this.invalidate());
  }

  get nsPerPixel(): number {
    return this.state.window.width / this.innerWidth;
  }

  private get innerWidth(): number {
    return Math.max(1, this.width - this.layout.gutter);
  }

  /** The time at a point on the canvas. */
  timeAt(x: number): number {
    return this.state.window.start + (x - this.layout.gutter) * this.nsPerPixel;
  }

  /** The same on the minimap above it. */
  timeOnMap(x: number): number {
    return ((x - this.layout.gutter) / this.innerWidth) * this.state.timeline.spanNs;
  }

  isOnTracks(x: number, y: number): boolean {
    return x >= this.layout.gutter && y >= TOP;
  }

  rowUnder(x: number, y: number): RowRef | null {
    if (!this.isOnTracks(x, y)) return null;
    return pick(this.layout, this.timeAt(x), y - TOP + this.element.scrollTop, this.nsPerPixel);
  }

  /** The gap of a GPU at this point; null if there is work, or no stream. */
  gapUnder(x: number, y: number): IdleGap | null {
    if (!this.isOnTracks(x, y) || this.rowUnder(x, y)) return null;
    const placed = trackAt(this.layout, y - TOP + this.element.scrollTop);
    if (placed?.track.table !== "slices") return null;
    return gapAt(this.state.timeline, placed.track.group, this.timeAt(x));
  }

  scrollBy(pixels: number): void {
    this.element.scrollTop += pixels;
  }

  scrollToTrack(index: number): void {
    const placed = this.layout.tracks[index];
    if (!placed) return;
    const visible = this.height - TOP;
    const bottom = placed.y + placed.height;
    const { scrollTop } = this.element;
    if (placed.y < scrollTop) this.element.scrollTop = placed.y - SCROLL_ROOM;
    else if (bottom > scrollTop + visible) this.element.scrollTop = bottom - visible + SCROLL_ROOM;
  }

  /** Draws in the next frame. */
  invalidate(): void {
    if (this.frame === 0) this.frame = requestAnimationFrame(() => this.draw());
  }

  stop(): void {
    cancelAnimationFrame(this.frame);
    this.frame = 0;
  }

  resize(): void {
    const ratio = window.devicePixelRatio || 1;
    const width = Math.max(LEAST_WIDTH, this.element.clientWidth);
    const height = Math.max(LEAST_HEIGHT, this.element.clientHeight);
    if (width !== this.width || height !== this.height || this.canvas.width !== Math.round(width * ratio)) {
      this.width = width;
      this.height = height;
      this.canvas.width = Math.round(width * ratio);
      this.canvas.height = Math.round(height * ratio);
      this.canvas.style.width = `${width}px`;
      this.canvas.style.height = `${height}px`;
      this.layout = layOut(this.state.timeline, width, height);
      this.spacer.style.height = `${Math.max(0, this.layout.height + TOP - height)}px`;
    }
    this.theme = canvasTheme(this.app.view, this.app.palette);
    this.draw();
  }

  private launchedBy(): LaunchedBy {
    this.launched ??= new LaunchedBy(this.state.timeline);
    return this.launched;
  }

  private draw(): void {
    this.stop();
    if (this.width === 0) return;
    const began = performance.now();
    const { timeline, window, hovered, pinned, selection, hits, hitRef } = this.state;
    const ratio = this.canvas.width / this.width;
    this.context.setTransform(ratio, 0, 0, ratio, 0, 0);
    this.painter.paint({
      timeline,
      window,
      layout: this.layout,
      theme: this.theme,
      scrollY: this.element.scrollTop,
      width: this.width,
      height: this.height,
      hovered,
      pinned,
      selection,
      hits,
      hit: hitRef,
      launchedBy: () => this.launchedBy(),
    });
    this.canvas.dataset["drawMs"] = (performance.now() - began).toFixed(2);
    this.canvas.dataset["window"] = `${window.start},${window.end}`;
    this.canvas.dataset["gutter"] = String(this.layout.gutter);
  }
}
