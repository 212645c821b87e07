// Generated from the structs of src/profile: python3 tests/end_to_end/test_profile_schema.py --rewrite

export interface Profile {
  /** version of this file's format */
  schema_version: number;
  /** program that wrote this file */
  tool: Tool;
  /** captures, devices and machine */
  context: Context;
  /** what --stage, --steps and --device selected; null without them */
  selection: Selection | null;
  /** the model; null without --model */
  model: Model | null;
  /** what ran */
  workload: Workload;
  /** program that runs the model, as far as the captures show */
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
  /** token times and rates that a user of the model sees */
  token_times: TokenTimes;
  /** requests of a client, and what each one waited for; null without a file of requests */
  requests: Requests | null;
  /** what every byte of GPU memory is used for, at moments of the run; null without recorded allocations of GPU
   * memory */
  memory_ledger: MemoryLedger | null;
  /** what the engine says of its memory in its log, beside what was recorded */
  memory_statements: MemoryStatements[];
  /** GPU memory inside PyTorch, by its memory snapshots and the memory events of its traces; null without either */
  memory: Memory | null;
  /** stages, in order of first occurrence */
  stages: Stages[];
  /** parts inside a stage (vision tower, projector) */
  stage_notes: StageNotes[];
  /** what to fix, largest potential saving first */
  findings: Findings[];
  /** time above lower bounds, by stage */
  recoverable: Recoverable[];
  /** the peaks that MFU and MBU are measured against */
  utilization: Utilization;
  /** what the workload measured itself, unprofiled; null without its metrics.json */
  stage1: Stage1 | null;
  /** all kernels, longest total first */
  kernels: Kernels[];
  /** kernel classes, longest total first */
  classes: Classes[];
  /** the first 20 kernels */
  kernels_topk: KernelsTopk[];
  /** the ten longest kernel names, all devices together */
  kernels_all_devices: KernelsAllDevices[];
  /** the ten longest kernel names in the stages without warm-up, with their times there; empty without stages */
  measured_kernels_all_devices: KernelsAllDevices[];
  /** what bounds the kernels */
  roofline: Roofline;
  /** matrix products by stage, role, dimensions, types and kernel, longest total first */
  products: Products[];
  /** how much of the matrix products has dimensions */
  products_found: ProductsFound;
  /** operators of the framework */
  operators: Operators[];
  /** how much of the GPU's work operators launched */
  operators_found: OperatorsFound;
  /** the longest idle gaps of each stage */
  gaps: Gaps[];
  /** gaps that recur at the same place of a stage */
  repeated_gaps: RepeatedGaps[];
  /** the slowest steps of each stage */
  slow_steps: SlowSteps[];
  /** layers, by stage */
  layers: Layers[];
  /** layers of each stage together */
  layer_summary: LayerSummary;
  /** steps, by instance and start */
  steps: Steps[];
  /** cost of profiling; null unless the input is a run folder or a log with a duty cycle */
  overhead: Overhead | null;
  /** captures that a run requested and did not get */
  captures_failed: CapturesFailed[];
  /** what to know about the input */
  diagnostics: Diagnostics[];
  /** rule for slow steps, with its thresholds */
  slow_step_rule: string | null;
  /** slow_step_rule as kinds and values */
  slow_step_rule_reasons: SlowStepRuleReasons[];
  /** kernels of forward passes by stage and position, to distinguish replaced, fused and removed kernels */
  kernel_sequences: KernelSequences[];
  /** waits, collectives and stragglers of a distributed job, otherwise null; stages, steps, token_times and
   * findings then describe the job: one step on all ranks is one step */
  job: Job | null;
  /** each rank of a job; empty otherwise */
  ranks: Ranks[];
}

export interface Tool {
  /** always llmprof */
  name: string;
  /** version of llmprof */
  version: string;
}

export interface Context {
  /** GPUs in the captures */
  gpus: ContextGpus[];
  /** CPUs whose operators are in the captures */
  cpus: ContextCpus[];
  /** one per input */
  captures: ContextCaptures[];
  /** what all kernels ran on */
  device_kind: ContextDeviceKind;
  /** CPU load during each recording of a run; empty for captures without a run */
  load: ContextLoad[];
}

export interface ContextGpus {
  /** "cuda:0"; prefixed with its capture or rank if several were read */
  device: string;
  /** name of the GPU, from the capture */
  name: string | null;
  /** UUID of the GPU, from the capture */
  uuid: string | null;
  /** "9.0" */
  compute_capability: string | null;
  /** streaming multiprocessors */
  sm_count: number | null;
  /** size of the GPU's memory */
  memory_bytes: number | null;
  /** peak memory bandwidth, from the capture */
  memory_bandwidth_bytes_per_s: number | null;
  /** highest SM clock, from the capture */
  clock_hz: number | null;
}

export interface ContextCpus {
  /** "cpu:0" */
  device: string;
  /** name of the CPU, from the workload's metrics.json */
  name: string | null;
  /** threads that the workload used */
  threads: number | null;
  /** peak for MFU, measured by the workload (FLOP/s) */
  peak_flops_per_s: number | null;
  /** peak for MBU, measured by the workload (B/s) */
  peak_bytes_per_s: number | null;
  /** number format of the compute peak */
  number_format: string | null;
  /** how the peaks were measured */
  method: string | null;
  /** which run measured the peaks */
  peaks_from: ContextCpusPeaksFrom | null;
  /** when the compute peak was measured, UTC */
  peaks_measured_at: string | null;
  /** compute peak that this run measured (FLOP/s) */
  own_peak_flops_per_s: number | null;
  /** memory bandwidth that this run measured (B/s) */
  own_peak_bytes_per_s: number | null;
  /** why this run's own measurement was not used or not kept; otherwise null */
  peaks_note: string | null;
}

export type ContextCpusPeaksFrom =
  | "this_run" /* this run measured both */
  | "kept" /* best values of earlier runs on this machine */
  | "both" /* one peak from this run, one from earlier runs */;

export interface ContextCaptures {
  /** path of the input */
  path: string;
  /** format, recognized from the content */
  format: ContextCapturesFormat;
  /** tool that recorded it */
  tool: string | null;
  /** version of that tool */
  tool_version: string | null;
  /** version of the file's format */
  schema_version: string | null;
  /** version of the GPU's driver */
  driver: string | null;
  /** version of CUDA */
  cuda: string | null;
  /** rank in a distributed job */
  rank: number | null;
  /** Unix time at time 0 of the capture */
  wall_clock_ns: number | null;
}

export type ContextCapturesFormat =
  | "nsys SQLite"
  | "nsys stats CSV"
  | "ncu CSV"
  | "ncu JSON rows"
  | "PyTorch trace"
  | "llmprof log"
  | "Stage 1 metrics" /* the workload's own metrics.json */
  | "requests" /* requests of a client, or of the engine */
  | "PyTorch memory snapshot" /* memory snapshot of PyTorch */;

export type ContextDeviceKind =
  | "gpu"
  | "cpu" /* operators that the program recorded */;

export interface ContextLoad {
  /** name of the recording */
  pass: ContextLoadPass;
  /** duration of the recording */
  seconds: number;
  /** CPUs that the program may use */
  cpus: number;
  /** mean number of CPUs used by the program and its children */
  used: number;
  /** mean number of these CPUs used by other programs meanwhile; if no CPU was left idle, they slowed the program
   * down */
  others: number;
}

export type ContextLoadPass =
  | "stage1" /* control run, unprofiled */
  | "collector" /* llmprof's collector */
  | "nsys" /* Nsight Systems */
  | "ncu" /* Nsight Compute */
  | "torch" /* torch.profiler */;

export interface Selection {
  /** value of --stage */
  stage: string | null;
  /** value of --steps */
  steps: SelectionSteps | null;
  /** value of --device, CUDA's device number */
  device: number | null;
  /** the selection as a sentence */
  words: string;
}

export interface SelectionSteps {
  /** counted from 0 */
  first: number;
  /** last step; null if the range is open */
  last: number | null;
}

export interface Model {
  /** name of the model */
  name: string | null;
  /** model_type of its configuration */
  variant: string | null;
  /** number of parameters */
  params: number;
  /** parameters used per token */
  active_params: number;
  /** number format of activations */
  dtype: string;
  /** number format of weights */
  weights_dtype: string;
  /** number format of the KV cache */
  kv_cache_dtype: string;
  /** number of layers */
  layers: number;
  /** size of all weights (B) */
  weight_bytes: number;
  /** KV cache per token of context (B) */
  kv_bytes_per_token: number;
  /** file or preset that describes the model */
  source: string | null;
  /** what FLOP and byte counts leave out or assume */
  notes: string[];
}

export interface Workload {
  /** command of the run */
  command: string | null;
  /** number of sequences */
  batch: number | null;
  /** source of batch: a flag, metrics.json, a run's inputs.yaml, the steps */
  batch_source: string | null;
  /** prompt tokens per sequence */
  prompt_tokens: number | null;
  /** source of prompt_tokens */
  prompt_tokens_source: string | null;
  /** generated tokens per sequence */
  new_tokens: number | null;
  /** source of new_tokens */
  new_tokens_source: string | null;
  /** images per request */
  images: number | null;
  /** degree of tensor parallelism */
  tp: number;
  /** degree of pipeline parallelism */
  pp: number;
  /** degree of expert parallelism */
  ep: number;
}

export interface Engine {
  /** the name in conf/engines, PyTorch (its engine was not recognized), or unknown */
  name: string;
  /** PyTorch, or a framework of conf/engines; null if none was found */
  framework: string | null;
  /** kernels generated by torch.compile take part of the measured time; null without PyTorch */
  compiled: boolean | null;
  /** CUDA graphs are replayed in the measured stages; null without a timeline */
  cuda_graphs: boolean | null;
  /** share of kernels in the measured stages that CUDA graphs replayed; null if the graphs' kernels were not
   * recorded (fraction) */
  kernels_in_graphs: number | null;
  /** 0 to 1; null if the engine is unknown (fraction) */
  confidence: number | null;
  /** strongest first */
  evidence: EngineEvidence[];
}

export interface EngineEvidence {
  /** kind of the sign */
  source: EngineEvidenceSource;
  /** the recorded name, or the library */
  subject: string;
  /** share of kernel time in the measured stages, for graph_replays share of kernels; null if not a share
   * (fraction) */
  share: number | null;
}

export type EngineEvidenceSource =
  | "annotation" /* the text of a range */
  | "process" /* the name of an executable */
  | "command" /* the command line of the run */
  | "python_package" /* a package whose functions are on call stacks */
  | "operator" /* the name of an operator */
  | "kernels" /* kernels of the engine or a library, with their share of kernel time */
  | "generated_kernels" /* kernels generated by torch.compile, with their share of kernel time */
  | "graph_replays" /* CUDA graphs, with the share of kernels that they replay */;

export interface Totals {
  /** source of the kernels */
  source: TotalsSource;
  /** all kernels */
  kernel_count: number;
  /** time of these kernels; overlapping ones count in full (ms) */
  kernel_sum_ms: number;
  /** kernel_sum_ms, exact (ns) */
  kernel_sum_ns: number;
  /** time with at least one kernel running, per device, summed over devices; null without a timeline (ms) */
  gpu_busy_ms: number | null;
  /** first kernel start to last kernel end, on the device with the longest span; null without a timeline (ms) */
  span_ms: number | null;
  /** copies and fills */
  memory_operation_count: number;
  /** time of copies and fills (ms) */
  memory_operation_sum_ms: number;
  /** number of entries in devices */
  device_count: number;
  /** number of GPUs; one that is in several captures counts once */
  gpu_count: number;
  /** totals by device */
  devices: TotalsDevices[];
  /** CUDA graph replays whose kernels were not recorded; null without any */
  hidden_graphs: TotalsHiddenGraphs | null;
  /** how ncu's launches match the timeline, or the kernel summary by name; null without ncu */
  metric_join: TotalsMetricJoin | null;
  /** kernels by the part of the timeline in which they ran; empty without stages */
  scopes: TotalsScopes[];
}

export type TotalsSource =
  | "timeline" /* every kernel with start and end */
  | "summary" /* totals per name (nsys stats) */
  | "profiler" /* single launches that ncu measured, outside the program's own time */
  | "none";

export interface TotalsDevices {
  /** "cuda:0" */
  device: string;
  /** name of the GPU */
  name: string | null;
  /** kernels on this device */
  kernel_count: number;
  /** time of these kernels; overlapping ones count in full (ms) */
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
  /** total_ms over the time of kernels and these replays together (fraction) */
  share_of_gpu_time: number;
  /** outermost range in which most of these replays were launched */
  launched_in: string | null;
}

export interface TotalsMetricJoin {
  /** launches that ncu measured */
  profiled_launches: number;
  /** measured launches whose kernel is in the timeline */
  joined: number;
  /** measured launches whose kernel is not in the timeline */
  unjoined: number;
  /** kernels of the timeline that get metrics this way */
  timeline_kernels_covered: number;
}

export interface TotalsScopes {
  /** part of the timeline */
  scope: TotalsScopesScope;
  /** kernels in this scope */
  kernel_count: number;
  /** time of these kernels (ms) */
  kernel_sum_ms: number;
  /** kernel_sum_ms over the time of all kernels (fraction) */
  share: number | null;
}

export type TotalsScopesScope =
  | "measured" /* kernels in measured instances of stages */
  | "warm-up" /* kernels in excluded instances */
  | "autotuning" /* kernels in bursts that no measured stage has; listed only if there are any */
  | "initialization" /* kernels before the first stage of their device */
  | "outside" /* kernels between and after stages */;

export interface DeviceTime {
  /** as in kernels */
  device: string;
  /** first start to last end of any work: kernels, copies, fills, graph replays (ms) */
  span_ms: number;
  /** time with any such work running (ms) */
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
  /** communication while no compute runs (ms) */
  exposed_communication_ms: number;
  /** copies and fills while a kernel runs (ms) */
  overlapped_copies_ms: number;
  /** copies and fills while no kernel runs; compute_ms, exposed_communication_ms and exposed_copies_ms sum to
   * busy_ms (ms) */
  exposed_copies_ms: number;
  /** span_ms minus busy_ms and not_traced_ms (ms) */
  idle_ms: number;
  /** idle_ms over span_ms (fraction) */
  idle_share_of_span: number | null;
  /** time in which our collector did not record; null if it recorded everything (ms) */
  not_traced_ms: number | null;
  /** idle time by cause, largest first; sums to idle_ms */
  idle_causes: DeviceTimeIdleCauses[];
  /** launches on this GPU; null if it ran no kernels */
  launches: DeviceTimeLaunches | null;
  /** true for the first device with the longest span_ms */
  longest: boolean;
}

export interface DeviceTimeIdleCauses {
  /** a part of a stage's budget; "unattributed" where no launch was recorded */
  cause: DeviceTimeIdleCausesCause;
  /** idle time of this cause (ms) */
  ms: number;
  /** ms over span_ms (fraction) */
  share_of_span: number | null;
  /** gaps for which this is the largest cause */
  gaps: number;
}

export type DeviceTimeIdleCausesCause =
  | "gemm"
  | "gemv"
  | "attention"
  | "norm"
  | "rope"
  | "elementwise"
  | "copy/cast"
  | "reduction"
  | "softmax"
  | "sampling/top-k"
  | "embedding/gather"
  | "moe routing"
  | "quantise"
  | "exposed communication" /* communication while nothing else runs */
  | "memset/memcpy"
  | "other"
  | "hidden CUDA graphs" /* graph replays whose kernels were not recorded */
  | "memory copies and fills" /* copies and fills while no kernel runs */
  /* the launch came late: time of its call, launch latency, and earlier CUDA calls that do not wait for the GPU */
  | "idle: launch-bound"
  | "idle: synchronisation" /* the launching thread waited for the GPU */
  | "idle: host between launches" /* the launching thread was outside CUDA calls */
  /* the next kernel was launched in time, but the GPU waited longer than a launch takes */
  | "idle: between queued kernels"
  | "idle: before the first GPU work" /* from the stage's start to its first GPU work */
  | "idle: after the last GPU work" /* from the stage's last GPU work to its end */
  | "not traced" /* our collector did not record: GPU work is unknown */
  | "unattributed" /* GPU work of other processes, and idle time without a recorded launch */
  | "before the first operator" /* on a CPU */
  | "after the last operator" /* on a CPU */
  | "between operators" /* on a CPU */
  | "idle: waiting for the slowest rank" /* in a job */
  | "waiting for the slowest rank" /* in a job on CPUs */;

