#include "compare/damage/damage.h"

#include <fmt/format.h>

#include <algorithm>

#include "profile/lost_data.h"

namespace llmprof::compare {
namespace {

// Its times are per instance, and of no instance the end was recorded.
bool is_known_in_part(const profile::Stage& stage) {
  const auto is_measured = [](const profile::Instance& instance) { return !instance.warmup; };
  const auto is_whole = [&](const profile::Instance& instance) {
    return is_measured(instance) && !instance.cut_off;
  };
  return stage.step_count == 0 &&
         std::any_of(stage.instances.begin(), stage.instances.end(), is_measured) &&
         std::none_of(stage.instances.begin(), stage.instances.end(), is_whole);
}

void add_damage(std::string_view side, std::span<const Run> runs, std::vector<Damage>& found) {
  for (const Run& run : runs) {
    for (const profile::Diagnostic& lost : profile::lost_data(run.profile)) {
      found.push_back({std::string(side), run.path, lost.code, lost.message, lost.count});
    }
    for (const profile::Stage& stage : run.profile.stages) {
      if (!is_known_in_part(stage)) continue;
      found.push_back({std::string(side), run.path, "stage_cut_off",
                       fmt::format("the end of {} was not recorded", stage.name), 1});
    }
  }
}

}  // namespace

std::vector<Damage> find_damage(const Sides& sides) {
  std::vector<Damage> found;
  add_damage("base", sides.base, found);
  add_damage("new", sides.now, found);
  return found;
}

}  // namespace llmprof::compare
