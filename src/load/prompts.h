#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "load/api.h"
#include "load/schedule.h"

namespace llmprof::load {

// The prompts of a load: made of random words or token ids, so that no prefix cache finds them
// again, or the lines of a file, in turn.
class Prompts {
 public:
  // `vocabulary`: the number of the model's tokens, if it is known.
  Prompts(uint64_t seed, std::optional<uint64_t> vocabulary);
  // Lines of text, or JSON objects with `prompt` (text or token ids) or `messages`. An error names
  // the line.
  static Result<Prompts> from_file(const std::filesystem::path& path);
  static Result<Prompts> from_lines(std::string_view content);

  [[nodiscard]] bool is_file() const { return !lines_.empty(); }
  [[nodiscard]] bool has_messages() const { return has_messages_; }
  // Made prompts have one word per token: common words, which most tokenizers know as one.
  [[nodiscard]] Prompt make(size_t number, const PlannedRequest& planned, bool as_ids) const;

 private:
  uint64_t seed_ = 0;
  uint64_t first_id_ = 0;
  uint64_t last_id_ = 0;
  std::vector<Prompt> lines_;
  bool has_messages_ = false;
};

}  // namespace llmprof::load
