// GPU memory: areas over time, treemaps, and what belongs to a time of the ledger.
import assert from "node:assert/strict";
import { test } from "node:test";
import { withLedger } from "../made_memory.mjs";
import { load } from "./load.mjs";

const { treemap, ticks, stackedEdges, stepArea, stepLine, indexAt, joined, axisBytes, axisTime, ...model } =
  await load("chart/treemap", "chart/ticks", "chart/areas", "memory/words", "memory/model");

const FRAME = { width: 1000, height: 300 };

const overlap = (a, b) =>
  Math.max(0, Math.min(a.left + a.width, b.left + b.width) - Math.max(a.left, b.left)) *
  Math.max(0, Math.min(a.top + a.height, b.top + b.height) - Math.max(a.top, b.top));

test("tiles of a treemap have the areas of their items, inside the frame, without overlapping", () => {
  const sizes = [34.36, 16.06, 11, 0.645, 0.52, 0.42, 0.0335, 0.0335, 0.0096, 0.0021];
  const tiles = treemap(sizes, (size) => size, FRAME);
  const all = sizes.reduce((sum, size) => sum + size);
  assert.deepEqual(
    tiles.map(({ item }) => item),
    sizes,
  );
  for (const tile of tiles) {
    assert.ok(Math.abs((tile.width * tile.height) / (FRAME.width * FRAME.height) - tile.item / all) < 1e-9);
    assert.ok(tile.left >= 0 && tile.top >= 0);
    assert.ok(tile.left + tile.width <= FRAME.width + 1e-6 && tile.top + tile.height <= FRAME.height + 1e-6);
    for (const other of tiles) if (other !== tile) assert.ok(overlap(tile, other) < 1e-6);
  }
});

test("tiles of equal items are nearly square", () => {
  for (const tile of treemap(Array(12).fill(1), (size) => size, { width: 400, height: 300 }))
    assert.ok(Math.max(tile.width / tile.height, tile.height / tile.width) < 1.4);
});

test("items without a size have no tile", () => {
  assert.deepEqual(
    treemap([0, 5, -3], (size) => size, FRAME),
    [{ item: 5, left: 0, top: 0, width: 1000, height: 300 }],
  );
  assert.deepEqual(
    treemap([], (size) => size, FRAME),
    [],
  );
});

test("ticks are round and inside the axis", () => {
  assert.deepEqual(ticks(0, 66e9, 6), [0, 20e9, 40e9, 60e9]);
  assert.deepEqual(ticks(0.9, 4.1, 4), [1, 2, 3, 4]);
  assert.deepEqual(ticks(5, 5, 6), []);
});

test("layers are stacked; negative values take no room", () => {
  const edges = stackedEdges(
    [
      [1, 2, 3],
      [10, -5, 0],
      [0, 1, 1],
    ],
    3,
  );
  assert.deepEqual(
    edges.map((edge) => [...edge]),
    [
      [1, 2, 3],
      [11, 2, 3],
      [11, 3, 4],
    ],
  );
});

test("a value holds until the next one", () => {
  const scale = { x: (time) => time, y: (value) => 100 - value };
  assert.equal(stepLine([0, 10], [5, 8], 30, scale), "M0,95L10,95L10,92L30,92");
  assert.equal(stepArea([0, 10], [5, 8], [0, 1], 30, scale), "M0,95L10,95L10,92L30,92L30,99L10,99L10,100L0,100Z");
  assert.equal(stepArea([], [], [], 30, scale), "");
});

test("the reading at a time is the last one before it", () => {
  assert.deepEqual(
    [-1, 0, 9, 10, 25].map((time) => indexAt([0, 10, 20], time)),
    [0, 0, 0, 1, 2],
  );
});

test("narrow spans that touch are drawn as one", () => {
  const spans = [0, 1, 2].map((from) => ({ from, to: from + 0.9, label: String(from) }));
  assert.deepEqual(joined(spans, 0.5), spans);
  assert.equal(joined(spans, 2).length, 1);
  assert.deepEqual(joined(spans, 2)[0], { from: 0, to: 2.9, label: "0" });
});

