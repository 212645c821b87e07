// The timeline: a canvas that draws what is visible, and what is pinned or selected beside it.
import type { App } from "../app";
import { h, replace } from "../dom/dom";
import { keepFocus } from "../dom/keep_focus";
import { hideTooltip, showTooltip } from "../dom/tooltip";
import { setOptions } from "../state/fragment";
import { placeOptions, readPlace, type Span } from "./address";
import { control } from "./controls";
import { describe } from "./describe";
import { find, isEmpty, nextHit, type Filter, type Hits } from "./filter";
import { gapAt, type IdleGap } from "./gaps";
import { layOut, TOP, type Layout } from "./layout";
import { LaunchedBy, type RowRef, type Timeline } from "./model";
import { Painter } from "./paint/painter";
import type { Scene } from "./paint/scene";
import type { PanelActions } from "./panels/panel";
import { pinnedPanel } from "./panels/pinned";
import { selectionPanels } from "./panels/selection";
import { gapTooltip, rowTooltip } from "./panels/tooltip";
import { pick, trackAt } from "./pick";
import { sumSpan } from "./sums";
import { canvasTheme } from "./theme";
import { Toolbar } from "./toolbar";
import { TimeWindow } from "./window";

export const VIEW = "timeline";
/** Browsers refuse more than some 100 changes of the address in 30 s. */
const ADDRESS_DELAY_MS = 350;
const KEY_SCROLL = 40;

export class TimelineView {
  readonly element: HTMLElement;
  private readonly canvas = h("canvas", {
    class: "timeline",
    tabindex: "0",
    role: "application",
    "aria-label":
      "Timeline. w and s zoom, a and d pan, arrow keys go from one operation to the next, Escape closes, slash searches.",
  });
  private readonly scroller: HTMLElement;
  private readonly spacer = h("div", { class: "spacer" });
  private readonly side = h("aside", { class: "side", "aria-label": "Details", "aria-live": "polite" });
  private readonly window: TimeWindow;
  private readonly painter: Painter;
  private readonly toolbar: Toolbar;
  private readonly release: () => void;
  private readonly actions: PanelActions = {
    unpin: () => this.pin(null),
    deselect: () => this.select(null),
    pin: (ref) => {
      this.pin(ref);
      this.reveal(ref);
    },
    zoomTo: (span) => this.zoomTo(span),
  };
  private layout: Layout;
  private theme;
  private launched: LaunchedBy | null = null;
  private hovered: RowRef | null = null;
  private pinned: RowRef | null = null;
  private selection: Span | null = null;
  private filter: Filter = { text: "", classes: [], stage: "", layer: "" };
  private hits: Hits | null = null;
  private hit: number | null = null;
  private frame = 0;
  private addressTimer = 0;
  private width = 0;
  private height = 0;
  /** Columns that only details need are there. */
  private complete = false;

