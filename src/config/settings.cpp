#include "config/settings.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/text.h"

namespace llmprof::config {
namespace {

constexpr size_t kLongestValue = 100;

std::string quoted_value(const ConfigNode& node) {
  return shortened(node.is_scalar() ? "'" + to_printable(node.text) + "'" : to_json(node),
                   kLongestValue);
}

}  // namespace

std::string Settings::path_of(std::string_view key) const {
  return path_.empty() ? std::string(key) : fmt::format("{}.{}", path_, key);
}

const ConfigNode* Settings::node(std::string_view key) {
  asked_.emplace_back(key);
  const ConfigNode* found = node_.find(key);
  return found == nullptr || found->is_null() ? nullptr : found;
}

void Settings::allow(std::initializer_list<std::string_view> keys) {
  asked_.insert(asked_.end(), keys.begin(), keys.end());
}

void Settings::wrong(std::string_view key, std::string_view what) const {
  const ConfigNode* at = node_.find(key);
  document_.refuse(at == nullptr ? node_ : *at, fmt::format("{} {}", path_of(key), what));
}

std::optional<std::string> Settings::scalar(std::string_view key, std::string_view expected) {
  const ConfigNode* found = node(key);
  if (found == nullptr) return std::nullopt;
  if (found->is_scalar()) return found->text;
  wrong(key, fmt::format("must be {}, but is {}", expected, quoted_value(*found)));
}

std::string Settings::text(std::string_view key, std::string_view otherwise) {
  return scalar(key, "a string").value_or(std::string(otherwise));
}

std::optional<std::string> Settings::optional_text(std::string_view key) {
  return scalar(key, "a string or null");
}

void Settings::check_word(std::string_view key, std::string_view value,
                          std::string_view valid) const {
  const auto words = split(valid, ' ');
  if (std::ranges::find(words, value) != words.end()) return;
  const std::vector<std::string> names(words.begin(), words.end());
  wrong(key, fmt::format("must be {}{}, but is '{}'{}", names.size() > 1 ? "one of " : "",
                         fmt::join(names, ", "), shortened(to_printable(value), kLongestValue),
                         did_you_mean(value, names)));
}

std::string Settings::one_of(std::string_view key, std::string_view valid,
                             std::string_view otherwise) {
  const auto value = scalar(key, fmt::format("one of {}", fmt::join(split(valid, ' '), ", ")));
  if (!value) return std::string(otherwise);
  check_word(key, *value, valid);
  return *value;
}

bool Settings::boolean(std::string_view key, bool otherwise) {
  const ConfigNode* found = node(key);
  if (found == nullptr) return otherwise;
  if (const auto value = found->boolean()) return *value;
  wrong(key, fmt::format("must be true or false, but is {}", quoted_value(*found)));
}

std::optional<uint64_t> Settings::optional_whole(std::string_view key, uint64_t least,
                                                 uint64_t most) {
  const ConfigNode* found = node(key);
  if (found == nullptr) return std::nullopt;
  const auto value = found->integer();
  if (value && *value >= 0 && static_cast<uint64_t>(*value) >= least &&
      static_cast<uint64_t>(*value) <= most) {
    return static_cast<uint64_t>(*value);
  }
  wrong(key, fmt::format("must be an integer {}, but is {}",
                         most >= INT64_MAX ? fmt::format("of at least {}", least)
                                           : fmt::format("from {} to {}", least, most),
                         quoted_value(*found)));
}

uint64_t Settings::whole(std::string_view key, uint64_t otherwise, uint64_t least, uint64_t most) {
  return optional_whole(key, least, most).value_or(otherwise);
}

std::optional<double> Settings::optional_number(std::string_view key, double least, double most) {
  const ConfigNode* found = node(key);
  if (found == nullptr) return std::nullopt;
  const auto value = found->number();
  if (value && *value >= least && *value <= most) return value;
  wrong(key, fmt::format("must be a number from {} to {}, or null, but is {}", least, most,
                         quoted_value(*found)));
}

void Settings::flatten(std::string_view key, const ConfigNode& from,
                       std::vector<std::string>& into) const {
  if (from.is_scalar()) into.push_back(from.text);
  if (from.is_map()) {
    wrong(key, fmt::format("must be a list of strings, but contains {}", quoted_value(from)));
  }
  if (!from.is_list()) return;
  for (const ConfigNode& child : from.children) flatten(key, child, into);
}

std::vector<std::string> Settings::texts(std::string_view key) {
  std::vector<std::string> all;
  if (const ConfigNode* found = node(key)) flatten(key, *found, all);
  return all;
}

std::vector<std::string> Settings::each_one_of(std::string_view key, std::string_view valid) {
  std::vector<std::string> all = texts(key);
  for (const std::string& value : all) check_word(key, value, valid);
  return all;
}

Settings Settings::within(std::string_view key) {
  const ConfigNode* found = node(key);
  if (found != nullptr && !found->is_map()) {
    wrong(key, fmt::format("must be a map of keys, but is {}", quoted_value(*found)));
  }
  return {document_, node_[key], path_of(key)};
}

void Settings::refuse_unknown_keys() const {
  for (size_t i = 0; i < node_.keys.size(); ++i) {
    const std::string& key = node_.keys[i];
    if (std::ranges::find(asked_, key) != asked_.end()) continue;
    std::string hint = did_you_mean(key, asked_);
    if (hint.empty()) hint = fmt::format("; available: {}", fmt::join(asked_, ", "));
    document_.refuse(node_.children[i],
                     fmt::format("unknown key '{}'{}", path_of(to_printable(key)), hint));
  }
}

}  // namespace llmprof::config
