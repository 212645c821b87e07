#include "readers/shared/reader.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "testing/readers/read_kineto.h"
#include "testing/shared_captures.h"
#include "testing/temporary_folder.h"

namespace llmprof::readers {
namespace {

using testing::count_of;
using testing::read_kineto_or_fail;
using testing::read_kineto_text;
using testing::total_of;

constexpr std::string_view kKernel =
    R"({"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":10,"dur":2.5,"args":{"device":0,"stream":7,"correlation":5,"grid":[4,2,1],"block":[128,1,1],"registers per thread":32,"shared memory":1024}})";

trace::Trace read_kineto_fixture(std::string_view name) {
  return read_kineto_or_fail(
      testing::file_bytes(testing::test_data("kineto/" + std::string(name))));
}

std::string events(std::string_view list) {
  return "{\"traceEvents\":[" + std::string(list) + "]}";
}

TEST(KinetoRecognizes, TracesOnly) {
  const auto recognizes = kKinetoReader.recognizes;
  EXPECT_TRUE(recognizes(R"({"traceEvents": [)"));
  EXPECT_TRUE(recognizes("\n\n  {\n \"schemaVersion\": 1,\n \"deviceProperties\": [\n {"));
  EXPECT_TRUE(recognizes("\xEF\xBB\xBF{\"displayTimeUnit\": \"ns\", \"x\": "));
  EXPECT_TRUE(recognizes(R"([ {"ph":"M","name":"process_name"},)"));
  EXPECT_TRUE(recognizes("[\n{\"name\": \"a\", \"cat\": \"kernel\", \"ph\": \"X\", \"ts\""));
  EXPECT_TRUE(recognizes(R"({"metadata": {"traceEvents": 1, "a": "\"}"}, "traceEvents":[])"));
  for (const std::string_view other :
       {"", "   ", "[]", "{}", "[1,2]", "null", "traceEvents", R"("traceEvents")",
        R"([{"ID": "0", "Kernel Name": "gemm", "Metric Name": "x"}])",
        R"({"ID": 0, "Kernel Name": "gemm"})",
        R"({"architectures": ["LlamaForCausalLM"], "hidden_size": 4096, "model_type": "llama"})",
        R"({"schemaVersion": 2, "mediaType": "application/json"})", "ID,Kernel Name\n0,gemm",
        R"(==PROF== {"traceEvents": [)", R"({"a": {"traceEvents": []}})"}) {
    EXPECT_FALSE(recognizes(other)) << other;
  }
}

TEST(KinetoJson, KernelWithAllItsFacts) {
  const trace::Trace trace = read_kineto_fixture("kernel_with_all_facts.json");
  ASSERT_EQ(trace.kernels.size(), 1U);
  EXPECT_EQ(trace.kernels.start[0], 3'845'335'904'496'597);
  EXPECT_EQ(trace.kernels.end[0], 3'845'335'904'496'597 + 3'156'884);
  EXPECT_EQ(trace.strings[trace.kernels.name[0]], "gemm<\"a\", {b}>");
  const trace::LaunchShape& shape = trace.shapes[trace.kernels.shape[0]];
  EXPECT_EQ(shape.grid, (trace::Extent{17, 3, 2}));
  EXPECT_EQ(shape.block, (trace::Extent{256, 2, 1}));
  EXPECT_EQ(shape.registers_per_thread, 64U);
  EXPECT_EQ(shape.static_shared_bytes + shape.dynamic_shared_bytes, 49152U);
  const trace::Queue& queue = trace.queues[trace.kernels.queue[0]];
  EXPECT_EQ(trace.devices[queue.device.index()].ordinal, 1U);
  EXPECT_EQ(queue.context, 2U);
  EXPECT_EQ(queue.stream, 9U);
  EXPECT_EQ(trace.processes[queue.process.index()].pid, 901U);
  EXPECT_EQ(trace.processes[queue.process.index()].name, "python3");
  EXPECT_EQ(trace.kernels.graph, std::vector<uint32_t>{11});
  EXPECT_EQ(trace.kernels.graph_node, std::vector<uint64_t>{123456789012});
  EXPECT_EQ(trace.kernels.external_id, std::vector<uint64_t>{77});
  ASSERT_TRUE(trace.kernels.launch[0].valid());
  const trace::ThreadId thread = trace.launches.thread[trace.kernels.launch[0].index()];
  EXPECT_EQ(trace.threads[thread.index()].tid, 902U);
  EXPECT_EQ(trace.threads[thread.index()].name, "worker");
  EXPECT_TRUE(trace.diagnostics.items().empty());
}

TEST(KinetoJson, MemoryOperationsOperatorsAndAnnotations) {
  const trace::Trace trace = read_kineto_fixture("memory_and_cpu.json");
  const auto& memory = trace.memory_operations;
  ASSERT_EQ(memory.size(), 3U);
  EXPECT_EQ(trace.strings[memory.detail[0]], "Host-to-Device");
  EXPECT_EQ(trace.strings[memory.detail[1]], "Odd");
  EXPECT_FALSE(memory.detail[2].valid());
  EXPECT_EQ(memory.from.size(), memory.size());
  EXPECT_EQ(memory.to.size(), memory.size());
  EXPECT_EQ(memory.kind, (std::vector{trace::MemoryKind::copy, trace::MemoryKind::copy,
                                      trace::MemoryKind::set}));
  EXPECT_EQ(memory.bytes, (std::vector<uint64_t>{4096, 8, 9223372036854775809ULL}));
  EXPECT_EQ(trace.operators.external_id, std::vector<uint64_t>{10159970886766084423ULL});
  ASSERT_EQ(trace.ranges.size(), 1U);
  EXPECT_EQ(trace.strings[trace.ranges.text[0]], "step[DECODE bs=32]");
  EXPECT_EQ(trace.ranges.kind[0], trace::RangeKind::annotation);
}

// ROCm numbers kernels' devices among all nodes of the machine: 1 is not the GPU listed as 1.
TEST(KinetoJson, CallsNoAmdGpuByItsNeighborsName) {
  const auto devices = [](std::string_view first, std::string_view second) {
    return fmt::format(R"({{"deviceProperties":[{{"id":0,"name":"{}","numSms":304}},
                            {{"id":1,"name":"{}","numSms":228}}],"roctracer_version":4.1,
                            "traceEvents":[{{"ph":"X","cat":"kernel","name":"k","pid":1,"tid":7,
                            "ts":10,"dur":2,"args":{{"device":1,"stream":7}}}}]}})",
                       first, second);
  };
  const trace::Trace mixed = read_kineto_or_fail(devices("AMD MI300X", "AMD MI210"));
  ASSERT_EQ(mixed.devices.size(), 1U);
  EXPECT_EQ(mixed.devices[0].ordinal, 1U);
  EXPECT_EQ(mixed.devices[0].name, "");
  EXPECT_EQ(mixed.devices[0].sm_count, 0U);
  const trace::Trace alike = read_kineto_or_fail(devices("AMD MI300X", "AMD MI300X"));
  EXPECT_EQ(alike.devices.at(0).name, "AMD MI300X");
  EXPECT_EQ(alike.devices.at(0).sm_count, 0U);
}

