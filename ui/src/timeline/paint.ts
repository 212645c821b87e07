// Draws what is visible of the timeline, and nothing else.
import { duration } from "../format/figures";
import { axisTicks } from "./axis";
import { addBins, addSums, levelFor, PixelColumns } from "./columns_of_pixels";
import type { RowRef } from "./describe";
import { instanceWords } from "./describe";
import { AXIS_HEIGHT, MINIMAP_HEIGHT, RANGE_LINE, TOP, type Layout, type PlacedTrack } from "./layout";
import { firstAtLeast, firstEndingAfter, rowsWithin, type LaunchedBy, type Timeline } from "./model";
import type { Hits } from "./search";
import type { CanvasTheme } from "./theme";
import type { TimeWindow } from "./window";

export interface Scene {
  timeline: Timeline;
  window: TimeWindow;
  layout: Layout;
  theme: CanvasTheme;
  scrollY: number;
  width: number;
  height: number;
  hovered: RowRef | null;
  pinned: RowRef | null;
  selection: [number, number] | null;
  hits: Hits | null;
  hit: RowRef | null;
  launchedBy: () => LaunchedBy;
}

/** Rows above this number are drawn from sums, not one by one. */
const MANY_ROWS = 6000;
const FONT = "11px system-ui, sans-serif";
const SMALL_FONT = "10px system-ui, sans-serif";
/** A mean width of a letter, to cut texts without measuring each. */
const LETTER = 5.8;
const DIMMED = 0.28;

type Rect = [x: number, y: number, width: number, height: number];

export class Painter {
  private readonly columns: PixelColumns;
  private minimap: HTMLCanvasElement | null = null;
  private minimapKey = "";

  constructor(
    private readonly context: CanvasRenderingContext2D,
    classes: number,
  ) {
    this.columns = new PixelColumns(Math.max(1, classes));
  }

  paint(scene: Scene): void {
    const { context } = this;
    const { theme, layout, width, height, scrollY } = scene;
    context.globalAlpha = 1;
    context.fillStyle = theme.background;
    context.fillRect(0, 0, width, height);
    context.font = FONT;
    context.textBaseline = "middle";
    context.save();
    context.beginPath();
    context.rect(0, TOP, width, height - TOP);
    context.clip();
    this.paintGrid(scene);
    for (const placed of layout.tracks) {
      const y = placed.y + TOP - scrollY;
      if (y + placed.height >= TOP && y <= height) this.paintTrack(scene, placed, y);
    }
    this.paintSelection(scene, TOP, height);
    this.paintOutlines(scene);
    this.paintArrows(scene);
    this.paintLabels(scene);
    context.restore();
    this.paintAxis(scene);
    this.paintMinimap(scene);
  }

  private left(scene: Scene): number {
    return scene.layout.gutter;
  }

  private nsPerPixel(scene: Scene): number {
    return scene.window.width / Math.max(1, scene.width - scene.layout.gutter);
  }

  private x(scene: Scene, time: number): number {
    return scene.layout.gutter + (time - scene.window.start) / this.nsPerPixel(scene);
  }

  private paintGrid(scene: Scene): void {
    const { context } = this;
    context.fillStyle = scene.theme.rule;
    for (const tick of axisTicks(scene.window.start, scene.window.end, scene.width - this.left(scene)).ticks) {
      context.fillRect(Math.round(this.x(scene, tick)), TOP, 1, scene.height - TOP);
    }
  }

  private paintAxis(scene: Scene): void {
    const { context } = this;
    const { theme, width } = scene;
    const left = this.left(scene);
    context.fillStyle = theme.background;
    context.fillRect(0, MINIMAP_HEIGHT, width, AXIS_HEIGHT);
    context.fillStyle = theme.rule;
    context.fillRect(0, TOP - 1, width, 1);
    context.fillStyle = theme.muted;
    context.font = FONT;
    const { ticks, text } = axisTicks(scene.window.start, scene.window.end, width - left);
    context.save();
    context.beginPath();
    context.rect(left, MINIMAP_HEIGHT, width - left, AXIS_HEIGHT);
    context.clip();
    for (const tick of ticks) {
      const x = Math.round(this.x(scene, tick));
      context.fillRect(x, TOP - 6, 1, 5);
      context.fillText(text(tick), x + 4, MINIMAP_HEIGHT + AXIS_HEIGHT / 2);
    }
    context.restore();
    if (left > 0) {
      context.fillStyle = theme.muted;
      context.fillText(`${duration(scene.window.width)} shown`, 10, MINIMAP_HEIGHT + AXIS_HEIGHT / 2);
    }
  }