export interface DeviceTimeLaunches {
  /** calls that put kernels or a graph replay on this GPU */
  launches: number;
  /** kernels and graph replays whose call was not recorded */
  without_launch: number;
  /** duration of a launching call on the CPU */
  call_ms: DeviceTimeLaunchesCallMs;
  /** from the call's start to the start of its first work: launch latency, and waiting in the queue */
  launch_to_start_ms: DeviceTimeLaunchesCallMs;
  /** launch_to_start_ms for calls made while the GPU was idle */
  launch_latency_ms: DeviceTimeLaunchesCallMs;
  /** earlier launches whose work had not started, at each call */
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
  /** number of values; if 0, the other fields are null */
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
  /** number of values; if 0, the other fields are null */
  count: number;
}

export interface DeviceTimeLaunchesShortKernels {
  /** kernels that take less than this (ms) */
  below_ms: number;
  /** number of such kernels */
  count: number;
  /** count over the device's kernels (fraction) */
  share_of_kernels: number | null;
  /** time of such kernels (ms) */
  total_ms: number;
  /** total_ms over the time of the device's kernels (fraction) */
  share_of_kernel_time: number | null;
}

export interface Copies {
  /** as in kernels */
  device: string;
  /** "Host-to-Device", "Device-to-Host", ...; "fill"; "copy" if unknown */
  direction: string;
  /** kind of memory that is read; null if the capture does not say */
  from: CopiesFrom | null;
  /** kind of memory that is written; null if the capture does not say */
  to: CopiesFrom | null;
  /** operations in the whole timeline */
  count: number;
  /** time of these operations; overlapping ones count in full (ms) */
  total_ms: number;
  /** bytes moved or filled; null if the capture has no sizes (B) */
  bytes: number | null;
  /** bytes over the time of operations with a known size (B/s) */
  bytes_per_s: number | null;
  /** size of the smallest operation (B) */
  min_bytes: number | null;
  /** size of the median operation, by nearest rank (B) */
  p50_bytes: number | null;
  /** size of the largest operation (B) */
  max_bytes: number | null;
  /** operations whose size is unknown or 0 */
  without_size: number;
}

export type CopiesFrom =
  | "pageable"
  | "pinned"
  | "host"
  | "device"
  | "array"
  | "managed";

export interface StagesFound {
  /** true if instances are an engine's steps (continuous batching); null without stages */
  serving: boolean | null;
  /** confidence in detected stages: the share of correct ones among other captures of the same level; null if
   * annotated (fraction) */
  confidence: number | null;
  /** by how many independent checks hold; null if not detected */
  confidence_level: StagesFoundConfidenceLevel | null;
  /** how stages were found, or why there are none */
  reason: string | null;
  /** the kinds and values of reason */
  reasons: SlowStepRuleReasons[];
}

export type StagesFoundConfidenceLevel =
  | "high"
  | "medium"
  | "low";

export interface Coverage {
  /** kernels in the timeline */
  kernels: number;
  /** kernels inside stages */
  kernels_in_stages: number;
  /** kernels_in_stages over kernels (fraction) */
  kernels_share: number | null;
  /** time of all kernels (ms) */
  kernel_sum_ms: number;
  /** time of kernels inside stages (ms) */
  kernel_sum_in_stages_ms: number;
  /** kernel_sum_in_stages_ms over kernel_sum_ms (fraction) */
  kernel_sum_share: number | null;
  /** time of graph replays whose kernels were not recorded (ms) */
  hidden_graph_ms: number;
  /** time of such replays inside stages (ms) */
  hidden_graph_in_stages_ms: number;
  /** kernels before the first stage: creating weights, warming up */
  initialization_kernels: number;
  /** time of kernels before the first stage (ms) */
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
  /** share that reports show: work_share, or kernel_sum_share if that is null (fraction) */
  shown_share: number | null;
}

export interface TokenTimes {
  /** wall time per prefill */
  time_to_first_token_ms: DeviceTimeLaunchesCallMs | null;
  /** wall time per decode step, one value per decode */
  time_per_output_token_ms: DeviceTimeLaunchesCallMs | null;
  /** mean prefill plus mean decode; null under continuous batching and with --steps (ms) */
  request_ms: number | null;
  /** 1 over the mean time per output token (tokens/s) */
  tokens_per_s_per_sequence: number | null;
  /** tokens_per_s_per_sequence times the batch; null if the batch is unknown (tokens/s) */
  tokens_per_s: number | null;
  /** GPU busy time over the traced wall time of all stages (fraction) */
  gpu_busy_share_of_wall: number | null;
  /** decode steps by the number of sequences in them */
  by_batch: TokenTimesByBatch[];
  /** request times of a serving engine: one entry for the requests of a client that are joined to its steps,
   * otherwise one per recording window; empty without such requests if passes do not show which sequences get a
   * token */
  served: TokenTimesServed[];
  /** figures that reports and the page show; null in files of earlier versions */
  shown: TokenTimesShown | null;
}

export interface TokenTimesByBatch {
  /** sequences in the step */
  batch: number;
  /** wall time per decode step */
  step_wall_ms: DeviceTimeLaunchesCallMs;
  /** batch over the mean step time (tokens/s) */
  tokens_per_s: number | null;
}

export interface TokenTimesServed {
  /** where the times are from */
  source: TokenTimesServedSource;
  /** start of its first pass, or when the first request was sent, on the capture's clock (ms) */
  start_ms: number;
  /** time from there until the host had chosen the last token, or the last request ended (ms) */
  span_ms: number;
  /** batches: passes up to a result that the host waited for, one token per sequence */
  batches: number;
  /** passes in all batches */
  passes: number;
  /** mean number of sequences per batch that get a token */
  sequences_mean: number;
  /** largest number of sequences that get a token in one batch */
  sequences_max: number;
  /** sequences that got their first token */
  prompts: number;
  /** mean time from the start of a prompt's first batch to its first token, including tracing overhead; of a
   * client's requests, from sent (ms) */
  prompt_ms: number | null;
  /** tokens that follow another one of their sequence */
  tokens: number;
  /** mean time since the sequence's previous token, including tracing overhead (ms) */
  token_ms: number | null;
}

export type TokenTimesServedSource =
  | "steps" /* estimated from the engine's steps, without its queue and delivery */
  | "requests" /* requests of a client that were joined to these steps, as the client saw them */;

export interface TokenTimesShown {
  /** wall time per prefill */
  time_to_first_token_ms: TokenTimesShownTimeToFirstTokenMs | null;
  /** wall time per decode step, one value per decode */
  time_per_output_token_ms: TokenTimesShownTimeToFirstTokenMs | null;
  /** mean prefill plus mean decode; null if tracing windows cut decodes (ms) */
  request_ms: number | null;
  /** request_ms; null if prefills or decodes vary widely (typical is not mean) (ms) */
  typical_request_ms: number | null;
  /** 1 over the mean time per output token (tokens/s) */
  tokens_per_s_per_sequence: number | null;
  /** tokens_per_s_per_sequence times the batch; null if the batch is unknown (tokens/s) */
  tokens_per_s: number | null;
  /** GPU busy time over the traced wall time of all stages (fraction) */
  gpu_busy_share_of_wall: number | null;
  /** decode steps by the number of sequences in them */
  by_batch: TokenTimesByBatch[];
  /** figures that a user sees first; empty if unknown */
  figures: TokenTimesShownFigures[];
  /** index in served of the window with the most tokens; null if unknown */
  served_window: number | null;
  /** 1 over token_ms of served_window (tokens/s) */
  served_tokens_per_s_per_sequence: number | null;
  /** tokens of all sequences over span_ms of served_window (tokens/s) */
  served_tokens_per_s: number | null;
  /** rates that reports and the page show; null if unknown */
  output_rates: TokenTimesShownOutputRates | null;
  /** which shown figures this file has, in all its parts */
  revision: number;
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
  /** number of values; if 0, the other fields are null */
  count: number;
  /** the value that represents all others; two or three values also vary widely if std is above 0.25 of the mean */
  typical: TokenTimesShownTimeToFirstTokenMsTypical;
}

export type TokenTimesShownTimeToFirstTokenMsTypical =
  | "mean"
  | "range" /* for two or three values that vary widely: max above 1.5 times min */
  | "median" /* for more values that vary widely: std above 0.25 of the mean */;

export interface TokenTimesShownFigures {
  /** name of the figure */
  figure: TokenTimesShownFiguresFigure;
  /** stage that it is measured on */
  stage: string;
  /** true if it is what an engine's requests saw (served_window), including tracing overhead unless without_tracing */
  of_requests: boolean;
  /** true if the requests' client measured it, from sent to arrival; otherwise it is estimated from steps */
  by_client: boolean;
  /** time per prefill, decode step or engine step; for requests, per prompt or token */
  ms: TokenTimesShownTimeToFirstTokenMs;
  /** smallest and largest mean in other windows, for requests; null without any */
  other_windows_ms: DeviceTimeLaunchesCallMs | null;
  /** true if ms excludes tracing overhead */
  without_tracing: boolean;
  /** the same including tracing overhead; null if ms includes it, or if tracing windows cut the stage */
  traced_ms: TokenTimesShownTimeToFirstTokenMs | null;
  /** the same by the workload's own clock, unprofiled; null if ms excludes tracing overhead (ms) */
  not_profiled_ms: number | null;
}

export type TokenTimesShownFiguresFigure =
  | "time_to_first_token"
  | "time_per_output_token"
  | "engine_step" /* time per decode step of an engine */;

export interface TokenTimesShownOutputRates {
  /** the one to show first: of all sequences if the batch is known, otherwise per sequence */
  first: TokenTimesShownOutputRatesFirst;
  /** of one sequence (tokens/s) */
  tokens_per_s_per_sequence: number | null;
  /** of all sequences; null if the batch is only assumed (tokens/s) */
  tokens_per_s: number | null;
  /** true if the rates exclude tracing overhead */
  without_tracing: boolean;
  /** the first rate including tracing overhead; null if the rates include it, or if tracing windows cut the stage
   * (tokens/s) */
  traced_tokens_per_s: number | null;
}

export type TokenTimesShownOutputRatesFirst =
  | "all_sequences"
  | "per_sequence";

export interface Requests {
  /** file that holds the requests */
  file: string;
  /** who measured them */
  source: RequestsSource;
  /** requests, warm-up excluded */
  sent: number;
  /** completed requests, warm-up excluded */
  completed: number;
  /** requests that did not complete, warm-up excluded */
  failed: number;
  /** requests that were sent to warm up */
  warm_up: number;
  /** tokens of completed requests */
  output_tokens: number;
  /** time to first token: first chunk with tokens minus sent */
  ttft_ms: RequestsTtftMs;
  /** inter-token latency: gap between chunks with tokens, over the later one's tokens */
  itl_ms: RequestsTtftMs;
  /** time per output token, one value per request: first to last token, over the tokens after the first */
  tpot_ms: RequestsTtftMs;
  /** end-to-end time: end minus sent */
  e2e_ms: RequestsTtftMs;
  /** part queue of each request; without values unless joined */
  queue_ms: RequestsTtftMs;
  /** how they were sent, and what came of it */
  load: RequestsLoad;
  /** how their tokens were joined to the engine's batches */
  join: RequestsJoin;
  /** parts of all completed requests together; empty unless joined */
  parts_ns: Record<string, number>;
  /** what makes the slowest ones slow; empty unless joined */
  tail: RequestsTail[];
  /** requests whose prompt others waited for, largest first */
  delayers: RequestsDelayers[];
  /** who delayed whom by a prompt: the 1,000 largest, largest first */
  delays: RequestsDelays[];
  /** decode batches by their size */
  steps_by_size: RequestsStepsBySize[];
  /** the longest gaps between tokens, and times to first token */
  slowest_gaps: RequestsSlowestGaps[];
  /** all requests, in the file's order */
  items: RequestsItems[];
  /** the engine's batches while requests were sent */
  batches: RequestsBatches[];
  /** the file's own aggregates, computed again */
  stated: RequestsStated[];
  /** the same load without a recorder: the headline; null if there was none */
  unrecorded: RequestsUnrecorded | null;
  /** figures that reports and the page show */
  shown: RequestsShown;
}

export type RequestsSource =
  | "llmprof" /* llmprof load, and files of its form */
  | "vllm_bench" /* vllm bench serve --save-detailed */
  | "sglang_bench" /* SGLang's bench_serving --output-details */
  | "sglang_server" /* SGLang's request-metrics log, as the server saw the requests */
  | "aiperf" /* AIPerf's profile_export.jsonl */
  | "guidellm" /* GuideLLM's JSON report */
  | "genai_perf" /* GenAI-Perf's profile_export.json */
  | "vllm_spans" /* OTLP spans of vLLM, as the server saw the requests */
  | "sglang_spans" /* OTLP spans of SGLang, as the server saw the requests */
  | "transformers" /* timestamps of transformers' continuous batching */;

export interface RequestsTtftMs {
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
  /** number of values; if 0, the other fields are null */
  count: number;
  /** 90th percentile, by nearest rank (ms) */
  p90: number | null;
}

export interface RequestsLoad {
  /** poisson, constant, replay or closed; empty if not stated */
  arrivals: string;
  /** requested rate, in requests per second */
  rate: number | null;
  /** requested concurrency, in requests */
  concurrency: number | null;
  /** requests sent per second: those after the first, over the time from the first sent to the last sent */
  sent_rate: number | null;
  /** completed requests per second, over the time from the first sent to the last end */
  completed_rate: number | null;
  /** output tokens of completed requests per second, over the same time as completed_rate (tokens/s) */
  output_tokens_per_s: number | null;
  /** most requests in flight at a time */
  most_concurrent: number | null;
  /** from scheduled to sent; null without a schedule */
  lateness_ms: DeviceTimeLaunchesCallMs | null;
  /** whether the server kept up; null if unknown */
  verdict: RequestsLoadVerdict | null;
  /** when requests in flight first reach their median over the middle half of the load, after the first sent; null
   * if at once, or if there is no steady load (ms) */
  ramp_up_end_ms: number | null;
  /** when the last request was sent, after the first; from then on load falls (ms) */
  drain_start_ms: number | null;
  /** limits of --slo, or of the file */
  objectives: RequestsLoadObjectives[];
  /** completed requests per second that meet all objectives, over the same time as completed_rate; null without
   * objectives */
  goodput: number | null;
  /** lower end of its 95 % interval */
  goodput_low: number | null;
  /** upper end of its 95 % interval */
  goodput_high: number | null;
}

export type RequestsLoadVerdict =
  | "steady"
  | "over_saturated" /* requests arrived faster than they were answered */
  | "short_load" /* too few requests for a verdict */;

export interface RequestsLoadObjectives {
  /** limited time */
  figure: RequestsLoadObjectivesFigure;
  /** largest time that meets the objective (ms) */
  limit_ms: number;
  /** requests that meet it, over completed requests; itl: by the request's mean, its tpot_ms (fraction) */
  attained: number | null;
}

export type RequestsLoadObjectivesFigure =
  | "ttft" /* time to first token: first chunk with tokens minus sent */
  | "itl" /* inter-token latency: gap between chunks with tokens, over the later one's tokens */
  | "tpot" /* time per output token: first to last token, over the tokens after the first */
  | "e2e" /* end-to-end time: end minus sent */;

export interface RequestsJoin {
  /** joined, or why not */
  state: RequestsJoinState;
  /** tokens of completed requests within recorded time */
  tokens: number;
  /** those with the batch that made them */
  tokens_joined: number;
  /** joined tokens that another batch could have made as well */
  tokens_ambiguous: number;
  /** tokens of completed requests outside of recorded time; they have no causes */
  tokens_outside: number;
  /** tokens of requests whose chunks have more than they state; they have no causes */
  tokens_miscounted: number;
  /** tokens that the recorded batches made while requests were sent */
  rows: number;
  /** those with a request */
  rows_joined: number;
  /** those of requests that broke off, of warm-up, or of prompts that continue */
  rows_named: number;
  /** tokens_joined over tokens (fraction) */
  coverage: number | null;
  /** rows_joined and rows_named, over rows (fraction) */
  coverage_of_rows: number | null;
  /** from the results on the host to the client; null unless joined */
  delivery_ms: DeviceTimeLaunchesCallMs | null;
  /** tokens whose batch the engine's own ids or times confirm; null if it gives none */
  confirmed: number | null;
  /** tokens whose batch they contradict */
  contradicted: number | null;
  /** step of one sequence in this capture, the basis of own_decode; null if none ran: own_decode is then estimated
   * from larger steps */
  decode_alone_ms: DeviceTimeLaunchesCallMs | null;
  /** the same as kinds and values */
  reasons: SlowStepRuleReasons[];
}

