#include <fmt/format.h>
#include <sys/utsname.h>

#include <chrono>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "base/files.h"
#include "base/machine.h"
#include "base/secrets/secrets.h"
#include "base/text.h"
#include "capture/process.h"
#include "capture/tools.h"
#include "session/bundle/provenance/provenance.h"
#include "session/version.h"

namespace llmprof::session {
namespace {

using Json = nlohmann::ordered_json;

constexpr auto kPatience = std::chrono::seconds(10);  // for tools that should answer at once

// Full names, not prefixes: an unexpected variable must not be recorded. Those of engines are in
// conf/engines.
constexpr std::string_view kRecordedVariables =
    "CUDA_DEVICE_MAX_CONNECTIONS CUDA_DEVICE_ORDER CUDA_HOME CUDA_LAUNCH_BLOCKING "
    "CUDA_MODULE_LOADING CUDA_VISIBLE_DEVICES CUBLAS_WORKSPACE_CONFIG GOMP_CPU_AFFINITY "
    "KMP_AFFINITY LC_ALL LLMPROF_NCU LLMPROF_NSYS LLMPROF_QDSTRM_IMPORTER MKL_NUM_THREADS "
    "NCCL_ALGO NCCL_P2P_DISABLE NCCL_PROTO NVIDIA_TF32_OVERRIDE OMP_NUM_THREADS "
    "OMP_PROC_BIND OPENBLAS_NUM_THREADS";

// Missing values are null, never empty.
Json text_or_null(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

// The output of a program; empty if it is missing or fails.
std::string answer_of(std::vector<std::string> argv) {
  const auto result = capture::ask_program(std::move(argv), kPatience);
  return result && result->succeeded() ? result->output_tail : std::string();
}

std::string operating_system() {
  const std::string text = file_content("/etc/os-release").value_or("");
  std::string name(value_of_key(text, "PRETTY_NAME", '='));
  std::erase(name, '"');
  return name;
}

std::string toolkit_version() {
  const std::string text = answer_of({"nvcc", "--version"});
  constexpr std::string_view kMark = "release ";
  const size_t at = text.find(kMark);
  if (at == std::string::npos) return {};
  const std::string_view rest = std::string_view(text).substr(at + kMark.size());
  return std::string(rest.substr(0, rest.find(',')));
}

// The driver version and one row per GPU, as nvidia-smi prints them.
struct Gpus {
  std::string driver;
  Json rows = Json::array();
};

Gpus ask_driver() {
  constexpr size_t kDriver = 2;
  const auto keys = split(
      "name uuid driver memory_mib max_sm_clock_mhz max_memory_clock_mhz compute_capability", ' ');
  Gpus gpus;
  const std::string text = answer_of(
      {"nvidia-smi",
       "--query-gpu=name,uuid,driver_version,memory.total,clocks.max.sm,clocks.max.mem,compute_cap",
       "--format=csv,noheader,nounits"});
  for (const std::string_view line : split(text, '\n')) {
    const auto cells = split(line, ',');
    if (cells.size() != keys.size()) continue;
    gpus.driver = trim(cells[kDriver]);
    Json& row = gpus.rows.emplace_back(Json::object());
    for (size_t i = 0; i < keys.size(); ++i) {
      if (i != kDriver) row[keys[i]] = trim(cells[i]);
    }
  }
  return gpus;
}

// The revision of the folder that the run was started in, and whether it had uncommitted changes.
Json git_record() {
  const std::string revision(trim(answer_of({"git", "rev-parse", "HEAD"})));
  if (revision.empty()) return {{"revision", nullptr}, {"changed", nullptr}};
  const std::string changes = answer_of({"git", "status", "--porcelain", "--untracked-files=no"});
  return {{"revision", revision}, {"changed", !trim(changes).empty()}};
}

Json tool(const Result<capture::InstalledTool>& found) {
  if (!found) return nullptr;
  return {{"path", found->path.string()}, {"version", text_or_null(found->version)}};
}

}  // namespace

std::set<std::string> recorded_variables(const analysis::EngineRules& engines) {
  std::set<std::string> names = engines.all(&analysis::EngineRule::recorded_variables);
  for (const std::string_view name : split(kRecordedVariables, ' ')) names.emplace(name);
  return names;
}

std::string environment_record(const analysis::EngineRules& engines) {
  utsname system{};
  std::string kernel;
  if (uname(&system) == 0) {
    kernel = fmt::format("{} {} {}", system.sysname, system.release, system.machine);
  }
  const Gpus gpus = ask_driver();
  Json environment = Json::object();
  for (const std::string& name : recorded_variables(engines)) {
    const char* value = std::getenv(name.c_str());
    if (value != nullptr) environment[name] = recorded_value(name, value);
  }
  const capture::ToolSearch search = capture::tool_search_here();
  const Json record = {
      {"llmprof", kVersion},
      {"gpus", gpus.rows},
      {"driver", text_or_null(gpus.driver)},
      {"cuda", text_or_null(toolkit_version())},
      {"tools",
       {{"nsys", tool(capture::ensure_tool(capture::Tool::nsys, search))},
        {"ncu", tool(capture::ensure_tool(capture::Tool::ncu, search))}}},
      {"cpu",
       {{"name", text_or_null(cpu_name(file_content("/proc/cpuinfo").value_or("")))},
        {"count", usable_cpu_times().value_or(CpuTimes()).cpus},
        {"memory_bytes", machine_memory_bytes()}}},
      {"os", text_or_null(operating_system())},
      {"kernel", text_or_null(kernel)},
      {"host", text_or_null(system.nodename)},
      {"git", git_record()},
      {"environment", environment}};
  constexpr int kIndent = 2;
  return record.dump(kIndent, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace llmprof::session