  private paintTrack(scene: Scene, placed: PlacedTrack, y: number): void {
    if (placed.track.table === "samples") this.paintCounter(scene, placed, y);
    else if (placed.track.table === "slices") this.paintStream(scene, placed, y);
    else this.paintSpans(scene, placed, y);
  }

  private paintStream(scene: Scene, placed: PlacedTrack, y: number): void {
    const { context } = this;
    const { track, height } = placed;
    const { timeline, theme, window } = scene;
    const left = this.left(scene);
    const width = Math.ceil(scene.width - left);
    const nsPerPixel = this.nsPerPixel(scene);
    context.fillStyle = theme.band;
    context.fillRect(left, y, width, height);
    const level = levelFor(track, nsPerPixel);
    const dim = scene.hits !== null && scene.hits.count > 0;
    const rects: Rect[][] = theme.classes.map(() => []);
    const hitRects: Rect[][] = theme.classes.map(() => []);
    const texts: { rect: Rect; row: number; classIndex: number }[] = [];
    this.columns.reset(width);
    if (level) addBins(timeline, level, this.columns, window.start, nsPerPixel, width);
    else {
      const kernels = timeline.tables.slices["kernel"]!;
      const wanted = dim ? scene.hits!.wantedKernels : null;
      const [first, last] = rowsWithin(track, window.start, window.end);
      for (let row = first; row < last; row++) {
        const start = track.start[row]!;
        const from = (start - window.start) / nsPerPixel;
        const to = from + track.duration![row]! / nsPerPixel;
        if (to < 0) continue;
        const kernel = kernels[row]!;
        const classIndex = timeline.kernels[kernel]!.class;
        if (to - from < 2) {
          this.addNarrow(from, to, classIndex, nsPerPixel, width);
          continue;
        }
        const x0 = Math.max(Math.round(from), -2);
        const x1 = Math.min(Math.round(to), width + 2);
        const rect: Rect = [left + x0, y, Math.max(x1 - x0 - (x1 - x0 > 4 ? 1 : 0), 1), height];
        (wanted?.[kernel] ? hitRects : rects)[classIndex]!.push(rect);
        if (x1 - x0 > 30) texts.push({ rect, row, classIndex });
      }
    }
    this.columns.runs(width, nsPerPixel, height, (x, pixels, bar, classIndex) => rects[classIndex]!.push([left + x, y + height - bar, pixels, bar]));
    context.globalAlpha = dim ? DIMMED : 1;
    this.fill(rects, theme.classes);
    context.globalAlpha = 1;
    this.fill(hitRects, theme.classes);
    this.paintTexts(scene, texts, dim);
    if (dim) this.paintHitMarks(scene, placed, y, left, width, nsPerPixel);
  }

  /** A row narrower than two pixels, over the one to three pixels that it touches. */
  private addNarrow(from: number, to: number, classIndex: number, nsPerPixel: number, width: number): void {
    const last = Math.min(width - 1, Math.floor(to));
    for (let pixel = Math.max(0, Math.floor(from)); pixel <= last; pixel++) {
      const part = Math.min(to, pixel + 1) - Math.max(from, pixel);
      if (part > 0 || to === from) this.columns.add(pixel, classIndex, Math.max(part, 1e-6) * nsPerPixel);
    }
  }

  private fill(rects: Rect[][], colors: string[]): void {
    rects.forEach((own, index) => {
      if (own.length === 0) return;
      this.context.fillStyle = colors[index]!;
      for (const [x, y, width, height] of own) this.context.fillRect(x, y, width, height);
    });
  }

