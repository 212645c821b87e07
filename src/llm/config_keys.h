#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "config/config_tree.h"

namespace llmprof::llm {

// Reads the keys of one map of a model's configuration, or of a GPU's figures. The first mistake is
// kept and every later read gives a harmless value, so that the reading code needs to look only
// once, at its end.
class ConfigKeys {
 public:
  // Both must outlive it. `map` may be no map at all: then nothing is found.
  ConfigKeys(const config::ConfigDocument& document, const config::ConfigNode& map)
      : document_(document), map_(map) {}

  // What is not in the map is looked up there; it must outlive this, too.
  void fall_back_to(const config::ConfigNode& defaults) { defaults_ = &defaults; }

  // A whole number from 1 to 1e9, by the first of these spellings that is there and not null.
  uint32_t required(std::initializer_list<std::string_view> keys);
  uint32_t number_or(std::initializer_list<std::string_view> keys, uint32_t otherwise);
  // Likewise, but 0 is allowed.
  uint32_t count_or(std::initializer_list<std::string_view> keys, uint32_t otherwise);
  // A positive number that is no larger than figures in their usual units are; none where it is not
  // there.
  std::optional<double> figure(std::string_view key);
  double required_figure(std::string_view key);
  bool flag_or(std::string_view key, bool otherwise);
  // Empty where it is not there.
  std::string text(std::string_view key);

  // Null pointer where it is not there, or null.
  [[nodiscard]] const config::ConfigNode* find(std::string_view key) const;
  // The members of a map inside; none of them is found where there is no such map.
  [[nodiscard]] ConfigKeys within(std::string_view key) const;
  [[nodiscard]] const config::ConfigNode& node() const { return map_; }
  [[nodiscard]] const config::ConfigDocument& document() const { return document_; }

  // Keys that are not among these are a mistake.
  void check_keys(std::span<const std::string_view> known);
  void wrong(const config::ConfigNode& node, std::string_view what);
  // Takes over the first mistake of a reader of a part.
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
