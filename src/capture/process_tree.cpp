#include "capture/process_tree.h"

#include <algorithm>
#include <filesystem>
#include <sstream>

#include "base/files.h"
#include "base/text.h"

namespace llmprof::capture {
namespace {

// A script's first line names an interpreter and at most one argument for it.
constexpr size_t kInterpreterWords = 2;

bool runs(const std::vector<std::string>& arguments, const std::vector<std::string>& argv) {
  if (arguments.size() < argv.size()) return false;
  const size_t before = arguments.size() - argv.size();
  if (before > kInterpreterWords) return false;
  // The kernel passes a script's interpreter the path that was found on PATH.
  const auto name = [](const std::string& word) { return std::filesystem::path(word).filename(); };
  return name(arguments[before]) == name(argv.front()) &&
         std::equal(argv.begin() + 1, argv.end(),
                    arguments.begin() + static_cast<std::ptrdiff_t>(before) + 1);
}

}  // namespace

// proc(5): "pid (name) state parent ..."; the name may hold anything, parentheses too.
std::optional<ProcessRow> read_process(pid_t pid) {
  constexpr int kFieldsBetweenParentAndStartTime = 17;
  const std::string text = file_content("/proc/" + std::to_string(pid) + "/stat").value_or("");
  const size_t name_end = text.rfind(')');
  if (name_end == std::string::npos) return std::nullopt;
  std::istringstream fields(text.substr(name_end + 1));
  ProcessRow row;
  row.pid = pid;
  char state = 0;
  fields >> state >> row.parent;
  std::string skipped;
  for (int i = 0; i < kFieldsBetweenParentAndStartTime; ++i) fields >> skipped;
  fields >> row.start_time;
  if (!fields) return std::nullopt;
  row.is_zombie = state == 'Z' || state == 'X';
  return row;
}

std::vector<ProcessRow> list_processes() {
  std::vector<ProcessRow> rows;
  for (const std::filesystem::path& entry : entries_of("/proc")) {
    const auto pid = parse_int(entry.filename().string());
    if (!pid) continue;
    if (auto row = read_process(static_cast<pid_t>(*pid))) rows.push_back(*row);
  }
  return rows;
}

std::vector<ProcessRow> descendants_of(pid_t root, const std::vector<ProcessRow>& processes) {
  std::vector<ProcessRow> found;
  std::vector<pid_t> parents = {root};
  for (size_t i = 0; i < parents.size(); ++i) {
    for (const ProcessRow& row : processes) {
      if (row.parent != parents[i]) continue;
      found.push_back(row);
      parents.push_back(row.pid);
    }
  }
  return found;
}

std::vector<std::string> process_arguments(pid_t pid) {
  const std::string text = file_content("/proc/" + std::to_string(pid) + "/cmdline").value_or("");
  std::vector<std::string_view> words = split(text, '\0');
  if (words.back().empty()) words.pop_back();  // each word ends with a zero
  return {words.begin(), words.end()};
}

pid_t find_wrapped(pid_t wrapper, const std::vector<std::string>& argv) {
  if (argv.empty()) return 0;
  for (const ProcessRow& row : descendants_of(wrapper, list_processes())) {
    if (!row.is_zombie && runs(process_arguments(row.pid), argv)) return row.pid;
  }
  return 0;
}

}  // namespace llmprof::capture
