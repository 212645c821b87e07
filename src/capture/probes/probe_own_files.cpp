#include <fmt/format.h>
#include <unistd.h>

#include <initializer_list>

#include "capture/probes/doctor.h"
#include "capture/probes/probe_families.h"
#include "capture/shell.h"

namespace llmprof::capture {
namespace {

using std::filesystem::path;

constexpr uint64_t kGiB = 1ULL << 30U;
constexpr uint64_t kMiB = 1ULL << 20U;
// A run on the CPU leaves some 10 MiB; nsys with ncu can leave gigabytes.
constexpr uint64_t kLeastForCpu = 200 * kMiB;
constexpr uint64_t kLeastForGpu = 10 * kGiB;

Probe needed(Probe probe) {
  probe.needed = true;
  return probe;
}

std::optional<path> first_there(const path& folder, std::initializer_list<const char*> places) {
  std::error_code status;
  for (const char* place : places) {
    path file = (folder / place).lexically_normal();
    if (std::filesystem::is_regular_file(file, status)) return file;
  }
  return std::nullopt;
}

std::vector<Probe> collector(const path& folder) {
  constexpr const char* kFile = "libllmprof_collector.so";
  constexpr const char* kCuda = "collector for CUDA";
  const auto library = first_there(
      folder,
      {"../lib/libllmprof_collector.so", "libllmprof_collector.so", "lib/libllmprof_collector.so"});
  if (!library) {
    return {needed(missing("collector", fmt::format("{} is not next to this program", kFile),
                           "build it (make), and keep lib/ next to bin/")),
            missing(kCuda, "no collector", "see collector")};
  }
  return {needed(found("collector", library->string())),
          has_cuda_half(*library) ? found(kCuda,
                                          "CUDA tracing (CUPTI) is built in: the collector records "
                                          "kernels, graphs and counters")
                                  : missing(kCuda,
                                            "CUDA tracing (CUPTI) is not built in: the collector "
                                            "records only annotations, and nsys the timeline",
                                            cuda_half_remedy())};
}

Probe cpu_workload(const path& folder) {
  const auto program = first_there(folder, {"cpu_llm", "../bin/cpu_llm", "workloads/cpu_llm"});
  if (program) return found("CPU workload", program->string());
  return missing("CPU workload", "cpu_llm is not next to this program",
                 "build it (make), or name a program of your own: llmprof run -- program");
}

// The folder itself, or the nearest above it that exists.
path existing_part(path folder) {
  std::error_code status;
  folder = std::filesystem::absolute(folder, status).lexically_normal();
  if (!folder.has_filename()) folder = folder.parent_path();
  while (!std::filesystem::is_directory(folder, status) && folder.has_relative_path()) {
    folder = folder.parent_path();
  }
  return folder;
}

Probe output_folder(const DoctorOptions& options) {
  constexpr const char* kName = "output folder";
  const path folder = existing_part(options.output_folder);
  if (::access(folder.c_str(), W_OK) != 0) {
    return trouble(kName, fmt::format("{} cannot be written to", folder.string()),
                   "choose another with --out");
  }
  std::error_code status;
  const auto space = std::filesystem::space(folder, status);
  if (status) {
    return trouble(kName, fmt::format("{}: {}", folder.string(), status.message()),
                   "choose another with --out");
  }
  const std::string free = fmt::format("{}: {:.1f} GiB free", folder.string(),
                                       static_cast<double>(space.available) / double{kGiB});
  if (space.available >= kLeastForGpu) return found(kName, free);
  if (space.available >= kLeastForCpu) {
    return found(kName, free + "; timelines and ncu reports of large runs may need more");
  }
  return trouble(kName, free, "free some space, or choose another folder with --out");
}

}  // namespace

std::vector<Probe> probe_own_files(const DoctorOptions& options) {
  std::vector<Probe> probes = collector(options.program_folder);
  probes.push_back(needed(cpu_workload(options.program_folder)));
  probes.push_back(needed(output_folder(options)));
  return probes;
}

}  // namespace llmprof::capture
