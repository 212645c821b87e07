// Generated from the structs of src/compare/model: python3 tests/end_to_end/test_diff_schema.py --rewrite

export interface Diff {
  /** version of this file's format */
  schema_version: number;
  /** program that wrote this file */
  tool: Tool;
  /** verdict on the comparison */
  verdict: Verdict;
  /** what happened, in one sentence: the first line of reports */
  summary: string;
  /** processor that the kernels of both sides ran on */
  device_kind: DeviceKind;
  /** relative difference above which a quantity counts as changed (fraction) */
  threshold: number;
  /** both sides have the same measurements, to the last digit and kernel */
  identical: boolean;
  /** runs of the base side */
  base: Base[];
  /** runs of the new side */
  new: Base[];
  /** what is missing on either side; if anything is, no change is reported and no rule decided */
  damage: Damage[];
  /** differences other than times, blocking ones first */
  aspects: Aspects[];
  /** gate rules, in order */
  gates: Gates[];
  /** compared quantities with their intervals, by stage */
  comparisons: Comparisons[];
  /** where the difference is, by stage; means over all runs */
  stages: Stages[];
  /** requests of a client, by what they spent their time on; null unless all runs have them */
  requests: Requests | null;
  /** use of GPU memory; null unless a run recorded it or has a memory snapshot of PyTorch */
  memory: Memory | null;
  /** findings that changed; gone and new ones first */
  findings: Findings[];
  /** groups of steps that were compared with each other */
  groups: Groups[];
  /** steps and instances that were excluded, and why */
  left_out: LeftOut[];
  /** differences by rank, then stage; empty unless both sides are jobs */
  ranks: Ranks[];
}

export interface Tool {
  /** always llmprof */
  name: string;
  /** version of llmprof */
  version: string;
}

export type Verdict =
  | "pass" /* every rule passes, or none was given; for a rule: the whole interval is within its limit */
  | "fail" /* a rule fails: the whole interval is beyond its limit */
  | "cannot_tell" /* no rule fails, but one is undecided; or a side is damaged */
  | "not_comparable" /* the sides are only listed side by side */;

export type DeviceKind =
  | "gpu"
  | "cpu" /* operators that the program recorded */;

export interface Base {
  /** path as given on the command line */
  path: string;
  /** what it is */
  kind: BaseKind;
  /** tools that made its captures, with their versions */
  recorded_by: string | null;
  /** command that ran; null if unknown */
  command: string | null;
  /** recorded steps, over all stages */
  steps: number;
}

export type BaseKind =
  | "profile"
  | "run"
  | "capture";

export interface Damage {
  /** side of the comparison */
  side: DamageSide;
  /** path of the run */
  run: string;
  /** code of the diagnostic in its profile.json; capture_failed (a recording failed or was interrupted);
   * stage_cut_off (no complete instance of a stage was recorded) */
  code: string;
  /** what is missing */
  text: string;
  /** number of occurrences */
  count: number;
}

export type DamageSide =
  | "base"
  | "new";

export interface Aspects {
  /** what differs */
  aspect: AspectsAspect;
  /** value of the base side; null if unknown */
  base: string | null;
  /** value of the new side; null if unknown */
  new: string | null;
  /** true: the sides cannot be compared; false: it is a note */
  blocking: boolean;
  /** sentence that reports print */
  text: string;
}

