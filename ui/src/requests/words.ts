// Names, colors and sentences of a client's requests.
import type { App } from "../app";
import { Palette } from "../data/palette";
import type { RequestsView } from "../data/view";
import { h } from "../dom/dom";
import { fixed } from "../format/figures";
import { bySize, inOrder, NO_PART, type Parts } from "./model";

const NEUTRAL = { light: "#aab2bc", dark: "#59626f" };

export interface RequestWords {
  view: RequestsView;
  palette: Palette;
}

export function requestWords(app: App): RequestWords {
  const view = app.view.requests!;
  const parts = { ...view.parts, [NO_PART]: { label: "waiting", class: null, color: NEUTRAL } };
  return { view, palette: new Palette({ classes: [], parts }) };
}

/** Whole nanoseconds in ms, as in report.md. */
export const nsInMs = (ns: number | null): string => (ns === null ? "-" : fixed(ns / 1e6, 3));

export const swatchOf = (words: RequestWords, part: string): HTMLElement =>
  h("span", { class: "swatch", style: `background-color: ${words.palette.css(part)}`, "aria-hidden": "true" });

/** "prefill of others 32.112 ms, host 0.411 ms" */
export const largestParts = (words: RequestWords, parts: Parts, most = 3): string =>
  bySize(parts)
    .slice(0, most)
    .map(([part, ns]) => `${words.palette.label(part)} ${nsInMs(ns)} ms`)
    .join(", ");

/** Parts as one bar, `width` of it in use. */
export function partsBar(words: RequestWords, parts: Parts, width = 1): HTMLElement {
  const all = Object.values(parts).reduce((sum, ns) => sum + ns, 0);
  return h(
    "div",
    { class: "parts-bar", style: `width: ${width * 100}%` },
    inOrder(parts).map(([part, ns]) =>
      h("span", {
        class: "part",
        style: `flex: ${ns / all} 0 0; background-color: ${words.palette.css(part)}`,
        title: `${words.palette.label(part)}: ${nsInMs(ns)} ms`,
      }),
    ),
  );
}

export function legend(words: RequestWords, parts: string[]): HTMLElement {
  return h(
    "div",
    { class: "legend-line" },
    parts.map((part) =>
      h(
        "span",
        { class: "with-swatch", title: words.palette.why(part) },
        swatchOf(words, part),
        words.palette.label(part),
      ),
    ),
  );
}
