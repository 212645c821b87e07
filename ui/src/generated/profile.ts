// Generated from the structs of src/profile: python3 tests/end_to_end/test_profile_schema.py --rewrite

export interface Profile {
  /** of this file */
  schema_version: number;
  /** that wrote it */
  tool: Tool;
  /** where it was recorded */
  context: Context;
  /** null, or what --stage, --steps, --device narrowed all of this to */
  selection: Selection | null;
  /** null without --model */
  model: Model | null;
  /** what ran */
  workload: Workload;
  /** the program that runs the model, as far as the captures tell */
  engine: Engine;
  /** all kernels */
  totals: Totals;
  /** what each GPU did over its whole timeline; empty without one */
  device_time: DeviceTime[];
  /** copies and fills by device, direction and kind of memory; by device, then longest total first */
  copies: Copies[];
  /** how stages were found */
  stages_found: StagesFound;
  /** kernels inside stages; null without a timeline */
  coverage: Coverage | null;
  /** what a user of the model sees */
  token_times: TokenTimes;
  /** in order of first occurrence */
  stages: Stages[];
  /** parts inside a stage (vision tower, projector) */
  stage_notes: StageNotes[];
  /** what to fix, largest potential saving first */
  findings: Findings[];
  /** by stage: time above its lower bounds */
  recoverable: Recoverable[];
  /** the peaks that MFU and MBU are measured against */
  utilization: Utilization;
  /** what the workload measured by itself, unprofiled; null without its metrics.json */
  stage1: Stage1 | null;
  /** all of them, longest total first */
  kernels: Kernels[];
  /** by class, longest total first */
  classes: Classes[];
  /** the first 20 kernels */
  kernels_topk: KernelsTopk[];
  /** the ten longest kernel names, all devices together */
  kernels_all_devices: KernelsAllDevices[];
  /** the ten longest in the stages without warm-up, with their times there; empty without stages */
  measured_kernels_all_devices: KernelsAllDevices[];
  /** what bounds the kernels */
  roofline: Roofline;
  /** of the framework */
  operators: Operators[];
  /** how much of the GPU's work they launched */
  operators_found: OperatorsFound;
  /** the longest idle gaps of each stage */
  gaps: Gaps[];
  /** gaps that come back at the same place of a stage */
  repeated_gaps: RepeatedGaps[];
  /** the slowest steps of each stage */
  slow_steps: SlowSteps[];
  /** by stage, then layer */
  layers: Layers[];
  /** layers of a stage together */
  layer_summary: LayerSummary;
  /** by instance, then start */
  steps: Steps[];
  /** what profiling cost; null where the input is neither a run folder nor a log with a duty cycle */
  overhead: Overhead | null;
  /** captures that a run asked for and did not get */
  captures_failed: CapturesFailed[];
  /** what to know about the input */
  diagnostics: Diagnostics[];
  /** which steps are told as slow, with its thresholds */
  slow_step_rule: string | null;
  /** slow_step_rule as kinds and values */
  slow_step_rule_reasons: SlowStepRuleReasons[];
  /** by stage, the kernels of its forward passes by their place: what tells a kernel that was replaced or fused from one that was removed */
  kernel_sequences: KernelSequences[];
  /** null, or what is between the ranks of a distributed job; stages, steps, token_times and findings are then the job's, one step on all ranks being one step */
  job: Job | null;
  /** of a job, each by itself; empty otherwise */
  ranks: Ranks[];
}

export interface Tool {
  /** always llmprof */
  name: string;
  /** of llmprof */
  version: string;
}

export interface Context {
  /** GPUs of the captures */
  gpus: ContextGpus[];
  /** CPUs whose operators the captures hold */
  cpus: ContextCpus[];
  /** one per input */
  captures: ContextCaptures[];
  /** what all kernels ran on */
  device_kind: ContextDeviceKind;
  /** the CPUs' load in each pass of a run; empty of captures without a run */
  load: ContextLoad[];
}

export interface ContextGpus {
  /** "cuda:0"; with its capture or rank in front where several were read */
  device: string;
  /** as the capture states it */
  name: string | null;
  /** as the capture states it */
  uuid: string | null;
  /** "9.0" */
  compute_capability: string | null;
  /** streaming multiprocessors */
  sm_count: number | null;
  /** size of the GPU's memory */
  memory_bytes: number | null;
  /** as the capture states it */
  memory_bandwidth_bytes_per_s: number | null;
  /** as the capture states it */
  clock_hz: number | null;
}

export interface ContextCpus {
  /** "cpu:0" */
  device: string;
  /** as the workload's metrics.json states it */
  name: string | null;
  /** that the workload used */
  threads: number | null;
  /** measured by the workload, what MFU is of (FLOP/s) */
  peak_flops_per_s: number | null;
  /** measured by the workload, what MBU is of (B/s) */
  peak_bytes_per_s: number | null;
  /** of the compute peak */
  number_format: string | null;
  /** how the peaks were measured */
  method: string | null;
  /** which run measured the peaks */
  peaks_from: ContextCpusPeaksFrom | null;
  /** when the compute peak was measured, UTC */
  peaks_measured_at: string | null;
  /** what this run measured itself (FLOP/s) */
  own_peak_flops_per_s: number | null;
  /** what this run measured itself (B/s) */
  own_peak_bytes_per_s: number | null;
  /** why its own measurement was not used or not kept; null where it was */
  peaks_note: string | null;
}

export type ContextCpusPeaksFrom =
  | "this_run" /* measured after its requests */
  | "kept" /* the best that earlier runs measured on this machine */
  | "both" /* one peak of each */;

export interface ContextCaptures {
  /** of the input */
  path: string;
  /** by content */
  format: string;
  /** that recorded it */
  tool: string | null;
  /** of that tool */
  tool_version: string | null;
  /** of the file */
  schema_version: string | null;
  /** version of the GPU's driver */
  driver: string | null;
  /** version of CUDA */
  cuda: string | null;
  /** of a distributed job */
  rank: number | null;
  /** Unix time at time 0 of the capture */
  wall_clock_ns: number | null;
}

export type ContextDeviceKind =
  | "gpu"
  | "cpu" /* operators that a program recorded of itself */;

export interface ContextLoad {
  /** stage1 (the control run), collector, nsys, ncu, torch */
  pass: string;
  /** how long it took */
  seconds: number;
  /** CPUs that the program may use */
  cpus: number;
  /** CPUs that it and what it started used, mean */
  used: number;
  /** CPUs of these that all other programs used meanwhile, mean: with none left idle, they made the program slower */
  others: number;
}

export interface Selection {
  /** --stage */
  stage: string | null;
  /** --steps */
  steps: SelectionSteps | null;
  /** --device: CUDA's number */
  device: number | null;
  /** the selection as a sentence */
  words: string;
}

export interface SelectionSteps {
  /** counted from 0 */
  first: number;
  /** null where the range is open */
  last: number | null;
}

export interface Model {
  /** of the model */
  name: string | null;
  /** model_type of its configuration */
  variant: string | null;
  /** parameters */
  params: number;
  /** parameters that one token meets */
  active_params: number;
  /** of activations */
  dtype: string;
  /** of weights */
  weights_dtype: string;
  /** of the KV cache */
  kv_cache_dtype: string;
  /** number of layers */
  layers: number;
  /** size of all weights (B) */
  weight_bytes: number;
  /** KV cache per token of context (B) */
  kv_bytes_per_token: number;
  /** file or preset */
  source: string | null;
  /** what of the file was not understood */
  notes: string[];
}

export interface Workload {
  /** of a run folder */
  command: string | null;
  /** sequences */
  batch: number | null;
  /** where it comes from: a flag, metrics.json, a run's inputs.yaml, the steps */
  batch_source: string | null;
  /** per sequence */
  prompt_tokens: number | null;
  /** where it comes from */
  prompt_tokens_source: string | null;
  /** per sequence */
  new_tokens: number | null;
  /** where it comes from */
  new_tokens_source: string | null;
  /** per request */
  images: number | null;
  /** tensor parallelism */
  tp: number;
  /** pipeline parallelism */
  pp: number;
  /** expert parallelism */
  ep: number;
}

export interface Engine {
  /** llama.cpp, vLLM, SGLang, TensorRT-LLM, Hugging Face transformers, PyTorch (code of its own on it, or an engine that does not show), another engine's name, or unknown */
  name: string;
  /** PyTorch, ggml; null where none was seen */
  framework: string | null;
  /** kernels generated by torch.compile take part of the measured time; null without PyTorch */
  compiled: boolean | null;
  /** CUDA graphs are replayed in the measured stages; null without a timeline */
  cuda_graphs: boolean | null;
  /** replayed by CUDA graphs, of all kernels in the measured stages; null where the graphs' kernels were not recorded (fraction) */
  kernels_in_graphs: number | null;
  /** 0 to 1; null where the engine is unknown (fraction) */
  confidence: number | null;
  /** strongest first */
  evidence: EngineEvidence[];
}

export interface EngineEvidence {
  /** what kind of sign */
  source: EngineEvidenceSource;
  /** the name that was recorded, or the library */
  subject: string;
  /** of kernel time in the measured stages, of kernels where it is graph_replays; null where it is no share (fraction) */
  share: number | null;
}

export type EngineEvidenceSource =
  | "annotation" /* the text of a range */
  | "process" /* the name of an executable */
  | "command" /* what was run */
  | "python_package" /* whose functions call stacks show */
  | "operator" /* the name of an operator */
  | "kernels" /* of a library, with their share of the kernel time */
  | "generated_kernels" /* of torch.compile, likewise */
  | "graph_replays" /* with the share of kernels that they replay */;

