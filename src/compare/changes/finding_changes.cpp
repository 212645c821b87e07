#include "compare/changes/changes.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

namespace llmprof::compare {
namespace {

using FindingKey = std::tuple<std::string, std::string, std::string>;  // stage, kind, subject

struct FindingOfSide {
  const profile::Finding* last = nullptr;
  size_t runs = 0;
  double sum = 0;
  size_t known = 0;

  [[nodiscard]] std::optional<Milliseconds> mean() const {
    if (known == 0) return std::nullopt;
    return Milliseconds{sum / static_cast<double>(known)};
  }
};

std::map<FindingKey, FindingOfSide> findings_of(std::span<const Run> runs) {
  std::map<FindingKey, FindingOfSide> found;
  for (const Run& run : runs) {
    for (const profile::Finding& finding : run.profile.findings) {
      FindingOfSide& here = found[{finding.stage.value_or(""), std::string(to_string(finding.kind)),
                                   finding.subject.value_or("")}];
      here.last = &finding;
      ++here.runs;
      if (!finding.saving) continue;
      here.sum += finding.saving->value;
      ++here.known;
    }
  }
  std::erase_if(found, [&](const auto& entry) { return 2 * entry.second.runs < runs.size(); });
  return found;
}

Fate change_between(const FindingOfSide& base, const FindingOfSide& now, double threshold) {
  const auto before = base.mean();
  const auto after = now.mean();
  if (!before || !after) return Fate::same;
  const double difference = after->value - before->value;
  if (std::abs(difference) <= threshold * before->value) return Fate::same;
  return difference < 0 ? Fate::smaller : Fate::larger;
}

}  // namespace

std::vector<FindingChange> find_finding_changes(const Sides& sides, double threshold) {
  const auto base = findings_of(sides.base);
  const auto now = findings_of(sides.now);
  std::vector<FindingChange> changes;
  const auto add = [&](const profile::Finding& finding, Fate change) -> FindingChange& {
    return changes.emplace_back(
        FindingChange{finding.kind, change, finding.stage, finding.subject, finding.title, {}, {}});
  };
  for (const auto& [key, here] : base) {
    const auto there = now.find(key);
    if (there == now.end()) {
      add(*here.last, Fate::gone).base = here.mean();
    } else {
      FindingChange& change =
          add(*there->second.last, change_between(here, there->second, threshold));
      change.base = here.mean();
      change.now = there->second.mean();
    }
  }
  for (const auto& [key, there] : now) {
    if (!base.contains(key)) add(*there.last, Fate::fresh).now = there.mean();
  }
  const auto size = [](const FindingChange& change) {
    return std::abs(change.now.value_or(Milliseconds{}).value -
                    change.base.value_or(Milliseconds{}).value);
  };
  std::ranges::stable_sort(changes, [&](const FindingChange& a, const FindingChange& b) {
    return std::tuple(a.change, -size(a)) < std::tuple(b.change, -size(b));
  });
  return changes;
}

}  // namespace llmprof::compare
