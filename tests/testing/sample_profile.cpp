#include "testing/sample_profile.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <initializer_list>
#include <utility>

#include "profile/json/described.h"
#include "profile/profile.h"

namespace llmprof::testing {
namespace {

using profile::Milliseconds;
using profile::Share;

constexpr double kNanosecondsPerMs = 1e6;
constexpr const char* kNotTraced = "not traced";
constexpr const char* kGemm = "GEMM 128x272 sm90 (nvjet bf16, TNT)";
constexpr const char* kAttention = "flash attention <128>, split KV";

profile::WholeNanoseconds whole(double milliseconds) {
  return {static_cast<Nanoseconds>(std::llround(milliseconds * kNanosecondsPerMs))};
}

Share part_of(double part, double all) { return {part / all}; }

template <class Value>
profile::Statistics<Value> statistics(std::vector<double> values) {
  profile::Statistics<Value> result;
  result.count = values.size();
  if (values.empty()) return result;
  std::sort(values.begin(), values.end());
  const auto count = static_cast<double>(values.size());
  double sum = 0;
  for (const double value : values) sum += value;
  const double mean = sum / count;
  result.mean = Value{mean};
  if (values.size() > 1) {
    double squares = 0;
    for (const double value : values) squares += (value - mean) * (value - mean);
    result.std = Value{std::sqrt(squares / (count - 1))};
  }
  const auto nearest_rank = [&](double fraction) {
    return Value{values[static_cast<size_t>(std::ceil(fraction * count)) - 1]};
  };
  result.min = Value{values.front()};
  result.p50 = nearest_rank(0.50);
  result.p99 = nearest_rank(0.99);
  result.max = Value{values.back()};
  return result;
}

// What a kernel class takes of an instance, and what is idle or of nobody.
std::vector<PartTime> parts_of(double gemm, double attention, double launch, double wall) {
  return {{"gemm", gemm},
          {"attention", attention},
          {"idle: launch-bound", launch, true},
          {"unattributed", wall - gemm - attention - launch}};
}

profile::Instance instance(double start, double wall, const std::vector<PartTime>& parts) {
  profile::Instance made;
  made.start = {start};
  made.start_ns = whole(start);
  made.wall = made.range = {wall};
  made.kernel_count = 2;
  made.device = "cuda:0";
  made.budget.emplace();
  double busy = 0;
  for (const PartTime& part : parts) {
    if (part.part == "gemm" || part.part == "attention") {
      busy += part.milliseconds;
      made.classes.emplace_back(*profile::find_word<profile::KernelClass>(part.part),
                                whole(part.milliseconds));
    }
    made.budget->emplace_back(*profile::find_word<profile::TimePart>(part.part),
                              whole(part.milliseconds));
  }
  made.gpu_sum = made.gpu_busy = {busy};
  made.clocks_lowered = false;
  return made;
}

void add_capture(profile::Profile& sample) {
  sample.tool.version = "0.0.0";
  profile::Capture capture;
  capture.path = "runs/a/nsys_node.sqlite";
  capture.format = profile::CaptureFormat::nsys_sqlite;
  capture.tool = "Nsight Systems";
  capture.tool_version = "2025.3.2.0";
  capture.schema_version = "3.20.5";
  capture.wall_clock_ns = 1763200000000000000;
  capture.driver = "580.159";
  capture.cuda = "13.0";
  sample.context.captures = {capture};
  profile::Gpu gpu;
  gpu.device = "cuda:0";
  gpu.name = "NVIDIA H200";
  gpu.uuid = "00010203-0405-0607-0809-0a0b0c0d0e0f";
  gpu.compute_capability = "9.0";
  gpu.sm_count = 132;
  gpu.memory_bytes = 150754820096;
  gpu.memory_bandwidth = 4814400000000;
  gpu.clock = 1980000000;
  sample.context.gpus = {gpu};
  sample.engine.name = profile::kPyTorch;
  sample.engine.framework = profile::kPyTorch;
  sample.engine.compiled = false;
  sample.engine.cuda_graphs = true;
  sample.engine.kernels_in_graphs = Share{0.8};
  sample.engine.confidence = Share{0.9};
  sample.engine.evidence = {{profile::EngineSign::kernels, "ATen", Share{0.25}},
                            {profile::EngineSign::graph_replays, "CUDA graphs", Share{0.8}}};
}

profile::Kernel kernel(std::string name, const char* short_name, const char* kernel_class,
                       double total) {
  profile::Kernel row;
  row.key = row.kernel_name = std::move(name);
  row.short_name = short_name;
  row.kernel_class = *profile::find_word<profile::KernelClass>(kernel_class);
  row.device = "cuda:0";
  row.calls = 15;
  row.total = {total};
  row.total_ns = whole(total);
  row.mean = {total / 15};
  row.min = row.p50 = row.p99 = row.max = Milliseconds{total / 15};
  row.share = part_of(total, 27);
  return row;
}

// 15 calls of 1.5 ms and 15 of 0.3 ms.
void add_kernels(profile::Profile& sample) {
  sample.kernels = {
      kernel("void nvjet_tst_128x272_64x4_2x1_v_bz_TNT<(int)8, a|b>(T1 *, `anonymous`::T2)", kGemm,
             "gemm", 22.5),
      kernel("flash_fwd_splitkv_kernel<Flash_fwd_kernel_traits<128>>", kAttention, "attention",
             4.5)};
  sample.kernels[0].library = "cuBLAS";
  for (const profile::Kernel& row : sample.kernels) {
    sample.classes.push_back({row.kernel_class, row.total, row.calls, row.share, {}});
    sample.kernels_topk.push_back({row.kernel_name, row.device, row.total, row.calls, row.mean});
    sample.kernels_all_devices.push_back(
        {row.kernel_name, row.short_name, row.device, row.total, row.calls, row.mean, row.share});
  }
  profile::Totals& totals = sample.totals;
  totals.source = profile::KernelSource::timeline;
  totals.kernel_count = 30;
  totals.kernel_sum = {27};
  totals.kernel_sum_ns = whole(27);
  totals.gpu_busy = Milliseconds{27};
  totals.span = Milliseconds{60};
  totals.device_count = totals.gpu_count = 1;
  totals.devices = {{"cuda:0", "NVIDIA H200", 30, {27}, Milliseconds{27}, Milliseconds{60}}};
}

profile::Step step(std::string stage, uint64_t instance, uint64_t number, double start,
                   double wall) {
  profile::Step made;
  made.stage = std::move(stage);
  made.instance = instance;
  made.step_of_instance = number;
  made.kind = profile::StepKind::decode;
  made.start = {start};
  made.wall = {wall};
  made.gpu_sum = made.gpu_busy = {wall / 2};
  made.kernel_count = 2;
  constexpr double kAttentionShare = 0.2;
  made.classes = {{profile::KernelClass::gemm, whole((1 - kAttentionShare) * wall / 2)},
                  {profile::KernelClass::attention, whole(kAttentionShare * wall / 2)}};
  made.clocks_lowered = false;
  made.layers = 1;
  return made;
}

void add_steps(profile::Profile& sample, uint64_t instance, std::initializer_list<double> walls) {
  profile::Instance& decode = sample.stages[1].instances[instance];
  double at = decode.start.value;
  for (const double wall : walls) {
    sample.steps.push_back(step("decode", instance, decode.steps++, at, wall));
    at += wall;
  }
  decode.kernel_count = 2 * decode.steps;
}

profile::Stage stage(std::string name, profile::StageSource source, std::string evidence) {
  profile::Stage made;
  made.name = std::move(name);
  made.source = source;
  made.evidence = std::move(evidence);
  return made;
}

// What follows from a stage's instances, its budget and how many steps of decode were traced.
void count_instances(profile::Stage& stage) {
  stage.instance_count = stage.instances.size();
  for (const profile::Instance& each : stage.instances) {
    if (each.warmup) {
      ++stage.warmup_count;
    } else {
      stage.step_count += each.steps;
    }
  }
}

void set_shares(profile::Profile& sample) {
  double all = 0;
  double traced = 0;
  double busy = 0;
  const auto total = [](const profile::Statistics<Milliseconds>& of) {
    return of.mean->value * static_cast<double>(of.count);
  };
  for (profile::Stage& each : sample.stages) {
    const double not_traced =
        each.tracing && each.tracing->not_traced
            ? each.tracing->not_traced->value * static_cast<double>(each.wall.count)
            : 0;
    const double wall = total(each.wall) - not_traced;
    each.gpu_busy_share_of_wall = part_of(total(each.gpu_busy), wall);
    all += total(each.wall);
    traced += wall;
    busy += total(each.gpu_busy);
  }
  for (profile::Stage& each : sample.stages)
    each.share_of_stage_time = part_of(total(each.wall), all);
  sample.token_times.gpu_busy_share_of_wall = part_of(busy, traced);
}

// Prefills of 6 ms (gemm 4, attention 0.5, launch-bound 1.25, 0.25 of nobody), decodes of 8 and
// 10 ms.
void add_stages(profile::Profile& sample) {
  sample.stages = {stage("prefill", profile::StageSource::nvtx, "NVTX range prefill"),
                   stage("decode", profile::StageSource::nvtx, "NVTX range decode_all")};
  profile::Stage& prefill = sample.stages[0];
  profile::Stage& decode = sample.stages[1];
  for (uint64_t request = 0; request < 3; ++request) {
    const double start = 20 * static_cast<double>(request);
    const bool slow = request == 2;
    const double wall = slow ? 10 : 8;
    prefill.instances.push_back(instance(start, 6, parts_of(4, 0.5, 1.25, 6)));
    decode.instances.push_back(instance(start + 6, wall, parts_of(4, 1, slow ? 4.5 : 2.5, wall)));
    prefill.instances.back().warmup = decode.instances.back().warmup = request == 0;
    add_steps(sample, request, {2, 2, slow ? 4.0 : 2.0, 2});
  }
  prefill.wall = times({6, 6});
  prefill.gpu_sum = prefill.gpu_busy = times({4.5, 4.5});
  prefill.kernel_count = statistics<double>({2, 2});
  count_instances(prefill);
  set_budget(prefill, parts_of(8, 1, 2.5, 12));
  prefill.judgement = {profile::IdleLevel::some, false, true, std::nullopt};
  decode.wall = times({8, 10});
  decode.gpu_sum = decode.gpu_busy = times({5, 5});
  decode.kernel_count = statistics<double>({8, 8});
  decode.step_wall = times({2, 2, 2, 2, 2, 2, 4, 2});
  decode.decode_step_count = 8;
  count_instances(decode);
  set_budget(decode, parts_of(8, 2, 7, 18));
  decode.judgement = {profile::IdleLevel::much, false, true, std::nullopt};
  set_shares(sample);
  sample.stages_found = {
      false, std::nullopt, std::nullopt, "NVTX ranges of the default domain", {}};
  sample.stage_notes = {{"prefill", "vision_tower", 3, {0.9}, 6, {0.75}}};
  sample.coverage = profile::Coverage{30,
                                      24,
                                      part_of(24, 30),
                                      {27},
                                      {26},
                                      part_of(26, 27),
                                      {},
                                      {},
                                      4,
                                      {0.5},
                                      26,
                                      part_of(24, 26),
                                      {26.5},
                                      part_of(26, 26.5),
                                      true};
  profile::TokenTimes& tokens = sample.token_times;
  tokens.time_to_first_token = prefill.wall;
  tokens.time_per_output_token = times({2, 2.5});
  tokens.request = Milliseconds{15};
  tokens.tokens_per_s_per_sequence = profile::TokensPerSecond{1000 / 2.25};
  tokens.tokens_per_s = profile::TokensPerSecond{2000 / 2.25};
}

// Two kernels per pass: a product, then attention. The order of budgets and steps above.
void add_kernel_sequences(profile::Profile& sample) {
  const auto placed = [&](size_t kernel, uint64_t position, uint64_t calls, double total) {
    const profile::Kernel& row = sample.kernels[kernel];
    profile::PlacedKernel made;
    made.block = profile::PassBlock::layer;
    made.mean_position = static_cast<double>(position);
    made.key = row.key;
    made.short_name = row.short_name;
    made.kernel_class = row.kernel_class;
    made.grid = {66, 2, 1};
    made.block_size = {384, 1, 1};
    made.shapes = 1;
    made.calls = calls;
    made.total_ns = whole(total);
    return made;
  };
  sample.kernel_sequences = {{"prefill", 2, 2, {placed(0, 0, 2, 8), placed(1, 1, 2, 1)}},
                             {"decode", 8, 8, {placed(0, 0, 8, 8), placed(1, 1, 8, 2)}}};
}

void add_gaps(profile::Profile& sample) {
  profile::Gap gap;
  gap.stage = "decode";
  gap.instance = 2;
  gap.step = 10;
  gap.step_of_instance = 2;
  gap.after_start = {4.5};
  gap.time = {2};
  gap.cause = profile::TimePart::idle_launch;
  gap.work_before = kAttention;
  gap.work_after = kGemm;
  gap.host = "aten::item in sample";
  gap.host_reasons = {
      profile::make_reason(profile::ReasonKind::host_operator,
                           profile::FindingValues().add("operator", "aten::item in sample"))};
  sample.gaps = {gap};
  sample.repeated_gaps = {{"decode", 6, {7}, gap}};
  sample.slow_steps = {{"decode", 2, 10, 2, {4}, {2}, {{std::string("gap before ") + kGemm, {2}}}}};
}

// Of 22.5 ms of gemm, 9 ms of prefills and 6 ms of decodes are measured, over 8 steps.
void add_launch_shapes(profile::Profile& sample) {
  const profile::TimeInStage prefill = {{13.5}, 3, {9}, 2};
  const profile::TimeInStage decode = {{9}, 12, {6}, 8};
  const Milliseconds per_token = {6.0 / 8};
  sample.kernels[0].stages = {{"prefill", prefill}, {"decode", decode}};
  const auto measured = [](double total, uint64_t calls, std::optional<Share> share) {
    return profile::MeasuredTime{{total}, calls, {total / static_cast<double>(calls)}, share};
  };
  const auto no_share = std::nullopt;
  sample.kernels[0].shapes = {
      {{132, 1, 1}, {384, 1, 1}, 3, {13.5}, {4.5}, std::nullopt, measured(9, 2, no_share)},
      {{66, 2, 1}, {384, 1, 1}, 12, {9}, {0.75}, per_token, measured(6, 8, no_share)}};
  sample.kernels[1].stages = {{"decode", decode}};
  sample.kernels[1].shapes = {
      {{16, 8, 1}, {128, 1, 1}, 15, {4.5}, {0.3}, per_token, measured(6, 8, no_share)}};
  for (profile::Kernel& row : sample.kernels) row.per_token = per_token;
  sample.kernels[0].measured = sample.classes[0].measured = measured(15, 10, part_of(15, 21));
  sample.kernels[1].measured = sample.classes[1].measured = measured(6, 8, part_of(6, 21));
  for (const profile::Kernel& row : sample.kernels) {
    const profile::MeasuredTime& time = *row.measured;
    sample.measured_kernels_all_devices.push_back({row.kernel_name, row.short_name, row.device,
                                                   time.total, time.calls, time.mean, *time.share});
  }
  sample.totals.scopes = {{profile::Scope::measured, 18, {21}, part_of(21, 27)},
                          {profile::Scope::warmup, 10, {4.5}, part_of(4.5, 27)},
                          {profile::Scope::initialization, 2, {1.5}, part_of(1.5, 27)},
                          {profile::Scope::outside, 0, {0}, part_of(0, 27)}};
}

void add_timeline(profile::Profile& sample) {
  profile::DeviceTime device;
  device.device = "cuda:0";
  device.span = {60};
  device.busy = {30};
  device.busy_share_of_span = part_of(30, 60);
  device.compute = {27};
  device.communication = {4};
  device.overlapped_communication = {3};
  device.exposed_communication = {1};
  device.copies = {5};
  device.overlapped_copies = {3};
  device.exposed_copies = {2};
  device.idle = {30};
  device.idle_share_of_span = part_of(30, 60);
  device.idle_causes = {{profile::TimePart::idle_launch, {21}, part_of(21, 60), 40},
                        {profile::TimePart::idle_host, {9}, part_of(9, 60), 12}};
  profile::Launches launches;
  launches.launches = 30;
  launches.call = times({0.004, 0.006});
  launches.to_start = times({0.008, 0.030});
  launches.to_idle_gpu = times({0.008, 0.009});
  launches.queue_depth.count = 30;
  launches.queue_depth.p50 = 1;
  launches.queue_depth.max = 7;
  launches.short_kernels = {{{0.002}, 3, part_of(3, 30), {0.005}, part_of(0.005, 27)}};
  device.launches = launches;
  sample.device_time = {device};
  profile::Copies copies;
  copies.device = "cuda:0";
  copies.direction = "Host-to-Device";
  copies.from = profile::MemoryPlace::pageable;
  copies.to = profile::MemoryPlace::device;
  copies.count = 6;
  copies.total = {4};
  copies.bytes = profile::Bytes{4.8e7};
  copies.bytes_per_s = profile::BytesPerSecond{1.2e10};
  copies.min_bytes = profile::Bytes{4096};
  copies.p50_bytes = profile::Bytes{8e6};
  copies.max_bytes = profile::Bytes{1.6e7};
  sample.copies = {copies};
}

void add_layers(profile::Profile& sample) {
  profile::Layer layer;
  layer.name = "layer_00";
  layer.stage = "decode";
  layer.source = profile::StageSource::nvtx;
  layer.per_step = {1};
  layer.kernels_per_step = 2;
  layer.passes = 8;
  layer.total_ns = whole(8);
  layer.classes = {{profile::KernelClass::gemm, {0.75}}, {profile::KernelClass::attention, {0.25}}};
  profile::Layer attention = layer;
  attention.name = "layer_00/attn";
  attention.part = true;
  attention.per_step = {0.3};
  attention.total_ns = whole(2.4);
  profile::Layer outside = layer;
  outside.name = "outside layers";
  outside.outside = true;
  outside.per_step = {0.25};
  outside.total_ns = whole(2);
  layer.note = "40 kernels per pass, the median layer 75";
  sample.layers = {layer, attention, outside};
  profile::StageLayers together;
  together.stage = "decode";
  together.passes = 8;
  together.layers = 1;
  together.mean_per_step = together.min_per_step = together.max_per_step = {1};
  together.parts = {{"layers, outside of their parts", {0.7}, part_of(0.7, 1.25)},
                    {"attn", {0.3}, part_of(0.3, 1.25)},
                    {"outside layers", {0.25}, part_of(0.25, 1.25)}};
  sample.layer_summary.stages = {together};
}

void add_operators(profile::Profile& sample) {
  profile::Operator linear;
  linear.name = "aten::linear";
  linear.calls = 15;
  linear.cpu_total = {3};
  linear.cpu_self = {0.5};
  linear.cuda_total = linear.cuda_self = {22.5};
  linear.mean = {0.2};
  linear.kernel_count = 15;
  profile::Operator own;
  own.name = "my|op <x>";
  own.calls = 1;
  own.cpu_total = own.cpu_self = own.mean = {0.1};
  sample.operators = {linear, own};
  profile::OperatorsFound& found = sample.operators_found;
  found.source = "PyTorch trace";
  found.kernels_with_operator = 28;
  found.kernels_without_operator = 2;
  found.kernels = 30;
  found.kernels_share = part_of(28, 30);
  found.cuda_self_sum = {22.5};
  found.share_of_gpu_time = part_of(22.5, 27);
}

// A product of bf16 matrices on an H200, whose weight is stored by output feature.
profile::Product product(std::string_view stage, profile::ProductRole role,
                         std::array<uint64_t, 3> sizes, uint64_t calls, double total) {
  constexpr double kPeakFlops = 989e12;
  constexpr double kPeakBandwidth = 4.8e12;
  constexpr double kMsPerSecond = 1e3;
  profile::Product row;
  row.stage = stage;
  row.role = role;
  row.role_source = profile::RoleSource::order;
  row.m = sizes[0];
  row.n = sizes[1];
  row.k = sizes[2];
  row.type_a = row.type_b = row.type_output = ElementType::bf16;
  row.layout_a = MatrixLayout::plain;
  row.layout_b = MatrixLayout::transposed;
  row.kernel_name = row.short_name = kGemm;
  row.library = "cuBLASLt";
  row.device = "cuda:0";
  row.calls = row.kernels = calls;
  row.total = {total};
  row.mean = {total / static_cast<double>(calls)};
  row.share = part_of(total, 22.5);
  const auto m = static_cast<double>(row.m);
  const auto n = static_cast<double>(row.n);
  const auto k = static_cast<double>(row.k);
  row.flops = {2 * m * n * k};
  row.bytes = {2 * (m * k + k * n + m * n)};
  row.flops_per_byte = {row.flops.value / row.bytes->value};
  row.flops_per_s = {row.flops.value / row.mean.value * kMsPerSecond};
  row.bytes_per_s = {row.bytes->value / row.mean.value * kMsPerSecond};
  row.peak_flops = {kPeakFlops};
  row.peak_name = "bf16 dense";
  const double compute = row.flops.value / kPeakFlops * kMsPerSecond;
  const double memory = row.bytes->value / kPeakBandwidth * kMsPerSecond;
  row.floor = {std::max(compute, memory)};
  row.floor_bound = compute > memory ? profile::Bound::compute : profile::Bound::memory;
  row.floor_share = part_of(row.floor->value, row.mean.value);
  row.above_floor = {total - static_cast<double>(calls) * row.floor->value};
  return row;
}

void add_products(profile::Profile& sample) {
  sample.products = {
      product("prefill", profile::ProductRole::gate_up, {1554, 22016, 4096}, 2, 9),
      product("decode", profile::ProductRole::down, {2, 4096, 11008}, 8, 6),
  };
  profile::ProductsFound& found = sample.products_found;
  found.time = {22.5};
  found.with_shape = {15};
  found.with_shape_share = found.with_role_share = part_of(15, 22.5);
  found.kernels = 15;
  found.kernels_without_shape = 5;
  found.sources = {{profile::ProductSource::framework_dimensions, 10, {15}, part_of(15, 22.5)}};
  found.without_shape = {
      {kGemm, kGemm, "my|op <x>", profile::WhyNoShape::no_sizes, 5, Milliseconds{7.5}}};
}

void add_model(profile::Profile& sample) {
  profile::Model model;
  model.name = "dense-8x4096";
  model.params = 1676742656;
  model.active_params = 1676742656;
  model.dtype = model.weights_dtype = model.kv_cache_dtype = "bf16";
  model.layers = 8;
  model.weight_bytes = {2 * 1676742656.0};
  model.kv_bytes_per_token = {32768};
  model.source = "config.json";
  sample.model = model;
  sample.utilization.gpu = profile::UtilizationGpu{"H200 SXM", {4.8e12}, {989e12}};
  profile::Workload& workload = sample.workload;
  workload.batch = 2;
  workload.batch_source = "--batch";
  workload.prompt_tokens = 777;
  workload.prompt_tokens_source = "--prompt-tokens";
  workload.new_tokens = 4;
  workload.new_tokens_source = "number of decode steps";
}

void set_cost(profile::Stage& stage, std::vector<profile::CostPart> parts, double floor) {
  stage.cost = std::move(parts);
  double flops = 0;
  double bytes = 0;
  for (const profile::CostPart& part : stage.cost) {
    flops += part.flops.value;
    bytes += part.weight_bytes.value + part.kv_bytes.value;
  }
  stage.flops = profile::Flops{flops};
  stage.bytes = profile::Bytes{bytes};
  stage.flops_per_byte = profile::FlopsPerByte{flops / bytes};
  stage.peak_flops = profile::FlopsPerSecond{989e12};
  stage.peak_name = "bf16 dense";
  stage.peak_bandwidth = profile::BytesPerSecond{4.8e12};
  stage.ridge = profile::FlopsPerByte{989e12 / 4.8e12};
  stage.floor = Milliseconds{floor};
  stage.wall_over_floor = stage.wall.mean->value / floor;
}

void add_utilization(profile::Profile& sample) {
  add_model(sample);
  profile::Stage& prefill = sample.stages[0];
  set_cost(prefill,
           {{"projections", {2.4e12}, {3.1e9}, {2.5e7}}, {"attention", {1.6e11}, {0}, {2.5e7}}},
           2.588473);
  prefill.basis = "one pass over 777 tokens, batch 2";
  prefill.memory_bound = false;
  prefill.mfu = {Share{0.4314}, Share{0.5752}};
  prefill.mbu = {Share{0.1094}, Share{0.1458}};
  prefill.judgement.limit = profile::Limit::room;
  profile::Stage& decode = sample.stages[1];
  set_cost(decode, {{"projections", {2.5e10}, {1.24e10}, {2e8}}}, 2.625);
  decode.basis = "4 steps of 1 token at a context of 777 to 780, batch 2";
  decode.memory_bound = true;
  decode.mfu = {Share{0.0028}, Share{0.0051}};
  decode.mbu = {Share{0.2917}, Share{0.525}};
  decode.judgement.limit = profile::Limit::room;
}

void add_findings(profile::Profile& sample) {
  profile::PotentialSavings decode;
  decode.stage = "decode";
  decode.wall = {9};
  decode.bound = Milliseconds{2.625};
  decode.tokens = 8;
  decode.parts = {{profile::TimePart::idle_launch,
                   {3.5},
                   {0},
                   "0: an idle GPU does nothing useful",
                   {3.5},
                   Milliseconds{0.875 / 2},
                   Milliseconds{0.875}},
                  {part_of_class(profile::KernelClass::gemm),
                   {4},
                   {2.583333},
                   "weights once at 4.80 TB/s",
                   {1.416667},
                   Milliseconds{1.416667 / 8},
                   Milliseconds{1.416667 / 4}}};
  decode.parts[0].floor_rule_reasons = {profile::make_reason(profile::ReasonKind::zero_idle_gpu)};
  profile::KernelSaving gemm;
  gemm.short_name = kGemm;
  gemm.device = "cuda:0";
  gemm.time = {4};
  gemm.floor = {2.583333};
  gemm.floor_rule = "weights once at 4.80 TB/s";
  gemm.floor_basis = profile::FloorBasis::share_of_class;
  gemm.saving = {1.416667};
  gemm.saving_per_token = Milliseconds{1.416667 / 8};
  gemm.saving_per_output_token = Milliseconds{1.416667 / 4};
  decode.kernels = {gemm};
  sample.savings = {decode};
  profile::Finding launches;
  launches.kind = profile::FindingKind::launch_bound;
  launches.title = "decode is launch-bound";
  launches.evidence = "the GPU waits 3.500 ms of 9.000 ms of wall for launches";
  launches.advice = "record the decode step in a CUDA graph (torch.compile mode=reduce-overhead)";
  launches.stage = "decode";
  launches.saving = Milliseconds{3.5};
  launches.total_saving = Milliseconds{7};
  launches.unit = "request";
  launches.saving_per_token = Milliseconds{0.875 / 2};
  launches.saving_per_output_token = Milliseconds{0.875};
  launches.share_of_wall = part_of(3.5, 9);
  profile::FindingValues values;
  values.add("idle_time", Milliseconds{3.5}).add("wall_time", Milliseconds{9});
  launches.values = std::move(values).take();
  profile::Finding products;
  products.kind = profile::FindingKind::gemm_above_floor;
  products.title = "matrix products are above their floor";
  products.evidence = "gemm takes 4.000 ms, its floor is 2.583 ms";
  products.advice = "try other tile shapes; check that weights are read once";
  products.stage = "decode";
  products.saving = Milliseconds{1.416667};
  products.total_saving = Milliseconds{2.833334};
  products.unit = "request";
  products.saving_per_token = Milliseconds{1.416667 / 8};
  products.saving_per_output_token = Milliseconds{1.416667 / 4};
  products.share_of_wall = part_of(1.416667, 9);
  sample.findings = {launches, products};
  sample.roofline.why_not = "ncu's metrics are not among the inputs";
}

void add_stage1(profile::Profile& sample) {
  profile::Stage1 metrics;
  metrics.path = "stage1/metrics.json";
  metrics.stages = {
      {"prefill", Milliseconds{5.5}, Milliseconds{0.25}, Share{0.4706}, Milliseconds{6}, 6 / 5.5},
      {"decode", Milliseconds{7.2}, std::nullopt, std::nullopt, Milliseconds{9}, 9 / 7.2}};
  metrics.tokens_per_s = profile::TokensPerSecond{1111.25};
  metrics.mfu_model_level = Share{0.31};
  sample.stage1 = metrics;
}

// Decodes of 32 and 34 ms, of which 24 ms and 12 of 16 steps were not traced.
void trace_a_quarter_of_decode(profile::Profile& sample) {
  profile::Stage& decode = sample.stages[1];
  for (profile::Instance& each : decode.instances) {
    each.untraced_steps = 12;
    each.wall = each.range = {each.wall.value + 24};
    each.budget->emplace_back(profile::TimePart::not_traced, whole(24));
  }
  for (profile::Step& each : sample.steps) each.after_untraced = each.step_of_instance == 0;
  decode.wall = times({32, 34});
  decode.wall_over_floor = 33 / decode.floor->value;
  decode.tracing = profile::StageTracing{8, 32, part_of(8, 32), Milliseconds{24}};
  std::vector<PartTime> parts = parts_of(8, 2, 7, 18);
  parts.push_back({kNotTraced, 48});
  set_budget(decode, parts);
  set_shares(sample);
  sample.token_times.time_per_output_token = times({2, 2.125});
  sample.token_times.request = Milliseconds{39};
  sample.token_times.tokens_per_s_per_sequence = profile::TokensPerSecond{1000 / 2.0625};
  sample.token_times.tokens_per_s = profile::TokensPerSecond{2000 / 2.0625};
  sample.stage1->stages[1].captured_mean = Milliseconds{33};
  sample.stage1->stages[1].captured_over_stage1 = 33 / 7.2;
  for (profile::Finding& finding : sample.findings) {
    finding.unit = "traced part of a request";
    finding.traced_part = true;
  }
}

// What the program's own clock says of a stage, with its busy parts as recorded, and idle ones
// scaled to what is left.
profile::UntracedTimes by_own_clock(const profile::Stage& stage, double wall, double busy) {
  const double recorded = stage.wall.mean->value;
  profile::UntracedTimes own;
  own.source = profile::UntracedSource::workload_clock;
  own.wall = {wall};
  own.added = {recorded - wall};
  own.added_share = part_of(recorded - wall, wall);
  own.busy = {busy};
  own.idle = {wall - busy};
  own.idle_share = part_of(wall - busy, wall);
  const double steps =
      static_cast<double>(stage.step_count) / static_cast<double>(stage.wall.count);
  if (stage.step_count > 0) own.per_step = Milliseconds{wall / steps};
  own.instances_timed = stage.wall.count;
  own.steps_recorded = own.steps_all = stage.step_count;
  for (const profile::BudgetPart& part : *stage.budget) {
    const bool works = static_cast<size_t>(part.part) < profile::kClassParts;
    const double time =
        works ? part.time.value : part.time.value * (wall - busy) / (recorded - busy);
    own.budget.push_back(
        {part.part,
         {time},
         part_of(time, wall),
         stage.step_count > 0 ? std::optional(Milliseconds{time / steps}) : std::nullopt,
         part.idle});
  }
  return own;
}

profile::Overhead tracing_overhead() {
  profile::CollectorOverhead measured;
  measured.traced = {5, 20, Milliseconds{2.13}, Milliseconds{0.004}};
  measured.untraced = {4, 48, Milliseconds{2}, Milliseconds{0.003}};
  measured.gap = {0.012};
  measured.added_per_step = Milliseconds{0.13};
  measured.low_per_step = Milliseconds{0.1245};
  measured.high_per_step = Milliseconds{0.1355};
  measured.interval_confidence = {0.95};
  measured.share_of_untraced_step = Share{0.065};
  measured.share_of_decode = Share{0.0203125};
  measured.steps_traced = 24;
  measured.steps_cupti_on = 6;
  measured.steps_all = 96;
  measured.duty_traced = 4;
  measured.duty_period = 16;
  measured.switches = 11;
  measured.switch_cost = {0.27};
  return {{}, {0.25}, measured};
}

profile::Measured prefill_counters() {
  profile::Measured measured;
  measured.instances = 2;
  measured.why_not = "samples of the counters cover 31.0 % of the stage's wall time, too little";
  measured.energy_why_not =
      "no energy: the sensors were read every 113.2 ms, too rarely to tell this stage from others";
  measured.coverage_share_of_wall = Share{0.31};
  measured.sm_active = Share{0.913};
  return measured;
}

// One of two decodes was sampled: 16 steps, 32 tokens.
profile::Measured decode_counters() {
  constexpr double kRead = 5.125e10;
  constexpr double kWritten = 4.1e8;
  const auto over = [](double bytes, double count) { return profile::Bytes{bytes / count}; };
  profile::Measured measured;
  measured.instances = 2;
  measured.sampled_instances = 1;
  measured.coverage_share_of_wall = Share{0.985};
  measured.dram_read = profile::Bytes{kRead};
  measured.dram_write = profile::Bytes{kWritten};
  measured.dram = profile::Bytes{kRead + kWritten};
  measured.dram_per_step = over(kRead + kWritten, 16);
  measured.dram_read_per_step = over(kRead, 16);
  measured.dram_write_per_step = over(kWritten, 16);
  measured.dram_read_per_token = over(kRead, 32);
  measured.dram_write_per_token = over(kWritten, 32);
  measured.bytes_over_model = Share{4.1};
  measured.mbu = {Share{0.3261}, Share{0.5871}};
  measured.peak_bandwidth = profile::BytesPerSecond{4.8e12};
  measured.sm_active = Share{0.702};
  measured.tensor_active = Share{0.083};
  measured.steps = measured.sampled_steps = 16;
  measured.tokens = measured.sampled_tokens = 32;
  measured.energy = profile::Joules{12.75};
  measured.energy_per_token = profile::Joules{12.75 / 32};
  measured.energy_source = profile::EnergySource::energy_counter;
  measured.sm_clock = profile::Sensor<profile::Hertz>{{1742.5e6}, {1410e6}, {1980e6}, 9};
  measured.highest_sm_clock = profile::Hertz{1980e6};
  measured.memory_clock = profile::Sensor<profile::Hertz>{{3201e6}, {3201e6}, {3201e6}, 9};
  measured.power = profile::Sensor<profile::Watts>{{512.25}, {430.5}, {610}, 9};
  measured.temperature = profile::Sensor<profile::DegreesCelsius>{{61.5}, {58}, {66}, 9};
  measured.throttle_reasons = {{profile::ClockLimit::power_cap, true, {0.444}}};
  measured.throttle_samples = 9;
  return measured;
}

// Fills what is described with values that differ from one to the next.
class DescribedSample {
 public:
  template <class T>
  void fill(T& value) {
    if constexpr (profile::json::Described<T>) {
      profile::json::each_field<T>(
          [&](auto /*name*/, auto member, auto /*meaning*/) { fill(member(value)); });
    } else if constexpr (requires { value.emplace_back(); }) {
      fill(value.emplace_back());
    } else if constexpr (requires { value.emplace(); }) {
      fill(value.emplace());
    } else if constexpr (requires {
                           value.first;
                           value.second;
                         }) {
      fill(value.first);
      fill(value.second);
    } else if constexpr (std::is_same_v<T, std::string>) {
      value = "text " + std::to_string(++last_);
    } else if constexpr (requires { value.value; }) {
      value.value = static_cast<decltype(value.value)>(++last_);
    } else if constexpr (std::is_arithmetic_v<T> && !std::is_same_v<T, bool>) {
      value = static_cast<T>(++last_);
    }
  }

