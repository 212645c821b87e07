#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "base/files.h"
#include "base/machine.h"
#include "base/text.h"
#include "capture/probes/doctor.h"
#include "capture/shell.h"
#include "capture/tools.h"

namespace llmprof::capture {
namespace {

using std::filesystem::path;

Probe installed_tool(Tool tool, const DoctorOptions& options) {
  const std::string name(tool_name(tool));
  const auto installations = find_tool(tool, options.search);
  if (!installations) {
    return trouble(name, installations.error().message,
                   fmt::format("correct or unset {}", tool_variable(tool)));
  }
  // It has no --version. It only has to exist, and only if nsys does not import by itself.
  if (tool == Tool::qdstrm_importer) {
    if (!installations->empty()) return found(name, installations->front().string());
    return missing(name, "not found; needed only where nsys leaves a .qdstrm",
                   std::string(where_to_get(tool)));
  }
  if (installations->empty()) {
    return missing(name, "neither on PATH nor in the usual places",
                   fmt::format("{} If it is installed elsewhere, set {} to its path.",
                               where_to_get(tool), tool_variable(tool)));
  }
  const auto works = ensure_tool(tool, options.search);
  if (!works) {
    return trouble(name, works.error().message,
                   fmt::format("install it again, or set {} to another one", tool_variable(tool)));
  }
  const std::string version = works->version.empty() ? "version unknown" : works->version;
  return found(name, fmt::format("{} ({})", works->path.string(), version));
}

// Device nodes may exist without a loaded driver (nvidia-modprobe creates them), but then they
// cannot be opened.
bool is_there_with_a_driver(const path& file) {
  const FileDescriptor opened(::open(file.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  return opened.valid() || errno == EACCES || errno == EPERM || errno == EBUSY;
}

constexpr const char* kName = "CUPTI";

// Below the search's root; machine names differ, so all are searched.
constexpr std::array kUsualPlaces = {
    "usr/local/cuda/extras/CUPTI/lib64",
    "usr/local/cuda/lib64",
    "usr/local/cuda/targets/x86_64-linux/lib",
    "usr/local/cuda/targets/sbsa-linux/lib",
    "usr/lib/x86_64-linux-gnu",
    "usr/lib/aarch64-linux-gnu",
};

// Where PyTorch's wheels install their own.
constexpr const char* kAskPython = R"(
import glob, os, sys
for folder in sys.path:
    for place in ("nvidia/cuda_cupti/lib", "nvidia/cu*/lib"):
        for name in glob.glob(os.path.join(folder, place, "libcupti.so*")):
            print(name)
            sys.exit()
)";

std::optional<path> library_in(const path& folder) {
  std::optional<path> best;
  for (path& entry : entries_of(folder)) {
    if (!entry.filename().string().starts_with("libcupti.so")) continue;
    // The longest name contains the full version.
    if (!best || entry.string().size() > best->string().size()) best = std::move(entry);
  }
  return best;
}

// From CUDA_HOME and CUDA_PATH, on the loader's path, in the usual places, next to nvcc.
std::vector<path> folders_to_look_into(const DoctorOptions& options) {
  std::vector<path> folders;
  const auto add_toolkit = [&](const path& toolkit) {
    for (const char* place : {"extras/CUPTI/lib64", "lib64", "lib"}) {
      if (!toolkit.empty()) folders.push_back(toolkit / place);
    }
  };
  add_toolkit(options.cuda.home);
  add_toolkit(options.cuda.path);
  for (const std::string_view folder : split_at(options.cuda.library_path, ':')) {
    folders.emplace_back(folder);
  }
  for (const char* place : kUsualPlaces) folders.push_back(options.search.root / place);
  if (const auto nvcc = find_executable("nvcc", options.search.path_list)) {
    std::error_code status;
    add_toolkit(std::filesystem::canonical(*nvcc, status).parent_path().parent_path());
  }
  return folders;
}

std::optional<path> of_python(const DoctorOptions& options) {
  const auto python = find_executable(options.python, options.search.path_list);
  if (!python) return std::nullopt;
  const auto answered = answer(options, {python->string(), "-c", kAskPython});
  if (!answered || !answered->ends_with('\n')) return std::nullopt;
  return path(answered->substr(0, answered->find('\n')));
}

Probe library(const DoctorOptions& options) {
  if (!options.cuda.cupti.empty() && !path_exists(options.cuda.cupti)) {
    return trouble(kName, "LLMPROF_CUPTI names a file that does not exist",
                   "set it to libcupti.so itself, or unset LLMPROF_CUPTI");
  }
  if (const auto found_library = find_cupti(options)) {
    const std::string version = cupti_version(*found_library);
    return found(kName, version.empty()
                            ? found_library->string()
                            : fmt::format("{} (version {})", found_library->string(), version));
  }
  return missing(kName,
                 "no libcupti.so by CUDA_HOME, CUDA_PATH or LD_LIBRARY_PATH, in the usual places, "
                 "next to nvcc or among Python's packages",
                 fmt::format("install the CUDA toolkit, or PyTorch with CUDA ({} -m pip install "
                             "torch); Debian: apt install libcupti-dev, from non-free",
                             options.python));
}

// The variable's value is private to the user and is not shown.
Probe injection(const DoctorOptions& options) {
  constexpr const char* kInjection = "CUDA injection";
  if (options.cuda.injection.empty()) {
    return found(kInjection, "no other library (CUDA_INJECTION64_PATH is not set)");
  }
  if (path(options.cuda.injection).filename() == "libllmprof_collector.so") {
    return found(kInjection, "CUDA_INJECTION64_PATH names the collector itself");
  }
  return trouble(kInjection,
                 "CUDA_INJECTION64_PATH is set: the library that it names is loaded into every "
                 "program that uses CUDA, including the unprofiled control run; only in the "
                 "collector's recording is it replaced by the collector",
                 "unset CUDA_INJECTION64_PATH");
}

}  // namespace

std::vector<Probe> probe_nvidia_tools(const DoctorOptions& options) {
  return {installed_tool(Tool::nsys, options), installed_tool(Tool::ncu, options),
          installed_tool(Tool::qdstrm_importer, options)};
}

CudaVariables cuda_variables_here() {
  return {environment_variable("LLMPROF_CUPTI"), environment_variable("CUDA_HOME"),
          environment_variable("CUDA_PATH"), environment_variable("LD_LIBRARY_PATH"),
          environment_variable("CUDA_INJECTION64_PATH")};
}

bool has_cuda_half(const path& collector) {
  // The terminating zero is part of it: another entry point's name starts with the same letters.
  constexpr std::string_view kEntryPoint{"InitializeInjection\0", 20};
  return contains(file_content(collector).value_or(""), kEntryPoint);
}

std::string cuda_half_remedy() {
  return "use a release's bundle, whose collector has it; or install the headers of the CUDA "
         "toolkit (cupti.h) and build again: they are looked for in CUDA_HOME and "
         "/usr/local/cuda*, or name their folder: cmake --preset release "
         "-DLLMPROF_CUPTI_INCLUDE=FOLDER";
}

bool has_nvidia_driver(const ToolSearch& search) {
  // Containers show some and hide others; the last is for the Windows Subsystem for Linux.
  constexpr std::array kTraces = {"proc/driver/nvidia/version", "dev/nvidiactl", "dev/nvidia0",
                                  "dev/dxg"};
  return std::ranges::any_of(
      kTraces, [&](const char* trace) { return is_there_with_a_driver(search.root / trace); });
}

std::optional<path> find_cupti(const DoctorOptions& options) {
  // If named explicitly, it is that one or none.
  if (const path& named = options.cuda.cupti; !named.empty()) {
    return is_file(named) ? std::optional(named) : std::nullopt;
  }
  for (const path& folder : folders_to_look_into(options)) {
    if (auto library = library_in(folder)) return library;
  }
  return of_python(options);
}

std::string cupti_version(const path& library) {
  constexpr std::string_view kPrefix = "libcupti.so.";
  std::error_code status;
  const path whole = std::filesystem::canonical(library, status);
  const std::string name = (status ? library : whole).filename().string();
  return name.starts_with(kPrefix) ? name.substr(kPrefix.size()) : std::string();
}

std::vector<Probe> probe_cupti(const DoctorOptions& options) {
  return {library(options), injection(options)};
}

}  // namespace llmprof::capture
