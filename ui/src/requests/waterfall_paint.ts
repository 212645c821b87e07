// Draws the waterfall: time axis, the engine's batches, one bar per request, colored by what it waited for.
import { isDark } from "../data/palette";
import type { RequestBatch } from "../data/profile";
import { axisTicks } from "../timeline/axis";
import type { TimeWindow } from "../timeline/window";
import { inOrder, type RequestsModel, type Row } from "./model";
import type { RequestWords } from "./words";

export const AXIS = 20;
export const BATCHES = 46;
/** Between them and the first bar, for its label. */
export const ROOM = 3;
const LABEL_FONT = "11px system-ui, sans-serif";
const LEAST_SPLIT_PIXELS = 3;
const LEAST_TICK_PIXELS = 5;
const LEAST_LABEL_ROW = 11;

export interface Chosen {
  row: Row;
  chunk: number;
}

export interface Scene {
  width: number;
  height: number;
  /** Pixels left of the plot. */
  gutter: number;
  /** Height of the axis and the batches. */
  top: number;
  rowHeight: number;
  scroll: number;
  window: TimeWindow;
  chosen: Chosen | null;
  lanes: Row[][];
}

const colorsNow = () =>
  isDark()
    ? { text: "#e4e6e9", muted: "#9aa2ad", rule: "#2c323b", background: "#15181e", band: "#20252d", edge: "#ffffff" }
    : { text: "#1b1e23", muted: "#5a626d", rule: "#e3e6e9", background: "#ffffff", band: "#eef0f2", edge: "#1b1e23" };

export class WaterfallPainter {
  private readonly batches: RequestBatch[];
  private readonly mostRows: number;
  private readonly codes = new Map<number, string[]>();
  private colors = colorsNow();
  private readonly now = new Map<string, string>();

  constructor(
    private readonly model: RequestsModel,
    private readonly words: RequestWords,
  ) {
    this.batches = model.requests.batches;
    this.mostRows = this.batches.reduce((most, batch) => Math.max(most, batch.rows), 1);
  }

  paint(context: CanvasRenderingContext2D, scene: Scene): void {
    this.colors = colorsNow();
    this.now.clear();
    context.fillStyle = this.colors.background;
    context.fillRect(0, 0, scene.width, scene.height);
    context.font = LABEL_FONT;
    context.textBaseline = "middle";
    context.textAlign = "left";
    this.paintGrid(context, scene);
    this.paintRows(context, scene);
    context.fillStyle = this.colors.background;
    context.fillRect(0, 0, scene.width, scene.top - ROOM);
    this.paintAxis(context, scene);
    if (this.batches.length > 0) this.paintBatches(context, scene);
    this.paintChosen(context, scene);
  }

  private color(part: string): string {
    let known = this.now.get(part);
    if (!known) {
      known = this.words.palette.now(part);
      this.now.set(part, known);
    }
    return known;
  }

  private x(scene: Scene, time: number): number {
    const { start, width } = scene.window;
    return scene.gutter + ((time - start) / width) * (scene.width - scene.gutter);
  }

  private ticks(scene: Scene): { x: number; text: string }[] {
    const { ticks, text } = axisTicks(scene.window.start, scene.window.end, scene.width - scene.gutter);
    return ticks
      .map((tick) => ({ x: Math.round(this.x(scene, tick)), text: text(tick) }))
      .filter(({ x }) => x >= scene.gutter);
  }

  private paintGrid(context: CanvasRenderingContext2D, scene: Scene): void {
    context.fillStyle = this.colors.rule;
    for (const { x } of this.ticks(scene)) context.fillRect(x, scene.top, 1, scene.height - scene.top);
  }

  private paintAxis(context: CanvasRenderingContext2D, scene: Scene): void {
    for (const { x, text } of this.ticks(scene)) {
      context.fillStyle = this.colors.rule;
      context.fillRect(x, 0, 1, scene.top);
      context.fillStyle = this.colors.muted;
      const isCut = x + 4 + context.measureText(text).width > scene.width;
      if (!isCut) context.fillText(text, x + 4, AXIS / 2);
    }
  }

