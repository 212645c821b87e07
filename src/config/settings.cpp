#include "config/settings.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/text.h"
#include "config/tree_path.h"
#include "config/tree_text.h"

namespace llmprof::config {
namespace {

const ConfigNode& nothing() {
  static const ConfigNode node;
  return node;
}

constexpr size_t kLongestValue = 100;

std::string told(const ConfigNode& node) {
  return shortened(node.is_scalar() ? "'" + to_printable(node.text) + "'" : to_json(node),
                   kLongestValue);
}

}  // namespace

Settings::Settings(const ConfigDocument& document, const ConfigNode& node, std::string path)
    : document_(&document),
      node_(&node),
      path_(std::move(path)),
      fault_(std::make_shared<std::optional<Error>>()) {}

std::string Settings::path_of(std::string_view key) const {
  return path_.empty() ? std::string(key) : fmt::format("{}.{}", path_, key);
}

const ConfigNode* Settings::node(std::string_view key) {
  asked_.emplace_back(key);
  const ConfigNode* found = node_->find(key);
  return found == nullptr || found->is_null() ? nullptr : found;
}

void Settings::allow(std::initializer_list<std::string_view> keys) {
  asked_.insert(asked_.end(), keys.begin(), keys.end());
}

void Settings::wrong(std::string_view key, std::string_view what) {
  if (*fault_) return;
  const ConfigNode* at = node_->find(key);
  *fault_ = document_->wrong(at == nullptr ? *node_ : *at, fmt::format("{} {}", path_of(key), what))
                .value();
}

std::optional<std::string> Settings::scalar(std::string_view key, std::string_view expected) {
  const ConfigNode* found = node(key);
  if (found == nullptr) return std::nullopt;
  if (found->is_scalar()) return found->text;
  wrong(key, fmt::format("must be {}, but is {}", expected, told(*found)));
  return std::nullopt;
}

std::string Settings::text(std::string_view key, std::string_view otherwise) {
  return scalar(key, "a string").value_or(std::string(otherwise));
}

std::optional<std::string> Settings::optional_text(std::string_view key) {
  return scalar(key, "a string or null");
}

void Settings::not_one_of(std::string_view key, const std::string& value,
                          std::span<const std::string_view> valid) {
  const std::vector<std::string> names(valid.begin(), valid.end());
  wrong(key, fmt::format("must be {}{}, but is '{}'{}", names.size() > 1 ? "one of " : "",
                         fmt::join(names, ", "), shortened(to_printable(value), kLongestValue),
                         did_you_mean(value, names)));
}

std::string Settings::one_of(std::string_view key, std::span<const std::string_view> valid,
                             std::string_view otherwise) {
  const auto value =
      scalar(key, fmt::format("one of {}", fmt::join(valid.begin(), valid.end(), ", ")));
  if (!value) return std::string(otherwise);
  if (std::ranges::find(valid, *value) != valid.end()) return *value;
  not_one_of(key, *value, valid);
  return std::string(otherwise);
}

bool Settings::boolean(std::string_view key, bool otherwise) {
  const ConfigNode* found = node(key);
  if (found == nullptr) return otherwise;
  const auto value = found->boolean();
  if (!value) wrong(key, fmt::format("must be true or false, but is {}", told(*found)));
  return value.value_or(otherwise);
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
                         told(*found)));
  return std::nullopt;
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
                         told(*found)));
  return std::nullopt;
}

void Settings::flatten(std::string_view key, const ConfigNode& from,
                       std::vector<std::string>& into) {
  if (from.is_scalar()) into.push_back(from.text);
  if (from.is_map())
    wrong(key, fmt::format("must be a list of strings, but contains {}", told(from)));
  if (!from.is_list()) return;
  for (const ConfigNode& child : from.children) flatten(key, child, into);
}

std::vector<std::string> Settings::texts(std::string_view key) {
  std::vector<std::string> all;
  if (const ConfigNode* found = node(key)) flatten(key, *found, all);
  return all;
}

std::vector<std::string> Settings::each_one_of(std::string_view key,
                                               std::span<const std::string_view> valid) {
  std::vector<std::string> all = texts(key);
  for (const std::string& value : all) {
    if (std::ranges::find(valid, value) == valid.end()) not_one_of(key, value, valid);
  }
  return all;
}

Settings Settings::within(std::string_view key) {
  const ConfigNode* found = node(key);
  if (found != nullptr && !found->is_map()) {
    wrong(key, fmt::format("must be a map of keys, but is {}", told(*found)));
    found = nullptr;
  }
  Settings inner(*document_, found == nullptr ? nothing() : *found, path_of(key));
  inner.fault_ = fault_;
  return inner;
}

void Settings::refuse_unknown_keys() {
  for (size_t i = 0; i < node_->keys.size() && !*fault_; ++i) {
    const std::string& key = node_->keys[i];
    if (std::ranges::find(asked_, key) != asked_.end()) continue;
    const std::string hint = did_you_mean(key, asked_);
    *fault_ = document_
                  ->wrong(node_->children[i],
                          fmt::format("unknown key '{}'{}", path_of(to_printable(key)),
                                      hint.empty()
                                          ? fmt::format("; available: {}", fmt::join(asked_, ", "))
                                          : hint))
                  .value();
  }
}

Result<void> Settings::finish() const {
  if (*fault_) return fail_with(**fault_);
  return {};
}

}  // namespace llmprof::config
