// Keeps the keyboard focus when a filter or a sort order redraws a part of a view.

const FOCUSABLE = "a[href], button, select, input, summary, [tabindex]";

/** The name of a control, which stays the same when it is redrawn. */
function nameOf(element: HTMLElement): string {
  const label =
    element.getAttribute("aria-label") ??
    element.closest("label")?.querySelector("span")?.textContent ??
    element.textContent ??
    "";
  return `${element.tagName} ${element.dataset["focus"] ?? label}`;
}

/** Redraws a part of the page, then restores the focus to the control with the same name. */
export function keepFocus(container: HTMLElement, draw: () => void): void {
  const active = document.activeElement;
  const had = active instanceof HTMLElement && active !== container && container.contains(active) ? active : null;
  const name = had && nameOf(had);
  draw();
  if (!had || had.isConnected) return;
  const again = [...container.querySelectorAll<HTMLElement>(FOCUSABLE)].find((each) => nameOf(each) === name);
  (again ?? container.querySelector<HTMLElement>(FOCUSABLE))?.focus({ preventScroll: true });
}