  constructor(
    private readonly app: App,
    private readonly timeline: Timeline,
    options: URLSearchParams,
  ) {
    this.window = new TimeWindow(timeline.spanNs);
    this.theme = canvasTheme(app.view, app.palette);
    this.layout = layOut(timeline, 1280, 0);
    const context = this.canvas.getContext("2d", { alpha: false });
    if (!context) throw new Error("The browser gives no canvas to draw on.");
    this.painter = new Painter(context, app.view.classes.length);
    this.scroller = h("div", { class: "scroller" }, h("div", { class: "sticky" }, this.canvas), this.spacer);
    this.toolbar = new Toolbar(app, timeline, {
      filter: (changes) => this.setFilter({ ...this.filter, ...changes }),
      goToHit: (forward) => this.goToHit(forward),
      zoom: (factor) => this.zoomAt(factor, (this.width + this.layout.gutter) / 2),
      showAll: () => this.showAll(),
      focusCanvas: () => this.canvas.focus(),
    });
    this.element = h(
      "div",
      { class: "timeline-view" },
      h("h1", { class: "offscreen" }, "Timeline"),
      this.toolbar.tools,
      timeline.clocks.length > 0 &&
        h(
          "p",
          { class: "notice", role: "note" },
          `The clocks of these captures are unrelated: each begins at 0 (${timeline.clocks.map((clock) => clock.label).join("; ")}).`,
        ),
      h("div", { class: "stage" }, this.scroller, this.side),
      this.toolbar.legend,
    );
    this.scroller.addEventListener("scroll", () => this.invalidate());
    this.release = control(this.canvas, {
      zoomAt: (factor, x) => this.zoomAt(factor, x),
      panPixels: (dx) => this.change(() => this.window.pan(dx * this.nsPerPixel)),
      scroll: (dy) => (this.scroller.scrollTop += dy),
      hover: (x, y, clientX, clientY) => this.hover(x, y, clientX, clientY),
      leave: () => this.unhover(),
      click: (x, y) => this.click(x, y),
      select: (from, to, done) =>
        this.select([this.timeAt(Math.min(from, to)), this.timeAt(Math.max(from, to))], done),
      jump: (x) => this.jump(x),
      key: (key, shift) => this.key(key, shift),
      width: () => this.width,
      gutter: () => this.layout.gutter,
    });
    this.restore(options);
    void timeline.details.then(() => {
      this.complete = true;
      this.applyFilter();
      this.drawSide();
      this.invalidate();
    });
  }

  private get nsPerPixel(): number {
    return this.window.width / Math.max(1, this.width - this.layout.gutter);
  }

  private timeAt(x: number): number {
    return this.window.start + (x - this.layout.gutter) * this.nsPerPixel;
  }

  private zoomAt(factor: number, x: number): void {
    this.change(() => this.window.zoom(factor, this.timeAt(Math.max(x, this.layout.gutter))));
  }

  private zoomTo([start, end]: Span): void {
    const room = (end - start) * 0.3;
    this.change(() => this.window.set(start - room, end + room));
  }

  private showAll(): void {
    this.change(() => this.window.showAll());
  }

  private jump(x: number): void {
    const inner = Math.max(1, this.width - this.layout.gutter);
    const middle = ((x - this.layout.gutter) / inner) * this.timeline.spanNs;
    this.change(() => this.window.set(middle - this.window.width / 2, middle + this.window.width / 2));
  }

  private change(action: () => void): void {
    action();
    this.invalidate();
    this.remember();
  }

  private restore(options: URLSearchParams): void {
    const place = readPlace(this.app, this.timeline, options);
    if (place.shown) this.window.set(...place.shown);
    this.selection = place.selection;
    this.pinned = place.pinned;
    this.filter = place.filter;
    this.applyFilter();
    if (this.pinned && !place.shown) this.reveal(this.pinned);
    this.drawSide();
    this.invalidate();
  }

  /** Writes what is shown into the address, a little later. */
  private remember(): void {
    window.clearTimeout(this.addressTimer);
    this.addressTimer = window.setTimeout(
      () =>
        setOptions(
          VIEW,
          placeOptions(this.app, this.timeline, {
            shown: [this.window.start, this.window.end],
            selection: this.selection,
            pinned: this.pinned,
            filter: this.filter,
          }),
        ),
      ADDRESS_DELAY_MS,
    );
  }

  /** The gap of a GPU that lies under the pointer; null where there is work, or no stream. */
  private gapUnder(x: number, y: number): IdleGap | null {
    const placed = trackAt(this.layout, y - TOP + this.scroller.scrollTop);
    return placed?.track.table === "slices" ? gapAt(this.timeline, placed.track.group, this.timeAt(x)) : null;
  }

  private rowUnder(x: number, y: number): RowRef | null {
    return x < this.layout.gutter || y < TOP
      ? null
      : pick(this.layout, this.timeAt(x), y - TOP + this.scroller.scrollTop, this.nsPerPixel);
  }