export type AspectsAspect =
  | "device_kind" /* the kind of device */
  | "gpu" /* the processor */
  | "gpu_count" /* the number of devices */
  | "ranks" /* the ranks of the job */
  | "clocks" /* the mean SM clock */
  | "driver" /* the GPU driver */
  | "cuda" /* the CUDA version */
  | "throttling" /* steps with clocks lowered by heat, power or hardware */
  | "model" /* the model */
  | "dtype" /* the number formats */
  | "prompt_tokens" /* prompt tokens per sequence */
  | "new_tokens" /* new tokens per sequence */
  | "batch" /* the batch */
  | "parallelism" /* the parallelism */
  | "selection" /* the selected part */
  | "engine" /* the engine */
  | "kernel_source" /* source of kernel times */
  | "recording" /* the recording tool */
  | "recording_version" /* the version of the recording tool */
  | "hidden_graphs" /* detail recorded of CUDA graphs */
  | "stage_source" /* how stages were found */
  | "stages" /* the stages */
  | "coverage" /* the coverage by stages */
  | "unwatched" /* the time without profiling */
  | "cpu_peaks" /* the measured peaks of the CPU (MFU and MBU are of the higher ones on both sides) */
  | "shared_cpus" /* CPUs used by other programs during the run */
  | "load" /* how requests were sent (they are not compared) */
  | "schedule" /* when requests were sent, as by another seed (they are not compared) */
  | "prompts" /* prompt tokens of requests (they are not compared) */
  | "failed_requests" /* requests that did not complete */
  | "output_tokens" /* output tokens of requests */
  | "gpu_memory" /* the memory of the GPUs */
  | "memory_ledger" /* whether the use of GPU memory was recorded */
  | "memory_snapshot" /* whether there is a memory snapshot of PyTorch */;

export interface Gates {
  /** rule as written */
  rule: string;
  /** the command line, or a file in conf/gate */
  from: string;
  /** verdict on the rule */
  outcome: Verdict;
  /** stage that it was measured in, "requests", or the GPU for memory; empty if there is none */
  stage: string;
  /** limit of the difference over base (fraction) */
  relative_limit: number | null;
  /** limit of the difference; with both limits, only a difference beyond both fails (ms) */
  absolute_limit_ms: number | null;
  /** absolute_limit_ms for memory (B) */
  absolute_limit_bytes: number | null;
  /** null if a side does not have this quantity */
  measured: Comparisons | null;
  /** sentence that reports print */
  text: string;
}

export interface Comparisons {
  /** as in profile.json; "all kernels" without stages; "requests" for a client's requests; the GPU for memory */
  stage: string;
  /** what is compared; class.X: kernel time of that class, including overlap, per step, or per instance if the
   * stage has no steps; part.X: time of requests that was spent on it; memory.X: of gate rules on GPU memory */
  quantity: ComparisonsQuantity;
  /** statistic that is compared */
  statistic: ComparisonsStatistic;
  /** unit of the values */
  unit: ComparisonsUnit;
  /** source of the times */
  times: ComparisonsTimes;
  /** false for rates and utilization */
  lower_is_better: boolean;
  /** value of the statistic; with several runs, their mean; for a shift, the median */
  base: number | null;
  /** value of the statistic; for a shift, base plus difference */
  new: number | null;
  /** new minus base */
  difference: number | null;
  /** lower end of the 95 % interval; null if the uncertainty is unknown */
  low: number | null;
  /** upper end of the interval */
  high: number | null;
  /** difference over base (fraction) */
  relative: number | null;
  /** low over base (fraction) */
  relative_low: number | null;
  /** high over base (fraction) */
  relative_high: number | null;
  /** whether it changed */
  answer: ComparisonsAnswer;
  /** null unless changed */
  direction: ComparisonsDirection | null;
  /** the interval excludes 0: there is a difference, even if it is below the threshold */
  differs: boolean;
  /** source of the interval */
  method: ComparisonsMethod;
  /** what varies. For steps or instances, the interval describes these two recordings, not the variation between
   * runs */
  noise_of: ComparisonsNoiseOf;
  /** number of values */
  base_count: number;
  /** number of values */
  new_count: number;
  /** runs with values */
  base_runs: number;
  /** runs with values, on the new side */
  new_runs: number;
  /** consecutive values drawn together; 0 without bootstrap */
  base_block: number;
  /** base_block for the new side */
  new_block: number;
  /** relative difference that would be reported as changed with probability 0.8 (fraction) */
  smallest_seen: number | null;
  /** runs per side that an answer needs, if difference and noise stay the same; null if there is an answer, if
   * unknown, or above 1000 */
  runs_needed: number | null;
  /** assumed relative difference between equal runs, which single runs cannot show; it widens the interval; null if
   * a side has several runs (fraction) */
  between_runs: number | null;
  /** why there is no answer, whatever the figures are; otherwise null */
  why_not: ComparisonsWhyNot | null;
}

