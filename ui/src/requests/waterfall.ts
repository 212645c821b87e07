// The waterfall of requests: a canvas that scrolls and zooms; a click chooses a token, or a batch.
import { h } from "../dom/dom";
import { hideTooltip, showTooltip } from "../dom/tooltip";
import { count, counted, duration } from "../format/figures";
import { TimeWindow } from "../timeline/window";
import type { RequestsModel, Row } from "./model";
import { AXIS, BATCHES, ROOM, WaterfallPainter, type Chosen, type Scene } from "./waterfall_paint";
import { listenOnWaterfall } from "./waterfall_input";
import { largestParts, type RequestWords } from "./words";

const GUTTER = 62;
const PLOT_HEIGHT = 520;
const ROOM_AROUND = 3;

export interface Waterfall {
  element: HTMLElement;
  redraw: () => void;
  choose: (chosen: Chosen | null, reveal: boolean) => void;
  close: () => void;
}

export interface WaterfallActions {
  onChoose: (chosen: Chosen | null) => void;
  onBatch: (index: number) => void;
  onWindow: (start: number, end: number) => void;
}

export function chunkName(chunk: number, chunks: number): string {
  return chunk === 0 ? "first token" : chunk < chunks ? `chunk ${count(chunk)}` : "end";
}

export function waterfall(
  model: RequestsModel,
  words: RequestWords,
  shown: [number, number] | null,
  actions: WaterfallActions,
): Waterfall {
  const canvas = h("canvas", {
    class: "waterfall",
    tabindex: "0",
    role: "application",
    "aria-roledescription": "waterfall",
    "aria-label":
      `${counted(model.rows.length, "request")} over time, colored by what they waited for. Arrow keys go from ` +
      "token to token and from request to request, w and s zoom, a and d move.",
  });
  const spacer = h("div", { class: "spacer" });
  const scroller = h("div", { class: "waterfall-scroll" }, canvas, spacer);
  const announcement = h("p", { class: "offscreen", "aria-live": "polite" });
  const element = h("div", { class: "waterfall-block" }, scroller, announcement);
  const painter = new WaterfallPainter(model, words);
  const lanes: Row[][] = Array.from({ length: model.lanes }, () => []);
  for (const row of model.rows) lanes[row.lane]!.push(row);
  const most = model.hasOwnLanes ? 18 : 14;
  const rowHeight = Math.max(model.hasOwnLanes ? 7 : 4, Math.min(most, Math.floor(PLOT_HEIGHT / model.lanes)));
  const top = AXIS + (model.requests.batches.length > 0 ? BATCHES : 0) + ROOM;
  const height = Math.min(PLOT_HEIGHT, lanes.length * rowHeight) + top + 2;
  spacer.style.height = `${Math.max(0, lanes.length * rowHeight + top + 2 - height)}px`;
  scroller.style.maxHeight = `${height}px`;
  const window_ = new TimeWindow(model.span);
  if (shown) window_.set(...shown);
  const scene: Scene = {
    width: 0,
    height,
    gutter: model.hasOwnLanes ? GUTTER : GUTTER - 12,
    top,
    rowHeight,
    scroll: 0,
    window: window_,
    chosen: null,
    lanes,
  };
  let frame = 0;
  let moved = 0;

  function draw(): void {
    frame = 0;
    const context = canvas.getContext("2d");
    if (!context || scene.width === 0) return;
    const ratio = devicePixelRatio || 1;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    painter.paint(context, scene);
  }

  function soon(): void {
    if (frame === 0) frame = requestAnimationFrame(draw);
  }

  function redraw(): void {
    const width = Math.max(260, Math.floor(scroller.clientWidth));
    const ratio = devicePixelRatio || 1;
    scene.width = width;
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    canvas.style.width = `${width}px`;
    canvas.style.height = `${height}px`;
    draw();
  }

  function changed(): void {
    soon();
    window.clearTimeout(moved);
    moved = window.setTimeout(() => actions.onWindow(window_.start, window_.end), 250);
  }

  const nsPerPixel = () => window_.width / Math.max(1, scene.width - scene.gutter);
  const timeAt = (x: number) => window_.start + (Math.max(x, scene.gutter) - scene.gutter) * nsPerPixel();

  function chosenAt(x: number, y: number): Chosen | null {
    if (y < top || x < 0) return null;
    const lane = lanes[Math.floor((y - top + scene.scroll) / rowHeight)];
    const time = timeAt(x);
    const reach = 4 * nsPerPixel();
    const row = lane?.find((each) => time >= each.start - reach && time <= each.end + reach);
    if (!row) return null;
    const last = row.request.token_ns.length;
    return {
      row,
      chunk: Math.min(model.chunkAt(row, time), row.request.e2e_ns === null ? Math.max(0, last - 1) : last),
    };
  }

  function batchAt(x: number, y: number): number | null {
    if (y < AXIS || y >= top) return null;
    const time = (model.origin + timeAt(x)) / 1e6;
    const { batches } = model.requests;
    let low = 0;
    let high = batches.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (Math.max(batches[middle]!.results_ms, batches[middle]!.end_ms) < time) low = middle + 1;
      else high = middle;
    }
    return low < batches.length ? low : null;
  }

  function textOf({ row, chunk }: Chosen): string[] {
    const { request } = row;
    const wait = model.wait(row, chunk);
    const parts = model.partsOf(row, chunk);
    const largest = words.palette.label(model.largestPart(row, chunk));
    return [
      `request ${request.id}, ${chunkName(chunk, request.token_ns.length)}`,
      `${duration(wait.end - wait.start)}: ${parts ? largestParts(words, parts) : `mostly ${largest}`}`,
      ...(request.status === "completed" ? [] : [words.view.names[request.status] ?? request.status]),
    ];
  }

  function hover(x: number, y: number, event: MouseEvent): void {
    const batch = batchAt(x, y);
    const chosen = chosenAt(x, y);
    canvas.style.cursor = chosen || batch !== null ? "pointer" : "grab";
    if (batch !== null) {
      const each = model.requests.batches[batch]!;
      showTooltip(event.clientX, event.clientY, [
        h("strong", {}, `batch ${count(batch)}: ${counted(each.rows, "sequence")}`),
        h("div", {}, `${duration((each.end_ms - each.start_ms) * 1e6)}, ${counted(each.steps, "pass", "passes")}`),
        each.prompt_tokens ? h("div", {}, `${count(each.prompt_tokens)} prompt tokens`) : null,
      ]);
    } else if (chosen) {
      showTooltip(
        event.clientX,
        event.clientY,
        textOf(chosen).map((line, index) => h(index === 0 ? "strong" : "div", {}, line)),
      );
    } else hideTooltip();
  }

  function choose(chosen: Chosen | null, reveal: boolean): void {
    scene.chosen = chosen;
    if (chosen) {
      announcement.textContent = textOf(chosen).join("; ");
      if (reveal) {
        canvas.focus({ preventScroll: true });
        show(chosen);
      }
    }
    soon();
  }

  /** Scrolls to it, and moves to it if it is outside. */
  function show({ row, chunk }: Chosen): void {
    const wait = model.wait(row, chunk);
    const y = row.lane * rowHeight;
    if (y < scroller.scrollTop || y + rowHeight > scroller.scrollTop + height - top)
      scroller.scrollTop = y - (height - top) / 2;
    if (wait.end < window_.start || wait.start > window_.end)
      window_.pan(wait.start - window_.start - window_.width / 2);
  }

  function pick(chosen: Chosen | null): void {
    choose(chosen, true);
    actions.onChoose(chosen);
    changed();
  }

  listenOnWaterfall(canvas, {
    zoomAt: (factor, x) => {
      window_.zoom(factor, timeAt(x));
      changed();
    },
    pan: (dx) => {
      window_.pan(dx * nsPerPixel());
      changed();
    },
    scroll: (dy) => (scroller.scrollTop += dy),
    zoomToPixels: (from, to) => {
      window_.set(timeAt(Math.min(from, to)), timeAt(Math.max(from, to)));
      changed();
    },
    hover,
    leave: hideTooltip,
    click: (x, y) => {
      const batch = batchAt(x, y);
      if (batch !== null) actions.onBatch(batch);
      else pick(chosenAt(x, y));
    },
    showAll: () => {
      window_.showAll();
      changed();
    },
    stepChunk: (by) => {
      const at = scene.chosen;
      if (!at) return pick(model.rows[0] ? { row: model.rows[0], chunk: 0 } : null);
      const chunk = Math.max(0, Math.min(at.row.request.token_ns.length, at.chunk + by));
      pick({ row: at.row, chunk });
    },
    stepRequest: (by) => {
      const at = scene.chosen ? model.rows.indexOf(scene.chosen.row) + by : 0;
      const row = model.rows[Math.max(0, Math.min(model.rows.length - 1, at))];
      if (row) pick({ row, chunk: 0 });
    },
    zoomToChosen: () => {
      if (!scene.chosen) return;
      const wait = model.wait(scene.chosen.row, scene.chosen.chunk);
      const around = (wait.end - wait.start) * ROOM_AROUND;
      window_.set(wait.start - around, wait.end + around);
      changed();
    },
    clear: () => pick(null),
    axisHeight: AXIS,
    width: () => scene.width,
  });
  scroller.addEventListener("scroll", () => {
    scene.scroll = scroller.scrollTop;
    soon();
  });

  return {
    element,
    redraw,
    choose,
    close: () => {
      cancelAnimationFrame(frame);
      window.clearTimeout(moved);
      hideTooltip();
    },
  };
}
