// Colors of the canvas, which CSS does not reach.
import { isDark, textOn, type Palette } from "../data/palette";
import type { View } from "../data/view";

export interface CanvasTheme {
  background: string;
  band: string;
  text: string;
  muted: string;
  rule: string;
  accent: string;
  selection: string;
  /** Calls by kind, ranges, stages: not kernel classes, so no hues. */
  calls: string[];
  onCalls: string[];
  range: string;
  rangeAlternate: string;
  /** Spans too narrow to distinguish. */
  narrowSpans: string;
  area: string;
  areaLine: string;
  classes: string[];
  /** Text on each class's color. */
  onClasses: string[];
}

export function canvasTheme(view: View, palette: Palette): CanvasTheme {
  const dark = isDark();
  const classes = view.classes.map((each) => palette.now(each.id));
  const calls = dark ? ["#4a525e", "#8791a0", "#616b78", "#6f7a88"] : ["#c3c9d0", "#7d8794", "#a5adb7", "#939ca7"];
  return {
    background: dark ? "#15181e" : "#ffffff",
    band: dark ? "#1c2027" : "#f5f6f7",
    text: dark ? "#e4e6e9" : "#1b1e23",
    muted: dark ? "#9aa2ad" : "#5a626d",
    rule: dark ? "#2c323b" : "#dde0e4",
    accent: dark ? "#8ab8f0" : "#0a58a8",
    selection: dark ? "rgba(138,184,240,0.16)" : "rgba(10,88,168,0.10)",
    calls,
    onCalls: calls.map(textOn),
    range: dark ? "#2f3640" : "#e3e7eb",
    rangeAlternate: dark ? "#3a424e" : "#d2d8de",
    narrowSpans: dark ? "#353c47" : "#dadfe4",
    area: dark ? "#4a5b72" : "#b7c7da",
    areaLine: dark ? "#8ea6c2" : "#5b7693",
    classes,
    onClasses: classes.map(textOn),
  };
}