export interface Totals {
  /** where the kernels come from */
  source: TotalsSource;
  /** all kernels */
  kernel_count: number;
  /** their time; overlapping ones count in full (ms) */
  kernel_sum_ms: number;
  /** the same, exact (ns) */
  kernel_sum_ns: number;
  /** time with at least one kernel running, per device, summed over devices; null without a timeline (ms) */
  gpu_busy_ms: number | null;
  /** first start to last end of a kernel, of the device where that is longest; null without a timeline (ms) */
  span_ms: number | null;
  /** copies and fills */
  memory_operation_count: number;
  /** their time (ms) */
  memory_operation_sum_ms: number;
  /** entries of devices */
  device_count: number;
  /** GPUs; one that is in several captures counts once */
  gpu_count: number;
  /** by device */
  devices: TotalsDevices[];
  /** null, or CUDA graph replays whose kernels were not recorded */
  hidden_graphs: TotalsHiddenGraphs | null;
  /** null, or how ncu's launches fit the timeline, or the kernel summary by name */
  metric_join: TotalsMetricJoin | null;
  /** all kernels by the part of the timeline that they ran in; empty without stages */
  scopes: TotalsScopes[];
}

export type TotalsSource =
  | "timeline" /* every kernel with start and end */
  | "summary" /* totals per name (nsys stats) */
  | "profiler" /* launches measured one by one by ncu, out of the program's own time */
  | "none";

export interface TotalsDevices {
  /** "cuda:0" */
  device: string;
  /** of the GPU */
  name: string | null;
  /** kernels on this device */
  kernel_count: number;
  /** their time; overlapping ones count in full (ms) */
  kernel_sum_ms: number;
  /** time with at least one kernel running (ms) */
  gpu_busy_ms: number | null;
  /** first start to last end of a kernel (ms) */
  span_ms: number | null;
}

export interface TotalsHiddenGraphs {
  /** CUDA graph replays whose kernels were not recorded */
  replays: number;
  /** time of these replays (ms) */
  total_ms: number;
  /** that time over the time of kernels and these replays together (fraction) */
  share_of_gpu_time: number;
  /** the outermost range in which most of them were launched */
  launched_in: string | null;
}

export interface TotalsMetricJoin {
  /** launches that ncu measured */
  profiled_launches: number;
  /** of them, launches whose kernel is in the timeline */
  joined: number;
  /** the others */
  unjoined: number;
  /** kernels of the timeline that have metrics through them */
  timeline_kernels_covered: number;
}

export interface TotalsScopes {
  /** where they ran */
  scope: TotalsScopesScope;
  /** kernels there */
  kernel_count: number;
  /** their time (ms) */
  kernel_sum_ms: number;
  /** of the time of all kernels (fraction) */
  share: number | null;
}

export type TotalsScopesScope =
  | "measured" /* in stages */
  | "warm-up" /* in instances that statistics exclude */
  | "autotuning" /* in bursts there or outside that no measured stage has; listed where there are some */
  | "initialization" /* before the first stage of their device */
  | "outside" /* between and after stages */;

export interface DeviceTime {
  /** as in kernels */
  device: string;
  /** first start to last end of any work: kernels, copies, fills, graph replays (ms) */
  span_ms: number;
  /** time with at least one of them running (ms) */
  busy_ms: number;
  /** busy_ms over span_ms (fraction) */
  busy_share_of_span: number | null;
  /** time with a kernel running that does not communicate, or a graph replay whose kernels were not recorded (ms) */
  compute_ms: number;
  /** time with a kernel of class communication running (ms) */
  communication_ms: number;
  /** time with a copy or fill running (ms) */
  copies_ms: number;
  /** communication while compute runs (ms) */
  overlapped_communication_ms: number;
  /** the rest of it (ms) */
  exposed_communication_ms: number;
  /** copies and fills while a kernel runs (ms) */
  overlapped_copies_ms: number;
  /** the rest of them; compute_ms, exposed_communication_ms and exposed_copies_ms sum to busy_ms (ms) */
  exposed_copies_ms: number;
  /** span_ms less busy_ms and not_traced_ms (ms) */
  idle_ms: number;
  /** idle_ms over span_ms (fraction) */
  idle_share_of_span: number | null;
  /** time in which our collector did not record; null where it recorded all (ms) */
  not_traced_ms: number | null;
  /** they sum to idle_ms; largest first */
  idle_causes: DeviceTimeIdleCauses[];
  /** null where this GPU ran no kernels */
  launches: DeviceTimeLaunches | null;
}

export interface DeviceTimeIdleCauses {
  /** a part of a stage's budget: "idle: launch-bound", "idle: synchronisation", "idle: host between launches", "idle: between queued kernels", "unattributed" where no launch was recorded */
  cause: string;
  /** idle time of this cause (ms) */
  ms: number;
  /** that time over span_ms (fraction) */
  share_of_span: number | null;
  /** gaps for which this is the largest cause */
  gaps: number;
}

export interface DeviceTimeLaunches {
  /** calls that put kernels or a graph replay on this GPU */
  launches: number;
  /** kernels and graph replays whose call was not recorded */
  without_launch: number;
  /** duration of a launching call on the CPU */
  call_ms: DeviceTimeLaunchesCallMs;
  /** from the call's start to the start of its first work: launch latency, and waiting in the queue */
  launch_to_start_ms: DeviceTimeLaunchesCallMs;
  /** the same, of calls made while the GPU had nothing to do */
  launch_latency_ms: DeviceTimeLaunchesCallMs;
  /** at each call, earlier launches whose work had not begun */
  queue_depth: DeviceTimeLaunchesQueueDepth;
  /** kernels below a duration, cumulative */
  short_kernels: DeviceTimeLaunchesShortKernels[];
}

export interface DeviceTimeLaunchesCallMs {
  /** arithmetic mean (ms) */
  mean: number | null;
  /** standard deviation of a sample (n - 1); null below two values (ms) */
  std: number | null;
  /** smallest value (ms) */
  min: number | null;
  /** median, by nearest rank (ms) */
  p50: number | null;
  /** 99th percentile, by nearest rank (ms) */
  p99: number | null;
  /** largest value (ms) */
  max: number | null;
  /** number of values; the others are null where it is 0 */
  count: number;
}

export interface DeviceTimeLaunchesQueueDepth {
  /** arithmetic mean */
  mean: number | null;
  /** standard deviation of a sample (n - 1); null below two values */
  std: number | null;
  /** smallest value */
  min: number | null;
  /** median, by nearest rank */
  p50: number | null;
  /** 99th percentile, by nearest rank */
  p99: number | null;
  /** largest value */
  max: number | null;
  /** number of values; the others are null where it is 0 */
  count: number;
}

export interface DeviceTimeLaunchesShortKernels {
  /** kernels that take less than this (ms) */
  below_ms: number;
  /** their number */
  count: number;
  /** of the device's kernels (fraction) */
  share_of_kernels: number | null;
  /** their time (ms) */
  total_ms: number;
  /** that time over the time of the device's kernels (fraction) */
  share_of_kernel_time: number | null;
}

export interface Copies {
  /** as in kernels */
  device: string;
  /** "Host-to-Device", "Device-to-Host", ...; "fill"; "copy" where it is not known */
  direction: string;
  /** kind of memory that is read: pageable, pinned, host, device, array, managed; null where the capture does not say */
  from: string | null;
  /** kind of memory that is written, likewise */
  to: string | null;
  /** operations in the whole timeline */
  count: number;
  /** their time; overlapping ones count in full (ms) */
  total_ms: number;
  /** moved or filled; null where the capture has no sizes (B) */
  bytes: number | null;
  /** bytes over the time of the operations whose size is known (B/s) */
  bytes_per_s: number | null;
  /** of the smallest operation (B) */
  min_bytes: number | null;
  /** of the median operation, by nearest rank (B) */
  p50_bytes: number | null;
  /** of the largest operation (B) */
  max_bytes: number | null;
  /** operations whose size is not known, or 0 */
  without_size: number;
}

export interface StagesFound {
  /** instances are an engine's steps (continuous batching); null without stages */
  serving: boolean | null;
  /** of detected stages: share of right ones among other captures of the same level (fraction) */
  confidence: number | null;
  /** by how many independent checks hold; null if not detected */
  confidence_level: StagesFoundConfidenceLevel | null;
  /** how they were found, or why there are none */
  reason: string | null;
}

export type StagesFoundConfidenceLevel =
  | "high"
  | "medium"
  | "low";

export interface Coverage {
  /** of the timeline */
  kernels: number;
  /** of them, inside stages */
  kernels_in_stages: number;
  /** the second over the first (fraction) */
  kernels_share: number | null;
  /** time of all kernels (ms) */
  kernel_sum_ms: number;
  /** of those inside stages (ms) */
  kernel_sum_in_stages_ms: number;
  /** the second over the first (fraction) */
  kernel_sum_share: number | null;
  /** time of graph replays whose kernels were not recorded (ms) */
  hidden_graph_ms: number;
  /** of those inside stages (ms) */
  hidden_graph_in_stages_ms: number;
  /** kernels before the first stage: weights are made, the program warms up */
  initialization_kernels: number;
  /** time of these (ms) */
  initialization_ms: number;
  /** kernels after initialization */
  work_kernels: number;
  /** kernels_in_stages over work_kernels (fraction) */
  work_kernels_share: number | null;
  /** time of kernels after initialization (ms) */
  work_ms: number;
  /** kernel_sum_in_stages_ms over work_ms (fraction) */
  work_share: number | null;
  /** stages hold at least 0.9 of the kernel time after initialization */
  representative: boolean;
}

