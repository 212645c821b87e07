// Classes of the kernels in every shared capture. The names in real programs were read one by one;
// names that no rule covers stay "other", because a wrong class is worse than none.

#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <set>
#include <string>
#include <string_view>

#include "analysis/naming/classes.h"
#include "analysis/ranking/kernel_table.h"
#include "base/streams/deflate.h"
#include "testing/read_capture.h"
#include "testing/shared_captures.h"
#include "testing/temporary_folder.h"

namespace llmprof::analysis {
namespace {

struct ClassedCapture {
  std::string_view file;
  std::string_view largest;      // class
  double share = 0;              // of the kernel time, in percent
  double other = 2;              // maximum, in percent of the kernel time
  std::string_view reason = "";  // why more than 2 % cannot be known
};

// Shares: Python sums over each capture's kernel table, by the class of each name.
constexpr std::array kClassedCaptures = {
    ClassedCapture{"engines/gpt_fast_compiled.llmtrace.gz", "elementwise", 51.37},
    ClassedCapture{"engines/llama_cpp_bench_f16.llmtrace.gz", "gemv", 70.07},
    ClassedCapture{"engines/llama_cpp_server.llmtrace.gz", "gemm", 39.01},
    ClassedCapture{"h200-dense-graph/kineto_graph.json.gz", "gemm", 53.38},
    ClassedCapture{"h200-dense-graph/nsys_graph.sqlite", "gemm", 41.88},
    ClassedCapture{"h200-dense-graph/nsys_node.sqlite", "gemm", 50.31},
    ClassedCapture{"h200-dense-graph/nsys_node_cuda_gpu_kern_sum.csv", "gemm", 50.31},
    ClassedCapture{"h200-dense-graph/nsys_node_cuda_gpu_trace.csv.gz", "gemm", 50.31},
    ClassedCapture{"h200-hf/deepseek_ocr2.sqlite", "elementwise", 73.87},
    ClassedCapture{"h200-hf/hf_continuous_batching.sqlite", "elementwise", 43.80},
    ClassedCapture{"h200-llama-eager/ncu_decode_details.csv.gz", "elementwise", 38.77},
    ClassedCapture{"h200-llama-eager/ncu_decode_raw.csv.gz", "elementwise", 38.77},
    ClassedCapture{"h200-llama-eager/ncu_prefill_live.csv.gz", "gemm", 40.10},
    ClassedCapture{"h200-llama-eager/nsys.sqlite", "gemm", 46.58},
    ClassedCapture{"h200-llama-eager/nsys_cuda_gpu_kern_sum.csv", "gemm", 46.58},
    ClassedCapture{"public/AMD-AGI+TraceLens__b200_eager_trace.json.gz", "gemm", 55.23},
    ClassedCapture{"public/AMD-AGI+TraceLens__h100_Qwen_Qwen1.5-0.5B-Chat__1016005.json.gz",
                   "elementwise", 38.62},
    ClassedCapture{
        "public/AMD-AGI+TraceLens__inference_vllm_decode_full_graph_capture_rank_0.json.gz",
        "elementwise", 79.43},
    ClassedCapture{"public/AMD-AGI+TraceLens__inference_vllm_decode_full_graph_execution.json.gz",
                   "gemm", 78.71},
    ClassedCapture{"public/AMD-AGI+TraceLens__sglang_Qwen3-8B_capture_bs_32_rank0.json.gz",
                   "elementwise", 100.00},
    ClassedCapture{"public/AMD-AGI+TraceLens__sglang_Qwen3-8B_decode.json.gz", "gemm", 59.21},
    ClassedCapture{"public/AMD-AGI+TraceLens__sglang_Qwen3-8B_prefilldecode.json.gz", "gemm",
                   85.29},
    ClassedCapture{"public/AMD-AGI+TraceLens__xdit_sd_3.5_profile_trace_rank_0.json.gz", "gemm",
                   54.81},
    ClassedCapture{"public/CodeGandee+llm-perf-opt__all-stage_summary_cuda_gpu_kern_sum.csv",
                   "gemv", 35.59},
    ClassedCapture{"public/CodeGandee+llm-perf-opt__decode_summary_cuda_gpu_kern_sum.csv", "gemv",
                   49.16},
    ClassedCapture{"public/CodeGandee+llm-perf-opt__k0001_ncu.details.csv", "gemv", 100.00},
    ClassedCapture{"public/CodeGandee+llm-perf-opt__k0004_ncu.details.csv", "elementwise", 100.00},
    ClassedCapture{"public/CodeGandee+llm-perf-opt__prefill_summary_cuda_gpu_kern_sum.csv", "gemm",
                   59.51},
    ClassedCapture{"public/GindaChen+nsys-ai__h100_2gpu_1s.sqlite.gz", "gemm", 86.51},
    ClassedCapture{"public/GindaChen+nsys-ai__healthy_1pct.sqlite", "gemm", 50.00},
    ClassedCapture{"public/GindaChen+nsys-ai__mfu_2gpu_after.sqlite.gz", "attention", 49.25},
    ClassedCapture{"public/GindaChen+nsys-ai__mfu_2gpu_before.sqlite", "attention", 50.88},
    ClassedCapture{"public/brycelelbach+nsightful__copy_blocked.csv", "copy/cast", 100.00},
    ClassedCapture{"public/brycelelbach+nsightful__power_iteration__baseline.sqlite", "gemv",
                   94.96},
    ClassedCapture{"public/facebookresearch+HolisticTraceAnalysis__critical_path_alexnet.json.gz",
                   "gemm", 72.53},
    ClassedCapture{
        "public/facebookresearch+HolisticTraceAnalysis__critical_path_cuda_event_sync.json.gz",
        "other", 73.47, 74, "a kernel that only waits (spin_kernel)"},
    ClassedCapture{"public/facebookresearch+HolisticTraceAnalysis__critical_path_cuda_event_sync_"
                   "multi_stream.json.gz",
                   "gemm", 100.00},
    ClassedCapture{"public/facebookresearch+HolisticTraceAnalysis__df_index_resolver.json.gz",
                   "gemm", 42.34},
    ClassedCapture{"public/facebookresearch+HolisticTraceAnalysis__inference_rank_1.json.gz",
                   "gemm", 70.00},
    ClassedCapture{
        "public/facebookresearch+HolisticTraceAnalysis__large_integer_rank-70.pt.trace.json.gz",
        "communication", 100.00},
    ClassedCapture{
        "public/facebookresearch+HolisticTraceAnalysis__ns_resolution_rank-0.pt.trace.json.gz",
        "gemm", 63.77},
    ClassedCapture{"public/facebookresearch+HolisticTraceAnalysis__sampled_rank-0.json.gz",
                   "communication", 65.32},
    ClassedCapture{"public/facebookresearch+HolisticTraceAnalysis__sampled_rank-1.json.gz",
                   "communication", 58.22},
    ClassedCapture{"public/hpcgroup+pipit__saxpy-mpi-cuda_nsys_perlmutter0.sqlite", "elementwise",
                   100.00},
    ClassedCapture{"public/pytorch+kineto__resnet50_worker0.1623143089861.pt.trace.json.gz", "gemm",
                   66.63},
};

// SQLite cannot read compressed files.
std::filesystem::path plain_sqlite(const std::filesystem::path& file,
                                   const testing::TemporaryFolder& folder) {
  if (!file.string().ends_with(".sqlite.gz")) return file;
  return folder.write("plain.sqlite", gunzip_small(testing::file_bytes(file)).value());
}

// Rejected text, captures without kernels, client requests, and xz files.
bool holds_no_kernels(const std::string& file) {
  return file.starts_with("memory/") || file.ends_with(".requests.json.gz") ||
         file.ends_with(".vllm_bench.json.gz") || file.ends_with(".xz") || file.ends_with(".txt") ||
         file.ends_with(".py") || file.ends_with(".md") || file.ends_with("_api_sum.csv") ||
         file.find("nvtx") != std::string::npos ||
         file == "public/lighttransport+gemm__profile.sqlite";
}

TEST(SharedCapturesKernelClasses, UnderTwoPercentOfKernelTimeIsOther) {
  LLMPROF_NEEDS_SHARED_CAPTURES(folder);
  const auto rules = KernelRules::load(*config::ConfFiles::open(std::nullopt));
  ASSERT_TRUE(rules);
  for (const ClassedCapture& expected : kClassedCaptures) {
    if (!std::filesystem::exists(folder / expected.file)) continue;
    const testing::TemporaryFolder unpacked;
    const auto trace = testing::read_capture(plain_sqlite(folder / expected.file, unpacked));
    ASSERT_TRUE(trace) << expected.file << ": " << trace.error().message;
    const auto classes = ranked_classes(rank_kernels(*trace, DescribedNames(*trace, *rules)), {});
    ASSERT_FALSE(classes.empty()) << expected.file;
    EXPECT_EQ(to_string(classes.front().kernel_class), expected.largest) << expected.file;
    EXPECT_NEAR(classes.front().share.value * 100, expected.share, 0.01) << expected.file;
    for (const profile::KernelClassTotal& row : classes) {
      if (row.kernel_class != KernelClass::other) continue;
      EXPECT_LT(row.share.value * 100, expected.other) << expected.file;
    }
    EXPECT_EQ(expected.other > 2, !expected.reason.empty()) << expected.file;
  }
}

TEST(SharedCapturesKernelClasses, TheTableHasEveryCapture) {
  LLMPROF_NEEDS_SHARED_CAPTURES(folder);
  std::set<std::string> listed;
  for (const ClassedCapture& expected : kClassedCaptures) listed.emplace(expected.file);
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (!entry.is_regular_file()) continue;
    const std::string file = std::filesystem::relative(entry.path(), folder).string();
    if (holds_no_kernels(file)) continue;
    EXPECT_TRUE(listed.contains(file)) << file;
  }
}

// Different kernels have different names in every capture.
TEST(SharedCapturesKernelClasses, ShortNamesAreUnique) {
  LLMPROF_NEEDS_SHARED_CAPTURES(folder);
  const auto rules = KernelRules::load(*config::ConfFiles::open(std::nullopt));
  ASSERT_TRUE(rules);
  for (const char* file : {"engines/llama_cpp_server.llmtrace.gz", "h200-hf/deepseek_ocr2.sqlite",
                           "public/AMD-AGI+TraceLens__sglang_Qwen3-8B_decode.json.gz"}) {
    const auto trace = testing::read_capture(folder / file);
    ASSERT_TRUE(trace) << file;
    std::set<std::string> seen;
    for (const KernelRow& row : rank_kernels(*trace, DescribedNames(*trace, *rules)).rows) {
      EXPECT_TRUE(seen.insert(row.description.short_name).second)
          << file << ": " << row.description.short_name;
      EXPECT_LE(row.description.short_name.size(), 64U) << row.description.short_name;
    }
  }
}

}  // namespace
}  // namespace llmprof::analysis