export type RequestsJoinState =
  | "joined"
  | "no_steps" /* no capture shows an engine's steps */
  | "no_clock" /* the file has no absolute times */
  | "other_clock" /* file and capture are of other hosts or boots */
  | "outside_of_capture" /* no request overlaps the recorded time */
  | "no_token_times" /* the file has no time for each token */
  /* less than 90 % of the tokens, or of the rows, fit the steps, or the engine's own ids or times contradict more
   * than 10 % of the joined ones */
  | "low_coverage";

export interface RequestsTail {
  /** time that is explained */
  figure: RequestsLoadObjectivesFigure;
  /** share of the values at or below above_ms (fraction) */
  quantile: number;
  /** the tail has the values from here on (ms) */
  above_ms: number;
  /** values in the tail with at least 90 % of their time recorded */
  count: number;
  /** values between the 40th and the 60th percentile, with as much recorded */
  around_median: number;
  /** its parts against those around the median, largest difference first */
  parts: RequestsTailParts[];
  /** request that delayed the tail most; null if none */
  most_delayed_by: string | null;
}

export interface RequestsTailParts {
  /** part of the time */
  part: RequestsTailPartsPart;
  /** mean in the tail (ms) */
  tail_ms: number;
  /** mean around the median (ms) */
  median_ms: number;
  /** tail_ms minus median_ms (ms) */
  more_ms: number;
}

export type RequestsTailPartsPart =
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

export interface RequestsDelayers {
  /** id of the request that others waited for */
  by: string;
  /** time that others waited for its prompt, after their first token (ns) */
  ns: number;
  /** the same before their first token (ns) */
  of_first_tokens_ns: number;
  /** requests that waited */
  requests: number;
  /** gaps between tokens that it lengthened */
  gaps: number;
}

export interface RequestsDelays {
  /** id of the request that others waited for */
  by: string;
  /** id of the request that waited */
  of: string;
  /** time that `of` waited for the prompt of `by`, after its first token (ns) */
  ns: number;
  /** the same before its first token (ns) */
  of_first_token_ns: number;
  /** gaps between tokens of `of` that it lengthened */
  gaps: number;
}

export interface RequestsStepsBySize {
  /** sequences that get a token */
  rows: number;
  /** batches of this size without prompts */
  steps: number;
  /** mean tokens in their caches; null if unknown */
  context_tokens: number | null;
  /** time per batch, from the previous results to its own */
  ms: DeviceTimeLaunchesCallMs;
  /** lower bound by the model's weights and caches; null without a model (ms) */
  floor_ms: number | null;
  /** mean time over rows (ms) */
  per_token_ms: number | null;
}

export interface RequestsSlowestGaps {
  /** index in items */
  request: number;
  /** index of the later chunk among its chunks with tokens; 0: the first token */
  chunk: number;
  /** start of the gap, on the capture's clock (ms) */
  start_ms: number;
  /** length of the gap (ns) */
  ns: number;
  /** index in batches of the batch that made the later token */
  batch: number | null;
  /** index in steps of that batch's last pass */
  step: number | null;
  /** parts of the gap; they sum to ns */
  parts_ns: Record<string, number>;
  /** id of the request whose prompt delayed it most; null if none did */
  most_delayed_by: string | null;
}

export interface RequestsItems {
  /** the file's own id, otherwise its index in the file */
  id: string;
  /** how it ended */
  status: RequestsItemsStatus;
  /** sent to warm up; excluded from statistics */
  warm_up: boolean;
  /** when the load wanted to send it, on the capture's clock (if the clocks are unrelated, on the file's); null if
   * not recorded (ms) */
  scheduled_ms: number | null;
  /** when it was sent, on the same clock; null without absolute times (ms) */
  sent_ms: number | null;
  /** from scheduled to sent: the client's own delay (ns) */
  client_delay_ns: number | null;
  /** from sent to its first token; null without a token (ns) */
  ttft_ns: number | null;
  /** from sent to its end; null unless it completed (ns) */
  e2e_ns: number | null;
  /** time from the first to the last token, over the tokens after the first (ms) */
  tpot_ms: number | null;
  /** longest time between two of its chunks with tokens (ns) */
  longest_gap_ns: number | null;
  /** tokens of the prompt */
  prompt_tokens: number | null;
  /** tokens of the answer */
  output_tokens: number | null;
  /** prompt tokens from a prefix cache; null if not recorded */
  cached_tokens: number | null;
  /** tokens with a known batch */
  joined_tokens: number;
  /** times it left the batch before its end */
  preemptions: number;
  /** parts of e2e_ns, which sum to it; empty unless joined */
  parts_ns: Record<string, number>;
  /** parts of ttft_ns, which sum to it; empty unless joined */
  ttft_parts_ns: Record<string, number>;
  /** arrival of each chunk with tokens, after sent */
  token_ns: number[];
  /** index in batches of the batch that made each of these tokens; -1: unknown; empty unless joined */
  token_batches: number[];
  /** chunks after the first whose gap has another largest part than own_decode; empty unless joined */
  waits: RequestsItemsWaits[];
}

export type RequestsItemsStatus =
  | "completed"
  | "failed" /* refused, or answered with an error */
  | "cut" /* broke off after it was sent */
  | "cancelled" /* ended by the client */;

export interface RequestsItemsWaits {
  /** index among the request's chunks with tokens */
  chunk: number;
  /** largest part of the gap before it */
  part: RequestsTailPartsPart;
}

export interface RequestsBatches {
  /** start of its first pass, on the capture's clock (ms) */
  start_ms: number;
  /** end of its last pass's GPU work (ms) */
  end_ms: number;
  /** when the host had read its results (ms) */
  results_ms: number;
  /** index in steps of its first pass */
  first_step: number;
  /** passes */
  steps: number;
  /** sequences that get a token */
  rows: number;
  /** tokens of requests that it made */
  joined: number;
  /** rows without a token of a request: warm-up, or broken off */
  unjoined: number;
  /** prompt tokens that it processed; null if unknown */
  prompt_tokens: number | null;
  /** tokens in the caches of its sequences, by the joined requests; null if unknown */
  context_tokens: number | null;
}

export interface RequestsStated {
  /** the file's own name */
  name: string;
  /** value in the file */
  stated: number;
  /** the same by the tool's own definition, computed again; null if its requests do not have what it needs */
  computed: number | null;
}

export interface RequestsUnrecorded {
  /** file that holds them */
  file: string;
  /** completed requests */
  completed: number;
  /** time to first token */
  ttft_ms: RequestsTtftMs;
  /** inter-token latency */
  itl_ms: RequestsTtftMs;
  /** time per output token */
  tpot_ms: RequestsTtftMs;
  /** end-to-end time */
  e2e_ms: RequestsTtftMs;
  /** how they were sent */
  load: RequestsLoad;
}

export interface RequestsShown {
  /** parts_ns by size, largest first; empty unless joined */
  parts: RequestsShownParts[];
  /** what recording added; empty without an unrecorded load */
  recording: RequestsShownRecording[];
}

export interface RequestsShownParts {
  /** part of the time */
  part: RequestsTailPartsPart;
  /** mean per completed request (ms) */
  ms: number;
  /** its time over that of all parts (fraction) */
  share_of_time: number;
}

export interface RequestsShownRecording {
  /** time that is compared */
  figure: RequestsLoadObjectivesFigure;
  /** p50 of the recorded load over the unrecorded one, minus 1 (fraction) */
  share_of_p50: number | null;
  /** p99 of the recorded load over the unrecorded one, minus 1 (fraction) */
  share_of_p99: number | null;
}

export interface MemoryLedger {
  /** recorded allocations, releases and mappings */
  events: number;
  /** readings of GPU memory by NVML; 0: the ledger rests on events */
  readings: number;
  /** GPUs that recorded processes use */
  gpus: MemoryLedgerGpus[];
  /** moments, by GPU */
  moments: MemoryLedgerMoments[];
  /** what the memory is used for, by moment */
  rows: MemoryLedgerRows[];
  /** what is inside the rows of PyTorch, by a memory snapshot: after loading, and at the peak */
  contents: MemoryLedgerContents[];
  /** what is left, by GPU */
  headroom: MemoryLedgerHeadroom[];
  /** how many more sequences fit, by GPU, format of the KV cache and context; empty without a model or readings */
  room: MemoryLedgerRoom[];
  /** whether larger runs fit, by GPU; empty unless model, batch and context are known, or the KV cache is */
  forecasts: MemoryLedgerForecasts[];
  /** memory that grew from request to request, most first */
  growth: MemoryLedgerGrowth[];
  /** memory over time, by GPU: in each of up to 500 stretches of equal length the reading (without readings: event)
   * with most memory in use, and those of the moments, the first and the last */
  timeline: MemoryLedgerTimeline[];
}

export interface MemoryLedgerGpus {
  /** the GPU */
  device: string;
  /** number of the recorded process */
  process: number;
  /** what its figures rest on */
  evidence: MemoryLedgerGpusEvidence;
  /** the time that is 0 in time_ms of its moments and points: its first reading after the program began to use it
   * (without readings its first event), on the clock of stages.instances.start_ns (ns) */
  start_ns: number;
  /** the GPU's memory; null without readings (B) */
  total_bytes: number | null;
}

export type MemoryLedgerGpusEvidence =
  | "readings" /* readings of NVML, to whose sum the rows add up */
  | "events" /* recorded allocations alone: what else is used, and what is left of the GPU, is unknown */;

export interface MemoryLedgerMoments {
  /** index in gpus */
  gpu: number;
  /** the GPU */
  device: string;
  /** which moment */
  kind: MemoryLedgerMomentsKind;
  /** the stage of a stage_peak or steady_decode; null otherwise */
  stage: string | null;
  /** time since start_ns of this GPU (ms) */
  time_ms: number;
  /** the GPU's memory; null without readings (B) */
  total_bytes: number | null;
  /** what is used or reserved, according to NVML: the sum of the moment's rows, exactly; null without readings (B) */
  used_bytes: number | null;
  /** used_bytes over total_bytes; null without readings (fraction) */
  used_share: number | null;
  /** what NVML attributes to the recorded process; null if it does not say (B) */
  own_bytes: number | null;
  /** what recorded allocations hold, pools with all their memory: without readings the sum of the moment's rows (B) */
  recorded_bytes: number;
  /** whether the rest is below 8 MiB, or below 1 % of used_bytes, in either direction; null without readings: there
   * is no rest to judge */
  closes: boolean | null;
}

export type MemoryLedgerMomentsKind =
  | "after_load" /* the last reading before the first stage, without readings its start */
  | "stage_peak" /* the time in a stage with most memory in use */
  | "steady_decode" /* the middle of the longest decode */
  | "peak" /* the time with most memory in use */
  | "end" /* the last reading, without readings the last event */;

export interface MemoryLedgerRows {
  /** index in moments */
  moment: number;
  /** what the memory is used for */
  part: MemoryLedgerRowsPart;
  /** the library that allocated it; empty if unknown, or if none did */
  owner: string;
  /** bytes, without rounding by the driver (B) */
  bytes: number;
  /** bytes over the moment's used_bytes, without readings over recorded_bytes (fraction) */
  share: number | null;
  /** recorded allocations among them */
  allocations: number;
  /** how it is known */
  basis: MemoryLedgerRowsBasis;
  /** what the engine says of this part in its log (memory_statements); null if nothing (B) */
  stated_bytes: number | null;
}

export type MemoryLedgerRowsPart =
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

export type MemoryLedgerRowsBasis =
  | "reading" /* read from NVML */
  | "recorded" /* sum of recorded allocations that were not released */
  | "addresses" /* pages of 2 MiB that recorded allocations touch, without their own bytes */
  | "stated" /* stated by the driver (pools) or CUPTI (its buffers) */
  | "model_size" /* recorded, and of the size that follows from the model's configuration */
  | "difference" /* growth between readings that no recorded allocation explains */
  | "remainder" /* what is used minus all other rows */;

export interface MemoryLedgerContents {
  /** index in moments */
  moment: number;
  /** index in memory.snapshots; it may be of another recording */
  snapshot: number;
  /** what the memory is used for */
  content: MemoryLedgerContentsContent;
  /** how it is known */
  basis: MemoryLedgerContentsBasis;
  /** bytes; those of a moment sum to its rows framework (of PyTorch) and vmm, exactly (B) */
  bytes: number;
  /** bytes over these rows' bytes (fraction) */
  share: number | null;
}

export type MemoryLedgerContentsContent =
  | "weights" /* the model's weights, and its buffers */
  | "kv_cache" /* the KV cache */
  | "activations" /* other memory that forward passes allocate */
  | "graph_pool" /* private pools (CUDA graphs, torch.cuda.MemPool), without weights and KV cache in them */
  | "workspace" /* workspaces of libraries, allocated through PyTorch */
  | "other" /* allocations that nothing of this names */
  | "rounding" /* active bytes beyond the requested ones, outside of private pools */
  | "unused" /* free memory of the allocator outside of private pools */
  | "difference" /* what the ledger's rows hold beyond the snapshot's recording; negative if they hold less */;

export type MemoryLedgerContentsBasis =
  | "stack_and_size" /* the code that allocated it, and a size of the model's configuration */
  | "stack" /* the code that allocated it */
  | "model_size" /* sizes of the model's configuration: blocks of all its tensors, or one cache for each layer */
  /* the size of a library's workspace: the only such block of its stream, allocated in a forward pass and still in
   * use at the snapshot */
  | "workspace_size"
  | "pool" /* the pool that it is in */
  | "allocator" /* stated by the allocator */
  | "remainder" /* what remains */;

export interface MemoryLedgerHeadroom {
  /** the GPU */
  device: string;
  /** free memory of the GPU at the peak; null without readings (B) */
  free_bytes: number | null;
  /** what the KV cache takes for one token of one sequence; null without a model (B) */
  bytes_per_token: number | null;
  /** tokens whose KV cache fits into free_bytes; null without a model, or without readings */
  tokens_left: number | null;
  /** tokens_left with a KV cache in bf16 */
  tokens_left_bf16: number | null;
  /** tokens_left with a KV cache in fp8 */
  tokens_left_fp8: number | null;
  /** tokens that fit into the kv_cache of the peak; null if no allocation is known as such */
  cache_tokens: number | null;
  /** most tokens that requests had in the cache at a time, prefixes that they share counted for each; null if not
   * known */
  cache_used_tokens: number | null;
  /** cache_used_tokens over cache_tokens (fraction) */
  cache_used_share: number | null;
  /** allocations of the size of all the model's weights at the peak; null without a model */
  weight_sets: number | null;
  /** requests over which growth was followed: instances of prefill after warm-up; 0 if fewer than 20 */
  requests: number;
}

export interface MemoryLedgerRoom {
  /** the GPU */
  device: string;
  /** format of the KV cache */
  kv_cache: MemoryLedgerRoomKvCache;
  /** tokens of each sequence */
  context: number;
  /** KV cache of one sequence; layers with a window hold at most its tokens (B) */
  per_sequence_bytes: number;
  /** sequences beyond those of the peak whose KV cache fits into free_bytes */
  sequences: number;
}

export type MemoryLedgerRoomKvCache =
  | "bf16" /* 2 bytes per value */
  | "fp8" /* 1 byte per value */;

export interface MemoryLedgerForecasts {
  /** the GPU */
  device: string;
  /** what would change */
  change: MemoryLedgerForecastsChange;
  /** what the forecast rests on */
  basis: MemoryLedgerForecastsBasis;
  /** KV cache that it adds, in the format of the run (larger tensors of a pass are not counted); of largest_request
   * what it asks for (B) */
  more_bytes: number;
  /** free memory of the GPU at the peak; for largest_request the largest piece: this, or the largest free block of
   * PyTorch at the snapshot (B) */
  free_bytes: number;
  /** whether more_bytes is at most free_bytes */
  fits: boolean;
}

export type MemoryLedgerForecastsChange =
  | "next_sequence" /* one more sequence of the same length */
  | "double_batch" /* twice as many sequences */
  | "double_context" /* sequences twice as long */
  | "largest_request" /* PyTorch's largest allocation once more, in one piece */;

