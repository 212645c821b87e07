// A point of a chart: its place, its look, its text.
export interface Point {
  x: number;
  y: number;
  /** A second y value of the point, connected to y by a line. */
  y2?: number | null;
  color: () => string;
  radius: number;
  /** "above": beyond the upper end of the axis, drawn at its edge. */
  shape: "dot" | "square" | "ring" | "triangle" | "above";
  label?: string;
  lines: string[];
  onClick?: () => void;
}
