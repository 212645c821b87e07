#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace llmprof::config {

// A configuration file already in memory; `name` is for messages.
struct ConfText {
  std::string name;
  std::string text;
};

// The user's own conf folder laid over the shipped one: the conf/ beside the program's bin/, or,
// for a binary that has lost its folder, what was built into it.
class ConfFiles {
 public:
  // `user` is what --config-dir named.
  static Result<ConfFiles> open(const std::optional<std::filesystem::path>& user);

  // All texts of that name ("kernels.yaml", "model/llm/qwen2_7b.yaml"), the user's first. Empty
  // where there is none.
  [[nodiscard]] Result<std::vector<ConfText>> layers(std::string_view name) const;
  // The names without ".yaml" of what is in a folder ("model/llm"), sorted.
  [[nodiscard]] std::vector<std::string> names_in(std::string_view folder) const;
  // Likewise, with the folders below it: "llm/qwen2_7b" of "model".
  [[nodiscard]] std::vector<std::string> names_under(std::string_view folder) const;

 private:
  std::optional<std::filesystem::path> user_;
  std::optional<std::filesystem::path> shipped_;  // none: built in
};

// A shipped file as it was when the program was built; none where there is no such file.
std::optional<ConfText> built_in_conf(std::string_view name);
// All of them, sorted.
std::vector<std::string_view> built_in_conf_names();

}  // namespace llmprof::config
