// Words and numbers for readers: ranks, sentences, ticks, colors, places in the address, axes of comparisons.
import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "./load.mjs";

const { asSentence, rankList, parallelismWords, axisTicks, textOn, parsePlace, placeHash, ChangeAxis } = await load(
  "format/sentences",
  "job/words",
  "timeline/axis",
  "data/palette",
  "state/fragment",
  "compare/interval",
);

test("a sentence begins with a capital, unless its first word is a name", () => {
  assert.equal(asSentence("use CUDA graphs"), "Use CUDA graphs");
  assert.equal(asSentence("llama.cpp runs it"), "llama.cpp runs it");
  assert.equal(asSentence("--cuda-graph-trace=node shows them"), "--cuda-graph-trace=node shows them");
});

test("ranks that follow each other are a range", () => {
  assert.equal(rankList([0, 1, 2, 3]), "0 to 3");
  assert.equal(rankList([0, 1]), "0, 1");
  assert.equal(rankList([0, 2, 3, 4, 9]), "0, 2 to 4, 9");
  assert.equal(rankList([]), "");
});

test("kinds of parallelism are named with their sizes", () => {
  const parallelism = [
    { parallelism: "tensor", size: 4 },
    { parallelism: "data", size: 2 },
  ];
  assert.equal(parallelismWords({ parallelism }), "tensor 4, data 2");
  assert.equal(parallelismWords({ parallelism: [] }), "");
});

test("ticks are round numbers of a unit that fits", () => {
  const { ticks, text } = axisTicks(0, 1e6, 1000);
  assert.deepEqual(ticks.slice(0, 3).map(text), ["0 us", "100 us", "200 us"]);
  assert.ok(ticks.every((tick) => tick >= 0 && tick <= 1e6));
  assert.equal(axisTicks(1.4601e9, 1.4602e9, 1000).text(1.46012e9), "1460.12 ms");
});

test("text stands out from the color that it is on", () => {
  assert.equal(textOn("#ffffff"), "#000000");
  assert.equal(textOn("#1f3864"), "#ffffff");
});

test("a place of the page is its address", () => {
  assert.equal(placeHash("kernels", { class: "gemm", q: "", stage: null }), "#kernels?class=gemm");
  const { view, options } = parsePlace("#kernels?class=gemm&sort=-total");
  assert.equal(view, "kernels");
  assert.equal(options.get("sort"), "-total");
  assert.equal(parsePlace("").view, "");
});

test("the axis of changes is even around 0, and has room for all of them", () => {
  const axis = new ChangeAxis(0.01, [0.5, -0.02, null]);
  assert.equal(axis.at(0), 50);
  assert.ok(Math.abs(axis.at(0.3) - 50 - (50 - axis.at(-0.3))) < 1e-9);
  assert.ok(axis.at(0.5) < 100 && axis.at(0.5) > axis.at(0.1));
  const ticks = axis.ticks();
  assert.ok(ticks.includes(0) && ticks.every((tick) => ticks.includes(-tick)));
});
