// The timeline's columns: read when the page opens, because links depend on what there is.
import { hasBlock, readJson } from "../data/blocks";
import type { Coding } from "../data/columns";

export type TrackKind = "stream" | "thread" | "stages" | "steps" | "layers" | "counter";
export type TableName = "slices" | "calls" | "ranges" | "stages" | "steps" | "layers" | "samples";

export interface Level {
  bin_ns: number;
  first: number;
  count: number;
}

export interface TrackHeader {
  id: string;
  kind: TrackKind;
  label: string;
  group: string;
  /** As in `kernels` of profile.json; absent for threads. */
  device?: string;
  table: TableName;
  first: number;
  count: number;
  unit?: string;
  max?: number;
  levels?: Level[];
}

export interface GapsOfCause {
  stage: string;
  cause: string;
  gaps: number;
  total_ns: number;
  longest_ns: number;
  /** Since the origin. */
  longest_start_ns: number;
}

export interface Header {
  version: number;
  origin_ns: string;
  span_ns: number;
  names: string[];
  kernels: { name: number; short: number; class: number }[];
  shapes: number[][];
  tracks: TrackHeader[];
  tables: Record<string, { rows: number; columns: Record<string, Coding> }>;
  /** Why a GPU is idle; slices refer to causes by number. */
  causes?: string[];
  /** Idle gaps inside measured instances, by stage and cause. */
  gaps?: GapsOfCause[];
  /** For captures with unrelated clocks: each starts at 0. Absent if all share one axis. */
  clocks?: { label: string; first_ns: string; last_ns: string }[];
}

export const hasTimeline = (): boolean => hasBlock("timeline");

let reading: Promise<Header> | null = null;

export function readHeader(): Promise<Header> {
  reading ??= readJson<Header>("timeline").then((header) => {
    if (header.version !== 1)
      throw new Error(`The timeline has version ${header.version}; this page reads version 1.`);
    return header;
  });
  return reading;
}
