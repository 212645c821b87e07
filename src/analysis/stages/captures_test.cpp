// Stages of real captures compared with plain SQL and nsys itself.
#include <gtest/gtest.h>

#include <map>

#include "analysis/stages/annotated_stages.h"
#include "analysis/stages/kernel_scopes.h"
#include "analysis/stages/measure_stages.h"
#include "base/csv.h"
#include "base/text.h"
#include "testing/read_capture.h"
#include "testing/shared_captures.h"
#include "testing/temporary_folder.h"

namespace llmprof::analysis {
namespace {

struct Read {
  trace::Trace trace;
  Stages stages;
  Diagnostics diagnostics;
};

Read read_stages(const std::filesystem::path& path) {
  Read read;
  auto trace = testing::read_capture(path);
  EXPECT_TRUE(trace) << trace.error().message;
  auto conf = config::ConfFiles::open(std::nullopt);
  auto rules = StageRules::load(*conf);
  EXPECT_TRUE(rules) << rules.error().message;
  if (!trace || !rules) return read;
  read.trace = std::move(*trace);
  auto stages =
      annotated_stages(read.trace, MeaningfulRanges(read.trace, *rules), read.diagnostics);
  EXPECT_TRUE(stages);
  if (stages) read.stages = std::move(*stages);
  return read;
}

struct Expected {
  const char* stage;
  Nanoseconds start;
  Nanoseconds wall;
  uint64_t kernels;
  Nanoseconds kernel_sum;
  bool warmup;
};

void expect_instances(const Stages& stages, const std::vector<Expected>& expected) {
  ASSERT_EQ(stages.instances.size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i) {
    const StageInstance& instance = stages.instances[i];
    EXPECT_EQ(stages.stages[instance.stage].name, expected[i].stage) << i;
    EXPECT_EQ(instance.start, expected[i].start) << i;
    EXPECT_EQ(instance.wall(), expected[i].wall) << i;
    EXPECT_EQ(instance.work.kernel_count, expected[i].kernels) << i;
    EXPECT_EQ(instance.work.kernel_sum, expected[i].kernel_sum) << i;
    EXPECT_EQ(instance.warmup, expected[i].warmup) << i;
  }
}

// SQL joins ranges to RUNTIME (thread, range start <= call start < range end) and RUNTIME to KERNEL
// (process, correlation), then counts and sums by range.
TEST(StagesOfCaptures, DenseDecoderInCudaGraphs) {
  const auto captures = testing::h200_captures();
  const Read read = read_stages(captures / "h200-dense-graph/nsys_node.sqlite");
  const Stages& stages = read.stages;
  expect_instances(stages, {{"prefill", 6128350090, 17011269, 462, 5432692, true},
                            {"decode", 6145370987, 46456820, 12408, 38689680, true},
                            {"prefill", 6191865947, 17742712, 462, 5414836, false},
                            {"decode", 6209620552, 45817311, 12408, 38719920, false},
                            {"prefill", 6255470994, 18035054, 462, 5419540, false},
                            {"decode", 6273517776, 45795761, 12408, 38710515, false}});
  ASSERT_EQ(stages.steps.size(), 72U);
  for (const StageInstance& instance : stages.instances) {
    const bool decode = stages.stages[instance.stage].name == "decode";
    EXPECT_EQ(instance.step_count, decode ? 24U : 0U);
  }
  for (const Step& step : stages.steps) EXPECT_EQ(step.work.kernel_count, 517U);
  EXPECT_EQ(stages.stages[1].step_wall.count, 48U);
  EXPECT_EQ(stages.stages[1].label, "decode_all");
  const auto covered = coverage(read.trace, stages, std::nullopt);
  ASSERT_TRUE(covered);
  EXPECT_EQ(covered->kernels, 41227U);
  EXPECT_EQ(covered->kernels_in_stages, 3U * (462 + 12408));
  EXPECT_EQ(to_nanoseconds(covered->kernel_sum), 157504418);
  // A step's CPU range lasts 0.93 ms; its GPU work takes 1.9 ms.
  EXPECT_GT(stages.stages[1].step_wall.p50, 1800000);
  const std::vector<Nanoseconds> per_token = token_walls(stages).per_token;
  EXPECT_NEAR(summarize(per_token).mean, (45817311 + 45795761) / 48.0, 1);
  EXPECT_TRUE(read.diagnostics.has("warmup_set_apart"));
}

// The decode's kernels are hidden in 24 graph replays per request; SQL over GRAPH_TRACE.
TEST(StagesOfCaptures, DenseDecoderWithGraphsAsWholes) {
  const auto captures = testing::h200_captures();
  const Read read = read_stages(captures / "h200-dense-graph/nsys_graph.sqlite");
  const Stages& stages = read.stages;
  expect_instances(stages, {{"prefill", 6419504128, 15152116, 462, 5445847, true},
                            {"decode", 6434665152, 43873503, 24, 17216, true},
                            {"prefill", 6478601064, 15589047, 462, 5436275, false},
                            {"decode", 6494198431, 43178911, 24, 17568, false},
                            {"prefill", 6537424896, 15316124, 462, 5420117, false},
                            {"decode", 6552748507, 43219401, 24, 19680, false}});
  Nanoseconds hidden = 0;
  for (const StageInstance& instance : stages.instances) {
    EXPECT_LE(instance.work.busy, instance.wall());
    EXPECT_GE(instance.work.busy, instance.work.hidden_graph_sum);
    hidden += instance.work.hidden_graph_sum;
  }
  Nanoseconds all = 0;
  for (size_t i = 0; i < read.trace.graph_replays.size(); ++i) {
    all += read.trace.graph_replays.end[i] - read.trace.graph_replays.start[i];
  }
  EXPECT_EQ(hidden, all);
  for (const Step& step : stages.steps) EXPECT_GT(step.work.hidden_graph_sum, 1700000);
}

// Rows of an nsys stats report by column name.
std::vector<std::map<std::string, std::string>> csv_report(const std::filesystem::path& path) {
  const std::string text = testing::file_bytes(path);
  CsvRows rows(text);
  std::vector<std::string_view> fields;
  rows.next(fields);
  const std::vector<std::string> header(fields.begin(), fields.end());
  std::vector<std::map<std::string, std::string>> report;
  while (rows.next(fields)) {
    if (fields.size() != header.size()) continue;
    auto& row = report.emplace_back();
    for (size_t i = 0; i < header.size(); ++i) row[header[i]] = fields[i];
  }
  return report;
}

TEST(StagesOfCaptures, EagerLlamaAgreesWithNsys) {
  const auto captures = testing::h200_captures();
  const auto folder = captures / "h200-llama-eager";
  const Read read = read_stages(folder / "nsys.sqlite");
  const Stages& stages = read.stages;
  const WorkOwners& owners = stages.owners;

  // nvtx_gpu_proj_sum: GPU operations and range time by range; the projection is the time from an
  // instance's first GPU work to its last.
  struct Sums {
    uint64_t operations = 0;
    Nanoseconds range_time = 0;
    Nanoseconds projection = 0;
  };
  std::map<std::string, Sums> by_range;
  const std::map<std::string, std::string> range_of = {{"prefill", ":prefill"},
                                                       {"decode", ":decode_all"}};
  std::vector<std::pair<Nanoseconds, Nanoseconds>> span(stages.instances.size(),
                                                        {INT64_MAX, INT64_MIN});
  std::vector<std::pair<Nanoseconds, Nanoseconds>> step_span(stages.steps.size(),
                                                             {INT64_MAX, INT64_MIN});
  const auto add = [&](const auto& table, const auto& instance_of, const auto& step_of) {
    for (size_t i = 0; i < table.size(); ++i) {
      if (!instance_of[i].valid()) continue;
      const size_t instance = instance_of[i].index();
      const std::string& stage = stages.stages[stages.instances[instance].stage].name;
      ++by_range[range_of.at(stage)].operations;
      span[instance].first = std::min(span[instance].first, table.start[i]);
      span[instance].second = std::max(span[instance].second, table.end[i]);
      if (!step_of[i].valid()) continue;
      ++by_range[":decode_step"].operations;
      auto& step = step_span[step_of[i].index()];
      step.first = std::min(step.first, table.start[i]);
      step.second = std::max(step.second, table.end[i]);
    }
  };
  add(read.trace.kernels, owners.kernel_instance, owners.kernel_step);
  add(read.trace.memory_operations, owners.memory_instance, owners.memory_step);
  for (size_t i = 0; i < stages.instances.size(); ++i) {
    const StageInstance& instance = stages.instances[i];
    Sums& sums = by_range[range_of.at(stages.stages[instance.stage].name)];
    sums.range_time += instance.range_end - instance.start;
    sums.projection += span[i].second - span[i].first;
  }
  for (const auto& [first, last] : step_span) by_range[":decode_step"].projection += last - first;
  size_t compared = 0;
  for (auto& row : csv_report(folder / "nsys_nvtx_gpu_proj_sum.csv")) {
    const Sums& sums = by_range.at(row["Range"]);
    EXPECT_EQ(std::to_string(sums.operations), row["Total GPU Ops"]) << row["Range"];
    EXPECT_EQ(std::to_string(sums.projection), row["Total Proj Time (ns)"]) << row["Range"];
    if (row["Range"] != ":decode_step") {
      EXPECT_EQ(std::to_string(sums.range_time), row["Total Range Time (ns)"]) << row["Range"];
    }
    ++compared;
  }
  EXPECT_EQ(compared, 3U);

  // nvtx_kern_sum: launches and time by range and kernel; nested ranges also count for outer ones.
  std::map<std::pair<std::string, std::string>, std::pair<uint64_t, Nanoseconds>> by_kernel;
  const trace::KernelTable& kernels = read.trace.kernels;
  for (size_t i = 0; i < kernels.size(); ++i) {
    const std::string name(read.trace.strings[kernels.name[i]]);
    const auto count = [&](const std::string& range) {
      auto& [calls, total] = by_kernel[{range, name}];
      ++calls;
      total += kernels.end[i] - kernels.start[i];
    };
    if (!owners.kernel_instance[i].valid()) {
      count("");
      continue;
    }
    const StageInstance& instance = stages.instances[owners.kernel_instance[i].index()];
    count(range_of.at(stages.stages[instance.stage].name));
    if (owners.kernel_step[i].valid()) count(":decode_step");
  }
  size_t rows = 0;
  for (auto& row : csv_report(folder / "nsys_nvtx_kern_sum.csv")) {
    const auto found = by_kernel.find({row["NVTX Range"], row["Kernel Name"]});
    ASSERT_NE(found, by_kernel.end()) << row["NVTX Range"] << " " << row["Kernel Name"];
    EXPECT_EQ(std::to_string(found->second.first), row["Kern Inst"]);
    EXPECT_EQ(std::to_string(found->second.second), row["Total Time (ns)"]);
    ++rows;
  }
  EXPECT_EQ(rows, by_kernel.size());

  ASSERT_EQ(stages.instances.size(), 4U);
  EXPECT_TRUE(stages.instances[0].warmup && stages.instances[1].warmup);
  EXPECT_FALSE(stages.instances[2].warmup || stages.instances[3].warmup);
  EXPECT_EQ(stages.instances[1].step_count, 4U);
  EXPECT_EQ(stages.instances[3].step_count, 16U);
}

// Like vLLM: one step of 32 sequences whose kernels all come from one graph launch.
TEST(StagesOfCaptures, EngineStepInAPyTorchTrace) {
  constexpr uint64_t kKernels = 400;
  std::string events = R"json([
    {"ph":"X","cat":"user_annotation","name":"execute_context_0(0)_generation_32(32)",
     "pid":1,"tid":1,"ts":100,"dur":900},
    {"ph":"X","cat":"cuda_runtime","name":"cudaGraphLaunch",
     "pid":1,"tid":1,"ts":200,"dur":20,"args":{"correlation":7}})json";
  for (uint64_t i = 0; i < kKernels; ++i) {
    events += R"(,{"ph":"X","cat":"kernel","name":"gemm","pid":0,"tid":7,"dur":9,"ts":)" +
              std::to_string(300 + 10 * i) +
              R"(,"args":{"device":0,"context":1,"stream":7,"correlation":7}})";
  }
  const testing::TemporaryFolder folder;
  const Read read = read_stages(folder.write("step.json", events + "]"));
  EXPECT_TRUE(read.stages.serving);
  ASSERT_EQ(read.stages.steps.size(), 1U);
  EXPECT_EQ(read.stages.steps[0].kind, StepKind::decode);
  EXPECT_EQ(read.stages.steps[0].batch, 32U);
  EXPECT_EQ(read.stages.steps[0].tokens, 32U);
  EXPECT_EQ(read.stages.steps[0].work.kernel_count, kKernels);
  EXPECT_EQ(coverage(read.trace, read.stages, std::nullopt)->kernels_in_stages,
            read.trace.kernels.size());
}

// One step of 32 sequences whose kernels all come from one graph launch.
TEST(SharedCapturesStages, VllmStepInAPyTorchTrace) {
  LLMPROF_NEEDS_SHARED_CAPTURES(captures);
  const Read read = read_stages(
      captures / "public/AMD-AGI+TraceLens__inference_vllm_decode_full_graph_execution.json.gz");
  EXPECT_TRUE(read.stages.serving);
  ASSERT_EQ(read.stages.steps.size(), 1U);
  EXPECT_EQ(read.stages.steps[0].kind, StepKind::decode);
  EXPECT_EQ(read.stages.steps[0].batch, 32U);
  EXPECT_EQ(read.stages.steps[0].tokens, 32U);
  EXPECT_EQ(coverage(read.trace, read.stages, std::nullopt)->kernels_in_stages,
            read.trace.kernels.size());
}

}  // namespace
}  // namespace llmprof::analysis
