// A point of a chart: where it lies, how it looks, what it says.
export interface Point {
  x: number;
  y: number;
  /** A second value of the same point, drawn as a line from y to it. */
  y2?: number | null;
  color: () => string;
  radius: number;
  /** "above": beyond the upper end of the axis, at its edge. */
  shape: "dot" | "square" | "ring" | "triangle" | "above";
  label?: string;
  lines: string[];
  onClick?: () => void;
}
