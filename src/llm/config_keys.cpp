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

ConfigKeys::Found ConfigKeys::first_of(std::initializer_list<std::string_view> keys) const {
  for (const std::string_view key : keys) {
    if (const config::ConfigNode* node = find(key)) return {key, node};
  }
  return {};
}

std::optional<uint32_t> ConfigKeys::whole_number(const Found& found, int64_t least) {
  constexpr int64_t kLargest = 1'000'000'000;
  const auto value = found.node->integer();
  if (value && *value >= least && *value <= kLargest) return static_cast<uint32_t>(*value);
  wrong(*found.node, fmt::format("'{}' must be an integer from {} to {}, but is '{}'", found.key,
                                 least, kLargest, found.node->text));
  return std::nullopt;
}

uint32_t ConfigKeys::required(std::initializer_list<std::string_view> keys) {
  const Found found = first_of(keys);
  if (found.node != nullptr) return whole_number(found, 1).value_or(1);
  wrong(map_, fmt::format("'{}' is missing; it is required to compute the model's cost",
                          fmt::join(keys, "' or '")));
  return 1;
}

uint32_t ConfigKeys::number_or(std::initializer_list<std::string_view> keys, uint32_t otherwise) {
  const Found found = first_of(keys);
  return found.node == nullptr ? otherwise : whole_number(found, 1).value_or(1);
}

uint32_t ConfigKeys::count_or(std::initializer_list<std::string_view> keys, uint32_t otherwise) {
  const Found found = first_of(keys);
  return found.node == nullptr ? otherwise : whole_number(found, 0).value_or(0);
}

std::optional<double> ConfigKeys::figure(std::string_view key) {
  constexpr double kLargestFigure = 1e6;  // above any GPU's teraflops or gigabytes: wrong units
  const config::ConfigNode* node = map_.find(key);
  if (node == nullptr) return std::nullopt;
  const auto value = node->number();
  if (value && std::isfinite(*value) && *value > 0 && *value <= kLargestFigure) return value;
  wrong(*node, fmt::format("'{}' must be a positive number, but is '{}'", key, node->text));
  return std::nullopt;
}

double ConfigKeys::required_figure(std::string_view key) {
  const auto value = figure(key);
  if (!value) wrong(map_, fmt::format("'{}' is missing", key));
  return value.value_or(0);
}

bool ConfigKeys::flag_or(std::string_view key, bool otherwise) {
  const config::ConfigNode* node = find(key);
  if (node == nullptr) return otherwise;
  const auto value = node->boolean();
  if (!value) wrong(*node, fmt::format("'{}' must be true or false", key));
  return value.value_or(otherwise);
}

std::string ConfigKeys::text(std::string_view key) {
  const config::ConfigNode* node = find(key);
  if (node == nullptr) return {};
  if (!node->is_scalar()) wrong(*node, fmt::format("'{}' must be a string", key));
  return node->text;
}

void ConfigKeys::check_keys(std::span<const std::string_view> known) {
  const auto checked = document_.check_keys(map_, known);
  if (!checked && !error_) error_ = checked.error();
}

void ConfigKeys::wrong(const config::ConfigNode& node, std::string_view what) {
  if (!error_) error_ = document_.wrong(node, what).value();
}

void ConfigKeys::take_error_of(const ConfigKeys& part) {
  if (!error_) error_ = part.error_;
}

}  // namespace llmprof::llm
