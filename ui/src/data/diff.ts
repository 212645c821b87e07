// Short names for parts of diff.json's generated types.
import type { Diff } from "../generated/diff";

export type { Diff };
export type Comparison = Diff["comparisons"][number];
export type StageDiff = Diff["stages"][number];
export type PartChange = StageDiff["budget"][number];
export type KernelChange = StageDiff["kernels"][number];
export type ChangedKernel = KernelChange["base_kernels"][number];
export type GateResult = Diff["gates"][number];
export type RankDiff = Diff["ranks"][number];
export type FindingChange = Diff["findings"][number];
export type MemoryMomentChange = NonNullable<Diff["memory"]>["moments"][number];
export type MemoryRowChange = MemoryMomentChange["rows"][number];
export type PytorchMemoryChange = NonNullable<Diff["memory"]>["pytorch"][number];
export type BytesChange = MemoryMomentChange["own"];
export type RequestPartChange = NonNullable<Diff["requests"]>["parts"][number];

export const msOf = (ns: number): number => ns / 1e6;
