// Areas over time, stacked or one before the other, with rows of spans below them on the same axis. Drawn as SVG, so
// that colors follow the theme. Dragging zooms; a click or the keyboard chooses a time.
import { h, replace, svg, type Child } from "../dom/dom";
import { hideTooltip, showTooltip } from "../dom/tooltip";
import { indexAt, joined, stackedEdges, stepArea, stepLine, type Scale } from "./areas";
import { ticks } from "./ticks";

export interface Layer {
  id: string;
  /** A CSS color that follows the theme. */
  color: string;
  values: number[];
}

export interface Span {
  from: number;
  to: number;
  label: string;
  /** In turns, so that neighbors differ. */
  isOdd: boolean;
}

export interface AreaOptions {
  label: string;
  times: number[];
  layers: Layer[];
  /** Otherwise each layer starts at 0, and covers those before it. */
  isStacked: boolean;
  /** A line on top of the areas. */
  line?: number[];
  xTitle: string;
  xText: (value: number) => string;
  yText: (value: number) => string;
  rows: { title: string; spans: Span[] }[];
  /** What a time shows next to the pointer, and what it says to a screen reader. */
  tooltip: (index: number) => Child;
  words: (index: number) => string;
  onChoose: (index: number) => void;
}

export interface AreaChart {
  element: HTMLElement;
  choose: (index: number) => void;
  redraw: () => void;
  close: () => void;
}

const HEIGHT = 300;
const TOP = 8;
const RIGHT = 10;
const LEFT = 66;
const ROW = 18;
const ROW_GAP = 3;
const ROWS_GAP = 6;
const AXIS = 40;
const LEAST_DRAG = 6;
const ROOM_ABOVE = 1.05;
const LETTER = 6.2;
const PAGE_STEPS = 20;

