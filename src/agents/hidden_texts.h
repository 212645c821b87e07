#pragma once

#include <string>
#include <unordered_map>

#include "mcp/json.h"
#include "profile/profile.h"

namespace llmprof::agents {

// Paths and secrets stay on the machine: answers go to the provider of a model. Every text is
// replaced by query::without_full_paths.
void hide_paths(profile::Profile& profile);

// The same for the texts of an answer, which repeat: each is looked at once.
class HiddenTexts {
 public:
  explicit HiddenTexts(bool show_paths) : show_paths_(show_paths) {}

  // Secrets are hidden also if paths are shown.
  [[nodiscard]] const std::string& hidden(const std::string& text);
  void hide_in(mcp::Json& value);

 private:
  bool show_paths_;
  std::unordered_map<std::string, std::string> known_;
};

}  // namespace llmprof::agents
