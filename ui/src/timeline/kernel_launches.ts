// Single kernel launches in the timeline: which belong to a scope and a layer, their sums, and those of one kernel.
// Sums over what the reader selects are computed here; profile.json cannot hold them.
import { isOfAllLaunches, type KernelSum, type Scope } from "../data/kernel_scope";
import type { Kernel, Profile } from "../data/profile";
import { kernelPlaces } from "../state/links";
import { inLayer, inStage } from "./filter";
import type { RowRef, Timeline } from "./model";

const KERNEL = 0;

/** Whether a row of slices counts in the scope's kernel sums: warm-up does not, unless the stage has nothing else. */
function inScope(timeline: Timeline, profile: Profile, scope: Scope): (row: number) => boolean {
  if (isOfAllLaunches(profile, scope)) return () => true;
  const tests = profile.stages
    .filter((stage) => scope === "" || stage.name === scope)
    .map((stage) => inStage(timeline, stage.name, scope !== "" && stage.shown.warmup_only));
  return (row) => tests.some((test) => test(row));
}

interface Launch extends RowRef {
  /** Index in profile.json's list. */
  kernel: number;
  ns: number;
}

function* launchesIn(timeline: Timeline, profile: Profile, scope: Scope, layer: string): Generator<Launch> {
  const wanted = inScope(timeline, profile, scope);
  const ofLayer = inLayer(timeline, layer);
  const places = kernelPlaces(profile);
  const { kind, kernel: ids } = timeline.tables.slices;
  for (const [track, { table, device, first, count, duration }] of timeline.tracks.entries()) {
    if (table !== "slices") continue;
    const known = timeline.kernels.map((each) => places.byName(timeline.names[each.name] ?? "", device ?? ""));
    for (let row = first; row < first + count; row++) {
      if (kind![row] !== KERNEL || !ofLayer(row) || !wanted(row)) continue;
      const kernel = known[ids![row]!];
      if (kernel !== undefined) yield { track, row, kernel, ns: duration![row]! };
    }
  }
}

/** Sums of the kernels of one layer. */
export function layerSums(timeline: Timeline, profile: Profile, scope: Scope, layer: string): KernelSum[] {
  const sums = new Map<number, { calls: number; ns: number }>();
  let all = 0;
  for (const { kernel, ns } of launchesIn(timeline, profile, scope, layer)) {
    const sum = sums.get(kernel) ?? { calls: 0, ns: 0 };
    sums.set(kernel, { calls: sum.calls + 1, ns: sum.ns + ns });
    all += ns;
  }
  return [...sums].map(([kernel, { calls, ns }]) => ({
    kernel: profile.kernels[kernel]!,
    calls,
    total: ns / 1e6,
    mean: ns / 1e6 / calls,
    share: ns / all,
  }));
}

/** The launches of one kernel, slowest first. */
export function launchesOf(
  timeline: Timeline,
  profile: Profile,
  kernel: Kernel,
  scope: Scope,
  layer: string,
): Launch[] {
  const place = profile.kernels.indexOf(kernel);
  const own: Launch[] = [];
  for (const launch of launchesIn(timeline, profile, scope, layer)) if (launch.kernel === place) own.push(launch);
  return own.sort((a, b) => b.ns - a.ns);
}
