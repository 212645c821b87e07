// Ticks of the time axis: round numbers in a suitable unit, about 100 pixels apart.

const UNITS: [number, string][] = [
  [1e9, "s"],
  [1e6, "ms"],
  [1e3, "us"],
  [1, "ns"],
];
const APART_PIXELS = 96;
const LONG_NUMBER = 1e4;

export interface Ticks {
  ticks: number[];
  text: (time: number) => string;
}

export function axisTicks(start: number, end: number, pixels: number): Ticks {
  const rough = ((end - start) / Math.max(1, pixels)) * APART_PIXELS;
  const power = 10 ** Math.floor(Math.log10(Math.max(rough, 1)));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((each) => each >= rough) ?? 10 * power;
  // The unit makes the step a whole number, unless numbers would be too long to read: "1460.1 ms", not "1460100 us".
  const longest = Math.max(Math.abs(start), Math.abs(end));
  const [unit, name] = UNITS.find(([size]) => step >= size || longest / size >= LONG_NUMBER / 10) ?? [1, "ns"];
  const digits = Math.max(0, -Math.floor(Math.log10(step / unit) + 1e-9));
  const ticks: number[] = [];
  for (let index = Math.ceil(start / step); index * step <= end; index++) ticks.push(index * step);
  return { ticks, text: (time) => `${(time / unit).toFixed(digits)} ${name}` };
}
