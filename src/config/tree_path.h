#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/config_tree.h"

namespace llmprof::config {

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

// "; did you mean 'x'?", or nothing.
std::string did_you_mean(const std::optional<std::string>& close);
std::string did_you_mean(std::string_view wanted, std::span<const std::string> candidates);

}  // namespace llmprof::config
