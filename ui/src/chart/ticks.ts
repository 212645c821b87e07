// Round numbers on an axis.

const STEPS = [1, 2, 5, 10];

/** About `most` round numbers from `from` to `to`. */
export function ticks(from: number, to: number, most: number): number[] {
  if (!(to > from) || most < 1) return [];
  const rough = (to - from) / most;
  const decade = 10 ** Math.floor(Math.log10(rough));
  const step = decade * (STEPS.find((each) => each * decade >= rough) ?? 10);
  const found: number[] = [];
  // Multiples of the step, not sums, so that no rounding adds up.
  for (let i = Math.ceil(from / step); i * step <= to; i++) found.push(i * step);
  return found;
}
