// A treemap with its text alternative: the largest tiles in words. The table below it has all of them.
import { treemap } from "../chart/treemap";
import { h } from "../dom/dom";
import { bytes } from "../format/figures";

export interface Piece {
  label: string;
  bytes: number;
  /** CSS colors that follow the theme. */
  color: string;
  textColor: string;
}

const FRAME = { width: 1000, height: 300 };
const MOST_NAMED = 5;

export function treemapFigure(what: string, pieces: Piece[]): HTMLElement {
  const tiles = treemap(pieces, (piece) => piece.bytes, FRAME);
  const named = tiles.slice(0, MOST_NAMED).map(({ item }) => `${item.label} ${bytes(item.bytes)}`);
  return h(
    "div",
    { class: "treemap", role: "img", "aria-label": `${what}, largest first: ${named.join(", ")}` },
    tiles.map(({ item, left, top, width, height }) => {
      const percent = (value: number, of: number) => `${((value / of) * 100).toFixed(4)}%`;
      return h(
        "div",
        {
          class: "tile",
          title: `${item.label}: ${bytes(item.bytes)}`,
          style:
            `left: ${percent(left, FRAME.width)}; top: ${percent(top, FRAME.height)}; ` +
            `width: ${percent(width, FRAME.width)}; height: ${percent(height, FRAME.height)}; ` +
            `background-color: ${item.color}; color: ${item.textColor}`,
        },
        // Styles hide what has no room.
        h("span", { class: "tile-name" }, item.label),
        h("span", { class: "tile-size" }, bytes(item.bytes)),
      );
    }),
  );
}
