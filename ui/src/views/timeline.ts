// The timeline: a canvas that draws what is visible, its search, and what is pinned or selected beside it.
import type { App, MountedView, ViewDescription } from "../app";
import { isServing } from "../data/profile";
import { h, replace } from "../dom/dom";
import { prose, swatch } from "../dom/parts";
import { hideTooltip, showTooltip } from "../dom/tooltip";
import { counted, count, duration } from "../format/figures";
import { setOptions } from "../state/fragment";
import { control } from "../timeline/controls";
import { describe, type RowRef } from "../timeline/describe";
import { layOut, TOP, type Layout } from "../timeline/layout";
import { beginningOf, hasTimeline, LaunchedBy, readTimeline, type TableName, type Timeline } from "../timeline/model";
import { Painter } from "../timeline/paint/painter";
import type { Scene } from "../timeline/paint/scene";
import { pinnedPanel, selectionPanel, tooltipOf } from "../timeline/panels";
import { pick } from "../timeline/pick";
import { nextHit, search, type Hits } from "../timeline/search";
import { sumSpan } from "../timeline/sums";
import { canvasTheme } from "../timeline/theme";
import { TimeWindow } from "../timeline/window";

const VIEW = "timeline";
/** Browsers refuse more than some 100 changes of the address in 30 s. */
const ADDRESS_DELAY_MS = 350;
const SEARCH_DELAY_MS = 120;

let reading: Promise<Timeline> | null = null;

function parsePair(text: string | null): [number, number] | null {
  const [from, to] = (text ?? "").split(",").map(Number);
  return from !== undefined && to !== undefined && Number.isFinite(from) && Number.isFinite(to) && to > from ? [from, to] : null;
}