export type MemoryLedgerForecastsBasis =
  | "static" /* sizes alone: the KV cache that the change adds, and what is free */
  | "fragmentation" /* free blocks of a memory snapshot, and what is free on the GPU */;

export interface MemoryLedgerGrowth {
  /** the GPU */
  device: string;
  /** what the memory is used for */
  part: MemoryLedgerRowsPart;
  /** the library that allocated it; empty if unknown */
  owner: string;
  /** requests after which more was allocated than before */
  increases: number;
  /** growth from the first to the last of these requests (B) */
  grown_bytes: number;
  /** growth per request: the median slope of all pairs of requests (B) */
  per_request_bytes: number;
  /** lower end of its 95 % interval (B) */
  per_request_lower_bytes: number;
  /** upper end of its 95 % interval (B) */
  per_request_upper_bytes: number;
  /** whether it grew at least five times, also in the last third of the requests, and the interval excludes 0 */
  leak: boolean;
  /** requests until the memory that is free at the peak is used up, at per_request_bytes; null if it is no leak, or
   * without readings */
  requests_left: number | null;
}

export interface MemoryLedgerTimeline {
  /** index in gpus */
  gpu: number;
  /** time since the GPU's start_ns (ms) */
  time_ms: number;
  /** what is used or reserved, according to NVML; null without readings (B) */
  used_bytes: number | null;
  /** what it is used for; the values sum to used_bytes, exactly, and parts without bytes are left out */
  parts_bytes: Record<string, number>;
}

export interface MemoryStatements {
  /** the log */
  file: string;
  /** the engine whose lines these are */
  engine: string;
  /** what the memory is used for */
  part: MemoryStatementsPart;
  /** the GPU; null if the lines do not name one */
  device: string | null;
  /** what the engine says; the sum if it says it of several buffers; null if it says tokens only (B) */
  stated_bytes: number | null;
  /** the last digit of what it says, summed over lines (B) */
  resolution_bytes: number | null;
  /** tokens that fit into its KV cache; null if not stated */
  tokens: number | null;
  /** lines of the log that say so */
  lines: number;
  /** what the rows of that part hold at the GPU's peak; null if there are none (B) */
  recorded_bytes: number | null;
  /** stated_bytes (or tokens times the KV cache per token) less recorded_bytes (B) */
  difference_bytes: number | null;
}

export type MemoryStatementsPart =
  | "weights" /* the model's weights */
  | "kv_cache" /* the KV cache */
  | "compute" /* buffers for the results of operators */
  | "graphs" /* CUDA graphs */;

export interface Memory {
  /** what states PyTorch's memory: memory snapshots, and traces with memory events */
  snapshots: MemorySnapshots[];
  /** GPUs with memory of PyTorch, by snapshot or trace */
  devices: MemoryDevices[];
  /** what the memory that PyTorch holds is used for, by GPU */
  contents: MemoryContents[];
  /** the model's memory by its configuration, by GPU; empty without a model */
  models: MemoryModels[];
  /** pools of the allocator by GPU and stream, most reserved bytes first */
  pools: MemoryPools[];
  /** call stacks (in a trace: operators) that hold most memory: of each GPU the first 20 at its peak, and the first
   * 20 at the snapshot or the trace's end */
  stacks: MemoryStacks[];
  /** allocations that failed */
  out_of_memory: MemoryOutOfMemory[];
  /** times that the program named, by start */
  annotations: MemoryAnnotations[];
  /** memory over time, up to 2,000 events per GPU: in each stretch of events, those at which active and reserved
   * bytes are highest */
  timeline: MemoryTimeline[];
}

export interface MemorySnapshots {
  /** what it is */
  source: MemorySnapshotsSource;
  /** path of the snapshot, or of the trace */
  file: string;
  /** allocator events that it contains, all devices together */
  events: number;
  /** the time that is 0 in time_ms of a trace: its first event of a GPU, on the clock of stages.instances.start_ns;
   * null for a snapshot, whose clock is its own (ns) */
  start_ns: number | null;
  /** whether its list of events was full, so that the first events are missing; null if not stated */
  events_lost: boolean | null;
  /** settings of the allocator */
  settings: MemorySnapshotsSettings[];
}

export type MemorySnapshotsSource =
  | "snapshot" /* a memory snapshot: segments, blocks, and the events before it */
  | "trace" /* [memory] events of a PyTorch trace (profile_memory=True) */;

export interface MemorySnapshotsSettings {
  /** name of the setting */
  name: string;
  /** its value, as the snapshot states it */
  value: string;
}

export interface MemoryDevices {
  /** index in snapshots */
  snapshot: number;
  /** where these figures come from. A trace states neither blocks nor segments: what needs them is null */
  source: MemorySnapshotsSource;
  /** the GPU, as PyTorch numbers it */
  device: string;
  /** bytes that the allocator holds from the driver, at the snapshot or a trace's last event (so are all figures
   * but those of events and peaks) (B) */
  reserved_bytes: number;
  /** bytes of blocks in use (B) */
  allocated_bytes: number;
  /** allocated_bytes and awaiting_free_bytes: bytes that cannot be allocated again; null in a trace (B) */
  active_bytes: number | null;
  /** what the program asked for of the active bytes; null in a trace (B) */
  requested_bytes: number | null;
  /** bytes that were freed but that a stream may still use; null in a trace (B) */
  awaiting_free_bytes: number | null;
  /** active bytes beyond the requested ones: internal fragmentation; null in a trace (B) */
  rounding_bytes: number | null;
  /** reserved bytes that are not active; null in a trace (B) */
  inactive_bytes: number | null;
  /** inactive_bytes over reserved_bytes; null in a trace (fraction) */
  inactive_share: number | null;
  /** reserved bytes of private pools (CUDA graphs, torch.cuda.MemPool), which only these use; null in a trace (B) */
  private_pools_bytes: number | null;
  /** reserved bytes in expandable segments; null in a trace (B) */
  expandable_bytes: number | null;
  /** largest contiguous free block; null without one (B) */
  largest_free_block_bytes: number | null;
  /** largest allocation among the events and the active blocks; null without one (B) */
  largest_request_bytes: number | null;
  /** segments that the allocator holds from the driver; null in a trace */
  segments: number | null;
  /** blocks of these segments; null in a trace */
  blocks: number | null;
  /** blocks that are free; null in a trace */
  free_blocks: number | null;
  /** events of this GPU */
  events: number;
  /** allocations among the events */
  allocations: number;
  /** allocations that became free during the events */
  frees: number;
  /** allocations that were made before the first event: freed, or still active, without an event that made them; in
   * a trace only those that were freed */
  existed_before: number;
  /** events that contradict others or the snapshot: an address that is allocated or freed twice, an allocation that
   * is missing in the snapshot, a total of a trace that does not follow from the one before */
  contradicting_events: number;
  /** the size that events state */
  event_size: MemoryDevicesEventSize;
  /** when active bytes (in a trace: allocated bytes) were highest; null without events */
  peak: MemoryDevicesPeak | null;
  /** when reserved bytes were highest; null without events */
  reserved_peak: MemoryDevicesPeak | null;
}

export type MemoryDevicesEventSize =
  | "requested" /* what the program asked for */
  | "rounded" /* what the block takes, with rounding */
  | "unknown" /* no block shows both sizes: read as requested */;

export interface MemoryDevicesPeak {
  /** time after the source's first event; null if not recorded (ms) */
  time_ms: number | null;
  /** index of the event after which it was so, among the device's events */
  event: number | null;
  /** bytes of allocations that were not yet free, in the size that events state (event_size); null in a trace,
   * which does not say when another stream is done (B) */
  active_bytes: number | null;
  /** active_bytes without allocations that only wait for another stream to be free (B) */
  allocated_bytes: number;
  /** bytes that the allocator held from the driver (B) */
  reserved_bytes: number;
  /** allocations that were not yet free; in a trace only those that it recorded */
  allocations: number;
}

export interface MemoryContents {
  /** index in snapshots */
  snapshot: number;
  /** the GPU, as PyTorch numbers it */
  device: string;
  /** what the memory is used for */
  content: MemoryLedgerContentsContent;
  /** how it is known */
  basis: MemoryLedgerContentsBasis;
  /** bytes at the snapshot; the rows of a GPU sum to what the allocator holds, exactly (B) */
  now_bytes: number;
  /** blocks at the snapshot */
  blocks_now: number;
  /** bytes just before the first forward pass, which sum to what the allocator held then; unused contains the
   * rounding if events state requested sizes, and is null if the snapshot lacks events of segments; null if no
   * event shows a forward pass (B) */
  after_load_bytes: number | null;
  /** the same when active bytes were highest since the first forward pass (B) */
  in_passes_bytes: number | null;
  /** the same when active bytes were highest, which may be while loading; null without events (B) */
  at_peak_bytes: number | null;
  /** allocations when active bytes were highest; null without events */
  allocations_at_peak: number | null;
}

export interface MemoryModels {
  /** index in snapshots */
  snapshot: number;
  /** the GPU, as PyTorch numbers it */
  device: string;
  /** what the model's weights take, by its configuration (B) */
  weights_bytes: number;
  /** what contents show as weights at the snapshot; null if none (B) */
  found_weights_bytes: number | null;
  /** complete sets of the model's tensors among the weights at the snapshot, by their sizes, tensors below 1 MiB
   * excepted; 0 if their sizes differ (fused or split tensors) */
  weight_sets: number;
  /** what the KV cache takes for one token of one sequence (B) */
  bytes_per_token: number;
  /** tokens that fit into kv_cache at the snapshot */
  cache_tokens: number;
  /** tokens that fit into kv_cache when active bytes were highest since the first forward pass; null if no event
   * shows one */
  cache_tokens_in_passes: number | null;
}

export interface MemoryPools {
  /** index in snapshots */
  snapshot: number;
  /** the GPU, as PyTorch numbers it */
  device: string;
  /** PyTorch's id of the pool: "0,0" is the default one */
  pool: string;
  /** whether only CUDA graphs, or one torch.cuda.MemPool, allocate there */
  is_private: boolean;
  /** the CUDA stream whose segments these are, as PyTorch numbers it: "0" is the default one */
  stream: string;
  /** bytes that the allocator holds from the driver (B) */
  reserved_bytes: number;
  /** bytes of blocks in use (B) */
  allocated_bytes: number;
  /** bytes that cannot be allocated again (B) */
  active_bytes: number;
  /** what the program asked for of the active bytes (B) */
  requested_bytes: number;
  /** reserved bytes that are not active (B) */
  inactive_bytes: number;
  /** largest contiguous free block; null without one (B) */
  largest_free_block_bytes: number | null;
  /** number of segments */
  segments: number;
}

export interface MemoryStacks {
  /** index in snapshots */
  snapshot: number;
  /** the GPU, as PyTorch numbers it */
  device: string;
  /** what is known of who made these allocations */
  made: MemoryStacksMade;
  /** innermost line of Python code outside PyTorch, otherwise innermost line; in a trace the innermost operator,
   * otherwise range; empty if unknown */
  place: string;
  /** the stack, innermost first: function (file:line), up to 24 lines; in a trace the open operators, then the
   * innermost annotation */
  frames: string[];
  /** requested bytes of its active blocks at the snapshot; in a trace, bytes of its allocations after the last
   * event (B) */
  now_bytes: number;
  /** its active blocks at the snapshot, or its allocations after a trace's last event; null for those of
   * before_trace */
  blocks_now: number | null;
  /** bytes of its allocations at the peak of the GPU, in the size that events state; null without events (B) */
  at_peak_bytes: number | null;
  /** its allocations at that moment; null without events, and for those of before_trace */
  allocations_at_peak: number | null;
}

export type MemoryStacksMade =
  | "call_stack" /* the call stack of a snapshot; without frames if it was not recorded */
  | "operators" /* operators and ranges that were open on the thread, by a trace */
  | "no_operator" /* made while neither an operator nor a range was open on the thread */
  | "before_trace" /* made before a trace's first event: what it held beyond recorded allocations */;

export interface MemoryOutOfMemory {
  /** index in snapshots */
  snapshot: number;
  /** the GPU, as PyTorch numbers it */
  device: string;
  /** index of the event, among the device's events */
  event: number;
  /** time after the snapshot's first event; null if not recorded (ms) */
  time_ms: number | null;
  /** why the request did not fit */
  cause: MemoryOutOfMemoryCause;
  /** what was asked for (B) */
  requested_bytes: number;
  /** what the driver had free on the GPU (B) */
  device_free_bytes: number;
  /** PyTorch's id of the request's pool; "0,0" if not stated */
  pool: string;
  /** the request's CUDA stream, as PyTorch numbers it */
  stream: string;
  /** bytes of allocations that were not yet free, rounded up to 512 bytes each (B) */
  active_bytes: number;
  /** bytes that the allocator held from the driver (B) */
  reserved_bytes: number;
  /** free bytes in segments that the request could use: same pool, stream and size class (B) */
  free_same_bytes: number;
  /** largest contiguous part of these (B) */
  largest_free_same_bytes: number;
  /** free bytes in all other segments (B) */
  free_other_bytes: number;
  /** what must become free for the request to fit without moving anything: the request less the larger of
   * device_free_bytes and largest_free_same_bytes; null if it fits (B) */
  missing_bytes: number | null;
  /** whether expandable segments were in use */
  expandable: boolean;
  /** the program's line that asked */
  place: string;
}

export type MemoryOutOfMemoryCause =
  | "size" /* all that was free, on the device and in the allocator, is less than the request */
  | "fragmentation" /* what was free for such a request suffices together, but no contiguous part does */
  /* what was free suffices only with the free memory of other pools, streams and size classes, which the request
   * could not use */
  | "other_pools"
  | "not_known" /* by these figures the request fits: a limit that the snapshot does not state */;

export interface MemoryAnnotations {
  /** index in snapshots */
  snapshot: number;
  /** the program's name for this time */
  name: string;
  /** start, after the snapshot's first event; null if it has none (ms) */
  start_ms: number | null;
  /** end, after the snapshot's first event; null if it has none (ms) */
  end_ms: number | null;
}

export interface MemoryTimeline {
  /** index in snapshots */
  snapshot: number;
  /** the GPU, as PyTorch numbers it */
  device: string;
  /** index of the event after which it was so, among the device's events; null: before the first */
  event: number | null;
  /** time after the source's first event; null if not recorded (ms) */
  time_ms: number | null;
  /** bytes of allocations that were not yet free, in the size that events state; null in a trace (B) */
  active_bytes: number | null;
  /** active_bytes without allocations that only wait for another stream to be free (B) */
  allocated_bytes: number;
  /** bytes that the allocator held from the driver (B) */
  reserved_bytes: number;
}

