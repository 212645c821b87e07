// Keyboard access to the points of a chart: left and right move by one, Home and End go to the first and the last.
import type { Point } from "./point";

export interface PointKeys {
  /** The point selected by keyboard; null if the chart does not have the focus. */
  current: () => Point | null;
}

export function listenForPointKeys(
  element: HTMLElement,
  points: Point[],
  onMove: (point: Point | null) => void,
): PointKeys {
  const ordered = points.slice().sort((a, b) => a.x - b.x || a.y - b.y);
  let at = -1;

  const targets: Record<string, () => number> = {
    ArrowLeft: () => Math.max(0, at - 1),
    ArrowRight: () => Math.min(ordered.length - 1, at + 1),
    Home: () => 0,
    End: () => ordered.length - 1,
  };

  element.addEventListener("keydown", (event) => {
    const target = targets[event.key];
    if (ordered.length === 0) return;
    if (event.key === "Enter" && at >= 0) ordered[at]!.onClick?.();
    else if (target) {
      at = target();
      onMove(ordered[at]!);
    } else return;
    event.preventDefault();
  });
  element.addEventListener("blur", () => onMove(null));
  return { current: () => (document.activeElement === element && at >= 0 ? ordered[at]! : null) };
}
