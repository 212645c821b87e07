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

// A value after '=' is a scalar, [a, b] or {key: value}; anything in quotes is a text. Commas
// outside of brackets and quotes are refused, since they could mean a list. Errors are of kind
// usage and say what the grammar expects.
Result<Override> parse_override(const std::string& text);

// Sets, adds and removes keys in the given order. A missing key is an error that names the nearest
// one and says that '+' adds it; it is thrown (base/needed.h).
void apply_overrides(ConfigNode& root, std::span<const Override> overrides);

// Sets and adds as far as possible, to preview a tree that is not complete yet.
void apply_what_fits(ConfigNode& root, std::span<const Override> overrides);

}  // namespace llmprof::config