export interface Stages {
  /** prefill, decode, mixed, or a configured one; unique, and so the stage's key */
  name: string;
  /** how it was found */
  source: StagesSource;
  /** label of the range, or how the stage was detected */
  evidence: string | null;
  /** the kind of evidence; empty if not detected */
  evidence_reasons: SlowStepRuleReasons[];
  /** all instances, by start */
  instances: StagesInstances[];
  /** number of instances */
  instance_count: number;
  /** instances excluded from statistics (warm-up or cut off) */
  warmup_count: number;
  /** traced steps in measured instances */
  step_count: number;
  /** its wall time over the sum of all stages (fraction) */
  share_of_stage_time: number;
  /** wall time per instance */
  wall_ms: DeviceTimeLaunchesCallMs;
  /** kernel time per instance */
  gpu_sum_ms: DeviceTimeLaunchesCallMs;
  /** GPU busy time per instance */
  gpu_busy_ms: DeviceTimeLaunchesCallMs;
  /** GPU busy time over traced wall time (fraction) */
  gpu_busy_share_of_wall: number | null;
  /** mean idle time per instance: the budget's idle parts (ms) */
  idle_ms: number | null;
  /** idle time over traced wall time (fraction) */
  idle_share_of_wall: number | null;
  /** kernels per instance */
  kernel_count: DeviceTimeLaunchesQueueDepth;
  /** wall time per step, of steps whose wall time is known */
  step_wall_ms: DeviceTimeLaunchesCallMs | null;
  /** traced steps that give a token to each sequence */
  decode_step_count: number;
  /** mean wall time per decode step, traced or not (ms) */
  wall_ms_per_step: number | null;
  /** FLOPs the model needs on one GPU per instance; without a model, FLOPs that CPU operators recorded (FLOP) */
  flops: number | null;
  /** bytes the model moves on one GPU per instance; without a model, bytes that CPU operators recorded (B) */
  bytes: number | null;
  /** FLOPs over what the dense peak could compute in that time; for a CPU, over its measured peak, which it may
   * exceed by up to a tenth */
  mfu: StagesMfu;
  /** bytes over what the peak bandwidth could move in that time */
  mbu: StagesMfu;
  /** why MFU and MBU are missing */
  why_not: string | null;
  /** passes that flops and bytes are computed for */
  basis: string | null;
  /** FLOPs and bytes, by part of the model */
  cost: StagesCost[];
  /** peak for MFU (FLOP/s) */
  peak_flops_per_s: number | null;
  /** name of that peak: "bf16 dense" */
  peak_name: string | null;
  /** peak for MBU (B/s) */
  peak_bandwidth_bytes_per_s: number | null;
  /** true if flops and bytes are what CPU operators recorded */
  from_operators: boolean;
  /** what CPU operators recorded, in addition to the model's cost; otherwise null */
  recorded: StagesRecorded | null;
  /** lower bound per instance: the longer of FLOPs and bytes at peak (ms) */
  floor_ms: number | null;
  /** mean wall time over the floor */
  wall_over_floor: number | null;
  /** true if bytes set the floor */
  memory_bound: boolean | null;
  /** the model's arithmetic intensity (FLOP/B) */
  flops_per_byte: number | null;
  /** the GPU's ridge point (FLOP/B) */
  ridge_flops_per_byte: number | null;
  /** traced steps; null if all were. Kernel times and counts, busy times and layers then cover traced steps only,
   * wall times and tokens all steps */
  tracing: StagesTracing | null;
  /** what the GPU's counters and sensors measured; otherwise null */
  measured: StagesMeasured | null;
  /** parts of the wall time, largest first, without parts of 0; null if unknown */
  budget: StagesBudget[] | null;
  /** times without profiling, which reports show first; null if unknown. wall_ms, instances and budget stay as
   * recorded */
  unwatched: StagesUnwatched | null;
  /** why unwatched is null */
  unwatched_why_not: StagesUnwatchedWhyNot | null;
  /** estimate of earlier versions for what tracing added per instance; now always null */
  likely_added: StagesLikelyAdded | null;
  /** assessment of the shown figures */
  judgement: StagesJudgement;
  /** why_not as kinds and values */
  why_not_reasons: SlowStepRuleReasons[];
  /** basis as kinds and values */
  basis_reasons: SlowStepRuleReasons[];
  /** mean wall time including warm-up instances in which a CUDA graph is captured; null without any (ms) */
  wall_ms_with_graph_captures: number | null;
  /** true if only the program's first one or two instances were recorded, and later ones may have run untraced:
   * these are cold-start times */
  only_the_first: boolean;
  /** figures that reports and the page show */
  shown: StagesShown;
}

export type StagesSource =
  | "nvtx" /* NVTX ranges that the program set */
  | "annotation" /* ranges of our own log, an engine's or PyTorch's annotations */
  | "detected" /* the kernel sequence, without annotations */
  | "captured" /* for layers only: ranges that were open when the CUDA graph was captured */;

export interface StagesInstances {
  /** start, on the capture's clock (ms) */
  start_ms: number;
  /** start_ms, exact (ns) */
  start_ns: number;
  /** from start to the later of its range's end and its last GPU work (ms) */
  wall_ms: number;
  /** duration of its range (ms) */
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
  /** traced steps */
  steps: number;
  /** steps that the collector did not trace */
  untraced_steps: number;
  /** true if excluded from all statistics */
  warmup: boolean;
  /** device that it ran on; null without GPU work */
  device: string | null;
  /** time by part of the budget, without parts of 0; they sum to the wall time */
  budget_ns: Record<string, number> | null;
  /** time of its kernels by class, overlap not removed; they sum to gpu_sum_ms */
  classes_ns: Record<string, number>;
  /** heat, power or hardware lowered the GPU's clocks, according to a reading within the instance or less than a
   * second before; null without a reading */
  clocks_lowered: boolean | null;
  /** its range had not ended when recording did */
  cut_off: boolean;
  /** why it is excluded; null unless warmup is true */
  warmup_reason: StagesInstancesWarmupReason | null;
  /** true for a warm-up in which a CUDA graph is captured; the program's own clock may count it */
  captures_graph: boolean;
}

export type StagesInstancesWarmupReason =
  | "told" /* the program marks it as warm-up */
  | "fewer_steps" /* fewer steps than later instances */
  | "longer" /* longer than later instances */
  | "leading_steps" /* a few slow steps before a decode */
  | "before_pause" /* an engine's slower steps before a long pause */
  | "first_of_kind" /* much slower than later steps with as much GPU work */
  | "cut_off" /* only a part of it was recorded */;

export interface StagesMfu {
  /** on wall time (fraction) */
  wall: number | null;
  /** on the time the GPU was busy, in traced steps (fraction) */
  gpu_busy: number | null;
}

export interface StagesCost {
  /** part of the model */
  part: string;
  /** FLOPs per instance (FLOP) */
  flops: number;
  /** bytes of weights read per instance (B) */
  weight_bytes: number;
  /** bytes of KV cache read and written per instance (B) */
  kv_bytes: number;
  /** weight_bytes plus kv_bytes (B) */
  bytes: number;
}

export interface StagesRecorded {
  /** FLOPs that CPU operators recorded, per instance (FLOP) */
  flops: number;
  /** bytes that CPU operators recorded, per instance (B) */
  bytes: number;
  /** recorded FLOPs over the model's (fraction) */
  flops_over_model: number | null;
  /** MFU by the recorded FLOPs */
  mfu: StagesMfu;
  /** MBU by the recorded bytes */
  mbu: StagesMfu;
}

export interface StagesTracing {
  /** steps that the collector traced */
  steps_traced: number;
  /** all steps */
  steps_all: number;
  /** steps_traced over steps_all; null if the stage has no steps (fraction) */
  share_of_steps: number | null;
  /** mean untraced time per instance (ms) */
  not_traced_ms: number | null;
}

export interface StagesMeasured {
  /** measured instances */
  instances: number;
  /** instances with samples for at least 95 % of their wall time. If there are none: instances with samples for at
   * least half of it, or for a tenth that lasts at least 2 s, because counters pause between rounds of requests.
   * Bytes, MBU and activity refer to these instances; if there are none, activity refers to all samples */
  sampled_instances: number;
  /** share of the sampled instances' wall time with samples of DRAM bytes (without those, of SM activity)
   * (fraction) */
  coverage_share_of_wall: number | null;
  /** mean bytes read per sampled instance; divided by the covered share if samples cover only a part (B) */
  dram_read_bytes: number | null;
  /** mean bytes written per sampled instance, scaled like dram_read_bytes (B) */
  dram_write_bytes: number | null;
  /** bytes read and written (B) */
  dram_bytes: number | null;
  /** bytes read and written per sampled step, traced or not (B) */
  dram_bytes_per_step: number | null;
  /** bytes read per sampled step (B) */
  dram_read_bytes_per_step: number | null;
  /** bytes written per sampled step (B) */
  dram_write_bytes_per_step: number | null;
  /** bytes read over sampled_tokens (B) */
  dram_read_bytes_per_token: number | null;
  /** bytes written over sampled_tokens (B) */
  dram_write_bytes_per_token: number | null;
  /** dram_bytes over the stage's bytes, which the model needs for as many steps (fraction) */
  bytes_over_model: number | null;
  /** measured bytes over what peak_bandwidth_bytes_per_s could move in that time */
  mbu: StagesMfu;
  /** peak memory bandwidth of the GPU (B/s) */
  peak_bandwidth_bytes_per_s: number | null;
  /** SM activity, mean over wall time (fraction) */
  sm_active_share: number | null;
  /** tensor-core activity, mean over wall time (fraction) */
  tensor_active_share: number | null;
  /** mean number of steps per instance */
  steps: number | null;
  /** mean number of tokens per instance: generated ones for decode, prompt tokens for prefill */
  tokens: number | null;
  /** mean number of steps per sampled instance */
  sampled_steps: number | null;
  /** mean number of tokens per sampled instance */
  sampled_tokens: number | null;
  /** energy of the whole GPU per instance: wall time times the mean power, over intervals between readings of which
   * at least three quarters are in the stage (J) */
  energy_j: number | null;
  /** energy_j over tokens (J) */
  energy_per_token_j: number | null;
  /** source of energy_j */
  energy_source: StagesMeasuredEnergySource | null;
  /** why energy_j is missing */
  energy_why_not: string | null;
  /** clock of the SMs */
  sm_clock_hz: StagesMeasuredSmClockHz | null;
  /** highest SM clock of the GPU (Hz) */
  highest_sm_clock_hz: number | null;
  /** clock of the memory */
  memory_clock_hz: StagesMeasuredSmClockHz | null;
  /** power of the whole GPU */
  power_w: StagesMeasuredPowerW | null;
  /** temperature of the GPU */
  temperature_c: StagesMeasuredTemperatureC | null;
  /** reasons for lower clocks, most frequent first */
  throttle_reasons: StagesMeasuredThrottleReasons[];
  /** why a figure is missing */
  why_not: string | null;
  /** samples of throttle_reasons; if 0, no reason is known */
  throttle_samples: number;
  /** why_not as kinds and values */
  why_not_reasons: SlowStepRuleReasons[];
  /** energy_why_not as kinds and values */
  energy_why_not_reasons: SlowStepRuleReasons[];
}

export type StagesMeasuredEnergySource =
  | "energy counter"
  | "power over time";

export interface StagesMeasuredSmClockHz {
  /** mean of the samples read within instances (Hz) */
  mean: number;
  /** smallest value (Hz) */
  min: number;
  /** largest value (Hz) */
  max: number;
  /** number of samples */
  samples: number;
}

export interface StagesMeasuredPowerW {
  /** mean of the samples read within instances (W) */
  mean: number;
  /** smallest value (W) */
  min: number;
  /** largest value (W) */
  max: number;
  /** number of samples */
  samples: number;
}

export interface StagesMeasuredTemperatureC {
  /** mean of the samples read within instances (°C) */
  mean: number;
  /** smallest value (°C) */
  min: number;
  /** largest value (°C) */
  max: number;
  /** number of samples */
  samples: number;
}

export interface StagesMeasuredThrottleReasons {
  /** why clocks are lower, by NVML */
  reason: StagesMeasuredThrottleReasonsReason;
  /** heat, power or hardware lowered the clocks */
  slowing: boolean;
  /** share of samples with this reason (fraction) */
  share_of_samples: number;
}

export type StagesMeasuredThrottleReasonsReason =
  | "GPU idle"
  | "application clocks setting"
  | "power cap"
  | "hardware slowdown"
  | "sync boost"
  | "thermal slowdown (software)"
  | "thermal slowdown (hardware)"
  | "power brake (hardware)"
  | "display clock setting"
  | "other reasons" /* all that this version does not know */;

export interface StagesBudget {
  /** a kernel class, idle time by its cause, or the rest */
  part: DeviceTimeIdleCausesCause;
  /** mean time per instance; the parts sum to wall_ms.mean (ms) */
  ms: number;
  /** share of wall time (fraction) */
  share: number;
  /** share of traced wall time; 0 for the untraced part itself (fraction) */
  share_of_traced: number;
  /** time per traced decode step; null for the untraced part (ms) */
  ms_per_step: number | null;
  /** time over all instances, exact (ns) */
  total_ns: number;
  /** the GPU does no work in this part */
  idle: boolean;
}

export interface StagesUnwatched {
  /** how these times were obtained */
  source: StagesUnwatchedSource;
  /** mean wall time per instance (ms) */
  wall_ms: number;
  /** mean wall time per decode step (ms) */
  wall_ms_per_step: number | null;
  /** mean recorded wall time minus wall_ms (ms) */
  added_by_tracing_ms: number;
  /** added_by_tracing_ms over wall_ms (fraction) */
  added_by_tracing_share: number;
  /** mean recorded GPU busy time per instance (ms) */
  gpu_busy_ms: number;
  /** wall_ms minus gpu_busy_ms (ms) */
  idle_ms: number;
  /** idle_ms over wall_ms (fraction) */
  idle_share_of_wall: number;
  /** traced busy time exceeds the untraced wall time: its parts are scaled down to wall_ms */
  busy_scaled: boolean;
  /** forward passes that wall_ms is measured on; 0 for the workload's own clock */
  passes_timed: number;
  /** instances that wall_ms is measured on; 0 if it is the mean pass times the passes per instance */
  instances_timed: number;
  /** steps that busy times are measured on */
  steps_recorded: number;
  /** recognized steps of the run, recorded or not */
  steps_all: number;
  /** parts of wall_ms, largest first, without parts of 0: busy parts as recorded, idle parts scaled to idle_ms */
  budget: StagesUnwatchedBudget[];
}

export type StagesUnwatchedSource =
  | "workload_clock" /* the workload timed the stage in the control run */
  | "between_windows" /* untraced periods of the recorded run */
  | "control_launches" /* the same launches in the control run */;

export interface StagesUnwatchedBudget {
  /** as in budget */
  part: DeviceTimeIdleCausesCause;
  /** mean time per instance; the parts sum to wall_ms (ms) */
  ms: number;
  /** share of wall_ms (fraction) */
  share: number;
  /** time per decode step (ms) */
  ms_per_step: number | null;
  /** the GPU does no work in this part */
  idle: boolean;
}

export type StagesUnwatchedWhyNot =
  /* the program records its operators itself, so its times include no tracing overhead; stage1 has the times of
   * the control run */
  | "cpu_operators"
  | "does_not_fit" /* the time that was found belongs to other work */
  | "launches_differ" /* no pass was found in any untraced run or period */
  | "no_other_time" /* no untraced run was timed */
  | "selection" /* only some steps were selected, but untraced times cover all steps */
  | "warmup_only" /* every instance is warm-up */;

export interface StagesLikelyAdded {
  /** mean number of kernels per instance */
  kernels: number;
  /** kernels replayed from CUDA graphs */
  graph_kernels: number;
  /** lower estimate per instance (ms) */
  low_ms: number;
  /** upper estimate per instance, at most the idle time (ms) */
  high_ms: number;
}

export interface StagesJudgement {
  /** rating of idle_share_of_wall; null without a budget */
  idle: StagesJudgementIdle | null;
  /** the idle parts together are longer than the largest part that is work */
  mostly_idle: boolean;
  /** more than half of the idle time is caused by the host */
  waits_for_host: boolean;
  /** utilization of the peak that bounds the stage, on wall time; null if MFU or MBU is missing */
  limit: StagesJudgementLimit | null;
}

export type StagesJudgementIdle =
  | "little" /* below 0.05 */
  | "some" /* at least 0.05, below 0.25 */
  | "much" /* at least 0.25 */;

export type StagesJudgementLimit =
  | "room" /* less than 0.7 of the peak */
  | "near" /* at least 0.7 of the peak */
  | "implausible" /* near, although the GPU is idle for much of the time */;

export interface StagesShown {
  /** true if wall times, idle time and derived figures are from unwatched, with the recorded spread scaled to the
   * mean; otherwise all figures are as recorded */
  without_tracing: boolean;
  /** true if tracing windows cut the stage: recorded instances are parts, so their spread is omitted */
  in_windows: boolean;
  /** wall time per instance */
  wall_ms: TokenTimesShownTimeToFirstTokenMs;
  /** wall time per step, of steps whose wall time is known */
  step_wall_ms: DeviceTimeLaunchesCallMs | null;
  /** mean wall time per decode step (ms) */
  wall_ms_per_step: number | null;
  /** its shown wall time over the sum of all stages (fraction) */
  share_of_stage_time: number;
  /** GPU busy time over traced wall time (fraction) */
  gpu_busy_share_of_wall: number | null;
  /** mean idle time per instance (ms) */
  idle_ms: number | null;
  /** idle time over traced wall time (fraction) */
  idle_share_of_wall: number | null;
  /** parts of the wall time, largest first, without parts of 0; null if unknown */
  budget: StagesBudget[] | null;
  /** MFU on the shown wall time, and on recorded busy time */
  mfu: StagesMfu;
  /** MBU on the shown wall time, and on recorded busy time */
  mbu: StagesMfu;
  /** resource that limits the stage; null if floor, MFU or MBU is missing */
  bound: StagesShownBound | null;
  /** MBU or MFU on wall time, whichever belongs to bound (fraction) */
  use_at_bound: number | null;
  /** mean wall time over the floor */
  wall_over_floor: number | null;
  /** flops over the mean wall time (FLOP/s) */
  flops_per_s: number | null;
  /** flops over the mean busy time (FLOP/s) */
  flops_per_busy_s: number | null;
  /** flops over the DRAM bytes that counters measured (FLOP/B) */
  flops_per_measured_byte: number | null;
  /** sum of weight_bytes over cost (B) */
  cost_weight_bytes: number;
  /** sum of kv_bytes over cost (B) */
  cost_kv_bytes: number;
  /** sum of bytes over cost (B) */
  cost_bytes: number;
  /** floor_ms of the stage; null if bound is (ms) */
  floor_ms: number | null;
  /** true if all its kernels are in warm-up: their figures in the stage then include it */
  warmup_only: boolean;
  /** true for the stage with the largest share_of_stage_time */
  longest: boolean;
}