class TimelineView {
  readonly element: HTMLElement;
  private readonly canvas = h("canvas", { class: "timeline", tabindex: "0", role: "application", "aria-label": "Timeline. w and s zoom, a and d pan, arrow keys go from one operation to the next, Escape closes, slash searches." });
  private readonly scroller: HTMLElement;
  private readonly spacer = h("div", { class: "spacer" });
  private readonly side = h("aside", { class: "side", "aria-label": "Details", "aria-live": "polite" });
  private readonly counts = h("span", { class: "counts muted", role: "status" });
  private readonly input = h("input", { type: "search", placeholder: "Search the whole capture", "aria-label": "Search the whole capture" });
  private readonly window: TimeWindow;
  private readonly painter: Painter;
  private layout: Layout;
  private theme;
  private launched: LaunchedBy | null = null;
  private hovered: RowRef | null = null;
  private pinned: RowRef | null = null;
  private selection: [number, number] | null = null;
  private hits: Hits | null = null;
  private hit: number | null = null;
  private frame = 0;
  private addressTimer = 0;
  private searchTimer = 0;
  private readonly release: () => void;
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
    const step = (forward: boolean) => h("button", { class: "plain", type: "button", "aria-label": forward ? "Next hit" : "Previous hit", onclick: () => this.goToHit(forward) }, forward ? "›" : "‹");
    const zoom = (factor: number, label: string, text: string) => h("button", { class: "plain", type: "button", "aria-label": label, title: label, onclick: () => this.zoomAt(factor, (this.width + this.layout.gutter) / 2) }, text);
    this.element = h(
      "div",
      { class: "timeline-view" },
      h("h1", { class: "offscreen" }, "Timeline"),
      h("div", { class: "tools" }, h("div", { class: "search" }, this.input, step(false), step(true), this.counts), h("div", { class: "zoom" }, zoom(1 / 2, "Zoom in (w)", "+"), zoom(2, "Zoom out (s)", "−"), h("button", { class: "plain", type: "button", onclick: () => this.showAll() }, "Whole capture")), h("p", { class: "help muted" }, "Wheel or w/s zoom, drag or a/d pan, shift-drag selects a span, click pins, arrows step, / searches")),
      timeline.clocks.length > 0 && h("p", { class: "notice", role: "note" }, `The clocks of these captures are unrelated: each begins at 0 (${timeline.clocks.map((clock) => clock.label).join("; ")}).`),
      h("div", { class: "stage" }, this.scroller, this.side),
      this.legend(),
    );
    this.input.addEventListener("input", () => {
      window.clearTimeout(this.searchTimer);
      this.searchTimer = window.setTimeout(() => this.setSearch(this.input.value), SEARCH_DELAY_MS);
    });
    this.input.addEventListener("keydown", (event) => {
      if (event.key === "Enter") {
        if (this.hits?.text !== this.input.value) this.setSearch(this.input.value);
        this.goToHit(!event.shiftKey);
      }
      if (event.key === "Escape") this.canvas.focus();
    });
    this.scroller.addEventListener("scroll", () => this.invalidate());
    this.release = control(this.canvas, {
      zoomAt: (factor, x) => this.zoomAt(factor, x),
      panPixels: (dx) => this.change(() => this.window.pan(dx * this.nsPerPixel)),
      scroll: (dy) => (this.scroller.scrollTop += dy),
      hover: (x, y, clientX, clientY) => this.hover(x, y, clientX, clientY),
      leave: () => this.leave(),
      click: (x, y) => this.pin(pick(this.layout, this.timeAt(x), y - TOP + this.scroller.scrollTop, this.nsPerPixel)),
      select: (from, to, done) => this.select(this.timeAt(Math.min(from, to)), this.timeAt(Math.max(from, to)), done),
      jump: (x) => this.jump(x),
      key: (key, shift) => this.key(key, shift),
      width: () => this.width,
      gutter: () => this.layout.gutter,
    });
    this.restore(options);
    void timeline.details.then(() => {
      this.complete = true;
      this.setSearch(this.input.value, false);
      this.drawSide();
      this.invalidate();
    });
  }

  /** The classes that occur in this capture. */
  private legend(): HTMLElement {
    const occurring = new Set(this.timeline.kernels.map((kernel) => kernel.class));
    const classes = this.app.view.classes.filter((_, index) => occurring.has(index));
    return h("div", { class: "legend", "aria-label": "Colors of kernel classes", role: "group" }, classes.map((each) => h("span", { class: "with-swatch" }, swatch(this.app, each.id), each.label)), h("span", { class: "muted" }, "Height is the busy share of a pixel's time"));
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

  restore(options: URLSearchParams): void {
    const shown = parsePair(options.get("t"));
    const at = parsePair(options.get("at"));
    if (shown) this.window.set(...shown);
    else if (at) {
      const beginning = beginningOf(this.timeline, (at[0] + at[1]) / 2);
      this.window.set(at[0] - beginning, at[1] - beginning);
    }
    this.selection = parsePair(options.get("sel"));
    this.pinned = this.parseRow(options.get("pin"));
    this.input.value = options.get("q") ?? "";
    this.setSearch(this.input.value, false);
    if (this.pinned && !shown && !at) this.reveal(this.pinned);
    this.drawSide();
    this.invalidate();
  }

  private parseRow(text: string | null): RowRef | null {
    const [table, number] = (text ?? "").split(":");
    const row = Number(number);
    const track = this.timeline.tracks.findIndex((each) => each.table === (table as TableName) && row >= each.first && row < each.first + each.count);
    return track < 0 ? null : { track, row };
  }

  /** Writes what is shown into the address, a little later. */
  private remember(): void {
    window.clearTimeout(this.addressTimer);
    this.addressTimer = window.setTimeout(() => {
      const pinned = this.pinned && `${this.timeline.tracks[this.pinned.track]!.table}:${this.pinned.row}`;
      const pair = (values: [number, number]) => values.map(Math.round).join(",");
      setOptions(VIEW, { t: pair([this.window.start, this.window.end]), at: null, sel: this.selection && pair(this.selection), pin: pinned, q: this.hits?.text });
    }, ADDRESS_DELAY_MS);
  }

  private hover(x: number, y: number, clientX: number, clientY: number): void {
    const before = this.hovered;
    this.hovered = x < this.layout.gutter || y < TOP ? null : pick(this.layout, this.timeAt(x), y - TOP + this.scroller.scrollTop, this.nsPerPixel);
    this.canvas.style.cursor = this.hovered ? "pointer" : y < TOP ? "default" : "grab";
    if (this.hovered && this.complete) showTooltip(clientX, clientY, tooltipOf(this.app, describe(this.timeline, this.app.view, this.hovered)));
    else hideTooltip();
    if (before?.row !== this.hovered?.row || before?.track !== this.hovered?.track) this.invalidate();
  }

  private leave(): void {
    hideTooltip();
    if (this.hovered) this.invalidate();
    this.hovered = null;
  }

  private pin(ref: RowRef | null): void {
    this.pinned = ref;
    this.drawSide();
    this.invalidate();
    this.remember();
  }

  private select(start: number, end: number, done: boolean): void {
    this.selection = [Math.round(start), Math.max(Math.round(start) + 1, Math.round(end))];
    if (done) {
      this.drawSide();
      this.remember();
    }
    this.invalidate();
  }

  private setSearch(text: string, remembers = true): void {
    // Enter may come before the pause after typing is over, which would begin from the first hit again.
    window.clearTimeout(this.searchTimer);
    this.hits = text ? search(this.timeline, text) : null;
    this.hit = null;
    this.drawCounts();
    this.invalidate();
    if (remembers) this.remember();
  }

  private drawCounts(): void {
    if (!this.hits) this.counts.textContent = "";
    else if (this.hits.count === 0) this.counts.textContent = "no hit";
    else this.counts.textContent = `${this.hit === null ? "" : `${count(this.hit + 1)} of `}${counted(this.hits.count, "hit")}, ${duration(this.hits.totalNs)} of GPU work`;
  }

  private goToHit(forward: boolean): void {
    if (!this.hits || this.hits.count === 0) return;
    this.hit = nextHit(this.hits, this.hit, forward ? this.window.start : this.window.end, forward);
    const ref = this.hitRef()!;
    this.pinned = ref;
    this.reveal(ref);
    this.drawCounts();
    this.drawSide();
  }

  private hitRef(): RowRef | null {
    return this.hits && this.hit !== null && this.hit >= 0 ? { track: this.hits.tracks[this.hit]!, row: this.hits.rows[this.hit]! } : null;
  }

  /** Brings a row into view; zooms in where it would be narrower than a few pixels. */
  private reveal(ref: RowRef, close = false): void {
    const track = this.timeline.tracks[ref.track]!;
    const start = track.start[ref.row]!;
    const length = track.duration ? track.duration[ref.row]! : 0;
    const widest = close ? Math.max(length * 1.6, 50) : Math.min(this.window.width, Math.max(length * 60, 2000));
    const width = close ? widest : Math.max(widest, length * 1.3);
    const middle = start + length / 2;
    if (close || width < this.window.width || start < this.window.start || start + length > this.window.end) this.window.set(middle - width / 2, middle + width / 2);
    const placed = this.layout.tracks[ref.track];
    if (placed) {
      const visible = this.height - TOP;
      if (placed.y < this.scroller.scrollTop) this.scroller.scrollTop = placed.y - 8;
      else if (placed.y + placed.height > this.scroller.scrollTop + visible) this.scroller.scrollTop = placed.y + placed.height - visible + 8;
    }
    this.invalidate();
    this.remember();
  }

  private key(key: string, shift: boolean): boolean {
    if (key === "/") this.input.focus();
    else if (key === "Escape") {
      if (this.pinned) this.pin(null);
      else {
        this.selection = null;
        this.drawSide();
        this.change(() => undefined);
      }
    } else if (key === "f" && this.pinned) this.reveal(this.pinned, true);
    else if (key === "f" && this.selection) this.change(() => this.window.set(...this.selection!));
    else if (key === "0") this.showAll();
    else if (key === "n" || key === "N") this.goToHit(!shift);
    else if ((key === "ArrowRight" || key === "ArrowLeft") && (document.activeElement === this.canvas || this.pinned)) this.stepRow(key === "ArrowRight" ? 1 : -1);
    else if (key === "ArrowDown" || key === "ArrowUp") this.scroller.scrollTop += key === "ArrowDown" ? 40 : -40;
    else return false;
    return true;
  }

  private stepRow(by: number): void {
    let ref = this.pinned;
    if (!ref) {
      const track = this.timeline.tracks.findIndex((each) => each.table === "slices" && each.count > 0);
      if (track < 0) return;
      ref = pick(this.layout, (this.window.start + this.window.end) / 2, this.layout.tracks[track]!.y + 1, this.nsPerPixel) ?? { track, row: this.timeline.tracks[track]!.first };
    } else {
      const track = this.timeline.tracks[ref.track]!;
      ref = { track: ref.track, row: Math.min(Math.max(ref.row + by, track.first), track.first + track.count - 1) };
    }
    this.pin(ref);
    this.reveal(ref);
  }

  private drawSide(): void {
    const blocks: HTMLElement[] = [];
    const { pinned, selection } = this;
    if (pinned && this.complete) blocks.push(pinnedPanel(this.app, describe(this.timeline, this.app.view, pinned), () => this.pin(null), () => this.reveal(pinned, true)));
    if (selection) {
      const clear = () => {
        this.selection = null;
        this.drawSide();
        this.change(() => undefined);
      };
      blocks.push(selectionPanel(this.app, this.timeline, sumSpan(this.timeline, ...selection), clear, () => this.change(() => this.window.set(...selection))));
    }
    const had = this.side.childElementCount > 0;
    replace(this.side, blocks);
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
  }

  close(): void {
    hideTooltip();
    this.release();
    window.clearTimeout(this.addressTimer);
    window.clearTimeout(this.searchTimer);
    cancelAnimationFrame(this.frame);
  }
}

