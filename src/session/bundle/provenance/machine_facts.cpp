#include "session/bundle/provenance/machine_facts.h"

#include <sched.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>

#include "base/machine/cpu_name.h"
#include "base/streams/byte_stream.h"
#include "base/text.h"
#include "capture/process.h"

namespace llmprof::session {
namespace {

constexpr auto kPatience = std::chrono::seconds(10);  // with a tool that should answer at once
constexpr size_t kLargestText = 4UL << 20U;

std::string file_text(const std::filesystem::path& path) {
  auto stream = open_byte_stream(path);
  if (!stream) return {};
  return read_all(**stream, kLargestText).value_or("");
}

// What a program prints; empty where it is not there or fails.
std::string answer_of(std::vector<std::string> argv) {
  capture::Command command;
  command.argv = std::move(argv);
  command.timeout = kPatience;
  const auto result = capture::run_process(command);
  if (!result || !result->succeeded()) return {};
  return result->output_tail;
}

template <class Visit>
void each_line(std::string_view text, Visit&& visit) {
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    visit(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

// "key : value" or "key=value"; the first of that key.
std::string value_of(std::string_view text, std::string_view key, char separator) {
  std::string found;
  each_line(text, [&](std::string_view line) {
    const size_t at = line.find(separator);
    if (!found.empty() || at == std::string_view::npos) return;
    if (trim(line.substr(0, at)) == key) found = trim(line.substr(at + 1));
  });
  return found;
}

std::string unquoted(std::string text) {
  std::erase(text, '"');
  return text;
}

uint64_t memory_bytes() {
  constexpr uint64_t kKib = 1024;
  const std::string total = value_of(file_text("/proc/meminfo"), "MemTotal", ':');
  const auto kib = parse_int(trim(std::string_view(total).substr(0, total.find(' '))));
  return kib && *kib > 0 ? static_cast<uint64_t>(*kib) * kKib : 0;
}

uint32_t usable_cpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) != 0) return 0;
  return static_cast<uint32_t>(CPU_COUNT(&set));
}

std::string toolkit_version() {
  const std::string text = answer_of({"nvcc", "--version"});
  constexpr std::string_view kMark = "release ";
  const size_t at = text.find(kMark);
  if (at == std::string::npos) return {};
  const std::string_view rest = std::string_view(text).substr(at + kMark.size());
  return std::string(rest.substr(0, rest.find(',')));
}

void ask_driver(MachineFacts& facts) {
  const std::string text = answer_of(
      {"nvidia-smi",
       "--query-gpu=name,uuid,driver_version,memory.total,clocks.max.sm,clocks.max.mem,compute_cap",
       "--format=csv,noheader,nounits"});
  each_line(text, [&](std::string_view line) {
    std::vector<std::string> cells;
    while (true) {
      const size_t comma = line.find(',');
      cells.emplace_back(trim(line.substr(0, comma)));
      if (comma == std::string_view::npos) break;
      line.remove_prefix(comma + 1);
    }
    constexpr size_t kCells = 7;
    if (cells.size() != kCells) return;
    facts.driver = cells[2];
    facts.gpus.push_back({cells[0], cells[1], cells[3], cells[4], cells[5], cells[6]});
  });
}

void ask_git(MachineFacts& facts) {
  facts.git_revision = trim(answer_of({"git", "rev-parse", "HEAD"}));
  if (facts.git_revision.empty()) return;
  facts.git_changed =
      !trim(answer_of({"git", "status", "--porcelain", "--untracked-files=no"})).empty();
}

// Names alone, none by prefix: a variable that nobody thought of must stay out.
constexpr std::array<std::string_view, 28> kRecordedVariables = {
    "CUDA_DEVICE_MAX_CONNECTIONS",
    "CUDA_DEVICE_ORDER",
    "CUDA_HOME",
    "CUDA_LAUNCH_BLOCKING",
    "CUDA_MODULE_LOADING",
    "CUDA_VISIBLE_DEVICES",
    "CUBLAS_WORKSPACE_CONFIG",
    "GOMP_CPU_AFFINITY",
    "KMP_AFFINITY",
    "LC_ALL",
    "LLMPROF_NCU",
    "LLMPROF_NSYS",
    "LLMPROF_QDSTRM_IMPORTER",
    "MKL_NUM_THREADS",
    "NCCL_ALGO",
    "NCCL_P2P_DISABLE",
    "NCCL_PROTO",
    "NVIDIA_TF32_OVERRIDE",
    "OMP_NUM_THREADS",
    "OMP_PROC_BIND",
    "OPENBLAS_NUM_THREADS",
    "PYTORCH_ALLOC_CONF",
    "PYTORCH_CUDA_ALLOC_CONF",
    "TOKENIZERS_PARALLELISM",
    "TORCHINDUCTOR_MAX_AUTOTUNE",
    "TORCH_CUDA_ARCH_LIST",
    "TRANSFORMERS_OFFLINE",
    "VLLM_ATTENTION_BACKEND",
};

}  // namespace

std::span<const std::string_view> recorded_variables() { return kRecordedVariables; }

MachineFacts machine_facts() {
  MachineFacts facts;
  facts.cpu = cpu_name(file_text("/proc/cpuinfo"));
  facts.cpu_count = usable_cpus();
  facts.memory_bytes = memory_bytes();
  facts.os = unquoted(value_of(file_text("/etc/os-release"), "PRETTY_NAME", '='));
  utsname system{};
  if (uname(&system) == 0) {
    facts.kernel =
        std::string(system.sysname) + ' ' + std::string(system.release) + ' ' + system.machine;
    facts.host = system.nodename;
  }
  ask_driver(facts);
  facts.cuda = toolkit_version();
  ask_git(facts);
  for (const std::string_view name : kRecordedVariables) {
    const char* value = std::getenv(std::string(name).c_str());
    if (value != nullptr) facts.environment.emplace_back(name, value);
  }
  return facts;
}

}  // namespace llmprof::session
