#include "capture/probes/doctor.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <future>
#include <initializer_list>
#include <system_error>

#include "base/files.h"
#include "base/text.h"
#include "capture/process.h"
#include "capture/shell.h"

namespace llmprof::capture {
namespace {

constexpr std::array kFamilies = {
    probe_nvidia_tools,  probe_cupti,    probe_gpus,   probe_counters,
    probe_running_tools, probe_sampling, probe_python, probe_own_files,
};

constexpr size_t kAnswerBytes = 64UL << 10U;

// Prints the facts in one line; a package that is installed but broken is reported by its
// exception.
constexpr const char* kAskTorch = R"(
try:
    import torch
    print("torch", torch.__version__, "cuda" if torch.cuda.is_available() else "cpu", torch.version.cuda)
except ModuleNotFoundError:
    print("none")
except Exception as error:
    print("broken", type(error).__name__, error)
)";
// From its metadata: importing it would take as long as torch again.
constexpr const char* kAskTransformers = R"(
import importlib.metadata
try:
    print(importlib.metadata.version("transformers"))
except importlib.metadata.PackageNotFoundError:
    print("none")
)";

std::string last_line(std::string_view text) {
  text = trim(text);
  const size_t line = text.rfind('\n');
  return std::string(line == std::string_view::npos ? text : text.substr(line + 1));
}

Probe torch(const std::optional<std::string>& answered, const std::string& python) {
  const std::string install = fmt::format("{} -m pip install torch", python);
  if (!answered) return trouble("torch", "importing it did not finish in time", install);
  const std::string line = last_line(*answered);
  if (line == "none") {
    return missing("torch", "not installed; needed for the Hugging Face workload", install);
  }
  if (!line.starts_with("torch ")) {
    return trouble("torch",
                   fmt::format("cannot be imported: {}", shortened(to_printable(line), 200)),
                   install);
  }
  std::string_view facts = std::string_view(line).substr(6);
  const std::string version(facts.substr(0, facts.find(' ')));
  if (contains(facts, " cuda ")) {
    return found("torch", fmt::format("{}, sees a GPU through CUDA {}", version,
                                      facts.substr(facts.rfind(' ') + 1)));
  }
  return found("torch", fmt::format("{}, sees no GPU: it runs on the CPU", version));
}

Probe transformers(const std::optional<std::string>& answered, const std::string& python) {
  const std::string line = answered ? last_line(*answered) : "none";
  if (line != "none" && !line.empty()) return found("transformers", line);
  return missing("transformers", "not installed; needed for the Hugging Face workload",
                 fmt::format("{} -m pip install transformers", python));
}

using std::filesystem::path;

constexpr uint64_t kGiB = 1ULL << 30U;
constexpr uint64_t kMiB = 1ULL << 20U;
// A run on the CPU leaves about 10 MiB; nsys with ncu can leave gigabytes.
constexpr uint64_t kLeastForCpu = 200 * kMiB;
constexpr uint64_t kLeastForGpu = 10 * kGiB;

Probe needed(Probe probe) {
  probe.needed = true;
  return probe;
}

std::optional<path> first_there(const path& folder, std::initializer_list<const char*> places) {
  for (const char* place : places) {
    path file = (folder / place).lexically_normal();
    if (is_file(file)) return file;
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

// The folder itself, or its nearest parent that exists.
path existing_part(path folder) {
  folder = absolute_path(folder).lexically_normal();
  if (!folder.has_filename()) folder = folder.parent_path();
  while (!is_folder(folder) && folder.has_relative_path()) {
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

std::optional<std::string> answer(const DoctorOptions& options, std::vector<std::string> argv) {
  auto ended = ask_program(std::move(argv), options.timeout, kAnswerBytes);
  if (!ended || !ended->succeeded()) return std::nullopt;
  return std::move(ended->output_tail);
}

std::optional<std::string> system_file(const DoctorOptions& options, const std::string& name) {
  return file_content(options.search.root / name);
}

std::vector<Probe> probe_machine(const DoctorOptions& given) {
  DoctorOptions options = given;
  if (options.program_folder.empty()) {
    options.program_folder = own_program().parent_path();
  }
  std::vector<std::future<std::vector<Probe>>> asked;
  asked.reserve(kFamilies.size());
  for (const auto family : kFamilies) {
    asked.push_back(std::async(std::launch::async, family, std::cref(options)));
  }
  std::vector<Probe> probes;
  for (auto& answers : asked) {
    for (Probe& probe : answers.get()) probes.push_back(std::move(probe));
  }
  return probes;
}

bool can_run_on_cpu(const std::vector<Probe>& probes) {
  return std::all_of(probes.begin(), probes.end(), [](const Probe& probe) {
    return !probe.needed || probe.state == Probe::State::found;
  });
}

std::vector<Probe> probe_python(const DoctorOptions& options) {
  const auto program = find_executable(options.python, options.search.path_list);
  if (!program) {
    const std::string fix = "install Python 3.9 or later (Debian: apt install python3)";
    return {missing("Python", fmt::format("{} is not on PATH", options.python), fix),
            missing("torch", "no Python to import it", "see Python"),
            missing("transformers", "no Python to import it", "see Python")};
  }
  const std::string python = program->string();
  const auto ask = [&](const char* what) { return answer(options, {python, "-c", what}); };
  auto torch_answer = std::async(std::launch::async, ask, kAskTorch);
  auto transformers_answer = std::async(std::launch::async, ask, kAskTransformers);
  const auto version = answer(options, {python, "--version"});
  const Probe interpreter =
      version ? found("Python", fmt::format("{} ({})", python, to_printable(trim(*version))))
              : trouble("Python", fmt::format("{} --version failed", python),
                        "reinstall Python, or choose another one");
  return {interpreter, torch(torch_answer.get(), python),
          transformers(transformers_answer.get(), python)};
}

std::vector<Probe> probe_own_files(const DoctorOptions& options) {
  std::vector<Probe> probes = collector(options.program_folder);
  probes.push_back(needed(cpu_workload(options.program_folder)));
  probes.push_back(needed(output_folder(options)));
  return probes;
}

}  // namespace llmprof::capture
