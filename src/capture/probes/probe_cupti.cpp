#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <array>

#include "capture/executables.h"
#include "capture/probes/probe_families.h"

namespace llmprof {
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

std::optional<path> beside_nvcc(const DoctorOptions& options) {
  const auto nvcc = find_executable("nvcc", options.search.path_list);
  if (!nvcc) return std::nullopt;
  std::error_code status;
  const path toolkit = std::filesystem::canonical(*nvcc, status).parent_path().parent_path();
  for (const char* place : {"extras/CUPTI/lib64", "lib64", "lib"}) {
    if (auto library = library_in(toolkit / place)) return library;
  }
  return std::nullopt;
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

}  // namespace

std::vector<Probe> probe_cupti(const DoctorOptions& options) {
  for (const auto look : {beside_nvcc, in_usual_places, of_python}) {
    if (const auto library = look(options)) return {found(kName, library->string())};
  }
  return {missing(kName,
                  "no libcupti.so beside nvcc, in the usual places or among Python's packages",
                  fmt::format("install the CUDA toolkit, or PyTorch with CUDA ({} -m pip install "
                              "torch); Debian: apt install libcupti-dev, from non-free",
                              options.python))};
}

}  // namespace llmprof
