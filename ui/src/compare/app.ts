// The data that the views of a comparison get.
import type { PageApp } from "../app";
import type { Diff } from "../data/diff";
import type { View } from "../data/view";

/** Texts from C++ for the page of a comparison, in the order of diff.json's lists. */
export interface CompareView extends Pick<View, "made_by" | "title" | "classes" | "parts"> {
  verdict: string;
  /** `shown`: in reports a stage has rows of one unit, and its wall time once. */
  comparisons: { quantity: string; answer: string; shown: boolean }[];
  stages: { headline: number | null; causes: string[] }[];
}

export interface CompareApp extends PageApp {
  diff: Diff;
  view: CompareView;
}
