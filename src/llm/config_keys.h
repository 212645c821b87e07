#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

#include "config/config_tree.h"

namespace llmprof::llm {

// Reads the keys of one map of a model's configuration or a GPU's figures. Mistakes are thrown
// (base/needed.h).
class ConfigKeys {
 public:
  // Both must outlive this. If `map` is not a map, nothing is found.
  ConfigKeys(const config::ConfigDocument& document, const config::ConfigNode& map)
      : document_(document), map_(map) {}

  using Spellings = std::initializer_list<std::string_view>;

  // Keys missing from the map are looked up in `defaults`, which must outlive this, too.
  void fall_back_to(const config::ConfigNode& defaults) { defaults_ = &defaults; }

  // A whole number from 1 to 1e9, by the first of these spellings that is present and not null.
  [[nodiscard]] uint32_t required(Spellings keys) const;
  [[nodiscard]] uint32_t number_or(Spellings keys, uint32_t otherwise) const;
  // The same, but 0 is allowed.
  [[nodiscard]] uint32_t count_or(Spellings keys, uint32_t otherwise) const;
  // A positive number, within the range of figures in their usual units; none if it is missing.
  [[nodiscard]] std::optional<double> figure(std::string_view key) const;
  [[nodiscard]] bool flag_or(std::string_view key, bool otherwise) const;
  // Empty if it is missing.
  [[nodiscard]] std::string text(std::string_view key) const;

  // A null pointer if it is missing or null.
  [[nodiscard]] const config::ConfigNode* find(std::string_view key) const;
  // The members of an inner map; if there is no such map, none is found.
  [[nodiscard]] ConfigKeys within(std::string_view key) const;
  [[nodiscard]] const config::ConfigNode& node() const { return map_; }
  [[nodiscard]] const config::ConfigDocument& document() const { return document_; }

  [[noreturn]] void wrong(const config::ConfigNode& node, std::string_view what) const {
    document_.refuse(node, what);
  }

 private:
  [[nodiscard]] std::optional<uint32_t> whole_number(Spellings keys, int64_t least) const;

  const config::ConfigDocument& document_;
  const config::ConfigNode& map_;
  const config::ConfigNode* defaults_ = nullptr;
};

}  // namespace llmprof::llm
