#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace llmprof::readers {

// What a streamed response of an OpenAI-compatible server, or its text, says about tokens.
struct StreamedText {
  uint32_t tokens = 0;  // events with text; servers send one token per event
  std::optional<uint64_t> prompt_tokens;
  std::optional<uint64_t> output_tokens;
  std::optional<uint64_t> cached_tokens;
};

StreamedText read_streamed_text(std::string_view response);

}  // namespace llmprof::readers
