#include "session/bundle/earlier_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <functional>
#include <string>
#include <vector>

#include "base/files.h"
#include "base/text.h"
#include "session/bundle/export_rows.h"
#include "session/bundle/records.h"
#include "session/bundle/run_dir.h"

namespace llmprof::session {
namespace {

constexpr std::string_view kPrevious = "previous-";

// What runs, analyses and reports write at the top of a folder.
bool is_ours(const fs::path& path) {
  constexpr auto kNames = std::to_array<std::string_view>(
      {"env.json", "config.yaml", "inputs.yaml", "captures.json", "ranks.json", "profile.json",
       "report.html", "report.md", "stakeholder_summary.md", "kernels.md", "operators.md", "stage1",
       "collector", "nsys", "ncu", "torch", "plots"});
  constexpr auto kRepeats = std::to_array<std::string_view>({"run-", "base-", "new-"});
  const std::string name = path.filename().string();
  if (std::ranges::find(kNames, name) != kNames.end()) return true;
  if (name.starts_with("trace.") && export_named(name) != nullptr) return true;
  std::error_code missing;
  if (name == "diff") return fs::exists(path / "diff.json", missing);
  // Folders of repeated runs: base-1, new-1.
  return std::ranges::any_of(kRepeats, [&](std::string_view prefix) {
    return name.starts_with(prefix) && parse_int(name.substr(prefix.size())) &&
           fs::exists(path / "env.json", missing);
  });
}

std::optional<int64_t> number_of(const fs::path& folder) {
  const std::string name = folder.filename().string();
  if (!name.starts_with(kPrevious)) return std::nullopt;
  const auto number = parse_int(name.substr(kPrevious.size()));
  return number && *number > 0 ? number : std::nullopt;
}

bool is_empty_folder(const fs::path& path) {
  std::error_code trouble;
  return fs::is_directory(fs::symlink_status(path, trouble)) && fs::is_empty(path, trouble);
}

// A folder that is not there yet: the one after all that are.
Result<fs::path> make_aside(const fs::path& root) {
  int64_t last = 0;
  for (const fs::path& entry : entries_of(root))
    last = std::max(last, number_of(entry).value_or(0));
  fs::path aside = root / fmt::format("{}{}", kPrevious, last + 1);
  std::error_code trouble;
  if (fs::create_directory(aside, trouble)) return aside;
  return fail_with(system_error(ErrorKind::tool, aside, trouble ? trouble.value() : EEXIST)
                       .within("cannot make"));
}

Result<std::optional<fs::path>> move_aside(const fs::path& root,
                                           const std::function<bool(const fs::path&)>& goes) {
  std::vector<fs::path> moved;
  for (const fs::path& entry : entries_of(root)) {
    if (goes(entry) && !is_empty_folder(entry)) moved.push_back(entry);
  }
  if (moved.empty()) return std::optional<fs::path>();
  auto aside = make_aside(root);
  if (!aside) return fail_with(aside.error());
  for (const fs::path& entry : moved) {
    std::error_code trouble;
    fs::rename(entry, *aside / entry.filename(), trouble);
    if (trouble) {
      return fail_with(system_error(ErrorKind::tool, entry, trouble.value())
                           .within(fmt::format("cannot move what an earlier run left into {}",
                                               aside->string())));
    }
  }
  return std::optional(std::move(*aside));
}

std::optional<uint64_t> rank_of(const fs::path& path) {
  for (const RankFolder& folder : rank_folders(path.parent_path())) {
    if (folder.path == path) return folder.rank;
  }
  return std::nullopt;
}

}  // namespace

Result<std::optional<fs::path>> move_earlier_run_aside(const fs::path& root) {
  return move_aside(root, [](const fs::path& entry) { return is_ours(entry) || rank_of(entry); });
}

Result<std::optional<fs::path>> move_earlier_job_aside(const fs::path& root,
                                                       std::optional<uint64_t> world_size) {
  return move_aside(root, [&](const fs::path& entry) {
    const auto rank = rank_of(entry);
    return is_ours(entry) || (rank && world_size && *rank >= *world_size);
  });
}

bool is_earlier_run(const fs::path& folder) { return number_of(folder).has_value(); }

std::optional<fs::path> interrupted_ncu_capture(const fs::path& root) {
  std::vector<fs::path> earlier = entries_of(root);
  std::erase_if(earlier, [](const fs::path& entry) { return !is_earlier_run(entry); });
  std::ranges::sort(earlier, [](const fs::path& a, const fs::path& b) {
    return number_of(a).value_or(0) > number_of(b).value_or(0);
  });
  for (const fs::path& run : earlier) {
    fs::path ncu = run / "ncu";
    std::error_code missing;
    if (fs::exists(ncu / "finished.txt", missing)) return ncu;
    if (fs::exists(ncu / "raw.csv", missing)) break;  // it was complete
  }
  return std::nullopt;
}

}  // namespace llmprof::session
