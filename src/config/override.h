#pragma once

#include <memory>
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

  [[nodiscard]] tl::unexpected<Error> wrong(std::string_view what) const;
};

// An error of kind usage says what the grammar expects.
Result<Override> parse_override(const std::string& text);

// A value as it is written after '=': a scalar, [a, b] or {key: value}; quotes make a text of
// anything. Commas outside of brackets and quotes are refused, since they could mean a list.
Result<ConfigNode> parse_override_value(std::string_view text,
                                        std::shared_ptr<const std::string> source);

}  // namespace llmprof::config
