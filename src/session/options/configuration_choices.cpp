#include "session/options/configuration_choices.h"

#include "config/conf_files.h"

namespace llmprof::session {

std::vector<GroupChoices> configuration_choices() {
  std::vector<GroupChoices> groups;
  const auto conf = config::ConfFiles::open(std::nullopt);
  if (!conf) return groups;
  for (const std::string_view group : {"model", "workload", "profiling/collector", "profiling/ncu",
                                       "profiling/nsys", "profiling/torch"}) {
    groups.push_back({group, conf->names_under(group)});
  }
  return groups;
}

std::vector<std::string> choices_in(std::span<const GroupChoices> groups, std::string_view group) {
  for (const GroupChoices& each : groups) {
    if (each.group == group) return each.choices;
  }
  return {};
}

}  // namespace llmprof::session
