// Parts of a view are drawn anew when a filter or a sort order changes; who works by keyboard stays where they were.

const FOCUSABLE = "a[href], button, select, input, summary, [tabindex]";

/** What a control is called, which stays the same when it is drawn anew. */
function nameOf(element: HTMLElement): string {
  const label =
    element.getAttribute("aria-label") ??
    element.closest("label")?.querySelector("span")?.textContent ??
    element.textContent ??
    "";
  return `${element.tagName} ${element.dataset["focus"] ?? label}`;
}

/** Draws a part of the page anew; the control in it that had the focus, by its name, has it again. */
export function keepFocus(container: HTMLElement, draw: () => void): void {
  const active = document.activeElement;
  const had = active instanceof HTMLElement && active !== container && container.contains(active) ? active : null;
  const name = had && nameOf(had);
  draw();
  if (!had || had.isConnected) return;
  const again = [...container.querySelectorAll<HTMLElement>(FOCUSABLE)].find((each) => nameOf(each) === name);
  (again ?? container.querySelector<HTMLElement>(FOCUSABLE))?.focus({ preventScroll: true });
}
