#include "analysis/naming/classes.h"

#include <map>
#include <set>
#include <string>

#include "analysis/naming/kernel_key.h"

namespace llmprof::analysis {
namespace {

using Rows = std::vector<size_t>;  // of the descriptions

using CapturesOfNames = std::map<size_t, std::set<uint32_t>>;  // by the name's index

// The captures that have each of the wanted names.
CapturesOfNames captures_of(const trace::Trace& trace, const std::vector<bool>& wanted) {
  CapturesOfNames captures;
  const auto add = [&](trace::StringId name, trace::CaptureId capture) {
    if (name.valid() && wanted[name.index()]) captures[name.index()].insert(capture.value);
  };
  for (size_t row = 0; row < trace.kernels.size(); ++row) {
    const trace::StringId name = trace.kernels.name[row];
    if (!name.valid() || !wanted[name.index()]) continue;
    const trace::Queue& queue = trace.queues[trace.kernels.queue[row]];
    add(name, queue.process.valid() ? trace.processes[queue.process.index()].capture
                                    : trace::CaptureId());
  }
  for (const trace::ProfiledIdentity& each : trace.identities.values()) {
    add(each.name, each.capture);
  }
  for (const trace::KernelSummary& each : trace.kernel_summaries) add(each.name, each.capture);
  return captures;
}

// Identifies one kernel by its key, which does not depend on a tool's spelling. A tool spells a
// kernel in only one way, so several names with one key in a capture are several kernels:
// overloads, or functions of different namespaces.
std::vector<std::string> kernels_of(const trace::Trace& trace,
                                    const std::vector<trace::StringId>& names,
                                    const std::vector<Rows>& groups) {
  std::vector<std::string> kernels(names.size());
  std::map<std::string, Rows> of_key;
  std::vector<bool> doubtful(trace.strings.size());
  for (const Rows& rows : groups) {
    for (const size_t row : rows) {
      kernels[row] = kernel_key(trace.strings[names[row]]);
      of_key[kernels[row]].push_back(row);
    }
  }
  std::erase_if(of_key, [](const auto& entry) { return entry.second.size() < 2; });
  if (of_key.empty()) return kernels;
  for (const auto& [key, rows] : of_key) {
    for (const size_t row : rows) doubtful[names[row].index()] = true;
  }
  CapturesOfNames captures = captures_of(trace, doubtful);
  for (const auto& [key, rows] : of_key) {
    std::set<uint32_t> seen;
    size_t all = 0;
    for (const size_t row : rows) {
      const std::set<uint32_t>& own = captures[names[row].index()];
      seen.insert(own.begin(), own.end());
      all += own.size();
    }
    if (seen.size() == all) continue;  // no capture has two of the names
    for (const size_t row : rows) kernels[row].append("\n").append(trace.strings[names[row]]);
  }
  return kernels;
}

// `names` belong to the descriptions, in the same order.
void make_short_names_unique(const trace::Trace& trace, const std::vector<trace::StringId>& names,
                             std::vector<KernelDescription>& descriptions) {
  std::map<std::string, Rows> of_short_name;
  for (size_t i = 0; i < descriptions.size(); ++i) {
    of_short_name[descriptions[i].short_name].push_back(i);
  }
  std::vector<Rows> groups;
  for (auto& [short_name, rows] : of_short_name) {
    if (rows.size() > 1) groups.push_back(std::move(rows));
  }
  const std::vector<std::string> kernels = kernels_of(trace, names, groups);
  for (const Rows& rows : groups) {
    std::vector<Namesake> namesakes;
    namesakes.reserve(rows.size());
    for (const size_t row : rows) {
      namesakes.push_back({trace.strings[names[row]], descriptions[row].short_name, kernels[row]});
    }
    distinguish(namesakes);
    for (size_t i = 0; i < rows.size(); ++i) {
      descriptions[rows[i]].short_name = std::move(namesakes[i].short_name);
    }
  }
}

}  // namespace

DescribedNames::DescribedNames(const trace::Trace& trace, const KernelRules& rules)
    : row_(trace.strings.size(), UINT32_MAX) {
  std::vector<trace::StringId> names;
  const auto add = [&](trace::StringId name) {
    if (!name.valid() || row_[name.index()] != UINT32_MAX) return;
    row_[name.index()] = static_cast<uint32_t>(descriptions_.size());
    descriptions_.push_back(rules.describe(trace.strings[name]));
    names.push_back(name);
  };
  for (const trace::StringId name : trace.kernels.name) add(name);
  for (const trace::ProfiledIdentity& identity : trace.identities.values()) add(identity.name);
  for (const trace::KernelSummary& summary : trace.kernel_summaries) add(summary.name);
  // Twice: names that were shortened to make room may have become equal.
  make_short_names_unique(trace, names, descriptions_);
  make_short_names_unique(trace, names, descriptions_);
}

}  // namespace llmprof::analysis