export type ComparisonsQuantity =
  | "step" /* wall time per step */
  | "step_busy" /* busy time of the device per step */
  | "step_idle" /* idle time of the device per step */
  | "step_kernels" /* kernel time per step */
  | "wall" /* wall time per instance */
  | "busy" /* busy time of the device per instance */
  | "idle" /* idle time of the device per instance */
  | "kernels" /* kernel time per instance */
  | "tokens_per_s"
  | "mfu" /* on wall time */
  | "mbu" /* on wall time */
  | "ttft" /* time to first token of requests */
  | "itl" /* inter-token latency of requests */
  | "tpot" /* time per output token of requests */
  | "e2e" /* end-to-end time of requests */
  | "goodput" /* requests per second that meet all objectives */
  | "part.queue"
  | "part.own_prefill"
  | "part.others_prefill"
  | "part.own_decode"
  | "part.others_decode"
  | "part.out_of_batch"
  | "part.host"
  | "part.graph_miss"
  | "part.lowered_clocks"
  | "part.communication"
  | "part.delivery"
  | "part.not_recorded"
  | "class.gemm"
  | "class.gemv"
  | "class.attention"
  | "class.norm"
  | "class.rope"
  | "class.elementwise"
  | "class.copy/cast"
  | "class.reduction"
  | "class.softmax"
  | "class.sampling/top-k"
  | "class.embedding/gather"
  | "class.moe routing"
  | "class.quantise"
  | "class.communication"
  | "class.memset/memcpy"
  | "class.other"
  | "memory.peak" /* used at the peak of the run, without other processes */
  | "memory.after_load" /* used after loading, without other processes */
  | "memory.steady_decode" /* used in the middle of the longest decode, without other processes */
  | "memory.end" /* used at the end, without other processes */
  | "memory.pytorch_peak" /* highest active bytes in PyTorch's memory snapshots */
  | "memory.pytorch_reserved" /* highest reserved bytes in PyTorch's memory snapshots */
  | "memory.other_processes" /* at the peak of the run */
  | "memory.driver_reserved" /* at the peak of the run */
  | "memory.context" /* at the peak of the run */
  | "memory.weights" /* at the peak of the run */
  | "memory.kv_cache" /* at the peak of the run */
  | "memory.graphs" /* at the peak of the run */
  | "memory.library_workspace" /* at the peak of the run */
  | "memory.framework" /* at the peak of the run */
  | "memory.allocations" /* at the peak of the run */
  | "memory.pool" /* at the peak of the run */
  | "memory.pool_unused" /* at the peak of the run */
  | "memory.vmm" /* at the peak of the run */
  | "memory.managed" /* at the peak of the run */
  | "memory.rounding" /* at the peak of the run */
  | "memory.profiler" /* at the peak of the run */
  | "memory.rest" /* at the peak of the run */;

export type ComparisonsStatistic =
  | "shift" /* Hodges-Lehmann: the median of all differences between the sides' values */
  | "mean" /* unless a gate rule names another */
  | "p50"
  | "p90"
  | "p99";

export type ComparisonsUnit =
  | "ms"
  | "tokens/s"
  | "fraction"
  | "requests/s"
  | "bytes";

export type ComparisonsTimes =
  | "unwatched" /* times without profiling, from the same source on both sides */
  | "recorded";

export type ComparisonsAnswer =
  | "changed" /* the interval is beyond the threshold */
  | "unchanged" /* the interval is within the threshold */
  | "cannot_tell";

export type ComparisonsDirection =
  | "better"
  | "worse";

export type ComparisonsMethod =
  | "identical" /* both sides have the same values */
  | "block_bootstrap" /* bootstrap over the values of one run per side */
  | "welch" /* Welch's t: few values, or fewer than five runs per side */
  | "rank_interval" /* Mann-Whitney: five runs per side or more */
  | "one_against_runs" /* one run against the variation of several */
  | "none" /* one value per side, or too few for a percentile */
  | "as_recorded" /* single runs without profiling: assumed to vary like the recorded times */
  | "from_wall" /* interval of the wall time that it is computed from */
  | "paired_bootstrap" /* bootstrap over requests that were sent to both sides of one run each */
  | "both_intervals" /* the sides' own intervals together */
  | "counted" /* bytes of one run per side: taken as exact */;

