// Ranks by steps on a canvas: one row per rank, one column per bin of steps. The pointer and the arrow keys describe a
// cell.
import { isDark } from "../data/palette";
import { h } from "../dom/dom";
import { hideTooltip, showTooltip } from "../dom/tooltip";
import type { HeatValues } from "./heat_values";

export interface Cell {
  row: number;
  bin: number;
}

export interface HeatMapOptions {
  label: string;
  /** Describes a cell in lines of text. */
  describe: (cell: Cell) => string[];
  /** The stage of a bin, for the band above the map. */
  stageOf: (bin: number) => string | null;
  binLabel: (bin: number) => string;
  onChoose: (cell: Cell) => void;
}

export interface HeatMap {
  element: HTMLElement;
  show: (values: HeatValues, chosen: Cell | null) => void;
  redraw: () => void;
}

type Rgb = [number, number, number];

const GUTTER = 62;
const STAGE_BAND = 18;
const AXIS = 20;
const SMALLEST_ROW = 3;
const LARGEST_ROW = 26;
const WANTED_HEIGHT = 360;
const LABEL_ROW = 13;

const COLORS = {
  light: {
    low: [246, 247, 249],
    high: [10, 88, 168],
    less: [10, 107, 176],
    more: [184, 71, 15],
    text: "#1b1e23",
    muted: "#5a626d",
    rule: "#b9bfc7",
    none: "#dde0e4",
    cursor: "#1b1e23",
  },
  dark: {
    low: [28, 32, 39],
    high: [138, 184, 240],
    less: [111, 183, 242],
    more: [242, 160, 99],
    text: "#e4e6e9",
    muted: "#9aa2ad",
    rule: "#454d59",
    none: "#2c323b",
    cursor: "#ffffff",
  },
} as const;

const mixed = (from: readonly number[], to: readonly number[], share: number): Rgb =>
  [0, 1, 2].map((i) => Math.round(from[i]! + (to[i]! - from[i]!) * share)) as Rgb;

function colorOf(value: number, values: HeatValues, colors: (typeof COLORS)["light" | "dark"]): Rgb {
  const share = Math.min(1, Math.abs(value) / values.scale);
  if (!values.diverging) return mixed(colors.low, colors.high, share);
  return mixed(colors.low, value < 0 ? colors.less : colors.more, share);
}

