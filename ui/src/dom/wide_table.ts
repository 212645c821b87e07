// Table headers stay visible. A table wider than the page scrolls inside its own frame, where its header and first
// column stay; all others scroll with the page, below the page's header.

const frames = new WeakMap<Element, () => void>();

// Created with the first table, because unit tests have no browser.
let observer: ResizeObserver | null = null;

export function watchWidth(frame: HTMLElement, table: HTMLElement): void {
  const settle = () => frame.classList.toggle("wide", table.offsetWidth > frame.clientWidth + 1);
  observer ??= new ResizeObserver((entries) => {
    for (const entry of entries) frames.get(entry.target)?.();
  });
  for (const element of [frame, table]) {
    frames.set(element, settle);
    observer.observe(element);
  }
}

/** Tracks the height of the page's header, below which other headers stay. */
export function followHeader(header: HTMLElement): void {
  const measure = () => document.documentElement.style.setProperty("--top", `${header.offsetHeight}px`);
  new ResizeObserver(measure).observe(header);
  measure();
}
