// Names, colors and sentences of GPU memory.
import type { App } from "../app";
import { Palette } from "../data/palette";
import type { MemoryView } from "../data/view";
import { h } from "../dom/dom";

export interface MemoryWords {
  view: MemoryView;
  palette: Palette;
}

export function memoryWords(app: App): MemoryWords {
  const view = app.view.memory!;
  return { view, palette: new Palette({ classes: [], parts: view.parts }) };
}

export function partLabel({ palette }: MemoryWords, part: string): HTMLElement {
  return h(
    "span",
    { class: "with-swatch", title: palette.why(part) },
    h("span", { class: "swatch", style: `background-color: ${palette.css(part)}`, "aria-hidden": "true" }),
    palette.label(part),
  );
}

/** Bytes on an axis, without digits that say nothing: "20 GB". */
export function axisBytes(value: number): string {
  const prefixes = ["", "k", "M", "G", "T", "P"];
  let prefix = 0;
  let size = value;
  while (Math.abs(size) >= 1000 && prefix < prefixes.length - 1) {
    size /= 1000;
    prefix++;
  }
  return `${Number(size.toPrecision(4))} ${prefixes[prefix]}B`;
}

/** Times of an axis that spans so many ms: in s if that is long. */
export function axisTime(spanMs: number): { unit: string; text: (ms: number) => string } {
  return spanMs >= 2000
    ? { unit: "s", text: (ms) => String(Number((ms / 1000).toPrecision(6))) }
    : { unit: "ms", text: (ms) => String(Number(ms.toPrecision(6))) };
}