export type ComparisonsNoiseOf =
  | "runs"
  | "steps"
  | "instances"
  | "requests";

export type ComparisonsWhyNot =
  | "damaged" /* a side is damaged */
  | "shared_cpus" /* other programs used the CPUs */
  | "recorded_differently" /* the sides were recorded by different tools, or CUDA graphs are hidden on one side */
  | "not_comparable" /* the sides are only listed side by side */
  | "other_load" /* requests were sent at another rate, at other times or with other prompts */
  | "failed_requests" /* clearly more requests failed on one side; completed ones are not a fair sample */;

export interface Stages {
  /** as in profile.json; "all kernels" without stages */
  stage: string;
  /** unit that times refer to */
  unit: StagesUnit;
  /** source of the times */
  times: ComparisonsTimes;
  /** units that means are computed over */
  base_units: number;
  /** base_units for the new side */
  new_units: number;
  /** mean wall time per unit, without untraced periods (ns) */
  base_wall_ns: number;
  /** base_wall_ns for the new side (ns) */
  new_wall_ns: number;
  /** difference of the means; comparisons has its interval (ns) */
  difference_ns: number;
  /** difference over the base's wall time (fraction) */
  relative: number | null;
  /** largest difference first */
  budget: StagesBudget[];
  /** kernel time per unit, including overlap (ns) */
  kernel_base_ns: number;
  /** kernel_base_ns for the new side (ns) */
  kernel_new_ns: number;
  /** new minus base (ns) */
  kernel_difference_ns: number;
  /** change of the budget's kernel classes beyond kernel_difference_ns: the budget counts kernels that run at the
   * same time once (ns) */
  overlap_difference_ns: number;
  /** largest difference first */
  kernels: StagesKernels[];
  /** largest difference first */
  causes: StagesCauses[];
  /** the causes in words */
  why: string;
}

export type StagesUnit =
  | "step" /* one forward pass; in decode, one token per sequence */
  | "instance"
  | "capture";

export interface StagesBudget {
  /** part of the budget, as in profile.json */
  part: string;
  /** the GPU does no work in this part */
  idle: boolean;
  /** per unit (ns) */
  base_ns: number;
  /** per unit (ns) */
  new_ns: number;
  /** new minus base; the parts sum exactly to the difference of the wall times (ns) */
  difference_ns: number;
  /** difference over the base's wall time (fraction) */
  points: number | null;
}

export interface StagesKernels {
  /** kind of change */
  change: StagesKernelsChange;
  /** block as in kernel_sequences of profile.json; empty without them */
  block: string;
  /** what shows that the kernels do the same work */
  matched_by: StagesKernelsMatchedBy;
  /** kernels of the base side in order; empty if added */
  base_kernels: StagesKernelsBaseKernels[];
  /** kernels of the new side in order; empty if removed */
  new_kernels: StagesKernelsBaseKernels[];
  /** kernel time per unit, including overlap (ns) */
  base_ns: number;
  /** base_ns for the new side (ns) */
  new_ns: number;
  /** new minus base; all rows sum exactly to the stage's kernel_difference_ns (ns) */
  difference_ns: number;
  /** difference over the base's wall time (fraction) */
  points: number | null;
}

export type StagesKernelsChange =
  | "matched" /* the same kernel */
  | "replaced" /* another kernel at the same position */
  | "fused" /* several kernels became fewer */
  | "split" /* fewer kernels became several */
  | "added" /* only the new side has it */
  | "removed" /* only the base side has it */
  | "same_kernels" /* cause: launches of matched kernels of a class take longer or shorter */
  | "launches" /* cause: more or fewer launches of the same kernels */
  | "idle" /* cause: idle time */
  | "other_parts" /* cause: copies, hidden graphs */
  | "overlap" /* cause: kernels that run at the same time */;