export interface TokenTimes {
  /** of prefills */
  time_to_first_token_ms: DeviceTimeLaunchesCallMs | null;
  /** of decodes: wall time over steps */
  time_per_output_token_ms: DeviceTimeLaunchesCallMs | null;
  /** mean prefill plus mean decode; null under continuous batching and where --steps narrowed (ms) */
  request_ms: number | null;
  /** 1 over the mean time per output token (tokens/s) */
  tokens_per_s_per_sequence: number | null;
  /** the same times the batch; null where the batch is not known (tokens/s) */
  tokens_per_s: number | null;
  /** of all stages' wall time, less what was not traced (fraction) */
  gpu_busy_share_of_wall: number | null;
  /** decode steps by the number of sequences in them */
  by_batch: TokenTimesByBatch[];
  /** an engine's requests, one entry per window of recording that somebody opened; empty where passes do not tell which sequences get a token */
  served: TokenTimesServed[];
  /** what reports and the page show; null in files of earlier versions, which have no shown */
  shown: TokenTimesShown | null;
}

export interface TokenTimesByBatch {
  /** sequences in the step */
  batch: number;
  /** wall time of decode steps */
  step_wall_ms: DeviceTimeLaunchesCallMs;
  /** batch over the mean step (tokens/s) */
  tokens_per_s: number | null;
}

export interface TokenTimesServed {
  /** of its first pass, on the capture's clock (ms) */
  start_ms: number;
  /** from there until the host had chosen the last token (ms) */
  span_ms: number;
  /** passes up to a result that the host waited for: one token for each sequence */
  batches: number;
  /** in all batches */
  passes: number;
  /** that get a token, per batch */
  sequences_mean: number;
  /** that get a token in one batch */
  sequences_max: number;
  /** sequences that got their first token */
  prompts: number;
  /** mean over prompts, from the begin of their first batch to their first token; as recorded (ms) */
  prompt_ms: number | null;
  /** that followed another one of their sequence */
  tokens: number;
  /** mean over tokens, from the one before in the same sequence; as recorded (ms) */
  token_ms: number | null;
}

export interface TokenTimesShown {
  /** of prefills */
  time_to_first_token_ms: TokenTimesShownTimeToFirstTokenMs | null;
  /** of decodes: wall time over steps */
  time_per_output_token_ms: TokenTimesShownTimeToFirstTokenMs | null;
  /** mean prefill plus mean decode; null where windows of tracing cut decodes (ms) */
  request_ms: number | null;
  /** request_ms; null where prefills or decodes are spread widely (typical is not mean) (ms) */
  typical_request_ms: number | null;
  /** 1 over the mean time per output token (tokens/s) */
  tokens_per_s_per_sequence: number | null;
  /** the same times the batch (tokens/s) */
  tokens_per_s: number | null;
  /** of all stages' wall time, less what was not traced (fraction) */
  gpu_busy_share_of_wall: number | null;
  /** decode steps by the number of sequences in them */
  by_batch: TokenTimesByBatch[];
  /** what a user waits for first; empty where it is not known */
  figures: TokenTimesShownFigures[];
  /** row of served in which requests got the most tokens; null where none is known */
  served_window: number | null;
  /** 1 over token_ms of that window (tokens/s) */
  served_tokens_per_s_per_sequence: number | null;
  /** tokens of all sequences over span_ms of that window (tokens/s) */
  served_tokens_per_s: number | null;
}

export interface TokenTimesShownTimeToFirstTokenMs {
  /** arithmetic mean (ms) */
  mean: number | null;
  /** standard deviation of a sample (n - 1); null below two values (ms) */
  std: number | null;
  /** smallest value (ms) */
  min: number | null;
  /** median, by nearest rank (ms) */
  p50: number | null;
  /** 99th percentile, by nearest rank (ms) */
  p99: number | null;
  /** largest value (ms) */
  max: number | null;
  /** number of values; the others are null where it is 0 */
  count: number;
  /** what stands for them: mean; where that says little of single values (std above 0.25 of it, or max above 1.5 times min of two or three), the range of two or three values, or the median of more */
  typical: string;
}

export interface TokenTimesShownFigures {
  /** time_to_first_token, time_per_output_token or engine_step */
  figure: string;
  /** whose times it is made of */
  stage: string;
  /** what an engine's requests saw, as recorded, in the window of most tokens (served) */
  of_requests: boolean;
  /** of prefills, decodes, engine steps; of requests, prompts or tokens */
  ms: TokenTimesShownTimeToFirstTokenMs;
  /** of requests: the least and the largest mean of other windows; null without any */
  other_windows_ms: DeviceTimeLaunchesCallMs | null;
  /** otherwise as recorded */
  without_tracing: boolean;
  /** the same as recorded; null where ms is, or pieces in windows of tracing were recorded */
  traced_ms: TokenTimesShownTimeToFirstTokenMs | null;
  /** by the workload's own clock, per decode step; null where ms is without tracing (ms) */
  not_profiled_ms: number | null;
}

export interface Stages {
  /** prefill, decode, mixed, or a configured one; unique, and so the stage's key */
  name: string;
  /** how it was found */
  source: StagesSource;
  /** the range's label, or how it was detected */
  evidence: string | null;
  /** all, by start */
  instances: StagesInstances[];
  /** all instances */
  instance_count: number;
  /** of them, warm-up */
  warmup_count: number;
  /** steps of the others, traced */
  step_count: number;
  /** its wall time over that of all stages (fraction) */
  share_of_stage_time: number;
  /** of instances */
  wall_ms: DeviceTimeLaunchesCallMs;
  /** of instances */
  gpu_sum_ms: DeviceTimeLaunchesCallMs;
  /** of instances */
  gpu_busy_ms: DeviceTimeLaunchesCallMs;
  /** of wall time less what was not traced (fraction) */
  gpu_busy_share_of_wall: number | null;
  /** the budget's idle parts, per instance, mean (ms) */
  idle_ms: number | null;
  /** of wall time less what was not traced (fraction) */
  idle_share_of_wall: number | null;
  /** of instances */
  kernel_count: DeviceTimeLaunchesQueueDepth;
  /** of steps whose wall time is known */
  step_wall_ms: DeviceTimeLaunchesCallMs | null;
  /** of the traced steps, those that give a token for each sequence */
  decode_step_count: number;
  /** over all decode steps, traced or not (ms) */
  wall_ms_per_step: number | null;
  /** what the model needs on one GPU per instance; without a model, what CPU operators recorded (from_operators is true) (FLOP) */
  flops: number | null;
  /** likewise (B) */
  bytes: number | null;
  /** FLOPs over what the dense peak could compute in that time; of a CPU's measured peak, which it may exceed by up to a tenth */
  mfu: StagesMfu;
  /** bytes over what the peak bandwidth could move in that time */
  mbu: StagesMfu;
  /** why MFU and MBU are missing */
  why_not: string | null;
  /** the passes that were counted */
  basis: string | null;
  /** by part of the model */
  cost: StagesCost[];
  /** what MFU is measured against (FLOP/s) */
  peak_flops_per_s: number | null;
  /** "bf16 dense" */
  peak_name: string | null;
  /** what MBU is measured against (B/s) */
  peak_bandwidth_bytes_per_s: number | null;
  /** flops and bytes are what CPU operators recorded */
  from_operators: boolean;
  /** null, or what CPU operators recorded beside the model's cost */
  recorded: StagesRecorded | null;
  /** lower bound of an instance: the longer of FLOPs and bytes at peak (ms) */
  floor_ms: number | null;
  /** mean wall time over the floor */
  wall_over_floor: number | null;
  /** the floor is by bytes */
  memory_bound: boolean | null;
  /** the model's arithmetic intensity (FLOP/B) */
  flops_per_byte: number | null;
  /** the GPU's ridge point (FLOP/B) */
  ridge_flops_per_byte: number | null;
  /** null where all of it was traced; else kernel times and counts, busy times and layers are of the traced steps alone, wall times and tokens of all */
  tracing: StagesTracing | null;
  /** null, or what the GPU's counters and sensors say */
  measured: StagesMeasured | null;
  /** largest first, without parts of 0; null without budgets */
  budget: StagesBudget[] | null;
  /** the stage without profiling, null where that is not known: what reports show first. wall_ms, instances and budget stay as recorded */
  unwatched: StagesUnwatched | null;
  /** why unwatched is null */
  unwatched_why_not: StagesUnwatchedWhyNot | null;
  /** a guess of earlier versions at what tracing added to an instance; null */
  likely_added: StagesLikelyAdded | null;
  /** what the shown figures mean */
  judgement: StagesJudgement;
  /** why_not as kinds and values */
  why_not_reasons: SlowStepRuleReasons[];
  /** basis as kinds and values */
  basis_reasons: SlowStepRuleReasons[];
  /** mean wall time with the warm-up instances in which a CUDA graph is captured; null without any (ms) */
  wall_ms_with_graph_captures: number | null;
  /** only the program's first instance, or its first two, were recorded, and later ones may have run while nothing was traced: the recorded times are those of a cold start */
  only_the_first: boolean;
  /** what reports and the page show of it */
  shown: StagesShown;
}

export type StagesSource =
  | "nvtx" /* NVTX ranges that the program set */
  | "annotation" /* ranges of our own log, an engine's or PyTorch's annotations */
  | "detected" /* the kernel sequence alone */
  | "captured" /* of layers only: ranges open when the CUDA graph was captured */;

