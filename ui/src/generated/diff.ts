// Generated from the structs of src/compare/model: python3 tests/end_to_end/test_diff_schema.py --rewrite

export interface Diff {
  /** of this file */
  schema_version: number;
  /** that wrote it */
  tool: Tool;
  /** pass (every rule passes, or none was given), fail (one fails), cannot_tell (none fails, one cannot be decided; or a side is damaged), not_comparable */
  verdict: string;
  /** what happened, in a sentence: the first line of reports */
  summary: string;
  /** what the kernels of both sides ran on: gpu, cpu */
  device_kind: string;
  /** relative difference from which on a quantity changed (fraction) */
  threshold: number;
  /** both sides hold the same measurements, to the last digit and the last kernel */
  identical: boolean;
  /** runs of the base side */
  base: Base[];
  /** runs of the new side */
  new: Base[];
  /** what is missing of either side; with any, nothing is claimed and no rule can be decided */
  damage: Damage[];
  /** what differs besides times; blocking ones first */
  aspects: Aspects[];
  /** rules, in their order */
  gates: Gates[];
  /** by stage, with their intervals */
  comparisons: Comparisons[];
  /** where the difference is; means over all runs */
  stages: Stages[];
  /** gone and new ones first */
  findings: Findings[];
  /** which steps were compared with which */
  groups: Groups[];
  /** which were not, and by which rule */
  left_out: LeftOut[];
  /** of two jobs, by rank, then stage; empty otherwise */
  ranks: Ranks[];
}

export interface Tool {
  /** always llmprof */
  name: string;
  /** of llmprof */
  version: string;
}

export interface Base {
  /** as it was named */
  path: string;
  /** profile, run, capture */
  kind: string;
  /** tools of its captures, with their versions */
  recorded_by: string | null;
  /** what ran, where the run knows */
  command: string | null;
  /** recorded, of all stages */
  steps: number;
}

export interface Damage {
  /** base, new */
  side: string;
  /** its path */
  run: string;
  /** of the diagnostic in its profile.json; capture_failed (a recording failed or was interrupted); stage_cut_off (no whole instance of a stage was recorded) */
  code: string;
  /** what is missing */
  text: string;
  /** how often */
  count: number;
}

export interface Aspects {
  /** gpu, gpu_count, clocks, driver, cuda, model, dtype, prompt_tokens, new_tokens, batch, parallelism, recording, coverage, selection, stages, hidden_graphs, throttling, engine, device_kind, unwatched, cpu_peaks, shared_cpus */
  aspect: string;
  /** value of the base side; null where it does not tell */
  base: string | null;
  /** value of the new side */
  new: string | null;
  /** the sides cannot be compared; otherwise a note */
  blocking: boolean;
  /** the sentence of reports */
  text: string;
}

export interface Gates {
  /** as written */
  rule: string;
  /** the command line, or the file of conf/gate */
  from: string;
  /** pass (the whole interval is within the limit), fail (the whole interval is beyond it), cannot_tell */
  outcome: string;
  /** that it was measured in; empty where there is none */
  stage: string;
  /** of the difference over base (fraction) */
  relative_limit: number | null;
  /** of the difference; with both, only what is beyond both fails (ms) */
  absolute_limit_ms: number | null;
  /** null where a side has no such quantity */
  measured: Comparisons | null;
  /** the sentence of reports */
  text: string;
}