TEST(KinetoJson, MetadataBeforeAndBehindTheEvents) {
  constexpr std::string_view kMetadata =
      R"("schemaVersion":1,"deviceProperties":[{"id":0,"name":"NVIDIA H200","totalGlobalMem":150109880320,"computeMajor":9,"computeMinor":0,"numSms":132},{"id":1,"name":"unused"}],
         "cuda_driver_version":13000,"cuda_runtime_version":12040,"displayTimeUnit":"ns",
         "INFO":["}{][\"\\",{"traceEvents":[1]}],"distributedInfo":{"backend":"nccl","rank":3},
         "baseTimeNanoseconds":1790857026000000000)";
  const std::string list = "\"traceEvents\":[" + std::string(kKernel) + "]";
  for (const std::string& text : {"{" + std::string(kMetadata) + "," + list + "}",
                                  "{" + list + "," + std::string(kMetadata) + "}"}) {
    const trace::Trace trace = read_kineto_or_fail(text);
    ASSERT_EQ(trace.kernels.size(), 1U);
    EXPECT_EQ(trace.kernels.start[0], 10'000);
    const trace::Capture& capture = trace.captures.at(0);
    EXPECT_EQ(capture.format, "PyTorch trace");
    EXPECT_EQ(capture.schema_version, "1");
    EXPECT_EQ(capture.cuda_version, "12.4");
    EXPECT_EQ(capture.driver_version, "");
    EXPECT_EQ(capture.wall_clock_ns, 1'790'857'026'000'000'000);
    EXPECT_EQ(capture.rank, 3U);
    ASSERT_EQ(trace.devices.size(), 1U);
    EXPECT_EQ(trace.devices[0].name, "NVIDIA H200");
    EXPECT_EQ(trace.devices[0].sm_count, 132U);
    EXPECT_EQ(trace.devices[0].memory_bytes, 150'109'880'320U);
    EXPECT_EQ(trace.devices[0].compute_capability, "9.0");
    EXPECT_TRUE(trace.diagnostics.items().empty());
  }
}

TEST(KinetoJson, LargeAndOddMetadataIsPassedOver) {
  const std::string large = "\"" + std::string(3UL << 20U, 'x') + "\"";
  const trace::Trace trace = read_kineto_or_fail(
      "{\"a\":" + large + ",\"traceEvents\":[" + std::string(kKernel) + "],\"INFO\":[" + large +
      "],\"deviceProperties\":" + large + ",\"schemaVersion\":[1],\"distributedInfo\":[]}");
  EXPECT_EQ(trace.kernels.size(), 1U);
  EXPECT_EQ(trace.captures[0].schema_version, "");
  EXPECT_FALSE(trace.captures[0].rank);
  EXPECT_EQ(count_of(trace, "kineto_large_metadata"), 1U);
}

TEST(KinetoJson, BareArrayAndCategoriesOf2021) {
  const trace::Trace trace = read_kineto_fixture("bare_array_2021.json");
  ASSERT_EQ(trace.kernels.size(), 1U);
  EXPECT_TRUE(trace.kernels.launch[0].valid());
  EXPECT_EQ(trace.queues[trace.kernels.queue[0]].stream, 7U);
  EXPECT_EQ(trace.memory_operations.size(), 1U);
  EXPECT_EQ(trace.operators.size(), 1U);
  EXPECT_EQ(trace.threads.at(0).tid, 25738U);
  EXPECT_EQ(count_of(trace, "kineto_skipped_events"), 1U);
}

TEST(KinetoJson, AnyOrderOfKeysAndTheLastOfTwoEqualOnes) {
  const trace::Trace trace = read_kineto_or_fail(
      events(R"({"args":{"correlation":1,"device":3,"correlation":2},"dur":1,"dur":2,"ts":1e1,
                 "tid":0,"pid":3,"name":"a","name":"b","cat":"kernel","ph":"X"})"));
  ASSERT_EQ(trace.kernels.size(), 1U);
  EXPECT_EQ(trace.strings[trace.kernels.name[0]], "b");
  EXPECT_EQ(trace.kernels.correlation[0], 2U);
  EXPECT_EQ(trace.kernels.start[0], 10'000);
  EXPECT_EQ(trace.kernels.end[0], 12'000);
}

// Module calls are ranges; a launch may name its kernel (ROCm).
TEST(KinetoJson, ModulesAndNamesOfLaunches) {
  const trace::Trace trace = read_kineto_or_fail(R"json([
    {"ph":"X","cat":"python_function","name":"nn.Module: MyLayer_3","pid":1,"tid":1,"ts":1,"dur":9},
    {"ph":"X","cat":"python_function","name":"model.py(7): forward","pid":1,"tid":1,"ts":2,"dur":7},
    {"ph":"X","cat":"cuda_runtime","name":"hipLaunchKernel","pid":1,"tid":1,"ts":3,"dur":1,
     "args":{"External id":5,"kernel":"gemm","correlation":7}},
    {"ph":"X","cat":"cuda_runtime","name":"hipGraphLaunch","pid":1,"tid":1,"ts":5,"dur":1,
     "args":{"correlation":8}}])json");
  ASSERT_EQ(trace.ranges.size(), 1U);
  EXPECT_EQ(trace.ranges.kind[0], trace::RangeKind::module);
  EXPECT_EQ(trace.strings[trace.ranges.text[0]], "MyLayer_3");
  EXPECT_EQ(trace.strings[trace.ranges.domain[0]], "nn.Module");
  EXPECT_EQ(trace.ranges.end[0], 10000);
  EXPECT_EQ(count_of(trace, "kineto_python_functions"), 1U);
  ASSERT_EQ(trace.launches.size(), 2U);
  ASSERT_EQ(trace.launched_names.size(), 1U);
  EXPECT_EQ(trace.launched_names[0].first, trace::LaunchRow(0));
  EXPECT_EQ(trace.strings[trace.launched_names[0].second], "gemm");
}

TEST(KinetoJson, KeepsThePackagesOfPythonFunctions) {
  const auto frame = [](const std::string& name) {
    return R"({"ph":"X","cat":"python_function","name":")" + name + R"(","ts":1,"dur":1},)";
  };
  const trace::Trace trace = read_kineto_or_fail(
      events(frame("/usr/lib/python3/site-packages/transformers/models/llama.py(312): forward") +
             frame("vllm/v1/worker.py(1): run") + frame("mine.py(3): main") +
             frame("/srv/llm/serve.py(3): main") + frame("<built-in method run>") +
             R"({"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":10,"dur":2})"));
  EXPECT_EQ(trace.python_packages, (std::set<std::string>{"transformers", "vllm"}));
}

TEST(KinetoJson, SaysWhatItLeavesOut) {
  const trace::Trace trace = read_kineto_fixture("left_out.json");
  EXPECT_EQ(trace.kernels.size(), 1U);
  EXPECT_EQ(count_of(trace, "kineto_python_functions"), 1U);
  EXPECT_EQ(count_of(trace, "kineto_gpu_annotations"), 1U);
  EXPECT_EQ(count_of(trace, "kineto_skipped_events"), 3U);
  EXPECT_EQ(count_of(trace, "kineto_unknown_categories"), 2U);
  const auto& items = trace.diagnostics.items();
  EXPECT_TRUE(std::any_of(items.begin(), items.end(), [](const Diagnostic& item) {
    return item.message.find("brand_new (1)") != std::string::npos;
  }));
}

TEST(KinetoJson, ProcessesOfAMergedTraceAreSeparatedByCorrelation) {
  const trace::Trace trace = read_kineto_fixture("merged_processes.json");
  ASSERT_EQ(trace.kernels.size(), 3U);
  const auto pid = [&](size_t row) {
    return trace.processes[trace.queues[trace.kernels.queue[row]].process.index()].pid;
  };
  EXPECT_EQ(pid(0), 10U);
  EXPECT_EQ(pid(1), 10U);
  EXPECT_EQ(pid(2), 20U);
  EXPECT_EQ(count_of(trace, "kineto_ambiguous_process"), 1U);
}

TEST(KinetoJson, WithoutUsableEventsItIsAnError) {
  for (const std::string_view text :
       {R"({"traceEvents":[]})", R"([])", R"({"schemaVersion":1})", R"({"traceEvents":{}})",
        R"({"traceEvents":[1,2,3]})", R"([{"ph":"X","cat":"kernel"}])", R"([{}])", "",
        R"({"deviceProperties":[{"id":0)", R"([{"ph":"X","name":"x)"}) {
    const auto trace = read_kineto_text(text);
    ASSERT_FALSE(trace) << text;
    EXPECT_EQ(trace.error().kind, ErrorKind::input);
    EXPECT_EQ(trace.error().message.find("test.json: PyTorch trace without a usable event"), 0U);
  }
}

TEST(KinetoJson, ATraceWithoutKernelsIsRead) {
  const trace::Trace trace = read_kineto_or_fail(
      events(R"({"ph":"X","cat":"cpu_op","name":"aten::mm","pid":1,"tid":1,"ts":1,"dur":1})"));
  EXPECT_EQ(trace.kernels.size(), 0U);
  EXPECT_EQ(trace.operators.size(), 1U);
}

// Counts and sums from Python: json with parse_float=str, Decimal(dur) * 1000 summed over the
// events with ph X and the categories of each table, correlation ids looked up in a set.
struct Expected {
  std::string_view file;
  size_t kernels;
  Nanoseconds total;
  Nanoseconds first_start;
  Nanoseconds last_end;
  size_t names;
  size_t launched;
  uint64_t external_ids;
  size_t memory_operations;
  uint64_t bytes;
  size_t launches;
  size_t operators;
  Nanoseconds operator_total;
  size_t annotations;
};

void expect_sums(const std::filesystem::path& folder, const Expected& expected) {
  SCOPED_TRACE(expected.file);
  const auto path = folder / expected.file;
  const auto head = read_head(path, 64UL << 10U);
  ASSERT_TRUE(head);
  EXPECT_TRUE(kKinetoReader.recognizes(*head));
  trace::TraceBuilder builder;
  const auto read = kKinetoReader.read(path, builder);
  ASSERT_TRUE(read) << read.error().message;
  const trace::Trace trace = std::move(builder).freeze();
  const trace::KernelTable& kernels = trace.kernels;
  EXPECT_EQ(kernels.size(), expected.kernels);
  EXPECT_EQ(total_of(kernels), expected.total);
  EXPECT_EQ(kernels.start.front(), expected.first_start);
  EXPECT_EQ(*std::max_element(kernels.end.begin(), kernels.end.end()), expected.last_end);
  EXPECT_EQ(std::set(kernels.name.begin(), kernels.name.end()).size(), expected.names);
  EXPECT_EQ(static_cast<size_t>(std::count_if(kernels.launch.begin(), kernels.launch.end(),
                                              [](trace::LaunchRow row) { return row.valid(); })),
            expected.launched);
  EXPECT_EQ(std::accumulate(kernels.external_id.begin(), kernels.external_id.end(), uint64_t{0}),
            expected.external_ids);
  const auto& memory = trace.memory_operations;
  EXPECT_EQ(memory.size(), expected.memory_operations);
  EXPECT_EQ(std::accumulate(memory.bytes.begin(), memory.bytes.end(), uint64_t{0}), expected.bytes);
  EXPECT_EQ(trace.launches.size(), expected.launches);
  EXPECT_EQ(trace.operators.size(), expected.operators);
  Nanoseconds operator_total = 0;
  for (size_t i = 0; i < trace.operators.size(); ++i) {
    operator_total += trace.operators.end[i] - trace.operators.start[i];
  }
  EXPECT_EQ(operator_total, expected.operator_total);
  EXPECT_EQ(static_cast<size_t>(std::count(trace.ranges.kind.begin(), trace.ranges.kind.end(),
                                           trace::RangeKind::annotation)),
            expected.annotations);
  for (const std::string_view code :
       {"kineto_bad_events", "kineto_invalid_utf8", "kineto_truncated", "kineto_stray_text",
        "kineto_unknown_categories"}) {
    EXPECT_EQ(count_of(trace, code), 0U) << code;
  }
}

TEST(KinetoJson, OwnCapturesEqualAPlainPythonSum) {
  expect_sums(testing::h200_captures(),
              {"h200-dense-graph/kineto_graph.json.gz", 25740, 88089342, 3845335907629284,
               3845336039089639, 39, 25740, 1497742, 80, 512, 1205, 3050, 68777620, 0});
  expect_sums(testing::test_data("h200-decoder"),
              {"kineto.json.gz", 2212, 4785299, 3850242929496214, 3850243000399609, 37, 2212,
               8400464, 12, 80, 2305, 7605, 111252759, 0});
}

TEST(SharedCapturesKinetoJson, EqualAPlainPythonSum) {
  LLMPROF_NEEDS_SHARED_CAPTURES(folder);
  constexpr Expected kFiles[] = {
      {"public/AMD-AGI+TraceLens__h100_Qwen_Qwen1.5-0.5B-Chat__1016005.json.gz", 1465, 45432698,
       1428625731622250, 1428625781275082, 26, 1029, 21136670, 242, 965, 1922, 4186, 45647935, 1},
      {"public/AMD-AGI+TraceLens__inference_vllm_decode_full_graph_execution.json.gz", 425,
       10674517, 6520618861901761, 6520618872601742, 24, 425, 5918537, 9, 27556, 20, 100, 744454,
       1},
      {"public/facebookresearch+HolisticTraceAnalysis__df_index_resolver.json.gz", 19370, 977859000,
       1669783687389324000, 1669783689122289000, 49, 19370, 3971318234, 2920, 5893131460, 42373,
       56680, 4324442000, 2035},
      {"public/facebookresearch+HolisticTraceAnalysis__inference_rank_1.json.gz", 4, 30000,
       1665536373729077000, 1665536373730706000, 4, 4, 18911, 0, 0, 8, 0, 0, 0},
      {"public/facebookresearch+HolisticTraceAnalysis__large_integer_rank-70.pt.trace.json.gz", 1,
       50000, 100000, 150000, 1, 0, 0, 0, 0, 0, 1, 100000, 0},
      {"public/facebookresearch+HolisticTraceAnalysis__ns_resolution_rank-0.pt.trace.json.gz", 4350,
       468153602, 1712195495505582988, 1712195495985612167, 77, 4350, 52314644, 1745, 799910160,
       15329, 23910, 927291410, 70},
      {"public/pytorch+kineto__resnet50_worker0.1623143089861.pt.trace.json.gz", 8772, 591532000,
       1623142623531625000, 1623142624525725000, 67, 8772, 109608324, 324, 482082960, 11923, 23646,
       3134531000, 0},
  };
  for (const Expected& expected : kFiles) expect_sums(folder, expected);
}

}  // namespace
}  // namespace llmprof::readers
