// Requests as rows of a waterfall: lanes, waits, and what they were for.
import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "./load.mjs";

const { RequestsModel, bySize, inOrder } = await load("requests/model");

const request = (id, sent_ms, token_ns, more = {}) => ({
  id,
  status: "completed",
  sent_ms,
  token_ns,
  e2e_ns: token_ns[token_ns.length - 1] + 10,
  ttft_parts_ns: { queue: 40, own_prefill: 60 },
  parts_ns: {},
  token_batches: token_ns.map((_, index) => index),
  waits: [],
  ...more,
});

const model = (items, more = {}) =>
  new RequestsModel({ items, slowest_gaps: [], batches: [], join: { state: "joined" }, ...more });

test("rows are in the order of sending, in ns since the first", () => {
  const made = model([request("b", 2, [100]), request("a", 1, [100, 300]), request("none", null, [5])]);
  assert.deepEqual(
    made.rows.map((row) => [row.request.id, row.index, row.start, row.end, row.lane]),
    [
      ["a", 1, 0, 310, 0],
      ["b", 0, 1e6, 1e6 + 110, 1],
    ],
  );
  assert.equal(made.origin, 1e6);
  assert.equal(made.span, 1e6 + 110);
});

test("many requests share lanes, and none overlaps another in its lane", () => {
  const items = Array.from({ length: 300 }, (_, i) => request(String(i), i, [1e6, 5.5e6]));
  const made = model(items);
  assert.ok(!made.hasOwnLanes);
  assert.ok(made.lanes >= 6 && made.lanes <= 8, `${made.lanes} lanes`);
  const ends = new Map();
  for (const row of made.rows) {
    assert.ok((ends.get(row.lane) ?? 0) <= row.start);
    ends.set(row.lane, row.end);
  }
});

test("a time lies in the wait that ends next", () => {
  const made = model([request("a", 0, [100, 300, 350])]);
  const [row] = made.rows;
  assert.deepEqual(
    [0, 100, 101, 300, 320, 360, 1000].map((time) => made.chunkAt(row, time)),
    [0, 0, 1, 1, 2, 3, 3],
  );
  assert.deepEqual(made.wait(row, 0), { chunk: 0, start: 0, end: 100 });
  assert.deepEqual(made.wait(row, 2), { chunk: 2, start: 300, end: 350 });
  assert.deepEqual(made.wait(row, 3), { chunk: 3, start: 350, end: 360 });
});

test("the largest part of a wait: of the first token its parts, of others those that are listed", () => {
  const waits = [{ chunk: 2, part: "others_prefill" }];
  const made = model([request("a", 0, [100, 300, 350], { waits })], {
    slowest_gaps: [{ request: 0, chunk: 2, parts_ns: { others_prefill: 30, host: 20 } }],
  });
  const [row] = made.rows;
  assert.deepEqual(
    [0, 1, 2, 3].map((chunk) => made.largestPart(row, chunk)),
    ["own_prefill", "own_decode", "others_prefill", "delivery"],
  );
  assert.deepEqual(made.partsOf(row, 2), { others_prefill: 30, host: 20 });
  assert.equal(made.partsOf(row, 1), null);
});

test("without a join nothing is said of parts", () => {
  const made = model([request("a", 0, [100, 300])], { join: { state: "other_clock" } });
  assert.equal(made.largestPart(made.rows[0], 0), "");
  assert.equal(made.partsOf(made.rows[0], 0), null);
  assert.ok(!made.isOnCapturesClock);
});

test("parts are drawn in one order, and listed by size; empty ones are left out", () => {
  const parts = { delivery: 5, own_decode: 0, queue: 1, others_prefill: 9 };
  assert.deepEqual(
    inOrder(parts).map(([part]) => part),
    ["queue", "others_prefill", "delivery"],
  );
  assert.deepEqual(
    bySize(parts).map(([part]) => part),
    ["others_prefill", "delivery", "queue"],
  );
});
