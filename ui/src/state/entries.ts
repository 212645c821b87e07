// Entries of the tab's history. Each keeps its view as the reader left it (open rows, scrolled tables, the focused
// link), so that the back button returns to the place and not only to the view. A reload keeps only the address and
// the scroll position.
import type { MountedView } from "../app";

/** What an entry of the history shows. */
export interface Entry {
  key: string;
  view: string;
  mounted: MountedView;
}

interface Kept extends Entry {
  scroll: number;
  focused: HTMLElement | null;
  /** Scroll positions inside the view, which a detached element loses. */
  inner: { element: Element; top: number; left: number }[];
}

interface StoredState {
  key?: string;
  scroll?: number;
}

const MOST_KEPT = 12;
const SCROLLING = ".scroller, .side, .table-scroll, .heat-scroll";

let made = 0;

const stored = (): StoredState => (history.state ?? {}) as StoredState;

/** Names the current entry of the history. */
export function entryKey(): string {
  const { key } = stored();
  if (key) return key;
  const fresh = `${performance.timeOrigin}/${++made}`;
  history.replaceState({ ...stored(), key: fresh }, "");
  return fresh;
}

/** Browsers refuse more than about 100 history changes in 30 s. */
const SCROLL_DELAY_MS = 400;

/** For a reload: saves the scroll position shortly after each scroll. Leaving the page is too late for it. */
export function rememberScrolling(): void {
  let timer = 0;
  window.addEventListener("scroll", () => {
    window.clearTimeout(timer);
    const key = entryKey();
    timer = window.setTimeout(() => {
      if (entryKey() === key) history.replaceState({ ...stored(), scroll: window.scrollY }, "");
    }, SCROLL_DELAY_MS);
  });
}

const LOADING_MS = 3000;

/**
 * Scrolls to where the reader was before a reload, or to the top. Parts of a view load later, and until then the page
 * may be too short: it retries until it reaches the place or the reader goes elsewhere.
 */
export function scrollToRemembered(content: HTMLElement): void {
  const place = stored().scroll ?? 0;
  window.scrollTo(0, place);
  if (place === 0 || Math.abs(window.scrollY - place) < 1) return;
  const growing = new ResizeObserver(() => {
    window.scrollTo(0, place);
    if (Math.abs(window.scrollY - place) < 1) stop();
  });
  const gestures = ["wheel", "pointerdown", "keydown", "hashchange"];
  const stop = () => {
    growing.disconnect();
    window.clearTimeout(timer);
    for (const each of gestures) window.removeEventListener(each, stop);
  };
  const timer = window.setTimeout(stop, LOADING_MS);
  for (const each of gestures) window.addEventListener(each, stop);
  growing.observe(content);
}

/** Views that were left, by their entry of the history. */
export class KeptEntries {
  private readonly kept = new Map<string, Kept>();

  /** Call before the view is taken out of the page. */
  keep(entry: Entry): void {
    const { element } = entry.mounted;
    const active = document.activeElement;
    const inner = [...element.querySelectorAll(SCROLLING)].map((each) => ({
      element: each,
      top: each.scrollTop,
      left: each.scrollLeft,
    }));
    this.kept.set(entry.key, {
      ...entry,
      scroll: window.scrollY,
      focused: active instanceof HTMLElement && element.contains(active) ? active : null,
      inner,
    });
    entry.mounted.leave?.();
    if (this.kept.size <= MOST_KEPT) return;
    const [oldest] = this.kept.values();
    this.kept.delete(oldest!.key);
    oldest!.mounted.close?.();
  }

  /** The view as it was left; null if it was not, or too long ago. */
  take(key: string): Kept | null {
    const known = this.kept.get(key) ?? null;
    this.kept.delete(key);
    return known;
  }
}

/** Call when the view is back in the page. */
export function restorePlace(kept: Kept, fallback: HTMLElement): void {
  for (const { element, top, left } of kept.inner) element.scrollTo(left, top);
  (kept.focused ?? fallback).focus({ preventScroll: true });
  window.scrollTo(0, kept.scroll);
}
