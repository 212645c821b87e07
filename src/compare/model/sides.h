#pragma once

#include <span>
#include <string>
#include <string_view>

#include "compare/model/words.h"
#include "profile/profile.h"

namespace llmprof::compare {

// One recording of a side.
struct Run {
  std::string path;  // as the user named it
  RunKind kind{};
  profile::Profile profile;
};

struct Sides {
  std::span<const Run> base;
  std::span<const Run> now;
};

// Null if the stage has no measured instance.
inline const profile::Stage* find_measured(std::span<const profile::Stage> stages,
                                           std::string_view name) {
  for (const profile::Stage& stage : stages) {
    if (stage.name == name && stage.instance_count > stage.warmup_count) return &stage;
  }
  return nullptr;
}

}  // namespace llmprof::compare