  /** Each batch as high as it has sequences; narrow ones together show the highest, and prompts if any has some. */
  private paintBatches(context: CanvasRenderingContext2D, scene: Scene): void {
    const room = BATCHES - 8;
    const bottom = AXIS + BATCHES - 4;
    context.fillStyle = this.colors.muted;
    context.fillText("batches", 2, AXIS + BATCHES / 2);
    let from = -Infinity;
    let to = -Infinity;
    let rows = 0;
    let prompts = false;
    const flush = () => {
      if (rows === 0) return;
      const height = Math.max(2, (rows / this.mostRows) * room);
      context.fillStyle = this.color(prompts ? "own_prefill" : "own_decode");
      context.fillRect(from, bottom - height, Math.max(0.75, to - from), height);
      rows = 0;
      prompts = false;
    };
    const first = this.model.origin + scene.window.start;
    const last = this.model.origin + scene.window.end;
    for (const batch of this.batches) {
      const start = batch.start_ms * 1e6;
      const end = Math.max(batch.results_ms, batch.end_ms) * 1e6;
      if (end < first || start > last) continue;
      const left = Math.max(scene.gutter, this.x(scene, start - this.model.origin));
      const right = Math.max(left, this.x(scene, end - this.model.origin));
      if (right - from >= 1.5) {
        flush();
        from = left;
      }
      to = right - from > 4 ? right - 0.75 : right;
      rows = Math.max(rows, batch.rows);
      prompts ||= (batch.prompt_tokens ?? 0) > 0;
    }
    flush();
    context.fillStyle = this.colors.rule;
    context.fillRect(0, bottom, scene.width, 1);
  }

  private paintRows(context: CanvasRenderingContext2D, scene: Scene): void {
    const first = Math.max(0, Math.floor(scene.scroll / scene.rowHeight));
    const last = Math.min(scene.lanes.length, Math.ceil((scene.scroll + scene.height) / scene.rowHeight));
    const ownLanes = this.model.hasOwnLanes;
    const every = Math.max(1, Math.ceil(LEAST_LABEL_ROW / scene.rowHeight));
    for (let lane = first; lane < last; lane++) {
      const y = scene.top + lane * scene.rowHeight - scene.scroll;
      if (scene.chosen?.row.lane === lane) {
        context.fillStyle = this.colors.band;
        context.fillRect(0, y, scene.width, scene.rowHeight);
      }
      for (const row of scene.lanes[lane]!) {
        if (row.end < scene.window.start || row.start > scene.window.end) continue;
        this.paintRequest(context, scene, row, y + 1, Math.max(1, scene.rowHeight - 2));
      }
      if (ownLanes && lane % every === 0) {
        context.fillStyle = this.colors.background;
        context.fillRect(0, y, scene.gutter - 2, scene.rowHeight);
        context.fillStyle = scene.chosen?.row.lane === lane ? this.colors.text : this.colors.muted;
        context.fillText(scene.lanes[lane]![0]!.request.id.slice(0, 10), 2, y + scene.rowHeight / 2);
      }
    }
  }

  private partsOfChunks(row: Row): string[] {
    let known = this.codes.get(row.index);
    if (!known) {
      known = Array.from({ length: row.request.token_ns.length + 1 }, (_, chunk) =>
        this.model.largestPart(row, chunk),
      );
      this.codes.set(row.index, known);
    }
    return known;
  }

