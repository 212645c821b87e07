// Sums of kernels by scope, and filters of kernels.
import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "./load.mjs";

const { kernelSums, scopeWords, scopeChoices, WHOLE_CAPTURE, filterOf, filterOptions, matchesButClass, matchesClass } =
  await load("data/kernel_scope", "kernels/filter");

const kernel = (name, total, stages, measured) => ({
  kernel_name: `void ${name}<float>()`,
  short_name: name,
  class: name,
  library: name === "gemm" ? "cuBLAS" : null,
  calls: 10,
  total_ms: total,
  mean_ms: total / 10,
  share: total / 40,
  measured: measured && { calls: 4, total_ms: measured, mean_ms: measured / 4, share: measured / 20 },
  stages,
});
const stage = (calls, total, steady, share) => ({
  calls,
  total_ms: total,
  steady_calls: steady ? calls - 1 : 0,
  steady_total_ms: steady ? total - 1 : 0,
  mean_ms: steady ? (total - 1) / (calls - 1) : total / calls,
  share,
});

const profile = {
  stages: [
    { name: "prefill", shown: { warmup_only: true } },
    { name: "decode", shown: { warmup_only: false } },
  ],
  measured_kernels_all_devices: [{}, {}],
  kernels: [
    kernel("gemm", 30, { prefill: stage(4, 9, false, 1), decode: stage(5, 16, true, 0.75) }, 15),
    kernel("norm", 10, { decode: stage(3, 6, true, 0.25) }, 5),
    kernel("copy", 0, {}, null),
  ],
};

test("by default sums are over the measured stages, as profile.json has them", () => {
  const sums = kernelSums(profile, "");
  assert.deepEqual(
    sums.map((each) => [each.kernel.short_name, each.calls, each.total, each.share]),
    [
      ["gemm", 4, 15, 0.75],
      ["norm", 4, 5, 0.25],
    ],
  );
  assert.equal(scopeWords(profile, ""), "the measured stages");
});

test("of a stage without warm-up; of one that is nothing else with it", () => {
  const of = (scope) => kernelSums(profile, scope).map((each) => [each.calls, each.total, each.mean, each.share]);
  assert.deepEqual(of("decode"), [
    [4, 15, 3.75, 0.75],
    [2, 5, 2.5, 0.25],
  ]);
  assert.deepEqual(of("prefill"), [[4, 9, 2.25, 1]]);
});

test("without measured stages there is only the whole capture", () => {
  const bare = {
    stages: [],
    measured_kernels_all_devices: [],
    kernels: profile.kernels.map((each) => ({ ...each, measured: null })),
  };
  assert.equal(kernelSums(bare, "").length, 3);
  assert.equal(scopeWords(bare, ""), "the whole capture");
  assert.deepEqual(scopeChoices(bare), [["", "whole capture"]]);
  assert.deepEqual(scopeChoices(profile).at(-1), [WHOLE_CAPTURE, "whole capture"]);
});

test("filters are options of the address and come back from it", () => {
  const filter = { text: "ge", classes: ["gemm", "norm"], scope: "decode", layer: "", library: "cuBLAS" };
  assert.deepEqual(filterOf(new URLSearchParams(filterOptions(filter))), filter);
  const [gemm, norm] = kernelSums(profile, "");
  assert.ok(matchesButClass(gemm, filter) && !matchesButClass(norm, filter));
  assert.ok(matchesButClass(gemm, { ...filter, text: "FLOAT" }), "by the full name, in any case");
  assert.ok(matchesClass(norm, filter) && !matchesClass(norm, { ...filter, classes: ["copy"] }));
});
