// Points on two axes. uPlot provides scales, axes and zoom by dragging; points are drawn here, for their shapes and
// sizes.
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { h } from "../dom/dom";
import { hideTooltip, showTooltip } from "../dom/tooltip";
import { isDark } from "../data/palette";
import type { Point } from "./point";
import { listenForPointKeys } from "./point_keys";

export interface Line {
  points: [number, number][];
  dashed?: boolean;
  label?: string;
  labelAt?: "start" | "end" | "middle";
  color?: () => string;
}

export interface ScatterOptions {
  label: string;
  xTitle: string;
  yTitle: string;
  log: boolean;
  /** Only the vertical axis is logarithmic. */
  logY?: boolean;
  xRange: [number, number];
  yRange: [number, number];
  xText: (value: number) => string;
  yText: (value: number) => string;
  points: Point[];
  lines: Line[];
  height: number;
}

export interface Scatter {
  element: HTMLElement;
  redraw: () => void;
  destroy: () => void;
}

const REACH_PIXELS = 18;
const FONT = "11px system-ui, sans-serif";
const LEAST_AXIS = 36;
/** Room next to an axis label for ticks and gaps. */
const AXIS_ROOM = 14;

let ruler: CanvasRenderingContext2D | null = null;

function textWidth(text: string): number {
  ruler ??= document.createElement("canvas").getContext("2d")!;
  ruler.font = FONT;
  return ruler.measureText(text).width;
}

export const chartColors = {
  text: () => (isDark() ? "#e4e6e9" : "#1b1e23"),
  muted: () => (isDark() ? "#9aa2ad" : "#5a626d"),
  rule: () => (isDark() ? "#2c323b" : "#e3e6e9"),
  warning: () => (isDark() ? "#f0a050" : "#b35a00"),
  background: () => (isDark() ? "#15181e" : "#ffffff"),
};

