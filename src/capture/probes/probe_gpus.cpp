#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/csv.h"
#include "base/text.h"
#include "capture/probes/probe_families.h"
#include "capture/shell.h"

namespace llmprof::capture {
namespace {

constexpr const char* kNoDriverFix =
    "install NVIDIA's driver (Debian: apt install nvidia-driver, from non-free); start a container "
    "with --gpus all. Not needed for a run on the CPU";

// "NVRM version: NVIDIA UNIX ... Kernel Module  580.159.04  Release Build": the word with dots.
std::string version_in(std::string_view text) {
  for (const std::string_view word : split(text.substr(0, text.find('\n')), ' ')) {
    const bool numeric = word.find_first_not_of("0123456789.") == std::string_view::npos;
    if (numeric && contains(word, ".")) return std::string(word);
  }
  return {};
}

struct Gpu {
  std::string index;
  std::string name;
  std::string memory_mib;
  std::string mig;  // "Enabled", "Disabled", "[N/A]"
};

std::vector<Gpu> gpus_in(const std::string& csv) {
  CsvRows rows(csv);
  std::vector<Gpu> gpus;
  for (std::vector<std::string_view> fields; rows.next(fields);) {
    if (fields.size() != 4 || !parse_int(trim(fields[0]))) continue;
    gpus.push_back({std::string(trim(fields[0])), std::string(trim(fields[1])),
                    std::string(trim(fields[2])), std::string(trim(fields[3]))});
  }
  return gpus;
}

Probe gpu_list(const std::vector<Gpu>& gpus) {
  std::vector<std::string> texts;
  texts.reserve(gpus.size());
  for (const Gpu& gpu : gpus) {
    texts.push_back(fmt::format("{}: {}, {} MiB", gpu.index, gpu.name, gpu.memory_mib));
  }
  return found("GPUs", fmt::format("{}", fmt::join(texts, "; ")));
}

Probe mig(const std::vector<Gpu>& gpus) {
  std::vector<std::string> split;
  for (const Gpu& gpu : gpus) {
    if (gpu.mig == "Enabled") split.push_back(gpu.index);
  }
  if (split.empty()) return found("MIG", "off: whole GPUs");
  return trouble("MIG",
                 fmt::format("on for GPU {}: peaks of the whole GPU do not apply to a MIG "
                             "instance, and ncu measures only some of its counters",
                             fmt::join(split, ", ")),
                 fmt::format("as root: nvidia-smi -i {} -mig 0", fmt::join(split, ",")));
}

}  // namespace

std::vector<Probe> probe_gpus(const DoctorOptions& options) {
  const auto loaded = system_file(options, "proc/driver/nvidia/version");
  if (!loaded) {
    return {
        missing("driver", "no NVIDIA driver is loaded (/proc/driver/nvidia/version)", kNoDriverFix),
        missing("GPUs", "none without a driver", "see driver"),
        missing("MIG", "no GPU to query", "see driver")};
  }
  const Probe driver = found("driver", version_in(*loaded));
  const auto program = find_executable("nvidia-smi", options.search.path_list);
  if (!program) {
    constexpr const char* kFix =
        "install nvidia-smi of the driver's version (in a container: "
        "NVIDIA_DRIVER_CAPABILITIES=compute,utility)";
    return {driver, missing("GPUs", "nvidia-smi is not on PATH", kFix),
            missing("MIG", "nvidia-smi is not on PATH", kFix)};
  }
  const auto answered =
      answer(options, {program->string(), "--query-gpu=index,name,memory.total,mig.mode.current",
                       "--format=csv,noheader,nounits"});
  const std::vector<Gpu> gpus = answered ? gpus_in(*answered) : std::vector<Gpu>{};
  if (gpus.empty()) {
    constexpr const char* kFix =
        "run nvidia-smi and follow its message: driver and library of different versions need a "
        "reboot; a container needs --gpus all";
    return {driver, trouble("GPUs", "nvidia-smi lists none", kFix),
            trouble("MIG", "nvidia-smi lists no GPU", kFix)};
  }
  return {driver, gpu_list(gpus), mig(gpus)};
}

}  // namespace llmprof::capture
