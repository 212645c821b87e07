#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace llmprof::config {

// A configuration file in memory; `name` is for messages.
struct ConfText {
  std::string name;
  std::string text;
};

// The user's own conf folder layered over the shipped one: the conf/ next to the program's bin/ or,
// for a binary without its folder, the built-in copy.
class ConfFiles {
 public:
  // `user` is the folder given by --config-dir.
  static Result<ConfFiles> open(const std::optional<std::filesystem::path>& user);

  // All texts of that name ("kernels.yaml", "model/llm/qwen2_7b.yaml"), the user's first. Empty if
  // there is none.
  [[nodiscard]] Result<std::vector<ConfText>> layers(std::string_view name) const;
  // The sorted names, without ".yaml", of the files in a folder ("model/llm").
  [[nodiscard]] std::vector<std::string> names_in(std::string_view folder) const;
  // The same including subfolders: "llm/qwen2_7b" in "model".
  [[nodiscard]] std::vector<std::string> names_under(std::string_view folder) const;

 private:
  std::optional<std::filesystem::path> user_;
  std::optional<std::filesystem::path> shipped_;  // none: built in
};

// A shipped file from the time of the build; none if there is no such file.
std::optional<ConfText> built_in_conf(std::string_view name);
// All names, sorted.
std::vector<std::string_view> built_in_conf_names();

}  // namespace llmprof::config