export type StagesKernelsMatchedBy =
  | "" /* added or removed */
  | "name_and_place" /* name and place in the sequence */
  | "place" /* place in the sequence */
  | "class_and_shape" /* class and launch shape */
  | "name" /* name */
  | "class" /* class */;

export interface StagesKernelsBaseKernels {
  /** as in kernels of profile.json */
  short_name: string;
  /** class, as in kernels of profile.json */
  class: StagesKernelsBaseKernelsClass;
  /** mean number of launches */
  calls_per_unit: number;
}

export type StagesKernelsBaseKernelsClass =
  | "gemm" /* matrix products */
  | "gemv" /* matrix-vector products */
  | "attention" /* attention, or what replaces it: state-space scans, linear attention */
  | "norm"
  | "rope" /* position embedding */
  | "elementwise"
  | "copy/cast" /* copies, type and layout changes by kernels */
  | "reduction"
  | "softmax"
  | "sampling/top-k" /* choice of the next token, sorting */
  | "embedding/gather" /* embeddings, indexing */
  | "moe routing" /* choosing experts, sorting tokens by expert */
  | "quantise" /* quantization and dequantization */
  | "communication" /* communication between GPUs */
  | "memset/memcpy" /* memory operations of the driver */
  | "other";

export interface StagesCauses {
  /** kind of change */
  kind: StagesKernelsChange;
  /** a class of kernels, a part of the budget */
  subject: string | null;
  /** distinct positions in the kernel sequence */
  base_kernels: number;
  /** base_kernels for the new side */
  new_kernels: number;
  /** per unit (ns) */
  difference_ns: number;
  /** difference over the base's wall time (fraction) */
  points: number | null;
}

export interface Requests {
  /** completed requests, over all runs */
  base_completed: number;
  /** base_completed for the new side */
  new_completed: number;
  /** requests that did not complete, over all runs */
  base_failed: number;
  /** base_failed for the new side */
  new_failed: number;
  /** mean time from sent to end, over all completed requests (ns) */
  base_ns: number;
  /** base_ns for the new side (ns) */
  new_ns: number;
  /** new minus base; comparisons has its interval (ns) */
  difference_ns: number;
  /** difference over base (fraction) */
  relative: number | null;
  /** largest difference first; the parts sum exactly to difference_ns; empty unless the requests of all runs are
   * joined */
  parts: RequestsParts[];
  /** the same for the time to first token, of requests that got one */
  first_token_parts: RequestsParts[];
  /** the changes in words */
  why: string;
}

export interface RequestsParts {
  /** part of the requests' time, as in profile.json */
  part: RequestsPartsPart;
  /** mean per completed request (ns) */
  base_ns: number;
  /** base_ns for the new side (ns) */
  new_ns: number;
  /** new minus base (ns) */
  difference_ns: number;
  /** difference over the base's mean time (fraction) */
  points: number | null;
}

export type RequestsPartsPart =
  | "queue" /* from sent until the batch begins that holds its first prompt tokens */
  | "own_prefill" /* passes over its own prompt */
  | "others_prefill" /* prompts of other requests in its batches */
  | "own_decode" /* its own decode: what a step takes without other requests */
  | "others_decode" /* decode of other requests in its batches */
  | "out_of_batch" /* it had started, but was in no batch: preempted or evicted */
  | "host" /* the engine's own time between passes and before it reads results */
  | "graph_miss" /* steps without their CUDA graph, or padded to a larger one */
  | "lowered_clocks" /* steps that took longer while heat or power lowered the clocks */
  | "communication" /* exposed communication between GPUs, and waits for other ranks */
  | "delivery" /* from the results on the host to the client */
  | "not_recorded" /* outside of recording windows, or in passes that were not recorded */;