function stepWords(app: App, index: number): string {
  const step = app.recorded.steps[index];
  if (!step) return `step ${index}`;
  return isServing(app.recorded) ? `engine step ${step.instance}` : `step ${step.step_of_instance}`;
}

function mount(app: App, options: URLSearchParams): MountedView {
  const element = h("div", { class: "timeline-mount" });
  if (!hasTimeline() && !reading) {
    const why = app.view.timeline_missing ?? "The page was made without the captures: `llmprof report RUN` reads them again.";
    replace(element, h("div", { class: "view" }, h("h1", {}, "Timeline"), h("p", { class: "not-known" }, "The timeline is missing. ", prose(why))));
    return { element };
  }
  let view: TimelineView | null = null;
  let closed = false;
  let latest = options;
  replace(element, h("p", { class: "muted", role: "status" }, "Reading the timeline..."));
  reading ??= readTimeline((index) => stepWords(app, index));
  reading.then(
    (timeline) => {
      if (closed) return;
      view = new TimelineView(app, timeline, latest);
      replace(element, view.element);
      view.resize();
      element.dataset["ready"] = "drawn";
      performance.mark("llmprof-timeline");
      void timeline.details.then(() => (element.dataset["ready"] = "true"));
    },
    (error: unknown) => replace(element, h("p", { class: "warning", role: "alert" }, `The timeline could not be read: ${error instanceof Error ? error.message : String(error)}`)),
  );
  return {
    element,
    onPlace: (next) => {
      latest = next;
      view?.restore(next);
    },
    redraw: () => view?.resize(),
    close: () => {
      closed = true;
      view?.close();
    },
  };
}

export const timelineView: ViewDescription = { id: VIEW, title: "Timeline", mount };
