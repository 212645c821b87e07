#include "session/bundle/run_dir.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <ctime>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "base/error.h"
#include "base/files.h"
#include "base/needed.h"
#include "base/text.h"
#include "session/bundle/export_rows.h"
#include "session/bundle/records.h"

namespace llmprof::session {
namespace {

[[noreturn]] void cannot_make(const fs::path& folder, const std::error_code& trouble) {
  give_up(ErrorKind::tool, fmt::format("{}: cannot create the folder: {}; name another with --out",
                                       folder.string(), trouble.message()));
}

void check_free(const fs::path& root, bool force) {
  std::error_code trouble;
  if (!path_exists(root)) return;
  if (!is_folder(root)) {
    give_up(ErrorKind::usage,
            fmt::format("{}: exists and is not a folder; name another with --out", root.string()));
  }
  if (!force && !fs::is_empty(root, trouble)) {
    give_up(ErrorKind::usage,
            fmt::format("{}: exists and is not empty; name another folder with --out, or "
                        "write into this one with --force",
                        root.string()));
  }
}

// "20261115-013000" in local time.
std::string new_run_id() {
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  localtime_r(&now, &local);
  std::array<char, 32> text{};
  const size_t length = std::strftime(text.data(), text.size(), "%Y%m%d-%H%M%S", &local);
  return {text.data(), length};
}

// The exclusive right of one process to write into an existing folder. All claims of this process
// for the same folder share it. It ends with the last claim or with the process, however that ends.
// A file system that cannot lock folders grants it to every process. Fails if another process has
// it.
FolderClaim claim_folder(const fs::path& folder) {
  using Identity = std::pair<dev_t, ino_t>;
  static std::mutex mutex;
  static std::map<Identity, std::weak_ptr<FileDescriptor>> ours;
  const std::lock_guard guard(mutex);
  FileDescriptor opened(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  struct stat status{};
  // A folder that cannot be opened cannot be locked; writing into it will report why.
  if (!opened.valid() || ::fstat(opened.get(), &status) != 0) return {};
  auto& known = ours[{status.st_dev, status.st_ino}];
  if (auto claim = known.lock()) return claim;
  if (::flock(opened.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    give_up(ErrorKind::usage,
            fmt::format("{}: another llmprof is writing into this folder; name another with "
                        "--out, or wait until it is done",
                        folder.string()));
  }
  auto claim = std::make_shared<FileDescriptor>(std::move(opened));
  known = claim;
  return claim;
}

// The folder and its parents, as far as they do not exist.
std::vector<fs::path> missing_folders(fs::path folder) {
  std::vector<fs::path> missing;
  std::error_code unreadable;
  while (!folder.empty() && !fs::exists(fs::symlink_status(folder, unreadable))) {
    missing.push_back(folder);
    fs::path above = folder.parent_path();
    if (above == folder) break;
    folder = std::move(above);
  }
  return missing;
}

constexpr std::string_view kPrevious = "previous-";

// Folders of repeated runs, by side and number: run-1, base-1, new-1.
std::optional<std::pair<std::string_view, int64_t>> repeat_of(const fs::path& path) {
  constexpr auto kSides = std::to_array<std::string_view>({"run-", "base-", "new-"});
  const std::string name = path.filename().string();
  for (const std::string_view side : kSides) {
    if (!name.starts_with(side)) continue;
    const auto number = parse_int(name.substr(side.size()));
    if (number && path_exists(path / "env.json")) return std::pair(side, *number);
  }
  return std::nullopt;
}

// Names that runs, analyses and reports write at the top of a folder.
bool is_ours(const fs::path& path) {
  constexpr auto kNames =
      std::to_array<std::string_view>({"env.json",      "config.yaml",   "inputs.yaml",
                                       "captures.json", "ranks.json",    "profile.json",
                                       "report.html",   "requests.json", "requests.json.partial",
                                       "sweep.json",    "report.md",     "stakeholder_summary.md",
                                       "kernels.md",    "operators.md",  "stage1",
                                       "collector",     "nsys",          "ncu",
                                       "torch",         "plots"});
  const std::string name = path.filename().string();
  if (std::ranges::find(kNames, name) != kNames.end()) return true;
  if (name.starts_with("trace.") && export_named(name) != nullptr) return true;
  if (name == "diff") return path_exists(path / "diff.json");
  return repeat_of(path).has_value();
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

// Makes a new folder, numbered after all existing ones.
fs::path make_aside(const fs::path& root) {
  int64_t last = 0;
  for (const fs::path& entry : entries_of(root))
    last = std::max(last, number_of(entry).value_or(0));
  fs::path aside = root / fmt::format("{}{}", kPrevious, last + 1);
  std::error_code trouble;
  if (fs::create_directory(aside, trouble)) return aside;
  throw Failure(system_error(ErrorKind::tool, aside, trouble ? trouble.value() : EEXIST)
                    .within("cannot make"));
}

template <class Goes>
std::optional<fs::path> move_aside(const fs::path& root, Goes goes) {
  std::vector<fs::path> moved;
  for (const fs::path& entry : entries_of(root)) {
    if (goes(entry) && !is_empty_folder(entry)) moved.push_back(entry);
  }
  if (moved.empty()) return std::nullopt;
  fs::path aside = make_aside(root);
  for (const fs::path& entry : moved) {
    std::error_code trouble;
    fs::rename(entry, aside / entry.filename(), trouble);
    if (!trouble) continue;
    throw Failure(
        system_error(ErrorKind::tool, entry, trouble.value())
            .within(fmt::format("cannot move the files of an earlier run to {}", aside.string())));
  }
  return aside;
}

std::optional<uint64_t> rank_of(const fs::path& path) {
  for (const RankFolder& folder : rank_folders(path.parent_path())) {
    if (folder.path == path) return folder.rank;
  }
  return std::nullopt;
}

}  // namespace

Artifacts Artifacts::create(const fs::path& root, bool force) {
  check_free(root, force);
  Artifacts artifacts = create_shared(root);
  artifacts.claim_ = claim_folder(root);
  // Checked again: until the claim, another process could fill or remove the folder.
  check_free(root, force);
  return is_folder(root) ? artifacts : create(root, force);
}

Artifacts Artifacts::create_shared(const fs::path& root) {
  check_free(root, true);
  std::error_code trouble;
  fs::create_directories(root, trouble);
  if (trouble) cannot_make(root, trouble);
  return Artifacts(root);
}

Artifacts Artifacts::create_fresh(const fs::path& parent) {
  std::error_code trouble;
  fs::create_directories(parent, trouble);
  if (trouble) cannot_make(parent, trouble);
  const std::string id = new_run_id();
  Artifacts artifacts(parent / id);
  // Creating the folder is the test: of two runs that start at once, only one succeeds.
  for (int number = 2; !fs::create_directory(artifacts.root_, trouble); ++number) {
    if (trouble) cannot_make(artifacts.root_, trouble);
    artifacts.root_ = parent / fmt::format("{}-{}", id, number);
  }
  artifacts.claim_ = claim_folder(artifacts.root_);
  return artifacts;
}

void Artifacts::make_folder(std::string_view name) const { needed(make_own_folder(path(name))); }

void Artifacts::write(std::string_view name, std::string_view content) const {
  needed(write_file_atomically(path(name), content));
}

RunFolder create_run_folder(const fs::path& parent, const fs::path& chosen, bool force) {
  Artifacts bundle =
      chosen.empty() ? Artifacts::create_fresh(parent) : Artifacts::create(chosen, force);
  auto earlier = move_earlier_run_aside(bundle.root());
  return {std::move(bundle), std::move(earlier)};
}

RunFolder create_stage2_root(const fs::path& parent, const fs::path& chosen, bool force) {
  RunFolder run = create_run_folder(parent, chosen, force);
  for (const std::string_view folder : {"nsys", "ncu"}) run.bundle.make_folder(folder);
  return run;
}

std::set<fs::path> logs_in(const fs::path& folder) {
  std::set<fs::path> logs;
  for (const fs::path& entry : entries_of(folder)) {
    if (entry.extension() == ".llmtrace" && is_file(entry)) logs.insert(entry);
  }
  return logs;
}

OutputFolder::~OutputFolder() {
  // Removes empty folders only.
  for (const fs::path& folder : made_) {
    std::error_code in_use;
    if (!fs::remove(folder, in_use)) break;
  }
}

void OutputFolder::claim() {
  if (path_) open();  // a new folder is never shared
}

Artifacts OutputFolder::open() {
  if (opened_) return *opened_;
  const fs::path parent = fs::path("tmp") / "analyze";
  if (path_ && is_shared_) return Artifacts::create_shared(*path_);
  std::vector<fs::path> missing = missing_folders(path_.value_or(parent));
  opened_ = path_ ? Artifacts::create(*path_, force_) : Artifacts::create_fresh(parent);
  if (!path_) missing.insert(missing.begin(), opened_->root());
  made_ = std::move(missing);
  return *opened_;
}

std::optional<fs::path> move_earlier_run_aside(const fs::path& root) {
  return move_aside(root, [](const fs::path& entry) { return is_ours(entry) || rank_of(entry); });
}

std::optional<fs::path> move_earlier_job_aside(const fs::path& root,
                                               std::optional<uint64_t> world_size) {
  return move_aside(root, [&](const fs::path& entry) {
    const auto rank = rank_of(entry);
    return is_ours(entry) || (rank && world_size && *rank >= *world_size);
  });
}

std::vector<fs::path> repeats_in(const fs::path& folder) {
  if (!is_folder(folder) || path_exists(folder / "env.json")) return {};
  std::vector<fs::path> repeats = entries_of(folder);
  std::erase_if(repeats, [](const fs::path& entry) { return !repeat_of(entry); });
  std::ranges::sort(repeats, std::less<>(), repeat_of);
  return repeats;
}

bool is_earlier_run(const fs::path& folder) { return number_of(folder).has_value(); }

std::optional<fs::path> interrupted_ncu_capture(const fs::path& root) {
  std::vector<fs::path> earlier = entries_of(root);
  std::erase_if(earlier, [](const fs::path& entry) { return !is_earlier_run(entry); });
  std::ranges::sort(earlier, std::greater<>(), number_of);
  for (const fs::path& run : earlier) {
    fs::path ncu = run / "ncu";
    if (path_exists(ncu / "finished.txt")) return ncu;
    if (path_exists(ncu / "raw.csv")) break;  // that capture was complete
  }
  return std::nullopt;
}

}  // namespace llmprof::session