export interface Memory {
  /** runs in which the use of GPU memory was recorded */
  base_ledgers: number;
  /** base_ledgers for the new side */
  new_ledgers: number;
  /** runs with a memory snapshot of PyTorch */
  base_snapshots: number;
  /** base_snapshots for the new side */
  new_snapshots: number;
  /** moments that all runs of both sides have, by GPU */
  moments: MemoryMoments[];
  /** moments that only one side has */
  left_out: MemoryLeftOut[];
  /** figures of PyTorch's memory snapshots, by GPU; empty unless all runs have one */
  pytorch: MemoryPytorch[];
  /** what grew, in words */
  why: string[];
}

export interface MemoryMoments {
  /** the GPU */
  device: string;
  /** which moment */
  kind: MemoryMomentsKind;
  /** the stage of a stage_peak or steady_decode; null otherwise */
  stage: string | null;
  /** the sum of the rows: what is used or reserved, according to NVML, or what recorded allocations hold if neither
   * side has readings */
  used: MemoryMomentsUsed;
  /** used, without the rows of other processes */
  own: MemoryMomentsUsed;
  /** what the memory is used for, largest difference first; the differences sum to that of used, exactly with one
   * run per side */
  rows: MemoryMomentsRows[];
}

export type MemoryMomentsKind =
  | "after_load" /* the last reading before the first stage, without readings its start */
  | "stage_peak" /* the time in a stage with most memory in use */
  | "steady_decode" /* the middle of the longest decode */
  | "peak" /* the time with most memory in use */
  | "end" /* the last reading, without readings the last event */;

export interface MemoryMomentsUsed {
  /** mean over runs; null if the base side has none (B) */
  base_bytes: number | null;
  /** mean over runs; null if the new side has none (B) */
  new_bytes: number | null;
  /** new minus base (B) */
  difference_bytes: number;
  /** lower end of the difference's 95 % interval; null unless a side has several runs (B) */
  low_bytes: number | null;
  /** upper end of the interval (B) */
  high_bytes: number | null;
  /** difference over base; null without a base (fraction) */
  relative: number | null;
  /** gone, new: only one side has it; smaller, larger: by at least 2 MiB, and beyond the interval of several runs */
  change: MemoryMomentsUsedChange;
}

export type MemoryMomentsUsedChange =
  | "gone"
  | "new"
  | "smaller" /* by more than the threshold */
  | "larger" /* by more than the threshold */
  | "same";

export interface MemoryMomentsRows {
  /** what the memory is used for, as in memory_ledger of profile.json */
  part: MemoryMomentsRowsPart;
  /** the library that allocated it; empty if unknown, or if none did */
  owner: string;
  /** mean over runs; null if the base side has none (B) */
  base_bytes: number | null;
  /** mean over runs; null if the new side has none (B) */
  new_bytes: number | null;
  /** new minus base (B) */
  difference_bytes: number;
  /** lower end of the difference's 95 % interval; null unless a side has several runs (B) */
  low_bytes: number | null;
  /** upper end of the interval (B) */
  high_bytes: number | null;
  /** difference over base; null without a base (fraction) */
  relative: number | null;
  /** gone, new: only one side has it; smaller, larger: by at least 2 MiB, and beyond the interval of several runs */
  change: MemoryMomentsUsedChange;
}

export type MemoryMomentsRowsPart =
  | "other_processes" /* processes other than the recorded one */
  | "driver_reserved" /* what the driver keeps for itself */
  | "context" /* the CUDA context and the code of loaded modules */
  | "weights" /* allocations of the size of the model's weights */
  | "kv_cache" /* allocations of the size of the model's KV cache */
  | "graphs" /* instantiated CUDA graphs */
  | "library_workspace" /* allocations of NVIDIA's libraries */
  | "framework" /* what a framework's allocator holds, whatever the program uses of it */
  | "allocations" /* other allocations, by the library that made them */
  | "pool" /* allocations in pools (cudaMallocAsync) */
  | "pool_unused" /* free memory of pools */
  | "vmm" /* virtual memory (cuMemCreate), as expandable segments of PyTorch */
  | "managed" /* managed memory on the GPU */
  | "rounding" /* what the driver adds to allocations: it gives out 2 MiB at a time */
  | "profiler" /* buffers of CUPTI */
  | "rest" /* used, but explained by nothing above; negative if the rows explain more */;