  private hover(x: number, y: number, clientX: number, clientY: number): void {
    const before = this.hovered;
    this.hovered = this.rowUnder(x, y);
    const gap = this.hovered || x < this.layout.gutter || y < TOP ? null : this.gapUnder(x, y);
    this.canvas.style.cursor = this.hovered || gap ? "pointer" : y < TOP ? "default" : "grab";
    if (this.hovered && this.complete)
      showTooltip(clientX, clientY, rowTooltip(this.app, describe(this.timeline, this.app.view, this.hovered)));
    else if (gap && this.complete) showTooltip(clientX, clientY, gapTooltip(this.app, gap));
    else hideTooltip();
    if (before?.row !== this.hovered?.row || before?.track !== this.hovered?.track) this.invalidate();
  }

  private unhover(): void {
    hideTooltip();
    if (this.hovered) this.invalidate();
    this.hovered = null;
  }

  private click(x: number, y: number): void {
    const row = this.rowUnder(x, y);
    const gap = row || x < this.layout.gutter || y < TOP ? null : this.gapUnder(x, y);
    this.pin(row);
    if (gap) this.select([gap.start, gap.end]);
  }

  private pin(ref: RowRef | null): void {
    this.pinned = ref;
    this.drawSide();
    this.invalidate();
    this.remember();
  }

  private select(span: Span | null, done = true): void {
    this.selection = span && [Math.round(span[0]), Math.max(Math.round(span[0]) + 1, Math.round(span[1]))];
    if (done) {
      this.drawSide();
      this.remember();
    }
    this.invalidate();
  }

  private setFilter(filter: Filter): void {
    this.filter = filter;
    this.applyFilter();
    this.remember();
  }

  private applyFilter(): void {
    this.toolbar.stop();
    const same = this.hits && JSON.stringify(this.hits.filter) === JSON.stringify(this.filter) && this.hits.count > 0;
    if (!same) {
      this.hits = isEmpty(this.filter) ? null : find(this.timeline, this.filter);
      this.hit = null;
    }
    this.toolbar.draw(this.filter);
    this.toolbar.drawCounts(this.hits, this.hit);
    this.invalidate();
  }

  private goToHit(forward: boolean): void {
    if (!this.hits || this.hits.count === 0) return;
    this.hit = nextHit(this.hits, this.hit, forward ? this.window.start : this.window.end, forward);
    const ref = this.hitRef()!;
    this.pinned = ref;
    this.reveal(ref);
    this.toolbar.drawCounts(this.hits, this.hit);
    this.drawSide();
  }

  private hitRef(): RowRef | null {
    return this.hits && this.hit !== null && this.hit >= 0
      ? { track: this.hits.tracks[this.hit]!, row: this.hits.rows[this.hit]! }
      : null;
  }

  /** Brings a row into view; zooms in where it would be narrower than a few pixels. */
  private reveal(ref: RowRef): void {
    const track = this.timeline.tracks[ref.track]!;
    const start = track.start[ref.row]!;
    const length = track.duration ? track.duration[ref.row]! : 0;
    const width = Math.max(Math.min(this.window.width, Math.max(length * 60, 2000)), length * 1.3);
    const middle = start + length / 2;
    if (width < this.window.width || start < this.window.start || start + length > this.window.end)
      this.window.set(middle - width / 2, middle + width / 2);
    const placed = this.layout.tracks[ref.track];
    if (placed) {
      const visible = this.height - TOP;
      if (placed.y < this.scroller.scrollTop) this.scroller.scrollTop = placed.y - 8;
      else if (placed.y + placed.height > this.scroller.scrollTop + visible)
        this.scroller.scrollTop = placed.y + placed.height - visible + 8;
    }
    this.invalidate();
    this.remember();
  }

  private key(key: string, shift: boolean): boolean {
    const { pinned, selection } = this;
    if (key === "/") this.toolbar.focusSearch();
    else if (key === "Escape") {
      if (pinned) this.pin(null);
      else if (selection) this.select(null);
      else this.setFilter({ text: "", classes: [], stage: "", layer: "" });
    } else if (key === "f" && pinned) this.zoomTo(this.spanOf(pinned));
    else if (key === "f" && selection) this.change(() => this.window.set(...selection));
    else if (key === "0") this.showAll();
    else if (key === "n" || key === "N") this.goToHit(!shift);
    else if ((key === "ArrowRight" || key === "ArrowLeft") && (document.activeElement === this.canvas || pinned))
      this.stepRow(key === "ArrowRight" ? 1 : -1);
    else if (key === "ArrowDown" || key === "ArrowUp")
      this.scroller.scrollTop += key === "ArrowDown" ? KEY_SCROLL : -KEY_SCROLL;
    else return false;
    return true;
  }