export interface StagesInstances {
  /** on the capture's clock (ms) */
  start_ms: number;
  /** the same, exact (ns) */
  start_ns: number;
  /** from start to the later of its range's end and its last GPU work (ms) */
  wall_ms: number;
  /** the range's own duration (ms) */
  range_ms: number;
  /** time of its kernels; overlapping ones count in full (ms) */
  gpu_sum_ms: number;
  /** union of kernels, copies and graph replays (ms) */
  gpu_busy_ms: number;
  /** time of copies and fills (ms) */
  memory_sum_ms: number;
  /** time of graph replays whose kernels were not recorded (ms) */
  hidden_graph_sum_ms: number;
  /** kernels */
  kernel_count: number;
  /** that were traced */
  steps: number;
  /** beside them: the collector was not tracing */
  untraced_steps: number;
  /** excluded from all statistics */
  warmup: boolean;
  /** null where no GPU work belongs to it */
  device: string | null;
  /** by part; they sum to the wall time; parts of 0 are left out */
  budget_ns: Record<string, number> | null;
  /** time of its kernels by class, overlap not removed; they sum to gpu_sum_ms */
  classes_ns: Record<string, number>;
  /** heat, power or hardware lowered the GPU's clocks, by a reading within the instance or less than a second before; null without one */
  clocks_lowered: boolean | null;
  /** its range had not ended when recording did */
  cut_off: boolean;
  /** why it is excluded; null where it is no warm-up */
  warmup_reason: StagesInstancesWarmupReason | null;
  /** a warm-up in which a CUDA graph is captured: the program's own clock may count it */
  captures_graph: boolean;
}

export type StagesInstancesWarmupReason =
  | "told" /* a range of the program says so */
  | "fewer_steps" /* than later ones */
  | "longer" /* than later ones */
  | "leading_steps" /* a few slow ones before a decode */
  | "before_pause" /* an engine's slower steps before a long pause */
  | "first_of_kind" /* much slower than later ones with as much GPU work */
  | "cut_off" /* recording did not see all of it */;

export interface StagesMfu {
  /** on wall time (fraction) */
  wall: number | null;
  /** on the time the GPU was busy; where steps were not traced, of the traced ones (fraction) */
  gpu_busy: number | null;
}

export interface StagesCost {
  /** of the model */
  part: string;
  /** per instance (FLOP) */
  flops: number;
  /** per instance (B) */
  weight_bytes: number;
  /** per instance (B) */
  kv_bytes: number;
  /** weight_bytes and kv_bytes (B) */
  bytes: number;
}

export interface StagesRecorded {
  /** of CPU operators, per instance (FLOP) */
  flops: number;
  /** of CPU operators, per instance (B) */
  bytes: number;
  /** recorded FLOPs over the model's (fraction) */
  flops_over_model: number | null;
  /** by the recorded FLOPs */
  mfu: StagesMfu;
  /** by the recorded bytes */
  mbu: StagesMfu;
}

export interface StagesTracing {
  /** steps that the collector traced */
  steps_traced: number;
  /** all steps */
  steps_all: number;
  /** the first over the second; null where the stage has no steps (fraction) */
  share_of_steps: number | null;
  /** of the wall time, per instance, mean (ms) */
  not_traced_ms: number | null;
}

export interface StagesMeasured {
  /** measured */
  instances: number;
  /** those that samples cover from end to end (95 % of their wall time); where there are none, those that they cover by a half and more (by a tenth, where that is 2 s and more): counters rest between rounds of requests. Bytes, MBU and activity are of these alone; where it is 0, activity is of what samples there are */
  sampled_instances: number;
  /** of the sampled instances' wall time, the part with samples of DRAM bytes (of the SMs' activity, without those) (fraction) */
  coverage_share_of_wall: number | null;
  /** per sampled instance, mean; where samples cover only a part, divided by that share (B) */
  dram_read_bytes: number | null;
  /** likewise (B) */
  dram_write_bytes: number | null;
  /** both (B) */
  dram_bytes: number | null;
  /** over sampled_steps, traced or not (B) */
  dram_bytes_per_step: number | null;
  /** likewise (B) */
  dram_read_bytes_per_step: number | null;
  /** likewise (B) */
  dram_write_bytes_per_step: number | null;
  /** over sampled_tokens (B) */
  dram_read_bytes_per_token: number | null;
  /** over sampled_tokens (B) */
  dram_write_bytes_per_token: number | null;
  /** dram_bytes over bytes of the stage, which the model needs for as many steps (fraction) */
  bytes_over_model: number | null;
  /** measured bytes over what peak_bandwidth_bytes_per_s could move in that time */
  mbu: StagesMfu;
  /** of the GPU (B/s) */
  peak_bandwidth_bytes_per_s: number | null;
  /** mean over wall time (fraction) */
  sm_active_share: number | null;
  /** mean over wall time (fraction) */
  tensor_active_share: number | null;
  /** per instance, mean */
  steps: number | null;
  /** per instance, mean: one that a decode generates, or a prompt token of a prefill */
  tokens: number | null;
  /** per sampled instance, mean */
  sampled_steps: number | null;
  /** per sampled instance, mean */
  sampled_tokens: number | null;
  /** of the whole GPU, per instance: mean power between those readings of which at least three quarters of the time are the stage's, times the wall time (J) */
  energy_j: number | null;
  /** energy_j over tokens (J) */
  energy_per_token_j: number | null;
  /** energy counter, or power over time */
  energy_source: string | null;
  /** why there is none */
  energy_why_not: string | null;
  /** of the SMs */
  sm_clock_hz: StagesMeasuredSmClockHz | null;
  /** that the GPU has (Hz) */
  highest_sm_clock_hz: number | null;
  /** of the memory */
  memory_clock_hz: StagesMeasuredSmClockHz | null;
  /** of the whole GPU */
  power_w: StagesMeasuredPowerW | null;
  /** of the GPU */
  temperature_c: StagesMeasuredTemperatureC | null;
  /** the most frequent first */
  throttle_reasons: StagesMeasuredThrottleReasons[];
  /** why a figure is missing */
  why_not: string | null;
  /** samples of the reasons; where it is 0, no reason is known */
  throttle_samples: number;
  /** why_not as kinds and values */
  why_not_reasons: SlowStepRuleReasons[];
  /** energy_why_not as kinds and values */
  energy_why_not_reasons: SlowStepRuleReasons[];
}

export interface StagesMeasuredSmClockHz {
  /** of the samples read within instances (Hz) */
  mean: number;
  /** smallest value (Hz) */
  min: number;
  /** largest value (Hz) */
  max: number;
  /** number of samples */
  samples: number;
}

export interface StagesMeasuredPowerW {
  /** of the samples read within instances (W) */
  mean: number;
  /** smallest value (W) */
  min: number;
  /** largest value (W) */
  max: number;
  /** number of samples */
  samples: number;
}

export interface StagesMeasuredTemperatureC {
  /** of the samples read within instances (°C) */
  mean: number;
  /** smallest value (°C) */
  min: number;
  /** largest value (°C) */
  max: number;
  /** number of samples */
  samples: number;
}

export interface StagesMeasuredThrottleReasons {
  /** in words */
  reason: string;
  /** heat, power or hardware lowered the clocks */
  slowing: boolean;
  /** samples with this reason (fraction) */
  share_of_samples: number;
}

export interface StagesBudget {
  /** a kernel class, or one of the parts named below */
  part: string;
  /** per instance, mean; the parts sum to wall_ms.mean (ms) */
  ms: number;
  /** of wall time (fraction) */
  share: number;
  /** of wall time less what was not traced; 0 of that part itself (fraction) */
  share_of_traced: number;
  /** over the traced decode steps; null of what was not traced (ms) */
  ms_per_step: number | null;
  /** over all instances, exact (ns) */
  total_ns: number;
  /** the GPU does no work in this part */
  idle: boolean;
}

export interface StagesUnwatched {
  /** how these times were obtained */
  source: StagesUnwatchedSource;
  /** per instance, mean (ms) */
  wall_ms: number;
  /** of decode (ms) */
  wall_ms_per_step: number | null;
  /** mean recorded wall time less wall_ms (ms) */
  added_by_tracing_ms: number;
  /** of wall_ms (fraction) */
  added_by_tracing_share: number;
  /** per instance, mean, as recorded (ms) */
  gpu_busy_ms: number;
  /** wall_ms less gpu_busy_ms (ms) */
  idle_ms: number;
  /** of wall_ms (fraction) */
  idle_share_of_wall: number;
  /** the GPU was busy for longer under tracing than the whole took without: its parts are scaled down to wall_ms */
  busy_scaled: boolean;
  /** forward passes that wall_ms is of; 0: the workload's own clock */
  passes_timed: number;
  /** instances that wall_ms is the mean of; 0: the mean pass times the passes per instance */
  instances_timed: number;
  /** steps that busy times are of */
  steps_recorded: number;
  /** steps of the run, recorded or not, as far as they were recognized */
  steps_all: number;
  /** largest first, without parts of 0: busy parts as recorded, idle ones scaled from the recorded ones to idle_ms */
  budget: StagesUnwatchedBudget[];
}

export type StagesUnwatchedSource =
  | "workload_clock" /* the workload timed the stage in the control run */
  | "between_windows" /* the recorded run, while nothing was traced */
  | "control_launches" /* the same launches in the control run */;

export interface StagesUnwatchedBudget {
  /** as in budget */
  part: string;
  /** per instance, mean; the parts sum to wall_ms (ms) */
  ms: number;
  /** of wall_ms (fraction) */
  share: number;
  /** of decode (ms) */
  ms_per_step: number | null;
  /** the GPU does no work in this part */
  idle: boolean;
}

export type StagesUnwatchedWhyNot =
  | "cpu_operators" /* the program records them itself, so that its times are as without recording; stage1 has those of the control run */
  | "does_not_fit" /* the time found is not of the same work */
  | "launches_differ" /* no pass was found where nothing was traced */
  | "no_other_time" /* only the recorded run was timed */
  | "selection" /* some steps were selected: the other times are of more */
  | "warmup_only" /* every instance is a warm-up */;

