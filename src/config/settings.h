#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "config/config_tree.h"

namespace llmprof {

// Typed access to one map of a composed tree. The first fault is kept and told by `finish`, which
// also refuses keys that nobody asked for, naming the nearest that was.
class Settings {
 public:
  Settings(const ConfigDocument& document, const ConfigNode& node, std::string path);

  std::string text(std::string_view key, std::string_view otherwise = {});
  std::string one_of(std::string_view key, std::span<const std::string_view> valid);
  bool boolean(std::string_view key, bool otherwise);
  uint64_t whole(std::string_view key, uint64_t otherwise, uint64_t least = 0,
                 uint64_t most = UINT64_MAX);
  double number(std::string_view key, double otherwise);
  std::vector<std::string> texts(std::string_view key);  // a scalar is a list of one
  std::optional<uint64_t> optional_whole(std::string_view key);
  std::optional<std::string> optional_text(std::string_view key);
  // A member map, as Settings of its own that report to this one's document; none where absent.
  const ConfigNode* map(std::string_view key);
  void wrong(std::string_view key, std::string_view what);

  [[nodiscard]] Result<void> finish() const;

 private:
  const ConfigDocument* document_;
  const ConfigNode* node_;
  std::string path_;  // "profiling.ncu", for messages
  std::vector<std::string> asked_;
  std::optional<Error> fault_;
};

}  // namespace llmprof
