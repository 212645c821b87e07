#include "agents/served_runs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "agents/hidden_texts.h"
#include "base/files.h"
#include "base/needed.h"
#include "base/text.h"
#include "query/described/without_paths.h"
#include "session/analysis/reading.h"
#include "session/bundle/bundle_files.h"
#include "session/bundle/inputs.h"
#include "session/query/open_runs.h"

namespace llmprof::agents {
namespace {

constexpr std::string_view kProfileFile = "profile.json";
// A search through folders stops somewhere: the current folder may be large.
constexpr int kDeepestFolder = 4;
constexpr size_t kMostFiles = 20'000;
constexpr size_t kMostRuns = 200;
constexpr size_t kMostOpened = 4;

bool has_profile(const fs::path& folder) {
  const fs::path file = folder / kProfileFile;
  return is_file(file) && session::is_profile(file);
}

bool has_capture(const fs::path& folder) {
  constexpr int kMostChecked = 200;
  int checked = 0;
  std::error_code failed;
  for (const auto& entry : fs::directory_iterator(folder, failed)) {
    if (++checked > kMostChecked) break;
    if (!entry.is_regular_file(failed)) continue;
    const session::Content content = session::content_of(entry.path());
    if (content.reader != nullptr || content.is_report) return true;
  }
  return false;
}

// Folders with a profile.json, in the order of their paths.
std::vector<fs::path> runs_below(const fs::path& folder) {
  std::vector<fs::path> runs;
  std::error_code failed;
  size_t seen = 0;
  fs::recursive_directory_iterator at(folder, fs::directory_options::skip_permission_denied,
                                      failed);
  for (; !failed && at != fs::end(at); at.increment(failed)) {
    if (++seen > kMostFiles || runs.size() >= kMostRuns) break;
    std::error_code ignored;
    if (!at->is_directory(ignored)) continue;
    const bool is_run = has_profile(at->path());
    if (is_run) runs.push_back(at->path());
    const bool is_hidden = at->path().filename().string().starts_with('.');
    if (is_run || is_hidden || at.depth() >= kDeepestFolder) at.disable_recursion_pending();
  }
  std::ranges::sort(runs);
  return runs;
}

fs::path canonical_or_empty(const fs::path& path) {
  std::error_code failed;
  const fs::path found = fs::canonical(path, failed);
  return failed ? fs::path() : found;
}

std::string own_name(const fs::path& path) {
  fs::path whole = path.lexically_normal();
  if (whole.filename() == kProfileFile || !whole.has_filename()) whole = whole.parent_path();
  return to_printable(whole.filename().string());
}

void add_known(std::vector<ServedRuns::Known>& runs, const fs::path& path) {
  if (std::ranges::find(runs, path, &ServedRuns::Known::path) != runs.end()) return;
  const std::string name = own_name(path);
  const auto is_taken = [&](const std::string& wanted) {
    return std::ranges::find(runs, wanted, &ServedRuns::Known::name) != runs.end();
  };
  std::string unique = name;
  for (size_t number = 2; is_taken(unique); ++number) unique = fmt::format("{}#{}", name, number);
  runs.push_back({std::move(unique), path});
}

std::string list_of(const std::vector<ServedRuns::Known>& runs) {
  constexpr size_t kMostNamed = 20;
  std::vector<std::string_view> names;
  for (const auto& run : runs) {
    if (names.size() == kMostNamed) break;
    names.emplace_back(run.name);
  }
  return fmt::format("{}{}", fmt::join(names, ", "), runs.size() > kMostNamed ? ", ..." : "");
}

fs::file_time_type time_of(const fs::path& path) {
  std::error_code ignored;
  const fs::path inside = path / kProfileFile;
  return fs::last_write_time(is_file(inside) ? inside : path, ignored);
}

}  // namespace

void CallProgress::begin(std::string_view what) { (*call_)->report(query::without_paths(what)); }
void CallProgress::begin_reading(std::string_view what, uint64_t /*bytes*/) { begin(what); }
void CallProgress::begin_steps(std::string_view what, size_t /*count*/) { begin(what); }
void CallProgress::next_step(std::string_view what) { begin(what); }

ServedRuns::ServedRuns(ServeOptions options) : options_(std::move(options)) {
  const bool is_default = options_.paths.empty();
  if (is_default) options_.paths.emplace_back(".");
  for (const fs::path& path : options_.paths) {
    fs::path found = path;
    if (!path_exists(found)) {
      const auto run = session::list_artifacts(path);
      if (!run) {
        give_up(ErrorKind::input,
                fmt::format("{}: No such file or directory; name a run, a capture, or a folder of "
                            "runs",
                            path.string()));
      }
      found = run->folder;
    }
    const fs::path root = canonical_or_empty(found);
    if (root.empty()) give_up(ErrorKind::input, path.string() + ": cannot be opened");
    roots_.push_back(root);
    const bool is_one_run = !is_folder(root) || has_profile(root) ||
                            (!is_default && runs_below(root).empty() &&
                             (session::is_run_folder(root) || has_capture(root)));
    if (is_one_run) {
      add_known(named_, root);
    } else {
      folders_.push_back(root);
    }
  }
}

const std::vector<ServedRuns::Known>& ServedRuns::known(Search search) const {
  // Every call asks for the runs, and folders may be large.
  constexpr std::chrono::seconds kRecent(5);
  const auto now = std::chrono::steady_clock::now();
  const bool is_recent = !found_.empty() && now - searched_ < kRecent;
  if (search == Search::recent && is_recent) return found_;
  std::vector<Known> all = named_;
  for (const fs::path& folder : folders_) {
    for (const fs::path& run : runs_below(folder)) {
      const fs::path path = canonical_or_empty(run);
      if (!path.empty() && is_inside(path)) add_known(all, path);
    }
  }
  found_ = std::move(all);
  searched_ = now;
  return found_;
}

bool ServedRuns::is_inside(const fs::path& path) const {
  return std::ranges::any_of(roots_, [&](const fs::path& root) {
    const auto [end, ignored] = std::ranges::mismatch(root, path);
    return end == root.end();
  });
}

ServedRuns::Known ServedRuns::find(std::string_view wanted) const {
  for (const Search search : {Search::recent, Search::now}) {
    const auto& searched = known(search);
    const auto named = std::ranges::find(searched, wanted, &Known::name);
    if (named != searched.end()) return *named;
  }
  const std::vector<Known>& runs = found_;
  std::vector<fs::path> candidates;
  const fs::path asked{std::string(wanted)};
  candidates.reserve(roots_.size() + 1);
  for (const fs::path& root : roots_) {
    candidates.push_back(asked.is_absolute() ? asked : root / asked);
  }
  candidates.push_back(asked);
  for (const fs::path& candidate : candidates) {
    if (wanted.empty() || wanted.find('\0') != std::string_view::npos) break;
    const fs::path path = canonical_or_empty(candidate);
    if (path.empty() || !is_inside(path)) continue;
    // A link to a profile elsewhere is elsewhere.
    const fs::path profile = canonical_or_empty(path / kProfileFile);
    if (!profile.empty() && !is_inside(profile)) continue;
    const auto known_path = std::ranges::find(runs, path, &Known::path);
    return known_path != runs.end() ? *known_path : Known{own_name(path), path};
  }
  std::vector<std::string_view> names;
  names.reserve(runs.size());
  for (const Known& run : runs) names.emplace_back(run.name);
  const auto close = nearest(wanted, names);
  give_up(ErrorKind::usage,
          fmt::format("there is no run '{}' in the folders that llmprof was started with{}",
                      to_printable(shortened(wanted, 200)),
                      close          ? fmt::format("; did you mean {}?", *close)
                      : runs.empty() ? "; there are no runs yet: how_to_record says how to make one"
                                     : "; available: " + list_of(runs)));
}

std::vector<ServedRuns::Known> ServedRuns::wanted(const mcp::Json& argument) const {
  std::vector<Known> runs;
  if (argument.is_string()) {
    runs.push_back(find(argument.get_ref<const std::string&>()));
  } else if (argument.is_array() && !argument.empty()) {
    for (const mcp::Json& each : argument) {
      Known run = find(each.get_ref<const std::string&>());
      if (std::ranges::find(runs, run.path, &Known::path) == runs.end()) runs.push_back(run);
    }
  } else {
    runs = named_.empty() ? known() : named_;
    if (runs.empty()) {
      give_up(ErrorKind::usage,
              "there are no runs in the folders that llmprof was started with; how_to_record says "
              "how to make one");
    }
    if (named_.empty() && runs.size() > 1) {
      give_up(ErrorKind::usage, fmt::format("there are {}; name those to ask in `run`: {}",
                                            counted(runs.size(), "run"), list_of(runs)));
    }
  }
  return runs;
}

query::Database& ServedRuns::open(std::span<const Known> runs) {
  Opened wanted;
  for (const Known& run : runs) {
    wanted.paths.push_back(run.path);
    wanted.times.push_back(time_of(run.path));
  }
  const auto is_same = [&](const Opened& each) { return each.paths == wanted.paths; };
  const auto found = std::ranges::find_if(opened_, is_same);
  if (found != opened_.end() && found->times == wanted.times) {
    std::rotate(opened_.begin(), found, found + 1);
    return *opened_.front().database;
  }
  if (found != opened_.end()) opened_.erase(found);
  if (opened_.size() == kMostOpened) opened_.pop_back();
  const auto make_progress = [call = call_] { return std::make_unique<CallProgress>(call); };
  std::vector<query::Run> read =
      needed(session::open_runs(wanted.paths, options_.config_folder, make_progress));
  for (size_t i = 0; i < read.size(); ++i) {
    read[i].name = runs[i].name;
    if (options_.show_paths) {
      const profile::Profile& profile = read[i].profile;
      Place& place = wanted.places.emplace_back(Place{profile.workload.command, {}});
      for (const auto& capture : profile.context.captures) place.captures.push_back(capture.path);
      continue;
    }
    hide_paths(read[i].profile);
    read[i].read_events = [read_events = std::move(read[i].read_events)] {
      auto events = read_events();
      if (events) {
        for (query::Events& each : *events) each.hides_paths = true;
      }
      return events;
    };
  }
  wanted.database = needed(query::Database::open(std::move(read)));
  opened_.insert(opened_.begin(), std::move(wanted));
  return *opened_.front().database;
}

bool ServedRuns::has_page(const Known& run) { return is_file(run.path / session::kPageFile); }

}  // namespace llmprof::agents