  private paintTexts(scene: Scene, texts: { rect: Rect; row: number; classIndex: number }[], dim: boolean): void {
    const { context } = this;
    const { timeline, theme } = scene;
    const kernels = timeline.tables.slices["kernel"]!;
    context.font = FONT;
    for (const { rect, row, classIndex } of texts) {
      const kernel = kernels[row]!;
      const faint = dim && !scene.hits!.wantedKernels[kernel];
      context.fillStyle = faint ? theme.muted : theme.onClasses[classIndex]!;
      this.textWithin(timeline.names[timeline.kernels[kernel]!.short] ?? "", rect);
    }
  }

  private textWithin(text: string, [x, y, width, height]: Rect): void {
    // Cut at the visible edge: text stays in sight while its row reaches beyond the left one.
    const left = Math.max(x, this.gutterEdge);
    const room = x + width - left - 8;
    const letters = Math.floor((room / this.textWidth(text)) * text.length);
    if (letters < Math.min(3, text.length)) return;
    this.context.fillText(text.length <= letters ? text : `${text.slice(0, letters - 1)}…`, left + 4, y + height / 2 + 0.5);
  }

  private readonly widths = new Map<string, number>();

  private textWidth(text: string): number {
    let width = this.widths.get(text);
    if (width === undefined) {
      width = Math.max(1, this.context.measureText(text).width);
      this.widths.set(text, width);
    }
    return width;
  }

  private gutterEdge = 0;

  private paintHitMarks(scene: Scene, placed: PlacedTrack, y: number, left: number, width: number, nsPerPixel: number): void {
    const rows = scene.hits?.byTrack.get(placed.index);
    if (!rows) return;
    const { track } = placed;
    this.context.fillStyle = scene.theme.text;
    let at = 0;
    const starts = { length: rows.length };
    for (let x = 0; x < width && at < starts.length; x++) {
      const limit = scene.window.start + x * nsPerPixel;
      // Rows are in order, and so are their starts.
      let from = at;
      let to = rows.length;
      while (from < to) {
        const middle = (from + to) >>> 1;
        if (track.start[rows[middle]!]! >= limit) to = middle;
        else from = middle + 1;
      }
      at = from;
      if (at >= rows.length) break;
      const start = track.start[rows[at]!]!;
      if (start >= limit + nsPerPixel) {
        x = Math.floor((start - scene.window.start) / nsPerPixel) - 1;
        continue;
      }
      this.context.fillRect(left + x, y - 2, 1, 4);
    }
  }

