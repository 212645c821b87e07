#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/error.h"
#include "config/config_tree.h"

namespace llmprof::config {

enum class OverrideAction {
  set,     // key=value
  add,     // +key=value, ++key=value
  remove,  // ~key, ~key=value
};

// One word of the command line that changes the configuration.
struct Override {
  std::shared_ptr<const std::string> source;  // "override 'run.mode=light'", for messages
  OverrideAction action = OverrideAction::set;
  std::string key;      // "run.mode", or a group: "profiling/ncu"
  std::string package;  // of group@package=choice
  bool has_value = false;
  ConfigNode value;

  // Throws Failure.
  [[noreturn]] void refuse(std::string_view what) const;
};

// A value after '=' is a scalar, [a, b] or {key: value}; quotes make a text of anything. Commas
// outside of brackets and quotes are refused, since they could mean a list. An error of kind usage
// says what the grammar expects.
Result<Override> parse_override(const std::string& text);

// Sets, adds and removes keys in the order given. A key that is not there is an error that names
// the nearest one and says that '+' adds it.
Result<void> apply_overrides(ConfigNode& root, std::span<const Override> overrides);

// Sets and adds as far as it goes, for a look at a tree that is not yet complete.
void apply_what_fits(ConfigNode& root, std::span<const Override> overrides);

}  // namespace llmprof::config
