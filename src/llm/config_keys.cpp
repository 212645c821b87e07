#include "llm/config_keys.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

namespace llmprof::llm {
const config::ConfigNode* ConfigKeys::find(std::string_view key) const {
  const config::ConfigNode* node = map_.find(key);
  if (node != nullptr && !node->is_null()) return node;
  return defaults_ == nullptr ? nullptr : defaults_->find(key);
}

ConfigKeys ConfigKeys::within(std::string_view key) const {
  static const config::ConfigNode nothing;
  const config::ConfigNode* part = find(key);
  return {document_, part == nullptr ? nothing : *part};
}

std::optional<uint32_t> ConfigKeys::whole_number(Spellings keys, int64_t least) const {
  constexpr int64_t kLargest = 1'000'000'000;
  for (const std::string_view key : keys) {
    const config::ConfigNode* node = find(key);
    if (node == nullptr) continue;
    const auto value = node->integer();
    if (value && *value >= least && *value <= kLargest) return static_cast<uint32_t>(*value);
    wrong(*node, fmt::format("'{}' must be an integer from {} to {}, but is '{}'", key, least,
                             kLargest, node->text));
  }
  return std::nullopt;
}

uint32_t ConfigKeys::required(Spellings keys) const {
  if (const auto value = whole_number(keys, 1)) return *value;
  wrong(map_, fmt::format("'{}' is missing; it is required to compute the model's cost",
                          fmt::join(keys, "' or '")));
}

uint32_t ConfigKeys::number_or(Spellings keys, uint32_t otherwise) const {
  return whole_number(keys, 1).value_or(otherwise);
}

uint32_t ConfigKeys::count_or(Spellings keys, uint32_t otherwise) const {
  return whole_number(keys, 0).value_or(otherwise);
}

std::optional<double> ConfigKeys::figure(std::string_view key) const {
  constexpr double kLargestFigure = 1e6;  // above any GPU's teraflops or gigabytes: wrong units
  const config::ConfigNode* node = map_.find(key);
  if (node == nullptr) return std::nullopt;
  const auto value = node->number();
  if (value && std::isfinite(*value) && *value > 0 && *value <= kLargestFigure) return value;
  wrong(*node, fmt::format("'{}' must be a positive number, but is '{}'", key, node->text));
}

bool ConfigKeys::flag_or(std::string_view key, bool otherwise) const {
  const config::ConfigNode* node = find(key);
  if (node == nullptr) return otherwise;
  if (const auto value = node->boolean()) return *value;
  wrong(*node, fmt::format("'{}' must be true or false", key));
}

std::string ConfigKeys::text(std::string_view key) const {
  const config::ConfigNode* node = find(key);
  if (node == nullptr) return {};
  if (!node->is_scalar()) wrong(*node, fmt::format("'{}' must be a string", key));
  return node->text;
}

}  // namespace llmprof::llm