  private spanOf({ track: index, row }: RowRef): Span {
    const track = this.timeline.tracks[index]!;
    return [track.start[row]!, track.start[row]! + Math.max(track.duration?.[row] ?? 0, 50)];
  }

  private stepRow(by: number): void {
    let ref = this.pinned;
    if (!ref) {
      const track = this.timeline.tracks.findIndex((each) => each.table === "slices" && each.count > 0);
      if (track < 0) return;
      ref = pick(
        this.layout,
        (this.window.start + this.window.end) / 2,
        this.layout.tracks[track]!.y + 1,
        this.nsPerPixel,
      ) ?? { track, row: this.timeline.tracks[track]!.first };
    } else {
      const track = this.timeline.tracks[ref.track]!;
      ref = { track: ref.track, row: Math.min(Math.max(ref.row + by, track.first), track.first + track.count - 1) };
    }
    this.actions.pin(ref);
  }

  private drawSide(): void {
    const { pinned, selection } = this;
    const blocks: HTMLElement[] = [];
    if (pinned && this.complete) blocks.push(pinnedPanel(this.app, this.timeline, pinned, this.actions));
    if (selection && this.complete)
      blocks.push(...selectionPanels(this.app, this.timeline, sumSpan(this.timeline, ...selection), this.actions));
    const had = this.side.childElementCount > 0;
    keepFocus(this.side, () => replace(this.side, blocks));
    this.side.hidden = blocks.length === 0;
    if (had !== blocks.length > 0) this.resize();
  }

  invalidate(): void {
    if (this.frame === 0) this.frame = requestAnimationFrame(() => this.draw());
  }

  resize(): void {
    const ratio = window.devicePixelRatio || 1;
    const width = Math.max(200, this.scroller.clientWidth);
    const height = Math.max(160, this.scroller.clientHeight);
    if (width !== this.width || height !== this.height || this.canvas.width !== Math.round(width * ratio)) {
      this.width = width;
      this.height = height;
      this.canvas.width = Math.round(width * ratio);
      this.canvas.height = Math.round(height * ratio);
      this.canvas.style.width = `${width}px`;
      this.canvas.style.height = `${height}px`;
      this.layout = layOut(this.timeline, width, height);
      this.spacer.style.height = `${Math.max(0, this.layout.height + TOP - height)}px`;
    }
    this.theme = canvasTheme(this.app.view, this.app.palette);
    this.draw();
  }

  private draw(): void {
    cancelAnimationFrame(this.frame);
    this.frame = 0;
    if (this.width === 0) return;
    const began = performance.now();
    const ratio = this.canvas.width / this.width;
    const context = this.canvas.getContext("2d")!;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    const scene: Scene = {
      timeline: this.timeline,
      window: this.window,
      layout: this.layout,
      theme: this.theme,
      scrollY: this.scroller.scrollTop,
      width: this.width,
      height: this.height,
      hovered: this.hovered,
      pinned: this.pinned,
      selection: this.selection,
      hits: this.hits,
      hit: this.hitRef(),
      launchedBy: () => (this.launched ??= new LaunchedBy(this.timeline)),
    };
    this.painter.paint(scene);
    this.canvas.dataset["drawMs"] = (performance.now() - began).toFixed(2);
    this.canvas.dataset["window"] = `${this.window.start},${this.window.end}`;
    this.canvas.dataset["gutter"] = String(this.layout.gutter);
  }

  /** The view is taken out of the page, and may come back. */
  leave(): void {
    hideTooltip();
    this.toolbar.stop();
    window.clearTimeout(this.addressTimer);
    cancelAnimationFrame(this.frame);
    this.frame = 0;
  }

  close(): void {
    this.leave();
    this.release();
  }
}
