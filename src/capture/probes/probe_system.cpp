#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <charconv>

#include "base/csv.h"
#include "base/files.h"
#include "base/text.h"
#include "capture/ncu/ncu_runs.h"
#include "capture/probes/doctor.h"
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

constexpr unsigned kSysAdmin = 21;  // CAP_SYS_ADMIN
constexpr int kHex = 16;

// The rest of the line that starts with `key`.
std::string_view line_of(std::string_view text, std::string_view key) {
  for (const std::string_view line : split_at(text, '\n')) {
    if (line.starts_with(key)) return trim(line.substr(key.size()));
  }
  return {};
}

// Being root is not enough in a container: the driver asks for the capability.
bool may_administer(const DoctorOptions& options) {
  const std::string status = system_file(options, "proc/self/status").value_or("");
  const std::string_view effective = line_of(status, "CapEff:");
  uint64_t capabilities = 0;
  std::from_chars(effective.data(), effective.data() + effective.size(), capabilities, kHex);
  return ((capabilities >> kSysAdmin) & 1U) != 0;
}

struct RunningProgram {
  int64_t pid = 0;
  std::string name;
  bool injected = false;  // a library is to be injected into its CUDA
};

bool has_injection(std::string_view environment) {
  constexpr std::string_view kVariable = "CUDA_INJECTION64_PATH=";
  if (environment.starts_with(kVariable)) return true;
  return contains(environment, std::string("\0", 1) + std::string(kVariable));
}

// Programs whose names are visible. Only this user's environments are read, and nothing from them
// is kept.
std::vector<RunningProgram> running_programs(const DoctorOptions& options) {
  std::vector<RunningProgram> programs;
  for (const std::filesystem::path& entry : entries_of(options.search.root / "proc")) {
    const std::string folder = entry.filename().string();
    const auto pid = parse_int(folder);
    if (!pid || *pid == ::getpid()) continue;
    const auto name = system_file(options, "proc/" + folder + "/comm");
    if (!name) continue;
    const auto environment = system_file(options, "proc/" + folder + "/environ");
    programs.push_back(
        {*pid, std::string(trim(*name)), environment && has_injection(*environment)});
  }
  return programs;
}

bool is_dcgm(const RunningProgram& program) {
  return program.name.starts_with("nv-hostengine") || program.name.starts_with("dcgm-exporter");
}

bool uses_cupti(const RunningProgram& program) {
  return program.injected ||
         WordList{"nsys|nsys-launcher|ncu|nv-nsight-cu-cl|nvprof|cupti"}.contains(program.name);
}

std::string named(const std::vector<RunningProgram>& programs) {
  std::vector<std::string> texts;
  texts.reserve(programs.size());
  for (const RunningProgram& program : programs) {
    texts.push_back(fmt::format("{} (process {})", to_printable(program.name), program.pid));
  }
  return fmt::format("{}", fmt::join(texts, ", "));
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

std::vector<Probe> probe_counters(const DoctorOptions& options) {
  constexpr const char* kName = "counter permission";
  const auto params = system_file(options, "proc/driver/nvidia/params");
  if (!params) {
    return {
        missing(kName, "no NVIDIA driver is loaded (/proc/driver/nvidia/params)", "see driver")};
  }
  const std::string_view restricted = line_of(*params, "RmProfilingAdminOnly:");
  if (restricted == "0") return {found(kName, "available to all users (RmProfilingAdminOnly 0)")};
  if (may_administer(options)) {
    return {found(kName, "restricted to administrators; this user is one (CAP_SYS_ADMIN)")};
  }
  return {trouble(kName,
                  "restricted to administrators (RmProfilingAdminOnly 1): ncu will fail with "
                  "ERR_NVGPUCTRPERM; timelines are not affected",
                  counter_permission_remedy())};
}

std::vector<Probe> probe_running_tools(const DoctorOptions& options) {
  std::vector<RunningProgram> dcgm;
  std::vector<RunningProgram> profilers;
  for (RunningProgram& program : running_programs(options)) {
    if (is_dcgm(program)) {
      dcgm.push_back(std::move(program));
    } else if (uses_cupti(program)) {
      profilers.push_back(std::move(program));
    }
  }
  std::vector<Probe> probes;
  probes.push_back(
      dcgm.empty() ? found("DCGM", "not running")
                   : trouble("DCGM",
                             fmt::format("{} is running and may use the counters that ncu needs",
                                         named(dcgm)),
                             counters_in_use_remedy()));
  probes.push_back(
      profilers.empty()
          ? found("other CUPTI users", "none seen")
          : trouble("other CUPTI users",
                    fmt::format("{}: a program can have one at a time, and counters one on the "
                                "whole GPU",
                                named(profilers)),
                    "wait for them, or end them, before recording"));
  return probes;
}

std::vector<Probe> probe_sampling(const DoctorOptions& options) {
  constexpr const char* kName = "CPU sampling";
  constexpr int64_t kMostAllowed = 2;  // nsys samples its own user's processes up to this level
  const auto text = system_file(options, "proc/sys/kernel/perf_event_paranoid");
  if (!text) {
    return {missing(kName, "this kernel has no perf events; nsys can trace nevertheless",
                    "keep nsys.sample=none")};
  }
  const int64_t level = parse_int(trim(*text)).value_or(kMostAllowed + 1);
  if (level <= kMostAllowed) {
    return {found(kName, fmt::format("allowed (perf_event_paranoid {})", level))};
  }
  return {trouble(kName,
                  fmt::format("not allowed (perf_event_paranoid {}, nsys needs at most {}); nsys "
                              "can trace nevertheless",
                              level, kMostAllowed),
                  fmt::format("as root: sysctl kernel.perf_event_paranoid={}; or leave "
                              "nsys.sample=none",
                              kMostAllowed))};
}

}  // namespace llmprof::capture
