// The timeline: its visible part on a canvas (timeline_canvas), pinned and selected rows next to it, search above it.
// Pointer and keys (timeline_input) change its state (timeline_state), which is in the address.
import type { App } from "../app";
import { h, replace } from "../dom/dom";
import { keepFocus } from "../dom/keep_focus";
import { hideTooltip, showTooltip } from "../dom/tooltip";
import { setOptions } from "../state/fragment";
import { placeOptions, readPlace, type Span } from "./address";
import { control } from "./controls";
import { describe } from "./describe";
import type { Filter } from "./filter";
import { TOP } from "./layout";
import type { RowRef, Timeline } from "./model";
import type { PanelActions } from "./panels/panel";
import { pinnedPanel } from "./panels/pinned";
import { selectionPanels } from "./panels/selection";
import { gapTooltip, rowTooltip } from "./panels/tooltip";
import { sumSpan } from "./sums";
import { TimelineCanvas } from "./timeline_canvas";
import { timelineInput } from "./timeline_input";
import { TimelineState } from "./timeline_state";
import { Toolbar } from "./toolbar";

export const VIEW = "timeline";
/** Browsers refuse more than about 100 address changes in 30 s. */
const ADDRESS_DELAY_MS = 350;

export class TimelineView {
  readonly element: HTMLElement;
  private readonly state: TimelineState;
  private readonly drawn: TimelineCanvas;
  private readonly toolbar: Toolbar;
  private readonly side = h("aside", { class: "side", "aria-label": "Details", "aria-live": "polite" });
  private readonly release: () => void;
  private readonly actions: PanelActions = {
    unpin: () => this.pin(null),
    deselect: () => this.select(null),
    pin: (ref) => this.pinAndReveal(ref),
    zoomTo: (span) => this.changeWindow(() => this.state.zoomTo(span)),
  };
  private addressTimer = 0;
  /** Whether the columns that only details need are read. */
  private complete = false;

  constructor(
    private readonly app: App,
    private readonly timeline: Timeline,
    options: URLSearchParams,
  ) {
    this.state = new TimelineState(timeline);
    this.drawn = new TimelineCanvas(app, this.state);
    const input = timelineInput(this.state, this.drawn, {
      changeWindow: (change) => this.changeWindow(change),
      pin: (ref) => this.pin(ref),
      pinAndReveal: (ref) => this.pinAndReveal(ref),
      select: (span, done) => this.select(span, done),
      setFilter: (filter) => this.setFilter(filter),
      goToHit: (forward) => this.goToHit(forward),
      showTooltip: (x, y, clientX, clientY) => this.hover(x, y, clientX, clientY),
      hideTooltip: () => this.unhover(),
      focusSearch: () => this.toolbar.focusSearch(),
    });
    this.toolbar = new Toolbar(app, timeline, {
      filter: (changes) => this.setFilter({ ...this.state.filter, ...changes }),
      goToHit: (forward) => this.goToHit(forward),
      zoom: (factor) => input.zoomAt(factor, (this.drawn.width + this.drawn.layout.gutter) / 2),
      showAll: () => this.changeWindow(() => this.state.window.showAll()),
      focusCanvas: () => this.drawn.canvas.focus(),
    });
    this.element = h(
      "div",
      { class: "timeline-view" },
      h("h1", { class: "offscreen" }, "Timeline"),
      this.toolbar.tools,
      this.clocksNotice(),
      h("div", { class: "stage" }, this.drawn.element, this.side),
      this.toolbar.legend,
    );
    this.release = control(this.drawn.canvas, input);
    this.restore(options);
    void timeline.details.then(() => {
      this.complete = true;
      this.drawFilter(this.state.filter);
      this.drawSide();
      this.drawn.invalidate();
    });
  }

  private clocksNotice(): HTMLElement | null {
    const { clocks } = this.timeline;
    if (clocks.length === 0) return null;
    const labels = clocks.map((clock) => clock.label).join("; ");
    const words = `The clocks of these captures are unrelated: each begins at 0 (${labels}).`;
    return h("p", { class: "notice", role: "note" }, words);
  }

  private restore(options: URLSearchParams): void {
    const place = readPlace(this.app, this.timeline, options);
    this.state.restore(place);
    this.drawFilter(place.filter);
    if (place.pinned && !place.shown) this.reveal(place.pinned);
    this.drawSide();
    this.drawn.invalidate();
  }

  /** Writes the state into the address, a little later. */
  private remember(): void {
    const write = () => setOptions(VIEW, placeOptions(this.app, this.timeline, this.state.place));
    window.clearTimeout(this.addressTimer);
    this.addressTimer = window.setTimeout(write, ADDRESS_DELAY_MS);
  }

  private changeWindow(change: () => void): void {
    change();
    this.drawn.invalidate();
    this.remember();
  }

  private hover(x: number, y: number, clientX: number, clientY: number): void {
    const row = this.drawn.rowUnder(x, y);
    const gap = row ? null : this.drawn.gapUnder(x, y);
    this.drawn.canvas.style.cursor = row || gap ? "pointer" : y < TOP ? "default" : "grab";
    const words = row
      ? () => rowTooltip(this.app, describe(this.timeline, this.app.view, row))
      : gap && (() => gapTooltip(this.app, gap));
    if (words && this.complete) showTooltip(clientX, clientY, words());
    else hideTooltip();
    if (this.state.hover(row)) this.drawn.invalidate();
  }

  private unhover(): void {
    hideTooltip();
    if (this.state.hover(null)) this.drawn.invalidate();
  }

  private pin(ref: RowRef | null): void {
    this.state.pinned = ref;
    this.drawSide();
    this.drawn.invalidate();
    this.remember();
  }

  private pinAndReveal(ref: RowRef): void {
    this.pin(ref);
    this.reveal(ref);
  }

  private reveal(ref: RowRef): void {
    this.changeWindow(() => this.state.reveal(ref));
    this.drawn.scrollToTrack(ref.track);
  }

  private select(span: Span | null, done = true): void {
    this.state.select(span);
    if (done) {
      this.drawSide();
      this.remember();
    }
    this.drawn.invalidate();
  }

  private setFilter(filter: Filter): void {
    this.drawFilter(filter);
    this.remember();
  }

  private drawFilter(filter: Filter): void {
    this.toolbar.stop();
    this.state.setFilter(filter);
    this.toolbar.draw(filter);
    this.toolbar.drawCounts(this.state.hits, this.state.hit);
    this.drawn.invalidate();
  }

  private goToHit(forward: boolean): void {
    const ref = this.state.goToHit(forward);
    if (!ref) return;
    this.reveal(ref);
    this.toolbar.drawCounts(this.state.hits, this.state.hit);
    this.drawSide();
  }

  private drawSide(): void {
    const { pinned, selection } = this.state;
    const { app, timeline, actions } = this;
    const blocks: HTMLElement[] = [];
    if (pinned && this.complete) blocks.push(pinnedPanel(app, timeline, pinned, actions));
    if (selection && this.complete) {
      blocks.push(...selectionPanels(app, timeline, sumSpan(timeline, ...selection), actions));
    }
    const had = this.side.childElementCount > 0;
    keepFocus(this.side, () => replace(this.side, blocks));
    this.side.hidden = blocks.length === 0;
    if (had !== blocks.length > 0) this.resize();
  }

  resize(): void {
    this.drawn.resize();
  }

  /** Called when the view is taken out of the page; it may come back. */
  leave(): void {
    hideTooltip();
    this.toolbar.stop();
    window.clearTimeout(this.addressTimer);
    this.drawn.stop();
  }

  close(): void {
    this.leave();
    this.release();
  }
}
