#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "config/config_tree.h"

namespace llmprof::config {

// Typed access to one map of a composed tree. The first fault of it and of all maps within it is
// kept and returned by `finish`; until then every read gives a harmless value.
class Settings {
 public:
  // Both must outlive it. `path` is the map's key, for messages: "ncu"; empty: the root.
  Settings(const ConfigDocument& document, const ConfigNode& node, std::string path = {});

  // Absent and null are the same everywhere: then it is `otherwise`.
  std::string text(std::string_view key, std::string_view otherwise = {});
  std::string one_of(std::string_view key, std::span<const std::string_view> valid,
                     std::string_view otherwise);
  bool boolean(std::string_view key, bool otherwise);
  uint64_t whole(std::string_view key, uint64_t otherwise, uint64_t least = 0,
                 uint64_t most = INT64_MAX);
  std::optional<uint64_t> optional_whole(std::string_view key, uint64_t least = 0,
                                         uint64_t most = INT64_MAX);
  std::optional<double> optional_number(std::string_view key, double least, double most);
  std::optional<std::string> optional_text(std::string_view key);
  // A scalar is a list of one; lists within the list are part of it, and nulls are nothing.
  std::vector<std::string> texts(std::string_view key);
  std::vector<std::string> each_one_of(std::string_view key,
                                       std::span<const std::string_view> valid);

  // The map at `key`; where it is absent, nothing is found in it.
  Settings within(std::string_view key);
  // As it is; null pointer where it is absent or null.
  const ConfigNode* node(std::string_view key);
  // Keys that need no reading.
  void allow(std::initializer_list<std::string_view> keys);
  void wrong(std::string_view key, std::string_view what);

  // Refuses keys that were not read, and names the nearest one that was. To be called last.
  void refuse_unknown_keys();
  // The first fault, of this map, of those within it, and of those that it is within.
  [[nodiscard]] Result<void> finish() const;

 private:
  [[nodiscard]] std::string path_of(std::string_view key) const;
  std::optional<std::string> scalar(std::string_view key, std::string_view expected);
  void not_one_of(std::string_view key, const std::string& value,
                  std::span<const std::string_view> valid);
  void flatten(std::string_view key, const ConfigNode& node, std::vector<std::string>& into);

  const ConfigDocument* document_;
  const ConfigNode* node_;
  std::string path_;
  std::vector<std::string> asked_;
  std::shared_ptr<std::optional<Error>> fault_;
};

}  // namespace llmprof::config
