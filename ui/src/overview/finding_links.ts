// Links from a finding to its kernels, gaps and steps.
import type { App } from "../app";
import type { Finding, Gap, Kernel } from "../data/profile";
import { ms } from "../format/figures";
import { placeHash } from "../state/fragment";
import {
  copiesLink,
  gapsLink,
  gapSpan,
  gapsOf,
  kernelLink,
  kernelPlaces,
  kernelsLink,
  selectionLink,
  stepSpan,
  timelineFilterLink,
  timelineGapsOf,
  type Href,
} from "../state/links";

export interface FindingLink {
  href: string;
  words: string;
}

/** Kernel classes that a kind of finding is about. */
const CLASSES: Partial<Record<Finding["kind"], Kernel["class"][]>> = {
  gemm_above_floor: ["gemm", "gemv"],
  gemv_above_floor: ["gemv"],
  attention_above_floor: ["attention"],
  small_kernels: ["norm", "rope", "elementwise", "reduction", "softmax", "embedding/gather", "quantise"],
  fusible_norm: ["norm"],
  fusible_rope: ["rope"],
  fusible_elementwise: ["elementwise"],
  copies_and_casts: ["copy/cast"],
  token_selection: ["sampling/top-k"],
  expert_routing: ["moe routing"],
  exposed_communication: ["communication"],
};

const LATE_HOST: Gap["cause"][] = ["idle: launch-bound", "idle: host between launches", "idle: synchronisation"];

/** Causes of the gaps that a kind of finding is about. */
const CAUSES: Partial<Record<Finding["kind"], Gap["cause"][]>> = {
  host_stall_repeated: LATE_HOST,
  host_stall_single: LATE_HOST,
  launch_bound: LATE_HOST.slice(0, 2),
  gap_between_steps: LATE_HOST,
  synchronization: ["idle: synchronisation"],
  queue_gaps: ["idle: between queued kernels"],
  first_work_queued: ["idle: between queued kernels", "idle: before the first GPU work"],
  idle_before_first_work: ["idle: before the first GPU work"],
  idle_after_last_work: ["idle: after the last GPU work"],
  time_outside_operators: ["between operators", "before the first operator", "after the last operator"],
};

const OF_THE_JOB: Finding["kind"][] = ["straggler", "pipeline_bubble", "expert_imbalance", "slow_link"];
const NAMED_KERNELS = 2;

function kernelLinks(app: App, finding: Finding): [string, Href][] {
  const scope = finding.stage ?? "";
  const classes = CLASSES[finding.kind]?.filter((each) => kernelsLink(app, [each], scope) !== null);
  const named = finding.values
    .filter((value) => ["kernel_time", "kernel_share_of_roof"].includes(value.name) && value.text !== null)
    .map((value) => value.text!);
  const links = [...new Set(named)]
    .slice(0, NAMED_KERNELS)
    .map((name): [string, Href] => [name, kernelLink(app, kernelPlaces(app.profile).byShortName(name), scope)]);
  if (!classes || classes.length === 0) return links;
  return [
    [`Kernels: ${classes.map((each) => app.palette.label(each)).join(", ")}`, kernelsLink(app, classes, scope)],
    ...links,
  ];
}

/** The longest gap that profile.json lists for the finding. */
function longestGap(app: App, finding: Finding, gaps: Gap[]): Gap | null {
  const text = (name: string) => finding.values.find((value) => value.name === name)?.text ?? null;
  if (finding.kind === "host_stall_repeated") {
    const same = app.profile.repeated_gaps.find(
      ({ longest }) =>
        longest.stage === finding.stage &&
        longest.work_before === text("work_before") &&
        longest.work_after === text("work_after"),
    );
    if (same) return same.longest;
  }
  const wanted = finding.kind === "gap_between_steps" ? gaps.filter((gap) => gap.between_steps) : gaps;
  return wanted.reduce<Gap | null>((longest, gap) => (longest && longest.ms >= gap.ms ? longest : gap), null);
}

function gapLinks(app: App, finding: Finding): [string, Href][] {
  const causes = CAUSES[finding.kind];
  if (!causes) return [];
  const stage = finding.stage ?? "";
  const list: [string, Href] = ["Longest gaps", gapsLink(app, stage, causes)];
  const longest = longestGap(app, finding, gapsOf(app.profile, stage, causes));
  if (longest) return [list, [`Longest in the timeline (${ms(longest.ms)} ms)`, gapSpan(app, longest)]];
  const [recorded] = timelineGapsOf(app, stage, causes).sort((a, b) => b.longest_ns - a.longest_ns);
  return recorded
    ? [
        list,
        [
          `Longest in the timeline (${ms(recorded.longest_ns / 1e6)} ms)`,
          selectionLink(recorded.longest_start_ns, recorded.longest_ns),
        ],
      ]
    : [list];
}

function stepLinks(app: App, finding: Finding): [string, Href][] {
  if (finding.kind !== "slow_steps") return [];
  const slow = app.profile.slow_steps.filter((step) => step.stage === finding.stage);
  const slowest = slow.reduce<(typeof slow)[number] | null>(
    (best, step) => (best && best.above_median_ms >= step.above_median_ms ? best : step),
    null,
  );
  if (!slowest) return [];
  return [
    ["Slowest steps", placeHash("steps", { stage: finding.stage, at: "slow" })],
    [`Slowest in the timeline (${ms(slowest.wall_ms)} ms)`, stepSpan(app, slowest.step)],
  ];
}

function otherLinks(app: App, finding: Finding): [string, Href][] {
  if (finding.kind === "exposed_copies") return [["Copies and fills", copiesLink(app)]];
  if (finding.kind === "latency_bound_kernels")
    return [["Roofline", app.profile.roofline.kernels.length > 0 ? "#roofline" : null]];
  if (finding.kind === "hidden_graphs")
    return [["Graph replays in the timeline", timelineFilterLink({ q: "CUDA graph" })]];
  if (OF_THE_JOB.includes(finding.kind)) return [["Where each rank's time goes", app.profile.job ? "#job" : null]];
  return [];
}

export function findingLinks(app: App, finding: Finding): FindingLink[] {
  const all = [
    ...kernelLinks(app, finding),
    ...gapLinks(app, finding),
    ...stepLinks(app, finding),
    ...otherLinks(app, finding),
  ];
  return all.flatMap(([words, href]) => (href === null ? [] : [{ words, href }]));
}
