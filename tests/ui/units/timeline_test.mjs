// What the timeline shows, without a canvas: the visible span, search, pinned and revealed rows, sums of spans.
import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { load } from "./load.mjs";

const { TimelineState, NO_FILTER, TimeWindow, pick, sumSpan, readPlace, placeOptions } = await load(
  "timeline/timeline_state",
  "timeline/window",
  "timeline/pick",
  "timeline/sums",
  "timeline/address",
);

const MICROSECOND = 1000;

/** Two streams of one GPU: a kernel of 10 us every 20 us, and copies of 5 us that overlap every second one. */
function madeTimeline() {
  const rows = { start: [], duration: [], kernel: [] };
  const add = (kernel, count, start, every, duration) => {
    const first = rows.start.length;
    for (let i = 0; i < count; i++) {
      rows.start.push((start + i * every) * MICROSECOND);
      rows.duration.push(duration * MICROSECOND);
      rows.kernel.push(kernel);
    }
    return { first, count };
  };
  const ranges = [add(0, 50, 0, 20, 10), add(1, 25, 5, 40, 5)];
  const columns = {
    start: Float64Array.from(rows.start),
    duration: Float64Array.from(rows.duration),
    kernel: Uint32Array.from(rows.kernel),
  };
  const track = ({ first, count }) => ({
    table: "slices",
    group: "cuda:0",
    first,
    count,
    ...columns,
    lines: 1,
    lineRows: null,
    latestEnd: columns.start.slice(first, first + count).map((start, i) => start + columns.duration[first + i]),
  });
  return {
    spanNs: 1000 * MICROSECOND,
    clocks: [],
    names: ["gemm_kernel", "gemm", "copy_kernel", "copy"],
    kernels: [
      { name: 0, short: 1, class: 0 },
      { name: 2, short: 3, class: 1 },
    ],
    tracks: ranges.map(track),
    tables: { slices: columns, stages: {}, steps: {}, layers: {}, calls: {}, ranges: {}, samples: {} },
  };
}

const timeline = madeTimeline();
let state = new TimelineState(timeline);
beforeEach(() => {
  state = new TimelineState(timeline);
});

test("the window keeps inside of the capture, and neither too narrow nor too wide", () => {
  const window = new TimeWindow(1000);
  assert.ok(window.start < 0 && window.end > 1000, "room at both ends");
  window.zoom(1e-9, 500);
  assert.equal(window.width, 50);
  assert.equal((window.start + window.end) / 2, 500);
  window.pan(1e9);
  assert.ok(window.start <= 1000);
  window.zoom(1e9, 500);
  assert.equal(window.width, 1040);
});

test("a selection is of whole nanoseconds and never empty", () => {
  state.select([10.4, 10.2]);
  assert.deepEqual(state.selection, [10, 11]);
  state.select(null);
  assert.equal(state.selection, null);
});

test("a search goes from hit to hit, around the end, and pins them", () => {
  state.setFilter({ ...NO_FILTER, text: "COPY" });
  assert.equal(state.hits.count, 25);
  assert.equal(state.hits.totalNs, 125 * MICROSECOND);
  assert.deepEqual(state.goToHit(true), { track: 1, row: 50 });
  assert.deepEqual(state.goToHit(true), { track: 1, row: 51 });
  assert.deepEqual(state.pinned, { track: 1, row: 51 });
  state.goToHit(false);
  assert.deepEqual(state.goToHit(false), { track: 1, row: 74 });
  const { hits } = state;
  state.setFilter({ ...NO_FILTER, text: "COPY" });
  assert.equal(state.hits, hits, "the same filter keeps its hits");
  state.setFilter(NO_FILTER);
  assert.equal(state.hits, null);
  assert.equal(state.goToHit(true), null);
});

test("hits of two tracks are in order of start", () => {
  state.setFilter({ ...NO_FILTER, text: "kernel" });
  const { starts, count } = state.hits;
  assert.equal(count, 75);
  assert.ok(starts.every((start, i) => i === 0 || starts[i - 1] <= start));
});

test("a revealed row is in sight, and wide enough to be seen", () => {
  state.window.set(0, 50 * MICROSECOND);
  state.reveal({ track: 0, row: 40 });
  const [start, end] = state.spanOf({ track: 0, row: 40 });
  assert.ok(state.window.start <= start && state.window.end >= end);
  assert.equal(state.window.width, 50 * MICROSECOND, "no wider than before");
  state.window.showAll();
  state.reveal({ track: 0, row: 40 });
  assert.equal(state.window.width, 600 * MICROSECOND, "60 times its length");
});

test("rows beside end at the track's ends", () => {
  assert.deepEqual(state.neighborRow({ track: 1, row: 50 }, -1), { track: 1, row: 50 });
  assert.deepEqual(state.neighborRow({ track: 1, row: 73 }, 5), { track: 1, row: 74 });
});

test("hovering says whether another row is hovered now", () => {
  assert.equal(state.hover({ track: 0, row: 1 }), true);
  assert.equal(state.hover({ track: 0, row: 1 }), false);
  assert.equal(state.hover(null), true);
});

test("what is under the pointer: the row there, or a near one that is narrower than a pixel", () => {
  const layout = { tracks: timeline.tracks.map((track, index) => ({ track, index, y: index * 20, height: 20 })) };
  const at = (us, y, nsPerPixel) => pick(layout, us * MICROSECOND, y, nsPerPixel);
  assert.deepEqual(at(25, 5, 100), { track: 0, row: 1 });
  assert.equal(at(35, 5, 100), null);
  assert.deepEqual(at(35, 5, 5 * MICROSECOND), { track: 0, row: 1 });
  assert.deepEqual(at(6, 25, 100), { track: 1, row: 50 });
  assert.equal(at(25, 45, 100), null);
});

test("a span's sums clip rows at its edges; overlapping work is busy once", () => {
  const sums = sumSpan(timeline, 5 * MICROSECOND, 45 * MICROSECOND);
  // Kernels from 5 to 10, 20 to 30 and 40 to 45; the copy from 5 to 10 lies within the first.
  assert.deepEqual(sums.gpus, [{ group: "cuda:0", busyNs: 20 * MICROSECOND, idleNs: 20 * MICROSECOND }]);
  assert.equal(sums.sumNs, 25 * MICROSECOND);
  assert.deepEqual(sums.kernels.get(1), { ns: 5 * MICROSECOND, count: 1 });
});

test("what is shown is in the address, and comes back from it", () => {
  const app = { view: { classes: [{ id: "gemm" }, { id: "copy/cast" }] } };
  state.window.set(100, 5000);
  state.select([200, 300]);
  state.pinned = { track: 1, row: 51 };
  state.setFilter({ text: "copy", classes: [1], stage: "", layer: "" });
  const options = placeOptions(app, timeline, state.place);
  assert.equal(options.pin, "slices:51");
  const written = Object.entries(options).filter(([, value]) => value);
  const place = readPlace(app, timeline, new URLSearchParams(written));
  assert.deepEqual(place.selection, [200, 300]);
  assert.deepEqual(place.pinned, { track: 1, row: 51 });
  assert.deepEqual(place.filter, { text: "copy", classes: [1], stage: "", layer: "" });
  const other = new TimelineState(timeline);
  other.restore(place);
  assert.equal(other.hits.count, 25);
  assert.ok(Math.abs(other.window.start - state.window.start) <= 1);
});