export interface MemoryLeftOut {
  /** the side that has it in all its runs */
  side: DamageSide;
  /** the GPU */
  device: string;
  /** which moment */
  kind: MemoryMomentsKind;
  /** the stage of a stage_peak or steady_decode; null otherwise */
  stage: string | null;
}

export interface MemoryPytorch {
  /** the GPU, as PyTorch numbers it */
  device: string;
  /** which figure; the largest of a run's snapshots */
  figure: MemoryPytorchFigure;
  /** mean over runs; null if the base side has none (B) */
  base_bytes: number | null;
  /** mean over runs; null if the new side has none (B) */
  new_bytes: number | null;
  /** new minus base (B) */
  difference_bytes: number;
  /** lower end of the difference's 95 % interval; null unless a side has several runs (B) */
  low_bytes: number | null;
  /** upper end of the interval (B) */
  high_bytes: number | null;
  /** difference over base; null without a base (fraction) */
  relative: number | null;
  /** gone, new: only one side has it; smaller, larger: by at least 2 MiB, and beyond the interval of several runs */
  change: MemoryMomentsUsedChange;
}

export type MemoryPytorchFigure =
  | "peak_active" /* highest active bytes */
  | "peak_reserved" /* highest reserved bytes */
  | "reserved" /* held from the driver at the snapshot */
  | "allocated" /* blocks in use at the snapshot */
  | "inactive" /* reserved but not active at the snapshot */
  | "private_pools" /* reserved by private pools at the snapshot */;

export interface Findings {
  /** as in profile.json */
  kind: FindingsKind;
  /** kind of change */
  change: MemoryMomentsUsedChange;
  /** stage that it belongs to */
  stage: string | null;
  /** as in profile.json */
  subject: string | null;
  /** title on the new side, otherwise on the base side */
  title: string;
  /** potential saving per unit of the finding, mean over runs (ms) */
  base_ms: number | null;
  /** base_ms for the new side (ms) */
  new_ms: number | null;
}

export type FindingsKind =
  | "hidden_graphs" /* CUDA graphs whose kernels the capture does not show; no potential saving is known */
  | "host_stall_repeated" /* long gaps at the same place of the stage, each time while the host is late */
  | "host_stall_single" /* long gaps that do not come back at the same place, while the host is late */
  | "launch_bound" /* the GPU idles because kernels are launched late, stalls excluded */
  | "gap_between_steps" /* the GPU idles from one step's last work to the next step's first launch */
  | "synchronization" /* the GPU idles because the host waited for it before launching more */
  | "queue_gaps" /* gaps between kernels that were launched in time */
  | "first_work_queued" /* the stage's first GPU work was launched, and the GPU was not free */
  | "idle_before_first_work" /* from the stage's start to its first GPU work */
  | "idle_after_last_work" /* from the stage's last GPU work to its end */
  | "gemm_above_floor" /* time of GEMMs (on a GPU, of GEMVs, too) above their floor */
  | "gemv_above_floor" /* time of a CPU's GEMVs above their floor */
  | "attention_above_floor" /* time of attention above its floor */
  | "small_kernels" /* GPU kernels that can be fused with their neighbors */
  | "fusible_norm" /* a CPU's normalization that can be fused */
  | "fusible_rope" /* a CPU's position embedding that can be fused */
  | "fusible_elementwise" /* a CPU's element-wise operators that can be fused */
  | "copies_and_casts" /* kernels that copy or convert */
  | "token_selection" /* kernels that choose the next token */
  | "expert_routing" /* kernels that choose experts and order tokens for them */
  | "exposed_communication" /* communication that no computation overlaps */
  | "exposed_copies" /* copies and fills while no kernel runs */
  | "low_clocks" /* the SM clock is far below the GPU's maximum, or was lowered by heat or power */
  | "slow_steps" /* steps that take clearly longer than the median step */
  | "latency_bound_kernels" /* kernels that reach neither the compute nor the memory roof, as measured by ncu */
  | "time_outside_operators" /* a CPU stage's time in which no recorded operator runs */
  | "straggler" /* a rank of a job that others wait for in collectives */
  | "pipeline_bubble" /* ranks idle because another stage of the pipeline works */
  | "expert_imbalance" /* one rank's experts take clearly longer than the others' */
  | "slow_link" /* collectives of large messages far below the peak bandwidth of their link */
  | "requests_delayed_by_prompts" /* requests wait while prompts of others are processed in their batches */
  | "requests_queued" /* requests wait before the batch that holds their first prompt tokens */
  | "requests_delayed_by_host" /* requests wait for the engine's own work between passes */
  | "requests_without_graph" /* steps of requests run without their CUDA graph, or padded to a larger one */
  | "requests_preempted" /* requests that had started wait outside of every batch */
  | "requests_delivered_late" /* tokens of requests take long from the host's results to the client */
  | "requests_at_low_clocks" /* steps of requests take longer while heat or power lowers the clocks */
  | "requests_in_communication" /* requests wait for communication between GPUs, or for other ranks */
  /* an allocation of PyTorch failed although the memory that it held free would have sufficed */
  | "memory_allocation_failed"
  | "memory_reserved_unused" /* memory that PyTorch held and did not use when it needed most */
  | "memory_graph_pools" /* private pools (CUDA graphs, torch.cuda.MemPool) hold much memory that they do not use */
  | "memory_pool_unused" /* free memory in CUDA's memory pools (cudaMallocAsync) at the peak */
  | "memory_duplicated_weights" /* the model's weights are more than once on one GPU */
  | "memory_cache_unused" /* the KV cache holds many more tokens than requests had in it at a time */
  | "memory_leak" /* memory that grows with every request; owner is the library that allocates it */;

