// The codings of the timeline's columns, and what a pixel shows of many rows.
import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "./load.mjs";

const { decodeColumn, floatColumn, PixelColumns, levelFor } = await load("data/columns", "timeline/columns_of_pixels");

const decoded = (bytes, coding, rows) => [...decodeColumn(Uint8Array.from(bytes), coding, new Float64Array(rows))];

test("varints of one to eight bytes", () => {
  assert.deepEqual(decoded([0x00, 0x7f, 0x80, 0x01, 0xff, 0xff, 0x03], "u", 4), [0, 127, 128, 65535]);
  const largest = [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x0f];
  assert.deepEqual(decoded(largest, "u", 1), [2 ** 53 - 1]);
});

test("zigzag, differences, and both", () => {
  assert.deepEqual(decoded([0, 1, 2, 3], "s", 4), [0, -1, 1, -2]);
  assert.deepEqual(decoded([5, 5, 5], "udelta", 3), [5, 10, 15]);
  assert.deepEqual(decoded([10, 1, 1], "sdelta", 3), [5, 4, 3]);
  // -(2^31 + 1) takes five bytes.
  assert.deepEqual(decoded([0x81, 0x80, 0x80, 0x80, 0x10], "s", 1), [-(2 ** 31 + 1)]);
});

test("a column that is cut off is refused", () => {
  assert.throws(() => decoded([0x80], "u", 1), /cut off/);
  assert.throws(() => decoded([1], "u", 2), /cut off/);
});

test("floats are little-endian", () => {
  assert.deepEqual([...floatColumn(Uint8Array.from([0, 0, 0x80, 0x3f, 0, 0, 0, 0xc0]))], [1, -2]);
});

test("a pixel is as high as it is busy, in the color of the class with the most time", () => {
  const columns = new PixelColumns(3);
  const runs = [];
  const draw = () => columns.runs(4, 100, 20, (...run) => runs.push(run));
  columns.reset(4);
  columns.add(0, 1, 50);
  columns.add(1, 1, 50);
  columns.add(2, 0, 30);
  columns.add(2, 2, 90);
  draw();
  // Two alike are one run; more than a pixel's time is all of it.
  assert.deepEqual(runs, [
    [0, 2, 10, 1],
    [2, 1, 20, 2],
  ]);
  runs.length = 0;
  columns.reset(4);
  draw();
  assert.deepEqual(runs, []);
});

test("the widest bins that are not wider than a pixel", () => {
  const levels = [10, 100, 1000].map((bin_ns) => ({ bin_ns }));
  assert.equal(levelFor({ levels }, 250).bin_ns, 100);
  assert.equal(levelFor({ levels }, 5), null);
  assert.equal(levelFor({}, 5), null);
});
