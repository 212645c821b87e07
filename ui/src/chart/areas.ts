// The outlines of areas over time. A value holds until the next one.

/** The upper edge of each layer, bottom first; negative values take no room. */
export function stackedEdges(layers: number[][], count: number): Float64Array[] {
  let below = new Float64Array(count);
  return layers.map((values) => {
    const edge = below.map((height, index) => height + Math.max(0, values[index] ?? 0));
    below = edge;
    return edge;
  });
}

export interface Scale {
  x: (time: number) => number;
  y: (value: number) => number;
}

const at = (value: number): string => String(Math.round(value * 100) / 100);

/** The path of a line that goes up and down in steps; `end` is where the last value ends. */
export function stepLine(times: number[], values: ArrayLike<number>, end: number, { x, y }: Scale): string {
  let path = "";
  for (let i = 0; i < times.length; i++) {
    const height = at(y(values[i]!));
    path += `${i === 0 ? "M" : "L"}${at(x(times[i]!))},${height}L${at(x(times[i + 1] ?? end))},${height}`;
  }
  return path;
}

/** The path of the area between two such lines. */
export function stepArea(
  times: number[],
  upper: ArrayLike<number>,
  lower: ArrayLike<number>,
  end: number,
  scale: Scale,
): string {
  if (times.length === 0) return "";
  const { x, y } = scale;
  let back = "";
  for (let i = times.length - 1; i >= 0; i--) {
    const height = at(y(lower[i]!));
    back += `L${at(x(times[i + 1] ?? end))},${height}L${at(x(times[i]!))},${height}`;
  }
  return `${stepLine(times, upper, end, scale)}${back}Z`;
}

/** The last index whose time is not after `time`; 0 if all are. */
export function indexAt(times: number[], time: number): number {
  let low = 0;
  let high = times.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (times[middle]! <= time) low = middle + 1;
    else high = middle;
  }
  return Math.max(0, low - 1);
}

/** Spans that may be narrower than a pixel: those that touch within `least` are drawn as one. */
export function joined<Span extends { from: number; to: number }>(spans: Span[], least: number): Span[] {
  const found: Span[] = [];
  for (const span of spans) {
    const last = found[found.length - 1];
    const isNarrow = span.to - span.from < least;
    if (last && isNarrow && span.from - last.to < least && last.to - last.from < 4 * least)
      found[found.length - 1] = { ...last, to: Math.max(last.to, span.to) };
    else found.push(span);
  }
  return found;
}