  /** Calls, ranges, stages, steps, layers: gray, since hues mean classes of kernels. */
  private paintSpans(scene: Scene, placed: PlacedTrack, y: number): void {
    const { context } = this;
    const { track, height } = placed;
    const { timeline, theme, window } = scene;
    const left = this.left(scene);
    const width = Math.ceil(scene.width - left);
    const nsPerPixel = this.nsPerPixel(scene);
    const columns = timeline.tables[track.table];
    const [first, last] = rowsWithin(track, window.start, window.end);
    if (last - first > MANY_ROWS && track.table === "calls") {
      this.columns.reset(width);
      addSums(track, this.columns, window.start, nsPerPixel, width);
      context.fillStyle = theme.calls[1]!;
      this.columns.runs(width, nsPerPixel, height, (x, pixels, bar) => context.fillRect(left + x, y + height - bar, pixels, bar));
      if (scene.hits) this.paintHitMarks(scene, placed, y, left, width, nsPerPixel);
      return;
    }
    const kinds = columns["kind"];
    const rects = new Map<string, Rect[]>();
    const put = (color: string, rect: Rect) => {
      const own = rects.get(color);
      if (own) own.push(rect);
      else rects.set(color, [rect]);
    };
    const nested = track.lineRows !== null;
    const lineHeight = nested ? RANGE_LINE - 1 : height;
    const narrowColor = track.table === "calls" ? theme.calls[1]! : theme.narrowSpans;
    const texts: { rect: Rect; row: number }[] = [];
    for (let line = 0; line < track.lines; line++) {
      const lineY = y + line * RANGE_LINE;
      const rows = track.lineRows?.[line] ?? null;
      const end = rows ? rows.length : last;
      let at = rows ? firstEndingAfter(track, rows, window.start) : first;
      // The run of narrow spans that is being gathered: thousands that touch are one.
      let runStart = -1;
      let runEnd = -1;
      const flush = () => {
        if (runEnd > runStart) put(narrowColor, [left + runStart, lineY, runEnd - runStart, lineHeight]);
        runStart = runEnd = -1;
      };
      while (at < end) {
        const row = rows ? rows[at]! : at;
        const from = (track.start[row]! - window.start) / nsPerPixel;
        if (from >= width) break;
        const to = from + track.duration![row]! / nsPerPixel;
        at++;
        if (to < 0) continue;
        // Whole pixels: edges between them cost a software canvas far more.
        const x0 = Math.max(Math.floor(from), -2);
        const x1 = Math.min(Math.max(Math.round(to), x0 + 1), width + 2);
        if (x1 - x0 <= 3) {
          if (x0 > runEnd) {
            flush();
            runStart = x0;
          }
          runEnd = Math.max(x1, runEnd);
          // What lies in the same pixel adds nothing to see.
          const limit = window.start + x1 * nsPerPixel;
          if (to - from < 1) at = rows ? firstEndingAfter(track, rows, limit, at) : Math.max(at, firstAtLeast(track.start, at, end, limit));
          continue;
        }
        flush();
        const rect: Rect = [left + x0, lineY, x1 - x0 - 1, lineHeight];
        put(this.spanColor(scene, track.table, row, kinds ? kinds[row]! : 0), rect);
        if (x1 - x0 > 24) texts.push({ rect, row });
      }
      flush();
    }
    for (const [color, own] of rects) {
      context.fillStyle = color;
      for (const rect of own) context.fillRect(...rect);
    }
    context.font = height >= 18 ? FONT : SMALL_FONT;
    for (const { rect, row } of texts) {
      context.fillStyle = track.table === "calls" ? theme.background : theme.text;
      this.textWithin(this.spanText(timeline, track.table, row, rect[2]), rect);
    }
    context.font = FONT;
    if (scene.hits) this.paintHitMarks(scene, placed, y, left, width, nsPerPixel);
  }

  private spanColor(scene: Scene, table: string, row: number, kind: number): string {
    const { theme, timeline } = scene;
    if (table === "calls") return theme.calls[kind] ?? theme.calls[0]!;
    if (table === "stages") return ((timeline.tables.stages["flags"]?.[row] ?? 0) & 1) === 1 ? theme.range : theme.rangeAlternate;
    return row % 2 === 0 ? theme.range : theme.rangeAlternate;
  }

  private spanText(timeline: Timeline, table: string, row: number, width: number): string {
    if (table === "stages") return instanceWords(timeline, "stages", row);
    if (table === "steps") {
      const words = instanceWords(timeline, "steps", row);
      return width > words.length * LETTER + 8 ? words : (/\d+/.exec(words)?.[0] ?? "");
    }
    const name = timeline.names[timeline.tables[table as "calls"]["name"]?.[row] ?? -1] ?? "";
    // "07" of "layer_07" where no more has room.
    return table === "layers" && width < name.length * LETTER + 8 ? (/\d+$/.exec(name)?.[0] ?? name) : name;
  }

  private paintCounter(scene: Scene, placed: PlacedTrack, y: number): void {
    const { context } = this;
    const { track, height } = placed;
    const { theme, window } = scene;
    const left = this.left(scene);
    const width = Math.ceil(scene.width - left);
    const nsPerPixel = this.nsPerPixel(scene);
    const values = scene.timeline.tables.samples["value"]!;
    const end = track.first + track.count;
    const highest = track.max && track.max > 0 ? track.max : 1;
    context.fillStyle = theme.band;
    context.fillRect(left, y, width, height);
    let row = Math.max(track.first, firstAtLeast(track.start, track.first, end, window.start) - 1);
    const top = (value: number) => Math.round(y + height - Math.min(1, value / highest) * (height - 2));
    const bottom = y + height;
    let runStart = -1;
    let runTop = bottom;
    // Whole pixels in runs: a path of a thousand corners costs a software canvas ten times as much.
    const runs: Rect[] = [];
    const flush = (x: number) => {
      if (runStart >= 0 && x > runStart) runs.push([left + runStart, runTop, x - runStart, bottom - runTop]);
    };
    let x = row < end ? Math.max(0, Math.floor((track.start[row]! - window.start) / nsPerPixel)) : width;
    while (x < width && row < end) {
      let next = row;
      let highestHere = 0;
      const limit = window.start + (x + 1) * nsPerPixel;
      while (next < end && track.start[next]! < limit) highestHere = Math.max(highestHere, values[next++]!);
      const own = next > row ? top(highestHere) : runTop;
      if (own !== runTop || runStart < 0) {
        flush(x);
        runStart = x;
        runTop = own;
      }
      row = next;
      // The value lasts until the next sample.
      x = row < end ? Math.max(x + 1, Math.floor((track.start[row]! - window.start) / nsPerPixel)) : x + 1;
    }
    flush(Math.min(x, width));
    context.fillStyle = theme.area;
    for (const run of runs) context.fillRect(...run);
    context.fillStyle = theme.areaLine;
    for (const [runX, runY, runWidth] of runs) context.fillRect(runX, runY, runWidth, 1);
  }