test("axes have units and no empty digits", () => {
  assert.deepEqual([0, 20e9, 2.5e9, 150_754_820_096, 512].map(axisBytes), [
    "0 B",
    "20 GB",
    "2.5 GB",
    "150.8 GB",
    "512 B",
  ]);
  assert.equal(axisTime(500).text(150), "150");
  assert.deepEqual([axisTime(20_000).unit, axisTime(20_000).text(1500)], ["s", "1.5"]);
});

const instance = (start_ns, wall_ms, device = "cuda:0", warmup = false) => ({ start_ns, wall_ms, device, warmup });
const S = 1e9;
const profile = withLedger({
  stages: [
    { name: "prefill", instances: [instance(100 * S, 500, "cuda:0", true), instance(101 * S, 400)] },
    { name: "decode", instances: [instance(101.4 * S, 600), instance(100 * S, 50, "cuda:1")] },
  ],
  steps: [
    { stage: "decode", instance: 0, step_of_instance: 0, start_ms: 101_400, wall_ms: 300 },
    { stage: "decode", instance: 0, step_of_instance: 1, start_ms: 101_700, wall_ms: 300 },
    { stage: "decode", instance: 1, step_of_instance: 0, start_ms: 100_000, wall_ms: 50 },
  ],
});
const ledger = profile.memory_ledger;

test("stages and steps are on the axis of the ledger", () => {
  // The ledger begins 4 s before the first stage.
  const start = ledger.gpus[0].start_ns;
  assert.equal(start, 96 * S);
  const near = (spans) => spans.map(({ from, to, label }) => [Math.round(from), Math.round(to), label]);
  assert.deepEqual(near(model.stageSpans(profile, "cuda:0", start)), [
    [4000, 4500, "prefill (warm-up)"],
    [5000, 5400, "prefill"],
    [5400, 6000, "decode"],
  ]);
  assert.deepEqual(near(model.stepSpans(profile, "cuda:0", start)), [
    [5400, 5700, "decode 0"],
    [5700, 6000, "decode 1"],
  ]);
  assert.deepEqual(
    model.stageSpans(profile, "cuda:0", start).map((span) => span.isOdd),
    [false, true, false],
  );
  const at = (ms) => model.instanceAt(profile, "cuda:0", start, ms);
  assert.deepEqual([at(3999), at(4200).stage, at(5500).stage, at(5500).instance], [null, "prefill", "decode", 0]);
  assert.equal(model.instanceAt(profile, "cuda:1", start, 4020).instance, 1);
});

test("a GPU has its own points and moments", () => {
  for (const gpu of [0, 1]) {
    const points = model.pointsOf(ledger, gpu);
    const moments = model.momentsOf(ledger, gpu);
    assert.equal(points.length, 240);
    assert.equal(moments.length, 4);
    const peak = ledger.moments[model.peakOf(ledger, moments)];
    assert.equal(peak.used_bytes, Math.max(...points.map((point) => point.used_bytes)));
    const index = points.findIndex((point) => point.time_ms === peak.time_ms);
    assert.equal(ledger.moments[model.momentAt(ledger, moments, points[index])].time_ms, peak.time_ms);
    assert.equal(model.momentAt(ledger, moments, points[1]), null);
    const rows = model.rowsOf(ledger, moments[0]);
    assert.equal(
      rows.reduce((sum, row) => sum + row.bytes, 0),
      ledger.moments[moments[0]].used_bytes,
    );
  }
});

test("parts are those that have bytes, in the ledger's order", () => {
  const points = model.pointsOf(ledger, 0);
  assert.deepEqual(model.partsIn(points, ["rest", "vmm", "weights"]), ["rest", "weights"]);
  assert.equal(model.bytesOf(points[0], "kv_cache"), 0);
});
