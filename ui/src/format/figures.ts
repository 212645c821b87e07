// Digits and units of all numbers, as in report.md (report/format/figures).
import type { Times } from "../data/profile";

export const MISSING = "-";

/** C's "%.Nf": ties round to the even digit, whereas toFixed rounds them away from zero. */
export function fixed(value: number, digits: number): string {
  const text = value.toFixed(digits);
  const size = Math.abs(value);
  if (Math.abs(((size * 10 ** digits) % 1) - 0.5) > 1e-6) return text;
  const longer = size.toFixed(digits + 20);
  const down = longer.slice(0, -20).replace(/\.$/, "");
  if (!/50{19}$/.test(longer) || Number(down.slice(-1)) % 2 === 1) return text;
  return (value < 0 ? "-" : "") + down;
}

type Number_ = number | null | undefined;
const or = (value: Number_, text: (value: number) => string): string =>
  value === null || value === undefined || Number.isNaN(value) ? MISSING : text(value);

/** For stages, steps, gaps, requests: "57.331". */
export const ms = (value: Number_): string => or(value, (v) => fixed(v, 3));
/** Per token, per step or per layer: "0.0016". */
export const fineMs = (value: Number_): string => or(value, (v) => fixed(v, 4));
/** For one kernel or operator, exact to the nanosecond: "57.331089". */
export const exactMs = (value: Number_): string => or(value, (v) => fixed(v, 6));
export const percent = (share: Number_): string => or(share, (v) => `${fixed(v * 100, 1)} %`);
export const ratio = (value: Number_): string => or(value, (v) => fixed(v, 3));
export const rate = (value: Number_): string => or(value, (v) => fixed(v, 1));
export const intensity = (value: Number_): string => or(value, (v) => fixed(v, 2));

/** With a sign unless it rounds to 0: C's "%+.Nf". */
function signed(value: number, digits: number): string {
  const text = fixed(value, digits);
  return /^-?0(\.0*)?$/.test(text) ? text.replace("-", "") : value > 0 ? `+${text}` : text;
}

/** A relative difference: "+6.12 %". */
export const change = (relative: Number_): string => or(relative, (v) => `${signed(v * 100, 2)} %`);
/** A difference of two times in ms: "-0.0150". */
export const timeChange = (difference: Number_): string => or(difference, (v) => signed(v, 4));

/** Counts, and means of counts with one decimal: "41,227", "462.2". */
export function count(value: Number_): string {
  return or(value, (v) =>
    v >= 0 && Number.isInteger(v) ? v.toString().replace(/\B(?=(\d{3})+$)/g, ",") : fixed(v, 1),
  );
}

export function counted(value: number, one: string, many = `${one}s`): string {
  return value === 1 ? `1 ${one}` : `${count(value)} ${many}`;
}

function prefixed(unit: string): (value: Number_) => string {
  return (value) =>
    or(value, (v) => {
      if (v === 0) return `0 ${unit}`;
      let prefix = 0;
      while (Math.abs(v) >= 1000 && prefix < 5) {
        v /= 1000;
        prefix++;
      }
      return `${fixed(v, 2)} ${["", "k", "M", "G", "T", "P"][prefix]}${unit}`;
    });
}

export const bytes = prefixed("B");
export const flops = prefixed("FLOP");
export const bytesPerS = prefixed("B/s");
export const flopsPerS = prefixed("FLOP/s");
export const clock = (hertz: Number_): string => or(hertz, (v) => `${fixed(v / 1e6, 0)} MHz`);
export const energy = (joules: Number_): string => or(joules, (v) => `${fixed(v, 3)} J`);

export function meanAndStd(times: Times): string {
  return times.std === null || times.mean === null ? ms(times.mean) : `${ms(times.mean)} ± ${ms(times.std)}`;
}

/** A duration on the timeline's axis and in its tooltips, with a suitable unit: "12.345 us". */
export function duration(ns: number): string {
  const size = Math.abs(ns);
  if (size < 1000) return `${fixed(ns, Number.isInteger(ns) ? 0 : 1)} ns`;
  if (size < 1e6) return `${fixed(ns / 1e3, 3)} us`;
  if (size < 1e9) return `${fixed(ns / 1e6, 3)} ms`;
  return `${fixed(ns / 1e9, 4)} s`;
}
