#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace llmprof::config {

// A value in a YAML or JSON document, with its place for messages.
struct ConfigNode {
  enum class Kind { null, scalar, list, map };
  Kind kind = Kind::null;
  size_t line = 0;                   // from 1, of a member's key; 0 if unknown (JSON)
  std::string text;                  // of a scalar, as written, including numbers and booleans
  std::vector<ConfigNode> children;  // of a list or a map, in the document's order
  std::vector<std::string> keys;     // of a map, one per child
  bool quoted = false;               // a scalar in quotes: a text, whatever it looks like
  // The file or override it came from, if the tree has several sources; none: the document's.
  std::shared_ptr<const std::string> source;

  static ConfigNode scalar(std::string text, bool quoted = false);

  [[nodiscard]] bool is_map() const { return kind == Kind::map; }
  [[nodiscard]] bool is_list() const { return kind == Kind::list; }
  [[nodiscard]] bool is_scalar() const { return kind == Kind::scalar; }
  [[nodiscard]] bool is_null() const { return kind == Kind::null; }

  // The member of a map; null pointer if it is missing or this is not a map.
  [[nodiscard]] const ConfigNode* find(std::string_view key) const;
  // The same, but a null node if it is missing.
  [[nodiscard]] const ConfigNode& operator[](std::string_view key) const;
  // Only for scalars; none if the text is something else.
  [[nodiscard]] std::optional<double> number() const;
  [[nodiscard]] std::optional<int64_t> integer() const;
  [[nodiscard]] std::optional<bool> boolean() const;
};

struct ConfigDocument {
  std::string name;  // the file, for messages
  ConfigNode root;

  // An error of kind usage: "kernels.yaml:12: what", or "override 'run.mode=x': what".
  [[nodiscard]] tl::unexpected<Error> wrong(const ConfigNode& node, std::string_view what) const;
  // The same, thrown (base/needed.h).
  [[noreturn]] void refuse(const ConfigNode& node, std::string_view what) const;
  // Refuses keys of a map that are not listed, naming the nearest valid key.
  [[nodiscard]] Result<void> check_keys(const ConfigNode& map,
                                        std::span<const std::string_view> known) const;
};

// For a scalar without quotes.
bool means_null(std::string_view plain);

// YAML that composes to the same tree.
std::string to_yaml(const ConfigNode& node);
// JSON in one line; unquoted values that look like numbers or booleans are written as such.
std::string to_json(const ConfigNode& node);

// "unknown key 'nme'; did you mean 'name'?", or all known keys.
std::string unknown_word(std::string_view what, std::string_view text,
                         std::span<const std::string_view> known);
// "; did you mean 'x'?", or nothing.
std::string did_you_mean(const std::optional<std::string>& close);
std::string did_you_mean(std::string_view wanted, std::span<const std::string> candidates);

// Errors are of kind usage and name the file and the line.
Result<ConfigDocument> parse_yaml(std::string_view text, std::string name);
Result<ConfigDocument> parse_json(std::string_view text, std::string name);

using KeyPath = std::vector<std::string>;

// Splits "a.b[0].c" into parts; none if a part is empty or a bracket is not closed.
std::optional<KeyPath> split_key(std::string_view dotted);

// The member, or the list element by its number; null pointer if there is none.
const ConfigNode* find_path(const ConfigNode& root, std::span<const std::string> path);
ConfigNode* find_path(ConfigNode& root, std::span<const std::string> path);

// The member, created with the maps that lead to it if missing; null pointer if something on the
// way is neither a map nor null.
ConfigNode* make_path(ConfigNode& root, std::span<const std::string> path);

// Removes a member or an element; false if there is none.
bool erase_path(ConfigNode& root, std::span<const std::string> path);

// Maps are merged member by member; everything else is replaced.
void merge_into(ConfigNode& into, const ConfigNode& from);

// The dotted key that was probably meant: close in spelling, or with other leading parts
// ("nsys.trace" for "profiling.nsys.trace").
std::optional<std::string> nearest_key(const ConfigNode& root, std::string_view wanted);

}  // namespace llmprof::config
