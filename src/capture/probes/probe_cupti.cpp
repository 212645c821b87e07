#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <array>

#include "capture/executables.h"
#include "capture/probes/cuda_here.h"
#include "capture/probes/probe_families.h"

namespace llmprof::capture {
namespace {

using std::filesystem::path;

constexpr const char* kLibrary = "libcupti.so*";
constexpr const char* kName = "CUPTI";

// Below the search's root; machines' names differ, so all of them are looked into.
constexpr std::array kUsualPlaces = {
    "usr/local/cuda/extras/CUPTI/lib64",
    "usr/local/cuda/lib64",
    "usr/local/cuda/targets/x86_64-linux/lib",
    "usr/local/cuda/targets/sbsa-linux/lib",
    "usr/lib/x86_64-linux-gnu",
    "usr/lib/aarch64-linux-gnu",
};

// Where PyTorch's wheels bring their own.
constexpr const char* kAskPython = R"(
import glob, os, sys
for folder in sys.path:
    for place in ("nvidia/cuda_cupti/lib", "nvidia/cu*/lib"):
        for name in glob.glob(os.path.join(folder, place, "libcupti.so*")):
            print(name)
            sys.exit()
)";

std::optional<path> library_in(const path& folder) {
  std::vector<path> candidates;
  std::error_code status;
  for (std::filesystem::directory_iterator entry(folder, status), end; !status && entry != end;
       entry.increment(status)) {
    const std::string name = entry->path().filename().string();
    if (::fnmatch(kLibrary, name.c_str(), 0) == 0) candidates.push_back(entry->path());
  }
  // The longest name carries the whole version.
  const auto longer = [](const path& a, const path& b) {
    return a.string().size() < b.string().size();
  };
  const auto best = std::max_element(candidates.begin(), candidates.end(), longer);
  return best == candidates.end() ? std::nullopt : std::optional(*best);
}

std::optional<path> in_toolkit(const path& toolkit) {
  for (const char* place : {"extras/CUPTI/lib64", "lib64", "lib"}) {
    if (auto library = library_in(toolkit / place)) return library;
  }
  return std::nullopt;
}

std::optional<path> named(const DoctorOptions& options) {
  std::error_code status;
  const path& library = options.cuda.cupti;
  if (!std::filesystem::is_regular_file(library, status)) return std::nullopt;
  return library;
}

std::optional<path> in_cuda_home(const DoctorOptions& options) {
  for (const path& toolkit : {options.cuda.home, options.cuda.path}) {
    if (toolkit.empty()) continue;
    if (auto library = in_toolkit(toolkit)) return library;
  }
  return std::nullopt;
}

std::optional<path> on_loaders_path(const DoctorOptions& options) {
  std::string_view rest = options.cuda.library_path;
  while (!rest.empty()) {
    const size_t end = std::min(rest.find(':'), rest.size());
    if (end > 0) {
      if (auto library = library_in(rest.substr(0, end))) return library;
    }
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return std::nullopt;
}

std::optional<path> beside_nvcc(const DoctorOptions& options) {
  const auto nvcc = find_executable("nvcc", options.search.path_list);
  if (!nvcc) return std::nullopt;
  std::error_code status;
  return in_toolkit(std::filesystem::canonical(*nvcc, status).parent_path().parent_path());
}

std::optional<path> in_usual_places(const DoctorOptions& options) {
  for (const char* place : kUsualPlaces) {
    if (auto library = library_in(options.search.root / place)) return library;
  }
  return std::nullopt;
}

std::optional<path> of_python(const DoctorOptions& options) {
  const auto python = find_executable(options.python, options.search.path_list);
  if (!python) return std::nullopt;
  const auto told = answer(options, {python->string(), "-c", kAskPython});
  if (!told || !told->ends_with('\n')) return std::nullopt;
  return path(told->substr(0, told->find('\n')));
}

Probe library(const DoctorOptions& options) {
  std::error_code status;
  if (!options.cuda.cupti.empty() && !std::filesystem::exists(options.cuda.cupti, status)) {
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

// The variable's value is the user's own and stays here.
Probe injection(const DoctorOptions& options) {
  constexpr const char* kInjection = "CUDA injection";
  if (options.cuda.injection.empty()) {
    return found(kInjection, "no other library (CUDA_INJECTION64_PATH is not set)");
  }
  if (path(options.cuda.injection).filename() == "libllmprof_collector.so") {
    return found(kInjection, "CUDA_INJECTION64_PATH names the collector itself");
  }
  return trouble(
      kInjection,
      "CUDA_INJECTION64_PATH is set: the library that it names is loaded into every "
      "program that uses CUDA, including the unprofiled control run; only in the collector's pass "
      "is it replaced by the collector",
      "unset CUDA_INJECTION64_PATH");
}

}  // namespace

std::optional<path> find_cupti(const DoctorOptions& options) {
  // Named by hand, it is that one or none.
  if (!options.cuda.cupti.empty()) return named(options);
  for (const auto look : {in_cuda_home, on_loaders_path, in_usual_places, beside_nvcc, of_python}) {
    if (auto library = look(options)) return library;
  }
  return std::nullopt;
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
