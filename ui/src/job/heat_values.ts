// The values of the heat map: times of one rank in one bin of steps, absolute or relative to the other ranks.
import type { Job } from "../data/profile";
import type { HeatView } from "../data/view";

export type HeatMode = "against" | "own" | "wait";

export const HEAT_MODES: [HeatMode, string][] = [
  ["against", "own time against the other ranks"],
  ["own", "own time (ms per step)"],
  ["wait", "time waiting for others (ms per step)"],
];

/** Stored if a rank has no step in a bin. */
const NONE = -1;
export const isMissing = (value: number): boolean => value === NONE || Number.isNaN(value);

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

export function heatValues(job: Job, view: HeatView, mode: HeatMode): HeatValues {
  const { rows, median_ms } = job.heat;
  const bins = median_ms.length;
  const values = new Float64Array(rows.length * bins).fill(NaN);
  rows.forEach((row, index) => {
    const own = { against: view.share_above_median[index] ?? [], own: row.wall_ms, wait: row.wait_ms }[mode];
    own.forEach((value, bin) => {
      if (value !== null && (mode === "against" || !isMissing(value))) values[index * bins + bin] = value;
    });
  });
  return {
    ranks: rows.map((row) => row.rank),
    bins,
    values,
    scale: view.scales[mode],
    diverging: mode === "against",
  };
}