export interface Comparisons {
  /** as in profile.json; "all kernels" without stages */
  stage: string;
  /** step, step_busy, step_idle, step_kernels (of steps); wall, busy, idle, kernels (of instances); class.X (time of that class's kernels, overlap not removed, per step, or per instance of a stage without steps); tokens_per_s, mfu, mbu */
  quantity: string;
  /** mean (unless a gate rule names another), p50, p90, p99, shift (Hodges-Lehmann: the median of all differences between the sides' values) */
  statistic: string;
  /** ms, tokens/s, fraction */
  unit: string;
  /** unwatched (without profiling, both sides by the same source), recorded */
  times: string;
  /** false of rates and utilization */
  lower_is_better: boolean;
  /** the statistic; mean over runs where there are several; of a shift the median */
  base: number | null;
  /** the statistic; of a shift base plus the difference */
  new: number | null;
  /** new less base */
  difference: number | null;
  /** of its 95 % interval; null where nothing tells */
  low: number | null;
  /** likewise */
  high: number | null;
  /** difference over base, new over base less 1 (fraction) */
  relative: number | null;
  /** low over base (fraction) */
  relative_low: number | null;
  /** high over base (fraction) */
  relative_high: number | null;
  /** changed (the interval is beyond the threshold), unchanged (inside it), cannot_tell */
  answer: string;
  /** better, worse; null unless changed */
  direction: string | null;
  /** the interval is without 0: there is a difference, be it below the threshold */
  differs: boolean;
  /** identical (both sides hold the same values), block_bootstrap (of one run per side), welch (few values, or fewer than five runs per side), rank_interval (Mann-Whitney, from five runs per side on), one_against_runs, as_recorded (of single runs without profiling: as the recorded times vary), from_wall (as of the wall time that it is made of), none */
  method: string;
  /** runs, steps, instances: what the interval takes to vary. Of steps or instances it holds for these two recordings, and says nothing of how far runs differ */
  noise_of: string;
  /** values */
  base_count: number;
  /** values */
  new_count: number;
  /** runs that have some */
  base_runs: number;
  /** likewise */
  new_runs: number;
  /** consecutive values drawn together; 0 without bootstrap */
  base_block: number;
  /** likewise */
  new_block: number;
  /** relative difference that would have been called changed with probability 0.8 (fraction) */
  smallest_seen: number | null;
  /** per side, for an answer, if the difference is what was estimated and noise stays as it is; null where there is one, where nothing tells, and above 1000 */
  runs_needed: number | null;
  /** by how much equal runs are taken to differ, relative, since single runs do not show it: the interval is wider by it; null where a side has several runs (fraction) */
  between_runs: number | null;
  /** why no answer is given whatever the figures are: damaged (a side is), shared_cpus (other programs used the CPUs), recorded_differently (by another tool, or with CUDA graphs hidden on one side), not_comparable (the sides stand side by side); null otherwise */
  why_not: string | null;
}

export interface Stages {
  /** as in profile.json; "all kernels" without stages */
  stage: string;
  /** what times are of: step (one forward pass; of a decode, one token per sequence), instance, capture */
  unit: string;
  /** of wall and budget: unwatched, recorded */
  times: string;
  /** that means are of */
  base_units: number;
  /** likewise */
  new_units: number;
  /** mean per unit, what was not traced left out (ns) */
  base_wall_ns: number;
  /** likewise (ns) */
  new_wall_ns: number;
  /** of means; its interval is among comparisons (ns) */
  difference_ns: number;
  /** difference over the base's wall time (fraction) */
  relative: number | null;
  /** largest difference first */
  budget: StagesBudget[];
  /** time of all kernels per unit, overlap not removed (ns) */
  kernel_base_ns: number;
  /** likewise (ns) */
  kernel_new_ns: number;
  /** the second less the first (ns) */
  kernel_difference_ns: number;
  /** what the budget's kernel classes changed by beyond kernel_difference_ns: kernels that run at the same time count once there (ns) */
  overlap_difference_ns: number;
  /** largest difference first */
  kernels: StagesKernels[];
  /** largest difference first */
  causes: StagesCauses[];
  /** in words */
  why: string;
}

export interface StagesBudget {
  /** of the budget, as in profile.json */
  part: string;
  /** the GPU does no work in this part */
  idle: boolean;
  /** per unit (ns) */
  base_ns: number;
  /** per unit (ns) */
  new_ns: number;
  /** the parts sum to the wall's, exactly (ns) */
  difference_ns: number;
  /** difference over the base's wall time (fraction) */
  points: number | null;
}

