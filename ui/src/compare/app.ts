// The data that the views of a comparison get.
import type { PageApp } from "../app";
import type { Diff, KernelChange, MemoryRowChange, PytorchMemoryChange, RequestPartChange } from "../data/diff";
import type { View } from "../data/view";

export interface Launches {
  base: number;
  new: number;
}

/** Texts from C++ for the page of a comparison, in the order of diff.json's lists. */
export interface CompareView extends Pick<View, "made_by" | "title" | "classes" | "parts"> {
  verdict: string;
  /** Parts of the time of requests, in words. */
  request_parts: Partial<Record<RequestPartChange["part"], string>>;
  /** Words for the GPUs' memory, the moments in diff.json's order; `missing`: sentences on what a side lacks. */
  memory: {
    parts: Partial<Record<MemoryRowChange["part"], string>>;
    pytorch: Partial<Record<PytorchMemoryChange["figure"], string>>;
    moments: string[];
    missing: string[];
  } | null;
  /** What kernels of both sides were matched by, in words. */
  matched_by: Partial<Record<KernelChange["matched_by"], string>>;
  /** `shown`: in reports a stage has rows of one unit, and its wall time once. */
  comparisons: { quantity: string; answer: string; shown: boolean }[];
  stages: {
    headline: number | null;
    causes: string[];
    /** The causes to list, by their index, and the sum of the others. */
    other_causes: { listed: number[]; count: number; difference_ns: number };
    /** Launches per unit of each row of `kernels`. */
    launches: Launches[];
  }[];
}

export interface CompareApp extends PageApp {
  diff: Diff;
  view: CompareView;
}
