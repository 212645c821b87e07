// Which figure stands for many: the mean, or where that says little the median; of a few values the range (report/format/typical).
import type { Times } from "../data/profile";
import { counted, ms } from "./figures";

const WIDE_DEVIATION = 0.25;
const WIDE_RANGE = 1.5;
const FEW = 3;

export const rangeMs = (times: Times): string => `${ms(times.min)} to ${ms(times.max)}`;

export function widelySpread(times: Times): boolean {
  if (times.count < 2 || times.mean === null || times.min === null || times.max === null) return false;
  if (times.std !== null && times.std > WIDE_DEVIATION * times.mean) return true;
  return times.count <= FEW && times.max > WIDE_RANGE * times.min;
}

export interface Typical {
  text: string;
  exact: number | null;
  of: string;
}

export function typical(times: Times, one: string, many = `${one}s`): Typical {
  const of = counted(times.count, one, many);
  if (!widelySpread(times)) return { text: ms(times.mean), exact: times.mean, of: `mean of ${of}` };
  if (times.count <= FEW) return { text: rangeMs(times), exact: times.mean, of: `range of ${of}` };
  return { text: ms(times.p50), exact: times.p50, of: `median of ${of}; ${rangeMs(times)} ms` };
}
