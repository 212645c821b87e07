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

}  // namespace llmprof::session