export function heatMap(options: HeatMapOptions): HeatMap {
  const canvas = h("canvas", {
    class: "heat-canvas",
    tabindex: "0",
    role: "application",
    "aria-roledescription": "heat map",
    "aria-label": `${options.label}. Arrow keys go from cell to cell, Enter chooses one.`,
  });
  const text = h("p", { class: "muted heat-text", "aria-live": "polite" }, "Point at a cell, or use the arrow keys.");
  const scroller = h("div", { class: "heat-scroll" }, canvas);
  const element = h("div", { class: "heat-block" }, scroller, text);
  let values: HeatValues | null = null;
  let cursor: Cell | null = null;
  let rowHeight = LARGEST_ROW;
  let width = 0;

  const plotWidth = () => width - GUTTER - 4;
  const cellWidth = () => plotWidth() / Math.max(1, values?.bins ?? 1);

  function cellAt(event: MouseEvent): Cell | null {
    if (!values) return null;
    const box = canvas.getBoundingClientRect();
    const bin = Math.floor((event.clientX - box.left - GUTTER) / cellWidth());
    const row = Math.floor((event.clientY - box.top - STAGE_BAND) / rowHeight);
    return bin >= 0 && bin < values.bins && row >= 0 && row < values.ranks.length ? { row, bin } : null;
  }

  /** Draws one pixel per cell, then stretches it: fast enough for a thousand ranks by 512 bins. */
  function picture(own: HeatValues): HTMLCanvasElement {
    const small = document.createElement("canvas");
    small.width = own.bins;
    small.height = own.ranks.length;
    const context = small.getContext("2d")!;
    const pixels = context.createImageData(own.bins, own.ranks.length);
    const colors = COLORS[isDark() ? "dark" : "light"];
    for (let i = 0; i < own.values.length; i++) {
      const value = own.values[i]!;
      if (Number.isNaN(value)) continue;
      const [red, green, blue] = colorOf(value, own, colors);
      pixels.data.set([red, green, blue, 255], 4 * i);
    }
    context.putImageData(pixels, 0, 0);
    return small;
  }

  function drawStages(
    context: CanvasRenderingContext2D,
    own: HeatValues,
    colors: (typeof COLORS)["light" | "dark"],
  ): void {
    let first = 0;
    for (let bin = 1; bin <= own.bins; bin++) {
      const stage = options.stageOf(first);
      if (bin < own.bins && options.stageOf(bin) === stage) continue;
      const x = GUTTER + first * cellWidth();
      const end = GUTTER + bin * cellWidth();
      context.fillStyle = colors.rule;
      context.fillRect(x, 0, 1, STAGE_BAND + own.ranks.length * rowHeight);
      if (stage && context.measureText(stage).width + 8 < end - x) {
        context.fillStyle = colors.muted;
        context.fillText(stage, x + 5, STAGE_BAND / 2);
      }
      first = bin;
    }
  }

  function drawLabels(
    context: CanvasRenderingContext2D,
    own: HeatValues,
    colors: (typeof COLORS)["light" | "dark"],
  ): void {
    const every = Math.max(1, Math.ceil(LABEL_ROW / rowHeight));
    context.fillStyle = colors.muted;
    own.ranks.forEach((rank, row) => {
      if (row % every === 0) context.fillText(`rank ${rank}`, 2, STAGE_BAND + (row + 0.5) * rowHeight);
    });
    const y = STAGE_BAND + own.ranks.length * rowHeight + AXIS / 2;
    const labels = Math.max(1, Math.min(own.bins, Math.floor(plotWidth() / 110)));
    for (let i = 0; i < labels; i++) {
      const bin = Math.floor((i * own.bins) / labels);
      context.fillText(options.binLabel(bin), GUTTER + bin * cellWidth() + 2, y);
    }
  }

  function draw(): void {
    if (!values || values.bins === 0) return;
    const own = values;
    width = Math.max(240, scroller.clientWidth || 960);
    rowHeight = Math.max(SMALLEST_ROW, Math.min(LARGEST_ROW, Math.floor(WANTED_HEIGHT / own.ranks.length)));
    const height = STAGE_BAND + own.ranks.length * rowHeight + AXIS;
    const ratio = window.devicePixelRatio || 1;
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    canvas.style.width = `${width}px`;
    canvas.style.height = `${height}px`;
    const context = canvas.getContext("2d")!;
    const colors = COLORS[isDark() ? "dark" : "light"];
    context.scale(ratio, ratio);
    context.font = "11px system-ui, sans-serif";
    context.textBaseline = "middle";
    context.fillStyle = colors.none;
    context.fillRect(GUTTER, STAGE_BAND, plotWidth(), own.ranks.length * rowHeight);
    context.imageSmoothingEnabled = false;
    context.drawImage(picture(own), GUTTER, STAGE_BAND, plotWidth(), own.ranks.length * rowHeight);
    drawStages(context, own, colors);
    drawLabels(context, own, colors);
    if (!cursor) return;
    context.strokeStyle = colors.cursor;
    context.lineWidth = 2;
    context.strokeRect(
      GUTTER + cursor.bin * cellWidth(),
      STAGE_BAND + cursor.row * rowHeight,
      Math.max(3, cellWidth()),
      rowHeight,
    );
  }

  function moveTo(cell: Cell): void {
    cursor = cell;
    text.textContent = options.describe(cell).join("; ");
    draw();
  }

  canvas.addEventListener("mousemove", (event) => {
    const cell = cellAt(event);
    if (cell) {
      const [head, ...lines] = options.describe(cell);
      showTooltip(
        event.clientX,
        event.clientY,
        h("strong", {}, head),
        lines.map((line) => h("div", {}, line)),
      );
    } else hideTooltip();
  });
  canvas.addEventListener("mouseleave", hideTooltip);
  canvas.addEventListener("click", (event) => {
    const cell = cellAt(event);
    if (!cell) return;
    moveTo(cell);
    options.onChoose(cell);
  });
  canvas.addEventListener("keydown", (event) => {
    if (!values || values.bins === 0) return;
    const steps: Record<string, [number, number]> = {
      ArrowLeft: [0, -1],
      ArrowRight: [0, 1],
      ArrowUp: [-1, 0],
      ArrowDown: [1, 0],
      PageUp: [-8, 0],
      PageDown: [8, 0],
      Home: [0, -values.bins],
      End: [0, values.bins],
    };
    const step = steps[event.key];
    if (event.key === "Enter" && cursor) options.onChoose(cursor);
    else if (step)
      moveTo(
        cursor
          ? {
              row: Math.max(0, Math.min(values.ranks.length - 1, cursor.row + step[0])),
              bin: Math.max(0, Math.min(values.bins - 1, cursor.bin + step[1])),
            }
          : { row: 0, bin: 0 },
      );
    else return;
    event.preventDefault();
  });

  return {
    element,
    show: (next, chosen) => {
      values = next;
      if (chosen) cursor = chosen;
      draw();
    },
    redraw: draw,
  };
}