export interface StagesLikelyAdded {
  /** per instance, mean */
  kernels: number;
  /** of them, replayed from CUDA graphs */
  graph_kernels: number;
  /** per instance (ms) */
  low_ms: number;
  /** per instance, at most the idle time (ms) */
  high_ms: number;
}

export interface StagesJudgement {
  /** of idle_share_of_wall; null without a budget */
  idle: StagesJudgementIdle | null;
  /** the idle parts together are longer than the largest part that is work */
  mostly_idle: boolean;
  /** more than half of the idle time is caused by the host */
  waits_for_host: boolean;
  /** what it uses of the peak that bounds the stage, on wall time; null where MFU or MBU is missing */
  limit: StagesJudgementLimit | null;
}

export interface StagesShown {
  /** wall times, idle time and what follows from them are those of unwatched; a spread is the recorded one, scaled with the mean. Otherwise all are as recorded */
  without_tracing: boolean;
  /** the stage was recorded in windows of tracing: its recorded instances are pieces, whose spread is left out */
  in_windows: boolean;
  /** of instances */
  wall_ms: TokenTimesShownTimeToFirstTokenMs;
  /** of steps whose wall time is known */
  step_wall_ms: DeviceTimeLaunchesCallMs | null;
  /** of decode (ms) */
  wall_ms_per_step: number | null;
  /** its shown wall time over that of all stages (fraction) */
  share_of_stage_time: number;
  /** of wall time less what was not traced (fraction) */
  gpu_busy_share_of_wall: number | null;
  /** per instance, mean (ms) */
  idle_ms: number | null;
  /** of wall time less what was not traced (fraction) */
  idle_share_of_wall: number | null;
  /** largest first, without parts of 0; null without budgets */
  budget: StagesBudget[] | null;
  /** on shown wall time, and on busy time as recorded */
  mfu: StagesMfu;
  /** likewise */
  mbu: StagesMfu;
  /** memory or compute: what limits the stage; null where floor, MFU or MBU is missing */
  bound: string | null;
  /** of the peak that limits the stage, on wall time: the MBU or the MFU (fraction) */
  use_at_bound: number | null;
  /** mean wall time over the floor */
  wall_over_floor: number | null;
  /** flops over the mean wall time (FLOP/s) */
  flops_per_s: number | null;
  /** flops over the mean busy time (FLOP/s) */
  flops_per_busy_s: number | null;
  /** flops over the DRAM bytes that counters measured (FLOP/B) */
  flops_per_measured_byte: number | null;
  /** over all parts of cost (B) */
  cost_weight_bytes: number;
  /** likewise (B) */
  cost_kv_bytes: number;
  /** both (B) */
  cost_bytes: number;
}

export interface StageNotes {
  /** that it is a part of */
  stage: string;
  /** vision, projector, ... */
  name: string;
  /** occurrences */
  instances: number;
  /** CPU duration of its ranges; of detected ones from first kernel to last (ms) */
  range_ms: number;
  /** kernels in all of them */
  kernel_count: number;
  /** their time (ms) */
  gpu_sum_ms: number;
}

export interface Findings {
  /** stable, for scripts; with stage and subject its key */
  kind: string;
  /** what was found */
  title: string;
  /** numbers, with their denominators */
  evidence: string;
  /** potential saving per unit, upper bound; null where the capture hides it (ms) */
  recoverable_ms: number | null;
  /** over all measured instances of the stage: the order of findings (ms) */
  total_recoverable_ms: number | null;
  /** what an instance is: request; engine step under continuous batching; narrowed, the stage's name, "step" or "8 steps"; "traced part of a request" where not all steps were traced */
  unit: string | null;
  /** what to do */
  advice: string;
  /** where it belongs */
  stage: string | null;
  /** over the tokens of all sequences (ms) */
  recoverable_ms_per_token: number | null;
  /** recoverable_ms over the stage's wall time (fraction) */
  share_of_wall: number;
  /** what tells findings of one kind and stage apart: of host_stall_repeated the GPU work before and after the gaps; otherwise null */
  subject: string | null;
  /** what the evidence is made of, by name */
  values: FindingsValues[];
  /** over the decode steps, each of which gives every sequence one token: comparable with time_per_output_token_ms (ms) */
  recoverable_ms_per_output_token: number | null;
  /** what those values that are sentences are made of */
  value_reasons: FindingsValueReasons[];
  /** of a job: the rank that others wait for; otherwise null */
  rank: number | null;
}

export interface FindingsValues {
  /** what it is, stable; the same name may occur for several texts */
  name: string;
  /** the number; null where the text is the value */
  value: number | null;
  /** of the number, "ms", "fraction"; null of counts */
  unit: string | null;
  /** the value, or what the number belongs to, as a kernel */
  text: string | null;
}

export interface FindingsValueReasons {
  /** its place among values, from 0 */
  value: number;
  /** of its text, in order */
  reasons: SlowStepRuleReasons[];
}

export interface Recoverable {
  /** where it belongs; its traced steps */
  stage: string;
  /** per instance, mean, less what was not traced (ms) */
  wall_ms: number;
  /** lower bound end to end (ms) */
  bound_ms: number | null;
  /** why there is none */
  bound_reason: string | null;
  /** new ones of all sequences, per instance */
  tokens: number | null;
  /** largest potential saving first */
  parts: RecoverableParts[];
  /** likewise, by kernel */
  kernels: RecoverableKernels[];
  /** bound_reason as kinds and values */
  bound_reasons: SlowStepRuleReasons[];
  /** no saving of the stage is larger: its time as the workload measured it, unprofiled, less bound_ms where that is shorter; null unless the recorded stage took longer (ms) */
  most_ms: number | null;
}

export interface RecoverableParts {
  /** of the budget */
  part: string;
  /** per instance, mean (ms) */
  ms: number;
  /** lower bound of that time (ms) */
  floor_ms: number;
  /** how the floor was found */
  floor_rule: string | null;
  /** time above the floor (ms) */
  recoverable_ms: number;
  /** over the tokens of all sequences (ms) */
  recoverable_ms_per_token: number | null;
  /** over the decode steps, as of a finding (ms) */
  recoverable_ms_per_output_token: number | null;
  /** floor_rule as kinds and values */
  floor_rule_reasons: SlowStepRuleReasons[];
  /** in reports and on the page: 0.01 of the stage's wall_ms or more */
  shown: boolean;
}

export interface RecoverableKernels {
  /** as in kernels */
  short_name: string;
  /** as in kernels */
  device: string;
  /** per instance, mean; overlapping kernels count in full (ms) */
  ms: number;
  /** lower bound of that time (ms) */
  floor_ms: number;
  /** how the floor was found */
  floor_rule: string | null;
  /** "own bytes and FLOPs, ncu" where ncu counted them, on one grid, and all its launches in the stage are like those; otherwise "share of the class's floor", by time */
  floor_basis: string;
  /** time above the floor (ms) */
  recoverable_ms: number;
  /** over the tokens of all sequences (ms) */
  recoverable_ms_per_token: number | null;
  /** over the decode steps, as of a finding (ms) */
  recoverable_ms_per_output_token: number | null;
  /** floor_rule as kinds and values */
  floor_rule_reasons: SlowStepRuleReasons[];
}

export interface Utilization {
  /** peaks of the GPU; null where it is not known */
  gpu: UtilizationGpu | null;
  /** peaks of the CPU, measured on it, for CPU operators */
  cpu: UtilizationCpu | null;
  /** why there is no utilization at all */
  why_not: string | null;
  /** why_not as kinds and values */
  why_not_reasons: SlowStepRuleReasons[];
}

export interface UtilizationGpu {
  /** as in conf/gpus.yaml */
  name: string;
  /** peak (B/s) */
  memory_bandwidth_bytes_per_s: number;
  /** dense peak (FLOP/s) */
  bf16_flops_per_s: number;
}

export interface UtilizationCpu {
  /** of the CPU */
  name: string;
  /** measured peak (B/s) */
  memory_bandwidth_bytes_per_s: number;
  /** measured peak (FLOP/s) */
  flops_per_s: number | null;
  /** of that peak */
  number_format: string;
  /** how they were measured */
  method: string | null;
}

export interface Stage1 {
  /** of metrics.json */
  path: string;
  /** as it states it */
  model: string | null;
  /** by stage */
  stages: Stage1Stages[];
  /** as it states it (tokens/s) */
  tokens_per_s: number | null;
  /** as it states it (fraction) */
  mfu_model_level: number | null;
  /** that its MFU is measured against, TFLOP/s */
  peak_tflops: number | null;
  /** as it states it */
  prompt_tokens: number | null;
  /** as it states it */
  new_tokens: number | null;
  /** as it states it */
  batch: number | null;
  /** as it states it */
  images: number | null;
}

export interface Stage1Stages {
  /** of the stage */
  name: string;
  /** by the workload's own clock, unprofiled (ms) */
  mean_ms: number | null;
  /** likewise (ms) */
  std_ms: number | null;
  /** as the workload states it (fraction) */
  mfu: number | null;
  /** the same stage in this capture (ms) */
  captured_mean_ms: number | null;
  /** the second over the first */
  captured_over_stage1: number | null;
}

