// Positions of tracks: a column of labels on the left (above each track on narrow screens), group headings in between.
import { counterMax, type Timeline, type Track, type TrackKind } from "./model";

export const MINIMAP_HEIGHT = 28;
export const AXIS_HEIGHT = 22;
export const TOP = MINIMAP_HEIGHT + AXIS_HEIGHT;
const GROUP_HEIGHT = 20;
const GAP = 4;
export const RANGE_LINE = 15;
const LEAST_GUTTER = 168;
const MOST_GUTTER = 250;
/** The mean width of a letter, to cut texts without measuring each. */
export const LETTER = 5.8;
const NARROW_SCREEN = 640;

const HEIGHTS: Record<TrackKind, number> = { stream: 30, thread: 16, stages: 20, steps: 16, layers: 16, counter: 34 };

const FEW_SAMPLES = 3;
const FEW_HEIGHT = 16;

/** Tracks that show shares grow into free space, up to this many times their height. */
const GROWING: readonly TrackKind[] = ["stream", "counter"];
const MOST_GROWTH = 3;

export interface PlacedTrack {
  track: Track;
  index: number;
  /** From the top of all tracks. */
  y: number;
  height: number;
}

export interface Layout {
  gutter: number;
  labelHeight: number;
  /** By index of the track. */
  tracks: PlacedTrack[];
  groups: { label: string; y: number }[];
  height: number;
}

/**
 * Keeps calls and ranges of a thread together; counters come last, so that streams are near the threads that launch.
 */
function drawingOrder(timeline: Timeline): number[] {
  const { tracks } = timeline;
  const rank = (track: Track, index: number): number => {
    if (track.kind === "counter") return tracks.length + index;
    return track.kind === "thread"
      ? tracks.findIndex((each) => each.group === track.group && each.thread === track.thread)
      : index;
  };
  return tracks
    .map((track, index) => ({ index, rank: rank(track, index) }))
    .sort((a, b) => a.rank - b.rank || a.index - b.index)
    .map((each) => each.index);
}

/** A counter with only a few samples is shown as a number, not a curve. */
const isCurve = (track: Track): boolean => track.kind !== "counter" || track.count > FEW_SAMPLES;

function ownHeight(track: Track): number {
  if (track.table === "ranges") return track.lines * RANGE_LINE;
  return isCurve(track) ? HEIGHTS[track.kind] : FEW_HEIGHT;
}

const grows = (track: Track): boolean => track.table !== "ranges" && GROWING.includes(track.kind) && isCurve(track);

export function layOut(timeline: Timeline, screenWidth: number, screenHeight: number): Layout {
  const natural = place(timeline, screenWidth, 1);
  const growing = timeline.tracks.filter(grows).reduce((sum, track) => sum + ownHeight(track), 0);
  const room = screenHeight - TOP - natural.height;
  return growing > 0 && room > 0 ? place(timeline, screenWidth, Math.min(MOST_GROWTH, 1 + room / growing)) : natural;
}

/** As wide as the longest label, within bounds. */
function gutterOf(timeline: Timeline, screenWidth: number): number {
  const widest = Math.min(MOST_GUTTER, Math.floor(screenWidth / 4));
  const longest = Math.max(
    0,
    ...timeline.tracks.map((track) => (isCurve(track) ? track.label : `${track.label}   ${counterMax(track)}`).length),
  );
  return Math.max(LEAST_GUTTER, Math.min(widest, Math.ceil(longest * LETTER) + 20));
}

function place(timeline: Timeline, screenWidth: number, growth: number): Layout {
  const narrow = screenWidth < NARROW_SCREEN;
  const layout: Layout = {
    gutter: narrow ? 0 : gutterOf(timeline, screenWidth),
    labelHeight: narrow ? 13 : 0,
    tracks: [],
    groups: [],
    height: 0,
  };
  let y = GAP;
  let group: string | null = null;
  const placed: PlacedTrack[] = [];
  for (const index of drawingOrder(timeline)) {
    const track = timeline.tracks[index]!;
    const own = track.kind === "counter" ? `${track.group} counters` : track.group;
    if (own !== group) {
      group = own;
      if (group) {
        layout.groups.push({ label: group, y });
        y += GROUP_HEIGHT;
      }
    }
    y += layout.labelHeight;
    const height = Math.floor(ownHeight(track) * (grows(track) ? growth : 1));
    placed[index] = { track, index, y, height };
    y += height + GAP;
  }
  layout.tracks = placed;
  layout.height = y + GAP;
  return layout;
}