export type StagesShownBound =
  | "unknown"
  | "compute"
  | "memory"
  | "latency" /* neither compute nor memory, by ncu's metrics */;

export interface StageNotes {
  /** stage that it is part of */
  stage: string;
  /** vision, projector, ... */
  name: string;
  /** number of occurrences */
  instances: number;
  /** CPU duration of its ranges; for detected ones, from first kernel to last (ms) */
  range_ms: number;
  /** kernels in all occurrences */
  kernel_count: number;
  /** time of these kernels (ms) */
  gpu_sum_ms: number;
}

export interface Findings {
  /** stable kind, for scripts; stage, kind and subject are its key */
  kind: FindingsKind;
  /** what was found */
  title: string;
  /** numbers, with their denominators */
  evidence: string;
  /** potential saving per unit, upper bound; null if the capture hides it, and for findings on memory (ms) */
  recoverable_ms: number | null;
  /** potential saving over all measured instances of the stage; for a finding on requests, share_of_wall of the
   * time in which requests were in flight; findings are sorted by it (ms) */
  total_recoverable_ms: number | null;
  /** unit of recoverable_ms: request (also of findings on requests, which have no stage); engine step under
   * continuous batching; with a selection the stage's name, "step" or "8 steps"; "traced part of a request" if not
   * all steps were traced */
  unit: string | null;
  /** what to do */
  advice: string;
  /** stage that it belongs to */
  stage: string | null;
  /** potential saving over the tokens of all sequences (ms) */
  recoverable_ms_per_token: number | null;
  /** recoverable_ms over the stage's wall time; for a finding on requests, over their mean time from sent to end
   * (fraction) */
  share_of_wall: number;
  /** distinguishes findings of one kind and stage: for host_stall_repeated the GPU work before and after the gaps;
   * for findings on memory the GPU; otherwise null */
  subject: string | null;
  /** values in the evidence, by name */
  values: FindingsValues[];
  /** potential saving per decode step, which gives every sequence one token: comparable with
   * time_per_output_token_ms (ms) */
  recoverable_ms_per_output_token: number | null;
  /** reasons in values, as kinds and values */
  value_reasons: FindingsValueReasons[];
  /** in a job, the rank that others wait for; otherwise null */
  rank: number | null;
  /** recoverable_ms covers the traced steps only, because other steps were not traced */
  traced_part: boolean;
  /** figures of requests that contain this time; empty unless the finding is on requests */
  figures: FindingsFigures[];
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

export interface FindingsValues {
  /** stable name; may occur with several texts */
  name: string;
  /** the number; null if text is the value */
  value: number | null;
  /** unit of the number: "ms", "fraction"; null for counts */
  unit: string | null;
  /** the value, or what the number belongs to, for example a kernel */
  text: string | null;
}

export interface FindingsValueReasons {
  /** index in values */
  value: number;
  /** reasons that its text gives, in order */
  reasons: SlowStepRuleReasons[];
}

export interface FindingsFigures {
  /** the figure */
  figure: RequestsLoadObjectivesFigure;
  /** potential saving in its mean, upper bound (ms) */
  mean_ms: number | null;
  /** share of the values below the tail; null if the tail is unknown (fraction) */
  quantile: number | null;
  /** part of the mean in the tail that values around the median do not have: what the finding explains of it (ms) */
  tail_ms: number | null;
}

export interface Recoverable {
  /** stage that the rows belong to (its traced steps) */
  stage: string;
  /** mean wall time per instance, minus untraced time (ms) */
  wall_ms: number;
  /** end-to-end lower bound (ms) */
  bound_ms: number | null;
  /** why bound_ms is missing */
  bound_reason: string | null;
  /** generated tokens of all sequences, per instance */
  tokens: number | null;
  /** parts of the budget, largest potential saving first */
  parts: RecoverableParts[];
  /** kernels, largest potential saving first */
  kernels: RecoverableKernels[];
  /** bound_reason as kinds and values */
  bound_reasons: SlowStepRuleReasons[];
  /** upper limit of the stage's savings: its unprofiled time by the workload's clock, minus bound_ms if that is
   * shorter; null unless the recorded stage took longer (ms) */
  most_ms: number | null;
}

export interface RecoverableParts {
  /** part of the budget */
  part: DeviceTimeIdleCausesCause;
  /** mean time per instance (ms) */
  ms: number;
  /** lower bound of that time (ms) */
  floor_ms: number;
  /** how the floor was found */
  floor_rule: string | null;
  /** time above the floor (ms) */
  recoverable_ms: number;
  /** potential saving over the tokens of all sequences (ms) */
  recoverable_ms_per_token: number | null;
  /** potential saving per decode step (ms) */
  recoverable_ms_per_output_token: number | null;
  /** floor_rule as kinds and values */
  floor_rule_reasons: SlowStepRuleReasons[];
  /** reports and the page list it: recoverable_ms is at least 0.01 of the stage's wall_ms */
  shown: boolean;
}

export interface RecoverableKernels {
  /** as in kernels */
  short_name: string;
  /** as in kernels */
  device: string;
  /** mean time per instance; overlapping kernels count in full (ms) */
  ms: number;
  /** lower bound of that time (ms) */
  floor_ms: number;
  /** how the floor was found */
  floor_rule: string | null;
  /** what the floor comes from */
  floor_basis: RecoverableKernelsFloorBasis;
  /** time above the floor (ms) */
  recoverable_ms: number;
  /** potential saving over the tokens of all sequences (ms) */
  recoverable_ms_per_token: number | null;
  /** potential saving per decode step (ms) */
  recoverable_ms_per_output_token: number | null;
  /** floor_rule as kinds and values */
  floor_rule_reasons: SlowStepRuleReasons[];
}

export type RecoverableKernelsFloorBasis =
  | "own bytes and FLOPs, ncu" /* ncu counted them on one grid, and all launches in the stage match */
  | "share of the class's floor" /* by time */;

export interface Utilization {
  /** peaks of the GPU; null if unknown */
  gpu: UtilizationGpu | null;
  /** measured peaks of the CPU, for CPU operators */
  cpu: UtilizationCpu | null;
  /** why there is no utilization at all */
  why_not: string | null;
  /** why_not as kinds and values */
  why_not_reasons: SlowStepRuleReasons[];
}

export interface UtilizationGpu {
  /** as in conf/gpus.yaml */
  name: string;
  /** peak memory bandwidth (B/s) */
  memory_bandwidth_bytes_per_s: number;
  /** dense bf16 peak (FLOP/s) */
  bf16_flops_per_s: number;
}

export interface UtilizationCpu {
  /** name of the CPU */
  name: string;
  /** measured peak memory bandwidth (B/s) */
  memory_bandwidth_bytes_per_s: number;
  /** measured compute peak (FLOP/s) */
  flops_per_s: number | null;
  /** number format of flops_per_s */
  number_format: string;
  /** how the peaks were measured */
  method: string | null;
}

export interface Stage1 {
  /** path of metrics.json */
  path: string;
  /** model, from metrics.json */
  model: string | null;
  /** by stage */
  stages: Stage1Stages[];
  /** tokens per second, from metrics.json (tokens/s) */
  tokens_per_s: number | null;
  /** MFU of the whole model, from metrics.json (fraction) */
  mfu_model_level: number | null;
  /** peak that its MFU refers to, TFLOP/s */
  peak_tflops: number | null;
  /** prompt tokens, from metrics.json */
  prompt_tokens: number | null;
  /** generated tokens, from metrics.json */
  new_tokens: number | null;
  /** batch, from metrics.json */
  batch: number | null;
  /** images, from metrics.json */
  images: number | null;
}

export interface Stage1Stages {
  /** name of the stage */
  name: string;
  /** mean by the workload's own clock, unprofiled (ms) */
  mean_ms: number | null;
  /** standard deviation by the workload's own clock (ms) */
  std_ms: number | null;
  /** MFU that the workload reports (fraction) */
  mfu: number | null;
  /** mean of the same stage in this capture (ms) */
  captured_mean_ms: number | null;
  /** captured_mean_ms over mean_ms */
  captured_over_stage1: number | null;
}

export interface Kernels {
  /** the full name as the capture gave it */
  kernel_name: string;
  /** kernel ID, independent of how a tool or demangler spells its name; for comparisons, not for reading */
  key: string;
  /** short name, at most 60 characters */
  short_name: string;
  /** what it does for the model */
  class: KernelsClass;
  /** cuBLAS, CUTLASS, cuDNN, FlashAttention, ...; null if the name does not show it */
  library: string | null;
  /** "cuda:0", or "cpu:0" (operators that a program recorded itself); prefixed with the capture's name if several
   * timelines were read; "cuda" if the capture does not say */
  device: string;
  /** time of all launches (ms) */
  total_ms: number;
  /** the same, exact (ns) */
  total_ns: number;
  /** launches */
  calls: number;
  /** total over max(calls, 1) (ms) */
  mean_ms: number;
  /** shortest launch; null if only totals are known (ms) */
  min_ms: number | null;
  /** median launch (ms) */
  p50_ms: number | null;
  /** 99th percentile of launches (ms) */
  p99_ms: number | null;
  /** longest launch (ms) */
  max_ms: number | null;
  /** total over the time of all kernels (fraction) */
  share: number;
  /** time in decode over its steps, warm-up excluded; null if it does not run in decode (ms) */
  ms_per_token: number | null;
  /** time by stage name; only stages in which it runs */
  stages: Record<string, KernelsStages>;
  /** launches by grid and block, longest first */
  shapes: KernelsShapes[];
  /** FLOPs of all calls, as the program recorded them with its operators; null for GPU kernels (FLOP) */
  flops: number | null;
  /** bytes of all calls, as the program recorded them; null for GPU kernels (B) */
  bytes: number | null;
  /** ncu's metrics, by name */
  metrics: Record<string, KernelsMetrics>;
  /** time in the stages without warm-up; null if it does not run there */
  measured: KernelsMeasured | null;
  /** computes for the experts of a mixture-of-experts model, by its name; communication does not count */
  experts: boolean;
}

export type KernelsClass =
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

export interface KernelsStages {
  /** time over all instances (ms) */
  total_ms: number;
  /** launches over all instances */
  calls: number;
  /** the same, warm-up excluded (ms) */
  steady_total_ms: number;
  /** the same, warm-up excluded */
  steady_calls: number;
  /** mean per launch, warm-up excluded unless all of the stage is warm-up (shown.warmup_only); null without such
   * launches (ms) */
  mean_ms: number | null;
  /** time of these launches over that of all kernels in the stage (fraction) */
  share: number | null;
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
  /** as for the kernel */
  measured: KernelsMeasured | null;
}

export interface KernelsMetrics {
  /** mean over the launches that ncu measured */
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
  /** time over the measured instances of all stages (ms) */
  total_ms: number;
  /** launches there */
  calls: number;
  /** total over calls (ms) */
  mean_ms: number;
  /** total over the time of all kernels in measured instances; null for a launch shape (fraction) */
  share: number | null;
}

export interface Classes {
  /** as in kernels */
  class: KernelsClass;
  /** time of its kernels (ms) */
  total_ms: number;
  /** launches */
  calls: number;
  /** total over the time of all kernels (fraction) */
  share: number;
  /** time in the stages without warm-up */
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
  /** kernels that ncu measured; without ncu, those that fill samples of the GPU's counters; for CPU operators, from
   * their recorded FLOPs and bytes against the CPU's measured peaks */
  kernels: RooflineKernels[];
  /** metrics that ncu measured, of any kernel */
  metrics_read: number;
  /** metrics of kernels listed in kernels */
  metrics_of_kernels: number;
  /** metrics that would give a figure, if none of those read does */
  missing_metrics: string[];
  /** rule as kinds and values */
  rule_reasons: SlowStepRuleReasons[];
  /** why_not as kinds and values */
  why_not_reasons: SlowStepRuleReasons[];
  /** kernels without ncu's metrics, by the GPU's counters; null without samples */
  sampled: RooflineSampled | null;
}

export interface RooflineShareOfKernelTime {
  /** share of kernel time bound by memory (fraction) */
  memory: number;
  /** share of kernel time bound by compute (fraction) */
  compute: number;
  /** share of kernel time bound by latency (fraction) */
  latency: number;
  /** share of kernel time without metrics (fraction) */
  unknown: number;
}

export interface RooflineKernels {
  /** the full name */
  kernel_name: string;
  /** as in kernels */
  short_name: string;
  /** as in kernels */
  device: string;
  /** launches measured; by counters, launches in the samples that count */
  launches: number;
  /** most frequent grid: x, y, z */
  commonest_grid: number[] | null;
  /** number of distinct grids; figures are means over all launches */
  grids: number;
  /** achieved rate; by counters, tensor_active_share times peak_flops_per_s, which does not count work outside the
   * tensor cores (FLOP/s) */
  flops_per_s: number | null;
  /** achieved DRAM rate (B/s) */
  bytes_per_s: number | null;
  /** arithmetic intensity (FLOP/B) */
  flops_per_byte: number | null;
  /** share of the compute peak; without SpeedOfLight's figure, utilization of the busiest pipe (fraction) */
  compute_share_of_peak: number | null;
  /** share of the memory bandwidth's peak; without SpeedOfLight's figure, of the busiest memory level (fraction) */
  memory_share_of_peak: number | null;
  /** what limits it */
  bound: StagesShownBound;
  /** of the figures */
  source: RooflineKernelsSource;
  /** samples that it filled, by counters; otherwise 0 */
  samples: number;
  /** time of these samples (ms) */
  sampled_ms: number | null;
  /** share of the samples' time in which it ran alone (fraction) */
  own_share_of_samples: number | null;
  /** mean tensor-core activity over these samples, as a share of the peak at the clock of that time (fraction) */
  tensor_active_share: number | null;
  /** peak that FLOP/s are computed from, by counters: "bf16 dense"; null without FLOP/s */
  peak_name: string | null;
  /** that peak, from the data sheet (FLOP/s) */
  peak_flops_per_s: number | null;
  /** source of the tensor cores' number format, by counters; null without FLOP/s */
  number_format_source: RooflineKernelsNumberFormatSource | null;
  /** by counters: why FLOP/s are missing; null with FLOP/s */
  why_no_flops: RooflineKernelsWhyNoFlops | null;
}

export type RooflineKernelsSource =
  | "ncu"
  | "counters" /* samples of the GPU's counters */
  | "recorded" /* FLOPs and bytes that CPU operators recorded */;

export type RooflineKernelsNumberFormatSource =
  | "kernel name"
  | "model";

export type RooflineKernelsWhyNoFlops =
  | "not_sampled" /* no tensor-core counter was sampled */
  | "no_tensor_activity" /* no tensor activity certainly belongs to the kernel */
  | "format_unknown" /* the tensor cores' number format is unknown */
  | "peak_unknown" /* the GPU's peak for that format is unknown */;

export interface RooflineSampled {
  /** samples of DRAM bytes in the whole capture */
  samples: number;
  /** samples that launches of one kernel filled */
  attributed_samples: number;
  /** median duration of a sample (ms) */
  interval_ms: number;
  /** share of a sample's time that a kernel must run alone for the sample to count as its own (fraction) */
  least_share_of_sample: number;
  /** kernels that these samples place in kernels */
  kernels_placed: number;
  /** sampled kernels that filled no sample: too short for the sampling interval, or never alone */
  kernels_too_short: number;
  /** kernels without any sample */
  kernels_unsampled: number;
}

export interface Products {
  /** stage of the calls; null outside stages and in warm-up */
  stage: string | null;
  /** what it computes in the model */
  role: ProductsRole;
  /** how the role is known */
  role_source: ProductsRoleSource;
  /** rows of A and of the result: tokens, for a product with weights */
  m: number;
  /** columns of B and of the result: output features */
  n: number;
  /** columns of A, rows of B: input features */
  k: number;
  /** products of these sizes in one call */
  batch: number;
  /** element type of A */
  type_a: ProductsTypeA;
  /** element type of B */
  type_b: ProductsTypeA;
  /** element type of the result */
  type_output: ProductsTypeA;
  /** how A, m rows of k values, lies in memory */
  layout_a: ProductsLayoutA;
  /** how B, k rows of n values, lies in memory */
  layout_b: ProductsLayoutA;
  /** full name of the kernel that multiplies; of several, the longest */
  kernel_name: string;
  /** the kernel's short name */
  short_name: string;
  /** the kernel's library, if its name shows it */
  library: string | null;
  /** GPU: "cuda:0" */
  device: string;
  /** operator calls that ran kernels; each replay of a CUDA graph counts */
  calls: number;
  /** kernels of all calls: a call may also add up parts (split-K) or convert an input */
  kernels: number;
  /** time of all these kernels (ms) */
  total_ms: number;
  /** total_ms over calls (ms) */
  mean_ms: number;
  /** total_ms over products_found.time_ms (fraction) */
  share: number | null;
  /** FLOPs of one call: 2 m n k batch (FLOP) */
  flops: number;
  /** bytes of A, B and the result of one call, each counted once; null if a type is unknown (B) */
  bytes: number | null;
  /** flops over bytes (FLOP/B) */
  flops_per_byte: number | null;
  /** flops over mean_ms (FLOP/s) */
  flops_per_s: number | null;
  /** bytes over mean_ms: above the peak bandwidth if operands were in a cache (B/s) */
  bytes_per_s: number | null;
  /** dense peak of the GPU for these types; null if the GPU or the types are unknown (FLOP/s) */
  peak_flops_per_s: number | null;
  /** what that peak is of */
  peak_name: string | null;
  /** least time of one call at the GPU's peaks: flops at peak_flops_per_s, or bytes at the peak memory bandwidth
   * (ms) */
  floor_ms: number | null;
  /** which of the two sets floor_ms */
  floor_bound: StagesShownBound;
  /** floor_ms over mean_ms: 1 is the roof; above 1 if operands were in a cache (fraction) */
  floor_share: number | null;
  /** total_ms less the floors of all calls; 0 if that is negative (ms) */
  above_floor_ms: number | null;
  /** how the dimensions are known */
  source: ProductsSource;
}

export type ProductsRole =
  | "unknown" /* neither the model's dimensions nor the order of products tell */
  | "qkv" /* queries, keys and values, together or one of them */
  | "attention_scores" /* queries times keys */
  | "attention_values" /* attention weights times values */
  | "o" /* the output of attention */
  | "router" /* scores of the experts */
  | "gate_up" /* gate and up of the feed-forward part, together or one of them */
  | "down" /* back to the hidden size */
  | "experts_gate_up" /* gate_up of experts */
  | "experts_down" /* down of experts */
  | "lm_head" /* scores of the vocabulary */;

export type ProductsRoleSource =
  | "none" /* the role is unknown */
  | "model" /* the dimensions of the model (--model) */
  | "order" /* the place between attentions, and dimensions that follow from each other */;

export type ProductsTypeA =
  | "unknown"
  | "f64"
  | "f32"
  | "f16"
  | "bf16"
  | "f8_e4m3"
  | "f8_e5m2"
  | "f8_e8m0"
  | "f4_e2m1"
  | "i64"
  | "i32"
  | "i16"
  | "i8"
  | "u64"
  | "u32"
  | "u16"
  | "u8"
  | "boolean"
  | "complex64"
  | "complex128";

export type ProductsLayoutA =
  | "unknown"
  | "plain"
  | "transposed"
  | "strided";

export type ProductsSource =
  | "framework_dimensions" /* sizes of the inputs of PyTorch's operator (record_shapes=True) */;

export interface ProductsFound {
  /** time of all matrix products: kernels of class gemm or gemv, and kernels of products (ms) */
  time_ms: number;
  /** time of those whose dimensions are known (ms) */
  with_shape_ms: number;
  /** with_shape_ms over time_ms (fraction) */
  with_shape_share: number | null;
  /** time of products whose role is known, over time_ms (fraction) */
  with_role_share: number | null;
  /** kernels in time_ms */
  kernels: number;
  /** kernels of class gemm or gemv without dimensions */
  kernels_without_shape: number;
  /** how the dimensions are known */
  sources: ProductsFoundSources[];
  /** kernels of unknown dimensions by name, operator and cause, longest time first */
  without_shape: ProductsFoundWithoutShape[];
  /** true if products are those of the run with torch.profiler, not of the timeline: their stages are unknown */
  of_other_run: boolean;
}

export interface ProductsFoundSources {
  /** how the dimensions are known */
  source: ProductsSource;
  /** calls with dimensions from this source */
  calls: number;
  /** their time (ms) */
  total_ms: number;
  /** total_ms over the time of all matrix products (fraction) */
  share: number | null;
}

export interface ProductsFoundWithoutShape {
  /** full name of the kernel */
  kernel_name: string;
  /** the kernel's short name */
  short_name: string;
  /** innermost operator at its launch; null if there is none */
  operator: string | null;
  /** why the dimensions are unknown */
  why: ProductsFoundWithoutShapeWhy;
  /** number of kernels */
  kernels: number;
  /** their time (ms) */
  total_ms: number;
}

export type ProductsFoundWithoutShapeWhy =
  | "no_operator" /* the capture has no operator for the kernel */
  | "replayed" /* replayed by a CUDA graph whose capture was not recorded */
  | "no_sizes" /* the sizes of the operator's inputs were not recorded, or llmprof does not know the operator */;

export interface Operators {
  /** as the framework names it */
  name: string;
  /** number of calls */
  calls: number;
  /** CPU time, including inner operators (ms) */
  cpu_total_ms: number;
  /** CPU time, excluding inner operators (ms) */
  cpu_self_ms: number;
  /** GPU time of kernels, copies and fills launched inside; for CPU operators, the time of the innermost (ms) */
  cuda_total_ms: number;
  /** GPU time of work that no inner operator launched (ms) */
  cuda_self_ms: number;
  /** cpu_total_ms over calls (ms) */
  mean_ms: number;
  /** kernels that cuda_total_ms covers */
  kernel_count: number;
  /** recorded FLOPs of all calls (FLOP) */
  flops: number | null;
  /** recorded bytes of all calls (B) */
  bytes: number | null;
  /** flops over cpu_total_ms (FLOP/s) */
  flops_per_s: number | null;
  /** bytes over cpu_total_ms (B/s) */
  bytes_per_s: number | null;
}

export interface OperatorsFound {
  /** capture that the operators come from */
  source: string | null;
  /** why there are no operators, and which capture would have them */
  why_not: string | null;
  /** kernels with an operator, in captures that have operators */
  kernels_with_operator: number;
  /** kernels without an operator, in those captures */
  kernels_without_operator: number;
  /** kernels_with_operator plus kernels_without_operator */
  kernels: number;
  /** kernels_with_operator over kernels (fraction) */
  kernels_share: number | null;
  /** GPU time that operators launched: kernels, copies and fills (ms) */
  cuda_self_sum_ms: number;
  /** cuda_self_sum_ms over the time of all kernels, copies and fills (fraction) */
  share_of_gpu_time: number | null;
  /** kernels replayed by CUDA graphs, which run no operators */
  graph_kernels: number;
  /** replayed kernels whose operators come from a trace of their graph's capture */
  captured_kernels: number;
  /** why_not as kinds and values */
  why_not_reasons: SlowStepRuleReasons[];
  /** graph_kernels minus captured_kernels */
  replayed_without_operator: number;
}

export interface Gaps {
  /** stage that it belongs to */
  stage: string;
  /** index among the instances of its stage, from 0 */
  instance: number;
  /** index in steps */
  step: number | null;
  /** index among the steps of its instance, from 0 */
  step_of_instance: number | null;
  /** start of the gap, after the instance's start (ms) */
  after_start_ms: number;
  /** length of the gap (ms) */
  ms: number;
  /** true if it lies between the GPU work of two steps */
  between_steps: boolean;
  /** part of the budget that most of the gap belongs to */
  cause: DeviceTimeIdleCausesCause;
  /** short name of the kernel, or the copy, before the gap; null at the stage's edges */
  work_before: string | null;
  /** short name of the kernel, or the copy, after the gap; null at the stage's edges */
  work_after: string | null;
  /** what the host was doing */
  host: string | null;
  /** host as kinds and values */
  host_reasons: SlowStepRuleReasons[];
}

export interface RepeatedGaps {
  /** stage that they belong to */
  stage: string;
  /** gaps at the same place of the stage */
  count: number;
  /** idle time in all these gaps (ms) */
  total_ms: number;
  /** the longest of them, as in gaps */
  longest: Gaps;
}

export interface SlowSteps {
  /** stage that it belongs to */
  stage: string;
  /** index among the instances of its stage, from 0 */
  instance: number;
  /** index in steps */
  step: number;
  /** index among the steps of its instance, from 0 */
  step_of_instance: number;
  /** wall time of the step (ms) */
  wall_ms: number;
  /** wall time above the median of comparable steps (ms) */
  above_median_ms: number;
  /** reasons, longest first; they sum to above_median_ms */
  reasons: SlowStepsReasons[];
}

export interface SlowStepsReasons {
  /** a gap, a kernel, or the rest */
  what: string;
  /** time above the median step; negative if shorter (ms) */
  longer_ms: number;
  /** what as kinds and values; after a gap, what the host did in it */
  what_reasons: SlowStepRuleReasons[];
}

export interface Layers {
  /** "layer_00", "layer_00/attn", "outside layers"; stage, model_layers and name are its key */
  name: string;
  /** stage that it belongs to */
  stage: string;
  /** if several models ran, the number of attention layers of this layer's model */
  model_layers: number | null;
  /** true for a part of the layer listed before it */
  part: boolean;
  /** true for work outside layers */
  outside: boolean;
  /** as in stages */
  source: StagesSource;
  /** kernel time per forward pass (ms) */
  ms_per_step: number;
  /** kernels per forward pass */
  kernels_per_step: number;
  /** forward passes that show this layer, warm-up excluded */
  passes: number;
  /** kernel time over these passes, exact (ns) */
  total_ns: number;
  /** kernel time per forward pass, by class */
  classes: Record<string, number>;
  /** note on a layer with far fewer or more kernels than most */
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
  /** stage that they belong to */
  stage: string;
  /** as in layers */
  model_layers: number | null;
  /** forward passes that show these layers */
  passes: number;
  /** number of layers */
  layers: number;
  /** mean kernel time of a layer (ms) */
  mean_ms_per_step: number;
  /** kernel time of the shortest layer (ms) */
  min_ms_per_step: number;
  /** kernel time of the longest layer (ms) */
  max_ms_per_step: number;
  /** parts of the layers, longest first */
  parts: LayerSummaryStagesParts[];
}

export interface LayerSummaryStagesParts {
  /** "attn", "outside layers" */
  name: string;
  /** all layers together, per forward pass (ms) */
  ms_per_step: number;
  /** share of the kernel time inside and outside layers (fraction) */
  share_of_kernel_time: number;
}

export interface Steps {
  /** stage that it belongs to; stage, instance and step_of_instance are its key */
  stage: string;
  /** index among the instances of its stage, from 0 */
  instance: number;
  /** index among the traced steps of its instance, from 0 */
  step_of_instance: number;
  /** what it does for its sequences */
  kind: StepsKind;
  /** sequences in the step */
  batch: number | null;
  /** tokens that pass through its layers */
  tokens: number | null;
  /** sequences in prefill; null if not reported by the engine */
  prefill_sequences: number | null;
  /** tokens of sequences in prefill; null if not reported by the engine */
  prefill_tokens: number | null;
  /** sequences in decode; null if not reported by the engine */
  decode_sequences: number | null;
  /** tokens of sequences in decode; null if not reported by the engine */
  decode_tokens: number | null;
  /** length of all its sequences together, including new tokens; null if not reported by the engine */
  context_tokens: number | null;
  /** (query, key) pairs of causal attention in a layer without a window; null if not reported by the engine */
  attention_pairs: number | null;
  /** attention layers of a detected pass, which distinguish models; null if unknown or hidden in a CUDA graph */
  layers: number | null;
  /** start, on the capture's clock (ms) */
  start_ms: number;
  /** from the end of the previous step's last GPU work (or the instance's start) to the end of its own (ms) */
  wall_ms: number;
  /** time of its kernels (ms) */
  gpu_sum_ms: number;
  /** union of its GPU work (ms) */
  gpu_busy_ms: number;
  /** kernels */
  kernel_count: number;
  /** true if the previous step, or a part of this one, was not traced: wall_ms then runs from the step's own first
   * GPU work and is excluded from statistics */
  after_untraced: boolean;
  /** bytes read and written in that time, by the GPU's counters; null if they were off (B) */
  dram_bytes: number | null;
  /** time of its kernels by class, overlap not removed; they sum to gpu_sum_ms */
  classes_ns: Record<string, number>;
  /** heat, power or hardware lowered the GPU's clocks, according to the last reading before the step's end; null if
   * none is less than a second old */
  clocks_lowered: boolean | null;
}

export type StepsKind =
  | "prefill"
  | "decode"
  | "mixed" /* prefill and decode in one pass */
  | "forward" /* a pass of a model that is not recognized as an LLM */;

export interface Overhead {
  /** cost by recording and stage */
  passes: OverheadPasses[];
  /** reports warn above this overhead; 0.25 means 1.25 times the control run (fraction) */
  warn_above_share: number;
  /** cost of tracing per decode step, measured in the run if the collector alternated between traced and untraced
   * windows; null without a duty cycle, or if several processes have one. No other field is corrected by it */
  collector: OverheadCollector | null;
  /** index in passes of the row that profiling slows down most: the largest ratio, without other_cause if there is
   * one; ncu, which replays kernels, does not count; null without any */
  worst: number | null;
}

export interface OverheadPasses {
  /** name of the recording */
  pass: ContextLoadPass;
  /** name of the stage: "prefill" */
  stage: string;
  /** the workload's own time in the control run (ms) */
  control_ms: number;
  /** its time in that recording (ms) */
  profiled_ms: number;
  /** profiled over control */
  ratio: number;
  /** true if the times are of the whole command, because the workload timed no stage in both */
  whole_run: boolean;
  /** another cause of the difference; null if none is known */
  other_cause: OverheadPassesOtherCause | null;
}

export type OverheadPassesOtherCause =
  | "spread" /* the workload's own times vary this much */
  | "cpus_short" /* other programs used the CPUs in one of the two runs */;

export interface OverheadCollector {
  /** mean of traced windows minus mean of untraced ones; null, with why_not, below three windows of each kind (ms) */
  added_ms_per_step: number | null;
  /** lower end of Welch's interval (ms) */
  low_ms_per_step: number | null;
  /** upper end of Welch's interval (ms) */
  high_ms_per_step: number | null;
  /** confidence level of that interval (fraction) */
  interval_confidence: number;
  /** added_ms_per_step over the mean untraced step (fraction) */
  share_of_untraced_step: number | null;
  /** share_of_untraced_step times (steps_traced + steps_cupti_on) over steps_all (fraction) */
  share_of_decode: number | null;
  /** windows between untraced steps of the same decode: from a window's first GPU work to its last */
  traced: OverheadCollectorTraced;
  /** windows between traced steps: from the last work of the previous traced window to the first work of the next
   * one */
  untraced: OverheadCollectorTraced;
  /** mean time between two steps inside traced windows. It is added to traced windows, which have one such gap too
   * few, and subtracted from untraced windows, which have one too many (ms) */
  gap_ms: number;
  /** traced steps of the process, counted by the collector */
  steps_traced: number;
  /** untraced steps right after windows that replayed CUDA graphs. CUPTI stays on for such a step, so the mean
   * traced step is subtracted from its window */
  steps_cupti_on: number;
  /** all steps of the process, counted by the collector */
  steps_all: number;
  /** T of every P steps: the most frequent windows */
  duty_traced: number | null;
  /** P of duty_traced */
  duty_period: number | null;
  /** number of times that tracing was switched on or off */
  switches: number;
  /** total time that switching delayed the program (ms) */
  switch_cost_ms: number;
  /** why added_ms_per_step is missing */
  why_not: string | null;
  /** why_not as kinds and values */
  why_not_reasons: SlowStepRuleReasons[];
}

export interface OverheadCollectorTraced {
  /** runs of consecutive steps of this kind */
  windows: number;
  /** steps in these windows */
  steps: number;
  /** mean over the windows (ms) */
  mean_ms_per_step: number | null;
  /** standard deviation over the windows (ms) */
  std_ms_per_step: number | null;
}

export interface CapturesFailed {
  /** backend of the capture: "nsys" */
  backend: string;
  /** what failed, and the remedy */
  message: string;
}

export interface Diagnostics {
  /** how serious it is */
  severity: DiagnosticsSeverity;
  /** stable code, for scripts */
  code: string;
  /** for people, with what to do next */
  message: string;
  /** number of occurrences */
  count: number;
}

export type DiagnosticsSeverity =
  | "info"
  | "warning"
  | "error";

export interface SlowStepRuleReasons {
  /** stable kind, for scripts */
  kind: SlowStepRuleReasonsKind;
  /** values in the sentence, by name */
  values: FindingsValues[];
}

export type SlowStepRuleReasonsKind =
  | "passes_between_ranges"
  | "passes_in_sequence"
  | "kernels_repeat"
  | "passes_with_known_ends"
  | "layers_outside_passes"
  | "repetition_alone"
  | "no_sign_of_tokens"
  | "kind_is_a_guess"
  | "larger_passes"
  | "one_token_passes"
  | "mixed_passes"
  | "passes_of_other_model"
  | "no_timeline"
  | "no_gpu_work"
  | "training_by_kernels"
  | "training_by_threads"
  | "nothing_repeats"
  | "none_equal_behind"
  | "few_behind_each_other"
  | "no_attention"
  | "no_pass_ends"
  | "few_layers_in_passes"
  | "passes_cut"
  | "softmax_alone"
  | "any_loop"
  | "no_stages"
  | "no_model"
  | "no_model_given"
  | "gpu_not_named"
  | "gpu_unknown"
  | "cpu_peaks_unknown"
  | "all_warmup"
  | "several_gpus"
  | "no_peak_of_format"
  | "contexts_unknown"
  | "busy_time_untraced"
  | "work_not_recorded"
  | "prompt_tokens_unknown"
  | "decode_steps_unknown"
  | "step_tokens_unknown"
  | "no_cost_formula"
  | "impossible_figure"
  | "depends_on_impossible_figure"
  | "above_measured_peak"
  | "above_measured_bandwidth"
  | "slightly_above_measured"
  | "prefill_pass"
  | "decode_passes"
  | "engine_steps"
  | "engine_steps_in_context"
  | "recorded_operators"
  | "traced_steps_on_busy_time"
  | "flops_at_peak"
  | "bytes_at_peak"
  | "own_flops_at_peak"
  | "own_bytes_at_peak"
  | "zero_overlaps_computation"
  | "zero_copy_avoidable"
  | "zero_small_beside_output_head"
  | "zero_fusible_into_experts"
  | "zero_fusible_into_products"
  | "zero_copies_overlap_kernels"
  | "zero_fewer_kernels"
  | "zero_idle_gpu"
  | "zero_outside_operators"
  | "own_time_unknown_kernels"
  | "own_time_hidden_graphs"
  | "own_time_unknown_cause"
  | "own_time_without_floor"
  | "bound_by_ncu"
  | "bound_by_counters"
  | "bound_by_recorded_work"
  | "no_kernel_metrics"
  | "flops_not_counted"
  | "bytes_not_counted"
  | "throughput_not_measured"
  | "shorter_than_samples"
  | "operators_without_work"
  | "bound_needs_cpu_peaks"
  | "few_counter_samples"
  | "no_counter_samples"
  | "impossible_bandwidth"
  | "sensors_read_rarely"
  | "trace_without_operators"
  | "no_framework_operators"
  | "layers_in_hidden_graphs"
  | "stage_without_kernels"
  | "layer_steps_unknown"
  | "layers_not_repeating"
  | "unlike_median_layer"
  | "few_tracing_windows"
  | "slow_step_rule"
  | "longer_work"
  | "longer_gap"
  | "longer_small_gaps"
  | "longer_unexplained"
  | "shorter_other_parts"
  | "host_call"
  | "host_operator"
  | "host_code"
  | "host_launched_graph"
  | "host_launched_ahead"
  | "host_launched_before"
  | "host_not_recorded"
  | "decode_alone_estimated"
  | "mixed_steps_by_tokens"
  | "one_rank_recorded"
  | "ranks_without_collectives"
  | "collectives_not_matched"
  | "parallelism_told"
  | "only_point_to_point"
  | "mostly_all_to_all"
  | "collectives_in_each_layer"
  | "collectives_once_per_step"
  | "communication_behind_compute"
  | "parallelism_not_clear"
  | "rank_busy_longer"
  | "rank_launched_later"
  | "rank_more_tokens"
  | "rank_lower_clock"
  | "rank_slower_steps"
  | "rank_single_delays"
  | "rank_cause_not_seen";

export interface KernelSequences {
  /** stage that they belong to */
  stage: string;
  /** forward passes: steps, or instances of a stage without steps */
  passes: number;
  /** repeated layers in all these passes together */
  layers: number;
  /** by block in the order of a pass, then position; together the time of all kernels in the stage's measured
   * instances, exact */
  kernels: KernelSequencesKernels[];
}

export interface KernelSequencesKernels {
  /** its part of the pass */
  block: KernelSequencesKernelsBlock;
  /** index among the launches of this kernel in one layer (or one pass), from 0 */
  occurrence: number;
  /** mean index among all kernels of its layer (or pass), from 0; rows are sorted by it */
  mean_position: number;
  /** as in kernels */
  key: string;
  /** as in kernels */
  short_name: string;
  /** as in kernels */
  class: KernelsClass;
  /** most frequent grid: x, y, z */
  grid: number[];
  /** most frequent block: x, y, z */
  block_size: number[];
  /** number of distinct grids and blocks */
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
  | "pass" /* the whole pass, if no layers repeat */
  | "outside_passes" /* in an instance, but outside its steps */;

export interface Job {
  /** job ID from the launcher */
  id: string | null;
  /** number of ranks that the ranks report; otherwise of those recorded */
  world_size: number;
  /** ranks with a capture */
  recorded: number;
  /** number of hosts; 0 if no capture names one */
  hosts: number;
  /** ranks without a capture */
  missing: number[];
  /** ranks that ended before the program did */
  died: number[];
  /** true if not all ranks were recorded: waits are lower bounds */
  lower_bound: boolean;
  /** groups of ranks that communicate */
  groups: JobGroups[];
  /** collectives by stage, then longest total first */
  collectives: JobCollectives[];
  /** ranks that others wait for, longest wait first */
  stragglers: JobStragglers[];
  /** steps that all recorded ranks have */
  steps_matched: number;
  /** steps of one rank without a match on the others */
  steps_unmatched: number;
  /** share of the ranks' time in steps that is idle or spent waiting for another pipeline stage; null without
   * pipeline parallelism (fraction) */
  pipeline_bubble_share: number | null;
  /** time of expert kernels, the longest rank's over the mean; null without experts */
  expert_imbalance: number | null;
  /** times by rank and step */
  heat: JobHeat;
  /** why ranks could not be compared; otherwise null */
  why_not: string | null;
  /** why_not as kinds and values */
  why_not_reasons: SlowStepRuleReasons[];
  /** sum of the ranks' steps_left_out */
  steps_left_out: number;
  /** largest residual_p50_ms of any rank; null if no clock was aligned (ms) */
  clock_residual_ms: number | null;
  /** kinds of parallelism with groups of several ranks: tensor, pipeline, expert, data */
  parallelism: JobParallelism[];
}

export interface JobGroups {
  /** name of the group in the captures; unique */
  group: string;
  /** recorded ranks of the group */
  ranks: number[];
  /** number of ranks in the group, including those without a capture */
  size: number;
  /** parallelism of the group, from its collectives in a step, or from --tp, --pp, --ep */
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
  /** stage of the job; null outside stages */
  stage: string | null;
  /** as in groups */
  group: string;
  /** what the ranks do together */
  kind: JobCollectivesKind;
  /** message size of one rank; null if unknown (B) */
  bytes: number | null;
  /** recorded ranks that took part */
  ranks: number;
  /** collectives that all these ranks have */
  matched: number;
  /** collectives of one rank without a match on the others */
  unmatched: number;
  /** replayed by CUDA graphs */
  in_graph: boolean;
  /** true if ranks of the group were not recorded: waits are lower bounds */
  lower_bound: boolean;
  /** from the last rank's arrival to the last end */
  latency_ms: DeviceTimeLaunchesCallMs;
  /** wait of the longest-waiting rank */
  wait_ms: DeviceTimeLaunchesCallMs;
  /** wait of all ranks together (ms) */
  wait_total_ms: number;
  /** transfer time of all ranks together; wait_total_ms plus transfer_total_ms is the time of these kernels (ms) */
  transfer_total_ms: number;
  /** part of that time without compute (ms) */
  exposed_total_ms: number;
  /** part of that time that overlaps compute (ms) */
  hidden_total_ms: number;
  /** mean number per step of the job; null without steps */
  per_step: number | null;
  /** bytes that the algorithm must move over each rank's link, divided by the median latency; null if size or kind
   * is unknown (B/s) */
  wire_bandwidth_bytes_per_s: number | null;
  /** peak bandwidth of the link, in one direction (B/s) */
  peak_bandwidth_bytes_per_s: number | null;
  /** wire_bandwidth_bytes_per_s over peak_bandwidth_bytes_per_s (fraction) */
  share_of_peak: number | null;
  /** link that the peak belongs to */
  link: JobCollectivesLink | null;
  /** rank that arrived last most often */
  last_rank: number | null;
  /** share of matched collectives in which it arrived last (fraction) */
  last_rank_share: number | null;
  /** wait_total_ms plus transfer_total_ms (ms) */
  total_ms: number;
  /** wait_total_ms over total_ms; null if that is 0 (fraction) */
  share_waiting: number | null;
  /** exposed_total_ms over exposed_total_ms plus hidden_total_ms; null if both are 0 (fraction) */
  share_exposed: number | null;
}

export type JobCollectivesKind =
  | "other"
  | "all_reduce"
  | "reduce_scatter"
  | "all_gather"
  | "all_to_all"
  | "broadcast"
  | "reduce"
  | "gather"
  | "scatter"
  | "send"
  | "receive"
  | "barrier";

export type JobCollectivesLink =
  | "nvlink"
  | "pcie"
  | "network" /* between hosts */
  | "memory" /* ranks on CPUs of one host */;

export interface JobStragglers {
  /** rank that arrives last */
  rank: number;
  /** stage of the job */
  stage: string;
  /** what of this rank takes the time */
  cause: JobStragglersCause;
  /** time per step of the job that the longest-waiting rank waited for it (ms) */
  wait_ms_per_step: number;
  /** wait of all ranks that waited for it (ms) */
  wait_total_ms: number;
  /** wait_ms_per_step over the job's mean step (fraction) */
  share_of_step: number | null;
  /** share of the stage's matched collectives in which it arrived last (fraction) */
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
  /** median of the ranks' wall_ms in each bin, for two in the middle their mean; -1 without a step */
  median_ms: number[];
}

export interface JobHeatRows {
  /** rank that the row belongs to */
  rank: number;
  /** mean wall time of the rank's own steps in each bin, excluding waits; -1 without a step */
  wall_ms: number[];
  /** mean time per step that it waited for others; -1 without a step */
  wait_ms: number[];
  /** mean over its bins of wall_ms over the bin's median_ms, minus 1; null without a bin (fraction) */
  share_above_median: number | null;
}

export interface JobParallelism {
  /** as in groups */
  parallelism: JobGroupsParallelism;
  /** size of its largest group */
  size: number;
}

export interface Ranks {
  /** rank in the job */
  rank: number;
  /** rank among the ranks of its host */
  local_rank: number | null;
  /** name of its host */
  host: string | null;
  /** as in kernels: "rank3/cuda:0" */
  device: string | null;
  /** name of the GPU, or of the processor */
  gpu: string | null;
  /** whether it was recorded */
  state: RanksState;
  /** exit code or signal, if known */
  state_detail: string | null;
  /** captures of this rank */
  captures: ContextCaptures[];
  /** how its clock is converted to the job's; null for missing ranks */
  clock: RanksClock | null;
  /** where this rank's time went, by stage of the job */
  between: RanksBetween[];
  /** totals of this rank; this and all fields below are as in a profile of this rank alone */
  totals: Totals;
  /** device time, on the rank's own clock */
  device_time: DeviceTime[];
  /** by class, longest total first */
  classes: Classes[];
  /** how its stages were found */
  stages_found: StagesFound;
  /** token times, by this rank's clock */
  token_times: TokenTimes;
  /** stages of this rank */
  stages: Stages[];
  /** steps of this rank */
  steps: Steps[];
  /** steps missing in steps, because the job's ranks have more than 50,000 together; the rank's partial profile has
   * them */
  steps_left_out: number;
  /** what profiling cost */
  overhead: Overhead | null;
  /** diagnostics for this rank's captures */
  diagnostics: Diagnostics[];
}

export type RanksState =
  | "recorded"
  | "died" /* it ended before the program did */
  | "missing" /* the job names it, but no capture of it was read */;

export interface RanksClock {
  /** what the two clocks were compared by */
  method: RanksClockMethod;
  /** offset to the job's clock at this rank's time 0 (ns) */
  offset_ns: number;
  /** drift against the job's clock, in microseconds per second */
  drift_ppm: number;
  /** matched collectives that offset and drift were fitted to */
  collectives: number;
  /** remaining difference between the ends of matched collectives: median of absolute values (ms) */
  residual_p50_ms: number | null;
  /** the same, maximum (ms) */
  residual_max_ms: number | null;
}

export type RanksClockMethod =
  | "reference" /* this rank's clock is the job's */
  | "shared" /* the clock of a host that several ranks share */
  | "collectives" /* ends of matched collectives */
  | "wall_clock" /* wall clocks of the hosts, no better source */
  | "none";

export interface RanksBetween {
  /** as in the job's stages */
  stage: string;
  /** mean wall time of the job's step; compute, transfer, wait, copies and idle sum to it (ms) */
  wall_ms: number;
  /** time with at least one kernel running that is not communication (ms) */
  compute_ms: number;
  /** time with only communication running, after the last rank arrived; all of it if collectives are not matched
   * (ms) */
  transfer_ms: number;
  /** time with only communication running, before the last rank arrived; a lower bound if ranks of the group were
   * not recorded (ms) */
  wait_ms: number;
  /** communication that overlaps compute; part of compute_ms (ms) */
  hidden_communication_ms: number;
  /** time with only copies and fills running (ms) */
  copies_ms: number;
  /** time without work, until the slowest rank ended the step (ms) */
  idle_ms: number;
  /** time per step that the longest-waiting rank waited for this one (ms) */
  caused_wait_ms: number;
  /** steps that the means cover, warm-up excluded */
  steps: number;
  /** tokens in these steps; null if not reported */
  tokens: number | null;
  /** MFU on the rank's own wall time; null if unknown (fraction) */
  mfu: number | null;
  /** mean SM clock; null if not read (Hz) */
  sm_clock_hz: number | null;
  /** energy per step; null if not measured (J) */
  energy_j: number | null;
  /** parts of the wall time; null if that is 0 */
  shares_of_wall: RanksBetweenSharesOfWall | null;
}

export interface RanksBetweenSharesOfWall {
  /** compute_ms over wall_ms (fraction) */
  compute: number;
  /** transfer_ms over wall_ms (fraction) */
  transfer: number;
  /** wait_ms over wall_ms (fraction) */
  wait: number;
  /** copies_ms over wall_ms (fraction) */
  copies: number;
  /** idle_ms over wall_ms (fraction) */
  idle: number;
}

/** Views that topics name. */
export type TopicView =
  | "gpu"
  | "job"
  | "kernels"
  | "layers"
  | "memory"
  | "operators"
  | "overview"
  | "provenance"
  | "requests"
  | "roofline"
  | "steps";