 private:
  uint64_t last_ = 0;
};

// Of these the full sample has nothing: it is one whole run of one rank.
constexpr std::array<std::string_view, 4> kLeftEmpty = {"selection", "failed captures", "job",
                                                        "overhead"};

// Topics that nothing above is about.
void add_other_topics(profile::Profile& sample) {
  DescribedSample described;
  const auto has_rows = [](const auto& member) {
    if constexpr (requires { member.empty(); }) return !member.empty();
    return true;
  };
  profile::each_topic([&](auto row, auto... members) {
    constexpr std::string_view kName = decltype(row.kTopic)::kName;
    const bool left = std::find(kLeftEmpty.begin(), kLeftEmpty.end(), kName) != kLeftEmpty.end();
    if (left || (has_rows(sample.*members) || ...)) return;
    (described.fill(sample.*members), ...);
  });
}

}  // namespace

profile::Statistics<Milliseconds> times(std::vector<double> milliseconds) {
  return statistics<Milliseconds>(std::move(milliseconds));
}

void set_budget(profile::Stage& stage, const std::vector<PartTime>& parts) {
  const auto instances = static_cast<double>(stage.wall.count);
  double wall = 0;
  double not_traced = 0;
  double idle = 0;
  for (const PartTime& part : parts) {
    wall += part.milliseconds;
    if (part.part == kNotTraced) not_traced = part.milliseconds;
    if (part.idle) idle += part.milliseconds;
  }
  stage.budget.emplace();
  for (const PartTime& part : parts) {
    if (part.milliseconds == 0) continue;
    profile::BudgetPart row;
    row.part = *profile::find_word<profile::TimePart>(part.part);
    row.time = {part.milliseconds / instances};
    row.share = part_of(part.milliseconds, wall);
    row.total_ns = whole(part.milliseconds);
    row.idle = part.idle;
    if (part.part != kNotTraced) {
      row.share_of_traced = part_of(part.milliseconds, wall - not_traced);
      if (stage.decode_step_count > 0) {
        row.per_step =
            Milliseconds{part.milliseconds / static_cast<double>(stage.decode_step_count)};
      }
    }
    stage.budget->push_back(std::move(row));
  }
  std::stable_sort(stage.budget->begin(), stage.budget->end(),
                   [](const profile::BudgetPart& a, const profile::BudgetPart& b) {
                     return a.total_ns > b.total_ns;
                   });
  stage.idle = Milliseconds{idle / instances};
  stage.idle_share_of_wall = part_of(idle, wall - not_traced);
  if (stage.decode_step_count == 0) return;
  const uint64_t untraced =
      stage.tracing ? stage.tracing->steps_all - stage.tracing->steps_traced : 0;
  stage.wall_per_step =
      Milliseconds{wall / static_cast<double>(stage.decode_step_count + untraced)};
}

profile::Profile full_sample() {
  profile::Profile sample;
  add_capture(sample);
  add_kernels(sample);
  add_stages(sample);
  add_kernel_sequences(sample);
  add_gaps(sample);
  add_launch_shapes(sample);
  add_timeline(sample);
  add_layers(sample);
  add_operators(sample);
  add_products(sample);
  add_utilization(sample);
  add_findings(sample);
  add_stage1(sample);
  sample.diagnostics = {{Severity::warning, "events_dropped", "the profiler dropped events", 12}};
  add_other_topics(sample);
  return sample;
}

profile::Profile controlled_sample() {
  constexpr double kWarnAbove = 0.25;
  profile::Profile sample = full_sample();
  sample.workload.command = "python3 serve.py --prompt 777";
  profile::Overhead& overhead = sample.overhead.emplace();
  overhead.warn_above_share = {kWarnAbove};
  for (size_t i = 0; i < sample.stages.size(); ++i) {
    profile::Stage& stage = sample.stages[i];
    const profile::Stage1Stage& own = sample.stage1->stages[i];
    stage.untraced = by_own_clock(stage, own.mean->value, stage.gpu_busy.mean->value);
    const double recorded = stage.wall.mean->value;
    overhead.passes.push_back({profile::RecordingName::nsys,
                               stage.name,
                               *own.mean,
                               {recorded},
                               recorded / own.mean->value,
                               false,
                               {}});
  }
  return sample;
}

profile::Profile duty_sample() {
  profile::Profile sample = full_sample();
  trace_a_quarter_of_decode(sample);
  sample.overhead = tracing_overhead();
  sample.stages[0].measured = prefill_counters();
  sample.stages[1].measured = decode_counters();
  return sample;
}

profile::Profile profiler_sample() {
  profile::Profile sample;
  add_capture(sample);
  add_kernels(sample);
  profile::Totals& totals = sample.totals;
  totals.source = profile::KernelSource::profiler;
  totals.gpu_busy = totals.span = totals.devices[0].gpu_busy = totals.devices[0].span =
      std::nullopt;
  totals.metric_join = profile::MetricJoin{30, 30, 0, 30};
  profile::RooflineKernel gemm;
  gemm.kernel_name = sample.kernels[0].kernel_name;
  gemm.short_name = sample.kernels[0].short_name;
  gemm.device = sample.kernels[0].device;
  gemm.launches = 15;
  gemm.commonest_grid = profile::Extent{64, 2, 1};
  gemm.grids = 3;
  gemm.flops_per_s = profile::FlopsPerSecond{6.12e14};
  gemm.bytes_per_s = profile::BytesPerSecond{1.9e12};
  gemm.flops_per_byte = profile::FlopsPerByte{322.105};
  gemm.compute_share_of_peak = Share{0.6188};
  gemm.memory_share_of_peak = Share{0.396};
  gemm.bound = profile::Bound::compute;
  gemm.source = profile::RooflineSource::ncu;
  sample.roofline.kernels = {gemm};
  sample.roofline.rule = "bound by what is above 60 % of its peak; latency below both";
  sample.roofline.share_of_kernel_time =
      profile::BoundShares{{0}, part_of(22.5, 27), {0}, part_of(4.5, 27)};
  return sample;
}

profile::Profile serving_sample() {
  profile::Profile sample;
  add_capture(sample);
  add_kernels(sample);
  sample.stages_found = {true,
                         Share{0.97},
                         profile::ConfidenceLevel::high,
                         "the kernel sequence repeats with 16 layers",
                         {profile::make_reason(profile::ReasonKind::kind_is_a_guess)}};
  sample.stages = {
      stage("mixed", profile::StageSource::detected, "steps with prompts and single tokens"),
      stage("decode", profile::StageSource::detected, "steps of single tokens")};
  for (uint64_t i = 0; i < 4; ++i) {
    const bool mixed = i == 0;
    profile::Stage& of = sample.stages[mixed ? 0 : 1];
    const double start = 3 * static_cast<double>(i);
    of.instances.push_back(instance(start, 2, parts_of(1, 0.5, 0.4, 2)));
    of.instances.back().steps = 1;
    profile::Step made = step(of.name, mixed ? 0 : i - 1, 0, start, 2);
    made.kind = *profile::find_word<profile::StepKind>(of.name);
    made.batch = 4 + i;
    made.tokens = mixed ? 612 : 4 + i;
    constexpr uint64_t kPrompt = 609;
    made.prefill_sequences = mixed ? 1 : 0;
    made.prefill_tokens = mixed ? kPrompt : 0;
    made.decode_sequences = *made.batch - *made.prefill_sequences;
    made.decode_tokens = *made.tokens - *made.prefill_tokens;
    // Sequences in decode have 512 tokens each, the new one included.
    constexpr uint64_t kContext = 512;
    made.context_tokens = *made.prefill_tokens + kContext * *made.decode_sequences;
    made.attention_pairs =
        *made.prefill_tokens * (*made.prefill_tokens + 1) / 2 + kContext * *made.decode_sequences;
    made.gpu_sum = {};
    made.classes.clear();
    made.gpu_busy = {1};
    sample.steps.push_back(std::move(made));
  }
  for (profile::Stage& each : sample.stages) {
    const size_t count = each.instances.size();
    each.wall = times(std::vector<double>(count, 2));
    each.gpu_sum = each.gpu_busy = times(std::vector<double>(count, 1.5));
    each.kernel_count = statistics<double>(std::vector<double>(count, 2));
    count_instances(each);
    if (each.name == "decode") {
      each.step_wall = each.wall;
      each.decode_step_count = count;
    }
    const auto steps = static_cast<double>(count);
    set_budget(each, parts_of(1 * steps, 0.5 * steps, 0.4 * steps, 2 * steps));
    each.judgement = {profile::IdleLevel::some, false, true, std::nullopt};
  }
  set_shares(sample);
  sample.coverage = profile::Coverage{30, 30,  Share{1}, {27},     {20}, part_of(20, 27), {},   {},
                                      0,  {0}, 30,       Share{1}, {27}, part_of(20, 27), false};
  profile::TokenTimes& tokens = sample.token_times;
  tokens.time_per_output_token = times({2, 2, 2});
  tokens.tokens_per_s_per_sequence = profile::TokensPerSecond{500};
  tokens.by_batch = {{5, times({2}), profile::TokensPerSecond{2500}},
                     {6, times({2, 2}), profile::TokensPerSecond{3000}}};
  sample.utilization.why_not = "no model was named; give --model";
  return sample;
}

}  // namespace llmprof::testing
