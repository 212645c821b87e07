// Texts and colors from C++ for the page.

export interface Color {
  light: string;
  dark: string;
}

/** A sentence of a summary. */
export interface Sentence {
  kind: "fact" | "lost_ranks" | "straggler" | "caveat";
  text: string;
}

/** A key figure. */
export interface Headline {
  name: string;
  text: string;
  exact: number | null;
  unit: string;
  of: string;
  beside: { words: string; text: string; exact: number | null } | null;
}

/** How a part of the budget is shown; `short`: where it is clear that the GPU is idle. */
export interface PartLook {
  label: string;
  short?: string;
  plain?: string;
  class: string | null;
  color?: Color;
  why?: string | null;
}

/** The heat map of ranks and steps. */
export interface HeatView {
  /** The map in words. */
  text: string;
  /** By row and bin: the rank's own time over the median rank's, minus 1; null if there is none. */
  share_above_median: (number | null)[][];
  /** The values with the strongest colors. */
  scales: { against: number; own: number; wait: number };
}

/** Words and colors for requests of a client. */
export interface RequestsView {
  /** By their names in profile.json. */
  parts: Record<string, PartLook>;
  figures: Record<string, { label: string; definition: string; one: string }>;
  names: Record<string, string>;
  sentences: string[];
}

/** Words and colors for GPU memory. */
export interface MemoryView {
  /** Parts of the ledger, by their names in profile.json. */
  parts: Record<string, PartLook>;
  bases: Record<string, string>;
  /** What PyTorch's memory is used for, how that is known, and parts that engines state. */
  contents: Record<string, string>;
  content_bases: Record<string, string>;
  stated_parts: Record<string, string>;
  /** The names of the ledger's moments, in their order. */
  moments: string[];
  /** What PyTorch holds; empty without a memory snapshot. */
  sentence: string;
  /** Why allocations failed, in their order. */
  failures: { cause: string; sentence: string }[];
  /** For each GPU of the snapshots: bytes at the peak of stacks that are not listed; null without a peak. */
  other_stacks_bytes: (number | null)[];
}

export interface View {
  made_by: string;
  title: string;
  classes: { id: string; label: string; plain?: string; color: Color }[];
  parts: Record<string, PartLook>;
  headlines: Headline[];
  summary: Sentence[];
  /** Display names for names in profile.json. */
  names: Record<string, string>;
  /** The engine that runs the model, and how sure that is. */
  engine: string;
  /** A sentence for each capture that failed. */
  failed_captures: string[];
  /** GPU self time of each operator over that of all. */
  operator_shares: (number | null)[];
  /** Busy time of each step over its wall time. */
  step_busy_shares: (number | null)[];
  timeline_missing: string | null;
  /** Null without a file of requests. */
  requests: RequestsView | null;
  /** Null without a memory ledger and a memory snapshot. */
  memory: MemoryView | null;
  /** For a job: its sentences, the evidence for stragglers and groups in their order, display names. */
  job: {
    sentences: Sentence[];
    stragglers: string[];
    groups: string[];
    names: Record<string, string>;
    heat: HeatView;
  } | null;
}
