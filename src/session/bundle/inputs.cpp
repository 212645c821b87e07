#include "session/bundle/inputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <set>
#include <string_view>

#include "base/files.h"

namespace llmprof::session {
namespace {

namespace fs = std::filesystem;

constexpr int kDeepestFolder = 3;

struct RunFile {
  std::string_view name;
  RunRole role;
};

std::set<fs::path> logs_in(const fs::path& folder) {
  std::set<fs::path> logs;
  std::error_code trouble;
  for (const auto& entry : fs::directory_iterator(folder, trouble)) {
    if (entry.path().extension() == ".llmtrace") logs.insert(entry.path());
  }
  return logs;
}

std::vector<Input> run_captures(const fs::path& folder, size_t run) {
  constexpr std::array<RunFile, 5> kFiles = {{{"nsys/run.sqlite", RunRole::nsys},
                                              {"ncu/raw.csv", RunRole::other},
                                              {"stage1/metrics.json", RunRole::other},
                                              {"torch/trace.json.gz", RunRole::torch},
                                              {"torch/trace.json", RunRole::torch}}};
  constexpr std::string_view kOwnMetrics = "stage1/metrics.json";
  std::error_code trouble;
  std::vector<Input> files;
  for (const fs::path& log : logs_in(folder / "collector")) {
    files.push_back({log, false, run, RunRole::log});
  }
  bool has_capture = !files.empty();
  for (const RunFile& file : kFiles) {
    if (!fs::is_regular_file(folder / file.name, trouble)) continue;
    files.push_back({folder / file.name, false, run, file.role});
    has_capture = has_capture || file.name != kOwnMetrics;
  }
  if (has_capture) {
    for (const fs::path& log : logs_in(folder / "stage1" / "launches")) {
      files.push_back({log, false, run, RunRole::control});
    }
  }
  // Where nothing else was captured, what nsys's pass recorded of the program itself is all there
  // is: a CPU program's operators, or ranges that say what is missing.
  if (has_capture) return files;
  for (const fs::path& log : logs_in(folder / "nsys" / "annotations")) {
    files.push_back({log, false, run, RunRole::annotations});
  }
  return files;
}

// What our own bundles hold besides captures.
bool is_our_output(const fs::path& file) {
  const std::string name = file.filename().string();
  return name == "profile.json" || name == "env.json" || name == "captures.json" ||
         file.extension() == ".md" || file.extension() == ".html" || file.extension() == ".yaml" ||
         file.extension() == ".tmp";
}

bool has_export_beside(const fs::path& file, const std::set<fs::path>& files) {
  const std::string extension = file.extension().string();
  if (extension != ".nsys-rep" && extension != ".qdrep" && extension != ".qdstrm") return false;
  return files.contains(fs::path(file).replace_extension(".sqlite"));
}

Result<std::vector<Input>> folder_captures(const fs::path& folder) {
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
  std::vector<Input> captures;
  for (const fs::path& file : files) {
    if (!has_export_beside(file, files)) captures.push_back({file, false, {}, RunRole::other});
  }
  return captures;
}

}  // namespace

bool is_run_folder(const fs::path& folder) {
  constexpr std::array<std::string_view, 4> kOwnFiles = {"profile.json", "inputs.yaml",
                                                         "config.yaml", "env.json"};
  constexpr std::array<std::string_view, 4> kPasses = {"nsys", "ncu", "torch", "collector"};
  std::error_code ignored;
  const auto is_file = [&](std::string_view name) {
    return fs::is_regular_file(folder / name, ignored);
  };
  const auto is_folder = [&](std::string_view name) {
    return fs::is_directory(folder / name, ignored);
  };
  return std::any_of(kOwnFiles.begin(), kOwnFiles.end(), is_file) &&
         std::any_of(kPasses.begin(), kPasses.end(), is_folder);
}

Result<std::vector<Input>> expand_inputs(std::span<const fs::path> paths) {
  std::vector<Input> inputs;
  std::set<fs::path> seen;
  for (size_t i = 0; i < paths.size(); ++i) {
    const fs::path& path = paths[i];
    std::error_code trouble;
    const auto status = fs::status(path, trouble);
    if (!fs::exists(status)) {
      return fail_with(system_error(ErrorKind::input, path, trouble ? trouble.value() : ENOENT));
    }
    if (!fs::is_directory(status)) {
      if (seen.insert(fs::weakly_canonical(path, trouble)).second) {
        inputs.push_back({path, true, {}, RunRole::other});
      }
      continue;
    }
    auto files = is_run_folder(path) ? Result<std::vector<Input>>(run_captures(path, i))
                                     : folder_captures(path);
    if (!files) return fail_with(files.error());
    if (files->empty()) {
      return fail_input(fmt::format("{}: the folder holds no capture", path.string()));
    }
    for (Input& file : *files) {
      if (seen.insert(fs::weakly_canonical(file.path, trouble)).second) {
        inputs.push_back(std::move(file));
      }
    }
  }
  return inputs;
}

}  // namespace llmprof::session