  private paintSelection(scene: Scene, top: number, bottom: number): void {
    if (!scene.selection) return;
    const { context } = this;
    const from = Math.max(this.x(scene, scene.selection[0]), this.left(scene));
    const to = this.x(scene, scene.selection[1]);
    if (to < this.left(scene)) return;
    context.fillStyle = scene.theme.selection;
    context.fillRect(from, top, to - from, bottom - top);
    context.fillStyle = scene.theme.accent;
    context.fillRect(from, top, 1, bottom - top);
    context.fillRect(to, top, 1, bottom - top);
  }

  private rectOf(scene: Scene, ref: RowRef): Rect | null {
    const placed = scene.layout.tracks[ref.track];
    if (!placed) return null;
    const { track } = placed;
    const x = this.x(scene, track.start[ref.row]!);
    const width = track.duration ? track.duration[ref.row]! / this.nsPerPixel(scene) : 0;
    const line = track.table === "ranges" ? scene.timeline.tables.ranges["depth"]![ref.row]! : 0;
    const height = track.table === "ranges" ? RANGE_LINE - 1 : placed.height;
    return [x, placed.y + TOP - scene.scrollY + line * RANGE_LINE, Math.max(width, 2), height];
  }

  private paintOutlines(scene: Scene): void {
    const { context } = this;
    const outline = (ref: RowRef | null, width: number, color: string) => {
      const rect = ref && scene.timeline.tracks[ref.track]?.table !== "samples" ? this.rectOf(scene, ref) : null;
      if (!rect) return;
      context.strokeStyle = color;
      context.lineWidth = width;
      context.strokeRect(rect[0] - 0.5, rect[1] - 0.5, rect[2] + 1, rect[3] + 1);
    };
    outline(scene.hit, 2, scene.theme.accent);
    outline(scene.hovered, 1.5, scene.theme.text);
    outline(scene.pinned, 2, scene.theme.text);
  }

  /** From a launching call to what it launched, for the row under the pointer and the pinned one. */
  private paintArrows(scene: Scene): void {
    for (const ref of [scene.pinned, scene.hovered]) {
      if (!ref) continue;
      const track = scene.timeline.tracks[ref.track]!;
      if (track.table === "slices") {
        const call = (scene.timeline.tables.slices["call"]?.[ref.row] ?? 0) - 1;
        if (call >= 0) this.paintArrow(scene, this.refOf(scene, "calls", call), ref);
      } else if (track.table === "calls") {
        const rows = scene.launchedBy().of(ref.row);
        // A graph launches hundreds: the first and the last of them say where its work lies.
        const few = rows.length > 8 ? [rows[0]!, rows[rows.length - 1]!] : [...rows];
        for (const row of few) this.paintArrow(scene, ref, this.refOf(scene, "slices", row));
      }
    }
  }

  private refOf(scene: Scene, table: string, row: number): RowRef | null {
    const track = scene.timeline.tracks.findIndex((each) => each.table === table && row >= each.first && row < each.first + each.count);
    return track < 0 ? null : { track, row };
  }