  private paintRequest(context: CanvasRenderingContext2D, scene: Scene, row: Row, y: number, height: number): void {
    const chunks = this.partsOfChunks(row);
    const edge = (time: number) => Math.max(scene.gutter, Math.min(scene.width, this.x(scene, time)));
    const dim = row.request.status !== "completed" || row.request.warm_up;
    context.globalAlpha = dim ? 0.45 : 1;
    // Waits narrower than a pixel are drawn together, in the color of the longest.
    let from = -1;
    let longest = 0;
    let color = "";
    let chunk = Math.max(0, this.model.chunkAt(row, scene.window.start));
    for (; chunk < chunks.length; chunk++) {
      const wait = this.model.wait(row, chunk);
      if (wait.start > scene.window.end) break;
      const left = edge(wait.start);
      const right = edge(wait.end);
      if (from < 0) from = left;
      if (right - left >= LEAST_SPLIT_PIXELS) {
        if (left > from) {
          context.fillStyle = color;
          context.fillRect(from, y, left - from, height);
        }
        this.paintWait(context, scene, row, chunk, y, height);
        if (chunk + 1 < chunks.length && right - left >= LEAST_TICK_PIXELS) {
          context.fillStyle = this.colors.background;
          context.fillRect(right - 0.75, y, 0.75, height);
        }
        from = right;
        longest = 0;
        continue;
      }
      if (wait.end - wait.start > longest) {
        longest = wait.end - wait.start;
        color = this.color(chunks[chunk]!);
      }
      if (right - from >= 1) {
        context.fillStyle = color;
        context.fillRect(from, y, right - from, height);
        from = right;
        longest = 0;
      }
    }
    context.globalAlpha = 1;
    if (row.request.status !== "completed") this.paintEnd(context, edge(row.end), y, height);
  }

  /** A wait that is wide enough to show its parts. */
  private paintWait(
    context: CanvasRenderingContext2D,
    scene: Scene,
    row: Row,
    chunk: number,
    y: number,
    height: number,
  ): void {
    const wait = this.model.wait(row, chunk);
    const parts = this.model.partsOf(row, chunk);
    const edge = (time: number) => Math.max(scene.gutter, Math.min(scene.width, this.x(scene, time)));
    if (!parts) {
      context.fillStyle = this.color(this.partsOfChunks(row)[chunk]!);
      context.fillRect(edge(wait.start), y, edge(wait.end) - edge(wait.start), height);
      return;
    }
    let at = wait.start;
    for (const [part, ns] of inOrder(parts)) {
      const end = Math.min(wait.end, at + ns);
      context.fillStyle = this.color(part);
      context.fillRect(edge(at), y, edge(end) - edge(at), height);
      at = end;
    }
  }

  /** A request that did not complete ends with a cross. */
  private paintEnd(context: CanvasRenderingContext2D, x: number, y: number, height: number): void {
    const size = Math.min(4, height / 2);
    const middle = y + height / 2;
    context.strokeStyle = this.colors.text;
    context.lineWidth = 1.25;
    context.beginPath();
    context.moveTo(x + 3 - size, middle - size);
    context.lineTo(x + 3 + size, middle + size);
    context.moveTo(x + 3 - size, middle + size);
    context.lineTo(x + 3 + size, middle - size);
    context.stroke();
  }

  private paintChosen(context: CanvasRenderingContext2D, scene: Scene): void {
    if (!scene.chosen) return;
    const { row, chunk } = scene.chosen;
    const wait = this.model.wait(row, chunk);
    const left = this.x(scene, wait.start);
    const right = this.x(scene, wait.end);
    if (right < scene.gutter || left > scene.width) return;
    const y = scene.top + row.lane * scene.rowHeight - scene.scroll;
    context.strokeStyle = this.colors.edge;
    context.lineWidth = 1.5;
    if (y + scene.rowHeight > scene.top) {
      const top = Math.max(scene.top, y) - 0.5;
      context.strokeRect(left - 1, top, Math.max(3, right - left + 2), y + scene.rowHeight + 0.5 - top);
    }
    context.fillStyle = isDark() ? "rgba(255,255,255,0.10)" : "rgba(0,0,0,0.07)";
    context.fillRect(
      Math.max(scene.gutter, left),
      AXIS,
      Math.max(2, right - Math.max(scene.gutter, left)),
      scene.height,
    );
  }
}
