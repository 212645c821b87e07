#include "report/sample_profile_test.h"

#include "trace/builder.h"

namespace llmprof::report {
namespace {

constexpr Nanoseconds kMillisecond = 1000000;
constexpr size_t part(analysis::BudgetPart which) { return static_cast<size_t>(which); }
constexpr size_t part(analysis::KernelClass which) { return static_cast<size_t>(which); }

constexpr std::string_view kGemm =
    "void nvjet_tst_128x272_64x4_2x1_v_bz_TNT<(int)8, a|b>(T1 *, `anonymous`::T2)";
constexpr std::string_view kAttention = "flash_fwd_splitkv_kernel<Flash_fwd_kernel_traits<128>>";

std::unique_ptr<trace::Trace> sample_trace() {
  trace::TraceBuilder builder;
  trace::Capture capture;
  capture.path = "runs/a/nsys_node.sqlite";
  capture.format = "nsys SQLite";
  capture.tool = "Nsight Systems";
  capture.tool_version = "2025.3.2.0";
  capture.driver_version = "580.159";
  capture.cuda_version = "13.0";
  builder.begin_capture(capture);
  trace::Device& device = builder.device_info(builder.device(0));
  device.name = "NVIDIA H200";
  device.sm_count = 132;
  device.memory_bytes = 150754820096;
  device.memory_bandwidth = 4814400000000;
  device.clock_hz = 1980000000;
  device.compute_capability = "9.0";
  builder.string(kGemm);
  builder.string(kAttention);
  return std::make_unique<trace::Trace>(std::move(builder).freeze());
}

analysis::KernelRow kernel(trace::Trace& trace, std::string_view name, std::string_view short_name,
                           analysis::KernelClass kernel_class, uint64_t calls, Nanoseconds total,
                           double share) {
  analysis::KernelRow row;
  row.name = trace.strings.intern(name);
  row.device = "cuda:0";
  row.description = {std::string(short_name), "", kernel_class};
  row.calls = calls;
  row.total = total;
  row.share = share;
  return row;
}

// 15 calls of 1.5 ms and 15 of 0.3 ms.
void add_ranking(SampleProfile& sample) {
  analysis::Profile& profile = sample.profile;
  analysis::KernelRanking& ranking = profile.ranking;
  ranking.source = analysis::KernelSource::timeline;
  ranking.calls = 30;
  ranking.total = 27 * kMillisecond;
  ranking.rows = {kernel(*sample.trace, kGemm, "GEMM 128x272 sm90 (nvjet bf16, TNT)",
                         analysis::KernelClass::gemm, 15, 22500000, 22.5 / 27),
                  kernel(*sample.trace, kAttention, "flash attention <128>, split KV",
                         analysis::KernelClass::attention, 15, 4500000, 4.5 / 27)};
  ranking.rows[0].p50 = 1500000;
  ranking.classes = {{analysis::KernelClass::gemm, 15, 22500000, 22.5 / 27},
                     {analysis::KernelClass::attention, 15, 4500000, 4.5 / 27}};
  profile.totals.kernel_count = 30;
  profile.totals.kernel_sum = ranking.total;
  profile.totals.devices = {{"cuda:0", "NVIDIA H200", 30, ranking.total, ranking.total, 60000000}};
}

analysis::Statistics two(Nanoseconds a, Nanoseconds b) { return analysis::summarise({a, b}); }

analysis::PartTimes parts_of(Nanoseconds gemm, Nanoseconds attention, Nanoseconds launch,
                             Nanoseconds wall) {
  analysis::PartTimes times{};
  times[part(analysis::KernelClass::gemm)] = gemm;
  times[part(analysis::KernelClass::attention)] = attention;
  times[part(analysis::BudgetPart::idle_launch)] = launch;
  times[part(analysis::BudgetPart::unattributed)] = wall - gemm - attention - launch;
  return times;
}

void add_instance(analysis::Profile& profile, uint32_t stage, bool warmup, Nanoseconds start,
                  Nanoseconds wall, const analysis::PartTimes& parts) {
  analysis::StageInstance instance;
  instance.stage = stage;
  instance.device = trace::DeviceId(0);
  instance.start = start;
  instance.end = start + wall;
  instance.range_end = instance.end;
  instance.warmup = warmup;
  instance.first_step = static_cast<uint32_t>(profile.stages.steps.size());
  const Nanoseconds busy =
      parts[part(analysis::KernelClass::gemm)] + parts[part(analysis::KernelClass::attention)];
  instance.work.kernel_sum = busy;
  instance.work.kernel_busy = busy;
  instance.work.busy = busy;
  instance.work.kernel_count = 2;
  profile.stages.instances.push_back(instance);
  profile.budgets.instances.push_back(parts);
}

void add_steps(analysis::Profile& profile, std::initializer_list<Nanoseconds> walls) {
  analysis::StageInstance& instance = profile.stages.instances.back();
  Nanoseconds at = instance.start;
  for (const Nanoseconds wall : walls) {
    analysis::Step step;
    step.instance = analysis::InstanceId(profile.stages.instances.size() - 1);
    step.start = at;
    step.end = at + wall;
    step.work.kernel_count = 2;
    step.work.busy = wall / 2;
    step.work.kernel_sum = wall / 2;
    profile.stages.steps.push_back(step);
    at += wall;
    ++instance.step_count;
  }
  instance.work.kernel_count = uint64_t{2} * instance.step_count;
}

analysis::Stage stage(std::string name, std::string evidence) {
  analysis::Stage made;
  made.name = std::move(name);
  made.evidence = std::move(evidence);
  return made;
}

// Prefills of 6 ms (gemm 4, attention 0.5, launch-bound 1.25, 0.25 of nobody), decodes of 8 and
// 10 ms.
void add_stages(analysis::Profile& profile) {
  analysis::Stages& stages = profile.stages;
  stages.stages = {stage("prefill", "NVTX range prefill"),
                   stage("decode", "NVTX range decode_all")};
  const analysis::PartTimes prefill = parts_of(4000000, 500000, 1250000, 6 * kMillisecond);
  const analysis::PartTimes fast = parts_of(4000000, 1000000, 2500000, 8 * kMillisecond);
  const analysis::PartTimes slow = parts_of(4000000, 1000000, 4500000, 10 * kMillisecond);
  for (int request = 0; request < 3; ++request) {
    const Nanoseconds start = 20 * kMillisecond * request;
    add_instance(profile, 0, request == 0, start, 6 * kMillisecond, prefill);
    const bool is_slow = request == 2;
    add_instance(profile, 1, request == 0, start + 6 * kMillisecond,
                 (is_slow ? 10 : 8) * kMillisecond, is_slow ? slow : fast);
    add_steps(profile, {2000000, 2000000, is_slow ? 4000000 : 2000000, 2000000});
  }
  analysis::Stage& first = stages.stages[0];
  first.wall = two(6000000, 6000000);
  first.busy = first.kernel_sum = two(4500000, 4500000);
  first.kernel_count = two(2, 2);
  analysis::Stage& second = stages.stages[1];
  second.wall = two(8000000, 10000000);
  second.busy = second.kernel_sum = two(5000000, 5000000);
  second.kernel_count = two(8, 8);
  second.step_wall =
      analysis::summarise({2000000, 2000000, 2000000, 2000000, 2000000, 2000000, 4000000, 2000000});
  stages.time_to_first_token = first.wall;
  stages.time_per_output_token = two(2000000, 2500000);
  stages.coverage = {30, 24, 27 * kMillisecond, 26 * kMillisecond};
  stages.reason = "NVTX ranges of the default domain";
  stages.notes = {{0, "vision_tower", 3, 900000, 6, 750000}};
  profile.budgets.stages = {{0, 2, {}, {}, {}}, {1, 2, {}, {}, {}}};
  for (size_t i = 0; i < analysis::kBudgetParts; ++i) {
    profile.budgets.stages[0].total[i] = 2 * prefill[i];
    profile.budgets.stages[1].total[i] = fast[i] + slow[i];
  }
}

void add_details(SampleProfile& sample) {
  analysis::Profile& profile = sample.profile;
  const trace::StringId gemm = profile.ranking.rows[0].name;
  const trace::StringId attention = profile.ranking.rows[1].name;
  analysis::IdleGap gap;
  gap.instance = analysis::InstanceId(5);
  gap.step = analysis::StepId(10);
  gap.start = 50500000;
  gap.end = 52500000;
  gap.cause = analysis::BudgetPart::idle_launch;
  gap.kernel_before = attention;
  gap.kernel_after = gemm;
  gap.host = "aten::item in sample";
  gap.work_before = profile.ranking.rows[1].description.short_name;
  gap.work_after = profile.ranking.rows[0].description.short_name;
  profile.budgets.gaps = {gap};
  profile.budgets.repeated_gaps = {{gap, 6, 7000000}};
  profile.budgets.slow_steps = {{analysis::StepId(10),
                                 2000000,
                                 {{"gap before GEMM 128x272 sm90 (nvjet bf16, TNT)", 2000000}}}};
  const analysis::StageTime prefill = {3, 13500000, 2, 9000000};
  const analysis::StageTime decode = {12, 9000000, 8, 6000000};
  profile.opened = {{{{{132, 1, 1}, {384, 1, 1}, 3, 13500000, {prefill, {}}},
                      {{66, 2, 1}, {384, 1, 1}, 12, 9000000, {{}, decode}}},
                     {prefill, decode}},
                    {{{{16, 8, 1}, {128, 1, 1}, 15, 4500000, {{}, decode}}}, {{}, decode}}};
  analysis::LayerRow layer;
  layer.name = "layer_00";
  layer.stage = 1;
  layer.passes = 8;
  layer.kernel_count = 16;
  layer.kernel_sum = 8000000;
  layer.by_class[part(analysis::KernelClass::gemm)] = 6000000;
  layer.by_class[part(analysis::KernelClass::attention)] = 2000000;
  analysis::LayerRow attn = layer;
  attn.name = "layer_00/attn";
  attn.part = true;
  attn.kernel_sum = 2400000;
  analysis::LayerRow outside = layer;
  outside.name = "outside layers";
  outside.kernel_sum = 2000000;
  layer.note = "40 kernels a pass, the median layer 75";
  profile.layers.rows = {layer, attn, outside};
  profile.operators.rows = {{"aten::linear", 15, 3000000, 500000, 22500000, 22500000, 15},
                            {"my|op <x>", 1, 100000, 100000, 0, 0, 0}};
  profile.operators.source = "PyTorch trace";
  profile.operators.kernels = 28;
  profile.operators.kernels_without = 2;
}

void add_utilization(analysis::Profile& profile) {
  analysis::Utilization& use = profile.utilization;
  llm::ModelSpec model;
  model.name = "dense-8x4096";
  model.source = "config.json";
  model.hidden = 4096;
  model.intermediate = 11008;
  model.heads = 32;
  model.kv_heads = 8;
  model.head_dim = 128;
  model.vocabulary = 32000;
  model.layers.resize(8);
  use.model = model;
  use.gpu.emplace();
  use.gpu->name = "H200 SXM";
  use.gpu->memory_bandwidth = 4.8e12;
  use.gpu->tensor_bf16 = 989e12;
  use.workload.prompt_tokens = analysis::TokenCount{777, "--prompt-tokens"};
  use.workload.new_tokens = analysis::TokenCount{4, "number of decode steps"};
  use.workload.batch = analysis::TokenCount{2, "--batch"};
  analysis::StageUtilization prefill;
  prefill.stage = 0;
  prefill.cost.parts = {{"projections", 2.4e12, 3.1e9, 2.5e7}, {"attention", 1.6e11, 0, 2.5e7}};
  prefill.basis = "one pass over 777 tokens, batch 2";
  prefill.peak_flops = 989e12;
  prefill.peak_name = "bf16 dense";
  prefill.peak_bandwidth = 4.8e12;
  prefill.mfu_wall = 0.4314;
  prefill.mfu_busy = 0.5752;
  prefill.mbu_wall = 0.1094;
  prefill.mbu_busy = 0.1458;
  prefill.floor = 2588473;
  analysis::StageUtilization decode = prefill;
  decode.stage = 1;
  decode.basis = "4 steps of 1 token at a context of 777 to 780, batch 2";
  decode.cost.parts = {{"projections", 2.5e10, 1.24e10, 2e8}};
  decode.mfu_wall = 0.0028;
  decode.mfu_busy = 0.0051;
  decode.mbu_wall = 0.2917;
  decode.mbu_busy = 0.525;
  decode.memory_bound = true;
  decode.floor = 2625000;
  use.stages = {prefill, decode};
}

void add_findings(analysis::Profile& profile) {
  analysis::StageRecoverable decode;
  decode.stage = 1;
  decode.wall = 9000000;
  decode.bound = 2625000;
  decode.tokens = 4;
  decode.parts = {
      {part(analysis::BudgetPart::idle_launch), 3500000, 0, "0: an idle GPU does nothing useful"},
      {part(analysis::KernelClass::gemm), 4000000, 2583333, "weights once at 4.80 TB/s"}};
  profile.recoverable = {decode};
  profile.findings = {
      {"decode is launch-bound", "the GPU waits 3.500 ms of 9.000 ms of wall for launches",
       "record the decode step in a CUDA graph (torch.compile mode=reduce-overhead)", "decode",
       3500000, 7000000, "request", 875000, 3.5 / 9, false},
      {"matrix products are above their floor", "gemm takes 4.000 ms, its floor is 2.583 ms",
       "try other tile shapes; check that weights are read once", "decode", 1416667, 2833334,
       "request", 354166.75, 1416667.0 / 9000000, false}};
  profile.roofline.missing = "ncu's metrics are not among the inputs";
}

analysis::Step engine_step(analysis::StepKind kind, uint64_t batch, uint64_t tokens,
                           analysis::InstanceId instance, Nanoseconds start, Nanoseconds wall) {
  analysis::Step step;
  step.instance = instance;
  step.kind = kind;
  step.batch = batch;
  step.tokens = tokens;
  step.start = start;
  step.end = start + wall;
  step.work.kernel_count = 2;
  step.work.busy = wall / 2;
  return step;
}

}  // namespace

SampleProfile full_sample() {
  SampleProfile sample;
  sample.trace = sample_trace();
  trace::WorkloadMetrics metrics;
  metrics.path = "stage1/metrics.json";
  metrics.stages = {{"prefill", 5.5, 0.25}, {"decode", 7.2, std::nullopt}};
  metrics.mfu_per_stage = {{"prefill", 0.4706}};
  metrics.tokens_per_s = 1111.25;
  metrics.mfu_model_level = 0.31;
  sample.trace->workload = metrics;
  sample.profile.trace = sample.trace.get();
  add_ranking(sample);
  add_stages(sample.profile);
  add_details(sample);
  add_utilization(sample.profile);
  add_findings(sample.profile);
  sample.profile.diagnostics.warn("events_dropped", "the profiler dropped events", 12);
  return sample;
}

SampleProfile duty_sample() {
  SampleProfile sample = full_sample();
  analysis::Profile& profile = sample.profile;
  for (size_t i = 0; i < profile.stages.instances.size(); ++i) {
    analysis::StageInstance& instance = profile.stages.instances[i];
    if (instance.stage != 1) continue;
    instance.untraced_steps = 12;
    profile.stages.steps[instance.first_step].after_untraced = true;
    instance.end += 24 * kMillisecond;
    instance.range_end = instance.end;
    profile.budgets.instances[i][part(analysis::BudgetPart::not_traced)] = 24 * kMillisecond;
  }
  profile.budgets.stages[1].total[part(analysis::BudgetPart::not_traced)] = 48 * kMillisecond;
  profile.stages.stages[1].wall = two(32000000, 34000000);
  profile.stages.time_per_output_token = two(2000000, 2125000);
  analysis::CollectorOverhead overhead;
  overhead.traced = {5, 20, 2130000, 4000};
  overhead.untraced = {4, 48, 2000000, 3000};
  overhead.gap = 12000;
  overhead.added = analysis::CollectorOverhead::Interval{130000, 124500, 135500};
  overhead.share_of_step = 0.065;
  overhead.share_of_decode = 0.0203125;
  overhead.steps_traced = 24;
  overhead.steps_cupti_on = 6;
  overhead.steps_all = 96;
  overhead.duty_traced = 4;
  overhead.duty_period = 16;
  overhead.switches = 11;
  overhead.switch_cost = 270000;
  profile.collector_overhead = overhead;
  analysis::StageCounters prefill;
  prefill.stage = 0;
  prefill.instances = 2;
  prefill.why_not = "samples of the counters cover 31.0 % of the stage's wall time, too little";
  prefill.energy_why_not =
      "no energy: the sensors were read every 113.2 ms, too rarely to tell this stage from others";
  prefill.coverage = 0.31;
  prefill.sm_active = 0.913;
  analysis::StageCounters decode;
  decode.stage = 1;
  decode.instances = 2;
  decode.coverage = 0.985;
  decode.read_bytes = 5.125e10;
  decode.write_bytes = 4.1e8;
  decode.peak_bandwidth = 4.8e12;
  decode.mbu_wall = 0.3261;
  decode.mbu_busy = 0.5871;
  decode.bytes_over_model = 4.1;
  decode.sm_active = 0.702;
  decode.tensor_active = 0.083;
  decode.steps = 16;
  decode.tokens = 32;
  decode.sampled_instances = 1;
  decode.sampled_steps = 16;
  decode.sampled_tokens = 32;
  decode.energy = 12.75;
  decode.energy_source = "energy counter";
  decode.sm_clock = analysis::StageCounters::Sensor{1742.5, 1410, 1980, 9};
  decode.memory_clock = analysis::StageCounters::Sensor{3201, 3201, 3201, 9};
  decode.power = analysis::StageCounters::Sensor{512.25, 430.5, 610, 9};
  decode.temperature = analysis::StageCounters::Sensor{61.5, 58, 66, 9};
  decode.highest_sm_clock = 1980;
  decode.throttled = {{analysis::throttle_reasons(0x4).front(), 0.444}};
  decode.throttle_samples = 9;
  profile.counters.stages = {prefill, decode};
  return sample;
}

SampleProfile profiler_sample() {
  SampleProfile sample;
  sample.trace = sample_trace();
  sample.profile.trace = sample.trace.get();
  add_ranking(sample);
  sample.profile.ranking.source = analysis::KernelSource::profiler;
  sample.profile.totals.devices[0].busy.reset();
  sample.profile.totals.devices[0].span.reset();
  sample.profile.join = analysis::MetricJoin{30, 30, 30};
  analysis::KernelRoofline roofline;
  roofline.launches = 15;
  roofline.grid = trace::Extent{64, 2, 1};
  roofline.grids = 3;
  roofline.flops = 6.12e14;
  roofline.bytes = 1.9e12;
  roofline.intensity = 322.105;
  roofline.compute_percent = 61.88;
  roofline.memory_percent = 39.6;
  roofline.bound = analysis::KernelRoofline::Bound::compute;
  sample.profile.roofline.kernels = {roofline};
  sample.profile.roofline.rule = "bound by what is above 60 % of its peak; latency below both";
  return sample;
}

SampleProfile serving_sample() {
  SampleProfile sample;
  sample.trace = sample_trace();
  analysis::Profile& profile = sample.profile;
  profile.trace = sample.trace.get();
  add_ranking(sample);
  analysis::Stages& stages = profile.stages;
  stages.serving = true;
  stages.confidence = 0.97;
  stages.reason = "the kernel sequence repeats with 16 layers";
  stages.stages = {stage("mixed", "steps with prompts and single tokens"),
                   stage("decode", "steps of single tokens")};
  for (analysis::Stage& each : stages.stages) each.source = analysis::StageSource::detected;
  const analysis::PartTimes parts = parts_of(1000000, 500000, 400000, 2 * kMillisecond);
  for (uint32_t i = 0; i < 4; ++i) {
    const uint32_t of = i == 0 ? 0 : 1;
    const Nanoseconds start = 3 * kMillisecond * i;
    add_instance(profile, of, false, start, 2 * kMillisecond, parts);
    stages.steps.push_back(
        engine_step(of == 0 ? analysis::StepKind::mixed : analysis::StepKind::decode, 4 + i,
                    of == 0 ? 612 : 4 + i, analysis::InstanceId(i), start, 2 * kMillisecond));
    stages.instances.back().step_count = 1;
  }
  stages.stages[0].wall = analysis::summarise({2 * kMillisecond});
  stages.stages[0].busy = stages.stages[0].kernel_sum = analysis::summarise({1500000});
  stages.stages[0].kernel_count = analysis::summarise({2});
  stages.stages[1] = stages.stages[0];
  stages.stages[1].name = "decode";
  stages.stages[1].wall = analysis::summarise({2000000, 2000000, 2000000});
  stages.stages[1].step_wall = stages.stages[1].wall;
  stages.by_batch = {{5, analysis::summarise({2000000})},
                     {6, analysis::summarise({2000000, 2000000})}};
  stages.time_per_output_token = stages.stages[1].wall;
  stages.coverage = {30, 30, 27 * kMillisecond, 20 * kMillisecond};
  profile.budgets.stages = {{0, 1, parts, {}, {}}, {1, 3, {}, {}, {}}};
  for (size_t i = 0; i < analysis::kBudgetParts; ++i)
    profile.budgets.stages[1].total[i] = 3 * parts[i];
  profile.utilization.why_not = "no model was named; give --model";
  return sample;
}

}  // namespace llmprof::report