  private paintArrow(scene: Scene, from: RowRef | null, to: RowRef | null): void {
    const start = from && this.rectOf(scene, from);
    const end = to && this.rectOf(scene, to);
    if (!start || !end) return;
    const { context } = this;
    const downwards = end[1] > start[1];
    const x0 = start[0];
    const y0 = downwards ? start[1] + start[3] : start[1];
    const x1 = end[0];
    const y1 = downwards ? end[1] : end[1] + end[3];
    context.save();
    context.beginPath();
    context.rect(this.left(scene), TOP, scene.width, scene.height);
    context.clip();
    context.strokeStyle = scene.theme.text;
    context.fillStyle = scene.theme.text;
    context.lineWidth = 1.25;
    context.beginPath();
    context.moveTo(x0, y0);
    const bend = (y1 - y0) / 2;
    context.bezierCurveTo(x0, y0 + bend, x1, y1 - bend, x1, y1);
    context.stroke();
    context.beginPath();
    const tip = downwards ? -6 : 6;
    context.moveTo(x1, y1);
    context.lineTo(x1 - 3.5, y1 + tip);
    context.lineTo(x1 + 3.5, y1 + tip);
    context.fill();
    context.restore();
  }

  private paintLabels(scene: Scene): void {
    const { layout, theme, scrollY } = scene;
    this.gutterEdge = layout.gutter;
    if (layout.gutter === 0) {
      this.paintAllLabels(scene, this.context);
      return;
    }
    const ratio = this.context.getTransform().a;
    const key = [scrollY, scene.height, layout.height, theme.background, ratio].join("/");
    if (key !== this.gutterKey || !this.gutter) {
      this.gutter = document.createElement("canvas");
      this.gutter.width = Math.round(layout.gutter * ratio);
      this.gutter.height = Math.round(scene.height * ratio);
      const context = this.gutter.getContext("2d")!;
      context.setTransform(ratio, 0, 0, ratio, 0, 0);
      context.fillStyle = theme.background;
      context.fillRect(0, 0, layout.gutter, scene.height);
      context.fillStyle = theme.rule;
      context.fillRect(layout.gutter - 1, TOP, 1, scene.height - TOP);
      this.paintAllLabels(scene, context);
      this.gutterKey = key;
    }
    this.context.drawImage(this.gutter, 0, 0, layout.gutter, scene.height);
    this.context.fillStyle = theme.rule;
    for (const group of layout.groups) this.context.fillRect(0, group.y + TOP - scrollY, scene.width, 1);
  }

  private gutter: HTMLCanvasElement | null = null;
  private gutterKey = "";

  private paintAllLabels(scene: Scene, context: CanvasRenderingContext2D): void {
    const { layout, theme, scrollY, width } = scene;
    context.textBaseline = "middle";
    for (const group of layout.groups) {
      const y = group.y + TOP - scrollY;
      context.font = `600 ${FONT}`;
      context.fillStyle = theme.text;
      context.fillText(group.label, 10, y + 11);
      context.fillStyle = theme.rule;
      context.fillRect(0, y, width, 1);
    }
    for (const placed of layout.tracks) this.paintLabel(scene, placed, context);
  }

  private paintLabel(scene: Scene, placed: PlacedTrack, context: CanvasRenderingContext2D): void {
    const { layout, theme } = scene;
    const y = placed.y + TOP - scene.scrollY;
    if (y + placed.height < TOP || y > scene.height) return;
    const beside = layout.gutter > 0;
    const { track } = placed;
    const letters = Math.floor(((beside ? layout.gutter : scene.width) - 20) / LETTER);
    const label = track.label.length > letters ? `${track.label.slice(0, letters - 1)}…` : track.label;
    context.font = beside ? FONT : SMALL_FONT;
    context.fillStyle = theme.muted;
    const middle = beside ? y + Math.min(placed.height, 24) / 2 : y - layout.labelHeight / 2;
    context.fillText(label, beside ? 10 : 4, middle);
    if (track.kind === "counter" && track.max !== undefined) {
      context.font = SMALL_FONT;
      const top = `max ${counterText(track.max)}${track.unit ?? ""}`.trim();
      if (beside) context.fillText(top, 10, middle + 14);
      else context.fillText(top, scene.width - top.length * LETTER - 4, middle);
    }
    context.font = FONT;
  }

