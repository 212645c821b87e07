// Digits and units: as C++ prints the same numbers (src/report/format/figures_test.cpp).
import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "./load.mjs";

const figures = await load("format/figures");

test("what is halfway between two results is rounded to the even digit, as C does", () => {
  const { fixed } = figures;
  assert.equal(fixed(0.5, 0), "0");
  assert.equal(fixed(1.5, 0), "2");
  assert.equal(fixed(2.5, 0), "2");
  assert.equal(fixed(0.125, 2), "0.12");
  assert.equal(fixed(0.375, 2), "0.38");
  assert.equal(fixed(-2.5, 0), "-2");
  // 1.0005 and 2.675 are not halfway as binary numbers.
  assert.equal(fixed(1.0005, 3), "1.000");
  assert.equal(fixed(2.675, 2), "2.67");
});

test("times have the digits of what they are of", () => {
  assert.equal(figures.ms(57.3310894), "57.331");
  assert.equal(figures.fineMs(0.00163), "0.0016");
  assert.equal(figures.exactMs(57.331089), "57.331089");
  for (const missing of [null, undefined, Number.NaN]) assert.equal(figures.ms(missing), figures.MISSING);
  assert.equal(figures.meanAndStd({ mean: 1.777, std: 0.003 }), "1.777 ± 0.003");
  assert.equal(figures.meanAndStd({ mean: 1.777, std: null }), "1.777");
});

test("shares are percentages, differences have a sign unless they round to 0", () => {
  assert.equal(figures.percent(0.1234), "12.3 %");
  assert.equal(figures.change(0.0612), "+6.12 %");
  assert.equal(figures.change(-0.00001), "0.00 %");
  assert.equal(figures.timeChange(-0.015), "-0.0150");
});

test("counts are grouped by thousands; means of counts have a digit", () => {
  assert.equal(figures.count(41227), "41,227");
  assert.equal(figures.count(1234567), "1,234,567");
  assert.equal(figures.count(462.25), "462.2");
  assert.equal(figures.counted(1, "kernel"), "1 kernel");
  assert.equal(figures.counted(2, "pass", "passes"), "2 passes");
});

test("sizes and rates have a prefix that fits", () => {
  assert.equal(figures.flops(2.5e12), "2.50 TFLOP");
  assert.equal(figures.bytes(0), "0 B");
  assert.equal(figures.bytes(999), "999.00 B");
  assert.equal(figures.bytesPerS(3.35e12), "3.35 TB/s");
  assert.equal(figures.flops(1e19), "10000.00 PFLOP");
  assert.equal(figures.clock(1.755e9), "1755 MHz");
});

test("durations of the timeline have a unit that fits", () => {
  assert.equal(figures.duration(512), "512 ns");
  assert.equal(figures.duration(12345), "12.345 us");
  assert.equal(figures.duration(-2.5e6), "-2.500 ms");
  assert.equal(figures.duration(3.2e9), "3.2000 s");
});
