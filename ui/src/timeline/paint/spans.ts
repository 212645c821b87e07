// Calls, ranges, stages, steps, layers: gray, because hues mean kernel classes.
import { addSums, type PixelColumns } from "../columns_of_pixels";
import { instanceWords } from "../describe";
import { LETTER, RANGE_LINE, type PlacedTrack } from "../layout";
import { firstAtLeast, firstEndingAfter, rowsWithin, type Timeline } from "../model";
import { paintHitMarks } from "./hit_marks";
import { FONT, nsPerPixelOf, SMALL_FONT, type Rect, type Scene } from "./scene";
import type { Texts } from "./texts";

/** More rows than this are drawn from sums, not one by one. */
const MANY_ROWS = 6000;

function spanColor(scene: Scene, table: string, row: number, kind: number): string {
  const { theme, timeline } = scene;
  if (table === "calls") return theme.calls[kind] ?? theme.calls[0]!;
  if (table === "stages")
    return ((timeline.tables.stages["flags"]?.[row] ?? 0) & 1) === 1 ? theme.range : theme.rangeAlternate;
  return row % 2 === 0 ? theme.range : theme.rangeAlternate;
}

function spanText(timeline: Timeline, table: string, row: number, width: number): string {
  if (table === "stages") return instanceWords(timeline, "stages", row);
  if (table === "steps") {
    const words = instanceWords(timeline, "steps", row);
    return width > words.length * LETTER + 8 ? words : (/\d+/.exec(words)?.[0] ?? "");
  }
  const name = timeline.names[timeline.tables[table as "calls"]["name"]?.[row] ?? -1] ?? "";
  // "07" for "layer_07" if there is no room for more.
  return table === "layers" && width < name.length * LETTER + 8 ? (/\d+$/.exec(name)?.[0] ?? name) : name;
}

export class SpanPainter {
  constructor(
    private readonly context: CanvasRenderingContext2D,
    private readonly columns: PixelColumns,
    private readonly texts: Texts,
  ) {}

  paint(scene: Scene, placed: PlacedTrack, y: number): void {
    const { context } = this;
    const { track, height } = placed;
    const { timeline, theme, window } = scene;
    const left = scene.layout.gutter;
    const width = Math.ceil(scene.width - left);
    const nsPerPixel = nsPerPixelOf(scene);
    const columns = timeline.tables[track.table];
    const [first, last] = rowsWithin(track, window.start, window.end);
    if (last - first > MANY_ROWS && track.table === "calls") {
      this.columns.reset(width);
      addSums(track, this.columns, window.start, nsPerPixel, width);
      context.fillStyle = theme.calls[1]!;
      this.columns.runs(width, nsPerPixel, height, (x, pixels, bar) =>
        context.fillRect(left + x, y + height - bar, pixels, bar),
      );
      if (scene.hits) paintHitMarks(context, scene, placed, y);
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
      // The current run of narrow spans: thousands that touch are drawn as one.
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
        // Whole pixels: edges between pixels cost a software canvas far more.
        const x0 = Math.max(Math.floor(from), -2);
        const x1 = Math.min(Math.max(Math.round(to), x0 + 1), width + 2);
        if (x1 - x0 <= 3) {
          if (x0 > runEnd) {
            flush();
            runStart = x0;
          }
          runEnd = Math.max(x1, runEnd);
          // Other rows in the same pixel would not be visible.
          const limit = window.start + x1 * nsPerPixel;
          if (to - from < 1)
            at = rows
              ? firstEndingAfter(track, rows, limit, at)
              : Math.max(at, firstAtLeast(track.start, at, end, limit));
          continue;
        }
        flush();
        const rect: Rect = [left + x0, lineY, x1 - x0 - 1, lineHeight];
        put(spanColor(scene, track.table, row, kinds ? kinds[row]! : 0), rect);
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
      context.fillStyle = track.table === "calls" ? theme.onCalls[kinds ? kinds[row]! : 0]! : theme.text;
      this.texts.within(scene, spanText(timeline, track.table, row, rect[2]), rect);
    }
    context.font = FONT;
    if (scene.hits) paintHitMarks(context, scene, placed, y);
  }
}
