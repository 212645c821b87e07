#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace llmprof::load {

enum class Api : uint8_t {
  completions,  // OpenAI: /v1/completions
  chat,         // OpenAI: /v1/chat/completions
  llama_cpp,    // llama-server: /completion
};
std::string_view word_of(Api api);
std::optional<Api> api_of_word(std::string_view word);
// By the end of the path of one of its endpoints.
std::optional<Api> api_of_path(std::string_view path);
std::string_view path_of(Api api);

struct Prompt {
  std::string text;
  std::vector<uint32_t> ids;       // token ids, where they are sent instead of text
  std::string messages;            // JSON of a chat's messages; empty: the text is one
  std::optional<uint64_t> tokens;  // as far as it is known
};

// How requests are put, once for a load.
struct RequestForm {
  Api api = Api::completions;
  std::string model;     // empty: none is named
  bool as_ids = true;    // made prompts are arrays of token ids, exactly as long as wanted
  bool extended = true;  // fields that servers of the OpenAI API need not know: ignore_eos and
                         // the usage in every chunk
};

// The JSON of a streamed request.
std::string body_of(const RequestForm& form, const Prompt& prompt, uint64_t new_tokens);

}  // namespace llmprof::load