export interface Kernels {
  /** the full name as the capture gave it */
  kernel_name: string;
  /** the same for the same kernel, however a tool or demangler spells its name; for comparing, not for reading */
  key: string;
  /** at most 60 characters */
  short_name: string;
  /** gemm, gemv, attention, norm, rope, elementwise, copy/cast, reduction, softmax, sampling/top-k, embedding/gather, moe routing, quantise, communication, memset/memcpy, other */
  class: string;
  /** cuBLAS, CUTLASS, cuDNN, FlashAttention, ...; null where the name does not tell */
  library: string | null;
  /** "cuda:0", or "cpu:0" (operators that a program recorded of itself); with the capture's name in front where several timelines were read; "cuda" where the capture does not say */
  device: string;
  /** time of all launches (ms) */
  total_ms: number;
  /** the same, exact (ns) */
  total_ns: number;
  /** launches */
  calls: number;
  /** total over max(calls, 1) (ms) */
  mean_ms: number;
  /** of single launches; null where only totals are known (ms) */
  min_ms: number | null;
  /** of single launches (ms) */
  p50_ms: number | null;
  /** of single launches (ms) */
  p99_ms: number | null;
  /** of single launches (ms) */
  max_ms: number | null;
  /** total over the time of all kernels (fraction) */
  share: number;
  /** time in decode over its steps, warm-up excluded; null where it has no part in decoding (ms) */
  ms_per_token: number | null;
  /** by stage name, without stages it has no part in */
  stages: Record<string, KernelsStages>;
  /** by grid and block, longest first */
  shapes: KernelsShapes[];
  /** of all calls, as the program recorded them with its operators; null for a GPU's kernels (FLOP) */
  flops: number | null;
  /** likewise (B) */
  bytes: number | null;
  /** by ncu's metric name */
  metrics: Record<string, KernelsMetrics>;
  /** in the stages without warm-up; null where it has no part in them */
  measured: KernelsMeasured | null;
}

export interface KernelsStages {
  /** over all instances (ms) */
  total_ms: number;
  /** over all instances */
  calls: number;
  /** warm-up excluded (ms) */
  steady_total_ms: number;
  /** warm-up excluded */
  steady_calls: number;
}

export interface KernelsShapes {
  /** x, y, z */
  grid: number[];
  /** x, y, z */
  block: number[];
  /** launches with this grid and block */
  calls: number;
  /** their time (ms) */
  total_ms: number;
  /** total over calls (ms) */
  mean_ms: number;
  /** time in decode over its steps, warm-up excluded (ms) */
  ms_per_token: number | null;
  /** as of the kernel */
  measured: KernelsMeasured | null;
}

export interface KernelsMetrics {
  /** over the launches that ncu measured */
  mean: number;
  /** smallest value */
  min: number;
  /** largest value */
  max: number;
  /** launches measured */
  count: number;
  /** time in ns, sizes in byte */
  unit: string | null;
}

export interface KernelsMeasured {
  /** over the measured instances of all stages (ms) */
  total_ms: number;
  /** launches there */
  calls: number;
  /** total over calls (ms) */
  mean_ms: number;
  /** total over the time of all kernels in measured instances; null of a launch shape (fraction) */
  share: number | null;
}

export interface Classes {
  /** as in kernels */
  class: string;
  /** time of its kernels (ms) */
  total_ms: number;
  /** launches */
  calls: number;
  /** total over the time of all kernels (fraction) */
  share: number;
  /** likewise, in the stages without warm-up */
  measured: KernelsMeasured | null;
}

export interface KernelsTopk {
  /** the full name */
  kernel_name: string;
  /** as in kernels */
  device: string;
  /** time of all launches (ms) */
  total_ms: number;
  /** launches */
  calls: number;
  /** total over max(calls, 1) (ms) */
  mean_ms: number;
}

export interface KernelsAllDevices {
  /** the full name */
  kernel_name: string;
  /** as in kernels */
  short_name: string;
  /** "cuda:0, cuda:1" */
  devices: string;
  /** time of all launches (ms) */
  total_ms: number;
  /** launches */
  calls: number;
  /** total over max(calls, 1) (ms) */
  mean_ms: number;
  /** total over the time of all kernels (fraction) */
  share: number;
}

export interface Roofline {
  /** how bound is decided, with its thresholds */
  rule: string | null;
  /** by bound; null without metrics */
  share_of_kernel_time: RooflineShareOfKernelTime | null;
  /** what is missing, and the capture that would give it */
  why_not: string | null;
  /** kernels that ncu measured; without, those that fill samples of the GPU's counters; of CPU operators, from the FLOPs and bytes they recorded over the CPU's measured peaks */
  kernels: RooflineKernels[];
  /** metrics that ncu measured, of any kernel */
  metrics_read: number;
  /** of them, those of a kernel in kernels */
  metrics_of_kernels: number;
  /** where metrics were read and none gives a figure: those that would */
  missing_metrics: string[];
  /** rule as kinds and values */
  rule_reasons: SlowStepRuleReasons[];
  /** why_not as kinds and values */
  why_not_reasons: SlowStepRuleReasons[];
  /** kernels without ncu's metrics, by the GPU's counters; null without samples */
  sampled: RooflineSampled | null;
}

export interface RooflineShareOfKernelTime {
  /** kernels bound by memory, of the time of all kernels (fraction) */
  memory: number;
  /** bound by compute, likewise (fraction) */
  compute: number;
  /** bound by latency, likewise (fraction) */
  latency: number;
  /** without metrics, likewise (fraction) */
  unknown: number;
}

export interface RooflineKernels {
  /** the full name */
  kernel_name: string;
  /** as in kernels */
  short_name: string;
  /** as in kernels */
  device: string;
  /** measured; by counters, those that ran in the samples that count */
  launches: number;
  /** x, y, z of most of these launches */
  commonest_grid: number[] | null;
  /** distinct grids; figures are means over all */
  grids: number;
  /** achieved; by counters, tensor_active_share times peak_flops_per_s: work outside of the tensor cores is not counted (FLOP/s) */
  flops_per_s: number | null;
  /** achieved, DRAM (B/s) */
  bytes_per_s: number | null;
  /** arithmetic intensity (FLOP/B) */
  flops_per_byte: number | null;
  /** of the compute peak; without SpeedOfLight's figure, utilization of the busiest pipe (fraction) */
  compute_share_of_peak: number | null;
  /** of the memory bandwidth's peak; without SpeedOfLight's figure, of the busiest level of memory (fraction) */
  memory_share_of_peak: number | null;
  /** what limits it */
  bound: RooflineKernelsBound;
  /** of the figures */
  source: RooflineKernelsSource;
  /** by counters: samples that it filled; else 0 */
  samples: number;
  /** by counters: the time of these samples (ms) */
  sampled_ms: number | null;
  /** by counters: of the samples' time, that in which it ran alone (fraction) */
  own_share_of_samples: number | null;
  /** by counters: activity of the tensor cores, of their peak at the clock of that time, mean over the samples (fraction) */
  tensor_active_share: number | null;
  /** by counters: the peak that FLOP/s are made of, "bf16 dense"; null without FLOP/s */
  peak_name: string | null;
  /** the same peak, of the data sheet (FLOP/s) */
  peak_flops_per_s: number | null;
  /** by counters: what tells the format that the tensor cores multiply, "kernel name" or "model"; null without FLOP/s */
  number_format_source: string | null;
  /** by counters: why FLOP/s are missing; null with FLOP/s */
  why_no_flops: RooflineKernelsWhyNoFlops | null;
}

export type RooflineKernelsBound =
  | "unknown"
  | "compute"
  | "memory"
  | "latency" /* neither, as measured by ncu */;

export type RooflineKernelsSource =
  | "ncu"
  | "counters" /* the GPU's, sampled over time */
  | "recorded" /* with CPU operators */;

export type RooflineKernelsWhyNoFlops =
  | "not_sampled" /* no counter of the tensor cores */
  | "no_tensor_activity" /* none that is certainly its own */
  | "format_unknown" /* of the numbers that the tensor cores multiply */
  | "peak_unknown" /* of that format on this GPU */;

export interface RooflineSampled {
  /** of DRAM bytes, over the whole capture */
  samples: number;
  /** of them, those that launches of one kernel filled */
  attributed_samples: number;
  /** of a sample, median (ms) */
  interval_ms: number;
  /** of a sample's time, how long one kernel must run alone for the sample to be its own (fraction) */
  least_share_of_sample: number;
  /** kernels in kernels by these samples */
  kernels_placed: number;
  /** kernels that samples met and that filled none: too short for the sampling interval, or never alone */
  kernels_too_short: number;
  /** kernels that no sample met */
  kernels_unsampled: number;
}

export interface Operators {
  /** as the framework names it */
  name: string;
  /** calls */
  calls: number;
  /** with operators inside (ms) */
  cpu_total_ms: number;
  /** without them (ms) */
  cpu_self_ms: number;
  /** kernels, copies and fills launched inside; of CPU operators, the time of the innermost (ms) */
  cuda_total_ms: number;
  /** of those that no inner operator launched (ms) */
  cuda_self_ms: number;
  /** cpu_total_ms over calls (ms) */
  mean_ms: number;
  /** kernels behind cuda_total_ms */
  kernel_count: number;
  /** of all calls, as recorded (FLOP) */
  flops: number | null;
  /** of all calls, as recorded (B) */
  bytes: number | null;
  /** over cpu_total_ms (FLOP/s) */
  flops_per_s: number | null;
  /** over cpu_total_ms (B/s) */
  bytes_per_s: number | null;
}

export interface OperatorsFound {
  /** the capture that has them */
  source: string | null;
  /** why there are none, and the capture that would give them */
  why_not: string | null;
  /** of captures that have operators */
  kernels_with_operator: number;
  /** likewise */
  kernels_without_operator: number;
  /** both */
  kernels: number;
  /** with an operator, of both, by number (fraction) */
  kernels_share: number | null;
  /** GPU time that operators launched: kernels, copies and fills (ms) */
  cuda_self_sum_ms: number;
  /** that over the time of all kernels, copies and fills (fraction) */
  share_of_gpu_time: number | null;
  /** replayed by CUDA graphs, which run no operators */
  graph_kernels: number;
  /** of them, those with the operators of their graph's capture, from a trace of it */
  captured_kernels: number;
  /** why_not as kinds and values */
  why_not_reasons: SlowStepRuleReasons[];
}

