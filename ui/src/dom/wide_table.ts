// Headers of tables stay in sight. A table that is wider than the page scrolls inside of its own frame, in which its
// header and its first column stay; all others scroll with the page, below the page's header.

const frames = new WeakMap<Element, () => void>();

// Made when the first table is: tests of modules have no browser.
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

/** The height of the page's header, which other headers stand below. */
export function followHeader(header: HTMLElement): void {
  const measure = () => document.documentElement.style.setProperty("--top", `${header.offsetHeight}px`);
  new ResizeObserver(measure).observe(header);
  measure();
}
