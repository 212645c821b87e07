// The memory ledger as the view needs it: by GPU, with what the program did at the same time.
import type { Profile } from "../data/profile";
import type { Span } from "../chart/area_chart";

export type Ledger = NonNullable<Profile["memory_ledger"]>;
export type Moment = Ledger["moments"][number];
export type LedgerRow = Ledger["rows"][number];
export type Point = Ledger["timeline"][number];
export type Part = LedgerRow["part"];

export const pointsOf = (ledger: Ledger, gpu: number): Point[] => ledger.timeline.filter((each) => each.gpu === gpu);

/** Indices in moments. */
export const momentsOf = (ledger: Ledger, gpu: number): number[] =>
  ledger.moments.flatMap((moment, index) => (moment.gpu === gpu ? [index] : []));

export const rowsOf = (ledger: Ledger, moment: number): LedgerRow[] =>
  ledger.rows.filter((row) => row.moment === moment);

/** The parts that any point has, in the order of `all`. */
export function partsIn(points: Point[], all: string[]): Part[] {
  const found = new Set(points.flatMap((point) => Object.keys(point.parts_bytes)));
  return all.filter((part) => found.has(part)) as Part[];
}

/** What is used, or what recorded allocations hold if NVML was not read. */
export const usedOf = (point: Point): number =>
  point.used_bytes ?? Object.values(point.parts_bytes).reduce((sum, size) => sum + size, 0);
export const usedAt = (moment: Moment): number => moment.used_bytes ?? moment.recorded_bytes;

export const bytesOf = (point: Point, part: Part): number => point.parts_bytes[part] ?? 0;

/** The moment at the time of a point; null if it is none. */
export const momentAt = (ledger: Ledger, moments: number[], point: Point): number | null =>
  moments.find((index) => ledger.moments[index]!.time_ms === point.time_ms) ?? null;

/** The moment that the view opens with. */
export const peakOf = (ledger: Ledger, moments: number[]): number | null =>
  moments.find((index) => ledger.moments[index]!.kind === "peak") ?? moments[0] ?? null;

export interface Instance {
  stage: string;
  instance: number;
  warmup: boolean;
  startNs: number;
  wallMs: number;
}

/** What ran on a GPU at a time of its ledger; null between stages. */
export function instanceAt(profile: Profile, device: string, startNs: number, timeMs: number): Instance | null {
  const now = startNs + timeMs * 1e6;
  for (const { name, instances } of profile.stages) {
    for (const [index, each] of instances.entries()) {
      if (each.device !== device || each.start_ns > now || each.start_ns + each.wall_ms * 1e6 < now) continue;
      return {
        stage: name,
        instance: index,
        warmup: each.warmup,
        startNs: each.start_ns,
        wallMs: each.wall_ms,
      };
    }
  }
  return null;
}

const inOrder = (spans: Omit<Span, "isOdd">[]): Span[] =>
  spans.sort((a, b) => a.from - b.from).map((span, index) => ({ ...span, isOdd: index % 2 === 1 }));

/** The stages on a GPU, in ms since the start of its ledger. */
export function stageSpans(profile: Profile, device: string, startNs: number): Span[] {
  return inOrder(
    profile.stages.flatMap(({ name, instances }) =>
      instances
        .filter((each) => each.device === device)
        .map((each) => {
          const from = (each.start_ns - startNs) / 1e6;
          return { from, to: from + each.wall_ms, label: each.warmup ? `${name} (warm-up)` : name };
        }),
    ),
  );
}

/** The steps on a GPU, in ms since the start of its ledger. */
export function stepSpans(profile: Profile, device: string, startNs: number): Span[] {
  const instances = new Map(profile.stages.map((stage) => [stage.name, stage.instances]));
  return inOrder(
    profile.steps
      .filter((step) => instances.get(step.stage)?.[step.instance]?.device === device)
      .map((step) => {
        const from = step.start_ms - startNs / 1e6;
        return { from, to: from + step.wall_ms, label: `${step.stage} ${step.step_of_instance}` };
      }),
  );
}