export interface Gaps {
  /** where it belongs */
  stage: string;
  /** from 0 among those of its stage */
  instance: number;
  /** row of steps */
  step: number | null;
  /** from 0 among the steps of its instance */
  step_of_instance: number | null;
  /** from the instance's start (ms) */
  after_start_ms: number;
  /** its length (ms) */
  ms: number;
  /** from one step's GPU work to another's */
  between_steps: boolean;
  /** a part of the budget: the largest part of the gap */
  cause: string;
  /** a kernel's short name, a copy; null at the stage's edges */
  work_before: string | null;
  /** likewise */
  work_after: string | null;
  /** what the host was in */
  host: string | null;
  /** host as kinds and values */
  host_reasons: SlowStepRuleReasons[];
}

export interface RepeatedGaps {
  /** where they belong */
  stage: string;
  /** gaps at the same place of the stage */
  count: number;
  /** idle time in all of them (ms) */
  total_ms: number;
  /** as in gaps */
  longest: Gaps;
}

export interface SlowSteps {
  /** where it belongs */
  stage: string;
  /** from 0 among those of its stage */
  instance: number;
  /** row of steps */
  step: number;
  /** from 0 among the steps of its instance */
  step_of_instance: number;
  /** its wall time (ms) */
  wall_ms: number;
  /** longer than the median step like it (ms) */
  above_median_ms: number;
  /** longest first; they sum to above_median_ms */
  reasons: SlowStepsReasons[];
}

export interface SlowStepsReasons {
  /** a gap, a kernel, or the rest */
  what: string;
  /** than in the median step (ms) */
  longer_ms: number;
  /** what as kinds and values; behind a gap, what the host did in it */
  what_reasons: SlowStepRuleReasons[];
}

export interface Layers {
  /** "layer_00", "layer_00/attn", "outside layers"; with stage and model_layers its key */
  name: string;
  /** where it belongs */
  stage: string;
  /** where several models ran, the attention layers of the one that this is of */
  model_layers: number | null;
  /** of the layer named before */
  part: boolean;
  /** what runs outside of layers */
  outside: boolean;
  /** as of stages */
  source: StagesSource;
  /** kernel time per forward pass (ms) */
  ms_per_step: number;
  /** per forward pass */
  kernels_per_step: number;
  /** forward passes that show this layer, warm-up excluded */
  passes: number;
  /** kernel time over these passes, exact (ns) */
  total_ns: number;
  /** kernel time per forward pass, by class */
  classes: Record<string, number>;
  /** of a layer with far fewer or more kernels than most */
  note: string | null;
  /** note as kinds and values */
  note_reasons: SlowStepRuleReasons[];
}

export interface LayerSummary {
  /** why a stage has no layers */
  why_not: string | null;
  /** one per stage and model */
  stages: LayerSummaryStages[];
  /** why_not as kinds and values */
  why_not_reasons: SlowStepRuleReasons[];
}

export interface LayerSummaryStages {
  /** where they belong */
  stage: string;
  /** as in layers */
  model_layers: number | null;
  /** forward passes that show these layers */
  passes: number;
  /** how many */
  layers: number;
  /** kernel time of one layer (ms) */
  mean_ms_per_step: number;
  /** of the shortest layer (ms) */
  min_ms_per_step: number;
  /** of the longest layer (ms) */
  max_ms_per_step: number;
  /** longest first */
  parts: LayerSummaryStagesParts[];
}

export interface LayerSummaryStagesParts {
  /** "attn", "outside layers" */
  name: string;
  /** all layers together, per forward pass (ms) */
  ms_per_step: number;
  /** of the kernel time of all layers and of what is outside of them (fraction) */
  share_of_kernel_time: number;
}

export interface Steps {
  /** where it belongs; with instance and step_of_instance its key */
  stage: string;
  /** from 0 among those of its stage */
  instance: number;
  /** from 0 among the traced steps of its instance */
  step_of_instance: number;
  /** what it does for its sequences */
  kind: StepsKind;
  /** sequences in it */
  batch: number | null;
  /** that pass through its layers */
  tokens: number | null;
  /** of batch, those in prefill; null where the engine does not tell */
  prefill_sequences: number | null;
  /** of tokens, theirs; likewise */
  prefill_tokens: number | null;
  /** of batch, those in decode; likewise */
  decode_sequences: number | null;
  /** of tokens, theirs; likewise */
  decode_tokens: number | null;
  /** lengths of all its sequences together, new tokens included; null where the engine does not tell */
  context_tokens: number | null;
  /** (query, key) pairs of causal attention in a layer without a window; likewise */
  attention_pairs: number | null;
  /** attention layers of a detected pass, which tell models apart; null if not known or hidden in a CUDA graph */
  layers: number | null;
  /** on the capture's clock (ms) */
  start_ms: number;
  /** from the end of the previous step's last GPU work (or the instance's start) to the end of its own (ms) */
  wall_ms: number;
  /** time of its kernels (ms) */
  gpu_sum_ms: number;
  /** union of its GPU work (ms) */
  gpu_busy_ms: number;
  /** kernels */
  kernel_count: number;
  /** the step before, or a part of this one, was not traced: wall_ms runs from the step's own first GPU work, and is in no statistics */
  after_untraced: boolean;
  /** read and written in that time, by the GPU's counters; null where they were off (B) */
  dram_bytes: number | null;
  /** time of its kernels by class, overlap not removed; they sum to gpu_sum_ms */
  classes_ns: Record<string, number>;
  /** heat, power or hardware lowered the GPU's clocks, by the last reading before the step's end; null where no reading is less than a second older */
  clocks_lowered: boolean | null;
}

export type StepsKind =
  | "prefill"
  | "decode"
  | "mixed" /* prefill and decode in one pass */
  | "forward" /* of a model that is not known to generate tokens */;

export interface Overhead {
  /** by pass and stage */
  passes: OverheadPasses[];
  /** 0.25: beyond 1.25 times the control a report warns (fraction) */
  warn_above_share: number;
  /** what tracing cost a decode step, measured by the run itself where the collector alternated between traced and untraced windows of steps; null without a duty cycle, and where several processes have one. Nothing else in the profile is corrected by it */
  collector: OverheadCollector | null;
}

export interface OverheadPasses {
  /** "nsys" */
  pass: string;
  /** "prefill" */
  stage: string;
  /** the workload's own time in the control run (ms) */
  control_ms: number;
  /** the same in that pass (ms) */
  profiled_ms: number;
  /** profiled over control */
  ratio: number;
  /** of the whole command, where the workload timed no stage in both */
  whole_run: boolean;
  /** what else explains the difference; null: nothing known */
  other_cause: OverheadPassesOtherCause | null;
}

export type OverheadPassesOtherCause =
  | "spread" /* of the workload's own times */
  | "cpus_short" /* other programs used the CPUs in one of the two runs */;

export interface OverheadCollector {
  /** mean of traced windows less mean of untraced ones; null with why_not below three windows of each kind (ms) */
  added_ms_per_step: number | null;
  /** lower end of Welch's interval (ms) */
  low_ms_per_step: number | null;
  /** upper end of Welch's interval (ms) */
  high_ms_per_step: number | null;
  /** of that interval (fraction) */
  interval_confidence: number;
  /** added over an untraced step (fraction) */
  share_of_untraced_step: number | null;
  /** that times (steps_traced + steps_cupti_on) over steps_all (fraction) */
  share_of_decode: number | null;
  /** windows between untraced steps of the same decode: from a window's first GPU work to its last */
  traced: OverheadCollectorTraced;
  /** windows between traced steps: from the last work of the traced window before to the first of the one behind */
  untraced: OverheadCollectorTraced;
  /** mean time between two steps inside traced windows: added to a traced window, which lacks one, and subtracted from an untraced one, which has one too many (ms) */
  gap_ms: number;
  /** of the process, by the collector's count */
  steps_traced: number;
  /** untraced steps right behind windows that replayed CUDA graphs: CUPTI stays on there for one more step, which is subtracted from its window at the mean of a traced one */
  steps_cupti_on: number;
  /** of the process, by the collector's count */
  steps_all: number;
  /** T of every P steps: the most frequent windows */
  duty_traced: number | null;
  /** P */
  duty_period: number | null;
  /** of tracing, on and off */
  switches: number;
  /** how long they held the program up together (ms) */
  switch_cost_ms: number;
  /** why added_ms_per_step is missing */
  why_not: string | null;
  /** why_not as kinds and values */
  why_not_reasons: SlowStepRuleReasons[];
}

export interface OverheadCollectorTraced {
  /** runs of steps between two of the other kind */
  windows: number;
  /** in them */
  steps: number;
  /** of the windows (ms) */
  mean_ms_per_step: number | null;
  /** of the windows (ms) */
  std_ms_per_step: number | null;
}

export interface CapturesFailed {
  /** "nsys" */
  backend: string;
  /** with the remedy */
  message: string;
}

export interface Diagnostics {
  /** info, warning, error */
  severity: string;
  /** stable, for scripts */
  code: string;
  /** for people, with what to do next */
  message: string;
  /** how often */
  count: number;
}

export interface SlowStepRuleReasons {
  /** stable, for scripts */
  kind: string;
  /** what the sentence is made of, by name */
  values: FindingsValues[];
}