  /** The whole capture in one strip, with the window that is shown. */
  private paintMinimap(scene: Scene): void {
    const { context } = this;
    const { theme, layout, width } = scene;
    const left = layout.gutter;
    const inner = Math.max(1, Math.ceil(width - left));
    const key = `${inner}/${theme.background}`;
    if (key !== this.minimapKey || !this.minimap) {
      this.minimap = this.makeMinimap(scene, inner);
      this.minimapKey = key;
    }
    context.fillStyle = theme.band;
    context.fillRect(0, 0, width, MINIMAP_HEIGHT);
    context.drawImage(this.minimap, left, 0, inner, MINIMAP_HEIGHT);
    const span = Math.max(1, scene.timeline.spanNs);
    const x0 = left + (Math.max(0, scene.window.start) / span) * inner;
    const x1 = Math.max(x0 + 2, left + (Math.min(span, scene.window.end) / span) * inner);
    context.globalAlpha = 0.62;
    context.fillStyle = theme.background;
    context.fillRect(left, 0, x0 - left, MINIMAP_HEIGHT);
    context.fillRect(x1, 0, width - x1, MINIMAP_HEIGHT);
    context.globalAlpha = 1;
    context.strokeStyle = theme.text;
    context.lineWidth = 1;
    context.strokeRect(x0 + 0.5, 0.5, x1 - x0 - 1, MINIMAP_HEIGHT - 1);
    if (scene.selection) {
      context.fillStyle = theme.accent;
      const from = left + (scene.selection[0] / span) * inner;
      context.fillRect(from, 0, Math.max(2, ((scene.selection[1] - scene.selection[0]) / span) * inner), 3);
    }
    if (left > 0) {
      context.fillStyle = theme.muted;
      context.fillText(`${duration(span)} in all`, 10, MINIMAP_HEIGHT / 2);
    }
  }

  private makeMinimap(scene: Scene, width: number): HTMLCanvasElement {
    const canvas = document.createElement("canvas");
    canvas.width = width;
    canvas.height = MINIMAP_HEIGHT;
    const context = canvas.getContext("2d")!;
    const nsPerPixel = Math.max(1, scene.timeline.spanNs) / width;
    this.columns.reset(width);
    for (const track of scene.timeline.tracks) {
      if (track.table !== "slices") continue;
      const level = levelFor(track, nsPerPixel);
      if (level) addBins(scene.timeline, level, this.columns, 0, nsPerPixel, width);
      else this.addRows(scene, track.first, track.first + track.count, track.start, track.duration!, nsPerPixel, width);
    }
    const height = MINIMAP_HEIGHT - 6;
    this.columns.runs(width, nsPerPixel, height, (x, pixels, bar, classIndex) => {
      context.fillStyle = scene.theme.classes[classIndex]!;
      context.fillRect(x, 3 + height - bar, pixels, bar);
    });
    return canvas;
  }

  private addRows(scene: Scene, first: number, last: number, starts: ArrayLike<number>, durations: ArrayLike<number>, nsPerPixel: number, width: number): void {
    const kernels = scene.timeline.tables.slices["kernel"]!;
    for (let row = first; row < last; row++) {
      const classIndex = scene.timeline.kernels[kernels[row]!]!.class;
      const end = starts[row]! + durations[row]!;
      for (let x = Math.floor(starts[row]! / nsPerPixel); x < width && x * nsPerPixel < end; x++) {
        const ns = Math.min(end, (x + 1) * nsPerPixel) - Math.max(starts[row]!, x * nsPerPixel);
        if (x >= 0) this.columns.add(x, classIndex, ns);
      }
    }
  }
}

function counterText(value: number): string {
  if (value >= 1e5) return prefixed(value);
  return `${value >= 100 ? Math.round(value) : Number(value.toPrecision(3))} `;
}

/** "1.98 G": raw metrics come in Hz and bytes. */
function prefixed(value: number): string {
  const steps = Math.min(4, Math.floor(Math.log10(value) / 3));
  return `${Number((value / 1000 ** steps).toPrecision(3))} ${["", "k", "M", "G", "T"][steps]}`;
}
