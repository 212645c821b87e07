// Single launches and idle gaps in the timeline: which belong to a stage, their order and their sums.
import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "./load.mjs";

const { listGaps, layerSums, launchesOf, WHOLE_CAPTURE } = await load(
  "timeline/gap_list",
  "timeline/kernel_launches",
  "data/kernel_scope",
);

/** Work of two streams of one GPU: [stream, start, duration, kernel, instance, layer, gap], the last three from 1. */
const WORK = [
  [0, 0, 10, 0, 1, 0, 0],
  [0, 40, 10, 1, 1, 0, 1], // after a gap of 25, which the other stream shortens
  [0, 100, 10, 0, 2, 3, 0],
  [0, 120, 10, 0, 2, 3, 2], // after a gap of 10
  [0, 160, 30, 1, 2, 0, 1], // after a gap of 30
  [1, 5, 10, 1, 1, 0, 0],
];

function madeTimeline() {
  const column = (at) => Float64Array.from(WORK, (row) => row[at]);
  const slices = {
    start: column(1),
    duration: column(2),
    kernel: column(3),
    instance: column(4),
    layer: column(5),
    gap: column(6),
    kind: new Float64Array(WORK.length),
  };
  const track = (first, count) => ({
    table: "slices",
    group: "cuda:0",
    device: "cuda:0",
    first,
    count,
    start: slices.start,
    duration: slices.duration,
  });
  return {
    names: ["prefill", "decode", "layer 0", "void gemm()", "void norm()"],
    causes: ["idle: launch-bound", "idle: synchronisation"],
    kernels: [
      { name: 3, short: 3, class: 0 },
      { name: 4, short: 4, class: 1 },
    ],
    tracks: [track(0, 5), track(5, 1)],
    // A prefill, which is warm-up, and a decode.
    tables: { slices, stages: { name: [0, 1], start: [0, 90], flags: [1, 0] } },
  };
}

const timeline = madeTimeline();
const kernel = (name) => ({ kernel_name: `void ${name}()`, short_name: name, device: "cuda:0", stages: {} });
const profile = {
  stages: [
    { name: "prefill", shown: { warmup_only: true } },
    { name: "decode", shown: { warmup_only: false } },
  ],
  measured_kernels_all_devices: [{}],
  kernels: [kernel("gemm"), kernel("norm")],
};

test("gaps of measured instances are listed by cause, longest first", () => {
  const all = ["idle: launch-bound", "idle: synchronisation"];
  assert.deepEqual(
    listGaps(timeline, "", all).map((gap) => [gap.stage, gap.cause, gap.start, gap.ns, gap.after.row]),
    [
      ["decode", "idle: launch-bound", 130, 30, 4],
      ["decode", "idle: synchronisation", 110, 10, 3],
    ],
    "that of the prefill is warm-up",
  );
  assert.deepEqual(
    listGaps(timeline, "decode", ["idle: synchronisation"]).map((gap) => gap.ns),
    [10],
  );
  assert.deepEqual(listGaps(timeline, "prefill", all), []);
});

test("launches of a kernel are those of the scope, slowest first", () => {
  const rows = (of, scope, layer = "") => launchesOf(timeline, profile, of, scope, layer).map((each) => each.row);
  const [gemm, norm] = profile.kernels;
  assert.deepEqual(rows(norm, WHOLE_CAPTURE), [4, 1, 5]);
  assert.deepEqual(rows(norm, ""), [4], "without warm-up");
  assert.deepEqual(rows(norm, "prefill"), [1, 5], "a stage that is nothing but warm-up");
  assert.deepEqual(rows(gemm, "decode"), [2, 3]);
});

test("sums of a layer are those of its launches", () => {
  const sums = layerSums(timeline, profile, "decode", "layer 0");
  assert.deepEqual(
    sums.map((each) => [each.kernel.short_name, each.calls, each.total, each.mean, each.share]),
    [["gemm", 2, 20e-6, 10e-6, 1]],
  );
});
