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

// A value of a YAML or JSON document, with its place for messages.
struct ConfigNode {
  enum class Kind { null, scalar, list, map };
  Kind kind = Kind::null;
  size_t line = 0;                   // from 1, a member's is its key's; 0 where unknown (JSON)
  std::string text;                  // of a scalar, as written; numbers and booleans too
  std::vector<ConfigNode> children;  // of a list or a map, in the document's order
  std::vector<std::string> keys;     // of a map, one a child
  bool quoted = false;               // a scalar in quotes: a text, whatever it looks like
  // The file or the override it came from, where several made one tree; none: the document's.
  std::shared_ptr<const std::string> source;

  static ConfigNode scalar(std::string text, bool quoted = false);

  [[nodiscard]] bool is_map() const { return kind == Kind::map; }
  [[nodiscard]] bool is_list() const { return kind == Kind::list; }
  [[nodiscard]] bool is_scalar() const { return kind == Kind::scalar; }
  [[nodiscard]] bool is_null() const { return kind == Kind::null; }

  // The member of a map; null pointer where there is none, or where this is not a map.
  [[nodiscard]] const ConfigNode* find(std::string_view key) const;
  // The same; a null where there is none.
  [[nodiscard]] const ConfigNode& operator[](std::string_view key) const;
  // Of scalars alone; none where the text is something else.
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
  // Refuses a map's keys that are not among these, naming the nearest that is.
  [[nodiscard]] Result<void> check_keys(const ConfigNode& map,
                                        std::span<const std::string_view> known) const;
};

// Of a scalar without quotes.
bool means_null(std::string_view plain);

// As YAML that composes to the same tree.
std::string to_yaml(const ConfigNode& node);
// As JSON in one line; what is not in quotes and looks like a number or a boolean is one.
std::string to_json(const ConfigNode& node);

// "unknown key 'nme'; did you mean 'name'?", or all that are known.
std::string unknown_word(std::string_view what, std::string_view text,
                         std::span<const std::string_view> known);
// "; did you mean 'x'?", or nothing.
std::string did_you_mean(const std::optional<std::string>& close);
std::string did_you_mean(std::string_view wanted, std::span<const std::string> candidates);

// Errors are of kind usage and name the file and the line.
Result<ConfigDocument> parse_yaml(std::string_view text, std::string name);
Result<ConfigDocument> parse_json(std::string_view text, std::string name);

using KeyPath = std::vector<std::string>;

// "a.b[0].c" as its parts; none where a part is empty or a bracket is left open.
std::optional<KeyPath> split_key(std::string_view dotted);

// The member, or the element of a list by its number; null pointer where there is none.
const ConfigNode* find_path(const ConfigNode& root, std::span<const std::string> path);
ConfigNode* find_path(ConfigNode& root, std::span<const std::string> path);

// The member, made where it is not there, with the maps that lead to it; null pointer where
// something on the way is neither a map nor null.
ConfigNode* make_path(ConfigNode& root, std::span<const std::string> path);

// Takes a member or an element away; false where there is none.
bool erase_path(ConfigNode& root, std::span<const std::string> path);

// Maps are merged member by member; everything else is replaced.
void merge_into(ConfigNode& into, const ConfigNode& from);

// The dotted key of the tree that was probably meant: close in spelling, or the same but for what
// leads to it ("nsys.trace" for "profiling.nsys.trace").
std::optional<std::string> nearest_key(const ConfigNode& root, std::string_view wanted);

}  // namespace llmprof::config
