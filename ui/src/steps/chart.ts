// Each step as a point, in order, with p50 and p99 of its stage.
import type { App } from "../app";
import type { Point } from "../chart/point";
import { chartColors, scatter, type Line, type Scatter } from "../chart/scatter";
import type { Step } from "../data/profile";
import { count, counted, ms } from "../format/figures";
import { where } from "./state";

interface ShownStep {
  step: Step;
  index: number;
  slow: boolean;
  warmup: boolean;
}

/** A few very long steps would squeeze all others to the bottom: steps longer than this many times p99 are cut off. */
const FAR = 4;
const ROOM_ABOVE = 1.12;

/** The upper end of the axis. Warm-up and very long steps do not count; their points are at the edge. */
function axisEnd(app: App, stages: string[], steps: ShownStep[]): number {
  const measured = steps.filter((each) => !each.warmup);
  const highest = Math.max(...(measured.length > 0 ? measured : steps).map(({ step }) => step.wall_ms));
  const usual = app.profile.stages.filter((each) => stages.includes(each.name)).map((each) => each.step_wall_ms?.p99);
  const p99 = Math.max(...usual.map((value) => value ?? highest));
  return (highest > FAR * p99 ? 2 * p99 : highest) * ROOM_ABOVE;
}

function stepsOf(app: App, stage: string): ShownStep[] {
  const slow = new Set(app.profile.slow_steps.map((each) => each.step));
  const instances = new Map(app.profile.stages.map((each) => [each.name, each.instances]));
  return app.profile.steps
    .map((step, index) => ({
      step,
      index,
      slow: slow.has(index),
      warmup: instances.get(step.stage)?.[step.instance]?.warmup ?? false,
    }))
    .filter(({ step }) => (!stage || step.stage === stage) && !step.after_untraced);
}

function linesOf(app: App, stages: string[], steps: number): Line[] {
  return stages.flatMap((name) => {
    const times = app.profile.stages.find((each) => each.name === name)?.step_wall_ms;
    if (!times || times.p50 === null || times.p99 === null) return [];
    const of = stages.length > 1 ? ` of ${name}` : "";
    const at = (value: number): [number, number][] => [
      [0, value],
      [steps - 1, value],
    ];
    const p50: Line = { points: at(times.p50), dashed: true, label: `p50${of} ${ms(times.p50)} ms` };
    return times.p99 === times.p50
      ? [p50]
      : [p50, { points: at(times.p99), dashed: true, label: `p99${of} ${ms(times.p99)} ms`, labelAt: "end" }];
  });
}

function wordsOf(app: App, { step, slow, warmup }: ShownStep, above: boolean): string[] {
  return [
    `${step.stage}, ${where(app, step.instance, step.step_of_instance)}${warmup ? " (warm-up)" : ""}`,
    `${ms(step.wall_ms)} ms wall, ${ms(step.gpu_busy_ms)} ms busy, ${counted(step.kernel_count, "kernel")}`,
    ...(step.batch === null ? [] : [`${counted(step.batch, "sequence")}, ${count(step.tokens)} tokens`]),
    ...(above ? ["above the axis"] : []),
    slow ? "slow: click for the explanation" : "click for details",
  ];
}

export interface StepsChart {
  chart: Scatter;
  /** Describes points at the edge of the axis; null if all are inside. */
  above: string | null;
}

export function stepsChart(app: App, stage: string, onClick: (index: number) => void): StepsChart | null {
  const shown = stepsOf(app, stage);
  if (shown.length === 0) return null;
  const stages = [...new Set(shown.map(({ step }) => step.stage))];
  const end = axisEnd(app, stages, shown);
  const points = shown.map((each, at): Point => {
    const above = each.step.wall_ms > end;
    return {
      x: at,
      y: above ? end : each.step.wall_ms,
      color: each.slow
        ? chartColors.warning
        : each.warmup || stages.indexOf(each.step.stage) > 0
          ? chartColors.muted
          : chartColors.text,
      radius: above || each.slow ? 5 : shown.length > 1500 ? 1.6 : 2.6,
      shape: above ? "above" : each.warmup ? "ring" : each.slow ? "square" : "dot",
      lines: wordsOf(app, each, above),
      onClick: () => onClick(each.index),
    };
  });
  const outside = shown.filter(({ step }) => step.wall_ms > end);
  const longest = Math.max(...outside.map(({ step }) => step.wall_ms));
  const room = Math.max(1, shown.length * 0.02);
  return {
    above:
      outside.length > 0
        ? `${counted(outside.length, "step")} above the axis (up to ${ms(longest)} ` +
          `ms${outside.every((each) => each.warmup) ? ", warm-up" : ""}) at its upper edge.`
        : null,
    chart: scatter({
      label: `${counted(shown.length, "step")} in order, wall time in ms; slow ones are in the table below`,
      xTitle: "step, in order of start",
      yTitle: "wall time (ms)",
      log: false,
      xRange: [-room, shown.length - 1 + room],
      yRange: [0, end],
      xText: (value) => (Number.isInteger(value) && value >= 0 ? count(value) : ""),
      yText: (value) => String(Number(value.toPrecision(6))),
      points,
      lines: linesOf(app, stages, shown.length),
      height: 300,
    }),
  };
}
