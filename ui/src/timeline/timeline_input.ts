// How pointer, wheel and keys change the timeline.
import type { Span } from "./address";
import type { Target } from "./controls";
import type { Filter } from "./filter";
import type { RowRef } from "./model";
import { pick } from "./pick";
import type { TimelineCanvas } from "./timeline_canvas";
import { NO_FILTER, type TimelineState } from "./timeline_state";

const KEY_SCROLL = 40;

/** Actions of the view besides changing the state: it draws, fills the panels, updates the address. */
export interface TimelineActions {
  changeWindow: (change: () => void) => void;
  pin: (ref: RowRef | null) => void;
  pinAndReveal: (ref: RowRef) => void;
  select: (span: Span | null, done?: boolean) => void;
  setFilter: (filter: Filter) => void;
  goToHit: (forward: boolean) => void;
  showTooltip: (x: number, y: number, clientX: number, clientY: number) => void;
  hideTooltip: () => void;
  focusSearch: () => void;
}

export function timelineInput(state: TimelineState, drawn: TimelineCanvas, actions: TimelineActions): Target {
  function click(x: number, y: number): void {
    const gap = drawn.gapUnder(x, y);
    actions.pin(drawn.rowUnder(x, y));
    if (gap) actions.select([gap.start, gap.end]);
  }

  function select(from: number, to: number, done: boolean): void {
    actions.select([drawn.timeAt(Math.min(from, to)), drawn.timeAt(Math.max(from, to))], done);
  }

  /** A row of the first stream, in the middle of the visible span. */
  function firstRow(): RowRef | null {
    const { tracks } = state.timeline;
    const track = tracks.findIndex((each) => each.table === "slices" && each.count > 0);
    if (track < 0) return null;
    const middle = (state.window.start + state.window.end) / 2;
    const picked = pick(drawn.layout, middle, drawn.layout.tracks[track]!.y + 1, drawn.nsPerPixel);
    return picked ?? { track, row: tracks[track]!.first };
  }

  function stepRow(by: number): void {
    const ref = state.pinned ? state.neighborRow(state.pinned, by) : firstRow();
    if (ref) actions.pinAndReveal(ref);
  }

  function close(): void {
    if (state.pinned) actions.pin(null);
    else if (state.selection) actions.select(null);
    else actions.setFilter(NO_FILTER);
  }

  /** Returns whether it handled the key. */
  function key(name: string, shift: boolean): boolean {
    const { pinned, selection } = state;
    const stepping = document.activeElement === drawn.canvas || pinned;
    if (name === "/") actions.focusSearch();
    else if (name === "Escape") close();
    else if (name === "f" && pinned) actions.changeWindow(() => state.zoomTo(state.spanOf(pinned)));
    else if (name === "f" && selection) actions.changeWindow(() => state.window.set(...selection));
    else if (name === "0") actions.changeWindow(() => state.window.showAll());
    else if (name === "n" || name === "N") actions.goToHit(!shift);
    else if (name === "ArrowRight" && stepping) stepRow(1);
    else if (name === "ArrowLeft" && stepping) stepRow(-1);
    else if (name === "ArrowDown") drawn.scrollBy(KEY_SCROLL);
    else if (name === "ArrowUp") drawn.scrollBy(-KEY_SCROLL);
    else return false;
    return true;
  }

  const zoomAt = (factor: number, x: number) =>
    actions.changeWindow(() => state.window.zoom(factor, drawn.timeAt(Math.max(x, drawn.layout.gutter))));

  return {
    zoomAt,
    panPixels: (dx) => actions.changeWindow(() => state.window.pan(dx * drawn.nsPerPixel)),
    scroll: (dy) => drawn.scrollBy(dy),
    hover: actions.showTooltip,
    leave: actions.hideTooltip,
    click,
    select,
    jump: (x) => actions.changeWindow(() => state.jumpTo(drawn.timeOnMap(x))),
    key,
    width: () => drawn.width,
    gutter: () => drawn.layout.gutter,
  };
}