export function scatter(options: ScatterOptions): Scatter {
  const announcement = h("p", { class: "offscreen", "aria-live": "polite" });
  const element = h(
    "div",
    {
      class: "chart",
      role: "application",
      "aria-roledescription": "chart",
      tabindex: "0",
      "aria-label": `${options.label}. Left and right arrow keys go from point to point.`,
    },
    announcement,
  );
  let chart: uPlot | null = null;
  const keys = listenForPointKeys(element, options.points, (point) => {
    announcement.textContent = point ? point.lines.join("; ") : "";
    chart?.redraw(false, false);
    if (point && chart) {
      const box = chart.over.getBoundingClientRect();
      showPoint(point, box.left + chart.valToPos(point.x, "x"), box.top + chart.valToPos(point.y, "y"));
    } else hideTooltip();
  });

  const showPoint = (point: Point, x: number, y: number): void =>
    showTooltip(
      x,
      y,
      point.lines.map((line, index) => h(index === 0 ? "strong" : "div", {}, line)),
    );

  function drawPoints(u: uPlot): void {
    const context = u.ctx;
    const ratio = uPlot.pxRatio;
    context.save();
    context.beginPath();
    context.rect(u.bbox.left, u.bbox.top, u.bbox.width, u.bbox.height);
    context.clip();
    context.font = `${11 * ratio}px system-ui, sans-serif`;
    context.textBaseline = "bottom";
    for (const line of options.lines) {
      context.strokeStyle = (line.color ?? chartColors.muted)();
      context.lineWidth = ratio * 1.25;
      context.setLineDash(line.dashed ? [5 * ratio, 4 * ratio] : []);
      context.beginPath();
      line.points.forEach(([x, y], index) => {
        const px = u.valToPos(x, "x", true);
        const py = u.valToPos(y, "y", true);
        if (index === 0) context.moveTo(px, py);
        else context.lineTo(px, py);
      });
      context.stroke();
    }
    context.setLineDash([]);
    for (const point of options.points) drawPoint(u, context, point, ratio);
    const current = keys.current();
    if (current) drawRing(u, context, current, ratio);
    for (const line of options.lines) if (line.label) drawLabel(u, line);
    context.restore();
  }

  function drawLabel(u: uPlot, line: Line): void {
    const ratio = uPlot.pxRatio;
    const end = line.labelAt === "end";
    const [x, y] = line.points[end ? line.points.length - 1 : 0]!;
    u.ctx.textAlign = "left";
    const width = u.ctx.measureText(line.label!).width;
    const right = u.bbox.left + u.bbox.width;
    const edge = Math.max(u.bbox.left, Math.min(u.valToPos(x, "x", true), right));
    const before = end || edge + width + 6 * ratio > right;
    const left = Math.max(u.bbox.left + 2 * ratio, before ? edge - width - 6 * ratio : edge + 6 * ratio);
    const bottom = u.valToPos(y, "y", true) - 3 * ratio;
    // Points under the text would make it unreadable.
    u.ctx.fillStyle = chartColors.background();
    u.ctx.fillRect(left - 2 * ratio, bottom - 12 * ratio, width + 4 * ratio, 12 * ratio);
    u.ctx.fillStyle = chartColors.muted();
    u.ctx.fillText(line.label!, left, bottom);
  }

  function drawPoint(u: uPlot, context: CanvasRenderingContext2D, point: Point, ratio: number): void {
    const x = u.valToPos(point.x, "x", true);
    const y = u.valToPos(point.y, "y", true);
    const radius = point.radius * ratio;
    context.fillStyle = point.color();
    context.strokeStyle = point.color();
    context.lineWidth = 1.5 * ratio;
    if (point.y2 !== null && point.y2 !== undefined) {
      const top = u.valToPos(point.y2, "y", true);
      context.beginPath();
      context.moveTo(x, y);
      context.lineTo(x, top);
      context.moveTo(x - 4 * ratio, top);
      context.lineTo(x + 4 * ratio, top);
      context.stroke();
    }
    context.beginPath();
    if (point.shape === "square") context.rect(x - radius, y - radius, 2 * radius, 2 * radius);
    else if (point.shape === "triangle" || point.shape === "above") {
      const top = point.shape === "above" ? y + ratio : y - radius;
      context.moveTo(x, top);
      context.lineTo(x + radius, top + 2 * radius);
      context.lineTo(x - radius, top + 2 * radius);
      context.closePath();
    } else context.arc(x, y, radius, 0, 2 * Math.PI);
    if (point.shape === "ring") context.stroke();
    else {
      context.fill();
      if (radius > 3 * ratio) {
        context.strokeStyle = chartColors.background();
        context.lineWidth = ratio;
        context.stroke();
      }
    }
    if (point.label) {
      context.fillStyle = chartColors.text();
      const fits = x + radius + 5 * ratio + context.measureText(point.label).width < u.bbox.left + u.bbox.width;
      context.textAlign = fits ? "left" : "right";
      context.textBaseline = "middle";
      context.fillText(point.label, x + (fits ? 1 : -1) * (radius + 5 * ratio), y);
      context.textBaseline = "bottom";
    }
  }

  /** Marks the point selected by keyboard. */
  function drawRing(u: uPlot, context: CanvasRenderingContext2D, point: Point, ratio: number): void {
    context.strokeStyle = chartColors.text();
    context.lineWidth = 2 * ratio;
    context.beginPath();
    context.arc(
      u.valToPos(point.x, "x", true),
      u.valToPos(point.y, "y", true),
      (point.radius + 5) * ratio,
      0,
      2 * Math.PI,
    );
    context.stroke();
  }

  function nearest(u: uPlot, left: number, top: number): Point | null {
    let best: Point | null = null;
    let distance = REACH_PIXELS ** 2;
    for (const point of options.points) {
      const dx = u.valToPos(point.x, "x") - left;
      const dy = u.valToPos(point.y, "y") - top;
      if (dx * dx + dy * dy <= distance) {
        distance = dx * dx + dy * dy;
        best = point;
      }
    }
    return best;
  }

  function make(width: number): uPlot {
    const axis = (
      title: string,
      text: (value: number) => string,
      size: (u: uPlot, values: string[] | null) => number,
    ): uPlot.Axis => ({
      label: title,
      labelSize: 20,
      labelFont: FONT,
      font: FONT,
      size,
      stroke: chartColors.muted,
      grid: { stroke: chartColors.rule, width: 1 },
      ticks: { stroke: chartColors.rule, width: 1, size: 4 },
      values: (_, values) => values.map((value) => (value === null ? "" : text(value))),
    });
    const x = axis(options.xTitle, options.xText, () => 34);
    // As wide as its longest label, so that none is cut.
    const y = axis(options.yTitle, options.yText, (_, values) =>
      Math.max(LEAST_AXIS, Math.ceil(Math.max(0, ...(values ?? []).map((each) => textWidth(each)))) + AXIS_ROOM),
    );
    const logarithmic = options.log || options.logY;
    // Grid lines at whole decades; if there are few, also at their double and their fivefold.
    const decades = (_: uPlot, splits: number[]) => {
      const digit = (value: number) => value / 10 ** Math.floor(Math.log10(value) + 1e-6);
      const isNear = (value: number, wanted: number) => Math.abs(digit(value) - wanted) < 1e-6;
      const wanted = splits.filter((value) => isNear(value, 1)).length < 3 ? [1, 2, 5] : [1];
      return splits.map((value) => (wanted.some((each) => isNear(value, each)) ? value : null));
    };
    for (const each of options.log ? [x, y] : options.logY ? [y] : []) {
      each.filter = decades;
      each.grid = { ...each.grid, filter: decades };
      each.ticks = { ...each.ticks, filter: decades };
    }
    const distribution = (log: boolean | undefined) => (log ? { distr: 3 as const } : {});
    const u = new uPlot(
      {
        width,
        height: options.height,
        legend: { show: false },
        cursor: { drag: { x: true, y: true, uni: 20 }, points: { show: false }, x: false, y: false },
        scales: {
          x: {
            time: false,
            ...distribution(options.log),
            range: (_, min, max) => (Number.isFinite(min) && chart ? [min, max] : options.xRange),
          },
          y: {
            ...distribution(logarithmic),
            range: (_, min, max) => (Number.isFinite(min) && chart ? [min, max] : options.yRange),
          },
        },
        axes: [x, y],
        series: [{}, { show: true, stroke: "transparent", points: { show: false } }],
        hooks: { draw: [drawPoints] },
      },
      [options.xRange, options.yRange],
      element,
    );
    u.over.addEventListener("mousemove", (event) => {
      const point = nearest(u, event.offsetX, event.offsetY);
      u.over.style.cursor = point?.onClick ? "pointer" : "crosshair";
      if (point) showPoint(point, event.clientX, event.clientY);
      else hideTooltip();
    });
    u.over.addEventListener("mouseleave", hideTooltip);
    u.over.addEventListener("click", (event) => nearest(u, event.offsetX, event.offsetY)?.onClick?.());
    return u;
  }

  return {
    element,
    redraw() {
      const width = Math.max(260, Math.floor(element.clientWidth));
      if (!chart) {
        chart = make(width);
        // uPlot draws in a microtask, which printing does not wait for.
        chart.batch(() => chart!.redraw(false, true));
        return;
      }
      chart.batch(() => {
        chart!.setSize({ width, height: options.height });
        chart!.redraw(false, true);
      });
    },
    destroy() {
      hideTooltip();
      chart?.destroy();
      chart = null;
    },
  };
}
