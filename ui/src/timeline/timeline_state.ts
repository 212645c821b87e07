// The state of the timeline: the visible span, and what is pinned, selected, hovered and found. No DOM, no pixels.
import type { Place, Span } from "./address";
import { type Filter, find, type Hits, isEmpty, nextHit } from "./filter";
import type { RowRef, Timeline } from "./model";
import { TimeWindow } from "./window";

export const NO_FILTER: Filter = { text: "", classes: [], stage: "", layer: "" };
/** Room on each side of what is zoomed to, as a share of it. */
const ZOOM_ROOM = 0.3;
/** The longest visible span for a revealed row: this many times its length, but at least REVEALED_NS. */
const REVEALED_LENGTHS = 60;
const REVEALED_NS = 2000;
const LEAST_ROW_NS = 50;

const same = (a: Filter, b: Filter): boolean => JSON.stringify(a) === JSON.stringify(b);

export class TimelineState {
  readonly window: TimeWindow;
  hovered: RowRef | null = null;
  pinned: RowRef | null = null;
  selection: Span | null = null;
  filter: Filter = NO_FILTER;
  hits: Hits | null = null;
  /** The current hit. */
  hit: number | null = null;

  constructor(readonly timeline: Timeline) {
    this.window = new TimeWindow(timeline.spanNs);
  }

  get place(): Place {
    const { window, selection, pinned, filter } = this;
    return { shown: [window.start, window.end], selection, pinned, filter };
  }

  restore(place: Place): void {
    if (place.shown) this.window.set(...place.shown);
    this.selection = place.selection;
    this.pinned = place.pinned;
    this.setFilter(place.filter);
  }

  /** Returns whether the hovered row changed. */
  hover(ref: RowRef | null): boolean {
    const before = this.hovered;
    this.hovered = ref;
    return before?.row !== ref?.row || before?.track !== ref?.track;
  }

  select(span: Span | null): void {
    const start = span && Math.round(span[0]);
    this.selection = span && start !== null ? [start, Math.max(start + 1, Math.round(span[1]))] : null;
  }

  /** Retries a filter that found nothing: the details may have added rows. */
  setFilter(filter: Filter): void {
    this.filter = filter;
    if (this.hits && this.hits.count > 0 && same(this.hits.filter, filter)) return;
    this.hits = isEmpty(filter) ? null : find(this.timeline, filter);
    this.hit = null;
  }

  /** Pins the next or previous hit; null if there is none. */
  goToHit(forward: boolean): RowRef | null {
    if (!this.hits || this.hits.count === 0) return null;
    this.hit = nextHit(this.hits, this.hit, forward ? this.window.start : this.window.end, forward);
    this.pinned = this.hitRef;
    return this.pinned;
  }

  get hitRef(): RowRef | null {
    if (!this.hits || this.hit === null || this.hit < 0) return null;
    return { track: this.hits.tracks[this.hit]!, row: this.hits.rows[this.hit]! };
  }

  spanOf({ track: index, row }: RowRef): Span {
    const track = this.timeline.tracks[index]!;
    const start = track.start[row]!;
    return [start, start + Math.max(track.duration?.[row] ?? 0, LEAST_ROW_NS)];
  }

  /** The row `by` places after another one, limited to its track. */
  neighborRow(ref: RowRef, by: number): RowRef {
    const { first, count } = this.timeline.tracks[ref.track]!;
    return { track: ref.track, row: Math.min(Math.max(ref.row + by, first), first + count - 1) };
  }

  zoomTo([start, end]: Span): void {
    const room = (end - start) * ZOOM_ROOM;
    this.window.set(start - room, end + room);
  }

  /** Centers the visible span on a time, with the same width. */
  jumpTo(middle: number): void {
    const half = this.window.width / 2;
    this.window.set(middle - half, middle + half);
  }

  /** Brings a row into the visible span; zooms in if it would be narrower than a few pixels. */
  reveal(ref: RowRef): void {
    const { window } = this;
    const track = this.timeline.tracks[ref.track]!;
    const start = track.start[ref.row]!;
    const length = track.duration ? track.duration[ref.row]! : 0;
    const wanted = Math.max(length * REVEALED_LENGTHS, REVEALED_NS);
    const width = Math.max(Math.min(window.width, wanted), length * 1.3);
    const middle = start + length / 2;
    const visible = start >= window.start && start + length <= window.end;
    if (width < window.width || !visible) window.set(middle - width / 2, middle + width / 2);
  }
}
