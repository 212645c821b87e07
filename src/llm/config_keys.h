#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "config/config_tree.h"

namespace llmprof::llm {

// Reads the keys of one map of a model's configuration or a GPU's figures. Keeps the first mistake;
// every later read gives a harmless value, so that callers check only once, at the end.
class ConfigKeys {
 public:
  // Both must outlive this. If `map` is not a map, nothing is found.
  ConfigKeys(const config::ConfigDocument& document, const config::ConfigNode& map)
      : document_(document), map_(map) {}

  // Keys missing from the map are looked up in `defaults`, which must outlive this, too.
  void fall_back_to(const config::ConfigNode& defaults) { defaults_ = &defaults; }

  // A whole number from 1 to 1e9, by the first of these spellings that is present and not null.
  uint32_t required(std::initializer_list<std::string_view> keys);
  uint32_t number_or(std::initializer_list<std::string_view> keys, uint32_t otherwise);
  // The same, but 0 is allowed.
  uint32_t count_or(std::initializer_list<std::string_view> keys, uint32_t otherwise);
  // A positive number, within the range of figures in their usual units; none if it is missing.
  std::optional<double> figure(std::string_view key);
  double required_figure(std::string_view key);
  bool flag_or(std::string_view key, bool otherwise);
  // Empty if it is missing.
  std::string text(std::string_view key);

  // A null pointer if it is missing or null.
  [[nodiscard]] const config::ConfigNode* find(std::string_view key) const;
  // The members of an inner map; if there is no such map, none is found.
  [[nodiscard]] ConfigKeys within(std::string_view key) const;
  [[nodiscard]] const config::ConfigNode& node() const { return map_; }
  [[nodiscard]] const config::ConfigDocument& document() const { return document_; }

  // Other keys are a mistake.
  void check_keys(std::span<const std::string_view> known);
  void wrong(const config::ConfigNode& node, std::string_view what);
  // Takes over the first mistake from the reader of a part.
  void take_error_of(const ConfigKeys& part);
  [[nodiscard]] const std::optional<Error>& error() const { return error_; }

 private:
  struct Found {
    std::string_view key;
    const config::ConfigNode* node = nullptr;
  };
  [[nodiscard]] Found first_of(std::initializer_list<std::string_view> keys) const;
  std::optional<uint32_t> whole_number(const Found& found, int64_t least);

  const config::ConfigDocument& document_;
  const config::ConfigNode& map_;
  const config::ConfigNode* defaults_ = nullptr;
  std::optional<Error> error_;
};

}  // namespace llmprof::llm