export interface Groups {
  /** stage that they belong to */
  stage: string;
  /** kind of step */
  kind: GroupsKind;
  /** sequences per step */
  batch: number | null;
  /** tokens that pass through the layers */
  tokens: number | null;
  /** what context_low and context_high count */
  context_by: GroupsContextBy;
  /** start of the range that both sides have */
  context_low: number;
  /** end of that range */
  context_high: number;
  /** compared */
  base_steps: number;
  /** compared */
  new_steps: number;
  /** weight of the group in its stage: its share of the base side's steps (fraction) */
  weight: number;
}

export type GroupsKind =
  | "prefill"
  | "decode"
  | "mixed" /* prefill and decode in one pass */
  | "forward" /* a pass of a model that is not recognized as an LLM */;

export type GroupsContextBy =
  | "context_tokens" /* per sequence */
  | "step_of_instance" /* if the context is unknown */;

export interface LeftOut {
  /** side of the comparison */
  side: DamageSide;
  /** path of the run */
  run: string;
  /** stage that they belong to */
  stage: string;
  /** what they are */
  what: LeftOutWhat;
  /** why they are excluded */
  rule: LeftOutRule;
  /** number of steps or instances */
  count: number;
  /** their total wall time (ms) */
  total_ms: number;
}

export type LeftOutWhat =
  | "steps"
  | "instances";

export type LeftOutRule =
  | "warm_up"
  | "first_step" /* of an instance with several */
  | "after_untraced" /* the previous step was not traced */
  | "cut_off" /* recording ended in its instance */
  | "clocks_lowered" /* by heat, power or hardware; kept if that applies to more than half of a side */
  | "no_counterpart" /* not every run has steps of this kind, batch and tokens, or instances with as many steps */
  | "outside_context_range"
  | "too_few";

export interface Ranks {
  /** rank, in both jobs */
  rank: number;
  /** stage of the job */
  stage: string;
  /** unit that times refer to */
  unit: StagesUnit;
  /** mean wall time per unit on the rank's own clock, including waits for other ranks, without untraced periods
   * (ns) */
  base_wall_ns: number;
  /** base_wall_ns for the new side (ns) */
  new_wall_ns: number;
  /** new minus base (ns) */
  difference_ns: number;
  /** difference over the base's wall time (fraction) */
  relative: number | null;
  /** part of the rank's budget that changed most; null if none changed */
  part: string | null;
  /** change of that part (ns) */
  part_difference_ns: number;
}
