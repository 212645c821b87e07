#include "capture/nsys/nsys_stats.h"

#include <algorithm>
#include <array>

#include "base/text.h"

namespace llmprof::capture {
namespace {

// Of several names for one report the first that is there.
constexpr std::array<std::array<std::string_view, 2>, 8> kReports = {{
    {"cuda_gpu_kern_sum", "gpukernsum"},
    {"cuda_gpu_mem_time_sum", "gpumemtimesum"},
    {"cuda_gpu_mem_size_sum", "gpumemsizesum"},
    {"cuda_api_sum", "cudaapisum"},
    {"nvtx_sum", "nvtxsum"},
    {"nvtx_kern_sum", "nvtxkernsum"},
    {"nvtx_gpu_proj_sum", "nvtxgpuproj"},
    {"osrt_sum", "osrtsum"},
}};

// "  gpukernsum[:base|:mangled] -- CUDA GPU Kernel Summary"
std::string_view report_on(std::string_view line) {
  if (!contains(line, " -- ")) return {};
  line = trim(line);
  return line.substr(0, line.find_first_of("[ :"));
}

}  // namespace

std::vector<std::string> choose_nsys_reports(std::string_view help_reports) {
  std::vector<std::string_view> known;
  while (!help_reports.empty()) {
    const size_t end = std::min(help_reports.find('\n'), help_reports.size());
    known.push_back(report_on(help_reports.substr(0, end)));
    help_reports.remove_prefix(std::min(end + 1, help_reports.size()));
  }
  std::vector<std::string> chosen;
  for (const auto& names : kReports) {
    const auto name = std::find_if(names.begin(), names.end(), [&](std::string_view candidate) {
      return std::find(known.begin(), known.end(), candidate) != known.end();
    });
    if (name != names.end()) chosen.emplace_back(*name);
  }
  return chosen;
}

}  // namespace llmprof::capture
