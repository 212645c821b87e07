#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "config/config_tree.h"

namespace llmprof::config {

// One line of a `defaults` list.
struct DefaultsEntry {
  enum class Kind { self, config, group };
  Kind kind = Kind::config;
  bool optional = false;            // no error where the choice does not exist
  bool replaces = false;            // "override group: choice": changes an entry elsewhere
  std::string group;                // of conf, whole: "profiling/ncu"; of a config, its folder
  std::string package;              // after '@'; empty: not given
  std::vector<ConfigNode> choices;  // scalars; none: null was chosen
  ConfigNode place;                 // for messages
};

// A configuration file apart from its defaults.
struct ConfigPart {
  std::string package;                  // from the line "# @package X"; empty: none
  std::vector<DefaultsEntry> defaults;  // including _self_, at the end unless listed
  ConfigNode body;
};

// "model/llm" of "model/llm/alt"; empty at the top.
std::string folder_of(std::string_view name);

// `name` is the file's in conf without ".yaml" ("model/llm/alt"): groups are relative to its folder
// unless they begin with '/'. Errors name the line.
Result<ConfigPart> read_config_part(std::string_view text, const std::string& file,
                                    std::string_view name);

}  // namespace llmprof::config