export function areaChart(options: AreaOptions): AreaChart {
  const { times, layers } = options;
  const first = times[0] ?? 0;
  const end = Math.max(times[times.length - 1] ?? 0, first + 1e-6);
  const edges = options.isStacked
    ? stackedEdges(
        layers.map((each) => each.values),
        times.length,
      )
    : layers.map((each) => Float64Array.from(each.values));
  let highest = 0;
  for (const values of [...edges, options.line ?? []]) for (const each of values) highest = Math.max(highest, each);
  const most = highest * ROOM_ABOVE || 1;
  const rows = options.rows.filter((row) => row.spans.length > 0);
  const rowsHeight = rows.length > 0 ? ROWS_GAP + rows.length * (ROW + ROW_GAP) : 0;
  const height = TOP + HEIGHT + rowsHeight + AXIS;

  let shown: [number, number] = [first, end];
  let chosen = 0;
  let width = 0;
  let dragFrom: number | null = null;

  const announcement = h("p", { class: "offscreen", "aria-live": "polite" });
  const plot = svg("g");
  const marker = svg("line", { class: "chosen" });
  const hover = svg("line", { class: "hover", visibility: "hidden" });
  const drag = svg("rect", { class: "drag", visibility: "hidden" });
  const picture = svg("svg", { height, "aria-hidden": "true" }, plot, drag, hover, marker);
  const all = h(
    "button",
    { class: "quiet", type: "button", hidden: true, onclick: () => zoom(first, end) },
    "Show all",
  );
  const frame = h(
    "div",
    {
      class: "area-chart",
      role: "application",
      "aria-roledescription": "chart",
      tabindex: "0",
      "aria-label":
        `${options.label}. Left and right arrow keys go from reading to reading, page up and page down further; ` +
        "+ and - zoom.",
    },
    picture,
    announcement,
  );
  const element = h("div", { class: "area-block" }, frame, h("p", { class: "more" }, all));

  const inner = () => Math.max(1, width - LEFT - RIGHT);
  const scale = (): Scale => ({
    x: (time) => LEFT + ((Math.min(Math.max(time, shown[0]), shown[1]) - shown[0]) / (shown[1] - shown[0])) * inner(),
    y: (value) => TOP + HEIGHT * (1 - Math.max(0, value) / most),
  });
  const timeAt = (x: number) => shown[0] + ((x - LEFT) / inner()) * (shown[1] - shown[0]);

  function axes({ x, y }: Scale): SVGElement[] {
    const bottom = height - AXIS;
    const down = ticks(0, most, 6).map((value) =>
      svg(
        "g",
        {},
        svg("line", { class: "grid", x1: LEFT, x2: width - RIGHT, y1: y(value), y2: y(value) }),
        svg("text", { x: LEFT - 8, y: y(value) + 4, "text-anchor": "end" }, options.yText(value)),
      ),
    );
    const along = ticks(shown[0], shown[1], Math.max(3, Math.floor(inner() / 110))).map((value) =>
      svg(
        "g",
        {},
        svg("line", { class: "tick", x1: x(value), x2: x(value), y1: bottom, y2: bottom + 4 }),
        svg("text", { x: x(value), y: bottom + 17, "text-anchor": "middle" }, options.xText(value)),
      ),
    );
    const title = svg("text", { x: LEFT + inner() / 2, y: bottom + 34, "text-anchor": "middle" }, options.xTitle);
    return [...down, ...along, title];
  }

  function spanRow({ title, spans }: { title: string; spans: Span[] }, row: number, { x }: Scale): SVGElement {
    const top = TOP + HEIGHT + ROWS_GAP + row * (ROW + ROW_GAP);
    const pixel = (shown[1] - shown[0]) / inner();
    const visible = joined(
      spans.filter((span) => span.to >= shown[0] && span.from <= shown[1]),
      pixel,
    );
    return svg(
      "g",
      {},
      svg("text", { class: "row-title", x: LEFT - 8, y: top + 13, "text-anchor": "end" }, title),
      visible.map((span) => {
        const left = x(span.from);
        const size = Math.max(0.75, x(span.to) - left);
        return [
          svg("rect", { class: span.isOdd ? "span odd" : "span", x: left, y: top, width: size, height: ROW }),
          size > span.label.length * LETTER + 8
            ? svg("text", { class: "span-label", x: left + 4, y: top + 13 }, span.label)
            : null,
        ];
      }),
    );
  }

  function mark(line: SVGElement, index: number): void {
    const time = times[index] ?? first;
    const place = scale().x(time);
    const isInside = time >= shown[0] && time <= shown[1];
    line.setAttribute("visibility", isInside ? "visible" : "hidden");
    for (const [name, value] of Object.entries({ x1: place, x2: place, y1: TOP - 4, y2: height - AXIS }))
      line.setAttribute(name, String(value));
  }

  function draw(): void {
    if (width === 0) return;
    picture.setAttribute("width", String(width));
    const now = scale();
    const zeros = new Float64Array(times.length);
    // Only what is visible: the reading before it holds until its start.
    const from = indexAt(times, shown[0]);
    const to = indexAt(times, shown[1]) + 1;
    const visible = times.slice(from, to);
    const until = Math.min(times[to] ?? end, shown[1]);
    const part = (values: ArrayLike<number>) => Array.prototype.slice.call(values, from, to) as number[];
    replace(
      plot,
      axes(now),
      layers.map((layer, index) => {
        const below = options.isStacked && index > 0 ? edges[index - 1]! : zeros;
        return svg("path", {
          class: "layer",
          "data-layer": layer.id,
          style: `fill: ${layer.color}`,
          d: stepArea(visible, part(edges[index]!), part(below), until, now),
        });
      }),
      options.line && svg("path", { class: "edge", d: stepLine(visible, part(options.line), until, now) }),
      rows.map((row, index) => spanRow(row, index, now)),
    );
    all.hidden = shown[0] === first && shown[1] === end;
    mark(marker, chosen);
  }

  function zoom(from: number, to: number): void {
    shown = to > from ? [Math.max(first, from), Math.min(end, to)] : [first, end];
    draw();
  }

  function zoomBy(factor: number): void {
    const center = times[chosen] ?? first;
    const half = ((shown[1] - shown[0]) * factor) / 2;
    const from = Math.min(Math.max(first, center - half), end - 2 * half);
    if (half * 2 >= end - first) zoom(first, end);
    else zoom(from, from + 2 * half);
  }

  /** Keeps the chosen reading in sight. */
  function choose(index: number): void {
    chosen = Math.min(Math.max(0, index), times.length - 1);
    const time = times[chosen] ?? first;
    if (time >= shown[0] && time <= shown[1]) {
      mark(marker, chosen);
      return;
    }
    const size = shown[1] - shown[0];
    const from = Math.min(Math.max(first, time - size / 2), end - size);
    zoom(from, from + size);
  }

  function take(index: number): void {
    choose(index);
    announcement.textContent = options.words(chosen);
    options.onChoose(chosen);
  }

  const placeOf = (event: MouseEvent): number => event.clientX - picture.getBoundingClientRect().left;

  function drawDrag(x: number): void {
    const left = Math.max(LEFT, Math.min(dragFrom!, x));
    const size = Math.min(width - RIGHT, Math.max(dragFrom!, x)) - left;
    drag.setAttribute("visibility", size > LEAST_DRAG ? "visible" : "hidden");
    for (const [name, value] of Object.entries({ x: left, y: TOP, width: Math.max(0, size), height: HEIGHT }))
      drag.setAttribute(name, String(value));
  }

  picture.addEventListener("pointermove", (event) => {
    const x = placeOf(event);
    if (dragFrom !== null) drawDrag(x);
    const index = indexAt(times, timeAt(x));
    mark(hover, index);
    showTooltip(event.clientX, event.clientY, options.tooltip(index));
  });
  picture.addEventListener("pointerleave", () => {
    hover.setAttribute("visibility", "hidden");
    hideTooltip();
  });
  picture.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    dragFrom = placeOf(event);
    picture.setPointerCapture(event.pointerId);
  });
  picture.addEventListener("pointerup", (event) => {
    if (dragFrom === null) return;
    const to = placeOf(event);
    const from = dragFrom;
    dragFrom = null;
    drag.setAttribute("visibility", "hidden");
    if (Math.abs(to - from) > LEAST_DRAG) zoom(timeAt(Math.min(from, to)), timeAt(Math.max(from, to)));
    else take(indexAt(times, timeAt(to)));
  });
  picture.addEventListener("pointercancel", () => {
    dragFrom = null;
    drag.setAttribute("visibility", "hidden");
  });

  const keys: Record<string, () => void> = {
    ArrowLeft: () => take(chosen - 1),
    ArrowRight: () => take(chosen + 1),
    PageUp: () => take(chosen - PAGE_STEPS),
    PageDown: () => take(chosen + PAGE_STEPS),
    Home: () => take(0),
    End: () => take(times.length - 1),
    "+": () => zoomBy(1 / 2),
    "-": () => zoomBy(2),
  };
  frame.addEventListener("keydown", (event) => {
    const action = keys[event.key];
    if (!action || event.ctrlKey || event.metaKey || event.altKey) return;
    action();
    event.preventDefault();
  });

  return {
    element,
    choose,
    redraw() {
      width = Math.max(260, Math.floor(frame.clientWidth));
      draw();
    },
    close: hideTooltip,
  };
}