export interface KernelSequences {
  /** where they belong */
  stage: string;
  /** forward passes: steps, or instances of a stage without steps */
  passes: number;
  /** repeated layers of all these passes together */
  layers: number;
  /** by block in the order of a pass, then position; together the time of all kernels in the stage's measured instances, exact */
  kernels: KernelSequencesKernels[];
}

export interface KernelSequencesKernels {
  /** its part of the pass */
  block: KernelSequencesKernelsBlock;
  /** from 0 among the launches of this kernel in one layer (or one pass) */
  occurrence: number;
  /** from 0 among all kernels of its layer (or pass), mean; the order of the rows */
  mean_position: number;
  /** as in kernels */
  key: string;
  /** as in kernels */
  short_name: string;
  /** as in kernels */
  class: string;
  /** x, y, z of most of these launches */
  grid: number[];
  /** x, y, z, likewise */
  block_size: number[];
  /** distinct grids and blocks */
  shapes: number;
  /** launches */
  calls: number;
  /** their time, exact (ns) */
  total_ns: number;
}

export type KernelSequencesKernelsBlock =
  | "before_layers"
  | "layer" /* all layers together */
  | "after_layers"
  | "pass" /* where no layers repeat */
  | "outside_passes" /* in an instance, but in none of its steps */;

export interface Job {
  /** of the launcher */
  id: string | null;
  /** ranks of the job, as they say; else those recorded */
  world_size: number;
  /** ranks with a capture */
  recorded: number;
  /** that they ran on; 0 where no capture tells */
  hosts: number;
  /** ranks without a capture */
  missing: number[];
  /** ranks that ended before the program did */
  died: number[];
  /** not all ranks were recorded: waits are at least what is said */
  lower_bound: boolean;
  /** ranks that communicate */
  groups: JobGroups[];
  /** by stage, then longest total first */
  collectives: JobCollectives[];
  /** longest wait first */
  stragglers: JobStragglers[];
  /** steps that all recorded ranks have */
  steps_matched: number;
  /** steps of single ranks without their like */
  steps_unmatched: number;
  /** of the ranks' time in steps: idle or waiting for another stage of the pipeline; null without pipeline parallelism (fraction) */
  pipeline_bubble_share: number | null;
  /** time of expert kernels, the longest rank's over the mean; null without experts */
  expert_imbalance: number | null;
  /** ranks by steps */
  heat: JobHeat;
  /** why ranks could not be compared; null where they were */
  why_not: string | null;
  /** why_not as kinds and values */
  why_not_reasons: SlowStepRuleReasons[];
  /** of all ranks together */
  steps_left_out: number;
  /** residual_p50_ms of the rank where it is largest; null where no clock was aligned (ms) */
  clock_residual_ms: number | null;
}

export interface JobGroups {
  /** as captures name it; unique */
  group: string;
  /** that were recorded */
  ranks: number[];
  /** of the group, ranks without a capture included */
  size: number;
  /** from the kinds, sizes and number of its collectives in a step, or as told by --tp, --pp, --ep */
  parallelism: JobGroupsParallelism;
  /** evidence as kinds and values */
  why: SlowStepRuleReasons[];
}

export type JobGroupsParallelism =
  | "tensor"
  | "pipeline"
  | "expert"
  | "data"
  | "unknown";

export interface JobCollectives {
  /** of the job; null outside of stages */
  stage: string | null;
  /** as in groups */
  group: string;
  /** all_reduce, all_gather, reduce_scatter, all_to_all, send, ... */
  kind: string;
  /** of the message of one rank; null where not known (B) */
  bytes: number | null;
  /** that took part and were recorded */
  ranks: number;
  /** collectives that all these ranks have */
  matched: number;
  /** of single ranks, without their like on the others */
  unmatched: number;
  /** replayed by CUDA graphs */
  in_graph: boolean;
  /** ranks of the group were not recorded: waits are at least this long */
  lower_bound: boolean;
  /** from the last rank's arrival to the last end */
  latency_ms: DeviceTimeLaunchesCallMs;
  /** of the rank that waited longest */
  wait_ms: DeviceTimeLaunchesCallMs;
  /** of all ranks together (ms) */
  wait_total_ms: number;
  /** of all ranks together; with wait_total_ms the time of these kernels (ms) */
  transfer_total_ms: number;
  /** of that time, without compute beside it (ms) */
  exposed_total_ms: number;
  /** of that time, beside compute (ms) */
  hidden_total_ms: number;
  /** of them in a step of the job, mean; null without steps */
  per_step: number | null;
  /** bytes that the algorithm must move over each rank's link, over the median latency; null where size or kind is not known (B/s) */
  wire_bandwidth_bytes_per_s: number | null;
  /** of the link, in one direction (B/s) */
  peak_bandwidth_bytes_per_s: number | null;
  /** the first over the second (fraction) */
  share_of_peak: number | null;
  /** what the peak is of: nvlink, pcie, network, memory */
  link: string | null;
  /** the rank that came last most often */
  last_rank: number | null;
  /** of the matched collectives (fraction) */
  last_rank_share: number | null;
}

export interface JobStragglers {
  /** that comes last */
  rank: number;
  /** of the job */
  stage: string;
  /** what of this rank takes the time */
  cause: JobStragglersCause;
  /** that the rank that waited longest waited for it, per step of the job (ms) */
  wait_ms_per_step: number;
  /** of all ranks that waited for it (ms) */
  wait_total_ms: number;
  /** wait_ms_per_step over the job's mean step (fraction) */
  share_of_step: number | null;
  /** of the matched collectives in this stage: it came last (fraction) */
  last_share: number;
  /** evidence as kinds and values */
  why: SlowStepRuleReasons[];
}

export type JobStragglersCause =
  | "longer_kernels"
  | "late_launch"
  | "more_tokens"
  | "lower_clock"
  | "unknown";

export interface JobHeat {
  /** consecutive steps of the job in a bin; at most 512 bins */
  steps_per_bin: number;
  /** by rank */
  rows: JobHeatRows[];
}

export interface JobHeatRows {
  /** whose time it is */
  rank: number;
  /** mean wall time of the rank's own steps in each bin, waits left out; -1 without a step */
  wall_ms: number[];
  /** mean time per step that it waited for others; likewise */
  wait_ms: number[];
}

export interface Ranks {
  /** in the job */
  rank: number;
  /** among the ranks of its host */
  local_rank: number | null;
  /** its name */
  host: string | null;
  /** as in kernels: "rank3/cuda:0" */
  device: string | null;
  /** name of the GPU, or of the processor */
  gpu: string | null;
  /** recorded; died (it ended before the program did); missing (the job says that it exists, and no capture of it was read) */
  state: string;
  /** exit code or signal, where known */
  state_detail: string | null;
  /** of this rank */
  captures: ContextCaptures[];
  /** how it is brought to the job's; null of missing ranks */
  clock: RanksClock | null;
  /** by stage of the job: where this rank's time went */
  between: RanksBetween[];
  /** as of a profile of this rank alone; likewise all below */
  totals: Totals;
  /** on the rank's own clock */
  device_time: DeviceTime[];
  /** by class, longest total first */
  classes: Classes[];
  /** how its stages were found */
  stages_found: StagesFound;
  /** by this rank's clock */
  token_times: TokenTimes;
  /** this rank's own */
  stages: Stages[];
  /** this rank's own */
  steps: Steps[];
  /** steps that are not in steps, because the job's ranks have more than 50,000 together; the rank's partial profile has them */
  steps_left_out: number;
  /** what profiling cost */
  overhead: Overhead | null;
  /** of this rank's captures */
  diagnostics: Diagnostics[];
}

export interface RanksClock {
  /** what the two clocks were compared by */
  method: RanksClockMethod;
  /** added to a time of this rank at its time 0 (ns) */
  offset_ns: number;
  /** added per second, in microseconds */
  drift_ppm: number;
  /** matched ones that the two were found from */
  collectives: number;
  /** what is left between the ends of matched collectives: median of absolute values (ms) */
  residual_p50_ms: number | null;
  /** likewise, the largest (ms) */
  residual_max_ms: number | null;
}

export type RanksClockMethod =
  | "reference" /* this rank's clock is the job's */
  | "shared" /* one clock of the host */
  | "collectives" /* ends of matched collectives */
  | "wall_clock" /* of the hosts, not better */
  | "none";

export interface RanksBetween {
  /** as in the job's stages */
  stage: string;
  /** of the job's step, mean; compute, transfer, wait, copies and idle sum to it (ms) */
  wall_ms: number;
  /** at least one kernel that is not communication (ms) */
  compute_ms: number;
  /** communication alone, from the last rank's arrival on; all of it where collectives are not matched (ms) */
  transfer_ms: number;
  /** communication alone, before the last rank arrived: a lower bound where ranks of the group were not recorded (ms) */
  wait_ms: number;
  /** communication beside compute; part of compute_ms (ms) */
  hidden_communication_ms: number;
  /** copies and fills alone (ms) */
  copies_ms: number;
  /** no work, until the slowest rank ended the step (ms) */
  idle_ms: number;
  /** what the rank that waited longest waited for this one, per step (ms) */
  caused_wait_ms: number;
  /** that the means are of; warm-up excluded */
  steps: number;
  /** of these steps; null where not told */
  tokens: number | null;
  /** of the rank's own wall time; null where not known (fraction) */
  mfu: number | null;
  /** mean reading; null where not read (Hz) */
  sm_clock_hz: number | null;
  /** per step; null where not measured (J) */
  energy_j: number | null;
}

/** Views that topics name. */
export type TopicView =
  | "gpu"
  | "job"
  | "kernels"
  | "layers"
  | "operators"
  | "overview"
  | "provenance"
  | "roofline"
  | "steps";
