#include "session/inputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <set>
#include <string_view>

#include "base/files.h"

namespace llmprof {
namespace {

namespace fs = std::filesystem;

constexpr int kDeepestFolder = 3;

bool is_run_folder(const fs::path& folder) {
  return fs::exists(folder / "profile.json") &&
         (fs::is_directory(folder / "nsys") || fs::is_directory(folder / "ncu") ||
          fs::is_directory(folder / "torch") || fs::is_directory(folder / "collector"));
}

std::vector<fs::path> run_captures(const fs::path& folder) {
  constexpr std::array<std::string_view, 5> kNames = {"nsys/run.sqlite", "ncu/raw.csv",
                                                      "torch/trace.json.gz", "torch/trace.json",
                                                      "stage1/metrics.json"};
  std::vector<fs::path> files;
  for (const std::string_view name : kNames) {
    if (fs::is_regular_file(folder / name)) files.push_back(folder / name);
  }
  return files;
}

// What our own bundles hold beside captures.
bool is_our_output(const fs::path& file) {
  const std::string name = file.filename().string();
  return name == "profile.json" || name == "env.json" || file.extension() == ".md" ||
         file.extension() == ".html" || file.extension() == ".yaml" || file.extension() == ".tmp";
}

bool has_export_beside(const fs::path& file, const std::set<fs::path>& files) {
  const std::string extension = file.extension().string();
  if (extension != ".nsys-rep" && extension != ".qdrep" && extension != ".qdstrm") return false;
  return files.contains(fs::path(file).replace_extension(".sqlite"));
}

Result<std::vector<fs::path>> folder_captures(const fs::path& folder) {
  std::set<fs::path> files;
  std::error_code trouble;
  fs::recursive_directory_iterator entries(folder, trouble);
  for (; !trouble && entries != fs::end(entries); entries.increment(trouble)) {
    if (entries.depth() >= kDeepestFolder) entries.disable_recursion_pending();
    std::error_code ignored;
    if (entries->is_regular_file(ignored) && !is_our_output(entries->path())) {
      files.insert(entries->path());
    }
  }
  if (trouble) {
    return fail_input(
        fmt::format("{}: cannot list the folder: {}", folder.string(), trouble.message()));
  }
  std::vector<fs::path> captures;
  std::copy_if(files.begin(), files.end(), std::back_inserter(captures),
               [&](const fs::path& file) { return !has_export_beside(file, files); });
  return captures;
}

}  // namespace

Result<std::vector<Input>> expand_inputs(std::span<const fs::path> paths) {
  std::vector<Input> inputs;
  std::set<fs::path> seen;
  for (const fs::path& path : paths) {
    std::error_code trouble;
    const auto status = fs::status(path, trouble);
    if (!fs::exists(status)) {
      return fail_with(system_error(ErrorKind::input, path, trouble ? trouble.value() : ENOENT));
    }
    if (!fs::is_directory(status)) {
      if (seen.insert(fs::weakly_canonical(path, trouble)).second) inputs.push_back({path, true});
      continue;
    }
    auto files = is_run_folder(path) ? Result<std::vector<fs::path>>(run_captures(path))
                                     : folder_captures(path);
    if (!files) return fail_with(files.error());
    if (files->empty()) {
      return fail_input(fmt::format("{}: the folder holds no capture", path.string()));
    }
    for (const fs::path& file : *files) {
      if (seen.insert(fs::weakly_canonical(file, trouble)).second) inputs.push_back({file, false});
    }
  }
  return inputs;
}

}  // namespace llmprof
