// The values of the heat map: times of one rank in one bin of steps, absolute or relative to the other ranks.
import type { Job } from "../data/profile";

export type HeatMode = "against" | "own" | "wait";

export const HEAT_MODES: [HeatMode, string][] = [
  ["against", "own time against the other ranks"],
  ["own", "own time (ms per step)"],
  ["wait", "time waiting for others (ms per step)"],
];

/** Stored if a rank has no step in a bin. */
const NONE = -1;
/** Differences below this share are noise and must not look significant. */
const LEAST_SCALE = 0.02;
/** The few largest values must not make all others pale. */
const SCALE_QUANTILE = 0.99;

export const isMissing = (value: number): boolean => value === NONE || Number.isNaN(value);

function median(values: number[]): number {
  const sorted = values.slice().sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

export interface HeatValues {
  ranks: number[];
  bins: number;
  /** By rank, then bin; NaN if there is none. */
  values: Float64Array;
  /** The value with the strongest color. */
  scale: number;
  /** Whether values are on both sides of 0. */
  diverging: boolean;
}

export function heatValues(job: Job, mode: HeatMode): HeatValues {
  const { rows } = job.heat;
  const bins = Math.max(0, ...rows.map((row) => row.wall_ms.length));
  const values = new Float64Array(rows.length * bins).fill(NaN);
  for (let bin = 0; bin < bins; bin++) {
    const own = rows.map((row) => row.wall_ms[bin] ?? NONE);
    const present = own.filter((value) => !isMissing(value));
    const middle = mode === "against" && present.length > 0 ? median(present) : 0;
    rows.forEach((row, index) => {
      const value = mode === "wait" ? (row.wait_ms[bin] ?? NONE) : own[index]!;
      if (isMissing(value) || (mode === "against" && middle <= 0)) return;
      values[index * bins + bin] = mode === "against" ? value / middle - 1 : value;
    });
  }
  const sizes = [...values]
    .filter((value) => !Number.isNaN(value))
    .map(Math.abs)
    .sort((a, b) => a - b);
  const high = sizes[Math.min(sizes.length - 1, Math.floor(sizes.length * SCALE_QUANTILE))] ?? 0;
  return {
    ranks: rows.map((row) => row.rank),
    bins,
    values,
    scale: Math.max(high, mode === "against" ? LEAST_SCALE : 1e-9),
    diverging: mode === "against",
  };
}