export interface StagesKernels {
  /** matched (the same kernel), replaced (another kernel at its place), fused (several became fewer), split (fewer became several), added, removed */
  change: string;
  /** as in kernel_sequences of profile.json; empty without them */
  block: string;
  /** name_and_place, place, class_and_shape, name, class; empty of added and removed */
  matched_by: string;
  /** in their order; empty of an added one */
  base_kernels: StagesKernelsBaseKernels[];
  /** in their order; empty of a removed one */
  new_kernels: StagesKernelsBaseKernels[];
  /** time per unit, overlap not removed (ns) */
  base_ns: number;
  /** likewise (ns) */
  new_ns: number;
  /** all rows sum to the stage's kernel_difference_ns, exactly (ns) */
  difference_ns: number;
  /** difference over the base's wall time (fraction) */
  points: number | null;
}

export interface StagesKernelsBaseKernels {
  /** as in kernels of profile.json */
  short_name: string;
  /** likewise */
  class: string;
  /** launches, mean */
  calls_per_unit: number;
}

export interface StagesCauses {
  /** fused, split, replaced, added, removed (kernels of one kind of change and class), same_kernels (matched ones of a class, each launch longer or shorter), launches (more or fewer of the same kernels), idle, other_parts (copies, hidden graphs), overlap (kernels that run at the same time) */
  kind: string;
  /** a class of kernels, a part of the budget */
  subject: string | null;
  /** distinct places in the sequence */
  base_kernels: number;
  /** likewise */
  new_kernels: number;
  /** per unit (ns) */
  difference_ns: number;
  /** difference over the base's wall time (fraction) */
  points: number | null;
}

export interface Findings {
  /** as in profile.json */
  kind: string;
  /** gone, new, smaller, larger (by more than the threshold), same */
  change: string;
  /** where it belongs */
  stage: string | null;
  /** as in profile.json */
  subject: string | null;
  /** of the side that has it; the new one's first */
  title: string;
  /** potential saving per unit of that finding, mean of runs (ms) */
  base_ms: number | null;
  /** likewise (ms) */
  new_ms: number | null;
}

export interface Groups {
  /** where they belong */
  stage: string;
  /** prefill, decode, mixed */
  kind: string;
  /** sequences */
  batch: number | null;
  /** that pass through the layers */
  tokens: number | null;
  /** context_tokens (per sequence), or step_of_instance where the context is not told */
  context_by: string;
  /** of the range that both sides have */
  context_low: number;
  /** likewise */
  context_high: number;
  /** compared */
  base_steps: number;
  /** compared */
  new_steps: number;
  /** of the group in its stage: its share of the base's steps (fraction) */
  weight: number;
}

export interface LeftOut {
  /** base, new */
  side: string;
  /** its path */
  run: string;
  /** where they belong */
  stage: string;
  /** steps, instances */
  what: string;
  /** warm_up, first_step (of an instance with several), after_untraced (nothing was traced before it), cut_off (recording ended in its instance), clocks_lowered (by heat, power or hardware; kept where more than half of a side's are), no_counterpart (not every run has steps of its kind, batch and tokens, or instances of as many steps), outside_context_range, too_few */
  rule: string;
  /** how many */
  count: number;
  /** their wall time (ms) */
  total_ms: number;
}

export interface Ranks {
  /** in both jobs */
  rank: number;
  /** of the job */
  stage: string;
  /** what times are of: step, instance */
  unit: string;
  /** mean per unit, by the rank's own clock: waits for other ranks included, what was not traced left out (ns) */
  base_wall_ns: number;
  /** likewise (ns) */
  new_wall_ns: number;
  /** the second less the first (ns) */
  difference_ns: number;
  /** difference over the base's wall time (fraction) */
  relative: number | null;
  /** of the rank's budget, the part that changed most; null where none did */
  part: string | null;
  /** how much it changed (ns) */
  part_difference_ns: number;
}
