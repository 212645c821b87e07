#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/compose.h"
#include "config/config_tree.h"

namespace llmprof::config {

// The parts of compose(): defaults lists and interpolation. Errors are thrown (base/needed.h).

// One line of a `defaults` list.
struct DefaultsEntry {
  enum class Kind { self, config, group };
  Kind kind = Kind::config;
  bool optional = false;            // a missing choice is not an error
  bool replaces = false;            // "override group: choice": changes an entry elsewhere
  std::string group;                // full name in conf: "profiling/ncu"; for a config, its folder
  std::string package;              // after '@'; empty: not given
  std::vector<ConfigNode> choices;  // scalars; none: null was chosen
  ConfigNode place;                 // for messages
};

// A configuration file without its defaults.
struct ConfigPart {
  std::string package;                  // from the line "# @package X"; empty: none
  std::vector<DefaultsEntry> defaults;  // including _self_, at the end unless listed
  ConfigNode body;
};

// "model/llm" of "model/llm/alt"; empty at the top.
std::string folder_of(std::string_view name);

// `name` is the file's name in conf without ".yaml" ("model/llm/alt"). Groups are relative to its
// folder unless they start with '/'. Errors name the line.
ConfigPart read_config_part(std::string_view text, const std::string& file, std::string_view name);

// The tree with every `${...}` replaced by its value. Errors are of kind usage and name the place:
// missing keys, unknown functions, loops, required values that were not set (`???`).
ConfigNode interpolated(const ConfigDocument& tree, std::span<const GroupChoice> choices,
                        const ComposeContext& context);

// One scalar of a defaults list, using the tree composed so far. `${group}` stands for the choice.
std::string interpolated_choice(const ConfigDocument& tree, const ConfigNode& scalar,
                                std::span<const GroupChoice> choices,
                                const ComposeContext& context);

// A part of a text: literal, or the content between "${" and "}".
struct TextPiece {
  bool interpolation = false;
  std::string text;
};

// `\${` is not an interpolation. None if a "${" is not closed.
std::optional<std::vector<TextPiece>> split_interpolations(std::string_view text);
bool has_interpolation(std::string_view text);

// "oc.env:NAME,default" as the function's name and its arguments, each as written; a key has no
// function name.
struct FunctionCall {
  std::string name;
  std::vector<std::string> arguments;
};
FunctionCall split_function(std::string_view expression);

// The text without its surrounding quotes.
std::optional<std::string> unquoted(std::string_view text);

}  // namespace llmprof::config
