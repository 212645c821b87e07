// A relative difference with its interval, on an axis that many rows share. The numbers are next to it as text.
import type { Comparison } from "../data/diff";
import { h, type Child } from "../dom/dom";
import { change } from "../format/figures";

/**
 * Shows differences from 0.1 % to over 100 % on one axis: linear around 0, logarithmic beyond the threshold, which has
 * the same width in every table.
 */
export class ChangeAxis {
  private readonly end: number;

  constructor(
    private readonly threshold: number,
    changes: (number | null)[],
  ) {
    const largest = Math.max(...changes.map((each) => Math.abs(each ?? 0)), 4 * threshold);
    this.end = this.bent(largest * 1.15);
  }

  private bent(value: number): number {
    return Math.sign(value) * Math.log2(1 + Math.abs(value) / (this.threshold || 0.01));
  }

  /** In percent of the axis from its left end. */
  at(value: number): number {
    return 50 + 50 * Math.max(-1, Math.min(1, this.bent(value) / this.end));
  }

  ticks(): number[] {
    const round = [0.001, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 100].filter(
      (each) => this.bent(each) < this.end * 0.97,
    );
    const kept: number[] = [];
    // Labels need room: if two would touch, the outer one stays.
    for (const each of round.reverse()) {
      const nearest = kept.length > 0 ? this.at(kept[kept.length - 1]!) : 111;
      if (nearest - this.at(each) >= 13 && this.at(each) - 50 >= 10) kept.push(each);
    }
    return [...kept.map((each) => -each), 0, ...[...kept].reverse()];
  }
}

const left = (percent: number): string => `left: ${percent.toFixed(2)}%`;

export function axisHead(axis: ChangeAxis): HTMLElement {
  const ticks = axis.ticks();
  const isOuter = (tick: number) => tick === 0 || Math.abs(tick) === ticks[ticks.length - 1];
  return h(
    "span",
    { class: "interval-axis", "aria-hidden": "true" },
    ticks.map((tick) =>
      h(
        "span",
        { class: isOuter(tick) ? null : "wide-only", style: left(axis.at(tick)) },
        tick === 0 ? "0" : `${tick > 0 ? "+" : "-"}${Number((Math.abs(tick) * 100).toPrecision(3))} %`,
      ),
    ),
  );
}

/** Distinguishes changes without color: filled if beyond the threshold, hollow if unknown. */
function toneOf(row: Comparison): string {
  if (row.answer === "changed") return row.direction === "worse" ? "worse" : "better";
  return row.answer === "unchanged" ? "unchanged" : "unknown";
}

export function intervalCell(axis: ChangeAxis, row: Comparison, threshold: number, limit?: number | null): Child {
  if (row.relative === null) return h("span", { class: "muted" }, "-");
  const tone = toneOf(row);
  const low = row.relative_low;
  const high = row.relative_high;
  return h(
    "span",
    {
      class: `interval ${tone}`,
      "aria-hidden": "true",
      title:
        low === null
          ? change(row.relative)
          : `${change(row.relative)}, 95 % interval ${change(low)} to ${change(high)}`,
    },
    h("span", {
      class: "band",
      style: `${left(axis.at(-threshold))}; width: ${(axis.at(threshold) - axis.at(-threshold)).toFixed(2)}%`,
    }),
    h("span", { class: "zero", style: left(axis.at(0)) }),
    limit !== undefined && limit !== null && h("span", { class: "limit", style: left(axis.at(limit)) }),
    low !== null &&
      high !== null &&
      h("span", {
        class: "range",
        style: `${left(axis.at(low))}; width: ${Math.max(0.4, axis.at(high) - axis.at(low)).toFixed(2)}%`,
      }),
    h("span", { class: "point", style: left(axis.at(row.relative)) }),
  );
}

/** A difference as a bar to the left (less) or right (more) of the center. */
export function differenceBar(value: number, largest: number): HTMLElement {
  const width = largest > 0 ? (Math.min(1, Math.abs(value) / largest) * 50).toFixed(2) : "0";
  return h(
    "span",
    { class: value > 0 ? "difference more" : "difference less", "aria-hidden": "true" },
    h("span", { style: `width: ${width}%` }),
  );
}
